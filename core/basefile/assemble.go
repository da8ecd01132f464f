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
		for i := range sp.entries {
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
	if sp.reps != nil {
		rep = int(sp.reps[i])
	}
	def = sp.s.n.def
	if sp.defs != nil {
		def = int(sp.defs[i])
	}
	return rep, def
}

// nullSlots marks the slots of a node that are null.
func nullSlots(n *node, sp span, slots int) ([]bool, bool, error) {
	out := make([]bool, 0, slots)
	any := false
	if sp.reps == nil && sp.defs != nil {
		// Every entry is of its own row.
		for _, d := range sp.defs {
			if int(d) >= n.parentDef {
				null := int(d) < n.def
				out = append(out, null)
				any = any || null
			}
		}
	} else {
		for i := range sp.entries {
			rep, def := sp.at(i)
			if rep <= n.rep && def >= n.parentDef {
				out = append(out, def < n.def)
				any = any || def < n.def
			}
		}
	}
	if len(out) != slots {
		return nil, false, fmt.Errorf("the levels name %d slots where the row structure has %d", len(out), slots)
	}
	return out, any, nil
}

func assembleLeaf(n *node, sp span, slots int) (*column.Vector, error) {
	// Without nulls the values are the slots: there can be none, or the levels name none.
	if n.def == 0 || n.def == n.parentDef && n.rep == 0 || sp.reps == nil && sp.values == slots && sp.entries == slots {
		if sp.values != slots {
			return nil, fmt.Errorf("%d values for %d slots", sp.values, slots)
		}
		return sp.s.slots(n.typ, slots, nil, slots)
	}
	nulls, any, err := nullSlots(n, sp, slots)
	if err != nil {
		return nil, err
	}
	set := slots
	for _, null := range nulls {
		if null {
			set--
		}
	}
	if set != sp.values {
		return nil, fmt.Errorf("%d values for %d slots that are not null", sp.values, set)
	}
	if !any {
		nulls = nil
	}
	return sp.s.slots(n.typ, slots, nulls, set)
}
