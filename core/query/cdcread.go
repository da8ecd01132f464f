package query

import (
	"context"
	"fmt"
	"iter"

	"hudiscope/core/column"
	"hudiscope/core/corrupt"
	"hudiscope/core/groupreader"
	"hudiscope/core/logfile"
	"hudiscope/core/schema"
	"hudiscope/core/table"
	"hudiscope/core/timeline"
)

// changeReader reads the changes of file groups.
type changeReader struct {
	t      *table.Table
	mode   string
	schema *table.Schema
	query  table.Query
	tl     *timeline.Timeline
}

// image is a row as JSON, of a key.
type images struct {
	byKey map[string][]byte
	bytes int64
}

// batchChanges is how many changes are handed on together.
const batchChanges = 512

// out gathers changes to batches.
type out struct {
	batch *column.Batch
	yield func(Row, error) bool
}

func (o *out) add(op, instant string, before, after []byte) {
	if o.batch == nil {
		o.batch = &column.Batch{Type: changeType}
		for i := range changeType.Fields {
			o.batch.Columns = append(o.batch.Columns, column.New(changeType.Fields[i].Type, batchChanges))
		}
	}
	b := o.batch
	b.Columns[0].AppendString(op)
	b.Columns[1].AppendString(instant)
	for i, v := range [][]byte{before, after} {
		if v == nil {
			b.Columns[2+i].AppendNull()
		} else {
			b.Columns[2+i].AppendBytes(v)
		}
	}
	b.Len++
}

// flush hands on what was gathered once there is enough of it, or at the end.
func (o *out) flush(end bool) (more bool) {
	if o.batch == nil || !end && o.batch.Len < batchChanges {
		return true
	}
	b := o.batch
	o.batch = nil
	for i := range b.Len {
		if !o.yield(Row{Batch: b, Index: i}, nil) {
			return false
		}
	}
	return true
}

// errStopped says that the consumer has had enough.
var errStopped = fmt.Errorf("stopped")

func (r *changeReader) rows(g *Changes) func(context.Context, table.ReadOptions, *groupreader.Stats) iter.Seq2[Row, error] {
	return func(ctx context.Context, ro table.ReadOptions, st *groupreader.Stats) iter.Seq2[Row, error] {
		return func(yield func(Row, error) bool) {
			o := &out{yield: yield}
			for i := range g.Changes {
				if err := r.change(ctx, &g.Changes[i], ro, o); err != nil {
					if err != errStopped {
						yield(Row{}, err)
					}
					return
				}
			}
			o.flush(true)
		}
	}
}

func (r *changeReader) change(ctx context.Context, c *Change, ro table.ReadOptions, o *out) error {
	all := func(op string, s groupreader.Slice) error {
		return r.each(ctx, s, c.Instant, ro, nil, func(_ string, row []byte) error {
			if op == "i" {
				o.add(op, c.Instant, nil, row)
			} else {
				o.add(op, c.Instant, row, nil)
			}
			if !o.flush(false) {
				return errStopped
			}
			return nil
		})
	}
	switch c.Case {
	case BaseFileInsert:
		return all("i", groupreader.Slice{Base: c.Files[0], BaseInstant: c.Instant})
	case BaseFileDelete, ReplaceCommit:
		return all("d", *c.Before)
	case LogFile:
		return r.log(ctx, c, ro, o)
	}
	return r.logged(ctx, c, ro, o)
}

// each reads a slice and hands its rows on as JSON; keys, if not nil, are the only ones.
func (r *changeReader) each(ctx context.Context, s groupreader.Slice, instant string, ro table.ReadOptions, keys map[string]bool, f func(key string, row []byte) error) error {
	plan, err := r.t.PlanSelection(table.Selection{Query: r.query, Schema: r.schema, Slices: []groupreader.Slice{s}, AsOf: instant, Timeline: r.tl})
	if err != nil {
		return err
	}
	for row, err := range plan.Rows(ctx, s, ro, nil) {
		if err != nil {
			return err
		}
		key := ""
		if k := row.Batch.Column(schema.RecordKeyField); k != nil {
			key, _ = k.Text(row.Index)
		}
		if keys != nil && !keys[key] {
			continue
		}
		if err := f(key, rowJSON(row.Batch, row.Index)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// rowJSON writes a row as Hudi does in before and after: columns that are null are left out.
func rowJSON(b *column.Batch, i int) []byte {
	dst := []byte{'{'}
	for k, v := range b.Columns {
		if v == nil || v.IsNull(i) {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = column.AppendText(dst, []byte(b.Type.Fields[k].Name))
		dst = append(dst, ':')
		dst = v.AppendJSON(dst, i)
	}
	return append(dst, '}')
}

// look reads the images of some keys in a slice.
func (r *changeReader) look(ctx context.Context, s *groupreader.Slice, instant string, ro table.ReadOptions, keys map[string]bool) (map[string][]byte, error) {
	m := images{byKey: map[string][]byte{}}
	if s == nil || s.Base == "" && len(s.Logs) == 0 {
		return m.byKey, nil
	}
	err := r.each(ctx, *s, instant, ro, keys, func(key string, row []byte) error {
		m.byKey[key] = row
		if m.bytes += int64(len(key) + len(row)); ro.LogBytes > 0 && m.bytes > ro.LogBytes {
			return fmt.Errorf("the images of the records that %s changed: %w", instant, groupreader.ErrLogBytes)
		}
		return nil
	})
	return m.byKey, err
}

// log compares the slice before a log file with the one that includes it.
func (r *changeReader) log(ctx context.Context, c *Change, ro table.ReadOptions, o *out) error {
	keys := map[string]bool{}
	var order []string
	only := groupreader.Slice{Partition: c.Before.Partition, FileID: c.Before.FileID, BaseInstant: c.Before.BaseInstant, Logs: c.Files}
	watch := ro
	watch.Observe = func(s groupreader.Step) {
		if !s.Final && !keys[string(s.Key)] {
			keys[string(s.Key)] = true
			order = append(order, string(s.Key))
		}
	}
	if err := r.each(ctx, only, c.Instant, watch, map[string]bool{}, nil); err != nil {
		return err
	}
	before, err := r.look(ctx, c.Before, c.Instant, ro, keys)
	if err != nil {
		return err
	}
	with := *c.Before
	with.Logs = append(append([]string(nil), with.Logs...), c.Files...)
	after, err := r.look(ctx, &with, c.Instant, ro, keys)
	if err != nil {
		return err
	}
	for _, k := range order {
		b, a := before[k], after[k]
		switch {
		case b == nil && a == nil, string(b) == string(a):
			continue
		case b == nil:
			o.add("i", c.Instant, nil, a)
		case a == nil:
			o.add("d", c.Instant, b, nil)
		default:
			o.add("u", c.Instant, b, a)
		}
		if !o.flush(false) {
			return errStopped
		}
	}
	return nil
}

// logged reads change data logs, and looks up the images that they leave out.
func (r *changeReader) logged(ctx context.Context, c *Change, ro table.ReadOptions, o *out) error {
	type entry struct {
		op, key       string
		before, after []byte
	}
	var list []entry
	keys := map[string]bool{}
	var bytes int64
	for _, file := range c.Files {
		err := r.blocks(ctx, file, func(b *column.Batch) error {
			ops, recs := b.Column("op"), b.Column("record_key")
			if ops == nil {
				return &corrupt.Error{File: file, Offset: corrupt.Unknown, Part: "change data record", Want: "a field op", Got: "none"}
			}
			for i := range b.Len {
				var e entry
				e.op, _ = ops.Text(i)
				if recs != nil {
					e.key, _ = recs.Text(i)
					keys[e.key] = true
				}
				e.before, e.after = imageJSON(b.Column("before"), i), imageJSON(b.Column("after"), i)
				if bytes += int64(len(e.key)+len(e.before)+len(e.after)) + 64; ro.LogBytes > 0 && bytes > ro.LogBytes {
					return fmt.Errorf("the change data of %s: %w", c.Instant, groupreader.ErrLogBytes)
				}
				list = append(list, e)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	var before, after map[string][]byte
	var err error
	if c.Before != nil {
		if before, err = r.look(ctx, c.Before, c.Instant, ro, keys); err != nil {
			return err
		}
	}
	if c.After != nil {
		if after, err = r.look(ctx, c.After, c.Instant, ro, keys); err != nil {
			return err
		}
	}
	for i := range list {
		e := &list[i]
		if c.Before != nil && e.op != "i" {
			e.before = before[e.key]
		}
		if c.After != nil && e.op != "d" {
			e.after = after[e.key]
		}
		o.add(e.op, c.Instant, e.before, e.after)
		if !o.flush(false) {
			return errStopped
		}
	}
	return nil
}

// imageJSON writes an image that was logged; columns that are null are kept, as Hudi does.
func imageJSON(v *column.Vector, i int) []byte {
	if v == nil || v.IsNull(i) {
		return nil
	}
	b := v.AppendJSON(nil, i)
	if string(b) == "null" {
		return nil
	}
	return b
}

// blocks reads the data blocks of a change data log.
func (r *changeReader) blocks(ctx context.Context, file string, f func(*column.Batch) error) error {
	obj, err := r.t.Open(ctx, file)
	if err != nil {
		return err
	}
	defer obj.Close()
	reader := logfile.Open(obj, file)
	for b, err := range reader.Blocks(ctx) {
		if err != nil {
			return corrupt.InFile(err, file)
		}
		if b.Type != logfile.CDCDataBlock {
			continue
		}
		batch, _, err := groupreader.DataBlock(ctx, reader, b, nil)
		if err != nil {
			return err
		}
		if err := f(batch); err != nil {
			return err
		}
	}
	return nil
}
