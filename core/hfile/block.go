package hfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"hudiscope/core/storage"
)

// headerSize is the size of a block's header.
const headerSize = 33

// MaxBlock bounds the stored and the unpacked size of one block, in bytes. Hudi's blocks have
// 1 MiB or less, unless one record is larger.
const MaxBlock = 256 << 20

// BlockType is the kind of a block, by its magic (spec hfile.md section 4).
type BlockType string

// The block types. Those of HBase alone are not written by Hudi: EncodedDataBlock is refused, the
// bloom blocks are passed over.
const (
	DataBlock         BlockType = "DATABLK*"
	LeafIndex         BlockType = "IDXLEAF2"
	IntermediateIndex BlockType = "IDXINTE2"
	RootIndex         BlockType = "IDXROOT2"
	MetaBlock         BlockType = "METABLKc"
	FileInfo          BlockType = "FILEINF2"
	EncodedDataBlock  BlockType = "DATABLKE"
	BloomChunk        BlockType = "BLMFBLK2"
	GeneralBloomMeta  BlockType = "BLMFMET2"
	DeleteBloomMeta   BlockType = "DFBLMET2"
)

var blockNames = map[BlockType]string{
	DataBlock: "data block", LeafIndex: "leaf index", IntermediateIndex: "intermediate index", RootIndex: "root index", MetaBlock: "meta block",
	FileInfo: "file info", EncodedDataBlock: "encoded data block", BloomChunk: "bloom filter chunk", GeneralBloomMeta: "bloom filter meta", DeleteBloomMeta: "delete bloom filter meta",
}

// String names the type for people.
func (t BlockType) String() string {
	if s, ok := blockNames[t]; ok {
		return s
	}
	return fmt.Sprintf("block %q", string(t))
}

// ChecksumType is how a block's checksums were made.
type ChecksumType uint8

// The checksum types. NoChecksum is what Hudi's own writer stores, with zeros in the place of
// checksums.
const (
	NoChecksum ChecksumType = 0
	CRC32      ChecksumType = 1
	CRC32C     ChecksumType = 2
)

// String names the type.
func (t ChecksumType) String() string {
	switch t {
	case NoChecksum:
		return "none"
	case CRC32:
		return "CRC32"
	case CRC32C:
		return "CRC32C"
	}
	return fmt.Sprintf("checksum type %d", uint8(t))
}

// header is a block's header. Sizes are in bytes.
type header struct {
	typ BlockType
	// stored is the whole block on disk, data without the checksums; both with the header.
	stored, data int64
	unpacked     int64
	checksum     ChecksumType
	perChecksum  int64
}

// parseHeader decodes a header at offset off of a block that ends at or before limit.
func (f *File) parseHeader(p []byte, off, limit int64) (header, error) {
	i32 := func(i int) int64 { return int64(int32(binary.BigEndian.Uint32(p[i:]))) }
	h := header{typ: BlockType(p[:8]), stored: headerSize + i32(8), unpacked: i32(12), checksum: ChecksumType(p[24]), perChecksum: i32(25), data: i32(29)}
	if _, ok := blockNames[h.typ]; !ok {
		return h, f.bad(off, "magic of an HFile block", "a block type", fmt.Sprintf("%q", p[:8]), "The file is damaged here.")
	}
	part := "header of the " + h.typ.String()
	switch {
	case h.stored < headerSize || h.stored > limit-off:
		return h, f.bad(off+8, part+": size on disk", fmt.Sprintf("0 to %d", limit-off-headerSize), fmt.Sprint(h.stored-headerSize), "")
	case h.unpacked < 0:
		return h, f.bad(off+12, part+": unpacked size", "0 or more", fmt.Sprint(h.unpacked), "")
	case h.data < headerSize || h.data > h.stored:
		return h, f.bad(off+29, part+": size without checksums", fmt.Sprintf("%d to %d", headerSize, h.stored), fmt.Sprint(h.data), "")
	case h.checksum > CRC32C:
		return h, f.bad(off+24, part+": checksum type", "0, 1 or 2", fmt.Sprint(p[24]), "")
	case h.checksum != NoChecksum && h.perChecksum <= 0:
		return h, f.bad(off+25, part+": bytes per checksum", "1 or more", fmt.Sprint(h.perChecksum), "")
	case h.stored > MaxBlock || h.unpacked > MaxBlock:
		return h, &Unsupported{f.path, f.base + off, fmt.Sprintf("the %s has %d bytes (%d unpacked), more than the limit of %d", h.typ, h.stored, h.unpacked, MaxBlock)}
	}
	if h.checksum != NoChecksum {
		if chunks := (h.data + h.perChecksum - 1) / h.perChecksum; chunks*4 != h.stored-h.data {
			return h, f.bad(off+29, part+": bytes of checksums", fmt.Sprint(chunks*4), fmt.Sprint(h.stored-h.data), "")
		}
	}
	return h, nil
}

// block reads one block and returns its unpacked payload. stored is its size by the index, and
// the types are those that may be there.
func (f *File) block(ctx context.Context, off, stored int64, types ...BlockType) (BlockType, []byte, error) {
	if off < 0 || stored < headerSize || stored > f.end-off {
		return "", nil, f.bad(f.trailer.LoadOnOpen, "index entry", fmt.Sprintf("a block before byte %d", f.end), fmt.Sprintf("%d bytes at %d", stored, off), "")
	}
	if stored > MaxBlock {
		return "", nil, &Unsupported{f.path, f.base + off, fmt.Sprintf("a block of %d bytes is more than the limit of %d", stored, MaxBlock)}
	}
	p := make([]byte, stored)
	if err := storage.ReadFull(ctx, f.obj, p, off); err != nil {
		return "", nil, fmt.Errorf("%s at byte %d: %w", f.path, f.base+off, err)
	}
	h, err := f.parseHeader(p, off, off+stored)
	if err != nil {
		return "", nil, err
	}
	if h.stored != stored {
		return "", nil, f.bad(off+8, "header of the "+h.typ.String()+": size on disk", fmt.Sprintf("%d, as the index says", stored-headerSize), fmt.Sprint(h.stored-headerSize), "")
	}
	out, err := f.unpack(h, p, off, types...)
	return h.typ, out, err
}

// unpack checks the type and the checksums of a whole block p at offset off and unpacks its payload.
func (f *File) unpack(h header, p []byte, off int64, types ...BlockType) ([]byte, error) {
	ok := len(types) == 0
	for _, t := range types {
		ok = ok || t == h.typ
	}
	if h.typ == EncodedDataBlock {
		return nil, &Unsupported{f.path, f.base + off, "data blocks in an HBase encoding (DATABLKE) can't be read"}
	}
	if !ok {
		return nil, f.bad(off, "magic of an HFile block", fmt.Sprintf("%q", types[0]), fmt.Sprintf("%q", string(h.typ)), "")
	}
	if err := f.checksums(h, p, off); err != nil {
		return nil, err
	}
	return f.decompress(h, p[headerSize:h.data], off)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (f *File) checksums(h header, p []byte, off int64) error {
	table := castagnoli
	switch h.checksum {
	case NoChecksum:
		return nil
	case CRC32:
		table = crc32.IEEETable
	}
	sums := p[h.data:h.stored]
	for i, lo := 0, int64(0); lo < h.data; i, lo = i+1, lo+h.perChecksum {
		got := crc32.Checksum(p[lo:min(lo+h.perChecksum, h.data)], table)
		if want := binary.BigEndian.Uint32(sums[4*i:]); got != want {
			return f.bad(off+lo, fmt.Sprintf("%s checksum %d of the %s", h.checksum, i, h.typ), fmt.Sprintf("%08x", want), fmt.Sprintf("%08x", got),
				"The bytes have changed since they were written; copy the file again.")
		}
	}
	return nil
}

func (f *File) decompress(h header, p []byte, off int64) ([]byte, error) {
	bad := func(err error) error {
		e := f.bad(off+headerSize, fmt.Sprintf("%s payload of the %s", f.trailer.Codec, h.typ), "", "", "The file is damaged here.")
		e.Err = err
		return e
	}
	size := func(got int64) error {
		return f.bad(off+12, "header of the "+h.typ.String()+": unpacked size", fmt.Sprintf("%d, as it is", got), fmt.Sprint(h.unpacked), "")
	}
	switch f.trailer.Codec {
	case None:
		if int64(len(p)) != h.unpacked {
			return nil, size(int64(len(p)))
		}
		return p, nil
	case GZ:
		z, err := gzip.NewReader(bytes.NewReader(p))
		if err != nil {
			return nil, bad(err)
		}
		return inflate(z, h.unpacked, int64(len(p)), bad, size)
	case Zstd:
		z, err := zstd.NewReader(bytes.NewReader(p), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxBlock), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, bad(err)
		}
		defer z.Close()
		return inflate(z, h.unpacked, int64(len(p)), bad, size)
	case Snappy:
		out, err := hadoopSnappy(p, h.unpacked)
		if err != nil {
			return nil, bad(err)
		}
		if int64(len(out)) != h.unpacked {
			return nil, size(int64(len(out)))
		}
		return out, nil
	}
	return nil, &Unsupported{f.path, f.base + off, "blocks compressed with " + f.trailer.Codec.String() + " can't be read (GZ, NONE, ZSTD and SNAPPY can)"}
}

// inflate reads a stream that must give exactly want bytes. The buffer grows with what arrives: the
// size is the file's claim.
func inflate(r io.Reader, want, packed int64, bad func(error) error, size func(int64) error) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(min(want, 64*packed+512)))
	n, err := io.Copy(&b, io.LimitReader(r, want+1))
	if err != nil {
		return nil, bad(err)
	}
	if n != want {
		return nil, size(n)
	}
	return b.Bytes(), nil
}

// hadoopSnappy unpacks Hadoop's framing: per chunk its unpacked size, then pieces of a size and raw
// Snappy bytes until that much has come out.
func hadoopSnappy(p []byte, limit int64) ([]byte, error) {
	var out []byte
	for len(p) > 0 {
		if len(p) < 4 {
			return nil, io.ErrUnexpectedEOF
		}
		chunk := int64(binary.BigEndian.Uint32(p))
		p = p[4:]
		for end := int64(len(out)) + chunk; int64(len(out)) < end; {
			if len(p) < 4 || uint64(binary.BigEndian.Uint32(p)) > uint64(len(p)-4) {
				return nil, io.ErrUnexpectedEOF
			}
			n := int(binary.BigEndian.Uint32(p))
			piece := p[4 : 4+n]
			p = p[4+n:]
			size, err := snappy.DecodedLen(piece)
			if err != nil {
				return nil, err
			}
			if size == 0 || int64(size) > end-int64(len(out)) || end > limit {
				return nil, fmt.Errorf("a piece of %d bytes where at most %d are left", size, min(end, limit)-int64(len(out)))
			}
			raw, err := snappy.Decode(nil, piece)
			if err != nil {
				return nil, err
			}
			out = append(out, raw...)
		}
	}
	return out, nil
}
