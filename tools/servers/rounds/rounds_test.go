// Package rounds measures what it takes to see a table: requests, bytes, and round trips at 50 ms,
// from the address to the timeline, the file slices and the rows. The numbers are guarded.
package rounds

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/explorer"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
	"hudiscope/fsadapter"
	"hudiscope/fsadapter/httprange"
	"hudiscope/web/httpapi/server"
)

// rtt is the time of one request, whatever it brings; connections is how many a browser opens to one
// host. Time is simulated: it goes on only when every goroutine waits, so that computing takes none.
const (
	rtt         = 50 * time.Millisecond
	connections = 6
)

// link is a Fetcher that asks a handler without a network, and counts.
type link struct {
	h     http.Handler
	slots chan struct{}

	mu       sync.Mutex
	began    time.Time
	requests []string
	bytes    int64
}

func (l *link) Fetch(ctx context.Context, r *httprange.Request) (*httprange.Response, error) {
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-l.slots }()
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, nil)
	if err != nil {
		return nil, &httprange.NoAnswer{Err: err}
	}
	req.RequestURI = req.URL.RequestURI()
	for name, v := range map[string]string{"Range": r.Range, "Accept": r.Accept} {
		if v != "" {
			req.Header.Set(name, v)
		}
	}
	w := httptest.NewRecorder()
	l.h.ServeHTTP(w, req)
	select {
	case <-time.After(rtt):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	resp := w.Result()
	b := w.Body.Bytes()
	l.mu.Lock()
	l.requests = append(l.requests, fmt.Sprintf("%s %s %s %s → %d, %d bytes", time.Since(l.began), r.Method, req.URL.Path, r.Range, resp.StatusCode, len(b)))
	l.bytes += int64(len(b))
	l.mu.Unlock()
	return &httprange.Response{Status: resp.StatusCode, URL: r.URL, Header: resp.Header.Get, Body: io.NopCloser(bytes.NewReader(b))}, nil
}

// cost is what it took, from the address on.
type cost struct{ requests, rounds, kilobytes int }

func (c cost) String() string {
	return fmt.Sprintf("{%d, %d, %d}", c.requests, c.rounds, c.kilobytes)
}

// over reports whether c is more than the guard g in anything.
func (c cost) over(g cost) bool {
	return c.requests > g.requests || c.rounds > g.rounds || c.kilobytes > g.kilobytes
}

// The guards: requests, rounds and kilobytes to the first timeline, slices and rows, each from the
// address on. Whoever makes them less lowers them. Two rounds to the timeline and three to the slices
// are promised.
var guards = []struct {
	table                  string
	timeline, slices, rows cost
}{
	{"cow_trips_h102", cost{3, 2, 4}, cost{6, 3, 5}, cost{10, 7, 35}},
	{"mdt_full_h120", cost{3, 2, 4}, cost{6, 3, 5}, cost{18, 15, 55}},
	{"mor_compacted_h0150", cost{3, 2, 4}, cost{6, 3, 5}, cost{11, 8, 34}},
}

func TestRounds(t *testing.T) {
	for _, g := range guards {
		for _, step := range []struct {
			name  string
			guard cost
			ask   func(ctx context.Context, s *explorer.Service, t api.Table) error
		}{
			{"timeline", g.timeline, func(ctx context.Context, s *explorer.Service, t api.Table) error {
				a, err := s.Timeline(ctx, api.TimelineRequest{Table: t})
				if err == nil && len(a.Active) == 0 {
					err = fmt.Errorf("no instants")
				}
				return err
			}},
			{"slices", g.slices, func(ctx context.Context, s *explorer.Service, t api.Table) error {
				a, err := s.Files(ctx, api.FilesRequest{Table: t})
				if err == nil && len(a.Partitions) == 0 {
					err = fmt.Errorf("no partitions")
				}
				return err
			}},
			{"rows", g.rows, func(ctx context.Context, s *explorer.Service, t api.Table) error {
				a, err := s.Rows(ctx, api.RowsRequest{Table: t, Limit: 100})
				if err == nil && len(a.Rows) == 0 {
					err = fmt.Errorf("no rows")
				}
				return err
			}},
		} {
			t.Run(g.table+"/"+step.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					tables := &server.Tables{}
					if err := tables.Add("table", tabletest.Open(t, g.table)); err != nil {
						t.Fatal(err)
					}
					l := &link{h: server.New(server.Config{Tables: tables}), slots: make(chan struct{}, connections), began: time.Now()}
					o := fsadapter.Options{HTTP: httprange.Options{Fetcher: l}}
					s := explorer.New(func(ctx context.Context, location string) (storage.Source, error) {
						return fsadapter.OpenURLWith(ctx, location, o)
					}, explorer.Options{})
					began := time.Now()
					place := api.Table{Location: "http://table.example/tables/table/"}
					if err := step.ask(t.Context(), s, place); err != nil {
						t.Fatal(err)
					}
					took := time.Since(began)
					got := cost{len(l.requests), int((took + rtt - 1) / rtt), int((l.bytes + 999) / 1000)}
					t.Logf("%s, %s: %d requests, %d rounds (%s), %d kB\n%s", g.table, step.name, got.requests, got.rounds, took, got.kilobytes, strings.Join(l.requests, "\n"))
					if got.over(step.guard) {
						t.Errorf("%v is more than the guard %v:\n%s", got, step.guard, strings.Join(l.requests, "\n"))
					} else if got != step.guard {
						t.Logf("less than the guard %v: lower it", step.guard)
					}
					if _, err := s.Close(t.Context(), api.CloseRequest{Table: place}); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}
