// Package view holds the visual parts of the user interface: icons, panels for faults and
// progress, JSON trees, lists that draw only what is seen. The parts know the answers of
// the service (core/api) and nothing of where they come from. Content of tables is only
// ever set as text.
package view

import (
	"strings"
	"unicode"

	"github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/text"
)

// Handler is what a part calls when it is used.
type Handler = app.EventHandler

// Group joins parts of which some may be nil.
func Group(parts ...app.UI) []app.UI {
	out := parts[:0:0]
	for _, p := range parts {
		if p != nil {
			out = append(out, p)
		}
	}
	return out
}

// Div is a div of a class.
func Div(class string, body ...app.UI) app.HTMLDiv {
	return app.Div().Class(class).Body(body...)
}

// Wrap is a div around a table that may be wider than its place: it can be scrolled by keyboard.
func Wrap(class string, body ...app.UI) app.HTMLDiv {
	return app.Div().Class(class).TabIndex(0).Role("group").Aria("label", text.T("Table")).Body(body...)
}

// Span is a span of a class with a text.
func Span(class, said string) app.HTMLSpan {
	return app.Span().Class(class).Text(said)
}

// Mono is a text in the fixed-width face: instants, keys, bytes, paths.
func Mono(said string) app.UI { return app.Code().Class("mono").Text(said) }

// Badge is a small label; tone is "", "good", "warn", "bad", "accent" or an action's class.
func Badge(tone, said string) app.UI {
	return app.Span().Class("badge", tone).Text(said)
}

// Fact is a name with a value, as a pair of a description list.
func Fact(name string, value ...app.UI) app.UI {
	return app.Div().Class("fact").Body(app.Dt().Text(name), app.Dd().Body(value...))
}

// FactText is a Fact whose value is a text; an empty text gives nil.
func FactText(name, value string) app.UI {
	if value == "" {
		return nil
	}
	return Fact(name, app.Text(value))
}

// Facts is a description list of the facts that are not nil.
func Facts(class string, facts ...app.UI) app.UI {
	return app.Dl().Class("facts", class).Body(Group(facts...)...)
}

// Button is a push button. scope must change when what the handler does changes.
func Button(class, said string, h Handler, scope ...any) app.HTMLButton {
	return app.Button().Type("button").Class("button", class).Text(said).OnClick(h, scope...)
}

// IconButton is a push button that shows an icon; label is its name.
func IconButton(icon Icon, label string, h Handler, scope ...any) app.HTMLButton {
	return app.Button().Type("button").Class("icon-button").Title(label).Aria("label", label).Body(icon.UI()).OnClick(h, scope...)
}

// Link is an anchor to a state of the page.
func Link(class string, s model.State, body ...app.UI) app.HTMLA {
	return app.A().Class(class).Href("#" + s.Fragment()).Body(body...)
}

// units writes a count of a progress, whose unit is a plural.
func units(n int64, unit string) string {
	if text.Lang() != text.English {
		return text.Said(model.Count(n) + " " + unit)
	}
	switch one, ok := strings.CutSuffix(unit, "ies"); {
	case n != 1:
		return model.Count(n) + " " + unit
	case ok:
		return "1 " + one + "y"
	}
	return "1 " + strings.TrimSuffix(unit, "s")
}

// Loading shows that something is read, how far it is, and lets the user stop it. Before
// anything is known (slow false) only a quiet line is drawn, so that quick answers don't flicker.
func Loading(what string, slow bool, p api.Progress, cancel Handler) app.UI {
	if !slow {
		return app.Div().Class("loading quiet").Aria("busy", true).Body(Span("visually-hidden", what))
	}
	phase := text.Said(p.Phase)
	if phase == "" {
		phase = what
	}
	var bar app.UI = app.Div().Class("meter unknown").Body(app.Div())
	count := ""
	switch {
	case p.Unit == "bytes" && p.Total > 0:
		count = text.F("%s of %s", model.Bytes(p.Done), model.Bytes(p.Total))
	case p.Unit == "bytes":
		count = model.Bytes(p.Done)
	case p.Total > 0:
		count = text.F("%s of %s", model.Count(p.Done), units(p.Total, p.Unit))
	case p.Done > 0:
		count = units(p.Done, p.Unit)
	}
	if p.Total > 0 {
		bar = app.Div().Class("meter").Body(app.Div().Style("width", percent(p.Done, p.Total)))
	}
	cost := ""
	if p.Requests > 0 {
		cost = text.F("%s, %s read", model.Plural(p.Requests, "request"), model.Bytes(p.Bytes))
	}
	var stop app.UI
	if cancel != nil {
		stop = Button("small", text.T("Cancel"), cancel)
	}
	return app.Div().Class("loading").Role("status").Body(
		Div("loading-line", Group(
			app.Strong().Text(phase),
			Span("num", count),
			Span("dim num", cost),
			stop,
		)...),
		bar,
	)
}

func percent(done, total int64) string {
	if done > total {
		done = total
	}
	const digits = "0123456789"
	n := done * 100 / total
	if n == 100 {
		return "100%"
	}
	return string([]byte{digits[n/10], digits[n%10], '%'})
}

// FaultPanel shows what is wrong, where, and what to try. bytes links to the place in the
// file and may be nil; retry may be nil too.
func FaultPanel(f *api.Fault, bytes app.UI, retry Handler) app.UI {
	icon, tone := IconWarning, "bad"
	switch f.Kind {
	case "cancelled":
		icon, tone = IconStop, "calm"
	case "unsupported", "empty":
		icon, tone = IconInfo, "calm"
	}
	var where []app.UI
	if f.File != "" {
		where = append(where, Fact(text.T("File"), Mono(f.File)))
	}
	if f.Offset >= 0 && f.File != "" {
		where = append(where, Fact(text.T("Byte"), Mono(model.Count(f.Offset))))
	}
	if f.Part != "" {
		where = append(where, Fact(text.T("Part"), app.Text(f.Part)))
	}
	var actions []app.UI
	if bytes != nil {
		actions = append(actions, bytes)
	}
	if retry != nil {
		actions = append(actions, Button("", text.T("Try again"), retry))
	}
	var body []app.UI
	said := Spoken("", f.Message)
	if kind := faultKinds[f.Kind]; kind != "" && text.Lang() != text.English {
		// What the core says of it may have no translation: what kind of fault it is has one.
		body = append(body, app.Strong().Class("fault-kind").Text(text.T(kind)))
	}
	body = append(body, app.P().Class("fault-message").Body(said))
	if f.Try != "" {
		body = append(body, app.P().Class("fault-try").Body(Spoken("", f.Try)))
	}
	if len(where) > 0 {
		body = append(body, app.Dl().Class("facts inline").Body(where...))
	}
	if len(actions) > 0 {
		body = append(body, Div("actions", actions...))
	}
	return app.Div().Class("fault", tone).Role("alert").DataSet("kind", f.Kind).Body(
		icon.UI(), Div("fault-body", body...),
	)
}

// Empty says that there is nothing to show, and why.
func Empty(icon Icon, title, said string, actions ...app.UI) app.UI {
	body := []app.UI{icon.UI(), app.H2().Text(title), app.P().Text(said)}
	if acts := Group(actions...); len(acts) > 0 {
		body = append(body, Div("actions", acts...))
	}
	return Div("empty", body...)
}

// Lang is the HTML language of a sentence that the core may have said: the core speaks English only,
// whatever the language of the page. One with Chinese characters is of the page itself.
func Lang(sentence string) string {
	for _, r := range sentence {
		if unicode.Is(unicode.Han, r) {
			return "zh-Hans"
		}
	}
	return text.English
}

// Spoken is a sentence that the core says, in the present language where it has a translation; the English then stands
// in its title.
func Spoken(class, en string) app.UI {
	said := text.Said(en)
	out := Span(class, said).Lang(Lang(said))
	if said != en {
		out = out.Title(en)
	}
	return out
}

// faultKinds are the kinds of faults in words.
var faultKinds = map[string]string{
	"not a table": text.Key("Not a table"), "not found": text.Key("Not found"), "empty": text.Key("Empty"), "corrupt": text.Key("Damaged"),
	"unreachable": text.Key("Unreachable"), "forbidden": text.Key("Refused"), "unsupported": text.Key("Not supported"), "needs part": text.Key("Needs another part"),
	"invalid request": text.Key("The request is not valid"), "cancelled": text.Key("Cancelled"), "limit": text.Key("A limit was met"),
	"internal": text.Key("A fault of this program"), "changed": text.Key("Changed while it was read"), "expired": text.Key("Access has ended"),
	"refused": text.Key("Refused"), "truncated": text.Key("Cut short"), "no range": text.Key("The server sends no parts of files"), "no listing": text.Key("The place can't be listed"),
}

// Findings lists what a user should know about.
func Findings(list []api.Finding) app.UI {
	switch {
	case len(list) == 0:
		return nil
	case len(list) > fewFindings:
		return &longFindings{List: list}
	}
	return findings(list)
}

// fewFindings is how many findings are drawn unasked.
const fewFindings = 12

// longFindings draws findings a part at a time.
type longFindings struct {
	app.Compo

	List []api.Finding

	more int
}

// Render implements app.Composer.
func (c *longFindings) Render() app.UI {
	n := min(fewFindings*(1+10*c.more), len(c.List))
	var rest app.UI
	if left := len(c.List) - n; left > 0 {
		rest = Button("small", text.F("Show more of %s", model.Plural(int64(left), "further finding")), func(app.Context, app.Event) { c.more++ })
	}
	return Div("findings-long", findings(c.List[:n]), rest)
}

func findings(list []api.Finding) app.UI {
	var items []app.UI
	for _, f := range list {
		icon, tone := IconInfo, "note"
		switch f.Level {
		case "error":
			icon, tone = IconWarning, "bad"
		case "warning":
			icon, tone = IconWarning, "warn"
		}
		items = append(items, app.Li().Class("finding", tone).Body(icon.UI(), &Folded{Title: f.Title, Detail: f.Detail, File: f.File}))
	}
	return app.Ul().Class("findings").Body(items...)
}

// foldFrom is the width of a text, in letters, from which it is folded where the page is narrow: two lines have less.
const foldFrom = 110

// Folded is what a finding says, in sentences of the core. Where the page is narrow, a long one shows two lines and a
// control for the rest.
type Folded struct {
	app.Compo

	// Word stands before Title, in the page's own words.
	Word, Title, Detail, File string

	// open is the finding that was opened: the place may be given to another one.
	open string
}

// Render implements app.Composer.
func (c *Folded) Render() app.UI {
	said := []app.UI{app.Strong().Body(app.Text(c.Word), Spoken("", c.Title))}
	if c.Detail != "" {
		said = append(said, app.Text(" "), Spoken("", c.Detail))
	}
	if c.File != "" {
		said = append(said, app.Text(" "), Mono(c.File))
	}
	if foldable(c.Word + text.Said(c.Title) + text.Said(c.Detail) + c.File) {
		key := c.Title + "\x00" + c.Detail
		open := c.open == key
		class, word := "finding-text folded", text.T("more")
		if open {
			class, word = "finding-text", text.T("less")
		}
		return Div("finding-body", Div(class, said...),
			app.Button().Type("button").Class("link fold").Aria("expanded", open).Aria("label", text.F("%s: %s", word, text.Said(c.Title))).Text(word).OnClick(func(app.Context, app.Event) {
				c.open = key
				if open {
					c.open = ""
				}
			}, open, key))
	}
	return Div("finding-body", Div("finding-text", said...))
}

// foldable reports whether a text is longer than two lines of a phone; Chinese letters take the width of two.
func foldable(said string) bool {
	n := 0
	for _, r := range said {
		n++
		if r >= 0x2e80 {
			n++
		}
	}
	return n > foldFrom
}

// ActionClass is the CSS class that gives an action its colour.
func ActionClass(action string) string {
	switch action {
	case "commit", "deltacommit", "compaction", "logcompaction", "clean", "rollback", "restore", "savepoint", "replacecommit", "clustering", "indexing":
		return "act-" + action
	}
	return "act-other"
}

// ActionTag is the name of an action with its colour.
func ActionTag(action string) app.UI {
	return app.Span().Class("tag", ActionClass(action)).Body(app.Span().Class("dot"), app.Text(action))
}

// StateTag tells the state of an instant unless it is completed.
func StateTag(state string) app.UI {
	switch state {
	case "COMPLETED":
		return nil
	case "INFLIGHT":
		return Badge("warn", text.T("inflight"))
	case "REQUESTED":
		return Badge("warn", text.T("requested"))
	}
	return Badge("warn", strings.ToLower(state))
}
