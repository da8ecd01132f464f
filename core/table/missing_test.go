package table

import (
	"path"
	"slices"
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
		out := strings.Join(p.Notes, " ")
		for i := range p.Gone {
			out += p.Gone[i].Sentence()
		}
		return out
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

// TestEveryMissingFileIsSaid removes each file that a read needs, one at a time: it is named. What the read does
// not need, because it is superseded, is not. Whole tables lack nothing.
func TestEveryMissingFileIsSaid(t *testing.T) {
	removed := 0
	for _, name := range tabletest.Names(t, "") {
		whole := tabletest.Open(t, name)
		for _, typ := range []QueryType{Snapshot, ReadOptimized} {
			tb, err := Open(t.Context(), whole, "")
			if err != nil {
				continue
			}
			q := Query{Type: typ}
			p, err := tb.Plan(t.Context(), q, nil)
			if err != nil {
				continue
			}
			if strings.HasPrefix(name, "mor_corrupt_m") {
				// A log file of it was spliced behind another and is gone.
				if typ == Snapshot && len(p.Gone) != 1 {
					t.Errorf("%s: %+v", name, p.Gone)
				}
				continue
			}
			if len(p.Gone) > 0 {
				t.Errorf("%s %s: whole, and %+v", name, typ, p.Gone)
			}
			tl, err := tb.Timeline(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			named := map[string]bool{}
			done := tl.Commits().Completed()
			recent := done.Instants[max(0, len(done.Instants)-maxMissingCommits):]
			for i := range recent {
				m, err := tl.CommitMetadata(t.Context(), &recent[i])
				if err != nil {
					continue
				}
				for _, part := range m.Partitions {
					for j := range part.Stats {
						named[path.Join(tb.Config.Root, part.Stats[j].Path)] = true
					}
				}
			}
			for i := range p.Slices {
				s := &p.Slices[i]
				for _, file := range append([]string{s.Base}, s.Logs...) {
					if file == "" || !named[file] {
						continue
					}
					damaged := tabletest.Open(t, name)
					damaged.Remove(file)
					removed++
					tb, err := Open(t.Context(), damaged, "")
					if err != nil {
						t.Fatal(err)
					}
					got, err := tb.Plan(t.Context(), q, nil)
					if err != nil {
						continue // refused: not silent
					}
					if !slices.ContainsFunc(got.Gone, func(m MissingFile) bool { return path.Join(tb.Config.Root, m.Path) == file }) {
						t.Errorf("%s %s: without %s: %+v, notes %q", name, typ, file, got.Gone, got.Notes)
					}
				}
			}
		}
	}
	if removed < 100 {
		t.Errorf("only %d files were removed", removed)
	}
}

// TestMissingBaseOfAnOldCommit: a slice that has only logs left tells by the commits of its logs what it had.
func TestMissingBaseOfAnOldCommit(t *testing.T) {
	for _, name := range []string{"mdt_full_h120", "mdt_full_h0150"} {
		tb, err := Open(t.Context(), tabletest.Open(t, name), "")
		if err != nil {
			t.Fatal(err)
		}
		p, err := tb.Plan(t.Context(), Query{Type: Snapshot}, nil)
		if err != nil {
			t.Fatal(err)
		}
		tried := 0
		for i := range p.Slices {
			if s := &p.Slices[i]; s.Base != "" && len(s.Logs) > 0 {
				f := tabletest.Open(t, name)
				f.Remove(s.Base)
				tried++
				tb, err := Open(t.Context(), f, "")
				if err != nil {
					t.Fatal(err)
				}
				got, err := tb.Plan(t.Context(), Query{Type: Snapshot}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if len(got.Gone) != 1 || !strings.HasSuffix(s.Base, got.Gone[0].Path) {
					t.Errorf("%s without %s: %+v", name, s.Base, got.Gone)
				}
			}
		}
		if tried == 0 {
			t.Errorf("%s has no slice with a base file and logs", name)
		}
	}
}

// TestUnreadableCommitIsSaid: where the metadata of an older commit can't be read, nothing tells whether its files are
// there, and the rows say so.
func TestUnreadableCommitIsSaid(t *testing.T) {
	for _, name := range []string{"mor_trips_h120", "mor_trips_h0150"} {
		f := tabletest.Open(t, name)
		tb, err := Open(t.Context(), f, "")
		if err != nil {
			t.Fatal(err)
		}
		tl, err := tb.Timeline(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		done := tl.Commits().Completed().Instants
		older := done[len(done)-2]
		f.Put(older.File.Path, []byte("\x00rubbish"))
		if tb, err = Open(t.Context(), f, ""); err != nil {
			t.Fatal(err)
		}
		p, err := tb.Plan(t.Context(), Query{Type: Snapshot}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Join(p.Notes, " "); strings.Count(n, older.Requested) == 0 || !strings.Contains(n, path.Base(older.File.Path)) {
			t.Errorf("%s: %q does not name %s", name, n, older.File.Path)
		}
	}
}
