package query

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hudiscope/core/column"
	"hudiscope/core/commitmeta"
	"hudiscope/core/schema"
	"hudiscope/core/timeline"
)

// scanInsteadOfChanges says what a bounded read of changes does where it can't tell changes.
const scanInsteadOfChanges = "The range begins at the beginning of the table or in the archived timeline: Flink's bounded read then scans the latest slices, so that rows come as inserts and no deletes or rows before an update are told."

// skipsDeltas reports whether the deltacommits of the table are left out, because changes are taken from
// the change data that compactions log (read.cdc.from.changelog). Releases that do so do it in every read
// of a table that logs changes.
func (f *Flink) skipsDeltas() bool {
	return f.o.FromChangelog && f.t.Config.MergeOnRead() && f.t.Config.CDC() != "" && (f.o.CDC || followed(f.t))
}

// changes plans the splits of a read with cdc.enabled: one for every file group that the commits changed
// (spec queries.md sections 7 and 10.4).
func (f *Flink) changes(ctx context.Context, r *Round, commits []commit) error {
	for i := range commits {
		if commits[i].Archived {
			try := "Without cdc.enabled the rows of the range are read."
			if x := f.tl.Commits().Completed().First(); x != nil {
				try = "Start at " + f.timeOf(x) + " or later. " + try
			}
			return refuse(try, "The start of a read with cdc.enabled has to be in the active timeline; commit %s is archived.", commits[i].Requested)
		}
	}
	view, err := f.t.View(ctx, nil)
	if err != nil {
		return err
	}
	mode := f.t.Config.CDC()
	if mode == "" {
		mode = "DATA_BEFORE_AFTER"
		r.Remarks = append(r.Remarks, "hoodie.table.cdc.enabled is not true: no changes were logged, and only those are told that follow from the files (new base files, log files, replaced groups).")
	}
	x := changePlanner{t: f.t, mode: mode, view: view, groups: map[groupID]*Changes{}}
	if f.skipsDeltas() {
		r.Remarks = append(r.Remarks, "read.cdc.from.changelog is true: the deltacommits of the table are passed over, and changes are taken from what compactions logged. With false the changes come from the log files, as soon as they are written.")
	}
	at := len(r.Instants) - len(commits)
	for i := range commits {
		c := commits[i]
		compaction := f.o.FromChangelog && c.Operation == commitmeta.OpCompact
		switch {
		case compaction:
			whole := len(c.meta.Partitions)
			if c.meta = loggedOnly(c.meta); len(c.meta.Partitions) < whole || whole == 0 {
				r.Instants[at+i].Why += " Files that it wrote without logging changes are passed over: it moves rows."
			}
		case !yieldsChanges(c.Operation):
			r.Instants[at+i].Why = "Its operation " + c.Operation + " moves rows and changes none: it is passed over."
			continue
		}
		if err := x.commit(&c); err != nil {
			return err
		}
	}
	for _, g := range x.sorted() {
		if !f.partition(g.Partition) {
			continue
		}
		s := Split{Class: "CdcInputSplit", Partition: g.Partition, FileID: g.FileID, Changes: g.Changes, MergeType: "payload_combine"}
		s.Iterator, s.Why = changeIterators(g.Changes, mode)
		r.Splits = append(r.Splits, s)
	}
	return nil
}

// loggedOnly is commit metadata with those files alone that changes were logged for.
func loggedOnly(m *commitmeta.CommitMetadata) *commitmeta.CommitMetadata {
	out := *m
	out.Partitions, out.Replaced = nil, nil
	for _, p := range m.Partitions {
		stats := slices.DeleteFunc(slices.Clone(p.Stats), func(s commitmeta.WriteStat) bool { return len(s.CDCStats) == 0 })
		if len(stats) > 0 {
			p.Stats = stats
			out.Partitions = append(out.Partitions, p)
		}
	}
	return &out
}

// timeOf is the time of an instant by which ranges are taken.
func (f *Flink) timeOf(x *timeline.Instant) string {
	if f.seq {
		return x.Requested
	}
	return x.Completed
}

// iteratorOf names the iterator of CdcInputFormat that reads a change.
func iteratorOf(c *Change, mode string) string {
	switch c.Case {
	case BaseFileInsert:
		return "AddBaseFile"
	case BaseFileDelete:
		return "RemoveBaseFile"
	case LogFile:
		return "DataLogFile"
	case ReplaceCommit:
		return "ReplaceCommit"
	}
	switch mode {
	case "OP_KEY_ONLY":
		return "RecordKeyImage"
	case "DATA_BEFORE":
		return "BeforeImage"
	}
	return "BeforeAfterImage"
}

// changeIterators names how the changes of a split are read, in order, and why.
func changeIterators(list []Change, mode string) (name, why string) {
	var names, whys []string
	for i := range list {
		if n := iteratorOf(&list[i], mode); len(names) == 0 || names[len(names)-1] != n {
			names = append(names, n)
		}
		if !slices.Contains(whys, list[i].Why) {
			whys = append(whys, list[i].Why)
		}
	}
	return strings.Join(names, ", "), strings.Join(whys, " ")
}

// kindedChanges gathers changes as rows with their kinds.
type kindedChanges struct {
	*kinded
	table *schema.Type
	// converted are logged images as rows of the table, by the vector they are in.
	converted map[*column.Vector]*column.Batch
}

// row is an image as a row of the table.
func (k *kindedChanges) row(m *image) (column.Row, error) {
	if m.logged == nil {
		return m.Row, nil
	}
	b := k.converted[m.logged]
	if b == nil {
		var err error
		if b, err = column.ConvertBatch(m.Batch, k.table, nil); err != nil {
			return column.Row{}, err
		}
		if k.converted == nil || len(k.converted) > 4 {
			k.converted = map[*column.Vector]*column.Batch{}
		}
		k.converted[m.logged] = b
	}
	return column.Row{Batch: b, Index: m.Index}, nil
}

func (k *kindedChanges) add(op, instant, key string, before, after *image) error {
	put := func(kind, which string, m *image) error {
		if m == nil {
			return refuse("The files of the group do not fit its change data; the health checks may tell more.", "The change data of %s tells of record %s, and the row %s the change is not there.", instant, key, which)
		}
		row, err := k.row(m)
		if err != nil {
			return fmt.Errorf("the change data of %s: %w", instant, err)
		}
		k.kinded.add(kind, row)
		return nil
	}
	switch op {
	case "i":
		return put(kindInsert, "after", after)
	case "d":
		return put(kindDelete, "before", before)
	}
	if err := put(kindUpdateBefore, "before", before); err != nil {
		return err
	}
	return put(kindUpdateAfter, "after", after)
}
