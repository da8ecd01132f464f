package orcfile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hudiscope/core/column"
	"hudiscope/core/corrupt"
	"hudiscope/core/orcfile"
	"hudiscope/core/storage"
)

// mem is a file in memory.
type mem struct{ *bytes.Reader }

func (m mem) Size(context.Context) (int64, error) { return m.Reader.Size(), nil }
func (m mem) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	return m.Reader.ReadAt(p, off)
}
func (m mem) Close() error { return nil }

var _ storage.Object = mem{}

func data(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// rows reads a file as lines of JSON, columns in file order.
func rows(b []byte, want func(string) bool) ([]string, error) {
	ctx := context.Background()
	f, err := orcfile.Open(ctx, mem{bytes.NewReader(b)}, "f.orc")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []string
	for batch, err := range f.Batches(ctx, want) {
		if err != nil {
			return out, err
		}
		for i := range batch.Len {
			line := []byte{'{'}
			for k, v := range batch.Columns {
				if v == nil {
					continue
				}
				if len(line) > 1 {
					line = append(line, ',')
				}
				line = column.AppendText(line, []byte(batch.Type.Fields[k].Name))
				line = append(line, ':')
				line = v.AppendJSON(line, i)
			}
			out = append(out, string(append(line, '}')))
		}
	}
	return out, nil
}

func canonical(t testing.TB, line string) string {
	t.Helper()
	var x any
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&x); err != nil {
		t.Fatal(err)
	}
	// Numbers compare by value: 1 and 1.0 are one.
	var norm func(any) any
	norm = func(x any) any {
		switch v := x.(type) {
		case json.Number:
			if _, err := v.Int64(); err != nil {
				f, _ := v.Float64()
				if f == float64(int64(f)) {
					return int64(f)
				}
				return f
			}
		case map[string]any:
			for k := range v {
				v[k] = norm(v[k])
			}
		case []any:
			for i := range v {
				v[i] = norm(v[i])
			}
		}
		return x
	}
	b, _ := json.Marshal(norm(x))
	return string(b)
}

// TestTypes reads files of every type that Apache ORC's C++ writer made of testdata/types.jsonl.
func TestTypes(t *testing.T) {
	want := strings.Split(strings.TrimSpace(string(data(t, "types.jsonl"))), "\n")
	for _, codec := range []string{"zlib", "snappy", "uncompressed"} {
		t.Run(codec, func(t *testing.T) {
			got, err := rows(data(t, "types_"+codec+".orc"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(want) {
				t.Fatalf("%d rows, want %d", len(got), len(want))
			}
			for i := range want {
				if g, w := canonical(t, got[i]), canonical(t, want[i]); g != w {
					t.Fatalf("row %d:\ngot  %s\nwant %s", i, g, w)
				}
			}
		})
	}
}

// TestProjection reads some columns only.
func TestProjection(t *testing.T) {
	got, err := rows(data(t, "types_zlib.orc"), func(f string) bool { return f == "num" || f == "map" })
	if err != nil || len(got) != 110 || !strings.HasPrefix(got[1], `{"num":`) || strings.Contains(got[1], `"s":`) {
		t.Fatalf("%d rows, %v", len(got), err)
	}
}

// TestCodecs: other compressions are named. The postscript's compression is changed, nothing else.
func TestCodecs(t *testing.T) {
	b := data(t, "types_zlib.orc")
	at := len(b) - 1 - int(b[len(b)-1])
	i := at + bytes.IndexByte(b[at:], 0x10) + 1 // field 2, a varint
	if b[i] != 1 {
		t.Fatalf("the compression is not where it was looked for: % x", b[at:])
	}
	for kind, name := range map[byte]string{3: "LZO", 4: "LZ4", 5: "ZSTD", 6: "BROTLI"} {
		b[i] = kind
		_, err := rows(b, nil)
		var un *orcfile.Unsupported
		if !errors.As(err, &un) || !strings.Contains(un.What, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCut: a file that ends early is an error, never fewer rows.
func TestCut(t *testing.T) {
	b := data(t, "types_zlib.orc")
	for _, n := range []int{0, 1, 3, 10, 300, len(b) / 2, len(b) - 1} {
		if got, err := rows(b[:n], nil); err == nil {
			t.Errorf("%d of %d bytes give %d rows", n, len(b), len(got))
		}
	}
}

// TestDamage flips every byte of a file in turn: each gives an error or rows, never a panic or a hang,
// and the count of rows is right where there is no error.
func TestDamage(t *testing.T) {
	for _, c := range []string{"zlib", "uncompressed"} {
		b := data(t, "types_"+c+".orc")
		step := 47
		if testing.Short() {
			step = 101
		}
		for i := 0; i < len(b); i += step {
			d := bytes.Clone(b)
			d[i] ^= 0x55
			if got, err := rows(d, nil); err == nil && len(got) != 110 {
				t.Fatalf("%s: byte %d: %d rows without an error", c, i, len(got))
			}
		}
	}
}

func FuzzOpen(f *testing.F) {
	for _, c := range []string{"zlib", "uncompressed"} {
		b, err := os.ReadFile(filepath.Join("testdata", "types_"+c+".orc"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[max(0, len(b)-3000):])
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<20 {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		lines, err := rows(b, nil)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 192<<20+4000*uint64(len(b)+len(lines)) {
			t.Fatalf("%d MiB were allocated for %d bytes, %d rows", n>>20, len(b), len(lines))
		}
		for _, line := range lines[:min(len(lines), 50)] {
			if !json.Valid([]byte(line)) {
				t.Fatalf("not JSON: %s", line)
			}
		}
		var ce *corrupt.Error
		var un *orcfile.Unsupported
		if err != nil && !(errors.As(err, &ce) && ce.File == "f.orc" && ce.Part != "") && !(errors.As(err, &un) && un.File == "f.orc") {
			t.Fatalf("%#v: %v", err, err)
		}
	})
}
