package basefile

import (
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"hudiscope/core/schema"
)

// node is one element of the file's schema with the levels that its values have.
type node struct {
	typ  *schema.Type
	kids []*node
	// leaf is the column index, -1 for groups.
	leaf int
	// def and rep are the maximum levels of this node itself; parentDef is the definition
	// level at which the innermost repeated ancestor has an element.
	def, rep, parentDef int
	// physical is the stored type of a leaf.
	physical format.Type
	// elemDef is, for arrays and maps, the definition level at which an element exists.
	elemDef int
}

func (n *node) firstLeaf() *node {
	for n.leaf < 0 {
		n = n.kids[0]
	}
	return n
}

// maxSchemaDepth bounds recursion over a hostile footer.
const maxSchemaDepth = 64

type schemaWalk struct {
	elems []format.SchemaElement
	pos   int
	leaf  int
}

// buildSchema turns the flat element list of a footer into a record node. Names are copied: those of the elements lie
// in the footer, which would stay in memory with whoever keeps the type.
func buildSchema(elems []format.SchemaElement) (*node, error) {
	if len(elems) == 0 {
		return nil, fmt.Errorf("the footer has no schema")
	}
	w := &schemaWalk{elems: elems, pos: 1}
	root := &node{leaf: -1, typ: &schema.Type{Kind: schema.Record, Name: strings.Clone(elems[0].Name)}}
	n := int(elems[0].NumChildren.V)
	for range n {
		kid, err := w.field(root.typ, 0, 0, 0, 0)
		if err != nil {
			return nil, err
		}
		root.kids = append(root.kids, kid)
	}
	if w.pos != len(elems) {
		return nil, fmt.Errorf("the schema has %d elements beyond its tree", len(elems)-w.pos)
	}
	return root, nil
}

// field reads the next element as a field of a record and appends it to the record's type.
func (w *schemaWalk) field(rec *schema.Type, def, rep, parentDef, depth int) (*node, error) {
	if w.pos >= len(w.elems) {
		return nil, fmt.Errorf("the schema tree names more elements than there are")
	}
	name := w.elems[w.pos].Name
	kid, err := w.node(def, rep, parentDef, depth+1)
	if err != nil {
		return nil, err
	}
	rec.Fields = append(rec.Fields, schema.Field{Name: strings.Clone(name), Type: kid.typ})
	return kid, nil
}

// node reads the next element with its subtree.
func (w *schemaWalk) node(def, rep, parentDef, depth int) (*node, error) {
	if w.pos >= len(w.elems) {
		return nil, fmt.Errorf("the schema tree names more elements than there are")
	}
	if depth > maxSchemaDepth {
		return nil, fmt.Errorf("the schema is nested deeper than %d levels", maxSchemaDepth)
	}
	e := &w.elems[w.pos]
	switch e.RepetitionType.V {
	case format.Repeated:
		// A repeated field outside LIST and MAP is a required list of required elements.
		n := &node{leaf: -1, def: def, rep: rep, parentDef: parentDef, elemDef: def + 1}
		elem, err := w.element(def+1, rep+1, depth)
		if err != nil {
			return nil, err
		}
		n.kids = []*node{elem}
		n.typ = &schema.Type{Kind: schema.Array, Elem: elem.typ}
		return n, nil
	case format.Optional:
		def++
	}
	nullable := e.RepetitionType.V == format.Optional
	n, err := w.body(e, def, rep, parentDef, depth)
	if err != nil {
		return nil, err
	}
	if nullable {
		n.typ.Nullable, n.typ.NullFirst = true, true
	}
	return n, nil
}

// element reads the element at the cursor as the (required) value of a list: its own repetition is spent.
func (w *schemaWalk) element(def, rep, depth int) (*node, error) {
	return w.body(&w.elems[w.pos], def, rep, def, depth+1)
}

// body reads an element without regard to its repetition.
func (w *schemaWalk) body(e *format.SchemaElement, def, rep, parentDef, depth int) (*node, error) {
	if depth > maxSchemaDepth {
		return nil, fmt.Errorf("the schema is nested deeper than %d levels", maxSchemaDepth)
	}
	w.pos++
	if e.Type.Valid {
		typ, err := leafType(e)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", e.Name, err)
		}
		n := &node{typ: typ, leaf: w.leaf, def: def, rep: rep, parentDef: parentDef, physical: e.Type.V}
		w.leaf++
		return n, nil
	}
	kids := int(e.NumChildren.V)
	if kids <= 0 || kids > len(w.elems)-w.pos {
		return nil, fmt.Errorf("group %q names %d children", e.Name, kids)
	}
	if isList(e) && kids == 1 && w.elems[w.pos].RepetitionType.V == format.Repeated {
		return w.list(e, def, rep, parentDef, depth)
	}
	if isMap(e) && kids == 1 && w.elems[w.pos].RepetitionType.V == format.Repeated && w.elems[w.pos].NumChildren.V == 2 {
		return w.mapping(def, rep, parentDef, depth)
	}
	n := &node{leaf: -1, def: def, rep: rep, parentDef: parentDef, typ: &schema.Type{Kind: schema.Record, Name: e.Name}}
	for range kids {
		kid, err := w.field(n.typ, def, rep, parentDef, depth)
		if err != nil {
			return nil, err
		}
		n.kids = append(n.kids, kid)
	}
	return n, nil
}

// list reads the repeated child of a LIST group. The child itself is the element when it is a
// leaf, has several fields, or is named as two-level writers name it.
func (w *schemaWalk) list(outer *format.SchemaElement, def, rep, parentDef, depth int) (*node, error) {
	child := &w.elems[w.pos]
	n := &node{leaf: -1, def: def, rep: rep, parentDef: parentDef, elemDef: def + 1}
	var elem *node
	var err error
	if child.Type.Valid || child.NumChildren.V != 1 || child.Name == "array" || child.Name == outer.Name+"_tuple" {
		elem, err = w.element(def+1, rep+1, depth)
	} else {
		w.pos++
		elem, err = w.node(def+1, rep+1, def+1, depth+1)
	}
	if err != nil {
		return nil, err
	}
	n.kids = []*node{elem}
	n.typ = &schema.Type{Kind: schema.Array, Elem: elem.typ}
	return n, nil
}

func (w *schemaWalk) mapping(def, rep, parentDef, depth int) (*node, error) {
	w.pos++
	n := &node{leaf: -1, def: def, rep: rep, parentDef: parentDef, elemDef: def + 1}
	for range 2 {
		kid, err := w.node(def+1, rep+1, def+1, depth+1)
		if err != nil {
			return nil, err
		}
		n.kids = append(n.kids, kid)
	}
	if k := n.kids[0].typ; k.Kind != schema.String && k.Kind != schema.Bytes {
		return nil, fmt.Errorf("map keys of type %s are not supported", k.Kind)
	}
	n.typ = &schema.Type{Kind: schema.Map, Elem: n.kids[1].typ}
	return n, nil
}

func isList(e *format.SchemaElement) bool {
	_, ok := e.LogicalType.Value.(*format.ListType)
	return ok || e.ConvertedType.Valid && e.ConvertedType.V == deprecated.List
}

func isMap(e *format.SchemaElement) bool {
	_, ok := e.LogicalType.Value.(*format.MapType)
	return ok || e.ConvertedType.Valid && (e.ConvertedType.V == deprecated.Map || e.ConvertedType.V == deprecated.MapKeyValue)
}

func leafType(e *format.SchemaElement) (*schema.Type, error) {
	t := &schema.Type{}
	switch e.Type.V {
	case format.Boolean:
		t.Kind = schema.Boolean
	case format.Int32:
		t.Kind = schema.Int
	case format.Int64:
		t.Kind = schema.Long
	case format.Int96:
		t.Kind = schema.Long
		label(t, schema.TimestampMicros)
	case format.Float:
		t.Kind = schema.Float
	case format.Double:
		t.Kind = schema.Double
	case format.ByteArray:
		t.Kind = schema.Bytes
	case format.FixedLenByteArray:
		t.Kind = schema.Fixed
		t.Size = int(e.TypeLength.V)
		t.Name = e.Name
		if t.Size <= 0 || t.Size > 1<<20 {
			return nil, fmt.Errorf("a fixed length of %d bytes", t.Size)
		}
	default:
		return nil, fmt.Errorf("physical type %d is unknown", e.Type.V)
	}
	switch l := e.LogicalType.Value.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		if t.Kind == schema.Bytes {
			t.Kind = schema.String
		}
		return t, nil
	case *format.DecimalType:
		decimal(t, int(l.Precision), int(l.Scale))
		return t, nil
	case *format.DateType:
		label(t, schema.Date)
		return t, nil
	case *format.TimeType:
		if _, ok := l.Unit.Value.(*format.MilliSeconds); ok {
			label(t, schema.TimeMillis)
		} else {
			label(t, schema.TimeMicros)
		}
		return t, nil
	case *format.TimestampType:
		label(t, timestamp(l))
		return t, nil
	case *format.UUIDType:
		label(t, schema.UUID)
		return t, nil
	}
	if e.ConvertedType.Valid {
		switch e.ConvertedType.V {
		case deprecated.UTF8, deprecated.Enum, deprecated.Json:
			if t.Kind == schema.Bytes {
				t.Kind = schema.String
			}
		case deprecated.Decimal:
			decimal(t, int(e.Precision.V), int(e.Scale.V))
		case deprecated.Date:
			label(t, schema.Date)
		case deprecated.TimeMillis:
			label(t, schema.TimeMillis)
		case deprecated.TimeMicros:
			label(t, schema.TimeMicros)
		case deprecated.TimestampMillis:
			label(t, schema.TimestampMillis)
		case deprecated.TimestampMicros:
			label(t, schema.TimestampMicros)
		}
	}
	return t, nil
}

func timestamp(l *format.TimestampType) schema.Logical {
	unit := 1
	switch l.Unit.Value.(type) {
	case *format.MilliSeconds:
		unit = 0
	case *format.NanoSeconds:
		unit = 2
	}
	if l.IsAdjustedToUTC {
		return [...]schema.Logical{schema.TimestampMillis, schema.TimestampMicros, schema.TimestampNanos}[unit]
	}
	return [...]schema.Logical{schema.LocalTimestampMillis, schema.LocalTimestampMicros, schema.LocalTimestampNanos}[unit]
}

func decimal(t *schema.Type, precision, scale int) {
	t.Logical, t.LogicalName = schema.Decimal, "decimal"
	t.Precision, t.Scale = precision, scale
}

func label(t *schema.Type, l schema.Logical) {
	names := map[schema.Logical]string{
		schema.Date: "date", schema.TimeMillis: "time-millis", schema.TimeMicros: "time-micros",
		schema.TimestampMillis: "timestamp-millis", schema.TimestampMicros: "timestamp-micros", schema.TimestampNanos: "timestamp-nanos",
		schema.LocalTimestampMillis: "local-timestamp-millis", schema.LocalTimestampMicros: "local-timestamp-micros", schema.LocalTimestampNanos: "local-timestamp-nanos",
		schema.UUID: "uuid",
	}
	t.Logical, t.LogicalName = l, names[l]
}
