package explorer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/storage/storagetest"
	"hudiscope/core/tabletest"
)

func names(t testing.TB) []string {
	return slices.DeleteFunc(tabletest.Names(t, ""), func(n string) bool { return strings.HasPrefix(n, "perf") })
}

// TestInstantWork reads the details of every instant of every table, active and archived, and holds
// what they say against each other.
func TestInstantWork(t *testing.T) {
	archived, profiles, exact, plans := 0, 0, 0, 0
	for _, name := range names(t) {
		s := testService(t)
		tab := api.Table{Location: name}
		tl, err := s.Timeline(t.Context(), api.TimelineRequest{Table: tab, Archived: true})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for n, i := range append(slices.Clone(tl.Archived), tl.Active...) {
			d, err := s.Instant(t.Context(), api.InstantRequest{Table: tab, Requested: i.Requested, Action: i.Action})
			if err != nil {
				t.Errorf("%s %s %s: %v", name, i.Requested, i.Action, err)
				continue
			}
			w := d.Work
			if w == nil || w.Sentence == "" || len(w.Findings) > 0 {
				t.Errorf("%s %s %s: %+v", name, i.Requested, i.Action, w)
				continue
			}
			if d.Instant.State == "COMPLETED" && (i.Action == "commit" || i.Action == "deltacommit" || i.Action == "replacecommit") && d.Summary == nil {
				t.Errorf("%s %s %s has no summary", name, i.Requested, i.Action)
			}
			if n < len(tl.Archived) {
				archived++
				if !w.Archived || w.Stored == "" {
					t.Errorf("%s %s %s does not say that it is archived", name, i.Requested, i.Action)
				}
				continue
			}
			if (w.Pending != nil) != (i.State != "COMPLETED") {
				t.Errorf("%s %s %s: pending %+v", name, i.Requested, i.Action, w.Pending)
			}
			if w.Plan != nil {
				plans++
				if len(w.Plan.Slices) == 0 || (w.Plan.Output != "") != (i.State == "COMPLETED") {
					t.Errorf("%s %s %s: plan %+v", name, i.Requested, i.Action, w.Plan)
				}
			}
			// What was planned may be lost: an update to a later version, an insert to a delete marker. The
			// bucket index takes an insert into an existing bucket for an update.
			if p, sum := w.Workload, d.Summary; p != nil {
				profiles++
				if sum != nil && p.Inserts == sum.Inserts && p.Updates == sum.Updates+sum.Deletes {
					exact++
				}
				if sum != nil && p.Inserts+p.Updates < sum.Inserts+sum.Updates {
					t.Errorf("%s %s: profile of %d inserts and %d updates, written %d and %d", name, i.Requested, p.Inserts, p.Updates, sum.Inserts, sum.Updates)
				}
				for _, x := range p.Partitions {
					for _, e := range x.Entries {
						if (e.FileID == "") != (e.PrevCommit == "null") {
							t.Errorf("%s %s: entry %+v", name, i.Requested, e)
						}
					}
				}
			}
		}
	}
	t.Logf("%d archived states, %d profiles (%d as written), %d plans", archived, profiles, exact, plans)
	if archived < 60 || profiles < 50 || exact*10 < profiles*8 || plans < 5 {
		t.Errorf("too little was looked at: %d archived, %d profiles, %d plans", archived, profiles, plans)
	}
}

// TestPendingWork: what a pending write is going to do, from its saved profile.
func TestPendingWork(t *testing.T) {
	d := ask[api.InstantDetail](t, testService(t), api.OpInstant, `{"table":"inflight_leftover_mor_h0150","requested":"20261129235329996"}`)
	w := d.Work.Workload
	if w == nil || w.Operation != "UPSERT" || w.Inserts != 2 || w.Updates != 2 || w.Groups != 2 || len(w.Partitions) != 3 || w.File != "20261129235329996.deltacommit.inflight" {
		t.Fatalf("%+v", w)
	}
	if e := w.Partitions[0].Entries; len(e) != 2 || e[0] != (api.WorkloadEntry{FileID: "", PrevCommit: "null", Inserts: 1}) || e[1].PrevCommit != "20261129235320724" || e[1].Updates != 1 {
		t.Errorf("%+v", e)
	}
	if p := d.Work.Pending; p == nil || p.Since != "20261129235329996" || p.Later != 0 || p.Blocks == "" || p.AgeSeconds != 0 {
		t.Errorf("%+v", d.Work.Pending)
	}
}

// TestRelations: the links of tables whose history is known, and that no data or commit file is read
// for them.
func TestRelations(t *testing.T) {
	for _, c := range []struct {
		table string
		want  map[string]int // kind → at least
	}{
		{"mor_rollback_multi_h0150", map[string]int{api.RelRollsBack: 3}},
		{"mor_rollback_h120", map[string]int{api.RelRollsBack: 1}},
		{"savepoint_restore_h120", map[string]int{api.RelRestores: 2, api.RelRestoresTo: 1, api.RelSaves: 1}},
		{"mor_compacted_h120", map[string]int{api.RelCompacts: 2, api.RelCompleted: 1}},
		{"log_compaction_h120", map[string]int{api.RelCompacts: 2}},
		{"replace_clustering_mor_h120", map[string]int{api.RelClusters: 2}},
		{"pending_clustering_h0150", map[string]int{api.RelClusters: 2}},
		{"archived_mor_h0150", map[string]int{api.RelCompacts: 4, api.RelRetains: 4}},
		{"archived_mor_h120", map[string]int{api.RelCompacts: 4, api.RelRetains: 4}},
	} {
		t.Run(c.table, func(t *testing.T) {
			p := &storagetest.Probe{Src: tabletest.Open(t, c.table)}
			s := serviceOver(p)
			r, err := s.Relations(t.Context(), api.RelationsRequest{Table: api.Table{Location: "x"}, Archived: true})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int{}
			for _, x := range r.Relations {
				got[x.Kind]++
				if x.From == "" || x.To == "" || x.FromAction == "" {
					t.Errorf("%+v", x)
				}
			}
			for k, n := range c.want {
				if got[k] < n {
					t.Errorf("%d times %q, want %d: %+v", got[k], k, n, r.Relations)
				}
			}
			if len(r.Findings) > 0 || r.Before != "" {
				t.Errorf("findings %+v, before %q", r.Findings, r.Before)
			}
			for _, path := range p.Opens() {
				name := path[strings.LastIndexByte(path, '/')+1:]
				if !strings.HasPrefix(path, ".hoodie/") || strings.HasSuffix(name, ".deltacommit") || strings.HasSuffix(name, ".commit") || strings.HasSuffix(name, ".inflight") {
					t.Errorf("%s was read", path)
				}
			}
			// The detail of an instant that others act on knows them.
			for _, x := range r.Relations {
				if x.Kind != api.RelCompacts || x.Plan {
					continue
				}
				d, err := s.Instant(t.Context(), api.InstantRequest{Table: api.Table{Location: "x"}, Requested: x.To})
				if err == nil && !slices.Contains(d.Work.Relations, x) {
					t.Errorf("%s does not know %+v", x.To, x)
				}
			}
		})
	}
}

// TestRelationsLimit: a limit reads the newest, and says from where on nothing was read.
func TestRelationsLimit(t *testing.T) {
	p := &storagetest.Probe{Src: tabletest.Open(t, "archived_mor_h0150")}
	s := serviceOver(p)
	all, err := s.Relations(t.Context(), api.RelationsRequest{Table: api.Table{Location: "x"}})
	if err != nil || all.Read < 2 {
		t.Fatalf("%+v %v", all, err)
	}
	p.Reset()
	one, err := s.Relations(t.Context(), api.RelationsRequest{Table: api.Table{Location: "x"}, Limit: 1})
	if err != nil || one.Read != 1 || one.Before == "" || len(p.Opens()) > 1 {
		t.Errorf("%+v %v %q", one, err, p.Opens())
	}
	last := all.Relations[len(all.Relations)-1]
	ranged, err := s.Relations(t.Context(), api.RelationsRequest{Table: api.Table{Location: "x"}, From: last.From, To: last.From})
	if err != nil || len(ranged.Relations) == 0 {
		t.Errorf("%+v %v", ranged, err)
	}
	for _, x := range ranged.Relations {
		if x.From != last.From {
			t.Errorf("%+v is out of the range", x)
		}
	}
}

// TestArchivedInstantBytes: the detail of an archived instant reads one archive file.
func TestArchivedInstantBytes(t *testing.T) {
	for _, name := range []string{"archived_mor_h0150", "archived_mor_h120"} {
		p := &storagetest.Probe{Src: tabletest.Open(t, name)}
		s := serviceOver(p)
		tl, err := s.Timeline(t.Context(), api.TimelineRequest{Table: api.Table{Location: "x"}, Archived: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(tl.Archived) < 10 || tl.ArchivedMore {
			t.Fatalf("%s: %d archived", name, len(tl.Archived))
		}
		p.Reset()
		i := tl.Archived[len(tl.Archived)/2]
		d, err := s.Instant(t.Context(), api.InstantRequest{Table: api.Table{Location: "x"}, Requested: i.Requested, Action: i.Action})
		if err != nil || !d.Work.Archived {
			t.Fatalf("%s: %v", name, err)
		}
		files := map[string]bool{}
		for _, r := range p.Reads() {
			if strings.Contains(r.Path, "archive.") || strings.HasSuffix(r.Path, ".parquet") {
				files[r.Path] = true
			}
		}
		// A file of layouts 0 and 1 may overlap its neighbours in time.
		if len(files) < 1 || len(files) > 2 || !files[d.Work.Stored] {
			t.Errorf("%s: an instant of %s read %v", name, d.Work.Stored, files)
		}
		page, err := s.Timeline(t.Context(), api.TimelineRequest{Table: api.Table{Location: "x"}, Archived: true, TimelinePage: api.TimelinePage{ArchivedTo: i.Requested, ArchivedLimit: 3}})
		if err != nil || len(page.Archived) < 3 || page.Archived[len(page.Archived)-1].Requested != i.Requested || !page.ArchivedMore {
			t.Errorf("%s: %+v %v", name, page, err)
		}
	}
}

// TestHousekeeping puts everything beside the timeline that Hudi may leave there.
func TestHousekeeping(t *testing.T) {
	f := tabletest.Open(t, "inflight_leftover_mor_h0150")
	const pending, done = "20261129235329996", "20261129235320724"
	for path, text := range map[string]string{
		".temp/" + pending + "/chennai/a_0-0-0_" + pending + ".parquet.marker.CREATE": "",
		".temp/" + pending + "/chennai/.b_" + done + ".log.2_0-0-0.marker.APPEND":     "",
		".temp/" + done + "/MARKERS.type":                                             "TIMELINE_SERVER_BASED",
		".temp/" + done + "/MARKERS0":                                                 "p/x.parquet.marker.CREATE\np/y.parquet.marker.MERGE\n",
		".temp/" + done + "/MARKERS7":                                                 "p/z.parquet.marker.CREATE\n",
		".heartbeat/" + pending:                                                       "",
		".heartbeat/" + done:                                                          "",
		".locks/lock":                                                                 "",
		"lock":                                                                        "",
		".aux/20240101000000000.compaction.requested":                                 "",
		".aux/ckp_meta/20240101000000000.INFLIGHT":                                    "",
		".aux/.bootstrap/.fileids/x.hfile":                                            "",
		".bucket_index/consistent_hashing_metadata/p/0.hashing_meta":                  "",
		".index_defs/index.json":                                                      "{}",
		".schema/20240101000000000.schemacommit":                                      `{"schemas":[{"version_id":20240101000000000},{"version_id":0}]}`,
		".schema/20240101000000000.schemacommit.requested":                            "",
		".schema/20240102000000000_20240102000000500.schemacommit":                    `{"schemas":[]}`,
		".schema/20240103000000000.schemacommit.inflight":                             "",
		"hoodie.properties.backup":                                                    "hoodie.table.name=other\nhoodie.table.version=6\nhoodie.old.key=1\n",
		"strange.txt":                                                                 "",
		"strange/deep/file":                                                           "",
	} {
		f.Put(".hoodie/"+path, []byte(text))
	}
	h, err := serviceOver(f).Housekeeping(t.Context(), api.HousekeepingRequest{Table: api.Table{Location: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]*api.HousekeepingItem{}
	kinds := map[string]int{}
	for i := range h.Items {
		x := &h.Items[i]
		got[x.Path] = x
		kinds[x.Kind]++
		if x.Meaning == "" {
			t.Errorf("%s has no meaning", x.Path)
		}
	}
	for kind, n := range map[string]int{"markers": 2, "heartbeat": 2, "lock": 2, "compaction plan copy": 1, "checkpoint": 1, "bootstrap index": 1, "bucket metadata": 1,
		"index definitions": 1, "schema history": 4, "properties backup": 1, "properties": 1, "unknown": 2} {
		if kinds[kind] != n {
			t.Errorf("%d items of kind %s, want %d", kinds[kind], kind, n)
		}
	}
	if x := got[".hoodie/.temp/"+pending]; x.Files != 2 || x.InstantState != "INFLIGHT" || !strings.Contains(x.Meaning, "rollback") {
		t.Errorf("%+v", x)
	}
	if x := got[".hoodie/.temp/"+done]; x.Files != 3 || x.InstantState != "COMPLETED" || !strings.Contains(x.Meaning, "Left over") || x.Names[0] != "p/x.parquet.marker.CREATE" {
		t.Errorf("%+v", x)
	}
	changes := map[string]string{}
	for _, c := range h.Config {
		changes[c.Key] = c.Kind
	}
	if changes["hoodie.table.name"] != "changed" || changes["hoodie.old.key"] != "removed" || changes["hoodie.table.type"] != "added" || changes["hoodie.table.version"] != "" {
		t.Errorf("%v", changes)
	}
	states := ""
	for _, i := range h.SchemaHistory {
		states += fmt.Sprint(i.Requested, " ", i.State, " ", i.Completed, ";")
	}
	if states != "20240101000000000 COMPLETED ;20240102000000000 COMPLETED 20240102000000500;20240103000000000 INFLIGHT ;" {
		t.Errorf("schema history %s", states)
	}
	d, err := serviceOver(f).Instant(t.Context(), api.InstantRequest{Table: api.Table{Location: "x"}, Requested: "20240101000000000", Action: "schemacommit"})
	if err != nil || !strings.Contains(d.Work.Sentence, "2 versions") || len(d.Parts) != 2 {
		t.Errorf("%+v %v", d, err)
	}
	// The detail of the pending write knows its markers and heartbeat.
	d, err = serviceOver(f).Instant(t.Context(), api.InstantRequest{Table: api.Table{Location: "x"}, Requested: pending})
	if err != nil || d.Work.Pending.Markers != 2 {
		t.Errorf("%+v %v", d.Work.Pending, err)
	}
}

// TestHousekeepingOfRealTables: nothing in a table that Hudi wrote is unknown.
func TestHousekeepingOfRealTables(t *testing.T) {
	for _, name := range names(t) {
		h, err := testService(t).Housekeeping(t.Context(), api.HousekeepingRequest{Table: api.Table{Location: name}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, i := range h.Items {
			if i.Kind == "unknown" {
				t.Errorf("%s: %s is unknown", name, i.Path)
			}
		}
		if len(h.Items) == 0 || len(h.Findings) > 0 {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

// TestCompareOp runs a comparison as a transport does.
func TestCompareOp(t *testing.T) {
	s := testService(t)
	tl := ask[api.Timeline](t, s, api.OpTimeline, `{"table":"mor_trips_h120"}`)
	first, last := tl.Active[0].Requested, tl.Active[len(tl.Active)-1].Requested
	c := ask[api.Compare](t, s, api.OpCompare, fmt.Sprintf(`{"table":"mor_trips_h120","from":%q,"to":%q,"limit":5}`, first, last))
	if c.Rows == nil || len(c.Rows.Rows) != 5 || c.Rows.Total <= 5 || len(c.Instants) == 0 || c.Files.Added == 0 || len(c.Schema) != 0 {
		t.Errorf("%+v", c)
	}
	c = ask[api.Compare](t, s, api.OpCompare, fmt.Sprintf(`{"table":"mor_trips_h120","from":"","to":%q,"no_rows":true}`, last))
	if c.Rows != nil || c.Files.Added == 0 || c.Files.Removed != 0 || len(c.Schema) == 0 || c.Schema[0].Kind != "added" {
		t.Errorf("%+v", c)
	}
	// Rows that can't be read leave schema and files.
	c = ask[api.Compare](t, s, api.OpCompare, `{"table":"orc_base_h120"}`)
	if c.Files.Added == 0 || c.Rows == nil && (len(c.Findings) == 0 || !strings.Contains(c.Findings[len(c.Findings)-1].Title, "not compared")) {
		t.Errorf("%+v", c)
	}
	for _, args := range []string{`{"table":"mor_trips_h120","from":"x"}`, `{"table":"mor_trips_h120","limit":5000}`} {
		if _, err := s.Do(t.Context(), api.OpCompare, []byte(args), nil); ToFault(err) == nil || ToFault(err).Kind != "invalid request" {
			t.Errorf("%s: %v", args, err)
		}
	}
	if b, err := json.Marshal(c); err != nil || len(b) == 0 {
		t.Error(err)
	}
}
