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
	lineTall     = 21.0 // a line keeps clear of the names above it
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
	seen := slices.ContainsFunc(a.Commits, func(c api.CommitActivity) bool {
		at := list.Seek(c.Requested, c.Action)
		x := 0.0
		if at >= 0 {
			x = p.XOf(chart.Fraction(at))
		}
		return at >= 0 && x >= 0 && x <= p.Width
	})
	if !seen {
		label(y, text.T("written"), text.T("nothing in this range"))
		drawn, end := v.metadataLane(label, a, chart, p, y+metaRow)
		return append(shapes, drawn...), end
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
	// Each of them appends its label to shapes, and returns the rest.
	amplified := v.amplification(label, a, list, chart, p, wide, y)
	grown := v.logGrowth(label, a, list, chart, p, y+activityRow)
	meta, end := v.metadataLane(label, a, chart, p, y+2*activityRow)
	return slices.Concat(shapes, amplified, grown, meta), end
}

// labelRow names a row of numbers below the lanes.
type labelRow func(y float64, name, note string)

// ratio is write amplification, as text; "–" without new data.
func ratio(written, fresh int64) string {
	if fresh <= 0 {
		return "–"
	}
	return strconv.FormatFloat(float64(written)/float64(fresh), 'f', 2, 64) + "×"
}

// amplification draws the write amplification of each commit as columns, and so far as a line.
func (v *timelineView) amplification(label labelRow, a *api.Activity, list *model.Instants, chart *model.Chart, p *model.Plot, wide, y float64) []goapp.UI {
	most := 1.0
	for i := range a.Commits {
		c := &a.Commits[i]
		if c.New > 0 {
			most = max(most, float64(c.Base+c.Log)/float64(c.New))
		}
		if c.NewSoFar > 0 {
			most = max(most, float64(c.Written)/float64(c.NewSoFar))
		}
	}
	last := &a.Commits[len(a.Commits)-1]
	label(y, text.T("write amplification"), text.F("%s in all, at most %s", ratio(last.Written, last.NewSoFar), strconv.FormatFloat(most, 'f', 2, 64)+"×"))
	bottom := y + activityRow - 3
	var out []goapp.UI
	var line strings.Builder
	for i := range a.Commits {
		c := &a.Commits[i]
		at := list.Seek(c.Requested, c.Action)
		if at < 0 {
			continue
		}
		x := p.XOf(chart.Fraction(at))
		if c.NewSoFar > 0 {
			to := bottom - float64(c.Written)/float64(c.NewSoFar)/most*lineTall
			if line.Len() == 0 {
				line.WriteString("M" + view.Px(x) + " " + view.Px(to))
			} else {
				line.WriteString("H" + view.Px(x) + "V" + view.Px(to))
			}
		}
		if x < -wide || x > p.Width || c.Base+c.Log == 0 {
			continue
		}
		class, high := "act-amp", lineTall
		if c.New > 0 {
			high = max(1.5, float64(c.Base+c.Log)/float64(c.New)/most*lineTall)
		} else {
			class = "act-rewrite"
		}
		out = append(out, view.Svg("rect").Attr("data-c", class).Attr("x", view.Px(x)).Attr("y", view.Px(bottom-high)).Attr("width", view.Px(wide)).Attr("height", view.Px(high)).Body(
			view.Svg("title").Text(c.Requested+": "+activityAmplified(c))))
	}
	if line.Len() > 0 {
		out = append(out, view.Svg("path").Attr("data-c", "act-line").Attr("d", line.String()+"H"+view.Px(p.Width)))
	}
	return out
}

// logGrowth draws the bytes of log files that no base file has taken up, as steps.
func (v *timelineView) logGrowth(label labelRow, a *api.Activity, list *model.Instants, chart *model.Chart, p *model.Plot, y float64) []goapp.UI {
	var most int64
	for i := range a.Commits {
		most = max(most, a.Commits[i].LogsLeft)
	}
	if most == 0 {
		label(y, text.T("logs not compacted"), text.T("none"))
		return nil
	}
	label(y, text.T("logs not compacted"), text.F("now %s, at most %s", model.Bytes(a.Commits[len(a.Commits)-1].LogsLeft), model.Bytes(most)))
	bottom := y + activityRow - 3
	var d strings.Builder
	for i := range a.Commits {
		c := &a.Commits[i]
		at := list.Seek(c.Requested, c.Action)
		if at < 0 {
			continue
		}
		x, to := p.XOf(chart.Fraction(at)), bottom-float64(c.LogsLeft)/float64(most)*lineTall
		if d.Len() == 0 {
			d.WriteString("M" + view.Px(x) + " " + view.Px(bottom))
		}
		d.WriteString("H" + view.Px(x) + "V" + view.Px(to))
	}
	if d.Len() == 0 {
		return nil
	}
	return []goapp.UI{view.Svg("path").Attr("data-c", "act-grown").Attr("d", d.String()+"H"+view.Px(p.Width)+"V"+view.Px(bottom)+"z").Body(
		view.Svg("title").Text(text.T("Bytes of log files that no compaction has taken up yet, after each commit")))}
}

// metadataLane draws the instants of the metadata table: a stroke for a completed one, an arrow for one that goes on.
func (v *timelineView) metadataLane(label labelRow, a *api.Activity, chart *model.Chart, p *model.Plot, y float64) (out []goapp.UI, end float64) {
	s := v.Root.s
	open := false
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
			title := view.Svg("title").Text(text.F("%s, %s", in.Requested+" "+in.Action, text.Said(strings.ToLower(in.State))))
			class := "act-meta " + view.ActionClass(in.Action)
			if in.State != "COMPLETED" {
				open = true
				out = append(out, view.Svg("path").Attr("data-c", class+" open").Attr("d", "M"+view.Px(x)+" "+view.Px(y+14)+"l8 5l-8 5z").Body(title))
				continue
			}
			out = append(out, view.Svg("rect").Attr("data-c", class).Attr("x", view.Px(x)).Attr("y", view.Px(y+14)).Attr("width", "3").Attr("height", "10").Body(title))
		}
	}
	note := text.Said(a.MetadataNote)
	if open {
		note = text.T("a stroke is completed, an arrow is pending")
	}
	label(y, text.T("metadata table"), note)
	return out, y + metaRow
}

func activityAmplified(c *api.CommitActivity) string {
	if c.New == 0 {
		return text.F("wrote %s anew, no new data", model.Bytes(c.Base+c.Log))
	}
	return text.F("%s: wrote %s for %s of new data", ratio(c.Base+c.Log, c.New), model.Bytes(c.Base+c.Log), model.Bytes(c.New))
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
			num(c.Inserts), num(c.Updates), num(c.Deletes), bytesCell(c.Base), bytesCell(c.Log), num(int64(c.Files)),
			bytesCell(c.New), goapp.Td().Class("num").Text(ratio(c.Base+c.Log, c.New)), goapp.Td().Class("num").Text(ratio(c.Written, c.NewSoFar)), bytesCell(c.LogsLeft)))
	}
	note := text.F("%s on the screen: %s; %s.", model.Plural(int64(len(a.Commits)), "commit"), activityRows(&sum), activityBytes(&sum))
	if a.Before != "" {
		note += " " + text.F("Only the newest were read, from %s on: zoom in to see others.", a.Before)
	}
	if a.Unread > 0 {
		note += " " + text.F("%s can't be read.", model.Plural(int64(a.Unread), "commit"))
	}
	if len(a.Commits) == 0 {
		return view.Div("activity-table", goapp.P().Class("dim").Text(text.T("No commit in this part of the time: zoom out to see what was written.")))
	}
	return view.Div("activity-table", goapp.P().Class("dim").Text(note),
		goapp.P().Class("dim").Text(text.T("Write amplification is the bytes that commits wrote, compactions and clusterings included, over the bytes of new data among them: of a log file all, of a base file the share of records that were inserted or updated, of a compaction or clustering none. The columns are single commits (outlined: nothing but rewriting), the line is everything so far. Logs not compacted are bytes that no base file has taken up yet. Both count the commits shown.")),
		goapp.Details().Class("how").Body(goapp.Summary().Text(text.T("The same as a table")),
			table([]string{text.T("Instant"), text.T("Action"), "#" + text.T("Inserts"), "#" + text.T("Updates"), "#" + text.T("Deletes"), "#" + text.T("Into base files"), "#" + text.T("Into log files"), "#" + text.T("Files"), "#" + text.T("New data"), "#" + text.T("Amplification"), "#" + text.T("So far"), "#" + text.T("Logs left")}, rows)))
}
