package health

import (
	"fmt"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/config"
	"hudiscope/core/filegroup"
	"hudiscope/core/tabletest"
	"hudiscope/core/timeline"
)

// Instants of the tables made here.
const (
	c1 = "20240101000000001"
	c2 = "20240101000000002"
	c3 = "20240101000000003"
)

func baseName(id, instant string) string { return id + "_0-0-0_" + instant + ".parquet" }

// commit writes a completed commit of version 6 that wrote the base files of some file groups.
func commit(f *tabletest.Files, action, instant string, ids []string, more string) {
	var stats []string
	for _, id := range ids {
		name := baseName(id, instant)
		f.Put("p/"+name, []byte("x"))
		stats = append(stats, fmt.Sprintf(`{"fileId":%q,"path":"p/%s","prevCommit":"null"}`, id, name))
	}
	for _, s := range []string{".requested", ".inflight"} {
		f.Put(".hoodie/"+instant+"."+action+s, nil)
	}
	f.Put(".hoodie/"+instant+"."+action, fmt.Appendf(nil, `{"operationType":"UPSERT","partitionToWriteStats":{"p":[%s]}%s}`, strings.Join(stats, ","), more))
}

func newTable() *tabletest.Files {
	f := tabletest.New("made")
	f.Put(".hoodie/hoodie.properties", []byte("hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=6\nhoodie.timeline.layout.version=1\n"))
	f.Put("p/.hoodie_partition_metadata", []byte("commitTime="+c1))
	return f
}

func inputFrom(t *testing.T, f *tabletest.Files) *Input {
	t.Helper()
	cfg, err := config.Load(t.Context(), f, "")
	if err != nil {
		t.Fatal(err)
	}
	tl, err := timeline.Load(t.Context(), f, cfg)
	if err != nil {
		t.Fatal(err)
	}
	v, err := filegroup.Load(t.Context(), f, cfg, tl, nil, filegroup.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := &Input{Config: cfg, Timeline: tl, View: v, All: true}
	for _, x := range tl.Commits().Completed().Instants {
		m, err := tl.CommitMetadata(t.Context(), &x)
		in.Commits = append(in.Commits, Commit{Instant: x, Meta: m, Err: err})
	}
	return in
}

// files returns the files in the evidence of a level.
func files(list []api.HealthFinding, level string) string {
	var out []string
	for _, f := range list {
		if f.Level == level {
			for _, e := range f.Evidence {
				out = append(out, e.File)
			}
		}
	}
	return strings.Join(out, " ")
}

// TestMissingFiles: a file is missed only when the latest slice needs it and nothing accounts for it.
func TestMissingFiles(t *testing.T) {
	make := func() *tabletest.Files {
		f := newTable()
		commit(f, "commit", c1, []string{"a", "b", "c"}, "")
		commit(f, "commit", c2, []string{"a"}, "")
		commit(f, "replacecommit", c3, []string{"d"}, `,"partitionToReplaceFileIds":{"p":["c"]}`)
		return f
	}
	removed := &api.InstantWork{Clean: &api.CleanWork{Partitions: []api.CleanPartition{{Partition: "p", Deleted: []string{baseName("b", c1)}}}}}
	rolledBack := &api.InstantWork{Rollback: &api.RollbackWork{Partitions: []api.RollbackPartition{{Partition: "p", Deleted: []string{baseName("b", c1)}}}}}
	gone := &api.InstantWork{Clean: &api.CleanWork{Partitions: []api.CleanPartition{{Partition: "p", Gone: true}}}}
	for _, c := range []struct {
		name, drop, want string
		work             *api.InstantWork
	}{
		{"nothing is missing", "", "", nil},
		{"an older slice", baseName("a", c1), "", nil},
		{"the latest slice", baseName("a", c2), baseName("a", c2), nil},
		{"a replaced group", baseName("c", c1), "", nil},
		{"a live group", baseName("b", c1), baseName("b", c1), nil},
		{"removed by a clean", baseName("b", c1), "", removed},
		{"removed by a rollback", baseName("b", c1), "", rolledBack},
		{"a partition that a clean deleted", baseName("b", c1), "", gone},
	} {
		f := make()
		if c.drop != "" {
			f.Remove("p/" + c.drop)
		}
		in := inputFrom(t, f)
		if c.work != nil {
			in.Services = []Service{{Instant: timeline.Instant{Requested: c3, Action: timeline.Clean, State: timeline.Completed}, Work: c.work}}
		}
		found, skipped := missingFiles(in)
		if got := files(found, "error"); got != c.want || skipped != "" {
			t.Errorf("%s: missing %q, want %q (%s)", c.name, got, c.want, skipped)
		}
	}
}

// TestOrphanFiles tells files of unknown, pending and completed instants apart.
func TestOrphanFiles(t *testing.T) {
	f := newTable()
	commit(f, "commit", c1, []string{"a"}, "")
	commit(f, "commit", c3, []string{"b"}, "")
	f.Put(".hoodie/"+c2+".commit.requested", nil)
	f.Put(".hoodie/"+c2+".inflight", nil)
	f.Put("p/"+baseName("a", c2), []byte("x"))                     // pending
	f.Put("p/"+baseName("x", "20240101000000002500"), []byte("x")) // of no instant
	f.Put("p/"+baseName("y", c1), []byte("x"))                     // not named by its commit
	f.Put("p/.x.parquet.crc", []byte("x"))
	found, _ := orphanFiles(inputFrom(t, f))
	if got := files(found, "warning"); got != baseName("x", "20240101000000002500")+" "+baseName("y", c1) {
		t.Errorf("warnings about %q", got)
	}
	if got := files(found, "note"); got != baseName("a", c2) {
		t.Errorf("notes about %q", got)
	}
}

// TestThresholds: every threshold has a meaning and is used by some check.
func TestThresholds(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range Thresholds {
		if seen[x.Name] || x.What == "" || x.Unit == "" || x.Default <= 0 {
			t.Errorf("%+v", x)
		}
		seen[x.Name] = true
		in := &Input{Limits: map[string]float64{x.Name: 42}}
		if in.limit(x.Name) != 42 || (&Input{}).limit(x.Name) != x.Default {
			t.Errorf("%s is not taken", x.Name)
		}
	}
	ids := map[string]bool{}
	for _, c := range Checks {
		if ids[c.ID] || c.Title == "" {
			t.Errorf("%+v", c)
		}
		ids[c.ID] = true
	}
}

// TestEvidenceIsBounded: a thousand orphans are counted, and the first of them listed.
func TestEvidenceIsBounded(t *testing.T) {
	f := newTable()
	commit(f, "commit", c1, []string{"a"}, "")
	for i := range 1000 {
		f.Put("p/"+baseName(fmt.Sprint("z", i), c1), []byte("x"))
	}
	found, _ := orphanFiles(inputFrom(t, f))
	if len(found) != 1 || found[0].Count != 1000 || len(found[0].Evidence) != maxEvidence {
		t.Errorf("%d findings, %+v", len(found), found)
	}
}
