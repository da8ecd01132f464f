package query_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/column"
	"hudiscope/core/query"
	"hudiscope/core/release"
	"hudiscope/core/schema"
	"hudiscope/core/table"
	"hudiscope/core/tabletest"
)

func TestDecide(t *testing.T) {
	const cow, mor = "COPY_ON_WRITE", "MERGE_ON_READ"
	for _, c := range []struct {
		in   query.RelationInputs
		want string
	}{
		{query.RelationInputs{TableType: cow, QueryType: "snapshot"}, "EmptyRelation"},
		{query.RelationInputs{TableType: cow, QueryType: "snapshot", Commits: true}, "BaseFileOnlyRelation"},
		{query.RelationInputs{TableType: mor, QueryType: "read_optimized", Commits: true}, "BaseFileOnlyRelation"},
		{query.RelationInputs{TableType: mor, QueryType: "snapshot", Commits: true}, "MergeOnReadSnapshotRelation"},
		{query.RelationInputs{TableType: mor, QueryType: "snapshot", Commits: true, Bootstrapped: true}, "MergeOnReadSnapshotRelation with bootstrap"},
		{query.RelationInputs{TableType: mor, QueryType: "snapshot", Commits: true, Bootstrapped: true, Old: true}, "HoodieBootstrapRelation"},
		{query.RelationInputs{TableType: cow, QueryType: "read_optimized", Commits: true, Bootstrapped: true}, "HoodieBootstrapRelation"},
		{query.RelationInputs{TableType: cow, QueryType: "incremental", Commits: true, Version: 6}, "IncrementalRelationV1"},
		{query.RelationInputs{TableType: cow, QueryType: "incremental", Commits: true, Version: 8}, "IncrementalRelationV2"},
		{query.RelationInputs{TableType: mor, QueryType: "incremental", Commits: true, Version: 9}, "MergeOnReadIncrementalRelationV2"},
		{query.RelationInputs{TableType: mor, QueryType: "incremental", Commits: true, Version: 8, ByRequestedTime: true}, "MergeOnReadIncrementalRelationV1"},
		{query.RelationInputs{TableType: mor, QueryType: "incremental", Commits: true, Bootstrapped: true, Old: true}, "MergeOnReadIncrementalRelation"},
		{query.RelationInputs{TableType: mor, QueryType: "incremental", Commits: true, CDC: true, CDCEnabled: true}, "CDCRelation"},
	} {
		r := query.Decide(c.in)
		if r.Name() != c.want || r.Refused != "" {
			t.Errorf("%+v: %s %q, want %s", c.in, r.Name(), r.Refused, c.want)
		}
		if !r.Rules[r.Taken].Holds {
			t.Errorf("%+v: the row taken does not hold", c.in)
		}
	}
	r := query.Decide(query.RelationInputs{TableType: mor, QueryType: "realtime2", Commits: true})
	if want := "Invalid query type : realtime2 for tableType: MERGE_ON_READ,isBootstrappedTable: false "; r.Refused != want {
		t.Errorf("got %q, want %q", r.Refused, want)
	}
	if r := query.Decide(query.RelationInputs{TableType: mor, QueryType: "incremental", Commits: true, CDC: true}); !strings.Contains(r.Refused, "CDC") {
		t.Errorf("a table without change data capture: %q", r.Refused)
	}
}

func TestPack(t *testing.T) {
	files := []query.ScanFile{{Path: "a", Length: 441000, Splittable: true}, {Path: "b", Length: 441000, Splittable: true}}
	s := query.DefaultScan
	if got := s.MaxSplitBytes(files); got != 4194304 {
		t.Errorf("max split %d", got)
	}
	tasks := s.Pack(files)
	if len(tasks) != 2 || len(tasks[0]) != 1 || tasks[0][0].Path != "a" || tasks[1][0].Path != "b" {
		t.Errorf("tasks %+v", tasks)
	}
	// A file larger than a split is cut, unless it is not splittable; small ones share a task.
	s = query.ScanSettings{MaxPartitionBytes: 100, OpenCost: 10, Parallelism: 1, ScaleUp: 4, Initial: 1}
	tasks = s.Pack([]query.ScanFile{{Path: "s1", Length: 20, Splittable: true}, {Path: "big", Length: 250, Splittable: true}, {Path: "log", Length: 180}, {Path: "s2", Length: 30, Splittable: true}})
	var got []string
	for _, task := range tasks {
		var one []string
		for _, p := range task {
			one = append(one, fmt.Sprintf("%s[%d+%d]", p.Path, p.Start, p.Bytes))
		}
		got = append(got, strings.Join(one, " "))
	}
	want := []string{"log[0+180]", "big[0+100]", "big[100+100]", "big[200+50] s2[0+30]", "s1[0+20]"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if tasks := s.Pack(nil); len(tasks) != 0 {
		t.Errorf("no files: %v", tasks)
	}
}

func TestTake(t *testing.T) {
	s := query.DefaultScan
	scanned := func(n, tasks int, rows func(int) int) []int {
		var out []int
		for _, r := range s.Take(n, tasks, rows) {
			out = append(out, r.First+r.Tasks)
		}
		return out
	}
	if got := scanned(21, 100, func(int) int { return 0 }); !slices.Equal(got, []int{1, 5, 25, 100}) {
		t.Errorf("no rows: scanned %v", got)
	}
	if got := scanned(21, 100, func(int) int { return 1000 }); !slices.Equal(got, []int{1}) {
		t.Errorf("many rows: scanned %v", got)
	}
	// 10 of 21 rows from the first: ceil(1.5·11·1/10) = 2 more, bounded by 4.
	if got := scanned(21, 100, func(int) int { return 10 }); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("ten rows each: scanned %v", got)
	}
	if got := scanned(0, 5, nil); len(got) != 0 {
		t.Errorf("no limit: %v", got)
	}
	if _, err := query.ParseScan(map[string]string{"spark.sql.files.openCostInBytes": "x"}); err == nil {
		t.Error("a setting that is no number was taken")
	}
	if got, err := query.ParseScan(map[string]string{"spark.default.parallelism": "3", "spark.sql.files.minPartitionNum": "5"}); err != nil || got.Parallelism != 5 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestParse(t *testing.T) {
	q, err := query.Parse(map[string]string{"hoodie.datasource.query.type": "incremental", "hoodie.datasource.read.begin.instanttime": "000", "hoodie.datasource.query.incremental.format": "cdc", "hoodie.datasource.merge.type": "skip_merge"})
	if err != nil || !q.Incremental.CDC || q.Incremental.Begin != "000" || !q.Read.SkipMerge {
		t.Errorf("%+v, %v", q, err)
	}
	for k, v := range map[string]string{"hoodie.datasource.query.incremental.format": "x", "hoodie.read.timeline.holes.resolution.policy": "x", "hoodie.datasource.read.incr.table.version": "77",
		"hoodie.datasource.read.incr.fallback.fulltablescan.enable": "maybe", "hoodie.datasource.read.incr.filters": "nosuch(a) = 'X'", "some.key": "1"} {
		_, err := query.Parse(map[string]string{"hoodie.datasource.query.type": "incremental", "hoodie.datasource.read.begin.instanttime": "0", k: v})
		var oe *table.OptionError
		if !errors.As(err, &oe) || oe.Key != k {
			t.Errorf("%s=%s: %v", k, v, err)
		}
	}
	if _, err := query.Parse(map[string]string{"hoodie.datasource.query.type": "incremental"}); err == nil || !strings.Contains(err.Error(), "Specify the begin instant time") {
		t.Errorf("no begin: %v", err)
	}
}

func open(t testing.TB, name, hudi string) *table.Table {
	t.Helper()
	tab, err := table.Open(t.Context(), tabletest.Open(t, name), hudi)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// prepare plans a query of options.
func prepare(t testing.TB, tab *table.Table, options ...string) (*query.Plan, error) {
	t.Helper()
	m := map[string]string{}
	for i := 0; i < len(options); i += 2 {
		m[options[i]] = options[i+1]
	}
	q, err := query.Parse(m)
	if err != nil {
		t.Fatal(err)
	}
	return query.Prepare(t.Context(), tab, q, nil)
}

const (
	optType  = "hoodie.datasource.query.type"
	optBegin = "hoodie.datasource.read.begin.instanttime"
	optEnd   = "hoodie.datasource.read.end.instanttime"
)

// keys reads a column of all rows of a plan, sorted.
func keys(t testing.TB, p *query.Plan, field string) []string {
	t.Helper()
	var out []string
	for i := range p.Parts {
		for r, err := range p.Parts[i].Rows(t.Context(), table.ReadOptions{}, nil) {
			if err != nil {
				t.Fatal(err)
			}
			text, _ := r.Batch.Column(field).Text(r.Index)
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out
}

func TestIncrementalRanges(t *testing.T) {
	ctx := t.Context()
	for _, name := range []string{"mor_trips_h0150", "mor_trips_h120"} {
		tab := open(t, name, "")
		tl, err := tab.Timeline(ctx)
		if err != nil {
			t.Fatal(err)
		}
		done := tl.Commits().Completed().Instants
		at := func(i int) string {
			if tab.Config.Version >= 8 {
				return done[i].Completed
			}
			return done[i].Requested
		}
		p, err := prepare(t, tab, optType, "incremental", optBegin, at(0), optEnd, at(2))
		if err != nil {
			t.Fatal(err)
		}
		// The start is exclusive and the end inclusive: the plan says so before anything is read.
		if len(p.Instants) != 2 || p.Instants[0].Requested != done[1].Requested || p.Instants[1].Requested != done[2].Requested {
			t.Errorf("%s: instants %+v", name, p.Instants)
		}
		commits := slices.Compact(keys(t, p, "_hoodie_commit_time"))
		for _, c := range commits {
			if c != done[1].Requested && c != done[2].Requested {
				t.Errorf("%s: a row of %s", name, c)
			}
		}
		if len(commits) == 0 {
			t.Errorf("%s: no rows", name)
		}
		// No end: everything after the start.
		p, err = prepare(t, tab, optType, "incremental", optBegin, "000")
		if err != nil || len(p.Instants) != len(done) {
			t.Errorf("%s: %d of %d instants, %v", name, len(p.Instants), len(done), err)
		}
		// After the last: nothing, but the schema.
		p, err = prepare(t, tab, optType, "incremental", optBegin, "99991231235959999")
		if err != nil || len(p.Parts) != 0 || p.Type == nil {
			t.Errorf("%s: parts %v, %v", name, p.Parts, err)
		}
		p, err = prepare(t, tab, optType, "incremental", optBegin, "000", "hoodie.datasource.read.incr.path.glob", "/no_such_partition/*")
		if err != nil || len(p.Parts) != 0 {
			t.Errorf("%s: a glob that matches nothing: %d parts, %v", name, len(p.Parts), err)
		}
	}
}

func TestIncrementalFilters(t *testing.T) {
	tab := open(t, "mor_trips_h120", "")
	read := func(filters string) []string {
		p, err := prepare(t, tab, optType, "incremental", optBegin, "000", "hoodie.datasource.read.incr.filters", filters)
		if err != nil {
			t.Fatal(err)
		}
		return keys(t, p, "_hoodie_record_key")
	}
	all := read("")
	small, large := read("fare < 50"), read("fare >= 50")
	if len(small) == 0 || len(large) == 0 || len(small)+len(large) != len(all) {
		t.Errorf("%d and %d of %d rows", len(small), len(large), len(all))
	}
	if got := read(fmt.Sprintf("_hoodie_record_key = '%s', fare is not null", all[0])); !slices.Equal(got, all[:1]) {
		t.Errorf("one key: %v", got)
	}
	if got := read("fare is null"); len(got) != 0 {
		t.Errorf("nulls: %v", got)
	}
	// A condition on a column that is not shown.
	p, err := prepare(t, tab, optType, "incremental", optBegin, "000", "hoodie.datasource.read.incr.filters", "fare < 50")
	if err != nil {
		t.Fatal(err)
	}
	p.Want(func(f string) bool { return f == "_hoodie_record_key" })
	for i := range p.Parts {
		for r, err := range p.Parts[i].Rows(t.Context(), table.ReadOptions{}, nil) {
			if err != nil {
				t.Fatal(err)
			}
			if r.Batch.Column("fare") != nil || r.Batch.Column("_hoodie_commit_time") != nil {
				t.Fatal("columns that were not asked for are shown")
			}
		}
	}
	if got := keys(t, p, "_hoodie_record_key"); !slices.Equal(got, small) {
		t.Errorf("hidden condition: %v, want %v", got, small)
	}
	q, err := query.Parse(map[string]string{optType: "incremental", optBegin: "0", "hoodie.datasource.read.incr.filters": "nope = 1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := query.Prepare(t.Context(), tab, q, nil); err == nil {
		t.Error("a filter on a column that does not exist was taken")
	}
}

func TestHollowCommits(t *testing.T) {
	src := tabletest.Open(t, "mor_trips_h0150")
	// A commit among others that is not completed.
	var completed []string
	for _, p := range src.Paths() {
		if strings.HasPrefix(p, ".hoodie/2") && strings.HasSuffix(p, ".deltacommit") {
			completed = append(completed, p)
		}
	}
	slices.Sort(completed)
	if len(completed) < 3 {
		t.Fatal("too few commits")
	}
	hollow := strings.TrimSuffix(strings.TrimPrefix(completed[1], ".hoodie/"), ".deltacommit")
	src.Remove(completed[1])
	read := func(hudi, policy string) (*query.Plan, error) {
		tab, err := table.Open(t.Context(), src, hudi)
		if err != nil {
			t.Fatal(err)
		}
		if policy == "" {
			return prepare(t, tab, optType, "incremental", optBegin, "000")
		}
		return prepare(t, tab, optType, "incremental", optBegin, "000", "hoodie.read.timeline.holes.resolution.policy", policy)
	}
	for _, c := range []struct {
		hudi, policy string
		instants     int // -1: refused
		note         bool
	}{
		{"0.15.0", "", -1, false}, {"0.15.0", "BLOCK", 1, true}, {"", "", 1, true}, {"", "FAIL", -1, false}, {"0.12.3", "", len(completed) - 1, false},
	} {
		p, err := read(c.hudi, c.policy)
		if c.instants < 0 {
			var r *query.Refused
			if !errors.As(err, &r) || !strings.Contains(r.Message, "Found hollow commit: '"+hollow+"'") {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err != nil || len(p.Instants) != c.instants || (len(p.Notes) > 0) != c.note {
			t.Errorf("%+v: %+v, notes %q, %v", c, p.Instants, p.Notes, err)
		}
	}
}

func TestArchivedRange(t *testing.T) {
	const fullScan = "hoodie.datasource.read.incr.fallback.fulltablescan.enable"
	tab := open(t, "archived_mor_h0150", "0.15.0")
	arch, err := tab.Archived(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tl, err := tab.Timeline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var old []string
	for _, i := range arch.Instants {
		if i.Action == "deltacommit" && !slices.Contains(old, i.Requested) {
			old = append(old, i.Requested)
		}
	}
	if len(old) < 2 {
		t.Fatal("too few archived commits")
	}
	last := tl.Commits().Completed().Last().Requested
	// The start is archived: what is archived is left out, and that is said.
	p, err := prepare(t, tab, optType, "incremental", optBegin, old[0], optEnd, last)
	if err != nil || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "Archived commits of the range are left out") {
		t.Errorf("%v, notes %q", err, p.Notes)
	}
	some := keys(t, p, "_hoodie_record_key")
	// A scan of the whole table has rows of archived commits too.
	p, err = prepare(t, tab, optType, "incremental", optBegin, old[0], optEnd, last, fullScan, "true")
	if err != nil || len(p.Remarks) == 0 || !strings.Contains(p.Remarks[0], "latest slices of the table are scanned") {
		t.Errorf("%v, remarks %q", err, p.Remarks)
	}
	if all := keys(t, p, "_hoodie_record_key"); len(all) < len(some) {
		t.Errorf("%d rows of a scan, %d without", len(all), len(some))
	}
	for _, c := range keys(t, p, "_hoodie_commit_time") {
		if c <= old[0] || c > last {
			t.Errorf("a row of %s", c)
		}
	}
	// Both ends are archived.
	for _, scan := range []string{"false", "true"} {
		p, err = prepare(t, tab, optType, "incremental", optBegin, "000", optEnd, old[1], fullScan, scan)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range keys(t, p, "_hoodie_commit_time") {
			if c > old[1] {
				t.Errorf("scan %s: a row of %s", scan, c)
			}
		}
	}
	if _, err := prepare(t, tab, optType, "incremental", optBegin, "000", fullScan, "true", "hoodie.read.timeline.holes.resolution.policy", "USE_TRANSITION_TIME"); err == nil {
		t.Error("transition times were taken together with a full scan")
	}
	// Completion times reach into the archive of later versions.
	v2 := open(t, "archived_mor_h120", "")
	p, err = prepare(t, v2, optType, "incremental", optBegin, "000")
	if err != nil {
		t.Fatal(err)
	}
	archived := 0
	for _, i := range p.Instants {
		if i.Archived {
			archived++
		}
	}
	if archived == 0 || len(p.Notes) > 0 {
		t.Errorf("%d archived instants, notes %q", archived, p.Notes)
	}
	// All files that the range needs are there, so that nothing has to be scanned; the rows are the same.
	whole, err := prepare(t, v2, optType, "incremental", optBegin, "000", fullScan, "true")
	if err != nil || len(whole.Remarks) == 0 {
		t.Errorf("%v, remarks %q", err, whole.Remarks)
	}
	a, b := keys(t, p, "_hoodie_record_key"), keys(t, whole, "_hoodie_record_key")
	slices.Sort(a)
	slices.Sort(b)
	if len(a) == 0 || !slices.Equal(a, b) {
		t.Errorf("rows %v, by a scan %v", a, b)
	}
	p, err = prepare(t, v2, optType, "incremental", optBegin, "000", fullScan, "false")
	if err != nil {
		t.Fatal(err)
	}
	keys(t, p, "_hoodie_record_key")
}

func TestMissingFiles(t *testing.T) {
	ctx := t.Context()
	src := tabletest.Open(t, "mor_trips_h120")
	tab, err := table.Open(ctx, src, "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := prepare(t, tab, optType, "incremental", optBegin, "000")
	if err != nil {
		t.Fatal(err)
	}
	before := keys(t, p, "_hoodie_record_key")
	if len(p.Notes)+len(p.Remarks) != 0 {
		t.Errorf("a whole table: %q %q", p.Notes, p.Remarks)
	}
	// A file of the range that no slice needs any more would be read by nobody; one that is needed makes
	// the whole table be scanned.
	file := ""
	for i := range p.Parts {
		if l := p.Parts[i].Slice.Logs; len(l) > 0 {
			file = l[0]
		}
	}
	src.Remove(file)
	if tab, err = table.Open(ctx, src, ""); err != nil {
		t.Fatal(err)
	}
	p, err = prepare(t, tab, optType, "incremental", optBegin, "000")
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], file) {
		t.Errorf("notes %q", p.Notes)
	}
	// Which rows come has changed with the file that is gone, but all that is left is read.
	if got := keys(t, p, "_hoodie_record_key"); len(got) == 0 || len(before) == 0 {
		t.Errorf("%d rows, %d before", len(got), len(before))
	}
}

func TestTravel(t *testing.T) {
	tab := open(t, "mor_compacted_h120", "1.2.0")
	tl, err := tab.Timeline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done := tl.Commits().Completed().Instants
	first, last := done[0].Requested, done[len(done)-1].Requested
	var r *query.Refused
	if _, err := prepare(t, tab, "as.of.instant", first); !errors.As(err, &r) || !strings.Contains(r.Message, "Cleaner cleaned up the timestamp of interest") || !strings.Contains(r.Try, "The oldest instant") {
		t.Errorf("cleaned: %v", err)
	}
	if p, err := prepare(t, tab, "as.of.instant", last); err != nil || len(p.Parts) == 0 {
		t.Errorf("the last instant: %v", err)
	}
	// Without a release, only what is really gone is refused, and the oldest that works is named.
	right := open(t, "mor_compacted_h120", "")
	_, err = prepare(t, right, "as.of.instant", first)
	if !errors.As(err, &r) || !strings.Contains(r.Message, "The cleaner removed") {
		t.Fatalf("cleaned: %v", err)
	}
	oldest := ""
	for _, x := range done {
		if strings.Contains(r.Try, x.Requested) {
			oldest = x.Requested
		}
	}
	p, err := prepare(t, right, "as.of.instant", oldest)
	if err != nil {
		t.Fatalf("%s: %v", oldest, err)
	}
	if n := len(keys(t, p, "_hoodie_record_key")); n == 0 {
		t.Error("no rows")
	}
	// A pending commit.
	pending := open(t, "inflight_leftover_mor_h0150", "0.15.0")
	if _, err := prepare(t, pending, "as.of.instant", "99991231235959999"); !errors.As(err, &r) || !strings.Contains(r.Message, "must be earlier than the first incomplete commit timestamp") {
		t.Errorf("pending: %v", err)
	}
	// Early releases do not check.
	if _, err := prepare(t, open(t, "inflight_leftover_mor_h0150", "0.12.3"), "as.of.instant", "99991231235959999"); err != nil {
		t.Errorf("0.12: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	var r *query.Refused
	if _, err := prepare(t, open(t, "virtual_keys_mor_h120", ""), optType, "incremental", optBegin, "000"); !errors.As(err, &r) || !strings.Contains(r.Message, "meta fields are disabled") {
		t.Errorf("no meta fields: %v", err)
	}
	if _, err := prepare(t, open(t, "mor_trips_h120", ""), optType, "incremental", optBegin, "000", "hoodie.datasource.query.incremental.format", "cdc"); !errors.As(err, &r) || !strings.Contains(r.Message, "CDC") {
		t.Errorf("no change data: %v", err)
	}
	if _, err := prepare(t, open(t, "cdc_op_key_only_mor_h120", ""), optType, "incremental", optBegin, "20260131000000", optEnd, "20260130000000", "hoodie.datasource.query.incremental.format", "cdc"); !errors.As(err, &r) || !strings.Contains(r.Message, "not a valid range") {
		t.Errorf("range: %v", err)
	}
}

func TestChangeCases(t *testing.T) {
	p, err := prepare(t, open(t, "cdc_op_key_only_mor_h120", "1.2.0"), optType, "incremental", optBegin, "000", "hoodie.datasource.query.incremental.format", "cdc")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[query.ChangeCase]int{}
	for _, g := range p.Changes {
		for _, c := range g.Changes {
			cases[c.Case]++
			if c.Why == "" {
				t.Errorf("%s of %s has no reason", c.Case, c.Instant)
			}
		}
	}
	if cases[query.BaseFileInsert] == 0 || cases[query.LogFile] == 0 || cases[query.AsIs] == 0 {
		t.Errorf("cases %v", cases)
	}
	compaction := false
	for _, i := range p.Instants {
		compaction = compaction || i.Operation == "COMPACT" && strings.Contains(i.Why, "passed over")
	}
	if !compaction {
		t.Error("the compaction is not told as passed over")
	}
	// Memory is bounded.
	for i := range p.Parts {
		for _, err := range p.Parts[i].Rows(t.Context(), table.ReadOptions{LogBytes: 64}, nil) {
			if err != nil {
				return
			}
		}
	}
	t.Error("64 bytes were enough for all images")
}

func TestFlinkOptions(t *testing.T) {
	old, _ := release.For("0.14.1")
	now, _ := release.For("1.2.0")
	a, err := query.ParseFlink(map[string]string{"read.start-commit": "latest", "read.commits.limit": "3", "table.type": "MERGE_ON_READ"}, old)
	if err != nil || a.SkipCompaction || a.Start != "" || a.CommitsLimit != 0 {
		t.Errorf("0.14.1: %+v, %v", a, err)
	}
	b, err := query.ParseFlink(map[string]string{"read.end-commit": "20260131000000000", "read.commits.limit": "3"}, now)
	if err != nil || !b.SkipCompaction || !b.SkipClustering || b.Type != "incremental" || b.CommitsLimit != 3 {
		t.Errorf("1.2.0: %+v, %v", b, err)
	}
	for k, v := range map[string]string{"read.unknown": "1", "changelog.enabled": "perhaps", "read.tasks": "0", "read.start-commit": "2026-01-31", "read.end-commit": "earliest", "hoodie.datasource.merge.type": "x", "hoodie.datasource.query.type": "x"} {
		var oe *table.OptionError
		if _, err := query.ParseFlink(map[string]string{k: v}, now); !errors.As(err, &oe) || oe.Key != k {
			t.Errorf("%s=%s: %v", k, v, err)
		}
	}
}

// TestOperator reads splits in tasks, with a checkpoint and a restore after every record, and gets the
// rows of one go.
func TestOperator(t *testing.T) {
	ctx := t.Context()
	tab := open(t, "flink_mor_pending_1.2.0", "")
	o, err := query.ParseFlink(map[string]string{"read.start-commit": "20000101000000000", "changelog.enabled": "true"}, tab.Rules)
	if err != nil {
		t.Fatal(err)
	}
	f, err := query.NewFlink(ctx, tab, o, "")
	if err != nil {
		t.Fatal(err)
	}
	rounds, err := f.Rounds(ctx)
	if err != nil {
		t.Fatal(err)
	}
	line := func(r query.Row) string { b, _ := json.Marshal(r.Batch.RowJSON(r.Index)); return string(b) }
	var want []string
	var state []query.QueuedSplit
	for _, r := range rounds {
		for i := range r.Splits {
			state = append(state, query.QueuedSplit{Split: r.Splits[i]})
			for row, err := range f.Rows(ctx, &r.Splits[i], true, table.ReadOptions{}, nil) {
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, line(row))
			}
		}
	}
	stop := errors.New("stop")
	var got []string
	for len(state) > 0 {
		op := query.NewOperator(f, table.ReadOptions{}, state, nil)
		n := 0
		err := op.Run(ctx, func(r query.Row) error {
			if n++; n > 1 {
				return stop
			}
			got = append(got, line(r))
			return nil
		})
		if err != nil && !errors.Is(err, stop) {
			t.Fatal(err)
		}
		state = op.Snapshot()
		op.Close()
	}
	if len(want) < 10 || !slices.Equal(want, got) {
		t.Errorf("want %d rows\n%s\ngot %d\n%s", len(want), strings.Join(want, "\n"), len(got), strings.Join(got, "\n"))
	}
	// In one go, too.
	op := query.NewOperator(f, table.ReadOptions{}, nil, nil)
	for _, r := range rounds {
		for _, s := range r.Splits {
			op.Add(s)
		}
	}
	n := 0
	for op.Running() {
		if err := op.Run(ctx, func(query.Row) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if n != len(want) {
		t.Errorf("%d rows, want %d", n, len(want))
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tab := open(t, "cdc_op_key_only_mor_h120", "")
	p, err := prepare(t, tab, optType, "incremental", optBegin, "000", "hoodie.datasource.query.incremental.format", "cdc")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for i := range p.Parts {
		for _, err := range p.Parts[i].Rows(ctx, table.ReadOptions{}, nil) {
			if err == nil {
				t.Fatal("a row after the end")
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
	}
}

func TestAppendCell(t *testing.T) {
	tab := open(t, "all_types_cow_h0150", "")
	p, err := prepare(t, tab)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i := range p.Parts {
		for r, err := range p.Parts[i].Rows(t.Context(), table.ReadOptions{}, nil) {
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range r.Batch.Columns {
				name := r.Batch.Type.Fields[k].Name
				if _, ok := got[name]; !ok && v != nil && !v.IsNull(r.Index) {
					got[name] = string(query.AppendCell(nil, v, r.Index))
				}
			}
		}
	}
	for name, want := range map[string]string{"c_bool": "false", "c_date": "1900-01-01", "c_dec10": "-99999999.99", "c_double": "NaN", "c_long": "-9223372036854775808",
		"c_nest": "{null, null, null}", "c_ints": "[]", "c_bin": "[]", "c_map": "{}", "c_ts": "1900-01-01 00:00:00.000001"} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	cell := func(v *column.Vector) string { return string(query.AppendCell(nil, v, 0)) }
	text := &schema.Type{Kind: schema.String}
	bin := column.New(&schema.Type{Kind: schema.Bytes}, 1)
	bin.AppendBytes([]byte{1, 0xAB, 0})
	double := column.New(&schema.Type{Kind: schema.Double}, 1)
	double.AppendFloat(1e10)
	list := column.New(&schema.Type{Kind: schema.Array, Elem: text}, 1)
	list.Children[0].AppendString("a")
	list.Children[0].AppendString("b")
	list.CloseSlot()
	pairs := column.New(&schema.Type{Kind: schema.Map, Elem: text}, 1)
	pairs.Children[0].AppendString("k")
	pairs.Children[1].AppendString("v")
	pairs.CloseSlot()
	stamp := column.New(&schema.Type{Kind: schema.Long, Logical: schema.TimestampMicros}, 1)
	stamp.AppendInt(1_500_000)
	for want, v := range map[string]*column.Vector{"[01 AB 00]": bin, "1.0E10": double, "[a, b]": list, "{k -> v}": pairs, "1970-01-01 00:00:01.5": stamp} {
		if got := cell(v); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestBounds: what bounds a range is an instant, zeros or a word; other dates are refused and told in digits.
func TestBounds(t *testing.T) {
	for _, v := range []string{"", "0", "000", "00000000000000", "20260131235959", "20260131235959123", "earliest", "EARLIEST"} {
		if err := query.CheckBound("k", v, "earliest"); err != nil {
			t.Errorf("%q: %v", v, err)
		}
	}
	for v, hint := range map[string]string{"2026-01-31": "20260131000000000", "2026-01-31 23:59:59": "20260131235959000", "2026-01-31T23:59:59.123Z": "20260131235959123",
		"2026/01/31 23:59": "20260131235900000", "2026-01-31T23:59:59+05:30": "20260131235959000", "20260131": "20260131000000000",
		"yesterday": "", "2026": "", "1769903999": "", "2026013123595912": "", "latest": "", "-1": "", "２０２６": "", strings.Repeat("9", 1000): "", "2026-01-31 25": ""} {
		err := query.CheckBound("k", v, "earliest")
		var oe *table.OptionError
		if !errors.As(err, &oe) || oe.Key != "k" || !strings.Contains(oe.Why, "yyyyMMddHHmmss") || strings.Contains(oe.Why, "that moment is") != (hint != "") || !strings.Contains(oe.Why, hint) {
			t.Errorf("%q: %v, want the hint %q", v, err, hint)
		}
	}
	const optType, begin, end = "hoodie.datasource.query.type", "hoodie.datasource.read.begin.instanttime", "hoodie.datasource.read.end.instanttime"
	for _, c := range []struct {
		options map[string]string
		hints   int
	}{
		{map[string]string{optType: "incremental", begin: "20260131000000", end: "20260130000000"}, 1},
		{map[string]string{optType: "incremental", begin: "earliest", end: "20260130000000"}, 0},
		{map[string]string{optType: "incremental", begin: "20260130000000", end: "20260131000000"}, 0},
		{map[string]string{begin: "20260130000000"}, 1},
		{map[string]string{"hoodie.datasource.query.incremental.format": "cdc", end: "20260130000000"}, 2},
		{map[string]string{"hoodie.datasource.query.incremental.format": "latest_state"}, 0},
	} {
		q, err := query.Parse(c.options)
		if err != nil || len(q.Hints) != c.hints {
			t.Errorf("%v: %+v, %v", c.options, q.Hints, err)
		}
	}
	if _, err := query.Parse(map[string]string{optType: "incremental", begin: "2026-01-31"}); err == nil {
		t.Error("a date is taken for an instant")
	}
}

// TestScanSizes: sizes are in Spark's forms, and no setting makes more pieces than are planned.
func TestScanSizes(t *testing.T) {
	const key = "spark.sql.files.maxPartitionBytes"
	for v, want := range map[string]int64{"1": 1, "1048576": 1 << 20, "1MB": 1 << 20, "128m": 128 << 20, "1g": 1 << 30, "64KiB": 64 << 10, "2 k": 2048, "3b": 3, "1pb": 1 << 50} {
		s, err := query.ParseScan(map[string]string{key: v})
		if err != nil || s.MaxPartitionBytes != want {
			t.Errorf("%q: %d, %v", v, s.MaxPartitionBytes, err)
		}
	}
	for _, v := range []string{"", "0", "-1", "m", "1x", "1.5m", "2p", "9223372036854775807", "1 1", "1mm"} {
		if s, err := query.ParseScan(map[string]string{key: v}); err == nil {
			t.Errorf("%q is taken for %d", v, s.MaxPartitionBytes)
		}
	}
	if _, err := query.ParseScan(map[string]string{"spark.default.parallelism": "1m"}); err == nil {
		t.Error("a number with a unit is taken")
	}
	s := query.ScanSettings{MaxPartitionBytes: 100, OpenCost: 10, Parallelism: 1}
	files := []query.ScanFile{{Length: 20, Splittable: true}, {Length: 250, Splittable: true}, {Length: 300, Splittable: true}, {Length: 180}}
	n := 0
	for _, task := range s.Pack(files) {
		n += len(task)
	}
	if got := s.Pieces(files); got != int64(n) || n != 8 {
		t.Errorf("%d pieces, want %d", got, n)
	}
	s.MaxPartitionBytes = 1
	if got := s.Pieces([]query.ScanFile{{Length: 1 << 60, Splittable: true}}); got != 1<<60 {
		t.Errorf("%d pieces", got)
	}
}
