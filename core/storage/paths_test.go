package storage

import (
	"errors"
	"testing"
)

func TestCheckPath(t *testing.T) {
	for _, p := range []string{"", "a", "a b/c+d%20#é", "..a/b..", "a\\b", " "} {
		if err := CheckPath("open", p, "x"); err != nil {
			t.Errorf("%q: %v", p, err)
		}
	}
	for _, p := range []string{"/", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "a\x00b"} {
		var f *Fault
		if err := CheckPath("open", p, "x"); !errors.As(err, &f) || f.Kind != Refused {
			t.Errorf("%q: %v, want Refused", p, err)
		}
	}
}
