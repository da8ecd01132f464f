package basefile

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/bits"
)

// inflater unpacks pages compressed with gzip (RFC 1952, RFC 1951) as a whole: where all bytes are there and the size
// is known, no symbol needs a look at how far input and output have come. What it does not take is for the library.
type inflater struct {
	literals  [litTable]uint32
	distances [distTable]uint32
	lengths   [maxLiterals + maxDistances]uint8
	// deeper is for making tables: how many bits codes have beyond the first ones, by these.
	deeper [1 << litBits]uint8
}

const (
	maxLiterals, maxDistances = 288, 32
	litBits, distBits         = 11, 8
	// The most entries of a table and those behind it, of codes of at most 15 bits.
	litTable, distTable = 2400, 512
	maxCode             = 15
	// inflateSlack is the room behind the output that words may be written to.
	inflateSlack = 16
)

// An entry of a table: the bits of the code (5), a kind (3), the number of extra bits (8), a value (16).
const (
	isLiteral = iota << 5
	isMatch   // the value is the least length or distance
	isEnd
	isDeeper // the value is where a further table begins, of as many more bits
	isNone
	kindMask = 7 << 5
	codeMask = 31
)

var errInflate = errors.New("no gzip data of the usual kind")

var lengthBase, lengthExtra, distBase, distExtra = func() (lb [29]uint16, le [29]uint8, db [30]uint16, de [30]uint8) {
	at := uint16(3)
	for i := range lb {
		if i >= 8 {
			le[i] = uint8(i/4 - 1)
		}
		lb[i] = at
		at += 1 << le[i]
	}
	lb[28], le[28] = 258, 0
	at = 1
	for i := range db {
		if i >= 4 {
			de[i] = uint8(i/2 - 1)
		}
		db[i] = at
		at += 1 << de[i]
	}
	return
}()

// gunzip unpacks one gzip member, all of src, to size bytes. dst has inflateSlack bytes more.
func (z *inflater) gunzip(dst, src []byte, size int) error {
	// Magic, method, no flags.
	if len(src) < 18 || src[0] != 0x1f || src[1] != 0x8b || src[2] != 8 || src[3] != 0 || len(dst) < size+inflateSlack {
		return errInflate
	}
	n, used, err := z.inflate(dst, src[10:], size)
	if err != nil {
		return err
	}
	tail := src[10+used:]
	if n != size || len(tail) != 8 || binary.LittleEndian.Uint32(tail[4:]) != uint32(size) || binary.LittleEndian.Uint32(tail) != crc32.ChecksumIEEE(dst[:size]) {
		return errInflate
	}
	return nil
}

// inflate unpacks at most size bytes and returns how many, and the bytes of src that they took.
func (z *inflater) inflate(dst, src []byte, size int) (out, used int, err error) {
	var buf uint64
	var n uint // bits in buf
	pos := 0
	for last := false; !last; {
		for n < 32 && pos < len(src) {
			buf |= uint64(src[pos]) << n
			pos++
			n += 8
		}
		if n < 3 {
			return 0, 0, errInflate
		}
		last = buf&1 == 1
		kind := buf >> 1 & 3
		buf >>= 3
		n -= 3
		switch kind {
		case 0:
			// What is in buf goes back, from the next byte on.
			pos -= int(n / 8)
			buf, n = 0, 0
			if len(src)-pos < 4 {
				return 0, 0, errInflate
			}
			k := int(binary.LittleEndian.Uint16(src[pos:]))
			if k != int(^binary.LittleEndian.Uint16(src[pos+2:])) || k > len(src)-pos-4 || k > size-out {
				return 0, 0, errInflate
			}
			copy(dst[out:], src[pos+4:pos+4+k])
			pos += 4 + k
			out += k
			continue
		case 1:
			for i := range maxLiterals {
				switch {
				case i < 144:
					z.lengths[i] = 8
				case i < 256:
					z.lengths[i] = 9
				case i < 280:
					z.lengths[i] = 7
				default:
					z.lengths[i] = 8
				}
			}
			for i := range maxDistances {
				z.lengths[maxLiterals+i] = 5
			}
			if !z.table(z.literals[:], z.lengths[:maxLiterals], litBits, literalEntry) || !z.table(z.distances[:], z.lengths[maxLiterals:], distBits, distanceEntry) {
				return 0, 0, errInflate
			}
		case 2:
			if buf, n, pos, err = z.codes(src, buf, n, pos); err != nil {
				return 0, 0, err
			}
		default:
			return 0, 0, errInflate
		}
		if out, buf, n, pos = z.block(dst, src, out, size, buf, n, pos); out < 0 {
			return 0, 0, errInflate
		}
	}
	return out, pos - int(n/8), nil
}

// block unpacks the symbols of a block. out is negative after an error.
func (z *inflater) block(dst, src []byte, out, size int, buf uint64, n uint, pos int) (int, uint64, uint, int) {
	lit, dist := &z.literals, &z.distances
	for {
		if pos+8 <= len(src) {
			buf |= binary.LittleEndian.Uint64(src[pos:]) << (n & 63)
			pos += int((63 - n) >> 3)
			n |= 56
		} else {
			for n <= 56 && pos < len(src) {
				buf |= uint64(src[pos]) << (n & 63)
				pos++
				n += 8
			}
		}
		e := lit[buf&(1<<litBits-1)]
		if e&kindMask == isLiteral {
			// Two more have the bits that are there.
			if out+3 > size || n < 3*maxCode {
				if out >= size || n < uint(e&codeMask) {
					return -1, 0, 0, 0
				}
				dst[out] = byte(e >> 16)
				out++
				buf >>= e & codeMask
				n -= uint(e & codeMask)
				continue
			}
			dst[out] = byte(e >> 16)
			out++
			buf >>= e & codeMask
			n -= uint(e & codeMask)
			if e = lit[buf&(1<<litBits-1)]; e&kindMask != isLiteral {
				continue
			}
			dst[out] = byte(e >> 16)
			out++
			buf >>= e & codeMask
			n -= uint(e & codeMask)
			if e = lit[buf&(1<<litBits-1)]; e&kindMask != isLiteral {
				continue
			}
			dst[out] = byte(e >> 16)
			out++
			buf >>= e & codeMask
			n -= uint(e & codeMask)
			continue
		}
		if e&kindMask == isDeeper {
			at := e>>16 + uint32(buf>>litBits)&(1<<(e>>8&15)-1)
			if at >= litTable {
				return -1, 0, 0, 0
			}
			e = lit[at]
		}
		code := uint(e & codeMask)
		if code > n {
			return -1, 0, 0, 0
		}
		buf >>= code & 63
		n -= code
		switch e & kindMask {
		case isLiteral:
			if out >= size {
				return -1, 0, 0, 0
			}
			dst[out] = byte(e >> 16)
			out++
			continue
		case isEnd:
			return out, buf, n, pos
		case isMatch:
		default:
			return -1, 0, 0, 0
		}
		extra := uint(e >> 8 & 31)
		length := int(e>>16) + int(buf&(1<<extra-1))
		if extra > n {
			return -1, 0, 0, 0
		}
		buf >>= extra & 63
		n -= extra
		d := dist[buf&(1<<distBits-1)]
		if d&kindMask == isDeeper {
			at := d>>16 + uint32(buf>>distBits)&(1<<(d>>8&15)-1)
			if at >= distTable {
				return -1, 0, 0, 0
			}
			d = dist[at]
		}
		code, extra = uint(d&codeMask), uint(d>>8&31)
		if d&kindMask != isMatch || code+extra > n {
			return -1, 0, 0, 0
		}
		buf >>= code & 63
		back := int(d>>16) + int(buf&(1<<extra-1))
		buf >>= extra & 63
		n -= code + extra
		if back > out || length > size-out {
			return -1, 0, 0, 0
		}
		to := dst[out : out+length+inflateSlack]
		from := dst[out-back : out+length+inflateSlack]
		out += length
		switch {
		case back >= 8:
			// Words, the last of which may reach beyond the end.
			for i := 0; i < length; i += 8 {
				binary.LittleEndian.PutUint64(to[i:], binary.LittleEndian.Uint64(from[i:]))
			}
		case back == 1:
			fill(to[:length], from[0])
		default:
			for i := range length {
				to[i] = from[i]
			}
		}
	}
}

// codes reads the codes of a block.
func (z *inflater) codes(src []byte, buf uint64, n uint, pos int) (uint64, uint, int, error) {
	refill := func() {
		for n <= 48 && pos < len(src) {
			buf |= uint64(src[pos]) << n
			pos++
			n += 8
		}
	}
	ok := true
	take := func(k uint) int {
		if k > n {
			ok = false
			return 0
		}
		x := buf & (1<<k - 1)
		buf >>= k
		n -= k
		return int(x)
	}
	refill()
	literals, distances, kinds := take(5)+257, take(5)+1, take(4)+4
	if !ok || literals > 286 || distances > 30 {
		return 0, 0, 0, errInflate
	}
	var of [19]uint8
	order := [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
	for _, i := range order[:kinds] {
		refill()
		of[i] = uint8(take(3))
	}
	const kindBits = 7
	if !ok || !z.table(z.distances[:], of[:], kindBits, func(i int) uint32 { return uint32(i)<<16 | isLiteral }) {
		return 0, 0, 0, errInflate
	}
	for at := 0; at < literals+distances; {
		refill()
		e := z.distances[buf&(1<<kindBits-1)]
		take(uint(e & codeMask))
		if !ok || e&kindMask != isLiteral {
			return 0, 0, 0, errInflate
		}
		length, times := uint8(0), 1
		switch x := e >> 16; x {
		case 16:
			if at == 0 {
				return 0, 0, 0, errInflate
			}
			length, times = z.lengths[at-1], 3+take(2)
		case 17:
			times = 3 + take(3)
		case 18:
			times = 11 + take(7)
		default:
			length = uint8(x)
		}
		if !ok || times > literals+distances-at {
			return 0, 0, 0, errInflate
		}
		for range times {
			z.lengths[at] = length
			at++
		}
	}
	if z.lengths[256] == 0 || !z.table(z.literals[:], z.lengths[:literals], litBits, literalEntry) ||
		!z.table(z.distances[:], z.lengths[literals:literals+distances], distBits, distanceEntry) {
		return 0, 0, 0, errInflate
	}
	return buf, n, pos, nil
}

// literalEntry is the entry of a symbol of literals and lengths, distanceEntry that of a distance.
func literalEntry(i int) uint32 {
	switch {
	case i < 256:
		return uint32(i)<<16 | isLiteral
	case i == 256:
		return isEnd
	case i-257 < len(lengthBase):
		return uint32(lengthBase[i-257])<<16 | uint32(lengthExtra[i-257])<<8 | isMatch
	}
	return isNone
}

func distanceEntry(i int) uint32 {
	if i >= len(distBase) {
		return isNone
	}
	return uint32(distBase[i])<<16 | uint32(distExtra[i])<<8 | isMatch
}

// table makes the table of a code from the lengths of its symbols: by the next root bits, and for longer codes
// further tables behind. It reports whether the lengths are those of a code that is complete, or has one symbol
// at most.
func (z *inflater) table(t []uint32, lengths []uint8, root uint, entry func(i int) uint32) bool {
	var count, next [maxCode + 1]int
	for _, l := range lengths {
		count[l]++
	}
	symbols := len(lengths) - count[0]
	count[0] = 0
	left := 1
	for l := 1; l <= maxCode; l++ {
		next[l] = (next[l-1] + count[l-1]) << 1
		if left = left<<1 - count[l]; left < 0 {
			return false
		}
	}
	if left > 0 && symbols > 1 {
		return false
	}
	end := 1 << root
	for i := range t[:end] {
		t[i] = isNone
	}
	clear(z.deeper[:end])
	var codes [maxLiterals]uint16
	for i, l := range lengths {
		if l == 0 {
			continue
		}
		code := bits.Reverse16(uint16(next[l])) >> (16 - l)
		next[l]++
		codes[i] = code
		if uint(l) > root {
			at := code & (1<<root - 1)
			z.deeper[at] = max(z.deeper[at], l-uint8(root))
			continue
		}
		e := entry(i) | uint32(l)
		for j := int(code); j < 1<<root; j += 1 << l {
			t[j] = e
		}
	}
	for i, l := range lengths {
		if uint(l) <= root {
			continue
		}
		head := int(codes[i]) & (1<<root - 1)
		more := z.deeper[head]
		if t[head]&kindMask != isDeeper {
			if end+(1<<more) > len(t) {
				return false
			}
			t[head] = uint32(end)<<16 | uint32(more)<<8 | isDeeper
			for j := range 1 << more {
				t[end+j] = isNone
			}
			end += 1 << more
		}
		at, e := int(t[head]>>16), entry(i)|uint32(l)
		for j := int(codes[i]) >> root; j < 1<<more; j += 1 << (uint(l) - root) {
			t[at+j] = e
		}
	}
	return true
}
