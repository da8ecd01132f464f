package explorer

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"hudiscope/core/api"
	"hudiscope/core/commitmeta"
	"hudiscope/core/filegroup"
	"hudiscope/core/instants"
	"hudiscope/core/logfile"
	"hudiscope/core/timeline"
)

// maxGroupInstants bounds the instants whose metadata is read for the history of a file group.
const maxGroupInstants = 5000

// Group tells what instants did to one file group.
func (s *Service) Group(ctx context.Context, req api.GroupRequest) (*api.Group, error) {
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	v, gone, err := h.viewAsOf(ctx, req.AsOf)
	if err != nil {
		return nil, err
	}
	out := &api.Group{Partition: req.Partition, Group: api.FileGroup{FileID: req.FileID, Slices: []api.Slice{}}, Events: []api.GroupEvent{}, Findings: gone}
	b := groupBook{out: out, slices: map[string]string{}, paths: map[string]string{}, partition: req.Partition, fileID: req.FileID, version: v.Version}
	if g := v.Group(req.Partition, req.FileID); g != nil {
		if err := h.nameLogs(ctx, v, []string{req.Partition}, false); err != nil {
			return nil, err
		}
		out.Group = groupAPI(v, g, cmp.Or(req.AsOf, v.Latest))
		b.files(g)
	}
	if err := h.groupEvents(ctx, v.Timeline, req.AsOf, &b); err != nil {
		return nil, err
	}
	if len(out.Group.Slices) == 0 && len(out.Events) == 0 {
		message := fmt.Sprintf("There is no file group %s in partition %q.", req.FileID, req.Partition)
		if req.AsOf != "" {
			message = fmt.Sprintf("There was no file group %s in partition %q as of %s.", req.FileID, req.Partition, req.AsOf)
		}
		return nil, &api.Fault{Kind: "not found", Offset: -1, Message: message, Try: "Choose one in the Files view."}
	}
	return out, nil
}

// groupBook gathers the events of one group.
type groupBook struct {
	out               *api.Group
	partition, fileID string
	version           int
	// slices and paths are those of the group's files, by name.
	slices, paths map[string]string
	mu            sync.Mutex
}

func (b *groupBook) files(g *filegroup.Group) {
	for _, s := range g.Slices {
		if s.Base != nil {
			b.slices[s.Base.Name], b.paths[s.Base.Name] = s.BaseInstant, s.Base.Path
		}
		for i := range s.Logs {
			b.slices[s.Logs[i].File], b.paths[s.Logs[i].File] = s.BaseInstant, s.Logs[i].Path
		}
	}
}

func (b *groupBook) add(x *timeline.Instant, operation string, e api.GroupEvent) {
	e.Instant, e.Action, e.State, e.Completed, e.Operation = x.Requested, string(x.Action), x.State.String(), x.Completed, operation
	if e.File != "" {
		p, there := b.paths[e.File]
		e.Path, e.Gone = p, !there
		e.Slice = cmp.Or(b.slices[e.File], e.Slice)
	}
	b.out.Events = append(b.out.Events, e)
}

func (h *handle) groupEvents(ctx context.Context, tl *timeline.Timeline, asOf string, b *groupBook) error {
	var list []*timeline.Instant
	for i := range tl.Instants {
		if x := &tl.Instants[i]; asOf == "" || x.Requested <= asOf {
			list = append(list, x)
		}
	}
	if len(list) > maxGroupInstants {
		list = list[len(list)-maxGroupInstants:]
		b.out.Before = list[0].Requested
	}
	unread, done := 0, 0
	err := each(ctx, len(list), func(ctx context.Context, i int) error {
		read, bad, err := h.groupInstant(ctx, tl, list[i], b)
		b.mu.Lock()
		defer b.mu.Unlock()
		if read {
			b.out.Read++
		}
		if bad {
			unread++
		}
		done++
		h.progress(ctx, api.Progress{Phase: "Reading what instants did", Done: int64(done), Total: int64(len(list)), Unit: "instants"})
		return err
	})
	if err != nil {
		return err
	}
	if unread > 0 {
		b.out.Findings = append(b.out.Findings, api.Finding{Level: "warning", Title: "Some instants can't be read", Detail: fmt.Sprintf("What %d instants did to the group is not known: their files are damaged. The health checks list them.", unread)})
	}
	of := map[string]string{}
	for i := range b.out.Events {
		if e := &b.out.Events[i]; e.File != "" && e.Slice != "" {
			of[e.File] = e.Slice
		}
	}
	for i := range b.out.Events {
		e := &b.out.Events[i]
		e.Slice = cmp.Or(e.Slice, of[e.File]) // what removed a file does not tell its slice, what wrote it does
	}
	slices.SortStableFunc(b.out.Events, func(x, y api.GroupEvent) int {
		return cmp.Or(cmp.Compare(x.Instant, y.Instant), cmp.Compare(x.Action, y.Action), cmp.Compare(x.File, y.File))
	})
	return nil
}

// groupInstant adds what one instant did. read tells that its metadata was read, bad that it can't be.
func (h *handle) groupInstant(ctx context.Context, tl *timeline.Timeline, x *timeline.Instant, b *groupBook) (read, bad bool, err error) {
	switch {
	case x.IsCompleted() && (x.Action == timeline.Commit || x.Action == timeline.DeltaCommit || x.Action == timeline.ReplaceCommit):
		m, err := tl.CommitMetadata(ctx, x)
		if err != nil {
			if !tolerable(err) {
				return false, false, err
			}
			return true, true, nil
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.commit(x, m)
		return true, false, nil
	case x.IsCompleted() && (x.Action == timeline.Clean || x.Action == timeline.Rollback || x.Action == timeline.Restore):
		in, errs, err := inputOf(ctx, tl, x, timeline.Completed)
		if err != nil {
			return false, false, err
		}
		w := instants.Describe(in)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.removed(x, w)
		return true, len(errs) > 0, nil
	case !x.IsCompleted() && (x.Action == timeline.Compaction || x.Action == timeline.LogCompaction || x.Action == timeline.Clustering || x.Action == timeline.ReplaceCommit):
		b.mu.Lock()
		defer b.mu.Unlock()
		g := &b.out.Group
		what := ""
		switch x.Requested {
		case g.PendingCompaction:
			what = "compaction planned"
		case g.PendingClustering:
			what = "clustering planned"
		}
		if what != "" {
			b.add(x, "", api.GroupEvent{What: what, Slice: x.Requested})
		}
	}
	return false, false, nil
}

func (b *groupBook) commit(x *timeline.Instant, m *commitmeta.CommitMetadata) {
	for _, p := range m.Partitions {
		if p.Partition != b.partition {
			continue
		}
		for i := range p.Stats {
			w := &p.Stats[i]
			if w.FileID != b.fileID {
				continue
			}
			name, what, slice := path.Base(w.Path), "base file", x.Requested
			if l, ok := logfile.ParseName(name); ok {
				what, slice = "log file", l.Instant
				if b.version >= 8 {
					slice = strings.TrimPrefix(w.PrevCommit, "null") // the name has the writer, and not the slice
				}
			}
			if w.Path == "" {
				name = ""
			}
			b.add(x, m.Operation, api.GroupEvent{What: what, File: name, Slice: slice, Stats: &api.WriteStat{FileID: w.FileID, Path: w.Path, PrevCommit: w.PrevCommit, Inserts: w.NumInserts,
				Updates: w.NumUpdateWrites, Deletes: w.NumDeletes, Writes: w.NumWrites, Bytes: w.TotalWriteBytes, Errors: w.TotalWriteErrors}})
		}
	}
	for _, r := range m.Replaced {
		if r.Partition == b.partition && slices.Contains(r.FileIDs, b.fileID) {
			b.add(x, m.Operation, api.GroupEvent{What: "replaced"})
		}
	}
}

// removed adds the files of the group that a clean, rollback or restore removed.
func (b *groupBook) removed(x *timeline.Instant, w *api.InstantWork) {
	if w == nil {
		return
	}
	mine := func(what, partition string, names []string) {
		if partition != b.partition {
			return
		}
		for _, n := range names {
			n = path.Base(n)
			id, instant := "", ""
			if l, ok := logfile.ParseName(n); ok {
				id = l.FileID
				if b.version < 8 {
					instant = l.Instant
				}
			} else if f, ok := filegroup.ParseBaseName(n); ok {
				id, instant = f.FileID, f.Instant
			}
			if id == b.fileID {
				b.add(x, "", api.GroupEvent{What: what, File: n, Slice: instant})
			}
		}
	}
	if w.Clean != nil {
		for _, p := range w.Clean.Partitions {
			mine("cleaned", p.Partition, p.Deleted)
		}
	}
	rollback := func(r *api.RollbackWork) {
		for _, p := range r.Partitions {
			mine("rolled back", p.Partition, p.Deleted)
			for _, c := range p.CommandLogs {
				mine("rolled back", p.Partition, []string{c.Path})
			}
		}
	}
	if w.Rollback != nil {
		rollback(w.Rollback)
	}
	if w.Restore != nil {
		for i := range w.Restore.Rollbacks {
			rollback(&w.Restore.Rollbacks[i])
		}
	}
}
