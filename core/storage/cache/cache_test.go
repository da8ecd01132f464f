package cache

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hudiscope/core/storage"
	"hudiscope/core/storage/storagetest"
)

func pattern(n int) []byte {
	r := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	r.Read(b)
	return b
}

func TestConformance(t *testing.T) {
	for name, o := range map[string]Options{
		"default": {},
		"tiny":    {Budget: 5000, Block: 512, Small: 1024, Gap: 1024, InFlight: 2},
		"nothing": {Budget: 1, Block: 1 << 20, Small: 1, InFlight: 1},
	} {
		t.Run(name, func(t *testing.T) {
			for _, hide := range []bool{false, true} {
				p := &storagetest.Probe{Src: storagetest.Mem(storagetest.Files()), HideSize: hide}
				s := New(p, o)
				storagetest.Run(t, s, storagetest.Files())
				if n := p.StillOpen(); n != 0 {
					t.Errorf("%d objects left open", n)
				}
				if st := s.Stats(); st.Held > s.o.Budget {
					t.Errorf("%d bytes held, budget %d", st.Held, s.o.Budget)
				}
			}
		})
	}
}

func TestSmallFileIsOneRequest(t *testing.T) {
	for _, listed := range []bool{false, true} {
		data := pattern(300_000)
		p := &storagetest.Probe{Src: storagetest.Mem{"d/f": data}, HideSize: true}
		s := New(p, Options{})
		if listed {
			if _, err := s.List(t.Context(), "d"); err != nil {
				t.Fatal(err)
			}
		}
		o, _ := s.Open(t.Context(), "d/f")
		if n, err := o.Size(t.Context()); n != 300_000 || err != nil {
			t.Fatal(n, err)
		}
		for off := int64(0); off < 300_000; off += 10_000 {
			b := make([]byte, 10_000)
			if err := storage.ReadFull(t.Context(), o, b, off); err != nil || !bytes.Equal(b, data[off:off+10_000]) {
				t.Fatal(off, err)
			}
		}
		if r := p.Reads(); len(r) != 1 {
			t.Errorf("listed %v: %d requests, want 1: %v", listed, len(r), r)
		}
	}
}

func TestFileListedAsEmptyNeedsNoRequest(t *testing.T) {
	p := &storagetest.Probe{Src: storagetest.Mem{"e": nil}}
	s := New(p, Options{})
	s.List(t.Context(), "")
	if b, err := storage.ReadAll(t.Context(), s, "e", 0); err != nil || len(b) != 0 {
		t.Fatal(b, err)
	}
	if len(p.Reads()) != 0 {
		t.Error("an empty file was asked for")
	}
}

func TestFooterAndForwardReads(t *testing.T) {
	const size = 10<<20 + 10 // the last block holds 10 bytes
	data := pattern(size)
	p := &storagetest.Probe{Src: storagetest.Mem{"f": data}}
	s := New(p, Options{})
	s.List(t.Context(), "")
	o, _ := s.Open(t.Context(), "f")
	b := make([]byte, 8)
	if err := storage.ReadFull(t.Context(), o, b, size-8); err != nil {
		t.Fatal(err)
	}
	b = make([]byte, 20_000)
	if err := storage.ReadFull(t.Context(), o, b, size-8-20_000); err != nil || !bytes.Equal(b, data[size-8-20_000:size-8]) {
		t.Fatal(err)
	}
	if r := p.Reads(); len(r) != 1 || r[0].Len != 64<<10+10 {
		t.Errorf("footer: %v, want one request of the last two blocks", r)
	}
	p.Reset()
	buf := make([]byte, 4096)
	for off := int64(0); off < 8<<20; off += 4096 {
		if err := storage.ReadFull(t.Context(), o, buf, off); err != nil || !bytes.Equal(buf, data[off:off+4096]) {
			t.Fatal(off, err)
		}
	}
	if n := len(p.Reads()); n > 20 {
		t.Errorf("forward reading of 8 MiB took %d requests, want at most 20", n)
	}
	st := s.Stats()
	if st.Bytes > 11<<20 {
		t.Errorf("%d bytes fetched for 8 MiB", st.Bytes)
	}
}

func TestPrefetchMerges(t *testing.T) {
	data := pattern(8 << 20)
	p := &storagetest.Probe{Src: storagetest.Mem{"f": data}}
	s := New(p, Options{})
	s.List(t.Context(), "")
	err := s.Prefetch(t.Context(), "f", []storage.Range{
		{Off: 5 << 20, Len: 100},
		{Off: 1000, Len: 1000},
		{Off: 200_000, Len: 1000}, // less than 256 KiB behind: same request
		{Off: 1 << 30, Len: 5},    // beyond the end: ignored
		{Off: 2 << 20, Len: 70_000},
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(p.Reads()); n != 3 {
		t.Errorf("%d requests, want 3: %v", n, p.Reads())
	}
	p.Reset()
	o, _ := s.Open(t.Context(), "f")
	for _, off := range []int64{5 << 20, 1000, 100_000, 200_000, 2 << 20} {
		b := make([]byte, 100)
		if err := storage.ReadFull(t.Context(), o, b, off); err != nil || !bytes.Equal(b, data[off:off+100]) {
			t.Errorf("at %d: %v", off, err)
		}
	}
	if n := len(p.Reads()); n != 0 {
		t.Errorf("%d requests after the prefetch", n)
	}
	if err := s.Prefetch(t.Context(), "absent", []storage.Range{{Off: 0, Len: 1}}); !storage.IsNotExist(err) {
		t.Errorf("prefetch of an absent file: %v", err)
	}
}

func TestBudgetAndLargeRead(t *testing.T) {
	data := pattern(40 << 20)
	p := &storagetest.Probe{Src: storagetest.Mem{"f": data}}
	s := New(p, Options{Budget: 2 << 20})
	s.List(t.Context(), "")
	got, err := storage.ReadAll(t.Context(), s, "f", 0)
	if err != nil || !bytes.Equal(got, data) {
		t.Fatal("wrong bytes", err)
	}
	st := s.Stats()
	if st.Held > 2<<20 || st.Requests > 14 || st.Bytes != 40<<20 {
		t.Errorf("%+v", st)
	}
	for _, r := range p.Reads() {
		if r.Len > maxRequest {
			t.Errorf("a request of %d bytes", r.Len)
		}
	}
}

// gate lets reads through one by one and counts how many wait at a time.
type gate struct {
	open      chan struct{}
	now, most atomic.Int32
}

func (g *gate) read(ctx context.Context, _ string, _ []byte, _ int64) error {
	n := g.now.Add(1)
	defer g.now.Add(-1)
	for {
		m := g.most.Load()
		if n <= m || g.most.CompareAndSwap(m, n) {
			break
		}
	}
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestSharedReadAndCancelledWaiter(t *testing.T) {
	before := runtime.NumGoroutine()
	data := pattern(3 << 20)
	g := &gate{open: make(chan struct{})}
	p := &storagetest.Probe{Src: storagetest.Mem{"f": data}, OnRead: g.read}
	s := New(p, Options{})
	s.List(t.Context(), "")
	o, _ := s.Open(t.Context(), "f")
	impatient, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := o.ReadAt(impatient, make([]byte, 10), 1<<20)
		gone <- err
	}()
	for g.now.Load() == 0 {
		runtime.Gosched()
	}
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			b := make([]byte, 10)
			off := int64(1<<20 + i*10)
			if err := storage.ReadFull(t.Context(), o, b, off); err != nil || !bytes.Equal(b, data[off:off+10]) {
				t.Errorf("waiter %d: %v", i, err)
			}
		})
	}
	for s.Stats().Joined < 10 {
		time.Sleep(time.Millisecond)
	}
	start := time.Now()
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled reader: %v", err)
	}
	if d := time.Since(start); d > time.Second {
		t.Errorf("a cancelled reader waited %v", d)
	}
	close(g.open)
	wg.Wait()
	if n := len(p.Reads()); n != 1 {
		t.Errorf("%d requests for one block, want 1", n)
	}
	// When all leave, the request is cancelled and the next reader starts anew.
	g.open = make(chan struct{})
	last, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := o.ReadAt(last, make([]byte, 10), 2<<20)
		gone <- err
	}()
	for g.now.Load() == 0 {
		runtime.Gosched()
	}
	cancel()
	<-gone
	storagetest.Settled(t, before)
	close(g.open)
	if err := storage.ReadFull(t.Context(), o, make([]byte, 10), 2<<20); err != nil {
		t.Errorf("after an abandoned read: %v", err)
	}
	o.Close()
	storagetest.Settled(t, before)
}

func TestInFlightBound(t *testing.T) {
	g := &gate{open: make(chan struct{})}
	files := storagetest.Mem{}
	for i := range 40 {
		files[string(rune('a'+i))] = pattern(100)
	}
	p := &storagetest.Probe{Src: files, OnRead: g.read}
	s := New(p, Options{})
	var wg sync.WaitGroup
	for f := range files {
		wg.Go(func() {
			if _, err := storage.ReadAll(t.Context(), s, f, 0); err != nil {
				t.Error(err)
			}
		})
	}
	for g.now.Load() < 6 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	close(g.open)
	wg.Wait()
	if n := g.most.Load(); n != 6 {
		t.Errorf("%d requests at a time, want 6", n)
	}
}

func TestErrorIsNotKept(t *testing.T) {
	var fail atomic.Bool
	fail.Store(true)
	p := &storagetest.Probe{Src: storagetest.Mem{"f": pattern(2 << 20)}, OnRead: func(context.Context, string, []byte, int64) error {
		if fail.Load() {
			return &storage.Fault{Op: "read", Path: "f", Kind: storage.Unreachable}
		}
		return nil
	}}
	s := New(p, Options{})
	o, _ := s.Open(t.Context(), "f")
	var f *storage.Fault
	if _, err := o.ReadAt(t.Context(), make([]byte, 5), 0); !errors.As(err, &f) || f.Kind != storage.Unreachable {
		t.Fatalf("got %v", err)
	}
	fail.Store(false)
	if err := storage.ReadFull(t.Context(), o, make([]byte, 5), 0); err != nil {
		t.Error(err)
	}
}

func TestListedOnceUntilForget(t *testing.T) {
	m := storagetest.Mem{"d/f": pattern(10)}
	p := &storagetest.Probe{Src: m}
	s := New(p, Options{})
	for range 3 {
		l, err := s.List(t.Context(), "d")
		if err != nil || len(l.Entries) != 1 {
			t.Fatal(l, err)
		}
		l.Entries[0].Name = "spoiled by the caller"
		if _, err := s.List(t.Context(), "absent"); !storage.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if l, _ := s.List(t.Context(), "d"); l.Entries[0].Name != "f" {
		t.Error("a caller changed the kept listing")
	}
	if got := p.Lists(); !slices.Equal(got, []string{"d", "absent"}) {
		t.Errorf("listed %v", got)
	}
	m["d/g"] = nil
	s.Forget()
	if l, err := s.List(t.Context(), "d"); err != nil || len(l.Entries) != 2 {
		t.Errorf("after Forget: %v, %v", l, err)
	}
}

// A file that changes while it is open must never give a mixture of old and new bytes.
func TestChanged(t *testing.T) {
	m := storagetest.Mem{"f": pattern(2 << 20)}
	s := New(m, Options{})
	s.List(t.Context(), "")
	o, _ := s.Open(t.Context(), "f")
	if err := storage.ReadFull(t.Context(), o, make([]byte, 5), 0); err != nil {
		t.Fatal(err)
	}
	m["f"] = pattern(3 << 20)
	var f *storage.Fault
	if _, err := o.ReadAt(t.Context(), make([]byte, 5), 1<<20); !errors.As(err, &f) || f.Kind != storage.Changed {
		t.Fatalf("got %v, want Changed", err)
	}
	if _, err := o.ReadAt(t.Context(), make([]byte, 5), 0); !errors.As(err, &f) || f.Kind != storage.Changed {
		t.Errorf("a block of the old file was served after the change: %v", err)
	}
	if b, err := storage.ReadAll(t.Context(), s, "f", 0); err != nil || len(b) != 3<<20 {
		t.Errorf("opened anew: %d bytes, %v", len(b), err)
	}
	// A small file that grew after the listing is simply read as it is.
	m["g"] = pattern(10)
	s.Forget()
	s.List(t.Context(), "")
	m["g"] = pattern(5000)
	if b, err := storage.ReadAll(t.Context(), s, "g", 0); err != nil || !bytes.Equal(b, m["g"]) {
		t.Errorf("a grown small file: %d bytes, %v", len(b), err)
	}
}

func TestShortReadIsAnError(t *testing.T) {
	p := &storagetest.Probe{Src: storagetest.Mem{"f": pattern(2 << 20)}, AfterRead: func(_ string, p []byte, off int64, n int, err error) (int, error) {
		if off > 0 {
			return n / 2, io.EOF
		}
		return n, err
	}}
	s := New(p, Options{})
	o, _ := s.Open(t.Context(), "f")
	o.Size(t.Context())
	if n, err := o.ReadAt(t.Context(), make([]byte, 100), 1<<20+500_000); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("got %d bytes, %v", n, err)
	}
}

func TestRandomReads(t *testing.T) {
	data := pattern(5<<20 + 12345)
	for _, o := range []Options{{}, {Budget: 300_000, Block: 4096, Small: 1000, Gap: 10_000, InFlight: 3}} {
		s := New(&storagetest.Probe{Src: storagetest.Mem{"f": data}}, o)
		var wg sync.WaitGroup
		for g := range 6 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(1, uint64(g)))
				f, _ := s.Open(context.Background(), "f")
				defer f.Close()
				for range 60 {
					off := r.Int64N(int64(len(data)))
					b := make([]byte, min(r.Int64N(300_000)+1, int64(len(data))-off))
					ctx, cancel := context.WithCancel(context.Background())
					if r.IntN(10) == 0 {
						go cancel()
						f.ReadAt(ctx, b, off)
						continue
					}
					if err := storage.ReadFull(ctx, f, b, off); err != nil || !bytes.Equal(b, data[off:off+int64(len(b))]) {
						t.Errorf("%d bytes at %d: %v", len(b), off, err)
					}
					cancel()
				}
			})
		}
		wg.Wait()
		s.mu.Lock()
		if s.mem.Used() > s.o.Budget {
			t.Errorf("%d held of %d", s.mem.Used(), s.o.Budget)
		}
		s.mu.Unlock()
	}
}

// TestHint tells the size of a large file from elsewhere: its end is the first that is read. A hint that is
// wrong is a fault once.
func TestHint(t *testing.T) {
	data := pattern(5 << 20)
	p := &storagetest.Probe{Src: storagetest.Mem{"d/f.parquet": data, "d/.f.log": data}, HideSize: true}
	s := New(p, Options{})
	read := func(path string, size int64) (int64, error) {
		o, err := s.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		was := s.Stats().Bytes
		b := make([]byte, 8)
		err = storage.ReadFull(t.Context(), o, b, size-8)
		if err == nil && !bytes.Equal(b, data[len(data)-8:]) {
			t.Errorf("%s: other bytes", path)
		}
		return s.Stats().Bytes - was, err
	}
	s.Hint("d", []storage.Entry{{Name: "f.parquet", Size: 5 << 20}, {Name: ".f.log", Size: 4 << 20}, {Name: "z", Size: 5}})
	if n, err := read("d/f.parquet", 5<<20); err != nil || n > 128<<10 {
		t.Errorf("%d bytes for the end of a file whose size was told: %v", n, err)
	}
	if n, err := read("d/.f.log", 5<<20); err != nil || n <= 1<<20 {
		t.Errorf("%d bytes for the end of a log file: %v", n, err)
	}
	if l, err := s.List(t.Context(), "d"); err != nil || len(l.Entries) != 2 {
		t.Errorf("a hint is no listing: %v %v", l, err)
	}

	s = New(p, Options{})
	s.Hint("d", []storage.Entry{{Name: "f.parquet", Size: 6 << 20}})
	var f *storage.Fault
	if _, err := read("d/f.parquet", 6<<20); !errors.As(err, &f) || f.Kind != storage.Changed {
		t.Errorf("a wrong size: %v", err)
	}
	if _, err := read("d/f.parquet", 5<<20); err != nil {
		t.Errorf("after a wrong hint: %v", err)
	}
}

// TestInterleavedForwardReads reads parts of a file side by side, as the columns of a row group are: each
// is read ahead for, within what one reader may have.
func TestInterleavedForwardReads(t *testing.T) {
	const columns, size, piece = 8, 2 << 20, 16 << 10
	data := pattern(columns * size)
	p := &storagetest.Probe{Src: storagetest.Mem{"f": data}}
	s := New(p, Options{})
	s.List(t.Context(), "")
	o, _ := s.Open(t.Context(), "f")
	defer o.Close()
	b := make([]byte, piece)
	for at := 0; at < size; at += piece {
		for c := range columns {
			off := c*size + at
			if err := storage.ReadFull(t.Context(), o, b, int64(off)); err != nil || !bytes.Equal(b, data[off:off+piece]) {
				t.Fatal(off, err)
			}
		}
	}
	// Blocks of 64 KiB alone would take 32 requests a column.
	if st := s.Stats(); st.Requests > columns*14 || st.Bytes != int64(len(data)) {
		t.Errorf("%d requests, %d of %d bytes", st.Requests, st.Bytes, len(data))
	}
	// What will be needed can be asked for together.
	s = New(p, Options{})
	s.List(t.Context(), "")
	o2, _ := s.Open(t.Context(), "f")
	defer o2.Close()
	r := o2.(storage.RangePrefetcher)
	if err := r.Prefetch(t.Context(), []storage.Range{{Off: 0, Len: 1000}, {Off: 100_000, Len: 1000}, {Off: 9 << 20, Len: 1000}}); err != nil {
		t.Fatal(err)
	}
	if n := s.Stats().Requests; n != 3 { // the listing, two near ranges, one far
		t.Errorf("%d requests", n)
	}
}
