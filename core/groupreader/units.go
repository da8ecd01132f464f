package groupreader

import (
	"hudiscope/core/column"
	"hudiscope/core/schema"
)

// Numbers that, in milliseconds, are times from 1980 to 2099. In microseconds they lie in the first
// seven weeks of 1970, which hardly any data are of.
const (
	likeMillisFrom = 315_532_800_000
	likeMillisTo   = 4_102_444_800_000
)

// units looks at the timestamps of a base file's batch for a wrong unit: some releases wrote files that
// say microseconds where the numbers are milliseconds, and the other way about. Where the table's
// schema has the other unit and the numbers fit that, they are taken as it says; where it has the same,
// they stay as they are labelled, with a note.
func (r *reader) units(b *column.Batch) *column.Batch {
	out := b
	for i, v := range b.Columns {
		if v == nil || v.Type == nil || v.Type.Kind != schema.Long {
			continue
		}
		var other, fits schema.Logical
		from, to := int64(likeMillisFrom), int64(likeMillisTo)
		says, are := "microseconds", "milliseconds"
		switch v.Type.Logical {
		case schema.TimestampMicros:
			other = schema.TimestampMillis
		case schema.LocalTimestampMicros:
			other = schema.LocalTimestampMillis
		case schema.TimestampMillis:
			other = schema.TimestampMicros
		case schema.LocalTimestampMillis:
			other = schema.LocalTimestampMicros
		default:
			continue
		}
		if v.Type.Logical == schema.TimestampMillis || v.Type.Logical == schema.LocalTimestampMillis {
			from, to, says, are = from*1000, to*1000, are, says
		}
		first, ok := within(v, from, to)
		if !ok {
			continue
		}
		field := &b.Type.Fields[i]
		if k := r.o.Reader.FieldIndex(field.Name); k >= 0 && r.o.Reader.Fields[k].Type != nil {
			fits = r.o.Reader.Fields[k].Type.Logical
		}
		if fits != other {
			year := "1970"
			if says == "milliseconds" {
				year = "after 9999"
			}
			r.stats.note("the column %s of %s is labelled as %s, and all its numbers look like %s (the first is %d): such a file is mislabelled. They are shown as they are labelled (the year is %s).", field.Name, r.s.Base, says, are, first, year)
			continue
		}
		if out == b {
			typ := *b.Type
			typ.Fields = append([]schema.Field(nil), b.Type.Fields...)
			out = &column.Batch{Type: &typ, Len: b.Len, Columns: append([]*column.Vector(nil), b.Columns...)}
		}
		c, t := *v, *v.Type
		t.Logical, t.LogicalName = other, r.o.Reader.Fields[r.o.Reader.FieldIndex(field.Name)].Type.LogicalName
		c.Type = &t
		out.Type.Fields[i].Type, out.Columns[i] = &t, &c
	}
	return out
}

// within reports whether a column has values, and all of them lie in [from, to]; first is the first one.
func within(v *column.Vector, from, to int64) (first int64, ok bool) {
	for i, x := range v.Ints {
		if v.Nulls != nil && v.Nulls[i] {
			continue
		}
		if x < from || x > to {
			return 0, false
		}
		if !ok {
			first, ok = x, true
		}
	}
	return first, ok
}
