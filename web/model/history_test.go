package model

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"hudiscope/core/api"
)

func row(values ...string) []json.RawMessage {
	out := make([]json.RawMessage, len(values))
	for i, v := range values {
		out[i] = json.RawMessage(v)
	}
	return out
}

func TestSourcesTellWhereAValueCameFrom(t *testing.T) {
	columns := []api.Column{{Name: "id"}, {Name: "a"}, {Name: "b"}, {Name: "sum"}}
	s := &api.SliceHistory{
		Versions: []api.Version{
			{Kind: "base", Outcome: "superseded", Row: row(`1`, `"old"`, `{"x": 1}`, `3`)},
			{Kind: "data", Outcome: "not read", Row: row(`1`, `"bad"`, `null`, `9`)},
			// A partial update carries only a; its null for b says nothing.
			{Kind: "data", Outcome: "merged", Row: row(`1`, `"new"`, `null`, `4`), Missing: []string{"b"}},
			{Kind: "data", Outcome: "lost", Row: row(`1`, `"new"`, `{"x":1}`, `4`)},
		},
		Result: "row", Row: row(`1`, `"new"`, `{"x":1}`, `7`),
	}
	if got, want := Sources(s, columns), []int{2, 2, 0, -1}; !reflect.DeepEqual(got, want) {
		t.Errorf("sources %v, want %v", got, want)
	}
	s.Row = row(`1`, `"new"`, `null`, `7`)
	if got := Sources(s, columns)[2]; got != -1 {
		t.Errorf("a null that no version carries comes from %d", got)
	}
}

func TestRecordKey(t *testing.T) {
	columns := []api.Column{{Name: "_hoodie_record_key", Meta: true}, {Name: "id"}, {Name: "n"}, {Name: "e"}}
	for _, c := range []struct {
		columns []api.Column
		row     []json.RawMessage
		fields  []string
		want    string
		ok      bool
	}{
		{columns, row(`"a,b"`, `"x"`, `1`, `""`), []string{"id"}, "a,b", true},
		{columns[1:], row(`"x"`, `1`, `""`), []string{"id"}, "x", true},
		{columns[1:], row(`"x"`, `12`, `""`), []string{"n"}, "12", true},
		{columns[1:], row(`"x"`, `null`, `""`), []string{"id", "n", "e"}, "id:x,n:__null__,e:__empty__", true},
		{columns[1:], row(`"x"`, `null`, `""`), []string{"n"}, "", false},
		{columns[1:], row(`"x"`, `1`, `""`), nil, "", false},
	} {
		if got, ok := RecordKey(c.columns, c.row, c.fields); got != c.want || ok != c.ok {
			t.Errorf("%v: %q, %v", c.fields, got, ok)
		}
	}
}

func ref(f, b int) api.BlockRef { return api.BlockRef{File: f, Block: b} }

func scan() *api.Scan {
	v := func(kind, instant string, block int) *api.Version {
		return &api.Version{Kind: kind, Instant: instant, Block: block}
	}
	return &api.Scan{
		Blocks: api.Blocks{Files: []api.LogFile{{Blocks: make([]api.Block, 3)}, {Blocks: make([]api.Block, 1)}}},
		Steps: []api.ScanStep{
			{Kind: "read", Block: ref(0, 0)},
			{Kind: "push", Block: ref(0, 0)},
			{Kind: "read", Block: ref(0, 1)},
			{Kind: "push", Block: ref(0, 1)},
			{Kind: "read", Block: ref(0, 2)},
			{Kind: "rollback", Block: ref(0, 2), Removed: []api.BlockRef{ref(0, 1), ref(7, 7)}, Why: "rolled back"},
			{Kind: "skip", Block: ref(1, 0), Why: "not completed"},
			{Kind: "pop", Block: ref(0, 0)},
			{Kind: "record", Block: ref(0, 0), Record: &api.RecordStep{Key: "k", Stage: "log", New: v("data", "1", 0), Winner: "new", Keys: 1}},
			{Kind: "record", Block: ref(0, 0), Record: &api.RecordStep{Key: "k", Stage: "log", Old: v("data", "1", 0), New: v("data", "0", 0), Winner: "old", Keys: 1}},
			{Kind: "record", Block: ref(0, 0), Record: &api.RecordStep{Key: "k", Stage: "base", Old: v("base", "0", -1), New: v("data", "1", 0), Winner: "removed"}},
		},
	}
}

func TestFrameAtEveryStep(t *testing.T) {
	s := scan()
	if f := FrameAt(s, 0); f.Status[0][0] != Seen || f.Status[0][1] != Ahead {
		t.Errorf("after the first read: %v", f.Status)
	}
	if f := FrameAt(s, 4); f.Status[0][0] != Queued || f.Status[0][1] != Queued || f.Status[0][2] != Seen {
		t.Errorf("before the rollback: %v", f.Status)
	}
	f := FrameAt(s, 6)
	if f.Status[0][1] != RolledBack || f.Why[ref(0, 1)] != "rolled back" || f.Status[1][0] != Skipped || f.Status[0][0] != Queued {
		t.Errorf("after the rollback: %v %v", f.Status, f.Why)
	}
	if f := FrameAt(s, 9); len(f.Keys) != 1 || f.Keys[0].Version.Instant != "1" || f.Keys[0].Winner != "old" || f.Keys[0].Versions != 2 || f.Keys[0].Base {
		t.Errorf("the map: %+v", f.Keys)
	}
	if f := FrameAt(s, 99); f.Keys[0].Version != nil || !f.Keys[0].Base || f.Keys[0].At != 10 || f.Status[0][0] != Merged {
		t.Errorf("at the end: %+v", f)
	}
	if StepOf(s, ref(0, 2)) != 4 || StepOf(s, ref(5, 5)) != -1 {
		t.Error("the first step of a block")
	}
	for i := range s.Steps {
		if StepTitle(&s.Steps[i]) == "" {
			t.Errorf("step %d has no title", i)
		}
	}
}

func TestExtentStaysInside(t *testing.T) {
	e := Whole
	for i := range 400 {
		around := float64(i%11) / 10
		factor := 0.6
		if i%7 == 0 {
			factor = 3
		}
		e = e.Zoom(factor, around).Pan(float64(i%5) - 2).MoveTo(float64(i%9) / 8)
		if e.A < 0 || e.B > 1+1e-12 || !(e.B > e.A) || math.IsNaN(e.A) {
			t.Fatalf("step %d: %+v", i, e)
		}
	}
	z := Whole.Zoom(0.5, 0.25)
	if math.Abs(z.A-0.125) > 1e-9 || math.Abs(z.B-0.625) > 1e-9 {
		t.Errorf("zoom around a quarter: %+v", z)
	}
}

func TestLongTimelinesAreCounted(t *testing.T) {
	c := &api.CompactTimeline{Actions: []string{"commit", "clean"}}
	const n = 100000
	var requested, completed strings.Builder
	for i := range n {
		at, done := itoa(20260101000000000+int64(i/60000)*100000+int64(i%60000)), ""
		flags := uint8(0)
		if i%1000 != 0 {
			done, flags = at, api.CompactCompleted
		}
		requested.WriteString(at + " ")
		completed.WriteString(done + " ")
		c.Action, c.Flags = append(c.Action, uint8(i%2)), append(c.Flags, flags)
	}
	c.Requested, c.Completed = requested.String(), completed.String()
	list, err := InstantsIn(c)
	if err != nil {
		t.Fatal(err)
	}
	if x := list.At(1); list.Len() != n || x.Action != "clean" || x.State != "COMPLETED" || x.CompletedFrom != "name" || list.At(0).State != "REQUESTED" {
		t.Fatalf("%d instants, %+v", list.Len(), x)
	}
	chart := NewChart(list, InSteps)
	p := chart.Lay(1200, Whole)
	if p.Inside != n || p.Width != 1200 {
		t.Errorf("%d inside %v", p.Inside, p.Width)
	}
	total, pend := 0, 0
	for _, l := range p.Lanes {
		if len(l.Bars) > 0 || len(l.Bins) > 250 {
			t.Errorf("%d bars, %d bins", len(l.Bars), len(l.Bins))
		}
		for _, b := range l.Bins {
			total += b.Count
			pend += b.Pending
			if b.X < 0 || b.X+b.W > p.Width || b.Count > l.Most {
				t.Errorf("bin %+v", b)
			}
		}
	}
	if total != n || pend != n/1000 {
		t.Errorf("%d in bins, %d pending", total, pend)
	}
	// Zooming in far enough draws them one by one again: exactly those of the part.
	part := Extent{0.5, 0.505}
	p = chart.Lay(1200, part)
	seen := map[int]bool{}
	for _, l := range p.Lanes {
		for _, b := range l.Bars {
			seen[b.Index] = true
		}
	}
	for i := 50000; i < 50500; i++ {
		if !seen[i] {
			t.Fatalf("instant %d is not drawn", i)
		}
	}
	if seen[49000] || seen[51000] {
		t.Error("instants outside are drawn")
	}
	sum := 0
	for _, d := range chart.Density(100) {
		sum += d
	}
	if sum != n {
		t.Errorf("density of %d", sum)
	}
}
