package query

import (
	"encoding/json"
	"fmt"
	"strings"

	"hudiscope/core/column"
	"hudiscope/core/schema"
)

// AppendCell appends slot i as Spark casts it to text for show() (spec queries.md section 9.2). The slot
// is not null.
func AppendCell(dst []byte, v *column.Vector, i int) []byte {
	t := v.Type
	switch t.Kind {
	case schema.Float:
		return append(dst, column.JavaFloat(v.Floats[i], 32)...)
	case schema.Double:
		return append(dst, column.JavaFloat(v.Floats[i], 64)...)
	case schema.String:
		return append(dst, v.BytesAt(i)...)
	case schema.Bytes, schema.Fixed:
		if t.Logical == schema.Decimal {
			return append(dst, column.DecimalText(v.BytesAt(i), t.Scale)...)
		}
		if t.Logical == schema.UUID {
			break
		}
		dst = append(dst, '[')
		for n, b := range v.BytesAt(i) {
			if n > 0 {
				dst = append(dst, ' ')
			}
			dst = fmt.Appendf(dst, "%02X", b)
		}
		return append(dst, ']')
	case schema.Array:
		dst = append(dst, '[')
		for j := int(v.Offsets[i]); j < int(v.Offsets[i+1]); j++ {
			if j > int(v.Offsets[i]) {
				dst = append(dst, ", "...)
			}
			dst = appendNested(dst, v.Children[0], j)
		}
		return append(dst, ']')
	case schema.Map:
		dst = append(dst, '{')
		for j := int(v.Offsets[i]); j < int(v.Offsets[i+1]); j++ {
			if j > int(v.Offsets[i]) {
				dst = append(dst, ", "...)
			}
			dst = append(appendNested(dst, v.Children[0], j), " -> "...)
			dst = appendNested(dst, v.Children[1], j)
		}
		return append(dst, '}')
	case schema.Record:
		dst = append(dst, '{')
		for k, c := range v.Children {
			if k > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendNested(dst, c, i)
		}
		return append(dst, '}')
	case schema.Union:
		return appendNested(dst, v.Children[v.Tags[i]], i)
	}
	text := v.AppendJSON(nil, i)
	if len(text) > 0 && text[0] == '"' {
		var s string
		if json.Unmarshal(text, &s) == nil {
			return append(dst, plainTime(t.Logical, s)...)
		}
	}
	return append(dst, text...)
}

// appendNested appends a value inside of another, where null is written in small letters.
func appendNested(dst []byte, v *column.Vector, i int) []byte {
	if v == nil || v.IsNull(i) {
		return append(dst, "null"...)
	}
	return AppendCell(dst, v, i)
}

// plainTime writes a timestamp with a blank, and without trailing zeros and zone mark.
func plainTime(l schema.Logical, s string) string {
	switch l {
	case schema.TimestampMillis, schema.TimestampMicros, schema.TimestampNanos, schema.LocalTimestampMillis, schema.LocalTimestampMicros, schema.LocalTimestampNanos:
		s = strings.Replace(strings.TrimSuffix(s, "Z"), "T", " ", 1)
		if strings.Contains(s, ".") {
			s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
		}
	}
	return s
}
