// Package groupreader reads one file slice: the base file and the log blocks that the scanner
// kept, merged to the rows that a snapshot sees, each with where it came from.
//
// The driver is that of spec record-merging.md section 1: log records are merged by key into a
// map, then the base file streams past it, and what is left in the map follows as inserts. Rows
// come in base-file order, then log records in order of first appearance. Where the map does not
// fit its memory budget it goes to a store in partitions (see join): the rows are the same, those
// that no log record touches come first, in base-file order, and the others partition by
// partition.
package groupreader

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"hudiscope/core/column"
	"hudiscope/core/corrupt"
	"hudiscope/core/evolve"
	"hudiscope/core/logfile"
	"hudiscope/core/logscan"
	"hudiscope/core/merge"
	"hudiscope/core/predicate"
	"hudiscope/core/release"
	"hudiscope/core/schema"
	"hudiscope/core/spill"
	"hudiscope/core/storage"
)

// Slice is a file slice to read.
type Slice struct {
	Partition, FileID, BaseInstant string
	// Base is the path of the base file, "" for a slice of logs only.
	Base string
	// Source is the absolute place of the source file whose rows a skeleton base file belongs to, as the
	// bootstrap index has it; "" for ordinary base files.
	Source string
	// Logs are the paths of the log files, in merge order.
	Logs []string
	// Bytes and LogBytes are the sizes of all files and of the log files, as far as they are known.
	Bytes, LogBytes int64
}

// Options say how to read slices; they are the same for all slices of a query.
type Options struct {
	// Open opens a file of the table.
	Open func(ctx context.Context, path string) (storage.Object, error)
	// Base opens the base file of a slice; nil where all are plain Parquet files.
	Base func(ctx context.Context, s Slice) (BaseFile, error)
	// Evolve returns how the rows of files that an instant wrote are given the names of Reader's
	// columns, nil where they have them; a nil Evolve is the same for all instants.
	Evolve func(ctx context.Context, instant string) (*evolve.Mapping, error)
	// Reader is the type of the rows; Want chooses columns (nil = all).
	Reader *schema.Type
	Want   func(field string) bool
	// Where is a condition bound to Reader, nil for none. Row groups of Parquet base files without logs in which no
	// row can meet it are not read; rows that do not meet it may come all the same.
	Where *predicate.Bound
	// KeyFields build the record key when the table has no meta fields; empty = _hoodie_record_key.
	KeyFields []string
	// MetaFields is true when every row has the five meta columns. KeyField is the field whose value is the record key
	// then, "" when the key is made in another way. Where a file is otherwise it is told of in Stats.Notes.
	MetaFields bool
	KeyField   string
	// Written returns the schema that the metadata of the commit of an instant has, nil when it is not known. It is asked
	// where a file has other columns than Reader.
	Written func(ctx context.Context, instant string) (*schema.Type, error)
	// Ordering are the ordering fields; Rules how versions are merged.
	Ordering []string
	Rules    merge.Rules
	// Release is whose reader is followed where releases differ.
	Release release.Rules
	// SkipMerge shows base rows and log rows side by side instead of merging them.
	SkipMerge bool
	// ByPosition matches log records with base rows by row position where the log blocks have
	// positions, instead of by key. The rows are the same.
	ByPosition bool
	// Observe, if set, is told of every merge step before it is applied; it must not keep the step.
	Observe func(Step)
	// DeleteField and DeleteMarker flag rows as deleted by a column's value, "" = none.
	DeleteField, DeleteMarker string
	// BaseRows, if set, chooses the base rows that take part in the read; the others are passed over as if
	// the file did not have them.
	BaseRows func(b *column.Batch, i int) bool
	// Scan says which log blocks count.
	Scan logscan.Options
	// LogBytes bounds the decoded log records of a slice, in bytes (0 = no bound), where there is no
	// Spill: more are an error.
	LogBytes int64
	// Spill opens a store for the log records of a slice that do not fit MergeBytes bytes of memory;
	// without it, or with MergeBytes 0, they stay in memory. Merging takes MergeBytes and a constant
	// beside: the part of a block that is being decoded (at most 8 MiB of it, or one record that is
	// larger; all of it where it is a delete block or an HFile), a batch of the base file, and 320 KiB.
	Spill      spill.Open
	MergeBytes int64
	// Constants are columns that data files lack and that take one value for the whole slice
	// (partition columns from the path).
	Constants map[string]string
	// Shown are columns shown with another type than that of Reader, which is what merging sees.
	Shown *schema.Type
	// ShownValues are the columns of Shown that take one value for the whole slice.
	ShownValues map[string]string
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
	Combined               // made of a base row and a log record
)

// Row is one merged row, in a batch of the Reader type (of Shown where that is set).
type Row struct {
	column.Row
	Origin Origin
	// Block is the log block that the row is from, as its position in Stats.Scan.Blocks, or
	// merge.InBase; Record is its number in the block, or in the base file. Of a row made of several
	// versions they are those of the newest.
	Block, Record int32
}

// Step is one merge step, for those who want to know why a row is as it is.
type Step struct {
	Key []byte
	// Final is false among log records. Decision.Older is nil for the first version of a key.
	Final    bool
	Decision merge.Decision
}

// Stats are what reading a slice found out; complete once the sequence has ended.
type Stats struct {
	Scan *logscan.Result
	// CorruptFile and CorruptOffset are the log file and the byte at which the first corrupt block in merge order
	// begins; "" when there is none.
	CorruptFile   string
	CorruptOffset int64
	// MixedOrdering counts merges of ordering values whose Java classes do not compare.
	MixedOrdering int
	// BaseRows, Deleted and Updated count base rows, and those that the logs removed and replaced.
	BaseRows, Deleted, Updated int64
	// RowGroups counts the row groups that were held against Options.Where, RowGroupsSkipped those among them that
	// were not read; both are 0 where there was nothing to decide.
	RowGroups, RowGroupsSkipped int
	// LogRecords counts the data and delete records merged.
	LogRecords int64
	// SpilledBytes is how much was written to Options.Spill, more than once where it was divided again.
	SpilledBytes int64
	// Positions counts the blocks matched by row position; PositionsOff says why the others were not.
	Positions    int
	PositionsOff string
	// Notes are remarks on the rows, in sentences: where they are not what the release itself would show.
	Notes []string
	// Failures are what was met that some releases fail on, Partials is true when blocks of partial updates
	// were.
	Failures []release.FailureID
	Partials bool
}

func (s *Stats) met(id release.FailureID) {
	if !slices.Contains(s.Failures, id) {
		s.Failures = append(s.Failures, id)
	}
}

// maxNotes bounds the remarks on the rows of a slice: a log made of many small blocks may deserve one for each.
const maxNotes = 100

func (s *Stats) note(format string, args ...any) {
	if len(s.Notes) > maxNotes {
		return
	}
	n := fmt.Sprintf(format, args...)
	if slices.Contains(s.Notes, n) {
		return
	}
	if len(s.Notes) == maxNotes {
		n = fmt.Sprintf("There is more to say of this file slice than these %d remarks.", maxNotes)
	}
	s.Notes = append(s.Notes, n)
}

// FallbackOption is the read option that chooses another merge rule where the table's own can't be followed.
const FallbackOption = "hudiscope.merge.fallback"

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
		if o.Shown != nil || o.Want != nil && len(s.Logs) > 0 {
			yield = r.show(yield)
		}
		if _, err := r.run(yield); err != nil {
			yield(Row{}, err)
		}
	}
}

type reader struct {
	ctx   context.Context
	s     Slice
	o     *Options
	stats *Stats

	objects []storage.Object
	files   []logscan.File
	// content is memory for the content of blocks, until the logs have been read.
	content []byte
	join    *join
	// codec writes rows to store, which is nil until it is needed; segments is how many it has.
	codec    codec
	store    spill.Store
	segments uint32
	// positions is the map of records by row position, nil when merging is by key.
	positions map[uint64]*entry
	// merges is false while rows pass without being merged.
	merges bool
	// partials is set once a block of partial updates was seen; unknown counts rows that only such
	// blocks have.
	partials bool
	unknown  int
	// foreign are the files that tell has told of; fitting is the schema of a block that fits.
	foreign map[string]bool
	fitting string
	// showing is what show has made of the batches of log records.
	showing map[*column.Batch]shownBatch
	// extra are columns that merging reads, fields that a combined row's ordering value is read from.
	extra   map[string]bool
	orderOf struct {
		batch *column.Batch
		keyer *keyer
	}
}

func (r *reader) close() {
	for _, o := range r.objects {
		o.Close()
	}
	if r.store != nil {
		// All rows have been read, or reading has failed: there is nothing to tell of it.
		_ = r.store.Close()
	}
}

// run yields the rows; more is false when the consumer has stopped.
func (r *reader) run(yield func(Row, error) bool) (more bool, err error) {
	unmerged := r.o.SkipMerge && !r.o.Release.SkipMergesLogs
	r.merges = len(r.s.Logs) > 0 && !unmerged
	if len(r.s.Logs) > 0 {
		r.prepare()
		if err := r.scan(); err != nil {
			return false, err
		}
		if !unmerged {
			if err := r.logs(); err != nil {
				return false, err
			}
		}
	}
	if r.s.Base != "" {
		if more, err := r.base(yield); err != nil || !more {
			return false, err
		}
	}
	if unmerged {
		return r.unmerged(yield)
	}
	if r.join == nil {
		return true, nil
	}
	if more, err := r.join.rest(yield); err != nil || !more {
		return false, err
	}
	if r.unknown > 0 {
		r.stats.note("%d rows come from partial updates of records that the base file does not have: their other columns are not known and are shown as null.", r.unknown)
	}
	return true, nil
}

// shownBatch is a batch as rows are shown, made when it had n rows.
type shownBatch struct {
	n     int
	batch *column.Batch
}

// forgetShown lets go of the batches of log records.
func (r *reader) forgetShown() { clear(r.showing) }

// show passes rows on with the columns that were asked for, without those that only merging
// needs, and with the types of Options.Shown.
func (r *reader) show(yield func(Row, error) bool) func(Row, error) bool {
	// A batch of combined rows grows after its first rows have been passed on.
	r.showing = map[*column.Batch]shownBatch{}
	var base *column.Batch
	return func(row Row, err error) bool {
		if err != nil {
			return yield(row, err)
		}
		if r.o.Shown != nil && r.store != nil && row.Origin != FromBase {
			// Rows of a partition lie in batches in no order: one of each is made, not of all their batch.
			one := r.codec.newBatch(r.codec.layoutOf(row.Batch))
			appendRow(one, row.Row)
			if row.Batch, err = r.shown(one); err != nil {
				return yield(Row{}, err)
			}
			row.Index = 0
			return yield(row, nil)
		}
		s := r.showing[row.Batch]
		if s.batch == nil || s.n != row.Batch.Len {
			if s.batch, err = r.shown(row.Batch); err != nil {
				return yield(Row{}, err)
			}
			if s.n = row.Batch.Len; row.Origin == FromBase {
				delete(r.showing, base)
				base = row.Batch
			}
			r.showing[row.Batch] = s
		}
		row.Batch = s.batch
		return yield(row, nil)
	}
}

// shown returns a batch as rows are shown.
func (r *reader) shown(b *column.Batch) (*column.Batch, error) {
	want := func(i int) bool {
		return b.Columns[i] != nil && (r.o.Want == nil || r.o.Want(b.Type.Fields[i].Name))
	}
	if r.o.Shown == nil {
		out := &column.Batch{Type: b.Type, Len: b.Len, Columns: make([]*column.Vector, len(b.Columns))}
		for i, c := range b.Columns {
			if want(i) {
				out.Columns[i] = c
			}
		}
		return out, nil
	}
	out, err := column.ConvertBatch(b, r.o.Shown, func(field string) bool {
		i := b.Type.FieldIndex(field)
		return i >= 0 && want(i)
	})
	if err != nil {
		return nil, err
	}
	for name, value := range r.o.ShownValues {
		if i := r.o.Shown.FieldIndex(name); i >= 0 && out.Columns[i] != nil {
			out.Columns[i] = column.Constant(r.o.Shown.Fields[i].Type, value, b.Len)
		}
	}
	return out, nil
}

// prepare makes what merging needs.
func (r *reader) prepare() {
	r.codec.typ = r.o.Reader
	r.join = r.newJoin(0)
	r.extra = map[string]bool{deletedField: true, schema.OperationField: true, schema.RecordKeyField: len(r.o.KeyFields) == 0}
	for _, list := range [][]string{r.o.KeyFields, r.o.Ordering, r.o.Rules.Fields(), {r.o.DeleteField}} {
		for _, f := range list {
			top, _, _ := strings.Cut(f, ".")
			r.extra[top] = true
		}
	}
	if r.o.ByPosition && r.s.Base != "" && !r.o.SkipMerge {
		r.positions = map[uint64]*entry{}
	}
}

// rowOrdering reads the ordering value of a combined row.
func (r *reader) rowOrdering(row column.Row) (o merge.Ordering) {
	if r.orderOf.batch != row.Batch {
		k := &keyer{}
		for _, f := range r.o.Ordering {
			k.order = append(k.order, resolve(row.Batch, f))
		}
		r.orderOf.batch, r.orderOf.keyer = row.Batch, k
	}
	r.orderOf.keyer.ordering(row.Index, &o)
	return o
}

// unmerged yields the rows of all data blocks as they are (spec record-merging.md section 7).
func (r *reader) unmerged(yield func(Row, error) bool) (more bool, err error) {
	if r.stats.Scan == nil {
		return true, nil
	}
	for n, ref := range r.stats.Scan.Blocks {
		if err := r.ctx.Err(); err != nil {
			return false, err
		}
		if ref.Block.Type == logfile.DeleteBlock {
			continue
		}
		f := r.files[ref.File].Reader
		for p, err := range r.parts(f, ref.Block) {
			if err != nil {
				return false, err
			}
			for i := range p.batch.Len {
				if !yield(Row{column.Row{Batch: p.batch, Index: i}, Inserted, int32(n), int32(p.first + i)}, nil) {
					return false, nil
				}
			}
			r.stats.LogRecords += int64(p.batch.Len)
			r.forgetShown()
		}
		r.progress("blocks", 1)
	}
	return true, nil
}

func (r *reader) observe(key []byte, final bool, d merge.Decision) {
	if r.o.Observe != nil {
		r.o.Observe(Step{Key: key, Final: final, Decision: d})
	}
}

// need is the columns that merging itself reads, besides those asked for.
func (r *reader) need(field string) bool {
	return r.o.Want == nil || r.o.Want(field) || r.extra[field]
}

// scan finds out which log blocks count.
func (r *reader) scan() error {
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
	r.stats.Scan, r.files = res, files
	if i := slices.IndexFunc(res.Fates, func(f logscan.Fate) bool { return f.Outcome == logscan.Corrupt }); i >= 0 {
		r.stats.CorruptFile, r.stats.CorruptOffset = files[res.Fates[i].File].Reader.Path(), res.Fates[i].Block.Start
	}
	r.inOrder(res)
	if len(res.Damaged) > 0 {
		// Hudi fails on such a block too: leaving it out would show old values as if they were the latest.
		d := res.Damaged[0]
		if d.Block.Damage != nil {
			return d.Block.Damage
		}
		return &Unsupported{File: files[d.File].Reader.Path(), Offset: d.Block.Start, What: fateOf(res, d) + " Hudi fails on this block"}
	}
	return nil
}

// logs merges the log records among themselves.
func (r *reader) logs() (err error) {
	for _, ref := range r.stats.Scan.Blocks {
		r.join.come += ref.Block.ContentSize
	}
	before := int64(0)
	for n, ref := range r.stats.Scan.Blocks {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		f := r.files[ref.File].Reader
		var at []uint64
		if r.positions != nil {
			if at, err = r.blockPositions(f, ref.Block); err != nil {
				return err
			}
		}
		if ref.Block.Type == logfile.DeleteBlock {
			err = r.deletes(f, ref.Block, n, at)
		} else {
			err = r.data(f, ref.Block, n, at)
		}
		if err != nil {
			return err
		}
		before += ref.Block.ContentSize
		r.join.taken = before
		r.progress("blocks", 1)
	}
	r.content = nil
	return r.join.finish()
}

// blockPositions returns the row positions of a block's records (spec record-merging.md section 8).
// The first block without usable ones ends merging by position: what was merged so far is entered by key.
func (r *reader) blockPositions(f *logfile.Reader, b *logfile.Block) ([]uint64, error) {
	off := ""
	text, ok := b.Header.Get(logfile.RecordPositions)
	instant, _ := b.Header.Get(logfile.BaseFileInstant)
	switch {
	case !ok:
		off = "has no record positions"
	case instant != r.s.BaseInstant:
		off = fmt.Sprintf("has positions in the base file of %s, this one is of %s", instant, r.s.BaseInstant)
	default:
		at, err := logfile.DecodePositions(text)
		if err != nil {
			return nil, corrupt.InFile(err, f.Path())
		}
		if len(at) > 0 {
			r.stats.Positions++
			return at, nil
		}
		off = "has an empty list of positions"
	}
	r.stats.PositionsOff = fmt.Sprintf("The block at byte %d of %s %s: from there on records are matched by key.", b.Start, f.Path(), off)
	r.positions = nil
	if r.budget() > 0 && r.join.used() > r.join.limit/2 {
		// There is no room for a second map beside the first.
		return nil, r.join.spill()
	}
	old := r.join.records
	r.join.records = newRecords()
	for i := range old.n {
		e := old.at(i)
		if err := r.join.put(e.key, &e.Record, false); err != nil {
			return nil, err
		}
	}
	return nil, nil
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

func (r *reader) data(f *logfile.Reader, b *logfile.Block, n int, at []uint64) error {
	total := 0
	for p, err := range r.parts(f, b) {
		if err != nil {
			return err
		}
		if p.has != nil && !r.partials {
			r.partials, r.stats.Partials = true, true
			if err := r.join.partialUpdates(); err != nil {
				return &Unsupported{File: f.Path(), Offset: b.Start, What: err.Error(), Try: "The block itself can be shown; a merge fallback (" + FallbackOption + ") shows the rows by another rule."}
			}
		}
		r.join.retained += p.batch.Bytes()
		r.join.taken += p.bytes
		k, err := newKeyer(p.batch, r.o, f.Path(), b.Start)
		if err != nil {
			return err
		}
		total += p.batch.Len
		if at != nil && len(at) < total {
			break
		}
		var rec merge.Record
		for i := range p.batch.Len {
			key, err := k.key(i)
			if err != nil {
				return err
			}
			rec = merge.Record{Row: column.Row{Batch: p.batch, Index: i}, Delete: k.deleted(i), Partial: p.has, Block: int32(n), Index: int32(p.first + i)}
			k.ordering(i, &rec.Ord)
			if r.positions != nil {
				r.putAt(at[p.first+i], key, &rec, false)
			} else if err := r.join.put(key, &rec, false); err != nil {
				return err
			}
		}
		r.stats.LogRecords += int64(p.batch.Len)
		if err := r.check(); err != nil {
			return err
		}
	}
	if at != nil && len(at) != total {
		return badPositions(f, b, len(at), total)
	}
	return nil
}

// check keeps the merged records within their budget.
func (r *reader) check() error {
	if err := r.join.check(); err != nil {
		return err
	}
	if r.positions != nil && r.join.parts != nil {
		r.positions = nil
		r.stats.PositionsOff = "The log records do not fit their memory budget: they are matched by key."
	}
	return nil
}

func badPositions(f *logfile.Reader, b *logfile.Block, positions, records int) error {
	return &corrupt.Error{File: f.Path(), Offset: b.Start, Part: "RECORD_POSITIONS", Want: fmt.Sprintf("one for each of %d records", records), Got: fmt.Sprint(positions),
		Try: "Read without hoodie.merge.use.record.positions: records are then matched by key."}
}

func (r *reader) deletes(f *logfile.Reader, b *logfile.Block, n int, at []uint64) error {
	_, list, err := Deletes(r.ctx, f, b)
	if err != nil {
		return err
	}
	if at != nil && len(at) != len(list) {
		return badPositions(f, b, len(at), len(list))
	}
	if len(list) > 0 && list[0].Partition != nil && *list[0].Partition != r.s.Partition {
		r.stats.note("the block at byte %d of %s lies in the partition %q, and its first delete is of the partition %q: the file has the content of another one.", b.Start, f.Path(), r.s.Partition, *list[0].Partition)
	}
	for i := range list {
		d := &list[i]
		rec := merge.Record{Ord: r.deleteOrdering(d.Ordering), Delete: true, Block: int32(n), Index: int32(i)}
		if r.positions != nil {
			// In commit time ordering Hudi stores a delete by position without a look at what is there.
			r.putAt(at[i], []byte(d.Key), &rec, r.o.Rules.Mode == merge.CommitTime)
		} else {
			if err := r.join.put([]byte(d.Key), &rec, false); err != nil {
				return err
			}
		}
		if i%checkDeletes == checkDeletes-1 {
			if err := r.check(); err != nil {
				return err
			}
		}
	}
	r.stats.LogRecords += int64(len(list))
	return r.check()
}

// checkDeletes is after how many entries of a delete block the budget is looked at.
const checkDeletes = 1024

// deleteOrdering returns the ordering value of a delete in the class that the ordering fields
// have in rows: a plain number stands for a date or time where the field is one.
func (r *reader) deleteOrdering(v logfile.Ordering) merge.Ordering {
	o := ordering(v)
	switch {
	case o.Class == merge.Tuple && len(o.Tuple) == len(r.o.Ordering):
		for i := range o.Tuple {
			r.classify(&o.Tuple[i], r.o.Ordering[i])
		}
	case len(r.o.Ordering) == 1:
		r.classify(&o, r.o.Ordering[0])
	}
	return o
}

func (r *reader) classify(o *merge.Ordering, field string) {
	if o.IsDefault() || o.Class != merge.Integer && o.Class != merge.Long {
		return
	}
	t := r.o.Reader
	for name := range strings.SplitSeq(field, ".") {
		i := -1
		if t.Kind == schema.Record {
			i = t.FieldIndex(name)
		}
		if i < 0 {
			return
		}
		t = t.Fields[i].Type
	}
	if t.Logical == schema.None || t.Kind != schema.Int && t.Kind != schema.Long {
		return
	}
	one := column.New(t, 1)
	one.AppendInt(o.Int)
	*o = merge.Ordering{}
	merge.FromColumn(one, 0, o)
}

// putAt merges a log record into the map by its position in the base file.
func (r *reader) putAt(pos uint64, key []byte, rec *merge.Record, always bool) {
	e := r.positions[pos]
	if e == nil {
		e = r.join.records.add(key, r.join.records.hash(key))
		e.Record = *rec
		r.positions[pos] = e
		r.join.first(e)
		return
	}
	if always {
		e.Record = *rec
		return
	}
	r.join.delta(e, rec)
}

// mixed notes a merge of ordering values that do not compare.
func (r *reader) mixed(d *merge.Decision) {
	if d.Older.Delete && d.Older.Ord.IsDefault() {
		r.stats.met(release.DefaultDelete)
		return
	}
	r.stats.MixedOrdering++
}

func (r *reader) base(yield func(Row, error) bool) (more bool, err error) {
	f, err := r.openBase()
	if err != nil {
		return false, err
	}
	defer f.Close()
	merges := r.merges && !r.o.SkipMerge && !r.join.empty()
	for raw, err := range r.baseBatches(f, r.need) {
		if err != nil {
			return false, err
		}
		first := raw.first
		if first == 0 {
			r.fitsBase(f, raw.Batch)
		}
		batch, err := r.convert(raw.Batch, r.s.Base, -1, nil)
		if err != nil {
			return false, err
		}
		r.stats.BaseRows += int64(batch.Len)
		var k *keyer
		if merges {
			if k, err = newKeyer(batch, r.o, r.s.Base, corrupt.Unknown); err != nil {
				return false, err
			}
		}
		var row Row
		for i := range batch.Len {
			if r.o.BaseRows != nil && !r.o.BaseRows(batch, i) {
				continue
			}
			row = Row{column.Row{Batch: batch, Index: i}, FromBase, merge.InBase, int32(first) + int32(i)}
			if k != nil {
				keep, err := r.final(k, i, uint64(first)+uint64(i), &row)
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

// final merges a base row with the log record of its key or position, if there is one. A row whose
// log records are in a store follows them there.
func (r *reader) final(k *keyer, i int, pos uint64, row *Row) (keep bool, err error) {
	j := r.join
	base := &j.base
	if r.positions != nil {
		e := r.positions[pos]
		if e == nil || e.done {
			return true, nil
		}
		*base = merge.Record{Row: row.Row, Block: merge.InBase, Index: row.Record}
		k.ordering(i, &base.Ord)
		return j.final(e, base, row), nil
	}
	key, err := k.key(i)
	if err != nil {
		return false, err
	}
	if j.parts != nil {
		if !j.keys.has(key) {
			return true, nil
		}
		*base = merge.Record{Row: row.Row, Block: merge.InBase, Index: row.Record}
		k.ordering(i, &base.Ord)
		return false, j.parts.base(key, base)
	}
	e := j.records.find(key, j.records.hash(key))
	if e == nil || e.done {
		return true, nil
	}
	*base = merge.Record{Row: row.Row, Block: merge.InBase, Index: row.Record}
	k.ordering(i, &base.Ord)
	return j.final(e, base, row), nil
}

// convert brings a batch to the reader's type.
func (r *reader) convert(raw *column.Batch, file string, offset int64, has *merge.Presence) (*column.Batch, error) {
	need := r.need
	if has != nil {
		// What a partial update does not have is no error, whatever the schema says.
		need = func(field string) bool { return r.need(field) && has.Has[r.o.Reader.FieldIndex(field)] }
	}
	r.belongs(raw, file, offset)
	out, err := column.ConvertBatch(raw, r.o.Reader, need)
	if err != nil {
		return nil, &Unsupported{File: file, Offset: offset, What: "the data does not fit the table schema: " + err.Error(),
			Try: "The schema comes from the newest completed commit; see whether an instant is missing or the file is another table's."}
	}
	if has != nil {
		for i := range out.Columns {
			if f := &r.o.Reader.Fields[i]; out.Columns[i] == nil && r.need(f.Name) {
				out.Columns[i] = column.Nulls(f.Type, out.Len)
			}
		}
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
