package basefile_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"hudiscope/core/basefile"
	"hudiscope/core/corrupt"
	"hudiscope/core/tabletest"
)

// doctored is a file of one column, whose data page header has been changed.
func doctored(t *testing.T, change func(h *format.PageHeader)) []byte {
	t.Helper()
	type row struct {
		A string `parquet:"a,optional,snappy"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	for i := range 500 {
		if _, err := w.Write([]row{{fmt.Sprint("value ", i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p := b.Bytes()
	foot := int(binary.LittleEndian.Uint32(p[len(p)-8:]))
	var m format.FileMetaData
	if err := thrift.Unmarshal(&thrift.CompactProtocol{}, p[len(p)-8-foot:len(p)-8], &m); err != nil {
		t.Fatal(err)
	}
	c := &m.RowGroups[0].Columns[0].MetaData
	chunk := p[c.DataPageOffset : c.DataPageOffset+c.TotalCompressedSize]
	r := (&thrift.CompactProtocol{}).NewReaderFromBytes(chunk)
	var h format.PageHeader
	if err := thrift.NewDecoder(r).Decode(&h); err != nil {
		t.Fatal(err)
	}
	if h.Type == format.DictionaryPage {
		t.Fatal("the file has a dictionary")
	}
	body := chunk[r.BytesRead():]
	change(&h)
	head, err := thrift.Marshal(&thrift.CompactProtocol{}, &h)
	if err != nil {
		t.Fatal(err)
	}
	out := append(bytes.Clone(p[:c.DataPageOffset]), head...)
	out = append(out, body...)
	c.TotalCompressedSize = int64(len(head) + len(body))
	end, err := thrift.Marshal(&thrift.CompactProtocol{}, &m)
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, end...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(end))), "PAR1"...)
}

func readAll(p []byte) (rows int, err error) {
	files := tabletest.New("mem")
	files.Put("f", p)
	obj, err := files.Open(context.Background(), "f")
	if err != nil {
		return 0, err
	}
	f, err := basefile.Open(context.Background(), obj, "f")
	if err != nil {
		return 0, err
	}
	for b, err := range f.Batches(context.Background(), nil) {
		if err != nil {
			return rows, err
		}
		rows += b.Len
	}
	return rows, nil
}

// TestPageClaims: a page header's sizes are refused before room is made for them.
func TestPageClaims(t *testing.T) {
	numValues := func(h *format.PageHeader, n int32) {
		if h.DataPageHeaderV2.Valid {
			h.DataPageHeaderV2.V.NumValues = n
		} else {
			h.DataPageHeader.V.NumValues = n
		}
	}
	for _, c := range []struct {
		name   string
		change func(h *format.PageHeader)
		says   string
	}{
		{"unpacked size", func(h *format.PageHeader) { h.UncompressedPageSize = math.MaxInt32 }, "2147483647 unpacked: more than the limit of 268435456"},
		{"negative size", func(h *format.PageHeader) { h.UncompressedPageSize = -1 }, "-1 unpacked"},
		{"packed size", func(h *format.PageHeader) { h.CompressedPageSize = math.MaxInt32 }, "are left in the column chunk"},
		{"packed size, a byte too much", func(h *format.PageHeader) { h.CompressedPageSize++ }, "are left in the column chunk"},
		{"values", func(h *format.PageHeader) { numValues(h, math.MaxInt32) }, "2147483647 values: more than the limit of 33554432"},
		{"negative values", func(h *format.PageHeader) { numValues(h, -5) }, "-5 values"},
	} {
		p := doctored(t, c.change)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readAll(p)
		runtime.ReadMemStats(&after)
		var ce *corrupt.Error
		if !errors.As(err, &ce) || ce.File != "f" || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), `column "a"`) {
			t.Errorf("%s: %v", c.name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
			t.Errorf("%s: %d bytes were allocated", c.name, n)
		}
	}
	if rows, err := readAll(doctored(t, func(*format.PageHeader) {})); rows != 500 || err != nil {
		t.Errorf("unchanged: %d rows, %v", rows, err)
	}
	// A header can be long by its statistics.
	if rows, err := readAll(doctored(t, func(h *format.PageHeader) {
		s := format.Statistics{MinValue: bytes.Repeat([]byte("a"), 9000), MaxValue: bytes.Repeat([]byte("z"), 100_000)}
		if h.DataPageHeaderV2.Valid {
			h.DataPageHeaderV2.V.Statistics = s
		} else {
			h.DataPageHeader.V.Statistics = s
		}
	})); rows != 500 || err != nil {
		t.Errorf("long statistics: %d rows, %v", rows, err)
	}
	if _, err := readAll(doctored(t, func(h *format.PageHeader) {
		s := format.Statistics{MinValue: bytes.Repeat([]byte("a"), 3<<20)}
		if h.DataPageHeaderV2.Valid {
			h.DataPageHeaderV2.V.Statistics = s
		} else {
			h.DataPageHeader.V.Statistics = s
		}
	})); err == nil || !strings.Contains(err.Error(), "more than the limit of 1048576 bytes") {
		t.Errorf("too long statistics: %v", err)
	}
}

// TestPageShapes reads files whose pages and batches begin at different rows, with and without
// dictionaries and nulls, value by value.
func TestPageShapes(t *testing.T) {
	type nested struct {
		X *int64  `parquet:"x,optional"`
		Y []int32 `parquet:"y,list"`
	}
	type row struct {
		Plain  int64    `parquet:"plain,plain"`
		Text   string   `parquet:"text,plain"`
		Dict   string   `parquet:"dict,dict"`
		OptI   *int64   `parquet:"opti,optional"`
		OptT   *string  `parquet:"optt,optional,dict"`
		OptB   *bool    `parquet:"optb,optional"`
		OptF   *float64 `parquet:"optf,optional,dict"`
		List   []string `parquet:"list,list"`
		Nested *nested  `parquet:"nested,optional"`
	}
	for n, size := range []int{64, 700, 5000, 1 << 20} {
		rnd := rand.New(rand.NewPCG(uint64(n), 1))
		var b bytes.Buffer
		w := parquet.NewGenericWriter[row](&b, parquet.PageBufferSize(size), parquet.MaxRowsPerRowGroup(7000), parquet.DataPageVersion(1+n%2))
		const rows = 15_000
		want := make([]string, rows)
		for i := range rows {
			r := row{Plain: rnd.Int64(), Text: strings.Repeat("x", rnd.IntN(9)) + fmt.Sprint(i), Dict: fmt.Sprint("d", rnd.IntN(50))}
			full := fmt.Sprintf("%d %q %q", r.Plain, r.Text, r.Dict)
			// Runs of nulls, so that whole pages are null and others are not.
			if i/3000%2 == 0 && rnd.IntN(4) > 0 {
				x, s, f, o := rnd.Int64(), fmt.Sprint("t", rnd.IntN(9)), float64(rnd.IntN(7)), rnd.IntN(2) == 0
				r.OptI, r.OptT, r.OptF, r.OptB = &x, &s, &f, &o
				full += fmt.Sprintf(" %d %q %v %v", x, s, o, f)
			} else {
				full += " null null null null"
			}
			list := []string{}
			for range rnd.IntN(4) {
				list = append(list, fmt.Sprint("l", rnd.IntN(1000)))
			}
			r.List = list
			full += fmt.Sprintf(" %q", list)
			if rnd.IntN(3) > 0 {
				r.Nested = &nested{Y: []int32{}}
				if rnd.IntN(2) == 0 {
					x := int64(i)
					r.Nested.X = &x
				}
				for k := range rnd.IntN(3) {
					r.Nested.Y = append(r.Nested.Y, int32(k*i))
				}
				if r.Nested.X == nil {
					full += fmt.Sprintf(" {null %d}", r.Nested.Y)
				} else {
					full += fmt.Sprintf(" {%d %d}", *r.Nested.X, r.Nested.Y)
				}
			} else {
				full += " null"
			}
			want[i] = full
			if _, err := w.Write([]row{r}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		files := tabletest.New("mem")
		files.Put("f", b.Bytes())
		obj, err := files.Open(context.Background(), "f")
		if err != nil {
			t.Fatal(err)
		}
		f, err := basefile.Open(context.Background(), obj, "f")
		if err != nil {
			t.Fatal(err)
		}
		// All batches are kept: those that come later must not change them.
		var got []string
		var check []func() string
		for batch, err := range f.Batches(context.Background(), nil) {
			if err != nil {
				t.Fatalf("pages of %d bytes: %v", size, err)
			}
			render := func() string {
				var s strings.Builder
				for i := range batch.Len {
					for _, c := range batch.Columns {
						s.Write(c.AppendJSON(nil, i))
						s.WriteByte(' ')
					}
					s.WriteByte('\n')
				}
				return s.String()
			}
			first := render()
			check = append(check, func() string {
				if render() != first {
					return "changed"
				}
				return ""
			})
			for i := range batch.Len {
				c := func(name string) string {
					v := batch.Column(name)
					return string(v.AppendJSON(nil, i))
				}
				nest := "null"
				if v := batch.Column("nested"); !v.IsNull(i) {
					x, y := v.Children[0], v.Children[1]
					var ys []int64
					for k := y.Offsets[i]; k < y.Offsets[i+1]; k++ {
						ys = append(ys, y.Children[0].Ints[k])
					}
					nest = fmt.Sprintf("{%s %d}", x.AppendJSON(nil, i), ys)
				}
				l := batch.Column("list")
				ls := []string{}
				for k := l.Offsets[i]; k < l.Offsets[i+1]; k++ {
					ls = append(ls, string(l.Children[0].BytesAt(int(k))))
				}
				got = append(got, fmt.Sprintf("%d %s %s %s %s %s %s %q %s", batch.Column("plain").Ints[i], c("text"), c("dict"), c("opti"), c("optt"), c("optb"), c("optf"), ls, nest))
			}
		}
		if len(got) != rows {
			t.Fatalf("pages of %d bytes: %d rows", size, len(got))
		}
		for i := range want {
			// JSON writes whole numbers of a double with a fraction.
			if g := strings.ReplaceAll(got[i], ".0", ""); g != want[i] {
				t.Fatalf("pages of %d bytes, row %d:\nwant %s\ngot  %s", size, i, want[i], g)
			}
		}
		for i, changed := range check {
			if changed() != "" {
				t.Errorf("pages of %d bytes: batch %d was changed by later ones", size, i)
			}
		}
	}
}
