package app

import (
	"strings"
	"time"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// compareTo offers to compare the table at an instant with another one: the first click marks
// it, the second one compares.
func (v *timelineView) compareTo(in api.Instant) goapp.UI {
	switch in.Action {
	case "commit", "deltacommit", "replacecommit":
	default:
		return nil
	}
	st := v.Root.s.state
	switch {
	case st.Before == "" || st.After != "":
		st.Before, st.After = in.Requested, ""
		return goapp.A().Class("button small").Href("#" + st.Fragment()).Title(text.T("Mark this instant; then choose another one to compare it with")).Text(text.T("Compare from here…"))
	case st.Before == in.Requested:
		st.Before = ""
		return goapp.A().Class("button small marked").Href("#" + st.Fragment()).Title(text.T("Choose another instant to compare with, or click to take the mark away")).Text(text.T("Marked: choose another instant"))
	}
	to := st.Go(model.Compare)
	to.After = in.Requested
	if to.Before > to.After {
		to.Before, to.After = to.After, to.Before
	}
	return view.Link("button small primary", to, view.IconCompare.UI(), goapp.Text(text.F("Compare with %s", st.Before)))
}

// instantLink leads to another instant.
func (v *timelineView) instantLink(requested, action string) goapp.UI {
	st := v.Root.s.state.Go(model.Timeline)
	st.Instant, st.Action = requested, action
	return view.Link("link mono", st, goapp.Text(requested))
}

// undone reports whether an instant that another one undid is gone from the timeline: a link to it would lead nowhere.
func (v *timelineView) undone(requested string) bool {
	s := v.Root.s
	return s.timeline.val != nil && s.unread() == 0 && s.instants().Find(requested, "") < 0
}

// undoneLink is instantLink for what a rollback or restore undid, which is mostly gone.
func (v *timelineView) undoneLink(requested string) goapp.UI {
	if !v.undone(requested) {
		return v.instantLink(requested, "")
	}
	return goapp.Span().Class("undone").Body(view.Mono(requested), goapp.Text(" "), view.Span("dim", text.T("undone by this, gone from the timeline")))
}

// work shows what an instant did or is going to do.
func (v *timelineView) work(w *api.InstantWork) []goapp.UI {
	var out []goapp.UI
	add := func(parts ...goapp.UI) { out = append(out, view.Group(parts...)...) }
	if f := view.Findings(w.Findings); f != nil {
		add(f)
	}
	if p := w.Pending; p != nil {
		add(v.pending(p))
	}
	add(v.links())
	if r := w.Rollback; r != nil {
		add(v.rollback(text.T("Rolled back"), r))
	}
	if r := w.Restore; r != nil {
		add(v.restore(r))
	}
	if c := w.Clean; c != nil {
		add(v.clean(c))
	}
	if s := w.Savepoint; s != nil {
		add(savepoint(s))
	}
	if p := w.Plan; p != nil {
		add(v.plan(p))
	}
	if len(w.Replaced) > 0 {
		add(v.replaced(w.Replaced))
	}
	if len(w.Indexing) > 0 {
		var rows []goapp.UI
		for _, x := range w.Indexing {
			rows = append(rows, goapp.Tr().Body(goapp.Th().Scope("row").Class("mono").Text(x.Partition), goapp.Td().Body(v.instantLink(x.UpTo, ""))))
		}
		add(section(text.T("Builds"), table([]string{text.T("Metadata partition"), text.T("Up to")}, rows)))
	}
	if w.Workload != nil {
		add(v.workload(w.Workload))
	}
	if len(w.SchemaChange) > 0 {
		add(section(text.T("Schema changes"), schemaChanges(w.SchemaChange)))
	}
	if len(w.Extra) > 0 {
		var facts []goapp.UI
		for _, e := range w.Extra {
			value := []goapp.UI{goapp.Span().Class("mono wrap").Text(e.Value)}
			if e.What != "" {
				value = append(value, view.Spoken("from", e.What))
			}
			facts = append(facts, view.Fact(e.Key, value...))
		}
		add(section(text.T("Extra metadata"), goapp.Dl().Class("facts keys-mono").Body(facts...)))
	}
	return out
}

func section(title string, body ...goapp.UI) goapp.UI {
	return goapp.Section().Class("part").Body(view.Group(append([]goapp.UI{goapp.H3().Text(title)}, body...)...)...)
}

// table is a small table of rows with a heading; "#Name" heads a column of numbers.
func table(head []string, rows []goapp.UI) goapp.UI {
	var cols []goapp.UI
	for _, h := range head {
		class, name := "", h
		if strings.HasPrefix(h, "#") {
			class, name = "num", h[1:]
		}
		cols = append(cols, goapp.Th().Scope("col").Class(class).Text(name))
	}
	return view.Wrap("table-wrap", goapp.Table().Class("stats").Body(goapp.THead().Body(goapp.Tr().Body(cols...)), goapp.TBody().Body(rows...)))
}

func (v *timelineView) pending(p *api.Pending) goapp.UI {
	facts := []goapp.UI{view.Fact(text.T("Since"), view.Mono(p.Since), view.Span("dim", model.Clock(p.Since)))}
	if p.AgeSeconds >= 0 {
		facts = append(facts, view.FactText(text.T("Age"), text.F("%s up to the newest instant", model.Span(time.Duration(p.AgeSeconds)*time.Second))))
	}
	if p.Later > 0 {
		facts = append(facts, view.FactText(text.T("Overtaken by"), model.Plural(int64(p.Later), "completed instant")))
	}
	if p.Heartbeat != "" {
		facts = append(facts, view.Fact(text.T("Heartbeat"), view.Mono(p.Heartbeat)))
	}
	if p.Markers > 0 {
		facts = append(facts, view.FactText(text.T("Markers"), model.Plural(int64(p.Markers), "file")))
	}
	said := []goapp.UI{goapp.Strong().Body(view.Spoken("", p.What))}
	if p.Blocks != "" {
		said = append(said, goapp.Text(" "), view.Spoken("", p.Blocks))
	}
	return view.Div("pending-box", goapp.Div().Class("finding warn").Body(view.IconWarning.UI(), view.Div("finding-text", said...)), view.Facts("", facts...))
}

// linksShown is how many relations of one kind are listed at first.
const linksShown = 12

// links lists the relations of the instant, by kind and direction.
func (v *timelineView) links() goapp.UI {
	me := v.Root.s.instant.val.Instant
	type group struct {
		title string
		list  []api.Relation
		back  bool
	}
	var groups []*group
	by := map[string]*group{}
	for _, r := range v.related(me.Requested, "") {
		back := r.From != me.Requested
		title := upper(relationWord(r.Kind))
		if back {
			title = passive(r.Kind)
		}
		g := by[title]
		if g == nil {
			g = &group{title: title, back: back}
			by[title] = g
			groups = append(groups, g)
		}
		g.list = append(g.list, r)
	}
	if len(groups) == 0 {
		return nil
	}
	var facts []goapp.UI
	for _, g := range groups {
		var items, more []goapp.UI
		for i, r := range g.list {
			at, action := r.To, ""
			if g.back {
				at, action = r.From, r.FromAction
			}
			link := v.instantLink(at, action)
			if !g.back && (r.Kind == api.RelRollsBack || r.Kind == api.RelRestores) {
				link = v.undoneLink(at)
			}
			item := goapp.Li().Class("relation").Body(link, view.Span("dim", strings.Join(nonEmpty(action, text.Said(r.Note), planned(r.Plan)), ", ")))
			if i < linksShown {
				items = append(items, item)
			} else {
				more = append(more, item)
			}
		}
		value := []goapp.UI{goapp.Ul().Class("relations").Body(items...)}
		if len(more) > 0 {
			value = append(value, goapp.Details().Class("how").Body(goapp.Summary().Text(text.F("%s more", model.Count(int64(len(more))))), goapp.Ul().Class("relations").Body(more...)))
		}
		facts = append(facts, view.Fact(g.title, value...))
	}
	return section(text.T("Linked instants"), goapp.Dl().Class("facts").Body(facts...))
}

func planned(plan bool) string {
	if plan {
		return text.T("planned")
	}
	return ""
}

func nonEmpty(list ...string) []string {
	var out []string
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

func upper(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-32) + s[1:]
	}
	return s
}

// relationWords are the words between the two instants of a relation.
var relationWords = map[string]string{
	api.RelRollsBack: text.Key("rolls back"), api.RelRestores: text.Key("restores past"), api.RelRestoresTo: text.Key("restores to"),
	api.RelRetains: text.Key("retains from"), api.RelSaves: text.Key("protects"), api.RelCompacts: text.Key("compacts"),
	api.RelClusters: text.Key("clusters"), api.RelReplaces: text.Key("replaces"), api.RelWritesOver: text.Key("writes over"),
	api.RelIndexes: text.Key("indexes up to"), api.RelCompleted: text.Key("was planned as"),
}

// relationWord says a relation from the side of what acts.
func relationWord(kind string) string {
	if said := relationWords[kind]; said != "" {
		return text.T(said)
	}
	return kind
}

// passive says a relation from the side of what is acted on.
func passive(kind string) string {
	switch kind {
	case api.RelRollsBack:
		return text.T("Rolled back by")
	case api.RelRestores:
		return text.T("Undone by")
	case api.RelRestoresTo:
		return text.T("Restored to by")
	case api.RelRetains:
		return text.T("Kept from by")
	case api.RelSaves:
		return text.T("Protected by")
	case api.RelCompacts:
		return text.T("Compacted by")
	case api.RelClusters:
		return text.T("Clustered by")
	case api.RelReplaces:
		return text.T("Replaced by")
	case api.RelWritesOver:
		return text.T("Written over by")
	case api.RelIndexes:
		return text.T("Indexed by")
	}
	return text.F("%s (by)", kind)
}

// namesShown is how many file names are listed before they are folded.
const namesShown = 6

func names(list []string) goapp.UI {
	line := func(n string) goapp.UI { return goapp.Li().Class("mono wrap").Text(n) }
	var first, rest []goapp.UI
	for i, n := range list {
		switch {
		case i < namesShown:
			first = append(first, line(n))
		case i < 1000:
			rest = append(rest, line(n))
		}
	}
	out := []goapp.UI{goapp.Ul().Class("names").Body(first...)}
	if len(rest) > 0 {
		out = append(out, goapp.Details().Class("how").Body(goapp.Summary().Text(text.F("%s more", model.Count(int64(len(list)-namesShown)))), goapp.Ul().Class("names").Body(rest...)))
	}
	return view.Div("", out...)
}

func (v *timelineView) rollback(title string, r *api.RollbackWork) goapp.UI {
	var targets []goapp.UI
	for _, t := range r.Targets {
		targets = append(targets, v.undoneLink(t.Requested), view.Span("dim", t.Action))
	}
	facts := []goapp.UI{view.Fact(text.T("Target"), targets...), view.FactText(text.T("Files deleted"), model.Count(r.FilesDeleted))}
	if r.Milliseconds > 0 {
		facts = append(facts, view.FactText(text.T("Took"), model.Span(time.Duration(r.Milliseconds)*time.Millisecond)))
	}
	body := []goapp.UI{view.Facts("", facts...)}
	for i := range r.Partitions {
		p := &r.Partitions[i]
		lines := []goapp.UI{view.Div("sub-head", view.Mono(partitionName(p.Partition)))}
		if p.FileID != "" {
			lines = append(lines, view.Div("", v.sliceLink(p.Partition, p.FileID, p.BaseInstant)))
		}
		group := func(label string, list []string) {
			if len(list) > 0 {
				lines = append(lines, view.Div("named", view.Span("dim", label), names(list)))
			}
		}
		group(text.T("deleted"), p.Deleted)
		group(text.T("could not be deleted"), p.Failed)
		group(text.T("command block appended to"), sizes(p.CommandLogs))
		group(text.T("blocks cancelled in"), sizes(p.WriteLogs))
		if p.UnnamedLogs > 0 && len(p.WriteLogs) == 0 {
			lines = append(lines, view.Div("named", view.Span("dim", text.T("blocks cancelled in")), goapp.Div().Text(text.T("log files of this slice that were written before: the metadata does not name them, it has the path of the table in their place"))))
		}
		body = append(body, view.Div("sub", lines...))
	}
	return section(title, body...)
}

func sizes(list []api.FileSize) []string {
	var out []string
	for _, f := range list {
		out = append(out, model.BaseName(f.Path))
	}
	return out
}

func (v *timelineView) sliceLink(partition, fileID, base string) goapp.UI {
	st := v.Root.s.state.Go(model.Files)
	st.Partition, st.FileID, st.Slice, st.OnlyPartition = partition, fileID, base, false
	return goapp.A().Class("link mono").Href("#" + st.Fragment()).Title(fileID).Text(model.ShortID(fileID))
}

func (v *timelineView) restore(r *api.RestoreWork) goapp.UI {
	facts := []goapp.UI{}
	if r.Savepoint != "" {
		facts = append(facts, view.Fact(text.T("To"), v.instantLink(r.Savepoint, "")))
	}
	var targets []goapp.UI
	for _, t := range r.Targets {
		targets = append(targets, goapp.Li().Class("relation").Body(v.undoneLink(t.Requested), view.Span("dim", t.Action)))
	}
	facts = append(facts, view.Fact(text.T("Undid"), goapp.Ul().Class("relations").Body(targets...)))
	if r.Milliseconds > 0 {
		facts = append(facts, view.FactText(text.T("Took"), model.Span(time.Duration(r.Milliseconds)*time.Millisecond)))
	}
	body := []goapp.UI{view.Facts("", facts...)}
	if len(r.Rollbacks) > 0 {
		var inner []goapp.UI
		for i := range r.Rollbacks {
			inner = append(inner, v.rollback("Rollback", &r.Rollbacks[i]))
		}
		body = append(body, goapp.Details().Class("how").Body(append([]goapp.UI{goapp.Summary().Text(model.Plural(int64(len(inner)), "rollback"))}, inner...)...))
	}
	return section(text.T("Restored"), body...)
}

func (v *timelineView) clean(c *api.CleanWork) goapp.UI {
	facts := []goapp.UI{view.FactText(text.T("Files removed"), model.Count(c.FilesDeleted)), view.FactText(text.T("Policy"), c.Policy)}
	if c.EarliestRetained != "" {
		facts = append(facts, view.Fact(text.T("Keeps files from"), v.instantLink(c.EarliestRetained, "")))
	}
	body := []goapp.UI{view.Facts("", facts...)}
	for i := range c.Partitions {
		p := &c.Partitions[i]
		head := []goapp.UI{view.Mono(partitionName(p.Partition)), view.Span("dim", model.Plural(int64(len(p.Deleted)), "file"))}
		if p.Gone {
			head = append(head, view.Badge("warn", text.T("the whole partition")))
		}
		if len(p.Failed) > 0 {
			head = append(head, view.Badge("bad", model.Plural(int64(len(p.Failed)), "failure")))
		}
		body = append(body, view.Div("sub", view.Div("sub-head", head...), names(p.Deleted)))
	}
	return section(text.T("Cleaned"), body...)
}

func savepoint(s *api.SavepointWork) goapp.UI {
	facts := []goapp.UI{view.FactText(text.T("Keeps"), text.F("%s in %s", model.Plural(int64(s.Files), "file"), model.Plural(int64(len(s.Partitions)), "partition"))), view.FactText(text.T("By"), s.By), view.FactText(text.T("Comment"), s.Comments)}
	body := []goapp.UI{view.Facts("", facts...)}
	if s.Note != "" {
		body = append(body, goapp.P().Class("dim").Body(view.Spoken("", s.Note)))
	}
	for _, p := range s.Partitions {
		body = append(body, view.Div("sub", view.Div("sub-head", view.Mono(partitionName(p.Partition)), view.Span("dim", model.Plural(int64(len(p.Files)), "file"))), names(p.Files)))
	}
	return section(text.T("Protects"), body...)
}

func (v *timelineView) plan(p *api.PlanWork) goapp.UI {
	facts := []goapp.UI{view.FactText(text.T("Strategy"), p.Strategy)}
	if p.Groups > 0 {
		facts = append(facts, view.FactText(text.T("Groups"), text.F("%s, written as %s", model.Count(int64(p.Groups)), model.Plural(int64(p.OutputGroups), "file group"))))
	}
	if p.Output != "" {
		facts = append(facts, view.Fact(text.T("Carried out"), view.Mono(p.OutputFile)))
	} else {
		facts = append(facts, view.Fact(text.T("Carried out"), view.Badge("warn", text.T("not yet"))))
	}
	var rows []goapp.UI
	for i := range p.Slices {
		if i == 200 {
			break
		}
		s := &p.Slices[i]
		base := s.Base
		if base == "" {
			base = text.T("no base file")
		}
		rows = append(rows, goapp.Tr().Body(
			goapp.Th().Scope("row").Class("mono").Text(partitionName(s.Partition)), goapp.Td().Body(v.sliceLink(s.Partition, s.FileID, s.BaseInstant)),
			goapp.Td().Class("mono").Text(s.BaseInstant), goapp.Td().Class("num").Title(strings.Join(append([]string{base}, s.Logs...), "\n")).Text(model.Plural(int64(len(s.Logs)), "log file"))))
	}
	body := []goapp.UI{view.Facts("", facts...), table([]string{text.T("Partition"), text.T("File group"), text.T("Base instant"), text.T("#Reads")}, rows)}
	if n := len(p.Slices); n > 200 {
		body = append(body, goapp.P().Class("dim").Text(text.F("The first 200 of %s.", model.Plural(int64(n), "slice"))))
	}
	if len(p.MissingPartition) > 0 {
		body = append(body, view.Div("named", view.Span("dim", text.T("partitions left out")), names(p.MissingPartition)))
	}
	return section(text.F("Plan: %s", model.Plural(int64(len(p.Slices)), "slice")), body...)
}

func (v *timelineView) replaced(list []api.ReplacedGroup) goapp.UI {
	var items []goapp.UI
	for i, g := range list {
		if i == 200 {
			break
		}
		items = append(items, goapp.Li().Class("relation").Body(view.Mono(partitionName(g.Partition)), v.sliceLink(g.Partition, g.FileID, "")))
	}
	return section(text.F("Replaced %s", model.Plural(int64(len(list)), "file group")), goapp.Ul().Class("relations").Body(items...))
}

func (v *timelineView) workload(w *api.Workload) goapp.UI {
	tiles := view.Div("tiles",
		view.Div("tile", view.Span("tile-value num", model.Count(w.Inserts)), view.Span("tile-name", text.T("inserts"))),
		view.Div("tile", view.Span("tile-value num", model.Count(w.Updates)), view.Span("tile-name", text.T("updates"))),
		view.Div("tile", view.Span("tile-value num", model.Count(int64(w.Groups))), view.Span("tile-name", text.T("file groups"))))
	var rows []goapp.UI
	for i := range w.Partitions {
		p := &w.Partitions[i]
		rows = append(rows, goapp.Tr().Class("group").Body(goapp.Th().Scope("row").Text(partitionName(p.Partition)), goapp.Td(), num(p.Inserts), num(p.Updates)))
		for j, e := range p.Entries {
			if j == 100 {
				break
			}
			group := goapp.UI(view.Span("dim", text.T("new records, no file group yet")))
			if e.FileID != "" {
				group = v.sliceLink(p.Partition, e.FileID, prev(e.PrevCommit))
			}
			rows = append(rows, goapp.Tr().Body(goapp.Th().Scope("row").Body(group), goapp.Td().Class("mono dim").Text(e.PrevCommit), num(e.Inserts), num(e.Updates)))
		}
	}
	return section(text.T("Workload profile"), goapp.P().Class("dim").Body(view.Spoken("", w.Use)), tiles, table([]string{text.T("Partition, file group"), text.T("Previous commit"), text.T("#Inserts"), text.T("#Updates")}, rows),
		goapp.P().Class("dim small").Body(goapp.Text(text.F("%s, saved in ", strings.ToLower(w.Operation))), view.Mono(w.File)))
}

func prev(commit string) string {
	if commit == "null" {
		return ""
	}
	return commit
}
