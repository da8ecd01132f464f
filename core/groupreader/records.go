package groupreader

import (
	"hash/maphash"

	"hudiscope/core/merge"
)

// records is the map of merged log records: by record key, in order of first appearance. Records
// and keys lie in chunks, so that hundreds of thousands of them cost few allocations.
type records struct {
	chunks [][]entry
	n      int
	// slots is an open-addressing table, a power of two long: hash in the upper half, entry number + 1
	// in the lower one.
	slots []uint64
	seed  maphash.Seed
	keys  []byte
	// keyBytes is the size of all keys.
	keyBytes int64
}

// entry is the merged record of one key.
type entry struct {
	merge.Record
	key  []byte
	hash uint32
	// done is set when the base file's row of the key has been dealt with.
	done bool
}

const (
	chunkBits = 9
	chunkSize = 1 << chunkBits
	keyChunk  = 32 << 10
	// entryBytes is about what one entry takes beside its key and its row.
	entryBytes = 176
)

func newRecords() *records { return &records{seed: maphash.MakeSeed()} }

func (r *records) at(i int) *entry { return &r.chunks[i>>chunkBits][i&(chunkSize-1)] }

func (r *records) hash(key []byte) uint32 { return uint32(maphash.Bytes(r.seed, key)) }

// find returns the entry of a key, nil when there is none.
func (r *records) find(key []byte, hash uint32) *entry {
	if len(r.slots) == 0 {
		return nil
	}
	mask := uint32(len(r.slots) - 1)
	for s := hash & mask; r.slots[s] != 0; s = (s + 1) & mask {
		if x := r.slots[s]; uint32(x>>32) == hash {
			if e := r.at(int(uint32(x) - 1)); string(e.key) == string(key) {
				return e
			}
		}
	}
	return nil
}

// add appends an entry without entering it in the table; the key is copied.
func (r *records) add(key []byte, hash uint32) *entry {
	if r.n == len(r.chunks)<<chunkBits {
		r.chunks = append(r.chunks, make([]entry, chunkSize))
	}
	if len(r.keys)+len(key) > cap(r.keys) {
		r.keys = make([]byte, 0, max(keyChunk, len(key)))
	}
	at := len(r.keys)
	r.keys = append(r.keys, key...)
	e := r.at(r.n)
	e.key, e.hash = r.keys[at:len(r.keys):len(r.keys)], hash
	r.n++
	r.keyBytes += int64(len(key))
	return e
}

// enter puts the last entry into the table.
func (r *records) enter(hash uint32) {
	if 4*r.n >= 3*len(r.slots) {
		r.grow()
		return
	}
	r.link(r.n-1, hash)
}

func (r *records) link(i int, hash uint32) {
	mask := uint32(len(r.slots) - 1)
	s := hash & mask
	for r.slots[s] != 0 {
		s = (s + 1) & mask
	}
	r.slots[s] = uint64(hash)<<32 | uint64(i+1)
}

// grow makes the table larger and enters all entries anew.
func (r *records) grow() {
	n := max(256, 2*len(r.slots))
	for 2*r.n > n {
		n *= 2
	}
	r.slots = make([]uint64, n)
	for i := range r.n {
		r.link(i, r.at(i).hash)
	}
}
