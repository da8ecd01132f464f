package kept

import (
	"bytes"
	"context"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/core/storage/storagetest"
)

type memory struct {
	mu   sync.Mutex
	m    map[string][]byte
	gets int
}

func (m *memory) Get(_ context.Context, name string) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.m[name]
	if ok {
		m.gets++
	}
	return b, ok
}

func (m *memory) Put(_ context.Context, name string, b []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.m[name] = bytes.Clone(b)
}

// remote lists its files with versions and counts what is read.
type remote struct {
	files map[string][]byte
	etags map[string]string
	at    time.Time
	reads int
}

func (r *remote) Location() string { return "remote" }

func (r *remote) List(_ context.Context, dir string) (storage.Listing, error) {
	l := storage.Listing{Complete: true}
	for p, b := range r.files {
		if len(p) > len(dir) && (dir == "" || p[:len(dir)+1] == dir+"/") {
			name := p[len(dir):]
			if dir != "" {
				name = name[1:]
			}
			l.Entries = append(l.Entries, storage.Entry{Name: name, Size: int64(len(b)), ETag: r.etags[p], ModTime: r.at})
		}
	}
	slices.SortFunc(l.Entries, func(a, b storage.Entry) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return l, nil
}

func (r *remote) Open(_ context.Context, p string) (storage.Object, error) {
	b, ok := r.files[p]
	if !ok {
		return nil, &storage.Fault{Op: "open", Path: p, Kind: storage.NotFound}
	}
	return &remoteObject{r, bytes.NewReader(b)}, nil
}

type remoteObject struct {
	r *remote
	b *bytes.Reader
}

func (o *remoteObject) Size(context.Context) (int64, error) { return o.b.Size(), nil }
func (o *remoteObject) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	o.r.reads++
	return o.b.ReadAt(p, off)
}
func (o *remoteObject) Close() error { return nil }

func content(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*31>>3) ^ byte(i) ^ seed
	}
	return b
}

// session opens the files as another start of the program does, and reads all of them.
func session(t *testing.T, r *remote, m *memory, list bool) {
	t.Helper()
	src := cache.New(New(r, m, "place"), cache.Options{})
	if list {
		if _, err := src.List(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	}
	for p, want := range r.files {
		got, err := storage.ReadAll(t.Context(), src, p, 0)
		if err != nil {
			t.Fatal(p, err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes than the file has", p)
		}
	}
}

func TestSecondSessionReadsFromTheStore(t *testing.T) {
	const small, large, odd, log, props = "a.parquet", "b.parquet", "c.parquet", ".f1-0_20260307162611195.log.1_0-157-346", "x.properties"
	r := &remote{files: map[string][]byte{small: content(5000, 1), large: content(3<<20, 2), odd: content(2<<20+77, 3), log: content(70, 4), props: content(60, 5)},
		etags: map[string]string{small: "e1", large: "e2", odd: "e3", log: "e4", props: "e5"}}
	m := &memory{m: map[string][]byte{}}
	session(t, r, m, true)
	first := r.reads
	r.reads = 0
	session(t, r, m, true)
	if r.reads != 1 { // the properties
		t.Errorf("%d reads in the second session, %d in the first", r.reads, first)
	}
	// Without a listing nothing is taken.
	r.reads, m.gets = 0, 0
	session(t, r, m, false)
	if m.gets != 0 || r.reads < 5 {
		t.Errorf("%d taken without a version, %d reads", m.gets, r.reads)
	}
	// Files that were replaced are read anew: by the ETag, by the size, by the time.
	r.files[small], r.etags[small] = content(5000, 9), "e9"
	r.files[large] = content(3<<20+1, 8)
	session(t, r, m, true)
	r.etags, r.at = map[string]string{}, time.UnixMilli(1772900000000)
	session(t, r, m, true)
	r.files[odd], r.at = content(2<<20+77, 7), time.UnixMilli(1772900001000)
	session(t, r, m, true)
	r.reads = 0
	session(t, r, m, true)
	if r.reads != 1 {
		t.Errorf("%d reads by the time of modification", r.reads)
	}
	// No version at all.
	r.at = time.Time{}
	for p := range r.files {
		r.files[p] = content(len(r.files[p]), 77)
	}
	session(t, r, m, true)
}

func TestDamagedPiecesAreNotTaken(t *testing.T) {
	r := &remote{files: map[string][]byte{"a.parquet": content(200_000, 1)}, etags: map[string]string{"a.parquet": "e"}}
	m := &memory{m: map[string][]byte{}}
	session(t, r, m, true)
	for k, b := range m.m {
		m.m[k] = b[:len(b)-1]
	}
	session(t, r, m, true)
}

func TestRangesOfALargeFile(t *testing.T) {
	data := content(5<<20+13, 1)
	r := &remote{files: map[string][]byte{"a.parquet": data}, etags: map[string]string{"a.parquet": "e"}}
	m := &memory{m: map[string][]byte{}}
	src := New(r, m, "place")
	if _, err := src.List(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	o, err := src.Open(t.Context(), "a.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, c := range [][2]int{{0, 10}, {64 << 10, 64 << 10}, {100_000, 200_000}, {len(data) - 50_000, 60_000}, {len(data) - 1, 1}, {1 << 20, 2 << 20}} {
			p := make([]byte, c[1])
			n, err := o.ReadAt(t.Context(), p, int64(c[0]))
			want := data[c[0]:min(c[0]+c[1], len(data))]
			if !bytes.Equal(p[:n], want) || (n < len(p)) != (err == io.EOF) {
				t.Errorf("%v: %d bytes, %v", c, n, err)
			}
		}
	}
	if n, err := o.ReadAt(t.Context(), make([]byte, 4), int64(len(data))); n != 0 || err != io.EOF {
		t.Errorf("beyond the end: %d, %v", n, err)
	}
}

func TestConformance(t *testing.T) {
	files := storagetest.Files()
	storagetest.Run(t, New(storagetest.Mem(files), &memory{m: map[string][]byte{}}, "p"), files)
}

func TestImmutable(t *testing.T) {
	for p, want := range map[string]bool{
		"p=1/f1-0_0-1-1_20260307162611195.parquet":                          true,
		"p=1/.f1-0_20260307162611195.log.1_0-157-346":                       true,
		".hoodie/timeline/20260307162557587_20260307162601961.commit":       true,
		".hoodie/20260307162557587.deltacommit":                             true,
		".hoodie/metadata/.hoodie/timeline/00000000000000000.deltacommit":   true,
		".hoodie/timeline/history/20260307_20260308_0.parquet":              true,
		".hoodie/timeline/20260307162557587.commit.requested":               false,
		".hoodie/timeline/20260307162557587.inflight":                       false,
		".hoodie/timeline/20260307162557587.compaction.requested":           false,
		".hoodie/hoodie.properties":                                         false,
		".hoodie/timeline/history/_version_":                                false,
		"p=1/.hoodie_partition_metadata":                                    false,
		"p=1/20260307162557587.commit":                                      false,
		".hoodie/.aux/x.commit":                                             false,
		"p=1/.f1-0_20260307162611195.log.1_0-157-346.crc":                   true, // by its version alone
		".hoodie/metadata/files/files-0000-0_0-3-2_20260307162611195.hfile": true,
	} {
		if Immutable(p) != want {
			t.Errorf("Immutable(%q) = %v", p, !want)
		}
	}
}
