package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"hudiscope/core/api"
)

// runAnatomy prints the parts of a base file as a tree.
func runAnatomy(ctx context.Context, e *environment, args []string) error {
	if len(args) != 2 {
		return usageError("which TABLE, and which FILE of it?")
	}
	a, err := e.svc.Anatomy(ctx, api.AnatomyRequest{Table: api.Table{Location: args[0], Hudi: e.flags.hudi}, File: args[1]})
	if err != nil {
		return err
	}
	for _, f := range a.Findings {
		fmt.Fprintf(e.stderr, "hudiscope: %s: %s: %s (byte %d)\n", f.Level, f.Title, f.Detail, f.Offset)
	}
	if e.flags.json {
		return e.printJSON(a)
	}
	kind := a.Format
	if kind == "" {
		kind = "no base file"
	}
	fmt.Fprintf(e.stdout, "%s: %s, %d bytes, of which %d were read\n", a.File, kind, a.Size, a.BytesRead)
	fmt.Fprintln(e.stdout, factsLine(a.Facts))
	w := columns(e.stdout)
	fmt.Fprintln(w, "START\tBYTES\tPART\t")
	printParts(w, a.Parts, "")
	if err := w.Flush(); err != nil {
		return err
	}
	for _, x := range a.Entries {
		fmt.Fprintf(e.stdout, "%s = %s", x.Key, shorten(strings.Join(strings.Fields(x.Value), " "), 100))
		if x.What != "" {
			fmt.Fprintf(e.stdout, "  (%s)", x.What)
		}
		fmt.Fprintln(e.stdout)
	}
	return nil
}

func printParts(w io.Writer, parts []api.AnatomyPart, indent string) {
	for i := range parts {
		p := &parts[i]
		fmt.Fprintf(w, "%d\t%d\t%s%s\t%s\n", p.Start, p.End-p.Start, indent, p.Name, factsLine(p.Facts))
		printParts(w, p.Parts, indent+"  ")
	}
}

func factsLine(facts []api.Fact) string {
	var b strings.Builder
	for i, f := range facts {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f.Name + " " + shorten(f.Value, 60))
	}
	return b.String()
}
