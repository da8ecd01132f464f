// Package faultproxy stands between a reader and a web server and does what servers, networks and
// other writers do wrong: it delays, cuts, refuses, compresses, redirects, and changes files while
// they are read. Which of it is chosen for each answer.
package faultproxy

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Exchange is one request with the answer of the server behind the proxy. A Fault changes it.
type Exchange struct {
	Method, Path string // Path is not decoded
	Range        string
	// N is how many requests with the method came for the path before.
	N int
	// Listing is true for a directory, and for a page of keys of S3.
	Listing bool

	// The answer. Status 0 closes the connection without one.
	Status int
	Header http.Header
	Body   []byte
	// Keep is how many bytes of the body are sent before the connection is closed; negative for all.
	Keep int
	// Chunked sends no Content-Length.
	Chunked bool
	// Wait is how long the answer is held back.
	Wait time.Duration
}

// Fault changes requests and answers. Either function may be nil.
type Fault struct {
	Name string
	// Ask changes the request before the server sees it. If it sets a Status, the server is not asked.
	Ask func(x *Exchange, r *http.Request)
	// Answer changes the answer.
	Answer func(x *Exchange)
}

// Proxy is an http.Handler before a server.
type Proxy struct {
	target *url.URL
	fault  Fault
	client *http.Transport

	mu    sync.Mutex
	count map[string]int
	asked int
}

// New makes a proxy before the server at a URL, which has no path.
func New(target string, f Fault) (*Proxy, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	return &Proxy{target: u, fault: f, client: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 8}, count: map[string]int{}}, nil
}

// Close closes the connections to the server.
func (p *Proxy) Close() { p.client.CloseIdleConnections() }

// Requests is how many came.
func (p *Proxy) Requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// ServeHTTP answers one request.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.EscapedPath()
	x := &Exchange{Method: r.Method, Path: path, Range: r.Header.Get("Range"), Listing: strings.HasSuffix(path, "/") || r.URL.Query().Has("list-type"), Keep: -1}
	p.mu.Lock()
	x.N = p.count[r.Method+" "+path]
	p.count[r.Method+" "+path]++
	p.asked++
	p.mu.Unlock()
	if p.fault.Ask != nil {
		x.Header = http.Header{}
		p.fault.Ask(x, r)
	}
	if x.Status == 0 {
		if err := p.forward(x, r); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
	}
	if p.fault.Answer != nil {
		p.fault.Answer(x)
	}
	if x.Wait > 0 {
		select {
		case <-time.After(x.Wait):
		case <-r.Context().Done():
			return
		}
	}
	if x.Status == 0 {
		panic(http.ErrAbortHandler)
	}
	for k, v := range x.Header {
		w.Header()[k] = v
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(x.Status)
		return
	}
	w.Header().Del("Content-Length")
	if !x.Chunked {
		w.Header().Set("Content-Length", fmt.Sprint(len(x.Body)))
	}
	w.WriteHeader(x.Status)
	if x.Chunked {
		w.(http.Flusher).Flush()
	}
	if x.Keep < 0 || x.Keep >= len(x.Body) {
		_, _ = w.Write(x.Body) // the reader is gone
		return
	}
	_, _ = w.Write(x.Body[:x.Keep])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler) // closes the connection
}

func (p *Proxy) forward(x *Exchange, r *http.Request) error {
	u := *p.target
	u.RawQuery = r.URL.RawQuery
	req, err := http.NewRequestWithContext(r.Context(), x.Method, u.Scheme+"://"+u.Host+x.Path+"?"+u.RawQuery, r.Body)
	if err != nil {
		return err
	}
	req.ContentLength = r.ContentLength
	req.Header = r.Header.Clone()
	req.Header.Del("Accept-Encoding") // compressing is up to the fault
	resp, err := p.client.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	x.Status, x.Header = resp.StatusCode, resp.Header.Clone()
	x.Body, err = io.ReadAll(resp.Body)
	return err
}

// Empty is an answer without content.
func (x *Exchange) Empty(status int) {
	x.Status, x.Body, x.Header = status, nil, http.Header{}
}

// File reports whether the path is that of a base or log file.
func (x *Exchange) File() bool {
	return !x.Listing && (strings.HasSuffix(x.Path, ".parquet") || strings.Contains(x.Path, ".log.") || strings.HasSuffix(x.Path, ".hfile"))
}

// Gzip compresses the body.
func (x *Exchange) Gzip() {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(x.Body) // into memory
	z.Close()
	x.Body = b.Bytes()
	x.Header.Set("Content-Encoding", "gzip")
}

// HideDots takes names that begin with a dot out of a JSON listing.
func (x *Exchange) HideDots() error {
	if !x.Listing || x.Status != http.StatusOK {
		return nil
	}
	var all, kept []map[string]any
	if err := json.Unmarshal(x.Body, &all); err != nil {
		return err
	}
	kept = []map[string]any{}
	for _, e := range all {
		if name, _ := e["name"].(string); !strings.HasPrefix(name, ".") {
			kept = append(kept, e)
		}
	}
	var err error
	x.Body, err = json.Marshal(kept)
	return err
}
