package filegroup

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"hudiscope/core/commitmeta"
	"hudiscope/core/config"
	"hudiscope/core/corrupt"
	"hudiscope/core/storage"
	"hudiscope/core/timeline"
)

// Some web servers never list names that begin with a dot, which log files and partition markers
// have, but serve the files themselves. The names are in the table: in its metadata table, or in the
// metadata of its instants.

// unlisted completes a listing of the storage that lacks names that begin with a dot. partitions
// limits it, nil for the whole table.
func unlisted(ctx context.Context, src storage.Source, cfg *config.Config, tl *timeline.Timeline, partitions []string, l *Listing, opt Options) error {
	named, err := named(ctx, cfg, tl, partitions, opt)
	if err != nil {
		return err
	}
	if partitions == nil {
		// Markers are not listed: a partition is what metadata calls one.
		for p := range named.files {
			partitions = append(partitions, p)
		}
		all, err := List(ctx, src, cfg, partitions, opt.List)
		if err != nil {
			return err
		}
		l.Files = all.Files
		l.Complete, l.DotsHidden, l.Notes = all.Complete, all.DotsHidden || all.Complete, all.Notes
	}
	type candidate struct {
		partition string
		entry     storage.Entry
	}
	var ask []candidate
	for _, p := range partitions {
		have := map[string]bool{}
		for i := range l.Files[p] {
			e := &l.Files[p][i]
			have[e.Name] = true
			if size, ok := named.files[p][e.Name]; ok && e.Size < 0 {
				e.Size = size
			}
		}
		for name, size := range named.files[p] {
			switch {
			case !strings.HasPrefix(name, ".") || have[name]:
				// A name without a dot that is not listed is not there: cleaning has removed it.
			case named.exact:
				l.Files[p] = append(l.Files[p], storage.Entry{Name: name, Size: size})
			default:
				ask = append(ask, candidate{p, storage.Entry{Name: name, Size: storage.SizeUnknown}})
			}
		}
	}
	// Instants name files that cleaning may have removed since.
	there := make([]bool, len(ask))
	err = each(ctx, len(ask), opt.List.Concurrency, func(ctx context.Context, i int) error {
		c := &ask[i]
		o, err := src.Open(ctx, join(join(cfg.Root, c.partition), c.entry.Name))
		if err == nil {
			defer o.Close()
			c.entry.Size, err = o.Size(ctx)
		}
		if storage.IsNotExist(err) {
			return nil
		}
		there[i] = err == nil
		return err
	})
	if err != nil {
		return err
	}
	for i, c := range ask {
		if there[i] {
			l.Files[c.partition] = append(l.Files[c.partition], c.entry)
		}
	}
	if l.DotsHidden && named.missing == "" {
		l.Complete, l.Notes = true, nil
		l.From = named.from
	} else if named.missing != "" {
		l.Notes = append(l.Notes, named.missing)
	}
	return nil
}

// names are the files that a table names, by partition and name, with their sizes where they are
// told.
type names struct {
	files map[string]map[string]int64
	// exact: these files are there, and there are no others of completed instants.
	exact bool
	from  string
	// missing says why some may be missing.
	missing string
}

func (n *names) add(partition, file string, size int64) {
	if file == "" {
		return
	}
	if n.files[partition] == nil {
		n.files[partition] = map[string]int64{}
	}
	n.files[partition][path.Base(file)] = size
}

func named(ctx context.Context, cfg *config.Config, tl *timeline.Timeline, partitions []string, opt Options) (*names, error) {
	if opt.Metadata != nil {
		l, err := opt.Metadata(ctx, partitions)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil && l != nil {
			n := &names{files: map[string]map[string]int64{}, exact: true, from: "metadata table"}
			for p, files := range l.Files {
				n.files[p] = map[string]int64{}
				for _, e := range files {
					n.add(p, e.Name, e.Size)
				}
			}
			if cfg.CDC() == "" {
				return n, nil
			}
			// It does not name the files of changed data; the instants do.
			m, err := fromInstants(ctx, cfg, tl, opt.ReadRows)
			if err != nil {
				return nil, err
			}
			for p, files := range m.files {
				for name := range files {
					if _, ok := n.files[p][name]; !ok {
						n.add(p, name, storage.SizeUnknown)
					}
				}
			}
			n.exact = false
			return n, nil
		}
		var f *storage.Fault
		if errors.As(err, &f) && f.Kind != storage.NotFound {
			return nil, err // the storage fails, not the metadata table
		}
	}
	return fromInstants(ctx, cfg, tl, opt.ReadRows)
}

// fromInstants reads the files that completed instants, active and archived, and pending compactions
// name.
func fromInstants(ctx context.Context, cfg *config.Config, tl *timeline.Timeline, rows timeline.ReadRows) (*names, error) {
	n := &names{files: map[string]map[string]int64{}, from: "metadata of instants"}
	whole := tl.Whole()
	var mu sync.Mutex
	lost := func(err error) error {
		if !corrupt.Is(err) && !storage.IsNotExist(err) && !errors.Is(err, commitmeta.ErrEmpty) {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		n.missing = fmt.Sprintf("The storage does not list log files, and an instant that may name some can't be read: %v.", err)
		return nil
	}
	err := each(ctx, len(whole.Instants), 0, func(ctx context.Context, i int) error {
		x := &whole.Instants[i]
		switch {
		case x.State == timeline.Completed && x.Action == timeline.Rollback:
			f, ok := x.FileOf(timeline.Completed)
			if !ok {
				return nil
			}
			m, err := timeline.ReadAs(ctx, whole, f, commitmeta.ParseRollback)
			if err != nil {
				return lost(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for p, r := range m.Partitions {
				for _, files := range []map[string]int64{r.RollbackLogs, r.LogsFromWrite} {
					for file := range files {
						n.add(p, file, storage.SizeUnknown)
					}
				}
			}
		case x.State == timeline.Completed && (x.Action == timeline.Commit || x.Action == timeline.DeltaCommit || x.Action == timeline.ReplaceCommit):
			m, err := whole.CommitMetadata(ctx, x)
			if err != nil {
				return lost(err)
			}
			mu.Lock()
			defer mu.Unlock()
			n.commit(m)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	pending := whole.PendingCompaction()
	for i := range pending.Instants {
		plan, err := pending.CompactionPlan(ctx, &pending.Instants[i])
		if err != nil {
			if err := lost(err); err != nil {
				return nil, err
			}
			continue
		}
		for k := range plan.Operations {
			for _, file := range plan.Operations[k].DeltaFiles() {
				n.add(plan.Operations[k].Partition, file, storage.SizeUnknown)
			}
		}
	}
	a, err := whole.LoadArchived(ctx, cfg, rows)
	if err != nil {
		return nil, err
	}
	if a.Note != "" {
		n.missing = "The storage does not list log files, and archived instants that may name some can't be read: " + a.Note
	}
	err = whole.ArchivedParts(ctx, a.Instants, rows, func(i *timeline.ArchivedInstant, parts []timeline.ArchivedPart) error {
		for _, p := range parts {
			if p.State != timeline.Completed || p.JSON == nil || p.Record != "HoodieCommitMetadata" && p.Record != "HoodieReplaceCommitMetadata" {
				continue
			}
			m, err := commitmeta.CommitFromJSON(p.JSON)
			if err != nil {
				if err := lost(err); err != nil {
					return err
				}
				continue
			}
			n.commit(m)
		}
		return nil
	})
	if err != nil {
		if err := lost(err); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// commit adds what a commit wrote, and the log files that it names besides.
func (n *names) commit(m *commitmeta.CommitMetadata) {
	for _, p := range m.Partitions {
		for i := range p.Stats {
			s := &p.Stats[i]
			n.add(p.Partition, s.Path, storage.SizeUnknown)
			for _, file := range s.LogFiles {
				n.add(p.Partition, file, storage.SizeUnknown)
			}
			for file := range s.CDCStats {
				n.add(p.Partition, file, storage.SizeUnknown)
			}
		}
	}
}

// each calls f for 0 to n-1, several at a time (0: DefaultConcurrency), until one fails.
func each(ctx context.Context, n, concurrency int, f func(ctx context.Context, i int) error) error {
	if concurrency <= 0 {
		concurrency = DefaultConcurrency
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(n, concurrency) {
		wg.Go(func() {
			for i := range next {
				if err := f(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
feed:
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}
