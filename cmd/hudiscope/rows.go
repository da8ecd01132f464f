package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"hudiscope/core/api"
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
	format := e.flags.format
	if format == "" {
		format = "table"
		if e.flags.json {
			format = "jsonl"
		}
	}
	var p rowPrinter
	out := bufio.NewWriterSize(e.stdout, 1<<16)
	switch format {
	case "jsonl":
		p = &jsonlPrinter{w: out}
	case "csv":
		p = &csvPrinter{w: csv.NewWriter(out)}
	case "table":
		p = &tablePrinter{w: out}
	default:
		return usageError(fmt.Sprintf("--format %q: want jsonl, csv or table", format))
	}
	req := api.RowsRequest{Table: t, Options: e.flags.options, Limit: pageRows}
	seen := map[string]bool{}
	for {
		if e.flags.limit > 0 && e.flags.limit-req.Offset < pageRows {
			req.Limit = int(e.flags.limit - req.Offset)
		}
		r, err := e.svc.Rows(ctx, req)
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
		req.Offset += int64(len(r.Rows))
		if len(r.Rows) == 0 || r.TotalKnown && req.Offset >= r.Total || e.flags.limit > 0 && req.Offset >= e.flags.limit {
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

// tablePrinter lines up columns; it keeps all rows, so it is for people and --limit.
type tablePrinter struct {
	w    *bufio.Writer
	head []string
	rows [][]string
}

func (p *tablePrinter) page(r *api.Rows) error {
	if p.head == nil {
		for _, c := range r.Columns {
			p.head = append(p.head, c.Name)
		}
	}
	for _, row := range r.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			s := strings.NewReplacer("\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(text(v, "NULL"))
			if utf8.RuneCountInString(s) > 60 {
				s = string([]rune(s)[:57]) + "..."
			}
			cells[i] = s
		}
		p.rows = append(p.rows, cells)
	}
	return nil
}

func (p *tablePrinter) end() error {
	w := columns(p.w)
	fmt.Fprintln(w, strings.Join(p.head, "\t"))
	for _, r := range p.rows {
		fmt.Fprintln(w, strings.Join(r, "\t"))
	}
	return w.Flush()
}
