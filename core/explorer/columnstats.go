package explorer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/column"
	"hudiscope/core/groupreader"
	"hudiscope/core/lanes"
	"hudiscope/core/query"
	"hudiscope/core/release"
	"hudiscope/core/schema"
	"hudiscope/core/table"
)

const (
	defaultTop = 10
	maxTop     = 100
	// statBytes is the memory for the different values of all columns, in bytes; each column takes its share, within
	// these bounds.
	statBytes              = 64 << 20
	minShare, maxShare     = 16 << 10, 4 << 20
	maxDistinct            = 20_000
	shownValue             = 1 << 10
	entryBytes             = 64 // of a map's entry, beside its text
	decimalMeanScale       = 4
	histogramBins, maxBins = 24, 48
)

// ColumnStats reads all rows of a query once and tells what values its columns have.
func (s *Service) ColumnStats(ctx context.Context, req api.ColumnStatsRequest) (*api.ColumnStats, error) {
	if req.Top < 0 || req.Top > maxTop {
		return nil, invalid("At most %d of the most frequent values are told.", maxTop)
	}
	if req.Top == 0 {
		req.Top = defaultTop
	}
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	h.progress(ctx, api.Progress{Phase: "Planning the read"})
	p, err := s.prepare(ctx, h, readRequest{req.Options, req.Partitions, req.FileID, req.Condition}, false, func(dirs int) {
		h.progress(ctx, api.Progress{Phase: "Listing partitions", Done: int64(dirs), Unit: "directories"})
	})
	if err != nil {
		return nil, err
	}
	notes := cursor{opts: s.opts, plan: p, failed: map[release.FailureID]bool{}}
	out := &api.ColumnStats{Columns: []api.ColumnFacts{}, AsOf: p.AsOf, Rules: h.table.Rules.Name()}
	read := notes.reading(h, api.OpColumnStats)
	facts, err := read.facts(ctx, req.Top, func(rows int64) {
		h.progress(ctx, api.Progress{Phase: "Reading the columns", Done: rows, Unit: "rows"})
	})
	if err != nil {
		return nil, err
	}
	out.Rows = facts.Rows
	for i, c := range shownColumns(p.Plan) {
		f := facts.Columns[i]
		f.Column = c
		out.Columns = append(out.Columns, f)
	}
	for i, sum := range facts.Parts {
		notes.note(&p.Parts[i].Slice, sum, &h.table.Rules)
	}
	p.lookAtFolders(ctx)
	out.Findings = append(notes.notes, p.allFindings(&h.table.Rules)...)
	return out, nil
}

// Facts are the statistics of some columns of a plan's rows, and what reading each part found out.
type Facts struct {
	Rows    int64             `json:"rows"`
	Columns []api.ColumnFacts `json:"columns"`
	Parts   []*PartSummary    `json:"parts"`
}

// statShare is the memory for the different values of a column, of n.
func statShare(n int) int { return min(max(statBytes/max(n, 1), minShare), maxShare) }

// factsOf reads all parts of a plan and tells of the columns that it shows.
func factsOf(ctx context.Context, p *query.Plan, ro table.ReadOptions, top, share int, progress func(rows int64)) (*Facts, error) {
	shown := p.Shown()
	out := &Facts{Columns: make([]api.ColumnFacts, len(shown)), Parts: make([]*PartSummary, len(p.Parts))}
	list := make([]*columnSketch, len(shown))
	for i, at := range shown {
		list[i] = newColumnSketch(p.Type.Fields[at].Type, share)
	}
	for k := range p.Parts {
		var st groupreader.Stats
		for row, err := range p.Parts[k].Rows(ctx, ro, &st) {
			if err != nil {
				return nil, err
			}
			for i, at := range shown {
				list[i].add(row.Batch.Columns[at], row.Index)
			}
			if out.Rows++; out.Rows%64 == 0 {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				progress(out.Rows)
			}
		}
		out.Parts[k] = summaryOf(p, &st)
	}
	for i := range list {
		out.Columns[i] = list[i].facts(top)
	}
	return out, ctx.Err()
}

// facts tells of the columns of a plan's rows. What takes time is looking at every value, so that the columns, not the
// slices, are divided: each is told of by one reader, which sees the rows in their order.
func (r *reading) facts(ctx context.Context, top int, progress func(rows int64)) (*Facts, error) {
	p := r.plan
	shown := p.Shown()
	share := statShare(len(shown))
	r.width = min(r.lanes(), len(shown))
	if r.width < 2 {
		return factsOf(ctx, p.Plan, r.opts.read(), top, share, progress)
	}
	placed := r.groups(ctx, shown, r.width)
	groups := make([][]string, r.width)
	for g, list := range placed {
		for _, i := range list {
			groups[g] = append(groups[g], p.Type.Fields[shown[i]].Name)
		}
	}
	// What does not fit its share of the memory is spilled where any part would be with all of it.
	ro, spills := r.opts.read(), false
	ro.MergeBytes /= int64(r.width)
	for i := range p.Parts {
		spills = spills || r.largeLogs(i)
	}
	if !spills {
		ro.Spill = noSpill
	}
	run := lanes.Start(ctx, lanes.Options{Width: r.width, Bytes: 1}, 0, r.width, func(ctx context.Context, lane, group int, emit func(*Facts, int64) error) error {
		tell := func(int64) {}
		if group == 0 {
			tell = progress
		}
		f, err := r.groupFacts(ctx, lane, groups[group], ro, spills, top, share, tell)
		if err != nil {
			return r.failed(0, err, false) // of all parts; it has given nothing
		}
		return emit(f, 0)
	})
	defer run.Stop()
	out := &Facts{Columns: make([]api.ColumnFacts, len(shown))}
	for g := range r.width {
		_, err := run.Piece(g, func(f *Facts) bool {
			if out.Rows, out.Parts = f.Rows, f.Parts; len(f.Columns) == len(groups[g]) {
				for i, c := range f.Columns {
					out.Columns[placed[g][i]] = c
				}
			}
			return true
		})
		if errors.Is(err, ErrAlone) {
			run.Pause()
			return factsOf(ctx, p.Plan, r.opts.read(), top, share, progress)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, ctx.Err()
}

// groups divides the columns shown, by their numbers, among readers that have about as much to do: a column costs by its
// values, of which the stored bytes tell how many are different.
func (r *reading) groups(ctx context.Context, shown []int, n int) [][]int {
	p := r.plan
	largest := &p.Parts[0].Slice
	for i := range p.Parts {
		if s := &p.Parts[i].Slice; s.Bytes-s.LogBytes > largest.Bytes-largest.LogBytes {
			largest = s
		}
	}
	// Where this fails the read itself does, and says why.
	stored, _ := r.h.table.ColumnBytes(ctx, largest)
	total := int64(0)
	for _, b := range stored {
		total += b
	}
	weight := make([]int64, len(shown))
	order := make([]int, len(shown))
	for i, at := range shown {
		f := &p.Type.Fields[at]
		order[i] = i
		// A value costs something by itself; without a footer a text counts as three numbers.
		weight[i] = total/int64(4*len(shown)) + stored[f.Name]
		if stored == nil {
			if weight[i] = 1; measureOf(f.Type) == noMeasure {
				weight[i] = 3
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weight[b], weight[a]) })
	out, load := make([][]int, n), make([]int64, n)
	for _, i := range order {
		g := 0
		for k := range load {
			if load[k] < load[g] || load[k] == load[g] && len(out[k]) < len(out[g]) {
				g = k
			}
		}
		out[g] = append(out[g], i)
		load[g] += weight[i]
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out
}

// groupFacts tells of some columns of the plan's rows, by a program of the pool where there is one.
func (r *reading) groupFacts(ctx context.Context, lane int, columns []string, ro table.ReadOptions, spills bool, top, share int, progress func(rows int64)) (*Facts, error) {
	p := r.plan
	condition := p.asked.condition
	condition.Columns = columns
	if r.opts.Pool != nil {
		req, err := r.partRequest(ro, spills)
		if err != nil {
			return nil, err
		}
		req.Condition = condition
		for i := range p.Parts {
			req.Slices = append(req.Slices, p.Parts[i].Slice)
		}
		f, err := r.opts.Pool.Facts(ctx, lane, &FactsRequest{PartRequest: *req, Top: top, Share: share}, progress)
		if err == nil {
			for _, sum := range f.Parts {
				r.h.network.Adopt(r.h.location, string(r.op), sum.Network)
			}
		}
		return f, err
	}
	var slices []groupreader.Slice
	for i := range p.Parts {
		slices = append(slices, p.Parts[i].Slice)
	}
	q, err := query.PlanSlices(ctx, r.h.table, p.Query, p.AsOf, slices)
	if err != nil {
		return nil, err
	}
	if err := restrict(q, condition); err != nil {
		return nil, err
	}
	return factsOf(ctx, q, ro, top, share, progress)
}

// FactsRequest asks for the statistics of the columns that a condition chooses, over the rows of slices.
type FactsRequest struct {
	PartRequest
	// Top is how many of the most frequent values are told, Share the memory for the different values of a column.
	Top   int `json:"top"`
	Share int `json:"share"`
}

// ReadFacts answers a FactsRequest. Its errors are those of ReadPart; progress is told how many rows were read.
func (s *Service) ReadFacts(ctx context.Context, req *FactsRequest, progress func(rows int64)) (*Facts, error) {
	h, p, ro, err := s.partPlan(ctx, &req.PartRequest)
	if err != nil {
		return nil, err
	}
	last := int64(0)
	ro.Progress = func(string, int64) { progress(last) }
	f, err := factsOf(s.network.With(ctx, h.location, "part"), p, ro, req.Top, req.Share, func(rows int64) {
		last = rows
		progress(rows)
	})
	if err == nil && len(f.Parts) > 0 {
		f.Parts[0].Network = s.network.Take(h.location)
	}
	return f, err
}

// measure is how a type's values are numbers on an axis.
type measure uint8

const (
	noMeasure measure = iota
	intMeasure
	floatMeasure
	decimalMeasure
)

func measureOf(t *schema.Type) measure {
	switch t.Kind {
	case schema.Int, schema.Long:
		return intMeasure
	case schema.Float, schema.Double:
		return floatMeasure
	case schema.Bytes, schema.Fixed:
		if t.Logical == schema.Decimal {
			return decimalMeasure
		}
	}
	return noMeasure
}

// columnSketch collects what facts are made of, in bounded memory.
type columnSketch struct {
	typ     *schema.Type
	measure measure
	ordered bool

	values, nulls, nan int64
	counts             counter
	bins               histogram

	// min and max are values as JSON, minKey and maxKey their bytes of query.AppendOrdered.
	minKey, maxKey []byte
	min, max       []byte

	// ints is the exact sum of integers and decimals, as far as it is not in sum64; floats that of doubles, with
	// what adding lost.
	ints         big.Int
	sum64        int64
	floats, lost float64

	buf, key []byte
}

func newColumnSketch(t *schema.Type, share int) *columnSketch {
	m := measureOf(t)
	return &columnSketch{typ: t, measure: m, ordered: query.Orderable(t), counts: newCounter(share), bins: histogram{whole: m == intMeasure}}
}

// add takes slot i of a vector of the column's type; nil is null.
func (s *columnSketch) add(v *column.Vector, i int) {
	if v == nil || v.IsNull(i) {
		s.nulls++
		return
	}
	s.values++
	switch s.measure {
	case intMeasure:
		x := v.Ints[i]
		sum := s.sum64 + x
		if (sum > s.sum64) != (x > 0) && x != 0 {
			s.ints.Add(&s.ints, big.NewInt(s.sum64))
			sum = x
		}
		s.sum64 = sum
		s.bins.addInt(x)
	case floatMeasure:
		x := v.Floats[i]
		if math.IsNaN(x) {
			s.nan++
		}
		s.addFloat(x)
		s.bins.addFloat(x)
	case decimalMeasure:
		x := column.BigInt(v.BytesAt(i))
		s.ints.Add(&s.ints, x)
		s.bins.addFloat(decimalFloat(x, s.typ.Scale))
	}
	if s.ordered {
		s.key = query.AppendOrdered(s.key[:0], v, i)
		if s.min == nil || string(s.key) < string(s.minKey) {
			s.min, s.minKey = v.AppendJSON(s.min[:0], i), append(s.minKey[:0], s.key...)
		}
		if s.max == nil || string(s.key) > string(s.maxKey) {
			s.max, s.maxKey = v.AppendJSON(s.max[:0], i), append(s.maxKey[:0], s.key...)
		}
		// Equal values have equal bytes here: 0 and -0, all that are no number.
		s.counts.add(s.key, v, i)
		return
	}
	s.buf = v.AppendJSON(s.buf[:0], i)
	s.counts.add(s.buf, v, i)
}

// addFloat sums as Neumaier does, so that the mean is as exact as a double can be.
func (s *columnSketch) addFloat(x float64) {
	t := s.floats + x
	if !math.IsInf(t, 0) && !math.IsNaN(t) {
		if math.Abs(s.floats) >= math.Abs(x) {
			s.lost += (s.floats - t) + x
		} else {
			s.lost += (x - t) + s.floats
		}
	}
	s.floats = t
}

// cutJSON shortens a long value to a text of its beginning.
func cutJSON(b []byte) (json.RawMessage, bool) {
	if len(b) <= shownValue {
		return b, false
	}
	text := string(b)
	if b[0] == '"' {
		if json.Unmarshal(b, &text) != nil {
			text = string(b)
		}
	}
	if len(text) > shownValue {
		text = strings.ToValidUTF8(text[:shownValue], "")
	}
	return column.AppendText(nil, []byte(text)), true
}

func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n, 0))), nil)
}

// decimalFloat is about a decimal's value.
func decimalFloat(unscaled *big.Int, scale int) float64 {
	if unscaled.IsInt64() && scale >= 0 && scale <= 22 {
		return float64(unscaled.Int64()) / math.Pow10(scale)
	}
	f, _ := new(big.Rat).SetFrac(unscaled, pow10(scale)).Float64()
	return f
}

// facts are the statistics; the sketch is not used afterwards.
func (s *columnSketch) facts(top int) api.ColumnFacts {
	f := api.ColumnFacts{Nulls: s.nulls, NaN: s.nan}
	f.Distinct, f.Approximate = s.counts.distinct()
	f.Top = s.counts.top(top)
	if s.min != nil {
		var a, b bool
		f.Min, a = cutJSON(s.min)
		f.Max, b = cutJSON(s.max)
		f.Cut = a || b
	}
	if s.values == 0 {
		return f
	}
	if s.typ.Logical == schema.None || s.typ.Logical == schema.Decimal {
		f.Mean = s.mean()
	}
	if s.measure != noMeasure {
		f.Histogram = s.bins.intervals(s.edge)
	}
	return f
}

func (s *columnSketch) mean() json.RawMessage {
	switch s.measure {
	case intMeasure:
		s.ints.Add(&s.ints, big.NewInt(s.sum64))
		f, _ := new(big.Rat).SetFrac(&s.ints, big.NewInt(s.values)).Float64()
		return column.AppendFloat(nil, f)
	case floatMeasure:
		return column.AppendFloat(nil, (s.floats+s.lost)/float64(s.values))
	case decimalMeasure:
		x := new(big.Rat).SetFrac(&s.ints, new(big.Int).Mul(pow10(s.typ.Scale), big.NewInt(s.values)))
		return column.AppendText(nil, []byte(x.FloatString(s.typ.Scale+decimalMeanScale))) // half away from zero
	}
	return nil
}

// edge writes the end of an interval, n times two to the power of exp, as a value of the column's type.
func (s *columnSketch) edge(n float64, exp int) json.RawMessage {
	if s.measure != intMeasure {
		return column.AppendFloat(nil, math.Ldexp(n, exp))
	}
	x := big.NewInt(int64(n))
	x.Lsh(x, uint(exp))
	if s.typ.Logical == schema.None {
		return json.RawMessage(x.String())
	}
	// The last edge may lie beyond what the type holds.
	if !x.IsInt64() {
		x.SetInt64(math.MaxInt64)
	}
	one := column.New(s.typ, 1)
	one.AppendInt(x.Int64())
	return one.AppendJSON(nil, 0)
}
