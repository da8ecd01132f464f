package robust_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/tabletest"
)

// plan is a compaction plan of one file group.
func compactionPlan(instant, base string, logs ...string) map[string]any {
	names := []string{}
	for _, l := range logs {
		names = append(names, path.Base(l))
	}
	return map[string]any{"version": 2, "operations": []any{map[string]any{"baseInstantTime": instant, "deltaFilePaths": names, "dataFilePath": path.Base(base),
		"fileId": "f", "partitionPath": "", "metrics": map[string]float64{}, "bootstrapFilePath": nil}}}
}

// TestReport18_PendingCompaction: logs written after a compaction was scheduled belong to the slice
// that it will begin; a snapshot reads them on top of the slice before.
func TestReport18_PendingCompaction(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := build(t, version, nil)
		base := b.base("", "f", at(1), rowOf(at(1), "a", 1, "base", 1), rowOf(at(1), "z", 1, "base", 1))
		b.commit("deltacommit", 1, base)
		names := []string{at(1), at(3)} // the slice that a log begins with below version 8, its writer from then on
		if version >= 8 {
			names = []string{at(2), at(4)}
		}
		l1 := b.log("", "f", names[0], 1, data(logOf(), at(2), rec(at(2), "a", 2, "first", 2.0), rec(at(2), "b", 2, "first", 2.0)))
		b.commit("deltacommit", 2, l1)
		b.pending("compaction", 3, compactionPlan(at(1), base, l1))
		b.Remove(b.timeline() + "/" + at(3) + ".compaction.inflight")
		l2 := b.log("", "f", names[1], 1, data(logOf(), at(4), rec(at(4), "b", 3, "second", 3.0)))
		b.commit("deltacommit", 4, l2)
		want(t, "snapshot", read(t, b), "a/2/first/2", "b/3/second/3", "z/1/base/1")
		want(t, "read optimized", read(t, b, queryType, "read_optimized"), "a/1/base/1", "z/1/base/1")
		want(t, "incremental", read(t, b, queryType, "incremental", begin, compared(version, 2)), "b/3/second/3")
		g := groupOf(t, filesOf(t, b, ""), "f")
		if g.PendingCompaction != at(3) || len(g.Slices) != 2 || g.Slices[0].BaseInstant != at(3) || g.Slices[0].Base != nil || len(g.Slices[0].Logs) != 1 || g.Slices[0].Logs[0].Path != l2 || !g.Slices[0].Latest ||
			g.Slices[1].BaseInstant != at(1) || g.Slices[1].Base.Path != base || len(g.Slices[1].Logs) != 1 || g.Slices[1].Logs[0].Path != l1 {
			t.Errorf("the pending slice is not shown: %+v", g)
		}
		wantLadder(t, "snapshot", b, "b", "data:superseded, data:won = row")
		d, err := service(b).Instant(t.Context(), api.InstantRequest{Table: here, Requested: at(3)})
		if err != nil || d.Instant.State != "REQUESTED" || d.Work == nil || d.Work.Plan == nil || len(d.Work.Plan.Slices) != 1 || d.Work.Plan.Output != "" {
			t.Errorf("the plan: %+v, %v", d, err)
		}
	})
}

// TestReport19_PendingClusteringIsOldest: a pending clustering that is older than all completed
// instants is not committed by its position.
func TestReport19_PendingClusteringIsOldest(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := build(t, version, map[string]string{"hoodie.table.type": "COPY_ON_WRITE"})
		pending := b.pendingAction("replacecommit", "CLUSTER")
		old := b.base("", "old", at(1), rowOf(at(1), "a", 1, "base", 1)) // its commit is archived
		b.pending(pending, 2, map[string]any{"operationType": "CLUSTER", "version": 1, "clusteringPlan": map[string]any{"version": 1,
			"inputGroups": []any{map[string]any{"numOutputFileGroups": 1, "slices": []any{map[string]any{"fileId": "old", "partitionPath": "", "dataFilePath": old, "deltaFilePaths": []string{}}}}}}})
		half := b.base("", "new", at(2), rowOf(at(1), "a", 1, "base", 1))
		b.commit("commit", 3, b.base("", "other", at(3), rowOf(at(3), "c", 1, "base", 1)))
		want(t, "snapshot", read(t, b), "a/1/base/1", "c/1/base/1")
		want(t, "read optimized", read(t, b, queryType, "read_optimized"), "a/1/base/1", "c/1/base/1")
		want(t, "travel", read(t, b, "as.of.instant", at(2)), "a/1/base/1")
		view := filesOf(t, b, "")
		wantState(t, view, half, "uncommitted", at(2))
		wantState(t, view, old, "committed")
		if s := groupOf(t, view, "new").Slices[0]; s.Latest || s.Committed {
			t.Errorf("the half-written file: %+v", s)
		}
		if g := groupOf(t, view, "old"); g.PendingClustering != at(2) || g.ReplacedBy != "" {
			t.Errorf("the group to be clustered: %+v", g)
		}
		tl, err := service(b).Timeline(t.Context(), api.TimelineRequest{Table: here})
		if err != nil || len(tl.Active) != 2 || tl.Active[0].Requested != at(2) || tl.Active[0].Action != pending || tl.Active[0].State != "INFLIGHT" {
			t.Errorf("timeline: %+v, %v", tl, err)
		}
	})
}

// TestReport20_CompactionNotCommitted: the base file of a compaction that has not completed is none.
func TestReport20_CompactionNotCommitted(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := one(t, version, nil, []row{rowOf(at(1), "a", 1, "base", 1), rowOf(at(1), "z", 1, "base", 1)}, data(logOf(), at(2), rec(at(2), "a", 2, "log", 2.0)))
		log := ""
		for _, p := range b.Paths() {
			if strings.Contains(p, ".log.") {
				log = p
			}
		}
		b.pending("compaction", 3, compactionPlan(at(1), "f_0-1-0_"+at(1)+".parquet", log))
		half := b.base("", "f", at(3), rowOf(at(2), "a", 2, "log", 2), rowOf(at(1), "z", 1, "base", 1))
		for _, later := range []bool{false, true} { // with a delta commit after it, too
			snapshot := []string{"a/2/log/2", "z/1/base/1"}
			if later {
				instant := at(3)
				if version >= 8 {
					instant = at(4)
				}
				b.commit("deltacommit", 4, b.log("", "f", instant, 1, data(logOf(), at(4), rec(at(4), "z", 4, "later", 4.0))))
				snapshot[1] = "z/4/later/4"
			}
			want(t, "read optimized", read(t, b, queryType, "read_optimized"), "a/1/base/1", "z/1/base/1")
			want(t, "snapshot", read(t, b), snapshot...)
			view := filesOf(t, b, "")
			wantState(t, view, half, "uncommitted", at(3))
			wantState(t, view, "f_0-1-0_"+at(1)+".parquet", "committed")
			if g := groupOf(t, view, "f"); g.PendingCompaction != at(3) {
				t.Errorf("%+v", g)
			}
		}
		// It counts from when it is committed.
		b.Put(b.completed("commit", 3), b.encode("commit", map[string]any{"operationType": "COMPACT", "partitionToWriteStats": map[string]any{"": []any{map[string]any{"fileId": "f", "path": half, "partitionPath": "", "prevCommit": at(1), "fileSizeInBytes": len(b.Bytes(half))}}}}))
		want(t, "committed, read optimized", read(t, b, queryType, "read_optimized"), "a/2/log/2", "z/1/base/1")
		want(t, "committed, snapshot", read(t, b), "a/2/log/2", "z/4/later/4")
	})
}

// replaced are the file groups that a replacecommit replaces.
func replaced(ids ...string) map[string]any {
	return map[string]any{"partitionToReplaceFileIds": map[string][]string{"": ids}}
}

// TestReport21_Clustering: after a clustering only the new groups are read.
func TestReport21_Clustering(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		for _, typ := range []string{"COPY_ON_WRITE", "MERGE_ON_READ"} {
			b := build(t, version, map[string]string{"hoodie.table.type": typ})
			action := map[string]string{"COPY_ON_WRITE": "commit", "MERGE_ON_READ": "deltacommit"}[typ]
			one, two := b.base("", "g1", at(1), rowOf(at(1), "a", 1, "base", 1)), b.base("", "g2", at(1), rowOf(at(1), "b", 1, "base", 1))
			b.commit(action, 1, one, two)
			plan := map[string]any{"operationType": "CLUSTER", "version": 1, "clusteringPlan": map[string]any{"version": 1, "inputGroups": []any{map[string]any{"numOutputFileGroups": 1, "slices": []any{
				map[string]any{"fileId": "g1", "partitionPath": "", "dataFilePath": one, "deltaFilePaths": []string{}}, map[string]any{"fileId": "g2", "partitionPath": "", "dataFilePath": two, "deltaFilePaths": []string{}}}}}}}
			b.commitOf("replacecommit", 2, "CLUSTER", replaced("g1", "g2"), b.base("", "g3", at(2), rowOf(at(1), "a", 1, "base", 1), rowOf(at(1), "b", 1, "base", 1)))
			b.pending(b.pendingAction("replacecommit", "CLUSTER"), 2, plan)
			want(t, typ+", snapshot", read(t, b), "a/1/base/1", "b/1/base/1")
			want(t, typ+", read optimized", read(t, b, queryType, "read_optimized"), "a/1/base/1", "b/1/base/1")
			want(t, typ+", before", read(t, b, "as.of.instant", at(1)), "a/1/base/1", "b/1/base/1")
			// It moves rows and changes none.
			want(t, typ+", incremental", read(t, b, queryType, "incremental", begin, compared(version, 1)))
			view := filesOf(t, b, "")
			for _, id := range []string{"g1", "g2"} {
				if g := groupOf(t, view, id); g.ReplacedBy != at(2) || g.Slices[0].Latest {
					t.Errorf("%s: %+v", id, g)
				}
			}
			if g := groupOf(t, view, "g3"); g.ReplacedBy != "" || !g.Slices[0].Latest {
				t.Errorf("g3: %+v", g)
			}
			d, err := service(b).Instant(t.Context(), api.InstantRequest{Table: here, Requested: at(2)})
			if err != nil || d.Work == nil || d.Work.Service != "clustering" || len(d.Work.Replaced) != 2 {
				t.Errorf("the instant: %+v, %v", d, err)
			}
		}
	})
}

// TestReport22_TravelBeforeAnOverwrite: before an overwrite the replaced groups are there, and the new
// ones are not.
func TestReport22_TravelBeforeAnOverwrite(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := build(t, version, map[string]string{"hoodie.table.type": "COPY_ON_WRITE"})
		b.commit("commit", 1, b.base("", "g1", at(1), rowOf(at(1), "a", 1, "base", 1), rowOf(at(1), "b", 1, "base", 1), rowOf(at(1), "c", 1, "base", 1)))
		b.commitOf("replacecommit", 2, "INSERT_OVERWRITE_TABLE", replaced("g1"), b.base("", "g2", at(2), rowOf(at(2), "d", 1, "new", 1)))
		b.commit("commit", 3, b.base("", "g4", at(3), rowOf(at(3), "e", 1, "later", 1)))
		want(t, "now", read(t, b), "d/1/new/1", "e/1/later/1")
		want(t, "before", read(t, b, "as.of.instant", at(1)), "a/1/base/1", "b/1/base/1", "c/1/base/1")
		want(t, "at the overwrite", read(t, b, "as.of.instant", at(2)), "d/1/new/1")
		if g := groupOf(t, filesOf(t, b, ""), "g1"); g.ReplacedBy != at(2) || g.Slices[0].Latest {
			t.Errorf("now: %+v", g)
		}
		then := filesOf(t, b, at(1))
		if g := groupOf(t, then, "g1"); g.ReplacedBy != "" || !g.Slices[0].Latest || len(then.Partitions[0].Groups) != 1 {
			t.Errorf("before: %+v", then.Partitions[0].Groups)
		}
		if got := changes(t, b, at(1), at(2), "id"); !slices.Equal(got, []string{"deleted a", "deleted b", "deleted c", "inserted d"}) {
			t.Errorf("compared: %q", got)
		}
	})
}

// TestReport23_StreamSkipsCompactions: a stream from the beginning that skips compactions loses no row
// whose logs are cleaned.
func TestReport23_StreamSkipsCompactions(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := one(t, version, nil, []row{rowOf(at(1), "a", 1, "base", 1)}, data(logOf(), at(2), rec(at(2), "b", 2, "log", 2.0)))
		base := b.base("", "f", at(3), rowOf(at(1), "a", 1, "base", 1), rowOf(at(2), "b", 2, "log", 2))
		b.commitOf("commit", 3, "COMPACT", nil, base)
		for _, p := range b.Paths() { // what a clean removes
			if strings.Contains(p, ".log.") || strings.HasSuffix(p, at(1)+".parquet") {
				b.Remove(p)
			}
		}
		instant := at(3)
		if version >= 8 {
			instant = at(4)
		}
		b.commit("deltacommit", 4, b.log("", "f", instant, 1, data(logOf(), at(4), rec(at(4), "c", 2, "last", 2.0))))
		for _, skip := range []string{"true", "false"} {
			opts := map[string]string{"read.start-commit": "earliest", "read.streaming.skip_compaction": skip}
			r, err := service(b).Stream(t.Context(), api.StreamRequest{Table: here, Options: opts})
			if err != nil {
				t.Fatal(err)
			}
			want(t, fmt.Sprint(opts), r, "a/1/base/1", "b/2/log/2", "c/2/last/2")
		}
		want(t, "snapshot", read(t, b), "a/1/base/1", "b/2/log/2", "c/2/last/2")
		g := groupOf(t, filesOf(t, b, ""), "f")
		if len(g.Slices) != 1 || g.Slices[0].BaseInstant != at(3) || !g.Slices[0].Committed || g.Slices[0].Base.State != "committed" || len(g.Slices[0].Logs) != 1 {
			t.Errorf("the slice: %+v", g)
		}
	})
}

// TestReport24_NoBaseFile: a slice of log files alone gives rows, and none to a read of base files.
func TestReport24_NoBaseFile(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := one(t, version, nil, nil, data(logOf(), at(2), rec(at(2), "a", 2, "log", 2.0)), data(logOf(), at(3), rec(at(3), "a", 3, "log", 3.0), rec(at(3), "b", 3, "log", 3.0)))
		want(t, "snapshot", read(t, b), "a/3/log/3", "b/3/log/3")
		r := read(t, b, queryType, "read_optimized")
		want(t, "read optimized", r)
		if !r.TotalKnown || r.Total != 0 || len(r.Columns) == 0 {
			t.Errorf("read optimized: %+v", r)
		}
		for _, x := range r.Findings {
			if x.Level == "error" {
				t.Errorf("read optimized: %+v", x)
			}
		}
		g := groupOf(t, filesOf(t, b, ""), "f")
		if s := g.Slices[0]; s.Base != nil || !s.Committed || !s.Latest || len(g.Slices) != 1 || len(s.Logs) != 2 {
			t.Errorf("the slice: %+v", g)
		}
		ok, err := service(b).Health(t.Context(), api.HealthRequest{Table: here, Checks: []string{"missing-files", "orphan-files", "view"}})
		if err != nil || len(ok.Findings) > 0 {
			t.Errorf("health: %+v, %v", ok, err)
		}
	})
}

// TestReport25_PlanIsInTheTimeline: the plan of a compaction is the requested file; nothing is needed
// in .hoodie/.aux.
func TestReport25_PlanIsInTheTimeline(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := one(t, version, nil, []row{rowOf(at(1), "a", 1, "base", 1)}, data(logOf(), at(2), rec(at(2), "a", 2, "log", 2.0)))
		log := blocks(t, b).Files[0].File.Name
		b.pending("compaction", 3, compactionPlan(at(1), "f_0-1-0_"+at(1)+".parquet", log))
		b.Remove(b.timeline() + "/" + at(3) + ".compaction.inflight")
		for _, p := range b.Paths() {
			if strings.Contains(p, ".aux") {
				t.Fatalf("the table has %s", p)
			}
		}
		d, err := service(b).Instant(t.Context(), api.InstantRequest{Table: here, Requested: at(3)})
		if err != nil || d.Work == nil || d.Work.Plan == nil || len(d.Work.Plan.Slices) != 1 || d.Work.Plan.Slices[0].Logs[0] != log || d.Parts[0].Encoding != "avro" || d.Parts[0].Path != b.timeline()+"/"+at(3)+".compaction.requested" {
			t.Errorf("%+v, %v", d, err)
		}
		if g := groupOf(t, filesOf(t, b, ""), "f"); g.PendingCompaction != at(3) {
			t.Errorf("%+v", g)
		}
		want(t, "snapshot", read(t, b), "a/2/log/2")
	})
	// Tables of releases, with and without what they have in .aux.
	for _, name := range []string{"pending_compaction_inflight_h0150", "pending_compaction_requested_h120"} {
		whole := tabletest.Open(t, name)
		bare := whole.Clone()
		for _, p := range bare.Paths() {
			if strings.HasPrefix(p, ".hoodie/.aux/") {
				bare.Remove(p)
			}
		}
		with, without := texts(read(t, whole), "_hoodie_record_key", "_hoodie_commit_time"), texts(read(t, bare), "_hoodie_record_key", "_hoodie_commit_time")
		if len(with) == 0 || !slices.Equal(with, without) {
			t.Errorf("%s: rows %q, without .aux %q", name, with, without)
		}
		pending := func(f *api.Files) (n int) {
			for _, p := range f.Partitions {
				for _, g := range p.Groups {
					if g.PendingCompaction != "" {
						n++
					}
				}
			}
			return n
		}
		if a, b := pending(filesOf(t, whole, "")), pending(filesOf(t, bare, "")); a == 0 || a != b {
			t.Errorf("%s: %d groups wait for compaction, without .aux %d", name, a, b)
		}
	}
}

// TestReport26_HollowCommit: a pending write is older than a completed one.
func TestReport26_HollowCommit(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := one(t, version, nil, []row{rowOf(at(1), "a", 1, "base", 1)}, data(logOf(), at(2), rec(at(2), "b", 2, "hollow", 2.0)), data(logOf(), at(3), rec(at(3), "c", 3, "later", 3.0)))
		hollow := b.Bytes(b.completed("deltacommit", 2))
		b.Remove(b.completed("deltacommit", 2))
		want(t, "snapshot", read(t, b), "a/1/base/1", "c/3/later/3")
		r := read(t, b, queryType, "incremental", begin, compared(version, 1))
		if version >= 8 {
			// By completion time nothing is passed over: when the pending write completes, its time is later.
			want(t, "incremental", r, "c/3/later/3")
		} else {
			want(t, "incremental", r)
			says(t, "incremental", r.Findings, at(2), "pending")
		}
		r = read(t, b, "as.of.instant", at(3))
		want(t, "travel", r, "a/1/base/1", "c/3/later/3")
		if version < 8 {
			says(t, "travel", r.Findings, at(2))
		}
		ill(t, b, "hollow-commits", at(2))
		// The pending write completes, after the other one. A cursor that stopped where the first read ended misses nothing.
		if version < 8 {
			b.Put(b.completed("deltacommit", 2), hollow)
			want(t, "the next read", read(t, b, queryType, "incremental", begin, at(1)), "b/2/hollow/2", "c/3/later/3")
			return
		}
		b.Put(b.timeline()+"/"+at(2)+"_"+done(4)+".deltacommit", hollow)
		want(t, "the next read", read(t, b, queryType, "incremental", begin, done(3)), "b/2/hollow/2")
		want(t, "snapshot", read(t, b), "a/1/base/1", "b/2/hollow/2", "c/3/later/3")
	})
}

// TestReport27_WhichTimeIsCompared: from version 8 on the bounds of a read of changes are completion
// times, and the start is not included; below, they are requested times.
func TestReport27_WhichTimeIsCompared(t *testing.T) {
	for _, version := range []int{6, 8, 9} {
		b := build(t, version, map[string]string{"hoodie.table.type": "COPY_ON_WRITE"})
		b.commit("commit", 1, b.base("", "g1", at(1), rowOf(at(1), "a", 1, "base", 1), rowOf(at(1), "b", 1, "base", 1)))
		b.commit("commit", 2, b.base("", "g2", at(2), rowOf(at(2), "c", 1, "base", 1)))
		what := fmt.Sprintf("version %d", version)
		ranges, err := service(b).Ranges(t.Context(), api.RangesRequest{Table: here, Options: options(queryType, "incremental", begin, at(1))})
		if err != nil || ranges.ByRequestedTime != (version < 8) {
			t.Errorf("%s: %+v, %v", what, ranges, err)
		}
		if version < 8 {
			want(t, what+", after the request of 1", read(t, b, queryType, "incremental", begin, at(1)), "c/1/base/1")
			continue
		}
		want(t, what+", after the request of 1", read(t, b, queryType, "incremental", begin, at(1)), "a/1/base/1", "b/1/base/1", "c/1/base/1")
		want(t, what+", after the completion of 1", read(t, b, queryType, "incremental", begin, done(1)), "c/1/base/1")
		want(t, what+", up to the completion of 1", read(t, b, queryType, "incremental", begin, at(1), end, done(1)), "a/1/base/1", "b/1/base/1")
		p, err := service(b).Plan(t.Context(), api.PlanRequest{Table: here, Options: options(queryType, "incremental", begin, at(1))})
		if err != nil || len(p.Instants) != 2 || p.Instants[0].Requested != at(1) || p.Instants[0].Completed != done(1) || p.Instants[1].Completed != done(2) || !strings.Contains(p.Range, "omplet") {
			t.Errorf("%s: %+v, %v", what, p, err)
		}
		// Releases 1.0 took the start in.
		if r, err := service(b).Rows(t.Context(), api.RowsRequest{Table: api.Table{Location: "x", Hudi: "1.0.2"}, Options: options(queryType, "incremental", begin, done(1))}); err != nil {
			if version == 8 {
				t.Errorf("%s, as 1.0.2: %v", what, err)
			}
		} else {
			want(t, what+", as 1.0.2", r, "a/1/base/1", "b/1/base/1", "c/1/base/1")
		}
	}
}

// TestReport28_NewestInstantIsEmpty: the file of the newest completed instant has no content.
func TestReport28_NewestInstantIsEmpty(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		for _, cut := range []int{0, 20} { // a crash, or a write that got half way
			b := one(t, version, nil, []row{rowOf(at(1), "a", 1, "base", 1)}, data(logOf(), at(2), rec(at(2), "a", 2, "log", 2.0)))
			b.commit("deltacommit", 3, b.base("", "g2", at(3), rowOf(at(3), "b", 1, "base", 1)))
			file := b.completed("deltacommit", 3)
			b.Put(file, b.Bytes(file)[:cut])
			what := fmt.Sprintf("%d bytes", cut)
			r := read(t, b)
			// That it is completed is told by its name, so that its files count; that the answer may not be whole is said.
			want(t, what, r, "a/2/log/2", "b/1/base/1")
			says(t, what, r.Findings, path.Base(file))
			for _, x := range r.Findings {
				if strings.Contains(x.Title+x.Detail+x.File, path.Base(file)) && x.Level == "note" {
					t.Errorf("%s: only a note: %+v", what, x)
				}
			}
			ill(t, b, "damaged-instants", path.Base(file))
			tl, err := service(b).Timeline(t.Context(), api.TimelineRequest{Table: here})
			if err != nil || len(tl.Active) != 3 || tl.Active[2].State != "COMPLETED" {
				t.Fatalf("%s: %+v, %v", what, tl, err)
			}
			if cut == 0 { // a timeline is names and sizes
				says(t, what+", timeline", tl.Finding, at(3))
			}
			// What is older can be browsed, and so can the blocks and the instant itself.
			want(t, what+", before", read(t, b, "as.of.instant", at(2)), "a/2/log/2")
			if got := fates(blocks(t, b)); got != "AVRO_DATA:merged" {
				t.Errorf("%s: blocks %s", what, got)
			}
			d, err := service(b).Instant(t.Context(), api.InstantRequest{Table: here, Requested: at(3)})
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if last := d.Parts[len(d.Parts)-1]; last.Size != int64(cut) || cut == 0 && last.Encoding != "empty" || cut > 0 && (last.Fault == nil || last.Fault.File != file) {
				t.Errorf("%s: %+v", what, last)
			}
			if d, err = service(b).Instant(t.Context(), api.InstantRequest{Table: here, Requested: at(2)}); err != nil || d.Summary == nil || len(d.Summary.Partitions) != 1 {
				t.Errorf("%s, the instant before: %+v, %v", what, d, err)
			}
		}
	})
}

// TestReport29_ArchivedDeltaCommit: a log whose delta commit has left the active timeline counts.
func TestReport29_ArchivedDeltaCommit(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		table := func() *built {
			return one(t, version, nil, []row{rowOf(at(1), "a", 1, "base", 1)}, data(logOf(), at(2), rec(at(2), "a", 2, "archived", 2.0)), data(logOf(), at(3), rec(at(3), "b", 3, "active", 3.0)))
		}
		b := table()
		b.archive("deltacommit", 1, 2)
		rows := []string{"a/2/archived/2", "b/3/active/3"}
		check := func(what string, b *built) {
			t.Helper()
			r := read(t, b)
			want(t, what, r, rows...)
			for _, x := range r.Findings {
				t.Errorf("%s: %+v", what, x)
			}
			view := filesOf(t, b, "")
			if s := groupOf(t, view, "f").Slices; len(s) != 1 || !s[0].Committed || !s[0].Latest || len(s[0].Logs) != 2 {
				t.Errorf("%s: %+v", what, s)
			} else {
				for _, l := range s[0].Logs {
					wantState(t, view, l.Path, "committed")
				}
			}
			list, err := service(b).Blocks(t.Context(), api.BlocksRequest{Table: here, FileID: "f"})
			if got := fates(list); err != nil || got != "AVRO_DATA:merged, AVRO_DATA:merged" {
				t.Errorf("%s: %s, %v", what, got, err)
			}
			h, err := service(b).Health(t.Context(), api.HealthRequest{Table: here, Checks: []string{"orphan-files", "missing-files", "view"}})
			if err != nil || len(h.Findings) > 0 {
				t.Errorf("%s, health: %+v, %v", what, h, err)
			}
		}
		check("archived", b)
		tl, err := service(b).Timeline(t.Context(), api.TimelineRequest{Table: here, Archived: true})
		if err != nil || len(tl.Active) != 1 || len(tl.Finding) > 0 {
			t.Fatalf("%+v, %v", tl, err)
		}
		completed := map[string]string{}
		for _, x := range tl.Archived {
			if x.State == "COMPLETED" {
				completed[x.Requested] = x.Action + " " + x.Completed
			}
		}
		if len(completed) != 2 || completed[at(1)] != "deltacommit "+done(1) || completed[at(2)] != "deltacommit "+done(2) {
			t.Errorf("archived: %+v", tl.Archived)
		}
		want(t, "travel", read(t, b, "as.of.instant", at(2)), "a/2/archived/2")

		// The archive is gone, too: older than the active timeline is completed.
		for _, p := range b.Paths() {
			if strings.HasPrefix(p, ".hoodie/archived/") || strings.HasPrefix(p, ".hoodie/timeline/history/") {
				b.Remove(p)
			}
		}
		check("without the archive", b)
	})

	// Requested before a compaction and completed after it: the archive alone tells that the log belongs
	// to the slice that the compaction began.
	b := one(t, 9, nil, []row{rowOf(at(1), "a", 1, "base", 1)}, data(logOf(), at(2), rec(at(2), "b", 2, "late", 2.0)))
	b.commitOf("commit", 3, "COMPACT", nil, b.base("", "f", at(3), rowOf(at(1), "a", 1, "base", 1)))
	late := b.timeline() + "/" + at(2) + "_" + done(4) + ".deltacommit"
	b.Put(late, b.Bytes(b.completed("deltacommit", 2)))
	b.Remove(b.completed("deltacommit", 2))
	b.commit("deltacommit", 6, b.base("", "g", at(6), rowOf(at(6), "c", 1, "other", 1)))
	want(t, "completed after the compaction", read(t, b), "a/1/base/1", "b/2/late/2", "c/1/other/1")
	b.archive("deltacommit", 1, 2)
	want(t, "completed after the compaction, archived", read(t, b), "a/1/base/1", "b/2/late/2", "c/1/other/1")
	if s := groupOf(t, filesOf(t, b, ""), "f").Slices[0]; s.BaseInstant != at(3) || len(s.Logs) != 1 {
		t.Errorf("the slice of the compaction: %+v", s)
	}

	// A real table whose delta commits are archived.
	f := tabletest.Open(t, "archived_mor_h120")
	whole := texts(read(t, f), "_hoodie_record_key", "_hoodie_commit_time")
	if len(whole) == 0 {
		t.Fatal("no rows")
	}
}

// TestReport30_PlanNamesAMissingLog: a log of a pending plan is gone, and the newest commit does not
// name it.
func TestReport30_PlanNamesAMissingLog(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := one(t, version, nil, []row{rowOf(at(1), "a", 1, "base", 1)}, data(logOf(), at(2), rec(at(2), "a", 2, "lost", 2.0)))
		log := ""
		for _, p := range b.Paths() {
			if strings.Contains(p, ".log.") {
				log = p
			}
		}
		b.pending("compaction", 3, compactionPlan(at(1), "f_0-1-0_"+at(1)+".parquet", log))
		instant := at(3)
		if version >= 8 {
			instant = at(4)
		}
		b.commit("deltacommit", 4, b.log("", "f", instant, 1, data(logOf(), at(4), rec(at(4), "b", 3, "later", 3.0))))
		b.archive("deltacommit", 1, 2) // so that the plan alone names it
		want(t, "before", read(t, b), "a/2/lost/2", "b/3/later/3")
		b.Remove(log)
		r := read(t, b)
		// What is there is shown, and not as if it were whole.
		want(t, "rows", r, "a/1/base/1", "b/3/later/3")
		says(t, "rows", r.Findings, log, at(3))
		for _, x := range r.Findings {
			if strings.Contains(x.Title+x.Detail+x.File, log) && x.Level == "note" {
				t.Errorf("only a note: %+v", x)
			}
		}
		ill(t, b, "missing-files", log, at(3))
		d, err := service(b).Instant(t.Context(), api.InstantRequest{Table: here, Requested: at(3)})
		if err != nil || d.Work == nil || d.Work.Plan == nil || len(d.Work.Plan.Slices) != 1 || !slices.Contains(d.Work.Plan.Slices[0].Logs, path.Base(log)) {
			t.Errorf("the plan: %+v, %v", d, err)
		}
	})
}

// TestReport31_KeyInTwoGroups: a key in two file groups is two rows and a finding.
func TestReport31_KeyInTwoGroups(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		for what, c := range map[string]struct {
			partitions [2]string
			instants   [2]int
		}{"one commit": {instants: [2]int{1, 1}}, "two commits": {instants: [2]int{1, 2}}, "two partitions": {[2]string{"x", "y"}, [2]int{1, 2}}} {
			props := map[string]string{"hoodie.table.type": "COPY_ON_WRITE"}
			if c.partitions[0] != "" {
				props["hoodie.table.partition.fields"] = "city"
			}
			b := build(t, version, props)
			one, two := b.base(c.partitions[0], "g1", at(c.instants[0]), rowOf(at(c.instants[0]), "a", 1, "one", 1)), b.base(c.partitions[1], "g2", at(c.instants[1]), rowOf(at(c.instants[1]), "a", 1, "two", 1), rowOf(at(c.instants[1]), "b", 1, "single", 1))
			if c.instants[0] == c.instants[1] {
				b.commit("commit", 1, one, two)
			} else {
				b.commit("commit", c.instants[0], one)
				b.commit("commit", c.instants[1], two)
			}
			want(t, what, read(t, b), "a/1/one/1", "a/1/two/1", "b/1/single/1")
			ill(t, b, "duplicate-keys", "g1", "g2", at(c.instants[0]), at(c.instants[1]))
			h, err := service(b).History(t.Context(), api.HistoryRequest{Table: here, Key: "a"})
			if err != nil || len(h.Keys) != 1 || len(h.Keys[0].Copies) != 2 || !h.Keys[0].Copies[0].Visible || !h.Keys[0].Copies[1].Visible {
				t.Errorf("%s, history: %+v, %v", what, h, err)
			}
		}
		// In log files, too: the second group has no base file.
		b := one(t, version, nil, []row{rowOf(at(1), "a", 1, "one", 1)})
		instant := at(2)
		b.commit("deltacommit", 2, b.log("", "g2", instant, 1, data(logOf(), at(2), rec(at(2), "a", 2, "two", 2.0))))
		want(t, "a log", read(t, b), "a/1/one/1", "a/2/two/2")
		ill(t, b, "duplicate-keys", "f", "g2", at(1), at(2))
		// A key that was moved is in one place.
		b = build(t, version, map[string]string{"hoodie.table.type": "COPY_ON_WRITE"})
		b.commit("commit", 1, b.base("", "g1", at(1), rowOf(at(1), "a", 1, "one", 1)))
		b.commitOf("replacecommit", 2, "CLUSTER", replaced("g1"), b.base("", "g2", at(2), rowOf(at(1), "a", 1, "one", 1)))
		if h, err := service(b).Health(t.Context(), api.HealthRequest{Table: here, Checks: []string{"duplicate-keys"}}); err != nil || len(h.Findings) > 0 {
			t.Errorf("moved: %+v, %v", h, err)
		}
	})
}
