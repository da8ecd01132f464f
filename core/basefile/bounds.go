package basefile

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"math"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"hudiscope/core/column"
	"hudiscope/core/schema"
)

// Bounds are what the footer says of the values of a column in a row group.
type Bounds struct {
	// Type of the column in the file.
	Type *schema.Type
	// Low and High are vectors of one slot that no value is below or above, NaN aside; nil for no bound. Texts
	// may be shorter than any value there is.
	Low, High *column.Vector
	// Null is set when the footer counts as many nulls as rows.
	Null bool
}

// RowGroups is how many row groups the file has.
func (f *File) RowGroups() int { return len(f.pf.RowGroups()) }

// Bounds returns the bounds of a top-level column in row group g, the zero value where the footer has none that
// can be trusted. Statistics that older writers made by another order than that of the type are passed over.
func (f *File) Bounds(g int, field string) (b Bounds) {
	meta := f.pf.Metadata()
	var n *node
	for i := range f.root.kids {
		if f.root.typ.Fields[i].Name == field {
			n = f.root.kids[i]
		}
	}
	if n == nil || n.leaf < 0 || n.rep > 0 || g < 0 || g >= len(meta.RowGroups) || n.leaf >= len(meta.RowGroups[g].Columns) {
		return b
	}
	b.Type = n.typ
	c := &meta.RowGroups[g].Columns[n.leaf].MetaData
	s := &c.Statistics
	b.Null = s.NullCount > 0 && s.NullCount >= meta.RowGroups[g].NumRows && len(s.MinValue)+len(s.MaxValue)+len(s.Min)+len(s.Max) == 0
	if f.unsigned(n.leaf) {
		return b
	}
	low, high := s.MinValue, s.MaxValue
	if n.leaf < len(meta.ColumnOrders) {
		if _, ok := meta.ColumnOrders[n.leaf].Value.(*format.TypeDefinedOrder); !ok {
			low, high = nil, nil
		}
	} else {
		low, high = nil, nil
	}
	if len(low) == 0 && len(high) == 0 && signed(n) {
		// The older two are of signed numbers.
		low, high = s.Min, s.Max
	}
	b.Low, b.High = bound(n, low), bound(n, high)
	return b
}

// signed reports whether the values of a leaf were always ordered as signed numbers.
func signed(n *node) bool {
	switch n.physical {
	case format.Int32, format.Int64, format.Float, format.Double:
		return true
	}
	return false
}

// unsigned reports whether a leaf holds numbers without sign, which are read as if they had one.
func (f *File) unsigned(leaf int) bool {
	at := 0
	for _, e := range f.pf.Metadata().Schema[1:] {
		if !e.Type.Valid {
			continue
		}
		if at++; at <= leaf {
			continue
		}
		if i, ok := e.LogicalType.Value.(*format.IntType); ok && !i.IsSigned {
			return true
		}
		return e.ConvertedType.Valid && e.ConvertedType.V >= deprecated.Uint8 && e.ConvertedType.V <= deprecated.Uint64
	}
	return true
}

// bound decodes a statistic, nil where it says nothing.
func bound(n *node, b []byte) *column.Vector {
	if len(b) == 0 {
		return nil
	}
	v := column.New(n.typ, 1)
	switch {
	case n.typ.Kind == schema.Int && n.physical == format.Int32 && len(b) == 4:
		v.AppendInt(int64(int32(binary.LittleEndian.Uint32(b))))
	case n.typ.Kind == schema.Long && n.physical == format.Int64 && len(b) == 8:
		v.AppendInt(int64(binary.LittleEndian.Uint64(b)))
	case n.physical == format.Float && len(b) == 4:
		v.AppendFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	case n.physical == format.Double && len(b) == 8:
		v.AppendFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case (n.typ.Kind == schema.String || n.typ.Kind == schema.Bytes) && n.typ.Logical == schema.None && n.physical == format.ByteArray:
		v.AppendBytes(b)
	default:
		return nil
	}
	if len(v.Floats) == 1 && v.Floats[0] != v.Floats[0] {
		return nil
	}
	return v
}

// PartsOf reads the batches of the row groups that group chooses, in file order, each with the number of its first
// row. want is as in Batches.
func (f *File) PartsOf(ctx context.Context, want func(field string) bool, group func(g int) bool) iter.Seq2[Part, error] {
	var rows int64
	for _, rg := range f.pf.RowGroups() {
		rows += rg.NumRows()
	}
	if rows != f.pf.NumRows() {
		return func(yield func(Part, error) bool) {
			yield(Part{}, f.damaged("row groups", placeAt(f.foot, fmt.Errorf("%d rows promised, %d found", f.pf.NumRows(), rows))))
		}
	}
	return f.parts(ctx, want, group, func(int64, int64) bool { return true }, rows)
}

// ColumnBytes tells how large the top-level columns are in the file, in bytes as they are stored.
func (f *File) ColumnBytes() map[string]int64 {
	out := map[string]int64{}
	for _, g := range f.pf.Metadata().RowGroups {
		for i := range g.Columns {
			if m := &g.Columns[i].MetaData; len(m.PathInSchema) > 0 {
				out[m.PathInSchema[0]] += max(m.TotalCompressedSize, 0)
			}
		}
	}
	return out
}
