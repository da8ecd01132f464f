// Package compare tells how a table changed from one instant to another: its schema, its file
// groups and files, and its rows by record key, with their values before and after.
//
// Both states are read as a time-travel query as of the instant reads them. Rows are read only
// of file groups that a completed write between the two instants touched, partition by
// partition: of the one state a hash of every key and row is kept, the other streams past it.
package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sort"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/column"
	"hudiscope/core/commitmeta"
	"hudiscope/core/corrupt"
	"hudiscope/core/filegroup"
	"hudiscope/core/groupreader"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
	"hudiscope/core/table"
	"hudiscope/core/timeline"
)

// Request says what to compare.
type Request struct {
	// From and To are requested times; "" as From is the table before its first instant, as To
	// the latest.
	From, To   string
	Partitions []string
	NoRows     bool
	// Offset and Limit choose changed rows.
	Offset int64
	Limit  int
	// MaxKeys bounds the keys held in memory, Read the log records of one slice.
	MaxKeys int
	Read    table.ReadOptions
	// Progress may be nil.
	Progress func(phase string, done, total int64, unit string)
	// Fault turns an error into the form of answers.
	Fault func(error) *api.Fault
}

// Result is what was found. Instants are the completed writes between the two.
type Result struct {
	From, To     string
	Instants     []timeline.Instant
	Before       *schema.Type // nil for an empty From
	After        *schema.Type
	Files        api.CompareFiles
	Rows         *api.CompareRows
	Findings     []api.Finding
	touched      map[filegroup.GroupID]bool
	everything   bool // what was touched is not known
	firstMention map[file]string
}

type file struct{ partition, name string }

// Run compares.
func Run(ctx context.Context, t *table.Table, req Request) (*Result, error) {
	if req.Progress == nil {
		req.Progress = func(string, int64, int64, string) {}
	}
	v, err := t.View(ctx, func(dirs int) { req.Progress("Listing partitions", int64(dirs), 0, "directories") })
	if err != nil {
		return nil, err
	}
	r := &Result{From: req.From, To: req.To, touched: map[filegroup.GroupID]bool{}, firstMention: map[file]string{}}
	if r.To == "" {
		r.To = v.Latest
	}
	if err := r.writes(ctx, v, req); err != nil {
		return nil, err
	}
	if r.From != "" {
		if s, err := t.SchemaAt(ctx, r.From); err == nil {
			r.Before = s.Type
		} else if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if r.To != "" {
		if s, err := t.SchemaAt(ctx, r.To); err == nil {
			r.After = s.Type
		} else if ctx.Err() != nil {
			return nil, ctx.Err()
		} else {
			r.finding("warning", "The schema is not known", err.Error(), "")
		}
	}
	if !v.Complete {
		r.finding("warning", "The listing is not complete", "Files that it hides are missing from both states.", "")
	}
	changed := r.files(t, v, req)
	if req.NoRows {
		return r, nil
	}
	if err := r.rows(ctx, t, changed, req); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Result) finding(level, title, detail, file string) {
	r.Findings = append(r.Findings, api.Finding{Level: level, Title: title, Detail: detail, File: file})
}

// writes finds the completed writes between the two instants, and the file groups they touched.
func (r *Result) writes(ctx context.Context, v *filegroup.View, req Request) error {
	lo, hi := min(r.From, r.To), max(r.From, r.To)
	tl := v.Timeline
	commits := tl.Commits().Completed()
	if first := tl.Write().FirstNonSavepoint(); lo == "" || first != "" && lo < first {
		// Archived commits may lie between the two.
		r.everything = true
	}
	for _, t := range []string{r.From, r.To} {
		if t != "" && !tl.Contains(t) && !tl.BeforeTimelineStarts(t) {
			r.finding("note", "No instant of that time", fmt.Sprintf("The timeline has no instant %s: the state is that of the last write before it.", t), "")
		}
	}
	for i := range commits.Instants {
		x := &commits.Instants[i]
		within := x.Requested > lo && x.Requested <= hi
		if within {
			r.Instants = append(r.Instants, *x)
		}
		m, err := commits.CommitMetadata(ctx, x)
		if err != nil {
			if !corrupt.Is(err) && !storage.IsNotExist(err) {
				return err
			}
			if within {
				r.everything = true
				r.finding("warning", "A commit between the two can't be read", fmt.Sprintf("What %s touched is not known, so all file groups are compared: %v", x.Requested, err), x.File.Path)
			}
			continue
		}
		if within && len(m.Partitions) == 0 && len(m.Replaced) == 0 && x.File.Size == 0 {
			r.everything = true
		}
		r.mention(m, x.Requested, within)
		req.Progress("Reading commit metadata", int64(i+1), int64(len(commits.Instants)), "commits")
	}
	return r.cleaned(ctx, tl, lo)
}

// mention notes what a commit touched, and when log files were named first.
func (r *Result) mention(m *commitmeta.CommitMetadata, requested string, within bool) {
	for _, p := range m.Partitions {
		for i := range p.Stats {
			s := &p.Stats[i]
			if within {
				r.touched[filegroup.GroupID{Partition: p.Partition, FileID: s.FileID}] = true
			}
			f := file{p.Partition, s.Path[strings.LastIndexByte(s.Path, '/')+1:]}
			if old, ok := r.firstMention[f]; !ok || requested < old {
				r.firstMention[f] = requested
			}
		}
	}
	for _, p := range m.Replaced {
		for _, id := range p.FileIDs {
			if within {
				r.touched[filegroup.GroupID{Partition: p.Partition, FileID: id}] = true
			}
		}
	}
}

// cleaned warns when the files of the earlier state may have been removed.
func (r *Result) cleaned(ctx context.Context, tl *timeline.Timeline, lo string) error {
	if lo == "" {
		return nil
	}
	cleans := tl.Actions(timeline.Clean).Completed()
	x := cleans.Last()
	if x == nil {
		return nil
	}
	var m *commitmeta.CleanMetadata
	var damage error
	err := cleans.With(ctx, x.File, func(data []byte) error {
		m, damage = commitmeta.ParseClean(data)
		return nil
	})
	if err != nil {
		if storage.IsNotExist(err) {
			return nil
		}
		return err
	}
	if damage == nil && m.EarliestRetained > lo {
		r.finding("warning", "The earlier state may be gone", fmt.Sprintf("Clean %s kept what is needed from %s on; file slices of %s that were replaced since may have been removed, and rows of them look deleted or inserted here.", x.Requested, m.EarliestRetained, lo), x.File.Path)
	}
	return nil
}

// sliceAt returns the group's slice as a snapshot as of an instant reads it, nil when there is none.
func (r *Result) sliceAt(t *table.Table, v *filegroup.View, g *filegroup.Group, asOf string) *filegroup.Slice {
	if asOf == "" || g.ReplacedBy != "" && asOf >= g.ReplacedBy {
		return nil
	}
	s := v.MergedSliceBeforeOrOn(g, asOf)
	if s == nil {
		return nil
	}
	out := *s
	out.Logs = nil
	if t.Config.MergeOnRead() {
		for _, l := range s.DataLogs() {
			if r.began(v, g, &l) <= asOf {
				out.Logs = append(out.Logs, l)
			}
		}
	}
	if out.Empty() {
		return nil
	}
	return &out
}

// began is the instant that made a log file: from version 8 on that in its name, before that the
// first commit that names it.
func (r *Result) began(v *filegroup.View, g *filegroup.Group, l *filegroup.LogFile) string {
	if v.Version >= 8 {
		return l.Instant
	}
	if t, ok := r.firstMention[file{g.Partition, l.File}]; ok {
		return t
	}
	return l.Instant
}

// changedGroup is a group whose slice differs or may give other rows.
type changedGroup struct {
	id            filegroup.GroupID
	before, after *filegroup.Slice
}

// files compares the slices of all groups.
func (r *Result) files(t *table.Table, v *filegroup.View, req Request) []changedGroup {
	r.Files.Groups = []api.CompareGroup{}
	var out []changedGroup
	for _, p := range v.Partitions {
		if len(req.Partitions) > 0 && !slices.Contains(req.Partitions, p.Path) {
			continue
		}
		for _, g := range p.Groups {
			a, b := r.sliceAt(t, v, g, r.From), r.sliceAt(t, v, g, r.To)
			if a == nil && b == nil {
				continue
			}
			cg := groupOf(v, g, a, b)
			differs := false
			for _, f := range cg.Files {
				switch f.Kind {
				case "added":
					r.Files.Added++
					r.Files.AddedSize += max(f.File.Size, 0)
					differs = true
				case "removed":
					r.Files.Removed++
					r.Files.LostSize += max(f.File.Size, 0)
					differs = true
				default:
					r.Files.Same++
				}
			}
			if differs {
				r.Files.Groups = append(r.Files.Groups, cg)
			} else {
				r.Files.SameGroups++
			}
			// Before version 8 later commits append blocks to a log file that was there already.
			if differs || r.touched[g.GroupID] || r.everything && v.Version < 8 && b != nil && len(b.Logs) > 0 {
				out = append(out, changedGroup{g.GroupID, a, b})
			}
		}
	}
	return out
}

func groupOf(v *filegroup.View, g *filegroup.Group, a, b *filegroup.Slice) api.CompareGroup {
	cg := api.CompareGroup{Partition: g.Partition, FileID: g.FileID, Kind: "changed", Files: []api.CompareFile{}}
	switch {
	case a == nil:
		cg.Kind = "added"
	case b == nil:
		cg.Kind = "removed"
	}
	if g.ReplacedBy != "" && (a == nil) != (b == nil) {
		cg.By = g.ReplacedBy
		if b == nil {
			cg.Kind = "replaced"
		}
	}
	before, after := sliceFiles(v, g, a), sliceFiles(v, g, b)
	if a != nil {
		cg.Before = a.BaseInstant
	}
	if b != nil {
		cg.After = b.BaseInstant
	}
	in := func(list []api.File, path string) bool {
		return slices.ContainsFunc(list, func(f api.File) bool { return f.Path == path })
	}
	for _, f := range before {
		kind := "removed"
		if in(after, f.Path) {
			kind = "same"
		}
		cg.Files = append(cg.Files, api.CompareFile{Kind: kind, File: f})
	}
	for _, f := range after {
		if !in(before, f.Path) {
			cg.Files = append(cg.Files, api.CompareFile{Kind: "added", File: f})
		}
	}
	return cg
}

func sliceFiles(v *filegroup.View, g *filegroup.Group, s *filegroup.Slice) []api.File {
	var out []api.File
	if s == nil {
		return nil
	}
	if b := s.Base; b != nil {
		state, why := v.BaseState(g, b)
		out = append(out, api.File{Name: b.Name, Path: b.Path, Size: b.Size, Instant: b.Instant, State: string(state), Why: why})
	}
	for i := range s.Logs {
		l := &s.Logs[i]
		state, why := v.LogState(g, s, l)
		out = append(out, api.File{Name: l.File, Path: l.Path, Size: l.Size, Instant: l.Instant, State: string(state), Why: why})
	}
	return out
}

// Keys builds record keys of rows.
type Keys struct {
	meta   bool
	fields []string
}

// KeysOf tells how records of a table are identified; nil when they have no key.
func KeysOf(t *table.Table) *Keys {
	if t.Config.PopulateMetaFields() {
		return &Keys{meta: true}
	}
	if f := t.Config.RecordKeyFields(); len(f) > 0 {
		return &Keys{fields: f}
	}
	return nil
}

// Want reports whether a column is part of the key.
func (k *Keys) Want(field string) bool {
	if k.meta {
		return field == schema.RecordKeyField
	}
	return slices.Contains(k.fields, field)
}

// Append appends the key of a row: _hoodie_record_key, or without meta fields the value of the key
// field, of several as NAME:VALUE joined by commas (spec queries.md).
func (k *Keys) Append(dst []byte, b *column.Batch, i int) []byte {
	if k.meta {
		if c := b.Column(schema.RecordKeyField); c != nil && !c.IsNull(i) {
			return append(dst, c.BytesAt(i)...)
		}
		return dst
	}
	for n, f := range k.fields {
		if len(k.fields) > 1 {
			if n > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(dst, f...), ':')
		}
		if c := b.Column(f); c != nil && !c.IsNull(i) {
			if s, ok := c.Text(i); ok {
				dst = append(dst, s...)
			} else {
				dst = c.AppendJSON(dst, i)
			}
		} else {
			dst = append(dst, "__null__"...)
		}
	}
	return dst
}

// rows compares the rows of the changed groups.
func (r *Result) rows(ctx context.Context, t *table.Table, changed []changedGroup, req Request) error {
	c := &comparer{ctx: ctx, r: r, req: req, t: t, keys: KeysOf(t), seed: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	r.Rows = &api.CompareRows{By: "record key", Columns: []api.Column{}, Rows: []api.CompareRow{}, Offset: req.Offset, Partitions: []api.ComparePartition{}}
	c.out = r.Rows
	if c.keys == nil {
		c.out.By = "all values"
	}
	if c.columns(r.After); r.After == nil {
		c.columns(r.Before)
	}
	if len(changed) == 0 {
		return nil
	}
	var err error
	if r.From != "" {
		if c.before, err = t.Plan(ctx, table.Query{Type: table.Snapshot, AsOf: r.From, Partitions: req.Partitions}, nil); err != nil {
			return err
		}
	}
	if r.To != "" {
		if c.after, err = t.Plan(ctx, table.Query{Type: table.Snapshot, AsOf: r.To, Partitions: req.Partitions}, nil); err != nil {
			return err
		}
	}
	// Both states are read by the schema of the later instant, so that a column that was added,
	// dropped or widened does not make every row an update.
	later := c.after
	if later == nil || c.before != nil && r.From > r.To {
		later = c.before
	}
	if later == nil {
		return nil
	}
	c.columns(later.Schema.Type)
	for _, p := range []*table.Plan{c.before, c.after} {
		if p != nil {
			p.ReadAs(later)
		}
	}
	ids := map[filegroup.GroupID]bool{}
	var parts []string
	for _, g := range changed {
		ids[g.id] = true
		if !slices.Contains(parts, g.id.Partition) {
			parts = append(parts, g.id.Partition)
		}
	}
	sort.Strings(parts)
	for n, p := range parts {
		req.Progress("Comparing partitions", int64(n), int64(len(parts)), "partitions")
		cp := api.ComparePartition{Partition: p}
		if err := c.partition(&cp, pick(c.before, p, ids), pick(c.after, p, ids)); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if req.Fault == nil {
				return err
			}
			cp.Fault = req.Fault(err)
		}
		c.out.Inserted += cp.Inserted
		c.out.Updated += cp.Updated
		c.out.Deleted += cp.Deleted
		c.out.Same += cp.Same
		c.out.Partitions = append(c.out.Partitions, cp)
	}
	c.out.Total = c.out.Inserted + c.out.Updated + c.out.Deleted
	return nil
}

// pick returns the plan's slices of some groups of a partition.
func pick(p *table.Plan, partition string, ids map[filegroup.GroupID]bool) []groupreader.Slice {
	if p == nil {
		return nil
	}
	var out []groupreader.Slice
	for _, s := range p.Slices {
		if s.Partition == partition && ids[filegroup.GroupID{Partition: s.Partition, FileID: s.FileID}] {
			out = append(out, s)
		}
	}
	return out
}

// comparer compares rows, partition by partition.
type comparer struct {
	ctx           context.Context
	r             *Result
	req           Request
	t             *table.Table
	keys          *Keys
	seed          [2]maphash.Seed
	before, after *table.Plan
	out           *api.CompareRows
	at            map[string]int // column → index in out.Columns
	read          int64
	pos           int64 // of the next changed row
	buf           []byte
}

func (c *comparer) columns(t *schema.Type) {
	c.at, c.out.Columns = map[string]int{}, []api.Column{}
	if t == nil {
		return
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		c.at[f.Name] = len(c.out.Columns)
		c.out.Columns = append(c.out.Columns, api.Column{Name: f.Name, Type: f.Type.Display(), Meta: schema.IsMetaField(f.Name)})
	}
}

// key identifies a record within a partition: two independent hashes of its key.
type key struct{ a, b uint64 }

// kept is what is remembered of a row of the earlier state.
type kept struct {
	values, commit uint64
	matched        bool
}

// errMaxKeys ends a partition that has too many keys.
type errMaxKeys struct {
	partition string
	n         int
}

func (e *errMaxKeys) Error() string {
	return fmt.Sprintf("partition %q has more than %d rows in changed file groups, more than are held in memory", e.partition, e.n)
}

// IsTooMany reports whether an error says that a partition has more keys than are held.
func IsTooMany(err error) bool { var e *errMaxKeys; return errors.As(err, &e) }

// hash returns the key of a row and the hashes of its values and its commit time.
func (c *comparer) hash(b *column.Batch, i int) (k key, values, commit uint64) {
	c.buf = c.buf[:0]
	for n, v := range b.Columns {
		if v == nil || v.IsNull(i) || schema.IsMetaField(b.Type.Fields[n].Name) {
			continue
		}
		c.buf = append(append(c.buf, b.Type.Fields[n].Name...), 0)
		c.buf = append(v.AppendJSON(c.buf, i), 0)
	}
	values = maphash.Bytes(c.seed[0], c.buf)
	if c.keys == nil {
		return key{values, maphash.Bytes(c.seed[1], c.buf)}, values, 0
	}
	c.buf = c.keys.Append(c.buf[:0], b, i)
	k = key{maphash.Bytes(c.seed[0], c.buf), maphash.Bytes(c.seed[1], c.buf)}
	if v := b.Column(schema.CommitTimeField); v != nil && !v.IsNull(i) {
		commit = maphash.Bytes(c.seed[0], v.BytesAt(i))
	}
	return k, values, commit
}

// nth turns a key into that of its n-th occurrence.
func (k key) nth(n int) key {
	return key{k.a + uint64(n)*0x9e3779b97f4a7c15, k.b}
}

// scan reads the rows of slices.
func (c *comparer) scan(p *table.Plan, list []groupreader.Slice, each func(s *groupreader.Slice, row groupreader.Row) (more bool, err error)) error {
	for i := range list {
		for row, err := range p.Rows(c.ctx, list[i], c.req.Read, nil) {
			if err != nil {
				return err
			}
			if c.read++; c.read%1024 == 0 {
				if err := c.ctx.Err(); err != nil {
					return err
				}
				c.req.Progress("Comparing rows", c.read, 0, "rows")
			}
			more, err := each(&list[i], row)
			if err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// inPage reports whether a changed row at a position is asked for.
func (c *comparer) inPage(pos int64) bool {
	return pos >= c.req.Offset && pos < c.req.Offset+int64(c.req.Limit)
}

func (c *comparer) partition(cp *api.ComparePartition, before, after []groupreader.Slice) error {
	at := map[key]uint32{} // index in all
	var all []kept
	get := func(k key) *kept {
		if i, ok := at[k]; ok {
			return &all[i]
		}
		return nil
	}
	duplicates := false
	err := c.scan(c.before, before, func(_ *groupreader.Slice, row groupreader.Row) (bool, error) {
		k, values, commit := c.hash(row.Batch, row.Index)
		n := 0
		for get(k.nth(n)) != nil {
			n++
		}
		if n > 0 {
			duplicates = true
			c.out.Duplicates++
		}
		if len(all) >= c.req.MaxKeys {
			return false, &errMaxKeys{cp.Partition, c.req.MaxKeys}
		}
		at[k.nth(n)] = uint32(len(all))
		all = append(all, kept{values: values, commit: commit})
		return true, nil
	})
	if err != nil {
		return err
	}
	want := map[key]int{} // before values wanted, by index in out.Rows
	start := c.pos
	err = c.scan(c.after, after, func(s *groupreader.Slice, row groupreader.Row) (bool, error) {
		k, values, commit := c.hash(row.Batch, row.Index)
		n := 0
		e := get(k)
		for e != nil && e.matched {
			n++
			e = get(k.nth(n))
		}
		kind := "inserted"
		if e != nil {
			e.matched = true
			if e.values == values {
				cp.Same++
				if e.commit != commit {
					c.out.Rewritten++
				}
				return true, nil
			}
			kind = "updated"
			cp.Updated++
		} else {
			cp.Inserted++
		}
		if c.inPage(c.pos) {
			x := c.row(kind, s, row)
			x.After, x.AfterGroup = c.values(row), s.FileID
			if kind == "updated" {
				want[k.nth(n)] = len(c.out.Rows)
			}
			c.out.Rows = append(c.out.Rows, x)
		}
		c.pos++
		return true, nil
	})
	if err != nil {
		c.pos = start + cp.Inserted + cp.Updated
		return err
	}
	for i := range all {
		if !all[i].matched {
			cp.Deleted++
		}
	}
	first := c.pos
	c.pos += cp.Deleted
	deleted := cp.Deleted > 0 && first < c.req.Offset+int64(c.req.Limit) && c.pos > c.req.Offset
	if len(want) == 0 && !deleted {
		return nil
	}
	// The values before: the earlier state is read once more.
	seen := map[key]int{}
	left := cp.Deleted
	err = c.scan(c.before, before, func(s *groupreader.Slice, row groupreader.Row) (bool, error) {
		k, _, _ := c.hash(row.Batch, row.Index)
		if duplicates {
			n := seen[k]
			seen[k]++
			k = k.nth(n)
		}
		if i, ok := want[k]; ok {
			c.fill(&c.out.Rows[i], s, row)
			delete(want, k)
		} else if e := get(k); e != nil && !e.matched {
			if c.inPage(first) {
				x := c.row("deleted", s, row)
				x.Before, x.BeforeGroup = c.values(row), s.FileID
				c.out.Rows = append(c.out.Rows, x)
			}
			first++
			left--
		}
		return len(want) > 0 || deleted && left > 0, nil
	})
	return err
}

func (c *comparer) row(kind string, s *groupreader.Slice, row groupreader.Row) api.CompareRow {
	x := api.CompareRow{Kind: kind, Partition: s.Partition}
	if c.keys != nil {
		x.Key = string(c.keys.Append(nil, row.Batch, row.Index))
	}
	return x
}

func (c *comparer) fill(x *api.CompareRow, s *groupreader.Slice, row groupreader.Row) {
	x.Before, x.BeforeGroup = c.values(row), s.FileID
	for i := range c.out.Columns {
		if !c.out.Columns[i].Meta && string(x.Before[i]) != string(x.After[i]) {
			x.Changed = append(x.Changed, i)
		}
	}
}

// values renders a row by the answer's columns.
func (c *comparer) values(row groupreader.Row) []json.RawMessage {
	out := make([]json.RawMessage, len(c.out.Columns))
	for i := range out {
		out[i] = json.RawMessage("null")
	}
	for n, v := range row.Batch.Columns {
		if i, ok := c.at[row.Batch.Type.Fields[n].Name]; ok && v != nil {
			out[i] = v.AppendJSON(nil, row.Index)
		}
	}
	return out
}
