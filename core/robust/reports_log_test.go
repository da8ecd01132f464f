package robust_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/logfile"
	"hudiscope/core/logfile/logfiletest"
	"hudiscope/core/tabletest"
)

// rollback writes a completed rollback of an instant that left no files on the timeline.
func (b *built) rollback(n, target int) {
	b.instant("rollback", "rollback", n, map[string]any{"startRollbackTime": at(n), "timeTakenInMillis": 1, "totalFilesDeleted": 0, "commitsRollback": []string{at(target)},
		"partitionMetadata": map[string]any{}, "version": 1, "instantsRollback": []any{map[string]string{"commitTime": at(target), "action": "deltacommit"}}})
}

// logOnly is a version 6 table of one file group without base file, whose log holds f. instants are
// the completed delta commits.
func logOnly(t testing.TB, f *logfiletest.File, instants ...int) *built {
	b := build(t, 6, commitTime(6))
	p := b.log("", "f", at(1), 1, f)
	for _, n := range instants {
		b.commit("deltacommit", n, p)
	}
	return b
}

// TestReport01_CrashedBlockBeforeAWholeOne: the size of a block that was cut points into the block
// behind it. The search for the next block begins just after the bad one's magic.
func TestReport01_CrashedBlockBeforeAWholeOne(t *testing.T) {
	whole := data(logOf(), at(1), rec(at(1), "k", 1, strings.Repeat("b", 200), 1.0)).Bytes()
	cut := bytes.Clone(whole[:40])
	size := len(whole) - 14 + len(whole)/2
	cut[12], cut[13] = byte(size>>8), byte(size)
	b := logOnly(t, logOf().Raw(cut...).Raw(whole...), 1)
	if got := fates(blocks(t, b)); got != "CORRUPT:corrupt, AVRO_DATA:merged" {
		t.Errorf("blocks: %s", got)
	}
	r := read(t, b)
	want(t, "rows", r, "k/1/"+strings.Repeat("b", 200)+"/1")
	says(t, "rows", r.Findings, "orrupt", "1")
}

// TestReport02_RollbackNamesItsTarget: the block before a command is not the one it rolls back.
func TestReport02_RollbackNamesItsTarget(t *testing.T) {
	f := data(data(logOf(), at(1), rec(at(1), "k1", 1, "a", 1.0)), at(2), rec(at(2), "k2", 1, "b", 1.0)).Rollback(at(3), at(1))
	b := build(t, 6, commitTime(6))
	p := b.log("", "f", at(1), 1, f)
	b.commit("deltacommit", 2, p)
	b.rollback(3, 1)
	want(t, "rows", read(t, b), "k2/1/b/1")
	if got := fates(blocks(t, b)); got != "AVRO_DATA:rolled back, AVRO_DATA:merged, COMMAND:command" {
		t.Errorf("blocks: %s", got)
	}
}

// TestReport03_InstantUsedAgain: a rollback removes blocks before it, not those of the same instant
// behind it.
func TestReport03_InstantUsedAgain(t *testing.T) {
	f := data(data(logOf(), at(1), rec(at(1), "k1", 1, "a", 1.0)), at(2), rec(at(2), "k2", 1, "first", 1.0)).Rollback(at(3), at(2))
	data(f, at(2), rec(at(2), "k3", 1, "again", 1.0))
	b := logOnly(t, f, 1, 2)
	b.rollback(3, 2)
	want(t, "rows", read(t, b), "k1/1/a/1", "k3/1/again/1")
	if got := fates(blocks(t, b)); got != "AVRO_DATA:merged, AVRO_DATA:rolled back, COMMAND:command, AVRO_DATA:merged" {
		t.Errorf("blocks: %s", got)
	}
}

// TestReport04_JunkBeforeARollback: bytes that are no block don't absorb the rollback behind them. With
// the block before them, which no magic follows, they are one corrupt region.
func TestReport04_JunkBeforeARollback(t *testing.T) {
	junk := bytes.Repeat([]byte{0xa5, 0x5a}, 32)
	f := data(logOf(), at(2), rec(at(2), "k1", 1, "a", 1.0)).Raw(junk...).Rollback(at(3), at(2))
	b := build(t, 6, commitTime(6))
	p := b.log("", "f", at(1), 1, data(logOf(), at(1), rec(at(1), "k0", 1, "z", 1.0)))
	b.commit("deltacommit", 1, p)
	b.log("", "f", at(1), 2, f)
	b.rollback(3, 2)
	want(t, "rows", read(t, b), "k0/1/z/1")
	if got := fates(blocks(t, b)); got != "AVRO_DATA:merged, CORRUPT:corrupt, COMMAND:command" {
		t.Errorf("blocks: %s", got)
	}
}

// TestReport05_OnlyARollbackCommand: a log file without any schema is listed.
func TestReport05_OnlyARollbackCommand(t *testing.T) {
	const name = ".f_20240101000001000.log.1_0-1-0"
	src := tabletest.New("one file")
	src.Put(name, logOf().Rollback(at(2), at(1)).Bytes())
	s := service(src)
	b, err := s.Blocks(t.Context(), api.BlocksRequest{Table: here})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Files) != 1 || len(b.Files[0].Blocks) != 1 || b.Files[0].Fault != nil {
		t.Fatalf("%+v", b.Files)
	}
	if x := b.Files[0].Blocks[0]; x.Type != "COMMAND_BLOCK" || x.Command != "ROLLBACK_BLOCK" || x.Target != at(1) || x.Instant != at(2) {
		t.Errorf("%+v", x)
	}
	d, err := s.Block(t.Context(), api.BlockRequest{Table: here, File: name})
	if err != nil || d.Total != 0 || d.Fault != nil || len(d.Columns) != 0 {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestReport06_TwoSetsOfLogFiles: a retried task left another log file of the same instant. What the
// completed instant names counts, the other is told as left over.
func TestReport06_TwoSetsOfLogFiles(t *testing.T) {
	for _, version := range []int{6, 9} {
		b := build(t, version, nil)
		base := b.base("", "f", at(1), rowOf(at(1), "a", 1, "base", 1), rowOf(at(1), "b", 1, "base", 1))
		b.commit("deltacommit", 1, base)
		instant := at(2)
		if version < 8 {
			instant = at(1)
		}
		right := b.logAs("", fmt.Sprintf(".f_%s.log.1_0-1-1", instant), data(logOf(), at(2), rec(at(2), "a", 2, "right", 2.0), rec(at(2), "b", 2, "right", 2.0)))
		// The first attempt died late; it had the rows of another shuffle.
		left := b.logAs("", fmt.Sprintf(".f_%s.log.1_0-1-9", instant), data(logOf(), at(2), rec(at(2), "a", 2, "left", 3.0), rec(at(2), "c", 2, "left", 3.0)))
		b.commit("deltacommit", 2, right)
		want(t, fmt.Sprintf("version %d", version), read(t, b), "a/2/right/2", "b/2/right/2")
		files, err := service(b).Files(t.Context(), api.FilesRequest{Table: here})
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("%+v", files.Partitions[0].Other)
		if !holds(text, left, "attempt") {
			t.Errorf("version %d: other files: %s", version, text)
		}
		ill(t, b, "orphan-files", left)

		// Both are named: both count, and rows of one key become one.
		b.commit("deltacommit", 2, right, left)
		r := read(t, b)
		if len(r.Rows) != 3 {
			t.Errorf("version %d, both named: %q", version, texts(r, std...))
		}
	}
}

// TestReport07_TwoBaseFilesOfOneInstant: of two attempts, the base file counts that the commit names.
func TestReport07_TwoBaseFilesOfOneInstant(t *testing.T) {
	for _, version := range []int{6, 9} {
		for _, tokens := range [][2]string{{"0-1-0", "0-1-1"}, {"0-1-1", "0-1-0"}} {
			b := build(t, version, map[string]string{"hoodie.table.type": "COPY_ON_WRITE"})
			whole := parquetOf(t, []row{rowOf(at(1), "a", 1, "base", 1)})
			good := b.baseBytes("", "f", tokens[0], at(1), whole)
			bad := b.baseBytes("", "f", tokens[1], at(1), []byte("PAR1"))
			b.commit("commit", 1, good)
			want(t, fmt.Sprintf("version %d, %s is whole", version, tokens[0]), read(t, b), "a/1/base/1")
			ill(t, b, "duplicate-base-files", bad)
		}
	}
}

// one is a table of one file group: base rows of instant 1 and a log file for each further instant.
func one(t testing.TB, version int, props map[string]string, base []row, logs ...*logfiletest.File) *built {
	b := build(t, version, props)
	var path string
	if len(base) > 0 {
		path = b.base("", "f", at(1), base...)
		b.commit("deltacommit", 1, path)
	}
	for i, f := range logs {
		if version >= 8 {
			path = b.log("", "f", at(i+2), 1, f)
		} else {
			path = b.log("", "f", at(1), i+1, f)
		}
		b.commit("deltacommit", i+2, path)
	}
	return b
}

// each runs a test for a table version before completion times and one after.
func each(t *testing.T, f func(t *testing.T, version int)) {
	for _, v := range []int{6, 9} {
		t.Run(fmt.Sprintf("version %d", v), func(t *testing.T) { f(t, v) })
	}
}

// TestReport08_LateDelete: a delete with a lower ordering value comes too late in event time ordering.
func TestReport08_LateDelete(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		late := func() *logfiletest.File { return deletes(logOf(), at(2), int64(90), "k") }
		base := func() []row { return []row{rowOf(at(1), "k", 100, "base", 1)} }
		want(t, "event time", read(t, one(t, version, nil, base(), late())), "k/100/base/1")
		want(t, "commit time", read(t, one(t, version, commitTime(version), base(), late())))
		// The same where the row is in a log itself, on top of a base row and without one.
		update := func() *logfiletest.File { return data(logOf(), at(2), rec(at(2), "k", 100, "log", 2.0)) }
		later := func() *logfiletest.File { return deletes(logOf(), at(3), int64(90), "k") }
		older := []row{rowOf(at(1), "k", 50, "base", 1)}
		want(t, "event time, log", read(t, one(t, version, nil, older, update(), later())), "k/100/log/2")
		want(t, "commit time, log", read(t, one(t, version, commitTime(version), older, update(), later())))
		other := []row{rowOf(at(1), "z", 1, "base", 1)}
		want(t, "event time, inserted", read(t, one(t, version, nil, other, update(), later())), "k/100/log/2", "z/1/base/1")
		want(t, "commit time, inserted", read(t, one(t, version, commitTime(version), other, update(), later())), "z/1/base/1")
	})
}

// TestReport09_DeleteWithTheDefaultOrdering: 0 in a delete means that it has no ordering value.
func TestReport09_DeleteWithTheDefaultOrdering(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		for _, ordering := range []any{0, nil} {
			r := read(t, one(t, version, nil, []row{rowOf(at(1), "k", 100, "base", 1), rowOf(at(1), "z", 1, "base", 1)}, deletes(logOf(), at(2), ordering, "k")))
			want(t, fmt.Sprintf("ordering %v", ordering), r, "z/1/base/1")
		}
	})
}

// TestReport10_EqualOrderingValues: on a tie the later version wins.
func TestReport10_EqualOrderingValues(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		for mode, props := range map[string]map[string]string{"event time": nil, "commit time": commitTime(version)} {
			b := one(t, version, props, []row{rowOf(at(1), "z", 1, "base", 1)}, data(logOf(), at(2), rec(at(2), "k", 7, "first", 1.0)), data(logOf(), at(3), rec(at(3), "k", 7, "second", 2.0)))
			want(t, mode, read(t, b), "k/7/second/2", "z/1/base/1")
			b = one(t, version, props, []row{rowOf(at(1), "z", 1, "base", 1)}, data(logOf(), at(2), rec(at(2), "k", nil, "first", 1.0)), deletes(logOf(), at(3), nil, "k"))
			want(t, mode+", null", read(t, b), "z/1/base/1")
		}
	})
}

// TestReport11_LogVersionsAreNumbers: log.10 comes after log.9.
func TestReport11_LogVersionsAreNumbers(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := build(t, version, commitTime(version))
		b.commit("deltacommit", 1, b.base("", "f", at(1), rowOf(at(1), "k", 1, "base", 1)))
		instant := at(1)
		if version >= 8 {
			instant = at(2)
		}
		var paths []string
		for n := 1; n <= 11; n++ {
			paths = append(paths, b.log("", "f", instant, n, data(logOf(), at(2), rec(at(2), "k", 1, fmt.Sprint(n), 1.0))))
		}
		b.commit("deltacommit", 2, paths...)
		want(t, "rows", read(t, b), "k/1/11/1")
	})
}

// TestReport12_ChangeLogBesideTheLog: a log and its .cdc twin are two files, and one of them is data.
func TestReport12_ChangeLogBesideTheLog(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := one(t, version, nil, []row{rowOf(at(1), "k", 1, "base", 1)}, data(logOf(), at(2), rec(at(2), "k", 7, "data", 1.0)))
		twin := ""
		for _, p := range b.Paths() {
			if _, ok := logfile.ParseName(p); ok && strings.Contains(p, ".log.1_") {
				twin = p + ".cdc"
			}
		}
		b.Put(twin, data(logOf(), at(2), rec(at(2), "k", 9, "cdc", 1.0)).Bytes())
		want(t, "rows", read(t, b), "k/7/data/1")
		files, err := service(b).Files(t.Context(), api.FilesRequest{Table: here})
		if err != nil {
			t.Fatal(err)
		}
		logs := files.Partitions[0].Groups[0].Slices[0].Logs
		if len(logs) != 2 || logs[0].State == logs[1].State || logs[0].State != "cdc" && logs[1].State != "cdc" {
			t.Errorf("logs %+v", logs)
		}
	})
}

// TestReport13_PartialUpdate: columns that the update does not have keep their older values.
func TestReport13_PartialUpdate(t *testing.T) {
	partial := record(metaFields, `{"name":"id","type":["null","string"],"default":null},{"name":"ts","type":["null","long"],"default":null},{"name":"price","type":["null","double"],"default":null}`)
	f := logOf().Data(at(2), partial, [][]byte{logfiletest.Record(nil, at(2), nil, "k", nil, nil, "k", 7, 9.5)}, isPartial())
	b := one(t, 9, nil, []row{rowOf(at(1), "k", 5, "kept", 1), rowOf(at(1), "z", 5, "other", 1)}, f)
	r := read(t, b)
	want(t, "all columns", r, "k/7/kept/9.5", "z/5/other/1")
	r, err := service(b).Rows(t.Context(), api.RowsRequest{Table: here, Condition: api.Condition{Columns: []string{"name"}}})
	if err != nil {
		t.Fatal(err)
	}
	wantColumns(t, "a column that the update does not have", r, []string{"name"}, "kept", "other")
}

// TestReport14_MergeModeFromThePayload: without a merge mode the payload class or the strategy decides.
func TestReport14_MergeModeFromThePayload(t *testing.T) {
	const (
		payload  = "hoodie.compaction.payload.class"
		strategy = "hoodie.record.merge.strategy.id"
		models   = "org.apache.hudi.common.model."
		event    = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
		commit   = "ce9acb64-bde0-424c-9b91-f6ebba25356d"
	)
	old, fresh := "k/100/base/1", "k/90/late/2"
	for _, c := range []struct {
		version    int
		props      map[string]string
		mode, want string
	}{
		{6, map[string]string{payload: models + "DefaultHoodieRecordPayload"}, "EVENT_TIME_ORDERING", old},
		{6, map[string]string{payload: models + "EventTimeAvroPayload"}, "EVENT_TIME_ORDERING", old},
		{6, map[string]string{payload: models + "OverwriteWithLatestAvroPayload"}, "COMMIT_TIME_ORDERING", fresh},
		{6, map[string]string{payload: models + "OverwriteWithLatestAvroPayload", "hoodie.compaction.record.merger.strategy": event}, "COMMIT_TIME_ORDERING", fresh},
		{6, map[string]string{payload: "com.example.Own"}, "CUSTOM", ""},
		{8, map[string]string{"hoodie.record.merge.mode": "", payload: models + "DefaultHoodieRecordPayload"}, "EVENT_TIME_ORDERING", old},
		{8, map[string]string{"hoodie.record.merge.mode": "", payload: models + "DefaultHoodieRecordPayload", strategy: commit}, "COMMIT_TIME_ORDERING", fresh},
		{8, map[string]string{"hoodie.record.merge.mode": "", payload: models + "OverwriteWithLatestAvroPayload", strategy: event}, "EVENT_TIME_ORDERING", old},
		{8, map[string]string{"hoodie.record.merge.mode": ""}, "EVENT_TIME_ORDERING", old},
		{8, map[string]string{"hoodie.record.merge.mode": "", "hoodie.table.precombine.field": ""}, "COMMIT_TIME_ORDERING", fresh},
	} {
		b := one(t, c.version, c.props, []row{rowOf(at(1), "k", 100, "base", 1)}, data(logOf(), at(2), rec(at(2), "k", 90, "late", 2.0)))
		o, err := service(b).Overview(t.Context(), api.OverviewRequest{Table: here})
		if err != nil || o.Merge.Mode != c.mode || o.Merge.Why == "" {
			t.Errorf("%v: %+v, %v", c.props, o, err)
			continue
		}
		if c.want == "" {
			if _, err := service(b).Rows(t.Context(), api.RowsRequest{Table: here}); err == nil || !strings.Contains(err.Error(), "Own") {
				t.Errorf("a class that is not known: %v", err)
			}
			continue
		}
		want(t, fmt.Sprint(c.version, c.props), read(t, b), c.want)
	}
}

// TestReport15_DeletesInTheData: rows that flag themselves as deleted are hidden, and shown as such
// among the records of the block.
func TestReport15_DeletesInTheData(t *testing.T) {
	flagged := record(metaFields, dataFields, deletedFld)
	each(t, func(t *testing.T, version int) {
		f := logOf().Data(at(2), flagged, [][]byte{rec(at(2), "k", 6, "x", 1.0, true), rec(at(2), "n", 6, "x", 1.0, false)})
		b := one(t, version, nil, []row{rowOf(at(1), "k", 5, "base", 1)}, f)
		b.schema = record(dataFields, deletedFld)
		b.commit("deltacommit", 3)
		want(t, "the flag", read(t, b), "n/6/x/1")
		path := blocks(t, b).Files[0].File.Path
		d, err := service(b).Block(t.Context(), api.BlockRequest{Table: here, File: path})
		if err != nil || len(d.DeleteFlags) != 2 || !d.DeleteFlags[0] || d.DeleteFlags[1] {
			t.Errorf("block: %+v, %v", d, err)
		}
		own := map[string]string{"hoodie.payload.delete.field": "name", "hoodie.payload.delete.marker": "gone"}
		if version >= 9 {
			own = map[string]string{"hoodie.record.merge.property.hoodie.payload.delete.field": "name", "hoodie.record.merge.property.hoodie.payload.delete.marker": "gone"}
		}
		b = one(t, version, own, []row{rowOf(at(1), "k", 5, "base", 1)}, data(logOf(), at(2), rec(at(2), "k", 6, "gone", 1.0)))
		want(t, "a marker of its own", read(t, b))
	})
}

const (
	queryType = "hoodie.datasource.query.type"
	begin     = "hoodie.datasource.read.begin.instanttime"
	end       = "hoodie.datasource.read.end.instanttime"
)

// compared is the time of instant n that an incremental read compares.
func compared(version, n int) string {
	if version >= 8 {
		return done(n)
	}
	return at(n)
}

// TestReport16_LastStateInTheWindow: an incremental read gives the last state of a key.
func TestReport16_LastStateInTheWindow(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := one(t, version, nil, []row{rowOf(at(1), "z", 1, "base", 1)}, data(logOf(), at(2), rec(at(2), "k", 7, "first", 1.0)), data(logOf(), at(3), rec(at(3), "k", 8, "second", 2.0)))
		want(t, "both", read(t, b, queryType, "incremental", begin, compared(version, 1)), "k/8/second/2")
		want(t, "the first", read(t, b, queryType, "incremental", begin, compared(version, 1), end, compared(version, 2)), "k/7/first/1")
	})
}

// TestReport17_IncrementalMergesTheRange: a read of changes merges what the range wrote and nothing
// older, as every release of Hudi does. Where that gives other values than a snapshot, or a row that
// lost against an older one, the answer says so.
func TestReport17_IncrementalMergesTheRange(t *testing.T) {
	partial := record(metaFields, `{"name":"id","type":["null","string"],"default":null},{"name":"ts","type":["null","long"],"default":null},{"name":"price","type":["null","double"],"default":null}`)
	f := logOf().Data(at(2), partial, [][]byte{logfiletest.Record(nil, at(2), nil, "k", nil, nil, "k", 101, 9.5)}, isPartial())
	b := one(t, 9, nil, []row{rowOf(at(1), "k", 100, "base", 1)}, f)
	want(t, "snapshot", read(t, b), "k/101/base/9.5")
	r := read(t, b, queryType, "incremental", begin, done(1))
	want(t, "partial", r, "k/101/null/9.5")
	says(t, "partial", r.Findings, "partial updates", "not known")
	each(t, func(t *testing.T, version int) {
		b := one(t, version, nil, []row{rowOf(at(1), "k", 100, "base", 1)}, data(logOf(), at(2), rec(at(2), "k", 90, "late", 2.0)))
		want(t, "snapshot", read(t, b), "k/100/base/1")
		r := read(t, b, queryType, "incremental", begin, compared(version, 1))
		want(t, "late", r, "k/90/late/2")
		says(t, "late", r.Findings, "older versions", "not merged")
		// With the base in the range the late update is merged with it.
		r = read(t, b, queryType, "incremental", begin, "000")
		want(t, "from the beginning", r, "k/100/base/1")
		for _, x := range r.Findings {
			if strings.Contains(x.Detail, "not merged") {
				t.Errorf("from the beginning: %+v", x)
			}
		}
	})
}
