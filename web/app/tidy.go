package app

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// restAfter is how long nothing was drawn before the page counts as resting.
	restAfter = 600 * time.Millisecond
	// worthTidying is how many bytes were allocated since the last collection that make one worth its time while the page
	// rests, tooMuch how many make one due while it draws: what is swept takes longer than what is marked, so that many
	// short collections are better than a long one. To tooMuch comes half of what is in use.
	worthTidying = 4 << 20
	tooMuch      = 8 << 20
	// longRest is how long nothing was drawn before less than that is collected, too, from scraps on: it holds on to elements
	// of the browser that are not in the page any more.
	longRest = 3 * time.Second
	scraps   = 256 << 10
	// heapRoom is how far the heap may grow before a collection takes place in the midst of a task that allocates much at
	// once; it is as far as usualGrowth percent of what is in use where that is more.
	heapRoom    = 64 << 20
	usualGrowth = 400
)

// tidy collects the program's garbage in tasks of their own: while the page rests, and while it draws without a rest
// before there is much of it. Where there is one thread, a collection and the sweeping after it take place in the task
// that happens to allocate: then drawing would wait for them.
type tidy struct {
	busy  time.Time // when something was drawn last
	armed bool
	begun bool
	due   bool // a collection that does not wait for a rest is on its way
	// reading reports whether answers are on their way; what comes of them is still to be drawn.
	reading func() bool
	done    uint64 // bytes allocated up to the last collection
	live    uint64 // bytes in use after it
	sample  [1]metrics.Sample
}

// soon notes that something is drawn, and tidies up when nothing has been for a while, or when there is too much garbage
// to wait. UI goroutine only.
func (t *tidy) soon() {
	t.busy = time.Now()
	if !t.begun {
		t.begun = true
		debug.SetGCPercent(100 * heapRoom / (4 << 20)) // of the least that the runtime counts from
	}
	if !t.armed {
		t.armed = true
		time.AfterFunc(restAfter, t.check)
	}
	if !t.due && t.read("/gc/heap/allocs:bytes")-t.done > tooMuch+t.live/2 {
		t.due = true
		time.AfterFunc(time.Millisecond, func() { t.due = false; t.collect() })
	}
}

func (t *tidy) check() {
	if left := restAfter - time.Since(t.busy); left > 0 {
		time.AfterFunc(left, t.check)
		return
	}
	if t.reading != nil && t.reading() {
		time.AfterFunc(restAfter, t.check)
		return
	}
	t.armed = false
	// The first time the browser compiles the collector: that is done while there is little to collect.
	switch n := t.read("/gc/heap/allocs:bytes") - t.done; {
	case t.done == 0 || n >= worthTidying:
		t.collect()
	case n >= scraps:
		t.armed = true
		time.AfterFunc(longRest-restAfter, t.last)
	}
}

// last is check after a long rest.
func (t *tidy) last() {
	if time.Since(t.busy) < longRest {
		time.AfterFunc(restAfter, t.check)
		return
	}
	t.armed = false
	t.collect()
}

func (t *tidy) collect() {
	t.done = t.read("/gc/heap/allocs:bytes")
	runtime.GC()
	t.live = max(t.read("/gc/heap/live:bytes"), 1)
	debug.SetGCPercent(max(usualGrowth, int(min(100*heapRoom/t.live, 1600))))
}

func (t *tidy) read(name string) uint64 {
	t.sample[0].Name = name
	metrics.Read(t.sample[:])
	return t.sample[0].Value.Uint64()
}
