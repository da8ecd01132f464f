package explorer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
)

// everySlice calls f for every file slice with logs.
func everySlice(t *testing.T, s *Service, table string, f func(partition, fileID, baseInstant string, latest bool)) {
	t.Helper()
	a, err := s.Files(context.Background(), api.FilesRequest{Table: api.Table{Location: table}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range a.Partitions {
		for _, g := range p.Groups {
			for _, sl := range g.Slices {
				if len(sl.Logs) > 0 {
					f(p.Partition, g.FileID, sl.BaseInstant, sl.Latest)
				}
			}
		}
	}
}

var scanTables = []string{"mor_rollback_h0150", "mor_rollback_h120", "mor_rollback_multi_h0150", "mor_rollback_retry_h0150", "mor_corrupt_middle_h0150", "mor_corrupt_tail_h120",
	"mor_corrupt_truncated_h0150", "merge_event_time_mor_h120", "mor_compacted_h0150", "mor_compacted_h120", "log_compaction_h120", "payload_partial_update_h120",
	"partial_update_h120", "pending_compaction_inflight_h0150", "nbcc_h120", "record_positions_h120"}

// TestScanSteps replays the queue of every scan, and holds its sums against the counters and the
// fates of the blocks, by the rules of three releases.
func TestScanSteps(t *testing.T) {
	s := testService(t)
	ctx := context.Background()
	kinds := map[string]int{}
	slicesSeen := 0
	for _, name := range scanTables {
		for _, hudi := range []string{"", "0.15.0", "0.12.0"} {
			everySlice(t, s, name, func(part, id, base string, _ bool) {
				where := fmt.Sprintf("%s (%s) %s/%s %s", name, hudi, part, id, base)
				a, err := s.Scan(ctx, api.ScanRequest{Table: api.Table{Location: name, Hudi: hudi}, Partition: part, FileID: id, BaseInstant: base})
				if err != nil {
					t.Errorf("%s: %v", where, err)
					return
				}
				slicesSeen++
				var queue []api.BlockRef
				count := map[string]int{}
				popping := false
				fate := func(r api.BlockRef) *api.Block { return &a.Blocks.Files[r.File].Blocks[r.Block] }
				remove := func(r api.BlockRef) bool {
					i := slices.Index(queue, r)
					if i >= 0 {
						queue = slices.Delete(queue, i, i+1)
					}
					return i >= 0
				}
				for n, st := range a.Steps {
					kinds[st.Kind]++
					count[st.Kind]++
					if st.Why == "" {
						t.Errorf("%s step %d has no reason", where, n)
					}
					switch st.Kind {
					case "read":
						if popping {
							t.Errorf("%s: step %d reads after the first pop", where, n)
						}
					case "push":
						queue = append(queue, st.Block)
					case "skip":
						remove(st.Block)
						if f := fate(st.Block).Fate; f == "merged" {
							t.Errorf("%s: a %s block is skipped", where, f)
						}
					case "rollback":
						for _, r := range st.Removed {
							if !remove(r) {
								t.Errorf("%s: a rollback removes %v, which is not in the queue", where, r)
							}
							if f := fate(r); f.Fate != "rolled back" && f.Fate != "corrupt" {
								t.Errorf("%s: a rolled back block is %s", where, f.Fate)
							}
						}
					case "pop":
						popping = true
						if !remove(st.Block) {
							t.Errorf("%s: %v is popped, but was not in the queue", where, st.Block)
						}
						if f := fate(st.Block).Fate; f == "merged" {
							count["merged"]++
						} else if f != "corrupt" {
							t.Errorf("%s: a %s block is popped", where, f)
						}
					}
					if !slices.Equal(queue, st.Queue) {
						t.Fatalf("%s step %d (%s): queue %v, told %v", where, n, st.Kind, queue, st.Queue)
					}
				}
				if len(queue) > 0 {
					t.Errorf("%s: %v stays in the queue", where, queue)
				}
				last := a.Steps[len(a.Steps)-1]
				if last.Counters != a.Blocks.Counters {
					t.Errorf("%s: counters %+v at the end, want %+v", where, last.Counters, a.Blocks.Counters)
				}
				blocks, merged := 0, 0
				for _, f := range a.Blocks.Files {
					for _, b := range f.Blocks {
						if b.Fate != "not reached" {
							blocks++
						}
						if b.Fate == "merged" {
							merged++
						}
					}
				}
				if count["read"] != blocks || count["merged"] != merged {
					t.Errorf("%s: %d blocks read of %d, %d merged of %d", where, count["read"], blocks, count["merged"], merged)
				}
			})
		}
	}
	t.Logf("%d scans: %v", slicesSeen, kinds)
	for _, k := range []string{"read", "instant switch", "push", "skip", "rollback", "pop", "stop"} {
		if kinds[k] == 0 {
			t.Errorf("no step is a %s", k)
		}
	}
}

// TestScanRecords holds the merge steps against the counters and against the histories of the keys.
func TestScanRecords(t *testing.T) {
	s := testService(t)
	ctx := context.Background()
	winners := map[string]int{}
	for _, name := range scanTables {
		rows := map[string]*api.SliceHistory{}
		for _, k := range everyKey(t, s, name, "").Keys {
			for _, c := range k.Copies {
				for i := range c.Slices {
					rows[k.Key+" "+c.Partition+" "+c.FileID+" "+c.Slices[i].BaseInstant] = &c.Slices[i]
				}
			}
		}
		everySlice(t, s, name, func(part, id, base string, latest bool) {
			where := fmt.Sprintf("%s %s/%s %s", name, part, id, base)
			a, err := s.Scan(ctx, api.ScanRequest{Table: api.Table{Location: name}, Partition: part, FileID: id, BaseInstant: base, Records: true})
			if err != nil || a.Truncated {
				t.Errorf("%s: %v, truncated %v", where, err, a != nil && a.Truncated)
				return
			}
			if a.RecordsFault != nil {
				if !strings.HasPrefix(name, "pending_") {
					t.Errorf("%s: %v", where, a.RecordsFault)
				}
				return
			}
			header, logs := int64(0), int64(0)
			keys := map[string]string{}
			inBase := false
			var popped api.BlockRef
			for n, st := range a.Steps {
				if st.Kind == "pop" {
					popped = st.Block
					if inBase {
						t.Errorf("%s: step %d pops a block during the merge with the base file", where, n)
					}
				}
				if st.Kind != "record" {
					header++
					continue
				}
				r := st.Record
				winners[r.Stage+" "+r.Winner]++
				if st.Why == "" || r.New == nil || r.New.Instant == "" {
					t.Errorf("%s step %d: %+v", where, n, st)
				}
				switch r.Stage {
				case "log":
					logs++
					if st.Block != popped || a.Blocks.Files[popped.File].File.Path != r.New.File || r.New.Block != popped.Block {
						t.Errorf("%s step %d: a record of %v while %v is merged", where, n, st.Block, popped)
					}
					if _, ok := keys[r.Key]; ok != (r.Old != nil) {
						t.Errorf("%s step %d: key %s, old %+v", where, n, r.Key, r.Old)
					}
					keys[r.Key] = ""
					if r.Keys != int64(len(keys)) {
						t.Errorf("%s step %d: %d keys, told %d", where, n, len(keys), r.Keys)
					}
				case "base":
					inBase = true
					if _, ok := keys[r.Key]; !ok {
						t.Errorf("%s step %d: the key %s is not in the map", where, n, r.Key)
					}
					keys[r.Key] = r.Winner
				}
			}
			last := a.Steps[len(a.Steps)-1]
			if logs != a.Blocks.Counters.Records || last.Counters != a.Blocks.Counters {
				t.Errorf("%s: %d log records merged, the counters say %+v, want %+v", where, logs, last.Counters, a.Blocks.Counters)
			}
			for k, w := range keys {
				if strings.HasPrefix(name, "pending_") {
					break // a query, and so the history, reads the logs after the compaction too
				}
				h := rows[k+" "+part+" "+id+" "+base]
				if h == nil {
					t.Errorf("%s: %s has no history", where, k)
				} else if w == "" || (w == "removed") != (h.Result == "deleted") {
					t.Errorf("%s: %s ends as %q, the history says %s", where, k, w, h.Result)
				}
			}
		})
	}
	t.Logf("%v", winners)
	for _, w := range []string{"log new", "log old", "log combined", "base new", "base old", "base removed", "base combined"} {
		if winners[w] == 0 {
			t.Errorf("no merge is %q", w)
		}
	}
}

// TestScanRequests: limits, one file by itself, a log file without its table, what is not there.
func TestScanRequests(t *testing.T) {
	s := testService(t)
	ctx := context.Background()
	const name = "mor_rollback_multi_h0150"
	var part, id, base string
	everySlice(t, s, name, func(p, i, b string, _ bool) { part, id, base = p, i, b })
	whole, err := s.Scan(ctx, api.ScanRequest{Table: api.Table{Location: name}, Partition: part, FileID: id, Records: true})
	if err != nil || whole.Truncated {
		t.Fatal(err)
	}
	for limit := 1; limit <= len(whole.Steps); limit++ {
		a, err := s.Scan(ctx, api.ScanRequest{Table: api.Table{Location: name}, Partition: part, FileID: id, BaseInstant: base, Records: true, Limit: limit})
		if err != nil || len(a.Steps) != limit || a.Truncated != (limit < len(whole.Steps)) || a.RecordsFault != nil {
			t.Fatalf("limit %d: %v, %d steps, %+v", limit, err, len(a.Steps), a.RecordsFault)
		}
		if jsonOf(t, a.Steps) != jsonOf(t, whole.Steps[:limit]) {
			t.Fatalf("limit %d: other steps", limit)
		}
	}
	file := whole.Blocks.Files[0].File.Path
	one, err := s.Scan(ctx, api.ScanRequest{Table: api.Table{Location: name}, File: file, Records: true})
	if err != nil || len(one.Blocks.Files) != 1 || len(one.Steps) == 0 || one.RecordsFault == nil {
		t.Errorf("one file: %v, %+v", err, one)
	}
	src := tabletest.New("one")
	src.Put(file[strings.LastIndexByte(file, '/')+1:], tabletest.Open(t, name).Bytes(file))
	lone, err := New(func(context.Context, string) (storage.Source, error) { return src, nil }, Options{}).Scan(ctx, api.ScanRequest{Table: api.Table{Location: "x"}})
	if err != nil || len(lone.Steps) == 0 || lone.Steps[len(lone.Steps)-1].Kind != "pop" {
		t.Errorf("without its table: %v, %+v", err, lone)
	}
	for _, req := range []api.ScanRequest{{FileID: "none"}, {Partition: part, FileID: id, BaseInstant: "19700101000000"}, {File: "../x"}, {File: "x.parquet"}, {Partition: part, FileID: id, Limit: -1}, {Partition: part, FileID: id, AsOf: "now"}} {
		req.Location = name
		if _, err := s.Scan(ctx, req); err == nil || ToFault(err).Kind == "internal" {
			t.Errorf("%+v: %v", req, err)
		}
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Scan(stopped, api.ScanRequest{Table: api.Table{Location: name}, Partition: part, FileID: id, Records: true}); ToFault(err) == nil || ToFault(err).Kind != "cancelled" {
		t.Errorf("cancelled: %v", err)
	}
}
