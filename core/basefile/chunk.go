package basefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/format"

	"hudiscope/core/column"
)

// chunkPages decodes the pages of a column chunk straight into vectors: those that nearly all pages are, plain or by
// dictionary, of columns that are not repeated. What is written in another way, and what is damaged, is left to the
// library, which has the last word on it.
type chunkPages struct {
	r io.ReaderAt
	// at is the offset of the next byte to be taken, end that of the chunk's end.
	at, end int64
	// buf are the bytes from at on that have been read; they lie in room.
	buf, room []byte
	codec     compress.Codec // nil: the pages are not compressed
	kind      format.CompressionCodec
	plain     []byte    // a page unpacked, used again for the next one
	levels    []byte    // definition levels of a page, used again
	gzip      *inflater // nil: not compressed with gzip
	zstd      *unzstd   // nil: not compressed with Zstandard, or for the library
	// pages is how many data pages have been given out.
	pages int
}

// plainDictionary is PLAIN_DICTIONARY of the format (Encodings.md): writers of data pages of version 1 still use it.
const plainDictionary format.Encoding = 2

// errOther says that a page is for the library.
var errOther = errors.New("a page of another kind")

// chunkPages returns a reader of a column chunk's pages, nil where they are for the library.
func (f *File) chunkPages(r io.ReaderAt, n *node, m *format.ColumnMetaData) *chunkPages {
	c, ok := r.(*checkedPages)
	if !ok || n.rep > 0 || n.def > 127 {
		return nil
	}
	p := &chunkPages{r: c.r, at: c.at, end: c.end, kind: m.Codec}
	if m.Codec != format.Uncompressed {
		p.codec = parquet.LookupCompressionCodec(m.Codec)
	}
	switch {
	case m.Codec == format.Gzip:
		p.gzip = new(inflater)
	case m.Codec == format.Zstd && ownZstd:
		p.zstd = new(unzstd)
	}
	return p
}

// read makes buf n bytes long at least, which the chunk has.
func (p *chunkPages) read(n int64) ([]byte, error) {
	have := len(p.buf)
	if int64(have) >= n {
		return p.buf, nil
	}
	if int64(cap(p.room)) < n {
		p.room = make([]byte, n+zstdSlack)
	}
	copy(p.room[:n], p.buf)
	p.buf = p.room[:n]
	if m, err := p.r.ReadAt(p.buf[have:], p.at+int64(have)); have+m < len(p.buf) {
		p.buf = p.buf[:have+m]
		return nil, cut(err)
	}
	return p.buf, nil
}

func (p *chunkPages) take(n int64) []byte {
	b := p.buf[:n]
	p.buf = p.buf[n:]
	p.at += n
	return b
}

// next reads a data page into a stream, and the dictionary before it. After errOther the stream is as it was.
func (p *chunkPages) next(s *leafStream) error {
	for {
		if p.at >= p.end {
			return io.EOF
		}
		h, n, err := pageHeader(p.read, p.at, p.end)
		if err != nil {
			return err
		}
		// The next header comes with the page.
		size := n + int64(h.CompressedPageSize)
		if _, err := p.read(min(size+pageWindow, p.end-p.at)); err != nil {
			return err
		}
		body := p.take(size)[n:]
		if h.CRC != 0 && crc32.ChecksumIEEE(body) != uint32(h.CRC) {
			return errOther
		}
		switch h.Type {
		case format.DictionaryPage:
			if s.dict == nil {
				err = p.dictionary(s, h, body)
			}
		case format.DataPage, format.DataPageV2:
			if err = p.data(s, h, body); err == nil {
				p.pages++
				return nil
			}
		default:
			err = errOther
		}
		if err != nil {
			return errOther
		}
	}
}

// unpack returns the bytes of a page of size bytes, valid until the next call.
func (p *chunkPages) unpack(body []byte, size int32) ([]byte, error) {
	if p.codec == nil {
		return body, nil
	}
	// Some decoders need room behind the end to see that it is the end.
	if n := int(size) + 64; cap(p.plain) < n {
		p.plain = make([]byte, n)
	}
	switch {
	case p.gzip != nil:
		if p.gzip.gunzip(p.plain[:cap(p.plain)], body, int(size)) == nil {
			return p.plain[:size], nil
		}
	case p.zstd != nil && cap(body)-len(body) >= zstdSlack:
		if p.zstd.frame(p.plain[:cap(p.plain)], body[:len(body)+zstdSlack], len(body), int(size)) == nil {
			return p.plain[:size], nil
		}
	}
	// To find out by unpacking would take as long again: where no more than a block too much can come, that is seen
	// afterwards.
	if most, ok := zstdMost(body); p.kind != format.Zstd || !ok || most > int64(size)+zstdBlock {
		if exceeds(p.kind, body, int64(size)) {
			return nil, errOther
		}
	}
	b, err := p.codec.Decode(p.plain[:size], body)
	if err != nil || len(b) > int(size) {
		return nil, errOther
	}
	if cap(b) > cap(p.plain) {
		p.plain = b
	}
	return b, nil
}

func (p *chunkPages) dictionary(s *leafStream, h *format.PageHeader, body []byte) error {
	d := &h.DictionaryPageHeader
	if !d.Valid || d.V.Encoding != format.Plain && d.V.Encoding != plainDictionary {
		return errOther
	}
	body, err := p.unpack(body, h.UncompressedPageSize)
	if err != nil {
		return err
	}
	v := column.New(s.typ, 0)
	if err := plainValues(v, s.n, body, int(d.V.NumValues)); err != nil {
		return err
	}
	s.dict = v
	return nil
}

func (p *chunkPages) data(s *leafStream, h *format.PageHeader, body []byte) (err error) {
	var values int
	var levels []byte
	var encoding, of format.Encoding
	if h.Type == format.DataPage {
		d := &h.DataPageHeader
		if !d.Valid {
			return errOther
		}
		values, encoding, of = int(d.V.NumValues), d.V.Encoding, d.V.DefinitionLevelEncoding
		if body, err = p.unpack(body, h.UncompressedPageSize); err != nil {
			return err
		}
		if s.n.def > 0 {
			if len(body) < 4 {
				return errOther
			}
			n := int64(binary.LittleEndian.Uint32(body))
			if n > int64(len(body)-4) {
				return errOther
			}
			levels, body = body[4:4+n], body[4+n:]
		}
	} else {
		d := &h.DataPageHeaderV2
		// A column without levels has no bytes of them.
		if !d.Valid || d.V.RepetitionLevelsByteLength != 0 || d.V.DefinitionLevelsByteLength < 0 || int(d.V.DefinitionLevelsByteLength) > len(body) ||
			s.n.def == 0 && d.V.DefinitionLevelsByteLength != 0 || d.V.DefinitionLevelsByteLength > h.UncompressedPageSize {
			return errOther
		}
		values, encoding, of = int(d.V.NumValues), d.V.Encoding, format.RLE
		n := d.V.DefinitionLevelsByteLength
		levels, body = body[:n], body[n:]
		if !d.V.IsCompressed.Valid || d.V.IsCompressed.V {
			if body, err = p.unpack(body, h.UncompressedPageSize-n); err != nil {
				return err
			}
		}
	}
	// What has levels are the values that are there: they are decoded first, for an error changes nothing.
	defs, there := []byte(nil), values
	if s.n.def > 0 {
		if of != format.RLE {
			return errOther
		}
		if defs, there, err = p.definitions(levels, values, byte(s.n.def)); err != nil {
			return err
		}
	}
	v := pageValues{one: -1, n: there}
	switch {
	case there == 0:
	case encoding == format.Plain:
		v.vals = column.New(s.typ, 0)
		err = plainValues(v.vals, s.n, body, there)
	case (encoding == plainDictionary || encoding == format.RLEDictionary) && s.dict != nil:
		v.vals = s.dict
		err = v.indexes(body, s)
	default:
		err = errOther
	}
	if err != nil {
		return err
	}
	s.push(values, defs, v)
	return nil
}

// definitions decodes n definition levels and counts those that are max. They are nil when all are.
func (p *chunkPages) definitions(src []byte, n int, max byte) (levels []byte, there int, err error) {
	width := bits.Len8(max)
	if cap(p.levels) < n+64 {
		p.levels = make([]byte, 0, n+64)
	}
	dst := p.levels[:0]
	for len(dst) < n {
		u, k := binary.Uvarint(src)
		if k <= 0 {
			return nil, 0, errOther
		}
		src = src[k:]
		count := u >> 1
		if u&1 == 0 {
			if len(src) < 1 {
				return nil, 0, errOther
			}
			value := src[0]
			src = src[1:]
			if len(dst) == 0 && count >= uint64(n) && value == max {
				return nil, n, nil
			}
			at := len(dst)
			dst = dst[:at+int(min(count, uint64(n-at)))]
			fill(dst[at:], value)
			continue
		}
		// In groups of eight, each of as many bytes as a level has bits.
		if count > uint64(len(src)/width) {
			return nil, 0, errOther
		}
		in := src[:int(count)*width]
		src = src[len(in):]
		for len(in) > 0 && len(dst) < n {
			at := len(dst)
			dst = dst[:at+8]
			var eight uint64
			if width == 1 {
				// Bit i becomes byte i.
				eight = (uint64(in[0])*0x0101010101010101&0x8040201008040201 + 0x7f7f7f7f7f7f7f7f) >> 7 & 0x0101010101010101
			} else {
				var x uint64
				for i, b := range in[:width] {
					x |= uint64(b) << (8 * i)
				}
				for i := range 8 {
					eight |= (x >> (i * width) & (1<<width - 1)) << (8 * i)
				}
			}
			binary.LittleEndian.PutUint64(dst[at:], eight)
			in = in[width:]
		}
	}
	p.levels = dst
	dst = dst[:n]
	if there = countLevels(dst, max); there == n {
		return nil, n, nil
	}
	return dst, there, nil
}

// fill makes all of p the byte b.
func fill(p []byte, b byte) {
	if len(p) == 0 {
		return
	}
	p[0] = b
	for n := 1; n < len(p); n *= 2 {
		copy(p[n:], p[:n])
	}
}

// countLevels counts the bytes of p that are max, at most 127, as all are.
func countLevels(p []byte, max byte) (n int) {
	// By eights: what differs from max has a bit that becomes the highest of its byte.
	all := uint64(max) * 0x0101010101010101
	for len(p) >= 8 {
		x := binary.LittleEndian.Uint64(p) ^ all
		n += 8 - bits.OnesCount64((x&0x7f7f7f7f7f7f7f7f+0x7f7f7f7f7f7f7f7f|x)&0x8080808080808080)
		p = p[8:]
	}
	for _, b := range p {
		if b == max {
			n++
		}
	}
	return n
}

// indexes decodes the dictionary indexes of v.n values, the first of one or more.
func (v *pageValues) indexes(src []byte, s *leafStream) error {
	if len(src) == 0 {
		return errOther
	}
	width := int(src[0])
	if width > 32 {
		return errOther
	}
	src = src[1:]
	idx := s.spare
	s.spare = nil
	if cap(idx) < v.n+8 {
		idx = make([]int32, v.n+8)
	}
	idx = idx[:cap(idx)]
	mask := uint64(1)<<width - 1
	for at := 0; at < v.n; {
		u, k := binary.Uvarint(src)
		if k <= 0 {
			return errOther
		}
		src = src[k:]
		count := u >> 1
		if u&1 == 0 {
			bytes := (width + 7) / 8
			if len(src) < bytes {
				return errOther
			}
			var x uint32
			for i, b := range src[:bytes] {
				x |= uint32(b) << (8 * i)
			}
			src = src[bytes:]
			if x >= uint32(s.dict.Len) {
				return errOther
			}
			n := int(min(count, uint64(v.n-at)))
			if n == v.n {
				v.one, s.spare = int32(x), idx
				return nil
			}
			to := idx[at : at+n]
			for i := range to {
				to[i] = int32(x)
			}
			at += n
			continue
		}
		if width > 0 && count > uint64(len(src)/width) {
			return errOther
		}
		n := int(min(count*8, uint64(v.n-at)))
		to, bit := idx[at:at+n], 0
		i := 0
		// Eight bytes hold any index, wherever it begins in the first one.
		for ; i < len(to) && bit>>3+8 <= len(src); i++ {
			to[i] = int32(binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7) & mask)
			bit += width
		}
		for ; i < len(to); i++ {
			var x uint64
			for k, b := range src[min(bit>>3, len(src)):] {
				x |= uint64(b) << (8 * k)
			}
			to[i] = int32(x >> (bit & 7) & mask)
			bit += width
		}
		top := uint32(0)
		for _, x := range to {
			top = max(top, uint32(x))
		}
		if top >= uint32(s.dict.Len) {
			return errOther
		}
		at += n
		if width > 0 {
			src = src[min(count*uint64(width), uint64(len(src))):]
		}
	}
	if s.dict.Len == 1 {
		v.one, s.spare = 0, idx
		return nil
	}
	v.idx = idx[:v.n]
	return nil
}

// textSlack is the room behind texts that are copied by words of eight bytes, which may reach beyond a text.
const textSlack = 8

// wordText is up to which length texts are copied by words: there a call costs more than what it does.
const wordText = 40

// plainValues decodes count plain values into an empty vector.
func plainValues(v *column.Vector, n *node, src []byte, count int) error {
	// need is the size of all values of size bytes.
	need := func(size int) error {
		if len(src)/size < count {
			return fmt.Errorf("%d values promised, %d bytes found", count, len(src))
		}
		return nil
	}
	switch n.physical {
	case format.Boolean:
		if len(src)*8 < count {
			return fmt.Errorf("%d values promised, %d bits found", count, len(src)*8)
		}
		v.Bools = make([]bool, count)
		for i := range v.Bools {
			v.Bools[i] = src[i>>3]>>(i&7)&1 == 1
		}
	case format.Int32:
		if err := need(4); err != nil {
			return err
		}
		v.Ints = make([]int64, count)
		for i := range v.Ints {
			v.Ints[i] = int64(int32(binary.LittleEndian.Uint32(src[4*i:])))
		}
	case format.Int64:
		if err := need(8); err != nil {
			return err
		}
		v.Ints = make([]int64, count)
		for i := range v.Ints {
			v.Ints[i] = int64(binary.LittleEndian.Uint64(src[8*i:]))
		}
	case format.Int96:
		if err := need(12); err != nil {
			return err
		}
		v.Ints = make([]int64, count)
		for i := range v.Ints {
			b := src[12*i : 12*i+12]
			v.Ints[i] = int96Micros([3]uint32{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])})
		}
	case format.Float:
		if err := need(4); err != nil {
			return err
		}
		v.Floats = make([]float64, count)
		for i := range v.Floats {
			v.Floats[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:])))
		}
	case format.Double:
		if err := need(8); err != nil {
			return err
		}
		v.Floats = make([]float64, count)
		for i := range v.Floats {
			v.Floats[i] = math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:]))
		}
	case format.ByteArray:
		return plainTexts(v, src, count)
	case format.FixedLenByteArray:
		size := n.typ.Size
		if size <= 0 {
			return errOther
		}
		if err := need(size); err != nil {
			return err
		}
		if count*size > maxVectorBytes {
			return errTooLarge
		}
		data := make([]byte, count*size+textSlack)
		copy(data, src[:count*size])
		v.Data = data[:count*size]
		v.Offsets = make([]uint32, count+1)
		for i := range v.Offsets {
			v.Offsets[i] = uint32(i * size)
		}
	default:
		return errOther
	}
	v.Len = count
	return nil
}

// plainTexts decodes count values, each its length in four bytes and the bytes.
func plainTexts(v *column.Vector, src []byte, count int) error {
	size := len(src) - 4*count
	if size < 0 {
		return errOther
	}
	if size > maxVectorBytes {
		return errTooLarge
	}
	data, offsets := make([]byte, size+textSlack), make([]uint32, count+1)
	in, out := 0, 0
	for k := 1; k < len(offsets); k++ {
		if len(src)-in < 4 {
			return errOther
		}
		n := int(binary.LittleEndian.Uint32(src[in:]))
		in += 4
		if n > len(src)-in || n > size-out {
			return errOther
		}
		copyText(data, src, out, in, n)
		in += n
		out += n
		offsets[k] = uint32(out)
	}
	v.Data, v.Offsets, v.Len = data[:out], offsets, count
	return nil
}

// copyText copies n bytes, from src[in:] to dst[out:], and may write up to textSlack bytes behind them.
func copyText(dst, src []byte, out, in, n int) {
	if n > wordText || in+n+8 > len(src) || out+n+8 > len(dst) {
		copy(dst[out:out+n], src[in:in+n])
		return
	}
	for end := out + n; out < end; out, in = out+8, in+8 {
		binary.LittleEndian.PutUint64(dst[out:], binary.LittleEndian.Uint64(src[in:]))
	}
}
