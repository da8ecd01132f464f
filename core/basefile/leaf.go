package basefile

import (
	"errors"
	"fmt"
	"io"
	"slices"

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
	n *node
	// own decodes the pages; it is nil for those that the library reads into pages. library opens those.
	own     *chunkPages
	pages   parquet.Pages
	library func() (parquet.Pages, error)
	done    bool
	typ     *schema.Type // of the values, which are never null
	// from and size are where the chunk lies in the file, as far as it is known.
	from, size int64
	// reps and defs are nil for columns that have no such levels. The entries before pos are taken;
	// entries counts the others. full is set while no entry has a lower definition level than the highest: there
	// are no defs then.
	reps, defs []byte
	full       bool
	pos        int
	entries    int
	// held are the values of pages, oldest first; values counts those not taken.
	held   []pageValues
	values int
	// dict is the chunk's dictionary, decoded; of is what it was decoded from.
	dict *column.Vector
	of   parquet.Dictionary
	// spare are indexes of a page that has been taken, for another page.
	spare []int32
	// same is a vector of one value of the dictionary, sameOf, over and over.
	same   *column.Vector
	sameOf int32
}

// pageValues are the values of one page: those of vals, or, when idx is set, those that idx names in it, or,
// when one is not negative, always that one.
type pageValues struct {
	vals *column.Vector
	idx  []int32
	one  int32
	// n is how many there are, pos how many of them are taken.
	n, pos int
}

// span is the part of a stream that one batch takes.
type span struct {
	s *leafStream
	// reps and defs are the levels of its entries, nil as those of the stream, or where all defs are the highest.
	reps, defs []byte
	entries    int
	values     int
}

// fill reads pages until the stream holds at least rows whole rows or the chunk ends.
func (s *leafStream) fill(rows int) error {
	for !s.done && !s.hasRows(rows) {
		if s.own != nil {
			err := s.own.next(s)
			switch {
			case err == io.EOF:
				s.done = true
			case errors.Is(err, errOther):
				err = s.hand()
			}
			if err != nil && err != io.EOF {
				return err
			}
			continue
		}
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

// hand lets the library read the rest of the chunk.
func (s *leafStream) hand() error {
	pages, err := s.library()
	if err != nil {
		return err
	}
	skip := s.own.pages
	s.own, s.pages = nil, pages
	for range skip {
		p, err := pages.ReadPage()
		if err != nil {
			return err
		}
		parquet.Release(p)
	}
	return nil
}

// close lets go of the library's pages.
func (s *leafStream) close() {
	if s.pages != nil {
		s.pages.Close()
	}
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
	var defs []byte
	if s.n.def > 0 {
		if defs = p.DefinitionLevels(); len(defs) != n {
			return fmt.Errorf("a page of %d values has %d definition levels", n, len(defs))
		}
	}
	s.forgetLevels()
	if s.n.rep > 0 {
		r := p.RepetitionLevels()
		if len(r) != n {
			return fmt.Errorf("a page of %d values has %d repetition levels", n, len(r))
		}
		s.reps = append(s.reps, r...)
	}
	v, err := s.decode(p, n-int(p.NumNulls()))
	if err != nil {
		return err
	}
	if s.n.def == 0 && v.n != n {
		return fmt.Errorf("a page of %d values holds %d", n, v.n)
	}
	if n > 0 {
		s.push(n, defs, v)
	}
	return nil
}

// forgetLevels drops the levels that are taken: spans of earlier batches are not looked at any more.
func (s *leafStream) forgetLevels() {
	if s.pos == 0 {
		return
	}
	s.defs = s.defs[:copy(s.defs, s.defs[min(s.pos, len(s.defs)):])]
	s.reps = s.reps[:copy(s.reps, s.reps[min(s.pos, len(s.reps)):])]
	s.pos = 0
}

// push adds the entries and values of a page; defs nil: all have the highest level.
func (s *leafStream) push(entries int, defs []byte, v pageValues) {
	s.forgetLevels()
	if s.entries == 0 {
		s.full, s.defs = true, s.defs[:0]
	}
	if s.n.def > 0 && (defs != nil || !s.full) {
		if s.full {
			s.defs = s.highest(s.defs[:0], s.entries)
			s.full = false
		}
		if defs != nil {
			s.defs = append(s.defs, defs...)
		} else {
			s.defs = s.highest(s.defs, entries)
		}
	}
	s.entries += entries
	if v.n == 0 {
		return
	}
	s.values += v.n
	if k := len(s.held) - 1; k >= 0 && v.one >= 0 && s.held[k].one == v.one && s.held[k].vals == v.vals {
		s.held[k].n += v.n
		return
	}
	s.held = append(s.held, v)
}

// highest appends n of the highest definition level.
func (s *leafStream) highest(defs []byte, n int) []byte {
	at := len(defs)
	defs = slices.Grow(defs, n)[:at+n]
	fill(defs[at:], byte(s.n.def))
	return defs
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
		return pageValues{vals: v, n: count, one: -1}, appendPlain(v, s.n, data, count)
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
	return pageValues{vals: s.dict, idx: idx, n: count, one: -1}, nil
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
	if s.n.def > 0 && !s.full {
		sp.defs = s.defs[s.pos : s.pos+sp.entries]
		if sp.values = countLevels(sp.defs, byte(s.n.def)); sp.values == sp.entries {
			sp.defs = nil
		}
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
		if p.one >= 0 {
			if err := s.repeat(v, p, values); err != nil {
				return nil, err
			}
			p.pos += values
		} else {
			p.share(v, values)
		}
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
		if s.spare == nil {
			s.spare = s.held[0].idx
		}
		s.held[0] = pageValues{}
		s.held = s.held[1:]
	}
}

// times is a value n times.
func times[T any](x T, n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = x
	}
	return out
}

// repeat makes v one value over and over. Batches share what it is made of.
func (s *leafStream) repeat(v *column.Vector, p *pageValues, values int) error {
	if s.same == nil || s.sameOf != p.one || s.same.Len < values {
		if s.isText() && uint64(len(p.vals.BytesAt(int(p.one))))*uint64(values) > maxVectorBytes {
			return errTooLarge
		}
		s.same, s.sameOf = column.New(s.typ, values), p.one
		for range values {
			s.same.AppendFrom(p.vals, int(p.one))
		}
	}
	(&pageValues{vals: s.same}).share(v, values)
	return nil
}

// isText reports whether the values are texts or bytes.
func (s *leafStream) isText() bool {
	switch s.typ.Kind {
	case schema.Boolean, schema.Int, schema.Long, schema.Float, schema.Double:
		return false
	}
	return true
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
		if v.Offsets = src.Offsets[lo : hi+1 : hi+1]; from == 0 {
			return
		}
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
		v.Data = make([]byte, 0, size+textSlack)
		v.Offsets = make([]uint32, v.Len+1)
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
		for ; slot < v.Len; slot++ { // nulls at the end
			v.Offsets[slot+1] = uint32(len(v.Data))
		}
		v.Data = v.Data[:len(v.Data):len(v.Data)]
	}
	return nil
}

// dataBytes is the size of the next m texts or bytes.
func (p *pageValues) dataBytes(m int) (size uint64) {
	off := p.vals.Offsets
	switch {
	case p.one >= 0:
		return uint64(m) * uint64(off[p.one+1]-off[p.one])
	case p.idx == nil:
		return uint64(off[p.pos+m] - off[p.pos])
	}
	for _, i := range p.idx[p.pos : p.pos+m] {
		size += uint64(off[i+1] - off[i])
	}
	return size
}

// copyBytes copies the next m texts or bytes into the slots from slot on, and returns the slot behind. There is
// room for all of them in v.Data.
func (p *pageValues) copyBytes(v *column.Vector, slot, m int) int {
	off, src := p.vals.Offsets, p.vals.Data[:cap(p.vals.Data)]
	at, dst := len(v.Data), v.Data[:cap(v.Data)]
	if v.Nulls == nil && p.idx != nil {
		to := v.Offsets[slot+1 : slot+1+m]
		for k, i := range p.idx[p.pos : p.pos+m] {
			lo, hi := int(off[i]), int(off[i+1])
			copyText(dst, src, at, lo, hi-lo)
			at += hi - lo
			to[k] = uint32(at)
		}
		v.Data = v.Data[:at]
		return slot + m
	}
	for k := p.pos; k < p.pos+m; k++ {
		for v.Nulls != nil && v.Nulls[slot] {
			slot++
			v.Offsets[slot] = uint32(at)
		}
		i := k
		switch {
		case p.one >= 0:
			i = int(p.one)
		case p.idx != nil:
			i = int(p.idx[k])
		}
		lo, hi := int(off[i]), int(off[i+1])
		copyText(dst, src, at, lo, hi-lo)
		at += hi - lo
		slot++
		v.Offsets[slot] = uint32(at)
	}
	v.Data = v.Data[:at]
	return slot
}

func (p *pageValues) copyFixed(v *column.Vector, slot, m int) int {
	var idx []int32
	switch {
	case p.one >= 0:
		idx = times(p.one, m)
	case p.idx != nil:
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

// appendPlain copies count values of a page or a dictionary of the library into an empty vector.
func appendPlain(v *column.Vector, n *node, data encoding.Values, count int) error {
	if count == 0 {
		return nil
	}
	if data.Kind() != encoding.Kind(n.physical)+1 {
		return fmt.Errorf("values of type %s where %s is promised", data.Kind(), encoding.Kind(n.physical)+1)
	}
	b, off := data.Data()
	switch n.physical {
	case format.FixedLenByteArray:
		if _, size := data.FixedLenByteArray(); size != n.typ.Size {
			return fmt.Errorf("values of %d bytes promised, of %d found", n.typ.Size, size)
		}
	case format.ByteArray:
		if len(off) < count+1 {
			return fmt.Errorf("%d values promised, %d found", count, max(0, len(off)-1))
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
		for i := range v.Offsets {
			v.Offsets[i] = off[i] - from
		}
		v.Len = count
		return nil
	}
	return plainValues(v, n, b, count)
}

// int96Micros converts Impala's timestamp (nanoseconds of the day, Julian day) to microseconds.
func int96Micros(x deprecated.Int96) int64 {
	const julianEpoch = 2440588
	nanos := int64(x[1])<<32 | int64(x[0])
	return (int64(int32(x[2]))-julianEpoch)*86400_000_000 + nanos/1000
}
