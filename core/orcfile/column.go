package orcfile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"time"
	_ "time/tzdata" // the zones that timestamps were written in; browsers have no files of them

	"github.com/scritchley/orc"

	"hudiscope/core/column"
	"hudiscope/core/schema"
)

const (
	// maxVectorBytes bounds the bytes of one column of one batch; offsets are 32 bits wide.
	maxVectorBytes = 1 << 30
	// maxElements bounds the elements of the lists of one column of one batch.
	maxElements = 1 << 26
	// maxDictionary bounds a dictionary, in bytes.
	maxDictionary = 256 << 20
)

type streamKey struct {
	column uint32
	kind   streamKind
}

// place is where a stream lies in the file.
type place struct{ off, len int64 }

// opener opens the columns of one stripe.
type opener struct {
	f         *File
	ctx       context.Context
	encodings []encoding
	zone      string
	streams   map[streamKey]place
}

// stream opens a stream of a column; one that is absent is empty.
func (o *opener) stream(id uint32, kind streamKind) *stream {
	p := o.streams[streamKey{id, kind}]
	return o.f.codec.stream(o.ctx, o.f.obj, p.off, p.len)
}

// reader reads one column of a stripe, some rows at a time.
type reader struct {
	n       *node
	present *bits
	kids    []*reader
	// ints are the values, lengths or dictionary indexes, second the nanoseconds or scales.
	ints, second *integers
	bools        *bits
	bytes        *byteRuns
	data         *stream
	// words is a dictionary, word i from offsets[i] to offsets[i+1].
	words   []byte
	offsets []int64
	// base is the second that timestamps count from.
	base int64
}

// runs is what the library's readers of numbers have in common.
type runs interface {
	Next() bool
	Int() int64
	Err() error
}

// integers reads a run-length encoded stream of numbers.
type integers struct {
	s *stream
	r runs
}

func (o *opener) integers(id uint32, kind streamKind, signed bool) (*integers, error) {
	s := o.stream(id, kind)
	switch k := o.encodings[id].kind; k {
	case encodeDirectV2, encodeDictionaryV2:
		return &integers{s, orc.NewRunLengthIntegerReaderV2(s, signed, false)}, nil
	case encodeDirect, encodeDictionary:
		return &integers{s, orc.NewRunLengthIntegerReader(s, signed)}, nil
	default:
		return nil, fmt.Errorf("column encoding %d is not known", uint32(k))
	}
}

func (x *integers) next() (int64, error) {
	if x.r.Next() {
		v := x.r.Int()
		if x.s.err == nil && !x.s.over {
			if err := x.r.Err(); err != nil {
				return 0, err
			}
			return v, nil
		}
	}
	if err := x.s.check(); err != nil {
		return 0, err
	}
	if err := x.r.Err(); err != nil && err != io.EOF {
		return 0, err
	}
	return 0, io.ErrUnexpectedEOF
}

// length reads a number that must not be negative.
func (x *integers) length() (int64, error) {
	n, err := x.next()
	if err == nil && (n < 0 || n > maxVectorBytes) {
		return 0, fmt.Errorf("a length of %d", n)
	}
	return n, err
}

// bits reads a stream of booleans, byteRuns one of bytes.
type bits struct {
	s *stream
	r *orc.BooleanReader
}

func (b *bits) next() (bool, error) {
	if b.r.Next() && b.s.err == nil && !b.s.over {
		return b.r.Bool(), nil
	}
	if err := b.s.check(); err != nil {
		return false, err
	}
	return false, io.ErrUnexpectedEOF
}

type byteRuns struct {
	s *stream
	r *orc.RunLengthByteReader
}

func (b *byteRuns) next() (byte, error) {
	if b.r.Next() {
		if v := b.r.Byte(); b.s.err == nil && !b.s.over {
			return v, nil
		}
	}
	if err := b.s.check(); err != nil {
		return 0, err
	}
	return 0, io.ErrUnexpectedEOF
}

// open opens a column and the columns below it.
func (o *opener) open(n *node) (*reader, error) {
	if int64(n.id) >= int64(len(o.encodings)) {
		return nil, fmt.Errorf("the stripe has %d columns, this is number %d", len(o.encodings), n.id)
	}
	r := &reader{n: n}
	if _, ok := o.streams[streamKey{n.id, streamPresent}]; ok {
		s := o.stream(n.id, streamPresent)
		r.present = &bits{s, orc.NewBooleanReader(s)}
	}
	var err error
	switch n.kind {
	case kindBoolean:
		s := o.stream(n.id, streamData)
		r.bools = &bits{s, orc.NewBooleanReader(s)}
	case kindByte, kindUnion:
		s := o.stream(n.id, streamData)
		r.bytes = &byteRuns{s, orc.NewRunLengthByteReader(s)}
	case kindShort, kindInt, kindLong, kindDate:
		r.ints, err = o.integers(n.id, streamData, true)
	case kindFloat, kindDouble:
		r.data = o.stream(n.id, streamData)
	case kindString, kindVarchar, kindChar, kindBinary:
		err = o.text(r)
	case kindTimestamp, kindInstant:
		if r.base, err = o.timestampBase(n); err != nil {
			return nil, err
		}
		if r.ints, err = o.integers(n.id, streamData, true); err != nil {
			return nil, err
		}
		r.second, err = o.integers(n.id, streamSecondary, false)
	case kindDecimal:
		r.data = o.stream(n.id, streamData)
		r.second, err = o.integers(n.id, streamSecondary, true)
	case kindList, kindMap:
		r.ints, err = o.integers(n.id, streamLength, false)
	case kindStruct:
	default:
		return nil, fmt.Errorf("columns of kind %s are not known", n.kind)
	}
	if err != nil {
		return nil, err
	}
	for _, k := range n.kids {
		kid, err := o.open(k)
		if err != nil {
			return nil, err
		}
		r.kids = append(r.kids, kid)
	}
	return r, nil
}

// text opens a column of texts or bytes: each with its length, or as words of a dictionary.
func (o *opener) text(r *reader) (err error) {
	id, e := r.n.id, o.encodings[r.n.id]
	switch e.kind {
	case encodeDirect, encodeDirectV2:
		r.data = o.stream(id, streamData)
		r.ints, err = o.integers(id, streamLength, false)
		return err
	}
	if r.words, err = o.stream(id, streamDictionary).all(maxDictionary); err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	lengths, err := o.integers(id, streamLength, false)
	if err != nil {
		return err
	}
	r.offsets = []int64{0}
	at := int64(0)
	for range e.dictionary {
		n, err := lengths.length()
		if err != nil {
			return fmt.Errorf("dictionary: %w", err)
		}
		if at += n; at > int64(len(r.words)) {
			return fmt.Errorf("dictionary: word %d ends at %d of %d bytes", len(r.offsets)-1, at, len(r.words))
		}
		r.offsets = append(r.offsets, at)
	}
	r.ints, err = o.integers(id, streamData, false)
	return err
}

// timestampBase is the start of 2015 in the writer's zone: what timestamps count from.
func (o *opener) timestampBase(n *node) (int64, error) {
	zone := time.UTC
	if o.zone != "" && !n.utc {
		z, err := time.LoadLocation(o.zone)
		if err != nil {
			return 0, &Unsupported{o.f.path, fmt.Sprintf("its timestamps were written in the time zone %q, which is not known here", o.zone)}
		}
		zone = z
	}
	return time.Date(2015, 1, 1, 0, 0, 0, 0, zone).Unix(), nil
}

// room is how many slots are made room for at once; a count may be a claim.
func room(n int) int { return min(n, BatchRows) }

// read returns the next n slots.
func (r *reader) read(n int) (*column.Vector, error) {
	v := column.New(r.n.typ, room(n))
	if r.n.kind == kindStruct || r.n.kind == kindUnion {
		return r.group(v, n)
	}
	var total int64
	for range n {
		if r.present != nil {
			ok, err := r.present.next()
			if err != nil {
				return nil, fmt.Errorf("present stream: %w", err)
			}
			if !ok {
				v.AppendNull()
				continue
			}
		}
		switch r.n.kind {
		case kindList, kindMap:
			k, err := r.ints.length()
			if err != nil {
				return nil, err
			}
			if total += k; total > maxElements {
				return nil, fmt.Errorf("the lists of %d rows have more than %d elements", n, maxElements)
			}
			// The children follow below; the slot ends where they will.
			v.Offsets = append(v.Offsets, uint32(total))
			if v.Nulls != nil {
				v.Nulls = append(v.Nulls, false)
			}
			v.Len++
		default:
			if err := r.value(v); err != nil {
				return nil, err
			}
			if len(v.Data) > maxVectorBytes {
				return nil, fmt.Errorf("a column holds more than %d bytes in one batch", maxVectorBytes)
			}
		}
	}
	for i, k := range r.kids {
		c, err := k.read(int(total))
		if err != nil {
			return nil, err
		}
		if r.n.kind == kindMap && i == 0 {
			if c.Nulls != nil {
				return nil, errors.New("a map has a key that is null")
			}
			c.Type = column.MapKeyType()
		}
		v.Children[i] = c
	}
	return v, nil
}

// value appends the next value, which is not null.
func (r *reader) value(v *column.Vector) error {
	switch r.n.kind {
	case kindBoolean:
		b, err := r.bools.next()
		if err != nil {
			return err
		}
		v.AppendBool(b)
	case kindByte:
		b, err := r.bytes.next()
		if err != nil {
			return err
		}
		v.AppendInt(int64(int8(b)))
	case kindShort, kindInt, kindLong, kindDate:
		x, err := r.ints.next()
		if err != nil {
			return err
		}
		if r.n.kind != kindLong && (x < math.MinInt32 || x > math.MaxInt32) {
			return fmt.Errorf("%d is no %s", x, r.n.kind)
		}
		v.AppendInt(x)
	case kindFloat:
		var b [4]byte
		if _, err := r.data.take(b[:0], 4); err != nil {
			return err
		}
		v.AppendFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(b[:]))))
	case kindDouble:
		var b [8]byte
		if _, err := r.data.take(b[:0], 8); err != nil {
			return err
		}
		v.AppendFloat(math.Float64frombits(binary.LittleEndian.Uint64(b[:])))
	case kindString, kindVarchar, kindChar, kindBinary:
		return r.textValue(v)
	case kindTimestamp, kindInstant:
		return r.timestamp(v)
	case kindDecimal:
		return r.decimal(v)
	}
	return nil
}

func (r *reader) textValue(v *column.Vector) error {
	x, err := r.ints.length()
	if err != nil {
		return err
	}
	if r.offsets != nil {
		if x >= int64(len(r.offsets)-1) {
			return fmt.Errorf("word %d of a dictionary of %d", x, len(r.offsets)-1)
		}
		v.AppendBytes(r.words[r.offsets[x]:r.offsets[x+1]])
		return nil
	}
	if int64(len(v.Data))+x > maxVectorBytes {
		return fmt.Errorf("a column holds more than %d bytes in one batch", maxVectorBytes)
	}
	if v.Type.Kind == schema.Fixed && x != int64(v.Type.Size) {
		return fmt.Errorf("a value of %d bytes where the writer's schema has %d", x, v.Type.Size)
	}
	if v.Data, err = r.data.take(v.Data, x); err != nil {
		return err
	}
	v.AppendBytes(nil) // the bytes are there already: only the slot is closed
	return nil
}

func (r *reader) timestamp(v *column.Vector) error {
	sec, err := r.ints.next()
	if err != nil {
		return err
	}
	nanos, err := r.second.next()
	if err != nil {
		return err
	}
	// The lowest 3 bits count the decimal zeros taken off, less one.
	zeros := nanos & 7
	nanos = int64(uint64(nanos) >> 3)
	if zeros != 0 {
		for range zeros + 1 {
			nanos *= 10
		}
	}
	if nanos < 0 || nanos > 999_999_999 {
		return fmt.Errorf("%d nanoseconds in a timestamp", nanos)
	}
	sec += r.base
	// Writers round seconds towards zero: before 1970 a fraction has taken one away.
	if sec < 0 && nanos > 999_999 {
		sec--
	}
	const limit = math.MaxInt64 / 1_000_000
	if sec > limit-1 || sec < -limit+1 {
		return fmt.Errorf("a timestamp of %d seconds", sec)
	}
	if v.Type.Logical == schema.TimestampMillis {
		v.AppendInt(sec*1000 + nanos/1_000_000)
	} else {
		v.AppendInt(sec*1_000_000 + nanos/1000)
	}
	return nil
}

// maxDigits bounds a decimal's mantissa, in bytes of its encoding.
const maxDigits = 512

func (r *reader) decimal(v *column.Vector) error {
	var m big.Int
	var low uint64
	for i := 0; ; i++ {
		b, err := r.data.ReadByte()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		switch {
		case i < 9:
			low |= uint64(b&0x7f) << (7 * i)
		case i >= maxDigits:
			return errors.New("a decimal without end")
		default:
			if i == 9 {
				m.SetUint64(low)
			}
			var d big.Int
			m.Or(&m, d.Lsh(d.SetUint64(uint64(b&0x7f)), uint(7*i)))
		}
		if b < 0x80 {
			if i < 9 {
				m.SetUint64(low)
			}
			break
		}
	}
	// Zigzag: the lowest bit is the sign.
	negative := m.Bit(0) == 1
	m.Rsh(&m, 1)
	if negative {
		m.Not(&m)
	}
	scale, err := r.second.next()
	if err != nil {
		return err
	}
	if scale < -1000 || scale > 1000 {
		return fmt.Errorf("a decimal of scale %d", scale)
	}
	if scale != r.n.scale {
		var p big.Int
		p.Exp(big.NewInt(10), big.NewInt(abs(r.n.scale-scale)), nil)
		if scale < r.n.scale {
			m.Mul(&m, &p)
		} else {
			var rest big.Int
			m.QuoRem(&m, &p, &rest)
			if rest.Sign() != 0 {
				return fmt.Errorf("a decimal of scale %d in a column of scale %d", scale, r.n.scale)
			}
		}
	}
	v.AppendBytes(twosComplement(&m))
	return nil
}

func abs(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}

// twosComplement returns the shortest big-endian two's complement of a number.
func twosComplement(m *big.Int) []byte {
	if m.Sign() >= 0 {
		b := m.Bytes()
		if len(b) == 0 || b[0] >= 0x80 {
			b = append([]byte{0}, b...)
		}
		return b
	}
	var inv big.Int
	b := inv.Not(m).Bytes()
	if len(b) == 0 || b[0] >= 0x80 {
		b = append([]byte{0}, b...)
	}
	for i := range b {
		b[i] = ^b[i]
	}
	return b
}

// group reads n slots of a struct or a union. Their children have values only where they are there.
func (r *reader) group(v *column.Vector, n int) (*column.Vector, error) {
	nulls := make([]bool, 0, room(n))
	tags := []byte(nil)
	counts := make([]int, len(r.kids))
	here := 0
	for range n {
		ok := true
		if r.present != nil {
			var err error
			if ok, err = r.present.next(); err != nil {
				return nil, fmt.Errorf("present stream: %w", err)
			}
		}
		nulls = append(nulls, !ok)
		if !ok {
			continue
		}
		here++
		if r.bytes != nil {
			t, err := r.bytes.next()
			if err != nil {
				return nil, err
			}
			if int(t) >= len(r.kids) {
				return nil, fmt.Errorf("branch %d of a union of %d", t, len(r.kids))
			}
			tags = append(tags, t)
			counts[t]++
		}
	}
	kids := make([]*column.Vector, len(r.kids))
	for i, k := range r.kids {
		want := here
		if r.bytes != nil {
			want = counts[i]
		}
		c, err := k.read(want)
		if err != nil {
			return nil, err
		}
		kids[i] = c
	}
	if r.bytes == nil {
		if here == n {
			return &column.Vector{Type: v.Type, Len: n, Children: kids}, nil
		}
		return &column.Vector{Type: v.Type, Len: n, Nulls: nulls, Children: spread(kids, nulls)}, nil
	}
	at := make([]int, len(kids))
	next := 0
	for _, null := range nulls {
		tag := -1
		if !null {
			tag = int(tags[next])
			next++
		}
		v.Tags = append(v.Tags, uint8(tag+1))
		v.Children[0].AppendNull()
		for i, k := range kids {
			if i == tag {
				v.Children[i+1].AppendFrom(k, at[i])
				at[i]++
			} else {
				v.Children[i+1].AppendNull()
			}
		}
		v.Len++
	}
	return v, nil
}

// spread puts values to the slots that are not null.
func spread(kids []*column.Vector, nulls []bool) []*column.Vector {
	out := make([]*column.Vector, len(kids))
	for i, k := range kids {
		out[i] = column.New(k.Type, len(nulls))
		next := 0
		for _, null := range nulls {
			if null {
				out[i].AppendNull()
			} else {
				out[i].AppendFrom(k, next)
				next++
			}
		}
	}
	return out
}
