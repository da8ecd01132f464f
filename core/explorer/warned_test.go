package explorer

import (
	"context"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
)

func hasFinding(list []api.Finding, level, text string) bool {
	for _, f := range list {
		if f.Level == level && (strings.Contains(f.Title, text) || strings.Contains(f.Detail, text)) {
			return true
		}
	}
	return false
}

// TestMissingFileIsAnError: rows, plans and Flink's reads name a base file that is gone, as an error.
func TestMissingFileIsAnError(t *testing.T) {
	src := tabletest.Open(t, "mdt_full_h120")
	gone := ""
	for _, p := range src.Paths() {
		if strings.HasPrefix(p, "chennai/f9f16e2c") && strings.HasSuffix(p, ".parquet") {
			gone = p
		}
	}
	src.Remove(gone)
	s := New(func(context.Context, string) (storage.Source, error) { return src, nil }, Options{})
	table := api.Table{Location: "t"}
	rows := allRows(t, s, api.RowsRequest{Table: table})
	if !hasFinding(rows.Findings, "error", gone) {
		t.Errorf("rows: %+v", rows.Findings)
	}
	if p := planOf(t, s, "t", "", "", nil); !hasFinding(p.Findings, "error", gone) {
		t.Errorf("plan: %+v", p.Findings)
	}
	f, err := s.Stream(t.Context(), api.StreamRequest{Table: table, Batch: true})
	if err != nil || !hasFinding(f.Findings, "error", gone) {
		t.Errorf("Flink: %+v, %v", f, err)
	}
	x, err := s.Splits(t.Context(), api.SplitsRequest{Table: table, Batch: true})
	if err != nil || !hasFinding(x.Rounds[0].Findings, "error", gone) {
		t.Errorf("splits: %+v, %v", x, err)
	}
	// What other partitions have is not missing.
	if p, err := s.Plan(t.Context(), api.PlanRequest{Table: table, Partitions: []string{"sao_paulo"}}); err != nil || hasFinding(p.Findings, "error", "") {
		t.Errorf("another partition: %+v, %v", p, err)
	}
}

// TestTaskBound: a setting that cuts files into bytes is refused before the pieces are made.
func TestTaskBound(t *testing.T) {
	s := testService(t)
	for v, ok := range map[string]bool{"1": false, "1MB": true, "64KiB": true} {
		_, err := s.Plan(t.Context(), api.PlanRequest{Table: api.Table{Location: "flink_cow_archived_1.2.0"}, Spark: map[string]string{"spark.sql.files.maxPartitionBytes": v}})
		if (err == nil) != ok || !ok && !strings.Contains(ToFault(err).Message, "at most 100000") {
			t.Errorf("%s: %v", v, err)
		}
	}
}

// TestPartialUpdatesAreNotPruned: every way to write a condition on the partition column finds in an incremental
// read the rows that the read without a condition shows, null or not.
func TestPartialUpdatesAreNotPruned(t *testing.T) {
	s := testService(t)
	const name = "partial_update_h120"
	nulls := 0
	for _, options := range []map[string]string{
		{"hoodie.datasource.query.type": "incremental", "hoodie.datasource.read.begin.instanttime": "20261129235506294", "hoodie.datasource.read.end.instanttime": "20261129235513421"},
		{"hoodie.datasource.query.type": "incremental", "hoodie.datasource.read.begin.instanttime": "000"},
		{"hoodie.datasource.merge.type": "skip_merge"}, {},
	} {
		all := allRows(t, s, api.RowsRequest{Table: api.Table{Location: name}, Options: options})
		at := -1
		for i, c := range all.Columns {
			if c.Name == "city" {
				at = i
			}
		}
		want := 0
		for _, r := range all.Rows {
			if string(r[at]) == "null" {
				want++
			}
		}
		nulls += want
		for where, n := range map[string]int{"city IS NULL": want, "city IS NOT NULL": len(all.Rows) - want, "coalesce(city, 'none') = 'none'": want} {
			got := allRows(t, s, api.RowsRequest{Table: api.Table{Location: name}, Options: options, Condition: api.Condition{Where: where}})
			if len(got.Rows) != n {
				t.Errorf("%v, %s: %d rows, want %d", options, where, len(got.Rows), n)
			}
		}
	}
	if nulls < 3 {
		t.Errorf("only %d rows have no city", nulls)
	}
}

// TestReleaseSkips: with a release, what it passes over is left out of the rows as of the plan, and said.
func TestReleaseSkips(t *testing.T) {
	s := testService(t)
	less := 0
	for _, where := range []string{"rider LIKE 'rider-G%'", "uuid = 'trip-003'", "fare > 70", "rider = 'rider-GAE'"} {
		right := allRows(t, s, api.RowsRequest{Table: api.Table{Location: "mdt_full_h120"}, Condition: api.Condition{Where: where}})
		got := allRows(t, s, api.RowsRequest{Table: api.Table{Location: "mdt_full_h120", Hudi: "1.2.0"}, Condition: api.Condition{Where: where}})
		if len(got.Rows) > len(right.Rows) {
			t.Errorf("%s: %d rows, and %d are right", where, len(got.Rows), len(right.Rows))
		}
		if len(got.Rows) < len(right.Rows) {
			less++
			if !hasFinding(got.Findings, "warning", "may pass over rows here") {
				t.Errorf("%s: rows are left out in silence: %+v", where, got.Findings)
			}
		}
	}
	if less == 0 {
		t.Error("no condition for which the release passes over rows")
	}
}

// TestStateOfAnotherTable: a stream goes on from its own state only.
func TestStateOfAnotherTable(t *testing.T) {
	s := testService(t)
	mine, other := api.Table{Location: "flink_mor_pending_1.2.0"}, api.Table{Location: "flink_mor_changelog_1.2.0"}
	options := map[string]string{"read.start-commit": "earliest"}
	first, err := s.Splits(t.Context(), api.SplitsRequest{Table: mine, Options: options, Poll: true})
	if err != nil {
		t.Fatal(err)
	}
	ran, err := s.Operator(t.Context(), api.OperatorRequest{Table: mine, Options: options, Add: first.Rounds[0].Splits, Steps: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Splits(t.Context(), api.SplitsRequest{Table: mine, Options: options, Poll: true, State: &first.State}); err != nil {
		t.Errorf("its own state: %v", err)
	}
	if _, err := s.Operator(t.Context(), api.OperatorRequest{Table: mine, Options: options, State: &ran.State, Steps: 1}); err != nil {
		t.Errorf("its own readers: %v", err)
	}
	if _, err := s.Operator(t.Context(), api.OperatorRequest{Table: other, Options: options, State: &ran.State, Steps: 1}); err == nil {
		t.Error("another table's readers are taken")
	}
	late, odd, undone := first.State, first.State, first.State
	undone.IssuedInstant = first.State.IssuedInstant[:16] + string('0'+(first.State.IssuedInstant[16]-'0'+1)%10)
	late.IssuedInstant, odd.IssuedOffset = "99991231235959999", "2026-01-31"
	for what, x := range map[string]struct {
		table api.Table
		state *api.StreamState
	}{"another table": {other, &first.State}, "an empty state": {mine, &api.StreamState{}}, "the future": {mine, &late}, "no instant": {mine, &odd}, "an instant that is not there": {mine, &undone}} {
		if _, err := s.Splits(t.Context(), api.SplitsRequest{Table: x.table, Options: options, Poll: true, State: x.state}); err == nil {
			t.Errorf("%s: the state is taken", what)
		} else if f := ToFault(err); f.Kind == "internal" || f.Kind == "" {
			t.Errorf("%s: %+v", what, f)
		}
	}
}

// TestHints: what is asked for in vain is said, as a note.
func TestHints(t *testing.T) {
	s := testService(t)
	table := api.Table{Location: "mdt_full_h120"}
	for where, said := range map[string]string{"fare = 'abc'": "'abc' is no double", "fare > '12x' OR uuid = 'a'": "'12x' is no double", "ts < 'soon'": "'soon' is no", "NOT fare = ''": "'' is no double",
		"fare = '12'": "", "fare = NULL": "", "uuid = 'abc'": "", "fare IN ('abc')": ""} {
		rows := allRows(t, s, api.RowsRequest{Table: table, Condition: api.Condition{Where: where}})
		if got := hasFinding(rows.Findings, "note", "a comparison with it is never true"); got != (said != "") || said != "" && !hasFinding(rows.Findings, "note", said) {
			t.Errorf("%s: %+v", where, rows.Findings)
		}
	}
	rows := allRows(t, s, api.RowsRequest{Table: table, Options: map[string]string{"hoodie.datasource.query.incremental.format": "cdc"}})
	if !hasFinding(rows.Findings, "note", "incremental.format=cdc") {
		t.Errorf("an option that plays no part: %+v", rows.Findings)
	}
	if _, err := s.Timeline(t.Context(), api.TimelineRequest{Table: table, Archived: true, TimelinePage: api.TimelinePage{ArchivedFrom: "2026-01-31"}}); err == nil || !strings.Contains(err.Error(), "20260131000000000") {
		t.Errorf("a bound of the archive: %v", err)
	}
	if _, err := s.Stream(t.Context(), api.StreamRequest{Table: table, Seen: "yesterday"}); err == nil {
		t.Error("a table is seen as of yesterday")
	}
}

// TestChosenColumns: a star is all columns, and a part of a column can't be chosen.
func TestChosenColumns(t *testing.T) {
	s := testService(t)
	table := api.Table{Location: "all_types_cow_h0150"}
	all := allRows(t, s, api.RowsRequest{Table: table})
	if star := allRows(t, s, api.RowsRequest{Table: table, Condition: api.Condition{Columns: []string{"*"}}}); len(star.Columns) != len(all.Columns) {
		t.Errorf("%d columns, want %d", len(star.Columns), len(all.Columns))
	}
	nested := ""
	for _, c := range all.Columns {
		if strings.Contains(c.Type, "struct") || strings.Contains(c.Type, "record") {
			nested = c.Name
			break
		}
	}
	for _, columns := range [][]string{{nested + ".q.r"}, {"*", nested}} {
		_, err := s.Rows(t.Context(), api.RowsRequest{Table: table, Condition: api.Condition{Columns: columns}})
		if f := ToFault(err); nested == "" || err == nil || f.Part != "columns" || !strings.Contains(f.Try, "Choose") {
			t.Errorf("%q: %+v", columns, f)
		}
	}
}
