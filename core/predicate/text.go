package predicate

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// Texts as Spark casts them to other types, with ANSI mode off: what can't be cast is null.

// blank reports whether a character is trimmed: white space or a control character.
func blank(c byte) bool { return c <= ' ' || c == 0x7F }

func trimmed(s []byte) []byte {
	for len(s) > 0 && blank(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && blank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// parseInt reads a whole number from low to high; a fraction is cut off.
func parseInt(s []byte, low, high int64) (int64, bool) {
	s = trimmed(s)
	if len(s) == 0 {
		return 0, false
	}
	negative := s[0] == '-'
	if negative || s[0] == '+' {
		if s = s[1:]; len(s) == 0 {
			return 0, false
		}
	}
	x, i := uint64(0), 0
	for ; i < len(s) && s[i] != '.'; i++ {
		if !digit(s[i]) || x > math.MaxUint64/10-1 {
			return 0, false
		}
		x = x*10 + uint64(s[i]-'0')
	}
	if i < len(s) {
		for _, c := range s[i+1:] {
			if !digit(c) {
				return 0, false
			}
		}
	}
	switch {
	case negative && x <= magnitude(low):
		return -int64(x), true
	case !negative && x <= uint64(high):
		return int64(x), true
	}
	return 0, false
}

// parseFloat reads a number as Java's Double.parseDouble and Spark's names of special values.
func parseFloat(s []byte, size int) (float64, bool) {
	s = bytes.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	if len(s) == 0 {
		return 0, false
	}
	body := s
	if body[0] == '-' || body[0] == '+' {
		body = body[1:]
	}
	if len(body) == 0 {
		return 0, false
	}
	if !digit(body[0]) && body[0] != '.' {
		for _, name := range []string{"inf", "infinity"} {
			if asciiFold(body, name) {
				if s[0] == '-' {
					return math.Inf(-1), true
				}
				return math.Inf(1), true
			}
		}
		// Java knows NaN with a sign, Spark any spelling without.
		if string(body) == "NaN" || asciiFold(s, "nan") {
			return math.NaN(), true
		}
		return 0, false
	}
	switch s[len(s)-1] {
	case 'd', 'D', 'f', 'F':
		if len(body) < 2 || body[1]|0x20 != 'x' || bytes.IndexByte(body, 'p') >= 0 || bytes.IndexByte(body, 'P') >= 0 {
			s = s[:len(s)-1]
		}
	}
	for _, c := range s {
		if c == '_' {
			return 0, false
		}
	}
	// A text this long costs an allocation; columns of numbers as texts are short.
	f, err := strconv.ParseFloat(string(s), size)
	if err != nil && !strings.Contains(err.Error(), "range") {
		return 0, false
	}
	return f, true
}

func asciiFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i := range b {
		c := b[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// parseDecimal reads a number into a decimal type, rounding halves away from zero.
func (s *scratch) parseDecimal(text []byte, to Type) (dec, bool) {
	text = bytes.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	if len(text) == 0 || len(text) > 400 {
		return dec{}, false
	}
	i, scale, seen := 0, 0, false
	negative := text[0] == '-'
	if negative || text[0] == '+' {
		i = 1
	}
	point := false
	s.c.SetInt64(0)
	var small int64
	n := 0
	flush := func() {
		if n > 0 {
			s.c.Mul(&s.c, s.b.SetInt64(smallPowers[n]))
			s.c.Add(&s.c, s.b.SetInt64(small))
			small, n = 0, 0
		}
	}
	for ; i < len(text); i++ {
		c := text[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if !digit(c) {
			break
		}
		seen = true
		if point {
			scale++
		}
		small = small*10 + int64(c-'0')
		if n++; n == 18 {
			flush()
		}
	}
	flush()
	if !seen {
		return dec{}, false
	}
	if i < len(text) {
		if text[i]|0x20 != 'e' {
			return dec{}, false
		}
		i++
		minus := i < len(text) && text[i] == '-'
		if minus || i < len(text) && text[i] == '+' {
			i++
		}
		if i == len(text) {
			return dec{}, false
		}
		exp := 0
		for ; i < len(text); i++ {
			if !digit(text[i]) || exp > 10000 {
				return dec{}, false
			}
			exp = exp*10 + int(text[i]-'0')
		}
		if minus {
			exp = -exp
		}
		scale -= exp
	}
	if s.c.Sign() == 0 {
		return dec{}, true
	}
	if negative {
		s.c.Neg(&s.c)
	}
	return s.fit(&s.c, scale, to)
}

// fit is round for numbers of any length and scale.
func (s *scratch) fit(x *big.Int, scale int, to Type) (dec, bool) {
	drop := scale - to.Scale
	if drop <= 0 && -drop < len(powers) || drop > 0 && drop < len(powers) {
		return s.round(x, scale, to)
	}
	if drop < 0 {
		return dec{}, x.Sign() == 0
	}
	s.b.Exp(big.NewInt(10), s.b.SetInt64(int64(drop)), nil)
	s.divide(x, &s.b)
	if s.a.CmpAbs(power(to.Precision)) >= 0 {
		return dec{}, false
	}
	return decFrom(&s.a)
}

func parseBool(s []byte) (value, ok bool) {
	s = trimmed(s)
	for _, t := range []string{"t", "true", "y", "yes", "1"} {
		if asciiFold(s, t) {
			return true, true
		}
	}
	for _, t := range []string{"f", "false", "n", "no", "0"} {
		if asciiFold(s, t) {
			return false, true
		}
	}
	return false, false
}

const (
	microsDay  = 86400_000_000
	maxDays    = math.MaxInt32
	minDays    = math.MinInt32
	maxSeconds = math.MaxInt64 / 1_000_000
)

// civilDay returns the day number of a date; ok is false when there is no such date.
func civilDay(y, m, d int) (int64, bool) {
	if m < 1 || m > 12 || d < 1 || d > 31 {
		return 0, false
	}
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	if t.Day() != d {
		return 0, false
	}
	days := floorDiv(t.Unix(), 86400)
	return days, days >= minDays && days <= maxDays
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// dateParts reads [+-]y…y[-[m]m[-[d]d]] and returns what follows.
func dateParts(s []byte) (days int64, parts int, rest []byte, ok bool) {
	sign := 1
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	var v [3]int
	v[1], v[2] = 1, 1
	for parts < 3 {
		n := 0
		x := 0
		for n < len(s) && digit(s[n]) {
			if n >= 7 {
				return 0, 0, nil, false
			}
			x = x*10 + int(s[n]-'0')
			n++
		}
		if parts == 0 && (n < 4 || n > 7) || parts > 0 && (n < 1 || n > 2) {
			return 0, 0, nil, false
		}
		v[parts] = x
		parts++
		if s = s[n:]; parts == 3 || len(s) == 0 || s[0] != '-' {
			break
		}
		s = s[1:]
	}
	days, ok = civilDay(sign*v[0], v[1], v[2])
	return days, parts, s, ok
}

// parseDate reads a date; after a whole one a blank or T may stand, and anything behind it.
func parseDate(s []byte) (int64, bool) {
	days, parts, rest, ok := dateParts(trimmed(s))
	if !ok || len(rest) > 0 && (parts < 3 || rest[0] != ' ' && rest[0] != 'T') {
		return 0, false
	}
	return days, true
}

// parseTimestamp reads a timestamp in microseconds; without a zone it is in UTC, the session's zone here.
// zoned tells that the text has a zone.
func parseTimestamp(s []byte) (micros int64, zoned, ok bool) {
	micros, _, zoned, ok = parseZoned(s)
	return micros, zoned, ok
}

// parseZoned is parseTimestamp; zone is that of the text, in seconds.
func parseZoned(s []byte) (micros, zone int64, zoned, ok bool) {
	s = trimmed(s)
	days, parts, rest, ok := dateParts(s)
	if !ok {
		return 0, 0, false, false
	}
	if len(rest) == 0 {
		micros, ok = scaleUp(days, 0)
		return micros, 0, false, ok
	}
	if parts < 3 || rest[0] != ' ' && rest[0] != 'T' {
		return 0, 0, false, false
	}
	s = rest[1:]
	var v [3]int64
	for i := range v {
		n := 0
		for n < len(s) && digit(s[n]) && n < 3 {
			v[i] = v[i]*10 + int64(s[n]-'0')
			n++
		}
		if n < 1 || n > 2 {
			return 0, 0, false, false
		}
		s = s[n:]
		if i < 2 {
			if len(s) == 0 || s[0] != ':' {
				return 0, 0, false, false
			}
			s = s[1:]
		}
	}
	if v[0] > 23 || v[1] > 59 || v[2] > 59 {
		return 0, 0, false, false
	}
	clock := (v[0]*3600 + v[1]*60 + v[2]) * 1_000_000
	if len(s) > 0 && s[0] == '.' {
		s = s[1:]
		n := 0
		unit := int64(100_000)
		for n < len(s) && digit(s[n]) {
			// What is below a microsecond is cut off.
			clock += int64(s[n]-'0') * unit
			unit /= 10
			n++
		}
		s = s[n:]
	}
	if len(s) > 0 {
		if zone, ok = parseZone(s); !ok {
			return 0, 0, false, false
		}
		clock -= zone * 1_000_000
		zoned = true
	}
	micros, ok = scaleUp(days, clock)
	return micros, zone, zoned, ok
}

func scaleUp(days, clock int64) (int64, bool) {
	if days > math.MaxInt64/microsDay-1 || days < math.MinInt64/microsDay+1 {
		return 0, false
	}
	return days*microsDay + clock, true
}

// parseZone reads a zone as an offset in seconds: Z, UTC, GMT, UT, [UTC]±h[h][:mm[:ss]]. Names of regions
// are not known.
func parseZone(s []byte) (int64, bool) {
	s = trimmed(s)
	if string(s) == "Z" {
		return 0, true
	}
	for _, p := range []string{"UTC", "GMT", "UT"} {
		if rest, ok := bytes.CutPrefix(s, []byte(p)); ok {
			if len(rest) == 0 {
				return 0, true
			}
			s = rest
			break
		}
	}
	if len(s) < 2 || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	sign := int64(1)
	if s[0] == '-' {
		sign = -1
	}
	s = s[1:]
	var v [3]int64
	i := 0
	if bytes.IndexByte(s, ':') < 0 && len(s) > 2 {
		// ±hhmm[ss]
		if len(s) != 4 && len(s) != 6 {
			return 0, false
		}
		for ; len(s) > 0; s = s[2:] {
			if !digit(s[0]) || !digit(s[1]) {
				return 0, false
			}
			v[i] = int64(s[0]-'0')*10 + int64(s[1]-'0')
			i++
		}
	} else {
		for ; i < 3 && len(s) > 0; i++ {
			n := 0
			for n < len(s) && digit(s[n]) && n < 3 {
				v[i] = v[i]*10 + int64(s[n]-'0')
				n++
			}
			if n < 1 || n > 2 {
				return 0, false
			}
			if s = s[n:]; len(s) > 0 {
				if s[0] != ':' || len(s) == 1 {
					return 0, false
				}
				s = s[1:]
			}
		}
	}
	if len(s) > 0 || v[0] > 18 || v[1] > 59 || v[2] > 59 || v[0] == 18 && v[1]+v[2] > 0 {
		return 0, false
	}
	return sign * (v[0]*3600 + v[1]*60 + v[2]), true
}

// appendNumber writes a number of at least width digits.
func appendNumber(dst []byte, x int64, width int) []byte {
	if x < 0 {
		dst = append(dst, '-')
		x = -x
	}
	var buf [20]byte
	digits := strconv.AppendInt(buf[:0], x, 10)
	for n := len(digits); n < width; n++ {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// appendTimestamp writes yyyy-MM-dd HH:mm:ss[.ffffff] without trailing zeros.
func appendTimestamp(dst []byte, micros int64) []byte {
	days := floorDiv(micros, microsDay)
	dst = appendDate(dst, days)
	clock := micros - days*microsDay
	s := clock / 1_000_000
	dst = append(appendNumber(append(dst, ' '), s/3600, 2), ':')
	dst = append(appendNumber(dst, s/60%60, 2), ':')
	dst = appendNumber(dst, s%60, 2)
	if f := clock % 1_000_000; f > 0 {
		dst = appendNumber(append(dst, '.'), f, 6)
		for dst[len(dst)-1] == '0' {
			dst = dst[:len(dst)-1]
		}
	}
	return dst
}

// appendDate writes yyyy-MM-dd.
func appendDate(dst []byte, days int64) []byte {
	y, m, d := time.Unix(days*86400, 0).UTC().Date()
	if y > 9999 {
		dst = append(dst, '+')
	}
	dst = appendNumber(dst, int64(y), 4)
	dst = appendNumber(append(dst, '-'), int64(m), 2)
	return appendNumber(append(dst, '-'), int64(d), 2)
}
