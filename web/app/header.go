package app

import (
	"strconv"
	"strings"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// tablePage is the page of an open table: what it is, the tabs, the view.
func (r *Root) tablePage() goapp.UI {
	s := r.s
	o := s.overview.val
	switch {
	case s.overview.fault != nil:
		return view.Div("opening",
			goapp.H1().Class("table-name").Text(model.TableName(s.state.Table)),
			view.FaultPanel(r.plainFault(s.overview.fault), nil, s.overview.retrier(s)),
			r.afterFault(s.overview.fault),
		)
	case o == nil:
		return view.Div("opening",
			goapp.H1().Class("table-name").Text(model.TableName(s.state.Table)),
			view.Loading(text.T("Opening"), s.overview.slow, s.overview.prog, s.overview.canceller()),
			view.Div("skeleton", view.Div("bone wide"), view.Div("bone"), view.Div("bone tall")),
		)
	}
	if key := s.state.Table + " " + string(r.current()); key != r.tab {
		r.tab = key
		r.revealTab()
	}
	return view.Div("table-page",
		view.Div("ended", view.Group(r.accessEnded())...),
		r.headline(o),
		r.tabBar(),
		&view.Later{Class: "cursor-place", Draw: func() []goapp.UI { return []goapp.UI{r.cursor()} }},
		&view.Later{Class: "view view-" + string(s.state.View), Key: s.state.Table + " " + string(s.state.View), Draw: func() []goapp.UI { return []goapp.UI{r.view()} }},
	)
}

// afterFault offers ways on when a table could not be opened.
func (r *Root) afterFault(f *api.Fault) goapp.UI {
	body := []goapp.UI{goapp.A().Class("button").Href("#/").Text(text.T("Open another table"))}
	place := r.s.state.Table
	var cors, access goapp.UI
	if f.Kind == "unreachable" && strings.Contains(place, "://") {
		cors = r.unreachable()
	}
	if kind := model.KindOfStore(place); kind != model.NoStore {
		switch {
		case f.Kind == "forbidden", f.Kind == "expired":
			access = &accessForm{Root: r, Location: place, Form: "access", Title: text.T("The store asks who you are")}
		case cors == nil || !r.found.unsure: // what was found out asks for them itself
			body = append(body, view.Button("", text.T("Change keys…"), func(goapp.Context, goapp.Event) { r.s.dialog = dialogAccess }))
		}
	} else if x := r.renewal(f); x != nil {
		body = append(body, x)
	}
	var assumed goapp.UI
	if r.assumed != "" && r.assumed == r.s.state.Table {
		other := "http"
		if r.assumedScheme == "http" {
			other = "https"
		}
		body = append(body, view.Button("", text.F("Try %s://", other), func(goapp.Context, goapp.Event) {
			_, rest, _ := strings.Cut(r.fullLocation(), "://")
			r.open(other + "://" + rest)
		}, other))
		assumed = goapp.P().Class("dim").Text(text.F("The address was typed without a scheme: %s:// was assumed.", r.assumedScheme))
	}
	return view.Div("after-fault", view.Group(access, assumed, view.Div("actions", body...), cors)...)
}

// tabs lists the views that mean something for what is open.
func (r *Root) tabs() []model.View {
	if o := r.s.overview.val; o != nil && o.Kind == kindLog {
		return []model.View{model.Blocks}
	}
	return model.Views
}

// current is the view shown: a single log file has one only.
func (r *Root) current() model.View {
	if o := r.s.overview.val; o != nil && o.Kind == kindLog {
		return model.Blocks
	}
	return r.s.state.View
}

var tabIcons = map[model.View]view.Icon{
	model.Timeline: view.IconTimeline, model.Files: view.IconFiles, model.Blocks: view.IconBlocks, model.Rows: view.IconRows, model.Table: view.IconTable,
	model.History: view.IconLadder, model.Compare: view.IconCompare, model.Health: view.IconHealth, model.Metadata: view.IconMeta,
	model.Plan: iconPlan, model.Stream: iconStream,
}

func (r *Root) tabBar() goapp.UI {
	var tabs []goapp.UI
	for _, v := range r.tabs() {
		link := view.Link("tab", r.s.state.Go(v), tabIcons[v].UI(), goapp.Span().Text(text.T(v.Title())))
		if v == r.current() {
			link = goapp.A().Class("tab", "current").Aria("current", "page").Href("#"+r.s.state.Go(v).Fragment()).
				Body(tabIcons[v].UI(), goapp.Span().Text(text.T(v.Title())))
		}
		tabs = append(tabs, link)
	}
	bar := []goapp.UI{goapp.Div().Class("tab-row").Body(tabs...)}
	return goapp.Nav().Class("tabs").Aria("label", text.T("Views")).Body(bar...)
}

// headline says what this table is and whether its formats are supported.
func (r *Root) headline(o *api.Overview) goapp.UI {
	name := o.Name
	if name == "" {
		name = model.TableName(o.Location)
	}
	if o.Kind == kindLog {
		return goapp.Section().Class("headline").Body(
			view.Div("headline-row",
				goapp.H1().Class("table-name").Text(name),
				view.Badge("accent", text.T("single log file")),
			),
			view.Div("what", goapp.Text(text.T("Without its table: blocks and records are shown as they are in the file; what a snapshot would do with them can't be known."))),
			supportList(o),
		)
	}
	kind := o.Type
	switch o.Type {
	case "COPY_ON_WRITE":
		kind = text.T("Copy-on-write")
	case "MERGE_ON_READ":
		kind = text.T("Merge-on-read")
	}
	badges := []goapp.UI{
		view.Badge("accent", kind),
		goapp.Span().Class("badge").Title(tableVersionNote(o)).Text(text.F("table version %s", strconv.Itoa(o.Version))),
		view.Badge("", baseFormat(o.BaseFormat)),
	}
	if o.Readable && len(notReadable(o)) == 0 {
		badges = append(badges, goapp.Span().Class("badge good").Title(text.T("By the table's properties, hudiscope reads all of its formats. Only the properties have been read so far: damaged files show when they are read, or in Health.")).Body(view.IconCheck.UI(), goapp.Text(text.T("formats supported"))))
	} else if !o.Readable {
		badges = append(badges, view.Badge("bad", text.T("can't be read")))
	} else {
		badges = append(badges, view.Badge("warn", text.T("read in part")))
	}
	facts := []goapp.UI{
		view.Fact(text.T("Merge"), mergeText(o.Merge)...),
		view.Fact(text.T("Key"), listOrDash(o.RecordKeys)),
		view.Fact(text.T("Partitioned by"), listOrNone(o.Partitions, text.T("not partitioned"))),
	}
	if len(o.Merge.OrderingFields) > 0 {
		facts = append(facts, view.Fact(text.T("Ordering"), listOrDash(o.Merge.OrderingFields)))
	}
	if !o.MetaFields {
		facts = append(facts, view.FactText(text.T("Meta columns"), text.T("not stored")))
	}
	if o.CDC != "" {
		facts = append(facts, view.FactText(text.T("Change data"), o.CDC))
	}
	if len(o.MetadataTable) > 0 {
		facts = append(facts, view.FactText(text.T("Metadata table"), strings.Join(o.MetadataTable, ", ")))
	}
	if o.VersionFrom != "" {
		facts = append(facts, view.FactText(text.T("Version found by"), text.Said(o.VersionFrom)))
	}
	return goapp.Section().Class("headline").Aria("label", text.T("What this table is")).Body(view.Group(
		view.Div("headline-row", append([]goapp.UI{goapp.H1().Class("table-name").Text(name)}, badges...)...),
		view.Facts("inline", facts...),
		supportList(o),
		listingNote(o),
	)...)
}

func tableVersionNote(o *api.Overview) string {
	switch {
	case o.Version >= 9:
		return text.T("Table version 9: written by Hudi 1.1 and later")
	case o.Version == 8:
		return text.T("Table version 8: written by Hudi 1.0")
	case o.Version == 6:
		return text.T("Table version 6: written by Hudi 0.14 and 0.15")
	}
	return text.F("Table version %s", strconv.Itoa(o.Version))
}

func baseFormat(f string) string {
	switch strings.ToUpper(f) {
	case "PARQUET":
		return "Parquet"
	case "ORC":
		return "ORC"
	case "HFILE":
		return "HFile"
	case "LANCE":
		return "Lance"
	}
	return f
}

func mergeText(m api.Merge) []goapp.UI {
	mode := m.Mode
	switch m.Mode {
	case "COMMIT_TIME_ORDERING":
		mode = text.T("by commit time")
	case "EVENT_TIME_ORDERING":
		mode = text.T("by event time")
	case "CUSTOM":
		mode = text.T("custom")
	}
	from := m.From
	if from == "" {
		from = text.T("default")
	}
	return []goapp.UI{
		goapp.Span().Title(m.Mode + ". " + text.Said(m.Why)).Text(mode),
		goapp.Span().Class("from").Title(text.Said(m.Why)).Body(goapp.Text(text.T("from ")), view.Mono(from)),
	}
}

func listOrDash(list []string) goapp.UI { return listOrNone(list, text.T("none")) }

func listOrNone(list []string, none string) goapp.UI {
	if len(list) == 0 {
		return view.Span("dim", none)
	}
	return view.Mono(strings.Join(list, ", "))
}

func notReadable(o *api.Overview) []api.Support {
	var out []api.Support
	for _, x := range o.Support {
		if x.Level != "note" {
			out = append(out, x)
		}
	}
	return out
}

func supportList(o *api.Overview) goapp.UI {
	if len(o.Support) == 0 {
		return nil
	}
	var items []goapp.UI
	for _, x := range o.Support {
		icon, tone, word := view.IconInfo, "note", ""
		switch x.Level {
		case "no":
			icon, tone, word = view.IconWarning, "bad", text.T("Can't be read: ")
		case "part":
			icon, tone, word = view.IconWarning, "warn", text.T("In part: ")
		}
		items = append(items, goapp.Li().Class("finding", tone).Body(icon.UI(),
			&view.Folded{Word: word, Title: x.What, Detail: x.Note}))
	}
	return goapp.Ul().Class("findings").Aria("label", text.T("Remarks about what can be read")).Body(items...)
}

func listingNote(o *api.Overview) goapp.UI {
	if o.ListingNote == "" {
		return nil
	}
	return goapp.Ul().Class("findings").Body(goapp.Li().Class("finding warn").Body(view.IconWarning.UI(),
		view.Div("finding-text", goapp.Strong().Text(text.T("The listing may hide files.")), goapp.Text(" "+o.ListingNote))))
}

// view draws the present view.
func (r *Root) view() goapp.UI {
	s := r.s
	if o := s.overview.val; !o.Readable && o.Kind != kindLog && s.state.View != model.Table && s.state.View != model.Timeline {
		return view.Empty(view.IconInfo, text.T("This part of the table can't be read"), text.T("What stands above says why. The timeline and the table's properties can still be looked at."),
			view.Link("button", s.state.Go(model.Timeline), goapp.Text(text.T("Timeline"))), view.Link("button", s.state.Go(model.Table), goapp.Text(text.T("Properties"))))
	}
	switch r.current() {
	case model.Files:
		switch {
		case s.state.Anatomy != "":
			return &anatomyView{Root: r, Rev: s.rev}
		case s.state.GroupHistory && s.state.FileID != "":
			return &groupView{Root: r, Rev: s.rev}
		}
		return &filesView{Root: r, Rev: s.rev}
	case model.Blocks:
		return &blocksView{Root: r, Rev: s.rev}
	case model.Rows:
		return &rowsView{Root: r, State: s.state, Table: s.table().Location, Rev: s.rev}
	case model.Plan:
		return &planView{Root: r, Rev: s.rev}
	case model.Stream:
		return &streamView{Root: r, Rev: s.rev}
	case model.History:
		return &historyView{Root: r, Rev: s.rev}
	case model.Compare:
		return &compareView{Root: r, Rev: s.rev}
	case model.Health:
		return &healthView{Root: r, Rev: s.rev}
	case model.Metadata:
		return &metadataView{Root: r, Rev: s.rev}
	case model.Table:
		return &tableView{Root: r, Rev: s.rev}
	}
	return &timelineView{Root: r, Rev: s.rev}
}
