package filegroup_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"hudiscope/core/config"
	"hudiscope/core/filegroup"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
	"hudiscope/core/timeline"
)

func TestParseBaseName(t *testing.T) {
	for _, tt := range []struct {
		name string
		want filegroup.BaseName
	}{
		{"a079bdb3-731c-4894-b855-abfcd6921007-0_0-182-253_20240418173550988.parquet",
			filegroup.BaseName{FileID: "a079bdb3-731c-4894-b855-abfcd6921007-0", Token: "0-182-253", Instant: "20240418173550988", Ext: ".parquet"}},
		{"files-0000-0_0-4-2_00000000000000010.hfile", filegroup.BaseName{FileID: "files-0000-0", Token: "0-4-2", Instant: "00000000000000010", Ext: ".hfile"}},
		{"f_1-0-1_001.orc", filegroup.BaseName{FileID: "f", Token: "1-0-1", Instant: "001", Ext: ".orc"}},
		{"part-00000.parquet_20240101000000000_hudiext", filegroup.BaseName{FileID: "part-00000.parquet", Original: "part-00000.parquet", Instant: "20240101000000000", Ext: ".parquet", External: true}},
		{"x.parquet_001_fg%3Da%2Fb_hudiext", filegroup.BaseName{FileID: "a/b/x.parquet", Original: "x.parquet", Prefix: "a/b", Instant: "001", Ext: ".parquet", External: true}},
	} {
		got, ok := filegroup.ParseBaseName(tt.name)
		if !ok || got != tt.want {
			t.Errorf("%s: %+v %v", tt.name, got, ok)
		}
	}
	for _, name := range []string{"", "part-0000.parquet", "a_b.parquet", "a_b_c.parquet", "a_1-0-1_2024", "_1-0-1_2024.parquet", "_hudiext", "x_hudiext", "x_abc_hudiext"} {
		if got, ok := filegroup.ParseBaseName(name); ok {
			t.Errorf("%q is no base file, got %+v", name, got)
		}
	}
}

// mem makes a table of files in one partition "p".
func mem(version int, instants []string, files ...string) *tabletest.Files {
	f := tabletest.New("mem:t")
	dir, layout := ".hoodie/", 1
	if version >= 8 {
		dir, layout = ".hoodie/timeline/", 2
	}
	f.Put(".hoodie/hoodie.properties", fmt.Appendf(nil, "hoodie.table.name=t\nhoodie.table.type=MERGE_ON_READ\nhoodie.table.version=%d\nhoodie.timeline.layout.version=%d\n", version, layout))
	for _, i := range instants {
		f.Put(dir+i, nil)
	}
	f.Put("p/.hoodie_partition_metadata", []byte("x"))
	for _, n := range files {
		f.Put("p/"+n, []byte("1234"))
	}
	return f
}

// text renders slices: "001[base]+log,log".
func text(list []*filegroup.Slice) string {
	var out []string
	for _, s := range list {
		b := s.BaseInstant
		if s.Base != nil {
			b += "[" + s.Base.Instant + "]"
		}
		for _, l := range s.Logs {
			b += fmt.Sprintf("+%s.%d", l.Instant, l.Version)
		}
		out = append(out, b)
	}
	return strings.Join(out, " ")
}

// TestCompletionTimeSlicing: from version 8 on a log belongs to the newest slice that began
// at or before the completion of its delta commit.
func TestCompletionTimeSlicing(t *testing.T) {
	instants := []string{
		"100_110.deltacommit", // the base file
		"120_130.deltacommit", // completes before the compaction
		"140_160.commit", "140.compaction.requested",
		"135_170.deltacommit", // begins before the compaction and completes after it began
		"150_155.deltacommit",
		"180.deltacommit.requested", "180.deltacommit.inflight", // pending
	}
	files := []string{
		"f_0-1-1_100.parquet", "f_0-2-2_140.parquet",
		".f_120.log.1_0-1-1", ".f_135.log.1_0-1-1", ".f_150.log.1_0-1-1", ".f_180.log.1_0-1-1", ".f_150.log.2_0-1-1",
		".g_120.log.1_0-1-1", ".g_150.log.1_0-1-1", // a group of logs only
		"h_0-1-1_180.parquet", // a base file that is not committed
		".i_990.log.1_0-1-1",  // a log of an instant that is rolled back
	}
	v := open(t, mem(8, instants, files...), filegroup.Options{})
	if got, want := text(v.Group("p", "f").Slices), "140[140]+135.1+150.1+150.2+180.1 100[100]+120.1"; got != want {
		t.Errorf("slices of f: %s, want %s", got, want)
	}
	if got, want := text(v.Group("p", "g").Slices), "120+120.1+150.1"; got != want {
		t.Errorf("slices of g: %s, want %s", got, want)
	}
	if got, want := text(v.LatestFileSlices("p")), "140[140]+135.1+150.1+150.2 120+120.1+150.1"; got != want {
		t.Errorf("latest: %s, want %s", got, want)
	}
	if got, want := text(v.LatestMergedSlicesBeforeOrOn("p", "139")), "100[100]+120.1 120+120.1+150.1"; got != want {
		t.Errorf("as of 139: %s, want %s", got, want)
	}
	if got := text(v.LatestMergedSlicesBeforeOrOn("p", "050")); got != "" {
		t.Errorf("as of 050: %s", got)
	}
	if v.Latest != "150" {
		t.Errorf("latest completed write %s", v.Latest)
	}
	bases := func(list []*filegroup.BaseFile) string {
		var out []string
		for _, b := range list {
			out = append(out, b.Name)
		}
		return strings.Join(out, " ")
	}
	if got := bases(v.LatestBaseFiles("p")); got != "f_0-2-2_140.parquet" {
		t.Error(got)
	}
	if got := bases(v.LatestBaseFilesBeforeOrOn("p", "139")); got != "f_0-1-1_100.parquet" {
		t.Error(got)
	}

	h := v.Group("p", "h")
	if s, why := v.BaseState(h, h.Slices[0].Base); s != filegroup.FileUncommitted || !strings.Contains(why, "deltacommit 180 that wrote it is INFLIGHT") {
		t.Errorf("%s %q", s, why)
	}
	i := v.Group("p", "i")
	if s, why := v.LogState(i, i.Slices[0], &i.Slices[0].Logs[0]); s != filegroup.FileOrphan || !strings.Contains(why, "no instant 990") {
		t.Errorf("%s %q", s, why)
	}
	f := v.Group("p", "f")
	if s, why := v.LogState(f, f.Slices[0], &f.Slices[0].Logs[0]); s != filegroup.FileCommitted || why != "" {
		t.Errorf("%s %q", s, why)
	}
}

// TestBaseInstantSlicing: before version 8 the name of a log tells its slice.
func TestBaseInstantSlicing(t *testing.T) {
	instants := []string{"100.commit", "120.deltacommit", "130.deltacommit.inflight", "140.commit"}
	v := open(t, mem(6, instants, "f_0-1-1_100.parquet", ".f_100.log.2_0-1-1", ".f_100.log.10_0-1-1", ".f_100.log.1_0-1-1", "f_0-2-2_140.parquet", ".f_140.log.1",
		"f_0-3-3_130.parquet", "g_1-1-1_050.parquet", ".f_140.log.1_0-1-1.cdc"), filegroup.Options{})
	if got, want := text(v.Group("p", "f").Slices), "140[140]+140.1+140.1 130[130] 100[100]+100.1+100.2+100.10"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := text(v.LatestMergedSlicesBeforeOrOn("p", "135")), "100[100]+100.1+100.2+100.10 050[050]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	f := v.Group("p", "f")
	newest := f.Slices[0]
	if len(newest.DataLogs()) != 1 || newest.Bytes() != 12 {
		t.Errorf("data logs %d, %d bytes", len(newest.DataLogs()), newest.Bytes())
	}
	if s, _ := v.LogState(f, newest, &newest.Logs[1]); s != filegroup.FileCDC {
		t.Errorf("cdc log is %s", s)
	}
	if s, why := v.BaseState(f, f.Slices[1].Base); s != filegroup.FileUncommitted || !strings.Contains(why, "130") {
		t.Errorf("%s %q", s, why)
	}
	if g := v.Group("p", "g"); g.Slices[0].Base.Size != 4 || !v.Committed("050") || v.Committed("130") || v.Committed("141") {
		t.Error("an instant older than the timeline is completed")
	}
}

func TestOtherFiles(t *testing.T) {
	v := open(t, mem(6, []string{"100.commit"}, "f_0-1-1_100.parquet", "f_0-1-2_100.parquet", "plain.parquet", "notes.txt", ".f_0-1-1_100.parquet.crc", ".hidden", "f_0-1-1_100.orc"), filegroup.Options{})
	why := map[string]string{"f_0-1-1_100.parquet": "failed task attempt", "plain.parquet": "another tool", "notes.txt": "neither", ".f_0-1-1_100.parquet.crc": "checksum", ".hidden": "hidden", "f_0-1-1_100.orc": "neither"}
	other := v.Partition("p").Other
	if len(other) != len(why) {
		t.Errorf("%+v", other)
	}
	for _, o := range other {
		if w := why[o.Name]; w == "" || !strings.Contains(o.Why, w) {
			t.Errorf("%+v", o)
		}
	}
	if got := text(v.LatestFileSlices("p")); got != "100[100]" || v.Group("p", "f").Slices[0].Base.Token != "0-1-2" {
		t.Errorf("of two attempts the last counts: %s", got)
	}
}

// splits are the inputs that Hudi's Flink reader made.
type splits struct {
	Rounds []struct {
		Splits []struct {
			FileID   string   `json:"fileId"`
			BasePath *string  `json:"basePath"`
			LogPaths []string `json:"logPaths"`
			Latest   string   `json:"latestCommit"`
		} `json:"splits"`
	} `json:"rounds"`
}

// TestReaderSlices holds the slices of a table with a pending compaction against the
// inputs of Hudi's own Flink reader: a batch read takes merged slices; a streaming read of
// 1.2.0 from the earliest instant takes merged slices too, of a timeline without the compactions it
// skips; one of a range takes the logs of all slices.
func TestReaderSlices(t *testing.T) {
	for _, tt := range []struct {
		table, gold    string
		skip, logsOnly bool
	}{
		{"flink_mor_pending_1.2.0", "splits_incremental_earliest.json", false, false},
		{"flink_mor_pending_0.14.1", "splits_incremental_earliest.json", false, false},
		{"flink_mor_pending_0.14.1", "splits_earliest.json", false, false},
		{"flink_mor_pending_1.2.0", "splits_earliest.json", true, false},
		{"flink_mor_pending_1.2.0", "splits_start_skipcompact_true.json", true, true},
		{"flink_mor_pending_0.14.1", "splits_start_skipcompact_true.json", true, true},
	} {
		v := open(t, tabletest.Open(t, tt.table), filegroup.Options{})
		if tt.skip {
			v = v.Over(v.Visible.Filter(func(i *timeline.Instant) bool { return i.Action != timeline.Commit }))
		}
		got := map[string][]string{}
		for _, p := range v.Partitions {
			list := v.LatestMergedSlicesBeforeOrOn(p.Path, v.Latest)
			if tt.logsOnly {
				list = v.AllLogsMergedBeforeOrOn(p.Path, v.Latest)
			}
			for _, s := range list {
				paths := []string{""}
				if s.Base != nil {
					paths[0] = s.Base.Path
				}
				for _, l := range s.DataLogs() {
					paths = append(paths, l.Path)
				}
				got[s.FileID] = paths
			}
		}
		var gold splits
		tabletest.Gold(t, tt.table, tt.gold, &gold)
		want := map[string][]string{}
		for _, s := range gold.Rounds[0].Splits {
			base := ""
			if s.BasePath != nil {
				base = *s.BasePath
			}
			want[s.FileID] = append([]string{base}, s.LogPaths...)
			if s.Latest != v.Latest {
				t.Errorf("%s: latest %s, want %s", tt.table, v.Latest, s.Latest)
			}
		}
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s %s:\nwant %v\ngot  %v", tt.table, tt.gold, want, got)
		}
	}
}

// TestSnapshotSlices: the slices that snapshot readers see and those of the completed
// commits alone differ where a compaction is pending: only the first hold the logs written since.
func TestSnapshotSlices(t *testing.T) {
	v := open(t, tabletest.Open(t, "pending_compaction_requested_h120"), filegroup.Options{})
	commits := v.Over(v.Timeline.Commits().Completed())
	more := 0
	for _, p := range v.Partitions {
		a, b := v.LatestMergedSlicesBeforeOrOn(p.Path, v.Latest), commits.LatestMergedSlicesBeforeOrOn(p.Path, v.Latest)
		if len(a) != len(b) {
			t.Fatalf("%s: %s, %s", p.Path, text(a), text(b))
		}
		for i := range a {
			if a[i].BaseInstant != b[i].BaseInstant || a[i].Base != b[i].Base {
				t.Errorf("%s: %s, %s", p.Path, text(a), text(b))
			}
			more += len(a[i].Logs) - len(b[i].Logs)
		}
	}
	if more == 0 {
		t.Error("no log was written after the compaction was requested")
	}
	if len(v.Compaction) == 0 || v.Group(v.Compaction[0].Partition, v.Compaction[0].FileID).PendingCompaction != v.Compaction[0].Instant {
		t.Error("pending compaction is not noted on its groups")
	}
}

func TestPendingClusteringAndReplaced(t *testing.T) {
	v := open(t, tabletest.Open(t, "pending_clustering_h0150"), filegroup.Options{})
	marked := 0
	for _, p := range v.Partitions {
		for _, g := range p.Groups {
			if g.PendingClustering != "" {
				marked++
			}
		}
	}
	if marked == 0 {
		t.Error("no group of the pending clustering is marked")
	}
	v = open(t, tabletest.Open(t, "replace_clustering_mor_h120"), filegroup.Options{})
	replaced := 0
	for _, p := range v.Partitions {
		for _, g := range v.ReplacedFileGroups(p.Path) {
			replaced++
			// As of the instant before, the group is still there.
			found := false
			for _, s := range v.LatestMergedSlicesBeforeOrOn(p.Path, g.Committed[0].BaseInstant) {
				found = found || s.FileID == g.FileID
			}
			if !found {
				t.Errorf("group %s is hidden before it is replaced by %s", g.FileID, g.ReplacedBy)
			}
		}
	}
	if replaced == 0 {
		t.Error("no replaced group")
	}
}

// TestMetadataTable builds the views of the metadata tables, whose instants have odd lengths.
func TestMetadataTable(t *testing.T) {
	tables := 0
	for _, name := range tabletest.Names(t, "") {
		src := tabletest.Open(t, name)
		data, err := config.Load(t.Context(), src, "")
		if err != nil {
			t.Fatal(err)
		}
		if len(data.MetadataPartitions()) == 0 {
			continue
		}
		c, err := config.Load(t.Context(), src, ".hoodie/metadata")
		if err != nil {
			t.Fatal(err)
		}
		tl, err := timeline.Load(t.Context(), src, c)
		if err != nil {
			t.Fatal(err)
		}
		v, err := filegroup.Load(t.Context(), src, c, tl, nil, filegroup.Options{})
		if err != nil {
			t.Fatal(err)
		}
		tables++
		for _, p := range data.MetadataPartitions() {
			slices := v.LatestMergedSlicesBeforeOrOn(p, v.Latest)
			if len(slices) == 0 {
				t.Errorf("%s: no slice of %s", name, p)
			}
			for _, s := range slices {
				if s.Empty() || s.Base != nil && !strings.HasPrefix(s.Base.Path, ".hoodie/metadata/"+p+"/") {
					t.Errorf("%s: %s %+v", name, p, s)
				}
			}
		}
		for _, f := range v.Findings {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if tables < 2 {
		t.Errorf("only %d metadata tables", tables)
	}
}

func TestDamagedPlans(t *testing.T) {
	src := tabletest.Open(t, "pending_compaction_requested_h120")
	plan := ""
	for _, p := range src.Paths() {
		if strings.HasSuffix(p, ".compaction.requested") && !strings.Contains(p, "metadata") {
			plan = p
		}
	}
	data := src.Bytes(plan)
	src.Put(plan, data[:len(data)/2])
	v := open(t, src, filegroup.Options{})
	if len(v.Findings) != 1 || v.Findings[0].File != plan || !strings.Contains(v.Findings[0].Detail, "at byte") || len(v.Compaction) != 0 {
		t.Errorf("%+v", v.Findings)
	}

	src = tabletest.Open(t, "replace_clustering_mor_h120")
	commit := ""
	for _, p := range src.Paths() {
		if strings.HasSuffix(p, ".replacecommit") {
			commit = p
		}
	}
	src.Put(commit, []byte("Obj\x01garbage"))
	v = open(t, src, filegroup.Options{})
	if len(v.Findings) != 1 || v.Findings[0].File != commit || v.Findings[0].Level != "error" {
		t.Errorf("%+v", v.Findings)
	}

	// Two pending compactions of one group.
	src = tabletest.Open(t, "pending_compaction_requested_h120")
	other := plan[:len(plan)-len("1.compaction.requested")] + "9.compaction.requested"
	src.Put(other, data)
	if v = open(t, src, filegroup.Options{}); len(v.Findings) == 0 || !strings.Contains(v.Findings[0].Title, "Two pending compactions") {
		t.Errorf("%+v", v.Findings)
	}
}

// TestArchivedDeltaCommits: a log of an archived delta commit needs its completion time.
func TestArchivedDeltaCommits(t *testing.T) {
	history := func(m string) *tabletest.Files {
		f := mem(8, []string{"300_310.deltacommit"}, "f_0-1-1_100.parquet", "f_0-1-1_200.parquet", ".f_120.log.1_0-1-1", ".f_300.log.1_0-1-1")
		f.Put(".hoodie/timeline/history/_version_", []byte("1"))
		f.Put(".hoodie/timeline/history/manifest_1", []byte(m))
		return f
	}
	const manifest = `{"files":[{"fileName":"100_200_0.parquet","fileLen":1}]}`
	v := open(t, history(manifest), filegroup.Options{})
	if len(v.Findings) != 1 || !strings.Contains(v.Findings[0].Detail, "newest slice") {
		t.Errorf("%+v", v.Findings)
	}
	if got := text(v.Group("p", "f").Slices); got != "200[200]+120.1+300.1 100[100]" {
		t.Error(got)
	}
	rows := func(ctx context.Context, src storage.Source, path string, columns []string, yield func(timeline.HistoryRow) error) error {
		return yield(timeline.HistoryRow{Instant: "120", Completion: "130", Action: "deltacommit"})
	}
	v = open(t, history(manifest), filegroup.Options{ReadRows: rows})
	if got := text(v.Group("p", "f").Slices); got != "200[200]+300.1 100[100]+120.1" || len(v.Findings) != 0 {
		t.Errorf("%s %v", got, v.Findings)
	}
	if got := text(v.LatestMergedSlicesBeforeOrOn("p", "300")); got != "200[200]+300.1" {
		t.Error(got)
	}
}

func TestDiscover(t *testing.T) {
	src := tabletest.New("mem:t")
	src.Put(".hoodie/hoodie.properties", []byte("hoodie.table.name=t\nhoodie.table.version=6\n"))
	src.Put("a/b/.hoodie_partition_metadata", nil)
	src.Put("a/b/f_0-1-1_001.parquet", nil)
	src.Put("a/b/nested/.hoodie_partition_metadata", nil) // below a partition: Hudi does not look there
	src.Put("a/c/.hoodie_partition_metadata.parquet", nil)
	src.Put("a/d/stray.parquet", nil)
	src.Put(".hoodie/metadata/files/.hoodie_partition_metadata", nil)
	for i := range 40 {
		src.Put(fmt.Sprintf("many/x=%02d/.hoodie_partition_metadata", i), nil)
	}
	c, err := config.Load(t.Context(), src, "")
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	l, err := filegroup.Discover(t.Context(), src, c, filegroup.ListOptions{Concurrency: 4, Progress: func(n int) { calls++ }})
	if err != nil || !l.Complete {
		t.Fatal(err, l.Notes)
	}
	got := l.Partitions()
	if len(got) != 42 || got[0] != "a/b" || got[1] != "a/c" || got[2] != "many/x=00" || calls != 46 {
		t.Errorf("%d directories listed, partitions %q", calls, got)
	}
	l, err = filegroup.Discover(t.Context(), src, c, filegroup.ListOptions{Prefix: "many"})
	if err != nil || len(l.Partitions()) != 40 || l.Partitions()[0] != "many/x=00" {
		t.Errorf("below a prefix: %q %v", l.Partitions(), err)
	}
	l, err = filegroup.List(t.Context(), src, c, []string{"a/b", "gone"}, filegroup.ListOptions{})
	if err != nil || len(l.Files["a/b"]) != 2 || len(l.Files["gone"]) != 0 || len(l.Files) != 2 {
		t.Errorf("%v %v", l.Files, err)
	}
	// A table that is a partition itself, with partitions beside it.
	src.Put(".hoodie_partition_metadata", nil)
	if l, _ = filegroup.Discover(t.Context(), src, c, filegroup.ListOptions{}); l.Partitions()[0] != "" || len(l.Files) != 43 {
		t.Errorf("%q", l.Partitions())
	}
	src.Hide = func(p string) bool { return strings.HasSuffix(p, "_metadata") }
	if l, _ = filegroup.Discover(t.Context(), src, c, filegroup.ListOptions{}); l.Complete || len(l.Notes) != 11 {
		t.Errorf("incomplete: %q", l.Notes)
	}
	deep := tabletest.New("mem:deep")
	deep.Put(strings.Repeat("d/", 80)+"x", nil)
	if l, err = filegroup.Discover(t.Context(), deep, c, filegroup.ListOptions{}); err != nil || l.Complete {
		t.Errorf("endless depth: %v %v", l.Notes, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := filegroup.Discover(ctx, src, c, filegroup.ListOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := filegroup.Discover(t.Context(), refusing{src}, c, filegroup.ListOptions{}); err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("a listing that is refused: %v", err)
	}
}

type refusing struct{ *tabletest.Files }

func (r refusing) List(ctx context.Context, dir string) (storage.Listing, error) {
	if dir == "many/x=07" {
		return storage.Listing{}, &storage.Fault{Op: "list", Path: dir, Kind: storage.Forbidden}
	}
	return r.Files.List(ctx, dir)
}
