package lanes_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"hudiscope/core/lanes"
)

// TestOrder does pieces of random lengths side by side, some of them alone: what comes is what one after
// the other gives, nothing is done beside a piece that is alone, and what waits is bounded.
func TestOrder(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		n, width := rnd.IntN(30), 1+rnd.IntN(4)
		length, single := make([]int, n), make([]bool, n)
		for i := range length {
			length[i], single[i] = rnd.IntN(20), rnd.IntN(6) == 0
		}
		var running, held atomic.Int64
		run := lanes.Start(t.Context(), lanes.Options{Width: width, Bytes: 5}, 0, n, func(ctx context.Context, lane, piece int, emit func(string, int64) error) error {
			if lane < 0 || lane >= width {
				t.Errorf("lane %d of %d", lane, width)
			}
			if running.Add(1) > int64(width) {
				t.Errorf("seed %d: more than %d at once", seed, width)
			}
			defer running.Add(-1)
			if single[piece] {
				return lanes.ErrAlone
			}
			for k := range length[piece] {
				if k%7 == 3 {
					time.Sleep(time.Microsecond * time.Duration(piece%5))
				}
				if err := emit(fmt.Sprint(piece, " ", k), 1); err != nil {
					return err
				}
				held.Add(1)
			}
			return nil
		})
		var got, want []string
		for i := range n {
			more, err := run.Piece(i, func(s string) bool { got = append(got, s); return true })
			if !more {
				t.Fatal("ended by nobody")
			}
			if errors.Is(err, lanes.ErrAlone) != single[i] {
				t.Fatalf("seed %d, piece %d: %v", seed, i, err)
			}
			if single[i] {
				run.Pause()
				if running.Load() != 0 {
					t.Errorf("seed %d: a piece is done beside one that is alone", seed)
				}
				got = append(got, fmt.Sprint(i, " alone"))
				run.Resume()
			} else if err != nil {
				t.Fatal(err)
			}
			for k := range length[i] {
				if !single[i] {
					want = append(want, fmt.Sprint(i, " ", k))
				}
			}
			if single[i] {
				want = append(want, fmt.Sprint(i, " alone"))
			}
		}
		run.Stop()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d: got %v, want %v", seed, got, want)
		}
		if running.Load() != 0 {
			t.Error("work goes on after Stop")
		}
	}
}

// TestBounds leaves what is given untaken: no more than the bound waits.
func TestBounds(t *testing.T) {
	var held atomic.Int64
	run := lanes.Start(t.Context(), lanes.Options{Width: 3, Bytes: 10}, 0, 100, func(ctx context.Context, _, piece int, emit func(int, int64) error) error {
		for range 100 {
			if err := emit(piece, 1); err != nil {
				return err
			}
			held.Add(1)
		}
		return nil
	})
	time.Sleep(50 * time.Millisecond)
	if n := held.Load(); n < 10 || n > 2*10+3 {
		t.Errorf("%d wait", n)
	}
	run.Stop()
}

// TestStopWakes stops runs whose pieces all wait to hand something over: whatever order the end reaches the contexts in,
// each is woken.
func TestStopWakes(t *testing.T) {
	for range 3000 {
		var full atomic.Int64
		run := lanes.Start(t.Context(), lanes.Options{Width: 3, Bytes: 1}, 0, 6, func(ctx context.Context, _, piece int, emit func(int, int64) error) error {
			for {
				full.Add(1)
				if err := emit(piece, 1); err != nil {
					return err
				}
			}
		})
		for full.Load() < 4 {
			runtime.Gosched()
		}
		run.Stop()
	}
}

// TestErrorsAndEnds: an error comes where it would come piece by piece, cancellation and Stop end everything.
func TestErrorsAndEnds(t *testing.T) {
	bad := errors.New("bad")
	run := lanes.Start(t.Context(), lanes.Options{Width: 3, Bytes: 100}, 0, 4, func(ctx context.Context, _, piece int, emit func(int, int64) error) error {
		if piece == 0 {
			time.Sleep(5 * time.Millisecond)
		}
		if err := emit(piece, 1); err != nil {
			return err
		}
		if piece == 1 {
			return bad
		}
		return nil
	})
	var got []int
	take := func(i int) bool { got = append(got, i); return true }
	if _, err := run.Piece(0, take); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Piece(1, take); err != bad || len(got) != 2 {
		t.Fatal(err, got)
	}
	run.Stop()

	ctx, cancel := context.WithCancel(t.Context())
	run = lanes.Start(ctx, lanes.Options{Width: 2, Bytes: 1}, 0, 9, func(ctx context.Context, _, _ int, emit func(int, int64) error) error {
		<-ctx.Done()
		return ctx.Err()
	})
	time.AfterFunc(5*time.Millisecond, cancel)
	if _, err := run.Piece(0, take); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	run.Stop()

	run = lanes.Start(t.Context(), lanes.Options{Width: 2, Bytes: 1}, 0, 9, func(ctx context.Context, _, piece int, emit func(int, int64) error) error {
		return emit(piece, 1)
	})
	if more, err := run.Piece(0, func(int) bool { return false }); more || err != nil {
		t.Fatal(more, err)
	}
	run.Stop()
}
