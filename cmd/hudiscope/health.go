package main

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"hudiscope/core/api"
)

// Exit statuses of the health command, beside those of every command: nothing or notes only is
// exitOK.
const (
	exitWarnings = 3
	exitErrors   = 4
)

// exitStatus is an error that only sets the exit status: everything has been said.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// serviceFlags are the options of the commands about services.
type serviceFlags struct {
	deep       bool
	rows       bool
	thresholds numberMap
	checks     string
	from, to   string
}

// numberMap collects --threshold NAME=NUMBER.
type numberMap map[string]float64

func (m numberMap) String() string { return "" }

func (m numberMap) Set(s string) error {
	k, v, ok := strings.Cut(s, "=")
	n, err := strconv.ParseFloat(v, 64)
	if !ok || k == "" || err != nil {
		return fmt.Errorf("want NAME=NUMBER, got %q", s)
	}
	m[k] = n
	return nil
}

// register adds the flags of a command about services.
func (f *serviceFlags) register(command string, fs *flag.FlagSet) {
	f.thresholds = numberMap{}
	switch command {
	case "health":
		fs.BoolVar(&f.deep, "deep", false, "also read all record keys and look for duplicates")
		fs.Var(f.thresholds, "threshold", "change a threshold, `NAME=NUMBER`; repeatable (--json lists them)")
		fs.StringVar(&f.checks, "checks", "", "run only these `checks`, by id, comma-separated")
	case "compare":
		fs.BoolVar(&f.rows, "no-rows", false, "compare schema and files only")
	case "relations":
		fs.StringVar(&f.from, "from", "", "only instants requested at or after this `instant`")
		fs.StringVar(&f.to, "to", "", "only instants requested at or before this `instant`")
	}
}

// runHealth prints findings, worst first. Its exit status is 0 when there are none or notes only,
// 3 with warnings and 4 with errors; 1 and 2 mean that the table could not be checked.
func runHealth(ctx context.Context, e *environment, args []string) error {
	t, err := e.table(args, 1)
	if err != nil {
		return err
	}
	req := api.HealthRequest{Table: t, Deep: e.flags.services.deep, Thresholds: e.flags.services.thresholds}
	if c := e.flags.services.checks; c != "" {
		req.Checks = strings.Split(c, ",")
	}
	h, err := e.svc.Health(ctx, req)
	if err != nil {
		return err
	}
	if e.flags.json {
		if err := e.printJSON(h); err != nil {
			return err
		}
		return healthStatus(h)
	}
	for _, f := range h.Findings {
		fmt.Fprintf(e.stdout, "%s: %s\n  %s\n", f.Level, f.Title, f.Detail)
		for _, ev := range f.Evidence {
			fmt.Fprintf(e.stdout, "  - %s\n", evidence(ev))
		}
		if n := f.Count - len(f.Evidence); n > 0 && len(f.Evidence) == 20 {
			fmt.Fprintf(e.stdout, "  - and %d more\n", n)
		}
		if f.Hudi != "" {
			fmt.Fprintf(e.stdout, "  Hudi: %s\n", f.Hudi)
		}
	}
	for _, c := range h.Checks {
		if c.Status == "skipped" {
			fmt.Fprintf(e.stdout, "not checked: %s: %s\n", c.Title, c.Note)
		}
	}
	fmt.Fprintf(e.stdout, "%s; findings: %d; looked at %d instants, %d partitions, %d file groups, %d files\n", h.Level, len(h.Findings), h.Looked.Instants, h.Looked.Partitions, h.Looked.Groups, h.Looked.Files)
	return healthStatus(h)
}

func evidence(e api.HealthEvidence) string {
	var at []string
	if e.Instant != "" {
		at = append(at, e.Instant)
	}
	if e.File != "" {
		name := e.File
		if e.Partition != "" {
			name = e.Partition + "/" + name
		}
		at = append(at, name)
	} else if e.FileID != "" {
		at = append(at, strings.TrimPrefix(e.Partition+"/"+e.FileID, "/"))
	} else if e.Partition != "" {
		at = append(at, e.Partition)
	}
	if len(at) == 0 {
		return e.Text
	}
	return strings.Join(at, " ") + ": " + e.Text
}

func healthStatus(h *api.Health) error {
	switch h.Level {
	case "warning":
		return exitStatus(exitWarnings)
	case "error":
		return exitStatus(exitErrors)
	}
	return nil
}

// runCompare prints how the table changed from one instant to another.
func runCompare(ctx context.Context, e *environment, args []string) error {
	if len(args) != 3 {
		return usageError("which TABLE, and which two INSTANTs?")
	}
	req := api.CompareRequest{Table: api.Table{Location: args[0], Hudi: e.flags.hudi}, From: args[1], To: args[2], NoRows: e.flags.services.rows}
	if e.flags.limit > 0 {
		req.Limit = int(min(e.flags.limit, 1000))
	}
	c, err := e.svc.Compare(ctx, req)
	if err != nil {
		return err
	}
	if e.flags.json {
		return e.printJSON(c)
	}
	for _, f := range c.Findings {
		fmt.Fprintf(e.stderr, "hudiscope: %s: %s: %s\n", f.Level, f.Title, f.Detail)
	}
	fmt.Fprintf(e.stdout, "%s → %s: %d completed writes between them\n", c.From, c.To, len(c.Instants))
	for _, i := range c.Instants {
		fmt.Fprintf(e.stdout, "  %s %s\n", i.Requested, i.Action)
	}
	for _, s := range c.Schema {
		fmt.Fprintf(e.stdout, "column %s %s: %s → %s\n", s.Column, s.Kind, s.Before, s.After)
	}
	fmt.Fprintf(e.stdout, "files: %d added (%d bytes), %d removed (%d bytes), %d the same\n", c.Files.Added, c.Files.AddedSize, c.Files.Removed, c.Files.LostSize, c.Files.Same)
	for _, g := range c.Files.Groups {
		fmt.Fprintf(e.stdout, "  %s file group %s (%s → %s)\n", g.Kind, strings.TrimPrefix(g.Partition+"/"+g.FileID, "/"), g.Before, g.After)
		for _, f := range g.Files {
			if f.Kind != "same" {
				fmt.Fprintf(e.stdout, "    %s %s\n", f.Kind, f.File.Name)
			}
		}
	}
	if c.Rows == nil {
		return nil
	}
	r := c.Rows
	fmt.Fprintf(e.stdout, "rows by %s: %d inserted, %d updated, %d deleted, %d the same (%d of them rewritten)\n", r.By, r.Inserted, r.Updated, r.Deleted, r.Same, r.Rewritten)
	for _, p := range r.Partitions {
		if p.Fault != nil {
			fmt.Fprintf(e.stdout, "  partition %q was not compared: %s\n", p.Partition, p.Fault.Error())
		}
	}
	for _, x := range r.Rows {
		fmt.Fprintf(e.stdout, "  %s %s", x.Kind, strings.TrimPrefix(x.Partition+" "+x.Key, " "))
		for i, col := range r.Columns {
			switch {
			case col.Meta:
			case x.Kind == "updated":
				for _, n := range x.Changed {
					if n == i {
						fmt.Fprintf(e.stdout, "  %s: %s → %s", col.Name, x.Before[i], x.After[i])
					}
				}
			case x.Kind == "inserted":
				fmt.Fprintf(e.stdout, "  %s=%s", col.Name, x.After[i])
			default:
				fmt.Fprintf(e.stdout, "  %s=%s", col.Name, x.Before[i])
			}
		}
		fmt.Fprintln(e.stdout)
	}
	if n := r.Total - int64(len(r.Rows)); n > 0 {
		fmt.Fprintf(e.stdout, "  and %d more changed rows\n", n)
	}
	return nil
}

// runHousekeeping prints what lies below .hoodie beside the timeline.
func runHousekeeping(ctx context.Context, e *environment, args []string) error {
	t, err := e.table(args, 1)
	if err != nil {
		return err
	}
	h, err := e.svc.Housekeeping(ctx, api.HousekeepingRequest{Table: t})
	if err != nil {
		return err
	}
	if e.flags.json {
		return e.printJSON(h)
	}
	w := columns(e.stdout)
	for _, i := range h.Items {
		state := i.InstantState
		if i.Instant != "" && state == "" {
			state = "not on the timeline"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", i.Kind, i.Path, state, i.Meaning)
	}
	for _, c := range h.Config {
		fmt.Fprintf(w, "property %s\t%s\t%q → %q\t\n", c.Kind, c.Key, c.Backup, c.Now)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, f := range h.Findings {
		fmt.Fprintf(e.stderr, "hudiscope: %s: %s: %s\n", f.Level, f.Title, f.Detail)
	}
	return nil
}

// runRelations prints the links between instants.
func runRelations(ctx context.Context, e *environment, args []string) error {
	t, err := e.table(args, 1)
	if err != nil {
		return err
	}
	r, err := e.svc.Relations(ctx, api.RelationsRequest{Table: t, From: e.flags.services.from, To: e.flags.services.to, Archived: true})
	if err != nil {
		return err
	}
	if e.flags.json {
		return e.printJSON(r)
	}
	w := columns(e.stdout)
	for _, x := range r.Relations {
		plan := ""
		if x.Plan {
			plan = "pending"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", x.From, x.FromAction, x.Kind, x.To, x.Note, plan)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if r.Before != "" {
		fmt.Fprintf(e.stderr, "hudiscope: instants before %s were not looked at\n", r.Before)
	}
	return nil
}

// printInstant prints what an instant did.
func (e *environment) printInstant(d *api.InstantDetail) error {
	i := d.Instant
	completed := i.Completed
	if completed != "" {
		completed = " completed " + completed
	}
	fmt.Fprintf(e.stdout, "%s %s %s%s\n", i.Requested, i.Action, i.State, completed)
	for _, p := range d.Parts {
		fmt.Fprintf(e.stdout, "  %s (%d bytes, %s %s)\n", p.File, p.Size, p.Encoding, p.Schema)
		if p.Fault != nil {
			fmt.Fprintf(e.stdout, "    %s\n", p.Fault.Error())
		}
	}
	if d.Work == nil {
		return nil
	}
	w := d.Work
	fmt.Fprintln(e.stdout, w.Sentence)
	if p := w.Pending; p != nil {
		fmt.Fprintf(e.stdout, "pending since %s; %d instants completed since. %s %s\n", p.Since, p.Later, p.What, p.Blocks)
	}
	if s := d.Summary; s != nil {
		for _, p := range s.Partitions {
			fmt.Fprintf(e.stdout, "  partition %q: %d inserts, %d updates, %d deletes, %d bytes, %d errors\n", p.Partition, p.Inserts, p.Updates, p.Deletes, p.Bytes, p.Errors)
			for _, f := range p.Files {
				fmt.Fprintf(e.stdout, "    %s (over %s): %d inserts, %d updates, %d deletes\n", f.Path, f.PrevCommit, f.Inserts, f.Updates, f.Deletes)
			}
		}
	}
	e.printWorkload(w.Workload)
	if p := w.Plan; p != nil {
		fmt.Fprintf(e.stdout, "plan of a %s:\n", p.Kind)
		for _, s := range p.Slices {
			fmt.Fprintf(e.stdout, "  %s slice %s: base %s, %d logs\n", strings.TrimPrefix(s.Partition+"/"+s.FileID, "/"), s.BaseInstant, orNone(s.Base), len(s.Logs))
		}
	}
	if c := w.Clean; c != nil {
		for _, p := range c.Partitions {
			for _, f := range p.Deleted {
				fmt.Fprintf(e.stdout, "  removed %s\n", strings.TrimPrefix(p.Partition+"/"+f, "/"))
			}
		}
	}
	if r := w.Rollback; r != nil {
		for _, p := range r.Partitions {
			for _, f := range p.Deleted {
				fmt.Fprintf(e.stdout, "  deleted %s\n", strings.TrimPrefix(p.Partition+"/"+f, "/"))
			}
			for _, f := range append(p.CommandLogs, p.WriteLogs...) {
				fmt.Fprintf(e.stdout, "  cancels blocks by %s\n", strings.TrimPrefix(p.Partition+"/"+f.Path, "/"))
			}
		}
	}
	if s := w.Savepoint; s != nil {
		for _, p := range s.Partitions {
			for _, f := range p.Files {
				fmt.Fprintf(e.stdout, "  keeps %s\n", strings.TrimPrefix(p.Partition+"/"+f, "/"))
			}
		}
	}
	for _, g := range w.Replaced {
		fmt.Fprintf(e.stdout, "  replaced file group %s\n", strings.TrimPrefix(g.Partition+"/"+g.FileID, "/"))
	}
	for _, c := range w.SchemaChange {
		fmt.Fprintf(e.stdout, "  column %s %s: %s → %s\n", c.Column, c.Kind, c.Before, c.After)
	}
	for _, r := range w.Relations {
		fmt.Fprintf(e.stdout, "  %s %s %s %s\n", r.From, r.Kind, r.To, r.Note)
	}
	for _, x := range w.Extra {
		fmt.Fprintf(e.stdout, "  %s=%s\n", x.Key, x.Value)
	}
	for _, f := range w.Findings {
		fmt.Fprintf(e.stdout, "%s: %s: %s\n", f.Level, f.Title, f.Detail)
	}
	return nil
}

// printWorkload prints the profile of a write.
func (e *environment) printWorkload(w *api.Workload) {
	if w == nil {
		return
	}
	fmt.Fprintf(e.stdout, "workload profile of %s (%s): %d inserts, %d updates, %d file groups\n", w.File, w.Operation, w.Inserts, w.Updates, w.Groups)
	for _, p := range w.Partitions {
		fmt.Fprintf(e.stdout, "  partition %q: %d inserts, %d updates\n", p.Partition, p.Inserts, p.Updates)
		for _, g := range p.Entries {
			fmt.Fprintf(e.stdout, "    file id %q, previous commit %q: %d inserts, %d updates\n", g.FileID, g.PrevCommit, g.Inserts, g.Updates)
		}
	}
	fmt.Fprintf(e.stdout, "  %s\n", w.Use)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
