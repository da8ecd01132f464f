package explorer

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/column"
	"hudiscope/core/groupreader"
	"hudiscope/core/query"
	"hudiscope/core/release"
	"hudiscope/core/schema"
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
	shown := p.Shown()
	out := &api.ColumnStats{Columns: []api.ColumnFacts{}, AsOf: p.AsOf, Rules: h.table.Rules.Name()}
	share := min(max(statBytes/max(len(shown), 1), minShare), maxShare)
	list := make([]*columnSketch, len(shown))
	for i, at := range shown {
		list[i] = newColumnSketch(p.Type.Fields[at].Type, share)
	}
	var from *groupreader.Slice
	for row, err := range notes.rows(ctx, h, &from) {
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
			h.progress(ctx, api.Progress{Phase: "Reading the columns", Done: out.Rows, Unit: "rows"})
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, c := range shownColumns(p.Plan) {
		f := list[i].facts(req.Top)
		f.Column = c
		out.Columns = append(out.Columns, f)
	}
	out.Findings = append(notes.notes, p.allFindings(&h.table.Rules)...)
	return out, nil
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
