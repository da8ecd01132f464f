package column

import (
	"fmt"

	"hudiscope/core/schema"
)

// New returns an empty vector of a type with room for n slots.
func New(t *schema.Type, n int) *Vector {
	v := &Vector{Type: t}
	switch t.Kind {
	case schema.Boolean:
		v.Bools = make([]bool, 0, n)
	case schema.Int, schema.Long, schema.Enum:
		v.Ints = make([]int64, 0, n)
	case schema.Float, schema.Double:
		v.Floats = make([]float64, 0, n)
	case schema.Bytes, schema.String, schema.Fixed:
		v.Offsets = append(make([]uint32, 0, n+1), 0)
	case schema.Array:
		v.Offsets = append(make([]uint32, 0, n+1), 0)
		v.Children = []*Vector{New(t.Elem, 0)}
	case schema.Map:
		v.Offsets = append(make([]uint32, 0, n+1), 0)
		v.Children = []*Vector{New(mapKey, 0), New(t.Elem, 0)}
	case schema.Record:
		v.Children = make([]*Vector, len(t.Fields))
		for i := range t.Fields {
			v.Children[i] = New(t.Fields[i].Type, n)
		}
	case schema.Union:
		v.Tags = make([]uint8, 0, n)
		v.Children = make([]*Vector, len(t.Branches))
		for i, b := range t.Branches {
			v.Children[i] = New(b, n)
		}
	}
	return v
}

// mapKey is the type of map keys.
var mapKey = &schema.Type{Kind: schema.String}

// MapKeyType returns the type that key vectors of maps have.
func MapKeyType() *schema.Type { return mapKey }

// AppendNull adds a null slot, with the zero value that keeps slots lined up.
func (v *Vector) AppendNull() {
	if v.Nulls == nil {
		v.Nulls = make([]bool, v.Len, max(v.Len+1, cap(v.Ints), cap(v.Offsets), cap(v.Floats), cap(v.Bools)))
	}
	v.appendZero()
	v.Nulls = append(v.Nulls, true)
	v.Len++
}

func (v *Vector) appendZero() {
	switch v.Type.Kind {
	case schema.Boolean:
		v.Bools = append(v.Bools, false)
	case schema.Int, schema.Long, schema.Enum:
		v.Ints = append(v.Ints, 0)
	case schema.Float, schema.Double:
		v.Floats = append(v.Floats, 0)
	case schema.Bytes, schema.String, schema.Fixed, schema.Array, schema.Map:
		v.Offsets = append(v.Offsets, v.Offsets[len(v.Offsets)-1])
	case schema.Record:
		for _, c := range v.Children {
			c.AppendNull()
		}
	case schema.Union:
		v.Tags = append(v.Tags, 0)
		for _, c := range v.Children {
			c.AppendNull()
		}
	}
}

// valid notes a slot that is not null; the caller has appended its value.
func (v *Vector) valid() {
	if v.Nulls != nil {
		v.Nulls = append(v.Nulls, false)
	}
	v.Len++
}

// AppendInt, AppendFloat, AppendBool and AppendBytes add a value to a vector of a fitting kind.
func (v *Vector) AppendInt(x int64)     { v.Ints = append(v.Ints, x); v.valid() }
func (v *Vector) AppendFloat(x float64) { v.Floats = append(v.Floats, x); v.valid() }
func (v *Vector) AppendBool(x bool)     { v.Bools = append(v.Bools, x); v.valid() }
func (v *Vector) AppendBytes(x []byte) {
	v.Data = append(v.Data, x...)
	v.Offsets = append(v.Offsets, uint32(len(v.Data)))
	v.valid()
}

// AppendString adds text to a Bytes or String vector.
func (v *Vector) AppendString(x string) {
	v.Data = append(v.Data, x...)
	v.Offsets = append(v.Offsets, uint32(len(v.Data)))
	v.valid()
}

// CloseSlot ends a slot of an Array, Map or Record vector whose children have been
// filled by the caller.
func (v *Vector) CloseSlot() {
	switch v.Type.Kind {
	case schema.Array, schema.Map:
		v.Offsets = append(v.Offsets, uint32(v.Children[0].Len))
	}
	v.valid()
}

// AppendFrom copies slot i of src, which must have the same shape as v.
func (v *Vector) AppendFrom(src *Vector, i int) {
	if src.IsNull(i) {
		v.AppendNull()
		return
	}
	switch v.Type.Kind {
	case schema.Boolean:
		v.AppendBool(src.Bools[i])
	case schema.Int, schema.Long, schema.Enum:
		v.AppendInt(src.Ints[i])
	case schema.Float, schema.Double:
		v.AppendFloat(src.Floats[i])
	case schema.Bytes, schema.String, schema.Fixed:
		v.AppendBytes(src.BytesAt(i))
	case schema.Array, schema.Map:
		for j := src.Offsets[i]; j < src.Offsets[i+1]; j++ {
			for k, c := range v.Children {
				c.AppendFrom(src.Children[k], int(j))
			}
		}
		v.CloseSlot()
	case schema.Record:
		for k, c := range v.Children {
			c.AppendFrom(src.Children[k], i)
		}
		v.CloseSlot()
	case schema.Union:
		v.Tags = append(v.Tags, src.Tags[i])
		for k, c := range v.Children {
			c.AppendFrom(src.Children[k], i)
		}
		v.valid()
	default:
		v.AppendNull()
	}
}

// Nulls returns a vector of n null slots.
func Nulls(t *schema.Type, n int) *Vector {
	v := New(t, n)
	for range n {
		v.AppendNull()
	}
	return v
}

// Constant returns a vector of n slots that all hold the same text.
func Constant(t *schema.Type, text string, n int) *Vector {
	v := New(t, n)
	for range n {
		v.AppendString(text)
	}
	return v
}

// Bytes returns the memory the vector holds, in bytes (capacity, not length).
func (v *Vector) Bytes() int64 {
	if v == nil {
		return 0
	}
	n := int64(cap(v.Nulls) + cap(v.Bools) + 8*cap(v.Ints) + 8*cap(v.Floats) + 4*cap(v.Offsets) + cap(v.Data) + cap(v.Tags))
	for _, c := range v.Children {
		n += c.Bytes()
	}
	return n
}

// Bytes returns the memory the batch holds, in bytes.
func (b *Batch) Bytes() int64 {
	var n int64
	for _, c := range b.Columns {
		n += c.Bytes()
	}
	return n
}

// Column returns the column of a top-level field by name, or nil.
func (b *Batch) Column(name string) *Vector {
	if i := b.Type.FieldIndex(name); i >= 0 {
		return b.Columns[i]
	}
	return nil
}

// Text returns slot i as text when the vector holds text, and whether it is not null.
func (v *Vector) Text(i int) (string, bool) {
	if v == nil || v.IsNull(i) {
		return "", false
	}
	switch v.Type.Kind {
	case schema.String, schema.Bytes:
		return string(v.BytesAt(i)), true
	case schema.Enum:
		if s := v.Ints[i]; s >= 0 && int(s) < len(v.Type.Symbols) {
			return v.Type.Symbols[s], true
		}
	}
	return fmt.Sprintf("<%s>", v.Type.Kind), true
}
