//go:build !js

package signer

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/core/storage/storagetest"
	"hudiscope/fsadapter/objectlist/storetest"
	"hudiscope/fsadapter/s3"
)

// endpoint is a signer by the contract in front of a private bucket: it lists with the bucket's
// keys, and signs addresses that last a short time.
type endpoint struct {
	bucket *storetest.S3
	store  string // URL of the bucket's store
	auth   string
	valid  time.Duration
	secret string

	mu       sync.Mutex
	requests []Request
	revoked  bool
	epoch    int
}

func (e *endpoint) mac(key, exp string, epoch int) string {
	h := hmac.New(sha256.New, []byte(e.secret))
	fmt.Fprintf(h, "%s\n%s\n%d", key, exp, epoch)
	return hex.EncodeToString(h.Sum(nil))
}

func (e *endpoint) fail(w http.ResponseWriter, status int, text string) {
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(Answer{Error: text})
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != e.auth {
		e.fail(w, 403, "you may not: "+r.Header.Get("Authorization"))
		return
	}
	var req Request
	if r.Method == "GET" {
		q := r.URL.Query()
		v, _ := strconv.Atoi(q.Get("v"))
		req = Request{V: v, Op: q.Get("op"), Prefix: q.Get("prefix"), Delimiter: q.Get("delimiter"), Next: q.Get("next"), Keys: q["key"]}
	} else if err := json.NewDecoder(r.Body).Decode(&req); err != nil || r.Header.Get("Content-Type") != "application/json" {
		e.fail(w, 400, "no JSON")
		return
	}
	e.mu.Lock()
	e.requests = append(e.requests, req)
	epoch := e.epoch
	e.mu.Unlock()
	switch {
	case req.V != 1:
		e.fail(w, 400, "version")
	case req.Op == "list":
		var a Answer
		resp, err := http.Get(e.store + "/b?" + url.Values{"list-type": {"2"}, "prefix": {req.Prefix}, "delimiter": {req.Delimiter}, "continuation-token": {req.Next}}.Encode())
		if err != nil {
			e.fail(w, 502, err.Error())
			return
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			e.fail(w, 502, err.Error())
			return
		}
		p, err := s3.ParsePage(b)
		if err != nil {
			e.fail(w, 502, err.Error())
			return
		}
		for _, k := range p.Keys {
			size := k.Size
			a.Keys = append(a.Keys, Key{Key: k.Name, Size: &size, ETag: k.ETag, Modified: k.ModTime})
		}
		a.Prefixes, a.Next = p.Prefixes, p.Next
		json.NewEncoder(w).Encode(a)
	case req.Op == "get" && len(req.Keys) > 0 && len(req.Keys) <= MaxKeys:
		a := Answer{URLs: map[string]URL{}}
		for _, k := range req.Keys {
			expires := time.Now().Add(e.valid)
			exp := strconv.FormatInt(expires.UnixMilli(), 10)
			a.URLs[k] = URL{URL: e.store + (&url.URL{Path: "/b/" + k}).EscapedPath() + "?exp=" + exp + "&SECRETSIG=" + e.mac(k, exp, epoch), Expires: expires}
		}
		json.NewEncoder(w).Encode(a)
	default:
		e.fail(w, 400, "op")
	}
}

// start serves a bucket whose objects are read with the endpoint's addresses only.
func start(t *testing.T, files map[string][]byte, valid time.Duration) (*endpoint, string) {
	e := &endpoint{auth: "Bearer AUTHSECRET", valid: valid, secret: "k"}
	e.bucket = &storetest.S3{Common: storetest.Common{Bucket: "b", Files: files, PageSize: 3}}
	e.bucket.Hook = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Has("list-type") {
			return false
		}
		if r.Header.Get("Authorization") != "" {
			storetest.Fail(w, 400, "InvalidArgument", "the signer's token came to the store")
			return true
		}
		exp := r.URL.Query().Get("exp")
		ms, _ := strconv.ParseInt(exp, 10, 64)
		e.mu.Lock()
		defer e.mu.Unlock()
		if r.URL.Query().Get("SECRETSIG") != e.mac(strings.TrimPrefix(r.URL.Path, "/b/"), exp, e.epoch) || e.revoked {
			storetest.Fail(w, 403, "AccessDenied", "Access Denied")
			return true
		}
		if time.Now().UnixMilli() > ms {
			storetest.Fail(w, 403, "AccessDenied", "Request has expired")
			return true
		}
		return false
	}
	e.store = storetest.Serve(t, e.bucket)
	return e, storetest.Serve(t, e)
}

func (e *endpoint) count(op string) (n, keys int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.requests {
		if r.Op == op {
			n++
			keys += len(r.Keys)
		}
	}
	return n, keys
}

func TestConformance(t *testing.T) {
	files := storagetest.Files()
	keys := map[string][]byte{"lake/other": {1}}
	for p, b := range files {
		keys["lake/t é+/"+p] = b
	}
	for _, get := range []bool{false, true} {
		e, at := start(t, keys, time.Hour)
		s, err := New(Config{Endpoint: at + "/sign?tenant=QUERYSECRET", Prefix: "lake/t é+", Authorization: e.auth, Get: get})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(s.Location(), "SECRET") {
			t.Errorf("a secret in %s", s.Location())
		}
		storagetest.Run(t, s, files)
		storagetest.Run(t, cache.New(s, cache.Options{}), files)
		if s.Expires().IsZero() {
			t.Error("no expiry")
		}
	}
}

// Reads that begin together share a request, and neighbours are signed along.
func TestBatches(t *testing.T) {
	files := map[string][]byte{}
	for i := range 250 {
		files[fmt.Sprintf("t/f%03d", i)] = []byte(fmt.Sprint(i))
	}
	e, at := start(t, files, time.Hour)
	e.bucket.PageSize = 1000
	s, err := New(Config{Endpoint: at, Prefix: "t", Authorization: e.auth})
	if err != nil {
		t.Fatal(err)
	}
	if l, err := s.List(t.Context(), ""); err != nil || len(l.Entries) != 250 {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 250 {
		wg.Go(func() {
			b, err := storage.ReadAll(t.Context(), s, fmt.Sprintf("f%03d", i), 0)
			if err != nil || string(b) != fmt.Sprint(i) {
				t.Errorf("%d: %q, %v", i, b, err)
			}
		})
	}
	wg.Wait()
	n, keys := e.count("get")
	t.Logf("%d requests for %d addresses of 250 files", n, keys)
	if n > 8 {
		t.Errorf("%d requests for addresses of 250 files", n)
	}
}

// Addresses that end, by their time or by the store's refusal, are asked for anew.
func TestExpiry(t *testing.T) {
	e, at := start(t, map[string][]byte{"t/f": []byte("x")}, time.Hour)
	now := time.Now()
	s, err := New(Config{Endpoint: at, Prefix: "t", Authorization: e.auth, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.Open(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	read := func(want int) {
		t.Helper()
		p := make([]byte, 1)
		if err := storage.ReadFull(t.Context(), o, p, 0); err != nil || p[0] != 'x' {
			t.Error(err)
		}
		if n, _ := e.count("get"); n != want {
			t.Errorf("%d requests for addresses, want %d", n, want)
		}
	}
	read(1)
	read(1)
	now = now.Add(2 * time.Hour)
	read(2)
	now = time.Now()
	e.mu.Lock()
	e.epoch++ // the store's keys were changed
	e.mu.Unlock()
	read(3)
	e.mu.Lock()
	e.revoked = true
	e.mu.Unlock()
	_, err = o.ReadAt(t.Context(), make([]byte, 1), 0)
	var f *storage.Fault
	if !errors.As(err, &f) || f.Kind != storage.Forbidden || !strings.Contains(f.Try, "signer") || strings.Contains(fmt.Sprintf("%v %+v", err, f), "SECRET") {
		t.Errorf("%v (%+v)", err, f)
	}
	if n, _ := e.count("get"); n != 4 {
		t.Errorf("%d requests for addresses, want 4", n)
	}
}

func TestErrors(t *testing.T) {
	_, at := start(t, map[string][]byte{"t/f": []byte("x")}, time.Hour)
	other := storetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>hello QUERYSECRET") }))
	evil := storetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"keys":[{"key":"elsewhere/f"}],"urls":{"t/f":{"url":"file:///etc/passwd?SECRET"}}}`)
	}))
	for name, c := range map[string]struct {
		Config
		kind storage.FaultKind
	}{
		"not allowed": {Config{Endpoint: at + "?x=QUERYSECRET", Prefix: "t", Authorization: "Bearer OTHERSECRET"}, storage.Forbidden},
		"no signer":   {Config{Endpoint: other + "?x=QUERYSECRET", Prefix: "t"}, storage.Failed},
		"evil":        {Config{Endpoint: evil + "?x=QUERYSECRET", Prefix: "t"}, storage.Failed},
	} {
		s, err := New(c.Config)
		if err != nil {
			t.Fatal(err)
		}
		_, lerr := s.List(t.Context(), "")
		_, rerr := storage.ReadAll(t.Context(), s, "f", 0)
		for _, err := range []error{lerr, rerr} {
			var f *storage.Fault
			if !errors.As(err, &f) || f.Kind != c.kind || f.Try == "" || f.Location != s.Location() {
				t.Errorf("%s: %v (%+v)", name, err, f)
			}
			if strings.Contains(fmt.Sprintf("%v %+v", err, f), "SECRET") {
				t.Errorf("%s: a secret in %v (%+v)", name, err, f)
			}
		}
	}
	if _, err := ParseLocation("https://x?SECRET"); err == nil || strings.Contains(err.Error(), "SECRET") {
		t.Error(err)
	}
}
