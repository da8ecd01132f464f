package app

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// groupView shows one file group through time.
type groupView struct {
	goapp.Compo

	Root *Root
	Rev  int

	all bool // every instant is drawn, however many there are

	width   float64 // of the chart
	release func()
}

// OnMount implements go-app's Mounter.
func (v *groupView) OnMount(goapp.Context) {
	v.release = watchWidth("group-width", func(w float64) {
		if w > 0 && w != v.width {
			v.width = w
			v.Update()
		}
	})
}

// OnDismount implements go-app's Dismounter.
func (v *groupView) OnDismount() {
	if v.release != nil {
		v.release()
	}
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

func (v *groupView) Render() goapp.UI {
	s := v.Root.s
	st := s.state
	g := &s.group
	body := []goapp.UI{view.Div("slice-line",
		view.Link("link", st.Go(model.Files), goapp.Text(text.T("Back to the files"))),
		goapp.Span().Class("mono").Text(partitionName(st.Partition)),
		goapp.Span().Class("mono").Text(st.FileID))}
	switch {
	case g.fault != nil:
		body = append(body, view.FaultPanel(g.fault, nil, g.retrier(s)))
	case g.val == nil:
		body = append(body, view.Loading(text.T("Reading what instants did to the group"), g.slow, g.prog, g.canceller()), bones())
	default:
		body = append(body, v.group(g.val)...)
	}
	return view.Div("group-view", view.Group(append([]goapp.UI{goapp.Div().ID("group-width")}, body...)...)...)
}

func (v *groupView) group(a *api.Group) []goapp.UI {
	st := v.Root.s.state
	var size int64
	files := 0
	for _, sl := range a.Group.Slices {
		size += sliceBytes(sl)
		files += len(sl.Logs)
		if sl.Base != nil {
			files++
		}
	}
	marks := []goapp.UI{}
	mark := func(what, instant string) {
		if instant == "" {
			return
		}
		to := st.Go(model.Timeline)
		to.Instant, to.Action = instant, ""
		marks = append(marks, goapp.A().Class("badge warn").Href("#"+to.Fragment()).Body(goapp.Text(what+" "), view.Mono(instant)))
	}
	mark(text.T("replaced by"), a.Group.ReplacedBy)
	mark(text.T("compaction pending"), a.Group.PendingCompaction)
	mark(text.T("clustering pending"), a.Group.PendingClustering)
	rows := st.Go(model.Rows)
	rows.Slice = ""
	actions := []goapp.UI{}
	if a.Group.ReplacedBy == "" {
		actions = append(actions, view.Link("button small", rows, view.IconRows.UI(), goapp.Text(text.T("Rows of the file group"))))
	}
	actions = append(actions, &view.CopyButton{Label: text.T("Copy as JSON"), Make: func() string { return asJSON(a) }})
	note := text.F("%s read", model.Plural(int64(a.Read), "instant"))
	if a.Before != "" {
		note = text.F("only the newest instants were read, from %s on", a.Before)
	}
	out := []goapp.UI{
		view.Div("toolbar", view.Span("num", model.Plural(int64(len(a.Group.Slices)), "slice")+" · "+model.Plural(int64(files), "file")+" · "+model.Bytes(size)),
			view.Span("dim", note), view.Div("badges", marks...), view.Div("toolbar-end actions", actions...)),
		view.Findings(a.Findings),
	}
	if len(a.Events) == 0 {
		return append(out, v.slices(a), view.Empty(view.IconTimeline, text.T("Nothing on the active timeline"), text.T("The instants that wrote this group have been archived: only its files tell about it.")))
	}
	return append(out, v.chart(a), v.slices(a), v.events(a))
}

// groupColumns is how many instants are drawn unasked.
const groupColumns = 120

// chart draws the slices as lanes over the instants that did something: boxes as high as the logarithm of their sizes.
func (v *groupView) chart(a *api.Group) goapp.UI {
	var times []string
	action := map[string]string{}
	note := func(t, act string) {
		if _, ok := action[t]; !ok {
			times = append(times, t)
			action[t] = act
		} else if act != "" && (action[t] == "" || act == "commit" || act == "deltacommit") {
			action[t] = act
		}
	}
	for _, e := range a.Events {
		note(e.Instant, e.Action)
	}
	for _, sl := range a.Group.Slices {
		note(sl.BaseInstant, "")
		for _, l := range sl.Logs {
			note(l.Instant, "")
		}
	}
	slices.Sort(times)
	hidden := 0
	if len(times) > groupColumns && !v.all {
		hidden = len(times) - groupColumns
		times = times[hidden:]
	}
	column := map[string]int{}
	for i, t := range times {
		column[t] = i
	}
	const left, lane, top, floor = 128.0, 60.0, 34.0, 50.0
	step := min(max((v.width-left-14)/float64(max(len(times), 1)), 52), 170)
	rowOf := map[string]int{}
	var rows []string
	add := func(key string) {
		if _, ok := rowOf[key]; !ok {
			rowOf[key] = 0
			rows = append(rows, key)
		}
	}
	for _, sl := range a.Group.Slices {
		add(sl.BaseInstant)
	}
	for _, e := range a.Events {
		if e.Slice != "" {
			add(e.Slice)
		}
	}
	// As in the list of files, the newest slice is the first.
	slices.SortFunc(rows, func(a, b string) int { return strings.Compare(b, a) })
	for i, key := range rows {
		rowOf[key] = i
	}
	x := func(i int) float64 { return left + float64(i)*step }
	most := int64(1)
	for _, sl := range a.Group.Slices {
		if sl.Base != nil {
			most = max(most, sl.Base.Size)
		}
		for _, l := range sl.Logs {
			most = max(most, l.Size)
		}
	}
	for _, e := range a.Events {
		if e.Gone && e.Stats != nil {
			most = max(most, e.Stats.Bytes)
		}
	}
	tall := func(n int64) float64 {
		return 6 + 24*math.Log1p(float64(max(n, 0)))/math.Log1p(float64(most))
	}
	var shapes []goapp.UI
	for i, t := range times {
		shapes = append(shapes, view.Svg("line").Attr("data-c", "group-at "+view.ActionClass(action[t])).Attr("x1", view.Px(x(i)+step/2)).Attr("x2", view.Px(x(i)+step/2)).Attr("y1", view.Px(top-4)).Attr("y2", view.Px(top+float64(len(rows))*lane)).Body(view.Svg("title").Text(t+" "+action[t])),
			view.Svg("circle").Attr("data-c", "group-dot "+view.ActionClass(action[t])).Attr("cx", view.Px(x(i)+step/2)).Attr("cy", "8").Attr("r", "4").Body(view.Svg("title").Text(t+" "+action[t])))
		if _, clock, ok := strings.Cut(model.Clock(t), " "); ok && step >= 62 {
			clock, _, _ = strings.Cut(clock, ".")
			shapes = append(shapes, view.Svg("text").Attr("data-c", "group-clock").Attr("x", view.Px(x(i)+step/2)).Attr("y", "25").Attr("text-anchor", "middle").Text(clock))
		}
	}
	// A box stands over the middle of its instant's column: from, to the left and right of it.
	box := func(class string, t string, r int, n int64, from, to float64, title string) {
		i, ok := column[t]
		if !ok {
			return
		}
		h := tall(n)
		shapes = append(shapes, view.Svg("rect").Attr("data-c", class).Attr("x", view.Px(x(i)+step/2+from)).Attr("y", view.Px(top+float64(r)*lane+floor-h)).Attr("width", view.Px(to-from)).Attr("height", view.Px(h)).Attr("rx", "3").
			Body(view.Svg("title").Text(title)))
	}
	for r := range rows {
		y := top + float64(r)*lane
		shapes = append(shapes, view.Svg("line").Attr("data-c", "lane-line").Attr("x1", "0").Attr("x2", view.Px(x(len(times)))).Attr("y1", view.Px(y+floor+3)).Attr("y2", view.Px(y+floor+3)))
	}
	for _, sl := range a.Group.Slices {
		r := rowOf[sl.BaseInstant]
		class := ""
		if !sl.Committed {
			class = " open"
		}
		if sl.Latest {
			class += " latest"
		}
		// Before table version 8 log files have the instant of the base file: they stand beside it.
		if b := sl.Base; b != nil {
			from, to := -13.0, 13.0
			if slices.ContainsFunc(sl.Logs, func(l api.File) bool { return l.Instant == b.Instant }) {
				from, to = -23, -1
			}
			box("group-base"+class, b.Instant, r, b.Size, from, to, b.Name+", "+text.F("%s, %s", model.Bytes(b.Size), text.Said(b.State)))
		}
		// Several log files of one instant stand for one box, before table version 8 all of a slice.
		sum, names := map[string]int64{}, map[string]int{}
		for _, l := range sl.Logs {
			sum[l.Instant] += max(l.Size, 0)
			names[l.Instant]++
		}
		for _, t := range times {
			if names[t] > 0 {
				from, to := -13.0, 13.0
				if sl.Base != nil && sl.Base.Instant == t {
					from, to = 1, 23
				}
				box("group-log"+class, t, r, sum[t], from, to, model.Plural(int64(names[t]), "log file")+", "+model.Bytes(sum[t]))
			}
		}
	}
	for _, e := range a.Events {
		r, ok := rowOf[e.Slice]
		i, seen := column[e.Instant]
		if !seen || !ok {
			continue
		}
		switch e.What {
		case "cleaned", "rolled back":
			if !e.Gone {
				continue // a rollback that appended a command block to it
			}
			cx, cy := x(i)+step/2, top+float64(r)*lane+floor-14
			shapes = append(shapes, view.Svg("path").Attr("data-c", "group-gone").Attr("d", "M"+view.Px(cx-6)+" "+view.Px(cy-6)+"l12 12m0 -12l-12 12").Body(view.Svg("title").Text(text.F("%s: %s", text.Said(e.What), e.File))))
		case "base file", "log file":
			if e.Gone {
				var size int64
				if e.Stats != nil {
					size = e.Stats.Bytes
				}
				box("group-was", e.Instant, r, size, -13, 13, e.File+", "+text.F("%s, %s", model.Bytes(size), text.T("no longer there")))
			}
		}
	}
	for r := range rows {
		shapes = append(shapes, view.Svg("text").Attr("data-c", "group-name").Attr("x", "4").Attr("y", view.Px(top+float64(r)*lane+floor-5)).Text(rows[r]))
	}
	var more goapp.UI
	if hidden > 0 {
		more = view.Button("small", text.F("Draw %s", model.Plural(int64(hidden), "earlier instant")), func(goapp.Context, goapp.Event) { v.all = true })
	}
	legend := func(class, name string) goapp.UI {
		return goapp.Span().Class("legend-item").Body(view.Svg("svg").Attr("data-c", "group-key").Attr("viewBox", "0 0 12 12").Attr("aria-hidden", "true").Body(view.Svg("rect").Attr("data-c", class).Attr("x", "1").Attr("y", "1").Attr("width", "10").Attr("height", "10").Attr("rx", "2")), goapp.Text(name))
	}
	width, height := x(len(times))+left, top+float64(len(rows))*lane
	return view.Div("group-chart", view.Group(
		view.Div("toolbar", goapp.H2().Text(text.T("Slices along time")), view.Span("dim", text.T("one step for each instant, the newest slice first")), more, view.Div("legend", legend("group-base", text.T("base file")), legend("group-log", text.T("log file")), legend("group-was", text.T("no longer there")),
			goapp.Span().Class("legend-item").Body(view.Svg("svg").Attr("data-c", "group-key").Attr("viewBox", "0 0 12 12").Attr("aria-hidden", "true").Body(view.Svg("path").Attr("data-c", "group-gone").Attr("d", "M1.5 1.5l9 9m0 -9l-9 9")), goapp.Text(text.T("a file was removed"))))),
		goapp.Div().Class("plot").TabIndex(0).Role("group").Aria("label", text.T("Slices along time; the table below has the same")).Body(
			view.Svg("svg").Attr("width", view.Px(max(width, 240))).Attr("height", view.Px(height)).Attr("role", "img").Attr("aria-label", text.T("Slices along time; the table below has the same")).Body(shapes...)),
	)...)
}

// slices lists the slices there are, with what can be looked at of each.
func (v *groupView) slices(a *api.Group) goapp.UI {
	st := v.Root.s.state
	if len(a.Group.Slices) == 0 {
		return view.Empty(view.IconFiles, text.T("No files are left"), text.T("Everything this group had has been removed; its instants below tell what was there."))
	}
	var rows []goapp.UI
	for i := range a.Group.Slices {
		sl := &a.Group.Slices[i]
		at := st.Go(model.Files)
		at.Slice = sl.BaseInstant
		base := goapp.UI(view.Span("dim", text.T("none")))
		if sl.Base != nil {
			base = view.Link("link", st.AnatomyOf(sl.Base.Path, 0, 0), goapp.Text(model.Bytes(sl.Base.Size)))
		}
		logs := goapp.UI(view.Span("dim", text.T("none")))
		if len(sl.Logs) > 0 {
			only := *sl
			only.Base = nil
			to := st.Go(model.Blocks)
			to.Slice, to.Log, to.Block = sl.BaseInstant, "", 0
			logs = view.Link("link", to, goapp.Text(model.Plural(int64(len(sl.Logs)), "log file")+", "+sliceSize(only)))
		}
		state := sliceBadges(&a.Group, sl)
		then := st.Go(model.Rows)
		then.Slice, then.AsOf, then.Query = "", sl.BaseInstant, ""
		rows = append(rows, goapp.Tr().Body(
			goapp.Th().Scope("row").Body(view.Link("link mono", at, goapp.Text(sl.BaseInstant))),
			goapp.Td().Class("num").Body(base), goapp.Td().Class("num").Body(logs), goapp.Td().Body(view.Div("badges", state...)),
			goapp.Td().Body(view.Link("link", then, goapp.Text(text.T("Rows as of then"))))))
	}
	return goapp.Section().Class("part").Body(goapp.H3().Text(text.T("Slices")), table([]string{text.T("Base instant"), "#" + text.T("Base file"), "#" + text.T("Log files"), text.T("State"), text.T("Rows")}, rows))
}

// events lists what instants did.
func (v *groupView) events(a *api.Group) goapp.UI {
	st := v.Root.s.state
	var rows []goapp.UI
	for i := len(a.Events) - 1; i >= 0; i-- {
		e := &a.Events[i]
		in := st.Go(model.Timeline)
		in.Instant, in.Action = e.Instant, e.Action
		file := goapp.UI(goapp.Text(""))
		switch {
		case e.File == "":
		case e.Gone:
			file = goapp.Span().Class("mono dim").Title(e.File).Text(shortFile(e.File, a.Group.FileID) + " " + text.T("(gone)"))
		case e.What == "base file":
			file = goapp.A().Class("link mono").Href("#" + st.AnatomyOf(e.Path, 0, 0).Fragment()).Title(e.File).Text(shortFile(e.File, a.Group.FileID))
		default:
			to := st.Go(model.Blocks)
			to.Slice, to.Log, to.Block = e.Slice, e.Path, 1
			file = goapp.A().Class("link mono").Href("#" + to.Fragment()).Title(e.File).Text(shortFile(e.File, a.Group.FileID))
		}
		number := func(n func(*api.WriteStat) int64) goapp.UI {
			if e.Stats == nil {
				return goapp.Td()
			}
			return num(n(e.Stats))
		}
		written := goapp.Td()
		if e.Stats != nil {
			written = goapp.Td().Class("num").Title(model.Count(e.Stats.Bytes) + " bytes").Text(model.Bytes(e.Stats.Bytes))
		}
		what := []goapp.UI{goapp.Text(text.Said(e.What))}
		if e.Operation != "" {
			what = append(what, view.Span("dim", " "+opName(e.Operation)))
		}
		rows = append(rows, goapp.Tr().Body(
			goapp.Th().Scope("row").Body(view.Link("link mono", in, goapp.Text(e.Instant))), goapp.Td().Body(view.ActionTag(e.Action)), goapp.Td().Body(what...), goapp.Td().Body(file),
			number(func(w *api.WriteStat) int64 { return w.Inserts }), number(func(w *api.WriteStat) int64 { return w.Updates }), number(func(w *api.WriteStat) int64 { return w.Deletes }), written))
	}
	return goapp.Section().Class("part").Body(goapp.H3().Text(text.T("What instants did to it")),
		table([]string{text.T("Instant"), text.T("Action"), text.T("What"), text.T("File"), "#" + text.T("Inserts"), "#" + text.T("Updates"), "#" + text.T("Deletes"), "#" + text.T("Written")}, rows))
}

// shortFile leaves the file id out of a file's name: the page is about one.
func shortFile(name, id string) string {
	if before, after, ok := strings.Cut(name, id); ok && id != "" {
		return before + "…" + after
	}
	return name
}
