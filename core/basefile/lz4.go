package basefile

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"hudiscope/core/storage"
)

// codecLZ4 is Parquet's codec LZ4, whose pages are framed as Hadoop frames LZ4. It is deprecated,
// and still what parquet.compression.codec=lz4 of Hudi's writers makes.
const codecLZ4 format.CompressionCodec = 5

// lz4Chunk is a column chunk with that codec.
type lz4Chunk struct {
	// offset is that of the first page in the file, size the bytes of all pages.
	offset, size int64
}

// lz4Key names a column chunk.
type lz4Key struct{ group, column int }

// The library has no codec for such pages and takes none from outside. It is therefore shown the
// file as it would be without the compression: a footer that calls these chunks uncompressed
// (plainFooter), and their pages unpacked on the way (plainPages).

// hasLZ4 reports whether a column chunk of the file is compressed so.
func hasLZ4(m *format.FileMetaData) bool {
	for i := range m.RowGroups {
		for j := range m.RowGroups[i].Columns {
			if m.RowGroups[i].Columns[j].MetaData.Codec == codecLZ4 {
				return true
			}
		}
	}
	return false
}

// openLZ4 opens the file anew, with its LZ4 chunks shown as uncompressed ones.
func (f *File) openLZ4(ctx context.Context) error {
	m := *f.pf.Metadata()
	chunks := map[lz4Key]lz4Chunk{}
	m.RowGroups = append([]format.RowGroup(nil), m.RowGroups...)
	for i := range m.RowGroups {
		g := &m.RowGroups[i]
		g.Columns = append([]format.ColumnChunk(nil), g.Columns...)
		for j := range g.Columns {
			c := &g.Columns[j].MetaData
			if c.Codec != codecLZ4 {
				if len(m.RowGroups[0].Columns) > j && f.pf.Metadata().RowGroups[0].Columns[j].MetaData.Codec == codecLZ4 {
					return &Unsupported{f.path, fmt.Sprintf("row group %d of a column is compressed with %s and row group 0 with LZ4", i, c.Codec)}
				}
				continue
			}
			if i > 0 && f.pf.Metadata().RowGroups[0].Columns[j].MetaData.Codec != codecLZ4 {
				return &Unsupported{f.path, fmt.Sprintf("row group %d of a column is compressed with LZ4 and row group 0 with another codec", i)}
			}
			k := lz4Chunk{offset: c.DataPageOffset, size: c.TotalCompressedSize}
			if c.DictionaryPageOffset != 0 {
				k.offset = c.DictionaryPageOffset
			}
			if k.offset < 0 || k.size < 0 || k.offset > f.size || k.size > f.size-k.offset {
				return fmt.Errorf("a column chunk of %d bytes at offset %d in a file of %d", k.size, k.offset, f.size)
			}
			chunks[lz4Key{i, j}] = k
			c.Codec = format.Uncompressed
			// How long the unpacked pages are is known at their end, which plainPages tells.
			c.TotalCompressedSize = math.MaxInt64 / 4
		}
	}
	foot, err := thrift.Marshal(&thrift.CompactProtocol{}, &m)
	if err != nil {
		return err
	}
	foot = binary.LittleEndian.AppendUint32(foot, uint32(len(foot)))
	foot = append(foot, "PAR1"...)
	r := &plainFooter{file: storage.ReaderAt(ctx, f.obj), foot: foot, at: f.size}
	pf, err := parquet.OpenFile(r, f.size+int64(len(foot)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.SkipMagicBytes(true))
	if err != nil {
		return err
	}
	f.pf, f.lz4 = pf, chunks
	return nil
}

// plainFooter is a file with another footer behind its end.
type plainFooter struct {
	file io.ReaderAt
	foot []byte
	at   int64
}

func (r *plainFooter) ReadAt(p []byte, off int64) (int, error) {
	if off < r.at {
		return r.file.ReadAt(p[:min(int64(len(p)), r.at-off)], off)
	}
	if off-r.at >= int64(len(r.foot)) {
		return 0, io.EOF
	}
	n := copy(p, r.foot[off-r.at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// chunkReader is what the pages of a column chunk are read from.
func (f *File) chunkReader(ctx context.Context, group, column int) io.ReaderAt {
	r := storage.ReaderAt(ctx, f.obj)
	c, ok := f.lz4[lz4Key{group, column}]
	if !ok {
		return r
	}
	p := &plainPages{at: c.offset, in: bufio.NewReaderSize(io.NewSectionReader(r, c.offset, c.size), 32<<10)}
	p.thrift = thrift.NewDecoder((&thrift.CompactProtocol{}).NewReader(p.in))
	return p
}

// maxPage bounds one page, packed or unpacked, in bytes. Writers aim at 1 MiB.
const maxPage = 256 << 20

// plainPages is the sequence of a chunk's pages, unpacked and with headers that say so. It is read
// from the beginning to the end, as pages are.
type plainPages struct {
	in     *bufio.Reader
	thrift *thrift.Decoder
	// at is the offset of the next byte that is given out, buf what is there from it on.
	at  int64
	buf []byte
	// packed and plain are used again for every page.
	packed, plain []byte
	err           error
}

func (p *plainPages) ReadAt(b []byte, off int64) (int, error) {
	if off != p.at {
		return 0, fmt.Errorf("pages compressed with LZ4 are read in order: at %d, asked for %d", p.at, off)
	}
	n := 0
	for n < len(b) {
		if len(p.buf) == 0 {
			if p.err == nil {
				p.err = p.page()
			}
			if p.err != nil {
				return n, p.err
			}
		}
		m := copy(b[n:], p.buf)
		n += m
		p.at += int64(m)
		p.buf = p.buf[m:]
	}
	return n, nil
}

// page unpacks the next page.
func (p *plainPages) page() error {
	if _, err := p.in.Peek(1); err != nil {
		return err
	}
	var h format.PageHeader
	if err := p.thrift.Decode(&h); err != nil {
		return fmt.Errorf("page header: %w", err)
	}
	if h.CompressedPageSize < 0 || h.CompressedPageSize > maxPage || h.UncompressedPageSize < 0 || h.UncompressedPageSize > maxPage {
		return fmt.Errorf("a page of %d bytes, %d unpacked: more than the limit of %d", h.CompressedPageSize, h.UncompressedPageSize, maxPage)
	}
	// What comes is grown as it comes: the size is a claim.
	var err error
	if p.packed, err = readPage(p.in, p.packed[:0], int(h.CompressedPageSize)); err != nil {
		return err
	}
	if h.CRC != 0 {
		if sum := crc32.ChecksumIEEE(p.packed); sum != uint32(h.CRC) {
			return fmt.Errorf("page checksum: want %08x, got %08x", uint32(h.CRC), sum)
		}
	}
	levels, packed := 0, true
	if h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid {
		v2 := &h.DataPageHeaderV2.V
		rep, def := int64(v2.RepetitionLevelsByteLength), int64(v2.DefinitionLevelsByteLength)
		if rep < 0 || def < 0 || rep+def > int64(min(h.CompressedPageSize, h.UncompressedPageSize)) {
			return fmt.Errorf("a page of %d bytes has %d and %d bytes of levels", h.CompressedPageSize, rep, def)
		}
		levels = int(rep + def)
		packed = !v2.IsCompressed.Valid || v2.IsCompressed.V
		v2.IsCompressed = thrift.New(false)
	}
	plain := p.packed
	if packed {
		want := int(h.UncompressedPageSize) - levels
		body := p.packed[levels:]
		// No LZ4 block unfolds to more than 255 times its size.
		if want > 255*len(body)+16 {
			return fmt.Errorf("a page of %d bytes claims %d unpacked", len(body), want)
		}
		if cap(p.plain) < levels+want {
			p.plain = make([]byte, levels+want)
		}
		plain = p.plain[:levels+want]
		copy(plain, p.packed[:levels])
		if err := unpackLZ4(plain[levels:], body); err != nil {
			return err
		}
	}
	h.CRC = 0
	h.CompressedPageSize, h.UncompressedPageSize = int32(len(plain)), int32(len(plain))
	head, err := thrift.Marshal(&thrift.CompactProtocol{}, &h)
	if err != nil {
		return err
	}
	p.buf = append(head, plain...)
	return nil
}

func readPage(r io.Reader, p []byte, n int) ([]byte, error) {
	for len(p) < n {
		step := min(n-len(p), max(cap(p)-len(p), 64<<10))
		at := len(p)
		p = append(p, make([]byte, step)...)
		if m, err := io.ReadFull(r, p[at:]); err != nil {
			return nil, fmt.Errorf("a page of %d bytes ends after %d: %w", n, at+m, io.ErrUnexpectedEOF)
		}
	}
	return p, nil
}

// unpackLZ4 fills dst from Hadoop's framing of LZ4:
//
//	blocks of: u32 length unpacked | chunks until that is reached, each: u32 length packed | LZ4 block
//
// all big-endian. Early writers outside of Hadoop wrote one bare LZ4 block under the same codec; that
// is tried when the framing is not there, as other readers do.
func unpackLZ4(dst, src []byte) error {
	framed := unpackHadoop(dst, src)
	if framed == nil {
		return nil
	}
	if n, err := lz4.UncompressBlock(src, dst); err == nil && n == len(dst) {
		return nil
	}
	return framed
}

func unpackHadoop(dst, src []byte) error {
	size, in, out := len(src), src, dst
	bad := func(format string, args ...any) error {
		return fmt.Errorf("LZ4 data at byte %d of a page of %d: %s", size-len(in), size, fmt.Sprintf(format, args...))
	}
	for len(in) > 0 {
		if len(in) < 4 {
			return bad("%d bytes left, a block length has 4", len(in))
		}
		block := int64(binary.BigEndian.Uint32(in))
		if block > int64(len(out)) {
			return bad("a block of %d bytes unpacked where %d are missing", block, len(out))
		}
		in = in[4:]
		for left := int(block); left > 0; {
			if len(in) < 4 {
				return bad("%d bytes left, a chunk length has 4", len(in))
			}
			n := int64(binary.BigEndian.Uint32(in))
			if n > int64(len(in)-4) {
				return bad("a chunk of %d bytes where %d are left", n, len(in)-4)
			}
			m, err := lz4.UncompressBlock(in[4:4+n], out[:left])
			if err != nil {
				return bad("%v", err)
			}
			if m == 0 {
				return bad("a chunk of %d bytes unpacks to nothing", n)
			}
			in, out, left = in[4+n:], out[m:], left-m
		}
	}
	if len(out) > 0 {
		return bad("%d of %d bytes unpacked", len(dst)-len(out), len(dst))
	}
	return nil
}
