package timeline_test

import (
	"testing"

	"hudiscope/core/config"
	"hudiscope/core/tabletest"
	"hudiscope/core/timeline"
)

// TestGap: what is missing in the states of an instant is told, and what may be missing is not.
func TestGap(t *testing.T) {
	src := tabletest.New("table")
	src.Put(".hoodie/hoodie.properties", []byte("hoodie.table.name=t\nhoodie.table.type=MERGE_ON_READ\nhoodie.table.version=6\nhoodie.timeline.layout.version=1\n"))
	put := func(time, action string, states ...string) {
		for _, s := range states {
			src.Put(".hoodie/"+time+"."+action+s, []byte("{}"))
		}
	}
	want := map[string]timeline.Gap{}
	add := func(time, action string, gap timeline.Gap, states ...string) {
		put(time, action, states...)
		want[time] = gap
	}
	add("20240101000000001", "deltacommit", timeline.NoGap, "", ".inflight", ".requested")
	add("20240101000000002", "deltacommit", timeline.GapRequested, "", ".inflight")
	add("20240101000000003", "deltacommit", timeline.GapInflight, "", ".requested")
	add("20240101000000004", "deltacommit", timeline.GapNotCompleted, ".inflight", ".requested")
	add("20240101000000005", "deltacommit", timeline.GapNotBegun, ".requested")
	add("20240101000000006", "compaction", timeline.NoGap, ".requested")
	add("20240101000000007", "compaction", timeline.GapNotCompleted, ".inflight", ".requested")
	add("20240101000000008", "savepoint", timeline.NoGap, "", ".inflight")
	add("20240101000000009", "deltacommit", timeline.NoGap, "", ".inflight", ".requested")
	add("20240101000000010", "deltacommit", timeline.NoGap, ".inflight", ".requested")
	add("20240101000000011", "savepoint", timeline.NoGap, "", ".inflight") // a later savepoint is no write
	c, err := config.Load(t.Context(), src, "")
	if err != nil {
		t.Fatal(err)
	}
	tl, err := timeline.Load(t.Context(), src, c)
	if err != nil {
		t.Fatal(err)
	}
	if len(tl.Instants) != len(want) {
		t.Fatalf("%d instants", len(tl.Instants))
	}
	for i := range tl.Instants {
		x := &tl.Instants[i]
		if got := x.Gap(tl.LastWrite()); got != want[x.Requested] {
			t.Errorf("%s %s: gap %d, want %d", x.Requested, x.Action, got, want[x.Requested])
		}
	}
}
