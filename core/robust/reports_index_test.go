package robust_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/explorer"
	"hudiscope/core/hfile/hfiletest"
	"hudiscope/core/logfile/logfiletest"
	"hudiscope/core/metatable"
	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/core/tabletest"
)

const metadataSchema = `{"type":"record","name":"HoodieMetadataRecord","namespace":"org.apache.hudi.avro.model","fields":[{"name":"key","type":"string"},{"name":"type","type":"int"},` +
	`{"name":"filesystemMetadata","type":["null",{"type":"map","values":{"type":"record","name":"HoodieMetadataFileInfo","fields":[{"name":"size","type":"long"},{"name":"isDeleted","type":"boolean"}]}}],"default":null},` +
	`{"name":"ColumnStatsMetadata","type":["null",{"type":"record","name":"HoodieMetadataColumnStats","fields":[{"name":"fileName","type":["null","string"]},{"name":"columnName","type":["null","string"]},` +
	`{"name":"minValue","type":["null",{"type":"record","name":"DoubleWrapper","fields":[{"name":"value","type":"double"}]},{"type":"record","name":"StringWrapper","fields":[{"name":"value","type":"string"}]}]},` +
	`{"name":"maxValue","type":["null","DoubleWrapper","StringWrapper"]},` +
	`{"name":"valueCount","type":["null","long"]},{"name":"nullCount","type":["null","long"]},{"name":"totalSize","type":["null","long"]},{"name":"totalUncompressedSize","type":["null","long"]},{"name":"isDeleted","type":"boolean"}]}],"default":null}]}`

func avroText(dst []byte, s string) []byte {
	return append(logfiletest.Long(dst, int64(len(s))), s...)
}

// listCell is a record of the files partition: names with their sizes.
func listCell(key string, typ int64, files map[string]int64) hfiletest.Cell {
	v := logfiletest.Long(avroText(nil, key), typ)
	v = append(v, 2)
	if len(files) > 0 {
		v = logfiletest.Long(v, int64(len(files)))
		for name, size := range files {
			v = append(logfiletest.Long(avroText(v, name), size), 0)
		}
	}
	return hfiletest.Cell{Key: []byte(key), Value: append(v, 0, 0)}
}

// statCell is a record of column statistics. low and high are nil, a float64 or a string.
func statCell(column, partition, file string, low, high any, values, nulls int64) hfiletest.Cell {
	key := metatable.ColumnStatsKey(column, partition, file)
	v := append(logfiletest.Long(avroText(nil, key), 3), 0, 2)
	v = avroText(append(avroText(append(v, 2), file), 2), column)
	for _, x := range []any{low, high} {
		switch x := x.(type) {
		case nil:
			v = append(v, 0)
		case float64:
			v = binary.LittleEndian.AppendUint64(append(v, 2), math.Float64bits(x))
		case string:
			v = avroText(append(v, 4), x)
		}
	}
	v = logfiletest.Long(append(v, 2), values)
	v = logfiletest.Long(append(v, 2), nulls)
	v = logfiletest.Long(append(v, 2), 100)
	v = logfiletest.Long(append(v, 2), 100)
	return hfiletest.Cell{Key: []byte(key), Value: append(v, 0)}
}

// metadata gives the table a metadata table, written by instant n: the files as they are, and column
// statistics. The table must have been built with the property of withMetadata.
func (b *built) metadata(n int, stats ...hfiletest.Cell) {
	const root = ".hoodie/metadata"
	parts := map[string]map[string]int64{}
	for _, p := range b.Paths() {
		if strings.HasPrefix(p, ".hoodie/") || strings.HasSuffix(p, ".hoodie_partition_metadata") {
			continue
		}
		dir, name := path.Split(p)
		dir = metatable.PartitionKey(strings.TrimSuffix(dir, "/"))
		if parts[dir] == nil {
			parts[dir] = map[string]int64{}
		}
		parts[dir][name] = int64(len(b.Bytes(p)))
	}
	all := map[string]int64{}
	cells := []hfiletest.Cell{}
	for p, files := range parts {
		all[p] = 0
		cells = append(cells, listCell(p, 2, files))
	}
	cells = append(cells, listCell("__all_partitions__", 1, all))
	m := build(b.t, b.version, map[string]string{"hoodie.table.name": "t_metadata", "hoodie.table.base.file.format": "HFILE", "hoodie.table.recordkey.fields": "key", "hoodie.populate.meta.fields": "false",
		"hoodie.table.precombine.field": "", "hoodie.table.ordering.fields": "", "hoodie.compaction.payload.class": "org.apache.hudi.metadata.HoodieMetadataPayload"})
	m.schema = metadataSchema
	var paths []string
	for name, list := range map[string][]hfiletest.Cell{"files": cells, "column_stats": stats} {
		if len(list) == 0 {
			continue
		}
		slices.SortFunc(list, func(a, b hfiletest.Cell) int { return strings.Compare(string(a.Key), string(b.Key)) })
		file := name + "/" + map[string]string{"files": "files", "column_stats": "col-stats"}[name] + "-0000-0_0-0-0_" + at(n) + ".hfile"
		m.mark(name)
		m.Put(file, hfiletest.Write(list, hfiletest.Options{Info: map[string]string{"schema": metadataSchema}}))
		paths = append(paths, file)
	}
	m.commit("deltacommit", n, paths...)
	for _, p := range m.Paths() {
		b.Put(root+"/"+p, m.Bytes(p))
	}
}

func withMetadata(parts string) map[string]string {
	return map[string]string{"hoodie.table.type": "COPY_ON_WRITE", "hoodie.table.metadata.partitions": parts}
}

// whereRows reads with a condition, with data skipping asked for.
func whereRows(t testing.TB, b *built, condition string) *api.Rows {
	t.Helper()
	r, err := service(b).Rows(t.Context(), api.RowsRequest{Table: here, Condition: api.Condition{Where: condition}, Options: options("hoodie.enable.data.skipping", "true", "hoodie.metadata.enable", "true")})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// keeps checks which file groups a condition leaves to be read, with data skipping, and that each of
// the others was left out by the statistics and says why.
func keeps(t testing.TB, what string, b *built, condition string, groups ...string) {
	t.Helper()
	p, err := service(b).Plan(t.Context(), api.PlanRequest{Table: here, Condition: api.Condition{Where: condition}, Options: options("hoodie.enable.data.skipping", "true", "hoodie.metadata.enable", "true")})
	if err != nil {
		t.Fatal(err)
	}
	if p.Pruning == nil || !p.Pruning.Skipping {
		t.Fatalf("%s: no data skipping for %s: %+v", what, condition, p.Pruning)
	}
	var kept []string
	for _, f := range p.Pruning.Files {
		if f.Kept {
			kept = append(kept, f.FileID)
		} else if f.By != "column_stats" || f.Why == "" {
			t.Errorf("%s, %s: %s is left out by %q: %s", what, condition, f.FileID, f.By, f.Why)
		}
	}
	slices.Sort(kept)
	if !slices.Equal(kept, groups) {
		t.Errorf("%s: %s keeps %q, want %q: %+v", what, condition, kept, groups, p.Pruning.Files)
	}
}

// twoFiles is a table of two base files with column statistics of price and name.
func twoFiles(t testing.TB, stats func(one, two string) []hfiletest.Cell, first, second []row) *built {
	b := build(t, 9, withMetadata("files,column_stats"))
	one, two := b.base("", "g1", at(1), first...), b.base("", "g2", at(1), second...)
	b.commit("commit", 1, one, two)
	b.metadata(1, stats(one, two)...)
	return b
}

// TestReport36_NaNInStatistics: a NaN has made the stored bounds 0.0 and 0.0, or is one of them.
func TestReport36_NaNInStatistics(t *testing.T) {
	for what, bounds := range map[string][2]any{"zeros": {0.0, 0.0}, "a NaN above": {5.0, math.NaN()}, "NaNs": {math.NaN(), math.NaN()}} {
		b := twoFiles(t, func(one, two string) []hfiletest.Cell {
			return []hfiletest.Cell{statCell("price", "", one, bounds[0], bounds[1], 2, 0), statCell("price", "", two, 1.0, 2.0, 2, 0), statCell("name", "", one, "a", "b", 2, 0), statCell("name", "", two, "c", "d", 2, 0)}
		}, []row{rowOf(at(1), "k1", 1, "a", math.NaN()), rowOf(at(1), "k2", 1, "b", 5)}, []row{rowOf(at(1), "k3", 1, "c", 1), rowOf(at(1), "k4", 1, "d", 2)})
		// The other file's bounds are used, and so are those of the other column.
		keeps(t, what, b, "name = 'c'", "g2")
		keeps(t, what, b, "name = 'a'", "g1")
		keeps(t, what, b, "price = 5.0", "g1")
		keeps(t, what, b, "price > 4.0 AND name = 'b'", "g1")
		keeps(t, what, b, "price = 1.0", "g1", "g2")
		wantColumns(t, what+", price", whereRows(t, b, "price = 5.0"), []string{"id"}, "k2")
		wantColumns(t, what+", price and name", whereRows(t, b, "price > 4.0 AND name = 'b'"), []string{"id"}, "k2")
		wantColumns(t, what+", name", whereRows(t, b, "name = 'a'"), []string{"id"}, "k1")
		wantColumns(t, what+", below", whereRows(t, b, "price < 4.0"), []string{"id"}, "k3", "k4")
	}
}

// TestReport37_AllNullBecauseNotMeasured: the writer had no statistics of a long text, and stored that
// all values are null.
func TestReport37_AllNullBecauseNotMeasured(t *testing.T) {
	long := strings.Repeat("x", 2048)
	b := twoFiles(t, func(one, two string) []hfiletest.Cell {
		return []hfiletest.Cell{statCell("name", "", one, nil, nil, 1, 1), statCell("name", "", two, "c", "d", 2, 0)}
	}, []row{rowOf(at(1), "k1", 1, long, 1)}, []row{rowOf(at(1), "k3", 1, "c", 1), rowOf(at(1), "k4", 1, "d", 2)})
	wantColumns(t, "equal", whereRows(t, b, "name = '"+long+"'"), []string{"id"}, "k1")
	wantColumns(t, "not null", whereRows(t, b, "name IS NOT NULL"), []string{"id"}, "k1", "k3", "k4")
	wantColumns(t, "null", whereRows(t, b, "name IS NULL"), []string{"id"})
	// The file is kept, and the other, whose bounds were measured, is not.
	keeps(t, "equal", b, "name = '"+long+"'", "g1")
	keeps(t, "above", b, "name > 'e'", "g1")
	keeps(t, "not null", b, "name IS NOT NULL", "g1", "g2")
	keeps(t, "within the other", b, "name = 'c'", "g1", "g2")
	keeps(t, "null", b, "name IS NULL", "g1")
}

// TestReport38_IsNullOfAColumnAddedLater: the older file has no statistics of a column that it does
// not have; all its rows match.
func TestReport38_IsNullOfAColumnAddedLater(t *testing.T) {
	type wide struct {
		row
		Added string `parquet:"added,optional"`
	}
	b := build(t, 9, withMetadata("files,column_stats"))
	one := b.base("", "g1", at(1), rowOf(at(1), "k1", 1, "a", 1))
	b.commit("commit", 1, one)
	two := b.baseBytes("", "g2", "0-1-0", at(2), parquetOf(t, []wide{{rowOf(at(2), "k2", 1, "b", 1), "yes"}}))
	b.schema = record(dataFields, `{"name":"added","type":["null","string"],"default":null}`)
	b.commit("commit", 2, two)
	b.metadata(2, statCell("name", "", one, "a", "a", 1, 0), statCell("name", "", two, "b", "b", 1, 0), statCell("added", "", two, "yes", "yes", 1, 0))
	wantColumns(t, "null", whereRows(t, b, "added IS NULL"), []string{"id"}, "k1")
	wantColumns(t, "not null", whereRows(t, b, "added = 'yes'"), []string{"id"}, "k2")
	// The older file is kept; the newer one, of which it is known that it has no null, is not.
	keeps(t, "null", b, "added IS NULL", "g1")
	keeps(t, "null and another", b, "added IS NULL AND name = 'a'", "g1")
	keeps(t, "or", b, "added IS NULL OR name = 'b'", "g1", "g2")
	keeps(t, "another", b, "name = 'b'", "g2")
}

// TestReport39_OneOfTwoColumnsIsIndexed: a column without statistics decides nothing.
func TestReport39_OneOfTwoColumnsIsIndexed(t *testing.T) {
	b := twoFiles(t, func(one, two string) []hfiletest.Cell {
		return []hfiletest.Cell{statCell("name", "", one, "a", "b", 2, 0), statCell("name", "", two, "c", "d", 2, 0)}
	}, []row{rowOf(at(1), "k1", 1, "a", 1), rowOf(at(1), "k2", 1, "b", 2)}, []row{rowOf(at(1), "k3", 1, "c", 1), rowOf(at(1), "k4", 1, "d", 2)})
	wantColumns(t, "and", whereRows(t, b, "name = 'c' AND price = 1.0"), []string{"id"}, "k3")
	wantColumns(t, "or", whereRows(t, b, "name = 'c' OR price = 2.0"), []string{"id"}, "k2", "k3", "k4")
	wantColumns(t, "the other way about", whereRows(t, b, "price = 1.0 AND name = 'c'"), []string{"id"}, "k3")
	wantColumns(t, "the column without", whereRows(t, b, "price = 1.0"), []string{"id"}, "k1", "k3")
	wantColumns(t, "not", whereRows(t, b, "NOT (name = 'c' AND price = 1.0)"), []string{"id"}, "k1", "k2", "k4")
	keeps(t, "and", b, "name = 'c' AND price = 1.0", "g2")
	keeps(t, "or", b, "name = 'c' OR price = 2.0", "g1", "g2")
	keeps(t, "the column without", b, "price = 1.0", "g1", "g2")
	keeps(t, "not", b, "NOT (name = 'c' AND price = 1.0)", "g1", "g2")
}

// TestReport43_MetadataOfNoPartitions: the metadata table of a table without partitions lists its
// files under the key ".".
func TestReport43_MetadataOfNoPartitions(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := build(t, version, withMetadata("files"))
		file := b.base("", "g1", at(1), rowOf(at(1), "a", 1, "x", 1))
		b.commit("commit", 1, file)
		b.metadata(1)
		m, err := service(b).Metadata(t.Context(), api.MetadataRequest{Table: here, Partition: "files"})
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprintf("%+v", m); !strings.Contains(text, file) {
			t.Errorf("files: %s", text)
		}
		h, err := service(b).Health(t.Context(), api.HealthRequest{Table: here, Checks: []string{"metadata-table"}})
		if err != nil || len(h.Findings) > 0 || h.Checks[0].Status != "ok" {
			t.Errorf("%+v, %v", h, err)
		}
		want(t, "rows", read(t, b), "a/1/x/1")
		byMetadata(t, b.Files, []string{""}, "a/1/x/1")
		// That the comparison is one: a file that the metadata table does not know.
		b.base("", "g2", at(1), rowOf(at(1), "b", 1, "x", 1))
		ill(t, b, "metadata-table", "g2")
		// That the metadata table is what is asked from afar: rows of a file that it knows alone.
		byMetadata(t, b.Files, []string{""}, "a/1/x/1")
	})
}

// byMetadata reads all rows as from afar, where the metadata table says which partition has which files, and
// checks that the files were found by it, and the rows.
func byMetadata(t testing.TB, f *tabletest.Files, partitions []string, rows ...string) {
	t.Helper()
	f = f.Clone()
	f.Put("docs/readme.txt", []byte("a second folder: of one alone, no metadata table is asked"))
	far := explorer.New(func(context.Context, string) (storage.Source, error) { return cache.New(f, cache.Options{}), nil }, explorer.Options{MetadataFrom: 1})
	list, err := far.Files(t.Context(), api.FilesRequest{Table: here})
	if err != nil || list.From != "metadata table" {
		t.Fatalf("files by the metadata table: %+v, %v", list, err)
	}
	var names []string
	for _, p := range list.Partitions {
		names = append(names, p.Partition)
	}
	if !slices.Equal(names, partitions) {
		t.Errorf("partitions by the metadata table: %q, want %q", names, partitions)
	}
	r, err := far.Rows(t.Context(), api.RowsRequest{Table: here, Limit: 10000})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "by the metadata table", r, rows...)
}
