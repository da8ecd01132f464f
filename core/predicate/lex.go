package predicate

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// kindOf is what a token is.
type kindOf uint8

const (
	end kindOf = iota
	word
	quoted // a name in backquotes
	text   // a string literal
	number
	bytesOf // X'…'
	symbol
)

// token is a piece of the text. text of words is as written; that of names and literals is unescaped.
type token struct {
	kind kindOf
	at   int
	end  int
	text string
}

// is reports whether a token is a key word or a symbol.
func (t token) is(s string) bool {
	return t.kind == symbol && t.text == s || t.kind == word && strings.EqualFold(t.text, s)
}

// maxText bounds a condition, in bytes.
const maxText = 1 << 16

// lex cuts a text into tokens; the last one is end.
func lex(s string) ([]token, error) {
	if len(s) > maxText {
		return nil, &Error{maxText, fmt.Sprintf("The condition is longer than %d bytes.", maxText), "Write a shorter one."}
	}
	var out []token
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case strings.HasPrefix(s[i:], "--"):
			for i < len(s) && s[i] != '\n' {
				i++
			}
		case strings.HasPrefix(s[i:], "/*"):
			n := strings.Index(s[i:], "*/")
			if n < 0 {
				return nil, &Error{i, "A comment that begins here does not end.", "Close it with */."}
			}
			i += n + 2
		case c == '\'' || c == '"':
			t, err := lexString(s, i, false)
			if err != nil {
				return nil, err
			}
			if n := len(out); n > 0 && out[n-1].kind == text && out[n-1].end == i && s[i] == s[i-1] {
				return nil, &Error{i - 1, "A doubled quote is read as two joined texts by Spark 3 and as one quote by Spark 4.", `Write \` + string(c) + ` for a quote inside of a text.`}
			}
			out, i = append(out, t), t.end
		case c == '`':
			t, err := lexName(s, i)
			if err != nil {
				return nil, err
			}
			out, i = append(out, t), t.end
		case (c == 'x' || c == 'X' || c == 'r' || c == 'R') && i+1 < len(s) && (s[i+1] == '\'' || s[i+1] == '"'):
			t, err := lexString(s, i+1, c|0x20 == 'r' || c|0x20 == 'x')
			if err != nil {
				return nil, err
			}
			t.at = i
			if c|0x20 == 'x' {
				t.kind = bytesOf
				digits := t.text
				if len(digits)%2 == 1 {
					digits = "0" + digits
				}
				b, err := hex.DecodeString(digits)
				if err != nil {
					return nil, &Error{i, fmt.Sprintf("%s is no binary constant.", s[i:t.end]), "Write hexadecimal digits: X'1F'."}
				}
				t.text = string(b)
			}
			out, i = append(out, t), t.end
		case digit(c) || c == '.' && i+1 < len(s) && digit(s[i+1]) && !afterName(out, i):
			j := numberEnd(s, i)
			if j < len(s) && letter(s[j]) {
				// Names may begin with digits.
				for j < len(s) && (letter(s[j]) || digit(s[j])) {
					j++
				}
				if strings.IndexByte(s[i:j], '.') >= 0 {
					return nil, &Error{i, fmt.Sprintf("%s is no number.", s[i:j]), "Put names that begin with a digit into backquotes."}
				}
				out = append(out, token{word, i, j, s[i:j]})
			} else {
				out = append(out, token{number, i, j, s[i:j]})
			}
			i = j
		case letter(c):
			j := i
			for j < len(s) && (letter(s[j]) || digit(s[j])) {
				j++
			}
			out, i = append(out, token{word, i, j, s[i:j]}), j
		default:
			n := 1
			for _, op := range []string{"<=>", "<=", ">=", "<>", "!=", "==", "||"} {
				if strings.HasPrefix(s[i:], op) {
					n = len(op)
					break
				}
			}
			if n == 1 && strings.IndexByte("=<>!()+-*/%,.~&|^[];:@?", c) < 0 {
				r, size := utf8.DecodeRuneInString(s[i:])
				what := fmt.Sprintf("%q means nothing here.", r)
				if r == utf8.RuneError && size <= 1 {
					what = fmt.Sprintf("The byte %#02x means nothing here.", c)
				}
				return nil, &Error{i, what, "Put names with such characters into backquotes, texts into quotes."}
			}
			out, i = append(out, token{symbol, i, i + n, s[i : i+n]}), i+n
		}
	}
	return append(out, token{kind: end, at: len(s), end: len(s)}), nil
}

// afterName reports whether a dot at i belongs to the name before it (a.1b).
func afterName(out []token, i int) bool {
	if len(out) == 0 {
		return false
	}
	last := out[len(out)-1]
	return last.end == i && (last.kind == word || last.kind == quoted)
}

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

// numberEnd returns the end of a number with its exponent and suffix.
func numberEnd(s string, i int) int {
	for i < len(s) && digit(s[i]) {
		i++
	}
	if i < len(s) && s[i] == '.' {
		for i++; i < len(s) && digit(s[i]); {
			i++
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if j < len(s) && digit(s[j]) {
			for j < len(s) && digit(s[j]) {
				j++
			}
			i = j
		}
	}
	rest := strings.ToUpper(s[i:min(i+3, len(s))])
	for _, suffix := range []string{"BD", "L", "S", "Y", "D", "F"} {
		if strings.HasPrefix(rest, suffix) && (len(rest) == len(suffix) || !letter(rest[len(suffix)]) && !digit(rest[len(suffix)])) {
			return i + len(suffix)
		}
	}
	return i
}

func lexName(s string, i int) (token, error) {
	var b strings.Builder
	for j := i + 1; j < len(s); j++ {
		if s[j] != '`' {
			b.WriteByte(s[j])
			continue
		}
		if j+1 < len(s) && s[j+1] == '`' {
			b.WriteByte('`')
			j++
			continue
		}
		if b.Len() == 0 {
			return token{}, &Error{i, "A name in backquotes is empty.", ""}
		}
		return token{quoted, i, j + 1, b.String()}, nil
	}
	return token{}, &Error{i, "A name that begins with a backquote here does not end.", "Close it with a backquote."}
}

// lexString reads a text in quotes with Spark's escapes (spark.sql.parser.escapedStringLiterals=false).
func lexString(s string, i int, raw bool) (token, error) {
	quote := s[i]
	var b strings.Builder
	for j := i + 1; j < len(s); j++ {
		c := s[j]
		switch {
		case c == quote:
			return token{text, i, j + 1, b.String()}, nil
		case c != '\\' || raw:
			b.WriteByte(c)
			continue
		}
		if j++; j >= len(s) {
			break
		}
		c = s[j]
		hexAt := func(n int) (rune, bool) {
			if j+1+n > len(s) {
				return 0, false
			}
			v, err := strconv.ParseUint(s[j+1:j+1+n], 16, 32)
			return rune(v), err == nil
		}
		switch {
		case c == 'u':
			if r, ok := hexAt(4); ok {
				j += 4
				// A pair of UTF-16 surrogates is one character.
				if r >= 0xD800 && r < 0xDC00 && strings.HasPrefix(s[j+1:], `\u`) {
					j += 2
					if low, ok := hexAt(4); ok && low >= 0xDC00 && low < 0xE000 {
						r = 0x10000 + (r-0xD800)<<10 + (low - 0xDC00)
						j += 4
					} else {
						j -= 2
					}
				}
				b.WriteRune(r)
				continue
			}
		case c == 'U':
			if r, ok := hexAt(8); ok {
				b.WriteRune(r)
				j += 8
				continue
			}
		case (c == '0' || c == '1') && j+2 < len(s) && octal(s[j+1]) && octal(s[j+2]):
			b.WriteRune(rune(c-'0')<<6 | rune(s[j+1]-'0')<<3 | rune(s[j+2]-'0'))
			j += 2
			continue
		}
		switch c {
		case '0':
			b.WriteByte(0)
		case 'b':
			b.WriteByte('\b')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'Z':
			b.WriteByte(0x1A)
		case '%', '_':
			// They stay escaped, for LIKE.
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return token{}, &Error{i, "A text that begins with a quote here does not end.", "Close it with " + string(quote) + "."}
}

func octal(c byte) bool { return c >= '0' && c <= '7' }
