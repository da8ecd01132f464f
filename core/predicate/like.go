package predicate

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"hudiscope/core/column"
)

// Parts of a pattern that stand for characters.
const (
	anyRunes rune = -1
	oneRune  rune = -2
)

// likePattern takes a pattern apart; anyRunes do not follow each other. why says what is wrong with it.
func likePattern(s string, escape rune) (list []rune, why string) {
	if escape == 0 {
		escape = '\\'
	}
	var out []rune
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == escape:
			next, n := utf8.DecodeRuneInString(s[i:])
			if n == 0 {
				return nil, fmt.Sprintf("The pattern ends with the escape character %c.", escape)
			}
			if next != '%' && next != '_' && next != escape {
				return nil, fmt.Sprintf("The escape character %c stands in front of %c in the pattern.", escape, next)
			}
			out = append(out, next)
			i += n
		case r == '%':
			if len(out) == 0 || out[len(out)-1] != anyRunes {
				out = append(out, anyRunes)
			}
		case r == '_':
			out = append(out, oneRune)
		default:
			out = append(out, r)
		}
	}
	return out, ""
}

// LikePrefix returns the characters that every text which matches a pattern begins with, and whether nothing
// but one % follows them. A pattern with an error has none.
func LikePrefix(pattern string, escape rune) (prefix string, only bool) {
	list, why := likePattern(pattern, escape)
	if why != "" {
		return "", false
	}
	for i, r := range list {
		if r < 0 {
			return string(list[:i]), r == anyRunes && i == len(list)-1
		}
	}
	return string(list), false
}

type like struct {
	x    kernel
	list []rune
	// prefix and suffix are set for patterns of the forms p%, %s and %m% and those without wildcards.
	form byte
	part []byte
	null bool
	out  vec
	own  []bool
}

func newLike(x kernel, e *Like) kernel {
	k := &like{x: x}
	s, ok := e.Pattern.(*Literal).Value.(string)
	if !ok {
		k.null = true
		return k
	}
	k.list, _ = likePattern(s, e.Escape)
	list := k.list
	first := len(list) > 0 && list[0] == anyRunes
	last := len(list) > 1 && list[len(list)-1] == anyRunes
	if first {
		list = list[1:]
	}
	if last {
		list = list[:len(list)-1]
	}
	for _, r := range list {
		if r < 0 {
			return k
		}
	}
	k.part = []byte(string(list))
	switch {
	case first && last:
		k.form = 'm'
	case first:
		k.form = 's'
	case last:
		k.form = 'p'
	default:
		k.form = '='
	}
	return k
}

func (k *like) run(b *column.Batch, from, n int) *vec {
	x := k.x.run(b, from, n)
	k.out.bools = room(k.out.bools, n)
	if k.null {
		k.own = room(k.own, n)
		for i := range k.own {
			k.own[i] = true
		}
		k.out.nulls = k.own
		clear(k.out.bools)
		return &k.out
	}
	for i := range n {
		switch s := x.texts[i]; k.form {
		case 'm':
			k.out.bools[i] = bytes.Contains(s, k.part)
		case 's':
			k.out.bools[i] = bytes.HasSuffix(s, k.part)
		case 'p':
			k.out.bools[i] = bytes.HasPrefix(s, k.part)
		case '=':
			k.out.bools[i] = bytes.Equal(s, k.part)
		default:
			k.out.bools[i] = matches(s, k.list)
		}
	}
	k.out.nulls = x.nulls
	return &k.out
}

// matches reports whether a text has the form of a pattern. Where it fails it goes on behind the last
// anyRunes, so that the time is at most length times length.
func matches(s []byte, list []rune) bool {
	p, star, mark := 0, -1, 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		switch {
		case p < len(list) && list[p] == anyRunes:
			star, mark = p, i
			p++
			continue
		case p < len(list) && (list[p] == oneRune || list[p] == r):
			p++
			i += n
			continue
		case star < 0:
			return false
		}
		_, n = utf8.DecodeRune(s[mark:])
		mark += n
		p, i = star+1, mark
	}
	for p < len(list) && list[p] == anyRunes {
		p++
	}
	return p == len(list)
}
