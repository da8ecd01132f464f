package predicate

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Java's line terminators, and its $: the end of the text or what stands before its last line terminator.
const (
	notTerminator = `[^\n\r\x{85}\x{2028}\x{2029}]`
	javaEnd       = `(?:(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z)`
)

// javaRegexp compiles a regular expression of Java's for asking whether it is found in a text. What Go's means
// otherwise is written another way or refused; why says then what.
func javaRegexp(s string) (r *regexp.Regexp, why string) {
	var w strings.Builder
	depth, carriage, dollar := 0, false, false
	// quantified is set where a quantifier may follow.
	quantified := false
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRuneInString(s[i:])
		if c == utf8.RuneError && n <= 1 {
			return nil, "The regular expression is no UTF-8."
		}
		i += n
		follows := true
		switch c {
		case '\\':
			if i == len(s) {
				return nil, "The regular expression ends with a backslash."
			}
			e, n := utf8.DecodeRuneInString(s[i:])
			i += n
			switch text, ok := javaEscape(e, false); {
			case ok:
				w.WriteString(text)
				carriage = carriage || e == 'r'
			case e == 'A' || e == 'z':
				w.WriteString(`\` + string(e))
				follows = false
			default:
				return nil, fmt.Sprintf(`\%c of a regular expression can't be used here.`, e)
			}
		case '[':
			class, end, why := javaClass(s, i)
			if why != "" {
				return nil, why
			}
			w.WriteString(class)
			carriage = carriage || strings.Contains(class, `\x{d}`)
			i = end
		case '(':
			if strings.HasPrefix(s[i:], "?") {
				if !strings.HasPrefix(s[i:], "?:") {
					return nil, "(? of a regular expression can only be (?: here."
				}
				i += 2
			}
			w.WriteString("(?:")
			depth++
			follows = false
		case ')':
			if depth--; depth < 0 {
				return nil, "A ) of the regular expression closes nothing."
			}
			w.WriteByte(')')
		case '|':
			w.WriteByte('|')
			follows = false
		case '.':
			w.WriteString(notTerminator)
		case '^':
			w.WriteString(`\A`)
			follows = false
		case '$':
			if strings.Trim(s[i:], ")") != "" && (depth > 0 || s[i] != '|') {
				return nil, "$ of a regular expression can only stand at its end here."
			}
			w.WriteString(javaEnd)
			follows, dollar = false, true
		case '*', '+', '?', '{':
			if !quantified {
				return nil, fmt.Sprintf("%c of the regular expression repeats nothing that can be repeated here.", c)
			}
			follows = false
			w.WriteRune(c)
			if c == '{' {
				count, rest, ok := strings.Cut(s[i:], "}")
				low, high, two := strings.Cut(count, ",")
				a, err := strconv.Atoi(low)
				b := a
				if two && high != "" && err == nil {
					b, err = strconv.Atoi(high)
				}
				if !ok || err != nil || strings.Trim(low+high, "0123456789") != "" || a > b || b > 1000 {
					return nil, "{ of a regular expression is followed by one or two numbers up to 1000 and } here."
				}
				w.WriteString(count + "}")
				i = len(s) - len(rest)
			}
			if strings.HasPrefix(s[i:], "+") {
				return nil, "The + behind another quantifier of a regular expression can't be used here."
			}
			if strings.HasPrefix(s[i:], "?") {
				w.WriteByte('?')
				i++
			}
		default:
			w.WriteString(regexp.QuoteMeta(string(c)))
			carriage = carriage || c == '\r'
		}
		quantified = follows
	}
	if carriage && dollar {
		return nil, `\r and $ in one regular expression can't be used here.`
	}
	text := "(?s)" + w.String()
	tree, err := syntax.Parse(text, syntax.Perl)
	if err == nil && steps(tree) > maxProgram {
		return nil, fmt.Sprintf("The regular expression unfolds to more than %d steps, each of which may be tried at every character.", maxProgram)
	}
	if err == nil {
		r, err = regexp.Compile(text)
	}
	if err != nil {
		return nil, "The regular expression can't be read: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ") + "."
	}
	return r, ""
}

// maxProgram bounds the steps of a regular expression. Matching is linear in the text, and this is by how much.
const maxProgram = 5000

// steps is about how many steps an expression is compiled to: what is repeated is there that many times.
func steps(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		if n += steps(sub); n > maxProgram {
			return n
		}
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

// javaEscape is what stands behind a backslash, in the form of Go; in a class without brackets of its own.
func javaEscape(e rune, class bool) (string, bool) {
	switch e {
	case 'd', 'w', 't', 'n', 'r', 'f':
		if e == 'r' && class {
			return `\x{d}`, true
		}
		return `\` + string(e), true
	case 's':
		if class {
			return `\t-\r `, true
		}
		return `[\t-\r ]`, true
	case 'D', 'W':
		return `\` + string(e), !class
	case 'S':
		return `[^\t-\r ]`, !class
	}
	if e < utf8.RuneSelf && (letter(byte(e)) || digit(byte(e))) {
		return "", false
	}
	return fmt.Sprintf(`\x{%x}`, e), true
}

// javaClass reads a class of characters; s[i] is behind its bracket.
func javaClass(s string, i int) (text string, end int, why string) {
	var w strings.Builder
	w.WriteByte('[')
	if strings.HasPrefix(s[i:], "^") {
		w.WriteByte('^')
		i++
	}
	const simple = "A class of a regular expression is made of characters and ranges here."
	for first := true; ; first = false {
		if i >= len(s) {
			return "", 0, "A [ of the regular expression is not closed."
		}
		if s[i] == ']' {
			if first {
				return "", 0, simple
			}
			return w.String() + "]", i + 1, ""
		}
		item, single, next := classItem(s, i)
		if next == 0 {
			return "", 0, simple
		}
		i = next
		w.WriteString(item)
		if !strings.HasPrefix(s[i:], "-") {
			continue
		}
		if strings.HasPrefix(s[i:], "-]") {
			w.WriteString(`\x{2d}`)
			i++
			continue
		}
		high, alone, next := classItem(s, i+1)
		if !single || !alone || next == 0 || s[i+1] == '-' {
			return "", 0, simple
		}
		w.WriteString("-" + high)
		i = next
	}
}

// classItem reads one character of a class or an escape; single tells that it is one character.
func classItem(s string, i int) (text string, single bool, next int) {
	if i >= len(s) {
		return "", false, 0
	}
	c, n := utf8.DecodeRuneInString(s[i:])
	switch {
	case c == utf8.RuneError && n <= 1, c == '[', c == ']', c == '&' && strings.HasPrefix(s[i:], "&&"):
		return "", false, 0
	case c == '\\':
		if i+1 >= len(s) {
			return "", false, 0
		}
		e, n := utf8.DecodeRuneInString(s[i+1:])
		text, ok := javaEscape(e, true)
		if !ok {
			return "", false, 0
		}
		return text, !strings.ContainsRune("dws", e), i + 1 + n
	}
	return fmt.Sprintf(`\x{%x}`, c), true, i + n
}

// rlike is RLIKE, also as a function: whether a regular expression is found in a text.
var rlike = &function{2, 2, func(b *binder, c *Call) (Type, error) {
	truth, text := Type{Kind: Boolean}, Type{Kind: String}
	x, err := b.implied(c.Args[0].Pos(), "RLIKE", c.Args[0], text)
	if err != nil {
		return truth, err
	}
	l, ok := c.Args[1].(*Literal)
	if !ok || l.Kind != "string" && l.Kind != "null" {
		return truth, &Error{c.Args[1].Pos(), "The regular expression of RLIKE is a constant text here.", "Write it in quotes."}
	}
	if s, ok := l.Value.(string); ok {
		if _, why := javaRegexp(s); why != "" {
			return truth, &Error{l.At, why, `Of Java's regular expressions these can be used: characters, . ^ $ | ( ) (?: ) [ ] * + ? { } and their lazy forms, and \\d \\D \\w \\W \\s \\S \\t \\n \\r \\f \\A \\z; in quotes a backslash is written twice.`}
		}
	}
	c.Args[0], c.Args[1] = x, b.cast(c.Args[1], text)
	return truth, nil
}, func(b *Bound, c *Call) kernel {
	k := &each{x: b.compile(c.Args[0]), kind: Boolean}
	s, ok := c.Args[1].(*Literal).Value.(string)
	if !ok {
		k.f = func(*vec, int, *vec) bool { return false }
		return k
	}
	r, _ := javaRegexp(s)
	k.f = func(in *vec, i int, out *vec) bool {
		out.bools[i] = r.Match(in.texts[i])
		return true
	}
	return k
}}
