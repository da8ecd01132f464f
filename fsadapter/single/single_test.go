package single

import (
	"testing"

	"hudiscope/core/storage/storagetest"
)

func TestConformance(t *testing.T) {
	for name, b := range map[string][]byte{".f-0_1.log.1_0-1-2": []byte("#HUDI#abc"), "a b+c%20#é": []byte("xyz")} {
		storagetest.Run(t, New(storagetest.Bytes(b), name, "/x/"+name), map[string][]byte{name: b})
	}
}
