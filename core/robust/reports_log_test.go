package robust_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/logfile"
	"hudiscope/core/logfile/logfiletest"
	"hudiscope/core/storage"
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
// behind it, past it, or past the end. The search for the next block begins just after the bad one's magic.
func TestReport01_CrashedBlockBeforeAWholeOne(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		whole := data(logOf(), at(1), rec(at(1), "k", 1, strings.Repeat("b", 200), 1.0)).Bytes()
		third := data(logOf(), at(1), rec(at(1), "l", 1, "c", 1.0)).Bytes()
		const cut = 40
		for what, end := range map[string]int{"into the next block": cut + len(whole)/2, "to the end of the next block": cut + len(whole), "into the block behind it": cut + len(whole) + len(third)/2,
			"to the end of the file": cut + len(whole) + len(third), "past the end": cut + 2*len(whole) + len(third)} {
			head := bytes.Clone(whole[:cut])
			binary.BigEndian.PutUint64(head[6:], uint64(end-14))
			b := build(t, version, commitTime(version))
			p := b.log("", "f", at(1), 1, logOf().Raw(head...).Raw(whole...).Raw(third...))
			b.commit("deltacommit", 1, p)
			list := blocks(t, b)
			if got := fates(list); got != "CORRUPT:corrupt, AVRO_DATA:merged, AVRO_DATA:merged" {
				t.Errorf("%s: blocks: %s", what, got)
				continue
			}
			bad, good := list.Files[0].Blocks[0], list.Files[0].Blocks[1]
			if bad.Start != 0 || bad.End != cut || bad.Corrupt == "" || good.Start != cut || good.End != int64(cut+len(whole)) {
				t.Errorf("%s: the corrupt region is %d to %d (%s), the block %d to %d", what, bad.Start, bad.End, bad.Corrupt, good.Start, good.End)
			}
			slice, err := service(b).Blocks(t.Context(), api.BlocksRequest{Table: here, FileID: "f"})
			if err != nil || slice.Counters.CorruptBlocks != 1 || slice.Counters.Blocks != 3 || slice.Counters.Records != 2 {
				t.Errorf("%s: counters: %+v, %v", what, slice.Counters, err)
			}
			r := read(t, b)
			want(t, what, r, "k/1/"+strings.Repeat("b", 200)+"/1", "l/1/c/1")
			says(t, what, r.Findings, "orrupt", p, "byte 0")
		}
	})
}

// TestReport02_RollbackNamesItsTarget: the block before a command is not the one it rolls back.
func TestReport02_RollbackNamesItsTarget(t *testing.T) {
	f := data(data(logOf(), at(1), rec(at(1), "k1", 1, "a", 1.0)), at(2), rec(at(2), "k2", 1, "b", 1.0)).Rollback(at(3), at(1))
	b := build(t, 6, commitTime(6))
	p := b.log("", "f", at(1), 1, f)
	b.commit("deltacommit", 2, p)
	b.rollback(3, 1)
	want(t, "rows", read(t, b), "k2/1/b/1")
	list, err := service(b).Blocks(t.Context(), api.BlocksRequest{Table: here, FileID: "f"})
	if err != nil {
		t.Fatal(err)
	}
	if got := fates(list); got != "AVRO_DATA:rolled back, AVRO_DATA:merged, COMMAND:command" {
		t.Fatalf("blocks: %s", got)
	}
	if x := list.Files[0].Blocks[0]; x.FateBy != at(3) || x.FateFile != p || x.FateBlock != 2 || x.FateWhy == "" {
		t.Errorf("who rolled it back: %+v", x)
	}
	if x := list.Files[0].Blocks[2]; x.Target != at(1) || x.Instant != at(3) || list.Counters.Rollbacks != 1 {
		t.Errorf("the command: %+v, %+v", x, list.Counters)
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
	list := blocks(t, b)
	if got := fates(list); got != "AVRO_DATA:merged, AVRO_DATA:rolled back, COMMAND:command, AVRO_DATA:merged" {
		t.Fatalf("blocks: %s", got)
	}
	if x := list.Files[0].Blocks; x[1].Instant != at(2) || x[1].FateBy != at(3) || x[1].FateBlock != 2 || x[3].Instant != at(2) {
		t.Errorf("%+v", x)
	}
	// The same over several log files of the slice.
	b = build(t, 6, commitTime(6))
	var paths []string
	for i, f := range []*logfiletest.File{data(logOf(), at(1), rec(at(1), "k1", 1, "a", 1.0)), data(logOf(), at(2), rec(at(2), "k2", 1, "first", 1.0)), logOf().Rollback(at(3), at(2)), data(logOf(), at(2), rec(at(2), "k3", 1, "again", 1.0))} {
		paths = append(paths, b.log("", "f", at(1), i+1, f))
	}
	b.commit("deltacommit", 1, paths[0])
	b.commit("deltacommit", 2, paths[3])
	b.rollback(3, 2)
	want(t, "rows of four files", read(t, b), "k1/1/a/1", "k3/1/again/1")
}

// TestReport04_JunkBeforeARollback: bytes that are no block don't absorb the rollback behind them. With
// the block before them, which no magic follows, they are one corrupt region.
func TestReport04_JunkBeforeARollback(t *testing.T) {
	junk := bytes.Repeat([]byte{0xa5, 0x5a}, 32)
	first := data(data(logOf(), at(1), rec(at(1), "k0", 1, "z", 1.0)), at(2), rec(at(2), "k1", 1, "a", 1.0))
	second := data(logOf(), at(2), rec(at(2), "k2", 1, "a", 1.0)).Raw(junk...)
	end := int64(len(second.Bytes()))
	b := build(t, 6, commitTime(6))
	p := b.log("", "f", at(1), 1, first)
	b.commit("deltacommit", 1, p)
	q := b.log("", "f", at(1), 2, second.Rollback(at(3), at(2)))
	b.rollback(3, 2)
	b.commit("deltacommit", 4, b.log("", "f", at(1), 3, data(logOf(), at(4), rec(at(4), "k4", 1, "y", 1.0))))
	r := read(t, b)
	want(t, "rows", r, "k0/1/z/1", "k4/1/y/1")
	says(t, "rows", r.Findings, "orrupt", q, "byte 0")
	list := blocks(t, b)
	// That the command counts is seen in the first file: its block of the target is gone, too.
	if got := fates(list); got != "AVRO_DATA:merged, AVRO_DATA:rolled back, CORRUPT:corrupt, COMMAND:command, AVRO_DATA:merged" {
		t.Fatalf("blocks: %s", got)
	}
	if x := list.Files[1].Blocks[0]; x.Start != 0 || x.End != end || x.Corrupt == "" {
		t.Errorf("the region is %d to %d, want 0 to %d: %s", x.Start, x.End, end, x.Corrupt)
	}
	if x := list.Files[0].Blocks[1]; x.FateBy != at(3) || x.FateFile != q {
		t.Errorf("%+v", x)
	}
}

// TestReport05_OnlyARollbackCommand: a log file without any schema is listed.
func TestReport05_OnlyARollbackCommand(t *testing.T) {
	const name = ".f_20240101000001000.log.1_0-1-0"
	src := tabletest.New("one file")
	src.Put(name, logOf().Rollback(at(2), at(1)).Bytes())
	table := build(t, 6, nil)
	table.commit("deltacommit", 1, table.base("", "f", at(1), rowOf(at(1), "a", 1, "base", 1)))
	if p := table.log("", "f", at(1), 1, logOf().Rollback(at(2), at(1))); p != name {
		t.Fatal(p)
	}
	table.rollback(2, 9)
	for what, src := range map[string]storage.Source{"a file alone": src, "a table": table} {
		s := service(src)
		b, err := s.Blocks(t.Context(), api.BlocksRequest{Table: here, All: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Files) != 1 || len(b.Files[0].Blocks) != 1 || b.Files[0].Fault != nil {
			t.Fatalf("%s: %+v", what, b.Files)
		}
		x := b.Files[0].Blocks[0]
		if x.Type != "COMMAND_BLOCK" || x.Command != "ROLLBACK_BLOCK" || x.Target != at(1) || x.Instant != at(2) || x.Records > 0 {
			t.Errorf("%s: %+v", what, x)
		}
		for _, h := range x.Header {
			if h.Key == "SCHEMA" {
				t.Errorf("%s: a schema: %+v", what, h)
			}
		}
		d, err := s.Block(t.Context(), api.BlockRequest{Table: here, File: name})
		if err != nil || d.Total != 0 || d.Fault != nil || len(d.Columns) != 0 {
			t.Errorf("%s: %+v, %v", what, d, err)
		}
	}
	want(t, "rows of the table", read(t, table), "a/1/base/1")
}

// TestReport06_TwoSetsOfLogFiles: a retried task left another set of log files of the same instant.
// What the completed instant names counts, the other is told as left over.
func TestReport06_TwoSetsOfLogFiles(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		// The set that counts is that of the first attempt, or that of the last.
		for _, tokens := range [][2]string{{"0-1-1", "0-1-9"}, {"0-1-9", "0-1-1"}} {
			b := build(t, version, nil)
			base := b.base("", "f", at(1), rowOf(at(1), "a", 1, "base", 1), rowOf(at(1), "b", 1, "base", 1))
			b.commit("deltacommit", 1, base)
			instant := at(2)
			if version < 8 {
				instant = at(1)
			}
			set := func(token, name string, price float64, second ...[]byte) (paths []string) {
				return []string{
					b.logAs("", fmt.Sprintf(".f_%s.log.1_%s", instant, token), data(logOf(), at(2), rec(at(2), "a", 2, name, price))),
					b.logAs("", fmt.Sprintf(".f_%s.log.2_%s", instant, token), data(logOf(), at(2), second...))}
			}
			right := set(tokens[0], "right", 2.0, rec(at(2), "b", 2, "right", 2.0), rec(at(2), "d", 2, "right", 2.0))
			// The other attempt had the rows of another shuffle: one more, and one that is not there.
			left := set(tokens[1], "left", 3.0, rec(at(2), "b", 2, "left", 3.0), rec(at(2), "c", 2, "left", 3.0))
			b.commit("deltacommit", 2, right...)
			want(t, "named is "+tokens[0], read(t, b), "a/2/right/2", "b/2/right/2", "d/2/right/2")
			view := filesOf(t, b, "")
			for i := range left {
				wantState(t, view, left[i], "other", "attempt")
				wantState(t, view, right[i], "committed")
				ill(t, b, "orphan-files", left[i])
			}

			// Both are named: both count, and rows of one key become one: the later version by file
			// version, then write token.
			b.commit("deltacommit", 2, append(right, left...)...)
			last, price := "right", "2"
			if tokens[1] > tokens[0] {
				last, price = "left", "3"
			}
			want(t, "both named", read(t, b), "a/2/"+last+"/"+price, "b/2/"+last+"/"+price, "c/2/left/3", "d/2/right/2")
		}
	})
}

// TestReport07_TwoBaseFilesOfOneInstant: of two attempts, the base file counts that the commit names.
func TestReport07_TwoBaseFilesOfOneInstant(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		for _, tokens := range [][2]string{{"0-1-0", "0-1-1"}, {"0-1-1", "0-1-0"}} {
			for _, typ := range []string{"COPY_ON_WRITE", "MERGE_ON_READ"} {
				action := map[string]string{"COPY_ON_WRITE": "commit", "MERGE_ON_READ": "deltacommit"}[typ]
				b := build(t, version, map[string]string{"hoodie.table.type": typ})
				whole := parquetOf(t, []row{rowOf(at(1), "a", 1, "base", 1)})
				good := b.baseBytes("", "f", tokens[0], at(1), whole)
				bad := b.baseBytes("", "f", tokens[1], at(1), []byte("PAR1"))
				b.commit(action, 1, good)
				what := fmt.Sprintf("%s, %s is whole", typ, tokens[0])
				r := read(t, b)
				want(t, what, r, "a/1/base/1")
				want(t, what+", read optimized", read(t, b, queryType, "read_optimized"), "a/1/base/1")
				want(t, what+", incremental", read(t, b, queryType, "incremental", begin, "000"), "a/1/base/1")
				view := filesOf(t, b, "")
				wantState(t, view, good, "committed")
				wantState(t, view, bad, "other", "attempt")
				ill(t, b, "duplicate-base-files", bad)
				a, err := service(b).Anatomy(t.Context(), api.AnatomyRequest{Table: here, File: bad})
				if err != nil {
					t.Fatal(err)
				}
				says(t, "the file of 4 bytes", a.Findings, bad)
			}
		}
	})
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
		b := one(t, version, nil, base(), late())
		want(t, "event time", read(t, b), "k/100/base/1")
		wantLadder(t, "event time", b, "k", "base:won, delete:lost = row", "90", "100")
		b = one(t, version, commitTime(version), base(), late())
		want(t, "commit time", read(t, b))
		wantLadder(t, "commit time", b, "k", "base:superseded, delete:won = deleted")
		// The same where the row is in a log itself, on top of a base row and without one.
		update := func() *logfiletest.File { return data(logOf(), at(2), rec(at(2), "k", 100, "log", 2.0)) }
		later := func() *logfiletest.File { return deletes(logOf(), at(3), int64(90), "k") }
		older := []row{rowOf(at(1), "k", 50, "base", 1)}
		b = one(t, version, nil, older, update(), later())
		want(t, "event time, log", read(t, b), "k/100/log/2")
		wantLadder(t, "event time, log", b, "k", "base:superseded, data:won, delete:lost = row", "90", "100")
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
			what := fmt.Sprintf("ordering %v", ordering)
			z := rowOf(at(1), "z", 1, "base", 1)
			b := one(t, version, nil, []row{rowOf(at(1), "k", 100, "base", 1), z}, deletes(logOf(), at(2), ordering, "k"))
			want(t, what, read(t, b), "z/1/base/1")
			wantLadder(t, what, b, "k", "base:superseded, delete:won = deleted", "rdering")
			// The row is a log's.
			b = one(t, version, nil, []row{z}, data(logOf(), at(2), rec(at(2), "k", 100, "log", 2.0)), deletes(logOf(), at(3), ordering, "k"))
			want(t, what+", log", read(t, b), "z/1/base/1")
			d, err := service(b).Block(t.Context(), api.BlockRequest{Table: here, File: blocks(t, b).Files[1].File.Path})
			if err != nil || len(d.Deletes) != 1 || d.Deletes[0].Key != "k" || d.Deletes[0].OrderingType != map[any]string{0: "int", nil: "null"}[ordering] {
				t.Errorf("%s, the block: %+v, %v", what, d, err)
			}
		}
	})
}

// TestReport10_EqualOrderingValues: on a tie the later version wins.
func TestReport10_EqualOrderingValues(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		for mode, props := range map[string]map[string]string{"event time": nil, "commit time": commitTime(version)} {
			z := rowOf(at(1), "z", 1, "base", 1)
			first, second := data(logOf(), at(2), rec(at(2), "k", 7, "first", 1.0)), data(logOf(), at(3), rec(at(3), "k", 7, "second", 2.0))
			b := one(t, version, props, []row{z}, first, second)
			want(t, mode, read(t, b), "k/7/second/2", "z/1/base/1")
			wantLadder(t, mode, b, "k", "data:superseded, data:won = row")
			// Against a base row, too.
			b = one(t, version, props, []row{rowOf(at(1), "k", 7, "base", 1), z}, first, second)
			want(t, mode+", base", read(t, b), "k/7/second/2", "z/1/base/1")
			// A delete of the same ordering value is the later version, too.
			b = one(t, version, props, []row{rowOf(at(1), "k", 7, "base", 1), z}, deletes(logOf(), at(2), int64(7), "k"))
			want(t, mode+", delete", read(t, b), "z/1/base/1")
			b = one(t, version, props, []row{z}, data(logOf(), at(2), rec(at(2), "k", nil, "first", 1.0)), deletes(logOf(), at(3), nil, "k"))
			want(t, mode+", null", read(t, b), "z/1/base/1")
		}
	})
}

// TestReport11_LogVersionsAreNumbers: log.10 comes after log.9.
func TestReport11_LogVersionsAreNumbers(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		for mode, props := range map[string]map[string]string{"commit time": commitTime(version), "event time, ties": nil} {
			b := build(t, version, props)
			b.commit("deltacommit", 1, b.base("", "f", at(1), rowOf(at(1), "k", 1, "base", 1)))
			instant := at(1)
			if version >= 8 {
				instant = at(2)
			}
			var paths []string
			for n := 11; n >= 1; n-- { // the metadata names them in reverse
				paths = append(paths, b.log("", "f", instant, n, data(logOf(), at(2), rec(at(2), "k", 1, fmt.Sprint(n), 1.0))))
			}
			b.commit("deltacommit", 2, paths...)
			want(t, mode, read(t, b), "k/1/11/1")
			slices.Reverse(paths)
			var order, scanned []string
			for _, l := range groupOf(t, filesOf(t, b, ""), "f").Slices[0].Logs {
				order = append(order, l.Path)
			}
			list, err := service(b).Blocks(t.Context(), api.BlocksRequest{Table: here, FileID: "f"})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range list.Files {
				scanned = append(scanned, f.File.Path)
			}
			if !slices.Equal(order, paths) || !slices.Equal(scanned, paths) {
				t.Errorf("%s: want %q\nslice %q\nscan %q", mode, paths, order, scanned)
			}
		}
	})
}

// TestReport12_ChangeLogBesideTheLog: a log and its .cdc twin are two files: one is data, and the other
// is what a query for changes reads.
func TestReport12_ChangeLogBesideTheLog(t *testing.T) {
	change := `{"type":"record","name":"changes","fields":[{"name":"op","type":["null","string"],"default":null},{"name":"ts_ms","type":["null","string"],"default":null},` +
		`{"name":"before","type":["null",{"type":"record","name":"CDC","fields":[` + dataFields + `]}],"default":null},{"name":"after","type":["null","CDC"],"default":null}]}`
	each(t, func(t *testing.T, version int) {
		b := one(t, version, map[string]string{"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": "data_before_after"},
			[]row{rowOf(at(1), "k", 1, "base", 1)}, data(logOf(), at(2), rec(at(2), "k", 7, "data", 1.0)))
		log := ""
		for _, p := range b.Paths() {
			if _, ok := logfile.ParseName(p); ok && strings.Contains(p, ".log.1_") {
				log = p
			}
		}
		twin := log + ".cdc"
		image := logfiletest.Record(nil, "u", at(2))
		image = logfiletest.Record(append(image, 2), "k", 1, "base", 1.0)
		image = logfiletest.Record(append(image, 2), "k", 7, "logged", 1.0)
		b.Put(twin, logOf().Block(logfile.CDCDataBlock, []logfiletest.Entry{{Key: logfile.InstantTime, Value: at(2)}, {Key: logfile.Schema, Value: change}}, logfiletest.DataContent(image)).Bytes())
		instant := at(1)
		stat := map[string]any{"fileId": "f", "path": log, "partitionPath": "", "prevCommit": instant, "baseFile": "f_0-1-0_" + at(1) + ".parquet", "logFiles": []string{log}, "numWrites": 1, "numUpdateWrites": 1,
			"fileSizeInBytes": len(b.Bytes(log)), "cdcStats": map[string]int{twin: len(b.Bytes(twin))}}
		b.commitOf("deltacommit", 2, "UPSERT", map[string]any{"partitionToWriteStats": map[string]any{"": []any{stat}}})
		want(t, "rows", read(t, b), "k/7/data/1")
		logs := groupOf(t, filesOf(t, b, ""), "f").Slices[0].Logs
		if len(logs) != 2 {
			t.Fatalf("logs %+v", logs)
		}
		view := filesOf(t, b, "")
		wantState(t, view, log, "committed")
		wantState(t, view, twin, "cdc")
		if text, _ := ladder(t, b, "k"); text != "base:superseded, data:won = row" {
			t.Errorf("versions: %s", text)
		}
		// The changes are those of the twin.
		r := read(t, b, queryType, "incremental", "hoodie.datasource.query.incremental.format", "cdc", begin, compared(version, 1))
		if len(r.Rows) != 1 || !holds(texts(r, "op", "before", "after")[0], "u/", "base", "logged") {
			t.Errorf("changes %q, %+v", texts(r, "op", "before", "after"), r.Findings)
		}
	})
}

// TestReport13_PartialUpdate: columns that the update does not have keep their older values.
func TestReport13_PartialUpdate(t *testing.T) {
	// Six columns, of which the update has one, as a MERGE INTO that sets it writes them.
	type six struct {
		row
		City  string `parquet:"city,optional"`
		Count int64  `parquet:"count"`
	}
	const more = `{"name":"city","type":["null","string"],"default":null},{"name":"count","type":["null","long"],"default":null}`
	for _, c := range []struct {
		mode string
		ts   bool // the update has the ordering field
	}{{"EVENT_TIME_ORDERING", true}, {"COMMIT_TIME_ORDERING", false}} {
		for _, version := range []int{8, 9} {
			fields, values := `{"name":"price","type":["null","double"],"default":null}`, []any{at(2), nil, "k", nil, nil}
			ts := "5"
			if c.ts {
				fields, values, ts = `{"name":"ts","type":["null","long"],"default":null},`+fields, append(values, 7), "7"
			}
			f := logOf().Data(at(2), record(metaFields, fields), [][]byte{logfiletest.Record(nil, append(values, 9.5)...)}, isPartial())
			b := build(t, version, map[string]string{"hoodie.record.merge.mode": c.mode})
			b.schema = record(dataFields, more)
			b.commit("deltacommit", 1, b.baseBytes("", "f", "0-1-0", at(1), parquetOf(t, []six{{rowOf(at(1), "k", 5, "kept", 1), "Oslo", 3}, {rowOf(at(1), "z", 5, "other", 1), "Rome", 4}})))
			log := b.log("", "f", at(2), 1, f)
			b.commit("deltacommit", 2, log)
			what := fmt.Sprintf("%s, version %d", c.mode, version)
			all := []string{"id", "ts", "name", "price", "city", "count"}
			wantColumns(t, what, read(t, b), all, "k/"+ts+"/kept/9.5/Oslo/3", "z/5/other/1/Rome/4")
			rest := []string{"id", "ts", "name", "city", "count"}
			r, err := service(b).Rows(t.Context(), api.RowsRequest{Table: here, Condition: api.Condition{Columns: rest}})
			if err != nil {
				t.Fatal(err)
			}
			wantColumns(t, what+", the five columns that it did not set", r, rest, "k/"+ts+"/kept/Oslo/3", "z/5/other/Rome/4")
			r, err = service(b).Rows(t.Context(), api.RowsRequest{Table: here, Condition: api.Condition{Columns: []string{"city"}, Where: "name = 'kept'"}})
			if err != nil {
				t.Fatal(err)
			}
			wantColumns(t, what+", a condition on such a column", r, []string{"city"}, "Oslo")
			wantLadder(t, what, b, "k", "base:merged, data:merged = row", "the row is made of both")
			partial := false
			for _, h := range blocks(t, b).Files[0].Blocks[0].Header {
				partial = partial || h.Key == "IS_PARTIAL" && h.Value == "true"
			}
			if !partial {
				t.Errorf("%s: the block is not marked: %+v", what, blocks(t, b).Files[0].Blocks[0].Header)
			}
		}
	}
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
		{6, map[string]string{payload: ""}, "EVENT_TIME_ORDERING", old}, // as 1.x takes it; up to 0.15 it was OverwriteWithLatest
		{8, map[string]string{"hoodie.record.merge.mode": "", payload: "com.example.Own"}, "CUSTOM", ""},
		{8, map[string]string{"hoodie.record.merge.mode": "", strategy: "11111111-2222-3333-4444-555555555555"}, "CUSTOM", ""},
		{8, map[string]string{"hoodie.record.merge.mode": "", strategy: event}, "EVENT_TIME_ORDERING", old},
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
			if _, err := service(b).Rows(t.Context(), api.RowsRequest{Table: here}); err == nil || !strings.Contains(err.Error(), "Own") && !strings.Contains(err.Error(), "11111111") {
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
		// An insert and a row of the same key with the flag in one block, a flagged row over a base row, and one that is not.
		f := logOf().Data(at(2), flagged, [][]byte{rec(at(2), "i", 5, "x", 1.0, false), rec(at(2), "i", 6, "x", 1.0, true), rec(at(2), "k", 6, "x", 1.0, true), rec(at(2), "n", 6, "x", 1.0, false)})
		b := one(t, version, nil, []row{rowOf(at(1), "k", 5, "base", 1)}, f)
		b.schema = record(dataFields, deletedFld)
		b.commit("deltacommit", 3)
		want(t, "the flag", read(t, b), "n/6/x/1")
		wantLadder(t, "the flag", b, "i", "data:superseded, delete flag:won = deleted")
		wantLadder(t, "the flag", b, "k", "base:superseded, delete flag:won = deleted")
		path := blocks(t, b).Files[0].File.Path
		d, err := service(b).Block(t.Context(), api.BlockRequest{Table: here, File: path})
		if err != nil || !slices.Equal(d.DeleteFlags, []bool{false, true, true, false}) || len(d.Records) != 4 {
			t.Errorf("block: %+v, %v", d, err)
		}
		own := map[string]string{"hoodie.payload.delete.field": "name", "hoodie.payload.delete.marker": "gone"}
		if version >= 9 {
			own = map[string]string{"hoodie.record.merge.property.hoodie.payload.delete.field": "name", "hoodie.record.merge.property.hoodie.payload.delete.marker": "gone"}
		}
		b = one(t, version, own, []row{rowOf(at(1), "k", 5, "base", 1), rowOf(at(1), "z", 5, "base", 1)}, data(logOf(), at(2), rec(at(2), "k", 6, "gone", 1.0), rec(at(2), "n", 6, "here", 1.0)))
		want(t, "a marker of its own", read(t, b), "n/6/here/1", "z/5/base/1")
		wantLadder(t, "a marker of its own", b, "k", "base:superseded, delete flag:won = deleted")
		d, err = service(b).Block(t.Context(), api.BlockRequest{Table: here, File: blocks(t, b).Files[0].File.Path})
		if err != nil || !slices.Equal(d.DeleteFlags, []bool{true, false}) {
			t.Errorf("a marker of its own, block: %+v, %v", d, err)
		}
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

// TestReport16_LastStateInTheWindow: an incremental read gives the last state of a key, by the rule of
// a snapshot.
func TestReport16_LastStateInTheWindow(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		z := []row{rowOf(at(1), "z", 1, "base", 1)}
		b := one(t, version, nil, z, data(logOf(), at(2), rec(at(2), "k", 7, "first", 1.0)), data(logOf(), at(3), rec(at(3), "k", 8, "second", 2.0)))
		want(t, "both", read(t, b, queryType, "incremental", begin, compared(version, 1)), "k/8/second/2")
		want(t, "the first", read(t, b, queryType, "incremental", begin, compared(version, 1), end, compared(version, 2)), "k/7/first/1")
		want(t, "the second", read(t, b, queryType, "incremental", begin, compared(version, 2)), "k/8/second/2")
		// The last state is that of the merge mode: a later write with a lower ordering value is not it.
		late := func() []*logfiletest.File {
			return []*logfiletest.File{data(logOf(), at(2), rec(at(2), "k", 8, "first", 1.0)), data(logOf(), at(3), rec(at(3), "k", 7, "second", 2.0))}
		}
		want(t, "late, event time", read(t, one(t, version, nil, z, late()...), queryType, "incremental", begin, compared(version, 1)), "k/8/first/1")
		want(t, "late, commit time", read(t, one(t, version, commitTime(version), z, late()...), queryType, "incremental", begin, compared(version, 1)), "k/7/second/2")
		// In base files, too: two commits of one file group.
		c := build(t, version, map[string]string{"hoodie.table.type": "COPY_ON_WRITE"})
		for n, name := range []string{"base", "first", "second"} {
			c.commit("commit", n+1, c.base("", "f", at(n+1), rowOf(at(n+1), "k", int64(n), name, 1), rowOf(at(1), "z", 1, "base", 1)))
		}
		want(t, "base files", read(t, c, queryType, "incremental", begin, compared(version, 1)), "k/2/second/1")
	})
}

// TestReport17_IncrementalMergesTheRange: a read of changes merges what the range wrote and nothing
// older, as every release of Hudi does. Where that gives other values than a snapshot, or a row that
// lost against an older one, the answer says so; what the range changed of the whole rows is the
// comparison of its two ends, and the history of a key.
func TestReport17_IncrementalMergesTheRange(t *testing.T) {
	partial := record(metaFields, `{"name":"id","type":["null","string"],"default":null},{"name":"ts","type":["null","long"],"default":null},{"name":"price","type":["null","double"],"default":null}`)
	f := logOf().Data(at(2), partial, [][]byte{logfiletest.Record(nil, at(2), nil, "k", nil, nil, "k", 101, 9.5)}, isPartial())
	b := one(t, 9, nil, []row{rowOf(at(1), "k", 100, "base", 1), rowOf(at(1), "z", 100, "base", 1)}, f)
	want(t, "snapshot", read(t, b), "k/101/base/9.5", "z/100/base/1")
	r := read(t, b, queryType, "incremental", begin, done(1))
	want(t, "partial", r, "k/101/null/9.5")
	says(t, "partial", r.Findings, "partial updates", "not known")
	says(t, "partial", r.Findings, "omparison", "whole")
	if got := changes(t, b, at(1), at(2), std...); !slices.Equal(got, []string{"updated k/101/base/9.5"}) {
		t.Errorf("partial, compared: %q", got)
	}
	wantLadder(t, "partial", b, "k", "base:merged, data:merged = row")
	each(t, func(t *testing.T, version int) {
		b := one(t, version, nil, []row{rowOf(at(1), "k", 100, "base", 1)}, data(logOf(), at(2), rec(at(2), "k", 90, "late", 2.0), rec(at(2), "n", 90, "new", 2.0)))
		want(t, "snapshot", read(t, b), "k/100/base/1", "n/90/new/2")
		r := read(t, b, queryType, "incremental", begin, compared(version, 1))
		want(t, "late", r, "k/90/late/2", "n/90/new/2")
		says(t, "late", r.Findings, "older versions", "not merged")
		says(t, "late", r.Findings, "omparison", "whole")
		if got := changes(t, b, at(1), at(2), std...); !slices.Equal(got, []string{"inserted n/90/new/2"}) {
			t.Errorf("late, compared: %q", got)
		}
		wantLadder(t, "late", b, "k", "base:won, data:lost = row", "90", "100")
		// With the base in the range the late update is merged with it.
		r = read(t, b, queryType, "incremental", begin, "000")
		want(t, "from the beginning", r, "k/100/base/1", "n/90/new/2")
		for _, x := range r.Findings {
			if strings.Contains(x.Detail, "not merged") {
				t.Errorf("from the beginning: %+v", x)
			}
		}
	})
}
