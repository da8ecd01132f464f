package app

import (
	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/web/model"
	"hudiscope/web/view"
)

// queryOptions are the options of Hudi's readers that a state stands for.
func queryOptions(st model.State) map[string]string {
	o := map[string]string{}
	switch st.Query {
	case "ro":
		o["hoodie.datasource.query.type"] = "read_optimized"
	case "inc", "cdc":
		o["hoodie.datasource.query.type"] = "incremental"
		begin := st.Begin
		if begin == "" {
			begin = "earliest"
		}
		o["hoodie.datasource.read.begin.instanttime"] = begin
		if st.End != "" {
			o["hoodie.datasource.read.end.instanttime"] = st.End
		}
		if st.Query == "cdc" {
			o["hoodie.datasource.query.incremental.format"] = "cdc"
		}
		return o
	}
	if st.AsOf != "" {
		o["as.of.instant"] = st.AsOf
	}
	if len(o) == 0 {
		return nil
	}
	return o
}

func (v *rowsView) optionsButton() goapp.UI {
	open := v.Root.s.rowOptions || v.State.Query != "" || v.State.Rules != ""
	return goapp.Button().Type("button").ID("query-options").Class("button small").Aria("expanded", open).Text("Query options").
		OnClick(func(goapp.Context, goapp.Event) { v.Root.s.rowOptions = !v.Root.s.rowOptions; v.Root.s.ensure() })
}

// queryForm chooses how the rows are read.
func (v *rowsView) queryForm() goapp.UI {
	st := v.State
	kind := func(q, label, title string) goapp.UI {
		to := st
		to.Query = q
		if q != "inc" && q != "cdc" {
			to.Begin, to.End = "", ""
		} else {
			to.AsOf = ""
		}
		a := goapp.A().Class("seg").Href("#" + to.Fragment()).Title(title).Text(label)
		if st.Query == q {
			a = a.Class("current").Aria("current", true)
		}
		return a
	}
	items := []goapp.UI{goapp.Div().Class("segmented").Role("group").Aria("label", "Query type").Body(
		kind("", "Snapshot", "The latest rows: base files merged with their logs"),
		kind("ro", "Read-optimized", "Base files only: fast, and as old as the last compaction"),
		kind("inc", "Incremental", "The rows that changed in a range of instants, as they are at its end"),
		kind("cdc", "Change data", "Every change in a range: operation, before and after. Needs hoodie.table.cdc.enabled"),
	)}
	set := func(f func(*model.State, string)) goapp.EventHandler {
		return func(ctx goapp.Context, _ goapp.Event) {
			to := v.State
			f(&to, ctx.JSSrc().Get("value").String())
			v.Root.navigate(to)
		}
	}
	if st.Query == "inc" || st.Query == "cdc" {
		items = append(items,
			v.instantSelect("query-begin", "After", "the beginning", st.Begin, set(func(s *model.State, x string) { s.Begin = x })),
			v.instantSelect("query-end", "Up to", "the latest", st.End, set(func(s *model.State, x string) { s.End = x })))
	} else {
		items = append(items, v.instantSelect("query-asof", "As of", "the latest", st.AsOf, set(func(s *model.State, x string) { s.AsOf = x })))
	}
	var rules []goapp.UI
	found := false
	for _, r := range [...]struct{ value, label string }{{"", "the right answer"}, {"1.2.0", "Hudi 1.2.0"}, {"1.0.2", "Hudi 1.0.2"}, {"0.15.0", "Hudi 0.15.0"}, {"0.14.1", "Hudi 0.14.1"}} {
		found = found || r.value == st.Rules
		rules = append(rules, goapp.Option().Value(r.value).Selected(r.value == st.Rules).Text(r.label))
	}
	if !found {
		rules = append(rules, goapp.Option().Value(st.Rules).Selected(true).Text("Hudi "+st.Rules))
	}
	items = append(items, view.Div("pick-instant rules", goapp.Label().For("query-rules").Text("Rules of"),
		goapp.Select().ID("query-rules").Class("select").Title("Releases of Hudi read some tables differently").Body(rules...).OnChange(set(func(s *model.State, x string) { s.Rules = x }))))
	return goapp.Div().Class("query-form").Role("group").Aria("label", "How rows are read").Body(items...)
}

func (v *rowsView) instantSelect(id, label, none, value string, change goapp.EventHandler) goapp.UI {
	opts := []goapp.UI{goapp.Option().Value("").Selected(value == "").Text(none)}
	found := value == ""
	all, _ := v.Root.s.instants()
	n := 0
	for i := len(all) - 1; i >= 0 && n < 500; i-- {
		in := all[i]
		switch in.Action {
		case "commit", "deltacommit", "replacecommit":
		default:
			continue
		}
		if in.State != "COMPLETED" {
			continue
		}
		n++
		found = found || in.Requested == value
		opts = append(opts, goapp.Option().Value(in.Requested).Selected(in.Requested == value).Text(in.Requested+"  "+in.Action))
	}
	if !found {
		opts = append(opts, goapp.Option().Value(value).Selected(true).Text(value))
	}
	return view.Div("pick-instant", goapp.Label().For(id).Text(label), goapp.Select().ID(id).Class("select mono").Body(opts...).OnChange(change))
}
