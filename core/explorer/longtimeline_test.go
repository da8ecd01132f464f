package explorer

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sort"
	"strings"
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
	longBytes = 5 << 20 // of all compact pages as JSON
	// compactPage is how many instants the page asks for at a time.
	compactPage = 5000
	pageBytes   = 220 << 10
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
			// As the page asks: the newest first, then the rest without what is about the whole.
			var requested, completed []string
			var actions []string
			var flags []uint8
			var a *api.Timeline
			bytes := 0
			for to := n; to > 0; to -= compactPage {
				x, err := s.Timeline(t.Context(), api.TimelineRequest{Table: api.Table{Location: "x"},
					TimelinePage: api.TimelinePage{Offset: to - compactPage, Limit: compactPage, Compact: true, Bare: a != nil}})
				if err != nil {
					t.Fatal(err)
				}
				if a == nil {
					a = x
				} else if x.Counts != nil || x.Finding != nil || x.Ignored != nil {
					t.Fatal("a bare page tells about the whole")
				}
				b, err := json.Marshal(x)
				if err != nil {
					t.Fatal(err)
				}
				if bytes += len(b); len(b) > pageBytes {
					t.Errorf("a page of %d bytes", len(b))
				}
				c := x.Compact
				if x.Total != n || x.Offset != to-compactPage || len(x.Active) != 0 || len(c.Action) != compactPage || len(c.Flags) != compactPage {
					t.Fatalf("total %d, from %d, columns of %d", x.Total, x.Offset, len(c.Action))
				}
				requested = append(strings.Split(strings.TrimSuffix(c.Requested, " "), " "), requested...)
				completed = append(strings.Split(strings.TrimSuffix(c.Completed, " "), " "), completed...)
				flags = append(append([]uint8{}, c.Flags...), flags...)
				var named []string
				for _, k := range c.Action {
					named = append(named, c.Actions[k])
				}
				actions = append(named, actions...)
			}
			if len(requested) != n || len(completed) != n {
				t.Fatalf("%d requested and %d completed times", len(requested), len(completed))
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			held := int64(after.HeapAlloc) - int64(before.HeapAlloc)
			t.Logf("%d MiB held; the compact pages have %d bytes", held>>20, bytes)
			if held > longHeap || bytes > longBytes {
				t.Errorf("over the budget of %d bytes held, %d bytes of answers", longHeap, longBytes)
			}
			if flags[n-1] != api.CompactInflight || completed[n-1] != "" || flags[0]&api.CompactCompleted == 0 || flags[0]&api.CompactFileTime == 0 != (version == 9) ||
				flags[7]&api.CompactCompaction == 0 || flags[6]&api.CompactCompaction != 0 {
				t.Errorf("flags %d and %d", flags[0], flags[n-1])
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
					if x.Requested != requested[k] || x.Completed != completed[k] || x.Action != actions[k] || len(x.Files) < 2 {
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
		if _, err := s.Timeline(b.Context(), api.TimelineRequest{Table: api.Table{Location: "x"}, TimelinePage: api.TimelinePage{Offset: -compactPage, Limit: compactPage, Compact: true}}); err != nil {
			b.Fatal(err)
		}
	}
}
