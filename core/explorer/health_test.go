package explorer

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/health"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
)

// serviceOver serves one source under any name.
func serviceOver(src storage.Source) *Service {
	return New(func(context.Context, string) (storage.Source, error) { return src, nil }, Options{})
}

// find returns the first path that holds all parts.
func find(t testing.TB, f *tabletest.Files, parts ...string) string {
	t.Helper()
	for _, p := range f.Paths() {
		ok := true
		for _, x := range parts {
			ok = ok && strings.Contains(p, x)
		}
		if ok {
			return p
		}
	}
	t.Fatalf("%s has no file with %q", f.Location(), parts)
	return ""
}

// latestBase returns the path of the base file of the latest slice of some file group.
func latestBase(t testing.TB, f *tabletest.Files) string {
	t.Helper()
	a, err := serviceOver(f).Files(t.Context(), api.FilesRequest{Table: api.Table{Location: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range a.Partitions {
		for _, g := range p.Groups {
			for _, s := range g.Slices {
				if s.Latest && s.Base != nil {
					return s.Base.Path
				}
			}
		}
	}
	t.Fatal("no latest slice has a base file")
	return ""
}

func healthOf(t *testing.T, f storage.Source, req api.HealthRequest) *api.Health {
	t.Helper()
	req.Location = "x"
	h, err := serviceOver(f).Health(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// copyAs copies a file within its folder.
func copyAs(f *tabletest.Files, path, from, to string) string {
	out := strings.Replace(path, from, to, 1)
	if out == path {
		panic("nothing to replace in " + path)
	}
	f.Put(out, f.Bytes(path))
	return out
}

// TestHealthFinds makes tables ill, one way at a time, and looks for the finding.
func TestHealthFinds(t *testing.T) {
	limits := func(pairs ...any) map[string]float64 {
		m := map[string]float64{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = float64(pairs[i+1].(int))
		}
		return m
	}
	covered := map[string]bool{"metadata-table": true} // TestHealthMetadataTable
	defer func() {
		for _, c := range health.Checks {
			if !covered[c.ID] && !t.Failed() {
				t.Errorf("no case for the check %s", c.ID)
			}
		}
	}()
	for _, c := range []struct {
		name, table string
		edit        func(*testing.T, *tabletest.Files) (evidence string)
		req         api.HealthRequest
		check       string
		level       string
	}{
		{"empty commit", "cow_trips_h102", func(t *testing.T, f *tabletest.Files) string {
			p := find(t, f, "timeline/", "_", ".commit")
			f.Put(p, nil)
			return p[strings.LastIndex(p, "/")+1:]
		}, api.HealthRequest{}, "damaged-instants", "error"},
		{"commit cut short", "mor_trips_h0150", func(t *testing.T, f *tabletest.Files) string {
			p := ""
			for _, x := range f.Paths() {
				if strings.HasSuffix(x, ".deltacommit") {
					p = x
				}
			}
			f.Put(p, f.Bytes(p)[:100])
			return p[strings.LastIndex(p, "/")+1:]
		}, api.HealthRequest{}, "damaged-instants", "error"},
		{"base file deleted", "cow_trips_h102", func(t *testing.T, f *tabletest.Files) string {
			p := latestBase(t, f)
			f.Remove(p)
			return p[strings.LastIndex(p, "/")+1:]
		}, api.HealthRequest{}, "missing-files", "error"},
		{"base file cut", "cow_trips_h102", func(t *testing.T, f *tabletest.Files) string {
			p := latestBase(t, f)
			f.Put(p, f.Bytes(p)[:4000])
			return p[strings.LastIndex(p, "/")+1:]
		}, api.HealthRequest{}, "cut-files", "error"},
		{"log of a pending plan deleted", "pending_compaction_requested_h120", func(t *testing.T, f *tabletest.Files) string {
			d, err := serviceOver(f).Instant(t.Context(), api.InstantRequest{Table: api.Table{Location: "x"}, Requested: strings.Split(pathBase(find(t, f, ".compaction.requested")), ".")[0]})
			if err != nil {
				t.Fatal(err)
			}
			s := d.Work.Plan.Slices[0]
			f.Remove(s.Partition + "/" + s.Logs[0])
			return s.Logs[0]
		}, api.HealthRequest{}, "missing-files", "error"},
		{"file of a savepoint deleted", "savepoint_restore_h120", func(t *testing.T, f *tabletest.Files) string {
			d, err := serviceOver(f).Instant(t.Context(), api.InstantRequest{Table: api.Table{Location: "x"}, Action: "savepoint", Requested: leadingDigits(pathBase(find(t, f, ".savepoint")))})
			if err != nil {
				t.Fatal(err)
			}
			s := d.Work.Savepoint.Partitions[0]
			f.Remove(s.Partition + "/" + s.Files[0])
			return s.Files[0]
		}, api.HealthRequest{}, "missing-files", "error"},
		{"file of no instant", "cow_trips_h102", func(t *testing.T, f *tabletest.Files) string {
			p := latestBase(t, f)
			i := strings.LastIndexByte(p, '_')
			return pathBase(copyAs(f, p, p[i:], "_29991231000000000.parquet"))
		}, api.HealthRequest{}, "orphan-files", "warning"},
		{"file that its instant does not name", "cow_trips_h102", func(t *testing.T, f *tabletest.Files) string {
			p := latestBase(t, f)
			id := strings.Split(pathBase(p), "_")[0]
			return pathBase(copyAs(f, p, id, "feedbeef-0000-0000-0000-000000000000-0"))
		}, api.HealthRequest{}, "orphan-files", "warning"},
		{"log of another attempt", "mor_trips_h120", func(t *testing.T, f *tabletest.Files) string {
			p := find(t, f, ".log.1_0-")
			return pathBase(copyAs(f, p, ".log.1_0-", ".log.1_9-"))
		}, api.HealthRequest{}, "orphan-files", "warning"},
		{"file of another tool", "cow_trips_h102", func(t *testing.T, f *tabletest.Files) string {
			p := latestBase(t, f)
			f.Put(p[:strings.LastIndex(p, "/")+1]+"notes.txt", []byte("x"))
			return "notes.txt"
		}, api.HealthRequest{}, "orphan-files", "note"},
		{"base file of another attempt", "cow_trips_h102", func(t *testing.T, f *tabletest.Files) string {
			p := latestBase(t, f)
			token := strings.Split(pathBase(p), "_")[1]
			f.Put(strings.Replace(p, token, "9-9-9", 1), []byte("PAR1"))
			return pathBase(p)
		}, api.HealthRequest{}, "duplicate-base-files", "error"},
		{"marker deleted", "mor_trips_h0150", func(t *testing.T, f *tabletest.Files) string {
			p := find(t, f, ".hoodie_partition_metadata")
			f.Remove(p)
			return p[:strings.LastIndex(p, "/")]
		}, api.HealthRequest{}, "partition-markers", "error"},
		{"writer that died long ago", "inflight_leftover_mor_h0150", func(t *testing.T, f *tabletest.Files) string { return "about 30 days ago" }, api.HealthRequest{Now: "20261229235900000"}, "stuck-instants", "warning"},
		{"writer at work", "inflight_leftover_mor_h0150", func(t *testing.T, f *tabletest.Files) string { return "0 writes completed after it" }, api.HealthRequest{Now: "20261130000000000"}, "stuck-instants", "note"},
		{"hollow commit", "mor_trips_h0150", func(t *testing.T, f *tabletest.Files) string {
			p := find(t, f, ".hoodie/2", ".deltacommit")
			f.Remove(strings.Split(p, ".deltacommit")[0] + ".deltacommit")
			return "writes completed after this deltacommit was requested"
		}, api.HealthRequest{}, "hollow-commits", "warning"},
		{"hollow commit from version 8 on", "mor_trips_h120", func(t *testing.T, f *tabletest.Files) string {
			f.Remove(find(t, f, "timeline/", "_", ".deltacommit"))
			return "completed after this deltacommit was requested"
		}, api.HealthRequest{}, "hollow-commits", "note"},
		{"three rollbacks", "mor_rollback_multi_h0150", nil, api.HealthRequest{}, "repeated-rollbacks", "warning"},
		{"plan that waits", "pending_compaction_requested_h120", nil, api.HealthRequest{}, "pending-plans", "note"},
		{"plan that waits too long", "pending_compaction_requested_h120", nil, api.HealthRequest{Thresholds: limits("plan.commits", 0)}, "pending-plans", "warning"},
		{"clustering that waits", "pending_clustering_h0150", nil, api.HealthRequest{}, "pending-plans", "note"},
		{"no compaction", "mor_trips_h120", nil, api.HealthRequest{Thresholds: limits("compact.commits", 2)}, "compaction-lag", "warning"},
		{"large logs", "mor_trips_h120", nil, api.HealthRequest{Thresholds: limits("log.ratio", 0, "log.bytes", 1)}, "log-ratio", "warning"},
		{"small files", "cow_trips_h102", nil, api.HealthRequest{Thresholds: limits("small.files", 0)}, "small-files", "warning"},
		{"no clean", "mor_trips_h0150", nil, api.HealthRequest{Thresholds: limits("clean.commits", 1)}, "cleaner-lag", "warning"},
		{"long timeline", "cow_trips_h102", nil, api.HealthRequest{Thresholds: limits("archive.instants", 2)}, "archiver-lag", "warning"},
		{"clock that went back", "cow_trips_h102", func(t *testing.T, f *tabletest.Files) string {
			p := find(t, f, "timeline/", "_", ".commit")
			name := pathBase(p)
			requested, _, _ := strings.Cut(name, "_")
			to := requested + "_20200101000000000.commit"
			copyAs(f, p, name, to)
			f.Remove(p)
			return to
		}, api.HealthRequest{}, "clock-skew", "warning"},
		{"instants of the future", "cow_trips_h102", nil, api.HealthRequest{Now: "20200101000000000"}, "clock-skew", "warning"},
		{"write errors", "mor_trips_h0150", func(t *testing.T, f *tabletest.Files) string {
			p := find(t, f, ".hoodie/2", ".deltacommit")
			p = strings.Split(p, ".deltacommit")[0] + ".deltacommit"
			b := bytes.Replace(f.Bytes(p), []byte(`"totalWriteErrors" : 0`), []byte(`"totalWriteErrors" : 7`), 1)
			f.Put(p, b)
			return "7 records could not be written"
		}, api.HealthRequest{}, "write-errors", "warning"},
		{"key in two file groups", "cow_trips_h102", func(t *testing.T, f *tabletest.Files) string {
			p := latestBase(t, f)
			copyAs(f, p, strings.Split(pathBase(p), "_")[0], "feedbeef-0000-0000-0000-000000000000-0")
			return "feedbeef-0000"
		}, api.HealthRequest{Deep: true}, "duplicate-keys", "error"},
		{"two pending plans of one group", "pending_compaction_requested_h120", func(t *testing.T, f *tabletest.Files) string {
			p := find(t, f, ".compaction.requested")
			requested := strings.Split(pathBase(p), ".")[0]
			copyAs(f, p, requested, "29990101000000000")
			return "29990101000000000"
		}, api.HealthRequest{}, "view", "error"},
	} {
		covered[c.check] = true
		t.Run(c.name, func(t *testing.T) {
			f := tabletest.Open(t, c.table)
			before := map[string]int{}
			if c.edit != nil {
				for _, x := range healthOf(t, f, api.HealthRequest{Deep: c.req.Deep, Now: "20261130000000000"}).Findings {
					if x.Level == c.level {
						before[x.Check]++
					}
				}
			}
			evidence := ""
			if c.edit != nil {
				evidence = c.edit(t, f)
			}
			h := healthOf(t, f, c.req)
			var hit *api.HealthFinding
			n := 0
			for i := range h.Findings {
				if x := &h.Findings[i]; x.Check == c.check && x.Level == c.level {
					n++
					text, _ := json.Marshal(x)
					if strings.Contains(string(text), evidence) {
						hit = x
					}
				}
			}
			if hit == nil {
				t.Fatalf("no %s of %s with %q in %+v", c.level, c.check, evidence, h.Findings)
			}
			if c.edit != nil && c.check != "stuck-instants" && n <= before[c.check] {
				t.Errorf("the table had this finding before it was edited")
			}
			if hit.Title == "" || hit.Detail == "" || hit.Count < 1 || len(hit.Evidence) == 0 || hit.Link.View == "" || c.check != "view" && hit.Hudi == "" {
				t.Errorf("not complete: %+v", hit)
			}
			for _, k := range h.Checks {
				if k.ID == c.check && k.Status != "found" {
					t.Errorf("the check's status is %q", k.Status)
				}
			}
		})
	}
}

func pathBase(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// TestHealthMetadataTable takes a file away that the metadata table lists.
func TestHealthMetadataTable(t *testing.T) {
	name := ""
	for _, n := range tabletest.Names(t, "") {
		f := tabletest.Open(t, n)
		if b := f.Bytes(".hoodie/metadata/.hoodie/hoodie.properties"); b != nil && bytes.Contains(f.Bytes(".hoodie/hoodie.properties"), []byte("files")) {
			h := healthOf(t, f, api.HealthRequest{Checks: []string{"metadata-table"}})
			if h.Level != "ok" || h.Checks[0].Status != "ok" {
				t.Errorf("%s: %+v", n, h)
			}
			if name == "" {
				name = n
			}
		}
	}
	if name == "" {
		t.Skip("no table with a metadata table is among the test tables")
	}
	f := tabletest.Open(t, name)
	p := latestBase(t, f)
	f.Remove(p)
	h := healthOf(t, f, api.HealthRequest{Checks: []string{"metadata-table"}})
	if len(h.Findings) != 1 || h.Findings[0].Level != "error" || !strings.Contains(h.Findings[0].Detail, pathBase(p)) {
		t.Errorf("%s without %s: %+v", name, p, h.Findings)
	}
	f.Put(p, tabletest.Open(t, name).Bytes(p))
	for _, x := range f.Paths() {
		if strings.HasPrefix(x, ".hoodie/metadata/files/") && !strings.Contains(x, ".hoodie_partition") {
			f.Put(x, []byte("rubbish"))
		}
	}
	h = healthOf(t, f, api.HealthRequest{Checks: []string{"metadata-table"}})
	if len(h.Findings) == 0 || h.Level != "error" {
		t.Errorf("a damaged metadata table: %+v", h)
	}
}

// ill are the test tables that are not well on purpose, with the check that says so.
var ill = map[string][]string{
	"mor_corrupt_": {"missing-files", "cut-files"}, // a log file was spliced behind another and is gone, or was cut
	"mor_rollback": {"repeated-rollbacks"},
}

// TestHealthOfRealTables: tables as Hudi wrote them have no findings above notes, and no duplicate keys.
func TestHealthOfRealTables(t *testing.T) {
	for _, name := range tabletest.Names(t, "") {
		if strings.HasPrefix(name, "perf") {
			continue
		}
		h := healthOf(t, tabletest.Open(t, name), api.HealthRequest{Deep: true, Now: "20261201000000000", Thresholds: map[string]float64{"stuck.clock.hours": 1000}})
		for _, f := range h.Findings {
			known := false
			for prefix, checks := range ill {
				known = known || strings.HasPrefix(name, prefix) && slices.Contains(checks, f.Check)
			}
			if f.Level != "note" && !known {
				t.Errorf("%s: %s %s: %s %+v", name, f.Level, f.Title, f.Detail, f.Evidence)
			}
		}
		if len(h.Checks) != len(health.Checks) || len(h.Thresholds) != len(health.Thresholds) {
			t.Errorf("%s: %d checks, %d thresholds", name, len(h.Checks), len(h.Thresholds))
		}
		for _, c := range h.Checks {
			if c.Status == "skipped" && c.ID != "metadata-table" && c.ID != "duplicate-keys" {
				t.Errorf("%s: %s was skipped: %s", name, c.ID, c.Note)
			}
		}
	}
}

func TestHealthIncompleteListing(t *testing.T) {
	f := tabletest.Open(t, "cow_trips_h102")
	p := latestBase(t, f)
	f.Hide = func(path string) bool { return path == p }
	h := healthOf(t, f, api.HealthRequest{})
	for _, c := range h.Checks {
		if c.ID == "missing-files" && (c.Status != "skipped" || c.Note == "") {
			t.Errorf("a hidden file counts as missing: %+v", c)
		}
	}
}

func TestHealthRefuses(t *testing.T) {
	s := serviceOver(tabletest.Open(t, "cow_trips_h102"))
	for _, req := range []api.HealthRequest{{Checks: []string{"no-such-check"}}, {Thresholds: map[string]float64{"no.such": 1}}} {
		req.Location = "x"
		if _, err := s.Health(t.Context(), req); ToFault(err) == nil || ToFault(err).Kind != "invalid request" {
			t.Errorf("%+v: %v", req, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Health(ctx, api.HealthRequest{Table: api.Table{Location: "x"}, Deep: true}); err == nil {
		t.Error("a cancelled request gives an answer")
	}
}

// TestHealthKeysBound: beyond keys.max the search says that it is not complete.
func TestHealthKeysBound(t *testing.T) {
	h := healthOf(t, tabletest.Open(t, "cow_trips_h102"), api.HealthRequest{Checks: []string{"duplicate-keys"}, Thresholds: map[string]float64{"keys.max": 5}})
	if h.Looked.Keys != 5 || h.Checks[0].Status != "skipped" || !strings.Contains(h.Checks[0].Note, "first 5 keys") {
		t.Errorf("%+v %+v", h.Looked, h.Checks)
	}
}

// TestHealthOfIndexes damages every index of the metadata table, by rubbish for a whole file and by some bytes in a
// block: the header pass names a file that is no file, and a deep one also records that can't be read.
func TestHealthOfIndexes(t *testing.T) {
	const name = "mdt_full_h120"
	for _, index := range []string{"column_stats", "record_index", "secondary_index_idx_rider", "partition_stats", "bloom_filters", "expr_index_idx_day"} {
		for _, kind := range []string{"rubbish", "zeros", "inside"} {
			src := tabletest.Open(t, name)
			damaged := ""
			for _, p := range src.Paths() {
				if !strings.HasPrefix(p, ".hoodie/metadata/"+index+"/") || !strings.HasSuffix(p, ".hfile") && !strings.Contains(p, ".log.1_") || len(src.Bytes(p)) < 1000 {
					continue
				}
				b := bytes.Clone(src.Bytes(p))
				switch kind {
				case "rubbish":
					b = bytes.Repeat([]byte("rubbish "), len(b)/8)
				case "zeros":
					clear(b)
				case "inside":
					at := bytes.Index(b, []byte("DATABLK*"))
					if at < 0 {
						continue
					}
					for i := at + 33; i < at+60; i++ {
						b[i] ^= 0x5A
					}
				}
				src.Put(p, b)
				damaged = p
			}
			if damaged == "" {
				t.Fatalf("%s has no file", index)
			}
			for _, deep := range []bool{false, true} {
				if kind == "inside" && !deep {
					continue // only who reads the records sees it
				}
				h := healthOf(t, src, api.HealthRequest{Checks: []string{"metadata-table"}, Deep: deep})
				found := false
				for _, f := range h.Findings {
					found = found || f.Level == "error" && strings.Contains(f.Title, index) && strings.HasPrefix(f.Evidence[0].File, ".hoodie/metadata/"+index+"/")
				}
				if !found {
					t.Errorf("%s, %s, deep %v: %+v", index, kind, deep, h.Findings)
				}
			}
		}
	}
}
