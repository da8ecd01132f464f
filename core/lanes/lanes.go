// Package lanes does pieces of work side by side and hands over what they give in the order of the
// pieces, so that whoever takes it can't tell it from work that was done piece by piece. What waits to
// be taken is bounded.
package lanes

import (
	"cmp"
	"context"
	"errors"
	"sync"
)

// ErrAlone is what a piece of work that has given nothing yet ends with when it can't be done beside
// others. See Run.Piece.
var ErrAlone = errors.New("this piece of work has to be done alone")

// Work does a piece. emit hands over what it gives and its size in bytes; it waits while there is enough,
// and ends with ctx's error. lane tells which of the lanes does it, from 0.
type Work[C any] func(ctx context.Context, lane, piece int, emit func(c C, size int64) error) error

// Options bound a Run.
type Options struct {
	// Width is how many pieces are done at once.
	Width int
	// Bytes bounds what all pieces but the one that is being taken have given, and what that one has; one
	// thing more of each may wait.
	Bytes int64
}

// Run is pieces that are being done. Its methods are for one goroutine, that of whoever takes.
type Run[C any] struct {
	o     Options
	work  Work[C]
	ctx   context.Context
	end   context.CancelFunc
	lanes sync.WaitGroup

	mu   sync.Mutex
	cond *sync.Cond
	// head is the piece that is taken, next the first one that has not begun, n how many there are.
	head, next, n int
	pieces        map[int]*piece[C]
	// limit is how many pieces may be done at once now; running how many are.
	limit, running int
	// waiting is the size of what pieces behind head have given.
	waiting int64
}

type piece[C any] struct {
	end    context.CancelFunc
	given  []given[C]
	bytes  int64
	done   bool
	err    error
	undone bool // it was ended to be begun again
}

type given[C any] struct {
	c    C
	size int64
}

// Start begins with the pieces from one on, of n. Stop must be called.
func Start[C any](ctx context.Context, o Options, from, n int, work Work[C]) *Run[C] {
	r := &Run[C]{o: o, work: work, head: from, next: from, n: n, pieces: map[int]*piece[C]{}, limit: o.Width}
	r.cond = sync.NewCond(&r.mu)
	r.ctx, r.end = context.WithCancel(ctx)
	context.AfterFunc(r.ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.cond.Broadcast()
	})
	for k := range min(o.Width, n-from) {
		r.lanes.Add(1)
		go r.lane(k)
	}
	return r
}

// Stop ends all work and waits for its end.
func (r *Run[C]) Stop() {
	r.end()
	r.lanes.Wait()
}

// Limit bounds how many pieces are done at once, up to the width; pieces that have begun go on.
func (r *Run[C]) Limit(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limit = min(n, r.o.Width)
	r.cond.Broadcast()
}

// lane does one piece after another.
func (r *Run[C]) lane(k int) {
	defer r.lanes.Done()
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		for r.ctx.Err() == nil && (r.running >= r.limit || r.unbegun() && r.waiting >= r.o.Bytes) {
			r.cond.Wait()
		}
		if r.ctx.Err() != nil || !r.unbegun() {
			if r.ctx.Err() == nil && r.head < r.n {
				// Pause may bring pieces back.
				r.cond.Wait()
				continue
			}
			return
		}
		i := r.next
		r.next++
		ctx, end := context.WithCancel(r.ctx)
		p := &piece[C]{end: end}
		r.pieces[i] = p
		r.running++
		r.mu.Unlock()
		err := r.work(ctx, k, i, func(c C, size int64) error { return r.emit(ctx, i, p, c, size) })
		end()
		r.mu.Lock()
		r.running--
		p.done, p.err = true, err
		r.cond.Broadcast()
	}
}

// unbegun skips pieces that have begun, and reports whether one has not; r.mu is held.
func (r *Run[C]) unbegun() bool {
	for r.next < r.n && r.pieces[r.next] != nil {
		r.next++
	}
	return r.next < r.n
}

// emit keeps what a piece gives until it is taken.
func (r *Run[C]) emit(ctx context.Context, i int, p *piece[C], c C, size int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	// The run's own context too: when that ends, whoever waits is woken, perhaps before the end has reached ctx.
	ended := func() error { return cmp.Or(r.ctx.Err(), ctx.Err()) }
	for ended() == nil && (i == r.head && p.bytes >= r.o.Bytes || i != r.head && r.waiting >= r.o.Bytes) {
		r.cond.Wait()
	}
	if err := ended(); err != nil {
		return err
	}
	p.given = append(p.given, given[C]{c, size})
	p.bytes += size
	if i != r.head {
		r.waiting += size
	}
	r.cond.Broadcast()
	return nil
}

// Piece takes what a piece gives; pieces are asked for in order. more is false when take has said so. The
// error is that of the piece: ErrAlone says that nothing of it was given, and that it is to be done by the
// caller, between Pause and Resume.
func (r *Run[C]) Piece(i int, take func(C) bool) (more bool, err error) {
	r.mu.Lock()
	if i != r.head {
		r.head = i
		if p := r.pieces[i]; p != nil {
			r.waiting -= p.bytes
		}
		r.cond.Broadcast()
	}
	for {
		p := r.pieces[i]
		switch {
		case p != nil && len(p.given) > 0:
			g := p.given[0]
			p.given[0] = given[C]{}
			p.given = p.given[1:]
			p.bytes -= g.size
			r.cond.Broadcast()
			r.mu.Unlock()
			if !take(g.c) {
				return false, nil
			}
			r.mu.Lock()
			continue
		case p != nil && p.done:
			p.given = nil
			if r.head++; r.head < r.n {
				if q := r.pieces[r.head]; q != nil {
					r.waiting -= q.bytes
				}
			}
			if i > 0 {
				delete(r.pieces, i-1)
			}
			r.cond.Broadcast()
			r.mu.Unlock()
			return true, p.err
		case r.ctx.Err() != nil:
			r.mu.Unlock()
			return true, r.ctx.Err()
		}
		r.cond.Wait()
	}
}

// Pause ends the pieces that are being done, to be done anew after Resume, and waits until they have ended.
// What is done, and has not been taken, is kept.
func (r *Run[C]) Pause() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limit = 0
	for i, p := range r.pieces {
		if i < r.head || p.done {
			continue
		}
		p.undone = true
		p.end()
	}
	r.cond.Broadcast()
	for r.running > 0 {
		r.cond.Wait()
	}
	for i, p := range r.pieces {
		if !p.undone {
			continue
		}
		if i != r.head {
			r.waiting -= p.bytes
		}
		delete(r.pieces, i)
		r.next = min(r.next, i)
	}
}

// Resume goes on after Pause.
func (r *Run[C]) Resume() { r.Limit(r.o.Width) }
