package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"hudiscope/core/api"
)

func TestHistoryCommand(t *testing.T) {
	const table = "../../testdata/tables/mor_rollback_multi_h0150.zip"
	do := func(want int, args ...string) (string, string) {
		t.Helper()
		var out, errs bytes.Buffer
		if got := run(context.Background(), args, &out, &errs); got != want {
			t.Fatalf("%q: status %d, want %d\n%s%s", args, got, want, out.String(), errs.String())
		}
		return out.String(), errs.String()
	}
	text, _ := do(exitOK, "history", table, "trip-001")
	for _, want := range []string{"trip-001\n", "what a query reads", "superseded base of", "not read data of", "Rolled back by the command block", "✔ won data of", "  ⇒ uuid=\"trip-001\"", "changes ts="} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if i, j := strings.Index(text, "superseded base"), strings.Index(text, "won data"); i > j {
		t.Errorf("the winner comes before the base row:\n%s", text)
	}
	text, _ = do(exitOK, "history", "--json", table, "trip-00", "--prefix", "--limit", "2")
	var a api.History
	if err := json.Unmarshal([]byte(text), &a); err != nil || len(a.Keys) != 2 || !a.More || a.Keys[0].Key != "trip-000" {
		t.Errorf("%v: %d keys, more %v", err, len(a.Keys), a.More)
	}
	if text, _ = do(exitOK, "history", table, "nobody"); !strings.Contains(text, `no version of "nobody"`) {
		t.Errorf("%s", text)
	}
	do(exitUsage, "history", table)
	do(exitUsage, "history")
	do(exitUsage, "history", table, "a", "b")
	do(exitFailed, "history", "no such table", "k")

	group := a.Keys[0].Copies[0]
	text, _ = do(exitOK, "scan", table, group.Partition, group.FileID, "--records")
	for _, want := range []string{"file 0 ", "instant switch", "rollback", "pop", "log record", "base record", "trip-000: new wins", "rollbacks"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	var s api.Scan
	text, _ = do(exitOK, "scan", "--json", table, group.Partition, group.FileID, group.Slices[0].BaseInstant)
	if err := json.Unmarshal([]byte(text), &s); err != nil || len(s.Steps) == 0 {
		t.Errorf("%v: %d steps", err, len(s.Steps))
	}
	if text, _ = do(exitOK, "scan", table, s.Blocks.Files[0].File.Path); !strings.Contains(text, "1 log files") {
		t.Errorf("%s", text)
	}
	do(exitUsage, "scan")
	do(exitFailed, "scan", table, group.Partition, "no such group")
}
