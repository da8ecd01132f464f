package robust_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/logfile/logfiletest"
)

// TestReport32_DroppedAndRenamed: col3 was dropped, then col2 was renamed to col3. Old files' col2 is
// col3 now; their col3 is nothing.
func TestReport32_DroppedAndRenamed(t *testing.T) {
	type cols struct {
		meta
		ID   string `parquet:"id,optional"`
		Col2 string `parquet:"col2,optional"`
		Col3 string `parquet:"col3,optional"`
	}
	type renamed struct {
		meta
		ID   string `parquet:"id,optional"`
		Col3 string `parquet:"col3,optional"`
	}
	avro := func(names ...string) string {
		var f []string
		for _, n := range names {
			f = append(f, `{"name":"`+n+`","type":["null","string"],"default":null}`)
		}
		return record(f...)
	}
	internal := func(version int, fields string) string {
		return fmt.Sprintf(`{"max_column_id":2,"version_id":%s,"type":"record","fields":[%s]}`, at(version), fields)
	}
	const id, two, three = `{"id":0,"name":"id","optional":true,"type":"string"}`, `{"id":1,"name":"%s","optional":true,"type":"string"}`, `{"id":2,"name":"col3","optional":true,"type":"string"}`
	first := internal(1, id+","+fmt.Sprintf(two, "col2")+","+three)
	last := internal(2, id+","+fmt.Sprintf(two, "col3"))
	each(t, func(t *testing.T, version int) {
		b := build(t, version, map[string]string{"hoodie.table.type": "COPY_ON_WRITE", "hoodie.table.precombine.field": "", "hoodie.table.ordering.fields": "", "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"})
		commit := func(n int, latest string, schema string, paths ...string) {
			b.schema = schema
			b.commitOf("commit", n, "INSERT", map[string]any{"extraMetadata": map[string]string{"schema": schema, "latest_schema": latest}}, paths...)
		}
		commit(1, first, avro("id", "col2", "col3"), b.baseBytes("", "g1", "0-1-0", at(1), parquetOf(t, []cols{{meta{Commit: at(1), Key: "a"}, "a", "two", "three"}, {meta{Commit: at(1), Key: "c"}, "c", "2", "3"}, {meta{Commit: at(1), Key: "d"}, "d", "II", "III"}})))
		commit(2, last, avro("id", "col3"))
		commit(3, last, avro("id", "col3"), b.baseBytes("", "g2", "0-1-0", at(3), parquetOf(t, []renamed{{meta{Commit: at(3), Key: "b"}, "b", "new"}})))
		b.Put(".hoodie/.schema/"+at(2)+".schemacommit", []byte(`{"schemas":[`+last+`,`+first+`]}`))
		r := read(t, b)
		wantColumns(t, "rows", r, []string{"id", "col3"}, "a/two", "b/new", "c/2", "d/II")
		wantColumns(t, "a name that is gone", r, []string{"col2"}, "?", "?", "?", "?")
		for where, id := range map[string][]string{"col3 = 'two'": {"a"}, "col3 = 'three'": nil, "col3 = 'new'": {"b"}} {
			r, err := service(b).Rows(t.Context(), api.RowsRequest{Table: here, Condition: api.Condition{Where: where, Columns: []string{"id", "col3"}}})
			if err != nil {
				t.Fatal(err)
			}
			wantColumns(t, where, r, []string{"id"}, id...)
		}
		sc, err := service(b).Schema(t.Context(), api.SchemaRequest{Table: here})
		if err != nil || len(sc.History) != 2 {
			t.Fatalf("%+v, %v", sc, err)
		}
		if last := sc.History[1].Columns; len(last) != 2 || last[1].ID != 1 || last[1].Name != "col3" {
			t.Errorf("history: %+v", sc.History)
		}
	})
}

// TestReport33_ColumnAddedLater: blocks that lack a nullable column give null.
func TestReport33_ColumnAddedLater(t *testing.T) {
	for _, def := range []string{`,"default":null`, ``} {
		each(t, func(t *testing.T, version int) {
			wide := record(metaFields, dataFields, `{"name":"added","type":["null","string"]`+def+`}`)
			// The column is in the later block, or in the earlier one (a writer that has not been renewed), and a base
			// file lacks it, too.
			narrowThenWide := []*logfiletest.File{data(logOf(), at(2), rec(at(2), "a", 2, "old", 2.0)), logOf().Data(at(3), wide, [][]byte{rec(at(3), "b", 3, "new", 3.0, "yes")})}
			wideThenNarrow := []*logfiletest.File{logOf().Data(at(2), wide, [][]byte{rec(at(2), "b", 3, "new", 3.0, "yes")}), data(logOf(), at(3), rec(at(3), "a", 2, "old", 2.0))}
			for what, logs := range map[string][]*logfiletest.File{"later": narrowThenWide, "earlier": wideThenNarrow} {
				for _, base := range [][]row{nil, {rowOf(at(1), "c", 1, "base", 1)}} {
					b := one(t, version, nil, base, logs...)
					b.schema = record(dataFields, `{"name":"added","type":["null","string"]`+def+`}`)
					b.commit("deltacommit", 4)
					rows := []string{"a/old/null", "b/new/yes"}
					if base != nil {
						rows = append(rows, "c/base/null")
					}
					columns := []string{"id", "name", "added"}
					wantColumns(t, what, read(t, b), columns, rows...)
					r, err := service(b).Rows(t.Context(), api.RowsRequest{Table: here, Condition: api.Condition{Where: "added IS NULL"}})
					if err != nil {
						t.Fatal(err)
					}
					wantColumns(t, what+", a condition", r, columns, slices.DeleteFunc(rows, func(s string) bool { return strings.HasSuffix(s, "yes") })...)
				}
			}
		})
	}
}

// stamped is a row whose ordering field is a timestamp.
type stamped struct {
	meta
	ID string `parquet:"id,optional"`
	TS int64  `parquet:"ts,timestamp(microsecond)"`
}

func stampedSchema(logical string) (table, block string) {
	f := `{"name":"id","type":["null","string"],"default":null},{"name":"ts","type":["null",{"type":"long","logicalType":"` + logical + `"}],"default":null}`
	return record(f), record(metaFields, f)
}

// TestReport34_MicrosAndMillis: the base file has microseconds, a log block milliseconds. Both are
// brought to one unit before they are compared and shown.
func TestReport34_MicrosAndMillis(t *testing.T) {
	base := time.Date(2024, 1, 1, 0, 0, 0, 5000, time.UTC)
	schema, _ := stampedSchema("timestamp-micros")
	_, block := stampedSchema("timestamp-millis")
	each(t, func(t *testing.T, version int) {
		for _, c := range []struct {
			log          time.Time
			want, ladder string
		}{{base.Add(-time.Second), "2024-01-01T00:00:00.000005", "base:won, data:lost = row"}, {base.Add(time.Second), "2024-01-01T00:00:01", "base:superseded, data:won = row"}} {
			b := build(t, version, nil)
			b.schema = schema
			b.commit("deltacommit", 1, b.baseBytes("", "f", "0-1-0", at(1), parquetOf(t, []stamped{{meta{Commit: at(1), Key: "k"}, "k", base.UnixMicro()}})))
			instant := at(1)
			if version >= 8 {
				instant = at(2)
			}
			b.commit("deltacommit", 2, b.log("", "f", instant, 1, logOf().Data(at(2), block, [][]byte{logfiletest.Record(nil, at(2), nil, "k", nil, nil, "k", c.log.UnixMilli())})))
			got := strings.Join(texts(read(t, b), "ts"), " ")
			if !strings.HasPrefix(strings.Replace(got, " ", "T", 1), c.want) {
				t.Errorf("log at %s: got %s, want %s", c.log, got, c.want)
			}
			wantLadder(t, c.want, b, "k", c.ladder)
			// A condition compares times, too, whatever the unit that they are stored in.
			r, err := service(b).Rows(t.Context(), api.RowsRequest{Table: here, Condition: api.Condition{Where: "ts >= TIMESTAMP '2024-01-01 00:00:00.5Z'"}})
			if err != nil || (len(r.Rows) == 1) != (c.log.After(base)) {
				t.Errorf("log at %s: %+v, %v", c.log, r, err)
			}
		}
	})
}

// TestReport35_MislabelledTimestamps: the file says microseconds and its numbers are milliseconds, or
// the other way about.
func TestReport35_MislabelledTimestamps(t *testing.T) {
	type stampedMillis struct {
		meta
		ID string `parquet:"id,optional"`
		TS int64  `parquet:"ts,timestamp(millisecond)"`
	}
	moment := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	key := meta{Commit: at(1), Key: "k"}
	files := map[string]func(value int64) []byte{
		"microseconds": func(v int64) []byte { return parquetOf(t, []stamped{{key, "k", v}}) },
		"milliseconds": func(v int64) []byte { return parquetOf(t, []stampedMillis{{key, "k", v}}) },
	}
	schemas := map[string]string{}
	schemas["microseconds"], _ = stampedSchema("timestamp-micros")
	schemas["milliseconds"], _ = stampedSchema("timestamp-millis")
	numbers := map[string]int64{"microseconds": moment.UnixMicro(), "milliseconds": moment.UnixMilli()}
	each(t, func(t *testing.T, version int) {
		for label, file := range files {
			for said, schema := range schemas {
				for are, value := range numbers {
					what := fmt.Sprintf("the file says %s, the table %s, the numbers are %s", label, said, are)
					b := build(t, version, map[string]string{"hoodie.table.type": "COPY_ON_WRITE"})
					b.schema = schema
					b.commit("commit", 1, b.baseBytes("", "f", "0-1-0", at(1), file(value)))
					r := read(t, b)
					got := texts(r, "ts")[0]
					switch {
					case label == are, said == are:
						// Well labelled, or the table knows better than the file.
						if !strings.HasPrefix(got, "2024-05-06") || len(r.Findings) > 0 {
							t.Errorf("%s: %s, %+v", what, got, r.Findings)
						}
					case label == "microseconds":
						// Nobody does: the value is shown as it is labelled, with a finding that has the number.
						if !strings.HasPrefix(got, "1970-01-20") {
							t.Errorf("%s: %s", what, got)
						}
						says(t, what, r.Findings, "ts", "1970", "labelled as microseconds", "look like milliseconds", fmt.Sprint(value))
					default:
						if strings.HasPrefix(got, "2024") {
							t.Errorf("%s: %s", what, got)
						}
						says(t, what, r.Findings, "ts", "after 9999", "labelled as milliseconds", "look like microseconds", fmt.Sprint(value))
					}
				}
			}
		}
	})
}

// TestReport40_PartitionFieldsInTheirOrder: the values of partition paths belong to the fields in the
// order of the configuration, whatever the order of the columns in the files.
func TestReport40_PartitionFieldsInTheirOrder(t *testing.T) {
	type bare struct { // without the partition columns: they are in the path alone
		meta
		ID string `parquet:"id,optional"`
	}
	type full struct { // with them, in another order
		meta
		ID      string `parquet:"id,optional"`
		OS      string `parquet:"os,optional"`
		Device  string `parquet:"device,optional"`
		Country string `parquet:"country,optional"`
	}
	f := func(n string) string { return `{"name":"` + n + `","type":["null","string"],"default":null}` }
	each(t, func(t *testing.T, version int) {
		for _, drop := range []bool{true, false} {
			b := build(t, version, map[string]string{"hoodie.table.type": "COPY_ON_WRITE", "hoodie.table.partition.fields": "country,device,os", "hoodie.datasource.write.hive_style_partitioning": "true",
				"hoodie.table.keygenerator.class": "org.apache.hudi.keygen.ComplexKeyGenerator", "hoodie.datasource.write.drop.partition.columns": fmt.Sprint(drop)})
			b.schema = record(f("id"), f("os"), f("device"), f("country"))
			var paths []string
			for _, p := range []string{"DE/phone/a", "DE/tablet/b", "FR/phone/b", "FR/phone/DE"} {
				v := strings.Split(p, "/")
				dir := "country=" + v[0] + "/device=" + v[1] + "/os=" + v[2]
				id := strings.ReplaceAll(p, "/", "")
				b.mark(dir)
				name := dir + "/" + id + "_0-1-0_" + at(1) + ".parquet"
				m := meta{Commit: at(1), Key: id, Part: dir}
				if drop {
					b.Put(name, parquetOf(t, []bare{{m, id}}))
				} else {
					b.Put(name, parquetOf(t, []full{{m, id, v[2], v[1], v[0]}}))
				}
				paths = append(paths, name)
			}
			b.commit("commit", 1, paths...)
			columns := []string{"id", "country", "device", "os"}
			all := []string{"DEphonea/DE/phone/a", "DEtabletb/DE/tablet/b", "FRphoneb/FR/phone/b", "FRphoneDE/FR/phone/DE"}
			what := fmt.Sprintf("columns in the files: %v", !drop)
			wantColumns(t, what, read(t, b), columns, slices.Clone(all)...)
			// Every column chooses its own partitions, and the others are not read.
			for where, kept := range map[string][]int{"country = 'DE'": {0, 1}, "device = 'phone'": {0, 2, 3}, "os = 'b'": {1, 2}, "os = 'DE'": {3}, "device = 'phone' AND os = 'b'": {2}, "os = 'phone'": {}, "country = 'FR' OR os = 'a'": {0, 2, 3}} {
				r, err := service(b).Rows(t.Context(), api.RowsRequest{Table: here, Condition: api.Condition{Where: where}})
				if err != nil {
					t.Fatal(err)
				}
				var rows []string
				for _, k := range kept {
					rows = append(rows, all[k])
				}
				wantColumns(t, what+", "+where, r, columns, rows...)
				p, err := service(b).Plan(t.Context(), api.PlanRequest{Table: here, Condition: api.Condition{Where: where}})
				if err != nil || p.Pruning == nil || p.Pruning.PartitionPart == "" {
					t.Fatalf("%s, %s: %+v, %v", what, where, p, err)
				}
				var left []string
				for _, x := range p.Pruning.Partitions {
					if x.Kept {
						left = append(left, x.Partition)
					} else if x.By != "partition values" || x.Why == "" {
						t.Errorf("%s, %s: %+v", what, where, x)
					}
				}
				var dirs []string
				for _, k := range kept {
					dirs = append(dirs, path.Dir(paths[k]))
				}
				slices.Sort(left)
				slices.Sort(dirs)
				if !slices.Equal(left, dirs) {
					t.Errorf("%s, %s: partitions %q, want %q", what, where, left, dirs)
				}
			}
		}
	})
}

// TestReport41_SlashInAPartitionValue: the path has more levels than there are fields.
func TestReport41_SlashInAPartitionValue(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		for _, c := range []struct {
			fields, dir, hive, want string
			note                    bool
		}{{"city", "a/b", "", "a/b", false}, {"city", "city=a/b", "true", "a/b", false}, {"city", "a/b/c", "", "a/b/c", false}, {"city,street", "a/b/c", "", "null", true}} {
			b := build(t, version, map[string]string{"hoodie.table.type": "COPY_ON_WRITE", "hoodie.table.partition.fields": c.fields, "hoodie.datasource.write.drop.partition.columns": "true", "hoodie.datasource.write.hive_style_partitioning": c.hive})
			b.schema = dataFields
			for _, f := range strings.Split(c.fields, ",") {
				b.schema += `,{"name":"` + f + `","type":["null","string"],"default":null}`
			}
			b.schema = record(b.schema)
			b.commit("commit", 1, b.base(c.dir, "f", at(1), rowOf(at(1), "k", 1, "x", 1)))
			what := c.fields + " in " + c.dir
			r := read(t, b)
			wantColumns(t, what, r, []string{"id", "city"}, "k/"+c.want)
			if c.note {
				says(t, what, r.Findings, c.dir, "can't be told")
			} else {
				if len(r.Findings) > 0 {
					t.Errorf("%s: %+v", what, r.Findings)
				}
				for where, rows := range map[string]int{"city = '" + c.want + "'": 1, "city = 'a'": 0} {
					r, err := service(b).Rows(t.Context(), api.RowsRequest{Table: here, Condition: api.Condition{Where: where}})
					if err != nil || len(r.Rows) != rows {
						t.Errorf("%s where %s: %+v, %v", what, where, r, err)
					}
				}
			}
			if f := filesOf(t, b, ""); len(f.Partitions) != 1 || f.Partitions[0].Partition != c.dir {
				t.Errorf("%s: %+v", what, f)
			}
		}
	})
}

// TestReport42_PartitionMarkerMissing: the directory of a partition that commits wrote to has no
// marker. Its rows are not left out in silence.
func TestReport42_PartitionMarkerMissing(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		// Found by the commits, and by the metadata table.
		for _, indexed := range []bool{false, true} {
			props := map[string]string{"hoodie.table.type": "COPY_ON_WRITE", "hoodie.table.partition.fields": "city"}
			if indexed {
				props["hoodie.table.metadata.partitions"] = "files"
			}
			b := build(t, version, props)
			b.commit("commit", 1, b.base("x", "f", at(1), rowOf(at(1), "a", 1, "x", 1)), b.base("y", "g", at(1), rowOf(at(1), "b", 1, "y", 1)))
			b.commit("commit", 2, b.base("x", "h", at(2), rowOf(at(2), "c", 1, "x", 1)))
			if indexed {
				b.metadata(2)
			}
			b.Remove("y/.hoodie_partition_metadata")
			what := fmt.Sprintf("metadata table: %v", indexed)
			r := read(t, b)
			want(t, what, r, "a/1/x/1", "b/1/y/1", "c/1/x/1")
			says(t, what, r.Findings, "y", ".hoodie_partition_metadata")
			ill(t, b, "partition-markers", "y")
			p, err := service(b).Partitions(t.Context(), api.PartitionsRequest{Table: here})
			if err != nil || !slices.Equal(p.Paths, []string{"x", "y"}) {
				t.Errorf("%s: %+v, %v", what, p, err)
			}
			if indexed { // as from afar, where the metadata table lists
				byMetadata(t, b.Files, []string{"x", "y"}, "a/1/x/1", "b/1/y/1", "c/1/x/1")
			}
		}
	})
}

// TestReport44_FirstWriteWithDeletes: the first write of a partition has inserts and deletes of keys
// that are not there: no change file was written, and the changes are the inserts.
func TestReport44_FirstWriteWithDeletes(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		for _, typ := range []string{"COPY_ON_WRITE", "MERGE_ON_READ"} {
			for _, mode := range []string{"data_before_after", "data_before", "op_key_only"} {
				what := typ + ", " + mode
				action := map[string]string{"COPY_ON_WRITE": "commit", "MERGE_ON_READ": "deltacommit"}[typ]
				b := build(t, version, map[string]string{"hoodie.table.type": typ, "hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": mode, "hoodie.table.partition.fields": "city"})
				p := b.base("x", "f", at(1), rowOf(at(1), "a", 1, "x", 1), rowOf(at(1), "b", 1, "y", 1))
				b.commitOf(action, 1, "UPSERT", map[string]any{"partitionToWriteStats": map[string]any{"x": []any{map[string]any{"fileId": "f", "path": p, "partitionPath": "x", "prevCommit": "null",
					"numWrites": 2, "numInserts": 2, "numDeletes": 1, "numUpdateWrites": 0, "fileSizeInBytes": len(b.Bytes(p))}}}})
				r := read(t, b, queryType, "incremental", "hoodie.datasource.query.incremental.format", "cdc", begin, "000")
				got := texts(r, "op", "before", "after")
				if len(got) != 2 || !holds(got[0], "i/null/", `\"id\":\"a\"`, `\"name\":\"x\"`) || !holds(got[1], "i/null/", `\"id\":\"b\"`, `\"name\":\"y\"`) {
					t.Errorf("%s: %q, %+v", what, got, r.Findings)
				}
				for _, x := range r.Findings {
					if x.Level == "error" {
						t.Errorf("%s: %+v", what, x)
					}
				}
				want(t, what, read(t, b), "a/1/x/1", "b/1/y/1")
			}
		}
	})
}
