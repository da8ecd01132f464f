// Package filegroup builds a table's file-system view: which files belong to which file
// group, which file slices a group has, and which of them a reader sees.
//
//	partition
//	└ file group (file id)
//	  └ file slice (base instant), newest first
//	    ├ base file, or none
//	    └ log files, oldest first
//
// A base file's name tells its slice. For a log file it depends on the table version:
// before version 8 the name holds the slice's base instant; from version 8 on it holds the
// delta commit that wrote the log, and the slice is the newest one that began at or before
// that commit's completion.
//
// Source of the rules: spec file-view.md.
package filegroup

import (
	"context"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"sort"
	"strings"

	"hudiscope/core/commitmeta"
	"hudiscope/core/config"
	"hudiscope/core/corrupt"
	"hudiscope/core/logfile"
	"hudiscope/core/storage"
	"hudiscope/core/timeline"
)

// Options for Build and Load.
type Options struct {
	// Release is the Hudi release whose rules apply; "" is the right answer. The releases agree on file
	// slices, and all of them read what retried tasks left, which is left out when none is asked for.
	Release string
	// List bounds the listing that Load makes.
	List ListOptions
	// ReadRows reads the archived timeline of layout 2. It is needed only when log files of
	// archived delta commits are left in a table of version 8 or later; without it such logs
	// go to the newest slice, with a finding.
	ReadRows timeline.ReadRows
	// ByModTime follows releases 1.x in tables below version 8: a log file goes to the newest slice
	// that began before the modification time of its instant's file, not to the slice its name
	// tells. On a copied table, which has lost those times, that is wrong.
	ByModTime bool
	// Metadata lists partitions by the metadata table, nil when there is none to be trusted. It is
	// asked when the storage does not list names that begin with a dot.
	Metadata func(ctx context.Context, partitions []string) (*Listing, error)
	// MetadataFrom is the number of directories above which Load lists the whole table by Many and
	// not the storage, as where the storage can't be listed; 0 means never. Many gives nil when there is no metadata table for that.
	MetadataFrom int
	Many         func(ctx context.Context) (*Listing, error)
	// Bootstrap returns the source file of a skeleton base file of a bootstrapped table,
	// "" when there is none; nil when the bootstrap index is not read.
	Bootstrap func(partition, fileID string) string
}

// GroupID names a file group.
type GroupID struct{ Partition, FileID string }

// BaseFile is a base file.
type BaseFile struct {
	BaseName
	Name string
	// Path is relative to the source.
	Path string
	// Size in bytes, storage.SizeUnknown when the listing does not tell it.
	Size int64
	// Bootstrap is the source file whose rows this skeleton file belongs to, as the bootstrap
	// index has it; "" for ordinary files.
	Bootstrap string
}

// LogFile is a log file.
type LogFile struct {
	logfile.Name
	File string // the file's name
	Path string // relative to the source
	Size int64
}

// Slice is a file slice.
type Slice struct {
	Partition, FileID string
	// BaseInstant is the slice's key.
	BaseInstant string
	Base        *BaseFile
	// Logs oldest first: in merge order. CDC logs are among them; a reader of rows drops them.
	Logs []LogFile
}

// Empty reports whether the slice has no file.
func (s *Slice) Empty() bool { return s.Base == nil && len(s.Logs) == 0 }

// DataLogs are the log files that a reader of rows merges: those that are not CDC logs.
func (s *Slice) DataLogs() []LogFile {
	var out []LogFile
	for _, l := range s.Logs {
		if !l.CDC {
			out = append(out, l)
		}
	}
	return out
}

// Bytes is the size of the slice's files, as far as it is known.
func (s *Slice) Bytes() int64 {
	var n int64
	if s.Base != nil {
		n += max(s.Base.Size, 0)
	}
	for _, l := range s.Logs {
		n += max(l.Size, 0)
	}
	return n
}

// Group is a file group with all its slices, newest first, also those of instants that
// are not completed.
type Group struct {
	GroupID
	Slices []*Slice
	// ReplacedBy is the instant of the completed replacecommit that replaced the group,
	// PendingCompaction and PendingClustering those of pending plans it takes part in; "" for none.
	ReplacedBy, PendingCompaction, PendingLogCompaction, PendingClustering string
}

// OtherFile is a file of a partition that belongs to no file group.
type OtherFile struct {
	Name, Path string
	Size       int64
	// Why says why it belongs to none.
	Why string
}

// Partition is one partition's file groups, by file id.
type Partition struct {
	Path   string
	Groups []*Group
	Other  []OtherFile
	// Bytes of all files of the directory, as far as it is known.
	Bytes int64
}

// CompactionOperation is one operation of a pending compaction plan.
type CompactionOperation struct {
	Instant string
	commitmeta.CompactionOperation
}

// View is a table's file-system view. It is immutable; Over returns the same files seen
// through another timeline.
type View struct {
	// Release as in Options; Version is the table version.
	Release string
	Version int
	// Timeline is the whole active timeline; Visible is the one that decides which slices are seen.
	Timeline, Visible *timeline.Timeline
	// Latest is the requested time of the last completed write, "" when there is none.
	Latest     string
	Partitions []*Partition
	// Compaction are the operations of pending compactions, by instant, partition and file id.
	Compaction []CompactionOperation
	Findings   []timeline.Finding
	// Complete is false when the listing was not complete.
	Complete bool
	// ByMetadata is set when the files are those that the metadata table lists: what no completed
	// instant wrote is not among them.
	ByMetadata bool
	// NoMarker has the partitions without a marker, with a commit that wrote there.
	NoMarker map[string]string

	first, last string // of Visible
	groups      map[GroupID]*Group
	byModTime   bool
	byPartition map[string]*Partition
	pending     map[GroupID]string // instant of the pending compaction
	doneFirst   string
	done        *timeline.Timeline // completed writes
	clustering  map[string]bool    // instants of pending clusterings
	writers     *logWriters
}

// Load lists the table's partitions (all of them when partitions is nil) and builds the view.
func Load(ctx context.Context, src storage.Source, cfg *config.Config, tl *timeline.Timeline, partitions []string, opt Options) (*View, error) {
	var l *Listing
	var err error
	if partitions == nil {
		l, err = discover(ctx, src, cfg, opt)
	} else {
		l, err = List(ctx, src, cfg, partitions, opt.List)
	}
	if err != nil {
		return nil, err
	}
	if l.DotsHidden {
		if err := unlisted(ctx, src, cfg, tl, partitions, l, opt); err != nil {
			return nil, err
		}
	}
	if opt.Release == "" && len(l.Unmarked) > 0 {
		if err := confirm(ctx, tl, l); err != nil {
			return nil, err
		}
	}
	return Build(ctx, cfg, tl, l, opt)
}

// discover finds all partitions, by the metadata table where there are many.
func discover(ctx context.Context, src storage.Source, cfg *config.Config, opt Options) (*Listing, error) {
	if opt.Many == nil || opt.MetadataFrom <= 0 {
		return Discover(ctx, src, cfg, opt.List)
	}
	few := opt.List
	few.Limit = opt.MetadataFrom
	l, err := Discover(ctx, src, cfg, few)
	var f *storage.Fault
	cannot := errors.As(err, &f) && f.Kind == storage.NoListing
	if !cannot && !errors.Is(err, ErrManyDirectories) {
		return l, err
	}
	m, merr := opt.Many(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case merr == nil && m != nil:
		m.ByMetadata = true
		return m, nil
	case cannot:
		return nil, err
	}
	// What is wrong with the metadata table is a matter of its own: the storage knows its files.
	return Discover(ctx, src, cfg, opt.List)
}

// Build makes the view of listed files. It reads the plans of pending compactions and
// clusterings and the metadata of completed replacecommits. Plans that are damaged are
// findings, not errors.
//
// The view is that of snapshot readers: Visible is tl.Readers().
func Build(ctx context.Context, cfg *config.Config, tl *timeline.Timeline, l *Listing, opt Options) (*View, error) {
	v := &View{Release: opt.Release, Version: cfg.Version, Timeline: tl.Whole(), Complete: l.Complete, ByMetadata: l.ByMetadata, byModTime: opt.ByModTime,
		groups: map[GroupID]*Group{}, byPartition: map[string]*Partition{}, pending: map[GroupID]string{}, clustering: map[string]bool{},
		writers: &logWriters{named: map[string]bool{}, unnamed: map[string]unnamedLog{}, undone: map[string]string{}}}
	for _, n := range l.Notes {
		v.finding("warning", "Files may be missing", n, "")
	}
	v.noMarkers(l)
	if l.From != "" {
		v.finding("note", "Log files are not listed", "The storage does not list names that begin with a dot. The log files were taken from the "+l.From+" in place of the listing; files that no completed instant names are not shown.", "")
	}
	if err := v.plans(ctx); err != nil {
		return nil, err
	}
	files := map[string]*partitionFiles{}
	for _, p := range l.Partitions() {
		files[p] = v.sort(cfg, p, l.Files[p])
	}
	if err := v.archived(ctx, cfg, files, opt.ReadRows); err != nil {
		return nil, err
	}
	v.contradictions(cfg, files)
	if opt.Release == "" {
		if err := v.attempts(ctx, files); err != nil {
			return nil, err
		}
	}
	v.done = v.Timeline.Write().Completed()
	v.doneFirst = v.done.FirstNonSavepoint()
	if x := v.Timeline.Commits().Completed().Last(); x != nil {
		v.Latest = x.Requested
	}
	for _, p := range l.Partitions() {
		v.build(files[p], opt)
	}
	replaced, err := v.replaced(ctx)
	if err != nil {
		return nil, err
	}
	for id, r := range replaced {
		if g := v.groups[id]; g != nil {
			g.ReplacedBy = r
		}
	}
	out := v.Over(v.Timeline.Readers())
	if detail, example := out.PassedOverLogs(cfg, out.Latest); detail != "" {
		out.finding("error", PassedOverTitle, detail, example)
	}
	return out, nil
}

// Over returns the view of the same files through another timeline, which decides what
// is committed: for instance Timeline.Commits().Completed().
func (v *View) Over(visible *timeline.Timeline) *View {
	out := *v
	out.Visible = visible
	out.first, out.last = visible.FirstNonSavepoint(), ""
	if x := visible.Last(); x != nil {
		out.last = x.Requested
	}
	return &out
}

func (v *View) finding(level, title, detail, file string) {
	v.Findings = append(v.Findings, timeline.Finding{Level: level, Title: title, Detail: detail, File: file})
}

// tolerable reports whether an error of a plan is a finding.
func tolerable(err error) bool {
	return corrupt.Is(err) || storage.IsNotExist(err) || errors.Is(err, commitmeta.ErrEmpty)
}

// partitionFiles are the files of one partition, by kind and file id.
type partitionFiles struct {
	path  string
	bases map[string][]BaseFile
	logs  map[string][]LogFile
	other []OtherFile
	bytes int64
}

// plans reads the pending compactions.
func (v *View) plans(ctx context.Context) error {
	pending := v.Timeline.PendingCompaction()
	operations := map[GroupID]CompactionOperation{}
	for i := range pending.Instants {
		x := &pending.Instants[i]
		plan, err := pending.CompactionPlan(ctx, x)
		if err != nil {
			if !tolerable(err) {
				return err
			}
			v.finding("warning", "Plan of a pending compaction can't be read", fmt.Sprintf("Compaction %s is passed over: %v", x.Requested, err), x.File.Path)
			continue
		}
		for _, o := range plan.Operations {
			id := GroupID{o.Partition, o.FileID}
			op := CompactionOperation{x.Requested, o}
			if old, ok := operations[id]; ok && !reflect.DeepEqual(old, op) {
				v.finding("error", "Two pending compactions of one file group", fmt.Sprintf("File group %s of partition %q is in the plans of %s and %s. Hudi refuses such a table; the later one counts here.", id.FileID, id.Partition, old.Instant, op.Instant), x.File.Path)
			}
			operations[id] = op
			v.pending[id] = x.Requested
		}
	}
	for _, op := range operations {
		v.Compaction = append(v.Compaction, op)
	}
	sort.Slice(v.Compaction, func(i, j int) bool {
		a, b := &v.Compaction[i], &v.Compaction[j]
		return slices.Compare([]string{a.Instant, a.Partition, a.FileID}, []string{b.Instant, b.Partition, b.FileID}) < 0
	})
	return nil
}

// sort tells base files, log files and others of a partition apart.
func (v *View) sort(cfg *config.Config, partition string, entries []storage.Entry) *partitionFiles {
	f := &partitionFiles{path: partition, bases: map[string][]BaseFile{}, logs: map[string][]LogFile{}}
	exts := cfg.BaseExtensions()
	for _, e := range entries {
		f.bytes += max(e.Size, 0)
		full := join(join(cfg.Root, partition), e.Name)
		other := func(why string) {
			f.other = append(f.other, OtherFile{Name: e.Name, Path: full, Size: e.Size, Why: why})
		}
		if strings.HasPrefix(e.Name, PartitionMarker) {
			continue
		}
		if n, ok := logfile.ParseName(e.Name); ok {
			f.logs[n.FileID] = append(f.logs[n.FileID], LogFile{Name: n, File: e.Name, Path: full, Size: e.Size})
			continue
		}
		isBase := false
		for _, x := range exts {
			isBase = isBase || strings.Contains(e.Name, x)
		}
		external := strings.HasSuffix(e.Name, externalSuffix)
		switch n, ok := ParseBaseName(e.Name); {
		case (external || isBase && slices.Contains(exts, n.Ext)) && ok && !strings.HasPrefix(e.Name, "."):
			if n.External {
				// The name is that of the metadata; the file itself lies under its own.
				full = join(stripLevels(join(cfg.Root, partition), n.Prefix), n.FileID)
			}
			f.bases[n.FileID] = append(f.bases[n.FileID], BaseFile{BaseName: n, Name: e.Name, Path: full, Size: e.Size})
		case strings.HasSuffix(e.Name, ".crc"):
			other("checksum file of the writer's file system")
		case strings.HasPrefix(e.Name, "."):
			other("hidden file that is no log file")
		case isBase:
			other("its name is not that of a Hudi base file (FILEID_TOKEN_INSTANT" + exts[0] + "): another tool wrote it")
		default:
			other("neither a log file nor a " + strings.Join(exts, ", ") + " base file")
		}
	}
	return f
}

// stripLevels removes as many levels from the end of dir as prefix has.
func stripLevels(dir, prefix string) string {
	if prefix == "" {
		return dir
	}
	for range strings.Count(prefix, "/") + 1 {
		dir = path.Dir(dir)
	}
	if dir == "." {
		return ""
	}
	return dir
}

// archived loads the archived timeline when the slicing of some log file depends on it:
// the log's delta commit is older than the active timeline (version 8 and later).
func (v *View) archived(ctx context.Context, cfg *config.Config, files map[string]*partitionFiles, rows timeline.ReadRows) error {
	if v.Version < 8 || v.Timeline.HasArchived() {
		return nil
	}
	first := v.Timeline.Write().FirstNonSavepoint()
	old, example := 0, ""
	for _, f := range files {
		for id, logs := range f.logs {
			for _, l := range logs {
				if _, known := v.Timeline.CompletionTime(l.Instant); !known && l.Instant < first && len(f.bases[id]) > 0 {
					old++
					example = l.Path
				}
			}
		}
	}
	if old == 0 {
		return nil
	}
	a, err := v.Timeline.LoadArchived(ctx, cfg, rows)
	if err != nil {
		return err
	}
	v.Findings = append(v.Findings, a.Findings...)
	if a.Note != "" {
		v.finding("warning", "Completion times of archived instants are not known", fmt.Sprintf("%d log files were written by archived delta commits. %s They are put into the newest slice of their file group.", old, a.Note), example)
		return nil
	}
	v.Timeline = v.Timeline.WithArchived(a)
	return nil
}

// build makes the groups of one partition.
func (v *View) build(f *partitionFiles, opt Options) {
	p := &Partition{Path: f.path, Other: f.other, Bytes: f.bytes}
	ids := map[string]bool{}
	for id := range f.bases {
		ids[id] = true
	}
	for id := range f.logs {
		ids[id] = true
	}
	for id := range ids {
		g := &Group{GroupID: GroupID{f.path, id}}
		g.PendingCompaction = v.pending[g.GroupID]
		for _, b := range f.bases[id] {
			s := g.slice(b.Instant)
			if s.Base != nil {
				// Two attempts of one task that the writer did not clean up: as in Hudi the last one counts.
				p.Other = append(p.Other, OtherFile{Name: s.Base.Name, Path: s.Base.Path, Size: s.Base.Size, Why: OtherBase + b.Name + ", counts: a failed task attempt left this one"})
			}
			base := b
			if opt.Bootstrap != nil && b.Instant == "00000000000001" {
				base.Bootstrap = opt.Bootstrap(f.path, id)
			}
			s.Base = &base
		}
		if g.PendingCompaction != "" {
			g.slice(g.PendingCompaction)
		}
		logs := f.logs[id]
		sort.SliceStable(logs, func(i, j int) bool { return logfile.Compare(logs[i].Name, logs[j].Name) < 0 })
		for _, l := range logs {
			s := g.slice(v.sliceOf(g, l.Instant))
			s.Logs = append(s.Logs, l)
		}
		p.Groups = append(p.Groups, g)
		v.groups[g.GroupID] = g
	}
	sort.Slice(p.Groups, func(i, j int) bool { return p.Groups[i].FileID < p.Groups[j].FileID })
	sort.Slice(p.Other, func(i, j int) bool { return p.Other[i].Name < p.Other[j].Name })
	v.Partitions = append(v.Partitions, p)
	v.byPartition[p.Path] = p
}

// slice returns the group's slice of a key, a new one if need be.
func (g *Group) slice(key string) *Slice {
	i := sort.Search(len(g.Slices), func(i int) bool { return g.Slices[i].BaseInstant <= key })
	if i < len(g.Slices) && g.Slices[i].BaseInstant == key {
		return g.Slices[i]
	}
	s := &Slice{Partition: g.Partition, FileID: g.FileID, BaseInstant: key}
	g.Slices = slices.Insert(g.Slices, i, s)
	return s
}

// sliceOf finds the key of the slice that a log file belongs to, from the instant in its name.
func (v *View) sliceOf(g *Group, instant string) string {
	if v.Version < 8 && !v.byModTime || len(g.Slices) == 0 {
		return instant
	}
	newest := g.Slices[0].BaseInstant
	completion, ok := v.Timeline.CompletionTime(instant)
	if !ok {
		return newest
	}
	if v.Version < 8 && completion < instant {
		// A file can't be older than the instant it completes: its time was lost in copying, and a
		// copy made now is later than every slice.
		return newest
	}
	if len(completion) != len(newest) {
		// Metadata table instants with a suffix, and times of older releases, do not compare.
		completion = instant
	}
	for _, s := range g.Slices {
		if completion >= s.BaseInstant {
			return s.BaseInstant
		}
	}
	return instant
}

// foreign returns a base file that the metadata of an instant names and another instant wrote, "" when there is none:
// every write names its own base files after itself.
func foreign(m *commitmeta.CommitMetadata, requested string) (name, instant string) {
	for _, p := range m.Partitions {
		for i := range p.Stats {
			if b, ok := ParseBaseName(path.Base(p.Stats[i].Path)); ok && b.Instant != requested {
				return path.Base(p.Stats[i].Path), b.Instant
			}
		}
	}
	return "", ""
}

// replaced reads which groups completed replacecommits replaced, and marks the groups of
// pending log compactions and clusterings.
func (v *View) replaced(ctx context.Context) (map[GroupID]string, error) {
	out := map[GroupID]string{}
	done := v.Timeline.CompletedReplace()
	for i := range done.Instants {
		x := &done.Instants[i]
		m, err := done.CommitMetadata(ctx, x)
		if err != nil {
			if !tolerable(err) {
				return nil, err
			}
			v.finding("error", "Replacecommit can't be read", fmt.Sprintf("Which file groups %s replaced is not known, so they are shown as if they were live: %v", x.Requested, err), x.File.Path)
			continue
		}
		if name, instant := foreign(m, x.Requested); name != "" {
			v.finding("error", "Replacecommit has the content of another instant", fmt.Sprintf("%s names the base file %s, which %s wrote: which file groups %s replaced is not known, and they are shown as if they were live.", x.File.Path, name, instant, x.Requested), x.File.Path)
		}
		for _, p := range m.Replaced {
			for _, id := range p.FileIDs {
				k := GroupID{p.Partition, id}
				out[k] = max(out[k], x.Requested)
			}
		}
	}
	logs := v.Timeline.PendingLogCompaction()
	for i := range logs.Instants {
		x := &logs.Instants[i]
		plan, err := logs.CompactionPlan(ctx, x)
		if err != nil {
			if !tolerable(err) {
				return nil, err
			}
			v.finding("warning", "Plan of a pending log compaction can't be read", err.Error(), x.File.Path)
			continue
		}
		for _, o := range plan.Operations {
			if g := v.groups[GroupID{o.Partition, o.FileID}]; g != nil {
				g.PendingLogCompaction = x.Requested
			}
		}
	}
	clusterings, findings, err := v.Timeline.PendingClustering(ctx)
	if err != nil {
		return nil, err
	}
	v.Findings = append(v.Findings, findings...)
	for _, c := range clusterings {
		v.clustering[c.Instant.Requested] = true
		if c.Plan.Clustering == nil {
			continue
		}
		for _, cg := range c.Plan.Clustering.Groups {
			for _, s := range cg.Slices {
				if g := v.groups[GroupID{s.Partition, s.FileID}]; g != nil {
					g.PendingClustering = c.Instant.Requested
				}
			}
		}
	}
	return out, nil
}
