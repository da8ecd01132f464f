package main

import (
	"encoding/json"
	"strings"
	"testing"

	"hudiscope/core/api"
)

const incremental = "hoodie.datasource.query.type=incremental"

func TestRowsTable(t *testing.T) {
	status, out, err := runCommand("rows", tables+"mor_trips_h120.zip", "--limit", "2", "--truncate", "8")
	if status != exitOK {
		t.Fatal(err)
	}
	lines := strings.Split(out, "\n")
	// A rule, the header, a rule, two rows, a rule, the footer, and the line that println adds.
	if len(lines) != 9 || lines[0] != lines[2] || lines[0] != lines[5] || lines[6] != "only showing top 2 rows" || lines[7] != "" {
		t.Fatalf("%d lines:\n%s", len(lines), out)
	}
	if !strings.HasPrefix(lines[1], "|_hoodie_commit_time|") || !strings.Contains(lines[3], "...|") || len(lines[3]) != len(lines[0]) {
		t.Errorf("header %s\nrow %s", lines[1], lines[3])
	}
	_, out, _ = runCommand("rows", tables+"mor_trips_h120.zip", "--limit", "1", "--vertical", "--truncate", "0")
	if !strings.HasPrefix(out, "-RECORD 0---") || !strings.Contains(out, "\n _hoodie_record_key     | ") || !strings.HasSuffix(out, "only showing top 1 row\n\n") {
		t.Errorf("vertical:\n%s", out)
	}
	// Without a limit, twenty.
	_, out, _ = runCommand("rows", tables+"mor_trips_h120.zip")
	if !strings.HasSuffix(out, "only showing top 20 rows\n\n") && strings.Count(out, "\n") > 25 {
		t.Errorf("no limit:\n%s", out)
	}
}

func TestPlan(t *testing.T) {
	status, out, err := runCommand("plan", tables+"mor_trips_h120.zip", "--json", "--limit", "21", "-o", incremental, "-o", "hoodie.datasource.read.begin.instanttime=000", "-o", "spark.default.parallelism=2")
	if status != exitOK {
		t.Fatal(err)
	}
	var p api.Plan
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		t.Fatal(err)
	}
	if p.Relation.Name != "MergeOnReadIncrementalRelationV2" || !p.Relation.Rules[p.Relation.Taken].Holds || len(p.Instants) == 0 || len(p.Parts) == 0 || p.Range == "" || p.Filter == "" {
		t.Errorf("%+v", p)
	}
	pieces := 0
	for _, x := range p.Tasks.Tasks {
		pieces += len(x.Pieces)
	}
	if pieces != len(p.Parts) || len(p.Tasks.Rounds) == 0 || !strings.HasSuffix(p.Tasks.Sum, " / 2))") || p.Tasks.MaxSplitBytes <= 4194304 {
		t.Errorf("tasks %+v", p.Tasks)
	}
	for _, x := range p.Parts {
		if x.Bytes <= 0 {
			t.Errorf("part without bytes: %+v", x)
		}
	}
	_, out, _ = runCommand("plan", tables+"cdc_op_key_only_mor_h120.zip", "-o", incremental, "-o", "hoodie.datasource.read.begin.instanttime=000", "-o", "hoodie.datasource.query.incremental.format=cdc")
	if !strings.Contains(out, "> incremental, format cdc: CDCRelation") || !strings.Contains(out, "LOG_FILE") {
		t.Error(out)
	}
	if status, _, err := runCommand("plan", tables+"mor_trips_h120.zip", "-o", "hoodie.datasource.query.type=nope"); status != exitFailed || !strings.Contains(err, "nvalid query type : nope") {
		t.Errorf("%d %s", status, err)
	}
	if status, _, err := runCommand("rows", tables+"mor_trips_h120.zip", "-o", incremental); status != exitFailed || !strings.Contains(err, "Specify the begin instant time") {
		t.Errorf("%d %s", status, err)
	}
}

func TestFlinkCommands(t *testing.T) {
	args := []string{tables + "flink_mor_changelog_1.2.0.zip", "-o", "read.start-commit=earliest", "-o", "changelog.enabled=true"}
	status, out, err := runCommand(append([]string{"splits"}, args...)...)
	if status != exitOK || !strings.Contains(out, "LogFileOnly, unmerged") {
		t.Fatal(out, err)
	}
	status, out, err = runCommand(append([]string{"stream", "--format", "jsonl"}, args...)...)
	if status != exitOK {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, `{"kind":`) {
			t.Fatalf("the kind is not first: %s", line)
		}
		kinds[line[9:11]]++
	}
	for _, k := range []string{"+I", "-U", "+U", "-D"} {
		if kinds[k] == 0 {
			t.Errorf("no row of kind %s: %v", k, kinds)
		}
	}
	// A batch read shows no deletes and no updates before.
	_, out, _ = runCommand(append([]string{"stream", "--batch", "--format", "jsonl"}, args...)...)
	if out == "" || strings.Contains(out, `"kind":"-`) {
		t.Error(out)
	}
	if status, _, err := runCommand("stream", tables+"flink_mor_changelog_1.2.0.zip", "-o", "read.nonsense=1"); status != exitFailed || !strings.Contains(err, "read.nonsense") {
		t.Errorf("%d %s", status, err)
	}
}
