package table

import (
	"strings"
	"testing"

	"hudiscope/core/tabletest"
)

// TestMissingFilesAreSaid: rows of a file that is gone are not left out in silence.
func TestMissingFilesAreSaid(t *testing.T) {
	f := tabletest.Open(t, "mor_trips_h120")
	note := func() string {
		tb, err := Open(t.Context(), f, "")
		if err != nil {
			t.Fatal(err)
		}
		p, err := tb.Plan(t.Context(), Query{Type: Snapshot}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(p.Notes, " ")
	}
	if n := note(); n != "" {
		t.Errorf("a whole table: %s", n)
	}
	gone := ""
	for _, p := range f.Paths() {
		// The newest deltacommit is 20261129225352423: its log files carry its time.
		if strings.Contains(p, "_20261129225352423.log.1_") && !strings.Contains(p, ".hoodie/metadata") {
			gone = p
		}
	}
	f.Remove(gone)
	if n := note(); gone == "" || !strings.Contains(n, gone) {
		t.Errorf("without %q: %q", gone, n)
	}
}
