package app

import (
	"encoding/json"
	"strings"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// compareView shows how a table changed from one instant to another.
type compareView struct {
	goapp.Compo

	Root *Root
	Rev  int

	more int // how many file groups are drawn
}

func (v *compareView) Render() goapp.UI {
	s := v.Root.s
	st := s.state
	body := []goapp.UI{v.chooser()}
	c := &s.compare
	switch {
	case st.Before == "" && st.After == "":
		body = append(body, view.Empty(view.IconCompare, text.T("What changed between two instants?"),
			text.T("Choose an earlier and a later instant above, or mark them on the timeline. Schema, files and rows are compared, with the cells that changed."),
			v.lastWrite()))
	case c.fault != nil:
		body = append(body, view.FaultPanel(c.fault, v.Root.bytesLink(c.fault), c.retrier(s)))
	case c.val == nil:
		body = append(body, view.Loading(text.T("Comparing"), c.slow, c.prog, c.canceller()), bones())
	default:
		body = append(body, v.answer(c.val)...)
	}
	return view.Div("compare", view.Group(body...)...)
}

// lastWrite offers the comparison of the last two writes.
func (v *compareView) lastWrite() goapp.UI {
	w, _ := v.Root.s.instants().Writes("", 2)
	if len(w) < 2 {
		return nil
	}
	st := v.Root.s.state
	st.Before, st.After = w[1].Requested, w[0].Requested
	return view.Link("button primary", st, goapp.Text(text.T("What the last write changed")))
}

func (v *compareView) chooser() goapp.UI {
	st := v.Root.s.state
	pick := func(id, label, none, value string, set func(*model.State, string)) goapp.UI {
		return &instantPicker{Root: v.Root, Rev: v.Rev, ID: id, Label: label, None: none, Value: value, Set: func(x string) {
			next := v.Root.s.state
			set(&next, x)
			v.Root.navigate(next)
		}}
	}
	swap := st
	swap.Before, swap.After = st.After, st.Before
	return view.Div("compare-bar",
		pick("compare-a", text.T("From"), text.T("before the first write"), st.Before, func(s *model.State, x string) { s.Before = x }),
		goapp.A().Class("icon-button").Href("#"+swap.Fragment()).Title(text.T("Swap the two")).Aria("label", text.T("Swap the two")).Body(iconSwap.UI()),
		pick("compare-b", text.T("To"), text.T("the latest"), st.After, func(s *model.State, x string) { s.After = x }),
	)
}

const iconSwap view.Icon = `<path d="M4 7h11M12 3.800 15.200 7 12 10.200M16 13H5M8 9.800 4.800 13 8 16.200"/>`

func (v *compareView) answer(c *api.Compare) []goapp.UI {
	out := []goapp.UI{}
	if f := view.Findings(c.Findings); f != nil {
		out = append(out, f)
	}
	var instants []goapp.UI
	for _, in := range c.Instants {
		to := v.Root.s.state.Go(model.Timeline)
		to.Instant, to.Action = in.Requested, in.Action
		instants = append(instants, view.Link("chip-link", to, view.ActionTag(in.Action), view.Mono(in.Requested)))
	}
	tile := func(name, value string, n int64, tone string) goapp.UI {
		class := "tile " + tone
		if n == 0 {
			class = "tile zero"
		}
		return view.Div(class, view.Span("tile-value num", value), view.Span("tile-name", name))
	}
	tiles := []goapp.UI{}
	if r := c.Rows; r != nil {
		tiles = append(tiles,
			tile(text.T("rows inserted"), model.Count(r.Inserted), r.Inserted, "good"),
			tile(text.T("rows updated"), model.Count(r.Updated), r.Updated, "accent"),
			tile(text.T("rows deleted"), model.Count(r.Deleted), r.Deleted, "bad"))
	}
	f := c.Files
	tiles = append(tiles,
		tile(text.F("files added, %s", model.Bytes(f.AddedSize)), model.Count(int64(f.Added)), int64(f.Added), ""),
		tile(text.F("files removed, %s", model.Bytes(f.LostSize)), model.Count(int64(f.Removed)), int64(f.Removed), ""),
		tile(text.T("schema changes"), model.Count(int64(len(c.Schema))), int64(len(c.Schema)), ""))
	out = append(out, view.Div("compare-head", view.Div("tiles", tiles...), view.Div("detail-tools", &view.CopyButton{Label: text.T("Copy the comparison as JSON"), Make: func() string { return toJSON(c) }})))
	if len(instants) > 0 {
		out = append(out, view.Div("between", append([]goapp.UI{view.Span("dim", text.F("%s between:", model.Plural(int64(len(instants)), "write")))}, instants...)...))
	}
	out = append(out, v.schema(c), v.rows(c), v.files(c), v.config())
	return view.Group(out...)
}

func (v *compareView) schema(c *api.Compare) goapp.UI {
	if len(c.Schema) == 0 {
		return nil
	}
	return goapp.Section().Class("panel").Body(goapp.H2().Text(text.T("Schema")), schemaChanges(c.Schema))
}

// config says why the configuration is not compared.
func (v *compareView) config() goapp.UI {
	st := v.Root.s.state.Go(model.Table)
	return goapp.Section().Class("panel").Body(goapp.H2().Text(text.T("Configuration")),
		goapp.P().Class("dim").Body(goapp.Text(text.T("hoodie.properties is written anew when it changes, and keeps no earlier state: only the present one can be shown.")), goapp.Text(" "),
			view.Link("link", st, goapp.Text(text.T("See it")))))
}

// schemaChanges lists differences of two schemas.
func schemaChanges(list []api.SchemaChange) goapp.UI {
	var rows []goapp.UI
	for _, x := range list {
		tone := map[string]string{"added": "good", "removed": "bad", "type": "warn"}[x.Kind]
		rows = append(rows, goapp.Tr().Body(goapp.Th().Scope("row").Class("mono").Text(x.Column), goapp.Td().Body(view.Badge(tone, x.Kind)),
			goapp.Td().Class("mono").Body(before(x.Before)), goapp.Td().Class("mono").Text(x.After)))
	}
	return view.Wrap("table-wrap", goapp.Table().Class("stats").Body(
		goapp.THead().Body(goapp.Tr().Body(goapp.Th().Scope("col").Text(text.T("Column")), goapp.Th().Scope("col").Text(text.T("Change")), goapp.Th().Scope("col").Text(text.T("Before")), goapp.Th().Scope("col").Text(text.T("After")))),
		goapp.TBody().Body(rows...)))
}

func before(said string) goapp.UI {
	if said == "" {
		return goapp.Text("")
	}
	return goapp.Del().Text(said)
}

func (v *compareView) rows(c *api.Compare) goapp.UI {
	r := c.Rows
	if r == nil {
		return nil
	}
	notes := []goapp.UI{view.Span("dim num", text.F("%s of the compared slices are the same", model.Plural(r.Same, "row")))}
	if r.Rewritten > 0 {
		notes = append(notes, view.Span("dim num", text.F("%s of them were written again", model.Count(r.Rewritten))))
	}
	if r.Duplicates > 0 {
		notes = append(notes, view.Badge("warn", model.Plural(r.Duplicates, "duplicate key")))
	}
	if r.By != "record key" {
		notes = append(notes, view.Badge("", text.F("compared by %s", text.Said(r.By))))
	}
	body := []goapp.UI{view.Div("panel-head", goapp.H2().Text(text.T("Rows")), view.Div("row-notes", notes...))}
	for _, p := range r.Partitions {
		if p.Fault != nil {
			body = append(body, view.FaultPanel(p.Fault, nil, nil))
		}
	}
	if r.Total == 0 {
		body = append(body, goapp.P().Class("dim").Text(text.T("No row is different.")))
		return goapp.Section().Class("panel").Body(body...)
	}
	var shown []int
	head := []goapp.UI{goapp.Th().Scope("col").Body(goapp.Span().Class("visually-hidden").Text(text.T("Change"))), goapp.Th().Scope("col").Text(text.T("Partition"))}
	for i, col := range r.Columns {
		if col.Meta {
			continue
		}
		shown = append(shown, i)
		class := ""
		if numeric(col.Type) {
			class = "num"
		}
		head = append(head, goapp.Th().Scope("col").Class(class).Title(col.Type).Text(col.Name))
	}
	lines := view.RowsInPortions(len(r.Rows), max(cellsAtOnce/(len(shown)+2), 5), func(i int) goapp.UI { return v.row(&r.Rows[i], shown, r.Columns) })
	body = append(body,
		view.Wrap("table-wrap diff-wrap", goapp.Table().ID("changed-rows").Class("stats grid diff").Body(append([]goapp.UI{goapp.THead().Body(goapp.Tr().Body(head...))}, lines...)...)),
		pager(r.Offset, int64(len(r.Rows)), r.Total, text.T("row"), func(to int64) { v.Root.s.comparePage = to; v.Root.s.ensure() }, comparePage))
	return goapp.Section().Class("panel").Body(view.Group(body...)...)
}

func (v *compareView) row(x *api.CompareRow, shown []int, columns []api.Column) goapp.UI {
	changed := map[int]bool{}
	for _, c := range x.Changed {
		changed[c] = true
	}
	letter := map[string]string{"inserted": "+", "updated": "~", "deleted": "−"}[x.Kind]
	mark := goapp.UI(goapp.Span().Class("diff-mark").Title(x.Kind).Aria("label", x.Kind).Role("img").Text(letter))
	if x.Key != "" {
		mark = goapp.A().Class("diff-mark").Href("#"+v.Root.s.state.HistoryOf(x.Key).Fragment()).Title(text.F("%s: the history of %s", x.Kind, x.Key)).Aria("label", text.F("%s, history of %s", x.Kind, x.Key)).Text(letter)
	}
	cells := []goapp.UI{goapp.Td().Body(mark), goapp.Td().Class("mono dim").Text(x.Partition)}
	value := func(row []json.RawMessage, i int) model.CellText {
		if i >= len(row) {
			return model.CellText{}
		}
		return model.Cell(row[i])
	}
	for _, i := range shown {
		switch {
		case x.Kind == "updated" && changed[i]:
			a, b := value(x.Before, i), value(x.After, i)
			cells = append(cells, goapp.Td().Class("changed").Body(goapp.Del().Class(cellClass(a.Kind)).Text(a.Text), goapp.Ins().Class(cellClass(b.Kind)).Text(b.Text)))
		case x.Kind == "deleted":
			cells = append(cells, valueCell(value(x.Before, i)))
		default:
			cells = append(cells, valueCell(value(x.After, i)))
		}
	}
	return goapp.Tr().Class("d-"+x.Kind).DataSet("key", x.Key).Body(cells...)
}

// compareGroups is how many file groups are drawn at first, groupsAtOnce how many in one task, cellsAtOnce how many cells
// of changed rows.
const (
	compareGroups = 40
	groupsAtOnce  = 10
	cellsAtOnce   = 240
)

func (v *compareView) files(c *api.Compare) goapp.UI {
	f := c.Files
	body := []goapp.UI{view.Div("panel-head", goapp.H2().Text(text.T("Files")), view.Span("dim num", text.F("%s differ, %s are the same", model.Plural(int64(len(f.Groups)), "file group"), model.Count(int64(f.SameGroups)))))}
	if len(f.Groups) == 0 {
		body = append(body, goapp.P().Class("dim").Text(text.T("No file group is different.")))
		return goapp.Section().Class("panel").Body(body...)
	}
	most := max(v.more, compareGroups)
	body = append(body, view.InPortions(min(len(f.Groups), most), groupsAtOnce, func(from, to int) []goapp.UI {
		var out []goapp.UI
		for i := from; i < to; i++ {
			out = append(out, v.group(&f.Groups[i]))
		}
		return out
	})...)
	if len(f.Groups) > most {
		body = append(body, view.Button("small", text.T("Show more file groups"), func(goapp.Context, goapp.Event) { v.more = most + 4*compareGroups }))
	}
	return goapp.Section().Class("panel").Body(body...)
}

func (v *compareView) group(g *api.CompareGroup) goapp.UI {
	st := v.Root.s.state.Go(model.Files)
	st.Partition, st.FileID, st.Slice, st.OnlyPartition = g.Partition, g.FileID, g.After, false
	tone := map[string]string{"added": "good", "removed": "bad", "replaced": "bad", "changed": "accent"}[g.Kind]
	head := []goapp.UI{view.Badge(tone, g.Kind), goapp.Span().Class("mono").Text(partitionName(g.Partition)), view.Link("link mono", st, goapp.Text(model.ShortID(g.FileID)))}
	if g.By != "" {
		to := v.Root.s.state.Go(model.Timeline)
		to.Instant, to.Action = g.By, ""
		head = append(head, view.Span("dim", text.T("by")), view.Link("link mono", to, goapp.Text(g.By)))
	}
	if g.Before != "" && g.After != "" && g.Before != g.After {
		head = append(head, view.Span("dim mono", g.Before+" → "+g.After))
	}
	var files []goapp.UI
	for _, x := range g.Files {
		sign := map[string]string{"added": "+", "removed": "−"}[x.Kind]
		kind := "base"
		if strings.Contains(x.File.Name, ".log.") {
			kind = "log"
		}
		files = append(files, goapp.Li().Class("cf", "cf-"+x.Kind).Body(
			goapp.Span().Class("cf-sign").Text(sign), view.Div("box "+kind),
			goapp.Span().Class("mono wrap").Text(x.File.Name), view.Span("dim num", model.Bytes(x.File.Size))))
	}
	return view.Div("cgroup", view.Div("cgroup-head", head...), goapp.Ul().Class("cfiles").Body(files...))
}
