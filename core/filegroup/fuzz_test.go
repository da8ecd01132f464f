package filegroup

import (
	"strings"
	"testing"
)

// FuzzParseBaseName: a name that is taken has its parts.
func FuzzParseBaseName(f *testing.F) {
	for _, s := range []string{"f-0_1-2-3_20240101000000000.parquet", "part-1.parquet_20240101000000000_hudiext", "a_1_fg%3Dx%2Fy_hudiext", "_1_2.orc", "f_1_.parquet", "f_1_2_3.parquet", "%_1_2.x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		n, ok := ParseBaseName(name)
		if !ok {
			return
		}
		if n.FileID == "" || n.Instant == "" || !strings.Contains(name, n.Instant) || !n.External && (n.Token == "" || n.FileID+"_"+n.Token != name[:len(n.FileID)+1+len(n.Token)]) {
			t.Fatalf("%q: %+v", name, n)
		}
	})
}
