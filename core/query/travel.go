package query

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"hudiscope/core/commitmeta"

	"hudiscope/core/logfile"
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
	gone, err := cleanedSlices(ctx, t, tl, progress)
	if err != nil {
		return err
	}
	if explicit && refusal != "" {
		return refuse(gone.oldest(tl, "Without a release asked for, the rows are shown if their files are still there."), "%s refuses this: %s", t.Rules.Name(), refusal)
	}
	if n := gone.needed(asOf); n > 0 {
		return refuse(gone.oldest(tl, ""), "The cleaner removed %s that the table had as of %s.", files(n), asOf)
	}
	if refusal != "" {
		p.Remarks = append(p.Remarks, "Hudi refuses this time travel ("+strings.TrimSuffix(refusal, ".")+"); all files of that time that it knows are still there, and are read.")
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
	b, err := tl.ReadFile(ctx, i.File)
	if err != nil {
		if storage.IsNotExist(err) {
			return nil, nil
		}
		return nil, err
	}
	m, err := commitmeta.ParseClean(b)
	if err != nil {
		return nil, nil
	}
	return m, nil
}

// gone are the slices that cleans removed.
type gone struct {
	// removed are the base instants of removed slices, by group; kept those of slices left.
	removed, kept map[string][]string
	replaced      map[string]string
	times         []string
}

// cleanedSlices reads all cleans of the active timeline.
func cleanedSlices(ctx context.Context, t *table.Table, tl *timeline.Timeline, progress func(dirs int)) (*gone, error) {
	g := &gone{removed: map[string][]string{}, kept: map[string][]string{}, replaced: map[string]string{}}
	cleans := tl.Actions(timeline.Clean).Completed()
	if cleans.Empty() {
		return g, nil
	}
	for i := range cleans.Instants {
		m, err := readClean(ctx, tl, &cleans.Instants[i])
		if err != nil {
			return nil, err
		}
		if m == nil {
			continue
		}
		for part, p := range m.Partitions {
			for _, f := range p.Deleted {
				name := f[strings.LastIndexByte(f, '/')+1:]
				if id, instant, ok := sliceName(name, t.Config.Version); ok {
					k := part + "\x00" + id
					g.removed[k] = append(g.removed[k], instant)
				}
			}
		}
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
					g.kept[k] = append(g.kept[k], s.BaseInstant)
				}
			}
		}
	}
	for _, x := range tl.Commits().Completed().Instants {
		g.times = append(g.times, x.Requested)
	}
	sort.Strings(g.times)
	return g, nil
}

// needed counts the removed slices that a read as of an instant would need: those that no kept slice
// at or before it has taken the place of.
func (g *gone) needed(asOf string) int {
	n := 0
	for k, list := range g.removed {
		if r := g.replaced[k]; r != "" && r <= asOf {
			continue
		}
		last, kept := "", ""
		for _, i := range list {
			if i <= asOf {
				last = max(last, i)
			}
		}
		for _, i := range g.kept[k] {
			if i <= asOf {
				kept = max(kept, i)
			}
		}
		if last > kept {
			n++
		}
	}
	return n
}

// oldest says which commit is the oldest that can still be travelled to.
func (g *gone) oldest(tl *timeline.Timeline, more string) string {
	s := ""
	for _, x := range g.times {
		if g.needed(x) == 0 {
			s = "The oldest instant that can still be read is " + x + "."
			break
		}
	}
	if more != "" {
		s = strings.TrimSpace(s + " " + more)
	}
	return s
}

// sliceName takes the group and base instant from a file's name; a log of version 8 or later tells
// only its own instant, which is not before its slice's.
func sliceName(name string, version int) (id, instant string, ok bool) {
	if l, isLog := logfile.ParseName(name); isLog {
		if version >= 8 || l.CDC {
			return "", "", false
		}
		return l.FileID, l.Instant, true
	}
	parts := strings.Split(name, "_")
	if len(parts) != 3 {
		return "", "", false
	}
	instant, _, _ = strings.Cut(parts[2], ".")
	return parts[0], instant, true
}
