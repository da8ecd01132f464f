//go:build !js

package httprange

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
)

// NewFetcher returns the Fetcher of this platform, here over net/http.
func NewFetcher() Fetcher {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 8
	return &nativeFetcher{http.Client{Transport: t, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) >= 10 {
			return errors.New("more than 10 redirects")
		}
		req.Header.Del("Referer") // it would carry the query of the first URL
		return nil
	}}}
}

type nativeFetcher struct{ c http.Client }

// CloseIdle closes connections that are kept for later requests.
func (f *nativeFetcher) CloseIdle() { f.c.CloseIdleConnections() }

func (f *nativeFetcher) Fetch(ctx context.Context, r *Request) (*Response, error) {
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, body)
	if err != nil {
		return nil, &NoAnswer{Err: cause(err)}
	}
	if r.Range != "" {
		req.Header.Set("Range", r.Range)
		req.Header.Set("Accept-Encoding", "identity")
	}
	if r.Accept != "" {
		req.Header.Set("Accept", r.Accept)
	}
	if r.Depth != "" {
		req.Header.Set("Depth", r.Depth)
	}
	if r.Authorization != "" {
		req.Header.Set("Authorization", r.Authorization) // net/http drops it when redirected to another host
	}
	if r.ContentType != "" {
		req.Header.Set("Content-Type", r.ContentType)
	}
	resp, err := f.c.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &NoAnswer{Err: cause(err)}
	}
	return &Response{
		Status:  resp.StatusCode,
		URL:     resp.Request.URL.String(),
		Header:  resp.Header.Get,
		Body:    resp.Body,
		Decoded: resp.Uncompressed,
	}, nil
}

// cause takes off the wrapper that repeats the URL, query and all.
func cause(err error) error {
	var u *url.Error
	for errors.As(err, &u) {
		err = u.Err
	}
	if errors.Is(err, io.EOF) {
		return errors.New("the server closed the connection without an answer")
	}
	return err
}
