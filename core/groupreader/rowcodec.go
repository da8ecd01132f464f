package groupreader

import (
	"encoding/binary"
	"errors"
	"math"

	"hudiscope/core/column"
	"hudiscope/core/merge"
	"hudiscope/core/schema"
)

// The bytes of one record in a spill segment; numbers are varints.
//
//	flags  key length, key  block  index  ordering  [presence bitmap]  [row]
//	ordering: class, then by class a number, 8 bytes of a float, length and bytes, or count and orderings
//	row:      layout, bitmap of null columns, the values of the others
//	value:    1 byte | number | 8 bytes of a float | length, bytes | count, slots | slots of fields | branch, slot
//	slot:     0 (null) or 1, value
//
// A layout is which columns a row has: batches of one read may lack different ones.
const (
	flagKnown byte = 1 << iota
	flagDelete
	flagRow
	flagPartial
	flagSawPartials
)

// errSpilled says that a store gave back bytes that were not written.
var errSpilled = errors.New("the bytes are not those of a record")

// spilled is one record on its way to or from a store.
type spilled struct {
	key []byte
	rec merge.Record
	// known is set when observers have been told of the record; sawPartials when the slice's
	// partial updates had begun.
	known, sawPartials bool
}

// codec writes and reads records of one type.
type codec struct {
	typ     *schema.Type
	layouts []layout
	// fixed is set when all rows are written in the first layout.
	fixed   bool
	byBatch struct {
		batch  *column.Batch
		layout int
	}
}

// layout is the columns that rows have, by their positions in the type.
type layout struct{ cols []int }

// layoutOf returns the number of a batch's layout.
func (c *codec) layoutOf(b *column.Batch) int {
	if c.fixed {
		return 0
	}
	if c.byBatch.batch == b {
		return c.byBatch.layout
	}
	n := -1
search:
	for i, l := range c.layouts {
		k := 0
		for col, v := range b.Columns {
			if v == nil {
				continue
			}
			if k >= len(l.cols) || l.cols[k] != col {
				continue search
			}
			k++
		}
		if k == len(l.cols) {
			n = i
			break
		}
	}
	if n < 0 {
		var l layout
		for col, v := range b.Columns {
			if v != nil {
				l.cols = append(l.cols, col)
			}
		}
		n = len(c.layouts)
		c.layouts = append(c.layouts, l)
	}
	c.byBatch.batch, c.byBatch.layout = b, n
	return n
}

// newBatch returns an empty batch of a layout.
func (c *codec) newBatch(n int) *column.Batch {
	b := &column.Batch{Type: c.typ, Columns: make([]*column.Vector, len(c.typ.Fields))}
	for _, col := range c.layouts[n].cols {
		b.Columns[col] = column.New(c.typ.Fields[col].Type, 0)
	}
	return b
}

// append writes a record.
func (c *codec) append(dst []byte, s *spilled) []byte {
	r := &s.rec
	var flags byte
	for _, f := range [...]struct {
		on  bool
		bit byte
	}{{s.known, flagKnown}, {r.Delete, flagDelete}, {r.Row.Batch != nil, flagRow}, {r.Partial != nil, flagPartial}, {s.sawPartials, flagSawPartials}} {
		if f.on {
			flags |= f.bit
		}
	}
	dst = append(dst, flags)
	dst = appendBytes(dst, s.key)
	dst = binary.AppendVarint(dst, int64(r.Block))
	dst = binary.AppendVarint(dst, int64(r.Index))
	dst = appendOrdering(dst, &r.Ord)
	if r.Partial != nil {
		dst = appendBits(dst, len(r.Partial.Has), func(i int) bool { return r.Partial.Has[i] })
	}
	if b := r.Row.Batch; b != nil {
		n := c.layoutOf(b)
		dst = binary.AppendUvarint(dst, uint64(n))
		cols := c.layouts[n].cols
		null := func(v *column.Vector) bool { return v == nil || v.IsNull(r.Row.Index) }
		dst = appendBits(dst, len(cols), func(i int) bool { return null(b.Columns[cols[i]]) })
		for _, col := range cols {
			if v := b.Columns[col]; !null(v) {
				dst = appendValue(dst, v, r.Row.Index)
			}
		}
	}
	return dst
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

func appendFloat(dst []byte, f float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
}

func appendBits(dst []byte, n int, set func(i int) bool) []byte {
	at := len(dst)
	dst = append(dst, make([]byte, (n+7)/8)...)
	for i := range n {
		if set(i) {
			dst[at+i/8] |= 1 << (i % 8)
		}
	}
	return dst
}

func appendOrdering(dst []byte, o *merge.Ordering) []byte {
	dst = append(dst, byte(o.Class))
	switch o.Class {
	case merge.Float, merge.Double:
		return appendFloat(dst, o.Float)
	case merge.Bytes, merge.Text:
		return appendBytes(dst, o.Bytes)
	case merge.DecimalNumber:
		return appendBytes(binary.AppendVarint(dst, o.Int), o.Bytes)
	case merge.Tuple:
		dst = binary.AppendUvarint(dst, uint64(len(o.Tuple)))
		for i := range o.Tuple {
			dst = appendOrdering(dst, &o.Tuple[i])
		}
		return dst
	}
	return binary.AppendVarint(dst, o.Int)
}

func appendSlot(dst []byte, v *column.Vector, i int) []byte {
	if v.IsNull(i) {
		return append(dst, 0)
	}
	return appendValue(append(dst, 1), v, i)
}

func appendValue(dst []byte, v *column.Vector, i int) []byte {
	switch v.Type.Kind {
	case schema.Boolean:
		if v.Bools[i] {
			return append(dst, 1)
		}
		return append(dst, 0)
	case schema.Int, schema.Long, schema.Enum:
		return binary.AppendVarint(dst, v.Ints[i])
	case schema.Float, schema.Double:
		return appendFloat(dst, v.Floats[i])
	case schema.Bytes, schema.String, schema.Fixed:
		return appendBytes(dst, v.BytesAt(i))
	case schema.Array, schema.Map:
		lo, hi := v.Offsets[i], v.Offsets[i+1]
		dst = binary.AppendUvarint(dst, uint64(hi-lo))
		for j := lo; j < hi; j++ {
			for _, c := range v.Children {
				dst = appendSlot(dst, c, int(j))
			}
		}
	case schema.Record:
		for _, c := range v.Children {
			dst = appendSlot(dst, c, i)
		}
	case schema.Union:
		dst = append(dst, v.Tags[i])
		return appendSlot(dst, v.Children[v.Tags[i]], i)
	}
	return dst
}

// decoder reads records. Rows go into batches, one per layout at a time, of at most batchRows rows
// and about batchBytes bytes.
type decoder struct {
	c                     *codec
	batchRows, batchBytes int
	open                  []struct {
		b     *column.Batch
		bytes int
	}
	// presences are those read so far, by their bitmaps: merging compares them by address.
	presences map[string]*merge.Presence
	p         []byte
	err       error
	// own is the memory that orderings were given.
	own int64
}

// read takes one record off the front of p. The key aliases p, all else is the record's own.
func (d *decoder) read(p []byte, s *spilled) (rest []byte, err error) {
	d.p, d.err = p, nil
	flags := d.byte()
	*s = spilled{key: d.bytes(), known: flags&flagKnown != 0, sawPartials: flags&flagSawPartials != 0}
	s.rec.Delete = flags&flagDelete != 0
	s.rec.Block, s.rec.Index = int32(d.int()), int32(d.int())
	d.ordering(&s.rec.Ord, 0)
	if flags&flagPartial != 0 {
		s.rec.Partial = d.presence()
	}
	if flags&flagRow != 0 {
		s.rec.Row = d.row(len(p))
	}
	if flags >= flagSawPartials<<1 {
		d.fail()
	}
	return d.p, d.err
}

func (d *decoder) fail() { d.p, d.err = nil, errSpilled }

func (d *decoder) byte() byte {
	if len(d.p) == 0 {
		d.fail()
		return 0
	}
	b := d.p[0]
	d.p = d.p[1:]
	return b
}

func (d *decoder) uint() uint64 {
	x, n := binary.Uvarint(d.p)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.p = d.p[n:]
	return x
}

func (d *decoder) int() int64 {
	x, n := binary.Varint(d.p)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.p = d.p[n:]
	return x
}

func (d *decoder) float() float64 { return math.Float64frombits(d.fixed64()) }

func (d *decoder) fixed64() uint64 {
	b := d.take(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.p)) {
		d.fail()
		return nil
	}
	b := d.p[:n:n]
	d.p = d.p[n:]
	return b
}

func (d *decoder) bytes() []byte { return d.take(d.uint()) }

func (d *decoder) clone() []byte {
	b := append([]byte(nil), d.bytes()...)
	d.own += int64(cap(b))
	return b
}

// maxTupleDepth bounds recursion; tuples of tuples do not occur.
const maxTupleDepth = 4

func (d *decoder) ordering(o *merge.Ordering, depth int) {
	o.Class = merge.Class(d.byte())
	switch o.Class {
	case merge.Float, merge.Double:
		o.Float = d.float()
	case merge.Bytes, merge.Text:
		o.Bytes = d.clone()
	case merge.DecimalNumber:
		o.Int = d.int()
		o.Bytes = d.clone()
	case merge.Tuple:
		n := d.uint()
		if n > uint64(len(d.p)) || depth >= maxTupleDepth {
			d.fail()
			return
		}
		o.Tuple = make([]merge.Ordering, n)
		d.own += int64(n) * orderingBytes
		for i := range o.Tuple {
			d.ordering(&o.Tuple[i], depth+1)
		}
	default:
		if o.Class > merge.Tuple {
			d.fail()
		}
		o.Int = d.int()
	}
}

func (d *decoder) presence() *merge.Presence {
	n := len(d.c.typ.Fields)
	b := d.take(uint64(n+7) / 8)
	if b == nil && n > 0 {
		return nil
	}
	if p := d.presences[string(b)]; p != nil {
		return p
	}
	p := &merge.Presence{Has: make([]bool, n)}
	for i := range p.Has {
		p.Has[i] = b[i/8]>>(i%8)&1 == 1
	}
	if d.presences == nil {
		d.presences = map[string]*merge.Presence{}
	}
	d.presences[string(b)] = p
	return p
}

func (d *decoder) row(size int) column.Row {
	n := d.uint()
	if n >= uint64(len(d.c.layouts)) {
		d.fail()
		return column.Row{}
	}
	for len(d.open) < len(d.c.layouts) {
		d.open = append(d.open, struct {
			b     *column.Batch
			bytes int
		}{})
	}
	o := &d.open[n]
	if o.b == nil || o.b.Len >= d.batchRows || o.bytes >= d.batchBytes {
		o.b, o.bytes = d.c.newBatch(int(n)), 0
	}
	cols := d.c.layouts[n].cols
	nulls := d.take(uint64(len(cols)+7) / 8)
	for i, col := range cols {
		v := o.b.Columns[col]
		if nulls == nil || nulls[i/8]>>(i%8)&1 == 1 {
			v.AppendNull()
			continue
		}
		d.value(v)
	}
	o.b.Len++
	o.bytes += size - len(d.p)
	return column.Row{Batch: o.b, Index: o.b.Len - 1}
}

func (d *decoder) slot(v *column.Vector) {
	switch d.byte() {
	case 0:
		v.AppendNull()
	case 1:
		d.value(v)
	default:
		d.fail()
		v.AppendNull()
	}
}

// value appends one value that is not null. It always appends a slot, so that columns stay lined up.
func (d *decoder) value(v *column.Vector) {
	switch v.Type.Kind {
	case schema.Boolean:
		v.AppendBool(d.byte() != 0)
	case schema.Int, schema.Long, schema.Enum:
		v.AppendInt(d.int())
	case schema.Float, schema.Double:
		v.AppendFloat(d.float())
	case schema.Bytes, schema.String, schema.Fixed:
		v.AppendBytes(d.bytes())
	case schema.Array, schema.Map:
		n := d.uint()
		if n > uint64(len(d.p)) { // a slot takes at least one byte
			d.fail()
			n = 0
		}
		for range n {
			for _, c := range v.Children {
				d.slot(c)
			}
		}
		v.CloseSlot()
	case schema.Record:
		for _, c := range v.Children {
			d.slot(c)
		}
		v.CloseSlot()
	case schema.Union:
		b := d.byte()
		if int(b) >= len(v.Children) {
			d.fail()
			v.AppendNull()
			return
		}
		one := column.New(v.Type.Branches[b], 1)
		d.slot(one)
		v.AppendBranch(b, one, 0)
	default:
		v.AppendNull()
	}
}

// rowBytes is about the memory of one row when its columns are copied.
func rowBytes(r column.Row) int64 {
	var n int64
	for _, v := range r.Batch.Columns {
		if v != nil {
			n += slotBytes(v, r.Index)
		}
	}
	return n
}

func slotBytes(v *column.Vector, i int) int64 {
	n := int64(0)
	if v.Nulls != nil {
		n++
	}
	switch v.Type.Kind {
	case schema.Boolean:
		n++
	case schema.Int, schema.Long, schema.Enum, schema.Float, schema.Double:
		n += 8
	case schema.Bytes, schema.String, schema.Fixed:
		n += 4 + int64(v.Offsets[i+1]-v.Offsets[i])
	case schema.Array, schema.Map:
		n += 4
		for j := v.Offsets[i]; j < v.Offsets[i+1]; j++ {
			for _, c := range v.Children {
				n += slotBytes(c, int(j))
			}
		}
	case schema.Record:
		for _, c := range v.Children {
			n += slotBytes(c, i)
		}
	case schema.Union:
		n++
		for _, c := range v.Children {
			n += slotBytes(c, i)
		}
	}
	return n
}
