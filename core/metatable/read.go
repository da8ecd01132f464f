package metatable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"hudiscope/core/avro"
	"hudiscope/core/column"
	"hudiscope/core/corrupt"
	"hudiscope/core/filegroup"
	"hudiscope/core/hfile"
	"hudiscope/core/logfile"
	"hudiscope/core/logscan"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
)

// Stats count what a read did.
type Stats struct {
	// Groups, Blocks and LogRecords are the file groups read, the log blocks merged, and their records
	// that were decoded.
	Groups, Blocks int
	LogRecords     int64
	// Notes say in sentences which log blocks were left out and why.
	Notes []string
}

// maxNotes bounds Stats.Notes.
const maxNotes = 20

func (s *Stats) note(text string) {
	if len(s.Notes) < maxNotes {
		s.Notes = append(s.Notes, text)
	}
}

// selection is which keys of a file group are read: those of a sorted list, those with a prefix, or
// those from a key on. A nil list and empty texts mean all.
type selection struct {
	keys   [][]byte
	prefix []byte
	from   []byte
}

func (s *selection) whole() bool { return s.keys == nil && s.prefix == nil && s.from == nil }

func (s *selection) has(key []byte) bool {
	switch {
	case s.keys != nil:
		_, ok := slices.BinarySearchFunc(s.keys, key, bytes.Compare)
		return ok
	case s.prefix != nil:
		return bytes.HasPrefix(key, s.prefix)
	}
	return bytes.Compare(key, s.from) >= 0
}

// cells reads the selected cells of an HFile.
func (s *selection) cells(ctx context.Context, f *hfile.File) iter.Seq2[hfile.Cell, error] {
	switch {
	case s.keys != nil:
		return f.GetMany(ctx, s.keys)
	case s.prefix != nil:
		return f.Prefix(ctx, s.prefix)
	case s.from != nil:
		return f.ScanFrom(ctx, s.from)
	}
	return f.Scan(ctx)
}

// Scan iterates over all records of a partition that are not deleted: file group by file group, in
// key order within each. The sequence is single-use and stops after the first error; stats may be nil.
func (t *Table) Scan(ctx context.Context, partition string, stats *Stats) iter.Seq2[*Record, error] {
	return t.read(ctx, partition, stats, func(groups []*filegroup.Slice) ([]part, error) {
		var out []part
		for _, g := range groups {
			out = append(out, part{slice: g})
		}
		return out, nil
	})
}

// ScanAfter is Scan from behind a record on: its file group and key. An empty fileID is the start.
func (t *Table) ScanAfter(ctx context.Context, partition, fileID, key string, stats *Stats) iter.Seq2[*Record, error] {
	return t.read(ctx, partition, stats, func(groups []*filegroup.Slice) ([]part, error) {
		var out []part
		for _, g := range groups {
			switch {
			case g.FileID > fileID:
				out = append(out, part{slice: g})
			case g.FileID == fileID:
				// The least key greater than key.
				out = append(out, part{slice: g, sel: selection{from: append([]byte(key), 0)}})
			}
		}
		return out, nil
	})
}

// Get looks records up by key. It reads only the file groups that hold the keys, and in them the
// blocks that may. The order is that of file groups and keys; keys without a record give nothing.
func (t *Table) Get(ctx context.Context, partition string, keys []string, stats *Stats) iter.Seq2[*Record, error] {
	return t.read(ctx, partition, stats, func(groups []*filegroup.Slice) ([]part, error) {
		hashed, err := t.hashedText(ctx, partition)
		if err != nil {
			return nil, err
		}
		per := map[int][][]byte{}
		for _, family := range families(groups) {
			for _, k := range keys {
				for _, i := range family.of(hashed(k)) {
					per[i] = append(per[i], []byte(k))
				}
			}
		}
		return parts(groups, per), nil
	})
}

// Prefix iterates over the records whose key begins with prefix. Keys of one prefix are spread over
// the file groups, so all are asked, but for the value prefix of a secondary index whose keys are
// hashed by their value.
func (t *Table) Prefix(ctx context.Context, partition, prefix string, stats *Stats) iter.Seq2[*Record, error] {
	return t.read(ctx, partition, stats, func(groups []*filegroup.Slice) ([]part, error) {
		per := map[int][][]byte{}
		for i := range groups {
			per[i] = nil
		}
		if KindOf(partition) == SecondaryIndex && completeValue(prefix) {
			v2, err := t.hashedByValue(ctx, partition)
			if err != nil {
				return nil, err
			}
			if v2 {
				clear(per)
				value := prefix[:valueEnd(prefix)+1]
				for _, family := range families(groups) {
					for _, i := range family.of(value) {
						per[i] = nil
					}
				}
			}
		}
		out := parts(groups, per)
		for i := range out {
			out[i].sel.prefix = []byte(prefix)
		}
		return out, nil
	})
}

// valueEnd returns the place of the separator of a secondary key, -1 when there is none.
func valueEnd(key string) int {
	for i := 0; i < len(key); i++ {
		switch key[i] {
		case '\\':
			i++
		case '$':
			return i
		}
	}
	return -1
}

func completeValue(prefix string) bool { return valueEnd(prefix) >= 0 }

// hashedByValue reports whether the keys of a secondary index are hashed by their value (index
// version 2) and not whole.
func (t *Table) hashedByValue(ctx context.Context, partition string) (bool, error) {
	d, err := t.Definition(ctx, partition)
	if err != nil {
		return false, err
	}
	return d != nil && d.Version == "V2", nil
}

// hashedText returns the text of a key that decides its file group (spec metadata-table.md section 2.1).
func (t *Table) hashedText(ctx context.Context, partition string) (func(string) string, error) {
	whole := func(key string) string { return key }
	if KindOf(partition) != SecondaryIndex {
		return whole, nil
	}
	v2, err := t.hashedByValue(ctx, partition)
	if err != nil || !v2 {
		return whole, err
	}
	return func(key string) string {
		if i := valueEnd(key); i >= 0 {
			return key[:i+1]
		}
		return key
	}, nil
}

// family is a run of file groups that share their keys: all of a partition, or those of one data
// partition in a partitioned record index.
type family struct {
	// prefix is what stands before the number.
	prefix string
	// groups are indexes in the list of groups, by shard. nil when a shard is missing: then the keys
	// may be in any.
	byShard []int
	all     []int
}

func (f *family) of(hashed string) []int {
	if f.byShard == nil {
		return f.all
	}
	return f.byShard[Shard(hashed, len(f.byShard)):][:1]
}

// families sorts groups by what stands before their number.
func families(groups []*filegroup.Slice) []*family {
	byPrefix := map[string]*family{}
	numbers := map[string][]int{}
	var out []*family
	for i, g := range groups {
		id := strings.TrimSuffix(g.FileID, "-0")
		prefix, n := id, -1
		if len(id) >= 4 {
			if x, err := strconv.Atoi(id[len(id)-4:]); err == nil && x >= 0 {
				prefix, n = id[:len(id)-4], x
			}
		}
		f := byPrefix[prefix]
		if f == nil {
			f = &family{prefix: prefix}
			byPrefix[prefix] = f
			out = append(out, f)
		}
		f.all = append(f.all, i)
		numbers[prefix] = append(numbers[prefix], n)
	}
	for prefix, f := range byPrefix {
		by := make([]int, len(f.all))
		seen := make([]bool, len(f.all))
		whole := true
		for k, n := range numbers[prefix] {
			if n < 0 || n >= len(by) || seen[n] {
				whole = false
				break
			}
			by[n], seen[n] = f.all[k], true
		}
		if whole {
			f.byShard = by
		}
	}
	return out
}

// part is a file group to read and what of it.
type part struct {
	kind  Kind
	slice *filegroup.Slice
	sel   selection
}

func parts(groups []*filegroup.Slice, per map[int][][]byte) []part {
	var out []part
	for i, g := range groups {
		if keys, ok := per[i]; ok {
			slices.SortFunc(keys, bytes.Compare)
			out = append(out, part{slice: g, sel: selection{keys: slices.CompactFunc(keys, bytes.Equal)}})
		}
	}
	return out
}

func (t *Table) read(ctx context.Context, partition string, stats *Stats, plan func([]*filegroup.Slice) ([]part, error)) iter.Seq2[*Record, error] {
	if stats == nil {
		stats = new(Stats)
	}
	return func(yield func(*Record, error) bool) {
		groups, err := t.Slices(ctx, partition)
		if err != nil {
			yield(nil, err)
			return
		}
		todo, err := plan(groups)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, p := range todo {
			p.kind = KindOf(partition)
			r := reader{ctx: ctx, t: t, part: p, stats: stats}
			more, err := r.run(func(rec *Record) bool { return yield(rec, nil) })
			r.close()
			if err != nil {
				yield(nil, err)
				return
			}
			if !more {
				return
			}
			stats.Groups++
		}
	}
}

// reader merges one file group.
type reader struct {
	ctx   context.Context
	t     *Table
	part  part
	stats *Stats

	objects []storage.Object
	// broken are parts of log files that are no blocks.
	broken []error
	logs   map[string]*Record
	bytes  int64
}

func (r *reader) close() {
	for _, o := range r.objects {
		o.Close()
	}
}

func (r *reader) run(yield func(*Record) bool) (more bool, err error) {
	if err := r.readLogs(); err != nil {
		return false, err
	}
	keys := make([]string, 0, len(r.logs))
	for k := range r.logs {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	emit := func(rec *Record) bool {
		if rec = rec.live(); rec == nil {
			return true
		}
		rec.FileID = r.part.slice.FileID
		return yield(rec)
	}
	if base := r.part.slice.Base; base != nil {
		more, err := r.base(base.Path, func(rec *Record) bool {
			for len(keys) > 0 && keys[0] < rec.Key {
				if !emit(r.logs[keys[0]]) {
					return false
				}
				keys = keys[1:]
			}
			if len(keys) > 0 && keys[0] == rec.Key {
				rec = merge(rec, r.logs[keys[0]])
				keys = keys[1:]
			}
			return emit(rec)
		})
		if !more || err != nil {
			return false, err
		}
	}
	for _, k := range keys {
		if !emit(r.logs[k]) {
			return false, nil
		}
	}
	return true, nil
}

func (r *reader) open(file string) (storage.Object, error) {
	obj, err := r.t.Src.Open(r.ctx, file)
	if err != nil {
		return nil, err
	}
	r.objects = append(r.objects, obj)
	return obj, nil
}

func (r *reader) base(file string, yield func(*Record) bool) (more bool, err error) {
	if !strings.HasSuffix(file, ".hfile") {
		return false, &hfile.Unsupported{File: file, What: "a base file of a metadata table that is no HFile can't be read"}
	}
	obj, err := r.open(file)
	if err != nil {
		return false, err
	}
	f, err := hfile.Open(r.ctx, obj, file, 0)
	if err != nil {
		return false, err
	}
	return r.hfile(f, f.SchemaText(), 0, yield)
}

// hfile decodes the selected records of an HFile; at is the offset of what holds its schema.
func (r *reader) hfile(f *hfile.File, schemaText string, at int64, yield func(*Record) bool) (more bool, err error) {
	d, err := newDecoder(schemaText, f.Path(), at)
	if err != nil {
		return false, err
	}
	for c, err := range r.part.sel.cells(r.ctx, f) {
		if err != nil {
			return false, err
		}
		rec := &Record{Key: string(c.Key), gone: true, size: int64(160 + 2*len(c.Key))}
		if len(c.Value) > 0 {
			if rec, err = d.record(c.Value, c.Key); err != nil {
				return false, inCell(err, f, c)
			}
		}
		if err := r.belongs(rec, f.Path(), c.Block); err != nil {
			return false, err
		}
		if !yield(rec) {
			return false, nil
		}
	}
	return true, nil
}

// inCell places an error of a value in its file.
func inCell(err error, f *hfile.File, c hfile.Cell) error {
	var ce *corrupt.Error
	if !errors.As(err, &ce) {
		return err
	}
	e := *ce
	e.File, e.Offset = f.Path(), c.Block
	e.Part = fmt.Sprintf("data block: value of cell %d (key %q), %s", c.Index, c.Key, ce.Part)
	return &e
}

// decoder decodes values of one schema, one at a time.
type decoder struct {
	dec   *avro.Decoder
	batch *column.Batch
	view  fields
}

func newDecoder(text, file string, at int64) (*decoder, error) {
	bad := func(err error) error {
		return &corrupt.Error{File: file, Offset: at, Part: "schema of the records", Err: err}
	}
	if text == "" {
		return nil, bad(errors.New("there is none"))
	}
	typ, err := schema.Parse(text)
	if err != nil {
		return nil, bad(err)
	}
	if err := check(typ); err != nil {
		return nil, bad(err)
	}
	dec, err := avro.Compile(typ, wanted)
	if err != nil {
		return nil, bad(err)
	}
	d := &decoder{dec: dec, batch: dec.NewBatch(1)}
	d.view = view(d.batch)
	return d, nil
}

func (d *decoder) record(value, key []byte) (*Record, error) {
	d.dec.Reset(d.batch)
	if err := d.dec.Append(d.batch, value); err != nil {
		return nil, err
	}
	return d.view.record(0, key), nil
}

// scanLogs finds the blocks of the logs that count; nil where there are none.
func (r *reader) scanLogs() ([]logscan.File, *logscan.Result, error) {
	var files []logscan.File
	for _, l := range r.part.slice.DataLogs() {
		name, ok := logfile.ParseName(path.Base(l.Path))
		if !ok {
			return nil, nil, &corrupt.Error{File: l.Path, Offset: corrupt.Unknown, Part: "name of a log file"}
		}
		obj, err := r.open(l.Path)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, logscan.File{Name: name, Reader: logfile.Open(obj, l.Path)})
	}
	if len(files) == 0 {
		return nil, nil, nil
	}
	opt, err := r.t.scanOptions(r.ctx)
	if err != nil {
		return nil, nil, err
	}
	res, err := logscan.Scan(r.ctx, files, opt)
	if err != nil {
		return nil, nil, err
	}
	if len(res.Damaged) > 0 {
		d := res.Damaged[0]
		if d.Block.Damage != nil {
			return nil, nil, d.Block.Damage
		}
		return nil, nil, &hfile.Unsupported{File: files[d.File].Reader.Path(), Offset: d.Block.Start, What: "a log block of the metadata table on which Hudi fails: " + d.Block.Type.String()}
	}
	for _, f := range res.Fates {
		switch f.Outcome {
		case logscan.Merged, logscan.Command, logscan.Compacted:
		default:
			r.note(files, &f)
		}
	}
	return files, res, nil
}

func (r *reader) readLogs() error {
	files, res, err := r.scanLogs()
	if err != nil || res == nil {
		return err
	}
	r.logs = map[string]*Record{}
	for _, ref := range res.Blocks {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if err := r.block(files[ref.File].Reader, ref.Block); err != nil {
			return err
		}
		r.stats.Blocks++
	}
	return nil
}

func (r *reader) block(f *logfile.Reader, b *logfile.Block) error {
	// Within a block the last record of a key counts; the keys of an HFile are sorted.
	var last *Record
	flush := func() {
		if last != nil {
			r.put(last)
			last = nil
		}
	}
	add := func(rec *Record) bool {
		if last != nil && last.Key != rec.Key {
			flush()
		}
		last = rec
		return r.t.opt.LogBytes <= 0 || r.bytes <= r.t.opt.LogBytes
	}
	var err error
	switch b.Type {
	case logfile.HFileDataBlock:
		err = r.hfileBlock(f, b, add)
	case logfile.DeleteBlock:
		err = r.deletes(f, b, add)
	case logfile.AvroDataBlock:
		err = r.avroBlock(f, b, add)
	default:
		err = &hfile.Unsupported{File: f.Path(), Offset: b.Start, What: "log blocks of type " + b.Type.String() + " in a metadata table can't be read"}
	}
	if err != nil {
		return err
	}
	flush()
	if r.t.opt.LogBytes > 0 && r.bytes > r.t.opt.LogBytes {
		return fmt.Errorf("file group %s: %w (%d bytes)", r.part.slice.FileID, ErrLogBytes, r.t.opt.LogBytes)
	}
	return nil
}

func (r *reader) put(rec *Record) {
	r.stats.LogRecords++
	old := r.logs[rec.Key]
	if old != nil {
		r.bytes -= old.size
		rec = merge(old, rec)
	}
	r.logs[rec.Key] = rec
	r.bytes += rec.size
}

func (r *reader) hfileBlock(f *logfile.Reader, b *logfile.Block, add func(*Record) bool) error {
	h, err := hfile.Open(r.ctx, f.Section(b), f.Path(), b.ContentOffset)
	if err != nil {
		return err
	}
	// The HFile's own schema equals the header's, and has a checksum.
	text := h.SchemaText()
	if text == "" {
		text = b.SchemaText()
	}
	_, err = r.hfile(h, text, b.Start, add)
	return err
}

func (r *reader) deletes(f *logfile.Reader, b *logfile.Block, add func(*Record) bool) error {
	content, err := f.Content(r.ctx, b)
	if err != nil {
		return err
	}
	_, list, err := logfile.DecodeDeletes(content, b.ContentOffset)
	if err != nil {
		return corrupt.InFile(err, f.Path())
	}
	for _, d := range list {
		if r.part.sel.whole() || r.part.sel.has([]byte(d.Key)) {
			if !add(&Record{Key: d.Key, gone: true, size: int64(160 + 2*len(d.Key))}) {
				return nil
			}
		}
	}
	return nil
}

func (r *reader) avroBlock(f *logfile.Reader, b *logfile.Block, add func(*Record) bool) error {
	d, err := newDecoder(b.SchemaText(), f.Path(), b.Start)
	if err != nil {
		return err
	}
	content, err := f.Content(r.ctx, b)
	if err != nil {
		return err
	}
	for x, err := range logfile.DataRecords(content, b.ContentOffset) {
		if err != nil {
			return corrupt.InFile(err, f.Path())
		}
		rec, err := d.record(x.Data, nil)
		if err != nil {
			var ce *corrupt.Error
			if errors.As(err, &ce) {
				e := *ce
				e.File, e.Offset, e.Part = f.Path(), x.Offset, fmt.Sprintf("record %d, %s", x.Index, ce.Part)
				return &e
			}
			return err
		}
		if err := r.belongs(rec, f.Path(), x.Offset); err != nil {
			return err
		}
		if r.part.sel.whole() || r.part.sel.has([]byte(rec.Key)) {
			if !add(rec) {
				return nil
			}
		}
	}
	return nil
}

// scanOptions says which log blocks are merged.
func (t *Table) scanOptions(ctx context.Context) (logscan.Options, error) {
	v, err := t.validInstants(ctx)
	if err != nil {
		return logscan.Options{}, err
	}
	all := t.Timeline.Write()
	completed, pending := all.Completed(), all.Pending()
	return logscan.Options{
		Mode: logscan.Scan1x, LatestInstant: v.latest, CheckCommitted: t.Config.Version < 8,
		Range: &logscan.InstantRange{Kind: logscan.ExactMatch, Instants: v.instants},
		Committed: func(instant string) logscan.Verdict {
			switch {
			case completed.Contains(instant):
				return logscan.Completed
			case pending.Contains(instant):
				return logscan.Pending
			case all.BeforeTimelineStarts(instant):
				return logscan.BeforeStart
			}
			return logscan.UnknownInstant
		},
	}, nil
}
