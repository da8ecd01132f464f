// Package objectlist makes a storage.Source of an object store: of pages of keys and of a way to
// read one key. The stores (packages s3, azure, gcs, signer) bring both.
//
// A store has keys and no directories. A directory is what keys have in common before a "/"; it is
// asked for when it is listed, page after page, with the store's delimiter. The first listing asks
// for one page of all keys below the base besides: most tables are small enough to be known whole
// from one or two pages, and of a large one the timeline is among the first keys.
package objectlist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"hudiscope/core/storage"
	"hudiscope/core/storage/flight"
	"hudiscope/fsadapter/httprange"
)

// Key is one object.
type Key struct {
	// Name is the whole key, plain (not URL-encoded).
	Name string
	// Size in bytes, or storage.SizeUnknown.
	Size int64
	// ETag without quotes; "" when not told.
	ETag string
	// ModTime is zero when not told.
	ModTime time.Time
	// Folder marks a key that stands for a directory, whatever its name.
	Folder bool
}

// Page is one answer to a Query.
type Page struct {
	Keys []Key
	// Prefixes are the common prefixes up to and with the delimiter, plain.
	Prefixes []string
	// Next continues the listing; "" at its end. It is opaque.
	Next string
}

// Query asks for a page.
type Query struct {
	// Prefix is what all keys begin with, plain.
	Prefix string
	// Delimiter is "/" to have deeper keys as common prefixes, "" to have them all.
	Delimiter string
	// Next is that of the page before, "" for the first.
	Next string
	// Dir and Location name the directory in errors.
	Dir, Location string
}

// Store is what a kind of store brings. Its methods are called by several goroutines.
type Store interface {
	// Page gets one page. Errors are storage.Faults of Op "list" with the Query's Dir and Location.
	Page(ctx context.Context, q Query) (Page, error)
	// Target tells how the object of a key is read.
	Target(key string) *httprange.Target
	// Location names a prefix for people, without credentials.
	Location(prefix string) string
}

// Options adjusts a Source. A zero field takes its default.
type Options struct {
	// InFlight is the number of pages that may be asked for at a time. Default 6.
	InFlight int
	// FlatPages is how many pages of all keys are asked for at first; negative for none.
	// Default 2.
	FlatPages int
	// MaxEntries is the largest directory that is listed. Default 1,000,000.
	MaxEntries int
	// LooseETags says that the ETags of listings are not those of reads, and not compared.
	LooseETags bool
}

// Source is a prefix of an object store. It is safe for concurrent use. It remembers the first keys
// of the prefix and the size and version of listed files until Forget, and no bytes: wrap it in a
// cache.
type Source struct {
	store  Store
	client *httprange.Client
	base   string // the prefix with its slash, or ""
	o      Options
	slots  chan struct{}

	mu     sync.Mutex
	epoch  int // of Forget
	flat   flatIndex
	listed map[string]Key
	ids    map[string]*httprange.Identity

	flats flight.Group[int, struct{}]
	lists flight.Group[string, storage.Listing]
}

var (
	_ storage.Source    = (*Source)(nil)
	_ storage.Forgetter = (*Source)(nil)
	_ storage.Neighbour = (*Source)(nil)
)

// flatIndex is what the pages of all keys have told.
type flatIndex struct {
	pages   int
	next    string
	upto    string // the last key seen
	ordered bool   // keys came in the order of their bytes
	failed  bool
	tree    tree
}

// New returns the Source of the keys below a prefix, which is a plain path without slashes at its
// ends; "" is the whole store. It sends nothing.
func New(store Store, client *httprange.Client, prefix string, o Options) (*Source, error) {
	if err := storage.CheckPath("open", prefix, store.Location(prefix)); err != nil {
		return nil, err
	}
	if o.InFlight <= 0 {
		o.InFlight = 6
	}
	if o.FlatPages == 0 {
		o.FlatPages = 2
	}
	if o.MaxEntries <= 0 {
		o.MaxEntries = 1_000_000
	}
	if prefix != "" {
		prefix += "/"
	}
	s := &Source{store: store, client: client, base: prefix, o: o, slots: make(chan struct{}, o.InFlight)}
	s.Forget()
	return s, nil
}

// Location names the place, without credentials.
func (s *Source) Location() string { return s.store.Location(strings.TrimSuffix(s.base, "/")) }

// Stats returns what was sent so far.
func (s *Source) Stats() httprange.Stats { return s.client.Stats() }

// Forget drops what is known of listings and files.
func (s *Source) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	s.flat = flatIndex{ordered: true, tree: tree{}}
	s.listed = map[string]Key{}
	s.ids = map[string]*httprange.Identity{}
}

// Sibling is the prefix of a name beside the base. Nothing is sent: whether it exists shows when it
// is read.
func (s *Source) Sibling(ctx context.Context, name string) (storage.Source, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := storage.CheckName(name, s.Location()); err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(s.base, "/")
	if base == "" {
		return nil, storage.NoSibling(name, s.Location())
	}
	return New(s.store, s.client, base[:strings.LastIndexByte(base, '/')+1]+name, s.o)
}

// List lists a directory. A prefix without keys is a Fault of kind NotFound, the base too.
func (s *Source) List(ctx context.Context, dir string) (storage.Listing, error) {
	if err := ctx.Err(); err != nil {
		return storage.Listing{}, err
	}
	if err := storage.CheckPath("list", dir, s.Location()); err != nil {
		return storage.Listing{}, err
	}
	if s.wantFlat(0) {
		_, err := s.flats.Do(ctx, 0, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.flatPage(ctx, 0) })
		var f *storage.Fault
		switch {
		case err != nil && ctx.Err() != nil:
			return storage.Listing{}, ctx.Err()
		case errors.As(err, &f) && (f.Kind == storage.Unreachable || f.Kind == storage.Expired):
			c := *f // no other question would be answered; a permission may be for listings with a delimiter alone
			c.Path = dir
			return storage.Listing{}, &c
		}
	}
	if l, err, ok := s.known(dir); ok {
		return l, err
	}
	// The second page of all keys and this directory go out together: the one does not wait for
	// the other, and each may make further requests needless.
	done := make(chan struct{})
	if s.wantFlat(1) {
		go func() {
			defer close(done)
			s.flats.Do(ctx, 1, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.flatMore(ctx) })
		}()
	} else {
		close(done)
	}
	l, err := s.lists.Do(ctx, dir, func(ctx context.Context) (storage.Listing, error) { return s.pages(ctx, dir) })
	<-done
	l.Entries = slices.Clone(l.Entries)
	return l, err
}

func (s *Source) wantFlat(page int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.flat
	return !f.failed && s.o.FlatPages > page && f.ordered &&
		(page == 0 && f.pages == 0 || page > 0 && f.pages == page && f.next != "")
}

// flatMore asks for the second and, if so set, further pages of all keys.
func (s *Source) flatMore(ctx context.Context) error {
	for n := 1; n < s.o.FlatPages; n++ {
		if !s.wantFlat(n) {
			return nil
		}
		if err := s.flatPage(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// flatPage asks for page n of all keys. Its failure is not the end: directories are asked for then.
func (s *Source) flatPage(ctx context.Context, n int) error {
	s.mu.Lock()
	epoch, next, pages := s.epoch, s.flat.next, s.flat.pages
	s.mu.Unlock()
	if pages > n {
		return nil
	}
	p, err := s.page(ctx, Query{Prefix: s.base, Next: next, Location: s.Location()})
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.flat
	switch {
	case s.epoch != epoch || f.pages != n:
		return nil
	case err != nil:
		f.failed = ctx.Err() == nil
		return err
	}
	f.pages++
	f.next = p.Next
	for _, k := range p.Keys {
		f.ordered = f.ordered && k.Name > f.upto
		f.upto = k.Name
		s.take(f.tree, "", s.base, k)
	}
	return nil
}

// known answers from the pages of all keys, if they hold all of the directory.
func (s *Source) known(dir string) (storage.Listing, error, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.flat
	if f.pages == 0 {
		return storage.Listing{}, nil, false
	}
	if f.next != "" { // there are keys behind upto: those of dir must all lie before
		prefix := s.base
		if dir != "" {
			prefix += dir + "/"
		}
		if !f.ordered || dir == "" || f.upto <= prefix || strings.HasPrefix(f.upto, prefix) {
			return storage.Listing{}, nil, false
		}
	}
	l, err := s.listing(f.tree, dir, dir)
	return l, err, true
}

// maxEmpty bounds pages without entries that follow each other; stores send some where many versions of keys
// are deleted.
const maxEmpty = 1000

// pages lists a directory with the delimiter.
func (s *Source) pages(ctx context.Context, dir string) (storage.Listing, error) {
	q := Query{Prefix: s.base, Delimiter: "/", Dir: dir, Location: s.Location()}
	if dir != "" {
		q.Prefix += dir + "/"
	}
	t := tree{}
	for n, empty := 0, 0; ; {
		p, err := s.page(ctx, q)
		if err != nil {
			return storage.Listing{}, err
		}
		n += len(p.Keys) + len(p.Prefixes)
		if len(p.Keys)+len(p.Prefixes) > 0 {
			empty = 0
		} else if empty++; empty > maxEmpty {
			return storage.Listing{}, s.fault(q, storage.Failed, fmt.Errorf("more than %d pages of the listing on end have no entries", maxEmpty), "The store does not list correctly.")
		}
		if n > s.o.MaxEntries {
			return storage.Listing{}, s.fault(q, storage.Refused, fmt.Errorf("the directory has more than %d entries", s.o.MaxEntries),
				"Give the address of the table itself, not of a folder above it.")
		}
		s.mu.Lock()
		for _, k := range p.Keys {
			s.take(t, dir, q.Prefix, k)
		}
		s.mu.Unlock()
		for _, pre := range p.Prefixes {
			t.key(strings.TrimPrefix(pre, q.Prefix), Key{Folder: true})
		}
		if p.Next == "" {
			break
		}
		if p.Next == q.Next {
			return storage.Listing{}, s.fault(q, storage.Failed, errors.New("a page of the listing names itself as the next"), "The store does not list correctly.")
		}
		q.Next = p.Next
	}
	return s.listing(t, "", dir)
}

func (s *Source) fault(q Query, kind storage.FaultKind, err error, try string) error {
	return &storage.Fault{Op: "list", Path: q.Dir, Location: s.Location(), Kind: kind, Err: err, Try: try}
}

// page asks for one page and checks it.
func (s *Source) page(ctx context.Context, q Query) (Page, error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return Page{}, ctx.Err()
	}
	p, err := s.store.Page(ctx, q)
	if err != nil {
		return Page{}, err
	}
	for _, k := range p.Keys {
		if !strings.HasPrefix(k.Name, q.Prefix) && k.Name+"/" != q.Prefix {
			return Page{}, s.fault(q, storage.Failed, fmt.Errorf("the store was asked for keys below %q and lists %q", q.Prefix, k.Name), "The store does not list correctly.")
		}
	}
	for _, pre := range p.Prefixes {
		if !strings.HasPrefix(pre, q.Prefix) {
			return Page{}, s.fault(q, storage.Failed, fmt.Errorf("the store was asked for keys below %q and lists the prefix %q", q.Prefix, pre), "The store does not list correctly.")
		}
	}
	return p, nil
}

// take puts a key into a tree and remembers its file. s.mu is held.
func (s *Source) take(t tree, dir, prefix string, k Key) {
	rest, ok := strings.CutPrefix(k.Name, prefix)
	if !ok {
		return // the marker of the directory itself, without a slash
	}
	if t.key(rest, k) {
		s.listed[join(dir, rest)] = k
	}
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// listing is the content of folder at of a tree, which is directory dir of the source.
func (s *Source) listing(t tree, at, dir string) (storage.Listing, error) {
	f := t[at]
	if f == nil {
		return storage.Listing{}, &storage.Fault{Op: "list", Path: dir, Location: s.Location(), Kind: storage.NotFound,
			Err: errors.New("no key begins with it"), Try: "Check the name; a store has only the directories that its keys imply."}
	}
	l := storage.Listing{Complete: f.odd == 0, Entries: make([]storage.Entry, 0, len(f.files)+len(f.dirs))}
	if f.odd > 0 {
		l.Note = fmt.Sprintf("%d keys have an empty, \".\" or \"..\" element in their path and are not shown.", f.odd)
	}
	for name, k := range f.files {
		if f.dirs[name] && k.Size == 0 {
			continue // an empty object that marks the directory
		}
		l.Entries = append(l.Entries, storage.Entry{Name: name, Size: k.Size, ModTime: k.ModTime, ETag: k.ETag})
	}
	for name := range f.dirs {
		l.Entries = append(l.Entries, storage.Entry{Name: name, Dir: true, Size: storage.SizeUnknown})
	}
	slices.SortFunc(l.Entries, func(a, b storage.Entry) int {
		if c := cmp.Compare(a.Name, b.Name); c != 0 || a.Dir == b.Dir {
			return c
		}
		if a.Dir {
			return -1
		}
		return 1
	})
	return l, nil
}

// tree is the folders that keys imply, by path.
type tree map[string]*folder

type folder struct {
	files map[string]Key
	dirs  map[string]bool
	odd   int // keys below it that are no paths
}

func (t tree) at(dir string) *folder {
	f := t[dir]
	if f == nil {
		f = &folder{files: map[string]Key{}, dirs: map[string]bool{}}
		t[dir] = f
	}
	return f
}

// key adds a key, without the prefix of the tree. It reports whether it is a file.
func (t tree) key(rest string, k Key) bool {
	// Consoles mark a directory by an empty object "dir/", older Hadoop by "dir_$folder$".
	dir := k.Folder
	f, at := t.at(""), ""
	if rest == "" {
		return false // the tree's own marker
	}
	if r, ok := strings.CutSuffix(rest, "/"); ok {
		rest, dir = r, true
	} else if r, ok := strings.CutSuffix(rest, "_$folder$"); ok && k.Size == 0 && r != "" {
		rest, dir = r, true
	}
	for more := true; more; {
		var e string
		e, rest, more = strings.Cut(rest, "/")
		if e == "" || e == "." || e == ".." || strings.IndexByte(e, 0) >= 0 {
			f.odd++
			return false
		}
		if !more && !dir {
			f.files[e] = k
			return true
		}
		f.dirs[e] = true
		at = join(at, e)
		f = t.at(at)
	}
	return false
}

// Open opens a file without sending anything; whether it exists shows at the first read, unless a
// listing has told its size.
func (s *Source) Open(ctx context.Context, path string) (storage.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := storage.CheckPath("open", path, s.Location()); err != nil {
		return nil, err
	}
	if path == "" {
		return nil, &storage.Fault{Op: "open", Location: s.Location(), Kind: storage.NotFound, Err: errors.New("it is a directory")}
	}
	s.mu.Lock()
	id := s.ids[path]
	if id == nil {
		k, ok := s.listed[path]
		if !ok {
			k = Key{Size: storage.SizeUnknown}
		}
		if s.o.LooseETags {
			k.ETag = ""
		}
		id = httprange.NewIdentity(k.Size, k.ETag)
		s.ids[path] = id
	}
	s.mu.Unlock()
	return &object{Object: s.client.ObjectAt(s.store.Target(s.base+path), path, s.Location(), id), s: s, path: path, id: id}, nil
}

// object lets the Source forget a file that changed, so that opening it anew reads it as it is now.
type object struct {
	storage.Object
	s    *Source
	path string
	id   *httprange.Identity
}

// KnownSize is the size if a listing or an answer has told it.
func (o *object) KnownSize() (int64, bool) { return o.Object.(storage.KnownSizer).KnownSize() }

func (o *object) Size(ctx context.Context) (int64, error) {
	n, err := o.Object.Size(ctx)
	return n, o.judge(err)
}

func (o *object) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := o.Object.ReadAt(ctx, p, off)
	return n, o.judge(err)
}

func (o *object) judge(err error) error {
	var f *storage.Fault
	if !errors.As(err, &f) || f.Kind != storage.Changed && f.Kind != storage.NotFound {
		return err
	}
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	if o.s.ids[o.path] == o.id {
		delete(o.s.ids, o.path)
		delete(o.s.listed, o.path)
	}
	return err
}
