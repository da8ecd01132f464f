package explorer

import (
	"context"
	"errors"
	"strings"
	"sync"

	"hudiscope/core/api"
	"hudiscope/core/config"
	"hudiscope/core/logfile"
	"hudiscope/core/storage"
	"hudiscope/core/storage/ahead"
	"hudiscope/core/storage/cache"
	"hudiscope/core/storage/trace"
	"hudiscope/core/table"
)

// handle is an opened location: a table, or a single log file.
type handle struct {
	key      string
	location string
	hudi     string
	src      storage.Source
	network  *trace.Log
	// single is the name of the file when the location is one log file without its table.
	single string
	// table is nil for a single file. fault is set, beside table, when the version is not known.
	table *table.Table
	fault *config.VersionError

	mu      sync.Mutex
	cursors map[string]*cursor
	// exports are open exports in parts, oldest first.
	exports []*exporter
	// relations are the links between instants that were asked for last.
	relations []api.Relation

	metadata metadata
	starts   blockStarts

	// life ends when the handle is closed; requests for what may be looked at next end with it.
	life     context.Context
	end      context.CancelFunc
	lookNext [2]sync.Once // after the timeline, after the files
}

// progress reports a phase together with what was asked of the storage so far.
func (h *handle) progress(ctx context.Context, p api.Progress) {
	if s, ok := h.src.(interface{ Stats() cache.Stats }); ok {
		st := s.Stats()
		p.Requests, p.Bytes = st.Requests, st.Bytes
	}
	report(ctx, p)
}

// open returns the handle of a location, opening it when it is not open yet. With unknown versions
// the handle comes with fault set; ready refuses those.
func (s *Service) open(ctx context.Context, t api.Table) (*handle, error) {
	if t.Location == "" {
		return nil, invalid("The request names no table.")
	}
	key := t.Location + "\x00" + t.Hudi
	s.mu.Lock()
	h := s.tables[key]
	if h != nil {
		s.touch(key)
	}
	s.mu.Unlock()
	if h != nil {
		return h, nil
	}
	report(ctx, api.Progress{Phase: "Reading hoodie.properties"})
	src, err := s.resolve(ctx, t.Location)
	if err != nil {
		return nil, err
	}
	h = &handle{key: key, location: t.Location, hudi: t.Hudi, src: src, network: &s.network, cursors: map[string]*cursor{}}
	h.life, h.end = context.WithCancel(context.WithoutCancel(ctx))
	var early *ahead.Reader
	if s.opts.Ahead {
		early = ahead.Of(src)
		// The timeline's folder depends on what the properties say; one of these is it. They outlive this
		// request if it succeeds, for the next one needs them.
		early.List(h.life, config.MetaDir+"/timeline", config.MetaDir, "")
	}
	h.table, err = table.Open(ctx, src, t.Hudi)
	if h.table != nil {
		h.table.Ahead, h.table.MetadataFrom = early, s.opts.MetadataFrom
		h.table.Parts = table.Parts{ORC: s.opts.ORC, Resolve: s.resolve}
	}
	var ve *config.VersionError
	var nt *config.NotATable
	switch {
	case errors.As(err, &ve) && h.table != nil:
		h.fault = ve
	case errors.As(err, &nt):
		h.table = nil
		if h.single, err = singleLog(ctx, src, nt); err != nil {
			h.end()
			return nil, err
		}
	case err != nil:
		h.end()
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.tables[key]; old != nil {
		h.end()
		return old, nil
	}
	s.tables[key] = h
	s.order = append(s.order, key)
	for len(s.order) > s.opts.Tables {
		s.drop(s.order[0])
	}
	return h, nil
}

// touch marks a key as used last; the lock is held.
func (s *Service) touch(key string) {
	for i, k := range s.order {
		if k == key {
			s.order = append(append(s.order[:i:i], s.order[i+1:]...), key)
			return
		}
	}
}

// drop forgets a handle; the lock is held.
func (s *Service) drop(key string) {
	h := s.tables[key]
	delete(s.tables, key)
	for i, k := range s.order {
		if k == key {
			s.order = append(s.order[:i:i], s.order[i+1:]...)
			break
		}
	}
	if h != nil {
		h.close()
	}
}

// What is looked at next after an answer.
const (
	afterTimeline = iota
	afterFiles
)

// next calls ask, once for a table, which asks ahead for what may be looked at after an answer.
func (s *Service) next(h *handle, after int, ask func(ctx context.Context)) {
	if s.opts.Next {
		h.lookNext[after].Do(func() { ask(h.life) })
	}
}

func (h *handle) close() {
	h.end()
	h.mu.Lock()
	defer h.mu.Unlock()
	for k, c := range h.cursors {
		c.stop()
		delete(h.cursors, k)
	}
	for _, e := range h.exports {
		// An export's part that is being written may be waiting for this lock.
		e.cancel()
		go e.stop()
	}
	h.exports = nil
}

// ready is open, for requests that need a table that can be read.
func (s *Service) ready(ctx context.Context, t api.Table) (*handle, error) {
	h, err := s.open(ctx, t)
	if err != nil {
		return nil, err
	}
	if h.table == nil {
		return nil, unsupported("This is a single log file without its table: it has blocks, but no timeline, no file groups and no merged rows.", "Open the table's directory to see those.")
	}
	if h.fault != nil {
		return nil, h.fault
	}
	return h, nil
}

// singleLog returns the name of the one log file that a place without a table holds, or notTable.
func singleLog(ctx context.Context, src storage.Source, notTable error) (name string, err error) {
	l, err := src.List(ctx, "")
	if err != nil || len(l.Entries) != 1 || l.Entries[0].Dir {
		return "", notTable
	}
	name = l.Entries[0].Name
	if _, isLog := logfile.ParseName(name); isLog {
		return name, nil
	}
	kind := "it has not the name of a log file"
	switch {
	case strings.HasSuffix(name, ".parquet"):
		kind = "it is a Parquet file by its name"
	case strings.HasSuffix(name, ".hfile"):
		kind = "it is an HFile by its name"
	}
	return "", &api.Fault{Kind: "not a table", Message: "There is only the file " + name + ", and " + kind + ".", File: name, Offset: -1,
		Try: "Open a table's directory or .zip, or a log file whose name is like .FILEID_INSTANT.log.1_0-1-0."}
}

// Close drops what is held for a table: the next request opens it afresh.
func (s *Service) Close(_ context.Context, req api.CloseRequest) (*api.CloseAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range append([]string(nil), s.order...) {
		if h := s.tables[k]; h != nil && h.location == req.Location {
			if f, ok := h.src.(interface{ Forget() }); ok {
				f.Forget()
			}
			s.drop(k)
		}
	}
	return &api.CloseAnswer{}, nil
}
