package app

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/client"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// allColumns is the name under which the statistics of all columns are shown.
const allColumns = "*"

// gridButtons open the chooser of columns and the statistics of all.
func (v *rowsView) gridButtons() goapp.UI {
	if v.first == nil {
		return nil
	}
	hidden := len(v.first.Columns) - len(v.shown)
	label := text.T("Columns")
	if hidden > 0 {
		label = text.F("Columns (%s hidden)", strconv.Itoa(hidden))
	}
	out := []goapp.UI{}
	if v.State.Order != "" && !v.Stream {
		plain := v.State
		plain.Order = ""
		var names []string
		for _, k := range model.SplitOrder(v.State.Order) {
			arrow := " ↑"
			if k.Desc {
				arrow = " ↓"
			}
			names = append(names, k.Column+arrow)
		}
		out = append(out, goapp.A().ID("order-chip").Class("chip").Href("#"+plain.Fragment()).Title(text.T("Show the rows as they come")).Body(
			goapp.Text(text.T("ordered by ")), view.Mono(strings.Join(names, ", ")), view.IconClose.UI()))
	}
	out = append(out, goapp.Button().Type("button").ID("grid-columns").Class("button small").Aria("expanded", v.choose).Body(iconCols.UI(), goapp.Text(label)).
		OnClick(func(goapp.Context, goapp.Event) { v.choose, v.find = !v.choose, "" }))
	if !v.Stream {
		out = append(out, goapp.Button().Type("button").ID("grid-stats").Class("button small").Aria("expanded", v.State.Stats == allColumns).Body(iconStat.UI(), goapp.Text(text.T("Statistics"))).
			OnClick(func(goapp.Context, goapp.Event) { v.showStats(allColumns) }))
	}
	return view.Div("grid-buttons", out...)
}

// chooserMost is how many columns the chooser lists; more are found by their names.
const chooserMost = 200

// chooser shows, hides, pins and moves columns by their names.
func (v *rowsView) chooser() goapp.UI {
	if !v.choose || v.first == nil {
		return nil
	}
	all := v.first.Columns
	listed := append([]int(nil), v.shown...)
	in := map[int]int{}
	for i, c := range v.shown {
		in[c] = i + 1
	}
	for c := range all {
		if in[c] == 0 {
			listed = append(listed, c)
		}
	}
	var items []goapp.UI
	more := 0
	find := strings.ToLower(strings.TrimSpace(v.find))
	for _, c := range listed {
		col := all[c]
		if find != "" && !strings.Contains(strings.ToLower(col.Name+" "+col.Type), find) {
			continue
		}
		if len(items) == chooserMost {
			more++
			continue
		}
		name, place := col.Name, in[c]
		pinned := place > 0 && place <= v.pinned
		pin := view.IconButton(iconPin, text.F("Pin %s at the left", name), func(goapp.Context, goapp.Event) {
			v.setColumns(func(g *model.GridColumns) {
				if !g.Pin(name, !pinned) {
					v.say(text.F("At most %s columns can be pinned.", strconv.Itoa(model.MaxPinned)))
				}
			})
		}, name, pinned).Aria("pressed", pinned)
		move := func(icon view.Icon, label string, by int) goapp.UI {
			return view.IconButton(icon, label, func(goapp.Context, goapp.Event) {
				v.setColumns(func(g *model.GridColumns) { g.Move(all, v.State.HideMeta, name, by) })
			}, name, v.State.Grid).Disabled(place == 0)
		}
		items = append(items, goapp.Li().Class("column-line").Body(
			goapp.Label().Class("column-pick").Title(col.Type).Body(
				goapp.Input().Type("checkbox").Checked(place > 0).DataSet("show", name).OnChange(func(ctx goapp.Context, _ goapp.Event) {
					on := ctx.JSSrc().Get("checked").Bool()
					v.showColumn(col, on)
				}, name, v.State.Grid, v.State.HideMeta),
				goapp.Span().Class("mono").Text(name), view.Span("dim", col.Type)),
			view.Div("column-tools", pin, move(view.IconLeft, text.F("Move %s to the left", name), -1), move(view.IconRight, text.F("Move %s to the right", name), 1))))
	}
	if more > 0 {
		items = append(items, goapp.Li().Class("dim").Text(text.F("%s more: search for them.", model.Count(int64(more)))))
	}
	if len(items) == 0 {
		items = append(items, goapp.Li().Class("dim").Text(text.T("No column has this in its name or type.")))
	}
	every := v.State
	every.Grid, every.HideMeta = "", false
	return goapp.Div().ID("column-chooser").Class("columns-chooser").Role("group").Aria("label", text.T("Columns that are shown")).Body(
		view.Div("chooser-head",
			goapp.Input().Type("search").ID("find-column").Class("small-input").Placeholder(text.T("Find a column")).Aria("label", text.T("Find a column")).Value(v.find).
				OnInput(func(ctx goapp.Context, _ goapp.Event) { v.find = ctx.JSSrc().Get("value").String() }),
			view.Button("small", text.T("Hide those listed"), func(goapp.Context, goapp.Event) { v.showListed(false) }),
			view.Button("small", text.T("Show those listed"), func(goapp.Context, goapp.Event) { v.showListed(true) }),
			view.Link("button small", every, goapp.Text(text.T("As the table has them"))),
			view.IconButton(view.IconClose, text.T("Close"), func(goapp.Context, goapp.Event) { v.choose = false })),
		goapp.Ul().Class("column-lines").Body(items...))
}

// showColumn shows or hides a column. The switch of Hudi's columns gives way to hiding them one by one.
func (v *rowsView) showColumn(col api.Column, on bool) {
	to := v.Root.s.state
	g := model.ParseGridColumns(to.Grid)
	if on && col.Meta && to.HideMeta {
		for _, c := range v.first.Columns {
			if c.Meta {
				g.Hide(c.Name, true)
			}
		}
		to.HideMeta = false
	}
	g.Hide(col.Name, !on)
	to.Grid = g.String()
	v.Root.navigate(to)
}

// showListed shows or hides all columns that the search lists; one is left.
func (v *rowsView) showListed(on bool) {
	find := strings.ToLower(strings.TrimSpace(v.find))
	v.setColumns(func(g *model.GridColumns) {
		for _, c := range v.first.Columns {
			if find == "" || strings.Contains(strings.ToLower(c.Name+" "+c.Type), find) {
				g.Hide(c.Name, !on)
			}
		}
		if left, _ := g.Layout(v.first.Columns, v.State.HideMeta); len(left) == 0 {
			g.Hide(v.first.Columns[len(v.first.Columns)-1].Name, false)
		}
	})
}

// maxStats bounds the statistics that are kept.
const maxStats = 100

// wantStats asks for the statistics of a column of the query, or of all.
func (v *rowsView) wantStats(name string) *load[api.ColumnStats] {
	_, r := v.request(0, 0)
	rows, ok := r.(api.RowsRequest)
	if !ok {
		return nil
	}
	req := api.ColumnStatsRequest{Table: rows.Table, Options: rows.Options, Partitions: rows.Partitions, FileID: rows.FileID, Condition: rows.Condition}
	if name != allColumns {
		req.Columns = []string{name}
	}
	key := requestKey(req)
	if v.stats[key] == nil {
		if v.stats == nil || len(v.stats) == maxStats {
			for _, l := range v.stats {
				l.stop()
			}
			v.stats = map[string]*load[api.ColumnStats]{}
		}
		v.stats[key] = &load[api.ColumnStats]{}
	}
	l := v.stats[key]
	for _, o := range v.stats {
		if o != l && o.busy {
			o.stop() // only what is seen is read
			o.reset()
		}
	}
	want(v.Root.s, l, key, api.OpColumnStats, req)
	return l
}

// statsPanel shows the statistics of a column, or of all.
func (v *rowsView) statsPanel() goapp.UI {
	name := v.State.Stats
	if name == "" || v.Stream || v.first == nil {
		for _, l := range v.stats {
			if l.busy {
				l.reset()
			}
		}
		return nil
	}
	l := v.wantStats(name)
	title := goapp.UI(goapp.H2().Class("mono").Text(name))
	tools := []goapp.UI{}
	if name == allColumns {
		title = goapp.H2().Text(text.T("Columns"))
	} else {
		at := -1
		for i, c := range v.shown {
			if v.first.Columns[c].Name == name {
				at = i
			}
		}
		step := func(icon view.Icon, label string, to int) goapp.UI {
			c, ok := v.column(to)
			if at < 0 || !ok {
				return nil
			}
			st := v.State
			st.Stats = c.Name
			return goapp.A().Class("icon-button").Href("#"+st.Fragment()).Title(label).Aria("label", label).Body(icon.UI())
		}
		tools = append(tools, view.Group(step(view.IconLeft, text.T("The column before"), at-1), step(view.IconRight, text.T("The next column"), at+1))...)
	}
	if l.val != nil {
		tools = append(tools, &view.CopyButton{Label: text.T("Copy the statistics as JSON"), Make: func() string { return toJSON(l.val) }})
	}
	tools = append(tools, view.IconButton(view.IconClose, text.T("Close the statistics"), func(goapp.Context, goapp.Event) { v.showStats(v.State.Stats) }))
	body := []goapp.UI{view.Div("detail-head", title, view.Div("detail-tools", tools...))}
	switch {
	case l.fault != nil:
		body = append(body, view.FaultPanel(l.fault, v.Root.bytesLink(l.fault), l.retrier(v.Root.s)))
	case l.val == nil:
		body = append(body, view.Loading(text.T("Reading the columns"), l.slow, l.prog, l.canceller()), bones())
	case name == allColumns:
		body = append(body, v.allStats(l.val))
	default:
		for i := range l.val.Columns {
			if f := &l.val.Columns[i]; f.Name == name {
				body = append(body, v.facts(f, l.val.Rows)...)
			}
		}
	}
	return goapp.Aside().ID("column-stats").Class("inspector stats-panel").Aria("label", text.T("Statistics of columns")).Body(body...)
}

func shareOf(n, of int64) string {
	if of == 0 {
		return ""
	}
	p := float64(n) * 100 / float64(of)
	switch {
	case n == 0:
		return "0 %"
	case p < 0.1:
		return "< 0.1 %"
	case p > 99.9 && n < of:
		return "> 99.9 %"
	}
	return strconv.FormatFloat(p, 'f', 1, 64) + " %"
}

func distinctText(f *api.ColumnFacts) string {
	if f.Approximate {
		return text.F("about %s", model.Count(f.Distinct))
	}
	return model.Count(f.Distinct)
}

// allStats lists all columns; one leads to its own statistics.
func (v *rowsView) allStats(a *api.ColumnStats) goapp.UI {
	var lines []goapp.UI
	for i := range a.Columns {
		f := &a.Columns[i]
		st := v.State
		st.Stats = f.Name
		lo, hi := "", ""
		if f.Min != nil {
			lo, hi = model.Cell(f.Min).Text, model.Cell(f.Max).Text
		}
		lines = append(lines, goapp.Tr().Body(
			goapp.Th().Scope("row").Body(view.Link("link mono", st, goapp.Text(f.Name))),
			goapp.Td().Class("num").Text(shareOf(f.Nulls, a.Rows)),
			goapp.Td().Class("num").Text(distinctText(f)),
			goapp.Td().Body(bars(f.Histogram, "mini")),
			goapp.Td().Class("mono").Title(lo).Text(lo), goapp.Td().Class("mono").Title(hi).Text(hi)))
	}
	head := func(s string) goapp.UI { return goapp.Th().Scope("col").Text(s) }
	return view.Div("all-stats", goapp.P().Class("dim num").Text(text.F("Of %s; click a column for more.", model.Plural(a.Rows, "row"))),
		view.Wrap("table-wrap", goapp.Table().Class("stats grid").Body(
			goapp.THead().Body(goapp.Tr().Body(head(text.T("Column")), head(text.T("Null")), head(text.T("Different")), head(text.T("Spread")), head(text.T("Least")), head(text.T("Greatest")))),
			goapp.TBody().Body(lines...))))
}

// bars draws a histogram.
func bars(list []api.Interval, class string) goapp.UI {
	if len(list) == 0 {
		return goapp.Text("")
	}
	most := int64(1)
	for _, b := range list {
		most = max(most, b.Count)
	}
	w, h := 240.0, 60.0
	if class == "mini" {
		w, h = 90, 18
	}
	each := w / float64(len(list))
	var out []goapp.UI
	for i, b := range list {
		y := float64(b.Count) / float64(most) * h
		if b.Count > 0 {
			y = max(y, 1.5)
		}
		out = append(out, view.Svg("rect").Attr("x", view.Px(float64(i)*each+0.5)).Attr("y", view.Px(h-y)).Attr("width", view.Px(max(each-1, 0.8))).Attr("height", view.Px(y)))
	}
	return view.Svg("svg").Attr("data-c", "bars "+class).Attr("viewBox", "0 0 "+view.Px(w)+" "+view.Px(h)).Attr("preserveAspectRatio", "none").Attr("aria-hidden", "true").Body(out...)
}

// facts are the statistics of one column. A value or an interval that is clicked becomes a condition.
func (v *rowsView) facts(f *api.ColumnFacts, rows int64) []goapp.UI {
	value := func(raw json.RawMessage) goapp.UI {
		c := model.Cell(raw)
		return goapp.Span().Class("mono stat-value", cellClass(c.Kind)).Title(c.Text).Text(c.Text)
	}
	facts := []goapp.UI{
		view.Fact(text.T("Type"), view.Mono(f.Type)),
		view.Fact(text.T("Rows"), view.Span("num", model.Count(rows))),
		view.Fact(text.T("Null"), view.Span("num", model.Count(f.Nulls)), view.Span("dim num", shareOf(f.Nulls, rows)), v.filter(f.Name, f.Nulls > 0)),
		view.Fact(text.T("Different"), goapp.Span().Class("num").ID("stat-distinct").Text(distinctText(f))),
	}
	if f.Approximate {
		facts = append(facts, view.Fact("", view.Span("dim", text.T("Too many to hold in memory: estimated, with a standard error of 0.8 %."))))
	}
	if f.Min != nil {
		facts = append(facts, view.Fact(text.T("Least"), value(f.Min)), view.Fact(text.T("Greatest"), value(f.Max)))
	}
	if f.Mean != nil {
		facts = append(facts, view.Fact(text.T("Mean"), value(f.Mean)))
	}
	if f.NaN > 0 {
		facts = append(facts, view.Fact("NaN", view.Span("num", model.Count(f.NaN))))
	}
	out := []goapp.UI{view.Facts("", facts...)}
	if len(f.Histogram) > 0 {
		var hits []goapp.UI
		for _, b := range f.Histogram {
			cond, ok := model.Between(f.Name, f.Type, b)
			label := text.F("%s from %s to below %s", model.Count(b.Count), model.Cell(b.From).Text, model.Cell(b.To).Text)
			btn := goapp.Button().Type("button").Class("bar-hit").Title(label).Aria("label", label).OnClick(func(goapp.Context, goapp.Event) { v.restrict(cond) }, cond)
			hits = append(hits, btn.Disabled(!ok || b.Count == 0))
		}
		out = append(out, goapp.H3().Text(text.T("Spread")), view.Div("bars-box", bars(f.Histogram, "big"), view.Div("bar-hits", hits...)),
			view.Div("bars-ends", view.Span("mono dim", model.Cell(f.Histogram[0].From).Text), view.Span("mono dim", model.Cell(f.Histogram[len(f.Histogram)-1].To).Text)))
	}
	switch {
	case !f.Approximate && f.Distinct > 1 && f.Distinct == rows-f.Nulls:
		out = append(out, goapp.P().Class("dim").Text(text.T("Every value occurs once.")))
	case len(f.Top) > 0:
		var list []goapp.UI
		for _, x := range f.Top {
			cond, ok := model.Equals(f.Name, f.Type, x.Value)
			c := model.Cell(x.Value)
			shown := c.Text
			if c.Kind == model.StringNode && shown == "" {
				shown = "“”"
			}
			n := model.Count(x.Count)
			if x.Least > 0 {
				n = text.F("%s to %s", model.Count(x.Least), n)
			}
			bar := goapp.Span().Class("top-bar").Style("width", view.Px(float64(x.Count)*100/float64(max(rows, 1)))+"%")
			inner := []goapp.UI{bar, goapp.Span().Class("top-value mono", cellClass(c.Kind)).Text(shown), view.Span("num dim", n)}
			if ok && !x.Cut {
				list = append(list, goapp.Li().Body(goapp.Button().Type("button").Class("top-line").Title(text.T("Only rows with this value")).Body(inner...).
					OnClick(func(goapp.Context, goapp.Event) { v.restrict(cond) }, cond)))
			} else {
				list = append(list, goapp.Li().Body(goapp.Div().Class("top-line").Body(inner...)))
			}
		}
		out = append(out, goapp.H3().Text(text.T("Most frequent")), goapp.Ol().Class("top-values").Body(list...))
	case f.Approximate:
		out = append(out, goapp.P().Class("dim").Text(text.T("No value is certain to be more frequent than the others.")))
	}
	return append(out, v.columnActions(f.Column, rows))
}

// filter offers the rows where a column is null.
func (v *rowsView) filter(name string, some bool) goapp.UI {
	if !some {
		return goapp.Text("")
	}
	c, _ := model.Equals(name, "", nil)
	return view.Button("small quiet", text.T("Only these"), func(goapp.Context, goapp.Event) { v.restrict(c) }, c)
}

// copyBytes bounds the text of a column that is copied.
const copyBytes = 32 << 20

// columnActions copy, order, pin and hide a column.
func (v *rowsView) columnActions(c api.Column, rows int64) goapp.UI {
	at := -1
	for i, s := range v.shown {
		if v.first.Columns[s].Name == c.Name {
			at = i
		}
	}
	out := []goapp.UI{}
	if at >= 0 {
		pin := text.T("Pin")
		if at < v.pinned {
			pin = text.T("Let go")
		}
		out = append(out,
			view.Button("small", text.T("Order"), func(goapp.Context, goapp.Event) { v.orderBy(c.Name, false) }, c.Name),
			view.Button("small", pin, func(goapp.Context, goapp.Event) { v.pin(at) }, c.Name, at, pin),
			view.Button("small", text.T("Hide"), func(goapp.Context, goapp.Event) {
				v.setColumns(func(g *model.GridColumns) { g.Hide(c.Name, true) })
			}, c.Name))
	}
	index := -1
	for i, x := range v.first.Columns {
		if x.Name == c.Name {
			index = i
		}
	}
	if index >= 0 {
		loaded := int64(0)
		for _, p := range v.pages {
			loaded += int64(len(p.raw))
		}
		out = append(out, view.Button("small", text.F("Copy %s that are loaded", model.Plural(loaded, "value")), func(goapp.Context, goapp.Event) {
			var b strings.Builder
			n := int64(0)
			for k := range (v.total + rowsPage - 1) / rowsPage {
				if p := v.pages[k]; p != nil {
					for _, row := range p.raw {
						b.WriteString(plainText(row[index]))
						b.WriteByte('\n')
						n++
					}
				}
			}
			v.copyOut(b.String(), text.F("Copied %s", model.Plural(n, "value")))
		}, c.Name))
		if loaded < rows {
			out = append(out, v.copyAll(c.Name, rows))
		}
	}
	return view.Div("actions", out...)
}

// copyAll reads a column of all rows; when it is there, it can be copied.
func (v *rowsView) copyAll(name string, rows int64) goapp.UI {
	l := &v.copying
	_, r := v.request(0, 10_000)
	req := r.(api.RowsRequest)
	req.Columns, req.Limit = []string{name}, 10_000
	key := requestKey(req)
	switch {
	case l.key != key || !l.busy && l.val == nil && l.fault == nil:
		return view.Button("small", text.F("Read all %s to copy", model.Plural(rows, "value")), func(goapp.Context, goapp.Event) {
			transport := v.Root.s.transport
			wantBy(v.Root.s, l, key, func(ctx context.Context, progress func(api.Progress)) (string, error) {
				var b strings.Builder
				for page := req; ; {
					if n := int64(v.State.Limit); n > 0 {
						page.Limit = int(min(int64(req.Limit), n-page.Offset))
					}
					a, err := client.Call[api.Rows](ctx, transport, api.OpRows, page, progress)
					if err != nil {
						return "", err
					}
					for _, row := range a.Rows {
						b.WriteString(plainText(row[0]))
						b.WriteByte('\n')
					}
					page.Offset += int64(len(a.Rows))
					progress(api.Progress{Phase: "Reading rows", Done: page.Offset, Total: rows, Unit: "rows"})
					if b.Len() > copyBytes {
						return "", &api.Fault{Kind: "limit", Offset: -1, Message: "The column is longer than 32 MiB.", Try: "Export the rows instead."}
					}
					if len(a.Rows) == 0 || a.TotalKnown && page.Offset >= a.Total || v.State.Limit > 0 && page.Offset >= int64(v.State.Limit) {
						return b.String(), nil
					}
				}
			})
		}, key)
	case l.fault != nil:
		return view.FaultPanel(l.fault, nil, func(goapp.Context, goapp.Event) { l.reset() })
	case l.val == nil:
		return view.Loading(text.T("Reading the column"), true, l.prog, l.canceller())
	}
	return &view.CopyButton{Label: text.F("Copy all %s", model.Plural(int64(strings.Count(*l.val, "\n")), "value")), Text: *l.val, Wide: true}
}

// plainText is a value on a line of its own: text as it is, unless it has line ends; null is an empty line.
func plainText(raw json.RawMessage) string {
	c := model.Cell(raw)
	switch c.Kind {
	case model.NullNode:
		return ""
	case model.StringNode:
		if s := copyText(raw, c); !strings.ContainsAny(s, "\r\n") {
			return s
		}
	}
	return string(raw)
}
