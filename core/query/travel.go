package query

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"hudiscope/core/commitmeta"
	"hudiscope/core/filegroup"
	"hudiscope/core/logfile"
	"hudiscope/core/release"
	"hudiscope/core/storage"
	"hudiscope/core/table"
	"hudiscope/core/timeline"
)

// travel checks that the table can be read as of an instant (spec queries.md section 4). A release
// that was asked for is followed; the right answer refuses only what the cleaner made impossible.
func (p *Plan) travel(ctx context.Context, t *table.Table, progress func(dirs int)) error {
	tl, err := t.Timeline(ctx)
	if err != nil {
		return err
	}
	asOf := p.Query.Read.AsOf
	refusal, err := travelRefusal(ctx, t, tl, asOf)
	if err != nil {
		return err
	}
	explicit := followed(t)
	if explicit && !t.Rules.TimeTravelChecks {
		if refusal != "" {
			p.Notes = append(p.Notes, t.Rules.Name()+" does not check the instant of a time travel; later releases refuse this one: "+refusal)
		}
		return nil
	}
	gone, err := cleanedSlices(ctx, t, tl, asOf, progress)
	if err != nil {
		return err
	}
	n := gone.needed(asOf)
	if explicit {
		gone.refused = func(x string) (bool, error) {
			r, err := travelRefusal(ctx, t, tl, x)
			return r != "", err
		}
	}
	switch {
	case explicit && refusal != "":
		try, err := gone.oldest()
		if err != nil {
			return err
		}
		if n == 0 {
			try += " Without a release asked for the rows as of " + asOf + " are shown: their files are still there."
		}
		return refuse(try, "%s refuses this: %s", t.Rules.Name(), refusal)
	case n > 0:
		try, err := gone.oldest()
		if err != nil {
			return err
		}
		return refuse(try, "The cleaner removed %s that the table had as of %s.", files(n), asOf)
	case refusal != "":
		p.fail(release.TravelCleaned, strings.TrimSuffix(refusal, ".")+". All files of that time that Hudi knows are still there, and are read.")
	}
	return nil
}

func files(n int) string {
	if n == 1 {
		return "a file"
	}
	return fmt.Sprintf("%d files", n)
}

// travelRefusal is what Hudi 0.14 and later say against an instant, "" for nothing.
func travelRefusal(ctx context.Context, t *table.Table, tl *timeline.Timeline, asOf string) (string, error) {
	pending, err := firstPending(ctx, tl)
	if err != nil {
		return "", err
	}
	if pending != "" && asOf >= pending {
		return fmt.Sprintf("Time travel's timestamp '%s' must be earlier than the first incomplete commit timestamp '%s'.", asOf, pending), nil
	}
	cleans := tl.Actions(timeline.Clean).Completed()
	if cleans.Empty() {
		return "", nil
	}
	last := cleans.Last()
	m, err := readClean(ctx, tl, last)
	if err != nil {
		return "", err
	}
	if m == nil {
		return "", nil
	}
	if m.EarliestRetained != "" {
		if m.EarliestRetained > asOf {
			return "Cleaner cleaned up the timestamp of interest. Please ensure sufficient commits are retained with cleaner for Timestamp as of query to work", nil
		}
		return "", nil
	}
	if first := tl.Write().Completed().First(); first != nil && first.Requested > asOf {
		return "Please ensure sufficient commits are retained (uncleaned and un-archived) for timestamp as of query to work.", nil
	}
	return "", nil
}

// readClean reads a clean, nil when it can't be decoded.
func readClean(ctx context.Context, tl *timeline.Timeline, i *timeline.Instant) (*commitmeta.CleanMetadata, error) {
	var m *commitmeta.CleanMetadata
	err := tl.With(ctx, i.File, func(data []byte) error {
		m, _ = commitmeta.ParseClean(data)
		return nil
	})
	if storage.IsNotExist(err) {
		return nil, nil
	}
	return m, err
}

// removedFile is a data file that a clean removed.
type removedFile struct {
	// written is when it was written and slice the time that decides which slice it belongs to: the base
	// instant of a base file, or of a log file below version 8; the completion of a log file's commit from
	// version 8 on. By is the clean.
	written, slice, by string
}

// gone is what cleans removed, by file group.
type gone struct {
	removed map[string][]removedFile
	// starts are the base instants of the group's slices, removed ones included; replaced is when the group
	// was replaced.
	starts   map[string][]string
	replaced map[string]string
	// times are the completed commits that can be travelled to, from the instant asked for on.
	times []string
	// refused are those that the release that was asked for refuses.
	refused func(asOf string) (bool, error)
}

// cleanedSlices reads what cleans removed that a read as of an instant, or a later one, might need. Cleans
// before it do not matter: what they removed was not needed any more. Those that are archived count like
// those in the active timeline, as do archived commits that replaced file groups.
func cleanedSlices(ctx context.Context, t *table.Table, tl *timeline.Timeline, asOf string, progress func(dirs int)) (*gone, error) {
	g := &gone{removed: map[string][]removedFile{}, starts: map[string][]string{}, replaced: map[string]string{}}
	completed := map[string]string{}
	for _, x := range tl.Commits().Completed().Instants {
		completed[x.Requested] = x.Completed
		if x.Requested > asOf {
			g.times = append(g.times, x.Requested)
		}
	}
	var cleans []timeline.ArchivedInstant
	var replaces []timeline.ArchivedInstant
	a, err := t.ArchivedRange(ctx, timeline.Range{From: asOf})
	if err != nil {
		return nil, err
	}
	for _, x := range a.Instants {
		switch {
		case x.State != timeline.Completed:
		case x.Action == timeline.Clean:
			cleans = append(cleans, x)
		case isCommit(x.Action):
			completed[x.Requested] = x.Completed
			if x.Requested > asOf {
				g.times = append(g.times, x.Requested)
			}
			if x.Action == timeline.ReplaceCommit || x.Action == timeline.Clustering {
				replaces = append(replaces, x)
			}
		}
	}
	sort.Strings(g.times)
	some := false
	err = eachClean(ctx, t, tl, asOf, cleans, func(by string, m *commitmeta.CleanMetadata) {
		some = true
		g.clean(by, m, t.Config.Version, completed)
	})
	if err != nil {
		return nil, err
	}
	if !some {
		return g, nil
	}
	v, err := t.View(ctx, progress)
	if err != nil {
		return nil, err
	}
	for _, part := range v.Partitions {
		for _, grp := range part.Groups {
			k := part.Path + "\x00" + grp.FileID
			g.replaced[k] = grp.ReplacedBy
			for _, s := range grp.Slices {
				if !s.Empty() {
					g.starts[k] = append(g.starts[k], s.BaseInstant)
				}
			}
		}
	}
	// A group none of whose files is left is in no view: the commits tell that it was replaced.
	metas, err := t.ArchivedCommits(ctx, replaces)
	if err != nil {
		return nil, err
	}
	for _, x := range tl.Commits().Completed().Instants {
		if x.Action != timeline.ReplaceCommit && x.Action != timeline.Clustering {
			continue
		}
		m, err := tl.CommitMetadata(ctx, &x)
		if err != nil {
			return nil, err
		}
		metas[x.Requested] = m
	}
	for at, m := range metas {
		for _, p := range m.Replaced {
			for _, id := range p.FileIDs {
				k := p.Partition + "\x00" + id
				if r := g.replaced[k]; r == "" || at < r {
					g.replaced[k] = at
				}
			}
		}
	}
	return g, nil
}

// eachClean reads the completed cleans that were requested after an instant, those of the active timeline
// and some archived ones.
func eachClean(ctx context.Context, t *table.Table, tl *timeline.Timeline, after string, archived []timeline.ArchivedInstant, f func(by string, m *commitmeta.CleanMetadata)) error {
	active := tl.Actions(timeline.Clean).Completed()
	for i := range active.Instants {
		x := &active.Instants[i]
		if x.Requested <= after {
			continue
		}
		m, err := readClean(ctx, tl, x)
		if err != nil {
			return err
		}
		if m != nil {
			f(x.Requested, m)
		}
	}
	return t.ArchivedParts(ctx, archived, func(x *timeline.ArchivedInstant, parts []timeline.ArchivedPart) error {
		for _, p := range parts {
			if p.State != timeline.Completed || p.JSON == nil {
				continue
			}
			var m commitmeta.CleanMetadata
			if err := json.Unmarshal(p.JSON, &m); err != nil {
				return fmt.Errorf("archived clean %s in %s: %w", x.Requested, x.File, err)
			}
			f(x.Requested, &m)
		}
		return nil
	})
}

// clean adds what a clean removed.
func (g *gone) clean(by string, m *commitmeta.CleanMetadata, version int, completed map[string]string) {
	for part, p := range m.Partitions {
		for _, f := range p.Deleted {
			name := f[strings.LastIndexByte(f, '/')+1:]
			r := removedFile{by: by}
			l, isLog := logfile.ParseName(name)
			k := part + "\x00" + l.FileID
			if isLog {
				r.written, r.slice = l.Instant, l.Instant
				if c := completed[l.Instant]; version >= 8 && c != "" {
					r.slice = c
				}
			} else if b, ok := filegroup.ParseBaseName(name); ok {
				k = part + "\x00" + b.FileID
				r.written, r.slice = b.Instant, b.Instant
			} else {
				continue
			}
			if l.CDC {
				continue
			}
			g.removed[k] = append(g.removed[k], r)
			if !isLog || version < 8 {
				g.starts[k] = append(g.starts[k], r.slice)
			}
		}
	}
}

// needed counts the removed files that a read as of an instant would need: those that were there, that are
// in the slice the group had then, and whose group was not replaced by then.
func (g *gone) needed(asOf string) int {
	n := 0
	for k, list := range g.removed {
		if r := g.replaced[k]; r != "" && r <= asOf {
			continue
		}
		last := ""
		for _, i := range g.starts[k] {
			if i <= asOf {
				last = max(last, i)
			}
		}
		for _, r := range list {
			if r.by > asOf && r.written <= asOf && r.slice >= last {
				n++
			}
		}
	}
	return n
}

// oldest says which commit is the oldest that can be travelled to, by the release that was asked for.
func (g *gone) oldest() (string, error) {
	for _, x := range g.times {
		if g.needed(x) > 0 {
			continue
		}
		if g.refused != nil {
			no, err := g.refused(x)
			if err != nil {
				return "", err
			}
			if no {
				continue
			}
		}
		return "The oldest instant that can still be read is " + x + ".", nil
	}
	return "The latest rows can be read: leave as.of.instant out.", nil
}
