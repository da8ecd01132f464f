package metatable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"hudiscope/core/commitmeta"
	"hudiscope/core/config"
	"hudiscope/core/corrupt"
	"hudiscope/core/filegroup"
	"hudiscope/core/storage"
	"hudiscope/core/storage/ahead"
	"hudiscope/core/timeline"
)

// Dir is the folder of the metadata table below the data table's base path.
const Dir = config.MetaDir + "/metadata"

// Kind is what a partition of the metadata table holds.
type Kind string

// The kinds, by the names of their partitions; the last two are prefixes.
const (
	Files          Kind = "files"
	ColumnStatKind Kind = "column_stats"
	BloomFilters   Kind = "bloom_filters"
	RecordIndex    Kind = "record_index"
	PartitionStats Kind = "partition_stats"
	SecondaryIndex Kind = "secondary_index"
	ExpressionIdx  Kind = "expr_index"
	UnknownKind    Kind = ""
)

// KindOf tells the kind of a partition by its name.
func KindOf(partition string) Kind {
	switch k := Kind(partition); k {
	case Files, ColumnStatKind, BloomFilters, RecordIndex, PartitionStats:
		return k
	}
	switch {
	case strings.HasPrefix(partition, "secondary_index_"):
		return SecondaryIndex
	case strings.HasPrefix(partition, "expr_index_"), strings.HasPrefix(partition, "func_index_"):
		return ExpressionIdx
	}
	return UnknownKind
}

// State says whether readers may use a partition.
type State string

// The states. A partition that the data table's properties do not name is stale: it may be out of step.
const (
	Ready    State = "ready"
	Inflight State = "inflight"
	Unlisted State = "unlisted"
)

// Partition is a partition of the metadata table.
type Partition struct {
	Name  string
	Kind  Kind
	State State
}

// Absent says that a data table has no metadata table, or none of that partition.
type Absent struct {
	// Partition is "" for the whole table.
	Partition string
	// Why is a sentence.
	Why string
	Err error
}

// Error renders the finding.
func (a *Absent) Error() string { return a.Why }

// Unwrap returns the storage's error, if there is one.
func (a *Absent) Unwrap() error { return a.Err }

// Options say how the metadata table is read.
type Options struct {
	// LogBytes bounds the decoded log records of one file group, in bytes; 0 means no bound.
	LogBytes int64
	// ReadRows reads the archived timeline of layout 2; see filegroup.Options.
	ReadRows timeline.ReadRows
	// Ahead asks for what a listing of the data table needs before it is needed: Open for the timeline
	// and the folder of the files partition, Listing for its files. nil asks for nothing.
	Ahead *ahead.Reader
}

// ErrLogBytes says that the log records of a file group do not fit Options.LogBytes.
var ErrLogBytes = errors.New("the log records of one file group of the metadata table do not fit the memory bound")

// Table is an opened metadata table. What is listed is kept: it shows the table as it was at the
// first look. It is safe for concurrent use.
type Table struct {
	Src storage.Source
	// Config and Timeline are the metadata table's own; Data and DataTimeline those of the data table.
	Config, Data           *config.Config
	Timeline, DataTimeline *timeline.Timeline
	opt                    Options

	mu    sync.Mutex
	valid *validity
	views map[string]*filegroup.View
	defs  map[string]*IndexDefinition
	names []Partition

	commitsMu sync.Mutex
	newest    []*commitmeta.CommitMetadata // see commits
}

// Open reads the properties and the timeline of the metadata table of a data table. A data table
// without one gives an *Absent.
func Open(ctx context.Context, src storage.Source, data *config.Config, dataTimeline *timeline.Timeline, opt Options) (*Table, error) {
	if opt.Ahead != nil {
		root := join(data.Root, Dir)
		dir := join(root, config.MetaDir)
		if data.TimelineLayout >= 2 {
			dir += "/timeline"
		}
		opt.Ahead.List(ctx, dir, root+"/"+string(Files))
	}
	cfg, err := config.Load(ctx, src, join(data.Root, Dir))
	var nt *config.NotATable
	if errors.As(err, &nt) || storage.IsNotExist(err) {
		why := "The table has no metadata table: there is no " + Dir + " with hoodie.properties."
		if slices.Contains(data.MetadataPartitions(), string(Files)) {
			why = "hoodie.table.metadata.partitions says that the table has a metadata table, but there is no " + Dir + " with hoodie.properties."
		}
		if nt != nil {
			err = nt.Err
		}
		return nil, &Absent{Why: why, Err: err}
	}
	if err != nil {
		return nil, err
	}
	tl, err := timeline.Load(ctx, src, cfg)
	if err != nil {
		return nil, err
	}
	return &Table{Src: src, Config: cfg, Data: data, Timeline: tl, DataTimeline: dataTimeline.Whole(), opt: opt, views: map[string]*filegroup.View{}}, nil
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "/" + b
}

// Trusted reports whether readers list the data table by the metadata table: whether its properties
// name the files partition as ready. why says so when they do not.
func (t *Table) Trusted() (ok bool, why string) {
	switch {
	case slices.Contains(t.Data.MetadataPartitionsInflight(), string(Files)):
		return false, "The files partition is still being built: hoodie.table.metadata.partitions.inflight names it."
	case !slices.Contains(t.Data.MetadataPartitions(), string(Files)):
		return false, "hoodie.table.metadata.partitions does not name the files partition: readers do not use this metadata table, and it may be out of date."
	}
	return true, ""
}

// Current reports whether the metadata table knows the newest completed write of the data table. One that
// does not is behind it, or was just made and has had no write since.
func (t *Table) Current() bool {
	done := t.DataTimeline.Write().Completed()
	if done.Empty() {
		return false
	}
	return t.Timeline.Completed().Contains(done.Last().Requested)
}

// Partition describes a partition by its name, without looking whether its folder is there.
func (t *Table) Partition(name string) Partition {
	p := Partition{Name: name, Kind: KindOf(name), State: Unlisted}
	switch {
	case slices.Contains(t.Data.MetadataPartitionsInflight(), name):
		p.State = Inflight
	case slices.Contains(t.Data.MetadataPartitions(), name):
		p.State = Ready
	}
	return p
}

// Partitions lists the partitions: those that the data table's properties name, and the folders of
// others, sorted by name.
func (t *Table) Partitions(ctx context.Context) ([]Partition, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.names != nil {
		return t.names, nil
	}
	names := map[string]bool{}
	for _, n := range t.Data.MetadataPartitions() {
		names[n] = true
	}
	for _, n := range t.Data.MetadataPartitionsInflight() {
		names[n] = true
	}
	l, err := t.Src.List(ctx, t.Config.Root)
	if err != nil {
		return nil, err
	}
	for _, e := range l.Entries {
		if e.Dir && e.Name != config.MetaDir {
			names[e.Name] = true
		}
	}
	out := []Partition{}
	for n := range names {
		out = append(out, t.Partition(n))
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	t.names = out
	return out, nil
}

// IndexDefinition is an entry of the data table's index definitions (spec metadata-table.md section 1.1).
type IndexDefinition struct {
	Name     string            `json:"indexName"`
	Type     string            `json:"indexType"`
	Function string            `json:"indexFunction"`
	Fields   []string          `json:"sourceFields"`
	Options  map[string]string `json:"indexOptions"`
	// Version is "V1" or "V2"; "" in tables before version 9.
	Version string `json:"version"`
}

// maxDefinitions bounds the file of index definitions, in bytes.
const maxDefinitions = 16 << 20

// Definition returns the definition of the index in a partition, nil when there is none.
func (t *Table) Definition(ctx context.Context, partition string) (*IndexDefinition, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.defs == nil {
		file := t.Data.IndexDefinitionsPath()
		defs := map[string]*IndexDefinition{}
		b, err := storage.ReadAll(ctx, t.Src, file, maxDefinitions)
		switch {
		case storage.IsNotExist(err):
		case err != nil:
			return nil, err
		default:
			var doc struct {
				Definitions map[string]*IndexDefinition `json:"indexDefinitions"`
			}
			if err := json.Unmarshal(b, &doc); err != nil {
				e := &corrupt.Error{File: file, Offset: corrupt.Unknown, Part: "index definitions", Want: "JSON", Err: err}
				var se *json.SyntaxError
				if errors.As(err, &se) {
					e.Offset = se.Offset
				}
				return nil, e
			}
			for k, d := range doc.Definitions {
				if d != nil {
					defs[k] = d
				}
			}
		}
		t.defs = defs
	}
	return t.defs[partition], nil
}

// View is the file-system view of one partition; it lists that partition's folder, once.
func (t *Table) View(ctx context.Context, partition string) (*filegroup.View, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v := t.views[partition]; v != nil {
		return v, nil
	}
	if partition == "" || strings.ContainsAny(partition, "/\\") || partition == config.MetaDir || partition == ".." || partition == "." {
		return nil, &Absent{Partition: partition, Why: fmt.Sprintf("%q is no partition of a metadata table.", partition)}
	}
	v, err := filegroup.Load(ctx, t.Src, t.Config, t.Timeline, []string{partition}, filegroup.Options{ReadRows: t.opt.ReadRows})
	if err != nil {
		return nil, err
	}
	if p := v.Partition(partition); v.Complete && (p == nil || len(p.Groups) == 0) {
		return nil, &Absent{Partition: partition, Why: fmt.Sprintf("The metadata table has no partition %s with file groups.", partition)}
	}
	t.views[partition] = v
	return v, nil
}

// Slices returns the file slices of a partition that are read, by file id.
func (t *Table) Slices(ctx context.Context, partition string) ([]*filegroup.Slice, error) {
	v, err := t.View(ctx, partition)
	if err != nil {
		return nil, err
	}
	return v.LatestMergedSlicesBeforeOrOn(partition, v.Latest), nil
}

// validity is which instants' log blocks count (spec metadata-table.md section 3.2).
type validity struct {
	instants map[string]bool
	// latest is the last completed instant of the metadata table.
	latest string
}

func (t *Table) validInstants(ctx context.Context) (*validity, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.valid != nil {
		return t.valid, nil
	}
	v := &validity{instants: map[string]bool{}}
	earliest := ""
	add := func(i string) {
		v.instants[i] = true
		if earliest == "" || i < earliest {
			earliest = i
		}
	}
	completed := t.DataTimeline.Completed()
	for _, i := range completed.Instants {
		add(i.Requested)
	}
	pending := map[string]bool{}
	for _, i := range t.DataTimeline.Pending().Instants {
		if !v.instants[i.Requested] {
			pending[i.Requested] = true
		}
	}
	compacted := ""
	for _, i := range t.Timeline.Completed().Instants {
		v.latest = max(v.latest, i.Requested)
		switch i.Action {
		case timeline.DeltaCommit:
			if !pending[i.Requested] {
				add(i.Requested)
			}
		case timeline.Commit:
			compacted = max(compacted, i.Requested)
		}
	}
	threshold := max(earliest, compacted)
	for _, i := range t.Timeline.Completed().Instants {
		if i.Action == timeline.Rollback || i.Action == timeline.Restore || i.Action == timeline.DeltaCommit && strings.HasPrefix(i.Requested, "00000000000000") {
			v.instants[i.Requested] = true
		}
	}
	// A rolled back commit has left its log blocks; records of the rollback undo them.
	for n := range completed.Instants {
		i := &completed.Instants[n]
		if i.Requested <= threshold {
			continue
		}
		targets, err := t.undone(ctx, i)
		if err != nil {
			return nil, err
		}
		for _, x := range targets {
			v.instants[x] = true
		}
	}
	t.valid = v
	return v, nil
}

// undone returns the instants that a completed rollback or restore of the data table took back.
func (t *Table) undone(ctx context.Context, i *timeline.Instant) ([]string, error) {
	switch i.Action {
	case timeline.Rollback:
		out, err := t.DataTimeline.RollbackTargets(ctx, i)
		if corrupt.Is(err) || storage.IsNotExist(err) || errors.Is(err, commitmeta.ErrEmpty) {
			return nil, nil // its blocks are then passed over, each with a reason
		}
		return out, err
	case timeline.Restore:
		f, ok := i.FileOf(timeline.Completed)
		if !ok {
			return nil, nil
		}
		var m *commitmeta.RestoreMetadata
		err := t.DataTimeline.With(ctx, f, func(data []byte) error {
			m, _ = commitmeta.ParseRestore(data)
			return nil
		})
		if err != nil || m == nil {
			return nil, err
		}
		out := m.Instants
		for _, list := range m.Rollbacks {
			for k := range list {
				out = append(out, list[k].Targets()...)
			}
		}
		return out, nil
	}
	return nil, nil
}
