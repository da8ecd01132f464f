package idbkept

import (
	"context"
	"errors"
	"slices"
	"sync"
	"syscall/js"
	"time"

	"hudiscope/fsadapter/internal/idb"
)

const (
	// Name is that of the database.
	Name     = "hudiscope-kept"
	data     = "data"
	index    = "index"
	settings = "settings"
	// maxPieces bounds the index, which is held in memory.
	maxPieces = 20_000
	// writing is how many bytes may be on their way into the database; what comes meanwhile is not kept.
	writing = 32 << 20
	// dirtyAt is how many uses are noted before they are written.
	dirtyAt = 100
)

// Store is the database. It is safe for concurrent use. It is opened when it is first needed.
type Store struct {
	once sync.Once
	db   js.Value

	mu     sync.Mutex
	err    error // why it can't be used
	off    bool
	limit  int64
	items  map[string]*item
	total  int64
	dirty  map[string]bool
	active int64 // bytes being written
}

type item struct {
	size int64
	used int64 // milliseconds since 1970
}

// Status is how a Store is doing.
type Status struct {
	// On is what the user wants; Err why it can't be.
	On     bool
	Err    error
	Bytes  int64
	Pieces int
	Limit  int64
}

// New returns the Store of this browser.
func New() *Store { return &Store{items: map[string]*item{}, dirty: map[string]bool{}, limit: Limit} }

// opening bounds how long the browser may take to open the database: another tab may hold it up.
const opening = 5 * time.Second

// open opens the database and reads its index.
func (s *Store) open() {
	s.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), opening)
		defer cancel()
		err := s.load(ctx)
		if err != nil {
			s.mu.Lock()
			s.err = err
			s.mu.Unlock()
		}
	})
}

func (s *Store) load(ctx context.Context) (err error) {
	defer idb.Thrown(&err)
	factory := js.Global().Get("indexedDB")
	if !factory.Truthy() {
		return errors.New("this browser has no IndexedDB, or refuses it to this page")
	}
	if s.db, err = idb.Open(ctx, factory, Name, func(db js.Value) {
		for _, n := range []string{data, index, settings} {
			db.Call("createObjectStore", n)
		}
	}); err != nil {
		return err
	}
	// A page that deletes the database must not wait for this one.
	s.db.Set("onversionchange", js.FuncOf(func(js.Value, []js.Value) any {
		s.db.Call("close")
		s.mu.Lock()
		s.err, s.items, s.total = errors.New("the browser's data was deleted"), map[string]*item{}, 0
		s.mu.Unlock()
		return nil
	}))
	tx := s.db.Call("transaction", []any{index, settings}, "readonly")
	keys := tx.Call("objectStore", index).Call("getAllKeys")
	values := tx.Call("objectStore", index).Call("getAll")
	off := tx.Call("objectStore", settings).Call("get", "off")
	limit := tx.Call("objectStore", settings).Call("get", "limit")
	if err := wait(ctx, idb.Finished(tx)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ks, vs := keys.Get("result"), values.Get("result")
	for i := range ks.Length() {
		v := vs.Index(i)
		it := &item{int64(v.Index(0).Float()), int64(v.Index(1).Float())}
		s.items[ks.Index(i).String()] = it
		s.total += it.size
	}
	s.off = off.Get("result").Truthy()
	if n := limit.Get("result"); n.Type() == js.TypeNumber {
		s.limit = int64(n.Float())
	}
	return nil
}

func wait(ctx context.Context, done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Status tells how it is doing.
func (s *Store) Status() Status {
	s.open()
	s.mu.Lock()
	defer s.mu.Unlock()
	return Status{On: !s.off, Err: s.err, Bytes: s.total, Pieces: len(s.items), Limit: s.limit}
}

// Get implements kept.Store.
func (s *Store) Get(ctx context.Context, name string) (b []byte, ok bool) {
	s.open()
	s.mu.Lock()
	it := s.items[name]
	if it == nil || s.off || s.err != nil {
		s.mu.Unlock()
		return nil, false
	}
	s.mu.Unlock()
	v, err := s.read(ctx, name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || !v.Truthy() {
		// Another tab has removed it, or the browser has.
		if err == nil && s.items[name] == it {
			delete(s.items, name)
			s.total -= it.size
		}
		return nil, false
	}
	it.used = time.Now().UnixMilli()
	s.dirty[name] = true
	if len(s.dirty) >= dirtyAt {
		go s.write("", nil, nil)
	}
	b = make([]byte, v.Get("length").Int())
	js.CopyBytesToGo(b, v)
	return b, true
}

func (s *Store) read(ctx context.Context, name string) (v js.Value, err error) {
	defer idb.Thrown(&err)
	return idb.Request(ctx, s.db.Call("transaction", data, "readonly").Call("objectStore", data).Call("get", name))
}

// Put implements kept.Store.
func (s *Store) Put(_ context.Context, name string, b []byte) {
	s.open()
	n := int64(len(b))
	s.mu.Lock()
	if s.off || s.err != nil || s.items[name] != nil || n > s.limit/4 || s.active+n > writing {
		s.mu.Unlock()
		return
	}
	s.active += n
	var gone []string
	if s.total+n > s.limit || len(s.items) >= maxPieces {
		gone = s.makeRoom(max(0, s.limit-s.limit/10-n), maxPieces-maxPieces/10)
	}
	s.items[name] = &item{n, time.Now().UnixMilli()}
	s.total += n
	s.dirty[name] = true
	s.mu.Unlock()
	array := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(array, b)
	go func() {
		err := s.write(name, &array, gone)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.active -= n
		if err == nil {
			return
		}
		if it := s.items[name]; it != nil {
			delete(s.items, name)
			s.total -= it.size
		}
		if idb.Full(err) { // the browser gives less than the user allows
			half := s.total / 2
			gone := s.makeRoom(half, maxPieces)
			s.limit = max(half, 1<<20)
			go s.write("", nil, gone)
		}
	}()
}

// makeRoom takes the pieces that were not used for longest out of the index until it holds no more
// than bytes and pieces, and returns their names. s.mu is held.
func (s *Store) makeRoom(bytes int64, pieces int) (gone []string) {
	names := make([]string, 0, len(s.items))
	for n := range s.items {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return int(s.items[a].used - s.items[b].used) })
	for _, n := range names {
		if s.total <= bytes && len(s.items) <= pieces {
			break
		}
		s.total -= s.items[n].size
		delete(s.items, n)
		gone = append(gone, n)
	}
	return gone
}

// write puts a piece, if there is one, removes others, and notes what was used.
func (s *Store) write(name string, array *js.Value, gone []string) (err error) {
	defer idb.Thrown(&err)
	s.mu.Lock()
	type use struct {
		name string
		item item
	}
	var uses []use
	for n := range s.dirty {
		if it := s.items[n]; it != nil && (array != nil || n != name) {
			uses = append(uses, use{n, *it})
		}
	}
	clear(s.dirty)
	s.mu.Unlock()
	tx := s.db.Call("transaction", []any{data, index}, "readwrite", map[string]any{"durability": "relaxed"})
	d, i := tx.Call("objectStore", data), tx.Call("objectStore", index)
	if array != nil {
		d.Call("put", *array, name)
	}
	for _, u := range uses {
		i.Call("put", []any{float64(u.item.size), float64(u.item.used)}, u.name)
	}
	for _, n := range gone {
		d.Call("delete", n)
		i.Call("delete", n)
	}
	return <-idb.Finished(tx)
}

// Set changes what the user wants: whether anything is kept, and how many bytes at most. Nil leaves it
// as it is. What is kept stays until it is cleared, or is more than the limit.
func (s *Store) Set(ctx context.Context, on *bool, limit *int64) (err error) {
	s.open()
	s.mu.Lock()
	if s.err != nil {
		defer s.mu.Unlock()
		return s.err
	}
	if on != nil {
		s.off = !*on
	}
	if limit != nil {
		s.limit = max(*limit, 1<<20)
	}
	off, now := s.off, s.limit
	gone := s.makeRoom(s.limit, maxPieces)
	s.mu.Unlock()
	if err := s.write("", nil, gone); err != nil {
		return err
	}
	defer idb.Thrown(&err)
	tx := s.db.Call("transaction", settings, "readwrite")
	tx.Call("objectStore", settings).Call("put", off, "off")
	tx.Call("objectStore", settings).Call("put", float64(now), "limit")
	return wait(ctx, idb.Finished(tx))
}

// Clear removes everything that is kept.
func (s *Store) Clear(ctx context.Context) (err error) {
	s.open()
	s.mu.Lock()
	if s.err != nil {
		defer s.mu.Unlock()
		return s.err
	}
	s.items, s.total = map[string]*item{}, 0
	clear(s.dirty)
	s.mu.Unlock()
	defer idb.Thrown(&err)
	tx := s.db.Call("transaction", []any{data, index}, "readwrite")
	tx.Call("objectStore", data).Call("clear")
	tx.Call("objectStore", index).Call("clear")
	return wait(ctx, idb.Finished(tx))
}
