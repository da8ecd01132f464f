package table

import (
	"context"
	"fmt"
	"iter"
	"path"
	"sort"
	"strings"

	"hudiscope/core/column"
	"hudiscope/core/commitmeta"
	"hudiscope/core/filegroup"
	"hudiscope/core/groupreader"
	"hudiscope/core/logscan"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
	"hudiscope/core/timeline"
)

// Selection is a read of chosen slices: what incremental queries, queries for change data and the
// splits of a streaming read are made of.
type Selection struct {
	Query  Query
	Schema *Schema
	Slices []groupreader.Slice
	// AsOf is the last instant whose log blocks are read, "" for no bound; Timeline tells which
	// instants are completed.
	AsOf     string
	Timeline *timeline.Timeline
	// Blocks limits the log blocks that are merged to instants, nil for none.
	Blocks *logscan.InstantRange
	// Keep, if set, keeps only the rows of some commits, by their _hoodie_commit_time; rows without
	// one are dropped.
	Keep func(commit string) bool
	// KeepBase does the same with base rows before they are merged, as Flink does.
	KeepBase func(commit string) bool
	// Unmerged shows the rows of all data blocks as they are, whatever the release does.
	Unmerged bool
	// Partitions says where the values of partition columns come from.
	Partitions PartitionValues
}

// PartitionValues says where a read takes the values of partition columns from.
type PartitionValues uint8

// The sources of partition values.
const (
	// AsSnapshot is what a snapshot shows.
	AsSnapshot PartitionValues = iota
	// AsStored is what the data files hold: nothing for columns that the writer dropped.
	AsStored
	// AsEncoded is the text of the path without URL decoding.
	AsEncoded
)

// PathValues reports whether rows show the values of partition columns as a snapshot does, and not those of a
// release that takes them from elsewhere.
func (p *Plan) PathValues() bool { return p.partitions == AsSnapshot }

// PlanSelection makes a plan of chosen slices.
func (t *Table) PlanSelection(s Selection) (*Plan, error) {
	if err := t.checkFormat(); err != nil {
		return nil, err
	}
	p := &Plan{Query: s.Query, AsOf: s.AsOf, Slices: s.Slices, t: t, tl: s.Timeline, blocks: s.Blocks, keep: s.Keep}
	p.setSchema(s.Schema)
	p.partitions, p.unmerged, p.keepBase = s.Partitions, s.Unmerged, s.KeepBase
	if s.Partitions == AsStored {
		p.Schema, p.stored = s.Schema, nil
	}
	return p, p.finish(s.Query)
}

// SliceOf is a file slice of the view as it is read.
func SliceOf(s *filegroup.Slice) groupreader.Slice { return sliceOf(s) }

// selected makes the options follow what a Selection asks for.
func (p *Plan) selected(o *groupreader.Options, s groupreader.Slice) {
	if p.unmerged {
		o.SkipMerge, o.Release.SkipMergesLogs = true, false
	}
	if p.keepBase != nil {
		o.BaseRows = func(b *column.Batch, i int) bool {
			c := b.Column(schema.CommitTimeField)
			return c != nil && !c.IsNull(i) && p.keepBase(string(c.BytesAt(i)))
		}
	}
	switch p.partitions {
	case AsStored:
		o.Constants = nil
	case AsEncoded:
		fields, parts := p.t.Config.PartitionFields(), strings.Split(s.Partition, "/")
		if len(fields) != len(parts) || !strings.Contains(s.Partition, "%") {
			return
		}
		for i, f := range fields {
			k := p.Schema.Type.FieldIndex(f)
			if k < 0 || p.Schema.Type.Fields[k].Type.Kind != schema.String {
				continue
			}
			if o.Shown == nil {
				o.Shown = p.Schema.Type
			}
			if o.ShownValues == nil {
				o.ShownValues = map[string]string{}
			}
			o.ShownValues[f] = strings.TrimPrefix(parts[i], f+"=")
		}
	}
}

// kept passes only the rows of the commits that the plan keeps.
func (p *Plan) kept(rows iter.Seq2[groupreader.Row, error], o *groupreader.Options) iter.Seq2[groupreader.Row, error] {
	if p.keep == nil {
		return rows
	}
	var hide bool
	if want := o.Want; want != nil && !want(schema.CommitTimeField) {
		hide = true
		o.Want = func(f string) bool { return f == schema.CommitTimeField || want(f) }
	}
	return func(yield func(groupreader.Row, error) bool) {
		var in, shown *column.Batch
		var commits *column.Vector
		for row, err := range rows {
			if err != nil {
				yield(row, err)
				return
			}
			if row.Batch != in {
				in, shown, commits = row.Batch, nil, row.Batch.Column(schema.CommitTimeField)
			}
			if commits == nil || commits.IsNull(row.Index) || !p.keep(string(commits.BytesAt(row.Index))) {
				continue
			}
			if hide {
				if shown == nil || shown.Len != in.Len {
					c := *in
					c.Columns = append([]*column.Vector(nil), in.Columns...)
					c.Columns[in.Type.FieldIndex(schema.CommitTimeField)] = nil
					shown = &c
				}
				row.Batch = shown
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// FilesView is the file-system view of chosen files, whether the storage still has them or not.
type FilesView struct {
	*filegroup.View
	// Missing are the files that the storage does not have.
	Missing map[string]bool
}

// Lacks returns the missing files of a slice.
func (v *FilesView) Lacks(s *groupreader.Slice) []string {
	var out []string
	for _, f := range append([]string{s.Base}, s.Logs...) {
		if v.Missing[f] {
			out = append(out, f)
		}
	}
	return out
}

// ViewOfFiles builds the view of some files, given by their paths relative to the table, as if the
// table had no others. Only the directories of these files are listed.
func (t *Table) ViewOfFiles(ctx context.Context, paths []string) (*FilesView, error) {
	tl, err := t.Timeline(ctx)
	if err != nil {
		return nil, err
	}
	names := map[string]map[string]bool{}
	for _, p := range paths {
		dir, name := "", p
		if i := strings.LastIndexByte(p, '/'); i >= 0 {
			dir, name = p[:i], p[i+1:]
		}
		if names[dir] == nil {
			names[dir] = map[string]bool{}
		}
		names[dir][name] = true
	}
	dirs := make([]string, 0, len(names))
	for d := range names {
		dirs = append(dirs, d)
	}
	sort.Strings(dirs)
	l, err := filegroup.List(ctx, t.Src, t.Config, dirs, filegroup.ListOptions{})
	if err != nil {
		return nil, err
	}
	out := &FilesView{Missing: map[string]bool{}}
	for _, d := range dirs {
		kept := l.Files[d][:0:0]
		for _, e := range l.Files[d] {
			if names[d][e.Name] {
				kept = append(kept, e)
				delete(names[d], e.Name)
			}
		}
		for name := range names[d] {
			kept = append(kept, storage.Entry{Name: name, Size: storage.SizeUnknown})
			if l.Complete {
				out.Missing[path.Join(t.Config.Root, d, name)] = true
			}
		}
		l.Files[d] = kept
	}
	opt, err := t.viewOptions(ctx)
	if err != nil {
		return nil, err
	}
	out.View, err = filegroup.Build(ctx, t.Config, tl, l, opt)
	return out, err
}

// ArchivedCommits reads the commit metadata of archived instants, by requested time. What the
// archive does not hold is left out.
func (t *Table) ArchivedCommits(ctx context.Context, list []timeline.ArchivedInstant) (map[string]*commitmeta.CommitMetadata, error) {
	out := map[string]*commitmeta.CommitMetadata{}
	err := t.ArchivedParts(ctx, list, func(i *timeline.ArchivedInstant, parts []timeline.ArchivedPart) error {
		for _, p := range parts {
			if p.State != timeline.Completed || p.JSON == nil && p.Err == nil {
				continue
			}
			if p.Err != nil {
				return fmt.Errorf("archived instant %s in %s: %w", i.Requested, i.File, p.Err)
			}
			m, err := commitmeta.CommitFromJSON(p.JSON)
			if err != nil {
				return fmt.Errorf("archived instant %s in %s: %w", i.Requested, i.File, err)
			}
			out[i.Requested] = m
		}
		return nil
	})
	return out, err
}

// Open opens a file of the table.
func (t *Table) Open(ctx context.Context, path string) (storage.Object, error) {
	return t.Src.Open(ctx, path)
}
