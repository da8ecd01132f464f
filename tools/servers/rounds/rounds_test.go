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

	"github.com/linkedin/goavro/v2"

	"hudiscope/core/api"
	"hudiscope/core/explorer"
	"hudiscope/core/hfile"
	"hudiscope/core/hfile/hfiletest"
	"hudiscope/core/metatable"
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

	began    time.Time
	mu       sync.Mutex
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
	resp := w.Result()
	b := w.Body.Bytes()
	// A request counts from when it is sent, also one that is given up.
	l.mu.Lock()
	l.requests = append(l.requests, fmt.Sprintf("%5s %s %s %s → %d, %d bytes", time.Since(l.began), r.Method, req.URL.Path, r.Range, resp.StatusCode, len(b)))
	l.bytes += int64(len(b))
	l.mu.Unlock()
	select {
	case <-time.After(rtt):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
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
// address on. Requests for what may be looked at next count, rounds end with the answer. Whoever makes
// them less lowers them. Rows read the newest four commits, to tell files that are missing. Two rounds to the timeline and three to the slices are promised.
var guards = []struct {
	table                  string
	open                   func(t *testing.T, name string) *tabletest.Files
	timeline, slices, rows cost
}{
	{"cow_trips_h102", open, cost{7, 1, 18}, cost{8, 2, 14}, cost{14, 3, 49}},
	{"mor_trips_h120", open, cost{7, 1, 18}, cost{8, 2, 14}, cost{28, 6, 89}},
	{"mdt_full_h120", open, cost{7, 1, 18}, cost{8, 2, 13}, cost{21, 5, 64}},
	{"mor_compacted_h0150", open, cost{7, 1, 12}, cost{8, 2, 13}, cost{15, 4, 43}},
	{"part_hive_two_level_h120", open, cost{7, 1, 17}, cost{14, 3, 13}, cost{25, 6, 74}},
	{"mdt_full_h120 with 200 partitions", wide, cost{7, 1, 25}, cost{14, 3, 175}, cost{92, 20, 540}},
}

// sparing is how the edge worker asks: nothing before it is known to be needed.
var sparing = []struct {
	table                  string
	open                   func(t *testing.T, name string) *tabletest.Files
	timeline, slices, rows cost
}{
	{"mor_trips_h120", open, cost{3, 2, 3}, cost{6, 3, 5}, cost{27, 22, 89}},
	{"mdt_full_h120 with 200 partitions", wide, cost{3, 2, 11}, cost{12, 11, 166}, cost{84, 82, 507}},
}

func open(t *testing.T, name string) *tabletest.Files { return tabletest.Open(t, name) }

func TestRounds(t *testing.T) {
	for _, g := range guards {
		t.Run(g.table, func(t *testing.T) {
			measure(t, g.open, g.table, explorer.Options{Ahead: true, Next: true}, g.timeline, g.slices, g.rows)
		})
	}
}

func TestSparing(t *testing.T) {
	for _, g := range sparing {
		t.Run(g.table, func(t *testing.T) {
			measure(t, g.open, g.table, explorer.Options{}, g.timeline, g.slices, g.rows)
		})
	}
}

// TestAhead: asking ahead, and listing by the metadata table, never takes more rounds than asking for each thing when
// it is needed.
func TestAhead(t *testing.T) {
	for _, g := range guards {
		name, _, _ := strings.Cut(g.table, " ")
		for _, step := range steps {
			t.Run(g.table+"/"+step.name, func(t *testing.T) {
				before, _ := costOf(t, g.open(t, name), explorer.Options{MetadataFrom: -1}, step.ask)
				now, requests := costOf(t, g.open(t, name), explorer.Options{Ahead: true, Next: true}, step.ask)
				t.Logf("%v, and %v before", now, before)
				if now.rounds > before.rounds {
					t.Errorf("%v is more rounds than %v:\n%s", now, before, strings.Join(requests, "\n"))
				}
			})
		}
	}
}

// steps are what is asked for, each from the address of a table on.
var steps = []struct {
	name string
	ask  func(ctx context.Context, s *explorer.Service, t api.Table) error
}{
	{"timeline", func(ctx context.Context, s *explorer.Service, t api.Table) error {
		a, err := s.Timeline(ctx, api.TimelineRequest{Table: t})
		if err == nil && len(a.Active) == 0 {
			err = fmt.Errorf("no instants")
		}
		return err
	}},
	{"slices", func(ctx context.Context, s *explorer.Service, t api.Table) error {
		a, err := s.Files(ctx, api.FilesRequest{Table: t})
		if err == nil && len(a.Partitions) == 0 {
			err = fmt.Errorf("no partitions")
		}
		return err
	}},
	{"rows", func(ctx context.Context, s *explorer.Service, t api.Table) error {
		a, err := s.Rows(ctx, api.RowsRequest{Table: t, Limit: 100})
		if err == nil && len(a.Rows) == 0 {
			err = fmt.Errorf("no rows")
		}
		return err
	}},
}

// measure holds the steps to their guards, in their order.
func measure(t *testing.T, open func(*testing.T, string) *tabletest.Files, table string, o explorer.Options, guards ...cost) {
	name, _, _ := strings.Cut(table, " ")
	for i, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			got, requests := costOf(t, open(t, name), o, step.ask)
			t.Logf("%d requests, %d rounds, %d kB", got.requests, got.rounds, got.kilobytes)
			if got.over(guards[i]) {
				t.Errorf("%v is more than the guard %v:\n%s", got, guards[i], strings.Join(requests, "\n"))
			} else if got != guards[i] {
				t.Logf("less than the guard %v: lower it", guards[i])
			}
		})
	}
}

// costOf is what asking costs over the link, with what it asks for ahead, and the requests.
func costOf(t *testing.T, files *tabletest.Files, o explorer.Options, ask func(context.Context, *explorer.Service, api.Table) error) (got cost, requests []string) {
	synctest.Test(t, func(t *testing.T) {
		tables := &server.Tables{}
		if err := tables.Add("table", files); err != nil {
			t.Fatal(err)
		}
		l := &link{h: server.New(server.Config{Tables: tables}), slots: make(chan struct{}, connections), began: time.Now()}
		f := fsadapter.Options{HTTP: httprange.Options{Fetcher: l}}
		s := explorer.New(func(ctx context.Context, location string) (storage.Source, error) {
			return fsadapter.OpenURLWith(ctx, location, f)
		}, o)
		place := api.Table{Location: "http://table.example/tables/table/"}
		if err := ask(t.Context(), s, place); err != nil {
			t.Fatal(err)
		}
		took := time.Since(l.began)
		time.Sleep(time.Minute) // whatever was asked for ahead
		l.mu.Lock()
		defer l.mu.Unlock()
		got = cost{len(l.requests), int((took + rtt - 1) / rtt), int((l.bytes + 999) / 1000)}
		requests = l.requests
		if _, err := s.Close(t.Context(), api.CloseRequest{Table: place}); err != nil {
			t.Error(err)
		}
	})
	return got, requests
}

// widePartitions is how many partitions wide adds.
const widePartitions = 200

// wide is a table with a metadata table and many more partitions: copies of the partition chennai, which
// the base file of the metadata table's files partition lists.
func wide(t *testing.T, name string) *tabletest.Files {
	const files = ".hoodie/metadata/files/"
	src := tabletest.Open(t, name)
	var data []string
	base := ""
	for _, p := range src.Paths() {
		if strings.HasPrefix(p, "chennai/") {
			data = append(data, p)
		}
		if strings.HasPrefix(p, files) && strings.HasSuffix(p, ".hfile") {
			base = p
		}
	}
	obj, err := src.Open(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	defer obj.Close()
	h, err := hfile.Open(t.Context(), obj, base, 0)
	if err != nil {
		t.Fatal(err)
	}
	codec, err := goavro.NewCodec(h.SchemaText())
	if err != nil {
		t.Fatal(err)
	}
	// A record is that of the schema with all but the type and the files null.
	record := func(kind int, list map[string]int64) []byte {
		entries := map[string]any{}
		for n, size := range list {
			entries[n] = map[string]any{"size": size, "isDeleted": false}
		}
		b, err := codec.BinaryFromNative(nil, map[string]any{"key": "", "type": kind,
			"filesystemMetadata": goavro.Union("map", entries)})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	partitions, listed := map[string]int64{}, map[string]int64{}
	for _, p := range data {
		if !strings.HasSuffix(p, "_metadata") {
			listed[strings.TrimPrefix(p, "chennai/")] = int64(len(src.Bytes(p)))
		}
	}
	var cells []hfiletest.Cell
	for i := range widePartitions {
		p := fmt.Sprintf("p%03d", i)
		partitions[p] = 0
		cells = append(cells, hfiletest.Cell{Key: []byte(p), Value: record(2, listed)})
		for _, f := range data {
			src.Put(p+strings.TrimPrefix(f, "chennai"), src.Bytes(f))
		}
	}
	cells = append([]hfiletest.Cell{{Key: []byte(metatable.AllPartitions), Value: record(1, partitions)}}, cells...)
	src.Put(base, hfiletest.Write(cells, hfiletest.Options{Info: map[string]string{"schema": h.SchemaText()}}))
	return src
}
