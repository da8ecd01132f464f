package query_test

import (
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/logfile"
	"hudiscope/core/query"
	"hudiscope/core/release"
	"hudiscope/core/table"
	"hudiscope/core/tabletest"
	"hudiscope/core/timeline"
)

// written is a data file that a commit wrote.
type written struct {
	path, group, instant string
	log                  bool
	// base is the base instant of a log file below version 8.
	base string
}

// history is all that the completed commits of a table wrote and replaced, archived ones included.
func history(t *testing.T, tab *table.Table) (commits []string, completed map[string]string, files []written, replaced map[string]string) {
	t.Helper()
	tl, err := tab.Timeline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	completed, replaced = map[string]string{}, map[string]string{}
	a, err := tab.Archived(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var old []timeline.ArchivedInstant
	for _, x := range a.Instants {
		switch x.Action {
		case timeline.Commit, timeline.DeltaCommit, timeline.ReplaceCommit, timeline.Clustering:
			if x.State == timeline.Completed {
				old = append(old, x)
				completed[x.Requested] = x.Completed
			}
		}
	}
	metas, err := tab.ArchivedCommits(t.Context(), old)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tl.Commits().Completed().Instants {
		m, err := tl.CommitMetadata(t.Context(), &x)
		if err != nil {
			t.Fatal(err)
		}
		metas[x.Requested], completed[x.Requested] = m, x.Completed
	}
	for at, m := range metas {
		commits = append(commits, at)
		for _, p := range m.Partitions {
			for _, s := range p.Stats {
				w := written{path: path.Join(tab.Config.Root, s.Path), group: p.Partition + "\x00" + s.FileID, instant: at}
				if l, ok := logfile.ParseName(path.Base(s.Path)); ok {
					w.log, w.base = true, l.Instant
				}
				files = append(files, w)
			}
		}
		for _, p := range m.Replaced {
			for _, id := range p.FileIDs {
				replaced[p.Partition+"\x00"+id] = at
			}
		}
	}
	slices.Sort(commits)
	return commits, completed, files, replaced
}

// lacking are the files that the table had as of an instant and lacks now, by what the commits say.
func lacking(tab *table.Table, there map[string]bool, at string, completed map[string]string, files []written, replaced map[string]string) (out []string) {
	base := map[string]string{}
	for _, w := range files {
		if !w.log && w.instant <= at {
			base[w.group] = max(base[w.group], w.instant)
		}
		if w.log && w.instant <= at && tab.Config.Version < 8 {
			base[w.group] = max(base[w.group], w.base)
		}
	}
	for _, w := range files {
		if r := replaced[w.group]; r != "" && r <= at || w.instant > at || there[w.path] {
			continue
		}
		slice := w.instant
		if w.log {
			if slice = w.base; tab.Config.Version >= 8 {
				slice = completed[w.instant]
			}
		}
		if slice >= base[w.group] {
			out = append(out, w.path)
		}
	}
	return out
}

// TestTravelCleaned travels to every commit of tables that were cleaned, archived ones included, and holds
// what is refused against what the commits say was written and the storage lacks: the oldest instant that
// is named is the oldest after the one asked for that has all its files.
func TestTravelCleaned(t *testing.T) {
	refusals, answers := 0, 0
	for _, name := range tabletest.Names(t, "timeline.json") {
		if !strings.HasPrefix(name, "archived_") && !strings.HasPrefix(name, "mor_compacted") && !strings.HasPrefix(name, "cow_trips") && !strings.HasPrefix(name, "savepoint_") &&
			!strings.HasPrefix(name, "replace_") && !strings.HasPrefix(name, "schema_on_read") {
			continue
		}
		tab := open(t, name, "")
		commits, completed, files, replaced := history(t, tab)
		there := map[string]bool{}
		for _, f := range tabletest.Open(t, name).Paths() {
			there[f] = true
		}
		lacks := func(at string) []string { return lacking(tab, there, at, completed, files, replaced) }
		for i, at := range commits {
			missing := lacks(at)
			_, err := prepare(t, tab, "as.of.instant", at)
			var r *query.Refused
			switch {
			case len(missing) == 0 && err != nil:
				t.Errorf("%s as of %s: all files are there: %v", name, at, err)
			case len(missing) > 0 && !errors.As(err, &r):
				t.Errorf("%s as of %s: %v is gone, and the answer is %v", name, at, missing, err)
			case err != nil:
				refusals++
				want := "The latest rows can be read"
				for _, x := range commits[i+1:] {
					if len(lacks(x)) == 0 {
						want = "The oldest instant that can still be read is " + x + "."
						break
					}
				}
				if !strings.Contains(r.Try, want) {
					t.Errorf("%s as of %s: %q, want %q", name, at, r.Try, want)
				}
			default:
				answers++
			}
		}
	}
	t.Logf("%d refused, %d answered", refusals, answers)
	if refusals < 10 || answers < 10 {
		t.Errorf("only %d refused and %d answered", refusals, answers)
	}
}

// TestRangeCleaned asks cleaned tables for the rows of every range of commits: what is refused names a start
// that works, and no earlier one does.
func TestRangeCleaned(t *testing.T) {
	refusals, answers := 0, 0
	for _, name := range tabletest.Names(t, "timeline.json") {
		if !strings.HasPrefix(name, "archived_") && !strings.HasPrefix(name, "mor_compacted") && !strings.HasPrefix(name, "cow_trips") {
			continue
		}
		tab := open(t, name, "")
		commits, completed, _, _ := history(t, tab)
		if len(commits) > 14 {
			commits = commits[len(commits)-14:]
		}
		var times []string
		for _, c := range commits {
			if tab.Config.Version >= 8 {
				c = completed[c]
			}
			times = append(times, c)
		}
		slices.Sort(times)
		for j, end := range times {
			works := make([]bool, j)
			tries := make([]string, j)
			for i := j - 1; i >= 0; i-- {
				p, err := prepare(t, tab, optType, "incremental", optBegin, times[i], optEnd, end)
				var r *query.Refused
				switch {
				case err == nil:
					works[i] = true
					answers++
					if len(p.Failures) > 0 && p.Failures[0].ID == release.FilesGone {
						t.Errorf("%s (%s, %s]: files are gone, and that is not refused", name, times[i], end)
					}
				case errors.As(err, &r) && strings.Contains(r.Message, "The cleaner removed"):
					refusals++
					tries[i] = r.Try
				default:
					t.Errorf("%s (%s, %s]: %v", name, times[i], end, err)
				}
			}
			for i, try := range tries {
				if try == "" {
					continue
				}
				want := "No start before this end works any more"
				for k := range works {
					if works[k] && k > i {
						want = "The oldest start that still works is " + times[k] + "."
						break
					}
				}
				if !strings.Contains(try, want) {
					t.Errorf("%s (%s, %s]: %q, want %q", name, times[i], end, try, want)
				}
			}
		}
	}
	t.Logf("%d refused, %d answered", refusals, answers)
	if refusals < 3 || answers < 10 {
		t.Errorf("only %d refused and %d answered", refusals, answers)
	}
}
