package table

import (
	"context"
	"slices"
	"strings"
	"sync"

	"hudiscope/core/filegroup"
	"hudiscope/core/groupreader"
	"hudiscope/core/storage"
	"hudiscope/core/storage/ahead"
	"hudiscope/core/timeline"
)

// Bounds of what is asked for before it is needed.
const (
	// aheadCommits is how many of the newest commits are read together: a schema, and a file that has
	// records, are nearly always found in them.
	aheadCommits = 3
	// aheadFiles and aheadBytes bound the files of the slices behind the one that is read.
	aheadFiles = 6
	aheadBytes = 4 << 20
	// sliceFiles bounds the files of one slice.
	sliceFiles = 32
)

// file is an instant's file as one that will be needed.
func file(f timeline.File) ahead.File { return ahead.File{Path: f.Path, Size: f.Size, Whole: true} }

// readCommits asks for the metadata of the newest of commits.
func (t *Table) readCommits(ctx context.Context, commits []timeline.Instant) {
	if t.Ahead == nil {
		return
	}
	var out []ahead.File
	for _, i := range commits[max(0, len(commits)-aheadCommits):] {
		out = append(out, file(i.File))
	}
	slices.Reverse(out)
	t.Ahead.Read(ctx, out...)
}

// readPlans asks for what a view takes from the timeline: replacecommits, and the plans of pending
// compactions and clusterings.
func (t *Table) readPlans(ctx context.Context, tl *timeline.Timeline) {
	if t.Ahead == nil {
		return
	}
	var out []ahead.File
	for i := range tl.Instants {
		x := &tl.Instants[i]
		switch {
		case x.State == timeline.Completed && x.Action == timeline.ReplaceCommit:
			out = append(out, file(x.File))
		case x.State != timeline.Completed && (x.Action == timeline.Compaction || x.Action == timeline.LogCompaction || x.Action == timeline.ReplaceCommit || x.Action == timeline.Clustering):
			if f, ok := x.FileOf(timeline.Requested); ok {
				out = append(out, file(f))
			}
		}
	}
	t.Ahead.Read(ctx, out...)
}

// ReadNext asks for what is looked at after the timeline: the newest commits. It returns at once; the
// requests end with ctx.
func (t *Table) ReadNext(ctx context.Context, tl *timeline.Timeline) {
	t.readCommits(ctx, tl.Commits().Completed().Instants)
}

// ReadNextSlice asks for what is looked at after the files of a table: the first slice that a snapshot
// reads, small files whole and of large ones the end.
func (t *Table) ReadNextSlice(ctx context.Context, v *filegroup.View) {
	if t.Ahead == nil || v.Latest == "" {
		return
	}
	for _, p := range v.Partitions {
		for _, s := range v.LatestMergedSlicesBeforeOrOn(p.Path, v.Latest) {
			slice := sliceOf(s)
			list := sliceAhead(v, slice)
			// Of a large log file there is no end to look at.
			list = slices.DeleteFunc(list, func(f ahead.File) bool { return f.Size > ahead.Whole && f.Path != slice.Base })
			t.Ahead.Read(ctx, list[:min(len(list), aheadFiles)]...)
			return
		}
	}
}

// beside runs look while the caller does something else, when asking ahead is allowed; the returned look
// waits for it, and stop ends it.
func (t *Table) beside(ctx context.Context, look func(context.Context) (*filegroup.View, error)) (wait func() (*filegroup.View, error), stop func()) {
	if t.Ahead == nil {
		return func() (*filegroup.View, error) { return look(ctx) }, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	var v *filegroup.View
	var err error
	go func() {
		defer close(done)
		v, err = look(ctx)
	}()
	return func() (*filegroup.View, error) { <-done; return v, err }, func() { cancel(); <-done }
}

// sliceAhead are the files of a slice, with their sizes as the view has them.
func sliceAhead(v *filegroup.View, s groupreader.Slice) []ahead.File {
	sizes := map[string]int64{}
	if g := v.Group(s.Partition, s.FileID); g != nil {
		for _, x := range g.Slices {
			if x.Base != nil {
				sizes[x.Base.Path] = x.Base.Size
			}
			for i := range x.Logs {
				sizes[x.Logs[i].Path] = x.Logs[i].Size
			}
		}
	}
	var out []ahead.File
	for _, f := range append(s.Logs[:min(len(s.Logs), sliceFiles):min(len(s.Logs), sliceFiles)], s.Base) {
		if f == "" {
			continue
		}
		size, ok := sizes[f]
		if !ok {
			size = storage.SizeUnknown
		}
		out = append(out, ahead.File{Path: f, Size: size})
	}
	return out
}

// readSlices asks for the files of the first of some slices, and of those behind it up to the bounds.
// seen has the files that were asked for.
func (t *Table) readSlices(ctx context.Context, v *filegroup.View, list []groupreader.Slice, seen *askedFiles) {
	if t.Ahead == nil || v == nil {
		return
	}
	files, bytes := 0, int64(0)
	var all []ahead.File
	for n, s := range list {
		var ask []ahead.File
		for _, f := range sliceAhead(v, s) {
			if n > 0 {
				// What a large file brings ahead is its end only, and what is not known counts as if it were.
				files++
				bytes += min(max(f.Size, ahead.Footer), ahead.Whole)
			}
			if seen.add(f.Path) {
				ask = append(ask, f)
			}
		}
		if files > aheadFiles || bytes > aheadBytes {
			seen.remove(ask)
			break
		}
		all = append(all, ask...)
	}
	t.Ahead.Read(ctx, all...)
}

// askedFiles are files that were asked for ahead.
type askedFiles struct {
	mu    sync.Mutex
	paths map[string]bool
}

// add reports whether the file is new.
func (a *askedFiles) add(path string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.paths[path] {
		return false
	}
	if a.paths == nil {
		a.paths = map[string]bool{}
	}
	a.paths[path] = true
	return true
}

func (a *askedFiles) remove(files []ahead.File) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range files {
		delete(a.paths, f.Path)
	}
}

// readAhead asks for the files of a slice that is about to be read, and of those behind it.
func (p *Plan) readAhead(ctx context.Context, s groupreader.Slice) {
	if p.t.Ahead == nil || p.view == nil {
		return
	}
	list := []groupreader.Slice{s}
	i := slices.IndexFunc(p.Slices, func(x groupreader.Slice) bool {
		return x.Partition == s.Partition && x.FileID == s.FileID && x.BaseInstant == s.BaseInstant
	})
	if i >= 0 {
		list = append(list, p.Slices[i+1:min(len(p.Slices), i+1+aheadFiles)]...)
	}
	p.t.readSlices(ctx, p.view, list, p.asked)
}

// listsByMetadata reports whether the table may be listed by its metadata table: it has one that is
// ready, no files of changed data (which it does not name), and lies where each listing is a request.
func (t *Table) listsByMetadata() bool {
	c := t.Config
	_, remote := t.Src.(storage.Prefetcher)
	return remote && c.CDC() == "" && slices.ContainsFunc(c.MetadataPartitions(), isFiles) && !slices.ContainsFunc(c.MetadataPartitionsInflight(), isFiles)
}

func isFiles(partition string) bool { return strings.TrimSpace(partition) == "files" }
