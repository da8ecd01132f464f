package app

import (
	"math"
	"strings"
	"time"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// activityCommits is how many commits are drawn at a time: the metadata of each is read.
const activityCommits = 400

// activitySwitch turns the numbers below the timeline on and off.
func (v *timelineView) activitySwitch() goapp.UI {
	st := v.Root.s.state
	on := st.Activity
	st.Activity = !on
	class := "button small"
	if on {
		class += " marked"
	}
	return goapp.A().Class(class).Href("#" + st.Fragment()).Title(text.T("Rows and bytes of each commit on the screen, and the instants of the metadata table")).
		Text(map[bool]string{false: text.T("Show what was written"), true: text.T("Hide what was written")}[on])
}

// followActivity asks for the commits on the screen once the part shown rests.
func (v *timelineView) followActivity() {
	s := v.Root.s
	if !s.state.Activity || s.timeline.val == nil {
		return
	}
	first, last := s.chart(model.Axis(s.state.Axis)).Within(v.extent)
	if first == s.activityFrom && last == s.activityTo || first == v.nextFrom && last == v.nextTo {
		return
	}
	v.nextFrom, v.nextTo = first, last
	pause := 250 * time.Millisecond
	if s.activityTo == "" {
		pause = 0
	}
	time.AfterFunc(pause, func() {
		s.dispatch(func() {
			if v.nextFrom != first || v.nextTo != last || s.timeline.val == nil {
				return
			}
			s.activityFrom, s.activityTo = first, last
			s.ensure()
		})
	})
}

const (
	activityRow  = 42.0
	activityTall = 24.0
	metaRow      = 26.0
)

// activity draws the numbers of commits and the instants of the metadata table below the lanes, from y on, and returns
// where it ends.
func (v *timelineView) activity(list *model.Instants, chart *model.Chart, p *model.Plot, y float64) (shapes []goapp.UI, end float64) {
	s := v.Root.s
	if !s.state.Activity {
		return nil, y
	}
	label := func(y float64, name, note string) {
		shapes = append(shapes,
			view.Svg("line").Attr("data-c", "lane-line").Attr("x1", "0").Attr("x2", view.Px(p.Width)).Attr("y1", view.Px(y)).Attr("y2", view.Px(y)),
			view.Svg("text").Attr("data-c", "lane-label").Attr("x", "4").Attr("y", view.Px(y+12)).Text(name),
			view.Svg("text").Attr("data-c", "act-note").Attr("x", view.Px(p.Width-4)).Attr("y", view.Px(y+12)).Attr("text-anchor", "end").Text(note))
	}
	a := s.activity.val
	if a == nil {
		label(y, text.T("written"), "")
		return shapes, y + activityRow
	}
	var mostRows, mostBytes int64 = 1, 1
	for i := range a.Commits {
		c := &a.Commits[i]
		mostRows, mostBytes = max(mostRows, c.Inserts+c.Updates+c.Deletes), max(mostBytes, c.Base+c.Log)
	}
	label(y, text.T("rows"), text.F("at most %s", model.Count(mostRows)))
	label(y+activityRow, text.T("bytes"), text.F("at most %s", model.Bytes(mostBytes)))
	wide := min(14, max(2, p.Width/float64(len(a.Commits)+1)-1))
	column := func(x, bottom float64, title string, parts ...struct {
		class string
		n     int64
	}) {
		g := []goapp.UI{view.Svg("title").Text(title)}
		for _, part := range parts {
			if part.n <= 0 {
				continue
			}
			most := mostRows
			if bottom > y+activityRow {
				most = mostBytes
			}
			h := max(1.5, float64(part.n)/float64(most)*activityTall)
			bottom -= h
			g = append(g, view.Svg("rect").Attr("data-c", part.class).Attr("x", view.Px(x)).Attr("y", view.Px(bottom)).Attr("width", view.Px(wide)).Attr("height", view.Px(h)))
		}
		if len(g) > 1 {
			shapes = append(shapes, view.Svg("g").Body(g...))
		}
	}
	type part = struct {
		class string
		n     int64
	}
	for i := range a.Commits {
		c := &a.Commits[i]
		at := list.Seek(c.Requested, c.Action)
		if at < 0 {
			continue
		}
		x := p.XOf(chart.Fraction(at))
		if x < -wide || x > p.Width {
			continue
		}
		column(x, y+activityRow-3, c.Requested+": "+activityRows(c), part{"act-in", c.Inserts}, part{"act-up", c.Updates}, part{"act-del", c.Deletes})
		column(x, y+2*activityRow-3, c.Requested+": "+activityBytes(c), part{"act-base", c.Base}, part{"act-log", c.Log})
	}
	y += 2 * activityRow
	label(y, text.T("metadata table"), text.Said(a.MetadataNote))
	for i := range a.Metadata {
		in := &a.Metadata[i]
		t := in.Requested
		if model.Axis(s.state.Axis) == model.OnCompleted && in.Completed != "" {
			t = in.Completed
		}
		f := chart.FractionOf(t)
		if math.IsNaN(f) {
			continue
		}
		if x := p.XOf(f); x >= -4 && x <= p.Width {
			class := "act-meta " + view.ActionClass(in.Action)
			if in.State != "COMPLETED" {
				class += " open"
			}
			shapes = append(shapes, view.Svg("rect").Attr("data-c", class).Attr("x", view.Px(x)).Attr("y", view.Px(y+15)).Attr("width", "5").Attr("height", "8").Attr("rx", "1.5").
				Body(view.Svg("title").Text(text.F("%s, %s", in.Requested+" "+in.Action, text.Said(strings.ToLower(in.State))))))
		}
	}
	return shapes, y + metaRow
}

func activityRows(c *api.CommitActivity) string {
	return text.F("%s inserted, %s updated, %s deleted", model.Count(c.Inserts), model.Count(c.Updates), model.Count(c.Deletes))
}

func activityBytes(c *api.CommitActivity) string {
	return text.F("%s into base files, %s into log files", model.Bytes(c.Base), model.Bytes(c.Log))
}

// activityTable says the same as the drawing.
func (v *timelineView) activityTable() goapp.UI {
	s := v.Root.s
	l := &s.activity
	switch {
	case !s.state.Activity:
		return nil
	case l.fault != nil:
		return view.FaultPanel(l.fault, nil, l.retrier(s))
	case l.val == nil:
		return view.Loading(text.T("Reading what commits wrote"), l.slow, l.prog, l.canceller())
	}
	a := l.val
	var sum api.CommitActivity
	var rows []goapp.UI
	for i := len(a.Commits) - 1; i >= 0; i-- {
		c := &a.Commits[i]
		sum.Inserts, sum.Updates, sum.Deletes = sum.Inserts+c.Inserts, sum.Updates+c.Updates, sum.Deletes+c.Deletes
		sum.Base, sum.Log, sum.Files = sum.Base+c.Base, sum.Log+c.Log, sum.Files+c.Files
		in := s.state
		in.Instant, in.Action = c.Requested, c.Action
		rows = append(rows, goapp.Tr().Body(goapp.Th().Scope("row").Body(view.Link("link mono", in, goapp.Text(c.Requested))), goapp.Td().Body(view.ActionTag(c.Action)),
			num(c.Inserts), num(c.Updates), num(c.Deletes), bytesCell(c.Base), bytesCell(c.Log), num(int64(c.Files))))
	}
	note := text.F("%s on the screen: %s; %s.", model.Plural(int64(len(a.Commits)), "commit"), activityRows(&sum), activityBytes(&sum))
	if a.Before != "" {
		note += " " + text.F("Only the newest were read, from %s on: zoom in to see others.", a.Before)
	}
	if a.Unread > 0 {
		note += " " + text.F("%s can't be read.", model.Plural(int64(a.Unread), "commit"))
	}
	return view.Div("activity-table", goapp.P().Class("dim").Text(note),
		goapp.Details().Class("how").Body(goapp.Summary().Text(text.T("The same as a table")),
			table([]string{text.T("Instant"), text.T("Action"), "#" + text.T("Inserts"), "#" + text.T("Updates"), "#" + text.T("Deletes"), "#" + text.T("Into base files"), "#" + text.T("Into log files"), "#" + text.T("Files")}, rows)))
}
