// Package column holds decoded records by column: what base files and log
// blocks decode into, what merging gathers from, what rows are printed from.
package column

import "hudiscope/core/schema"

// Vector is one column of values. Every vector has Len slots; a null slot has a zero
// value in the value slice (so slots line up) and, for lists and maps, an empty range.
//
// Which slice holds the values is decided by Type.Kind:
//
//	Boolean                 Bools
//	Int, Long               Ints (with their logical types)
//	Enum                    Ints (symbol index)
//	Float, Double           Floats (a float32 is widened exactly)
//	Bytes, String, Fixed    Offsets (Len+1) into Data
//	Array                   Offsets (Len+1) into Children[0]
//	Map                     Offsets (Len+1) into Children[0] (keys, String) and Children[1] (values)
//	Record                  Children, one per field, each of the same Len
//	Union                   Tags (branch index) and Children, one per branch, each of the same Len
type Vector struct {
	Type *schema.Type
	Len  int
	// Nulls marks null slots; nil means that no slot is null.
	Nulls    []bool
	Bools    []bool
	Ints     []int64
	Floats   []float64
	Offsets  []uint32
	Data     []byte
	Tags     []uint8
	Children []*Vector
}

// IsNull reports whether slot i is null.
func (v *Vector) IsNull(i int) bool { return v.Nulls != nil && v.Nulls[i] }

// BytesAt returns the bytes of slot i of a Bytes, String or Fixed vector. The slice aliases Data.
func (v *Vector) BytesAt(i int) []byte { return v.Data[v.Offsets[i]:v.Offsets[i+1]] }

// Batch is a run of records decoded with one schema: Columns[i] belongs to Type.Fields[i].
// A column that was not asked for is nil.
type Batch struct {
	Type    *schema.Type
	Len     int
	Columns []*Vector
}

// Row is one record of a batch.
type Row struct {
	Batch *Batch
	Index int
}
