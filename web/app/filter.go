package app

import (
	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/web/model"
	"hudiscope/web/text"
)

// filterBox leaves of a list what has a term; found is how many are left. The key "/" goes to it.
func filterBox(hint, label, value string, found int, set func(string)) goapp.UI {
	note := ""
	if findTerm(value) != "" {
		note = text.F("%s found", model.Count(int64(found)))
	}
	return searchBox(hint, label, "", value, note, set, nil)
}

// searchBox is the box of a view that the key "/" goes to, with a note beside it. step, if set, goes to the next place that
// is found (1, Enter) or the one before (-1, Shift Enter).
func searchBox(hint, label, title, value, note string, set func(string), step func(by int)) goapp.UI {
	in := goapp.Input().ID("search").Class("search").Type("search").Aria("label", label).Placeholder(hint).AutoComplete(false).Spellcheck(false).Value(value).
		OnInput(func(ctx goapp.Context, _ goapp.Event) { set(ctx.JSSrc().Get("value").String()) })
	if title != "" {
		in = in.Title(title)
	}
	if step != nil {
		in = in.OnKeyDown(func(_ goapp.Context, e goapp.Event) {
			if e.Get("key").String() != "Enter" || e.Get("isComposing").Truthy() {
				return
			}
			e.PreventDefault()
			by := 1
			if e.Get("shiftKey").Truthy() {
				by = -1
			}
			step(by)
		})
	}
	return goapp.Div().Class("find").Role("search").Body(in, goapp.Span().Class("dim num").Role("status").Text(note))
}
