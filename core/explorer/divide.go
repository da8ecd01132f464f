package explorer

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/column"
	"hudiscope/core/export"
	"hudiscope/core/groupreader"
	"hudiscope/core/lanes"
	"hudiscope/core/query"
	"hudiscope/core/release"
	"hudiscope/core/spill"
	"hudiscope/core/storage/trace"
	"hudiscope/core/table"
)

const (
	// waitingBytes bounds the rows that were read and wait for their turn: those of the slice that is taken,
	// and those of all others.
	waitingBytes = 4 << 20
	// chunkBytes and chunkMost bound what is handed over as one.
	chunkBytes = 256 << 10
	chunkMost  = 4096
)

// soon is how long one request reads slices one by one before it is taken for a long read.
var soon = 300 * time.Millisecond

// mergedSize is how much memory a byte of log files takes when it is merged, about.
var mergedSize int64 = 2

// ErrAlone is an error of ReadPart: the part is to be read by who asked, alone, with all memory.
var ErrAlone = lanes.ErrAlone

// Pool is programs beside this one that read slices, each by its own Service.
type Pool interface {
	// Width is how many slices are read at once; below 2 nothing is divided.
	Width() int
	// Read has the program lane, from 0 on, read a part. emit takes the chunks in their order; they are its own.
	// Reads may run at the same time.
	Read(ctx context.Context, lane int, req *PartRequest, emit func(chunk []byte) error) (*PartSummary, error)
	// Facts has the program lane answer a FactsRequest by its Service.ReadFacts.
	Facts(ctx context.Context, lane int, req *FactsRequest, progress func(rows int64)) (*Facts, error)
}

// PartRequest asks for the rows of parts of a plan that was made elsewhere; ReadPart takes one at a time.
type PartRequest struct {
	api.Table
	Options map[string]string `json:"options,omitempty"`
	api.Condition
	Order []api.SortKey `json:"order,omitempty"`
	// Slices are the parts, AsOf the plan's, and Fingerprint query.Plan.Fingerprint of the plan.
	Slices      []groupreader.Slice `json:"slices"`
	AsOf        string              `json:"as_of"`
	Fingerprint string              `json:"fingerprint"`
	// Form is what becomes of the rows.
	Form PartForm `json:"form"`
	// MergeBytes is the memory for merging; with Spill what does not fit is spilled, else it is ErrAlone.
	MergeBytes int64 `json:"merge_bytes"`
	Spill      bool  `json:"spill,omitempty"`
}

// PartForm is what becomes of rows where they are read: the cells of Rows, as show() writes them with Text; lines of a
// file of the format Export; with Sort what query.Plan.Sort takes; or, with none of these, columns.
type PartForm struct {
	Sort   bool   `json:"sort,omitempty"`
	Cells  bool   `json:"cells,omitempty"`
	Text   bool   `json:"text,omitempty"`
	Export string `json:"export,omitempty"`
}

// PartSummary is what reading a part found out.
type PartSummary struct {
	// Corrupt counts corrupt log blocks; the first one begins at the byte CorruptOffset of CorruptFile.
	Corrupt       int                 `json:"corrupt,omitempty"`
	CorruptFile   string              `json:"corrupt_file,omitempty"`
	CorruptOffset int64               `json:"corrupt_offset,omitempty"`
	MixedOrdering int                 `json:"mixed_ordering,omitempty"`
	Notes         []string            `json:"notes,omitempty"`
	Met           []release.FailureID `json:"met,omitempty"`
	// Network is what was asked of the storage since the last part that the program read.
	Network *trace.Part `json:"network,omitempty"`
}

func summaryOf(p *query.Plan, st *groupreader.Stats) *PartSummary {
	out := &PartSummary{MixedOrdering: st.MixedOrdering, Notes: st.Notes, Met: p.Met(st)}
	if st.Scan != nil {
		out.Corrupt, out.CorruptFile, out.CorruptOffset = st.Scan.Counters.CorruptBlocks, st.CorruptFile, st.CorruptOffset
	}
	return out
}

// chunk is some rows of a part in their form: bytes, each row after its length, or columns.
type chunk struct {
	rows  int
	lines []byte
	batch *column.Batch
	// end is set for the last one of a part, which has no rows.
	end *PartSummary
}

func (c *chunk) size() int64 {
	if c.batch != nil {
		return c.batch.Bytes()
	}
	return int64(cap(c.lines))
}

// appendTo writes the chunk for another program.
func (c *chunk) appendTo(dst []byte) []byte {
	if c.batch != nil {
		return column.AppendBatch(append(dst, 1), c.batch)
	}
	dst = binary.AppendUvarint(append(dst, 0), uint64(c.rows))
	return append(dst, c.lines...)
}

func readChunk(p *query.Plan, b []byte) (c chunk, err error) {
	switch {
	case len(b) > 1 && b[0] == 1:
		c.batch, err = column.ReadBatch(p.Type, b[1:])
		if err == nil {
			c.rows = c.batch.Len
		}
		return c, err
	case len(b) > 1 && b[0] == 0:
		n, k := binary.Uvarint(b[1:])
		if k > 0 && n <= uint64(len(b)) {
			return chunk{rows: int(n), lines: b[1+k:]}, nil
		}
	}
	return c, column.ErrBytes
}

// maker makes rows of one form.
type maker struct {
	plan  *query.Plan
	form  PartForm
	shown []int
	lines *export.Lines
	sort  *query.Encoder
	buf   []byte
}

func newMaker(p *query.Plan, form PartForm) (*maker, error) {
	m := &maker{plan: p, form: form, shown: p.Shown()}
	if form.Sort {
		m.sort = p.Encoder()
	}
	if form.Export != "" {
		var err error
		if m.lines, err = export.NewLines(form.Export, exportColumns(p)); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// line appends a row.
func (m *maker) line(dst []byte, row query.Row) ([]byte, error) {
	switch {
	case m.sort != nil:
		return m.sort.Append(dst, row), nil
	case m.lines != nil:
		return m.lines.Append(dst, row.Batch, row.Index)
	}
	return appendCells(dst, row, m.form.Text, m.shown), nil
}

// whole reports whether rows stay as they are.
func (m *maker) whole() bool { return !m.form.Cells && !m.form.Sort && m.form.Export == "" }

// read reads a part and hands its rows over in chunks.
func (m *maker) read(ctx context.Context, part *query.Part, ro table.ReadOptions, emit func(chunk) error) (*PartSummary, error) {
	var c chunk
	var st groupreader.Stats
	bound := 64 // the first rows come soon
	held := 0
	flush := func() error {
		if c.rows == 0 {
			return nil
		}
		err := emit(c)
		c, held, bound = chunk{}, 0, min(bound*4, chunkMost)
		return err
	}
	for row, err := range part.Rows(ctx, ro, &st) {
		if err != nil {
			if e := flush(); e != nil {
				return nil, e
			}
			return nil, err
		}
		if m.whole() {
			if c.batch != nil && !sameColumns(c.batch, row.Batch) {
				if err := flush(); err != nil {
					return nil, err
				}
			}
			if c.batch == nil {
				c.batch = emptyLike(row.Batch)
			}
			for i, v := range c.batch.Columns {
				if v != nil {
					v.AppendFrom(row.Batch.Columns[i], row.Index)
				}
			}
			c.batch.Len++
			if c.rows%64 == 63 {
				held = int(c.batch.Bytes())
			}
		} else {
			if m.buf, err = m.line(m.buf[:0], row); err != nil {
				return nil, err
			}
			c.lines = binary.AppendUvarint(c.lines, uint64(len(m.buf)))
			c.lines = append(c.lines, m.buf...)
			held = len(c.lines)
		}
		if c.rows++; c.rows >= bound || held >= chunkBytes {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	if err := flush(); err != nil {
		return nil, err
	}
	return summaryOf(m.plan, &st), ctx.Err()
}

func sameColumns(a, b *column.Batch) bool {
	for i := range a.Columns {
		if (a.Columns[i] == nil) != (b.Columns[i] == nil) {
			return false
		}
	}
	return true
}

func emptyLike(b *column.Batch) *column.Batch {
	out := &column.Batch{Type: b.Type, Columns: make([]*column.Vector, len(b.Columns))}
	for i, v := range b.Columns {
		if v != nil {
			out.Columns[i] = column.New(v.Type, 0)
		}
	}
	return out
}

// ReadPart reads one part of a plan that another program has made, and hands its rows over in chunks, which
// emit may keep. Its error is ErrAlone where the part can't be read as it is read there. step is called now and then;
// it may be nil.
func (s *Service) ReadPart(ctx context.Context, req *PartRequest, step func(), emit func(chunk []byte) error) (*PartSummary, error) {
	h, p, ro, err := s.partPlan(ctx, req)
	if err != nil {
		return nil, err
	}
	if len(p.Parts) != 1 {
		return nil, invalid("One part is read at a time, not %d.", len(p.Parts))
	}
	m, err := newMaker(p, req.Form)
	if err != nil {
		return nil, err
	}
	if step != nil {
		ro.Progress = func(string, int64) { step() }
	}
	sum, err := m.read(s.network.With(ctx, h.location, "part"), &p.Parts[0], ro, func(c chunk) error { return emit(c.appendTo(nil)) })
	if err != nil {
		return nil, err
	}
	sum.Network = s.network.Take(h.location)
	return sum, nil
}

// partPlan plans the parts of a plan that was made elsewhere.
func (s *Service) partPlan(ctx context.Context, req *PartRequest) (h *handle, p *query.Plan, ro table.ReadOptions, err error) {
	ro = s.opts.read()
	if ro.MergeBytes = req.MergeBytes; !req.Spill {
		ro.Spill = noSpill
	}
	if h, err = s.ready(ctx, req.Table); err != nil {
		return h, p, ro, err
	}
	ctx = s.network.With(ctx, req.Location, "part")
	q, err := query.Parse(req.Options)
	if err != nil {
		return h, p, ro, err
	}
	if p, err = query.PlanSlices(ctx, h.table, q, req.AsOf, req.Slices); err != nil {
		return h, p, ro, err
	}
	fingerprint, err := p.Fingerprint(ctx, h.table)
	if err == nil && fingerprint != req.Fingerprint {
		// The table was read at another time.
		err = ErrAlone
	}
	if err == nil {
		err = restrict(p, req.Condition)
	}
	if err == nil {
		err = orderBy(p, req.Order)
	}
	return h, p, ro, err
}

// noSpill is the store of a part that has to fit its share of the memory.
func noSpill(context.Context) (spill.Store, error) { return nil, ErrAlone }

// reading is a plan whose parts are read, side by side where that pays.
type reading struct {
	opts Options
	h    *handle
	plan *prepared
	// op is the request that reads.
	op api.Op
	// ended is told what reading a part has found out, part after part.
	ended func(slice *groupreader.Slice, sum *PartSummary)
	// long reports whether this is a long read; nil: it is.
	long func() bool
	// part is the one that the present row is of.
	part int

	// width is how many parts are read at once.
	width int
	// fingerprint is the plan's, once it is asked for.
	once        sync.Once
	fingerprint string
	failure     error
}

// lanes is how many parts may be read at once; below 2 they are read one by one.
func (r *reading) lanes() int {
	p := r.plan
	if !p.Divisible() || len(p.Parts) < 2 {
		return 1
	}
	width := min(runtime.GOMAXPROCS(0), r.opts.Lanes)
	if r.opts.Pool != nil {
		width = r.opts.Pool.Width()
	}
	var size int64
	for i := range p.Parts {
		size += p.Parts[i].Slice.Bytes
	}
	if size < r.opts.DividedBytes || r.opts.Spill == nil {
		return 1
	}
	return min(width, len(p.Parts))
}

// share is how a part is read beside others: with its share of the memory, and whether what does not fit is
// spilled. That is so only where it would be spilled with all of it, too; see docs/architecture.md.
func (r *reading) share(i int) (ro table.ReadOptions, spills bool) {
	ro = r.opts.read()
	ro.MergeBytes /= int64(r.width)
	if spills = r.largeLogs(i); !spills {
		ro.Spill = noSpill
	}
	return ro, spills
}

// largeLogs reports whether a part is taken to need more than all memory for merging.
func (r *reading) largeLogs(i int) bool {
	return mergedSize*r.plan.Parts[i].Slice.LogBytes > r.opts.MergeBytes
}

// rowsOf reads the rows of a plan, in the plan's order: whole makes one of a row that was read here, the
// others take rows out of a chunk.
func rowsOf[E any](ctx context.Context, r *reading, form PartForm, one func(m *maker, row query.Row) (E, error), many func(c chunk, yield func(E) bool) (bool, error)) iter.Seq2[E, error] {
	return func(yield func(E, error) bool) {
		var none E
		m, err := newMaker(r.plan.Plan, form)
		if err != nil {
			yield(none, err)
			return
		}
		r.width = r.lanes()
		var run *lanes.Run[chunk]
		defer func() {
			if run != nil {
				run.Stop()
			}
		}()
		// begin reads the parts from one on side by side, if that pays by now.
		begin := func(from int) {
			if run == nil && r.width > 1 && len(r.plan.Parts)-from > 0 && (r.long == nil || r.long()) {
				run = lanes.Start(ctx, lanes.Options{Width: r.width, Bytes: waitingBytes}, from, len(r.plan.Parts), r.work(form))
			}
		}
		// here reads a part by this goroutine; while it has only its share of the memory, others may be read beside.
		here := func(i int, ro table.ReadOptions, beside bool) (more bool, err error) {
			part := &r.plan.Parts[i]
			began := false
			look := func() {
				if beside && !began {
					if begin(i + 1); run != nil {
						began = true
						run.Limit(r.width - 1)
					}
				}
			}
			if beside && run == nil {
				ro.Progress = func(string, int64) { look() }
			}
			var st groupreader.Stats
			n := 0
			for row, err := range part.Rows(ctx, ro, &st) {
				if err != nil {
					return true, err
				}
				e, err := one(m, row)
				if err != nil {
					return true, err
				}
				if !yield(e, nil) {
					return false, nil
				}
				if n++; n%64 == 0 {
					look()
				}
			}
			if began {
				run.Limit(r.width)
			}
			r.ended(&part.Slice, summaryOf(r.plan.Plan, &st))
			return true, nil
		}
		alone := func(i int) (more bool, err error) {
			if run != nil {
				run.Pause()
				defer run.Resume()
			}
			return here(i, r.opts.read(), false)
		}
		for i := range r.plan.Parts {
			r.part = i
			var more bool
			var err error
			switch {
			case r.width < 2:
				more, err = here(i, r.opts.read(), false)
			case run == nil:
				if len(r.plan.Parts)-i > 1 {
					begin(i)
				}
				if run == nil {
					ro, _ := r.share(i)
					if more, err = here(i, ro, true); errors.Is(err, ErrAlone) {
						more, err = alone(i)
					}
					break
				}
				fallthrough
			default:
				var bad error
				more, err = run.Piece(i, func(c chunk) (ok bool) {
					if c.end != nil {
						r.ended(&r.plan.Parts[i].Slice, c.end)
						return true
					}
					ok, bad = many(c, func(e E) bool { return yield(e, nil) })
					return ok && bad == nil
				})
				if bad != nil {
					err = bad
				}
				if errors.Is(err, ErrAlone) {
					more, err = alone(i)
				}
			}
			if err != nil {
				yield(none, err)
				return
			}
			if !more {
				return
			}
		}
	}
}

// work reads parts beside each other: in other programs where there are some, else in goroutines.
func (r *reading) work(form PartForm) lanes.Work[chunk] {
	if r.opts.Pool != nil {
		return r.elsewhere(form)
	}
	return func(ctx context.Context, _, i int, emit func(chunk, int64) error) error {
		m, err := newMaker(r.plan.Plan, form)
		if err != nil {
			return err
		}
		ro, _ := r.share(i)
		given := false
		sum, err := m.read(ctx, &r.plan.Parts[i], ro, func(c chunk) error {
			given = true
			return emit(c, c.size())
		})
		if err != nil {
			return r.failed(i, err, given)
		}
		return emit(chunk{end: sum}, 0)
	}
}

// failed is the error of a part that was read beside others. One that has given nothing is read again as it
// would have been read alone, so that its error is the same.
func (r *reading) failed(i int, err error, given bool) error {
	var died *PoolFault
	switch {
	case errors.Is(err, context.Canceled), errors.As(err, &died):
		return err
	case !given:
		return ErrAlone
	case errors.Is(err, ErrAlone):
		s := &r.plan.Parts[i].Slice
		return &api.Fault{Kind: "limit", Offset: -1, Message: fmt.Sprintf("The slice of file group %s in partition %q did not fit its share of the memory after it had given rows.", s.FileID, s.Partition),
			Try: "Read it with more memory, or this partition alone."}
	}
	return err
}

// PoolFault is the error of a Pool whose program has ended, or could not be started.
type PoolFault struct{ Fault *api.Fault }

// Error renders the fault.
func (p *PoolFault) Error() string { return p.Fault.Error() }

// Unwrap returns the fault.
func (p *PoolFault) Unwrap() error { return p.Fault }

// partRequest is a request for parts of the plan, without the parts.
func (r *reading) partRequest(ro table.ReadOptions, spills bool) (*PartRequest, error) {
	r.once.Do(func() { r.fingerprint, r.failure = r.plan.Fingerprint(r.h.life, r.h.table) })
	return &PartRequest{Table: api.Table{Location: r.h.location, Hudi: r.h.hudi}, Options: r.plan.asked.options, Condition: r.plan.asked.condition, Order: r.plan.order,
		AsOf: r.plan.AsOf, Fingerprint: r.fingerprint, MergeBytes: ro.MergeBytes, Spill: spills}, r.failure
}

// elsewhere has the pool's programs read parts.
func (r *reading) elsewhere(form PartForm) lanes.Work[chunk] {
	return func(ctx context.Context, lane, i int, emit func(chunk, int64) error) error {
		ro, spills := r.share(i)
		req, err := r.partRequest(ro, spills)
		if err != nil {
			return err
		}
		req.Slices, req.Form = []groupreader.Slice{r.plan.Parts[i].Slice}, form
		given := false
		sum, err := r.opts.Pool.Read(ctx, lane, req, func(b []byte) error {
			c, err := readChunk(r.plan.Plan, b)
			if err != nil {
				return err
			}
			given = true
			return emit(c, int64(len(b)))
		})
		if err != nil {
			return r.failed(i, err, given)
		}
		r.h.network.Adopt(r.h.location, string(r.op), sum.Network)
		return emit(chunk{end: sum}, 0)
	}
}

// manyLines takes rows out of a chunk of bytes.
func manyLines(c chunk, yield func([]byte) bool) (bool, error) {
	p := c.lines
	for range c.rows {
		n, k := binary.Uvarint(p)
		if k <= 0 || n > uint64(len(p)-k) {
			return false, column.ErrBytes
		}
		if !yield(p[k : k+int(n) : k+int(n)]) {
			return false, nil
		}
		p = p[k+int(n):]
	}
	return true, nil
}

// cells reads the rows as cells, as splitCells takes them apart. They may be kept.
func (r *reading) cells(ctx context.Context, text bool) iter.Seq2[[]byte, error] {
	return rowsOf(ctx, r, PartForm{Cells: true, Text: text}, func(m *maker, row query.Row) ([]byte, error) { return m.line(nil, row) }, manyLines)
}

// lines reads the rows as lines of a file of a format. A line is valid until the next one is asked for.
func (r *reading) lines(ctx context.Context, format string) iter.Seq2[[]byte, error] {
	return rowsOf(ctx, r, PartForm{Export: format}, func(m *maker, row query.Row) (_ []byte, err error) {
		m.buf, err = m.line(m.buf[:0], row)
		return m.buf, err
	}, manyLines)
}

// encoded reads the rows as they are ordered. A row is valid until the next one is asked for.
func (r *reading) encoded(ctx context.Context) iter.Seq2[[]byte, error] {
	return rowsOf(ctx, r, PartForm{Sort: true}, func(m *maker, row query.Row) (_ []byte, err error) {
		m.buf, err = m.line(m.buf[:0], row)
		return m.buf, err
	}, manyLines)
}

// rows reads the rows as they are.
func (r *reading) rows(ctx context.Context) iter.Seq2[query.Row, error] {
	return rowsOf(ctx, r, PartForm{}, func(_ *maker, row query.Row) (query.Row, error) { return row, nil }, func(c chunk, yield func(query.Row) bool) (bool, error) {
		for i := range c.rows {
			if !yield(query.Row{Batch: c.batch, Index: i}) {
				return false, nil
			}
		}
		return true, nil
	})
}

// appendCells renders columns of a row as JSON, by their positions, each after its length; text renders them as
// show() does.
func appendCells(dst []byte, row query.Row, text bool, shown []int) []byte {
	var buf [512]byte
	cell := buf[:0]
	var plain []byte
	for _, i := range shown {
		v := row.Batch.Columns[i]
		switch {
		case v == nil:
			cell = append(cell[:0], "null"...)
		case text && !v.IsNull(row.Index):
			plain = query.AppendCell(plain[:0], v, row.Index)
			cell = column.AppendText(cell[:0], plain)
		default:
			cell = v.AppendJSON(cell[:0], row.Index)
		}
		dst = binary.AppendUvarint(dst, uint64(len(cell)))
		dst = append(dst, cell...)
	}
	return dst
}

// splitCells takes apart what appendCells has written.
func splitCells(p []byte, n int) []json.RawMessage {
	out := make([]json.RawMessage, 0, n)
	for len(p) > 0 {
		n, k := binary.Uvarint(p)
		out = append(out, json.RawMessage(p[k:k+int(n):k+int(n)]))
		p = p[k+int(n):]
	}
	return out
}
