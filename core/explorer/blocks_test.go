package explorer

import (
	"fmt"
	"testing"

	"hudiscope/core/logfile"
	"hudiscope/core/logfile/logfiletest"
)

// TestBlockStarts finds blocks by their index, with few reads once their starts are known, and also when the
// file has become another one.
func TestBlockStarts(t *testing.T) {
	file := func(n, size int) []byte {
		f := &logfiletest.File{}
		for i := range n {
			f.Data(fmt.Sprintf("202601010000%02d001", i), "{}", [][]byte{make([]byte, size)})
		}
		return f.Bytes()
	}
	var s blockStarts
	long := logfiletest.NewObject(file(50, 10_000))
	check := func(o *logfiletest.Object, index int, most int64) {
		t.Helper()
		before := o.Reads.Load()
		b, err := s.find(t.Context(), logfile.Open(o, "f"), index)
		if err != nil || b == nil || b.Index != index || b.Instant() != fmt.Sprintf("202601010000%02d001", index) {
			t.Fatalf("block %d: %+v, %v", index, b, err)
		}
		if n := o.Reads.Load() - before; n > most {
			t.Errorf("block %d took %d reads, more than %d", index, n, most)
		}
	}
	check(long, 30, 32)
	check(long, 12, 2)
	check(long, 30, 2)
	check(long, 31, 4)
	check(long, 49, 22)
	for _, index := range []int{-1, 50, 1 << 40} {
		if b, err := s.find(t.Context(), logfile.Open(long, "f"), index); b != nil || err != nil {
			t.Errorf("block %d: %v, %v", index, b, err)
		}
	}
	other := logfiletest.NewObject(file(50, 9_000))
	check(other, 49, 100)
	check(other, 3, 2)
	short := logfiletest.NewObject(file(4, 100))
	check(short, 3, 10)
	if b, err := s.find(t.Context(), logfile.Open(short, "f"), 4); b != nil || err != nil {
		t.Errorf("block 4 of 4: %v, %v", b, err)
	}
	if s.count != 4 {
		t.Errorf("%d starts are kept", s.count)
	}
	// However many files there are, no more starts are kept than the bound.
	s.count = maxStarts
	if b, err := s.find(t.Context(), logfile.Open(long, "g"), 20); err != nil || b.Index != 20 || s.count != 21 || len(s.files) != 1 {
		t.Errorf("%v, %v: %d starts of %d files", b, err, s.count, len(s.files))
	}
}
