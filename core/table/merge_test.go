package table_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/groupreader"
	"hudiscope/core/merge"
	"hudiscope/core/release"
	"hudiscope/core/table"
	"hudiscope/core/tabletest"
)

// edited opens a table of testdata with other properties; "" removes one.
func edited(t testing.TB, name, hudi string, props map[string]string) *table.Table {
	t.Helper()
	files := tabletest.Open(t, name)
	const path = ".hoodie/hoodie.properties"
	var out []string
	for line := range strings.Lines(string(files.Bytes(path))) {
		key, _, _ := strings.Cut(line, "=")
		if _, ok := props[key]; !ok {
			out = append(out, line)
		}
	}
	for k, v := range props {
		if v != "" {
			out = append(out, k+"="+v+"\n")
		}
	}
	files.Put(path, []byte(strings.Join(out, "")))
	tab, err := table.Open(context.Background(), files, hudi)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// read returns the rows of a query as lines, what reading the slices found out, and the remarks.
func read(tab *table.Table, options map[string]string) (rows string, stats []groupreader.Stats, remarks []string, err error) {
	ctx := context.Background()
	q, err := table.ParseQuery(options)
	if err != nil {
		return "", nil, nil, err
	}
	plan, err := tab.Plan(ctx, q, nil)
	if err != nil {
		return "", nil, nil, err
	}
	var b strings.Builder
	for _, s := range plan.Slices {
		var st groupreader.Stats
		for row, err := range plan.Rows(ctx, s, table.ReadOptions{}, &st) {
			if err != nil {
				return "", nil, nil, err
			}
			for _, cell := range row.Batch.RowJSON(row.Index) {
				b.Write(cell)
				b.WriteByte(' ')
			}
			b.WriteByte('\n')
		}
		stats = append(stats, st)
	}
	return b.String(), stats, plan.Remarks, nil
}

const (
	payloadKey = "hoodie.compaction.payload.class"
	modelName  = "org.apache.hudi.common.model."
	// byOrdering is a table of version 6 whose log holds late updates.
	byOrdering = "merge_commit_time_mor_h0150"
)

// TestMergeRule is case B14: a table without a merge mode is read by its payload class, by the
// default of the release, or not at all.
func TestMergeRule(t *testing.T) {
	rowsOf := func(hudi string, props map[string]string) string {
		t.Helper()
		rows, _, remarks, err := read(edited(t, byOrdering, hudi, props), nil)
		if err != nil || len(remarks) > 0 {
			t.Fatalf("%v: %v, remarks %q", props, err, remarks)
		}
		return rows
	}
	commit, event := rowsOf("", nil), rowsOf("", map[string]string{payloadKey: modelName + "DefaultHoodieRecordPayload"})
	old := rowsOf("0.15.0", nil)
	if commit == event || commit == old || event == old {
		t.Fatal("the table does not tell the merge modes apart")
	}
	v8 := map[string]string{"hoodie.table.version": "8", "hoodie.timeline.layout.version": "1"}
	with := func(more ...string) map[string]string {
		out := map[string]string{}
		for k, v := range v8 {
			out[k] = v
		}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	const strategy = "hoodie.record.merge.strategy.id"
	for _, c := range []struct {
		name, hudi string
		props      map[string]string
		want       string
	}{
		{"EventTimeAvroPayload", "", map[string]string{payloadKey: modelName + "EventTimeAvroPayload"}, event},
		{"no payload, 1.x", "", map[string]string{payloadKey: ""}, event},
		{"no payload, 0.15", "0.15.0", map[string]string{payloadKey: ""}, old},
		{"the payload wins over the strategy in version 6", "", map[string]string{strategy: "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"}, commit},
		{"the old package name", "", map[string]string{payloadKey: "com.uber.hoodie.common.model.DefaultHoodieRecordPayload"}, event},
		{"a payload in the other property", "", map[string]string{payloadKey: "", "hoodie.datasource.write.payload.class": modelName + "OverwriteWithLatestAvroPayload"}, commit},
		{"the strategy wins over the payload in version 8", "", with("hoodie.compaction.record.merger.strategy", "", strategy, "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"), event},
		{"version 8, payload only", "", with("hoodie.compaction.record.merger.strategy", ""), commit},
		{"version 8, ordering field only", "", with("hoodie.compaction.record.merger.strategy", "", payloadKey, ""), event},
		{"version 8, mode", "", with("hoodie.record.merge.mode", "COMMIT_TIME_ORDERING"), commit},
		{"BootstrapRecordPayload takes the later row", "", map[string]string{payloadKey: modelName + "BootstrapRecordPayload"}, commit},
	} {
		if got := rowsOf(c.hudi, c.props); got != c.want {
			t.Errorf("%s: other rows", c.name)
		}
	}
}

// TestFallback: what is not part of Hudi is named and refused, unless a rule is chosen.
func TestFallback(t *testing.T) {
	commit, _, _, err := read(edited(t, byOrdering, "", nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	event, _, _, err := read(edited(t, byOrdering, "", map[string]string{payloadKey: modelName + "DefaultHoodieRecordPayload"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		props map[string]string
		says  string
	}{
		{"payload", map[string]string{payloadKey: "com.acme.MyPayload"}, "com.acme.MyPayload"},
		{"merger", map[string]string{"hoodie.table.version": "8", "hoodie.record.merge.mode": "CUSTOM", "hoodie.record.merge.strategy.id": "12345678-0000-0000-0000-000000000000"}, "12345678-"},
		{"half a delete marker", map[string]string{"hoodie.payload.delete.field": "rider"}, "hoodie.payload.delete.marker"},
	} {
		tab := edited(t, byOrdering, "", c.props)
		_, _, _, err := read(tab, nil)
		var mu *table.MergeUnsupported
		if !errors.As(err, &mu) || !strings.Contains(err.Error(), c.says) || !strings.Contains(mu.Try(), groupreader.FallbackOption) {
			t.Errorf("%s: %v", c.name, err)
		}
		if tab.MergeSupport() == nil {
			t.Errorf("%s is taken for supported", c.name)
		}
		for how, want := range map[string]string{"commit_time": commit, "event_time": event} {
			rows, _, remarks, err := read(tab, map[string]string{groupreader.FallbackOption: how})
			if err != nil || rows != want || len(remarks) != 1 || !strings.Contains(remarks[0], c.says) {
				t.Errorf("%s, fallback %s: the rows are right: %v, remarks %q, %v", c.name, how, rows == want, remarks, err)
			}
		}
		// Base files are not merged.
		if rows, _, _, err := read(tab, map[string]string{"hoodie.datasource.query.type": "read_optimized"}); err != nil || rows == "" {
			t.Errorf("%s, read optimized: %v", c.name, err)
		}
	}
	// A fallback is none where the table's own rule is known.
	rows, _, remarks, err := read(edited(t, byOrdering, "", nil), map[string]string{groupreader.FallbackOption: "event_time"})
	if err != nil || rows != commit || len(remarks) > 0 {
		t.Errorf("the fallback was used where it is not needed: %q, %v", remarks, err)
	}
}

// TestRecordPositions: merging by position and by key give the same rows.
func TestRecordPositions(t *testing.T) {
	tab := edited(t, "record_positions_h120", "", nil)
	byKey, _, _, err := read(tab, nil)
	if err != nil {
		t.Fatal(err)
	}
	byPos, stats, _, err := read(tab, map[string]string{"hoodie.merge.use.record.positions": "true"})
	if err != nil {
		t.Fatal(err)
	}
	if byKey != byPos || byKey == "" {
		t.Errorf("by key:\n%s\nby position:\n%s", byKey, byPos)
	}
	blocks := 0
	for _, st := range stats {
		blocks += st.Positions
	}
	if blocks == 0 {
		t.Error("no block was matched by position")
	}
}

// TestReleaseNotes: a table that its release can't read is read, and the reason is told.
func TestReleaseNotes(t *testing.T) {
	right, _, _, err := read(edited(t, "mor_trips_h102", "", nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, stats, _, err := read(edited(t, "mor_trips_h102", "1.0.2", nil), nil)
	if err != nil || rows != right {
		t.Errorf("read as 1.0.2: %v", err)
	}
	var met []release.FailureID
	for _, st := range stats {
		met = append(met, st.Failures...)
	}
	if !slices.Contains(met, release.DefaultDelete) {
		t.Errorf("met %q", met)
	}
}

// TestRightAnswer: without a release, values that 1.2.0 loses are kept (spec gold README).
func TestRightAnswer(t *testing.T) {
	const marker = "__debezium_unavailable_value"
	for hudi, lost := range map[string]bool{"": false, "0.15.0": false, "1.2.0": true} {
		rows, _, remarks, err := read(edited(t, "payload_postgres_debezium_h0150", hudi, nil), nil)
		if err != nil || strings.Contains(rows, marker) != lost || (len(remarks) == 1) != lost {
			t.Errorf("%q: the marker is shown: %v, remarks %q, %v", hudi, strings.Contains(rows, marker), remarks, err)
		}
	}
}

// TestTooOld: a release that can't read the table at all does not decide how it is merged.
func TestTooOld(t *testing.T) {
	want, _, _, err := read(edited(t, "payload_overwrite_nondefaults_h120", "", nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, _, remarks, err := read(edited(t, "payload_overwrite_nondefaults_h120", "0.15.0", nil), nil)
	if err != nil || rows != want || len(remarks) != 1 || !strings.Contains(remarks[0], "version 9") {
		t.Errorf("remarks %q, %v", remarks, err)
	}
}

func TestParseQuery(t *testing.T) {
	q, err := table.ParseQuery(map[string]string{"hoodie.datasource.merge.type": "skip_merge", groupreader.FallbackOption: "event_time", "hoodie.merge.use.record.positions": "false"})
	if err != nil || !q.SkipMerge || q.Fallback != merge.EventTime || q.ByPosition {
		t.Errorf("%+v, %v", q, err)
	}
	for k, v := range map[string]string{"hoodie.datasource.merge.type": "none", groupreader.FallbackOption: "latest", "hoodie.unknown": "1", "as.of.instant": "yesterday"} {
		var oe *table.OptionError
		if _, err := table.ParseQuery(map[string]string{k: v}); !errors.As(err, &oe) || oe.Key != k {
			t.Errorf("%s=%s: %v", k, v, err)
		}
	}
}
