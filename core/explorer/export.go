package explorer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"sync"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/export"
	"hudiscope/core/query"
	"hudiscope/core/release"
)

const (
	// exportPart is the size of a part of an export that is asked for in parts.
	exportPart = 1 << 20
	// maxExports bounds the exports of one table that are asked for in parts; another one ends the oldest.
	maxExports = 2
	// maxExportID bounds the name that tells exports apart.
	maxExportID = 200
)

// exportSource is what an export writes: the rows of a plan, and its columns.
type exportSource struct {
	h       *handle
	plan    *prepared
	columns []export.Column
	rules   *release.Rules
	format  string
	// notes collects what a user must know about the rows.
	notes cursor
}

// findings are what a user must know about the rows read so far.
func (x *exportSource) findings() []api.Finding {
	return append(append([]api.Finding(nil), x.notes.notes...), x.plan.allFindings(x.rules)...)
}

// exportSource plans an export, as rows are planned.
func (s *Service) exportSource(ctx context.Context, h *handle, req *api.ExportRequest) (*exportSource, error) {
	if req.Offset < 0 || req.Limit < 0 {
		return nil, invalid("An offset and a limit are not negative.")
	}
	h.progress(ctx, api.Progress{Phase: "Planning the read"})
	plan, err := s.exportPlan(ctx, h, req)
	if err != nil {
		return nil, err
	}
	x := &exportSource{h: h, plan: plan, rules: &h.table.Rules, format: req.Format, notes: cursor{opts: s.opts, plan: plan, failed: map[release.FailureID]bool{}}}
	x.columns = exportColumns(plan.Plan)
	return x, nil
}

// exportColumns are the columns of a plan, in the order asked for.
func exportColumns(plan *query.Plan) []export.Column {
	var out []export.Column
	for _, i := range plan.Shown() {
		f := &plan.Type.Fields[i]
		out = append(out, export.Column{Name: f.Name, Index: i, Type: f.Type})
	}
	return out
}

// exportRow is a row of an export: the line of a text format, or for others the row.
type exportRow struct {
	line []byte
	row  query.Row
}

// rows reads the rows of the export, from offset on and at most limit (0 = all).
func (x *exportSource) rows(ctx context.Context, offset, limit int64) iter.Seq2[exportRow, error] {
	return func(yield func(exportRow, error) bool) {
		read := x.notes.reading(x.h, api.OpExport)
		if limit > 0 {
			// A few rows are no long read.
			began := time.Now()
			read.long = func() bool { return x.plan.Ordered() || time.Since(began) > soon }
		}
		var rows iter.Seq2[exportRow, error]
		switch {
		case x.plan.Ordered():
			sorted, err := x.plan.Sort(ctx, read.encoded(ctx), x.notes.opts.sort(x.notes.reported))
			if err != nil {
				yield(exportRow{}, err)
				return
			}
			defer sorted.Close()
			rows = ofRows(sorted.Rows(ctx, 0))
		case export.HasLines(x.format):
			rows = func(yield func(exportRow, error) bool) {
				for line, err := range read.lines(ctx, x.format) {
					if !yield(exportRow{line: line}, err) || err != nil {
						return
					}
				}
			}
		default:
			rows = ofRows(read.rows(ctx))
		}
		var seen int64
		for row, err := range rows {
			if err != nil {
				yield(exportRow{}, err)
				return
			}
			if seen++; seen <= offset {
				continue
			}
			if !yield(row, nil) || limit > 0 && seen == offset+limit {
				return
			}
		}
	}
}

func ofRows(rows iter.Seq2[query.Row, error]) iter.Seq2[exportRow, error] {
	return func(yield func(exportRow, error) bool) {
		for row, err := range rows {
			if !yield(exportRow{row: row}, err) || err != nil {
				return
			}
		}
	}
}

// exportFile is a file that is being written.
type exportFile struct {
	w      io.Writer
	writer export.Writer
}

func newExportFile(format string, w io.Writer, columns []export.Column) (*exportFile, error) {
	writer, err := export.New(format, w, columns)
	return &exportFile{w, writer}, err
}

func (f *exportFile) write(x exportRow) error {
	if x.line != nil {
		_, err := f.w.Write(x.line)
		return err
	}
	return f.writer.Write(x.row.Batch, x.row.Index)
}

// exportReady opens the table of an export and checks the format.
func (s *Service) exportReady(ctx context.Context, req *api.ExportRequest) (*handle, error) {
	switch req.Format {
	case export.JSONLines, export.CSV, export.Parquet:
	default:
		return nil, invalid("%s.", sentence(export.UnknownFormat(req.Format).Error()))
	}
	return s.ready(ctx, req.Table)
}

// exportFault gives what a format can't hold the form of a fault.
func exportFault(err error) error {
	var un *export.Unsupported
	if errors.As(err, &un) {
		return unsupported(sentence(un.Error()), "Leave the column out, or export JSON Lines.")
	}
	return err
}

// ExportTo writes all rows of an export as one stream. begin is called once, when the read is planned
// and nothing has gone wrong so far, with a name for the file and its media type; what it returns is
// written to. The file is whole only if the error is nil.
func (s *Service) ExportTo(ctx context.Context, req api.ExportRequest, begin func(name, mediaType string) io.Writer) (*api.ExportChunk, error) {
	h, err := s.exportReady(ctx, &req)
	if err != nil {
		return nil, err
	}
	x, err := s.exportSource(ctx, h, &req)
	if err != nil {
		return nil, err
	}
	out := &lateWriter{begin: func() io.Writer {
		return begin(export.FileName(h.table.Config.TableName(), req.Format), export.MediaType(req.Format))
	}}
	buf := bufio.NewWriterSize(out, 1<<16)
	w, err := newExportFile(req.Format, buf, x.columns)
	if err != nil {
		return nil, exportFault(err)
	}
	done := &api.ExportChunk{Done: true}
	x.notes.report = func(rows int64) {
		h.progress(ctx, api.Progress{Phase: "Ordering rows", Done: rows, Unit: "rows"})
	}
	for row, err := range x.rows(ctx, req.Offset, int64(req.Limit)) {
		if err == nil {
			err = w.write(row)
		}
		if err == nil && done.Rows%64 == 0 {
			err = ctx.Err()
			h.progress(ctx, api.Progress{Phase: "Writing rows", Done: done.Rows, Unit: "rows"})
		}
		if err != nil {
			return nil, exportFault(err)
		}
		done.Rows++
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := w.writer.Close(); err != nil {
		return nil, exportFault(err)
	}
	if buf.Buffered() == 0 && !out.begun() {
		// A file without a byte is a file, too.
		if _, err := out.Write(nil); err != nil {
			return nil, err
		}
	}
	if err := buf.Flush(); err != nil {
		return nil, err
	}
	done.Findings = x.findings()
	return done, nil
}

// lateWriter begins with the first write.
type lateWriter struct {
	begin func() io.Writer
	w     io.Writer
}

func (l *lateWriter) begun() bool { return l.w != nil }

func (l *lateWriter) Write(b []byte) (int, error) {
	if l.w == nil {
		l.w = l.begin()
	}
	return l.w.Write(b)
}

// exporter is an export that is asked for in parts.
type exporter struct {
	id     string
	cancel context.CancelFunc

	mu     sync.Mutex
	source *exportSource
	next   func() (exportRow, error, bool)
	stopIt func()
	file   *exportFile
	// buf is what was written and not yet asked for.
	buf  bytes.Buffer
	part int
	rows int64
	// done tells that the file is written, ended that the export is over, all of it asked for or not.
	done, ended bool
}

// Export returns the next part of an export. A part that fails ends the export: what was given out of
// it before is no whole file.
func (s *Service) Export(ctx context.Context, req api.ExportRequest) (*api.ExportChunk, error) {
	if req.ID == "" || len(req.ID) > maxExportID {
		return nil, invalid("An export in parts has an id of 1 to %d bytes.", maxExportID)
	}
	h, err := s.exportReady(ctx, &req)
	if err != nil {
		return nil, err
	}
	var e *exporter
	if req.Part == 0 {
		if e, err = s.beginExport(ctx, h, &req); err != nil {
			return nil, err
		}
	} else if e = h.export(req.ID); e == nil {
		return nil, &api.Fault{Kind: "not found", Offset: -1, Message: "This export is not open any more.", Try: "Begin it again."}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended || req.Part != e.part {
		return nil, invalid("Part %d of the export was asked for, part %d is next: parts come in order.", req.Part, e.part)
	}
	// A cancelled request ends the export: what it was reading can't be taken up again.
	stop := context.AfterFunc(ctx, e.cancel)
	err = e.fill(ctx, h)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		e.end()
		h.forget(e)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, exportFault(err)
	}
	e.part++
	out := &api.ExportChunk{Data: bytes.Clone(e.buf.Next(exportPart)), Rows: e.rows}
	if out.Done = e.done && e.buf.Len() == 0; out.Done {
		out.Findings = e.source.findings()
		e.end()
		h.forget(e)
	}
	return out, nil
}

func (s *Service) beginExport(ctx context.Context, h *handle, req *api.ExportRequest) (*exporter, error) {
	source, err := s.exportSource(ctx, h, req)
	if err != nil {
		return nil, err
	}
	e := &exporter{id: req.ID, source: source}
	if e.file, err = newExportFile(req.Format, &e.buf, source.columns); err != nil {
		return nil, exportFault(err)
	}
	own, cancel := context.WithCancel(h.behind(api.OpExport))
	e.cancel = cancel
	e.next, e.stopIt = iter.Pull2(source.rows(own, req.Offset, int64(req.Limit)))
	h.mu.Lock()
	var old []*exporter
	kept := h.exports[:0]
	for _, o := range h.exports {
		if o.id == req.ID {
			old = append(old, o)
		} else {
			kept = append(kept, o)
		}
	}
	h.exports = append(kept, e)
	for len(h.exports) > maxExports {
		old = append(old, h.exports[0])
		h.exports = append([]*exporter(nil), h.exports[1:]...)
	}
	h.mu.Unlock()
	for _, o := range old {
		// Stopping waits for the export's current part; it must not hold up this one.
		go o.stop()
	}
	return e, nil
}

// fill writes until there is a part, or the file is whole.
func (e *exporter) fill(ctx context.Context, h *handle) error {
	e.source.notes.report = func(rows int64) {
		h.progress(ctx, api.Progress{Phase: "Ordering rows", Done: rows, Unit: "rows"})
	}
	for n := 0; e.buf.Len() < exportPart && !e.done; n++ {
		row, err, ok := e.next()
		if err != nil {
			return err
		}
		if !ok {
			e.done = true
			return e.file.writer.Close()
		}
		if err := e.file.write(row); err != nil {
			return err
		}
		e.rows++
		if n%64 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			h.progress(ctx, api.Progress{Phase: "Writing rows", Done: e.rows, Unit: "rows"})
		}
	}
	return nil
}

// stop ends the export.
func (e *exporter) stop() {
	e.cancel()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.end()
}

// end frees what the export holds; the lock is held.
func (e *exporter) end() {
	if e.ended {
		return
	}
	e.ended = true
	e.cancel()
	e.stopIt()
	e.file, e.buf = nil, bytes.Buffer{}
}

// export returns an open export, nil when there is none of this id.
func (h *handle) export(id string) *exporter {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.exports {
		if e.id == id {
			return e
		}
	}
	return nil
}

func (h *handle) forget(e *exporter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, o := range h.exports {
		if o == e {
			h.exports = append(h.exports[:i:i], h.exports[i+1:]...)
			return
		}
	}
}

// exportPlan plans the rows of an export.
func (s *Service) exportPlan(ctx context.Context, h *handle, req *api.ExportRequest) (*prepared, error) {
	if req.Flink {
		if req.Where != "" || len(req.Columns) > 0 || len(req.Order) > 0 || req.FileID != "" {
			return nil, invalid("The rows of a read of Flink's are exported as they come: without a condition, columns, an order or a file group.")
		}
		return s.streamPlan(ctx, req.Table, req.Options, req.Partitions, req.Batch, req.Seen)
	}
	if req.Batch || req.Seen != "" {
		return nil, invalid("batch and seen are for reads of Flink's.")
	}
	p, err := s.prepare(ctx, h, readRequest{req.Options, req.Partitions, req.FileID, req.Condition}, false, func(dirs int) {
		h.progress(ctx, api.Progress{Phase: "Listing partitions", Done: int64(dirs), Unit: "directories"})
	})
	if err != nil {
		return nil, err
	}
	p.lookAtFolders(ctx)
	p.order = req.Order
	return p, orderBy(p.Plan, req.Order)
}
