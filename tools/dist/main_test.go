package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/andybalholm/brotli"
)

// What an earlier run kept is taken only when it holds the file's bytes: a damaged copy would be a page that does not start.
func TestSqueeze(t *testing.T) {
	b := bytes.Repeat([]byte("the page's own text, "), 1000)
	old := filepath.Join(t.TempDir(), "kept")
	for _, kept := range [][]byte{nil, []byte("no brotli"), {}} {
		if kept != nil {
			if err := os.WriteFile(old, kept, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		br, err := squeeze(old, b, 9)
		if err != nil {
			t.Fatal(err)
		}
		have, err := io.ReadAll(brotli.NewReader(bytes.NewReader(br)))
		if err != nil || !bytes.Equal(have, b) {
			t.Errorf("kept %q: %v, %d bytes of %d", kept, err, len(have), len(b))
		}
		if len(br) > len(b)/100 {
			t.Errorf("%d bytes of %d that repeat", len(br), len(b))
		}
	}
	whole, err := squeeze(old, b, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(old, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := squeeze(old, b, 11)
	if err != nil || !bytes.Equal(again, whole) {
		t.Error("what was kept and holds the bytes was made anew")
	}
}
