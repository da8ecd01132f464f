package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/explorer"
	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/fsadapter/dir"
)

// counting counts what is asked of a source.
type counting struct {
	storage.Source
	requests, bytes atomic.Int64
}

func (c *counting) List(ctx context.Context, dir string) (storage.Listing, error) {
	c.requests.Add(1)
	return c.Source.List(ctx, dir)
}

func (c *counting) Open(ctx context.Context, path string) (storage.Object, error) {
	c.requests.Add(1)
	o, err := c.Source.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return &countedObject{o, c}, nil
}

type countedObject struct {
	storage.Object
	c *counting
}

func (o *countedObject) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	o.c.requests.Add(1)
	n, err := o.Object.ReadAt(ctx, p, off)
	o.c.bytes.Add(int64(n))
	return n, err
}

// cost is what an operation took.
type cost struct{ requests, bytes, mallocs, allocated float64 }

// ask does an operation on a table with a service of its own.
func ask(t *testing.T, folder string, remote bool, op func(ctx context.Context, s *explorer.Service, table api.Table) (int64, error)) (c cost, answer int64) {
	t.Helper()
	src, err := dir.New(folder)
	if err != nil {
		t.Fatal(err)
	}
	counted := &counting{Source: src}
	s := explorer.New(func(context.Context, string) (storage.Source, error) {
		if remote {
			return cache.New(counted, cache.Options{}), nil
		}
		return counted, nil
	}, explorer.Options{MergeBytes: 64 * mib})
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if answer, err = op(t.Context(), s, api.Table{Location: "x"}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return cost{float64(counted.requests.Load()), float64(counted.bytes.Load()), float64(after.Mallocs - before.Mallocs), float64(after.TotalAlloc - before.TotalAlloc)}, answer
}

type operation struct {
	name string
	do   func(ctx context.Context, s *explorer.Service, table api.Table) (int64, error)
}

var operations = []operation{
	{"timeline", func(ctx context.Context, s *explorer.Service, table api.Table) (int64, error) {
		a, err := s.Timeline(ctx, api.TimelineRequest{Table: table})
		if err != nil {
			return 0, err
		}
		return int64(a.Total), nil
	}},
	{"slices", func(ctx context.Context, s *explorer.Service, table api.Table) (int64, error) {
		_, err := s.Slices(ctx, api.SlicesRequest{Table: table})
		return 0, err
	}},
	{"blocks", func(ctx context.Context, s *explorer.Service, table api.Table) (int64, error) {
		a, err := s.Blocks(ctx, api.BlocksRequest{Table: table, All: true})
		if err != nil {
			return 0, err
		}
		n := int64(0)
		for _, f := range a.Files {
			n += int64(len(f.Blocks))
		}
		return n, nil
	}},
	{"every block", func(ctx context.Context, s *explorer.Service, table api.Table) (int64, error) {
		a, err := s.Blocks(ctx, api.BlocksRequest{Table: table, All: true})
		if err != nil {
			return 0, err
		}
		n := int64(0)
		for _, f := range a.Files {
			for _, b := range f.Blocks {
				d, err := s.Block(ctx, api.BlockRequest{Table: table, File: f.File.Path, Index: b.Index, Limit: 1})
				if err != nil {
					return 0, err
				}
				if d.Block.Start != b.Start {
					return 0, fmt.Errorf("block %d at %d, not at %d", b.Index, d.Block.Start, b.Start)
				}
				n += max(0, d.Total)
			}
		}
		return n, nil
	}},
	{"plan", func(ctx context.Context, s *explorer.Service, table api.Table) (int64, error) {
		_, err := s.Plan(ctx, api.PlanRequest{Table: table})
		return 0, err
	}},
	{"health", func(ctx context.Context, s *explorer.Service, table api.Table) (int64, error) {
		a, err := s.Health(ctx, api.HealthRequest{Table: table})
		if err != nil {
			return 0, err
		}
		return int64(len(a.Findings)), nil
	}},
	{"rows", func(ctx context.Context, s *explorer.Service, table api.Table) (int64, error) {
		n := int64(0)
		for {
			a, err := s.Rows(ctx, api.RowsRequest{Table: table, Offset: n, Limit: 1000})
			if err != nil {
				return 0, err
			}
			if n += int64(len(a.Rows)); len(a.Rows) == 0 || a.TotalKnown && n >= a.Total {
				return n, nil
			}
		}
	}},
}

// magics makes a table whose log ends with n KiB of magics: each begins a corrupt block.
func magics(folder string, n int64) error {
	if err := logs(folder, mib); err != nil {
		return err
	}
	found := false
	err := filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || found || !strings.Contains(e.Name(), ".log.") {
			return err
		}
		found = true
		f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString(strings.Repeat("#HUDI#", int(n)<<10/6))
		return errors.Join(err, f.Close())
	})
	if err == nil && !found {
		err = errors.New("no log file")
	}
	return err
}

// TestLinear does everything on tables of growing size and compares what it took: no count may grow
// worse than the input. Counts don't depend on how busy the machine is.
func TestLinear(t *testing.T) {
	kinds := []struct {
		name  string
		sizes []int64
		make  func(dir string, n int64) error
		rows  func(n int64) int64 // how many, 0 when it is not known
		// remote tables are read by way of a cache, and listed by their metadata table.
		remote bool
	}{
		{"instants", []int64{100, 1000}, func(dir string, n int64) error { return instants(dir, int(n)) }, func(n int64) int64 { return n }, false},
		{"files", []int64{100, 1000}, func(dir string, n int64) error { return files(dir, int(n), 10, false) }, func(n int64) int64 { return n }, false},
		{"files with a metadata table", []int64{350, 1000}, func(dir string, n int64) error { return files(dir, int(n), 10, true) }, func(n int64) int64 { return n }, true},
		{"KiB of magics in a log", []int64{16, 96}, magics, func(int64) int64 { return 0 }, false},
		{"MiB of log", []int64{2, 16}, func(dir string, n int64) error { return logs(dir, n*mib) }, func(int64) int64 { return 0 }, false},
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			var folders []string
			for _, n := range k.sizes {
				folder := filepath.Join(t.TempDir(), fmt.Sprint(n))
				if err := os.MkdirAll(folder, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := k.make(folder, n); err != nil {
					t.Fatal(err)
				}
				folders = append(folders, folder)
			}
			for _, op := range operations {
				a, _ := ask(t, folders[0], k.remote, op.do)
				b, answer := ask(t, folders[1], k.remote, op.do)
				if want := k.rows(k.sizes[1]); op.name == "rows" && (want > 0 && answer != want || answer == 0) {
					t.Errorf("%d rows, want %d", answer, want)
				}
				// The metadata table tells of all partitions at once, where there are more than 32.
				if op.name == "slices" && (k.name == "files" && b.requests < 100 || k.name != "files" && b.requests > 40) {
					t.Errorf("slices took %g requests", b.requests)
				}
				times := float64(k.sizes[1]) / float64(k.sizes[0])
				power := func(x, y float64) float64 { return math.Log(max(y, 1)/max(x, 1)) / math.Log(times) }
				r, by, m, al := power(a.requests, b.requests), power(a.bytes, b.bytes), power(a.mallocs, b.mallocs), power(a.allocated, b.allocated)
				t.Logf("%-12s %7.0f requests (%.2f), %10.0f bytes read (%.2f), %9.0f allocations (%.2f), %11.0f bytes (%.2f)", op.name, b.requests, r, b.bytes, by, b.mallocs, m, b.allocated, al)
				if max(r, by, m, al) > worst {
					t.Errorf("%s of %g times as many %s: requests ×%.1f, bytes read ×%.1f, allocations ×%.1f, bytes allocated ×%.1f", op.name, times, k.name,
						b.requests/max(a.requests, 1), b.bytes/max(a.bytes, 1), b.mallocs/a.mallocs, b.allocated/a.allocated)
				}
			}
		})
	}
}

// TestOnePass lists the blocks of a log with one pass over its frames.
func TestOnePass(t *testing.T) {
	folder := t.TempDir()
	if err := logs(folder, 16*mib); err != nil {
		t.Fatal(err)
	}
	src, err := dir.New(folder)
	if err != nil {
		t.Fatal(err)
	}
	counted := &counting{Source: src}
	s := explorer.New(func(context.Context, string) (storage.Source, error) { return counted, nil }, explorer.Options{})
	table := api.Table{Location: "x"}
	if _, err := s.Slices(t.Context(), api.SlicesRequest{Table: table}); err != nil {
		t.Fatal(err)
	}
	before, bytesBefore := counted.requests.Load(), counted.bytes.Load()
	a, err := s.Blocks(t.Context(), api.BlocksRequest{Table: table, All: true})
	if err != nil || len(a.Files) != 1 {
		t.Fatal(err, len(a.Files))
	}
	blocks := int64(len(a.Files[0].Blocks))
	seen := map[string]int{}
	for _, b := range a.Files[0].Blocks {
		seen[b.Type]++
	}
	if seen["DELETE_BLOCK"] == 0 || seen["COMMAND_BLOCK"] != 1 || seen["CORRUPT_BLOCK"] != 1 || seen["AVRO_DATA_BLOCK"] < 5 || a.Counters.Records == 0 {
		t.Fatalf("%v, %+v", seen, a.Counters)
	}
	// Beside the blocks: listings for the view, opening the file twice, the first read, the corrupt
	// stretch up to the next block, and delete blocks whose first bytes don't tell their count.
	requests, read := counted.requests.Load()-before, counted.bytes.Load()-bytesBefore
	t.Logf("%d blocks: %d requests, %d bytes", blocks, requests, read)
	if requests > blocks+12 {
		t.Errorf("%d requests for %d blocks", requests, blocks)
	}
	if most := (blocks+12)*4096 + mib; read > most {
		t.Errorf("%d bytes read, more than %d", read, most)
	}
}

// TestReport draws and describes results, and finds what grows too fast.
func TestReport(t *testing.T) {
	s := series{name: "files", title: "Files & more", unit: "files", sizes: []int64{10, 1000, 100_000}, commands: []command{{name: "good"}, {name: "bad <x>", bound: 100}, {name: "none"}}}
	res := results{"files": {
		"good":    {{N: 10, CPU: 0.01, Wall: 0.02, Peak: 10}, {N: 1000, CPU: 0.1, Peak: 20}, {N: 100_000, CPU: 10, Peak: 1000}},
		"bad <x>": {{N: 10, CPU: 0.01, Peak: 10}, {N: 1000, CPU: 1, Peak: 20}, {N: 100_000, CPU: 5000, Peak: 101}},
	}}
	text, bad := report([]series{s}, res)
	if len(bad) != 2 || !strings.Contains(bad[0], "101 MiB") || !strings.Contains(bad[1], "1.85") {
		t.Errorf("%q", bad)
	}
	for _, part := range []string{"| good | 0.01 / 0.02 / 10 | 0.10 / 0.00 / 20 | 10.00 / 0.00 / 1000 | 1.00 / 0.81 |", "100,000 files"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	d := xml.NewDecoder(bytes.NewReader(plot(s, res["files"])))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
