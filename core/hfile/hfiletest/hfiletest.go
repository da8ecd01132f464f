// Package hfiletest writes HFiles for tests: with blocks, index levels, codecs and checksums that
// the tables under testdata do not have. It follows spec hfile.md, as the reader does; what real
// writers do is tested with real files.
package hfiletest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"hudiscope/core/hfile"
)

// Cell is one entry to write.
type Cell struct{ Key, Value []byte }

// Options say how a file is written; the zero value is as Hudi's own writer does, uncompressed.
type Options struct {
	// Codec of the blocks; LZO, the zero value, stands for None.
	Codec    hfile.Codec
	Checksum hfile.ChecksumType
	// BlockCells is the number of cells per data block, 0 = all in one.
	BlockCells int
	// Levels of the index, 0 = 1; Fan is the number of entries per index block.
	Levels, Fan int
	// Info are more entries of the file info.
	Info map[string]string
	// Meta are meta blocks.
	Meta map[string][]byte
	// NoLastKey leaves the last key out of the file info.
	NoLastKey bool
}

type entry struct {
	key       []byte
	off, size int64
}

type writer struct {
	o   Options
	out bytes.Buffer
}

// Write returns the file. The cells must be sorted by their keys.
func Write(cells []Cell, o Options) []byte {
	if o.Codec == hfile.LZO {
		o.Codec = hfile.None
	}
	if o.BlockCells <= 0 {
		o.BlockCells = max(1, len(cells))
	}
	if o.Levels <= 0 {
		o.Levels = 1
	}
	if o.Fan <= 1 {
		o.Fan = 4
	}
	w := &writer{o: o}
	var level []entry
	for lo := 0; lo < len(cells); lo += o.BlockCells {
		var p []byte
		for _, c := range cells[lo:min(lo+o.BlockCells, len(cells))] {
			p = binary.BigEndian.AppendUint32(p, uint32(2+len(c.Key)+10))
			p = binary.BigEndian.AppendUint32(p, uint32(len(c.Value)))
			p = append(key(c.Key, p), "\x00\x7f\xff\xff\xff\xff\xff\xff\xff\x04"...)
			p = append(append(p, c.Value...), 0)
		}
		level = append(level, w.block(hfile.DataBlock, p, shorter(cells, lo)))
	}
	meta := []entry{}
	for name, p := range o.Meta {
		meta = append(meta, w.block(hfile.MetaBlock, p, []byte(name)))
	}
	for n := 2; n <= o.Levels; n++ {
		typ := hfile.IntermediateIndex
		if n == 2 {
			typ = hfile.LeafIndex
		}
		var up []entry
		for lo := 0; lo < len(level); lo += o.Fan {
			part := level[lo:min(lo+o.Fan, len(level))]
			var offs, body []byte
			for _, e := range part {
				offs = binary.BigEndian.AppendUint32(offs, uint32(len(body)))
				body = place(e, body)
				body = key(e.key, body)
			}
			offs = binary.BigEndian.AppendUint32(offs, uint32(len(body)))
			p := binary.BigEndian.AppendUint32(nil, uint32(len(part)))
			up = append(up, w.block(typ, append(append(p, offs...), body...), part[0].key))
		}
		level = up
	}
	open := int64(w.out.Len())
	var root []byte
	for _, e := range level {
		root = place(e, root)
		root = vlong(int64(2+len(e.key)), root)
		root = key(e.key, root)
	}
	if o.Levels > 1 {
		root = append(root, make([]byte, 16)...)
	}
	w.block(hfile.RootIndex, root, nil)
	var names []byte
	for _, e := range meta {
		names = place(e, names)
		names = append(vlong(int64(len(e.key)), names), e.key...)
	}
	w.block(hfile.RootIndex, names, nil)
	info := map[string]string{"KEY_VALUE_VERSION": "\x00\x00\x00\x01", "MAX_MEMSTORE_TS_KEY": "\x00\x00\x00\x00\x00\x00\x00\x00"}
	if len(cells) > 0 && !o.NoLastKey {
		info[hfile.InfoLastKey] = string(key(cells[len(cells)-1].Key, nil))
	}
	for k, v := range o.Info {
		info[k] = v
	}
	var pairs []byte
	for k, v := range info {
		pairs = bytesField(1, bytesField(2, []byte(v), bytesField(1, []byte(k), nil)), pairs)
	}
	at := int64(w.out.Len())
	w.block(hfile.FileInfo, append(binary.AppendUvarint([]byte("PBUF"), uint64(len(pairs))), pairs...), nil)

	var t []byte
	field := func(n, x uint64) { t = binary.AppendUvarint(binary.AppendUvarint(t, n<<3), x) }
	field(1, uint64(at))
	field(2, uint64(open))
	field(5, uint64(len(level)))
	field(6, uint64(len(meta)))
	field(7, uint64(len(cells)))
	field(8, uint64(o.Levels))
	field(12, uint64(o.Codec))
	trailer := append(binary.AppendUvarint([]byte(`TRABLK"$`), uint64(len(t))), t...)
	trailer = append(trailer, make([]byte, hfile.TrailerSize-4-len(trailer))...)
	w.out.Write(binary.BigEndian.AppendUint32(trailer, 3))
	return w.out.Bytes()
}

// shorter returns the index key of the block that begins with cell i: the shortest text that is
// greater than the key before it and not greater than its own, as HBase's writer makes it.
func shorter(cells []Cell, i int) []byte {
	k := cells[i].Key
	if i == 0 {
		return k
	}
	for n := range len(k) {
		if bytes.Compare(k[:n], cells[i-1].Key) > 0 {
			return k[:n]
		}
	}
	return k
}

func key(k, dst []byte) []byte {
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(k))), k...)
}

func place(e entry, dst []byte) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(dst, uint64(e.off)), uint32(e.size))
}

func bytesField(n uint64, b, dst []byte) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(dst, n<<3|2), uint64(len(b))), b...)
}

func vlong(x int64, dst []byte) []byte {
	if x >= -112 && x <= 127 {
		return append(dst, byte(x))
	}
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(x))
	p := bytes.TrimLeft(b[:], "\x00")
	return append(append(dst, byte(-112-len(p))), p...)
}

func (w *writer) block(typ hfile.BlockType, payload, first []byte) entry {
	packed := w.pack(payload)
	const bpc = 64
	data := 33 + len(packed)
	chunks := (data + bpc - 1) / bpc
	h := append([]byte(typ), make([]byte, 25)...)
	binary.BigEndian.PutUint32(h[8:], uint32(len(packed)+4*chunks))
	binary.BigEndian.PutUint32(h[12:], uint32(len(payload)))
	binary.BigEndian.PutUint64(h[16:], ^uint64(0))
	h[24] = byte(w.o.Checksum)
	binary.BigEndian.PutUint32(h[25:], bpc)
	binary.BigEndian.PutUint32(h[29:], uint32(data))
	p := append(h, packed...)
	for i := range chunks {
		chunk := p[i*bpc : min((i+1)*bpc, data)]
		sum := uint32(0)
		switch w.o.Checksum {
		case hfile.CRC32:
			sum = crc32.ChecksumIEEE(chunk)
		case hfile.CRC32C:
			sum = crc32.Checksum(chunk, crc32.MakeTable(crc32.Castagnoli))
		}
		p = binary.BigEndian.AppendUint32(p, sum)
	}
	e := entry{first, int64(w.out.Len()), int64(len(p))}
	w.out.Write(p)
	return e
}

func (w *writer) pack(p []byte) []byte {
	var b bytes.Buffer
	switch w.o.Codec {
	case hfile.GZ:
		z := gzip.NewWriter(&b)
		z.Write(p)
		z.Close()
		return b.Bytes()
	case hfile.Zstd:
		z, _ := zstd.NewWriter(nil)
		return z.EncodeAll(p, nil)
	case hfile.Snappy:
		// Two pieces per chunk, as a codec with a small buffer makes them.
		half := len(p) / 2
		out := binary.BigEndian.AppendUint32(nil, uint32(len(p)))
		for _, piece := range [][]byte{p[:half], p[half:]} {
			if len(piece) > 0 {
				s := snappy.Encode(nil, piece)
				out = append(binary.BigEndian.AppendUint32(out, uint32(len(s))), s...)
			}
		}
		return out
	}
	return p
}
