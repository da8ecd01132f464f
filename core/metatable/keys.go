package metatable

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf16"
)

// AllPartitions is the key of the record that lists the partitions of the data table.
const AllPartitions = "__all_partitions__"

// nonPartitioned stands for the empty partition path in keys and listings.
const nonPartitioned = "."

// hashSeed is Hudi's seed of XXH64, the 32-bit constant 0xdabadaba extended by its sign.
const hashSeed uint64 = 0xFFFFFFFFDABADABA

// H64 is the 12-character hash of a column name or partition path in keys.
func H64(s string) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], xxh64(s, hashSeed))
	return base64.StdEncoding.EncodeToString(b[:])
}

// H128 is the 24-character hash of a file name in keys.
func H128(s string) string {
	b := md5.Sum([]byte(s))
	return base64.StdEncoding.EncodeToString(b[:])
}

// PartitionKey is a partition path as it stands in keys: "." for the empty path.
func PartitionKey(partition string) string {
	if partition == "" {
		return nonPartitioned
	}
	return partition
}

// ColumnStatsKey is the key of a file's statistics of a column; the prefixes H64(column) and
// H64(column) + H64(PartitionKey(partition)) find all files and those of a partition.
func ColumnStatsKey(column, partition, file string) string {
	return H64(column) + H64(PartitionKey(partition)) + H128(file)
}

// PartitionStatsKey is the key of a partition's statistics of a column.
func PartitionStatsKey(column, partition string) string {
	return H64(column) + H64(PartitionKey(partition))
}

// BloomFilterKey is the key of a file's bloom filter.
func BloomFilterKey(partition, file string) string {
	return H64(PartitionKey(partition)) + H128(file)
}

// SecondaryKey is the key that joins a secondary value (null: nil) to a record key.
func SecondaryKey(value *string, recordKey string) string {
	return SecondaryPrefix(value) + escape(recordKey)
}

// SecondaryPrefix is the prefix of all keys of a secondary value.
func SecondaryPrefix(value *string) string {
	if value == nil {
		return "\x00$"
	}
	return escape(*value) + "$"
}

// SplitSecondaryKey takes a key of a secondary index apart: the value (nil: null) and the record
// key. ok is false when the key has no separator.
func SplitSecondaryKey(key string) (value *string, recordKey string, ok bool) {
	for i := 0; i < len(key); i++ {
		switch key[i] {
		case '\\':
			i++
		case '$':
			if v := key[:i]; v != "\x00" {
				v = unescape(v)
				value = &v
			}
			return value, unescape(key[i+1:]), true
		}
	}
	return nil, "", false
}

func escape(s string) string {
	if !strings.ContainsAny(s, "\\$\x00") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; c == '\\' || c == '$' || c == 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func unescape(s string) string {
	if !strings.Contains(s, "\\") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// Shard returns which of n file groups holds a key: Java's String.hashCode, folded (spec
// metadata-table.md section 2.1).
func Shard(key string, n int) int {
	if n <= 1 {
		return 0
	}
	h := int32(0)
	for _, u := range utf16.Encode([]rune(key)) {
		h = 31*h + int32(u)
	}
	if h < 0 {
		h = -h
	}
	r := h % int32(n)
	if r < 0 {
		r = -r
	}
	return int(r)
}

const (
	prime1 uint64 = 11400714785074694791
	prime2 uint64 = 14029467366897019727
	prime3 uint64 = 1609587929392839161
	prime4 uint64 = 9650029242287828579
	prime5 uint64 = 2870177450012600261
)

// xxh64 is the 64-bit hash of the XXHash family.
func xxh64(s string, seed uint64) uint64 {
	p := []byte(s)
	round := func(acc, x uint64) uint64 { return bits.RotateLeft64(acc+x*prime2, 31) * prime1 }
	var h uint64
	if len(p) >= 32 {
		v := [4]uint64{seed + prime1 + prime2, seed + prime2, seed, seed - prime1}
		for ; len(p) >= 32; p = p[32:] {
			for i := range v {
				v[i] = round(v[i], binary.LittleEndian.Uint64(p[8*i:]))
			}
		}
		h = bits.RotateLeft64(v[0], 1) + bits.RotateLeft64(v[1], 7) + bits.RotateLeft64(v[2], 12) + bits.RotateLeft64(v[3], 18)
		for _, x := range v {
			h = (h^round(0, x))*prime1 + prime4
		}
	} else {
		h = seed + prime5
	}
	h += uint64(len(s))
	for ; len(p) >= 8; p = p[8:] {
		h = bits.RotateLeft64(h^round(0, binary.LittleEndian.Uint64(p)), 27)*prime1 + prime4
	}
	if len(p) >= 4 {
		h = bits.RotateLeft64(h^uint64(binary.LittleEndian.Uint32(p))*prime1, 23)*prime2 + prime3
		p = p[4:]
	}
	for _, c := range p {
		h = bits.RotateLeft64(h^uint64(c)*prime5, 11) * prime1
	}
	h = (h ^ h>>33) * prime2
	h = (h ^ h>>29) * prime3
	return h ^ h>>32
}
