package basefile

import (
	"bytes"
	"context"
	"iter"
	"sort"

	"hudiscope/core/column"
)

// Part is a batch of a base file that holds some of the rows that were asked for.
type Part struct {
	*column.Batch
	// First is the row number, in the file, of the batch's first row.
	First int64
}

// Parts reads the batches that hold given rows, by ascending row number, and passes over row
// groups that hold none of them. want is as in Batches.
func (f *File) Parts(ctx context.Context, want func(field string) bool, rows []int64) iter.Seq2[Part, error] {
	has := func(first, n int64) bool {
		i := sort.Search(len(rows), func(i int) bool { return rows[i] >= first })
		return i < len(rows) && rows[i] < first+n
	}
	last := int64(-1)
	if len(rows) > 0 {
		last = rows[len(rows)-1]
	}
	return f.parts(ctx, want, func(int) bool { return true }, has, last)
}

// PartsWithText reads the batches of those row groups in which a text column may have a value from
// least to most, as bytes compare, by the footer's statistics; most nil is no bound.
func (f *File) PartsWithText(ctx context.Context, want func(field string) bool, field string, least, most []byte) iter.Seq2[Part, error] {
	leaf := -1
	for i, n := range f.root.kids {
		if f.root.typ.Fields[i].Name == field {
			leaf = n.leaf
		}
	}
	return f.parts(ctx, want, func(g int) bool {
		groups := f.pf.Metadata().RowGroups
		if leaf < 0 || g >= len(groups) || leaf >= len(groups[g].Columns) {
			return true
		}
		s := &groups[g].Columns[leaf].MetaData.Statistics
		// Only these two are in the order of unsigned bytes; the older min and max are not.
		if len(s.MinValue) > 0 && most != nil && bytes.Compare(s.MinValue, most) > 0 {
			return false
		}
		return len(s.MaxValue) == 0 || bytes.Compare(s.MaxValue, least) >= 0
	}, func(int64, int64) bool { return true }, f.NumRows())
}

// parts reads the batches of the row groups that group and has choose, up to row last.
func (f *File) parts(ctx context.Context, want func(string) bool, group func(int) bool, has func(first, n int64) bool, last int64) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		if err := f.codecs(want); err != nil {
			yield(Part{}, err)
			return
		}
		first := int64(0)
		for g, rg := range f.pf.RowGroups() {
			n := rg.NumRows()
			if first > last {
				return
			}
			if !group(g) || !has(first, n) {
				first += n
				continue
			}
			at := first
			more, _, err := f.rowGroup(ctx, g, rg, want, func(b *column.Batch, err error) bool {
				if err != nil {
					return yield(Part{}, err)
				}
				p := Part{b, at}
				at += int64(b.Len)
				if has(p.First, int64(b.Len)) && !yield(p, nil) {
					return false
				}
				return at <= last
			})
			if err != nil {
				yield(Part{}, err)
				return
			}
			if !more && at <= last {
				return // the consumer stopped
			}
			first += n
		}
	}
}
