// Package dir reads a table in a local directory. Nothing outside the directory can be
// reached: not by "..", not by a symbolic link that leads out.
package dir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"hudiscope/core/storage"
)

// Source is a local directory. Close it when done.
type Source struct {
	root     *os.Root
	location string
}

var _ storage.Source = (*Source)(nil)

// New opens the directory at name.
func New(name string) (*Source, error) {
	s := &Source{location: name}
	if abs, err := filepath.Abs(name); err == nil {
		s.location = abs
	}
	if fi, err := os.Stat(name); err == nil && !fi.IsDir() {
		return nil, &storage.Fault{Op: "open", Location: s.location, Kind: storage.NotFound, Err: errors.New("it is not a directory")}
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, s.fault("open", "", err)
	}
	s.root = root
	return s, nil
}

// Location is the absolute path.
func (s *Source) Location() string { return s.location }

// Sibling opens the directory of a name in the parent directory. It must be a directory itself, not
// a link to one.
func (s *Source) Sibling(ctx context.Context, name string) (storage.Source, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := storage.CheckName(name, s.location); err != nil {
		return nil, err
	}
	if !filepath.IsLocal(name) {
		return nil, storage.NoSibling(name, s.location)
	}
	at := filepath.Join(filepath.Dir(s.location), name)
	if fi, err := os.Lstat(at); err != nil || !fi.IsDir() {
		return nil, storage.NoSibling(name, s.location)
	}
	return New(at)
}

// Close releases the directory.
func (s *Source) Close() error { return s.root.Close() }

func (s *Source) fault(op, p string, err error) error {
	f := &storage.Fault{Op: op, Path: p, Location: s.location, Kind: storage.Failed, Err: err}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		f.Err = pe.Err // the path is in the fault
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		f.Kind = storage.NotFound
	case errors.Is(err, fs.ErrPermission):
		f.Kind, f.Try = storage.Forbidden, "Check the permissions of the file."
	case strings.Contains(err.Error(), "escapes from parent"):
		f.Kind, f.Try = storage.Refused, "Open the directory that the link leads to, or replace the link by a copy."
		f.Err = errors.New("it is a link that leads out of the table's directory")
	case errors.Is(err, syscall.ELOOP):
		f.Kind, f.Try = storage.Refused, "Remove the circle of links."
	}
	return f
}

func local(p string) string {
	if p == "" {
		return "."
	}
	return filepath.FromSlash(p)
}

// List lists a directory. Links that lead out of the table, lead nowhere, or lead to
// something that is neither a file nor a directory are left out, and the listing is then
// not complete.
func (s *Source) List(ctx context.Context, p string) (storage.Listing, error) {
	if err := ctx.Err(); err != nil {
		return storage.Listing{}, err
	}
	if err := storage.CheckPath("list", p, s.location); err != nil {
		return storage.Listing{}, err
	}
	if fi, err := s.root.Stat(local(p)); err != nil {
		return storage.Listing{}, s.fault("list", p, err)
	} else if !fi.IsDir() { // opening a pipe would wait for its writer
		return storage.Listing{}, &storage.Fault{Op: "list", Path: p, Location: s.location, Kind: storage.NotFound, Err: errors.New("it is not a directory")}
	}
	d, err := s.root.Open(local(p))
	if err != nil {
		return storage.Listing{}, s.fault("list", p, err)
	}
	defer d.Close()
	l := storage.Listing{Complete: true}
	for {
		if err := ctx.Err(); err != nil {
			return storage.Listing{}, err
		}
		es, err := d.ReadDir(1000)
		for _, e := range es {
			fi, err := e.Info()
			if err == nil && fi.Mode()&fs.ModeSymlink != 0 {
				fi, err = s.root.Stat(local(path.Join(p, e.Name())))
			}
			switch {
			case err != nil && e.Type()&fs.ModeSymlink == 0 && errors.Is(err, fs.ErrNotExist):
				// Removed since it was listed.
			case err != nil:
				l.Complete, l.Note = false, fmt.Sprintf("%q can't be followed and is left out.", e.Name())
			case fi.IsDir():
				l.Entries = append(l.Entries, storage.Entry{Name: e.Name(), Dir: true, Size: storage.SizeUnknown, ModTime: fi.ModTime()})
			case fi.Mode().IsRegular():
				l.Entries = append(l.Entries, storage.Entry{Name: e.Name(), Size: fi.Size(), ModTime: fi.ModTime()})
			default: // a pipe, socket or device is no part of a table
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return storage.Listing{}, s.fault("list", p, err)
		}
	}
	slices.SortFunc(l.Entries, func(a, b storage.Entry) int { return strings.Compare(a.Name, b.Name) })
	return l, nil
}

// Open opens a regular file.
func (s *Source) Open(ctx context.Context, p string) (storage.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := storage.CheckPath("open", p, s.location); err != nil {
		return nil, err
	}
	fi, err := s.root.Stat(local(p))
	if err != nil {
		return nil, s.fault("open", p, err)
	}
	if !fi.Mode().IsRegular() {
		kind := storage.Refused
		if fi.IsDir() {
			kind = storage.NotFound
		}
		return nil, &storage.Fault{Op: "open", Path: p, Location: s.location, Kind: kind, Err: fmt.Errorf("it is not a file (%v)", fi.Mode().Type())}
	}
	f, err := s.root.Open(local(p))
	if err != nil {
		return nil, s.fault("open", p, err)
	}
	if fi, err = f.Stat(); err != nil {
		f.Close()
		return nil, s.fault("open", p, err)
	}
	return &object{s: s, f: f, path: p, size: fi.Size(), mod: fi.ModTime()}, nil
}

// object is an open file, with the size that it had when it was opened: what is written
// later does not show.
type object struct {
	s    *Source
	path string
	size int64
	mod  time.Time

	mu sync.RWMutex // guards f against Close during a read
	f  *os.File
}

func (o *object) Size(ctx context.Context) (int64, error) { return o.size, ctx.Err() }

func (o *object) KnownSize() (int64, bool) { return o.size, true }

// ModTime is the file's modification time, from which a server makes its ETag.
func (o *object) ModTime() time.Time { return o.mod }

func (o *object) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if o.f == nil {
		return 0, o.s.fault("read", o.path, fs.ErrClosed)
	}
	if off < 0 {
		return 0, &storage.Fault{Op: "read", Path: o.path, Location: o.s.location, Kind: storage.Refused, Err: fmt.Errorf("the offset %d is negative", off)}
	}
	if err := ctx.Err(); err != nil || len(p) == 0 {
		return 0, err
	}
	if off >= o.size {
		return 0, io.EOF
	}
	want := int(min(int64(len(p)), o.size-off))
	n, err := 0, error(nil)
	for n < want && err == nil { // in steps, so that a cancelled read of much ends
		if err = ctx.Err(); err != nil {
			return n, err
		}
		var m int
		m, err = o.f.ReadAt(p[n:min(want, n+8<<20)], off+int64(n))
		n += m
	}
	switch {
	case n == want && want < len(p):
		return n, io.EOF
	case n == want:
		return n, nil
	case errors.Is(err, io.EOF):
		return n, &storage.Fault{Op: "read", Path: o.path, Location: o.s.location, Kind: storage.Changed, Try: "The table is being written to; open it again.",
			Err: fmt.Errorf("the file had %d bytes when it was opened and ends at %d now", o.size, off+int64(n))}
	}
	return n, o.s.fault("read", o.path, err)
}

func (o *object) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.f == nil {
		return nil
	}
	err := o.f.Close()
	o.f = nil
	return err
}
