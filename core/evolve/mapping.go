package evolve

import (
	"hudiscope/core/column"
	"hudiscope/core/schema"
)

// Mapping brings the rows of a file to the column names of a query: columns are matched by number. A
// column that the file's schema does not have is not in the result, whatever columns of its name the
// file holds; types stay the file's own.
type Mapping struct {
	file, query *Schema
	// last is the type that was mapped last, plan how.
	last *schema.Type
	plan *plan
}

// Map makes the mapping from the schema of a file to that of a query. It is nil when both have the
// same names for the same columns. A Mapping is not safe for concurrent use.
func Map(file, query *Schema) *Mapping {
	if file == nil || query == nil || sameNames(file.Root, query.Root) {
		return nil
	}
	return &Mapping{file: file, query: query}
}

// sameNames reports whether a file's schema needs no mapping: by name it is matched as by number.
func sameNames(file, query *Node) bool {
	if file.Type.Kind != query.Type.Kind {
		return true // left to the conversion of types, which tells the error
	}
	for i, q := range query.Kids {
		var f *Node
		switch query.Type.Kind {
		case schema.Record:
			name := query.Type.Fields[i].Name
			at, named := file.byID(q.ID), file.Type.FieldIndex(name)
			if at != named {
				return false
			}
			if at < 0 {
				continue
			}
			f = file.Kids[at]
		default:
			f = file.Kids[0]
		}
		if !sameNames(f, q) {
			return false
		}
	}
	return true
}

// Want turns a choice of the query's top-level columns into one of the file's.
func (m *Mapping) Want(want func(field string) bool) func(field string) bool {
	if m == nil || want == nil {
		return want
	}
	return func(field string) bool {
		name, ok := m.queryName(field)
		return ok && want(name)
	}
}

// queryName is the query's name of a top-level column of the file.
func (m *Mapping) queryName(field string) (string, bool) {
	return queryName(m.file.Root, m.query.Root, field)
}

// queryName returns the name that the query has for a field of the file. Fields that the file's
// schema does not number (_hoodie_operation) keep their name.
func queryName(file, query *Node, field string) (string, bool) {
	i := file.Type.FieldIndex(field)
	if i < 0 {
		// As in Hudi a column that only the file itself has is found by its name.
		j := query.Type.FieldIndex(field)
		return field, j < 0 || file.byID(query.Kids[j].ID) < 0
	}
	j := query.byID(file.Kids[i].ID)
	if j < 0 {
		return "", false
	}
	return query.Type.Fields[j].Name, true
}

// Batch returns a batch of the file with the query's names. Its columns are shared.
func (m *Mapping) Batch(b *column.Batch) *column.Batch {
	if m == nil {
		return b
	}
	if m.last != b.Type {
		m.last, m.plan = b.Type, planOf(b.Type, m.file.Root, m.query.Root)
	}
	if m.plan == nil {
		return b
	}
	out := &column.Batch{Type: m.plan.to, Len: b.Len, Columns: make([]*column.Vector, len(m.plan.from))}
	for i, from := range m.plan.from {
		if v := b.Columns[from]; v != nil {
			out.Columns[i] = m.plan.kids[i].apply(v)
		}
	}
	return out
}

// plan says how a type of a file is given the query's names; nil: it has them.
type plan struct {
	to *schema.Type
	// from is, for each field of a record, which field of the file's type it is.
	from []int
	// kids are the plans of the fields, of the element, or of the map's value.
	kids []*plan
}

// planOf drops the fields that the query does not have and renames the others.
func planOf(t *schema.Type, file, query *Node) *plan {
	if t.Kind != file.Type.Kind || t.Kind != query.Type.Kind {
		return nil
	}
	switch t.Kind {
	case schema.Record:
		to := *t
		to.Fields = nil
		p := &plan{to: &to}
		for i, f := range t.Fields {
			name, ok := queryName(file, query, f.Name)
			if !ok {
				continue
			}
			var kid *plan
			if at := file.Type.FieldIndex(f.Name); at >= 0 {
				kid = planOf(f.Type, file.Kids[at], query.Kids[query.Type.FieldIndex(name)])
			}
			if kid != nil {
				f.Type = kid.to
			}
			f.Name = name
			to.Fields = append(to.Fields, f)
			p.from, p.kids = append(p.from, i), append(p.kids, kid)
		}
		return p
	case schema.Array, schema.Map:
		kid := planOf(t.Elem, file.Kids[0], query.Kids[0])
		if kid == nil {
			return nil
		}
		to := *t
		to.Elem = kid.to
		return &plan{to: &to, kids: []*plan{kid}}
	}
	return nil
}

func (p *plan) apply(v *column.Vector) *column.Vector {
	if p == nil {
		return v
	}
	out := *v
	out.Type = p.to
	switch p.to.Kind {
	case schema.Record:
		out.Children = make([]*column.Vector, len(p.from))
		for i, from := range p.from {
			out.Children[i] = p.kids[i].apply(v.Children[from])
		}
	default:
		out.Children = append([]*column.Vector(nil), v.Children...)
		last := len(out.Children) - 1 // the element, or the value behind the key
		out.Children[last] = p.kids[0].apply(v.Children[last])
	}
	return &out
}
