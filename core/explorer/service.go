// Package explorer is the one service of hudiscope: typed requests in, typed answers out
// (package api), over any storage. The command line, the browser engine, the HTTP server and the
// edge worker only carry its requests and answers; every decision about Hudi is made below it.
package explorer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/basefile"
	"hudiscope/core/config"
	"hudiscope/core/corrupt"
	"hudiscope/core/groupreader"
	"hudiscope/core/hfile"
	"hudiscope/core/history"
	"hudiscope/core/metatable"
	"hudiscope/core/query"
	"hudiscope/core/release"
	"hudiscope/core/spill"
	"hudiscope/core/storage"
	"hudiscope/core/storage/trace"
	"hudiscope/core/table"
)

// Resolver opens the place that a location names: a URL, "sample:NAME", "drop:N", a path.
type Resolver func(ctx context.Context, location string) (storage.Source, error)

// Options are the service's budgets; zero fields take the defaults.
type Options struct {
	// Tables is how many opened tables are kept (default 4).
	Tables int
	// PageBytes bounds the rendered row pages kept for scrolling back, per table (default 16 MiB).
	PageBytes int64
	// ORC opens ORC base files. It is a part that a program links or not: without it such files give
	// a Fault of kind "needs part", with Part "orc".
	ORC func(ctx context.Context, obj storage.Object, path string) (groupreader.BaseFile, error)
	// LogBytes bounds the decoded log records of one file slice where there is no Spill (default 512 MiB).
	LogBytes int64
	// MergeBytes is the memory for merging one file slice (default 512 MiB); log records that do not
	// fit go to a store of Spill. The memory is that of one read: every open query has its own.
	MergeBytes int64
	Spill      spill.Open
	// Ahead asks remote storage for what a request will need before it is known that it needs it: fewer
	// round trips, a few requests more. Leave it off where every request counts.
	Ahead bool
	// Next also asks for what is looked at next, when a request was answered; closing the table ends that.
	Next bool
	// Pool is programs beside this one that read slices; without it slices are read side by side by up to Lanes
	// goroutines (default 4, and no more than there are processors; 1: one slice after the other), which share MergeBytes.
	Pool  Pool
	Lanes int
	// DividedBytes is the size of the files of a read from which on that is done (default 1 MiB).
	DividedBytes int64
	// MetadataFrom is the number of directories above which a remote table is listed by its metadata
	// table, where that is up to date (default 32; -1: never).
	MetadataFrom int
	// LocalPaths tells that locations without a scheme are paths of the caller's machine, which code for other
	// engines may name. Where they are names that a server gives its tables, it is false.
	LocalPaths bool
}

// read are the budgets of a read.
func (o Options) read() table.ReadOptions {
	return table.ReadOptions{LogBytes: o.LogBytes, MergeBytes: o.MergeBytes, Spill: o.Spill}
}

// sort are the budgets of ordering rows, which takes half as much as merging, beside it.
func (o Options) sort(progress func(rows int64)) query.SortOptions {
	return query.SortOptions{Bytes: o.MergeBytes / 2, Spill: o.Spill, Progress: progress}
}

func (o Options) withDefaults() Options {
	if o.Tables <= 0 {
		o.Tables = 4
	}
	if o.PageBytes <= 0 {
		o.PageBytes = 16 << 20
	}
	if o.LogBytes <= 0 {
		o.LogBytes = 512 << 20
	}
	if o.MergeBytes <= 0 {
		o.MergeBytes = 512 << 20
	}
	if o.Lanes <= 0 {
		o.Lanes = 4
	}
	if o.DividedBytes <= 0 {
		o.DividedBytes = 1 << 20
	}
	if o.MetadataFrom == 0 {
		o.MetadataFrom = 32
	}
	return o
}

// Service answers requests. It is safe for concurrent use.
type Service struct {
	resolve Resolver
	opts    Options

	mu     sync.Mutex
	tables map[string]*handle
	order  []string // least recently used first

	// network is what was asked of the storages.
	network trace.Log
}

// New makes a service over a resolver.
func New(resolve Resolver, opts Options) *Service {
	return &Service{resolve: resolve, opts: opts.withDefaults(), tables: map[string]*handle{}}
}

// Do runs the request op with JSON arguments and returns its answer, ready for JSON. progress may
// be nil; it is called at most every 100 ms, never concurrently.
func (s *Service) Do(ctx context.Context, op api.Op, args []byte, progress func(api.Progress)) (any, error) {
	if progress != nil {
		ctx = withProgress(ctx, progress)
	}
	ctx = s.traced(ctx, op, args)
	switch op {
	case api.OpOverview:
		return call(ctx, args, s.Overview)
	case api.OpTimeline:
		return call(ctx, args, s.Timeline)
	case api.OpInstant:
		return call(ctx, args, s.Instant)
	case api.OpCommits:
		return call(ctx, args, s.Commits)
	case api.OpPartitions:
		return call(ctx, args, s.Partitions)
	case api.OpFiles:
		return call(ctx, args, s.Files)
	case api.OpSlices:
		return call(ctx, args, s.Slices)
	case api.OpBlocks:
		return call(ctx, args, s.Blocks)
	case api.OpBlock:
		return call(ctx, args, s.Block)
	case api.OpBytes:
		return call(ctx, args, s.Bytes)
	case api.OpRows:
		return call(ctx, args, s.Rows)
	case api.OpPlan:
		return call(ctx, args, s.Plan)
	case api.OpStream:
		return call(ctx, args, s.Stream)
	case api.OpSplits:
		return call(ctx, args, s.Splits)
	case api.OpOperator:
		return call(ctx, args, s.Operator)
	case api.OpRanges:
		return call(ctx, args, s.Ranges)
	case api.OpSchema:
		return call(ctx, args, s.Schema)
	case api.OpConfig:
		return call(ctx, args, s.Config)
	case api.OpMetadata:
		return call(ctx, args, s.Metadata)
	case api.OpRelations:
		return call(ctx, args, s.Relations)
	case api.OpHealth:
		return call(ctx, args, s.Health)
	case api.OpCompare:
		return call(ctx, args, s.Compare)
	case api.OpHousekeeping:
		return call(ctx, args, s.Housekeeping)
	case api.OpHistory:
		return call(ctx, args, s.History)
	case api.OpScan:
		return call(ctx, args, s.Scan)
	case api.OpAnatomy:
		return call(ctx, args, s.Anatomy)
	case api.OpGroup:
		return call(ctx, args, s.Group)
	case api.OpActivity:
		return call(ctx, args, s.Activity)
	case api.OpExport:
		return call(ctx, args, s.Export)
	case api.OpColumnStats:
		return call(ctx, args, s.ColumnStats)
	case api.OpHandoff:
		return call(ctx, args, s.Handoff)
	case api.OpNetwork:
		return call(ctx, args, s.Network)
	case api.OpClose:
		return call(ctx, args, s.Close)
	}
	return nil, &api.Fault{Kind: "invalid request", Message: fmt.Sprintf("There is no request %q.", op), Offset: -1}
}

func call[R, A any](ctx context.Context, args []byte, f func(context.Context, R) (A, error)) (any, error) {
	var req R
	if len(args) > 0 {
		if err := json.Unmarshal(args, &req); err != nil {
			return nil, &api.Fault{Kind: "invalid request", Message: "The request's arguments are not what it takes: " + err.Error() + ".", Offset: -1}
		}
	}
	a, err := f(ctx, req)
	if err != nil {
		return nil, err
	}
	return a, nil
}

// ToFault turns any error of the service into the form that transports carry.
func ToFault(err error) *api.Fault {
	if err == nil {
		return nil
	}
	var fault *api.Fault
	if errors.As(err, &fault) {
		return fault
	}
	if errors.Is(err, context.Canceled) {
		return &api.Fault{Kind: "cancelled", Message: "The request was cancelled.", Offset: -1}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &api.Fault{Kind: "cancelled", Message: "The request took too long and was stopped.", Offset: -1}
	}
	var nt *config.NotATable
	if errors.As(err, &nt) {
		return &api.Fault{Kind: "not a table", Message: nt.Error(), Try: nt.Try, Offset: -1}
	}
	var ve *config.VersionError
	if errors.As(err, &ve) {
		return &api.Fault{Kind: "unsupported", Message: ve.Error(), Offset: -1}
	}
	var sm *table.SourceMissing
	if errors.As(err, &sm) {
		return &api.Fault{Kind: "bootstrap source", Message: sentence(sm.Error()), File: sm.File, Offset: -1, Part: table.BootstrapBaseOption, Try: sm.Try()}
	}
	// It holds the storage's fault: that nothing is there is no failure of the storage.
	var ma *metatable.Absent
	if errors.As(err, &ma) {
		return &api.Fault{Kind: "not found", Message: sentence(ma.Error()), Offset: -1, Try: "The files of the table can be listed from the storage."}
	}
	var sf *storage.Fault
	if errors.As(err, &sf) {
		f := &api.Fault{Kind: string(sf.Kind), Message: sentence(sf.Error()), File: sf.Path, Offset: -1, Try: sf.Try}
		return f
	}
	var bu *basefile.Unsupported
	if errors.As(err, &bu) {
		return &api.Fault{Kind: "unsupported", Message: sentence(bu.Error()), File: bu.File, Offset: -1}
	}
	var hu *hfile.Unsupported
	if errors.As(err, &hu) {
		return &api.Fault{Kind: "unsupported", Message: sentence(hu.Error()), File: hu.File, Offset: hu.Offset}
	}
	if errors.Is(err, metatable.ErrLogBytes) {
		return &api.Fault{Kind: "limit", Message: sentence(err.Error()), Offset: -1, Try: "Look keys up, or ask for a prefix of them."}
	}
	var gu *groupreader.Unsupported
	if errors.As(err, &gu) {
		return &api.Fault{Kind: "unsupported", Message: sentence(gu.Error()), File: gu.File, Offset: gu.Offset, Try: gu.Try}
	}
	var np *groupreader.NeedsPart
	if errors.As(err, &np) {
		return &api.Fault{Kind: "needs part", Message: sentence(np.Error()), File: np.File, Offset: -1, Part: np.Part,
			Try: "The command line and the page have this part."}
	}
	if errors.Is(err, groupreader.ErrLogBytes) {
		return &api.Fault{Kind: "limit", Message: sentence(err.Error()), Offset: -1, Try: "Read one file group at a time, or the read-optimized rows."}
	}
	var tm *query.TooManyRows
	if errors.As(err, &tm) {
		return &api.Fault{Kind: "limit", Message: sentence(tm.Error()), Offset: -1, Part: "order", Try: "Order fewer rows or columns: add a condition, choose columns, or read one partition."}
	}
	var sp *spill.Fault
	if errors.As(err, &sp) {
		f := &api.Fault{Kind: "failed", Message: sentence(err.Error()), Offset: -1, Try: sp.Try}
		if sp.Full || sp.Op == "open" {
			f.Kind = "limit"
		}
		return f
	}
	var mu *table.MergeUnsupported
	if errors.As(err, &mu) {
		return &api.Fault{Kind: "unsupported", Message: sentence(mu.Error()), Offset: -1, Try: mu.Try()}
	}
	var re *release.UnknownError
	if errors.As(err, &re) {
		return &api.Fault{Kind: "invalid request", Message: sentence(re.Error()), Offset: -1, Part: "hudi"}
	}
	var qr *query.Refused
	if errors.As(err, &qr) {
		return &api.Fault{Kind: "invalid request", Message: sentence(qr.Error()), Offset: -1, Try: qr.Try}
	}
	var oe *table.OptionError
	if errors.As(err, &oe) {
		return &api.Fault{Kind: "unsupported", Message: sentence(oe.Error()), Offset: -1, Part: oe.Key}
	}
	var nk *history.NoKey
	if errors.As(err, &nk) {
		return &api.Fault{Kind: "unsupported", Message: sentence(nk.Error()), Offset: -1}
	}
	var ce *corrupt.Error
	if errors.As(err, &ce) {
		return &api.Fault{Kind: "corrupt", Message: sentence(ce.Error()), File: ce.File, Offset: ce.Offset, Part: ce.Part, Try: ce.Try}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return &api.Fault{Kind: "corrupt", Message: sentence("the file ends too early: " + err.Error()), Offset: -1, Try: "The file was cut, or changed while it was read; reload the table."}
	}
	return &api.Fault{Kind: "internal", Message: sentence(err.Error()), Offset: -1}
}

// sentence makes text a sentence: a capital first letter and a full stop.
func sentence(s string) string {
	if s == "" {
		return s
	}
	// A path or a property at the beginning is a name, not a word.
	word, _, _ := strings.Cut(s, " ")
	if c := s[0]; c >= 'a' && c <= 'z' && !strings.ContainsAny(word, "/._=-") {
		s = string(c-32) + s[1:]
	}
	if c := s[len(s)-1]; c != '.' && c != '!' && c != '?' {
		s += "."
	}
	return s
}

func unsupported(message, try string) error {
	return &api.Fault{Kind: "unsupported", Message: message, Try: try, Offset: -1}
}

func invalid(format string, args ...any) error {
	return &api.Fault{Kind: "invalid request", Message: fmt.Sprintf(format, args...), Offset: -1}
}

// progressKey carries the reporter through contexts.
type progressKey struct{}

type reporter struct {
	mu   sync.Mutex
	last time.Time
	send func(api.Progress)
}

func withProgress(ctx context.Context, send func(api.Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, &reporter{send: send})
}

// report sends progress, unless the last one was less than 100 ms ago.
func report(ctx context.Context, p api.Progress) {
	r, _ := ctx.Value(progressKey{}).(*reporter)
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); now.Sub(r.last) >= 100*time.Millisecond {
		r.last = now
		r.send(p)
	}
}
