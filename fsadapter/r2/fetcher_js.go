package r2

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall/js"

	"hudiscope/fsadapter/httprange"
	"hudiscope/fsadapter/internal/jswait"
)

// Fetcher sends requests for r2:// addresses to bound buckets, and all others to Next.
type Fetcher struct {
	// Bucket returns the bucket of a binding, undefined if there is none.
	Bucket func(binding string) js.Value
	Next   httprange.Fetcher
}

// notSatisfiable is in the message of the error for a range behind the end of an object.
const notSatisfiable = "(10039)"

// Fetch sends one request.
func (f Fetcher) Fetch(ctx context.Context, r *httprange.Request) (_ *httprange.Response, err error) {
	if !IsLocation(r.URL) {
		return f.Next.Fetch(ctx, r)
	}
	binding, key, list, err := split(r.URL)
	if err != nil {
		return nil, &httprange.NoAnswer{Err: err}
	}
	bucket := f.Bucket(binding)
	if bucket.Type() != js.TypeObject || bucket.Get("list").Type() != js.TypeFunction {
		return nil, &httprange.NoAnswer{Err: fmt.Errorf("no bucket is bound to %s", binding)}
	}
	defer func() { // a JavaScript exception
		if p := recover(); p != nil {
			e, ok := p.(js.Error)
			if !ok {
				panic(p)
			}
			err = &httprange.NoAnswer{Err: errors.New(e.Error())}
		}
	}()
	o := js.Global().Get("Object").New()
	switch {
	case list != nil:
		for _, name := range []string{"prefix", "delimiter", "cursor"} {
			if v := list.Get(name); v != "" {
				o.Set(name, v)
			}
		}
		got, err := jswait.Await(ctx, bucket.Call("list", o))
		if err != nil {
			return failed(ctx, r, err)
		}
		return pageOf(r, got)
	case r.Method == "HEAD":
		got, err := jswait.Await(ctx, bucket.Call("head", key))
		if err != nil {
			return failed(ctx, r, err)
		}
		if got.IsNull() {
			return answer(r, 404, nil, nil), nil
		}
		return answer(r, 200, map[string]string{"ETag": got.Get("httpEtag").String(), "Content-Length": fmt.Sprint(int64(got.Get("size").Float()))}, nil), nil
	}
	var from, to int64
	if r.Range != "" {
		if n, err := fmt.Sscanf(r.Range, "bytes=%d-%d", &from, &to); n != 2 || err != nil || from < 0 || to < from {
			return nil, &httprange.NoAnswer{Err: fmt.Errorf("the range %q is none", r.Range)}
		}
		span := js.Global().Get("Object").New()
		span.Set("offset", float64(from))
		span.Set("length", float64(to-from+1))
		o.Set("range", span)
	}
	got, err := jswait.Await(ctx, bucket.Call("get", key, o))
	if err != nil {
		if strings.Contains(err.Error(), notSatisfiable) {
			return answer(r, 416, nil, nil), nil
		}
		return failed(ctx, r, err)
	}
	if got.IsNull() {
		return answer(r, 404, nil, nil), nil
	}
	body, err := jswait.Await(ctx, got.Call("arrayBuffer"))
	if err != nil {
		return failed(ctx, r, err)
	}
	view := js.Global().Get("Uint8Array").New(body)
	b := make([]byte, view.Length())
	js.CopyBytesToGo(b, view)
	size := int64(got.Get("size").Float())
	h := map[string]string{"ETag": got.Get("httpEtag").String(), "Content-Length": fmt.Sprint(len(b))}
	if r.Range == "" || size == 0 {
		return answer(r, 200, h, b), nil
	}
	h["Content-Range"] = fmt.Sprintf("bytes %d-%d/%d", from, from+int64(len(b))-1, size)
	return answer(r, 206, h, b), nil
}

// failed is the answer for a rejected promise: the bucket's own failure may pass.
func failed(ctx context.Context, r *httprange.Request, err error) (*httprange.Response, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var t *jswait.Thrown
	if errors.As(err, &t) {
		return answer(r, 503, nil, []byte(t.Error())), nil
	}
	return nil, &httprange.NoAnswer{Err: err}
}

func answer(r *httprange.Request, status int, header map[string]string, body []byte) *httprange.Response {
	return &httprange.Response{Status: status, URL: r.URL, Header: func(name string) string { return header[name] }, Body: io.NopCloser(bytes.NewReader(body))}
}

// pageOf makes the JSON of a page.
func pageOf(r *httprange.Request, got js.Value) (*httprange.Response, error) {
	var p page
	objects := got.Get("objects")
	for i := range objects.Length() {
		o := objects.Index(i)
		p.Objects = append(p.Objects, object{o.Get("key").String(), int64(o.Get("size").Float()), o.Get("etag").String(), int64(o.Get("uploaded").Call("getTime").Float())})
	}
	prefixes := got.Get("delimitedPrefixes")
	for i := range prefixes.Length() {
		p.Prefixes = append(p.Prefixes, prefixes.Index(i).String())
	}
	if got.Get("truncated").Truthy() {
		p.Cursor = got.Get("cursor").String()
	}
	b, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	return answer(r, 200, map[string]string{"Content-Type": "application/json"}, b), nil
}
