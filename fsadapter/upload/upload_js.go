package upload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"syscall/js"
	"time"

	"github.com/klauspost/compress/gzip"

	"hudiscope/core/corrupt"
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
// the table it names, a .tar, .tar.gz or .tgz as the table in that, any other single file as itself. It works in windows and workers.
// The File objects are kept; their bytes are read when needed, and cached.
func New(ctx context.Context, files js.Value, o cache.Options) (storage.Source, error) {
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
	given := make([]given, n)
	for i, f := range objs {
		given[i] = whole(f)
	}
	return open(ctx, paths, given, o, false)
}

// given is a File, or a part of one.
type given struct {
	blob     js.Value
	size     int64
	modified time.Time
}

func whole(file js.Value) given {
	g := given{blob: file, size: sizeOf(file)}
	if t := file.Get("lastModified"); t.Type() == js.TypeNumber {
		g.modified = time.UnixMilli(int64(t.Float())).UTC()
	}
	return g
}

// open opens what files with these paths are; those of an archive are no archives themselves.
func open(ctx context.Context, paths []string, files []given, kept cache.Options, inArchive bool) (storage.Source, error) {
	plan, err := Make(paths)
	if err != nil {
		return nil, err
	}
	if plan.Single >= 0 {
		one := files[plan.Single]
		if tar, gzip := isTar(plan.Name); tar && !inArchive {
			return openTar(ctx, one, plan.Name, gzip, kept)
		}
		o := &object{file: one.blob, size: one.size, path: plan.Name, location: plan.Name}
		return fsadapter.File(ctx, cache.New(single.New(o, plan.Name, plan.Name), kept), plan.Name)
	}
	s := &source{files: map[string]given{}, beside: map[string]given{}, location: plan.Name}
	for p, i := range plan.Files {
		s.files[p] = files[i]
	}
	for p, i := range plan.Beside {
		s.beside[p] = files[i]
	}
	if err := s.index(); err != nil {
		return nil, err
	}
	return cache.New(s, kept), nil
}

// openTar opens a tar archive. The files of a plain one are parts of it; those of a compressed one are
// unpacked into blobs, which the browser holds where it likes.
func openTar(ctx context.Context, archive given, name string, compressed bool, kept cache.Options) (storage.Source, error) {
	o := &object{file: archive.blob, size: archive.size, path: name, location: name}
	var paths []string
	var files []given
	index := map[string]int{}
	add := func(e tarEntry, g given) {
		if i, twice := index[e.path]; twice { // the later counts, as for tar
			files[i] = g
			return
		}
		index[e.path] = len(paths)
		paths, files = append(paths, e.path), append(files, g)
	}
	if !compressed {
		in := &blobStream{o: o}
		err := readTar(ctx, in, name, func(e tarEntry) error {
			if e.at > archive.size || e.size > archive.size-e.at {
				return corrupt.InFile(corrupt.At(e.at, "tar entry "+e.path, fmt.Sprintf("%d bytes", e.size), "the end of the file: the archive was cut"), name)
			}
			add(e, given{archive.blob.Call("slice", float64(e.at), float64(e.at+e.size)), e.size, e.modified})
			return in.Skip(ctx, e.size)
		})
		if err != nil {
			return nil, err
		}
		return open(ctx, paths, files, kept, true)
	}
	z, err := gzip.NewReader(&blobReader{ctx: ctx, o: o})
	if err != nil {
		return nil, unpacking(ctx, err, name)
	}
	in := &packedStream{z: z}
	var total int64
	err = readTar(ctx, in, name, func(e tarEntry) error {
		if total += e.size; total > MaxUnpacked {
			return &storage.Fault{Op: "open", Location: name, Kind: storage.Refused, Err: fmt.Errorf("the files in it have more than %d bytes", int64(MaxUnpacked)),
				Try: "Unpack it (tar xzf) and open the folder, or open it as .tar or .zip, of which only what is needed is read."}
		}
		b, err := in.blob(ctx, e.size)
		if err == nil {
			add(e, given{b, e.size, e.modified})
		}
		return err
	})
	if err == nil {
		// To the end, for the checksum there; only zeros follow in an archive that is whole.
		_, err = io.CopyN(io.Discard, z, 16<<20)
		if err == nil {
			err = &storage.Fault{Op: "open", Location: name, Kind: storage.Refused, Err: errors.New("more than 16 MiB follow its end mark")}
		} else if err == io.EOF {
			err = nil
		}
	}
	if err != nil {
		return nil, unpacking(ctx, err, name)
	}
	return open(ctx, paths, files, kept, true)
}

// unpacking names the archive in an error of the decompression.
func unpacking(ctx context.Context, err error, name string) error {
	var f *storage.Fault
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case corrupt.Is(err), errors.As(err, &f):
		return err
	}
	return corrupt.InFile(corrupt.At(0, "gzip stream", "compressed bytes with the right checksum", err.Error()), name)
}

// blobStream reads an archive in place.
type blobStream struct {
	o   *object
	at  int64
	buf []byte // read ahead, from at on
}

func (s *blobStream) Fill(ctx context.Context, p []byte) error {
	for len(p) > 0 {
		if len(s.buf) == 0 {
			b := make([]byte, min(16<<10, max(s.o.size-s.at, 0)))
			if len(b) == 0 {
				return io.ErrUnexpectedEOF
			}
			if err := storage.ReadFull(ctx, s.o, b, s.at); err != nil {
				return err
			}
			s.buf = b
		}
		n := copy(p, s.buf)
		p, s.buf, s.at = p[n:], s.buf[n:], s.at+int64(n)
	}
	return nil
}

func (s *blobStream) Skip(_ context.Context, n int64) error {
	if n > s.o.size-s.at {
		return io.ErrUnexpectedEOF
	}
	s.buf = s.buf[min(n, int64(len(s.buf))):]
	s.at += n
	return nil
}

// blobReader reads a file from its beginning to its end.
type blobReader struct {
	ctx context.Context
	o   *object
	at  int64
	buf []byte
}

func (r *blobReader) Read(p []byte) (int, error) {
	if len(r.buf) == 0 {
		b := make([]byte, min(1<<20, max(r.o.size-r.at, 0)))
		if len(b) == 0 {
			return 0, io.EOF
		}
		if err := storage.ReadFull(r.ctx, r.o, b, r.at); err != nil {
			return 0, err
		}
		r.buf = b
		r.at += int64(len(b))
	}
	n := copy(p, r.buf)
	r.buf = r.buf[n:]
	return n, nil
}

// packedStream reads a compressed archive.
type packedStream struct {
	z   io.Reader
	buf []byte
}

func (s *packedStream) Fill(_ context.Context, p []byte) error {
	_, err := io.ReadFull(s.z, p)
	return err
}

func (s *packedStream) Skip(ctx context.Context, n int64) error {
	_, err := io.CopyN(io.Discard, s.z, n)
	return err
}

// blob makes a Blob of the next n bytes, without holding more than one MiB of them.
func (s *packedStream) blob(ctx context.Context, n int64) (js.Value, error) {
	parts := js.Global().Get("Array").New()
	if s.buf == nil {
		s.buf = make([]byte, 1<<20)
	}
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return js.Value{}, err
		}
		p := s.buf[:min(n, int64(len(s.buf)))]
		if _, err := io.ReadFull(s.z, p); err != nil {
			return js.Value{}, err
		}
		u := js.Global().Get("Uint8Array").New(len(p))
		js.CopyBytesToJS(u, p)
		piece := js.Global().Get("Array").New()
		piece.Call("push", u)
		parts.Call("push", js.Global().Get("Blob").New(piece))
		n -= int64(len(p))
	}
	return js.Global().Get("Blob").New(parts), nil
}

// index builds the listings of the files.
func (s *source) index() error {
	entries := map[string]storage.Entry{}
	for p, f := range s.files {
		entries[p] = storage.Entry{Size: f.size, ModTime: f.modified}
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
	out := &source{files: map[string]given{}, location: name}
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
	files    map[string]given
	beside   map[string]given
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
	return &object{file: f.blob, size: f.size, path: path, location: s.location}, nil
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

// isTar says by a file's name what kind of tar archive it is.
func isTar(name string) (tar, gzip bool) {
	name = strings.ToLower(name)
	gzip = strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".tgz")
	return gzip || strings.HasSuffix(name, ".tar"), gzip
}
