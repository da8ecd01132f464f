package orcfile

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The messages of the format that reading rows needs (orc_proto.proto). Fields that are not named
// here are passed over. They are decoded here because the library's own messages look methods up by
// name, which doubles the size of the programs that link them.

// compressionKind, typeKind, encodingKind and streamKind are enums of the format.
type (
	compressionKind uint32
	typeKind        uint32
	encodingKind    uint32
	streamKind      uint32
)

const (
	compressNone   compressionKind = 0
	compressZlib   compressionKind = 1
	compressSnappy compressionKind = 2
)

// String is the format's name of the compression.
func (c compressionKind) String() string {
	names := [...]string{"NONE", "ZLIB", "SNAPPY", "LZO", "LZ4", "ZSTD", "BROTLI"}
	if int64(c) < int64(len(names)) {
		return names[c]
	}
	return fmt.Sprintf("compression %d", uint32(c))
}

const (
	kindBoolean   typeKind = 0
	kindByte      typeKind = 1
	kindShort     typeKind = 2
	kindInt       typeKind = 3
	kindLong      typeKind = 4
	kindFloat     typeKind = 5
	kindDouble    typeKind = 6
	kindString    typeKind = 7
	kindBinary    typeKind = 8
	kindTimestamp typeKind = 9
	kindList      typeKind = 10
	kindMap       typeKind = 11
	kindStruct    typeKind = 12
	kindUnion     typeKind = 13
	kindDecimal   typeKind = 14
	kindDate      typeKind = 15
	kindVarchar   typeKind = 16
	kindChar      typeKind = 17
	kindInstant   typeKind = 18 // TIMESTAMP_INSTANT
)

// String is the format's name of the kind.
func (k typeKind) String() string {
	names := [...]string{"BOOLEAN", "BYTE", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE", "STRING", "BINARY", "TIMESTAMP", "LIST", "MAP", "STRUCT", "UNION", "DECIMAL", "DATE", "VARCHAR", "CHAR", "TIMESTAMP_INSTANT"}
	if int64(k) < int64(len(names)) {
		return names[k]
	}
	return fmt.Sprintf("kind %d", uint32(k))
}

const (
	encodeDirect       encodingKind = 0
	encodeDictionary   encodingKind = 1
	encodeDirectV2     encodingKind = 2
	encodeDictionaryV2 encodingKind = 3
)

const (
	streamPresent    streamKind = 0
	streamData       streamKind = 1
	streamLength     streamKind = 2
	streamDictionary streamKind = 3
	streamSecondary  streamKind = 5
)

type postScript struct {
	footerLength   uint64
	compression    compressionKind
	blockSize      uint64
	metadataLength uint64
	magic          string
}

type footer struct {
	stripes []stripeInfo
	types   []typeInfo
	meta    map[string]string
	rows    uint64
}

type stripeInfo struct{ offset, index, data, footer, rows uint64 }

type typeInfo struct {
	kind      typeKind
	subtypes  []uint32
	names     []string
	precision uint32
	scale     uint32
}

type stripeFooter struct {
	streams   []streamInfo
	encodings []encoding
	zone      string
}

type streamInfo struct {
	kind   streamKind
	column uint32
	length uint64
}

type encoding struct {
	kind       encodingKind
	dictionary uint32
}

var errMessage = errors.New("the message is cut or is none")

// fields calls yield for every field of a message: a number for varints, bytes for what has a length.
func fields(p []byte, yield func(field int, n uint64, b []byte) error) error {
	for len(p) > 0 {
		tag, k := binary.Uvarint(p)
		if k <= 0 {
			return errMessage
		}
		p = p[k:]
		var n uint64
		var b []byte
		switch tag & 7 {
		case 0:
			if n, k = binary.Uvarint(p); k <= 0 {
				return errMessage
			}
			p = p[k:]
		case 1, 5:
			size := 8
			if tag&7 == 5 {
				size = 4
			}
			if len(p) < size {
				return errMessage
			}
			p = p[size:]
			continue
		case 2:
			size, k := binary.Uvarint(p)
			if k <= 0 || size > uint64(len(p)-k) {
				return errMessage
			}
			b, p = p[k:k+int(size):k+int(size)], p[k+int(size):]
		default:
			return errMessage
		}
		if err := yield(int(tag>>3), n, b); err != nil {
			return err
		}
	}
	return nil
}

// packed appends numbers: one, or a run with a length.
func packed(dst []uint32, n uint64, b []byte) ([]uint32, error) {
	if b == nil {
		return append(dst, uint32(n)), nil
	}
	for len(b) > 0 {
		x, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, errMessage
		}
		dst, b = append(dst, uint32(x)), b[k:]
	}
	return dst, nil
}

func (m *postScript) decode(p []byte) error {
	return fields(p, func(f int, n uint64, b []byte) error {
		switch f {
		case 1:
			m.footerLength = n
		case 2:
			m.compression = compressionKind(n)
		case 3:
			m.blockSize = n
		case 5:
			m.metadataLength = n
		case 8000:
			m.magic = string(b)
		}
		return nil
	})
}

func (m *footer) decode(p []byte) error {
	m.meta = map[string]string{}
	return fields(p, func(f int, n uint64, b []byte) error {
		switch f {
		case 3:
			var s stripeInfo
			m.stripes = append(m.stripes, s)
			return m.stripes[len(m.stripes)-1].decode(b)
		case 4:
			m.types = append(m.types, typeInfo{})
			return m.types[len(m.types)-1].decode(b)
		case 5:
			var name, value string
			err := fields(b, func(f int, _ uint64, b []byte) error {
				switch f {
				case 1:
					name = string(b)
				case 2:
					value = string(b)
				}
				return nil
			})
			m.meta[name] = value
			return err
		case 6:
			m.rows = n
		}
		return nil
	})
}

func (m *stripeInfo) decode(p []byte) error {
	return fields(p, func(f int, n uint64, _ []byte) error {
		switch f {
		case 1:
			m.offset = n
		case 2:
			m.index = n
		case 3:
			m.data = n
		case 4:
			m.footer = n
		case 5:
			m.rows = n
		}
		return nil
	})
}

func (m *typeInfo) decode(p []byte) error {
	return fields(p, func(f int, n uint64, b []byte) (err error) {
		switch f {
		case 1:
			m.kind = typeKind(n)
		case 2:
			m.subtypes, err = packed(m.subtypes, n, b)
		case 3:
			m.names = append(m.names, string(b))
		case 5:
			m.precision = uint32(n)
		case 6:
			m.scale = uint32(n)
		}
		return err
	})
}

func (m *stripeFooter) decode(p []byte) error {
	return fields(p, func(f int, n uint64, b []byte) error {
		switch f {
		case 1:
			var s streamInfo
			err := fields(b, func(f int, n uint64, _ []byte) error {
				switch f {
				case 1:
					s.kind = streamKind(n)
				case 2:
					s.column = uint32(n)
				case 3:
					s.length = n
				}
				return nil
			})
			m.streams = append(m.streams, s)
			return err
		case 2:
			var e encoding
			err := fields(b, func(f int, n uint64, _ []byte) error {
				switch f {
				case 1:
					e.kind = encodingKind(n)
				case 2:
					e.dictionary = uint32(n)
				}
				return nil
			})
			m.encodings = append(m.encodings, e)
			return err
		case 3:
			m.zone = string(b)
		}
		return nil
	})
}
