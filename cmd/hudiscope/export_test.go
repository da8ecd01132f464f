package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExportCommand: JSON Lines are those of the command rows, and a file appears only when it is whole.
func TestExportCommand(t *testing.T) {
	table := tables + "all_types_mor_h120.zip"
	_, rows, _ := runCommand("rows", table, "--format", "jsonl")
	status, out, msg := runCommand("export", table, "--format", "jsonl")
	if status != exitOK || out != rows || rows == "" || !strings.HasPrefix(msg, "standard output: 11 rows") {
		t.Errorf("%d %s", status, msg)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "x.parquet")
	if status, out, msg := runCommand("export", table, "--format", "parquet", "--out", file, "--where", "ts > 0", "--columns", "id,c_nest", "--limit", "3"); status != exitOK || out != "" || !strings.HasSuffix(msg, ": 3 rows\n") {
		t.Errorf("%d %s%s", status, out, msg)
	}
	if b, err := os.ReadFile(file); err != nil || !bytes.HasPrefix(b, []byte("PAR1")) || !bytes.HasSuffix(b, []byte("PAR1")) {
		t.Error(err, len(b))
	}
	for _, args := range [][]string{
		{table, "--format", "csv", "--columns", "nope"},
		{tables + "mor_corrupt_magic_only_none.zip", "--format", "csv"},
	} {
		file := filepath.Join(dir, "broken")
		if status, _, _ := runCommand(append([]string{"export", "--out", file}, args...)...); status == exitOK {
			t.Errorf("%v was exported", args)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*broken*")); len(left) != 0 {
			t.Errorf("%v left %v", args, left)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".hudiscope-*")); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	flink := []string{tables + "flink_mor_changelog_1.2.0.zip", "--format", "jsonl", "-o", "changelog.enabled=true", "-o", "read.start-commit=earliest"}
	_, rows, _ = runCommand(append([]string{"stream"}, flink...)...)
	if status, out, msg := runCommand(append([]string{"export", "--flink"}, flink...)...); status != exitOK || out != rows || !strings.Contains(rows, `{"kind":"-D"`) {
		t.Errorf("%d %s", status, msg)
	}
	for _, args := range [][]string{{table}, {table, "--format", "xlsx"}, {"--format", "csv"}, {table, "--format", "csv", "--batch"}} {
		if status, _, _ := runCommand(append([]string{"export"}, args...)...); status != exitUsage {
			t.Errorf("%v: status %d", args, status)
		}
	}
}

func TestHandoffCommand(t *testing.T) {
	table := tables + "mor_trips_h120.zip"
	status, out, msg := runCommand("handoff", table, "-o", incremental, "-o", "hoodie.datasource.read.begin.instanttime=000", "--where", "fare > 10")
	for _, want := range []string{"== Spark SQL\n", "== PySpark\n", "== Flink SQL\n", "== Trino\nnot possible: ", "== hudi-rs\n", "hudi_table_changes(", "unpack", "fare"} {
		if !strings.Contains(strings.ToLower(out), strings.ToLower(want)) {
			t.Errorf("%d %s: no %q in\n%s", status, msg, want, out)
		}
	}
	status, out, msg = runCommand("handoff", table, "--engine", "pyspark")
	if status != exitOK || !strings.HasPrefix(out, "from pyspark.sql import SparkSession\n") || !strings.Contains(msg, "Unzip") && !strings.Contains(msg, "Unpack") {
		t.Errorf("%d %s\n%s", status, msg, out)
	}
	if status, _, msg := runCommand("handoff", table, "--engine", "trino"); status != exitFailed || !strings.Contains(msg, "log files") {
		t.Errorf("%d %s", status, msg)
	}
	if status, _, _ := runCommand("handoff", table, "--engine", "excel"); status != exitUsage {
		t.Errorf("status %d", status)
	}
	status, out, msg = runCommand("handoff", "--flink", tables+"flink_mor_changelog_1.2.0.zip", "-o", "read.start-commit=earliest", "--engine", "flinksql")
	if status != exitOK || !strings.Contains(out, "SET 'execution.runtime-mode' = 'streaming';") || !strings.Contains(out, "'read.streaming.enabled' = 'true'") {
		t.Errorf("%d %s\n%s", status, msg, out)
	}
}
