package timeline_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"hudiscope/core/commitmeta"
	"hudiscope/core/config"
	"hudiscope/core/corrupt"
	"hudiscope/core/logfile"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
	"hudiscope/core/timeline"
)

// load opens the timeline of a table.
func load(t testing.TB, src *tabletest.Files) (*config.Config, *timeline.Timeline) {
	t.Helper()
	c, err := config.Load(t.Context(), src, "")
	if err != nil {
		t.Fatal(err)
	}
	tl, err := timeline.Load(t.Context(), src, c)
	if err != nil {
		t.Fatal(err)
	}
	return c, tl
}

// readRows reads the archived timeline's Parquet files with the library's generic reader.
func readRows(ctx context.Context, src storage.Source, path string, columns []string, yield func(timeline.HistoryRow) error) error {
	o, err := src.Open(ctx, path)
	if err != nil {
		return err
	}
	defer o.Close()
	size, err := o.Size(ctx)
	if err != nil {
		return err
	}
	type row struct {
		Instant    string  `parquet:"instantTime,optional"`
		Completion string  `parquet:"completionTime,optional"`
		Action     string  `parquet:"action,optional"`
		Metadata   *[]byte `parquet:"metadata,optional"`
		Plan       *[]byte `parquet:"plan,optional"`
	}
	r := parquet.NewGenericReader[row](io.NewSectionReader(storage.ReaderAt(ctx, o), 0, size))
	defer r.Close()
	rows := make([]row, 16)
	for {
		n, err := r.Read(rows)
		for _, x := range rows[:n] {
			h := timeline.HistoryRow{Instant: x.Instant, Completion: x.Completion, Action: x.Action}
			if x.Metadata != nil {
				h.Metadata = *x.Metadata
			}
			if x.Plan != nil {
				h.Plan = *x.Plan
			}
			if err := yield(h); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

type goldInstant struct {
	Timestamp  string  `json:"timestamp"`
	Action     string  `json:"action"`
	State      string  `json:"state"`
	Completion *string `json:"completion_time"`
	File       string  `json:"file"`
}

// canon makes instants comparable: completion times of layouts 0 and 1 are file times.
func canon(list []timeline.JSONInstant, version int) []goldInstant {
	out := []goldInstant{}
	for _, i := range list {
		g := goldInstant{i.Timestamp, string(i.Action), i.State.String(), i.CompletionTime, i.File}
		if version < 8 {
			g.Completion = nil
		}
		out = append(out, g)
	}
	return out
}

// TestGold holds the instants of every table against Hudi's own, in Hudi's order.
func TestGold(t *testing.T) {
	active, archived := 0, 0
	names := tabletest.Names(t, "timeline.json")
	for _, name := range names {
		src := tabletest.Open(t, name)
		c, tl := load(t, src)
		var want struct{ Active, Archived []goldInstant }
		tabletest.Gold(t, name, "timeline.json", &want)
		arch, err := tl.LoadArchived(t.Context(), c, readRows)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(arch.Findings) > 0 || arch.Note != "" {
			t.Errorf("%s: archive: %v %s", name, arch.Findings, arch.Note)
		}
		got := tl.JSON(arch)
		if c.Version < 8 {
			for _, l := range [][]goldInstant{want.Active, want.Archived} {
				for i := range l {
					l[i].Completion = nil
				}
			}
		}
		if w, g := append([]goldInstant{}, want.Active...), canon(got.Active, c.Version); !reflect.DeepEqual(w, g) {
			t.Errorf("%s active:\nwant %v\ngot  %v", name, w, g)
		}
		key := func(l []goldInstant) func(i, j int) bool {
			return func(i, j int) bool {
				return l[i].Timestamp+l[i].Action+l[i].State < l[j].Timestamp+l[j].Action+l[j].State
			}
		}
		w, g := append([]goldInstant{}, want.Archived...), canon(got.Archived, c.Version)
		sort.Slice(w, key(w))
		sort.Slice(g, key(g))
		if !reflect.DeepEqual(w, g) {
			t.Errorf("%s archived: want %d, got %d\nwant %v\ngot  %v", name, len(w), len(g), w, g)
		}
		active += len(got.Active)
		archived += len(got.Archived)
		for i := range tl.Instants {
			for _, f := range tl.Instants[i].Files {
				if _, err := tl.Decode(t.Context(), f); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		for i := range arch.Instants {
			checkArchived(t, tl, &arch.Instants[i])
		}
	}
	t.Logf("%d tables, %d active and %d archived instants", len(names), active, archived)
	if active < 80 || archived < 70 {
		t.Errorf("only %d active and %d archived instants", active, archived)
	}
}

// checkArchived decodes the metadata of an archived instant.
func checkArchived(t *testing.T, tl *timeline.Timeline, i *timeline.ArchivedInstant) {
	t.Helper()
	if tl.Layout >= 2 {
		row, err := tl.HistoryMetadata(t.Context(), i, readRows)
		if err != nil {
			t.Error(err)
			return
		}
		d, err := commitmeta.Decode(row.Metadata)
		if err != nil || d.Encoding != commitmeta.Avro {
			t.Errorf("%s: %v %v", i.Requested, d.Encoding, err)
		}
		return
	}
	field, text, err := tl.ArchivedMetadata(t.Context(), i)
	if err != nil {
		t.Error(err)
		return
	}
	if i.State == timeline.Completed && text == nil {
		t.Errorf("%s %s: no metadata", i.Requested, i.Action)
	}
	if field == "hoodieCommitMetadata" {
		m, err := commitmeta.CommitFromJSON(text)
		if err != nil || i.State == timeline.Completed && len(m.Partitions) == 0 && m.Extra["schema"] == "" {
			t.Errorf("%s: %+v, %v", i.Requested, m, err)
		}
	}
}

func TestParseName(t *testing.T) {
	for _, tt := range []struct {
		layout               int
		name                 string
		requested, completed string
		action               timeline.Action
		state                timeline.State
	}{
		{1, "20240418173551906.commit", "20240418173551906", "", timeline.Commit, timeline.Completed},
		{1, "20240418173551906.inflight", "20240418173551906", "", timeline.Commit, timeline.Inflight},
		{1, "001.commit.requested", "001", "", timeline.Commit, timeline.Requested},
		{1, "20240418173551.compaction.inflight", "20240418173551", "", timeline.Compaction, timeline.Inflight},
		{2, "20260307162454799.clustering.requested", "20260307162454799", "", timeline.Clustering, timeline.Requested},
		{2, "20260307162454799_20260307162456102.replacecommit", "20260307162454799", "20260307162456102", timeline.ReplaceCommit, timeline.Completed},
		{2, "00000000000000002_20260403183957103.deltacommit", "00000000000000002", "20260403183957103", timeline.DeltaCommit, timeline.Completed},
		{2, "20260307162454799.commit", "20260307162454799", "", timeline.Commit, timeline.Completed},
		{1, "20240418173551906.savepoint.inflight", "20240418173551906", "", timeline.Savepoint, timeline.Inflight},
		{1, "20240418173551906001.logcompaction.requested", "20240418173551906001", "", timeline.LogCompaction, timeline.Requested},
	} {
		f, ok := timeline.ParseName(tt.layout, tt.name)
		if !ok || f.Requested != tt.requested || f.Completion != tt.completed || f.Action != tt.action || f.State != tt.state || f.Name != tt.name {
			t.Errorf("%s: %+v %v", tt.name, f, ok)
		}
	}
	for _, tt := range []struct {
		layout int
		name   string
	}{
		{1, "hoodie.properties"}, {1, "20240418173551906"}, {1, ".20240418173551906.commit.crc"}, {1, "20240418173551906.commit.crc"},
		{1, "20240418173551906.clustering.requested"}, {1, "20240418173551906_20240418173551907.commit"}, {2, "20240418173551906_.commit"},
		{2, "20240418173551906_20240418173551907.commit.requested"}, {1, "20240418173551906.savepoint.requested"}, {1, "20240418173551906.schemacommit"},
		{2, "x_20240418173551907.commit"}, {1, ""}, {2, "1_2"}, {1, "20240418173551906.commit_CORRUPT"},
	} {
		if f, ok := timeline.ParseName(tt.layout, tt.name); ok {
			t.Errorf("layout %d, %q is no instant, got %+v", tt.layout, tt.name, f)
		}
	}
}

// put makes a table with empty instant files.
func put(layout int, names ...string) *tabletest.Files {
	f := tabletest.New("mem:t")
	dir := ".hoodie/"
	props := "hoodie.table.name=t\nhoodie.table.version=6\nhoodie.timeline.layout.version=1\nhoodie.archivelog.folder=archived\n"
	if layout == 2 {
		dir = ".hoodie/timeline/"
		props = "hoodie.table.name=t\nhoodie.table.version=8\nhoodie.timeline.layout.version=2\n"
	}
	f.Put(".hoodie/hoodie.properties", []byte(props))
	for _, n := range names {
		f.Put(dir+n, nil)
	}
	return f
}

func times(tl *timeline.Timeline) string {
	var out []string
	for i := range tl.Instants {
		x := &tl.Instants[i]
		out = append(out, x.Requested+" "+string(x.Action)+" "+x.State.String()[:1])
	}
	return strings.Join(out, ", ")
}

func TestReduce(t *testing.T) {
	src := put(1, "003.inflight", "003.commit.requested", "001.commit", "001.inflight", "001.commit.requested", "001.savepoint", "001.savepoint.inflight",
		"002.compaction.requested", "002.compaction.inflight", "002.commit", "004.compaction.requested", "004.deltacommit.requested", "junk", "005.clean.requested", "005.clean")
	src.ModTime = time.Date(2024, 1, 2, 3, 4, 5, 6e6, time.UTC)
	_, tl := load(t, src)
	if got, want := times(tl), "001 commit C, 001 savepoint C, 002 commit C, 003 commit I, 004 compaction R, 004 deltacommit R, 005 clean C"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !reflect.DeepEqual(tl.Ignored, []string{"junk"}) {
		t.Errorf("ignored %q", tl.Ignored)
	}
	if x := tl.Instants[2]; !x.IsCompaction() || x.Completed != "20240102030405006" || x.CompletedFrom != "mtime" || len(x.Files) != 3 {
		t.Errorf("%+v", x)
	}
	if tl.Instants[0].IsCompaction() {
		t.Error("001 is no compaction")
	}
	for _, tt := range []struct {
		name string
		sub  *timeline.Timeline
		want string
	}{
		{"commits", tl.Commits(), "001 commit C, 002 commit C, 003 commit I, 004 deltacommit R"},
		{"completed commits", tl.Commits().Completed(), "001 commit C, 002 commit C"},
		{"commits and compaction", tl.CommitsAndCompaction(), "001 commit C, 002 commit C, 003 commit I, 004 compaction R, 004 deltacommit R"},
		{"readers", tl.Readers(), "001 commit C, 002 commit C, 004 compaction R"},
		{"pending compaction", tl.PendingCompaction(), "004 compaction R"},
		{"pending", tl.Pending(), "003 commit I, 004 compaction R, 004 deltacommit R"},
	} {
		if got := times(tt.sub); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	if got := tl.FirstNonSavepoint(); got != "002" {
		t.Errorf("first non-savepoint %s", got)
	}
	if got := tl.Commits().FirstNonSavepoint(); got != "001" {
		t.Errorf("first of commits %s", got)
	}
	if !tl.Contains("001") || tl.Contains("000") || !tl.BeforeTimelineStarts("000") || !tl.BeforeTimelineStarts("001") || tl.BeforeTimelineStarts("002") || !tl.ContainsOrBeforeTimelineStarts("000") {
		t.Error("membership")
	}
	if !tl.IsCompleted("000") || !tl.IsCompleted("001") || tl.IsCompleted("003") || tl.IsCompleted("004") || !tl.IsCompleted("005") {
		t.Error("IsCompleted")
	}
	if n := len(tl.Find("001")); n != 2 {
		t.Errorf("%d instants at 001", n)
	}
	if tl.Completed().Whole() != tl {
		t.Error("Whole")
	}
	warned := 0
	for _, f := range tl.Findings {
		if f.Level == "warning" && strings.Contains(f.Title, "without content") {
			warned++
		}
	}
	if warned != 2 {
		t.Errorf("findings %v", tl.Findings)
	}
}

func TestLayout2(t *testing.T) {
	src := put(2, "002_005.commit", "002_007.commit", "001_003.deltacommit", "001.deltacommit.requested", "004.clustering.requested", "006.clustering.inflight", "006_008.replacecommit", "20240101000000.commit")
	src.ModTime = time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	_, tl := load(t, src)
	if got, want := times(tl), "001 deltacommit C, 002 commit C, 004 clustering R, 006 replacecommit C, 20240101000000 commit C"; got != want {
		t.Errorf("got %s", got)
	}
	if x := tl.Instants[1]; x.Completed != "007" || x.CompletedFrom != "name" {
		t.Errorf("%+v", x)
	}
	if x := tl.Instants[4]; x.Completed != "20240102030405000" || x.CompletedFrom != "mtime" {
		t.Errorf("%+v", x)
	}
	if c, ok := tl.CompletionTime("006"); c != "008" || !ok {
		t.Errorf("completion of 006: %q %v", c, ok)
	}
	if _, ok := tl.CompletionTime("004"); ok {
		t.Error("004 is pending")
	}
	if !tl.Contains("20240101000000999") {
		t.Error("a 14-digit time must be found by its 17-digit form")
	}
	_, findings, err := tl.PendingClustering(t.Context())
	if err != nil || len(findings) != 1 {
		t.Errorf("empty clustering plan: %v %v", findings, err)
	}
}

func TestNoTimelineFolder(t *testing.T) {
	_, tl := load(t, put(2))
	if !tl.Empty() || len(tl.Findings) != 1 || tl.Findings[0].Level != "error" || tl.First() != nil || tl.Last() != nil || tl.FirstNonSavepoint() != "" {
		t.Errorf("%+v", tl)
	}
	src := put(1, "001.commit", "002.commit")
	src.Hide = func(p string) bool { return strings.HasSuffix(p, "002.commit") }
	_, tl = load(t, src)
	if tl.Note == "" || len(tl.Instants) != 1 {
		t.Errorf("incomplete listing: %+v", tl)
	}
}

func TestPlans(t *testing.T) {
	_, tl := load(t, tabletest.Open(t, "pending_compaction_requested_h120"))
	p := tl.PendingCompaction()
	if len(p.Instants) != 1 {
		t.Fatal(times(p))
	}
	plan, err := p.CompactionPlan(t.Context(), &p.Instants[0])
	if err != nil || len(plan.Operations) == 0 {
		t.Fatal(err)
	}

	_, tl = load(t, tabletest.Open(t, "mor_rollback_h120"))
	r := tl.Actions(timeline.Rollback)
	targets, err := tl.RollbackTargets(t.Context(), &r.Instants[0])
	if err != nil || len(targets) != 1 || tl.Contains(targets[0]) {
		t.Errorf("targets %v, %v", targets, err)
	}

	// A rollback whose result is empty: the plan tells the target.
	src := tabletest.Open(t, "mor_rollback_h120")
	src.Put(r.Instants[0].File.Path, nil)
	_, tl = load(t, src)
	again, err := tl.RollbackTargets(t.Context(), &tl.Actions(timeline.Rollback).Instants[0])
	if err != nil || !reflect.DeepEqual(again, targets) {
		t.Errorf("targets by the plan: %v, %v", again, err)
	}

	// A plan that was emptied, with its copy in .aux (tables before version 6).
	src = tabletest.Open(t, "v0_mor_h0150")
	_, tl = load(t, src)
	var c *timeline.Instant
	for i := range tl.Instants {
		if tl.Instants[i].IsCompaction() {
			c = &tl.Instants[i]
		}
	}
	f, _ := c.FileOf(timeline.Requested)
	src.Put(f.Path, nil)
	plan, err = tl.CompactionPlan(t.Context(), c)
	if err != nil || len(plan.Operations) == 0 {
		t.Errorf("plan from .aux: %v", err)
	}
	src.Remove(".hoodie/.aux/" + f.Name)
	if _, err = tl.CompactionPlan(t.Context(), c); !errors.Is(err, commitmeta.ErrEmpty) {
		t.Errorf("no plan at all: %v", err)
	}
	src.Put(f.Path, []byte("Obj\x01\x00"))
	_, err = tl.CompactionPlan(t.Context(), c)
	var e *corrupt.Error
	if !errors.As(err, &e) || e.File != f.Path {
		t.Errorf("damaged plan: %v", err)
	}
}

func TestArchiveDamage(t *testing.T) {
	src := tabletest.Open(t, "archived_mor_h0150")
	c, tl := load(t, src)
	whole, err := tl.LoadArchived(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	var logs []string
	for _, p := range src.Paths() {
		if strings.HasPrefix(p, ".hoodie/archived/.commits_.archive.") {
			logs = append(logs, p)
		}
	}
	data := src.Bytes(logs[0])
	src.Put(logs[0], data[:len(data)-100])
	cut, err := tl.LoadArchived(t.Context(), c, nil)
	if err != nil || len(cut.Instants) >= len(whole.Instants) {
		t.Errorf("cut archive: %d of %d instants, %v", len(cut.Instants), len(whole.Instants), err)
	}
	// A record that claims more bytes than its block has.
	o, err := src.Open(t.Context(), logs[0])
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	bad := append([]byte{}, data...)
	for b, err := range logfile.Open(o, logs[0]).Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		binary.BigEndian.PutUint32(bad[b.ContentOffset+8:], 1<<30)
		break
	}
	src.Put(logs[0], bad)
	a, err := tl.LoadArchived(t.Context(), c, nil)
	if err != nil || len(a.Findings) != 1 || a.Findings[0].File != logs[0] || a.Findings[0].Offset == 0 || len(a.Instants) >= len(whole.Instants) {
		t.Errorf("damaged record: %d instants, %v, %v", len(a.Instants), a.Findings, err)
	}
	src.Put(logs[0], data)
	src.Hide = func(p string) bool { return p == logs[0] }
	if a, err := tl.LoadArchived(t.Context(), c, nil); err != nil || a.Note == "" {
		t.Errorf("incomplete listing: %v", err)
	}
}

func TestHistory(t *testing.T) {
	src := tabletest.Open(t, "archived_mor_h120")
	c, tl := load(t, src)
	a, err := tl.LoadArchived(t.Context(), c, nil)
	if err != nil || !strings.Contains(a.Note, "Parquet") || len(a.Instants) != 0 {
		t.Errorf("without a Parquet reader: %+v, %v", a, err)
	}
	a, err = tl.LoadArchived(t.Context(), c, readRows)
	if err != nil || len(a.Instants) == 0 {
		t.Fatal(err)
	}
	old := a.Instants[0]
	if _, ok := tl.CompletionTime(old.Requested); ok {
		t.Error("archived instant in the active timeline")
	}
	with := tl.WithArchived(a)
	if got, ok := with.CompletionTime(old.Requested); !ok || got != old.Completed || !with.HasArchived() || len(with.Instants) != len(tl.Instants) {
		t.Errorf("WithArchived: %q %v", got, ok)
	}
	if got, _ := with.Commits().CompletionTime(old.Requested); got != old.Completed {
		t.Error("a sub-timeline must know archived completion times")
	}

	dir := c.HistoryPath()
	for _, tt := range []struct {
		name string
		edit func(*tabletest.Files)
		want string
	}{
		{"no version file", func(f *tabletest.Files) { f.Remove(dir + "/_version_") }, ""},
		{"bad version file", func(f *tabletest.Files) { f.Put(dir+"/_version_", []byte("x")) }, "Version of the archived timeline"},
		{"version too high", func(f *tabletest.Files) { f.Put(dir+"/_version_", []byte("999")) }, "Manifest of the archived timeline is absent"},
	} {
		src := tabletest.Open(t, "archived_mor_h120")
		tt.edit(src)
		_, tl := load(t, src)
		b, err := tl.LoadArchived(t.Context(), c, readRows)
		if err != nil || len(b.Instants) != len(a.Instants) {
			t.Errorf("%s: %d instants, %v", tt.name, len(b.Instants), err)
		}
		if tt.want != "" && (len(b.Findings) != 1 || !strings.Contains(b.Findings[0].Title, tt.want)) {
			t.Errorf("%s: %v", tt.name, b.Findings)
		}
	}
	version := strings.TrimSpace(string(src.Bytes(dir + "/_version_")))
	for _, text := range []string{`{"files":[`, `{"files":[{"fileName":"../../secret","fileLen":1}]}`, `{"files":3}`} {
		src.Put(dir+"/manifest_"+version, []byte(text))
		b, err := tl.LoadArchived(t.Context(), c, readRows)
		if err != nil || b.Note == "" || len(b.Findings) != 1 {
			t.Errorf("%s: %+v, %v", text, b, err)
		}
	}
}
