package explorer

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/groupreader"
	"hudiscope/core/query"
	"hudiscope/core/release"
)

// Limits of one page of rows.
const (
	defaultRows = 200
	maxRows     = 10000
	// chunkRows is how many rendered rows are kept or dropped together.
	chunkRows = 200
	// rowBytes is the memory of a rendered row beside its cells.
	rowBytes = 24
)

// Rows returns a page of the rows that a query reads. Pages that follow each other go on where the
// last one ended; rows read before are kept within a budget, so that scrolling back is cheap.
func (s *Service) Rows(ctx context.Context, req api.RowsRequest) (*api.Rows, error) {
	if req.Offset < 0 || req.Limit < 0 || req.Limit > maxRows {
		return nil, invalid("Rows come in pages of at most %d, from an offset that is not negative.", maxRows)
	}
	if req.Limit == 0 {
		req.Limit = defaultRows
	}
	h, err := s.open(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	if h.table == nil {
		return nil, unsupported("This is a single log file without its table: its records are shown block by block, not merged.", "Open the table's directory to see merged rows.")
	}
	if h.fault != nil {
		return nil, h.fault
	}
	// What can't be understood is said before anything is planned.
	if _, err := query.Parse(req.Options); err != nil {
		return nil, err
	}
	c := h.cursor(cursorKey(req), req.Text, s.opts)
	return c.page(ctx, h, func(ctx context.Context, progress func(dirs int)) (*prepared, error) {
		p, err := s.prepare(ctx, h, readRequest{req.Options, req.Partitions, req.FileID, req.Condition}, false, progress)
		if err != nil {
			return nil, err
		}
		p.order = req.Order
		return p, orderBy(p.Plan, req.Order)
	}, req.Offset, req.Limit)
}

func cursorKey(req api.RowsRequest) string {
	var b strings.Builder
	keys := make([]string, 0, len(req.Options))
	for k := range req.Options {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		fmt.Fprintf(&b, "%q=%q ", k, req.Options[k])
	}
	fmt.Fprintf(&b, "%q %q %q %q %v %v", req.Partitions, req.FileID, strings.TrimSpace(req.Where), req.Columns, req.Text, req.Order)
	return b.String()
}

// maxCursors bounds the open queries of one table.
const maxCursors = 4

func (h *handle) cursor(key string, text bool, o Options) *cursor {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.cursors[key]
	if c == nil {
		for k, old := range h.cursors {
			if len(h.cursors) < maxCursors {
				break
			}
			// Stopping waits for the query's current page; it must not hold up this one.
			go old.stop()
			delete(h.cursors, k)
		}
		c = &cursor{opts: o, text: text}
		h.cursors[key] = c
	}
	return c
}

// preparer plans the query of a cursor.
type preparer func(ctx context.Context, progress func(dirs int)) (*prepared, error)

// cursor is a running query: a position in the stream of rows, and rendered rows around it.
type cursor struct {
	opts Options
	// text renders cells as show() does.
	text bool

	mu     sync.Mutex
	plan   *prepared
	cancel context.CancelFunc
	next   func() (rendered, error, bool)
	stopIt func()
	pos    int64
	done   bool
	slices []api.RowSlice
	// sorted are the rows of a query with an order; they are kept while the query is.
	sorted *query.Sorted
	// report tells the request that is waiting how far sorting is, and since when it waits.
	report func(rows int64)
	since  time.Time
	// notes is what a user must know about the rows read so far.
	notes []api.Finding
	// failed are the kinds of failures of releases among them.
	failed map[release.FailureID]bool
	// chunks are rendered rows by chunk number; recent lists them, least recently used first.
	chunks map[int64][][]byte
	recent []int64
	bytes  int64
}

// rendered is one row, as appendCells writes it, and the slice it is the first row of.
type rendered struct {
	cells []byte
	first *groupreader.Slice
}

// stop ends the query.
func (c *cursor) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reset()
}

// reset forgets everything; the lock is held.
func (c *cursor) reset() {
	if c.cancel != nil {
		c.cancel()
	}
	if c.stopIt != nil {
		c.stopIt()
	}
	if c.sorted != nil {
		c.sorted.Close()
	}
	c.plan, c.sorted, c.cancel, c.next, c.stopIt, c.pos, c.done = nil, nil, nil, nil, nil, 0, false
	c.slices, c.notes, c.chunks, c.recent, c.bytes = nil, nil, nil, nil, 0
	c.failed = map[release.FailureID]bool{}
}

func (c *cursor) page(ctx context.Context, h *handle, prepare preparer, offset int64, limit int) (*api.Rows, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := &api.Rows{Offset: offset, Rows: [][]json.RawMessage{}, Columns: []api.Column{}, Rules: h.table.Rules.Name()}
	if c.plan == nil {
		if err := c.start(ctx, h, prepare); err != nil {
			return nil, err
		}
	}
	switch {
	case c.sorted != nil:
		// Ordered rows can be read from anywhere.
		if near := c.pos - maxRows; !c.have(offset, limit) && (offset < near || offset > c.pos || !c.haveTo(offset, c.pos)) {
			c.seek(h, offset/chunkRows*chunkRows)
		}
	case !c.have(offset, limit) && offset < c.pos:
		// Rows before the position were dropped: read again from the beginning.
		c.restart(h)
	}
	// A cancelled request ends the query: what it was reading can't be taken up again.
	stop := context.AfterFunc(ctx, c.cancel)
	c.since = time.Now()
	c.report = func(rows int64) {
		h.progress(ctx, api.Progress{Phase: "Ordering rows", Done: rows, Unit: "rows"})
	}
	var err error
	if c.sorted == nil || !c.have(offset, limit) {
		err = c.advance(ctx, h, offset+int64(limit))
	}
	c.report = nil
	if !stop() || err != nil {
		c.reset()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
	total := c.pos
	if c.sorted != nil {
		total = c.sorted.Len
	}
	width := len(c.plan.Shown())
	for i := offset; i < offset+int64(limit) && i < total; i++ {
		chunk := c.chunks[i/chunkRows]
		c.use(i / chunkRows)
		out.Rows = append(out.Rows, splitCells(chunk[i%chunkRows], width))
	}
	out.Columns = shownColumns(c.plan.Plan)
	out.Total, out.TotalKnown, out.Slices = total, c.done || c.sorted != nil, append([]api.RowSlice(nil), c.slices...)
	out.AsOf = c.plan.AsOf
	c.plan.lookAtFolders(ctx)
	out.Findings = append(append([]api.Finding(nil), c.notes...), c.plan.allFindings(&h.table.Rules)...)
	return out, nil
}

// start plans the query.
func (c *cursor) start(ctx context.Context, h *handle, prepare preparer) error {
	h.progress(ctx, api.Progress{Phase: "Planning the read"})
	plan, err := prepare(ctx, func(dirs int) {
		h.progress(ctx, api.Progress{Phase: "Listing partitions", Done: int64(dirs), Unit: "directories"})
	})
	if err != nil {
		return err
	}
	c.plan = plan
	c.restart(h)
	return nil
}

// restart begins the stream of rows anew.
func (c *cursor) restart(h *handle) {
	plan, sorted, notes, failed := c.plan, c.sorted, c.notes, c.failed
	c.sorted = nil
	c.reset()
	c.plan, c.sorted = plan, sorted
	if sorted != nil {
		// Nothing is read again that could be noted.
		c.notes, c.failed = notes, failed
	}
	c.chunks = map[int64][][]byte{}
	ctx, cancel := context.WithCancel(h.behind(api.OpRows))
	c.cancel = cancel
	c.next, c.stopIt = iter.Pull2(c.stream(ctx, h))
}

// seek begins the stream of ordered rows at the first row of a chunk; the rows that are kept stay.
func (c *cursor) seek(h *handle, to int64) {
	chunks, recent, bytes := c.chunks, c.recent, c.bytes
	c.restart(h)
	c.chunks, c.recent, c.bytes, c.pos = chunks, recent, bytes, to
}

// stream reads the plan's slices and renders their rows.
func (c *cursor) stream(ctx context.Context, h *handle) iter.Seq2[rendered, error] {
	plan, shown := c.plan, c.plan.Shown()
	return func(yield func(rendered, error) bool) {
		if plan.Ordered() {
			if c.sorted == nil {
				sorted, err := plan.Sort(ctx, c.reading(h, api.OpRows).encoded(ctx), c.opts.sort(c.reported))
				if err != nil {
					yield(rendered{}, err)
					return
				}
				c.sorted = sorted
			}
			for row, err := range c.sorted.Rows(ctx, c.pos) {
				if err != nil {
					yield(rendered{}, err)
					return
				}
				if !yield(rendered{cells: appendCells(nil, row, c.text, shown)}, nil) {
					return
				}
			}
			return
		}
		read, last := c.reading(h, api.OpRows), -1
		read.long = func() bool { return time.Since(c.since) > soon }
		for cells, err := range read.cells(ctx, c.text) {
			if err != nil {
				yield(rendered{}, err)
				return
			}
			r := rendered{cells: cells}
			if read.part != last {
				r.first, last = &plan.Parts[read.part].Slice, read.part
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// reading reads the plan's slices, and notes what that finds out.
func (c *cursor) reading(h *handle, op api.Op) *reading {
	return &reading{opts: c.opts, h: h, plan: c.plan, op: op, ended: func(s *groupreader.Slice, sum *PartSummary) { c.note(s, sum, &h.table.Rules) }}
}

// reported tells how many rows were read to be sorted.
func (c *cursor) reported(rows int64) {
	if c.report != nil {
		c.report(rows)
	}
}

// advance pulls rows until the position reaches to, or the rows end.
func (c *cursor) advance(ctx context.Context, h *handle, to int64) error {
	for c.pos < to && !c.done {
		r, err, ok := c.next()
		if err != nil {
			return err
		}
		if !ok {
			c.done = true
			return nil
		}
		if r.first != nil {
			c.slices = append(c.slices, api.RowSlice{Partition: r.first.Partition, FileID: r.first.FileID, BaseInstant: r.first.BaseInstant, FirstRow: c.pos})
		}
		n := c.pos / chunkRows
		if c.pos%chunkRows == 0 {
			c.drop(n) // kept before a seek
		}
		if _, ok := c.chunks[n]; !ok {
			c.evict(to)
			c.recent = append(c.recent, n)
		}
		c.chunks[n] = append(c.chunks[n], r.cells)
		c.bytes += int64(len(r.cells)) + rowBytes
		c.pos++
		if c.pos%64 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			h.progress(ctx, api.Progress{Phase: "Reading rows", Done: c.pos, Unit: "rows"})
		}
	}
	return nil
}

// evict drops the least recently used chunks while the kept rows are above the budget.
func (c *cursor) evict(to int64) {
	for c.bytes > c.opts.PageBytes && len(c.recent) > 0 {
		n := c.recent[0]
		// The chunks of the page that is being read are needed in a moment.
		if n*chunkRows >= to-maxRows-chunkRows && n*chunkRows < to {
			return
		}
		c.drop(n)
	}
}

// drop forgets a chunk, if it is kept.
func (c *cursor) drop(n int64) {
	rows, ok := c.chunks[n]
	if !ok {
		return
	}
	for _, row := range rows {
		c.bytes -= int64(len(row)) + rowBytes
	}
	delete(c.chunks, n)
	if i := slices.Index(c.recent, n); i >= 0 {
		c.recent = slices.Delete(c.recent, i, i+1)
	}
}

func (c *cursor) use(n int64) {
	if len(c.recent) > 0 && c.recent[len(c.recent)-1] == n {
		return
	}
	for i, k := range c.recent {
		if k == n {
			c.recent = append(append(c.recent[:i:i], c.recent[i+1:]...), n)
			return
		}
	}
}

// have reports whether all rows of a page are kept; where rows come in one direction only, those that have been read.
func (c *cursor) have(offset int64, limit int) bool {
	if c.sorted != nil {
		return c.haveTo(offset, min(offset+int64(limit), c.sorted.Len))
	}
	return c.haveTo(offset, min(offset+int64(limit), c.pos))
}

// haveTo reports whether the rows from one to before another are kept.
func (c *cursor) haveTo(from, to int64) bool {
	for n := from / chunkRows; n*chunkRows < to; n++ {
		if rows, ok := c.chunks[n]; !ok || n*chunkRows+int64(len(rows)) < min(to, (n+1)*chunkRows) {
			return false
		}
	}
	return true
}

// note keeps what reading a slice found out.
func (c *cursor) note(s *groupreader.Slice, sum *PartSummary, rules *release.Rules) {
	where := fmt.Sprintf("partition %q, file group %s", s.Partition, s.FileID)
	if sum.Corrupt > 0 {
		c.notes = append(c.notes, api.Finding{Level: "warning", Title: "Corrupt log blocks were left out", File: sum.CorruptFile, Offset: sum.CorruptOffset,
			Detail: fmt.Sprintf("%s: %d corrupt blocks, the first at byte %d of %s. As in Hudi, what they held is not in these rows: values may be older than what was written.", where, sum.Corrupt, sum.CorruptOffset, sum.CorruptFile)})
	}
	for _, id := range sum.Met {
		if !c.failed[id] {
			c.failed[id] = true
			c.notes = append(c.notes, failure(rules, id, "First met in "+where))
		}
	}
	for _, n := range sum.Notes {
		c.notes = append(c.notes, api.Finding{Level: "warning", Title: "Read where Hudi would fail or guess", Detail: where + ": " + n})
	}
	if sum.MixedOrdering > 0 {
		c.notes = append(c.notes, api.Finding{Level: "warning", Title: "Ordering values of different types",
			Detail: fmt.Sprintf("%s: %d times versions of a record had ordering values whose types do not compare. Some Hudi releases fail here.", where, sum.MixedOrdering)})
	}
}

// failure tells that releases fail on a read: a warning where the one that was asked for does.
func failure(rules *release.Rules, id release.FailureID, detail string) api.Finding {
	f, _ := release.FailureOf(id)
	out := api.Finding{Level: "note", Title: f.Releases() + " can't do this read"}
	if rules.Fails(id) {
		out.Level, out.Title = "warning", rules.Name()+" can't do this read"
	}
	out.Detail = f.Reads + " " + f.Why + " " + f.Here
	if detail != "" {
		out.Detail += " " + sentence(detail)
	}
	return out
}
