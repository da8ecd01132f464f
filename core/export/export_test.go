package export

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"hudiscope/core/basefile"
	"hudiscope/core/column"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
)

// memory is an object over bytes.
type memory []byte

func (m memory) Size(context.Context) (int64, error) { return int64(len(m)), nil }
func (m memory) Close() error                        { return nil }
func (m memory) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	if off >= int64(len(m)) {
		return 0, io.EOF
	}
	n := copy(p, m[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

var _ storage.Object = memory(nil)

func typ(k schema.Kind, l schema.Logical) *schema.Type { return &schema.Type{Kind: k, Logical: l} }

func opt(t *schema.Type) *schema.Type {
	o := *t
	o.Nullable, o.NullFirst = true, true
	return &o
}

func record(fields ...schema.Field) *schema.Type {
	return &schema.Type{Kind: schema.Record, Name: "r", Fields: fields}
}

// sample is a batch with every type that a column can have.
func sample(t *testing.T) *column.Batch {
	dec := &schema.Type{Kind: schema.Bytes, Logical: schema.Decimal, Precision: 20, Scale: 3}
	decFixed := &schema.Type{Kind: schema.Fixed, Size: 5, Logical: schema.Decimal, Precision: 10, Scale: 2}
	list := func(e *schema.Type) *schema.Type { return &schema.Type{Kind: schema.Array, Elem: e} }
	inner := record(schema.Field{Name: "x", Type: opt(typ(schema.Int, 0))}, schema.Field{Name: "y", Type: opt(list(opt(typ(schema.String, 0))))})
	rec := record(
		schema.Field{Name: "bool", Type: opt(typ(schema.Boolean, 0))},
		schema.Field{Name: "int", Type: typ(schema.Int, 0)},
		schema.Field{Name: "long", Type: opt(typ(schema.Long, 0))},
		schema.Field{Name: "float", Type: opt(typ(schema.Float, 0))},
		schema.Field{Name: "double", Type: opt(typ(schema.Double, 0))},
		schema.Field{Name: "bytes", Type: opt(typ(schema.Bytes, 0))},
		schema.Field{Name: "string", Type: opt(typ(schema.String, 0))},
		schema.Field{Name: "date", Type: opt(typ(schema.Int, schema.Date))},
		schema.Field{Name: "time_ms", Type: opt(typ(schema.Int, schema.TimeMillis))},
		schema.Field{Name: "time_us", Type: opt(typ(schema.Long, schema.TimeMicros))},
		schema.Field{Name: "ts_ms", Type: opt(typ(schema.Long, schema.TimestampMillis))},
		schema.Field{Name: "ts_us", Type: opt(typ(schema.Long, schema.TimestampMicros))},
		schema.Field{Name: "ts_ns", Type: opt(typ(schema.Long, schema.TimestampNanos))},
		schema.Field{Name: "local_ms", Type: opt(typ(schema.Long, schema.LocalTimestampMillis))},
		schema.Field{Name: "local_us", Type: opt(typ(schema.Long, schema.LocalTimestampMicros))},
		schema.Field{Name: "decimal", Type: opt(dec)},
		schema.Field{Name: "decimal_fixed", Type: opt(decFixed)},
		schema.Field{Name: "uuid", Type: opt(&schema.Type{Kind: schema.Fixed, Size: 16, Logical: schema.UUID})},
		schema.Field{Name: "enum", Type: opt(&schema.Type{Kind: schema.Enum, Symbols: []string{"A", "B"}})},
		schema.Field{Name: "nothing", Type: typ(schema.Null, 0)},
		schema.Field{Name: "lists", Type: opt(list(opt(list(opt(typ(schema.Int, 0))))))},
		schema.Field{Name: "map", Type: opt(&schema.Type{Kind: schema.Map, Elem: opt(inner)})},
		schema.Field{Name: "struct", Type: opt(inner)},
		schema.Field{Name: "required", Type: list(record(schema.Field{Name: "a", Type: typ(schema.Long, 0)}))},
	)
	b := &column.Batch{Type: rec, Len: 4}
	for i := range rec.Fields {
		v := column.New(rec.Fields[i].Type, 4)
		for row := range 4 {
			fill(v, row, i)
		}
		if v.Len != 4 {
			t.Fatalf("%s has %d slots", rec.Fields[i].Name, v.Len)
		}
		b.Columns = append(b.Columns, v)
	}
	return b
}

// fill appends a value that depends on n: some nulls, empty values, extremes.
func fill(v *column.Vector, row, n int) {
	if v.Type.Kind == schema.Null || v.Type.Nullable && (row+n)%4 == 1 {
		v.AppendNull()
		return
	}
	switch v.Type.Kind {
	case schema.Boolean:
		v.AppendBool(row%2 == 0)
	case schema.Int:
		x := []int64{0, math.MaxInt32, math.MinInt32, 7}[row%4]
		if v.Type.Logical == schema.TimeMillis {
			x = []int64{0, 1, 86_399_999, 500}[row%4]
		}
		if v.Type.Logical == schema.Date {
			x = []int64{0, -719162, 2932896, -1}[row%4]
		}
		v.AppendInt(x)
	case schema.Long:
		x := []int64{0, math.MaxInt64, math.MinInt64, -1}[row%4]
		if v.Type.Logical != schema.None {
			x = []int64{0, 1, 86_399_999_999, 123_456_789}[row%4]
		}
		v.AppendInt(x)
	case schema.Enum:
		v.AppendInt(int64(row % 2))
	case schema.Float:
		v.AppendFloat([]float64{float64(float32(1.1)), math.NaN(), math.Inf(-1), math.Copysign(0, -1)}[row%4])
	case schema.Double:
		v.AppendFloat([]float64{1.1, math.NaN(), math.MaxFloat64, 5e-324}[row%4])
	case schema.String:
		v.AppendString([]string{"", "a,\"b\"\r\n", " x ", "=HYPERLINK(\"é\")"}[row%4])
	case schema.Bytes:
		v.AppendBytes([][]byte{{}, {0x80}, {0x7f, 0xff, 1}, {0, 0, 5}}[row%4])
	case schema.Fixed:
		b := make([]byte, v.Type.Size)
		b[0], b[len(b)-1] = byte(0xff*(row%2)), byte(row)
		v.AppendBytes(b)
	case schema.Array:
		for k := range []int{2, 0, 3, 1}[row%4] {
			fill(v.Children[0], row+k, n+k)
		}
		v.CloseSlot()
	case schema.Map:
		for k := range []int{1, 0, 2, 1}[row%4] {
			v.Children[0].AppendString(fmt.Sprint("k", k))
			fill(v.Children[1], row+k, n+k)
		}
		v.CloseSlot()
	case schema.Record:
		for k, c := range v.Children {
			fill(c, row+k, n+k)
		}
		v.CloseSlot()
	}
}

func columnsOf(b *column.Batch) []Column {
	var out []Column
	for i := range b.Type.Fields {
		out = append(out, Column{b.Type.Fields[i].Name, i, b.Type.Fields[i].Type})
	}
	return out
}

func write(t testing.TB, format string, b *column.Batch, times int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := New(format, &out, columnsOf(b))
	if err != nil {
		t.Fatal(err)
	}
	for range times {
		for i := range b.Len {
			if err := w.Write(b, i); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// readBack reads rows of a Parquet file as JSON.
func readBack(t testing.TB, file []byte) (*basefile.File, []string) {
	t.Helper()
	f, err := basefile.Open(context.Background(), memory(file), "export.parquet")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for b, err := range f.Batches(context.Background(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len {
			var row []byte
			for _, v := range b.Columns {
				row = append(v.AppendJSON(row, i), ' ')
			}
			rows = append(rows, string(row))
		}
	}
	return f, rows
}

// TestParquetTypes writes every type and reads it back, with its nulls and its logical type.
func TestParquetTypes(t *testing.T) {
	b := sample(t)
	f, rows := readBack(t, write(t, Parquet, b, 1))
	if len(rows) != b.Len || f.NumRows() != int64(b.Len) {
		t.Fatalf("%d rows", len(rows))
	}
	for i := range b.Len {
		var want []byte
		for _, v := range b.Columns {
			want = append(v.AppendJSON(want, i), ' ')
		}
		if rows[i] != string(want) {
			t.Errorf("row %d\n got %s\nwant %s", i, rows[i], want)
		}
	}
	for i := range b.Type.Fields {
		w, g := b.Type.Fields[i].Type, f.Type().Fields[i].Type
		if f.Type().Fields[i].Name != b.Type.Fields[i].Name {
			t.Errorf("column %d is %s, want %s", i, f.Type().Fields[i].Name, b.Type.Fields[i].Name)
		}
		if w.Logical != g.Logical || w.Precision != g.Precision || w.Scale != g.Scale || w.Nullable != g.Nullable && w.Kind != schema.Null {
			t.Errorf("%s: %+v, want %+v", b.Type.Fields[i].Name, g, w)
		}
	}
}

// TestParquetUnion writes a union of several types as the group of its members.
func TestParquetUnion(t *testing.T) {
	u := &schema.Type{Kind: schema.Union, Branches: []*schema.Type{typ(schema.Null, 0), typ(schema.Int, 0), typ(schema.String, 0)}}
	v := column.New(u, 3)
	one := column.New(u.Branches[1], 1)
	one.AppendInt(5)
	text := column.New(u.Branches[2], 1)
	text.AppendString("x")
	v.AppendBranch(1, one, 0)
	v.AppendBranch(0, nil, 0)
	v.AppendBranch(2, text, 0)
	b := &column.Batch{Type: record(schema.Field{Name: "u", Type: u}), Len: 3, Columns: []*column.Vector{v}}
	_, rows := readBack(t, write(t, Parquet, b, 1))
	if got := strings.Join(rows, ""); got != `{"member0":5,"member1":null} null {"member0":null,"member1":"x"} ` {
		t.Error(got)
	}
}

// TestParquetGroups writes more than a row group and a page hold, with smaller ones.
func TestParquetGroups(t *testing.T) {
	b := sample(t)
	const times, page, group = 2000, 1 << 10, 64 << 10
	var out bytes.Buffer
	w, err := newParquet(&out, columnsOf(b))
	if err != nil {
		t.Fatal(err)
	}
	w.pageBytes, w.groupBytes = page, group
	most := 0
	for n := range times * b.Len {
		if err := w.Write(b, n%b.Len); err != nil {
			t.Fatal(err)
		}
		kept := 0
		for _, l := range w.leaves {
			kept += l.pages.Len() + len(l.values) + len(l.bools) + len(l.reps) + len(l.defs)
		}
		most = max(most, kept)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if most > group+4<<10 || len(w.meta.RowGroups) < 3 {
		t.Errorf("%d bytes were kept, %d row groups", most, len(w.meta.RowGroups))
	}
	f, rows := readBack(t, out.Bytes())
	if len(rows) != times*b.Len || f.NumRows() != int64(len(rows)) {
		t.Fatalf("%d rows", len(rows))
	}
	_, first := readBack(t, write(t, Parquet, b, 1))
	for i, r := range rows {
		if r != first[i%b.Len] {
			t.Fatalf("row %d: %s, want %s", i, r, first[i%b.Len])
		}
	}
}

func TestParquetRefusals(t *testing.T) {
	var un *Unsupported
	if _, err := New(Parquet, io.Discard, nil); !errors.As(err, &un) {
		t.Error(err)
	}
	if _, err := New(Parquet, io.Discard, []Column{{"s", 0, record()}}); !errors.As(err, &un) || un.Column != "s" {
		t.Error(err)
	}
	var unknown UnknownFormat
	if _, err := New("xlsx", io.Discard, nil); !errors.As(err, &unknown) {
		t.Error(err)
	}
	// A null in a column that has none.
	v := column.New(typ(schema.Int, 0), 1)
	v.AppendNull()
	b := &column.Batch{Type: record(schema.Field{Name: "a", Type: typ(schema.Int, 0)}), Len: 1, Columns: []*column.Vector{v}}
	w, err := New(Parquet, io.Discard, columnsOf(b))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(b, 0); err == nil {
		t.Error("a null was taken for a required column")
	}
}

// TestCSV reads the file back: texts are what they were, null and the empty text differ.
func TestCSV(t *testing.T) {
	b := sample(t)
	file := write(t, CSV, b, 1)
	if !bytes.HasSuffix(file, []byte("\r\n")) {
		t.Error("lines do not end with CR LF")
	}
	// The reader takes CR LF in fields for LF, and drops quotes.
	got, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil || len(got) != b.Len+1 {
		t.Fatal(len(got), err)
	}
	for k, f := range b.Type.Fields {
		if got[0][k] != f.Name {
			t.Errorf("header %q", got[0][k])
		}
		for i := range b.Len {
			want := ""
			v := b.Columns[k]
			if !v.IsNull(i) && f.Type.Kind == schema.String {
				want = strings.ReplaceAll(string(v.BytesAt(i)), "\r\n", "\n")
			} else if !v.IsNull(i) {
				want = strings.Trim(string(v.AppendJSON(nil, i)), `"`)
			}
			if got[i+1][k] != want {
				t.Errorf("%s, row %d: %q, want %q", f.Name, i, got[i+1][k], want)
			}
		}
	}
	for s, want := range map[string]string{"": `""`, "a": "a", `a"b`: `"a""b"`, "a,b": `"a,b"`, "a\nb": "\"a\nb\"", " a": `" a"`, "=1+1": "=1+1"} {
		if got := string(appendField(nil, s)); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
	if !bytes.Contains(file, []byte("\"a,\"\"b\"\"\r\n\"")) {
		t.Errorf("the field with a line break is not as it was:\n%s", file)
	}
}

func TestFileName(t *testing.T) {
	for table, want := range map[string]string{
		"trips": "trips.csv", "../../etc/passwd": "etc_passwd.csv", "": "table.csv", "con": "table_con.csv", "a\r\nb\"c": "a__b_c.csv",
		"größe-1": "größe-1.csv", "com1": "table_com1.csv", "\u202egpj": "gpj.csv", strings.Repeat("x", 300): strings.Repeat("x", 80) + ".csv", "...": "table.csv",
	} {
		if got := FileName(table, CSV); got != want {
			t.Errorf("%q: %s, want %s", table, got, want)
		}
	}
}
