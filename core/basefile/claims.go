package basefile

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// exceeds reports whether the bytes of a page unpack to more than claim bytes. The library unpacks what there is, whatever
// the page's header says. Bytes that can't be unpacked do not exceed anything; the library tells what is wrong with them.
func exceeds(codec format.CompressionCodec, body []byte, claim int64) bool {
	switch codec {
	case format.Uncompressed, format.Lz4: // the latter is unpacked within its claim (openLZ4)
		return false
	case format.Snappy:
		n, k := binary.Uvarint(body)
		return k > 0 && n > uint64(claim)
	case format.Lz4Raw:
		return lz4Length(body) > claim
	}
	var r io.Reader
	switch codec {
	case format.Gzip:
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return false
		}
		r = z
	case format.Zstd:
		if n, ok := zstdLength(body); ok {
			return n > claim
		}
		z, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return false
		}
		defer z.Close()
		r = z
	case format.Brotli:
		r = brotli.NewReader(bytes.NewReader(body))
	default: // the library has no decoder
		return false
	}
	n, _ := io.CopyN(io.Discard, r, claim+1)
	return n > claim
}

// lz4Length adds up what the sequences of an LZ4 block unpack to, as far as they are whole.
func lz4Length(b []byte) (total int64) {
	length := func(n int) (int, bool) { // a length goes on while its bytes are 255
		if n != 15 {
			return n, true
		}
		for len(b) > 0 {
			x := b[0]
			b = b[1:]
			if n += int(x); x != 255 {
				return n, true
			}
		}
		return n, false
	}
	for len(b) > 0 {
		token := b[0]
		b = b[1:]
		n, ok := length(int(token >> 4))
		if !ok || n > len(b) {
			return total
		}
		total += int64(n)
		if b = b[n:]; len(b) < 2 {
			return total
		}
		b = b[2:]
		if n, ok = length(int(token & 15)); !ok {
			return total
		}
		total += int64(n) + 4
	}
	return total
}

// zstdLength adds up the content sizes of the frames of Zstandard bytes, which decoders keep to. ok is false where a frame
// does not state its own, or where the bytes are not frames one behind the other.
func zstdLength(b []byte) (total int64, ok bool) {
	for len(b) > 0 {
		var h zstd.Header
		if h.Decode(b) != nil || h.Skippable || !h.HasFCS || h.FrameContentSize > maxPage || h.HeaderSize > len(b) {
			return 0, false
		}
		total += int64(h.FrameContentSize)
		b = b[h.HeaderSize:]
		for last := false; !last; {
			if len(b) < 3 {
				return 0, false
			}
			x := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
			last = x&1 != 0
			size := x >> 3
			if x>>1&3 == 1 { // one byte, repeated
				size = 1
			}
			if len(b) < 3+size {
				return 0, false
			}
			b = b[3+size:]
		}
		if h.HasCheckSum {
			if len(b) < 4 {
				return 0, false
			}
			b = b[4:]
		}
	}
	return total, true
}
