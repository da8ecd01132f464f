package query

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"hudiscope/core/column"
	"hudiscope/core/groupreader"
	"hudiscope/core/predicate"
	"hudiscope/core/schema"
	"hudiscope/core/spill"
)

// SortKey is a column that rows are ordered by.
type SortKey struct {
	// Column is its name, without regard to case.
	Column string
	Desc   bool
	// Nulls is "first" or "last", or "" for Spark's own: first in ascending order, last in descending.
	Nulls string
}

// sortColumn is a sort key that was found in the plan's type.
type sortColumn struct {
	at         int
	name       string
	desc, last bool
}

// OrderBy orders the rows of Sort. It is called before the first part is read. A name that is not there, or whose
// type Spark can't order by, is a *predicate.Error.
func (p *Plan) OrderBy(keys []SortKey) error {
	p.sort = nil
	for _, k := range keys {
		b, err := predicate.Bind(&predicate.IsNull{X: &predicate.Column{Path: []string{k.Column}}}, p.Type)
		if err != nil {
			return err
		}
		s := sortColumn{name: b.Columns()[0], desc: k.Desc, last: k.Desc}
		switch k.Nulls {
		case "first", "last":
			s.last = k.Nulls == "last"
		case "":
		default:
			return &predicate.Error{Message: fmt.Sprintf("Nulls come first or last, not %q.", k.Nulls)}
		}
		if slices.ContainsFunc(p.sort, func(o sortColumn) bool { return o.name == s.name }) {
			return &predicate.Error{Message: fmt.Sprintf("The rows are ordered by %s twice.", s.name)}
		}
		s.at = p.Type.FieldIndex(s.name)
		if t := p.Type.Fields[s.at].Type; !Orderable(t) {
			return &predicate.Error{Message: fmt.Sprintf("Rows can't be ordered by %s: values of the type %s have no order.", s.name, t.Display()), Try: "Order by another column."}
		}
		p.sort = append(p.sort, s)
	}
	p.choose()
	return nil
}

// Ordered reports whether OrderBy has named columns.
func (p *Plan) Ordered() bool { return len(p.sort) > 0 }

// sorts reports whether rows are ordered by a column.
func (p *Plan) sorts(field string) bool {
	return slices.ContainsFunc(p.sort, func(s sortColumn) bool { return s.name == field })
}

// Orderable reports whether Spark orders values of a type: all but maps and unions, and what holds them.
func Orderable(t *schema.Type) bool {
	switch t.Kind {
	case schema.Map, schema.Union, schema.Null, schema.Invalid:
		return false
	case schema.Array:
		return Orderable(t.Elem)
	case schema.Record:
		for i := range t.Fields {
			if !Orderable(t.Fields[i].Type) {
				return false
			}
		}
	}
	return true
}

// AppendOrdered appends bytes for slot i of an Orderable vector that compare as Spark compares the values: null
// before all, false before true, numbers by value with NaN above all and -0 equal to 0, text and binary byte by
// byte, arrays and structs element by element. No value's bytes are the beginning of another's.
func AppendOrdered(dst []byte, v *column.Vector, i int) []byte {
	if v == nil || v.IsNull(i) {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	t := v.Type
	switch t.Kind {
	case schema.Boolean:
		if v.Bools[i] {
			return append(dst, 1)
		}
		return append(dst, 0)
	case schema.Int, schema.Long:
		return binary.BigEndian.AppendUint64(dst, uint64(v.Ints[i])^1<<63)
	case schema.Enum:
		if n := v.Ints[i]; n >= 0 && n < int64(len(t.Symbols)) {
			return appendOrderedBytes(dst, []byte(t.Symbols[n]))
		}
		return append(dst, 0, 0)
	case schema.Float, schema.Double:
		return binary.BigEndian.AppendUint64(dst, orderedFloat(v.Floats[i]))
	case schema.Bytes, schema.String, schema.Fixed:
		if t.Logical == schema.Decimal {
			return appendOrderedDecimal(dst, v.BytesAt(i))
		}
		return appendOrderedBytes(dst, v.BytesAt(i))
	case schema.Array:
		for j := int(v.Offsets[i]); j < int(v.Offsets[i+1]); j++ {
			dst = AppendOrdered(append(dst, 1), v.Children[0], j)
		}
		return append(dst, 0)
	case schema.Record:
		for _, c := range v.Children {
			dst = AppendOrdered(dst, c, i)
		}
	}
	return dst
}

// orderedFloat maps doubles to numbers of the same order.
func orderedFloat(f float64) uint64 {
	if math.IsNaN(f) {
		return math.MaxUint64
	}
	if f == 0 {
		f = 0 // -0
	}
	b := math.Float64bits(f)
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}

// appendOrderedBytes ends the bytes with 0 0; a 0 among them is written as 0 255.
func appendOrderedBytes(dst, b []byte) []byte {
	for {
		n := bytes.IndexByte(b, 0)
		if n < 0 {
			return append(append(dst, b...), 0, 0)
		}
		dst = append(append(dst, b[:n]...), 0, 0xff)
		b = b[n+1:]
	}
}

// appendOrderedDecimal writes sign and length before the digits; those of one column have one scale.
func appendOrderedDecimal(dst, twos []byte) []byte {
	x := column.BigInt(twos)
	digits := x.Bytes()
	if x.Sign() >= 0 {
		return append(binary.BigEndian.AppendUint32(dst, 1<<31+uint32(len(digits))), digits...)
	}
	dst = binary.BigEndian.AppendUint32(dst, 1<<31-1-uint32(len(digits)))
	for _, d := range digits {
		dst = append(dst, ^d)
	}
	return dst
}

// appendKey appends the bytes by which a row is ordered.
func (p *Plan) appendKey(dst []byte, row Row) []byte {
	for _, s := range p.sort {
		v := row.Batch.Columns[s.at]
		null := v == nil || v.IsNull(row.Index)
		switch {
		case null && s.last:
			dst = append(dst, 2)
			continue
		case null:
			dst = append(dst, 0)
			continue
		}
		dst = append(dst, 1)
		from := len(dst)
		dst = AppendOrdered(dst, v, row.Index)
		if s.desc {
			for i := from; i < len(dst); i++ {
				dst[i] = ^dst[i]
			}
		}
	}
	return dst
}

// SortOptions bound a sort.
type SortOptions struct {
	// Bytes is the memory for rows, 0 = no bound. What does not fit goes to a store of Spill.
	Bytes int64
	Spill spill.Open
	// Progress, if set, is told how many rows were read.
	Progress func(rows int64)
}

// TooManyRows says that rows to be ordered do not fit a bound.
type TooManyRows struct {
	// Rows were read before the bound of Bytes was met; Runs is set when it is that of sorted runs in a store.
	Rows, Bytes int64
	Runs        int
}

// Error renders the bound.
func (e *TooManyRows) Error() string {
	if e.Runs > 0 {
		return fmt.Sprintf("ordering takes more than %d sorted runs of %d bytes: %d rows were read before that", e.Runs, e.Bytes, e.Rows)
	}
	return fmt.Sprintf("the rows to order do not fit %d bytes of memory: %d rows were read before that", e.Bytes, e.Rows)
}

const (
	// minArena and maxArena bound how much memory is taken at once for rows that are sorted.
	minArena, maxArena = 4 << 10, 1 << 20
	// sortChunk is about the size of the chunks of a run in a store, and maxRuns how many runs are merged: each
	// holds one chunk in memory.
	sortChunk = 64 << 10
	maxRuns   = 512
	// refBytes is the memory of one sortRef.
	refBytes = 16
)

// sortRef is where a row's bytes begin.
type sortRef struct{ arena, at, key, size uint32 }

// Sorted are rows in order. Close frees them.
type Sorted struct {
	codec *groupreader.RowCodec
	// arena is the size of an arena.
	arena  int
	arenas [][]byte
	refs   []sortRef
	held   int64
	store  spill.Store
	runs   uint32
	// Len is the number of rows.
	Len int64
}

// Encoder writes rows as Sort takes them.
type Encoder struct {
	plan  *Plan
	codec *groupreader.RowCodec
	key   []byte
}

// Encoder returns an Encoder of the plan's rows, for one goroutine.
func (p *Plan) Encoder() *Encoder { return &Encoder{plan: p, codec: p.rowCodec()} }

// rowCodec writes the columns that are shown; those that rows are only ordered by are done with then.
func (p *Plan) rowCodec() *groupreader.RowCodec {
	columns := slices.Clone(p.Shown())
	slices.Sort(columns)
	return groupreader.NewRowCodec(p.Type, slices.Compact(columns))
}

// Append appends a row: the bytes by which it is ordered after their length, and its columns.
func (e *Encoder) Append(dst []byte, row Row) []byte {
	e.key = e.plan.appendKey(e.key[:0], row)
	dst = binary.AppendUvarint(dst, uint64(len(e.key)))
	return e.codec.Append(append(dst, e.key...), row)
}

// Encode is rows as an Encoder writes them, each valid until the next one is asked for.
func (p *Plan) Encode(rows iter.Seq2[Row, error]) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		e := p.Encoder()
		var buf []byte
		for row, err := range rows {
			if err != nil {
				yield(nil, err)
				return
			}
			buf = e.Append(buf[:0], row)
			if !yield(buf, nil) {
				return
			}
		}
	}
}

// errEncoded tells of a row that no Encoder has written.
var errEncoded = errors.New("a row to be ordered is not as it was written")

// Sort takes all rows, as Encoders of the plan have written them, and orders them by the columns of OrderBy; rows that
// are equal there stay in the order in which they came.
func (p *Plan) Sort(ctx context.Context, rows iter.Seq2[[]byte, error], o SortOptions) (_ *Sorted, err error) {
	s := &Sorted{codec: p.rowCodec(), arena: maxArena}
	if o.Bytes > 0 {
		s.arena = int(min(max(o.Bytes/8, minArena), maxArena))
	}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	for buf, err := range rows {
		if err != nil {
			return nil, err
		}
		size, n := binary.Uvarint(buf)
		if n <= 0 || size > uint64(len(buf)-n) {
			return nil, errEncoded
		}
		buf, key := buf[n:], int(size)
		if o.Bytes > 0 && s.held+int64(len(buf))+refBytes > o.Bytes && len(s.refs) > 0 {
			if o.Spill == nil {
				return nil, &TooManyRows{Rows: s.Len, Bytes: o.Bytes}
			}
			if s.runs == maxRuns {
				return nil, &TooManyRows{Rows: s.Len, Bytes: o.Bytes, Runs: maxRuns}
			}
			if err := s.flush(ctx, o.Spill); err != nil {
				return nil, err
			}
		}
		s.add(buf, key)
		if s.Len++; s.Len%64 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if o.Progress != nil {
				o.Progress(s.Len)
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.runs == 0 {
		s.order()
		return s, nil
	}
	return s, s.flush(ctx, o.Spill)
}

// add keeps the bytes of a row in memory.
func (s *Sorted) add(b []byte, key int) {
	n := len(s.arenas) - 1
	if n < 0 || cap(s.arenas[n])-len(s.arenas[n]) < len(b) {
		s.arenas = append(s.arenas, make([]byte, 0, max(s.arena, len(b))))
		n++
		s.held += int64(cap(s.arenas[n]))
	}
	s.refs = append(s.refs, sortRef{uint32(n), uint32(len(s.arenas[n])), uint32(key), uint32(len(b))})
	s.arenas[n] = append(s.arenas[n], b...)
	s.held += refBytes
}

func (s *Sorted) key(r sortRef) []byte { return s.arenas[r.arena][r.at:][:r.key] }

// order sorts the rows in memory. Of equal rows the one that lies first came first.
func (s *Sorted) order() {
	slices.SortFunc(s.refs, func(a, b sortRef) int {
		return cmp.Or(bytes.Compare(s.key(a), s.key(b)), cmp.Compare(a.arena, b.arena), cmp.Compare(a.at, b.at))
	})
}

// flush moves the rows in memory to the store, as one run.
func (s *Sorted) flush(ctx context.Context, open spill.Open) (err error) {
	s.order()
	if s.store == nil {
		if s.store, err = open(ctx); err != nil {
			return err
		}
	}
	var chunk []byte
	for i, r := range s.refs {
		chunk = binary.AppendUvarint(chunk, uint64(r.key))
		chunk = binary.AppendUvarint(chunk, uint64(r.size))
		chunk = append(chunk, s.arenas[r.arena][r.at:][:r.size]...)
		if len(chunk) >= sortChunk || i == len(s.refs)-1 {
			if err := s.store.Append(ctx, s.runs, chunk); err != nil {
				return err
			}
			chunk = chunk[:0]
		}
	}
	s.runs++
	s.arenas, s.refs, s.held = nil, s.refs[:0], 0
	return nil
}

// Close frees the rows.
func (s *Sorted) Close() {
	if s.store != nil {
		_ = s.store.Close() // nothing is left to be lost
	}
	s.arenas, s.refs, s.store = nil, nil, nil
}

// run is a sorted run that is being read.
type run struct {
	number     int
	next       func() ([]byte, error, bool)
	stop       func()
	chunk      []byte
	key, value []byte
}

// advance reads the next row of the run; false is its end.
func (r *run) advance() (bool, error) {
	if len(r.chunk) == 0 {
		c, err, ok := r.next()
		if err != nil || !ok {
			return false, err
		}
		r.chunk = c
	}
	key, n := binary.Uvarint(r.chunk)
	size, m := binary.Uvarint(r.chunk[max(n, 0):])
	if n <= 0 || m <= 0 || key > size || size > uint64(len(r.chunk)-n-m) {
		return false, spill.Lost("the store of ordered rows")
	}
	r.key, r.value = r.chunk[n+m:][:key], r.chunk[n+m:][key:size]
	r.chunk = r.chunk[n+m+int(size):]
	return true, nil
}

// runHeap has the run with the least row on top; of equal rows the one that came first.
type runHeap []*run

func (h runHeap) Len() int { return len(h) }
func (h runHeap) Less(i, j int) bool {
	return cmp.Or(bytes.Compare(h[i].key, h[j].key), cmp.Compare(h[i].number, h[j].number)) < 0
}
func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)   { *h = append(*h, x.(*run)) }
func (h *runHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// Rows reads the rows in order, from one on. It may be called again after it has ended.
func (s *Sorted) Rows(ctx context.Context, from int64) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		dec := s.codec.Reader(window)
		give := func(value []byte) bool {
			row, _, err := dec.Read(value)
			if err != nil {
				lost := spill.Lost("the store of ordered rows")
				lost.Err = err
				yield(Row{}, lost)
				return false
			}
			return yield(row, nil)
		}
		if s.runs == 0 {
			for i, r := range s.refs[min(max(from, 0), s.Len):] {
				if i%64 == 0 && ctx.Err() != nil {
					yield(Row{}, ctx.Err())
					return
				}
				if !give(s.arenas[r.arena][r.at+r.key : r.at+r.size]) {
					return
				}
			}
			return
		}
		var h runHeap
		defer func() {
			for _, r := range h {
				r.stop()
			}
		}()
		for n := range s.runs {
			r := &run{number: int(n)}
			r.next, r.stop = iter.Pull2(s.store.Chunks(ctx, n))
			more, err := r.advance()
			if err != nil || !more {
				r.stop()
				if err == nil {
					err = spill.Lost("the store of ordered rows") // every run has a row
				}
				yield(Row{}, err)
				return
			}
			h = append(h, r)
		}
		heap.Init(&h)
		given := int64(0)
		for len(h) > 0 {
			r := h[0]
			if given >= from && !give(r.value) {
				return
			}
			if given++; given%64 == 0 && ctx.Err() != nil {
				yield(Row{}, ctx.Err())
				return
			}
			more, err := r.advance()
			if err != nil {
				yield(Row{}, err)
				return
			}
			if more {
				heap.Fix(&h, 0)
			} else {
				r.stop()
				heap.Pop(&h)
			}
		}
		if given != s.Len {
			yield(Row{}, spill.Lost("the store of ordered rows"))
		}
	}
}
