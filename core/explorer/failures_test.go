package explorer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/release"
	"hudiscope/core/tabletest"
)

// failedRead is a read that Hudi itself failed on.
type failedRead struct {
	table, file, hudi, message string
	options                    map[string]string
}

// failedReads lists them from the gold answers.
func failedReads(t *testing.T) []failedRead {
	t.Helper()
	var out []failedRead
	for _, name := range tabletest.Names(t, "about.json") {
		var about struct {
			Hudi    string          `json:"hudi_version"`
			Queries json.RawMessage `json:"queries"`
			Errors  json.RawMessage `json:"gold_errors"`
		}
		tabletest.Gold(t, name, "about.json", &about)
		var queries []goldQuery
		_ = json.Unmarshal(about.Queries, &queries)
		options := func(file string) map[string]string {
			for _, q := range queries {
				if q.File == file {
					return q.Options
				}
			}
			switch kind, rest, _ := strings.Cut(strings.TrimSuffix(file, ".jsonl"), "_"); kind {
			case "snapshot":
				return map[string]string{}
			case "as":
				return map[string]string{"as.of.instant": strings.TrimPrefix(rest, "of_")}
			case "as of", "incremental":
				begin, end, _ := strings.Cut(rest, "_")
				return map[string]string{"hoodie.datasource.query.type": "incremental", "hoodie.datasource.read.begin.instanttime": begin, "hoodie.datasource.read.end.instanttime": end}
			case "cdc":
				return map[string]string{"hoodie.datasource.query.type": "incremental", "hoodie.datasource.query.incremental.format": "cdc", "hoodie.datasource.read.begin.instanttime": rest}
			}
			t.Fatalf("%s: %s is no query that is known", name, file)
			return nil
		}
		errs := map[string]string{}
		_ = json.Unmarshal(about.Errors, &errs)
		for file, message := range errs {
			file = strings.Replace(file, "as_of ", "as_of_", 1)
			out = append(out, failedRead{name, file, about.Hudi, message, options(file)})
		}
		b, err := os.ReadFile(filepath.Join(tabletest.Dir(), "gold", name, "by_1.2.0.json"))
		if err != nil {
			continue
		}
		var by struct{ Differs map[string]string }
		if err := json.Unmarshal(b, &by); err != nil {
			t.Fatal(err)
		}
		for file, message := range by.Differs {
			if m, ok := strings.CutPrefix(message, "error: "); ok {
				out = append(out, failedRead{name, file, "1.2.0", m, options(file)})
			}
		}
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		return a.table+a.file+a.hudi < b.table+b.file+b.hudi
	})
	return out
}

// failureOf tells which kind of failure a read of Hudi's was, by the table and the message.
func failureOf(t *testing.T, f *failedRead) release.FailureID {
	t.Helper()
	incremental := strings.HasPrefix(f.file, "incremental_")
	switch {
	case strings.HasPrefix(f.message, "Cleaner cleaned up"), strings.Contains(f.message, "must be earlier than the first incomplete"):
		return release.TravelCleaned
	case strings.Contains(f.message, "Fail to parse the base file and log files from DeltaCommit"):
		return release.OldDeltaCommits
	case strings.Contains(f.message, "ArrayIndexOutOfBoundsException") && incremental:
		return release.PartialIncremental
	case strings.Contains(f.message, "AWSDmsAvroPayload") && incremental:
		return release.DeletedInsert
	case strings.HasPrefix(f.table, "log_block_hfile"):
		return release.HFileBlocks
	case strings.HasPrefix(f.table, "mor_corrupt_magic_only"):
		return release.NotALog
	case strings.HasPrefix(f.table, "mor_trips_h102"):
		return release.DefaultDelete
	case strings.HasPrefix(f.table, "mor_corrupt_") && incremental:
		return release.FilesGone
	case strings.HasPrefix(f.table, "mor_compacted_h0150") && incremental:
		return release.OldLogsGone
	}
	t.Fatalf("%s %s fails in Hudi %s with what is in no row of the table of failures: %s", f.table, f.file, f.hudi, f.message)
	return ""
}

// TestFailures: whatever Hudi failed on is answered, or refused for a reason of its own, and the answer
// says that the release fails, and why; more loudly where the release was asked for.
func TestFailures(t *testing.T) {
	s := testService(t)
	seen := map[release.FailureID]map[string]bool{}
	answered, refused := 0, 0
	for _, f := range failedReads(t) {
		id := failureOf(t, &f)
		if seen[id] == nil {
			seen[id] = map[string]bool{}
		}
		seen[id][f.hudi] = true
		row, ok := release.FailureOf(id)
		if !ok {
			t.Fatalf("%s: no row %s", f.table, id)
		}
		if !slices.Contains(row.SeenIn, f.hudi) {
			t.Errorf("row %s does not say that Hudi %s fails on %s %s", id, f.hudi, f.table, f.file)
		}
		for _, hudi := range []string{"", "fixed", f.hudi} {
			read, err := s.Rows(t.Context(), api.RowsRequest{Table: api.Table{Location: f.table, Hudi: hudi}, Options: f.options, Limit: maxRows})
			if err != nil {
				refused++
				fault := ToFault(err)
				switch {
				case id == release.TravelCleaned && fault.Kind == "invalid request" && (strings.Contains(fault.Message, "Cleaner cleaned up") || strings.Contains(fault.Message, "The cleaner removed")):
					// The oldest instant that works does work.
					_, at, ok := strings.Cut(fault.Try, "The oldest instant that can still be read is ")
					at, _, _ = strings.Cut(at, ".")
					if !ok {
						t.Errorf("%s %s %q: no instant that works: %s", f.table, f.file, hudi, fault.Try)
					} else if _, err := s.Rows(t.Context(), api.RowsRequest{Table: api.Table{Location: f.table, Hudi: hudi}, Options: map[string]string{"as.of.instant": at}}); err != nil {
						t.Errorf("%s %s %q: %s does not work: %v", f.table, f.file, hudi, at, err)
					}
				case id == release.NotALog && fault.Kind == "corrupt" && fault.File != "" && fault.Offset == 0 && strings.Contains(fault.Message, "magic"):
				default:
					t.Errorf("%s %s %q: %s: %s", f.table, f.file, hudi, fault.Kind, fault.Message)
				}
				continue
			}
			answered++
			found := false
			for _, x := range read.Findings {
				if strings.Contains(x.Detail, row.Why) {
					level := "note"
					if hudi == f.hudi {
						level = "warning"
					}
					found = true
					if x.Level != level {
						t.Errorf("%s %s %q: level %s, want %s", f.table, f.file, hudi, x.Level, level)
					}
				}
			}
			if found || hudi == f.hudi && id == release.OldLogsGone && slices.ContainsFunc(read.Findings, func(x api.Finding) bool {
				return x.Level == "warning" && strings.Contains(x.Title, hudi+" can't do this read")
			}) {
				continue
			}
			t.Errorf("%s %s %q: nothing says that Hudi %s fails (%s): %+v", f.table, f.file, hudi, f.hudi, id, read.Findings)
		}
	}
	t.Logf("%d answered, %d refused", answered, refused)
	if os.Getenv("HUDISCOPE_TESTDATA") == "" {
		return
	}
	// Over all tables every row of the table is seen, in every release that it names.
	for _, row := range release.Failures() {
		for _, v := range row.SeenIn {
			if !seen[row.ID][v] {
				t.Errorf("row %s says that it was seen in %s", row.ID, v)
			}
		}
	}
}
