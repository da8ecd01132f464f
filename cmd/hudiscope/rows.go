package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"sort"

	"hudiscope/core/api"
	"hudiscope/core/show"
)

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// pageRows is how many rows one request asks for.
const pageRows = 2000

func runRows(ctx context.Context, e *environment, args []string) error {
	t, err := e.table(args, 1)
	if err != nil {
		return err
	}
	if e.flags.order.stats {
		return e.printStats(ctx, t)
	}
	return e.printRows(ctx, func(offset int64, limit int, text bool) (*api.Rows, error) {
		return e.svc.Rows(ctx, api.RowsRequest{Table: t, Options: e.flags.options, Condition: e.flags.condition.condition(), Order: e.flags.order.keys, Offset: offset, Limit: limit, Text: text})
	})
}

// printRows prints rows page by page.
func (e *environment) printRows(ctx context.Context, fetch func(offset int64, limit int, text bool) (*api.Rows, error)) error {
	format := e.flags.format
	if format == "" {
		format = "table"
		if e.flags.json {
			format = "jsonl"
		}
	}
	var p rowPrinter
	limit := e.flags.limit
	out := bufio.NewWriterSize(e.stdout, 1<<16)
	switch format {
	case "jsonl":
		p = &jsonlPrinter{w: out}
	case "csv":
		p = &csvPrinter{w: csv.NewWriter(out)}
	case "table":
		if limit <= 0 {
			limit = 20
		}
		limit = min(limit, show.MaxRows)
		p = &tablePrinter{w: out, limit: int(limit), o: show.Options{Truncate: e.flags.truncate, Vertical: e.flags.vertical, Null: "NULL"}}
		// One more tells whether there are more.
		limit++
	default:
		return usageError(fmt.Sprintf("--format %q: want jsonl, csv or table", format))
	}
	seen := map[string]bool{}
	for offset := int64(0); ; {
		n := pageRows
		if limit > 0 && limit-offset < pageRows {
			n = int(limit - offset)
		}
		r, err := fetch(offset, n, format == "table")
		if err != nil {
			return err
		}
		for _, f := range r.Findings {
			if line := f.Title + ": " + f.Detail; !seen[line] {
				seen[line] = true
				fmt.Fprintf(e.stderr, "hudiscope: %s: %s\n", f.Level, line)
			}
		}
		if err := p.page(r); err != nil {
			return err
		}
		offset += int64(len(r.Rows))
		if len(r.Rows) == 0 || r.TotalKnown && offset >= r.Total || limit > 0 && offset >= limit {
			break
		}
	}
	if err := p.end(); err != nil {
		return err
	}
	return out.Flush()
}

type rowPrinter interface {
	page(*api.Rows) error
	end() error
}

// jsonlPrinter prints one JSON object a line.
type jsonlPrinter struct{ w *bufio.Writer }

func (p *jsonlPrinter) page(r *api.Rows) error {
	names := make([][]byte, len(r.Columns))
	for i, c := range r.Columns {
		name, err := json.Marshal(c.Name)
		if err != nil {
			return err
		}
		names[i] = append(name, ':')
	}
	for _, row := range r.Rows {
		p.w.WriteByte('{')
		for i, v := range row {
			if i > 0 {
				p.w.WriteByte(',')
			}
			p.w.Write(names[i])
			p.w.Write(v)
		}
		p.w.WriteString("}\n")
	}
	return nil
}

func (p *jsonlPrinter) end() error { return nil }

// csvPrinter prints RFC 4180 with a header; null is an empty cell, nested values are JSON.
type csvPrinter struct {
	w      *csv.Writer
	header bool
}

func (p *csvPrinter) page(r *api.Rows) error {
	if !p.header {
		p.header = true
		head := make([]string, len(r.Columns))
		for i, c := range r.Columns {
			head[i] = c.Name
		}
		if err := p.w.Write(head); err != nil {
			return err
		}
	}
	for _, row := range r.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = text(v, "")
		}
		if err := p.w.Write(cells); err != nil {
			return err
		}
	}
	return nil
}

func (p *csvPrinter) end() error {
	p.w.Flush()
	return p.w.Error()
}

// text shows a JSON value without the quotes of strings.
func text(v json.RawMessage, null string) string {
	if len(v) == 0 || string(v) == "null" {
		return null
	}
	if v[0] == '"' {
		var s string
		if json.Unmarshal(v, &s) == nil {
			return s
		}
	}
	return string(v)
}

// tablePrinter prints as Spark's show() does. The rows that it keeps are bounded by --limit.
type tablePrinter struct {
	w     *bufio.Writer
	limit int
	o     show.Options
	head  []string
	rows  [][]*string
}

func (p *tablePrinter) page(r *api.Rows) error {
	if p.head == nil {
		for _, c := range r.Columns {
			p.head = append(p.head, c.Name)
		}
	}
	for _, row := range r.Rows {
		if len(p.rows) == p.limit {
			p.o.More = true
			break
		}
		cells := make([]*string, len(row))
		for i, v := range row {
			if string(v) != "null" {
				s := text(v, "")
				cells[i] = &s
			}
		}
		p.rows = append(p.rows, cells)
	}
	return nil
}

// end prints the table and the empty line that show() leaves after it.
func (p *tablePrinter) end() error {
	if err := show.Write(p.w, p.head, p.rows, p.o); err != nil {
		return err
	}
	return p.w.WriteByte('\n')
}
