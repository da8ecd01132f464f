package view

import (
	"strconv"

	"github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/text"
)

// hexAtOnce is how many lines of bytes are drawn in one task.
const hexAtOnce = 24

// Hex shows bytes as hexadecimal and as text, in runs by span. at is the offset of a byte
// to mark, or -1.
func Hex(data []byte, offset int64, spans []api.Span, at int64) app.UI {
	rows := model.HexRows(data, offset, spans)
	digits := len(strconv.FormatInt(offset+int64(len(data)), 16))
	if digits < 6 {
		digits = 6
	}
	line := func(r model.HexRow) app.UI {
		hex := make([]app.UI, 0, len(r.Runs))
		said := make([]app.UI, 0, len(r.Runs))
		for _, run := range r.Runs {
			class := "hx"
			if run.Span >= 0 {
				class += " sp" + strconv.Itoa(run.Span%6)
			}
			h, t := app.Span().Class(class).Text(nbsp(run.Hex)), app.Span().Class(class).Text(nbsp(run.Text))
			if run.Span >= 0 {
				h, t = h.DataSet("s", run.Span), t.DataSet("s", run.Span)
			}
			hex, said = append(hex, h), append(said, t)
		}
		class := "hex-row"
		if at >= r.Offset && at < r.Offset+model.HexWidth {
			class += " marked"
		}
		return Div(class,
			Span("hex-off", pad(strconv.FormatInt(r.Offset, 16), digits)),
			app.Span().Class("hex-bytes").Body(hex...),
			app.Span().Class("hex-text").Body(said...),
		)
	}
	lines := InPortions(len(rows), hexAtOnce, func(from, to int) []app.UI {
		out := make([]app.UI, 0, to-from)
		for _, r := range rows[from:to] {
			out = append(out, line(r))
		}
		return out
	})
	return app.Div().Class("hex").TabIndex(0).Role("group").Aria("label", text.T("Bytes")).Body(lines...)
}

// nbsp keeps spaces from being trimmed or joined.
func nbsp(s string) string {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		if r == ' ' {
			r = '\u00a0'
		}
		out = append(out, r)
	}
	return string(out)
}

func pad(s string, n int) string {
	for len(s) < n {
		s = "0" + s
	}
	return s
}

// LightSpans makes hovering anything with a data-s attribute in root light everything with
// the same one: a name its bytes, a byte its name. It changes the page directly, as it
// must follow the pointer.
func LightSpans(root app.Value) (release func()) {
	lit := ""
	set := func(s string, on bool) {
		if s == "" {
			return
		}
		list := root.Call("querySelectorAll", `[data-s="`+s+`"]`)
		for i := range list.Get("length").Int() {
			el := list.Index(i)
			if on {
				el.Call("setAttribute", "data-lit", "")
			} else {
				el.Call("removeAttribute", "data-lit")
			}
		}
	}
	move := func(e app.Value) {
		s := ""
		if t := e.Get("target"); t.Truthy() && t.Get("closest").Truthy() {
			if el := t.Call("closest", "[data-s]"); el.Truthy() {
				// Only our own numbers become part of a selector.
				if n, err := strconv.Atoi(el.Get("dataset").Get("s").String()); err == nil {
					s = strconv.Itoa(n)
				}
			}
		}
		if s == lit {
			return
		}
		set(lit, false)
		lit = s
		set(lit, true)
	}
	a := Listen(root, "mouseover", true, move)
	b := Listen(root, "focusin", true, move)
	c := Listen(root, "mouseleave", true, func(app.Value) { set(lit, false); lit = "" })
	return func() { a(); b(); c() }
}
