// Package storagetest holds what tests of storage adapters share: a conformance suite
// ([Run]), a source in memory ([Mem]), and a wrapper that counts calls and injects
// faults ([Probe]).
package storagetest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"

	"hudiscope/core/storage"
)

// Mem is a source whose files are the values of the map, by path.
type Mem map[string][]byte

// Location names the source.
func (Mem) Location() string { return "memory" }

// List lists a directory implied by the paths.
func (m Mem) List(ctx context.Context, dir string) (storage.Listing, error) {
	if err := ctx.Err(); err != nil {
		return storage.Listing{}, err
	}
	if err := storage.CheckPath("list", dir, "memory"); err != nil {
		return storage.Listing{}, err
	}
	l := storage.Listing{Complete: true, Entries: children(m, dir)}
	if len(l.Entries) == 0 && dir != "" {
		return storage.Listing{}, &storage.Fault{Op: "list", Path: dir, Location: "memory", Kind: storage.NotFound}
	}
	return l, nil
}

// children returns the entries of dir in a set of paths, sorted.
func children(files map[string][]byte, dir string) []storage.Entry {
	prefix := dir + "/"
	if dir == "" {
		prefix = ""
	}
	seen := map[string]storage.Entry{}
	for p, b := range files {
		rest, ok := strings.CutPrefix(p, prefix)
		if !ok {
			continue
		}
		if name, _, deeper := strings.Cut(rest, "/"); deeper {
			seen[name] = storage.Entry{Name: name, Dir: true, Size: storage.SizeUnknown}
		} else {
			seen[name] = storage.Entry{Name: name, Size: int64(len(b))}
		}
	}
	var out []storage.Entry
	for _, e := range seen {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b storage.Entry) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Open opens a file.
func (m Mem) Open(ctx context.Context, path string) (storage.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := storage.CheckPath("open", path, "memory"); err != nil {
		return nil, err
	}
	b, ok := m[path]
	if !ok {
		return nil, &storage.Fault{Op: "open", Path: path, Location: "memory", Kind: storage.NotFound}
	}
	return &memObject{b: b}, nil
}

// Bytes is an object over bytes.
func Bytes(b []byte) storage.Object { return &memObject{b: b} }

type memObject struct {
	b      []byte
	closed atomic.Bool
}

func (o *memObject) Size(ctx context.Context) (int64, error) { return int64(len(o.b)), ctx.Err() }

func (o *memObject) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if o.closed.Load() {
		return 0, fs.ErrClosed
	}
	if err := ctx.Err(); err != nil || len(p) == 0 {
		return 0, err
	}
	if off < 0 {
		return 0, errors.New("negative offset")
	}
	if off >= int64(len(o.b)) {
		return 0, io.EOF
	}
	n := copy(p, o.b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (o *memObject) Close() error { o.closed.Store(true); return nil }
