package groupreader

import (
	"context"
	"iter"

	"hudiscope/core/basefile"
	"hudiscope/core/column"
	"hudiscope/core/evolve"
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

// baseBatches reads the base file's batches, with the names of the reader's columns.
func (r *reader) baseBatches(f BaseFile, want func(field string) bool) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		m, err := r.mapping(r.s.BaseInstant)
		if err != nil {
			yield(nil, err)
			return
		}
		for b, err := range f.Batches(r.ctx, m.Want(want)) {
			if err == nil {
				b = m.Batch(b)
			}
			if !yield(b, err) {
				return
			}
		}
	}
}
