package app

import (
	"strconv"
	"strings"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/view"
)

// timelineView shows the instants in lanes, as a list, and the metadata of one of them.
type timelineView struct {
	goapp.Compo

	Root *Root
	Rev  int

	width   float64
	seen    model.State
	raw     map[string]bool // files whose raw text is shown
	open    map[string]bool // partitions whose files are shown
	release func()
}

// OnUpdate implements go-app's Updater: an instant that was just chosen is brought into sight.
func (v *timelineView) OnUpdate(ctx goapp.Context) {
	st := v.Root.s.state
	if st.Instant != v.seen.Instant && st.Instant != "" {
		showDetail(ctx, ".detail")
	}
	v.seen = st
}

func (v *timelineView) OnMount(ctx goapp.Context) {
	v.seen = v.Root.s.state
	v.release = watchWidth("gantt", func(w float64) {
		if w != v.width {
			v.width = w
			v.Update()
		}
	})
}

func (v *timelineView) OnDismount() {
	if v.release != nil {
		v.release()
	}
}

// showDetail scrolls to the part that tells about what was just chosen, where the page is
// narrow and the part lies out of sight.
func showDetail(ctx goapp.Context, selector string) {
	ctx.Defer(func(goapp.Context) {
		el := goapp.Window().Get("document").Call("querySelector", selector)
		if !el.Truthy() {
			return
		}
		top := el.Call("getBoundingClientRect").Get("top").Float()
		height := goapp.Window().Get("innerHeight").Float()
		if top < 0 || top > height-120 {
			el.Call("scrollIntoView", map[string]any{"block": "start"})
		}
	})
}

// watchWidth tells the width of an element now and whenever it changes.
func watchWidth(id string, f func(float64)) func() {
	el := goapp.Window().GetElementByID(id)
	if !el.Truthy() {
		return func() {}
	}
	fn := goapp.FuncOf(func(goapp.Value, []goapp.Value) any {
		f(el.Get("clientWidth").Float())
		return nil
	})
	obs := goapp.Window().Get("ResizeObserver").New(fn)
	obs.Call("observe", el)
	return func() {
		obs.Call("disconnect")
		fn.Release()
	}
}

func (v *timelineView) Render() goapp.UI {
	s := v.Root.s
	t := &s.timeline
	body := []goapp.UI{goapp.Div().ID("gantt").Class("gantt").Body(v.gantt()...)}
	if t.val != nil && len(t.val.Active) > 0 {
		body = append(body, view.Div("split", v.list(), v.detail()))
	}
	return view.Div("timeline", body...)
}

func (v *timelineView) gantt() []goapp.UI {
	s := v.Root.s
	t := &s.timeline
	switch {
	case t.fault != nil:
		return []goapp.UI{view.FaultPanel(t.fault, v.Root.bytesLink(t.fault), t.retrier(s))}
	case t.val == nil:
		return []goapp.UI{view.Loading("Reading the timeline", t.slow, t.prog, t.canceller()), view.Div("skeleton", view.Div("bone tall"))}
	case len(t.val.Active) == 0:
		return []goapp.UI{view.Empty(view.IconTimeline, "No instants yet", "The table exists, but nothing has been written to it: the timeline folder holds no instants.")}
	}
	pending := 0
	for _, in := range t.val.Active {
		if in.State != "COMPLETED" {
			pending++
		}
	}
	count := model.Plural(int64(len(t.val.Active)), "instant")
	if pending > 0 {
		count += ", " + strconv.Itoa(pending) + " pending"
	}
	var ignored goapp.UI
	if n := len(t.val.Ignored); n > 0 {
		ignored = goapp.Span().Class("dim").Title(strings.Join(t.val.Ignored, "\n")).Text(model.Plural(int64(n), "name") + " in the folder are no instants")
	}
	axis := func(a model.Axis, label, title string) goapp.UI {
		st := s.state
		st.Axis = string(a)
		link := goapp.A().Class("seg").Href("#" + st.Fragment()).Title(title).Text(label)
		if model.Axis(s.state.Axis) == a {
			link = link.Class("current").Aria("current", true)
		}
		return link
	}
	return view.Group(
		view.Div("toolbar", view.Group(
			view.Span("num", count),
			ignored,
			goapp.Div().Class("segmented").Role("group").Aria("label", "What the time axis orders by").Body(
				axis(model.OnRequested, "Requested", "In order of the instants' requested times, to scale"),
				axis(model.OnCompleted, "Completed", "In order of completion, to scale: how incremental queries of table version 8 and later see it"),
				axis(model.InSteps, "Equal steps", "Every instant the same width"),
			),
		)...),
		view.Findings(t.val.Finding),
		v.plot(t.val.Active),
	)
}

const (
	laneHead = 17.0
	rowPitch = 15.0
	laneGap  = 7.0
	axisH    = 22.0
)

func (v *timelineView) plot(list []api.Instant) goapp.UI {
	width := v.width
	if width == 0 {
		width = 960
	}
	st := v.Root.s.state
	p := model.LayTimeline(list, model.Axis(st.Axis), width-2)
	y := axisH
	var shapes []goapp.UI
	type laneAt struct {
		y float64
		l model.Lane
	}
	var lanes []laneAt
	for _, l := range p.Lanes {
		lanes = append(lanes, laneAt{y, l})
		y += laneHead + float64(l.Rows)*rowPitch + laneGap
	}
	height := y
	for _, t := range p.Ticks {
		shapes = append(shapes,
			view.Svg("line").Attr("data-c", "tick").Attr("x1", view.Px(t.X)).Attr("x2", view.Px(t.X)).Attr("y1", view.Px(axisH-6)).Attr("y2", view.Px(height)),
			view.Svg("text").Attr("data-c", "tick-label").Attr("x", view.Px(t.X+3)).Attr("y", "12").Text(t.Label),
		)
	}
	for i, la := range lanes {
		if i > 0 {
			shapes = append(shapes, view.Svg("line").Attr("data-c", "lane-line").Attr("x1", "0").Attr("x2", view.Px(p.Width)).Attr("y1", view.Px(la.y-laneGap/2+1)).Attr("y2", view.Px(la.y-laneGap/2+1)))
		}
		shapes = append(shapes, view.Svg("text").Attr("data-c", "lane-label").Attr("x", "4").Attr("y", view.Px(la.y+11)).Text(la.l.Action))
		for _, b := range la.l.Bars {
			shapes = append(shapes, v.bar(list[b.Index], b, la.y+laneHead+float64(b.Row)*rowPitch, st))
		}
	}
	svg := view.Svg("svg").Attr("width", view.Px(p.Width)).Attr("height", view.Px(height)).
		Attr("role", "group").Attr("aria-label", "Timeline: "+model.Plural(int64(len(list)), "instant")+". Use j and k to move.").
		Body(shapes...).OnClick(v.pick).On("keydown", v.pickKey)
	return goapp.Div().Class("plot").Body(svg)
}

func (v *timelineView) bar(in api.Instant, b model.Bar, y float64, st model.State) goapp.UI {
	chosen := in.Requested == st.Instant && (st.Action == "" || st.Action == in.Action)
	class := "bar " + view.ActionClass(in.Action)
	if b.Open {
		class += " open"
	}
	if chosen {
		class += " chosen"
	}
	took := ""
	if d, ok := model.Took(in); ok {
		took = ", took " + model.Span(d)
	}
	label := in.Action + " " + in.Requested + ", " + strings.ToLower(in.State) + took
	shapes := []goapp.UI{
		view.Svg("title").Text(label),
		view.Svg("rect").Attr("data-c", "hit").Attr("x", view.Px(b.X-2)).Attr("y", view.Px(y-2)).Attr("width", view.Px(b.W+4)).Attr("height", "14"),
	}
	if b.Open {
		// A pending instant goes on: its end fades out towards now.
		shapes = append(shapes, view.Svg("path").Attr("data-c", "shape").
			Attr("d", "M"+view.Px(b.X)+" "+view.Px(y)+"H"+view.Px(b.X+b.W-7)+"l5 5.5l-5 5.5H"+view.Px(b.X)+"z"))
	} else {
		shapes = append(shapes, view.Svg("rect").Attr("data-c", "shape").Attr("x", view.Px(b.X)).Attr("y", view.Px(y)).Attr("width", view.Px(b.W)).Attr("height", "11").Attr("rx", "2.5"))
	}
	if model.Axis(st.Axis) == model.OnCompleted && !b.Open && b.Anchor > b.X {
		shapes = append(shapes, view.Svg("rect").Attr("data-c", "anchor").Attr("x", view.Px(b.X+b.W-3)).Attr("y", view.Px(y-1.5)).Attr("width", "3").Attr("height", "14"))
	}
	tab := "-1"
	if chosen || (st.Instant == "" && b.Order == 0) {
		tab = "0"
	}
	return view.Svg("g").Attr("data-c", class).Attr("data-i", b.Index).Attr("role", "button").Attr("tabindex", tab).Attr("aria-label", label).Attr("aria-pressed", chosen).Body(shapes...)
}

func (v *timelineView) pick(_ goapp.Context, e goapp.Event) {
	if i, ok := view.Closest(e, "[data-i]", "i"); ok {
		v.choose(i)
	}
}

func (v *timelineView) pickKey(_ goapp.Context, e goapp.Event) {
	if k := e.Get("key").String(); k != "Enter" && k != " " {
		return
	}
	if i, ok := view.Closest(e, "[data-i]", "i"); ok {
		e.PreventDefault()
		v.choose(i)
	}
}

func (v *timelineView) choose(index string) {
	i, err := strconv.Atoi(index)
	t := v.Root.s.timeline.val
	if err != nil || t == nil || i >= len(t.Active) {
		return
	}
	st := v.Root.s.state
	st.Instant, st.Action = t.Active[i].Requested, t.Active[i].Action
	v.Root.navigate(st)
}

// list is every instant as a line, in the order of the axis.
func (v *timelineView) list() goapp.UI {
	s := v.Root.s
	list := s.timeline.val.Active
	order := model.LayTimeline(list, model.Axis(s.state.Axis), 1000).Order
	return goapp.Div().Class("instants").Role("region").Aria("label", "Instants").Body(
		view.Div("instant head", view.Span("", "Requested"), view.Span("", "Action"), view.Span("took", "Took")),
		&view.List{Count: len(order), RowHeight: 30, Class: "instant-rows", Label: "Instants", At: at(order, list, s.state), Row: func(i int) goapp.UI {
			in := list[order[i]]
			st := s.state
			chosen := in.Requested == st.Instant && (st.Action == "" || st.Action == in.Action)
			st.Instant, st.Action = in.Requested, in.Action
			took := ""
			if d, ok := model.Took(in); ok {
				took = model.Span(d)
			}
			class := "instant"
			if chosen {
				class += " chosen"
			}
			end := []goapp.UI{}
			if t := view.StateTag(in.State); t != nil {
				end = append(end, t)
			} else {
				end = append(end, goapp.Text(took))
			}
			return view.Link(class, st,
				goapp.Span().Class("mono").Title(model.Clock(in.Requested)).Text(in.Requested),
				view.Div("what", view.ActionTag(in.Action), view.Span("dim op", opName(in.Operation))),
				goapp.Span().Class("took num").Body(end...),
			)
		}},
	)
}

func opName(op string) string { return strings.ToLower(strings.ReplaceAll(op, "_", " ")) }

func at(order []int, list []api.Instant, st model.State) int {
	for i, idx := range order {
		if list[idx].Requested == st.Instant && (st.Action == "" || st.Action == list[idx].Action) {
			return i
		}
	}
	return -1
}

// detail is the metadata of the selected instant.
func (v *timelineView) detail() goapp.UI {
	s := v.Root.s
	d := &s.instant
	if s.state.Instant == "" {
		return view.Div("detail none", view.Empty(view.IconTimeline, "Choose an instant", "Click a bar or a line, or press j and k. Its metadata opens here: what was written, decoded and raw."))
	}
	switch {
	case d.fault != nil:
		return view.Div("detail", view.FaultPanel(d.fault, nil, d.retrier(s)))
	case d.val == nil:
		return view.Div("detail", view.Loading("Reading the instant", d.slow, d.prog, d.canceller()), view.Div("skeleton", view.Div("bone"), view.Div("bone tall")))
	}
	in := d.val.Instant
	closed := s.state
	closed.Instant, closed.Action = "", ""
	head := view.Div("detail-head",
		goapp.H2().Body(view.ActionTag(in.Action)),
		goapp.Div().Class("detail-tools").Body(
			view.IconButton(view.IconLeft, "Previous instant ([)", func(goapp.Context, goapp.Event) { v.Root.step(-1) }),
			view.IconButton(view.IconRight, "Next instant (])", func(goapp.Context, goapp.Event) { v.Root.step(1) }),
			goapp.A().Class("icon-button").Href("#"+closed.Fragment()).Title("Close (Esc)").Aria("label", "Close").Body(view.IconClose.UI()),
		),
	)
	took := ""
	if t, ok := model.Took(in); ok {
		took = model.Span(t)
	}
	completed := view.Fact("Completed", view.Badge("warn", strings.ToLower(in.State)))
	if in.Completed != "" {
		c := []goapp.UI{view.Mono(in.Completed)}
		if in.CompletedFrom == "mtime" {
			c = append(c, goapp.Span().Class("from").Title("This timeline layout stores no completion time; the file's modification time stands in for it and is lost when the file is copied").Text("from the file's time"))
		}
		completed = view.Fact("Completed", c...)
	} else if in.State == "COMPLETED" {
		completed = view.FactText("Completed", "yes; when is not recorded")
	}
	parts := []goapp.UI{head, view.Facts("",
		view.Fact("Requested", view.Mono(in.Requested), view.Span("dim", model.Clock(in.Requested))),
		completed,
		view.FactText("Took", took),
		view.FactText("Operation", opName(in.Operation)),
	)}
	if in.State == "COMPLETED" {
		rows, files := s.state.Go(model.Rows), s.state.Go(model.Files)
		rows.AsOf, files.AsOf = in.Requested, in.Requested
		rows.FileID, rows.OnlyPartition = "", false
		parts = append(parts, view.Div("actions",
			view.Link("button small", rows, goapp.Text("Rows as of this instant")),
			view.Link("button small", files, goapp.Text("Files as of this instant"))))
	}
	if sum := d.val.Summary; sum != nil {
		parts = append(parts, v.summary(sum))
	}
	for i := range d.val.Parts {
		parts = append(parts, v.part(&d.val.Parts[i], len(d.val.Parts)))
	}
	return goapp.Div().Class("detail").Body(parts...)
}

func (v *timelineView) summary(sum *api.CommitSummary) goapp.UI {
	tile := func(name, value string, n int64) goapp.UI {
		class := "tile"
		if n == 0 {
			class += " zero"
		}
		return view.Div(class, view.Span("tile-value num", value), view.Span("tile-name", name))
	}
	tiles := []goapp.UI{
		tile("inserted", model.Count(sum.Inserts), sum.Inserts),
		tile("updated", model.Count(sum.Updates), sum.Updates),
		tile("deleted", model.Count(sum.Deletes), sum.Deletes),
		tile("written", model.Bytes(sum.Bytes), sum.Bytes),
	}
	if sum.Replaced > 0 {
		tiles = append(tiles, tile("groups replaced", model.Count(int64(sum.Replaced)), 1))
	}
	if sum.Errors > 0 {
		tiles = append(tiles, tile("errors", model.Count(sum.Errors), sum.Errors))
	}
	body := []goapp.UI{view.Div("tiles", tiles...)}
	if len(sum.Partitions) > 0 {
		rows := []goapp.UI{}
		for i := range sum.Partitions {
			p := &sum.Partitions[i]
			name := p.Partition
			key := "p" + name
			open := v.open[key]
			rows = append(rows, goapp.Tr().Class("group").Body(
				goapp.Th().Scope("row").Body(goapp.Button().Type("button").Class("twist").Aria("expanded", open).Body(
					view.Span("tree-mark "+mark(open), ""), goapp.Text(partitionName(name))).OnClick(func(goapp.Context, goapp.Event) { v.toggle(key) }, key)),
				num(p.Inserts), num(p.Updates), num(p.Deletes), goapp.Td().Class("num dim").Text(model.Plural(int64(len(p.Files)), "file")),
			))
			if open {
				for _, f := range p.Files {
					prev := ""
					if f.PrevCommit != "" && f.PrevCommit != "null" {
						prev = " after " + f.PrevCommit
					}
					rows = append(rows, goapp.Tr().Body(
						goapp.Th().Scope("row").Class("file-cell").Body(goapp.Span().Class("mono").Title(f.Path+prev).Text(model.BaseName(f.Path))),
						num(f.Inserts), num(f.Updates), num(f.Deletes), goapp.Td().Class("num dim").Text(model.Bytes(f.Bytes)),
					))
				}
			}
		}
		body = append(body, view.Div("table-wrap", goapp.Table().Class("stats").Body(
			goapp.THead().Body(goapp.Tr().Body(
				goapp.Th().Scope("col").Text("Partition"), goapp.Th().Scope("col").Class("num").Text("Inserts"), goapp.Th().Scope("col").Class("num").Text("Updates"),
				goapp.Th().Scope("col").Class("num").Text("Deletes"), goapp.Th().Scope("col").Class("num").Text("Written"))),
			goapp.TBody().Body(rows...),
		)))
	}
	return view.Div("summary", body...)
}

func mark(open bool) string {
	if open {
		return "open"
	}
	return "closed"
}

func partitionName(p string) string {
	if p == "" {
		return "(not partitioned)"
	}
	return p
}

func num(n int64) goapp.UI {
	class := "num"
	if n == 0 {
		class += " zero"
	}
	return goapp.Td().Class(class).Text(model.Count(n))
}

func (v *timelineView) toggle(key string) {
	if v.open == nil {
		v.open = map[string]bool{}
	}
	v.open[key] = !v.open[key]
}

// part is one file of the instant: decoded as a tree, or as it is stored.
func (v *timelineView) part(p *api.InstantDecode, of int) goapp.UI {
	raw := v.raw[p.File]
	encoding := p.Encoding
	if p.Schema != "" {
		encoding += " · " + p.Schema
	}
	tools := []goapp.UI{}
	if len(p.Decoded) > 0 && p.Raw != "" {
		label := "Raw"
		if raw {
			label = "Decoded"
		}
		file := p.File
		tools = append(tools, view.Button("small", label, func(goapp.Context, goapp.Event) {
			if v.raw == nil {
				v.raw = map[string]bool{}
			}
			v.raw[file] = !v.raw[file]
		}, file))
	}
	if len(p.Decoded) > 0 {
		tools = append(tools, &view.CopyButton{Label: "Copy as JSON", Text: string(p.Decoded)})
	}
	body := []goapp.UI{view.Div("part-head",
		goapp.Div().Class("part-name").Body(goapp.Span().Class("mono").Title(p.Path).Text(p.File), view.Span("dim", encoding+" · "+model.Bytes(p.Size))),
		view.Div("detail-tools", tools...),
	)}
	switch {
	case p.Fault != nil:
		body = append(body, view.FaultPanel(p.Fault, nil, nil), &hexFile{Root: v.Root, Path: p.Path, Size: p.Size})
	case p.Encoding == "empty" || p.Size == 0:
		body = append(body, goapp.P().Class("dim").Text("The file is empty: its name alone tells the state."))
	case raw:
		body = append(body, goapp.Pre().Class("raw").Text(p.Raw))
	case len(p.Decoded) > 0:
		body = append(body, &view.JSONTree{Doc: string(p.Decoded), Label: p.File, Depth: 1})
		if p.Raw == "" {
			body = append(body, goapp.Details().Class("how").Body(goapp.Summary().Text("Bytes of the file"), &hexFile{Root: v.Root, Path: p.Path, Size: p.Size}))
		}
	default:
		body = append(body, &hexFile{Root: v.Root, Path: p.Path, Size: p.Size})
	}
	return goapp.Section().Class("part").Body(body...)
}
