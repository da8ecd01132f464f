package app

import (
	"maps"
	"slices"
	"sort"
	"strings"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// tableView shows the table's properties and its schema.
type tableView struct {
	goapp.Compo

	Root *Root
	Rev  int

	search string
	avro   bool
}

func (v *tableView) Render() goapp.UI {
	return view.Div("table-view",
		goapp.Section().Class("panel").Body(view.Div("panel-head", goapp.H2().Text(text.T("Schema")), v.schemaTools()), v.schema(), v.schemaPlaces()),
		goapp.Section().Class("panel").Body(view.Div("panel-head", goapp.H2().Text(text.T("Properties")), v.configTools()), v.config()),
		v.housekeeping(),
	)
}

func (v *tableView) schemaTools() goapp.UI {
	a := v.Root.s.schema.val
	if a == nil {
		return view.Div("detail-tools")
	}
	label := text.T("As Avro")
	if v.avro {
		label = text.T("As a list")
	}
	return view.Div("detail-tools",
		view.Span("dim", text.F("from %s", text.Said(a.From))),
		view.Button("small", label, func(goapp.Context, goapp.Event) { v.avro = !v.avro }),
		&view.CopyButton{Label: text.T("Copy the Avro schema"), Text: string(a.Avro)},
	)
}

func (v *tableView) schema() goapp.UI {
	s := v.Root.s
	switch a := &s.schema; {
	case a.fault != nil:
		return view.FaultPanel(a.fault, v.Root.bytesLink(a.fault), a.retrier(s))
	case a.val == nil:
		return view.Div("", view.Loading(text.T("Reading the schema"), a.slow, a.prog, a.canceller()), bones())
	case v.avro:
		return &view.JSONTree{Doc: string(a.val.Avro), Label: text.T("Avro schema"), Depth: 2}
	case len(a.val.Columns) == 0:
		return view.Empty(view.IconTable, text.T("No schema yet"), text.T("No commit has told the schema of the table."))
	default:
		key := map[string]string{}
		o := s.overview.val
		for _, f := range o.Merge.OrderingFields {
			key[f] = text.T("ordering")
		}
		for _, f := range o.Partitions {
			key[f] = text.T("partition")
		}
		for _, f := range o.RecordKeys {
			key[f] = text.T("key")
		}
		var rows []goapp.UI
		for _, c := range a.val.Columns {
			class := ""
			if c.Meta {
				class = "meta"
			}
			use := goapp.UI(goapp.Text(""))
			if u := key[c.Name]; u != "" {
				use = view.Badge("accent", u)
			}
			rows = append(rows, goapp.Tr().Class(class).Body(goapp.Th().Scope("row").Class("mono").Text(c.Name), goapp.Td().Class("mono dim").Text(c.Type), goapp.Td().Body(use)))
		}
		return view.Wrap("table-wrap", goapp.Table().Class("stats").Body(
			goapp.THead().Body(goapp.Tr().Body(goapp.Th().Scope("col").Text(text.T("Column")), goapp.Th().Scope("col").Text(text.T("Type")), goapp.Th().Scope("col").Text(text.T("Used as")))),
			goapp.TBody().Body(rows...)))
	}
}

// schemaPlaces tells where readers look for the schema, and how it changed.
func (v *tableView) schemaPlaces() goapp.UI {
	a := v.Root.s.schema.val
	if a == nil {
		return view.Div("hidden")
	}
	var out []goapp.UI
	if len(a.Sources) > 0 {
		out = append(out, goapp.Details().Class("how").Body(goapp.Summary().Text(text.T("Where readers look for the schema")), sourcesTable(a.Sources)))
	}
	if len(a.History) > 0 {
		var rows []goapp.UI
		var last map[int]api.NumberedName
		for _, ver := range a.History {
			now := make(map[int]api.NumberedName, len(ver.Columns))
			var changes []goapp.UI
			note := func(tone, said string) { changes = append(changes, view.Badge(tone, said)) }
			for _, c := range ver.Columns {
				now[c.ID] = c
				was, known := last[c.ID]
				switch {
				case last == nil:
				case !known:
					note("good", "+ "+c.Name+" "+c.Type)
				case was.Name != c.Name:
					note("warn", was.Name+" → "+c.Name)
				case was.Type != c.Type:
					note("warn", c.Name+": "+was.Type+" → "+c.Type)
				}
			}
			for _, id := range slices.Sorted(maps.Keys(last)) {
				if _, ok := now[id]; !ok {
					note("bad", "− "+last[id].Name)
				}
			}
			if last == nil {
				changes = append(changes, goapp.Text(model.Plural(int64(len(ver.Columns)), "column")))
			}
			last = now
			instant := goapp.UI(view.Mono(ver.Instant))
			if ver.Instant != "0" {
				st := v.Root.s.state.Go(model.Timeline)
				st.Instant, st.Action = ver.Instant, ""
				instant = view.Link("link mono", st, goapp.Text(ver.Instant))
			}
			rows = append(rows, goapp.Tr().Body(goapp.Th().Scope("row").Body(instant), goapp.Td().Body(view.Div("badges", changes...))))
		}
		out = append(out, goapp.Details().Class("how").Open(true).Body(goapp.Summary().Text(text.F("%s of the schema", model.Plural(int64(len(a.History)), "version"))), table([]string{text.T("Instant"), text.T("Change")}, rows)))
	}
	return view.Div("schema-places", out...)
}

func (v *tableView) configTools() goapp.UI {
	a := v.Root.s.config.val
	if a == nil {
		return view.Div("detail-tools")
	}
	var sum goapp.UI
	switch {
	case a.Checksum == "ok":
		sum = goapp.Span().Class("badge good").Body(view.IconCheck.UI(), goapp.Text(text.T("checksum right")))
	case a.Checksum == "none":
		sum = view.Badge("", text.T("no checksum"))
	default:
		sum = view.Badge("bad", text.F("checksum %s", a.Checksum))
	}
	return view.Div("detail-tools",
		goapp.Input().ID("search").Class("search").Type("search").Placeholder(text.T("Find ( / )")).Aria("label", text.T("Find a property")).
			OnInput(func(ctx goapp.Context, _ goapp.Event) { v.search = strings.ToLower(ctx.JSSrc().Get("value").String()) }),
		sum, view.Span("dim mono", a.File))
}

func (v *tableView) config() goapp.UI {
	s := v.Root.s
	a := &s.config
	switch {
	case a.fault != nil:
		return view.FaultPanel(a.fault, nil, a.retrier(s))
	case a.val == nil:
		return view.Div("", view.Loading(text.T("Reading the properties"), a.slow, a.prog, a.canceller()), bones())
	}
	return properties(a.val, v.search)
}

func properties(a *api.ConfigAnswer, search string) goapp.UI {
	var keys []string
	for k, val := range a.Properties {
		if search == "" || strings.Contains(strings.ToLower(k), search) || strings.Contains(strings.ToLower(val), search) {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	if len(keys) == 0 {
		return view.Div("pad", view.Span("dim", text.T("No property matches.")))
	}
	var rows []goapp.UI
	for _, k := range keys {
		val := a.Properties[k]
		cell := goapp.UI(goapp.Td().Class("mono wrap").Text(val))
		if val == "" {
			cell = goapp.Td().Class("j-null").Text(text.T("empty"))
		} else if len(val) > 200 {
			cell = goapp.Td().Body(goapp.Details().Body(goapp.Summary().Class("mono").Text(val[:80]+"…"), goapp.Pre().Class("raw").Text(val)))
		}
		rows = append(rows, goapp.Tr().Body(goapp.Th().Scope("row").Class("mono").Text(k), cell))
	}
	return view.Wrap("table-wrap", goapp.Table().Class("stats props").Body(
		goapp.THead().Body(goapp.Tr().Body(goapp.Th().Scope("col").Text(text.T("Property")), goapp.Th().Scope("col").Text(text.T("Value")))),
		goapp.TBody().Body(rows...)))
}
