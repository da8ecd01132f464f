package explorer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"hudiscope/core/api"
	"hudiscope/core/filegroup"
	"hudiscope/core/instants"
	"hudiscope/core/logfile"
	"hudiscope/core/timeline"
)

// view builds the file-system view with progress.
func (h *handle) view(ctx context.Context) (*filegroup.View, error) {
	return h.viewBy(ctx, h.table.View)
}

// storageView is view over a listing of the storage, however many directories there are.
func (h *handle) storageView(ctx context.Context) (*filegroup.View, error) {
	return h.viewBy(ctx, h.table.StorageView)
}

func (h *handle) viewBy(ctx context.Context, look func(context.Context, func(int)) (*filegroup.View, error)) (*filegroup.View, error) {
	h.progress(ctx, api.Progress{Phase: "Listing partitions", Unit: "directories"})
	return look(ctx, func(dirs int) {
		h.progress(ctx, api.Progress{Phase: "Listing partitions", Done: int64(dirs), Unit: "directories"})
	})
}

// fromOf says how the files of a view were found.
func fromOf(v *filegroup.View) string {
	if v.ByMetadata {
		return "metadata table"
	}
	return "listing"
}

// viewAsOf is the view as of an instant, "" for the latest, with what is to be known about the difference.
func (h *handle) viewAsOf(ctx context.Context, asOf string) (*filegroup.View, []api.Finding, error) {
	return h.asOf(ctx, asOf, h.view)
}

func (h *handle) asOf(ctx context.Context, asOf string, look func(context.Context) (*filegroup.View, error)) (*filegroup.View, []api.Finding, error) {
	if leadingDigits(asOf) != asOf {
		return nil, nil, invalid("%q is no instant: an instant is 14 or 17 digits.", asOf)
	}
	v, err := look(ctx)
	if err != nil || asOf == "" {
		return v, nil, err
	}
	gone, err := h.removedSince(ctx, v, asOf)
	return v.AsOf(asOf), gone, err
}

// Partitions lists the partition paths.
func (s *Service) Partitions(ctx context.Context, req api.PartitionsRequest) (*api.Partitions, error) {
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	v, _, err := h.viewAsOf(ctx, req.AsOf)
	if err != nil {
		return nil, err
	}
	a := &api.Partitions{Paths: []string{}, From: fromOf(v)}
	for _, p := range v.Partitions {
		a.Paths = append(a.Paths, p.Path)
		if req.Sizes {
			a.Sizes = append(a.Sizes, partitionSize(v, p, cmp.Or(req.AsOf, v.Latest)))
		}
	}
	if !v.Complete {
		a.Note = "The listing is not complete: partitions or files may be missing."
	}
	return a, nil
}

// partitionSize adds up the files of a partition.
func partitionSize(v *filegroup.View, p *filegroup.Partition, asOf string) api.PartitionSize {
	out := api.PartitionSize{Groups: len(p.Groups)}
	count := func(to *int64, size int64) {
		out.Files++
		if size < 0 {
			out.Unsized++
			return
		}
		*to += size
	}
	for _, o := range p.Other {
		count(&out.Other, o.Size)
	}
	for _, g := range p.Groups {
		latest := read(v, g, asOf)
		for _, s := range g.Slices {
			if b := s.Base; b != nil {
				to := &out.Old
				if latest[b.Path] {
					to = &out.Base
				}
				count(to, b.Size)
			}
			for i := range s.Logs {
				to := &out.Old
				if latest[s.Logs[i].Path] {
					to = &out.Log
				}
				count(to, s.Logs[i].Size)
			}
		}
	}
	return out
}

// read are the paths of the files that a snapshot as of an instant reads of a group.
func read(v *filegroup.View, g *filegroup.Group, asOf string) map[string]bool {
	out := map[string]bool{}
	if g.ReplacedBy != "" && g.ReplacedBy <= asOf {
		return out
	}
	if m := v.MergedSliceBeforeOrOn(g, asOf); m != nil {
		if m.Base != nil {
			out[m.Base.Path] = true
		}
		for i := range m.Logs {
			out[m.Logs[i].Path] = true
		}
	}
	return out
}

// maxCleansRead bounds the later cleans, rollbacks and restores whose metadata is read for a view as of an instant.
const maxCleansRead = 200

// removedSince tells which files of an instant or before were removed after it: a view as of the instant lacks them.
func (h *handle) removedSince(ctx context.Context, v *filegroup.View, asOf string) ([]api.Finding, error) {
	tl := v.Timeline
	n, read, unread, example, by := 0, 0, 0, "", ""
	for i := len(tl.Instants) - 1; i >= 0; i-- {
		x := &tl.Instants[i]
		if x.Requested <= asOf {
			break
		}
		if !x.IsCompleted() || x.Action != timeline.Clean && x.Action != timeline.Rollback && x.Action != timeline.Restore {
			continue
		}
		if read == maxCleansRead {
			unread++
			continue
		}
		read++
		in, errs, err := inputOf(ctx, tl, x, timeline.Completed)
		if err != nil {
			return nil, err
		}
		if len(errs) > 0 {
			unread++
			continue
		}
		for _, name := range removedBy(instants.Describe(in)) {
			if t := fileInstant(name); t != "" && t <= asOf {
				n++
				example, by = name, string(x.Action)+" "+x.Requested
			}
		}
	}
	var out []api.Finding
	if n > 0 {
		text := "A file of that time has been removed since: " + example + ", by " + by + "."
		if n > 1 {
			text = fmt.Sprintf("%d files of that time or before have been removed since, among them %s by %s.", n, example, by)
		}
		out = append(out, api.Finding{Level: "note", Title: "Not everything is there any more", Detail: text + " They can't be shown, and rows as of then may lack what they held."})
	}
	if unread > 0 {
		out = append(out, api.Finding{Level: "note", Title: "Some later instants were not read", Detail: fmt.Sprintf("What %d cleans, rollbacks and restores after that time removed is not known.", unread)})
	}
	return out, nil
}

// removedBy are the names of the data files that a clean, rollback or restore removed.
func removedBy(w *api.InstantWork) []string {
	if w == nil {
		return nil
	}
	var out []string
	if w.Clean != nil {
		for _, p := range w.Clean.Partitions {
			out = append(out, p.Deleted...)
		}
	}
	rollback := func(r *api.RollbackWork) {
		for _, p := range r.Partitions {
			out = append(out, p.Deleted...)
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
	for i, n := range out {
		out[i] = path.Base(n)
	}
	return out
}

// fileInstant is the instant in the name of a data file, "" when it tells none.
func fileInstant(name string) string {
	if n, ok := logfile.ParseName(name); ok {
		return n.Instant
	}
	if n, ok := filegroup.ParseBaseName(name); ok {
		return n.Instant
	}
	return ""
}

// Slices returns the file-system view in the shape of Hudi's own.
func (s *Service) Slices(ctx context.Context, req api.SlicesRequest) (api.Slices, error) {
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	v, err := h.view(ctx)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(v.JSON())
	return api.Slices(b), err
}

// Files returns partitions, file groups and slices with sizes and states.
func (s *Service) Files(ctx context.Context, req api.FilesRequest) (*api.Files, error) {
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	look := h.view
	if req.Storage {
		look = h.storageView
	}
	v, gone, err := h.asOf(ctx, req.AsOf, look)
	if err != nil {
		return nil, err
	}
	if err := h.nameLogs(ctx, v, req.Partitions, false); err != nil {
		return nil, err
	}
	s.next(h, afterFiles, func(ctx context.Context) { h.table.ReadNextSlice(ctx, v) })
	asOf := cmp.Or(req.AsOf, v.Latest)
	a := &api.Files{LatestInstant: asOf, From: fromOf(v), Partitions: []api.PartitionFiles{}, Findings: gone}
	if v.ByMetadata {
		a.Findings = append(a.Findings, api.Finding{Level: "note", Title: "Listed by the metadata table",
			Detail: "The table has many directories, so its metadata table told the files, as it does for Hudi's readers. Files that no completed write knows of are not in it; the health check lists the storage and compares."})
	}
	for _, f := range v.Findings {
		a.Findings = append(a.Findings, api.Finding(f))
	}
	if !v.Complete {
		a.Findings = append(a.Findings, api.Finding{Level: "warning", Title: "The listing is not complete", Detail: "Partitions or files may be missing from this view."})
	}
	for _, p := range v.Partitions {
		if len(req.Partitions) > 0 && !slices.Contains(req.Partitions, p.Path) {
			continue
		}
		a.Partitions = append(a.Partitions, partitionFiles(v, p, asOf))
	}
	return a, nil
}

// maxWriterBlocks bounds the blocks of a log file that are looked at for the instants that wrote it.
const maxWriterBlocks = 200

// nameLogs finds out who wrote the log files of some partitions, where their names do not tell it. That takes the metadata
// of instants: where it is not worth that, only a table with a pending write is looked at, as such a write leaves files
// that are not committed. A file that no instant at all names is then found by the page of its group and by health.
func (h *handle) nameLogs(ctx context.Context, v *filegroup.View, partitions []string, worth bool) error {
	if !worth && len(v.Timeline.Pending().Write().Instants) == 0 {
		return nil
	}
	return v.NameLogs(ctx, partitions, func(ctx context.Context, l *filegroup.LogFile) (of []string, err error) {
		obj, err := h.table.Open(ctx, l.Path)
		if err != nil {
			return nil, err
		}
		defer obj.Close()
		n := 0
		for b, err := range logfile.Open(obj, l.Path).Blocks(ctx) {
			if err != nil {
				return of, err
			}
			if t := b.Instant(); t != "" && !slices.Contains(of, t) {
				of = append(of, t)
			}
			if n++; n == maxWriterBlocks {
				break
			}
		}
		return of, nil
	})
}

func partitionFiles(v *filegroup.View, p *filegroup.Partition, asOf string) api.PartitionFiles {
	out := api.PartitionFiles{Partition: p.Path, Groups: []api.FileGroup{}, Bytes: p.Bytes}
	for _, o := range p.Other {
		out.Other = append(out.Other, api.File{Name: o.Name, Path: o.Path, Size: o.Size, State: "other", Why: o.Why})
	}
	for _, g := range p.Groups {
		out.Groups = append(out.Groups, groupAPI(v, g, asOf))
	}
	return out
}

// groupAPI describes a file group; the slices a snapshot reads are those that hold a file of the merged slice.
func groupAPI(v *filegroup.View, g *filegroup.Group, asOf string) api.FileGroup {
	fg := api.FileGroup{FileID: g.FileID, ReplacedBy: g.ReplacedBy, PendingCompaction: g.PendingCompaction, PendingClustering: g.PendingClustering, Slices: []api.Slice{}}
	latest := read(v, g, asOf)
	for _, s := range g.Slices {
		fg.Slices = append(fg.Slices, sliceAPI(v, g, s, latest))
	}
	return fg
}

func sliceAPI(v *filegroup.View, g *filegroup.Group, s *filegroup.Slice, latest map[string]bool) api.Slice {
	out := api.Slice{BaseInstant: s.BaseInstant, Logs: []api.File{}, Committed: v.Committed(s.BaseInstant)}
	if b := s.Base; b != nil {
		state, why := v.BaseState(g, b)
		out.Base = &api.File{Name: b.Name, Path: b.Path, Size: b.Size, Instant: b.Instant, State: string(state), Why: why}
		out.Latest = latest[b.Path]
	}
	for i := range s.Logs {
		l := &s.Logs[i]
		state, why := v.WriterState(g, s, l)
		out.Logs = append(out.Logs, api.File{Name: l.File, Path: l.Path, Size: l.Size, Instant: l.Instant, State: string(state), Why: why})
		out.Latest = out.Latest || latest[l.Path]
	}
	return out
}
