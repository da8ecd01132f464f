package table

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sync"

	"hudiscope/core/commitmeta"
	"hudiscope/core/filegroup"
	"hudiscope/core/groupreader"
	"hudiscope/core/logfile"
	"hudiscope/core/timeline"
)

// missingNotes says what of a table is gone or damaged so that rows may be missing or may be too many,
// in sentences: files that plans of pending compactions name and that are not in the listing; metadata of
// completed writes that can't be read. The metadata of the newest completed commit is returned too, nil where it was
// not read. asOf is the instant of a time travel, "" for none.
func (t *Table) missingNotes(ctx context.Context, view *filegroup.View, asOf string) ([]string, *commitmeta.CommitMetadata, error) {
	var out []string
	if t.Config.Cut != "" {
		out = append(out, t.Config.Cut)
	}
	for _, f := range slices.Concat(view.Timeline.Findings, view.Findings) {
		if f.Level == "error" && (asOf == "" || f.Title != filegroup.PassedOverTitle) {
			out = append(out, f.Title+". "+f.Detail)
		}
	}
	if detail, _ := view.PassedOverLogs(t.Config, asOf); detail != "" {
		out = append(out, filegroup.PassedOverTitle+". "+detail)
	}
	last := view.Timeline.Commits().Completed().Last()
	if last == nil || asOf != "" {
		return out, nil, nil
	}
	if last.File.Size == 0 {
		out = append(out, fmt.Sprintf("The file of the newest completed instant, %s, is empty: a crash may have left it, and which files it wrote is not known. Rows of files that are there are shown, whether or not they are whole.", last.File.Path))
	}
	m, err := view.Timeline.CommitMetadata(ctx, last)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err != nil:
		return append(out, fmt.Sprintf("The newest completed instant can't be read, so that nothing tells whether its files are all there: %v.", err)), nil, nil
	}
	if !view.Complete {
		return out, m, nil
	}
	present := map[string]map[string]bool{}
	missing := func(partition, name string) bool {
		if present[partition] == nil {
			present[partition] = namesOf(view.Partition(partition))
		}
		return name != "" && !present[partition][name]
	}
	gone, example := 0, ""
	instant := ""
	for i := range view.Compaction {
		o := &view.Compaction[i]
		if view.Timeline.IsCompleted(o.Instant) {
			continue
		}
		for _, n := range append(o.DeltaFiles(), o.DataFile()) {
			if missing(o.Partition, n) {
				gone++
				example, instant = n, o.Instant
			}
		}
	}
	if gone > 0 {
		out = append(out, fmt.Sprintf("%d files that the plan of a pending compaction names are not there, among them %s of the plan %s. What they hold is missing from these rows.", gone, example, instant))
	}
	return out, m, nil
}

// Bounds of what is read to find missing files: the newest commits, which are read at the same time and so
// take hardly longer than the newest alone; and the commits that wrote the logs of slices without a base file.
const (
	maxMissingCommits = 4
	maxMissingOrigins = 64
)

// MissingFile is a file that a read needs and that the storage does not have.
type MissingFile struct {
	// Path is relative to the table; Commit names it in its metadata.
	Path, Commit string
	Log          bool
}

// Sentence says what is missing.
func (m *MissingFile) Sentence() string {
	kind := "base file"
	if m.Log {
		kind = "log file"
	}
	return fmt.Sprintf("The %s %s, which commit %s names, is not there: what it holds is missing from these rows, and an older version may be shown in its place.", kind, m.Path, m.Commit)
}

// MissingFiles finds files that a query's slices should have and that are not in the listing. A listing does
// not tell what is absent; the newest commits of the active timeline do, and for slices that have no base file
// the commits that their log files came from. Files that are superseded, or whose group was replaced, are not
// needed: cleaning may have removed them. The notes name commits that can't be read, so that nothing tells whether
// their files are there.
func (t *Table) MissingFiles(ctx context.Context, view *filegroup.View, q Query, asOf string, chosen []groupreader.Slice) (gone []MissingFile, notes []string, err error) {
	return t.missingFiles(ctx, view, q, asOf, chosen, nil)
}

// missingFiles is MissingFiles where the metadata of the newest completed commit may have been read, nil if not.
func (t *Table) missingFiles(ctx context.Context, view *filegroup.View, q Query, asOf string, chosen []groupreader.Slice, newest *commitmeta.CommitMetadata) (gone []MissingFile, notes []string, err error) {
	if !view.Complete || view.Latest == "" {
		return nil, nil, nil
	}
	done := view.Timeline.Commits().Completed().Filter(func(i *timeline.Instant) bool { return i.Requested <= asOf }).Instants
	byTime := map[string]int{}
	for i := range done {
		byTime[done[i].Requested] = i
	}
	first := max(len(done)-maxMissingCommits, 0)
	want := []int{}
	for i := first; i < len(done); i++ {
		want = append(want, i)
	}
	slice := map[filegroup.GroupID]*groupreader.Slice{}
	origins := 0
	for i := range chosen {
		s := &chosen[i]
		slice[filegroup.GroupID{Partition: s.Partition, FileID: s.FileID}] = s
		if s.Base != "" {
			continue
		}
		for _, at := range t.origins(s) {
			if n, ok := byTime[at]; ok && n < first && origins < maxMissingOrigins && !slices.Contains(want, n) {
				want = append(want, n)
				origins++
			}
		}
	}
	unread := want
	known := newest != nil && len(done) > 0 && done[len(done)-1].Requested == view.Timeline.Commits().Completed().Last().Requested
	if known {
		unread = slices.DeleteFunc(slices.Clone(want), func(n int) bool { return n == len(done)-1 })
	}
	metas, notes, err := readCommits(ctx, view.Timeline, done, unread)
	if err != nil {
		return nil, nil, err
	}
	if known {
		metas[len(done)-1] = newest
	}
	replaced := map[filegroup.GroupID]bool{}
	for _, m := range metas {
		for _, p := range m.Replaced {
			for _, f := range p.FileIDs {
				replaced[filegroup.GroupID{Partition: p.Partition, FileID: f}] = true
			}
		}
	}
	present := map[string]map[string]bool{}
	passed := map[string]map[string]string{}
	seen := map[string]bool{}
	var out []MissingFile
	slices.Sort(want)
	for _, n := range want {
		m := metas[n]
		if m == nil {
			continue
		}
		for _, p := range m.Partitions {
			if len(q.Partitions) > 0 && !slices.Contains(q.Partitions, p.Partition) {
				continue
			}
			if present[p.Partition] == nil {
				present[p.Partition] = namesOf(view.Partition(p.Partition))
				passed[p.Partition] = view.PassedOverBases(p.Partition)
			}
			for i := range p.Stats {
				st := &p.Stats[i]
				id := filegroup.GroupID{Partition: p.Partition, FileID: st.FileID}
				if st.Path == "" || q.FileID != "" && q.FileID != st.FileID || replaced[id] {
					continue
				}
				if g := view.Group(id.Partition, id.FileID); g != nil && g.ReplacedBy != "" && g.ReplacedBy <= asOf {
					continue
				}
				// A write of logs names the base file that they belong to.
				names := []string{path.Base(st.Path)}
				if st.BaseFile != nil && *st.BaseFile != "" {
					names = append(names, path.Base(*st.BaseFile))
				}
				for _, name := range names {
					file := path.Join(p.Partition, name)
					if present[p.Partition][name] || seen[file] || !t.needs(q, slice[id], name, &done[n]) {
						continue
					}
					if b, ok := filegroup.ParseBaseName(name); ok && b.Instant < passed[p.Partition][b.FileID] {
						continue // superseded by a base file that is there, and passed over
					}
					seen[file] = true
					_, isLog := logfile.ParseName(name)
					out = append(out, MissingFile{Path: file, Commit: done[n].Requested, Log: isLog})
				}
			}
		}
	}
	// A missing base file is superseded where a later one of its group is named.
	last := map[string]string{}
	for i := range out {
		if b, ok := filegroup.ParseBaseName(path.Base(out[i].Path)); ok && !out[i].Log {
			k := path.Dir(out[i].Path) + "\x00" + b.FileID
			last[k] = max(last[k], b.Instant)
		}
	}
	out = slices.DeleteFunc(out, func(m MissingFile) bool {
		b, ok := filegroup.ParseBaseName(path.Base(m.Path))
		return ok && !m.Log && b.Instant < last[path.Dir(m.Path)+"\x00"+b.FileID]
	})
	return out, notes, nil
}

// origins are the instants whose metadata may name the base file of a slice that has none: before table version
// 8 its base instant, then those that wrote its logs.
func (t *Table) origins(s *groupreader.Slice) []string {
	out := []string{s.BaseInstant}
	for _, l := range s.Logs {
		if n, ok := logfile.ParseName(path.Base(l)); ok && !slices.Contains(out, n.Instant) {
			out = append(out, n.Instant)
			break // each of them names it
		}
	}
	return out
}

// needs reports whether a query needs a file that is not there; s is the slice that it chose of the file's
// group, nil for none, and by the commit that names the file.
func (t *Table) needs(q Query, s *groupreader.Slice, name string, by *timeline.Instant) bool {
	base := ""
	if s != nil && s.Base != "" {
		base = s.BaseInstant
		if b, ok := filegroup.ParseBaseName(path.Base(s.Base)); ok {
			base = b.Instant
		}
	}
	if l, ok := logfile.ParseName(name); ok {
		if q.Type == ReadOptimized || l.CDC {
			return false
		}
		at := l.Instant
		if t.Config.Version >= 8 {
			at = by.Completed
		}
		return at >= base
	}
	b, ok := filegroup.ParseBaseName(name)
	return ok && b.Instant > base
}

// readCommits reads the metadata of some of a timeline's completed commits, by their place. What can't be read is left
// out and named, but for the newest completed one, which missingNotes tells of.
func readCommits(ctx context.Context, tl *timeline.Timeline, done []timeline.Instant, want []int) (metas map[int]*commitmeta.CommitMetadata, notes []string, err error) {
	out := map[int]*commitmeta.CommitMetadata{}
	failed := map[int]error{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxMissingCommits)
	for _, n := range want {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if ctx.Err() != nil {
				return
			}
			m, err := tl.CommitMetadata(ctx, &done[n])
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed[n] = err
				return
			}
			out[n] = m
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	newest := tl.Commits().Completed().Last()
	for _, n := range want {
		if err := failed[n]; err != nil && (newest == nil || done[n].Requested != newest.Requested) {
			notes = append(notes, fmt.Sprintf("The completed instant %s can't be read, so that nothing tells whether its files are all there: %v.", done[n].Requested, err))
		}
	}
	return out, notes, nil
}

// namesOf are the names of a partition's files.
func namesOf(part *filegroup.Partition) map[string]bool {
	present := map[string]bool{}
	if part == nil {
		return present
	}
	for _, g := range part.Groups {
		for _, s := range g.Slices {
			if s.Base != nil {
				present[s.Base.Name] = true
			}
			for i := range s.Logs {
				present[s.Logs[i].File] = true
			}
		}
	}
	for _, o := range part.Other {
		present[o.Name] = true
	}
	return present
}
