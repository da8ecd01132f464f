package explorer

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path"
	"sort"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/filegroup"
	"hudiscope/core/groupreader"
	"hudiscope/core/logfile"
	"hudiscope/core/logscan"
	"hudiscope/core/query"
)

// flink opens the planner of Flink's reads.
func (s *Service) flink(ctx context.Context, t api.Table, options map[string]string, partitions []string, seen string) (*handle, *query.Flink, error) {
	h, err := s.ready(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	o, err := query.ParseFlink(options, h.table.Rules)
	if err != nil {
		return nil, nil, err
	}
	o.Partitions = partitions
	f, err := query.NewFlink(ctx, h.table, o, seen)
	return h, f, err
}

// Stream returns a page of the rows that Flink reads.
func (s *Service) Stream(ctx context.Context, req api.StreamRequest) (*api.Rows, error) {
	if req.Offset < 0 || req.Limit < 0 || req.Limit > maxRows {
		return nil, invalid("Rows come in pages of at most %d, from an offset that is not negative.", maxRows)
	}
	if req.Limit == 0 {
		req.Limit = defaultRows
	}
	h, f, err := s.flink(ctx, req.Table, req.Options, req.Partitions, req.Seen)
	if err != nil {
		return nil, err
	}
	c := h.cursor(fmt.Sprintf("stream %v %q %s", req.Batch, req.Seen, cursorKey(api.RowsRequest{Options: req.Options, Partitions: req.Partitions, Text: req.Text})), req.Text, s.opts)
	return c.page(ctx, h, func(ctx context.Context, _ func(int)) (*prepared, error) {
		rounds, err := flinkRounds(ctx, f, req.Batch)
		if err != nil {
			return nil, err
		}
		return &prepared{Plan: f.Plan(rounds, !req.Batch)}, nil
	}, req.Offset, req.Limit)
}

func flinkRounds(ctx context.Context, f *query.Flink, batch bool) ([]*query.Round, error) {
	if !batch {
		return f.Rounds(ctx)
	}
	r, err := f.Batch(ctx)
	if err != nil {
		return nil, err
	}
	return []*query.Round{r}, nil
}

// streamPlan plans the rows that Flink reads.
func (s *Service) streamPlan(ctx context.Context, t api.Table, options map[string]string, partitions []string, batch bool, seen string) (*prepared, error) {
	_, f, err := s.flink(ctx, t, options, partitions, seen)
	if err != nil {
		return nil, err
	}
	rounds, err := flinkRounds(ctx, f, batch)
	if err != nil {
		return nil, err
	}
	return &prepared{Plan: f.Plan(rounds, !batch)}, nil
}

// Splits plans the splits of a Flink read.
func (s *Service) Splits(ctx context.Context, req api.SplitsRequest) (*api.Splits, error) {
	h, f, err := s.flink(ctx, req.Table, req.Options, req.Partitions, req.Seen)
	if err != nil {
		return nil, err
	}
	if err := h.sameTable(ctx, req.State); err != nil {
		return nil, err
	}
	out := &api.Splits{Rounds: []api.SplitRound{}, Rules: h.table.Rules.Name(), ByRequestedTime: f.ByRequestedTime(), Routing: f.Routing()}
	h.progress(ctx, api.Progress{Phase: "Planning splits"})
	var rounds []*query.Round
	var m query.Monitor
	if req.State != nil {
		m = query.Monitor{IssuedInstant: req.State.IssuedInstant, IssuedOffset: req.State.IssuedOffset, Total: req.State.Total}
		for i := range req.State.Remaining {
			x, err := h.splitFrom(&req.State.Remaining[i])
			if err != nil {
				return nil, err
			}
			m.Remaining = append(m.Remaining, x)
		}
	}
	switch {
	case req.Batch:
		rounds, err = flinkRounds(ctx, f, true)
	case req.Poll:
		var r *query.Round
		if r, err = m.Poll(ctx, f); err == nil {
			rounds = []*query.Round{r}
		}
	default:
		rounds, err = f.Rounds(ctx)
	}
	if err != nil {
		return nil, err
	}
	for _, r := range rounds {
		out.Rounds = append(out.Rounds, h.roundOf(r))
		if !req.Poll {
			m.IssuedInstant, m.IssuedOffset, m.Total = r.EndInstant, r.Offset, len(r.Splits)
		}
	}
	out.State = api.StreamState{Table: h.identity(), IssuedInstant: m.IssuedInstant, IssuedOffset: m.IssuedOffset, Total: m.Total}
	for i := range m.Remaining {
		out.State.Remaining = append(out.State.Remaining, splitOf(&m.Remaining[i]))
	}
	return out, nil
}

func (h *handle) roundOf(r *query.Round) api.SplitRound {
	x := api.SplitRound{IssuedOffset: r.IssuedOffset, EndInstant: r.EndInstant, Offset: r.Offset, InputFormat: r.InputFormat, Range: r.Range, Instants: chosenOf(r.Instants), Splits: []api.Split{}}
	for i := range r.Splits {
		x.Splits = append(x.Splits, splitOf(&r.Splits[i]))
	}
	x.Findings = append(x.Findings, goneFindings(r.Gone)...)
	for _, n := range r.Notes {
		x.Findings = append(x.Findings, api.Finding{Level: "warning", Title: "Rows may be missing", Detail: n})
	}
	for _, n := range r.Remarks {
		x.Findings = append(x.Findings, api.Finding{Level: "warning", Title: "How these rows are read", Detail: n})
	}
	return x
}

func splitOf(s *query.Split) api.Split {
	out := api.Split{Num: s.Num, Class: s.Class, Partition: s.Partition, FileID: s.FileID, Base: s.Base, Logs: append([]string{}, s.Logs...), Length: s.Length,
		LatestCommit: s.LatestCommit, MergeType: s.MergeType, Iterator: s.Iterator, Why: s.Why, Task: s.Task, Changes: changesOf(s.Changes)}
	if r := s.Range; r != nil {
		out.Range = &api.SplitRange{Class: s.RangeClass, Start: r.Start, End: r.End}
		for i := range r.Instants {
			out.Range.Instants = append(out.Range.Instants, i)
		}
		sort.Strings(out.Range.Instants)
		if n := len(out.Range.Instants); n > 0 {
			out.Range.Start, out.Range.End = out.Range.Instants[0], out.Range.Instants[n-1]
		}
	}
	return out
}

func changesOf(list []query.Change) []api.PlanChange {
	var out []api.PlanChange
	for _, c := range list {
		out = append(out, api.PlanChange{Instant: c.Instant, Case: string(c.Case), Files: c.Files, Before: filesOf(c.Before), After: filesOf(c.After), Why: c.Why})
	}
	return out
}

// splitFrom is a split of a saved state. What it names must be files that such a split can have.
func (h *handle) splitFrom(s *api.Split) (query.Split, error) {
	out := query.Split{Num: s.Num, Class: s.Class, Partition: s.Partition, FileID: s.FileID, Base: s.Base, Logs: s.Logs, Length: s.Length,
		LatestCommit: s.LatestCommit, MergeType: s.MergeType, Iterator: s.Iterator, Why: s.Why, Task: s.Task}
	switch s.Class {
	case "MergeOnReadInputSplit", "CdcInputSplit":
	default:
		return out, invalid("A streaming read has no splits of class %q.", s.Class)
	}
	if err := h.splitFiles(s.Base, s.Logs); err != nil {
		return out, err
	}
	if r := s.Range; r != nil {
		out.RangeClass = r.Class
		out.Range = &logscan.InstantRange{Kind: logscan.ClosedClosed, Start: r.Start, End: r.End}
		switch {
		case r.Class == "OpenCloseRange":
			out.Range.Kind = logscan.OpenClosed
		case len(r.Instants) > 0:
			out.Range = &logscan.InstantRange{Kind: logscan.ExactMatch, Instants: map[string]bool{}}
			for _, i := range r.Instants {
				out.Range.Instants[i] = true
			}
		}
	}
	for i := range s.Changes {
		c := &s.Changes[i]
		x := query.Change{Instant: c.Instant, Case: query.ChangeCase(c.Case), Files: c.Files, Why: c.Why}
		for _, f := range c.Files {
			if err := h.splitFile(f); err != nil {
				return out, err
			}
		}
		var err error
		if x.Before, err = h.sliceFrom(s, c.Before); err != nil {
			return out, err
		}
		if x.After, err = h.sliceFrom(s, c.After); err != nil {
			return out, err
		}
		ok := false
		switch x.Case {
		case query.BaseFileInsert:
			ok = len(c.Files) == 1
		case query.BaseFileDelete, query.ReplaceCommit:
			ok = x.Before != nil
		case query.LogFile:
			if ok = len(c.Files) == 1; x.Before == nil {
				x.Before = &groupreader.Slice{Partition: s.Partition, FileID: s.FileID}
			}
		case query.AsIs:
			ok = len(c.Files) > 0
		}
		if !ok {
			return out, invalid("A change of case %q with %d files is none that a plan makes.", c.Case, len(c.Files))
		}
		out.Changes = append(out.Changes, x)
	}
	return out, nil
}

// sliceFrom is the slice of some files, nil for none.
func (h *handle) sliceFrom(s *api.Split, files []string) (*groupreader.Slice, error) {
	if len(files) == 0 {
		return nil, nil
	}
	out := &groupreader.Slice{Partition: s.Partition, FileID: s.FileID}
	for _, f := range files {
		if err := h.splitFile(f); err != nil {
			return nil, err
		}
		if _, isLog := logfile.ParseName(path.Base(f)); isLog {
			out.Logs = append(out.Logs, f)
			continue
		}
		out.Base = f
		if b, ok := filegroup.ParseBaseName(path.Base(f)); ok {
			out.BaseInstant = b.Instant
		}
	}
	return out, nil
}

func (h *handle) splitFiles(base string, logs []string) error {
	if base != "" {
		if err := h.splitFile(base); err != nil {
			return err
		}
	}
	for _, f := range logs {
		if err := h.splitFile(f); err != nil {
			return err
		}
	}
	return nil
}

// splitFile refuses names that no data file of the table has: a state comes from outside.
func (h *handle) splitFile(f string) error {
	name, root := path.Base(f), h.table.Config.Root
	_, isLog := logfile.ParseName(name)
	_, isBase := filegroup.ParseBaseName(name)
	if path.Clean(f) != f || path.IsAbs(f) || strings.HasPrefix(f, "../") || root != "" && !strings.HasPrefix(f, root+"/") || !isLog && !isBase {
		return invalid("%q is no data file of the table.", f)
	}
	return nil
}

// identity names the table in saved states: its name, and a hash of what a table keeps all its life. No location is
// in it, as the same table may be opened by several.
func (h *handle) identity() string {
	c := h.table.Config
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q", c.Database(), c.TableName(), c.Type(), c.RecordKeyFields(), c.PartitionFields()))
	return fmt.Sprintf("%s/%x", c.TableName(), sum[:8])
}

// sameState refuses the state of another table.
func (h *handle) sameState(table string) error {
	const try = "Give the state that this table's stream was left in, or none to begin anew."
	name, _, _ := strings.Cut(table, "/")
	switch {
	case table == h.identity():
		return nil
	case table == "":
		return &api.Fault{Kind: "invalid request", Offset: -1, Message: "The state does not say which table it is of: it is none that a stream was left in.", Try: try}
	case name == h.table.Config.TableName():
		return &api.Fault{Kind: "invalid request", Offset: -1, Message: fmt.Sprintf("The state is of another table of the name %s: its database, type, record key or partition fields are not those of this one.", name), Try: try}
	}
	return &api.Fault{Kind: "invalid request", Offset: -1, Message: fmt.Sprintf("The state is of the table %s, and this one is %s.", name, h.table.Config.TableName()), Try: try}
}

// sameTable refuses the state of a monitor that is not of this table.
func (h *handle) sameTable(ctx context.Context, s *api.StreamState) error {
	if s == nil {
		return nil
	}
	if err := h.sameState(s.Table); err != nil {
		return err
	}
	if err := query.CheckBound("issued_instant", s.IssuedInstant); err != nil {
		return err
	}
	if err := query.CheckBound("issued_offset", s.IssuedOffset); err != nil {
		return err
	}
	tl, err := h.table.Timeline(ctx)
	if err != nil {
		return err
	}
	last := ""
	for i := range tl.Instants {
		last = max(last, tl.Instants[i].Requested)
	}
	if s.IssuedInstant > last {
		return &api.Fault{Kind: "invalid request", Offset: -1, Message: fmt.Sprintf("The state has read up to %s, and the newest instant of the table is %s: it is of another table.", s.IssuedInstant, last), Try: "Give the state that this table's stream was left in, or none to begin anew."}
	}
	if s.IssuedInstant != "" && !tl.IsCompleted(s.IssuedInstant) {
		return &api.Fault{Kind: "invalid request", Offset: -1, Message: fmt.Sprintf("The state has read up to %s, which is no completed instant of the table: it is of another table, or a restore has undone that commit.", s.IssuedInstant), Try: "Give the state that this table's stream was left in, or none to begin anew."}
	}
	return nil
}

// Limits of one request for the readers of a stream.
const (
	maxSteps        = 1000
	maxOperatorRows = 1000
	maxReaders      = 1024
	maxWaiting      = 100000
)

// Operator runs Flink's StreamReadOperator over splits, step by step. Nothing is kept between requests.
func (s *Service) Operator(ctx context.Context, req api.OperatorRequest) (*api.OperatorAnswer, error) {
	switch {
	case req.Steps < 0 || req.Steps > maxSteps:
		return nil, invalid("Readers run 0 to %d steps at once.", maxSteps)
	case req.MiniBatch < 0 || req.MiniBatch > query.MiniBatch:
		return nil, invalid("A mini batch has 1 to %d records.", query.MiniBatch)
	case req.Rows < 0 || req.Rows > maxOperatorRows:
		return nil, invalid("At most %d rows are answered.", maxOperatorRows)
	}
	if req.MiniBatch == 0 {
		req.MiniBatch = query.MiniBatch
	}
	if req.Rows == 0 {
		req.Rows = defaultRows
	}
	h, f, err := s.flink(ctx, req.Table, req.Options, req.Partitions, req.Seen)
	if err != nil {
		return nil, err
	}
	readers := max(f.Tasks(), 1)
	if readers > maxReaders {
		return nil, invalid("read.tasks is %d; at most %d readers are simulated.", readers, maxReaders)
	}
	if req.Reader != nil && (*req.Reader < 0 || *req.Reader >= readers) {
		return nil, invalid("There is no reader %d: read.tasks is %d.", *req.Reader, readers)
	}
	a := &api.OperatorAnswer{Events: []api.OperatorEvent{}, Rows: []api.OperatorRow{}, Columns: columnsOf(f.Type(), func(string) bool { return true }),
		MiniBatch: req.MiniBatch, Readers: readers, Rules: h.table.Rules.Name(), Routing: f.Routing()}
	step := 0
	ops := make([]*query.Operator, readers)
	emitted, finished := make([]int64, readers), make([]int64, readers)
	defer func() {
		for _, o := range ops {
			if o != nil {
				o.Close()
			}
		}
	}()
	var saved []api.ReaderState
	if req.State != nil {
		saved = req.State.Readers
		if err := h.sameState(req.State.Table); err != nil && len(saved) > 0 {
			return nil, err
		}
	}
	a.State.Table = h.identity()
	if len(saved) > 0 && len(saved) != readers {
		return nil, invalid("The state is of %d readers and read.tasks is %d: splits that wait can't change their reader.", len(saved), readers)
	}
	queued := len(req.Add)
	for i := range ops {
		var state []query.QueuedSplit
		if len(saved) > 0 {
			r := &saved[i]
			if r.Emitted < 0 || r.Finished < 0 {
				return nil, invalid("Reader %d has counted to less than nothing.", i)
			}
			emitted[i], finished[i] = r.Emitted, r.Finished
			if queued += len(r.Queue); queued > maxWaiting {
				return nil, invalid("At most %d splits can wait.", maxWaiting)
			}
			for j := range r.Queue {
				x, err := h.splitFrom(&r.Queue[j].Split)
				if err != nil {
					return nil, err
				}
				if r.Queue[j].Consumed < 0 {
					return nil, invalid("Split %d has consumed less than nothing.", x.Num)
				}
				state = append(state, query.QueuedSplit{Split: x, Consumed: r.Queue[j].Consumed})
			}
		}
		if len(state) > 0 {
			a.Events = append(a.Events, api.OperatorEvent{Reader: i, Kind: "restored", Split: state[0].Split.Num, Records: state[0].Consumed,
				Detail: fmt.Sprintf("The state has %d splits; %d records of the first were handed on before.", len(state), state[0].Consumed)})
		}
		ops[i] = query.NewOperator(f, s.opts.read(), state, func(e query.OperatorEvent) {
			x := api.OperatorEvent{Step: step, Reader: i, Kind: e.Kind, Split: -1, Records: e.Records, Detail: e.Detail}
			if e.Split != nil {
				x.Split = e.Split.Num
			}
			switch e.Kind {
			case "finished":
				finished[i]++
			case "emitted":
				emitted[i] += e.Records
				a.Emitted += e.Records
			}
			a.Events = append(a.Events, x)
		})
		ops[i].MiniBatch = req.MiniBatch
	}
	for i := range req.Add {
		x, err := h.splitFrom(&req.Add[i])
		if err != nil {
			return nil, err
		}
		ops[f.Reader(&x, readers)].Add(x)
	}
	for step = 1; step <= req.Steps; step++ {
		idle := true
		for i, o := range ops {
			if req.Reader != nil && *req.Reader != i || !o.Running() {
				continue
			}
			idle = false
			num := o.Queue[0].Split.Num
			err := o.Run(ctx, func(r query.Row) error {
				if len(a.Rows) < req.Rows {
					a.Rows = append(a.Rows, api.OperatorRow{Reader: i, Step: step, Split: num, Cells: splitCells(appendCells(nil, r, req.Text, readColumns(r)), 0)})
				}
				return ctx.Err()
			})
			if err != nil {
				return nil, err
			}
		}
		if idle {
			break
		}
		h.progress(ctx, api.Progress{Phase: "Running the readers", Done: int64(step), Total: int64(req.Steps), Unit: "steps"})
	}
	step = min(step, req.Steps)
	for i, o := range ops {
		r := api.ReaderState{Status: "IDLE", Queue: []api.QueuedSplit{}, Emitted: emitted[i], Finished: finished[i]}
		if o.Running() {
			r.Status = "RUNNING"
		}
		for _, q := range o.Snapshot() {
			r.Queue = append(r.Queue, api.QueuedSplit{Split: splitOf(&q.Split), Consumed: q.Consumed})
		}
		e := api.OperatorEvent{Step: step, Reader: i, Kind: "checkpoint", Split: -1, Detail: "The queue is empty: there is nothing to save."}
		if n := len(r.Queue); n > 0 {
			e.Split, e.Records = r.Queue[0].Split.Num, r.Queue[0].Consumed
			e.Detail = fmt.Sprintf("%d splits are saved; %d records of the first are handed on.", n, e.Records)
		}
		a.Events = append(a.Events, e)
		a.State.Readers = append(a.State.Readers, r)
	}
	if int64(len(a.Rows)) < a.Emitted {
		a.Findings = append(a.Findings, api.Finding{Level: "note", Title: "Not all rows are shown", Detail: fmt.Sprintf("%d rows were handed on, the first %d are shown.", a.Emitted, len(a.Rows))})
	}
	return a, nil
}

// readColumns are the columns of a row that were read, by their positions.
func readColumns(row query.Row) []int {
	var out []int
	for i, v := range row.Batch.Columns {
		if v != nil {
			out = append(out, i)
		}
	}
	return out
}
