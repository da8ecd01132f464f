package flight

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestSharedAndCancelled(t *testing.T) {
	var g Group[string, int]
	var runs atomic.Int32
	release := make(chan struct{})
	work := func(ctx context.Context) (int, error) {
		runs.Add(1)
		select {
		case <-release:
			return 7, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	short, cancel := context.WithCancel(context.Background())
	left := make(chan error, 1)
	go func() {
		_, err := g.Do(short, "k", work)
		left <- err
	}()
	for runs.Load() == 0 {
		runtime.Gosched()
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if v, err := g.Do(context.Background(), "k", work); v != 7 || err != nil {
				t.Errorf("got %d, %v", v, err)
			}
		})
	}
	time.Sleep(10 * time.Millisecond)
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled waiter: %v", err)
	}
	close(release)
	wg.Wait()
	if runs.Load() != 1 {
		t.Fatalf("%d runs, want 1", runs.Load())
	}
}

func TestAbandonedWorkStopsAndIsNotJoined(t *testing.T) {
	var g Group[int, int]
	stopped := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	started := make(chan struct{})
	hold := make(chan struct{})
	go g.Do(ctx, 1, func(ctx context.Context) (int, error) {
		close(started)
		<-ctx.Done()
		close(stopped)
		<-hold // slow to stop
		return 0, ctx.Err()
	})
	<-started
	cancel()
	<-stopped
	v, err := g.Do(context.Background(), 1, func(context.Context) (int, error) { return 2, nil })
	if v != 2 || err != nil {
		t.Fatalf("got %d, %v: joined abandoned work", v, err)
	}
	close(hold)
}
