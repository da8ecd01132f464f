package table

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"

	"hudiscope/core/commitmeta"
	"hudiscope/core/evolve"
	"hudiscope/core/filegroup"
	"hudiscope/core/groupreader"
	"hudiscope/core/logscan"
	"hudiscope/core/merge"
	"hudiscope/core/predicate"
	"hudiscope/core/release"
	"hudiscope/core/schema"
	"hudiscope/core/spill"
	"hudiscope/core/storage"
	"hudiscope/core/timeline"
)

// View lists the table's partitions and builds the file-system view, once; a table with many
// directories is listed by its metadata table (MetadataFrom). progress may be nil.
func (t *Table) View(ctx context.Context, progress func(dirs int)) (*filegroup.View, error) {
	t.viewMu.Lock()
	defer t.viewMu.Unlock()
	if t.view == nil {
		v, err := t.loadView(ctx, t.MetadataFrom, progress)
		if err != nil {
			return nil, err
		}
		t.view = v
		if !v.ByMetadata {
			t.stored = v
		}
	}
	return t.view, nil
}

// StorageView is View over a listing of the storage, whatever the metadata table says.
func (t *Table) StorageView(ctx context.Context, progress func(dirs int)) (*filegroup.View, error) {
	t.viewMu.Lock()
	defer t.viewMu.Unlock()
	if t.stored == nil {
		v, err := t.loadView(ctx, 0, progress)
		if err != nil {
			return nil, err
		}
		t.stored = v
	}
	return t.stored, nil
}

// loadView builds a view; viewMu is held.
func (t *Table) loadView(ctx context.Context, metadataFrom int, progress func(dirs int)) (*filegroup.View, error) {
	tl, err := t.Timeline(ctx)
	if err != nil {
		return nil, err
	}
	t.readPlans(ctx, tl)
	opt, err := t.viewOptions(ctx)
	if err != nil {
		return nil, err
	}
	opt.List.Progress = progress
	opt.Metadata = func(ctx context.Context, partitions []string) (*filegroup.Listing, error) {
		return t.metadataListing(ctx, tl, partitions)
	}
	if t.listsByMetadata() {
		opt.MetadataFrom = metadataFrom
		opt.Many = func(ctx context.Context) (*filegroup.Listing, error) { return t.currentListing(ctx, tl) }
	}
	return filegroup.Load(ctx, t.Src, t.Config, tl, nil, opt)
}

// viewOptions are the options of every view of the table.
func (t *Table) viewOptions(ctx context.Context) (filegroup.Options, error) {
	o := filegroup.Options{Release: t.Rules.Version, ReadRows: historyRows, ByModTime: t.Rules.LogsByModTime && t.Config.Version < 8}
	x, err := t.bootstrapIndex(ctx)
	if err != nil && !t.noBootstrapIndex(err) {
		return o, err
	}
	if x != nil {
		o.Bootstrap = func(partition, fileID string) string {
			s, _ := x.Source(partition, fileID)
			return s.URI
		}
	}
	return o, nil
}

// QueryType is what a query sees of the table.
type QueryType string

// The query types.
const (
	Snapshot      QueryType = "snapshot"
	ReadOptimized QueryType = "read_optimized"
)

// Query is a query, parsed from an engine's options.
type Query struct {
	Type QueryType
	// AsOf is the instant to travel to (requested time), "" for the latest.
	AsOf string
	// Partitions and FileID narrow the query; empty = all.
	Partitions []string
	FileID     string
	// SkipMerge shows base rows and log rows side by side.
	SkipMerge bool
	// ByPosition matches log records with base rows by position where that is possible.
	ByPosition bool
	// BootstrapBase is where the source of a bootstrapped table is now, "" for the folder of its name
	// beside the table.
	BootstrapBase string
	// IgnoreHistory reads columns by name also where the table has a schema history, UseHistory by
	// their numbers also where the release would not.
	IgnoreHistory, UseHistory bool
	// Fallback is the merge mode to use where the table's own can't be followed, "" for none.
	Fallback merge.Mode
}

// OptionError says that a read option can't be followed.
type OptionError struct{ Key, Value, Why string }

// Error renders the finding.
func (e *OptionError) Error() string {
	return fmt.Sprintf("the option %s=%s: %s", e.Key, e.Value, e.Why)
}

// ParseQuery reads the options of Spark's reader (spec queries.md section 1). Options that decide
// which rows come and are not known are refused; those that only decide how are taken.
func ParseQuery(options map[string]string) (Query, error) {
	q := Query{Type: Snapshot}
	keys := make([]string, 0, len(options))
	for k := range options {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		v := options[k]
		switch k {
		case "hoodie.datasource.query.type", "hoodie.datasource.view.type":
			switch v {
			case "snapshot", "realtime":
				q.Type = Snapshot
			case "read_optimized":
				q.Type = ReadOptimized
			case "incremental":
				return q, &OptionError{k, v, "incremental queries are not built yet"}
			default:
				return q, &OptionError{k, v, "the query types are snapshot, read_optimized and incremental"}
			}
		case "as.of.instant":
			t, err := asOf(v)
			if err != nil {
				return q, &OptionError{k, v, err.Error()}
			}
			q.AsOf = t
		case "hoodie.datasource.merge.type":
			switch v {
			case "payload_combine":
			case "skip_merge":
				q.SkipMerge = true
			default:
				return q, &OptionError{k, v, "the merge types are payload_combine and skip_merge"}
			}
		case "hoodie.merge.use.record.positions":
			q.ByPosition = strings.EqualFold(v, "true")
		case groupreader.FallbackOption:
			switch v {
			case "commit_time":
				q.Fallback = merge.CommitTime
			case "event_time":
				q.Fallback = merge.EventTime
			default:
				return q, &OptionError{k, v, "the fallbacks are commit_time (the later commit wins) and event_time (the higher ordering value wins)"}
			}
		case BootstrapBaseOption:
			q.BootstrapBase = v
		case SchemaOnReadOption:
			switch strings.ToLower(v) {
			case "true":
				q.UseHistory = true
			case "false":
				q.IgnoreHistory = true
			default:
				return q, &OptionError{k, v, "want true or false"}
			}
		case "hoodie.metadata.enable", "hoodie.enable.data.skipping", "hoodie.datasource.read.file.index.listing.mode",
			"hoodie.fileIndex.dataSkippingFailureMode", "hudiscope.unique.keys", "hoodie.bucket.index.num.buckets", "hoodie.bucket.index.hash.field":
			// How files are found; the rows are the same.
		default:
			return q, &OptionError{k, v, "this option is not known here, and it might change which rows come"}
		}
	}
	return q, nil
}

// Plan is what a query will read.
type Plan struct {
	Query Query
	// AsOf is the instant up to which the plan reads, "" for a table without completed writes.
	AsOf   string
	Schema *Schema
	// Slices in order of partition and file id.
	Slices []groupreader.Slice
	// Want chooses the columns, nil for all.
	Want func(field string) bool
	// Where is a condition on the rows, bound to Schema's type, nil for none. It only says which parts of base
	// files need not be read; who reads the rows filters them.
	Where *predicate.Bound
	// Notes say why rows may be missing, Remarks how the rows are merged where that is not what the
	// table says or what is right; in sentences.
	Notes, Remarks []string
	// Gone are files that the plan needs and the storage does not have.
	Gone []MissingFile

	t    *Table
	tl   *timeline.Timeline
	view *filegroup.View
	// asked are the files that were asked for ahead.
	asked *askedFiles
	// stored is the type of the rows in the files, where Schema shows some columns as text; else nil.
	stored *schema.Type
	// internal is the schema by whose column numbers files are read, nil for by name.
	internal *evolve.Schema
	// blocks and keep are those of a Selection.
	blocks     *logscan.InstantRange
	keep       func(commit string) bool
	partitions PartitionValues
	keepBase   func(commit string) bool
	unmerged   bool
}

// Plan plans a query (spec file-view.md section 11).
func (t *Table) Plan(ctx context.Context, q Query, progress func(dirs int)) (*Plan, error) {
	if err := t.checkFormat(); err != nil {
		return nil, err
	}
	asked := new(askedFiles)
	look, stop := t.beside(ctx, func(beside context.Context) (*filegroup.View, error) {
		v, err := t.View(beside, progress)
		if err == nil && t.Ahead != nil && v.Latest != "" {
			list := t.chosen(v, q, asOfOf(v, q))
			t.readSlices(ctx, v, list[:min(len(list), 1+aheadFiles)], asked)
		}
		return v, err
	})
	defer stop()
	sc, err := t.SchemaAt(ctx, q.AsOf)
	if err != nil {
		return nil, err
	}
	view, err := look()
	if err != nil {
		return nil, err
	}
	p := &Plan{Query: q, t: t, tl: view.Timeline, view: view, asked: asked}
	p.setSchema(sc)
	p.AsOf = asOfOf(view, q)
	var newest *commitmeta.CommitMetadata
	if p.Notes, newest, err = t.missingNotes(ctx, view, q.AsOf); err != nil {
		return nil, err
	}
	if view.Latest == "" {
		return p, nil
	}
	if !view.Complete {
		p.Notes = append(p.Notes, "The listing of the storage is not complete: rows of files it hides are missing.")
	}
	p.Slices = t.chosen(view, q, p.AsOf)
	gone, notes, err := t.missingFiles(ctx, view, q, p.AsOf, p.Slices, newest)
	if err != nil {
		return nil, err
	}
	p.Gone, p.Notes = gone, append(p.Notes, notes...)
	p.Remarks = append(p.Remarks, p.contradictions(ctx)...)
	unknown, err := view.Unknown(ctx, p.AsOf, func(partition, fileID string) bool {
		return (len(q.Partitions) == 0 || slices.Contains(q.Partitions, partition)) && (q.FileID == "" || q.FileID == fileID)
	})
	if err != nil {
		return nil, err
	}
	if unknown != "" {
		p.Notes = append(p.Notes, unknown)
	}
	return p, p.finish(q)
}

// asOfOf is the instant up to which a query reads.
func asOfOf(view *filegroup.View, q Query) string {
	if q.AsOf != "" {
		return q.AsOf
	}
	return view.Latest
}

// chosen are the slices that a query reads, in order of partition and file id.
func (t *Table) chosen(view *filegroup.View, q Query, asOf string) []groupreader.Slice {
	var out []groupreader.Slice
	for _, part := range view.Partitions {
		if len(q.Partitions) == 0 || slices.Contains(q.Partitions, part.Path) {
			out = append(out, t.partitionSlices(view, part.Path, q, asOf)...)
		}
	}
	return out
}

// setSchema sets the schema of the rows.
func (p *Plan) setSchema(sc *Schema) {
	p.Schema = sc
	byName := p.Query.IgnoreHistory
	if p.t.Rules.HistoryByOption && p.t.Config.Version < 8 && !p.Query.UseHistory && sc.Internal != nil {
		byName = true
		p.Remarks = append(p.Remarks, p.t.Rules.Name()+" reads this table by the names of columns unless "+SchemaOnReadOption+" is set: old values of renamed columns are null. They are shown when no release is asked for, or with the option.")
	}
	if sc.Internal != nil && !byName {
		s := *sc
		s.Type = rowType(sc.Type, sc.Internal)
		p.Schema, p.internal = &s, sc.Internal
	}
	if shown := p.t.timestampColumns(p.Schema.Type); shown != nil {
		s := *p.Schema
		p.stored, s.Type = s.Type, shown
		p.Schema = &s
	}
}

// ReadAs makes the plan's rows those of another plan's schema, to be compared with that plan's rows.
func (p *Plan) ReadAs(other *Plan) {
	p.Schema, p.stored, p.internal = other.Schema, other.stored, other.internal
}

// finish checks that the chosen slices can be read, and remarks on how they are merged.
func (p *Plan) finish(q Query) error {
	t, logs := p.t, false
	for i := range p.Slices {
		if s := &p.Slices[i]; t.Config.DropPartitionColumns() || s.Source != "" {
			if _, ok := t.partitionValues(s.Partition); !ok {
				note := fmt.Sprintf("The values of the partition columns %s can't be told from paths such as %q; where a file does not store them they are null.", strings.Join(t.Config.PartitionFields(), ", "), s.Partition)
				if !slices.Contains(p.Remarks, note) && len(p.Remarks) < 5 {
					p.Remarks = append(p.Remarks, note)
				}
			}
		}
		if err := p.check(&p.Slices[i]); err != nil {
			return err
		}
		logs = logs || len(p.Slices[i].Logs) > 0
	}
	if logs && !(q.SkipMerge && !t.Rules.SkipMergesLogs) {
		rules, instead, err := t.rulesFor(q)
		if err != nil {
			return err
		}
		if instead != "" {
			p.Remarks = append(p.Remarks, instead)
		}
		if t.Rules.Payloads && !t.mergesPayloads() {
			p.Remarks = append(p.Remarks, fmt.Sprintf("%s can't read tables of version %d; the rows are merged as Hudi 1.x does.", t.Rules.Name(), t.Config.Version))
		}
		if rules.UnavailableStays && rules.Mode == merge.Custom && rules.Payload == "PostgresDebeziumAvroPayload" {
			p.Remarks = append(p.Remarks, t.Rules.Name()+" shows the marker of a value that the source did not send; the earlier value, which is right, is shown when no release is asked for.")
		}
	}
	return nil
}

func (t *Table) partitionSlices(view *filegroup.View, part string, q Query, asOf string) []groupreader.Slice {
	var out []groupreader.Slice
	if q.Type == ReadOptimized || !t.Config.MergeOnRead() {
		for _, b := range view.LatestBaseFilesBeforeOrOn(part, asOf) {
			if q.FileID == "" || q.FileID == b.FileID {
				out = append(out, groupreader.Slice{Partition: part, FileID: b.FileID, BaseInstant: b.Instant, Base: b.Path, Source: b.Bootstrap, Bytes: max(b.Size, 0)})
			}
		}
		return out
	}
	for _, s := range view.LatestMergedSlicesBeforeOrOn(part, asOf) {
		if q.FileID == "" || q.FileID == s.FileID {
			out = append(out, sliceOf(s))
		}
	}
	return out
}

func sliceOf(s *filegroup.Slice) groupreader.Slice {
	g := groupreader.Slice{Partition: s.Partition, FileID: s.FileID, BaseInstant: s.BaseInstant}
	if s.Base != nil {
		g.Base, g.Source, g.Bytes = s.Base.Path, s.Base.Bootstrap, max(s.Base.Size, 0)
	}
	for _, l := range s.DataLogs() {
		g.Logs = append(g.Logs, l.Path)
		g.LogBytes += max(l.Size, 0)
	}
	g.Bytes += g.LogBytes
	return g
}

// check refuses slices whose rows can't be read, before anything of them is.
func (p *Plan) check(s *groupreader.Slice) error {
	if s.Base == "" {
		return nil
	}
	return p.t.checkBase(s)
}

// ReadOptions say how the plan's slices are read.
type ReadOptions struct {
	// LogBytes bounds the decoded log records of a slice where there is no Spill.
	LogBytes int64
	// MergeBytes is the memory for merging a slice, in bytes; what does not fit goes to Spill.
	MergeBytes int64
	Spill      spill.Open
	Progress   func(unit string, n int64)
	// Observe, if set, is told of every merge step.
	Observe func(groupreader.Step)
}

// Rows reads one slice of the plan; stats may be nil.
func (p *Plan) Rows(ctx context.Context, s groupreader.Slice, ro ReadOptions, stats *groupreader.Stats) iter.Seq2[groupreader.Row, error] {
	o, err := p.options(s, ro)
	if err != nil {
		return func(yield func(groupreader.Row, error) bool) { yield(groupreader.Row{}, err) }
	}
	return p.kept(func(yield func(groupreader.Row, error) bool) {
		p.readAhead(ctx, s)
		groupreader.Rows(ctx, s, o, stats)(yield)
	}, o)
}

func (p *Plan) options(s groupreader.Slice, ro ReadOptions) (*groupreader.Options, error) {
	c := p.t.Config
	o := &groupreader.Options{
		Open:   func(ctx context.Context, path string) (storage.Object, error) { return p.t.Src.Open(ctx, path) },
		Reader: p.Schema.Type, Want: p.Want, Ordering: p.t.Merge.OrderingFields,
		DeleteField: p.t.Merge.DeleteField, DeleteMarker: p.t.Merge.DeleteMarker,
		Scan: p.t.ScanOptions(p.tl, p.AsOf), LogBytes: ro.LogBytes, MergeBytes: ro.MergeBytes, Spill: ro.Spill, Progress: ro.Progress, Observe: ro.Observe,
		Release: p.t.Rules, SkipMerge: p.Query.SkipMerge, ByPosition: p.Query.ByPosition,
	}
	o.Scan.Range = p.blocks
	o.Base = func(ctx context.Context, s groupreader.Slice) (groupreader.BaseFile, error) {
		return p.t.openBase(ctx, &s, p.Query.BootstrapBase)
	}
	if p.internal != nil {
		o.Evolve = p.t.mappings(p.tl, p.internal)
	}
	if c.PopulateMetaFields() {
		o.MetaFields = true
		switch keys := c.RecordKeyFields(); c.KeyGeneratorType() {
		case "SIMPLE", "COMPLEX", "TIMESTAMP", "CUSTOM", "NON_PARTITION":
			if len(keys) == 1 {
				o.KeyField = keys[0]
			}
		}
	}
	o.Written = p.t.written(p.tl)
	if len(s.Logs) > 0 {
		rules, _, err := p.t.rulesFor(p.Query)
		if err != nil && !(o.SkipMerge && !o.Release.SkipMergesLogs) {
			return nil, err
		}
		o.Rules = rules
		if !c.PopulateMetaFields() {
			o.KeyFields = c.RecordKeyFields()
		}
	}
	if c.DropPartitionColumns() || s.Source != "" {
		o.Constants, _ = p.t.partitionValues(s.Partition)
	}
	if p.Where != nil && p.stored == nil && p.internal == nil && p.Where.Rows() == p.Schema.Type {
		o.Where = p.Where
	}
	if p.stored != nil {
		o.Reader, o.Shown = p.stored, p.Schema.Type
		if p.t.Rules.PathIsPartitionValue {
			o.ShownValues = map[string]string{}
			for _, f := range c.PartitionFields() {
				o.ShownValues[f] = s.Partition
			}
		}
	}
	p.selected(o, s)
	return o, nil
}

// ScanOptions says which log blocks a read up to an instant takes.
func (t *Table) ScanOptions(tl *timeline.Timeline, asOf string) logscan.Options {
	o := logscan.Options{LatestInstant: asOf}
	switch t.Rules.Scanner {
	case release.ScanTop:
		o.Mode, o.CheckCommitted = logscan.ScanV1Until012, true
	case release.ScanV1:
		o.Mode, o.CheckCommitted = logscan.ScanV1, true
	default:
		// From version 8 on a log file is written by one instant, and the view has dropped those of
		// instants that are not completed; older files hold blocks of several.
		o.Mode, o.CheckCommitted = logscan.Scan1x, t.Config.Version < 8
	}
	commits := tl.CommitsAndCompaction()
	completed := commits.Completed()
	pending := commits.Pending()
	o.Committed = func(instant string) logscan.Verdict {
		switch {
		case pending.Contains(instant) && !completed.Contains(instant):
			return logscan.Pending
		case completed.Contains(instant):
			return logscan.Completed
		case commits.BeforeTimelineStarts(instant):
			return logscan.BeforeStart
		}
		return logscan.UnknownInstant
	}
	return o
}

// timestampColumns returns the type with the columns behind a timestamp-based key generator as
// text, as Hudi shows them (spec file-view.md section 9.2); nil when there are none.
func (t *Table) timestampColumns(typ *schema.Type) *schema.Type {
	if t.Config.KeyGeneratorType() != "TIMESTAMP" || strings.EqualFold(t.Config.TimeBased("timestamp.type"), "DATE_STRING") {
		return nil
	}
	out := *typ
	out.Fields = append([]schema.Field(nil), typ.Fields...)
	changed := false
	for _, f := range t.Config.PartitionFields() {
		if i := out.FieldIndex(f); i >= 0 && out.Fields[i].Type.Kind != schema.String {
			text := schema.Type{Kind: schema.String, Nullable: true, NullFirst: true}
			out.Fields[i].Type, out.Fields[i].HasDefault, out.Fields[i].Default = &text, true, "null"
			changed = true
		}
	}
	if !changed {
		return nil
	}
	return &out
}

// partitionValues returns the partition columns' values as text, from the path (spec file-view.md
// section 9.2); columns that are null are left out. ok is false when the path can't be taken apart.
func (t *Table) partitionValues(part string) (out map[string]string, ok bool) {
	fields := t.Config.PartitionFields()
	out, ok = map[string]string{}, true
	parts := strings.Split(part, "/")
	switch {
	case len(fields) == 0:
	case len(parts) == len(fields):
		for i, f := range fields {
			v := parts[i]
			if name, value, ok := strings.Cut(v, "="); ok && name == f {
				v = value
			}
			out[f] = filegroup.Unescape(v)
		}
	case len(fields) == 1:
		out[fields[0]] = filegroup.Unescape(strings.TrimPrefix(part, fields[0]+"="))
	case strings.HasPrefix(part, fields[0]+"="):
		// Values with slashes in them: a fragment without "=" goes on with the value before it.
		at := -1
		for _, p := range parts {
			name, value, named := strings.Cut(p, "=")
			if at+1 < len(fields) && named && name == fields[at+1] {
				at++
				out[fields[at]] = filegroup.Unescape(value)
			} else {
				out[fields[at]] += "/" + filegroup.Unescape(p)
			}
		}
		ok = at+1 == len(fields)
	default:
		ok = false
	}
	if !ok {
		return map[string]string{}, false
	}
	for f, v := range out {
		if v == "__HIVE_DEFAULT_PARTITION__" || v == "default" && t.Config.Version <= 4 {
			delete(out, f)
		}
	}
	return out, true
}
