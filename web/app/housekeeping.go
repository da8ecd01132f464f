package app

import (
	"sort"
	"strings"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// housekeeping shows what lies beside timeline and data: markers, heartbeats, locks, backups.
func (v *tableView) housekeeping() goapp.UI {
	s := v.Root.s
	h := &s.house
	var body []goapp.UI
	switch {
	case h.fault != nil:
		body = append(body, view.FaultPanel(h.fault, nil, h.retrier(s)))
	case h.val == nil:
		body = append(body, view.Loading(text.T("Looking below .hoodie"), h.slow, h.prog, h.canceller()), bones())
	default:
		body = v.houseItems(h.val)
	}
	head := []goapp.UI{goapp.H2().Text(text.T("Housekeeping"))}
	if h.val != nil {
		head = append(head, view.Div("detail-tools", view.Span("dim", text.T("what lies below .hoodie")), &view.CopyButton{Label: text.T("Copy as JSON"), Make: func() string { return toJSON(h.val) }}))
	}
	return goapp.Section().Class("panel wide").Body(append([]goapp.UI{view.Div("panel-head", head...)}, body...)...)
}

func (v *tableView) houseItems(h *api.Housekeeping) []goapp.UI {
	var out []goapp.UI
	if f := view.Findings(h.Findings); f != nil {
		out = append(out, f)
	}
	if len(h.Config) > 0 {
		var rows []goapp.UI
		for _, c := range h.Config {
			rows = append(rows, goapp.Tr().Body(goapp.Th().Scope("row").Class("mono wrap").Text(c.Key), goapp.Td().Body(view.Badge("", text.Said(c.Kind))), goapp.Td().Class("mono wrap").Body(before(c.Backup)), goapp.Td().Class("mono wrap").Text(c.Now)))
		}
		out = append(out, goapp.H3().Text(text.T("Changed since the backup of hoodie.properties")), table([]string{text.T("Property"), text.T("Change"), text.T("Backup"), text.T("Now")}, rows))
	}
	if len(h.SchemaHistory) > 0 {
		var rows []goapp.UI
		for _, in := range h.SchemaHistory {
			st := v.Root.s.state.Go(model.Timeline)
			st.Instant, st.Action = in.Requested, in.Action
			rows = append(rows, goapp.Tr().Body(goapp.Th().Scope("row").Body(view.Link("link mono", st, goapp.Text(in.Requested))), goapp.Td().Class("dim").Text(model.Clock(in.Requested))))
		}
		out = append(out, goapp.H3().Text(text.T("Schema history")), table([]string{text.T("Instant"), text.T("Time")}, rows))
	}
	if len(h.Items) == 0 {
		return append(out, goapp.P().Class("dim").Text(text.T("Nothing but the timeline and the properties.")))
	}
	items := append([]api.HousekeepingItem{}, h.Items...)
	sort.SliceStable(items, func(i, j int) bool { return items[i].Kind < items[j].Kind })
	var rows []goapp.UI
	for i := range items {
		it := &items[i]
		size := ""
		if it.Size >= 0 && !it.Dir {
			size = model.Bytes(it.Size)
		} else if it.Files > 0 {
			size = model.Plural(int64(it.Files), "file")
		}
		instant := goapp.UI(goapp.Text(""))
		if it.Instant != "" {
			st := v.Root.s.state.Go(model.Timeline)
			st.Instant, st.Action = it.Instant, ""
			state := it.InstantState
			tone := ""
			if state == "" {
				state, tone = text.T("not on the timeline"), "warn"
			}
			instant = view.Div("badges", view.Link("link mono", st, goapp.Text(it.Instant)), view.Badge(tone, text.Said(strings.ToLower(state))))
		}
		path := []goapp.UI{goapp.Span().Class("mono wrap").Text(it.Path)}
		if len(it.Names) > 0 {
			path = append(path, goapp.Details().Class("how").Body(goapp.Summary().Text(text.F("%s inside", model.Plural(int64(it.Files), "file"))), names(it.Names)))
		}
		rows = append(rows, goapp.Tr().Body(goapp.Th().Scope("row").Text(text.Said(it.Kind)), goapp.Td().Body(path...), goapp.Td().Class("num").Text(size), goapp.Td().Body(instant), goapp.Td().Class("dim").Body(view.Spoken("", it.Meaning))))
	}
	return append(out, view.Wrap("table-wrap", goapp.Table().ID("housekeeping").Class("stats house").Body(
		goapp.THead().Body(goapp.Tr().Body(goapp.Th().Scope("col").Text(text.T("What")), goapp.Th().Scope("col").Text(text.T("Path")), goapp.Th().Scope("col").Class("num").Text(text.T("Size")), goapp.Th().Scope("col").Text(text.T("Instant")), goapp.Th().Scope("col").Text(text.T("Meaning")))),
		goapp.TBody().Body(rows...))))
}
