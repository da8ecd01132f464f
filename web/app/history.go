package app

import (
	"encoding/json"
	"strconv"
	"strings"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// historyView shows every version of the records with a key: per file group, slice by
// slice, as a ladder in the order in which a reader merges them.
type historyView struct {
	goapp.Compo

	Root *Root
	Rev  int

	typed  string
	was    string          // the key of the state when typed was last set from it
	prefix bool            // the switch beside the field
	all    map[string]bool // rungs that show all their values, by place
}

func (v *historyView) Render() goapp.UI {
	s := v.Root.s
	st := s.state
	if v.was != st.Key {
		v.was, v.typed, v.prefix = st.Key, st.Key, st.Prefix
	}
	body := []goapp.UI{v.form()}
	h := &s.history
	switch {
	case st.Key == "":
		body = append(body, view.Empty(view.IconLadder, text.T("Why does a record have its value?"),
			text.T("Type a record key, or open one from the rows or from a log block. Every version of it is shown in the order in which a reader merges them: what it held, where it lies, and why it won or lost."),
			view.Link("button", st.Go(model.Rows), goapp.Text(text.T("Choose a row")))))
	case h.fault != nil:
		body = append(body, view.FaultPanel(h.fault, v.Root.bytesLink(h.fault), h.retrier(s)))
	case h.val == nil:
		body = append(body, view.Loading(text.T("Searching for the key"), h.slow, h.prog, h.canceller()), bones())
	default:
		body = append(body, v.answer(h.val)...)
	}
	return view.Div("history", body...)
}

func (v *historyView) form() goapp.UI {
	st := v.Root.s.state
	label := text.T("Find")
	return goapp.Form().Class("history-form").Role("search").Body(
		goapp.Label().Class("visually-hidden").For("search").Text(text.T("Record key")),
		goapp.Div().Class("field").Body(view.IconKey.UI(),
			goapp.Input().ID("search").Type("text").Name("key").Placeholder(text.T("Record key, as in _hoodie_record_key")).Value(v.typed).
				AutoComplete(false).Spellcheck(false).Attr("autocapitalize", "off").
				OnInput(func(ctx goapp.Context, _ goapp.Event) { v.typed = ctx.JSSrc().Get("value").String() })),
		goapp.Button().Type("button").Class("switch").Role("switch").Aria("checked", v.prefix).Title(text.T("Find all keys that begin with this text")).
			Body(view.Span("switch-knob", ""), goapp.Text(text.T("beginning of a key"))).
			OnClick(func(goapp.Context, goapp.Event) { v.prefix = !v.prefix }),
		goapp.Button().Type("submit").Class("button primary").Text(label),
	).OnSubmit(func(_ goapp.Context, e goapp.Event) {
		e.PreventDefault()
		next := st
		next = next.HistoryOf(v.typed)
		next.Prefix = v.prefix
		v.Root.navigate(next)
	}, st)
}

func (v *historyView) answer(h *api.History) []goapp.UI {
	st := v.Root.s.state
	q := h.Searched
	looked := text.F("searched %s", model.Plural(int64(q.FileGroups), "file group"))
	if q.AllFileGroups > q.FileGroups {
		looked = text.F("searched %s of %s", model.Count(int64(q.FileGroups)), model.Plural(int64(q.AllFileGroups), "file group"))
	}
	looked = text.F("%s, %s", looked, model.Plural(int64(q.Files), "file"))
	if q.BaseSkipped > 0 {
		looked += text.F("; %s passed over by key range and bloom filter", model.Plural(int64(q.BaseSkipped), "base file"))
	}
	tools := []goapp.UI{}
	if q.RecordIndex {
		looked += text.T("; the record index named the file group")
	}
	if q.AllFileGroups > q.FileGroups && !st.Everywhere {
		all := st
		all.Everywhere = true
		tools = append(tools, view.Link("link", all, goapp.Text(text.T("Look everywhere"))))
	}
	rule := append([]goapp.UI{goapp.Span().Class("dim").Text(text.T("Merge"))}, mergeText(h.Merge)...)
	if len(h.Merge.OrderingFields) > 0 {
		rule = append(rule, goapp.Text(" "), view.Mono(strings.Join(h.Merge.OrderingFields, ", ")))
	}
	out := []goapp.UI{view.Div("toolbar", view.Group(
		goapp.Strong().ID("key-count").Class("num").Text(model.Plural(int64(len(h.Keys)), "key")),
		goapp.Span().Class("rule").Body(rule...),
		goapp.Span().Class("dim").Body(goapp.Text(text.T("as of ")), goapp.Span().Class("mono").Title(model.Clock(h.AsOf)).Text(h.AsOf)),
		goapp.Span().Class("dim").Title(text.T("The Hudi release whose rules of reading were followed")).Text(text.F("rules: %s", rulesName(v.Root.s.state, h.Rules))),
		view.Span("dim", looked),
		view.Div("toolbar-end", append(tools, &view.CopyButton{Label: text.T("Copy the history as JSON"), Make: func() string { return toJSON(h) }})...),
	)...)}
	if f := view.Findings(h.Findings); f != nil {
		out = append(out, f)
	}
	if len(h.Keys) == 0 {
		said := text.T("No version of this key is in any base file or log block. Keys are compared exactly, letter by letter.")
		if st.Prefix {
			said = text.T("No key begins with this text.")
		}
		alt := st
		alt.Prefix = true
		var way goapp.UI
		if !st.Prefix {
			way = view.Link("button", alt, goapp.Text(text.T("Keys that begin with it")))
		}
		return append(out, view.Empty(view.IconLadder, text.T("Not found"), said, way))
	}
	out = append(out, v.keys(h)...)
	if h.More {
		out = append(out, goapp.P().Class("dim").Text(text.T("More keys begin with this text; type more of it to see them.")))
	}
	return out
}

// versionsAtOnce is how many versions are drawn in one task, unless one key has more.
const versionsAtOnce = 6

// keys are all keys of an answer, drawn a few versions at a time.
func (v *historyView) keys(h *api.History) []goapp.UI {
	var ends []int // of the keys that are drawn in one task
	n := 0
	for i := range h.Keys {
		if n >= versionsAtOnce {
			ends, n = append(ends, i), 0
		}
		for _, c := range h.Keys[i].Copies {
			for j := range c.Slices {
				n += len(c.Slices[j].Versions) + 1 // and what they give
			}
		}
	}
	ends = append(ends, len(h.Keys))
	return view.InPortions(len(ends), 1, func(from, _ int) []goapp.UI {
		first := 0
		if from > 0 {
			first = ends[from-1]
		}
		var out []goapp.UI
		for i := first; i < ends[from]; i++ {
			out = append(out, v.key(h, &h.Keys[i]))
		}
		return out
	})
}

func toJSON(x any) string {
	b, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func (v *historyView) key(h *api.History, k *api.KeyHistory) goapp.UI {
	st := v.Root.s.state
	name := goapp.UI(goapp.Span().Class("mono").Text(k.Key))
	if st.Prefix {
		name = view.Link("link mono", st.HistoryOf(k.Key), goapp.Text(k.Key))
	}
	versions, visible := 0, 0
	for i := range k.Copies {
		if k.Copies[i].Visible {
			visible++
		}
		for j := range k.Copies[i].Slices {
			versions += len(k.Copies[i].Slices[j].Versions)
		}
	}
	head := []goapp.UI{goapp.H2().Body(view.IconKey.UI(), name), view.Span("dim num", text.F("%s in %s", model.Plural(int64(versions), "version"), model.Plural(int64(len(k.Copies)), "file group")))}
	body := []goapp.UI{view.Div("key-head", head...)}
	if visible > 1 {
		body = append(body, goapp.Div().Class("finding bad").Body(view.IconWarning.UI(), view.Div("finding-text",
			goapp.Strong().Text(text.F("A snapshot shows this key %s times.", model.Count(int64(visible)))),
			goapp.Text(text.T(" Records are merged within a file group only; copies in other file groups or partitions stand beside each other.")))))
	} else if len(k.Copies) > 1 {
		body = append(body, goapp.Div().Class("finding note").Body(view.IconInfo.UI(), view.Div("finding-text",
			goapp.Strong().Text(text.F("The key is in %s.", model.Plural(int64(len(k.Copies)), "file group"))),
			goapp.Text(text.T(" Records are merged within a file group only.")))))
	}
	var copies []goapp.UI
	for i := range k.Copies {
		copies = append(copies, v.copy(h, k.Key, &k.Copies[i]))
	}
	body = append(body, view.Div("copies", copies...))
	return goapp.Section().Class("key").Aria("label", text.F("Key %s", k.Key)).Body(body...)
}

func (v *historyView) copy(h *api.History, key string, c *api.KeyInGroup) goapp.UI {
	files := v.Root.s.state.Go(model.Files)
	files.Partition, files.FileID, files.OnlyPartition = c.Partition, c.FileID, false
	if n := len(c.Slices); n > 0 {
		files.Slice = c.Slices[n-1].BaseInstant
	}
	badges := []goapp.UI{}
	if c.ReplacedBy != "" {
		to := v.Root.s.state.Go(model.Timeline)
		to.Instant, to.Action = c.ReplacedBy, ""
		badges = append(badges, view.Link("badge warn", to, goapp.Text(text.F("replaced by %s", c.ReplacedBy))))
	}
	body := []goapp.UI{view.Div("copy-head",
		view.Div("copy-place", view.Mono(partitionName(c.Partition)), view.Link("link mono", files, goapp.Text(model.ShortID(c.FileID)))),
		view.Div("badges", badges...),
		view.Div("detail-tools", &view.CopyButton{Label: text.T("Copy this file group's history as JSON"), Make: func() string { return toJSON(c) }}),
	)}
	for i := range c.Slices {
		body = append(body, v.slice(h, key, c, i))
	}
	body = append(body, v.outcome(h, c))
	return goapp.Article().Class("group-copy").DataSet("group", c.FileID).Body(body...)
}

// slice is a file slice: its versions as rungs, and what reading it gives.
func (v *historyView) slice(h *api.History, key string, c *api.KeyInGroup, at int) goapp.UI {
	s := &c.Slices[at]
	notes := []goapp.UI{}
	if s.Latest {
		notes = append(notes, view.Badge("good", text.T("a snapshot reads this slice")))
	} else {
		notes = append(notes, view.Badge("", text.T("earlier slice")))
	}
	var rungs []goapp.UI
	sources := model.Sources(s, h.Columns)
	several := false
	for i := range sources {
		if sources[i] >= 0 && sources[i] != sources[0] {
			several = true
		}
	}
	for i := range s.Versions {
		n := 0
		if several {
			n = i + 1
		}
		rungs = append(rungs, v.rung(h, c, s, i, n))
	}
	rungs = append(rungs, v.result(h, s, sources, several))
	id := "slice " + s.BaseInstant
	return goapp.Section().Class("ladder-slice").DataSet("slice", s.BaseInstant).Aria("label", id).Body(
		view.Div("slice-title", goapp.H3().Text(text.T("Slice")), view.Mono(s.BaseInstant), view.Span("dim", model.Clock(s.BaseInstant)), view.Div("badges", notes...)),
		goapp.Ol().Class("ladder").Body(rungs...),
	)
}

// outcomes are how the outcome of a version is told: a class and a word.
var outcomes = map[string][2]string{
	"won": {"won", text.Key("Won")}, "lost": {"lost", text.Key("Lost")}, "merged": {"merged", text.Key("Combined")},
	"superseded": {"superseded", text.Key("Superseded")}, "not read": {"notread", text.Key("Not read")},
}

func kindOfVersion(ver *api.Version) (class, letter, name string) {
	switch ver.Kind {
	case "base":
		return "base", "B", text.T("Row of the base file")
	case "delete":
		return "blk-delete", "X", text.T("Delete")
	case "delete flag":
		return "blk-delete", "X", text.T("Row that flags itself as deleted")
	}
	return "blk-data", "D", text.T("Record of a log block")
}

func (v *historyView) rung(h *api.History, c *api.KeyInGroup, s *api.SliceHistory, i, number int) goapp.UI {
	ver := &s.Versions[i]
	class, letter, name := kindOfVersion(ver)
	o, ok := outcomes[ver.Outcome]
	if !ok {
		o = [2]string{"", ver.Outcome}
	}
	head := []goapp.UI{goapp.Strong().Text(name)}
	head = append(head, goapp.Span().Class("outcome", o[0]).Text(text.T(o[1])))
	if number > 0 {
		head = append(head, goapp.Span().Class("source", "src"+strconv.Itoa((number-1)%6)).Title(text.T("Values marked with this number come from here")).Text(strconv.Itoa(number)))
	}
	instant := v.Root.s.state.Go(model.Timeline)
	instant.Instant, instant.Action = ver.Instant, ""
	facts := []goapp.UI{}
	if ver.Instant != "" {
		facts = append(facts, view.Fact(text.T("Instant"), view.Link("link mono", instant, goapp.Text(ver.Instant)), completedNote(ver.Completed)))
	}
	if ver.Ordering != "" {
		f := "Ordering"
		if len(h.Merge.OrderingFields) > 0 {
			f = strings.Join(h.Merge.OrderingFields, ", ")
		}
		facts = append(facts, view.Fact(f, goapp.B().Class("mono").Text(ver.Ordering), view.Span("dim", ver.OrderingType)))
	}
	facts = append(facts, view.Fact(text.T("In"), v.place(c, s, ver)...))
	body := []goapp.UI{
		view.Div("rung-head", head...),
		goapp.P().Class("why").Body(reason(ver.Why)),
		view.Facts("inline", facts...),
	}
	if len(ver.Row) > 0 {
		body = append(body, v.values(h, ver, placeKey(c, s, i)))
	}
	return goapp.Li().Class("rung", o[0]).DataSet("outcome", ver.Outcome).Body(
		goapp.Span().Class("node", class).Aria("hidden", true).Text(letter),
		view.Div("rung-body", body...),
	)
}

func placeKey(c *api.KeyInGroup, s *api.SliceHistory, i int) string {
	return c.Partition + "\x00" + c.FileID + "\x00" + s.BaseInstant + "\x00" + strconv.Itoa(i)
}

func completedNote(completed string) goapp.UI {
	if completed == "" {
		return goapp.Text("") // not known: timelines before layout 2 do not store it
	}
	return goapp.Span().Class("dim").Title(text.T("Completion time")).Body(goapp.Text(text.T("completed ")), view.Mono(completed))
}

// place leads to where a version lies.
func (v *historyView) place(c *api.KeyInGroup, s *api.SliceHistory, ver *api.Version) []goapp.UI {
	st := v.Root.s.state
	file := fitName(model.BaseName(ver.File), 0)
	if ver.Block < 0 {
		to := st.Go(model.Files)
		to.Partition, to.FileID, to.Slice, to.OnlyPartition = c.Partition, c.FileID, s.BaseInstant, false
		return []goapp.UI{goapp.A().Class("link mono").Href("#" + to.Fragment()).Title(ver.File).Text(model.ShortID(file)), view.Span("dim num", text.F("row %s", model.Count(ver.Record+1)))}
	}
	to := st.Go(model.Blocks)
	to.Partition, to.FileID, to.Slice, to.OnlyPartition = c.Partition, c.FileID, s.BaseInstant, false
	to.Log, to.Block = ver.File, ver.Block+1
	if ver.End > ver.Start {
		to.Byte = ver.Start + 1
	}
	out := []goapp.UI{
		goapp.A().Class("link").Href("#"+to.Fragment()).Title(ver.File).Body(goapp.Text(text.F("block %s of ", strconv.Itoa(ver.Block))), view.Mono(file)),
		view.Span("dim num", text.F("record %s", model.Count(ver.Record+1))),
	}
	if ver.End > ver.Start {
		out = append(out, view.Span("dim num", text.F("bytes %s – %s", model.Count(ver.Start), model.Count(ver.End))))
	}
	return out
}

// fewValues is how many values a rung shows before it shows the changed ones only.
const fewValues = 12

// values are the columns of a version, those marked that differ from the version before.
func (v *historyView) values(h *api.History, ver *api.Version, key string) goapp.UI {
	changed, missing := set(ver.Changed), set(ver.Missing)
	keys := set(v.Root.s.overview.val.RecordKeys)
	data := 0
	for _, c := range h.Columns {
		if !c.Meta {
			data++
		}
	}
	all := v.all[key] || data <= fewValues
	var items []goapp.UI
	hidden := 0
	for i, c := range h.Columns {
		if i >= len(ver.Row) || c.Meta && !v.all[key] {
			if c.Meta {
				hidden++
			}
			continue
		}
		if !all && !changed[c.Name] && !keys[c.Name] {
			hidden++
			continue
		}
		class, note := "", ""
		switch {
		case missing[c.Name]:
			class, note = "missing", text.T("not in this partial update")
		case changed[c.Name]:
			class, note = "changed", text.T("differs from the version before")
		}
		items = append(items, valueItem(c, ver.Row[i], class, note))
	}
	body := []goapp.UI{goapp.Dl().Class("values").Body(items...)}
	switch {
	case v.all[key]:
		body = append(body, view.Button("small quiet", text.T("Fewer values"), func(goapp.Context, goapp.Event) { v.toggle(key) }, key))
	case hidden > 0:
		body = append(body, view.Button("small quiet", model.Plural(int64(hidden), "more value"), func(goapp.Context, goapp.Event) { v.toggle(key) }, key))
	}
	return view.Div("values-box", body...)
}

func (v *historyView) toggle(key string) {
	if v.all == nil {
		v.all = map[string]bool{}
	}
	v.all[key] = !v.all[key]
}

func set(names []string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

func valueItem(c api.Column, raw json.RawMessage, class, note string) goapp.UI {
	cell := model.Cell(raw)
	said := cell.Text
	if class == "missing" {
		said = text.T("not carried")
	} else if cell.Kind == model.StringNode && said == "" {
		said = "“”"
	}
	return goapp.Div().Class("value-item", class).Title(strings.TrimSpace(c.Name+" "+c.Type+" "+note)).Body(
		goapp.Dt().Text(c.Name), goapp.Dd().Class(cellClass(cell.Kind)).Text(said))
}

// result is the last rung of a slice: what reading it gives, and from which version each
// value comes where there are several.
func (v *historyView) result(h *api.History, s *api.SliceHistory, sources []int, several bool) goapp.UI {
	var body []goapp.UI
	node, word := "=", text.T("Reading the slice gives this row")
	switch s.Result {
	case "row":
		var items []goapp.UI
		for i, c := range h.Columns {
			if i >= len(s.Row) || c.Meta {
				continue
			}
			item := valueItem(c, s.Row[i], "", "")
			if several {
				tag := goapp.UI(goapp.Span().Class("source computed").Title(text.T("The merger computed this value")).Text("ƒ"))
				if n := sources[i]; n >= 0 {
					tag = goapp.Span().Class("source", "src"+strconv.Itoa(n%6)).Title(text.F("From version %s", strconv.Itoa(n+1))).Text(strconv.Itoa(n + 1))
				}
				cell := model.Cell(s.Row[i])
				item = goapp.Div().Class("value-item").Title(c.Name+" "+c.Type).Body(
					goapp.Dt().Text(c.Name), goapp.Dd().Class(cellClass(cell.Kind)).Body(goapp.Text(cell.Text), tag))
			}
			items = append(items, item)
		}
		body = append(body, goapp.Dl().Class("values").Body(items...))
	case "deleted":
		node, word = "×", text.T("Reading the slice gives no row: the record is deleted")
	default:
		node, word = "∅", text.T("Reading the slice gives no row for this key")
	}
	return goapp.Li().Class("rung result", s.Result).DataSet("result", s.Result).Body(
		goapp.Span().Class("node end").Aria("hidden", true).Text(node),
		view.Div("rung-body", append([]goapp.UI{view.Div("rung-head", goapp.Strong().Text(word))}, body...)...),
	)
}

// outcome says what a snapshot shows of this file group for the key.
func (v *historyView) outcome(h *api.History, c *api.KeyInGroup) goapp.UI {
	if !c.Visible {
		why := text.T("The record is deleted in the slice that a snapshot reads.")
		if c.ReplacedBy != "" {
			why = text.T("The file group was replaced: a snapshot does not read it.")
		} else if n := len(c.Slices); n == 0 || !c.Slices[n-1].Latest {
			why = text.T("No slice that a snapshot reads has the key.")
		}
		return goapp.Div().Class("shown none").DataSet("shown", "no").Body(view.IconStop.UI(), view.Div("finding-text", goapp.Strong().Text(text.T("A snapshot shows no row.")), goapp.Text(" "+why)))
	}
	rows := v.Root.s.state.Go(model.Rows)
	rows.Partition, rows.FileID, rows.OnlyPartition = c.Partition, c.FileID, false
	cells := map[string]json.RawMessage{}
	for i, col := range h.Columns {
		if i < len(c.Row) {
			cells[col.Name] = c.Row[i]
		}
	}
	return goapp.Div().Class("shown").DataSet("shown", "yes").Body(view.IconCheck.UI(),
		view.Div("finding-text", goapp.Strong().Text(text.T("A snapshot shows this row.")), goapp.Text(" "), view.Link("link", rows, goapp.Text(text.T("Rows of the file group")))),
		&view.CopyButton{Label: text.T("Copy the row as JSON"), Make: func() string { return toJSON(cells) }})
}

// reason is why a version lost or won, as a sentence where the core gives a part of one.
func reason(why string) goapp.UI {
	return view.Spoken("", sentence(why))
}
