package bootstrap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"hudiscope/core/column"
	"hudiscope/core/corrupt"
	"hudiscope/core/schema"
	"hudiscope/core/tabletest"
)

const table = "bootstrap_metadata_only_mor_h120"

func TestIndex(t *testing.T) {
	x, err := Load(context.Background(), tabletest.Open(t, table), ".hoodie")
	if err != nil {
		t.Fatal(err)
	}
	s, ok := x.Source("city=sao_paulo", "932474ff-7fc8-42a1-b632-b71ef2841c46")
	if !ok || x.Len() != 3 || s.Partition != "city=sao_paulo" || s.Length != 1878 || !strings.HasPrefix(s.URI, "file:/") || !strings.HasSuffix(s.URI, ".c000.snappy.parquet") {
		t.Errorf("%d groups, %+v", x.Len(), s)
	}
	if rel, ok := Relative(s.URI, x.BasePath); !ok || !strings.HasPrefix(rel, "city=sao_paulo/part-00000-") {
		t.Errorf("relative to %s: %q", x.BasePath, rel)
	}
	if _, ok := x.Source("city=sao_paulo", "nobody"); ok {
		t.Error("a file group that is not there has a source")
	}
}

// TestIndexDamage: every damaged index is an error that names the file, or reads as it was.
func TestIndexDamage(t *testing.T) {
	files := tabletest.Open(t, table)
	path := ".hoodie" + partitionsFolder + indexFile
	whole := files.Bytes(path)
	found := 0
	for i := 0; i < len(whole); i += 61 {
		d := bytes.Clone(whole)
		d[i] ^= 0x21
		files.Put(path, d)
		if _, err := Load(context.Background(), files, ".hoodie"); err != nil {
			found++
			if !strings.Contains(err.Error(), indexFile) {
				t.Fatalf("byte %d: %v", i, err)
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d damaged files are found out", found)
	}
	files.Remove(path)
	if _, err := Load(context.Background(), files, ".hoodie"); !errors.Is(err, ErrNoIndex) {
		t.Errorf("without the file: %v", err)
	}
}

func TestPath(t *testing.T) {
	for in, want := range map[string]string{
		"file:/a/b": "/a/b", "file:///a/b": "/a/b", "hdfs://host:8020/a/b/": "/a/b", "/a/b": "/a/b", "s3a://bucket/a": "/a", "/": "/", "a/b:c": "/a/b:c", "abfs://c@h": "/",
	} {
		if got := Path(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	for _, c := range []struct {
		uri, base, want string
		ok              bool
	}{
		{"file:/a/b/p=1/x", "/a/b", "p=1/x", true}, {"hdfs://h/a/b/x", "hdfs://h/a/b/", "x", true}, {"/a/bc/x", "/a/b", "", false}, {"/a/b", "/a/b", "", false},
	} {
		if got, ok := Relative(c.uri, c.base); ok != c.ok || ok && got != c.want {
			t.Errorf("%s below %s: %q, %v", c.uri, c.base, got, ok)
		}
	}
	if Name("s3://bucket/x/src/") != "src" {
		t.Error(Name("s3://bucket/x/src/"))
	}
}

// numbers are rows of one column in batches of given sizes.
type numbers struct {
	name  string
	sizes []int
}

func (n numbers) Type() *schema.Type {
	return &schema.Type{Kind: schema.Record, Fields: []schema.Field{{Name: n.name, Type: &schema.Type{Kind: schema.Long}}}}
}

func (n numbers) Batches(_ context.Context, want func(string) bool) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		at := int64(0)
		for _, size := range n.sizes {
			b := &column.Batch{Type: n.Type(), Len: size, Columns: make([]*column.Vector, 1)}
			if want == nil || want(n.name) {
				v := column.New(b.Type.Fields[0].Type, size)
				for range size {
					v.AppendInt(at)
					at++
				}
				b.Columns[0] = v
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

// TestZip: row i of one file belongs to row i of the other, however they come in batches.
func TestZip(t *testing.T) {
	a, b := numbers{"a", []int{3, 0, 5, 2}}, numbers{"b", []int{1, 7, 2}}
	n := int64(0)
	for batch, err := range Zip(a, b, "a", "b").Batches(context.Background(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch.Len {
			if batch.Columns[0].Ints[i] != n || batch.Columns[1].Ints[i] != n {
				t.Fatalf("row %d: %d and %d", n, batch.Columns[0].Ints[i], batch.Columns[1].Ints[i])
			}
			n++
		}
	}
	if n != 10 {
		t.Errorf("%d rows", n)
	}
	for batch, err := range Zip(a, b, "a", "b").Batches(context.Background(), func(f string) bool { return f == "b" }) {
		if err != nil || batch.Columns[0] != nil || batch.Columns[1] == nil {
			t.Fatalf("the wrong columns, %v", err)
		}
	}
	for _, sizes := range [][]int{{1, 7, 1}, {1, 7, 3}, {}} {
		var err error
		for _, e := range Zip(a, numbers{"b", sizes}, "a", "b").Batches(context.Background(), nil) {
			err = e
		}
		if !corrupt.Is(err) {
			t.Errorf("batches of %v: %v", fmt.Sprint(sizes), err)
		}
	}
}
