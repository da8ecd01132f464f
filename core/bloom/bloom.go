// Package bloom reads the bloom filters that Hudi keeps of record keys: in the footer of base files,
// in the bloom_filters partition of the metadata table and in its HFiles. All are the Base64 text
// of the same bytes (spec metadata-table.md section 5.3), big-endian:
//
//	simple row    version 4 (-1) | hashes 4 | hash type 1 | bits 4 | ceil(bits/8) bytes, bit i is in byte i/8 at 1 << i%8
//	old row       hashes 4 (above 0) | bits 4 | bytes; the hash is Jenkins's
//	dynamic       version 4 | hashes 4 | hash type 1 | bits 4 | keys per row 4 | keys in the last row 4 | rows 4 | rows
//
// A filter never says no for a key that was added to it.
package bloom

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"hudiscope/core/corrupt"
)

// HashType is the hash function of a filter.
type HashType uint8

// The hash functions. Murmur is what Hudi writes.
const (
	Jenkins HashType = 0
	Murmur  HashType = 1
)

// String names the hash.
func (h HashType) String() string {
	switch h {
	case Jenkins:
		return "jenkins"
	case Murmur:
		return "murmur"
	}
	return fmt.Sprintf("hash type %d", uint8(h))
}

// The type codes that stand beside a filter.
const (
	Simple    = "SIMPLE"
	DynamicV0 = "DYNAMIC_V0"
)

// Filter is a decoded filter.
type Filter struct {
	// TypeCode is "SIMPLE" or "DYNAMIC_V0".
	TypeCode string
	Hashes   int
	Hash     HashType
	// Bits of one row.
	Bits int
	// KeysPerRow and LastRowKeys are told by dynamic filters.
	KeysPerRow, LastRowKeys int
	rows                    [][]byte
}

// maxHashes bounds the hashes of a filter; one for 1e-30 has 100.
const maxHashes = 256

// Decode decodes a filter. text is Base64; typeCode is the code that stands beside it. Offsets in
// errors count in the decoded bytes.
func Decode(typeCode string, text []byte) (*Filter, error) {
	if typeCode != Simple && typeCode != DynamicV0 {
		return nil, &corrupt.Error{Offset: corrupt.Unknown, Part: "bloom filter type", Want: Simple + " or " + DynamicV0, Got: fmt.Sprintf("%q", typeCode)}
	}
	p := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(p, text)
	if err != nil {
		return nil, &corrupt.Error{Offset: corrupt.Unknown, Part: "bloom filter", Want: "Base64 text", Err: err}
	}
	d := decoder{p: p[:n]}
	f := &Filter{TypeCode: typeCode}
	if typeCode == Simple {
		f.rows = make([][]byte, 1)
		f.rows[0], err = d.row(f)
	} else {
		err = d.dynamic(f)
	}
	if err != nil {
		return nil, err
	}
	if d.pos != len(d.p) {
		return nil, corrupt.At(int64(d.pos), "bloom filter", "the end", fmt.Sprintf("%d more bytes", len(d.p)-d.pos))
	}
	return f, nil
}

type decoder struct {
	p   []byte
	pos int
}

func (d *decoder) take(part string, n int) ([]byte, error) {
	if n > len(d.p)-d.pos {
		return nil, corrupt.At(int64(d.pos), "bloom filter: "+part, fmt.Sprintf("%d bytes", n), fmt.Sprintf("%d", len(d.p)-d.pos))
	}
	b := d.p[d.pos : d.pos+n]
	d.pos += n
	return b, nil
}

func (d *decoder) int(part string, least int) (int, error) {
	b, err := d.take(part, 4)
	if err != nil {
		return 0, err
	}
	x := int(int32(binary.BigEndian.Uint32(b)))
	if x < least {
		return 0, corrupt.At(int64(d.pos-4), "bloom filter: "+part, fmt.Sprintf("%d or more", least), fmt.Sprint(x))
	}
	return x, nil
}

// head reads hashes, hash type and bits into f.
func (d *decoder) head(f *Filter) error {
	version, err := d.int("version", -1)
	if err != nil {
		return err
	}
	at := d.pos - 4
	if version > 0 {
		f.Hashes, f.Hash = version, Jenkins
	} else {
		if version == 0 {
			return corrupt.At(int64(at), "bloom filter: version", "-1, or the number of hashes", "0")
		}
		if f.Hashes, err = d.int("number of hashes", 1); err != nil {
			return err
		}
		b, err := d.take("hash type", 1)
		if err != nil {
			return err
		}
		if f.Hash = HashType(b[0]); f.Hash > Murmur {
			return corrupt.At(int64(d.pos-1), "bloom filter: hash type", "0 or 1", fmt.Sprint(b[0]))
		}
	}
	if f.Hashes > maxHashes {
		return corrupt.At(int64(at), "bloom filter: number of hashes", fmt.Sprintf("at most %d", maxHashes), fmt.Sprint(f.Hashes))
	}
	f.Bits, err = d.int("number of bits", 1)
	return err
}

func (d *decoder) row(f *Filter) ([]byte, error) {
	if err := d.head(f); err != nil {
		return nil, err
	}
	return d.take("bits", (f.Bits+7)/8)
}

func (d *decoder) dynamic(f *Filter) (err error) {
	if err := d.head(f); err != nil {
		return err
	}
	if f.KeysPerRow, err = d.int("keys per row", 0); err != nil {
		return err
	}
	if f.LastRowKeys, err = d.int("keys in the last row", 0); err != nil {
		return err
	}
	rows, err := d.int("number of rows", 0)
	if err != nil {
		return err
	}
	if most := (len(d.p) - d.pos) / 9; rows > most {
		return corrupt.At(int64(d.pos-4), "bloom filter: number of rows", fmt.Sprintf("at most %d", most), fmt.Sprint(rows))
	}
	for range rows {
		var row Filter
		b, err := d.row(&row)
		if err != nil {
			return err
		}
		if row.Bits != f.Bits || row.Hashes != f.Hashes || row.Hash != f.Hash {
			return corrupt.At(int64(d.pos), "bloom filter: row", fmt.Sprintf("%d bits, %d hashes, %s", f.Bits, f.Hashes, f.Hash), fmt.Sprintf("%d bits, %d hashes, %s", row.Bits, row.Hashes, row.Hash))
		}
		f.rows = append(f.rows, b)
	}
	return nil
}

// Rows is the number of rows.
func (f *Filter) Rows() int { return len(f.rows) }

// MayContain reports whether a key may have been added; false is certain. An empty key, for which
// Hudi's filters are not defined, may always have been.
func (f *Filter) MayContain(key []byte) bool {
	if len(key) == 0 {
		return true
	}
	hash := murmur
	if f.Hash == Jenkins {
		hash = jenkins
	}
	bits := make([]int, f.Hashes)
	h := int32(0)
	for i := range bits {
		h = hash(key, h)
		bit := h % int32(f.Bits)
		if bit < 0 {
			bit = -bit
		}
		bits[i] = int(bit)
	}
rows:
	for _, row := range f.rows {
		for _, b := range bits {
			if row[b/8]&(1<<(b%8)) == 0 {
				continue rows
			}
		}
		return true
	}
	return false
}

// murmur is Hadoop's MurmurHash: version 2, with the tail's bytes sign-extended.
func murmur(p []byte, seed int32) int32 {
	const m = 0x5bd1e995
	h := uint32(seed) ^ uint32(len(p))
	n := len(p)
	i := 0
	for ; n-i >= 4; i += 4 {
		k := binary.LittleEndian.Uint32(p[i:])
		k *= m
		k ^= k >> 24
		k *= m
		h *= m
		h ^= k
	}
	if left := n - i; left > 0 {
		if left >= 3 {
			h ^= uint32(int32(int8(p[n-3])) << 16)
		}
		if left >= 2 {
			h ^= uint32(int32(int8(p[n-2])) << 8)
		}
		h ^= uint32(int32(int8(p[n-1])))
		h *= m
	}
	h ^= h >> 13
	h *= m
	h ^= h >> 15
	return int32(h)
}

// jenkins is Hadoop's JenkinsHash: Bob Jenkins's lookup3 hashlittle, on 32-bit lanes.
func jenkins(p []byte, seed int32) int32 {
	rot := func(x uint32, k uint) uint32 { return x<<k | x>>(32-k) }
	a := uint32(0xdeadbeef) + uint32(len(p)) + uint32(seed)
	b, c := a, a
	for len(p) > 12 {
		a += binary.LittleEndian.Uint32(p)
		b += binary.LittleEndian.Uint32(p[4:])
		c += binary.LittleEndian.Uint32(p[8:])
		a -= c
		a ^= rot(c, 4)
		c += b
		b -= a
		b ^= rot(a, 6)
		a += c
		c -= b
		c ^= rot(b, 8)
		b += a
		a -= c
		a ^= rot(c, 16)
		c += b
		b -= a
		b ^= rot(a, 19)
		a += c
		c -= b
		c ^= rot(b, 4)
		b += a
		p = p[12:]
	}
	if len(p) == 0 {
		return int32(c)
	}
	var tail [12]byte
	copy(tail[:], p)
	a += binary.LittleEndian.Uint32(tail[:])
	b += binary.LittleEndian.Uint32(tail[4:])
	c += binary.LittleEndian.Uint32(tail[8:])
	c ^= b
	c -= rot(b, 14)
	a ^= c
	a -= rot(c, 11)
	b ^= a
	b -= rot(a, 25)
	c ^= b
	c -= rot(b, 16)
	a ^= c
	a -= rot(c, 4)
	b ^= a
	b -= rot(a, 14)
	c ^= b
	c -= rot(b, 24)
	return int32(c)
}
