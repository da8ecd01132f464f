// Package manifest reads and writes hudi-manifest.json: the list of a table's files, for web servers
// that do not list their directories or hide names that begin with a dot.
package manifest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"hudiscope/core/storage"
	"hudiscope/fsadapter/basepath"
)

// Name is that of the file, which lies in the table's base directory.
const Name = "hudi-manifest.json"

// Version is the value of "v" that this package reads and writes.
const Version = 1

// Manifest is the document:
//
//	{"v":1, "base":"trips", "taken":"2026-01-02T15:04:05Z",
//	 "files":[["p=1/a.parquet",1234,1772900000000,"etag"], …]}
//
// A file is its path relative to the base, its size in bytes (-1 when not known), when it was
// changed in milliseconds since 1970 (0 when not known), and its entity tag without quotes ("" when
// not known). All files of the table are among them, sorted by path.
type Manifest struct {
	// Base names the table for people. Taken is when the files were listed.
	Base  string
	Taken time.Time
	// Files are the entries by path; their Name is not set.
	Files map[string]storage.Entry
}

type document struct {
	V     int                  `json:"v"`
	Base  string               `json:"base"`
	Taken time.Time            `json:"taken,omitzero"`
	Files [][4]json.RawMessage `json:"files"`
}

// Parse reads and checks a manifest. location names it in errors, which are Faults of kind Refused.
func Parse(b []byte, location string) (*Manifest, error) {
	refuse := func(format string, args ...any) (*Manifest, error) {
		return nil, &storage.Fault{Op: "list", Path: Name, Location: location, Kind: storage.Refused, Err: fmt.Errorf(format, args...),
			Try: "Make the manifest anew: hudiscope manifest TABLE."}
	}
	var d document
	if err := json.Unmarshal(b, &d); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return refuse("the manifest is no JSON from byte %d on", syntax.Offset)
		}
		return refuse("the manifest has a field of another type than v, base, taken and files have")
	}
	if d.V != Version {
		return refuse("the manifest has version %d, not %d", d.V, Version)
	}
	m := &Manifest{Base: d.Base, Taken: d.Taken, Files: make(map[string]storage.Entry, len(d.Files))}
	for i, f := range d.Files {
		var p, etag string
		var size, mtime int64
		for j, to := range []any{&p, &size, &mtime, &etag} {
			if f[j] == nil {
				return refuse("file %d of the manifest has %d fields, not 4", i, j)
			}
			if json.Unmarshal(f[j], to) != nil {
				return refuse("field %d of file %d of the manifest is not [path, size, mtime, etag]'s", j, i)
			}
		}
		if p == "" || storage.CheckPath("list", p, location) != nil {
			return refuse("%q in the manifest is not the path of a file", p)
		}
		if size < storage.SizeUnknown {
			return refuse("the size of %q in the manifest is negative", p)
		}
		if _, ok := m.Files[p]; ok {
			return refuse("the manifest has %q twice", p)
		}
		e := storage.Entry{Size: size, ETag: etag}
		if mtime > 0 {
			e.ModTime = time.UnixMilli(mtime).UTC()
		}
		m.Files[p] = e
	}
	if _, clash := basepath.Folders(maps.All(m.Files), nil); clash != "" {
		return refuse("the manifest has %q both as a file and as a folder", clash)
	}
	return m, nil
}

// Encode writes a manifest, one file a line.
func (m *Manifest) Encode() ([]byte, error) {
	paths := make([]string, 0, len(m.Files))
	for p := range m.Files {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	head, err := json.Marshal(struct {
		V     int       `json:"v"`
		Base  string    `json:"base"`
		Taken time.Time `json:"taken,omitzero"`
	}{Version, m.Base, m.Taken.UTC().Truncate(time.Second)})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.Write(head[:len(head)-1])
	out.WriteString(`,"files":[`)
	for i, p := range paths {
		e := m.Files[p]
		mtime := int64(0)
		if !e.ModTime.IsZero() {
			mtime = max(e.ModTime.UnixMilli(), 0)
		}
		row, err := json.Marshal([]any{p, max(e.Size, storage.SizeUnknown), mtime, e.ETag})
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		out.Write(row)
	}
	out.WriteString("\n]}\n")
	return out.Bytes(), nil
}

// List is the content of a folder.
func List(dirs map[string][]storage.Entry, dir, location string) (storage.Listing, error) {
	es, ok := dirs[dir]
	if !ok {
		return storage.Listing{}, &storage.Fault{Op: "list", Path: dir, Location: location, Kind: storage.NotFound, Err: errors.New(Name + " has no such directory")}
	}
	return storage.Listing{Entries: slices.Clone(es), Complete: true}, nil
}

// Make lists all files of a table. A listing that may not be complete is a Fault of kind NoListing.
// inFlight is how many directories are listed at a time. A manifest among the files is left out.
func Make(ctx context.Context, src storage.Source, inFlight int, now time.Time) (*Manifest, error) {
	loc := src.Location()
	m := &Manifest{Base: baseName(loc), Taken: now, Files: map[string]storage.Entry{}}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		mu    sync.Mutex
		wg    sync.WaitGroup
		slots = make(chan struct{}, max(inFlight, 1))
	)
	var walk func(dir string)
	walk = func(dir string) {
		defer wg.Done()
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		l, err := src.List(ctx, dir)
		<-slots
		if err == nil && !l.Complete {
			err = &storage.Fault{Op: "list", Path: dir, Location: loc, Kind: storage.NoListing, Err: errors.New(l.Note),
				Try: "Make the manifest where the files are: from the directory, or the bucket."}
		}
		if err != nil {
			cancel(err)
			return
		}
		for _, e := range l.Entries {
			p := e.Name
			if dir != "" {
				p = dir + "/" + e.Name
			}
			if e.Dir {
				wg.Add(1)
				go walk(p)
			} else if p != Name {
				mu.Lock()
				m.Files[p] = storage.Entry{Size: e.Size, ModTime: e.ModTime, ETag: e.ETag}
				mu.Unlock()
			}
		}
	}
	wg.Add(1)
	go walk("")
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if _, clash := basepath.Folders(maps.All(m.Files), nil); clash != "" {
		return nil, &storage.Fault{Op: "list", Path: clash, Location: loc, Kind: storage.Refused, Err: errors.New("it is both a file and a directory, which a web server can't serve")}
	}
	return m, nil
}

func baseName(location string) string {
	location = strings.TrimRight(location, "/\\")
	return location[strings.LastIndexAny(location, "/\\#")+1:]
}
