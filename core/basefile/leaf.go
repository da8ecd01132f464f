package basefile

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

	"hudiscope/core/column"
	"hudiscope/core/schema"
)

// leafStream reads one column chunk page by page and keeps what has not been taken yet:
// levels (one entry per value slot) and the values that are not null.
type leafStream struct {
	n     *node
	pages parquet.Pages
	done  bool
	// reps and defs are nil for columns that have no such levels; entries counts slots.
	reps, defs []byte
	entries    int
	vals       *column.Vector
	// valPos is the number of values already taken.
	valPos int
}

// span is the part of a stream that one batch takes.
type span struct {
	s      *leafStream
	lo, hi int // entries
	valLo  int // index of the first value
	values int
}

// fill reads pages until the stream holds at least rows whole rows or the chunk ends.
func (s *leafStream) fill(rows int) error {
	for !s.done && !s.hasRows(rows) {
		p, err := s.pages.ReadPage()
		if err == io.EOF {
			s.done = true
			return nil
		}
		if err != nil {
			return err
		}
		err = s.append(p)
		parquet.Release(p)
		if err != nil {
			return err
		}
	}
	return nil
}

// hasRows reports whether rows whole rows are held: one more row has begun after them.
func (s *leafStream) hasRows(rows int) bool {
	if s.n.rep == 0 {
		return s.entries >= rows
	}
	seen := 0
	for _, r := range s.reps {
		if r == 0 {
			if seen++; seen > rows {
				return true
			}
		}
	}
	return false
}

func (s *leafStream) append(p parquet.Page) error {
	n := int(p.NumValues())
	if s.n.def > 0 {
		d := p.DefinitionLevels()
		if len(d) != n {
			return fmt.Errorf("a page of %d values has %d definition levels", n, len(d))
		}
		s.defs = append(s.defs, d...)
	}
	if s.n.rep > 0 {
		r := p.RepetitionLevels()
		if len(r) != n {
			return fmt.Errorf("a page of %d values has %d repetition levels", n, len(r))
		}
		s.reps = append(s.reps, r...)
	}
	s.entries += n
	before := s.vals.Len
	if err := appendValues(s.vals, s.n, p, n-int(p.NumNulls())); err != nil {
		return err
	}
	if s.n.def == 0 && s.vals.Len-before != n {
		return fmt.Errorf("a page of %d values holds %d", n, s.vals.Len-before)
	}
	return nil
}

// take cuts off the next rows rows. Fewer are an error: the footer promised them.
func (s *leafStream) take(rows int) (span, error) {
	sp := span{s: s, valLo: s.valPos}
	if s.n.rep == 0 {
		if s.entries < rows {
			return sp, fmt.Errorf("%d rows promised, %d found", rows, s.entries)
		}
		sp.hi = rows
	} else {
		seen := 0
		sp.hi = len(s.reps)
		for i, r := range s.reps {
			if r == 0 {
				if seen == rows {
					sp.hi = i
					break
				}
				seen++
			}
		}
		if seen < rows {
			return sp, fmt.Errorf("%d rows promised, %d found", rows, seen)
		}
	}
	if s.n.def == 0 {
		sp.values = sp.hi
	} else {
		for _, d := range s.defs[:sp.hi] {
			if int(d) == s.n.def {
				sp.values++
			}
		}
	}
	if s.valPos+sp.values > s.vals.Len {
		return sp, fmt.Errorf("the levels name %d values, the pages hold %d", s.valPos+sp.values, s.vals.Len)
	}
	return sp, nil
}

// drop forgets what a span took, after the batch has been built.
func (s *leafStream) drop(sp span) {
	s.entries -= sp.hi
	if s.defs != nil {
		s.defs = append(s.defs[:0], s.defs[sp.hi:]...)
	}
	if s.reps != nil {
		s.reps = append(s.reps[:0], s.reps[sp.hi:]...)
	}
	s.valPos += sp.values
	if s.valPos == s.vals.Len {
		s.vals, s.valPos = column.New(s.vals.Type, 0), 0
		return
	}
	if s.valPos > 4096 && s.valPos > s.vals.Len/2 {
		keep := column.New(s.vals.Type, s.vals.Len-s.valPos)
		for i := s.valPos; i < s.vals.Len; i++ {
			keep.AppendFrom(s.vals, i)
		}
		s.vals, s.valPos = keep, 0
	}
}

// valueType is the leaf's type without its null flag: values in a stream are never null.
func valueType(n *node) *schema.Type {
	t := *n.typ
	t.Nullable = false
	return &t
}

// appendValues copies the non-null values of a page, through its dictionary if it has one.
func appendValues(v *column.Vector, n *node, p parquet.Page, count int) error {
	data := p.Data()
	dict := p.Dictionary()
	if dict == nil {
		return appendPlain(v, n, data, count)
	}
	idx := data.Int32()
	if len(idx) < count {
		return fmt.Errorf("a page of %d values has %d dictionary indexes", count, len(idx))
	}
	dv := column.New(v.Type, dict.Len())
	if err := appendPlain(dv, n, dict.Page().Data(), dict.Len()); err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	for _, i := range idx[:count] {
		if i < 0 || int(i) >= dv.Len {
			return fmt.Errorf("dictionary index %d of %d", i, dv.Len)
		}
	}
	switch v.Type.Kind {
	case schema.Boolean:
		for _, i := range idx[:count] {
			v.Bools = append(v.Bools, dv.Bools[i])
		}
	case schema.Int, schema.Long:
		for _, i := range idx[:count] {
			v.Ints = append(v.Ints, dv.Ints[i])
		}
	case schema.Float, schema.Double:
		for _, i := range idx[:count] {
			v.Floats = append(v.Floats, dv.Floats[i])
		}
	default:
		for _, i := range idx[:count] {
			v.Data = append(v.Data, dv.BytesAt(int(i))...)
			if len(v.Data) > maxVectorBytes {
				return errTooLarge
			}
			v.Offsets = append(v.Offsets, uint32(len(v.Data)))
		}
	}
	v.Len += count
	return nil
}

// maxVectorBytes bounds one column of one batch; offsets are 32 bits wide.
const maxVectorBytes = 1 << 30

var errTooLarge = fmt.Errorf("a column holds more than %d bytes in one batch", maxVectorBytes)

func appendPlain(v *column.Vector, n *node, data encoding.Values, count int) error {
	short := func(got int) error { return fmt.Errorf("%d values promised, %d found", count, got) }
	switch n.physical {
	case format.Boolean:
		bits := data.Boolean()
		if len(bits)*8 < count {
			return short(len(bits) * 8)
		}
		for i := range count {
			v.Bools = append(v.Bools, bits[i/8]>>(i%8)&1 == 1)
		}
	case format.Int32:
		x := data.Int32()
		if len(x) < count {
			return short(len(x))
		}
		for _, y := range x[:count] {
			v.Ints = append(v.Ints, int64(y))
		}
	case format.Int64:
		x := data.Int64()
		if len(x) < count {
			return short(len(x))
		}
		v.Ints = append(v.Ints, x[:count]...)
	case format.Int96:
		x := data.Int96()
		if len(x) < count {
			return short(len(x))
		}
		for _, y := range x[:count] {
			v.Ints = append(v.Ints, int96Micros(y))
		}
	case format.Float:
		x := data.Float()
		if len(x) < count {
			return short(len(x))
		}
		for _, y := range x[:count] {
			v.Floats = append(v.Floats, float64(y))
		}
	case format.Double:
		x := data.Double()
		if len(x) < count {
			return short(len(x))
		}
		v.Floats = append(v.Floats, x[:count]...)
	case format.ByteArray:
		b, off := data.ByteArray()
		if len(off) < count+1 && count > 0 {
			return short(len(off) - 1)
		}
		for i := range count {
			lo, hi := off[i], off[i+1]
			if lo > hi || int(hi) > len(b) {
				return fmt.Errorf("value %d has the range %d to %d of %d bytes", i, lo, hi, len(b))
			}
			v.Data = append(v.Data, b[lo:hi]...)
			if len(v.Data) > maxVectorBytes {
				return errTooLarge
			}
			v.Offsets = append(v.Offsets, uint32(len(v.Data)))
		}
	case format.FixedLenByteArray:
		b, size := data.FixedLenByteArray()
		if size != n.typ.Size || len(b) < count*size {
			return fmt.Errorf("%d values of %d bytes promised, %d bytes of width %d found", count, n.typ.Size, len(b), size)
		}
		for i := range count {
			v.Data = append(v.Data, b[i*size:(i+1)*size]...)
			if len(v.Data) > maxVectorBytes {
				return errTooLarge
			}
			v.Offsets = append(v.Offsets, uint32(len(v.Data)))
		}
	default:
		return fmt.Errorf("physical type %d is unknown", n.physical)
	}
	v.Len += count
	return nil
}

// int96Micros converts Impala's timestamp (nanoseconds of the day, Julian day) to microseconds.
func int96Micros(x deprecated.Int96) int64 {
	const julianEpoch = 2440588
	nanos := int64(x[1])<<32 | int64(x[0])
	return (int64(int32(x[2]))-julianEpoch)*86400_000_000 + nanos/1000
}
