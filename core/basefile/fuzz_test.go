package basefile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"hudiscope/core/corrupt"
)

// everyEncoding has a column for each encoding that pages have.
type everyEncoding struct {
	Plain  int64            `parquet:"plain,plain"`
	Dict   string           `parquet:"dict,dict"`
	Delta  int32            `parquet:"delta,delta"`
	Length string           `parquet:"length,delta"`
	Flag   *bool            `parquet:"flag,optional"`
	Split  float64          `parquet:"split,split"`
	Fixed  [4]byte          `parquet:"fixed"`
	Time   int64            `parquet:"time,timestamp(microsecond),delta"`
	List   []*string        `parquet:"list,list,optional"`
	Map    map[string]int32 `parquet:"map"`
	Deep   struct {
		A *float32 `parquet:"a,optional"`
	} `parquet:"deep"`
}

// encoded writes rows with a codec and a version of pages.
func encoded(t testing.TB, codec compress.Codec, version int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[everyEncoding](&out, parquet.Compression(codec), parquet.DataPageVersion(version), parquet.PageBufferSize(150), parquet.MaxRowsPerRowGroup(12), parquet.CreatedBy("f", "1", "x"))
	for i := range 20 {
		r := everyEncoding{Plain: int64(i) << 40, Dict: []string{"a", "bb"}[i%2], Delta: int32(i * i), Length: fmt.Sprint("text ", i), Split: float64(i) / 3, Fixed: [4]byte{byte(i)}, Time: int64(i) * 1e12,
			Map: map[string]int32{fmt.Sprint(i % 3): int32(i)}}
		if i%3 > 0 {
			b, s, f := i%2 == 0, "x", float32(i)
			r.Flag, r.List, r.Deep.A = &b, []*string{&s, nil}, &f
		}
		if _, err := w.Write([]everyEncoding{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// FuzzOpen: a Parquet file has rows whose values are the same whether a column is read alone or with others, or it is
// refused with its name; no memory is taken for what it only claims.
func FuzzOpen(f *testing.F) {
	for _, table := range []string{"all_types_mor_h120", "mor_trips_h0150", "codec_lz4_h120"} {
		n := 0
		baseFiles(f, table, func(_ string, d []byte) {
			if len(d) < 20000 && n < 4 {
				n++
				f.Add(d)
			}
		})
	}
	for version := 1; version <= 2; version++ {
		for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Lz4Raw, &parquet.Brotli} {
			f.Add(encoded(f, codec, version))
		}
		_, packed := lz4File(f, version, 20)
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<20 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		refused := func(err error) {
			var ce *corrupt.Error
			var un *Unsupported
			if ctx.Err() != nil {
				t.Fatal("it took more than 20 seconds")
			}
			if errors.As(err, &ce) && ce.File == "x.parquet" && ce.Part != "" && ce.Offset <= int64(len(data)) || errors.As(err, &un) && un.File == "x.parquet" && un.What != "" {
				return
			}
			t.Fatalf("%#v: %v", err, err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		file, err := Open(ctx, memory(data), "x.parquet")
		if err != nil {
			refused(err)
			return
		}
		const most = 20_000 // rows: a few bytes can be many
		read := func(want func(string) bool) (values []string, rows int, err error) {
			for b, err := range file.Batches(ctx, want) {
				if err != nil {
					return values, rows, err
				}
				for c, v := range b.Columns {
					if (v != nil) != (want == nil || want(b.Type.Fields[c].Name)) || v != nil && v.Len != b.Len {
						t.Fatalf("column %d of %d rows: %+v", c, b.Len, v)
					}
				}
				for i := range min(b.Len, 50) {
					for c, v := range b.Columns {
						if v == nil {
							continue
						}
						text := v.AppendJSON(nil, i)
						if len(values) < 2000 && !json.Valid(text) {
							t.Fatalf("row %d, column %d: %s", i, c, text)
						}
						values = append(values, fmt.Sprint(rows+i, c, string(text)))
					}
				}
				if rows += b.Len; rows >= most {
					return values, rows, nil
				}
			}
			return values, rows, nil
		}
		all, n, err := read(nil)
		runtime.ReadMemStats(&after)
		if a := after.TotalAlloc - before.TotalAlloc; a > 192<<20+2000*uint64(len(data)+n) {
			t.Fatalf("%d MiB were allocated for %d bytes, %d rows", a>>20, len(data), n)
		}
		if err != nil {
			refused(err)
			return
		}
		// Every other column, by its name.
		names := map[string]bool{}
		for i, fl := range file.Type().Fields {
			if i%2 == 0 {
				names[fl.Name] = true
			}
		}
		half, m, err := read(func(name string) bool { return names[name] })
		if err != nil || m != n {
			t.Fatalf("%d rows of all columns, %d of some: %v", n, m, err)
		}
		has := map[string]bool{}
		for _, v := range all {
			has[v] = true
		}
		for _, v := range half {
			if !has[v] {
				t.Fatalf("%s is not among all columns", v)
			}
		}
	})
}

// FuzzLZ4: pages in Hadoop's frames are unpacked to exactly as many bytes as are said, or refused; what is packed comes back.
func FuzzLZ4(f *testing.F) {
	text := bytes.Repeat([]byte("hadoop frames lz4 "), 30)
	for _, c := range [][2]int{{1 << 20, 1 << 20}, {100, 100}, {256, 50}, {7, 3}} {
		f.Add(uint16(len(text)), packLZ4(text, c[0], c[1]))
	}
	f.Add(uint16(0), []byte{0, 0, 0, 0})
	f.Add(uint16(3), []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, size uint16, p []byte) {
		dst := bytes.Repeat([]byte{0xa5}, int(size)+8)
		_ = unpackLZ4(dst[:size:size], p)
		if !bytes.Equal(dst[size:], bytes.Repeat([]byte{0xa5}, 8)) {
			t.Fatal("more was written than there is room for")
		}
		out := make([]byte, len(p))
		if err := unpackLZ4(out, packLZ4(p, 1+int(size)%300, 1+int(size)%40)); err != nil || !bytes.Equal(out, p) {
			t.Fatalf("%q became %q: %v", p, out, err)
		}
	})
}
