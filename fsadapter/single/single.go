// Package single shows one file as a storage.Source, such as one log file of a table.
package single

import (
	"context"
	"errors"
	"io/fs"
	"sync/atomic"

	"hudiscope/core/storage"
)

// Source holds one file in its base directory.
type Source struct {
	obj            storage.Object
	name, location string
}

var _ storage.Source = (*Source)(nil)

// New returns a Source of the one file obj under name, a single path element. Close
// closes obj.
func New(obj storage.Object, name, location string) *Source { return &Source{obj, name, location} }

// Name is the file's path in the source.
func (s *Source) Name() string { return s.name }

// Location names the file.
func (s *Source) Location() string { return s.location }

// Close closes the file.
func (s *Source) Close() error { return s.obj.Close() }

// List lists the base directory.
func (s *Source) List(ctx context.Context, dir string) (storage.Listing, error) {
	if err := ctx.Err(); err != nil {
		return storage.Listing{}, err
	}
	if err := storage.CheckPath("list", dir, s.location); err != nil {
		return storage.Listing{}, err
	}
	if dir != "" {
		return storage.Listing{}, &storage.Fault{Op: "list", Path: dir, Location: s.location, Kind: storage.NotFound, Err: errors.New("only one file was opened")}
	}
	e := storage.Entry{Name: s.name, Size: storage.SizeUnknown}
	if k, ok := s.obj.(storage.KnownSizer); ok {
		if n, ok := k.KnownSize(); ok {
			e.Size = n
		}
	}
	return storage.Listing{Entries: []storage.Entry{e}, Complete: true}, nil
}

// Open opens the file.
func (s *Source) Open(ctx context.Context, path string) (storage.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := storage.CheckPath("open", path, s.location); err != nil {
		return nil, err
	}
	if path != s.name {
		return nil, &storage.Fault{Op: "open", Path: path, Location: s.location, Kind: storage.NotFound, Err: errors.New("only one file was opened")}
	}
	return &object{s: s}, nil
}

// object is an open of the file; closing it leaves the file itself open.
type object struct {
	s      *Source
	closed atomic.Bool
}

func (o *object) Size(ctx context.Context) (int64, error) { return o.s.obj.Size(ctx) }

func (o *object) KnownSize() (int64, bool) {
	if k, ok := o.s.obj.(storage.KnownSizer); ok {
		return k.KnownSize()
	}
	return 0, false
}

func (o *object) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if o.closed.Load() {
		return 0, &storage.Fault{Op: "read", Path: o.s.name, Location: o.s.location, Kind: storage.Failed, Err: fs.ErrClosed}
	}
	return o.s.obj.ReadAt(ctx, p, off)
}

func (o *object) Close() error { o.closed.Store(true); return nil }
