package merge

import (
	"bytes"
	"cmp"
	"math"
	"math/big"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"hudiscope/core/column"
	"hudiscope/core/schema"
)

// Class is the Java class an ordering value has; values of one class compare, others do not.
type Class uint8

// The classes. Integer 0 is the default value ("natural order"), a Long 0 is not.
const (
	Integer Class = iota
	Long
	Float
	Double
	Boolean
	Bytes
	Text
	Date
	Timestamp
	Time
	DecimalNumber
	Tuple
)

// String names the class for explanations.
func (c Class) String() string {
	names := [...]string{"int", "long", "float", "double", "boolean", "bytes", "string", "date", "timestamp", "time", "decimal", "array"}
	if int(c) < len(names) {
		return names[c]
	}
	return "class?"
}

// Ordering is the value by which versions of a record are ordered in event time. The zero
// value is the default, Integer 0.
type Ordering struct {
	Class Class
	// Int holds Integer, Long, Date (days), Timestamp and Time (microseconds), Boolean (0, 1),
	// and the scale of a DecimalNumber.
	Int   int64
	Float float64
	// Bytes holds Bytes, Text, and the two's complement unscaled value of a DecimalNumber.
	Bytes []byte
	Tuple []Ordering
}

// IsDefault reports whether the value is Integer 0, which always wins as a delete and always
// loses to a later record.
func (o *Ordering) IsDefault() bool { return o.Class == Integer && o.Int == 0 }

// Compare orders two values. ok is false when their classes do not compare; the result is
// then by number where both are numbers, with the default smaller than anything that is no
// number (spec section 4.2).
func Compare(a, b *Ordering) (result int, ok bool) {
	if a.Class != b.Class {
		return compareMixed(a, b), false
	}
	switch a.Class {
	case Integer, Long, Date, Timestamp, Time, Boolean:
		return cmp.Compare(a.Int, b.Int), true
	case Float, Double:
		return totalOrder(a.Float, b.Float), true
	case Bytes:
		return compareSigned(a.Bytes, b.Bytes), true
	case Text:
		return compareUTF16(a.Bytes, b.Bytes), true
	case DecimalNumber:
		return a.rat().Cmp(b.rat()), true
	case Tuple:
		ok = true
		for i := range min(len(a.Tuple), len(b.Tuple)) {
			c, same := Compare(&a.Tuple[i], &b.Tuple[i])
			ok = ok && same
			if c != 0 {
				return c, ok
			}
		}
		return cmp.Compare(len(a.Tuple), len(b.Tuple)), ok
	}
	return 0, false
}

func compareMixed(a, b *Ordering) int {
	x, y := a.number(), b.number()
	switch {
	case x != nil && y != nil:
		return x.Cmp(y)
	case a.IsDefault():
		return -1
	case b.IsDefault():
		return 1
	}
	return 0
}

// number returns the value as a rational, or nil when it is none.
func (o *Ordering) number() *big.Rat {
	switch o.Class {
	case Integer, Long, Date, Timestamp, Time:
		return new(big.Rat).SetInt64(o.Int)
	case Float, Double:
		if r := new(big.Rat).SetFloat64(o.Float); r != nil {
			return r
		}
	case DecimalNumber:
		return o.rat()
	}
	return nil
}

func (o *Ordering) rat() *big.Rat {
	den := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(o.Int, 0)), nil)
	return new(big.Rat).SetFrac(column.BigInt(o.Bytes), den)
}

// totalOrder is Java's Double.compare: NaN is the largest, -0.0 is below 0.0.
func totalOrder(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	x, y := int64(math.Float64bits(a)), int64(math.Float64bits(b))
	if a != a {
		x = int64(math.Float64bits(math.NaN()))
	}
	if b != b {
		y = int64(math.Float64bits(math.NaN()))
	}
	return cmp.Compare(x, y)
}

// compareSigned compares as Java's ByteBuffer does: by signed bytes.
func compareSigned(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if c := cmp.Compare(int8(a[i]), int8(b[i])); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// compareUTF16 compares UTF-8 text by UTF-16 code units, as Java's String does. The order
// differs from that of the bytes only when supplementary characters are involved.
func compareUTF16(a, b []byte) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	for i > 0 && i < len(a) && !utf8.RuneStart(a[i]) || i > 0 && i < len(b) && !utf8.RuneStart(b[i]) {
		i--
	}
	if i == len(a) || i == len(b) {
		return cmp.Compare(len(a), len(b))
	}
	x, _ := utf8.DecodeRune(a[i:])
	y, _ := utf8.DecodeRune(b[i:])
	if (x > 0xffff) == (y > 0xffff) {
		return bytes.Compare(a[i:], b[i:])
	}
	unit := func(r rune) rune {
		if r > 0xffff {
			hi, _ := utf16.EncodeRune(r)
			return hi
		}
		return r
	}
	return cmp.Compare(unit(x), unit(y))
}

// String renders the value for explanations.
func (o *Ordering) String() string {
	switch o.Class {
	case Integer, Long:
		return strconv.FormatInt(o.Int, 10)
	case Boolean:
		return strconv.FormatBool(o.Int != 0)
	case Float, Double:
		return strconv.FormatFloat(o.Float, 'g', -1, 64)
	case Bytes:
		return strconv.Quote(string(o.Bytes))
	case Text:
		return string(o.Bytes)
	case Date:
		return string(column.AppendDate(nil, o.Int))
	case DecimalNumber:
		return column.DecimalText(o.Bytes, int(o.Int))
	case Tuple:
		s := "("
		for i, t := range o.Tuple {
			if i > 0 {
				s += ", "
			}
			s += t.String()
		}
		return s + ")"
	case Timestamp, Time:
		v := column.New(timestampType, 1)
		v.AppendInt(o.Int)
		s := string(v.AppendJSON(nil, 0))
		return s[1 : len(s)-1]
	}
	return "?"
}

var timestampType = &schema.Type{Kind: schema.Long, Logical: schema.TimestampMicros}

// FromColumn writes the ordering value in slot i of a column to o, which must be zero; null and
// a missing column give the default.
func FromColumn(v *column.Vector, i int, o *Ordering) {
	if v == nil || v.IsNull(i) {
		return
	}
	t := v.Type
	switch t.Kind {
	case schema.Boolean:
		o.Class = Boolean
		if v.Bools[i] {
			o.Int = 1
		}
	case schema.Int, schema.Long:
		o.Int = v.Ints[i]
		switch t.Logical {
		case schema.Date:
			o.Class = Date
		case schema.TimestampMillis, schema.TimestampMicros, schema.TimestampNanos,
			schema.LocalTimestampMillis, schema.LocalTimestampMicros, schema.LocalTimestampNanos:
			o.Class, o.Int = Timestamp, column.Micros(t.Logical, o.Int)
		case schema.TimeMillis, schema.TimeMicros:
			o.Class, o.Int = Time, column.Micros(t.Logical, o.Int)
		default:
			if t.Kind == schema.Long {
				o.Class = Long
			}
		}
	case schema.Float:
		o.Class, o.Float = Float, v.Floats[i]
	case schema.Double:
		o.Class, o.Float = Double, v.Floats[i]
	case schema.String:
		o.Class, o.Bytes = Text, v.BytesAt(i)
	case schema.Enum:
		s, _ := v.Text(i)
		o.Class, o.Bytes = Text, []byte(s)
	case schema.Bytes, schema.Fixed:
		o.Class, o.Bytes = Bytes, v.BytesAt(i)
		if t.Logical == schema.Decimal {
			o.Class, o.Int = DecimalNumber, int64(t.Scale)
		}
	case schema.Union:
		FromColumn(v.Children[v.Tags[i]], i, o)
	}
}
