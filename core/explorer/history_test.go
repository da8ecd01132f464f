package explorer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/storage"
	"hudiscope/core/storage/storagetest"
	"hudiscope/core/tabletest"
)

// goldRows are the rows of a gold answer by record key, canonical.
func goldRows(t *testing.T, file string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var row struct {
			Key string `json:"_hoodie_record_key"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		out[row.Key] = append(out[row.Key], canonical(json.RawMessage(line)))
	}
	for k := range out {
		sort.Strings(out[k])
	}
	return out
}

func rowText(columns []api.Column, row []json.RawMessage) string {
	m := map[string]json.RawMessage{}
	for i, c := range columns {
		m[c.Name] = row[i]
	}
	return canonical(m)
}

// everyKey is the history of all keys of a table.
func everyKey(t *testing.T, s *Service, table, hudi string) *api.History {
	t.Helper()
	a, err := s.History(context.Background(), api.HistoryRequest{Table: api.Table{Location: table, Hudi: hudi}, Prefix: true, Limit: maxHistoryKeys})
	if err != nil {
		t.Fatalf("%s: %v", table, err)
	}
	if a.More {
		t.Fatalf("%s: more keys than the test follows", table)
	}
	return a
}

// TestHistoryEndsInTheSnapshot: what the history of every key ends in is the row that Hudi itself
// shows, by the rules of each release; keys without a row end in none.
func TestHistoryEndsInTheSnapshot(t *testing.T) {
	s := testService(t)
	tables, keys, versions, gone := 0, 0, 0, 0
	outcomes := map[string]int{}
	for _, name := range tabletest.Names(t, "snapshot.jsonl") {
		var about struct {
			Hudi string `json:"hudi_version"`
		}
		tabletest.Gold(t, name, "about.json", &about)
		if strings.HasPrefix(name, "orc_") || strings.HasPrefix(name, "flink_") || strings.HasPrefix(name, "bootstrap_meta") {
			continue // parts that are not here: the ORC reader, a bootstrap source; rows in another form than Spark's
		}
		for _, c := range []struct{ file, hudi string }{{"snapshot.jsonl", about.Hudi}, {"by_1.2.0/snapshot.jsonl", "1.2.0"}} {
			gold := goldRows(t, filepath.Join(tabletest.Dir(), "gold", name, c.file))
			if gold == nil {
				continue
			}
			tables++
			a := everyKey(t, s, name, c.hudi)
			if len(gold[""]) > 0 {
				// Without meta fields the answer does not tell the keys.
				var rows []string
				for _, k := range a.Keys {
					for _, copy := range k.Copies {
						if copy.Visible {
							rows = append(rows, rowText(a.Columns, copy.Row))
						}
					}
				}
				sort.Strings(rows)
				if !slices.Equal(rows, gold[""]) {
					t.Errorf("%s (%s):\nwant %q\ngot  %q", name, c.file, gold[""], rows)
				}
				continue
			}
			found := map[string]bool{}
			for _, k := range a.Keys {
				keys++
				found[k.Key] = true
				var rows []string
				for _, copy := range k.Copies {
					if copy.Visible {
						rows = append(rows, rowText(a.Columns, copy.Row))
					}
					for _, sl := range copy.Slices {
						versions += len(sl.Versions)
						for _, v := range sl.Versions {
							outcomes[v.Outcome]++
							if v.Why == "" {
								t.Errorf("%s %s: no reason for %+v", name, k.Key, v)
							}
						}
						checkLadder(t, name+" "+k.Key, &sl)
					}
				}
				sort.Strings(rows)
				if !slices.Equal(rows, gold[k.Key]) {
					t.Errorf("%s (%s) key %s:\nwant %q\ngot  %q", name, c.file, k.Key, gold[k.Key], rows)
				}
				if len(gold[k.Key]) == 0 {
					gone++
				}
			}
			for k := range gold {
				if !found[k] {
					t.Errorf("%s (%s): the key %s has no history", name, c.file, k)
				}
			}
		}
	}
	t.Logf("%d answers, %d keys (%d without a row), %d versions: %v", tables, keys, gone, versions, outcomes)
	if tables < 30 || keys < 300 || gone < 20 {
		t.Errorf("only %d answers, %d keys, %d of them without a row", tables, keys, gone)
	}
	for _, o := range []string{"won", "lost", "superseded", "merged", "not read"} {
		if outcomes[o] == 0 {
			t.Errorf("no version is %q", o)
		}
	}
}

// checkLadder holds the outcomes of one slice against its result.
func checkLadder(t *testing.T, where string, s *api.SliceHistory) {
	t.Helper()
	count := map[string]int{}
	for _, v := range s.Versions {
		count[v.Outcome]++
	}
	switch {
	case s.Result == "absent" && count["not read"] != len(s.Versions),
		s.Result == "row" && count["won"]+count["merged"] == 0,
		s.Result == "row" && count["merged"] == 1,
		count["won"] > 0 && count["merged"] > 0,
		(s.Result == "row") != (s.Row != nil):
		t.Errorf("%s, slice %s: result %s of %v", where, s.BaseInstant, s.Result, count)
	}
}

// TestHistoryVersionsAreTheBlocks compares every version with the record of its block.
func TestHistoryVersionsAreTheBlocks(t *testing.T) {
	s := testService(t)
	ctx := context.Background()
	checked := map[string]int{}
	for _, name := range []string{"mor_rollback_h0150", "mor_rollback_multi_h0150", "mor_corrupt_middle_h0150", "mor_corrupt_tail_h120", "merge_event_time_mor_h120",
		"mor_compacted_h0150", "mor_compacted_h120", "payload_delete_marker_h0150", "payload_partial_update_h120", "partial_update_h120", "log_block_hfile_h0150", "log_compaction_h120", "flink_mor_changelog_1.2.0", "merge_commit_time_mor_h0150", "mor_rollback_retry_h0150", "mor_corrupt_truncated_h0150"} {
		tab := api.Table{Location: name}
		a := everyKey(t, s, name, "")
		blocks := map[string]*api.BlockDetail{}
		seen := map[string]int64{}
		for _, k := range a.Keys {
			for _, c := range k.Copies {
				for _, sl := range c.Slices {
					for _, v := range sl.Versions {
						if v.Kind == "base" {
							continue
						}
						id := fmt.Sprintf("%s#%d", v.File, v.Block)
						d := blocks[id]
						if d == nil {
							var err error
							if d, err = s.Block(ctx, api.BlockRequest{Table: tab, File: v.File, Index: v.Block, Limit: 10000}); err != nil {
								t.Fatal(err)
							}
							blocks[id] = d
						}
						seen[id]++
						if v.Instant != d.Block.Instant {
							t.Errorf("%s %s: instant %s, the block's is %s", id, k.Key, v.Instant, d.Block.Instant)
						}
						if v.Kind == "delete" {
							if got := d.Deletes[v.Record]; got.Key != k.Key || v.Row != nil {
								t.Errorf("%s: delete of %q, the history says %q", id, got.Key, k.Key)
							}
							checked[v.Kind]++
						} else {
							if d.Keys[v.Record] == nil || *d.Keys[v.Record] != k.Key {
								t.Errorf("%s record %d: not the key %s", id, v.Record, k.Key)
							}
							flagged := d.DeleteFlags != nil && d.DeleteFlags[v.Record]
							if flagged != (v.Kind == "delete flag") {
								t.Errorf("%s record %d is a %s, but flagged %v", id, v.Record, v.Kind, flagged)
							}
							at := map[string]json.RawMessage{}
							for i, c := range d.Columns {
								at[c.Name] = d.Records[v.Record][i]
							}
							for i, c := range a.Columns {
								want, ok := at[c.Name]
								if !ok {
									if v.Missing != nil && !slices.Contains(v.Missing, c.Name) {
										t.Errorf("%s record %d: %s is not in the block and not missing", id, v.Record, c.Name)
									}
									want = json.RawMessage("null")
								}
								if canonical(want) != canonical(v.Row[i]) {
									t.Errorf("%s record %d column %s: want %s, got %s", id, v.Record, c.Name, want, v.Row[i])
								}
							}
							checked[v.Kind]++
						}
						if len(d.Spans) > 0 && (d.Spans[v.Record].Start != v.Start || d.Spans[v.Record].End != v.End || v.End <= v.Start) {
							t.Errorf("%s record %d: bytes %d to %d, the block says %+v", id, v.Record, v.Start, v.End, d.Spans[v.Record])
						}
					}
				}
			}
		}
		// No record of any block is without a place in a history.
		all, err := s.Blocks(ctx, api.BlocksRequest{Table: tab, All: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all.Files {
			for _, b := range f.Blocks {
				if b.Records > 0 && seen[fmt.Sprintf("%s#%d", f.File.Path, b.Index)] != b.Records {
					t.Errorf("%s %s block %d (%s): %d records, %d in histories", name, f.File.Path, b.Index, b.Fate, b.Records, seen[fmt.Sprintf("%s#%d", f.File.Path, b.Index)])
				}
			}
		}
	}
	t.Logf("checked %v", checked)
	if checked["data"] < 120 || checked["delete"] < 10 || checked["delete flag"] < 1 {
		t.Errorf("only %v", checked)
	}
}

// TestHistoryOfOneKeyIsThatOfAll: the history of an exact key is the same as in that of all keys,
// where the record index names the file group too.
func TestHistoryOfOneKeyIsThatOfAll(t *testing.T) {
	s := testService(t)
	ctx := context.Background()
	byIndex, deleted, skipped := 0, 0, 0
	for _, name := range []string{"mdt_full_h120", "mdt_full_h0150", "mdt_full_h102", "mdt_types_h120", "mor_rollback_h0150", "replace_clustering_mor_h120", "mor_compacted_h120", "cow_trips_h102"} {
		all := everyKey(t, s, name, "")
		for i, k := range all.Keys {
			one, err := s.History(ctx, api.HistoryRequest{Table: api.Table{Location: name}, Key: k.Key})
			if err != nil {
				t.Fatal(err)
			}
			full, err := s.History(ctx, api.HistoryRequest{Table: api.Table{Location: name}, Key: k.Key, Everywhere: true})
			if err != nil {
				t.Fatal(err)
			}
			want, got := jsonOf(t, all.Keys[i:i+1]), jsonOf(t, one.Keys)
			if want != got || want != jsonOf(t, full.Keys) {
				t.Errorf("%s %s:\nall        %s\nby key     %s\neverywhere %s", name, k.Key, want, got, jsonOf(t, full.Keys))
			}
			if full.Searched.RecordIndex || full.Searched.FileGroups != full.Searched.AllFileGroups {
				t.Errorf("%s %s: searched %+v", name, k.Key, full.Searched)
			}
			skipped += full.Searched.BaseSkipped
			visible := false
			for _, c := range k.Copies {
				visible = visible || c.Visible
			}
			hasIndex := strings.HasPrefix(name, "mdt_full")
			if one.Searched.RecordIndex {
				byIndex++
				if one.Searched.FileGroups >= one.Searched.AllFileGroups && one.Searched.AllFileGroups > 2 && !strings.Contains(name, "types") {
					t.Errorf("%s %s: by the index, but searched %+v", name, k.Key, one.Searched)
				}
			} else if hasIndex && visible {
				t.Errorf("%s %s: the record index was not used: %+v", name, k.Key, one.Findings)
			} else if hasIndex {
				deleted++
			}
		}
	}
	t.Logf("%d keys by the record index, %d not in it; %d base files passed over by their footer", byIndex, deleted, skipped)
	if byIndex < 20 || skipped < 20 {
		t.Errorf("%d keys by the record index, %d base files passed over", byIndex, skipped)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestHistoryReadsLittle counts what the history of one key reads of data files.
func TestHistoryReadsLittle(t *testing.T) {
	const name = "mdt_full_h120"
	open := func() (*storagetest.Probe, *Service) {
		p := &storagetest.Probe{Src: tabletest.Open(t, name)}
		return p, New(func(context.Context, string) (storage.Source, error) { return p, nil }, Options{})
	}
	// files and bytes of the data files read since the last reset.
	count := func(p *storagetest.Probe) (files int, bytes int64) {
		seen := map[string]bool{}
		for _, r := range p.Reads() {
			if strings.HasPrefix(r.Path, ".hoodie/") {
				continue
			}
			seen[r.Path] = true
			bytes += r.Len
		}
		return len(seen), bytes
	}
	p, s := open()
	all := everyKey(t, s, name, "")
	key := ""
	for _, k := range all.Keys {
		if len(k.Copies) == 1 && k.Copies[0].Visible {
			key = k.Key
			break
		}
	}
	size := int64(0)
	total := 0
	for _, f := range tabletest.Open(t, name).Paths() {
		if !strings.HasPrefix(f, ".hoodie/") && !strings.Contains(path.Base(f), "hoodie_partition") {
			total++
			size += int64(len(tabletest.Open(t, name).Bytes(f)))
		}
	}
	// The first request of a service lists the table and reads its schema: what the history itself
	// reads is counted on the second.
	p.Reset()
	one, err := s.History(context.Background(), api.HistoryRequest{Table: api.Table{Location: "x"}, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	files, read := count(p)
	p.Reset()
	if _, err := s.History(context.Background(), api.HistoryRequest{Table: api.Table{Location: "x"}, Key: key, Everywhere: true}); err != nil {
		t.Fatal(err)
	}
	allFiles, allRead := count(p)
	held := 0
	for _, sl := range one.Keys[0].Copies[0].Slices {
		seen := map[string]bool{}
		for _, v := range sl.Versions {
			seen[v.File] = true
		}
		held += len(seen)
	}
	t.Logf("by the record index %d files, %d bytes (the key lies in %d); everywhere %d files, %d bytes; the table has %d data files, %d bytes", files, read, held, allFiles, allRead, total, size)
	if !one.Searched.RecordIndex || files != one.Searched.Files || files >= allFiles || read >= allRead {
		t.Errorf("by the record index %d files and %d bytes, everywhere %d and %d; %+v", files, read, allFiles, allRead, one.Searched)
	}
	if p.StillOpen() != 0 {
		t.Errorf("%d objects are still open", p.StillOpen())
	}
}

// TestHistoryDuplicates is the bug of a key that lies in two file groups: both are shown and named.
func TestHistoryDuplicates(t *testing.T) {
	src := tabletest.Open(t, "cow_trips_h102")
	var base string
	for _, p := range src.Paths() {
		if strings.HasSuffix(p, ".parquet") && !strings.HasPrefix(p, ".hoodie/") {
			base = p // the last one in order of names
		}
	}
	dir, file := path.Split(base)
	id, rest, _ := strings.Cut(file, "_")
	const other = "aaaaaaaa-0000-0000-0000-000000000000-0"
	src.Put(dir+other+"_"+rest, src.Bytes(base))
	s := New(func(context.Context, string) (storage.Source, error) { return src, nil }, Options{})
	ask := func(key string) *api.History {
		a, err := s.History(context.Background(), api.HistoryRequest{Table: api.Table{Location: "x"}, Key: key, Everywhere: true})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	all := everyKey(t, s, "x", "")
	twice := 0
	for _, k := range all.Keys {
		n := 0
		for _, c := range k.Copies {
			if c.Visible {
				n++
			}
		}
		a := ask(k.Key)
		said := slices.IndexFunc(a.Findings, func(f api.Finding) bool {
			return f.Level == "error" && strings.Contains(f.Detail, other) && strings.Contains(f.Detail, id)
		}) >= 0
		if said != (n == 2) {
			t.Errorf("%s has %d rows, findings %+v", k.Key, n, a.Findings)
		}
		if n == 2 {
			twice++
		}
	}
	if twice == 0 {
		t.Errorf("no key has two copies")
	}
}

// TestHistoryDamage: a damaged base file is told, and the other file groups are still searched.
func TestHistoryDamage(t *testing.T) {
	src := tabletest.Open(t, "mor_trips_h120")
	s := New(func(context.Context, string) (storage.Source, error) { return src, nil }, Options{})
	before := everyKey(t, s, "x", "")
	var hurt string
	for _, p := range src.Paths() {
		if strings.HasSuffix(p, ".parquet") && !strings.HasPrefix(p, ".hoodie/") {
			b := bytes.Clone(src.Bytes(p))
			copy(b[len(b)-12:], "garbage!")
			src.Put(p, b)
			hurt = p
			break
		}
	}
	s = New(func(context.Context, string) (storage.Source, error) { return src, nil }, Options{})
	after := everyKey(t, s, "x", "")
	if i := slices.IndexFunc(after.Findings, func(f api.Finding) bool { return f.Level == "error" && f.File == hurt }); i < 0 {
		t.Errorf("no finding names %s: %+v", hurt, after.Findings)
	}
	lost, kept := 0, 0
	now := map[string]string{}
	for _, k := range after.Keys {
		now[k.Key] = jsonOf(t, k)
	}
	for _, k := range before.Keys {
		inHurt := false
		for _, c := range k.Copies {
			for _, sl := range c.Slices {
				for _, v := range sl.Versions {
					inHurt = inHurt || v.File == hurt
				}
			}
		}
		if !inHurt && strings.HasPrefix(path.Base(hurt), k.Copies[0].FileID) {
			continue // only in the logs of the damaged slice
		}
		if inHurt {
			lost++
			var got api.KeyHistory
			if err := json.Unmarshal([]byte(now[k.Key]), &got); now[k.Key] != "" && err == nil && got.Copies[0].Visible {
				t.Errorf("%s: a row without its base file: %s", k.Key, now[k.Key])
			}
		} else if kept++; now[k.Key] != jsonOf(t, k) {
			t.Errorf("%s: want %s, got %s", k.Key, jsonOf(t, k), now[k.Key])
		}
	}
	if lost == 0 || kept == 0 {
		t.Errorf("%d keys in the damaged file, %d elsewhere", lost, kept)
	}
}

// TestHistoryRequests: what can't be asked, limits, and cancelling.
func TestHistoryRequests(t *testing.T) {
	s := testService(t)
	ctx := context.Background()
	mor := api.Table{Location: "mor_trips_h120"}
	for _, req := range []api.HistoryRequest{
		{Table: mor},
		{Table: mor, Key: "k", Limit: -1},
		{Table: mor, Key: "k", Limit: maxHistoryKeys + 1},
		{Table: mor, Key: "k", AsOf: "yesterday"},
		{Table: mor, Key: "k", Options: map[string]string{"hoodie.datasource.query.type": "read_optimized"}},
	} {
		if _, err := s.History(ctx, req); ToFault(err) == nil || ToFault(err).Kind != "invalid request" {
			t.Errorf("%+v: %v", req, err)
		}
	}
	all := everyKey(t, s, "mor_trips_h120", "")
	some, err := s.History(ctx, api.HistoryRequest{Table: mor, Prefix: true, Limit: 3})
	if err != nil || !some.More || jsonOf(t, some.Keys) != jsonOf(t, all.Keys[:3]) {
		t.Errorf("the first three keys: %v, more %v, %d keys", err, some.More, len(some.Keys))
	}
	none, err := s.History(ctx, api.HistoryRequest{Table: mor, Key: "no such key"})
	if err != nil || len(none.Keys) != 0 || none.Keys == nil {
		t.Errorf("no such key: %v, %+v", err, none)
	}
	stopped, cancel := context.WithCancel(ctx)
	var units []string
	_, err = s.Do(withProgress(stopped, func(p api.Progress) {
		units = append(units, p.Unit)
		cancel()
	}), api.OpHistory, []byte(`{"table":"mor_rollback_h0150","key":"x"}`), nil)
	if f := ToFault(err); f == nil || f.Kind != "cancelled" || len(units) == 0 {
		t.Errorf("cancelled: %v", err)
	}
}

// TestHistoryAsOf: the history up to an instant ends in the row of the time travel query.
func TestHistoryAsOf(t *testing.T) {
	s := testService(t)
	checked := 0
	for _, name := range tabletest.Names(t, "about.json") {
		var about struct {
			Hudi    string          `json:"hudi_version"`
			Queries json.RawMessage `json:"queries"`
		}
		tabletest.Gold(t, name, "about.json", &about)
		var queries []goldQuery
		if json.Unmarshal(about.Queries, &queries) != nil || strings.HasPrefix(name, "orc_") || strings.HasPrefix(name, "bootstrap_meta") {
			continue
		}
		for _, q := range queries {
			if q.Options["as.of.instant"] == "" {
				continue
			}
			gold := goldRows(t, filepath.Join(tabletest.Dir(), "gold", name, q.File))
			if gold == nil || len(gold[""]) > 0 {
				continue
			}
			a, err := s.History(context.Background(), api.HistoryRequest{Table: api.Table{Location: name, Hudi: about.Hudi}, Prefix: true, Limit: maxHistoryKeys, AsOf: q.Options["as.of.instant"]})
			if err != nil {
				t.Fatalf("%s %s: %v", name, q.File, err)
			}
			rows := map[string][]string{}
			for _, k := range a.Keys {
				for _, c := range k.Copies {
					if c.Visible {
						rows[k.Key] = append(rows[k.Key], rowText(a.Columns, c.Row))
					}
				}
				sort.Strings(rows[k.Key])
			}
			if jsonOf(t, rows) != jsonOf(t, gold) {
				t.Errorf("%s as of %s: other rows", name, q.Options["as.of.instant"])
			}
			checked++
		}
	}
	if checked < 5 {
		t.Errorf("only %d time travel answers", checked)
	}
	t.Logf("%d time travel answers", checked)
}
