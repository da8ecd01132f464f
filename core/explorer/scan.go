package explorer

import (
	"context"
	"fmt"
	"math"
	"path"
	"slices"

	"hudiscope/core/api"
	"hudiscope/core/filegroup"
	"hudiscope/core/groupreader"
	"hudiscope/core/history"
	"hudiscope/core/logfile"
	"hudiscope/core/logscan"
	"hudiscope/core/merge"
	"hudiscope/core/schema"
	"hudiscope/core/table"
)

// Limits of a recorded scan.
const (
	defaultScanSteps = 2000
	maxScanSteps     = 100_000
	// maxQueued bounds the queues of all steps together: each step shows its whole queue.
	maxQueued = 200_000
)

// Scan records the scan of a slice's logs, or of one log file by itself, step by step: the header
// pass, then block by block the merge of the queue, then the merge with the base file.
func (s *Service) Scan(ctx context.Context, req api.ScanRequest) (*api.Scan, error) {
	if req.Limit < 0 || req.Limit > maxScanSteps {
		return nil, invalid("A scan has at most %d steps.", maxScanSteps)
	}
	if leadingDigits(req.AsOf) != req.AsOf {
		return nil, invalid("%q is no instant: an instant is 14 or 17 digits.", req.AsOf)
	}
	if req.Limit == 0 {
		req.Limit = defaultScanSteps
	}
	h, err := s.open(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	if h.fault != nil {
		return nil, h.fault
	}
	t := &tracer{limit: req.Limit, files: map[int]bool{}}
	if h.table == nil || req.File != "" {
		return h.scanFile(ctx, req, t)
	}
	v, err := h.view(ctx)
	if err != nil {
		return nil, err
	}
	asOf := req.AsOf
	if asOf == "" {
		asOf = v.Latest
	}
	slice, err := wantedSlice(v, req.Partition, req.FileID, req.BaseInstant, asOf)
	if err != nil {
		return nil, err
	}
	if req.Records {
		// The steps of records come between those of blocks: which are beyond the limit is known later.
		t.limit = maxScanSteps
	}
	t.mode = h.table.ScanOptions(v.Timeline, asOf).Mode
	b, err := h.traceSlice(ctx, v, slice, asOf, t.step)
	if err != nil {
		return nil, err
	}
	defer b.close()
	out, err := t.scan(ctx, b)
	if err != nil {
		return nil, err
	}
	if req.Records && !t.truncated {
		m := mergeTrace{h: h, v: v, req: req, out: out, slice: slice}
		// Without a store to spill to, records are merged in the order of the blocks.
		if err := m.run(ctx, min(s.opts.LogBytes, s.opts.MergeBytes)); err != nil {
			return nil, err
		}
	}
	if len(out.Steps) > req.Limit {
		out.Steps, out.Truncated = out.Steps[:req.Limit], true
	}
	if out.Truncated {
		for i, n := range named(out.Steps, len(out.Blocks.Files)) {
			f := &out.Blocks.Files[i]
			f.Blocks = f.Blocks[:min(n, len(f.Blocks))]
		}
	}
	return out, nil
}

// wantedSlice is the slice of a file group that begins at an instant, or with "" the one that is read as of another.
func wantedSlice(v *filegroup.View, partition, fileID, baseInstant, asOf string) (*filegroup.Slice, error) {
	g := v.Group(partition, fileID)
	if g == nil {
		return nil, &api.Fault{Kind: "not found", Offset: -1, Message: fmt.Sprintf("There is no file group %s in partition %q.", fileID, partition), Try: "Choose one in the Files view."}
	}
	if baseInstant == "" {
		if m := v.MergedSliceBeforeOrOn(g, asOf); m != nil {
			return m, nil
		}
		return nil, &api.Fault{Kind: "not found", Offset: -1, Message: "The file group has no committed slice."}
	}
	for _, sl := range g.Slices {
		if sl.BaseInstant == baseInstant {
			return sl, nil
		}
	}
	return nil, &api.Fault{Kind: "not found", Offset: -1, Message: fmt.Sprintf("The file group has no slice of %s.", baseInstant), Try: "It may have been cleaned since; reload the table."}
}

// scanFile records the scan of one log file by itself.
func (h *handle) scanFile(ctx context.Context, req api.ScanRequest, t *tracer) (*api.Scan, error) {
	file, o := h.single, logscan.Options{}
	if h.table != nil {
		file = req.File
		if !safePath(file) {
			return nil, invalid("%q is not a path inside the table.", file)
		}
		if _, ok := logfile.ParseName(path.Base(file)); !ok {
			return nil, invalid("%s is no log file by its name.", file)
		}
		if h.inData(file) {
			v, err := h.view(ctx)
			if err != nil {
				return nil, err
			}
			asOf := req.AsOf
			if asOf == "" {
				asOf = v.Latest
			}
			o = h.table.ScanOptions(v.Timeline, asOf)
			o.CheckCommitted = true
		}
	}
	t.mode, o.Trace = o.Mode, t.step
	b, err := h.scanFiles(ctx, []string{file}, o)
	if err != nil {
		return nil, err
	}
	defer b.close()
	out, err := t.scan(ctx, b)
	if err != nil {
		return nil, err
	}
	if req.Records {
		out.RecordsFault = &api.Fault{Kind: "unsupported", Offset: -1, File: file, Message: "This is the scan of one log file by itself; records are merged over all files of a slice.", Try: "Ask for the scan of the file's slice."}
	}
	return out, nil
}

// tracer turns the steps of a scan into those of the answer: it keeps the queue.
type tracer struct {
	mode      logscan.Mode
	limit     int
	steps     []api.ScanStep
	queue     []queued
	refs      int
	counters  api.Counters
	files     map[int]bool
	instant   string
	truncated bool
}

// queued is a block in the queue. A corrupt one takes a place in it, but is never merged.
type queued struct {
	api.BlockRef
	corrupt bool
}

func (t *tracer) step(s logscan.Step) {
	if t.truncated {
		return // a long queue takes long to keep
	}
	ref := api.BlockRef{File: s.File, Block: s.Block.Index}
	out := api.ScanStep{Kind: string(s.Kind), Block: ref, Why: s.Why}
	if s.Instant != "" {
		t.instant = s.Instant
	}
	c := &t.counters
	switch s.Kind {
	case logscan.Read:
		if !t.files[s.File] {
			t.files[s.File] = true
			c.LogFiles++
		}
		c.Blocks++
		if s.Block.Type == logfile.CorruptBlock {
			c.CorruptBlocks += max(1, s.Block.Regions)
		}
	case logscan.Push:
		t.queue = append(t.queue, queued{ref, s.Block.Type == logfile.CorruptBlock})
	case logscan.Pop:
		t.popCorrupt()
		t.drop(ref)
	case logscan.Skip:
		t.drop(ref)
	case logscan.Rollback:
		for _, r := range s.Removed {
			removed := api.BlockRef{File: r.File, Block: r.Block.Index}
			out.Removed = append(out.Removed, removed)
			t.drop(removed)
		}
		if t.mode == logscan.ScanV1 {
			c.Rollbacks += len(s.Removed)
		} else {
			c.Rollbacks++
		}
	}
	t.add(out)
}

// popCorrupt takes corrupt blocks off the front of the queue.
func (t *tracer) popCorrupt() {
	for len(t.queue) > 0 && t.queue[0].corrupt {
		ref := t.queue[0].BlockRef
		t.queue = t.queue[1:]
		t.add(api.ScanStep{Kind: string(logscan.Pop), Block: ref, Why: "The block is corrupt: nothing of it is merged."})
	}
}

func (t *tracer) drop(ref api.BlockRef) {
	if i := slices.IndexFunc(t.queue, func(q queued) bool { return q.BlockRef == ref }); i >= 0 {
		t.queue = slices.Delete(t.queue, i, i+1)
	}
}

// add keeps a step with the queue and the counters after it, within the limits.
func (t *tracer) add(s api.ScanStep) {
	if t.truncated || len(t.steps) == t.limit || t.refs+len(t.queue) > maxQueued {
		t.truncated = true
		return
	}
	t.refs += len(t.queue)
	s.Instant, s.Counters = t.instant, t.counters
	s.Queue = make([]api.BlockRef, len(t.queue))
	for i, q := range t.queue {
		s.Queue[i] = q.BlockRef
	}
	t.steps = append(t.steps, s)
}

// named returns how many blocks of each of n files come before the end of the last one that steps name.
func named(steps []api.ScanStep, n int) []int {
	out := make([]int, n)
	for i := range steps {
		for _, list := range [][]api.BlockRef{steps[i].Removed, {steps[i].Block}} {
			for _, ref := range list {
				if ref.File >= 0 && ref.File < n {
					out[ref.File] = max(out[ref.File], ref.Block+1)
				}
			}
		}
	}
	return out
}

// scan finishes the answer: the record counts are known only now.
func (t *tracer) scan(ctx context.Context, b *logsScanned) (*api.Scan, error) {
	t.popCorrupt()
	if t.steps == nil {
		t.steps = []api.ScanStep{}
	}
	out := &api.Scan{Blocks: *b.answer(), Steps: t.steps, Truncated: t.truncated}
	most := named(t.steps, len(b.files))
	file := -1
	p := &blockPager{end: math.MaxInt, visit: BlockVisitor{
		File: func(f *api.LogFile) error {
			file++
			out.Blocks.Files = append(out.Blocks.Files, *f)
			out.Blocks.Files[file].Blocks = []api.Block{}
			return nil
		},
		End: func(f *api.LogFile) error {
			last := &out.Blocks.Files[file]
			last.Total, last.Fault = f.Total, f.Fault
			return nil
		},
		Block: func(f *api.LogFile, blk *api.Block) error {
			if last := &out.Blocks.Files[file]; !t.truncated || blk.Index < most[file] {
				last.Blocks = append(last.Blocks, *blk)
			}
			return nil
		},
	}}
	if err := p.all(ctx, b); err != nil {
		return nil, err
	}
	out.Blocks.Total, out.Blocks.TotalFiles = p.at, p.files
	records := int64(0)
	for i := range t.steps {
		s := &t.steps[i]
		if s.Kind == string(logscan.Pop) && s.Block.File < len(out.Blocks.Files) && s.Block.Block < len(out.Blocks.Files[s.Block.File].Blocks) {
			if n := out.Blocks.Files[s.Block.File].Blocks[s.Block.Block].Records; n > 0 {
				records += n
			}
		}
		s.Counters.Records = records
	}
	return out, nil
}

// mergeTrace adds the merge steps of records to a recorded scan.
type mergeTrace struct {
	h     *handle
	v     *filegroup.View
	req   api.ScanRequest
	out   *api.Scan
	slice *filegroup.Slice

	read   groupreader.Slice
	stats  groupreader.Stats
	fileOf map[string]int
	// rest are the steps of blocks that are not popped yet.
	rest  []api.ScanStep
	steps []api.ScanStep
	limit int
	keys  int64
	last  api.ScanStep
	full  func()
}

func (m *mergeTrace) run(ctx context.Context, logBytes int64) error {
	fail := func(err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		m.out.RecordsFault = ToFault(err)
		return nil
	}
	plan, err := m.h.table.Plan(ctx, table.Query{Type: table.Snapshot, AsOf: m.req.AsOf, Partitions: []string{m.req.Partition}, FileID: m.req.FileID}, nil)
	if err != nil {
		return fail(err)
	}
	read, ok := history.SliceOf(m.v, plan, m.req.Partition, m.req.FileID, m.slice.BaseInstant)
	if !ok {
		return fail(unsupported("The logs of this slice are read together with the slice before it, until the pending compaction is completed.", "Ask for the scan of the file group without a base instant."))
	}
	m.fileOf = map[string]int{}
	for i, f := range m.out.Blocks.Files {
		m.fileOf[f.File.Path] = i
	}
	// Under a pending compaction a query reads more logs than those of this slice.
	read.Logs = slices.DeleteFunc(slices.Clone(read.Logs), func(l string) bool { _, ok := m.fileOf[l]; return !ok })
	if len(read.Logs) == 0 {
		return nil
	}
	m.read, m.limit = read, m.req.Limit
	pop := slices.IndexFunc(m.out.Steps, func(s api.ScanStep) bool { return s.Kind == string(logscan.Pop) })
	if pop < 0 {
		return nil
	}
	m.steps, m.rest = m.out.Steps[:pop:pop], m.out.Steps[pop:]
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	m.full = cancel
	var rowErr error
	n := int64(0)
	for _, err := range plan.Rows(inner, read, table.ReadOptions{LogBytes: logBytes, Observe: m.observe, Progress: func(unit string, k int64) {
		n += k
		m.h.progress(ctx, api.Progress{Phase: "Merging records", Done: n, Unit: unit})
	}}, &m.stats) {
		if err != nil {
			rowErr = err
			break
		}
		if m.out.Truncated {
			break
		}
	}
	if !m.out.Truncated && rowErr == nil {
		m.pops(func(api.ScanStep) bool { return false })
	}
	m.out.Steps = m.steps
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if rowErr != nil && !m.out.Truncated {
		return fail(rowErr)
	}
	return nil
}

// add appends a step; at the limit the merge is stopped.
func (m *mergeTrace) add(s api.ScanStep) {
	if m.out.Truncated || len(m.steps) >= m.limit {
		m.out.Truncated = true
		m.full()
		return
	}
	m.steps = append(m.steps, s)
	m.last = s
}

// pops moves on the steps of blocks up to the one that until names.
func (m *mergeTrace) pops(until func(api.ScanStep) bool) {
	for len(m.rest) > 0 {
		s := m.rest[0]
		m.rest = m.rest[1:]
		m.add(s)
		if until(s) {
			return
		}
	}
}

func (m *mergeTrace) observe(s groupreader.Step) {
	if m.out.Truncated {
		return
	}
	d := &s.Decision
	ref := m.ref(d.Newer)
	if s.Final {
		m.pops(func(api.ScanStep) bool { return false })
	} else if m.last.Kind == "" || m.last.Block != ref {
		m.pops(func(p api.ScanStep) bool { return p.Kind == string(logscan.Pop) && p.Block == ref })
	}
	r := &api.RecordStep{Key: string(s.Key), Stage: "log", New: m.version(d.Newer)}
	if d.Older != nil {
		r.Old = m.version(d.Older)
	}
	switch d.Outcome {
	case merge.Old:
		r.Winner, r.New.Outcome = "old", "lost"
	case merge.New:
		r.Winner, r.New.Outcome = "new", "won"
	case merge.Combined:
		r.Winner, r.New.Outcome = "combined", "merged"
	case merge.Removed:
		r.Winner, r.New.Outcome = "removed", "won"
	}
	if r.Old != nil {
		r.Old.Outcome = map[string]string{"old": "won", "new": "superseded", "combined": "merged", "removed": "superseded"}[r.Winner]
	}
	switch {
	case s.Final:
		r.Stage = "base"
		m.keys--
		if r.Winner == "new" && d.Newer.Delete {
			r.Winner = "removed"
		}
	case d.Older == nil:
		m.keys++
	}
	r.Keys = m.keys
	why := d.Why()
	r.New.Why = why
	m.add(api.ScanStep{Kind: "record", Block: ref, Instant: r.New.Instant, Queue: m.queueNow(s.Final), Counters: m.last.Counters, Why: why, Record: r})
}

// queueNow is the queue while records are merged: what the last pop left.
func (m *mergeTrace) queueNow(final bool) []api.BlockRef {
	if final || m.last.Queue == nil {
		return []api.BlockRef{}
	}
	return m.last.Queue
}

// ref names the block of a log record.
func (m *mergeTrace) ref(r *merge.Record) api.BlockRef {
	file, block := m.place(r)
	i, ok := m.fileOf[file]
	if !ok {
		i = -1
	}
	return api.BlockRef{File: i, Block: block}
}

func (m *mergeTrace) place(r *merge.Record) (file string, block int) {
	if r.Block == merge.InBase || m.stats.Scan == nil || int(r.Block) >= len(m.stats.Scan.Blocks) {
		return m.read.Base, -1
	}
	b := m.stats.Scan.Blocks[r.Block]
	return m.read.Logs[b.File], b.Block.Index
}

// version describes a version by its place; its values are in the block.
func (m *mergeTrace) version(r *merge.Record) *api.Version {
	v := &api.Version{Kind: "data", Record: int64(r.Index)}
	v.File, v.Block = m.place(r)
	switch {
	case r.Block == merge.InBase:
		v.Kind, v.Instant = "base", m.read.BaseInstant
		if c := r.Row.Batch.Column(schema.CommitTimeField); c != nil {
			if t, ok := c.Text(r.Row.Index); ok && t != "" {
				v.Instant = t
			}
		}
	case r.Delete && r.Row.Batch == nil:
		v.Kind = "delete"
	case r.Delete:
		v.Kind = "delete flag"
	}
	if r.Block != merge.InBase {
		v.Instant = m.stats.Scan.Blocks[r.Block].Block.Instant()
	}
	v.Completed, _ = m.v.Timeline.CompletionTime(v.Instant)
	if len(m.h.table.Merge.OrderingFields) > 0 {
		v.Ordering, v.OrderingType = r.Ord.String(), r.Ord.Class.String()
	}
	return v
}
