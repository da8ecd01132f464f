// Package httpapi carries the explorer service over HTTP. It holds no Hudi logic:
// it turns requests into the service's arguments and answers into JSON.
//
//	GET  /api/                        the requests and their parameters
//	GET  /api/OP?table=…&NAME=VALUE   query parameters are the fields of the request
//	POST /api/OP                      the request as JSON (Content-Type: application/json)
//	GET  /api/export?table=…&format=F a file with the rows: jsonl, csv or parquet
//
// A file is whole only if the response ends as HTTP says: when the rows fail on the way, the
// connection is broken off in the middle of a chunk.
//
// A list repeats its parameter (partitions=a&partitions=b); an entry of options is
// opt.KEY=VALUE (opt.as.of.instant=20260101000000000). The answer is the JSON of the
// operation's answer type in core/api, or {"fault": …} with a fitting status.
//
// With "Accept: application/x-ndjson" the answer is a stream of lines: any number of
// {"progress": …}, then one {"answer": …} or {"fault": …}; its status is 200 once a
// line was sent.
//
// Which tables may be opened is the caller's rule (Options.Allow): a handler without
// one opens none, so that it is never an open proxy.
package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hudiscope/core/api"
)

// Doer carries out requests; explorer.Service is one. args is the JSON of the
// operation's request type. progress may be called from other goroutines, but not
// after Do has returned.
type Doer interface {
	Do(ctx context.Context, op api.Op, args []byte, progress func(api.Progress)) (any, error)
}

// Exporter writes all rows of an export as one stream; explorer.Service is one. begin is called at most
// once, after everything that can be refused was, with a name for the file and its media type; what it
// returns is written to. What was written is whole only if the error is nil. A service that is none
// answers no exports.
type Exporter interface {
	ExportTo(ctx context.Context, req api.ExportRequest, begin func(name, mediaType string) io.Writer) (*api.ExportChunk, error)
}

// Options of a handler.
type Options struct {
	// Allow says whether a table's location may be opened and returns the location that
	// the service is asked for. Its error is told to the client: an *api.Fault as it is,
	// any other as "forbidden". nil allows nothing.
	Allow func(ctx context.Context, location string) (string, error)
	// Fault turns an error of the service into a fault. nil knows *api.Fault and the
	// errors of contexts, and calls everything else internal.
	Fault func(error) *api.Fault
	// Origins are the web origins ("https://example.org") that may read answers
	// cross-origin; "*" is any. Empty: same-origin only.
	Origins []string
	// MaxBody bounds the body of a POST in bytes; 0 means 1 MiB.
	MaxBody int64
}

// requests are the operations offered over HTTP with their request types. "close"
// is not: what is held for a table is shared by all clients. "network" is not: it tells the addresses
// of the storage behind the server.
var requests = map[api.Op]reflect.Type{
	api.OpOverview:     reflect.TypeFor[api.OverviewRequest](),
	api.OpTimeline:     reflect.TypeFor[api.TimelineRequest](),
	api.OpInstant:      reflect.TypeFor[api.InstantRequest](),
	api.OpCommits:      reflect.TypeFor[api.CommitsRequest](),
	api.OpPartitions:   reflect.TypeFor[api.PartitionsRequest](),
	api.OpFiles:        reflect.TypeFor[api.FilesRequest](),
	api.OpSlices:       reflect.TypeFor[api.SlicesRequest](),
	api.OpBlocks:       reflect.TypeFor[api.BlocksRequest](),
	api.OpBlock:        reflect.TypeFor[api.BlockRequest](),
	api.OpBytes:        reflect.TypeFor[api.BytesRequest](),
	api.OpRows:         reflect.TypeFor[api.RowsRequest](),
	api.OpHistory:      reflect.TypeFor[api.HistoryRequest](),
	api.OpAnatomy:      reflect.TypeFor[api.AnatomyRequest](),
	api.OpActivity:     reflect.TypeFor[api.ActivityRequest](),
	api.OpGroup:        reflect.TypeFor[api.GroupRequest](),
	api.OpScan:         reflect.TypeFor[api.ScanRequest](),
	api.OpPlan:         reflect.TypeFor[api.PlanRequest](),
	api.OpStream:       reflect.TypeFor[api.StreamRequest](),
	api.OpSplits:       reflect.TypeFor[api.SplitsRequest](),
	api.OpOperator:     reflect.TypeFor[api.OperatorRequest](),
	api.OpRanges:       reflect.TypeFor[api.RangesRequest](),
	api.OpSchema:       reflect.TypeFor[api.SchemaRequest](),
	api.OpConfig:       reflect.TypeFor[api.ConfigRequest](),
	api.OpMetadata:     reflect.TypeFor[api.MetadataRequest](),
	api.OpRelations:    reflect.TypeFor[api.RelationsRequest](),
	api.OpHealth:       reflect.TypeFor[api.HealthRequest](),
	api.OpCompare:      reflect.TypeFor[api.CompareRequest](),
	api.OpHousekeeping: reflect.TypeFor[api.HousekeepingRequest](),
	api.OpHandoff:      reflect.TypeFor[api.HandoffRequest](),
	api.OpExport:       reflect.TypeFor[api.ExportRequest](),
	api.OpColumnStats:  reflect.TypeFor[api.ColumnStatsRequest](),
}

// New returns a handler of /api/OP for a service.
func New(service Doer, o Options) http.Handler {
	if o.Allow == nil {
		o.Allow = func(context.Context, string) (string, error) {
			return "", &api.Fault{Kind: "forbidden", Offset: -1, Message: "This server opens no tables."}
		}
	}
	if o.Fault == nil {
		o.Fault = plainFault
	}
	o.MaxBody = cmp.Or(o.MaxBody, 1<<20)
	return &handler{service, o}
}

type handler struct {
	service Doer
	o       Options
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	if len(h.o.Origins) > 0 {
		head.Add("Vary", "Origin")
		if o := r.Header.Get("Origin"); o != "" && (slices.Contains(h.o.Origins, "*") || slices.Contains(h.o.Origins, o)) {
			head.Set("Access-Control-Allow-Origin", o)
			if r.Method == http.MethodOptions {
				head.Set("Access-Control-Allow-Methods", "GET, HEAD, POST")
				head.Set("Access-Control-Allow-Headers", "Content-Type, Accept")
				head.Set("Access-Control-Max-Age", "600")
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
	}
	name, ok := strings.CutPrefix(r.URL.Path, "/api/")
	if !ok {
		h.fail(w, r, http.StatusNotFound, &api.Fault{Kind: "not found", Offset: -1,
			Message: fmt.Sprintf("There is nothing at %s.", r.URL.Path), Try: "The requests are listed at /api/."})
		return
	}
	if !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodPost}, r.Method) || (name == "" && r.Method == http.MethodPost) {
		head.Set("Allow", "GET, HEAD, POST")
		h.fail(w, r, http.StatusMethodNotAllowed, &api.Fault{Kind: "invalid request", Offset: -1,
			Message: fmt.Sprintf("The method %s is not answered here.", r.Method), Try: "Use GET with query parameters, or POST with JSON."})
		return
	}
	if name == "" {
		h.answer(w, http.StatusOK, catalogue())
		return
	}
	op := api.Op(name)
	typ, ok := requests[op]
	if !ok {
		h.fail(w, r, http.StatusNotFound, &api.Fault{Kind: "invalid request", Offset: -1,
			Message: fmt.Sprintf("There is no request %q.", name), Try: "The requests are listed at /api/."})
		return
	}
	req := reflect.New(typ)
	var err error
	if r.Method == http.MethodPost {
		err = fromBody(w, r, req.Interface(), h.o.MaxBody)
	} else {
		err = fromQuery(r.URL.RawQuery, req.Elem())
	}
	if err == nil {
		err = h.place(r.Context(), req.Elem().FieldByName("Table").Addr().Interface().(*api.Table))
	}
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	if x, ok := req.Interface().(*api.ExportRequest); ok {
		h.export(w, r, x)
		return
	}
	args, err := json.Marshal(req.Interface())
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	if wantsStream(r) {
		h.stream(w, r, op, args)
		return
	}
	got, err := h.service.Do(r.Context(), op, args, func(api.Progress) {})
	if err != nil {
		h.failWith(w, r, h.o.Fault(err))
		return
	}
	h.answer(w, http.StatusOK, got)
}

// place asks the caller's rule for the table.
func (h *handler) place(ctx context.Context, t *api.Table) error {
	if t.Location == "" {
		return invalid("table", "is missing", "Say which table is meant: table=LOCATION.")
	}
	loc, err := h.o.Allow(ctx, t.Location)
	if err != nil {
		var f *api.Fault
		if errors.As(err, &f) {
			return f
		}
		return &api.Fault{Kind: "forbidden", Offset: -1, Message: fmt.Sprintf("The table %q may not be opened here: %v.", t.Location, err)}
	}
	t.Location = loc
	return nil
}

// export answers with a file, in one stream. Once it has begun, a failure can't be told any more by a
// status: the connection is broken off, so that no client takes what it has for a whole file.
func (h *handler) export(w http.ResponseWriter, r *http.Request, req *api.ExportRequest) {
	x, ok := h.service.(Exporter)
	switch {
	case !ok:
		h.failWith(w, r, &api.Fault{Kind: "unsupported", Offset: -1, Message: "This server exports no files.", Try: "Ask for pages of rows, or export with the command line or the page."})
		return
	case r.Method == http.MethodHead:
		w.Header().Set("Allow", "GET, POST")
		h.fail(w, r, http.StatusMethodNotAllowed, &api.Fault{Kind: "invalid request", Offset: -1, Message: "The size of an export is not known before it is made.", Try: "Use GET."})
		return
	case req.Part != 0 || req.ID != "":
		h.failWith(w, r, invalid("part", "and id are not for exports over HTTP", "An export is answered whole."))
		return
	}
	begun := false
	_, err := x.ExportTo(r.Context(), *req, func(name, mediaType string) io.Writer {
		begun = true
		head := w.Header()
		head.Set("Content-Type", mediaType)
		head.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
		w.WriteHeader(http.StatusOK)
		return w
	})
	switch {
	case err == nil:
	case begun:
		panic(http.ErrAbortHandler)
	default:
		h.failWith(w, r, h.o.Fault(err))
	}
}

// stream answers in lines.
func (h *handler) stream(w http.ResponseWriter, r *http.Request, op api.Op, args []byte) {
	w.Header().Set("Content-Type", "application/x-ndjson; charset=utf-8")
	var (
		mu   sync.Mutex
		done bool
	)
	rc := http.NewResponseController(w)
	send := func(last bool, line map[string]any) {
		b, err := json.Marshal(line)
		if err != nil {
			b, _ = json.Marshal(map[string]any{"fault": unencodable(err)})
		}
		mu.Lock()
		defer mu.Unlock()
		if done {
			return
		}
		done = last
		if _, err := w.Write(append(b, '\n')); err == nil {
			_ = rc.Flush() // a transport that can't flush still delivers at the end
		}
	}
	got, err := h.service.Do(r.Context(), op, args, func(p api.Progress) { send(false, map[string]any{"progress": p}) })
	if err != nil {
		send(true, map[string]any{"fault": h.o.Fault(err)})
		return
	}
	send(true, map[string]any{"answer": got})
}

func wantsStream(r *http.Request) bool {
	for v := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		if t, _, err := mime.ParseMediaType(v); err == nil && t == "application/x-ndjson" {
			return true
		}
	}
	return false
}

func (h *handler) answer(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status = http.StatusInternalServerError
		b, _ = json.Marshal(map[string]any{"fault": unencodable(err)})
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)+1))
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // the client is gone
}

func unencodable(err error) *api.Fault {
	return &api.Fault{Kind: "internal", Offset: -1, Message: fmt.Sprintf("The answer can't be written as JSON: %v.", err)}
}

func (h *handler) failWith(w http.ResponseWriter, r *http.Request, err error) {
	var f *api.Fault
	if !errors.As(err, &f) || f == nil {
		f = plainFault(err)
	}
	h.fail(w, r, Status(f.Kind), f)
}

func (h *handler) fail(w http.ResponseWriter, _ *http.Request, status int, f *api.Fault) {
	h.answer(w, status, map[string]*api.Fault{"fault": f})
}

// Status is the HTTP status of a kind of fault.
func Status(kind string) int {
	switch kind {
	case "invalid request":
		return http.StatusBadRequest
	case "forbidden", "refused", "expired":
		return http.StatusForbidden
	case "not found":
		return http.StatusNotFound
	case "changed":
		return http.StatusConflict
	case "limit":
		return http.StatusRequestEntityTooLarge
	case "not a table", "empty", "corrupt":
		return http.StatusUnprocessableEntity
	case "unsupported":
		return http.StatusNotImplemented
	case "unreachable", "no range", "no listing", "truncated":
		return http.StatusBadGateway
	case "cancelled":
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

func plainFault(err error) *api.Fault {
	var f *api.Fault
	switch {
	case errors.As(err, &f) && f != nil:
		return f
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &api.Fault{Kind: "cancelled", Offset: -1, Message: "The request was cancelled."}
	}
	return &api.Fault{Kind: "internal", Offset: -1, Message: err.Error()}
}

// invalid is the fault of a wrong parameter.
func invalid(param, what, try string) *api.Fault {
	return &api.Fault{Kind: "invalid request", Offset: -1, Part: param, Message: fmt.Sprintf("The parameter %s %s.", param, what), Try: try}
}

func fromBody(w http.ResponseWriter, r *http.Request, req any, limit int64) error {
	// A form of another site can't send this type, so it can't ask in a user's name.
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return &api.Fault{Kind: "invalid request", Offset: -1, Part: "Content-Type", Message: "The body of a POST is JSON.", Try: "Send Content-Type: application/json."}
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var big *http.MaxBytesError
	if errors.As(err, &big) {
		return &api.Fault{Kind: "limit", Offset: -1, Message: fmt.Sprintf("The body is longer than %d bytes.", limit)}
	}
	if err != nil {
		return &api.Fault{Kind: "invalid request", Offset: -1, Message: fmt.Sprintf("The body can't be read: %v.", err)}
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	at := int64(-1)
	if err = d.Decode(req); err == nil {
		at = d.InputOffset()
		for at < int64(len(b)) && strings.IndexByte(" \t\r\n", b[at]) >= 0 {
			at++
		}
		if at == int64(len(b)) {
			return nil
		}
		err = errors.New("there is more after the JSON value")
	}
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = max(syntax.Offset-1, 0) // the bytes read, the offending one included
	case errors.As(err, &typed):
		at = max(typed.Offset-1, 0) // the last byte of the value
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		at = int64(len(b)) // it ends too early
	}
	return &api.Fault{Kind: "invalid request", Offset: at, Part: "body", Message: fmt.Sprintf("The body is not the JSON of this request: %v.", err)}
}

// optPrefix begins the parameters that are entries of a map.
const optPrefix = "opt."

// fromQuery fills the fields of a request from query parameters. Every parameter
// must name a field: a misspelt one is an error, not a silent default.
func fromQuery(raw string, req reflect.Value) error {
	q, err := url.ParseQuery(raw)
	if err != nil {
		return &api.Fault{Kind: "invalid request", Offset: -1, Message: fmt.Sprintf("The query can't be read: %v.", err)}
	}
	byName := fields(req)
	for _, name := range sorted(q) {
		values := q[name]
		if key, ok := strings.CutPrefix(name, optPrefix); ok {
			f, ok := byName["options"]
			if !ok {
				return invalid(name, "is not known here: this request has no options", "")
			}
			if len(values) != 1 {
				return invalid(name, "is given more than once", "")
			}
			if f.IsNil() {
				f.Set(reflect.MakeMap(f.Type()))
			}
			f.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(values[0]))
			continue
		}
		f, ok := byName[name]
		if !ok || f.Kind() == reflect.Map {
			return invalid(name, "is not known here", "This request knows: "+strings.Join(params(req.Type()), ", ")+".")
		}
		if list, ok := f.Addr().Interface().(*[]string); ok {
			*list = values
			continue
		}
		if len(values) != 1 {
			return invalid(name, "is given more than once", "")
		}
		if err := setScalar(f, name, values[0]); err != nil {
			return err
		}
	}
	return nil
}

func setScalar(f reflect.Value, name, v string) error {
	switch f.Kind() {
	case reflect.String:
		f.SetString(v)
	case reflect.Bool:
		b, err := strconv.ParseBool(v)
		if err != nil {
			return invalid(name, fmt.Sprintf("is %q", v), "Give true or false.")
		}
		f.SetBool(b)
	case reflect.Int, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(v, 10, f.Type().Bits())
		if err != nil {
			return invalid(name, fmt.Sprintf("is %q", v), "Give a whole number.")
		}
		f.SetInt(n)
	default:
		return invalid(name, "can't be given in a query", "Use POST with JSON.")
	}
	return nil
}

// fields are the fields of a struct by their JSON names, those of embedded structs included.
func fields(v reflect.Value) map[string]reflect.Value {
	out := map[string]reflect.Value{}
	for _, sf := range reflect.VisibleFields(v.Type()) {
		if name := jsonName(sf); name != "" {
			out[name] = v.FieldByIndex(sf.Index)
		}
	}
	return out
}

func jsonName(sf reflect.StructField) string {
	name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
	if sf.Anonymous || name == "-" || !sf.IsExported() {
		return ""
	}
	return cmp.Or(name, sf.Name)
}

// params are the query parameters of a request type.
func params(t reflect.Type) []string {
	var out []string
	for _, sf := range reflect.VisibleFields(t) {
		switch name := jsonName(sf); {
		case name == "":
		case sf.Type.Kind() == reflect.Map:
			out = append(out, optPrefix+"KEY")
		default:
			out = append(out, name)
		}
	}
	return out
}

// catalogue is the answer of /api/.
func catalogue() any {
	type entry struct {
		Op         api.Op   `json:"op"`
		Parameters []string `json:"parameters"`
	}
	var out []entry
	for _, op := range sorted(requests) {
		out = append(out, entry{op, params(requests[op])})
	}
	return map[string]any{"requests": out}
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K {
	out := make([]K, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// Failing returns a handler that answers everything with one fault.
func Failing(status int, f *api.Fault) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		(&handler{}).fail(w, r, status, f)
	})
}
