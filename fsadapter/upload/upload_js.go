package upload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync/atomic"
	"syscall/js"
	"time"

	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/fsadapter"
	"hudiscope/fsadapter/basepath"
	"hudiscope/fsadapter/internal/jswait"
	"hudiscope/fsadapter/single"
)

// New opens what a user gave: files is a JavaScript array of {path, file}, where file is a
// File (or Blob) and path its webkitRelativePath, the fullPath of its dropped entry, or its
// name. A folder opens as the table in it, a .zip as the table in that, a URL bundle as
// the table it names, any other single file as itself. It works in windows and workers.
// The File objects are kept; their bytes are read when needed, and cached.
func New(ctx context.Context, files js.Value) (storage.Source, error) {
	if !files.InstanceOf(js.Global().Get("Array")) && files.Type() != js.TypeObject {
		return nil, &storage.Fault{Op: "open", Location: "dropped files", Kind: storage.Failed, Err: errors.New("the files are no array")}
	}
	n := files.Length()
	paths, objs := make([]string, n), make([]js.Value, n)
	for i := range n {
		item := files.Index(i)
		if item.Type() != js.TypeObject || item.Get("path").Type() != js.TypeString || item.Get("file").Type() != js.TypeObject {
			return nil, &storage.Fault{Op: "open", Location: "dropped files", Kind: storage.Failed, Err: fmt.Errorf("item %d of the files is not {path, file}", i)}
		}
		paths[i], objs[i] = item.Get("path").String(), item.Get("file")
	}
	plan, err := Make(paths)
	if err != nil {
		return nil, err
	}
	if plan.Single >= 0 {
		o := &object{file: objs[plan.Single], size: sizeOf(objs[plan.Single]), path: plan.Name, location: plan.Name}
		return fsadapter.File(ctx, cache.New(single.New(o, plan.Name, plan.Name), cache.Options{}), plan.Name)
	}
	s := &source{files: map[string]js.Value{}, beside: map[string]js.Value{}, location: plan.Name}
	for p, i := range plan.Files {
		s.files[p] = objs[i]
	}
	for p, i := range plan.Beside {
		s.beside[p] = objs[i]
	}
	if err := s.index(); err != nil {
		return nil, err
	}
	return cache.New(s, cache.Options{}), nil
}

// index builds the listings of the files.
func (s *source) index() error {
	entries := map[string]storage.Entry{}
	for p, f := range s.files {
		e := storage.Entry{Size: sizeOf(f)}
		if t := f.Get("lastModified"); t.Type() == js.TypeNumber {
			e.ModTime = time.UnixMilli(int64(t.Float())).UTC()
		}
		entries[p] = e
	}
	var clash string
	if s.dirs, clash = basepath.Folders(maps.All(entries), nil); clash != "" {
		return &storage.Fault{Op: "open", Path: clash, Location: s.location, Kind: storage.Refused, Err: errors.New("there is both a file and a folder of this name")}
	}
	return nil
}

// Sibling is a folder that was dropped together with the table's.
func (s *source) Sibling(ctx context.Context, name string) (storage.Source, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := storage.CheckName(name, s.location); err != nil {
		return nil, err
	}
	out := &source{files: map[string]js.Value{}, location: name}
	for p, f := range s.beside {
		if rel, ok := basepath.Cut(p, name); ok {
			out.files[rel] = f
		}
	}
	if len(out.files) == 0 {
		return nil, storage.NoSibling(name, s.location)
	}
	return out, out.index()
}

func sizeOf(file js.Value) int64 { return int64(file.Get("size").Float()) }

// source is a set of File objects.
type source struct {
	files    map[string]js.Value
	beside   map[string]js.Value
	dirs     map[string][]storage.Entry
	location string
}

func (s *source) Location() string { return s.location }

// List is complete but for empty folders, of which a browser does not tell.
func (s *source) List(ctx context.Context, dir string) (storage.Listing, error) {
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

func (s *source) Open(ctx context.Context, path string) (storage.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := storage.CheckPath("open", path, s.location); err != nil {
		return nil, err
	}
	f, ok := s.files[path]
	if !ok {
		return nil, &storage.Fault{Op: "open", Path: path, Location: s.location, Kind: storage.NotFound}
	}
	return &object{file: f, size: sizeOf(f), path: path, location: s.location}, nil
}

// object reads slices of a File.
type object struct {
	file           js.Value
	size           int64
	path, location string
	closed         atomic.Bool
}

func (o *object) Size(ctx context.Context) (int64, error) { return o.size, ctx.Err() }

func (o *object) KnownSize() (int64, bool) { return o.size, true }

func (o *object) fault(kind storage.FaultKind, err error, try string) error {
	return &storage.Fault{Op: "read", Path: o.path, Location: o.location, Kind: kind, Err: err, Try: try}
}

func (o *object) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if o.closed.Load() {
		return 0, o.fault(storage.Failed, fs.ErrClosed, "")
	}
	if off < 0 {
		return 0, o.fault(storage.Refused, fmt.Errorf("the offset %d is negative", off), "")
	}
	if err := ctx.Err(); err != nil || len(p) == 0 {
		return 0, err
	}
	if off >= o.size {
		return 0, io.EOF
	}
	want := int(min(int64(len(p)), o.size-off))
	for n := 0; n < want; {
		m := min(want-n, 8<<20) // bounds the copy that JavaScript holds
		b, err := jswait.Await(ctx, o.file.Call("slice", float64(off+int64(n)), float64(off+int64(n+m))).Call("arrayBuffer"))
		if err != nil {
			if ctx.Err() != nil {
				return n, ctx.Err()
			}
			var t *jswait.Thrown
			if errors.As(err, &t) && (t.Name() == "NotReadableError" || t.Name() == "NotFoundError") {
				return n, o.fault(storage.Changed, errGone, "Drop the folder or file again.")
			}
			return n, o.fault(storage.Failed, err, "Drop the folder or file again.")
		}
		if got := b.Get("byteLength").Int(); got != m {
			return n, o.fault(storage.Changed, fmt.Errorf("%d of %d bytes could be read", got, m), "The file was changed on the disk; drop it again.")
		}
		js.CopyBytesToGo(p[n:n+m], js.Global().Get("Uint8Array").New(b))
		n += m
	}
	if want < len(p) {
		return want, io.EOF
	}
	return want, nil
}

func (o *object) Close() error { o.closed.Store(true); return nil }

var errGone = errors.New("the browser can no longer read the file: it was changed, moved or removed on the disk")
