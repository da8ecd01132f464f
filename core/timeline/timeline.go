// Package timeline reads a table's timeline: which instants there are, in which state,
// and what their files hold. It knows the three layouts:
//
//	0, 1   .hoodie/TIME.action[.state]                      archive: log files in .hoodie/archived
//	2      .hoodie/timeline/TIME[_COMPLETION].action[.state] archive: Parquet files in timeline/history
//
// Times are compared as text everywhere, as Hudi does.
//
// Source of the rules: spec timeline.md sections 4, 5, 8 and 9.
package timeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"hudiscope/core/commitmeta"
	"hudiscope/core/config"
	"hudiscope/core/corrupt"
	"hudiscope/core/storage"
)

// Finding is something a user should know about. It has the shape of api.Finding.
type Finding struct {
	// Level is "error", "warning" or "note".
	Level  string
	Title  string
	Detail string
	File   string
	Offset int64
}

// Timeline is a list of instants in Hudi's order: requested time, comparable action,
// state. A Timeline is immutable; its methods that choose instants return a new one.
type Timeline struct {
	// Layout is 0, 1 or 2; Version is the table version; Dir is the folder, relative to the source.
	Layout, Version int
	Dir             string
	Instants        []Instant
	// Ignored are names in the folder that are no instants, sorted.
	Ignored  []string
	Findings []Finding
	// Note says why instants may be missing (an incomplete listing), else "".
	Note string

	src  storage.Source
	meta string // the .hoodie folder
	// first is what FirstNonSavepoint gives.
	first string
	// kept are the timelines chosen from this one.
	kept *selections
	// writes is FirstNonSavepoint of the whole timeline's write timeline.
	writes string
	// whole is the timeline that this one was chosen from; nil for the whole one.
	whole *Timeline
	// completion holds requested → completion time, of the whole timeline, with the archived
	// instants when they are known.
	completion map[string]string
	archived   bool
	// spans is what reading archive files of layouts 0 and 1 has told about their times.
	spans *archiveSpans
}

// Load lists the timeline folder of a table. A folder that is absent gives an empty
// timeline with a finding; only the storage's other errors are returned.
func Load(ctx context.Context, src storage.Source, cfg *config.Config) (*Timeline, error) {
	t := &Timeline{Layout: cfg.TimelineLayout, Version: cfg.Version, Dir: cfg.TimelinePath(), src: src, meta: cfg.MetaPath(), spans: &archiveSpans{}}
	l, err := src.List(ctx, t.Dir)
	if storage.IsNotExist(err) {
		t.finding("error", "No timeline", "The folder "+t.Dir+" is absent: the table has no instants that could be read. The copy may have left it out.", t.Dir)
		t.index()
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	if !l.Complete && !l.DotsHidden { // no instant's name begins with a dot
		t.Note = "The listing of " + t.Dir + " is not complete"
		if l.Note != "" {
			t.Note += ": " + l.Note
		}
		t.Note += "."
		t.finding("warning", "Instants may be missing", t.Note, t.Dir)
	}
	files := make([]File, 0, len(l.Entries))
	for _, e := range l.Entries {
		if e.Dir {
			continue
		}
		f, ok := ParseName(t.Layout, e.Name)
		if !ok {
			if e.Name != config.PropertiesFile && e.Name != config.BackupFile {
				t.Ignored = append(t.Ignored, e.Name)
			}
			continue
		}
		f.Path, f.Size, f.ModTime = t.Dir+"/"+e.Name, e.Size, e.ModTime
		files = append(files, f)
	}
	sort.Strings(t.Ignored)
	t.Instants = reduce(files)
	t.index()
	t.inspect()
	return t, nil
}

func (t *Timeline) finding(level, title, detail, file string) {
	t.Findings = append(t.Findings, Finding{Level: level, Title: title, Detail: detail, File: file})
}

// reduce makes instants of files: one for each requested time and comparable action, in
// the highest state that has a file (spec timeline.md section 5).
func reduce(files []File) []Instant {
	// Sorted, the files of one instant lie side by side: they stay in this one array, which matters
	// for timelines of a hundred thousand instants.
	slices.SortStableFunc(files, func(x, y File) int {
		return cmp.Or(strings.Compare(x.Requested, y.Requested), strings.Compare(string(x.Action.Comparable()), string(y.Action.Comparable())),
			cmp.Compare(x.State, y.State), strings.Compare(x.Completion, y.Completion))
	})
	same := func(x, y *File) bool {
		return x.Requested == y.Requested && x.Action.Comparable() == y.Action.Comparable()
	}
	n := 0
	for i := range files {
		if i == 0 || !same(&files[i], &files[i-1]) {
			n++
		}
	}
	out := make([]Instant, 0, n)
	for from := 0; from < len(files); {
		to := from + 1
		for to < len(files) && same(&files[to], &files[from]) {
			to++
		}
		i := Instant{Requested: files[from].Requested, Files: files[from:to:to]}
		i.File = i.Files[len(i.Files)-1]
		i.Action, i.State = i.File.Action, i.File.State
		if i.State == Completed {
			switch {
			case i.File.Completion != "":
				i.Completed, i.CompletedFrom = i.File.Completion, "name"
			case !i.File.ModTime.IsZero():
				// A file that is older than its instant was requested has lost its time in copying. Writers
				// in a zone east of UTC name their instants up to 14 hours ahead of it.
				if t := FormatTime(i.File.ModTime); i.Requested <= FormatTime(i.File.ModTime.Add(14*time.Hour)) {
					i.Completed, i.CompletedFrom = t, "mtime"
				}
			}
		}
		out = append(out, i)
		from = to
	}
	return out
}

// index fills the look-up tables.
func (t *Timeline) index() {
	t.kept = &selections{}
	t.first = t.firstNonSavepoint()
	if t.whole == nil {
		t.writes = ""
		for i := range t.Instants {
			if isWrite(&t.Instants[i]) {
				t.writes = t.Instants[i].Requested
				break
			}
		}
	}
	if t.completion == nil {
		t.completion = make(map[string]string, len(t.Instants))
		for i := range t.Instants {
			if x := &t.Instants[i]; x.State == Completed && x.Action != Savepoint {
				t.completion[x.Requested] = x.Completed
			}
		}
	}
}

// inspect notes what is odd about the files.
func (t *Timeline) inspect() {
	for i := range t.Instants {
		x := &t.Instants[i]
		if x.State != Completed {
			continue
		}
		if x.File.Size == 0 {
			switch x.Action {
			case Rollback:
				t.finding("warning", "Completed rollback without content", "The file of rollback "+x.Requested+" is empty; the plan of its .rollback.requested file tells what was rolled back.", x.File.Path)
			case Commit, DeltaCommit, ReplaceCommit:
				t.finding("warning", "Completed instant without content", "The file of "+string(x.Action)+" "+x.Requested+" is empty: it counts as completed without write statistics. It may be the remnant of a crash; then the data files it wrote may be incomplete.", x.File.Path)
			default:
				t.finding("note", "Completed instant without content", "The file of "+string(x.Action)+" "+x.Requested+" is empty.", x.File.Path)
			}
		}
		completed := 0
		for _, f := range x.Files {
			if f.State == Completed {
				completed++
			}
		}
		if completed > 1 {
			t.finding("warning", "Two completed files for one instant", fmt.Sprintf("%s %s has %d completed files; the one with the latest completion time counts here, Hudi takes any of them.", x.Action, x.Requested, completed), x.File.Path)
		}
		if _, ok := x.FileOf(Requested); !ok && t.Layout > 0 && t.Note == "" && x.Action != Savepoint && x.Action != Rollback && x.Action != Restore {
			t.finding("note", "Completed instant that was never requested", string(x.Action)+" "+x.Requested+" has no .requested file. That is valid; a copy may have left it out.", x.File.Path)
		}
	}
}

// Filter returns the instants for which keep is true.
func (t *Timeline) Filter(keep func(*Instant) bool) *Timeline {
	out := *t
	n := 0
	for i := range t.Instants {
		if keep(&t.Instants[i]) {
			n++
		}
	}
	// Most timelines are chosen from whole: those share their instants.
	if n < len(t.Instants) {
		out.Instants = make([]Instant, 0, n)
		for i := range t.Instants {
			if keep(&t.Instants[i]) {
				out.Instants = append(out.Instants, t.Instants[i])
			}
		}
	}
	if out.whole == nil {
		out.whole = t
	}
	out.index()
	return &out
}

// selections are the timelines that were chosen from one before, by what they are called: whoever reads
// many file slices asks for the same ones for each of them.
type selections struct {
	mu sync.Mutex
	by map[string]*Timeline
}

// choose is Filter, done once for a name.
func (t *Timeline) choose(name string, keep func(*Instant) bool) *Timeline {
	if t.kept == nil {
		return t.Filter(keep)
	}
	t.kept.mu.Lock()
	defer t.kept.mu.Unlock()
	out := t.kept.by[name]
	if out == nil {
		if t.kept.by == nil {
			t.kept.by = map[string]*Timeline{}
		}
		out = t.Filter(keep)
		t.kept.by[name] = out
	}
	return out
}

// Whole is the timeline that this one was chosen from, or itself.
func (t *Timeline) Whole() *Timeline {
	if t.whole != nil {
		return t.whole
	}
	return t
}

func actions(list ...Action) func(*Instant) bool {
	return func(i *Instant) bool {
		for _, a := range list {
			if i.Action == a {
				return true
			}
		}
		return false
	}
}

// Actions returns the instants with one of the actions.
func (t *Timeline) Actions(list ...Action) *Timeline { return t.Filter(actions(list...)) }

// Commits returns commits, deltacommits, replacecommits and clusterings in any state: Hudi's commits timeline.
func (t *Timeline) Commits() *Timeline {
	return t.choose("commits", actions(Commit, DeltaCommit, ReplaceCommit, Clustering))
}

// CommitsAndCompaction adds compactions to Commits.
func (t *Timeline) CommitsAndCompaction() *Timeline {
	return t.choose("commits and compaction", actions(Commit, DeltaCommit, ReplaceCommit, Clustering, Compaction))
}

// Write adds log compactions to CommitsAndCompaction: Hudi's write timeline.
func (t *Timeline) Write() *Timeline { return t.choose("write", isWrite) }

var isWrite = actions(Commit, DeltaCommit, ReplaceCommit, Clustering, Compaction, LogCompaction)

// Completed returns the completed instants.
func (t *Timeline) Completed() *Timeline {
	return t.choose("completed", func(i *Instant) bool { return i.State == Completed })
}

// Pending returns the instants that are not completed.
func (t *Timeline) Pending() *Timeline {
	return t.choose("pending", func(i *Instant) bool { return i.State != Completed })
}

// CompletedAndCompaction returns completed instants, and compactions in any state.
func (t *Timeline) CompletedAndCompaction() *Timeline {
	return t.choose("completed and compaction", func(i *Instant) bool { return i.State == Completed || i.Action == Compaction })
}

// Readers is the timeline a snapshot reader builds its file slices with: commits and
// compactions, completed ones and compactions in any state (spec file-view.md section 3).
func (t *Timeline) Readers() *Timeline { return t.CommitsAndCompaction().CompletedAndCompaction() }

// CompletedReplace returns the completed replacecommits.
func (t *Timeline) CompletedReplace() *Timeline {
	return t.choose("completed replace", func(i *Instant) bool { return i.State == Completed && i.Action == ReplaceCommit })
}

// PendingCompaction returns the compactions that are not completed.
func (t *Timeline) PendingCompaction() *Timeline {
	return t.choose("pending compaction", func(i *Instant) bool { return i.State != Completed && i.Action == Compaction })
}

// PendingLogCompaction returns the log compactions that are not completed.
func (t *Timeline) PendingLogCompaction() *Timeline {
	return t.choose("pending log compaction", func(i *Instant) bool { return i.State != Completed && i.Action == LogCompaction })
}

// Clusterings is a pending clustering with its plan.
type Clusterings struct {
	Instant Instant
	Plan    *commitmeta.RequestedReplace
}

// PendingClustering returns the clusterings that are not completed, with their plans. In
// layouts 0 and 1, and after an upgrade, they are replacecommits whose request says
// CLUSTER. A plan that can't be decoded is a finding, not an error.
func (t *Timeline) PendingClustering(ctx context.Context) ([]Clusterings, []Finding, error) {
	var out []Clusterings
	var findings []Finding
	for i := range t.Instants {
		x := &t.Instants[i]
		if x.State == Completed || x.Action != ReplaceCommit && x.Action != Clustering {
			continue
		}
		plan, err := t.RequestedReplace(ctx, x)
		switch {
		case err == nil && (x.Action == Clustering || plan.IsClustering()):
			out = append(out, Clusterings{*x, plan})
		case err == nil || errors.Is(err, commitmeta.ErrEmpty) && x.Action == ReplaceCommit:
		case corrupt.Is(err) || storage.IsNotExist(err) || errors.Is(err, commitmeta.ErrEmpty):
			findings = append(findings, Finding{Level: "warning", Title: "Plan of a pending " + string(x.Action) + " can't be read", Detail: err.Error(), File: x.File.Path})
		default:
			return nil, nil, err
		}
	}
	return out, findings, nil
}

// Empty reports whether there is no instant.
func (t *Timeline) Empty() bool { return len(t.Instants) == 0 }

// First and Last return the first and last instant, nil when the timeline is empty.
func (t *Timeline) First() *Instant {
	if t.Empty() {
		return nil
	}
	return &t.Instants[0]
}

// Last returns the last instant in order of requested time, nil when the timeline is empty.
func (t *Timeline) Last() *Instant {
	if t.Empty() {
		return nil
	}
	return &t.Instants[len(t.Instants)-1]
}

// Find returns the instants of a requested time; there are two when a savepoint shares the
// time of the commit it protects.
func (t *Timeline) Find(requested string) []Instant {
	n := sort.Search(len(t.Instants), func(i int) bool { return t.Instants[i].Requested >= requested })
	m := n
	for m < len(t.Instants) && t.Instants[m].Requested == requested {
		m++
	}
	return t.Instants[n:m]
}

// FirstNonSavepoint is the requested time of the first instant whose time is not also that
// of a savepoint, "" when there is none: everything before it is archived.
func (t *Timeline) FirstNonSavepoint() string { return t.first }

func (t *Timeline) firstNonSavepoint() string {
	saved := map[string]bool{}
	for i := range t.Instants {
		if t.Instants[i].Action == Savepoint {
			saved[t.Instants[i].Requested] = true
		}
	}
	for i := range t.Instants {
		if !saved[t.Instants[i].Requested] {
			return t.Instants[i].Requested
		}
	}
	return ""
}

// BeforeTimelineStarts reports whether an instant time is older than the timeline, which
// means archived and completed.
func (t *Timeline) BeforeTimelineStarts(time string) bool {
	return t.first != "" && time < t.first
}

// Contains reports whether an instant of that requested time is in the timeline. A
// 17-digit time that ends in 999 also matches the 14-digit time it may stand for.
func (t *Timeline) Contains(time string) bool {
	if len(t.Find(time)) > 0 {
		return true
	}
	if short, ok := strings.CutSuffix(time, "999"); ok && len(time) == 17 {
		return len(t.Find(short)) > 0
	}
	return false
}

// ContainsOrBeforeTimelineStarts reports whether an instant time is in the timeline or older.
func (t *Timeline) ContainsOrBeforeTimelineStarts(time string) bool {
	return t.Contains(time) || t.BeforeTimelineStarts(time)
}

// CompletionTime returns the completion time of an instant of the whole timeline (and of
// the archive, after WithArchived). It is "" with ok true for a completed instant of
// layouts 0 and 1 whose file's modification time is not known.
func (t *Timeline) CompletionTime(requested string) (completion string, ok bool) {
	completion, ok = t.completion[requested]
	return completion, ok
}

// IsCompleted reports whether the instant of that requested time is completed: known to
// be, or older than the write timeline.
func (t *Timeline) IsCompleted(requested string) bool {
	if _, ok := t.completion[requested]; ok {
		return true
	}
	return t.writes != "" && requested < t.writes
}

// HasArchived reports whether the completion times of archived instants are known.
func (t *Timeline) HasArchived() bool { return t.archived }

// WithArchived returns the timeline with the completion times of archived instants added
// to CompletionTime and IsCompleted. The instants stay those of the active timeline.
func (t *Timeline) WithArchived(a *Archived) *Timeline {
	out := *t
	out.completion = make(map[string]string, len(t.completion)+len(a.Instants))
	for i := range a.Instants {
		if x := &a.Instants[i]; x.State == Completed {
			out.completion[x.Requested] = x.Completed
		}
	}
	for k, v := range t.completion {
		out.completion[k] = v
	}
	out.archived, out.kept = true, &selections{}
	if t.whole != nil {
		out.whole = t.whole.WithArchived(a)
	}
	return &out
}

// reading bounds the bytes of metadata files that this process holds at a time while they are decoded: many are read
// at once. Whoever has its part waits for no other file.
var reading = commitmeta.NewBudget(64 << 20)

// With reads one of the timeline's files and hands its bytes to use, which must not keep them and reads no other file
// of a timeline. How much all calls hold at a time is bounded, so that one may wait for others. An error of use that
// names no file is given this one.
func (t *Timeline) With(ctx context.Context, f File, use func(data []byte) error) error {
	o, err := t.src.Open(ctx, f.Path)
	if err != nil {
		return err
	}
	defer o.Close()
	size, err := o.Size(ctx)
	if err != nil {
		return err
	}
	if size > commitmeta.MaxFile {
		return &storage.Fault{Op: "read", Path: f.Path, Kind: storage.Refused, Err: fmt.Errorf("the file has %d bytes, more than the limit of %d", size, commitmeta.MaxFile)}
	}
	release, err := reading.Take(ctx, size)
	if err != nil {
		return err
	}
	defer release()
	data := make([]byte, size)
	if err := storage.ReadFull(ctx, o, data, 0); err != nil {
		return err
	}
	return corrupt.InFile(use(data), f.Path)
}

// Decode reads and decodes one of the timeline's files as JSON.
func (t *Timeline) Decode(ctx context.Context, f File) (commitmeta.Decoded, error) {
	var d commitmeta.Decoded
	err := t.With(ctx, f, func(data []byte) (err error) {
		d, err = commitmeta.Decode(data)
		return err
	})
	return d, err
}

// read decodes the instant's file of a state.
func read[T any](ctx context.Context, t *Timeline, i *Instant, s State, parse func([]byte) (T, error)) (T, error) {
	var none T
	f, ok := i.FileOf(s)
	if !ok {
		return none, &storage.Fault{Op: "open", Path: t.Dir, Location: t.src.Location(), Kind: storage.NotFound, Err: fmt.Errorf("%s has no file in state %s", i, s)}
	}
	return ReadAs(ctx, t, f, parse)
}

// ReadAs reads one of the timeline's files and decodes it, as in [Timeline.With].
func ReadAs[T any](ctx context.Context, t *Timeline, f File, parse func([]byte) (T, error)) (T, error) {
	var v, none T
	err := t.With(ctx, f, func(data []byte) (err error) {
		v, err = parse(data)
		return err
	})
	if err != nil {
		return none, err
	}
	return v, nil
}

// CommitMetadata reads the commit metadata of the instant's latest state. It is that of a
// completed commit, or the workload profile of an inflight one.
func (t *Timeline) CommitMetadata(ctx context.Context, i *Instant) (*commitmeta.CommitMetadata, error) {
	return read(ctx, t, i, i.State, commitmeta.ParseCommit)
}

// CompactionPlan reads the plan of a compaction or log compaction. An empty or absent
// file is looked for in .hoodie/.aux too, where old tables keep plans; an empty plan is
// commitmeta.ErrEmpty.
func (t *Timeline) CompactionPlan(ctx context.Context, i *Instant) (*commitmeta.CompactionPlan, error) {
	plan, err := read(ctx, t, i, Requested, commitmeta.ParseCompactionPlan)
	if err == nil || t.Layout >= 2 || !errors.Is(err, commitmeta.ErrEmpty) && !storage.IsNotExist(err) {
		return plan, err
	}
	path := t.meta + "/.aux/" + i.Requested + ".compaction.requested"
	plan, e := ReadAs(ctx, t, File{Path: path}, commitmeta.ParseCompactionPlan)
	if storage.IsNotExist(e) {
		return nil, err
	}
	return plan, e
}

// RequestedReplace reads the request of a replacecommit or clustering; commitmeta.ErrEmpty
// when it has no content.
func (t *Timeline) RequestedReplace(ctx context.Context, i *Instant) (*commitmeta.RequestedReplace, error) {
	return read(ctx, t, i, Requested, commitmeta.ParseRequestedReplace)
}

// RollbackTargets reads which instants a rollback rolls back: from its result, or from its
// plan while it is pending or when the result is empty.
func (t *Timeline) RollbackTargets(ctx context.Context, i *Instant) ([]string, error) {
	if i.State == Completed {
		m, err := read(ctx, t, i, Completed, commitmeta.ParseRollback)
		if err == nil {
			return m.Targets(), nil
		}
		if !errors.Is(err, commitmeta.ErrEmpty) {
			return nil, err
		}
	}
	plan, err := read(ctx, t, i, Requested, commitmeta.ParseRollbackPlan)
	if err != nil {
		return nil, err
	}
	if plan.Target == nil {
		return nil, nil
	}
	return []string{plan.Target.Time()}, nil
}

// JSON is the output of the timeline command.
type JSON struct {
	Active   []JSONInstant `json:"active"`
	Archived []JSONInstant `json:"archived"`
}

// JSONInstant is one instant of JSON. CompletionTime is null while pending.
type JSONInstant struct {
	Timestamp      string  `json:"timestamp"`
	Action         Action  `json:"action"`
	State          State   `json:"state"`
	CompletionTime *string `json:"completion_time"`
	File           string  `json:"file,omitempty"`
}

// JSON returns the instants in the shape of the timeline command; a may be nil.
func (t *Timeline) JSON(a *Archived) JSON {
	out := JSON{Active: []JSONInstant{}, Archived: []JSONInstant{}}
	opt := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	for i := range t.Instants {
		x := &t.Instants[i]
		out.Active = append(out.Active, JSONInstant{x.Requested, x.Action, x.State, opt(x.Completed), x.File.Name})
	}
	if a != nil {
		for i := range a.Instants {
			x := &a.Instants[i]
			out.Archived = append(out.Archived, JSONInstant{Timestamp: x.Requested, Action: x.Action, State: x.State, CompletionTime: opt(x.Completed)})
		}
	}
	return out
}
