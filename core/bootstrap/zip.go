package bootstrap

import (
	"context"
	"fmt"
	"iter"

	"hudiscope/core/column"
	"hudiscope/core/corrupt"
	"hudiscope/core/schema"
)

// Rows are the rows of an open file, in batches.
type Rows interface {
	// Type is the record type of the file.
	Type() *schema.Type
	// Batches reads the rows in file order. want chooses top-level columns (nil = all); the others are
	// nil in the batches. The sequence is single-use and stops after the first error.
	Batches(ctx context.Context, want func(field string) bool) iter.Seq2[*column.Batch, error]
}

// Zipped are the rows of a skeleton file and its source file side by side: row i of one belongs to
// row i of the other. A column that both have is the skeleton's.
type Zipped struct {
	skeleton, source Rows
	// skeletonPath and sourcePath are for errors.
	skeletonPath, sourcePath string
	typ                      *schema.Type
	// from is the source's column of each field, -1 for the skeleton's own ones.
	from []int
}

// Zip puts two files side by side.
func Zip(skeleton, source Rows, skeletonPath, sourcePath string) *Zipped {
	z := &Zipped{skeleton: skeleton, source: source, skeletonPath: skeletonPath, sourcePath: sourcePath}
	st := skeleton.Type()
	typ := *st
	typ.Fields = append([]schema.Field(nil), st.Fields...)
	z.from = make([]int, len(typ.Fields))
	for i := range z.from {
		z.from[i] = -1
	}
	for i, f := range source.Type().Fields {
		if st.FieldIndex(f.Name) < 0 {
			typ.Fields = append(typ.Fields, f)
			z.from = append(z.from, i)
		}
	}
	z.typ = &typ
	return z
}

// Type has the skeleton's fields first.
func (z *Zipped) Type() *schema.Type { return z.typ }

// Batches reads both files. Files of different row counts are an error: their rows can't be told apart.
func (z *Zipped) Batches(ctx context.Context, want func(field string) bool) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		left := newCursor(z.skeleton.Batches(ctx, want))
		right := newCursor(z.source.Batches(ctx, func(field string) bool {
			return z.skeleton.Type().FieldIndex(field) < 0 && (want == nil || want(field))
		}))
		defer left.stop()
		defer right.stop()
		var rows int64
		for {
			l, err := left.more()
			if err != nil {
				yield(nil, err)
				return
			}
			r, err := right.more()
			if err != nil {
				yield(nil, err)
				return
			}
			if l == 0 || r == 0 {
				if l != r {
					short, long := z.skeletonPath, z.sourcePath
					if r == 0 {
						short, long = long, short
					}
					yield(nil, &corrupt.Error{File: short, Offset: corrupt.Unknown, Part: "rows of a bootstrapped file", Want: "as many as in " + long, Got: fmt.Sprintf("%d, and the other has more", rows),
						Try: "The source file was changed after the bootstrap: its rows no longer belong to those of the skeleton file. Give the source as it was."})
				}
				return
			}
			n := min(l, r)
			a, b := left.take(n), right.take(n)
			out := &column.Batch{Type: z.typ, Len: n, Columns: make([]*column.Vector, len(z.typ.Fields))}
			for i, from := range z.from {
				if from < 0 {
					out.Columns[i] = a[i]
				} else {
					out.Columns[i] = b[from]
				}
			}
			rows += int64(n)
			if !yield(out, nil) {
				return
			}
		}
	}
}

// cursor walks through batches by any number of rows.
type cursor struct {
	next  func() (*column.Batch, error, bool)
	stop  func()
	batch *column.Batch
	at    int
}

func newCursor(seq iter.Seq2[*column.Batch, error]) *cursor {
	c := &cursor{}
	c.next, c.stop = iter.Pull2(seq)
	return c
}

// more returns how many rows are at hand, 0 at the end.
func (c *cursor) more() (int, error) {
	for c.batch == nil || c.at == c.batch.Len {
		b, err, ok := c.next()
		if err != nil || !ok {
			c.batch, c.at = nil, 0
			return 0, err
		}
		c.batch, c.at = b, 0
	}
	return c.batch.Len - c.at, nil
}

// take returns the columns of the next n rows.
func (c *cursor) take(n int) []*column.Vector {
	if c.at == 0 && n == c.batch.Len {
		c.at = n
		return c.batch.Columns
	}
	out := make([]*column.Vector, len(c.batch.Columns))
	for i, v := range c.batch.Columns {
		if v == nil {
			continue
		}
		out[i] = column.New(v.Type, n)
		for k := c.at; k < c.at+n; k++ {
			out[i].AppendFrom(v, k)
		}
	}
	c.at += n
	return out
}
