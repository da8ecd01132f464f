package query

import (
	"context"
	"path"
	"slices"
	"sort"
	"strings"

	"hudiscope/core/commitmeta"
	"hudiscope/core/filegroup"
	"hudiscope/core/groupreader"
	"hudiscope/core/logfile"
	"hudiscope/core/release"
	"hudiscope/core/schema"
	"hudiscope/core/table"
)

// ChangeCase is how the changes of one file are found (spec queries.md section 7).
type ChangeCase string

// The cases.
const (
	BaseFileInsert ChangeCase = "BASE_FILE_INSERT" // every row of a new base file is an insert
	BaseFileDelete ChangeCase = "BASE_FILE_DELETE" // every row of the base file before is a delete
	LogFile        ChangeCase = "LOG_FILE"         // the slice before and after a log file are compared
	AsIs           ChangeCase = "AS_IS"            // the changes were logged
	ReplaceCommit  ChangeCase = "REPLACE_COMMIT"   // every row of a replaced group is a delete
)

// Change is one source of changes of a file group.
type Change struct {
	Instant string
	Case    ChangeCase
	// Files are change data logs (AS_IS), a base file or a log file.
	Files []string
	// Before and After are slices that images are looked up in, nil when none is needed.
	Before, After *groupreader.Slice
	// why explains the case in a sentence.
	Why string
}

// Changes are the sources of one file group, oldest first.
type Changes struct {
	Partition, FileID string
	Changes           []Change
}

// yieldsChanges are the operations whose writes are changes.
func yieldsChanges(operation string) bool {
	switch operation {
	case "INSERT", "INSERT_PREPPED", "UPSERT", "UPSERT_PREPPED", "DELETE", "DELETE_PREPPED", "BULK_INSERT", "BULK_INSERT_PREPPED",
		"DELETE_PARTITION", "INSERT_OVERWRITE", "INSERT_OVERWRITE_TABLE", "BOOTSTRAP":
		return true
	}
	return false
}

// The columns of a query for change data.
var changeType = &schema.Type{Kind: schema.Record, Name: "changes", Fields: []schema.Field{
	{Name: "op", Type: &schema.Type{Kind: schema.String, Nullable: true, NullFirst: true}},
	{Name: "ts_ms", Type: &schema.Type{Kind: schema.String, Nullable: true, NullFirst: true}},
	{Name: "before", Type: &schema.Type{Kind: schema.String, Nullable: true, NullFirst: true}},
	{Name: "after", Type: &schema.Type{Kind: schema.String, Nullable: true, NullFirst: true}},
}}

// changes plans a query for change data.
func (n *incremental) changes(ctx context.Context) error {
	n.p.Type, n.p.From = changeType, "the change data query"
	if n.p.Relation.Name() == "EmptyRelation" {
		return nil
	}
	if n.t.Config.CDC() == "" {
		return refuse("", "It isn't a CDC hudi table: hoodie.table.cdc.enabled is not true, so that no changes were logged.")
	}
	if err := n.metaOff(); err != nil {
		return err
	}
	if n.in.End != "" && n.in.Begin > n.in.End && !strings.EqualFold(n.in.Begin, earliest) {
		return refuse("", "This is not a valid range between %s and %s", n.in.Begin, n.in.End)
	}
	var err error
	if n.v2 {
		err = n.rangeV2(ctx)
	} else {
		policy := n.in.Hollow
		n.in.Hollow = "USE_ALL"
		err = n.rangeV1(ctx)
		n.in.Hollow = policy
	}
	if err != nil {
		return err
	}
	old := n.p.Instants
	for i := range n.commits {
		c := &n.commits[i]
		if c.Archived {
			old = append(old, c.Chosen)
		}
	}
	if len(old) > 0 || n.outside != "" && !n.v2 {
		try := ""
		if f := n.completedCommits().First(); f != nil {
			try = "Begin at " + f.Requested + " or later; what was written before can't be told apart from it any more."
			if n.v2 {
				try = "Begin at " + f.Completed + " or later; what was written before can't be told apart from it any more."
			}
		}
		return refuse(try, "The start of a query for change data, %s, has to be in the active timeline.", n.in.Begin)
	}
	n.p.Filter = ""
	view, err := n.t.View(ctx, n.progress)
	if err != nil {
		return err
	}
	x := changePlanner{t: n.t, mode: n.t.Config.CDC(), view: view, groups: map[groupID]*Changes{}}
	for i := range n.commits {
		c := &n.commits[i]
		if !yieldsChanges(c.Operation) {
			c.Why = "Its operation " + c.Operation + " moves rows and changes none: it is passed over."
			n.p.Instants = append(n.p.Instants, c.Chosen)
			continue
		}
		n.p.Instants = append(n.p.Instants, c.Chosen)
		if err := x.commit(c); err != nil {
			return err
		}
		n.p.AsOf = max(n.p.AsOf, c.Requested)
	}
	sc, err := n.t.SchemaAt(ctx, "")
	if err != nil {
		return err
	}
	r := &changeReader{t: n.t, schema: sc, query: n.p.Query.Read, tl: view.Timeline}
	for _, g := range x.sorted() {
		if !wanted(&n.p.Query.Read, g.Partition, g.FileID) {
			continue
		}
		n.p.Changes = append(n.p.Changes, *g)
		if n.t.Config.Version < 8 && slices.ContainsFunc(g.Changes, func(c Change) bool { return c.Case == LogFile }) {
			n.p.fail(release.OldDeltaCommits, "")
		}
		cases := []string{}
		for _, c := range g.Changes {
			if s := string(c.Case); !slices.Contains(cases, s) {
				cases = append(cases, s)
			}
		}
		n.p.Parts = append(n.p.Parts, Part{Slice: groupreader.Slice{Partition: g.Partition, FileID: g.FileID, BaseInstant: g.Changes[0].Instant}, How: "changes: " + strings.Join(cases, ", "), rows: n.p.changed(r.rows(g))})
	}
	return nil
}

// changePlanner finds the changes of commits by file group.
type changePlanner struct {
	t *table.Table
	// mode is the supplemental logging mode of the table.
	mode   string
	view   *filegroup.View
	groups map[groupID]*Changes
	order  []groupID
}

func (x *changePlanner) add(partition, fileID string, c Change) {
	id := groupID{partition, fileID}
	g := x.groups[id]
	if g == nil {
		g = &Changes{Partition: partition, FileID: fileID}
		x.groups[id] = g
		x.order = append(x.order, id)
	}
	g.Changes = append(g.Changes, c)
}

func (x *changePlanner) sorted() []*Changes {
	out := make([]*Changes, 0, len(x.order))
	for _, id := range x.order {
		g := x.groups[id]
		sort.SliceStable(g.Changes, func(i, j int) bool {
			a, b := &g.Changes[i], &g.Changes[j]
			if a.Instant != b.Instant || a.Case != LogFile || b.Case != LogFile || a.Before == nil || b.Before == nil {
				return a.Instant < b.Instant
			}
			return len(a.Before.Logs) < len(b.Before.Logs)
		})
		out = append(out, g)
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i], out[j]
		return slices.Compare([]string{a.Partition, a.FileID}, []string{b.Partition, b.FileID}) < 0
	})
	return out
}

// commit finds the changes of one commit.
func (x *changePlanner) commit(c *commit) error {
	for _, p := range c.meta.Partitions {
		for i := range p.Stats {
			s := &p.Stats[i]
			if s.Path == "" {
				continue
			}
			change, err := x.stat(c, p.Partition, s)
			if err != nil {
				return err
			}
			x.add(p.Partition, s.FileID, change)
		}
	}
	for _, p := range c.meta.Replaced {
		for _, id := range p.FileIDs {
			g := x.view.Group(p.Partition, id)
			if g == nil {
				continue
			}
			s := x.view.MergedSliceBeforeOrOn(g, c.Requested)
			if s == nil {
				continue
			}
			before := table.SliceOf(s)
			x.add(p.Partition, id, Change{Instant: c.Requested, Case: ReplaceCommit, Before: &before,
				Why: "The group was replaced: every row it had is a delete."})
		}
	}
	return nil
}

// stat tells the case of one file that a commit wrote.
func (x *changePlanner) stat(c *commit, partition string, s *commitmeta.WriteStat) (Change, error) {
	out := Change{Instant: c.Requested}
	root := x.t.Config.Root
	name := path.Base(s.Path)
	if len(s.CDCStats) > 0 {
		out.Case, out.Why = AsIs, "The writer logged the changes."
		for f := range s.CDCStats {
			out.Files = append(out.Files, path.Join(root, f))
		}
		slices.SortFunc(out.Files, func(a, b string) int {
			m, _ := logfile.ParseName(path.Base(a))
			n, _ := logfile.ParseName(path.Base(b))
			return logfile.Compare(m, n)
		})
		if x.mode == "DATA_BEFORE_AFTER" {
			return out, nil
		}
		out.After = &groupreader.Slice{Partition: partition, FileID: s.FileID, BaseInstant: c.Requested, Base: path.Join(root, s.Path)}
		out.Why = "The writer logged the changes with the rows before them; the rows after them are in the base file it wrote."
		if x.mode == "OP_KEY_ONLY" {
			before, err := x.base(partition, s.FileID, s.PrevCommit)
			if err != nil {
				return out, err
			}
			out.Before = before
			out.Why = "The writer logged which keys changed; the rows are in the base files before and after."
		}
		return out, nil
	}
	if l, isLog := logfile.ParseName(name); isLog {
		out.Case, out.Files = LogFile, []string{path.Join(root, s.Path)}
		out.Why = "Nothing was logged besides the records themselves: the slice without and with this log file are compared."
		before, err := x.logBefore(c, partition, s, l)
		out.Before = before
		return out, err
	}
	switch {
	case strings.HasPrefix(c.Operation, "DELETE") && c.Operation != "DELETE_PARTITION" && s.NumWrites == 0 && s.NumDeletes != 0:
		before, err := x.base(partition, s.FileID, s.PrevCommit)
		out.Case, out.Before, out.Why = BaseFileDelete, before, "The commit deleted every row of the group."
		return out, err
	case s.NumUpdateWrites == 0 && s.NumWrites == s.NumInserts && (s.NumDeletes == 0 || s.PrevCommit == "" || s.PrevCommit == "null"):
		// In a new file group there was nothing to delete: deletes were of keys that are not there.
		out.Case, out.Files, out.Why = BaseFileInsert, []string{path.Join(root, s.Path)}, "All rows of the new base file are inserts."
		return out, nil
	}
	return out, refuse("The commit may be from before change data capture was switched on: begin the range after it.",
		"There should be a cdc log file. The commit %s updated %s without logging its changes.", c.Requested, s.Path)
}

// base is the base file of an older slice.
func (x *changePlanner) base(partition, fileID, instant string) (*groupreader.Slice, error) {
	if g := x.view.Group(partition, fileID); g != nil {
		for _, s := range g.Slices {
			if s.BaseInstant == instant && s.Base != nil {
				return &groupreader.Slice{Partition: partition, FileID: fileID, BaseInstant: instant, Base: s.Base.Path}, nil
			}
		}
	}
	return nil, refuse("The cleaner has removed it: begin the range later.", "Can not get the previous version of the base file: file group %s of partition %q as of %s.", fileID, partition, instant)
}

// logBefore is the slice that a log file was written to, without that log file.
func (x *changePlanner) logBefore(c *commit, partition string, s *commitmeta.WriteStat, l logfile.Name) (*groupreader.Slice, error) {
	dir := path.Join(x.t.Config.Root, partition)
	out := &groupreader.Slice{Partition: partition, FileID: s.FileID}
	if s.BaseFile != nil && *s.BaseFile != "" {
		out.Base = path.Join(dir, *s.BaseFile)
		if b, ok := filegroup.ParseBaseName(*s.BaseFile); ok {
			out.BaseInstant = b.Instant
		}
	}
	var names []logfile.Name
	file := map[logfile.Name]string{}
	take := func(name string) {
		m, ok := logfile.ParseName(path.Base(name))
		if !ok || m.CDC || path.Base(name) == path.Base(s.Path) {
			return
		}
		if file[m] == "" {
			names = append(names, m)
			file[m] = path.Join(dir, path.Base(name))
		}
	}
	for _, f := range s.LogFiles {
		take(f)
	}
	// A compaction that is pending since before splits the slice: what it is going to compact counts.
	for i := range x.view.Compaction {
		o := &x.view.Compaction[i]
		if o.Partition != partition || o.FileID != s.FileID || o.Instant >= c.Requested {
			continue
		}
		for _, f := range o.DeltaFiles() {
			take(f)
		}
		if f := o.DataFile(); out.Base == "" && f != "" {
			out.Base, out.BaseInstant = path.Join(dir, path.Base(f)), o.BaseInstant
		}
	}
	slices.SortFunc(names, logfile.Compare)
	for _, m := range names {
		if logfile.Compare(m, l) < 0 {
			out.Logs = append(out.Logs, file[m])
		}
	}
	if out.Base == "" && len(out.Logs) == 0 && !followed(x.t) {
		// Writers from table version 8 on name the slice only in tables that log changes.
		return x.sliceBefore(c, partition, s), nil
	}
	if g := x.view.Group(partition, s.FileID); g != nil {
		have := map[string]bool{}
		for _, sl := range g.Slices {
			if sl.Base != nil {
				have[sl.Base.Path] = true
			}
			for _, lf := range sl.Logs {
				have[lf.Path] = true
			}
		}
		for _, f := range append([]string{out.Base}, out.Logs...) {
			if f != "" && !have[f] && x.view.Complete {
				return nil, refuse("The cleaner has removed it: begin the range later.", "Can not get the file slice before %s: %s is gone.", s.Path, f)
			}
		}
	}
	return out, nil
}

// sliceBefore is what a group had when a commit added a log file to it, by the files that are there.
func (x *changePlanner) sliceBefore(c *commit, partition string, s *commitmeta.WriteStat) *groupreader.Slice {
	out := &groupreader.Slice{Partition: partition, FileID: s.FileID}
	g := x.view.Group(partition, s.FileID)
	if g == nil {
		return out
	}
	slice := x.view.MergedSliceBeforeOrOn(g, c.Requested)
	if slice == nil {
		return out
	}
	all := table.SliceOf(slice)
	for i, f := range all.Logs {
		if path.Base(f) == path.Base(s.Path) {
			all.Logs = all.Logs[:i:i]
			return &all
		}
	}
	return out
}
