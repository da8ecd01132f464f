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

// planView shows what a Spark read will do, before anything of the data is read.
type planView struct {
	goapp.Compo

	Root *Root
	Rev  int

	dataOnly bool // tasks are drawn without the cost of opening files
	parts    int  // how many parts, files, tasks are drawn beyond the first ones
	files    int
	tasks    int
	kept     bool // files that are kept are hidden
}

// planRows is how many rows of a list of a plan are drawn at first, and more at a time.
const planRows = 100

func (v *planView) Render() goapp.UI {
	s := v.Root.s
	st := s.state
	p := &s.plan
	body := []goapp.UI{
		view.Div("plan-ask", v.Root.queryForm(st), &predicateBox{Root: v.Root, State: st, Fault: whereFault(p.fault), Rev: v.Rev},
			view.Div("toolbar", view.Group(v.spark(), view.Div("toolbar-end", v.rowsLink(st), v.Root.takeAway()))...)),
	}
	switch {
	case whereFault(p.fault) != nil:
		body = append(body, view.Empty(iconPlan, text.T("No plan yet"), text.T("The condition can't be understood: see the mark in it above.")))
	case sparkFault(p.fault) != nil:
		body = append(body, view.Empty(iconPlan, text.T("No plan yet"), text.T("One of Spark's numbers can't be used: see the note at it above.")))
	case p.fault != nil:
		body = append(body, view.FaultPanel(p.fault, v.Root.bytesLink(p.fault), p.retrier(s)))
	case p.val == nil:
		body = append(body, view.Loading(text.T("Planning the read"), p.slow, p.prog, p.canceller()), bones())
	default:
		body = append(body, v.answer(p.val)...)
	}
	return view.Div("plan", view.Group(body...)...)
}

const iconPlan view.Icon = `<circle cx="4.500" cy="10" r="1.700"/><path d="M6.200 10h3.300M9.500 4.500v11M9.500 4.500h3M9.500 10h3M9.500 15.500h3"/><rect x="12.500" y="3" width="4.500" height="3"/><rect x="12.500" y="8.500" width="4.500" height="3"/><rect x="12.500" y="14" width="4.500" height="3"/>`

func (v *planView) rowsLink(st model.State) goapp.UI {
	return view.Link("button small", st.Go(model.Rows), view.IconRows.UI(), goapp.Text(text.T("Read these rows")))
}

// sparkFault is the fault of one of Spark's numbers, nil for any other.
func sparkFault(f *api.Fault) *api.Fault {
	if f == nil {
		return nil
	}
	for _, x := range sparkFields {
		if f.Part == x.name || strings.Contains(f.Message, x.name) {
			return f
		}
	}
	return nil
}

// spark edits Spark's numbers.
func (v *planView) spark() goapp.UI {
	st := v.Root.s.state
	fault := sparkFault(v.Root.s.plan.fault)
	var items []goapp.UI
	for i, f := range sparkFields {
		id := "spark-" + strconv.Itoa(i)
		value := *f.of(&st)
		in := goapp.Input().ID(id).Type("text").Attr("inputmode", "numeric").Class("small-input mono").Placeholder(f.usual).Attr("value", value).
			OnChange(func(ctx goapp.Context, _ goapp.Event) {
				said := strings.TrimSpace(ctx.JSSrc().Get("value").String())
				if n, err := strconv.ParseInt(said, 10, 64); err != nil || n <= 0 || said == f.usual {
					said = ""
				}
				ctx.JSSrc().Set("value", said)
				to := v.Root.s.state
				*f.of(&to) = said
				v.Root.navigate(to)
			}, f.name)
		name := f.name[strings.LastIndexByte(f.name, '.')+1:]
		if fault != nil && (fault.Part == f.name || strings.Contains(fault.Message, f.name)) {
			in = in.Aria("invalid", true).Aria("describedby", "spark-fault")
		}
		items = append(items, view.Div("limit-field", goapp.Label().For(id).Title(f.name).Text(name), in))
	}
	if fault != nil {
		said := []goapp.UI{goapp.Strong().Body(view.Spoken("", fault.Message))}
		if fault.Try != "" {
			said = append(said, goapp.Text(" "), view.Spoken("", fault.Try))
		}
		items = append(items, goapp.P().ID("spark-fault").Class("where-fault").Role("alert").Body(view.IconWarning.UI(), goapp.Span().Lang("en").Body(said...)))
	}
	return goapp.Div().Class("spark-fields").Role("group").Aria("label", text.T("Spark's numbers")).Body(items...)
}

func (v *planView) answer(p *api.Plan) []goapp.UI {
	out := []goapp.UI{v.tiles(p)}
	if f := view.Findings(p.Findings); f != nil {
		out = append(out, f)
	}
	if x := v.Root.otherwise(); x != nil {
		out = append(out, x)
	}
	return append(out,
		view.Div("plan-two", relationPanel(&p.Relation), v.schemaPanel(p)),
		v.rangePanel(p),
		v.pruningPanel(p.Pruning),
		v.tasksPanel(p),
		v.partsPanel(p),
	)
}

func (v *planView) tiles(p *api.Plan) goapp.UI {
	var size int64
	logs := 0
	for i := range p.Parts {
		size += p.Parts[i].Bytes
		logs += len(p.Parts[i].Logs)
	}
	tile := func(name, value, tone string) goapp.UI {
		return view.Div("tile "+tone, view.Span("tile-value num", value), view.Span("tile-name", name))
	}
	tiles := []goapp.UI{
		tile(text.T("slices are read"), model.Count(int64(len(p.Parts))), "accent"),
		tile(text.T("log files among them"), model.Count(int64(logs)), ""),
		tile(text.T("in these files"), model.Bytes(size), ""),
		tile(text.T("Spark tasks"), model.Count(int64(len(p.Tasks.Tasks))), ""),
	}
	if x := p.Pruning; x != nil {
		tiles = append(tiles, tile(text.T("of the files are skipped"), share(x.SkippedFiles), "good"))
	}
	facts := []goapp.UI{view.FactText(text.T("Relation"), p.Relation.Name), view.FactText(text.T("Rules"), rulesName(v.Root.s.state, p.Rules))}
	if p.AsOf != "" {
		facts = append([]goapp.UI{view.Fact(text.T("As of"), view.Mono(p.AsOf))}, facts...)
	}
	return view.Div("compare-head", view.Div("tiles", tiles...), view.Facts("inline", facts...),
		view.Div("detail-tools", &view.CopyButton{Label: text.T("Copy the plan as JSON"), Make: func() string { return toJSON(p) }}))
}

func share(f float64) string {
	n := f * 100
	switch {
	case n <= 0:
		return "0%"
	case n >= 100:
		return "100%"
	case n < 1:
		return "<1%"
	case n > 99:
		return ">99%"
	}
	return strconv.Itoa(int(n+0.5)) + "%"
}

func panel(id, title string, body ...goapp.UI) goapp.UI {
	return goapp.Section().Class("panel").ID(id).Aria("label", title).Body(view.Group(append([]goapp.UI{goapp.H2().Text(title)}, body...)...)...)
}

// relationPanel is the decision table with the row that was taken.
func relationPanel(r *api.QueryRelation) goapp.UI {
	var facts []goapp.UI
	for _, f := range r.Inputs {
		facts = append(facts, view.Fact(text.Said(f.Name), view.Mono(f.Value)))
	}
	var rows []goapp.UI
	for i, x := range r.Rules {
		mark := goapp.UI(view.Span("dim", text.T("no")))
		class := "passed"
		switch {
		case i == r.Taken:
			mark, class = goapp.Span().Class("badge accent").Body(view.IconCheck.UI(), goapp.Text(text.T("taken"))), "taken"
		case i > r.Taken:
			mark, class = view.Span("dim", text.T("not asked")), ""
		}
		tr := goapp.Tr().Class(class)
		if i == r.Taken {
			tr = tr.Aria("current", true)
		}
		rows = append(rows, tr.Body(goapp.Td().Class("num dim").Text(i+1), goapp.Th().Scope("row").Body(view.Spoken("", x.When)), goapp.Td().Body(mark), goapp.Td().Class("mono").Text(x.Relation), goapp.Td().Class("dim").Body(view.Spoken("", x.Reads))))
	}
	return panel("plan-relation", text.T("Which relation"), view.Facts("inline", facts...), table([]string{"#", text.T("When"), "", text.T("Relation"), text.T("Reads")}, rows))
}

func (v *planView) schemaPanel(p *api.Plan) goapp.UI {
	out := []goapp.UI{schemaOf(p.SchemaFrom)}
	if len(p.SchemaSources) > 0 {
		out = append(out, sourcesTable(p.SchemaSources))
	}
	if len(p.SchemaChanges) > 0 {
		var rows []goapp.UI
		for _, c := range p.SchemaChanges {
			what := c.Column
			if c.Before != "" || c.After != "" {
				what = strings.TrimSpace(what + " " + c.Before + " → " + c.After)
			}
			rows = append(rows, goapp.Tr().Body(goapp.Th().Scope("row").Body(view.Badge(changeTone(c.Kind), text.Said(c.Kind))), goapp.Td().Class("mono").Text(what), goapp.Td().Class("mono").Text(c.Instant), goapp.Td().Class("dim").Body(view.Spoken("", c.Effect))))
		}
		out = append(out, goapp.H3().Text(text.T("What became of columns of older files")), table([]string{"", text.T("Column"), text.T("Instant"), text.T("Rows of older files")}, rows))
	}
	var cols []goapp.UI
	for _, c := range p.Columns {
		cols = append(cols, goapp.Span().Class("column-chip mono").Title(c.Type).Text(c.Name))
	}
	out = append(out, goapp.Details().Class("how").Open(v.Root.s.state.Columns != "").Body(goapp.Summary().Text(text.F("%s are read", model.Plural(int64(len(cols)), "column"))), view.Div("column-chips", cols...)))
	return panel("plan-schema", text.T("Which schema"), out...)
}

// schemaOf says where the schema stands.
func schemaOf(from string) goapp.UI {
	said := text.Said(from)
	if said == from {
		said = strings.TrimPrefix(from, "the ")
	}
	return goapp.P().Body(goapp.Text(text.T("The schema is that of ")), goapp.Strong().Text(said), goapp.Text(text.T(".")))
}

func changeTone(kind string) string {
	switch kind {
	case "added":
		return "good"
	case "dropped":
		return "bad"
	}
	return "warn"
}

// sourcesTable lists the places of a schema, with the one that won.
func sourcesTable(list []api.SchemaSource) goapp.UI {
	var rows []goapp.UI
	for _, x := range list {
		mark, class := goapp.UI(view.Badge("", text.T("not there"))), ""
		switch {
		case x.Used:
			mark, class = goapp.Span().Class("badge accent").Body(view.IconCheck.UI(), goapp.Text(text.T("used"))), "taken"
		case x.Found:
			mark = view.Badge("", text.T("there"))
		}
		rows = append(rows, goapp.Tr().Class(class).Body(goapp.Th().Scope("row").Body(view.Spoken("", x.Place)), goapp.Td().Body(mark), goapp.Td().Class("dim").Body(view.Spoken("", x.Note))))
	}
	return table([]string{text.T("Place"), text.T("Schema"), text.T("Note")}, rows)
}

// rangePanel tells which instants an incremental read takes, and why.
func (v *planView) rangePanel(p *api.Plan) goapp.UI {
	if p.Range == "" && p.Filter == "" && len(p.Instants) == 0 {
		return nil
	}
	return panel("plan-range", text.T("Which instants"), goapp.P().Body(view.Spoken("", p.Range)), goapp.P().Class("dim").Body(view.Spoken("", p.Filter)), chosenTable(v.Root, p.Instants))
}

func chosenTable(r *Root, list []api.ChosenInstant) goapp.UI {
	if len(list) == 0 {
		return goapp.P().Class("dim").Text(text.T("No instant is in the range."))
	}
	var rows []goapp.UI
	for _, x := range list[:min(len(list), 500)] {
		to := r.s.state.Go(model.Timeline)
		to.Instant, to.Action = x.Requested, ""
		what := []goapp.UI{view.ActionTag(x.Action)}
		if x.Operation != "" {
			what = append(what, view.Span("dim", " "+opName(x.Operation)))
		}
		if x.Archived {
			what = append(what, view.Badge("", text.T("archived")))
		}
		rows = append(rows, goapp.Tr().Body(goapp.Th().Scope("row").Body(view.Link("link mono", to, goapp.Text(x.Requested))), goapp.Td().Class("mono").Text(x.Completed), goapp.Td().Body(what...), goapp.Td().Class("dim").Body(view.Spoken("", x.Why))))
	}
	if n := len(list) - 500; n > 0 {
		rows = append(rows, goapp.Tr().Body(goapp.Td().ColSpan(4).Class("dim").Text(text.F("and %s", model.Plural(int64(n), "more instant")))))
	}
	return table([]string{text.T("Requested"), text.T("Completed"), text.T("Action"), text.T("Why it is read")}, rows)
}

// bar is a horizontal bar of a share, with its text.
func bar(label string, f float64, said string) goapp.UI {
	return view.Div("share",
		view.Span("share-name", label),
		goapp.Div().Class("share-bar").Role("img").Aria("label", label+": "+said).Body(goapp.Div().Style("width", view.Px(100*min(max(f, 0), 1))+"%")),
		view.Span("num", said))
}

// pruningPanel explains partition pruning and data skipping, file by file.
func (v *planView) pruningPanel(x *api.Pruning) goapp.UI {
	st := v.Root.s.state
	if x == nil {
		if st.Where != "" {
			return nil
		}
		return panel("plan-pruning", text.T("Which files are skipped"),
			goapp.P().Class("dim").Text(text.T("Without a condition every slice is read. Write one above to see which partitions and files it leaves out, and by which statistic.")))
	}
	facts := []goapp.UI{view.Fact(text.T("Condition"), view.Mono(x.Condition))}
	if x.PartitionPart != "" {
		facts = append(facts, view.Fact(text.T("On partitions"), view.Mono(x.PartitionPart)))
	}
	if x.DataPart != "" {
		facts = append(facts, view.Fact(text.T("On data"), view.Mono(x.DataPart)))
	}
	skipping := text.F("off (%s)", "hoodie.enable.data.skipping")
	if x.Skipping {
		skipping = text.T("on")
		if x.Mode != "" {
			skipping = text.F("%s, %s", skipping, x.Mode)
		}
	}
	facts = append(facts, view.FactText(text.T("Data skipping"), skipping))
	var all, less int64
	keptFiles := 0
	for i := range x.Files {
		all += x.Files[i].Bytes
		if x.Files[i].Kept {
			keptFiles++
		} else {
			less += x.Files[i].Bytes
		}
	}
	skipped := len(x.Files) - keptFiles
	out := []goapp.UI{view.Facts("", facts...),
		view.Div("shares",
			bar(text.T("Files skipped"), x.SkippedFiles, text.F("%s of %s, %s", model.Count(int64(skipped)), model.Count(int64(len(x.Files))), share(x.SkippedFiles))),
			bar(text.T("Bytes skipped"), x.SkippedBytes, text.F("%s of %s, %s", model.Bytes(less), model.Bytes(all), share(x.SkippedBytes))))}
	if len(x.Indexes) > 0 {
		var steps []goapp.UI
		for _, i := range x.Indexes {
			class, mark := "index-step", goapp.UI(view.Badge("", text.T("passed over")))
			if i.Used {
				class, mark = "index-step used", goapp.Span().Class("badge accent").Body(view.IconCheck.UI(), goapp.Text(text.T("used")))
			}
			steps = append(steps, goapp.Li().Class(class).Body(goapp.Strong().Class("mono").Text(text.Said(i.Name)), mark, view.Spoken("dim", i.Why)))
		}
		out = append(out, goapp.H3().Text(text.T("Indexes, in the order in which they are tried")), goapp.Ol().Class("index-steps").Body(steps...))
	}
	if len(x.Partitions) > 0 {
		gone := 0
		var rows []goapp.UI
		for i, q := range x.Partitions {
			if !q.Kept {
				gone++
			}
			if i < 200 {
				rows = append(rows, goapp.Tr().Class(map[bool]string{true: "", false: "left-out"}[q.Kept]).Body(goapp.Th().Scope("row").Class("mono").Text(partitionName(q.Partition)), goapp.Td().Body(readOrNot(q.Kept)), goapp.Td().Class("mono").Text(q.By), goapp.Td().Class("dim").Body(view.Spoken("", q.Why))))
			}
		}
		if n := len(x.Partitions) - 200; n > 0 {
			rows = append(rows, goapp.Tr().Body(goapp.Td().ColSpan(4).Class("dim").Text(text.F("and %s", model.Plural(int64(n), "more partition")))))
		}
		out = append(out, goapp.H3().Text(text.F("%s of %s left out", model.Count(int64(gone)), model.Plural(int64(len(x.Partitions)), "partition"))), table([]string{text.T("Partition"), "", text.T("By"), text.T("Why")}, rows))
	}
	hide := text.T("Hide those that are read")
	if v.kept {
		hide = text.T("Show those that are read, too")
	}
	head := []goapp.UI{goapp.H3().Text(text.T("File by file"))}
	if skipped > 0 && keptFiles > 0 {
		head = append(head, view.Button("small", hide, func(goapp.Context, goapp.Event) { v.kept = !v.kept }))
	}
	out = append(out, view.Div("panel-head", head...))
	var biggest int64 = 1
	for i := range x.Files {
		biggest = max(biggest, x.Files[i].Bytes)
	}
	var items []goapp.UI
	hidden := 0
	for i := range x.Files {
		if v.kept && x.Files[i].Kept {
			continue
		}
		if len(items) >= planRows+v.files {
			hidden++
			continue
		}
		items = append(items, v.file(&x.Files[i], biggest))
	}
	out = append(out, goapp.Ul().Class("verdicts").ID("plan-files").Body(items...))
	if hidden > 0 {
		out = append(out, view.Button("", text.F("Show more of %s", model.Plural(int64(hidden), "file")), func(goapp.Context, goapp.Event) { v.files += planRows }))
	}
	return panel("plan-pruning", text.T("Which files are skipped"), out...)
}

func readOrNot(kept bool) goapp.UI {
	if kept {
		return view.Badge("", text.T("read"))
	}
	return view.Badge("good", text.T("skipped"))
}

func (v *planView) file(f *api.FileVerdict, biggest int64) goapp.UI {
	st := v.Root.s.state.Go(model.Files)
	st.Partition, st.FileID, st.Slice, st.OnlyPartition = f.Partition, f.FileID, "", false
	class := "verdict"
	if !f.Kept {
		class += " left-out"
	}
	by := goapp.UI(nil)
	if f.By != "" {
		by = goapp.Span().Class("by").Body(goapp.Text(text.T("by ")), view.Mono(f.By))
	}
	name := partitionName(f.Partition) + " / " + model.ShortID(f.FileID)
	head := view.Div("verdict-head", view.Group(readOrNot(f.Kept), view.Link("link mono", st, goapp.Text(name)), by,
		goapp.Div().Class("verdict-size").Aria("hidden", true).Body(goapp.Div().Style("width", view.Px(100*float64(f.Bytes)/float64(biggest))+"%")),
		view.Span("num dim", model.Bytes(f.Bytes)))...)
	body := []goapp.UI{head, goapp.P().Class("verdict-why").Body(view.Spoken("", f.Why))}
	if len(f.Stats) > 0 {
		var rows []goapp.UI
		for _, x := range f.Stats {
			holds, class := text.T("may match"), ""
			if !x.Holds {
				holds, class = text.T("can't match"), "decides"
			}
			rows = append(rows, goapp.Tr().Class(class).Body(
				goapp.Th().Scope("row").Class("mono").Text(x.Column), goapp.Td().Class("mono").Text(x.Min), goapp.Td().Class("mono").Text(x.Max),
				num(x.Nulls), num(x.Values), goapp.Td().Class("mono").Text(x.Test), goapp.Td().Body(goapp.Text(holds)),
				goapp.Td().Class("mono dim").Title(x.File).Text(tail(x.File))))
		}
		body = append(body, goapp.Details().Class("how").Body(goapp.Summary().Text(text.F("%s looked at", model.Plural(int64(len(f.Stats)), "statistic"))),
			table([]string{text.T("Column"), text.T("Min"), text.T("Max"), text.T("#Nulls"), text.T("#Values"), text.T("Test"), "", text.T("File")}, rows)))
	}
	return goapp.Li().Class(class).Body(body...)
}

func tail(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// tasksPanel draws how Spark packs the pieces of files into tasks.
func (v *planView) tasksPanel(p *api.Plan) goapp.UI {
	t := &p.Tasks
	cost := int64(4194304)
	if x, err := strconv.ParseInt(v.Root.s.state.OpenCost, 10, 64); err == nil {
		cost = x
	}
	if v.dataOnly {
		cost = 0
	}
	facts := []goapp.UI{view.Fact(text.T("A split has"), goapp.Text(model.Bytes(t.MaxSplitBytes)), goapp.Span().Class("dim").Text(" = "), view.Mono(t.Sum))}
	limit := v.Root.s.state.Limit
	if len(t.Rounds) > 0 {
		facts = append(facts, view.FactText(text.F("A limit of %s", model.Count(int64(limit))), text.F("runs %s at most: each runs more tasks than the one before, and the first that finds enough rows is the last", model.Plural(int64(len(t.Rounds)), "round"))))
	}
	if len(t.Tasks) == 0 {
		return panel("plan-tasks", text.T("Which tasks"), view.Facts("", facts...), goapp.P().Class("dim").Text(text.T("Nothing is read, so there are no tasks.")))
	}
	toggle := func(on bool, label string) goapp.UI {
		class := "seg"
		if v.dataOnly == on {
			class += " current"
		}
		return goapp.Button().Type("button").Class(class).Aria("pressed", v.dataOnly == on).Text(label).OnClick(func(goapp.Context, goapp.Event) { v.dataOnly = on }, on)
	}
	shown := min(len(t.Tasks), planRows+v.tasks)
	rows, split := model.TaskBoxes(t.Tasks[:shown], t.MaxSplitBytes, cost)
	var lines []goapp.UI
	round := -1
	for i, boxes := range rows {
		if r := model.RoundOf(t.Rounds, i); r != round {
			round = r
			said := text.T("Not run in any round")
			if r >= 0 {
				said = text.F("Round %s: %s", strconv.Itoa(r+1), model.Plural(int64(t.Rounds[r].Tasks), "task"))
			}
			lines = append(lines, goapp.Li().Class("task-round").Text(said))
		}
		task := &t.Tasks[i]
		var drawn []goapp.UI
		for j, b := range boxes {
			piece := &task.Pieces[j]
			title := tail(piece.File) + "\n" + model.Bytes(piece.Length)
			if piece.Start > 0 || piece.Part >= 0 && piece.Part < len(p.Parts) && piece.Length < p.Parts[piece.Part].Bytes {
				title += text.F(" from byte %s", model.Count(piece.Start))
			}
			if piece.Part >= 0 && piece.Part < len(p.Parts) {
				title = partitionName(p.Parts[piece.Part].Partition) + "\n" + title + "\n" + text.Said(p.Parts[piece.Part].How)
			}
			drawn = append(drawn, goapp.Div().Class("piece", "tone"+strconv.Itoa(piece.Part%6)).Title(title).
				Style("left", view.Px(100*b.Start)+"%").Style("width", "max(3px, "+strconv.FormatFloat(100*b.Data, 'f', 3, 64)+"%)"))
			if b.Cost > 0 {
				drawn = append(drawn, goapp.Div().Class("piece-cost").Title(text.F("Opening the file counts %s", model.Bytes(cost))).
					Style("left", view.Px(100*(b.Start+b.Data))+"%").Style("width", strconv.FormatFloat(100*b.Cost, 'f', 3, 64)+"%"))
			}
		}
		if split <= 1 {
			drawn = append(drawn, goapp.Div().Class("split-line").Style("left", view.Px(100*split)+"%"))
		}
		label := text.F("Task %s: %s, %s", strconv.Itoa(i), model.Plural(int64(len(task.Pieces)), "piece"), model.Bytes(task.Bytes))
		lines = append(lines, goapp.Li().Class("task").Body(
			goapp.Span().Class("task-name num").Text(strconv.Itoa(i)),
			goapp.Div().Class("task-track").Role("img").Aria("label", label).Body(drawn...),
			goapp.Span().Class("num dim").Text(model.Bytes(task.Bytes)),
			goapp.Span().Class("dim task-pieces").Text(model.Plural(int64(len(task.Pieces)), "piece"))))
	}
	note := text.T("The line is the size of a split: a task is closed before it would grow beyond.")
	if split > 1 {
		note = text.T("The size of a split lies outside of the picture: every task is smaller.")
	}
	out := []goapp.UI{view.Facts("", facts...),
		view.Div("tasks-head", goapp.Div().Class("segmented").Role("group").Aria("label", text.T("What is drawn")).Body(toggle(false, text.T("As Spark counts")), toggle(true, text.T("Bytes only"))),
			view.Div("legend task-legend", view.Span("piece-key", ""), goapp.Text(text.T("bytes of a file")), view.Span("cost-key", ""), goapp.Text(text.T("cost of opening it")), view.Span("line-key", ""), goapp.Text(text.T("size of a split")))),
		goapp.Ol().ID("plan-task-list").Class("tasks").Body(lines...),
		goapp.P().Class("dim").Text(text.F("%s Pieces are packed in descending order of size.", note))}
	if n := len(t.Tasks) - shown; n > 0 {
		out = append(out, view.Button("", text.F("Show more of %s", model.Plural(int64(n), "task")), func(goapp.Context, goapp.Event) { v.tasks += planRows }))
	}
	return panel("plan-tasks", text.T("Which tasks"), out...)
}

// partsPanel lists what is read as one.
func (v *planView) partsPanel(p *api.Plan) goapp.UI {
	if len(p.Parts) == 0 {
		return panel("plan-parts", text.T("What is read"), goapp.P().Class("dim").Text(text.T("Nothing: no slice is in the range or fulfils the condition.")))
	}
	shown := min(len(p.Parts), planRows+v.parts)
	var rows []goapp.UI
	for i := range p.Parts[:shown] {
		x := &p.Parts[i]
		st := v.Root.s.state.Go(model.Files)
		st.Partition, st.FileID, st.Slice, st.OnlyPartition = x.Partition, x.FileID, x.BaseInstant, false
		var what []goapp.UI
		if x.Base != "" {
			what = append(what, view.Badge("", text.T("base")))
		}
		if n := len(x.Logs); n > 0 {
			what = append(what, view.Badge("", model.Plural(int64(n), "log")))
		}
		how := []goapp.UI{view.Spoken("", x.How)}
		if len(x.Changes) > 0 {
			how = append(how, goapp.Details().Class("how").Body(goapp.Summary().Text(text.F("%s of changes", model.Plural(int64(len(x.Changes)), "source"))), changesTable(x.Changes)))
		}
		rows = append(rows, goapp.Tr().Body(goapp.Td().Class("num dim").Text(i), goapp.Th().Scope("row").Class("mono").Text(partitionName(x.Partition)),
			goapp.Td().Body(view.Link("link mono", st, goapp.Text(model.ShortID(x.FileID)))), goapp.Td().Class("mono").Text(x.BaseInstant),
			goapp.Td().Body(view.Div("badges", what...)), goapp.Td().Class("num").Text(model.Bytes(x.Bytes)), goapp.Td().Body(how...)))
	}
	out := []goapp.UI{table([]string{"#", text.T("Partition"), text.T("File group"), text.T("Base instant"), text.T("Files"), text.T("#Size"), text.T("Read as")}, rows)}
	if n := len(p.Parts) - shown; n > 0 {
		out = append(out, view.Button("", text.F("Show more of %s", model.Plural(int64(n), "slice")), func(goapp.Context, goapp.Event) { v.parts += planRows }))
	}
	return panel("plan-parts", text.T("What is read"), out...)
}

func changesTable(list []api.PlanChange) goapp.UI {
	var rows []goapp.UI
	names := func(files []string) string {
		var out []string
		for _, f := range files {
			out = append(out, tail(f))
		}
		return strings.Join(out, ", ")
	}
	for _, c := range list {
		var from []goapp.UI
		for _, x := range [...]struct {
			label string
			files []string
		}{{text.T("changes"), c.Files}, {text.T("before"), c.Before}, {text.T("after"), c.After}} {
			if len(x.files) > 0 {
				from = append(from, goapp.Div().Body(view.Span("dim", x.label+": "), view.Mono(names(x.files))))
			}
		}
		rows = append(rows, goapp.Tr().Body(goapp.Th().Scope("row").Class("mono").Text(c.Instant), goapp.Td().Class("mono").Text(c.Case), goapp.Td().Class("wrap").Body(from...), goapp.Td().Class("dim").Body(view.Spoken("", c.Why))))
	}
	return table([]string{text.T("Instant"), text.T("Case"), text.T("Files"), text.T("Why")}, rows)
}

// otherwise says what the chosen release reads differently from the right answer, nil when none is chosen.
func (r *Root) otherwise() goapp.UI {
	s := r.s
	st := s.state
	if st.Rules == "" {
		return nil
	}
	right := st
	right.Rules = ""
	back := view.Link("link", right, goapp.Text(text.T("The right answer")))
	box := func(tone string, icon view.Icon, body ...goapp.UI) goapp.UI {
		return goapp.Div().ID("otherwise").Class("otherwise", tone).Body(icon.UI(), view.Div("otherwise-body", body...))
	}
	title := goapp.Strong().Text(text.F("Hudi %s beside the right answer", st.Rules))
	switch {
	case s.plan.val != nil && s.planRight.fault != nil:
		return box("", view.IconInfo, title, goapp.P().Text(text.F("The right answer refuses this query: %s", s.planRight.fault.Error())))
	case s.plan.fault != nil && s.planRight.val != nil:
		return box("warn", view.IconWarning, title, goapp.P().Body(goapp.Text(text.T("This release does not read it. ")), back))
	case s.plan.fault != nil:
		return nil
	case s.plan.val == nil || s.planRight.val == nil:
		return box("", view.IconInfo, title, goapp.P().Class("dim").Text(text.T("Comparing the plans…")))
	}
	diff := model.PlanDifferences(s.plan.val, s.planRight.val)
	other := model.PlanFindings(s.plan.val, s.planRight.val)
	var notes []goapp.UI
	for _, f := range other {
		notes = append(notes, goapp.Li().Body(view.Badge("warn", text.Said(f.Title)), goapp.Text(" "), view.Spoken("", f.Detail)))
	}
	if len(diff) == 0 && len(notes) > 0 {
		return box("warn", view.IconWarning, title, goapp.P().Body(goapp.Text(text.T("Both plans name the same instants and files. This release is known to do otherwise here:"))), goapp.Ul().Class("differences").Body(notes...), goapp.P().Body(back))
	}
	if len(diff) == 0 {
		return box("", view.IconCheck, title, goapp.P().Body(goapp.Text(text.T("Both read the same instants and files. Rows may still differ in how they are merged and written. ")), back))
	}
	sort.SliceStable(diff, func(i, j int) bool { return !diff[i].Extra && diff[j].Extra })
	var items []goapp.UI
	for i, d := range diff {
		if i == 40 {
			items = append(items, goapp.Li().Class("dim").Text(text.F("and %s", model.Plural(int64(len(diff)-i), "more difference"))))
			break
		}
		tone, word := "bad", text.T("not read")
		if d.Extra {
			tone, word = "warn", text.T("read too much")
		}
		what := map[string]string{"instant": text.T("instant "), "slice": text.T("slice "), "files": text.T("files of ")}[d.Kind]
		items = append(items, goapp.Li().Body(view.Badge(tone, word), goapp.Text(" "+what), view.Mono(d.Name), goapp.Text(" "), view.Spoken("dim", d.Detail)))
	}
	items = append(items, notes...)
	return box("warn", view.IconWarning, title, goapp.Ul().Class("differences").Body(items...), goapp.P().Body(back))
}
