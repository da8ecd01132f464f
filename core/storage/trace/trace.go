// Package trace keeps what was asked of storages: the last requests one by one, and sums for each
// kind of work. Work is named by a context; whoever sends a request finds the name there.
package trace

import (
	"context"
	"slices"
	"sync"
	"time"
)

// The bounds of a Log: requests kept one by one, and kinds of work and places that are summed.
const (
	MaxEvents = 500
	MaxSums   = 200
)

// Event is one request.
type Event struct {
	// Seq counts the requests of a Log from 1 on.
	Seq int64
	// Place is the location that the work named, Work its kind.
	Place, Work string
	// Method and Address are those of the request, the address without its query, which may give access.
	Method, Address string
	// From and To are the first and last byte asked for; To is -1 when no range was.
	From, To int64
	// Status is that of the answer, 0 when there was none; Failed says then why.
	Status int
	Failed string
	// Bytes arrived.
	Bytes int64
	// Start is when it was sent, Took the time up to the end of its answer.
	Start time.Time
	Took  time.Duration
	// Round is one more than that of the latest request of the same piece of work that had ended
	// before this one began: requests of one round do not wait for each other.
	Round int
	// Kept says that the bytes came from the store of kept files (package kept), and nothing was sent.
	Kept bool
	// Running is set while the answer is on its way.
	Running bool
}

// Sum is what one kind of work asked for of one place.
type Sum struct {
	Place, Work string
	// Calls is how often it was done; Requests, Bytes and Failed are of all of them. Kept counts reads
	// that were answered by the store of kept files, KeptBytes their bytes.
	Calls, Requests, Failed, Bytes, Kept, KeptBytes int64
	// Rounds is the number of rounds of the last call, LastRequests its requests.
	Rounds       int
	LastRequests int64
	// Last is when it was done last.
	Last time.Time
}

// Log keeps requests. The zero value is ready for use, and safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	seq  int64
	ring []*Event // in the order of their beginning, from at on
	at   int
	sums map[[2]string]*Sum
}

type key struct{}

// work is one piece of work, such as a request to the service.
type work struct {
	log         *Log
	place, name string
	// ended is the round of the latest request that has ended; rounds the highest.
	ended, rounds int
	requests      int64
}

// With returns a context whose requests the Log keeps as those of one piece of work.
func (l *Log) With(ctx context.Context, place, name string) context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sum(place, name)
	s.Calls++
	s.Last = time.Now()
	return context.WithValue(ctx, key{}, &work{log: l, place: place, name: name})
}

// Behind returns a context whose requests the Log keeps as those of a kind of work that goes on behind
// its calls, such as a stream of rows of which each call takes some.
func (l *Log) Behind(place, name string) context.Context {
	return context.WithValue(context.Background(), key{}, &work{log: l, place: place, name: name})
}

// sum finds or makes a Sum; l.mu is held. The one that is not in use for longest makes room.
func (l *Log) sum(place, name string) *Sum {
	k := [2]string{place, name}
	if s := l.sums[k]; s != nil {
		return s
	}
	if l.sums == nil {
		l.sums = map[[2]string]*Sum{}
	}
	if len(l.sums) >= MaxSums {
		var oldest [2]string
		var at time.Time
		for k, s := range l.sums {
			if at.IsZero() || s.Last.Before(at) {
				oldest, at = k, s.Last
			}
		}
		delete(l.sums, oldest)
	}
	s := &Sum{Place: place, Work: name}
	l.sums[k] = s
	return s
}

// Begin notes the beginning of a request of the work that ctx names. done must be called at the end
// of its answer, once or more; only the first counts. Where ctx names no work, nothing is noted.
func Begin(ctx context.Context, method, address string, from, to int64) (done func(status int, bytes int64, failed string)) {
	w, _ := ctx.Value(key{}).(*work)
	if w == nil {
		return func(int, int64, string) {}
	}
	l := w.log
	l.mu.Lock()
	w.requests++
	e := &Event{Place: w.place, Work: w.name, Method: method, Address: address, From: from, To: to, Start: time.Now(), Round: w.ended + 1, Running: true}
	w.rounds = max(w.rounds, e.Round)
	l.add(e)
	s := l.sum(w.place, w.name)
	s.Requests++
	s.Rounds, s.LastRequests, s.Last = w.rounds, w.requests, e.Start
	l.mu.Unlock()
	ended := false
	return func(status int, bytes int64, failed string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if ended {
			return
		}
		ended = true
		w.ended = max(w.ended, e.Round)
		e.Status, e.Bytes, e.Failed, e.Took, e.Running = status, bytes, failed, time.Since(e.Start), false
		s := l.sum(w.place, w.name)
		s.Bytes += bytes
		if failed != "" || status >= 400 {
			s.Failed++
		}
	}
}

// Kept notes a read of n bytes that the store of kept files answered.
func Kept(ctx context.Context, path string, from, n int64) {
	w, _ := ctx.Value(key{}).(*work)
	if w == nil {
		return
	}
	l := w.log
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(&Event{Place: w.place, Work: w.name, Method: "kept", Address: path, From: from, To: from + n - 1, Bytes: n, Start: time.Now(), Kept: true})
	s := l.sum(w.place, w.name)
	s.Kept++
	s.KeptBytes += n
}

// Part is what another program asked of a place.
type Part struct {
	// Sum is of all requests, Events are the latest, the oldest first.
	Sum    Sum
	Events []Event
}

// Take returns what was asked of a place, and forgets it.
func (l *Log) Take(place string) *Part {
	p := &Part{Events: l.Events(place, MaxEvents)}
	slices.Reverse(p.Events)
	for _, s := range l.Sums(place) {
		p.Sum.Requests += s.Requests
		p.Sum.Failed += s.Failed
		p.Sum.Bytes += s.Bytes
		p.Sum.Kept += s.Kept
		p.Sum.KeptBytes += s.KeptBytes
	}
	l.Clear(place)
	return p
}

// Adopt keeps what another program asked of a place as requests of a kind of work here.
func (l *Log) Adopt(place, name string, p *Part) {
	if p == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sum(place, name)
	s.Requests += p.Sum.Requests
	s.Failed += p.Sum.Failed
	s.Bytes += p.Sum.Bytes
	s.Kept += p.Sum.Kept
	s.KeptBytes += p.Sum.KeptBytes
	s.LastRequests += p.Sum.Requests
	s.Last = time.Now()
	for i := range p.Events {
		e := p.Events[i]
		e.Place, e.Work, e.Running = place, name, false
		s.Rounds = max(s.Rounds, e.Round)
		l.add(&e)
	}
}

func (l *Log) add(e *Event) {
	l.seq++
	e.Seq = l.seq
	if len(l.ring) < MaxEvents {
		l.ring = append(l.ring, e)
		return
	}
	l.ring[l.at] = e
	l.at = (l.at + 1) % MaxEvents
}

// Events returns the latest requests of a place, at most limit, the newest first.
func (l *Log) Events(place string, limit int) []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := []Event{}
	for i := len(l.ring) - 1; i >= 0 && len(out) < limit; i-- {
		if e := l.ring[(l.at+i)%len(l.ring)]; e.Place == place {
			out = append(out, *e)
		}
	}
	return out
}

// Sums returns the sums of a place, the latest work first.
func (l *Log) Sums(place string) []Sum {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := []Sum{}
	for _, s := range l.sums {
		if s.Place == place {
			out = append(out, *s)
		}
	}
	slices.SortFunc(out, func(a, b Sum) int {
		if c := b.Last.Compare(a.Last); c != 0 {
			return c
		}
		if a.Work < b.Work {
			return -1
		}
		return 1
	})
	return out
}

// Clear forgets what a place was asked for.
func (l *Log) Clear(place string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k := range l.sums {
		if k[0] == place {
			delete(l.sums, k)
		}
	}
	var keep []*Event
	for i := range l.ring {
		if e := l.ring[(l.at+i)%len(l.ring)]; e.Place != place {
			keep = append(keep, e)
		}
	}
	l.ring, l.at = keep, 0
}
