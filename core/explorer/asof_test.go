package explorer

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/logfile"
	"hudiscope/core/tabletest"
)

// completedWrites are the requested times of a table's completed writes, oldest first.
func completedWrites(t *testing.T, s *Service, tab api.Table) []string {
	tl, err := s.Timeline(context.Background(), api.TimelineRequest{Table: tab})
	if err != nil {
		return nil
	}
	var out []string
	for _, x := range tl.Active {
		if x.State == "COMPLETED" && (x.Action == "commit" || x.Action == "deltacommit" || x.Action == "replacecommit") {
			out = append(out, x.Requested)
		}
	}
	return out
}

// TestFilesAsOf: the files marked as read as of an instant are those of a query's plan as of that instant, nothing
// later is among the files, and as of the newest write everything is there.
func TestFilesAsOf(t *testing.T) {
	s := testService(t)
	ctx := context.Background()
	checked := 0
	for _, name := range tabletest.Names(t, "about.json") {
		tab := api.Table{Location: name}
		for _, at := range completedWrites(t, s, tab) {
			a, err := s.Files(ctx, api.FilesRequest{Table: tab, AsOf: at})
			if err != nil {
				t.Fatalf("%s as of %s: %v", name, at, err)
			}
			plan, err := s.Plan(ctx, api.PlanRequest{Table: tab, Options: map[string]string{"as.of.instant": at}})
			if err != nil {
				continue // what can't be read has no plan
			}
			var planned, shown []string
			for _, p := range plan.Parts {
				if p.Base != "" {
					planned = append(planned, p.Base)
				}
				planned = append(planned, p.Logs...)
			}
			later := map[string]bool{}
			o, err := s.Overview(ctx, api.OverviewRequest{Table: tab})
			if err != nil {
				t.Fatal(err)
			}
			var size int64
			for _, p := range a.Partitions {
				for _, g := range p.Groups {
					if g.ReplacedBy > at || g.PendingCompaction > at {
						t.Errorf("%s as of %s: group %s is replaced by %s, pending %s", name, at, g.FileID, g.ReplacedBy, g.PendingCompaction)
					}
					for _, sl := range g.Slices {
						if sl.BaseInstant > at {
							t.Errorf("%s as of %s: slice %s", name, at, sl.BaseInstant)
						}
						files := slices.Clone(sl.Logs)
						if sl.Base != nil {
							files = append(files, *sl.Base)
						}
						for _, f := range files {
							size += max(f.Size, 0)
							if f.Instant > at {
								t.Errorf("%s as of %s: file %s", name, at, f.Name)
							}
							// Below version 8 readers take every log file of a slice and go by its blocks.
							if _, log := logfile.ParseName(f.Name); sl.Latest && (f.State == "committed" || log && o.Version < 8 && f.State != "cdc") {
								shown = append(shown, f.Path)
							}
						}
					}
				}
			}
			// From version 8 on a plan names log files of later writes, too, whose blocks are then passed over.
			if o.Version >= 8 {
				planned = slices.DeleteFunc(planned, func(p string) bool {
					later[p] = fileInstant(p[strings.LastIndexByte(p, '/')+1:]) > at
					return later[p]
				})
			}
			slices.Sort(planned)
			slices.Sort(shown)
			if !slices.Equal(planned, shown) {
				t.Errorf("%s as of %s:\nplan  %v\nfiles %v", name, at, planned, shown)
			}
			sizes, err := s.Partitions(ctx, api.PartitionsRequest{Table: tab, AsOf: at, Sizes: true})
			if err != nil {
				t.Fatal(err)
			}
			var sum int64
			for _, x := range sizes.Sizes {
				sum += x.Base + x.Log + x.Old
			}
			if sum != size || len(sizes.Sizes) != len(sizes.Paths) || len(sizes.Paths) != len(a.Partitions) {
				t.Errorf("%s as of %s: %d bytes of files, %d by partitions", name, at, size, sum)
			}
			checked++
		}
	}
	if checked < 60 {
		t.Errorf("only %d instants", checked)
	}
	for _, err := range []error{
		func() error {
			_, err := s.Files(ctx, api.FilesRequest{Table: api.Table{Location: "mor_trips_h120"}, AsOf: "now"})
			return err
		}(),
		func() error {
			_, err := s.Blocks(ctx, api.BlocksRequest{Table: api.Table{Location: "mor_trips_h120"}, AsOf: "now"})
			return err
		}(),
		func() error {
			_, err := s.Health(ctx, api.HealthRequest{Table: api.Table{Location: "mor_trips_h120"}, AsOf: "now"})
			return err
		}(),
	} {
		if f := ToFault(err); f == nil || f.Kind != "invalid request" {
			t.Errorf("as of now: %v", err)
		}
	}
}

// TestBlocksAsOf: as of an instant no later block is merged, and the records merged are those of a recorded scan.
func TestBlocksAsOf(t *testing.T) {
	s := testService(t)
	ctx := context.Background()
	later, merged := 0, 0
	for _, name := range []string{"mor_trips_h120", "mor_trips_h0150", "mor_rollback_multi_h0150", "mor_rollback_h120", "mor_compacted_h120", "pending_compaction_requested_h120"} {
		tab := api.Table{Location: name}
		writes := completedWrites(t, s, tab)
		now, err := s.Blocks(ctx, api.BlocksRequest{Table: tab, All: true})
		if err != nil {
			t.Fatal(err)
		}
		last, err := s.Blocks(ctx, api.BlocksRequest{Table: tab, All: true, AsOf: writes[len(writes)-1]})
		if err != nil || jsonOf(t, now) != jsonOf(t, last) {
			t.Errorf("%s: as of the newest write there are other blocks: %v", name, err)
		}
		for _, at := range writes {
			a, err := s.Blocks(ctx, api.BlocksRequest{Table: tab, All: true, AsOf: at})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range a.Files {
				for _, b := range f.Blocks {
					switch {
					case b.Instant > at && b.Fate == "merged": // a later rollback counts, as it does in Hudi 1.x
						t.Errorf("%s as of %s: block %d of %s, of %s, is %s", name, at, b.Index, f.File.Name, b.Instant, b.Fate)
					case b.Instant > at && b.Fate == "after the query instant":
						later++
					case b.Fate == "merged":
						merged++
					}
				}
			}
			for _, p := range mustFiles(t, s, tab, at).Partitions {
				for _, g := range p.Groups {
					for _, sl := range g.Slices {
						if !sl.Latest || len(sl.Logs) == 0 {
							continue
						}
						b, err := s.Blocks(ctx, api.BlocksRequest{Table: tab, Partition: p.Partition, FileID: g.FileID, BaseInstant: sl.BaseInstant, AsOf: at})
						if err != nil {
							t.Fatal(err)
						}
						scan, err := s.Scan(ctx, api.ScanRequest{Table: tab, Partition: p.Partition, FileID: g.FileID, BaseInstant: sl.BaseInstant, AsOf: at})
						if err != nil || jsonOf(t, scan.Blocks) != jsonOf(t, b) {
							t.Errorf("%s as of %s: the scan has other blocks: %v", name, at, err)
						}
					}
				}
			}
		}
	}
	if later < 10 || merged < 10 {
		t.Errorf("%d later blocks, %d merged", later, merged)
	}
}

func mustFiles(t *testing.T, s *Service, tab api.Table, at string) *api.Files {
	a, err := s.Files(context.Background(), api.FilesRequest{Table: tab, AsOf: at})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestHealthAsOf: as of an instant only what was there by then is looked at, and what can't be told is skipped with a
// reason.
func TestHealthAsOf(t *testing.T) {
	s := testService(t)
	tab := api.Table{Location: "mor_trips_h120"}
	writes := completedWrites(t, s, tab)
	before := -1
	for _, at := range writes {
		a, err := s.Health(context.Background(), api.HealthRequest{Table: tab, AsOf: at, Deep: true})
		if err != nil {
			t.Fatal(err)
		}
		if a.AsOf != at || a.Looked.Commits <= before || a.Looked.Keys == 0 {
			t.Errorf("as of %s: %+v", at, a.Looked)
		}
		before = a.Looked.Commits
		skipped := 0
		for _, c := range a.Checks {
			if c.Status == "skipped" {
				skipped++
				if c.Note == "" {
					t.Errorf("%s is skipped without a reason", c.ID)
				}
			}
			if (c.ID == "missing-files" || c.ID == "stuck-instants") && c.Status != "skipped" {
				t.Errorf("%s as of %s: %s", c.ID, at, c.Status)
			}
		}
		for _, f := range a.Findings {
			for _, e := range f.Evidence {
				if e.Instant > at {
					t.Errorf("as of %s: %s of %s", at, f.Title, e.Instant)
				}
			}
		}
	}
	if before != len(writes) {
		t.Errorf("%d commits, %d writes", before, len(writes))
	}
}

// TestGroupOfAllTables: every file of a group was written by an instant that its history names, unless that is
// archived; every instant that wrote to the group by its commit metadata is in it.
func TestGroupOfAllTables(t *testing.T) {
	s := testService(t)
	ctx := context.Background()
	groups, gone, replaced := 0, 0, 0
	for _, name := range tabletest.Names(t, "about.json") {
		tab := api.Table{Location: name}
		files, err := s.Files(ctx, api.FilesRequest{Table: tab})
		if err != nil {
			continue // what can't be opened at all
		}
		writes := completedWrites(t, s, tab)
		written := map[string]map[string]bool{}
		commits, err := s.Commits(ctx, api.CommitsRequest{Table: tab})
		if err != nil {
			continue
		}
		for file, raw := range commits {
			var m struct {
				Stats map[string][]struct {
					FileID string `json:"fileId"`
					Path   string `json:"path"`
				} `json:"partitionToWriteStats"`
			}
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatal(err)
			}
			for p, list := range m.Stats {
				for _, w := range list {
					k := p + "\x00" + w.FileID
					if written[k] == nil {
						written[k] = map[string]bool{}
					}
					written[k][leadingDigits(file)] = true
				}
			}
		}
		for _, p := range files.Partitions {
			for _, g := range p.Groups {
				a, err := s.Group(ctx, api.GroupRequest{Table: tab, Partition: p.Partition, FileID: g.FileID})
				if err != nil {
					t.Fatalf("%s: %s: %v", name, g.FileID, err)
				}
				groups++
				if jsonOf(t, a.Group) != jsonOf(t, g) {
					t.Errorf("%s: %s is another group", name, g.FileID)
				}
				named := map[string]bool{}
				for i, e := range a.Events {
					if i > 0 && e.Instant < a.Events[i-1].Instant {
						t.Errorf("%s: %s: events out of order", name, g.FileID)
					}
					named[e.Instant] = true
					if e.Gone {
						gone++
					}
					if e.What == "replaced" {
						replaced++
						if e.Instant != g.ReplacedBy {
							t.Errorf("%s: %s is replaced by %s, not %s", name, g.FileID, g.ReplacedBy, e.Instant)
						}
					}
				}
				for at := range written[p.Partition+"\x00"+g.FileID] {
					if !named[at] {
						t.Errorf("%s: %s: %s wrote to it", name, g.FileID, at)
					}
				}
				for _, sl := range g.Slices {
					if b := sl.Base; b != nil && b.State == "committed" && slices.Contains(writes, b.Instant) && !named[b.Instant] {
						t.Errorf("%s: %s: who wrote %s?", name, g.FileID, b.Name)
					}
				}
			}
		}
	}
	if groups < 150 || gone == 0 || replaced == 0 {
		t.Errorf("%d groups, %d files gone, %d replaced", groups, gone, replaced)
	}
	if _, err := s.Group(ctx, api.GroupRequest{Table: api.Table{Location: "mor_trips_h120"}, FileID: "none"}); ToFault(err).Kind != "not found" {
		t.Error(err)
	}
}

// TestActivity: the numbers are those of the instants' own summaries, within the range and the limit.
func TestActivity(t *testing.T) {
	s := testService(t)
	ctx := context.Background()
	commits, meta := 0, 0
	for _, name := range tabletest.Names(t, "about.json") {
		tab := api.Table{Location: name}
		writes := completedWrites(t, s, tab)
		a, err := s.Activity(ctx, api.ActivityRequest{Table: tab, Metadata: true})
		if err != nil {
			continue // what can't be opened
		}
		meta += len(a.Metadata)
		if o, err := s.Overview(ctx, api.OverviewRequest{Table: tab}); err == nil && (a.MetadataNote == "The table has no metadata table.") != (len(o.MetadataTable) == 0) {
			t.Errorf("%s: metadata table %v, said of it: %q", name, o.MetadataTable, a.MetadataNote)
		}
		if len(a.Commits)+a.Unread != len(writes) || a.Before != "" {
			t.Errorf("%s: %d commits of %d, before %q", name, len(a.Commits), len(writes), a.Before)
		}
		for _, c := range a.Commits {
			d, err := s.Instant(ctx, api.InstantRequest{Table: tab, Requested: c.Requested, Action: c.Action})
			if err != nil || d.Summary == nil {
				t.Fatalf("%s %s: %v", name, c.Requested, err)
			}
			if m := d.Summary; m.Inserts != c.Inserts || m.Updates != c.Updates || m.Deletes != c.Deletes || m.Bytes != c.Base+c.Log {
				t.Errorf("%s %s: %+v, %+v", name, c.Requested, c, m)
			}
			commits++
		}
		if len(writes) > 2 {
			b, err := s.Activity(ctx, api.ActivityRequest{Table: tab, From: writes[0], To: writes[len(writes)-2], Limit: 1})
			if err != nil || len(b.Commits)+b.Unread != 1 || b.Before != writes[len(writes)-2] || len(b.Commits) == 1 && b.Commits[0].Requested != writes[len(writes)-2] {
				t.Errorf("%s: the newest of a range: %+v, %v", name, b, err)
			}
		}
	}
	if commits < 100 || meta < 20 {
		t.Errorf("%d commits, %d instants of metadata tables", commits, meta)
	}
	for _, req := range []api.ActivityRequest{{From: "now"}, {Limit: -1}, {Limit: maxActivity + 1}} {
		req.Table.Location = "mor_trips_h120"
		if _, err := s.Activity(ctx, req); ToFault(err) == nil || ToFault(err).Kind != "invalid request" {
			t.Errorf("%+v: %v", req, err)
		}
	}
}
