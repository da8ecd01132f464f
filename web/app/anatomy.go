package app

import (
	"math"
	"strconv"
	"strings"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// anatomyView shows the parts of a base file: drawn to scale, as a list, and one of them in full.
type anatomyView struct {
	goapp.Compo

	Root *Root
	Rev  int

	ctx      goapp.Context
	width    float64
	from, to int64 // the bytes that are drawn
	drawn    *api.Anatomy
	rows     []anatomyRow
	rowsOf   *api.Anatomy
	hover    string // path of the part under the pointer
	seen     model.State
	frame    frame
	release  []func()
	plot     goapp.Value
	plotEnds []func()
}

// anatomyRow is a part in the list.
type anatomyRow struct {
	part  *api.AnatomyPart
	path  string
	depth int
}

// OnMount implements go-app's Mounter.
func (v *anatomyView) OnMount(ctx goapp.Context) {
	v.ctx, v.seen = ctx, v.Root.s.state
	v.release = append(v.release, watchWidth("anatomy-field", func(w float64) {
		if w != v.width {
			v.width = w
			v.Update()
		}
	}))
}

// OnUpdate implements go-app's Updater: a part that was just chosen is brought into sight.
func (v *anatomyView) OnUpdate(ctx goapp.Context) {
	v.ctx = ctx
	st := v.Root.s.state
	if st.AnatomyPart != v.seen.AnatomyPart && st.AnatomyPart != "" {
		showDetail(ctx, ".part-detail")
	}
	v.seen = st
}

// OnDismount implements go-app's Dismounter.
func (v *anatomyView) OnDismount() {
	for _, f := range append(v.release, v.plotEnds...) {
		f()
	}
}

// stepAnatomy chooses the next part of the list or the one before.
func (r *Root) stepAnatomy(by int) {
	st := r.s.state
	st.AnatomyPart = model.NextAnatomy(r.s.anatomy.val.Parts, st.AnatomyPart, by)
	r.navigate(st)
}

func (v *anatomyView) Render() goapp.UI {
	s := v.Root.s
	a := &s.anatomy
	body := []goapp.UI{v.line()}
	switch {
	case a.fault != nil:
		body = append(body, view.FaultPanel(a.fault, nil, a.retrier(s)))
	case a.val == nil:
		body = append(body, view.Loading(text.T("Reading the footer"), a.slow, a.prog, a.canceller()), bones())
	default:
		body = append(body, v.file(a.val)...)
	}
	return goapp.Div().ID("anatomy-field").Class("anatomy").Body(view.Group(body...)...)
}

// factText is a value with its digits in groups, where it is a number.
func factText(s string) string {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && len(s) < 16 && strconv.FormatInt(n, 10) == s {
		return model.Count(n)
	}
	return s
}

// line names the file, with the way back.
func (v *anatomyView) line() goapp.UI {
	st := v.Root.s.state
	back := st.Go(model.Files)
	if st.AnatomyLen > 0 {
		back = st.Go(model.Blocks)
	}
	items := []goapp.UI{view.Link("link", back, goapp.Text(text.T("Back"))), goapp.Span().Class("mono wrap").Text(st.Anatomy)}
	if st.AnatomyLen > 0 {
		items = append(items, view.Span("dim", text.F("the content of the block at byte %s", model.Count(st.AnatomyFrom))))
	}
	return view.Div("slice-line", items...)
}

// partName is what a part is called; that of a column is the table's own.
func partName(p *api.AnatomyPart) string {
	if p.Kind == "column chunk" {
		return p.Name
	}
	return text.Said(p.Name)
}

var formatNames = map[string]string{"parquet": "Parquet", "hfile": "HFile", "orc": "ORC"}

func (v *anatomyView) file(a *api.Anatomy) []goapp.UI {
	if v.drawn == nil || v.drawn.File != a.File || v.drawn.Start != a.Start || v.to > a.Start+a.Size || v.to == 0 {
		v.from, v.to = a.Start, a.Start+a.Size
	}
	v.drawn = a
	var facts []goapp.UI
	for _, f := range a.Facts {
		facts = append(facts, view.Fact(text.Said(f.Name), goapp.Span().Class("mono wrap").Text(factText(f.Value))))
	}
	name := formatNames[a.Format]
	if name == "" {
		name = text.T("No base file")
	}
	head := view.Div("toolbar", view.Badge("accent", name), view.Span("num", model.Bytes(a.Size)),
		goapp.Span().Class("dim num").Title(text.T("Only the footer and the headers of pages and blocks are read, no values")).
			Text(text.F("%s read of it, in %s", model.Bytes(a.BytesRead), model.Plural(int64(a.Reads), "read"))),
		&view.CopyButton{Label: text.T("Copy as JSON"), Make: func() string { return asJSON(a) }})
	body := []goapp.UI{head, goapp.Dl().Class("facts inline").Body(facts...), view.Findings(a.Findings)}
	if a.Size > 0 {
		body = append(body, v.drawing(a), view.Div("anatomy-split", v.list(a), v.detail(a)))
	}
	if len(a.Entries) > 0 {
		body = append(body, v.entries(a))
	}
	return body
}

const (
	anatomyRowH  = 30.0
	anatomyWhole = 1000.0
)

// drawing is the file to scale, a row for each level of parts.
func (v *anatomyView) drawing(a *api.Anatomy) goapp.UI {
	width := v.width - 4
	if width < 200 {
		width = 900
	}
	cells, levels := model.LayAnatomy(a.Parts, v.from, v.to, width)
	by := map[string]*strings.Builder{}
	var order []string
	var over []goapp.UI
	chosen := v.Root.s.state.AnatomyPart
	for i := range cells {
		c := &cells[i]
		class := "an-" + strings.ReplaceAll(c.Part.Kind, " ", "-")
		d := by[class]
		if d == nil {
			d = &strings.Builder{}
			by[class] = d
			order = append(order, class)
		}
		y := float64(c.Level) * anatomyRowH
		w := c.W
		if w > 3 {
			w-- // a line between neighbours
		}
		d.WriteString("M" + view.Px(c.X) + " " + view.Px(y) + "h" + view.Px(w) + "v" + view.Px(anatomyRowH-3) + "h-" + view.Px(w) + "z")
		if room := int((c.W - 10) / 6.6); room >= 3 {
			over = append(over, view.Svg("text").Attr("data-c", "an-name").Attr("x", view.Px(max(c.X, 0)+5)).Attr("y", view.Px(y+18)).Text(cut(partName(c.Part), room)))
		}
		if c.Path == chosen || c.Path == v.hover {
			class := "an-mark"
			if c.Path == chosen {
				class += " chosen"
			}
			over = append(over, view.Svg("rect").Attr("data-c", class).Attr("x", view.Px(c.X)).Attr("y", view.Px(y)).Attr("width", view.Px(max(2, w))).Attr("height", view.Px(anatomyRowH-3)))
		}
	}
	var shapes []goapp.UI
	for _, class := range order {
		shapes = append(shapes, view.Svg("path").Attr("data-c", "an "+class).Attr("d", by[class].String()))
	}
	height := float64(max(levels, 1)) * anatomyRowH
	svg := view.Svg("svg").Attr("width", view.Px(width)).Attr("height", view.Px(height)).Attr("role", "img").
		Attr("aria-label", text.F("The bytes %s to %s drawn to scale. The list below has the same parts.", model.Count(v.from), model.Count(v.to))).Body(append(shapes, over...)...)
	if v.ctx != nil {
		v.ctx.Defer(func(goapp.Context) { v.attach() })
	}
	under := view.Span("dim", text.T("Click a part, or use the list. j and k move."))
	if p, _ := model.AnatomyPart(a.Parts, v.hover); p != nil {
		under = goapp.Span().Text(partName(p) + ", " + text.Said(p.Kind) + ", " + model.Bytes(p.End-p.Start) + " " + text.F("at byte %s", model.Count(p.Start)))
	}
	tools := []goapp.UI{}
	if v.from > a.Start || v.to < a.Start+a.Size {
		tools = append(tools, view.Button("small", text.T("Whole file"), func(goapp.Context, goapp.Event) { v.from, v.to = a.Start, a.Start+a.Size }, a.File, a.Size))
	}
	if p, _ := model.AnatomyPart(a.Parts, chosen); p != nil {
		tools = append(tools, view.Button("small", text.T("Zoom to this part"), func(goapp.Context, goapp.Event) { v.zoomTo(a, p) }, chosen, a.File))
	}
	tools = append(tools,
		view.IconButton(iconOut, text.T("Zoom out"), func(goapp.Context, goapp.Event) { v.zoom(2, 0.5) }),
		view.IconButton(iconIn, text.T("Zoom in"), func(goapp.Context, goapp.Event) { v.zoom(0.5, 0.5) }))
	body := []goapp.UI{
		view.Div("toolbar", view.Span("num", text.F("bytes %s to %s", model.Count(v.from), model.Count(v.to))), under, goapp.Div().Class("toolbar-end zoom").Role("group").Aria("label", text.T("Zoom")).Body(tools...)),
		goapp.Div().ID("anatomy-plot").Class("plot anatomy-plot").Body(svg),
	}
	if v.to-v.from < a.Size {
		x, w := float64(v.from-a.Start)/float64(a.Size)*anatomyWhole, float64(v.to-v.from)/float64(a.Size)*anatomyWhole
		body = append(body, view.Svg("svg").Attr("data-c", "an-lens").Attr("viewBox", "0 0 1000 6").Attr("preserveAspectRatio", "none").Attr("aria-hidden", "true").Body(
			view.Svg("rect").Attr("data-c", "an-whole").Attr("width", "1000").Attr("height", "6"),
			view.Svg("rect").Attr("data-c", "an-part").Attr("x", view.Px(x)).Attr("width", view.Px(max(4, w))).Attr("height", "6")))
	}
	return view.Div("anatomy-drawing", body...)
}

// cut shortens a text to n runes.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// leastBytes is how few bytes the drawing shows at most magnified.
const leastBytes = 64

// zoom shows factor times as many bytes around a place, a share of the width.
func (v *anatomyView) zoom(factor, around float64) {
	a := v.drawn
	if a == nil {
		return
	}
	n := float64(v.to - v.from)
	mid := float64(v.from) + n*around
	n = min(max(n*factor, leastBytes), float64(a.Size))
	from := int64(math.Round(mid - n*around))
	from = max(a.Start, min(from, a.Start+a.Size-int64(n)))
	v.from, v.to = from, min(a.Start+a.Size, from+int64(n))
}

func (v *anatomyView) zoomTo(a *api.Anatomy, p *api.AnatomyPart) {
	n := max(p.End-p.Start, leastBytes)
	margin := n / 20
	v.from, v.to = max(a.Start, p.Start-margin), min(a.Start+a.Size, p.Start+n+margin)
}

// attach listens to the drawing.
func (v *anatomyView) attach() {
	el := goapp.Window().GetElementByID("anatomy-plot")
	if !el.Truthy() || v.plot != nil && v.plot.Equal(el) {
		return
	}
	for _, f := range v.plotEnds {
		f()
	}
	v.plot = el
	at := func(e goapp.Value) (string, float64) {
		svg := el.Call("querySelector", "svg")
		if v.drawn == nil || !svg.Truthy() {
			return "", 0.5
		}
		r := svg.Call("getBoundingClientRect")
		w := r.Get("width").Float()
		x, y := e.Get("clientX").Float()-r.Get("left").Float(), e.Get("clientY").Float()-r.Get("top").Float()
		if w <= 0 || x < 0 || x > w || y < 0 {
			return "", 0.5
		}
		return partAt(v.drawn.Parts, float64(v.from)+x/w*float64(v.to-v.from), int(y/anatomyRowH)), x / w
	}
	v.plotEnds = []func(){
		view.Listen(el, "mousemove", true, func(e goapp.Value) {
			if path, _ := at(e); path != v.hover {
				v.hover = path
				v.redraw()
			}
		}),
		view.Listen(el, "mouseleave", true, func(goapp.Value) {
			v.hover = ""
			v.redraw()
		}),
		view.Listen(el, "click", true, func(e goapp.Value) {
			path, _ := at(e)
			if path == "" {
				return
			}
			v.Root.s.dispatch(func() {
				st := v.Root.s.state
				st.AnatomyPart = path
				v.Root.navigate(st)
			})
		}),
		view.Listen(el, "dblclick", true, func(e goapp.Value) {
			path, _ := at(e)
			if p, _ := model.AnatomyPart(v.drawn.Parts, path); p != nil {
				v.zoomTo(v.drawn, p)
				v.redraw()
			}
		}),
		view.Listen(el, "wheel", false, func(e goapp.Value) {
			if !e.Get("ctrlKey").Truthy() && !e.Get("metaKey").Truthy() {
				return
			}
			e.Call("preventDefault")
			_, share := at(e)
			v.zoom(math.Exp(min(max(e.Get("deltaY").Float(), -60), 60)*0.01), share)
			v.redraw()
		}),
	}
}

func (v *anatomyView) redraw() {
	v.frame.redraw(v.ctx, v)
}

// partAt is the path of the part of a level, or the lowest above it, that holds a byte.
func partAt(parts []api.AnatomyPart, at float64, level int) string {
	path := ""
	for l := 0; l <= level; l++ {
		found := false
		for i := range parts {
			p := &parts[i]
			if at >= float64(p.Start) && at < float64(p.End) {
				if path != "" {
					path += "."
				}
				path += model.Digits(i)
				parts, found = p.Parts, true
				break
			}
		}
		if !found {
			break
		}
	}
	return path
}

// listed are the parts in the order of the list.
func (v *anatomyView) listed(a *api.Anatomy) []anatomyRow {
	if v.rowsOf == a {
		return v.rows
	}
	v.rows, v.rowsOf = nil, a
	var walk func(list []api.AnatomyPart, prefix string, depth int)
	walk = func(list []api.AnatomyPart, prefix string, depth int) {
		for i := range list {
			path := prefix + model.Digits(i)
			v.rows = append(v.rows, anatomyRow{&list[i], path, depth})
			walk(list[i].Parts, path+".", depth+1)
		}
	}
	walk(a.Parts, "", 0)
	return v.rows
}

// list is every part as a line.
func (v *anatomyView) list(a *api.Anatomy) goapp.UI {
	rows := v.listed(a)
	chosen, at := v.Root.s.state.AnatomyPart, -1
	for i := range rows {
		if rows[i].path == chosen {
			at = i
		}
	}
	return goapp.Div().Class("instants anatomy-list").Role("region").Aria("label", text.T("Parts of the file")).Body(
		view.Div("instant head", view.Span("", text.T("Part")), view.Span("took", text.T("At byte")), view.Span("took", text.T("Bytes"))),
		&view.List{Count: len(rows), RowHeight: 30, Class: "instant-rows", Label: text.T("Parts of the file"), At: at, Choose: func(i int) {
			v.Root.s.dispatch(func() {
				st := v.Root.s.state
				st.AnatomyPart = rows[i].path
				v.Root.navigate(st)
			})
		}, Row: func(i int, stop bool) goapp.UI {
			r := rows[i]
			st := v.Root.s.state
			class := "instant"
			if r.path == st.AnatomyPart {
				class += " chosen"
			}
			st.AnatomyPart = r.path
			return view.Link(class, st,
				goapp.Span().Class("an-line an-depth"+model.Digits(min(r.depth, 3))).Body(
					goapp.Span().Class("an-swatch").Body(view.Svg("svg").Attr("viewBox", "0 0 10 10").Attr("aria-hidden", "true").Body(view.Svg("rect").Attr("data-c", "an an-"+strings.ReplaceAll(r.part.Kind, " ", "-")).Attr("width", "10").Attr("height", "10").Attr("rx", "2"))),
					goapp.Span().Class("an-text").Title(partName(r.part)).Text(partName(r.part))),
				goapp.Span().Class("took num mono").Text(model.Count(r.part.Start)),
				goapp.Span().Class("took num").Title(model.Count(r.part.End-r.part.Start)+" bytes").Text(model.Bytes(r.part.End-r.part.Start))).TabIndex(tabIndex(stop)).Aria("current", current(r.path == chosen))
		}},
	)
}

// detail is the chosen part.
func (v *anatomyView) detail(a *api.Anatomy) goapp.UI {
	st := v.Root.s.state
	p, around := model.AnatomyPart(a.Parts, st.AnatomyPart)
	if p == nil {
		return view.Div("detail none part-detail", view.Empty(view.IconFiles, text.T("Choose a part"), text.T("Every line is a range of bytes of the file. Its sizes, encodings and statistics open here, and its bytes.")))
	}
	closed := st
	closed.AnatomyPart = ""
	facts := []goapp.UI{view.Fact(text.T("Kind"), goapp.Text(text.Said(p.Kind))),
		view.Fact(text.T("Bytes"), goapp.Span().Class("mono").Text(model.Count(p.Start)+" – "+model.Count(p.End)), view.Span("dim", model.Bytes(p.End-p.Start)))}
	if len(around) > 0 {
		up := st
		up.AnatomyPart = st.AnatomyPart[:strings.LastIndexByte(st.AnatomyPart, '.')]
		facts = append(facts, view.Fact(text.T("Part of"), view.Link("link", up, goapp.Text(partName(around[len(around)-1])))))
	}
	for _, f := range p.Facts {
		facts = append(facts, view.Fact(text.Said(f.Name), goapp.Span().Class("mono wrap").Text(factText(f.Value))))
	}
	var more goapp.UI
	if p.Unread && p.Chunk > 0 {
		chunk := p.Chunk
		more = view.Div("actions", view.Button("small", text.T("Read the headers of its pages"), func(goapp.Context, goapp.Event) {
			v.Root.s.anatomyChunk = chunk
			v.Root.s.ensure()
		}, chunk))
	}
	return view.Div("detail part-detail", view.Group(
		view.Div("detail-head", goapp.H2().Text(partName(p)), view.Div("detail-tools",
			view.IconButton(view.IconLeft, text.T("Previous part (k)"), func(goapp.Context, goapp.Event) { v.Root.stepAnatomy(-1) }),
			view.IconButton(view.IconRight, text.T("Next part (j)"), func(goapp.Context, goapp.Event) { v.Root.stepAnatomy(1) }),
			goapp.A().Class("icon-button").Href("#"+closed.Fragment()).Title(text.T("Close (Esc)")).Aria("label", text.T("Close")).Body(view.IconClose.UI()))),
		goapp.Dl().Class("facts").Body(facts...), more,
		&hexFile{Root: v.Root, Path: a.File, Size: a.Size, Start: p.Start, End: p.End},
	)...)
}

// entries are the file's own metadata.
func (v *anatomyView) entries(a *api.Anatomy) goapp.UI {
	var out []goapp.UI
	for i := range a.Entries {
		e := &a.Entries[i]
		value := strings.TrimSpace(e.Value)
		body := []goapp.UI{}
		switch {
		case int64(len(e.Value)) == e.Size && strings.HasPrefix(value, "{"):
			body = append(body, goapp.Details().Class("schema").Body(goapp.Summary().Text("JSON, "+model.Bytes(e.Size)), &view.JSONTree{Doc: e.Value, Label: e.Key, Depth: 2}))
		case len(value) > 160:
			body = append(body, goapp.Details().Class("schema").Body(goapp.Summary().Text(text.T("text")+", "+model.Bytes(e.Size)), goapp.Pre().Class("raw wrap").Text(e.Value)))
		default:
			body = append(body, goapp.Span().Class("mono wrap").Text(e.Value))
		}
		if e.What != "" {
			body = append(body, view.Spoken("dim an-what", e.What))
		}
		out = append(out, view.Fact(e.Key, body...))
	}
	return goapp.Section().Class("part").Body(goapp.H3().Text(text.T("Metadata that the writer stored in the file")), goapp.Dl().Class("facts keys-mono").Body(out...))
}
