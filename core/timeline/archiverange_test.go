package timeline_test

import (
	"context"
	"strings"
	"testing"

	"hudiscope/core/config"
	"hudiscope/core/storage"
	"hudiscope/core/storage/storagetest"
	"hudiscope/core/tabletest"
	"hudiscope/core/timeline"
)

// probed opens the timeline of a table behind a source that counts what is read.
func probed(t *testing.T, name string) (*storagetest.Probe, *config.Config, *timeline.Timeline) {
	t.Helper()
	p := &storagetest.Probe{Src: tabletest.Open(t, name)}
	c, err := config.Load(t.Context(), p, "")
	if err != nil {
		t.Fatal(err)
	}
	tl, err := timeline.Load(t.Context(), p, c)
	if err != nil {
		t.Fatal(err)
	}
	p.Reset()
	return p, c, tl
}

func bytesRead(p *storagetest.Probe) (total int64, files map[string]int64) {
	files = map[string]int64{}
	for _, r := range p.Reads() {
		if strings.Contains(r.Path, "manifest") || strings.HasSuffix(r.Path, "_version_") {
			continue
		}
		total += r.Len
		files[r.Path] += r.Len
	}
	return total, files
}

// TestArchivedRange holds ranges of the archived timeline against the whole of it, in both layouts,
// and counts the bytes: files that the range does not need are not touched.
func TestArchivedRange(t *testing.T) {
	for _, c := range []struct {
		name string
		rows timeline.ReadRows
	}{{"archived_mor_h0150", nil}, {"archived_mor_h120", readRows}} {
		t.Run(c.name, func(t *testing.T) {
			p, cfg, tl := probed(t, c.name)
			all, err := tl.LoadArchived(t.Context(), cfg, c.rows)
			if err != nil {
				t.Fatal(err)
			}
			whole, files := bytesRead(p)
			if len(files) < 3 {
				t.Fatalf("the archive has %d files: too few for a range to tell", len(files))
			}
			times := []string{}
			for _, i := range all.Instants {
				if len(times) == 0 || times[len(times)-1] != i.Requested {
					times = append(times, i.Requested)
				}
			}
			// Without what reading the whole archive has told about its files.
			fresh, freshConfig, freshTimeline := probed(t, c.name)
			if _, err := freshTimeline.LoadArchivedRange(t.Context(), freshConfig, c.rows, timeline.Range{From: times[len(times)-3]}); err != nil {
				t.Fatal(err)
			}
			if n, _ := bytesRead(fresh); n*2 > whole {
				t.Errorf("the newest instants read %d of %d bytes", n, whole)
			}
			for _, r := range []timeline.Range{
				{From: times[len(times)-3]},
				{From: times[len(times)/2], To: times[len(times)/2]},
				{To: times[1]},
				{Limit: 4},
				{Limit: 3, To: times[len(times)-4]},
				{Limit: 10000},
				{From: "3"},
				{To: "1"},
				{From: times[2], To: times[5]},
			} {
				want := []timeline.ArchivedInstant{}
				for _, i := range all.Instants {
					if (r.From == "" || i.Requested >= r.From) && (r.To == "" || i.Requested <= r.To) {
						want = append(want, i)
					}
				}
				if r.Limit > 0 && len(want) > r.Limit {
					n := len(want) - r.Limit
					for n > 0 && want[n-1].Requested == want[n].Requested {
						n--
					}
					want = want[n:]
				}
				p.Reset()
				got, err := tl.LoadArchivedRange(t.Context(), cfg, c.rows, r)
				if err != nil {
					t.Fatal(err)
				}
				n, part := bytesRead(p)
				t.Logf("%+v: %d instants, %d of %d bytes, %d of %d files", r, len(got.Instants), n, whole, len(part), len(files))
				if len(got.Instants) != len(want) {
					t.Errorf("%+v: %d instants, want %d", r, len(got.Instants), len(want))
					continue
				}
				for i := range want {
					if got.Instants[i] != want[i] {
						t.Errorf("%+v: instant %d is %+v, want %+v", r, i, got.Instants[i], want[i])
					}
				}
				if r.Limit > 0 && got.More != (want[0].Requested > times[0]) {
					t.Errorf("%+v: more is %v", r, got.More)
				}
				if r.From == times[2] && n*2 > whole {
					// The whole archive was read above: what times the files hold is known by now.
					t.Errorf("%+v read %d of %d bytes", r, n, whole)
				}
				newest := r.From == times[len(times)-3] || r.Limit == 4
				if newest && n*2 > whole {
					t.Errorf("%+v read %d of %d bytes", r, n, whole)
				}
				if r.From == "3" && c.rows != nil && n != 0 {
					t.Errorf("a range without instants read %d bytes", n)
				}
			}
		})
	}
}

// TestArchivedParts decodes what the archives hold of every instant, and of one instant with the
// bytes of one file only.
func TestArchivedParts(t *testing.T) {
	for _, c := range []struct {
		name string
		rows timeline.ReadRows
	}{{"archived_mor_h0150", nil}, {"archived_mor_h120", readRows}} {
		t.Run(c.name, func(t *testing.T) {
			p, cfg, tl := probed(t, c.name)
			all, err := tl.LoadArchived(t.Context(), cfg, c.rows)
			if err != nil {
				t.Fatal(err)
			}
			seen, completed := 0, 0
			records := map[string]int{}
			err = tl.ArchivedParts(t.Context(), all.Instants, c.rows, func(i *timeline.ArchivedInstant, parts []timeline.ArchivedPart) error {
				seen++
				for _, x := range parts {
					if x.Err != nil || x.JSON == nil || x.Record == "" {
						t.Errorf("%s %s: %+v", i.Requested, i.Action, x)
					}
					records[x.Record]++
					if x.State == timeline.Completed {
						completed++
					}
				}
				if i.State == timeline.Completed && len(parts) == 0 {
					t.Errorf("%s %s has no content", i.Requested, i.Action)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if seen != len(all.Instants) || completed == 0 || records["HoodieCommitMetadata"] == 0 || records["HoodieCleanMetadata"] == 0 {
				t.Errorf("%d of %d instants, %v", seen, len(all.Instants), records)
			}
			p.Reset()
			one := all.Instants[len(all.Instants)/2]
			if err := tl.ArchivedParts(t.Context(), []timeline.ArchivedInstant{one}, c.rows, func(*timeline.ArchivedInstant, []timeline.ArchivedPart) error { return nil }); err != nil {
				t.Fatal(err)
			}
			if _, files := bytesRead(p); len(files) != 1 || files[one.File] == 0 {
				t.Errorf("one instant of %s read %v", one.File, files)
			}
			gone := one
			gone.Requested, gone.File = "19700101000000000", one.File
			if c.rows != nil {
				if err := tl.ArchivedParts(context.Background(), []timeline.ArchivedInstant{gone}, c.rows, func(*timeline.ArchivedInstant, []timeline.ArchivedPart) error { return nil }); err == nil {
					t.Error("an instant that the file lacks gives no error")
				}
			}
			gone.File = ".hoodie/nothing"
			if err := tl.ArchivedParts(t.Context(), []timeline.ArchivedInstant{gone}, c.rows, func(*timeline.ArchivedInstant, []timeline.ArchivedPart) error { return nil }); !storage.IsNotExist(err) {
				t.Errorf("a file that is absent: %v", err)
			}
		})
	}
}
