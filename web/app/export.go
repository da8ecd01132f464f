package app

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/client"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// exportFormats are the formats that rows are exported in.
var exportFormats = [...]struct{ name, label, explain, ext, mime string }{
	{"jsonl", text.Key("JSON Lines"), text.Key("One JSON object a line; nested values stay nested"), "jsonl", "application/jsonl"},
	{"csv", "CSV", text.Key("A line of names, then one line a row; nested values are JSON"), "csv", "text/csv"},
	{"parquet", "Parquet", text.Key("Typed columns, compressed"), "parquet", "application/vnd.apache.parquet"},
}

const (
	// blobMost is the most that is put together in the browser's memory where it can't write to a
	// file directly.
	blobMost = 1 << 30
	// blobStep is how much is gathered before it is handed over to the browser, which may keep it on disk.
	blobStep = 16 << 20
)

// export is the export of rows, while it runs and after it.
type export struct {
	format int
	name   string
	limit  int64
	rows   int64
	bytes  int64
	phase  string
	// state is "", "running", "done" or "failed".
	state    string
	fault    *api.Fault
	findings []api.Finding
	seq      int
	cancel   context.CancelFunc
}

// exportRequest asks for the rows that are shown, as a file.
func (s *Session) exportRequest(format int) api.ExportRequest {
	st := s.state
	req := api.ExportRequest{Format: exportFormats[format].name, ID: strconv.FormatInt(time.Now().UnixNano(), 36)}
	if st.View == model.Stream {
		req.RowsRequest = api.RowsRequest{Table: s.table(), Options: model.SplitOptions(st.Flink)}
		req.Flink, req.Batch, req.Seen = true, st.Batch, st.Seen
		req.Partitions, _ = placeOf(st)
		return req
	}
	req.RowsRequest = api.RowsRequest{Table: s.table(), Options: queryOptions(st), Condition: conditionOf(st), Limit: st.Limit}
	req.Partitions, req.FileID = placeOf(st)
	return req
}

// sink is where an exported file goes.
type sink interface {
	write(b []byte) error
	// close ends the file; abort drops it.
	close() error
	abort()
}

// fileSink writes to a file that the user chose.
type fileSink struct{ stream goapp.Value }

func (f fileSink) write(b []byte) error {
	_, err := await(f.stream.Call("write", bytesToJS(b)))
	return err
}

func (f fileSink) close() error {
	_, err := await(f.stream.Call("close"))
	return err
}

func (f fileSink) abort() { f.stream.Call("abort") }

// blobSink gathers the file in the browser and downloads it at the end.
type blobSink struct {
	name, mime string
	// blob is what was handed over, parts an array of what was not.
	blob, parts goapp.Value
	size, part  int
}

func (s *blobSink) write(b []byte) error {
	if s.size+len(b) > blobMost {
		return &api.Fault{Kind: "limit", Offset: -1, Message: text.F("The file would be larger than %s, which this browser would have to hold in memory before it can be saved.", model.Bytes(blobMost)),
			Try: text.T("Set a limit or a condition, export Parquet, or use a browser that can write to a file directly (Chrome, Edge).")}
	}
	if s.parts == nil {
		s.parts = goapp.Window().Get("Array").New()
		if s.blob != nil {
			s.parts.Call("push", s.blob)
		}
	}
	s.parts.Call("push", bytesToJS(b))
	s.size += len(b)
	if s.part += len(b); s.part >= blobStep {
		s.join()
	}
	return nil
}

// join hands over what was gathered.
func (s *blobSink) join() {
	if s.parts == nil {
		if s.blob != nil {
			return
		}
		s.parts = goapp.Window().Get("Array").New()
	}
	s.blob = goapp.Window().Get("Blob").New(s.parts, map[string]any{"type": s.mime})
	s.parts, s.part = nil, 0
}

func (s *blobSink) close() error {
	s.join()
	url := goapp.Window().Get("URL").Call("createObjectURL", s.blob)
	a := goapp.Window().Get("document").Call("createElement", "a")
	a.Set("href", url)
	a.Set("download", s.name)
	a.Call("click")
	// The download has begun by then.
	time.AfterFunc(time.Minute, func() { goapp.Window().Get("URL").Call("revokeObjectURL", url) })
	return nil
}

func (s *blobSink) abort() { s.blob, s.parts = nil, nil }

func bytesToJS(b []byte) goapp.Value {
	a := goapp.Window().Get("Uint8Array").New(len(b))
	goapp.CopyBytesToJS(a, b)
	return a
}

// await waits for a promise. It must not be called on the UI goroutine.
func await(promise goapp.Value) (goapp.Value, error) {
	type result struct {
		v   goapp.Value
		err error
	}
	done := make(chan result, 1)
	ok := goapp.FuncOf(func(_ goapp.Value, args []goapp.Value) any {
		r := result{}
		if len(args) > 0 {
			r.v = args[0]
		}
		done <- r
		return nil
	})
	bad := goapp.FuncOf(func(_ goapp.Value, args []goapp.Value) any {
		err := &scriptError{name: "Error", text: "refused"}
		if len(args) > 0 && args[0].Truthy() {
			err.name, err.text = args[0].Get("name").String(), args[0].Get("message").String()
		}
		done <- result{err: err}
		return nil
	})
	defer ok.Release()
	defer bad.Release()
	promise.Call("then", ok, bad)
	r := <-done
	return r.v, r.err
}

// scriptError is what a promise was rejected with.
type scriptError struct{ name, text string }

func (e *scriptError) Error() string { return e.text }

// startExport writes the rows to a file. It is called while the user's click counts, as the
// browser asks for a file only then.
func (s *Session) startExport(format int, title string) {
	x := &s.export
	x.stop()
	x.seq++
	seq := x.seq
	f := exportFormats[format]
	req := s.exportRequest(format)
	*x = export{format: format, name: fileName(title) + "." + f.ext, limit: int64(req.Limit), state: "running", phase: text.T("Waiting for a place to save to"), seq: seq}
	ctx, cancel := context.WithCancel(context.Background())
	x.cancel = cancel
	transport, dispatch, name := s.transport, s.dispatch, x.name
	update := func(f func()) {
		dispatch(func() {
			if x.seq == seq {
				f()
			}
		})
	}
	go func() {
		defer cancel()
		to, err := openSink(name, f.mime, f.ext, text.T(f.label))
		if err == nil {
			err = writeExport(ctx, transport, req, to, func(c *api.ExportChunk, p *api.Progress) {
				update(func() {
					if p != nil {
						x.phase = p.Phase
						return
					}
					x.phase = text.T("Writing rows")
					x.rows, x.bytes = c.Rows, x.bytes+int64(len(c.Data))
					x.findings = append(x.findings, c.Findings...)
				})
			})
		}
		update(func() {
			if err == nil {
				x.state = "done"
				return
			}
			x.state, x.fault = "failed", s.faultOf(err)
			if e := (*scriptError)(nil); errors.As(err, &e) {
				if e.name == "AbortError" {
					x.state, x.fault = "", nil // no place was chosen
					return
				}
				x.fault = &api.Fault{Kind: "limit", Offset: -1, Message: text.F("The file can't be written: %s", e.text), Try: text.T("Choose another place, or make room on the disk.")}
			}
		})
	}()
}

// openSink asks the user for a file where the browser can write to one, and else gathers a download.
func openSink(name, mime, ext, label string) (sink, error) {
	w := goapp.Window()
	if w.Get("showSaveFilePicker").Truthy() {
		handle, err := await(w.Call("showSaveFilePicker", map[string]any{
			"suggestedName": name,
			"types":         []any{map[string]any{"description": label, "accept": map[string]any{mime: []any{"." + ext}}}},
		}))
		if err == nil {
			var stream goapp.Value
			if stream, err = await(handle.Call("createWritable")); err == nil {
				return fileSink{stream}, nil
			}
		}
		var e *scriptError
		if !errors.As(err, &e) || e.name != "SecurityError" && e.name != "NotAllowedError" {
			return nil, err
		}
		// A page in a frame may not ask: it downloads.
	}
	return &blobSink{name: name, mime: mime}, nil
}

// writeExport asks for one part after the other and writes it. An export that fails leaves no file.
func writeExport(ctx context.Context, t client.Transport, req api.ExportRequest, to sink, told func(*api.ExportChunk, *api.Progress)) error {
	for {
		c, err := client.Call[api.ExportChunk](ctx, t, api.OpExport, req, func(p api.Progress) { told(nil, &p) })
		if err == nil && len(c.Data) > 0 {
			err = to.write(c.Data)
		}
		if err == nil {
			// A part may have come after the export was cancelled.
			err = ctx.Err()
		}
		if err != nil {
			to.abort()
			return err
		}
		told(&c, nil)
		if c.Done {
			return to.close()
		}
		req.Part++
	}
}

func (x *export) stop() {
	if x.cancel != nil {
		x.cancel()
		x.cancel = nil
	}
}

// fileName makes a plain name of a file.
func fileName(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			b.WriteRune(r)
		case b.Len() > 0:
			b.WriteByte('_')
		}
		if b.Len() >= 80 {
			break
		}
	}
	if b.Len() == 0 {
		return "rows"
	}
	return b.String()
}

// exportDialog chooses a format, and shows how far the export is.
type exportDialog struct {
	goapp.Compo
	modal

	Root *Root
	Rev  int

	format int
}

func (v *exportDialog) OnMount(ctx goapp.Context) {
	s := v.Root.s
	v.format = s.export.format
	v.show(ctx, "export-dialog", s.closing(dialogExport))
}

func (v *exportDialog) OnDismount() { v.gone() }

func (v *exportDialog) Render() goapp.UI {
	s := v.Root.s
	x := &s.export
	st := s.state
	var choices []goapp.UI
	for i, f := range exportFormats {
		choices = append(choices, goapp.Label().Class("format").Body(
			goapp.Input().Type("radio").Name("export-format").Value(f.name).Checked(v.format == i).Disabled(x.state == "running").OnChange(func(goapp.Context, goapp.Event) { v.format = i }, i),
			goapp.Span().Body(goapp.Strong().Text(text.T(f.label)), view.Span("dim", text.T(f.explain)))))
	}
	facts := []goapp.UI{view.FactText(text.T("Rows"), what(st))}
	if st.Where != "" && st.View != model.Stream {
		facts = append(facts, view.Fact(text.T("Where"), view.Mono(st.Where)))
	}
	if st.Columns != "" && st.View != model.Stream {
		facts = append(facts, view.Fact(text.T("Columns"), view.Mono(strings.Join(model.SplitList(st.Columns), ", "))))
	}
	if st.Limit > 0 && st.View != model.Stream {
		facts = append(facts, view.FactText(text.T("At most"), model.Plural(int64(st.Limit), "row")))
	}
	if st.Rules != "" {
		facts = append(facts, view.FactText(text.T("Rules of"), text.F("Hudi %s", st.Rules)))
	}
	title := model.TableName(st.Table)
	if o := s.overview.val; o != nil && o.Name != "" {
		title = o.Name
	}
	body := []goapp.UI{view.Facts("inline", facts...), goapp.Elem("fieldset").Class("formats").Body(append([]goapp.UI{goapp.Elem("legend").Text(text.T("Format"))}, choices...)...)}
	if x.state != "running" {
		body = append(body, view.Div("actions", goapp.Button().Type("button").ID("start-export").Class("button primary").Body(iconDownload.UI(), goapp.Text(text.T("Export"))).
			OnClick(func(goapp.Context, goapp.Event) {
				s.startExport(v.format, title)
				s.dispatch(func() {})
			}, title)))
	}
	body = append(body, exportState(s)...)
	return v.frame("export-dialog", text.T("Export rows"), body...)
}

// what says which rows a query gives, in a few words.
func what(st model.State) string {
	if st.View == model.Stream {
		s := text.T("Flink's streaming read, to its end")
		if st.Batch {
			s = text.T("Flink's batch read")
		}
		if st.Seen != "" {
			s = text.F("%s as of %s", s, st.Seen)
		}
		return s
	}
	var s string
	switch st.Query {
	case "ro":
		s = text.T("read-optimized")
	case "inc", "cdc":
		s = text.T("changed")
		if st.Query == "cdc" {
			s = text.T("all changes")
		}
		if st.Begin != "" {
			s = text.F("%s after %s", s, st.Begin)
		}
		if st.End != "" {
			s = text.F("%s up to %s", s, st.End)
		}
	default:
		s = text.T("snapshot")
	}
	if st.AsOf != "" {
		s = text.F("%s as of %s", s, st.AsOf)
	}
	switch {
	case st.FileID != "":
		s = text.F("%s, file group %s", s, model.ShortID(st.FileID))
	case st.OnlyPartition:
		s = text.F("%s, partition %s", s, partitionName(st.Partition))
	}
	return s
}

// exportState is how far the export is, or how it ended.
func exportState(s *Session) []goapp.UI {
	x := &s.export
	done := text.F("%s, %s", model.Plural(x.rows, "row"), model.Bytes(x.bytes))
	var out []goapp.UI
	switch x.state {
	case "running":
		p := api.Progress{Phase: x.phase, Done: x.rows, Total: x.limit, Unit: "rows, " + model.Bytes(x.bytes)}
		out = append(out, view.Div("export-progress", view.Loading(text.T("Exporting"), true, p, func(goapp.Context, goapp.Event) { x.stop() })),
			goapp.P().Class("dim").Text(text.T("The dialog may be closed meanwhile.")))
	case "done":
		out = append(out, goapp.P().ID("export-done").Class("export-done").Role("status").Body(view.IconCheck.UI(), goapp.Span().Body(goapp.Strong().Text(x.name), goapp.Text(": "+done+"."))))
	case "failed":
		out = append(out, view.FaultPanel(x.fault, nil, nil))
		if x.fault.Kind == "cancelled" {
			out = append(out, goapp.P().Class("dim").Text(text.F("No file was left. %s had been written.", done)))
		}
	}
	if f := view.Findings(x.findings); f != nil && x.state == "done" {
		out = append(out, f)
	}
	return out
}

// exportNotice shows a running export while its dialog is closed.
func (r *Root) exportNotice() goapp.UI {
	x := &r.s.export
	if x.state != "running" || r.s.dialog == dialogExport {
		return nil
	}
	return goapp.Div().Class("export-notice").Role("status").Body(iconDownload.UI(),
		goapp.Span().Body(goapp.Text(text.T("Exporting ")), goapp.Strong().Text(x.name), view.Span("num dim", " "+model.Plural(x.rows, "row")+", "+model.Bytes(x.bytes))),
		view.Button("small", text.T("Show"), func(goapp.Context, goapp.Event) { r.s.dispatch(func() { r.s.dialog = dialogExport }) }),
		view.Button("small", text.T("Cancel"), func(goapp.Context, goapp.Event) { x.stop() }))
}
