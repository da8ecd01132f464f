package basefile

import (
	"fmt"

	"hudiscope/core/column"
	"hudiscope/core/schema"
)

// assemble builds the vector of a node from the spans of its leaves. slots is the number of
// slots that the parent has; every level stream must agree with it.
func assemble(n *node, spans map[int]span, slots int) (*column.Vector, error) {
	if n.leaf >= 0 {
		return assembleLeaf(n, spans[n.leaf], slots)
	}
	first := n.firstLeaf()
	sp := spans[first.leaf]
	switch n.typ.Kind {
	case schema.Record:
		v := &column.Vector{Type: n.typ, Len: slots}
		if n.typ.Nullable {
			nulls, any, err := nullSlots(n, sp, slots)
			if err != nil {
				return nil, err
			}
			if any {
				v.Nulls = nulls
			}
		}
		for _, kid := range n.kids {
			c, err := assemble(kid, spans, slots)
			if err != nil {
				return nil, err
			}
			v.Children = append(v.Children, c)
		}
		return v, nil
	case schema.Array, schema.Map:
		v := &column.Vector{Type: n.typ, Len: slots, Offsets: make([]uint32, 1, slots+1)}
		var nulls []bool
		count, anyNull := 0, false
		for i := sp.lo; i < sp.hi; i++ {
			rep, def := sp.at(i)
			if rep <= n.rep && def >= n.parentDef {
				if len(nulls) > 0 {
					v.Offsets = append(v.Offsets, uint32(count))
				}
				nulls = append(nulls, def < n.def)
				anyNull = anyNull || def < n.def
			}
			if rep <= n.rep+1 && def >= n.elemDef {
				count++
			}
		}
		if len(nulls) > 0 {
			v.Offsets = append(v.Offsets, uint32(count))
		}
		if len(nulls) != slots {
			return nil, fmt.Errorf("the levels name %d slots where the row structure has %d", len(nulls), slots)
		}
		if anyNull {
			v.Nulls = nulls
		}
		for k, kid := range n.kids {
			c, err := assemble(kid, spans, count)
			if err != nil {
				return nil, err
			}
			if n.typ.Kind == schema.Map && k == 0 {
				c.Type = column.MapKeyType()
				c.Nulls = nil
			}
			v.Children = append(v.Children, c)
		}
		return v, nil
	}
	return nil, fmt.Errorf("group of kind %s", n.typ.Kind)
}

// at returns the levels of entry i; columns without levels have the maximum.
func (sp span) at(i int) (rep, def int) {
	if sp.s.reps != nil {
		rep = int(sp.s.reps[i])
	}
	def = sp.s.n.def
	if sp.s.defs != nil {
		def = int(sp.s.defs[i])
	}
	return rep, def
}

// nullSlots marks the slots of a node that are null.
func nullSlots(n *node, sp span, slots int) ([]bool, bool, error) {
	out := make([]bool, 0, slots)
	any := false
	for i := sp.lo; i < sp.hi; i++ {
		rep, def := sp.at(i)
		if rep <= n.rep && def >= n.parentDef {
			out = append(out, def < n.def)
			any = any || def < n.def
		}
	}
	if len(out) != slots {
		return nil, false, fmt.Errorf("the levels name %d slots where the row structure has %d", len(out), slots)
	}
	return out, any, nil
}

func assembleLeaf(n *node, sp span, slots int) (*column.Vector, error) {
	src := sp.s.vals
	if n.def == 0 || n.def == n.parentDef && n.rep == 0 {
		// No nulls are possible: the values are the slots.
		if sp.values != slots {
			return nil, fmt.Errorf("%d values for %d slots", sp.values, slots)
		}
		return slice(src, n.typ, sp.valLo, sp.valLo+slots), nil
	}
	nulls, any, err := nullSlots(n, sp, slots)
	if err != nil {
		return nil, err
	}
	if !any {
		if sp.values != slots {
			return nil, fmt.Errorf("%d values for %d slots", sp.values, slots)
		}
		return slice(src, n.typ, sp.valLo, sp.valLo+slots), nil
	}
	v := column.New(n.typ, slots)
	next := sp.valLo
	for _, null := range nulls {
		if null {
			v.AppendNull()
			continue
		}
		if next >= src.Len {
			return nil, fmt.Errorf("the levels name more values than the pages hold")
		}
		v.AppendFrom(src, next)
		next++
	}
	return v, nil
}

// slice copies slots lo to hi of a stream's values (the stream's memory is used again).
func slice(src *column.Vector, t *schema.Type, lo, hi int) *column.Vector {
	v := &column.Vector{Type: t, Len: hi - lo}
	switch src.Type.Kind {
	case schema.Boolean:
		v.Bools = append([]bool(nil), src.Bools[lo:hi]...)
	case schema.Int, schema.Long:
		v.Ints = append([]int64(nil), src.Ints[lo:hi]...)
	case schema.Float, schema.Double:
		v.Floats = append([]float64(nil), src.Floats[lo:hi]...)
	default:
		base := src.Offsets[lo]
		v.Data = append([]byte(nil), src.Data[base:src.Offsets[hi]]...)
		v.Offsets = make([]uint32, hi-lo+1)
		for i := range v.Offsets {
			v.Offsets[i] = src.Offsets[lo+i] - base
		}
	}
	return v
}
