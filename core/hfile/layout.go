package hfile

import (
	"context"
	"fmt"
	"iter"

	"hudiscope/core/storage"
)

// Block describes one block of the file. Offsets count in the file that holds the HFile; sizes are
// in bytes.
type Block struct {
	Type BlockType
	// Start is the offset of the header, End that behind the checksums.
	Start, End int64
	// Packed and Unpacked are the sizes of the payload as stored and unpacked.
	Packed, Unpacked int64
	Checksum         ChecksumType
	// FirstKey is the key of the block in the index, for data and index blocks that the root index
	// names; it may be shorter than the first key in the block. nil when not known.
	FirstKey []byte
	// Name is the name of a meta block.
	Name string
}

func (f *File) describe(h header, off int64) Block {
	b := Block{Type: h.typ, Start: f.base + off, End: f.base + off + h.stored, Packed: h.data - headerSize, Unpacked: h.unpacked, Checksum: h.checksum}
	for i := range f.root {
		if f.root[i].off == off {
			b.FirstKey = f.root[i].key
		}
	}
	for i := range f.meta {
		if f.meta[i].off == off {
			b.Name = string(f.meta[i].key)
		}
	}
	return b
}

// LoadOnOpen lists the blocks that Open has read.
func (f *File) LoadOnOpen() []Block { return f.open }

// Blocks iterates over all blocks in file order by their headers, 33 bytes each. Before the
// load-on-open section one read is made for every block. The sequence is single-use and stops
// after the first error; bytes that belong to no block are one.
func (f *File) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		keys := map[int64]int{}
		for i := range f.root {
			keys[f.root[i].off] = i
		}
		var p [headerSize]byte
		for off := int64(0); off < f.trailer.LoadOnOpen; {
			if f.trailer.LoadOnOpen-off < headerSize {
				yield(Block{}, f.bad(off, "HFile block", fmt.Sprintf("at least %d bytes before the load-on-open section", headerSize), fmt.Sprint(f.trailer.LoadOnOpen-off), ""))
				return
			}
			if err := storage.ReadFull(ctx, f.obj, p[:], off); err != nil {
				yield(Block{}, fmt.Errorf("%s at byte %d: %w", f.path, f.base+off, err))
				return
			}
			h, err := f.parseHeader(p[:], off, f.trailer.LoadOnOpen)
			if err != nil {
				yield(Block{}, err)
				return
			}
			b := Block{Type: h.typ, Start: f.base + off, End: f.base + off + h.stored, Packed: h.data - headerSize, Unpacked: h.unpacked, Checksum: h.checksum}
			if i, ok := keys[off]; ok {
				b.FirstKey = f.root[i].key
			}
			for i := range f.meta {
				if f.meta[i].off == off {
					b.Name = string(f.meta[i].key)
				}
			}
			if !yield(b, nil) {
				return
			}
			off += h.stored
		}
		for _, b := range f.open {
			if !yield(b, nil) {
				return
			}
		}
	}
}
