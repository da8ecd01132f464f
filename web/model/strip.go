package model

import (
	"math"

	"hudiscope/core/api"
	"hudiscope/web/text"
)

// BlockKind is how a log block is drawn: a letter, a class for its colour and a name for people.
type BlockKind struct {
	Letter, Class, Name string
}

// KindOf returns how to draw a block of a type by Hudi's name.
func KindOf(blockType string) BlockKind {
	switch blockType {
	case "AVRO_DATA_BLOCK":
		return BlockKind{"D", "data", text.Key("Avro data")}
	case "DELETE_BLOCK":
		return BlockKind{"X", "delete", text.Key("Delete")}
	case "COMMAND_BLOCK":
		return BlockKind{"C", "command", text.Key("Command")}
	case "CORRUPT_BLOCK":
		return BlockKind{"!", "corrupt", text.Key("Corrupt")}
	case "HFILE_DATA_BLOCK":
		return BlockKind{"H", "hfile", text.Key("HFile data")}
	case "PARQUET_DATA_BLOCK":
		return BlockKind{"P", "parquet", text.Key("Parquet data")}
	case "CDC_DATA_BLOCK":
		return BlockKind{"Δ", "cdc", text.Key("Change data")}
	}
	return BlockKind{"?", "unknown", blockType}
}

// StripBlock is one block of a strip, in pixels.
type StripBlock struct {
	Index int
	X, W  float64
	Kind  BlockKind
	// Struck is true for a block that a snapshot does not read: rolled back or not committed.
	Struck bool
}

// Strip is one log file drawn to scale.
type Strip struct {
	Cells []StripBlock
	// Gaps are byte ranges between blocks that belong to none.
	Gaps []StripBlock
	// Width of the file in pixels.
	Width float64
}

// Arc leads from a command block to a block whose instant it rolls back. Both are (strip, cell) positions.
type Arc struct {
	FromStrip, FromCell, ToStrip, ToCell int
}

// Strips are the log files of a slice, all drawn with the same scale.
type Strips struct {
	Strips []Strip
	Arcs   []Arc
	// PerByte is the scale; Stretched counts blocks drawn wider than their size because
	// of the least width.
	PerByte   float64
	Stretched int
}

// maxPerByte keeps small files small: a block of a kilobyte needs no whole screen.
const maxPerByte = 0.42

// LayStrips draws files to one scale within width pixels. Every block is at least
// least pixels wide, so that it can be seen and hit; the scale of the rest gives way.
func LayStrips(files []api.LogFile, width, least float64) Strips {
	var out Strips
	if len(files) == 0 {
		return out
	}
	// The scale must leave room for the stretched blocks of every file. Finding it by
	// halving is exact enough for pixels and never fails to end.
	widthAt := func(f api.LogFile, scale float64) float64 {
		w := 0.0
		for _, b := range f.Blocks {
			w += math.Max(least, float64(b.End-b.Start)*scale)
		}
		return w
	}
	lo, hi := 0.0, maxPerByte
	fits := func(s float64) bool {
		for _, f := range files {
			if len(f.Blocks) > 0 && widthAt(f, s) > width {
				return false
			}
		}
		return true
	}
	for i := 0; i < 50; i++ {
		mid := (lo + hi) / 2
		if fits(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	out.PerByte = lo
	for _, f := range files {
		var s Strip
		x := 0.0
		var end int64
		for at, b := range f.Blocks {
			if at > 0 && b.Start > end {
				s.Gaps = append(s.Gaps, StripBlock{Index: at, X: x, W: 4})
				x += 4
			}
			w := float64(b.End-b.Start) * lo
			if w < least {
				w = least
				out.Stretched++
			}
			s.Cells = append(s.Cells, StripBlock{Index: b.Index, X: x, W: w, Kind: KindOf(b.Type), Struck: b.Fate == "rolled back" || b.Fate == "not committed"})
			x += w
			end = b.End
		}
		s.Width = x
		out.Strips = append(out.Strips, s)
	}
	out.Arcs = arcs(files)
	return out
}

// arcs leads each rollback command to the blocks before it that it names, be they still
// waiting when the scan reached the command or left out already as not committed.
func arcs(files []api.LogFile) []Arc {
	type place struct{ strip, cell int }
	before := map[string][]place{} // blocks by instant
	var out []Arc
	for si, f := range files {
		for ci, b := range f.Blocks {
			if b.Type == "COMMAND_BLOCK" && b.Target != "" {
				for _, p := range before[b.Target] {
					out = append(out, Arc{FromStrip: si, FromCell: ci, ToStrip: p.strip, ToCell: p.cell})
				}
				continue
			}
			if b.Instant != "" && b.Type != "CORRUPT_BLOCK" {
				before[b.Instant] = append(before[b.Instant], place{si, ci})
			}
		}
	}
	return out
}

// Share is the width of a box in percent of the widest thing it is compared with, never
// so small that it can't be seen.
func Share(size, largest int64) float64 {
	if largest <= 0 || size <= 0 {
		return 0
	}
	return math.Min(100, float64(size)/float64(largest)*100)
}
