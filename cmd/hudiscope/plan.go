package main

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"hudiscope/core/api"
)

// runPlan prints what a Spark read will do.
func runPlan(ctx context.Context, e *environment, args []string) error {
	t, err := e.table(args, 1)
	if err != nil {
		return err
	}
	req := api.PlanRequest{Table: t, Condition: e.flags.condition.condition(), Options: map[string]string{}, Spark: map[string]string{}, Limit: int(min(e.flags.limit, 1<<31-1))}
	for k, v := range e.flags.options {
		if len(k) > 6 && k[:6] == "spark." {
			req.Spark[k] = v
		} else {
			req.Options[k] = v
		}
	}
	p, err := e.svc.Plan(ctx, req)
	if err != nil {
		return err
	}
	if e.flags.json {
		return e.printJSON(p)
	}
	out := bufio.NewWriter(e.stdout)
	fmt.Fprintf(out, "relation (rules of %s)\n", p.Rules)
	for _, f := range p.Relation.Inputs {
		fmt.Fprintf(out, "  %s: %s\n", f.Name, f.Value)
	}
	for i, r := range p.Relation.Rules {
		mark := " "
		if i == p.Relation.Taken {
			mark = ">"
		}
		fmt.Fprintf(out, "%s %s: %s, reads %s\n", mark, r.When, r.Relation, r.Reads)
	}
	fmt.Fprintf(out, "schema from %s\n", p.SchemaFrom)
	if p.AsOf != "" {
		fmt.Fprintf(out, "as of %s\n", p.AsOf)
	}
	if p.Range != "" {
		fmt.Fprintf(out, "range: %s\n", p.Range)
	}
	for _, i := range p.Instants {
		fmt.Fprintf(out, "  %s %s %s: %s\n", i.Requested, i.Action, i.Operation, i.Why)
	}
	if p.Filter != "" {
		fmt.Fprintf(out, "filter: %s\n", p.Filter)
	}
	if p.Pruning != nil {
		printPruning(out, p.Pruning)
	}
	fmt.Fprintf(out, "%d parts\n", len(p.Parts))
	for i, x := range p.Parts {
		fmt.Fprintf(out, "  %d: partition %q, file group %s: %s, %d bytes\n", i, x.Partition, x.FileID, x.How, x.Bytes)
		if x.Base != "" {
			fmt.Fprintf(out, "     base %s\n", x.Base)
		}
		for _, l := range x.Logs {
			fmt.Fprintf(out, "     log  %s\n", l)
		}
		for _, c := range x.Changes {
			fmt.Fprintf(out, "     %s %s: %s\n", c.Instant, c.Case, c.Why)
		}
	}
	fmt.Fprintf(out, "splits of %d bytes = %s\n", p.Tasks.MaxSplitBytes, p.Tasks.Sum)
	for i, x := range p.Tasks.Tasks {
		fmt.Fprintf(out, "  task %d: %d bytes in %d pieces\n", i, x.Bytes, len(x.Pieces))
		for _, y := range x.Pieces {
			fmt.Fprintf(out, "     part %d [%d, %d) of %s\n", y.Part, y.Start, y.Start+y.Length, y.File)
		}
	}
	for i, r := range p.Tasks.Rounds {
		fmt.Fprintf(out, "  run %d of a limit, while there are too few rows: tasks %d to %d\n", i+1, r.First, r.First+r.Tasks-1)
	}
	for _, f := range p.Findings {
		fmt.Fprintf(out, "%s: %s: %s\n", f.Level, f.Title, f.Detail)
	}
	return out.Flush()
}

// printPruning prints what a condition leaves out, and why.
func printPruning(out io.Writer, p *api.Pruning) {
	fmt.Fprintf(out, "condition: %s\n", p.Condition)
	if p.PartitionPart != "" {
		fmt.Fprintf(out, "  over partitions: %s\n", p.PartitionPart)
		if p.PartitionPrefix != "" {
			fmt.Fprintf(out, "  Hudi lists below %q only\n", p.PartitionPrefix)
		}
	}
	if p.DataPart != "" {
		fmt.Fprintf(out, "  over data: %s\n", p.DataPart)
	}
	mark := func(yes bool) string {
		if yes {
			return "+"
		}
		return "-"
	}
	state := "off"
	if p.Skipping {
		state = "on, " + p.Mode
	}
	fmt.Fprintf(out, "data skipping: %s\n", state)
	for _, x := range p.Indexes {
		fmt.Fprintf(out, "%s %s: %s\n", mark(x.Used), x.Name, x.Why)
	}
	w := columns(out)
	fmt.Fprintln(w, "\tPARTITION\tBY\tWHY")
	for _, x := range p.Partitions {
		fmt.Fprintf(w, "%s\t%q\t%s\t%s\n", mark(x.Kept), x.Partition, x.By, x.Why)
	}
	w.Flush()
	w = columns(out)
	fmt.Fprintln(w, "\tFILE GROUP\tPARTITION\tBYTES\tBY\tWHY")
	for _, x := range p.Files {
		fmt.Fprintf(w, "%s\t%s\t%q\t%d\t%s\t%s\n", mark(x.Kept), x.FileID, x.Partition, x.Bytes, x.By, x.Why)
	}
	w.Flush()
	kept := 0
	for _, x := range p.Files {
		if x.Kept {
			kept++
		}
	}
	fmt.Fprintf(out, "%d of %d slices are read; %.1f %% of the slices and %.1f %% of the bytes are left out\n", kept, len(p.Files), 100*p.SkippedFiles, 100*p.SkippedBytes)
}
