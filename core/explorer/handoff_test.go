package explorer

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sort"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/handoff"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
)

func snippet(t *testing.T, a *api.Handoff, engine string) api.Snippet {
	t.Helper()
	for _, s := range a.Snippets {
		if s.Engine == engine {
			if (s.Code == "") != (s.Refused != "") || s.Versions == "" && s.Refused == "" {
				t.Errorf("%s: code %q, refused %q, versions %q", engine, s.Code, s.Refused, s.Versions)
			}
			return s
		}
	}
	t.Fatalf("no snippet of %s", engine)
	return api.Snippet{}
}

// recorded are the queries that Hudi's own answers of a table were made by: the options by file, and
// whether they are Flink's.
func recorded(t *testing.T, name string) (queries map[string]map[string]string, flink bool) {
	var about struct {
		Queries json.RawMessage `json:"queries"`
	}
	tabletest.Gold(t, name, "about.json", &about)
	queries = map[string]map[string]string{}
	var list []struct {
		File    string            `json:"file"`
		Options map[string]string `json:"options"`
	}
	if json.Unmarshal(about.Queries, &list) == nil {
		for _, q := range list {
			queries[q.File] = q.Options
		}
		return queries, false
	}
	var byFile map[string]struct {
		Options map[string]string `json:"options"`
	}
	if err := json.Unmarshal(about.Queries, &byFile); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for f, q := range byFile {
		queries[f] = q.Options
	}
	return queries, true
}

// less is m without the entries of pins that are not in want: those that fix an instant.
func less(m, want map[string]string, pins ...string) map[string]string {
	out := maps.Clone(m)
	for _, p := range pins {
		if _, ok := want[p]; !ok {
			delete(out, p)
		}
	}
	return out
}

// TestHandoffOptions holds the options of the code against those that Hudi's own answers were made with.
func TestHandoffOptions(t *testing.T) {
	s := testService(t)
	spark, flink := 0, 0
	for _, name := range tabletest.Names(t, "about.json") {
		queries, ofFlink := recorded(t, name)
		for file, options := range queries {
			req := api.HandoffRequest{Table: api.Table{Location: name}, Options: options, Flink: ofFlink}
			req.Batch = ofFlink && !strings.HasPrefix(file, "stream") && !strings.HasPrefix(file, "sqlstream")
			a, err := s.Handoff(context.Background(), req)
			if err != nil {
				continue // what Hudi refuses
			}
			if ofFlink {
				x := snippet(t, a, handoff.FlinkSQL)
				if x.Refused != "" {
					t.Errorf("%s %s: %s", name, file, x.Refused)
					continue
				}
				flink++
				if got := less(x.Options, options, "read.streaming.enabled", "read.end-commit"); !maps.Equal(got, options) {
					t.Errorf("%s %s: options %v, want %v", name, file, got, options)
				}
				for k, v := range x.Options {
					if !strings.Contains(x.Code, "'"+k+"' = '"+v+"'") {
						t.Errorf("%s %s: %s is not in\n%s", name, file, k, x.Code)
					}
				}
				if streaming := x.Options["read.streaming.enabled"] == "true"; streaming == req.Batch {
					t.Errorf("%s %s: streaming %v", name, file, streaming)
				}
				continue
			}
			for _, engine := range []string{handoff.SparkSQL, handoff.PySpark} {
				x := snippet(t, a, engine)
				if x.Refused != "" {
					if !strings.HasPrefix(x.Refused, "Hudi refuses this time travel") {
						t.Errorf("%s %s: %s", name, file, x.Refused)
					}
					continue
				}
				spark++
				if got := less(x.Options, options, "as.of.instant", "hoodie.datasource.read.end.instanttime", "hoodie.schema.on.read.enable", "hoodie.datasource.read.incr.fallback.fulltablescan.enable"); !maps.Equal(got, options) {
					t.Errorf("%s %s: options %v, want %v", name, file, got, options)
				}
				for k, v := range x.Options {
					if !strings.Contains(x.Code, "'"+k+"' '"+v+"'") && !strings.Contains(x.Code, `.option("`+k+`", "`+v+`")`) {
						t.Errorf("%s %s: %s is not in\n%s", name, file, k, x.Code)
					}
				}
				pinned := x.Options["as.of.instant"] != "" || x.Options["hoodie.datasource.read.end.instanttime"] != ""
				if !pinned && len(x.Remarks) == 0 && name != "empty_created_h120" {
					t.Errorf("%s %s: the instant is not fixed, and nothing says so:\n%s", name, file, x.Code)
				}
			}
		}
	}
	if spark < 200 || flink < 10 {
		t.Errorf("only %d and %d queries", spark, flink)
	}
}

// TestHandoffFlinkRows plans the code for Flink of Spark's queries with our own Flink reader, which is held
// against Hudi's: the rows are those of Spark's query.
func TestHandoffFlinkRows(t *testing.T) {
	s := testService(t)
	same, refusals := 0, map[string]int{}
	for _, name := range tabletest.Names(t, "about.json") {
		queries, ofFlink := recorded(t, name)
		if ofFlink {
			queries = map[string]map[string]string{"snapshot": {}}
		}
		for file, options := range queries {
			table := api.Table{Location: name}
			a, err := s.Handoff(context.Background(), api.HandoffRequest{Table: table, Options: options})
			if err != nil {
				continue
			}
			x := snippet(t, a, handoff.FlinkSQL)
			if x.Refused != "" {
				refusals[x.Refused]++
				continue
			}
			want, err := s.Rows(context.Background(), api.RowsRequest{Table: table, Options: options, Limit: maxRows})
			if err != nil {
				continue
			}
			got, err := s.Stream(context.Background(), api.StreamRequest{Table: table, Options: x.Options, Batch: true, Limit: maxRows})
			if err != nil {
				t.Errorf("%s %s: %v: %v", name, file, x.Options, err)
				continue
			}
			lines := func(r *api.Rows, from int) []string {
				var out []string
				for _, row := range r.Rows {
					b, _ := json.Marshal(row[from:])
					out = append(out, string(b))
				}
				sort.Strings(out)
				return out
			}
			if g, w := lines(got, 1), lines(want, 0); !slices.Equal(g, w) {
				t.Errorf("%s %s: %v gives %d rows, want %d", name, file, x.Options, len(g), len(w))
				continue
			}
			same++
		}
	}
	t.Logf("%d queries give the same rows; refused: %v", same, refusals)
	if same < 100 {
		t.Errorf("only %d queries", same)
	}
}

// TestHandoffLimits holds conditions, columns and limits against the rows.
func TestHandoffLimits(t *testing.T) {
	s := testService(t)
	ask := func(req api.HandoffRequest) *api.Handoff {
		t.Helper()
		req.Location = "mor_trips_h120"
		a, err := s.Handoff(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := ask(api.HandoffRequest{Partitions: []string{"sao_paulo", "chennai"}, Condition: api.Condition{Columns: []string{"rider", "uuid"}}, Limit: 7})
	if want := "SELECT `rider`, `uuid`\nFROM `mor_trips_h120`\nWHERE `_hoodie_partition_path` IN ('sao_paulo', 'chennai')\n  AND ((`city` = 'sao_paulo') OR (`city` = 'chennai'))\nLIMIT 7;\n"; !strings.Contains(snippet(t, a, handoff.SparkSQL).Code, want) {
		t.Error(snippet(t, a, handoff.SparkSQL).Code)
	}
	if want := "rows = rows.filter(pc.field(\"_hoodie_partition_path\").isin([\"sao_paulo\", \"chennai\"]))\nrows = rows.select([\"rider\", \"uuid\"])\nrows = rows.slice(0, 7)\n"; !strings.Contains(snippet(t, a, handoff.HudiRS).Code, want) {
		t.Error(snippet(t, a, handoff.HudiRS).Code)
	}
	if x := snippet(t, a, handoff.Trino); x.Refused == "" || !strings.HasPrefix(a.Address, "/path/to/") || !strings.Contains(a.Note, "/path/to/") {
		t.Error(x.Code, a.Address, a.Note)
	}
	// Only where a location is a path of the caller's machine it is given.
	for _, location := range []string{"/tables/mor_trips_h120/", "/data/mor_trips_h120", "mor_trips_h120"} {
		for _, local := range []bool{false, true} {
			src := tabletest.Open(t, "mor_trips_h120")
			s := New(func(context.Context, string) (storage.Source, error) { return src, nil }, Options{LocalPaths: local})
			a, err := s.Handoff(t.Context(), api.HandoffRequest{Table: api.Table{Location: location}})
			if err != nil || (a.Address == location) != local || (a.Note == "") != local {
				t.Errorf("%s, local %v: %q %q, %v", location, local, a.Address, a.Note, err)
			}
		}
	}
	a = ask(api.HandoffRequest{Options: map[string]string{"hoodie.datasource.query.type": "read_optimized"}})
	if x := snippet(t, a, handoff.Trino); !strings.Contains(x.Code, `FROM hudi."default"."mor_trips_h120_ro"`) {
		t.Error(x)
	}
	if _, err := s.Handoff(context.Background(), api.HandoffRequest{Table: api.Table{Location: "mor_trips_h120"}, Condition: api.Condition{Columns: []string{"nope"}}}); err == nil {
		t.Error("a column that is not there was taken")
	}
	a = ask(api.HandoffRequest{Condition: api.Condition{Where: `fare > 10 and rider like 'it\'s%'`}})
	if x := snippet(t, a, handoff.SparkSQL); !strings.Contains(x.Code, "\nWHERE ((`fare` > 10) AND (`rider` LIKE 'it\\'s%'))") {
		t.Error(x.Code)
	}
	for _, where := range []string{"fare >", "nope = 1", "1 = 1; DROP TABLE x"} {
		var f *api.Fault
		_, err := s.Handoff(context.Background(), api.HandoffRequest{Table: api.Table{Location: "mor_trips_h120"}, Condition: api.Condition{Where: where}})
		if !errors.As(err, &f) || f.Part != "where" {
			t.Errorf("%s: %v", where, err)
		}
	}
	// A release that can't read the table version.
	a, err := s.Handoff(context.Background(), api.HandoffRequest{Table: api.Table{Location: "mor_trips_h120", Hudi: "0.15.0"}})
	if err != nil || snippet(t, a, handoff.PySpark).Refused != "Hudi 0.15.0 can't read table version 9: 1.1.0 is the first that can." {
		t.Error(err, snippet(t, a, handoff.PySpark))
	}
}

// TestFileGroupOfRows: the column _hoodie_file_name begins with the file group's id, by which code keeps
// the rows of one group.
func TestFileGroupOfRows(t *testing.T) {
	s := testService(t)
	groups := 0
	for _, name := range tabletest.Names(t, "about.json") {
		r, err := s.Rows(context.Background(), api.RowsRequest{Table: api.Table{Location: name}, Limit: maxRows})
		if err != nil {
			continue
		}
		at := slices.IndexFunc(r.Columns, func(c api.Column) bool { return c.Name == "_hoodie_file_name" })
		if at < 0 {
			continue
		}
		for i, sl := range r.Slices {
			end := int64(len(r.Rows))
			if i+1 < len(r.Slices) {
				end = r.Slices[i+1].FirstRow
			}
			for _, row := range r.Rows[sl.FirstRow:end] {
				if !strings.HasPrefix(string(row[at]), `"`+sl.FileID) && string(row[at]) != "null" {
					t.Errorf("%s: %s in file group %s", name, row[at], sl.FileID)
					break
				}
			}
			groups++
		}
	}
	if groups < 100 {
		t.Errorf("only %d file groups", groups)
	}
}
