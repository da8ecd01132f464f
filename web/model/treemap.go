package model

import "sort"

// Rect is a rectangle in pixels.
type Rect struct{ X, Y, W, H float64 }

// Treemap lays values out as rectangles that fill a field, each with an area in proportion to its value and as near
// to a square as goes: squarified, after Bruls, Huizing and van Wijk. Values that are not above zero get no area. The
// rectangles are in the order of the values.
func Treemap(values []float64, w, h float64) []Rect {
	out := make([]Rect, len(values))
	order := make([]int, 0, len(values))
	sum := 0.0
	for i, v := range values {
		if v > 0 {
			order = append(order, i)
			sum += v
		}
	}
	if sum <= 0 || w <= 0 || h <= 0 {
		return out
	}
	sort.SliceStable(order, func(a, b int) bool { return values[order[a]] > values[order[b]] })
	scale := w * h / sum
	free := Rect{0, 0, w, h}
	for len(order) > 0 {
		side := min(free.W, free.H)
		// A row takes values as long as that makes its worst rectangle no worse.
		n, area, last := 0, 0.0, 0.0
		for n < len(order) {
			a := area + values[order[n]]*scale
			worst := worstRatio(values[order[0]]*scale, values[order[n]]*scale, a, side)
			if n > 0 && worst > last {
				break
			}
			n, area, last = n+1, a, worst
		}
		thick := area / side
		at := 0.0
		for _, i := range order[:n] {
			long := values[i] * scale / thick
			if free.W >= free.H {
				out[i] = Rect{free.X, free.Y + at, thick, long}
			} else {
				out[i] = Rect{free.X + at, free.Y, long, thick}
			}
			at += long
		}
		if free.W >= free.H {
			free.X, free.W = free.X+thick, max(0, free.W-thick)
		} else {
			free.Y, free.H = free.Y+thick, max(0, free.H-thick)
		}
		order = order[n:]
		if free.W <= 1e-9 || free.H <= 1e-9 {
			break
		}
	}
	return out
}

// worstRatio is the larger of the ratios of sides of the largest and the smallest rectangle of a row.
func worstRatio(most, least, area, side float64) float64 {
	s2, a2 := side*side, area*area
	return max(s2*most/a2, a2/(s2*least))
}
