package query

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"hudiscope/core/commitmeta"
	"hudiscope/core/table"
	"hudiscope/core/timeline"
)

// Analyzer chooses the instants of an incremental read by completion time (spec queries.md section
// 6). Spark and Flink share it.
type Analyzer struct {
	Table    *table.Table
	Timeline *timeline.Timeline
	// Start and End are completion times; Start may be earliest, both may be "".
	Start, End string
	// Closed includes the start.
	Closed                                     bool
	SkipCompaction, SkipClustering, SkipInsert bool
	// SkipDeltas leaves the deltacommits of a table out (change data read from base files).
	SkipDeltas bool
	// Limit bounds the number of active instants, 0 for no bound.
	Limit int
}

// Analysis is what an Analyzer found.
type Analysis struct {
	// Range says what was looked for.
	Range string
	// Start and End are requested times, "" for no bound.
	StartInstant, EndInstant string
	// MaxCompletion is the largest completion time of the instants.
	MaxCompletion string

	commits []commit // archived first
	// reads are the commits whose files are looked at: of a range that is archived and has no start they
	// are more than those that are chosen.
	reads    []commit
	archived int // how many of them
	filtered *timeline.Timeline
}

// instants are the requested times of the analysis, archived ones first.
func (r *Analysis) instants() []string {
	out := make([]string, len(r.commits))
	for i := range r.commits {
		out[i] = r.commits[i].Requested
	}
	return out
}

// Analyze chooses the instants.
func (a *Analyzer) Analyze(ctx context.Context) (*Analysis, error) {
	r := &Analysis{}
	var err error
	if r.filtered, err = a.filter(ctx); err != nil {
		return nil, err
	}
	all := strings.EqualFold(a.Start, earliest)
	completion := map[string]string{}
	archived := map[string]*timeline.ArchivedInstant{}
	first := a.Timeline.Write().FirstNonSavepoint()
	arch, err := a.history(ctx, first, r.filtered)
	if err != nil {
		return nil, err
	}
	for i := range arch.Instants {
		x := &arch.Instants[i]
		if x.State == timeline.Completed && isCommit(x.Action) {
			completion[x.Requested] = x.Completed
			archived[x.Requested] = x
		}
	}
	writes := a.Timeline.Write().Completed()
	for i := range writes.Instants {
		x := &writes.Instants[i]
		completion[x.Requested] = x.Completed
	}
	var chosen []string
	var why string
	switch {
	case a.Start == "" && a.End == "":
		r.Range, why = "The last completed commit.", "It is the last completed one."
		if x := r.filtered.Completed().Last(); x != nil {
			chosen = []string{x.Requested}
		}
	case a.Start == "":
		r.Range, why = fmt.Sprintf("The last commit completed at or before %s.", a.End), "It is the last one completed by then."
		best := ""
		for _, x := range r.filtered.Completed().Instants {
			if x.Completed <= a.End && x.Completed > best {
				best, chosen = x.Completed, []string{x.Requested}
			}
		}
		if chosen == nil {
			for i, c := range completion {
				if c <= a.End {
					chosen = append(chosen, i)
				}
			}
			sort.Strings(chosen)
		}
	default:
		open := "("
		if a.Closed || all {
			open = "["
		}
		start, end := a.Start, a.End
		if all {
			start = "the beginning"
		}
		if end == "" {
			end = "now"
		}
		r.Range, why = fmt.Sprintf("Commits completed in %s%s, %s].", open, start, end), "Its completion time is in the range."
		for i, c := range completion {
			if (all || c > a.Start || a.Closed && c == a.Start) && (a.End == "" || c <= a.End) {
				chosen = append(chosen, i)
			}
		}
		sort.Strings(chosen)
	}
	set := map[string]bool{}
	for _, i := range chosen {
		set[i] = true
	}
	var old []timeline.ArchivedInstant
	for _, i := range chosen {
		if x := archived[i]; x != nil && i < first {
			old = append(old, *x)
		}
	}
	if len(old) > 0 {
		metas, err := a.Table.ArchivedCommits(ctx, old)
		if err != nil {
			return nil, err
		}
		for _, x := range old {
			m := metas[x.Requested]
			if m == nil {
				m = &commitmeta.CommitMetadata{Operation: commitmeta.OpUnknown}
			}
			if a.skips(string(x.Action), m) {
				continue
			}
			r.commits = append(r.commits, commit{Chosen{x.Requested, x.Completed, string(x.Action), m.Operation, true, why}, m})
		}
	}
	r.archived = len(r.commits)
	for _, x := range r.filtered.Completed().Instants {
		if !set[x.Requested] || !all && a.Limit > 0 && len(r.commits)-r.archived >= a.Limit {
			continue
		}
		m, err := r.filtered.CommitMetadata(ctx, &x)
		if err != nil {
			return nil, err
		}
		r.commits = append(r.commits, commit{Chosen{x.Requested, x.Completed, string(x.Action), m.Operation, false, why}, m})
	}
	if len(r.commits) == 0 {
		return r, nil
	}
	r.reads = r.commits
	if a.Start == "" {
		r.commits = r.commits[len(r.commits)-1:]
		if !r.commits[0].Archived {
			r.archived = 0
		} else {
			r.archived = 1
		}
	}
	last := r.commits[len(r.commits)-1].Requested
	if !all {
		r.StartInstant = r.commits[0].Requested
	}
	if a.End != "" {
		r.EndInstant = last
	}
	for _, c := range r.commits[r.archived:] {
		r.MaxCompletion = max(r.MaxCompletion, c.Completed)
	}
	if r.archived == len(r.commits) {
		for _, x := range r.filtered.Completed().Instants {
			r.MaxCompletion = max(r.MaxCompletion, x.Completed)
		}
	}
	return r, nil
}

// history loads what the range needs of the archived timeline: as in Hudi, instants that were requested up
// to a day before its start.
func (a *Analyzer) history(ctx context.Context, first string, filtered *timeline.Timeline) (*timeline.Archived, error) {
	none := &timeline.Archived{}
	from := ""
	switch {
	case strings.EqualFold(a.Start, earliest):
	case a.Start != "":
		if from = dayBefore(a.Start); from != "" && first != "" && from >= first {
			return none, nil
		}
	case a.End == "":
		return none, nil
	default:
		for _, x := range filtered.Completed().Instants {
			if x.Completed <= a.End {
				return none, nil
			}
		}
	}
	return a.Table.ArchivedRange(ctx, timeline.Range{From: from})
}

// dayBefore is the instant a day earlier, "" when the text is no instant.
func dayBefore(instant string) string {
	if len(instant) < 14 {
		return ""
	}
	t, err := time.Parse("20060102150405", instant[:14])
	if err != nil {
		return ""
	}
	return timeline.FormatTime(t.AddDate(0, 0, -1))
}

// skips reports whether an instant is left out by the options.
func (a *Analyzer) skips(action string, m *commitmeta.CommitMetadata) bool {
	mor := a.Table.Config.MergeOnRead()
	switch {
	case mor && a.SkipCompaction && action == string(timeline.Commit):
		return true
	case mor && a.SkipDeltas && action == string(timeline.DeltaCommit):
		return true
	case a.SkipClustering && m.Operation == commitmeta.OpCluster:
		return true
	case a.SkipInsert && (m.Operation == "INSERT_OVERWRITE" || m.Operation == "INSERT_OVERWRITE_TABLE"):
		return true
	}
	return false
}

// filter is the active timeline without what the options leave out. Compactions in any state stay.
func (a *Analyzer) filter(ctx context.Context) (*timeline.Timeline, error) {
	tl := a.Timeline.Readers()
	drop := map[string]bool{}
	for i := range tl.Instants {
		x := &tl.Instants[i]
		var m commitmeta.CommitMetadata
		if x.Action == timeline.ReplaceCommit && (a.SkipClustering || a.SkipInsert) && x.State == timeline.Completed {
			got, err := tl.CommitMetadata(ctx, x)
			if err != nil {
				return nil, err
			}
			m = *got
		}
		if a.skips(string(x.Action), &m) {
			drop[x.Requested] = true
		}
	}
	return tl.Filter(func(x *timeline.Instant) bool { return !drop[x.Requested] }), nil
}
