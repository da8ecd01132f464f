package commitmeta

import (
	"context"
	"sync"
)

// Budget bounds how many bytes are held at a time by all who ask it. Its methods are safe for concurrent use; those who
// wait get their turn in the order in which they came.
type Budget struct {
	size int64

	mu      sync.Mutex
	held    int64
	waiting []*waiter
}

type waiter struct {
	n     int64
	ready chan struct{}
}

// NewBudget returns a budget of size bytes.
func NewBudget(size int64) *Budget { return &Budget{size: size} }

// Take waits until n bytes may be held beside what others hold. What is more than the whole budget waits until nothing
// else is held. release gives them back, once; the error is that of ctx.
func (b *Budget) Take(ctx context.Context, n int64) (release func(), err error) {
	n = min(max(n, 1), b.size)
	b.mu.Lock()
	if len(b.waiting) == 0 && b.held+n <= b.size {
		b.held += n
		b.mu.Unlock()
		return func() { b.give(n) }, nil
	}
	w := &waiter{n: n, ready: make(chan struct{})}
	b.waiting = append(b.waiting, w)
	b.mu.Unlock()
	select {
	case <-w.ready:
		return func() { b.give(n) }, nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, x := range b.waiting {
		if x == w {
			b.waiting = append(b.waiting[:i], b.waiting[i+1:]...)
			b.next() // the ones behind may be small enough
			return nil, ctx.Err()
		}
	}
	b.held -= n // its turn came at the same time
	b.next()
	return nil, ctx.Err()
}

func (b *Budget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= n
	b.next()
}

// next lets those go on for whom there is room.
func (b *Budget) next() {
	for len(b.waiting) > 0 && b.held+b.waiting[0].n <= b.size {
		b.held += b.waiting[0].n
		close(b.waiting[0].ready)
		b.waiting = b.waiting[1:]
	}
}

// decoding is what all decoders of this process hold at a time while they unpack and decode. Decoding waits for
// nothing else, so that whoever waits here gets its turn.
var decoding = NewBudget(128 << 20)
