package query

import (
	"fmt"
	"strings"
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
