// Package show lays rows out as Spark's Dataset.show does (spec queries.md section 9.2). The cells are
// texts already; it only truncates, pads and draws.
package show

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Options of a table.
type Options struct {
	// Truncate is the longest cell in UTF-16 units, 0 for no bound; the names of columns are never cut.
	// Cells are aligned right when it is set, else left.
	Truncate int
	// Vertical prints one line per cell.
	Vertical bool
	// More tells that there are more rows than those given.
	More bool
	// Null is the text of null cells.
	Null string
}

// MaxRows is the largest number of rows that show takes.
const MaxRows = 2147483631

// Write draws a table; a nil cell is null.
func Write(w io.Writer, head []string, rows [][]*string, o Options) error {
	out := bufio.NewWriter(w)
	cells := make([][]string, 0, len(rows)+1)
	cells = append(cells, make([]string, len(head)))
	for i, h := range head {
		cells[0][i] = escape(h)
	}
	for _, r := range rows {
		line := make([]string, len(r))
		for i, c := range r {
			text := o.Null
			if c != nil {
				text = escape(*c)
			}
			line[i] = truncate(text, o.Truncate)
		}
		cells = append(cells, line)
	}
	if o.Vertical {
		vertical(out, cells)
	} else {
		horizontal(out, cells, o.Truncate > 0)
	}
	if o.More {
		n := len(rows)
		unit := "rows"
		if n == 1 {
			unit = "row"
		}
		out.WriteString("only showing top " + strconv.Itoa(n) + " " + unit + "\n")
	}
	return out.Flush()
}

func horizontal(out *bufio.Writer, cells [][]string, right bool) {
	widths := make([]int, len(cells[0]))
	for i := range widths {
		widths[i] = 3
		for _, r := range cells {
			widths[i] = max(widths[i], Width(r[i]))
		}
	}
	rule := "+"
	for _, w := range widths {
		rule += strings.Repeat("-", w) + "+"
	}
	rule += "\n"
	line := func(r []string) {
		out.WriteByte('|')
		for i, c := range r {
			pad := strings.Repeat(" ", widths[i]-Width(c))
			if right {
				out.WriteString(pad + c)
			} else {
				out.WriteString(c + pad)
			}
			out.WriteByte('|')
		}
		out.WriteByte('\n')
	}
	out.WriteString(rule)
	line(cells[0])
	out.WriteString(rule)
	for _, r := range cells[1:] {
		line(r)
	}
	out.WriteString(rule)
}

func vertical(out *bufio.Writer, cells [][]string) {
	names, values := 3, 3
	for _, h := range cells[0] {
		names = max(names, Width(h))
	}
	for _, r := range cells[1:] {
		for _, c := range r {
			values = max(values, Width(c))
		}
	}
	if len(cells) == 1 {
		out.WriteString("(0 rows)\n")
		return
	}
	pad := func(s string, w int) string { return s + strings.Repeat(" ", max(w-Width(s), 0)) }
	for n, r := range cells[1:] {
		head := "-RECORD " + strconv.Itoa(n)
		out.WriteString(head + strings.Repeat("-", max(names+values+5-len(head), 0)) + "\n")
		for i, c := range r {
			out.WriteString(" " + pad(cells[0][i], names) + " | " + pad(c, values) + " \n")
		}
	}
}

// escape writes control characters as Spark 3.4 and later do, so that a row stays a line.
func escape(s string) string {
	if !strings.ContainsAny(s, "\n\r\t\f\b\v\a") {
		return s
	}
	return strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`, "\f", `\f`, "\b", `\b`, "\v", `\v`, "\a", `\a`).Replace(s)
}

// truncate cuts a text to n UTF-16 units.
func truncate(s string, n int) string {
	if n <= 0 || len(s) <= n {
		return s
	}
	u := utf16.Encode([]rune(s))
	if len(u) <= n {
		return s
	}
	if n < 4 {
		return string(utf16.Decode(u[:n]))
	}
	return string(utf16.Decode(u[:n-3])) + "..."
}

// Width is the number of half-width columns that a text takes: its UTF-16 units, and one more for each
// full-width character.
func Width(s string) int {
	w := 0
	for _, r := range s {
		w++
		if r > 0xFFFF {
			w++
		}
		if wide(r) {
			w++
		}
	}
	return w
}

func wide(r rune) bool {
	switch {
	case r >= 0x1100 && r <= 0x115F, r >= 0x2E80 && r <= 0xA4CF, r >= 0xAC00 && r <= 0xD7A3, r >= 0xF900 && r <= 0xFAFF,
		r >= 0xFE30 && r <= 0xFE4F, r >= 0xFF00 && r <= 0xFF60, r >= 0xFFE0 && r <= 0xFFE6:
		return true
	}
	return false
}
