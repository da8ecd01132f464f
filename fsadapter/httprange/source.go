package httprange

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"hudiscope/core/storage"
	"hudiscope/core/storage/flight"
	"hudiscope/fsadapter/basepath"
	"hudiscope/fsadapter/httprange/listing"
	"hudiscope/fsadapter/manifest"
)

// Source is a directory of a web server as a storage.Source. It is safe for concurrent
// use. It remembers the size and version of every file it has read until Forget, and
// keeps no bytes: wrap it in a cache.
type Source struct {
	c    *Client
	base Address

	mu    sync.Mutex
	ids   map[string]*Identity
	sight sight
	note  string // with hidden
	// refused: files whose names begin with a dot can't be read either.
	refused bool
	dav     bool // directories are asked for by WebDAV
	looks   flight.Group[struct{}, sight]

	// basePage is the page of the base directory, asked for to see whether it shows dot names; whoever
	// lists the base first gets it.
	basePage *storage.Listing
	// lookPage is the last such page, for whoever finds out how the server lists.
	lookPage  *storage.Listing
	basePages flight.Group[int, storage.Listing]
	epoch     int                // counts Forget
	stopAhead context.CancelFunc // of asking for it before it is needed; nil if that was not done

	// dirs are the folders by the table's manifest, once it was needed and found.
	dirs       map[string][]storage.Entry
	noManifest bool
	manifests  flight.Group[struct{}, map[string][]storage.Entry]
}

// sight says whether listings show names that begin with a dot. nginx, Debian's Apache
// and lighttpd hide them unless told otherwise, and Hudi's log files are such names.
type sight int

const (
	unknown sight = iota
	sees
	hidden
)

var (
	_ storage.Source    = (*Source)(nil)
	_ storage.Forgetter = (*Source)(nil)
)

// New returns the Source of the directory at an http or https URL. A query, such as a
// shared access signature, goes with every request and appears in no Location or error.
// New sends nothing.
func New(rawURL string, o Options) (*Source, error) {
	a, err := ParseAddress(rawURL)
	if err != nil {
		return nil, err
	}
	return &Source{c: NewClient(o), base: a, ids: map[string]*Identity{}}, nil
}

// Location is the URL without user, password, query and fragment.
func (s *Source) Location() string { return s.base.Location() }

// Sibling is the directory of a name beside the base, with the same query. Nothing is sent: whether
// it exists shows when it is read.
func (s *Source) Sibling(ctx context.Context, name string) (storage.Source, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := storage.CheckName(name, s.Location()); err != nil {
		return nil, err
	}
	up, ok := s.base.Parent()
	if !ok {
		return nil, storage.NoSibling(name, s.Location())
	}
	base, err := ParseAddress(up.Child(name, true))
	if err != nil {
		return nil, err
	}
	return &Source{c: s.c, base: base, ids: map[string]*Identity{}}, nil
}

// Stats returns what was sent so far.
func (s *Source) Stats() Stats { return s.c.Stats() }

// Forget drops what is known of files and of the server's listings.
func (s *Source) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids = map[string]*Identity{}
	s.sight = unknown
	s.basePage, s.lookPage = nil, nil
	s.epoch++
	if s.stopAhead != nil {
		s.stopAhead()
		s.stopAhead = nil
	}
	s.dirs, s.noManifest = nil, false
}

// Open opens a file without sending anything; whether it exists shows at the first read.
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
		id = NewIdentity(storage.SizeUnknown, "")
		s.ids[path] = id
	}
	s.mu.Unlock()
	return &tracked{s.c.Object(s.base.Child(path, false), path, s.Location(), id).(*object), s}, nil
}

// tracked lets a Source forget the identity of a file that changed, so that opening it
// anew reads it as it is now.
type tracked struct {
	*object
	s *Source
}

func (t *tracked) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := t.object.ReadAt(ctx, p, off)
	t.forget(err)
	return n, err
}

func (t *tracked) Size(ctx context.Context) (int64, error) {
	n, err := t.object.Size(ctx)
	t.forget(err)
	return n, err
}

func (t *tracked) forget(err error) {
	var f *storage.Fault
	if !errors.As(err, &f) || f.Kind != storage.Changed && f.Kind != storage.NotFound {
		return
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	if t.s.ids[t.path] == t.id {
		delete(t.s.ids, t.path)
	}
}

// List reads the server's page for a directory. When the server has no such pages, or does not
// show names that begin with a dot, and the table has a manifest (package manifest), the listing is
// the manifest's. Without one, listings that lack dot names are not complete.
func (s *Source) List(ctx context.Context, dir string) (storage.Listing, error) {
	s.mu.Lock()
	dirs := s.dirs
	s.mu.Unlock()
	if dirs != nil {
		return s.listed(ctx, dirs, dir)
	}
	l, err := s.listing(ctx, dir)
	if err != nil {
		var f *storage.Fault
		if errors.As(err, &f) && f.Kind == storage.NoListing {
			dirs, merr := s.manifest(ctx)
			if dirs != nil {
				return s.listed(ctx, dirs, dir)
			}
			if merr != nil {
				return l, merr
			}
		}
		return l, err
	}
	if showsDots(l) {
		s.mu.Lock()
		s.sight = sees
		s.mu.Unlock()
		return l, nil
	}
	s.mu.Lock()
	is := s.sight
	s.mu.Unlock()
	if is == unknown {
		is, err = s.looks.Do(ctx, struct{}{}, func(ctx context.Context) (sight, error) { return s.look(ctx, dir, l) })
		if err != nil {
			if ctx.Err() != nil {
				return storage.Listing{}, ctx.Err()
			}
			l.Complete = false
			l.Note = "It could not be found out whether the server lists names that begin with a dot."
			return l, nil
		}
	}
	if is == hidden {
		dirs, err := s.manifest(ctx)
		if dirs != nil {
			return s.listed(ctx, dirs, dir)
		}
		if err != nil {
			return storage.Listing{}, err
		}
		s.mu.Lock()
		l.DotsHidden = l.Complete && !s.refused
		l.Complete, l.Note = false, s.note
		s.mu.Unlock()
	}
	return l, nil
}

// listing is the page of a directory. With the first one the page of the base is asked for, too: it
// tells whether dot names are shown, and is needed soon.
func (s *Source) listing(ctx context.Context, dir string) (storage.Listing, error) {
	if dir != "" {
		s.mu.Lock()
		if s.sight == unknown && s.stopAhead == nil {
			// It outlives this request, which does not wait for it. Its error is found again by whoever
			// needs the page.
			ahead, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
			s.stopAhead = stop
			go func() {
				defer stop()
				s.baseListing(ahead, false)
			}()
		}
		s.mu.Unlock()
		return s.page(ctx, dir)
	}
	l, err := s.baseListing(ctx, false)
	s.mu.Lock()
	s.basePage = nil
	s.mu.Unlock()
	l.Entries = slices.Clone(l.Entries)
	return l, err
}

// baseListing is the page of the base directory; one got before is kept until it was given away, and for
// whoever only looks how the server lists beyond that.
func (s *Source) baseListing(ctx context.Context, looks bool) (storage.Listing, error) {
	s.mu.Lock()
	epoch := s.epoch
	s.mu.Unlock()
	return s.basePages.Do(ctx, epoch, func(ctx context.Context) (storage.Listing, error) {
		s.mu.Lock()
		kept := s.basePage
		if kept == nil && looks {
			kept = s.lookPage
		}
		s.mu.Unlock()
		if kept != nil {
			return *kept, nil
		}
		l, err := s.page(ctx, "")
		s.mu.Lock()
		defer s.mu.Unlock()
		if err == nil && s.epoch == epoch {
			s.basePage = &l
			s.lookPage = &l
		}
		return l, err
	})
}

func (s *Source) listed(ctx context.Context, dirs map[string][]storage.Entry, dir string) (storage.Listing, error) {
	if err := ctx.Err(); err != nil {
		return storage.Listing{}, err
	}
	if err := storage.CheckPath("list", dir, s.Location()); err != nil {
		return storage.Listing{}, err
	}
	return manifest.List(dirs, dir, s.Location())
}

// manifest is the folders by the table's manifest, nil if it has none. A manifest that can't be
// used is an error.
func (s *Source) manifest(ctx context.Context) (map[string][]storage.Entry, error) {
	s.mu.Lock()
	dirs, none := s.dirs, s.noManifest
	s.mu.Unlock()
	if dirs != nil || none {
		return dirs, nil
	}
	return s.manifests.Do(ctx, struct{}{}, func(ctx context.Context) (map[string][]storage.Entry, error) {
		o := s.c.Object(s.base.Child(manifest.Name, false), manifest.Name, s.Location(), NewIdentity(storage.SizeUnknown, ""))
		defer o.Close()
		size, err := o.Size(ctx)
		if err == nil && size > s.c.o.MaxListing {
			err = &storage.Fault{Op: "read", Path: manifest.Name, Location: s.Location(), Kind: storage.Refused, Err: fmt.Errorf("it has %d bytes, more than %d", size, s.c.o.MaxListing)}
		}
		var f *storage.Fault
		if errors.As(err, &f) && (f.Kind == storage.NotFound || f.Kind == storage.Forbidden || f.Kind == storage.Failed && f.Status >= 400 && f.Status < 500) {
			s.mu.Lock()
			s.noManifest = true
			s.mu.Unlock()
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		b := make([]byte, size)
		if err := storage.ReadFull(ctx, o, b, 0); err != nil {
			return nil, err
		}
		m, err := manifest.Parse(b, s.Location())
		if err != nil {
			return nil, err
		}
		dirs, _ := basepath.Folders(maps.All(m.Files), nil) // Parse has refused clashes
		s.mu.Lock()
		s.dirs = dirs
		s.mu.Unlock()
		return dirs, nil
	})
}

func showsDots(l storage.Listing) bool {
	for _, e := range l.Entries {
		if strings.HasPrefix(e.Name, ".") {
			return true
		}
	}
	return false
}

// look finds out whether the server hides dot names: it does if it lists no .hoodie
// although a file in it can be read, or is kept from being read.
func (s *Source) look(ctx context.Context, dir string, l storage.Listing) (sight, error) {
	if dir != "" {
		root, err := s.baseListing(ctx, true)
		var f *storage.Fault
		switch {
		case err == nil:
			l = root
		case errors.As(err, &f) && f.Kind != storage.Unreachable && f.Kind != storage.Truncated && f.Kind != storage.Failed:
			l = storage.Listing{} // no page for the base: judge by the file alone
		default:
			return unknown, err
		}
	}
	is, note, refused := sees, "", false
	if !showsDots(l) {
		o, err := s.Open(ctx, ".hoodie/hoodie.properties")
		if err != nil {
			return unknown, err
		}
		defer o.Close()
		if _, known := o.(storage.KnownSizer).KnownSize(); !known { // else it was read before
			_, err = o.ReadAt(ctx, make([]byte, 1), 0)
		}
		var f *storage.Fault
		switch {
		case err == nil:
			is, note = hidden, "The server does not list names that begin with a dot, which log files have."
		case storage.IsNotExist(err):
			// No table here, so no proof either way.
		case errors.As(err, &f) && f.Kind == storage.Forbidden:
			is, note, refused = hidden, fmt.Sprintf("The server refuses names that begin with a dot (HTTP %d), so .hoodie and log files can't be seen.", f.Status), true
		default:
			return unknown, err
		}
	}
	s.mu.Lock()
	s.sight, s.note, s.refused = is, note, refused
	s.mu.Unlock()
	return is, nil
}

// page gets and reads the listing of a directory.
func (s *Source) page(ctx context.Context, dir string) (storage.Listing, error) {
	if err := ctx.Err(); err != nil {
		return storage.Listing{}, err
	}
	if err := storage.CheckPath("list", dir, s.Location()); err != nil {
		return storage.Listing{}, err
	}
	s.mu.Lock()
	dav := s.dav
	s.mu.Unlock()
	if dav {
		return s.ask(ctx, dir, "PROPFIND")
	}
	l, err := s.ask(ctx, dir, "GET")
	var f *storage.Fault
	if !errors.As(err, &f) || f.Kind != storage.NoListing {
		return l, err
	}
	l, derr := s.ask(ctx, dir, "PROPFIND")
	if derr == nil {
		s.mu.Lock()
		s.dav = true
		s.mu.Unlock()
		return l, nil
	}
	switch {
	case ctx.Err() != nil:
		return l, ctx.Err()
	case storage.IsNotExist(derr):
		return l, derr
	}
	return storage.Listing{}, err
}

// ask sends the request for a directory page, again after passing failures.
func (s *Source) ask(ctx context.Context, dir, method string) (storage.Listing, error) {
	for n, stalled := 1, false; ; n++ {
		l, err := s.askOnce(ctx, dir, method)
		var a *again
		if !errors.As(err, &a) {
			return l, err
		}
		if n >= s.c.o.Attempts || a.stalled && stalled {
			return l, a.fault
		}
		stalled = stalled || a.stalled
		if err := s.c.pause(ctx, n, a); err != nil {
			return l, err
		}
	}
}

func (s *Source) askOnce(ctx context.Context, dir, method string) (storage.Listing, error) {
	url := s.base.Child(dir, true)
	req := &Request{Method: method, URL: url}
	want := 200
	if method == "PROPFIND" {
		req.Depth, want = "1", 207
	} else {
		// Caddy and serve answer JSON then; the value needs no permission from another origin.
		req.Accept = "application/json, text/html;q=0.9"
	}
	fail := func(kind storage.FaultKind, status int, err error, try string) (storage.Listing, error) {
		return storage.Listing{}, &storage.Fault{Op: "list", Path: dir, Location: s.Location(), Status: status, Kind: kind, Try: try, Err: redacted(err, url)}
	}
	const noListing = "Switch directory listings on at the server (nginx: autoindex on; autoindex_format json;), or put a hudi-manifest.json into the table's directory (hudiscope manifest TABLE), or open the table as a .zip, a directory or a URL bundle."
	resp, err := s.c.send(ctx, req)
	if err != nil {
		return storage.Listing{}, s.c.unreachable(ctx, err, url, "list", dir, s.Location())
	}
	defer resp.Body.Close()
	switch resp.Status {
	case want:
	case 403, 405, 501:
		return fail(storage.NoListing, resp.Status, errors.New("the server does not list the directory"), noListing)
	default:
		if resp.Status < 300 {
			return fail(storage.NoListing, resp.Status, errors.New("the answer is not a directory listing"), noListing)
		}
		return storage.Listing{}, s.c.status(resp, fixed(url), "list", dir, s.Location())
	}
	body, err := readBody(resp.Body, s.c.o.MaxListing)
	s.c.bytes.Add(int64(len(body)))
	if ctx.Err() != nil {
		return storage.Listing{}, ctx.Err()
	}
	cut := func(err error) (storage.Listing, error) {
		return storage.Listing{}, &again{stalled: isStall(err), fault: &storage.Fault{Op: "list", Path: dir, Location: s.Location(), Kind: storage.Truncated,
			Try: "The connection or the server cuts answers short; try again.", Err: redacted(err, url)}}
	}
	if err != nil {
		return cut(fmt.Errorf("%w: %w", listing.ErrTruncated, err))
	}
	if int64(len(body)) > s.c.o.MaxListing {
		return fail(storage.Refused, 0, fmt.Errorf("the listing has more than %d bytes", s.c.o.MaxListing), "Let the server list in JSON, which is shorter, or open a smaller directory.")
	}
	// A browser may hide from its fetch that fewer bytes came than were promised.
	if n, ok := contentLength(resp); ok && resp.Header("Content-Encoding") == "" && int64(len(body)) < n {
		return cut(fmt.Errorf("%w: %d of %d bytes arrived", listing.ErrTruncated, len(body), n))
	}
	l, err := listing.Parse(resp.Header("Content-Type"), body, resp.URL)
	if errors.Is(err, listing.ErrTruncated) {
		return cut(err)
	}
	if err != nil {
		return fail(storage.NoListing, resp.Status, err, noListing)
	}
	return l, nil
}

// File is one file at a URL: its object for package single, and its name.
func File(rawURL string, o Options) (obj storage.Object, name, location string, err error) {
	a, err := ParseAddress(rawURL)
	if err != nil {
		return nil, "", "", err
	}
	name = a.Name()
	if name == "" {
		return nil, "", "", &storage.Fault{Op: "open", Location: a.Location(), Kind: storage.Refused, Err: errors.New("the address is that of a directory")}
	}
	return NewClient(o).Object(a.Request(), name, a.Location(), NewIdentity(storage.SizeUnknown, "")), name, a.Location(), nil
}
