package explorer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"hudiscope/core/release"
	"hudiscope/core/tabletest"
)

// section is the part of docs/queries.md between two marks.
func section(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "queries.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(b), "<!-- "+name+" -->\n")
	text, _, ok2 := strings.Cut(rest, "<!-- end of "+name+" -->")
	if !ok || !ok2 {
		t.Fatalf("docs/queries.md has no part %q", name)
	}
	return text
}

// TestFailuresInDocs: the documentation has every row of the table of failures, and beside it every table of
// the gold answers that Hudi failed on, with the release.
func TestFailuresInDocs(t *testing.T) {
	seen := map[release.FailureID]map[string]int{}
	for _, f := range failedReads(t) {
		id := failureOf(t, &f)
		if seen[id] == nil {
			seen[id] = map[string]int{}
		}
		seen[id][f.table+" ("+f.hudi+")"]++
	}
	text := section(t, "failures")
	var want strings.Builder
	want.WriteString("| which releases | which reads | what happens there | what is answered here | seen: reads of reference tables (release) |\n|---|---|---|---|---|\n")
	for _, row := range release.Failures() {
		var tables []string
		for k, n := range seen[row.ID] {
			tables = append(tables, fmt.Sprintf("%d of %s", n, k))
			if !strings.Contains(text, fmt.Sprintf("%d of %s", n, k)) {
				t.Errorf("row %s of the documentation does not name %d reads of %s", row.ID, n, k)
			}
		}
		sort.Strings(tables)
		line := fmt.Sprintf("| %s | %s | %s | %s | ", row.Releases(), row.Reads, row.Why, row.Here)
		if !strings.Contains(text, line) {
			t.Errorf("the documentation lacks the row\n%s", line)
		}
		fmt.Fprintf(&want, "%s%s |\n", line, strings.Join(tables, ", "))
	}
	if os.Getenv("HUDISCOPE_TESTDATA") != "" && want.String() != text {
		t.Errorf("the part \"failures\" of docs/queries.md should be\n%s", want.String())
	}
}

// TestDifferencesInDocs: the documentation names, with a reason, every table that two releases answer
// differently.
func TestDifferencesInDocs(t *testing.T) {
	text := section(t, "differences")
	differ := 0
	for _, name := range tabletest.Names(t, "about.json") {
		b, err := os.ReadFile(filepath.Join(tabletest.Dir(), "gold", name, "by_1.2.0.json"))
		if err != nil {
			continue
		}
		var by struct{ Differs map[string]string }
		if err := json.Unmarshal(b, &by); err != nil {
			t.Fatal(err)
		}
		var files []string
		for file, how := range by.Differs {
			if !strings.HasPrefix(how, "error: ") {
				files = append(files, file)
			}
		}
		if len(files) == 0 {
			continue
		}
		differ++
		if !strings.Contains(text, "`"+name+"`") {
			slices.Sort(files)
			t.Errorf("the documentation does not name %s, which 0.15.0 and 1.2.0 answer differently (%s)", name, strings.Join(files, ", "))
		}
	}
	if differ == 0 && os.Getenv("HUDISCOPE_TESTDATA") != "" {
		t.Error("no table differs")
	}
}
