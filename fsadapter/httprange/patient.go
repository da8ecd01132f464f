package httprange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// patient ends a request whose server has sent nothing for a time: a server that takes a connection
// and says nothing would else keep a reader waiting for ever. It ends the context of the Fetcher it
// wraps, which every Fetcher heeds (a browser's through an AbortController).
type patient struct {
	Fetcher
	idle time.Duration // not positive for no limit
}

// stall is the error of a request that was ended so.
type stall struct{ idle time.Duration }

func (s *stall) Error() string {
	if s.idle%time.Second == 0 {
		return fmt.Sprintf("no byte for %d s", int64(s.idle/time.Second))
	}
	return fmt.Sprintf("no byte for %v", s.idle)
}

func isStall(err error) bool {
	var s *stall
	return errors.As(err, &s)
}

func (p patient) Fetch(ctx context.Context, r *Request) (*Response, error) {
	if p.idle <= 0 {
		return p.Fetcher.Fetch(ctx, r)
	}
	inner, end := context.WithCancelCause(ctx)
	b := &patientBody{idle: p.idle, ctx: inner, end: end}
	b.timer = time.AfterFunc(p.idle, func() { end(&stall{p.idle}) })
	resp, err := p.Fetcher.Fetch(inner, r)
	b.timer.Stop()
	if err != nil {
		if s := b.stalled(); s != nil {
			err = &NoAnswer{Err: s}
		}
		end(nil)
		return nil, err
	}
	b.body, resp.Body = resp.Body, b
	return resp, nil
}

// patientBody lets the time run only while its reader waits.
type patientBody struct {
	body  io.ReadCloser
	idle  time.Duration
	ctx   context.Context
	end   context.CancelCauseFunc
	timer *time.Timer
}

func (b *patientBody) stalled() *stall {
	var s *stall
	errors.As(context.Cause(b.ctx), &s)
	return s
}

func (b *patientBody) Read(p []byte) (int, error) {
	b.timer.Reset(b.idle)
	n, err := b.body.Read(p)
	b.timer.Stop()
	if err != nil && err != io.EOF {
		if s := b.stalled(); s != nil {
			err = s
		}
	}
	return n, err
}

// Close ends the request.
func (b *patientBody) Close() error {
	b.timer.Stop()
	err := b.body.Close()
	b.end(nil)
	return err
}
