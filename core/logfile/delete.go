package logfile

import (
	"encoding/binary"
	"fmt"
	"math"

	"hudiscope/core/corrupt"
)

// Delete is one entry of a delete block.
type Delete struct {
	// Key is the record key; KeyNull is set when the block holds a null instead.
	Key     string
	KeyNull bool
	// Partition is the partition path, nil for null.
	Partition *string
	// Ordering decides whether the delete beats a row in event-time merging.
	Ordering Ordering
	// Start and End are the entry's bytes: in the file, when the content's offset was given.
	Start, End int64
}

// maxDeletes bounds the entries of one delete block.
const maxDeletes = 1 << 23

// deleteHead checks the two numbers every version begins with and returns the data behind them.
func deleteHead(content []byte, base, size int64) (version int, err error) {
	if len(content) < 8 {
		return 0, corrupt.At(base, "delete block", "8 bytes for version and data length", fmt.Sprintf("%d bytes", len(content)))
	}
	version = int(int32(binary.BigEndian.Uint32(content)))
	if version < BlockVersion1 || version > BlockVersion3 {
		return 0, corrupt.At(base, "version of a delete block", "1, 2 or 3", fmt.Sprint(version))
	}
	if n := int64(int32(binary.BigEndian.Uint32(content[4:]))); n != size-8 {
		return 0, corrupt.At(base+4, "data length of a delete block", fmt.Sprint(size-8), fmt.Sprint(n))
	}
	return version, nil
}

// deleteCount reads the number of deletes from the first bytes of a content of size
// bytes; whole is false when they do not tell it.
func deleteCount(p []byte, base, size int64) (n int64, whole bool, err error) {
	version, err := deleteHead(p, base, size)
	if err != nil {
		return 0, false, err
	}
	c := &input{p: p, pos: 8, base: base}
	if version < BlockVersion3 {
		k := kryo{input: c}
		count, err := k.head()
		if err != nil {
			return 0, int64(len(p)) == size, err
		}
		return int64(count), true, nil
	}
	// Hudi writes the whole list as one block of the Avro array.
	x, err := c.zigzag("count of deletes")
	if err != nil {
		return 0, false, err
	}
	if x < 0 || x > 0 && size == int64(len(p)) {
		return 0, false, nil // count them
	}
	if x > size/3 {
		return 0, false, corrupt.At(base+8, "count of deletes", fmt.Sprintf("at most %d in %d bytes", size/3, size), fmt.Sprint(x))
	}
	return x, true, nil
}

// DecodeDeletes decodes the content of a delete block of version 1, 2 or 3 (spec
// log-format.md section 7). base is the block's ContentOffset, for absolute offsets.
// A version 1 delete has no ordering value and gets the default, Int 0.
func DecodeDeletes(content []byte, base int64) (version int, deletes []Delete, err error) {
	version, err = deleteHead(content, base, int64(len(content)))
	if err != nil {
		return 0, nil, err
	}
	c := &input{p: content, pos: 8, base: base}
	if version == BlockVersion3 {
		deletes, err = c.avroDeletes()
	} else {
		k := kryo{input: c}
		deletes, err = k.deletes(version)
	}
	if err != nil {
		return version, nil, err
	}
	if c.pos != len(content) {
		return version, nil, c.fail(c.pos, "delete block", fmt.Sprintf("its end after %d deletes", len(deletes)), fmt.Sprintf("%d bytes more", len(content)-c.pos))
	}
	return version, deletes, nil
}

// input reads the data of a delete block.
type input struct {
	p    []byte
	pos  int
	base int64
}

func (c *input) fail(at int, part, want, got string) error {
	return corrupt.At(c.base+int64(at), part, want, got)
}

func (c *input) left() int { return len(c.p) - c.pos }

func (c *input) take(n int, part string) ([]byte, error) {
	if n < 0 || n > c.left() {
		return nil, c.fail(c.pos, part, fmt.Sprintf("at most %d bytes, to the end of the block", c.left()), fmt.Sprintf("%d bytes", n))
	}
	c.pos += n
	return c.p[c.pos-n : c.pos], nil
}

func (c *input) byte(part string) (byte, error) {
	b, err := c.take(1, part)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// zigzag reads an Avro int or long.
func (c *input) zigzag(part string) (int64, error) {
	x, n := binary.Uvarint(c.p[c.pos:])
	if n <= 0 {
		return 0, c.fail(c.pos, part, "a variable-length number", fmt.Sprintf("none in %d bytes", c.left()))
	}
	c.pos += n
	return int64(x>>1) ^ -int64(x&1), nil
}

func (c *input) int32(part string) (int64, error) {
	at := c.pos
	x, err := c.zigzag(part)
	if err == nil && x != int64(int32(x)) {
		return 0, c.fail(at, part, "a number of 32 bits", fmt.Sprint(x))
	}
	return x, err
}

func (c *input) avroBytes(part string) ([]byte, error) {
	at := c.pos
	n, err := c.zigzag("length of " + part)
	if err != nil {
		return nil, err
	}
	if n < 0 || n > int64(c.left()) {
		return nil, c.fail(at, "length of "+part, fmt.Sprintf("0 to %d", c.left()), fmt.Sprint(n))
	}
	return c.take(int(n), part)
}

// optional reads the branch of a ["null", T] union.
func (c *input) optional(part string) (bool, error) {
	at := c.pos
	x, err := c.zigzag(part)
	if err == nil && x != 0 && x != 1 {
		err = c.fail(at, "branch of "+part, "0 or 1", fmt.Sprint(x))
	}
	return x == 1, err
}

// avroList reads an Avro array: item is called for every element, each of at least least bytes.
func (c *input) avroList(part string, least int, item func() error) error {
	for total := int64(0); ; {
		at := c.pos
		n, err := c.zigzag("count of " + part)
		if err != nil || n == 0 {
			return err
		}
		end := -1
		if n < 0 {
			size, err := c.zigzag("size of " + part)
			if err != nil {
				return err
			}
			if size < 0 || size > int64(c.left()) || n == math.MinInt64 {
				return c.fail(at, "size of "+part, fmt.Sprintf("0 to %d", c.left()), fmt.Sprint(size))
			}
			n, end = -n, c.pos+int(size)
		}
		if n > int64(c.left()/least) || total+n > maxDeletes {
			return c.fail(at, "count of "+part, fmt.Sprintf("at most %d in the bytes left", c.left()/least), fmt.Sprint(n))
		}
		total += n
		for range n {
			if err := item(); err != nil {
				return err
			}
		}
		if end >= 0 && c.pos != end {
			return c.fail(at, "size of "+part, fmt.Sprintf("end at byte %d", c.base+int64(end)), fmt.Sprintf("end at byte %d", c.base+int64(c.pos)))
		}
	}
}

func (c *input) avroDeletes() ([]Delete, error) {
	var out []Delete
	err := c.avroList("deletes", 3, func() error {
		d := Delete{Start: c.base + int64(c.pos)}
		ok, err := c.optional("record key")
		if err != nil {
			return err
		}
		d.KeyNull = !ok
		if ok {
			b, err := c.avroBytes("record key")
			if err != nil {
				return err
			}
			d.Key = string(b)
		}
		if ok, err = c.optional("partition path"); err != nil {
			return err
		}
		if ok {
			b, err := c.avroBytes("partition path")
			if err != nil {
				return err
			}
			s := string(b)
			d.Partition = &s
		}
		if d.Ordering, err = c.avroOrdering(false); err != nil {
			return err
		}
		d.End = c.base + int64(c.pos)
		out = append(out, d)
		return nil
	})
	return out, err
}

// avroOrdering reads the ordering union. Inside a tuple branch 12 is a local date.
func (c *input) avroOrdering(inTuple bool) (o Ordering, err error) {
	at := c.pos
	branch, err := c.zigzag("ordering value")
	if err != nil {
		return o, err
	}
	int32Value := func(k OrderingKind) {
		o.Kind = k
		o.Int, err = c.int32("ordering value")
	}
	longValue := func(k OrderingKind) {
		o.Kind = k
		o.Int, err = c.zigzag("ordering value")
	}
	bytesValue := func(k OrderingKind) {
		o.Kind = k
		var b []byte
		b, err = c.avroBytes("ordering value")
		o.Bytes = append([]byte{}, b...)
	}
	var b []byte
	switch branch {
	case 0:
	case 1:
		o.Kind = OrderBool
		if b, err = c.take(1, "ordering value"); err == nil {
			if b[0] > 1 {
				return o, c.fail(c.pos-1, "ordering value", "0 or 1", fmt.Sprint(b[0]))
			}
			o.Int = int64(b[0])
		}
	case 2:
		int32Value(OrderInt)
	case 3:
		longValue(OrderLong)
	case 4:
		o.Kind = OrderFloat
		if b, err = c.take(4, "ordering value"); err == nil {
			o.Float = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
	case 5:
		o.Kind = OrderDouble
		if b, err = c.take(8, "ordering value"); err == nil {
			o.Float = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	case 6:
		bytesValue(OrderBytes)
	case 7:
		bytesValue(OrderString)
	case 8:
		int32Value(OrderDate)
	case 9:
		bytesValue(OrderDecimal)
		o.Scale = 15
		if len(o.Bytes) > maxDecimal {
			return o, c.fail(at, "ordering value", fmt.Sprintf("a decimal of at most %d bytes", maxDecimal), fmt.Sprintf("%d bytes", len(o.Bytes)))
		}
	case 10:
		longValue(OrderTimeMicros)
	case 11:
		longValue(OrderTimestampMicros)
	case 12:
		if inTuple {
			int32Value(OrderLocalDate)
			break
		}
		o.Kind = OrderTuple
		ok, err := c.optional("ordering values")
		if err != nil || !ok {
			return o, err
		}
		o.Tuple = []Ordering{}
		return o, c.avroList("ordering values", 1, func() error {
			x, err := c.avroOrdering(true)
			o.Tuple = append(o.Tuple, x)
			return err
		})
	default:
		return o, c.fail(at, "type of ordering value", "0 to 12", fmt.Sprint(branch))
	}
	return o, err
}
