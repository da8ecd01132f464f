package main

import (
	"encoding/json"
	"strings"
	"testing"

	"hudiscope/core/api"
)

func TestAnatomy(t *testing.T) {
	const file = "chennai/608568ed-9ff5-44d3-a644-97d2e29f1015-0_2-3-5_20261129225100017.parquet"
	status, out, errs := runCommand("anatomy", tables+"mor_trips_h120.zip", file)
	if status != exitOK {
		t.Fatal(errs)
	}
	for _, want := range []string{": parquet, 8489 bytes, of which ", "Row group 0", "Data page 0", "Footer", "hoodie_min_record_key = trip-001", "DYNAMIC_V0, 30 hashes"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	status, out, errs = runCommand("anatomy", "--json", tables+"mor_trips_h120.zip", file)
	var a api.Anatomy
	if err := json.Unmarshal([]byte(out), &a); status != exitOK || err != nil || a.Size != 8489 || len(a.Parts) < 4 {
		t.Errorf("%d, %v, %s", status, err, errs)
	}
	if status, _, errs = runCommand("anatomy", tables+"mor_trips_h120.zip", ".hoodie/hoodie.properties"); status != exitOK || !strings.Contains(errs, "Not a base file") {
		t.Errorf("%d, %s", status, errs)
	}
	if status, _, _ = runCommand("anatomy", tables+"mor_trips_h120.zip"); status != exitUsage {
		t.Errorf("status %d without a file", status)
	}
	if status, _, _ = runCommand("anatomy", tables+"mor_trips_h120.zip", "no/such.parquet"); status != exitFailed {
		t.Errorf("status %d for a file that is not there", status)
	}
}
