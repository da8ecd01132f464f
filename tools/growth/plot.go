package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Lines are told apart by colour and by the shape of their points; the colours stand out on white and
// on black.
var colours = []string{"#d9480f", "#1c7ed6", "#2b8a3e", "#9c36b5", "#c2255c", "#0b7285", "#8a6d00"}

const (
	plotWidth  = 840
	panelWidth = 330
	panelTop   = 34
	panelTall  = 250
	legendLine = 20
)

// plot draws processor time and memory over the input, both axes logarithmic. The background is left to
// the page.
func plot(s series, res map[string][]point) []byte {
	var b strings.Builder
	legendTop := panelTop + panelTall + 58
	var drawn []command
	for _, c := range s.commands {
		if len(res[c.name]) > 0 {
			drawn = append(drawn, c)
		}
	}
	height := legendTop + (len(drawn)+2)/2*legendLine
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="system-ui, sans-serif" font-size="12" fill="#808080" role="img">`+"\n", plotWidth, height, plotWidth, height)
	fmt.Fprintf(&b, "<title>%s: processor time and peak memory, both axes logarithmic</title>\n", html.EscapeString(s.title))
	panel(&b, 70, "CPU, seconds", s, drawn, res, cpu)
	panel(&b, 70+panelWidth+90, "Peak memory, MiB", s, drawn, res, peak)
	for i, c := range drawn {
		x, y := 70+i%2*(panelWidth+90), legendTop+i/2*legendLine
		mark(&b, i, float64(x), float64(y))
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", x+12, y+4, html.EscapeString(c.name))
	}
	i := len(drawn)
	x, y := 70+i%2*(panelWidth+90), legendTop+i/2*legendLine
	fmt.Fprintf(&b, `<path d="M%d %dh16" stroke="#808080" stroke-dasharray="3 3"/><text x="%d" y="%d">as the input grows</text>`+"\n", x-8, y, x+12, y+4)
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// panel draws one pair of axes.
func panel(b *strings.Builder, left int, title string, s series, drawn []command, res map[string][]point, cost func(point) float64) {
	x0, x1 := math.Inf(1), math.Inf(-1)
	y0, y1 := math.Inf(1), math.Inf(-1)
	for _, c := range drawn {
		for _, p := range res[c.name] {
			x0, x1 = min(x0, float64(p.N)), max(x1, float64(p.N))
			y0, y1 = min(y0, max(cost(p), 0.01)), max(y1, max(cost(p), 0.01))
		}
	}
	lx0, lx1 := math.Log10(x0), math.Log10(x1)
	ly0, ly1 := math.Floor(math.Log10(y0)), math.Ceil(math.Log10(y1))
	if lx1 <= lx0 {
		lx1 = lx0 + 1
	}
	if ly1 <= ly0 {
		ly1 = ly0 + 1
	}
	at := func(x, y float64) (float64, float64) {
		return float64(left) + (math.Log10(x)-lx0)/(lx1-lx0)*panelWidth, float64(panelTop) + (ly1-math.Log10(max(y, 0.01)))/(ly1-ly0)*panelTall
	}
	fmt.Fprintf(b, `<text x="%d" y="18" font-weight="600">%s</text>`+"\n", left, title)
	for e := ly0; e <= ly1; e++ {
		_, y := at(x0, math.Pow(10, e))
		fmt.Fprintf(b, `<path d="M%d %.1fh%d" stroke="#808080" stroke-opacity=".35"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", left, y, panelWidth, left-8, y+4, number(math.Pow(10, e)))
	}
	for _, n := range s.sizes {
		if float64(n) < x0 || float64(n) > x1 {
			continue
		}
		x, _ := at(float64(n), 1)
		fmt.Fprintf(b, `<path d="M%.1f %dv%d" stroke="#808080" stroke-opacity=".35"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x, panelTop, panelTall, x, panelTop+panelTall+18, thousands(n))
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", left+panelWidth/2, panelTop+panelTall+36, html.EscapeString(s.unit))
	// The slope of what grows as its input does, through the right upper corner.
	dx := min(lx1-lx0, ly1-ly0)
	ax, ay := at(math.Pow(10, lx1-dx), math.Pow(10, ly1-dx))
	bx, by := at(math.Pow(10, lx1), math.Pow(10, ly1))
	fmt.Fprintf(b, `<path d="M%.1f %.1fL%.1f %.1f" stroke="#808080" stroke-dasharray="3 3" fill="none"/>`+"\n", ax, ay, bx, by)
	for i, c := range drawn {
		var d strings.Builder
		for k, p := range res[c.name] {
			x, y := at(float64(p.N), cost(p))
			fmt.Fprintf(&d, "%c%.1f %.1f", "ML"[min(k, 1)], x, y)
		}
		fmt.Fprintf(b, `<path d="%s" stroke="%s" stroke-width="1.6" fill="none"/>`+"\n", d.String(), colours[i%len(colours)])
		for _, p := range res[c.name] {
			x, y := at(float64(p.N), cost(p))
			mark(b, i, x, y)
		}
	}
}

// mark draws the point of line i.
func mark(b *strings.Builder, i int, x, y float64) {
	colour := colours[i%len(colours)]
	switch i % 4 {
	case 0:
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="4" fill="%s"/>`, x, y, colour)
	case 1:
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="7" height="7" fill="%s"/>`, x-3.5, y-3.5, colour)
	case 2:
		fmt.Fprintf(b, `<path d="M%.1f %.1fl4.5 8h-9z" fill="%s"/>`, x, y-5, colour)
	default:
		fmt.Fprintf(b, `<path d="M%.1f %.1fl4.5 4.5l-4.5 4.5l-4.5 -4.5z" fill="%s"/>`, x, y-4.5, colour)
	}
	b.WriteByte('\n')
}

func number(x float64) string {
	if x >= 1000 {
		return thousands(int64(math.Round(x)))
	}
	return fmt.Sprintf("%g", x)
}
