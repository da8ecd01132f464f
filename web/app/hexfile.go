package app

import (
	"strconv"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// hexFile shows the bytes of a file page by page, once the user asks for them.
type hexFile struct {
	goapp.Compo

	Root *Root
	Path string
	Size int64
	// Start and End are the part of the file that is shown; End 0 is the whole file.
	Start, End int64

	asked bool
	from  int64 // from Start
	path  string
	start int64
	data  load[api.Bytes]
	s     *Session
}

func (h *hexFile) OnDismount() { h.data.stop() }

func (h *hexFile) want() {
	if h.s == nil {
		// A session of its own, so that pages of this file don't redraw the whole page's answers.
		h.s = &Session{transport: h.Root.s.transport, dispatch: func(f func()) { h.Root.s.dispatch(func() { f(); h.Update() }) }}
	}
	if h.path != h.Path || h.start != h.Start {
		h.path, h.start, h.from = h.Path, h.Start, 0
		h.data.reset()
	}
	n := int64(hexPage)
	if h.End > 0 {
		n = min(n, h.End-h.Start-h.from)
	}
	at := h.Start + h.from
	want(h.s, &h.data, h.Path+" "+strconv.FormatInt(at, 10)+" "+strconv.FormatInt(n, 10), api.OpBytes, api.BytesRequest{Table: h.Root.s.table(), File: h.Path, Offset: at, Length: int(n)})
}

func (h *hexFile) Render() goapp.UI {
	if h.path != "" && (h.path != h.Path || h.start != h.Start) {
		if h.asked = h.asked && h.path == h.Path; h.asked {
			h.want() // another part of the same file
		} else {
			h.path = ""
		}
	}
	if !h.asked {
		return view.Div("hex-file", view.Button("small", text.T("Show the bytes"), func(goapp.Context, goapp.Event) { h.asked = true; h.want() }))
	}
	switch {
	case h.data.fault != nil:
		return view.Div("hex-file", view.FaultPanel(h.data.fault, nil, nil))
	case h.data.val == nil:
		return view.Div("hex-file", view.Loading(text.T("Reading bytes"), h.data.slow, h.data.prog, nil))
	}
	b := h.data.val
	size := b.Size
	if h.End > 0 {
		size = h.End - h.Start
	}
	return view.Div("hex-file",
		view.Hex(b.Data, b.Offset, nil, -1),
		pager(b.Offset-h.Start, int64(len(b.Data)), size, text.T("byte"), func(to int64) { h.from = to; h.want() }, hexPage),
	)
}

// pager is a line that says which part of a whole is shown, with steps to the parts around it.
func pager(from, n, total int64, unit string, to func(int64), page int64) goapp.UI {
	if n >= total && from == 0 {
		return nil
	}
	prev := view.IconButton(view.IconLeft, text.T("Earlier"), func(goapp.Context, goapp.Event) { to(max(0, from-page)) }, from).Disabled(from == 0)
	next := view.IconButton(view.IconRight, text.T("Later"), func(goapp.Context, goapp.Event) { to(from + page) }, from).Disabled(from+n >= total)
	last := max(from, from+n-1)
	return view.Div("pager", prev, view.Span("num", text.F("%s %s to %s of %s", unit, model.Count(from), model.Count(last), model.Count(total))), next)
}
