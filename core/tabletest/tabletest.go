// Package tabletest gives tests the tables under testdata: a table of
// testdata/tables/NAME.zip as a storage.Source held in memory, and Hudi's own
// answers of testdata/gold/NAME. It is for tests only.
package tabletest

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"hudiscope/core/storage"
)

// Dir returns the path of the repository's testdata folder, or of the folder that the
// environment variable HUDISCOPE_TESTDATA names: a larger collection of the same shape.
func Dir() string {
	if d := os.Getenv("HUDISCOPE_TESTDATA"); d != "" {
		return d
	}
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "testdata")
}

// Names lists the tables that have the gold file (all tables when gold is ""), sorted.
func Names(t testing.TB, gold string) []string {
	t.Helper()
	zips, err := filepath.Glob(filepath.Join(Dir(), "tables", "*.zip"))
	if err != nil || len(zips) == 0 {
		t.Fatalf("no tables in %s: %v", Dir(), err)
	}
	var out []string
	for _, z := range zips {
		name := strings.TrimSuffix(filepath.Base(z), ".zip")
		if gold != "" {
			if _, err := os.Stat(filepath.Join(Dir(), "gold", name, gold)); err != nil {
				continue
			}
		}
		out = append(out, name)
	}
	return out
}

// Some is all of a list, or, where programs run ten times slower (the race detector, WebAssembly), a part of it:
// for tests that do the same many times for each table, and that run without these, too.
func Some(list []string) []string {
	var out []string
	for i := 0; i < len(list); i += Every {
		out = append(out, list[i])
	}
	return out
}

// Open returns the table testdata/tables/name.zip; the folder name/ in the zip is the base path.
func Open(t testing.TB, name string) *Files {
	t.Helper()
	f, err := OpenZip(filepath.Join(Dir(), "tables", name+".zip"), name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Gold decodes testdata/gold/name/file into v.
func Gold(t testing.TB, name, file string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(Dir(), "gold", name, file))
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s/%s: %v", name, file, err)
	}
}

// OpenZip reads a zip file into memory. Entries below root/ are the table's, without that prefix;
// those of other folders are beside it (Sibling).
func OpenZip(path, root string) (*Files, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	out := New(filepath.Base(path))
	for _, e := range z.File {
		out := out
		name, ok := strings.CutPrefix(e.Name, root+"/")
		if !ok {
			var folder string
			if folder, name, ok = strings.Cut(e.Name, "/"); ok {
				out = out.beside(folder)
			}
		}
		if !ok || name == "" {
			continue
		}
		if strings.HasSuffix(name, "/") {
			out.Mkdir(strings.TrimSuffix(name, "/"))
			continue
		}
		r, err := e.Open()
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			return nil, err
		}
		out.Put(name, b)
	}
	return out, nil
}

// Files is a storage.Source in memory. Its files may be changed by a test before
// (not while) it is read; reading is safe for concurrent use.
type Files struct {
	location string
	data     map[string][]byte
	dirs     map[string]bool

	// ModTime is the modification time of every file.
	ModTime time.Time
	// Hide, when set, leaves entries out of listings, which are then incomplete.
	Hide func(path string) bool

	mu    sync.Mutex
	opens map[string]int

	siblings map[string]*Files
}

// beside returns the folder of a name beside the table, which is made if need be.
func (f *Files) beside(name string) *Files {
	if f.siblings == nil {
		f.siblings = map[string]*Files{}
	}
	if f.siblings[name] == nil {
		f.siblings[name] = New(f.location + "!" + name)
	}
	return f.siblings[name]
}

// Beside returns the folder of a name beside the table, nil when there is none.
func (f *Files) Beside(name string) *Files { return f.siblings[name] }

// RemoveBeside deletes a folder beside the table.
func (f *Files) RemoveBeside(name string) { delete(f.siblings, name) }

// Sibling implements storage.Neighbour.
func (f *Files) Sibling(ctx context.Context, name string) (storage.Source, error) {
	if s := f.siblings[name]; s != nil {
		return s, ctx.Err()
	}
	return nil, storage.NoSibling(name, f.location)
}

// New returns an empty source.
func New(location string) *Files {
	return &Files{location: location, data: map[string][]byte{}, dirs: map[string]bool{"": true}, opens: map[string]int{}}
}

// Clone returns a source with the same files, whose own may be changed.
func (f *Files) Clone() *Files {
	out := New(f.location)
	out.data, out.dirs, out.siblings = maps.Clone(f.data), maps.Clone(f.dirs), f.siblings
	out.ModTime, out.Hide = f.ModTime, f.Hide
	return out
}

// Mkdir makes a directory and its parents.
func (f *Files) Mkdir(path string) {
	for path != "" && path != "." {
		f.dirs[path] = true
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return
		}
		path = path[:i]
	}
}

// Put writes a file.
func (f *Files) Put(path string, data []byte) {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		f.Mkdir(path[:i])
	}
	f.data[path] = data
}

// Remove deletes a file.
func (f *Files) Remove(path string) { delete(f.data, path) }

// Bytes returns the content of a file, nil when it is absent.
func (f *Files) Bytes(path string) []byte { return f.data[path] }

// Paths lists all files, sorted.
func (f *Files) Paths() []string {
	var out []string
	for p := range f.data {
		out = append(out, p)
	}
	sort.Strings(out)
	return out
}

// Opens returns how often a file was opened.
func (f *Files) Opens(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.opens[path]
}

// Location implements storage.Source.
func (f *Files) Location() string { return f.location }

// List implements storage.Lister.
func (f *Files) List(ctx context.Context, dir string) (storage.Listing, error) {
	if err := ctx.Err(); err != nil {
		return storage.Listing{}, err
	}
	if !f.dirs[dir] {
		return storage.Listing{}, &storage.Fault{Op: "list", Path: dir, Location: f.location, Kind: storage.NotFound}
	}
	prefix := dir + "/"
	if dir == "" {
		prefix = ""
	}
	l := storage.Listing{Complete: true}
	add := func(path string, e storage.Entry) {
		rest, ok := strings.CutPrefix(path, prefix)
		if !ok || rest == "" || strings.Contains(rest, "/") {
			return
		}
		if f.Hide != nil && f.Hide(path) {
			l.Complete, l.Note = false, "the listing hides some names"
			return
		}
		e.Name = rest
		l.Entries = append(l.Entries, e)
	}
	for p := range f.dirs {
		add(p, storage.Entry{Dir: true, Size: storage.SizeUnknown})
	}
	for p, b := range f.data {
		add(p, storage.Entry{Size: int64(len(b)), ModTime: f.ModTime})
	}
	sort.Slice(l.Entries, func(i, j int) bool { return l.Entries[i].Name < l.Entries[j].Name })
	return l, nil
}

// Open implements storage.Opener.
func (f *Files) Open(ctx context.Context, path string) (storage.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b, ok := f.data[path]
	if !ok {
		return nil, &storage.Fault{Op: "open", Path: path, Location: f.location, Kind: storage.NotFound, Err: fs.ErrNotExist}
	}
	f.mu.Lock()
	f.opens[path]++
	f.mu.Unlock()
	return &object{r: bytes.NewReader(b)}, nil
}

type object struct {
	r      *bytes.Reader
	closed bool
}

func (o *object) Size(context.Context) (int64, error) { return o.r.Size(), nil }

func (o *object) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if o.closed {
		return 0, errors.New("read of a closed object")
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return o.r.ReadAt(p, off)
}

func (o *object) Close() error {
	if o.closed {
		return errors.New("object closed twice")
	}
	o.closed = true
	return nil
}

// Subset returns the first place where got lacks or contradicts want, as text, or "".
// Objects of got may have more keys; a null of want may be absent; numbers compare by value.
func Subset(want, got any) string { return subset("$", want, got) }

func subset(path string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return path + ": want an object, got " + short(got)
		}
		for k, v := range w {
			x, ok := g[k]
			if !ok {
				if v == nil {
					continue
				}
				return path + "." + k + ": missing, want " + short(v)
			}
			if d := subset(path+"."+k, v, x); d != "" {
				return d
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return path + ": want " + short(want) + ", got " + short(got)
		}
		for i := range w {
			if d := subset(path+"["+itoa(i)+"]", w[i], g[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if w, ok := want.(json.Number); ok {
		if g, ok := got.(json.Number); ok && sameNumber(string(w), string(g)) {
			return ""
		}
	}
	if full(want) != full(got) {
		return path + ": want " + short(want) + ", got " + short(got)
	}
	return ""
}

func itoa(i int) string { b, _ := json.Marshal(i); return string(b) }

func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, ok1 := new(big.Rat).SetString(a)
	y, ok2 := new(big.Rat).SetString(b)
	return ok1 && ok2 && x.Cmp(y) == 0
}

func full(v any) string { b, _ := json.Marshal(v); return string(b) }

func short(v any) string {
	b := []byte(full(v))
	if len(b) > 300 {
		b = append(b[:300:300], "…"...)
	}
	return string(b)
}

// Roundtrip turns a value into the plain form that Gold gives, through JSON.
func Roundtrip(t testing.TB, v any) any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var out any
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}
