package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hudiscope/core/api"
)

const tables = "../../testdata/tables/"

func runCommand(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(context.Background(), args, &out, &err)
	return status, out.String(), err.String()
}

// without copies a zipped table and leaves out the first file for which drop is true.
func without(t *testing.T, table string, drop func(name string) bool) string {
	t.Helper()
	r, err := zip.OpenReader(tables + table)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := filepath.Join(t.TempDir(), table)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	dropped := false
	for _, e := range r.File {
		if !dropped && drop(e.Name) {
			dropped = true
			continue
		}
		src, err := e.Open()
		if err != nil {
			t.Fatal(err)
		}
		dst, err := w.Create(e.Name)
		if err == nil {
			_, err = io.Copy(dst, src)
		}
		src.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if !dropped {
		t.Fatal("nothing was left out")
	}
	return path
}

// TestHealthStatus holds the exit statuses that scripts rely on.
func TestHealthStatus(t *testing.T) {
	broken := without(t, "cow_trips_h102.zip", func(n string) bool { return strings.Contains(n, ".hoodie_partition_metadata") })
	for _, c := range []struct {
		args   []string
		status int
		say    string
	}{
		{[]string{"health", tables + "cow_trips_h102.zip"}, 0, "note: Small base files"},
		{[]string{"health", tables + "cow_trips_h102.zip", "--threshold", "small.bytes=1"}, 0, "ok; findings: 0"},
		{[]string{"health", "--threshold", "small.files=0", tables + "cow_trips_h102.zip"}, 3, "warning: Small base files"},
		{[]string{"health", tables + "mor_rollback_multi_h0150.zip"}, 3, "warning: Repeated rollbacks"},
		{[]string{"health", tables + "mor_rollback_multi_h0150.zip", "--checks", "clock-skew"}, 0, "ok"},
		{[]string{"health", broken}, 4, "error: Partitions without a marker"},
		{[]string{"health", broken, "--json"}, 4, `"check": "partition-markers"`},
		{[]string{"health", tables + "cow_trips_h102.zip", "--deep", "--json"}, 0, `"keys": 28`},
		{[]string{"health"}, 2, ""},
		{[]string{"health", tables + "cow_trips_h102.zip", "--threshold", "x"}, 2, ""},
		{[]string{"health", tables + "cow_trips_h102.zip", "--threshold", "no.such=1"}, 1, ""},
		{[]string{"health", tables + "absent.zip"}, 1, ""},
	} {
		status, out, errs := runCommand(c.args...)
		if status != c.status || !strings.Contains(out, c.say) {
			t.Errorf("%q: status %d, want %d\n%s%s", c.args, status, c.status, out, errs)
		}
		if (status == 1 || status == 2) && errs == "" {
			t.Errorf("%q says nothing", c.args)
		}
		if status == 4 && errs != "" {
			t.Errorf("%q writes findings to standard error: %s", c.args, errs)
		}
	}
}

func TestInstantPrintsTheWorkload(t *testing.T) {
	status, out, _ := runCommand("instant", tables+"inflight_leftover_mor_h0150.zip", "20261129235329996")
	for _, want := range []string{
		"Is going to write 2 inserts and 2 updates.",
		"workload profile of 20261129235329996.deltacommit.inflight (UPSERT): 2 inserts, 2 updates, 2 file groups",
		`file id "", previous commit "null": 1 inserts, 0 updates`,
		`file id "9fcec35e-7c43-4410-bdb9-9fa3d6135078-0", previous commit "20261129235320724": 0 inserts, 1 updates`,
		"A rollback of this write",
	} {
		if status != 0 || !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	status, out, _ = runCommand("instant", tables+"inflight_leftover_mor_h0150.zip", "20261129235329996", "--json")
	var d api.InstantDetail
	if err := json.Unmarshal([]byte(out), &d); status != 0 || err != nil || d.Work.Workload.Inserts != 2 {
		t.Errorf("%d %v", status, err)
	}
}

func TestCompareCommand(t *testing.T) {
	_, out, _ := runCommand("timeline", tables+"cow_trips_h102.zip", "--json")
	var tl struct {
		Active []struct{ Timestamp, Action string }
	}
	if err := json.Unmarshal([]byte(out), &tl); err != nil {
		t.Fatal(err)
	}
	var commits []string
	for _, i := range tl.Active {
		if i.Action == "commit" {
			commits = append(commits, i.Timestamp)
		}
	}
	first, last := commits[len(commits)-3], commits[len(commits)-1]
	status, out, errs := runCommand("compare", tables+"cow_trips_h102.zip", first, last)
	if status != 0 || !strings.Contains(out, "rows by record key:") || !strings.Contains(out, "  updated ") || !strings.Contains(out, " → ") {
		t.Errorf("%d\n%s%s", status, out, errs)
	}
	if status, _, _ := runCommand("compare", tables+"cow_trips_h102.zip", first); status != 2 {
		t.Errorf("one instant: status %d", status)
	}
	if status, out, _ := runCommand("relations", tables+"savepoint_restore_h120.zip"); status != 0 || !strings.Contains(out, "restores to") {
		t.Errorf("relations: %d\n%s", status, out)
	}
	if status, out, _ := runCommand("housekeeping", tables+"mor_trips_h0150.zip"); status != 0 || !strings.Contains(out, "hoodie.properties") {
		t.Errorf("housekeeping: %d\n%s", status, out)
	}
}
