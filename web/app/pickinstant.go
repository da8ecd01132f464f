package app

import (
	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// maxPicked is how many instants are offered at once; typing the beginning of a time offers others.
const maxPicked = 100

// instantPicker chooses one of the completed writes of a timeline, however long that is.
type instantPicker struct {
	goapp.Compo

	Root *Root
	Rev  int
	// ID is that of the select, Label its name, None what the empty value is called.
	ID, Label, None string
	// Value is the time chosen, Set takes another one.
	Value string
	Set   func(string)
	// Times are those that are chosen. Range shows both times of what is chosen, and takes times that are typed.
	Times instantTimes
	Range bool

	typed string
	// typing shows the field for a time that no instant has; wrong is what was typed there and is no time.
	typing bool
	wrong  string
}

// instantTimes tells which time of an instant a picker gives.
type instantTimes int

const (
	timesRequested instantTimes = iota
	timesCompleted
	// timesUnknown is until the table's version is known: nothing can be chosen that may turn out wrong.
	timesUnknown
)

func timesOf(requested bool) instantTimes {
	if requested {
		return timesRequested
	}
	return timesCompleted
}

// typeTime is the value of the choice to type a time.
const typeTime = "…"

// OnMount implements go-app's Mounter.
func (v *instantPicker) OnMount(ctx goapp.Context) { v.settle(ctx) }

// OnUpdate implements go-app's Updater.
func (v *instantPicker) OnUpdate(ctx goapp.Context) { v.settle(ctx) }

// settle shows the value as chosen: a select that was used keeps its own choice while options change.
func (v *instantPicker) settle(ctx goapp.Context) {
	ctx.Defer(func(goapp.Context) {
		if el := goapp.Window().GetElementByID(v.ID); el.Truthy() {
			if v.typing {
				el.Set("value", typeTime)
				return
			}
			el.Set("value", v.Value)
		}
	})
}

func (v *instantPicker) Render() goapp.UI {
	list, more := v.Root.s.instants().Writes(model.ParseSearch(v.typed).Time, maxPicked)
	if v.Times == timesUnknown {
		list, more = nil, false
	}
	requested := v.Times != timesCompleted
	opts := []goapp.UI{goapp.Option().Value("").Selected(v.Value == "").Text(v.None)}
	found := v.Value == ""
	for _, in := range list {
		time := model.TimeOf(in, requested)
		if time == "" {
			continue
		}
		said := in.Requested + "  " + in.Action
		if in.Operation != "" {
			said += ", " + opName(in.Operation)
		}
		if v.Range && !requested {
			said = text.F("%s, completed %s", said, in.Completed)
		}
		found = found || time == v.Value
		opts = append(opts, goapp.Option().Value(time).Selected(time == v.Value).Text(said))
	}
	if !found {
		opts = append(opts, goapp.Option().Value(v.Value).Selected(true).Text(v.Value))
	}
	if v.Range {
		opts = append(opts, goapp.Option().Value(typeTime).Text(text.T("another time…")))
	}
	body := []goapp.UI{goapp.Label().For(v.ID).Text(v.Label),
		goapp.Select().ID(v.ID).Class("select mono").Body(opts...).OnChange(func(ctx goapp.Context, _ goapp.Event) {
			x := ctx.JSSrc().Get("value").String()
			if v.typing, v.wrong = x == typeTime, ""; v.typing {
				ctx.Defer(func(goapp.Context) {
					if el := goapp.Window().GetElementByID(v.ID + "-typed"); el.Truthy() {
						el.Call("focus")
					}
				})
				return
			}
			v.Set(x)
		})}
	if v.typing {
		body = append(body, v.typeField(requested))
	} else if v.Range && v.Value != "" && v.Times != timesUnknown && v.Root.s.instants() != nil {
		body = append(body, bothTimes(v.Root.s, v.ID+"-times", v.Value, requested))
	}
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

// typeField takes a time that is typed.
func (v *instantPicker) typeField(requested bool) goapp.UI {
	label, hint := text.F("%s: a completion time", v.Label), text.T("A completion time; Enter takes it.")
	if requested {
		label, hint = text.F("%s: a requested time", v.Label), text.T("A requested time; Enter takes it.")
	}
	in := goapp.Input().ID(v.ID+"-typed").Type("text").Class("select mono").Aria("label", label).Placeholder("2026-05-01 12:30:00.000").AutoComplete(false).Spellcheck(false).
		OnChange(func(ctx goapp.Context, _ goapp.Event) {
			said := ctx.JSSrc().Get("value").String()
			search := model.ParseSearch(said)
			time := model.WholeTime(search.Time)
			if !search.TimeOnly() || time == "" {
				v.wrong = said
				return
			}
			v.typing, v.wrong = false, ""
			v.Set(time)
		})
	if v.wrong != "" {
		return view.Div("typed-time", in.Aria("invalid", true), goapp.P().Class("pick-note where-fault").Role("alert").Text(text.F("%s is no time: want digits such as 20260501123000000.", v.wrong)))
	}
	return view.Div("typed-time", in, goapp.P().Class("dim pick-note").Text(hint))
}

// bothTimes says which write a time of a range is of.
func bothTimes(s *Session, id, time string, requested bool) goapp.UI {
	var said string
	in, ok := s.instants().Timed(time, requested)
	switch {
	case ok && in.Completed != "":
		said = text.F("requested %s, completed %s", in.Requested, in.Completed)
	case ok:
		// Below table version 8 the timeline holds no completion times.
		said = text.F("requested %s", in.Requested) + ", " + in.Action
	case requested:
		said = text.T("a requested time that no completed write has")
	default:
		said = text.T("a completion time that no write has")
	}
	return goapp.P().ID(id).Class("dim pick-note").Text(said)
}
