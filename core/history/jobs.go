package history

import (
	"fmt"
	"slices"
	"sort"

	"hudiscope/core/filegroup"
	"hudiscope/core/groupreader"
	"hudiscope/core/logfile"
	"hudiscope/core/table"
)

// job is a slice to search: what reading it takes, and the files beside that.
type job struct {
	group *filegroup.Group
	// slice holds what a read of the slice takes.
	slice  groupreader.Slice
	latest bool
	base   *part
	logs   []part
	// none is set when a first pass found no key.
	none bool
}

// part is a file of a slice; why says why a read does not take it, "" when it does. source is the
// bootstrap source of a skeleton base file.
type part struct{ path, why, source string }

func (j *job) files() int {
	if j.base != nil {
		return len(j.logs) + 1
	}
	return len(j.logs)
}

// list makes the jobs of all file groups that the query allows; with at, of those only of its file
// groups and of the ones that no query reads.
func (s *search) list(at map[filegroup.GroupID]bool) []*job {
	planned := map[filegroup.GroupID]*groupreader.Slice{}
	for i := range s.plan.Slices {
		p := &s.plan.Slices[i]
		planned[filegroup.GroupID{Partition: p.Partition, FileID: p.FileID}] = p
	}
	q := s.req.Query
	out := []*job{}
	w := &s.res.Work
	w.Groups, w.GroupsOf, w.Files = 0, 0, 0
	for _, p := range s.view.Partitions {
		if len(q.Partitions) > 0 && !slices.Contains(q.Partitions, p.Path) {
			continue
		}
		for _, g := range p.Groups {
			if q.FileID != "" && q.FileID != g.FileID {
				continue
			}
			w.GroupsOf++
			if at != nil && !at[g.GroupID] && planned[g.GroupID] != nil {
				continue
			}
			w.Groups++
			for _, j := range sliceJobs(s.view, g, planned[g.GroupID], q.AsOf) {
				w.Files += j.files()
				out = append(out, j)
			}
		}
	}
	return out
}

// sliceJobs are the slices of a group, oldest first. planned is the one that a query reads, nil for
// none; asOf leaves out later ones.
func sliceJobs(v *filegroup.View, g *filegroup.Group, planned *groupreader.Slice, asOf string) []*job {
	// Under a pending compaction a query reads the logs of two slices as one.
	taken := map[string]bool{}
	if planned != nil {
		for _, l := range planned.Logs {
			taken[l] = true
		}
	}
	var out []*job
	for _, raw := range slices.Backward(g.Slices) {
		if asOf != "" && raw.BaseInstant > asOf {
			continue
		}
		j := &job{group: g, slice: groupreader.Slice{Partition: g.Partition, FileID: g.FileID, BaseInstant: raw.BaseInstant}}
		if planned != nil && planned.BaseInstant == raw.BaseInstant {
			j.latest, j.slice = true, *planned
		}
		j.takeBase(v, raw)
		j.takeLogs(v, raw, taken)
		if j.files() > 0 {
			out = append(out, j)
		}
	}
	return out
}

func (j *job) takeBase(v *filegroup.View, raw *filegroup.Slice) {
	if raw.Base == nil {
		return
	}
	j.base = &part{path: raw.Base.Path, source: raw.Base.Bootstrap}
	if j.latest && j.slice.Base == raw.Base.Path {
		return
	}
	state, why := v.BaseState(j.group, raw.Base)
	switch {
	case state != filegroup.FileCommitted:
		j.base.why = "the base file does not count: " + why
	case j.latest || !v.Committed(raw.BaseInstant):
		j.base.why = fmt.Sprintf("the base file does not count: no completed write of %s is on the timeline", raw.BaseInstant)
	default:
		j.slice.Base, j.slice.Source = raw.Base.Path, raw.Base.Bootstrap
	}
}

func (j *job) takeLogs(v *filegroup.View, raw *filegroup.Slice, taken map[string]bool) {
	for _, l := range raw.DataLogs() {
		if taken[l.Path] {
			continue
		}
		p := part{path: l.Path}
		if state, why := v.LogState(j.group, raw, &l); state != filegroup.FileCommitted {
			p.why = "the log file does not count: " + why
		} else if j.latest || !v.Committed(raw.BaseInstant) {
			p.why = fmt.Sprintf("the log file does not count: no completed write of %s is on the timeline", raw.BaseInstant)
		} else {
			j.slice.Logs = append(j.slice.Logs, l.Path)
		}
		j.logs = append(j.logs, p)
	}
	if j.latest {
		for _, l := range j.slice.Logs {
			j.logs = append(j.logs, part{path: l})
		}
	}
	sort.SliceStable(j.logs, func(a, b int) bool { return compareLogs(j.logs[a].path, j.logs[b].path) < 0 })
}

// compareLogs compares log files by their names, in merge order.
func compareLogs(a, b string) int {
	x, _ := logName(a)
	y, _ := logName(b)
	return logfile.Compare(x, y)
}

// SliceOf returns what reading a file slice takes: of the slice that a query reads what the plan
// says, of another its completed files.
func SliceOf(v *filegroup.View, p *table.Plan, partition, fileID, baseInstant string) (s groupreader.Slice, ok bool) {
	g := v.Group(partition, fileID)
	if g == nil {
		return s, false
	}
	var planned *groupreader.Slice
	for i := range p.Slices {
		if p.Slices[i].Partition == partition && p.Slices[i].FileID == fileID {
			planned = &p.Slices[i]
		}
	}
	for _, j := range sliceJobs(v, g, planned, "") {
		if j.slice.BaseInstant == baseInstant {
			return j.slice, true
		}
	}
	return s, false
}
