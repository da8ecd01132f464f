package ahead_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"hudiscope/core/storage"
	"hudiscope/core/storage/ahead"
)

// source notes what it is asked for.
type source struct {
	mu   sync.Mutex
	asks map[string]int
	ends int // asks that waited until their context ended
}

func (s *source) ask(ctx context.Context, what string, wait bool) error {
	s.mu.Lock()
	s.asks[what]++
	s.mu.Unlock()
	if wait {
		<-ctx.Done()
		s.mu.Lock()
		s.ends++
		s.mu.Unlock()
	}
	return errors.New("there is nothing")
}

func (s *source) Location() string { return "somewhere" }
func (s *source) List(ctx context.Context, dir string) (storage.Listing, error) {
	return storage.Listing{}, s.ask(ctx, "list "+dir, dir == "slow")
}
func (s *source) Open(ctx context.Context, path string) (storage.Object, error) {
	return nil, s.ask(ctx, "open "+path, false)
}

type keeping struct{ source }

func (k *keeping) Prefetch(ctx context.Context, path string, ranges []storage.Range) error {
	return k.ask(ctx, fmt.Sprint("prefetch ", path, " ", ranges), false)
}

func TestReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		k := &keeping{source{asks: map[string]int{}}}
		r := ahead.Of(k)
		r.List(ctx, "a", "slow")
		r.Read(ctx,
			ahead.File{Path: "small.parquet", Size: 10},
			ahead.File{Path: "unknown", Size: storage.SizeUnknown},
			ahead.File{Path: "empty", Size: 0},
			ahead.File{Path: "large.parquet", Size: 10 << 20},
			ahead.File{Path: "large.log", Size: 10 << 20},
			ahead.File{Path: "whole.hfile", Size: 2 << 20, Whole: true},
			ahead.File{Path: "most.hfile", Size: 10 << 20, Whole: true})
		synctest.Wait()
		want := map[string]int{
			"list a": 1, "list slow": 1,
			"prefetch small.parquet [{0 1048576}]":      1,
			"prefetch unknown [{0 1048576}]":            1,
			"prefetch large.parquet [{10420224 65536}]": 1,
			"prefetch large.log [{0 1048576}]":          1,
			"prefetch whole.hfile [{0 2097152}]":        1,
			"prefetch most.hfile [{0 4128768}]":         1,
		}
		if fmt.Sprint(k.asks) != fmt.Sprint(want) {
			t.Errorf("asked for %v\nwant %v", k.asks, want)
		}
		cancel()
		synctest.Wait()
		if k.ends != 1 {
			t.Errorf("%d requests ended with their context", k.ends)
		}
		many := make([]string, 1000)
		for i := range many {
			many[i] = fmt.Sprint(i)
		}
		k.asks = map[string]int{}
		r.List(t.Context(), many...)
		synctest.Wait()
		if len(k.asks) != ahead.MaxRequests {
			t.Errorf("%d requests", len(k.asks))
		}
	})
}

func TestNothingKept(t *testing.T) {
	s := &source{asks: map[string]int{}}
	r := ahead.Of(s)
	if r != nil {
		t.Fatal("a source that keeps nothing is asked ahead")
	}
	r.List(t.Context(), "a")
	r.Read(t.Context(), ahead.File{Path: "b", Size: 1})
	if len(s.asks) != 0 {
		t.Error(s.asks)
	}
}
