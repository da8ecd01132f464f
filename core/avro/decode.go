package avro

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"hudiscope/core/column"
	"hudiscope/core/corrupt"
	"hudiscope/core/schema"
)

// op is the instruction of a node.
type op uint8

const (
	opNull op = iota
	opBool
	opInt
	opLong
	opFloat
	opDouble
	opBytes // and strings
	opFixed
	opEnum
	opRecord
	opArray
	opMap
	opUnion
)

var ops = map[schema.Kind]op{
	schema.Null: opNull, schema.Boolean: opBool, schema.Int: opInt, schema.Long: opLong, schema.Float: opFloat,
	schema.Double: opDouble, schema.Bytes: opBytes, schema.String: opBytes, schema.Fixed: opFixed, schema.Enum: opEnum,
	schema.Record: opRecord, schema.Array: opArray, schema.Map: opMap, schema.Union: opUnion,
}

// instr is one node of a compiled schema.
type instr struct {
	op       op
	nullable bool
	// valueTag is the byte that says "not null" for a nullable node: 0 or 2.
	valueTag byte
	want     bool // of a top-level field
	size     int  // of a fixed; number of symbols of an enum
	minBytes int  // the fewest bytes a value takes
	slots    int  // vector slots that one value adds, items of arrays and maps not counted
	kids     []instr
	names    []string // of the fields or branches, for error paths
}

// Decoder decodes records written with one schema. It is immutable and safe for
// concurrent use.
type Decoder struct {
	typ  *schema.Type
	root instr
}

// maxMinBytes keeps the sum of minimum sizes far from overflow.
const maxMinBytes = 1 << 30

// Compile prepares a decoder for records of the writer's schema, which must be a record.
// want chooses the top-level fields to decode; nil means all. Fields that are not wanted
// are skipped and have a nil column.
func Compile(writer *schema.Type, want func(field string) bool) (*Decoder, error) {
	if writer == nil || writer.Kind != schema.Record || writer.Nullable {
		return nil, fmt.Errorf("avro: records are decoded with a record schema, not with %s", describe(writer))
	}
	nodes := 0
	root, err := compile(writer, 0, &nodes)
	if err != nil {
		return nil, err
	}
	for i := range root.kids {
		root.kids[i].want = want == nil || want(writer.Fields[i].Name)
	}
	return &Decoder{typ: writer, root: root}, nil
}

func describe(t *schema.Type) string {
	if t == nil {
		return "no schema"
	}
	return "a schema of type " + t.Display()
}

func compile(t *schema.Type, depth int, nodes *int) (instr, error) {
	if t == nil {
		return instr{}, fmt.Errorf("avro: a type is missing in the schema")
	}
	if *nodes++; *nodes > schema.MaxNodes || depth > schema.MaxDepth {
		return instr{}, fmt.Errorf("avro: the schema has more than %d types or %d levels", schema.MaxNodes, schema.MaxDepth)
	}
	o, ok := ops[t.Kind]
	if !ok {
		return instr{}, fmt.Errorf("avro: can't decode a %s", t.Kind)
	}
	n := instr{op: o, nullable: t.Nullable, want: true, slots: 1}
	if t.Nullable && t.NullFirst {
		n.valueTag = 2
	}
	kid := func(k *schema.Type, name string) error {
		c, err := compile(k, depth+1, nodes)
		if err != nil {
			return err
		}
		n.kids = append(n.kids, c)
		n.names = append(n.names, name)
		return nil
	}
	switch o {
	case opNull:
	case opBool, opInt, opLong, opBytes:
		n.minBytes = 1
	case opFloat:
		n.minBytes = 4
	case opDouble:
		n.minBytes = 8
	case opFixed:
		n.size, n.minBytes = t.Size, t.Size
	case opEnum:
		n.size, n.minBytes = len(t.Symbols), 1
	case opRecord:
		for i := range t.Fields {
			if err := kid(t.Fields[i].Type, t.Fields[i].Name); err != nil {
				return instr{}, err
			}
			n.minBytes = min(n.minBytes+n.kids[i].minBytes, maxMinBytes)
			n.slots += n.kids[i].slots
		}
	case opArray, opMap:
		if o == opMap {
			if err := kid(column.MapKeyType(), "key"); err != nil {
				return instr{}, err
			}
		}
		name := "element"
		if o == opMap {
			name = "value"
		}
		if err := kid(t.Elem, name); err != nil {
			return instr{}, err
		}
		n.minBytes = 1
	case opUnion:
		if len(t.Branches) == 0 || len(t.Branches) > math.MaxUint8+1 {
			return instr{}, fmt.Errorf("avro: a union has %d branches", len(t.Branches))
		}
		least := maxMinBytes
		for i, b := range t.Branches {
			if b != nil && b.Nullable {
				return instr{}, fmt.Errorf("avro: a union holds a union")
			}
			if err := kid(b, "branch "+b.Kind.String()); err != nil {
				return instr{}, err
			}
			least = min(least, n.kids[i].minBytes)
			n.slots += n.kids[i].slots
		}
		n.minBytes = 1 + least
	}
	if n.nullable {
		n.minBytes = 1
	}
	return n, nil
}

// Type returns the writer's schema.
func (d *Decoder) Type() *schema.Type { return d.typ }

// NewBatch returns an empty batch with room for capacity records.
func (d *Decoder) NewBatch(capacity int) *column.Batch {
	b := &column.Batch{Type: d.typ, Columns: make([]*column.Vector, len(d.root.kids))}
	for i := range d.root.kids {
		if d.root.kids[i].want {
			b.Columns[i] = column.New(d.typ.Fields[i].Type, capacity)
		}
	}
	return b
}

// Reset empties a batch of this decoder and keeps its memory.
func (d *Decoder) Reset(b *column.Batch) { d.truncate(b, 0) }

func (d *Decoder) truncate(b *column.Batch, n int) {
	for _, v := range b.Columns {
		if v != nil {
			truncate(v, n)
		}
	}
	b.Len = n
}

func cut[T any](s []T, n int) []T {
	if len(s) > n {
		return s[:n]
	}
	return s
}

// truncate drops all slots from n on, also those of a slot that was begun and not finished.
func truncate(v *column.Vector, n int) {
	v.Len = n
	v.Nulls, v.Bools, v.Ints, v.Floats, v.Tags = cut(v.Nulls, n), cut(v.Bools, n), cut(v.Ints, n), cut(v.Floats, n), cut(v.Tags, n)
	inner := n
	if v.Offsets != nil {
		v.Offsets = cut(v.Offsets, n+1)
		inner = int(v.Offsets[n])
		if len(v.Children) == 0 {
			v.Data = cut(v.Data, inner)
		}
	}
	for _, c := range v.Children {
		truncate(c, inner)
	}
}

// The bounds on what one record may unfold to: slots of vectors reached through arrays,
// maps and unions. Real records need at most about one slot per byte.
const (
	freeSlots    = 1 << 20
	slotsPerByte = 16
)

// Append decodes datum, which must hold exactly one record, as the next record of batch.
// On error the batch is as before; the error is a *corrupt.Error whose Offset counts from
// the start of datum and whose Part names the field.
func (d *Decoder) Append(batch *column.Batch, datum []byte) error {
	return d.AppendWithin(batch, datum, freeSlots+slotsPerByte*len(datum))
}

// AppendWithin is Append of a record that may unfold to no more than a number of values, if that is less than what its
// bytes allow.
func (d *Decoder) AppendWithin(batch *column.Batch, datum []byte, values int) error {
	i, pos := d.flat(batch.Columns, datum, 0, 0)
	if i == len(d.root.kids) && pos == len(datum) {
		batch.Len++
		return nil
	}
	c := cursor{buf: datum, pos: pos, slots: min(values, freeSlots+slotsPerByte*len(datum))}
	c.most = c.slots
	for ; i < len(d.root.kids); i++ {
		if i, c.pos = d.flat(batch.Columns, datum, i, c.pos); i == len(d.root.kids) {
			break
		}
		n := &d.root.kids[i]
		var ok bool
		if v := batch.Columns[i]; v != nil {
			ok = c.value(n, v)
		} else {
			ok = c.skip(n)
		}
		if !ok {
			c.path = append(c.path, d.root.names[i])
			d.truncate(batch, batch.Len)
			return c.err()
		}
	}
	if c.pos != len(datum) {
		c.fail(c.pos, "end of the record", fmt.Sprintf("%d bytes more", len(datum)-c.pos), "end of the record")
		d.truncate(batch, batch.Len)
		return c.err()
	}
	batch.Len++
	return nil
}

// wordText is up to which length texts are copied by words of eight bytes: there a call costs more than what it does.
const wordText = 40

// flat decodes top-level fields from field i at pos on, for as long as they are of the usual kinds, and returns the
// field and the place where something else is: a nested type, the end of the datum, an error. It makes no calls, which
// are what decoding small values costs most of, in WebAssembly above all.
func (d *Decoder) flat(columns []*column.Vector, buf []byte, i, pos int) (int, int) {
	kids := d.root.kids
	for ; i < len(kids) && i < len(columns); i++ {
		n, v, at := &kids[i], columns[i], pos
		if v == nil {
			return i, pos
		}
		if n.nullable {
			if at >= len(buf) {
				return i, pos
			}
			if b := buf[at]; b != n.valueTag {
				if b != n.valueTag^2 {
					return i, pos
				}
				v.AppendNull()
				pos++
				continue
			}
			at++
		}
		switch n.op {
		case opBytes:
			if len(buf)-at < 2 {
				return i, pos
			}
			k := int(buf[at])
			if k >= 0x80 {
				hi := int(buf[at+1])
				if hi >= 0x80 {
					return i, pos
				}
				k = k&0x7f | hi<<7
				at++
			}
			at++
			// A negative length is odd.
			if k&1 != 0 || k>>1 > len(buf)-at {
				return i, pos
			}
			k >>= 1
			o := len(v.Data)
			if uint64(o)+uint64(k) > math.MaxUint32 {
				return i, pos
			}
			if k <= wordText && cap(v.Data)-o >= k+8 && len(buf)-at >= k+8 {
				dst, src := v.Data[o:o+k+8], buf[at:at+k+8]
				for j := 0; j < k; j += 8 {
					binary.LittleEndian.PutUint64(dst[j:], binary.LittleEndian.Uint64(src[j:]))
				}
				v.Data = v.Data[:o+k]
			} else {
				v.Data = append(v.Data, buf[at:at+k]...)
			}
			v.Offsets = append(v.Offsets, uint32(o+k))
			at += k
		case opInt, opLong:
			if len(buf)-at < 8 {
				return i, pos
			}
			x := binary.LittleEndian.Uint64(buf[at:])
			if x&0x80 == 0 {
				at++
				x &= 0x7f
			} else {
				// The last byte of a number has no highest bit. Of the others the seven bits move together.
				end := ^x & 0x8080808080808080
				if end == 0 {
					return i, pos
				}
				at += (bits.TrailingZeros64(end) + 1) >> 3
				x &= (end ^ (end - 1)) & 0x7f7f7f7f7f7f7f7f
				x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
				x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
				x = x&0x000000000fffffff | x&0x0fffffff00000000>>4
			}
			y := int64(x>>1) ^ -int64(x&1)
			if n.op == opInt && y != int64(int32(y)) {
				return i, pos
			}
			v.Ints = append(v.Ints, y)
		case opDouble:
			if len(buf)-at < 8 {
				return i, pos
			}
			v.Floats = append(v.Floats, math.Float64frombits(binary.LittleEndian.Uint64(buf[at:])))
			at += 8
		case opFloat:
			if len(buf)-at < 4 {
				return i, pos
			}
			v.Floats = append(v.Floats, float64(math.Float32frombits(binary.LittleEndian.Uint32(buf[at:]))))
			at += 4
		case opBool:
			if at >= len(buf) || buf[at] > 1 {
				return i, pos
			}
			v.Bools = append(v.Bools, buf[at] == 1)
			at++
		case opFixed:
			o := len(v.Data)
			if len(buf)-at < n.size || uint64(o)+uint64(n.size) > math.MaxUint32 {
				return i, pos
			}
			v.Data = append(v.Data, buf[at:at+n.size]...)
			v.Offsets = append(v.Offsets, uint32(o+n.size))
			at += n.size
		default:
			return i, pos
		}
		if v.Nulls != nil {
			v.Nulls = append(v.Nulls, false)
		}
		v.Len++
		pos = at
	}
	return i, pos
}

// cursor is a place in a datum, and after a failure what was wrong there.
type cursor struct {
	buf []byte
	pos int
	// slots may still be added, of most.
	slots, most int

	at              int
	what, got, want string
	path            []string // innermost first
}

func (c *cursor) fail(at int, what, got, want string) bool {
	c.at, c.what, c.got, c.want = at, what, got, want
	return false
}

func (c *cursor) err() error {
	part := "record"
	if len(c.path) > 0 {
		var b strings.Builder
		b.WriteString("field ")
		for i := len(c.path) - 1; i >= 0; i-- {
			b.WriteString(c.path[i])
			if i > 0 {
				b.WriteByte('.')
			}
		}
		part = b.String()
	}
	return corrupt.At(int64(c.at), "Avro "+part+": "+c.what, c.want, c.got)
}

func (c *cursor) left() int { return len(c.buf) - c.pos }

// short fails because n bytes do not follow.
func (c *cursor) short(what string, n int) bool {
	return c.fail(c.pos, what, fmt.Sprintf("%d bytes to the end of the record", c.left()), fmt.Sprintf("%d bytes", n))
}

// long reads a zig-zag number.
func (c *cursor) long(what string) (int64, bool) {
	if c.pos < len(c.buf) {
		if b := c.buf[c.pos]; b < 0x80 {
			c.pos++
			return int64(b>>1) ^ -int64(b&1), true
		}
	}
	return c.longSlow(what)
}

func (c *cursor) longSlow(what string) (int64, bool) {
	var x uint64
	for i := 0; i < binary.MaxVarintLen64; i++ {
		if c.pos+i >= len(c.buf) {
			return 0, c.short(what, i+1)
		}
		b := c.buf[c.pos+i]
		if i == 9 && b > 1 {
			break
		}
		x |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			c.pos += i + 1
			return int64(x>>1) ^ -int64(x&1), true
		}
	}
	return 0, c.fail(c.pos, what, "a number of more than 64 bits", "a variable-length number")
}

// length reads the length of a bytes or string value and checks that it follows.
func (c *cursor) length() (int, bool) {
	at := c.pos
	n, ok := c.long("length")
	if !ok {
		return 0, false
	}
	if uint64(n) > uint64(c.left()) {
		return 0, c.fail(at, "length", fmt.Sprint(n), fmt.Sprintf("0 to %d, the bytes left in the record", c.left()))
	}
	return int(n), true
}

// tag reads the branch of a nullable value; null tells which it is.
func (c *cursor) tag(n *instr) (null, ok bool) {
	if c.pos < len(c.buf) {
		switch b := c.buf[c.pos]; b {
		case n.valueTag:
			c.pos++
			return false, true
		case n.valueTag ^ 2:
			c.pos++
			return true, true
		}
	}
	at := c.pos
	x, ok := c.long("union branch")
	if !ok {
		return false, false
	}
	if x != 0 && x != 1 {
		return false, c.fail(at, "union branch", fmt.Sprint(x), "0 or 1")
	}
	return byte(x<<1) != n.valueTag, true
}

// spend takes slots from what the record may unfold to.
func (c *cursor) spend(at, n int) bool {
	if c.slots -= n; c.slots < 0 {
		return c.fail(at, "size", "more values than its bytes can hold", fmt.Sprintf("at most %d values from %d bytes", c.most, len(c.buf)))
	}
	return true
}

// within notes the name of the part that failed.
func (c *cursor) within(name string) bool {
	c.path = append(c.path, name)
	return false
}

func (c *cursor) value(n *instr, v *column.Vector) bool {
	if n.nullable {
		null, ok := c.tag(n)
		if !ok {
			return false
		}
		if null {
			v.AppendNull()
			return true
		}
	}
	switch n.op {
	case opNull:
		v.AppendNull()
		return true
	case opBool:
		if c.pos >= len(c.buf) {
			return c.short("boolean", 1)
		}
		b := c.buf[c.pos]
		if b > 1 {
			return c.fail(c.pos, "boolean", fmt.Sprint(b), "0 or 1")
		}
		c.pos++
		v.Bools = append(v.Bools, b == 1)
	case opInt:
		at := c.pos
		x, ok := c.long("int")
		if !ok {
			return false
		}
		if x != int64(int32(x)) {
			return c.fail(at, "int", fmt.Sprint(x), "a number of 32 bits")
		}
		v.Ints = append(v.Ints, x)
	case opLong:
		x, ok := c.long("long")
		if !ok {
			return false
		}
		v.Ints = append(v.Ints, x)
	case opFloat:
		if c.left() < 4 {
			return c.short("float", 4)
		}
		v.Floats = append(v.Floats, float64(math.Float32frombits(binary.LittleEndian.Uint32(c.buf[c.pos:]))))
		c.pos += 4
	case opDouble:
		if c.left() < 8 {
			return c.short("double", 8)
		}
		v.Floats = append(v.Floats, math.Float64frombits(binary.LittleEndian.Uint64(c.buf[c.pos:])))
		c.pos += 8
	case opBytes:
		k, ok := c.length()
		if !ok {
			return false
		}
		if !c.bytes(v, k) {
			return false
		}
	case opFixed:
		if c.left() < n.size {
			return c.short("fixed", n.size)
		}
		if !c.bytes(v, n.size) {
			return false
		}
	case opEnum:
		x, ok := c.enum(n)
		if !ok {
			return false
		}
		v.Ints = append(v.Ints, x)
	case opRecord:
		for i := range n.kids {
			if !c.value(&n.kids[i], v.Children[i]) {
				return c.within(n.names[i])
			}
		}
	case opArray, opMap:
		if !c.items(n, v) {
			return false
		}
		v.Offsets = append(v.Offsets, uint32(v.Children[0].Len))
	case opUnion:
		at := c.pos
		x, ok := c.branch(n)
		if !ok || !c.spend(at, n.slots) {
			return false
		}
		for i, kid := range v.Children {
			if i != x {
				kid.AppendNull()
			} else if !c.value(&n.kids[i], kid) {
				return c.within(n.names[i])
			}
		}
		v.Tags = append(v.Tags, uint8(x))
	}
	if v.Nulls != nil {
		v.Nulls = append(v.Nulls, false)
	}
	v.Len++
	return true
}

// bytes appends the next n bytes, which the caller knows to be there.
func (c *cursor) bytes(v *column.Vector, n int) bool {
	if uint64(len(v.Data))+uint64(n) > math.MaxUint32 {
		return c.fail(c.pos, "size", "more than 4 GiB of text in one batch", "smaller batches")
	}
	v.Data = append(v.Data, c.buf[c.pos:c.pos+n]...)
	v.Offsets = append(v.Offsets, uint32(len(v.Data)))
	c.pos += n
	return true
}

func (c *cursor) enum(n *instr) (int64, bool) {
	at := c.pos
	x, ok := c.long("enum")
	if ok && uint64(x) >= uint64(n.size) {
		return 0, c.fail(at, "enum", fmt.Sprint(x), fmt.Sprintf("a symbol index below %d", n.size))
	}
	return x, ok
}

func (c *cursor) branch(n *instr) (int, bool) {
	at := c.pos
	x, ok := c.long("union branch")
	if ok && uint64(x) >= uint64(len(n.kids)) {
		return 0, c.fail(at, "union branch", fmt.Sprint(x), fmt.Sprintf("a branch index below %d", len(n.kids)))
	}
	return int(x), ok
}

// block reads the head of one block of an array or map: the count of items, and for a
// negative count the bytes of the block (-1 otherwise). Count 0 ends the array.
func (c *cursor) block(n *instr) (count, size int, ok bool) {
	at := c.pos
	k, ok := c.long("item count")
	if !ok {
		return 0, 0, false
	}
	size = -1
	if k < 0 {
		if k == math.MinInt64 {
			return 0, 0, c.fail(at, "item count", fmt.Sprint(k), "a count")
		}
		k = -k
		if size, ok = c.length(); !ok {
			return 0, 0, false
		}
	}
	least, slots := 0, 0
	for i := range n.kids {
		least += n.kids[i].minBytes
		slots += n.kids[i].slots
	}
	// Items of no bytes at all (null, empty records) are bounded by the slots they take.
	if most := int64(c.left()); least > 0 && k > most/int64(least) || k > math.MaxInt32 {
		return 0, 0, c.fail(at, "item count", fmt.Sprint(k), fmt.Sprintf("at most %d items in the %d bytes left", most/int64(max(least, 1)), most))
	}
	if int64(slots)*k > int64(max(c.slots, 0)) {
		return 0, 0, c.spend(at, c.slots+1)
	}
	return int(k), size, c.spend(at, slots*int(k))
}

func (c *cursor) items(n *instr, v *column.Vector) bool {
	for {
		at := c.pos
		count, size, ok := c.block(n)
		if !ok {
			return false
		}
		if count == 0 {
			return true
		}
		if uint64(v.Children[0].Len)+uint64(count) > math.MaxUint32 {
			return c.fail(at, "item count", "more than 4 Gi items in one batch", "smaller batches")
		}
		start := c.pos
		for range count {
			for i := range n.kids {
				if !c.value(&n.kids[i], v.Children[i]) {
					return c.within(n.names[i])
				}
			}
		}
		if size >= 0 && c.pos != start+size {
			return c.fail(at, "block of items", fmt.Sprintf("%d bytes", c.pos-start), fmt.Sprintf("%d bytes, as the block says", size))
		}
	}
}

// skip passes over a value.
func (c *cursor) skip(n *instr) bool {
	if n.nullable {
		null, ok := c.tag(n)
		if null || !ok {
			return ok
		}
	}
	fixed := 0
	switch n.op {
	case opNull:
	case opBool:
		fixed = 1
	case opInt, opLong:
		_, ok := c.long("number")
		return ok
	case opFloat:
		fixed = 4
	case opDouble:
		fixed = 8
	case opBytes:
		k, ok := c.length()
		c.pos += k
		return ok
	case opFixed:
		fixed = n.size
	case opEnum:
		_, ok := c.enum(n)
		return ok
	case opRecord:
		for i := range n.kids {
			if !c.skip(&n.kids[i]) {
				return c.within(n.names[i])
			}
		}
	case opArray, opMap:
		for {
			count, size, ok := c.block(n)
			if !ok || count == 0 {
				return ok
			}
			if size >= 0 {
				c.pos += size
				continue
			}
			for range count {
				for i := range n.kids {
					if !c.skip(&n.kids[i]) {
						return c.within(n.names[i])
					}
				}
			}
		}
	case opUnion:
		x, ok := c.branch(n)
		if !ok {
			return false
		}
		if !c.skip(&n.kids[x]) {
			return c.within(n.names[x])
		}
	}
	if c.left() < fixed {
		return c.short("value", fixed)
	}
	c.pos += fixed
	return true
}
