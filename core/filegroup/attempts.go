package filegroup

import (
	"context"
	"path"

	"hudiscope/core/commitmeta"
	"hudiscope/core/timeline"
)

// Why an OtherFile that another attempt of a task left belongs to no slice.
const (
	otherAttempt = "another attempt of a task left it: its completed instant names "
	// OtherBase begins the reason of a base file that gave way to another one of the same slice.
	OtherBase = "another base file of the same slice, "
)

// attempts takes out of a partition what retried tasks left: of several files that differ in their
// write token only, those that their completed instant does not name, where it names another. Such
// files hold rows that were written twice, or should have gone elsewhere. The releases of Hudi read
// them: of base files the last in the listing, of log files all.
func (v *View) attempts(ctx context.Context, files map[string]*partitionFiles) error {
	a := &attemptNames{v: v, byInstant: map[string]map[string]bool{}}
	for _, f := range files {
		for id, list := range f.bases {
			keep, err := dropUnnamed(list, func(b *BaseFile) string { return b.Instant }, func(b *BaseFile) (map[string]bool, error) {
				return a.of(ctx, b.Instant)
			}, func(b *BaseFile) string { return b.Name }, func(b *BaseFile, named string) {
				f.other = append(f.other, OtherFile{Name: b.Name, Path: b.Path, Size: b.Size, Why: OtherBase + named + ", counts: the completed instant " + b.Instant + " names that one, and an attempt that failed left this one"})
			})
			if err != nil {
				return err
			}
			f.bases[id] = keep
		}
		for id, list := range f.logs {
			keep, err := dropUnnamed(list, func(l *LogFile) string {
				n := l.Name
				n.Token, n.Stage, n.Attempt = "", "", ""
				if v.Version >= 8 {
					n.Task = ""
				}
				// Below version 8 a rollback may write a log of the same version; only the same task's files are held
				// against each other.
				return n.String() + n.Task
			}, func(l *LogFile) (map[string]bool, error) {
				if v.Version >= 8 {
					return a.of(ctx, l.Instant)
				}
				return a.all(ctx)
			}, func(l *LogFile) string { return l.File }, func(l *LogFile, named string) {
				f.other = append(f.other, OtherFile{Name: l.File, Path: l.Path, Size: l.Size, Why: otherAttempt + named})
			})
			if err != nil {
				return err
			}
			f.logs[id] = keep
		}
	}
	return nil
}

// dropUnnamed removes from a list the files of the same key as another whose names are not among
// those that names gives, where that has the name of the other. dropped is told of each.
func dropUnnamed[F any](list []F, key func(*F) string, names func(*F) (map[string]bool, error), name func(*F) string, dropped func(f *F, named string)) ([]F, error) {
	if len(list) < 2 {
		return list, nil
	}
	count := map[string]int{}
	for i := range list {
		count[key(&list[i])]++
	}
	if len(count) == len(list) {
		return list, nil
	}
	named := map[string]string{}
	for i := range list {
		k := key(&list[i])
		if count[k] < 2 {
			continue
		}
		set, err := names(&list[i])
		if err != nil {
			return nil, err
		}
		if set[name(&list[i])] {
			named[k] = name(&list[i])
		}
	}
	var keep []F
	for i := range list {
		k := key(&list[i])
		if n := named[k]; n != "" {
			set, err := names(&list[i])
			if err != nil {
				return nil, err
			}
			if !set[name(&list[i])] {
				dropped(&list[i], n)
				continue
			}
		}
		keep = append(keep, list[i])
	}
	return keep, nil
}

// attemptNames are the names of files in the metadata of completed instants, read when they are needed.
type attemptNames struct {
	v         *View
	byInstant map[string]map[string]bool
	every     map[string]bool
}

// of returns the file names that the completed writes of an instant name.
func (a *attemptNames) of(ctx context.Context, instant string) (map[string]bool, error) {
	if set, ok := a.byInstant[instant]; ok {
		return set, nil
	}
	set := map[string]bool{}
	done := a.v.Timeline.Write().Completed()
	found := done.Find(instant)
	for i := range found {
		if err := addNames(ctx, done, &found[i], set); err != nil {
			return nil, err
		}
	}
	a.byInstant[instant] = set
	return set, nil
}

// all returns the file names that any completed write or rollback of the active timeline names.
func (a *attemptNames) all(ctx context.Context) (map[string]bool, error) {
	if a.every != nil {
		return a.every, nil
	}
	set := map[string]bool{}
	done := a.v.Timeline.Completed()
	for i := range done.Instants {
		x := &done.Instants[i]
		switch x.Action {
		case timeline.Commit, timeline.DeltaCommit, timeline.ReplaceCommit:
			if err := addNames(ctx, done, x, set); err != nil {
				return nil, err
			}
		case timeline.Rollback:
			m, err := timeline.ReadAs(ctx, done, x.File, commitmeta.ParseRollback)
			if err != nil {
				if !tolerable(err) {
					return nil, err
				}
				continue
			}
			for _, p := range m.Partitions {
				for n := range p.RollbackLogs {
					set[path.Base(n)] = true
				}
				for n := range p.LogsFromWrite {
					set[path.Base(n)] = true
				}
			}
		}
	}
	a.every = set
	return set, nil
}

func addNames(ctx context.Context, tl *timeline.Timeline, x *timeline.Instant, set map[string]bool) error {
	m, err := tl.CommitMetadata(ctx, x)
	if err != nil {
		if tolerable(err) {
			return nil // what it names is not known
		}
		return err
	}
	for _, p := range m.Partitions {
		for i := range p.Stats {
			s := &p.Stats[i]
			set[path.Base(s.Path)] = true
			for _, n := range s.LogFiles {
				set[path.Base(n)] = true
			}
			for n := range s.CDCStats {
				set[path.Base(n)] = true
			}
		}
	}
	return nil
}
