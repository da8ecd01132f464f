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

// filesView shows partitions, their file groups and the slices of each, drawn to scale.
type filesView struct {
	goapp.Compo

	Root *Root
	Rev  int

	closed map[string]bool // partitions that are folded
	find   string          // only partitions and file groups that have it are listed
	tree   goapp.Value     // the element whose keys are handled
	stop   func()
	more   map[string]int // how many groups of a partition are drawn
	seen   model.State
}

// OnMount implements go-app's Mounter.
func (v *filesView) OnMount(ctx goapp.Context) {
	v.seen = v.Root.s.state
	v.attach(ctx)
}

func (v *filesView) OnDismount() {
	if v.stop != nil {
		v.stop()
	}
}

// attach gives the tree its keys once it is there.
func (v *filesView) attach(ctx goapp.Context) {
	ctx.Defer(func(goapp.Context) {
		el := goapp.Window().GetElementByID("files-tree")
		if !el.Truthy() || v.tree != nil && v.tree.Equal(el) {
			return
		}
		if v.stop != nil {
			v.stop()
		}
		v.tree, v.stop = el, view.Tree(el)
	})
}

// OnUpdate implements go-app's Updater: a slice that was just chosen is brought into sight.
func (v *filesView) OnUpdate(ctx goapp.Context) {
	v.attach(ctx)
	st := v.Root.s.state
	if (st.FileID != v.seen.FileID || st.Slice != v.seen.Slice) && st.FileID != "" {
		showDetail(ctx, ".detail")
	}
	v.seen = st
}

const groupsAtFirst = 60

func (v *filesView) Render() goapp.UI {
	s := v.Root.s
	switch {
	case s.partitions.fault != nil:
		return view.Div("files", view.FaultPanel(s.partitions.fault, v.Root.bytesLink(s.partitions.fault), s.partitions.retrier(s)))
	case s.partitions.val == nil:
		return view.Div("files", view.Loading(text.T("Finding partitions"), s.partitions.slow, s.partitions.prog, s.partitions.canceller()), bones())
	case len(s.partitions.val.Paths) == 0 && s.state.AsOf != "":
		return view.Div("files", view.Empty(view.IconFiles, text.T("No files as of that instant"), text.T("Nothing that is there now was written by then: the table had no files yet, or they have been removed since.")))
	case len(s.partitions.val.Paths) == 0:
		return view.Div("files", view.Empty(view.IconFiles, text.T("No partitions"), text.T("The table has no partition with files yet: nothing has been written to it.")))
	case s.files.fault != nil:
		return view.Div("files", view.FaultPanel(s.files.fault, v.Root.bytesLink(s.files.fault), s.files.retrier(s)))
	case s.files.val == nil:
		return view.Div("files", view.Loading(text.T("Reading file groups"), s.files.slow, s.files.prog, s.files.canceller()), bones())
	}
	f := s.files.val
	largest := largestSlice(f)
	by := map[string]*api.PartitionFiles{}
	groups, slices, unknown := 0, 0, 0
	var bytes int64
	for i := range f.Partitions {
		p := &f.Partitions[i]
		by[p.Partition] = p
		groups += len(p.Groups)
		for _, g := range p.Groups {
			slices += len(g.Slices)
		}
		bytes += p.Bytes
		unknown += unsizedFiles(p)
	}
	paths := s.partitions.val.Paths
	summary := model.Plural(int64(len(paths)), "partition") + " · " + model.Plural(int64(groups), "file group") + " · " + model.Plural(int64(slices), "slice") + " · " + model.KnownBytes(bytes, unknown)
	if len(f.Partitions) < len(paths) {
		summary += text.F(" (in the %s read so far)", model.Count(int64(len(f.Partitions))))
	}
	st := s.state
	body := []goapp.UI{nil, view.Findings(f.Findings)} // the toolbar tells how much a search has found
	if st.Map {
		body = append(body, v.treemap(s.partitions.val))
	}
	if st.OnlyPartition {
		all := st
		all.OnlyPartition, all.Partition = false, ""
		body = append(body, view.Div("slice-line", goapp.Span().Text(text.T("Only partition")), view.Mono(partitionName(st.Partition)), view.Link("link", all, goapp.Text(text.T("Show all partitions")))))
	}
	if unknown > 0 {
		said := text.T("The server's listing does not tell sizes: files are drawn hatched, all of one width.")
		if bytes > 0 {
			said = text.F("The server's listing does not tell the sizes of %s: drawn hatched, all of one width.", model.Plural(int64(unknown), "file"))
		}
		body = append(body, goapp.P().ID("no-sizes").Class("dim").Text(said))
	}
	if s.partitions.val.Note != "" {
		body = append(body, goapp.P().Class("dim").Text(s.partitions.val.Note))
	}
	var list []goapp.UI
	term, found, role := findTerm(v.find), 0, "tree"
	for _, p := range paths {
		if st.OnlyPartition && p != st.Partition {
			continue
		}
		if files := narrowed(p, by[p], term); files != nil || by[p] == nil && pathHas(p, term) {
			list = append(list, v.partition(p, files, largest))
			if files != nil {
				found += len(files.Groups)
			}
		}
	}
	if len(list) == 0 {
		role = "group" // of what is said instead
	}
	if len(list) == 0 && term != "" {
		list = append(list, goapp.P().Class("dim pad").Text(text.T("No partition and no file group that was read has this.")))
	} else if len(list) == 0 {
		list = append(list, view.Empty(view.IconFiles, text.T("This partition is not there"), text.T("The table has no files in it, or had none at that time.")))
	}
	body[0] = view.Div("toolbar", view.Group(view.Span("num", summary), goapp.Span().Class("dim").Title(s.partitions.val.Note).Text(text.F("found by %s", s.partitions.val.From)), v.mapSwitch(),
		filterBox(text.T("Partition or file group"), text.T("Show only partitions and file groups that have this"), v.find, found, func(x string) { v.find = x }), legendFiles(f))...)
	body = append(body, view.Div("files-split", goapp.Div().ID("files-tree").Class("partitions").Role(role).Aria("label", text.T("Partitions, file groups and slices")).Body(list...), v.detail(f)))
	return view.Div("files", view.Group(body...)...)
}

// narrowed is what of a partition has a term: all of it where its path has, else the file groups that have; nil for
// nothing, or where its files were not read.
func narrowed(path string, p *api.PartitionFiles, term string) *api.PartitionFiles {
	if p == nil || pathHas(path, term) {
		return p
	}
	some := *p
	some.Groups, some.Other = nil, nil
	for i := range p.Groups {
		if strings.Contains(strings.ToLower(p.Groups[i].FileID), term) {
			some.Groups = append(some.Groups, p.Groups[i])
		}
	}
	if len(some.Groups) == 0 {
		return nil
	}
	return &some
}

func pathHas(path, term string) bool {
	return strings.Contains(strings.ToLower(partitionName(path)), term)
}

func bones() goapp.UI {
	return view.Div("skeleton", view.Div("bone"), view.Div("bone"), view.Div("bone"))
}

// legendFiles explains the boxes and outlines that are drawn.
func legendFiles(f *api.Files) goapp.UI {
	there := map[string]bool{}
	for _, p := range f.Partitions {
		for _, g := range p.Groups {
			there["replaced"] = there["replaced"] || g.ReplacedBy != ""
			there["compaction"] = there["compaction"] || g.PendingCompaction != ""
			there["clustering"] = there["clustering"] || g.PendingClustering != ""
			for _, sl := range g.Slices {
				there["older"] = there["older"] || !sl.Latest && sl.Committed && g.ReplacedBy == ""
				if sl.Base != nil {
					there[sl.Base.State] = true
				}
				for i := range sl.Logs {
					there[sl.Logs[i].State] = true
				}
			}
		}
	}
	items := []goapp.UI{}
	item := func(on bool, class, said, title string) {
		if on {
			items = append(items, goapp.Span().Class("legend-item").Title(title).Body(view.Div("box "+class), goapp.Text(said)))
		}
	}
	item(true, "base", text.T("base file"), "")
	item(true, "log", text.T("log file"), text.T("The number in a log file is its version, out of its name"))
	item(there["cdc"], "log cdc", text.T("change log"), "")
	item(there["older"], "base older", text.T("older slice"), text.T("A snapshot does not read it any more"))
	item(there["uncommitted"], "log uncommitted", text.T("not committed"), text.T("Of an instant that is not completed"))
	item(there["orphan"], "log orphan", text.T("orphan: no instant names it"), text.T("A write that failed left it"))
	item(there["replaced"], "base replaced", text.T("replaced group"), text.T("Another instant wrote its rows anew, into other groups"))
	item(there["compaction"], "outline compaction", text.T("compaction pending"), text.T("A plan that is not done is going to write these slices into a new base file"))
	item(there["clustering"], "outline clustering", text.T("clustering pending"), text.T("A plan that is not done is going to write these slices into other groups"))
	return view.Div("legend", items...)
}

func largestSlice(f *api.Files) int64 {
	var most int64 = 1
	for _, p := range f.Partitions {
		for _, g := range p.Groups {
			for _, sl := range g.Slices {
				most = max(most, sliceBytes(sl))
			}
		}
	}
	return most
}

func sliceBytes(sl api.Slice) int64 {
	var n int64
	if sl.Base != nil {
		n += max(0, sl.Base.Size)
	}
	for _, l := range sl.Logs {
		n += max(0, l.Size)
	}
	return n
}

// unsized counts the files of a slice whose sizes are not known.
func unsized(sl api.Slice) int {
	n := 0
	if sl.Base != nil && sl.Base.Size < 0 {
		n++
	}
	for _, l := range sl.Logs {
		if l.Size < 0 {
			n++
		}
	}
	return n
}

// unsizedFiles counts the files of a partition whose sizes are not known.
func unsizedFiles(p *api.PartitionFiles) int {
	n := 0
	for _, g := range p.Groups {
		for _, sl := range g.Slices {
			n += unsized(sl)
		}
	}
	for _, f := range p.Other {
		if f.Size < 0 {
			n++
		}
	}
	return n
}

func sliceSize(sl api.Slice) string { return model.KnownBytes(sliceBytes(sl), unsized(sl)) }

// unsizedWidth is how wide a file of unknown size is drawn, in pixels.
const unsizedWidth = 44

func (v *filesView) partition(path string, p *api.PartitionFiles, largest int64) goapp.UI {
	s := v.Root.s
	if p == nil {
		// Its files have not been read: there are too many partitions to read all at once.
		return goapp.Div().Class("partition").Body(goapp.Div().Class("partition-head").Role("treeitem").TabIndex(-1).Aria("level", 1).Aria("expanded", false).Body(
			goapp.Button().Type("button").Class("twist").TabIndex(-1).Aria("expanded", false).Body(view.Span("tree-mark closed", ""), view.IconFolder.UI(), goapp.Span().Class("mono").Text(partitionName(path))).
				OnClick(func(goapp.Context, goapp.Event) { s.some = append(s.some, path); s.ensure() }, path)))
	}
	open := !v.closed[path]
	head := goapp.Div().Class("partition-head").Role("treeitem").TabIndex(-1).Aria("level", 1).Aria("expanded", open).Body(
		goapp.Button().Type("button").Class("twist").TabIndex(-1).Aria("expanded", open).Body(view.Span("tree-mark "+mark(open), ""), view.IconFolder.UI(), goapp.Span().Class("mono").Text(partitionName(path))).
			OnClick(func(goapp.Context, goapp.Event) {
				if v.closed == nil {
					v.closed = map[string]bool{}
				}
				v.closed[path] = !v.closed[path]
			}, path),
		view.Span("dim num", model.Plural(int64(len(p.Groups)), "file group")+" · "+model.KnownBytes(p.Bytes, unsizedFiles(p))),
	)
	var body []goapp.UI
	if open {
		show := groupsAtFirst + v.more[path]
		for i := range p.Groups {
			if i == show {
				left := len(p.Groups) - show
				body = append(body, inTree(view.Button("small", text.F("Show %s", model.Plural(int64(min(left, 200)), "more file group")), func(goapp.Context, goapp.Event) {
					if v.more == nil {
						v.more = map[string]int{}
					}
					v.more[path] += 200
				}, path).TabIndex(-1)))
				break
			}
			body = append(body, v.group(path, &p.Groups[i], largest))
		}
		if len(p.Groups) == 0 {
			body = append(body, goapp.P().Class("dim pad").Text(text.T("No file groups.")))
		}
		if n := len(p.Other); n > 0 {
			var names []goapp.UI
			for i, o := range p.Other {
				if i == 50 {
					names = append(names, goapp.Li().Text(text.F("… and %s more", model.Count(int64(n-50)))))
					break
				}
				names = append(names, goapp.Li().Body(view.Mono(o.Name), view.Span("dim", " "+model.Bytes(o.Size)+" "), view.Spoken("dim", o.Why)))
			}
			body = append(body, inTree(goapp.Details().Class("others").Body(goapp.Summary().TabIndex(-1).Text(text.F("%s in no slice", model.Plural(int64(n), "file"))), goapp.Ul().Body(names...))))
		}
	}
	items := []goapp.UI{head}
	if len(body) > 0 {
		items = append(items, goapp.Div().Class("partition-groups").Role("group").Body(body...))
	}
	return goapp.Div().Class("partition").Body(items...)
}

// inTree is something else than a file group in a partition, as an item of the tree.
func inTree(x goapp.UI) goapp.UI {
	return goapp.Div().Role("treeitem").TabIndex(-1).Aria("level", 2).Body(x)
}

func (v *filesView) group(partition string, g *api.FileGroup, largest int64) goapp.UI {
	class := "group"
	marks := []goapp.UI{}
	if g.ReplacedBy != "" {
		class += " replaced"
		marks = append(marks, v.mark(text.T("replaced by"), g.ReplacedBy))
	}
	if g.PendingCompaction != "" {
		class += " pending compaction"
		marks = append(marks, v.mark(text.T("compaction pending"), g.PendingCompaction))
	}
	if g.PendingClustering != "" {
		class += " pending clustering"
		marks = append(marks, v.mark(text.T("clustering pending"), g.PendingClustering))
	}
	var slices []goapp.UI
	for i := range g.Slices {
		slices = append(slices, v.slice(partition, g, &g.Slices[i], largest))
	}
	return goapp.Div().Class(class).Body(
		goapp.Div().Class("group-head").Role("treeitem").TabIndex(-1).Aria("level", 2).Body(goapp.A().Class("mono fid link").TabIndex(-1).Href("#"+v.Root.s.state.GroupOf(partition, g.FileID).Fragment()).Title(text.T("This file group through time")).Text(g.FileID), view.Div("badges", marks...)),
		goapp.Div().Class("slices").Role("group").Body(slices...),
	)
}

func (v *filesView) mark(said, instant string) goapp.UI {
	st := v.Root.s.state.Go(model.Timeline)
	st.Instant, st.Action = instant, ""
	return goapp.A().Class("badge warn").TabIndex(-1).Href("#"+st.Fragment()).Title(said+" "+instant).Body(goapp.Text(said+" "), view.Mono(instant))
}

func (v *filesView) slice(partition string, g *api.FileGroup, sl *api.Slice, largest int64) goapp.UI {
	st := v.Root.s.state
	chosen := st.FileID == g.FileID && st.Partition == partition && st.Slice == sl.BaseInstant
	st.FileID, st.Partition, st.Slice = g.FileID, partition, sl.BaseInstant
	st.Log, st.Block, st.Byte = "", 0, 0
	class := "slice"
	if sl.Latest {
		class += " latest"
	}
	if chosen {
		class += " chosen"
	}
	var boxes []goapp.UI
	box := func(kind string, f *api.File, said string) {
		c := "box " + kind
		if f.State != "committed" && f.State != "" {
			c += " " + f.State
		}
		width := view.Px(model.Share(f.Size, largest)) + "%"
		size := model.Bytes(f.Size)
		if f.Size < 0 {
			c += " unsized"
			width, size = strconv.Itoa(unsizedWidth)+"px", text.T("size not known")
		}
		title := f.Name + "\n" + text.F("%s, %s", size, text.Said(f.State))
		if f.Why != "" {
			title = text.F("%s: %s", title, text.Said(f.Why))
		}
		boxes = append(boxes, goapp.Span().Class(c).Style("width", width).Title(title).Text(said))
	}
	if sl.Base != nil {
		box("base", sl.Base, text.T("base"))
	}
	for i := range sl.Logs {
		said := ""
		if len(sl.Logs) <= 24 {
			said = model.LogVersion(sl.Logs[i].Name)
		}
		box("log", &sl.Logs[i], said)
	}
	label := sl.BaseInstant
	note := []goapp.UI{}
	note = append(note, sliceBadges(g, sl)...)
	return goapp.A().Class(class).Role("treeitem").TabIndex(-1).Aria("level", 3).Aria("selected", chosen).Href("#"+st.Fragment()).Title(text.F("Slice %s of file group %s", label, g.FileID)).Body(
		goapp.Span().Class("slice-instant mono").Text(label),
		goapp.Span().Class("track").Body(boxes...),
		goapp.Span().Class("slice-size num").Text(sliceSize(*sl)),
		goapp.Span().Class("slice-notes").Body(note...),
	)
}

// sliceBadges say what a slice is to a snapshot. With a pending compaction that reads two slices as one: the newer, which
// has the logs written since the plan, and the one that the plan is about.
func sliceBadges(g *api.FileGroup, sl *api.Slice) []goapp.UI {
	var out []goapp.UI
	newest := true
	for i := range g.Slices {
		if g.Slices[i].Latest && g.Slices[i].BaseInstant > sl.BaseInstant {
			newest = false
		}
	}
	switch {
	case sl.Latest && newest:
		out = append(out, view.Badge("good", text.T("latest")))
	case sl.Latest:
		out = append(out, goapp.Span().Class("badge good").Title(text.T("Until the pending compaction is done, a snapshot reads this slice and the newer one as one slice")).Text(text.T("read with it")))
	}
	switch {
	case sl.BaseInstant == g.PendingCompaction:
		out = append(out, goapp.Span().Class("badge").Title(text.T("Its base file is what the pending compaction is going to write; log files written since are in it already")).Text(text.T("base pending")))
	case !sl.Committed:
		out = append(out, view.Badge("warn", text.T("not committed")))
	}
	return out
}

// detail lists the files of the selected slice.
func (v *filesView) detail(f *api.Files) goapp.UI {
	st := v.Root.s.state
	if st.FileID == "" {
		return view.Div("detail none", view.Empty(view.IconFiles, text.T("Choose a slice"), text.T("Every line is a file slice: its base file and its log files, oldest first, drawn to scale. Click one to see its files, its log blocks and its rows.")))
	}
	for i := range f.Partitions {
		p := &f.Partitions[i]
		if p.Partition != st.Partition {
			continue
		}
		for j := range p.Groups {
			g := &p.Groups[j]
			if g.FileID != st.FileID {
				continue
			}
			for k := range g.Slices {
				if sl := &g.Slices[k]; sl.BaseInstant == st.Slice {
					return v.sliceDetail(p, g, sl)
				}
			}
		}
	}
	return view.Div("detail", view.Empty(view.IconInfo, text.T("This slice is not there"), text.T("The link names a slice that is not among the table's files now. It may have been cleaned.")))
}

func (v *filesView) sliceDetail(p *api.PartitionFiles, g *api.FileGroup, sl *api.Slice) goapp.UI {
	st := v.Root.s.state
	closed := st
	closed.FileID, closed.Slice, closed.Partition = "", "", ""
	rows := []goapp.UI{}
	line := func(kind string, file *api.File, link *model.State) {
		if file.State != "committed" {
			kind += " " + file.State
		}
		if g.ReplacedBy != "" {
			kind += " replaced"
		}
		name := goapp.UI(goapp.Span().Class("mono").Text(file.Name))
		if link != nil {
			name = view.Link("link mono", *link, goapp.Text(file.Name))
		}
		exact := model.Count(file.Size) + " bytes"
		if file.Size < 0 {
			exact = text.T("The server's listing does not tell the size")
		}
		state := goapp.UI(view.Span("dim", text.Said(file.State)))
		if file.State != "committed" {
			state = goapp.Span().Class("badge warn").Title(text.Said(file.Why)).Text(text.Said(file.State))
		}
		rows = append(rows, goapp.Tr().Body(
			goapp.Td().Body(view.Div("box "+kind)), goapp.Th().Scope("row").Class("file-cell").Body(name),
			goapp.Td().Class("num").Title(exact).Text(model.Bytes(file.Size)),
			goapp.Td().Class("mono").Text(file.Instant), goapp.Td().Body(state)))
		if file.Why != "" {
			rows = append(rows, goapp.Tr().Class("why").Body(goapp.Td(), goapp.Td().ColSpan(4).Body(view.Spoken("", file.Why))))
		}
	}
	if sl.Base != nil {
		to := st.AnatomyOf(sl.Base.Path, 0, 0)
		line("base", sl.Base, &to)
	}
	for i := range sl.Logs {
		to := st.Go(model.Blocks)
		to.Log, to.Block = sl.Logs[i].Path, 1
		line("log", &sl.Logs[i], &to)
	}
	blocks, rowsOf := st.Go(model.Blocks), st.Go(model.Rows)
	actions := []goapp.UI{}
	if len(sl.Logs) > 0 {
		actions = append(actions, view.Link("button small", blocks, view.IconBlocks.UI(), goapp.Text(text.T("Log blocks"))))
	}
	if g.ReplacedBy == "" {
		actions = append(actions, view.Link("button small", rowsOf, view.IconRows.UI(), goapp.Text(text.T("Rows of the file group"))))
	}
	if sl.Base != nil {
		actions = append(actions, view.Link("button small", st.AnatomyOf(sl.Base.Path, 0, 0), view.IconFile.UI(), goapp.Text(text.T("Inside the base file"))))
	}
	actions = append(actions, view.Link("button small", st.GroupOf(p.Partition, g.FileID), view.IconTimeline.UI(), goapp.Text(text.T("History of the file group"))))
	noLogs := goapp.UI(nil)
	if len(sl.Logs) == 0 {
		if o := v.Root.s.overview.val; o.Type == "COPY_ON_WRITE" {
			noLogs = goapp.P().Class("dim").Text(text.T("No log files: a copy-on-write table rewrites the base file instead."))
		} else {
			noLogs = goapp.P().Class("dim").Text(text.T("No log files: nothing was changed since the base file was written."))
		}
	}
	base := goapp.UI(nil)
	if sl.Base == nil {
		base = goapp.P().Class("dim").Text(text.T("No base file yet: the rows of this slice are in its logs only."))
	}
	status := []goapp.UI{goapp.Text("")}
	if sl.Latest {
		status = append(status, view.Badge("good", text.T("a snapshot reads this slice")))
	}
	return view.Div("detail", view.Group(
		view.Div("detail-head", goapp.H2().Text(text.T("File slice")), view.Div("detail-tools",
			goapp.A().Class("icon-button").Href("#"+closed.Fragment()).Title(text.T("Close")).Aria("label", text.T("Close")).Body(view.IconClose.UI()))),
		view.Facts("",
			view.Fact(text.T("Partition"), view.Mono(partitionName(p.Partition))),
			view.Fact(text.T("File group"), view.Mono(g.FileID)),
			view.Fact(text.T("Base instant"), view.Mono(sl.BaseInstant), view.Span("dim", model.Clock(sl.BaseInstant))),
			view.Fact(text.T("Size"), goapp.Text(sliceSize(*sl)), view.Div("badges", status...)),
		),
		view.Div("actions", actions...),
		noLogs, base,
		view.Wrap("table-wrap", goapp.Table().Class("stats files-table").Body(
			goapp.THead().Body(goapp.Tr().Body(goapp.Th(), goapp.Th().Scope("col").Text(text.T("File")), goapp.Th().Scope("col").Class("num").Text(text.T("Size")), goapp.Th().Scope("col").Text(text.T("Instant")), goapp.Th().Scope("col").Text(text.T("State")))),
			goapp.TBody().Body(rows...))),
	)...)
}
