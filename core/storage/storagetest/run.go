package storagetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hudiscope/core/storage"
)

// Files is a tree for Run with everything a Hudi table can throw at an adapter: dot names,
// empty files, nested directories, names that URLs and archives treat badly.
func Files() map[string][]byte {
	long := make([]byte, 300_000)
	for i := range long {
		long[i] = byte(i*7 + i>>8)
	}
	return map[string][]byte{
		".hoodie/hoodie.properties":                                   []byte("hoodie.table.name=t\n"),
		".hoodie/timeline/20260307162557587.commit.requested":         {},
		".hoodie/timeline/20260307162557587_20260307162601961.commit": []byte(`{"operationType":"UPSERT"}`),
		"region=eu/.f1-0_20260307162611195.log.1_0-157-346":           long[:2048],
		"region=eu/f1-0_2-26-56_20260307162557587.parquet":            long,
		"name=a b+c%20#é/part ?&;='x.parquet":                         []byte("odd"),
		"name=a b+c%20#é/100%":                                        []byte("percent"),
		"dt=2024-01-01 10%3A00%3A00/x":                                []byte("escaped colon"),
		"dt=2024-01-01 10:00:00/x":                                    []byte("colon"),
		"city=東京/..dots":                                              []byte("dots"),
		"top":                                                         []byte("file at the base"),
	}
}

// Run checks that src behaves as package storage demands and holds exactly the files of
// want, by path. want needs at least one file of 3 bytes or more.
func Run(t *testing.T, src storage.Source, want map[string][]byte) {
	t.Helper()
	ctx := t.Context()
	var names []string
	for p := range want {
		names = append(names, p)
	}
	slices.Sort(names)

	t.Run("Location", func(t *testing.T) {
		if src.Location() == "" {
			t.Error("Location is empty")
		}
	})
	t.Run("List", func(t *testing.T) { list(ctx, t, src, want, "") })
	t.Run("Read", func(t *testing.T) {
		for _, p := range names {
			got, err := storage.ReadAll(ctx, src, p, 0)
			if err != nil {
				t.Errorf("%q: %v", p, err)
			} else if !bytes.Equal(got, want[p]) {
				t.Errorf("%q: got %d bytes that differ from the %d expected", p, len(got), len(want[p]))
			}
		}
	})
	t.Run("ReadAt", func(t *testing.T) {
		for _, p := range names {
			readAt(ctx, t, src, p, want[p])
		}
	})
	t.Run("NotExist", func(t *testing.T) {
		for _, p := range []string{"no-such-file", "no/such/file", ".hoodie/no such+file%41"} {
			if err := tryRead(ctx, src, p); !storage.IsNotExist(err) {
				t.Errorf("open %q: %v, want fs.ErrNotExist", p, err)
			} else {
				fault(t, src, err)
			}
		}
		for _, p := range []string{"no-such-dir", "no/such/dir"} {
			if l, err := src.List(ctx, p); !storage.IsNotExist(err) {
				t.Errorf("list %q: %d entries, %v, want fs.ErrNotExist", p, len(l.Entries), err)
			} else {
				fault(t, src, err)
			}
		}
		for _, p := range names {
			if dir := path.Dir(p); dir != "." {
				if err := tryRead(ctx, src, dir); err == nil {
					t.Errorf("the directory %q could be read as a file", dir)
				}
			}
		}
	})
	t.Run("BadPath", func(t *testing.T) {
		for _, p := range []string{"..", "../x", "a/../../x", "/etc/hostname", "a//b", "a/", "."} {
			if err := tryRead(ctx, src, p); err == nil {
				t.Errorf("open %q succeeded", p)
			}
			if p == "a/" || p == "." {
				continue
			}
			if _, err := src.List(ctx, p); err == nil {
				t.Errorf("list %q succeeded", p)
			}
		}
	})
	t.Run("Closed", func(t *testing.T) {
		o, err := src.Open(ctx, names[len(names)-1])
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if _, err := o.ReadAt(ctx, make([]byte, 1), 0); err == nil {
			t.Error("ReadAt after Close succeeded")
		}
	})
	t.Run("Cancelled", func(t *testing.T) {
		before := runtime.NumGoroutine()
		p := names[len(names)-1]
		o, err := src.Open(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		off, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := o.ReadAt(off, make([]byte, 1), 0); !errors.Is(err, context.Canceled) {
			t.Errorf("ReadAt with a cancelled context: %v", err)
		}
		if err := tryRead(off, src, p); !errors.Is(err, context.Canceled) {
			t.Errorf("open and read with a cancelled context: %v", err)
		}
		if _, err := src.List(off, ""); !errors.Is(err, context.Canceled) {
			t.Errorf("List with a cancelled context: %v", err)
		}
		if got := make([]byte, len(want[p])); storage.ReadFull(ctx, o, got, 0) != nil || !bytes.Equal(got, want[p]) {
			t.Error("a cancelled read spoiled the object")
		}
		o.Close()
		Settled(t, before)
	})
	t.Run("Concurrent", func(t *testing.T) {
		p := names[0]
		for _, n := range names {
			if len(want[n]) > len(want[p]) {
				p = n
			}
		}
		o, err := src.Open(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := range 20 {
					off := (g*7919 + i*104729) % len(want[p])
					b := make([]byte, min(1000, len(want[p])-off))
					if err := storage.ReadFull(ctx, o, b, int64(off)); err != nil || !bytes.Equal(b, want[p][off:off+len(b)]) {
						t.Errorf("%q: concurrent read of %d bytes at %d: %v", p, len(b), off, err)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

// Settled fails the test if more goroutines than before are running after a grace time.
// Transports with idle connections must close them first.
func Settled(t *testing.T, before int) {
	t.Helper()
	end := time.Now().Add(3 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(end) {
			buf := make([]byte, 1<<16)
			t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func tryRead(ctx context.Context, src storage.Source, p string) error {
	o, err := src.Open(ctx, p)
	if err != nil {
		return err
	}
	defer o.Close()
	_, err = o.ReadAt(ctx, make([]byte, 1), 0)
	return err
}

func fault(t *testing.T, src storage.Source, err error) {
	t.Helper()
	var f *storage.Fault
	if !errors.As(err, &f) {
		t.Errorf("%v is a %T, not a storage.Fault", err, err)
	} else if f.Location != src.Location() || f.Path == "" || f.Op == "" {
		t.Errorf("fault %+v: location, path or op is missing", f)
	}
}

func list(ctx context.Context, t *testing.T, src storage.Source, want map[string][]byte, dir string) {
	l, err := src.List(ctx, dir)
	if err != nil {
		t.Errorf("list %q: %v", dir, err)
		return
	}
	if !l.Complete {
		t.Errorf("list %q is not complete: %s", dir, l.Note)
	}
	expect := children(want, dir)
	var got, exp []string
	for _, e := range l.Entries {
		got = append(got, e.Name)
	}
	for _, e := range expect {
		exp = append(exp, e.Name)
	}
	if !slices.Equal(got, exp) {
		t.Errorf("list %q:\n got %q\nwant %q", dir, got, exp)
		return
	}
	for i, e := range expect {
		g := l.Entries[i]
		if g.Dir != e.Dir {
			t.Errorf("list %q: %q has Dir = %v", dir, g.Name, g.Dir)
		}
		if !e.Dir && g.Size != e.Size && g.Size != storage.SizeUnknown {
			t.Errorf("list %q: %q has size %d, want %d", dir, g.Name, g.Size, e.Size)
		}
		if strings.ContainsAny(g.ETag, `"`) || strings.HasPrefix(g.ETag, "W/") {
			t.Errorf("list %q: %q has the unclean ETag %q", dir, g.Name, g.ETag)
		}
		if e.Dir {
			list(ctx, t, src, want, path.Join(dir, e.Name))
		}
	}
}

func readAt(ctx context.Context, t *testing.T, src storage.Source, p string, want []byte) {
	o, err := src.Open(ctx, p)
	if err != nil {
		t.Errorf("open %q: %v", p, err)
		return
	}
	defer o.Close()
	size := int64(len(want))
	check := func(off, n int64) {
		t.Helper()
		b := bytes.Repeat([]byte{0xEE}, int(n)+1)[:n]
		got, err := o.ReadAt(ctx, b, off)
		exp := max(min(n, size-off), 0)
		if int64(got) != exp || exp > 0 && !bytes.Equal(b[:got], want[off:off+exp]) {
			t.Errorf("%q: ReadAt(%d bytes at %d) gave %d bytes (%v), want %d", p, n, off, got, err, exp)
		}
		switch {
		case n == 0:
			if err != nil && err != io.EOF {
				t.Errorf("%q: ReadAt of no bytes at %d: %v", p, off, err)
			}
		case exp < n && err != io.EOF:
			t.Errorf("%q: ReadAt(%d bytes at %d) past the end: %v, want io.EOF", p, n, off, err)
		case exp == n && err != nil && !(off+n == size && err == io.EOF):
			t.Errorf("%q: ReadAt(%d bytes at %d): %v", p, n, off, err)
		}
	}
	check(size, 4) // before the size is known
	check(0, size+10)
	check(0, 0)
	check(size, 0)
	check(size+1000, 1)
	if size > 2 {
		check(0, 1)
		check(size-1, 1)
		check(size-2, 10)
		check(size/2, size/4)
		check(1, size-1)
	}
	if got, err := o.Size(ctx); err != nil || got != size {
		t.Errorf("%q: size %d, %v, want %d", p, got, err, size)
	}
	if _, err := o.ReadAt(ctx, make([]byte, 1), -1); err == nil {
		t.Errorf("%q: ReadAt at -1 succeeded", p)
	}
}
