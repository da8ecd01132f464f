package groupreader

import (
	"context"
	"fmt"
	"iter"
	"sort"
	"strings"

	"hudiscope/core/basefile"
	"hudiscope/core/column"
	"hudiscope/core/corrupt"
	"hudiscope/core/evolve"
	"hudiscope/core/logfile"
	"hudiscope/core/merge"
	"hudiscope/core/schema"
)

// Versions reads single versions of the records of a slice as its merge sees them: for those who
// follow a few keys through the slice's files, and read no more of them than that takes.
type Versions struct {
	r *reader
	// keys decodes the columns of the record key only.
	keys *reader
}

// NewVersions makes a reader of versions; o are the options with which the slice is read.
func NewVersions(ctx context.Context, s Slice, o *Options) *Versions {
	top := map[string]bool{schema.RecordKeyField: len(o.KeyFields) == 0}
	for _, f := range o.KeyFields {
		name, _, _ := strings.Cut(f, ".")
		top[name] = true
	}
	all, keys := *o, *o
	all.Want = nil
	keys.Want = func(field string) bool { return top[field] }
	return &Versions{r: &reader{ctx: ctx, s: s, o: &all, stats: new(Stats)}, keys: &reader{ctx: ctx, s: s, o: &keys, stats: new(Stats)}}
}

// Merger returns a merger by the slice's rules.
func (v *Versions) Merger() *merge.Merger {
	return merge.NewMerger(v.r.o.Rules, v.r.o.Reader, v.r.rowOrdering)
}

// Records are some versions of a data block or a base file, one after the other.
type Records struct {
	// Batch is of the reader's type.
	Batch *column.Batch
	// First is the number of the batch's first record in the block or file.
	First int64
	// Partial is set when the records are partial updates.
	Partial *merge.Presence
	k       *keyer
}

// Key returns the record key of row i of the batch. The bytes are valid until the next call.
func (r *Records) Key(i int) ([]byte, error) { return r.k.key(i) }

// Record returns row i of the batch as a merge takes it; block is the block's number in merge order,
// or merge.InBase. Rows of a base file are never deletes.
func (r *Records) Record(i int, block int32) merge.Record {
	m := merge.Record{Row: column.Row{Batch: r.Batch, Index: i}, Partial: r.Partial, Block: block, Index: int32(r.First) + int32(i), Delete: block != merge.InBase && r.k.deleted(i)}
	r.k.ordering(i, &m.Ord)
	return m
}

// Keys decodes the record keys of a data block and nothing else. The sequence is single-use and
// stops after the first error.
func (v *Versions) Keys(f *logfile.Reader, b *logfile.Block) iter.Seq2[*Records, error] {
	return v.keys.versions(f, b)
}

// Data decodes a data block, with all columns.
func (v *Versions) Data(f *logfile.Reader, b *logfile.Block) iter.Seq2[*Records, error] {
	return v.r.versions(f, b)
}

func (r *reader) versions(f *logfile.Reader, b *logfile.Block) iter.Seq2[*Records, error] {
	return func(yield func(*Records, error) bool) {
		for p, err := range r.parts(f, b) {
			if err != nil {
				yield(nil, err)
				return
			}
			k, err := newKeyer(p.batch, r.o, f.Path(), b.Start)
			if !yield(&Records{Batch: p.batch, First: int64(p.first), Partial: p.has, k: k}, err) || err != nil {
				return
			}
		}
	}
}

// Spans returns the bytes of some records of a data block, by ascending number; nil when its format
// gives records no bytes of their own.
func (v *Versions) Spans(f *logfile.Reader, b *logfile.Block, records []int64) ([]Span, error) {
	if b.Type != logfile.AvroDataBlock {
		return nil, nil
	}
	out := make([]Span, 0, len(records))
	obj := f.Section(b)
	w := window{}
	pos := int64(8)
	for n := int64(0); len(out) < len(records); n++ {
		rec, whole, err := w.next(pos, b.ContentSize)
		for err == nil && !whole {
			if err = w.fill(v.r, obj, pos, b.ContentSize); err == nil {
				rec, whole, err = w.next(pos, b.ContentSize)
			}
		}
		if err != nil {
			if v.r.ctx.Err() != nil {
				return nil, v.r.ctx.Err()
			}
			return nil, &corrupt.Error{File: f.Path(), Offset: b.ContentOffset + pos, Part: fmt.Sprintf("length of record %d", n), Err: err}
		}
		pos += 4 + int64(len(rec))
		if n == records[len(out)] {
			out = append(out, Span{b.ContentOffset + pos - int64(len(rec)), b.ContentOffset + pos})
		}
	}
	return out, nil
}

// Delete returns an entry of a delete block as a merge takes it.
func (v *Versions) Delete(d *logfile.Delete, block, index int32) merge.Record {
	return merge.Record{Ord: v.r.deleteOrdering(d.Ordering), Delete: true, Block: block, Index: index}
}

// Shown returns rows as a reader of the slice is shown them.
func (v *Versions) Shown(b *column.Batch) (*column.Batch, error) {
	if v.r.o.Shown == nil {
		return b, nil
	}
	return v.r.shown(b)
}

// VersionsOfBase are the rows of an open base file.
type VersionsOfBase struct {
	v    *Versions
	f    BaseFile
	path string
	m    *evolve.Mapping
}

// OpenBase opens the base file of a slice, which may be another one than that of the versions.
func (v *Versions) OpenBase(s Slice) (*VersionsOfBase, error) {
	m, err := v.r.mapping(s.BaseInstant)
	if err != nil {
		return nil, err
	}
	r := *v.r
	r.s = s
	f, err := r.openBase()
	if err != nil {
		return nil, err
	}
	return &VersionsOfBase{v, f, s.Base, m}, nil
}

// Close closes the file.
func (b *VersionsOfBase) Close() error { return b.f.Close() }

// Lookup returns a key of the footer's metadata; only Parquet files have them.
func (b *VersionsOfBase) Lookup(key string) (string, bool) {
	if f, ok := b.f.(interface{ Lookup(string) (string, bool) }); ok {
		return f.Lookup(key)
	}
	return "", false
}

// Keys reads the record keys of rows in file order. Rows whose key is not from least to most, as
// bytes compare, may be left out; most nil is no bound.
func (b *VersionsOfBase) Keys(least, most []byte) iter.Seq2[*Records, error] {
	r := b.v.keys
	want := b.m.Want(r.o.Want)
	if f, ok := b.f.(interface {
		PartsWithText(ctx context.Context, want func(field string) bool, field string, least, most []byte) iter.Seq2[basefile.Part, error]
	}); ok && len(r.o.KeyFields) == 0 {
		return b.records(r, f.PartsWithText(r.ctx, want, schema.RecordKeyField, least, most))
	}
	return b.records(r, b.all(want))
}

// Rows reads the batches that hold given rows, by ascending row number, with all columns.
func (b *VersionsOfBase) Rows(rows []int64) iter.Seq2[*Records, error] {
	r := b.v.r
	want := b.m.Want(func(string) bool { return true })
	if f, ok := b.f.(interface {
		Parts(ctx context.Context, want func(field string) bool, rows []int64) iter.Seq2[basefile.Part, error]
	}); ok {
		return b.records(r, f.Parts(r.ctx, want, rows))
	}
	return func(yield func(*Records, error) bool) {
		for p, err := range b.all(want) {
			if err == nil {
				i := sort.Search(len(rows), func(i int) bool { return rows[i] >= p.First })
				if i == len(rows) {
					return
				}
				if rows[i] >= p.First+int64(p.Len) {
					continue
				}
			}
			for x, err := range b.records(r, func(yield func(basefile.Part, error) bool) { yield(p, err) }) {
				if !yield(x, err) || err != nil {
					return
				}
			}
		}
	}
}

// all reads every batch.
func (b *VersionsOfBase) all(want func(string) bool) iter.Seq2[basefile.Part, error] {
	return func(yield func(basefile.Part, error) bool) {
		first := int64(0)
		for batch, err := range b.f.Batches(b.v.r.ctx, want) {
			if err != nil {
				yield(basefile.Part{}, err)
				return
			}
			if !yield(basefile.Part{Batch: batch, First: first}, nil) {
				return
			}
			first += int64(batch.Len)
		}
	}
}

// records brings batches of the file to the reader's type.
func (b *VersionsOfBase) records(r *reader, parts iter.Seq2[basefile.Part, error]) iter.Seq2[*Records, error] {
	return func(yield func(*Records, error) bool) {
		for p, err := range parts {
			var out *Records
			if err == nil {
				out, err = b.convert(r, p)
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}

func (b *VersionsOfBase) convert(r *reader, p basefile.Part) (*Records, error) {
	batch, err := r.convert(b.m.Batch(p.Batch), b.path, -1, nil)
	if err != nil {
		return nil, err
	}
	k, err := newKeyer(batch, r.o, b.path, corrupt.Unknown)
	if err != nil {
		return nil, err
	}
	return &Records{Batch: batch, First: p.First, k: k}, nil
}
