// Package groupreader reads one file slice: the base file and the log blocks that the scanner
// kept, merged to the rows that a snapshot sees, each with where it came from.
//
// The driver is that of spec record-merging.md section 1: log records are merged by key into a
// map, then the base file streams past it, and what is left in the map follows as inserts. Rows
// come in base-file order, then log records in order of first appearance.
package groupreader

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"strings"

	"hudiscope/core/basefile"
	"hudiscope/core/column"
	"hudiscope/core/corrupt"
	"hudiscope/core/logfile"
	"hudiscope/core/logscan"
	"hudiscope/core/merge"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
)

// Slice is a file slice to read.
type Slice struct {
	Partition, FileID, BaseInstant string
	// Base is the path of the base file, "" for a slice of logs only.
	Base string
	// Logs are the paths of the log files, in merge order.
	Logs []string
}

// Options say how to read slices; they are the same for all slices of a query.
type Options struct {
	// Open opens a file of the table.
	Open func(ctx context.Context, path string) (storage.Object, error)
	// Reader is the type of the rows; Want chooses columns (nil = all).
	Reader *schema.Type
	Want   func(field string) bool
	// KeyFields build the record key when the table has no meta fields; empty = _hoodie_record_key.
	KeyFields []string
	// Ordering are the ordering fields; Rules how versions are merged.
	Ordering []string
	Rules    merge.Rules
	// DeleteField and DeleteMarker flag rows as deleted by a column's value, "" = none.
	DeleteField, DeleteMarker string
	// Scan says which log blocks count.
	Scan logscan.Options
	// LogBytes bounds the decoded log records of a slice, in bytes (0 = no bound).
	LogBytes int64
	// Constants are columns that data files lack and that take one value for the whole slice
	// (partition columns from the path).
	Constants map[string]string
	// Progress, if set, is told of every block and base-file batch.
	Progress func(unit string, n int64)
}

// Origin says where a row came from.
type Origin uint8

// The origins of a row.
const (
	FromBase Origin = iota // the base file's row, untouched or the winner
	FromLog                // a log record that won over a base row
	Inserted               // a log record without a base row
)

// Row is one merged row, in a batch of the Reader type.
type Row struct {
	column.Row
	Origin Origin
}

// Stats are what reading a slice found out; complete once the sequence has ended.
type Stats struct {
	Scan *logscan.Result
	// MixedOrdering counts merges of ordering values whose Java classes do not compare.
	MixedOrdering int
	// BaseRows, Deleted and Updated count base rows, and those that the logs removed and replaced.
	BaseRows, Deleted, Updated int64
	// LogRecords counts the data and delete records merged.
	LogRecords int64
}

// ErrLogBytes says that the log records of a slice do not fit the memory bound.
var ErrLogBytes = errors.New("the log records of one file slice do not fit the memory bound")

// Rows reads a slice. The sequence is single-use and stops after the first error; stats may be nil.
func Rows(ctx context.Context, s Slice, o *Options, stats *Stats) iter.Seq2[Row, error] {
	if stats == nil {
		stats = new(Stats)
	}
	return func(yield func(Row, error) bool) {
		r := &reader{ctx: ctx, s: s, o: o, stats: stats}
		defer r.close()
		if err := r.logs(); err != nil {
			yield(Row{}, err)
			return
		}
		if s.Base != "" {
			more, err := r.base(yield)
			if err != nil {
				yield(Row{}, err)
				return
			}
			if !more {
				return
			}
		}
		for _, k := range r.order {
			if rec, ok := r.records[k]; ok && !rec.Delete {
				// A key may stand twice in the order when it was merged away and came again.
				delete(r.records, k)
				if !yield(Row{rec.Row, Inserted}, nil) {
					return
				}
			}
		}
	}
}

type reader struct {
	ctx   context.Context
	s     Slice
	o     *Options
	stats *Stats

	objects []storage.Object
	records map[string]*merge.Record
	order   []string
	bytes   int64
}

func (r *reader) close() {
	for _, o := range r.objects {
		o.Close()
	}
}

// need is the columns that merging itself reads, besides those asked for.
func (r *reader) need(field string) bool {
	if r.o.Want == nil || r.o.Want(field) {
		return true
	}
	if len(r.s.Logs) == 0 {
		return false
	}
	switch field {
	case schema.RecordKeyField:
		return len(r.o.KeyFields) == 0
	case deletedField, schema.OperationField, r.o.DeleteField:
		return true
	}
	for _, f := range r.o.KeyFields {
		if f == field {
			return true
		}
	}
	for _, f := range r.o.Ordering {
		top, _, _ := strings.Cut(f, ".")
		if top == field {
			return true
		}
	}
	return false
}

// deletedField flags a row as deleted when it is true.
const deletedField = "_hoodie_is_deleted"

func (r *reader) logs() error {
	if len(r.s.Logs) == 0 {
		return nil
	}
	r.records = map[string]*merge.Record{}
	files := make([]logscan.File, len(r.s.Logs))
	for i, file := range r.s.Logs {
		name, ok := logfile.ParseName(path.Base(file))
		if !ok {
			return &corrupt.Error{File: file, Offset: corrupt.Unknown, Part: "name of a log file"}
		}
		obj, err := r.o.Open(r.ctx, file)
		if err != nil {
			return err
		}
		r.objects = append(r.objects, obj)
		files[i] = logscan.File{Name: name, Reader: logfile.Open(obj, file)}
	}
	res, err := logscan.Scan(r.ctx, files, r.o.Scan)
	if err != nil {
		return err
	}
	r.stats.Scan = res
	if len(res.Damaged) > 0 {
		// Hudi fails on such a block too: leaving it out would show old values as if they were the latest.
		d := res.Damaged[0]
		if d.Block.Damage != nil {
			return d.Block.Damage
		}
		return &Unsupported{File: files[d.File].Reader.Path(), Offset: d.Block.Start, What: fateOf(res, d) + " Hudi fails on this block"}
	}
	for n, ref := range res.Blocks {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		f := files[ref.File].Reader
		if ref.Block.Type == logfile.DeleteBlock {
			err = r.deletes(f, ref.Block, n)
		} else {
			err = r.data(f, ref.Block, n)
		}
		if err != nil {
			return err
		}
		r.progress("blocks", 1)
	}
	return nil
}

// fateOf returns the sentence about a block.
func fateOf(res *logscan.Result, ref logscan.Ref) string {
	for i := range res.Fates {
		if res.Fates[i].Ref == ref {
			return res.Fates[i].Why
		}
	}
	return ""
}

func (r *reader) progress(unit string, n int64) {
	if r.o.Progress != nil {
		r.o.Progress(unit, n)
	}
}

func (r *reader) data(f *logfile.Reader, b *logfile.Block, n int) error {
	if b.IsPartial() {
		return &Unsupported{File: f.Path(), Offset: b.Start, What: "a block of partial updates", Try: "Merging partial updates is not supported yet; the block itself can be shown."}
	}
	raw, _, err := DataBlock(r.ctx, f, b, r.need)
	if err != nil {
		return err
	}
	batch, err := r.convert(raw, f.Path(), b.Start)
	if err != nil {
		return err
	}
	r.bytes += batch.Bytes()
	if r.o.LogBytes > 0 && r.bytes > r.o.LogBytes {
		return fmt.Errorf("partition %q, file group %s: %w (%d bytes)", r.s.Partition, r.s.FileID, ErrLogBytes, r.o.LogBytes)
	}
	k, err := newKeyer(batch, r.o, f.Path())
	if err != nil {
		return err
	}
	for i := range batch.Len {
		key, err := k.key(i)
		if err != nil {
			return err
		}
		rec := merge.Record{Row: column.Row{Batch: batch, Index: i}, Ord: k.ordering(i), Delete: k.deleted(i), Block: n, Index: i}
		r.put(key, &rec)
	}
	r.stats.LogRecords += int64(batch.Len)
	return nil
}

func (r *reader) deletes(f *logfile.Reader, b *logfile.Block, n int) error {
	_, list, err := Deletes(r.ctx, f, b)
	if err != nil {
		return err
	}
	for i := range list {
		d := &list[i]
		r.put([]byte(d.Key), &merge.Record{Ord: ordering(d.Ordering), Delete: true, Block: n, Index: i})
	}
	r.stats.LogRecords += int64(len(list))
	r.bytes += int64(len(list)) * 128
	return nil
}

// put merges a log record into the map.
func (r *reader) put(key []byte, rec *merge.Record) {
	old, ok := r.records[string(key)]
	if !ok {
		k := string(key)
		r.records[k] = rec
		r.order = append(r.order, k)
		return
	}
	d := r.o.Rules.Delta(old, rec)
	if d.Mixed {
		r.stats.MixedOrdering++
	}
	if d.New {
		*old = *rec
	}
}

func (r *reader) base(yield func(Row, error) bool) (more bool, err error) {
	obj, err := r.o.Open(r.ctx, r.s.Base)
	if err != nil {
		return false, err
	}
	defer obj.Close()
	f, err := basefile.Open(r.ctx, obj, r.s.Base)
	if err != nil {
		return false, err
	}
	for raw, err := range f.Batches(r.ctx, r.need) {
		if err != nil {
			return false, err
		}
		batch, err := r.convert(raw, r.s.Base, -1)
		if err != nil {
			return false, err
		}
		r.stats.BaseRows += int64(batch.Len)
		var k *keyer
		if len(r.records) > 0 {
			if k, err = newKeyer(batch, r.o, r.s.Base); err != nil {
				return false, err
			}
		}
		for i := range batch.Len {
			row := Row{column.Row{Batch: batch, Index: i}, FromBase}
			if k != nil {
				keep, err := r.final(k, i, &row)
				if err != nil {
					return false, err
				}
				if !keep {
					continue
				}
			}
			if !yield(row, nil) {
				return false, nil
			}
		}
		r.progress("records", int64(batch.Len))
	}
	return true, nil
}

// final merges a base row with the log record of its key, if there is one.
func (r *reader) final(k *keyer, i int, row *Row) (keep bool, err error) {
	key, err := k.key(i)
	if err != nil {
		return false, err
	}
	rec, ok := r.records[string(key)]
	if !ok {
		return true, nil
	}
	delete(r.records, string(key))
	d := r.o.Rules.Final(k.ordering(i), rec)
	if d.Mixed {
		r.stats.MixedOrdering++
	}
	if !d.New {
		return true, nil
	}
	if rec.Delete {
		r.stats.Deleted++
		return false, nil
	}
	r.stats.Updated++
	*row = Row{rec.Row, FromLog}
	return true, nil
}

// convert brings a batch to the reader's type.
func (r *reader) convert(raw *column.Batch, file string, offset int64) (*column.Batch, error) {
	out, err := column.ConvertBatch(raw, r.o.Reader, r.need)
	if err != nil {
		where := file
		if offset >= 0 {
			where = fmt.Sprintf("%s, block at byte %d", file, offset)
		}
		return nil, fmt.Errorf("%s: the data does not fit the table schema: %w", where, err)
	}
	for name, value := range r.o.Constants {
		if i := r.o.Reader.FieldIndex(name); i >= 0 && out.Columns[i] != nil && raw.Type.FieldIndex(name) < 0 {
			c, err := constant(r.o.Reader.Fields[i].Type, value, out.Len)
			if err != nil {
				return nil, fmt.Errorf("partition column %s: %w", name, err)
			}
			out.Columns[i] = c
		}
	}
	return out, nil
}

// constant is a column of one value, given as the text of a partition path.
func constant(t *schema.Type, value string, n int) (*column.Vector, error) {
	if t.Kind == schema.String {
		return column.Constant(t, value, n), nil
	}
	one, err := column.ParseText(t, value)
	if err != nil {
		return nil, err
	}
	v := column.New(t, n)
	for range n {
		v.AppendFrom(one, 0)
	}
	return v, nil
}

// keyer reads key, ordering value and delete flag of the rows of one batch.
type keyer struct {
	keys     []*column.Vector
	names    []string
	meta     bool
	order    []fieldPath
	deletedC *column.Vector
	opC      *column.Vector
	markC    *column.Vector
	marker   string
	file     string
	buf      []byte
}

// fieldPath is an ordering field: a top-level column and the record fields below it.
type fieldPath []*column.Vector

func newKeyer(b *column.Batch, o *Options, file string) (*keyer, error) {
	k := &keyer{file: file, marker: o.DeleteMarker}
	if len(o.KeyFields) == 0 {
		c := b.Column(schema.RecordKeyField)
		if c == nil {
			return nil, fmt.Errorf("%s: there is no column %s to merge by", file, schema.RecordKeyField)
		}
		k.keys, k.meta = []*column.Vector{c}, true
	} else {
		for _, f := range o.KeyFields {
			c := resolve(b, f)
			if c == nil {
				return nil, fmt.Errorf("%s: the record key field %s is not in the data", file, f)
			}
			k.keys = append(k.keys, c[len(c)-1])
			k.names = append(k.names, f)
		}
	}
	for _, f := range o.Ordering {
		k.order = append(k.order, resolve(b, f))
	}
	k.deletedC = b.Column(deletedField)
	if k.deletedC != nil && k.deletedC.Type.Kind != schema.Boolean {
		k.deletedC = nil
	}
	k.opC = b.Column(schema.OperationField)
	if o.DeleteField != "" && o.DeleteMarker != "" {
		k.markC = b.Column(o.DeleteField)
	}
	return k, nil
}

// resolve finds a (dotted) field; nil when it is not there.
func resolve(b *column.Batch, field string) fieldPath {
	top, rest, nested := strings.Cut(field, ".")
	c := b.Column(top)
	if c == nil {
		return nil
	}
	p := fieldPath{c}
	for nested {
		if c.Type.Kind != schema.Record {
			return nil
		}
		top, rest, nested = strings.Cut(rest, ".")
		i := c.Type.FieldIndex(top)
		if i < 0 {
			return nil
		}
		c = c.Children[i]
		p = append(p, c)
	}
	return p
}

// key returns the record key of row i. The bytes are valid until the next call.
func (k *keyer) key(i int) ([]byte, error) {
	if k.meta {
		c := k.keys[0]
		if c.IsNull(i) {
			return nil, fmt.Errorf("%s: row %d has no record key", k.file, i)
		}
		return c.BytesAt(i), nil
	}
	k.buf = k.buf[:0]
	for n, c := range k.keys {
		if len(k.keys) > 1 {
			if n > 0 {
				k.buf = append(k.buf, ',')
			}
			k.buf = append(append(k.buf, k.names[n]...), ':')
		}
		switch {
		case c.IsNull(i) && len(k.keys) == 1:
			return nil, fmt.Errorf("%s: row %d has a null in its record key field %s", k.file, i, k.names[n])
		case c.IsNull(i):
			k.buf = append(k.buf, "__null__"...)
		default:
			before := len(k.buf)
			k.buf = column.AppendPlain(k.buf, c, i)
			if len(k.buf) == before && len(k.keys) > 1 {
				k.buf = append(k.buf, "__empty__"...)
			}
		}
	}
	return k.buf, nil
}

// ordering returns the ordering value of row i.
func (k *keyer) ordering(i int) merge.Ordering {
	switch len(k.order) {
	case 0:
		return merge.Ordering{}
	case 1:
		return k.order[0].value(i)
	}
	o := merge.Ordering{Class: merge.Tuple}
	for _, p := range k.order {
		o.Tuple = append(o.Tuple, p.value(i))
	}
	return o
}

func (p fieldPath) value(i int) merge.Ordering {
	for _, c := range p {
		if c.IsNull(i) {
			return merge.Ordering{}
		}
	}
	if len(p) == 0 {
		return merge.Ordering{}
	}
	return merge.FromColumn(p[len(p)-1], i)
}

// deleted reports whether row i is a delete by its own values (spec record-merging.md section 5).
func (k *keyer) deleted(i int) bool {
	if k.deletedC != nil && !k.deletedC.IsNull(i) && k.deletedC.Bools[i] {
		return true
	}
	if k.opC != nil {
		if op, ok := k.opC.Text(i); ok && (op == "D" || op == "-U") {
			return true
		}
	}
	return k.markC != nil && !k.markC.IsNull(i) && string(column.AppendPlain(nil, k.markC, i)) == k.marker
}
