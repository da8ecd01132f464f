package model

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// CellText is a value of a grid cell.
type CellText struct {
	Text string
	// Kind is the JSON type, which decides alignment and colour.
	Kind NodeKind
	// Cut is true when Text is only the beginning.
	Cut bool
}

// maxCell is how many runes of a value a grid cell shows.
const maxCell = 160

// Cell turns a JSON value into the text of a grid cell: strings without quotes, nested
// values as compact JSON, null told apart by its kind.
func Cell(v json.RawMessage) CellText {
	s := bytes.TrimSpace(v)
	if len(s) == 0 {
		return CellText{Kind: NullNode, Text: "null"}
	}
	switch s[0] {
	case 'n':
		return CellText{Kind: NullNode, Text: "null"}
	case 't', 'f':
		return CellText{Kind: BoolNode, Text: string(s)}
	case '"':
		var t string
		if json.Unmarshal(s, &t) != nil {
			t = string(s)
		}
		c := CellText{Kind: StringNode}
		c.Text, c.Cut = cut(t)
		return c
	case '{', '[':
		kind := ObjectNode
		if s[0] == '[' {
			kind = ArrayNode
		}
		var b bytes.Buffer
		if json.Compact(&b, s) == nil {
			s = b.Bytes()
		}
		c := CellText{Kind: kind}
		c.Text, c.Cut = cut(string(s))
		return c
	}
	return CellText{Kind: NumberNode, Text: string(s)}
}

// cut shortens a text to a line of at most maxCell runes; line ends and other controls
// become visible marks.
func cut(s string) (string, bool) {
	n := 0
	for i := range s {
		if n == maxCell {
			return oneLine(s[:i]) + "…", true
		}
		n++
	}
	return oneLine(s), false
}

func oneLine(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f }) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return '↵'
		case r == '\t':
			return '⇥'
		case r < 0x20:
			return 0x2400 + r
		case r == 0x7f:
			return 0x2421
		}
		return r
	}, s)
}

// Pretty writes JSON with two spaces of indentation; what is no JSON comes back as it is.
func Pretty(doc []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, doc, "", "  ") != nil {
		return string(doc)
	}
	return b.String()
}

// ColumnWidths guesses a width in pixels for each column from its name, its type and
// the texts of some rows: wide enough for most, bounded on both sides.
func ColumnWidths(names, types []string, rows [][]CellText) []float64 {
	const perRune, perDigit, pad = 7.4, 8.3, 26.0
	out := make([]float64, len(names))
	for i := range names {
		n := utf8.RuneCountInString(names[i])
		if i < len(types) {
			if t := utf8.RuneCountInString(types[i]); t > n {
				n = t
			}
		}
		for r, row := range rows {
			if r >= 60 || i >= len(row) {
				break
			}
			t := utf8.RuneCountInString(row[i].Text)
			if row[i].Kind == NumberNode || row[i].Kind == StringNode && digits(row[i].Text) != "" {
				t = int(float64(t)*perDigit/perRune) + 1
			}
			n = max(n, t)
		}
		w := float64(n)*perRune + pad
		if w < 64 {
			w = 64
		}
		if w > 320 {
			w = 320
		}
		out[i] = w
	}
	return out
}
