package basefile

import (
	"bytes"
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
	typ   *schema.Type // of the values, which are never null
	// from and size are where the chunk lies in the file, as far as it is known.
	from, size int64
	// reps and defs are nil for columns that have no such levels. The entries before pos are taken;
	// entries counts the others.
	reps, defs []byte
	pos        int
	entries    int
	// held are the values of pages, oldest first; values counts those not taken.
	held   []pageValues
	values int
	// dict is the chunk's dictionary, decoded; of is what it was decoded from.
	dict *column.Vector
	of   parquet.Dictionary
}

// pageValues are the values of one page: those of vals, or, when idx is set, those that idx names in it.
type pageValues struct {
	vals *column.Vector
	idx  []int32
	// n is how many there are, pos how many of them are taken.
	n, pos int
}

// span is the part of a stream that one batch takes.
type span struct {
	s *leafStream
	// reps and defs are the levels of its entries, nil as those of the stream.
	reps, defs []byte
	entries    int
	values     int
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
	for _, r := range s.reps[s.pos:] {
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
	if s.pos > 0 {
		// Spans of earlier batches are not looked at any more.
		s.defs = s.defs[:copy(s.defs, s.defs[min(s.pos, len(s.defs)):])]
		s.reps = s.reps[:copy(s.reps, s.reps[min(s.pos, len(s.reps)):])]
		s.pos = 0
	}
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
	v, err := s.decode(p, n-int(p.NumNulls()))
	if err != nil {
		return err
	}
	if s.n.def == 0 && v.n != n {
		return fmt.Errorf("a page of %d values holds %d", n, v.n)
	}
	if v.n > 0 {
		s.held = append(s.held, v)
		s.values += v.n
	}
	return nil
}

// decode returns the values of a page, in memory of their own.
func (s *leafStream) decode(p parquet.Page, count int) (pageValues, error) {
	data := p.Data()
	dict := p.Dictionary()
	if count < 0 {
		return pageValues{}, fmt.Errorf("a page has more nulls than values")
	}
	if dict == nil {
		v := column.New(s.typ, 0)
		return pageValues{vals: v, n: count}, appendPlain(v, s.n, data, count)
	}
	idx := data.Int32()
	if len(idx) < count {
		return pageValues{}, fmt.Errorf("a page of %d values has %d dictionary indexes", count, len(idx))
	}
	if s.of != dict {
		s.dict, s.of = column.New(s.typ, 0), dict
		if err := appendPlain(s.dict, s.n, dict.Page().Data(), dict.Len()); err != nil {
			return pageValues{}, fmt.Errorf("dictionary: %w", err)
		}
	}
	idx = append(make([]int32, 0, count), idx[:count]...)
	for _, i := range idx {
		if uint32(i) >= uint32(s.dict.Len) {
			return pageValues{}, fmt.Errorf("dictionary index %d of %d", i, s.dict.Len)
		}
	}
	return pageValues{vals: s.dict, idx: idx, n: count}, nil
}

// take cuts off the levels of the next rows rows. Fewer are an error: the footer promised them.
// The values of the span must then be taken, by slots.
func (s *leafStream) take(rows int) (span, error) {
	sp := span{s: s, entries: rows}
	if s.n.rep == 0 {
		if s.entries < rows {
			return sp, fmt.Errorf("%d rows promised, %d found", rows, s.entries)
		}
	} else {
		seen := 0
		left := s.reps[s.pos:]
		sp.entries = len(left)
		for i, r := range left {
			if r == 0 {
				if seen == rows {
					sp.entries = i
					break
				}
				seen++
			}
		}
		if seen < rows {
			return sp, fmt.Errorf("%d rows promised, %d found", rows, seen)
		}
		sp.reps = left[:sp.entries]
	}
	sp.values = sp.entries
	if s.n.def > 0 {
		sp.defs = s.defs[s.pos : s.pos+sp.entries]
		sp.values = bytes.Count(sp.defs, []byte{byte(s.n.def)})
	}
	s.pos += sp.entries
	s.entries -= sp.entries
	if sp.values > s.values {
		return sp, fmt.Errorf("the levels name %d values, the pages hold %d", sp.values, s.values)
	}
	return sp, nil
}

// slots takes values and returns them as a vector of n slots of type t; nulls, if not nil, marks the
// slots without a value. The vector shares no memory that is written again.
func (s *leafStream) slots(t *schema.Type, n int, nulls []bool, values int) (*column.Vector, error) {
	if values > s.values {
		return nil, fmt.Errorf("the levels name %d values, the pages hold %d", values, s.values)
	}
	s.values -= values
	v := &column.Vector{Type: t, Len: n, Nulls: nulls}
	if nulls == nil && len(s.held) > 0 && s.held[0].idx == nil && s.held[0].n-s.held[0].pos >= values {
		p := &s.held[0]
		p.share(v, values)
		s.forget()
		return v, nil
	}
	if err := s.gather(v, values); err != nil {
		return nil, err
	}
	return v, nil
}

// forget lets go of pages that are taken as a whole.
func (s *leafStream) forget() {
	for len(s.held) > 0 && s.held[0].pos == s.held[0].n {
		s.held[0] = pageValues{}
		s.held = s.held[1:]
	}
}

// share makes v the next values of a page that is not by dictionary.
func (p *pageValues) share(v *column.Vector, values int) {
	lo, hi := p.pos, p.pos+values
	p.pos = hi
	src := p.vals
	switch src.Type.Kind {
	case schema.Boolean:
		v.Bools = src.Bools[lo:hi:hi]
	case schema.Int, schema.Long:
		v.Ints = src.Ints[lo:hi:hi]
	case schema.Float, schema.Double:
		v.Floats = src.Floats[lo:hi:hi]
	default:
		from, to := src.Offsets[lo], src.Offsets[hi]
		v.Data = src.Data[from:to:to]
		v.Offsets = make([]uint32, values+1)
		for i, o := range src.Offsets[lo : hi+1] {
			v.Offsets[i] = o - from
		}
	}
}

// gather copies values into the slots of v that are not null.
func (s *leafStream) gather(v *column.Vector, values int) error {
	var size uint64
	bin := false
	switch s.typ.Kind {
	case schema.Boolean:
		v.Bools = make([]bool, v.Len)
	case schema.Int, schema.Long:
		v.Ints = make([]int64, v.Len)
	case schema.Float, schema.Double:
		v.Floats = make([]float64, v.Len)
	default:
		bin = true
		left := values
		for i := range s.held {
			p := &s.held[i]
			m := min(left, p.n-p.pos)
			size += p.dataBytes(m)
			if left -= m; left == 0 {
				break
			}
		}
		if size > maxVectorBytes {
			return errTooLarge
		}
		v.Data = make([]byte, 0, size)
		v.Offsets = make([]uint32, 1, v.Len+1)
	}
	slot := 0
	for values > 0 {
		p := &s.held[0]
		m := min(values, p.n-p.pos)
		if bin {
			slot = p.copyBytes(v, slot, m)
		} else {
			slot = p.copyFixed(v, slot, m)
		}
		p.pos += m
		values -= m
		s.forget()
	}
	if bin {
		for len(v.Offsets) <= v.Len { // nulls at the end
			v.Offsets = append(v.Offsets, uint32(len(v.Data)))
		}
	}
	return nil
}

// dataBytes is the size of the next m texts or bytes.
func (p *pageValues) dataBytes(m int) (size uint64) {
	off := p.vals.Offsets
	if p.idx == nil {
		return uint64(off[p.pos+m] - off[p.pos])
	}
	for _, i := range p.idx[p.pos : p.pos+m] {
		size += uint64(off[i+1] - off[i])
	}
	return size
}

// copyBytes copies the next m texts or bytes into the slots from slot on, and returns the slot behind.
func (p *pageValues) copyBytes(v *column.Vector, slot, m int) int {
	src := p.vals
	for k := p.pos; k < p.pos+m; k++ {
		for v.Nulls != nil && v.Nulls[slot] {
			v.Offsets = append(v.Offsets, uint32(len(v.Data)))
			slot++
		}
		i := k
		if p.idx != nil {
			i = int(p.idx[k])
		}
		v.Data = append(v.Data, src.Data[src.Offsets[i]:src.Offsets[i+1]]...)
		v.Offsets = append(v.Offsets, uint32(len(v.Data)))
		slot++
	}
	return slot
}

func (p *pageValues) copyFixed(v *column.Vector, slot, m int) int {
	var idx []int32
	if p.idx != nil {
		idx = p.idx[p.pos : p.pos+m]
	}
	switch {
	case v.Ints != nil:
		return scatter(v.Ints, p.vals.Ints, idx, v.Nulls, slot, p.pos, m)
	case v.Floats != nil:
		return scatter(v.Floats, p.vals.Floats, idx, v.Nulls, slot, p.pos, m)
	}
	return scatter(v.Bools, p.vals.Bools, idx, v.Nulls, slot, p.pos, m)
}

// scatter copies m values of src, from pos on or those that idx names, into the slots of dst from
// slot on that are not null, and returns the slot behind the last.
func scatter[T any](dst, src []T, idx []int32, nulls []bool, slot, pos, m int) int {
	switch {
	case nulls == nil && idx == nil:
		copy(dst[slot:], src[pos:pos+m])
		return slot + m
	case nulls == nil:
		to := dst[slot : slot+len(idx)]
		for k, i := range idx {
			to[k] = src[i]
		}
		return slot + m
	}
	for k := range m {
		for nulls[slot] {
			slot++
		}
		if idx != nil {
			dst[slot] = src[idx[k]]
		} else {
			dst[slot] = src[pos+k]
		}
		slot++
	}
	return slot
}

// valueType is the leaf's type without its null flag: values in a stream are never null.
func valueType(n *node) *schema.Type {
	t := *n.typ
	t.Nullable = false
	return &t
}

// maxVectorBytes bounds one column of one batch; offsets are 32 bits wide.
const maxVectorBytes = 1 << 30

var errTooLarge = fmt.Errorf("a column holds more than %d bytes in one batch", maxVectorBytes)

// appendPlain copies count values of a page or a dictionary into an empty vector.
func appendPlain(v *column.Vector, n *node, data encoding.Values, count int) error {
	if count == 0 {
		return nil
	}
	short := func(got int) error { return fmt.Errorf("%d values promised, %d found", count, got) }
	switch n.physical {
	case format.Boolean:
		bits := data.Boolean()
		if len(bits)*8 < count {
			return short(len(bits) * 8)
		}
		v.Bools = make([]bool, count)
		for i := range v.Bools {
			v.Bools[i] = bits[i/8]>>(i%8)&1 == 1
		}
	case format.Int32:
		x := data.Int32()
		if len(x) < count {
			return short(len(x))
		}
		v.Ints = make([]int64, count)
		for i, y := range x[:count] {
			v.Ints[i] = int64(y)
		}
	case format.Int64:
		x := data.Int64()
		if len(x) < count {
			return short(len(x))
		}
		v.Ints = append(make([]int64, 0, count), x[:count]...)
	case format.Int96:
		x := data.Int96()
		if len(x) < count {
			return short(len(x))
		}
		v.Ints = make([]int64, count)
		for i, y := range x[:count] {
			v.Ints[i] = int96Micros(y)
		}
	case format.Float:
		x := data.Float()
		if len(x) < count {
			return short(len(x))
		}
		v.Floats = make([]float64, count)
		for i, y := range x[:count] {
			v.Floats[i] = float64(y)
		}
	case format.Double:
		x := data.Double()
		if len(x) < count {
			return short(len(x))
		}
		v.Floats = append(make([]float64, 0, count), x[:count]...)
	case format.ByteArray:
		b, off := data.ByteArray()
		if len(off) < count+1 {
			return short(max(0, len(off)-1))
		}
		for i, lo := range off[:count] {
			if hi := off[i+1]; lo > hi || int(hi) > len(b) {
				return fmt.Errorf("value %d has the range %d to %d of %d bytes", i, lo, hi, len(b))
			}
		}
		from, to := off[0], off[count]
		if to-from > maxVectorBytes {
			return errTooLarge
		}
		v.Data = append(make([]byte, 0, to-from), b[from:to]...)
		v.Offsets = make([]uint32, count+1)
		for i, o := range off[:count+1] {
			v.Offsets[i] = o - from
		}
	case format.FixedLenByteArray:
		b, size := data.FixedLenByteArray()
		if size != n.typ.Size || len(b)/size < count {
			return fmt.Errorf("%d values of %d bytes promised, %d bytes of width %d found", count, n.typ.Size, len(b), size)
		}
		if count*size > maxVectorBytes {
			return errTooLarge
		}
		v.Data = append(make([]byte, 0, count*size), b[:count*size]...)
		v.Offsets = make([]uint32, count+1)
		for i := range v.Offsets {
			v.Offsets[i] = uint32(i * size)
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
