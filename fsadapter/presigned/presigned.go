// Package presigned reads a table through a bundle: a JSON document that gives a URL for
// every file, such as presigned URLs of a private bucket. A bundle needs no listing, and
// whoever holds it can read the table until it expires.
package presigned

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hudiscope/core/storage"
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
	Taken   time.Time       `json:"taken,omitzero"`
	Expires time.Time       `json:"expires,omitzero"`
	Files   map[string]File `json:"files"`
}

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
			Try: "Make the bundle anew; it has the fields v, base, taken, expires and files."}
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
	if _, clash := basepath.Folders(entries, nil); clash != "" {
		return refuse("the bundle has %q both as a file and as a folder", clash)
	}
	return &bundle, nil
}

// Source is a bundle as a storage.Source. It keeps no bytes: wrap it in a cache.
type Source struct {
	c        *httprange.Client
	b        *Bundle
	location string
	dirs     map[string][]storage.Entry
	ids      map[string]*httprange.Identity
	now      func() time.Time
}

var _ storage.Source = (*Source)(nil)

// New returns the Source of a bundle that Parse accepted. It sends nothing.
func New(b *Bundle, o httprange.Options) *Source {
	s := &Source{c: httprange.NewClient(o), b: b, location: "bundle", now: time.Now,
		ids: map[string]*httprange.Identity{}}
	if b.Base != "" {
		name, _, _ := strings.Cut(b.Base, "?") // should the base be a URL
		s.location = "bundle of " + name
	}
	entries := map[string]storage.Entry{}
	for p, f := range b.Files {
		e := storage.Entry{Size: storage.SizeUnknown, ETag: listing.CleanETag(f.ETag)}
		if f.Size != nil {
			e.Size = *f.Size
		}
		entries[p] = e
		s.ids[p] = httprange.NewIdentity(e.Size, f.ETag)
	}
	s.dirs, _ = basepath.Folders(entries, nil) // Parse has refused clashes
	return s
}

// Location names the bundle. It holds no URL.
func (s *Source) Location() string { return s.location }

// Expires is when the URLs end; zero when the bundle does not say.
func (s *Source) Expires() time.Time { return s.b.Expires }

func (s *Source) expired() bool { return !s.b.Expires.IsZero() && s.now().After(s.b.Expires) }

func (s *Source) expiry(op, path string, status int) error {
	f := &storage.Fault{Op: op, Path: path, Location: s.location, Status: status, Kind: storage.Expired,
		Try: "Make a new bundle of the table and open that.", Err: errors.New("the URLs of the bundle are no longer valid")}
	if !s.b.Expires.IsZero() {
		f.Err = fmt.Errorf("the URLs of the bundle ended at %s", s.b.Expires.UTC().Format(time.RFC3339))
	}
	return f
}

// List lists a folder from the paths of the bundle; it is complete as of Bundle.Taken.
func (s *Source) List(ctx context.Context, dir string) (storage.Listing, error) {
	if err := ctx.Err(); err != nil {
		return storage.Listing{}, err
	}
	if err := storage.CheckPath("list", dir, s.location); err != nil {
		return storage.Listing{}, err
	}
	es, ok := s.dirs[dir]
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
	f, ok := s.b.Files[path]
	if !ok {
		return nil, &storage.Fault{Op: "open", Path: path, Location: s.location, Kind: storage.NotFound, Err: errors.New("the bundle does not name it")}
	}
	if s.expired() {
		return nil, s.expiry("open", path, 0)
	}
	return &object{Object: s.c.Object(f.URL, path, s.location, s.ids[path]), s: s, path: path}, nil
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
	case f.Kind == storage.Expired, f.Kind == storage.Forbidden && o.s.expired():
		return o.s.expiry(f.Op, o.path, f.Status)
	case f.Kind == storage.Changed:
		c := *f
		c.Try = "The file is not the one the bundle was made for; make a new bundle of the table."
		return &c
	}
	return err
}
