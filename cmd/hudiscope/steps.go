package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"hudiscope/core/api"
)

// stepFlags run Flink's stream read step by step, over a state that is kept in a file.
type stepFlags struct {
	poll             bool
	state            string
	steps, miniBatch int
}

func (f *stepFlags) register(name string, fs *flag.FlagSet) {
	switch name {
	case "splits":
		fs.BoolVar(&f.poll, "poll", false, "look at the table once, on from the state; without --state from the beginning")
		fs.StringVar(&f.state, "state", "", "--poll: take the state from this `file` and save it there")
	case "stream":
		fs.IntVar(&f.steps, "steps", 0, "look at the table once and let every reader read this many mini batches (read.tasks readers)")
		fs.IntVar(&f.miniBatch, "mini-batch", 0, "--steps: records of a mini batch (default Hudi's 2048)")
		fs.StringVar(&f.state, "state", "", "--steps: take the state of monitor and readers from this `file` and save it there")
	}
}

func (f *stepFlags) given() bool { return f.steps != 0 || f.state != "" || f.miniBatch != 0 }

// streamState is what the file holds: the state of the monitor, splits that it found and no reader has yet,
// and the state of the readers.
type streamState struct {
	Monitor *api.StreamState   `json:"monitor,omitempty"`
	Waiting []api.Split        `json:"waiting,omitempty"`
	Readers *api.OperatorState `json:"readers,omitempty"`
}

// found takes what a poll gave.
func (s *streamState) found(a *api.Splits) {
	s.Monitor = &a.State
	for _, r := range a.Rounds {
		s.Waiting = append(s.Waiting, r.Splits...)
	}
}

// maxState bounds a state file, in bytes.
const maxState = 256 << 20

// load reads the state file; one that is not there yet is the state of a stream that begins.
func (f *stepFlags) load() (*streamState, error) {
	s := &streamState{}
	if f.state == "" {
		return s, nil
	}
	info, err := os.Stat(f.state)
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Size() > maxState {
		return nil, fmt.Errorf("%s has %d bytes; a state has at most %d", f.state, info.Size(), maxState)
	}
	b, err := os.ReadFile(f.state)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, &api.Fault{Kind: "invalid request", File: f.state, Offset: -1, Message: f.state + " is no state of a stream: " + err.Error() + ".", Try: "Name another file, or remove this one to begin anew."}
	}
	if s.Monitor == nil {
		return nil, &api.Fault{Kind: "invalid request", File: f.state, Offset: -1, Message: f.state + " is no state of a stream: it has no \"monitor\".", Try: "Name another file, or remove this one to begin anew."}
	}
	return s, nil
}

// save writes the state file (writeFile).
func (f *stepFlags) save(s *streamState) error {
	if f.state == "" {
		return nil
	}
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(f.state, func(w io.Writer) error { _, err := w.Write(append(b, '\n')); return err })
}

// runSteps looks at the table once and lets the readers of its stream run some steps.
func (e *environment) runSteps(ctx context.Context, t api.Table) error {
	f := &e.flags.steps
	switch {
	case e.flags.batch:
		return usageError("--steps runs a stream; a batch read has none")
	case f.steps == 0 && f.state != "":
		return usageError("--state keeps the state of a stream that is read step by step: say with --steps N how many mini batches every reader reads")
	case f.steps == 0 && f.miniBatch != 0:
		return usageError("--mini-batch is for a stream that is read step by step: say with --steps N how many mini batches every reader reads")
	case f.steps <= 0:
		return usageError("--steps: want how many mini batches every reader reads, 1 or more")
	}
	state, err := f.load()
	if err != nil {
		return err
	}
	found, err := e.svc.Splits(ctx, api.SplitsRequest{Table: t, Options: e.flags.options, Seen: e.flags.seen, Poll: true, State: state.Monitor})
	if err != nil {
		return err
	}
	state.found(found)
	a, err := e.svc.Operator(ctx, api.OperatorRequest{Table: t, Options: e.flags.options, Seen: e.flags.seen, State: state.Readers, Add: state.Waiting,
		Steps: f.steps, MiniBatch: f.miniBatch, Rows: 1000, Text: e.flags.format == "" && !e.flags.json || e.flags.format == "table"})
	if err != nil {
		return err
	}
	state.Readers, state.Waiting = &a.State, nil
	if err := f.save(state); err != nil {
		return err
	}
	if e.flags.json {
		return e.printJSON(a)
	}
	for _, x := range a.Findings {
		fmt.Fprintf(e.stderr, "hudiscope: %s: %s: %s\n", x.Level, x.Title, x.Detail)
	}
	for _, x := range a.Events {
		split := ""
		if x.Split >= 0 {
			split = fmt.Sprintf(" split %d", x.Split)
		}
		fmt.Fprintf(e.stderr, "step %d reader %d: %s%s: %s\n", x.Step, x.Reader, x.Kind, split, x.Detail)
	}
	return e.printRows(ctx, func(offset int64, limit int, _ bool) (*api.Rows, error) {
		page := &api.Rows{Columns: a.Columns, Offset: offset, Total: int64(len(a.Rows)), TotalKnown: true}
		for i := offset; i < min(offset+int64(limit), page.Total); i++ {
			page.Rows = append(page.Rows, a.Rows[i].Cells)
		}
		return page, nil
	})
}
