package hfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"sort"
)

// entry is one entry of an index: a block and a key that is greater than every key before the block
// and not greater than its first. It may be a key that no cell has (spec hfile.md section 5.1).
type entry struct {
	key  []byte
	off  int64
	size int64
}

// vlong reads Hadoop's variable-length number; n is 0 when p is cut.
func vlong(p []byte) (x int64, n int) {
	if len(p) == 0 {
		return 0, 0
	}
	b := int8(p[0])
	if b >= -112 {
		return int64(b), 1
	}
	size, negative := int(-112-int(b)), false
	if b < -120 {
		size, negative = int(-120-int(b)), true
	}
	if len(p) < 1+size {
		return 0, 0
	}
	var u uint64
	for _, c := range p[1 : 1+size] {
		u = u<<8 | uint64(c)
	}
	if negative {
		u = ^u
	}
	return int64(u), 1 + size
}

// row returns the row of a key: i16 length, row, and what HBase writes behind it.
func row(key []byte) ([]byte, bool) {
	if len(key) < 2 {
		return nil, false
	}
	n := int(int16(binary.BigEndian.Uint16(key)))
	if n < 0 || n > len(key)-2 {
		return nil, false
	}
	return key[2 : 2+n], true
}

// rootEntries decodes a root index of count entries; at is the offset of its block. Keys of a meta
// index are plain names.
func (f *File) rootEntries(p []byte, count int64, at int64, meta bool) ([]entry, error) {
	const least = 8 + 4 + 1 // offset, size, key length
	part := "root index"
	if meta {
		part = "meta index"
	}
	if count < 0 || count > int64(len(p)/least) {
		return nil, f.bad(at, part+": number of entries in the trailer", fmt.Sprintf("0 to %d", len(p)/least), fmt.Sprint(count), "")
	}
	out := make([]entry, 0, count)
	for i := range count {
		if len(p) < least {
			return nil, f.bad(at, fmt.Sprintf("%s: entry %d of %d", part, i, count), "more bytes", fmt.Sprint(len(p)), "")
		}
		e := entry{off: int64(binary.BigEndian.Uint64(p)), size: int64(int32(binary.BigEndian.Uint32(p[8:])))}
		n, used := vlong(p[12:])
		if used == 0 || n < 0 || n > int64(len(p)-12-used) {
			return nil, f.bad(at, fmt.Sprintf("%s: key length of entry %d", part, i), fmt.Sprintf("at most %d", len(p)-12-used), fmt.Sprint(n), "")
		}
		e.key = p[12+used : 12+used+int(n)]
		p = p[12+used+int(n):]
		if !meta {
			key, ok := row(e.key)
			if !ok {
				return nil, f.bad(at, fmt.Sprintf("%s: key of entry %d", part, i), "a row length and a row", fmt.Sprintf("% x", e.key), "")
			}
			e.key = key
		}
		out = append(out, e)
	}
	// A root index of several levels ends with the place of the middle key.
	if len(p) != 0 && (meta || len(p) != 16) {
		return nil, f.bad(at, part, fmt.Sprintf("%d entries, as the trailer says", count), fmt.Sprintf("%d more bytes", len(p)), "")
	}
	return out, f.ordered(out, at, part, meta)
}

// blockEntries decodes a leaf or intermediate index.
func (f *File) blockEntries(p []byte, at int64) ([]entry, error) {
	const part = "index block"
	if len(p) < 8 {
		return nil, f.bad(at, part, "at least 8 bytes", fmt.Sprint(len(p)), "")
	}
	n := int64(int32(binary.BigEndian.Uint32(p)))
	if n < 0 || n > int64(len(p)-8)/(4+12+2) {
		return nil, f.bad(at, part+": number of entries", fmt.Sprintf("0 to %d", int64(len(p)-8)/18), fmt.Sprint(n), "")
	}
	offs, base := p[4:], p[8+4*n:]
	out := make([]entry, 0, n)
	for i := range n {
		lo, hi := int64(int32(binary.BigEndian.Uint32(offs[4*i:]))), int64(int32(binary.BigEndian.Uint32(offs[4*i+4:])))
		if lo < 0 || hi < lo+12+2 || hi > int64(len(base)) {
			return nil, f.bad(at, fmt.Sprintf("%s: place of entry %d", part, i), fmt.Sprintf("14 bytes or more within %d", len(base)), fmt.Sprintf("%d to %d", lo, hi), "")
		}
		e := base[lo:hi]
		key, ok := row(e[12:])
		if !ok {
			return nil, f.bad(at, fmt.Sprintf("%s: key of entry %d", part, i), "a row length and a row", fmt.Sprintf("% x", e[12:]), "")
		}
		out = append(out, entry{key: key, off: int64(binary.BigEndian.Uint64(e)), size: int64(int32(binary.BigEndian.Uint32(e[8:])))})
	}
	return out, f.ordered(out, at, part, false)
}

// ordered checks that the blocks of an index come one behind the other and their keys ascend: what
// the binary search relies on, and what makes every walk over an index end.
func (f *File) ordered(list []entry, at int64, part string, meta bool) error {
	for i := range list {
		e := &list[i]
		if e.off < 0 || e.size < headerSize || e.off > f.end || e.size > f.end-e.off {
			return f.bad(at, fmt.Sprintf("%s: place of the block of entry %d", part, i), fmt.Sprintf("a block before byte %d", f.end), fmt.Sprintf("%d bytes at %d", e.size, e.off), "")
		}
		if i == 0 {
			continue
		}
		if before := &list[i-1]; e.off < before.off+before.size && !meta {
			return f.bad(at, fmt.Sprintf("%s: offset of entry %d", part, i), fmt.Sprintf("%d or more", before.off+before.size), fmt.Sprint(e.off), "")
		} else if bytes.Compare(before.key, e.key) > 0 && !meta {
			return f.bad(at, fmt.Sprintf("%s: key of entry %d", part, i), fmt.Sprintf("%q or greater", before.key), fmt.Sprintf("%q", e.key), "")
		}
	}
	return nil
}

// find returns the last entry whose key is not greater than key, -1 when there is none.
func find(list []entry, key []byte) int {
	return sort.Search(len(list), func(i int) bool { return bytes.Compare(list[i].key, key) > 0 }) - 1
}

// indexBlock reads the entries of an index block; level is the level of the blocks it points to.
func (f *File) indexBlock(ctx context.Context, e entry, level int) ([]entry, error) {
	types := []BlockType{LeafIndex}
	if level > 1 {
		types = []BlockType{IntermediateIndex}
	}
	_, p, err := f.block(ctx, e.off, e.size, types...)
	if err != nil {
		return nil, err
	}
	return f.blockEntries(p, e.off)
}

// walker goes over the data blocks in order.
type walker struct {
	f *File
	// next is the offset that the next data block may have at least, and the next index block
	// of each level: a damaged index must not lead to a block twice.
	next [maxLevels + 1]int64
}

// blocks calls visit for the data blocks from the one that may hold from (nil: the first) to the
// end, or until visit says false.
func (w *walker) blocks(ctx context.Context, list []entry, level int, from []byte, visit func(e entry) (bool, error)) (bool, error) {
	i := 0
	if from != nil {
		i = max(0, find(list, from))
	}
	for ; i < len(list); i++ {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		e := list[i]
		if e.off < w.next[level] {
			return false, w.f.bad(e.off, "data index", fmt.Sprintf("a block at byte %d or behind it", w.next[level]), fmt.Sprintf("one at %d", e.off), "")
		}
		w.next[level] = e.off + e.size
		more, err := true, error(nil)
		if level == 1 {
			more, err = visit(e)
		} else {
			var below []entry
			if below, err = w.f.indexBlock(ctx, e, level-1); err == nil {
				more, err = w.blocks(ctx, below, level-1, from, visit)
			}
		}
		if !more || err != nil {
			return false, err
		}
		from = nil
	}
	return true, nil
}
