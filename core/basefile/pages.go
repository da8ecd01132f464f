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
	return &checkedPages{r: r, at: at, end: at + m.TotalCompressedSize}, nil
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
	for size := int64(pageWindow); ; size *= 8 {
		if err := p.read(min(size, p.end-p.at)); err != nil {
			return err
		}
		r := (&thrift.CompactProtocol{}).NewReaderFromBytes(p.buf)
		var h format.PageHeader
		err := thrift.NewDecoder(r).Decode(&h)
		if err == nil {
			n := int64(r.BytesRead())
			if err := checkPage(&h, p.end-p.at-n); err != nil {
				return fmt.Errorf("page at byte %d: %w", p.at, err)
			}
			p.pass = n + int64(h.CompressedPageSize)
			return nil
		}
		if int64(len(p.buf)) >= p.end-p.at || !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			return fmt.Errorf("page header at byte %d: %w", p.at, cut(err))
		}
		if len(p.buf) >= maxPageHeader {
			return fmt.Errorf("page header at byte %d: more than the limit of %d bytes", p.at, maxPageHeader)
		}
	}
}

// read makes buf at least n bytes long.
func (p *checkedPages) read(n int64) error {
	have := len(p.buf)
	if int64(have) >= n {
		return nil
	}
	to := p.room[:]
	if n > int64(len(to)) {
		to = make([]byte, n)
	}
	copy(to, p.buf)
	p.buf = to[:n]
	m, err := p.r.ReadAt(p.buf[have:], p.at+int64(have))
	if have+m < len(p.buf) {
		return cut(err)
	}
	return nil
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
