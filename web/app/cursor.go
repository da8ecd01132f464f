package app

import (
	"math"
	"strconv"
	"strings"
	"time"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// obeysCursor reports whether a view shows the table as of the time cursor.
func obeysCursor(v model.View) bool {
	switch v {
	case model.Timeline, model.Files, model.Blocks, model.Rows, model.Plan, model.History, model.Health:
		return true
	}
	return false
}

// followsCursor reports whether what a state shows is as of its cursor. A base file never changes.
func followsCursor(st model.State) bool { return obeysCursor(st.View) && st.Anatomy == "" }

// cursor is the bar of the time cursor, nil where there is no time to move in.
func (r *Root) cursor() goapp.UI {
	o := r.s.overview.val
	if o == nil || o.Kind == kindLog || !o.Readable {
		return nil
	}
	if t := &r.s.timeline; t.val == nil && t.fault == nil && !t.busy {
		return nil // a view that shows no time, opened first
	}
	return &cursorBar{Root: r, Rev: r.s.rev}
}

// stepCursor moves the cursor by a number of instants.
func (r *Root) stepCursor(by int) {
	if r.s.timeline.val == nil {
		return
	}
	r.moveCursor(r.s.stops().Step(r.s.state.AsOf, by), true)
}

// moveCursor moves the cursor to an instant, "" for the latest. With add the place before it stays in the browser's
// history.
func (r *Root) moveCursor(asOf string, add bool) {
	st := r.s.state
	if st.AsOf == asOf {
		return
	}
	st.AsOf = asOf
	if add || r.ctx == nil {
		r.navigate(st)
		return
	}
	r.s.apply(st)
	r.replace(r.ctx, st)
}

// cursorBar moves all views of a table through its instants.
type cursorBar struct {
	goapp.Compo

	Root *Root
	Rev  int

	// drag is the place that the slider was dragged to and that is not shown yet, plus one.
	drag int
	// moved is set while one drag goes on: only its first move is added to the browser's history.
	moved bool
	// run numbers what waits for its time: moves that wait, and the steps of playing.
	run     int
	playing bool
	speed   int
	table   string

	// marksOf are the stops whose marks are drawn, marksRev counts them.
	marksOf  *model.Stops
	marksRev int
}

// dragPause is how long the slider rests before the views follow.
const dragPause = 130 * time.Millisecond

// playSteps bounds the steps in which a history is played: a long one goes by several instants at a time.
const playSteps = 240

// OnMount implements go-app's Mounter.
func (v *cursorBar) OnMount(ctx goapp.Context) { v.settle(ctx) }

// OnUpdate implements go-app's Updater.
func (v *cursorBar) OnUpdate(ctx goapp.Context) {
	if v.table != v.Root.s.state.Table {
		v.table = v.Root.s.state.Table
		v.stop()
	}
	v.settle(ctx)
}

// OnDismount implements go-app's Dismounter.
func (v *cursorBar) OnDismount() { v.stop() }

func (v *cursorBar) stop() {
	v.run++
	v.playing, v.drag, v.moved = false, 0, false
}

// settle puts the slider where the cursor is: one that was dragged keeps its own place else.
func (v *cursorBar) settle(ctx goapp.Context) {
	ctx.Defer(func(goapp.Context) {
		if el := goapp.Window().GetElementByID("cursor-range"); el.Truthy() {
			if at := strconv.Itoa(v.place()); el.Get("value").String() != at {
				el.Set("value", at)
			}
		}
	})
}

// place is where the slider is.
func (v *cursorBar) place() int {
	if v.drag > 0 {
		return v.drag - 1
	}
	if v.Root.s.timeline.val == nil {
		return 0
	}
	return v.Root.s.stops().Place(v.Root.s.state.AsOf)
}

// after does something on the page's own goroutine later, unless the bar has something else to do by then.
func (v *cursorBar) after(pause time.Duration, do func()) {
	v.run++
	run := v.run
	time.AfterFunc(pause, func() {
		v.Root.s.dispatch(func() {
			if run == v.run {
				do()
			}
		})
	})
}

// dragTo takes a place of the slider; the views follow once it rests.
func (v *cursorBar) dragTo(place int) {
	v.playing = false
	v.drag = place + 1
	v.after(dragPause, v.follow)
}

// follow moves the views to where the slider is.
func (v *cursorBar) follow() {
	if v.drag == 0 {
		return
	}
	place := v.drag - 1
	v.drag = 0
	first := !v.moved
	v.moved = true
	v.Root.moveCursor(v.Root.s.stops().Time(place), first)
}

// release ends a drag.
func (v *cursorBar) release() {
	v.run++ // nothing is left to wait for
	v.follow()
	v.moved = false
}

func (v *cursorBar) play() {
	s := v.Root.s
	if v.playing {
		v.stop()
		return
	}
	v.playing = true
	if s.state.AsOf == "" {
		v.Root.moveCursor(s.stops().Time(0), true)
	}
	v.tick()
}

// pause is how long an instant is shown while the history is played.
func (v *cursorBar) pause() time.Duration {
	p := 1600 * time.Millisecond >> v.speed
	if reducedMotion() {
		p = max(p, 1600*time.Millisecond)
	}
	return p
}

func reducedMotion() bool {
	m := goapp.Window().Call("matchMedia", "(prefers-reduced-motion: reduce)")
	return m.Truthy() && m.Get("matches").Truthy()
}

// tick goes on to the next instant, once the views have caught up with this one.
func (v *cursorBar) tick() {
	v.after(v.pause(), func() {
		s := v.Root.s
		if !v.playing || s.timeline.val == nil {
			return
		}
		if s.catchingUp() || s.older.busy {
			v.tick()
			return
		}
		n := s.stops().Len()
		next := s.stops().Step(s.state.AsOf, max(1, (n+playSteps-1)/playSteps))
		v.Root.moveCursor(next, false)
		if next == "" {
			v.stop()
			return
		}
		v.tick()
	})
}

func (v *cursorBar) Render() goapp.UI {
	s := v.Root.s
	st := s.state
	t := &s.timeline
	class := "cursor"
	if st.AsOf != "" || v.drag > 0 {
		class += " on"
	}
	if s.catchingUp() {
		class += " catching"
	}
	var body []goapp.UI
	switch {
	case t.fault != nil:
		body = []goapp.UI{goapp.Span().Class("dim").Text(text.T("The instants can't be listed, so there is no time to go back to.")), view.Button("small", text.T("Try again"), t.retrier(s))}
	case t.val == nil:
		body = []goapp.UI{view.Span("bone line", ""), view.Span("visually-hidden", text.T("Reading the timeline"))}
	case s.stops().Len() == 0:
		body = []goapp.UI{goapp.Span().Class("dim").Text(text.T("No completed instants: there is no time to go back to."))}
	default:
		body = v.bar()
	}
	return goapp.Section().ID("cursor").Class(class).Aria("label", text.T("Time cursor")).Body(body...)
}

func (v *cursorBar) bar() []goapp.UI {
	s := v.Root.s
	st := s.state
	stops := s.stops()
	n, place := stops.Len(), v.place()
	step := func(by int) goapp.EventHandler {
		return func(goapp.Context, goapp.Event) { v.stop(); v.Root.stepCursor(by) }
	}
	playIcon, playLabel := view.IconPlay, text.T("Play the table's history")
	if v.playing {
		playIcon, playLabel = view.IconPause, text.T("Pause")
	}
	tools := []goapp.UI{
		view.IconButton(playIcon, playLabel, func(goapp.Context, goapp.Event) { v.play() }, v.playing),
		view.IconButton(view.IconLeft, text.T("Previous instant ([)"), step(-1)).Disabled(place == 0),
		view.IconButton(view.IconRight, text.T("Next instant (])"), step(1)).Disabled(place == n),
	}
	said, what := v.said(stops, place)
	slider := goapp.Input().ID("cursor-range").Class("cursor-range").Type("range").Min("0").Max(strconv.Itoa(n)).Step(1).Attr("value", strconv.Itoa(place)).
		Aria("label", text.T("As of")).Aria("valuetext", said).
		OnInput(func(ctx goapp.Context, _ goapp.Event) {
			if at, err := strconv.Atoi(ctx.JSSrc().Get("value").String()); err == nil {
				v.dragTo(at)
			}
		}).
		OnChange(func(goapp.Context, goapp.Event) { v.release() })
	body := []goapp.UI{
		view.Div("cursor-tools", tools...),
		view.Div("cursor-track", v.marked(stops), slider),
		goapp.Div().Class("cursor-now").Body(what...),
		view.Button("small", text.T("Latest"), func(goapp.Context, goapp.Event) { v.stop(); v.Root.moveCursor("", true) }).Disabled(place == n).Class("cursor-latest"),
	}
	if v.playing || st.AsOf != "" {
		speed := func(i int, label string) goapp.UI {
			class := "seg"
			if i == v.speed {
				class += " current"
			}
			return goapp.Button().Type("button").Class(class).Aria("pressed", i == v.speed).Text(label).OnClick(func(goapp.Context, goapp.Event) { v.speed = i }, i)
		}
		body = append(body, goapp.Div().Class("segmented cursor-speed").Role("group").Aria("label", text.T("Speed of playing")).Body(speed(0, "1×"), speed(1, "2×"), speed(2, "4×")))
	}
	if note := v.note(st); note != "" {
		body = append(body, goapp.P().Class("cursor-note").Role("status").Text(note))
	}
	return body
}

// said is the cursor's place in words, for ears and for eyes.
func (v *cursorBar) said(stops *model.Stops, place int) (said string, what []goapp.UI) {
	s := v.Root.s
	i := stops.Index(place)
	if i < 0 {
		return text.T("The latest state"), []goapp.UI{goapp.Strong().Text(text.T("Latest")), view.Span("dim num", model.Plural(int64(stops.Len()), "completed instant"))}
	}
	in := s.instants().At(i)
	count := model.Count(int64(place+1)) + " / " + model.Count(int64(stops.Len()))
	if n := s.unread(); n > 0 {
		count += " " + text.T("of those read so far")
	}
	at, action := in.Requested, view.ActionTag(in.Action)
	if asOf := s.state.AsOf; v.drag == 0 && asOf != "" && asOf != at {
		at, action = asOf, view.Span("dim", text.T("between instants"))
	}
	st := s.state.Go(model.Timeline)
	st.Instant, st.Action = in.Requested, in.Action
	return text.F("%s, %s", text.F("%s, %s", text.T("As of")+" "+model.Clock(at), in.Action), count),
		[]goapp.UI{goapp.Strong().Text(text.T("As of")), goapp.A().Class("link mono").Href("#" + st.Fragment()).Title(at + ", " + text.T("show it on the timeline")).Text(model.Clock(at)), action, view.Span("dim num", count)}
}

// note says what a view does about the cursor, where it does not follow it.
func (v *cursorBar) note(st model.State) string {
	if st.AsOf == "" {
		return ""
	}
	switch {
	case st.View == model.Compare:
		return text.T("This view compares two instants of its own and does not follow the time cursor.")
	case st.View == model.Stream:
		return text.T("A stream has its own times and does not follow the time cursor.")
	case st.View == model.Metadata:
		return text.T("The metadata table is shown as it is now.")
	case st.View == model.Table:
		return text.T("Properties and schema are shown as they are now.")
	case st.View == model.Files && st.Anatomy != "":
		return text.T("A base file never changes: it is the same at any time.")
	case (st.View == model.Rows || st.View == model.Plan) && (st.Query == "inc" || st.Query == "cdc"):
		return text.T("An incremental query has its own range and does not follow the time cursor.")
	}
	return ""
}

// fewMarks is how many stops are drawn one by one; more are drawn as how many there are.
const fewMarks = 160

// cursorMarks draws the marks of a cursorBar once for each list of stops, not with every move.
type cursorMarks struct {
	goapp.Compo

	Bar *cursorBar
	// Rev changes with the list.
	Rev int
}

// Render implements go-app's Composer.
func (m *cursorMarks) Render() goapp.UI { return m.Bar.marks(m.Bar.marksOf) }

// marked are the marks of the stops as a part of the bar.
func (v *cursorBar) marked(stops *model.Stops) goapp.UI {
	if v.marksOf != stops {
		v.marksOf = stops
		v.marksRev++
	}
	return &cursorMarks{Bar: v, Rev: v.marksRev}
}

// marks are the stops along the slider, in the colours of their actions.
func (v *cursorBar) marks(stops *model.Stops) goapp.UI {
	n := stops.Len()
	list := v.Root.s.instants()
	const wide, high = 1000.0, 14.0
	x := func(i int) float64 { return float64(i) / float64(n) * wide }
	by := map[string]*strings.Builder{}
	var order []string
	to := func(class string) *strings.Builder {
		if by[class] == nil {
			by[class] = &strings.Builder{}
			order = append(order, class)
		}
		return by[class]
	}
	if n <= fewMarks {
		for i := range n {
			in := stops.Index(i)
			h := 5.0
			if list.Write(in) {
				h = 9
			}
			to(view.ActionClass(list.Action(in))).WriteString("M" + view.Px(x(i)) + " " + view.Px(high-h) + "V" + view.Px(high))
		}
	} else {
		// How close instants lie in time is what a long history shows.
		const parts = 200
		var writes [parts]int
		most := 1
		for i := range n {
			if list.Write(stops.Index(i)) {
				p := i * parts / n
				writes[p]++
				most = max(most, writes[p])
			}
		}
		for p, c := range writes {
			if c > 0 {
				h := max(2, high*math.Sqrt(float64(c)/float64(most)))
				to("act-commit").WriteString("M" + view.Px((float64(p)+0.5)*wide/parts) + " " + view.Px(high-h) + "V" + view.Px(high))
			}
		}
	}
	var shapes []goapp.UI
	for _, class := range order {
		shapes = append(shapes, view.Svg("path").Attr("data-c", "mark "+class).Attr("d", by[class].String()).Attr("vector-effect", "non-scaling-stroke"))
	}
	return view.Svg("svg").Attr("data-c", "cursor-marks").Attr("viewBox", "0 0 1000 14").Attr("preserveAspectRatio", "none").Attr("aria-hidden", "true").Body(shapes...)
}

// later reports whether an instant comes after the cursor.
func later(st model.State, in api.Instant) bool { return st.AsOf != "" && in.Requested > st.AsOf }
