package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
)

// reader is a service over one real table: it reads bytes of its files, and echoes
// the arguments of requests for rows, so that tests see what a query became.
type reader struct {
	src storage.Source
}

func (s reader) Do(ctx context.Context, op api.Op, args []byte, progress func(api.Progress)) (any, error) {
	switch op {
	case api.OpRows:
		return json.RawMessage(args), nil
	case api.OpBytes:
	default:
		return nil, fmt.Errorf("the test service does not do %s", op)
	}
	var req api.BytesRequest
	if err := json.Unmarshal(args, &req); err != nil {
		return nil, err
	}
	o, err := s.src.Open(ctx, req.File)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	size, err := o.Size(ctx)
	if err != nil {
		return nil, err
	}
	progress(api.Progress{Phase: "Reading", Unit: "bytes", Total: size})
	p := make([]byte, req.Length)
	if err := storage.ReadFull(ctx, o, p, req.Offset); err != nil {
		return nil, err
	}
	progress(api.Progress{Phase: "Reading", Unit: "bytes", Done: int64(len(p)), Total: size})
	return api.Bytes{Offset: req.Offset, Size: size, Data: p}, nil
}

func start(t *testing.T, o Options) *httptest.Server {
	t.Helper()
	if o.Allow == nil {
		o.Allow = func(_ context.Context, loc string) (string, error) {
			if loc != "trips" {
				return "", errors.New("only trips is offered")
			}
			return "real:trips", nil
		}
	}
	if o.Fault == nil {
		o.Fault = func(err error) *api.Fault {
			if storage.IsNotExist(err) {
				return &api.Fault{Kind: "not found", Offset: -1, Message: err.Error()}
			}
			return plainFault(err)
		}
	}
	s := httptest.NewServer(New(reader{tabletest.Open(t, "mor_trips_h120")}, o))
	t.Cleanup(s.Close)
	return s
}

// call returns status, header and body.
func call(t *testing.T, method, url, body string, header ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(b)
}

func TestQueryBecomesRequest(t *testing.T) {
	s := start(t, Options{})
	for query, want := range map[string]string{
		"table=trips": `{"table":"real:trips"}`,
		"table=trips&hudi=0.15.0&offset=200&limit=50&file_id=f-0":                      `{"table":"real:trips","hudi":"0.15.0","file_id":"f-0","offset":200,"limit":50}`,
		"table=trips&partitions=city%3Dsf&partitions=":                                 `{"table":"real:trips","partitions":["city=sf",""]}`,
		"table=trips&opt.as.of.instant=2026&opt.hoodie.datasource.query.type=snapshot": `{"table":"real:trips","options":{"as.of.instant":"2026","hoodie.datasource.query.type":"snapshot"}}`,
	} {
		status, head, body := call(t, "GET", s.URL+"/api/rows?"+query, "")
		if status != 200 || strings.TrimSpace(body) != want {
			t.Errorf("%s\n got %d %s\nwant %s", query, status, body, want)
		}
		if ct := head.Get("Content-Type"); ct != "application/json; charset=utf-8" {
			t.Errorf("Content-Type %q", ct)
		}
	}
	status, _, body := call(t, "POST", s.URL+"/api/rows", `{"table":"trips","limit":3,"options":{"a":"b"}}`, "Content-Type", "application/json; charset=utf-8")
	if status != 200 || strings.TrimSpace(body) != `{"table":"real:trips","options":{"a":"b"},"limit":3}` {
		t.Errorf("POST: %d %s", status, body)
	}
}

func TestRefusals(t *testing.T) {
	s := start(t, Options{MaxBody: 100})
	const js = "application/json"
	for _, c := range []struct {
		name, method, path, body, contentType string
		status                                int
		says                                  string
	}{
		{"no table", "GET", "/api/rows", "", "", 400, "table is missing"},
		{"other table", "GET", "/api/rows?table=http://169.254.169.254/x", "", "", 403, "only trips is offered"},
		{"other table by POST", "POST", "/api/rows", `{"table":"/etc"}`, js, 403, "only trips is offered"},
		{"misspelt parameter", "GET", "/api/rows?table=trips&limt=3", "", "", 400, "opt.KEY"},
		{"twice", "GET", "/api/rows?table=trips&limit=3&limit=4", "", "", 400, "more than once"},
		{"not a number", "GET", "/api/rows?table=trips&limit=x", "", "", 400, "whole number"},
		{"number too large", "GET", "/api/rows?table=trips&limit=99999999999999999999", "", "", 400, "whole number"},
		{"not a boolean", "GET", "/api/timeline?table=trips&archived=maybe", "", "", 400, "true or false"},
		{"option where none are", "GET", "/api/timeline?table=trips&opt.a=b", "", "", 400, "no options"},
		{"map as a scalar", "GET", "/api/rows?table=trips&options=b", "", "", 400, "not known"},
		{"broken query", "GET", "/api/rows?table=%zz", "", "", 400, "query"},
		{"no such request", "GET", "/api/nosuch?table=trips", "", "", 404, "no request"},
		{"close is not offered", "GET", "/api/close?table=trips", "", "", 404, "no request"},
		{"elsewhere", "GET", "/other", "", "", 404, "/api/"},
		{"method", "DELETE", "/api/rows?table=trips", "", "", 405, "DELETE"},
		{"a form", "POST", "/api/rows", "table=trips", "application/x-www-form-urlencoded", 400, "application/json"},
		{"unknown field", "POST", "/api/rows", `{"table":"trips","x":1}`, js, 400, "unknown field"},
		{"two values", "POST", "/api/rows", `{"table":"trips"}{}`, js, 400, "more after"},
		{"long body", "POST", "/api/rows", `{"table":"` + strings.Repeat("x", 200) + `"}`, js, 413, "100 bytes"},
		{"absent file", "GET", "/api/bytes?table=trips&file=nosuch&length=1", "", "", 404, "nosuch"},
		{"service error", "GET", "/api/config?table=trips", "", "", 500, "does not do"},
	} {
		status, _, body := call(t, c.method, s.URL+c.path, c.body, "Content-Type", c.contentType)
		var got struct{ Fault *api.Fault }
		if err := json.Unmarshal([]byte(body), &got); err != nil || got.Fault == nil {
			t.Errorf("%s: not a fault: %v %s", c.name, err, body)
			continue
		}
		if text := got.Fault.Message + got.Fault.Try; status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d %q, want %d and %q", c.name, status, text, c.status, c.says)
		}
	}
}

// TestBodyOffsets: a fault of a body names the byte, or none when it is not known.
func TestBodyOffsets(t *testing.T) {
	s := start(t, Options{MaxBody: 100})
	for body, want := range map[string]int64{
		`{"table":"trips",]`:            17,
		`x`:                             0,
		`{"table":"trips"} x`:           18,
		`{"table":"tri`:                 13,
		``:                              0,
		`{"table":"trips","x":1}`:       -1,
		`{"table":"trips","limit":"a"}`: 27,
	} {
		_, _, answer := call(t, "POST", s.URL+"/api/rows", body, "Content-Type", "application/json")
		var got struct{ Fault *api.Fault }
		if err := json.Unmarshal([]byte(answer), &got); err != nil || got.Fault == nil || got.Fault.Offset != want {
			t.Errorf("%s: %v, want byte %d: %s", body, err, want, answer)
		}
	}
}

func TestNothingIsAllowedByDefault(t *testing.T) {
	s := httptest.NewServer(New(reader{tabletest.Open(t, "mor_trips_h120")}, Options{}))
	defer s.Close()
	if status, _, body := call(t, "GET", s.URL+"/api/bytes?table=trips&file=.hoodie/hoodie.properties&length=1", ""); status != 403 {
		t.Errorf("%d %s", status, body)
	}
}

func TestBytesOfARealTable(t *testing.T) {
	s := start(t, Options{})
	status, _, body := call(t, "GET", s.URL+"/api/bytes?table=trips&file=.hoodie/hoodie.properties&offset=1&length=40", "")
	var got api.Bytes
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 {
		t.Fatalf("%d %v %s", status, err, body)
	}
	want, err := storage.ReadAll(t.Context(), tabletest.Open(t, "mor_trips_h120"), ".hoodie/hoodie.properties", 0)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Data, want[1:41]) || got.Size != int64(len(want)) {
		t.Errorf("got %q of %d", got.Data, got.Size)
	}
}

func TestStream(t *testing.T) {
	s := start(t, Options{})
	read := func(query string) (lines []map[string]json.RawMessage) {
		_, head, body := call(t, "GET", s.URL+query, "", "Accept", "application/x-ndjson, application/json;q=0.5")
		if ct := head.Get("Content-Type"); !strings.HasPrefix(ct, "application/x-ndjson") {
			t.Errorf("Content-Type %q", ct)
		}
		sc := bufio.NewScanner(strings.NewReader(body))
		for sc.Scan() {
			var m map[string]json.RawMessage
			if err := json.Unmarshal(sc.Bytes(), &m); err != nil {
				t.Fatalf("%v in %q", err, sc.Text())
			}
			lines = append(lines, m)
		}
		return lines
	}
	lines := read("/api/bytes?table=trips&file=.hoodie/hoodie.properties&length=10")
	if len(lines) != 3 || lines[0]["progress"] == nil || lines[1]["progress"] == nil || lines[2]["answer"] == nil {
		t.Errorf("lines %v", lines)
	}
	lines = read("/api/bytes?table=trips&file=nosuch&length=10")
	if len(lines) != 1 || lines[0]["fault"] == nil {
		t.Errorf("lines %v", lines)
	}
}

func TestOrigins(t *testing.T) {
	const url = "/api/rows?table=trips"
	closed, open := start(t, Options{}), start(t, Options{Origins: []string{"https://good.example"}})
	for _, c := range []struct {
		base, origin, want string
	}{
		{closed.URL, "https://good.example", ""},
		{open.URL, "https://good.example", "https://good.example"},
		{open.URL, "https://bad.example", ""},
		{open.URL, "", ""},
	} {
		_, head, _ := call(t, "GET", c.base+url, "", "Origin", c.origin)
		if got := head.Get("Access-Control-Allow-Origin"); got != c.want {
			t.Errorf("origin %q: allowed %q, want %q", c.origin, got, c.want)
		}
	}
	if status, head, _ := call(t, "OPTIONS", open.URL+url, "", "Origin", "https://good.example"); status != 204 || head.Get("Access-Control-Allow-Methods") == "" {
		t.Errorf("preflight: %d %v", status, head)
	}
	if status, _, _ := call(t, "OPTIONS", closed.URL+url, "", "Origin", "https://good.example"); status != 405 {
		t.Errorf("preflight without origins: %d", status)
	}
}

// TestCatalogue holds the offered requests against the operations of core/api.
func TestCatalogue(t *testing.T) {
	s := start(t, Options{})
	_, _, body := call(t, "GET", s.URL+"/api/", "")
	var got struct {
		Requests []struct {
			Op         api.Op
			Parameters []string
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if len(offered(t)) != len(got.Requests) {
		t.Errorf("%d requests offered, core/api has %v", len(got.Requests), offered(t))
	}
	for _, op := range offered(t) {
		if _, ok := requests[op]; !ok {
			t.Errorf("%s of core/api is not offered", op)
		}
	}
	if len(got.Requests) != len(requests) {
		t.Errorf("%d requests told, %d offered", len(got.Requests), len(requests))
	}
	for _, r := range got.Requests {
		if len(r.Parameters) < 2 || r.Parameters[0] != "table" {
			t.Errorf("%s: parameters %v", r.Op, r.Parameters)
		}
	}
}

// offered are the operations that core/api declares, without close.
func offered(t *testing.T) (ops []api.Op) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "core", "api", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("core/api: %v", err)
	}
	look := func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		id, ok := v.Type.(*ast.Ident)
		lit, isLit := v.Values[0].(*ast.BasicLit)
		if ok && isLit && id.Name == "Op" {
			if op, err := strconv.Unquote(lit.Value); err == nil && api.Op(op) != api.OpClose && api.Op(op) != api.OpNetwork {
				ops = append(ops, api.Op(op))
			}
		}
		return true
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, look)
	}
	return ops
}

// ExportTo writes as many bytes as the request's limit says, and fails behind them where its offset is 1.
func (s reader) ExportTo(ctx context.Context, req api.ExportRequest, begin func(name, mediaType string) io.Writer) (*api.ExportChunk, error) {
	if req.Format == "nope" {
		return nil, &api.Fault{Kind: "invalid request", Offset: -1, Message: "no such format"}
	}
	w := begin("größe \"x\".csv", "text/csv")
	if _, err := w.Write(bytes.Repeat([]byte("x"), req.Limit)); err != nil {
		return nil, err
	}
	if req.Offset == 1 {
		return nil, errors.New("the rows failed")
	}
	return &api.ExportChunk{Done: true}, nil
}

// TestExport: a file is told from one that was broken off.
func TestExport(t *testing.T) {
	s := start(t, Options{})
	status, head, body := call(t, "GET", s.URL+"/api/export?table=trips&format=csv&limit=300000&opt.a=b", "")
	if status != 200 || len(body) != 300000 || head.Get("Content-Type") != "text/csv" {
		t.Errorf("%d, %d bytes, %v", status, len(body), head)
	}
	if _, params, err := mime.ParseMediaType(head.Get("Content-Disposition")); err != nil || params["filename"] != `größe "x".csv` {
		t.Errorf("%s: %v, %v", head.Get("Content-Disposition"), params, err)
	}
	for _, limit := range []int{0, 10, 300000} {
		res, err := http.Get(fmt.Sprintf("%s/api/export?table=trips&format=csv&offset=1&limit=%d", s.URL, limit))
		if err != nil {
			continue // broken off before the head was sent
		}
		b, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err == nil {
			t.Errorf("limit %d: a broken export of %d bytes passes for a whole one", limit, len(b))
		}
	}
	for query, want := range map[string]int{"GET table=trips&format=nope": 400, "GET table=other&format=csv": 403, "GET table=trips&format=csv&id=x": 400, "HEAD table=trips&format=csv": 405, "GET format=csv": 400} {
		method, q, _ := strings.Cut(query, " ")
		if status, head, _ := call(t, method, s.URL+"/api/export?"+q, ""); status != want || head.Get("Content-Disposition") != "" {
			t.Errorf("%s: %d, want %d", query, status, want)
		}
	}
	// A service that writes no exports.
	plain := httptest.NewServer(New(struct{ Doer }{reader{}}, Options{Allow: func(context.Context, string) (string, error) { return "x", nil }}))
	defer plain.Close()
	if status, _, body := call(t, "GET", plain.URL+"/api/export?table=trips&format=csv", ""); status != 501 || !strings.Contains(body, "exports no files") {
		t.Errorf("%d %s", status, body)
	}
}
