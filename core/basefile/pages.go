package basefile

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	// maxPageValues bounds the values of one page, of which each can take a few bits only in the file.
	maxPageValues = 1 << 25
	// maxPageHeader bounds a page's header, which can hold statistics.
	maxPageHeader = 1 << 20
	// pageWindow is how much is read at the beginning of a page.
	pageWindow = 4 << 10
)

// checkedPages is the sequence of a chunk's pages, read from the beginning to the end. The library
// makes room for what a page header claims; here a header passes only when its claims are within
// the chunk's bytes and within bounds.
type checkedPages struct {
	r io.ReaderAt
	// at is the offset of the next byte that is given out, end that of the chunk's end.
	at, end int64
	// buf are bytes from at on that have been read, pass is how many bytes from at on may pass.
	buf  []byte
	pass int64
	room [pageWindow]byte
	// codec is how the pages are compressed.
	codec format.CompressionCodec
}

// checked returns a reader of the pages of a column chunk that holds page headers against bounds. Chunks
// that are unpacked on the way are checked there.
func (f *File) checked(r io.ReaderAt, group, leaf int) (io.ReaderAt, error) {
	if _, ok := r.(*plainPages); ok {
		return r, nil
	}
	groups := f.pf.Metadata().RowGroups
	if group >= len(groups) || leaf >= len(groups[group].Columns) {
		return nil, errors.New("the footer does not tell where its pages are")
	}
	m := &groups[group].Columns[leaf].MetaData
	at := m.DataPageOffset
	if m.DictionaryPageOffset != 0 {
		at = m.DictionaryPageOffset
	}
	if at < 0 || at > f.size || m.TotalCompressedSize < 0 || m.TotalCompressedSize > f.size-at {
		return nil, fmt.Errorf("a chunk of %d bytes at byte %d of a file of %d", m.TotalCompressedSize, at, f.size)
	}
	return &checkedPages{r: r, at: at, end: at + m.TotalCompressedSize, codec: m.Codec}, nil
}

// ReadAt gives the next bytes.
func (p *checkedPages) ReadAt(b []byte, off int64) (int, error) {
	if off != p.at {
		return 0, fmt.Errorf("pages are read in order: at %d, asked for %d", p.at, off)
	}
	n := 0
	for n < len(b) {
		if p.pass == 0 {
			if p.at >= p.end {
				return n, io.EOF
			}
			if err := p.header(); err != nil {
				return n, err
			}
		}
		to := b[n:min(int64(len(b)), int64(n)+p.pass)]
		var m int
		if len(p.buf) > 0 {
			m = copy(to, p.buf)
			p.buf = p.buf[m:]
		} else {
			var err error
			if m, err = p.r.ReadAt(to, p.at); m < len(to) {
				return n + m, cut(err)
			}
		}
		n += m
		p.at += int64(m)
		p.pass -= int64(m)
	}
	return n, nil
}

func cut(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// header checks the header at the position, and lets it and its page pass.
func (p *checkedPages) header() error {
	h, n, err := pageHeader(p.read, p.at, p.end)
	if err != nil {
		return err
	}
	p.pass = n + int64(h.CompressedPageSize)
	if p.codec == format.Uncompressed {
		return nil
	}
	b, err := p.read(p.pass)
	if err != nil {
		return err
	}
	if packed, claim, ok := packedPart(h, b[n:p.pass]); ok && exceeds(p.codec, packed, claim) {
		return placeAt(p.at, fmt.Errorf("page at byte %d: it unpacks to more than the %d bytes that its header says", p.at, h.UncompressedPageSize))
	}
	return nil
}

// packedPart is the compressed part of a page, and what its header says that it unpacks to.
func packedPart(h *format.PageHeader, body []byte) (packed []byte, claim int64, ok bool) {
	claim = int64(h.UncompressedPageSize)
	if h.Type != format.DataPageV2 || !h.DataPageHeaderV2.Valid {
		return body, claim, true
	}
	v2 := &h.DataPageHeaderV2.V
	levels := int64(v2.RepetitionLevelsByteLength) + int64(v2.DefinitionLevelsByteLength)
	if v2.RepetitionLevelsByteLength < 0 || v2.DefinitionLevelsByteLength < 0 || levels > int64(len(body)) || levels > claim || v2.IsCompressed.Valid && !v2.IsCompressed.V {
		return nil, 0, false
	}
	return body[levels:], claim - levels, true
}

// pageHeader reads and checks the header of n bytes at an offset of a chunk that ends at end. read gives so many
// bytes of what is there, or more.
func pageHeader(read func(n int64) ([]byte, error), at, end int64) (h *format.PageHeader, n int64, err error) {
	for size := int64(pageWindow); ; size *= 8 {
		b, err := read(min(size, end-at))
		if err != nil {
			return nil, 0, err
		}
		r := (&thrift.CompactProtocol{}).NewReaderFromBytes(b)
		h = new(format.PageHeader)
		if err = thrift.NewDecoder(r).Decode(h); err == nil {
			n := int64(r.BytesRead())
			if err := checkPage(h, end-at-n); err != nil {
				return nil, 0, placeAt(at, fmt.Errorf("page at byte %d: %w", at, err))
			}
			return h, n, nil
		}
		if int64(len(b)) >= end-at || !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			return nil, 0, placeAt(at, fmt.Errorf("page header at byte %d: %w", at, cut(err)))
		}
		if len(b) >= maxPageHeader {
			return nil, 0, placeAt(at, fmt.Errorf("page header at byte %d: more than the limit of %d bytes", at, maxPageHeader))
		}
	}
}

// read makes buf at least n bytes long.
func (p *checkedPages) read(n int64) ([]byte, error) {
	have := len(p.buf)
	if int64(have) >= n {
		return p.buf, nil
	}
	to := p.room[:]
	if n > int64(len(to)) {
		to = make([]byte, n)
	}
	copy(to, p.buf)
	p.buf = to[:n]
	m, err := p.r.ReadAt(p.buf[have:], p.at+int64(have))
	if have+m < len(p.buf) {
		return nil, cut(err)
	}
	return p.buf, nil
}

// checkPage compares what a page header claims with the bytes left in its chunk and with the bounds.
func checkPage(h *format.PageHeader, left int64) error {
	if h.CompressedPageSize < 0 || int64(h.CompressedPageSize) > left {
		return fmt.Errorf("%d bytes claimed, %d are left in the column chunk", h.CompressedPageSize, left)
	}
	if h.CompressedPageSize > maxPage || h.UncompressedPageSize < 0 || h.UncompressedPageSize > maxPage {
		return fmt.Errorf("%d bytes, %d unpacked: more than the limit of %d", h.CompressedPageSize, h.UncompressedPageSize, maxPage)
	}
	values := int32(0)
	switch {
	case h.DataPageHeader.Valid:
		values = h.DataPageHeader.V.NumValues
	case h.DataPageHeaderV2.Valid:
		values = h.DataPageHeaderV2.V.NumValues
	case h.DictionaryPageHeader.Valid:
		values = h.DictionaryPageHeader.V.NumValues
	}
	if values < 0 || values > maxPageValues {
		return fmt.Errorf("%d values: more than the limit of %d", values, maxPageValues)
	}
	return nil
}
