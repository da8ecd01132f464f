package robust_test

import (
	"fmt"
	"path"
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
	b := build(t, 6, nil)
	base := b.base("", "f", at(1), rowOf(at(1), "a", 1, "base", 1), rowOf(at(1), "z", 1, "base", 1))
	b.commit("deltacommit", 1, base)
	l1 := b.log("", "f", at(1), 1, data(logOf(), at(2), rec(at(2), "a", 2, "first", 2.0), rec(at(2), "b", 2, "first", 2.0)))
	b.commit("deltacommit", 2, l1)
	b.pending("compaction", 3, compactionPlan(at(1), base, l1))
	b.Remove(".hoodie/" + at(3) + ".compaction.inflight")
	b.commit("deltacommit", 4, b.log("", "f", at(3), 1, data(logOf(), at(4), rec(at(4), "b", 3, "second", 3.0))))
	want(t, "snapshot", read(t, b), "a/2/first/2", "b/3/second/3", "z/1/base/1")
	want(t, "read optimized", read(t, b, queryType, "read_optimized"), "a/1/base/1", "z/1/base/1")
	files, err := service(b).Files(t.Context(), api.FilesRequest{Table: here})
	if err != nil {
		t.Fatal(err)
	}
	if g := files.Partitions[0].Groups[0]; g.PendingCompaction != at(3) || len(g.Slices) != 2 || g.Slices[0].BaseInstant != at(3) {
		t.Errorf("the pending slice is not shown: %+v", g)
	}
}

// TestReport19_PendingClusteringIsOldest: a pending clustering that is older than all completed
// instants is not committed by its position.
func TestReport19_PendingClusteringIsOldest(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := build(t, version, map[string]string{"hoodie.table.type": "COPY_ON_WRITE"})
		old := b.base("", "old", at(1), rowOf(at(1), "a", 1, "base", 1)) // its commit is archived
		b.pending("replacecommit", 2, map[string]any{"operationType": "CLUSTER", "version": 1, "clusteringPlan": map[string]any{"version": 1,
			"inputGroups": []any{map[string]any{"numOutputFileGroups": 1, "slices": []any{map[string]any{"fileId": "old", "partitionPath": "", "dataFilePath": old, "deltaFilePaths": []string{}}}}}}})
		b.base("", "new", at(2), rowOf(at(1), "a", 1, "base", 1))
		b.commit("commit", 3, b.base("", "other", at(3), rowOf(at(3), "c", 1, "base", 1)))
		want(t, "snapshot", read(t, b), "a/1/base/1", "c/1/base/1")
		files, err := service(b).Files(t.Context(), api.FilesRequest{Table: here})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range files.Partitions[0].Groups {
			if s := g.Slices[0]; g.FileID == "new" && (s.Base.State != "uncommitted" || s.Latest || s.Committed) {
				t.Errorf("the half-written file: %+v", s)
			}
		}
	})
}

// TestReport20_CompactionNotCommitted: the base file of a compaction that has not completed is none.
func TestReport20_CompactionNotCommitted(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := one(t, version, nil, []row{rowOf(at(1), "a", 1, "base", 1)}, data(logOf(), at(2), rec(at(2), "a", 2, "log", 2.0)))
		log := ""
		for _, p := range b.Paths() {
			if strings.Contains(p, ".log.") {
				log = p
			}
		}
		b.pending("compaction", 3, compactionPlan(at(1), "f_0-1-0_"+at(1)+".parquet", log))
		b.base("", "f", at(3), rowOf(at(2), "a", 2, "log", 2))
		want(t, "read optimized", read(t, b, queryType, "read_optimized"), "a/1/base/1")
		want(t, "snapshot", read(t, b), "a/2/log/2")
	})
}

// replaced are the file groups that a replacecommit replaces.
func replaced(ids ...string) map[string]any {
	return map[string]any{"partitionToReplaceFileIds": map[string][]string{"": ids}}
}

// TestReport21_Clustering: after a clustering only the new groups are read.
func TestReport21_Clustering(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := build(t, version, map[string]string{"hoodie.table.type": "COPY_ON_WRITE"})
		b.commit("commit", 1, b.base("", "g1", at(1), rowOf(at(1), "a", 1, "base", 1)), b.base("", "g2", at(1), rowOf(at(1), "b", 1, "base", 1)))
		b.commitOf("replacecommit", 2, "CLUSTER", replaced("g1", "g2"), b.base("", "g3", at(2), rowOf(at(1), "a", 1, "base", 1), rowOf(at(1), "b", 1, "base", 1)))
		want(t, "snapshot", read(t, b), "a/1/base/1", "b/1/base/1")
		want(t, "read optimized", read(t, b, queryType, "read_optimized"), "a/1/base/1", "b/1/base/1")
	})
}

// TestReport22_TravelBeforeAnOverwrite: before an overwrite the replaced groups are there, and the new
// ones are not.
func TestReport22_TravelBeforeAnOverwrite(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := build(t, version, map[string]string{"hoodie.table.type": "COPY_ON_WRITE"})
		b.commit("commit", 1, b.base("", "g1", at(1), rowOf(at(1), "a", 1, "base", 1), rowOf(at(1), "b", 1, "base", 1), rowOf(at(1), "c", 1, "base", 1)))
		b.commitOf("replacecommit", 2, "INSERT_OVERWRITE_TABLE", replaced("g1"), b.base("", "g2", at(2), rowOf(at(2), "d", 1, "new", 1)))
		want(t, "now", read(t, b), "d/1/new/1")
		want(t, "before", read(t, b, "as.of.instant", at(1)), "a/1/base/1", "b/1/base/1", "c/1/base/1")
		want(t, "at the overwrite", read(t, b, "as.of.instant", at(2)), "d/1/new/1")
	})
}

// TestReport23_StreamSkipsCompactions: a stream from the beginning that skips compactions loses no row
// whose logs are cleaned.
func TestReport23_StreamSkipsCompactions(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := one(t, version, nil, []row{rowOf(at(1), "a", 1, "base", 1)}, data(logOf(), at(2), rec(at(2), "b", 2, "log", 2.0)))
		base := b.base("", "f", at(3), rowOf(at(1), "a", 1, "base", 1), rowOf(at(2), "b", 2, "log", 2))
		b.instant("compaction", "commit", 3, nil)
		b.commitOf("commit", 3, "COMPACT", nil, base)
		for _, p := range b.Paths() { // what a clean removes
			if strings.Contains(p, ".log.") || strings.HasSuffix(p, at(1)+".parquet") {
				b.Remove(p)
			}
		}
		if version < 8 {
			b.commit("deltacommit", 4, b.log("", "f", at(3), 1, data(logOf(), at(4), rec(at(4), "c", 2, "last", 2.0))))
		} else {
			b.commit("deltacommit", 4, b.log("", "f", at(4), 1, data(logOf(), at(4), rec(at(4), "c", 2, "last", 2.0))))
		}
		for _, opts := range []map[string]string{
			{"read.start-commit": "earliest", "read.streaming.skip_compaction": "true"},
			{"read.start-commit": "earliest", "read.streaming.skip_compaction": "false"},
		} {
			r, err := service(b).Stream(t.Context(), api.StreamRequest{Table: here, Options: opts})
			if err != nil {
				t.Fatal(err)
			}
			want(t, fmt.Sprint(opts), r, "a/1/base/1", "b/2/log/2", "c/2/last/2")
		}
	})
}

// TestReport24_NoBaseFile: a slice of log files alone gives rows, and none to a read of base files.
func TestReport24_NoBaseFile(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := one(t, version, nil, nil, data(logOf(), at(2), rec(at(2), "a", 2, "log", 2.0)))
		want(t, "snapshot", read(t, b), "a/2/log/2")
		r := read(t, b, queryType, "read_optimized")
		want(t, "read optimized", r)
		if !r.TotalKnown || len(r.Columns) == 0 {
			t.Errorf("read optimized: %+v", r)
		}
	})
}

// TestReport25_PlanIsInTheTimeline: the plan of a compaction is the requested file; nothing is needed
// in .hoodie/.aux.
func TestReport25_PlanIsInTheTimeline(t *testing.T) {
	b := one(t, 6, nil, []row{rowOf(at(1), "a", 1, "base", 1)}, data(logOf(), at(2), rec(at(2), "a", 2, "log", 2.0)))
	b.pending("compaction", 3, compactionPlan(at(1), "f_0-1-0_"+at(1)+".parquet", ".f_"+at(1)+".log.1_0-1-0"))
	for _, p := range b.Paths() {
		if strings.Contains(p, ".aux") {
			t.Fatalf("the table has %s", p)
		}
	}
	d, err := service(b).Instant(t.Context(), api.InstantRequest{Table: here, Requested: at(3)})
	if err != nil || d.Work == nil || d.Work.Plan == nil || len(d.Work.Plan.Slices) != 1 || d.Work.Plan.Slices[0].Logs[0] != ".f_"+at(1)+".log.1_0-1-0" {
		t.Errorf("%+v, %v", d, err)
	}
	want(t, "snapshot", read(t, b), "a/2/log/2")
}

// TestReport26_HollowCommit: a pending write is older than a completed one.
func TestReport26_HollowCommit(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := one(t, version, nil, []row{rowOf(at(1), "a", 1, "base", 1)}, data(logOf(), at(2), rec(at(2), "b", 2, "hollow", 2.0)), data(logOf(), at(3), rec(at(3), "c", 3, "later", 3.0)))
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
	})
}

// TestReport27_WhichTimeIsCompared: from version 8 on the bounds of a read of changes are completion
// times, and the start is not included.
func TestReport27_WhichTimeIsCompared(t *testing.T) {
	b := build(t, 8, map[string]string{"hoodie.table.type": "COPY_ON_WRITE"})
	b.commit("commit", 1, b.base("", "g1", at(1), rowOf(at(1), "a", 1, "base", 1), rowOf(at(1), "b", 1, "base", 1)))
	b.commit("commit", 2, b.base("", "g2", at(2), rowOf(at(2), "c", 1, "base", 1)))
	want(t, "after the request of 1", read(t, b, queryType, "incremental", begin, at(1)), "a/1/base/1", "b/1/base/1", "c/1/base/1")
	want(t, "after the completion of 1", read(t, b, queryType, "incremental", begin, done(1)), "c/1/base/1")
	want(t, "up to the completion of 1", read(t, b, queryType, "incremental", begin, at(1), end, done(1)), "a/1/base/1", "b/1/base/1")
	p, err := service(b).Plan(t.Context(), api.PlanRequest{Table: here, Options: options(queryType, "incremental", begin, at(1))})
	if err != nil || len(p.Instants) != 2 || p.Instants[0].Requested != at(1) || p.Instants[0].Completed != done(1) || !strings.Contains(p.Range, "omplet") {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestReport28_NewestInstantIsEmpty: the file of the newest completed instant has no content.
func TestReport28_NewestInstantIsEmpty(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := build(t, version, map[string]string{"hoodie.table.type": "COPY_ON_WRITE"})
		b.commit("commit", 1, b.base("", "g1", at(1), rowOf(at(1), "a", 1, "base", 1)))
		b.commit("commit", 2, b.base("", "g2", at(2), rowOf(at(2), "b", 1, "base", 1)))
		b.Put(b.completed("commit", 2), nil)
		r := read(t, b)
		says(t, "rows", r.Findings, path.Base(b.completed("commit", 2)))
		ill(t, b, "damaged-instants", path.Base(b.completed("commit", 2)))
		tl, err := service(b).Timeline(t.Context(), api.TimelineRequest{Table: here})
		if err != nil || len(tl.Active) != 2 {
			t.Fatalf("%+v, %v", tl, err)
		}
		says(t, "timeline", tl.Finding, at(2))
		want(t, "before", read(t, b, "as.of.instant", at(1)), "a/1/base/1")
	})
}

// TestReport29_ArchivedDeltaCommit: a log whose delta commit has left the active timeline counts.
func TestReport29_ArchivedDeltaCommit(t *testing.T) {
	b := one(t, 9, nil, []row{rowOf(at(1), "a", 1, "base", 1)}, data(logOf(), at(2), rec(at(2), "a", 2, "archived", 2.0)), data(logOf(), at(3), rec(at(3), "b", 3, "active", 3.0)))
	for _, n := range []int{1, 2} {
		for _, p := range b.Paths() {
			if strings.HasPrefix(path.Base(p), at(n)) && strings.HasPrefix(p, ".hoodie/") {
				b.Remove(p)
			}
		}
	}
	want(t, "the archive is gone, too", read(t, b), "a/2/archived/2", "b/3/active/3")

	// A real table with its archive: the rows stay when the delta commits of logs that are not yet
	// compacted are archived ones.
	f := tabletest.Open(t, "archived_mor_h120")
	all := texts(read(t, f), "_hoodie_record_key", "_hoodie_commit_time")
	if len(all) == 0 {
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
		b.Remove(log)
		r := read(t, b)
		says(t, "rows", r.Findings, log, at(3))
		ill(t, b, "missing-files", log)
	})
}

// TestReport31_KeyInTwoGroups: a key in two file groups is two rows and a finding.
func TestReport31_KeyInTwoGroups(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := build(t, version, map[string]string{"hoodie.table.type": "COPY_ON_WRITE"})
		b.commit("commit", 1, b.base("", "g1", at(1), rowOf(at(1), "a", 1, "one", 1)), b.base("", "g2", at(1), rowOf(at(1), "a", 1, "two", 1)))
		want(t, "rows", read(t, b), "a/1/one/1", "a/1/two/1")
		ill(t, b, "duplicate-keys", "g1", "g2", at(1))
	})
}
