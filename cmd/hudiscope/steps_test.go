package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSteps reads a stream a few records at a time, over a state file, and gets the rows of one go.
func TestSteps(t *testing.T) {
	table := filepath.Join("..", "..", "testdata", "tables", "flink_mor_pending_1.2.0.zip")
	options := []string{"-o", "read.start-commit=20000101000000000", "-o", "read.commits.limit=2", "-o", "changelog.enabled=true", "-o", "read.tasks=2"}
	hudiscope := func(args ...string) (string, string, int) {
		var out, errs bytes.Buffer
		code := run(t.Context(), append(args, options...), &out, &errs)
		return out.String(), errs.String(), code
	}
	lines := func(s string) []string {
		out := strings.Fields(strings.ReplaceAll(s, " ", "\u00a0"))
		slices.Sort(out)
		return out
	}
	all, errs, code := hudiscope("stream", table, "--format", "jsonl")
	if code != 0 {
		t.Fatal(errs)
	}
	state := filepath.Join(t.TempDir(), "state.json")
	got := ""
	for n := 0; ; n++ {
		out, errs, code := hudiscope("stream", table, "--format", "jsonl", "--steps", "1", "--mini-batch", "3", "--state", state)
		if code != 0 {
			t.Fatal(errs)
		}
		got += out
		if !strings.Contains(errs, "taken") {
			break
		}
		if !strings.Contains(errs, "checkpoint") || n > 200 {
			t.Fatal(errs)
		}
	}
	if want := lines(all); len(want) < 10 || !slices.Equal(want, lines(got)) {
		t.Errorf("want\n%s\ngot\n%s", all, got)
	}
	// A poll alone keeps its splits for the readers.
	state2 := filepath.Join(t.TempDir(), "state.json")
	if out, errs, code := hudiscope("splits", table, "--poll", "--state", state2); code != 0 || !strings.Contains(out, "reader ") {
		t.Errorf("%s %s", out, errs)
	}
	if _, errs, code := hudiscope("stream", table, "--steps", "1", "--state", state2); code != 0 || !strings.Contains(errs, "emitted") {
		t.Error(errs)
	}
	for _, args := range [][]string{{"stream", table, "--mini-batch", "3"}, {"stream", table, "--steps", "1", "--batch"}, {"splits", table, "--state", state}, {"stream", table, "--steps", "-1"}} {
		if _, _, code := hudiscope(args...); code != exitUsage {
			t.Errorf("%v: exit status %d", args, code)
		}
	}
	if err := os.WriteFile(state, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := hudiscope("stream", table, "--steps", "1", "--state", state); code != exitFailed || !strings.Contains(errs, "is no state of a stream") {
		t.Error(errs)
	}
}
