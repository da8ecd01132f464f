package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"hudiscope/core/api"
)

// runStream prints the rows of a Flink read, with their kinds.
func runStream(ctx context.Context, e *environment, args []string) error {
	t, err := e.table(args, 1)
	if err != nil {
		return err
	}
	if e.flags.steps.given() {
		return e.runSteps(ctx, t)
	}
	return e.printRows(ctx, func(offset int64, limit int, text bool) (*api.Rows, error) {
		return e.svc.Stream(ctx, api.StreamRequest{Table: t, Options: e.flags.options, Batch: e.flags.batch, Seen: e.flags.seen, Offset: offset, Limit: limit, Text: text})
	})
}

// splitJSON is a split in the shape of Hudi's own fields.
type splitJSON struct {
	Class        string         `json:"class"`
	Num          int            `json:"splitNum"`
	FileID       *string        `json:"fileId,omitempty"`
	Partition    *string        `json:"partitionPath,omitempty"`
	Base         *string        `json:"basePath,omitempty"`
	Logs         *[]string      `json:"logPaths,omitempty"`
	LatestCommit string         `json:"latestCommit,omitempty"`
	MergeType    string         `json:"mergeType,omitempty"`
	Range        map[string]any `json:"instantRange,omitempty"`
	Path         string         `json:"path,omitempty"`
	Start        *int64         `json:"start,omitempty"`
	Length       *int64         `json:"length,omitempty"`
	String       string         `json:"toString,omitempty"`
	Changes      []changeJSON   `json:"changes,omitempty"`
}

// changeJSON is a HoodieCDCFileSplit.
type changeJSON struct {
	Instant string   `json:"instant"`
	Case    string   `json:"cdcInferCase"`
	Files   []string `json:"cdcFiles,omitempty"`
	Before  []string `json:"beforeFileSlice,omitempty"`
	After   []string `json:"afterFileSlice,omitempty"`
}

type roundJSON struct {
	IssuedOffset *string     `json:"issuedOffset"`
	EndInstant   *string     `json:"endInstant"`
	Offset       *string     `json:"offset"`
	InputFormat  string      `json:"inputFormat,omitempty"`
	Splits       []splitJSON `json:"splits"`
}

// runSplits prints the splits of a Flink read.
func runSplits(ctx context.Context, e *environment, args []string) error {
	t, err := e.table(args, 1)
	if err != nil {
		return err
	}
	req := api.SplitsRequest{Table: t, Options: e.flags.options, Batch: e.flags.batch, Seen: e.flags.seen, Poll: e.flags.steps.poll}
	if e.flags.steps.state != "" && !req.Poll {
		return usageError("--state belongs to --poll: without it a table is polled until nothing is new")
	}
	state, err := e.flags.steps.load()
	if err != nil {
		return err
	}
	req.State = state.Monitor
	s, err := e.svc.Splits(ctx, req)
	if err != nil {
		return err
	}
	if req.Poll {
		state.found(s)
		if err := e.flags.steps.save(state); err != nil {
			return err
		}
	}
	for _, r := range s.Rounds {
		for _, f := range r.Findings {
			fmt.Fprintf(e.stderr, "hudiscope: %s: %s: %s\n", f.Level, f.Title, f.Detail)
		}
	}
	if e.flags.json {
		return e.printJSON(map[string]any{"rounds": roundsJSON(s)})
	}
	out := bufio.NewWriter(e.stdout)
	for i, r := range s.Rounds {
		fmt.Fprintf(out, "round %d: %s\n", i, r.Range)
		if r.EndInstant != "" {
			fmt.Fprintf(out, "  issued offset %s, end instant %s, offset %s\n", dash(r.IssuedOffset), r.EndInstant, dash(r.Offset))
		}
		for _, x := range r.Splits {
			fmt.Fprintf(out, "  split %d: %s: %s\n", x.Num, x.Iterator, x.Why)
			if x.Task >= 0 {
				fmt.Fprintf(out, "    reader %d\n", x.Task)
			}
			if x.FileID != "" {
				fmt.Fprintf(out, "    partition %q, file group %s, up to %s\n", x.Partition, x.FileID, dash(x.LatestCommit))
			}
			if x.Base != "" {
				fmt.Fprintf(out, "    base %s\n", x.Base)
			}
			for _, l := range x.Logs {
				fmt.Fprintf(out, "    log  %s\n", l)
			}
			for _, c := range x.Changes {
				fmt.Fprintf(out, "    %s %s: %s\n", c.Instant, c.Case, strings.Join(c.Files, ", "))
				if len(c.Before) > 0 {
					fmt.Fprintf(out, "      before: %s\n", strings.Join(c.Before, ", "))
				}
				if len(c.After) > 0 {
					fmt.Fprintf(out, "      after: %s\n", strings.Join(c.After, ", "))
				}
			}
			if g := x.Range; g != nil {
				what := dash(g.Start) + " to " + dash(g.End)
				if len(g.Instants) > 0 {
					what = strings.Join(g.Instants, ", ")
				}
				fmt.Fprintf(out, "    only %s (%s)\n", what, g.Class)
			}
		}
	}
	if len(s.Rounds) == 0 {
		fmt.Fprintln(out, "nothing is to be read")
	}
	return out.Flush()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func roundsJSON(s *api.Splits) []roundJSON {
	opt := func(v string) *string {
		if v == "" {
			return nil
		}
		return &v
	}
	out := []roundJSON{}
	for _, r := range s.Rounds {
		x := roundJSON{IssuedOffset: opt(r.IssuedOffset), EndInstant: opt(r.EndInstant), Offset: opt(r.Offset), InputFormat: r.InputFormat, Splits: []splitJSON{}}
		for i := range r.Splits {
			x.Splits = append(x.Splits, oneSplit(&r.Splits[i], s.ByRequestedTime))
		}
		out = append(out, x)
	}
	return out
}

func oneSplit(s *api.Split, byRequested bool) splitJSON {
	switch s.Class {
	case "GenericInputSplit":
		return splitJSON{Class: s.Class, Num: s.Num, String: "GenericSplit (0/1)"}
	case "FileInputSplit":
		start := int64(0)
		return splitJSON{Class: s.Class, Num: s.Num, Path: s.Base, Start: &start, Length: &s.Length}
	}
	if s.Class == "CdcInputSplit" {
		changes := []changeJSON{}
		for _, c := range s.Changes {
			changes = append(changes, changeJSON{c.Instant, c.Case, c.Files, c.Before, c.After})
		}
		return splitJSON{Class: s.Class, Num: s.Num, FileID: &s.FileID, Partition: &s.Partition, Changes: changes}
	}
	logs := append([]string{}, s.Logs...)
	out := splitJSON{Class: s.Class, Num: s.Num, FileID: &s.FileID, Logs: &logs, LatestCommit: s.LatestCommit, MergeType: s.MergeType}
	if s.Base != "" {
		out.Base = &s.Base
	}
	start, end := "startInstantOpt", "endInstantOpt"
	if byRequested {
		start, end = "startInstant", "endInstant"
	} else {
		out.Partition = &s.Partition
	}
	if r := s.Range; r != nil {
		out.Range = map[string]any{"class": r.Class}
		if len(r.Instants) > 0 {
			out.Range["instants"] = r.Instants
		}
		if r.Start != "" {
			out.Range[start] = r.Start
		}
		if r.End != "" {
			out.Range[end] = r.End
		}
	}
	return out
}
