package app

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// timelineView shows the instants in lanes, as a list, and the metadata of one of them.
type timelineView struct {
	goapp.Compo

	Root *Root
	Rev  int

	ctx     goapp.Context
	width   float64
	seen    model.State
	raw     map[string]bool // files whose raw text is shown
	open    map[string]bool // partitions whose files are shown
	release func()

	extent    model.Extent // the part of the axis that is seen
	zoomed    string       // that part as the address has it
	zoomRest  *time.Timer
	laid      laid    // as drawn last
	hits      []hit   // where the bars and bins are
	hover     int     // index of the instant under the pointer, plus one
	over      *hit    // the bin under the pointer
	search    string  // what is looked for among the instants
	miss      string  // says that nothing was found, or something else
	mouse     float64 // where the pointer is on the plot, as a share of its width
	dragged   bool    // a drag ended just now: its click chooses nothing
	frame     frame
	plotEl    goapp.Value
	listeners []func()
	// nextFrom and nextTo are the instants whose numbers are asked for once the part shown rests.
	nextFrom, nextTo string

	drawing *plotBody
	rev     int

	// counted is how many instants a search finds, noted what the axis of completion times can't show: both look at
	// every instant.
	counted struct {
		list   *model.Instants
		search string
		n      int
	}
	noted struct {
		list *model.Instants
		note string
	}
	gaps struct {
		list     *model.Instants
		n, first int
	}
}

// plotBody draws the plot of a timelineView and the overview below it. It is a component of its own, so that zooming,
// panning and pointing draw nothing else.
type plotBody struct {
	goapp.Compo

	View *timelineView
	// Rev changes whenever the view is drawn.
	Rev int

	ctx goapp.Context
}

// OnMount implements go-app's Mounter.
func (b *plotBody) OnMount(ctx goapp.Context) { b.ctx = ctx }

// Render implements go-app's Composer.
func (b *plotBody) Render() goapp.UI {
	v := b.View
	v.drawing = b
	if v.width == 0 {
		// How wide the plot is becomes known once the page is laid out.
		return view.Div("plot-box", view.Div("bone tall"))
	}
	return view.Div("plot-box", view.Group(v.plot(v.Root.s.instants()), v.overview())...)
}

// laid is a plot with what it was made of.
type laid struct {
	chart  *model.Chart
	width  float64
	extent model.Extent
	plot   model.Plot
}

// OnUpdate implements go-app's Updater: an instant that was just chosen is brought into sight.
func (v *timelineView) OnUpdate(ctx goapp.Context) {
	v.ctx = ctx
	st := v.Root.s.state
	if st.Table != v.seen.Table || st.Axis != v.seen.Axis {
		v.hover, v.over = 0, nil
	}
	if st.Zoom != v.zoomed {
		v.zoomed, v.extent = st.Zoom, model.ParseExtent(st.Zoom)
		v.redraw()
	}
	if st.Instant != v.seen.Instant && st.Instant != "" {
		v.reveal(st)
		showDetail(ctx, ".detail")
	}
	v.seen = st
}

func (v *timelineView) OnMount(ctx goapp.Context) {
	v.ctx = ctx
	v.seen = v.Root.s.state
	v.zoomed, v.extent = v.seen.Zoom, model.ParseExtent(v.seen.Zoom)
	v.Root.zoomer = v.zoomKey
	ctx.Defer(func(goapp.Context) { v.attach() })
	v.release = watchWidth("gantt", func(w float64) {
		if w != v.width {
			v.width = w
			v.Update()
		}
	})
}

func (v *timelineView) OnDismount() {
	if v.zoomRest != nil {
		v.zoomRest.Stop()
	}
	v.Root.zoomer = nil
	v.detach()
	if v.release != nil {
		v.release()
	}
}

// reveal moves the part shown to the chosen instant, when it lies outside.
func (v *timelineView) reveal(st model.State) {
	if !v.extent.Zoomed() {
		return
	}
	i := v.Root.s.instants().Find(st.Instant, st.Action)
	if i < 0 {
		return
	}
	if f := v.Root.s.chart(model.Axis(st.Axis)).Fraction(i); f < v.extent.A || f > v.extent.B {
		v.show(v.extent.MoveTo(f))
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
		w := el.Get("clientWidth").Float()
		// What it makes the view draw is no part of the task that lays out the page.
		time.AfterFunc(time.Millisecond, func() { f(w) })
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
	if v.extent == (model.Extent{}) {
		v.extent = model.Whole
	}
	body := []goapp.UI{goapp.Div().ID("gantt").Class("gantt").Body(v.gantt()...)}
	if s.instants().Len() > 0 {
		body = append(body, &view.Later{Class: "split", Draw: func() []goapp.UI { return []goapp.UI{v.list(), v.detail()} }})
	}
	return view.Div("timeline", body...)
}

func (v *timelineView) gantt() []goapp.UI {
	s := v.Root.s
	t := &s.timeline
	all := s.instants()
	switch {
	case t.fault != nil:
		return []goapp.UI{view.FaultPanel(t.fault, v.Root.bytesLink(t.fault), t.retrier(s))}
	case t.val == nil:
		return []goapp.UI{view.Loading(text.T("Reading the timeline"), t.slow, t.prog, t.canceller()), view.Div("skeleton", view.Div("bone tall"))}
	case all.Len() == 0 && !s.askArchive:
		return []goapp.UI{view.Empty(view.IconTimeline, text.T("No instants yet"), text.T("The table exists, but nothing has been written to it: the timeline folder holds no instants."),
			view.Button("", text.T("Look into the archive"), func(goapp.Context, goapp.Event) { v.showArchive() }))}
	}
	count := model.Plural(int64(t.val.Total), "instant")
	if pending := t.val.pending(); pending > 0 {
		count = text.F("%s, %s pending", count, model.Count(int64(pending)))
	}
	if all.Archived > 0 {
		count = text.F("%s, and %s archived", count, model.Count(int64(all.Archived)))
	}
	var ignored goapp.UI
	if n := len(t.val.Ignored); n > 0 {
		ignored = goapp.Span().Class("dim").Title(strings.Join(t.val.Ignored, "\n")).Text(text.F("%s in the folder are no instants", model.Plural(int64(n), "name")))
	}
	axis := func(a model.Axis, label, title string) goapp.UI {
		st := s.state
		st.Axis, st.Zoom = string(a), "" // the parts of one axis are others of the next
		link := goapp.A().Class("seg").Href("#" + st.Fragment()).Title(title).Text(label)
		if model.Axis(s.state.Axis) == a {
			link = link.Class("current").Aria("current", true)
		}
		return link
	}
	var long goapp.UI
	if s.older.fault != nil {
		long = view.FaultPanel(s.older.fault, nil, s.older.retrier(s))
	} else if s.older.busy {
		long = view.Loading(text.T("Reading all instants"), s.older.slow, s.older.prog, s.older.canceller())
	}
	return view.Group(
		view.Div("toolbar", view.Group(
			view.Span("num", count),
			ignored,
			v.archiveButton(),
			v.activitySwitch(),
			v.searchBox(all),
			v.zoomButtons(),
			goapp.Div().Class("segmented").Role("group").Aria("label", text.T("What the time axis orders by")).Body(
				axis(model.OnRequested, text.T("Requested"), text.T("In order of the instants' requested times, to scale")),
				axis(model.OnCompleted, text.T("Completed"), text.T("In order of completion, to scale: how incremental queries of table version 8 and later see it")),
				axis(model.InSteps, text.T("Equal steps"), text.T("Every instant the same width")),
			),
		)...),
		v.completionNote(all),
		v.gapNote(all),
		view.Findings(t.val.Finding),
		v.archiveNote(),
		long,
		v.drawn(),
		v.activityTable(),
	)
}

// drawn is the plot as a part of the view.
func (v *timelineView) drawn() goapp.UI {
	v.rev++
	rev := v.rev
	return &view.Later{Class: "plot-later", Draw: func() []goapp.UI { return []goapp.UI{&plotBody{View: v, Rev: rev}} }}
}

// show shows another part of the axis.
func (v *timelineView) show(e model.Extent) {
	zoomed := v.extent.Zoomed()
	v.extent = e
	v.noteZoom()
	if e.Zoomed() != zoomed {
		v.Update() // the buttons are others
		return
	}
	v.redraw()
}

// noteZoom puts the part shown into the address once it rests.
func (v *timelineView) noteZoom() {
	if v.zoomRest != nil {
		v.zoomRest.Stop()
	}
	v.zoomRest = time.AfterFunc(300*time.Millisecond, func() {
		r := v.Root
		r.s.dispatch(func() {
			st := r.s.state
			if said := v.extent.String(); v.Mounted() && st.View == model.Timeline && said != st.Zoom {
				v.zoomed, st.Zoom = said, said
				r.remember(r.ctx, st)
			}
		})
	})
}

// completionNote says what the axis of completion times can't show.
func (v *timelineView) completionNote(all *model.Instants) goapp.UI {
	if model.Axis(v.Root.s.state.Axis) != model.OnCompleted {
		return nil
	}
	if v.noted.list != all {
		v.noted.list, v.noted.note = all, model.CompletionNote(all)
	}
	if said := v.noted.note; said != "" {
		return goapp.P().ID("completion-note").Class("dim").Text(said)
	}
	return nil
}

// gapNote says how many instants have gaps in their states, and leads to the first.
func (v *timelineView) gapNote(all *model.Instants) goapp.UI {
	if v.gaps.list != all {
		v.gaps.list = all
		v.gaps.n, v.gaps.first = all.Gaps()
	}
	if v.gaps.n == 0 || v.gaps.first >= all.Len() {
		return nil
	}
	st := v.Root.s.state
	st.Instant, st.Action = all.Requested(v.gaps.first), all.Action(v.gaps.first)
	return goapp.P().ID("gap-note").Class("dim").Body(view.Span("gap-mark", "!"), goapp.Text(" "+text.F("%s with a gap in its states, marked so. The first:", model.Plural(int64(v.gaps.n), "instant"))+" "),
		view.Link("link mono", st, goapp.Text(st.Instant)), goapp.Text(" "+text.T(all.Gap(v.gaps.first))))
}

// searchBox looks for instants by time, action and state.
func (v *timelineView) searchBox(all *model.Instants) goapp.UI {
	note := v.miss
	if q := model.ParseSearch(v.search); note == "" && !q.Empty() {
		if v.counted.list != all || v.counted.search != v.search {
			v.counted.list, v.counted.search, v.counted.n = all, v.search, all.Count(q)
		}
		note = text.F("%s found", model.Count(int64(v.counted.n)))
	}
	return searchBox(text.T("Time, action or state"), text.T("Find instants by time, action or state"), text.T("Such as 2026-05-01 12:30, rollback or pending. Enter shows the next one, Shift Enter the one before"), v.search, note,
		func(s string) { v.search, v.miss = s, "" }, v.find)
}

// find goes to the next instant that the search finds, or the one before. Of a time that no instant
// has, it is the first one after.
func (v *timelineView) find(by int) {
	s := v.Root.s
	all, q := s.instants(), model.ParseSearch(v.search)
	v.miss = ""
	if q.Empty() {
		return
	}
	chart, place := s.chart(model.Axis(s.state.Axis)), -1
	if i := all.Find(s.state.Instant, s.state.Action); i >= 0 {
		place = chart.Place[i]
	}
	if at := all.Next(q, chart.Order, place, by); at >= 0 {
		v.Root.chooseInstant(chart.Order[at])
		return
	}
	v.miss = text.T("none found")
	if s.unread() > 0 {
		v.miss = text.T("none among those read so far")
		return
	}
	if i := all.Nearest(q.Time); q.TimeOnly() && i >= 0 {
		v.miss = text.T("none at that time; this is the next")
		v.Root.chooseInstant(i)
	}
}

// archiveButton asks for archived instants, page by page.
func (v *timelineView) archiveButton() goapp.UI {
	s := v.Root.s
	a := &s.archived
	switch {
	case s.unread() > 0:
		return nil // first all instants that are not archived
	case a.busy:
		return view.Span("dim", text.T("reading the archive…"))
	case a.fault != nil:
		return view.Button("small", text.T("Try the archive again"), a.retrier(s))
	case a.val == nil:
		return view.Button("small", text.T("Archived instants"), func(goapp.Context, goapp.Event) { v.showArchive() })
	case len(s.archive) == 0:
		return view.Span("dim", text.T("no archived instants"))
	}
	hide := view.Button("small", text.T("Hide archived instants"), func(goapp.Context, goapp.Event) { s.hideArchive() })
	if a.val.ArchivedMore {
		return view.Div("actions", view.Button("small", text.T("Earlier archived instants"), func(goapp.Context, goapp.Event) { s.earlier() }), hide)
	}
	return hide
}

// showArchive shows archived instants, too: the newest of them at first.
func (v *timelineView) showArchive() {
	st := v.Root.s.state
	st.Archived, st.Zoom = true, ""
	v.Root.navigate(st)
}

func (v *timelineView) archiveNote() goapp.UI {
	a := &v.Root.s.archived
	if a.fault != nil {
		return view.FaultPanel(a.fault, nil, nil)
	}
	if a.val == nil || a.val.ArchivedNote == "" {
		return nil
	}
	return view.Findings([]api.Finding{{Level: "note", Title: text.T("Archived timeline."), Detail: a.val.ArchivedNote}})
}

func (v *timelineView) zoomButtons() goapp.UI {
	b := func(icon view.Icon, label, key string) goapp.UI {
		return view.IconButton(icon, label, func(goapp.Context, goapp.Event) { v.zoomKey(key) })
	}
	tools := []goapp.UI{b(iconOut, text.T("Zoom out (s)"), "s"), b(iconIn, text.T("Zoom in (w)"), "w")}
	if v.extent.Zoomed() {
		tools = append([]goapp.UI{view.Button("small", text.T("Whole timeline"), func(goapp.Context, goapp.Event) { v.show(model.Whole) })}, tools...)
	}
	return goapp.Div().Class("zoom").Role("group").Aria("label", text.T("Zoom")).Body(tools...)
}

const (
	iconIn  view.Icon = `<circle cx="9" cy="9" r="5.500"/><path d="M13 13l4 4M9 6.800v4.400M6.800 9h4.400"/>`
	iconOut view.Icon = `<circle cx="9" cy="9" r="5.500"/><path d="M13 13l4 4M6.800 9h4.400"/>`
)

// zoomKey handles w, a, s and d.
func (v *timelineView) zoomKey(key string) bool {
	mid := 0.5
	if v.mouse > 0 && v.mouse < 1 {
		mid = v.mouse
	}
	switch key {
	case "w":
		v.show(v.extent.Zoom(0.7, mid))
	case "s":
		v.show(v.extent.Zoom(1/0.7, mid))
	case "a":
		v.show(v.extent.Pan(-0.15))
	case "d":
		v.show(v.extent.Pan(0.15))
	default:
		return false
	}
	return true
}

// attach listens to the plot: the wheel zooms with Ctrl and pans sideways, dragging pans.
func (v *timelineView) attach() {
	el := goapp.Window().GetElementByID("timeline-plot")
	if !el.Truthy() || v.plotEl != nil && v.plotEl.Equal(el) {
		return
	}
	v.detach()
	v.plotEl = el
	share := func(e goapp.Value) float64 {
		r := el.Call("getBoundingClientRect")
		w := r.Get("width").Float()
		if w <= 0 {
			return 0.5
		}
		return min(max((e.Get("clientX").Float()-r.Get("left").Float())/w, 0), 1)
	}
	drag := false
	var last, moved float64
	v.listeners = append(v.listeners,
		view.Listen(el, "wheel", false, func(e goapp.Value) {
			dx, dy := e.Get("deltaX").Float(), e.Get("deltaY").Float()
			switch {
			case e.Get("ctrlKey").Truthy() || e.Get("metaKey").Truthy():
				e.Call("preventDefault")
				v.show(v.extent.Zoom(math.Exp(min(max(dy, -60), 60)*0.006), share(e)))
			case v.extent.Zoomed() && (math.Abs(dx) > math.Abs(dy) || e.Get("shiftKey").Truthy()):
				e.Call("preventDefault")
				if dx == 0 {
					dx = dy
				}
				v.show(v.extent.Pan(dx / max(200, v.width)))
			}
		}),
		view.Listen(el, "pointerdown", true, func(e goapp.Value) {
			if e.Get("button").Int() == 0 && e.Get("pointerType").String() != "touch" {
				drag, last, moved = true, share(e), 0
			}
		}),
		view.Listen(el, "pointermove", true, func(e goapp.Value) {
			at := share(e)
			v.mouse = at
			if !drag || !v.extent.Zoomed() || e.Get("buttons").Int() == 0 {
				return
			}
			moved += math.Abs(at - last)
			v.show(v.extent.Pan(last - at))
			last = at
		}),
		view.Listen(el, "pointerleave", true, func(goapp.Value) { drag, v.mouse = false, 0 }),
		view.Listen(el, "pointerup", true, func(goapp.Value) { drag = false; v.dragged = moved > 0.01 }),
		view.Listen(el, "dblclick", true, func(e goapp.Value) { v.show(v.extent.Zoom(0.4, share(e))) }),
		view.Listen(el, "mousemove", true, func(e goapp.Value) {
			if e.Get("buttons").Int() == 0 {
				v.hoverAt(v.hitAt(e))
			}
		}),
		view.Listen(el, "mouseleave", true, func(goapp.Value) { v.hoverAt(nil) }),
	)
}

// hoverAt notes what is under the pointer: the relations of an instant are drawn, and what a bin
// counts is said.
func (v *timelineView) hoverAt(h *hit) {
	hover, over := 0, (*hit)(nil)
	if h != nil && h.bin == nil {
		hover = h.index + 1
	} else if h != nil {
		over = h
	}
	if hover != v.hover || (over == nil) != (v.over == nil) || over != nil && over.bin != v.over.bin {
		v.hover, v.over = hover, over
		v.redraw()
	}
}

// redraw draws the plot once per frame, however many events come.
func (v *timelineView) redraw() {
	if b := v.drawing; b != nil && b.ctx != nil && b.Mounted() {
		v.frame.redraw(b.ctx, b)
	}
}

func (v *timelineView) detach() {
	for _, f := range v.listeners {
		f()
	}
	v.listeners, v.plotEl = nil, nil
}

const (
	laneHead = 17.0
	rowPitch = 15.0
	laneGap  = 7.0
	axisH    = 22.0
)

func (v *timelineView) plot(list *model.Instants) goapp.UI {
	s, width := v.Root.s, v.width
	st := s.state
	axis := model.Axis(st.Axis)
	chart, archived := s.chart(axis), list.Archived
	if l := &v.laid; l.chart != chart || l.width != width || l.extent != v.extent {
		*l = laid{chart, width, v.extent, chart.Lay(width-2, v.extent)}
		v.over = nil
	}
	p, chosen := &v.laid.plot, list.Find(st.Instant, st.Action)
	v.hits = v.hits[:0]
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
	v.followActivity()
	drawn, y := v.activity(list, chart, p, y)
	height := max(y, 80)
	if archived > 0 && archived < list.Len() && axis != model.OnCompleted {
		if x := min(p.XOf(chart.Fraction(archived)), p.Width); x > 1 {
			shapes = append(shapes,
				view.Svg("rect").Attr("data-c", "archive").Attr("x", "0").Attr("y", "0").Attr("width", view.Px(x-2)).Attr("height", view.Px(height)),
				view.Svg("text").Attr("data-c", "archive-label").Attr("x", view.Px(x-7)).Attr("y", view.Px(height-6)).Attr("text-anchor", "end").Text(text.T("archived")))
		}
	}
	for _, t := range p.Ticks {
		shapes = append(shapes,
			view.Svg("line").Attr("data-c", "tick").Attr("x1", view.Px(t.X)).Attr("x2", view.Px(t.X)).Attr("y1", view.Px(axisH-6)).Attr("y2", view.Px(height)),
			view.Svg("text").Attr("data-c", "tick-label").Attr("x", view.Px(t.LabelX)).Attr("y", "12").Text(t.Label),
		)
	}
	shapes = append(shapes, drawn...)
	related, wanted := v.related(v.hovered(list)), map[string][]point{}
	related = related[:min(len(related), maxArcs)]
	ghosts := map[string]api.Relation{}
	for _, x := range related {
		wanted[x.From], wanted[x.To] = nil, nil
		if (x.Kind == api.RelRollsBack || x.Kind == api.RelRestores) && v.undone(x.To) {
			ghosts[x.To] = x
		}
	}
	var included []goapp.UI // bars drawn over what is later than the time cursor
	var marks []goapp.UI
	for i, la := range lanes {
		if i > 0 {
			shapes = append(shapes, view.Svg("line").Attr("data-c", "lane-line").Attr("x1", "0").Attr("x2", view.Px(p.Width)).Attr("y1", view.Px(la.y-laneGap/2+1)).Attr("y2", view.Px(la.y-laneGap/2+1)))
		}
		shapes = append(shapes, view.Svg("text").Attr("data-c", "lane-label").Attr("x", "4").Attr("y", view.Px(la.y+11)).Text(la.l.Action))
		shapes = append(shapes, v.bins(&la.l, la.y+laneHead)...)
		dense := map[string]*strings.Builder{}
		var gaps strings.Builder
		for _, b := range la.l.Bars {
			top := la.y + laneHead + float64(b.Row)*rowPitch
			v.hits = append(v.hits, hit{b.X - 2, b.X + b.W + 2, top - 2, top + 12, b.Index, nil})
			if p.Inside > fewBars && b.Index != chosen {
				class := ""
				if b.Open {
					class += " open"
				}
				if b.Index < archived {
					class += " archived"
				}
				if st.AsOf != "" && list.Requested(b.Index) > st.AsOf {
					class += " later"
				}
				d := dense[class]
				if d == nil {
					d = &strings.Builder{}
					dense[class] = d
				}
				d.WriteString("M" + view.Px(b.X) + " " + view.Px(top) + "h" + view.Px(b.W) + "v11h-" + view.Px(b.W) + "z")
			} else if drawn := v.bar(list.At(b.Index), b, top, st, b.Index < archived); st.AsOf != "" && list.Requested(b.Index) <= st.AsOf {
				included = append(included, drawn)
			} else {
				shapes = append(shapes, drawn)
			}
			if list.Gap(b.Index) != "" {
				gaps.WriteString("M" + view.Px(b.X-1) + " " + view.Px(top-4) + "h10l-5 8z")
			}
			if at, ok := wanted[list.Requested(b.Index)]; ok {
				wanted[list.Requested(b.Index)] = append(at, point{la.l.Action, b.X + min(b.W, 60)/2, top + 5.5})
			}
		}
		if gaps.Len() > 0 {
			marks = append(marks, view.Svg("path").Attr("data-c", "gap").Attr("d", gaps.String()))
		}
		for _, class := range []string{"", " open", " archived", " open archived", " later", " open later", " archived later", " open archived later"} {
			if d := dense[class]; d != nil {
				to := &included
				if st.AsOf == "" || strings.HasSuffix(class, " later") {
					to = &shapes
				}
				*to = append(*to, view.Svg("g").Attr("data-c", "bar many "+view.ActionClass(la.l.Action)+class).Body(view.Svg("path").Attr("data-c", "shape").Attr("d", d.String())))
			}
		}
	}
	for i, la := range lanes {
		for _, x := range related {
			if ghosts[x.To] != x {
				continue
			}
			// In the lane of its action, which the relation's note tells; else in the first lane.
			if la.l.Action == x.Note || i == 0 && !slices.ContainsFunc(lanes, func(l laneAt) bool { return l.l.Action == x.Note }) {
				if shape, to, ok := v.ghost(&la.l, chart, p, la.y+laneHead, x); ok {
					shapes = append(shapes, shape)
					wanted[x.To] = append(wanted[x.To], to)
				}
			}
		}
	}
	later, line := v.cursorLine(list, chart, p, axis, height)
	shapes = append(shapes, view.Group(later)...)
	shapes = append(shapes, included...)
	shapes = append(shapes, marks...)
	shapes = append(shapes, v.relations(related, wanted, height)...)
	shapes = append(shapes, line...)
	svg := view.Svg("svg").Attr("width", view.Px(p.Width)).Attr("height", view.Px(height)).
		Attr("role", "group").Attr("aria-label", text.F("Timeline: %s. Use j and k to move, w and s to zoom.", model.Plural(int64(list.Len()), "instant"))).
		Body(shapes...).OnClick(v.pick).On("keydown", v.pickKey)
	class := "plot"
	if v.extent.Zoomed() {
		class += " zoomed"
	}
	if v.ctx != nil {
		v.ctx.Defer(func(goapp.Context) { v.attach() })
	}
	body := []goapp.UI{svg}
	if p.Inside == 0 {
		body = append(body, goapp.P().Class("plot-empty dim").Text(text.T("No instants in this part of the time.")))
	}
	return goapp.Div().ID("timeline-plot").Class(class).Body(body...)
}

// cursorLine marks the instant of the time cursor, and what is later than it: later lies over what is not seen as of
// then, nil for nothing.
func (v *timelineView) cursorLine(list *model.Instants, chart *model.Chart, p *model.Plot, axis model.Axis, height float64) (later goapp.UI, line []goapp.UI) {
	s := v.Root.s
	if s.state.AsOf == "" || s.stops().Len() == 0 {
		return nil, nil
	}
	place := s.stops().Place(s.state.AsOf)
	i := s.stops().Index(place)
	if i < 0 || list.Requested(i) > s.state.AsOf {
		return nil, nil
	}
	at := p.XOf(chart.Fraction(i))
	if axis == model.InSteps {
		// The line stands behind the instant, before the next one.
		if next := s.stops().Index(place + 1); next >= 0 {
			at = (at + p.XOf(chart.Fraction(next))) / 2
		} else {
			at = p.Width
		}
	}
	if at < -1 || at > p.Width+1 {
		if at > p.Width || axis == model.OnCompleted {
			return nil, nil
		}
		at = 0
	}
	if axis != model.OnCompleted && at < p.Width {
		// Time travel goes by requested times: on the axis of completion times both lie on both sides.
		later = view.Svg("rect").Attr("data-c", "cursor-later").Attr("x", view.Px(at)).Attr("y", view.Px(axisH-6)).Attr("width", view.Px(p.Width-at)).Attr("height", view.Px(height))
	}
	label, anchor := at+5, "start"
	if at > p.Width-60 {
		label, anchor = at-5, "end"
	}
	return later, append(line,
		view.Svg("line").Attr("data-c", "cursor-line").Attr("x1", view.Px(at)).Attr("x2", view.Px(at)).Attr("y1", view.Px(axisH-8)).Attr("y2", view.Px(height)),
		view.Svg("text").Attr("data-c", "cursor-text").Attr("x", view.Px(label)).Attr("y", view.Px(height-4)).Attr("text-anchor", anchor).Text(text.T("as of")))
}

// fewBars is how many bars are drawn as elements of their own, for the keyboard to reach. More
// are drawn as one shape per lane, as every element costs time, and found by where they are.
const fewBars = 80

// hit is where a bar was drawn, or a bin.
type hit struct {
	x0, x1, y0, y1 float64
	index          int
	bin            *model.Bin
}

// hitAt is what is drawn under the pointer of an event, nil for nothing.
func (v *timelineView) hitAt(e goapp.Value) *hit {
	if v.plotEl == nil || !v.plotEl.Truthy() {
		return nil
	}
	svg := v.plotEl.Call("querySelector", "svg")
	if !svg.Truthy() {
		return nil
	}
	r := svg.Call("getBoundingClientRect")
	x, y := e.Get("clientX").Float()-r.Get("left").Float(), e.Get("clientY").Float()-r.Get("top").Float()
	for _, h := range v.hits {
		if x >= h.x0 && x <= h.x1 && y >= h.y0 && y <= h.y1 {
			return &h
		}
	}
	return nil
}

// bins draws the columns of a lane that stand for many instants: as one shape, and one for those with
// pending instants, as thousands of elements would take the browser long.
func (v *timelineView) bins(l *model.Lane, y float64) []goapp.UI {
	const most = 2*rowPitch - 4
	var full, pend strings.Builder
	said := text.F("%s at most in a column. Click one to zoom in.", model.Count(int64(l.Most)))
	for n := range l.Bins {
		b := &l.Bins[n]
		h := max(3, most*math.Log1p(float64(b.Count))/math.Log1p(float64(l.Most)))
		v.hits = append(v.hits, hit{b.X, b.X + b.W, y + most - max(h, 14), y + most + 1, -1, b})
		to := &full
		if b.Pending > 0 {
			to = &pend
		}
		w := view.Px(max(1, b.W-1))
		to.WriteString("M" + view.Px(b.X) + " " + view.Px(y+most-h) + "h" + w + "v" + view.Px(h) + "h-" + w + "z")
		if v.over != nil && v.over.bin == b {
			said = model.Plural(int64(b.Count), l.Action)
			if b.Pending > 0 {
				said += text.F(", %s pending", model.Count(int64(b.Pending)))
			}
			said += text.T(". Click to zoom in.")
		}
	}
	var out []goapp.UI
	for _, part := range [...]struct{ class, d string }{{"bin ", full.String()}, {"bin pend ", pend.String()}} {
		if part.d != "" {
			out = append(out, view.Svg("g").Attr("data-c", part.class+view.ActionClass(l.Action)).Body(
				view.Svg("title").Text(said), view.Svg("path").Attr("data-c", "shape").Attr("d", part.d)))
		}
	}
	return out
}

// ghost draws an instant that was undone and is gone from the timeline at its own time, as an outline.
func (v *timelineView) ghost(l *model.Lane, chart *model.Chart, p *model.Plot, y float64, x api.Relation) (goapp.UI, point, bool) {
	f := chart.FractionOf(x.To)
	if math.IsNaN(f) {
		return nil, point{}, false
	}
	if model.Axis(v.Root.s.state.Axis) == model.InSteps {
		f += 0.5 / float64(max(1, v.Root.s.instants().Len())) // between the instants before and after it
	}
	at := p.XOf(f)
	const wide = 8.0
	if at < -wide || at > p.Width {
		return nil, point{}, false
	}
	row := 0
	for slices.ContainsFunc(l.Bars, func(b model.Bar) bool { return b.Row == row && b.X < at+wide+1 && b.X+b.W > at-1 }) {
		row++
	}
	row = min(row, max(l.Rows-1, 0))
	top := y + float64(row)*rowPitch
	said := text.F("%s %s: undone by the %s %s, gone from the timeline", x.Note, x.To, x.FromAction, x.From)
	return view.Svg("g").Attr("data-c", "ghost "+view.ActionClass(x.Note)).Body(view.Svg("title").Text(said),
		view.Svg("rect").Attr("data-c", "shape").Attr("x", view.Px(at)).Attr("y", view.Px(top)).Attr("width", view.Px(wide)).Attr("height", "11").Attr("rx", "2.5"),
		view.Svg("text").Attr("data-c", "act-note").Attr("x", view.Px(at+wide+4)).Attr("y", view.Px(top+9)).Text(text.T("gone"))), point{l.Action, at + wide/2, top + 5.5}, true
}

// point is where an instant is drawn.
type point struct {
	action string
	x, y   float64
}

// hovered is the instant under the pointer, or the chosen one.
func (v *timelineView) hovered(list *model.Instants) (requested, action string) {
	if v.hover > 0 && v.hover <= list.Len() {
		return list.Requested(v.hover - 1), list.Action(v.hover - 1)
	}
	st := v.Root.s.state
	return st.Instant, st.Action
}

// related are the relations from and to an instant: those that plans and results of table services
// tell, and those of the instant's own metadata once they have been read. With an action, those from
// another instant of the same time are left out.
func (v *timelineView) related(requested, action string) []api.Relation {
	s := v.Root.s
	if requested == "" {
		return nil
	}
	var out []api.Relation
	seen := map[api.Relation]bool{}
	add := func(all []api.Relation) {
		for _, x := range all {
			from, to := x.From == requested, x.To == requested
			if x.Kind == api.RelCompleted || !to && (!from || action != "" && x.FromAction != action) {
				continue
			}
			key := x
			key.Note = ""
			if !seen[key] {
				seen[key] = true
				out = append(out, x)
			}
		}
	}
	if d := s.instant.val; d != nil && d.Work != nil && d.Instant.Requested == requested {
		add(d.Work.Relations)
	}
	if r := s.relations.val; r != nil {
		add(r.Relations)
	}
	return out
}

// maxArcs bounds how many relations are drawn at once.
const maxArcs = 80

// relations draws relations between the places of their instants.
func (v *timelineView) relations(related []api.Relation, at map[string][]point, height float64) []goapp.UI {
	place := func(t, action string, other bool) (point, bool) {
		ps := at[t]
		if len(ps) == 0 {
			return point{}, false
		}
		for _, p := range ps {
			if (p.action == action) != other {
				return p, true
			}
		}
		return ps[0], true
	}
	var out []goapp.UI
	for _, x := range related {
		from, ok1 := place(x.From, x.FromAction, false)
		to, ok2 := place(x.To, x.FromAction, x.From == x.To)
		if !ok1 || !ok2 || from == to {
			continue
		}
		bend := max(from.y, to.y) + min(38, 12+math.Abs(from.x-to.x)/12)
		if from.y == to.y {
			bend = from.y - min(30, 10+math.Abs(from.x-to.x)/12)
		}
		// The curve goes three quarters of the way to its handles.
		bend = min(bend, height+6)
		class := "rel rel-" + strings.ReplaceAll(x.Kind, " ", "-")
		if x.Plan {
			class += " plan"
		}
		note := text.F("%s %s %s %s", x.FromAction, x.From, relationWord(x.Kind), x.To)
		if x.Note != "" {
			note = text.F("%s, %s", note, text.Said(x.Note))
		}
		d := "M" + view.Px(from.x) + " " + view.Px(from.y) + "C" + view.Px(from.x+(to.x-from.x)*0.15) + " " + view.Px(bend) + " " + view.Px(from.x+(to.x-from.x)*0.85) + " " + view.Px(bend) + " " + view.Px(to.x) + " " + view.Px(to.y)
		out = append(out,
			view.Svg("path").Attr("data-c", class).Attr("d", d).Body(view.Svg("title").Text(note)),
			view.Svg("circle").Attr("data-c", class+" end").Attr("cx", view.Px(to.x)).Attr("cy", view.Px(to.y)).Attr("r", "3.5"))
	}
	return out
}

// overview is the whole timeline in little, with the part that the plot shows.
func (v *timelineView) overview() goapp.UI {
	s := v.Root.s
	if !v.extent.Zoomed() && s.instants().Len() <= 200 {
		return nil
	}
	const parts, high = 240, 26.0
	counts := s.chart(model.Axis(s.state.Axis)).Density(parts)
	most := 1
	for _, n := range counts {
		most = max(most, n)
	}
	var d strings.Builder
	for i, n := range counts {
		if n == 0 {
			continue
		}
		h := view.Px(max(2, high*math.Log1p(float64(n))/math.Log1p(float64(most))))
		d.WriteString("M" + strconv.Itoa(i) + " 26v-" + h + "h0.8v" + h + "z")
	}
	shapes := []goapp.UI{view.Svg("path").Attr("data-c", "density").Attr("d", d.String())}
	x, w := v.extent.A*parts, max(1, (v.extent.B-v.extent.A)*parts)
	shapes = append(shapes, view.Svg("rect").Attr("data-c", "lens").Attr("x", view.Px(x)).Attr("y", "0").Attr("width", view.Px(w)).Attr("height", view.Px(high)))
	return goapp.Div().ID("timeline-overview").Class("overview").Title(text.T("The whole timeline: click to move the part shown")).Body(
		view.Svg("svg").Attr("viewBox", "0 0 "+strconv.Itoa(parts)+" 26").Attr("preserveAspectRatio", "none").Attr("aria-hidden", "true").Body(shapes...)).
		OnClick(func(ctx goapp.Context, e goapp.Event) {
			r := ctx.JSSrc().Call("getBoundingClientRect")
			w := r.Get("width").Float()
			if w <= 0 {
				return
			}
			f := (e.Get("clientX").Float() - r.Get("left").Float()) / w
			to := v.extent
			if !to.Zoomed() {
				to = to.Zoom(0.1, f)
			}
			v.show(to.MoveTo(f))
		})
}

func (v *timelineView) bar(in api.Instant, b model.Bar, y float64, st model.State, archived bool) goapp.UI {
	chosen := in.Requested == st.Instant && (st.Action == "" || st.Action == in.Action)
	class := "bar " + view.ActionClass(in.Action)
	if b.Open {
		class += " open"
	}
	if archived {
		class += " archived"
	}
	if chosen {
		class += " chosen"
	}
	took := ""
	if d, ok := model.Took(in); ok {
		took = text.F(", took %s", model.Span(d))
	}
	if in.Completed != "" && in.CompletedFrom == "mtime" {
		took += text.T(" (file time)")
	}
	label := text.F("%s, %s", in.Action+" "+in.Requested, text.Said(strings.ToLower(in.State))) + took
	if gap := v.Root.s.instants().Gap(b.Index); gap != "" {
		label = text.F("%s: %s", label, text.T(gap))
	}
	shapes := []goapp.UI{
		view.Svg("title").Text(label),
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
	if v.dragged {
		v.dragged = false
		return
	}
	if i, ok := view.Closest(e, "[data-i]", "i"); ok {
		v.choose(i)
		return
	}
	h := v.hitAt(e.Value)
	switch {
	case h == nil:
	case h.bin != nil:
		w := (v.extent.B - v.extent.A) / 12
		mid := (h.bin.A + h.bin.B) / 2
		v.over = nil
		v.show(model.Extent{A: max(0, mid-w/2), B: min(1, mid+w/2)})
	default:
		v.Root.chooseInstant(h.index)
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
	if i, err := strconv.Atoi(index); err == nil && i >= 0 && i < v.Root.s.instants().Len() {
		v.Root.chooseInstant(i)
	}
}

// list is every instant as a line, in the order of the axis. Those that are not read yet have their
// place, so that nothing moves when they come.
func (v *timelineView) list() goapp.UI {
	s := v.Root.s
	list, chart, unread := s.instants(), s.chart(model.Axis(s.state.Axis)), s.unread()
	at := -1
	if i := list.Find(s.state.Instant, s.state.Action); i >= 0 {
		at = unread + chart.Place[i]
	}
	return goapp.Div().Class("instants").Role("region").Aria("label", text.T("Instants")).Body(
		view.Div("instant head", view.Span("", text.T("Requested")), view.Span("", text.T("Action")), view.Span("took", text.T("Took"))),
		&view.List{Count: unread + len(chart.Order), RowHeight: 30, Class: "instant-rows", Label: text.T("Instants"), At: at, Choose: func(i int) {
			if i >= unread {
				v.Root.s.dispatch(func() { v.Root.chooseInstant(chart.Order[i-unread]) })
			}
		}, Row: func(i int, stop bool) goapp.UI {
			if i < unread {
				return goapp.Div().Class("instant unread").Aria("hidden", true).Body(view.Span("bone line", ""))
			}
			i = chart.Order[i-unread]
			in := list.At(i)
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
			if i < list.Archived {
				class += " archived"
			}
			if later(s.state, in) {
				class += " later"
			}
			end := []goapp.UI{}
			if gap := list.Gap(i); gap != "" {
				end = append(end, goapp.Span().Class("gap-mark").Title(text.T(gap)).Role("img").Aria("label", text.T(gap)).Text("!"))
			}
			if t := view.StateTag(in.State); t != nil {
				end = append(end, t)
			} else {
				end = append(end, goapp.Text(took))
			}
			what := view.ActionTag(in.Action)
			if in.Operation != "" {
				what = view.Div("what", what, view.Span("dim op", opName(in.Operation)))
			}
			return view.Link(class, st,
				goapp.Span().Class("mono").Title(model.Clock(in.Requested)).Text(in.Requested),
				what,
				goapp.Span().Class("took num").Body(end...),
			).TabIndex(tabIndex(stop)).Aria("current", current(chosen))
		}},
	)
}

// tabIndex is that of an item among several of which the Tab key reaches one.
func tabIndex(reached bool) int {
	if reached {
		return 0
	}
	return -1
}

// current is the ARIA state of an item among several of which one is chosen.
func current(chosen bool) string {
	if chosen {
		return "true"
	}
	return "false"
}

func opName(op string) string { return strings.ToLower(strings.ReplaceAll(op, "_", " ")) }

// detail is the metadata of the selected instant.
func (v *timelineView) detail() goapp.UI {
	s := v.Root.s
	d := &s.instant
	if s.state.Instant == "" {
		return view.Div("detail none", view.Empty(view.IconTimeline, text.T("Choose an instant"), text.T("Click a bar or a line, or press j and k. Its metadata opens here: what was written, decoded and raw.")))
	}
	switch {
	case d.fault != nil:
		return view.Div("detail", view.FaultPanel(d.fault, nil, d.retrier(s)))
	case d.val == nil:
		return view.Div("detail", view.Loading(text.T("Reading the instant"), d.slow, d.prog, d.canceller()), view.Div("skeleton", view.Div("bone"), view.Div("bone tall")))
	}
	in := d.val.Instant
	closed := s.state
	closed.Instant, closed.Action = "", ""
	head := view.Div("detail-head",
		goapp.H2().Body(view.ActionTag(in.Action)),
		goapp.Div().Class("detail-tools").Body(
			view.IconButton(view.IconLeft, text.T("Previous instant ([)"), func(goapp.Context, goapp.Event) { v.Root.step(-1) }),
			view.IconButton(view.IconRight, text.T("Next instant (])"), func(goapp.Context, goapp.Event) { v.Root.step(1) }),
			goapp.A().Class("icon-button").Href("#"+closed.Fragment()).Title(text.T("Close (Esc)")).Aria("label", text.T("Close")).Body(view.IconClose.UI()),
		),
	)
	took := ""
	if t, ok := model.Took(in); ok {
		took = model.Span(t)
		if in.CompletedFrom == "mtime" {
			took += text.T(" (file time)")
		}
	}
	completed := view.Fact(text.T("Completed"), view.Badge("warn", strings.ToLower(in.State)))
	if in.Completed != "" {
		c := []goapp.UI{view.Mono(in.Completed)}
		if in.CompletedFrom == "mtime" {
			c = append(c, goapp.Span().Class("from").Title(text.T("This timeline layout stores no completion time; the file's modification time stands in for it and is lost when the file is copied")).Text(text.T("(file time)")))
		}
		completed = view.Fact(text.T("Completed"), c...)
	} else if in.State == "COMPLETED" {
		completed = view.FactText(text.T("Completed"), text.T("yes; when is not recorded"))
	}
	work := d.val.Work
	if work != nil && work.Archived {
		head = view.Div("", head, view.Div("badges", goapp.Span().Class("badge").Title(work.Stored).Text(text.F("archived, in %s", model.BaseName(work.Stored)))))
	}
	parts := []goapp.UI{head}
	if work != nil && work.Sentence != "" {
		parts = append(parts, goapp.P().Class("sentence").Body(view.Spoken("", work.Sentence)))
	}
	parts = append(parts, view.Facts("",
		view.Fact(text.T("Requested"), view.Mono(in.Requested), view.Span("dim", model.Clock(in.Requested))),
		completed,
		view.FactText(text.T("Took"), took),
		view.FactText(text.T("Operation"), opName(in.Operation)),
	))
	if in.State == "COMPLETED" {
		here, rows, files := s.state, s.state.Go(model.Rows), s.state.Go(model.Files)
		here.AsOf = in.Requested
		rows.AsOf, files.AsOf = in.Requested, in.Requested
		rows.FileID, rows.OnlyPartition = "", false
		parts = append(parts, view.Div("actions",
			view.Link("button small", here, goapp.Text(text.T("Move the time cursor here"))),
			view.Link("button small", rows, goapp.Text(text.T("Rows as of this instant"))),
			view.Link("button small", files, goapp.Text(text.T("Files as of this instant"))),
			v.compareTo(in)))
	}
	parts = append(parts, &view.Later{Class: "detail-rest", Draw: v.rest})
	return goapp.Div().Class("detail").Body(parts...)
}

// rest is what the selected instant wrote and did, and its files.
func (v *timelineView) rest() []goapp.UI {
	d := v.Root.s.instant.val
	if d == nil {
		return nil
	}
	var parts []goapp.UI
	if d.Summary != nil {
		parts = append(parts, v.summary(d.Summary))
	}
	if d.Work != nil {
		parts = append(parts, v.work(d.Work)...)
	}
	for i := range d.Parts {
		parts = append(parts, v.part(&d.Parts[i], len(d.Parts)))
	}
	return parts
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
		tile(text.T("inserted"), model.Count(sum.Inserts), sum.Inserts),
		tile(text.T("updated"), model.Count(sum.Updates), sum.Updates),
		tile(text.T("deleted"), model.Count(sum.Deletes), sum.Deletes),
		tile(text.T("written"), model.Bytes(sum.Bytes), sum.Bytes),
	}
	if sum.Replaced > 0 {
		tiles = append(tiles, tile(text.T("groups replaced"), model.Count(int64(sum.Replaced)), 1))
	}
	if sum.Errors > 0 {
		tiles = append(tiles, tile(text.T("errors"), model.Count(sum.Errors), sum.Errors))
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
		body = append(body, view.Wrap("table-wrap", goapp.Table().Class("stats").Body(
			goapp.THead().Body(goapp.Tr().Body(
				goapp.Th().Scope("col").Text(text.T("Partition")), goapp.Th().Scope("col").Class("num").Text(text.T("Inserts")), goapp.Th().Scope("col").Class("num").Text(text.T("Updates")),
				goapp.Th().Scope("col").Class("num").Text(text.T("Deletes")), goapp.Th().Scope("col").Class("num").Text(text.T("Written")))),
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
		return text.T("(not partitioned)")
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
		label := text.T("Raw")
		if raw {
			label = text.T("Decoded")
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
		tools = append(tools, &view.CopyButton{Label: text.T("Copy as JSON"), Text: string(p.Decoded)})
	}
	body := []goapp.UI{view.Div("part-head",
		goapp.Div().Class("part-name").Body(goapp.Span().Class("mono").Title(p.Path).Text(p.File), view.Span("dim", encoding+" · "+model.Bytes(p.Size))),
		view.Div("detail-tools", tools...),
	)}
	switch {
	case p.Fault != nil:
		body = append(body, view.FaultPanel(p.Fault, nil, nil), &hexFile{Root: v.Root, Path: p.Path, Size: p.Size})
	case p.Encoding == "empty" || p.Size == 0:
		body = append(body, goapp.P().Class("dim").Text(text.T("The file is empty: its name alone tells the state.")))
	case raw:
		body = append(body, goapp.Pre().Class("raw").Text(p.Raw))
	case len(p.Decoded) > 0:
		body = append(body, &view.JSONTree{Doc: string(p.Decoded), Label: p.File, Depth: 1})
		if p.Raw == "" {
			body = append(body, goapp.Details().Class("how").Body(goapp.Summary().Text(text.T("Bytes of the file")), &hexFile{Root: v.Root, Path: p.Path, Size: p.Size}))
		}
	default:
		body = append(body, &hexFile{Root: v.Root, Path: p.Path, Size: p.Size})
	}
	return goapp.Section().Class("part").Body(body...)
}
