package evolve

import (
	"strings"
	"testing"

	"hudiscope/core/column"
	"hudiscope/core/schema"
)

// FuzzParse: no text of a schema or a history may panic, and one that is taken can be used.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"max_column_id":9,"version_id":20260101000000000,"type":"record","fields":[{"id":0,"name":"id","optional":true,"type":"int"},{"id":1,"name":"m","optional":false,"type":{"type":"map","key_id":2,"value_id":3,"value_optional":true,"key":"string","value":{"type":"array","element_id":4,"element":"decimal(10,2)","element_optional":true}}}]}`))
	f.Add([]byte(`{"schemas":[{"version_id":1,"type":"record","fields":[]}]}`))
	f.Add([]byte(`{"type":"record","fields":[{"id":0,"name":"a","type":{"type":"record","fields":[{"id":0,"name":"a","type":"int"}]}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, err := Parse(text); err == nil {
			usable(t, s, s)
		} else if !strings.HasPrefix(err.Error(), "internal schema: ") {
			t.Fatalf("an error that does not say of what: %v", err)
		}
		if h, err := ParseHistory(text); err == nil {
			var last *Schema
			for _, at := range []string{"20240101000000000", "0", "x", "99999999999999999"} {
				if s := h.At(at); s != nil {
					usable(t, s, s)
					if last != nil {
						usable(t, last, s)
						usable(t, s, last)
					}
					last = s
				}
			}
		} else if !strings.HasPrefix(err.Error(), "schema history") {
			t.Fatalf("an error that does not say of what: %v", err)
		}
	})
}

// usable checks that the record type of a file's schema is whole, and that rows of it are read with the schema of a query
// column by column; with its own, without a change.
func usable(t *testing.T, file, query *Schema) {
	t.Helper()
	typ := file.Type()
	if typ.Kind != schema.Record || len(typ.Fields) != len(file.Root.Kids) {
		t.Fatalf("%s with %d fields", typ.Kind, len(typ.Fields))
	}
	typ.Display()
	b := &column.Batch{Type: typ, Len: 2}
	for _, f := range typ.Fields {
		b.Columns = append(b.Columns, column.Nulls(f.Type, 2))
	}
	got := Map(file, query).Batch(b)
	if got.Len != 2 || len(got.Columns) != len(got.Type.Fields) || len(got.Columns) > len(b.Columns) || file == query && got != b {
		t.Fatalf("%d columns of %d", len(got.Columns), len(b.Columns))
	}
	for i, v := range got.Columns {
		if v == nil || v.Len != 2 || !v.IsNull(0) {
			t.Fatalf("column %d is %+v", i, v)
		}
	}
}
