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
	return goapp.Div().Class("find").Role("search").Body(
		goapp.Input().ID("search").Class("search").Type("search").Aria("label", label).Placeholder(hint).AutoComplete(false).Spellcheck(false).Value(value).
			OnInput(func(ctx goapp.Context, _ goapp.Event) { set(ctx.JSSrc().Get("value").String()) }),
		goapp.Span().Class("dim num").Role("status").Text(note))
}
