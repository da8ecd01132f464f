// Package signer reads a table through an endpoint that lists a private store and signs addresses
// of its objects, so that the keys of the store stay with the endpoint.
//
// # Contract, version 1
//
// The endpoint takes POST with a JSON body (Content-Type application/json), or GET with the same
// fields as query parameters (keys as several "key"):
//
//	{"v":1, "op":"list", "prefix":"lake/trips/", "delimiter":"/", "next":""}
//	{"v":1, "op":"get",  "keys":["lake/trips/.hoodie/hoodie.properties", …]}
//
// and answers with status 200 and JSON:
//
//	{"keys":[{"key":"…","size":1234,"etag":"…","modified":"2026-03-07T16:26:11Z"}], "prefixes":["…/"], "next":"…"}
//	{"urls":{"KEY":{"url":"https://…","expires":"2026-03-07T17:26:11Z"}}}
//
// Keys and prefixes are plain and begin with the prefix asked for; delimiter is "/" or "" (all keys
// below the prefix). next is opaque and "" on the last page. A URL must allow GET with a Range. A key
// that is absent may be left out of urls or signed all the same. expires may be left out. At most
// 100 keys are asked for at a time. Errors have a status of 400 or more and {"error":"text"}; 401
// and 403 mean that the caller may not, 404 that there is no such prefix.
//
// The endpoint decides what a caller may see. It should refuse prefixes and keys outside of that.
package signer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"hudiscope/core/storage"
	"hudiscope/core/storage/flight"
	"hudiscope/fsadapter/httprange"
	"hudiscope/fsadapter/httprange/listing"
	"hudiscope/fsadapter/objectlist"
)

// Version of the contract.
const Version = 1

// MaxKeys is the largest number of keys in one request.
const MaxKeys = 100

// Request is what the endpoint is asked, see the package.
type Request struct {
	V         int      `json:"v"`
	Op        string   `json:"op"` // list, get
	Prefix    string   `json:"prefix,omitempty"`
	Delimiter string   `json:"delimiter,omitempty"`
	Next      string   `json:"next,omitempty"`
	Keys      []string `json:"keys,omitempty"`
}

// Key is one object of a listing.
type Key struct {
	Key      string    `json:"key"`
	Size     *int64    `json:"size,omitempty"`
	ETag     string    `json:"etag,omitempty"`
	Modified time.Time `json:"modified,omitzero"`
}

// URL is the signed address of a key.
type URL struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires,omitzero"`
}

// Answer is that of either op.
type Answer struct {
	Keys     []Key          `json:"keys,omitempty"`
	Prefixes []string       `json:"prefixes,omitempty"`
	Next     string         `json:"next,omitempty"`
	URLs     map[string]URL `json:"urls,omitempty"`
	Error    string         `json:"error,omitempty"`
}

// Config names an endpoint and the table there.
type Config struct {
	// Endpoint is an http or https URL. Its query goes with every request and is not shown.
	Endpoint string
	// Prefix is the base of the table among the keys.
	Prefix string
	// Authorization is the value of that header for the endpoint, such as "Bearer …"; "" for none.
	// It stays in memory and is not sent to the signed addresses.
	Authorization string
	// Get asks with GET in place of POST, which a browser need not ask permission for.
	Get bool
	// HTTP is of the requests to the store and to the endpoint.
	HTTP httprange.Options
	List objectlist.Options
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Source is a prefix behind an endpoint as a storage.Source.
type Source struct {
	*objectlist.Source
	st *store
}

// ParseLocation reads "signer+https://host/path#prefix".
func ParseLocation(location string) (Config, error) {
	rest, ok := strings.CutPrefix(location, "signer+")
	if !ok {
		return Config{}, &storage.Fault{Op: "open", Location: httprange.Shown(location), Kind: storage.Refused, Try: "Give signer+https://host/path#prefix.", Err: errors.New("the address does not begin with signer+https://")}
	}
	endpoint, prefix, _ := strings.Cut(rest, "#")
	return Config{Endpoint: endpoint, Prefix: strings.Trim(prefix, "/")}, nil
}

// New returns the Source of a Config. It sends nothing.
func New(c Config) (*Source, error) {
	a, err := httprange.ParseAddress(c.Endpoint)
	if err != nil {
		return nil, err
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	st := &store{c: c, shown: a.Location(), endpoint: a.Request(), client: httprange.NewClient(c.HTTP),
		urls: map[string]URL{}, folders: map[string][]string{}}
	s := &Source{st: st}
	s.Source, err = objectlist.New(st, st.client, strings.Trim(c.Prefix, "/"), c.List)
	return s, err
}

// Expires is when the first of the addresses in use ends; zero when none is known to end.
func (s *Source) Expires() time.Time {
	s.st.mu.Lock()
	defer s.st.mu.Unlock()
	var first time.Time
	for _, u := range s.st.urls {
		if !u.Expires.IsZero() && (first.IsZero() || u.Expires.Before(first)) {
			first = u.Expires
		}
	}
	return first
}

// maxURLs and maxFolderKeys bound what is remembered.
const (
	maxURLs       = 20_000
	maxFolderKeys = 200_000
)

type store struct {
	c               Config
	shown, endpoint string
	client          *httprange.Client

	mu      sync.Mutex
	urls    map[string]URL
	open    *batch
	folders map[string][]string // listed keys by folder, to sign neighbours with
	listed  int
}

// batch is a request for addresses that is being put together, or under way.
type batch struct {
	keys   []string
	closed bool
	call   *flight.Call[map[string]URL]
}

// gather is how long a batch waits for the keys of reads that begin together.
const gather = 2 * time.Millisecond

// Location is the endpoint and the prefix, without the endpoint's query.
func (s *store) Location(prefix string) string {
	return strings.TrimSuffix("signer+"+s.shown+"#"+prefix, "#")
}

// ask sends one request to the endpoint.
func (s *store) ask(ctx context.Context, r Request, op, path, location string) (*Answer, error) {
	r.V = Version
	req := httprange.Request{URL: s.endpoint, Authorization: s.c.Authorization}
	method := "POST"
	if s.c.Get {
		method = "GET"
		sep := "?"
		if strings.Contains(req.URL, "?") {
			sep = "&"
		}
		v := url.Values{"v": {fmt.Sprint(r.V)}, "op": {r.Op}}
		for name, val := range map[string]string{"prefix": r.Prefix, "delimiter": r.Delimiter, "next": r.Next} {
			if val != "" {
				v.Set(name, val)
			}
		}
		v["key"] = r.Keys
		req.URL += sep + v.Encode()
	} else {
		body, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		req.Body, req.ContentType = body, "application/json"
	}
	t := &httprange.Target{
		Request: func(context.Context, string) (*httprange.Request, error) { c := req; return &c, nil },
		Explain: func(f *storage.Fault, body []byte, _ *httprange.Response) bool {
			var a Answer
			if json.Unmarshal(body, &a) == nil && a.Error != "" {
				f.Err = fmt.Errorf("the signer says: %.200s", s.clean(a.Error))
			} else {
				f.Err = errors.New("the signer refuses")
			}
			if f.Kind == storage.Forbidden || f.Kind == storage.Expired {
				f.Try = "Log in to the signer anew, or ask who runs it for access."
			}
			return false
		},
	}
	b, err := s.client.Fetch(ctx, t, method, op, path, location)
	if err != nil {
		return nil, err
	}
	var a Answer
	if err := json.Unmarshal(b, &a); err != nil {
		return nil, &storage.Fault{Op: op, Path: path, Location: location, Status: 200, Kind: storage.Failed, Err: errors.New("the signer's answer is not the JSON of its contract"),
			Try: "Check the address of the signer; docs/storage.md describes what it must answer."}
	}
	return &a, nil
}

func (s *store) clean(text string) string {
	_, query, _ := strings.Cut(s.endpoint, "?")
	for _, x := range []string{s.c.Authorization, strings.TrimPrefix(s.c.Authorization, "Bearer "), query} {
		if x != "" {
			text = strings.ReplaceAll(text, x, "…")
		}
	}
	return text
}

// Page asks the endpoint for a page.
func (s *store) Page(ctx context.Context, q objectlist.Query) (objectlist.Page, error) {
	a, err := s.ask(ctx, Request{Op: "list", Prefix: q.Prefix, Delimiter: q.Delimiter, Next: q.Next}, "list", q.Dir, q.Location)
	if err != nil {
		return objectlist.Page{}, err
	}
	p := objectlist.Page{Prefixes: a.Prefixes, Next: a.Next}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range a.Keys {
		if k.Key == "" {
			return p, &storage.Fault{Op: "list", Path: q.Dir, Location: q.Location, Kind: storage.Failed, Err: errors.New("the signer lists an entry without a key"), Try: "The signer does not follow its contract."}
		}
		key := objectlist.Key{Name: k.Key, Size: storage.SizeUnknown, ETag: listing.CleanETag(k.ETag), ModTime: k.Modified}
		if k.Size != nil && *k.Size >= 0 {
			key.Size = *k.Size
		}
		p.Keys = append(p.Keys, key)
		if s.listed < maxFolderKeys {
			s.listed++
			f := folder(k.Key)
			s.folders[f] = append(s.folders[f], k.Key)
		}
	}
	return p, nil
}

func folder(key string) string { return key[:strings.LastIndexByte(key, '/')+1] }

// Target tells how a key is read: by a signed address, and by a new one if that is refused.
func (s *store) Target(key string) *httprange.Target {
	return &httprange.Target{
		Request: func(ctx context.Context, _ string) (*httprange.Request, error) {
			u, err := s.address(ctx, key)
			if err != nil {
				return nil, err
			}
			return &httprange.Request{URL: u}, nil
		},
		Explain: func(f *storage.Fault, _ []byte, resp *httprange.Response) bool {
			if f.Kind != storage.Forbidden && f.Kind != storage.Expired {
				return false
			}
			f.Try = "The store refuses the signer's address, a new one too: the signer's own access may have ended."
			f.Err = errors.New("the store refuses a signed address")
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.urls[key].URL == resp.Asked() {
				delete(s.urls, key)
			}
			return true
		},
	}
}

// fresh returns the address of a key if it is valid for a while. s.mu is held.
func (s *store) fresh(key string) (string, bool) {
	u, ok := s.urls[key]
	if !ok || !u.Expires.IsZero() && s.c.Now().Add(5*time.Second).After(u.Expires) {
		return "", false
	}
	return u.URL, true
}

// address returns a signed address. Keys that are asked for together, and those of the same folder,
// go into one request.
func (s *store) address(ctx context.Context, key string) (string, error) {
	s.mu.Lock()
	if u, ok := s.fresh(key); ok {
		s.mu.Unlock()
		return u, nil
	}
	b := s.open
	if b != nil && !b.closed && len(b.keys) < MaxKeys && b.call.Join() {
		b.keys = append(b.keys, key)
	} else {
		b = &batch{keys: []string{key}}
		s.open = b
		b.call = flight.Start(ctx, func(ctx context.Context) (map[string]URL, error) { return s.sign(ctx, b) })
	}
	s.mu.Unlock()
	urls, err := b.call.Wait(ctx)
	if err != nil {
		return "", s.named(err, key)
	}
	u, ok := urls[key]
	if !ok {
		return "", s.named(&storage.Fault{Kind: storage.NotFound, Err: errors.New("the signer gives no address for it")}, key)
	}
	if _, err := httprange.ParseAddress(u.URL); err != nil {
		return "", s.named(&storage.Fault{Kind: storage.Failed, Err: errors.New("the signer's address is no http or https URL"), Try: "The signer does not follow its contract."}, key)
	}
	return u.URL, nil
}

// named is err with the file of a key in it.
func (s *store) named(err error, key string) error {
	var f *storage.Fault
	if !errors.As(err, &f) {
		return err
	}
	c := *f
	base := strings.Trim(s.c.Prefix, "/")
	c.Op, c.Location = "read", s.Location(base)
	if c.Path = key; base != "" {
		c.Path = strings.TrimPrefix(key, base+"/")
	}
	return &c
}

// sign asks for the addresses of a batch.
func (s *store) sign(ctx context.Context, b *batch) (map[string]URL, error) {
	t := time.NewTimer(gather)
	select {
	case <-t.C:
	case <-ctx.Done():
		t.Stop()
	}
	s.mu.Lock()
	b.closed = true
	seen := map[string]bool{}
	keys := []string{}
	add := func(k string) {
		if !seen[k] && len(keys) < MaxKeys {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	for _, k := range b.keys {
		add(k)
	}
	for _, k := range b.keys { // a table's files are read by folders
		for _, n := range s.folders[folder(k)] {
			if len(keys) == MaxKeys {
				break
			}
			if _, ok := s.fresh(n); !ok {
				add(n)
			}
		}
	}
	if len(s.urls)+len(keys) > maxURLs {
		clear(s.urls)
	}
	s.mu.Unlock()
	a, err := s.ask(ctx, Request{Op: "get", Keys: keys}, "read", "", s.Location(""))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, u := range a.URLs {
		if seen[k] && u.URL != "" {
			s.urls[k] = u
		}
	}
	return a.URLs, nil
}
