// Package zipfs reads a table from a .zip without unpacking it: stored entries are read in
// place, deflated entries are inflated on demand into bounded memory.
//
// The base of the table is the one folder in the archive that holds .hoodie; an archive
// without one is shown as it is.
package zipfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/flate"

	"hudiscope/core/corrupt"
	"hudiscope/core/storage"
	"hudiscope/core/storage/flight"
	"hudiscope/core/storage/lru"
	"hudiscope/fsadapter/basepath"
)

// Options sets bounds. A zero field takes its default.
type Options struct {
	// MaxEntry is the largest deflated entry that is inflated, in bytes. Default 256 MiB.
	// Stored entries have no limit.
	MaxEntry int64
	// Budget is the memory for inflated entries, in bytes; up to two being inflated come on
	// top. Default 512 MiB, and at least MaxEntry.
	Budget int64
	// MaxDirectory is the largest central directory that is read, in bytes. Default 64 MiB,
	// about half a million entries.
	MaxDirectory int64
	// Base chooses the table's folder in an archive that holds several; "" finds the only one.
	Base string
}

// Source is an open archive. It is safe for concurrent use.
type Source struct {
	obj      storage.Object
	size     int64
	location string
	o        Options
	base     string
	files    map[string]*entry
	dirs     map[string][]storage.Entry
	// all are the entries of the whole archive.
	all []*entry

	inflating chan struct{}
	calls     flight.Group[*entry, []byte]
	mu        sync.Mutex
	mem       *lru.Cache[*entry, []byte]
}

var _ storage.Source = (*Source)(nil)

// New reads the directory of the archive obj. location names it for people; Close closes
// obj. Damage is a corrupt.Error; an archive that can't be accepted (several tables, names
// that lead out of it, too large a directory) is a Fault of kind Refused.
func New(ctx context.Context, obj storage.Object, location string, o Options) (*Source, error) {
	if o.MaxEntry <= 0 {
		o.MaxEntry = 256 << 20
	}
	if o.Budget <= 0 {
		o.Budget = 512 << 20
	}
	if o.MaxDirectory <= 0 {
		o.MaxDirectory = 64 << 20
	}
	o.Budget = max(o.Budget, o.MaxEntry)
	size, err := obj.Size(ctx)
	if err != nil {
		return nil, err
	}
	s := &Source{obj: obj, size: size, location: location, o: o, inflating: make(chan struct{}, 2),
		mem: lru.New[*entry, []byte](o.Budget, nil)}
	all, err := s.directory(ctx)
	if err != nil {
		if corrupt.Is(err) {
			err = corrupt.InFile(err, location)
		}
		return nil, err
	}
	if err := s.arrange(all); err != nil {
		return nil, err
	}
	return s, nil
}

// FromBytes reads an archive in memory.
func FromBytes(b []byte, location string, o Options) (*Source, error) {
	return New(context.Background(), &memory{bytes.NewReader(b)}, location, o)
}

type memory struct{ r *bytes.Reader }

func (m *memory) Size(ctx context.Context) (int64, error) { return m.r.Size(), ctx.Err() }
func (m *memory) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return m.r.ReadAt(p, off)
}
func (m *memory) Close() error { return nil }

// IsZip reports whether a file that begins with b is a zip archive, possibly an empty one.
func IsZip(b []byte) bool {
	return bytes.HasPrefix(b, []byte("PK\x03\x04")) || bytes.HasPrefix(b, []byte("PK\x05\x06"))
}

func (s *Source) refuse(op, path, try, format string, args ...any) error {
	return &storage.Fault{Op: op, Path: path, Location: s.location, Kind: storage.Refused, Try: try, Err: fmt.Errorf(format, args...)}
}

// maxDepth bounds the memory that deeply nested names could take: the sum of the folders
// in all names.
const maxDepth = 8_000_000

// arrange finds the base and builds the listings.
func (s *Source) arrange(all []*entry) error {
	names := make([]string, 0, len(all))
	kept := all[:0]
	for _, e := range all {
		if basepath.Junk(strings.TrimSuffix(e.name, "/")) {
			continue
		}
		kept = append(kept, e)
		names = append(names, e.name)
	}
	found := basepath.Find(names)
	switch {
	case s.o.Base != "":
		if !slices.Contains(found, s.o.Base) {
			return s.refuse("open", "", "", "the archive has no table in the folder %q", s.o.Base)
		}
		s.base = s.o.Base
	case len(found) > 1:
		shown := strings.Join(found[:min(len(found), 5)], ", ")
		return s.refuse("open", "", "Make an archive of one table.", "the archive holds %d tables: %s", len(found), shown)
	case len(found) == 1:
		s.base = found[0]
	}
	s.all = kept
	return s.root()
}

// root builds the listings of what lies below the base.
func (s *Source) root() error {
	s.files = make(map[string]*entry, len(s.all))
	var folders []string
	depth, added := 0, 0
	for _, e := range s.all {
		p, ok := basepath.Cut(e.name, s.base)
		if !ok || p == "" {
			continue
		}
		if depth += strings.Count(p, "/"); depth > maxDepth {
			return s.refuse("open", "", "Open the folder itself.", "the names in the archive have more than %d folders in them", maxDepth)
		}
		if d, ok := strings.CutSuffix(p, "/"); ok {
			folders = append(folders, d)
			continue
		}
		if old := s.files[p]; old != nil && (old.size != e.size || old.crc != e.crc) {
			return s.refuse("open", p, "Unpack the archive and open the folder.", "the archive has two different files of the name %q, at the bytes %d and %d", e.name, old.header, e.header)
		}
		s.files[p] = e
		added++
	}
	once := added == len(s.files)
	// In the order of the archive, which mostly is that of the names.
	files := func(yield func(string, storage.Entry) bool) {
		for _, e := range s.all {
			p, ok := basepath.Cut(e.name, s.base)
			if ok && p != "" && !strings.HasSuffix(p, "/") && (once || s.files[p] == e) && !yield(p, storage.Entry{Size: e.size, ModTime: e.modified}) {
				return
			}
		}
	}
	var clash string
	if s.dirs, clash = basepath.Folders(files, folders); clash != "" {
		return s.refuse("open", clash, "", "the archive has %q both as a file and as a folder", clash)
	}
	return nil
}

// Location names the archive, and the folder in it if the table is not at its root.
func (s *Source) Location() string {
	if s.base == "" {
		return s.location
	}
	return s.location + "!" + s.base
}

// Base is the folder in the archive that was taken as the table's base.
func (s *Source) Base() string { return s.base }

// Sibling is a folder of the archive beside the table's. It reads the same open archive, which
// closing the table closes; it has no Close of its own.
func (s *Source) Sibling(ctx context.Context, name string) (storage.Source, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := storage.CheckName(name, s.Location()); err != nil {
		return nil, err
	}
	if s.base == "" {
		return nil, storage.NoSibling(name, s.Location())
	}
	up, _ := basepath.Split(s.base)
	if up != "" {
		name = up + "/" + name
	}
	out := &Source{obj: s.obj, size: s.size, location: s.location, o: s.o, base: name, all: s.all,
		inflating: s.inflating, mem: lru.New[*entry, []byte](s.o.Budget, nil)}
	if err := out.root(); err != nil {
		return nil, err
	}
	if len(out.files) == 0 {
		return nil, storage.NoSibling(name, s.location)
	}
	return sibling{out}, nil
}

// sibling hides the Close of the archive.
type sibling struct{ storage.Source }

// Close closes the archive.
func (s *Source) Close() error { return s.obj.Close() }

// List lists a folder.
func (s *Source) List(ctx context.Context, dir string) (storage.Listing, error) {
	if err := ctx.Err(); err != nil {
		return storage.Listing{}, err
	}
	if err := storage.CheckPath("list", dir, s.Location()); err != nil {
		return storage.Listing{}, err
	}
	es, ok := s.dirs[dir]
	if !ok {
		return storage.Listing{}, &storage.Fault{Op: "list", Path: dir, Location: s.Location(), Kind: storage.NotFound}
	}
	return storage.Listing{Entries: slices.Clone(es), Complete: true}, nil
}

// Open opens a file. An entry that is encrypted, compressed by another method than
// deflate, or too large to inflate is a Fault of kind Refused.
func (s *Source) Open(ctx context.Context, path string) (storage.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := storage.CheckPath("open", path, s.Location()); err != nil {
		return nil, err
	}
	e := s.files[path]
	switch {
	case e == nil:
		return nil, &storage.Fault{Op: "open", Path: path, Location: s.Location(), Kind: storage.NotFound}
	case e.flags&1 != 0:
		return nil, s.refuse("open", path, "Make an archive without a password.", "the entry is encrypted")
	case e.method == stored && e.packed != e.size:
		return nil, corrupt.InFile(corrupt.At(e.at, "stored entry size", fmt.Sprint(e.size), fmt.Sprint(e.packed)), s.location)
	case e.method == stored:
	case e.method != deflated:
		return nil, s.refuse("open", path, "Make the archive with deflate or without compression (zip -0).", "the entry is compressed by method %d", e.method)
	case e.size > s.o.MaxEntry:
		return nil, s.refuse("open", path, "Unpack the archive and open the folder, or make it without compression (zip -0).",
			"the entry inflates to %d bytes, more than the limit of %d", e.size, s.o.MaxEntry)
	case e.size/maxRatio > e.packed:
		return nil, corrupt.InFile(corrupt.At(e.at, "uncompressed size", fmt.Sprintf("at most %d times the compressed %d", maxRatio, e.packed), fmt.Sprint(e.size)), s.location)
	}
	return &object{s: s, e: e, path: path}, nil
}

// maxRatio is above the best that deflate can do: 258 bytes for 2 bits.
const maxRatio = 1033

// start returns where the bytes of an entry begin: behind its local header.
func (s *Source) start(ctx context.Context, e *entry) (int64, error) {
	if at := e.start.Load(); at > 0 {
		return at, nil
	}
	var h [30]byte
	if err := s.readFull(ctx, h[:], e.header); err != nil {
		return 0, s.damaged(err, e.header, "local header")
	}
	if string(h[:4]) != "PK\x03\x04" {
		return 0, corrupt.InFile(corrupt.At(e.header, "local header signature", "PK\\x03\\x04", fmt.Sprintf("%q", h[:4])), s.location)
	}
	at := e.header + 30 + int64(u16(h[26:])) + int64(u16(h[28:]))
	if e.packed > s.size-at {
		return 0, corrupt.InFile(corrupt.At(at, "entry "+e.name, fmt.Sprintf("%d bytes", e.packed), fmt.Sprintf("%d before the end of the archive", max(s.size-at, 0))), s.location)
	}
	e.start.Store(at)
	return at, nil
}

func (s *Source) readFull(ctx context.Context, p []byte, off int64) error {
	return storage.ReadFull(ctx, s.obj, p, off)
}

// damaged turns the end of the archive into a finding; other errors stay.
func (s *Source) damaged(err error, off int64, part string) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return corrupt.InFile(&corrupt.Error{Offset: off, Part: part, Want: "more bytes", Got: "the end of the archive", Try: "Copy or download the archive again."}, s.location)
	}
	return err
}

// inflated returns the content of a deflated entry.
func (s *Source) inflated(ctx context.Context, e *entry) ([]byte, error) {
	s.mu.Lock()
	b, ok := s.mem.Get(e)
	s.mu.Unlock()
	if ok {
		return b, nil
	}
	return s.calls.Do(ctx, e, func(ctx context.Context) ([]byte, error) {
		select {
		case s.inflating <- struct{}{}:
			defer func() { <-s.inflating }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		b, err := s.inflate(ctx, e)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		s.mem.Add(e, b, int64(len(b))+64)
		s.mu.Unlock()
		return b, nil
	})
}

func (s *Source) inflate(ctx context.Context, e *entry) ([]byte, error) {
	at, err := s.start(ctx, e)
	if err != nil {
		return nil, err
	}
	bad := func(part, want, got string, err error) error {
		return corrupt.InFile(&corrupt.Error{Offset: at, Part: part + " of " + e.name, Want: want, Got: got, Err: err, Try: "Copy or download the archive again."}, s.location)
	}
	in := &section{ctx: ctx, obj: s.obj, at: at, left: e.packed}
	z := flate.NewReader(in)
	defer z.Close()
	b := make([]byte, e.size) // at most MaxEntry, and within maxRatio of what is there
	n, err := io.ReadFull(z, b)
	if in.err != nil {
		return nil, in.err
	}
	if err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
			return nil, bad("deflated data", fmt.Sprintf("%d bytes", e.size), fmt.Sprint(n), nil)
		}
		return nil, bad("deflated data", "", "", err)
	}
	if m, err := z.Read(make([]byte, 1)); m > 0 {
		return nil, bad("deflated data", fmt.Sprintf("%d bytes", e.size), "more", nil)
	} else if in.err != nil {
		return nil, in.err
	} else if err != nil && err != io.EOF {
		return nil, bad("deflated data", "", "", err)
	}
	if sum := crc32.ChecksumIEEE(b); sum != e.crc {
		return nil, bad("checksum", fmt.Sprintf("%08x", e.crc), fmt.Sprintf("%08x", sum), nil)
	}
	return b, nil
}

// section reads the packed bytes of an entry in order.
type section struct {
	ctx      context.Context
	obj      storage.Object
	at, left int64
	buf      []byte
	err      error // of the archive, not of the data
}

func (r *section) fill() error {
	if len(r.buf) > 0 {
		return nil
	}
	if r.left == 0 {
		return io.EOF
	}
	if r.err == nil {
		b := make([]byte, min(r.left, 256<<10))
		if r.err = storage.ReadFull(r.ctx, r.obj, b, r.at); r.err == nil {
			r.buf, r.at, r.left = b, r.at+int64(len(b)), r.left-int64(len(b))
		}
	}
	return r.err
}

func (r *section) Read(p []byte) (int, error) {
	if err := r.fill(); err != nil {
		return 0, err
	}
	n := copy(p, r.buf)
	r.buf = r.buf[n:]
	return n, nil
}

// ReadByte lets flate read without a buffer of its own.
func (r *section) ReadByte() (byte, error) {
	if err := r.fill(); err != nil {
		return 0, err
	}
	c := r.buf[0]
	r.buf = r.buf[1:]
	return c, nil
}

// object is an open file.
type object struct {
	s      *Source
	e      *entry
	path   string
	closed atomic.Bool
}

func (o *object) Size(ctx context.Context) (int64, error) { return o.e.size, ctx.Err() }

func (o *object) KnownSize() (int64, bool) { return o.e.size, true }

func (o *object) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if o.closed.Load() {
		return 0, &storage.Fault{Op: "read", Path: o.path, Location: o.s.Location(), Kind: storage.Failed, Err: fs.ErrClosed}
	}
	if off < 0 {
		return 0, o.s.refuse("read", o.path, "", "the offset %d is negative", off)
	}
	if err := ctx.Err(); err != nil || len(p) == 0 {
		return 0, err
	}
	if off >= o.e.size {
		return 0, io.EOF
	}
	want := p[:min(int64(len(p)), o.e.size-off)]
	n := len(want)
	if o.e.method == deflated {
		b, err := o.s.inflated(ctx, o.e)
		if err != nil {
			return 0, err
		}
		copy(want, b[off:])
	} else {
		at, err := o.s.start(ctx, o.e)
		if err != nil {
			return 0, err
		}
		if err := o.s.readFull(ctx, want, at+off); err != nil {
			return 0, o.s.damaged(err, at+off, "entry "+o.e.name)
		}
		// Only who reads the whole entry can tell. Files that are read in parts are not checked.
		if off == 0 && int64(n) == o.e.size {
			if sum := crc32.ChecksumIEEE(want); sum != o.e.crc {
				return 0, corrupt.InFile(corrupt.At(at, "checksum of the entry "+o.e.name, fmt.Sprintf("%08x", o.e.crc), fmt.Sprintf("%08x", sum)), o.s.location)
			}
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (o *object) Close() error { o.closed.Store(true); return nil }
