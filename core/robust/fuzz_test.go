//go:build !js

package robust_test

import (
	"context"
	"encoding/json"
	"path"
	"runtime"
	"strings"
	"testing"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/explorer"
	"hudiscope/core/logfile"
	"hudiscope/core/logfile/logfiletest"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
)

// ask runs requests on a table and holds them to what any bytes must come to: an answer, or a fault that is not of the
// program's making and names a file where it is about one, in bounded time and memory.
func ask(t *testing.T, src storage.Source, request func(ctx context.Context, s *explorer.Service) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := request(ctx, service(src))
	runtime.ReadMemStats(&after)
	if ctx.Err() != nil {
		t.Fatal("it took more than 20 seconds")
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 256<<20 {
		t.Fatalf("%d MiB were allocated", n>>20)
	}
	if err == nil {
		return
	}
	told := explorer.ToFault(err)
	if told.Kind == "internal" || told.Message == "" || told.Kind == "corrupt" && told.File == "" {
		t.Fatalf("%+v", told)
	}
}

// fuzzFile fuzzes one file of a real table.
func fuzzFile(f *testing.F, table string, find func(dir, name string) bool, request func(ctx context.Context, s *explorer.Service) error) {
	whole := tabletest.Open(f, table)
	paths := files(whole, find)
	if len(paths) == 0 {
		f.Fatalf("%s has no such file", table)
	}
	fuzzPath(f, whole, paths[0], request)
}

// fuzzPath fuzzes the file of a table that has a path. Where it is whole, the request must be answered.
func fuzzPath(f *testing.F, whole *tabletest.Files, p string, request func(ctx context.Context, s *explorer.Service) error) {
	if err := request(f.Context(), service(whole)); err != nil {
		f.Fatalf("of the whole table: %v", err)
	}
	seed := whole.Bytes(p)
	f.Add(seed)
	f.Add(seed[:len(seed)/2])
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<20 {
			return
		}
		src := whole.Clone()
		src.Put(p, data)
		ask(t, src, request)
	})
}

func archivedTimeline(ctx context.Context, s *explorer.Service) error {
	_, err := s.Timeline(ctx, api.TimelineRequest{Table: here, Archived: true})
	return err
}

func allRows(ctx context.Context, s *explorer.Service) error {
	_, err := s.Rows(ctx, api.RowsRequest{Table: here})
	return err
}

// FuzzArchiveV1 fuzzes a file of the archived timeline of layouts 0 and 1: a log of Avro records.
func FuzzArchiveV1(f *testing.F) {
	fuzzFile(f, "archived_mor_h0150", func(dir, name string) bool {
		return dir == ".hoodie/archived" && strings.Contains(name, ".archive.")
	}, archivedTimeline)
}

// FuzzArchiveV2 fuzzes a file of the archived timeline of layout 2: a Parquet file of an LSM tree.
func FuzzArchiveV2(f *testing.F) {
	fuzzFile(f, "archived_mor_h120", func(dir, name string) bool {
		return dir == ".hoodie/timeline/history" && path.Ext(name) == ".parquet"
	}, archivedTimeline)
}

// FuzzArchiveManifest fuzzes the manifest of that tree.
func FuzzArchiveManifest(f *testing.F) {
	fuzzFile(f, "archived_mor_h120", func(dir, name string) bool { return strings.HasPrefix(name, "manifest_") }, archivedTimeline)
}

// FuzzBootstrapIndex fuzzes the index that leads from skeletons to source files.
func FuzzBootstrapIndex(f *testing.F) {
	fuzzFile(f, "bootstrap_metadata_only_mor_h120", func(dir, name string) bool {
		return strings.HasSuffix(dir, ".bootstrap/.fileids") && path.Ext(name) == ".hfile"
	}, allRows)
}

// FuzzIndexDefinitions fuzzes the definitions of the metadata table's indexes.
func FuzzIndexDefinitions(f *testing.F) {
	fuzzFile(f, "mdt_full_h120", func(dir, name string) bool { return dir == ".hoodie/.index_defs" }, func(ctx context.Context, s *explorer.Service) error {
		_, err := s.Metadata(ctx, api.MetadataRequest{Table: here})
		return err
	})
}

// FuzzProperties fuzzes hoodie.properties all the way to rows.
func FuzzProperties(f *testing.F) {
	fuzzFile(f, "mor_trips_h0150", func(dir, name string) bool { return name == "hoodie.properties" }, func(ctx context.Context, s *explorer.Service) error {
		if _, err := s.Overview(ctx, api.OverviewRequest{Table: here}); err != nil {
			return err
		}
		return allRows(ctx, s)
	})
}

// FuzzCommit fuzzes the newest commit's metadata all the way to rows and health.
func FuzzCommit(f *testing.F) {
	fuzzFile(f, "mor_trips_h0150", func(dir, name string) bool {
		return dir == ".hoodie" && strings.HasPrefix(name, "20261129225413974.deltacommit") && path.Ext(name) == ".deltacommit"
	}, func(ctx context.Context, s *explorer.Service) error {
		if _, err := s.Health(ctx, api.HealthRequest{Table: here, Now: "20261201000000000"}); err != nil {
			return err
		}
		return allRows(ctx, s)
	})
}

// FuzzLog fuzzes a log file all the way to merged rows.
func FuzzLog(f *testing.F) {
	fuzzFile(f, "mor_trips_h120", func(dir, name string) bool { return inTable(dir) && strings.Contains(name, ".log.1_") }, allRows)
}

// FuzzPositions fuzzes a log of a table whose blocks hold positions of records in the base file.
func FuzzPositions(f *testing.F) {
	fuzzFile(f, "record_positions_h120", func(dir, name string) bool { return inTable(dir) && strings.Contains(name, ".log.1_") }, func(ctx context.Context, s *explorer.Service) error {
		_, err := s.Rows(ctx, api.RowsRequest{Table: here, Options: options("hoodie.merge.use.record.positions", "true")})
		return err
	})
}

// FuzzHFileBlock fuzzes a log whose data blocks are HFiles.
func FuzzHFileBlock(f *testing.F) {
	fuzzFile(f, "log_block_hfile_h0150", func(dir, name string) bool { return inTable(dir) && strings.Contains(name, ".log.1_") }, allRows)
}

// FuzzParquetBlock fuzzes the Parquet file inside a data block of a log; the block around it is whole.
func FuzzParquetBlock(f *testing.F) {
	header := []logfiletest.Entry{{Key: logfile.InstantTime, Value: at(2)}, {Key: logfile.Schema, Value: tableSchema}}
	around := func(t testing.TB, content []byte) *built {
		return one(t, 9, nil, []row{rowOf(at(1), "k", 1, "x", 1)}, logOf().Block(logfile.ParquetDataBlock, header, content))
	}
	whole := parquetOf(f, []row{rowOf(at(2), "k", 2, "y", 2), rowOf(at(2), "n", 2, "new", 2)})
	want(f, "whole", read(f, around(f, whole)), "k/2/y/2", "n/2/new/2")
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Fuzz(func(t *testing.T, content []byte) { ask(t, around(t, content), allOf) })
}

// FuzzChanges fuzzes a file of change data all the way to the changes of a range.
func FuzzChanges(f *testing.F) {
	fuzzFile(f, "cdc_data_before_cow_h0150", func(dir, name string) bool { return strings.HasSuffix(name, ".cdc") }, func(ctx context.Context, s *explorer.Service) error {
		if _, err := s.Blocks(ctx, api.BlocksRequest{Table: here, Partition: "chennai", FileID: "4c87be85-34a7-4d98-a6d7-7da483bd2bc1-0", All: true}); err != nil {
			return err
		}
		_, err := s.Rows(ctx, api.RowsRequest{Table: here, Options: options(queryType, "incremental", "hoodie.datasource.query.incremental.format", "cdc", begin, "000")})
		return err
	})
}

// FuzzSchemaHistory fuzzes the history of schemas, for a read that follows renamed and dropped columns.
func FuzzSchemaHistory(f *testing.F) {
	whole := tabletest.Open(f, "schema_on_read_mor_h120")
	paths := files(whole, func(dir, name string) bool { return dir == ".hoodie/.schema" && path.Ext(name) == ".schemacommit" })
	if len(paths) == 0 {
		f.Fatal("there is no history")
	}
	fuzzPath(f, whole, paths[len(paths)-1], func(ctx context.Context, s *explorer.Service) error {
		if _, err := s.Housekeeping(ctx, api.HousekeepingRequest{Table: here}); err != nil {
			return err
		}
		if _, err := s.Schema(ctx, api.SchemaRequest{Table: here}); err != nil {
			return err
		}
		return allRows(ctx, s)
	})
}

// skipped reads with statistics, filters and locations of the metadata table, and lists that table.
func skipped(partition string) func(ctx context.Context, s *explorer.Service) error {
	return func(ctx context.Context, s *explorer.Service) error {
		if _, err := s.Metadata(ctx, api.MetadataRequest{Table: here, Partition: partition, Raw: true}); err != nil {
			return err
		}
		_, err := s.Rows(ctx, api.RowsRequest{Table: here, Condition: api.Condition{Where: "rider >= 'rider-A' and fare < 1000"}, Options: options("hoodie.enable.data.skipping", "true", "hoodie.metadata.enable", "true")})
		return err
	}
}

// FuzzMetadataBase fuzzes an HFile of the metadata table, all the way to its records and to rows.
func FuzzMetadataBase(f *testing.F) {
	fuzzFile(f, "mdt_full_h0150", func(dir, name string) bool { return dir == ".hoodie/metadata/files" && path.Ext(name) == ".hfile" }, skipped("files"))
}

// FuzzMetadataLog fuzzes a log of the metadata table.
func FuzzMetadataLog(f *testing.F) {
	fuzzFile(f, "mdt_types_h120", func(dir, name string) bool {
		return dir == ".hoodie/metadata/column_stats" && strings.Contains(name, ".log.1_0-29-")
	}, func(ctx context.Context, s *explorer.Service) error {
		_, err := s.Metadata(ctx, api.MetadataRequest{Table: here, Partition: "column_stats", Raw: true})
		return err
	})
}

// FuzzPayload fuzzes a log whose records a payload class merges that looks into their values, such as the position in the
// log of a database.
func FuzzPayload(f *testing.F) {
	fuzzFile(f, "payload_mysql_debezium_h0150", func(dir, name string) bool { return inTable(dir) && strings.Contains(name, ".log.1_") }, allRows)
}

// FuzzRequest fuzzes the arguments of every request, states of streams and operators among them, on a whole table; those about
// the metadata table on one that has it.
func FuzzRequest(f *testing.F) {
	whole, withMetadata := tabletest.Open(f, "mor_trips_h120"), tabletest.Open(f, "mdt_full_h0150")
	log := logs(whole)[0]
	group, _ := logfile.ParseName(path.Base(log))
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	place := `"table":"x","file":` + quoted(log) + `,"partition":` + quoted(path.Dir(log)) + `,"file_id":` + quoted(group.FileID)
	ops := []api.Op{api.OpOverview, api.OpTimeline, api.OpInstant, api.OpCommits, api.OpPartitions, api.OpFiles, api.OpSlices, api.OpBlocks, api.OpBlock, api.OpBytes, api.OpRows, api.OpSchema, api.OpConfig,
		api.OpColumnStats, api.OpHandoff, api.OpExport, api.OpHistory, api.OpScan, api.OpPlan, api.OpStream, api.OpSplits, api.OpOperator, api.OpRanges, api.OpRelations, api.OpHealth, api.OpCompare,
		api.OpHousekeeping, api.OpAnatomy, api.OpGroup, api.OpActivity, api.OpMetadata, api.OpNetwork, api.OpClose}
	for i, op := range ops {
		f.Add(uint8(i), []byte(`{"table":"x"}`))
		f.Add(uint8(i), []byte(`{`+place+`,"limit":3,"offset":0}`))
		for _, more := range map[api.Op][]string{
			api.OpInstant:     {`"requested":"20261129225413974","action":"deltacommit"`},
			api.OpRows:        {`"where":"fare > 10 and rider like 'rider-%'","columns":["fare","rider"],"order":[{"column":"fare","desc":true}],"text":true`, `"options":{"as.of.instant":"20261129225413974"}`},
			api.OpColumnStats: {`"columns":["fare"],"top":3`},
			api.OpExport:      {`"format":"csv","part":2,"id":"a"`, `"format":"parquet"`},
			api.OpHistory:     {`"key":"1","prefix":true,"everywhere":true`},
			api.OpPlan:        {`"spark":{"spark.sql.files.maxPartitionBytes":"1k"},"where":"fare > 10"`},
			api.OpStream:      {`"batch":true,"options":{"read.start-commit":"earliest","changelog.enabled":"true"}`, `"seen":"20261129225413974"`},
			api.OpSplits:      {`"poll":true,"state":{"issued":"1","offset":"2"},"options":{"read.tasks":"4"}`},
			api.OpOperator:    {`"steps":4,"reader":0,"mini_batch":2,"rows":3,"state":{"readers":[{"status":"idle","queue":[{"split":{"instant":"1"}}],"emitted":-1}]},"add":[{"file_id":"a","start":"0"}]`},
			api.OpHealth:      {`"deep":true,"now":"20261201000000000","thresholds":{"small_file":1e308},"checks":["keys"]`},
			api.OpCompare:     {`"from":"20261129225400000","to":"20261129225500000","max_keys":1`},
			api.OpHandoff:     {`"flink":true,"batch":true,"where":"fare > 10"`},
			api.OpAnatomy:     {`"offset":100,"length":9,"chunk":1`},
			api.OpRanges:      {`"options":{"read.start-commit":"earliest"},"releases":["0.15.0","1.2.0"]`},
			api.OpActivity:    {`"from":"2026","to":"2027","metadata":true`},
			api.OpMetadata:    {`"partition":"files","limit":1,"cursor":"files/files-0000-0/chennai","raw":true`, `"partition":"record_index","keys":["1"]`, `"partition":"column_stats","prefix":"a"`},
		}[op] {
			f.Add(uint8(i), []byte(`{`+place+`,`+more+`}`))
		}
	}
	f.Fuzz(func(t *testing.T, op uint8, args []byte) {
		src := whole
		if ops[int(op)%len(ops)] == api.OpMetadata {
			src = withMetadata
		}
		ask(t, src, func(ctx context.Context, s *explorer.Service) error {
			answer, err := s.Do(ctx, ops[int(op)%len(ops)], args, func(api.Progress) {})
			if err == nil {
				if _, err := json.Marshal(answer); err != nil {
					t.Fatalf("the answer can't be told: %v", err)
				}
			}
			return err
		})
	})
}
