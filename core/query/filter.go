package query

import (
	"fmt"
	"math/big"
	"strings"

	"hudiscope/core/schema"
	"hudiscope/core/table"
)

// Filter is a simple condition on a column of rows, of hoodie.datasource.read.incr.filters.
type Filter struct {
	Column, Op, Value string
	Text              bool // the literal was in quotes
}

// ParseFilters parses a comma list of conditions "column op literal" (op one of = == != <> < <= > >=)
// and "column is [not] null".
func ParseFilters(s string) ([]Filter, error) {
	var out []Filter
	for _, part := range split(s) {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		f, err := parseFilter(part)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// split cuts at commas outside of quotes.
func split(s string) []string {
	var out []string
	start, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ',':
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return append(out, s[start:])
}

func parseFilter(s string) (Filter, error) {
	lower := strings.ToLower(s)
	for _, suffix := range []string{" is not null", " is null"} {
		if strings.HasSuffix(lower, suffix) {
			return Filter{Column: name(s[:len(s)-len(suffix)]), Op: strings.TrimSpace(suffix)}, nil
		}
	}
	i := strings.IndexAny(s, "=!<>")
	if i <= 0 {
		return Filter{}, fmt.Errorf("%q is no simple condition (column op literal)", s)
	}
	op := s[i : i+1]
	if i+1 < len(s) && strings.IndexByte("=>", s[i+1]) >= 0 {
		op = s[i : i+2]
	}
	if strings.ContainsAny(name(s[:i]), "() '\"") {
		return Filter{}, fmt.Errorf("%q: only a column can be compared", s)
	}
	f := Filter{Column: name(s[:i]), Value: strings.TrimSpace(s[i+len(op):])}
	switch op {
	case "=", "==":
		f.Op = "="
	case "!=", "<>":
		f.Op = "!="
	case "<", "<=", ">", ">=":
		f.Op = op
	default:
		return f, fmt.Errorf("%q: %s is no comparison", s, op)
	}
	if n := len(f.Value); n >= 2 && (f.Value[0] == '\'' || f.Value[0] == '"') && f.Value[n-1] == f.Value[0] {
		f.Value, f.Text = f.Value[1:n-1], true
	} else if f.Value == "" || strings.ContainsAny(f.Value, " ()'\"") {
		return f, fmt.Errorf("%q: only a literal can be compared with", s)
	}
	return f, nil
}

func name(s string) string { return strings.Trim(strings.TrimSpace(s), "`") }

// condition is a filter on a column of a type.
type condition struct {
	Filter
	column int
	number *big.Rat
}

// compile resolves filters against the rows' type. Only top-level columns of simple types can be compared.
func compile(list []Filter, t *schema.Type) ([]condition, error) {
	var out []condition
	for _, f := range list {
		c := condition{Filter: f, column: t.FieldIndex(f.Column)}
		bad := func(why string) error {
			return &table.OptionError{Key: optFilters, Value: f.Column + " " + f.Op + " " + f.Value, Why: why}
		}
		if c.column < 0 {
			return nil, bad("the rows have no column " + f.Column)
		}
		switch typ := t.Fields[c.column].Type; {
		case f.Op == "is null" || f.Op == "is not null":
		case numeric(typ):
			r, ok := new(big.Rat).SetString(f.Value)
			if !ok {
				return nil, bad("the column holds numbers, and this is none")
			}
			c.number = r
		case typ.Kind == schema.Boolean || typ.Kind == schema.String || typ.Kind == schema.Enum || typ.Kind == schema.Int || typ.Kind == schema.Long:
		default:
			return nil, bad("columns of this type can't be compared")
		}
		out = append(out, c)
	}
	return out, nil
}

func numeric(t *schema.Type) bool {
	switch t.Kind {
	case schema.Float, schema.Double:
		return true
	case schema.Int, schema.Long:
		return t.Logical == schema.None || t.Logical == schema.Decimal
	}
	return t.Logical == schema.Decimal
}

// passes reports whether a row meets all conditions; what is null meets no comparison.
func (p *Plan) passes(row Row) bool {
	for i := range p.filters {
		if !p.filters[i].holds(row) {
			return false
		}
	}
	return true
}

func (c *condition) holds(row Row) bool {
	v := row.Batch.Columns[c.column]
	null := v == nil || v.IsNull(row.Index)
	switch c.Op {
	case "is null":
		return null
	case "is not null":
		return !null
	}
	if null {
		return false
	}
	text := string(AppendCell(nil, v, row.Index))
	cmp := strings.Compare(text, c.Value)
	if c.number != nil {
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			// NaN is larger than every number, as in Spark.
			cmp = 1
			if text == "-Infinity" {
				cmp = -1
			}
		} else {
			cmp = r.Cmp(c.number)
		}
	}
	switch c.Op {
	case "=":
		return cmp == 0
	case "!=":
		return cmp != 0
	case "<":
		return cmp < 0
	case "<=":
		return cmp <= 0
	case ">":
		return cmp > 0
	}
	return cmp >= 0
}
