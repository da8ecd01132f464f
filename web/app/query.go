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

// queryOptions are the options of Hudi's readers that a state stands for.
func queryOptions(st model.State) map[string]string {
	ranged := st.Query == "inc" || st.Query == "cdc"
	o := moreOptions(st)
	for _, f := range optionFields {
		if f.ranged && !ranged {
			delete(o, f.name) // kept for when the query is one of a range again
		}
	}
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

// optionFields are more options of Spark's reader that have a field of their own, with their names in the address.
var optionFields = [...]struct {
	short, name string
	// values to choose from, separated by spaces; "" for a text.
	values         string
	label, explain string
	// ranged is true for options of queries of a range.
	ranged bool
}{
	{"ds", "hoodie.enable.data.skipping", "true false", text.Key("Data skipping"), text.Key("Whether the indexes of the metadata table are asked which files the condition needs"), false},
	{"dm", "hoodie.fileIndex.dataSkippingFailureMode", "fallback strict", text.Key("An index that can't be read"), text.Key("fallback reads without it, strict ends the read"), false},
	{"mt", "hoodie.datasource.merge.type", "payload_combine skip_merge", text.Key("Merge type"), text.Key("payload_combine merges base files with their logs, skip_merge shows the records of all of them"), false},
	{"sr", "hoodie.schema.on.read.enable", "true false", text.Key("Schema on read"), text.Key("Whether columns are matched through the table's history of schemas"), false},
	{"pg", "hoodie.datasource.read.incr.path.glob", "", text.Key("Path glob"), text.Key("Reads only files whose paths match, such as /2026/*/{a,b}*"), true},
	{"fs", "hoodie.datasource.read.incr.fallback.fulltablescan.enable", "true false", text.Key("Full-scan fallback"), text.Key("Whether the whole table is read where files of the range are archived or cleaned"), true},
}

// moreOptions are the options in a state's address by their full names, never nil.
func moreOptions(st model.State) map[string]string {
	full := map[string]string{}
	for _, f := range optionFields {
		full[f.short] = f.name
	}
	o := map[string]string{}
	for k, x := range model.SplitOptions(st.Options) {
		if n := full[k]; n != "" {
			k = n
		}
		o[k] = x
	}
	return o
}

// withOptions is a state with other options.
func withOptions(st model.State, o map[string]string) model.State {
	short := map[string]string{}
	for k, x := range o {
		short[k] = x
	}
	for _, f := range optionFields {
		if x, ok := short[f.name]; ok {
			delete(short, f.name)
			short[f.short] = x
		}
	}
	st.Options = model.JoinOptions(short)
	return st
}

// optionsGiven reports whether a state has options that the panel of query options shows.
func optionsGiven(st model.State) bool { return st.Query != "" || st.Rules != "" || st.Options != "" }

// withRules is a state that follows the rules of another release. The times of Flink's ranges become those that this
// release takes; Spark's are the same in all.
func (s *Session) withRules(st model.State, release string) model.State {
	to := st
	to.Rules = release
	was, is := s.rangesOf(st.Rules), s.rangesOf(release)
	flink := model.SplitOptions(st.Flink)
	if was == nil || is == nil || was.FlinkByRequestedTime == is.FlinkByRequestedTime || flink == nil {
		return to
	}
	for _, f := range flinkFields {
		if in, ok := s.instants().Timed(flink[f.name], was.FlinkByRequestedTime); ok && f.kind == "instant" {
			flink[f.name] = model.TimeOf(in, is.FlinkByRequestedTime)
		}
	}
	to.Flink = model.JoinOptions(flink)
	return to
}

// wantRanges asks which times the ends of ranges are, of the state's query and by the rules of every release that
// can be chosen.
func (s *Session) wantRanges(t api.Table) {
	req := api.RangesRequest{Table: t, Releases: append([]string{"", s.state.Rules}, releases[:]...)}
	if q := s.state.Query; q == "inc" || q == "cdc" {
		// Its ends are what is being chosen.
		of := s.state
		of.Begin, of.End = "", ""
		req.Options = queryOptions(of)
	}
	want(s, &s.ranges, requestKey(req), api.OpRanges, req)
}

// rangesOf is what the service said about the ranges of a release, nil before it did.
func (s *Session) rangesOf(release string) *api.ReleaseRanges {
	if a := s.ranges.val; a != nil {
		for i := range a.Releases {
			if a.Releases[i].Hudi == release {
				return &a.Releases[i]
			}
		}
	}
	return nil
}

// rulesName says whose rules an answer follows.
func rulesName(st model.State, rules string) string {
	if st.Rules == "" {
		return text.F("right answer (rules of %s without its known faults)", strings.TrimPrefix(rules, "Hudi "))
	}
	return rules
}

// conditionOf is the condition of a state.
func conditionOf(st model.State) api.Condition {
	return api.Condition{Where: st.Where, Columns: model.SplitList(st.Columns)}
}

// placeOf are the partitions and the file group that a state limits a query to.
func placeOf(st model.State) (partitions []string, fileID string) {
	switch {
	case st.FileID != "":
		return []string{st.Partition}, st.FileID
	case st.OnlyPartition:
		return []string{st.Partition}, ""
	}
	return nil, ""
}

// sparkOf are Spark's numbers that a state changes.
func sparkOf(st model.State) map[string]string {
	o := map[string]string{}
	for _, f := range sparkFields {
		if x := *f.of(&st); x != "" {
			o[f.name] = x
		}
	}
	if len(o) == 0 {
		return nil
	}
	return o
}

// sparkFields are Spark's settings of a scan, with Spark's defaults on a machine of eight cores.
var sparkFields = [...]struct {
	name, usual string
	of          func(*model.State) *string
}{
	{"spark.sql.files.maxPartitionBytes", "134217728", func(s *model.State) *string { return &s.MaxPartition }},
	{"spark.sql.files.openCostInBytes", "4194304", func(s *model.State) *string { return &s.OpenCost }},
	{"spark.default.parallelism", "8", func(s *model.State) *string { return &s.Parallelism }},
}

// planRequest asks for the plan of the query that a state stands for.
func planRequest(t api.Table, st model.State) api.PlanRequest {
	req := api.PlanRequest{Table: t, Options: queryOptions(st), Condition: conditionOf(st), Limit: st.Limit, Spark: sparkOf(st)}
	req.Partitions, req.FileID = placeOf(st)
	return req
}

// wantPlan asks for the plan, and with the rules of a release for the right one beside it.
func (s *Session) wantPlan(t api.Table) {
	req := planRequest(t, s.state)
	want(s, &s.plan, requestKey(req), api.OpPlan, req)
	if s.state.Rules != "" {
		req.Hudi = ""
		want(s, &s.planRight, requestKey(req), api.OpPlan, req)
	}
}

// wantColumns asks for the schema once columns are chosen from it.
func (s *Session) wantColumns(t api.Table) {
	if s.chooseColumns {
		want(s, &s.schema, "all", api.OpSchema, api.SchemaRequest{Table: t})
	}
}

// requestKey tells requests apart.
func requestKey(req any) string {
	b, _ := json.Marshal(req)
	return string(b)
}

// whereFault is the fault of a condition that can't be understood, nil for any other.
func whereFault(f *api.Fault) *api.Fault {
	if f != nil && f.Part == "where" {
		return f
	}
	return nil
}

// predicateBox asks for a condition, columns and a limit. It is the same in every view that reads rows.
type predicateBox struct {
	goapp.Compo

	Root  *Root
	State model.State
	// Fault is that of the condition, if it can't be understood.
	Fault *api.Fault
	Rev   int

	ctx   goapp.Context
	was   string // the condition of the state that the draft began with
	draft string
	picks []string // the columns chosen while the chooser is open
	open  bool
}

func (v *predicateBox) OnMount(ctx goapp.Context) {
	v.ctx = ctx
	v.was, v.draft = v.State.Where, v.State.Where
}

func (v *predicateBox) OnUpdate(ctx goapp.Context) {
	v.ctx = ctx
	if v.State.Where != v.was {
		v.was = v.State.Where
		v.put(v.State.Where)
	}
}

// put writes a condition into the field.
func (v *predicateBox) put(said string) {
	v.draft = said
	if v.ctx == nil {
		return
	}
	v.ctx.Defer(func(goapp.Context) {
		if el := goapp.Window().GetElementByID("where"); el.Truthy() {
			el.Set("value", said)
		}
	})
}

func (v *predicateBox) apply() {
	to := v.Root.s.state
	to.Where = strings.TrimSpace(v.draft)
	v.was = to.Where
	v.Root.navigate(to)
}

func (v *predicateBox) Render() goapp.UI {
	wrong := v.Fault != nil && strings.TrimSpace(v.draft) == strings.TrimSpace(v.State.Where)
	hint := text.T("a condition, such as fare > 20 AND city IN ('sao_paulo', 'chennai')")
	field := goapp.Elem("textarea").ID("where").Class("mono").DataSet("search", "").Attr("rows", 1).Spellcheck(false).Attr("autocomplete", "off").Aria("label", text.T("WHERE condition")).
		Attr("placeholder", hint).
		OnInput(func(ctx goapp.Context, _ goapp.Event) { v.draft = ctx.JSSrc().Get("value").String() }).
		OnKeyDown(func(_ goapp.Context, e goapp.Event) {
			if e.Get("key").String() == "Enter" && !e.Get("shiftKey").Truthy() && !e.Get("isComposing").Truthy() {
				e.Call("preventDefault")
				v.apply()
			}
		}).Body(goapp.Text(v.State.Where))
	// The text lies once more below the field: it makes the field as high as it has lines, and its
	// wrong part is underlined.
	echoed := v.draft
	if echoed == "" {
		echoed = hint
	}
	echo := []goapp.UI{goapp.Text(echoed + "\u200b")}
	if wrong {
		// The fault counts bytes of the condition as it was sent; the draft may begin with spaces.
		lead := len(v.draft) - len(strings.TrimLeft(v.draft, " \t\r\n"))
		before, bad, after := model.WrongPart(v.draft, v.Fault.Offset+int64(lead))
		if bad == "" {
			bad = "\u00a0\u00a0"
		}
		echo = []goapp.UI{goapp.Text(before), goapp.Span().Class("wrong").Text(bad), goapp.Text(after + "\u200b")}
		field = field.Aria("invalid", true).Aria("describedby", "where-fault")
	}
	limit := ""
	if v.State.Limit > 0 {
		limit = strconv.Itoa(v.State.Limit)
	}
	changed := strings.TrimSpace(v.draft) != v.State.Where
	apply := view.Button("small", text.T("Apply"), func(goapp.Context, goapp.Event) { v.apply() }).Title(text.T("Enter does the same"))
	if changed {
		apply = apply.Class("primary")
	}
	row := []goapp.UI{
		goapp.Label().For("where").Class("where-word mono").Text(text.T("WHERE")),
		view.Div("where-field", goapp.Div().Class("where-echo mono").Aria("hidden", true).Body(echo...), field),
		apply,
	}
	if v.draft != "" || v.State.Where != "" {
		row = append(row, view.IconButton(view.IconClose, text.T("Clear the condition"), func(goapp.Context, goapp.Event) {
			v.put("")
			v.apply()
		}))
	}
	row = append(row,
		v.columnsButton(),
		view.Div("limit-field", goapp.Label().For("query-limit").Text(text.T("Limit")),
			goapp.Input().ID("query-limit").Type("text").Attr("inputmode", "numeric").Class("small-input mono").Placeholder(text.T("none")).Attr("value", limit).
				OnChange(func(ctx goapp.Context, _ goapp.Event) {
					to := v.Root.s.state
					n, err := strconv.Atoi(strings.TrimSpace(ctx.JSSrc().Get("value").String()))
					if err != nil || n < 0 || n > 1<<30 {
						n = 0
					}
					ctx.JSSrc().Set("value", map[bool]string{true: strconv.Itoa(n)}[n > 0])
					to.Limit = n
					v.Root.navigate(to)
				})),
		v.skipped(),
	)
	out := []goapp.UI{view.Div("predicate-row", view.Group(row...)...)}
	if wrong {
		said := []goapp.UI{goapp.Strong().Body(view.Spoken("", v.Fault.Message))}
		if v.Fault.Try != "" {
			said = append(said, goapp.Text(" "), view.Spoken("", v.Fault.Try))
		}
		out = append(out, goapp.P().ID("where-fault").Class("where-fault").Role("alert").Body(view.IconWarning.UI(), goapp.Span().Body(said...)))
	}
	if v.open {
		out = append(out, v.chooser())
	}
	return goapp.Div().Class("predicate").Role("search").Aria("label", text.T("Condition, columns and limit")).Body(out...)
}

// skipped tells how many files the condition leaves out, with the way to the reasons.
func (v *predicateBox) skipped() goapp.UI {
	s := v.Root.s
	if v.State.Where == "" || v.Fault != nil {
		return nil
	}
	switch p := s.plan.val; {
	case s.plan.busy:
		return goapp.Span().Class("dim").Text(text.T("planning…"))
	case p == nil || p.Pruning == nil:
		return nil
	default:
		n := 0
		for i := range p.Pruning.Files {
			if !p.Pruning.Files[i].Kept {
				n++
			}
		}
		tone := "skip-chip"
		if n > 0 {
			tone += " some"
		}
		return goapp.A().ID("skip-chip").Class(tone).Href("#" + v.State.Go(model.Plan).Fragment()).Title(text.T("Which files, and why: see the plan")).
			Text(text.F("%s of %s skipped", model.Count(int64(n)), model.Plural(int64(len(p.Pruning.Files)), "file")))
	}
}

// columnsKnown are the columns that can be chosen.
func (v *predicateBox) columnsKnown() []api.Column {
	s := v.Root.s
	if p := s.plan.val; p != nil && v.State.Columns == "" {
		return p.Columns
	}
	if a := s.schema.val; a != nil {
		return a.Columns
	}
	return nil
}

func (v *predicateBox) columnsButton() goapp.UI {
	label := text.T("All columns")
	if l := model.SplitList(v.State.Columns); len(l) > 0 {
		label = model.Plural(int64(len(l)), "column")
	}
	return goapp.Button().Type("button").ID("choose-columns").Class("button small").Aria("expanded", v.open).Text(label).OnClick(func(goapp.Context, goapp.Event) {
		v.open = !v.open
		v.picks = model.SplitList(v.State.Columns)
		if v.open {
			v.Root.s.chooseColumns = true
			v.Root.s.ensure()
		}
	})
}

// chooser lists the columns; those chosen are read in the order in which they were.
func (v *predicateBox) chooser() goapp.UI {
	cols := v.columnsKnown()
	if cols == nil {
		if f := v.Root.s.schema.fault; f != nil {
			return view.FaultPanel(f, nil, v.Root.s.schema.retrier(v.Root.s))
		}
		return view.Div("columns-chooser", goapp.Span().Class("dim").Role("status").Text(text.T("Reading the schema…")))
	}
	at := map[string]int{}
	for i, n := range v.picks {
		at[n] = i + 1
	}
	var boxes []goapp.UI
	for _, c := range cols {
		n, chosen := at[c.Name]
		mark := ""
		if chosen {
			mark = strconv.Itoa(n)
		}
		name := c.Name
		boxes = append(boxes, goapp.Label().Class("column-pick").Title(c.Type).Body(
			goapp.Input().Type("checkbox").Checked(chosen).DataSet("column", name).OnChange(func(ctx goapp.Context, _ goapp.Event) {
				var next []string
				for _, x := range v.picks {
					if x != name {
						next = append(next, x)
					}
				}
				if ctx.JSSrc().Get("checked").Truthy() {
					next = append(next, name)
				}
				v.picks = next
			}, name),
			goapp.Span().Class("mono").Text(c.Name), goapp.Span().Class("pick-order num").Text(mark)))
	}
	set := func(list []string) {
		to := v.Root.s.state
		to.Columns = model.JoinList(list)
		v.open = false
		v.Root.navigate(to)
	}
	return goapp.Div().Class("columns-chooser").Role("group").Aria("label", text.T("Columns to read")).Body(
		view.Div("column-picks", boxes...),
		view.Div("actions",
			view.Button("small primary", text.T("Read these"), func(goapp.Context, goapp.Event) { set(v.picks) }),
			view.Button("small", text.T("All columns"), func(goapp.Context, goapp.Event) { set(nil) }),
			view.Button("small", text.T("Cancel"), func(goapp.Context, goapp.Event) { v.open = false })),
		goapp.P().Class("dim").Text(text.T("Columns come in the order in which they are chosen. Fewer columns read fewer bytes of Parquet files.")))
}

func (v *rowsView) optionsButton() goapp.UI {
	open := v.Root.s.rowOptions || optionsGiven(v.State)
	return goapp.Button().Type("button").ID("query-options").Class("button small").Aria("expanded", open).Text(text.T("Query options")).
		OnClick(func(goapp.Context, goapp.Event) { v.Root.s.rowOptions = !v.Root.s.rowOptions; v.Root.s.ensure() })
}

// queryForm chooses how Spark reads the rows.
func (r *Root) queryForm(st model.State) goapp.UI {
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
	items := []goapp.UI{goapp.Div().Class("segmented").Role("group").Aria("label", text.T("Query type")).Body(
		kind("", text.T("Snapshot"), text.T("The latest rows: base files merged with their logs")),
		kind("ro", text.T("Read-optimized"), text.T("Base files only: fast, and as old as the last compaction")),
		kind("inc", text.T("Incremental"), text.T("The rows that changed in a range of instants, as they are at its end")),
		kind("cdc", text.T("Change data"), text.T("Every change in a range: operation, before and after. Needs hoodie.table.cdc.enabled")),
	)}
	set := func(f func(*model.State, string)) func(string) {
		return func(x string) {
			to := r.s.state
			f(&to, x)
			r.navigate(to)
		}
	}
	if st.Query == "inc" || st.Query == "cdc" {
		times, after := timesUnknown, text.T("After")
		if a := r.s.ranges.val; a != nil {
			times = timesOf(a.ByRequestedTime)
		}
		if of := r.s.rangesOf(st.Rules); of != nil && of.StartIncluded {
			after = text.T("From")
		}
		items = append(items,
			&instantPicker{Root: r, Rev: r.s.rev, ID: "query-begin", Label: after, None: text.T("the beginning"), Value: st.Begin, Times: times, Range: true, Set: set(func(s *model.State, x string) { s.Begin = x })},
			&instantPicker{Root: r, Rev: r.s.rev, ID: "query-end", Label: text.T("Up to"), None: text.T("the latest"), Value: st.End, Times: times, Range: true, Set: set(func(s *model.State, x string) { s.End = x })})
	} else {
		items = append(items, r.instantSelect("query-asof", text.T("As of"), text.T("the latest"), st.AsOf, set(func(s *model.State, x string) { s.AsOf = x })))
	}
	items = append(items, r.rulesSelect(st), r.moreOptions(st))
	return goapp.Div().Class("query-form").Role("group").Aria("label", text.T("How rows are read")).Body(items...)
}

// moreOptions edits the options that are rarely needed.
func (r *Root) moreOptions(st model.State) goapp.UI {
	have := moreOptions(st)
	set := func(name string) goapp.EventHandler {
		return func(ctx goapp.Context, _ goapp.Event) {
			o := moreOptions(r.s.state)
			if x := strings.TrimSpace(ctx.JSSrc().Get("value").String()); x != "" {
				o[name] = x
			} else {
				delete(o, name)
			}
			r.navigate(withOptions(r.s.state, o))
		}
	}
	named := map[string]bool{}
	var fields []goapp.UI
	for _, f := range optionFields {
		named[f.name] = true
		if f.ranged && st.Query != "inc" && st.Query != "cdc" {
			continue
		}
		id, value := "option-"+f.short, have[f.name]
		var in goapp.UI
		if f.values == "" {
			in = goapp.Input().ID(id).Type("text").Class("small-input mono").Placeholder(text.T("none")).Spellcheck(false).Attr("value", value).OnChange(set(f.name), f.name)
		} else {
			in = optionSelect(id, value, strings.Fields(f.values), set(f.name), f.name)
		}
		class := "flink-field"
		if value != "" {
			class += " given"
		}
		fields = append(fields, view.Div(class, goapp.Label().For(id).Title(f.name+"\n"+text.T(f.explain)).Text(text.T(f.label)), in))
	}
	others := map[string]string{}
	for k, x := range have {
		if !named[k] {
			others[k] = x
		}
	}
	class := "flink-field"
	if len(others) > 0 {
		class += " given"
	}
	fields = append(fields, view.Div(class, goapp.Label().For("option-others").Title(text.T("Other options, as name=value; name=value")).Text(text.T("other options")),
		goapp.Input().ID("option-others").Type("text").Class("small-input mono").Placeholder(text.T("name=value; name=value")).Spellcheck(false).Attr("value", strings.ReplaceAll(model.JoinOptions(others), ";", "; ")).
			OnChange(func(ctx goapp.Context, _ goapp.Event) {
				o := moreOptions(r.s.state)
				for k := range o {
					if !named[k] {
						delete(o, k)
					}
				}
				otherOptions(o, named, ctx.JSSrc().Get("value").String())
				r.navigate(withOptions(r.s.state, o))
			})))
	summary := text.T("More options")
	if n := len(have); n > 0 {
		summary = text.F("More options: %s set", model.Plural(int64(n), "option"))
	}
	return goapp.Details().ID("more-query-options").Class("more-options query-more").Open(len(have) > 0).Body(goapp.Summary().Text(summary), view.Div("flink-fields", fields...))
}

// optionSelect chooses the value of an option of a reader; "" leaves it to its default. What stands in the address
// beside the usual values is offered, too.
func optionSelect(id, value string, values []string, set goapp.EventHandler, scope string) goapp.UI {
	opts := []goapp.UI{goapp.Option().Value("").Selected(value == "").Text(text.T("default"))}
	found := value == ""
	for _, x := range values {
		found = found || x == value
		opts = append(opts, goapp.Option().Value(x).Selected(x == value).Text(x))
	}
	if !found {
		opts = append(opts, goapp.Option().Value(value).Selected(true).Text(value))
	}
	return goapp.Select().ID(id).Class("select").Body(opts...).OnChange(set, scope)
}

// otherOptions adds to options what was typed as name=value; name=value. Options that have a field of their own are
// not taken from there.
func otherOptions(to map[string]string, named map[string]bool, typed string) {
	for k, x := range model.SplitOptions(typed) {
		if k = strings.TrimSpace(k); k != "" && !named[k] {
			to[k] = strings.TrimSpace(x)
		}
	}
}

// releases are those whose rules can be chosen, the newest first.
var releases = [...]string{"1.2.0", "1.1.1", "1.0.2", "0.15.0", "0.14.1"}

// rulesSelect chooses the Hudi release whose rules of reading are followed.
func (r *Root) rulesSelect(st model.State) goapp.UI {
	opts := []goapp.UI{goapp.Option().Value("").Selected(st.Rules == "").Text(text.T("the right answer"))}
	found := st.Rules == ""
	for _, x := range releases {
		found = found || x == st.Rules
		opts = append(opts, goapp.Option().Value(x).Selected(x == st.Rules).Text(text.F("Hudi %s", x)))
	}
	if !found {
		opts = append(opts, goapp.Option().Value(st.Rules).Selected(true).Text(text.F("Hudi %s", st.Rules)))
	}
	return view.Div("pick-instant rules", goapp.Label().For("query-rules").Text(text.T("Rules of")),
		goapp.Select().ID("query-rules").Class("select").Title(text.T("Releases of Hudi read some tables differently")).Body(opts...).OnChange(func(ctx goapp.Context, _ goapp.Event) {
			r.navigate(r.s.withRules(r.s.state, ctx.JSSrc().Get("value").String()))
		}))
}

func (r *Root) instantSelect(id, label, none, value string, set func(string)) goapp.UI {
	return &instantPicker{Root: r, Rev: r.s.rev, ID: id, Label: label, None: none, Value: value, Set: set}
}
