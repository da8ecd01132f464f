// Package kept reads files that Hudi never rewrites from a store that outlives the program, such as a
// database of the browser, so that opening a table once more asks for little but its listings.
//
// Nothing stale is read: a file is taken from the store only when a listing of this session told its
// size and its version (ETag, or time of modification), and both are those of the bytes that were
// kept. What a listing did not tell a version of is neither kept nor taken.
package kept

import (
	"context"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"sync"

	"hudiscope/core/storage"
	"hudiscope/core/storage/trace"
)

// Store keeps pieces of files by name, within its own limit. Its methods are called by several
// goroutines. A store may lose what it was given, and must not give anything else for it.
type Store interface {
	// Get returns the piece of a name; ok is false when it has none.
	Get(ctx context.Context, name string) (b []byte, ok bool)
	// Put keeps a piece. It may keep it later, or not at all. b is not used after it returns.
	Put(ctx context.Context, name string, b []byte)
}

// The pieces that files are kept in: files of at most whole bytes in one, larger ones in pieces of unit.
const (
	whole = 1 << 20
	unit  = 64 << 10
	// maxListed bounds the files whose versions are remembered.
	maxListed = 500_000
)

// Source is a storage.Source that keeps what it reads of another.
type Source struct {
	src   storage.Source
	store Store
	place string

	mu     sync.Mutex
	listed map[string]storage.Entry
}

var (
	_ storage.Source    = (*Source)(nil)
	_ storage.Forgetter = (*Source)(nil)
	_ storage.Neighbour = (*Source)(nil)
)

// New returns a Source over src. place names it in the store; it must be another for every other
// place, and hold no credentials.
func New(src storage.Source, store Store, place string) *Source {
	return &Source{src: src, store: store, place: place, listed: map[string]storage.Entry{}}
}

// Location is that of the source beneath.
func (s *Source) Location() string { return s.src.Location() }

// Unwrap is the source beneath.
func (s *Source) Unwrap() storage.Source { return s.src }

// Forget drops what listings have told, here and beneath.
func (s *Source) Forget() {
	s.mu.Lock()
	s.listed = map[string]storage.Entry{}
	s.mu.Unlock()
	if f, ok := s.src.(storage.Forgetter); ok {
		f.Forget()
	}
}

// Close closes the source beneath if it can be closed.
func (s *Source) Close() error {
	if c, ok := s.src.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Sibling opens a folder beside the base path; its files are kept, too.
func (s *Source) Sibling(ctx context.Context, name string) (storage.Source, error) {
	n, ok := s.src.(storage.Neighbour)
	if !ok {
		return nil, storage.NoSibling(name, s.Location())
	}
	src, err := n.Sibling(ctx, name)
	if err != nil {
		return nil, err
	}
	return New(src, s.store, s.place+"\x00beside\x00"+name), nil
}

// List lists a directory, and remembers the versions of the files in it.
func (s *Source) List(ctx context.Context, dir string) (storage.Listing, error) {
	l, err := s.src.List(ctx, dir)
	if err != nil {
		return l, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range l.Entries {
		if e.Dir {
			continue
		}
		p := path.Join(dir, e.Name)
		if e.Size < 0 || e.ETag == "" && e.ModTime.IsZero() || !Immutable(p) {
			delete(s.listed, p)
			continue
		}
		if len(s.listed) < maxListed {
			s.listed[p] = e
		}
	}
	return l, nil
}

// Immutable reports whether Hudi never writes a file of this path twice: base files, log files (to
// which only old releases on file systems with an append add, which their size tells), completed
// instants and the files of the archived timeline, also those of the metadata table.
func Immutable(p string) bool {
	dir, name := path.Split(p)
	if strings.HasPrefix(name, ".") {
		return strings.Contains(name, ".log.") // .hoodie_partition_metadata, checksums and others may be written again
	}
	switch path.Ext(name) {
	case ".parquet", ".orc", ".hfile", ".lance":
		return true
	}
	if !strings.Contains("/"+dir, "/.hoodie/") {
		return false
	}
	// Instants: TIME.ACTION, or since 1.0 TIME_COMPLETED.ACTION; plans and inflight files are none.
	at, action, ok := strings.Cut(name, ".")
	if !ok || !digits(at) {
		return false
	}
	switch action {
	case "commit", "deltacommit", "replacecommit", "clean", "rollback", "restore", "savepoint", "indexing", "schemacommit":
		return true
	}
	return false
}

// digits reports whether a text is a time of digits, or two with an underscore between them.
func digits(s string) bool {
	a, b, two := strings.Cut(s, "_")
	if two && len(b) < 14 || len(a) < 14 {
		return false
	}
	return strings.Trim(a+b, "0123456789") == ""
}

// Open opens a file. What is kept of it is decided when it is read.
func (s *Source) Open(ctx context.Context, p string) (storage.Object, error) {
	o, err := s.src.Open(ctx, p)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	e, ok := s.listed[p]
	s.mu.Unlock()
	if !ok {
		return o, nil
	}
	version := e.ETag
	if version == "" {
		version = "at " + strconv.FormatInt(e.ModTime.UnixMilli(), 10)
	}
	k := &object{Object: o, s: s, path: p, size: e.Size, name: fmt.Sprintf("%s\x00%s\x00%d\x00%s\x00", s.place, p, e.Size, version)}
	if _, ok := o.(storage.KnownSizer); ok {
		return &sized{k}, nil
	}
	return k, nil
}

type object struct {
	storage.Object
	s    *Source
	path string
	size int64 // by the listing
	name string
}

// sized is an object that knows its size without asking.
type sized struct{ *object }

func (o *sized) KnownSize() (int64, bool) { return o.Object.(storage.KnownSizer).KnownSize() }

// ReadAt reads from the store when it has all that is asked for, else from the source beneath.
func (o *object) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if err := ctx.Err(); err != nil || len(p) == 0 || off < 0 || off >= o.size {
		return o.Object.ReadAt(ctx, p, off)
	}
	want := int(min(int64(len(p)), o.size-off))
	if o.take(ctx, p[:want], off) {
		trace.Kept(ctx, o.path, off, int64(want))
		if want < len(p) {
			return want, io.EOF
		}
		return want, nil
	}
	n, err := o.Object.ReadAt(ctx, p, off)
	if n > 0 && (err == nil || err == io.EOF) && o.same(ctx) {
		o.give(ctx, p[:n], off)
	}
	return n, err
}

// same reports whether the file that was read is as large as the one that was listed.
func (o *object) same(ctx context.Context) bool {
	if k, ok := o.Object.(storage.KnownSizer); ok {
		n, known := k.KnownSize()
		return known && n == o.size
	}
	n, err := o.Size(ctx)
	return err == nil && n == o.size
}

// piece is the extent of piece n.
func (o *object) piece(n int64) (from, to int64) {
	if o.size <= whole {
		return 0, o.size
	}
	return n * unit, min((n+1)*unit, o.size)
}

func (o *object) at(off int64) int64 {
	if o.size <= whole {
		return 0
	}
	return off / unit
}

// take fills p from the store; false when a piece is missing or has not its length.
func (o *object) take(ctx context.Context, p []byte, off int64) bool {
	end := off + int64(len(p))
	for at := off; at < end; {
		n := o.at(at)
		from, to := o.piece(n)
		b, ok := o.s.store.Get(ctx, o.name+strconv.FormatInt(n, 10))
		if !ok || int64(len(b)) != to-from {
			return false
		}
		at += int64(copy(p[at-off:], b[at-from:]))
	}
	return true
}

// give keeps the pieces of which p holds every byte.
func (o *object) give(ctx context.Context, p []byte, off int64) {
	end := off + int64(len(p))
	for n := o.at(off); ; n++ {
		from, to := o.piece(n)
		if from >= o.size || to > end {
			return
		}
		if from >= off {
			o.s.store.Put(ctx, o.name+strconv.FormatInt(n, 10), p[from-off:to-off])
		}
		if to == o.size {
			return
		}
	}
}
