package app

import (
	"encoding/json"
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

// gridBody draws the grid of a rowsView. It is a component of its own, so that scrolling draws nothing else.
type gridBody struct {
	goapp.Compo

	View *rowsView
	// Rev changes whenever the view is drawn.
	Rev int

	ctx goapp.Context
}

// OnMount implements app.Mounter.
func (g *gridBody) OnMount(ctx goapp.Context) { g.ctx = ctx }

// Render implements app.Composer.
func (g *gridBody) Render() goapp.UI {
	g.View.body = g
	return g.View.drawGrid()
}

// drawnGrid is the grid as a part of the view.
func (v *rowsView) drawnGrid() goapp.UI {
	v.gridRev++
	return &gridBody{View: v, Rev: v.gridRev}
}

// redraw draws the grid again, and nothing around it.
func (v *rowsView) redraw() { v.inGrid(func() {}) }

// inGrid runs f on the UI goroutine and draws the grid again, and nothing around it.
func (v *rowsView) inGrid(f func()) {
	if b := v.body; b != nil && b.ctx != nil && b.Mounted() {
		b.ctx.Dispatch(func(goapp.Context) { f() })
		return
	}
	v.ctx.Dispatch(func(goapp.Context) { f() })
}

// columns chooses the columns to draw and their widths.
func (v *rowsView) columns() {
	if v.first == nil {
		return
	}
	all := v.first.Columns
	v.cols = model.ParseGridColumns(v.State.Grid)
	if v.auto == nil {
		names, types := make([]string, len(all)), make([]string, len(all))
		for i, c := range all {
			names[i], types[i] = c.Name, c.Type
		}
		var sample [][]model.CellText
		if p := v.pages[0]; p != nil {
			sample = p.cells[:min(len(p.cells), 60)]
		}
		v.auto = model.ColumnWidths(names, types, sample)
	}
	v.shown, v.pinned = v.cols.Layout(all, v.State.HideMeta)
	v.widths = v.widths[:0]
	for _, c := range v.shown {
		w := v.auto[c]
		if n := v.cols.Widths[all[c].Name]; n > 0 {
			w = float64(n)
		}
		v.widths = append(v.widths, w)
	}
	// What stays at the left edge must leave room for the rest.
	for v.pinned > 0 && v.viewW > 0 && v.pinnedWidth()+numberW > v.viewW*0.7 {
		v.pinned--
	}
	v.curCol = min(v.curCol, max(0, len(v.shown)-1))
}

func (v *rowsView) pinnedWidth() float64 {
	w := 0.0
	for _, x := range v.widths[:v.pinned] {
		w += x
	}
	return w
}

// seenColumns are the columns behind the pinned ones that are seen: [first, end) of those shown, and the width of
// those before and after.
func (v *rowsView) seenColumns() (first, end int, before, after float64) {
	room := v.viewW - numberW - v.pinnedWidth()
	if v.viewW <= 0 {
		room = 1200
	}
	first, end, before, after = model.Columns(v.widths[v.pinned:], v.left, room)
	return first + v.pinned, end + v.pinned, before, after
}

// setColumns shows columns in another way.
func (v *rowsView) setColumns(change func(g *model.GridColumns)) {
	g := model.ParseGridColumns(v.Root.s.state.Grid)
	change(&g)
	to := v.Root.s.state
	to.Grid = g.String()
	v.Root.navigate(to)
}

// orderBy orders the rows once more by a column: ascending, descending, as they come.
func (v *rowsView) orderBy(name string, add bool) {
	if v.Stream {
		return
	}
	to := v.Root.s.state
	to.Order = model.JoinOrder(model.NextOrder(model.SplitOrder(to.Order), name, add))
	v.Root.navigate(to)
}

// showStats opens the statistics of a column, or closes them.
func (v *rowsView) showStats(name string) {
	if v.Stream {
		return
	}
	to := v.Root.s.state
	if to.Stats == name {
		name = ""
	}
	to.Stats = name
	v.Root.navigate(to)
}

func (v *rowsView) column(c int) (api.Column, bool) {
	if v.first == nil || c < 0 || c >= len(v.shown) {
		return api.Column{}, false
	}
	return v.first.Columns[v.shown[c]], true
}

// say tells for a moment what was done.
func (v *rowsView) say(what string) {
	v.said = what
	time.AfterFunc(2500*time.Millisecond, func() {
		v.ctx.Dispatch(func(goapp.Context) {
			if v.said == what {
				v.said = ""
			}
		})
	})
}

// copyOut puts a text into the clipboard and says so.
func (v *rowsView) copyOut(content, said string) {
	clip := goapp.Window().Get("navigator").Get("clipboard")
	if !clip.Truthy() {
		v.say(text.T("This page may not use the clipboard."))
		return
	}
	clip.Call("writeText", content)
	v.say(said)
}

func (v *rowsView) key(_ goapp.Context, e goapp.Event) {
	if e.Get("metaKey").Truthy() || e.Get("altKey").Truthy() || len(v.shown) == 0 || v.total == 0 {
		return
	}
	ctrl, shift := e.Get("ctrlKey").Truthy(), e.Get("shiftKey").Truthy()
	page := int64(max(1, (v.viewH-headH)/rowHeight-1))
	r, c := v.curRow, v.curCol
	col, _ := v.column(c)
	done := func(f func()) {
		e.Call("preventDefault")
		e.Call("stopPropagation")
		if f != nil {
			f()
		}
	}
	key := e.Get("key").String()
	switch {
	case ctrl && key == "c":
		if p := v.pages[max(r, 0)/rowsPage]; r >= 0 && goapp.Window().Call("getSelection").Call("toString").String() == "" && p != nil && int(r%rowsPage) < len(p.raw) {
			raw := p.raw[r%rowsPage][v.shown[c]]
			done(func() { v.copyOut(copyText(raw, model.Cell(raw)), text.T("Copied the value")) })
		}
		return
	case shift && (key == "ArrowLeft" || key == "ArrowRight"):
		by := 16.0
		if key == "ArrowLeft" {
			by = -by
		}
		done(func() { v.setColumns(func(g *model.GridColumns) { g.Resize(col.Name, v.widths[c]+by) }) })
		return
	}
	switch key {
	case "ArrowDown":
		r++
	case "ArrowUp":
		r-- // above the first row is the head
	case "ArrowRight":
		c++
	case "ArrowLeft":
		c--
	case "PageDown":
		r += page
	case "PageUp":
		r = max(r-page, min(r, 0))
	case "Home":
		c = 0
		if ctrl {
			r = 0
		}
	case "End":
		// Once more at the last column: the last row.
		last := len(v.shown) - 1
		if ctrl || c == last {
			r = v.total - 1
		}
		c = last
	case "Enter", " ":
		if r < 0 {
			done(func() { v.showStats(col.Name) })
			return
		}
		v.inspect = !v.inspect
	case "h":
		if key, ok := v.recordKey(r); ok {
			done(func() { v.Root.navigate(v.State.HistoryOf(key)) })
		}
		return
	case "s", "S":
		done(func() { v.orderBy(col.Name, shift) })
		return
	case "i":
		done(func() { v.showStats(col.Name) })
		return
	case "p":
		done(func() { v.pin(c) })
		return
	case "x":
		done(func() { v.setColumns(func(g *model.GridColumns) { g.Hide(col.Name, true) }) })
		return
	case "<", ">":
		by := 1
		if key == "<" {
			by = -1
		}
		done(func() { v.move(c, by) })
		return
	case "Escape":
		switch {
		case v.menu != nil:
			v.menu = nil
		case v.inspect:
			v.inspect = false
		case v.State.Stats != "":
			v.showStats(v.State.Stats)
		default:
			return
		}
	default:
		return
	}
	done(nil)
	v.moveTo(r, c)
}

// pin keeps a column at the left edge, or lets it go.
func (v *rowsView) pin(c int) {
	col, ok := v.column(c)
	if !ok {
		return
	}
	v.setColumns(func(g *model.GridColumns) {
		if !g.Pin(col.Name, c >= v.pinned) {
			v.say(text.F("At most %s columns can be pinned.", strconv.Itoa(model.MaxPinned)))
		}
	})
}

// move moves a column among those beside it.
func (v *rowsView) move(c, by int) {
	col, ok := v.column(c)
	if !ok {
		return
	}
	v.setColumns(func(g *model.GridColumns) {
		if g.Move(v.first.Columns, v.State.HideMeta, col.Name, by) {
			v.curCol = min(max(c+by, 0), len(v.shown)-1)
		}
	})
}

func (v *rowsView) moveTo(r int64, c int) {
	v.curRow = min(max(r, -1), v.total-1)
	v.curCol = min(max(c, 0), len(v.shown)-1)
	if v.grid != nil {
		if v.curRow >= 0 {
			v.grid.Set("scrollTop", model.ScrollTo(v.rowCount(), v.curRow, rowHeight, v.viewH-headH, v.top))
		}
		if v.curCol >= v.pinned {
			x := 0.0
			for _, w := range v.widths[v.pinned:v.curCol] {
				x += w
			}
			w := v.widths[v.curCol]
			room := v.viewW - numberW - v.pinnedWidth()
			switch {
			case x < v.left:
				v.grid.Set("scrollLeft", x)
			case x+w > v.left+room:
				v.grid.Set("scrollLeft", x+w-room)
			}
		}
	}
	if v.inspect {
		v.Update()
		return
	}
	v.redraw()
}

// place finds the cell that an event is about: its row, -1 in the head, and its column among those shown.
func (v *rowsView) place(e goapp.Event) (row int64, col int, ok bool) {
	el := e.Get("target").Call("closest", "[aria-colindex]")
	if !el.Truthy() {
		return 0, 0, false
	}
	ci, err := strconv.Atoi(el.Call("getAttribute", "aria-colindex").String())
	if err != nil || ci < 2 || ci-2 >= len(v.shown) {
		return 0, 0, false
	}
	r, ok := view.Closest(e, "[data-r]", "r")
	if !ok {
		return -1, ci - 2, true
	}
	row, err = strconv.ParseInt(r, 10, 64)
	return row, ci - 2, err == nil
}

func (v *rowsView) click(_ goapp.Context, e goapp.Event) {
	r, c, ok := v.place(e)
	if !ok {
		return
	}
	v.menu = nil
	v.curRow, v.curCol = r, c
	if r >= 0 {
		v.inspect = true
		return
	}
	col, _ := v.column(c)
	switch {
	case e.Get("target").Call("closest", ".hsize").Truthy():
	case e.Get("target").Call("closest", ".hsort").Truthy():
		v.orderBy(col.Name, e.Get("shiftKey").Truthy())
	default:
		v.inspect = false
		v.showStats(col.Name)
	}
}

// press begins to drag the edge of a column.
func (v *rowsView) press(ctx goapp.Context, e goapp.Event) {
	if !e.Get("target").Call("closest", ".hsize").Truthy() {
		return
	}
	_, c, ok := v.place(e)
	col, _ := v.column(c)
	if !ok {
		return
	}
	e.Call("preventDefault")
	doc := goapp.Window().Get("document")
	from, width := e.Get("clientX").Float(), v.widths[c]
	var release []func()
	stop := func() {
		for _, f := range release {
			f()
		}
	}
	release = append(release,
		view.Listen(doc, "pointermove", true, func(e goapp.Value) {
			if c < len(v.widths) {
				v.widths[c] = min(max(width+e.Get("clientX").Float()-from, model.MinColumn), model.MaxColumn)
				v.redraw()
			}
		}),
		view.Listen(doc, "pointerup", true, func(goapp.Value) {
			stop()
			ctx.Dispatch(func(goapp.Context) {
				if c < len(v.widths) {
					w := v.widths[c]
					v.setColumns(func(g *model.GridColumns) { g.Resize(col.Name, w) })
				}
			})
		}),
		view.Listen(doc, "pointercancel", true, func(goapp.Value) {
			stop()
			ctx.Dispatch(func(goapp.Context) { v.columns() })
		}))
}

const (
	iconPin  view.Icon = `<path d="M7 3.500h6M8 3.500v5L5.500 12h9L12 8.500v-5M10 12v5"/>`
	iconHide view.Icon = `<path d="M2.500 10s2.800-4.800 7.500-4.800S17.500 10 17.500 10s-2.800 4.800-7.500 4.800S2.500 10 2.500 10zM4 16.500 16 3.500"/>`
	iconCols view.Icon = `<rect x="3" y="4" width="14" height="12" rx="1"/><path d="M8 4v12M12.500 4v12"/>`
	iconStat view.Icon = `<path d="M3.500 16.500v-6M8 16.500v-11M12.500 16.500v-8M17 16.500v-4"/>`
)

func (v *rowsView) drawGrid() goapp.UI {
	v.win = v.window()
	first, end, before, after := v.seenColumns()
	v.colFirst, v.colEnd = first, end
	full := numberW
	for _, w := range v.widths {
		full += w
	}
	// The widths of the columns drawn are told once, by the element around all rows: every
	// attribute of a cell costs a call into the browser.
	var cols strings.Builder
	cols.WriteString(view.Px(numberW) + "px")
	for _, w := range v.widths[:v.pinned] {
		cols.WriteString(" " + view.Px(w) + "px")
	}
	cols.WriteString(" " + view.Px(before) + "px")
	for i := first; i < end; i++ {
		cols.WriteString(" " + view.Px(v.widths[i]) + "px")
	}
	cols.WriteString(" " + view.Px(after) + "px")
	drawn, _ := v.drawnColumns()
	active := ""

	rows := v.gridRows(drawn, first, &active)
	head := &gridHead{View: v, Gen: v.rowGen, Order: v.State.Order, Stats: v.State.Stats, Current: -1}
	if v.curRow < 0 {
		head.Current = v.curCol
		if slices.Contains(drawn, v.curCol) {
			active = "head-current"
		}
	}
	count := int64(-1)
	if v.known {
		count = v.total + 1
	}
	g := goapp.Div().ID("grid").Class("grid").Role("grid").TabIndex(0).
		Aria("label", text.T("Rows of the table")).Aria("rowcount", strconv.FormatInt(count, 10)).Aria("colcount", len(v.shown)+1).Aria("readonly", true)
	if active != "" {
		g = g.Aria("activedescendant", active)
	}
	all := goapp.Div().Class("grid-all").Role("presentation").Style("height", view.Px(v.win.Height+headH)+"px").Style("width", view.Px(full)+"px").Style("--cols", cols.String())
	x := numberW
	for j := range v.pinned {
		all = all.Style("--pin"+strconv.Itoa(j), view.Px(x)+"px")
		x += v.widths[j]
	}
	return g.OnClick(v.click).OnKeyDown(v.key).OnContextMenu(v.openMenu).On("pointerdown", v.press).Body(
		all.Body(
			head,
			goapp.Div().Class("grid-rows").Role("rowgroup").Style("transform", "translateY("+view.Px(v.win.Top-float64(v.win.First-v.anchor)*rowHeight)+"px)").Body(rows...),
		))
}

// pinClass keeps a pinned cell at its place.
func (v *rowsView) pinClass(j int) string {
	switch {
	case j >= v.pinned:
		return ""
	case j == v.pinned-1:
		return " pin last pin" + strconv.Itoa(j)
	}
	return " pin pin" + strconv.Itoa(j)
}

// gridHead draws the names of the columns. Like gridRow it is drawn again when its fields change.
type gridHead struct {
	goapp.Compo

	View         *rowsView
	Gen          int
	Order, Stats string
	Current      int // the current column, -1 where a row is current
}

// Render implements app.Composer.
func (h *gridHead) Render() goapp.UI {
	v := h.View
	order := model.SplitOrder(h.Order)
	drawn, first := v.drawnColumns()
	out := []goapp.UI{goapp.Div().Class("rownum corner").Role("columnheader").Aria("label", text.T("Row number")).Text("#")}
	for _, j := range drawn {
		if j == first && j >= v.pinned {
			out = append(out, goapp.Div())
		}
		out = append(out, v.headCell(j, order, j == h.Current))
	}
	if first >= v.colEnd {
		out = append(out, goapp.Div())
	}
	return goapp.Div().Class("grid-head").Role("row").Aria("rowindex", 1).Body(out...)
}

func (v *rowsView) headCell(j int, order []api.SortKey, current bool) goapp.UI {
	c := v.first.Columns[v.shown[j]]
	class := "hcell"
	if numeric(c.Type) {
		class += " num"
	}
	if c.Meta {
		class += " meta"
	}
	if v.State.Stats == c.Name {
		class += " open"
	}
	class += v.pinClass(j)
	cell := goapp.Div().Role("columnheader").Aria("colindex", j+2).Title(c.Name + "\n" + c.Type)
	place, desc := model.OrderOf(order, c.Name)
	mark, say := "↕", text.T("Order by this column")
	if place > 0 {
		mark = "↑"
		dir := "ascending"
		if desc {
			mark, dir = "↓", "descending"
		}
		if len(order) > 1 {
			mark += strconv.Itoa(place)
		}
		class += " ordered"
		cell = cell.Aria("sort", dir)
	}
	if current {
		class += " current"
		cell = cell.ID("head-current")
	}
	body := []goapp.UI{view.Span("hname", c.Name), view.Span("htype", c.Type)}
	if !v.Stream {
		body = append(body, goapp.Span().Class("hsort").Title(say).Aria("hidden", true).Text(mark))
	}
	return cell.Class(class).Body(append(body, goapp.Span().Class("hsize").Aria("hidden", true))...)
}

// How many rows are drawn anew by one task of the page: as many as take drawTime by what the last ones took, as making
// elements takes the longest, and a browser that is busy with something else longer still.
const (
	fewRows, mostRows, firstRows = 4, 24, 6
	drawTime                     = 10 * time.Millisecond
)

// gridSlot is the place of a row in the grid: the row and the state that are drawn there.
type gridSlot struct {
	row   int64 // -1 for none
	state int
}

// gridRows are the rows in sight. Row i lies in slot i modulo the number of slots, so that scrolling by a row draws
// one row, and where many rows change, a task draws some of them and leaves the rest to the next.
func (v *rowsView) gridRows(drawn []int, first int, active *string) []goapp.UI {
	n := int64(0)
	if v.win.Count > 0 {
		h := v.viewH - headH
		if h <= 0 {
			h = 600
		}
		n = min(v.rowCount(), max(int64(h/rowHeight)+2+2*8+1, v.win.Count))
	}
	var key strings.Builder
	key.WriteString(v.query)
	for _, j := range drawn {
		key.WriteString("," + strconv.Itoa(v.shown[j]))
	}
	key.WriteString("|" + strconv.Itoa(v.pinned) + "|" + strconv.Itoa(first))
	if k := key.String(); k != v.rowKey {
		v.rowKey = k
		v.rowGen++
	}
	if int64(len(v.slots)) != n {
		v.slots = make([]gridSlot, n)
		for i := range v.slots {
			v.slots[i].row = -1
		}
	}
	if d := v.win.First - v.anchor; d > 100_000 || d < -100_000 {
		v.anchor = v.win.First
	}
	left := v.atOnce
	if left == 0 {
		left = firstRows
	}
	if v.slots != nil && !v.later && !v.begun {
		// The head and all around it are new, too: the rows come next.
		left, v.begun = 0, true
	}
	fresh := 0
	for k := range v.win.Count {
		i := v.win.First + k
		to := gridSlot{i, v.rowState(i)}
		if at := i % n; v.slots[at] != to {
			if fresh == left {
				v.drawLater()
				break
			}
			v.slots[at] = to
			fresh++
		}
	}
	if fresh > 0 && v.ctx != nil {
		began := time.Now()
		v.ctx.Defer(func(goapp.Context) { v.took(fresh, time.Since(began)) })
	}
	out := make([]goapp.UI, 0, n)
	for _, x := range v.slots {
		if x.row < 0 {
			out = append(out, goapp.Div().Class("grow none").Role("presentation"))
			continue
		}
		r := &gridRow{View: v, Row: x.row, Gen: v.rowGen, At: x.row - v.anchor, State: x.state, Current: -1}
		if x.row == v.curRow {
			r.Current, r.Inspected = v.curCol, v.inspect
			if r.State == rowThere && slices.Contains(drawn, v.curCol) {
				*active = "cell-current"
			}
		}
		out = append(out, r)
	}
	return out
}

// took learns from how long rows took to draw how many are drawn next.
func (v *rowsView) took(rows int, d time.Duration) {
	per := max(d/time.Duration(rows), 50*time.Microsecond)
	v.perRow = (v.perRow + per) / 2
	v.atOnce = min(max(int(drawTime/max(v.perRow, per/2, 1)), fewRows), mostRows)
}

// drawLater goes on drawing in a task of its own.
func (v *rowsView) drawLater() {
	if v.later {
		return
	}
	v.later = true
	v.Root.tidy.soon()
	time.AfterFunc(time.Millisecond, func() { v.inGrid(func() { v.later = false }) })
}

// The states of a row.
const (
	rowWaits = iota
	rowThere
	rowFailed
)

// gridRow draws one row. Its fields are what its drawing depends on: a row whose fields stay is not drawn again.
type gridRow struct {
	goapp.Compo

	View      *rowsView
	Row, At   int64
	Gen       int
	State     int
	Current   int // the current cell of the row, -1 for none
	Inspected bool
}

// Render implements app.Composer.
func (r *gridRow) Render() goapp.UI {
	v, i := r.View, r.Row
	class := "grow"
	if i%2 == 1 {
		class += " odd"
	}
	cells, page := v.row(i)
	drawn, first := v.drawnColumns()
	out := make([]goapp.UI, 0, len(drawn)+3)
	out = append(out, goapp.Div().Class("rownum num").Role("rowheader").Text(strconv.FormatInt(i+1, 10)))
	if r.State == rowFailed && page != nil && page.fault != nil {
		f, n := page.fault, i/rowsPage
		out = append(out, goapp.Div().Class("gcell fault-cell").Role("gridcell").Body(view.Spoken("", f.Message), goapp.Text(" "),
			view.Button("small", text.T("Try again"), func(goapp.Context, goapp.Event) { delete(v.pages, n); v.need(n) }, n)))
	} else {
		// A row that waits has the elements of one that is there, so that its values need no new ones.
		for _, j := range drawn {
			if j == first && j >= v.pinned {
				out = append(out, goapp.Div())
			}
			if r.State == rowThere && cells != nil {
				out = append(out, v.gridCell(i, j, cells))
			} else {
				out = append(out, goapp.Div().Class("waits"+v.pinClass(j)).Role("gridcell").Text(""))
			}
		}
	}
	return goapp.Div().Class(class).Role("row").Aria("rowindex", strconv.FormatInt(i+2, 10)).DataSet("r", strconv.FormatInt(i, 10)).
		Style("top", strconv.FormatInt(r.At*rowHeight, 10)+"px").Body(out...)
}

// rowState is how a row is to be drawn.
func (v *rowsView) rowState(i int64) int {
	switch cells, page := v.row(i); {
	case cells != nil:
		return rowThere
	case page != nil && page.fault != nil:
		return rowFailed
	}
	return rowWaits
}

// drawnColumns are the columns that are drawn, among those shown; first is the first one that is not pinned.
func (v *rowsView) drawnColumns() (drawn []int, first int) {
	first, end := v.colFirst, v.colEnd
	drawn = make([]int, 0, v.pinned+end-first)
	for j := range v.pinned {
		drawn = append(drawn, j)
	}
	for j := first; j < end; j++ {
		drawn = append(drawn, j)
	}
	return drawn, first
}

func (v *rowsView) gridCell(i int64, j int, cells []model.CellText) goapp.UI {
	col := v.shown[j]
	var c model.CellText
	if col < len(cells) {
		c = cells[col]
	}
	cl := cellClass(c.Kind)
	if c.Kind != model.NumberNode && numeric(v.first.Columns[col].Type) {
		cl += " num" // null and NaN stand where the numbers do
	}
	if v.first.Columns[col].Meta {
		cl += " meta"
	}
	if v.Stream && col == 0 {
		cl += " kind " + kindClass(c.Text)
	}
	if j < v.pinned {
		cl += v.pinClass(j)
	}
	cell := goapp.Div().Role("gridcell").Aria("colindex", j+2).Text(c.Text)
	if i == v.curRow && j == v.curCol {
		cl += " current"
		if v.inspect {
			cl += " inspected"
		}
		cell = cell.ID("cell-current")
	}
	return cell.Class(cl)
}

// side is what is shown beside the grid: statistics of columns, the chosen value.
func (v *rowsView) side() goapp.UI {
	parts := view.Group(v.inspector(), v.statsPanel())
	if len(parts) == 0 {
		return view.Div("hidden")
	}
	return view.Div("grid-side", parts...)
}

// gridMenu is what can be done with a cell, or with a column where row is -1.
type gridMenu struct {
	x, y float64
	row  int64
	col  int
}

// openMenu opens the menu of a cell; by keyboard, that of the current one.
func (v *rowsView) openMenu(ctx goapp.Context, e goapp.Event) {
	r, c, ok := v.place(e)
	x, y := e.Get("clientX").Float(), e.Get("clientY").Float()
	if !ok {
		if r, c = v.curRow, v.curCol; c >= len(v.shown) {
			return
		}
		if el := goapp.Window().GetElementByID("cell-current"); el.Truthy() {
			box := el.Call("getBoundingClientRect")
			x, y = box.Get("left").Float(), box.Get("bottom").Float()
		}
	}
	e.Call("preventDefault")
	v.curRow, v.curCol = r, c
	w, h := goapp.Window().Get("innerWidth").Float(), goapp.Window().Get("innerHeight").Float()
	v.menu = &gridMenu{min(x, max(0, w-270)), min(y, max(0, h-400)), r, c}
	ctx.Defer(func(goapp.Context) {
		if el := goapp.Window().GetElementByID("grid-menu"); el.Truthy() {
			if first := el.Call("querySelector", "[role=menuitem]"); first.Truthy() {
				first.Call("focus")
			}
		}
	})
}

func (v *rowsView) closeMenu() {
	v.menu = nil
	if v.grid != nil {
		v.grid.Call("focus", map[string]any{"preventScroll": true})
	}
}

// menuKey moves in the menu.
func (v *rowsView) menuKey(_ goapp.Context, e goapp.Event) {
	by := 0
	switch e.Get("key").String() {
	case "ArrowDown":
		by = 1
	case "ArrowUp":
		by = -1
	case "Escape", "Tab":
		v.closeMenu()
	default:
		return
	}
	e.Call("preventDefault")
	e.Call("stopPropagation")
	if by == 0 {
		return
	}
	list := goapp.Window().GetElementByID("grid-menu").Call("querySelectorAll", "[role=menuitem]")
	n := list.Get("length").Int()
	at := 0
	for i := range n {
		if list.Index(i).Equal(goapp.Window().Get("document").Get("activeElement")) {
			at = i
		}
	}
	if n > 0 {
		list.Index((at + by + n) % n).Call("focus")
	}
}

func (v *rowsView) menuBox() goapp.UI {
	m := v.menu
	col, ok := api.Column{}, false
	if m != nil {
		col, ok = v.column(m.col)
	}
	if !ok {
		return view.Div("hidden")
	}
	var items []goapp.UI
	add := func(icon view.Icon, label string, f func()) {
		items = append(items, goapp.Button().Type("button").Class("menu-item").Role("menuitem").TabIndex(-1).Body(icon.UI(), goapp.Text(label)).
			OnClick(func(goapp.Context, goapp.Event) { v.closeMenu(); f() }, label, m.row, m.col))
	}
	if p := v.pages[max(m.row, 0)/rowsPage]; m.row >= 0 && p != nil && int(m.row%rowsPage) < len(p.raw) {
		row := p.raw[m.row%rowsPage]
		raw := row[v.shown[m.col]]
		if key, ok := v.recordKey(m.row); ok {
			add(view.IconLadder, text.T("Why this value? The record's history"), func() { v.Root.navigate(v.State.HistoryOf(key)) })
		}
		add(view.IconInfo, text.T("Show the value"), func() { v.curRow, v.curCol, v.inspect = m.row, m.col, true })
		add(view.IconCopy, text.T("Copy the value"), func() { v.copyOut(copyText(raw, model.Cell(raw)), text.T("Copied the value")) })
		add(view.IconCopy, text.T("Copy the row as JSON"), func() { v.copyOut(model.RowJSON(v.first.Columns, row), text.T("Copied the row")) })
		if link, ok := v.linkOf(row); ok {
			add(view.IconLink, text.T("Copy a link to the row"), func() { v.copyOut(address(link).String(), text.T("Copied the link")) })
		}
		if c, ok := model.Equals(col.Name, col.Type, raw); ok && !v.Stream {
			add(view.IconRows, text.T("Only rows with this value"), func() { v.restrict(c) })
		}
	}
	if !v.Stream {
		add(iconStat, text.F("Statistics of %s", col.Name), func() {
			if v.State.Stats != col.Name {
				v.showStats(col.Name)
			}
		})
		add(iconSort, text.T("Order by this column"), func() { v.orderBy(col.Name, false) })
	}
	pin := text.T("Pin the column at the left")
	if m.col < v.pinned {
		pin = text.T("Let the column go")
	}
	add(iconPin, pin, func() { v.pin(m.col) })
	add(iconHide, text.T("Hide the column"), func() { v.setColumns(func(g *model.GridColumns) { g.Hide(col.Name, true) }) })
	return view.Div("menu-veil-box",
		goapp.Div().Class("menu-veil").OnClick(func(goapp.Context, goapp.Event) { v.closeMenu() }),
		goapp.Div().ID("grid-menu").Class("grid-menu").Role("menu").Aria("label", col.Name).Style("left", view.Px(m.x)+"px").Style("top", view.Px(m.y)+"px").
			OnKeyDown(v.menuKey).Body(items...))
}

const iconSort view.Icon = `<path d="M6.500 16V4M3.500 7l3-3 3 3M13.500 4v12M10.500 13l3 3 3-3"/>`

// restrict adds a condition to the query.
func (v *rowsView) restrict(condition string) {
	to := v.Root.s.state
	to.Where = model.AndWhere(to.Where, condition)
	v.Root.navigate(to)
}

// linkOf is the state that shows one row, found by its key.
func (v *rowsView) linkOf(row []json.RawMessage) (model.State, bool) {
	o := v.Root.s.overview.val
	if o == nil || v.Stream {
		return model.State{}, false
	}
	where, ok := model.RowWhere(v.first.Columns, row, o.RecordKeys)
	to := v.State
	to.Where, to.Order, to.Stats = where, "", ""
	return to, ok
}
