package explorer

import (
	"errors"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/predicate"
	"hudiscope/core/query"
	"hudiscope/core/schema"
)

// restrict applies the condition of a request to a plan: the rows that pass, and the columns that are shown.
func restrict(p *query.Plan, c api.Condition) error {
	if p.Type == nil {
		// A table without a schema: there are no rows, and no names to find.
		p.Type = &schema.Type{Kind: schema.Record}
	}
	if strings.TrimSpace(c.Where) != "" {
		where, err := predicate.New(c.Where, p.Type)
		if err != nil {
			return badCondition(err, "where")
		}
		p.Restrict(where)
		for _, x := range where.Vain() {
			p.Hints = append(p.Hints, query.Hint{Title: "A constant of the condition is no value", Detail: x})
		}
	}
	if err := p.Select(c.Columns); err != nil {
		return badCondition(err, "columns")
	}
	return nil
}

// orderBy orders the rows of a plan.
func orderBy(p *query.Plan, keys []api.SortKey) error {
	if len(keys) == 0 {
		return nil
	}
	if len(keys) > maxSortKeys {
		return invalid("Rows are ordered by at most %d columns.", maxSortKeys)
	}
	list := make([]query.SortKey, len(keys))
	for i, k := range keys {
		list[i] = query.SortKey{Column: k.Column, Desc: k.Desc, Nulls: k.Nulls}
	}
	if err := p.OrderBy(list); err != nil {
		return badCondition(err, "order")
	}
	return nil
}

// maxSortKeys bounds the columns that rows are ordered by.
const maxSortKeys = 32

// badCondition is the fault of a condition, or of the columns, that can't be understood.
func badCondition(err error, part string) error {
	var pe *predicate.Error
	if !errors.As(err, &pe) {
		return err
	}
	f := &api.Fault{Kind: "invalid request", Message: pe.Message, Part: part, Offset: int64(pe.Pos), Try: pe.Try}
	if part != "where" {
		f.Offset, f.Try = -1, strings.TrimSuffix(pe.Try, predicate.QuoteHint)
	}
	return f
}

// shownColumns describes the columns of a plan's rows, in the order that was asked for.
func shownColumns(p *query.Plan) []api.Column {
	out := []api.Column{}
	for _, i := range p.Shown() {
		f := &p.Type.Fields[i]
		out = append(out, api.Column{Name: f.Name, Type: f.Type.Display(), Meta: schema.IsMetaField(f.Name)})
	}
	return out
}
