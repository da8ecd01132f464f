package model

import (
	"testing"

	"hudiscope/core/api"
)

// TestGaps: what is missing in the states of an instant is told, and what may be missing is not.
func TestGaps(t *testing.T) {
	const done, inflight, noReq, noInf = api.CompactCompleted, api.CompactInflight, api.CompactNoRequested, api.CompactNoInflight
	for _, c := range []struct {
		name  string
		flags [3]uint8
		acts  [3]uint8
		want  [3]string
	}{
		{"whole", [3]uint8{done, done, done}, [3]uint8{0, 0, 0}, [3]string{}},
		{"missing files", [3]uint8{done | noReq, done | noInf, inflight | noReq}, [3]uint8{0, 0, 0}, [3]string{gapRequested, gapInflight, gapRequested}},
		{"overtaken", [3]uint8{inflight, 0, done}, [3]uint8{0, 0, 0}, [3]string{gapNotDone, gapNotBegun, ""}},
		{"a plan may wait", [3]uint8{0, inflight, done}, [3]uint8{1, 1, 0}, [3]string{"", gapNotDone, ""}},
		{"at work", [3]uint8{done, inflight, 0}, [3]uint8{0, 0, 0}, [3]string{}},
		{"a savepoint has no request", [3]uint8{done, done | noReq, done}, [3]uint8{0, 2, 0}, [3]string{}},
		{"a later savepoint is no write", [3]uint8{inflight, done, done}, [3]uint8{0, 2, 2}, [3]string{}},
	} {
		l, err := InstantsIn(&api.CompactTimeline{Requested: "20240101000000001 20240101000000002 20240101000000003 ", Completed: "   ",
			Actions: []string{"deltacommit", "compaction", "savepoint"}, Action: c.acts[:], Flags: c.flags[:]})
		if err != nil {
			t.Fatal(err)
		}
		n, first := 0, -1
		for i, want := range c.want {
			if got := l.Gap(i); got != want {
				t.Errorf("%s: instant %d: %q, want %q", c.name, i, got, want)
			}
			if want != "" {
				if n++; first < 0 {
					first = i
				}
			}
		}
		if got, at := l.Gaps(); got != n || n > 0 && at != first {
			t.Errorf("%s: %d gaps from %d, want %d from %d", c.name, got, at, n, first)
		}
		l.Archived = 3
		if got, _ := l.Gaps(); got != 0 {
			t.Errorf("%s: %d gaps of archived instants", c.name, got)
		}
	}
}
