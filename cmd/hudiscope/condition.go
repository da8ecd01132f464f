package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"hudiscope/core/api"
)

// conditionFlags limit the rows and columns of a query.
type conditionFlags struct{ where, columns string }

func (f *conditionFlags) register(name string, fs *flag.FlagSet) {
	switch name {
	case "rows", "plan", "export", "handoff":
		fs.StringVar(&f.where, "where", "", "only rows that meet this SQL `condition`, as Spark reads it: \"price > 10 AND name LIKE 'a%'\"")
		fs.StringVar(&f.columns, "columns", "", "only these `columns`, in this order: a,b (names with commas in backquotes)")
	}
}

// condition is what the flags ask for.
func (f *conditionFlags) condition() api.Condition {
	return api.Condition{Where: f.where, Columns: columnList(f.columns)}
}

// columnList cuts a list of names at the commas outside of backquotes, which are taken off.
func columnList(s string) []string {
	var out []string
	var name strings.Builder
	quoted, was := false, false
	flush := func() {
		n := name.String()
		if !was {
			n = strings.TrimSpace(n)
		}
		if n != "" {
			out = append(out, n)
		}
		name.Reset()
		was = false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '`' && quoted && i+1 < len(s) && s[i+1] == '`':
			name.WriteByte('`')
			i++
		case c == '`':
			if !quoted {
				name.Reset()
			}
			quoted, was = !quoted, true
		case c == ',' && !quoted:
			flush()
		case was && !quoted && c == ' ':
		default:
			name.WriteByte(c)
		}
	}
	flush()
	return out
}

// mark shows where a condition goes wrong.
func (f *conditionFlags) mark(w io.Writer, fault *api.Fault) {
	if fault.Part != "where" || fault.Offset < 0 || fault.Offset > int64(len(f.where)) {
		return
	}
	at := int(fault.Offset)
	start := strings.LastIndexByte(f.where[:at], '\n') + 1
	line, _, _ := strings.Cut(f.where[start:], "\n")
	fmt.Fprintf(w, "  %s\n  %s^\n", strings.ReplaceAll(line, "\t", " "), strings.Repeat(" ", utf8.RuneCountInString(f.where[start:at])))
}
