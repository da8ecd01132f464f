package explorer

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/commitmeta"
	"hudiscope/core/instants"
	"hudiscope/core/query"
	"hudiscope/core/storage"
	"hudiscope/core/timeline"
)

// Timeline lists the instants.
func (s *Service) Timeline(ctx context.Context, req api.TimelineRequest) (*api.Timeline, error) {
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	h.progress(ctx, api.Progress{Phase: "Listing the timeline"})
	tl, err := h.table.Timeline(ctx)
	if err != nil {
		return nil, err
	}
	s.next(h, afterTimeline, func(ctx context.Context) { h.table.ReadNext(ctx, tl) })
	a := &api.Timeline{Layout: tl.Layout}
	if err := page(a, tl, req.TimelinePage); err != nil {
		return nil, err
	}
	if !req.Bare {
		a.Finding = findings(tl)
	}
	if req.Archived {
		for _, x := range [][2]string{{"archived_from", req.ArchivedFrom}, {"archived_to", req.ArchivedTo}} {
			if err := query.CheckBound(x[0], x[1]); err != nil {
				return nil, err
			}
		}
		if req.ArchivedTo != "" && req.ArchivedFrom > req.ArchivedTo {
			return nil, invalid("archived_from=%s is after archived_to=%s.", req.ArchivedFrom, req.ArchivedTo)
		}
		h.progress(ctx, api.Progress{Phase: "Reading the archived timeline"})
		arch, err := h.table.ArchivedRange(ctx, timeline.Range{From: req.ArchivedFrom, To: req.ArchivedTo, Limit: req.ArchivedLimit})
		if err != nil {
			return nil, err
		}
		a.Archived, a.ArchivedNote, a.ArchivedMore = []api.Instant{}, arch.Note, arch.More
		for _, i := range arch.Instants {
			a.Archived = append(a.Archived, api.Instant{Requested: i.Requested, Completed: i.Completed, Action: string(i.Action), State: i.State.String(),
				Files: []api.InstantFile{}})
		}
		for _, f := range arch.Findings {
			a.Finding = append(a.Finding, api.Finding(f))
		}
	}
	return a, nil
}

// findings are those about the active timeline.
func findings(tl *timeline.Timeline) []api.Finding {
	var out []api.Finding
	for _, f := range tl.Findings {
		if len(out) == maxFindings {
			out = append(out, api.Finding{Level: "note", Title: "More findings", Detail: fmt.Sprintf("%d findings about instants are left out here.", len(tl.Findings)-maxFindings)})
			break
		}
		out = append(out, api.Finding(f))
	}
	if tl.Note != "" {
		out = append(out, api.Finding{Level: "warning", Title: "Instants may be missing", Detail: tl.Note})
	}
	return out
}

func instantOf(i *timeline.Instant) api.Instant {
	out := api.Instant{Requested: i.Requested, Completed: i.Completed, CompletedFrom: i.CompletedFrom, Action: string(i.Action), State: i.State.String(), File: i.File.Name}
	if i.IsCompaction() {
		out.Operation = commitmeta.OpCompact
	}
	for _, f := range i.Files {
		out.Files = append(out.Files, api.InstantFile{Name: f.Name, State: f.State.String(), Size: f.Size})
	}
	return out
}

// Instant decodes everything the files of one instant say.
func (s *Service) Instant(ctx context.Context, req api.InstantRequest) (*api.InstantDetail, error) {
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	tl, err := h.table.Timeline(ctx)
	if err != nil {
		return nil, err
	}
	var found *timeline.Instant
	for i := range tl.Instants {
		if in := &tl.Instants[i]; in.Requested == req.Requested && (req.Action == "" || string(in.Action) == req.Action) {
			found = in
			break
		}
	}
	if found == nil {
		if req.Requested != "" {
			if req.Action == string(schemaCommit) || req.Action == "" {
				if d, err := h.schemaInstant(ctx, req.Requested); d != nil || err != nil {
					return d, err
				}
			}
			if d, err := h.archivedInstant(ctx, req); d != nil || err != nil {
				return d, err
			}
		}
		if by, err := undoneBy(ctx, tl, req.Requested); by != nil || err != nil {
			if err != nil {
				return nil, err
			}
			return nil, &api.Fault{Kind: "not found", Offset: -1, Message: fmt.Sprintf("The instant %s is gone from the timeline: the %s %s undid it.", strings.TrimSpace(req.Requested+" "+req.Action), by.Action, by.Requested),
				Try: fmt.Sprintf("Open the %s %s: it tells what was undone.", by.Action, by.Requested)}
		}
		return nil, &api.Fault{Kind: "not found", Offset: -1, Message: fmt.Sprintf("There is no instant %s on the timeline.", strings.TrimSpace(req.Requested+" "+req.Action)),
			Try: "It may have been archived since, or the table was reloaded; see the timeline."}
	}
	d := &api.InstantDetail{Instant: instantOf(found), Parts: []api.InstantDecode{}}
	for _, f := range found.Files {
		p := api.InstantDecode{File: f.Name, State: f.State.String(), Size: f.Size, Path: f.Path}
		dec, err := tl.Decode(ctx, f)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p.Encoding, p.Schema, p.Decoded = string(dec.Encoding), dec.SchemaName, dec.JSON
		if err != nil {
			p.Fault = ToFault(err)
			if p.Encoding == "" {
				p.Encoding = "unknown"
			}
		}
		if dec.Encoding == commitmeta.JSON {
			if raw, err := storage.ReadAll(ctx, h.src, f.Path, maxRaw); err == nil {
				p.Raw = string(raw)
			}
		}
		d.Parts = append(d.Parts, p)
	}
	if found.IsCompleted() {
		switch found.Action {
		case timeline.Commit, timeline.DeltaCommit, timeline.ReplaceCommit:
			if m, err := tl.CommitMetadata(ctx, found); err == nil {
				d.Summary = summarize(m)
				d.Instant.Operation = m.Operation
			}
		}
	}
	d.Work, err = h.work(ctx, tl, found, d.Parts)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// undoneBy finds the completed rollback or restore that undid an instant and so took it off the timeline, nil when none is found
// among the first ones after it.
func undoneBy(ctx context.Context, tl *timeline.Timeline, requested string) (*timeline.Instant, error) {
	left := maxCleansRead
	for i := range tl.Instants {
		x := &tl.Instants[i]
		if requested == "" || x.Requested <= requested || !x.IsCompleted() || x.Action != timeline.Rollback && x.Action != timeline.Restore {
			continue
		}
		if left--; left < 0 {
			break
		}
		in, _, err := inputOf(ctx, tl, x, timeline.Completed)
		if err != nil {
			return nil, err
		}
		for _, r := range instants.Describe(in).Relations {
			if r.To == requested && (r.Kind == api.RelRollsBack || r.Kind == api.RelRestores) {
				return x, nil
			}
		}
	}
	return nil, nil
}

// maxRaw bounds the raw text of an instant file in an answer.
const maxRaw = 8 << 20

// summarize adds up the write stats of a commit.
func summarize(m *commitmeta.CommitMetadata) *api.CommitSummary {
	s := &api.CommitSummary{Operation: m.Operation, Partitions: []api.PartitionSummary{}}
	for _, r := range m.Replaced {
		s.Replaced += len(r.FileIDs)
	}
	for _, p := range m.Partitions {
		ps := api.PartitionSummary{Partition: p.Partition, Files: []api.WriteStat{}}
		for i := range p.Stats {
			w := &p.Stats[i]
			ps.Inserts += w.NumInserts
			ps.Updates += w.NumUpdateWrites
			ps.Deletes += w.NumDeletes
			s.Writes += w.NumWrites
			s.Bytes += w.TotalWriteBytes
			s.Errors += w.TotalWriteErrors
			ps.Writes += w.NumWrites
			ps.Bytes += w.TotalWriteBytes
			ps.Errors += w.TotalWriteErrors
			ps.Files = append(ps.Files, api.WriteStat{FileID: w.FileID, Path: w.Path, PrevCommit: w.PrevCommit, Inserts: w.NumInserts,
				Updates: w.NumUpdateWrites, Deletes: w.NumDeletes, Writes: w.NumWrites, Bytes: w.TotalWriteBytes, Errors: w.TotalWriteErrors})
		}
		s.Inserts += ps.Inserts
		s.Updates += ps.Updates
		s.Deletes += ps.Deletes
		s.Partitions = append(s.Partitions, ps)
	}
	return s
}

// Commits returns the commit metadata of the completed commits, as Hudi's JSON.
func (s *Service) Commits(ctx context.Context, req api.CommitsRequest) (api.Commits, error) {
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	tl, err := h.table.Timeline(ctx)
	if err != nil {
		return nil, err
	}
	out := api.Commits{}
	commits := tl.Commits().Completed().Instants
	for n := range commits {
		i := &commits[n]
		m, err := tl.CommitMetadata(ctx, i)
		if err != nil {
			return nil, err
		}
		out[i.File.Name] = json.RawMessage(commitmeta.ToHudiJSON(m))
		h.progress(ctx, api.Progress{Phase: "Reading commit metadata", Done: int64(n + 1), Total: int64(len(commits)), Unit: "commits"})
	}
	return out, nil
}
