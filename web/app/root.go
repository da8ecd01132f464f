// Package app is the user interface of hudiscope on go-app: the page with its header, its
// tabs and its views. What a view shows is decided by the state in the URL fragment
// (model.State); what it needs is asked of the engine by the Session.
package app

import (
	"encoding/json"
	"net/url"
	"strings"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/client"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// Engine is what the page needs of the browser's engine beyond requests.
type Engine interface {
	client.Transport
	// Drop gives an array of {path, file} objects to the engine under a name.
	Drop(name, label string, files goapp.Value)
	// Store gives the engine what a private store is opened with.
	Store(location string, access api.StoreAccess)
}

// Root is the page. It is created once and lives as long as the page.
type Root struct {
	goapp.Compo

	engine Engine
	s      *Session
	ctx    goapp.Context

	theme  string
	tab    string // the table and view whose tab was scrolled into sight last
	help   bool
	rows   *rowsView   // the rows that are shown, nil for none
	helped goapp.Value // what had the focus before the help
	notice *notice
	// stranger is the notice about the present address, nil for none.
	stranger *notice
	drops    int
	// typed is the place of a store that the form on the home page is to show; recent are the folders
	// chosen earlier; found is what was found out about a server that does not answer.
	typed   model.Store
	recent  []recentFolder
	found   diagnosis
	network network
	over    bool // something is dragged over the page

	// player takes the keys of the scan replay while it is shown, zoomer w, a, s and d of the timeline.
	player, zoomer func(key string) bool

	samples  []Sample
	sampleEr string
	// tables are those of the server that the page came from; tablesAsked is set once it was asked.
	tables      []serverTable
	tablesAsked bool
	// assumed is the location that was opened last without a scheme, and the scheme taken for it.
	assumed, assumedScheme string
	// barred is what was typed with a user and password, which no browser sends, without them.
	barred  string
	release []func()

	learn  learn
	update update
	tidy   tidy
}

// notice is a message of the page that the user can close.
type notice struct {
	tone, text string
}

// NewRoot makes the page over an engine.
func NewRoot(engine Engine) *Root {
	if goapp.IsClient {
		withoutStorage()
	}
	r := &Root{engine: engine}
	r.s = &Session{transport: engine, secrets: map[string]string{}}
	return r
}

// Notify shows a message to the user, from any goroutine.
func (r *Root) Notify(tone, said string) {
	if r.s.dispatch == nil {
		return
	}
	r.s.dispatch(func() { r.notice = &notice{tone, said} })
}

// OnMount implements go-app's Mounter.
func (r *Root) OnMount(ctx goapp.Context) {
	r.ctx = ctx
	r.s.dispatch = func(f func()) {
		ctx.Dispatch(func(goapp.Context) {
			f()
			r.s.rev++
			r.tidy.soon()
		})
	}
	r.s.navigate = r.navigate
	view.Drawn = r.tidy.soon
	r.tidy.reading = func() bool { return r.s.timeline.busy || r.s.older.busy }
	if root := goapp.Window().Get("document").Get("documentElement"); root.Truthy() {
		if t := root.Get("dataset").Get("theme"); t.Type() == goapp.TypeString {
			r.theme = t.String()
		}
	}
	takeTexts()
	r.s.answered = func() {
		r.title() // the table's own name came with an answer
		r.askNetwork()
	}
	r.loadFolders()
	r.loadSamples(ctx)
	r.listen()
	r.listenUpdates()
}

// OnDismount implements go-app's Dismounter.
func (r *Root) OnDismount() {
	for _, f := range r.release {
		f()
	}
}

// OnNav implements go-app's Navigator: the address changed.
func (r *Root) OnNav(ctx goapp.Context) {
	hash := goapp.Window().Get("location").Get("hash").String()
	st := model.ParseFragment(hash)
	if clean, removed := model.StripCredentials(st.Table); clean != st.Table {
		// A link that holds credentials works once; what stays in the address is clean.
		r.keep(clean, st.Table, removed)
		st.Table = clean
		r.replace(ctx, st)
	}
	r.tellStrangers(model.Strangers(hash))
	if st.Table == "" && !r.tablesAsked {
		r.tablesAsked = true
		r.loadTables(ctx)
	}
	if st.Table == "" || st.Lesson != "" {
		r.wantLessons()
	}
	if st != r.s.state {
		if r.s.dialog == dialogLearn {
			closeModal("learn-dialog") // a lesson was chosen in it
		}
		r.s.apply(st)
	}
	r.title()
}

// tellStrangers says what of an address has no meaning; what was said of another address goes.
func (r *Root) tellStrangers(parts []string) {
	if r.stranger != nil && r.notice == r.stranger {
		r.notice = nil
	}
	r.stranger = nil
	if len(parts) == 0 || r.notice != nil {
		return
	}
	said := strings.Join(parts, ", ")
	if len(said) > 120 {
		said = strings.ToValidUTF8(said[:120], "") + "…"
	}
	r.stranger = &notice{"calm", text.F("The address asks for something that this page does not know: %s. The default is shown instead.", said)}
	r.notice = r.stranger
}

// keep remembers a full location by its clean form for this tab's life, and tells the user
// once what was taken out of the address.
func (r *Root) keep(clean, full string, removed []string) {
	if len(removed) == 0 || r.s.secrets[clean] == full {
		return
	}
	r.s.secrets[clean] = full
	r.notice = &notice{"warn", text.F("Taken out of the address, as it may give access: %s. It is kept in this tab's memory only. A link copied from here opens the table only where it can be read without it.", strings.Join(removed, ", "))}
}

// revealTab scrolls the row of tabs to the present one, where the screen is narrow.
func (r *Root) revealTab() {
	if r.ctx == nil {
		return
	}
	view.AfterFrame(func() {
		doc := goapp.Window().Get("document")
		row, tab := doc.Call("querySelector", ".tab-row"), doc.Call("querySelector", ".tab.current")
		if !row.Truthy() || !tab.Truthy() {
			return
		}
		left, width := tab.Get("offsetLeft").Float()-row.Get("offsetLeft").Float(), tab.Get("offsetWidth").Float()
		at, room := row.Get("scrollLeft").Float(), row.Get("clientWidth").Float()
		if left < at || left+width > at+room {
			row.Set("scrollLeft", left-(room-width)/2)
		}
	})
}

func (r *Root) title() {
	name := "hudiscope"
	if st := r.s.state; st.Table != "" {
		t := model.TableName(st.Table)
		if o := r.s.overview.val; o != nil && o.Name != "" {
			t = o.Name
		}
		name = t + " · " + text.T(st.View.Title()) + " · hudiscope"
	}
	goapp.Window().Get("document").Set("title", name)
}

func address(st model.State) *url.URL {
	u := goapp.Window().URL()
	c := *u
	frag := st.Fragment()
	if v, err := url.Parse("#" + frag); err == nil {
		c.Fragment, c.RawFragment = v.Fragment, v.RawFragment
	}
	return &c
}

// navigate goes to a state at once, so that the next key finds it, and adds it to the
// browser's history.
func (r *Root) navigate(st model.State) {
	if st == r.s.state {
		return
	}
	if st.Lesson != "" {
		r.wantLessons()
	}
	r.s.apply(st)
	r.title()
	if goapp.IsClient {
		// go-app's own way, which keeps its idea of the present address right.
		goapp.Window().Call("goappNav", address(st).String())
	}
}

// remember keeps the address in step with a state that changes too often for the browser's
// history, like the step of a replay.
func (r *Root) remember(ctx goapp.Context, st model.State) {
	r.s.state = st
	r.replace(ctx, st)
}

func (r *Root) replace(ctx goapp.Context, st model.State) {
	ctx.Page().ReplaceURL(address(st))
}

// open opens a location that the user gave.
func (r *Root) open(location string) {
	clean, removed := model.StripCredentials(location)
	r.notice = nil
	if len(removed) == 0 {
		delete(r.s.secrets, clean) // typed without: asked for without
	}
	r.keep(clean, location, removed)
	if clean == r.s.state.Table {
		r.s.reload()
		return
	}
	r.navigate(model.State{Table: clean, View: model.Timeline})
}

// Render implements go-app's Composer.
func (r *Root) Render() goapp.UI {
	var main goapp.UI
	if r.s.state.Table == "" {
		main = r.home()
	} else {
		main = r.tablePage()
	}
	parts := []goapp.UI{
		goapp.A().Class("skip").Href("#main").Text(text.T("Skip to the content")),
		r.topbar(),
	}
	if r.notice != nil {
		parts = append(parts, goapp.Div().Class("notice", r.notice.tone).Role("status").Body(
			view.IconInfo.UI(), goapp.P().Text(r.notice.text),
			view.IconButton(view.IconClose, text.T("Close this message"), func(goapp.Context, goapp.Event) { r.notice = nil }),
		))
	}
	if n := r.updateNotice(); n != nil {
		parts = append(parts, n)
	}
	parts = append(parts, goapp.Main().ID("main").TabIndex(-1).Body(main))
	for _, x := range []goapp.UI{r.networkPanel(), r.dialogs(), r.exportNotice()} {
		if x != nil {
			parts = append(parts, x)
		}
	}
	if r.help {
		parts = append(parts, r.helpPanel())
	}
	if r.over {
		parts = append(parts, view.Div("drop-veil", view.Div("drop-veil-text", view.IconDrop.UI(), goapp.Strong().Text(text.T("Drop to open")),
			goapp.P().Text(text.T("A table's folder, a .zip or .tar.gz of one, or a single log file")))))
	}
	class := "page"
	if st := r.s.state; st.Table != "" && st.Lesson != "" {
		parts = append(parts, &lessonPanel{Root: r, Rev: r.s.rev})
		class = "page with-lesson"
		if r.learn.folded {
			class += " lesson-folded"
		}
	}
	switch r.s.dialog {
	case dialogPalette:
		parts = append(parts, &palette{Root: r, Rev: r.s.rev})
	case dialogLearn:
		parts = append(parts, &learnDialog{Root: r, Rev: r.s.rev})
	}
	return goapp.Div().Class(class).Body(parts...)
}

func (r *Root) topbar() goapp.UI {
	st := r.s.state
	items := []goapp.UI{
		goapp.A().Class("brand").Href("#/").Title(text.T("hudiscope: home")).Body(view.Logo(), goapp.B().Text("hudiscope")),
	}
	if st.Table != "" {
		items = append(items, view.Div("crumb", view.Group(
			goapp.Span().Class("crumb-loc mono").Title(st.Table).Text(st.Table),
			&view.CopyButton{Label: text.T("Copy the link to this view"), Text: goapp.Window().URL().String()},
			r.copyShown(),
			view.IconButton(iconReload, text.T("Read the table again"), func(goapp.Context, goapp.Event) { r.s.reload() }),
			r.networkButton(),
			r.expiryBadge(),
		)...))
	}
	items = append(items, view.Div("topbar-end",
		r.paletteButton(),
		r.learnButton(false),
		r.langButton(),
		view.IconButton(view.IconHelp, text.T("Keyboard and help"), func(goapp.Context, goapp.Event) { r.setHelp(!r.help) }),
		r.themeButton(),
	))
	return goapp.Header().Class("topbar").Body(items...)
}

const iconReload view.Icon = `<path d="M16 10a6 6 0 1 1-1.800-4.300M16 3.500v3.200h-3.200"/>`

func (r *Root) themeButton() goapp.UI {
	icon, label, next := view.IconAuto, text.T("Colours: as the system has them. Switch to light"), "light"
	switch r.theme {
	case "light":
		icon, label, next = view.IconSun, text.T("Colours: light. Switch to dark"), "dark"
	case "dark":
		icon, label, next = view.IconMoon, text.T("Colours: dark. Switch to the system's"), ""
	}
	return view.IconButton(icon, label, func(goapp.Context, goapp.Event) { r.setTheme(next) }, next)
}

func (r *Root) setTheme(theme string) {
	r.theme = theme
	data := goapp.Window().Get("document").Get("documentElement").Get("dataset")
	if theme == "" {
		data.Delete("theme")
	} else {
		data.Set("theme", theme)
	}
	remember("hudiscope.theme", theme)
}

// listen attaches what concerns the whole page: keys, and files dragged onto it.
func (r *Root) listen() {
	doc := goapp.Window().Get("document")
	r.release = append(r.release,
		view.Listen(doc, "keydown", false, r.key),
		view.Listen(doc, "dragover", false, func(e goapp.Value) {
			if !hasFiles(e) {
				return
			}
			e.Call("preventDefault")
			if !r.over {
				r.s.dispatch(func() { r.over = true })
			}
		}),
		view.Listen(doc, "dragleave", true, func(e goapp.Value) {
			// Only leaving the window counts, not moving from part to part.
			if !e.Get("relatedTarget").Truthy() && r.over {
				r.s.dispatch(func() { r.over = false })
			}
		}),
		view.Listen(doc, "drop", false, func(e goapp.Value) {
			if !hasFiles(e) {
				return
			}
			e.Call("preventDefault")
			r.takeDrop(e.Get("dataTransfer"))
			r.s.dispatch(func() { r.over = false })
		}),
	)
}

func hasFiles(e goapp.Value) bool {
	dt := e.Get("dataTransfer")
	if !dt.Truthy() {
		return false
	}
	types := dt.Get("types")
	for i := range types.Get("length").Int() {
		if types.Index(i).String() == "Files" {
			return true
		}
	}
	return false
}

// key handles the keys that work everywhere.
func (r *Root) key(e goapp.Value) {
	if r.paletteKey(e) || r.lessonKey(e) {
		return
	}
	if view.Typing(e) || e.Get("defaultPrevented").Truthy() || r.s.dialog != "" {
		return
	}
	key := e.Get("key").String()
	st := r.s.state
	do := func(f func()) {
		e.Call("preventDefault")
		r.s.dispatch(f)
	}
	if r.zoomer != nil && r.zoomer(key) {
		e.Call("preventDefault")
		return
	}
	if r.player != nil && !onControl(e, key) && r.player(key) {
		e.Call("preventDefault")
		return
	}
	switch key {
	case "?":
		do(func() { r.setHelp(!r.help) })
		return
	case "Escape":
		switch {
		case st.Lesson != "" && within(e, "lesson"):
			do(r.closeLesson)
		case r.help:
			do(func() { r.setHelp(false) })
		case r.notice != nil:
			do(func() { r.notice = nil })
		case st.Table != "" && st.View == model.Timeline && st.Instant != "":
			st.Instant, st.Action = "", ""
			do(func() { r.navigate(st) })
		case st.Table != "" && st.AnatomyPart != "":
			st.AnatomyPart = ""
			do(func() { r.navigate(st) })
		case st.Table != "" && st.Replay:
			st.Replay, st.MergeSteps, st.Step = false, false, 0
			do(func() { r.navigate(st) })
		case st.Table != "" && st.View == model.Blocks && st.Block > 0:
			st.Log, st.Block, st.Byte = "", 0, 0
			do(func() { r.navigate(st) })
		case st.Table != "" && st.Lesson != "":
			do(r.closeLesson)
		}
		return
	case "/":
		e.Call("preventDefault")
		if !focusSearch() {
			r.s.dispatch(r.openPalette)
		}
		return
	}
	if st.Table == "" {
		return
	}
	if i := strings.Index(tabKeys, key); i >= 0 && len(key) == 1 {
		if tabs := r.tabs(); i < len(tabs) {
			do(func() { r.navigate(st.Go(tabs[i])) })
		}
		return
	}
	if st.AsOf != "" && (key == "[" || key == "]") {
		by := 1
		if key == "[" {
			by = -1
		}
		do(func() { r.stepCursor(by) })
		return
	}
	if st.View == model.Files && st.Anatomy != "" && (key == "j" || key == "k") && r.s.anatomy.val != nil {
		by := 1
		if key == "k" {
			by = -1
		}
		do(func() { r.stepAnatomy(by) })
		return
	}
	if st.View == model.Timeline {
		step := 0
		switch key {
		case "j", "ArrowDown", "ArrowRight", "]":
			step = 1
		case "k", "ArrowUp", "ArrowLeft", "[":
			step = -1
		}
		if step != 0 && r.s.timeline.val != nil {
			do(func() { r.step(step) })
		}
	}
	if st.View == model.Blocks && (key == "j" || key == "k") && r.s.blocks.val != nil {
		step := 1
		if key == "k" {
			step = -1
		}
		do(func() { r.stepBlock(step) })
	}
}

// focusSearch goes to the box that a view is searched with: its own search, or a filter, a condition, a time that stands
// for it ("data-search"). It is false where there is none.
func focusSearch() bool {
	el := goapp.Window().Get("document").Call("querySelector", "main #search, main [data-search], main #compare-a")
	if !el.Truthy() {
		return false
	}
	if around := el.Call("closest", "details:not([open])"); around.Truthy() {
		around.Set("open", true)
	}
	el.Call("focus")
	if el.Get("select").Truthy() {
		el.Call("select")
	}
	return true
}

// tabKeys are the keys of the tabs, in their order.
const tabKeys = "1234567890-"

// within reports whether an event happened in the element of an id.
func within(e goapp.Value, id string) bool {
	el, t := goapp.Window().GetElementByID(id), e.Get("target")
	return el.Truthy() && t.Truthy() && el.Call("contains", t).Bool()
}

// onControl reports whether a key works the button or link that has the focus.
func onControl(e goapp.Value, key string) bool {
	if key != " " && key != "Enter" {
		return false
	}
	t := e.Get("target")
	if !t.Truthy() || t.Get("tagName").Type() != goapp.TypeString {
		return false
	}
	switch t.Get("tagName").String() {
	case "BUTTON", "A", "SUMMARY":
		return true
	}
	return t.Call("getAttribute", "role").Truthy() && t.Call("getAttribute", "role").String() == "button"
}

// step selects the next or previous instant on the present axis.
func (r *Root) step(by int) {
	st := r.s.state
	list, chart := r.s.instants(), r.s.chart(model.Axis(st.Axis))
	if list.Len() == 0 {
		return
	}
	at := 0
	switch i := list.Find(st.Instant, st.Action); {
	case i >= 0:
		at = min(max(chart.Place[i]+by, 0), list.Len()-1)
	case by < 0:
		at = list.Len() - 1
	}
	r.chooseInstant(chart.Order[at])
}

// chooseInstant goes to an instant of the list.
func (r *Root) chooseInstant(i int) {
	st, in := r.s.state, r.s.instants().At(i)
	st.Instant, st.Action = in.Requested, in.Action
	r.navigate(st)
}

// stepBlock selects the next or previous block across the log files of the slice.
func (r *Root) stepBlock(by int) {
	st := r.s.state
	type place struct {
		log string
		b   int
	}
	var all []place
	at := -1
	for _, f := range r.s.blocks.val.Files {
		for _, b := range f.Blocks {
			if f.File.Path == st.Log && b.Index == st.Block-1 {
				at = len(all)
				// Beyond the page that is there lies another.
				if to := b.Index + by; to >= 0 && to < f.Total && (to < f.Blocks[0].Index || to > f.Blocks[len(f.Blocks)-1].Index) {
					st.Block, st.Byte = to+1, 0
					r.navigate(st)
					return
				}
			}
			all = append(all, place{f.File.Path, b.Index})
		}
	}
	if len(all) == 0 {
		return
	}
	switch {
	case at < 0 && by > 0:
		at = 0
	case at < 0:
		at = len(all) - 1
	default:
		at = min(max(at+by, 0), len(all)-1)
	}
	st.Log, st.Block, st.Byte = all[at].log, all[at].b+1, 0
	r.navigate(st)
}

// setHelp shows the keys, or puts them away. The panel takes the focus and gives it back; what lies beside it stays
// usable, so that the keys can be tried.
func (r *Root) setHelp(on bool) {
	if r.help == on {
		return
	}
	r.help = on
	doc := goapp.Window().Get("document")
	if on {
		r.helped = doc.Get("activeElement")
	}
	inside := false
	if el := goapp.Window().GetElementByID("help"); el.Truthy() {
		inside = el.Call("contains", doc.Get("activeElement")).Bool()
	}
	back := r.helped
	r.ctx.Defer(func(goapp.Context) {
		switch el := goapp.Window().GetElementByID("help-title"); {
		case on && el.Truthy():
			el.Call("focus")
		case !on && inside && back != nil && back.Truthy() && back.Get("isConnected").Truthy():
			back.Call("focus", map[string]any{"preventScroll": true})
		}
	})
}

func (r *Root) helpPanel() goapp.UI {
	row := func(keys, what string) goapp.UI {
		var ks []goapp.UI
		for _, k := range strings.Fields(keys) {
			ks = append(ks, goapp.Kbd().Text(k))
		}
		return goapp.Div().Class("fact").Body(goapp.Dt().Body(ks...), goapp.Dd().Text(what))
	}
	var tabs []goapp.UI
	for i, v := range model.Views {
		if i < len(tabKeys) {
			tabs = append(tabs, row(tabKeys[i:i+1], text.T(v.Title())))
		}
	}
	list := append(tabs,
		row("j k", text.T("Next, previous instant or block")),
		row("← → ↑ ↓", text.T("Move on the timeline, in the rows, in a tree")),
		row("[ ]", text.T("Previous, next instant; they move the time cursor when it is on")),
		row("w s a d", text.T("Zoom in, zoom out, left, right on the timeline")),
		row("Ctrl+K", text.T("Search everything: views, instants, samples, lessons, actions")),
		row("n p", text.T("Next, previous step of a lesson; Alt and an arrow, too")),
		row("/", text.T("Search or filter this view; where it has no box, search everything")),
		row("Space ← →", text.T("Play, step back and on in the replay of a scan")),
		row("End End", text.T("The last column, then the last row of the rows")),
		row("Enter", text.T("Show the chosen value; h shows its record's history")),
		row("Esc", text.T("Close what is selected")),
		row("?", text.T("This help")),
	)
	return goapp.Div().ID("help").Class("help").Role("dialog").Aria("labelledby", "help-title").Body(
		view.Div("help-head", goapp.H2().ID("help-title").TabIndex(-1).Text(text.T("Keyboard")), view.IconButton(view.IconClose, text.T("Close the help"), func(goapp.Context, goapp.Event) { r.setHelp(false) })),
		goapp.Dl().Class("facts keys").Body(list...),
		goapp.P().Class("dim").Text(text.T("The address holds what you see: table, view and selection. Copy it to share the same view. Tables are read in this tab; nothing is sent anywhere but to the table's own storage.")),
	)
}

// bytesLink leads from a fault to the place in the file.
func (r *Root) bytesLink(f *api.Fault) goapp.UI {
	if f.File == "" || f.Offset < 0 || r.s.overview.val == nil {
		return nil
	}
	if !strings.Contains(f.File, ".log.") {
		return nil
	}
	st := model.State{Table: r.s.state.Table, View: model.Blocks, Log: f.File, Byte: f.Offset + 1}
	return view.Link("button", st, goapp.Text(text.T("See the bytes")))
}

// copyShown copies what a view shows as the service answered it, of the rows those that were read; nil where there is no
// answer.
func (r *Root) copyShown() goapp.UI {
	content := func() string { return toJSON(r.shown()) }
	switch st := r.s.state; {
	case r.s.overview.val != nil && (st.View == model.Rows || st.View == model.Stream && st.StreamRows):
		content = func() string {
			if r.rows == nil {
				return "[]"
			}
			return r.rows.copied()
		}
	case r.shown() == nil:
		return nil
	}
	return view.Div("copy-shown", &view.CopyButton{Icon: iconBraces, Label: text.T("Copy what this view shows as JSON"), Make: content})
}

const iconBraces view.Icon = `<path d="M7.500 3.500c-2 0-2.500.8-2.500 2.300v1.900c0 1.300-.6 2.300-1.800 2.300 1.200 0 1.800 1 1.800 2.300v1.900c0 1.500.5 2.300 2.500 2.300M12.500 3.500c2 0 2.500.8 2.500 2.300v1.900c0 1.300.6 2.300 1.800 2.300-1.200 0-1.800 1-1.800 2.300v1.900c0 1.500-.5 2.300-2.500 2.300"/>`

// shown is the answer behind what the view shows, nil for none.
func (r *Root) shown() any {
	s, st := r.s, r.s.state
	switch st.View {
	case model.Timeline:
		if st.Instant != "" {
			return orNil(s.instant.val)
		}
		if all := s.instants(); all != nil && all.Len() > 0 && s.unread() == 0 {
			return instantsOf{all}
		}
	case model.Files:
		switch {
		case st.Anatomy != "":
			return orNil(s.anatomy.val)
		case s.files.val != nil:
			return s.files.val
		}
		return orNil(s.partitions.val)
	case model.Blocks:
		switch {
		case st.Replay:
			return orNil(s.scan.val)
		case st.Block > 0 && s.block.val != nil:
			return s.block.val
		}
		return orNil(s.blocks.val)
	case model.Plan:
		return orNil(s.plan.val)
	case model.Stream:
		if st.Batch {
			return orNil(s.splits.val)
		}
		return s.sim.shown()
	case model.History:
		return orNil(s.history.val)
	case model.Compare:
		return orNil(s.compare.val)
	case model.Health:
		return orNil(s.health.val)
	case model.Metadata:
		return orNil(s.metadata.val)
	case model.Table:
		if s.config.val != nil && s.schema.val != nil {
			return map[string]any{"overview": s.overview.val, "config": s.config.val, "schema": s.schema.val}
		}
	}
	return nil
}

// orNil is an answer, or nil without a type where there is none.
func orNil[A any](a *A) any {
	if a == nil {
		return nil
	}
	return a
}

// instantsOf writes all instants of a list as JSON.
type instantsOf struct{ list *model.Instants }

// MarshalJSON implements json.Marshaler.
func (x instantsOf) MarshalJSON() ([]byte, error) {
	all := make([]api.Instant, x.list.Len())
	for i := range all {
		all[i] = x.list.At(i)
	}
	return json.Marshal(map[string]any{"instants": all})
}
