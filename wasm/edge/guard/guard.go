// Package guard keeps the edge worker from being an open proxy: every request that an
// answer causes, redirects included, must go to an allowed place, and there may be only
// so many of them.
package guard

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"

	"hudiscope/core/api"
	"hudiscope/fsadapter/httprange"
)

// Guard checks the requests of one answer; the worker makes one for each. It is a
// Fetcher for the storage and a Doer (package httpapi) around the service.
type Guard struct {
	// Next sends requests. It must not follow redirects by itself.
	Next httprange.Fetcher
	// Allow says whether a URL may be asked for.
	Allow func(url string) bool
	// Limit is the number of requests, at least 1.
	Limit int

	mu    sync.Mutex
	sent  int
	fault *api.Fault
	stop  context.CancelCauseFunc
}

// redirects is how many of them are followed for one request.
const redirects = 3

// Sent is the number of requests so far.
func (g *Guard) Sent() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.sent
}

// Fetch sends a request if it may be sent. Otherwise it ends the whole answer: trying
// again or elsewhere would not help.
func (g *Guard) Fetch(ctx context.Context, req *httprange.Request) (*httprange.Response, error) {
	r := *req
	for n := 0; ; n++ {
		if err := g.admit(r.URL, n > 0); err != nil {
			return nil, err
		}
		res, err := g.Next.Fetch(ctx, &r)
		if err != nil {
			return nil, err
		}
		switch res.Status {
		case 301, 302, 303, 307, 308:
		default:
			return res, nil
		}
		to := res.Header("Location")
		if to == "" {
			return res, nil
		}
		res.Body.Close()
		if n == redirects {
			return nil, g.end(&api.Fault{Kind: "unreachable", Offset: -1, Message: fmt.Sprintf("The server redirects more than %d times.", redirects)})
		}
		base, err := url.Parse(r.URL)
		if err == nil {
			base, err = base.Parse(to)
		}
		if err != nil {
			return nil, g.end(&api.Fault{Kind: "unreachable", Offset: -1, Message: "The server redirects to something that is not a URL."})
		}
		r.URL = base.String()
	}
}

// admit counts a request, or ends the answer.
func (g *Guard) admit(location string, redirected bool) error {
	if !g.Allow(location) {
		f := &api.Fault{Kind: "forbidden", Offset: -1, Message: "A file of the table would be read from a place that this server may not read."}
		if redirected {
			f.Message = "The server redirects to a place that this server may not read."
		}
		return g.end(f)
	}
	g.mu.Lock()
	over := g.sent >= g.Limit
	if !over {
		g.sent++
	}
	g.mu.Unlock()
	if over {
		return g.end(&api.Fault{Kind: "limit", Offset: -1, Message: fmt.Sprintf("This answer takes more than the %d requests to the table's server that are allowed here.", g.Limit),
			Try: "Ask for less, such as one partition, or open the table in the browser."})
	}
	return nil
}

// end stops the answer with a fault; the first one counts.
func (g *Guard) end(f *api.Fault) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fault == nil {
		g.fault = f
		if g.stop != nil {
			g.stop(f)
		}
	}
	return g.fault
}

// Doer is what Do goes around.
type Doer interface {
	Do(ctx context.Context, op api.Op, args []byte, progress func(api.Progress)) (any, error)
}

// Around returns a Doer whose answers end when the guard ends them, with its fault.
func (g *Guard) Around(d Doer) Doer { return guarded{g, d} }

type guarded struct {
	g *Guard
	d Doer
}

func (x guarded) Do(ctx context.Context, op api.Op, args []byte, progress func(api.Progress)) (any, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	x.g.mu.Lock()
	x.g.stop = cancel
	x.g.mu.Unlock()
	a, err := x.d.Do(ctx, op, args, progress)
	x.g.mu.Lock()
	defer x.g.mu.Unlock()
	// An answer that came all the same may have papered over what it could not read.
	if x.g.fault != nil {
		return nil, errors.Join(x.g.fault, err)
	}
	return a, err
}
