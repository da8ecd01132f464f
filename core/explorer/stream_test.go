package explorer

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/tabletest"
)

// flinkChanges turns changes as Spark shows them into rows as Flink does, without the columns that only
// one of them has.
func flinkChanges(t *testing.T, gold []byte) []string {
	t.Helper()
	var out []string
	for line := range strings.Lines(string(changeRows(gold))) {
		var m struct {
			Op            string
			Before, After map[string]any
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		put := func(kind string, row map[string]any) {
			row["kind"] = kind
			maps.DeleteFunc(row, func(k string, v any) bool { return v == nil || strings.HasPrefix(k, "_hoodie_") })
			out = append(out, canonical(row))
		}
		switch m.Op {
		case "i":
			put("+I", m.After)
		case "u":
			put("-U", m.Before)
			put("+U", m.After)
		case "d":
			put("-D", m.Before)
		}
	}
	return out
}

// TestFlinkChanges reads changes with cdc.enabled, in one go and as a stream, and holds them against
// Hudi's own answers to the same question in Spark: the changes are the same, told as rows with kinds.
func TestFlinkChanges(t *testing.T) {
	s := testService(t)
	read := func(req api.StreamRequest) ([]string, error) {
		got, err := pages(func(offset int64, limit int) (*api.Rows, error) {
			req.Offset, req.Limit = offset, limit
			return s.Stream(t.Context(), req)
		})
		for i := range got {
			var m map[string]any
			if err := json.Unmarshal([]byte(got[i]), &m); err != nil {
				t.Fatal(err)
			}
			maps.DeleteFunc(m, func(k string, v any) bool { return v == nil || strings.HasPrefix(k, "_hoodie_") })
			got[i] = canonical(m)
		}
		return got, err
	}
	compared, iterators := 0, map[string]bool{}
	for _, name := range tabletest.Names(t, "cdc_000.jsonl") {
		gold, err := os.ReadFile(filepath.Join(tabletest.Dir(), "gold", name, "cdc_000.jsonl"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			want := flinkChanges(t, gold)
			slices.Sort(want)
			table := api.Table{Location: name}
			options := map[string]string{"cdc.enabled": "true", "read.start-commit": "20000101000000000"}
			for _, batch := range []bool{true, false} {
				got, err := read(api.StreamRequest{Table: table, Options: options, Batch: batch})
				if err != nil {
					t.Fatal(err)
				}
				slices.Sort(got)
				if !slices.Equal(want, got) {
					t.Fatalf("batch %v: want\n%s\ngot\n%s", batch, strings.Join(want, "\n"), strings.Join(got, "\n"))
				}
			}
			p, err := s.Splits(t.Context(), api.SplitsRequest{Table: table, Options: options})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range p.Rounds {
				for _, x := range r.Splits {
					if x.Class != "CdcInputSplit" || len(x.Changes) == 0 || x.Why == "" {
						t.Errorf("split %+v", x)
					}
					for _, i := range strings.Split(x.Iterator, ", ") {
						iterators[i] = true
					}
				}
			}
			// Through saved states, a few records at a time.
			if rows := operate(t, s, api.OperatorRequest{Table: table, Options: options, MiniBatch: 2}, p, false); len(rows) != len(want) {
				t.Errorf("%d rows in steps, want %d", len(rows), len(want))
			}
			compared++
		})
	}
	if compared < 2 {
		t.Errorf("only %d tables compared", compared)
	}
	t.Logf("%d tables, iterators %v", compared, slices.Sorted(maps.Keys(iterators)))
}

// operate runs the splits of a plan step by step, each step in a request of its own, and gives the rows.
// With crash every step is made twice from the same state.
func operate(t *testing.T, s *Service, req api.OperatorRequest, p *api.Splits, crash bool) []string {
	t.Helper()
	for _, r := range p.Rounds {
		req.Add = append(req.Add, r.Splits...)
	}
	want := len(req.Add)
	var rows []string
	req.Rows = 1000
	for n := 0; ; n++ {
		if n > 10000 {
			t.Fatal("the readers do not come to an end")
		}
		req.Steps = 1
		if crash {
			if _, err := s.Operator(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
		a, err := s.Operator(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range a.Rows {
			b, _ := json.Marshal(r.Cells)
			rows = append(rows, string(b))
		}
		// A state is JSON on its way.
		b, err := json.Marshal(a.State)
		if err != nil {
			t.Fatal(err)
		}
		req.State, req.Add = new(api.OperatorState), nil
		if err := json.Unmarshal(b, req.State); err != nil {
			t.Fatal(err)
		}
		idle := true
		var finished int64
		for _, r := range a.State.Readers {
			idle = idle && r.Status == "IDLE"
			finished += r.Finished
			if (r.Status == "RUNNING") != (len(r.Queue) > 0) {
				t.Fatalf("a reader with %d splits is %s", len(r.Queue), r.Status)
			}
		}
		if idle {
			if int(finished) != want {
				t.Errorf("%d of %d splits finished", finished, want)
			}
			return rows
		}
	}
}

// TestOperatorSteps holds the rows of steps against those of one go, for different numbers of readers,
// and looks at what the readers tell.
func TestOperatorSteps(t *testing.T) {
	s := testService(t)
	name := "flink_mor_pending_1.2.0"
	for _, tasks := range []string{"", "3"} {
		table := api.Table{Location: name}
		options := map[string]string{"read.start-commit": "20000101000000000", "changelog.enabled": "true", "read.commits.limit": "2"}
		if tasks != "" {
			options["read.tasks"] = tasks
		}
		all, err := pages(func(offset int64, limit int) (*api.Rows, error) {
			return s.Stream(t.Context(), api.StreamRequest{Table: table, Options: options, Offset: offset, Limit: limit})
		})
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Splits(t.Context(), api.SplitsRequest{Table: table, Options: options})
		if err != nil {
			t.Fatal(err)
		}
		for _, crash := range []bool{false, true} {
			if rows := operate(t, s, api.OperatorRequest{Table: table, Options: options, MiniBatch: 3}, p, crash); len(rows) != len(all) || len(rows) < 10 {
				t.Errorf("%d rows, want %d", len(rows), len(all))
			}
		}
		req := api.OperatorRequest{Table: table, Options: options, Steps: 2, MiniBatch: 4}
		for _, r := range p.Rounds {
			req.Add = append(req.Add, r.Splits...)
		}
		a, err := s.Operator(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, e := range a.Events {
			if e.Detail == "" {
				t.Errorf("event %+v", e)
			}
			if e.Reader == a.Events[0].Reader {
				kinds = append(kinds, e.Kind)
			}
		}
		if got := strings.Join(kinds, " "); !strings.HasPrefix(got, "added scheduled") || !strings.Contains(got, "taken emitted") || !strings.HasSuffix(got, "checkpoint") {
			t.Errorf("events %s", got)
		}
	}
	for what, req := range map[string]api.OperatorRequest{
		"steps":   {Steps: -1},
		"batch":   {MiniBatch: 5000},
		"rows":    {Rows: 100000},
		"class":   {Add: []api.Split{{Class: "FileInputSplit", Base: "a.parquet"}}},
		"file":    {Add: []api.Split{{Class: "MergeOnReadInputSplit", Base: ".hoodie/hoodie.properties"}}},
		"outside": {Add: []api.Split{{Class: "MergeOnReadInputSplit", Base: "../x/a_0-1-0_20260101000000000.parquet"}}},
		"change":  {Add: []api.Split{{Class: "CdcInputSplit", Changes: []api.PlanChange{{Case: "AS_IS"}}}}},
		"case":    {Add: []api.Split{{Class: "CdcInputSplit", Changes: []api.PlanChange{{Case: "X"}}}}},
		"readers": {State: &api.OperatorState{Readers: make([]api.ReaderState, 2)}},
		"count":   {State: &api.OperatorState{Readers: []api.ReaderState{{Queue: []api.QueuedSplit{{Split: api.Split{Class: "MergeOnReadInputSplit"}, Consumed: -1}}}}}},
	} {
		req.Table = api.Table{Location: name}
		if _, err := s.Operator(t.Context(), req); err == nil || ToFault(err).Kind != "invalid request" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestChangesAddUp takes all changes of tables from their beginning on, applies them one after another, and
// gets the snapshot: of tables that log changes, and of those whose changes follow from their files.
func TestChangesAddUp(t *testing.T) {
	s := testService(t)
	compared, cases := 0, map[string]bool{}
	for _, name := range tabletest.Names(t, "about.json") {
		if !strings.HasPrefix(name, "cdc_") && !strings.HasPrefix(name, "replace_") && !strings.HasPrefix(name, "mor_trips_h120") && !strings.HasPrefix(name, "part_hive") && !strings.HasPrefix(name, "merge_event_time_mor_h120") {
			continue
		}
		table := api.Table{Location: name}
		options := map[string]string{"cdc.enabled": "true", "read.start-commit": "20000101000000000", "read.streaming.skip_clustering": "false"}
		p, err := s.Splits(t.Context(), api.SplitsRequest{Table: table, Options: options})
		if f := ToFault(err); f != nil {
			if !strings.Contains(f.Message, "There should be a cdc log file") && !strings.Contains(f.Message, "Can not get") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		for _, r := range p.Rounds {
			for _, x := range r.Splits {
				for _, c := range x.Changes {
					cases[c.Case] = true
				}
			}
		}
		plain := func(line string) (string, string) {
			var m map[string]any
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			kind, _ := m["kind"].(string)
			maps.DeleteFunc(m, func(k string, v any) bool { return v == nil || k == "kind" || strings.HasPrefix(k, "_hoodie_") })
			return kind, canonical(m)
		}
		changes, err := pages(func(offset int64, limit int) (*api.Rows, error) {
			return s.Stream(t.Context(), api.StreamRequest{Table: table, Options: options, Offset: offset, Limit: limit})
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		count := map[string]int{}
		for _, line := range changes {
			switch kind, row := plain(line); kind {
			case "+I", "+U":
				count[row]++
			default:
				count[row]--
			}
		}
		rows, err := readAll(s, api.RowsRequest{Table: table})
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range rows {
			_, row := plain(line)
			count[row]--
		}
		for row, n := range count {
			if n != 0 {
				t.Errorf("%s: %+d times %s", name, n, row)
			}
		}
		compared++
	}
	t.Logf("%d tables, cases %v", compared, slices.Sorted(maps.Keys(cases)))
	if compared < 3 {
		t.Errorf("only %d tables compared", compared)
	}
}
