package filegroup

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"

	"hudiscope/core/commitmeta"
	"hudiscope/core/timeline"
)

const (
	// maxWriterInstants bounds the commits and rollbacks whose metadata is read to find who wrote log files.
	maxWriterInstants = 1000
	// writersAtOnce is how many of them are read together.
	writersAtOnce = 8
	// maxWriterLogs bounds the log files whose blocks are looked at because no instant names them.
	maxWriterLogs = 64
)

// logWriters is what NameLogs found, shared by all copies of a view.
type logWriters struct {
	mu sync.Mutex
	// named are files that an instant names, unnamed those that none does, by path. Of a file in
	// neither nothing is known.
	named   map[string]bool
	unnamed map[string]unnamedLog
	// undone are the targets of completed rollbacks, with the rollback.
	undone map[string]string
}

// unnamedLog is a log file that no instant names.
type unnamedLog struct {
	state FileState
	why   string
}

// NameLogs finds out, in a table below version 8, which log files no completed commit and no completed
// rollback or restore names: there the name of a log file tells the slice and not the writer. It looks at
// the given partitions, all of them when there are none, and reads the metadata of instants from the newest
// one back until every log file is named, at most 1,000 of them. Files of slices that began before the active
// timeline are left alone: those that named them are archived. instants gives the instants of a file's
// blocks, to tell the file of a pending write from one of a write that failed; nil leaves that out.
//
// What it finds is kept for this view and all made of it, and told by WriterState. Metadata that is damaged names nothing.
func (v *View) NameLogs(ctx context.Context, partitions []string, instants func(ctx context.Context, l *LogFile) ([]string, error)) error {
	if v.Version >= 8 || v.ByMetadata {
		return nil
	}
	type key struct{ partition, name string }
	w := v.writers
	w.mu.Lock()
	defer w.mu.Unlock()
	open := map[key]*LogFile{}
	oldest := ""
	for _, p := range v.Partitions {
		if len(partitions) > 0 && !slices.Contains(partitions, p.Path) {
			continue
		}
		for _, g := range p.Groups {
			for _, s := range g.Slices {
				if s.BaseInstant < v.doneFirst || v.doneFirst == "" {
					continue
				}
				for i := range s.Logs {
					l := &s.Logs[i]
					if _, known := w.unnamed[l.Path]; known || w.named[l.Path] {
						continue
					}
					open[key{p.Path, l.File}] = l
					if oldest == "" || l.Instant < oldest {
						oldest = l.Instant
					}
				}
			}
		}
	}
	tl := v.Timeline.Completed()
	left := maxWriterInstants
	for i := len(tl.Instants) - 1; i >= 0 && len(open) > 0; {
		var batch []*timeline.Instant
		for ; i >= 0 && len(batch) < writersAtOnce; i-- {
			switch x := &tl.Instants[i]; {
			case x.Requested < oldest:
				i = 0 // the log of a slice is written at its base instant or later
			case namesFiles(x.Action):
				batch = append(batch, x)
			}
		}
		if left -= len(batch); left < 0 {
			return nil // the rest is not known
		}
		errs := make([]error, len(batch))
		targets := make([][]string, len(batch))
		found := make([][][2]string, len(batch))
		var wg sync.WaitGroup
		for n, x := range batch {
			wg.Go(func() {
				errs[n] = filesNamed(ctx, tl, x, func(partition, name string) {
					found[n] = append(found[n], [2]string{partition, path.Base(name)})
				}, func(target string) { targets[n] = append(targets[n], target) })
			})
		}
		wg.Wait()
		for n, err := range errs {
			if err != nil && !tolerable(err) {
				return err
			}
			for _, t := range targets[n] {
				w.undone[t] = batch[n].Requested
			}
			for _, f := range found[n] {
				if l := open[key{f[0], f[1]}]; l != nil {
					w.named[l.Path] = true
					delete(open, key{f[0], f[1]})
				}
			}
		}
	}
	list := make([]*LogFile, 0, len(open))
	for _, l := range open {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b *LogFile) int { return strings.Compare(a.Path, b.Path) })
	for n, l := range list {
		found := unnamedLog{FileOrphan, NoInstantNames}
		if instants != nil && n < maxWriterLogs {
			of, err := instants(ctx, l)
			if err != nil {
				if !tolerable(err) {
					return err
				}
				of = nil
			}
			found = v.unnamedBy(of, w.undone)
		}
		w.unnamed[l.Path] = found
	}
	return nil
}

// NoInstantNames begins the reason of a log file that no instant names.
const NoInstantNames = "no instant of the active timeline names it"

// unnamedBy tells what a log file is that no instant names and whose blocks are of some instants.
func (v *View) unnamedBy(blocks []string, undone map[string]string) unnamedLog {
	for _, t := range blocks {
		found := v.Timeline.Find(t)
		for i := range found {
			if x := &found[i]; !x.IsCompleted() && !slices.ContainsFunc(found, func(y timeline.Instant) bool { return y.IsCompleted() && namesFiles(y.Action) }) {
				return unnamedLog{FileUncommitted, "its blocks are of the " + string(x.Action) + " " + t + ", which is " + x.State.String()}
			}
		}
	}
	if len(blocks) == 0 {
		return unnamedLog{FileOrphan, NoInstantNames}
	}
	for _, t := range blocks {
		if slices.ContainsFunc(v.Timeline.Find(t), func(x timeline.Instant) bool {
			return x.IsCompleted() && (x.Action == timeline.Rollback || x.Action == timeline.Restore)
		}) {
			return unnamedLog{FileCommitted, ""} // some releases write another path in place of the log file that a rollback wrote
		}
	}
	if by := undone[blocks[0]]; by != "" && !slices.ContainsFunc(blocks, func(t string) bool { return undone[t] == "" }) {
		// It stays until the slice is cleaned; readers pass its blocks over.
		return unnamedLog{FileCommitted, "its blocks are of " + blocks[0] + ", which the rollback " + by + " undid"}
	}
	for _, t := range blocks {
		if v.done.Contains(t) {
			return unnamedLog{FileOrphan, NoInstantNames + "; blocks of it are of " + t + ", which is completed, so they are read"}
		}
	}
	return unnamedLog{FileOrphan, NoInstantNames + "; its blocks are of " + blocks[0] + ", which the timeline does not have"}
}

// namesFiles reports whether the metadata of an action names files that it wrote.
func namesFiles(a timeline.Action) bool {
	switch a {
	case timeline.Commit, timeline.DeltaCommit, timeline.ReplaceCommit, timeline.Rollback, timeline.Restore:
		return true
	}
	return false
}

// filesNamed calls yield for each file that the metadata of a completed instant names as written, and undone for each
// instant that it has rolled back.
func filesNamed(ctx context.Context, tl *timeline.Timeline, x *timeline.Instant, yield func(partition, name string), undone func(target string)) error {
	rollback := func(m *commitmeta.RollbackMetadata) {
		for _, t := range m.Commits {
			undone(t)
		}
		for _, p := range m.Partitions {
			for n := range p.RollbackLogs {
				yield(p.Partition, n)
			}
			for n := range p.LogsFromWrite {
				yield(p.Partition, n)
			}
		}
	}
	if x.Action != timeline.Rollback && x.Action != timeline.Restore {
		m, err := tl.CommitMetadata(ctx, x)
		if err != nil {
			return err
		}
		for _, p := range m.Partitions {
			for i := range p.Stats {
				s := &p.Stats[i]
				yield(p.Partition, s.Path)
				for _, n := range s.LogFiles {
					yield(p.Partition, n)
				}
				for n := range s.CDCStats {
					yield(p.Partition, n)
				}
			}
		}
		return nil
	}
	if x.Action == timeline.Rollback {
		m, err := timeline.ReadAs(ctx, tl, x.File, commitmeta.ParseRollback)
		if err == nil {
			rollback(m)
		}
		return err
	}
	m, err := timeline.ReadAs(ctx, tl, x.File, commitmeta.ParseRestore)
	if err != nil {
		return err
	}
	for _, list := range m.Rollbacks {
		for i := range list {
			rollback(&list[i])
		}
	}
	return nil
}

// WriterState is LogState as far as readers go by the name of a log file, and beyond that what NameLogs found
// out about its writer. Readers below version 8 take such a file and decide block by block.
func (v *View) WriterState(g *Group, s *Slice, l *LogFile) (state FileState, why string) {
	state, why = v.LogState(g, s, l)
	if state != FileCommitted && state != FileCDC {
		return state, why
	}
	v.writers.mu.Lock()
	defer v.writers.mu.Unlock()
	if u, ok := v.writers.unnamed[l.Path]; ok && (state == FileCommitted || u.state == FileUncommitted) {
		return u.state, u.why
	}
	return state, why
}
