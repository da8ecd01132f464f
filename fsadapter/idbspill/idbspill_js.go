package idbspill

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"syscall/js"
	"time"

	"hudiscope/core/spill"
	"hudiscope/fsadapter/internal/idb"
	"hudiscope/fsadapter/internal/jswait"
)

const (
	// prefix begins the name of every database; unlocked that of those without a lock, before the
	// time in milliseconds.
	prefix   = "hudiscope-merge-"
	unlocked = prefix + "at-"
	chunks   = "chunks"
	place    = "the browser's storage (IndexedDB)"
	// pending is how many writes run at a time.
	pending = 4
	// stale is the age from which a database without a lock is taken for abandoned.
	stale = 24 * time.Hour
	// perSegment is how many chunks a segment can have: a chunk's key is segment·perSegment + number.
	perSegment = 1 << 21
)

type store struct {
	name    string
	db      js.Value
	release func()
	// counts is the number of chunks of every segment.
	counts map[uint32]int
	bytes  int64
	// writing are transactions under way, oldest first.
	writing []<-chan error
	failed  error
}

// Open makes a store. Its faults tell what to do when the browser refuses.
func Open(ctx context.Context) (spill.Store, error) {
	var err error
	s := &store{counts: map[uint32]int{}}
	fail := func(err error) (spill.Store, error) {
		s.Close()
		return nil, s.fault("open", err)
	}
	factory := js.Global().Get("indexedDB")
	if !factory.Truthy() {
		return fail(errors.New("this browser has none, or refuses it to this page"))
	}
	id := js.Global().Get("crypto").Call("getRandomValues", js.Global().Get("Uint32Array").New(3))
	random := fmt.Sprintf("%08x%08x%08x", id.Index(0).Int(), id.Index(1).Int(), id.Index(2).Int())
	if locks().Truthy() {
		s.name = prefix + random
		release, err := hold(ctx, s.name)
		if err != nil {
			return fail(err)
		}
		s.release = release
	} else {
		s.name = fmt.Sprintf("%s%d-%s", unlocked, time.Now().UnixMilli(), random)
	}
	// Opening is waited for whatever happens to the request: a database that nobody waits for would be made and left.
	opening, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	if s.db, err = idb.Open(opening, factory, s.name, func(db js.Value) { db.Call("createObjectStore", chunks) }); err != nil {
		return fail(err)
	}
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	return s, nil
}

func locks() js.Value {
	n := js.Global().Get("navigator")
	if !n.Truthy() {
		return js.Undefined()
	}
	return n.Get("locks")
}

// hold takes a lock and keeps it until release is called or the worker ends.
func hold(ctx context.Context, name string) (release func(), err error) {
	done := make(chan struct{})
	got := make(chan struct{}, 1)
	var settle js.Value
	var executor, granted js.Func
	executor = js.FuncOf(func(_ js.Value, args []js.Value) any {
		settle = args[0]
		return nil
	})
	granted = js.FuncOf(func(js.Value, []js.Value) any {
		p := js.Global().Get("Promise").New(executor)
		got <- struct{}{}
		return p
	})
	held := locks().Call("request", name, granted)
	go func() {
		defer close(done)
		defer executor.Release()
		defer granted.Release()
		_, _ = jswait.Await(context.Background(), held)
	}()
	select {
	case <-got:
		return func() {
			settle.Invoke()
			<-done
		}, nil
	case <-done:
		return nil, errors.New("the browser refuses a lock")
	case <-ctx.Done():
		go func() {
			<-got
			settle.Invoke()
		}()
		return nil, ctx.Err()
	}
}

func (s *store) fault(op string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	f := &spill.Fault{Op: op, Place: place, Bytes: s.bytes, Err: err,
		Try: "Read one partition or file group at a time, or the read-optimized rows; or use the command line (hudiscope rows), which has a disk."}
	if idb.Full(err) {
		f.Full = true
		f.Try = "Make room: close other tabs of this site, delete its stored data, or free space on the disk (private windows get less). Or read one partition or file group at a time; the command line (hudiscope rows) has no such limit."
	}
	return f
}

// transaction begins one; relaxed ones need not reach the disk.
func (s *store) transaction(mode string) (tx js.Value, err error) {
	defer idb.Thrown(&err)
	return s.db.Call("transaction", chunks, mode, map[string]any{"durability": "relaxed"}), nil
}

func key(segment uint32, n int) float64 { return float64(segment)*perSegment + float64(n) }

// wait waits until at most n writes are under way.
func (s *store) wait(ctx context.Context, n int) error {
	for len(s.writing) > n {
		select {
		case err := <-s.writing[0]:
			s.writing = s.writing[1:]
			if err != nil && s.failed == nil {
				s.failed = s.fault("write", err)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.failed
}

// Append implements spill.Store. The write goes on when it returns.
func (s *store) Append(ctx context.Context, segment uint32, chunk []byte) (err error) {
	if err := s.wait(ctx, pending-1); err != nil {
		return err
	}
	if s.counts[segment] >= perSegment {
		return s.fault("write", errors.New("too many chunks in one segment"))
	}
	tx, err := s.transaction("readwrite")
	if err == nil {
		array := js.Global().Get("Uint8Array").New(len(chunk))
		js.CopyBytesToJS(array, chunk)
		err = func() (err error) {
			defer idb.Thrown(&err)
			tx.Call("objectStore", chunks).Call("put", array, key(segment, s.counts[segment]))
			return nil
		}()
	}
	if err != nil {
		s.failed = s.fault("write", err)
		return s.failed
	}
	s.writing = append(s.writing, idb.Finished(tx))
	s.counts[segment]++
	s.bytes += int64(len(chunk))
	return nil
}

// get begins to read a chunk.
func (s *store) get(segment uint32, n int) (<-chan string, js.Value, error) {
	tx, err := s.transaction("readonly")
	if err != nil {
		return nil, js.Value{}, err
	}
	req := tx.Call("objectStore", chunks).Call("get", key(segment, n))
	return idb.Event(req, "success", "error"), req, nil
}

// Chunks implements spill.Store. The next chunk is read while one is in use.
func (s *store) Chunks(ctx context.Context, segment uint32) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if err := s.wait(ctx, 0); err != nil {
			yield(nil, err)
			return
		}
		var buf []byte
		count := s.counts[segment]
		if count == 0 {
			return
		}
		got, req, err := s.get(segment, 0)
		for n := range count {
			if err != nil {
				yield(nil, s.fault("read", err))
				return
			}
			select {
			case how := <-got:
				if how == "error" {
					yield(nil, s.fault("read", idb.ErrorOf(req)))
					return
				}
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}
			array := req.Get("result")
			if !array.Truthy() {
				// The browser has removed what it was given.
				yield(nil, spill.Lost(place))
				return
			}
			if n+1 < count {
				got, req, err = s.get(segment, n+1)
			}
			size := array.Get("length").Int()
			if cap(buf) < size {
				buf = make([]byte, size)
			}
			buf = buf[:size]
			js.CopyBytesToGo(buf, array)
			if !yield(buf, nil) {
				return
			}
		}
	}
}

// Drop implements spill.Store.
func (s *store) Drop(ctx context.Context, segment uint32) (err error) {
	n := s.counts[segment]
	delete(s.counts, segment)
	if n == 0 {
		return nil
	}
	if err := s.wait(ctx, pending-1); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = s.fault("remove", err)
		}
	}()
	defer idb.Thrown(&err)
	tx, err := s.transaction("readwrite")
	if err != nil {
		return err
	}
	tx.Call("objectStore", chunks).Call("delete", js.Global().Get("IDBKeyRange").Call("bound", key(segment, 0), key(segment, n)))
	s.writing = append(s.writing, idb.Finished(tx))
	return nil
}

// Bytes implements spill.Store.
func (s *store) Bytes() int64 { return s.bytes }

// closing bounds how long Close waits for the browser.
const closing = 30 * time.Second

// Close implements spill.Store.
func (s *store) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	var err error
	if s.db.Truthy() {
		s.db.Call("close")
		err = remove(ctx, s.name)
		s.db = js.Undefined()
	}
	s.writing, s.counts = nil, map[uint32]int{}
	if s.failed == nil {
		s.failed = s.fault("write", errors.New("it is closed"))
	}
	if s.release != nil {
		s.release()
		s.release = nil
	}
	if err != nil {
		return s.fault("remove", err)
	}
	return nil
}

// remove deletes a database. It waits until nobody has it open.
func remove(ctx context.Context, name string) (err error) {
	defer idb.Thrown(&err)
	_, err = idb.Request(ctx, js.Global().Get("indexedDB").Call("deleteDatabase", name))
	return err
}

// Sweep deletes the databases of stores whose worker has ended without closing them, and returns
// how many there were.
func Sweep(ctx context.Context) (removed int, err error) {
	defer idb.Thrown(&err)
	factory := js.Global().Get("indexedDB")
	if !factory.Truthy() || factory.Get("databases").Type() != js.TypeFunction {
		return 0, nil
	}
	list, err := jswait.Await(ctx, factory.Call("databases"))
	if err != nil {
		return 0, err
	}
	for i := range list.Length() {
		name := list.Index(i).Get("name").String()
		if at, ok := strings.CutPrefix(name, unlocked); ok {
			ms, _, _ := strings.Cut(at, "-")
			x, err := strconv.ParseInt(ms, 10, 64)
			if err != nil || time.Since(time.UnixMilli(x)) < stale {
				continue
			}
			if err := remove(ctx, name); err != nil {
				return removed, err
			}
			removed++
			continue
		}
		if !strings.HasPrefix(name, prefix) || !locks().Truthy() {
			continue
		}
		gone, err := sweepLocked(ctx, name)
		if err != nil {
			return removed, err
		}
		if gone {
			removed++
		}
	}
	return removed, nil
}

// sweepLocked deletes a database if its lock is free, and holds the lock meanwhile.
func sweepLocked(ctx context.Context, name string) (gone bool, err error) {
	granted := js.FuncOf(func(_ js.Value, args []js.Value) any {
		if args[0].IsNull() {
			return false // in use
		}
		var run js.Func
		run = js.FuncOf(func(_ js.Value, args []js.Value) any {
			resolve, reject := args[0], args[1]
			go func() {
				defer run.Release()
				if err := remove(ctx, name); err != nil {
					reject.Invoke(js.Global().Get("Error").New(err.Error()))
					return
				}
				resolve.Invoke(true)
			}()
			return nil
		})
		return js.Global().Get("Promise").New(run)
	})
	defer granted.Release()
	v, err := jswait.Await(ctx, locks().Call("request", name, map[string]any{"ifAvailable": true}, granted))
	if err != nil {
		return false, err
	}
	return v.Truthy(), nil
}
