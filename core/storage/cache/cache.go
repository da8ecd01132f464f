// Package cache keeps blocks of files and directory listings in bounded memory, so that
// a table behind a slow or metered transport is read with few requests:
//
//   - a file of at most Options.Small bytes is taken whole with one request, even when its
//     size is not known beforehand;
//   - a larger file is read in blocks, missing neighbours in one request, with read-ahead
//     that doubles while a reader goes forward;
//   - whoever asks for a block that is on its way waits for that request, and a waiter whose
//     context ends leaves at once without harm to the others;
//   - at most Options.InFlight requests run at a time.
package cache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"hudiscope/core/storage"
	"hudiscope/core/storage/flight"
	"hudiscope/core/storage/lru"
)

// Options sets the bounds of a cache. A zero field takes its default.
type Options struct {
	// Budget is the memory for blocks and listings together, in bytes. Default 64 MiB.
	// What requests in flight hold comes on top: at most InFlight × 4 MiB.
	Budget int64
	// Block is the unit of caching of a large file, in bytes. Default 64 KiB.
	Block int64
	// Gap merges two ranges of one file into one request when fewer bytes than this lie
	// between them. Default 256 KiB.
	Gap int64
	// Small is the size up to which a file is taken whole, in bytes. Default 1 MiB.
	Small int64
	// InFlight is the number of requests that may run at a time. Default 6.
	InFlight int
}

// What a source keeps, in bytes, and how many requests it has in flight, where Options say nothing.
const (
	DefaultBudget   = 64 << 20
	DefaultInFlight = 6
)

const (
	maxRequest = 4 << 20 // bytes of one request
	maxWindow  = 8 << 20 // bytes held for one ReadAt while it waits
	maxAhead   = 2 << 20 // bytes of read-ahead
)

func (o Options) withDefaults() Options {
	def := func(v *int64, d int64) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&o.Budget, DefaultBudget)
	def(&o.Block, 64<<10)
	def(&o.Gap, 256<<10)
	def(&o.Small, 1<<20)
	o.Block = min(o.Block, maxRequest)
	o.Small = min(o.Small, maxRequest)
	if o.InFlight <= 0 {
		o.InFlight = DefaultInFlight
	}
	return o
}

// Stats counts what a Source did since it was made.
type Stats struct {
	// Requests is the number of reads and listings asked of the underlying source, Bytes
	// the file bytes they brought, Lists the listings among them.
	Requests, Bytes, Lists int64
	// Hits counts blocks and listings answered from memory, Joined those answered by a
	// request that another reader had begun.
	Hits, Joined int64
	// Held is the memory in use, in bytes; Evicted counts the values that left it.
	Held, Evicted int64
}

// Source is a storage.Source that caches another. It is safe for concurrent use.
type Source struct {
	src   storage.Source
	o     Options
	slots chan struct{}
	// whole keeps buffers for files whose size is not known before they are read: most are far smaller.
	whole sync.Pool
	lists flight.Group[listKey, storage.Listing]

	mu    sync.Mutex
	mem   *lru.Cache[key, value]
	files map[string]*file
	gen   int // counts Forget
	stats Stats
}

type listKey struct {
	dir string
	gen int
}

// key names a block of a file, or a listing when f is nil: n is then 0 for that of the storage, and
// hinted for what Hint has told.
type key struct {
	f   *file
	n   int64
	dir string
}

type value struct {
	block   []byte
	listing storage.Listing
	err     error // a listing's fs.ErrNotExist
}

// file is what is known of one path, shared by all its open objects.
type file struct {
	path   string
	opens  int
	cached int   // blocks in memory
	size   int64 // SizeUnknown until the first contact
	unit   int64 // block size of this file
	// hinted is true while size is what a listing said and no read has confirmed it.
	hinted bool
	first  *flight.Call[struct{}]
	loads  map[int64]*flight.Call[*run]
	stale  error // set when the file was found to have changed
}

// run is the result of one request: consecutive blocks.
type run struct {
	first  int64
	blocks [][]byte
}

var (
	_ storage.Source     = (*Source)(nil)
	_ storage.Prefetcher = (*Source)(nil)
	_ storage.Forgetter  = (*Source)(nil)
	_ storage.Hinter     = (*Source)(nil)
)

// New returns a cache over src.
func New(src storage.Source, opts Options) *Source {
	s := &Source{src: src, o: opts.withDefaults(), files: map[string]*file{}}
	s.slots = make(chan struct{}, s.o.InFlight)
	s.mem = lru.New(s.o.Budget, func(k key, _ value) {
		s.stats.Evicted++
		if k.f != nil {
			k.f.cached--
			s.release(k.f)
		}
	})
	return s
}

// Location is that of the source beneath.
func (s *Source) Location() string { return s.src.Location() }

// Unwrap is the source beneath.
func (s *Source) Unwrap() storage.Source { return s.src }

// Sibling opens a folder beside the base path, cached within the same bounds as this source is.
func (s *Source) Sibling(ctx context.Context, name string) (storage.Source, error) {
	n, ok := s.src.(storage.Neighbour)
	if !ok {
		return nil, storage.NoSibling(name, s.Location())
	}
	src, err := n.Sibling(ctx, name)
	if err != nil {
		return nil, err
	}
	return New(src, s.o), nil
}

// Stats returns the counts so far.
func (s *Source) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Held = s.mem.Used()
	return st
}

// Forget drops listings, sizes and blocks, so that the table is read as it is now. Open
// objects keep reading the file they opened.
func (s *Source) Forget() {
	s.mu.Lock()
	s.gen++
	s.files = map[string]*file{}
	s.mem.RemoveFunc(func(key) bool { return true })
	s.mu.Unlock()
	if f, ok := s.src.(storage.Forgetter); ok {
		f.Forget()
	}
}

// Close closes the source beneath if it can be closed.
func (s *Source) Close() error {
	if c, ok := s.src.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// List returns the listing of dir, asked once until Forget. That a directory is absent
// is remembered too; other errors are not.
func (s *Source) List(ctx context.Context, dir string) (storage.Listing, error) {
	if err := ctx.Err(); err != nil {
		return storage.Listing{}, err
	}
	s.mu.Lock()
	gen := s.gen
	if v, ok := s.mem.Get(key{dir: dir}); ok {
		s.stats.Hits++
		s.mu.Unlock()
		return cloned(v.listing), v.err
	}
	s.mu.Unlock()
	l, err := s.lists.Do(ctx, listKey{dir, gen}, func(ctx context.Context) (storage.Listing, error) {
		s.mu.Lock()
		v, ok := s.mem.Get(key{dir: dir})
		ok = ok && s.gen == gen
		s.mu.Unlock()
		if ok { // it came since
			return v.listing, v.err
		}
		if err := s.acquire(ctx); err != nil {
			return storage.Listing{}, err
		}
		defer s.done()
		l, err := s.src.List(ctx, dir)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stats.Requests++
		s.stats.Lists++
		if s.gen == gen && (err == nil || storage.IsNotExist(err)) {
			cost := int64(256 + len(dir))
			for _, e := range l.Entries {
				cost += int64(len(e.Name)+len(e.ETag)) + 96
			}
			s.mem.Add(key{dir: dir}, value{listing: l, err: err}, cost)
		}
		return l, err
	})
	return cloned(l), err
}

func cloned(l storage.Listing) storage.Listing {
	l.Entries = slices.Clone(l.Entries)
	return l
}

func (s *Source) acquire(ctx context.Context) error {
	select {
	case s.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Source) done() { <-s.slots }

// Open opens path. It does no I/O: that a file is absent shows at Size or ReadAt.
func (s *Source) Open(ctx context.Context, path string) (storage.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := storage.CheckPath("open", path, s.Location()); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &object{s: s, f: s.open(path)}, nil
}

func (s *Source) open(path string) *file {
	f := s.files[path]
	if f == nil {
		f = &file{path: path, size: storage.SizeUnknown, loads: map[int64]*flight.Call[*run]{}}
		s.files[path] = f
	}
	f.opens++
	return f
}

// release drops the record of a file that nobody uses and nothing is kept of.
func (s *Source) release(f *file) {
	if f.opens == 0 && s.files[f.path] != f {
		s.mem.RemoveFunc(func(k key) bool { return k.f == f })
		return
	}
	if f.opens == 0 && f.cached == 0 && s.files[f.path] == f {
		delete(s.files, f.path)
	}
}

// Prefetch brings ranges of a file into memory: ranges with less than Options.Gap
// between them go into one request. At most half the budget is fetched.
func (s *Source) Prefetch(ctx context.Context, path string, ranges []storage.Range) error {
	if err := storage.CheckPath("read", path, s.Location()); err != nil {
		return err
	}
	s.mu.Lock()
	f := s.open(path)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		f.opens--
		s.release(f)
		s.mu.Unlock()
	}()
	return s.prefetch(ctx, f, ranges)
}

func (s *Source) prefetch(ctx context.Context, f *file, ranges []storage.Range) error {
	size, err := s.size(ctx, f)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	slots := make(chan struct{}, s.o.InFlight)
	room := s.o.Budget / 2
	for _, r := range merge(ranges, size, s.o.Gap) {
		for r.Len > 0 && room > 0 && ctx.Err() == nil {
			n := min(r.Len, maxRequest-f.unit, room)
			if n <= 0 { // the blocks are as large as a request
				n = min(r.Len, room)
			}
			first, last := r.Off/f.unit, (r.Off+n-1)/f.unit
			r.Off, r.Len, room = r.Off+n, r.Len-n, room-n
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				if _, err := s.blocks(ctx, f, first, last, 0); err != nil {
					cancel(err)
				}
			})
		}
	}
	wg.Wait()
	return context.Cause(ctx)
}

// merge clips ranges to the file, sorts them, and joins those with a gap smaller than gap.
func merge(ranges []storage.Range, size, gap int64) []storage.Range {
	var in []storage.Range
	for _, r := range ranges {
		if r.Off < 0 || r.Len <= 0 || r.Off >= size {
			continue
		}
		r.Len = min(r.Len, size-r.Off)
		in = append(in, r)
	}
	slices.SortFunc(in, func(a, b storage.Range) int {
		if a.Off < b.Off {
			return -1
		} else if a.Off > b.Off {
			return 1
		}
		return 0
	})
	var out []storage.Range
	for _, r := range in {
		if n := len(out); n > 0 && r.Off-(out[n-1].Off+out[n-1].Len) < gap {
			out[n-1].Len = max(out[n-1].Len, r.Off+r.Len-out[n-1].Off)
			continue
		}
		out = append(out, r)
	}
	return out
}

// size returns the size of f, finding it out by the first contact if need be.
func (s *Source) size(ctx context.Context, f *file) (int64, error) {
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		s.mu.Lock()
		if f.stale != nil {
			s.mu.Unlock()
			return 0, f.stale
		}
		if f.size >= 0 {
			s.mu.Unlock()
			return f.size, nil
		}
		call := f.first
		if call == nil || !call.Join() {
			call = flight.Start(ctx, func(ctx context.Context) (struct{}, error) {
				err := s.contact(ctx, f)
				s.mu.Lock()
				if f.first == call {
					f.first = nil
				}
				s.mu.Unlock()
				return struct{}{}, err
			})
			f.first = call
		} else {
			s.stats.Joined++
		}
		s.mu.Unlock()
		if _, err := call.Wait(ctx); err != nil {
			return 0, err
		}
	}
}

// contact learns the size of a file, and takes it whole on the way if it is small.
func (s *Source) contact(ctx context.Context, f *file) error {
	o, err := s.src.Open(ctx, f.path)
	if err != nil {
		return err
	}
	defer o.Close()
	if k, ok := o.(storage.KnownSizer); ok {
		if n, ok := k.KnownSize(); ok {
			s.setSize(f, n, false)
			return nil
		}
	}
	hint := s.listedSize(f.path)
	if hint > s.o.Small || hint == 0 { // a file listed as empty needs no request
		s.setSize(f, hint, true)
		return nil
	}
	// One byte more than the listing said, to notice a file that has grown since.
	var buf []byte
	if hint >= 0 {
		buf = make([]byte, hint+1)
	} else if b, ok := s.whole.Get().(*[]byte); ok {
		buf = *b
	} else {
		buf = make([]byte, s.o.Small)
	}
	n, err := s.read(ctx, o, buf, 0)
	var size int64
	switch {
	case errors.Is(err, io.EOF):
		size = int64(n)
		took := buf
		buf = slices.Clone(buf[:n])
		if hint < 0 {
			s.whole.Put(&took)
		}
	case err != nil:
		return s.failed(f, err)
	default:
		if size, err = o.Size(ctx); err != nil {
			return s.failed(f, err)
		}
		if size < int64(n) {
			return s.failed(f, &storage.Fault{Op: "read", Path: f.path, Location: s.src.Location(), Kind: storage.Changed,
				Err: fmt.Errorf("%d bytes were read, and its size is said to be %d", n, size), Try: "The file was replaced while it was read; reload the table."})
		}
	}
	if !s.setSize(f, size, false) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for b, rest := int64(0), buf; len(rest) > 0; b++ {
		n := min(f.unit, size-b*f.unit)
		if int64(len(rest)) < n {
			break
		}
		block := rest[:n:n]
		if len(block) < len(buf) {
			block = slices.Clone(block) // else one block would keep the memory of all
		}
		s.keep(f, b, block)
		rest = rest[n:]
	}
	return nil
}

// hinted marks the key of what Hint has told of a directory.
const hinted = 1

// Hint tells the sizes of a directory's base files from elsewhere than a listing, so that of a large one
// only what is needed is read from the first request on. Sizes of log files are not taken: a writer may
// have gone on with one.
func (s *Source) Hint(dir string, files []storage.Entry) {
	l := storage.Listing{}
	cost := int64(256 + len(dir))
	for _, e := range files {
		if e.Size > s.o.Small && !strings.HasPrefix(e.Name, ".") {
			l.Entries = append(l.Entries, storage.Entry{Name: e.Name, Size: e.Size})
			cost += int64(len(e.Name)) + 96
		}
	}
	if len(l.Entries) == 0 {
		return
	}
	slices.SortFunc(l.Entries, func(a, b storage.Entry) int { return strings.Compare(a.Name, b.Name) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mem.Add(key{dir: dir, n: hinted}, value{listing: l}, cost)
}

// listedSize is what a listing in memory says of the size of p, or a hint.
func (s *Source) listedSize(p string) int64 {
	dir, name := path.Split(p)
	if dir != "" {
		dir = dir[:len(dir)-1]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, from := range []int64{0, hinted} {
		v, ok := s.mem.Get(key{dir: dir, n: from})
		if !ok {
			continue
		}
		i, ok := slices.BinarySearchFunc(v.listing.Entries, name, func(e storage.Entry, n string) int {
			switch {
			case e.Name < n:
				return -1
			case e.Name > n:
				return 1
			}
			return 0
		})
		if ok && !v.listing.Entries[i].Dir {
			return v.listing.Entries[i].Size
		}
	}
	return storage.SizeUnknown
}

// setSize fixes the size of f for good, and reports false if another contact did before.
func (s *Source) setSize(f *file, size int64, hinted bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.size >= 0 {
		return false
	}
	f.size, f.hinted, f.unit = size, hinted, s.o.Block
	if size <= s.o.Small {
		f.unit = s.o.Small
	}
	return true
}

// keep puts a block into memory; s.mu is held.
func (s *Source) keep(f *file, b int64, block []byte) {
	f.cached++ // before Add, whose eviction may otherwise release f
	if !s.mem.Add(key{f: f, n: b}, value{block: block}, int64(len(block))+128) {
		f.cached--
	}
}

// failed records an error of the source beneath: a file that changed is forgotten, so
// that opening it anew reads it afresh.
func (s *Source) failed(f *file, err error) error {
	var fault *storage.Fault
	if !errors.As(err, &fault) || fault.Kind != storage.Changed {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f.stale = err
	if s.files[f.path] == f {
		delete(s.files, f.path)
	}
	dir := path.Dir(f.path)
	if dir == "." {
		dir = ""
	}
	s.mem.RemoveFunc(func(k key) bool { return k.f == f || k.f == nil && k.dir == dir })
	return err
}

// read is one counted request.
func (s *Source) read(ctx context.Context, o storage.Object, p []byte, off int64) (int, error) {
	if err := s.acquire(ctx); err != nil {
		return 0, err
	}
	defer s.done()
	n, err := o.ReadAt(ctx, p, off)
	s.mu.Lock()
	s.stats.Requests++
	s.stats.Bytes += int64(n)
	s.mu.Unlock()
	return n, err
}

// blocks returns blocks first to last of f, from memory or by requests. ahead bytes
// beyond last are asked for in the same request as last, if last must be asked for.
func (s *Source) blocks(ctx context.Context, f *file, first, last, ahead int64) ([][]byte, error) {
	out := make([][]byte, last-first+1)
	var calls []*flight.Call[*run]
	var missing []int64
	s.mu.Lock()
	if f.stale != nil {
		s.mu.Unlock()
		return nil, f.stale
	}
	for b := first; b <= last; b++ {
		if v, ok := s.mem.Get(key{f: f, n: b}); ok {
			out[b-first] = v.block
			s.stats.Hits++
			continue
		}
		if c := f.loads[b]; c != nil {
			if n := len(calls); n > 0 && calls[n-1] == c {
				s.stats.Joined++
				continue // the last call covers this block too
			}
			if c.Join() {
				calls = append(calls, c)
				s.stats.Joined++
				continue
			}
		}
		missing = append(missing, b)
	}
	for _, r := range s.plan(f, missing, last, ahead) {
		call := s.start(ctx, f, r[0], r[1])
		calls = append(calls, call)
	}
	s.mu.Unlock()

	var fail error
	for _, c := range calls {
		if fail != nil {
			c.Leave()
			continue
		}
		r, err := c.Wait(ctx)
		if err != nil {
			fail = err
			continue
		}
		for i, b := range r.blocks {
			if n := r.first + int64(i); n >= first && n <= last {
				out[n-first] = b
			}
		}
	}
	return out, fail
}

// plan groups missing blocks into requests {first, last}; s.mu is held.
func (s *Source) plan(f *file, missing []int64, last, ahead int64) [][2]int64 {
	if len(missing) == 0 {
		return nil
	}
	end := (f.size - 1) / f.unit // the last block of the file
	free := func(b int64) bool {
		_, ok := s.mem.Get(key{f: f, n: b})
		return !ok && f.loads[b] == nil
	}
	var out [][2]int64
	for _, b := range missing {
		if n := len(out); n > 0 {
			// Blocks between that are in memory are fetched again when that saves a request;
			// blocks on their way are not.
			prev, clear := out[n-1][1], true
			for g := prev + 1; g < b; g++ {
				clear = clear && f.loads[g] == nil
			}
			if clear && (b-prev-1)*f.unit < s.o.Gap && (b-out[n-1][0]+1)*f.unit <= maxRequest {
				out[n-1][1] = b
				continue
			}
		}
		out = append(out, [2]int64{b, b})
	}
	tail := &out[len(out)-1]
	if tail[1] == last {
		for b := last + 1; b <= end && (b-last)*f.unit <= ahead && (b-tail[0]+1)*f.unit <= maxRequest && free(b); b++ {
			tail[1] = b
		}
	}
	// The last block of a file may be a few bytes; its neighbour costs nothing more, and
	// whoever reads a footer goes on there.
	if tail[0] == end && end > 0 && free(end-1) {
		tail[0]--
	}
	return out
}

// start begins the request for blocks first to last; s.mu is held.
func (s *Source) start(ctx context.Context, f *file, first, last int64) *flight.Call[*run] {
	var call *flight.Call[*run]
	call = flight.Start(ctx, func(ctx context.Context) (*run, error) {
		r, err := s.load(ctx, f, first, last)
		s.mu.Lock()
		for b := first; b <= last; b++ {
			if f.loads[b] == call {
				delete(f.loads, b)
			}
		}
		if err == nil && f.stale == nil && (f.opens > 0 || s.files[f.path] == f) {
			for i, b := range r.blocks {
				s.keep(f, first+int64(i), b)
			}
		}
		s.mu.Unlock()
		return r, err
	})
	for b := first; b <= last; b++ {
		f.loads[b] = call
	}
	return call
}

func (s *Source) load(ctx context.Context, f *file, first, last int64) (*run, error) {
	o, err := s.src.Open(ctx, f.path)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	off := first * f.unit
	buf := make([]byte, min((last+1)*f.unit, f.size)-off)
	n, err := s.read(ctx, o, buf, off)
	if n < len(buf) {
		if err == nil || errors.Is(err, io.EOF) {
			err = s.changed(f, off+int64(n))
		}
		return nil, s.failed(f, err)
	}
	var size int64
	known := true
	if k, ok := o.(storage.KnownSizer); ok {
		size, known = k.KnownSize()
	} else if size, err = o.Size(ctx); err != nil {
		return nil, err
	}
	if known && size != f.size {
		return nil, s.failed(f, s.changed(f, size))
	}
	r := &run{first: first}
	for rest := buf; len(rest) > 0; {
		n := min(int64(len(rest)), f.unit)
		block := rest[:n:n]
		if last > first {
			block = slices.Clone(block) // else one block would keep the memory of all
		}
		r.blocks = append(r.blocks, block)
		rest = rest[n:]
	}
	return r, nil
}

func (s *Source) changed(f *file, now int64) error {
	why := "when it was opened"
	if f.hinted {
		why = "by the listing"
	}
	return &storage.Fault{Op: "read", Path: f.path, Location: s.Location(), Kind: storage.Changed,
		Try: "The table is being written to; reload it.",
		Err: fmt.Errorf("the file had %d bytes %s and has %d now", f.size, why, now)}
}

// object is an open file.
type object struct {
	s *Source
	f *file

	// Guarded by s.mu: the readers that go forward in the file, the latest last. The columns of a row
	// group are read side by side.
	forwards []forward
	closed   bool
}

// forward is where a reader that goes forward would go on, and how far to read ahead for it.
type forward struct{ next, ahead int64 }

// maxForwards bounds the readers of one object that are told apart.
const maxForwards = 64

func (o *object) use() error {
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	if o.closed {
		return &storage.Fault{Op: "read", Path: o.f.path, Location: o.s.Location(), Kind: storage.Failed, Err: fs.ErrClosed}
	}
	return nil
}

func (o *object) Size(ctx context.Context) (int64, error) {
	if err := o.use(); err != nil {
		return 0, err
	}
	return o.s.size(ctx, o.f)
}

// KnownSize reports the size if no request is needed for it.
func (o *object) KnownSize() (int64, bool) {
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	return o.f.size, o.f.size >= 0
}

func (o *object) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if err := o.use(); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, &storage.Fault{Op: "read", Path: o.f.path, Location: o.s.Location(), Kind: storage.Refused,
			Err: fmt.Errorf("the offset %d is negative", off)}
	}
	if err := ctx.Err(); err != nil || len(p) == 0 {
		return 0, err
	}
	size, err := o.s.size(ctx, o.f)
	if err != nil {
		return 0, err
	}
	if off >= size {
		return 0, io.EOF
	}
	want := int(min(int64(len(p)), size-off))
	ahead := o.forward(off, int64(want))
	unit, n := o.f.unit, 0
	for n < want {
		at := off + int64(n)
		first := at / unit
		last := min((off+int64(want)-1)/unit, first+max(maxWindow/unit, 1)-1)
		bs, err := o.s.blocks(ctx, o.f, first, last, ahead)
		if err != nil {
			return n, err
		}
		for i, b := range bs {
			skip := max(at-(first+int64(i))*unit, 0)
			n += copy(p[n:want], b[skip:])
		}
	}
	if want < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// forward returns how far to read ahead for a read at off: twice as far each time a
// reader goes on where it stopped.
func (o *object) forward(off, n int64) int64 {
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	unit := o.f.unit
	var r forward
	// The nearest reader is the one that goes on.
	at, far := -1, int64(0)
	for i, x := range o.forwards {
		d := off - x.next
		if d >= 0 && d <= unit || d < 0 && off+n > x.next-unit {
			if d = max(d, -d); at < 0 || d <= far {
				at, far = i, d
			}
		}
	}
	if at >= 0 {
		r = o.forwards[at]
		if off >= r.next {
			// Many readers share what may be read ahead.
			r.ahead = min(max(2*r.ahead, n, unit), max(maxAhead/int64(len(o.forwards)), unit))
		} // else a small step back, as a reader with its own buffer does: no change
		o.forwards = slices.Delete(o.forwards, at, at+1)
	} else if len(o.forwards) == maxForwards {
		o.forwards = slices.Delete(o.forwards, 0, 1)
	}
	r.next = off + n
	o.forwards = append(o.forwards, r)
	return r.ahead
}

// Prefetch brings ranges of the file into memory: see Source.Prefetch.
func (o *object) Prefetch(ctx context.Context, ranges []storage.Range) error {
	if err := o.use(); err != nil {
		return err
	}
	return o.s.prefetch(ctx, o.f, ranges)
}

func (o *object) Close() error {
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	if o.closed {
		return nil
	}
	o.closed = true
	o.f.opens--
	o.s.release(o.f)
	return nil
}
