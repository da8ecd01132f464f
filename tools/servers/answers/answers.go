// Package answers asks the explorer service for all that a place can get wrong of a table (timeline,
// file slices, files, rows), and compares the answers for two places that hold the same table.
package answers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/explorer"
	"hudiscope/core/storage"
)

// Open opens the place.
type Open func(ctx context.Context) (storage.Source, error)

// Answers are those for one table.
type Answers struct {
	Timeline *api.Timeline
	Slices   api.Slices
	Files    *api.Files
	Rows     *api.Rows
}

// maxRows is more than any table of the tests has.
const maxRows = 10000

// Of asks for all of a table. Every answer comes of one service, as when a user goes from view to
// view.
func Of(ctx context.Context, open Open) (*Answers, error) {
	s := explorer.New(func(ctx context.Context, _ string) (storage.Source, error) { return open(ctx) }, explorer.Options{})
	t := api.Table{Location: "table"}
	defer s.Close(ctx, api.CloseRequest{Table: t})
	var a Answers
	var err error
	if a.Timeline, err = s.Timeline(ctx, api.TimelineRequest{Table: t}); err != nil {
		return nil, fmt.Errorf("timeline: %w", err)
	}
	if a.Slices, err = s.Slices(ctx, api.SlicesRequest{Table: t}); err != nil {
		return nil, fmt.Errorf("slices: %w", err)
	}
	if a.Files, err = s.Files(ctx, api.FilesRequest{Table: t}); err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	if a.Rows, err = s.Rows(ctx, api.RowsRequest{Table: t, Limit: maxRows}); err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	if !a.Rows.TotalKnown || a.Rows.Total != int64(len(a.Rows.Rows)) {
		return nil, fmt.Errorf("rows: one page holds %d of %d rows", len(a.Rows.Rows), a.Rows.Total)
	}
	return &a, nil
}

// Remarks are the titles of what the answers warn of, without duplicates.
func (a *Answers) Remarks() []string {
	seen := map[string]bool{}
	for _, list := range [][]api.Finding{a.Timeline.Finding, a.Files.Findings, a.Rows.Findings} {
		for _, f := range list {
			seen[f.Level+": "+f.Title+": "+f.Detail] = true
		}
	}
	var out []string
	for s := range seen {
		out = append(out, s)
	}
	sort.Strings(out)
	return out
}

// Tells says what a place does not tell, so that answers differ in it and nowhere else.
type Tells struct {
	// NoSizes: its listings tell no exact sizes. A size that is told must be right all the same.
	NoSizes bool
	// NoTimes: its listings tell no times of modification, or those of an upload. In old tables they are
	// the times at which instants were completed.
	NoTimes bool
	// NoStrays: names that begin with a dot are not listed, and files that no commit tells of (the
	// checksum files of a writer's file system) are not known.
	NoStrays bool
	// OnlyRows: there are log files that no completed instant names, so slices and files differ.
	OnlyRows bool
}

// Differ compares the answers got for one place with those wanted, and names the first differences.
// Remarks about the place are no difference; rows, slices, files and instants are.
func Differ(got, want *Answers, t Tells) error {
	var errs []error
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"timeline", timelineOf(got, t), timelineOf(want, t)},
		{"slices", got.Slices, want.Slices},
		{"files", filesOf(got, t), filesOf(want, t)},
		{"rows", rowsOf(got), rowsOf(want)},
	} {
		if t.OnlyRows && (c.what == "slices" || c.what == "files") {
			continue
		}
		g, err := plain(c.got)
		if err != nil {
			return err
		}
		w, err := plain(c.want)
		if err != nil {
			return err
		}
		d := differences{t: t}
		d.compare(c.what, g, w)
		if len(d.list) > 0 {
			errs = append(errs, fmt.Errorf("%d differences, the first: %s", d.n, strings.Join(d.list, "; ")))
		}
	}
	return errors.Join(errs...)
}

func timelineOf(a *Answers, t Tells) *api.Timeline {
	c := *a.Timeline
	c.Finding = nil
	if t.NoTimes {
		c.Active = append([]api.Instant(nil), c.Active...)
		for i := range c.Active {
			if x := &c.Active[i]; x.CompletedFrom == "mtime" {
				x.Completed, x.CompletedFrom = "", ""
			}
		}
	}
	return &c
}

func filesOf(a *Answers, t Tells) *api.Files {
	c := *a.Files
	c.Findings = nil
	if t.NoStrays {
		c.Partitions = append([]api.PartitionFiles(nil), c.Partitions...)
		for i := range c.Partitions {
			c.Partitions[i].Other, c.Partitions[i].Bytes = nil, 0
		}
	}
	return &c
}

// rowsOf sorts by text: the order of rows is no part of a table.
func rowsOf(a *Answers) any {
	var rows []string
	for _, r := range a.Rows.Rows {
		var b strings.Builder
		for i, c := range r {
			fmt.Fprintf(&b, "%s=%s ", a.Rows.Columns[i].Name, c)
		}
		rows = append(rows, b.String())
	}
	sort.Strings(rows)
	return map[string]any{"columns": a.Rows.Columns, "rows": rows, "as_of": a.Rows.AsOf, "total": a.Rows.Total}
}

func plain(v any) (any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	var out any
	return out, d.Decode(&out)
}

type differences struct {
	t    Tells
	n    int
	list []string
}

func (d *differences) add(format string, args ...any) {
	d.n++
	if len(d.list) < 3 {
		d.list = append(d.list, fmt.Sprintf(format, args...))
	}
}

// sizes are the fields that listings tell.
var sizes = map[string]bool{"size": true, "bytes": true, "file_size": true, "total_file_size": true, "total_size": true}

func (d *differences) compare(at string, got, want any) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			d.add("%s is %s", at, text(got))
			return
		}
		for k := range w {
			if d.t.NoSizes && sizes[k] {
				if n, ok := g[k].(json.Number); ok && (n == "-1" || n == "0" || k != "size") {
					continue
				}
			}
			if _, ok := g[k]; !ok {
				d.add("%s has no %s", at, k)
				continue
			}
			d.compare(at+"."+k, g[k], w[k])
		}
		for k := range g {
			if _, ok := w[k]; !ok {
				d.add("%s has %s besides: %s", at, k, text(g[k]))
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok {
			d.add("%s is %s", at, text(got))
			return
		}
		if len(g) != len(w) {
			d.add("%s has %d elements, not %d", at, len(g), len(w))
			return
		}
		for i := range w {
			d.compare(fmt.Sprintf("%s[%d]", at, i), g[i], w[i])
		}
	default:
		if got != want {
			d.add("%s is %s, not %s", at, text(got), text(want))
		}
	}
}

func text(v any) string {
	b, _ := json.Marshal(v) // of a decoded JSON value
	if len(b) > 200 {
		b = append(b[:200], "…"...)
	}
	return string(b)
}
