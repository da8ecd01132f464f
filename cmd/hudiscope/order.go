package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"hudiscope/core/api"
)

// orderFlags order the rows of a query, or tell of its columns instead.
type orderFlags struct {
	by    string
	stats bool
	keys  []api.SortKey
}

func (f *orderFlags) register(name string, fs *flag.FlagSet) {
	switch name {
	case "rows", "export":
		fs.StringVar(&f.by, "order-by", "", "order the rows by these `columns`, as Spark does: \"city, fare DESC NULLS FIRST\" (names with commas or blanks in backquotes)")
	}
	if name == "rows" {
		fs.BoolVar(&f.stats, "stats", false, "print statistics of the columns instead of the rows: nulls, different values, least, greatest, mean, the most frequent")
	}
}

// check parses --order-by.
func (f *orderFlags) check() (err error) {
	f.keys, err = parseOrder(f.by)
	if err == nil && f.stats && f.by != "" {
		err = fmt.Errorf("--order-by orders rows, which --stats does not print")
	}
	return err
}

// parseOrder reads columns with their directions.
func parseOrder(s string) ([]api.SortKey, error) {
	var out []api.SortKey
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	for rest, more := s, true; more; {
		var k api.SortKey
		var words []string
		rest = strings.TrimLeft(rest, " \t")
		if strings.HasPrefix(rest, "`") {
			end := 1
			for ; end < len(rest); end++ {
				if rest[end] == '`' {
					if !strings.HasPrefix(rest[end+1:], "`") {
						break
					}
					end++
				}
			}
			if end >= len(rest) {
				return nil, fmt.Errorf("--order-by %q: a backquote is not closed", s)
			}
			k.Column = strings.ReplaceAll(rest[1:end], "``", "`")
			rest = rest[end+1:]
			var part string
			part, rest, more = strings.Cut(rest, ",")
			words = strings.Fields(part)
		} else {
			var part string
			part, rest, more = strings.Cut(rest, ",")
			if words = strings.Fields(part); len(words) > 0 {
				k.Column, words = words[0], words[1:]
			}
		}
		if k.Column == "" {
			return nil, fmt.Errorf("--order-by %q: a column is missing", s)
		}
		if len(words) > 0 {
			switch strings.ToLower(words[0]) {
			case "asc":
				words = words[1:]
			case "desc":
				k.Desc, words = true, words[1:]
			}
		}
		if len(words) == 2 && strings.EqualFold(words[0], "nulls") {
			switch n := strings.ToLower(words[1]); n {
			case "first", "last":
				k.Nulls, words = n, nil
			}
		}
		if len(words) > 0 {
			return nil, fmt.Errorf("--order-by: after %s comes ASC or DESC, and NULLS FIRST or NULLS LAST, not %q", k.Column, strings.Join(words, " "))
		}
		out = append(out, k)
	}
	return out, nil
}

// printStats prints the statistics of the columns of a query.
func (e *environment) printStats(ctx context.Context, t api.Table) error {
	a, err := e.svc.ColumnStats(ctx, api.ColumnStatsRequest{Table: t, Options: e.flags.options, Condition: e.flags.condition.condition()})
	if err != nil {
		return err
	}
	if e.flags.json {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(a)
	}
	for _, f := range a.Findings {
		fmt.Fprintf(e.stderr, "hudiscope: %s: %s: %s\n", f.Level, f.Title, f.Detail)
	}
	fmt.Fprintf(e.stdout, "%d rows, %d columns\n", a.Rows, len(a.Columns))
	for i := range a.Columns {
		printFacts(e.stdout, &a.Columns[i])
	}
	return nil
}

func printFacts(w io.Writer, f *api.ColumnFacts) {
	about := ""
	if f.Approximate {
		about = "about "
	}
	fmt.Fprintf(w, "\n%s  %s\n  %d nulls, %s%d different values\n", f.Name, f.Type, f.Nulls, about, f.Distinct)
	if f.Min != nil {
		fmt.Fprintf(w, "  from %s to %s\n", shortValue(f.Min), shortValue(f.Max))
	}
	if f.Mean != nil {
		fmt.Fprintf(w, "  mean %s\n", text(f.Mean, ""))
	}
	if f.NaN > 0 {
		fmt.Fprintf(w, "  %d NaN\n", f.NaN)
	}
	for _, v := range f.Top {
		n := strconv.FormatInt(v.Count, 10)
		if v.Least > 0 {
			n = strconv.FormatInt(v.Least, 10) + " to " + n
		}
		fmt.Fprintf(w, "  %9s  %s\n", n, shortValue(v.Value))
	}
}

// shortValue is a value on one line.
func shortValue(v json.RawMessage) string {
	s := []rune(strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`, "\x1b", `\e`).Replace(text(v, "null")))
	if len(s) > 80 {
		return string(s[:79]) + "…"
	}
	return string(s)
}
