package history

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf16"

	"hudiscope/core/bloom"
	"hudiscope/core/column"
	"hudiscope/core/corrupt"
	"hudiscope/core/groupreader"
	"hudiscope/core/logfile"
	"hudiscope/core/logscan"
	"hudiscope/core/merge"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
	"hudiscope/core/table"
)

// selector says which keys are looked for: those of a sorted list, or those with a prefix.
type selector struct {
	keys     []string
	prefix   string
	prefixed bool
	// collect is how many keys of the prefix are gathered in found, the first ones; any is set when
	// one was met.
	collect int
	found   []string
	any     bool
}

// match reports whether the versions of a key are wanted; a collecting selector only notes the key.
func (s *selector) match(key []byte) bool {
	if !s.prefixed {
		_, ok := slices.BinarySearchFunc(s.keys, key, func(a string, b []byte) int { return strings.Compare(a, string(b)) })
		return ok
	}
	if !bytes.HasPrefix(key, []byte(s.prefix)) {
		return false
	}
	s.any = true
	i, there := slices.BinarySearchFunc(s.found, key, func(a string, b []byte) int { return strings.Compare(a, string(b)) })
	if !there && i < s.collect {
		s.found = slices.Insert(s.found, i, string(key))
		s.found = s.found[:min(len(s.found), s.collect)]
	}
	return false
}

// bounds are the least and greatest bytes of a wanted key.
func (s *selector) bounds() (least, most []byte) {
	if s.prefixed {
		// No key holds a byte 0xff: keys are UTF-8.
		return []byte(s.prefix), append([]byte(s.prefix), 0xff)
	}
	return []byte(s.keys[0]), []byte(s.keys[len(s.keys)-1])
}

// The keys of a base file's footer (spec metadata-table.md section 5.3).
const (
	footerMin   = "hoodie_min_record_key"
	footerMax   = "hoodie_max_record_key"
	footerBloom = "org.apache.hudi.bloomfilter"
	footerType  = "hoodie_bloom_filter_type_code"
)

// mayHold reports whether a base file may hold a wanted key, by the keys of its footer.
func (s *selector) mayHold(lookup func(key string) (string, bool)) bool {
	least, ok1 := lookup(footerMin)
	most, ok2 := lookup(footerMax)
	ranged := ok1 && ok2 && least != "" && most != ""
	if s.prefixed {
		return !ranged || (compareJava(s.prefix, most) <= 0 && (compareJava(s.prefix, least) >= 0 || compareJava(cut(least, s.prefix), s.prefix) <= 0))
	}
	var filter *bloom.Filter
	if text, ok := lookup(footerBloom); ok {
		code, ok := lookup(footerType)
		if !ok {
			code = bloom.Simple
		}
		// A filter that can't be decoded rules nothing out.
		filter, _ = bloom.Decode(code, []byte(text))
	}
	for _, k := range s.keys {
		if ranged && (compareJava(k, least) < 0 || compareJava(k, most) > 0) {
			continue
		}
		if filter == nil || filter.MayContain([]byte(k)) {
			return true
		}
	}
	return false
}

// cut shortens a to the length of b.
func cut(a, b string) string { return a[:min(len(a), len(b))] }

// compareJava compares texts as Java does, by UTF-16 code units; so the footers' bounds were found.
func compareJava(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

func logName(p string) (logfile.Name, error) {
	n, ok := logfile.ParseName(path.Base(p))
	if !ok {
		return n, &corrupt.Error{File: p, Offset: corrupt.Unknown, Part: "name of a log file"}
	}
	return n, nil
}

// finder looks for versions in the files of one slice.
type finder struct {
	s   *search
	j   *job
	sel *selector
	v   *groupreader.Versions
	o   *groupreader.Options
	l   *ladder
	// stuck says why the slice can't be merged, "" when it can.
	stuck string
}

// readerOptions are the options with which a slice is read.
func readerOptions(p *table.Plan, t *table.Table, s groupreader.Slice, ro table.ReadOptions) (*groupreader.Options, error) {
	o, err := p.ReaderOptions(s, ro)
	if err != nil {
		return nil, err
	}
	if !t.Config.PopulateMetaFields() {
		o.KeyFields = t.Config.RecordKeyFields()
	}
	return o, nil
}

// slice searches one slice and merges what it finds, by key.
func (s *search) slice(j *job, sel *selector) (map[string]*sliceHistory, error) {
	o, err := readerOptions(s.plan, s.t, j.slice, s.req.Read)
	if err != nil {
		return nil, err
	}
	f := &finder{s: s, j: j, sel: sel, o: o, v: groupreader.NewVersions(s.ctx, j.slice, o)}
	f.l = newLadder(f)
	if j.base != nil {
		if err := f.base(); err != nil {
			return nil, err
		}
		s.progress(1)
	}
	if err := f.logs(); err != nil {
		return nil, err
	}
	if sel.collect > 0 {
		return nil, nil
	}
	return f.l.merge(f.stuck)
}

// base searches the base file.
func (f *finder) base() error {
	p := f.j.base
	slice := f.j.slice
	slice.Base, slice.Source = p.path, p.source
	err := f.s.plan.Readable(&slice)
	if err == nil {
		err = f.baseFile(slice)
	}
	if err == nil {
		return nil
	}
	if err := f.s.broken("A base file can't be read", err); err != nil {
		return err
	}
	if p.why == "" {
		f.stuck = "the slice can't be read: its base file " + path.Base(p.path) + " is damaged or of a kind that can't be read"
	}
	return nil
}

func (f *finder) baseFile(slice groupreader.Slice) error {
	w := &f.s.res.Work
	file, err := f.v.OpenBase(slice)
	if err != nil {
		return err
	}
	defer file.Close()
	// The footers hold the keys as the writer made them; without meta fields they are made anew here,
	// and some key generators write them in another way.
	stored := len(f.o.KeyFields) == 0
	if stored && !f.sel.mayHold(file.Lookup) {
		w.BaseSkipped++
		return nil
	}
	w.BaseScanned++
	least, most := f.sel.bounds()
	var rows []int64
	for records, err := range file.Keys(least, most) {
		if err != nil {
			return err
		}
		for i := range records.Batch.Len {
			key, err := records.Key(i)
			if err != nil {
				return err
			}
			if f.sel.match(key) {
				rows = append(rows, records.First+int64(i))
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	for records, err := range file.Rows(rows) {
		if err != nil {
			return err
		}
		for rows := rowsIn(records, rows); len(rows) > 0; rows = rows[1:] {
			at := int(rows[0] - records.First)
			key, err := records.Key(at)
			if err != nil {
				return err
			}
			k := string(key)
			v := &version{rec: own(records.Record(at, merge.InBase)), base: true, why: f.j.base.why}
			v.api.Kind, v.api.File, v.api.Block, v.api.Record = "base", slice.Base, -1, rows[0]
			v.api.Instant = slice.BaseInstant
			if t, ok := text(v.rec.Row, schema.CommitTimeField); ok && t != "" {
				v.api.Instant = t
			}
			if err := f.l.add(k, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// rowsIn are those of sorted row numbers that lie in a batch.
func rowsIn(r *groupreader.Records, rows []int64) []int64 {
	lo, _ := slices.BinarySearch(rows, r.First)
	hi, _ := slices.BinarySearch(rows, r.First+int64(r.Batch.Len))
	return rows[lo:hi]
}

func text(r column.Row, field string) (string, bool) {
	c := r.Batch.Column(field)
	if c == nil {
		return "", false
	}
	return c.Text(r.Index)
}

// own copies a record out of its batch, so that the batch can go.
func own(r merge.Record) merge.Record {
	if b := r.Row.Batch; b != nil {
		one := &column.Batch{Type: b.Type, Len: 1, Columns: make([]*column.Vector, len(b.Columns))}
		for i, c := range b.Columns {
			if c != nil {
				one.Columns[i] = column.New(c.Type, 1)
				one.Columns[i].AppendFrom(c, r.Row.Index)
			}
		}
		r.Row = column.Row{Batch: one}
	}
	r.Ord = ownOrdering(r.Ord)
	return r
}

func ownOrdering(o merge.Ordering) merge.Ordering {
	o.Bytes = bytes.Clone(o.Bytes)
	o.Tuple = slices.Clone(o.Tuple)
	for i := range o.Tuple {
		o.Tuple[i] = ownOrdering(o.Tuple[i])
	}
	return o
}

// block is a log block in its place in the ladder.
type block struct {
	reader *logfile.Reader
	*logfile.Block
	// order is the block's number in merge order, -1 when it is not merged; why says then why.
	order int
	why   string
}

// logs searches the log files.
func (f *finder) logs() error {
	if len(f.j.logs) == 0 {
		return nil
	}
	blocks, closeAll, err := f.blocks()
	defer closeAll()
	if err != nil {
		return err
	}
	last := (*logfile.Reader)(nil)
	for i := range blocks {
		b := &blocks[i]
		if err := f.s.ctx.Err(); err != nil {
			return err
		}
		if last != nil && last != b.reader {
			f.s.progress(1)
		}
		last = b.reader
		if err := f.block(b); err != nil {
			if err := f.s.broken("A log block can't be read", err); err != nil {
				return err
			}
			if b.order >= 0 {
				f.stuck = fmt.Sprintf("the slice can't be read: block %d of %s can't be decoded", b.Index, path.Base(b.reader.Path()))
			}
		}
	}
	return nil
}

// blocks reads the headers of all log files and puts the blocks in order: merged ones as they are
// merged, the others where they lie.
func (f *finder) blocks() (out []block, closeAll func(), err error) {
	ctx := f.s.ctx
	var objects []storage.Object
	closeAll = func() {
		for _, o := range objects {
			o.Close()
		}
	}
	var files []logscan.File
	readers := make([]*logfile.Reader, len(f.j.logs))
	for i, p := range f.j.logs {
		name, err := logName(p.path)
		if err != nil {
			return nil, closeAll, err
		}
		obj, err := f.s.t.Src.Open(ctx, p.path)
		if err != nil {
			return nil, closeAll, err
		}
		objects = append(objects, obj)
		readers[i] = logfile.Open(obj, p.path)
		if p.why == "" {
			files = append(files, logscan.File{Name: name, Reader: readers[i]})
		}
	}
	res, err := logscan.Scan(ctx, files, f.o.Scan)
	if err != nil {
		if err := f.s.broken("A log file can't be scanned", err); err != nil {
			return nil, closeAll, err
		}
		f.stuck = "the slice can't be read: its log files can't be scanned to the end"
	}
	if len(res.Damaged) > 0 && f.stuck == "" {
		d := res.Damaged[0]
		f.stuck = fmt.Sprintf("the slice can't be read: Hudi fails on block %d of %s", d.Block.Index, path.Base(files[d.File].Reader.Path()))
	}
	merged := map[*logfile.Block]int{}
	for n, ref := range res.Blocks {
		merged[ref.Block] = n
	}
	var inOrder []block  // merged blocks
	var inPlace []placed // the others
	at := map[*logfile.Reader][]logscan.Fate{}
	for _, fate := range res.Fates {
		r := files[fate.File].Reader
		at[r] = append(at[r], fate)
	}
	place := 0
	places := map[*logfile.Block]int{}
	inOrder = make([]block, len(res.Blocks))
	for i, r := range readers {
		if why := f.j.logs[i].why; why != "" {
			for b, err := range r.Blocks(ctx) {
				if err != nil {
					if err := f.s.broken("A log file can't be scanned", err); err != nil {
						return nil, closeAll, err
					}
					break
				}
				inPlace = append(inPlace, placed{block{r, b, -1, why}, place})
				place++
			}
			continue
		}
		for _, fate := range at[r] {
			b := block{r, fate.Block, -1, fate.Why}
			switch fate.Outcome {
			case logscan.Merged:
				b.order, b.why = merged[fate.Block], ""
				inOrder[b.order] = b
			case logscan.Corrupt:
				f.s.finding("warning", "A corrupt log block", fmt.Sprintf("What the block at byte %d held can't be told, so a version of the key may have been in it. %s", b.Start, fate.Why), r.Path(), b.Start)
			case logscan.Command:
			default:
				inPlace = append(inPlace, placed{b, place})
			}
			places[fate.Block] = place
			place++
		}
	}
	for _, b := range inOrder {
		for len(inPlace) > 0 && inPlace[0].at < places[b.Block] {
			out = append(out, inPlace[0].block)
			inPlace = inPlace[1:]
		}
		out = append(out, b)
	}
	for _, p := range inPlace {
		out = append(out, p.block)
	}
	return out, closeAll, nil
}

type placed struct {
	block
	at int
}

// block searches one log block.
func (f *finder) block(b *block) error {
	switch {
	case b.Type == logfile.DeleteBlock:
		return f.deletes(b)
	case b.Type == logfile.CDCDataBlock, !b.Type.IsData():
		return nil
	}
	if b.order >= 0 && b.IsPartial() {
		f.l.partials()
	}
	var rows []int64
	for keys, err := range f.v.Keys(b.reader, b.Block) {
		if err != nil {
			return err
		}
		for i := range keys.Batch.Len {
			key, err := keys.Key(i)
			if err != nil {
				return err
			}
			if f.sel.match(key) {
				rows = append(rows, keys.First+int64(i))
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	spans, err := f.v.Spans(b.reader, b.Block, rows)
	if err != nil {
		return err
	}
	n := 0
	for records, err := range f.v.Data(b.reader, b.Block) {
		if err != nil {
			return err
		}
		for _, row := range rowsIn(records, rows) {
			i := int(row - records.First)
			key, err := records.Key(i)
			if err != nil {
				return err
			}
			k := string(key)
			v := &version{rec: own(records.Record(i, int32(b.order))), why: b.why, notRead: b.order < 0}
			f.place(v, b, row)
			v.api.Kind = "data"
			if v.rec.Delete {
				v.api.Kind = "delete flag"
			}
			if spans != nil {
				v.api.Start, v.api.End = spans[n].Start, spans[n].End
			}
			if err := f.l.add(k, v); err != nil {
				return err
			}
			n++
		}
		if n == len(rows) {
			break
		}
	}
	return nil
}

func (f *finder) deletes(b *block) error {
	_, list, err := groupreader.Deletes(f.s.ctx, b.reader, b.Block)
	if err != nil {
		return err
	}
	for i := range list {
		d := &list[i]
		if !f.sel.match([]byte(d.Key)) {
			continue
		}
		v := &version{rec: own(f.v.Delete(d, int32(b.order), int32(i))), why: b.why, notRead: b.order < 0}
		f.place(v, b, int64(i))
		v.api.Kind, v.api.Start, v.api.End = "delete", d.Start, d.End
		if err := f.l.add(d.Key, v); err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) place(v *version, b *block, record int64) {
	v.api.File, v.api.Block, v.api.Record, v.api.Instant = b.reader.Path(), b.Index, record, b.Instant()
}
