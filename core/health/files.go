package health

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/filegroup"
	"hudiscope/core/logfile"
	"hudiscope/core/timeline"
)

// file names a file of a partition.
type file struct{ partition, name string }

// written is a file that a completed commit wrote.
type written struct {
	file
	commit string
	log    bool
}

// wrote is the size of a file as the commit that wrote it last tells.
type wrote struct {
	size   int64
	commit string
}

// ledger is what the timeline's metadata says about files.
type ledger struct {
	// mentioned are all files that a completed commit, rollback or restore names.
	mentioned map[file]bool
	// removed are files that a clean, rollback or restore says it deleted.
	removed map[file]bool
	gone    map[string]bool // partitions deleted by a clean
	groups  map[filegroup.GroupID][]written
	// commits are the completed commits whose metadata was read and has stats.
	commits map[string]*Commit
	// wrote are the sizes that commits say their files had.
	wrote map[file]wrote
	// present are the files of the listing.
	present  map[file]bool
	replaced map[filegroup.GroupID]string
}

func (in *Input) books() *ledger {
	if in.ledger != nil {
		return in.ledger
	}
	l := &ledger{mentioned: map[file]bool{}, removed: map[file]bool{}, gone: map[string]bool{}, groups: map[filegroup.GroupID][]written{},
		wrote: map[file]wrote{}, commits: map[string]*Commit{}, present: map[file]bool{}, replaced: map[filegroup.GroupID]string{}}
	in.ledger = l
	for i := range in.Commits {
		c := &in.Commits[i]
		if c.Meta == nil {
			continue
		}
		if len(c.Meta.Partitions) > 0 {
			l.commits[c.Instant.Requested] = c
		}
		for _, p := range c.Meta.Partitions {
			for k := range p.Stats {
				s := &p.Stats[k]
				if s.Path == "" {
					continue
				}
				f := file{p.Partition, base(s.Path)}
				_, isLog := logfile.ParseName(f.name)
				l.mentioned[f] = true
				if s.FileSizeInBytes > l.wrote[f].size {
					l.wrote[f] = wrote{s.FileSizeInBytes, c.Instant.Requested}
				}
				l.groups[filegroup.GroupID{Partition: p.Partition, FileID: s.FileID}] = append(l.groups[filegroup.GroupID{Partition: p.Partition, FileID: s.FileID}], written{f, c.Instant.Requested, isLog})
				for _, n := range s.LogFiles {
					l.mentioned[file{p.Partition, base(n)}] = true
				}
				for n := range s.CDCStats {
					l.mentioned[file{p.Partition, base(n)}] = true
				}
			}
		}
		for _, r := range c.Meta.Replaced {
			for _, id := range r.FileIDs {
				l.replaced[filegroup.GroupID{Partition: r.Partition, FileID: id}] = c.Instant.Requested
			}
		}
	}
	for i := range in.Services {
		w := in.Services[i].Work
		if w == nil || !in.Services[i].Instant.IsCompleted() {
			continue
		}
		if w.Clean != nil {
			for _, p := range w.Clean.Partitions {
				l.gone[p.Partition] = l.gone[p.Partition] || p.Gone
				for _, n := range p.Deleted {
					l.removed[file{p.Partition, n}] = true
				}
			}
		}
		if w.Rollback != nil {
			l.rollback(w.Rollback)
		}
		if w.Restore != nil {
			for k := range w.Restore.Rollbacks {
				l.rollback(&w.Restore.Rollbacks[k])
			}
		}
	}
	for _, p := range in.View.Partitions {
		for _, o := range p.Other {
			l.present[file{p.Path, o.Name}] = true
		}
		for _, g := range p.Groups {
			for _, s := range g.Slices {
				if s.Base != nil {
					l.present[file{p.Path, s.Base.Name}] = true
				}
				for _, x := range s.Logs {
					l.present[file{p.Path, x.File}] = true
				}
			}
		}
	}
	return l
}

func (l *ledger) rollback(w *api.RollbackWork) {
	for _, p := range w.Partitions {
		for _, n := range p.Deleted {
			l.removed[file{p.Partition, n}] = true
		}
		for _, n := range append(append([]api.FileSize(nil), p.CommandLogs...), p.WriteLogs...) {
			l.mentioned[file{p.Partition, n.Path}] = true
		}
	}
}

// current returns the files of a group's newest slice as the commits tell: the newest base file
// and the log files of later commits.
func current(list []written) []written {
	sort.SliceStable(list, func(i, j int) bool { return list[i].commit < list[j].commit })
	from := 0
	for i, w := range list {
		if !w.log {
			from = i
		}
	}
	out := list[from:]
	if len(list) > 0 && !list[from].log {
		// One commit may name several base files of a group only when a task was retried.
		return out
	}
	return list
}

const noListing = "The listing is not complete: a file that it lacks may be there."

func missingFiles(in *Input) ([]api.HealthFinding, string) {
	if !in.View.Complete {
		return nil, noListing
	}
	l := in.books()
	commits := newFinding("error", "Files of the latest slices are missing")
	commits.Hudi = "A query that needs such a file fails with a file-not-found error; rows of its file group can't be read."
	unmarked := map[string]bool{}
	for _, u := range in.Unmarked {
		unmarked[u.Partition] = true
	}
	for _, id := range sortedGroups(l.groups) {
		if l.replaced[id] != "" || l.gone[id.Partition] || unmarked[id.Partition] {
			continue
		}
		if g := in.View.Group(id.Partition, id.FileID); g != nil && g.ReplacedBy != "" {
			continue
		}
		for _, w := range current(l.groups[id]) {
			if l.present[w.file] || l.removed[w.file] || strings.HasSuffix(w.name, "_hudiext") {
				continue
			}
			commits.add(api.HealthEvidence{Text: "commit " + w.commit + " wrote it", Instant: w.commit, Partition: id.Partition, FileID: id.FileID, File: w.name})
			if commits.Count == 1 {
				commits.Link = api.HealthLink{View: "files", Partition: id.Partition, FileID: id.FileID}
			}
		}
	}
	commits.Detail = fmt.Sprintf("%s that completed commits wrote, and that no later commit, clean or rollback accounts for, are not in the listing.", plural(commits.Count, "file"))

	plans := newFinding("error", "A pending plan names files that are missing")
	plans.Hudi = "The compaction or clustering fails; until then a snapshot of the file group lacks what these files held."
	saved := newFinding("error", "Files that a savepoint keeps are missing")
	saved.Hudi = "A restore to this savepoint fails or loses rows."
	for i := range in.Services {
		s := &in.Services[i]
		if s.Work == nil {
			continue
		}
		if s.Work.Plan != nil && !s.Instant.IsCompleted() {
			for _, x := range s.Work.Plan.Slices {
				for _, n := range append([]string{x.Base}, x.Logs...) {
					if n != "" && !l.present[file{x.Partition, n}] && !unmarked[x.Partition] {
						plans.add(api.HealthEvidence{Text: "named in the plan of " + string(s.Instant.Action) + " " + s.Instant.Requested, Instant: s.Instant.Requested, Partition: x.Partition, FileID: x.FileID, File: n})
						plans.Link = api.HealthLink{View: "timeline", Instant: s.Instant.Requested, Action: string(s.Instant.Action)}
					}
				}
			}
		}
		if s.Work.Savepoint != nil && s.Instant.IsCompleted() {
			for _, p := range s.Work.Savepoint.Partitions {
				for _, n := range p.Files {
					if !l.present[file{p.Partition, n}] && !unmarked[p.Partition] {
						saved.add(api.HealthEvidence{Text: "kept by savepoint " + s.Instant.Requested, Instant: s.Instant.Requested, Partition: p.Partition, File: n})
						saved.Link = api.HealthLink{View: "timeline", Instant: s.Instant.Requested, Action: "savepoint"}
					}
				}
			}
		}
	}
	plans.Detail = fmt.Sprintf("%s of pending plans are not in the listing.", plural(plans.Count, "file"))
	saved.Detail = fmt.Sprintf("%s that savepoints keep are not in the listing.", plural(saved.Count, "file"))
	note := ""
	if !in.All {
		note = "Only the newest commits were looked at."
	}
	return slices.Concat(commits.list(), plans.list(), saved.list(), versionGaps(l).list()), note
}

// versionGaps finds versions of log files that are not there between those that are: writers number the log
// files of a slice from 1 on, so that one that no commit names any more leaves a gap.
func versionGaps(l *ledger) *finding {
	out := newFinding("note", "Numbers of log files are left out")
	out.Detail = "The log files of a slice are numbered from 1 on. Where one is left out a file is missing, or it was one of a task that was retried, which writers remove."
	out.Hudi = "Nothing is said: what such a file held is not read."
	type slice struct{ partition, fileID, instant string }
	versions := map[slice]map[int]bool{}
	for f := range l.present {
		n, ok := logfile.ParseName(f.name)
		if !ok || n.Version < 1 || n.FileID == "" {
			continue
		}
		k := slice{f.partition, n.FileID, n.Instant}
		if versions[k] == nil {
			versions[k] = map[int]bool{}
		}
		versions[k][n.Version] = true
	}
	keys := slices.SortedFunc(maps.Keys(versions), func(a, b slice) int {
		return cmp.Or(strings.Compare(a.partition, b.partition), strings.Compare(a.fileID, b.fileID), strings.Compare(a.instant, b.instant))
	})
	for _, k := range keys {
		list := slices.Sorted(maps.Keys(versions[k]))
		last := list[len(list)-1]
		if last == len(list) {
			continue
		}
		first := 1 // the first number that is left out
		for first <= len(list) && list[first-1] == first {
			first++
		}
		out.add(api.HealthEvidence{Text: fmt.Sprintf("%d of the log files 1 to %d are not there, the first of them is %d", last-len(list), last, first), Instant: k.instant, Partition: k.partition, FileID: k.fileID, Value: float64(last - len(list)), Unit: "files"})
		if out.Count == 1 {
			out.Link = api.HealthLink{View: "files", Partition: k.partition, FileID: k.fileID}
		}
	}
	return out
}

// cutFiles finds files that are shorter than their commit says.
func cutFiles(in *Input) ([]api.HealthFinding, string) {
	l := in.books()
	cut := newFinding("error", "Files are shorter than when they were written")
	cut.Hudi = "A query fails on a cut base file. A cut log file is read up to the damage: rows keep older values, without an error."
	long := newFinding("note", "Files are longer than their commits tell")
	long.Hudi = "A base file is written once: a longer one is another file. To a log file of a table below version 8 a rollback or a write that did not complete may have appended blocks, which count or not by their instants."
	empty := newFinding("note", "Log files without content")
	empty.Hudi = "Nothing is read from it, without an error. A write that failed early leaves such a file; so does a copy that was cut."
	unknown := 0
	look := func(partition, fileID, name string, size int64) {
		w := l.wrote[file{partition, name}]
		switch {
		case size < 0 && w.size > 0:
			unknown++
		case size > w.size && w.size > 0:
			long.add(api.HealthEvidence{Text: fmt.Sprintf("%d bytes, %d that commit %s wrote", size, w.size, w.commit), Instant: w.commit, Partition: partition, FileID: fileID, File: name, Value: float64(size - w.size), Unit: "bytes"})
			if _, log := logfile.ParseName(name); !log {
				long.worse("error")
			}
			if long.Count == 1 {
				long.Link = api.HealthLink{View: "files", Partition: partition, FileID: fileID}
			}
		case size == 0 && w.size == 0:
			if _, log := logfile.ParseName(name); log {
				empty.add(api.HealthEvidence{Text: "0 bytes", Partition: partition, FileID: fileID, File: name, Unit: "bytes"})
				if empty.Count == 1 {
					empty.Link = api.HealthLink{View: "files", Partition: partition, FileID: fileID}
				}
			}
		case size >= 0 && size < w.size:
			cut.add(api.HealthEvidence{Text: fmt.Sprintf("%d bytes of %d that commit %s wrote", size, w.size, w.commit), Instant: w.commit, Partition: partition, FileID: fileID, File: name, Value: float64(w.size - size), Unit: "bytes"})
			if cut.Count == 1 {
				cut.Link = api.HealthLink{View: "files", Partition: partition, FileID: fileID}
			}
		}
	}
	for _, p := range in.View.Partitions {
		for _, g := range p.Groups {
			for _, s := range g.Slices {
				if s.Base != nil {
					look(p.Path, g.FileID, s.Base.Name, s.Base.Size)
				}
				for i := range s.Logs {
					look(p.Path, g.FileID, s.Logs[i].File, s.Logs[i].Size)
				}
			}
		}
	}
	cut.Detail = fmt.Sprintf("Fewer bytes are there than the commit tells, in %s.", plural(cut.Count, "file"))
	long.Detail = fmt.Sprintf("More bytes are there than the commit tells, in %s.", plural(long.Count, "file"))
	empty.Detail = fmt.Sprintf("No byte is there, in %s that no commit of the active timeline names with a size.", plural(empty.Count, "log file"))
	if unknown > 0 && cut.Count == 0 {
		return slices.Concat(long.list(), empty.list()), "The listing does not tell the sizes of files."
	}
	return slices.Concat(cut.list(), long.list(), empty.list()), ""
}

func sortedGroups(m map[filegroup.GroupID][]written) []filegroup.GroupID {
	out := make([]filegroup.GroupID, 0, len(m))
	for id := range m {
		out = append(out, id)
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Partition != out[j].Partition {
			return out[i].Partition < out[j].Partition
		}
		return out[i].FileID < out[j].FileID
	})
	return out
}

func orphanFiles(in *Input) ([]api.HealthFinding, string) {
	l := in.books()
	unknown := newFinding("warning", "Files of instants that the timeline does not have")
	unknown.Hudi = "Readers pass them over. They were left by writes that failed and were rolled back without them; Hudi deletes them only by its marker files, so they stay until they are deleted by hand."
	unnamed := newFinding("warning", "Files that their completed instant does not name")
	unnamed.Hudi = "A task that was tried twice left them. Hudi deletes such files before it commits; one that stays it reads in place of the right one, or beside it. Here the rows are those of the files that the instant names, as long as no release is asked for."
	logs := newFinding("note", "Log files that no commit and no rollback names")
	logs.Hudi = "Their blocks count or not by the instant in each block's header: blocks of failed writes are passed over."
	pending := newFinding("note", "Files of pending instants")
	pending.Hudi = "Readers pass them over until the instant completes; a rollback deletes them."
	other := newFinding("note", "Files that are no data files")
	other.Hudi = "Hudi passes them over by their names."
	bytes := map[*finding]int64{}
	add := func(f *finding, g *filegroup.Group, name, instant, why string, size int64) {
		f.add(api.HealthEvidence{Text: why, Instant: instant, Partition: g.Partition, FileID: g.FileID, File: name, Value: float64(max(size, 0)), Unit: "bytes"})
		bytes[f] += max(size, 0)
		if f.Count == 1 {
			f.Link = api.HealthLink{View: "files", Partition: g.Partition, FileID: g.FileID}
		}
	}
	// exact looks at a file whose name holds the instant that wrote it.
	exact := func(g *filegroup.Group, name, instant string, size int64, state filegroup.FileState, why string) {
		switch {
		case state == filegroup.FileOrphan:
			add(unknown, g, name, instant, why, size)
		case state == filegroup.FileUncommitted:
			add(pending, g, name, instant, why, size)
		case l.commits[instant] != nil && !l.mentioned[file{g.Partition, name}] && !strings.HasSuffix(name, "_hudiext"):
			add(unnamed, g, name, instant, "the metadata of "+instant+" names other files", size)
		}
	}
	for _, p := range in.View.Partitions {
		for _, o := range p.Other {
			if strings.HasSuffix(o.Name, ".crc") || strings.HasPrefix(o.Why, filegroup.OtherBase) {
				continue
			}
			if n, ok := logfile.ParseName(o.Name); ok {
				// Only what a retried task left is a log file outside of every slice.
				unnamed.add(api.HealthEvidence{Text: o.Why, Instant: n.Instant, Partition: p.Path, FileID: n.FileID, File: o.Name, Value: float64(max(o.Size, 0)), Unit: "bytes"})
				bytes[unnamed] += max(o.Size, 0)
				unnamed.Link = api.HealthLink{View: "files", Partition: p.Path, FileID: n.FileID}
				continue
			}
			other.add(api.HealthEvidence{Text: o.Why, Partition: p.Path, File: o.Name, Value: float64(max(o.Size, 0)), Unit: "bytes"})
			bytes[other] += max(o.Size, 0)
			other.Link = api.HealthLink{View: "files", Partition: p.Path}
		}
		for _, g := range p.Groups {
			for _, s := range g.Slices {
				if b := s.Base; b != nil {
					state, why := in.View.BaseState(g, b)
					exact(g, b.Name, b.Instant, b.Size, state, why)
				}
				for i := range s.Logs {
					x := &s.Logs[i]
					state, why := in.View.WriterState(g, s, x)
					switch {
					case in.View.Version >= 8:
						exact(g, x.File, x.Instant, x.Size, state, why)
					case state == filegroup.FileOrphan && strings.HasPrefix(why, filegroup.NoInstantNames):
						add(logs, g, x.File, x.Instant, why, x.Size)
					case state == filegroup.FileOrphan:
						add(unknown, g, x.File, x.Instant, why, x.Size)
					case state == filegroup.FileUncommitted:
						add(pending, g, x.File, x.Instant, why, x.Size)
					}
				}
			}
		}
	}
	for _, f := range []*finding{unknown, unnamed, logs, pending, other} {
		f.Detail = fmt.Sprintf("%s, %s.", plural(f.Count, "file"), bytesText(bytes[f]))
	}
	note := ""
	if !in.All {
		note = "Only the newest commits were looked at."
	}
	return slices.Concat(unknown.list(), unnamed.list(), logs.list(), pending.list(), other.list()), note
}

func duplicateBases(in *Input) ([]api.HealthFinding, string) {
	f := newFinding("warning", "Several base files of one slice")
	f.Hudi = "Its file-system view takes the one that comes last in the listing, whichever the commit names."
	l := in.books()
	for _, p := range in.View.Partitions {
		for _, o := range p.Other {
			if !strings.HasPrefix(o.Why, filegroup.OtherBase) {
				continue
			}
			n, _ := filegroup.ParseBaseName(o.Name)
			text := o.Why
			counts, _, _ := strings.Cut(strings.TrimPrefix(o.Why, filegroup.OtherBase), ",")
			switch {
			case l.mentioned[file{p.Path, o.Name}]:
				text += "; the commit's metadata names this one"
				f.worse("error")
			case o.Name > counts:
				text += "; Hudi takes this one"
				f.worse("error")
			}
			f.add(api.HealthEvidence{Text: text, Instant: n.Instant, Partition: p.Path, FileID: n.FileID, File: o.Name, Value: float64(max(o.Size, 0)), Unit: "bytes"})
			f.Link = api.HealthLink{View: "files", Partition: p.Path, FileID: n.FileID, BaseInstant: n.Instant}
		}
	}
	f.Detail = fmt.Sprintf("%s beside the base file that counts for its slice.", plural(f.Count, "base file"))
	return f.list(), ""
}

func partitionMarkers(in *Input) ([]api.HealthFinding, string) {
	f := newFinding("error", "Partitions without a marker")
	f.Hudi = "A listing without the metadata table does not take such a directory for a partition: its rows are not read. With the metadata table they are."
	for _, u := range in.Unmarked {
		f.add(api.HealthEvidence{Text: fmt.Sprintf("%s, %s; commit %s wrote to it", plural(u.Files, "file"), bytesText(u.Bytes), u.Commit), Instant: u.Commit, Partition: u.Partition, File: filegroup.PartitionMarker, Value: float64(u.Bytes), Unit: "bytes"})
		f.Link = api.HealthLink{View: "files", Partition: u.Partition}
	}
	f.Detail = fmt.Sprintf("%s with data files have no %s file.", plural(f.Count, "directory of a partition"), filegroup.PartitionMarker)
	if f.Count > 1 {
		f.Detail = fmt.Sprintf("%d directories of partitions with data files have no %s file.", f.Count, filegroup.PartitionMarker)
	}
	return f.list(), ""
}

// viewFindings passes on what the timeline and the view found, but for what other checks tell better.
func viewFindings(in *Input) ([]api.HealthFinding, string) {
	var out []api.HealthFinding
	for _, f := range in.View.Findings {
		if f.Title == filegroup.NoMarkerTitle {
			continue
		}
		out = append(out, api.HealthFinding{Level: f.Level, Title: f.Title, Detail: f.Detail, Count: 1, Evidence: []api.HealthEvidence{{Text: f.Detail, File: f.File}}, Link: api.HealthLink{View: "files", File: f.File}})
	}
	for _, f := range in.Timeline.Findings {
		switch f.Title {
		case "Completed rollback without content", "Completed instant without content", "Completed instant that was never requested":
			continue
		}
		out = append(out, api.HealthFinding{Level: f.Level, Title: f.Title, Detail: f.Detail, Count: 1, Evidence: []api.HealthEvidence{{Text: f.Detail, File: f.File}}, Link: api.HealthLink{View: "timeline", File: f.File}})
	}
	return out, ""
}

func smallFiles(in *Input) ([]api.HealthFinding, string) {
	small, perPartition := int64(in.limit("small.bytes")), int(in.limit("small.files"))
	f := newFinding("note", "Small base files")
	f.Hudi = "Writes with an index put new inserts into small files first (hoodie.parquet.small.file.limit); clustering rewrites many small files as few."
	counts, sizes, all := map[string]int{}, map[string]int64{}, 0
	in.latest(func(g *filegroup.Group, s *filegroup.Slice) {
		if s.Base == nil || s.Base.Size < 0 {
			return
		}
		all++
		if s.Base.Size < small {
			counts[g.Partition]++
			sizes[g.Partition] += s.Base.Size
		}
	})
	var parts []string
	total := 0
	for p := range counts {
		parts = append(parts, p)
		total += counts[p]
	}
	sort.Slice(parts, func(i, j int) bool {
		if counts[parts[i]] != counts[parts[j]] {
			return counts[parts[i]] > counts[parts[j]]
		}
		return parts[i] < parts[j]
	})
	for _, p := range parts {
		if counts[p] > perPartition {
			f.worse("warning")
		}
		f.add(api.HealthEvidence{Text: fmt.Sprintf("%s, %s on average", plural(counts[p], "small base file"), bytesText(sizes[p]/int64(counts[p]))), Partition: p, Value: float64(counts[p]), Unit: "files"})
	}
	if len(parts) > 0 {
		f.Link = api.HealthLink{View: "files", Partition: parts[0]}
	}
	f.Count = total
	f.Detail = fmt.Sprintf("%d of %s of the latest slices are smaller than %s, in %s.", total, plural(all, "base file"), bytesText(small), plural(len(parts), "partition"))
	return f.list(), ""
}

func logRatio(in *Input) ([]api.HealthFinding, string) {
	if !in.Config.MergeOnRead() {
		return nil, ""
	}
	ratio, large, many := in.limit("log.ratio"), int64(in.limit("log.bytes")), int(in.limit("log.files"))
	f := newFinding("note", "Slices with more log than base")
	f.Hudi = "A snapshot query merges these logs each time it reads; a compaction writes them into a new base file. A read-optimized query does not see them at all."
	type entry struct {
		e    api.HealthEvidence
		logs int64
	}
	var list []entry
	in.latest(func(g *filegroup.Group, s *filegroup.Slice) {
		var logs int64
		for _, x := range s.Logs {
			logs += max(x.Size, 0)
		}
		if len(s.Logs) == 0 {
			return
		}
		r, text := 0.0, "no base file"
		if s.Base != nil {
			if s.Base.Size <= 0 {
				return
			}
			r = float64(logs) / float64(s.Base.Size)
			text = fmt.Sprintf("%.1f times its base file", r)
		}
		if s.Base != nil && r <= ratio && len(s.Logs) <= many {
			return
		}
		if logs >= large || len(s.Logs) > many {
			f.worse("warning")
		}
		list = append(list, entry{api.HealthEvidence{Text: fmt.Sprintf("%s, %s: %s", plural(len(s.Logs), "log file"), bytesText(logs), text), Instant: s.BaseInstant, Partition: g.Partition, FileID: g.FileID, Value: r, Unit: "times"}, logs})
	})
	sort.SliceStable(list, func(i, j int) bool { return list[i].logs > list[j].logs })
	var total int64
	for _, e := range list {
		f.add(e.e)
		total += e.logs
	}
	if len(list) > 0 {
		f.Link = api.HealthLink{View: "blocks", Partition: list[0].e.Partition, FileID: list[0].e.FileID, BaseInstant: list[0].e.Instant}
	}
	f.Detail = fmt.Sprintf("%s with %s of log files.", plural(len(list), "slice"), bytesText(total))
	return f.list(), ""
}

// Metadata makes findings of the disagreements of the metadata table with the storage, one for each
// title.
func Metadata(list []timeline.Finding) []api.HealthFinding {
	var order []string
	by := map[string]*finding{}
	for _, x := range list {
		f := by[x.Title]
		if f == nil {
			f = newFinding(x.Level, x.Title)
			f.Hudi = "Queries that list by the metadata table see what it says; with hoodie.metadata.enable=false they see the storage. Dropping the metadata table makes the next writer build it anew."
			f.Link = api.HealthLink{View: "metadata", File: x.File}
			by[x.Title] = f
			order = append(order, x.Title)
		}
		f.worse(x.Level)
		f.add(api.HealthEvidence{Text: x.Detail, File: x.File})
	}
	var out []api.HealthFinding
	for _, t := range order {
		f := by[t]
		f.Detail = f.Evidence[0].Text
		if f.Count > 1 {
			f.Detail = fmt.Sprintf("%d times; for instance: %s", f.Count, f.Detail)
		}
		out = append(out, f.list()...)
	}
	return out
}

func metadataTable(in *Input) ([]api.HealthFinding, string) { return in.Metadata, in.MetadataNote }

func writeErrors(in *Input) ([]api.HealthFinding, string) {
	f := newFinding("warning", "Commits with write errors")
	f.Hudi = "With hoodie.datasource.write.streaming.ignore.failed.batch or a caller that commits anyway, the records are lost."
	for i := range in.Commits {
		c := &in.Commits[i]
		if c.Meta == nil {
			continue
		}
		var n int64
		for _, p := range c.Meta.Partitions {
			for k := range p.Stats {
				n += p.Stats[k].TotalWriteErrors
			}
		}
		if n > 0 {
			f.add(api.HealthEvidence{Text: fmt.Sprintf("%d records could not be written", n), Instant: c.Instant.Requested, File: c.Instant.File.Name, Value: float64(n), Unit: "records"})
			f.Link = api.HealthLink{View: "timeline", Instant: c.Instant.Requested, Action: string(c.Instant.Action)}
		}
	}
	f.Detail = fmt.Sprintf("%s report records that could not be written.", plural(f.Count, "commit"))
	return f.list(), ""
}
