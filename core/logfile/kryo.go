package logfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode/utf16"
)

// kryo decodes the object graphs of version 1 and 2 delete blocks (spec log-format.md
// section 7.2): an array of HoodieKey or DeleteRecord, written by Kryo 4 with references
// and with classes by name. Nothing else occurs, so this is no general Kryo reader.
type kryo struct {
	*input
	classes []string // by name id
	objects []any    // by reference number: string, hoodieKey, Delete, Ordering, or nil for the array
}

type hoodieKey struct {
	key, partition *string
}

const (
	classKeys    = "[Lorg.apache.hudi.common.model.HoodieKey;"
	classDeletes = "[Lorg.apache.hudi.common.model.DeleteRecord;"
	classKey     = "org.apache.hudi.common.model.HoodieKey"
	classDelete  = "org.apache.hudi.common.model.DeleteRecord"
)

// uvarint reads 7 bits per byte, least significant first, at most five bytes.
func (k *kryo) uvarint(part string) (uint32, error) {
	var x uint32
	for shift := 0; shift < 35; shift += 7 {
		b, err := k.byte(part)
		if err != nil {
			return 0, err
		}
		x |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return x, nil
		}
	}
	return 0, k.fail(k.pos, part, "a number of at most 5 bytes", "more")
}

// uvarlong reads at most nine bytes, the ninth of which has all its 8 bits.
func (k *kryo) uvarlong(part string) (uint64, error) {
	var x uint64
	for shift := 0; shift < 63; shift += 7 {
		b, err := k.byte(part)
		if err != nil {
			return 0, err
		}
		if shift == 56 {
			return x | uint64(b)<<56, nil
		}
		x |= uint64(b&0x7f) << shift
		if b < 0x80 {
			break
		}
	}
	return x, nil
}

// text reads a string, nil for null.
func (k *kryo) text(part string) (*string, error) {
	b, err := k.byte(part)
	if err != nil {
		return nil, err
	}
	if b&0x80 == 0 { // ASCII, its last byte marked
		start := k.pos - 1
		for b&0x80 == 0 {
			if b, err = k.byte(part); err != nil {
				return nil, err
			}
		}
		p := append([]byte{}, k.p[start:k.pos]...)
		p[len(p)-1] &= 0x7f
		s := string(p)
		return &s, nil
	}
	n := uint64(b & 0x3f)
	if b&0x40 != 0 {
		for shift := 6; ; shift += 7 {
			if shift > 27 {
				return nil, k.fail(k.pos, part, "a length of at most 5 bytes", "more")
			}
			if b, err = k.byte(part); err != nil {
				return nil, err
			}
			n |= uint64(b&0x7f) << shift
			if b < 0x80 {
				break
			}
		}
	}
	if n == 0 {
		return nil, nil
	}
	if n--; n > uint64(k.left()) {
		return nil, k.fail(k.pos, "length of "+part, fmt.Sprintf("at most %d", k.left()), fmt.Sprint(n))
	}
	units := make([]uint16, 0, n)
	for range n {
		at := k.pos
		a, err := k.byte(part)
		if err != nil {
			return nil, err
		}
		switch {
		case a < 0x80:
			units = append(units, uint16(a))
		case a>>5 == 0b110, a>>4 == 0b1110:
			rest := 1
			if a>>4 == 0b1110 {
				rest = 2
			}
			p, err := k.take(rest, part)
			if err != nil {
				return nil, err
			}
			u := uint16(a) & (0x3f >> rest)
			for _, c := range p {
				if c>>6 != 0b10 {
					return nil, k.fail(at, part, "UTF-8", fmt.Sprintf("% x", k.p[at:k.pos]))
				}
				u = u<<6 | uint16(c&0x3f)
			}
			units = append(units, u)
		default:
			return nil, k.fail(at, part, "UTF-8 of one UTF-16 unit", fmt.Sprintf("%02x", a))
		}
	}
	s := string(utf16.Decode(units))
	return &s, nil
}

// class reads a class: null, a name, or the id of a registered one.
func (k *kryo) class(part string) (name string, id uint32, null bool, err error) {
	at := k.pos
	v, err := k.uvarint("class of " + part)
	if err != nil || v == 0 {
		return "", 0, true, err
	}
	if v >= 2 {
		return "", v - 2, false, nil
	}
	n, err := k.uvarint("class of " + part)
	if err != nil {
		return "", 0, false, err
	}
	if int(n) > len(k.classes) {
		return "", 0, false, k.fail(at, "class of "+part, fmt.Sprintf("name id 0 to %d", len(k.classes)), fmt.Sprint(n))
	}
	if int(n) == len(k.classes) {
		s, err := k.text("class name of " + part)
		if err != nil {
			return "", 0, false, err
		}
		if s == nil {
			return "", 0, false, k.fail(at, "class of "+part, "a name", "null")
		}
		k.classes = append(k.classes, *s)
	}
	return k.classes[n], 0, false, nil
}

// wantClass reads a class that must be the named one.
func (k *kryo) wantClass(part, want string) error {
	at := k.pos
	name, id, null, err := k.class(part)
	switch {
	case err != nil:
		return err
	case null:
		name = "null"
	case name == "":
		name = fmt.Sprintf("class id %d", id)
	}
	if name != want {
		return k.fail(at, "class of "+part, want, name)
	}
	return nil
}

// ref reads a reference: null, an object seen before, or (isNew) one that follows; its
// number is reserved and the caller stores it with set.
func (k *kryo) ref(part string) (old any, slot int, isNew, null bool, err error) {
	at := k.pos
	r, err := k.uvarint("reference of " + part)
	switch {
	case err != nil:
		return nil, 0, false, false, err
	case r == 0:
		return nil, 0, false, true, nil
	case r == 1:
		k.objects = append(k.objects, nil)
		return nil, len(k.objects) - 1, true, false, nil
	case int64(r)-2 >= int64(len(k.objects)):
		return nil, 0, false, false, k.fail(at, "reference of "+part, fmt.Sprintf("an object below %d", len(k.objects)), fmt.Sprint(r-2))
	}
	return k.objects[r-2], 0, false, false, nil
}

// refText reads a field that holds a string.
func (k *kryo) refText(part string) (*string, error) {
	at := k.pos
	old, slot, isNew, null, err := k.ref(part)
	if err != nil || null {
		return nil, err
	}
	if isNew {
		s, err := k.text(part)
		if err == nil && s != nil {
			k.objects[slot] = *s
		}
		return s, err
	}
	s, ok := old.(string)
	if !ok {
		return nil, k.fail(at, part, "a string", "a reference to another object")
	}
	return &s, nil
}

// head reads what comes before the elements and returns their number.
func (k *kryo) head() (int, error) {
	at := k.pos
	name, _, _, err := k.class("delete block")
	if err != nil {
		return 0, err
	}
	if name != classKeys && name != classDeletes {
		return 0, k.fail(at, "class of delete block", "an array of HoodieKey or DeleteRecord", fmt.Sprintf("%q", name))
	}
	_, _, isNew, _, err := k.ref("delete block")
	if err != nil {
		return 0, err
	}
	if !isNew {
		return 0, k.fail(at, "delete block", "a new array", "a reference")
	}
	at = k.pos
	n, err := k.uvarint("count of deletes")
	if err != nil {
		return 0, err
	}
	if n == 0 || n-1 > maxDeletes {
		return 0, k.fail(at, "count of deletes", fmt.Sprintf("0 to %d", maxDeletes), fmt.Sprint(int64(n)-1))
	}
	return int(n - 1), nil
}

func (k *kryo) deletes(version int) ([]Delete, error) {
	n, err := k.head()
	if err != nil {
		return nil, err
	}
	if n > k.left()/2 {
		return nil, k.fail(k.pos, "count of deletes", fmt.Sprintf("at most %d in the bytes left", k.left()/2), fmt.Sprint(n))
	}
	want := classDeletes
	if version == BlockVersion1 {
		want = classKeys
	}
	if k.classes[0] != want {
		return nil, k.fail(8, fmt.Sprintf("class of delete block version %d", version), want, k.classes[0])
	}
	var out []Delete
	for range n {
		start := k.pos
		var d Delete
		if version == BlockVersion1 {
			key, err := k.hoodieKey()
			if err != nil {
				return nil, err
			}
			d.setKey(key)
			d.Ordering = Ordering{Kind: OrderInt}
		} else if d, err = k.deleteRecord(); err != nil {
			return nil, err
		}
		d.Start, d.End = k.base+int64(start), k.base+int64(k.pos)
		out = append(out, d)
	}
	return out, nil
}

func (d *Delete) setKey(h hoodieKey) {
	d.Partition = h.partition
	d.KeyNull = h.key == nil
	if h.key != nil {
		d.Key = *h.key
	}
}

func (k *kryo) hoodieKey() (hoodieKey, error) {
	if err := k.wantClass("key", classKey); err != nil {
		return hoodieKey{}, err
	}
	at := k.pos
	old, slot, isNew, _, err := k.ref("key")
	if err != nil {
		return hoodieKey{}, err
	}
	if !isNew {
		h, ok := old.(hoodieKey)
		if !ok {
			return h, k.fail(at, "key", "a HoodieKey", "another object")
		}
		return h, nil
	}
	var h hoodieKey
	if h.partition, err = k.refText("partition path"); err != nil {
		return h, err
	}
	if h.key, err = k.refText("record key"); err != nil {
		return h, err
	}
	k.objects[slot] = h
	return h, nil
}

func (k *kryo) deleteRecord() (Delete, error) {
	if err := k.wantClass("delete", classDelete); err != nil {
		return Delete{}, err
	}
	at := k.pos
	old, slot, isNew, _, err := k.ref("delete")
	if err != nil {
		return Delete{}, err
	}
	if !isNew {
		d, ok := old.(Delete)
		if !ok {
			return d, k.fail(at, "delete", "a DeleteRecord", "another object")
		}
		return d, nil
	}
	var d Delete
	h, err := k.hoodieKey()
	if err != nil {
		return d, err
	}
	d.setKey(h)
	if d.Ordering, err = k.ordering(); err != nil {
		return d, err
	}
	k.objects[slot] = d
	return d, nil
}

// boxed are the classes Kryo knows by id, in order.
var boxed = [...]string{"java.lang.Integer", "java.lang.String", "java.lang.Float", "java.lang.Boolean", "java.lang.Byte",
	"java.lang.Character", "java.lang.Short", "java.lang.Long", "java.lang.Double", "void"}

const classUtf8 = "org.apache.avro.util.Utf8"

func (k *kryo) ordering() (o Ordering, err error) {
	const part = "ordering value"
	at := k.pos
	name, id, null, err := k.class(part)
	if err != nil || null {
		return o, err
	}
	if name == "" {
		name = classUtf8 // every registered class above the boxed ones; its id differs by release
		if int(id) < len(boxed) {
			name = boxed[id]
		}
	}
	o.Class = name
	var p []byte
	switch name {
	case "java.lang.Integer":
		o.Kind = OrderInt
		x, err := k.uvarint(part)
		o.Int = int64(int32(x>>1) ^ -int32(x&1))
		return o, err
	case "java.lang.Long":
		o.Kind = OrderLong
		x, err := k.uvarlong(part)
		o.Int = int64(x>>1) ^ -int64(x&1)
		return o, err
	case "java.lang.Boolean":
		o.Kind = OrderBool
		if p, err = k.take(1, part); err == nil {
			o.Int = int64(min(p[0], 1))
		}
		return o, err
	case "java.lang.Byte":
		o.Kind = OrderInt
		if p, err = k.take(1, part); err == nil {
			o.Int = int64(int8(p[0]))
		}
		return o, err
	case "java.lang.Short":
		o.Kind = OrderInt
		if p, err = k.take(2, part); err == nil {
			o.Int = int64(int16(binary.BigEndian.Uint16(p)))
		}
		return o, err
	case "java.lang.Character":
		o.Kind = OrderString
		if p, err = k.take(2, part); err == nil {
			o.Bytes = []byte(string(rune(binary.BigEndian.Uint16(p))))
		}
		return o, err
	case "java.lang.Float":
		o.Kind = OrderFloat
		if p, err = k.take(4, part); err == nil {
			o.Float = float64(math.Float32frombits(binary.BigEndian.Uint32(p)))
		}
		return o, err
	case "java.lang.Double":
		o.Kind = OrderDouble
		if p, err = k.take(8, part); err == nil {
			o.Float = math.Float64frombits(binary.BigEndian.Uint64(p))
		}
		return o, err
	case "void":
		return o, nil
	}
	refAt := k.pos
	old, slot, isNew, null, err := k.ref(part)
	if err != nil || null {
		return Ordering{}, err
	}
	if !isNew {
		// A string may have been met as a key or partition path before.
		if s, ok := old.(string); ok && name == "java.lang.String" {
			return Ordering{Kind: OrderString, Class: name, Bytes: []byte(s)}, nil
		}
		if x, ok := old.(Ordering); ok && x.Class == name {
			return x, nil
		}
		return o, k.fail(refAt, part, name, "a reference to another object")
	}
	switch name {
	case "java.lang.String":
		s, err := k.text(part)
		if err != nil || s == nil {
			return Ordering{}, err
		}
		k.objects[slot] = *s
		return Ordering{Kind: OrderString, Class: name, Bytes: []byte(*s)}, nil
	case classUtf8:
		o.Kind = OrderString
		o.Bytes, err = k.sized(part, math.MaxInt32)
	case "java.math.BigDecimal":
		o.Kind = OrderDecimal
		if o.Bytes, err = k.sized(part, maxDecimal); err == nil {
			var x uint32
			x, err = k.uvarint("scale of " + part)
			o.Scale = int(int32(x>>1) ^ -int32(x&1))
			if o.Scale < -maxScale || o.Scale > maxScale {
				return o, k.fail(refAt, "scale of "+part, fmt.Sprintf("at most %d", maxScale), fmt.Sprint(o.Scale))
			}
		}
	case "java.sql.Timestamp", "java.util.Date", "java.sql.Date":
		var x uint64
		x, err = k.uvarlong(part)
		o.Kind, o.Int = OrderTimestampMicros, int64(x)
		if o.Int > math.MaxInt64/1000 || o.Int < math.MinInt64/1000 {
			return o, k.fail(refAt, part, "milliseconds since 1970", fmt.Sprint(o.Int))
		}
		o.Int *= 1000
		if name == "java.sql.Date" {
			o.Kind, o.Int = OrderDate, floorDiv(o.Int, 86_400_000_000)
		}
	case "java.time.LocalDate":
		var year uint32
		if year, err = k.uvarint(part); err == nil {
			p, err = k.take(2, part)
		}
		if err == nil {
			o.Kind = OrderLocalDate
			if p[0] < 1 || p[0] > 12 || p[1] < 1 || p[1] > 31 || int32(year) > 999_999_999 || int32(year) < -999_999_999 {
				return o, k.fail(refAt, part, "a date", fmt.Sprintf("year %d, month %d, day %d", int32(year), p[0], p[1]))
			}
			o.Int = daysOf(int64(int32(year)), int(p[0]), int(p[1]))
		}
	default:
		return o, k.fail(at, "class of "+part, "a number, text, decimal, date or time", strings.ToValidUTF8(name, "?"))
	}
	if err != nil {
		return Ordering{}, err
	}
	k.objects[slot] = o
	return o, nil
}

// maxScale and maxDecimal (bytes) keep the text of a decimal from a hostile block short.
const (
	maxScale   = 1 << 12
	maxDecimal = 1 << 12
)

// sized reads bytes behind their length plus one.
func (k *kryo) sized(part string, most uint32) ([]byte, error) {
	at := k.pos
	n, err := k.uvarint("length of " + part)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, k.fail(at, "length of "+part, "a value", "null")
	}
	if n-1 > most {
		return nil, k.fail(at, "length of "+part, fmt.Sprintf("at most %d", most), fmt.Sprint(n-1))
	}
	p, err := k.take(int(n-1), part)
	return append([]byte{}, p...), err
}
