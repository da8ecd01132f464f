package app

import (
	"context"
	"strings"
	"sync"
	"time"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/client"
	"hudiscope/web/view"
)

// slowAfter is how long a request runs before its progress is shown.
const slowAfter = 300 * time.Millisecond

// load is one answer of the service on its way: what is known of it, how far it is, or why
// it failed. All fields are used on the UI goroutine only.
type load[A any] struct {
	// key tells what was asked for; the same key is not asked for twice.
	key   string
	val   *A
	fault *api.Fault
	busy  bool
	// kept is set while val is the answer for another instant, shown until the one that was asked for comes.
	kept bool
	slow bool
	prog api.Progress

	seq    int
	cancel context.CancelFunc
}

// want asks for an answer unless it is there or on its way. What was asked for before
// under another key is cancelled.
func want[A any](s *Session, l *load[A], key string, op api.Op, req any) {
	wantBy(s, l, key, func(ctx context.Context, progress func(api.Progress)) (A, error) {
		return client.Call[A](ctx, s.transport, op, req, progress)
	})
}

// wantAsOf is want for an answer as of an instant, "" for the latest: the answer for another instant is shown until this
// one comes, so that moving through time does not flicker.
func wantAsOf[A any](s *Session, l *load[A], key, asOf string, op api.Op, req any) {
	const at = "\x00as of "
	before, val := l.key, l.val
	want(s, l, key+at+asOf, op, req)
	if l.busy && l.val == nil && val != nil && before != l.key && strings.HasPrefix(before, key+at) {
		l.val, l.kept = val, true
	}
}

// wantBy is want for an answer that takes more than one request: fetch gets it, on a goroutine of its
// own.
func wantBy[A any](s *Session, l *load[A], key string, fetch func(context.Context, func(api.Progress)) (A, error)) {
	if l.key == key && (l.busy || l.val != nil || l.fault != nil) {
		return
	}
	l.stop()
	l.seq++
	l.key, l.val, l.fault, l.busy, l.kept, l.slow, l.prog = key, nil, nil, true, false, false, api.Progress{}
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	seq := l.seq
	progress := newest(s.dispatch, func(p api.Progress) {
		if l.seq == seq && l.busy {
			l.prog = p
		}
	})
	go func() {
		a, err := fetch(ctx, progress)
		cancel()
		// What was decoded took its time: drawing it is a task of its own.
		time.Sleep(time.Millisecond)
		s.dispatch(func() {
			if l.seq != seq {
				return
			}
			l.busy, l.kept, l.slow = false, false, false
			if err != nil {
				l.val, l.fault = nil, s.faultOf(err)
				if k := l.fault.Kind; k == "expired" || k == "forbidden" {
					s.accessFault = l.fault
				}
			} else {
				l.val = &a
			}
			s.ensure()
			if s.answered != nil {
				s.answered()
			}
		})
	}()
	time.AfterFunc(slowAfter, func() {
		s.dispatch(func() {
			if l.seq == seq && l.busy {
				l.slow = true
			}
		})
	})
}

// stop cancels what is on its way; its answer is dropped.
func (l *load[A]) stop() {
	if l.cancel != nil {
		l.cancel()
		l.cancel = nil
	}
}

// reset forgets the answer.
func (l *load[A]) reset() {
	l.stop()
	l.seq++
	*l = load[A]{seq: l.seq}
}

// canceller is a handler that stops the request; the fault "cancelled" is then shown.
func (l *load[A]) canceller() goapp.EventHandler {
	return func(goapp.Context, goapp.Event) { l.stop() }
}

// retrier is a handler that asks again.
func (l *load[A]) retrier(s *Session) goapp.EventHandler {
	return func(goapp.Context, goapp.Event) {
		l.reset()
		s.ensure()
	}
}

// newest takes progress, which comes more often than it can be seen, and draws the newest of it whenever the UI
// goroutine comes to it.
func newest(dispatch func(func()), draw func(api.Progress)) func(api.Progress) {
	var mu sync.Mutex
	var latest api.Progress
	queued := false
	return func(p api.Progress) {
		mu.Lock()
		latest = p
		waits := queued
		queued = true
		mu.Unlock()
		// Without the lock: dispatch may wait for the UI goroutine.
		if waits {
			return
		}
		dispatch(func() {
			mu.Lock()
			queued = false
			p := latest
			mu.Unlock()
			draw(p)
		})
	}
}

// frame draws a component that follows the pointer: once per frame, however many events come.
type frame struct{ queued bool }

// redraw draws v soon; ctx is nil before it is mounted.
func (f *frame) redraw(ctx goapp.Context, v interface{ Update() }) {
	if f.queued || ctx == nil {
		return
	}
	f.queued = true
	ctx.Dispatch(func(goapp.Context) {
		f.queued = false
		v.Update()
		view.Drawn()
	})
}
