package predicate

import (
	"bytes"
	"fmt"
	"strings"

	"hudiscope/core/column"
	"hudiscope/core/schema"
)

// fieldOf finds a field without regard to case; -1 when there is none.
func fieldOf(t *schema.Type, name string, pos int) (int, error) {
	at := -1
	for i := range t.Fields {
		if !strings.EqualFold(t.Fields[i].Name, name) {
			continue
		}
		if at >= 0 {
			return -1, &Error{pos, fmt.Sprintf("%s is ambiguous: it could be %s or %s, as case makes no difference.", name, t.Fields[at].Name, t.Fields[i].Name), "Spark tells them apart only with spark.sql.caseSensitive."}
		}
		at = i
	}
	return at, nil
}

// element binds the element of an array, the value of a map, or a field of one.
func (b *binder) element(e *Element) (Expr, error) {
	x, err := b.column(e.X)
	if err != nil {
		return nil, err
	}
	out := &Element{At: e.At}
	var t *schema.Type
	switch x := x.(type) {
	case *Column:
		out.X, t = x, schemaAt(b.rows, x.Path)
	case *Element: // m.key[0]
		out.X, out.Steps, t = x.X, x.Steps, schemaOf(b.rows, x)
	}
	for _, s := range e.Steps {
		where := Format(out)
		// s['field'] is s.field, and m.key is m['key'].
		if l, ok := s.Key.(*Literal); ok && l.Kind == "string" && t.Kind == schema.Record {
			s = Step{Field: l.Value.(string)}
		} else if s.Key == nil && t.Kind == schema.Map {
			s = Step{Key: &Literal{At: e.At, Kind: "string", Text: s.Field, Value: s.Field}}
		}
		switch {
		case s.Key != nil && t.Kind == schema.Record:
			return nil, &Error{s.Key.Pos(), fmt.Sprintf("%s is a struct: its fields are named.", where), fmt.Sprintf("Write %s.%s.", where, quoteName(t.Fields[0].Name))}
		case s.Key != nil && t.Kind != schema.Array && t.Kind != schema.Map:
			return nil, &Error{e.At, fmt.Sprintf("%s is of type %s, which has no elements.", where, TypeOf(t)), ""}
		case s.Key == nil && t.Kind == schema.Array:
			return nil, &Error{e.At, fmt.Sprintf("%s is an array: name one of its elements, the first is %s[0].", where, where), ""}
		case s.Key == nil && t.Kind != schema.Record:
			return nil, &Error{e.At, fmt.Sprintf("%s is of type %s, which has no field %s.", where, TypeOf(t), s.Field), ""}
		}
		if s.Key == nil {
			i, err := fieldOf(t, s.Field, e.At)
			if err != nil {
				return nil, err
			}
			if i < 0 {
				return nil, b.unknown(&Column{At: e.At, Path: []string{where, s.Field}}, t, 1)
			}
			out.Steps = append(out.Steps, Step{Field: t.Fields[i].Name})
			t = t.Fields[i].Type
			continue
		}
		key, err := b.bind(s.Key)
		if err != nil {
			return nil, err
		}
		if !Constant(key) {
			return nil, &Error{s.Key.Pos(), "The place of an element is a constant here.", "Write a number from 0 on for an array, a text for a map."}
		}
		if t.Kind == schema.Map {
			if key, err = b.implied(s.Key.Pos(), "The key of "+where, key, Type{Kind: String}); err != nil {
				return nil, err
			}
			t = t.Elem
		} else {
			if kt := b.types[key]; !kt.integral() && !kt.is(NullType) {
				return nil, &Error{s.Key.Pos(), fmt.Sprintf("The place of an element of %s is a whole number, and this is of type %s.", where, kt), "The first element is [0]."}
			}
			key = b.cast(key, Type{Kind: Long})
			t = t.Elem
		}
		out.Steps = append(out.Steps, Step{Key: key})
	}
	return b.typed(out, TypeOf(t)), nil
}

// schemaAt is the type of a bound column.
func schemaAt(rows *schema.Type, path []string) *schema.Type {
	for _, p := range path {
		rows = rows.Fields[rows.FieldIndex(p)].Type
	}
	return rows
}

// container is a bound Column or Element whose arrays or maps are looked into.
func (b *binder) container(c *Call, kinds ...schema.Kind) (*schema.Type, error) {
	var t *schema.Type
	switch x := c.Args[0].(type) {
	case *Column:
		t = schemaAt(b.rows, x.Path)
	case *Element:
		t = schemaOf(b.rows, x)
	}
	for _, k := range kinds {
		if t != nil && t.Kind == k {
			return t, nil
		}
	}
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = "an " + k.String()
		if k == schema.Map {
			names[i] = "a map"
		}
	}
	return nil, &Error{c.Args[0].Pos(), fmt.Sprintf("%s takes %s, and this is of type %s.", c.Name, strings.Join(names, " or "), b.types[c.Args[0]]), ""}
}

// schemaOf is the type of a bound element.
func schemaOf(rows *schema.Type, e *Element) *schema.Type {
	t := schemaAt(rows, e.X.Path)
	for _, s := range e.Steps {
		if s.Key != nil {
			t = t.Elem
		} else {
			t = t.Fields[t.FieldIndex(s.Field)].Type
		}
	}
	return t
}

// place finds the slots of a vector below a column.
type place struct {
	path  []int
	steps []placeStep
	at    []int
}

// placeStep goes from slots to those of an element, by number or by key, or of a field.
type placeStep struct {
	field int // -1: an element
	isMap bool
	null  bool // the key is null
	index int64
	key   []byte
}

// newPlace compiles a bound Column or Element.
func (b *Bound) newPlace(e Expr) *place {
	p := &place{}
	t := b.rows
	c, _ := e.(*Column)
	el, ok := e.(*Element)
	if ok {
		c = el.X
	}
	for _, name := range c.Path {
		i := t.FieldIndex(name)
		p.path = append(p.path, i)
		t = t.Fields[i].Type
	}
	if !ok {
		return p
	}
	for _, s := range el.Steps {
		if s.Key == nil {
			i := t.FieldIndex(s.Field)
			p.steps = append(p.steps, placeStep{field: i})
			t = t.Fields[i].Type
			continue
		}
		step := placeStep{field: -1, isMap: t.Kind == schema.Map}
		if k, ok := b.compile(s.Key).(*constant); ok {
			switch step.null = k.null(); {
			case step.null:
			case step.isMap:
				step.key = bytes.Clone(k.one.texts[0])
			default:
				step.index = k.one.ints[0]
			}
		}
		p.steps = append(p.steps, step)
		t = t.Elem
	}
	return p
}

// find returns the vector and for each row its slot, -1 where there is none or it is null.
func (p *place) find(b *column.Batch, from, n int) (*column.Vector, []int) {
	p.at = room(p.at, n)
	for i := range p.at {
		p.at[i] = from + i
	}
	v := b.Columns[p.path[0]]
	for depth := 1; ; depth++ {
		if v == nil {
			break
		}
		p.drop(v)
		if depth == len(p.path) {
			break
		}
		v = v.Children[p.path[depth]]
	}
	for _, s := range p.steps {
		if v == nil {
			break
		}
		switch {
		case s.field >= 0:
			v = v.Children[s.field]
		case s.isMap:
			keys := v.Children[0]
			for i, at := range p.at {
				if at < 0 {
					continue
				}
				p.at[i] = -1
				if s.null {
					continue
				}
				// Of a key that stands twice the first counts, as in Spark.
				for j := v.Offsets[at]; j < v.Offsets[at+1]; j++ {
					if bytes.Equal(keys.BytesAt(int(j)), s.key) {
						p.at[i] = int(j)
						break
					}
				}
			}
			v = v.Children[1]
		default:
			for i, at := range p.at {
				if at < 0 {
					continue
				}
				lo, hi := int64(v.Offsets[at]), int64(v.Offsets[at+1])
				if p.at[i] = -1; !s.null && s.index >= 0 && s.index < hi-lo {
					p.at[i] = int(lo + s.index)
				}
			}
			v = v.Children[0]
		}
		if v != nil {
			p.drop(v)
		}
	}
	if v == nil {
		for i := range p.at {
			p.at[i] = -1
		}
	}
	return v, p.at
}

// drop leaves out slots that are null.
func (p *place) drop(v *column.Vector) {
	if v.Nulls == nil {
		return
	}
	for i, at := range p.at {
		if at >= 0 && v.Nulls[at] {
			p.at[i] = -1
		}
	}
}

// elementOf reads what lies at a place.
type elementOf struct {
	place *place
	rows  *schema.Type // of one column, that of the element
	leaf  *columnOf
	batch column.Batch
	other bool // only whether it is null is asked
	out   vec
	own   []bool
}

func (b *Bound) newElement(e *Element) kernel {
	t := *schemaOf(b.rows, e)
	t.Nullable = true
	k := &elementOf{place: b.newPlace(e), rows: &schema.Type{Kind: schema.Record, Fields: []schema.Field{{Name: "element", Type: &t}}}, other: b.types[e].is(Other)}
	k.leaf = newColumn(k.rows, []string{"element"}, b.types[e])
	return k
}

func (k *elementOf) run(b *column.Batch, from, n int) *vec {
	v, at := k.place.find(b, from, n)
	if k.other {
		k.own = room(k.own, n)
		for i, j := range at {
			k.own[i] = j < 0
		}
		k.out.nulls = k.own
		return &k.out
	}
	got := column.New(k.rows.Fields[0].Type, n)
	for _, j := range at {
		if j < 0 {
			got.AppendNull()
		} else {
			got.AppendFrom(v, j)
		}
	}
	k.batch = column.Batch{Type: k.rows, Len: n, Columns: []*column.Vector{got}}
	return k.leaf.run(&k.batch, 0, n)
}

// sizeOf counts elements; there are -1 in what is null.
type sizeOf struct {
	place *place
	out   vec
}

func (k *sizeOf) run(b *column.Batch, from, n int) *vec {
	v, at := k.place.find(b, from, n)
	k.out.ints = room(k.out.ints, n)
	for i, j := range at {
		if k.out.ints[i] = -1; j >= 0 {
			k.out.ints[i] = int64(v.Offsets[j+1]) - int64(v.Offsets[j])
		}
	}
	return &k.out
}

// contained reports whether arrays hold a value: null where one is null, or an element is and none equals the value.
type contained struct {
	place *place
	leaf  *columnOf // of the elements, as the column of a batch
	rows  *schema.Type
	cast  func(kernel) kernel
	kind  TypeKind
	value kernel
	out   vec
	own   []bool
}

func (b *Bound) newContained(c *Call) kernel {
	var list *schema.Type
	switch x := c.Args[0].(type) {
	case *Column:
		list = schemaAt(b.rows, x.Path)
	case *Element:
		list = schemaOf(b.rows, x)
	}
	t := *list.Elem
	t.Nullable = true
	own := TypeOf(&t)
	to := b.types[c.Args[1]]
	k := &contained{place: b.newPlace(c.Args[0]), rows: &schema.Type{Kind: schema.Record, Fields: []schema.Field{{Name: "element", Type: &t}}}, kind: to.Kind, value: b.compile(c.Args[1])}
	k.leaf = newColumn(k.rows, []string{"element"}, own)
	k.cast = func(x kernel) kernel {
		if own == to {
			return x
		}
		return newCast(x, own, to)
	}
	return k
}

func (k *contained) run(b *column.Batch, from, n int) *vec {
	value := k.value.run(b, from, n)
	v, at := k.place.find(b, from, n)
	got := column.New(k.rows.Fields[0].Type, n)
	for _, j := range at {
		if j < 0 {
			continue
		}
		for e := v.Offsets[j]; e < v.Offsets[j+1]; e++ {
			got.AppendFrom(v.Children[0], int(e))
		}
	}
	batch := &column.Batch{Type: k.rows, Len: got.Len, Columns: []*column.Vector{got}}
	list := k.cast(k.leaf).run(batch, 0, got.Len)
	k.out.bools = room(k.out.bools, n)
	k.own = room(k.own, n)
	k.out.nulls = k.own
	e := 0
	for i, j := range at {
		k.out.bools[i] = false
		if k.own[i] = j < 0; j < 0 {
			continue
		}
		unknown := value.nulls != nil && value.nulls[i]
		for end := e + int(v.Offsets[j+1]) - int(v.Offsets[j]); e < end; e++ {
			switch {
			case list.nulls != nil && list.nulls[e]:
				unknown = true
			case value.nulls != nil && value.nulls[i]:
			case equalAt(k.kind, list, e, value, i):
				k.out.bools[i] = true
			}
		}
		k.own[i] = unknown && !k.out.bools[i]
	}
	return &k.out
}

// equalAt compares two values as = does.
func equalAt(k TypeKind, x *vec, i int, y *vec, j int) bool {
	switch k {
	case Boolean, NullType:
		return x.bools[i] == y.bools[j]
	case Float, Double:
		return compareFloats(x.floats[i], y.floats[j]) == 0
	case Decimal:
		return x.decs[i].cmp(y.decs[j]) == 0
	case String, Bytes:
		return bytes.Equal(x.texts[i], y.texts[j])
	}
	return x.ints[i] == y.ints[j]
}

// containerFunctions look into arrays and maps.
func containerFunctions() map[string]*function {
	size := &function{1, 1, func(b *binder, c *Call) (Type, error) {
		_, err := b.container(c, schema.Array, schema.Map)
		return Type{Kind: Int}, err
	}, func(b *Bound, c *Call) kernel { return &sizeOf{place: b.newPlace(c.Args[0])} }}
	contains := &function{2, 2, func(b *binder, c *Call) (Type, error) {
		truth := Type{Kind: Boolean}
		t, err := b.container(c, schema.Array)
		if err != nil {
			return truth, err
		}
		own, value := TypeOf(t.Elem), b.types[c.Args[1]]
		to := own
		switch {
		case own == value && !own.is(Other):
		case own.numeric() && value.numeric() && !own.is(Decimal) && !value.is(Decimal):
			to.Kind = max(own.Kind, value.Kind)
		default:
			return truth, &Error{c.Args[1].Pos(), fmt.Sprintf("array_contains looks for a %s among elements of type %s.", value, own), "Cast the value to the type of the elements."}
		}
		c.Args[1] = b.cast(c.Args[1], to)
		return truth, nil
	}, func(b *Bound, c *Call) kernel { return b.newContained(c) }}
	return map[string]*function{"size": size, "cardinality": size, "array_contains": contains}
}
