package handoff

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// python is a string literal of Python 3. Go's escapes in ASCII are Python's as well.
func python(s string) string { return strconv.QuoteToASCII(strings.ToValidUTF8(s, "\uFFFD")) }

func pythonList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = python(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// sparkString is a string literal of Spark SQL, in which a backslash escapes.
func sparkString(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r):
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// standardString is a string literal of standard SQL (Flink, Trino), in which only the quote is
// special; texts with characters that can't be seen are written by their numbers.
func standardString(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	special := func(r rune) bool {
		return r < 0x20 || r == 0x7f || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
	}
	if strings.IndexFunc(s, special) < 0 {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	var b strings.Builder
	b.WriteString("U&'")
	for _, r := range s {
		switch {
		case r == '\'':
			b.WriteString("''")
		case r == '\\':
			b.WriteString(`\\`)
		case special(r):
			fmt.Fprintf(&b, `\%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// backquoted is a name of Spark or Flink SQL, doublequoted one of Trino.
func backquoted(name string) string {
	return "`" + strings.ReplaceAll(visible(name), "`", "``") + "`"
}
func doublequoted(name string) string {
	return `"` + strings.ReplaceAll(visible(name), `"`, `""`) + `"`
}

// visible replaces characters that would break a line.
func visible(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD"))
}

// viewName is a name for a view or table that the code makes, from a table's name.
func viewName(table string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, table)
	if len(name) > 60 {
		name = name[:60]
	}
	if strings.Trim(name, "_") == "" || name[0] >= '0' && name[0] <= '9' {
		name = "table_" + name
	}
	return name
}
