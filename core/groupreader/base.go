package groupreader

import (
	"context"
	"iter"

	"hudiscope/core/basefile"
	"hudiscope/core/column"
	"hudiscope/core/evolve"
	"hudiscope/core/predicate"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
)

// BaseFile are the rows of an open base file.
type BaseFile interface {
	// Type is the record type of the file.
	Type() *schema.Type
	// Batches reads the rows in file order. want chooses top-level columns (nil = all); the others are
	// nil in the batches and not read. The sequence is single-use and stops after the first error.
	Batches(ctx context.Context, want func(field string) bool) iter.Seq2[*column.Batch, error]
	// Close releases what the file holds. It is called once.
	Close() error
}

// NeedsPart says that a file can be read, by a part of the program that is not here.
type NeedsPart struct {
	// Part is "orc".
	Part, File string
}

// Error renders the finding.
func (n *NeedsPart) Error() string {
	return n.File + ": this file is read by the part " + n.Part + ", which this program was built without"
}

// OpenParquet opens a Parquet base file; closing it closes the object.
func OpenParquet(ctx context.Context, obj storage.Object, path string) (BaseFile, error) {
	f, err := basefile.Open(ctx, obj, path)
	if err != nil {
		return nil, err
	}
	return parquetFile{f, obj}, nil
}

type parquetFile struct {
	*basefile.File
	obj storage.Object
}

func (f parquetFile) Close() error { return f.obj.Close() }

// openBase opens the slice's base file.
func (r *reader) openBase() (BaseFile, error) {
	if r.o.Base != nil {
		return r.o.Base(r.ctx, r.s)
	}
	obj, err := r.o.Open(r.ctx, r.s.Base)
	if err != nil {
		return nil, err
	}
	f, err := OpenParquet(r.ctx, obj, r.s.Base)
	if err != nil {
		obj.Close()
		return nil, err
	}
	return f, nil
}

// mapping returns how rows of files of an instant are given the reader's names; nil: they have them.
func (r *reader) mapping(instant string) (*evolve.Mapping, error) {
	if r.o.Evolve == nil {
		return nil, nil
	}
	return r.o.Evolve(r.ctx, instant)
}

// numbered is a batch of the base file; first is the row number of its first row.
type numbered struct {
	*column.Batch
	first int64
}

// baseBatches reads the base file's batches, with the names of the reader's columns. Row groups in which no row
// can meet Options.Where are passed over.
func (r *reader) baseBatches(f BaseFile, want func(field string) bool) iter.Seq2[numbered, error] {
	return func(yield func(numbered, error) bool) {
		m, err := r.mapping(r.s.BaseInstant)
		if err != nil {
			yield(numbered{}, err)
			return
		}
		if p, ok := f.(parquetFile); ok && m == nil && r.o.Where != nil && len(r.s.Logs) == 0 {
			r.stats.RowGroups += p.RowGroups()
			for b, err := range p.PartsOf(r.ctx, want, func(g int) bool { return r.mayMatch(p, g) }) {
				if err == nil {
					b.Batch = r.units(b.Batch)
				}
				if !yield(numbered{b.Batch, b.First}, err) {
					return
				}
			}
			return
		}
		first := int64(0)
		for b, err := range f.Batches(r.ctx, m.Want(want)) {
			if err != nil {
				yield(numbered{}, err)
				return
			}
			b = r.units(m.Batch(b))
			if !yield(numbered{b, first}, nil) {
				return
			}
			first += int64(b.Len)
		}
	}
}

// mayMatch reports whether rows of a row group may meet the condition, by the footer's statistics.
func (r *reader) mayMatch(f parquetFile, g int) bool {
	if r.o.Where.MayMatch(func(name string) (out predicate.Range) {
		b := f.Bounds(g, name)
		i := r.o.Reader.FieldIndex(name)
		// Values that are converted may be ordered otherwise.
		if b.Type == nil || i < 0 || !sameOrder(b.Type, r.o.Reader.Fields[i].Type) {
			return out
		}
		return predicate.Range{Low: b.Low, High: b.High, Null: b.Null}
	}) {
		return true
	}
	r.stats.RowGroupsSkipped++
	return false
}

// sameOrder reports whether values of one type are those of another, but for the size of whole numbers.
func sameOrder(a, b *schema.Type) bool {
	whole := func(t *schema.Type) bool { return t.Kind == schema.Int || t.Kind == schema.Long }
	return a.Logical == b.Logical && a.Scale == b.Scale && (a.Kind == b.Kind || whole(a) && whole(b) && a.Logical == schema.None)
}
