package commitmeta

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/snappy"

	"hudiscope/core/avro"
	"hudiscope/core/corrupt"
	"hudiscope/core/schema"
)

// The bounds on what the compressed block of a container may unpack to, in bytes: MaxUnpacked, and besides
// [Ratio] times its packed size once that is more than FreeUnpacked. The metadata of a commit of 100,000 files
// packs by deflate to about a tenth; deflate's own limit is 1,032.
const (
	MaxUnpacked  = 256 << 20
	FreeUnpacked = 16 << 20
	Ratio        = 200
)

const (
	containerMagic = "Obj\x01"
	syncLen        = 16
)

// container is an Avro object container file held in memory:
//
//	"Obj" 1 | metadata map (avro.schema, avro.codec) | sync marker, 16 bytes
//	then blocks: record count, byte size, bytes, sync marker
//
// Hudi's metadata files and index values hold exactly one record. Every count and size
// is compared with the bytes that are left before anything is allocated.
type container struct {
	schemaText []byte
	codec      string
	// block is the one record as it is stored, part of the file's bytes; recordAt is its offset in the file. size is
	// the record's length after decompression, which unpack gives.
	block    []byte
	recordAt int64
	size     int
}

type reader struct {
	data []byte
	pos  int
}

func (r *reader) left() int { return len(r.data) - r.pos }

// long reads a zig-zag number.
func (r *reader) long(part string) (int64, error) {
	v, n := binary.Uvarint(r.data[r.pos:])
	if n <= 0 {
		got := "the end of the file"
		if n < 0 {
			got = "a number longer than 64 bits"
		}
		return 0, corrupt.At(int64(r.pos), part, "an Avro long", got)
	}
	r.pos += n
	return int64(v>>1) ^ -int64(v&1), nil
}

// take returns the next n bytes.
func (r *reader) take(part string, n int64) ([]byte, error) {
	if n < 0 || n > int64(r.left()) {
		return nil, corrupt.At(int64(r.pos), part, fmt.Sprintf("%d bytes", n), fmt.Sprintf("%d bytes to the end of the file", r.left()))
	}
	b := r.data[r.pos : r.pos+int(n)]
	r.pos += int(n)
	return b, nil
}

func (r *reader) bytes(part string) ([]byte, error) {
	at := r.pos
	n, err := r.long(part + " length")
	if err != nil {
		return nil, err
	}
	if n < 0 || n > int64(r.left()) {
		return nil, corrupt.At(int64(at), part+" length", fmt.Sprintf("at most %d bytes", r.left()), fmt.Sprint(n))
	}
	return r.take(part, n)
}

// header reads the metadata map.
func (r *reader) header() (map[string][]byte, error) {
	meta := map[string][]byte{}
	for {
		at := r.pos
		n, err := r.long("Avro container: metadata count")
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return meta, nil
		}
		if n < 0 {
			if n == -n { // the smallest long has no positive counterpart
				return nil, corrupt.At(int64(at), "Avro container: metadata count", "a count", fmt.Sprint(n))
			}
			n = -n
			if _, err := r.long("Avro container: metadata block size"); err != nil {
				return nil, err
			}
		}
		if n > int64(r.left()/2) { // an entry has at least two length bytes
			return nil, corrupt.At(int64(at), "Avro container: metadata count", fmt.Sprintf("at most %d entries in the bytes left", r.left()/2), fmt.Sprint(n))
		}
		for ; n > 0; n-- {
			k, err := r.bytes("Avro container: metadata key")
			if err != nil {
				return nil, err
			}
			v, err := r.bytes("Avro container: metadata value")
			if err != nil {
				return nil, err
			}
			meta[string(k)] = v
		}
	}
}

func openContainer(data []byte) (*container, error) {
	r := &reader{data: data}
	if len(data) < len(containerMagic) || string(data[:len(containerMagic)]) != containerMagic {
		return nil, corrupt.At(0, "Avro container: magic", `"Obj" 1`, fmt.Sprintf("%x", data[:min(len(data), 4)]))
	}
	r.pos = len(containerMagic)
	meta, err := r.header()
	if err != nil {
		return nil, err
	}
	c := &container{schemaText: meta["avro.schema"], codec: string(meta["avro.codec"])}
	if c.codec == "" {
		c.codec = "null"
	}
	if len(c.schemaText) == 0 {
		return nil, corrupt.At(int64(len(containerMagic)), "Avro container: avro.schema", "a schema", "none")
	}
	sync, err := r.take("Avro container: sync marker", syncLen)
	if err != nil {
		return nil, err
	}
	if r.left() == 0 {
		return nil, corrupt.At(int64(r.pos), "Avro container", "one record", "no record: the file ends after its header")
	}
	at := r.pos
	count, err := r.long("Avro container: record count")
	if err != nil {
		return nil, err
	}
	if count != 1 {
		return nil, corrupt.At(int64(at), "Avro container: record count", "1", fmt.Sprint(count))
	}
	at = r.pos
	size, err := r.long("Avro container: block size")
	if err != nil {
		return nil, err
	}
	if size < 0 || size > int64(r.left()-syncLen) {
		return nil, corrupt.At(int64(at), "Avro container: block size", fmt.Sprintf("at most %d bytes before the sync marker", max(r.left()-syncLen, 0)), fmt.Sprint(size))
	}
	c.recordAt = int64(r.pos)
	block, err := r.take("Avro container: block", size)
	if err != nil {
		return nil, err
	}
	at = r.pos
	end, err := r.take("Avro container: sync marker", syncLen)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(sync, end) {
		return nil, corrupt.At(int64(at), "Avro container: sync marker", fmt.Sprintf("%x", sync), fmt.Sprintf("%x", end))
	}
	if r.left() > 0 {
		return nil, corrupt.At(int64(r.pos), "Avro container", "the end of the file after one record", fmt.Sprintf("%d bytes more", r.left()))
	}
	c.block = block
	if c.size, err = unpackedSize(c.codec, block, c.recordAt); err != nil {
		return nil, err
	}
	return c, nil
}

const blockPart = "Avro container: block"

// unpackedSize measures what a block unpacks to and holds no memory for it; at is its offset in the file.
func unpackedSize(codec string, block []byte, at int64) (int, error) {
	limit := min(MaxUnpacked, max(FreeUnpacked, Ratio*int64(len(block))))
	switch codec {
	case "null":
		return len(block), nil
	case "deflate":
		// Deflate states no size. What comes out is counted first, so that the memory is taken once and nothing
		// is taken for what is refused.
		f := flate.NewReader(bytes.NewReader(block))
		defer f.Close()
		n, err := io.Copy(io.Discard, io.LimitReader(f, limit+1))
		if err != nil {
			return 0, &corrupt.Error{Offset: at, Part: blockPart + " (deflate)", Err: err}
		}
		if n > limit {
			return 0, swollen("deflate", len(block), limit, at, "more")
		}
		return int(n), nil
	case "snappy":
		if len(block) < 4 {
			return 0, corrupt.At(at, blockPart+" (snappy)", "at least 4 bytes", fmt.Sprint(len(block)))
		}
		body := block[:len(block)-4]
		n, err := snappy.DecodedLen(body)
		if err != nil {
			return 0, &corrupt.Error{Offset: at, Part: blockPart + " (snappy)", Err: err}
		}
		// Snappy reaches at most about 64 bytes for each 3 bytes of input.
		if n > 32*len(body)+64 {
			return 0, corrupt.At(at, blockPart+" (snappy) length", fmt.Sprintf("what %d bytes can hold", len(body)), fmt.Sprint(n))
		}
		if int64(n) > limit {
			return 0, swollen("snappy", len(block), limit, at, fmt.Sprint(n))
		}
		return n, nil
	}
	err := corrupt.At(int64(len(containerMagic)), "Avro container: avro.codec", "null, deflate or snappy", fmt.Sprintf("%.40q", codec))
	err.Try = "Hudi writes its metadata without compression; another codec can't be read."
	return 0, err
}

// swollen is the refusal of a block that unpacks to more than its limit.
func swollen(codec string, packed int, limit, at int64, got string) error {
	err := corrupt.At(at, blockPart+" ("+codec+")", fmt.Sprintf("at most %d bytes unpacked from %d bytes", limit, packed), got)
	err.Try = "No metadata of Hudi packs like this; the file may be made to exhaust memory. Get it from where it was written, or move it off the timeline."
	return err
}

// unpack decompresses the block.
func (c *container) unpack() ([]byte, error) {
	switch c.codec {
	case "deflate":
		f := flate.NewReader(bytes.NewReader(c.block))
		defer f.Close()
		out := make([]byte, c.size) // measured before
		if _, err := io.ReadFull(f, out); err != nil {
			return nil, &corrupt.Error{Offset: c.recordAt, Part: blockPart + " (deflate)", Err: err}
		}
		return out, nil
	case "snappy":
		body, sum := c.block[:len(c.block)-4], binary.BigEndian.Uint32(c.block[len(c.block)-4:])
		out, err := snappy.Decode(nil, body)
		if err != nil {
			return nil, &corrupt.Error{Offset: c.recordAt, Part: blockPart + " (snappy)", Err: err}
		}
		if got := crc32.ChecksumIEEE(out); got != sum {
			return nil, corrupt.At(c.recordAt+int64(len(body)), blockPart+" (snappy) checksum", fmt.Sprintf("%08x", sum), fmt.Sprintf("%08x", got))
		}
		return out, nil
	}
	return c.block, nil
}

// json decodes the one record of a container.
func (c *container) json() (name string, out []byte, err error) {
	t, err := schema.Parse(c.schemaText)
	if err != nil {
		return "", nil, &corrupt.Error{Offset: int64(len(containerMagic)), Part: "Avro container: avro.schema", Err: err}
	}
	// The record, its columns and its JSON are there at once.
	release, err := decoding.Take(context.Background(), 8*int64(c.size))
	if err != nil {
		return "", nil, err
	}
	defer release()
	record, err := c.unpack()
	if err != nil {
		return "", nil, err
	}
	at := c.recordAt
	if c.codec != "null" {
		at = corrupt.Unknown // offsets inside the unpacked bytes mean nothing in the file
	}
	out, err = DecodeRecord(t, record, at)
	return t.Name, out, err
}

// DecodeRecord decodes one Avro record, written with schema t, as JSON: fields in the
// schema's order, maps with sorted keys, unions as their plain value, bytes as base64.
// at is the offset of data in its file, corrupt.Unknown when it has none. The record may have
// MaxSlots values and MaxFile bytes of JSON.
func DecodeRecord(t *schema.Type, data []byte, at int64) ([]byte, error) {
	d, err := avro.Compile(t, nil)
	if err != nil {
		return nil, &corrupt.Error{Offset: at, Part: "Avro schema", Err: err}
	}
	b := d.NewBatch(1)
	if err := d.AppendWithin(b, data, MaxSlots); err != nil {
		return nil, shift(err, at)
	}
	out, err := Text(b, 0)
	return out, shift(err, at)
}
