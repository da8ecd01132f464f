// Package flight shares one piece of work among several waiters. The work runs under a
// context of its own, so a waiter that gives up leaves at once and does not spoil the
// result for the others; when the last waiter has left, the work is cancelled.
package flight

import (
	"context"
	"sync"
)

// Call is one piece of running work. Every Start and every successful Join must be
// followed by exactly one Wait or Leave.
type Call[V any] struct {
	done   chan struct{}
	cancel context.CancelFunc

	mu   sync.Mutex
	refs int // 0 before done means abandoned

	val V
	err error
}

// Start runs fn in a goroutine, with the values of ctx but not its cancellation, and
// counts the caller as the first waiter.
func Start[V any](ctx context.Context, fn func(context.Context) (V, error)) *Call[V] {
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &Call[V]{done: make(chan struct{}), cancel: cancel, refs: 1}
	go func() {
		defer cancel()
		c.val, c.err = fn(run)
		close(c.done)
	}()
	return c
}

// Join adds a waiter. It reports false when all earlier waiters had left, so the work is
// being cancelled; the caller must start its own.
func (c *Call[V]) Join() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refs == 0 {
		return false
	}
	c.refs++
	return true
}

// Leave takes one waiter away.
func (c *Call[V]) Leave() {
	c.mu.Lock()
	c.refs--
	last := c.refs == 0
	c.mu.Unlock()
	if last {
		c.cancel()
	}
}

// Wait returns the result, or the error of ctx as soon as ctx ends.
func (c *Call[V]) Wait(ctx context.Context) (V, error) {
	defer c.Leave()
	select {
	case <-c.done:
		return c.val, c.err
	default:
	}
	select {
	case <-c.done:
		return c.val, c.err
	case <-ctx.Done():
		var zero V
		return zero, ctx.Err()
	}
}

// Group shares calls by key. The zero Group is ready for use.
type Group[K comparable, V any] struct {
	mu sync.Mutex
	m  map[K]*Call[V]
}

// Do returns the result of fn for key, joining a call that already runs.
func (g *Group[K, V]) Do(ctx context.Context, key K, fn func(context.Context) (V, error)) (V, error) {
	if err := ctx.Err(); err != nil {
		var zero V
		return zero, ctx.Err()
	}
	g.mu.Lock()
	c := g.m[key]
	if c == nil || !c.Join() {
		if g.m == nil {
			g.m = map[K]*Call[V]{}
		}
		c = Start(ctx, func(run context.Context) (V, error) {
			v, err := fn(run)
			g.mu.Lock()
			if g.m[key] == c {
				delete(g.m, key)
			}
			g.mu.Unlock()
			return v, err
		})
		g.m[key] = c
	}
	g.mu.Unlock()
	return c.Wait(ctx)
}
