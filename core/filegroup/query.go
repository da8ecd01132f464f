package filegroup

import (
	"sort"

	"hudiscope/core/logfile"
	"hudiscope/core/timeline"
)

// Partition returns a partition by its path, nil when the view has none.
func (v *View) Partition(path string) *Partition { return v.byPartition[path] }

// Group returns a file group, nil when the view has none.
func (v *View) Group(partition, fileID string) *Group { return v.groups[GroupID{partition, fileID}] }

// Committed reports whether the slice of a base instant is seen: the visible timeline has
// the instant, or begins later and the instant is not a pending one.
func (v *View) Committed(key string) bool {
	if v.Visible.Empty() || key > v.last {
		return false
	}
	return v.Visible.Contains(key) || v.first != "" && key < v.first && !v.pendingWrite(key)
}

// pendingWrite reports whether an instant is on the timeline as a write or a clustering that is not
// completed, and in no other state. When it is the oldest that is left, its time alone would make it
// archived and completed. The slice of a pending compaction is seen by its logs.
func (v *View) pendingWrite(instant string) bool {
	pending := false
	for _, i := range v.Timeline.Find(instant) {
		switch i.Action {
		case timeline.Commit, timeline.DeltaCommit, timeline.ReplaceCommit, timeline.Clustering:
			if i.IsCompleted() {
				return false
			}
			pending = true
		}
	}
	return pending
}

// completed reports whether what an instant wrote counts: it is completed, or older than
// the write timeline.
func (v *View) completed(instant string) bool { return v.Timeline.IsCompleted(instant) }

// committed returns the group's slices that are seen, newest first.
func (v *View) committed(g *Group) []*Slice {
	var out []*Slice
	for _, s := range g.Slices {
		if v.Committed(s.BaseInstant) {
			out = append(out, s)
		}
	}
	return out
}

// filtered drops what must not be read from a slice: before version 8 the base file of a
// pending compaction, later the files of instants that are not completed.
func (v *View) filtered(g *Group, s *Slice) *Slice {
	if v.Version < 8 {
		if s.Base == nil || g.PendingCompaction != s.BaseInstant {
			return s
		}
		out := *s
		out.Base = nil
		return &out
	}
	out := v.withoutUncommittedLogs(s)
	if s.Base != nil && !v.completed(s.Base.Instant) {
		c := *out
		c.Base = nil
		out = &c
	}
	return out
}

// withoutUncommittedLogs drops the log files of delta commits that are not completed
// (version 8 and later; before that the blocks tell).
func (v *View) withoutUncommittedLogs(s *Slice) *Slice {
	if v.Version < 8 {
		return s
	}
	keep := s.Logs[:0:0]
	for _, l := range s.Logs {
		if v.completed(l.Instant) {
			keep = append(keep, l)
		}
	}
	if len(keep) == len(s.Logs) {
		return s
	}
	out := *s
	out.Logs = keep
	return &out
}

// each calls f for the groups of a partition, by file id.
func (v *View) each(partition string, f func(*Group)) {
	if p := v.byPartition[partition]; p != nil {
		for _, g := range p.Groups {
			f(g)
		}
	}
}

// LatestFileSlices returns the newest committed slice of every live group of a partition,
// by file id.
func (v *View) LatestFileSlices(partition string) []*Slice {
	var out []*Slice
	v.each(partition, func(g *Group) {
		if g.ReplacedBy != "" {
			return
		}
		if s := v.committed(g); len(s) > 0 {
			out = append(out, v.filtered(g, s[0]))
		}
	})
	return out
}

// replacedBeforeOrOn reports whether the group was replaced at or before an instant.
func replacedBeforeOrOn(g *Group, instant string) bool {
	return g.ReplacedBy != "" && instant >= g.ReplacedBy
}

// LatestMergedSlicesBeforeOrOn returns for every group of a partition that is not replaced
// by then the newest committed slice with a base instant at or before maxInstant. A slice
// that begins at a pending compaction is merged with the one before it (spec file-view.md
// section 6). These are the slices that a snapshot as of maxInstant reads.
func (v *View) LatestMergedSlicesBeforeOrOn(partition, maxInstant string) []*Slice {
	var out []*Slice
	v.each(partition, func(g *Group) {
		if replacedBeforeOrOn(g, maxInstant) {
			return
		}
		if s := v.MergedSliceBeforeOrOn(g, maxInstant); s != nil {
			out = append(out, s)
		}
	})
	return out
}

// MergedSliceBeforeOrOn is LatestMergedSlicesBeforeOrOn for one group, replaced or not; nil
// when the group has no committed slice by then.
func (v *View) MergedSliceBeforeOrOn(g *Group, maxInstant string) *Slice {
	all := v.committed(g)
	i := 0
	for i < len(all) && all[i].BaseInstant > maxInstant {
		i++
	}
	if i == len(all) {
		return nil
	}
	s := v.withoutUncommittedLogs(all[i])
	if g.PendingCompaction == "" || s.BaseInstant != g.PendingCompaction || i+1 == len(all) {
		return s
	}
	before := v.withoutUncommittedLogs(all[i+1])
	merged := *before
	merged.Logs = append(append([]LogFile{}, before.Logs...), s.Logs...)
	sort.SliceStable(merged.Logs, func(i, j int) bool { return logfile.Compare(merged.Logs[i].Name, merged.Logs[j].Name) < 0 })
	return &merged
}

// AllLogsMergedBeforeOrOn returns for every group of a partition that is not replaced by
// then one slice without base file that holds the logs of all slices up to maxInstant, those
// that begin at an instant which is not seen included; a group with a single slice gives that slice as it is. This is what a
// streaming read that skips compactions takes.
func (v *View) AllLogsMergedBeforeOrOn(partition, maxInstant string) []*Slice {
	var out []*Slice
	v.each(partition, func(g *Group) {
		if replacedBeforeOrOn(g, maxInstant) {
			return
		}
		var upTo []*Slice
		for _, s := range g.Slices {
			if s.BaseInstant <= maxInstant {
				upTo = append(upTo, s)
			}
		}
		switch len(upTo) {
		case 0:
			return
		case 1:
			out = append(out, v.withoutUncommittedLogs(upTo[0]))
			return
		}
		m := &Slice{Partition: g.Partition, FileID: g.FileID, BaseInstant: upTo[0].BaseInstant}
		for i := len(upTo) - 1; i >= 0; i-- {
			m.Logs = append(m.Logs, v.withoutUncommittedLogs(upTo[i]).Logs...)
		}
		sort.SliceStable(m.Logs, func(i, j int) bool { return logfile.Compare(m.Logs[i].Name, m.Logs[j].Name) < 0 })
		out = append(out, m)
	})
	return out
}

// LatestBaseFiles returns the newest base file of every live group of a partition that is
// neither the output of a pending compaction nor of a pending clustering.
func (v *View) LatestBaseFiles(partition string) []*BaseFile {
	var out []*BaseFile
	v.each(partition, func(g *Group) {
		if g.ReplacedBy == "" {
			if b := v.latestBase(g, ""); b != nil {
				out = append(out, b)
			}
		}
	})
	return out
}

// LatestBaseFilesBeforeOrOn is LatestBaseFiles as of an instant: what a read-optimized
// query as of it reads.
func (v *View) LatestBaseFilesBeforeOrOn(partition, maxInstant string) []*BaseFile {
	var out []*BaseFile
	v.each(partition, func(g *Group) {
		if !replacedBeforeOrOn(g, maxInstant) {
			if b := v.latestBase(g, maxInstant); b != nil {
				out = append(out, b)
			}
		}
	})
	return out
}

func (v *View) latestBase(g *Group, maxInstant string) *BaseFile {
	for _, s := range v.committed(g) {
		b := s.Base
		if b == nil || maxInstant != "" && b.Instant > maxInstant || b.Instant == g.PendingCompaction || v.clustering[b.Instant] {
			continue
		}
		return b
	}
	return nil
}

// CommittedGroup is a group with the slices that are seen, newest first.
type CommittedGroup struct {
	*Group
	Committed []*Slice
}

// AllFileGroups returns the live groups of a partition with their committed slices; a group
// of which nothing is committed has none.
func (v *View) AllFileGroups(partition string) []CommittedGroup {
	var out []CommittedGroup
	v.each(partition, func(g *Group) {
		if g.ReplacedBy == "" {
			out = append(out, CommittedGroup{g, v.committed(g)})
		}
	})
	return out
}

// ReplacedFileGroups returns the groups of a partition that a completed replacecommit replaced.
func (v *View) ReplacedFileGroups(partition string) []CommittedGroup {
	var out []CommittedGroup
	v.each(partition, func(g *Group) {
		if g.ReplacedBy != "" {
			out = append(out, CommittedGroup{g, v.committed(g)})
		}
	})
	return out
}

// FileState says whether what a file holds counts.
type FileState string

// The states of a file.
const (
	FileCommitted FileState = "committed"
	// FileUncommitted is a file of a pending instant, FileOrphan one of which no instant knows: a write that
	// failed left it. Readers pass both over.
	FileUncommitted FileState = "uncommitted"
	FileOrphan      FileState = "orphan"
	FileCDC         FileState = "cdc"
)

// BaseState tells the state of a base file, and why when it is not committed.
func (v *View) BaseState(g *Group, b *BaseFile) (state FileState, why string) {
	if b.Instant == g.PendingCompaction && !v.completed(b.Instant) {
		return FileUncommitted, "the compaction " + b.Instant + " that writes it is not completed"
	}
	if v.clustering[b.Instant] && !v.completed(b.Instant) {
		return FileUncommitted, "the clustering " + b.Instant + " that writes it is not completed"
	}
	return v.instantState(b.Instant)
}

// LogState tells the state of a log file, and why when it is not committed. Before version 8
// a log file holds the blocks of several commits: its state is that of its slice, and the
// blocks have states of their own.
func (v *View) LogState(g *Group, s *Slice, l *LogFile) (state FileState, why string) {
	instant := l.Instant
	if v.Version < 8 {
		instant = s.BaseInstant
		if instant == g.PendingCompaction {
			// Logs written after a compaction was scheduled carry its instant and are read.
			instant = ""
		}
	}
	if instant != "" {
		if state, why = v.instantState(instant); state != FileCommitted {
			return state, why
		}
	}
	if l.CDC {
		return FileCDC, ""
	}
	return FileCommitted, ""
}

func (v *View) instantState(instant string) (FileState, string) {
	if v.Version >= 8 {
		if v.completed(instant) {
			return FileCommitted, ""
		}
	} else if v.done.Contains(instant) || v.doneFirst != "" && instant < v.doneFirst && !v.pendingWrite(instant) {
		return FileCommitted, ""
	}
	for _, i := range v.Timeline.Find(instant) {
		if !i.IsCompleted() {
			return FileUncommitted, "the " + string(i.Action) + " " + instant + " that wrote it is " + i.State.String()
		}
	}
	return FileOrphan, "the timeline has no instant " + instant + ": a write that failed or was rolled back left it"
}

// JSON is the output of the slices command.
type JSON struct {
	Latest     *string                  `json:"latest_completed_write"`
	Partitions map[string]JSONPartition `json:"partitions"`
	Pending    []JSONOperation          `json:"pending_compaction_operations"`
}

// JSONPartition is one partition of JSON.
type JSONPartition struct {
	Latest    []JSONSlice `json:"latest_file_slices"`
	Merged    []JSONSlice `json:"latest_merged_file_slices_before_or_on"`
	BaseFiles []string    `json:"latest_base_files"`
	Groups    []JSONGroup `json:"all_file_groups"`
	Replaced  []JSONGroup `json:"replaced_file_groups"`
}

// JSONGroup is one file group of JSON.
type JSONGroup struct {
	FileID string      `json:"file_id"`
	Slices []JSONSlice `json:"slices"`
}

// JSONSlice is one slice of JSON; logs oldest first.
type JSONSlice struct {
	FileID      string   `json:"file_id"`
	Partition   string   `json:"partition"`
	BaseInstant string   `json:"base_instant"`
	BaseFile    *string  `json:"base_file"`
	Bootstrap   string   `json:"bootstrap_base_file,omitempty"`
	LogFiles    []string `json:"log_files"`
}

// JSONOperation is one operation of a pending compaction in JSON.
type JSONOperation struct {
	Instant     string   `json:"instant"`
	Partition   string   `json:"partition"`
	FileID      string   `json:"file_id"`
	BaseInstant string   `json:"base_instant"`
	DataFile    *string  `json:"data_file"`
	DeltaFiles  []string `json:"delta_files"`
}

func jsonSlice(s *Slice) JSONSlice {
	out := JSONSlice{FileID: s.FileID, Partition: s.Partition, BaseInstant: s.BaseInstant, LogFiles: []string{}}
	if s.Base != nil {
		out.BaseFile, out.Bootstrap = &s.Base.Name, s.Base.Bootstrap
	}
	for _, l := range s.Logs {
		out.LogFiles = append(out.LogFiles, l.File)
	}
	return out
}

func jsonSlices(list []*Slice) []JSONSlice {
	out := []JSONSlice{}
	for _, s := range list {
		out = append(out, jsonSlice(s))
	}
	return out
}

func jsonGroups(list []CommittedGroup) []JSONGroup {
	out := []JSONGroup{}
	for _, g := range list {
		out = append(out, JSONGroup{g.FileID, jsonSlices(g.Committed)})
	}
	return out
}

// JSON returns the view over the completed commits in the shape of the slices command.
func (v *View) JSON() JSON {
	v = v.Over(v.Timeline.Commits().Completed())
	out := JSON{Partitions: map[string]JSONPartition{}, Pending: []JSONOperation{}}
	if v.Latest != "" {
		out.Latest = &v.Latest
	}
	for _, p := range v.Partitions {
		j := JSONPartition{
			Latest:    jsonSlices(v.LatestFileSlices(p.Path)),
			Merged:    jsonSlices(v.LatestMergedSlicesBeforeOrOn(p.Path, v.Latest)),
			BaseFiles: []string{},
			Groups:    jsonGroups(v.AllFileGroups(p.Path)),
			Replaced:  jsonGroups(v.ReplacedFileGroups(p.Path)),
		}
		for _, b := range v.LatestBaseFiles(p.Path) {
			j.BaseFiles = append(j.BaseFiles, b.Name)
		}
		out.Partitions[p.Path] = j
	}
	for i := range v.Compaction {
		o := &v.Compaction[i]
		j := JSONOperation{Instant: o.Instant, Partition: o.Partition, FileID: o.FileID, BaseInstant: o.BaseInstant, DeltaFiles: o.DeltaFiles()}
		if n := o.DataFile(); n != "" {
			j.DataFile = &n
		}
		out.Pending = append(out.Pending, j)
	}
	return out
}
