// Package presigned reads a table through a bundle: a JSON document that gives a URL for
// every file, such as presigned URLs of a private bucket. A bundle needs no listing, and
// whoever holds it can read the table until it expires.
package presigned

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hudiscope/core/storage"
	"hudiscope/core/storage/flight"
	"hudiscope/fsadapter/basepath"
	"hudiscope/fsadapter/httprange"
	"hudiscope/fsadapter/httprange/listing"
)

// Version is the value of "v" that this package reads.
const Version = 1

// Bundle is the document:
//
//	{"v":1, "base":"name", "taken":"2026-01-02T15:04:05Z", "expires":"2026-01-09T15:04:05Z",
//	 "files":{"p=1/a.parquet":{"url":"https://…","size":1234,"etag":"…"}}}
//
// The keys of files are paths relative to the table's base, and all files of the table
// are among them.
type Bundle struct {
	V int `json:"v"`
	// Base names the table for people.
	Base string `json:"base"`
	// Taken is when the files were listed, Expires when the URLs end. Both may be zero.
	Taken   time.Time `json:"taken,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
	// Renew is the URL of the next bundle of the table, with URLs that live longer; "" if there is
	// none. It is asked for when these have ended.
	Renew string          `json:"renew,omitempty"`
	Files map[string]File `json:"files"`
}

// MaxFiles is the number of files up to which a bundle is a good way to a table; every URL takes
// half a kilobyte to two.
const MaxFiles = 2000

// File is one file of a Bundle.
type File struct {
	URL string `json:"url"`
	// Size in bytes; nil when not known.
	Size *int64 `json:"size,omitempty"`
	ETag string `json:"etag,omitempty"`
}

// IsBundle reports whether a JSON document means to be a bundle.
func IsBundle(b []byte) bool {
	var head struct {
		V     *int                       `json:"v"`
		Files map[string]json.RawMessage `json:"files"`
	}
	return json.Unmarshal(b, &head) == nil && head.V != nil && head.Files != nil
}

// Parse reads and checks a bundle. location names it in errors, which are Faults of kind
// Refused and never hold a URL.
func Parse(b []byte, location string) (*Bundle, error) {
	refuse := func(format string, args ...any) (*Bundle, error) {
		return nil, &storage.Fault{Op: "open", Location: location, Kind: storage.Refused, Err: fmt.Errorf(format, args...),
			Try: "Make the bundle anew; it has the fields v, base, taken, expires, renew and files."}
	}
	var bundle Bundle
	if err := json.Unmarshal(b, &bundle); err != nil {
		var syntax *json.SyntaxError
		var wrong *json.UnmarshalTypeError
		switch {
		case errors.As(err, &syntax):
			return refuse("the bundle is no JSON from byte %d on", syntax.Offset)
		case errors.As(err, &wrong):
			return refuse("the bundle's field %q at byte %d is a %s", wrong.Field, wrong.Offset, wrong.Value)
		}
		return refuse("the bundle's times must look like 2006-01-02T15:04:05Z")
	}
	if bundle.V != Version {
		return refuse("the bundle has version %d, not %d", bundle.V, Version)
	}
	if len(bundle.Files) == 0 {
		return refuse("the bundle names no files")
	}
	if bundle.Renew != "" {
		if _, err := httprange.ParseAddress(bundle.Renew); err != nil {
			return refuse("renew is no http or https URL")
		}
	}
	entries := map[string]storage.Entry{}
	for p, f := range bundle.Files {
		if p == "" {
			return refuse("the bundle has a file without a path")
		}
		if err := storage.CheckPath("open", p, location); err != nil {
			return nil, err
		}
		if _, err := httprange.ParseAddress(f.URL); err != nil {
			return refuse("the url of %q is no http or https URL", p)
		}
		if f.Size != nil && *f.Size < 0 {
			return refuse("the size of %q is negative", p)
		}
		entries[p] = storage.Entry{}
	}
	if _, clash := basepath.Folders(maps.All(entries), nil); clash != "" {
		return refuse("the bundle has %q both as a file and as a folder", clash)
	}
	return &bundle, nil
}

// Source is a bundle as a storage.Source. It is safe for concurrent use. It keeps no bytes: wrap it
// in a cache.
type Source struct {
	c        *httprange.Client
	location string
	renew    func(ctx context.Context) (*Bundle, error) // nil if the bundle can't be renewed
	now      func() time.Time
	renewals flight.Group[int, struct{}]

	mu   sync.Mutex
	b    *Bundle
	n    int // how often it was renewed
	dirs map[string][]storage.Entry
	ids  map[string]*httprange.Identity
}

var (
	_ storage.Source    = (*Source)(nil)
	_ storage.Forgetter = (*Source)(nil)
)

// New returns the Source of a bundle that Parse accepted. It sends nothing. When the URLs have
// ended, the bundle at Bundle.Renew takes its place.
func New(b *Bundle, o httprange.Options) *Source {
	s := NewRenewed(b, o, nil)
	if b.Renew != "" {
		s.renew = s.fetch
	}
	return s
}

// NewRenewed is New with a function that gives the next bundle when the URLs have ended; nil for
// none. Its errors are shown.
func NewRenewed(b *Bundle, o httprange.Options, renew func(ctx context.Context) (*Bundle, error)) *Source {
	s := &Source{c: httprange.NewClient(o), b: b, location: "bundle", now: time.Now, renew: renew}
	if b.Base != "" {
		name, _, _ := strings.Cut(b.Base, "?") // should the base be a URL
		s.location = "bundle of " + name
	}
	s.Forget()
	return s
}

// Forget drops what is known of files beyond the bundle in use.
func (s *Source) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids = map[string]*httprange.Identity{}
	s.take(s.b)
}

// take puts the files of a bundle in use. Files that are known already keep their identity, so that
// one that has changed is noticed. s.mu is held.
func (s *Source) take(b *Bundle) {
	entries := map[string]storage.Entry{}
	for p, f := range b.Files {
		e := storage.Entry{Size: storage.SizeUnknown, ETag: listing.CleanETag(f.ETag)}
		if f.Size != nil {
			e.Size = *f.Size
		}
		entries[p] = e
		if s.ids[p] == nil {
			s.ids[p] = httprange.NewIdentity(e.Size, f.ETag)
		}
	}
	s.b = b
	s.dirs, _ = basepath.Folders(maps.All(entries), nil) // Parse has refused clashes
}

// maxRenewed is the largest bundle that is read to renew one, in bytes.
const maxRenewed = 64 << 20

// fetch gets the bundle at Bundle.Renew.
func (s *Source) fetch(ctx context.Context) (*Bundle, error) {
	s.mu.Lock()
	from := s.b.Renew
	s.mu.Unlock()
	t := &httprange.Target{Request: func(context.Context, string) (*httprange.Request, error) { return &httprange.Request{URL: from}, nil }}
	raw, err := s.c.Fetch(ctx, t, "GET", "open", "", s.location)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxRenewed {
		return nil, &storage.Fault{Op: "open", Location: s.location, Kind: storage.Refused, Err: errors.New("the renewed bundle is too large")}
	}
	b, err := Parse(raw, s.location)
	if err == nil && b.Renew == "" {
		b.Renew = from
	}
	return b, err
}

// renewed makes sure that the bundle in use is a later one than number n.
func (s *Source) renewed(ctx context.Context, n int) error {
	s.mu.Lock()
	done := s.n > n
	s.mu.Unlock()
	if done {
		return nil
	}
	_, err := s.renewals.Do(ctx, n, func(ctx context.Context) (struct{}, error) {
		// A renewal that ended between the question above and now was this one, too.
		s.mu.Lock()
		done := s.n > n
		s.mu.Unlock()
		if done {
			return struct{}{}, nil
		}
		b, err := s.renew(ctx)
		if err == nil && !b.Expires.IsZero() && s.now().After(b.Expires) {
			err = fmt.Errorf("the renewed bundle ended at %s", b.Expires.UTC().Format(time.RFC3339))
		}
		if err != nil {
			return struct{}{}, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.n == n {
			s.n++
			s.take(b)
		}
		return struct{}{}, nil
	})
	return err
}

// Location names the bundle. It holds no URL.
func (s *Source) Location() string { return s.location }

// Expires is when the URLs in use end; zero when the bundle does not say.
func (s *Source) Expires() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Expires
}

// Renews reports whether the bundle is renewed when its URLs have ended.
func (s *Source) Renews() bool { return s.renew != nil }

func (s *Source) expired() bool {
	e := s.Expires()
	return !e.IsZero() && s.now().After(e)
}

func (s *Source) expiry(op, path string, status int, cause error) error {
	f := &storage.Fault{Op: op, Path: path, Location: s.location, Status: status, Kind: storage.Expired,
		Try: "Make a new bundle of the table and open that.", Err: errors.New("the URLs of the bundle are no longer valid")}
	if e := s.Expires(); !e.IsZero() {
		f.Err = fmt.Errorf("the URLs of the bundle ended at %s", e.UTC().Format(time.RFC3339))
	}
	if cause != nil {
		f.Err = fmt.Errorf("%w, and it could not be renewed: %w", f.Err, cause)
	}
	return f
}

// request is that of a file, by a bundle that has not ended. n is the number of the bundle.
func (s *Source) request(ctx context.Context, path string) (r *httprange.Request, n int, err error) {
	for {
		s.mu.Lock()
		f, ok := s.b.Files[path]
		n = s.n
		s.mu.Unlock()
		if !ok {
			return nil, n, &storage.Fault{Op: "open", Path: path, Location: s.location, Kind: storage.NotFound, Err: errors.New("the bundle does not name it")}
		}
		if !s.expired() {
			return &httprange.Request{URL: f.URL}, n, nil
		}
		if s.renew == nil {
			return nil, n, s.expiry("open", path, 0, nil)
		}
		if err := s.renewed(ctx, n); err != nil {
			if ctx.Err() != nil {
				return nil, n, ctx.Err()
			}
			return nil, n, s.expiry("open", path, 0, err)
		}
	}
}

// List lists a folder from the paths of the bundle; it is complete as of Bundle.Taken.
func (s *Source) List(ctx context.Context, dir string) (storage.Listing, error) {
	if err := ctx.Err(); err != nil {
		return storage.Listing{}, err
	}
	if err := storage.CheckPath("list", dir, s.location); err != nil {
		return storage.Listing{}, err
	}
	s.mu.Lock()
	es, ok := s.dirs[dir]
	s.mu.Unlock()
	if !ok {
		return storage.Listing{}, &storage.Fault{Op: "list", Path: dir, Location: s.location, Kind: storage.NotFound}
	}
	return storage.Listing{Entries: slices.Clone(es), Complete: true}, nil
}

// Open opens a file of the bundle. Once the bundle has expired that is a Fault of kind
// Expired, and so is a refusal by the server after that time.
func (s *Source) Open(ctx context.Context, path string) (storage.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := storage.CheckPath("open", path, s.location); err != nil {
		return nil, err
	}
	_, n, err := s.request(ctx, path)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	id := s.ids[path]
	s.mu.Unlock()
	used := &atomic.Int64{} // the number of the bundle that the last request was made by
	used.Store(int64(n))
	t := &httprange.Target{
		Request: func(ctx context.Context, _ string) (*httprange.Request, error) {
			r, n, err := s.request(ctx, path)
			used.Store(int64(n))
			return r, err
		},
		Explain: func(f *storage.Fault, _ []byte, _ *httprange.Response) bool {
			// A refusal before the time is over: the keys that made the URLs may have ended.
			if s.renew == nil || f.Kind != storage.Expired && f.Kind != storage.Forbidden {
				return false
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.n == int(used.Load()) {
				b := *s.b
				b.Expires = s.now().Add(-time.Second)
				s.b = &b
			}
			return true
		},
	}
	return &object{Object: s.c.ObjectAt(t, path, s.location, id), s: s, path: path}, nil
}

type object struct {
	storage.Object
	s    *Source
	path string
}

func (o *object) KnownSize() (int64, bool) { return o.Object.(storage.KnownSizer).KnownSize() }

func (o *object) Size(ctx context.Context) (int64, error) {
	n, err := o.Object.Size(ctx)
	return n, o.judge(err)
}

func (o *object) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := o.Object.ReadAt(ctx, p, off)
	return n, o.judge(err)
}

// judge turns a refusal into Expired when the time is over or the server says so, and
// tells what to do with a bundle about a changed file.
func (o *object) judge(err error) error {
	var f *storage.Fault
	if !errors.As(err, &f) {
		return err
	}
	switch {
	case f.Kind == storage.Expired && f.Status != 0, f.Kind == storage.Forbidden && o.s.expired():
		return o.s.expiry(f.Op, o.path, f.Status, nil)
	case f.Kind == storage.Changed:
		c := *f
		c.Try = "The file is not the one the bundle was made for; make a new bundle of the table."
		return &c
	}
	return err
}
