package query

import (
	"context"
	"fmt"
	"iter"
	"path"
	"slices"
	"sort"
	"strings"
	"unicode/utf16"

	"hudiscope/core/commitmeta"
	"hudiscope/core/filegroup"
	"hudiscope/core/groupreader"
	"hudiscope/core/logscan"
	"hudiscope/core/table"
	"hudiscope/core/timeline"
)

// Split is an input split of Flink's reader (spec queries.md section 10.4).
type Split struct {
	// Num is the number in order of generation.
	Num int
	// Class is MergeOnReadInputSplit, CdcInputSplit, FileInputSplit, or GenericInputSplit for a read without
	// rows.
	Class             string
	Partition, FileID string
	Base              string
	Logs              []string
	// Length of the file of a FileInputSplit in bytes, storage.SizeUnknown when it is not known.
	Length int64
	// LatestCommit is the upper bound of log blocks.
	LatestCommit, MergeType string
	// Range limits rows to instants, nil for none; RangeClass is Hudi's name of its kind.
	Range      *logscan.InstantRange
	RangeClass string
	// Iterator names the way the split is read, and Why why that one.
	Iterator, Why string
	// Changes are the sources of a CdcInputSplit, oldest first.
	Changes []Change
	// Task is the reader the split goes to, -1 when read.tasks is not given or the reader is not fixed.
	Task int
}

// Round is what one look at the table gave.
type Round struct {
	// IssuedOffset is the offset before the round; EndInstant the last instant read (requested time)
	// and Offset the largest completion time, which become the state after it.
	IssuedOffset, EndInstant, Offset string
	// InputFormat is the format of a batch read, "" in streaming.
	InputFormat string
	// Instants are those that the round reads; Range says which were looked for.
	Instants []Chosen
	Range    string
	Splits   []Split
	// Notes say what this release passes over, Remarks how the rows are read.
	Notes, Remarks []string
	// Gone are files that a read of the latest rows needs and the storage does not have.
	Gone []table.MissingFile
}

// Empty reports whether the round found nothing new.
func (r *Round) Empty() bool { return len(r.Splits) == 0 && r.EndInstant == "" }

// Flink plans Flink's reads of a table.
type Flink struct {
	t   *table.Table
	o   FlinkOptions
	tl  *timeline.Timeline // as far as it is seen
	sc  *table.Schema
	seq bool // reads by requested time
}

// NewFlink plans reads of a table. seen is the completion time up to which the table is looked at, ""
// for all of it: instants completed later are as if they did not exist yet.
func NewFlink(ctx context.Context, t *table.Table, o FlinkOptions, seen string) (*Flink, error) {
	tl, err := t.Timeline(ctx)
	if err != nil {
		return nil, err
	}
	if err := CheckBound("seen", seen); err != nil {
		return nil, err
	}
	if seen != "" {
		tl = tl.Filter(func(i *timeline.Instant) bool {
			return i.State != timeline.Completed || i.Completed <= seen
		})
	}
	sc, err := t.SchemaAt(ctx, "")
	if err != nil {
		return nil, err
	}
	return &Flink{t: t, o: o, tl: tl, sc: sc, seq: FlinkByRequestedTime(t.Config.Version, &t.Rules)}, nil
}

// loses reports whether the release's known losses of rows are shown.
func (f *Flink) loses() bool { return f.t.Rules.FlinkLosesRows }

// Batch plans a bounded read.
func (f *Flink) Batch(ctx context.Context) (*Round, error) {
	if f.o.Type != "incremental" {
		return f.snapshot(ctx)
	}
	var r *Round
	var err error
	if f.seq {
		r, err = f.batchRequested(ctx)
	} else {
		r, err = f.batchCompleted(ctx)
	}
	if err != nil {
		return nil, err
	}
	if r.InputFormat = f.format(); len(r.Splits) == 0 {
		f.none(r)
	}
	f.number(r, false)
	return r, nil
}

// format names the input format of a bounded read of a range.
func (f *Flink) format() string {
	if f.o.CDC {
		return "CdcInputFormat"
	}
	return "MergeOnReadInputFormat"
}

// none makes the round that Flink reads when there is nothing to read.
func (f *Flink) none(r *Round) {
	r.InputFormat = "CollectionInputFormatAdapter"
	if f.seq {
		r.InputFormat = "CollectionInputFormat"
	}
	r.Splits = []Split{{Class: "GenericInputSplit", Task: -1, Iterator: "none", Why: "Nothing is to be read."}}
}

// snapshot plans a bounded read of the latest rows.
func (f *Flink) snapshot(ctx context.Context) (*Round, error) {
	r := &Round{Range: "The latest rows."}
	v, err := f.t.View(ctx, nil)
	if err != nil {
		return nil, err
	}
	done := f.tl.Commits().Completed()
	last := done.Last()
	if last == nil {
		f.none(r)
		return r, nil
	}
	mor := f.t.Config.MergeOnRead() && f.o.Type != "read_optimized"
	r.InputFormat = "MergeOnReadInputFormat"
	if !mor {
		r.InputFormat = "CopyOnWriteInputFormat"
	}
	v = v.Over(f.tl.Readers())
	for _, p := range javaOrder(v.Partitions) {
		if !f.partition(p.Path) {
			continue
		}
		if !mor {
			for _, b := range v.LatestBaseFilesBeforeOrOn(p.Path, last.Requested) {
				r.Splits = append(r.Splits, Split{Class: "FileInputSplit", Partition: p.Path, FileID: b.FileID, Base: b.Path, Length: b.Size,
					Iterator: "BaseFileOnly", Why: "Only base files are read."})
			}
			continue
		}
		for _, s := range v.LatestMergedSlicesBeforeOrOn(p.Path, last.Requested) {
			r.Splits = append(r.Splits, f.split(s, last.Requested, nil, "", false))
		}
	}
	q := table.Query{Type: table.Snapshot, Partitions: f.o.Partitions}
	if !mor {
		q.Type = table.ReadOptimized
	}
	chosen := make([]groupreader.Slice, len(r.Splits))
	for i := range r.Splits {
		chosen[i] = r.Splits[i].slice()
	}
	gone, notes, err := f.t.MissingFiles(ctx, v, q, last.Requested, chosen)
	if err != nil {
		return nil, err
	}
	r.Gone, r.Notes = gone, append(append(r.Notes, v.Contradictions()...), notes...)
	if len(r.Splits) == 0 {
		f.none(r)
	}
	f.number(r, false)
	return r, nil
}

// javaHash is the hash of a text in Java.
func javaHash(s string) uint32 {
	var h uint32
	for _, c := range utf16.Encode([]rune(s)) {
		h = h*31 + uint32(c)
	}
	return h
}

// javaOrder orders partitions as Hudi meets them, which is that of a Java hash set of their paths.
func javaOrder(list []*filegroup.Partition) []*filegroup.Partition {
	size := 16
	for len(list) > size/4*3 {
		size *= 2
	}
	out := append([]*filegroup.Partition(nil), list...)
	bucket := func(s string) int {
		h := javaHash(s)
		return int(h^h>>16) & (size - 1)
	}
	sort.SliceStable(out, func(i, j int) bool { return bucket(out[i].Path) < bucket(out[j].Path) })
	return out
}

func (f *Flink) partition(p string) bool {
	return len(f.o.Partitions) == 0 || slices.Contains(f.o.Partitions, p)
}

// number gives splits their numbers and readers, and sorts those of 1.x by their latest commit. Splits of a
// bounded read have no fixed reader: each asks for the next one.
func (f *Flink) number(r *Round, streaming bool) {
	for i := range r.Splits {
		s := &r.Splits[i]
		if s.Num, s.Task = i, -1; streaming && f.o.Tasks > 0 {
			s.Task = f.Reader(s, f.o.Tasks)
		}
	}
	if !f.seq {
		sort.SliceStable(r.Splits, func(i, j int) bool { return r.Splits[i].LatestCommit < r.Splits[j].LatestCommit })
	}
}

// split makes the split of a slice and chooses its iterator.
func (f *Flink) split(s *filegroup.Slice, latest string, in *logscan.InstantRange, class string, streaming bool) Split {
	g := table.SliceOf(s)
	out := Split{Class: "MergeOnReadInputSplit", Partition: s.Partition, FileID: s.FileID, Base: g.Base, Logs: g.Logs, LatestCommit: latest, MergeType: f.o.MergeType, Range: in, RangeClass: class}
	out.Iterator, out.Why = f.iterator(&out, streaming)
	return out
}

// iterator chooses how a split is read (spec record-merging.md section 11).
func (f *Flink) iterator(s *Split, streaming bool) (name, why string) {
	switch {
	case len(s.Logs) == 0 && s.Base == "":
		return "none", "The slice has neither a base file nor logs."
	case len(s.Logs) == 0 && s.Range != nil:
		return "BaseFileOnlyFiltering", "There are no logs, and only rows of the range's commits are wanted."
	case len(s.Logs) == 0:
		return "BaseFileOnly", "There are no logs."
	case s.Base == "" && f.o.Changelog && streaming:
		return "LogFileOnly, unmerged", "There is no base file, and changelog.enabled asks for every change."
	case s.Base == "":
		return "LogFileOnly, merged", "There is no base file."
	case s.MergeType == "skip_merge":
		return "SkipMerge", "The merge type is skip_merge: base rows, then log rows."
	}
	if streaming {
		return "Merge, with deletes", "Base file and logs are merged; a streaming read tells of deletes."
	}
	return "Merge", "Base file and logs are merged."
}

// view builds the view of files, seen through a timeline.
func (f *Flink) view(ctx context.Context, visible *timeline.Timeline, paths []string) (*table.FilesView, error) {
	v, err := f.t.ViewOfFiles(ctx, paths)
	if err != nil {
		return nil, err
	}
	v.View = v.View.Over(visible)
	return v, nil
}

// splits are the splits of a view up to an instant.
func (f *Flink) splits(v *filegroup.View, partitions map[string]bool, max string, logsOnly bool, latest func(*filegroup.Slice) string, in *logscan.InstantRange, class string, streaming bool) []Split {
	var out []Split
	for _, p := range javaOrder(v.Partitions) {
		if partitions != nil && !partitions[p.Path] || !f.partition(p.Path) {
			continue
		}
		list := v.LatestMergedSlicesBeforeOrOn(p.Path, max)
		if logsOnly {
			list = v.AllLogsMergedBeforeOrOn(p.Path, max)
		}
		for _, s := range list {
			if s.Base == nil && len(s.DataLogs()) == 0 {
				continue
			}
			out = append(out, f.split(s, latest(s), in, class, streaming))
		}
	}
	return out
}

// written are the files and partitions that commits wrote. missing are those the storage lacks.
func (f *Flink) written(ctx context.Context, commits []commit) (paths []string, partitions map[string]bool, missing []string, err error) {
	partitions = map[string]bool{}
	all := writtenFiles(commits)
	v, err := f.t.ViewOfFiles(ctx, all)
	if err != nil {
		return nil, nil, nil, err
	}
	seen := map[string]bool{}
	for i := len(commits) - 1; i >= 0; i-- {
		for _, p := range commits[i].meta.Partitions {
			if len(p.Stats) > 0 {
				partitions[p.Partition] = true
			}
			for j := range p.Stats {
				s := &p.Stats[j]
				k := s.Path
				if !f.t.Config.MergeOnRead() {
					k = p.Partition + "\x00" + s.FileID
				}
				if s.Path == "" || seen[k] {
					continue
				}
				if v.Missing[path.Join(f.t.Config.Root, s.Path)] {
					missing = append(missing, s.Path)
					continue
				}
				seen[k] = true
				paths = append(paths, s.Path)
			}
		}
	}
	return paths, partitions, missing, nil
}

// latestInstant is the newest instant of a slice's files.
func latestInstant(s *filegroup.Slice) string {
	out := s.BaseInstant
	for _, l := range s.Logs {
		out = max(out, l.Instant)
	}
	return out
}

// analyzer is the analyzer of releases 1.x.
func (f *Flink) analyzer(offset string, streaming bool) Analyzer {
	a := Analyzer{Table: f.t, Timeline: f.tl, Start: f.o.Start, End: f.o.End, Closed: true}
	if offset != "" {
		a.Start, a.Closed = offset, false
	}
	a.SkipDeltas = f.skipsDeltas()
	if streaming {
		a.SkipCompaction, a.SkipClustering, a.SkipInsert, a.Limit = f.o.SkipCompaction, f.o.SkipClustering, f.o.SkipInsertOverwrite, f.o.CommitsLimit
	}
	return a
}

// completedRange is the range of an analysis.
func completedRange(r *Analysis) (*logscan.InstantRange, string) {
	if r.StartInstant == "" {
		if r.EndInstant == "" {
			return nil, ""
		}
		return &logscan.InstantRange{Kind: logscan.ClosedClosed, End: r.EndInstant}, "ClosedClosedRangeNullableBoundary"
	}
	set := map[string]bool{}
	for _, i := range r.instants() {
		set[i] = true
	}
	return &logscan.InstantRange{Kind: logscan.ExactMatch, Instants: set}, "ExactMatchRange"
}

func (r *Round) chose(commits []commit) {
	for i := range commits {
		r.Instants = append(r.Instants, commits[i].Chosen)
	}
}

// Stream plans one round of a streaming read; offset and issued are the state, "" at the start.
func (f *Flink) Stream(ctx context.Context, issued, offset string) (*Round, error) {
	r, err := f.streamRequestedOrCompleted(ctx, issued, offset)
	if err == nil {
		r.IssuedOffset = offset
		f.number(r, true)
	}
	return r, err
}

func (f *Flink) streamRequestedOrCompleted(ctx context.Context, issued, offset string) (*Round, error) {
	if f.seq {
		return f.streamRequested(ctx, issued)
	}
	a := f.analyzer(offset, true)
	an, err := a.Analyze(ctx)
	if err != nil {
		return nil, err
	}
	r := &Round{Range: an.Range}
	if len(an.commits) == 0 {
		if offset == "" && f.skipsDeltas() {
			r.Notes = append(r.Notes, "Nothing is found: read.cdc.from.changelog passes the deltacommits over, and read.streaming.skip_compaction the compactions that log changes. With read.cdc.from.changelog=false the changes come from the log files.")
		}
		return r, nil
	}
	r.chose(an.commits)
	r.EndInstant, r.Offset = an.commits[len(an.commits)-1].Requested, an.MaxCompletion
	in, class := completedRange(an)
	latest := func(s *filegroup.Slice) string { return min(latestInstant(s), r.EndInstant) }
	if an.StartInstant == "" && an.EndInstant == "" {
		v, err := f.t.View(ctx, nil)
		if err != nil {
			return nil, err
		}
		visible, bound := an.filtered, r.Offset
		if !f.loses() {
			visible = f.tl.Readers()
		} else if f.o.SkipCompaction && f.hasCompaction() {
			r.Notes = append(r.Notes, f.t.Rules.Name()+" loses rows here: it cuts slices by a timeline without the compactions that it skips, so that log files after a compaction are not read. The rows are whole when no release is asked for.")
		}
		r.Splits = f.splits(v.Over(visible), nil, bound, false, latest, in, class, true)
		return r, nil
	}
	if f.o.CDC {
		return r, f.changes(ctx, r, an.commits)
	}
	paths, partitions, missing, err := f.written(ctx, an.reads)
	if err != nil {
		return nil, err
	}
	f.passedOver(r, missing)
	if len(paths) == 0 {
		return r, nil
	}
	v, err := f.view(ctx, an.filtered, paths)
	if err != nil {
		return nil, err
	}
	r.Splits = f.splits(v.View, partitions, r.Offset, f.o.SkipCompaction, latest, in, class, true)
	return r, nil
}

func (f *Flink) hasCompaction() bool {
	for i := range f.tl.Instants {
		if f.tl.Instants[i].IsCompaction() {
			return true
		}
	}
	return false
}

// passedOver notes files that a streaming read leaves out because they are gone.
func (f *Flink) passedOver(r *Round, missing []string) {
	if len(missing) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d files that the commits wrote are gone (%s): a streaming read passes their rows over in silence.", len(missing), sentenceList(missing)))
	}
}

// batchCompleted is the bounded read of a range in releases 1.x.
func (f *Flink) batchCompleted(ctx context.Context) (*Round, error) {
	a := f.analyzer("", false)
	an, err := a.Analyze(ctx)
	if err != nil {
		return nil, err
	}
	r := &Round{Range: an.Range}
	if len(an.commits) == 0 {
		return r, nil
	}
	r.chose(an.commits)
	end := an.commits[len(an.commits)-1].Requested
	in, class := completedRange(an)
	latest := func(s *filegroup.Slice) string { return min(latestInstant(s), end) }
	full := an.StartInstant == "" || an.archived > 0
	if f.o.CDC {
		if !full {
			return r, f.changes(ctx, r, an.commits)
		}
		r.Remarks = append(r.Remarks, scanInsteadOfChanges)
	}
	if !full {
		paths, partitions, missing, err := f.written(ctx, an.reads)
		if err != nil {
			return nil, err
		}
		if len(missing) > 0 {
			full = true
			r.Notes = append(r.Notes, fmt.Sprintf("%d files that the commits wrote are gone (%s): all slices are scanned and their rows filtered.", len(missing), sentenceList(missing)))
		} else {
			v, err := f.view(ctx, an.filtered, paths)
			if err != nil {
				return nil, err
			}
			r.Splits = f.splits(v.View, partitions, an.MaxCompletion, false, latest, in, class, false)
			return r, nil
		}
	}
	v, err := f.t.View(ctx, nil)
	if err != nil {
		return nil, err
	}
	r.Splits = f.splits(v.Over(an.filtered), nil, an.MaxCompletion, false, latest, in, class, false)
	return r, nil
}

// requested chooses instants by requested time, as releases 0.x do.
type requested struct {
	active   []commit
	filtered *timeline.Timeline
}

func (f *Flink) requested(ctx context.Context, issued string, skip bool) (*requested, error) {
	a := Analyzer{Table: f.t, Timeline: f.tl}
	if skip {
		a.SkipCompaction, a.SkipClustering, a.SkipInsert = f.o.SkipCompaction, f.o.SkipClustering, f.o.SkipInsertOverwrite
	}
	tl, err := a.filter(ctx)
	if err != nil {
		return nil, err
	}
	out := &requested{filtered: tl}
	done := tl.Completed().Instants
	start, end := f.o.Start, f.o.End
	var keep func(string) bool
	why := "Its requested time is in the range."
	switch {
	case issued != "":
		keep = func(x string) bool { return x > issued && (end == "" || f.t.Rules.FlinkEndOnce || x <= end) }
	default:
		keep = func(x string) bool {
			return (start == "" || strings.EqualFold(start, earliest) || x >= start) && (end == "" || x <= end)
		}
	}
	for i := range done {
		x := &done[i]
		if !keep(x.Requested) {
			continue
		}
		m, err := tl.CommitMetadata(ctx, x)
		if err != nil {
			return nil, err
		}
		out.active = append(out.active, commit{Chosen{x.Requested, x.Completed, string(x.Action), m.Operation, false, why}, m})
	}
	if issued == "" && start == "" && end == "" && len(out.active) > 0 {
		out.active = out.active[len(out.active)-1:]
	}
	return out, nil
}

// archivedCommits are the archived commits of a range of requested times.
func (f *Flink) archivedCommits(ctx context.Context, start, end string) ([]commit, error) {
	a, err := f.t.Archived(ctx)
	if err != nil {
		return nil, err
	}
	var list []timeline.ArchivedInstant
	seen := map[string]bool{}
	for _, x := range a.Instants {
		if x.State == timeline.Completed && isCommit(x.Action) && x.Requested >= start && (end == "" || x.Requested <= end) && !seen[x.Requested] {
			seen[x.Requested] = true
			list = append(list, x)
		}
	}
	metas, err := f.t.ArchivedCommits(ctx, list)
	if err != nil {
		return nil, err
	}
	var out []commit
	for _, x := range list {
		m := metas[x.Requested]
		if m == nil {
			m = &commitmeta.CommitMetadata{Operation: commitmeta.OpUnknown}
		}
		out = append(out, commit{Chosen{x.Requested, x.Completed, string(x.Action), m.Operation, true, "It is archived, and its requested time is in the range."}, m})
	}
	return out, nil
}

func closed(start, end string) *logscan.InstantRange {
	return &logscan.InstantRange{Kind: logscan.ClosedClosed, Start: start, End: end}
}

// streamRequested is one round of a streaming read by requested time.
func (f *Flink) streamRequested(ctx context.Context, issued string) (*Round, error) {
	q, err := f.requested(ctx, issued, true)
	if err != nil {
		return nil, err
	}
	r := &Round{}
	first := f.tl.CommitsAndCompaction().FirstNonSavepoint()
	var old []commit
	fromEarliest := strings.EqualFold(f.o.Start, earliest)
	if len(q.active) == 0 {
		// Up to here releases stop: an archived range is never found.
		if issued != "" || fromEarliest || f.o.Start == "" && f.o.End == "" || f.loses() {
			if f.loses() && issued == "" && f.o.End != "" && f.o.End < first {
				r.Notes = append(r.Notes, f.t.Rules.Name()+" finds nothing in a range that is archived (HUDI-6167); without a release asked for it is read.")
			}
			return r, nil
		}
		if old, err = f.archivedCommits(ctx, f.o.Start, f.o.End); err != nil {
			return nil, err
		}
		if f.o.Start == "" && len(old) > 1 {
			old = old[len(old)-1:]
		}
		if len(old) == 0 {
			return r, nil
		}
		r.EndInstant, r.Offset = old[len(old)-1].Requested, old[len(old)-1].Completed
	} else {
		r.EndInstant = q.active[len(q.active)-1].Requested
		for i := range q.active {
			r.Offset = max(r.Offset, q.active[i].Completed)
		}
	}
	var in *logscan.InstantRange
	class := "CloseCloseRange"
	switch {
	case issued != "":
		in, class = &logscan.InstantRange{Kind: logscan.OpenClosed, Start: issued, End: r.EndInstant}, "OpenCloseRange"
		r.Range = fmt.Sprintf("Commits requested in (%s, %s].", issued, r.EndInstant)
	case fromEarliest:
		class = ""
		r.Range = "All slices, from the beginning."
	case f.o.Start != "":
		in = closed(f.o.Start, r.EndInstant)
	default:
		in = closed(r.EndInstant, r.EndInstant)
	}
	if in != nil && issued == "" {
		r.Range = fmt.Sprintf("Commits requested in [%s, %s].", in.Start, in.End)
	}
	latest := func(*filegroup.Slice) string { return r.EndInstant }
	if in == nil {
		r.chose(q.active)
		v, err := f.t.View(ctx, nil)
		if err != nil {
			return nil, err
		}
		visible := q.filtered
		if !f.loses() {
			visible = f.tl.Readers()
		} else if f.o.SkipCompaction && f.hasCompaction() {
			r.Notes = append(r.Notes, f.t.Rules.Name()+" loses rows here: it cuts slices by a timeline without the compactions that it skips, so that log files after a compaction are not read. The rows are whole when no release is asked for.")
		}
		r.Splits = f.splits(v.Over(visible), nil, r.EndInstant, false, latest, nil, "", true)
		return r, nil
	}
	if old == nil && in.Start < first {
		from := in.Start
		if in.Kind == logscan.OpenClosed {
			from += "\x00"
		}
		if old, err = f.archivedCommits(ctx, from, in.End); err != nil {
			return nil, err
		}
	}
	commits := append(append([]commit(nil), old...), q.active...)
	r.chose(commits)
	if f.o.CDC {
		return r, f.changes(ctx, r, commits)
	}
	paths, partitions, missing, err := f.written(ctx, commits)
	if err != nil {
		return nil, err
	}
	f.passedOver(r, missing)
	if len(paths) == 0 {
		return r, nil
	}
	v, err := f.view(ctx, q.filtered, paths)
	if err != nil {
		return nil, err
	}
	r.Splits = f.splits(v.View, partitions, r.EndInstant, f.o.SkipCompaction, latest, in, class, true)
	return r, nil
}

// batchRequested is the bounded read of a range by requested time.
func (f *Flink) batchRequested(ctx context.Context) (*Round, error) {
	q, err := f.requested(ctx, "", false)
	if err != nil {
		return nil, err
	}
	r := &Round{}
	start, end := f.o.Start, f.o.End
	fromEarliest := strings.EqualFold(start, earliest)
	startOut := start != "" && !fromEarliest && f.tl.CommitsAndCompaction().BeforeTimelineStarts(start)
	endOut := end != "" && f.tl.CommitsAndCompaction().BeforeTimelineStarts(end)
	if f.o.CDC && startOut && !f.loses() {
		// Releases scan as soon as the start is before the timeline, whether or not there was anything.
		old, err := f.archivedCommits(ctx, start, end)
		if err != nil {
			return nil, err
		}
		startOut = len(old) > 0
	}
	full := fromEarliest || startOut || endOut
	last := ""
	if len(q.active) > 0 {
		last = q.active[len(q.active)-1].Requested
	}
	rangeEnd := last
	if endOut || last == "" {
		rangeEnd = end
	}
	rangeStart := start
	if fromEarliest {
		rangeStart = ""
	} else if start == "" {
		rangeStart = rangeEnd
	}
	var in *logscan.InstantRange
	class := ""
	switch {
	case !full:
		if last == "" {
			return r, nil
		}
		in, class = closed(rangeStart, rangeEnd), "CloseCloseRange"
	case fromEarliest && end == "":
	default:
		in, class = closed(rangeStart, rangeEnd), "CloseCloseRangeNullableBoundary"
	}
	r.Range = "All commits."
	if in != nil {
		r.Range = fmt.Sprintf("Commits requested in [%s, %s].", in.Start, in.End)
	}
	r.chose(q.active)
	bound := rangeEnd
	if x := f.tl.CommitsAndCompaction().Completed().Last(); bound == "" && x != nil {
		bound = x.Requested
	}
	if endOut || last == "" {
		if x := q.filtered.Completed().Last(); x != nil {
			bound = x.Requested
		}
	}
	if f.o.CDC {
		if !full {
			return r, f.changes(ctx, r, q.active)
		}
		r.Remarks = append(r.Remarks, scanInsteadOfChanges)
	}
	if !full {
		paths, partitions, missing, err := f.written(ctx, q.active)
		if err != nil {
			return nil, err
		}
		if len(missing) == 0 {
			v, err := f.view(ctx, q.filtered, paths)
			if err != nil {
				return nil, err
			}
			r.Splits = f.splits(v.View, partitions, bound, false, func(*filegroup.Slice) string { return bound }, in, class, false)
			return r, nil
		}
		r.Notes = append(r.Notes, fmt.Sprintf("%d files that the commits wrote are gone (%s): all slices are scanned and their rows filtered.", len(missing), sentenceList(missing)))
	}
	v, err := f.t.View(ctx, nil)
	if err != nil {
		return nil, err
	}
	r.Splits = f.splits(v.Over(q.filtered), nil, bound, false, func(*filegroup.Slice) string { return bound }, in, class, false)
	return r, nil
}

// slice is the file slice of a split.
func (s *Split) slice() groupreader.Slice {
	return groupreader.Slice{Partition: s.Partition, FileID: s.FileID, Base: s.Base, Logs: s.Logs, BaseInstant: baseInstant(s.Base)}
}

func baseInstant(file string) string {
	if b, ok := filegroup.ParseBaseName(path.Base(file)); ok {
		return b.Instant
	}
	return ""
}

// ByRequestedTime reports whether ranges are of requested times, and not of completion times.
func (f *Flink) ByRequestedTime() bool { return f.seq }

// Plan makes a plan of the splits of rounds.
func (f *Flink) Plan(rounds []*Round, streaming bool) *Plan {
	p := &Plan{Type: f.Type(), From: f.sc.From, Hints: f.o.Hints}
	for _, r := range rounds {
		p.Gone = append(p.Gone, r.Gone...)
	}
	for _, r := range rounds {
		p.AsOf = max(p.AsOf, r.EndInstant)
		p.Instants = append(p.Instants, r.Instants...)
		for _, n := range r.Notes {
			if !slices.Contains(p.Notes, n) {
				p.Notes = append(p.Notes, n)
			}
		}
		for _, n := range r.Remarks {
			if !slices.Contains(p.Remarks, n) {
				p.Remarks = append(p.Remarks, n)
			}
		}
		for i := range r.Splits {
			s := r.Splits[i]
			p.Parts = append(p.Parts, Part{Slice: s.slice(), How: s.Iterator, rows: func(ctx context.Context, ro table.ReadOptions, st *groupreader.Stats) iter.Seq2[Row, error] {
				return f.Rows(ctx, &s, streaming, ro, st)
			}})
		}
	}
	return p
}

// Monitor is StreamReadMonitoringFunction: it looks at the table again and again and hands splits on
// (spec queries.md section 10.5). Its exported fields are the state that a checkpoint saves.
type Monitor struct {
	IssuedInstant, IssuedOffset string
	// Remaining are splits of the last round that are not handed on yet, Total how many it had.
	Remaining []Split
	Total     int
}

// Poll is one look at the table, as far as it is seen by f.
func (m *Monitor) Poll(ctx context.Context, f *Flink) (*Round, error) {
	var r *Round
	if len(m.Remaining) > 0 {
		r = &Round{IssuedOffset: m.IssuedOffset, EndInstant: m.IssuedInstant, Offset: m.IssuedOffset, Splits: m.Remaining, Range: "Splits of the last round that were held back by read.splits.limit."}
	} else {
		var err error
		if r, err = f.Stream(ctx, m.IssuedInstant, m.IssuedOffset); err != nil {
			return nil, err
		}
		if r.Empty() {
			return r, nil
		}
		m.Total = len(r.Splits)
	}
	m.Remaining = nil
	if n := f.o.SplitsLimit; n > 0 && n < len(r.Splits) {
		m.Remaining = append([]Split(nil), r.Splits[n:]...)
		r.Splits = r.Splits[:n]
	}
	m.IssuedInstant, m.IssuedOffset = r.EndInstant, r.Offset
	return r, nil
}

// maxRounds bounds the rounds of one reading until nothing is new: a table has fewer commits.
const maxRounds = 1 << 20

// Rounds polls until nothing new is found.
func (f *Flink) Rounds(ctx context.Context) ([]*Round, error) {
	var out []*Round
	var m Monitor
	for range maxRounds {
		r, err := m.Poll(ctx, f)
		if err != nil {
			return nil, err
		}
		if r.Empty() {
			if len(out) == 0 && len(r.Notes)+len(r.Remarks) > 0 {
				out = append(out, r)
			}
			return out, nil
		}
		out = append(out, r)
	}
	return out, nil
}
