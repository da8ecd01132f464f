//go:build !js

package s3

import (
	"context"
	"net"
	"net/http"
	"strings"

	"hudiscope/fsadapter/httprange"
)

// via sends every request to one server, whatever host it names.
func via(server string) httprange.Fetcher {
	addr := strings.TrimPrefix(server, "http://")
	return fetcher{&http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, addr)
	}}}}
}

type fetcher struct{ c *http.Client }

func (f fetcher) Fetch(ctx context.Context, r *httprange.Request) (*httprange.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, strings.Replace(r.URL, "https://", "http://", 1), nil)
	if err != nil {
		return nil, err
	}
	if r.Range != "" {
		req.Header.Set("Range", r.Range)
	}
	resp, err := f.c.Do(req)
	if err != nil {
		return nil, err
	}
	return &httprange.Response{Status: resp.StatusCode, URL: r.URL, Header: resp.Header.Get, Body: resp.Body}, nil
}
