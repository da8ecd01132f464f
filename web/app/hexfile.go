package app

import (
	"strconv"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/view"
)

// hexFile shows the bytes of a file page by page, once the user asks for them.
type hexFile struct {
	goapp.Compo

	Root *Root
	Path string
	Size int64

	asked bool
	from  int64
	path  string
	data  load[api.Bytes]
	s     *Session
}

func (h *hexFile) OnDismount() { h.data.stop() }

func (h *hexFile) want() {
	if h.s == nil {
		// A session of its own, so that pages of this file don't redraw the whole page's answers.
		h.s = &Session{transport: h.Root.s.transport, dispatch: func(f func()) { h.Root.s.dispatch(func() { f(); h.Update() }) }}
	}
	if h.path != h.Path {
		h.path, h.from = h.Path, 0
		h.data.reset()
	}
	want(h.s, &h.data, h.Path+strconv.FormatInt(h.from, 10), api.OpBytes, api.BytesRequest{Table: h.Root.s.table(), File: h.Path, Offset: h.from, Length: hexPage})
}

func (h *hexFile) Render() goapp.UI {
	if h.path != "" && h.path != h.Path {
		h.asked = false
		h.path = ""
	}
	if !h.asked {
		return view.Div("hex-file", view.Button("small", "Show the bytes", func(goapp.Context, goapp.Event) { h.asked = true; h.want() }))
	}
	switch {
	case h.data.fault != nil:
		return view.Div("hex-file", view.FaultPanel(h.data.fault, nil, nil))
	case h.data.val == nil:
		return view.Div("hex-file", view.Loading("Reading bytes", h.data.slow, h.data.prog, nil))
	}
	b := h.data.val
	return view.Div("hex-file",
		view.Hex(b.Data, b.Offset, nil, -1),
		pager(b.Offset, int64(len(b.Data)), b.Size, "byte", func(to int64) { h.from = to; h.want() }, hexPage),
	)
}

// pager is a line that says which part of a whole is shown, with steps to the parts around it.
func pager(from, n, total int64, unit string, to func(int64), page int64) goapp.UI {
	if n >= total && from == 0 {
		return nil
	}
	prev := view.IconButton(view.IconLeft, "Earlier", func(goapp.Context, goapp.Event) { to(max(0, from-page)) }, from).Disabled(from == 0)
	next := view.IconButton(view.IconRight, "Later", func(goapp.Context, goapp.Event) { to(from + page) }, from).Disabled(from+n >= total)
	last := max(from, from+n-1)
	return view.Div("pager", prev, view.Span("num", unit+" "+model.Count(from)+" to "+model.Count(last)+" of "+model.Count(total)), next)
}
