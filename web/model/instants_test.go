package model

import (
	"fmt"
	"math/rand"
	"reflect"
	"sort"
	"strings"
	"testing"
	"time"

	"hudiscope/core/api"
)

func TestInstantsInColumns(t *testing.T) {
	list := instants()
	list[1].CompletedFrom, list[0].CompletedFrom, list[3].CompletedFrom, list[4].CompletedFrom = "mtime", "name", "name", "mtime"
	list[2].Operation = "COMPACT"
	l := InstantsOf(list)
	for i := range list {
		if !reflect.DeepEqual(l.At(i), list[i]) {
			t.Errorf("%+v is not %+v", l.At(i), list[i])
		}
	}
	joined := JoinInstants(InstantsOf(list[:2]), InstantsOf(nil), InstantsOf(list[2:]))
	for i := range list {
		if !reflect.DeepEqual(joined.At(i), list[i]) {
			t.Errorf("joined: %+v is not %+v", joined.At(i), list[i])
		}
	}
	if at := l.Find("20261129225105000", ""); at != 2 || l.Find("20261129225105000", "") != 2 || l.Find("20261129225105000", "clean") != -1 || l.Find("1", "") != -1 {
		t.Errorf("found at %d", at)
	}
	for _, c := range []api.CompactTimeline{
		{Requested: "1 2 ", Completed: " ", Action: []uint8{0, 0}, Actions: []string{"commit"}, Flags: []uint8{0, 0}},
		{Requested: "1 2 ", Completed: "  ", Action: []uint8{0, 1}, Actions: []string{"commit"}, Flags: []uint8{0, 0}},
		{Requested: "1 2", Completed: "  ", Action: []uint8{0, 0}, Actions: []string{"commit"}, Flags: []uint8{0, 0}},
		{Requested: "1 2 ", Completed: "  ", Action: []uint8{0, 0}, Actions: []string{"commit"}, Flags: []uint8{0}},
	} {
		if _, err := InstantsIn(&c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

// The order of an axis is that of the texts, whatever order they come in.
func TestOrderOfAnyTimes(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	stamp := func(form int) string {
		x := at.Add(time.Duration(r.Intn(1<<34)) * time.Millisecond / 7)
		switch form {
		case 0:
			return x.Format("20060102150405")
		case 1:
			return x.Format("20060102150405") + "000"
		}
		return x.Format("20060102150405") + fmt.Sprintf("%03d", x.Nanosecond()/1e6)
	}
	for _, odd := range []bool{false, true} {
		var list []api.Instant
		for i := range 5000 {
			in := api.Instant{Requested: stamp(r.Intn(3)), Action: "commit", State: "COMPLETED", Completed: stamp(r.Intn(3))}
			if i%50 == 0 {
				in.State, in.Completed = "INFLIGHT", ""
			}
			if odd && i%70 == 0 {
				in.Requested = fmt.Sprintf("%017d", i)
			}
			list = append(list, in)
		}
		l := InstantsOf(list)
		for _, axis := range []Axis{OnRequested, OnCompleted} {
			want := make([]int, len(list))
			keys := make([]string, len(list))
			for i := range list {
				want[i], keys[i] = i, list[i].Requested
				if axis == OnCompleted {
					keys[i] = list[i].Completed
					if list[i].State != "COMPLETED" {
						keys[i] = "~" + list[i].Requested
					}
				}
			}
			sort.SliceStable(want, func(a, b int) bool { return keys[want[a]] < keys[want[b]] })
			if got := order(l, axis); !reflect.DeepEqual(got, want) {
				t.Errorf("axis %q, odd %v: another order", axis, odd)
			}
		}
	}
}

func TestSearchAmongInstants(t *testing.T) {
	l := InstantsOf(instants())
	order := NewChart(l, OnRequested).Order
	for text, want := range map[string][]int{
		"2026-11-29 22:51:0":           {0, 1, 2},
		"2026112922510":                {0, 1, 2},
		"2026-11-29T22:51:10":          {0}, // its completion
		"delta":                        {0, 1},
		"pending":                      {2, 5},
		"inflight new":                 {5},
		"clean 20261129":               {3},
		"completed 2026-11-29 22:51:0": {0, 1},
		"nothing":                      nil,
	} {
		s := ParseSearch(text)
		if n := l.Count(s); n != len(want) {
			t.Errorf("%q: %d found, want %d", text, n, len(want))
		}
		var got []int
		for at := -1; len(got) < len(want); {
			if at = l.Next(s, order, at, 1); at < 0 {
				break
			}
			got = append(got, order[at])
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
		if len(want) > 1 {
			if at := l.Next(s, order, l2place(order, want[0]), -1); order[at] != want[len(want)-1] {
				t.Errorf("%q: before the first comes %d", text, order[at])
			}
		}
	}
	if !ParseSearch("  ").Empty() || l.Next(ParseSearch("nothing"), order, -1, 1) != -1 {
		t.Error("an empty search, and one that finds nothing")
	}
	if at := l.Nearest("202611292251"); at != 0 || l.Nearest("3") != -1 || l.Nearest("20261129225125") != 5 {
		t.Errorf("nearest is %d", at)
	}
	if w, more := l.Writes("", 2); !more || len(w) != 2 || w[0].Action != "commit" {
		t.Errorf("writes %+v, %v", w, more)
	}
	if w, more := l.Writes("202611", 2); more || len(w) != 2 || !strings.HasPrefix(w[1].Requested, "20261129225100") {
		t.Errorf("writes %+v, %v", w, more)
	}
}

func l2place(order []int, i int) int {
	for at, x := range order {
		if x == i {
			return at
		}
	}
	return -1
}

// BenchmarkLongChart is what the page does with 100,000 instants: decoding their pages, preparing an
// axis in no order, and laying out the whole.
func BenchmarkLongChart(b *testing.B) {
	const n, page = 100_000, 5000
	r := rand.New(rand.NewSource(1))
	start := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	stamp := func(t time.Time) string {
		return t.Format("20060102150405") + fmt.Sprintf("%03d ", t.Nanosecond()/1e6)
	}
	var pages []*api.CompactTimeline
	for from := 0; from < n; from += page {
		c := &api.CompactTimeline{Actions: []string{"commit", "clean", "rollback"}}
		var requested, completed strings.Builder
		for i := from; i < from+page; i++ {
			requested.WriteString(stamp(start.Add(time.Duration(i) * time.Minute)))
			completed.WriteString(stamp(start.Add(time.Duration(r.Intn(n)) * time.Minute)))
			c.Action, c.Flags = append(c.Action, uint8(i%3)), append(c.Flags, api.CompactCompleted)
		}
		c.Requested, c.Completed = requested.String(), completed.String()
		pages = append(pages, c)
	}
	var parts []*Instants
	b.Run("page", func(b *testing.B) {
		for b.Loop() {
			if _, err := InstantsIn(pages[0]); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, c := range pages {
		l, err := InstantsIn(c)
		if err != nil {
			b.Fatal(err)
		}
		parts = append(parts, l)
	}
	b.Run("join", func(b *testing.B) {
		for b.Loop() {
			JoinInstants(parts...)
		}
	})
	l := JoinInstants(parts...)
	for _, axis := range []Axis{OnRequested, OnCompleted} {
		b.Run("chart "+string(axis), func(b *testing.B) {
			for b.Loop() {
				NewChart(l, axis)
			}
		})
	}
	c := NewChart(l, OnRequested)
	b.Run("lay", func(b *testing.B) {
		for b.Loop() {
			c.Lay(1200, Whole)
		}
	})
}
