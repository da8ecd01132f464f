package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTerminal(t *testing.T) {
	const said = "a\x1b[31mred\x1b]0;title\x07\x00\x7f \u009b31m ä£ 漢\tb\r\n"
	const want = "a\\u001b[31mred\\u001b]0;title\\u0007\\u0000\\u007f \\u009b31m ä£ 漢\tb\r\n"
	// Cut everywhere, within characters, too.
	for size := 1; size <= len(said); size++ {
		var out strings.Builder
		w := &terminal{to: &out}
		for rest := said; rest != ""; {
			n := min(size, len(rest))
			if m, err := w.Write([]byte(rest[:n])); m != n || err != nil {
				t.Fatal(m, err)
			}
			rest = rest[n:]
		}
		if out.String() != want {
			t.Fatalf("by %d: %q", size, out.String())
		}
	}
	// A file gets what there is.
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if visible(f, f) != any(f) {
		t.Error("a file is no terminal")
	}
}
