package app

import (
	"sort"
	"strconv"
	"strings"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// healthView shows what the checks of a table found, with the evidence and the way to it.
type healthView struct {
	goapp.Compo

	Root *Root
	Rev  int

	find string // only what has it is listed
}

// has reports whether a finding has a term in what is shown of it.
func has(f *api.HealthFinding, term string) bool {
	texts := []string{f.Check, f.Title, text.Said(f.Title), f.Detail, text.Said(f.Detail), f.Hudi}
	for _, e := range f.Evidence {
		texts = append(texts, e.Text, e.Instant, e.Partition, e.FileID, e.File)
	}
	for _, x := range texts {
		if strings.Contains(strings.ToLower(x), term) {
			return true
		}
	}
	return false
}

func (v *healthView) Render() goapp.UI {
	s := v.Root.s
	h := &s.health
	switch {
	case h.fault != nil:
		way := v.Root.bytesLink(h.fault)
		if s.state.Limits != "" {
			st := s.state
			st.Limits = ""
			way = view.Link("button", st, goapp.Text(text.T("Check with the default thresholds")))
		}
		return view.Div("health", view.FaultPanel(h.fault, way, h.retrier(s)))
	case h.val == nil:
		return view.Div("health", view.Loading(text.T("Checking the table"), h.slow, h.prog, h.canceller()), bones())
	}
	a := h.val
	body := []goapp.UI{v.summary(a)}
	for _, n := range a.Notes {
		body = append(body, view.Findings([]api.Finding{{Level: "note", Title: text.T("As of then."), Detail: n}}))
	}
	if len(a.Findings) == 0 {
		body = append(body, view.Empty(view.IconCheck, text.T("Nothing found"), text.T("Every check that ran is fine. What was checked stands below.")))
	}
	term := findTerm(v.find)
	var shown []*api.HealthFinding
	for i := range a.Findings {
		if f := &a.Findings[i]; term == "" || has(f, term) {
			shown = append(shown, f)
		}
	}
	body = append(body, view.Div("toolbar health-filter", filterBox(text.T("Check, instant or file"), text.T("Show only findings and checks that have this"), v.find, len(shown), func(x string) { v.find = x })))
	if len(a.Findings) > 0 && len(shown) == 0 {
		body = append(body, goapp.P().Class("dim").Text(text.T("No finding has this.")))
	}
	if len(shown) > 0 {
		body = append(body, goapp.Div().Class("health-list").Body(view.InPortions(len(shown), findingsAtOnce, func(from, to int) []goapp.UI {
			var items []goapp.UI
			for i := from; i < to; i++ {
				items = append(items, v.finding(shown[i]))
			}
			return items
		})...))
	}
	rev := v.Rev
	body = append(body, view.Div("health-foot", v.checks(a), &view.Later{Class: "portion", Busy: true, Draw: func() []goapp.UI {
		return []goapp.UI{&thresholdForm{Root: v.Root, Rev: rev, List: a.Thresholds}}
	}}))
	return view.Div("health", body...)
}

// findingsAtOnce and checksAtOnce are how many of them are drawn in one task.
const (
	findingsAtOnce = 4
	checksAtOnce   = 12
)

func levelTone(level string) (tone, word string, icon view.Icon) {
	switch level {
	case "error":
		return "bad", text.T("Error"), view.IconWarning
	case "warning":
		return "warn", text.T("Warning"), view.IconWarning
	case "ok":
		return "good", text.T("Well"), view.IconCheck
	}
	return "note", text.T("Note"), view.IconInfo
}

func (v *healthView) summary(a *api.Health) goapp.UI {
	s := v.Root.s
	counts := map[string]int{}
	for _, f := range a.Findings {
		counts[f.Level]++
	}
	tone, _, icon := levelTone(a.Level)
	words := map[string]string{"ok": text.T("The table is well"), "note": text.T("The table is well; a few things are worth knowing"), "warning": text.T("The table needs attention"), "error": text.T("Something is wrong with the table")}
	title := words[a.Level]
	if title == "" {
		title = a.Level
	}
	var tally []goapp.UI
	for _, l := range []string{"error", "warning", "note"} {
		if n := counts[l]; n > 0 {
			t, _, _ := levelTone(l)
			tally = append(tally, view.Badge(t, map[string]string{"error": model.Plural(int64(n), "error"), "warning": model.Plural(int64(n), "warning"), "note": model.Plural(int64(n), "note")}[l]))
		}
	}
	l := a.Looked
	looked := text.F("%s, %s, %s, %s of %s", model.Plural(int64(l.Instants), "instant"), model.Plural(int64(l.Partitions), "partition"), model.Plural(int64(l.Groups), "file group"), model.Plural(int64(l.Files), "file"), model.Bytes(l.Bytes))
	if l.Keys > 0 {
		looked += ", " + model.Plural(l.Keys, "key")
	}
	var deep goapp.UI
	if !s.deep {
		deep = goapp.Button().Type("button").ID("deep-check").Class("button").Title(text.T("Reads the key columns of every latest slice")).Text(text.T("Deep check: duplicate keys")).
			OnClick(func(goapp.Context, goapp.Event) { s.deep = true; s.ensure() })
	} else {
		deep = view.Badge("accent", text.T("with the deep checks"))
	}
	return goapp.Div().Class("health-summary", tone).Body(icon.UI(),
		view.Div("health-title", goapp.H2().Text(title), view.Div("badges", tally...), goapp.P().Class("dim").Text(text.F("Looked at %s.", looked))),
		view.Div("detail-tools", deep, &view.CopyButton{Label: text.T("Copy the findings as JSON"), Make: func() string { return toJSON(a) }}))
}

const evidenceShown = 8

func (v *healthView) finding(f *api.HealthFinding) goapp.UI {
	tone, word, icon := levelTone(f.Level)
	body := []goapp.UI{
		view.Div("health-head", goapp.H3().Body(view.Spoken("", f.Title)), view.Badge(tone, word), view.Span("dim num", countNote(f.Count))),
		goapp.P().Body(view.Spoken("", f.Detail)),
	}
	var facts []goapp.UI
	for i, e := range f.Evidence {
		if i == evidenceShown {
			break
		}
		facts = append(facts, goapp.Li().Body(v.evidence(e)...))
	}
	if len(facts) > 0 {
		list := []goapp.UI{goapp.Ul().Class("evidence").Body(facts...)}
		if n := len(f.Evidence); n > evidenceShown {
			var more []goapp.UI
			for _, e := range f.Evidence[evidenceShown:] {
				more = append(more, goapp.Li().Body(v.evidence(e)...))
			}
			list = append(list, goapp.Details().Class("how").Body(goapp.Summary().Text(text.F("%s more", model.Count(int64(n-evidenceShown)))), goapp.Ul().Class("evidence").Body(more...)))
		}
		body = append(body, list...)
	}
	if f.Hudi != "" {
		body = append(body, goapp.P().Class("hudi-does").Body(goapp.Strong().Text(text.T("Hudi: ")), view.Spoken("", f.Hudi)))
	}
	if st, label, ok := v.link(f.Link); ok {
		body = append(body, view.Div("actions", view.Link("button small", st, goapp.Text(label))))
	}
	return goapp.Section().Class("health-finding", tone).DataSet("check", f.Check).Body(icon.UI(), view.Div("health-body", body...))
}

func countNote(n int) string {
	if n <= 1 {
		return ""
	}
	return model.Count(int64(n)) + "×"
}

func (v *healthView) evidence(e api.HealthEvidence) []goapp.UI {
	st := v.Root.s.state
	out := []goapp.UI{view.Spoken("", e.Text)}
	if e.Value != 0 || e.Unit != "" {
		out = append(out, goapp.B().Class("num").Text(text.Said(amount(e.Value, e.Unit))))
	}
	if e.Instant != "" {
		to := st.Go(model.Timeline)
		to.Instant, to.Action = e.Instant, ""
		out = append(out, view.Link("link mono", to, goapp.Text(e.Instant)))
	}
	switch {
	case e.FileID != "":
		to := st.Go(model.Files)
		to.Partition, to.FileID, to.Slice, to.OnlyPartition = e.Partition, e.FileID, "", false
		out = append(out, view.Link("link mono", to, goapp.Text(partitionName(e.Partition)+" / "+model.ShortID(e.FileID))))
	case e.Partition != "":
		out = append(out, goapp.Span().Class("mono").Text(e.Partition))
	}
	if e.File != "" {
		out = append(out, goapp.Span().Class("mono dim wrap").Text(e.File))
	}
	return out
}

// amount writes a number with its unit for people.
func amount(n float64, unit string) string {
	switch unit {
	case "bytes":
		return model.Bytes(int64(n))
	case "":
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	if n == 1 {
		return "1 " + strings.TrimSuffix(unit, "s")
	}
	if n == float64(int64(n)) {
		return model.Count(int64(n)) + " " + unit
	}
	return strconv.FormatFloat(n, 'f', 2, 64) + " " + unit
}

func (v *healthView) link(l api.HealthLink) (model.State, string, bool) {
	st := v.Root.s.state
	switch l.View {
	case "timeline":
		to := st.Go(model.Timeline)
		to.Instant, to.Action = l.Instant, l.Action
		return to, text.T("Show it on the timeline"), true
	case "files":
		to := st.Go(model.Files)
		to.Partition, to.FileID, to.Slice, to.OnlyPartition = l.Partition, l.FileID, l.BaseInstant, false
		return to, text.T("Show the files"), true
	case "blocks":
		to := st.Go(model.Blocks)
		to.Partition, to.FileID, to.Slice, to.Log, to.OnlyPartition = l.Partition, l.FileID, l.BaseInstant, l.File, false
		return to, text.T("Show the log blocks"), true
	case "config", "housekeeping":
		return st.Go(model.Table), text.T("Show the table's own files"), true
	case "metadata":
		return st.Go(model.Metadata), text.T("Show the metadata table"), true
	}
	return st, "", false
}

func (v *healthView) checks(a *api.Health) goapp.UI {
	var list []api.HealthCheck
	for _, c := range a.Checks {
		if term := findTerm(v.find); term == "" || strings.Contains(strings.ToLower(c.ID+" "+c.Title+" "+text.Said(c.Title)+" "+c.Note), term) {
			list = append(list, c)
		}
	}
	rows := view.RowsInPortions(len(list), checksAtOnce, func(i int) goapp.UI {
		c := list[i]
		mark := goapp.UI(view.Badge("", c.Status))
		switch c.Status {
		case "ok":
			mark = goapp.Span().Class("badge good").Body(view.IconCheck.UI(), goapp.Text(text.T("fine")))
		case "found":
			mark = view.Badge("warn", text.T("found"))
		case "skipped":
			mark = view.Badge("", text.T("skipped"))
		}
		return goapp.Tr().Body(goapp.Th().Scope("row").Body(view.Spoken("", c.Title)), goapp.Td().Body(mark), goapp.Td().Class("dim").Body(view.Spoken("", c.Note)))
	})
	head := goapp.THead().Body(goapp.Tr().Body(goapp.Th().Scope("col").Text(text.T("Check")), goapp.Th().Scope("col").Text(text.T("Outcome")), goapp.Th().Scope("col").Text(text.T("Note"))))
	return goapp.Section().Class("panel").Body(goapp.H2().Text(text.T("Checks")), view.Wrap("table-wrap", goapp.Table().Class("stats").Body(
		append([]goapp.UI{head}, rows...)...)))
}

// thresholdForm shows the thresholds of the checks and changes them. Those that are not the defaults
// stand in the address.
type thresholdForm struct {
	goapp.Compo

	Root *Root
	Rev  int
	List []api.HealthThreshold

	wrong map[string]string // what was typed and is no number, by name
}

// set checks the table again with another value of a threshold.
func (v *thresholdForm) set(t api.HealthThreshold, said string) {
	x, ok := model.ParseAmount(said, t.Unit)
	if !ok {
		if v.wrong == nil {
			v.wrong = map[string]string{}
		}
		v.wrong[t.Name] = said
		return
	}
	delete(v.wrong, t.Name)
	st := v.Root.s.state
	limits := model.ParseLimits(st.Limits)
	if limits == nil {
		limits = map[string]float64{}
	}
	if limits[t.Name] = x; x == t.Default {
		delete(limits, t.Name)
	}
	st.Limits = model.JoinLimits(limits)
	v.Root.navigate(st)
}

func (v *thresholdForm) Render() goapp.UI {
	list := append([]api.HealthThreshold{}, v.List...)
	sort.SliceStable(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	var rows []goapp.UI
	changed := false
	for _, t := range list {
		id := "limit-" + strings.ReplaceAll(t.Name, ".", "-")
		shown, wrong := amount(t.Value, t.Unit), false
		if said, ok := v.wrong[t.Name]; ok {
			shown, wrong = said, true
		} else if t.Unit == "bytes" {
			if x, ok := model.ParseAmount(shown, t.Unit); !ok || x != t.Value {
				shown = model.Count(int64(t.Value)) + " bytes" // rounding would change it
			}
		}
		input := goapp.Input().ID(id).Class("limit num").Type("text").Value(shown).AutoComplete(false).Spellcheck(false).Aria("label", t.Name).
			Aria("describedby", id+"-what").OnChange(func(ctx goapp.Context, _ goapp.Event) { v.set(t, ctx.JSSrc().Get("value").String()) }, t.Name, t.Value)
		what := []goapp.UI{goapp.Span().ID(id + "-what").Body(view.Spoken("", t.What))}
		if wrong {
			input = input.Aria("invalid", true)
			example := "12 " + t.Unit
			if t.Unit == "bytes" {
				example = "64 MB"
			}
			what = append(what, goapp.P().Class("bad-text").Role("alert").Text(text.F("That is no number of %s; write it like %s.", t.Unit, example)))
		}
		if t.Value != t.Default {
			changed = true
			what = append(what, goapp.P().Body(view.Badge("accent", text.T("changed")), goapp.Text(text.F(" by default %s", amount(t.Default, t.Unit)))))
		}
		rows = append(rows, goapp.Tr().Body(goapp.Th().Scope("row").Body(view.Mono(t.Name)), goapp.Td().Body(input), goapp.Td().Class("dim").Body(what...)))
	}
	var reset goapp.UI
	if changed {
		st := v.Root.s.state
		st.Limits = ""
		reset = view.Link("button small", st, goapp.Text(text.T("Back to the defaults")))
	}
	return goapp.Section().Class("panel").Body(view.Div("panel-head", goapp.H2().Text(text.T("Thresholds")), reset), view.Wrap("table-wrap", goapp.Table().Class("stats limits").Body(
		goapp.THead().Body(goapp.Tr().Body(goapp.Th().Scope("col").Text(text.T("Name")), goapp.Th().Scope("col").Text(text.T("Value")), goapp.Th().Scope("col").Text(text.T("Meaning")))),
		goapp.TBody().Body(rows...))))
}
