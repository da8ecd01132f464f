//go:build !js

package robust_test

import (
	"context"
	"path"
	"strings"
	"testing"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/explorer"
	"hudiscope/core/tabletest"
)

// fuzzFile fuzzes one file of a real table: whatever is in it, the requests end with an answer or with a
// fault that is not of the program's making, in bounded time.
func fuzzFile(f *testing.F, table string, find func(dir, name string) bool, ask func(ctx context.Context, s *explorer.Service) error) {
	whole := tabletest.Open(f, table)
	paths := files(whole, find)
	if len(paths) == 0 {
		f.Fatalf("%s has no such file", table)
	}
	p := paths[0]
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
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		err := ask(ctx, service(src))
		if ctx.Err() != nil {
			t.Fatal("it took more than 20 seconds")
		}
		if err != nil {
			if told := explorer.ToFault(err); told.Kind == "internal" {
				t.Fatalf("an internal error: %+v", told)
			}
		}
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
