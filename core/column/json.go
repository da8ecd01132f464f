package column

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"sort"
	"strconv"
	"time"
	"unicode/utf8"

	"hudiscope/core/schema"
)

// AppendJSON appends slot i as JSON: decimals and times as text (ISO 8601, UTC, six
// fraction digits), binary as base64, NaN and infinities as text, longs as numbers,
// records as objects in field order, maps as objects with sorted keys.
func (v *Vector) AppendJSON(dst []byte, i int) []byte {
	if v == nil || v.IsNull(i) {
		return append(dst, "null"...)
	}
	t := v.Type
	switch t.Kind {
	case schema.Boolean:
		return strconv.AppendBool(dst, v.Bools[i])
	case schema.Int, schema.Long:
		return appendInt(dst, t, v.Ints[i])
	case schema.Enum:
		if s := v.Ints[i]; s >= 0 && int(s) < len(t.Symbols) {
			return AppendText(dst, []byte(t.Symbols[s]))
		}
		return strconv.AppendInt(dst, v.Ints[i], 10)
	case schema.Float, schema.Double:
		return AppendFloat(dst, v.Floats[i])
	case schema.String:
		return AppendText(dst, v.BytesAt(i))
	case schema.Bytes, schema.Fixed:
		if t.Logical == schema.Decimal {
			dst = append(dst, '"')
			dst = append(dst, DecimalText(v.BytesAt(i), t.Scale)...)
			return append(dst, '"')
		}
		if t.Logical == schema.UUID && t.Kind == schema.Fixed && t.Size == 16 {
			return appendUUID(dst, v.BytesAt(i))
		}
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, v.BytesAt(i))
		return append(dst, '"')
	case schema.Array:
		dst = append(dst, '[')
		for j := v.Offsets[i]; j < v.Offsets[i+1]; j++ {
			if j > v.Offsets[i] {
				dst = append(dst, ',')
			}
			dst = v.Children[0].AppendJSON(dst, int(j))
		}
		return append(dst, ']')
	case schema.Map:
		return v.appendMap(dst, i)
	case schema.Record:
		dst = append(dst, '{')
		for k, c := range v.Children {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = AppendText(dst, []byte(t.Fields[k].Name))
			dst = append(dst, ':')
			dst = c.AppendJSON(dst, i)
		}
		return append(dst, '}')
	case schema.Union:
		return v.Children[v.Tags[i]].AppendJSON(dst, i)
	}
	return append(dst, "null"...)
}

func (v *Vector) appendMap(dst []byte, i int) []byte {
	lo, hi := int(v.Offsets[i]), int(v.Offsets[i+1])
	order := make([]int, 0, hi-lo)
	for j := lo; j < hi; j++ {
		order = append(order, j)
	}
	keys := v.Children[0]
	sort.SliceStable(order, func(a, b int) bool { return bytes.Compare(keys.BytesAt(order[a]), keys.BytesAt(order[b])) < 0 })
	dst = append(dst, '{')
	for n, j := range order {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = AppendText(dst, keys.BytesAt(j))
		dst = append(dst, ':')
		dst = v.Children[1].AppendJSON(dst, j)
	}
	return append(dst, '}')
}

func appendInt(dst []byte, t *schema.Type, x int64) []byte {
	switch t.Logical {
	case schema.Date:
		dst = append(dst, '"')
		dst = AppendDate(dst, x)
		return append(dst, '"')
	case schema.TimestampMillis, schema.TimestampMicros, schema.TimestampNanos:
		dst = append(dst, '"')
		dst = appendTimestamp(dst, Micros(t.Logical, x))
		return append(dst, 'Z', '"')
	case schema.LocalTimestampMillis, schema.LocalTimestampMicros, schema.LocalTimestampNanos:
		dst = append(dst, '"')
		dst = appendTimestamp(dst, Micros(t.Logical, x))
		return append(dst, '"')
	case schema.TimeMillis, schema.TimeMicros:
		if t.Logical == schema.TimeMillis {
			x *= 1000
		}
		dst = append(dst, '"')
		dst = appendClock(dst, x)
		return append(dst, '"')
	case schema.Decimal:
		dst = append(dst, '"')
		dst = append(dst, scaled(big.NewInt(x), t.Scale)...)
		return append(dst, '"')
	}
	return strconv.AppendInt(dst, x, 10)
}

// Micros converts a timestamp of a logical type to microseconds (nanoseconds are floored).
func Micros(l schema.Logical, x int64) int64 {
	switch l {
	case schema.TimestampMillis, schema.LocalTimestampMillis, schema.TimeMillis:
		return x * 1000
	case schema.TimestampNanos, schema.LocalTimestampNanos:
		return floorDiv(x, 1000)
	}
	return x
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// AppendDate appends days since the epoch as yyyy-MM-dd (proleptic Gregorian calendar).
func AppendDate(dst []byte, days int64) []byte {
	y, m, d := civil(days)
	return appendYMD(dst, y, m, d)
}

// civil converts days since 1970-01-01 to a date of the proleptic Gregorian calendar.
// Dates are 32-bit numbers and timestamps 64-bit microseconds, so days can't overflow here.
func civil(days int64) (y int64, m, d int) {
	z := days + 719468
	era := floorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	y = yoe + era*400
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d = int(doy - (153*mp+2)/5 + 1)
	m = int(mp + 3)
	if m > 12 {
		m -= 12
		y++
	}
	return y, m, d
}

func appendYMD(dst []byte, y int64, m, d int) []byte {
	if y < 0 {
		dst = append(dst, '-')
		y = -y
	} else if y > 9999 {
		dst = append(dst, '+')
	}
	dst = pad(dst, y, 4)
	dst = append(dst, '-')
	dst = pad(dst, int64(m), 2)
	dst = append(dst, '-')
	return pad(dst, int64(d), 2)
}

func pad(dst []byte, x int64, width int) []byte {
	s := strconv.FormatInt(x, 10)
	for n := len(s); n < width; n++ {
		dst = append(dst, '0')
	}
	return append(dst, s...)
}

func appendTimestamp(dst []byte, micros int64) []byte {
	days := floorDiv(micros, 86400_000_000)
	y, m, d := civil(days)
	dst = appendYMD(dst, y, m, d)
	dst = append(dst, 'T')
	return appendClock(dst, micros-days*86400_000_000)
}

func appendClock(dst []byte, micros int64) []byte {
	s := micros / 1_000_000
	dst = pad(dst, s/3600, 2)
	dst = append(dst, ':')
	dst = pad(dst, s/60%60, 2)
	dst = append(dst, ':')
	dst = pad(dst, s%60, 2)
	dst = append(dst, '.')
	return pad(dst, micros%1_000_000, 6)
}

// AppendFloat appends a double as a JSON number, or NaN and infinities as text.
func AppendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.AppendFloat(dst, f, 'f', 1, 64)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// DecimalText renders an unscaled two's complement big-endian number with a scale.
func DecimalText(unscaled []byte, scale int) string { return scaled(BigInt(unscaled), scale) }

// BigInt reads a two's complement big-endian number.
func BigInt(b []byte) *big.Int {
	x := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return x
}

func scaled(x *big.Int, scale int) string {
	if scale <= 0 {
		if scale < 0 && x.Sign() != 0 {
			x = new(big.Int).Mul(x, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-scale)), nil))
		}
		return x.String()
	}
	s := new(big.Int).Abs(x).String()
	for len(s) <= scale {
		s = "0" + s
	}
	s = s[:len(s)-scale] + "." + s[len(s)-scale:]
	if x.Sign() < 0 {
		s = "-" + s
	}
	return s
}

func appendUUID(dst []byte, b []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i, c := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hex[c>>4], hex[c&15])
	}
	return append(dst, '"')
}

// AppendText appends bytes as a JSON string; bytes that are not UTF-8 become U+FFFD.
func AppendText(dst, s []byte) []byte {
	plain := true
	for _, c := range s {
		if c < 0x20 || c == '"' || c == '\\' || c >= 0x80 {
			plain = false
			break
		}
	}
	if plain {
		dst = append(dst, '"')
		dst = append(dst, s...)
		return append(dst, '"')
	}
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for len(s) > 0 {
		c := s[0]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < 0x80:
			dst = append(dst, c)
		default:
			r, n := utf8.DecodeRune(s)
			dst = utf8.AppendRune(dst, r)
			s = s[n:]
			continue
		}
		s = s[1:]
	}
	return append(dst, '"')
}

// RowJSON returns row i of the batch, one JSON value per column.
func (b *Batch) RowJSON(i int) []json.RawMessage {
	out := make([]json.RawMessage, len(b.Columns))
	var buf []byte
	for c, v := range b.Columns {
		start := len(buf)
		buf = v.AppendJSON(buf, i)
		out[c] = buf[start:len(buf):len(buf)]
	}
	return out
}

// AppendPlain appends slot i as Java's String.valueOf would render it: text as it is, numbers and
// booleans as in AppendJSON, without quotes. Null gives nothing.
func AppendPlain(dst []byte, v *Vector, i int) []byte {
	if v.IsNull(i) {
		return dst
	}
	switch v.Type.Kind {
	case schema.String:
		return append(dst, v.BytesAt(i)...)
	case schema.Int, schema.Long:
		return strconv.AppendInt(dst, v.Ints[i], 10)
	case schema.Boolean:
		return strconv.AppendBool(dst, v.Bools[i])
	case schema.Float:
		return append(dst, JavaFloat(v.Floats[i], 32)...)
	case schema.Double:
		return append(dst, JavaFloat(v.Floats[i], 64)...)
	}
	b := v.AppendJSON(nil, i)
	if len(b) >= 2 && b[0] == '"' {
		var s string
		if json.Unmarshal(b, &s) == nil {
			return append(dst, s...)
		}
	}
	return append(dst, b...)
}

// ParseText reads one value of a scalar type from text, as a cast of a partition value does:
// the result is a vector of one slot.
func ParseText(t *schema.Type, s string) (*Vector, error) {
	v := New(t, 1)
	switch t.Kind {
	case schema.String, schema.Bytes:
		v.AppendString(s)
	case schema.Boolean:
		x, err := strconv.ParseBool(s)
		if err != nil {
			return nil, fmt.Errorf("%q is not a boolean", s)
		}
		v.AppendBool(x)
	case schema.Int, schema.Long:
		if t.Logical == schema.Date {
			d, err := time.Parse("2006-01-02", s)
			if err != nil {
				return nil, fmt.Errorf("%q is not a date", s)
			}
			v.AppendInt(floorDiv(d.Unix(), 86400))
			return v, nil
		}
		bits := 64
		if t.Kind == schema.Int {
			bits = 32
		}
		x, err := strconv.ParseInt(s, 10, bits)
		if err != nil {
			return nil, fmt.Errorf("%q is not a %s", s, t.Kind)
		}
		v.AppendInt(x)
	case schema.Float, schema.Double:
		bits := 64
		if t.Kind == schema.Float {
			bits = 32
		}
		x, err := strconv.ParseFloat(s, bits)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", s)
		}
		v.AppendFloat(x)
	default:
		return nil, fmt.Errorf("text can't be read as a %s", t.Kind)
	}
	return v, nil
}
