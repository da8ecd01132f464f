package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"

	"hudiscope/core/api"
)

// runHistory prints every version of a record as a ladder, in merge order.
func runHistory(ctx context.Context, e *environment, args []string) error {
	if len(args) == 0 {
		return usageError("which TABLE?")
	}
	if len(args) > 2 || len(args) < 2 && !e.flags.byPrefix {
		return usageError("which record KEY?")
	}
	key := ""
	if len(args) == 2 {
		key = args[1]
	}
	a, err := e.svc.History(ctx, api.HistoryRequest{Table: api.Table{Location: args[0], Hudi: e.flags.hudi}, Key: key, Prefix: e.flags.byPrefix,
		Limit: int(e.flags.limit), Options: e.flags.options, Everywhere: e.flags.everywhere})
	if err != nil {
		return err
	}
	for _, f := range a.Findings {
		fmt.Fprintf(e.stderr, "hudiscope: %s: %s: %s\n", f.Level, f.Title, f.Detail)
	}
	if e.flags.json {
		return e.printJSON(a)
	}
	if len(a.Keys) == 0 {
		s := a.Searched
		fmt.Fprintf(e.stdout, "no version of %q in %d file groups (%d files, %d of them base files that can't hold it)\n", key, s.FileGroups, s.Files, s.BaseSkipped)
		return nil
	}
	for i := range a.Keys {
		if i > 0 {
			fmt.Fprintln(e.stdout)
		}
		printKeyHistory(e.stdout, a, &a.Keys[i])
	}
	if a.More {
		fmt.Fprintf(e.stdout, "\n… and more keys; --limit shows more than %d\n", len(a.Keys))
	}
	return nil
}

func printKeyHistory(w io.Writer, a *api.History, k *api.KeyHistory) {
	fmt.Fprintf(w, "%s\n", k.Key)
	for _, c := range k.Copies {
		state := "not visible"
		if c.Visible {
			state = "visible"
		}
		if c.ReplacedBy != "" {
			state = "replaced by " + c.ReplacedBy
		}
		fmt.Fprintf(w, "file group %s in partition %q: %s\n", c.FileID, c.Partition, state)
		for i := range c.Slices {
			sl := &c.Slices[i]
			latest := ""
			if sl.Latest {
				latest = " (what a query reads)"
			}
			fmt.Fprintf(w, "  slice %s%s\n", sl.BaseInstant, latest)
			for n := range sl.Versions {
				printVersion(w, a, &sl.Versions[n], n+1 == len(sl.Versions))
			}
			switch sl.Result {
			case "row":
				fmt.Fprintf(w, "  ⇒ %s\n", rowLine(a.Columns, sl.Row, nil))
			default:
				fmt.Fprintf(w, "  ⇒ %s\n", sl.Result)
			}
		}
	}
}

// marks stand before a version: the winners are seen at a glance.
var marks = map[string]string{"won": "✔", "merged": "✚", "lost": "✘", "superseded": "·", "not read": "–"}

func printVersion(w io.Writer, a *api.History, v *api.Version, last bool) {
	branch, side := "├", "│"
	if last {
		branch, side = "└", " "
	}
	at := fmt.Sprintf("%s, row %d", path.Base(v.File), v.Record)
	if v.Block >= 0 {
		at = fmt.Sprintf("%s, block %d, record %d", path.Base(v.File), v.Block, v.Record)
		if v.End > 0 {
			at += fmt.Sprintf(", bytes %d–%d", v.Start, v.End)
		}
	}
	order := ""
	if v.OrderingType != "" {
		order = ", ordering " + v.Ordering
	}
	fmt.Fprintf(w, "  %s %s %s %s of %s%s: %s\n", branch, marks[v.Outcome], v.Outcome, v.Kind, v.Instant, order, v.Why)
	fmt.Fprintf(w, "  %s     %s\n", side, at)
	if len(v.Changed) > 0 {
		changed := map[string]bool{}
		for _, c := range v.Changed {
			changed[c] = true
		}
		fmt.Fprintf(w, "  %s     changes %s\n", side, rowLine(a.Columns, v.Row, changed))
	}
}

// rowLine prints the columns of a row that are no meta columns: all, or those of only.
func rowLine(columns []api.Column, row []json.RawMessage, only map[string]bool) string {
	var b strings.Builder
	for i, c := range columns {
		if i >= len(row) || c.Meta || only != nil && !only[c.Name] {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("  ")
		}
		b.WriteString(c.Name + "=" + shorten(string(row[i]), 60))
	}
	return b.String()
}

// shorten cuts text to n characters.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// runScan prints the scan of a slice's logs, step by step.
func runScan(ctx context.Context, e *environment, args []string) error {
	if len(args) == 0 || len(args) > 4 {
		return usageError("which TABLE, and which PARTITION and FILEID or LOGFILE of it?")
	}
	req := api.ScanRequest{Table: api.Table{Location: args[0], Hudi: e.flags.hudi}, Records: e.flags.records, Limit: int(e.flags.limit)}
	switch len(args) {
	case 2:
		req.File = args[1]
	case 3, 4:
		req.Partition, req.FileID = args[1], args[2]
		if len(args) == 4 {
			req.BaseInstant = args[3]
		}
	}
	a, err := e.svc.Scan(ctx, req)
	if err != nil {
		return err
	}
	if a.RecordsFault != nil {
		fmt.Fprintf(e.stderr, "hudiscope: the merge steps of records are missing: %s\n", a.RecordsFault.Error())
	}
	if e.flags.json {
		return e.printJSON(a)
	}
	for i, f := range a.Blocks.Files {
		fmt.Fprintf(e.stdout, "file %d  %s\n", i, f.File.Path)
	}
	w := columns(e.stdout)
	fmt.Fprintln(w, "STEP\tBLOCK\tINSTANT\tQUEUE\tWHY")
	for _, s := range a.Steps {
		queue := make([]string, len(s.Queue))
		for i, q := range s.Queue {
			queue[i] = fmt.Sprintf("%d.%d", q.File, q.Block)
		}
		kind, why := s.Kind, s.Why
		if r := s.Record; r != nil {
			kind, why = r.Stage+" record", fmt.Sprintf("%s: %s wins: %s", r.Key, r.Winner, s.Why)
			if r.Winner == "removed" {
				why = fmt.Sprintf("%s is removed: %s", r.Key, s.Why)
			}
		}
		fmt.Fprintf(w, "%s\t%d.%d\t%s\t[%s]\t%s\n", kind, s.Block.File, s.Block.Block, s.Instant, strings.Join(queue, " "), why)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(a.Steps) > 0 {
		c := a.Steps[len(a.Steps)-1].Counters
		fmt.Fprintf(e.stdout, "%d log files, %d blocks, %d records merged, %d rollbacks, %d corrupt blocks\n", c.LogFiles, c.Blocks, c.Records, c.Rollbacks, c.CorruptBlocks)
	}
	if a.Truncated {
		fmt.Fprintf(e.stdout, "… and more steps; --limit shows more than %d\n", len(a.Steps))
	}
	return nil
}
