package trace

import (
	"context"
	"sync"
	"testing"
)

func TestRoundsAreChainsOfRequests(t *testing.T) {
	var l Log
	ctx := l.With(t.Context(), "t", "overview")
	a := Begin(ctx, "GET", "http://h/a", 0, 9)
	b := Begin(ctx, "GET", "http://h/b", 0, 9)
	a(206, 10, "")
	c := Begin(ctx, "GET", "http://h/c", 5, 9) // after a, beside b
	b(206, 4, "")
	c(404, 0, "")
	c(206, 99, "") // the first end counts
	d := Begin(ctx, "GET", "http://h/d", 0, -1)
	d(0, 0, "no network")
	s := l.Sums("t")
	if len(s) != 1 || s[0].Requests != 4 || s[0].Rounds != 3 || s[0].Bytes != 14 || s[0].Failed != 2 || s[0].Calls != 1 || s[0].LastRequests != 4 {
		t.Fatalf("%+v", s)
	}
	ev := l.Events("t", 10)
	for i, want := range []int{3, 2, 1, 1} {
		if ev[i].Round != want || ev[i].Running {
			t.Errorf("event %d: %+v, want round %d", i, ev[i], want)
		}
	}
	// Another call of the same work begins with its first round.
	Begin(l.With(t.Context(), "t", "overview"), "GET", "http://h/a", 0, 0)(206, 1, "")
	if s := l.Sums("t"); s[0].Rounds != 1 || s[0].LastRequests != 1 || s[0].Requests != 5 || s[0].Calls != 2 {
		t.Fatalf("%+v", s)
	}
	if len(l.Sums("other")) != 0 || len(l.Events("other", 9)) != 0 {
		t.Error("another place has them, too")
	}
}

func TestWithoutWorkNothingIsNoted(t *testing.T) {
	Begin(context.Background(), "GET", "x", 0, 0)(200, 1, "")
	Kept(context.Background(), "x", 0, 1)
}

func TestMemoryIsBounded(t *testing.T) {
	var l Log
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 1000 {
				ctx := l.With(t.Context(), string(rune('a'+i)), string(rune(j)))
				done := Begin(ctx, "GET", "x", 0, 0)
				Kept(ctx, "y", 0, 3)
				done(206, 1, "")
			}
		})
	}
	wg.Wait()
	if len(l.ring) != MaxEvents || len(l.sums) > MaxSums {
		t.Fatalf("%d events, %d sums", len(l.ring), len(l.sums))
	}
	for _, e := range l.ring {
		if e.Running {
			t.Fatal("an event was not brought to its end")
		}
	}
	before := len(l.Events("b", MaxEvents))
	open := Begin(l.With(t.Context(), "b", "w"), "GET", "x", 0, 0)
	l.Clear("a")
	open(206, 7, "")
	if n := len(l.Events("a", MaxEvents)) + len(l.Sums("a")); n != 0 {
		t.Errorf("%d are left", n)
	}
	if ev := l.Events("b", MaxEvents); len(ev) < before || ev[0].Seq != l.seq {
		t.Errorf("%d events of another place, %d before", len(ev), before)
	}
}
