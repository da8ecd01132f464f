package model

import (
	"sort"
	"strings"

	"hudiscope/core/api"
)

// Run is a stretch of bytes of one hex row that belong to the same span.
type Run struct {
	// Span is the index of the span, -1 where the bytes belong to none.
	Span int
	Hex  string
	Text string
	// First is true when the run begins its span.
	First bool
}

// HexRow is sixteen bytes.
type HexRow struct {
	Offset int64
	Runs   []Run
	// Pad is how many bytes are missing at the end of the last row.
	Pad int
}

// HexWidth is the number of bytes in a row.
const HexWidth = 16

// HexRows cuts data that begins at absolute offset off into rows aligned to sixteen, each
// cut into runs by span. Where spans nest or overlap the shortest one wins.
func HexRows(data []byte, off int64, spans []api.Span) []HexRow {
	if len(data) == 0 {
		return nil
	}
	owner := owners(int64(len(data)), off, spans)
	var rows []HexRow
	for at := 0; at < len(data); {
		n := HexWidth - int((off+int64(at))%HexWidth)
		lead := 0
		if n < HexWidth && len(rows) == 0 {
			lead = HexWidth - n
		}
		if at+n > len(data) {
			n = len(data) - at
		}
		row := HexRow{Offset: off + int64(at) - int64(lead)}
		if lead > 0 {
			row.Runs = append(row.Runs, Run{Span: -1, Hex: strings.Repeat("   ", lead), Text: strings.Repeat(" ", lead)})
		}
		for i := 0; i < n; {
			j := i + 1
			for j < n && owner[at+j] == owner[at+i] {
				j++
			}
			var hex, text strings.Builder
			for _, c := range data[at+i : at+j] {
				hex.WriteByte(hexDigit(c >> 4))
				hex.WriteByte(hexDigit(c & 15))
				hex.WriteByte(' ')
				if c >= 0x20 && c < 0x7f {
					text.WriteByte(c)
				} else {
					text.WriteString("·")
				}
			}
			run := Run{Span: owner[at+i], Hex: hex.String(), Text: text.String()}
			if run.Span >= 0 && spans[run.Span].Start == off+int64(at+i) {
				run.First = true
			}
			row.Runs = append(row.Runs, run)
			i = j
		}
		row.Pad = HexWidth - lead - n
		rows = append(rows, row)
		at += n
	}
	return rows
}

func hexDigit(n byte) byte { return "0123456789abcdef"[n] }

// owners returns for each byte the index of the shortest span that holds it, or -1.
func owners(n, off int64, spans []api.Span) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = -1
	}
	byLength := make([]int, len(spans))
	for i := range byLength {
		byLength[i] = i
	}
	sort.SliceStable(byLength, func(a, b int) bool {
		x, y := spans[byLength[a]], spans[byLength[b]]
		return x.End-x.Start > y.End-y.Start
	})
	for _, i := range byLength {
		from, to := spans[i].Start-off, spans[i].End-off
		if from < 0 {
			from = 0
		}
		if to > n {
			to = n
		}
		for k := from; k < to; k++ {
			out[k] = i
		}
	}
	return out
}
