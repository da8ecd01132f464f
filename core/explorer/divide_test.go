package explorer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/groupreader"
	"hudiscope/core/orcfile"
	"hudiscope/core/query"
	"hudiscope/core/spill"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
)

// servicePool is a pool of services of their own, which take requests and give chunks as bytes.
type servicePool struct {
	lanes []*Service
	parts atomic.Int64
	alone atomic.Int64
	// dies, if set, ends a program with that part.
	dies func(part int64) bool
}

func (p *servicePool) Width() int { return len(p.lanes) }

func (p *servicePool) Read(ctx context.Context, lane int, req *PartRequest, emit func([]byte) error) (*PartSummary, error) {
	b, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	var r PartRequest
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, err
	}
	n := p.parts.Add(1)
	sum, err := p.lanes[lane].ReadPart(ctx, &r, nil, func(chunk []byte) error {
		if p.dies != nil && p.dies(n) {
			return &PoolFault{&api.Fault{Kind: "internal", Message: "The program died.", Offset: -1}}
		}
		return emit(bytes.Clone(chunk))
	})
	if errors.Is(err, ErrAlone) {
		p.alone.Add(1)
	}
	if err != nil {
		return nil, err
	}
	if b, err = json.Marshal(sum); err != nil {
		return nil, err
	}
	var out PartSummary
	return &out, json.Unmarshal(b, &out)
}

func (p *servicePool) Facts(ctx context.Context, lane int, req *FactsRequest, progress func(int64)) (*Facts, error) {
	b, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	var r FactsRequest
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, err
	}
	n := p.parts.Add(1)
	if p.dies != nil && p.dies(n) {
		return nil, &PoolFault{&api.Fault{Kind: "internal", Message: "The program died.", Offset: -1}}
	}
	f, err := p.lanes[lane].ReadFacts(ctx, &r, progress)
	if errors.Is(err, ErrAlone) {
		p.alone.Add(1)
	}
	if err != nil {
		return nil, err
	}
	if b, err = json.Marshal(f); err != nil {
		return nil, err
	}
	var out Facts
	return &out, json.Unmarshal(b, &out)
}

func openTestORC(ctx context.Context, obj storage.Object, path string) (groupreader.BaseFile, error) {
	return orcfile.Open(ctx, obj, path)
}

// dividing are services over the test tables: one that reads slice by slice, one that reads side by side in
// goroutines, and one with a pool.
func dividing(t testing.TB, merge int64) (one, many, pooled *Service, pool *servicePool) {
	t.Helper()
	if runtime.GOMAXPROCS(0) < 3 {
		old := runtime.GOMAXPROCS(3)
		t.Cleanup(func() { runtime.GOMAXPROCS(old) })
	}
	o := Options{MergeBytes: merge, Spill: func(context.Context) (spill.Store, error) { return spill.Memory(0), nil }, ORC: openTestORC, DividedBytes: 1, Lanes: 1}
	service := func(o Options) *Service {
		files := map[string]*tabletest.Files{}
		return New(func(_ context.Context, location string) (storage.Source, error) {
			name, _, _ := strings.Cut(location, "/")
			if files[name] == nil {
				files[name] = tabletest.Open(t, name)
			}
			return files[name], nil
		}, o)
	}
	one = service(o)
	pool = &servicePool{lanes: []*Service{service(o), service(o), service(o)}}
	o.Lanes = 3
	many = service(o)
	o.Pool = pool
	return one, many, service(o), pool
}

// asked is everything that a service answers to requests for whole tables, as text.
func asked(t *testing.T, s *Service, location string, columns []api.Column) map[string]string {
	t.Helper()
	out := map[string]string{}
	note := func(what string, v any, err error) {
		b, e := json.Marshal(v)
		if e != nil {
			t.Fatal(e)
		}
		if err != nil {
			b, _ = json.Marshal(ToFault(err))
		}
		out[what] = string(b)
	}
	ctx := t.Context()
	req := api.RowsRequest{Table: api.Table{Location: location}, Limit: maxRows}
	options := []map[string]string{nil, {"hoodie.datasource.query.type": "read_optimized"}, {"hoodie.datasource.merge.type": "skip_merge"}}
	for i, o := range options {
		req.Options = o
		rows, err := s.Rows(ctx, req)
		note(fmt.Sprint("rows ", i), rows, err)
	}
	req.Options = nil
	r := req
	r.Offset, r.Limit, r.Text = 3, 7, true
	rows, err := s.Rows(ctx, r)
	note("a page as text", rows, err)
	r.Offset = 1 << 40
	rows, err = s.Rows(ctx, r)
	note("the count", rows, err)
	stats, err := s.ColumnStats(ctx, api.ColumnStatsRequest{Table: req.Table})
	note("statistics", stats, err)
	for i, c := range columns {
		if c.Meta && c.Name != "_hoodie_record_key" || i > 9 {
			continue
		}
		r := req
		r.Where = "`" + c.Name + "` is not null"
		rows, err := s.Rows(ctx, r)
		note("where "+c.Name, rows, err)
		r.Order = []api.SortKey{{Column: c.Name, Desc: i%2 == 0}}
		r.Columns = []string{columns[0].Name, columns[len(columns)-1].Name}
		rows, err = s.Rows(ctx, r)
		note("order by "+c.Name, rows, err)
	}
	for _, format := range []string{"jsonl", "csv", "parquet"} {
		for i, limit := range [][2]int{{0, 0}, {2, 5}} {
			var b bytes.Buffer
			x := api.ExportRequest{RowsRequest: req, Format: format}
			x.Offset, x.Limit = int64(limit[0]), limit[1]
			done, err := s.ExportTo(ctx, x, func(string, string) io.Writer { return &b })
			note(fmt.Sprint(format, i), struct {
				Bytes []byte
				Done  *api.ExportChunk
			}{b.Bytes(), done}, err)
		}
	}
	return out
}

// TestDividedReads asks the same of services that read slice by slice, side by side, and by a pool of other
// services: each answer is the same, byte for byte.
func TestDividedReads(t *testing.T) {
	old := soon
	soon = 0 // every read is a long one
	defer func() { soon = old }()
	one, many, pooled, pool := dividing(t, 64<<20)
	answers, divided := 0, 0
	for _, name := range tabletest.Some(tabletest.Names(t, "")) {
		if fi, err := os.Stat(filepath.Join(tabletest.Dir(), "tables", name+".zip")); err != nil || fi.Size() > 4<<20 {
			continue
		}
		rows, err := one.Rows(t.Context(), api.RowsRequest{Table: api.Table{Location: name}})
		var columns []api.Column
		if err == nil {
			columns = rows.Columns
		}
		want := asked(t, one, name, columns)
		before := pool.parts.Load()
		for i, s := range []*Service{many, pooled} {
			got := asked(t, s, name, columns)
			for what, w := range want {
				answers++
				if got[what] != w {
					t.Errorf("%s, service %d, %s:\n got %.600s\nwant %.600s", name, i, what, got[what], w)
				}
			}
		}
		if pool.parts.Load() > before {
			divided++
		}
		for _, s := range append([]*Service{one, many, pooled}, pool.lanes...) {
			if _, err := s.Close(t.Context(), api.CloseRequest{Table: api.Table{Location: name}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d answers, %d tables were read by the pool in %d parts, %d of them alone", answers, divided, pool.parts.Load(), pool.alone.Load())
	if divided < 5 {
		t.Errorf("the pool has read %d tables", divided)
	}
}

// TestShareOfMemory: slices that do not fit their share of the memory are read alone, with all of it, so that the rows
// come in the order of one reader, unless their logs are so large that they are spilled anyhow.
func TestShareOfMemory(t *testing.T) {
	old := mergedSize
	defer func() { mergedSize = old }()
	alone := int64(0)
	for _, merge := range []int64{1 << 10, 3 << 10, 4 << 10, 6 << 10, -4 << 10} {
		if mergedSize = 0; merge < 0 {
			merge, mergedSize = -merge, old
		}
		one, many, pooled, pool := dividing(t, merge)
		var stores, ones atomic.Int64
		counts := func(n *atomic.Int64) spill.Open {
			return func(context.Context) (spill.Store, error) { n.Add(1); return spill.Memory(0), nil }
		}
		one.opts.Spill = counts(&ones)
		for _, s := range append([]*Service{many, pooled}, pool.lanes...) {
			s.opts.Spill = counts(&stores)
		}
		tables, spilled := 0, 0
		for _, name := range tabletest.Some(tabletest.Names(t, "snapshot.jsonl")) {
			if fi, err := os.Stat(filepath.Join(tabletest.Dir(), "tables", name+".zip")); err != nil || fi.Size() > 1<<20 {
				continue
			}
			req := api.ExportRequest{RowsRequest: api.RowsRequest{Table: api.Table{Location: name}}, Format: "jsonl"}
			ones.Store(0)
			var w bytes.Buffer
			_, err := one.ExportTo(t.Context(), req, func(string, string) io.Writer { return &w })
			if err != nil {
				continue
			}
			h, err := one.open(t.Context(), req.Table)
			if err != nil {
				t.Fatal(err)
			}
			p, err := one.prepare(t.Context(), h, readRequest{}, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			large := slices.ContainsFunc(p.Parts, func(x query.Part) bool { return mergedSize*x.Slice.LogBytes > merge })
			tables++
			for i, s := range []*Service{many, pooled} {
				stores.Store(0)
				var b bytes.Buffer
				if _, err := s.ExportTo(t.Context(), req, func(string, string) io.Writer { return &b }); err != nil {
					t.Fatalf("%s with %d bytes, service %d: %v", name, merge, i, err)
				}
				g, h := strings.Split(b.String(), "\n"), strings.Split(w.String(), "\n")
				switch {
				case ones.Load() > 0 || large:
					// The order of rows that were spilled is nobody's promise.
					slices.Sort(g)
					slices.Sort(h)
				case stores.Load() > 0:
					t.Errorf("%s with %d bytes: %d stores were opened, where one reader opens none", name, merge, stores.Load())
				}
				if ones.Load() > 0 {
					spilled++
				}
				if !slices.Equal(g, h) {
					t.Errorf("%s with %d bytes, service %d: rows differ", name, merge, i)
				}
			}
		}
		t.Logf("%d bytes: %d tables, %d reads spilled by one reader; %d parts of %d were read alone", merge, tables, spilled, pool.alone.Load(), pool.parts.Load())
		if alone += pool.alone.Load(); tables < 5 {
			t.Errorf("%d tables", tables)
		}
	}
	if alone == 0 {
		t.Error("no part was read alone")
	}
}

// TestPoolEnds: a program that dies is a fault that is told; a request that is cancelled ends in all programs.
func TestPoolEnds(t *testing.T) {
	_, _, pooled, pool := dividing(t, 64<<20)
	req := api.ColumnStatsRequest{Table: api.Table{Location: "mor_trips_h120"}}
	pool.dies = func(part int64) bool { return part == 2 }
	_, err := pooled.ColumnStats(t.Context(), req)
	if f := ToFault(err); err == nil || f.Message != "The program died." {
		t.Errorf("a program that died: %v", err)
	}
	pool.dies = nil
	if _, err := pooled.ColumnStats(t.Context(), req); err != nil {
		t.Errorf("after it: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := pool.parts.Load()
	pool.dies = func(part int64) bool {
		if part > n {
			cancel()
		}
		return false
	}
	if _, err := pooled.ColumnStats(ctx, req); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	pool.dies = nil
	// A table that has changed since the plan was made is read by who made it.
	other := tabletest.Open(t, "mor_trips_h120").Clone()
	for _, p := range other.Paths() {
		if strings.Contains(p, ".hoodie/") && strings.HasSuffix(p, ".deltacommit") {
			other.Remove(p) // the oldest
			break
		}
	}
	for _, s := range pool.lanes {
		s.resolve = func(context.Context, string) (storage.Source, error) { return other, nil }
		if _, err := s.Close(t.Context(), api.CloseRequest{Table: req.Table}); err != nil {
			t.Fatal(err)
		}
	}
	want, err := pooled.Rows(t.Context(), api.RowsRequest{Table: req.Table, Limit: maxRows})
	if err != nil {
		t.Fatal(err)
	}
	alone := pool.alone.Load()
	got, err := pooled.ColumnStats(t.Context(), req)
	if err != nil || got.Rows != want.Total || pool.alone.Load() == alone {
		t.Errorf("a changed table: %v, %v, %d parts alone", got, err, pool.alone.Load()-alone)
	}
}
