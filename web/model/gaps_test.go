package model

import (
	"testing"

	"hudiscope/core/api"
)

// TestGaps: the gaps that the answer tells have their words, and archived instants none. What is a gap is core's (timeline.Gap).
func TestGaps(t *testing.T) {
	flags := []uint8{api.CompactCompleted, api.CompactCompleted | api.CompactNoRequested, api.CompactCompleted | api.CompactNoInflight, api.CompactInflight | api.CompactNotCompleted, api.CompactNotBegun}
	l, err := InstantsIn(&api.CompactTimeline{Requested: "20240101000000001 20240101000000002 20240101000000003 20240101000000004 20240101000000005 ", Completed: "     ",
		Actions: []string{"deltacommit"}, Action: make([]uint8, 5), Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", gapRequested, gapInflight, gapNotDone, gapNotBegun} {
		if got := l.Gap(i); got != want {
			t.Errorf("instant %d: %q, want %q", i, got, want)
		}
	}
	if n, first := l.Gaps(); n != 4 || first != 1 {
		t.Errorf("%d gaps from %d", n, first)
	}
	l.Archived = 5
	if n, _ := l.Gaps(); n != 0 {
		t.Errorf("%d gaps of archived instants", n)
	}
}
