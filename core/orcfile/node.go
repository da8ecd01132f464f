package orcfile

import (
	"fmt"

	"hudiscope/core/schema"
)

// node is one column of the file's type tree.
type node struct {
	id   uint32
	kind typeKind
	typ  *schema.Type
	kids []*node
	// scale of a decimal.
	scale int64
	// utc is set for timestamps that are instants, whatever the writer's zone.
	utc bool
}

// buildNode makes the tree below a type. avro is the writer's Avro type of it, nil where it is not
// known; it gives names and logical types that ORC has not. ORC does not say which columns hold no
// nulls: all may.
func buildNode(types []typeInfo, id uint32, avro *schema.Type, nullable bool, depth int) (*node, error) {
	if int64(id) >= int64(len(types)) {
		return nil, fmt.Errorf("type %d of %d", id, len(types))
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	t := &types[id]
	n := &node{id: id, kind: t.kind, typ: &schema.Type{Nullable: nullable, NullFirst: nullable}}
	kids := func(want int) error {
		if want >= 0 && len(t.subtypes) != want {
			return fmt.Errorf("type %d, %s: %d children", id, n.kind, len(t.subtypes))
		}
		for _, s := range t.subtypes {
			if s <= id { // children come after their parent: no cycles
				return fmt.Errorf("type %d has the child %d", id, s)
			}
		}
		return nil
	}
	label := func(k schema.Kind, l schema.Logical, name string) {
		n.typ.Kind, n.typ.Logical, n.typ.LogicalName = k, l, name
	}
	// A label of the writer's type on the same kind of number holds for the stored one.
	same := func(k schema.Kind) {
		n.typ.Kind = k
		if avro != nil && avro.Kind == k && avro.Logical != schema.Decimal {
			n.typ.Logical, n.typ.LogicalName = avro.Logical, avro.LogicalName
		}
	}
	switch n.kind {
	case kindBoolean:
		n.typ.Kind = schema.Boolean
	case kindByte, kindShort, kindInt:
		same(schema.Int)
	case kindLong:
		same(schema.Long)
	case kindFloat:
		n.typ.Kind = schema.Float
	case kindDouble:
		n.typ.Kind = schema.Double
	case kindString, kindVarchar, kindChar:
		same(schema.String)
	case kindBinary:
		n.typ.Kind = schema.Bytes
		if avro != nil && avro.Kind == schema.Fixed && avro.Size > 0 && avro.Logical != schema.Decimal {
			n.typ.Kind, n.typ.Size, n.typ.Name, n.typ.Namespace = schema.Fixed, avro.Size, avro.Name, avro.Namespace
		}
	case kindDate:
		label(schema.Int, schema.Date, "date")
	case kindTimestamp, kindInstant:
		n.utc = n.kind == kindInstant
		label(schema.Long, schema.TimestampMicros, "timestamp-micros")
		if avro != nil && avro.Kind == schema.Long && avro.Logical == schema.TimestampMillis {
			label(schema.Long, schema.TimestampMillis, "timestamp-millis")
		}
	case kindDecimal:
		n.scale = int64(t.scale)
		p := int(t.precision)
		if p == 0 {
			p = 38
		}
		if p > 1000 || n.scale > int64(p) {
			return nil, fmt.Errorf("type %d: decimal(%d,%d)", id, p, n.scale)
		}
		label(schema.Bytes, schema.Decimal, "decimal")
		n.typ.Precision, n.typ.Scale = p, int(n.scale)
	case kindList:
		if err := kids(1); err != nil {
			return nil, err
		}
		elem, err := buildNode(types, t.subtypes[0], elemOf(avro, schema.Array), true, depth+1)
		if err != nil {
			return nil, err
		}
		n.typ.Kind, n.typ.Elem, n.kids = schema.Array, elem.typ, []*node{elem}
	case kindMap:
		if err := kids(2); err != nil {
			return nil, err
		}
		key, err := buildNode(types, t.subtypes[0], nil, false, depth+1)
		if err != nil {
			return nil, err
		}
		if key.typ.Kind != schema.String {
			return nil, fmt.Errorf("type %d: map keys of type %s", id, key.kind)
		}
		val, err := buildNode(types, t.subtypes[1], elemOf(avro, schema.Map), true, depth+1)
		if err != nil {
			return nil, err
		}
		n.typ.Kind, n.typ.Elem, n.kids = schema.Map, val.typ, []*node{key, val}
	case kindStruct:
		if err := kids(len(t.names)); err != nil {
			return nil, err
		}
		n.typ.Kind = schema.Record
		if avro != nil && avro.Kind == schema.Record {
			n.typ.Name, n.typ.Namespace = avro.Name, avro.Namespace
		}
		for i, s := range t.subtypes {
			name := t.names[i]
			var a *schema.Type
			if avro != nil && avro.Kind == schema.Record {
				if j := avro.FieldIndex(name); j >= 0 {
					a = avro.Fields[j].Type
				}
			}
			kid, err := buildNode(types, s, a, true, depth+1)
			if err != nil {
				return nil, err
			}
			n.kids = append(n.kids, kid)
			n.typ.Fields = append(n.typ.Fields, schema.Field{Name: name, Type: kid.typ})
		}
	case kindUnion:
		if err := kids(-1); err != nil {
			return nil, err
		}
		// Hudi leaves null out of the branches: it is a value that is not there.
		var branches []*schema.Type
		if avro != nil && avro.Kind == schema.Union {
			for _, b := range avro.Branches {
				if b.Kind != schema.Null {
					branches = append(branches, b)
				}
			}
		}
		n.typ.Kind, n.typ.Nullable, n.typ.NullFirst = schema.Union, false, false
		n.typ.Branches = []*schema.Type{{Kind: schema.Null}}
		for i, s := range t.subtypes {
			var a *schema.Type
			if len(branches) == len(t.subtypes) {
				a = branches[i]
			}
			kid, err := buildNode(types, s, a, false, depth+1)
			if err != nil {
				return nil, err
			}
			n.kids = append(n.kids, kid)
			n.typ.Branches = append(n.typ.Branches, kid.typ)
		}
		if len(n.typ.Branches) > 255 {
			return nil, fmt.Errorf("type %d: a union of %d types", id, len(n.kids))
		}
	default:
		return nil, &Unsupported{What: fmt.Sprintf("type %d of the file is of a kind that is not known (%d)", id, uint32(n.kind))}
	}
	return n, nil
}

func elemOf(t *schema.Type, k schema.Kind) *schema.Type {
	if t != nil && t.Kind == k {
		return t.Elem
	}
	return nil
}
