package query

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"hudiscope/core/commitmeta"
	"hudiscope/core/filegroup"
	"hudiscope/core/groupreader"
	"hudiscope/core/logscan"
	"hudiscope/core/release"
	"hudiscope/core/table"
	"hudiscope/core/timeline"
)

// incremental plans an incremental read (spec queries.md sections 5 and 6).
type incremental struct {
	p        *Plan
	t        *table.Table
	tl       *timeline.Timeline
	in       *Incremental
	progress func(dirs int)
	v2       bool

	// commits are the commits of the range with their metadata, oldest first.
	commits []commit
	// visible is the timeline that decides which slices of the range's files are seen.
	visible *timeline.Timeline
	// keep and blocks choose the rows and log blocks.
	keep   func(string) bool
	blocks *logscan.InstantRange
	// outside says why files of the range can't all be there, "" when they should.
	outside string
	// full is the row filter of a full scan.
	full func(string) bool
}

// commit is a commit of the range.
type commit struct {
	Chosen
	meta *commitmeta.CommitMetadata
}

// metaOff is Hudi's refusal of tables without meta fields.
func (n *incremental) metaOff() error {
	if !n.t.Config.PopulateMetaFields() {
		return refuse("The rows of such a table do not tell their commit; compare two snapshots instead.", "Incremental queries are not supported when meta fields are disabled.")
	}
	return nil
}

func (n *incremental) plan(ctx context.Context) error {
	if n.p.Relation.Name() == "EmptyRelation" {
		if n.p.Relation.Inputs.ByRequestedTime || !n.v2 {
			return refuse("", "No instants to incrementally pull.")
		}
		return n.empty(ctx)
	}
	if err := n.metaOff(); err != nil {
		return err
	}
	var err error
	if n.v2 {
		err = n.rangeV2(ctx)
	} else {
		err = n.rangeV1(ctx)
	}
	if err != nil {
		return err
	}
	for i := range n.commits {
		n.p.Instants = append(n.p.Instants, n.commits[i].Chosen)
	}
	if len(n.commits) == 0 && (n.outside == "" || !n.fullScan()) {
		if n.outside != "" {
			n.p.Notes = append(n.p.Notes, fmt.Sprintf("All commits of the range are archived: %s. Hudi shows no rows; set %s=true to scan the whole table instead.", n.outside, optFullScan))
		}
		return n.empty(ctx)
	}
	return n.files(ctx)
}

// schemaAt is the instant whose schema the rows take.
func (n *incremental) schema(ctx context.Context) (*table.Schema, error) {
	at := ""
	if n.in.EndSchema && len(n.commits) > 0 {
		at = n.commits[len(n.commits)-1].Requested
	}
	return n.t.SchemaAt(ctx, at)
}

func (n *incremental) empty(ctx context.Context) error {
	sc, err := n.schema(ctx)
	if err != nil {
		return err
	}
	return n.read(table.Selection{Query: n.p.Query.Read, Schema: sc, Timeline: n.tl})
}

// completedCommits are the completed commits of the active timeline; pending compactions play no part.
func (n *incremental) completedCommits() *timeline.Timeline { return n.tl.Commits().Completed() }

// hollow returns the first pending commit that is no clustering, "" when there is none.
func (n *incremental) hollow(ctx context.Context) (string, error) {
	return firstPending(ctx, n.tl)
}

func firstPending(ctx context.Context, tl *timeline.Timeline) (string, error) {
	clusterings, _, err := tl.PendingClustering(ctx)
	if err != nil {
		return "", err
	}
	skip := map[string]bool{}
	for i := range clusterings {
		skip[clusterings[i].Instant.Requested] = true
	}
	for _, i := range tl.Commits().Pending().Instants {
		if !skip[i.Requested] && i.Action != timeline.Clustering {
			return i.Requested, nil
		}
	}
	return "", nil
}

// rangeV1 chooses the commits by requested time, in (begin, end].
func (n *incremental) rangeV1(ctx context.Context) error {
	done := n.completedCommits()
	if done.Empty() {
		return refuse("", "No instants to incrementally pull.")
	}
	begin, end := n.in.Begin, n.in.End
	if strings.EqualFold(begin, earliest) {
		begin = "000"
	}
	transition := n.in.Hollow == useTransitionTime
	if transition && n.fullScan() {
		return refuse("", "%s=USE_TRANSITION_TIME can't go together with %s=true.", optHollow, optFullScan)
	}
	if !transition {
		h, err := n.hollow(ctx)
		if err != nil {
			return err
		}
		if h != "" && done.Last().Requested > h {
			policy, asked := n.in.Hollow, n.in.Hollow != ""
			if policy == "USE_ALL" {
				policy, asked = "", true
			}
			if !asked && n.t.Rules.HollowCommits {
				policy = "FAIL"
			}
			switch {
			case policy == "FAIL" && (asked || followed(n.t)):
				return refuse("Use "+optHollow+"=BLOCK to read what was completed before it.", "Found hollow commit: '%s'. Adjust config `%s` accordingly if to avoid throwing this exception.", h, optHollow)
			case policy != "":
				done = done.Filter(func(i *timeline.Instant) bool { return i.Requested < h })
				n.p.Notes = append(n.p.Notes, fmt.Sprintf("Commit %s is pending although later ones are completed: only what was completed before it is read, so that a later query misses nothing.", h))
				if policy == "FAIL" {
					n.p.Remarks = append(n.p.Remarks, "Hudi refuses this query by default (a hollow commit); the rows are those of "+optHollow+"=BLOCK.")
				}
			}
		}
	}
	order := func(i *timeline.Instant) string { return i.Requested }
	if transition {
		order = func(i *timeline.Instant) string { return i.Completed }
		n.p.Remarks = append(n.p.Remarks, "The range is taken by completion time, which before table version 8 is the modification time of the instant's file: copying a table loses it.")
	}
	if end == "" {
		for i := range done.Instants {
			end = max(end, order(&done.Instants[i]))
		}
	}
	n.p.Range = fmt.Sprintf("Commits requested in (%s, %s].", begin, end)
	if transition {
		n.p.Range = fmt.Sprintf("Commits completed in (%s, %s].", begin, end)
	}
	in := func(x string) bool { return x > begin && x <= end }
	n.visible = n.tl.CommitsAndCompaction().Filter(func(i *timeline.Instant) bool { return in(order(i)) || transition && i.State != timeline.Completed })
	for i := range done.Instants {
		x := &done.Instants[i]
		if !in(order(x)) {
			continue
		}
		m, err := done.CommitMetadata(ctx, x)
		if err != nil {
			return err
		}
		n.commits = append(n.commits, commit{Chosen{Requested: x.Requested, Completed: x.Completed, Action: string(x.Action), Operation: m.Operation,
			Why: "It is completed, and its time is in the range."}, m})
	}
	if n.tl.BeforeTimelineStarts(begin) && n.archivedSince(ctx, begin) {
		n.outside = fmt.Sprintf("the start %s lies before the active timeline", begin)
	}
	if n.tl.BeforeTimelineStarts(end) {
		n.outside = fmt.Sprintf("the end %s lies before the active timeline", end)
	}
	n.full = in
	if len(n.commits) == 0 {
		if n.outside == "" || !n.t.Config.MergeOnRead() || !n.tl.BeforeTimelineStarts(begin) || !n.tl.BeforeTimelineStarts(end) || n.fullScan() {
			return nil
		}
		// Hudi then looks at the files of all commits for rows of the range.
		for i := range done.Instants {
			x := &done.Instants[i]
			m, err := done.CommitMetadata(ctx, x)
			if err != nil {
				return err
			}
			n.commits = append(n.commits, commit{Chosen{Requested: x.Requested, Completed: x.Completed, Action: string(x.Action), Operation: m.Operation,
				Why: "The whole range is archived: the files of every commit are looked at for rows of it."}, m})
		}
		n.visible = n.tl.CommitsAndCompaction()
		n.keep, n.blocks = in, &logscan.InstantRange{Kind: logscan.OpenClosed, Start: begin, End: end}
		n.p.Filter = fmt.Sprintf("Rows whose _hoodie_commit_time is in (%s, %s].", begin, end)
		return nil
	}
	first, last := n.commits[0].Requested, n.commits[len(n.commits)-1].Requested
	for i := range n.commits {
		first, last = min(first, n.commits[i].Requested), max(last, n.commits[i].Requested)
	}
	if n.t.Config.MergeOnRead() && n.tl.BeforeTimelineStarts(begin) {
		first = begin + "\x00"
	}
	n.keep = func(c string) bool { return c >= first && c <= last }
	n.p.Filter = fmt.Sprintf("Rows whose _hoodie_commit_time is in [%s, %s].", strings.TrimSuffix(first, "\x00"), last)
	n.blocks = &logscan.InstantRange{Kind: logscan.ClosedClosed, Start: first, End: last}
	return nil
}

// archivedSince reports whether the archive has, or may have, commits after an instant.
func (n *incremental) archivedSince(ctx context.Context, begin string) bool {
	a, err := n.t.ArchivedRange(ctx, timeline.Range{From: begin + "0", Limit: 100})
	if err != nil {
		return true
	}
	for i := range a.Instants {
		if x := &a.Instants[i]; x.State == timeline.Completed && isCommit(x.Action) && x.Requested > begin {
			return true
		}
	}
	return a.More || a.Note != ""
}

func isCommit(a timeline.Action) bool {
	switch a {
	case timeline.Commit, timeline.DeltaCommit, timeline.ReplaceCommit, timeline.Clustering:
		return true
	}
	return false
}

// rangeV2 chooses the commits by completion time.
func (n *incremental) rangeV2(ctx context.Context) error {
	a := Analyzer{Table: n.t, Timeline: n.tl, Start: n.in.Begin, End: n.in.End, Closed: n.t.Rules.StartIncluded,
		SkipCompaction: n.in.SkipCompaction != nil && *n.in.SkipCompaction, SkipClustering: n.in.SkipClustering != nil && *n.in.SkipClustering}
	r, err := a.Analyze(ctx)
	if err != nil {
		return err
	}
	n.p.Range = r.Range
	n.commits = r.commits
	if len(n.commits) == 0 {
		return nil
	}
	n.visible = r.filtered
	if r.archived > 0 {
		n.outside = fmt.Sprintf("%d of the range's commits are archived", r.archived)
	}
	exact := map[string]bool{}
	for i := range n.commits {
		exact[n.commits[i].Requested] = true
	}
	n.keep = func(c string) bool { return exact[c] }
	n.p.Filter = fmt.Sprintf("Rows whose _hoodie_commit_time is the requested time of one of the %d commits.", len(exact))
	n.blocks = &logscan.InstantRange{Kind: logscan.ExactMatch, Instants: exact}
	n.full = n.keep
	return nil
}

// fullScan is the option, or the default of the release.
func (n *incremental) fullScan() bool {
	if n.in.FullScan != nil {
		return *n.in.FullScan
	}
	return n.v2 && n.t.Rules.FullScan
}

// asksScan reports whether the option asks for a full scan, and not the default of a release.
func (n *incremental) asksScan() bool { return n.in.FullScan != nil && *n.in.FullScan }

// cleaned refuses a range whose files the cleaner removed, and names the oldest start that still works. Files
// that are gone for another reason are no ground to refuse.
func (n *incremental) cleaned(ctx context.Context, lacks []string) error {
	by := map[string]*commit{}
	for i := range n.commits {
		for _, p := range n.commits[i].meta.Partitions {
			for j := range p.Stats {
				by[path.Join(n.t.Config.Root, p.Stats[j].Path)] = &n.commits[i]
			}
		}
	}
	first := n.commits[0].Requested
	a, err := n.t.ArchivedRange(ctx, timeline.Range{From: first})
	if err != nil {
		return err
	}
	archived := slices.DeleteFunc(slices.Clone(a.Instants), func(x timeline.ArchivedInstant) bool {
		return x.State != timeline.Completed || x.Action != timeline.Clean
	})
	removed := map[string]bool{}
	err = eachClean(ctx, n.t, n.tl, first, archived, func(_ string, m *commitmeta.CleanMetadata) {
		for part, p := range m.Partitions {
			for _, f := range p.Deleted {
				removed[path.Join(n.t.Config.Root, part, path.Base(f))] = true
			}
		}
	})
	if err != nil {
		return err
	}
	order := func(c *commit) string {
		if n.v2 {
			return c.Completed
		}
		return c.Requested
	}
	var gone []string
	begin, last := "", ""
	for _, f := range lacks {
		if c := by[f]; removed[f] && c != nil {
			gone = append(gone, f)
			begin = max(begin, order(c))
		}
	}
	if len(gone) == 0 {
		return nil
	}
	for i := range n.commits {
		last = max(last, order(&n.commits[i]))
	}
	try := "The oldest start that still works is " + begin + "."
	if begin >= last {
		try = "No start before this end works any more: choose a later end."
	}
	return refuse(try+" With "+optFullScan+"=true the latest slices are scanned, and rows that were changed or deleted since are missing.",
		"The cleaner removed %s that commits of the range wrote: %s.", files(len(gone)), sentenceList(gone))
}

// files finds the slices of the range.
func (n *incremental) files(ctx context.Context) error {
	sc, err := n.schema(ctx)
	if err != nil {
		return err
	}
	sel := table.Selection{Query: n.p.Query.Read, Schema: sc, Timeline: n.tl, Keep: n.keep, Blocks: n.blocks, Partitions: n.partitionValues()}
	const gone = " rows that were changed or deleted after the range are not among them."
	if n.outside != "" && n.fullScan() && (!n.v2 || followed(n.t) || n.asksScan()) {
		n.p.Remarks = append(n.p.Remarks, "The latest slices of the table are scanned and their rows filtered by commit time, because "+n.outside+":"+gone)
		return n.scanAll(ctx, sel)
	}
	last := n.lastFiles()
	paths := writtenFiles(n.commits)
	if !n.t.Config.MergeOnRead() && !n.v2 {
		paths = paths[:0]
		for _, f := range last {
			paths = append(paths, f)
		}
	}
	view, err := n.t.ViewOfFiles(ctx, paths)
	if err != nil {
		return err
	}
	n.p.Notes = append(n.p.Notes, view.Contradictions()...)
	if n.t.Config.MergeOnRead() {
		sel.AsOf = n.commits[len(n.commits)-1].Requested
		sel.Slices = n.slices(view.Over(n.visible), sel.AsOf)
	} else {
		sel.Slices = baseFiles(view.View, last)
	}
	if n.t.Config.MergeOnRead() && n.t.Merge.PayloadName() == "AWSDmsAvroPayload" {
		n.p.fail(release.DeletedInsert, "")
	}
	var lacks, all []string
	partly := 0
	for i := range sel.Slices {
		if sel.Slices[i].Base == "" && len(sel.Slices[i].Logs) > 0 && n.older(groupID{sel.Slices[i].Partition, sel.Slices[i].FileID}) {
			partly++
		}
	}
	if partly > 0 {
		n.p.Remarks = append(n.p.Remarks, fmt.Sprintf("Of %d file groups the range wrote log files only. As in Hudi they are not merged with older versions: an update that lost against one is shown, and a column that a partial update does not have is null. A comparison of the range's two ends merges whole slices: it has the whole rows, and none of the updates that lost.", partly))
	}
	for i := range sel.Slices {
		lacks = append(lacks, view.Lacks(&sel.Slices[i])...)
	}
	for f := range view.Missing {
		all = append(all, f)
	}
	slices.Sort(all)
	switch {
	case n.fullScan() && (len(all) > 0 && followed(n.t) || len(lacks) > 0 && n.asksScan()):
		n.p.Remarks = append(n.p.Remarks, fmt.Sprintf("The latest slices of the table are scanned and their rows filtered by commit time, because %d files that the range's commits wrote are gone (%s):", len(all), sentenceList(all))+gone)
		return n.scanAll(ctx, sel)
	case len(lacks) > 0:
		if !followed(n.t) {
			if err := n.cleaned(ctx, lacks); err != nil {
				return err
			}
		}
		n.p.fail(release.FilesGone, sentenceList(lacks))
		n.p.Notes = append(n.p.Notes, fmt.Sprintf("%d files of the range are gone (%s). Hudi fails on this query unless %s is true; here the latest slices of the table are scanned, as it does then:", len(lacks), sentenceList(lacks), optFullScan)+gone)
		return n.scanAll(ctx, sel)
	case len(all) > 0 && n.t.Config.MergeOnRead() && n.t.Config.Version < 8:
		n.p.fail(release.OldLogsGone, sentenceList(all))
	}
	if n.outside != "" && !n.v2 {
		n.p.Notes = append(n.p.Notes, fmt.Sprintf("Archived commits of the range are left out, as Hudi does in silence: %s. Set %s=true to scan the whole table instead.", n.outside, optFullScan))
	}
	return n.read(sel)
}

// read makes the plan of a selection.
func (n *incremental) read(sel table.Selection) error {
	if n.in.Glob != "" && !n.in.glob.used && len(n.commits) > 0 {
		n.p.Notes = append(n.p.Notes, fmt.Sprintf("%s: %q matches none of the files of the range, so that there are no rows. The pattern has to fit the end of a file's path, its name included: end it with a star.", optGlob, n.in.Glob))
	}
	if len(n.p.Query.paths) > 0 {
		n.p.Remarks = append(n.p.Remarks, optPaths+" plays no part in an incremental query; "+optGlob+" does.")
	}
	tp, err := n.t.PlanSelection(sel)
	if err != nil {
		return err
	}
	where, err := bindFilters(n.in.Filters, tp.Schema.Type)
	if err != nil {
		return err
	}
	n.p.take(tp)
	n.p.Restrict(where)
	return nil
}

// followed reports whether a release was asked for, whose answers are given even where they are
// not the best that the files allow.
func followed(t *table.Table) bool {
	return t.Rules.Asked()
}

// writtenFiles are the paths in the write stats of commits.
func writtenFiles(commits []commit) []string {
	var out []string
	for i := range commits {
		for _, p := range commits[i].meta.Partitions {
			for j := range p.Stats {
				if f := p.Stats[j].Path; f != "" {
					out = append(out, f)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// slices are the merged slices of the groups in the view.
func (n *incremental) slices(v *filegroup.View, last string) []groupreader.Slice {
	var out []groupreader.Slice
	for _, part := range v.Partitions {
		for _, g := range part.Groups {
			if !wanted(&n.p.Query.Read, part.Path, g.FileID) || replacedBy(g, last) {
				continue
			}
			if s := v.MergedSliceBeforeOrOn(g, last); s != nil && n.glob(s) {
				out = append(out, table.SliceOf(s))
			}
		}
	}
	return out
}

// older reports whether the range added log files to slices that a group had before.
func (n *incremental) older(g groupID) bool {
	for i := range n.commits {
		for _, p := range n.commits[i].meta.Partitions {
			for j := range p.Stats {
				s := &p.Stats[j]
				if s.FileID == g.file && p.Partition == g.partition && (s.BaseFile != nil && *s.BaseFile != "" || s.PrevCommit != "" && s.PrevCommit != "null" && s.PrevCommit < n.commits[0].Requested) {
					return true
				}
			}
		}
	}
	return false
}

// glob applies the path glob to the files of a slice.
func (n *incremental) glob(s *filegroup.Slice) bool {
	if n.in.Glob == "" {
		return true
	}
	if s.Base != nil {
		return n.matches(s.Base.Path)
	}
	for _, l := range s.Logs {
		if n.matches(l.Path) {
			return true
		}
	}
	return false
}

// groupID names a file group.
type groupID struct{ partition, file string }

// lastFiles are the base files that the range wrote last, by group, in a copy-on-write table. Groups
// that the range replaced are left out.
func (n *incremental) lastFiles() map[groupID]string {
	replaced := map[groupID]bool{}
	for i := range n.commits {
		for _, p := range n.commits[i].meta.Replaced {
			for _, f := range p.FileIDs {
				replaced[groupID{p.Partition, f}] = true
			}
		}
	}
	latest := map[groupID]string{}
	for i := range n.commits {
		for _, p := range n.commits[i].meta.Partitions {
			for j := range p.Stats {
				s := &p.Stats[j]
				k := groupID{p.Partition, s.FileID}
				if s.Path != "" && !replaced[k] && wanted(&n.p.Query.Read, p.Partition, s.FileID) && (n.in.Glob == "" || n.matches(path.Join(n.t.Config.Root, s.Path))) {
					latest[k] = s.Path
				}
			}
		}
	}
	return latest
}

// baseFiles are the slices of the files in a view, without logs.
func baseFiles(v *filegroup.View, last map[groupID]string) []groupreader.Slice {
	var out []groupreader.Slice
	for _, part := range v.Partitions {
		for _, g := range part.Groups {
			for _, s := range g.Slices {
				if file := last[groupID{part.Path, g.FileID}]; s.Base != nil && file != "" && strings.HasSuffix("/"+s.Base.Path, "/"+file) {
					base := *s
					base.Logs = nil
					out = append(out, table.SliceOf(&base))
				}
			}
		}
	}
	return out
}

// scanAll reads the latest slices of the whole table.
func (n *incremental) scanAll(ctx context.Context, sel table.Selection) error {
	v, err := n.t.View(ctx, n.progress)
	if err != nil {
		return err
	}
	n.p.Notes = append(n.p.Notes, v.Contradictions()...)
	sel.AsOf, sel.Timeline, sel.Slices, sel.Blocks, sel.Keep = v.Latest, v.Timeline, nil, nil, n.full
	skipped := false
	for _, part := range v.Partitions {
		for _, g := range part.Groups {
			if !wanted(&n.p.Query.Read, part.Path, g.FileID) || replacedBy(g, v.Latest) {
				continue
			}
			s := v.MergedSliceBeforeOrOn(g, v.Latest)
			if s != nil && n.t.Rules.FullScanSkipsLogs && s.Base != nil && len(s.Logs) > 0 {
				base := *s
				base.Logs = nil
				s, skipped = &base, true
			}
			if s != nil && n.glob(s) {
				sel.Slices = append(sel.Slices, table.SliceOf(s))
			}
		}
	}
	if err := n.read(sel); err != nil {
		return err
	}
	if skipped {
		n.p.Notes = append(n.p.Notes, n.t.Rules.Name()+" leaves log files out of this scan: newer rows in them are missing. They are read when no release is asked for.")
	}
	return nil
}

// partitionValues is the release's source of partition columns.
func (n *incremental) partitionValues() table.PartitionValues {
	switch {
	case n.t.Rules.StoredPartitions && !n.t.Config.MergeOnRead():
		return table.AsStored
	case n.t.Rules.EncodedPartitions && n.t.Config.URLEncode():
		return table.AsEncoded
	}
	return table.AsSnapshot
}

// matches applies the glob to a file's full path.
func (n *incremental) matches(file string) bool {
	return n.in.glob.match(strings.TrimSuffix(n.t.Src.Location(), "/") + "/" + file)
}
