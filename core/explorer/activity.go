package explorer

import (
	"context"
	"errors"
	"path"

	"hudiscope/core/api"
	"hudiscope/core/commitmeta"
	"hudiscope/core/filegroup"
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
	wrote := make([]groupWrites, len(at))
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
		rewrites := m.Operation == commitmeta.OpCompact || m.Operation == commitmeta.OpLogCompact || m.Operation == commitmeta.OpCluster
		wrote[n] = groupWrites{logs: map[filegroup.GroupID]int64{}, rewritesLogs: m.Operation == commitmeta.OpLogCompact}
		for _, r := range m.Replaced {
			for _, id := range r.FileIDs {
				wrote[n].done = append(wrote[n].done, filegroup.GroupID{Partition: r.Partition, FileID: id})
			}
		}
		for _, p := range m.Partitions {
			for i := range p.Stats {
				w := &p.Stats[i]
				group := filegroup.GroupID{Partition: p.Partition, FileID: w.FileID}
				c.Inserts += w.NumInserts
				c.Updates += w.NumUpdateWrites
				c.Deletes += w.NumDeletes
				c.Files++
				if _, ok := logfile.ParseName(path.Base(w.Path)); ok {
					c.Log += w.TotalWriteBytes
					wrote[n].logs[group] += w.TotalWriteBytes
					if !rewrites {
						c.New += w.TotalWriteBytes
					}
				} else {
					c.Base += w.TotalWriteBytes
					wrote[n].done = append(wrote[n].done, group)
					if !rewrites {
						c.New += newShare(w)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	sumUp(out.Commits, wrote)
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

// groupWrites is what a commit did to the log files of file groups.
type groupWrites struct {
	// logs are the bytes written into log files; rewritesLogs tells that they stand for those before.
	logs         map[filegroup.GroupID]int64
	rewritesLogs bool
	// done are the groups that got a new base file or were replaced: their older logs are not read any more.
	done []filegroup.GroupID
}

// newShare is the part of the bytes of a base file that is of records which the commit inserted or updated.
func newShare(w *commitmeta.WriteStat) int64 {
	fresh := w.NumInserts + w.NumUpdateWrites
	if w.NumWrites <= 0 || fresh <= 0 {
		return 0
	}
	if fresh >= w.NumWrites {
		return w.TotalWriteBytes
	}
	return int64(float64(w.TotalWriteBytes) * float64(fresh) / float64(w.NumWrites))
}

// sumUp adds what depends on the commits before, in the order of requested times: a compaction takes up the logs of those that were
// requested before it, and not what was written while it ran.
func sumUp(commits []api.CommitActivity, wrote []groupWrites) {
	left := map[filegroup.GroupID]int64{}
	var written, fresh, logs int64
	drop := func(g filegroup.GroupID) {
		logs -= left[g]
		delete(left, g)
	}
	for n := range commits {
		c := &commits[n]
		written, fresh = written+c.Base+c.Log, fresh+c.New
		for _, g := range wrote[n].done {
			drop(g)
		}
		for g, size := range wrote[n].logs {
			if wrote[n].rewritesLogs {
				drop(g)
			}
			left[g] += size
			logs += size
		}
		c.Written, c.NewSoFar, c.LogsLeft = written, fresh, logs
	}
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
