package explorer

import (
	"context"
	"encoding/json"
	"slices"

	"hudiscope/core/api"
	"hudiscope/core/filegroup"
)

// view builds the file-system view with progress.
func (h *handle) view(ctx context.Context) (*filegroup.View, error) {
	h.progress(ctx, api.Progress{Phase: "Listing partitions", Unit: "directories"})
	return h.table.View(ctx, func(dirs int) {
		h.progress(ctx, api.Progress{Phase: "Listing partitions", Done: int64(dirs), Unit: "directories"})
	})
}

// Partitions lists the partition paths.
func (s *Service) Partitions(ctx context.Context, req api.PartitionsRequest) (*api.Partitions, error) {
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	v, err := h.view(ctx)
	if err != nil {
		return nil, err
	}
	a := &api.Partitions{Paths: []string{}, From: "listing"}
	for _, p := range v.Partitions {
		a.Paths = append(a.Paths, p.Path)
	}
	if !v.Complete {
		a.Note = "The listing is not complete: partitions or files may be missing."
	}
	return a, nil
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
	v, err := h.view(ctx)
	if err != nil {
		return nil, err
	}
	asOf := v.Latest
	if req.AsOf != "" {
		asOf = req.AsOf
	}
	a := &api.Files{LatestInstant: asOf, Partitions: []api.PartitionFiles{}}
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

func partitionFiles(v *filegroup.View, p *filegroup.Partition, asOf string) api.PartitionFiles {
	out := api.PartitionFiles{Partition: p.Path, Groups: []api.FileGroup{}, Bytes: p.Bytes}
	for _, o := range p.Other {
		out.Other = append(out.Other, api.File{Name: o.Name, Path: o.Path, Size: o.Size, State: "other", Why: o.Why})
	}
	for _, g := range p.Groups {
		fg := api.FileGroup{FileID: g.FileID, ReplacedBy: g.ReplacedBy, PendingCompaction: g.PendingCompaction, PendingClustering: g.PendingClustering, Slices: []api.Slice{}}
		// The slices a snapshot reads are those that hold a file of the merged slice.
		latest := map[string]bool{}
		if g.ReplacedBy == "" || g.ReplacedBy > asOf {
			if m := v.MergedSliceBeforeOrOn(g, asOf); m != nil {
				if m.Base != nil {
					latest[m.Base.Path] = true
				}
				for _, l := range m.Logs {
					latest[l.Path] = true
				}
			}
		}
		for _, s := range g.Slices {
			fg.Slices = append(fg.Slices, sliceAPI(v, g, s, latest))
		}
		out.Groups = append(out.Groups, fg)
	}
	return out
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
		state, why := v.LogState(g, s, l)
		out.Logs = append(out.Logs, api.File{Name: l.File, Path: l.Path, Size: l.Size, Instant: l.Instant, State: string(state), Why: why})
		out.Latest = out.Latest || latest[l.Path]
	}
	return out
}
