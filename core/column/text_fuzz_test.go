package column

import (
	"encoding/json"
	"math"
	"testing"

	"hudiscope/core/schema"
)

// FuzzParseText: a partition value's text becomes one value of a type, whose text becomes the same value, or it is refused.
func FuzzParseText(f *testing.F) {
	var types []*schema.Type
	for i, text := range []string{`"string"`, `"bytes"`, `"boolean"`, `"int"`, `"long"`, `"float"`, `"double"`, `{"type":"int","logicalType":"date"}`, `{"type":"long","logicalType":"timestamp-micros"}`,
		`{"type":"bytes","logicalType":"decimal","precision":5,"scale":2}`, `{"type":"array","items":"int"}`} {
		typ, err := schema.Parse(text)
		if err != nil {
			f.Fatal(err)
		}
		types = append(types, typ)
		for _, s := range []string{"", "7", "-1.5", "true", "2026-01-31", "9223372036854775808", "NaN", "1e400", "\xff\x00"} {
			f.Add(uint8(i), s)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, s string) {
		typ := types[int(which)%len(types)]
		v, err := ParseText(typ, s)
		if err != nil {
			return
		}
		if v.Len != 1 || v.IsNull(0) {
			t.Fatalf("%q as %s: %d values", s, typ.Kind, v.Len)
		}
		text := v.AppendJSON(nil, 0)
		if !json.Valid(text) {
			t.Fatalf("%q as %s: %s", s, typ.Kind, text)
		}
		shown := string(AppendPlain(nil, v, 0))
		again, err := ParseText(typ, shown)
		if err != nil {
			if len(v.Floats) == 1 && (math.IsNaN(v.Floats[0]) || math.IsInf(v.Floats[0], 0)) {
				return // Java writes Infinity otherwise
			}
			if typ.Kind == schema.Bytes || typ.Logical != schema.None {
				return
			}
			t.Fatalf("%q as %s is shown as %q: %v", s, typ.Kind, shown, err)
		}
		if typ.Kind != schema.Bytes && string(again.AppendJSON(nil, 0)) != string(text) {
			t.Fatalf("%q as %s is %s, and %q is %s", s, typ.Kind, text, shown, again.AppendJSON(nil, 0))
		}
	})
}
