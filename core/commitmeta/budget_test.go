package commitmeta

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestBudget: no more is held than the budget has, what is larger goes alone, and whoever is cancelled holds nothing.
func TestBudget(t *testing.T) {
	b := NewBudget(100)
	var held, most atomic.Int64
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			n := int64(i % 130)
			release, err := b.Take(t.Context(), n)
			if err != nil {
				t.Error(err)
				return
			}
			now := held.Add(min(max(n, 1), 100))
			for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
			}
			time.Sleep(50 * time.Microsecond)
			held.Add(-min(max(n, 1), 100))
			release()
		})
	}
	all.Wait()
	if most.Load() > 100 || b.held != 0 || len(b.waiting) != 0 {
		t.Errorf("%d were held at once, %d are left, %d wait", most.Load(), b.held, len(b.waiting))
	}

	release, _ := b.Take(t.Context(), 60)
	ctx, cancel := context.WithCancel(t.Context())
	var large error
	small := make(chan func(), 1)
	all.Go(func() { _, large = b.Take(ctx, 500) })
	for waits(b) < 1 {
		time.Sleep(time.Millisecond)
	}
	all.Go(func() {
		r, err := b.Take(t.Context(), 30)
		if err != nil {
			t.Error(err)
		}
		small <- r
	})
	for waits(b) < 2 {
		time.Sleep(time.Millisecond)
	}
	cancel() // the one behind it has room
	(<-small)()
	all.Wait()
	if !errors.Is(large, context.Canceled) {
		t.Errorf("the cancelled one: %v", large)
	}
	release()
	if b.held != 0 {
		t.Errorf("%d are left", b.held)
	}
}

func waits(b *Budget) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting)
}
