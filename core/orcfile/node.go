package orcfile

import (
	"fmt"

	"github.com/scritchley/orc/proto"

	"hudiscope/core/schema"
)

// node is one column of the file's type tree.
type node struct {
	id   uint32
	kind proto.Type_Kind
	typ  *schema.Type
	kids []*node
	// scale of a decimal.
	scale int64
	// utc is set for timestamps that are instants, whatever the writer's zone.
	utc bool
}

// kindInstant and kindLocal are newer kinds than the library's: TIMESTAMP_INSTANT.
const kindInstant proto.Type_Kind = 18

// buildNode makes the tree below a type. avro is the writer's Avro type of it, nil where it is not
// known; it gives names and logical types that ORC has not. ORC does not say which columns hold no
// nulls: all may.
func buildNode(types []*proto.Type, id uint32, avro *schema.Type, nullable bool, depth int) (*node, error) {
	if int64(id) >= int64(len(types)) {
		return nil, fmt.Errorf("type %d of %d", id, len(types))
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	t := types[id]
	n := &node{id: id, kind: t.GetKind(), typ: &schema.Type{Nullable: nullable, NullFirst: nullable}}
	kids := func(want int) error {
		if want >= 0 && len(t.GetSubtypes()) != want {
			return fmt.Errorf("type %d, %s: %d children", id, n.kind, len(t.GetSubtypes()))
		}
		for _, s := range t.GetSubtypes() {
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
	case proto.Type_BOOLEAN:
		n.typ.Kind = schema.Boolean
	case proto.Type_BYTE, proto.Type_SHORT, proto.Type_INT:
		same(schema.Int)
	case proto.Type_LONG:
		same(schema.Long)
	case proto.Type_FLOAT:
		n.typ.Kind = schema.Float
	case proto.Type_DOUBLE:
		n.typ.Kind = schema.Double
	case proto.Type_STRING, proto.Type_VARCHAR, proto.Type_CHAR:
		same(schema.String)
	case proto.Type_BINARY:
		n.typ.Kind = schema.Bytes
		if avro != nil && avro.Kind == schema.Fixed && avro.Size > 0 && avro.Logical != schema.Decimal {
			n.typ.Kind, n.typ.Size, n.typ.Name, n.typ.Namespace = schema.Fixed, avro.Size, avro.Name, avro.Namespace
		}
	case proto.Type_DATE:
		label(schema.Int, schema.Date, "date")
	case proto.Type_TIMESTAMP, kindInstant:
		n.utc = n.kind == kindInstant
		label(schema.Long, schema.TimestampMicros, "timestamp-micros")
		if avro != nil && avro.Kind == schema.Long && avro.Logical == schema.TimestampMillis {
			label(schema.Long, schema.TimestampMillis, "timestamp-millis")
		}
	case proto.Type_DECIMAL:
		n.scale = int64(t.GetScale())
		p := int(t.GetPrecision())
		if p == 0 {
			p = 38
		}
		if p > 1000 || n.scale > int64(p) {
			return nil, fmt.Errorf("type %d: decimal(%d,%d)", id, p, n.scale)
		}
		label(schema.Bytes, schema.Decimal, "decimal")
		n.typ.Precision, n.typ.Scale = p, int(n.scale)
	case proto.Type_LIST:
		if err := kids(1); err != nil {
			return nil, err
		}
		elem, err := buildNode(types, t.GetSubtypes()[0], elemOf(avro, schema.Array), true, depth+1)
		if err != nil {
			return nil, err
		}
		n.typ.Kind, n.typ.Elem, n.kids = schema.Array, elem.typ, []*node{elem}
	case proto.Type_MAP:
		if err := kids(2); err != nil {
			return nil, err
		}
		key, err := buildNode(types, t.GetSubtypes()[0], nil, false, depth+1)
		if err != nil {
			return nil, err
		}
		if key.typ.Kind != schema.String {
			return nil, fmt.Errorf("type %d: map keys of type %s", id, key.kind)
		}
		val, err := buildNode(types, t.GetSubtypes()[1], elemOf(avro, schema.Map), true, depth+1)
		if err != nil {
			return nil, err
		}
		n.typ.Kind, n.typ.Elem, n.kids = schema.Map, val.typ, []*node{key, val}
	case proto.Type_STRUCT:
		if err := kids(len(t.GetFieldNames())); err != nil {
			return nil, err
		}
		n.typ.Kind = schema.Record
		if avro != nil && avro.Kind == schema.Record {
			n.typ.Name, n.typ.Namespace = avro.Name, avro.Namespace
		}
		for i, s := range t.GetSubtypes() {
			name := t.GetFieldNames()[i]
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
	case proto.Type_UNION:
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
		for i, s := range t.GetSubtypes() {
			var a *schema.Type
			if len(branches) == len(t.GetSubtypes()) {
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
		return nil, &Unsupported{What: fmt.Sprintf("type %d of the file is of a kind that is not known (%d)", id, int32(n.kind))}
	}
	return n, nil
}

func elemOf(t *schema.Type, k schema.Kind) *schema.Type {
	if t != nil && t.Kind == k {
		return t.Elem
	}
	return nil
}
