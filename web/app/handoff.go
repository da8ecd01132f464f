package app

import (
	"slices"
	"sort"
	"strings"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// The dialogs that take a view elsewhere.
const (
	dialogHandoff = "handoff"
	dialogExport  = "export"
)

const (
	iconHandoff  view.Icon = `<path d="M8 4.500H3.500v12h12V12"/><path d="M11 3.500h5.500V9M16.200 3.800 9 11"/>`
	iconDownload view.Icon = `<path d="M10 3v9.500M6.200 8.800 10 12.600l3.800-3.800M3.500 16.500h13"/>`
)

// takeAway offers to read the same rows with another engine, and to write them to a file.
func (r *Root) takeAway() goapp.UI {
	open := func(which string) goapp.EventHandler {
		return func(goapp.Context, goapp.Event) {
			r.s.dispatch(func() {
				r.s.dialog = which
				r.s.ensure()
			})
		}
	}
	items := []goapp.UI{goapp.Button().Type("button").ID("open-handoff").Class("button small").Title(text.T("Read the same rows with Spark, Flink, Trino or hudi-rs")).
		Body(iconHandoff.UI(), goapp.Text(text.T("Hand off"))).OnClick(open(dialogHandoff)),
		goapp.Button().Type("button").ID("open-export").Class("button small").Title(text.T("Write the rows to a file")).
			Body(iconDownload.UI(), goapp.Text(text.T("Export"))).OnClick(open(dialogExport))}
	return view.Div("take-away", items...)
}

// handoffRequest asks for the snippets of what is shown.
func (s *Session) handoffRequest(t api.Table) api.HandoffRequest {
	st := s.state
	if st.View == model.Stream {
		req := api.HandoffRequest{Table: t, Options: model.SplitOptions(st.Flink), Flink: true, Batch: st.Batch, Seen: st.Seen}
		req.Partitions, _ = placeOf(st)
		return req
	}
	req := api.HandoffRequest{Table: t, Options: queryOptions(st), Condition: conditionOf(st), Limit: st.Limit}
	req.Partitions, req.FileID = placeOf(st)
	return req
}

// ensureDialog asks for what an open dialog shows.
func (s *Session) ensureDialog(t api.Table) {
	if s.dialog == dialogHandoff {
		req := s.handoffRequest(t)
		want(s, &s.handoff, requestKey(req), api.OpHandoff, req)
	}
}

// clean takes what gives access to the table out of snippets: they are copied to other places.
func (s *Session) clean(a *api.Handoff) *api.Handoff {
	plain := s.state.Table
	full := s.table().Location
	if full == plain {
		return a
	}
	out := *a
	out.Address = strings.ReplaceAll(a.Address, full, plain)
	out.Snippets = slices.Clone(a.Snippets)
	for i := range out.Snippets {
		out.Snippets[i].Code = strings.ReplaceAll(out.Snippets[i].Code, full, plain)
	}
	return &out
}

// dialogs draws the dialog that is open.
func (r *Root) dialogs() goapp.UI {
	switch r.s.dialog {
	case dialogHandoff:
		return &handoffDialog{Root: r, Rev: r.s.rev}
	case dialogAccess:
		return &accessDialog{Root: r, Rev: r.s.rev}
	case dialogExport:
		return &exportDialog{Root: r, Rev: r.s.rev}
	}
	return nil
}

// modal is a dialog over the page. The browser keeps the focus in it, closes it by Esc and gives
// the focus back.
type modal struct {
	release []func()
}

// closing is what the end of a dialog means: it is not the open one any more.
func (s *Session) closing(dialog string) func() {
	return func() {
		s.dispatch(func() {
			if s.dialog == dialog {
				s.dialog = ""
			}
		})
	}
}

func (m *modal) show(ctx goapp.Context, id string, closed func()) {
	ctx.Defer(func(goapp.Context) {
		el := goapp.Window().GetElementByID(id)
		if !el.Truthy() || len(m.release) > 0 {
			return
		}
		m.release = append(m.release,
			view.Listen(el, "close", true, func(goapp.Value) { closed() }),
			// A click beside the dialog's content closes it.
			view.Listen(el, "click", true, func(e goapp.Value) {
				if e.Get("target").Equal(el) {
					el.Call("close")
				}
			}))
		if !el.Get("open").Truthy() {
			el.Call("showModal")
		}
	})
}

func (m *modal) gone() {
	for _, f := range m.release {
		f()
	}
	m.release = nil
}

func closeModal(id string) {
	if el := goapp.Window().GetElementByID(id); el.Truthy() {
		el.Call("close")
	}
}

// frame is the dialog's element with a title and a way to close it.
func (m *modal) frame(id, title string, body ...goapp.UI) goapp.UI {
	return goapp.Elem("dialog").ID(id).Class("modal").Aria("labelledby", id+"-title").Body(
		view.Div("modal-inner", append([]goapp.UI{view.Div("panel-head", goapp.H2().ID(id+"-title").Text(title),
			view.IconButton(view.IconClose, text.T("Close (Esc)"), func(goapp.Context, goapp.Event) { closeModal(id) }))}, body...)...))
}

// handoffDialog shows how other engines read the same rows.
type handoffDialog struct {
	goapp.Compo
	modal

	Root *Root
	Rev  int

	engine int
}

func (v *handoffDialog) OnMount(ctx goapp.Context) {
	v.show(ctx, "handoff-dialog", v.Root.s.closing(dialogHandoff))
}

func (v *handoffDialog) OnDismount() { v.gone() }

func (v *handoffDialog) Render() goapp.UI {
	s := v.Root.s
	a := &s.handoff
	var body []goapp.UI
	switch {
	case a.fault != nil:
		body = append(body, view.FaultPanel(a.fault, nil, a.retrier(s)))
	case a.val == nil:
		body = append(body, view.Loading(text.T("Writing the snippets"), a.slow, a.prog, a.canceller()), bones())
	default:
		body = v.answer(s.clean(a.val))
	}
	return v.frame("handoff-dialog", text.T("The same rows with another engine"), body...)
}

func (v *handoffDialog) answer(a *api.Handoff) []goapp.UI {
	if len(a.Snippets) == 0 {
		return []goapp.UI{goapp.P().Text(text.T("No engine reads these rows."))}
	}
	at := min(max(v.engine, 0), len(a.Snippets)-1)
	choose := func(i int) {
		v.engine = i
		v.Update()
		if el := goapp.Window().GetElementByID("engine-" + model.Count(int64(i))); el.Truthy() {
			el.Call("focus")
		}
	}
	var tabs []goapp.UI
	for i := range a.Snippets {
		x := &a.Snippets[i]
		class := "seg"
		index := -1
		if i == at {
			class, index = "seg current", 0
		}
		label := []goapp.UI{goapp.Text(x.Engine)}
		if x.Refused != "" {
			label = append(label, goapp.Span().Class("dim").Text(" –"), view.Span("visually-hidden", text.T("can't read these rows")))
		}
		tabs = append(tabs, goapp.Button().Type("button").ID("engine-"+model.Count(int64(i))).Class(class).Role("tab").TabIndex(index).Aria("selected", i == at).Aria("controls", "handoff-panel").
			Body(label...).OnClick(func(goapp.Context, goapp.Event) { v.engine = i }, i))
	}
	x := &a.Snippets[at]
	body := []goapp.UI{
		goapp.Div().Class("segmented engines").Role("tablist").Aria("label", text.T("Engine")).Body(tabs...).OnKeyDown(func(_ goapp.Context, e goapp.Event) {
			switch e.Get("key").String() {
			case "ArrowRight":
				choose((at + 1) % len(a.Snippets))
			case "ArrowLeft":
				choose((at + len(a.Snippets) - 1) % len(a.Snippets))
			}
		}, at),
	}
	var inside []goapp.UI
	if x.Refused != "" {
		inside = append(inside, goapp.Ul().Class("findings").Body(goapp.Li().Class("finding warn").Body(view.IconWarning.UI(),
			view.Div("finding-text", goapp.Strong().Text(text.F("%s can't give these rows.", x.Engine)), goapp.Text(" "), view.Spoken("", x.Refused)))))
	} else {
		inside = append(inside,
			view.Div("snippet-head", view.Spoken("dim", x.Versions), &view.CopyButton{Label: text.T("Copy"), Text: x.Code, Wide: true}),
			goapp.Pre().ID("snippet").Class("raw snippet").TabIndex(0).Aria("label", text.F("%s code", x.Engine)).Text(x.Code))
	}
	if len(x.Remarks) > 0 {
		var items []goapp.UI
		for _, t := range x.Remarks {
			items = append(items, goapp.Li().Class("finding note").Body(view.IconInfo.UI(), view.Div("finding-text", view.Spoken("", t))))
		}
		inside = append(inside, goapp.Ul().Class("findings").Body(items...))
	}
	if len(x.Options) > 0 {
		var names []string
		for k := range x.Options {
			names = append(names, k)
		}
		sort.Strings(names)
		var rows []goapp.UI
		for _, k := range names {
			rows = append(rows, goapp.Tr().Body(goapp.Th().Scope("row").Class("mono").Text(k), goapp.Td().Class("mono wrap").Text(x.Options[k])))
		}
		inside = append(inside, goapp.Details().Class("how").Body(goapp.Summary().Text(text.F("%s set", model.Plural(int64(len(names)), "option"))), table([]string{text.T("Option"), text.T("Value")}, rows)))
	}
	body = append(body, goapp.Div().ID("handoff-panel").Class("handoff-panel").Role("tabpanel").Aria("label", x.Engine).Body(inside...))
	where := []goapp.UI{view.Fact(text.T("Table"), view.Mono(a.Address))}
	body = append(body, view.Facts("inline", where...))
	if a.Note != "" {
		body = append(body, goapp.P().Class("dim").Body(view.Spoken("", a.Note)))
	}
	return body
}
