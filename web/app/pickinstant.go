package app

import (
	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// maxPicked is how many instants are offered at once; typing the beginning of a time offers others.
const maxPicked = 200

// instantPicker chooses one of the completed writes of a timeline, however long that is.
type instantPicker struct {
	goapp.Compo

	Root *Root
	Rev  int
	// ID is that of the select, Label its name, None what the empty value is called.
	ID, Label, None string
	// Value is the requested time chosen, Set takes another one.
	Value string
	Set   func(string)

	typed string
}

// OnMount implements go-app's Mounter.
func (v *instantPicker) OnMount(ctx goapp.Context) { v.settle(ctx) }

// OnUpdate implements go-app's Updater.
func (v *instantPicker) OnUpdate(ctx goapp.Context) { v.settle(ctx) }

// settle shows the value as chosen: a select that was used keeps its own choice while options change.
func (v *instantPicker) settle(ctx goapp.Context) {
	ctx.Defer(func(goapp.Context) {
		if el := goapp.Window().GetElementByID(v.ID); el.Truthy() {
			el.Set("value", v.Value)
		}
	})
}

func (v *instantPicker) Render() goapp.UI {
	list, more := v.Root.s.instants().Writes(model.ParseSearch(v.typed).Time, maxPicked)
	opts := []goapp.UI{goapp.Option().Value("").Selected(v.Value == "").Text(v.None)}
	found := v.Value == ""
	for _, in := range list {
		said := in.Requested + "  " + in.Action
		if in.Operation != "" {
			said += ", " + opName(in.Operation)
		}
		found = found || in.Requested == v.Value
		opts = append(opts, goapp.Option().Value(in.Requested).Selected(in.Requested == v.Value).Text(said))
	}
	if !found {
		opts = append(opts, goapp.Option().Value(v.Value).Selected(true).Text(v.Value))
	}
	body := []goapp.UI{goapp.Label().For(v.ID).Text(v.Label),
		goapp.Select().ID(v.ID).Class("select mono").Body(opts...).OnChange(func(ctx goapp.Context, _ goapp.Event) {
			v.Set(ctx.JSSrc().Get("value").String())
		})}
	if more || v.typed != "" {
		note := text.T("Only the newest are listed. Type the beginning of a time to list others.")
		if v.typed != "" {
			note = text.F("Those requested at %s are listed.", v.typed)
			if len(list) == 0 {
				note = text.F("No write was requested at %s.", v.typed)
			}
		}
		body = append(body,
			goapp.Input().ID(v.ID+"-find").Type("search").Class("select mono").Aria("label", text.F("%s: beginning of a time", v.Label)).Placeholder("2026-05-01 12:30").
				AutoComplete(false).Spellcheck(false).Value(v.typed).
				OnInput(func(ctx goapp.Context, _ goapp.Event) { v.typed = ctx.JSSrc().Get("value").String() }),
			goapp.P().Class("dim pick-note").Role("status").Text(note))
	}
	return view.Div("pick-instant", body...)
}
