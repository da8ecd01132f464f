package orcfile

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/snappy"

	"hudiscope/core/storage"
)

// codec unpacks the chunks of streams.
type codec struct {
	name string
	// block is the most that a chunk unpacks to, in bytes.
	block int
	// unpack returns the content of a chunk in dst, which has room for block bytes; nil: no compression.
	unpack func(dst, src []byte) ([]byte, error)
}

// codecOf finds the compression of a file.
func codecOf(ps *postScript, path string) (codec, error) {
	c := codec{name: ps.compression.String(), block: int(min(ps.blockSize, maxChunk))}
	if c.block == 0 {
		c.block = 256 << 10
	}
	switch ps.compression {
	case compressNone:
	case compressZlib:
		c.unpack = inflate
	case compressSnappy:
		c.unpack = unsnap
	default:
		return c, &Unsupported{path, fmt.Sprintf("the file is compressed with %s; ORC files compressed with ZLIB, SNAPPY or not at all can be read", c.name)}
	}
	return c, nil
}

func inflate(dst, src []byte) ([]byte, error) {
	z := flate.NewReader(bytes.NewReader(src))
	defer z.Close()
	n, err := io.ReadFull(z, dst)
	switch err {
	case io.EOF, io.ErrUnexpectedEOF:
		// ReadFull says so at the end of the data; the data itself must end well.
		if _, err := z.Read(make([]byte, 1)); err != io.EOF {
			return nil, fmt.Errorf("deflated chunk: %w", err)
		}
		return dst[:n], nil
	case nil:
		if m, _ := z.Read(make([]byte, 1)); m > 0 {
			return nil, fmt.Errorf("a chunk unpacks to more than the block size of %d bytes", len(dst))
		}
		return dst[:n], nil
	}
	return nil, fmt.Errorf("deflated chunk: %w", err)
}

func unsnap(dst, src []byte) ([]byte, error) {
	n, err := snappy.DecodedLen(src)
	if err != nil {
		return nil, err
	}
	if n > len(dst) {
		return nil, fmt.Errorf("a chunk unpacks to %d bytes, more than the block size of %d", n, len(dst))
	}
	return snappy.Decode(dst, src)
}

// stream is the bytes of one stream, unpacked as they are read: one chunk is in memory at a time.
//
//	chunk: u24 little-endian, 2 × length + (1: stored as it is) | bytes
type stream struct {
	ctx   context.Context
	obj   storage.Object
	codec codec
	// at is the offset in the file of the next byte to fetch, left what is left of the stream there.
	at, left int64
	raw      []byte // fetched, not unpacked
	buf      []byte // unpacked, not given out
	plain    []byte
	// err is the first error; over is set once a byte was asked for behind the end.
	err  error
	over bool
}

func (c codec) stream(ctx context.Context, obj storage.Object, off, length int64) *stream {
	return &stream{ctx: ctx, obj: obj, codec: c, at: off, left: length}
}

// fetchBytes is how much of a stream is fetched at a time.
const fetchBytes = 64 << 10

// fetch makes at least n raw bytes available, or fails with io.ErrUnexpectedEOF.
func (s *stream) fetch(n int) error {
	for len(s.raw) < n {
		if s.left == 0 {
			return io.ErrUnexpectedEOF
		}
		k := int(min(s.left, int64(max(fetchBytes, n-len(s.raw)))))
		b := make([]byte, len(s.raw)+k)
		copy(b, s.raw)
		if err := storage.ReadFull(s.ctx, s.obj, b[len(s.raw):], s.at); err != nil {
			return err
		}
		s.raw = b
		s.at += int64(k)
		s.left -= int64(k)
	}
	return nil
}

// fill makes at least one unpacked byte available. io.EOF is the end of the stream.
func (s *stream) fill() error {
	for len(s.buf) == 0 {
		if s.err != nil {
			return s.err
		}
		if len(s.raw) == 0 && s.left == 0 {
			s.over = true
			return io.EOF
		}
		s.err = s.chunk()
	}
	return nil
}

func (s *stream) chunk() error {
	if s.codec.unpack == nil {
		if err := s.fetch(1); err != nil {
			return err
		}
		s.buf, s.raw = s.raw, nil
		return nil
	}
	if err := s.fetch(3); err != nil {
		return fmt.Errorf("chunk header: %w", err)
	}
	h := int(s.raw[0]) | int(s.raw[1])<<8 | int(s.raw[2])<<16
	n := h >> 1
	s.raw = s.raw[3:]
	if int64(n) > int64(len(s.raw))+s.left {
		return fmt.Errorf("a chunk of %d bytes where %d are left in the stream", n, int64(len(s.raw))+s.left)
	}
	if err := s.fetch(n); err != nil {
		return err
	}
	src := s.raw[:n]
	s.raw = s.raw[n:]
	if h&1 == 1 {
		s.buf = src
		return nil
	}
	if s.plain == nil {
		s.plain = make([]byte, s.codec.block)
	}
	var err error
	s.buf, err = s.codec.unpack(s.plain, src)
	return err
}

// ReadByte implements io.ByteReader.
func (s *stream) ReadByte() (byte, error) {
	if len(s.buf) == 0 {
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
	b := s.buf[0]
	s.buf = s.buf[1:]
	return b, nil
}

// take appends the next n bytes to dst.
func (s *stream) take(dst []byte, n int64) ([]byte, error) {
	for n > 0 {
		if err := s.fill(); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return dst, err
		}
		k := min(n, int64(len(s.buf)))
		dst = append(dst, s.buf[:k]...)
		s.buf = s.buf[k:]
		n -= k
	}
	return dst, nil
}

// all returns the rest of the stream, at most limit bytes.
func (s *stream) all(limit int) ([]byte, error) {
	var out []byte
	for {
		if err := s.fill(); err == io.EOF {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		if len(out)+len(s.buf) > limit {
			return nil, fmt.Errorf("more than %d bytes", limit)
		}
		out = append(out, s.buf...)
		s.buf = nil
	}
}

// check returns the error of a stream from which too much was asked: the library's readers do not
// pass every error on.
func (s *stream) check() error {
	switch {
	case s == nil:
		return nil
	case s.err != nil:
		return s.err
	case s.over:
		return io.ErrUnexpectedEOF
	}
	return nil
}
