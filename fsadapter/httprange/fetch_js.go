//go:build js

package httprange

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall/js"

	"hudiscope/fsadapter/internal/jswait"
)

// NewFetcher returns the Fetcher of this platform, here over the fetch function of a
// browser, a worker or Node. net/http is not used: it can't set the cache mode, keeps
// reading when a context ends, and takes a cut body for a whole one.
func NewFetcher() Fetcher { return jsFetcher{} }

type jsFetcher struct{}

func (jsFetcher) Fetch(ctx context.Context, r *Request) (_ *Response, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer func() { // a JavaScript exception, such as a URL that is none
		if p := recover(); p != nil {
			e, ok := p.(js.Error)
			if !ok {
				panic(p)
			}
			err = &NoAnswer{Err: errors.New(plain(&jswait.Thrown{Value: e.Value}, r.URL))}
		}
	}()
	headers := js.Global().Get("Object").New()
	set := func(name, v string) {
		if v != "" {
			headers.Set(name, v)
		}
	}
	set("Range", r.Range)
	set("Accept", r.Accept)
	set("Depth", r.Depth)
	set("Authorization", r.Authorization)
	set("Content-Type", r.ContentType)
	abort := js.Global().Get("AbortController").New()
	init := js.Global().Get("Object").New()
	init.Set("method", r.Method)
	init.Set("headers", headers)
	if r.Body != nil {
		body := js.Global().Get("Uint8Array").New(len(r.Body))
		js.CopyBytesToJS(body, r.Body)
		init.Set("body", body)
	}
	init.Set("signal", abort.Get("signal"))
	if !isEdge() {
		// Without no-store, Chromium reads ranges of one URL one after the other.
		init.Set("cache", "no-store")
		init.Set("credentials", "omit")
		init.Set("referrerPolicy", "no-referrer")
	}
	stop := context.AfterFunc(ctx, func() { abort.Call("abort") })
	// Invoke, not Call: fetch must not get a wrapper of the global object as its receiver.
	resp, err := jswait.Await(ctx, js.Global().Get("fetch").Invoke(r.URL, init))
	if err != nil {
		stop()
		abort.Call("abort")
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &NoAnswer{Opaque: true, Err: errors.New(plain(err, r.URL))}
	}
	url := resp.Get("url").String()
	if url == "" {
		url = r.URL
	}
	h := resp.Get("headers")
	out := &Response{
		Status: resp.Get("status").Int(),
		URL:    url,
		Header: func(name string) string {
			if v := h.Call("get", name); v.Type() == js.TypeString {
				return v.String()
			}
			return ""
		},
		Decoded: true,
	}
	b := &jsBody{ctx: ctx, abort: abort, stop: stop, url: r.URL}
	if s := resp.Get("body"); s.Truthy() {
		b.reader = s.Call("getReader")
	} else {
		b.end = io.EOF
	}
	out.Body = b
	return out, nil
}

// isEdge reports whether this is an edge worker, whose fetch has no cache mode and
// refuses the fields for it.
func isEdge() bool {
	n := js.Global().Get("navigator")
	if !n.Truthy() {
		return false
	}
	ua := n.Get("userAgent")
	return ua.Type() == js.TypeString && ua.String() == "Cloudflare-Workers"
}

// plain is the text of an error, without the URL.
func plain(err error, url string) string {
	return strings.ReplaceAll(err.Error(), url, "the address")
}

// jsBody reads a response as it arrives.
type jsBody struct {
	ctx    context.Context
	abort  js.Value
	stop   func() bool
	url    string
	reader js.Value
	chunk  js.Value // Uint8Array
	at, n  int
	end    error
}

func (b *jsBody) Read(p []byte) (int, error) {
	for {
		if err := b.ctx.Err(); err != nil {
			return 0, err
		}
		if b.at < b.n {
			n := min(len(p), b.n-b.at)
			js.CopyBytesToGo(p[:n], b.chunk.Call("subarray", b.at, b.at+n))
			b.at += n
			return n, nil
		}
		if b.end != nil || len(p) == 0 {
			return 0, b.end
		}
		r, err := jswait.Await(b.ctx, b.reader.Call("read"))
		if err != nil {
			if b.ctx.Err() != nil {
				return 0, b.ctx.Err()
			}
			b.end = errors.New("the answer broke off: " + plain(err, b.url))
			continue
		}
		if r.Get("done").Bool() {
			b.end = io.EOF
			continue
		}
		b.chunk = r.Get("value")
		b.at, b.n = 0, b.chunk.Get("length").Int()
	}
}

// Close ends the request; unread bytes are not waited for.
func (b *jsBody) Close() error {
	b.stop()
	if b.end == nil {
		b.end = io.ErrClosedPipe
		b.abort.Call("abort")
	}
	b.at = b.n
	return nil
}
