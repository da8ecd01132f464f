package hfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"sort"
)

// Cell is one entry of the file. Its slices alias the block they were read with and must not be
// changed; they stay valid.
type Cell struct {
	// Key is the row: the record key.
	Key []byte
	// Value is empty for a record that is deleted.
	Value []byte
	// Block is the offset of the data block in the file; Index is the cell's place in it, from 0.
	Block int64
	Index int
}

const cellFixed = 2 + 1 + 8 + 1 // row length, family length, timestamp, type

// cells iterates over the payload of the data block at offset off.
func (f *File) cells(p []byte, off int64, yield func(Cell) (bool, error)) (bool, error) {
	var before []byte
	for i := 0; len(p) > 0; i++ {
		bad := func(what, want, got string) error {
			return f.bad(off, fmt.Sprintf("data block: %s of cell %d", what, i), want, got, "")
		}
		if len(p) < 8+cellFixed {
			return false, bad("bytes", fmt.Sprintf("at least %d", 8+cellFixed), fmt.Sprint(len(p)))
		}
		klen, vlen := int64(int32(binary.BigEndian.Uint32(p))), int64(int32(binary.BigEndian.Uint32(p[4:])))
		if klen < cellFixed || klen > int64(len(p)-8) {
			return false, bad("key length", fmt.Sprintf("%d to %d", cellFixed, len(p)-8), fmt.Sprint(klen))
		}
		if vlen < 0 || vlen > int64(len(p))-8-klen {
			return false, bad("value length", fmt.Sprintf("0 to %d", int64(len(p))-8-klen), fmt.Sprint(vlen))
		}
		key := p[8 : 8+klen]
		r, ok := row(key)
		if !ok || int64(len(r)) != klen-cellFixed {
			return false, bad("row length", fmt.Sprint(klen-cellFixed), fmt.Sprint(int16(binary.BigEndian.Uint16(key))))
		}
		if tail := key[2+len(r):]; tail[0] != 0 || binary.BigEndian.Uint64(tail[1:]) != math.MaxInt64 || tail[9] != 4 {
			return false, bad("suffix of the key", "no family, the latest timestamp, Put", fmt.Sprintf("% x", tail))
		}
		if i > 0 && bytes.Compare(before, r) > 0 {
			return false, bad("key", fmt.Sprintf("%q or greater", before), fmt.Sprintf("%q", r))
		}
		c := Cell{Key: r, Value: p[8+klen : 8+klen+vlen], Block: f.base + off, Index: i}
		p = p[8+klen+vlen:]
		if f.mvcc {
			_, n := vlong(p)
			if n == 0 {
				return false, bad("mvcc number", "a number", fmt.Sprintf("% x", p))
			}
			p = p[n:]
		}
		before = r
		if more, err := yield(c); !more || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (f *File) data(ctx context.Context, e entry) ([]byte, error) {
	_, p, err := f.block(ctx, e.off, e.size, DataBlock)
	return p, err
}

// Scan iterates over all cells in key order. At the end the number of cells is held against the
// trailer's. The sequence is single-use and stops after the first error.
func (f *File) Scan(ctx context.Context) iter.Seq2[Cell, error] {
	return func(yield func(Cell, error) bool) {
		var n int64
		whole := false
		err := f.from(ctx, nil, func(c Cell) bool {
			n++
			return yield(c, nil)
		}, &whole)
		if err == nil && whole && n != f.trailer.Entries {
			err = f.bad(f.end, "HFile trailer: number of cells", fmt.Sprintf("%d, as there are", n), fmt.Sprint(f.trailer.Entries), "Cells are missing or the trailer is wrong; the file is damaged.")
		}
		if err != nil {
			yield(Cell{}, err)
		}
	}
}

// ScanFrom iterates over the cells whose key is not less than key. Like Scan, but the number of
// cells is not checked.
func (f *File) ScanFrom(ctx context.Context, key []byte) iter.Seq2[Cell, error] {
	return func(yield func(Cell, error) bool) {
		if key == nil {
			key = []byte{}
		}
		if err := f.from(ctx, key, func(c Cell) bool { return yield(c, nil) }, nil); err != nil {
			yield(Cell{}, err)
		}
	}
}

// Prefix iterates over the cells whose key begins with prefix.
func (f *File) Prefix(ctx context.Context, prefix []byte) iter.Seq2[Cell, error] {
	return func(yield func(Cell, error) bool) {
		if prefix == nil {
			prefix = []byte{}
		}
		if err := f.from(ctx, prefix, func(c Cell) bool { return bytes.HasPrefix(c.Key, prefix) && yield(c, nil) }, nil); err != nil {
			yield(Cell{}, err)
		}
	}
}

// from visits the cells from key on (nil: all). whole is set when the end was reached.
func (f *File) from(ctx context.Context, key []byte, visit func(Cell) bool, whole *bool) error {
	if key != nil && f.last != nil && bytes.Compare(key, f.last) > 0 {
		return nil
	}
	w := walker{f: f}
	var before []byte
	done, err := w.blocks(ctx, f.root, f.trailer.IndexLevels, key, func(e entry) (bool, error) {
		p, err := f.data(ctx, e)
		if err != nil {
			return false, err
		}
		return f.cells(p, e.off, func(c Cell) (bool, error) {
			if c.Index == 0 {
				if before != nil && bytes.Compare(before, c.Key) > 0 {
					return false, f.bad(e.off, "data block: key of cell 0", fmt.Sprintf("%q or greater, the last key before it", before), fmt.Sprintf("%q", c.Key), "")
				}
				if bytes.Compare(e.key, c.Key) > 0 {
					return false, f.bad(e.off, "data block: key of cell 0", fmt.Sprintf("%q or greater, as the index says", e.key), fmt.Sprintf("%q", c.Key), "")
				}
			}
			before = c.Key
			if key != nil && bytes.Compare(c.Key, key) < 0 {
				return true, nil
			}
			return visit(c), nil
		})
	})
	if whole != nil {
		*whole = done
	}
	return err
}

// Get looks a key up: the first cell that has it. It reads the index blocks on the way and one data
// block, none when the file info says that the key is beyond the last.
func (f *File) Get(ctx context.Context, key []byte) (c Cell, ok bool, err error) {
	for c, err := range f.GetMany(ctx, [][]byte{key}) {
		return c, err == nil, err
	}
	return Cell{}, false, nil
}

// GetMany looks keys up, which must be sorted by their bytes; keys that the file does not have give
// nothing. Each block is read once. The sequence is single-use and stops after the first error.
func (f *File) GetMany(ctx context.Context, keys [][]byte) iter.Seq2[Cell, error] {
	return func(yield func(Cell, error) bool) {
		l := lookup{f: f, ctx: ctx}
		for i, k := range keys {
			if i > 0 && bytes.Compare(keys[i-1], k) >= 0 {
				if bytes.Equal(keys[i-1], k) {
					continue
				}
				yield(Cell{}, fmt.Errorf("%s: keys to look up are not sorted: %q before %q", f.path, keys[i-1], k))
				return
			}
			c, ok, err := l.get(k)
			if err != nil {
				yield(Cell{}, err)
				return
			}
			if ok && !yield(c, nil) {
				return
			}
		}
	}
}

// lookup is a run of look-ups with ascending keys.
type lookup struct {
	f   *File
	ctx context.Context
	// index holds the index block last read of each level.
	index [maxLevels + 1]struct {
		off     int64
		entries []entry
	}
	// cells of the data block last read, and where it begins.
	off   int64
	cells []Cell
}

func (l *lookup) get(key []byte) (Cell, bool, error) {
	f := l.f
	if f.last != nil && bytes.Compare(key, f.last) > 0 {
		return Cell{}, false, nil
	}
	list := f.root
	for level := f.trailer.IndexLevels; ; level-- {
		i := find(list, key)
		if i < 0 {
			return Cell{}, false, nil
		}
		e := list[i]
		if level == 1 {
			if l.cells == nil || l.off != e.off {
				if err := l.load(e); err != nil {
					return Cell{}, false, err
				}
			}
			break
		}
		at := &l.index[level]
		if at.entries == nil || at.off != e.off {
			entries, err := f.indexBlock(l.ctx, e, level-1)
			if err != nil {
				return Cell{}, false, err
			}
			at.off, at.entries = e.off, entries
		}
		list = at.entries
	}
	i := sort.Search(len(l.cells), func(i int) bool { return bytes.Compare(l.cells[i].Key, key) >= 0 })
	if i < len(l.cells) && bytes.Equal(l.cells[i].Key, key) {
		return l.cells[i], true, nil
	}
	return Cell{}, false, nil
}

func (l *lookup) load(e entry) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	p, err := l.f.data(l.ctx, e)
	if err != nil {
		return err
	}
	l.off, l.cells = e.off, []Cell{}
	_, err = l.f.cells(p, e.off, func(c Cell) (bool, error) {
		if c.Index == 0 && bytes.Compare(e.key, c.Key) > 0 {
			return false, l.f.bad(e.off, "data block: key of cell 0", fmt.Sprintf("%q or greater, as the index says", e.key), fmt.Sprintf("%q", c.Key), "")
		}
		l.cells = append(l.cells, c)
		return true, nil
	})
	return err
}
