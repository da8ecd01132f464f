package predicate

import (
	"math"
	"math/big"
	"strconv"

	"hudiscope/core/column"
)

// newCast makes the kernel of a cast that castable allows.
func newCast(x kernel, from, to Type) kernel {
	if from == to || from.is(NullType) && to.is(Boolean) {
		return x
	}
	k := &each{x: x, kind: to.Kind}
	k.f = caster(k, from, to)
	return k
}

// caster is the cast of one value; texts that it makes go to the arena of k.
func caster(k *each, from, to Type) func(in *vec, i int, out *vec) bool {
	s := new(scratch)
	switch {
	case from.is(NullType):
		return func(*vec, int, *vec) bool { return false }
	case to.is(String):
		appendValue := appender(s, from)
		return func(in *vec, i int, out *vec) bool {
			start := len(k.arena)
			k.arena = appendValue(k.arena, in, i)
			out.texts[i] = k.arena[start:len(k.arena):len(k.arena)]
			return true
		}
	case from.is(String):
		return fromText(s, to)
	case from.is(Bytes): // to binary only
		return func(in *vec, i int, out *vec) bool { out.texts[i] = in.texts[i]; return true }
	case to.is(Boolean):
		return func(in *vec, i int, out *vec) bool {
			switch {
			case from.is(Decimal):
				out.bools[i] = in.decs[i] != dec{}
			case from.fractional():
				out.bools[i] = in.floats[i] != 0
			default:
				out.bools[i] = in.ints[i] != 0
			}
			return true
		}
	case from.is(Boolean):
		return func(in *vec, i int, out *vec) bool {
			x := int64(0)
			if in.bools[i] {
				x = 1
			}
			return fromInt(s, x, to, i, out)
		}
	case from.datetime() && to.datetime():
		return func(in *vec, i int, out *vec) bool {
			x := in.ints[i]
			switch {
			case from.is(Date):
				if x > math.MaxInt64/microsDay || x < math.MinInt64/microsDay {
					return false
				}
				x *= microsDay
			case to.is(Date):
				x = floorDiv(x, microsDay)
			}
			out.ints[i] = x
			return true
		}
	case from.is(Timestamp):
		// The seconds since 1970.
		toDecimal := floatDecimal(s, to)
		return func(in *vec, i int, out *vec) bool {
			x := in.ints[i]
			switch {
			case to.is(Decimal):
				// By way of a double, as Spark goes.
				return toDecimal(float64(x)/1e6, i, out)
			case to.fractional():
				out.floats[i] = float(float64(x)/1e6, to)
				return true
			}
			out.ints[i] = wrap(floorDiv(x, 1_000_000), to.Kind)
			return true
		}
	case to.is(Timestamp):
		return toTimestamp(s, from)
	case from.is(Decimal):
		return fromDecimal(s, from, to)
	case from.fractional():
		return fromFloat(s, to)
	}
	return func(in *vec, i int, out *vec) bool { return fromInt(s, in.ints[i], to, i, out) }
}

// float rounds to a float where the type is one.
func float(x float64, t Type) float64 {
	if t.is(Float) {
		return float64(float32(x))
	}
	return x
}

func fromInt(s *scratch, x int64, to Type, i int, out *vec) (ok bool) {
	switch {
	case to.is(Decimal):
		out.decs[i], ok = s.rescale(decOf(x), 0, to)
		return ok
	case to.is(Float):
		out.floats[i] = float64(float32(x))
	case to.is(Double):
		out.floats[i] = float64(x)
	default:
		out.ints[i] = wrap(x, to.Kind)
	}
	return true
}

// fromFloat casts a fraction: to whole numbers by cutting off what follows the point, within the range of
// the type; small types take the low bits, as in Java.
func fromFloat(s *scratch, to Type) func(in *vec, i int, out *vec) bool {
	toDecimal := floatDecimal(s, to)
	return func(in *vec, i int, out *vec) bool {
		x := in.floats[i]
		switch {
		case to.fractional():
			out.floats[i] = float(x, to)
			return true
		case to.is(Decimal):
			return toDecimal(x, i, out)
		}
		low, high := rangeOf(Int)
		if to.is(Long) {
			low, high = rangeOf(Long)
		}
		switch {
		case x != x:
			out.ints[i] = 0
		case x >= float64(high):
			out.ints[i] = wrap(high, to.Kind)
		case x <= float64(low):
			out.ints[i] = wrap(low, to.Kind)
		default:
			out.ints[i] = wrap(int64(x), to.Kind)
		}
		return true
	}
}

// floatDecimal casts a double to a decimal, by as many digits as tell it from its neighbours.
func floatDecimal(s *scratch, to Type) func(x float64, i int, out *vec) bool {
	var buf [64]byte
	return func(x float64, i int, out *vec) (ok bool) {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
		out.decs[i], ok = s.parseDecimal(strconv.AppendFloat(buf[:0], x, 'e', -1, 64), to)
		return ok
	}
}

func fromDecimal(s *scratch, from, to Type) func(in *vec, i int, out *vec) bool {
	var buf []byte
	return func(in *vec, i int, out *vec) (ok bool) {
		d := in.decs[i]
		switch {
		case to.is(Decimal):
			out.decs[i], ok = s.rescale(d, from.Scale, to)
			return ok
		case to.fractional():
			if x, ok := d.small(); ok && magnitude(x) < 1<<53 && from.Scale <= 22 && to.is(Double) {
				// Both are exact, so the quotient is the nearest double.
				out.floats[i] = float64(x) / exactPowers[from.Scale]
				return true
			}
			d.into(&s.a)
			buf = s.a.Append(buf[:0], 10)
			buf = appendNumber(append(buf, 'e'), int64(-from.Scale), 1)
			bits := 64
			if to.is(Float) {
				bits = 32
			}
			x, _ := strconv.ParseFloat(string(buf), bits)
			out.floats[i] = x
			return true
		}
		if x, ok := d.small(); ok && from.Scale < len(smallPowers) {
			out.ints[i] = wrap(x/smallPowers[from.Scale], to.Kind)
			return true
		}
		out.ints[i] = wrap(s.truncate(d, from.Scale, 0), to.Kind)
		return true
	}
}

var allBits = new(big.Int).SetUint64(math.MaxUint64)

var exactPowers = func() (out [23]float64) {
	out[0] = 1
	for i := 1; i < len(out); i++ {
		out[i] = out[i-1] * 10
	}
	return out
}()

// toTimestamp reads a number as seconds since 1970.
func toTimestamp(s *scratch, from Type) func(in *vec, i int, out *vec) bool {
	return func(in *vec, i int, out *vec) bool {
		switch {
		case from.is(Decimal):
			out.ints[i] = s.truncate(in.decs[i], from.Scale, 6)
		case from.fractional():
			x := in.floats[i] * 1e6
			switch {
			case x != x || math.IsInf(x, 0):
				return false
			case x >= math.MaxInt64:
				out.ints[i] = math.MaxInt64
			case x <= math.MinInt64:
				out.ints[i] = math.MinInt64
			default:
				out.ints[i] = int64(x)
			}
		default:
			// Beyond the range it stays at its end.
			switch x := in.ints[i]; {
			case x > maxSeconds:
				out.ints[i] = math.MaxInt64
			case x < -maxSeconds:
				out.ints[i] = math.MinInt64
			default:
				out.ints[i] = x * 1_000_000
			}
		}
		return true
	}
}

// truncate gives a decimal another scale by cutting digits off, and takes the low 64 bits of it, as
// BigDecimal.longValue does.
func (s *scratch) truncate(d dec, from, to int) int64 {
	d.into(&s.a)
	if from <= to {
		s.a.Mul(&s.a, power(to-from))
	} else {
		s.b.QuoRem(&s.a, power(from-to), &s.r)
		s.a.Set(&s.b)
	}
	return int64(s.b.And(&s.a, allBits).Uint64())
}

// fromText casts a text.
func fromText(s *scratch, to Type) func(in *vec, i int, out *vec) bool {
	switch {
	case to.is(Bytes):
		return func(in *vec, i int, out *vec) bool { out.texts[i] = in.texts[i]; return true }
	case to.is(Boolean):
		return func(in *vec, i int, out *vec) (ok bool) {
			out.bools[i], ok = parseBool(in.texts[i])
			return ok
		}
	case to.is(Decimal):
		return func(in *vec, i int, out *vec) (ok bool) {
			out.decs[i], ok = s.parseDecimal(in.texts[i], to)
			return ok
		}
	case to.fractional():
		bits := 64
		if to.is(Float) {
			bits = 32
		}
		return func(in *vec, i int, out *vec) (ok bool) {
			out.floats[i], ok = parseFloat(in.texts[i], bits)
			return ok
		}
	case to.is(Date):
		return func(in *vec, i int, out *vec) (ok bool) {
			out.ints[i], ok = parseDate(in.texts[i])
			return ok
		}
	case to.is(Timestamp), to.is(TimestampNTZ):
		return func(in *vec, i int, out *vec) (ok bool) {
			// A timestamp without zone passes over the zone of the text.
			out.ints[i], ok = parseClock(in.texts[i], to.is(TimestampNTZ))
			return ok
		}
	}
	low, high := rangeOf(to.Kind)
	return func(in *vec, i int, out *vec) (ok bool) {
		out.ints[i], ok = parseInt(in.texts[i], low, high)
		return ok
	}
}

// parseClock is parseTimestamp; local leaves the zone of the text aside.
func parseClock(text []byte, local bool) (int64, bool) {
	micros, zone, _, ok := parseZoned(text)
	if local {
		micros += zone * 1_000_000
	}
	return micros, ok
}

// appender writes values of a type as texts.
func appender(s *scratch, from Type) func(dst []byte, in *vec, i int) []byte {
	switch {
	case from.is(Boolean):
		return func(dst []byte, in *vec, i int) []byte { return strconv.AppendBool(dst, in.bools[i]) }
	case from.is(Date):
		return func(dst []byte, in *vec, i int) []byte { return appendDate(dst, in.ints[i]) }
	case from.datetime():
		return func(dst []byte, in *vec, i int) []byte { return appendTimestamp(dst, in.ints[i]) }
	case from.integral():
		return func(dst []byte, in *vec, i int) []byte { return strconv.AppendInt(dst, in.ints[i], 10) }
	case from.is(Float):
		return func(dst []byte, in *vec, i int) []byte { return append(dst, column.JavaFloat(in.floats[i], 32)...) }
	case from.is(Double):
		return func(dst []byte, in *vec, i int) []byte { return append(dst, column.JavaFloat(in.floats[i], 64)...) }
	case from.is(Decimal):
		return func(dst []byte, in *vec, i int) []byte { return s.appendDecimal(dst, in.decs[i], from.Scale) }
	}
	return func(dst []byte, in *vec, i int) []byte { return append(dst, in.texts[i]...) }
}
