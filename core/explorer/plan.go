package explorer

import (
	"context"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/groupreader"
	"hudiscope/core/logscan"
	"hudiscope/core/query"
	"hudiscope/core/storage"
)

// Plan says what a Spark read will do. Only the timeline, commit metadata and listings are read.
func (s *Service) Plan(ctx context.Context, req api.PlanRequest) (*api.Plan, error) {
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	q, err := query.Parse(req.Options)
	if err != nil {
		return nil, err
	}
	settings, err := query.ParseScan(req.Spark)
	if err != nil {
		return nil, invalid("%s.", err)
	}
	if req.Limit < 0 {
		return nil, invalid("A limit is not negative.")
	}
	q.Read.Partitions, q.Read.FileID = req.Partitions, req.FileID
	h.progress(ctx, api.Progress{Phase: "Planning the read"})
	p, err := query.Prepare(ctx, h.table, q, func(dirs int) {
		h.progress(ctx, api.Progress{Phase: "Listing partitions", Done: int64(dirs), Unit: "directories"})
	})
	if err != nil {
		return nil, err
	}
	sizes, err := h.sizes(ctx, p.Parts)
	if err != nil {
		return nil, err
	}
	out := &api.Plan{Relation: relationOf(&p.Relation), Columns: columnsOf(p.Type, p.Wanted), SchemaFrom: p.From, AsOf: p.AsOf, Rules: h.table.Rules.Name(),
		Range: p.Range, Filter: p.Filter, Instants: chosenOf(p.Instants), Parts: []api.PlanPart{}}
	for i := range p.Parts {
		sl := &p.Parts[i].Slice
		part := api.PlanPart{Partition: sl.Partition, FileID: sl.FileID, BaseInstant: sl.BaseInstant, Base: sl.Base, Logs: sl.Logs, How: p.Parts[i].How}
		for _, f := range filesOf(sl) {
			part.Bytes += max(sizes[f], 0)
		}
		if i < len(p.Changes) {
			for _, c := range p.Changes[i].Changes {
				part.Changes = append(part.Changes, api.PlanChange{Instant: c.Instant, Case: string(c.Case), Files: c.Files, Before: filesOf(c.Before), After: filesOf(c.After), Why: c.Why})
			}
		}
		out.Parts = append(out.Parts, part)
	}
	rules := &h.table.Rules
	out.Tasks = tasksOf(p, sizes, settings, req.Limit, rules.ByRequestedTime && !rules.HollowCommits && strings.HasPrefix(p.Relation.Name(), "MergeOnRead"))
	out.Findings = findingsOf(p)
	return out, nil
}

// filesOf are the files of a slice, nil for none.
func filesOf(s *groupreader.Slice) []string {
	if s == nil {
		return nil
	}
	var out []string
	if s.Base != "" {
		out = append(out, s.Base)
	}
	return append(out, s.Logs...)
}

// sizes lists the directories of the parts' files for their sizes.
func (h *handle) sizes(ctx context.Context, parts []query.Part) (map[string]int64, error) {
	dirs := map[string]bool{}
	for i := range parts {
		for _, f := range filesOf(&parts[i].Slice) {
			dirs[f[:max(strings.LastIndexByte(f, '/'), 0)]] = true
		}
	}
	out := map[string]int64{}
	for d := range dirs {
		l, err := h.src.List(ctx, d)
		if storage.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range l.Entries {
			name := e.Name
			if d != "" {
				name = d + "/" + name
			}
			out[name] = e.Size
		}
	}
	return out, nil
}

func relationOf(r *query.Relation) api.QueryRelation {
	in := &r.Inputs
	out := api.QueryRelation{Taken: r.Taken, Name: r.Name(), Inputs: []api.Fact{
		{Name: "table type", Value: in.TableType}, {Name: "query type", Value: in.QueryType}, {Name: "format", Value: map[bool]string{false: "latest_state", true: "cdc"}[in.CDC]},
		{Name: "bootstrapped", Value: strconv.FormatBool(in.Bootstrapped)}, {Name: "has a completed commit", Value: strconv.FormatBool(in.Commits)},
		{Name: "table logs changes", Value: strconv.FormatBool(in.CDCEnabled)}, {Name: "table version", Value: strconv.Itoa(in.Version)}}}
	for _, x := range r.Rules {
		name := x.Relation
		if name == "" {
			name = "error"
		}
		out.Rules = append(out.Rules, api.RelationRule{When: x.When, Relation: name, Reads: x.Reads, Holds: x.Holds})
	}
	return out
}

func chosenOf(list []query.Chosen) []api.ChosenInstant {
	var out []api.ChosenInstant
	for _, c := range list {
		out = append(out, api.ChosenInstant(c))
	}
	return out
}

func findingsOf(p *query.Plan) []api.Finding {
	var out []api.Finding
	for _, n := range p.Remarks {
		out = append(out, api.Finding{Level: "warning", Title: "How these rows are read", Detail: n})
	}
	for _, n := range p.Notes {
		out = append(out, api.Finding{Level: "warning", Title: "Rows may be missing", Detail: n})
	}
	return out
}

// tasksOf packs the plan's files as Spark does: base files alone are split, slices with logs are not.
// The merge-on-read relations up to 0.13 make one task per slice.
func tasksOf(p *query.Plan, sizes map[string]int64, s query.ScanSettings, limit int, perSlice bool) api.Tasks {
	var files []query.ScanFile
	for i := range p.Parts {
		sl := &p.Parts[i].Slice
		f := query.ScanFile{Path: sl.Base, Splittable: len(sl.Logs) == 0 && strings.HasSuffix(sl.Base, ".parquet"), Part: i}
		for _, name := range filesOf(sl) {
			f.Length += max(sizes[name], 0)
		}
		if f.Path == "" && len(sl.Logs) > 0 {
			f.Path = sl.Logs[0]
		}
		files = append(files, f)
	}
	out := api.Tasks{MaxSplitBytes: s.MaxSplitBytes(files), Tasks: []api.Task{}}
	var total int64
	for _, f := range files {
		total += f.Length + s.OpenCost
	}
	out.Sum = fmt.Sprintf("min(%d, max(%d, %d / %d))", s.MaxPartitionBytes, s.OpenCost, total, s.Parallelism)
	tasks := s.Pack(files)
	if perSlice {
		tasks = nil
		out.Sum = "one task per file slice"
		for _, f := range files {
			tasks = append(tasks, query.Task{{ScanFile: f, Bytes: f.Length}})
		}
	}
	for _, t := range tasks {
		task := api.Task{}
		for _, x := range t {
			task.Bytes += x.Bytes
			task.Pieces = append(task.Pieces, api.Piece{Part: x.Part, File: x.Path, Start: x.Start, Length: x.Bytes})
		}
		out.Tasks = append(out.Tasks, task)
	}
	if limit > 0 {
		for _, r := range s.Take(limit, len(out.Tasks), func(int) int { return 0 }) {
			out.Rounds = append(out.Rounds, api.TaskRound{First: r.First, Tasks: r.Tasks})
		}
	}
	return out
}

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
	return c.page(ctx, h, func(ctx context.Context, _ func(int)) (*query.Plan, error) {
		rounds, err := flinkRounds(ctx, f, req.Batch)
		if err != nil {
			return nil, err
		}
		return f.Plan(rounds, !req.Batch), nil
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

// Splits plans the splits of a Flink read.
func (s *Service) Splits(ctx context.Context, req api.SplitsRequest) (*api.Splits, error) {
	h, f, err := s.flink(ctx, req.Table, req.Options, req.Partitions, req.Seen)
	if err != nil {
		return nil, err
	}
	out := &api.Splits{Rounds: []api.SplitRound{}, Rules: h.table.Rules.Name(), ByRequestedTime: f.ByRequestedTime()}
	h.progress(ctx, api.Progress{Phase: "Planning splits"})
	var rounds []*query.Round
	var m query.Monitor
	if req.State != nil {
		m = query.Monitor{IssuedInstant: req.State.IssuedInstant, IssuedOffset: req.State.IssuedOffset, Total: req.State.Total}
		for _, x := range req.State.Remaining {
			m.Remaining = append(m.Remaining, splitFrom(x))
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
		x := api.SplitRound{IssuedOffset: r.IssuedOffset, EndInstant: r.EndInstant, Offset: r.Offset, InputFormat: r.InputFormat, Range: r.Range, Instants: chosenOf(r.Instants), Splits: []api.Split{}}
		for i := range r.Splits {
			x.Splits = append(x.Splits, splitOf(&r.Splits[i]))
		}
		for _, n := range r.Notes {
			x.Findings = append(x.Findings, api.Finding{Level: "warning", Title: "Rows may be missing", Detail: n})
		}
		out.Rounds = append(out.Rounds, x)
		if !req.Poll {
			m.IssuedInstant, m.IssuedOffset, m.Total = r.EndInstant, r.Offset, len(r.Splits)
		}
	}
	out.State = api.StreamState{IssuedInstant: m.IssuedInstant, IssuedOffset: m.IssuedOffset, Total: m.Total}
	for i := range m.Remaining {
		out.State.Remaining = append(out.State.Remaining, splitOf(&m.Remaining[i]))
	}
	return out, nil
}

func splitOf(s *query.Split) api.Split {
	out := api.Split{Num: s.Num, Class: s.Class, Partition: s.Partition, FileID: s.FileID, Base: s.Base, Logs: append([]string{}, s.Logs...), Length: s.Length,
		LatestCommit: s.LatestCommit, MergeType: s.MergeType, Iterator: s.Iterator, Why: s.Why, Task: s.Task}
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

// splitFrom is a split of a saved state.
func splitFrom(s api.Split) query.Split {
	out := query.Split{Num: s.Num, Class: s.Class, Partition: s.Partition, FileID: s.FileID, Base: s.Base, Logs: s.Logs, Length: s.Length,
		LatestCommit: s.LatestCommit, MergeType: s.MergeType, Iterator: s.Iterator, Why: s.Why, Task: s.Task}
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
	return out
}
