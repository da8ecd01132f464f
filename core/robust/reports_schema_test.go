package robust_test

import (
	"fmt"
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
		commit(1, first, avro("id", "col2", "col3"), b.baseBytes("", "g1", "0-1-0", at(1), parquetOf(t, []cols{{meta{Commit: at(1), Key: "a"}, "a", "two", "three"}})))
		commit(2, last, avro("id", "col3"))
		commit(3, last, avro("id", "col3"), b.baseBytes("", "g2", "0-1-0", at(3), parquetOf(t, []renamed{{meta{Commit: at(3), Key: "b"}, "b", "new"}})))
		b.Put(".hoodie/.schema/"+at(2)+".schemacommit", []byte(`{"schemas":[`+last+`,`+first+`]}`))
		r := read(t, b)
		wantColumns(t, "rows", r, []string{"id", "col3"}, "a/two", "b/new")
		wantColumns(t, "a name that is gone", r, []string{"col2"}, "?", "?")
	})
}

// TestReport33_ColumnAddedLater: blocks that lack a nullable column give null.
func TestReport33_ColumnAddedLater(t *testing.T) {
	for _, def := range []string{`,"default":null`, ``} {
		each(t, func(t *testing.T, version int) {
			wide := record(metaFields, dataFields, `{"name":"added","type":["null","string"]`+def+`}`)
			b := one(t, version, nil, nil, data(logOf(), at(2), rec(at(2), "a", 2, "old", 2.0)), logOf().Data(at(3), wide, [][]byte{rec(at(3), "b", 3, "new", 3.0, "yes")}))
			b.schema = record(dataFields, `{"name":"added","type":["null","string"]`+def+`}`)
			b.commit("deltacommit", 4)
			wantColumns(t, "rows", read(t, b), []string{"id", "name", "added"}, "a/old/null", "b/new/yes")
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
			log  time.Time
			want string
		}{{base.Add(-time.Second), "2024-01-01T00:00:00.000005"}, {base.Add(time.Second), "2024-01-01T00:00:01"}} {
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
		}
	})
}

// TestReport35_MislabelledTimestamps: the file says microseconds, and its numbers are milliseconds.
func TestReport35_MislabelledTimestamps(t *testing.T) {
	millis := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC).UnixMilli()
	micros, _ := stampedSchema("timestamp-micros")
	ms, _ := stampedSchema("timestamp-millis")
	table := func(version int, schema string, value int64) *built {
		b := build(t, version, map[string]string{"hoodie.table.type": "COPY_ON_WRITE"})
		b.schema = schema
		b.commit("commit", 1, b.baseBytes("", "f", "0-1-0", at(1), parquetOf(t, []stamped{{meta{Commit: at(1), Key: "k"}, "k", value}})))
		return b
	}
	each(t, func(t *testing.T, version int) {
		// The table knows better than the file.
		r := read(t, table(version, ms, millis))
		if got := texts(r, "ts")[0]; !strings.HasPrefix(got, "2024-05-06") {
			t.Errorf("table schema millis, file micros: %s", got)
		}
		// Nobody does: the value is shown as it is labelled, with a finding.
		r = read(t, table(version, micros, millis))
		if got := texts(r, "ts")[0]; !strings.HasPrefix(got, "1970-01-20") {
			t.Errorf("both micros: %s", got)
		}
		says(t, "both micros", r.Findings, "ts", "1970", "milliseconds")
		// A true time of 2024 gives none.
		r = read(t, table(version, micros, millis*1000))
		if got := texts(r, "ts")[0]; !strings.HasPrefix(got, "2024-05-06") || len(r.Findings) > 0 {
			t.Errorf("well labelled: %s, %+v", got, r.Findings)
		}
	})
}

// TestReport40_PartitionFieldsInTheirOrder: the values of partition paths belong to the fields in the
// order of the configuration, whatever the order of the columns in the files.
func TestReport40_PartitionFieldsInTheirOrder(t *testing.T) {
	type other struct { // without the partition columns: they are in the path alone
		meta
		ID string `parquet:"id,optional"`
	}
	f := func(n string) string { return `{"name":"` + n + `","type":["null","string"],"default":null}` }
	each(t, func(t *testing.T, version int) {
		b := build(t, version, map[string]string{"hoodie.table.type": "COPY_ON_WRITE", "hoodie.table.partition.fields": "country,device,os", "hoodie.datasource.write.hive_style_partitioning": "true",
			"hoodie.table.keygenerator.class": "org.apache.hudi.keygen.ComplexKeyGenerator", "hoodie.datasource.write.drop.partition.columns": "true"})
		b.schema = record(f("id"), f("os"), f("device"), f("country"))
		var paths []string
		for _, p := range []string{"DE/phone/a", "DE/tablet/b", "FR/phone/b", "FR/phone/DE"} {
			v := strings.Split(p, "/")
			dir := "country=" + v[0] + "/device=" + v[1] + "/os=" + v[2]
			id := strings.ReplaceAll(p, "/", "")
			b.mark(dir)
			name := dir + "/" + id + "_0-1-0_" + at(1) + ".parquet"
			b.Put(name, parquetOf(t, []other{{meta{Commit: at(1), Key: id, Part: dir}, id}}))
			paths = append(paths, name)
		}
		b.commit("commit", 1, paths...)
		columns := []string{"id", "country", "device", "os"}
		wantColumns(t, "all", read(t, b), columns, "DEphonea/DE/phone/a", "DEtabletb/DE/tablet/b", "FRphoneb/FR/phone/b", "FRphoneDE/FR/phone/DE")
		r, err := service(b).Rows(t.Context(), api.RowsRequest{Table: here, Condition: api.Condition{Where: "country = 'DE'"}})
		if err != nil {
			t.Fatal(err)
		}
		wantColumns(t, "country", r, columns, "DEphonea/DE/phone/a", "DEtabletb/DE/tablet/b")
	})
}

// TestReport41_SlashInAPartitionValue: the path has more levels than there are fields.
func TestReport41_SlashInAPartitionValue(t *testing.T) {
	for fields, c := range map[string]struct {
		want string
		note bool
	}{"city": {"a/b", false}, "city,street,house": {"null", true}} {
		b := build(t, 6, map[string]string{"hoodie.table.type": "COPY_ON_WRITE", "hoodie.table.partition.fields": fields, "hoodie.datasource.write.drop.partition.columns": "true"})
		b.schema = dataFields
		for _, f := range strings.Split(fields, ",") {
			b.schema += `,{"name":"` + f + `","type":["null","string"],"default":null}`
		}
		b.schema = record(b.schema)
		b.commit("commit", 1, b.base("a/b", "f", at(1), rowOf(at(1), "k", 1, "x", 1)))
		r := read(t, b)
		wantColumns(t, fields, r, []string{"id", "city"}, "k/"+c.want)
		if c.note {
			says(t, fields, r.Findings, "a/b", "can't be told")
		}
		files, err := service(b).Files(t.Context(), api.FilesRequest{Table: here})
		if err != nil || files.Partitions[0].Partition != "a/b" {
			t.Errorf("%+v, %v", files, err)
		}
	}
}

// TestReport42_PartitionMarkerMissing: the directory of a partition that commits wrote to has no
// marker. Its rows are not left out in silence.
func TestReport42_PartitionMarkerMissing(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := build(t, version, map[string]string{"hoodie.table.type": "COPY_ON_WRITE", "hoodie.table.partition.fields": "city"})
		b.commit("commit", 1, b.base("x", "f", at(1), rowOf(at(1), "a", 1, "x", 1)), b.base("y", "g", at(1), rowOf(at(1), "b", 1, "y", 1)))
		b.commit("commit", 2, b.base("x", "h", at(2), rowOf(at(2), "c", 1, "x", 1)))
		b.Remove("y/.hoodie_partition_metadata")
		r := read(t, b)
		want(t, "rows", r, "a/1/x/1", "b/1/y/1", "c/1/x/1")
		says(t, "rows", r.Findings, "y", ".hoodie_partition_metadata")
		ill(t, b, "partition-markers", "y")
	})
}

// TestReport44_FirstWriteWithDeletes: the first write of a partition has inserts and deletes of keys
// that are not there: no change file was written, and the changes are the inserts.
func TestReport44_FirstWriteWithDeletes(t *testing.T) {
	each(t, func(t *testing.T, version int) {
		b := build(t, version, map[string]string{"hoodie.table.type": "COPY_ON_WRITE", "hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": "data_before_after"})
		p := b.base("", "f", at(1), rowOf(at(1), "a", 1, "x", 1), rowOf(at(1), "b", 1, "y", 1))
		b.commitOf("commit", 1, "UPSERT", map[string]any{"partitionToWriteStats": map[string]any{"": []any{map[string]any{"fileId": "f", "path": p, "partitionPath": "", "prevCommit": "null",
			"numWrites": 2, "numInserts": 2, "numDeletes": 1, "numUpdateWrites": 0, "fileSizeInBytes": len(b.Bytes(p))}}}})
		r := read(t, b, queryType, "incremental", "hoodie.datasource.query.incremental.format", "cdc", begin, "000")
		if len(r.Rows) != 2 {
			t.Fatalf("%q, %+v", r.Rows, r.Findings)
		}
		for _, ops := range texts(r, "op", "before") {
			if ops != "i/null" {
				t.Errorf("change %s", ops)
			}
		}
	})
}
