package explorer

import (
	"context"
	"errors"
	"path"

	"hudiscope/core/api"
	"hudiscope/core/logfile"
	"hudiscope/core/metatable"
)

const (
	defaultActivity = 200
	maxActivity     = 2000
)

// Activity tells how much the commits of a range wrote.
func (s *Service) Activity(ctx context.Context, req api.ActivityRequest) (*api.Activity, error) {
	for _, t := range []string{req.From, req.To} {
		if leadingDigits(t) != t {
			return nil, invalid("%q is no instant: an instant is 14 or 17 digits.", t)
		}
	}
	switch {
	case req.Limit < 0 || req.Limit > maxActivity:
		return nil, invalid("At most %d commits are read at a time.", maxActivity)
	case req.Limit == 0:
		req.Limit = defaultActivity
	}
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	tl, err := h.table.Timeline(ctx)
	if err != nil {
		return nil, err
	}
	within := func(t string) bool { return t >= req.From && (req.To == "" || t <= req.To) }
	commits := tl.Commits().Completed().Instants
	var at []int
	out := &api.Activity{}
	for i := len(commits) - 1; i >= 0 && commits[i].Requested >= req.From; i-- {
		if !within(commits[i].Requested) {
			continue
		}
		if len(at) == req.Limit {
			out.Before = commits[at[len(at)-1]].Requested
			break
		}
		at = append(at, i)
	}
	out.Commits = make([]api.CommitActivity, len(at))
	read := make([]bool, len(at))
	err = each(ctx, len(at), func(ctx context.Context, n int) error {
		x := &commits[at[len(at)-1-n]]
		m, err := tl.CommitMetadata(ctx, x)
		if err != nil {
			if !tolerable(err) {
				return err
			}
			return nil
		}
		read[n] = true
		c := &out.Commits[n]
		c.Requested, c.Action, c.Operation = x.Requested, string(x.Action), m.Operation
		for _, p := range m.Partitions {
			for i := range p.Stats {
				w := &p.Stats[i]
				c.Inserts += w.NumInserts
				c.Updates += w.NumUpdateWrites
				c.Deletes += w.NumDeletes
				c.Files++
				if _, ok := logfile.ParseName(path.Base(w.Path)); ok {
					c.Log += w.TotalWriteBytes
				} else {
					c.Base += w.TotalWriteBytes
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	kept := out.Commits[:0]
	for n := range out.Commits {
		if read[n] {
			kept = append(kept, out.Commits[n])
		} else {
			out.Unread++
		}
	}
	out.Commits = kept
	if req.Metadata {
		return out, s.metadataInstants(ctx, h, within, out)
	}
	return out, nil
}

// metadataInstants adds the instants of the metadata table.
func (s *Service) metadataInstants(ctx context.Context, h *handle, within func(string) bool, out *api.Activity) error {
	m, err := s.metadataTable(ctx, h)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var absent *metatable.Absent
	if err != nil {
		if !errors.As(err, &absent) && !tolerable(err) {
			return err
		}
		out.MetadataNote = ToFault(err).Message
		if absent != nil && len(h.table.Config.MetadataPartitions()) == 0 {
			out.MetadataNote = "The table has no metadata table."
		}
		return nil
	}
	for i := range m.Timeline.Instants {
		x := &m.Timeline.Instants[i]
		// Instants of the metadata table's own services have the time of the data table's and a suffix.
		if t := x.Requested; within(t[:min(len(t), 17)]) {
			in := instantOf(x)
			in.Files = []api.InstantFile{}
			out.Metadata = append(out.Metadata, in)
		}
	}
	return nil
}
