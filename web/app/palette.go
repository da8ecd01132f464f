package app

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// dialogPalette is the list of everything that can be gone to or done, searched by typing.
const dialogPalette = "palette"

const iconSearch view.Icon = `<circle cx="8.700" cy="8.700" r="5.200"/><path d="M12.600 12.600 17 17"/>`

// command is an entry of the palette.
type command struct {
	group string
	title string
	// also is searched besides the title: the English name where the title is not, an id.
	also string
	hint string
	icon view.Icon
	// to is the page it leads to; do is what it does where it leads nowhere.
	to *model.State
	do func()
}

// How much of what a table has the palette looks through, and how much of each group it shows.
const (
	paletteEntries = 5000
	paletteShown   = 8
)

// fuzzy matches what was typed against a title: all characters must come in this order. A match is the
// better the more of it lies together and at the beginnings of words. at are the runes matched.
func fuzzy(typed, title string) (score int, at []int, ok bool) {
	want := []rune(strings.ToLower(typed))
	have := []rune(title)
	low := []rune(strings.ToLower(title))
	if len(low) != len(have) {
		low = have // lower case of another length: matched as it is written
	}
	// A run of all of it is best, at the beginning of a word first.
	if i := runIndex(have, low, want); i >= 0 {
		for k := range want {
			at = append(at, i+k)
		}
		score = 100 + 10*len(want) - len(have)/4
		if wordStart(have, i) {
			score += 60
		}
		if i == 0 {
			score += 40
		}
		return score, at, true
	}
	if at, ok := words(have, low, string(want)); ok {
		return 50 + 5*len(at) - len(have)/4, at, true
	}
	at, ok = letters(have, low, want, true)
	if !ok {
		if at, ok = letters(have, low, want, false); !ok {
			return 0, nil, false
		}
	}
	for k, i := range at {
		if wordStart(have, i) {
			score += 12
		}
		if k > 0 && at[k-1] == i-1 {
			score += 8
		}
	}
	score -= len(have) / 4
	return score, at, score > -4 // letters here and there of a long title are no match
}

// words matches each word of what was typed as a whole, in any order.
func words(have, low []rune, typed string) (at []int, ok bool) {
	list := strings.Fields(typed)
	if len(list) < 2 {
		return nil, false
	}
	taken := map[int]bool{}
	for _, w := range list {
		want := []rune(w)
		i := runIndex(have, low, want)
		if i < 0 {
			return nil, false
		}
		for k := range want {
			taken[i+k] = true
		}
	}
	for i := range taken {
		at = append(at, i)
	}
	slices.Sort(at)
	return at, true
}

// letters matches letter by letter; with starts the beginning of a word is taken before a nearer letter
// inside of one.
func letters(have, low, want []rune, starts bool) (at []int, ok bool) {
	from := 0
	for _, c := range want {
		if c == ' ' {
			continue
		}
		hit := -1
		for i := from; i < len(low); i++ {
			if low[i] != c {
				continue
			}
			if hit < 0 {
				hit = i
			}
			if !starts || i == from && len(at) > 0 || wordStart(have, i) {
				hit = i
				break
			}
		}
		if hit < 0 {
			return nil, false
		}
		at = append(at, hit)
		from = hit + 1
	}
	return at, len(at) > 0
}

// runIndex is where want stands in low as a whole: at the beginning of a word if it does anywhere.
func runIndex(have, low, want []rune) int {
	found := -1
	for i := 0; i+len(want) <= len(low); i++ {
		if string(low[i:i+len(want)]) != string(want) {
			continue
		}
		if wordStart(have, i) {
			return i
		}
		if found < 0 {
			found = i
		}
	}
	return found
}

func wordStart(s []rune, i int) bool {
	if i == 0 {
		return true
	}
	before, c := s[i-1], s[i]
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return word(c) && (!word(before) || unicode.IsLower(before) && unicode.IsUpper(c))
}

// found is a command with the runes of its title that match.
type found struct {
	command
	at    []int
	score int
}

// search finds the commands that match, the best group first and the best of each group first. Without
// a text the groups stand as they are.
func search(all []command, typed string) []found {
	typed = strings.Join(strings.Fields(typed), " ")
	var out []found
	best := map[string]int{}
	first := map[string]int{}
	for i := range all {
		c := &all[i]
		f := found{command: *c}
		if typed != "" {
			score, at, ok := fuzzy(typed, c.title)
			if !ok {
				// What is searched besides is not shown, so it must match as a whole.
				low := strings.ToLower(c.also)
				j := strings.Index(low, strings.ToLower(typed))
				if j < 0 {
					continue
				}
				score = 60 + 5*len(typed) - len(low)/8
			}
			f.score, f.at = score, at
		}
		if _, ok := first[c.group]; !ok {
			first[c.group] = i
			best[c.group] = f.score
		}
		best[c.group] = max(best[c.group], f.score)
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b found) int {
		if a.group == b.group {
			return b.score - a.score
		}
		if best[a.group] != best[b.group] {
			return best[b.group] - best[a.group]
		}
		return first[a.group] - first[b.group]
	})
	kept := out[:0]
	count := map[string]int{}
	for _, f := range out {
		if count[f.group]++; count[f.group] <= paletteShown {
			kept = append(kept, f)
		}
	}
	return kept
}

// commands are all that can be gone to or done from here.
func (r *Root) commands(typed string) []command {
	st := r.s.state
	var out []command
	add := func(c command) { out = append(out, c) }
	lead := func(group, title, also, hint string, icon view.Icon, to model.State) {
		add(command{group: group, title: title, also: also, hint: hint, icon: icon, to: &to})
	}
	if st.Table != "" && r.s.overview.val != nil {
		for i, v := range r.tabs() {
			hint := ""
			if i < len(tabKeys) {
				hint = tabKeys[i : i+1]
			}
			lead(text.T("Views"), text.T(v.Title()), v.Title(), hint, tabIcons[v], st.Go(v))
		}
	}
	r.actions(add)
	if typed != "" && st.Table != "" {
		r.parts(typed, lead)
	}
	for i := range r.learn.all {
		l := &r.learn.all[i]
		lead(text.T("Lessons"), l.Title.In(text.Lang()), l.Title.In(text.English)+" "+l.About.In(text.Lang()), model.Plural(int64(len(l.Steps)), "step"), iconLearn, stepState(l, 0))
	}
	for _, t := range r.tables {
		lead(text.T("Tables of this server"), t.Name, "", "", view.IconFolder, servedState(goapp.Window().URL().EscapedPath(), t.Name))
	}
	for _, s := range r.samples {
		tags := strings.Join(s.tags(), " ")
		lead(text.T("Sample tables"), s.Title.In(text.Lang()), s.Name+" "+s.Title.In(text.English)+" "+s.Shows.In(text.Lang())+" "+tags, tags, view.IconFile, s.state())
	}
	return out
}

// parts are the instants, partitions and file groups that are loaded.
func (r *Root) parts(typed string, lead func(group, title, also, hint string, icon view.Icon, to model.State)) {
	s, st := r.s, r.s.state
	low := strings.ToLower(strings.TrimSpace(typed))
	if list := s.instants(); list != nil {
		shown := 0
		for i := list.Len() - 1; i >= 0 && shown < paletteShown; i-- {
			requested, action := list.Requested(i), list.Action(i)
			if title := requested + " " + action; strings.Contains(title, low) {
				to := st.Go(model.Timeline)
				to.Instant, to.Action = requested, action
				lead(text.T("Instants"), title, "", model.Clock(requested), view.IconTimeline, to)
				shown++
			}
		}
	}
	if p := s.partitions.val; p != nil {
		for i, path := range p.Paths {
			if i == paletteEntries {
				break
			}
			if path == "" {
				continue
			}
			to := st.Go(model.Files)
			to.Partition, to.OnlyPartition, to.FileID, to.Slice = path, true, "", ""
			lead(text.T("Partitions"), path, "", "", view.IconFolder, to)
		}
	}
	if f := s.files.val; f != nil {
		n := 0
		for i := range f.Partitions {
			p := &f.Partitions[i]
			for j := range p.Groups {
				if n++; n > paletteEntries {
					return
				}
				to := st.Go(model.Files)
				to.Partition, to.OnlyPartition, to.FileID, to.Slice = p.Partition, false, p.Groups[j].FileID, ""
				lead(text.T("File groups"), p.Groups[j].FileID, p.Partition, p.Partition, view.IconFiles, to)
			}
		}
	}
}

// actions are what can be done.
func (r *Root) actions(add func(command)) {
	st := r.s.state
	group := text.T("Actions")
	act := func(en, hint string, icon view.Icon, do func()) {
		add(command{group: group, title: text.T(en), also: en, hint: hint, icon: icon, do: do})
	}
	open := r.s.overview.val
	if st.Table != "" {
		act(text.Key("Copy the link to this view"), "", view.IconLink, func() {
			if clip := goapp.Window().Get("navigator").Get("clipboard"); clip.Truthy() {
				clip.Call("writeText", goapp.Window().URL().String())
				r.notice = &notice{"", text.T("The link to this view is copied.")}
			}
		})
		act(text.Key("Read the table again"), "", iconReload, func() { r.s.reload() })
		home := model.State{}
		add(command{group: group, title: text.T("Open another table"), also: "Open another table", icon: view.IconGlobe, to: &home})
	}
	if open != nil && open.Kind != kindLog && open.Readable {
		rows := st.Go(model.Rows)
		dialog := func(which string) func() {
			return func() {
				if v := r.s.state.View; v != model.Rows && v != model.Plan && v != model.Stream {
					r.navigate(rows)
				}
				r.s.dialog = which
				r.s.ensure()
			}
		}
		act(text.Key("Export rows to a file"), "", iconDownload, dialog(dialogExport))
		act(text.Key("Read the same rows with another engine"), "", iconHandoff, dialog(dialogHandoff))
		for _, release := range append([]string{""}, releases[:]...) {
			if release == st.Rules {
				continue
			}
			to := r.s.withRules(st, release)
			title, also := text.T("Read by the rules that give the right answer"), "Read by the rules that give the right answer"
			if release != "" {
				title, also = text.F("Read by the rules of Hudi %s", release), "Read by the rules of Hudi "+release
			}
			add(command{group: text.T("Rules of reading"), title: title, also: also, icon: view.IconRows, to: &to})
		}
	}
	themes := [...]struct {
		theme, title string
		icon         view.Icon
	}{{"light", text.Key("Light colours"), view.IconSun}, {"dark", text.Key("Dark colours"), view.IconMoon}, {"", text.Key("Colours of the system"), view.IconAuto}}
	for _, t := range themes {
		if t.theme != r.theme {
			act(t.title, "", t.icon, func() { r.setTheme(t.theme) })
		}
	}
	if other := r.otherLang(); other.code != "" {
		add(command{group: group, title: other.name, also: "language 语言 " + other.english, icon: view.IconGlobe, do: func() { r.setLang(other.code) }})
	}
	act(text.Key("Lessons"), "", iconLearn, func() { r.openLearn() })
	act(text.Key("Keyboard and help"), "?", view.IconHelp, func() { r.setHelp(true) })
}

// paletteKey opens the palette.
func (r *Root) paletteKey(e goapp.Value) bool {
	if !(e.Get("ctrlKey").Truthy() || e.Get("metaKey").Truthy()) || e.Get("altKey").Truthy() || e.Get("shiftKey").Truthy() || strings.ToLower(e.Get("key").String()) != "k" {
		return false
	}
	e.Call("preventDefault")
	if r.s.dialog == dialogPalette {
		closeModal("palette")
	} else if r.s.dialog == "" {
		r.openPalette()
	}
	return true
}

func (r *Root) openPalette() {
	r.s.dispatch(func() {
		r.wantLessons()
		r.s.dialog = dialogPalette
	})
}

// paletteButton opens the palette from the header.
func (r *Root) paletteButton() goapp.UI {
	name := text.T("Search and commands")
	return goapp.Button().Type("button").ID("open-palette").Class("palette-open").Title(name+" (Ctrl K)").Aria("keyshortcuts", "Control+K Meta+K").Body(
		iconSearch.UI(), goapp.Span().Class("palette-open-text").Text(text.T("Search")), goapp.Kbd().Text("Ctrl K")).
		OnClick(func(goapp.Context, goapp.Event) { r.openPalette() })
}

// palette is a combobox over a list, in a dialog.
type palette struct {
	goapp.Compo
	modal

	Root *Root
	Rev  int

	typed string
	at    int
	list  []found
	stale bool
	rev   int
}

func (v *palette) OnMount(ctx goapp.Context) {
	v.show(ctx, "palette", v.Root.s.closing(dialogPalette))
	ctx.Defer(func(goapp.Context) {
		if el := goapp.Window().GetElementByID("palette-input"); el.Truthy() {
			el.Call("focus")
		}
	})
}

func (v *palette) OnDismount() { v.gone() }

// find searches again when what is typed or what is known has changed.
func (v *palette) find() {
	if v.list != nil && !v.stale && v.rev == v.Rev {
		return
	}
	v.list = search(v.Root.commands(v.typed), v.typed)
	v.at = min(max(v.at, 0), max(len(v.list)-1, 0))
	v.stale, v.rev = false, v.Rev
}

// run does what is chosen, once the dialog is closed.
func (v *palette) run(i int) {
	if i < 0 || i >= len(v.list) {
		return
	}
	c := v.list[i].command
	r := v.Root
	r.s.dialog = ""
	closeModal("palette")
	r.s.dispatch(func() {
		if c.to != nil {
			r.navigate(*c.to)
			return
		}
		c.do()
	})
}

func (v *palette) move(to int) {
	if len(v.list) == 0 {
		return
	}
	v.at = (to + len(v.list)) % len(v.list)
	v.Update()
	v.Root.ctx.Defer(func(goapp.Context) {
		if el := goapp.Window().GetElementByID("palette-" + strconv.Itoa(v.at)); el.Truthy() {
			el.Call("scrollIntoView", map[string]any{"block": "nearest"})
		}
	})
}

// Render implements go-app's Composer.
func (v *palette) Render() goapp.UI {
	v.find()
	active := ""
	var groups []goapp.UI
	for i := 0; i < len(v.list); {
		name := v.list[i].group
		id := "palette-group-" + strconv.Itoa(len(groups))
		items := []goapp.UI{goapp.Div().Class("palette-group").ID(id).Role("presentation").Text(name)}
		for ; i < len(v.list) && v.list[i].group == name; i++ {
			f := &v.list[i]
			option := "palette-" + strconv.Itoa(i)
			class := "palette-item"
			if i == v.at {
				class, active = "palette-item current", option
			}
			items = append(items, goapp.Div().ID(option).Class(class).Role("option").Aria("selected", i == v.at).DataSet("i", strconv.Itoa(i)).Body(
				f.icon.UI(), goapp.Span().Class("palette-title").Body(marked(f.title, f.at)...), view.Span("palette-hint", f.hint)))
		}
		groups = append(groups, goapp.Div().Role("group").Aria("labelledby", id).Body(items...))
	}
	count := model.Plural(int64(len(v.list)), "result")
	var list goapp.UI = goapp.Div().ID("palette-list").Class("palette-list").Role("listbox").Aria("label", text.T("Results")).Body(groups...).
		OnClick(func(_ goapp.Context, e goapp.Event) {
			if i, ok := view.Closest(e, "[data-i]", "i"); ok {
				if n, err := strconv.Atoi(i); err == nil {
					v.run(n)
				}
			}
		})
	var none goapp.UI
	if len(v.list) == 0 {
		none = goapp.P().Class("palette-none").Text(text.T("Nothing matches. Instants, partitions and file groups are found once their view was open."))
	}
	input := goapp.Input().ID("palette-input").Type("text").Role("combobox").Aria("expanded", len(v.list) > 0).Aria("controls", "palette-list").Aria("autocomplete", "list").
		Aria("label", text.T("Search and commands")).AutoComplete(false).Spellcheck(false).Attr("autocapitalize", "off").
		Placeholder(text.T("A view, an instant, a table, a lesson, an action…"))
	if active != "" {
		input = input.Aria("activedescendant", active)
	} else {
		input = input.Aria("activedescendant", "")
	}
	return goapp.Elem("dialog").ID("palette").Class("modal", "palette").Aria("label", text.T("Search and commands")).Body(
		view.Div("palette-inner", view.Group(
			view.Div("palette-field", iconSearch.UI(),
				input.OnInput(func(ctx goapp.Context, _ goapp.Event) {
					v.typed, v.at, v.stale = ctx.JSSrc().Get("value").String(), 0, true
				}).OnKeyDown(v.key),
				goapp.Kbd().Text("Esc")),
			goapp.Div().Class("visually-hidden").Role("status").Text(count),
			list, none)...))
}

func (v *palette) key(_ goapp.Context, e goapp.Event) {
	if e.Get("isComposing").Truthy() {
		return // the keys are those of an input method
	}
	switch e.Get("key").String() {
	case "ArrowDown":
		e.PreventDefault()
		v.move(v.at + 1)
	case "ArrowUp":
		e.PreventDefault()
		v.move(v.at - 1)
	case "PageDown":
		e.PreventDefault()
		v.move(min(v.at+8, len(v.list)-1))
	case "PageUp":
		e.PreventDefault()
		v.move(max(v.at-8, 0))
	case "Enter":
		e.PreventDefault()
		v.run(v.at)
	}
}

// marked is a title whose matched runes stand out.
func marked(title string, at []int) []goapp.UI {
	if len(at) == 0 {
		return []goapp.UI{goapp.Text(title)}
	}
	var out []goapp.UI
	runes := []rune(title)
	k, from := 0, 0
	for k < len(at) {
		start := at[k]
		end := start + 1
		for k++; k < len(at) && at[k] == end; k++ {
			end++
		}
		if start > from {
			out = append(out, goapp.Text(string(runes[from:start])))
		}
		out = append(out, goapp.Mark().Text(string(runes[start:end])))
		from = end
	}
	if from < len(runes) {
		out = append(out, goapp.Text(string(runes[from:])))
	}
	return out
}
