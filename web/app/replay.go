package app

import (
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

// replayView plays the scan of a slice's logs step by step: the blocks, the queue, the
// present instant and the counters, and with merge steps the map of merged records.
type replayView struct {
	goapp.Compo

	Root *Root
	Rev  int

	ctx     goapp.Context
	width   float64
	at      int
	seen    int // the step of the state when at was last taken from it
	key     string
	playing bool
	speed   int // index of speeds
	timer   *time.Timer
	release func()
	frame   model.Frame
	framed  int
}

// speeds are the steps per second.
var speeds = []struct {
	perSecond float64
	label     string
}{{0.5, "½"}, {1, "1"}, {2, "2"}, {5, "5"}, {15, "15"}}

func (v *replayView) OnMount(ctx goapp.Context) {
	v.ctx = ctx
	v.speed, v.seen, v.framed = 1, -1, -1
	v.release = watchWidth("replay-strips", func(w float64) {
		if w != v.width {
			v.width = w
			v.Update()
		}
	})
	v.Root.player = v.press
	v.take()
	v.Update()
}

func (v *replayView) OnUpdate(ctx goapp.Context) { v.ctx = ctx }

func (v *replayView) OnDismount() {
	v.Root.player = nil
	v.pause()
	if v.release != nil {
		v.release()
	}
}

// take takes over the step that the address names, when it changed.
func (v *replayView) take() {
	st := v.Root.s.state
	if k := v.Root.s.scan.key; k != v.key {
		v.key, v.framed = k, -1
		v.pause()
	}
	if st.Step != v.seen {
		v.seen, v.at = st.Step, max(0, st.Step-1)
	}
	if s := v.Root.s.scan.val; s != nil {
		v.at = min(v.at, max(0, len(s.Steps)-1))
	}
}

// jump goes to a step and keeps it in the address.
func (v *replayView) jump(to int) {
	s := v.Root.s.scan.val
	if s == nil || len(s.Steps) == 0 {
		return
	}
	v.at = min(max(to, 0), len(s.Steps)-1)
	v.keep()
}

func (v *replayView) keep() {
	st := v.Root.s.state
	st.Step = v.at + 1
	v.seen = st.Step
	if st != v.Root.s.state && v.ctx != nil {
		v.Root.remember(v.ctx, st)
	}
}

func (v *replayView) pause() {
	v.playing = false
	if v.timer != nil {
		v.timer.Stop()
		v.timer = nil
	}
}

func (v *replayView) toggle() {
	if v.playing {
		v.pause()
		v.keep()
		return
	}
	s := v.Root.s.scan.val
	if s == nil || len(s.Steps) < 2 {
		return
	}
	if v.at == len(s.Steps)-1 {
		v.at = 0
	}
	v.playing = true
	v.tick()
}

func (v *replayView) tick() {
	d := time.Duration(float64(time.Second) / speeds[v.speed].perSecond)
	v.timer = time.AfterFunc(d, func() {
		v.ctx.Dispatch(func(goapp.Context) {
			s := v.Root.s.scan.val
			if !v.playing || s == nil {
				return
			}
			if v.at+1 >= len(s.Steps) {
				v.pause()
				v.keep()
				return
			}
			v.at++
			v.Update()
			v.tick()
		})
	})
}

// press handles a key; false leaves it to others.
func (v *replayView) press(key string) bool {
	s := v.Root.s.scan.val
	if s == nil {
		return false
	}
	var f func()
	switch key {
	case " ":
		f = v.toggle
	case "ArrowRight", "j":
		f = func() { v.pause(); v.jump(v.at + 1) }
	case "ArrowLeft", "k":
		f = func() { v.pause(); v.jump(v.at - 1) }
	case "ArrowUp", "PageUp":
		f = func() { v.pause(); v.jump(v.at - 10) }
	case "ArrowDown", "PageDown":
		f = func() { v.pause(); v.jump(v.at + 10) }
	case "Home":
		f = func() { v.pause(); v.jump(0) }
	case "End":
		f = func() { v.pause(); v.jump(len(s.Steps) - 1) }
	case "+", "-":
		f = func() {
			by := 1
			if key == "-" {
				by = -1
			}
			v.speed = min(max(v.speed+by, 0), len(speeds)-1)
		}
	default:
		return false
	}
	v.ctx.Dispatch(func(goapp.Context) { f(); v.Update() })
	return true
}

func (v *replayView) Render() goapp.UI {
	v.take()
	sess := v.Root.s
	s := &sess.scan
	var body []goapp.UI
	switch {
	case s.fault != nil:
		body = append(body, view.FaultPanel(s.fault, v.Root.bytesLink(s.fault), s.retrier(sess)))
	case s.val == nil:
		body = append(body, view.Loading(text.T("Recording the scan"), s.slow, s.prog, s.canceller()), bones())
	case len(s.val.Steps) == 0:
		body = append(body, view.Empty(view.IconBlocks, text.T("Nothing to replay"), text.T("The slice has no log blocks to scan.")))
	default:
		if v.framed != v.at {
			v.frame, v.framed = model.FrameAt(s.val, v.at), v.at
		}
		body = append(body, v.bar(s.val), v.stage(s.val))
	}
	return goapp.Section().Class("replay").Aria("label", text.T("Replay of the scan")).Body(append([]goapp.UI{
		// The element is there from the start: its width is watched.
		goapp.Div().ID("replay-strips").Class("replay-measure")}, body...)...)
}

// bar holds the controls.
func (v *replayView) bar(s *api.Scan) goapp.UI {
	st := v.Root.s.state
	last := len(s.Steps) - 1
	icon, label := view.IconPlay, text.T("Play (Space)")
	if v.playing {
		icon, label = view.IconPause, text.T("Pause (Space)")
	}
	to := func(f func() int) view.Handler {
		return func(goapp.Context, goapp.Event) { v.pause(); v.jump(f()) }
	}
	slider := goapp.Input().Type("range").ID("replay-slider").Class("replay-slider").Min(0).Max(last).Value(v.at).
		Aria("label", text.T("Step of the scan")).Aria("valuetext", text.F("step %s of %s: %s", strconv.Itoa(v.at+1), strconv.Itoa(last+1), model.StepTitle(&s.Steps[v.at]))).
		OnInput(func(ctx goapp.Context, _ goapp.Event) {
			n, err := strconv.Atoi(ctx.JSSrc().Get("value").String())
			if err == nil {
				v.pause()
				v.jump(n)
			}
		}).On("keydown", func(_ goapp.Context, e goapp.Event) {
		if e.Get("key").String() == " " {
			e.PreventDefault()
			v.toggle()
		}
	})
	speed := []goapp.UI{}
	for i, x := range speeds {
		class := "seg"
		if i == v.speed {
			class += " current"
		}
		speed = append(speed, goapp.Button().Type("button").Class(class).Aria("pressed", i == v.speed).Title(text.F("%s steps per second", x.label)).Text(x.label+"×").
			OnClick(func(goapp.Context, goapp.Event) { v.speed = i }, i))
	}
	merge := st
	merge.MergeSteps, merge.Step = !st.MergeSteps, 0
	closed := st
	closed.Replay, closed.MergeSteps, closed.Step = false, false, 0
	return view.Div("replay-bar",
		view.Div("replay-buttons",
			view.IconButton(view.IconFirst, text.T("To the beginning (Home)"), to(func() int { return 0 })),
			view.IconButton(view.IconLeft, text.T("Step back (←)"), to(func() int { return v.at - 1 })).Disabled(v.at == 0),
			goapp.Button().Type("button").ID("replay-play").Class("button primary play").Title(label).Aria("label", label).Body(icon.UI()).
				OnClick(func(goapp.Context, goapp.Event) { v.toggle() }),
			view.IconButton(view.IconRight, text.T("Step on (→)"), to(func() int { return v.at + 1 })).Disabled(v.at == last),
			view.IconButton(view.IconLast, text.T("To the end (End)"), to(func() int { return last })),
		),
		view.Div("replay-track", v.ribbon(s), slider),
		goapp.Div().ID("replay-step").Class("replay-count num").Body(goapp.B().Text(model.Count(int64(v.at+1))), goapp.Text(text.F(" of %s", model.Count(int64(last+1))))),
		goapp.Div().Class("segmented").Role("group").Aria("label", text.T("Steps per second")).Body(speed...),
		goapp.A().Class("switch").Role("switch").Aria("checked", st.MergeSteps).Href("#"+merge.Fragment()).Title(text.T("Show how the records of the blocks are merged, too")).
			Body(view.Span("switch-knob", ""), goapp.Text(text.T("records"))),
		goapp.A().Class("icon-button").Href("#"+closed.Fragment()).Title(text.T("Close the replay (Esc)")).Aria("label", text.T("Close the replay")).Body(view.IconClose.UI()),
	)
}

// ribbon is the whole scan as a line of coloured steps.
func (v *replayView) ribbon(s *api.Scan) goapp.UI {
	n := len(s.Steps)
	const most = 480
	per := (n + most - 1) / most
	var shapes []goapp.UI
	w := 1000 / float64((n+per-1)/per)
	for i, x := 0, 0.0; i < n; i, x = i+per, x+w {
		kind := ""
		for j := i; j < min(n, i+per); j++ {
			// The rarest kind of the steps under one mark gives it its colour.
			if k := s.Steps[j].Kind; rank(k) > rank(kind) {
				kind = k
			}
		}
		class := "mark k-" + strings.ReplaceAll(kind, " ", "-")
		if i+per <= v.at+1 {
			class += " past"
		}
		if v.at >= i && v.at < i+per {
			class += " now"
		}
		shapes = append(shapes, view.Svg("rect").Attr("data-c", class).Attr("x", view.Px(x)).Attr("y", "0").Attr("width", view.Px(max(0.6, w-1))).Attr("height", "10"))
	}
	return view.Svg("svg").Attr("class", "ribbon").Attr("viewBox", "0 0 1000 10").Attr("preserveAspectRatio", "none").Attr("aria-hidden", "true").Body(shapes...)
}

func rank(kind string) int {
	switch kind {
	case "rollback":
		return 7
	case "stop":
		return 6
	case "skip":
		return 5
	case "pop":
		return 4
	case "instant switch":
		return 3
	case "push":
		return 2
	case "":
		return -1
	}
	return 1
}

func (v *replayView) stage(s *api.Scan) goapp.UI {
	step := &s.Steps[v.at]
	notes := []goapp.UI{}
	if s.Truncated {
		notes = append(notes, goapp.Div().Class("finding warn").Body(view.IconWarning.UI(), view.Div("finding-text",
			goapp.Text(text.F("The scan has more steps than are recorded: the first %s can be played.", model.Count(int64(len(s.Steps))))))))
	}
	if f := s.RecordsFault; f != nil {
		notes = append(notes, goapp.Div().Class("finding warn").Body(view.IconWarning.UI(), view.Div("finding-text",
			goapp.Strong().Text(text.T("The merge of the records can't be shown in full.")), goapp.Text(" "+f.Error()))))
	}
	side := []goapp.UI{v.queue(s, step)}
	if v.Root.s.state.MergeSteps {
		side = append(side, v.merged(s, step))
	}
	return view.Div("replay-stage", view.Group(
		view.Div("replay-main", view.Group(append(notes, v.narration(s, step), v.strips(s, step), legendStatus(s))...)...),
		view.Div("replay-side", side...),
	)...)
}

// legendStatus names what can become of a block; that a command takes one out of the queue only where it happens.
func legendStatus(s *api.Scan) goapp.UI {
	var items []goapp.UI
	all := []model.BlockStatus{model.Ahead, model.Queued, model.Merged, model.Skipped}
	if slices.ContainsFunc(s.Steps, func(x api.ScanStep) bool { return len(x.Removed) > 0 }) {
		all = append(all, model.RolledBack)
	}
	for _, st := range all {
		items = append(items, goapp.Span().Class("legend-item").Body(goapp.Span().Class("status-swatch", st.Class()), goapp.Text(st.String())))
	}
	return view.Div("legend", items...)
}

// narration says what the step does and why.
func (v *replayView) narration(s *api.Scan, step *api.ScanStep) goapp.UI {
	kind := strings.ReplaceAll(step.Kind, " ", "-")
	line := []goapp.UI{goapp.Span().Class("step-dot k-" + kind), goapp.H2().Text(model.StepTitle(step))}
	if b, f := v.block(s, step.Block); b != nil {
		k := model.KindOf(b.Type)
		open := v.Root.s.state
		open.Replay, open.MergeSteps, open.Step = false, false, 0
		open.Log, open.Block = f.File.Path, b.Index+1
		line = append(line, view.Link("step-block", open, goapp.Span().Class("swatch blk-"+k.Class).Text(k.Letter),
			goapp.Span().Class("mono").Text(text.F("block %s", strconv.Itoa(b.Index))), goapp.Span().Class("mono dim").Title(f.File.Name).Text(fitName(f.File.Name, 0))))
	}
	body := []goapp.UI{view.Div("step-head", line...), goapp.P().Class("step-why").Body(view.Spoken("", sentence(step.Why)))}
	if r := step.Record; r != nil {
		body = append(body, v.duel(s, r))
	}
	return goapp.Div().ID("replay-said").Class("step", "s-"+kind).Aria("live", liveness(v.playing)).Aria("atomic", true).DataSet("kind", step.Kind).Body(body...)
}

// liveness keeps a screen reader from being flooded while the scan plays.
func liveness(playing bool) string {
	if playing {
		return "off"
	}
	return "polite"
}

// duel shows two versions of a record and which of them stays.
func (v *replayView) duel(s *api.Scan, r *api.RecordStep) goapp.UI {
	side := func(title string, ver *api.Version, wins bool) goapp.UI {
		class := "duel-side"
		if wins {
			class += " wins"
		} else {
			class += " yields"
		}
		if ver == nil {
			return view.Div("duel-side empty", view.Span("dim", title), goapp.Span().Text(text.T("no record of this key yet")))
		}
		cls, letter, name := kindOfVersion(ver)
		facts := []goapp.UI{view.Fact(text.T("Instant"), view.Mono(ver.Instant))}
		if ver.Ordering != "" {
			facts = append(facts, view.Fact(text.T("Ordering"), goapp.B().Class("mono").Text(ver.Ordering), view.Span("dim", ver.OrderingType)))
		}
		where := text.F("base file, row %s", model.Count(ver.Record+1))
		if ver.Block >= 0 {
			where = text.F("%s, record %s", placeIn(s, ver), model.Count(ver.Record+1))
		}
		facts = append(facts, view.FactText(text.T("In"), where))
		return view.Div(class, view.Div("duel-head", view.Span("dim", title), goapp.Span().Class("node", cls).Text(letter), goapp.Strong().Text(name)), view.Facts("", facts...))
	}
	old, fresh := text.T("In the map"), text.T("Comes next")
	if r.Stage == "base" {
		old, fresh = text.T("In the base file"), text.T("In the map")
	}
	history := v.Root.s.state.HistoryOf(r.Key)
	return view.Div("duel",
		view.Div("duel-key", view.IconKey.UI(), view.Mono(r.Key), view.Link("link", history, goapp.Text(text.T("History")))),
		view.Div("duel-sides",
			side(old, r.Old, r.Winner == "old" || r.Winner == "combined"),
			goapp.Div().Class("duel-verdict", "w-"+r.Winner).Text(verdict(r)),
			side(fresh, r.New, r.Winner == "new" || r.Winner == "combined" || r.Winner == "removed"),
		))
}

func verdict(r *api.RecordStep) string {
	switch r.Winner {
	case "new":
		switch {
		case r.Old == nil:
			return text.T("kept")
		case r.Stage == "base":
			return text.T("the log wins")
		}
		return text.T("new wins")
	case "old":
		if r.Stage == "base" {
			return text.T("the base stays")
		}
		return text.T("old stays")
	case "combined":
		return text.T("combined")
	case "removed":
		return text.T("removed")
	}
	return r.Winner
}

func (v *replayView) block(s *api.Scan, ref api.BlockRef) (*api.Block, *api.LogFile) {
	if ref.File < 0 || ref.File >= len(s.Blocks.Files) {
		return nil, nil
	}
	f := &s.Blocks.Files[ref.File]
	if ref.Block < 0 || ref.Block >= len(f.Blocks) {
		return nil, nil
	}
	return &f.Blocks[ref.Block], f
}

// strips draws the log files with the state of every block at this step.
func (v *replayView) strips(s *api.Scan, step *api.ScanStep) goapp.UI {
	width := v.width
	if width < 200 {
		width = 900
	}
	if width > 1000 {
		// The queue and the map stand beside the strips.
		width = width * 0.6
	}
	files := s.Blocks.Files
	gutter := 8.0
	if len(files) > 1 {
		gutter = 70
	}
	// Many files have their names beside them instead of above, to be seen together.
	label, pitch, top := 0.0, stripLabel+stripH+stripGap, stripLabel
	if len(files) > 4 {
		label, pitch, top = 128, stripH+11, 5
		if width < 480 {
			label = 58
		}
	}
	lay := model.LayStrips(files, width-gutter-label-8, leastBlock)
	for i := range lay.Strips {
		for j := range lay.Strips[i].Cells {
			lay.Strips[i].Cells[j].X += label + 4
		}
		lay.Strips[i].Width += label + 4
	}
	yOf := func(strip int) float64 { return float64(strip)*pitch + top }
	total := width
	var shapes, over []goapp.UI
	if step.Kind == "rollback" {
		removed := map[api.BlockRef]bool{}
		for _, ref := range step.Removed {
			removed[ref] = true
		}
		for n, a := range lay.Arcs {
			if a.FromStrip != step.Block.File || a.FromCell != step.Block.Block {
				continue
			}
			class := "idle" // the block it names was left out before
			if removed[api.BlockRef{File: a.ToStrip, Block: a.ToCell}] {
				class = "live"
			}
			over = append(over, arc(lay, a, n, yOf, class)...)
		}
	}
	for i, strip := range lay.Strips {
		f := &files[i]
		y := yOf(i)
		total = max(total, strip.Width+gutter)
		ty, name, size := y-6, fitName(f.File.Name, width), model.Bytes(f.File.Size)
		if label > 0 {
			ty, name, size = y+stripH/2+4, logSuffix(f.File.Name, label < 100), ""
		}
		shapes = append(shapes, view.Svg("text").Attr("data-c", "strip-label").Attr("x", "1").Attr("y", view.Px(ty)).Body(
			view.Svg("title").Text(f.File.Path),
			view.Svg("tspan").Attr("data-c", "mono").Text(name),
			view.Svg("tspan").Attr("data-c", "dim").Attr("dx", "8").Text(size)))
		for ci, cell := range strip.Cells {
			ref := api.BlockRef{File: i, Block: ci}
			shapes = append(shapes, v.cell(f, ref, cell, y, step.Block == ref))
		}
	}
	height := float64(len(lay.Strips))*pitch + 4
	defs := view.Svg("defs").Body(view.Svg("pattern").Attr("id", "hatch").Attr("width", "7").Attr("height", "7").Attr("patternUnits", "userSpaceOnUse").Attr("patternTransform", "rotate(45)").Body(
		view.Svg("rect").Attr("data-c", "hatch-back").Attr("width", "7").Attr("height", "7"),
		view.Svg("rect").Attr("data-c", "hatch-line").Attr("width", "2.5").Attr("height", "7")))
	svg := view.Svg("svg").Attr("width", view.Px(total)).Attr("height", view.Px(height)).Attr("role", "group").
		Attr("aria-label", text.T("Log blocks at this step. Choose one to jump to its first step.")).
		Body(append(append([]goapp.UI{defs}, shapes...), over...)...).OnClick(v.pick).On("keydown", v.pickKey)
	return view.Div("plot strip-plot", svg)
}

// logSuffix is the part of a log file's name that tells it from the others of its slice.
func logSuffix(name string, short bool) string {
	i := strings.Index(name, ".log.")
	if i < 0 {
		return name
	}
	name = name[i+1:]
	if short {
		name, _, _ = strings.Cut(name, "_")
		name = strings.TrimPrefix(name, "log")
	}
	return name
}

func (v *replayView) cell(f *api.LogFile, ref api.BlockRef, c model.StripBlock, y float64, current bool) goapp.UI {
	status := model.Ahead
	if ref.File < len(v.frame.Status) && ref.Block < len(v.frame.Status[ref.File]) {
		status = v.frame.Status[ref.File][ref.Block]
	}
	class := "blk blk-" + c.Kind.Class + " st-" + status.Class()
	if current {
		class += " reading"
	}
	label := text.F("%s block %s of %s: %s", text.T(c.Kind.Name), strconv.Itoa(ref.Block), f.File.Name, status.String())
	if why := v.frame.Why[ref]; why != "" {
		label = text.F("%s. %s", label, text.Said(why))
	}
	w := max(1, c.W-1.5)
	shapes := []goapp.UI{
		view.Svg("title").Text(label),
		view.Svg("rect").Attr("data-c", "shape").Attr("x", view.Px(c.X)).Attr("y", view.Px(y)).Attr("width", view.Px(w)).Attr("height", view.Px(stripH)).Attr("rx", "3"),
	}
	if current {
		shapes = append(shapes, view.Svg("rect").Attr("data-c", "ring").Attr("x", view.Px(c.X-3)).Attr("y", view.Px(y-3)).Attr("width", view.Px(w+6)).Attr("height", view.Px(stripH+6)).Attr("rx", "5"))
	}
	if status == model.RolledBack {
		mid := view.Px(y + stripH/2)
		shapes = append(shapes, view.Svg("path").Attr("data-c", "strike").Attr("d", "M"+view.Px(c.X+3)+" "+mid+"H"+view.Px(c.X+w-3)))
	}
	mark := c.Kind.Letter
	shapes = append(shapes, view.Svg("text").Attr("data-c", "letter").Attr("x", view.Px(c.X+w/2)).Attr("y", view.Px(y+stripH/2+4.5)).Attr("text-anchor", "middle").Attr("aria-hidden", "true").Text(mark))
	tab := "-1"
	if current || ref.File == 0 && ref.Block == 0 && v.at == 0 {
		tab = "0"
	}
	return view.Svg("g").Attr("data-c", class).Attr("data-f", ref.File).Attr("data-b", ref.Block).Attr("data-st", status.Class()).Attr("role", "button").
		Attr("tabindex", tab).Body(shapes...) // its title names it
}

func (v *replayView) pick(_ goapp.Context, e goapp.Event) {
	f, ok := view.Closest(e, "[data-f]", "f")
	b, ok2 := view.Closest(e, "[data-f]", "b")
	fi, err1 := strconv.Atoi(f)
	bi, err2 := strconv.Atoi(b)
	s := v.Root.s.scan.val
	if !ok || !ok2 || err1 != nil || err2 != nil || s == nil {
		return
	}
	if at := model.StepOf(s, api.BlockRef{File: fi, Block: bi}); at >= 0 {
		v.pause()
		v.jump(at)
	}
}

func (v *replayView) pickKey(ctx goapp.Context, e goapp.Event) {
	if k := e.Get("key").String(); k == "Enter" || k == " " {
		e.PreventDefault()
		v.pick(ctx, e)
	}
}

// queue draws the block queue with the present instant and the counters.
func (v *replayView) queue(s *api.Scan, step *api.ScanStep) goapp.UI {
	box := func(ref api.BlockRef, class string) goapp.UI {
		b, f := v.block(s, ref)
		if b == nil {
			return nil
		}
		k := model.KindOf(b.Type)
		title := text.F("%s block %s of %s", text.T(k.Name), strconv.Itoa(b.Index), f.File.Name)
		return goapp.Li().Class("qbox", "blk-"+k.Class, class).Title(title).DataSet("q", strconv.Itoa(ref.File)+"."+strconv.Itoa(ref.Block)).Body(
			goapp.Span().Class("swatch blk-"+k.Class).Text(k.Letter),
			goapp.Span().Class("qname num").Body(goapp.Text(text.F("block %s", strconv.Itoa(b.Index))), fileNote(s, ref)),
			goapp.Span().Class("qinstant mono").Text(b.Instant))
	}
	var boxes []goapp.UI
	// The newest stands on top, as the next to be looked at by a rollback.
	for i := len(step.Queue) - 1; i >= 0; i-- {
		class := ""
		if step.Kind == "push" && i == len(step.Queue)-1 {
			class = "arrives"
		}
		boxes = append(boxes, box(step.Queue[i], class))
	}
	var gone []goapp.UI
	switch step.Kind {
	case "rollback":
		for _, ref := range step.Removed {
			gone = append(gone, box(ref, "thrown"))
		}
	case "pop":
		gone = append(gone, box(step.Block, "taken"))
	}
	boxes = append(gone, boxes...)
	if step.Kind == "pop" {
		boxes = append(boxes[1:], boxes[0])
	}
	if len(boxes) == 0 {
		boxes = append(boxes, goapp.Li().Class("qempty dim").Text(text.T("empty")))
	}
	c := step.Counters
	tile := func(name string, n int64, changed bool, tone string) goapp.UI {
		class := "tile"
		if n == 0 {
			class += " zero"
		} else if tone != "" {
			class += " " + tone
		}
		if changed {
			class += " bump"
		}
		return view.Div(class, view.Span("tile-value num", model.Count(n)), view.Span("tile-name", name))
	}
	var p api.Counters
	if v.at > 0 {
		p = s.Steps[v.at-1].Counters
	}
	instant := goapp.UI(goapp.Span().Class("dim").Text(text.T("none yet")))
	if step.Instant != "" {
		class := "mono"
		if step.Kind == "instant switch" {
			class += " flash"
		}
		instant = goapp.Span().Class(class).Title(model.Clock(step.Instant)).Text(step.Instant)
	}
	return view.Div("replay-panel",
		view.Div("replay-instant", goapp.H3().Text(text.T("Present instant")), instant),
		view.Div("tiles counters",
			tile(text.T("log files"), int64(c.LogFiles), c.LogFiles != p.LogFiles, ""),
			tile(text.T("blocks"), int64(c.Blocks), c.Blocks != p.Blocks, ""),
			tile(text.T("records"), c.Records, c.Records != p.Records, ""),
			tile(text.T("rollbacks"), int64(c.Rollbacks), c.Rollbacks != p.Rollbacks, "warn"),
			tile(text.T("corrupt"), int64(c.CorruptBlocks), c.CorruptBlocks != p.CorruptBlocks, "bad"),
		),
		view.Div("queue-head", goapp.H3().Text(text.T("Block queue")), view.Span("dim num", model.Plural(int64(len(step.Queue)), "block")), view.Span("dim", text.T("newest on top"))),
		goapp.Ol().ID("replay-queue").Class("queue").Aria("label", text.T("Block queue, newest first")).DataSet("size", len(step.Queue)).Body(view.Group(boxes...)...),
	)
}

// placeIn names the block of a version, with its file where there are several.
func placeIn(s *api.Scan, ver *api.Version) string {
	name := text.F("block %s", strconv.Itoa(ver.Block))
	if len(s.Blocks.Files) < 2 {
		return name
	}
	for i := range s.Blocks.Files {
		if s.Blocks.Files[i].File.Path == ver.File {
			return text.F("block %s of file %s", strconv.Itoa(ver.Block), strconv.Itoa(i+1))
		}
	}
	return name
}

func fileNote(s *api.Scan, ref api.BlockRef) goapp.UI {
	if len(s.Blocks.Files) < 2 {
		return goapp.Text("")
	}
	return goapp.Span().Class("dim").Text(text.F(" of file %s", strconv.Itoa(ref.File+1)))
}

// mapShown is how many keys of the merged map are drawn.
const mapShown = 60

// merged is the map of merged records at this step.
func (v *replayView) merged(s *api.Scan, step *api.ScanStep) goapp.UI {
	keys := v.frame.Keys
	size := int64(0)
	for i := v.at; i >= 0; i-- {
		if r := s.Steps[i].Record; r != nil {
			size = r.Keys
			break
		}
	}
	// The keys around the one of this step are drawn.
	from := 0
	if step.Record != nil && len(keys) > mapShown {
		for i := range keys {
			if keys[i].At == v.at {
				from = min(max(0, i-mapShown/2), len(keys)-mapShown)
			}
		}
	}
	var rows []goapp.UI
	for i := from; i < min(len(keys), from+mapShown); i++ {
		k := &keys[i]
		class := ""
		if k.At == v.at {
			class = "flash w-" + k.Winner
		}
		what := []goapp.UI{goapp.Span().Class("dim").Text("—")}
		if k.Version != nil {
			cls, letter, _ := kindOfVersion(k.Version)
			where := text.T("base")
			if k.Version.Block >= 0 {
				where = placeIn(s, k.Version)
			}
			what = []goapp.UI{goapp.Span().Class("node small", cls).Text(letter), goapp.Text(where)}
		}
		ordering := ""
		if k.Version != nil {
			ordering = k.Version.Ordering
		}
		state := verdictWord(k)
		rows = append(rows, goapp.Tr().Class(class).DataSet("key", k.Key).Body(
			goapp.Th().Scope("row").Class("mono").Title(k.Key).Text(k.Key),
			goapp.Td().Body(view.Div("map-version", what...)),
			goapp.Td().Class("mono num").Text(ordering),
			goapp.Td().Class("dim").Text(state)))
	}
	body := []goapp.UI{view.Div("queue-head", goapp.H3().Text(text.T("Merged records")), goapp.Span().ID("replay-keys").Class("dim num").Text(text.F("%s in the map", model.Plural(size, "key"))))}
	if len(keys) == 0 {
		body = append(body, goapp.P().Class("dim").Text(text.T("Records are merged once the scan takes blocks out of the queue.")))
	} else {
		body = append(body, view.Wrap("table-wrap map-wrap", goapp.Table().Class("stats map").Body(
			goapp.THead().Body(goapp.Tr().Body(goapp.Th().Scope("col").Text(text.T("Key")), goapp.Th().Scope("col").Text(text.T("Version")), goapp.Th().Scope("col").Class("num").Text(text.T("Ordering")), goapp.Th().Scope("col").Text(text.T("Last step")))),
			goapp.TBody().Body(rows...))))
		if len(keys) > mapShown {
			body = append(body, goapp.P().Class("dim small").Text(text.F("%s of %s are drawn, those around the present one.", model.Count(mapShown), model.Plural(int64(len(keys)), "key"))))
		}
	}
	return view.Div("replay-panel", body...)
}

func verdictWord(k *model.MergedKey) string {
	suffix := ""
	if k.Base {
		suffix = text.T(", with the base file")
	}
	switch k.Winner {
	case "new":
		if k.Versions == 1 && !k.Base {
			return text.T("first version")
		}
		return text.F("the later one won%s", suffix)
	case "old":
		return text.F("the one in place stayed%s", suffix)
	case "combined":
		return text.F("combined%s", suffix)
	case "removed":
		return text.F("removed%s", suffix)
	}
	return k.Winner
}

// sentence gives a clause a capital and a full stop.
func sentence(s string) string {
	if s == "" {
		return s
	}
	if c := s[0]; c >= 'a' && c <= 'z' {
		s = string(c-32) + s[1:]
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}
