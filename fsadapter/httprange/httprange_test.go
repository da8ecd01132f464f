//go:build !js

package httprange

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/core/storage/storagetest"
)

// site serves files like a well-behaved server; before may answer in its place.
type site struct {
	files  map[string][]byte
	etag   func(path string) string
	hide   bool // dot names in listings
	before func(w http.ResponseWriter, r *http.Request, path string) bool

	mu   sync.Mutex
	seen []*http.Request
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.seen = append(s.seen, r)
	s.mu.Unlock()
	p := strings.TrimPrefix(r.URL.Path, "/")
	p = strings.TrimPrefix(p, "t/")
	if s.before != nil && s.before(w, r, p) {
		return
	}
	if r.Method == "PROPFIND" {
		http.Error(w, "no", http.StatusMethodNotAllowed)
		return
	}
	if strings.HasSuffix(p, "/") || p == "" {
		s.list(w, strings.TrimSuffix(p, "/"))
		return
	}
	b, ok := s.files[p]
	if !ok {
		http.Error(w, "absent", 404)
		return
	}
	if s.etag != nil {
		w.Header().Set("ETag", s.etag(p))
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
}

func (s *site) list(w http.ResponseWriter, dir string) {
	l, err := storagetest.Mem(s.files).List(context.Background(), dir)
	if err != nil {
		http.Error(w, "absent", 404)
		return
	}
	type item struct {
		Name string `json:"name"`
		Type string `json:"type"`
		Size int64  `json:"size"`
	}
	out := []item{}
	for _, e := range l.Entries {
		if s.hide && strings.HasPrefix(e.Name, ".") {
			continue
		}
		it := item{e.Name, "file", e.Size}
		if e.Dir {
			it.Type = "directory"
		}
		out = append(out, it)
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(out)
}

func (s *site) requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

func start(t *testing.T, s *site, o Options) *Source {
	t.Helper()
	srv := httptest.NewServer(s)
	srv.Config.SetKeepAlivesEnabled(false) // idle connections are goroutines
	t.Cleanup(srv.Close)
	if o.Backoff == 0 {
		o.Backoff = time.Millisecond
	}
	src, err := New(srv.URL+"/t/", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.c.o.Fetcher.(*nativeFetcher).CloseIdle() })
	return src
}

func kind(t *testing.T, err error, want storage.FaultKind) *storage.Fault {
	t.Helper()
	var f *storage.Fault
	if !errors.As(err, &f) || f.Kind != want {
		t.Fatalf("got %v, want a fault of kind %q", err, want)
	}
	return f
}

func TestConformance(t *testing.T) {
	files := storagetest.Files()
	t.Run("JSON", func(t *testing.T) {
		storagetest.Run(t, start(t, &site{files: files}, Options{}), files)
	})
	t.Run("GoFileServer", func(t *testing.T) {
		root := t.TempDir()
		for p, b := range files {
			full := filepath.Join(root, filepath.FromSlash(p))
			os.MkdirAll(filepath.Dir(full), 0o755)
			if err := os.WriteFile(full, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		srv := httptest.NewServer(http.FileServer(http.Dir(root)))
		srv.Config.SetKeepAlivesEnabled(false)
		defer srv.Close()
		src, err := New(srv.URL, Options{})
		if err != nil {
			t.Fatal(err)
		}
		storagetest.Run(t, src, files)
		storagetest.Run(t, cache.New(src, cache.Options{}), files)
	})
	t.Run("NoRange", func(t *testing.T) { // as Python's server: no Range, no size, HTML
		s := &site{files: files}
		s.before = func(w http.ResponseWriter, r *http.Request, p string) bool {
			r.Header.Del("Range")
			if !strings.HasSuffix(p, "/") && p != "" {
				return false
			}
			l, err := storagetest.Mem(files).List(r.Context(), strings.TrimSuffix(p, "/"))
			if err != nil {
				return false
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, "<title>Directory listing for x</title><ul>")
			for _, e := range l.Entries {
				n := (&url.URL{Path: "./" + e.Name}).String()
				if e.Dir {
					n += "/"
				}
				fmt.Fprintf(w, "<li><a href=\"%s\">%s</a></li>\n", html.EscapeString(n), html.EscapeString(e.Name))
			}
			fmt.Fprint(w, "</ul>")
			return true
		}
		storagetest.Run(t, start(t, s, Options{}), files)
		storagetest.Run(t, cache.New(start(t, s, Options{}), cache.Options{}), files)
	})
	t.Run("WebDAV", func(t *testing.T) {
		s := &site{files: files}
		s.before = func(w http.ResponseWriter, r *http.Request, p string) bool {
			if !strings.HasSuffix(p, "/") && p != "" {
				return false
			}
			if r.Method == "GET" {
				http.Error(w, "no listing", http.StatusForbidden)
				return true
			}
			if r.Header.Get("Depth") != "1" {
				t.Errorf("PROPFIND with Depth %q", r.Header.Get("Depth"))
			}
			dir := strings.TrimSuffix(p, "/")
			l, err := storagetest.Mem(files).List(r.Context(), dir)
			if err != nil {
				http.Error(w, "absent", 404)
				return true
			}
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(207)
			base := (&url.URL{Path: path.Join("/t", dir)}).EscapedPath() + "/"
			fmt.Fprintf(w, `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:"><d:response><d:href>%s</d:href><d:propstat><d:prop><d:resourcetype><d:collection/></d:resourcetype></d:prop></d:propstat></d:response>`, html.EscapeString(base))
			for _, e := range l.Entries {
				res, n := "<d:resourcetype/>", url.PathEscape(e.Name)
				if e.Dir {
					res, n = "<d:resourcetype><d:collection/></d:resourcetype>", n+"/"
				}
				fmt.Fprintf(w, `<d:response><d:href>%s</d:href><d:propstat><d:prop>%s<d:getcontentlength>%d</d:getcontentlength></d:prop></d:propstat></d:response>`, html.EscapeString(base+n), res, max(e.Size, 0))
			}
			fmt.Fprint(w, `</d:multistatus>`)
			return true
		}
		storagetest.Run(t, start(t, s, Options{}), files)
	})
}

// What goes over the wire: one form of Range, no compression, no conditions, the query
// on every request.
func TestRequests(t *testing.T) {
	s := &site{files: map[string][]byte{".hoodie/a b+c": []byte("0123456789")}, etag: func(string) string { return `W/"x"` }}
	srv := httptest.NewServer(s)
	defer srv.Close()
	src, err := New(strings.Replace(srv.URL, "//", "//user:hush@", 1)+"/t?sig=SECRET%2Fx&se=1#frag", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := srv.URL + "/t"; src.Location() != want {
		t.Errorf("Location %q, want %q", src.Location(), want)
	}
	o, err := src.Open(t.Context(), ".hoodie/a b+c")
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 3)
	if _, err := o.ReadAt(t.Context(), b, 2); err != nil || string(b) != "234" {
		t.Fatal(string(b), err)
	}
	if n, err := o.Size(t.Context()); n != 10 || err != nil {
		t.Fatal(n, err)
	}
	if _, err := src.List(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	reqs := s.requests()
	if len(reqs) != 2 {
		t.Fatalf("%d requests, want 2: the size comes with the first read", len(reqs))
	}
	r := reqs[0]
	if r.RequestURI != "/t/.hoodie/a%20b%2Bc?sig=SECRET%2Fx&se=1" {
		t.Errorf("asked for %s", r.RequestURI)
	}
	if r.Method != "GET" || r.Header.Get("Range") != "bytes=2-4" || r.Header.Get("Accept-Encoding") != "identity" {
		t.Errorf("%s %v", r.Method, r.Header)
	}
	for _, h := range []string{"If-Match", "If-Range", "If-None-Match", "If-Modified-Since"} {
		if r.Header.Get(h) != "" {
			t.Errorf("%s was sent", h)
		}
	}
	if l := reqs[1]; l.Header.Get("Range") != "" || l.Header.Get("Accept") != "application/json, text/html;q=0.9" || l.RequestURI != "/t/?sig=SECRET%2Fx&se=1" {
		t.Errorf("listing: %s %v", l.RequestURI, l.Header)
	}
	// No secret in any error.
	bad, _ := src.Open(t.Context(), "absent")
	_, err = bad.ReadAt(t.Context(), b, 0)
	srv.Close()
	src.c.o.Fetcher.(*nativeFetcher).CloseIdle()
	src.c.o.Attempts = 1
	_, err2 := src.List(t.Context(), "")
	kind(t, err, storage.NotFound)
	kind(t, err2, storage.Unreachable)
	for _, e := range []error{err, err2} {
		var f *storage.Fault
		errors.As(e, &f)
		if s := fmt.Sprintf("%v %+v", e, *f); strings.Contains(s, "SECRET") || strings.Contains(s, "hush") {
			t.Errorf("a secret in %s", s)
		}
		if f.Try == "" {
			t.Errorf("no advice in %v", e)
		}
	}
}

func TestIgnoresRange(t *testing.T) {
	big := bytes.Repeat([]byte("x"), 3000)
	for _, length := range []bool{true, false} {
		s := &site{files: map[string][]byte{"f": []byte("0123456789"), "big": big}}
		s.before = func(w http.ResponseWriter, r *http.Request, p string) bool {
			r.Header.Del("Range")
			if !length {
				w.(http.Flusher).Flush() // chunked: no Content-Length
				w.Write(s.files[p])
				return true
			}
			return false
		}
		src := start(t, s, Options{WholeLimit: 1000})
		o, _ := src.Open(t.Context(), "f")
		for off := range int64(10) {
			b := make([]byte, 2)
			if n, err := o.ReadAt(t.Context(), b, off); n != int(min(2, 10-off)) || err != nil && err != io.EOF || b[0] != byte('0'+off) {
				t.Fatal(off, n, err)
			}
		}
		if n := len(s.requests()); n != 1 {
			t.Errorf("%d requests for a file taken whole", n)
		}
		o, _ = src.Open(t.Context(), "big")
		_, err := o.ReadAt(t.Context(), make([]byte, 5), 0)
		if f := kind(t, err, storage.NoRange); f.Try == "" {
			t.Error("no advice")
		}
	}
}

func TestStatus416(t *testing.T) {
	for _, header := range []string{"bytes */0", ""} {
		s := &site{}
		s.before = func(w http.ResponseWriter, r *http.Request, p string) bool {
			if header != "" {
				w.Header().Set("Content-Range", header)
			}
			w.WriteHeader(416)
			io.WriteString(w, "this body is no file")
			return true
		}
		src := start(t, s, Options{})
		if b, err := storage.ReadAll(t.Context(), src, "empty", 0); err != nil || len(b) != 0 {
			t.Errorf("an empty file: %q, %v", b, err)
		}
	}
	// Azure's way.
	s := &site{}
	s.before = func(w http.ResponseWriter, r *http.Request, p string) bool {
		w.Header().Set("Content-Range", "bytes 0--1/0")
		w.WriteHeader(206)
		return true
	}
	if b, err := storage.ReadAll(t.Context(), start(t, s, Options{}), "empty", 0); err != nil || len(b) != 0 {
		t.Errorf("an empty file: %q, %v", b, err)
	}
	// Past the end of a file of unknown size, with the whole file as the body.
	s = &site{files: map[string][]byte{"f": []byte("0123456789")}}
	s.before = func(w http.ResponseWriter, r *http.Request, p string) bool {
		if r.Header.Get("Range") == "bytes=20-23" {
			w.Header().Set("Content-Range", "bytes */10")
			w.WriteHeader(416)
			w.Write(s.files["f"])
			return true
		}
		return false
	}
	o, _ := start(t, s, Options{}).Open(t.Context(), "f")
	if n, err := o.ReadAt(t.Context(), make([]byte, 4), 20); n != 0 || err != io.EOF {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := o.Size(t.Context()); n != 10 || err != nil {
		t.Errorf("size %d, %v", n, err)
	}
}

// cutting sends the right headers and then only a part of the body.
func cutting(files map[string][]byte, keep func(n int) int) func(http.ResponseWriter, *http.Request, string) bool {
	return func(w http.ResponseWriter, r *http.Request, p string) bool {
		var a, b int
		if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &a, &b); n != 2 {
			return false
		}
		data := files[p]
		b = min(b, len(data)-1)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", a, b, len(data)))
		w.Header().Set("Content-Length", fmt.Sprint(b-a+1))
		w.WriteHeader(206)
		w.Write(data[a : a+keep(b-a+1)])
		return true
	}
}

func TestTruncation(t *testing.T) {
	data := make([]byte, 500_000)
	for i := range data {
		data[i] = byte(i * 31 >> 3)
	}
	s := &site{files: map[string][]byte{"f": data}}
	var cuts atomic.Int32
	s.before = cutting(s.files, func(n int) int {
		if cuts.Add(1) <= 2 {
			return n / 3
		}
		return n
	})
	src := start(t, s, Options{})
	o, _ := src.Open(t.Context(), "f")
	b := make([]byte, len(data))
	if n, err := o.ReadAt(t.Context(), b, 0); n != len(data) || err != nil && err != io.EOF || !bytes.Equal(b, data) {
		t.Fatalf("two cuts: %d bytes, %v", n, err)
	}
	if got := src.Stats(); got.Bytes != int64(len(data)) {
		t.Errorf("%d bytes for a file of %d: a cut read must go on where it stopped", got.Bytes, len(data))
	}
	s.before = cutting(s.files, func(n int) int { return n - 1 })
	o, _ = src.Open(t.Context(), "f")
	_, err := o.ReadAt(t.Context(), b[:1000], 5)
	kind(t, err, storage.Truncated)
	// Without any length a cut can't be noticed, so such an answer is refused.
	s.before = func(w http.ResponseWriter, r *http.Request, p string) bool {
		w.WriteHeader(206)
		w.(http.Flusher).Flush()
		w.Write(data[:3])
		return true
	}
	o, _ = start(t, s, Options{}).Open(t.Context(), "f")
	_, err = o.ReadAt(t.Context(), b[:10], 0)
	kind(t, err, storage.Failed)
	// A server may answer with less than asked for.
	s.before = func(w http.ResponseWriter, r *http.Request, p string) bool {
		var a, b int
		fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &a, &b)
		b = min(b, a+99_999, len(data)-1)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", a, b, len(data)))
		w.WriteHeader(206)
		w.Write(data[a : b+1])
		return true
	}
	clear(b)
	o, _ = start(t, s, Options{}).Open(t.Context(), "f")
	if n, err := o.ReadAt(t.Context(), b, 0); n != len(data) || err != nil && err != io.EOF || !bytes.Equal(b, data) {
		t.Errorf("answers in pieces: %d bytes, %v", n, err)
	}
	// Nonsense in Content-Range.
	for _, cr := range []string{"bytes 5-9/100", "bytes 0-99/50", "bytes 0-1000/5000", "bytes", "bytes 3-0/10"} {
		s.before = func(w http.ResponseWriter, r *http.Request, p string) bool {
			w.Header().Set("Content-Range", cr)
			w.WriteHeader(206)
			w.Write(data[:1000])
			return true
		}
		o, _ = start(t, s, Options{}).Open(t.Context(), "f")
		_, err = o.ReadAt(t.Context(), b[:100], 0)
		kind(t, err, storage.Failed)
	}
}

func TestChangedWhileReading(t *testing.T) {
	tag := `"one"`
	s := &site{files: map[string][]byte{"f": bytes.Repeat([]byte("a"), 1000)}, etag: func(string) string { return tag }}
	src := start(t, s, Options{})
	o, _ := src.Open(t.Context(), "f")
	b := make([]byte, 10)
	if _, err := o.ReadAt(t.Context(), b, 0); err != nil {
		t.Fatal(err)
	}
	tag, s.files["f"] = `"two"`, bytes.Repeat([]byte("b"), 1000) // the same size
	_, err := o.ReadAt(t.Context(), b, 10)
	kind(t, err, storage.Changed)
	o2, _ := src.Open(t.Context(), "f")
	if _, err := o2.ReadAt(t.Context(), b, 10); err != nil || b[0] != 'b' {
		t.Errorf("opened anew: %q, %v", b, err)
	}
	_, err = o.ReadAt(t.Context(), b, 10)
	kind(t, err, storage.Changed)
	s.files["f"] = s.files["f"][:500]
	_, err = o2.ReadAt(t.Context(), b, 10)
	kind(t, err, storage.Changed)
	// Through the cache too, and a reload reads the new file.
	c := cache.New(src, cache.Options{Small: 100, Block: 100})
	tag = `"three"`
	co, _ := c.Open(t.Context(), "f")
	if _, err := co.ReadAt(t.Context(), b, 0); err != nil {
		t.Fatal(err)
	}
	tag = `"four"`
	_, err = co.ReadAt(t.Context(), b, 450)
	kind(t, err, storage.Changed)
	if got, err := storage.ReadAll(t.Context(), c, "f", 0); err != nil || len(got) != 500 {
		t.Errorf("through the cache: %d bytes, %v", len(got), err)
	}
}

func TestRetry(t *testing.T) {
	for _, code := range []int{429, 500, 503} {
		s := &site{files: map[string][]byte{"f": []byte("0123456789")}}
		var n atomic.Int32
		s.before = func(w http.ResponseWriter, r *http.Request, p string) bool {
			if n.Add(1) <= 2 {
				w.Header().Set("Retry-After", "0")
				http.Error(w, "busy", code)
				return true
			}
			return false
		}
		src := start(t, s, Options{})
		if b, err := storage.ReadAll(t.Context(), src, "f", 0); err != nil || string(b) != "0123456789" {
			t.Errorf("%d: %q, %v", code, b, err)
		}
		n.Store(0)
		if _, err := src.List(t.Context(), ""); err != nil {
			t.Errorf("%d: list: %v", code, err)
		}
		n.Store(-100)
		f := kind(t, func() error { _, err := src.List(t.Context(), ""); return err }(), storage.Failed)
		if f.Status != code {
			t.Errorf("status %d", f.Status)
		}
	}
	// Retry-After is waited for, and not for ever.
	s := &site{files: map[string][]byte{"f": []byte("x")}}
	var n atomic.Int32
	after := "1"
	s.before = func(w http.ResponseWriter, r *http.Request, p string) bool {
		if n.Add(1) == 1 {
			w.Header().Set("Retry-After", after)
			w.WriteHeader(503)
			return true
		}
		return false
	}
	src := start(t, s, Options{})
	begin := time.Now()
	if _, err := storage.ReadAll(t.Context(), src, "f", 0); err != nil || time.Since(begin) < time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	n.Store(0)
	src.Forget()
	after = "3600"
	_, err := storage.ReadAll(t.Context(), src, "f", 0)
	if f := kind(t, err, storage.Failed); f.Status != 503 || !strings.Contains(f.Try, "3600") {
		t.Errorf("%+v", f)
	}
	// A context that ends while waiting.
	n.Store(0)
	src.Forget()
	after = "10"
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := storage.ReadAll(ctx, src, "f", 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestStatuses(t *testing.T) {
	code, body := 0, ""
	s := &site{}
	s.before = func(w http.ResponseWriter, r *http.Request, p string) bool {
		http.Error(w, body, code)
		return true
	}
	src := start(t, s, Options{Attempts: 2})
	for _, c := range []struct {
		code int
		body string
		want storage.FaultKind
	}{
		{401, "", storage.Forbidden}, {403, "<Code>AccessDenied</Code>", storage.Forbidden},
		{403, "<Message>Request has expired</Message>", storage.Expired},
		{403, "Signature not valid in the specified time frame", storage.Expired},
		{404, "", storage.NotFound}, {410, "", storage.NotFound}, {400, "", storage.Failed}, {502, "", storage.Failed},
	} {
		code, body = c.code, c.body
		_, err := storage.ReadAll(t.Context(), src, "f", 0)
		if f := kind(t, err, c.want); f.Status != c.code || f.Path != "f" || f.Location != src.Location() || f.Try == "" {
			t.Errorf("%d: %+v", c.code, f)
		}
		src.Forget()
	}
	code = 403
	_, err := src.List(t.Context(), "")
	if f := kind(t, err, storage.NoListing); f.Status != 403 || !strings.Contains(f.Try, "autoindex") {
		t.Errorf("%+v", f)
	}
	code = 404
	_, err = src.List(t.Context(), "x")
	kind(t, err, storage.NotFound)
}

func TestHiddenDotNames(t *testing.T) {
	files := map[string][]byte{".hoodie/hoodie.properties": []byte("x=y"), ".hoodie/timeline/1.commit": []byte("{}"), "p/a.parquet": []byte("PAR1"), "p/.log": []byte("l"), "q/b": []byte("b")}
	for _, first := range []string{"", "p"} {
		s := &site{files: files, hide: true}
		src := start(t, s, Options{})
		for _, dir := range []string{first, "p", ".hoodie/timeline", ""} {
			l, err := src.List(t.Context(), dir)
			if err != nil || l.Complete || !strings.Contains(l.Note, "dot") {
				t.Errorf("%q: %+v, %v", dir, l, err)
			}
		}
		s.hide = false
		src.Forget()
		for _, dir := range []string{"q", "p"} {
			if l, err := src.List(t.Context(), dir); err != nil || !l.Complete {
				t.Errorf("%q with dot names: %+v, %v", dir, l, err)
			}
		}
	}
	// A server that refuses dot names altogether.
	s := &site{files: files, hide: true}
	s.before = func(w http.ResponseWriter, r *http.Request, p string) bool {
		if strings.HasPrefix(p, ".") {
			w.WriteHeader(403)
			return true
		}
		return false
	}
	if l, err := start(t, s, Options{}).List(t.Context(), ""); err != nil || l.Complete || !strings.Contains(l.Note, "refuses") {
		t.Errorf("%+v, %v", l, err)
	}
	// No table at all: nothing is claimed.
	if l, err := start(t, &site{files: map[string][]byte{"a": nil}}, Options{}).List(t.Context(), ""); err != nil || !l.Complete {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestWebPageInPlaceOfFiles(t *testing.T) {
	s := &site{}
	s.before = func(w http.ResponseWriter, r *http.Request, p string) bool {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader("<!doctype html><title>app</title><script src=a.js></script>"))
		return true
	}
	src := start(t, s, Options{})
	_, err := storage.ReadAll(t.Context(), src, ".hoodie/hoodie.properties", 0)
	kind(t, err, storage.NotFound)
	_, err = src.List(t.Context(), "")
	kind(t, err, storage.NoListing)
}

func TestUnreachable(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	addr := srv.URL
	srv.Close()
	src, _ := New(addr, Options{Backoff: time.Millisecond})
	_, err := src.List(t.Context(), "")
	if f := kind(t, err, storage.Unreachable); f.Try == "" || f.Err == nil {
		t.Errorf("%+v", f)
	}
	if n := src.Stats().Requests; n != 1 {
		t.Errorf("%d requests to a server that never answered", n)
	}
	// In a browser the reason is not told.
	src, _ = New(addr, Options{Fetcher: opaque{}})
	_, err = src.List(t.Context(), "")
	f := kind(t, err, storage.Unreachable)
	for _, w := range []string{"network", "CORS", "Access-Control-Allow-Origin", "Content-Range", "ETag", "Content-Length", "https"} {
		if !strings.Contains(f.Try, w) {
			t.Errorf("the advice lacks %q: %s", w, f.Try)
		}
	}
}

// A connection that the server closes without an answer is no empty file, with or without a cache.
func TestClosedConnection(t *testing.T) {
	s := &site{files: map[string][]byte{"f": []byte("0123456789")}}
	var closing atomic.Bool
	s.before = func(http.ResponseWriter, *http.Request, string) bool {
		if closing.Load() {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	for _, reached := range []bool{false, true} {
		src := start(t, s, Options{})
		if reached {
			closing.Store(false)
			if _, err := src.List(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		}
		closing.Store(true)
		for _, from := range []storage.Source{src, cache.New(src, cache.Options{})} {
			b, err := storage.ReadAll(t.Context(), from, "f", 0)
			if errors.Is(err, io.EOF) {
				t.Errorf("%q, %v is the end of a file", b, err)
			}
			kind(t, err, storage.Unreachable)
		}
	}
}

type opaque struct{}

func (opaque) Fetch(context.Context, *Request) (*Response, error) {
	return nil, &NoAnswer{Opaque: true, Err: errors.New("Failed to fetch")}
}

// A browser hides headers that the server does not expose.
type hiding struct {
	Fetcher
	hide []string
}

func (h hiding) Fetch(ctx context.Context, r *Request) (*Response, error) {
	resp, err := h.Fetcher.Fetch(ctx, r)
	if err == nil {
		get := resp.Header
		resp.Header = func(n string) string {
			if slices.Contains(h.hide, n) {
				return ""
			}
			return get(n)
		}
	}
	return resp, err
}

func TestHiddenHeaders(t *testing.T) {
	files := storagetest.Files()
	s := &site{files: files, etag: func(string) string { return `"x"` }}
	src := start(t, s, Options{})
	native := src.c.o.Fetcher
	src.c.o.Fetcher = hiding{native, []string{"Content-Range", "ETag"}}
	for p, want := range files {
		if got, err := storage.ReadAll(t.Context(), src, p, 0); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q: %d bytes, %v", p, len(got), err)
		}
	}
	if !slices.ContainsFunc(s.requests(), func(r *http.Request) bool { return r.Method == "HEAD" }) {
		t.Error("the size did not come from HEAD")
	}
	c := cache.New(src, cache.Options{})
	src.Forget()
	for p, want := range files {
		if got, err := storage.ReadAll(t.Context(), c, p, 0); err != nil || !bytes.Equal(got, want) {
			t.Errorf("cached %q: %d bytes, %v", p, len(got), err)
		}
	}
	src.c.o.Fetcher = native
}

func TestCompressedAnswer(t *testing.T) {
	s := &site{}
	s.before = func(w http.ResponseWriter, r *http.Request, p string) bool {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write([]byte{0x1f, 0x8b, 8, 0})
		return true
	}
	_, err := storage.ReadAll(t.Context(), start(t, s, Options{}), "f", 0)
	if f := kind(t, err, storage.Failed); !strings.Contains(f.Try, "ompression") {
		t.Errorf("%+v", f)
	}
}

// A cancelled read returns at once, ends its request at the server, and leaves nothing
// behind.
func TestCancelMidBody(t *testing.T) {
	gone := make(chan struct{})
	s := &site{files: map[string][]byte{"f": make([]byte, 1<<20)}}
	s.before = func(w http.ResponseWriter, r *http.Request, p string) bool {
		w.Header().Set("Content-Range", "bytes 0-999999/1000000")
		w.Header().Set("Content-Length", "1000000")
		w.WriteHeader(206)
		w.Write(make([]byte, 1000))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
		return true
	}
	src := start(t, s, Options{})
	before := runtime.NumGoroutine()
	o, _ := src.Open(t.Context(), "f")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	begin := time.Now()
	_, err := o.ReadAt(ctx, make([]byte, 1000000), 0)
	if !errors.Is(err, context.Canceled) || time.Since(begin) > 2*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	select {
	case <-gone:
	case <-time.After(3 * time.Second):
		t.Error("the server still sends")
	}
	src.c.o.Fetcher.(*nativeFetcher).CloseIdle()
	storagetest.Settled(t, before)
}

func TestRedirectCarriesNoReferer(t *testing.T) {
	var referer, got string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		referer, got = r.Header.Get("Referer"), r.Header.Get("Range")
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader("hello"))
	}))
	defer other.Close()
	s := &site{}
	s.before = func(w http.ResponseWriter, r *http.Request, p string) bool {
		http.Redirect(w, r, other.URL+"/x", http.StatusTemporaryRedirect)
		return true
	}
	srv := httptest.NewServer(s)
	defer srv.Close()
	src, _ := New(srv.URL+"/?sig=SECRET", Options{})
	if b, err := storage.ReadAll(t.Context(), src, "f", 0); err != nil || string(b) != "hello" {
		t.Fatal(string(b), err)
	}
	if referer != "" || got == "" {
		t.Errorf("Referer %q, Range %q", referer, got)
	}
}

func TestAddress(t *testing.T) {
	for _, bad := range []string{"", "x", "ftp://h/x", "http://", "s3://b/k", "http://h/%zz", "/etc", "http:h"} {
		if _, err := ParseAddress(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		} else {
			kind(t, err, storage.Refused)
		}
	}
	a, err := ParseAddress("https://u:p@h:8/a%20b/c+d?x=1&y#z")
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Location(); got != "https://h:8/a%20b/c+d" {
		t.Errorf("Location %s", got)
	}
	if got := a.Child("e=f/g#h", true); got != "https://u:p@h:8/a%20b/c+d/e%3Df/g%23h/?x=1&y" {
		t.Errorf("Child %s", got)
	}
	if a.Name() != "c+d" || a.IsFolder() {
		t.Errorf("Name %q", a.Name())
	}
}
