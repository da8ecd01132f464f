package query

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"hudiscope/core/column"
	"hudiscope/core/filegroup"
	"hudiscope/core/groupreader"
	"hudiscope/core/predicate"
	"hudiscope/core/schema"
	"hudiscope/core/table"
)

// Row is one row of a query, in a batch of the plan's type.
type Row = column.Row

// Chosen is an instant that a plan reads.
type Chosen struct {
	Requested, Completed, Action, Operation string
	Archived                                bool
	// Why is a sentence.
	Why string
}

// Part is what is read as one: a file slice, or the changes of a file group.
type Part struct {
	Slice groupreader.Slice
	// How names the reader of the part.
	How  string
	rows func(ctx context.Context, ro table.ReadOptions, st *groupreader.Stats) iter.Seq2[Row, error]
}

// Rows reads the part; st may be nil.
func (p *Part) Rows(ctx context.Context, ro table.ReadOptions, st *groupreader.Stats) iter.Seq2[Row, error] {
	return p.rows(ctx, ro, st)
}

// Plan is what a Spark read will do.
type Plan struct {
	Query    Query
	Relation Relation
	// Type is the type of the rows, From where the schema was found.
	Type *schema.Type
	From string
	// AsOf is the last instant that is read, "" for a table without completed writes.
	AsOf string
	// Instants are the instants of an incremental query, oldest first; Range says which were asked for
	// and Filter which rows are kept, in a sentence.
	Instants      []Chosen
	Range, Filter string
	// Changes are the sources of a query for change data, by file group.
	Changes []Changes
	// Parts in the order they are read.
	Parts []Part
	// Notes say why rows may be missing, Remarks how the rows were chosen where that is not what Hudi
	// would do, or not what is right.
	Notes, Remarks []string
	// Hints are worth knowing and change no row.
	Hints []Hint
	// Gone are files that the read needs and the storage does not have.
	Gone []table.MissingFile

	// Failures are what some releases fail on in such a read, before anything is read.
	Failures []Failed

	// want chooses the columns, nil for all.
	want func(field string) bool
	// order are the positions in Type of the columns that Select chose, nil for those that want chooses.
	order []int
	// where is what rows must meet, nil for nothing; hidden are the columns that only it reads.
	where  *predicate.Bound
	hidden []string
	// sort are the columns that rows are ordered by; they are read, shown or not.
	sort []sortColumn
	// table is the plan of the slices, nil where there are none.
	table *table.Plan
}

// Refused says that a combination of options is no valid query, in Hudi's own words.
type Refused struct{ Message, Try string }

// Error renders the finding.
func (r *Refused) Error() string { return r.Message }

func refuse(try, format string, args ...any) error {
	return &Refused{Message: fmt.Sprintf(format, args...), Try: try}
}

// Prepare plans a read. progress may be nil.
func Prepare(ctx context.Context, t *table.Table, q Query, progress func(dirs int)) (*Plan, error) {
	tl, err := t.Timeline(ctx)
	if err != nil {
		return nil, err
	}
	c := t.Config
	version := c.Version
	if q.Incremental != nil && q.Incremental.Version > 0 {
		version = q.Incremental.Version
	}
	p := &Plan{Query: q, Hints: q.Hints}
	p.Relation = Decide(RelationInputs{TableType: c.Type(), QueryType: q.Type, Bootstrapped: c.BootstrapBasePath() != "",
		Commits: tl.Commits().Completed().Last() != nil, CDC: q.Incremental != nil && q.Incremental.CDC, CDCEnabled: c.CDC() != "",
		Version: version, Old: t.Rules.Scanner == 0, ByRequestedTime: t.Rules.ByRequestedTime})
	if p.Relation.Refused != "" {
		return nil, refuse("", "%s", p.Relation.Refused)
	}
	if q.Incremental == nil {
		return p, p.snapshot(ctx, t, progress)
	}
	if q.Read.AsOf != "" {
		p.Remarks = append(p.Remarks, "as.of.instant plays no part in an incremental query.")
	}
	n := &incremental{p: p, t: t, tl: tl, in: q.Incremental, progress: progress}
	// Below version 8 completion times are modification times of files, so that a forced version does
	// not help there.
	n.v2 = version >= 8
	if q.Incremental.CDC {
		return p, n.changes(ctx)
	}
	return p, n.plan(ctx)
}

// snapshot plans a read of the table as of an instant.
func (p *Plan) snapshot(ctx context.Context, t *table.Table, progress func(dirs int)) error {
	if p.Query.Read.AsOf != "" {
		if err := p.travel(ctx, t, progress); err != nil {
			return err
		}
	}
	tp, err := t.Plan(ctx, p.Query.Read, progress)
	if err != nil {
		return err
	}
	tp.Slices = p.narrow(t, p.Query.paths, tp.Slices)
	p.take(tp)
	return nil
}

// take makes the parts of a plan of slices.
func (p *Plan) take(tp *table.Plan) {
	p.table, p.Type, p.From, p.AsOf = tp, tp.Schema.Type, tp.Schema.From, tp.AsOf
	p.Notes, p.Remarks = append(p.Notes, tp.Notes...), append(p.Remarks, tp.Remarks...)
	p.Gone = append(p.Gone, tp.Gone...)
	for i := range tp.Slices {
		p.Parts = append(p.Parts, p.slice(tp, tp.Slices[i]))
	}
}

// slice is the part of one slice.
func (p *Plan) slice(tp *table.Plan, s groupreader.Slice) Part {
	how := "base file"
	switch {
	case len(s.Logs) > 0 && s.Base != "":
		how = "base file merged with logs"
	case len(s.Logs) > 0:
		how = "logs merged"
	}
	if len(s.Logs) > 0 && tp.Query.SkipMerge {
		how = "base rows, then log rows"
	}
	return Part{Slice: s, How: how, rows: func(ctx context.Context, ro table.ReadOptions, st *groupreader.Stats) iter.Seq2[Row, error] {
		return p.filtered(func(yield func(Row, error) bool) {
			for r, err := range tp.Rows(ctx, s, ro, st) {
				if !yield(r.Row, err) || err != nil {
					return
				}
			}
		})
	}}
}

// wanted reports whether a slice is among the partitions and groups that were asked for.
func wanted(q *table.Query, partition, fileID string) bool {
	return (len(q.Partitions) == 0 || slices.Contains(q.Partitions, partition)) && (q.FileID == "" || q.FileID == fileID)
}

func sentenceList(list []string) string {
	if len(list) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:3], ", "), len(list)-3)
	}
	return strings.Join(list, ", ")
}

// replacedBy reports whether a group was replaced at or before an instant.
func replacedBy(g *filegroup.Group, instant string) bool {
	return g.ReplacedBy != "" && instant >= g.ReplacedBy
}
