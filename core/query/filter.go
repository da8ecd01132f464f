package query

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"hudiscope/core/column"
	"hudiscope/core/groupreader"
	"hudiscope/core/predicate"
	"hudiscope/core/schema"
	"hudiscope/core/table"
)

// parseFilters parses the comma list of conditions of hoodie.datasource.read.incr.filters. Commas in texts and
// in parentheses separate nothing.
func parseFilters(s string) ([]predicate.Expr, error) {
	var out []predicate.Expr
	for _, part := range split(s) {
		if strings.TrimSpace(part) == "" {
			continue
		}
		e, err := predicate.Parse(part)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", strings.TrimSpace(part), err)
		}
		out = append(out, e)
	}
	return out, nil
}

// split cuts at commas outside of quotes and parentheses.
func split(s string) []string {
	var out []string
	start, quote, open := 0, byte(0), 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == '\\' && quote != '`' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '(':
			open++
		case c == ')':
			open--
		case c == ',' && open <= 0:
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return append(out, s[start:])
}

// bindFilters binds the conditions of hoodie.datasource.read.incr.filters, all of which rows must meet.
func bindFilters(list []predicate.Expr, t *schema.Type) (*predicate.Bound, error) {
	var out *predicate.Bound
	for _, e := range list {
		b, err := predicate.Bind(e, t)
		if err != nil {
			return nil, &table.OptionError{Key: optFilters, Value: predicate.Format(e), Why: err.Error()}
		}
		out = predicate.Both(out, b)
	}
	return out, nil
}

// Restrict limits the rows to those that meet a condition, bound to the plan's Type. Rows are merged before they
// are filtered. It is called before the first part is read.
func (p *Plan) Restrict(where *predicate.Bound) {
	p.where = predicate.Both(p.where, where)
	p.choose()
}

// Condition is what rows must meet, nil for nothing: that of Restrict, and those of the option
// hoodie.datasource.read.incr.filters.
func (p *Plan) Condition() *predicate.Bound { return p.where }

// Select chooses columns and their order, by names without regard to case; none are all columns. It is called
// before the first part is read. A name that is not there is a *predicate.Error.
func (p *Plan) Select(names []string) error {
	if len(names) == 0 {
		return nil
	}
	if len(names) == 1 && names[0] == "*" {
		return nil
	}
	chosen := map[string]bool{}
	p.order = nil
	for _, name := range names {
		if name == "*" {
			return &predicate.Error{Message: "* is all columns and stands alone.", Try: "Choose * or columns by their names."}
		}
		b, err := predicate.Bind(&predicate.IsNull{X: &predicate.Column{Path: []string{name}}}, p.Type)
		if err != nil {
			if top, _, dotted := strings.Cut(name, "."); dotted {
				if b, e := predicate.Bind(&predicate.IsNull{X: &predicate.Column{Path: []string{top}}}, p.Type); e == nil {
					return &predicate.Error{Message: fmt.Sprintf("Only whole columns can be chosen, and %s is a part of one.", name), Try: fmt.Sprintf("Choose %s.", b.Columns()[0])}
				}
			}
			return err
		}
		name = b.Columns()[0]
		if chosen[name] {
			return &predicate.Error{Message: fmt.Sprintf("The column %s is chosen twice.", name)}
		}
		chosen[name] = true
		p.order = append(p.order, p.Type.FieldIndex(name))
	}
	p.Want(func(f string) bool { return chosen[f] })
	return nil
}

// Want chooses the columns of the rows; nil is all. It is set before the first part is read.
func (p *Plan) Want(want func(field string) bool) {
	p.want = want
	p.choose()
}

// Wanted reports whether a column is shown.
func (p *Plan) Wanted(field string) bool { return p.want == nil || p.want(field) }

// Shown are the columns of the rows, as positions in Type, in the order that was chosen.
func (p *Plan) Shown() []int {
	if p.order != nil {
		return p.order
	}
	var out []int
	if p.Type != nil {
		for i := range p.Type.Fields {
			if p.Wanted(p.Type.Fields[i].Name) {
				out = append(out, i)
			}
		}
	}
	return out
}

// choose tells the reader of slices which columns it needs, and which rows.
func (p *Plan) choose() {
	p.hidden = nil
	if p.where != nil && p.want != nil {
		for _, c := range p.where.Columns() {
			if !p.want(c) && !p.sorts(c) {
				p.hidden = append(p.hidden, c)
			}
		}
	}
	if p.table == nil {
		return
	}
	p.table.Where = p.where
	p.table.Want = p.want
	if p.want != nil && len(p.hidden)+len(p.sort) > 0 {
		p.table.Want = func(f string) bool { return p.want(f) || p.sorts(f) || slices.Contains(p.hidden, f) }
	}
}

// reader reads the rows of a part.
type reader = func(ctx context.Context, ro table.ReadOptions, st *groupreader.Stats) iter.Seq2[Row, error]

// window is how many rows are decided at once, at most.
const window = 1024

// decided are the truth values of some rows of a batch.
type decided struct {
	batch *column.Batch
	from  int
	truth []predicate.Truth
	size  int
}

// chooser passes rows that meet a condition.
type chooser struct {
	p    *Plan
	eval *predicate.Evaluator
	// last are the batches of the last rows, the newest first: base rows and combined ones take turns.
	last [2]decided
	in   *column.Batch
	out  *column.Batch
}

// passes decides a row. Rows of one batch that follow each other are decided together.
func (c *chooser) passes(row Row) bool {
	d := &c.last[0]
	if d.batch != row.Batch {
		c.last[0], c.last[1] = c.last[1], c.last[0]
		if d.batch != row.Batch {
			*d = decided{batch: row.Batch, size: 1, truth: d.truth[:0]}
		}
	}
	if i := row.Index - d.from; i >= 0 && i < len(d.truth) {
		return d.truth[i] == predicate.True
	}
	// The more rows of a batch are asked for, the more are decided ahead.
	to := min(row.Index+d.size, row.Batch.Len)
	d.size = min(d.size*4, window)
	d.from = row.Index
	d.truth = append(d.truth[:0], c.eval.Eval(row.Batch, row.Index, max(to, row.Index+1))...)
	return d.truth[0] == predicate.True
}

// shown is a row without the columns that only the condition reads.
func (c *chooser) shown(row Row) Row {
	if len(c.p.hidden) == 0 {
		return row
	}
	if c.in != row.Batch || c.out.Len != row.Batch.Len {
		out := *row.Batch
		out.Columns = append([]*column.Vector(nil), row.Batch.Columns...)
		for _, f := range c.p.hidden {
			out.Columns[out.Type.FieldIndex(f)] = nil
		}
		c.in, c.out = row.Batch, &out
	}
	row.Batch = c.out
	return row
}

// filtered passes the rows that meet the plan's condition, with the columns that are shown.
func (p *Plan) filtered(rows iter.Seq2[Row, error]) iter.Seq2[Row, error] {
	if p.where == nil {
		return rows
	}
	return func(yield func(Row, error) bool) {
		c := &chooser{p: p, eval: p.where.Evaluator()}
		for row, err := range rows {
			if err != nil {
				yield(row, err)
				return
			}
			if c.passes(row) && !yield(c.shown(row), nil) {
				return
			}
		}
	}
}

// changed makes the reader of a part of whole rows one of the plan's rows.
func (p *Plan) changed(rows reader) reader {
	return func(ctx context.Context, ro table.ReadOptions, st *groupreader.Stats) iter.Seq2[Row, error] {
		return p.projected(p.filtered(rows(ctx, ro, st)))
	}
}

// projected leaves the columns out that are not wanted, for rows that are made whole.
func (p *Plan) projected(rows iter.Seq2[Row, error]) iter.Seq2[Row, error] {
	if p.want == nil {
		return rows
	}
	return func(yield func(Row, error) bool) {
		var in, out *column.Batch
		for row, err := range rows {
			if err != nil {
				yield(row, err)
				return
			}
			if in != row.Batch || out.Len != in.Len {
				b := *row.Batch
				b.Columns = append([]*column.Vector(nil), row.Batch.Columns...)
				for i := range b.Columns {
					if f := b.Type.Fields[i].Name; !p.Wanted(f) && !p.sorts(f) {
						b.Columns[i] = nil
					}
				}
				in, out = row.Batch, &b
			}
			row.Batch = out
			if !yield(row, nil) {
				return
			}
		}
	}
}
