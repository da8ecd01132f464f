package explorer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/tabletest"
)

// fileStates are the states that Files tells of the files of slices that are not committed, by path.
func fileStates(t *testing.T, s *Service, table string) map[string]api.File {
	t.Helper()
	out := map[string]api.File{}
	for _, p := range ask[api.Files](t, s, api.OpFiles, fmt.Sprintf(`{"table":%q}`, table)).Partitions {
		for _, g := range p.Groups {
			for _, sl := range g.Slices {
				for _, f := range append(slices.Clone(sl.Logs), withBase(sl)...) {
					if f.State != "committed" && f.State != "cdc" {
						out[p.Partition+"/"+f.Name] = f
					}
				}
			}
		}
	}
	return out
}

func withBase(sl api.Slice) []api.File {
	if sl.Base == nil {
		return nil
	}
	return []api.File{*sl.Base}
}

// TestFileStatesAgree: what the files view says about files that do not count is what the health check says, in every table.
func TestFileStatesAgree(t *testing.T) {
	s := testService(t)
	states := map[string]int{}
	for _, name := range tabletest.Names(t, "about.json") {
		files := fileStates(t, s, name)
		told := map[string]string{}
		for _, f := range ask[api.Health](t, s, api.OpHealth, fmt.Sprintf(`{"table":%q}`, name)).Findings {
			if f.Check != "orphan-files" || f.Title == "Files that their completed instant does not name" || f.Title == "Files that are no data files" {
				continue
			}
			for _, e := range f.Evidence {
				told[e.Partition+"/"+e.File] = f.Title
			}
		}
		for _, p := range slices.Sorted(maps.Keys(files)) {
			f := files[p]
			states[f.State]++
			want := "Files of pending instants"
			if f.State == "orphan" {
				want = "Files of instants that the timeline does not have"
				if strings.HasPrefix(f.Why, "no instant of the active timeline names it") {
					want = "Log files that no commit and no rollback names"
				}
			}
			if told[p] != want {
				t.Errorf("%s: %s is %s (%s), the health check has it under %q, want %q", name, p, f.State, f.Why, told[p], want)
			}
		}
		for p, title := range told {
			if files[p].State == "" {
				t.Errorf("%s: %s is committed among the files, the health check has it under %q", name, p, title)
			}
		}
	}
	if states["uncommitted"] == 0 {
		t.Errorf("states seen: %v, want uncommitted among them", states)
	}
}

// TestLogWriters: below table version 8 the name of a log file tells its slice only; the file of a pending write is told from those of
// completed writes all the same. One whose write was rolled back counts, and its blocks are passed over.
func TestLogWriters(t *testing.T) {
	s := testService(t)
	for _, c := range []struct{ table, file, state, why string }{
		{"inflight_leftover_mor_h0150", "chennai/.9fcec35e-7c43-4410-bdb9-9fa3d6135078-0_20261129235320724.log.2_1-1296-1784", "uncommitted",
			"its blocks are of the deltacommit 20261129235329996, which is INFLIGHT"},
		{"inflight_leftover_mor_h0150", "chennai/.9fcec35e-7c43-4410-bdb9-9fa3d6135078-0_20261129235320724.log.1_1-1272-1761", "", ""},
		{"mor_rollback_h0150", "chennai/.074a8d01-6d67-4dc4-bb67-63dcdf209b7e-0_20261129231800148.log.2_2-946-1152", "", ""},
		{"mor_rollback_h0150", "chennai/.074a8d01-6d67-4dc4-bb67-63dcdf209b7e-0_20261129231800148.log.3_1-0-1", "", ""},
	} {
		if f := fileStates(t, s, c.table)[c.file]; f.State != c.state || f.Why != c.why {
			t.Errorf("%s %s: %q (%s), want %q (%s)", c.table, c.file, f.State, f.Why, c.state, c.why)
		}
	}
}

// TestRolledBack: a rollback names the instant it undid, which is gone, and the log files that its command blocks are in; those whose
// blocks it cancels Hudi 0.15 does not name. Asked for the instant itself, the answer says who undid it.
func TestRolledBack(t *testing.T) {
	s := testService(t)
	d := ask[api.InstantDetail](t, s, api.OpInstant, `{"table":"mor_rollback_multi_h0150","requested":"20261129232717337"}`)
	if d.Work == nil || d.Work.Rollback == nil || len(d.Work.Rollback.Partitions) != 3 {
		t.Fatalf("work %+v", d.Work)
	}
	for _, p := range d.Work.Rollback.Partitions {
		if p.UnnamedLogs != 1 || len(p.WriteLogs) != 0 || len(p.CommandLogs) != 1 || !strings.Contains(p.CommandLogs[0].Path, ".log.3_1-0-1") {
			t.Errorf("%s: %+v", p.Partition, p)
		}
	}
	_, err := s.Do(t.Context(), api.OpInstant, []byte(`{"table":"mor_rollback_multi_h0150","requested":"20261129232638088"}`), nil)
	if f := ToFault(err); f == nil || f.Kind != "not found" || f.Message != "The instant 20261129232638088 is gone from the timeline: the rollback 20261129232717337 undid it." {
		t.Errorf("fault %+v", f)
	}
}

// TestAmplification holds write amplification and log growth against sums over the commits' own numbers.
func TestAmplification(t *testing.T) {
	a := ask[api.Activity](t, testService(t), api.OpActivity, `{"table":"mor_compacted_h0150"}`)
	// Bytes written, of new data, both so far, and of logs that no base file has taken up.
	want := [][5]int64{
		{25566, 25566, 25566, 25566, 0},        // insert
		{3950, 3950, 29516, 29516, 3950},       // update into logs
		{25501, 0, 55017, 29516, 0},            // compaction
		{3950, 3950, 58967, 33466, 3950},       // update into logs
		{2018, 2018, 60985, 35484, 5968},       // delete into logs
		{25444, 0, 86429, 35484, 0},            // compaction
		{17052, 2834 + 3419, 103481, 41737, 0}, // 2 of 6 and 2 of 5 records of two base files
		{1137, 1137, 104618, 42874, 1137},      // update into a log
	}
	if len(a.Commits) != len(want) {
		t.Fatalf("%d commits, want %d", len(a.Commits), len(want))
	}
	for i, c := range a.Commits {
		if got := [5]int64{c.Base + c.Log, c.New, c.Written, c.NewSoFar, c.LogsLeft}; got != want[i] {
			t.Errorf("%s %s: %v, want %v", c.Requested, c.Operation, got, want[i])
		}
	}
}

// TestGroupGone: what is known of the slice of a file that is no longer there, by what wrote it and by what removed it.
func TestGroupGone(t *testing.T) {
	g := ask[api.Group](t, testService(t), api.OpGroup, `{"table":"cow_trips_h102","partition":"sao_paulo","file_id":"70c165d1-938b-449d-9ae8-e7e1ddd2e117-0"}`)
	wrote, removed := 0, 0
	for _, e := range g.Events {
		if !e.Gone {
			continue
		}
		switch {
		case e.What == "base file" && e.Slice == e.Instant:
			wrote++
		case e.What == "cleaned" && strings.Contains(e.File, "_"+e.Slice+"."):
			removed++
		default:
			t.Errorf("%+v", e)
		}
	}
	if wrote != 3 || removed != 3 {
		t.Errorf("%d files written and %d removed, want 3 of each", wrote, removed)
	}
}
