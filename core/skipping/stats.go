package skipping

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"

	"hudiscope/core/column"
	"hudiscope/core/metatable"
	"hudiscope/core/schema"
)

// source is where the statistics of a leaf come from: a column of the data, or an expression over one.
type source struct {
	// index is the metadata partition, column the name in its keys; expr is the expression, "" for the column
	// itself.
	index, column, expr string
	// typ is the type of the values.
	typ *schema.Type
	// bloom tells that the index has bloom filters of the values, not bounds.
	bloom bool
	// days is by how many days dates may differ from those of the condition's zone.
	days int
}

// known is what an index says of one column of one file.
type known struct {
	stats *metatable.ColumnStats
	// bounds tells that low and high, rows of the source's vector, may be compared with.
	bounds bool
	// doubtful says why the bounds prove nothing, although a release takes them for what they are.
	doubtful string
	// nulls and values are counts, -1 when they are not told. values counts nulls too.
	nulls, values int64
	// text tells that the source has texts or bytes.
	text bool
}

// empty reports whether there is no value that is not null.
func (k *known) empty() bool {
	// Writers store the same of a column chunk that has no statistics, which those of long texts have not.
	return k.allNull() && !(k.text && k.nulls > 0)
}

// allNull reports whether the counts say that there is no value that is not null.
func (k *known) allNull() bool {
	return k.stats != nil && k.nulls >= 0 && k.values >= 0 && k.nulls >= k.values
}

// append reads a record of statistics, of a log file or not, and adds its bounds to a vector of the source's
// type, nulls where they can't be compared with.
func (s *source) append(v *column.Vector, c *metatable.ColumnStats, log bool) known {
	k := known{stats: c, nulls: -1, values: -1}
	switch s.typ.Kind {
	case schema.String, schema.Bytes, schema.Fixed:
		k.text = true
	}
	if c != nil {
		if c.NullCount != nil && *c.NullCount >= 0 {
			k.nulls = *c.NullCount
		}
		if c.ValueCount != nil && *c.ValueCount >= 0 {
			k.values = *c.ValueCount
		}
		// Without a count of nulls there were no statistics to take the bounds from, which are zeros then.
		if k.nulls >= 0 && c.Min.Wrapper != metatable.NullBound && c.Max.Wrapper != metatable.NullBound {
			n := v.Len
			if s.bound(v, c, c.Min, -1) {
				if s.bound(v, c, c.Max, 1) {
					k.bounds = true
					if f := v.Floats; len(f) > n+1 && f[n] <= 0 && f[n+1] >= 0 && !log {
						k.doubtful = "their range has 0 in it, which Hudi also writes in the place of bounds where a row group has a NaN"
					}
					return k
				}
				// One alone is of no use: its slot becomes null.
				null(v, n)
				v.AppendNull()
				return k
			}
		}
	}
	v.AppendNull()
	v.AppendNull()
	return k
}

// null makes a filled slot null.
func null(v *column.Vector, i int) {
	if v.Nulls == nil {
		v.Nulls = make([]bool, v.Len)
	}
	v.Nulls[i] = true
}

// bound adds one bound as a value of the source's type. It is false, and nothing is added, where what is
// stored is not surely a value of that type: after a change of the type, for timestamps of the first
// encoding (whose unit and precision are not certain), for binary (whose order differs between writers).
// sign is -1 for the least value and 1 for the greatest.
func (s *source) bound(v *column.Vector, c *metatable.ColumnStats, b metatable.Bound, sign int64) bool {
	t := s.typ
	ordinal := 0
	if c.ValueType != nil {
		ordinal = c.ValueType.Ordinal
	}
	is := func(first metatable.Wrapper, second ...int) bool {
		if ordinal == 0 {
			return b.Wrapper == first
		}
		for _, o := range second {
			if o == ordinal {
				return true
			}
		}
		return false
	}
	whole := (b.Wrapper == metatable.IntWrapper || b.Wrapper == metatable.LongWrapper) && (ordinal == 0 || ordinal == 3 || ordinal == 4)
	switch {
	case t.Logical == schema.Decimal:
		return s.decimal(v, c, b, whole)
	case t.Kind == schema.Boolean:
		if b.Wrapper != metatable.BooleanWrapper || !is(metatable.BooleanWrapper, 2) {
			return false
		}
		v.AppendBool(b.Int != 0)
	case t.Kind == schema.Int && t.Logical == schema.Date:
		if !(ordinal == 0 && (b.Wrapper == metatable.DateWrapper || b.Wrapper == metatable.LocalDateWrapper)) && !(ordinal == 12 && b.Wrapper == metatable.IntWrapper) {
			return false
		}
		v.AppendInt(b.Int + sign*int64(s.days))
	case t.Kind == schema.Long && t.Logical != schema.None:
		units := map[schema.Logical]int{schema.TimestampMillis: 15, schema.TimestampMicros: 16, schema.LocalTimestampMillis: 18, schema.LocalTimestampMicros: 19}
		if o := units[t.Logical]; o == 0 || o != ordinal || b.Wrapper != metatable.LongWrapper {
			return false
		}
		v.AppendInt(b.Int)
	case (t.Kind == schema.Int || t.Kind == schema.Long) && t.Logical == schema.None:
		if !whole {
			return false
		}
		v.AppendInt(b.Int)
	case t.Kind == schema.Float:
		switch {
		case whole:
			// Rounding keeps the order.
			v.AppendFloat(float64(float32(b.Int)))
		case b.Wrapper == metatable.FloatWrapper && is(metatable.FloatWrapper, 5) && !math.IsNaN(b.Float):
			v.AppendFloat(b.Float)
		default:
			return false
		}
	case t.Kind == schema.Double:
		switch {
		case whole:
			v.AppendFloat(float64(b.Int))
		case b.Wrapper == metatable.DoubleWrapper && is(metatable.DoubleWrapper, 6) && !math.IsNaN(b.Float):
			v.AppendFloat(b.Float)
		default:
			return false
		}
	case t.Kind == schema.String && t.Logical == schema.None:
		if b.Wrapper != metatable.StringWrapper || !is(metatable.StringWrapper, 7) {
			return false
		}
		text := b.Bytes
		if s.days > 0 {
			var ok bool
			if text, ok = shiftDay(text, sign*int64(s.days)); !ok {
				return false
			}
		}
		v.AppendBytes(text)
	default:
		return false
	}
	return true
}

// shiftDay moves a date in ISO form.
func shiftDay(text []byte, by int64) ([]byte, bool) {
	v, err := column.ParseText(&schema.Type{Kind: schema.Int, Logical: schema.Date}, string(text))
	if err != nil {
		return nil, false
	}
	out := column.AppendDate(nil, v.Ints[0]+by)
	return out, len(out) == len(text)
}

func (s *source) decimal(v *column.Vector, c *metatable.ColumnStats, b metatable.Bound, whole bool) bool {
	x, scale := new(big.Int), 0
	switch {
	case whole:
		x.SetInt64(b.Int)
	case c.ValueType == nil && b.Wrapper == metatable.DecimalWrapper:
		x, scale = column.BigInt(b.Bytes), metatable.DecimalScale
	case c.ValueType != nil && b.Wrapper == metatable.BytesWrapper:
		var ok bool
		if scale, ok = c.ValueType.DecimalScale(); !ok {
			return false
		}
		x = column.BigInt(b.Bytes)
	default:
		return false
	}
	if scale < 0 || scale > 100 || s.typ.Scale < 0 || s.typ.Scale > 100 {
		return false
	}
	ten := big.NewInt(10)
	if d := s.typ.Scale - scale; d >= 0 {
		x.Mul(x, new(big.Int).Exp(ten, big.NewInt(int64(d)), nil))
	} else {
		var rest big.Int
		x.QuoRem(x, new(big.Int).Exp(ten, big.NewInt(int64(-d)), nil), &rest)
		if rest.Sign() != 0 {
			return false
		}
	}
	switch s.typ.Kind {
	case schema.Int, schema.Long:
		if !x.IsInt64() {
			return false
		}
		v.AppendInt(x.Int64())
		return true
	}
	p, ok := twos(x, s.typ.Size)
	if ok {
		v.AppendBytes(p)
	}
	return ok
}

// twos writes a number in two's complement, big-endian: in size bytes, or in as few as it takes when size is 0.
func twos(x *big.Int, size int) ([]byte, bool) {
	n := x.BitLen()/8 + 1
	if size == 0 {
		size = n
	}
	if n > size {
		return nil, false
	}
	y := x
	if x.Sign() < 0 {
		y = new(big.Int).Add(x, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
	}
	return y.FillBytes(make([]byte, size)), true
}

// plain is a bound as text for people.
func plain(b metatable.Bound, t *metatable.ValueType) string {
	p := b.AppendValue(nil, t)
	var s string
	if len(p) > 0 && p[0] == '"' && json.Unmarshal(p, &s) == nil {
		return s
	}
	return string(p)
}

// sentence says what an index knows, for a reason.
func (k *known) sentence(what string) string {
	if k.stats == nil {
		return "nothing is known of " + what
	}
	nulls := ""
	if k.nulls > 0 {
		nulls = fmt.Sprintf(", %d of %d null", k.nulls, k.values)
	}
	switch {
	case k.values == 0:
		return "no value of " + what
	case k.empty():
		return "all values of " + what + " are null"
	case k.stats.Min.Wrapper == metatable.NullBound:
		return "no bounds of " + what + nulls
	}
	return fmt.Sprintf("%s from %s to %s%s", what, short(plain(k.stats.Min, k.stats.ValueType)), short(plain(k.stats.Max, k.stats.ValueType)), nulls)
}

// short bounds a text for a sentence.
func short(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
