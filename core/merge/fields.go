package merge

import (
	"hudiscope/core/column"
	"hudiscope/core/schema"
)

// batchRows is how many combined rows are kept in one batch.
const batchRows = 1024

// overlay finishes a decision of the record mergers: where the table or the records are
// partial, the loser fills what the winner leaves open.
func (m *Merger) overlay(d Decision) Decision {
	if !m.partials && m.rules.Partial == "" {
		return d
	}
	hi, lo := d.Newer, d.Older
	if d.Outcome == Old {
		hi, lo = lo, hi
	}
	if hi.Delete || lo.Delete || lo.empty() {
		return d
	}
	if m.partials {
		return m.byPresence(d, hi, lo)
	}
	fill := m.isDefault
	if m.rules.Partial == FillUnavailable {
		fill = m.unavailable
	}
	return m.fieldwise(d, hi, lo, fill, nil)
}

// byPresence merges partial updates (spec section 10.4): a field is taken from hi when hi's
// block has it, whatever its value, else from lo.
func (m *Merger) byPresence(d Decision, hi, lo *Record) Decision {
	if hi.Partial == nil {
		return d
	}
	has := m.unite(hi.Partial, lo.Partial)
	if has == hi.Partial {
		return d
	}
	return m.fieldwise(d, hi, lo, func(i int, _ *Record) bool { return !hi.Partial.Has[i] }, has)
}

// unite returns the fields of either; nil stands for all fields. When b adds nothing it is a itself.
func (m *Merger) unite(a, b *Presence) *Presence {
	if b == nil {
		return nil
	}
	if m.union.a == a && m.union.b == b {
		return m.union.u
	}
	u, all, more := &Presence{Has: make([]bool, len(a.Has))}, true, false
	for i := range a.Has {
		u.Has[i] = a.Has[i] || b.Has[i]
		all = all && u.Has[i]
		more = more || u.Has[i] && !a.Has[i]
	}
	switch {
	case !more:
		u = a
	case all:
		u = nil
	}
	m.union.a, m.union.b, m.union.u = a, b, u
	return u
}

// fieldwise makes a row of two: hi's values, and lo's where fill says so. Where nothing is
// filled the decision stays as it is. Key, ordering value and deletion are hi's.
func (m *Merger) fieldwise(d Decision, hi, lo *Record, fill func(i int, hi *Record) bool, has *Presence) Decision {
	m.fromNew = append(m.fromNew[:0], make([]bool, len(m.typ.Fields))...)
	any := false
	for i := range m.typ.Fields {
		fromHi := true
		if c := hi.Row.Batch.Columns[i]; c != nil && fill(i, hi) {
			fromHi, any = false, true
		}
		m.fromNew[i] = fromHi == (hi == d.Newer)
	}
	if !any {
		return d
	}
	return m.combine(d, hi.Ord, has)
}

// combine makes the row that m.fromNew describes, in place of both versions.
func (m *Merger) combine(d Decision, ord Ordering, has *Presence) Decision {
	d.Outcome = Combined
	m.merged = Merged{Record: Record{Row: m.assemble(d.Older.Row, d.Newer.Row), Ord: ord, Partial: has, Block: d.Newer.Block, Index: d.Newer.Index}, FromNew: m.fromNew}
	d.Merged = &m.merged
	return d
}

func (m *Merger) assemble(old, new column.Row) column.Row {
	if m.out == nil || m.out.Len >= batchRows {
		m.made = m.Bytes()
		m.out = &column.Batch{Type: m.typ, Columns: make([]*column.Vector, len(m.typ.Fields))}
		for i := range m.typ.Fields {
			if old.Batch.Columns[i] != nil || new.Batch.Columns[i] != nil {
				m.out.Columns[i] = column.New(m.typ.Fields[i].Type, 0)
			}
		}
	}
	for i, v := range m.out.Columns {
		if v == nil {
			continue
		}
		src := old
		if m.fromNew[i] {
			src = new
		}
		if c := src.Batch.Columns[i]; c != nil {
			v.AppendFrom(c, src.Index)
		} else {
			v.AppendNull()
		}
	}
	m.out.Len++
	return column.Row{Batch: m.out, Index: m.out.Len - 1}
}

// fieldDefault is the default value of a field as JSON; null when it is null or there is none.
type fieldDefault struct {
	null bool
	json string
}

// isDefault reports whether a record's field holds the default of the reader's schema.
func (m *Merger) isDefault(i int, r *Record) bool {
	if m.defaults == nil {
		m.defaults = make([]fieldDefault, len(m.typ.Fields))
		for k := range m.typ.Fields {
			f := &m.typ.Fields[k]
			m.defaults[k].null = !f.HasDefault
			if f.HasDefault {
				if v, err := column.Default(f, 1); err == nil {
					m.defaults[k] = fieldDefault{v.IsNull(0), string(v.AppendJSON(nil, 0))}
				}
			}
		}
	}
	def, c := &m.defaults[i], r.Row.Batch.Columns[i]
	if c.IsNull(r.Row.Index) {
		return def.null
	}
	return !def.null && def.json != "" && def.json == string(c.AppendJSON(nil, r.Row.Index))
}

// isNull reports whether a record's field is null.
func isNull(i int, r *Record) bool { return r.Row.Batch.Columns[i].IsNull(r.Row.Index) }

// unavailable reports whether a record's field holds the marker for a value that the source
// did not send.
func (m *Merger) unavailable(i int, r *Record) bool { return holds(i, r, m.rules.Unavailable) }

// holds reports whether a text or bytes field has a value.
func holds(i int, r *Record, text string) bool {
	c := r.Row.Batch.Columns[i]
	if k := c.Type.Kind; k != schema.String && k != schema.Bytes || c.IsNull(r.Row.Index) {
		return false
	}
	return string(c.BytesAt(r.Row.Index)) == text
}

// text returns a field of a record as plain text; ok is false when it is null or not there.
func text(r *Record, field string) (s string, ok bool) {
	if r.empty() {
		return "", false
	}
	c := r.Row.Batch.Column(field)
	if c == nil || c.IsNull(r.Row.Index) {
		return "", false
	}
	return string(column.AppendPlain(nil, c, r.Row.Index)), true
}

// number returns an int or long field of a record.
func number(r *Record, field string) (x int64, ok bool) {
	if r.empty() {
		return 0, false
	}
	c := r.Row.Batch.Column(field)
	if c == nil || c.IsNull(r.Row.Index) || c.Type.Kind != schema.Int && c.Type.Kind != schema.Long {
		return 0, false
	}
	return c.Ints[r.Row.Index], true
}
