package main

import (
	"bufio"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/handoff"
)

// runHandoff prints code that reads the rows of a query with other engines.
func runHandoff(ctx context.Context, e *environment, args []string) error {
	t, err := e.table(args, 1)
	if err != nil {
		return err
	}
	if !strings.Contains(t.Location, "://") {
		// An engine runs in another directory.
		if t.Location, err = filepath.Abs(t.Location); err != nil {
			return err
		}
	}
	engine := ""
	if e.flags.engine != "" {
		for _, name := range handoff.Engines() {
			if simple(name) == simple(e.flags.engine) {
				engine = name
			}
		}
		if engine == "" {
			return usageError(fmt.Sprintf("--engine %q: want one of %s", e.flags.engine, strings.Join(handoff.Engines(), ", ")))
		}
	}
	a, err := e.svc.Handoff(ctx, api.HandoffRequest{Table: t, Options: e.flags.options, Partitions: e.flags.partitions, FileID: e.flags.fileID, Condition: e.flags.condition.condition(),
		Flink: e.flags.flink, Batch: e.flags.batch, Seen: e.flags.seen, Limit: int(min(e.flags.limit, int64(maxInt)))})
	if err != nil {
		return err
	}
	if engine != "" {
		kept := a.Snippets[:0]
		for _, s := range a.Snippets {
			if s.Engine == engine {
				kept = append(kept, s)
			}
		}
		a.Snippets = kept
	}
	if e.flags.json {
		return e.printJSON(a)
	}
	out := bufio.NewWriter(e.stdout)
	if engine != "" && len(a.Snippets) == 1 {
		// Code alone, so that it can be piped into the engine.
		s := a.Snippets[0]
		if s.Refused != "" {
			return fmt.Errorf("%s: %s", s.Engine, s.Refused)
		}
		out.WriteString(s.Code)
		for _, r := range append(notes(a.Note), s.Remarks...) {
			fmt.Fprintf(e.stderr, "hudiscope: %s\n", r)
		}
		return out.Flush()
	}
	for _, n := range notes(a.Note) {
		fmt.Fprintf(out, "%s\n\n", n)
	}
	for i, s := range a.Snippets {
		if i > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintf(out, "== %s\n", s.Engine)
		if s.Refused != "" {
			fmt.Fprintf(out, "not possible: %s\n", s.Refused)
			continue
		}
		fmt.Fprintf(out, "for %s\n", s.Versions)
		for _, r := range s.Remarks {
			fmt.Fprintf(out, "note: %s\n", r)
		}
		fmt.Fprintf(out, "\n%s", s.Code)
	}
	return out.Flush()
}

func notes(note string) []string {
	if note == "" {
		return nil
	}
	return []string{note}
}

// simple is an engine's name without case and punctuation: "sparksql", "hudirs".
func simple(engine string) string {
	return strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(engine))
}
