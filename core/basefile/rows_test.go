package basefile

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"hudiscope/core/storage/storagetest"
)

// grouped is a file of n rows in row groups of size rows each; keys ascend.
func grouped(t *testing.T, n, size int) *File {
	t.Helper()
	type row struct {
		Key   string `parquet:"key"`
		Value int64  `parquet:"value"`
	}
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[row](&buf, parquet.MaxRowsPerRowGroup(int64(size)))
	for i := range n {
		if _, err := w.Write([]row{{fmt.Sprintf("k%06d", i), int64(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := Open(t.Context(), storagetest.Bytes(buf.Bytes()), "grouped.parquet")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestParts(t *testing.T) {
	const n, size = 23_000, 5000
	f := grouped(t, n, size)
	for _, rows := range [][]int64{{}, {0}, {n - 1}, {4095, 4096}, {4999, 5000}, {0, 12_345, n - 1}, {7000}} {
		var got []int64
		batches := 0
		for p, err := range f.Parts(t.Context(), nil, rows) {
			if err != nil {
				t.Fatal(err)
			}
			batches++
			has := false
			for i := range p.Len {
				r := p.First + int64(i)
				if v := p.Column("value").Ints[i]; v != r {
					t.Fatalf("row %d has the value of row %d", r, v)
				}
				if slices.Contains(rows, r) {
					got, has = append(got, r), true
				}
			}
			if !has {
				t.Errorf("rows %v: the batch from row %d has none of them", rows, p.First)
			}
		}
		if !slices.Equal(got, rows) || batches > len(rows) {
			t.Errorf("rows %v: got %v in %d batches", rows, got, batches)
		}
	}
	// Who stops early gets no more.
	seen := 0
	for range f.Parts(t.Context(), nil, []int64{1, n - 1}) {
		seen++
		break
	}
	if seen != 1 {
		t.Errorf("%d batches", seen)
	}
}

func TestPartsWithText(t *testing.T) {
	const n, size = 23_000, 5000
	f := grouped(t, n, size)
	for _, c := range []struct {
		least, most string
		want        []int64 // first rows of the row groups
	}{
		{"k000000", "k000000", []int64{0}},
		{"k004999", "k005000", []int64{0, 5000}},
		{"k012", "k012\xff", []int64{10_000}},
		{"a", "b", nil},
		{"z", "z", nil},
		{"", "", []int64{0, 5000, 10_000, 15_000, 20_000}},
	} {
		most := []byte(c.most)
		if c.most == "" {
			most = nil
		}
		groups := map[int64]bool{}
		rows := 0
		for p, err := range f.PartsWithText(t.Context(), func(name string) bool { return name == "key" }, "key", []byte(c.least), most) {
			if err != nil {
				t.Fatal(err)
			}
			if p.Column("value") != nil {
				t.Error("a column that was not asked for")
			}
			for i := range p.Len {
				if k, _ := p.Column("key").Text(i); k != fmt.Sprintf("k%06d", p.First+int64(i)) {
					t.Fatalf("row %d has the key %s", p.First+int64(i), k)
				}
			}
			rows += p.Len
			groups[p.First/size*size] = true
		}
		var got []int64
		for g := range groups {
			got = append(got, g)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%q to %q: row groups from %v, want %v", c.least, c.most, got, c.want)
		}
	}
	if n := len(slices.Collect(func(yield func(int) bool) {
		for p := range f.PartsWithText(t.Context(), nil, "no such column", []byte("x"), []byte("x")) {
			if !yield(p.Len) {
				return
			}
		}
	})); n < 5 {
		t.Errorf("a column that is not there rules nothing out: %d batches", n)
	}
}
