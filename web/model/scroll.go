package model

// MaxScroll is the greatest height in pixels given to a scrolled element. Browsers stop
// at 16 to 33 million pixels; above this bound the position is scaled.
const MaxScroll = 8_000_000

// Window says which rows of a long list to draw.
type Window struct {
	// First row and Count of rows to draw.
	First, Count int64
	// Top is where the first drawn row lies in the scrolled element, in pixels.
	Top float64
	// Height of the scrolled element.
	Height float64
}

// ScrollWindow computes which of total rows of rowH pixels are seen through a window of
// viewH pixels scrolled down by top, with extra rows on both sides.
func ScrollWindow(total int64, rowH, viewH, top float64, extra int64) Window {
	if total <= 0 || rowH <= 0 {
		return Window{}
	}
	if top < 0 {
		top = 0
	}
	full := float64(total) * rowH
	w := Window{Height: full}
	virtual := top // position in the full, unscaled list
	if full > MaxScroll {
		w.Height = MaxScroll
		if room := w.Height - viewH; room > 0 {
			if top > room {
				top = room
			}
			virtual = top / room * (full - viewH)
		}
	} else if room := full - viewH; top > room {
		if room < 0 {
			room = 0
		}
		top, virtual = room, room
	}
	first := int64(virtual / rowH)
	w.First = first - extra
	if w.First < 0 {
		w.First = 0
	}
	last := first + int64(viewH/rowH) + 2 + extra
	if last > total {
		last = total
	}
	w.Count = last - w.First
	// Rows are drawn relative to what the eye sees, so that scaling doesn't shift them.
	w.Top = top - (virtual - float64(w.First)*rowH)
	if w.Top < 0 {
		w.Top = 0
	}
	return w
}

// ScrollTo returns the scroll position that shows a row, given the present one; it moves
// no more than needed.
func ScrollTo(total, row int64, rowH, viewH, top float64) float64 {
	full := float64(total) * rowH
	y := float64(row) * rowH
	if full > MaxScroll {
		return y / (full - viewH) * (MaxScroll - viewH)
	}
	switch {
	case y < top:
		return y
	case y+rowH > top+viewH:
		return y + rowH - viewH
	}
	return top
}

// Pages lists the page numbers (of pageSize rows) that a window needs.
func Pages(w Window, pageSize int64) []int64 {
	if w.Count <= 0 || pageSize <= 0 {
		return nil
	}
	var out []int64
	for p := w.First / pageSize; p*pageSize < w.First+w.Count; p++ {
		out = append(out, p)
	}
	return out
}

// Columns chooses which columns of the given widths are seen through a window of viewW
// pixels scrolled right by left: columns [first, end), and the width of those before and after.
func Columns(widths []float64, left, viewW float64) (first, end int, before, after float64) {
	x := 0.0
	first = -1
	for i, w := range widths {
		switch {
		case first < 0 && x+w > left-200:
			first = i
			before = x
			fallthrough
		case first >= 0 && x < left+viewW+200:
			end = i + 1
		case first >= 0:
			after += w
		}
		x += w
	}
	if first < 0 {
		first = len(widths)
		end = first
		before = x
	}
	return first, end, before, after
}
