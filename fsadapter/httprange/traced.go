package httprange

import (
	"context"
	"io"
	"strconv"
	"strings"

	"hudiscope/core/storage/trace"
)

// traced tells the trace of a request's context about it: see package trace.
type traced struct{ Fetcher }

func (t traced) Fetch(ctx context.Context, r *Request) (*Response, error) {
	shown, _, _ := strings.Cut(r.URL, "?")
	shown, _, _ = strings.Cut(shown, "#")
	if scheme, rest, ok := strings.Cut(shown, "://"); ok { // a user and password are none of the trace's business
		host, path, _ := strings.Cut(rest, "/")
		shown = scheme + "://" + host[strings.LastIndexByte(host, '@')+1:] + "/" + path
	}
	from, to := int64(0), int64(-1)
	if a, b, ok := strings.Cut(strings.TrimPrefix(r.Range, "bytes="), "-"); ok {
		if x, err := strconv.ParseInt(a, 10, 64); err == nil {
			if y, err := strconv.ParseInt(b, 10, 64); err == nil {
				from, to = x, y
			}
		}
	}
	done := trace.Begin(ctx, r.Method, shown, from, to)
	resp, err := t.Fetcher.Fetch(ctx, r)
	switch {
	case ctx.Err() != nil:
		done(0, 0, "cancelled")
	case err != nil:
		done(0, 0, "no answer")
	}
	if err != nil {
		return resp, err
	}
	resp.Body = &tracedBody{ReadCloser: resp.Body, ctx: ctx, status: resp.Status, done: done}
	return resp, nil
}

type tracedBody struct {
	io.ReadCloser
	ctx    context.Context
	status int
	n      int64
	done   func(status int, bytes int64, failed string)
}

func (b *tracedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n += int64(n)
	switch {
	case err == nil:
	case err == io.EOF:
		b.done(b.status, b.n, "")
	case b.ctx.Err() != nil:
		b.done(b.status, b.n, "cancelled")
	default:
		b.done(b.status, b.n, "broke off")
	}
	return n, err
}

func (b *tracedBody) Close() error {
	b.done(b.status, b.n, "")
	return b.ReadCloser.Close()
}
