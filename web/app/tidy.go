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
	// worthTidying is how many bytes were allocated since the last collection that make one worth its time.
	worthTidying = 16 << 20
	// heapRoom is how far the heap may grow before a collection does not wait for a rest; it is as far as usualGrowth
	// percent of what is in use where that is more.
	heapRoom    = 64 << 20
	usualGrowth = 400
)

// tidy collects the program's garbage while the page rests. Where there is one thread, a collection and the sweeping
// after it take place in the task that happens to allocate: then scrolling would wait for them.
type tidy struct {
	busy  time.Time // when something was drawn last
	armed bool
	begun bool
	// reading reports whether answers are on their way; what comes of them is still to be drawn.
	reading func() bool
	done    uint64 // bytes allocated up to the last collection
}

// soon notes that something is drawn, and tidies up when nothing has been for a while. UI goroutine only.
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
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	n := s[0].Value.Uint64()
	if n-t.done < worthTidying {
		return
	}
	t.done = n
	runtime.GC()
	metrics.Read(s[1:])
	live := max(s[1].Value.Uint64(), 1)
	debug.SetGCPercent(max(usualGrowth, int(min(100*heapRoom/live, 1600))))
}
