package explorer

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sort"
	"testing"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
)

// longTimeline is a table of version 9 (or 6) with n instants of all actions, each with the files of
// its states: most are completed, the last few are pending. Its listing is made once, as a source
// that keeps it would.
type longTimeline struct {
	*tabletest.Files
	dir     string
	listing storage.Listing
}

func (l *longTimeline) List(ctx context.Context, dir string) (storage.Listing, error) {
	if dir == l.dir {
		return l.listing, ctx.Err()
	}
	return l.Files.List(ctx, dir)
}

func newLongTimeline(n, version int) *longTimeline {
	l := &longTimeline{Files: tabletest.New("long"), dir: ".hoodie/timeline"}
	layout := 2
	if version < 8 {
		l.dir, layout = ".hoodie", 1
	}
	l.Put(".hoodie/hoodie.properties", fmt.Appendf(nil, "hoodie.table.name=long\nhoodie.table.type=MERGE_ON_READ\nhoodie.table.version=%d\nhoodie.timeline.layout.version=%d\n", version, layout))
	l.listing.Complete = true
	start := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	stamp := func(t time.Time) string { return t.Format("20060102150405") + fmt.Sprintf("%03d", t.Nanosecond()/1e6) }
	actions := []string{"deltacommit", "deltacommit", "deltacommit", "commit", "clean", "deltacommit", "rollback", "compaction", "deltacommit", "clustering"}
	for i := range n {
		at := start.Add(time.Duration(i) * 90 * time.Second)
		requested, completed := stamp(at), stamp(at.Add(17*time.Second))
		action := actions[i%len(actions)]
		done := map[string]string{"compaction": "commit", "clustering": "replacecommit"}[action]
		if done == "" {
			done = action
		}
		if action == "clustering" && layout < 2 {
			action = "replacecommit"
		}
		inflight := "." + action + ".inflight"
		if action == "commit" {
			inflight = ".inflight"
		}
		add := func(name string, size int64) {
			l.listing.Entries = append(l.listing.Entries, storage.Entry{Name: name, Size: size, ModTime: at})
		}
		add(requested+"."+action+".requested", 0)
		add(requested+inflight, 120)
		if i < n-5 {
			if layout >= 2 {
				add(requested+"_"+completed+"."+done, 3000)
			} else {
				add(requested+"."+done, 3000)
			}
		}
	}
	sort.Slice(l.listing.Entries, func(i, j int) bool { return l.listing.Entries[i].Name < l.listing.Entries[j].Name })
	return l
}

// The budget of a timeline of 100,000 instants. The time, 2 s natively and three times that in a
// browser, is BenchmarkLongTimeline's to measure: a test on a busy machine can't.
const (
	longHeap  = 160 << 20
	longBytes = 8 << 20 // of the compact answer as JSON
	pageBytes = 200 << 10
)

// TestLongTimeline opens timelines of 100,000 instants and holds memory and the size of answers against the
// budget.
func TestLongTimeline(t *testing.T) {
	const n = 100_000
	for _, version := range []int{6, 9} {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			src := newLongTimeline(n, version)
			s := serviceOver(src)
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			a, err := s.Timeline(t.Context(), api.TimelineRequest{Table: api.Table{Location: "x"}, TimelinePage: api.TimelinePage{Compact: true}})
			if err != nil {
				t.Fatal(err)
			}
			b, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			held := int64(after.HeapAlloc) - int64(before.HeapAlloc)
			t.Logf("%d MiB held; the compact answer has %d bytes", held>>20, len(b))
			c := a.Compact
			if a.Total != n || len(c.Requested) != n || len(c.Completed) != n || len(c.Action) != n || len(c.State) != n || len(c.Missing) != n || len(a.Active) != 0 {
				t.Fatalf("total %d, columns of %d", a.Total, len(c.Requested))
			}
			if held > longHeap || len(b) > longBytes {
				t.Errorf("over the budget of %d bytes held, %d bytes of answer", longHeap, longBytes)
			}
			if c.State[n-1] != 1 || c.Completed[n-1] != "" || c.State[0] != 2 {
				t.Errorf("states %d and %d", c.State[0], c.State[n-1])
			}
			// Pages hold the same instants, in detail.
			for _, p := range []api.TimelinePage{{Limit: 100}, {Offset: 54321, Limit: 250}, {Offset: -100, Limit: 200}, {Offset: n, Limit: 10}} {
				page, err := s.Timeline(t.Context(), api.TimelineRequest{Table: api.Table{Location: "x"}, TimelinePage: p})
				if err != nil {
					t.Fatal(err)
				}
				b, _ := json.Marshal(page)
				if len(b) > pageBytes {
					t.Errorf("page %+v: %d bytes", p, len(b))
				}
				for i, x := range page.Active {
					k := page.Offset + i
					if x.Requested != c.Requested[k] || x.Completed != c.Completed[k] || x.Action != c.Actions[c.Action[k]] || len(x.Files) < 2 {
						t.Fatalf("page %+v: instant %d is %+v", p, k, x)
					}
				}
				want := min(p.Limit, n-min(page.Offset, n))
				if len(page.Active) != want {
					t.Errorf("page %+v has %d instants, want %d", p, len(page.Active), want)
				}
			}
			sum := 0
			for _, k := range a.Counts {
				sum += k
			}
			if sum != n || a.Counts["deltacommit COMPLETED"] < n/2-10 {
				t.Errorf("counts %v", a.Counts)
			}
		})
	}
}

func BenchmarkLongTimeline(b *testing.B) {
	src := newLongTimeline(100_000, 9)
	b.ReportAllocs()
	for b.Loop() {
		s := serviceOver(src)
		if _, err := s.Timeline(b.Context(), api.TimelineRequest{Table: api.Table{Location: "x"}, TimelinePage: api.TimelinePage{Compact: true}}); err != nil {
			b.Fatal(err)
		}
	}
}
