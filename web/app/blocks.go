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

// blocksView shows the log files of a slice as strips of blocks, and one block in full.
type blocksView struct {
	goapp.Compo

	Root *Root
	Rev  int

	width   float64
	seen    model.State
	release []func()
	find    string // what is looked for among the blocks, or the slices to choose from
}

// OnUpdate implements go-app's Updater: a block that was just chosen is brought into sight.
func (v *blocksView) OnUpdate(ctx goapp.Context) {
	st := v.Root.s.state
	if (st.Log != v.seen.Log || st.Block != v.seen.Block) && st.Block > 0 {
		showDetail(ctx, ".block-detail")
	}
	v.seen = st
}

func (v *blocksView) OnMount(ctx goapp.Context) {
	v.seen = v.Root.s.state
	v.release = append(v.release,
		watchWidth("strips", func(w float64) {
			if w != v.width {
				v.width = w
				v.Update()
			}
		}),
		view.LightSpans(v.JSValue()),
	)
}

func (v *blocksView) OnDismount() {
	for _, f := range v.release {
		f()
	}
}

func (v *blocksView) Render() goapp.UI {
	class := "blocks"
	if st := v.Root.s.state; st.Replay && (st.FileID != "" || st.Log != "" || v.Root.s.overview.val.Kind == kindLog) {
		return view.Div("blocks replaying", view.Group(v.lineOf(), &replayView{Root: v.Root, Rev: v.Rev})...)
	}
	if st := v.Root.s.state; st.FileID != "" || st.Log != "" || v.Root.current() != st.View || v.Root.s.overview.val.Kind == kindLog {
		class += " two"
	}
	return view.Div(class, goapp.Div().ID("strips").Class("strips").Body(v.top()...), v.detail())
}

func (v *blocksView) top() []goapp.UI {
	s := v.Root.s
	st := s.state
	single := s.overview.val.Kind == kindLog
	if !single && st.FileID == "" && st.Log == "" {
		return v.picker()
	}
	b := &s.blocks
	out := []goapp.UI{}
	if !single {
		out = append(out, v.sliceLine())
	}
	switch {
	case b.fault != nil:
		return append(out, view.FaultPanel(b.fault, nil, b.retrier(s)))
	case b.val == nil:
		return append(out, view.Loading(text.T("Reading log blocks"), b.slow, b.prog, b.canceller()), bones())
	case len(b.val.Files) == 0:
		return append(out, view.Empty(view.IconBlocks, text.T("No log files"), text.T("This slice has no log files: its rows are those of the base file."),
			view.Link("button", st.Go(model.Rows), goapp.Text(text.T("Rows of the file group")))))
	}
	c := b.val.Counters
	stat := func(name string, n int64, tone string) goapp.UI {
		class := "stat"
		if n == 0 {
			class += " zero"
		} else if tone != "" {
			class += " " + tone
		}
		return goapp.Span().Class(class).Body(goapp.B().Class("num").Text(model.Count(n)), goapp.Text(" "+name))
	}
	one := func(counted string) string { return strings.TrimLeft(counted, "0123456789, ") }
	bar := view.Div("toolbar",
		stat(one(model.Plural(int64(c.LogFiles), "log file")), int64(c.LogFiles), ""),
		stat(one(model.Plural(int64(c.Blocks), "block")), int64(c.Blocks), ""),
		stat(one(model.Plural(c.Records, "record")), c.Records, ""),
		stat(one(model.Plural(int64(c.Rollbacks), "rollback")), int64(c.Rollbacks), "warn"),
		stat(one(model.Plural(int64(c.CorruptBlocks), "corrupt block")), int64(c.CorruptBlocks), "bad"),
		v.findBox(b.val),
		legendBlocks(b.val),
	)
	replay := st
	replay.Replay, replay.MergeSteps, replay.Step = true, false, 0
	replay.Log, replay.Block, replay.Byte = "", 0, 0
	if st.FileID == "" && !single {
		replay.Log = st.Log
	}
	shown := 0
	for i := range b.val.Files {
		shown += len(b.val.Files[i].Blocks)
	}
	turn := func(from int64) {
		to := s.state
		to.Block, to.Byte = 0, 0
		if to.FileID != "" || single {
			to.Log = ""
		}
		v.Root.navigate(to)
		s.turnBlocks(from)
	}
	out = append(out, bar, v.strips(b.val), pager(int64(b.val.Offset), int64(shown), int64(b.val.Total), "block", turn, blocksPage), view.Div("actions", view.Link("button", replay, view.IconPlay.UI(), goapp.Text(text.T("Replay the scan")))))
	return out
}

// findBox looks for blocks by kind, instant, fate or file.
func (v *blocksView) findBox(b *api.Blocks) goapp.UI {
	note := ""
	if q := findTerm(v.find); q != "" {
		n := 0
		for i := range b.Files {
			for j := range b.Files[i].Blocks {
				if blockHas(&b.Files[i], &b.Files[i].Blocks[j], q) {
					n++
				}
			}
		}
		note = text.F("%s found", model.Count(int64(n)))
	}
	return searchBox(text.T("Kind, instant or fate"), text.T("Find blocks by kind, instant, fate or file"), text.T("Enter shows the next one, Shift Enter the one before"), v.find, note,
		func(s string) { v.find = s }, v.findNext)
}

// findNext goes to the next block that the search finds, or the one before, around the end.
func (v *blocksView) findNext(by int) {
	b, q, st := v.Root.s.blocks.val, findTerm(v.find), v.Root.s.state
	if b == nil || q == "" {
		return
	}
	type place struct {
		log   string
		block int
	}
	var hits []place
	before, here := 0, false // how many hits lie before the chosen block, and whether it is one
	chosenFile, chosen := selectedBlock(b, st)
	for i := range b.Files {
		f := &b.Files[i]
		for j := range f.Blocks {
			blk := &f.Blocks[j]
			if chosenFile == f && chosen == blk {
				before, here = len(hits), blockHas(f, blk, q)
			}
			if blockHas(f, blk, q) {
				hits = append(hits, place{f.File.Path, blk.Index})
			}
		}
	}
	if len(hits) == 0 {
		return
	}
	at := before
	switch {
	case by < 0:
		at--
	case here:
		at++
	}
	h := hits[(at+len(hits))%len(hits)]
	st.Log, st.Block, st.Byte = h.log, h.block+1, 0
	v.Root.navigate(st)
}

// findTerm is a search as it is compared: without regard to case.
func findTerm(typed string) string { return strings.ToLower(strings.TrimSpace(typed)) }

// blockHas reports whether a block has a term in what is shown of it.
func blockHas(f *api.LogFile, b *api.Block, term string) bool {
	for _, x := range []string{b.Type, text.T(model.KindOf(b.Type).Name), b.Instant, b.Target, b.Command, b.Fate, text.Said(b.Fate), f.File.Name} {
		if strings.Contains(strings.ToLower(x), term) {
			return true
		}
	}
	return false
}

func legendBlocks(b *api.Blocks) goapp.UI {
	seen := map[string]bool{}
	var items []goapp.UI
	for _, f := range b.Files {
		for _, blk := range f.Blocks {
			k := model.KindOf(blk.Type)
			if seen[k.Class] {
				continue
			}
			seen[k.Class] = true
			items = append(items, goapp.Span().Class("legend-item").Body(goapp.Span().Class("swatch blk-"+k.Class).Text(k.Letter), goapp.Text(text.T(k.Name))))
		}
	}
	return view.Div("legend", items...)
}

// lineOf is the line that names the slice, nil for a single log file.
func (v *blocksView) lineOf() goapp.UI {
	if v.Root.s.overview.val.Kind == kindLog {
		return nil
	}
	return v.sliceLine()
}

// picker chooses a slice that has log files.
func (v *blocksView) picker() []goapp.UI {
	s := v.Root.s
	f := &s.latest
	switch {
	case f.fault != nil:
		return []goapp.UI{view.FaultPanel(f.fault, nil, f.retrier(s))}
	case f.val == nil:
		return []goapp.UI{view.Loading(text.T("Reading file groups"), f.slow, f.prog, f.canceller()), bones()}
	}
	var items []goapp.UI
	with, found, term := 0, 0, findTerm(v.find)
	for _, p := range f.val.Partitions {
		for _, g := range p.Groups {
			for _, sl := range g.Slices {
				if len(sl.Logs) == 0 {
					continue
				}
				with++
				if term != "" && !strings.Contains(strings.ToLower(partitionName(p.Partition)+" "+g.FileID+" "+sl.BaseInstant), term) {
					continue
				}
				found++
				if found > 500 {
					continue
				}
				st := s.state
				st.Partition, st.FileID, st.Slice = p.Partition, g.FileID, sl.BaseInstant
				logs := sl
				logs.Base = nil
				note := ""
				if sl.Latest {
					note = text.T("latest")
				}
				items = append(items, view.Link("pick", st,
					goapp.Span().Class("mono").Text(partitionName(p.Partition)),
					goapp.Span().Class("mono").Title(g.FileID).Text(model.ShortID(g.FileID)),
					goapp.Span().Class("mono").Text(sl.BaseInstant),
					view.Span("num", model.Plural(int64(len(sl.Logs)), "log file")),
					view.Span("num dim", sliceSize(logs)),
					view.Span("badges", note),
				))
			}
		}
	}
	if with == 0 {
		said := text.T("No slice of this table has log files now. They appear with the next update, and go into the base file at the next compaction.")
		switch {
		case s.overview.val.Type == "COPY_ON_WRITE":
			said = text.T("This is a copy-on-write table: updates rewrite base files, so there are no log files to look into.")
		case s.state.AsOf != "":
			said = text.T("No slice that is there now had log files as of that instant.")
		}
		return []goapp.UI{view.Empty(view.IconBlocks, text.T("No log files"), said, view.Link("button", s.state.Go(model.Files), goapp.Text(text.T("Files"))))}
	}
	said := text.F("%s with log files: choose one", model.Plural(int64(with), "slice"))
	if found > 500 {
		said = text.F("%s with log files; the first 500 are listed, the Files view has all", model.Plural(int64(with), "slice"))
	}
	head := view.Div("toolbar", view.Span("num", said), filterBox(text.T("Partition, file group or instant"), text.T("Show only slices whose partition, file group or instant has this"), v.find, found, func(x string) { v.find = x }))
	return []goapp.UI{head, view.Div("picks", append([]goapp.UI{view.Div("pick head",
		goapp.Span().Text(text.T("Partition")), goapp.Span().Text(text.T("File group")), goapp.Span().Text(text.T("Base instant")), goapp.Span().Text(text.T("Logs")), goapp.Span().Text(text.T("Size")), goapp.Span())}, items...)...)}
}

// sliceLine names the slice whose logs are shown, with the way back.
func (v *blocksView) sliceLine() goapp.UI {
	st := v.Root.s.state
	all := st
	all.FileID, all.Partition, all.Slice, all.Log, all.Block, all.Byte = "", "", "", "", 0, 0
	if st.FileID == "" {
		return view.Div("slice-line", view.Link("link", all, goapp.Text(text.T("All slices"))), view.Mono(st.Log))
	}
	return view.Div("slice-line",
		view.Link("link", all, goapp.Text(text.T("All slices"))),
		goapp.Span().Class("mono").Text(partitionName(st.Partition)),
		goapp.Span().Class("mono").Title(st.FileID).Text(model.ShortID(st.FileID)),
		goapp.Span().Class("mono").Text(st.Slice),
		view.Link("link", st.Go(model.Files), goapp.Text(text.T("Files of the slice"))),
	)
}

const (
	stripLabel = 19.0
	stripH     = 30.0
	stripGap   = 15.0
	leastBlock = 24.0
)

func (v *blocksView) strips(b *api.Blocks) goapp.UI {
	width := v.width
	if width < 200 {
		width = 900
	}
	gutter := 0.0
	for _, f := range b.Files {
		for _, blk := range f.Blocks {
			if blk.Target != "" {
				gutter = 70
			}
		}
	}
	lay := model.LayStrips(b.Files, width-gutter-4, leastBlock)
	st := v.Root.s.state
	chosenFile, chosenBlock := selectedBlock(b, st)
	var shapes []goapp.UI
	total := width
	yOf := func(strip int) float64 { return float64(strip)*(stripLabel+stripH+stripGap) + stripLabel }
	shapes = append(shapes, v.arcs(lay, yOf)...)
	for i, strip := range lay.Strips {
		f := &b.Files[i]
		y := yOf(i)
		total = max(total, strip.Width+gutter)
		name := fitName(f.File.Name, width)
		label := view.Svg("text").Attr("data-c", "strip-label").Attr("x", "1").Attr("y", view.Px(y-6)).Body(
			view.Svg("title").Text(f.File.Path),
			view.Svg("tspan").Attr("data-c", "mono").Text(name),
			view.Svg("tspan").Attr("data-c", "dim").Attr("dx", "8").Text(model.Bytes(f.File.Size)),
		)
		shapes = append(shapes, label)
		if f.File.State != "committed" && f.File.State != "" {
			shapes = append(shapes, view.Svg("rect").Attr("data-c", "file-open").Attr("x", "-2").Attr("y", view.Px(y-3)).Attr("width", view.Px(strip.Width+5)).Attr("height", view.Px(stripH+6)).Attr("rx", "4"))
		}
		for _, g := range strip.Gaps {
			shapes = append(shapes, view.Svg("rect").Attr("data-c", "gap").Attr("x", view.Px(g.X)).Attr("y", view.Px(y+8)).Attr("width", "4").Attr("height", view.Px(stripH-16)))
		}
		for ci, cell := range strip.Cells {
			blk := &f.Blocks[ci]
			chosen := chosenBlock == blk && chosenFile == f
			shapes = append(shapes, v.cell(f, blk, cell, y, chosen))
		}
		if f.Fault != nil {
			x := strip.Width + 3
			shapes = append(shapes, view.Svg("path").Attr("data-c", "cut").Attr("d", "M"+view.Px(x)+" "+view.Px(y)+"l5 6l-5 6l5 6l-5 6l5 6"))
		}
	}
	defs := view.Svg("defs").Body(
		view.Svg("pattern").Attr("id", "hatch").Attr("width", "7").Attr("height", "7").Attr("patternUnits", "userSpaceOnUse").Attr("patternTransform", "rotate(45)").Body(
			view.Svg("rect").Attr("data-c", "hatch-back").Attr("width", "7").Attr("height", "7"),
			view.Svg("rect").Attr("data-c", "hatch-line").Attr("width", "2.5").Attr("height", "7"),
		))
	height := float64(len(lay.Strips))*(stripLabel+stripH+stripGap) + 2
	svg := view.Svg("svg").Attr("width", view.Px(total)).Attr("height", view.Px(height)).Attr("role", "group").
		Attr("aria-label", text.T("Log blocks. Use j and k to move.")).Body(append([]goapp.UI{defs}, shapes...)...).OnClick(v.pick).On("keydown", v.pickKey)
	body := []goapp.UI{view.Div("plot strip-plot", svg)}
	if lay.Stretched > 0 {
		body = append(body, goapp.P().Class("dim small").Text(text.F("Drawn to scale by bytes; %s drawn wider to be seen.", model.Plural(int64(lay.Stretched), "small block"))))
	}
	for i := range b.Files {
		if f := b.Files[i].Fault; f != nil {
			body = append(body, view.FaultPanel(f, nil, nil))
		}
	}
	return view.Div("strip-box", body...)
}

// fitName leaves the file id out of a log file's name where the whole name has no room:
// the line above the strips has it.
func fitName(name string, width float64) string {
	const perRune, size = 7.0, 80.0
	if float64(len(name))*perRune+size <= width {
		return name
	}
	at := strings.Index(name, ".log.")
	if at < 0 {
		return name
	}
	if i := strings.LastIndexByte(name[:at], '_'); i > 0 {
		return "…" + name[i:]
	}
	return name
}

// arcs draws a line from each rollback command to the blocks it names.
func (v *blocksView) arcs(lay model.Strips, yOf func(int) float64) []goapp.UI {
	var out []goapp.UI
	for n, a := range lay.Arcs {
		out = append(out, arc(lay, a, n, yOf, "")...)
	}
	return out
}

// arc is a line from a command block to a block it names: out to the right of both, up, and
// back to the block; in one file a bow over the blocks.
func arc(lay model.Strips, a model.Arc, n int, yOf func(int) float64, class string) []goapp.UI {
	line := func(d, head string) []goapp.UI {
		return []goapp.UI{view.Svg("path").Attr("data-c", "arc "+class).Attr("d", d), view.Svg("path").Attr("data-c", "arc-head "+class).Attr("d", head)}
	}
	from, to := lay.Strips[a.FromStrip].Cells[a.FromCell], lay.Strips[a.ToStrip].Cells[a.ToCell]
	y1, y2 := yOf(a.FromStrip), yOf(a.ToStrip)
	if a.FromStrip == a.ToStrip {
		x1, x2 := from.X+from.W/2, to.X+to.W/2
		up := view.Px(y1 - 17)
		return line("M"+view.Px(x1)+" "+view.Px(y1-1)+"C"+view.Px(x1)+" "+up+" "+view.Px(x2)+" "+up+" "+view.Px(x2)+" "+view.Px(y1-2),
			"M"+view.Px(x2-4)+" "+view.Px(y1-8)+"L"+view.Px(x2)+" "+view.Px(y1-1)+"L"+view.Px(x2+4)+" "+view.Px(y1-8))
	}
	x1, x2 := from.X+from.W, to.X+to.W
	m1, m2 := y1+stripH/2, y2+stripH/2
	const r = 9.0
	x := max(x1, x2) + 20 + float64(n%5)*9
	turn := "-"
	if m2 > m1 {
		turn = ""
	}
	bend := turn + view.Px(r)
	return line("M"+view.Px(x1+1)+" "+view.Px(m1)+"H"+view.Px(x-r)+"q"+view.Px(r)+" 0 "+view.Px(r)+" "+bend+
		"V"+view.Px(m2+sign(m1-m2)*r)+"q0 "+bend+" -"+view.Px(r)+" "+bend+"H"+view.Px(x2+3),
		"M"+view.Px(x2+9)+" "+view.Px(m2-4)+"L"+view.Px(x2+2)+" "+view.Px(m2)+"L"+view.Px(x2+9)+" "+view.Px(m2+4))
}

func sign(f float64) float64 {
	if f < 0 {
		return -1
	}
	return 1
}

func (v *blocksView) cell(f *api.LogFile, blk *api.Block, c model.StripBlock, y float64, chosen bool) goapp.UI {
	class := "blk blk-" + c.Kind.Class
	if c.Struck {
		class += " struck"
	}
	if blk.Fate == "after the query instant" || blk.Fate == "not reached" || blk.Fate == "compacted" {
		class += " unread"
	}
	if chosen {
		class += " chosen"
	}
	label := text.F("%s block %s of %s, %s, %s", text.T(c.Kind.Name), strconv.Itoa(blk.Index), f.File.Name, model.Bytes(blk.End-blk.Start), text.Said(blk.Fate))
	w := max(1, c.W-1.5)
	shapes := []goapp.UI{
		view.Svg("title").Text(label),
		view.Svg("rect").Attr("data-c", "shape").Attr("x", view.Px(c.X)).Attr("y", view.Px(y)).Attr("width", view.Px(w)).Attr("height", view.Px(stripH)).Attr("rx", "3"),
	}
	if c.Struck {
		mid := view.Px(y + stripH/2)
		shapes = append(shapes, view.Svg("path").Attr("data-c", "strike").Attr("d", "M"+view.Px(c.X+3)+" "+mid+"H"+view.Px(c.X+w-3)))
	}
	shapes = append(shapes,
		view.Svg("text").Attr("data-c", "letter").Attr("x", view.Px(c.X+w/2)).Attr("y", view.Px(y+stripH/2+4.5)).Attr("text-anchor", "middle").Attr("aria-hidden", "true").Text(c.Kind.Letter))
	if c.W > 150 && !c.Struck && blk.Records >= 0 && (c.Kind.Class == "data" || c.Kind.Class == "delete" || c.Kind.Class == "parquet" || c.Kind.Class == "hfile" || c.Kind.Class == "cdc") {
		shapes = append(shapes, view.Svg("text").Attr("data-c", "cell-note").Attr("x", view.Px(c.X+7)).Attr("y", view.Px(y+stripH/2+4)).Attr("aria-hidden", "true").Text(model.Plural(blk.Records, "record")))
	}
	tab := "-1"
	if chosen || (v.Root.s.state.Block == 0 && blk.Index == 0) {
		tab = "0"
	}
	return view.Svg("g").Attr("data-c", class).Attr("data-f", f.File.Path).Attr("data-b", blk.Index).Attr("role", "button").Attr("tabindex", tab).Attr("aria-pressed", chosen).Body(shapes...) // its title names it
}

func (v *blocksView) pick(_ goapp.Context, e goapp.Event) {
	f, ok := view.Closest(e, "[data-f]", "f")
	if !ok {
		return
	}
	b, _ := view.Closest(e, "[data-f]", "b")
	n, err := strconv.Atoi(b)
	if err != nil {
		return
	}
	st := v.Root.s.state
	st.Log, st.Block, st.Byte = f, n+1, 0
	v.Root.navigate(st)
}

func (v *blocksView) pickKey(ctx goapp.Context, e goapp.Event) {
	if k := e.Get("key").String(); k == "Enter" || k == " " {
		e.PreventDefault()
		v.pick(ctx, e)
	}
}

// detail is the selected block: what it is, what a snapshot does with it, its parts, its bytes.
func (v *blocksView) detail() goapp.UI {
	s := v.Root.s
	st := s.state
	b := s.blocks.val
	if b == nil || len(b.Files) == 0 {
		return view.Div("hidden")
	}
	f, blk := selectedBlock(b, st)
	if blk == nil {
		if st.Byte > 0 && st.Log != "" {
			for i := range b.Files {
				if b.Files[i].File.Path == st.Log {
					return view.Div("block-detail", goapp.H2().Text(text.T("Bytes of the file")), &hexFile{Root: v.Root, Path: st.Log, Size: b.Files[i].File.Size})
				}
			}
		}
		return view.Div("block-detail none", view.Empty(view.IconBlocks, text.T("Choose a block"), text.T("Click a block, or press j and k. Its header, its byte ranges and its records open here, beside its bytes.")))
	}
	kind := model.KindOf(blk.Type)
	closed := st
	closed.Log, closed.Block, closed.Byte = "", 0, 0
	head := view.Div("detail-head",
		goapp.H2().Body(goapp.Span().Class("swatch blk-"+kind.Class).Text(kind.Letter), goapp.Text(text.T(kind.Name)+text.T(" block")),
			goapp.Span().Class("dim").Text(" "+strconv.Itoa(blk.Index))),
		view.Div("detail-tools",
			view.IconButton(view.IconLeft, text.T("Previous block (k)"), func(goapp.Context, goapp.Event) { v.Root.stepBlock(-1) }),
			view.IconButton(view.IconRight, text.T("Next block (j)"), func(goapp.Context, goapp.Event) { v.Root.stepBlock(1) }),
			goapp.A().Class("icon-button").Href("#"+closed.Fragment()).Title(text.T("Close (Esc)")).Aria("label", text.T("Close")).Body(view.IconClose.UI()),
		))
	return view.Div("block-detail", head, v.fate(blk), view.Div("block-split",
		view.Div("block-left", v.facts(f, blk),
			&view.Later{Class: "portion", Busy: true, Draw: func() []goapp.UI { return []goapp.UI{v.header(blk), v.content(blk)} }}),
		&view.Later{Class: "block-right", Busy: true, Draw: func() []goapp.UI { return []goapp.UI{v.bytes(f, blk)} }},
	))
}

func (v *blocksView) fate(blk *api.Block) goapp.UI {
	if blk.Fate == "" {
		return nil
	}
	tone, icon := "good", view.IconCheck
	switch blk.Fate {
	case "merged":
	case "command":
		tone, icon = "note", view.IconInfo
	case "corrupt":
		tone, icon = "bad", view.IconWarning
	default:
		tone, icon = "warn", view.IconWarning
	}
	said := []goapp.UI{goapp.Strong().Text(text.F("%s.", upper(text.Said(blk.Fate))))}
	if blk.FateWhy != "" {
		said = append(said, goapp.Text(" "), view.Spoken("", blk.FateWhy))
	}
	if blk.Corrupt != "" && blk.Corrupt != blk.FateWhy {
		said = append(said, goapp.Text(" "), view.Spoken("", blk.Corrupt))
	}
	if file, cmd := v.command(blk); cmd != nil {
		st := v.Root.s.state
		st.Log, st.Block, st.Byte = file.File.Path, cmd.Index+1, 0
		said = append(said, goapp.Text(" "), view.Link("link", st, goapp.Text(text.T("See the command block that rolls it back"))))
	}
	return goapp.Div().Class("finding", tone).Body(icon.UI(), view.Div("finding-text", said...))
}

// command finds the command block that rolls a block back.
func (v *blocksView) command(blk *api.Block) (*api.LogFile, *api.Block) {
	b := v.Root.s.blocks.val
	if blk.FateFile != "" && blk.Fate == "rolled back" {
		return findBlock(b, blk.FateFile, blk.FateBlock)
	}
	if blk.Instant == "" || blk.Fate == "merged" || blk.Type == "COMMAND_BLOCK" {
		return nil, nil
	}
	for i := range b.Files {
		for j := range b.Files[i].Blocks {
			if c := &b.Files[i].Blocks[j]; c.Target == blk.Instant {
				return &b.Files[i], c
			}
		}
	}
	return nil, nil
}

func (v *blocksView) facts(f *api.LogFile, blk *api.Block) goapp.UI {
	records := ""
	if blk.Records >= 0 && blk.Type != "COMMAND_BLOCK" && blk.Type != "CORRUPT_BLOCK" {
		records = model.Count(blk.Records)
	}
	instant := goapp.UI(nil)
	if blk.Instant != "" {
		st := v.Root.s.state.Go(model.Timeline)
		st.Instant, st.Action = blk.Instant, ""
		instant = view.Fact(text.T("Instant"), view.Link("link mono", st, goapp.Text(blk.Instant)))
	}
	target := goapp.UI(nil)
	if blk.Target != "" {
		target = view.Fact(text.T("Rolls back"), view.Mono(blk.Target))
	}
	return view.Facts("",
		view.Fact(text.T("File"), goapp.Span().Class("mono wrap").Text(f.File.Name)),
		instant, target,
		view.FactText(text.T("Records"), records),
		view.Fact(text.T("Bytes"), goapp.Span().Class("mono").Text(model.Count(blk.Start)+" – "+model.Count(blk.End)), view.Span("dim", model.Bytes(blk.End-blk.Start))),
		view.Fact(text.T("Content"), goapp.Span().Class("mono").Text(model.Count(blk.ContentOffset)+" – "+model.Count(blk.ContentOffset+blk.ContentSize)), view.Span("dim", model.Bytes(blk.ContentSize)), v.inside(f, blk)),
	)
}

// inside leads into the file that the content of a Parquet or HFile block is.
func (v *blocksView) inside(f *api.LogFile, blk *api.Block) goapp.UI {
	if blk.Type != "HFILE_DATA_BLOCK" && blk.Type != "PARQUET_DATA_BLOCK" || blk.ContentSize <= 0 || v.Root.s.overview.val.Kind == kindLog {
		return goapp.Text("")
	}
	return view.Link("link", v.Root.s.state.AnatomyOf(f.File.Path, blk.ContentOffset, blk.ContentSize), goapp.Text(text.T("Look inside")))
}

func (v *blocksView) header(blk *api.Block) goapp.UI {
	list := func(title string, entries []api.HeaderEntry) goapp.UI {
		if len(entries) == 0 {
			return nil
		}
		var out []goapp.UI
		for _, e := range entries {
			value := strings.TrimSpace(e.Value)
			switch {
			case strings.HasPrefix(value, "{") || strings.HasPrefix(value, "["):
				out = append(out, view.Fact(e.Key, goapp.Details().Class("schema").Body(
					goapp.Summary().Text(text.F("JSON, %s", model.Bytes(int64(len(e.Value))))),
					&view.JSONTree{Doc: e.Value, Label: e.Key, Depth: 2})))
			case len(value) > 160:
				out = append(out, view.Fact(e.Key, goapp.Details().Class("schema").Body(
					goapp.Summary().Text(text.F("text, %s", model.Bytes(int64(len(e.Value))))), goapp.Pre().Class("raw").Text(e.Value))))
			default:
				out = append(out, view.Fact(e.Key, goapp.Span().Class("mono wrap").Text(e.Value)))
			}
		}
		return goapp.Section().Class("part").Body(goapp.H3().Text(title), goapp.Dl().Class("facts keys-mono").Body(out...))
	}
	return view.Div("", view.Group(list(text.T("Header"), blk.Header), list(text.T("Footer"), blk.Footer))...)
}

// content is what the block holds: records, deletes, or why it can't be decoded.
func (v *blocksView) content(blk *api.Block) goapp.UI {
	s := v.Root.s
	d := &s.block
	switch {
	case d.fault != nil:
		return view.FaultPanel(d.fault, nil, d.retrier(s))
	case d.val == nil:
		if d.key == "" {
			return nil
		}
		return view.Loading(text.T("Decoding the block"), d.slow, d.prog, d.canceller())
	case d.val.Fault != nil:
		return view.FaultPanel(d.val.Fault, nil, nil)
	}
	first := len(blk.Layout)
	span := func(i int, row goapp.HTMLTr) goapp.UI {
		if i < len(d.val.Spans) && d.val.Spans[i].End > d.val.Spans[i].Start {
			return row.DataSet("s", first+i).TabIndex(0)
		}
		return row
	}
	var rows []goapp.UI
	var head goapp.UI
	what, n := text.T("Records"), len(d.val.Records)
	switch {
	case len(d.val.Deletes) > 0:
		what, n = text.T("Deletes"), len(d.val.Deletes)
		head = goapp.Tr().Body(goapp.Th().Scope("col").Text(text.T("Key")), goapp.Th().Scope("col").Text(text.T("Partition")), goapp.Th().Scope("col").Text(text.T("Ordering value")), goapp.Th().Scope("col").Text(text.T("Its type")))
		for i, x := range d.val.Deletes {
			part := goapp.Td().Class("j-null").Text(text.T("null"))
			if x.Partition != nil {
				part = goapp.Td().Class("mono").Text(*x.Partition)
			}
			rows = append(rows, span(i, goapp.Tr().Body(goapp.Td().Class("mono").Body(v.historyLink(&x.Key)), part, valueCell(model.Cell(x.Ordering)), goapp.Td().Class("dim").Text(x.OrderingType))))
		}
	case len(d.val.Records) > 0:
		var cols []goapp.UI
		keyed := len(d.val.Keys) == len(d.val.Records) && v.Root.s.overview.val.Kind != kindLog
		if keyed {
			cols = append(cols, goapp.Th().Scope("col").Text(text.T("Record")))
		}
		for _, c := range d.val.Columns {
			cols = append(cols, goapp.Th().Scope("col").Title(c.Type).Text(c.Name))
		}
		head = goapp.Tr().Body(cols...)
		for i, rec := range d.val.Records {
			cells := []goapp.UI{}
			if keyed {
				cells = append(cells, goapp.Td().Class("mono").Body(v.historyLink(d.val.Keys[i])))
			}
			for _, x := range rec {
				cells = append(cells, valueCell(model.Cell(x)))
			}
			rows = append(rows, span(i, goapp.Tr().Body(cells...)))
		}
	default:
		if blk.Type == "COMMAND_BLOCK" || blk.Type == "CORRUPT_BLOCK" {
			return nil
		}
		return goapp.P().Class("dim").Text(text.T("The block holds no records."))
	}
	return goapp.Section().Class("part").Body(
		goapp.H3().Text(part(what, s.blockPage, int64(n), d.val.Total)),
		view.Wrap("table-wrap records", goapp.Table().Class("stats grid").Body(goapp.THead().Body(head), goapp.TBody().Body(rows...))),
		pager(s.blockPage, int64(n), d.val.Total, strings.ToLower(strings.TrimSuffix(what, "s")), func(to int64) { s.blockPage = to; s.ensure() }, recordPage),
	)
}

// historyLink leads from a record of a block to the record's history.
func (v *blocksView) historyLink(key *string) goapp.UI {
	switch {
	case key == nil:
		return goapp.Span().Class("j-null").Text(text.T("no key"))
	case v.Root.s.overview.val.Kind == kindLog:
		return goapp.Text(*key)
	}
	return goapp.A().Class("link").Href("#" + v.Root.s.state.HistoryOf(*key).Fragment()).Title(text.T("The history of this record")).Text(*key)
}

// part says which of all are shown, counted from one.
func part(what string, from, n, total int64) string {
	if n >= total {
		return what + ": " + model.Count(total)
	}
	return what + " " + model.Count(from+1) + " to " + model.Count(from+n) + " of " + model.Count(total)
}

func valueCell(c model.CellText) goapp.HTMLTd {
	return goapp.Td().Class(cellClass(c.Kind)).Text(c.Text)
}

func cellClass(k model.NodeKind) string {
	switch k {
	case model.NullNode:
		return "j-null"
	case model.NumberNode:
		return "num"
	case model.BoolNode:
		return "j-bool"
	case model.ObjectNode, model.ArrayNode:
		return "mono nested"
	}
	return ""
}

// bytes is the block's bytes beside the names of their ranges; hovering one lights the other.
func (v *blocksView) bytes(f *api.LogFile, blk *api.Block) goapp.UI {
	s := v.Root.s
	st := s.state
	var names []goapp.UI
	for i, sp := range blk.Layout {
		to := st
		to.Log, to.Block, to.Byte = f.File.Path, blk.Index+1, sp.Start+1
		value := sp.Value
		if len(value) > 60 {
			value = strings.ToValidUTF8(value[:60], "") + "…"
		}
		names = append(names, goapp.A().Class("span-line").Href("#"+to.Fragment()).DataSet("s", i).Body(
			goapp.Span().Class("span-dot sp"+strconv.Itoa(i%6)),
			view.Span("span-name", text.Said(sp.Name)),
			view.Span("span-value mono", value),
			view.Span("span-range mono dim", model.Count(sp.Start)+" + "+model.Count(sp.End-sp.Start)),
		))
	}
	spans := append([]api.Span{}, blk.Layout...)
	if d := s.block.val; d != nil {
		spans = append(spans, d.Spans...)
	}
	var hex goapp.UI
	b := &s.bytes
	switch {
	case b.fault != nil:
		hex = view.FaultPanel(b.fault, nil, b.retrier(s))
	case b.val == nil:
		hex = view.Loading(text.T("Reading bytes"), b.slow, b.prog, nil)
	default:
		mark := int64(-1)
		if st.Byte > 0 {
			mark = st.Byte - 1
		}
		to := func(at int64) {
			next := st
			next.Log, next.Block, next.Byte = f.File.Path, blk.Index+1, blk.Start+at+1
			v.Root.navigate(next)
		}
		hex = view.Div("", view.Group(view.Hex(b.val.Data, b.val.Offset, spans, mark),
			pager(b.val.Offset-blk.Start, int64(len(b.val.Data)), blk.End-blk.Start, text.T("byte"), to, hexPage))...)
	}
	return goapp.Section().Class("part").Body(view.Group(
		goapp.H3().Text(text.T("Bytes")),
		goapp.Details().Class("spans").Open(true).Body(goapp.Summary().Text(text.F("%s of the block", model.Plural(int64(len(blk.Layout)), "part"))), view.Div("span-list", names...)),
		hex,
	)...)
}
