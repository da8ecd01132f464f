package main

import (
	"encoding/json"
	"strings"
	"testing"

	"hudiscope/core/api"
)

// TestPlanWhere prints what a condition leaves out, and why.
func TestPlanWhere(t *testing.T) {
	status, out, err := runCommand("plan", tables+"mdt_full_h120.zip", "--where", "city = 'chennai' AND fare > 70")
	if status != exitOK {
		t.Fatal(err)
	}
	for _, want := range []string{"condition: city = 'chennai' AND fare > CAST(70 AS double)\n", "  over partitions: city = 'chennai'\n", "  Hudi lists below \"chennai\" only\n", "data skipping: on, fallback\n",
		"\n+ column_stats: It has statistics of fare.\n", "\n- partition_stats: ", "Left out: its rows have city = sao_paulo", "fare from 30.73 to 30.73", "\n1 of 4 slices are read; 75.0 % of the slices", "\n1 parts\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	_, out, _ = runCommand("plan", tables+"mdt_full_h120.zip", "--where", "fare > 70", "-o", "hoodie.enable.data.skipping=false")
	if !strings.Contains(out, "data skipping: off\n") || !strings.Contains(out, "\n4 of 4 slices are read; 0.0 %") {
		t.Errorf("skipping is off:\n%s", out)
	}
	status, out, err = runCommand("plan", tables+"mdt_full_h120.zip", "--where", "fare > 70", "--json")
	var p api.Plan
	if status != exitOK || json.Unmarshal([]byte(out), &p) != nil {
		t.Fatal(err)
	}
	if p.Pruning == nil || len(p.Pruning.Files) != 4 || len(p.Parts) != 3 || len(p.Pruning.Files[0].Stats) == 0 || p.Pruning.Files[0].Stats[0].Test == "" {
		t.Errorf("%+v", p.Pruning)
	}
	status, _, err = runCommand("plan", tables+"mdt_full_h120.zip", "--where", "fare > 70", "-o", "hoodie.fileIndex.dataSkippingFailureMode=sometimes")
	if status == exitOK || !strings.Contains(err, "fallback and strict") {
		t.Errorf("status %d: %s", status, err)
	}
}
