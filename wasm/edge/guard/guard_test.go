package guard

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/storage"
	"hudiscope/fsadapter/httprange"
)

// plain sends requests and does not follow redirects.
type plain struct{}

func (plain) Fetch(ctx context.Context, r *httprange.Request) (*httprange.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, nil)
	if err != nil {
		return nil, err
	}
	if r.Range != "" {
		req.Header.Set("Range", r.Range)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, &httprange.NoAnswer{Err: err}
	}
	return &httprange.Response{Status: res.StatusCode, URL: r.URL, Header: res.Header.Get, Body: res.Body}, nil
}

// reader reads whole files through httprange, as the service does.
type reader struct{ src storage.Source }

func (s reader) Do(ctx context.Context, _ api.Op, args []byte, _ func(api.Progress)) (any, error) {
	b, err := storage.ReadAll(ctx, s.src, string(args), 0)
	return string(b), err
}

func setup(t *testing.T, limit int) (do func(file string) (any, error), g *Guard, outside *atomic.Int32) {
	t.Helper()
	outside = new(atomic.Int32)
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { outside.Add(1); io.WriteString(w, "secret") }))
	t.Cleanup(foreign.Close)
	mux := http.NewServeMux()
	origin := httptest.NewServer(mux)
	t.Cleanup(origin.Close)
	mux.HandleFunc("/tables/x", func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Unix(1, 0), strings.NewReader("content"))
	})
	mux.HandleFunc("/tables/inside", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "x", http.StatusFound) })
	mux.HandleFunc("/tables/outside", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, foreign.URL+"/tables/x", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/tables/private", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "../private/x", http.StatusMovedPermanently)
	})
	mux.HandleFunc("/tables/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/tables/loop", http.StatusFound) })
	mux.HandleFunc("/private/x", func(w http.ResponseWriter, r *http.Request) { outside.Add(1); io.WriteString(w, "secret") })
	g = &Guard{Next: plain{}, Limit: limit, Allow: func(u string) bool { return strings.HasPrefix(u, origin.URL+"/tables/") }}
	src, err := httprange.New(origin.URL+"/tables/", httprange.Options{Fetcher: g})
	if err != nil {
		t.Fatal(err)
	}
	d := g.Around(reader{src})
	return func(file string) (any, error) { return d.Do(t.Context(), "", []byte(file), nil) }, g, outside
}

func TestAllowed(t *testing.T) {
	do, g, _ := setup(t, 10)
	for _, file := range []string{"x", "inside"} {
		if got, err := do(file); err != nil || got != "content" {
			t.Errorf("%s: %q %v", file, got, err)
		}
	}
	if n := g.Sent(); n < 3 || n > 8 {
		t.Errorf("%d requests counted", n)
	}
}

func TestRefused(t *testing.T) {
	for file, kind := range map[string]string{"outside": "forbidden", "private": "forbidden", "loop": "unreachable"} {
		do, _, outside := setup(t, 10)
		got, err := do(file)
		var f *api.Fault
		if !errors.As(err, &f) || f.Kind != kind {
			t.Errorf("%s: %v %v", file, got, err)
		}
		if outside.Load() != 0 {
			t.Errorf("%s: a request went outside", file)
		}
	}
}

func TestLimit(t *testing.T) {
	do, g, _ := setup(t, 3)
	var f *api.Fault
	for range 10 {
		if _, err := do("x"); err != nil {
			if !errors.As(err, &f) || f.Kind != "limit" {
				t.Fatal(err)
			}
			break
		}
	}
	if f == nil || g.Sent() != 3 {
		t.Errorf("%d requests sent, fault %v", g.Sent(), f)
	}
}
