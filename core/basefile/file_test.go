package basefile

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type memory []byte

func (m memory) Size(context.Context) (int64, error) { return int64(len(m)), nil }
func (m memory) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	return bytes.NewReader(m).ReadAt(p, off)
}
func (m memory) Close() error { return nil }

// baseFiles calls visit for every Parquet base file of a testdata table.
func baseFiles(t testing.TB, table string, visit func(name string, data []byte)) {
	t.Helper()
	z, err := zip.OpenReader(filepath.Join("..", "..", "testdata", "tables", table+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, e := range z.File {
		if !strings.HasSuffix(e.Name, ".parquet") || strings.Contains(e.Name, "/.hoodie/") {
			continue
		}
		r, err := e.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		visit(e.Name, data)
	}
}

// rowsOf reads a file as rows by file name and key, each a JSON object.
func rowsOf(t testing.TB, name string, data []byte) []map[string]any {
	t.Helper()
	ctx := context.Background()
	f, err := Open(ctx, memory(data), name)
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for b, err := range f.Batches(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len {
			row := map[string]any{}
			for c, v := range b.RowJSON(i) {
				var x any
				if err := json.Unmarshal(v, &x); err != nil {
					t.Fatalf("%s: %v", v, err)
				}
				row[b.Type.Fields[c].Name] = x
			}
			out = append(out, row)
		}
	}
	return out
}

// TestReadOptimizedRows holds every value of every type against what Hudi read: the gold rows of a
// read-optimized query are base-file rows, found again by their commit sequence number.
func TestReadOptimizedRows(t *testing.T) {
	for _, table := range []string{"all_types_mor_h120", "all_types_cow_h0150", "mor_trips_h120", "cow_trips_h102", "part_hive_two_level_h120"} {
		t.Run(table, func(t *testing.T) {
			gold := filepath.Join("..", "..", "testdata", "gold", table, "read_optimized.jsonl")
			if _, err := os.Stat(gold); err != nil {
				gold = filepath.Join(filepath.Dir(gold), "snapshot.jsonl")
			}
			text, err := os.ReadFile(gold)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]map[string]any{}
			baseFiles(t, table, func(name string, data []byte) {
				for _, r := range rowsOf(t, name, data) {
					got[rowID(r)] = r
				}
			})
			n := 0
			for line := range strings.Lines(string(text)) {
				want := map[string]any{}
				if err := json.Unmarshal([]byte(line), &want); err != nil {
					t.Fatal(err)
				}
				key := rowID(want)
				row := got[key]
				if row == nil {
					t.Errorf("row %s is in no base file", key)
					continue
				}
				for c, w := range want {
					a, _ := json.Marshal(w)
					b, _ := json.Marshal(row[c])
					if !bytes.Equal(a, b) {
						t.Errorf("%s column %s: want %s, got %s", key, c, a, b)
					}
				}
				n++
			}
			if n == 0 {
				t.Fatal("no gold rows")
			}
		})
	}
}

// TestProjection reads only the wanted column.
func TestProjection(t *testing.T) {
	baseFiles(t, "cow_trips_h102", func(name string, data []byte) {
		f, err := Open(context.Background(), memory(data), name)
		if err != nil {
			t.Fatal(err)
		}
		for b, err := range f.Batches(context.Background(), func(c string) bool { return c == "_hoodie_record_key" }) {
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range b.Columns {
				if (c != nil) != (b.Type.Fields[i].Name == "_hoodie_record_key") {
					t.Fatalf("column %s read: %v", b.Type.Fields[i].Name, c != nil)
				}
			}
		}
	})
}

// TestDamage cuts and flips a real file: always an error or other rows, never a panic.
func TestDamage(t *testing.T) {
	var data []byte
	baseFiles(t, "all_types_mor_h120", func(_ string, d []byte) {
		if data == nil {
			data = d
		}
	})
	read := func(d []byte) (rows int, err error) {
		f, err := Open(context.Background(), memory(d), "x.parquet")
		if err != nil {
			return 0, err
		}
		for b, err := range f.Batches(context.Background(), nil) {
			if err != nil {
				return rows, err
			}
			rows += b.Len
			for i := range b.Len {
				b.RowJSON(i)
			}
		}
		return rows, nil
	}
	want, err := read(data)
	if err != nil || want == 0 {
		t.Fatal(want, err)
	}
	for cut := 0; cut < len(data); cut += 1 + len(data)/300 {
		if _, err := read(data[:cut]); err == nil {
			t.Fatalf("cut at %d: no error", cut)
		}
	}
	for at := 0; at < len(data); at += 1 + len(data)/1500 {
		d := bytes.Clone(data)
		d[at] ^= 0xff
		read(d)
	}
}

// rowID is unique over all versions of all rows of a table.
func rowID(r map[string]any) string {
	return fmt.Sprint(r["_hoodie_commit_seqno"], " ", r["_hoodie_record_key"], " ", r["_hoodie_file_name"])
}
