package query

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"strconv"

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
	schema *table.Schema
	query  table.Query
	tl     *timeline.Timeline
}

// image is a row before or after a change.
type image struct {
	column.Row
	// logged is the vector of a change data log that the row is a slot of, nil for a row of a slice.
	logged *column.Vector
}

// json writes the image as Spark's query for change data does. Columns that are null are left out of
// rows of slices, and kept in images that were logged.
func (m *image) json() []byte {
	switch {
	case m == nil:
		return nil
	case m.logged != nil:
		return m.logged.AppendJSON(nil, m.Index)
	}
	return rowJSON(m.Batch, m.Index)
}

// images keeps copies of rows, by key.
type images struct {
	byKey   map[string]*image
	last    *column.Batch
	bytes   int64
	counted int64 // of last
}

// imageRows is how many images share a batch.
const imageRows = 256

// add copies a row. The memory of all copies is in bytes.
func (m *images) add(key string, row column.Row) {
	if m.last == nil || m.last.Len == imageRows {
		m.last, m.counted = &column.Batch{Type: row.Batch.Type}, 0
		for i := range row.Batch.Type.Fields {
			m.last.Columns = append(m.last.Columns, column.New(row.Batch.Type.Fields[i].Type, 0))
		}
	}
	for i, c := range m.last.Columns {
		if src := row.Batch.Columns[i]; src != nil {
			c.AppendFrom(src, row.Index)
		} else {
			c.AppendNull()
		}
	}
	m.byKey[key] = &image{Row: column.Row{Batch: m.last, Index: m.last.Len}}
	m.last.Len++
	n := m.last.Bytes()
	m.bytes += int64(len(key)) + 64 + n - m.counted
	m.counted = n
}

// changeSink takes changes: op is i, u or d, and the images are nil where there is none.
type changeSink interface {
	add(op, instant, key string, before, after *image) error
	// flush hands on what was gathered once there is enough of it, or at the end.
	flush(end bool) (more bool)
}

// batchChanges is how many changes are handed on together.
const batchChanges = 512

// out gathers changes as Spark shows them.
type out struct {
	batch *column.Batch
	yield func(Row, error) bool
}

func (o *out) add(op, instant, _ string, before, after *image) error {
	if o.batch == nil {
		o.batch = &column.Batch{Type: changeType}
		for i := range changeType.Fields {
			o.batch.Columns = append(o.batch.Columns, column.New(changeType.Fields[i].Type, batchChanges))
		}
	}
	b := o.batch
	b.Columns[0].AppendString(op)
	b.Columns[1].AppendString(instant)
	for i, v := range []*image{before, after} {
		if v == nil {
			b.Columns[2+i].AppendNull()
		} else {
			b.Columns[2+i].AppendBytes(v.json())
		}
	}
	b.Len++
	return nil
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
		return func(yield func(Row, error) bool) { r.read(ctx, g.Changes, ro, &out{yield: yield}, yield) }
	}
}

// read hands the changes of a file group to a sink.
func (r *changeReader) read(ctx context.Context, changes []Change, ro table.ReadOptions, o changeSink, yield func(Row, error) bool) {
	for i := range changes {
		if err := r.change(ctx, &changes[i], ro, o); err != nil {
			if err != errStopped {
				yield(Row{}, err)
			}
			return
		}
	}
	o.flush(true)
}

func (r *changeReader) change(ctx context.Context, c *Change, ro table.ReadOptions, o changeSink) error {
	all := func(op string, s groupreader.Slice) error {
		return r.each(ctx, s, c.Instant, ro, nil, func(key string, row column.Row) error {
			m, err := &image{Row: row}, error(nil)
			if op == "i" {
				err = o.add(op, c.Instant, key, nil, m)
			} else {
				err = o.add(op, c.Instant, key, m, nil)
			}
			if err == nil && !o.flush(false) {
				return errStopped
			}
			return err
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

// each reads a slice and hands its rows on; keys, if not nil, are the only ones.
func (r *changeReader) each(ctx context.Context, s groupreader.Slice, instant string, ro table.ReadOptions, keys map[string]bool, f func(key string, row column.Row) error) error {
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
		if err := f(key, row.Row); err != nil {
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
func (r *changeReader) look(ctx context.Context, s *groupreader.Slice, instant string, ro table.ReadOptions, keys map[string]bool) (map[string]*image, error) {
	m := images{byKey: map[string]*image{}}
	if s == nil || s.Base == "" && len(s.Logs) == 0 {
		return m.byKey, nil
	}
	err := r.each(ctx, *s, instant, ro, keys, func(key string, row column.Row) error {
		if m.add(key, row); ro.LogBytes > 0 && m.bytes > ro.LogBytes {
			return fmt.Errorf("the images of the records that %s changed: %w", instant, groupreader.ErrLogBytes)
		}
		return nil
	})
	return m.byKey, err
}

// log compares the slice before a log file with the one that includes it.
func (r *changeReader) log(ctx context.Context, c *Change, ro table.ReadOptions, o changeSink) error {
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
		op := "u"
		switch {
		case b == nil && a == nil, bytes.Equal(b.json(), a.json()):
			continue
		case b == nil:
			op = "i"
		case a == nil:
			op = "d"
		}
		if err := o.add(op, c.Instant, k, b, a); err != nil {
			return err
		}
		if !o.flush(false) {
			return errStopped
		}
	}
	return nil
}

// logged reads change data logs, and looks up the images that they leave out.
func (r *changeReader) logged(ctx context.Context, c *Change, ro table.ReadOptions, o changeSink) error {
	type entry struct {
		op, key       string
		before, after *image
	}
	var list []entry
	keys := map[string]bool{}
	var held int64
	for _, file := range c.Files {
		err := r.blocks(ctx, file, func(b *column.Batch) error {
			ops, recs := b.Column("op"), b.Column("record_key")
			if ops == nil {
				return &corrupt.Error{File: file, Offset: corrupt.Unknown, Part: "change data record", Want: "a field op", Got: "none"}
			}
			before, after := b.Column("before"), b.Column("after")
			if held += b.Bytes() + 96*int64(b.Len); ro.LogBytes > 0 && held > ro.LogBytes {
				return fmt.Errorf("the change data of %s: %w", c.Instant, groupreader.ErrLogBytes)
			}
			for i := range b.Len {
				var e entry
				e.op, _ = ops.Text(i)
				switch e.op {
				case "i", "u", "d":
				default:
					return &corrupt.Error{File: file, Offset: corrupt.Unknown, Part: "op of a change data record", Want: "i, u or d", Got: strconv.Quote(e.op)}
				}
				if recs != nil {
					e.key, _ = recs.Text(i)
					keys[e.key] = true
				}
				e.before, e.after = loggedImage(before, i), loggedImage(after, i)
				list = append(list, e)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	var before, after map[string]*image
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
		if err := o.add(e.op, c.Instant, e.key, e.before, e.after); err != nil {
			return err
		}
		if !o.flush(false) {
			return errStopped
		}
	}
	return nil
}

// loggedImage is the image in slot i of a column of a change data log, nil for none.
func loggedImage(v *column.Vector, i int) *image {
	for v != nil && !v.IsNull(i) && v.Type.Kind == schema.Union {
		v = v.Children[v.Tags[i]]
	}
	if v == nil || v.IsNull(i) || v.Type.Kind != schema.Record {
		return nil
	}
	return &image{Row: column.Row{Batch: &column.Batch{Type: v.Type, Columns: v.Children, Len: v.Len}, Index: i}, logged: v}
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
