package predicate

import (
	"math/big"
	"math/bits"
	"strings"
)

// dec is the unscaled value of a decimal: a signed number of 128 bits, which holds 38 digits.
type dec struct {
	hi int64
	lo uint64
}

func decOf(x int64) dec { return dec{x >> 63, uint64(x)} }

// small reports whether a value is one of 64 bits.
func (d dec) small() (int64, bool) {
	x := int64(d.lo)
	return x, d.hi == x>>63
}

func (d dec) cmp(e dec) int {
	switch {
	case d.hi < e.hi || d.hi == e.hi && d.lo < e.lo:
		return -1
	case d == e:
		return 0
	}
	return 1
}

func (d dec) sign() int {
	switch {
	case d.hi < 0:
		return -1
	case d == dec{}:
		return 0
	}
	return 1
}

// into sets x to the value.
func (d dec) into(x *big.Int) *big.Int {
	if v, ok := d.small(); ok {
		return x.SetInt64(v)
	}
	negative := d.hi < 0
	hi, lo := uint64(d.hi), d.lo
	if negative {
		var carry uint64
		lo, carry = bits.Add64(^lo, 1, 0)
		hi = ^hi + carry
	}
	x.SetUint64(hi)
	x.Lsh(x, 64)
	var y big.Int
	x.Add(x, y.SetUint64(lo))
	if negative {
		x.Neg(x)
	}
	return x
}

// decFrom returns a number as a decimal of 38 digits; ok is false if it has more.
func decFrom(x *big.Int) (d dec, ok bool) {
	if x.IsInt64() {
		return decOf(x.Int64()), true
	}
	if x.CmpAbs(power(maxDecimal)) >= 0 {
		return dec{}, false
	}
	var hi, lo uint64
	var y big.Int
	y.Abs(x)
	lo = y.Uint64() // the low 64 bits
	hi = y.Rsh(&y, 64).Uint64()
	if x.Sign() < 0 {
		var carry uint64
		lo, carry = bits.Add64(^lo, 1, 0)
		hi = ^hi + carry
	}
	return dec{int64(hi), lo}, true
}

// decBytes reads a two's complement big-endian number.
func decBytes(b []byte) (dec, bool) {
	sign := byte(0)
	if len(b) > 0 && b[0] >= 0x80 {
		sign = 0xFF
	}
	for len(b) > 16 && b[0] == sign {
		b = b[1:]
	}
	if len(b) > 16 {
		return dec{}, false
	}
	d := decOf(int64(int8(sign)))
	for _, c := range b {
		d.hi = d.hi<<8 | int64(d.lo>>56)
		d.lo = d.lo<<8 | uint64(c)
	}
	return d, true
}

var powers = func() (out [80]*big.Int) {
	out[0] = big.NewInt(1)
	for i := 1; i < len(out); i++ {
		out[i] = new(big.Int).Mul(out[i-1], big.NewInt(10))
	}
	return out
}()

// power is ten to the n, which is 0 to 79.
func power(n int) *big.Int { return powers[n] }

var smallPowers = func() (out [19]int64) {
	out[0] = 1
	for i := 1; i < len(out); i++ {
		out[i] = out[i-1] * 10
	}
	return out
}()

// scratch are numbers for slow paths, kept so that rows allocate nothing.
type scratch struct{ a, b, c, r big.Int }

// rescale gives a value another scale, rounding halves away from zero; ok is false where the result has
// more digits than the type.
func (s *scratch) rescale(d dec, from int, to Type) (dec, bool) {
	up := to.Scale - from
	if v, ok := d.small(); ok {
		switch {
		case up == 0 && fits(v, to.Precision):
			return d, true
		case up > 0 && up < len(smallPowers):
			if hi, lo := bits.Mul64(magnitude(v), uint64(smallPowers[up])); hi == 0 && lo < 1<<63 {
				x := v * smallPowers[up]
				return decOf(x), fits(x, to.Precision)
			}
		case up < 0 && -up < len(smallPowers):
			p := smallPowers[-up]
			x := v / p
			if rest := magnitude(v % p); rest >= uint64(p)-rest {
				if v < 0 {
					x--
				} else {
					x++
				}
			}
			return decOf(x), fits(x, to.Precision)
		}
	}
	d.into(&s.a)
	return s.round(&s.a, from, to)
}

// round brings x, of a scale, to a decimal type. It may use a, b and r.
func (s *scratch) round(x *big.Int, from int, to Type) (dec, bool) {
	if up := to.Scale - from; up >= 0 {
		if x.Sign() == 0 {
			return dec{}, true
		}
		if up >= len(powers) {
			return dec{}, false
		}
		s.a.Mul(x, power(up))
	} else if -up >= len(powers) {
		return dec{}, x.BitLen() < 250 // too small for any digit; longer numbers do not come here
	} else {
		s.divide(x, power(-up))
	}
	if s.a.CmpAbs(power(to.Precision)) >= 0 {
		return dec{}, false
	}
	return decFrom(&s.a)
}

// divide sets a to x / y, rounded half away from zero.
func (s *scratch) divide(x, y *big.Int) {
	negative := x.Sign()*y.Sign() < 0
	s.a.QuoRem(x, y, &s.r)
	s.r.Abs(&s.r)
	s.r.Lsh(&s.r, 1)
	if s.r.CmpAbs(y) >= 0 {
		if negative {
			s.a.Sub(&s.a, one)
		} else {
			s.a.Add(&s.a, one)
		}
	}
}

var one = big.NewInt(1)

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// fits reports whether a value has at most so many digits.
func fits(x int64, digits int) bool {
	return digits >= len(smallPowers) || magnitude(x) < uint64(smallPowers[digits])
}

// digitsOf counts the digits of a number, at least 1.
func digitsOf(x *big.Int) int {
	return max(1, len(strings.TrimPrefix(x.String(), "-")))
}

// appendDecimal writes a decimal as Java's BigDecimal.toString does: with an exponent where the value is
// very small.
func (s *scratch) appendDecimal(dst []byte, d dec, scale int) []byte {
	if d.sign() < 0 {
		dst = append(dst, '-')
	}
	d.into(&s.a)
	s.a.Abs(&s.a)
	var buf [48]byte
	digits := s.a.Append(buf[:0], 10)
	if scale == 0 {
		return append(dst, digits...)
	}
	exponent := -scale + len(digits) - 1
	if exponent < -6 {
		dst = append(dst, digits[0])
		if len(digits) > 1 {
			dst = append(append(dst, '.'), digits[1:]...)
		}
		dst = append(dst, 'E', '-')
		return appendNumber(dst, int64(-exponent), 1)
	}
	if whole := len(digits) - scale; whole > 0 {
		dst = append(append(dst, digits[:whole]...), '.')
		return append(dst, digits[whole:]...)
	}
	dst = append(dst, '0', '.')
	for range scale - len(digits) {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}
