package column

import (
	"bytes"
	"testing"

	"hudiscope/core/schema"
)

// everyKind is a type with a column of every kind, nested ones among them.
func everyKind(t testing.TB) *schema.Type {
	t.Helper()
	typ, err := schema.Parse([]byte(`{"type":"record","name":"r","fields":[
		{"name":"b","type":"boolean"},{"name":"i","type":["null","int"]},{"name":"l","type":"long"},{"name":"f","type":["null","float"]},{"name":"d","type":"double"},
		{"name":"s","type":["null","string"]},{"name":"y","type":"bytes"},{"name":"x","type":{"type":"fixed","name":"x","size":2}},
		{"name":"e","type":{"type":"enum","name":"e","symbols":["A","B"]}},
		{"name":"a","type":["null",{"type":"array","items":["null","string"]}]},{"name":"m","type":{"type":"map","values":{"type":"array","items":"int"}}},
		{"name":"r","type":["null",{"type":"record","name":"q","fields":[{"name":"u","type":["null","int","string"]},{"name":"z","type":"long"}]}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// fill appends a row; which values are null, and what they are, depends on i.
func fill(v *Vector, i int) {
	if v.Type.Nullable && i%3 == 1 {
		v.AppendNull()
		return
	}
	switch v.Type.Kind {
	case schema.Boolean:
		v.AppendBool(i%2 == 0)
	case schema.Int, schema.Long:
		v.AppendInt(int64(i) - 7<<40)
	case schema.Enum:
		v.AppendInt(int64(i % 2))
	case schema.Float, schema.Double:
		v.AppendFloat(float64(i) / 3)
	case schema.Bytes, schema.String:
		v.AppendBytes(bytes.Repeat([]byte{'a' + byte(i%26)}, i%5))
	case schema.Fixed:
		v.AppendBytes([]byte{byte(i), 1})
	case schema.Array, schema.Map:
		for k := range i % 4 {
			for _, c := range v.Children {
				fill(c, i+k)
			}
		}
		v.CloseSlot()
	case schema.Record:
		for _, c := range v.Children {
			fill(c, i)
		}
		v.CloseSlot()
	case schema.Union:
		b := uint8(i % len(v.Type.Branches))
		one := New(v.Type.Branches[b], 1)
		fill(one, i)
		v.AppendBranch(b, one, 0)
	default:
		v.AppendNull()
	}
}

func everyKindBatch(t testing.TB, rows int) *Batch {
	b := &Batch{Type: everyKind(t)}
	for i := range b.Type.Fields {
		v := New(b.Type.Fields[i].Type, 0)
		for k := range rows {
			fill(v, k+i)
		}
		b.Columns = append(b.Columns, v)
	}
	b.Len = rows
	return b
}

func TestBatchBytes(t *testing.T) {
	for rows := range 40 {
		b := everyKindBatch(t, rows)
		b.Columns[rows%len(b.Columns)] = nil
		p := AppendBatch([]byte("x"), b)[1:]
		got, err := ReadBatch(b.Type, p)
		if err != nil {
			t.Fatal(rows, err)
		}
		for i := range rows {
			for k := range b.Columns {
				if (b.Columns[k] == nil) != (got.Columns[k] == nil) {
					t.Fatalf("column %d is there and isn't", k)
				}
				if w, g := b.Columns[k].AppendJSON(nil, i), got.Columns[k].AppendJSON(nil, i); !bytes.Equal(w, g) {
					t.Fatalf("row %d, column %d: %s, want %s", i, k, g, w)
				}
			}
		}
		for n := range len(p) {
			if _, err := ReadBatch(b.Type, p[:n]); err == nil {
				t.Fatalf("%d of %d bytes are taken for a batch", n, len(p))
			}
		}
	}
}

func FuzzReadBatch(f *testing.F) {
	for _, rows := range []int{0, 1, 9} {
		f.Add(AppendBatch(nil, everyKindBatch(f, rows)))
	}
	typ := everyKind(f)
	f.Fuzz(func(t *testing.T, p []byte) {
		b, err := ReadBatch(typ, p)
		if err != nil {
			return
		}
		q := AppendBatch(nil, b)
		again, err := ReadBatch(typ, q)
		if err != nil || again.Len != b.Len || !bytes.Equal(AppendBatch(nil, again), q) {
			t.Fatalf("what was read is written as another: %v", err)
		}
		if n := int64(len(p)); b.Bytes() > 1<<20+400*n {
			t.Fatalf("%d bytes are held of %d", b.Bytes(), n)
		}
		for i := range min(b.Len, 50) {
			for _, c := range b.Columns {
				c.AppendJSON(nil, i)
			}
		}
	})
}
