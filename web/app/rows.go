package app

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/client"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// rowsView is a grid of merged rows that reads pages as they are scrolled into sight and
// draws only the rows and columns that are seen. It follows the WAI-ARIA grid pattern:
// the grid has the focus, and names the cell that the keys have reached.
type rowsView struct {
	goapp.Compo

	Root  *Root
	State model.State
	Table string
	Rev   int
	// Stream shows what Flink reads, with the kinds of rows.
	Stream bool

	ctx goapp.Context
	// query is what the pages were asked for; other pages are dropped.
	query string
	pages map[int64]*rowPage
	first *api.Rows // the first page answered: columns, rules, findings
	total int64
	known bool
	count *rowCount // the count of all rows, while it runs or when it failed
	fault *api.Fault

	// cols is how columns are shown, layout what that and State.HideMeta were computed for.
	cols   model.GridColumns
	widths []float64
	shown  []int // columns shown, by index; the first pinned of them stay at the left edge
	pinned int
	auto   []float64 // widths by what the columns hold

	stats   map[string]*load[api.ColumnStats]
	choose  bool   // the chooser of columns is open
	find    string // what is searched in it
	menu    *gridMenu
	said    string // what was done last, for a moment
	gridRev int
	slots   []gridSlot
	anchor  int64 // the row at the top of the slots' own coordinates
	rowGen  int   // changes with all that every row depends on
	rowKey  string
	later   bool // more rows are drawn by a task of their own
	atOnce  int  // rows drawn anew by a task, and how long one took lately
	perRow  time.Duration
	begun   bool // the grid was drawn once, without rows
	body    *gridBody
	copying load[string]

	top, left, viewH, viewW float64
	win                     model.Window
	colFirst, colEnd        int
	grid                    goapp.Value // the element that the listeners are attached to
	release                 []func()
	settle                  *time.Timer

	curRow  int64
	curCol  int
	inspect bool
	// back is the cell to be chosen when rows and grid are there.
	back *leftCell
}

// rowPage is a page of rows, read or on its way.
type rowPage struct {
	cells  [][]model.CellText
	raw    [][]json.RawMessage
	slices []api.RowSlice
	busy   bool
	slow   bool
	prog   api.Progress
	fault  *api.Fault
	cancel context.CancelFunc
}

// rowCount is the reading of all rows to count them.
type rowCount struct {
	prog   api.Progress
	fault  *api.Fault
	cancel context.CancelFunc
}

// beyond is the offset of a row that no table has: to answer for it, all rows are read.
const beyond = 1 << 50

const (
	rowsPage  = 200
	rowHeight = 27.0
	headH     = 44.0
	numberW   = 58.0
	keepPages = 40
)

func (v *rowsView) OnMount(ctx goapp.Context) {
	v.ctx = ctx
	v.Root.rows = v
	v.refresh()
}

func (v *rowsView) OnUpdate(ctx goapp.Context) {
	v.ctx = ctx
	v.refresh()
}

func (v *rowsView) OnDismount() {
	v.detach()
	r := v.Root
	if r.rows == v {
		r.rows = nil
	}
	if col, ok := v.column(v.curCol); ok && r.s.state.View == model.History {
		r.s.leftCell = leftCell{query: v.query, row: v.curRow, column: col.Name, inspect: v.inspect}
	}
	for _, p := range v.pages {
		if p.cancel != nil {
			p.cancel()
		}
	}
	v.stopCount()
	v.copying.stop()
	for _, l := range v.stats {
		l.stop()
	}
	if v.settle != nil {
		v.settle.Stop()
	}
}

// leftCell is the cell of the rows from which a record's history was opened.
type leftCell struct {
	query   string
	row     int64
	column  string
	inspect bool
}

// comeBack chooses the cell that was left for a record's history once more, when the same rows are there again.
func (v *rowsView) comeBack() {
	left := v.Root.s.leftCell
	if left.query == "" || left.query != v.query || v.Stream {
		return
	}
	v.Root.s.leftCell = leftCell{}
	v.inspect = left.inspect
	v.back = &left
	v.goBack()
}

// goBack chooses the cell to come back to, once both the rows and the grid are there: whichever comes last calls it.
func (v *rowsView) goBack() {
	if v.back == nil || v.grid == nil || v.first == nil {
		return
	}
	left := v.back
	v.back = nil
	view.AfterFrame(func() {
		v.inGrid(func() {
			if v.grid == nil || v.first == nil {
				return
			}
			v.measure()
			if !v.known {
				v.total = max(v.total, left.row+1) // it was there
			}
			col := v.curCol
			for j, c := range v.shown {
				if v.first.Columns[c].Name == left.column {
					col = j
				}
			}
			v.moveTo(left.row, col)
			if on := goapp.Window().Get("document").Get("activeElement"); !on.Truthy() || on.Get("tagName").String() == "BODY" || on.Call("closest", ".tabs").Truthy() {
				v.grid.Call("focus", map[string]any{"preventScroll": true})
			}
		})
	})
}

// copied are the rows that were read, as a list of objects.
func (v *rowsView) copied() string {
	if v.first == nil {
		return "[]"
	}
	var rows []string
	for _, n := range slices.Sorted(maps.Keys(v.pages)) {
		for _, row := range v.pages[n].raw {
			rows = append(rows, model.RowJSON(v.first.Columns, row))
		}
	}
	return "[" + strings.Join(rows, ",\n") + "]"
}

func (v *rowsView) detach() {
	for _, f := range v.release {
		f()
	}
	v.release, v.grid = nil, nil
}

// refresh starts over when the query changed.
func (v *rowsView) refresh() {
	op, req := v.request(0, rowsPage)
	q := string(op) + requestKey(req) + strconv.Itoa(v.State.Limit)
	if q == v.query && v.pages != nil {
		v.columns()
		return
	}
	for _, p := range v.pages {
		if p.cancel != nil {
			p.cancel()
		}
	}
	v.stopCount()
	v.query, v.pages = q, map[int64]*rowPage{}
	v.first, v.total, v.known, v.fault, v.widths, v.auto, v.shown = nil, 0, false, nil, nil, nil, nil
	v.menu, v.slots, v.begun, v.later = nil, nil, false, false
	v.copying.reset()
	v.top, v.left, v.curRow, v.curCol, v.inspect, v.back = 0, 0, 0, 0, false, nil
	v.need(0)
	v.Update()
}

// request asks for rows from an offset on.
func (v *rowsView) request(offset int64, limit int) (api.Op, any) {
	t := api.Table{Location: v.Table, Hudi: v.State.Rules}
	if v.Stream {
		req := api.StreamRequest{Table: t, Options: model.SplitOptions(v.State.Flink), Batch: v.State.Batch, Seen: v.State.Seen, Offset: offset, Limit: limit}
		req.Partitions, _ = placeOf(v.State)
		return api.OpStream, req
	}
	if n := int64(v.State.Limit); n > 0 && offset < beyond {
		limit = int(min(int64(limit), max(n-offset, 1)))
	}
	req := api.RowsRequest{Table: t, Options: queryOptions(v.State), Condition: conditionOf(v.State), Order: model.SplitOrder(v.State.Order), Offset: offset, Limit: limit}
	if offset >= beyond {
		req.Order = nil // only counted
	}
	req.Partitions, req.FileID = placeOf(v.State)
	return api.OpRows, req
}

// need asks for a page unless it is there or on its way.
func (v *rowsView) need(n int64) {
	if p := v.pages[n]; p != nil && p.fault == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &rowPage{busy: true, cancel: cancel}
	v.pages[n] = p
	query, dispatch := v.query, v.ctx.Dispatch
	op, req := v.request(n*rowsPage, rowsPage)
	transport := v.Root.s.transport
	changes := v.State.Query == "cdc" && !v.Stream
	progress := newest(drawer(dispatch), func(pr api.Progress) { p.prog = pr })
	if v.first != nil {
		progress = nil // only that of the first page is shown
	}
	go func() {
		a, err := client.Call[api.Rows](ctx, transport, op, req, progress)
		cancel()
		var cells [][]model.CellText
		if err == nil {
			cells = cellTexts(a.Rows)
			if changes {
				imagesFirst(cells, &a)
			}
		}
		// What was decoded took its time: drawing it is a task of its own.
		time.Sleep(time.Millisecond)
		draw := drawer(dispatch)
		if v.first != nil && v.known && !v.inspect && !p.slow {
			draw = v.inGrid // nothing around the rows tells of them
		}
		draw(func() {
			if v.query != query || v.pages[n] != p {
				return
			}
			p.busy, p.slow = false, false
			if err != nil {
				p.fault = v.Root.s.faultOf(err)
				if v.first == nil {
					v.fault = p.fault
				}
				return
			}
			p.cells = cells
			v.take(n, p, &a)
		})
	}()
	time.AfterFunc(slowAfter, func() {
		if !p.busy {
			return
		}
		dispatch(func(goapp.Context) {
			if p.busy {
				p.slow = true
			}
		})
	})
}

// drawer is a component's dispatch for functions that need no context.
func drawer(dispatch func(func(goapp.Context))) func(func()) {
	return func(f func()) { dispatch(func(goapp.Context) { f() }) }
}

// countAll reads all rows, so that the scroll bar covers them.
func (v *rowsView) countAll() {
	v.stopCount()
	ctx, cancel := context.WithCancel(context.Background())
	c := &rowCount{cancel: cancel, prog: api.Progress{Phase: text.T("Counting all rows")}}
	v.count = c
	dispatch, transport := v.ctx.Dispatch, v.Root.s.transport
	op, req := v.request(beyond, 1)
	progress := newest(drawer(dispatch), func(pr api.Progress) { c.prog = pr })
	go func() {
		a, err := client.Call[api.Rows](ctx, transport, op, req, progress)
		cancel()
		dispatch(func(goapp.Context) {
			if v.count != c {
				return
			}
			if err != nil {
				c.fault, c.cancel = v.Root.s.faultOf(err), nil
				return
			}
			v.count = nil
			if a.TotalKnown {
				v.total, v.known = a.Total, true
				v.cap()
			}
		})
	}()
}

func (v *rowsView) stopCount() {
	if v.count != nil && v.count.cancel != nil {
		v.count.cancel()
	}
	v.count = nil
}

// counting offers to count all rows, and shows how far that is.
func (v *rowsView) counting() []goapp.UI {
	c := v.count
	switch {
	case v.known:
		return nil
	case c == nil || c.fault != nil:
		b := view.Button("small", text.T("Count all"), func(goapp.Context, goapp.Event) { v.countAll() })
		if c == nil {
			return []goapp.UI{b}
		}
		return []goapp.UI{b, goapp.Span().Class("badge bad").Title(text.Said(c.fault.Try)).Text(text.Said(c.fault.Message))}
	}
	said := c.prog.Phase
	if c.prog.Done > 0 {
		said += ": " + model.Count(c.prog.Done)
		if c.prog.Total > 0 {
			said += text.F(" of %s", model.Count(c.prog.Total))
		}
		said += " " + c.prog.Unit
	}
	return []goapp.UI{
		goapp.Span().ID("row-counting").Class("dim").Role("status").Text(said),
		view.Button("small", text.T("Cancel"), func(goapp.Context, goapp.Event) { v.stopCount() }),
	}
}

// cellTexts are the texts of the cells of rows.
func cellTexts(rows [][]json.RawMessage) [][]model.CellText {
	out := make([][]model.CellText, len(rows))
	for i, row := range rows {
		out[i] = make([]model.CellText, len(row))
		for j, x := range row {
			out[i][j] = model.Cell(x)
		}
	}
	return out
}

func (v *rowsView) take(n int64, p *rowPage, a *api.Rows) {
	p.raw, p.slices = a.Rows, a.Slices
	if v.first == nil {
		v.first = a
	}
	if a.TotalKnown {
		v.total, v.known = a.Total, true
	} else if !v.known {
		// At least one more page may follow; scrolling finds out.
		v.total = max(v.total, a.Total, a.Offset+int64(len(a.Rows)))
	}
	v.cap()
	if v.auto == nil {
		v.columns()
		v.comeBack()
	}
	if len(v.pages) > keepPages {
		v.dropFar(n)
	}
}

// cap ends the rows at the limit of the query.
func (v *rowsView) cap() {
	if n := int64(v.State.Limit); n > 0 && !v.Stream && v.total >= n {
		v.total, v.known = n, true
	}
}

// dropFar forgets the pages farthest from page n.
func (v *rowsView) dropFar(n int64) {
	for len(v.pages) > keepPages {
		far, dist := int64(-1), int64(-1)
		for k := range v.pages {
			d := k - n
			if d < 0 {
				d = -d
			}
			if d > dist {
				far, dist = k, d
			}
		}
		if p := v.pages[far]; p.cancel != nil {
			p.cancel()
		}
		delete(v.pages, far)
	}
}

// attach listens to the grid element: scrolling must not redraw the whole page.
func (v *rowsView) attach() {
	el := goapp.Window().GetElementByID("grid")
	if !el.Truthy() {
		v.detach()
		return
	}
	if v.grid != nil && v.grid.Equal(el) {
		return
	}
	v.detach()
	v.grid = el
	// The observer tells the size once the browser has laid out the page; asking now would make it do so twice.
	resize := goapp.FuncOf(func(goapp.Value, []goapp.Value) any {
		// What it makes the grid draw is no part of the task that lays out the page.
		time.AfterFunc(time.Millisecond, v.moved)
		return nil
	})
	obs := goapp.Window().Get("ResizeObserver").New(resize)
	obs.Call("observe", el)
	v.release = append(v.release,
		view.Listen(el, "scroll", true, func(goapp.Value) { v.moved() }),
		func() { obs.Call("disconnect"); resize.Release() },
	)
	v.goBack()
}

func (v *rowsView) measure() {
	v.top, v.left = v.grid.Get("scrollTop").Float(), v.grid.Get("scrollLeft").Float()
	v.viewH, v.viewW = v.grid.Get("clientHeight").Float(), v.grid.Get("clientWidth").Float()
}

func (v *rowsView) moved() {
	if v.grid == nil {
		return
	}
	before := v.viewW
	v.measure()
	if v.viewW != before {
		v.columns()
	}
	w := v.window()
	f, e, _, _ := v.seenColumns()
	if w != v.win || f != v.colFirst || e != v.colEnd {
		v.redraw()
	}
	// Pages are asked for when the scrolling rests, so that flying past costs nothing.
	if v.settle != nil {
		v.settle.Stop()
	}
	v.settle = time.AfterFunc(90*time.Millisecond, func() { v.inGrid(v.fetch) })
}

func (v *rowsView) window() model.Window {
	h := v.viewH - headH
	if h <= 0 {
		h = 600
	}
	return model.ScrollWindow(v.rowCount(), rowHeight, h, v.top, 8)
}

// rowCount is how many rows can be scrolled to: one page more than known while the end is not.
func (v *rowsView) rowCount() int64 {
	if v.known || v.first == nil {
		return v.total
	}
	return v.total + 1
}

// fetch asks for the pages in sight and stops those that are not any more.
func (v *rowsView) fetch() {
	if v.first == nil {
		return // the first page is on its way; until it is there nothing is known of the others
	}
	pages := model.Pages(v.window(), rowsPage)
	in := map[int64]bool{}
	for _, n := range pages {
		in[n] = true
	}
	for n, p := range v.pages {
		if p.busy && !in[n] {
			p.cancel()
			delete(v.pages, n)
		}
	}
	for _, n := range pages {
		if p := v.pages[n]; p != nil && p.fault != nil {
			continue // shown with a way to try again
		}
		v.need(n)
	}
}

func (v *rowsView) row(i int64) (cells []model.CellText, p *rowPage) {
	p = v.pages[i/rowsPage]
	if p == nil || int(i%rowsPage) >= len(p.cells) {
		return nil, p
	}
	return p.cells[i%rowsPage], p
}

func (v *rowsView) Render() goapp.UI {
	if v.ctx != nil {
		// The grid element may be new after this rendering.
		v.ctx.Defer(func(goapp.Context) { v.attach() })
	}
	body := []goapp.UI{v.toolbar()}
	switch {
	case !v.Stream && whereFault(v.fault) != nil:
		body = append(body, view.Empty(view.IconRows, text.T("No rows yet"), text.T("The condition can't be understood: see the mark in it above.")))
	case v.fault != nil:
		body = append(body, view.FaultPanel(v.fault, v.Root.bytesLink(v.fault), func(goapp.Context, goapp.Event) {
			v.fault = nil
			delete(v.pages, 0)
			v.need(0)
		}))
	case v.first == nil:
		p := v.pages[0]
		slow, prog := false, api.Progress{}
		var cancel view.Handler
		if p != nil {
			slow, prog = p.slow, p.prog
			cancel = func(goapp.Context, goapp.Event) { p.cancel() }
		}
		body = append(body, view.Loading(text.T("Merging rows"), slow, prog, cancel), bones())
	case v.known && v.total == 0:
		said := text.T("The table has no rows as of now.")
		if v.State.Query == "inc" || v.State.Query == "cdc" {
			said = text.T("Nothing changed in this range. The begin is left out of it, the end belongs to it.")
		}
		if v.State.AsOf != "" && !v.Stream {
			said = text.F("The table had no rows as of %s.", model.Clock(v.State.AsOf))
		}
		if v.State.FileID != "" || v.State.OnlyPartition {
			said = text.T("This part of the table has no rows.")
		}
		if v.State.Where != "" && !v.Stream {
			said = text.T("No row fulfils the condition.")
		}
		if v.Stream {
			said = text.T("This read gives no rows. Without a start the stream begins at the last completed commit; read.start-commit=earliest reads all.")
		}
		body = append(body, view.Empty(view.IconRows, text.T("No rows"), said))
	default:
		body = append(body, view.Div("grid-split", v.drawnGrid(), v.side()), v.menuBox())
	}
	// What was done is said over the rows: nothing moves for it.
	body = append(body, goapp.Div().Class("said").Role("status").Text(v.said))
	return view.Div("rows", body...)
}

func (v *rowsView) toolbar() goapp.UI {
	st := v.State
	var items []goapp.UI
	if v.first != nil {
		n := model.Plural(v.total, "row")
		if !v.known {
			n = model.Plural(v.total, "row") + " read so far"
		}
		items = append(items, goapp.Strong().ID("row-count").Class("num").Text(n))
		items = append(items, v.counting()...)
		if v.first.AsOf != "" {
			asOf := goapp.Span().Class("dim").Body(goapp.Text(text.T("as of ")), goapp.Span().Class("mono").Title(model.Clock(v.first.AsOf)).Text(v.first.AsOf))
			items = append(items, asOf)
		}
		if v.first.Rules != "" {
			items = append(items, goapp.Span().Class("dim").Title(text.T("The Hudi release whose rules of reading were followed")).Text(text.F("rules: %s", rulesName(st, v.first.Rules))))
		}
	}
	if st.FileID != "" {
		all := st
		all.FileID, all.Slice, all.Partition, all.OnlyPartition = "", "", "", false
		items = append(items, goapp.A().Class("chip").Href("#"+all.Fragment()).Title(text.T("Show all rows")).Body(
			goapp.Text(text.T("file group ")), view.Mono(model.ShortID(st.FileID)), view.IconClose.UI()))
	} else if st.OnlyPartition {
		all := st
		all.Partition, all.OnlyPartition = "", false
		items = append(items, goapp.A().Class("chip").Href("#"+all.Fragment()).Title(text.T("Show all rows")).Body(
			goapp.Text(text.T("partition ")), view.Mono(partitionName(st.Partition)), view.IconClose.UI()))
	}
	loading := false
	for n, p := range v.pages {
		if p.busy && p.slow && n > 0 {
			loading = true
		}
	}
	if loading {
		items = append(items, goapp.Span().Class("dim").Role("status").Text(text.T("reading more rows…")))
	}
	meta := st
	meta.HideMeta = !st.HideMeta
	toggle := goapp.A().Class("switch").Role("switch").Aria("checked", !st.HideMeta).Href("#"+meta.Fragment()).Title(text.T("Show or hide the columns that Hudi adds")).
		Body(view.Span("switch-knob", ""), goapp.Text(text.T("_hoodie_ columns")))
	if v.Stream {
		items = append(items, view.Div("toolbar-end", v.Root.takeAway(), v.gridButtons(), toggle))
		out := []goapp.UI{view.Div("toolbar", items...), v.chooser()}
		if v.first != nil {
			if f := view.Findings(v.first.Findings); f != nil {
				out = append(out, f)
			}
		}
		return view.Div("rows-top", view.Group(out...)...)
	}
	items = append(items, view.Div("toolbar-end", v.Root.takeAway(), v.gridButtons(), v.optionsButton(), toggle))
	out := []goapp.UI{view.Div("toolbar", items...), v.chooser()}
	if v.Root.s.rowOptions || optionsGiven(st) {
		out = append(out, v.Root.queryForm(st))
	}
	out = append(out, &predicateBox{Root: v.Root, State: st, Fault: whereFault(v.fault), Rev: v.Rev})
	if x := v.Root.otherwise(); x != nil {
		out = append(out, x)
	}
	if v.first != nil {
		if f := view.Findings(v.first.Findings); f != nil {
			out = append(out, f)
		}
	}
	return view.Div("rows-top", view.Group(out...)...)
}

// inspector shows the chosen cell in full.
func (v *rowsView) inspector() goapp.UI {
	if !v.inspect || v.curCol >= len(v.shown) || v.curRow < 0 {
		return nil
	}
	p := v.pages[v.curRow/rowsPage]
	at := int(v.curRow % rowsPage)
	if p == nil || at >= len(p.raw) {
		return nil
	}
	col := v.shown[v.curCol]
	c := v.first.Columns[col]
	raw := p.raw[at][col]
	cell := model.Cell(raw)
	var value goapp.UI
	switch cell.Kind {
	case model.ObjectNode, model.ArrayNode:
		value = &view.JSONTree{Doc: string(raw), Label: c.Name, Depth: 2}
	case model.NullNode:
		value = goapp.P().Class("j-null").Text(text.T("null"))
	case model.StringNode:
		var s string
		_ = json.Unmarshal(raw, &s)
		if s == "" {
			value = goapp.P().Class("j-null").Text(text.T("empty text"))
		} else if v.State.Query == "cdc" && !v.Stream && changeImage(c.Name) && json.Valid([]byte(s)) {
			value = &view.JSONTree{Doc: model.MetaLast(s), Label: c.Name, Depth: 2}
		} else {
			value = goapp.Pre().Class("raw value").Text(s)
		}
	default:
		value = goapp.Pre().Class("raw value").Text(string(raw))
	}
	rowJSON := model.RowJSON(v.first.Columns, p.raw[at])
	facts := []goapp.UI{view.Fact(text.T("Column"), view.Mono(c.Name)), view.Fact(text.T("Type"), view.Mono(c.Type)), view.FactText(text.T("Row"), model.Count(v.curRow+1))}
	if sl := sliceOf(p.slices, v.curRow); sl != nil {
		st := v.State.Go(model.Files)
		st.Partition, st.FileID, st.Slice, st.OnlyPartition = sl.Partition, sl.FileID, sl.BaseInstant, false
		facts = append(facts, view.Fact(text.T("From"), view.Link("link mono", st, goapp.Text(partitionName(sl.Partition)+" / "+model.ShortID(sl.FileID)))))
	}
	actions := []goapp.UI{}
	if key, ok := v.recordKey(v.curRow); ok {
		actions = append(actions, view.Link("button small primary", v.State.HistoryOf(key), view.IconLadder.UI(), goapp.Text(text.T("Why this value? The record's history"))))
	}
	return goapp.Aside().Class("inspector").Aria("label", text.T("The chosen value")).Body(
		view.Div("detail-head", goapp.H2().Class("mono").Text(c.Name), view.Div("detail-tools",
			view.IconButton(view.IconClose, text.T("Close (Esc)"), func(goapp.Context, goapp.Event) { v.inspect = false }))),
		value,
		view.Div("actions", actions...),
		view.Div("actions",
			&view.CopyButton{Label: text.T("Copy value"), Text: copyText(raw, cell), Wide: true},
			&view.CopyButton{Label: text.T("Copy row"), Text: rowJSON, Wide: true}),
		view.Facts("", facts...),
	)
}

// recordKey is the record key of a row: the meta column, or made of the key fields where the
// table stores no meta columns.
func (v *rowsView) recordKey(row int64) (string, bool) {
	if row < 0 {
		return "", false
	}
	p := v.pages[row/rowsPage]
	at := int(row % rowsPage)
	if p == nil || at >= len(p.raw) || v.first == nil {
		return "", false
	}
	o := v.Root.s.overview.val
	if o == nil {
		return "", false
	}
	return model.RecordKey(v.first.Columns, p.raw[at], o.RecordKeys)
}

func copyText(raw json.RawMessage, c model.CellText) string {
	if c.Kind == model.StringNode {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return s
		}
	}
	return string(raw)
}

// sliceOf is the slice that a row comes from: the last one that begins at or before it.
func sliceOf(slices []api.RowSlice, row int64) *api.RowSlice {
	var out *api.RowSlice
	for i := range slices {
		if slices[i].FirstRow <= row {
			out = &slices[i]
		}
	}
	return out
}

// numeric reports whether values of a type are written to the right.
func numeric(t string) bool {
	switch t {
	case "int", "long", "float", "double":
		return true
	}
	return false
}

// changeImage reports whether a column of change data is an image of a row: JSON in a text.
func changeImage(name string) bool { return name == "before" || name == "after" }

// imagesFirst shows what the images of changes hold, with the columns that Hudi adds at their ends.
func imagesFirst(cells [][]model.CellText, a *api.Rows) {
	for j := range a.Columns {
		if !changeImage(a.Columns[j].Name) {
			continue
		}
		for i, row := range a.Rows {
			var s string
			if j >= len(row) || json.Unmarshal(row[j], &s) != nil || s == "" {
				continue
			}
			if doc, err := json.Marshal(model.MetaLast(s)); err == nil {
				cells[i][j] = model.Cell(doc)
			}
		}
	}
}
