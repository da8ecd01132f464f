// Package server is what "hudiscope serve" runs: the built page, the service under
// /api/, and table directories under /tables/NAME/ on the same origin, so that the
// page needs no CORS to read them.
//
// It reads tables and never writes. Nothing outside the tables given to it can be
// named. By default no other web origin may read an answer.
package server

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"hudiscope/core/api"
	"hudiscope/web/httpapi"
)

// Config says what a server serves.
type Config struct {
	// Page holds index.html and what it needs; nil serves no page. FILE.gz and FILE.br
	// beside FILE are sent to clients that take them; FILE itself may be left out
	// where FILE.gz is there.
	Page fs.FS
	// Tables are served under /tables/ and opened by the service by their names.
	Tables *Tables
	// Service answers under /api/; nil serves none. Fault is its httpapi.Options.Fault.
	Service httpapi.Doer
	Fault   func(error) *api.Fault
	// Origins may read answers and tables cross-origin (httpapi.Options.Origins).
	Origins []string
	// Asked is the number of requests of the service that are answered at a time; the next ones are refused
	// with a fault of kind "limit" and may be sent again. 0 means 64.
	Asked int
	// Hosts are the host names (without port) the server answers to; empty is any. A
	// server on a loopback address should name them: a web site can point its own
	// name there (DNS rebinding) to read what is only meant for this machine.
	Hosts []string
}

// LoopbackHosts are the Config.Hosts of a server on a loopback address.
var LoopbackHosts = []string{"localhost", "127.0.0.1", "::1"}

// pagePolicy is the Content-Security-Policy of the page. It connects anywhere: a
// user opens tables by URL. It runs no script but its own files.
const pagePolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; " +
	"style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; font-src 'self'; manifest-src 'self'; " +
	"connect-src *; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// New returns the handler.
func New(c Config) http.Handler {
	if c.Tables == nil {
		c.Tables = &Tables{}
	}
	if c.Asked <= 0 {
		c.Asked = asked
	}
	s := &server{c: c, assets: map[string]*asset{}, asked: make(chan struct{}, c.Asked)}
	if c.Service != nil {
		s.api = httpapi.New(c.Service, httpapi.Options{Allow: c.Tables.Allow, Fault: c.Fault, Origins: c.Origins})
	}
	return s
}

// asked is the default of Config.Asked. A page asks for a few at a time; each may take what a query may take.
const asked = 64

type server struct {
	c     Config
	api   http.Handler
	asked chan struct{}

	mu     sync.Mutex
	assets map[string]*asset
}

// ServeHTTP answers one request.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	if len(s.c.Origins) == 0 {
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
	} else {
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
	if len(s.c.Hosts) > 0 && !slices.Contains(s.c.Hosts, hostname(r.Host)) {
		http.Error(w, fmt.Sprintf("This server does not answer to the name %q.", hostname(r.Host)), http.StatusMisdirectedRequest)
		return
	}
	switch p := r.URL.Path; {
	case s.api != nil && strings.HasPrefix(p, "/api/"):
		select {
		case s.asked <- struct{}{}:
			defer func() { <-s.asked }()
			s.api.ServeHTTP(w, r)
		default:
			w.Header().Set("Retry-After", "1")
			httpapi.Failing(http.StatusServiceUnavailable, &api.Fault{Kind: "limit", Offset: -1,
				Message: fmt.Sprintf("This server answers %d requests at a time, and so many are under way.", s.c.Asked), Try: "Ask again in a moment."}).ServeHTTP(w, r)
		}
	case p == strings.TrimSuffix(prefix, "/"):
		redirect(w, path.Base(p)+"/")
	case strings.HasPrefix(p, prefix):
		if done := s.cors(w, r); !done {
			s.c.Tables.ServeHTTP(w, r)
		}
	case p == "/tables.json" && s.c.Tables != nil:
		// In place of the empty list among the page's files, which a host of static files sends.
		r2 := r.Clone(r.Context())
		r2.URL.Path = prefix
		r2.Header.Set("Accept", "application/json")
		s.c.Tables.ServeHTTP(w, r2)
	default:
		s.page(w, r)
	}
}

// cors sets the headers for a table file, and answers a preflight request.
func (s *server) cors(w http.ResponseWriter, r *http.Request) bool {
	if len(s.c.Origins) == 0 {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	o := r.Header.Get("Origin")
	if o == "" || !slices.Contains(s.c.Origins, "*") && !slices.Contains(s.c.Origins, o) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", o)
	h.Set("Access-Control-Expose-Headers", "Content-Range, Content-Length, ETag, Accept-Ranges, Last-Modified")
	if r.Method != http.MethodOptions {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, HEAD")
	h.Set("Access-Control-Allow-Headers", "Range, If-Range, If-Match, Accept")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// types are the media types of the page's files. The host's own table is not asked:
// it differs between machines, and a .wasm file must have the right one.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8", ".json": "application/json; charset=utf-8", ".wasm": "application/wasm",
	".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".zip": "application/zip",
	".txt": "text/plain; charset=utf-8", ".webmanifest": "application/manifest+json", ".woff2": "font/woff2", ".map": "application/json",
}

// asset is one file of the page in its encodings ("" is the file itself).
type asset struct {
	stamp   string
	etag    string
	content map[string][]byte
}

// page serves the built page.
func (s *server) page(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "The page is only read.", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	if s.c.Page == nil || !fs.ValidPath(name) {
		http.NotFound(w, r)
		return
	}
	a, err := s.asset(name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			http.Error(w, "The file can't be read.", http.StatusInternalServerError)
			return
		}
		http.NotFound(w, r)
		return
	}
	ext := path.Ext(name)
	typ, ok := types[ext]
	if !ok {
		typ = "application/octet-stream"
	}
	h := w.Header()
	h.Set("Content-Type", typ)
	// A worker takes its policy from its own script's answer.
	if t, _, _ := mime.ParseMediaType(typ); t == "text/html" || t == "text/javascript" {
		h.Set("Content-Security-Policy", pagePolicy)
	}
	if len(a.content) > 1 {
		h.Add("Vary", "Accept-Encoding")
	}
	for _, enc := range []string{"br", "gzip"} {
		b, ok := a.content[enc]
		if !ok || !encodes(r.Header.Get("Accept-Encoding"), enc) {
			continue
		}
		etag := fmt.Sprintf(`"%s-%s"`, a.etag, enc)
		h.Set("ETag", etag)
		h.Set("Content-Encoding", enc)
		if r.Header.Get("If-None-Match") == etag {
			h.Del("Content-Encoding")
			w.WriteHeader(http.StatusNotModified)
			return
		}
		h.Set("Content-Length", fmt.Sprint(len(b)))
		if r.Method == http.MethodGet {
			_, _ = w.Write(b) // the client is gone
		}
		return
	}
	h.Set("ETag", `"`+a.etag+`"`)
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(a.content[""]))
}

// encodes reports whether an Accept-Encoding header takes an encoding.
func encodes(header, enc string) bool {
	for v := range strings.SplitSeq(header, ",") {
		name, q, _ := strings.Cut(v, ";")
		if strings.TrimSpace(name) == enc {
			q = strings.ReplaceAll(q, " ", "")
			return q != "q=0" && q != "q=0.0" && q != "q=0.00" && q != "q=0.000"
		}
	}
	return false
}

// asset returns a file of the page, read again when it has changed.
func (s *server) asset(name string) (*asset, error) {
	files := map[string]string{"": name, "gzip": name + ".gz", "br": name + ".br"}
	stamp := ""
	found := false
	for _, enc := range []string{"", "gzip", "br"} {
		fi, err := fs.Stat(s.c.Page, files[enc])
		switch {
		case err == nil && fi.Mode().IsRegular():
			stamp += fmt.Sprintf("%s %d %d\n", enc, fi.Size(), fi.ModTime().UnixNano())
			found = found || enc != "br"
		case err == nil || errors.Is(err, fs.ErrNotExist):
			delete(files, enc)
		default:
			return nil, err
		}
	}
	if !found {
		return nil, fs.ErrNotExist
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.assets[name]; a != nil && a.stamp == stamp {
		return a, nil
	}
	a := &asset{stamp: stamp, content: map[string][]byte{}}
	for enc, file := range files {
		b, err := fs.ReadFile(s.c.Page, file)
		if err != nil {
			return nil, err
		}
		a.content[enc] = b
	}
	gz := a.content["gzip"]
	if gz == nil {
		delete(a.content, "br") // nothing to hold it against
	} else {
		zr, err := gzip.NewReader(bytes.NewReader(gz))
		if err != nil {
			return nil, fmt.Errorf("%s.gz: %w", name, err)
		}
		b, err := io.ReadAll(zr)
		if err != nil {
			return nil, fmt.Errorf("%s.gz: %w", name, err)
		}
		if plain, ok := a.content[""]; ok && !bytes.Equal(plain, b) {
			// Left over from an earlier build: the file itself is the truth.
			delete(a.content, "gzip")
			delete(a.content, "br")
		} else {
			a.content[""] = b
		}
	}
	a.etag = fmt.Sprintf("%x", sha256.Sum256(a.content[""]))[:20]
	s.assets[name] = a
	return a, nil
}
