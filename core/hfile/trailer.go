package hfile

import (
	"encoding/binary"
	"fmt"
	"math"
)

// TrailerSize is the size of the trailer in bytes.
const TrailerSize = 4096

const trailerMagic = `TRABLK"$`

// Codec is the compression of a file's blocks, by its id in the trailer (spec hfile.md section 4).
type Codec uint32

// The codecs. Hudi writes GZ or None; the others are what HBase's writer may be told to use.
const (
	LZO    Codec = 0
	GZ     Codec = 1
	None   Codec = 2
	Snappy Codec = 3
	LZ4    Codec = 4
	BZip2  Codec = 5
	Zstd   Codec = 6
)

var codecNames = [...]string{"LZO", "GZ", "NONE", "SNAPPY", "LZ4", "BZIP2", "ZSTD"}

// String returns HBase's name of the codec.
func (c Codec) String() string {
	if int(c) < len(codecNames) {
		return codecNames[c]
	}
	return fmt.Sprintf("codec %d", uint32(c))
}

// Trailer is the fixed part at the end of the file (spec hfile.md section 3). Offsets count from
// the start of the HFile.
type Trailer struct {
	// Major is 3; Minor is 3 for HBase 2.4's writer and 0 for older ones and Hudi's own.
	Major, Minor int
	// FileInfo and LoadOnOpen are offsets of the file info block and of the load-on-open section.
	FileInfo, LoadOnOpen int64
	// DataIndexCount and MetaIndexCount are the entries of the root indexes.
	DataIndexCount, MetaIndexCount int64
	// Entries is the number of cells.
	Entries int64
	// IndexLevels is 1 when the root index points to data blocks.
	IndexLevels int
	// FirstData and LastData are offsets of data blocks; -1 in an empty file of the native writer.
	FirstData, LastData int64
	Comparator          string
	Codec               Codec
	// Encrypted is set when the file has an encryption key.
	Encrypted bool
}

// maxLevels bounds the levels of a data index; three levels of 128 KiB blocks already hold more
// than any file.
const maxLevels = 8

// parseTrailer decodes the trailer's bytes, which begin at offset off.
func (f *File) parseTrailer(p []byte, off int64) error {
	if string(p[:8]) != trailerMagic {
		return f.bad(off, "HFile trailer magic", fmt.Sprintf("%q", trailerMagic), fmt.Sprintf("%q", p[:8]), "The file is cut, or is no HFile.")
	}
	v := binary.BigEndian.Uint32(p[TrailerSize-4:])
	t := &f.trailer
	t.Minor, t.Major = int(v>>24), int(v&0xffffff)
	if t.Major != 3 {
		return f.bad(off+TrailerSize-4, "HFile version", "3", fmt.Sprint(t.Major), "Only HFiles of version 3 are written by Hudi.")
	}
	d := protoReader{f: f, p: p[:TrailerSize-4], pos: 8, off: off, part: "HFile trailer"}
	n, err := d.varint()
	if err != nil {
		return err
	}
	if n > uint64(len(d.p)-d.pos) {
		return f.bad(off+8, "HFile trailer length", fmt.Sprintf("at most %d", len(d.p)-d.pos), fmt.Sprint(n), "")
	}
	d.p = d.p[:d.pos+int(n)]
	t.Codec, t.FirstData, t.LastData, t.IndexLevels = None, -1, -1, 1
	for d.pos < len(d.p) {
		at := d.pos
		num, x, b, err := d.field()
		if err != nil {
			return err
		}
		switch num {
		case 1:
			t.FileInfo = int64(x)
		case 2:
			t.LoadOnOpen = int64(x)
		case 5:
			t.DataIndexCount = int64(x)
		case 6:
			t.MetaIndexCount = int64(x)
		case 7:
			t.Entries = int64(x)
		case 8:
			if x < 1 || x > maxLevels {
				return f.bad(off+int64(at), "HFile trailer: levels of the data index", fmt.Sprintf("1 to %d", maxLevels), fmt.Sprint(x), "")
			}
			t.IndexLevels = int(x)
		case 9:
			t.FirstData = int64(x)
		case 10:
			t.LastData = int64(x)
		case 11:
			t.Comparator = string(b)
		case 12:
			if x > math.MaxUint32 {
				return f.bad(off+int64(at), "HFile trailer: compression codec", "0 to 6", fmt.Sprint(x), "")
			}
			t.Codec = Codec(x)
		case 13:
			t.Encrypted = len(b) > 0
		}
	}
	if t.LoadOnOpen < 0 || t.LoadOnOpen > off {
		return f.bad(off, "HFile trailer: offset of the load-on-open section", fmt.Sprintf("0 to %d", off), fmt.Sprint(t.LoadOnOpen), "")
	}
	if t.Entries < 0 {
		return f.bad(off, "HFile trailer: number of cells", "0 or more", fmt.Sprint(t.Entries), "")
	}
	if t.Encrypted {
		return &Unsupported{f.path, f.base, "an encrypted HFile can't be read"}
	}
	return nil
}

// protoReader reads the fields of a protobuf message; off is the file offset of p[0].
type protoReader struct {
	f    *File
	p    []byte
	pos  int
	off  int64
	part string
}

func (d *protoReader) bad(want, got string) error {
	return d.f.bad(d.off+int64(d.pos), d.part, want, got, "")
}

func (d *protoReader) varint() (uint64, error) {
	x, n := binary.Uvarint(d.p[d.pos:])
	if n <= 0 {
		return 0, d.bad("a number (protobuf varint)", "a cut or too long one")
	}
	d.pos += n
	return x, nil
}

// field reads one field: its number, and its number or its bytes.
func (d *protoReader) field() (num uint64, x uint64, b []byte, err error) {
	tag, err := d.varint()
	if err != nil {
		return 0, 0, nil, err
	}
	switch tag & 7 {
	case 0:
		x, err = d.varint()
		return tag >> 3, x, nil, err
	case 2:
		n, err := d.varint()
		if err != nil {
			return 0, 0, nil, err
		}
		if n > uint64(len(d.p)-d.pos) {
			return 0, 0, nil, d.bad(fmt.Sprintf("a field of at most %d bytes", len(d.p)-d.pos), fmt.Sprintf("%d bytes", n))
		}
		b = d.p[d.pos : d.pos+int(n)]
		d.pos += int(n)
		return tag >> 3, 0, b, nil
	case 1, 5:
		n := 8
		if tag&7 == 5 {
			n = 4
		}
		if n > len(d.p)-d.pos {
			return 0, 0, nil, d.bad(fmt.Sprintf("%d bytes", n), fmt.Sprintf("%d", len(d.p)-d.pos))
		}
		d.pos += n
		return tag >> 3, 0, nil, nil
	}
	return 0, 0, nil, d.bad("a protobuf field", fmt.Sprintf("wire type %d", tag&7))
}
