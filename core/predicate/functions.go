package predicate

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hudiscope/core/column"
)

// function is one that conditions may call. bind casts the arguments, of which there are least to most, and
// returns the type of the result.
type function struct {
	least, most int
	bind        func(b *binder, c *Call) (Type, error)
	compile     func(b *Bound, c *Call) kernel
}

// functions by their names in small letters.
var functions map[string]*function

func functionNames() []string {
	var out []string
	for name := range functions {
		if name != "negative" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func (b *binder) call(c *Call) (Expr, error) {
	f := functions[c.Name]
	if f == nil {
		return nil, &Error{c.At, fmt.Sprintf("The function %s can't be used in a condition here.", c.Name), "Those that can are " + strings.Join(functionNames(), ", ") + "."}
	}
	if n := len(c.Args); n < f.least || n > f.most {
		want := fmt.Sprint(f.least)
		if f.most == many {
			want += " or more"
		} else if f.most > f.least {
			want += " to " + fmt.Sprint(f.most)
		}
		return nil, &Error{c.At, fmt.Sprintf("%s takes %s arguments, and there are %d.", c.Name, want, n), ""}
	}
	t, err := f.bind(b, c)
	if err != nil {
		return nil, err
	}
	return b.typed(c, t), nil
}

const many = 1000

func init() {
	text, whole, date, stamp := Type{Kind: String}, Type{Kind: Int}, Type{Kind: Date}, Type{Kind: Timestamp}
	// args casts the arguments to types.
	args := func(result Type, types ...Type) func(b *binder, c *Call) (Type, error) {
		return func(b *binder, c *Call) (Type, error) {
			for i := range c.Args {
				x, err := b.implied(c.Args[i].Pos(), c.Name, c.Args[i], types[min(i, len(types)-1)])
				if err != nil {
					return result, err
				}
				c.Args[i] = x
			}
			return result, nil
		}
	}
	one := func(kind TypeKind, f func(k *each) func(in *vec, i int, out *vec) bool) func(b *Bound, c *Call) kernel {
		return func(b *Bound, c *Call) kernel {
			k := &each{x: b.compile(c.Args[0]), kind: kind}
			k.f = f(k)
			return k
		}
	}
	change := func(f func(dst, s []byte) []byte) *function {
		return &function{1, 1, args(text, text), one(String, func(k *each) func(in *vec, i int, out *vec) bool {
			return func(in *vec, i int, out *vec) bool {
				start := len(k.arena)
				k.arena = f(k.arena, in.texts[i])
				out.texts[i] = k.arena[start:len(k.arena):len(k.arena)]
				return true
			}
		})}
	}
	ofDate := func(f func(t time.Time) int) *function {
		return &function{1, 1, args(whole, date), one(Int, func(*each) func(in *vec, i int, out *vec) bool {
			return func(in *vec, i int, out *vec) bool {
				out.ints[i] = int64(f(time.Unix(in.ints[i]*86400, 0).UTC()))
				return true
			}
		})}
	}
	ofClock := func(unit, modulus int64) *function {
		return &function{1, 1, args(whole, stamp), one(Int, func(*each) func(in *vec, i int, out *vec) bool {
			return func(in *vec, i int, out *vec) bool {
				x := floorDiv(in.ints[i], unit)
				out.ints[i] = x - floorDiv(x, modulus)*modulus
				return true
			}
		})}
	}
	// a cast written as a function
	cast := func(to Type, more string) *function {
		return &function{1, 2, func(b *binder, c *Call) (Type, error) {
			if len(c.Args) == 2 {
				return to, &Error{c.Args[1].Pos(), c.Name + " takes no format here.", "It reads " + more + "."}
			}
			if from := b.types[c.Args[0]]; !castable(from, to) {
				return to, &Error{c.At, fmt.Sprintf("%s takes a text, a date or a timestamp, and this is of type %s.", c.Name, from), ""}
			}
			c.Args[0] = b.cast(c.Args[0], to)
			return to, nil
		}, func(b *Bound, c *Call) kernel { return b.compile(c.Args[0]) }}
	}
	within := func(f func(s, part []byte) bool) *function {
		return &function{2, 2, args(Type{Kind: Boolean}, text, text), func(b *Bound, c *Call) kernel {
			return &arithmetic{x: b.compile(c.Args[0]), y: b.compile(c.Args[1]), kind: Boolean, f: func(x, y *vec, i int, out *vec) bool {
				out.bools[i] = f(x.texts[i], y.texts[i])
				return true
			}}
		}}
	}
	year := ofDate(func(t time.Time) int { return t.Year() })
	month := ofDate(func(t time.Time) int { return int(t.Month()) })
	day := ofDate(func(t time.Time) int { return t.Day() })
	lower, upper := change(lowerText), change(upperText)
	length := &function{1, 1, func(b *binder, c *Call) (Type, error) {
		if b.types[c.Args[0]].is(Bytes) {
			return whole, nil
		}
		return args(whole, text)(b, c)
	}, func(b *Bound, c *Call) kernel {
		binary := b.types[c.Args[0]].is(Bytes)
		k := &each{x: b.compile(c.Args[0]), kind: Int}
		k.f = func(in *vec, i int, out *vec) bool {
			if out.ints[i] = int64(len(in.texts[i])); !binary {
				out.ints[i] = int64(utf8.RuneCount(in.texts[i]))
			}
			return true
		}
		return k
	}}
	substring := &function{2, 3, args(text, text, whole), func(b *Bound, c *Call) kernel {
		k := &slice{x: b.compile(c.Args[0]), pos: b.compile(c.Args[1])}
		if len(c.Args) == 3 {
			k.count = b.compile(c.Args[2])
		}
		return k
	}}
	sameNumber := func(b *binder, c *Call) (Type, error) {
		t := b.types[c.Args[0]]
		if t.is(String) || t.is(NullType) {
			t = Type{Kind: Double}
			c.Args[0] = b.cast(c.Args[0], t)
		}
		if !t.numeric() {
			return t, &Error{c.At, fmt.Sprintf("%s takes a number, and this is of type %s.", strings.Replace(c.Name, "negative", "-", 1), t), ""}
		}
		return t, nil
	}
	signed := func(change func(negative bool) bool) func(b *Bound, c *Call) kernel {
		return func(b *Bound, c *Call) kernel {
			t := b.types[c]
			var s scratch
			k := &each{x: b.compile(c.Args[0]), kind: t.Kind}
			k.f = func(in *vec, i int, out *vec) bool {
				switch {
				case t.is(Decimal):
					d := in.decs[i]
					if change(d.sign() < 0) {
						d.into(&s.a)
						d, _ = decFrom(s.a.Neg(&s.a))
					}
					out.decs[i] = d
				case t.fractional():
					x := in.floats[i]
					if change(math.Signbit(x)) {
						x = -x
					}
					out.floats[i] = x
				default:
					x := in.ints[i]
					if change(x < 0) {
						x = wrap(-x, t.Kind)
					}
					out.ints[i] = x
				}
				return true
			}
			return k
		}
	}
	first := &function{1, many, func(b *binder, c *Call) (Type, error) {
		t, err := b.commonOf(c.At, c.Args)
		if err != nil {
			return t, err
		}
		for i := range c.Args {
			c.Args[i] = b.cast(c.Args[i], t)
		}
		return t, nil
	}, func(b *Bound, c *Call) kernel {
		k := &coalesce{kind: b.types[c].Kind}
		for _, a := range c.Args {
			k.list = append(k.list, b.compile(a))
		}
		return k
	}}
	functions = map[string]*function{
		"lower": lower, "lcase": lower, "upper": upper, "ucase": upper,
		"trim":   change(func(dst, s []byte) []byte { return append(dst, bytes.Trim(s, " ")...) }),
		"length": length, "char_length": length, "character_length": length,
		"substring": substring, "substr": substring,
		"contains": within(bytes.Contains), "startswith": within(bytes.HasPrefix), "endswith": within(bytes.HasSuffix),
		"year": year, "month": month, "day": day, "dayofmonth": day,
		"hour": ofClock(3600_000_000, 24), "minute": ofClock(60_000_000, 60), "second": ofClock(1_000_000, 60),
		"to_date":      cast(date, "yyyy-MM-dd"),
		"to_timestamp": cast(stamp, "yyyy-MM-dd HH:mm:ss.SSSSSS with a zone behind it or none"),
		"abs":          {1, 1, sameNumber, signed(func(negative bool) bool { return negative })},
		"negative":     {1, 1, sameNumber, signed(func(bool) bool { return true })},
		"coalesce":     first,
		"nvl":          {2, 2, first.bind, first.compile}, "ifnull": {2, 2, first.bind, first.compile},
		"isnan": {1, 1, func(b *binder, c *Call) (Type, error) {
			if !b.types[c.Args[0]].is(Float) {
				return args(Type{Kind: Boolean}, Type{Kind: Double})(b, c)
			}
			return Type{Kind: Boolean}, nil
		}, func(b *Bound, c *Call) kernel {
			// NaN of null is false.
			return &isTrue{x: one(Boolean, func(*each) func(in *vec, i int, out *vec) bool {
				return func(in *vec, i int, out *vec) bool { out.bools[i] = in.floats[i] != in.floats[i]; return true }
			})(b, c)}
		}},
		"date_format": {2, 2, func(b *binder, c *Call) (Type, error) {
			x, err := b.implied(c.Args[0].Pos(), c.Name, c.Args[0], stamp)
			if err != nil {
				return text, err
			}
			c.Args[0] = x
			return text, b.pattern(c.Name, c.Args[1])
		}, func(b *Bound, c *Call) kernel {
			return formatKernel(b.compile(c.Args[0]), patternOf(c.Args[1]), 1)
		}},
		"from_unixtime": {1, 2, func(b *binder, c *Call) (Type, error) {
			x, err := b.implied(c.Args[0].Pos(), c.Name, c.Args[0], Type{Kind: Long})
			if err != nil {
				return text, err
			}
			c.Args[0] = x
			if len(c.Args) == 2 {
				return text, b.pattern(c.Name, c.Args[1])
			}
			return text, nil
		}, func(b *Bound, c *Call) kernel {
			parts, _ := timePattern("yyyy-MM-dd HH:mm:ss")
			if len(c.Args) == 2 {
				parts = patternOf(c.Args[1])
			}
			return formatKernel(b.compile(c.Args[0]), parts, 1_000_000)
		}},
		"unix_timestamp": {1, 1, func(b *binder, c *Call) (Type, error) {
			long := Type{Kind: Long}
			if t := b.types[c.Args[0]]; !t.datetime() {
				return long, &Error{c.At, fmt.Sprintf("unix_timestamp takes a date or a timestamp here, and this is of type %s.", t), "Cast a text: unix_timestamp(CAST(x AS TIMESTAMP))."}
			}
			return args(long, stamp)(b, c)
		}, one(Long, func(*each) func(in *vec, i int, out *vec) bool {
			return func(in *vec, i int, out *vec) bool {
				// Towards zero, unlike CAST(x AS bigint).
				out.ints[i] = in.ints[i] / 1_000_000
				return true
			}
		})},
	}
	maps.Copy(functions, containerFunctions())
	functions["rlike"], functions["regexp_like"] = rlike, rlike
}

// lowerText and upperText change the case as Java does without a locale.
func lowerText(dst, s []byte) []byte {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		switch {
		case r == 0x130:
			dst = append(dst, "i̇"...)
		case r == 'Σ' && casedBefore(s[:i]) && !casedAfter(s[i+n:]):
			dst = append(dst, "ς"...)
		case r == utf8.RuneError && n == 1:
			dst = append(dst, s[i])
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
		i += n
	}
	return dst
}

// casedBefore and casedAfter look for a letter with case next to a sigma, over marks.
func casedBefore(s []byte) bool {
	for len(s) > 0 {
		r, n := utf8.DecodeLastRune(s)
		if !ignorable(r) {
			return cased(r)
		}
		s = s[:len(s)-n]
	}
	return false
}

func casedAfter(s []byte) bool {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		if !ignorable(r) {
			return cased(r)
		}
		s = s[n:]
	}
	return false
}

func cased(r rune) bool { return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) }

func ignorable(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) || strings.ContainsRune("':.·’", r)
}

func upperText(dst, s []byte) []byte {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		if more := longUpper[r]; more != "" {
			dst = append(dst, more...)
		} else if r == utf8.RuneError && n == 1 {
			dst = append(dst, s[i])
		} else {
			dst = utf8.AppendRune(dst, unicode.ToUpper(r))
		}
		i += n
	}
	return dst
}

// longUpper are letters whose capital is more than one (Unicode SpecialCasing, without the Greek ones with iota).
var longUpper = map[rune]string{'ß': "SS", 'ŉ': "ʼN", 'ǰ': "J̌", 'ΐ': "Ϊ́", 'ΰ': "Ϋ́", 'և': "ԵՒ", 'ẖ': "H̱", 'ẗ': "T̈", 'ẘ': "W̊", 'ẙ': "Y̊", 'ẚ': "Aʾ",
	'ﬀ': "FF", 'ﬁ': "FI", 'ﬂ': "FL", 'ﬃ': "FFI", 'ﬄ': "FFL", 'ﬅ': "ST", 'ﬆ': "ST", 'ﬓ': "ՄՆ", 'ﬔ': "ՄԵ", 'ﬕ': "ՄԻ", 'ﬖ': "ՎՆ", 'ﬗ': "ՄԽ"}

// slice is substring.
type slice struct {
	x, pos, count kernel
	out           vec
	own           []bool
}

func (k *slice) run(b *column.Batch, from, n int) *vec {
	x, pos := k.x.run(b, from, n), k.pos.run(b, from, n)
	var count *vec
	if k.count != nil {
		count = k.count.run(b, from, n)
	}
	k.out.texts = room(k.out.texts, n)
	k.own = room(k.own, n)
	k.out.nulls = k.own
	for i := range n {
		k.own[i] = x.nulls != nil && x.nulls[i] || pos.nulls != nil && pos.nulls[i] || count != nil && count.nulls != nil && count.nulls[i]
		if k.own[i] {
			k.out.texts[i] = nil
			continue
		}
		s := x.texts[i]
		start, until := pos.ints[i], int64(math.MaxInt64)
		switch {
		case start > 0:
			start--
		case start < 0:
			start += int64(utf8.RuneCount(s))
		}
		if count != nil {
			until = start + count.ints[i]
		}
		k.out.texts[i] = cut(s, start, until)
	}
	return &k.out
}

// cut returns the characters from start (included) to until (excluded).
func cut(s []byte, start, until int64) []byte {
	low, at := len(s), int64(0)
	for i := 0; i < len(s); at++ {
		if at >= start && low == len(s) {
			low = i
		}
		if at >= until {
			return s[min(low, i):i]
		}
		_, n := utf8.DecodeRune(s[i:])
		i += n
	}
	return s[low:]
}

// coalesce is the first value that is not null.
type coalesce struct {
	list []kernel
	kind TypeKind
	out  vec
	own  []bool
}

func (k *coalesce) run(b *column.Batch, from, n int) *vec {
	k.out.ready(k.kind, n)
	k.own = room(k.own, n)
	k.out.nulls = k.own
	for i := range k.own {
		k.own[i] = true
		k.out.zero(k.kind, i)
	}
	for _, x := range k.list {
		v := x.run(b, from, n)
		for i := range n {
			if k.own[i] && (v.nulls == nil || !v.nulls[i]) {
				k.own[i] = false
				k.out.set(k.kind, i, v, i)
			}
		}
	}
	return &k.out
}

// isTrue takes null for false.
type isTrue struct {
	x   kernel
	out vec
}

func (k *isTrue) run(b *column.Batch, from, n int) *vec {
	x := k.x.run(b, from, n)
	k.out.bools = room(k.out.bools, n)
	for i := range n {
		k.out.bools[i] = x.bools[i] && (x.nulls == nil || !x.nulls[i])
	}
	return &k.out
}

// pattern checks the format of a date.
func (b *binder) pattern(who string, e Expr) error {
	l, ok := e.(*Literal)
	s, isText := "", false
	if ok {
		s, isText = l.Value.(string)
	}
	if !isText || l.Kind != "string" {
		return &Error{e.Pos(), who + " takes a constant text as its format here.", "Write one such as 'yyyy-MM-dd'."}
	}
	if _, why := timePattern(s); why != "" {
		return &Error{e.Pos(), why, "Of Java's letters yyyy, MM, MMM, MMMM, dd, HH, hh, mm, ss, S, a, E and EEEE can be used, and texts in single quotes."}
	}
	return nil
}

func patternOf(e Expr) []timePart {
	parts, _ := timePattern(e.(*Literal).Value.(string))
	return parts
}

// timePart is a letter of a pattern and how often it stands, or with letter 0 a text.
type timePart struct {
	letter byte
	n      int
	text   string
}

// timePattern takes a format of Java's DateTimeFormatter apart; why says what is wrong with it.
func timePattern(s string) (parts []timePart, why string) {
	var out []timePart
	for i := 0; i < len(s); {
		c := s[i]
		j := i
		for j < len(s) && s[j] == c {
			j++
		}
		n := j - i
		switch {
		case c == '\'':
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 {
				return nil, "The format has a quote that does not end."
			}
			if end == 0 {
				out = append(out, timePart{text: "'"})
			} else {
				out = append(out, timePart{text: s[i+1 : i+1+end]})
			}
			i += end + 2
			continue
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			most := map[byte]int{'y': 6, 'M': 4, 'd': 2, 'H': 2, 'h': 2, 'm': 2, 's': 2, 'S': 9, 'a': 1, 'E': 4}[c]
			if n > most {
				return nil, fmt.Sprintf("The format has %s, which is not known here.", s[i:j])
			}
			out = append(out, timePart{letter: c, n: n})
		case strings.IndexByte("[]{}#", c) >= 0:
			return nil, fmt.Sprintf("The format has %c, which is not known here.", c)
		default:
			out = append(out, timePart{text: s[i:j]})
		}
		i = j
	}
	return out, ""
}

// formatKernel writes times by a pattern; unit is that of the value in microseconds. Times beyond the range wrap
// around, as in Spark.
func formatKernel(x kernel, parts []timePart, unit int64) kernel {
	k := &each{x: x, kind: String}
	k.f = func(in *vec, i int, out *vec) bool {
		start := len(k.arena)
		k.arena = appendFormat(k.arena, parts, in.ints[i]*unit)
		out.texts[i] = k.arena[start:len(k.arena):len(k.arena)]
		return true
	}
	return k
}

func appendFormat(dst []byte, parts []timePart, micros int64) []byte {
	seconds := floorDiv(micros, 1_000_000)
	t := time.Unix(seconds, 0).UTC()
	fraction := micros - seconds*1_000_000
	year := t.Year()
	if year <= 0 {
		year = 1 - year // the year of its era
	}
	for _, p := range parts {
		switch p.letter {
		case 0:
			dst = append(dst, p.text...)
		case 'y':
			if p.n == 2 {
				dst = appendNumber(dst, int64(year%100), 2)
				break
			}
			if p.n >= 4 && year >= int(smallPowers[p.n]) {
				dst = append(dst, '+')
			}
			dst = appendNumber(dst, int64(year), p.n)
		case 'M':
			switch p.n {
			case 3:
				dst = append(dst, t.Month().String()[:3]...)
			case 4:
				dst = append(dst, t.Month().String()...)
			default:
				dst = appendNumber(dst, int64(t.Month()), p.n)
			}
		case 'd':
			dst = appendNumber(dst, int64(t.Day()), p.n)
		case 'H':
			dst = appendNumber(dst, int64(t.Hour()), p.n)
		case 'h':
			dst = appendNumber(dst, int64((t.Hour()+11)%12+1), p.n)
		case 'm':
			dst = appendNumber(dst, int64(t.Minute()), p.n)
		case 's':
			dst = appendNumber(dst, int64(t.Second()), p.n)
		case 'S':
			var buf [12]byte
			digits := append(appendNumber(buf[:0], fraction, 6), "000"...)
			dst = append(dst, digits[:p.n]...)
		case 'a':
			if t.Hour() < 12 {
				dst = append(dst, "AM"...)
			} else {
				dst = append(dst, "PM"...)
			}
		case 'E':
			if p.n == 4 {
				dst = append(dst, t.Weekday().String()...)
			} else {
				dst = append(dst, t.Weekday().String()[:3]...)
			}
		}
	}
	return dst
}
