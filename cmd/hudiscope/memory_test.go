package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/tabletest"
)

func TestByteSize(t *testing.T) {
	for in, want := range map[string]int64{"1": 1, "4096": 4096, "64MiB": 64 << 20, "64 mib": 64 << 20, "64m": 64 << 20, "500MB": 500e6, "1.5GiB": 3 << 29, "2k": 2048, "7b": 7} {
		var b byteSize
		if err := b.Set(in); err != nil || int64(b) != want {
			t.Errorf("%q: %d, %v", in, b, err)
		}
		var again byteSize
		if err := again.Set(b.String()); err != nil || again != b {
			t.Errorf("%d is written %q", b, b.String())
		}
	}
	for _, in := range []string{"", "0", "-1", "0.2", "many", "64MiBs", "NaN", "Inf", "1e30"} {
		var b byteSize
		if err := b.Set(in); err == nil {
			t.Errorf("%q is taken for %d", in, b)
		}
	}
}

// TestMemory: with next to no memory for merging the rows are the same, and no file is left.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	rows := func(args ...string) []string {
		t.Helper()
		var out, errs bytes.Buffer
		args = append([]string{"rows", filepath.Join(tabletest.Dir(), "tables", "mor_trips_h120.zip"), "--format", "jsonl"}, args...)
		if code := run(context.Background(), args, &out, &errs); code != exitOK {
			t.Fatalf("%v: status %d: %s", args, code, errs.String())
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		slices.Sort(lines)
		return lines
	}
	if want, got := rows(), rows("--memory", "1KiB"); len(want) < 5 || !slices.Equal(want, got) {
		t.Errorf("want %d rows, got %d, or others", len(want), len(got))
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "absent"))
	var out, errs bytes.Buffer
	args := []string{"rows", filepath.Join(tabletest.Dir(), "tables", "mor_trips_h120.zip"), "--memory", "1KiB"}
	if code := run(context.Background(), args, &out, &errs); code != exitFailed || out.Len() > 0 || !strings.Contains(errs.String(), "do not fit into memory") || !strings.Contains(errs.String(), "TMPDIR") {
		t.Errorf("without a directory for files: status %d, %q, %q", code, out.String(), errs.String())
	}
}
