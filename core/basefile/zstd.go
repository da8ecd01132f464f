package basefile

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"runtime"
)

// ownZstd tells whether pages are unpacked by unzstd. Natively the library's decoder has machine code of its own.
const ownZstd = runtime.GOARCH == "wasm"

// unzstd unpacks pages compressed with Zstandard (RFC 8878) as a whole. It reads bits by their number in the input,
// with one load for several fields, so that there is no state but that number. What it does not take is for the library.
type unzstd struct {
	literals []byte
	huff     [1 << huffBits]uint16 // symbol<<8 | bits, by the next huffBits bits
	hasHuff  bool
	// Tables of the lengths of literals, of offsets and of the lengths of matches, and those that a block names. Of
	// a code of one symbol alone the table has one entry.
	tables [3]fseTable
	has    [3]bool
	rep    [3]int
}

type fseTable struct {
	log     uint
	entries [512]fseEntry
}

// fseEntry is a state: what a symbol stands for, and where to go from there.
type fseEntry struct {
	base  uint32 // of the value
	extra uint8  // bits that are added to it
	bits  uint8  // bits that are added to next
	next  uint16
}

const (
	huffBits = 11
	// zstdSlack is the room behind input and output that words may reach into.
	zstdSlack = 16
	zstdBlock = 128 << 10
)

var errZstd = errors.New("no Zstandard data of the usual kind")

// The values of the codes of literals' and matches' lengths: the least one and the bits that are added.
var literalLengths, matchLengths = func() (ll [36]fseEntry, ml [53]fseEntry) {
	fill := func(list []fseEntry, at, from int, base uint32, extra ...uint8) {
		for i := range list {
			if i >= from {
				list[i].extra = extra[i-from]
			}
			list[i].base = base
			base += 1 << list[i].extra
		}
	}
	fill(ll[:], 0, 16, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
	fill(ml[:], 0, 32, 3, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
	return
}()

// The codes that are not written down.
var predefined = [3]struct {
	log   uint
	norms []int16
}{
	{6, []int16{4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1}},
	{5, []int16{1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1}},
	{6, []int16{1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1}},
}

// maxLogs bounds the tables, maxSymbols the symbols.
var maxLogs, maxSymbols = [3]uint{9, 8, 9}, [3]int{36, 32, 53}

func (e *fseEntry) symbol(kind int, s int) {
	switch kind {
	case 0:
		e.base, e.extra = literalLengths[s].base, literalLengths[s].extra
	case 1:
		e.base, e.extra = 1<<s, uint8(s)
	default:
		e.base, e.extra = matchLengths[s].base, matchLengths[s].extra
	}
}

// frame unpacks one frame, all of src[:n], to size bytes. src and dst have zstdSlack bytes more.
func (z *unzstd) frame(dst, src []byte, n, size int) error {
	if n < 6 || len(src) < n+zstdSlack || len(dst) < size+zstdSlack {
		return errZstd
	}
	at := zstdHead(src[:n])
	if at == 0 {
		return errZstd
	}
	z.hasHuff, z.has, z.rep = false, [3]bool{}, [3]int{1, 4, 8}
	out := 0
	for {
		if n-at < 3 {
			return errZstd
		}
		h := int(src[at]) | int(src[at+1])<<8 | int(src[at+2])<<16
		at += 3
		k := h >> 3
		switch h >> 1 & 3 {
		case 0:
			if k > n-at || k > size-out {
				return errZstd
			}
			copy(dst[out:], src[at:at+k])
			out += k
		case 1:
			if n-at < 1 || k > size-out {
				return errZstd
			}
			fill(dst[out:out+k], src[at])
			out += k
			k = 1
		case 2:
			if k > n-at || k > zstdBlock {
				return errZstd
			}
			if out = z.block(dst, src[at:at+k+zstdSlack], out, k, size); out < 0 {
				return errZstd
			}
		default:
			return errZstd
		}
		at += k
		if h&1 == 1 {
			break
		}
	}
	if at != n || out != size {
		return errZstd
	}
	return nil
}

// zstdMost is what one frame, all of src, unpacks to at most, by the heads of its blocks; ok is false where src is
// something else.
func zstdMost(src []byte) (most int64, ok bool) {
	at := zstdHead(src)
	for at > 0 && len(src)-at >= 3 {
		h := int(src[at]) | int(src[at+1])<<8 | int(src[at+2])<<16
		size := h >> 3
		switch h >> 1 & 3 {
		case 0:
			most += int64(size)
		case 1:
			most += int64(size)
			size = 1
		default:
			most += zstdBlock
		}
		at += 3 + size
		if h&1 == 1 {
			return most, at == len(src)
		}
	}
	return 0, false
}

// zstdHead is the size of the header of a frame without checksum and dictionary, which p begins with, 0 for others.
func zstdHead(p []byte) int {
	if len(p) < 6 || binary.LittleEndian.Uint32(p) != 0xfd2fb528 {
		return 0
	}
	head := p[4]
	// No checksum, no dictionary, nothing reserved.
	if head&0x0f != 0 {
		return 0
	}
	at := 5
	single := head&0x20 != 0
	if !single {
		at++
	}
	switch head >> 6 {
	case 0:
		if single {
			at++
		}
	case 1:
		at += 2
	case 2:
		at += 4
	case 3:
		at += 8
	}
	return at
}

// block unpacks a block of n bytes and returns the end of the output, a negative one after an error.
func (z *unzstd) block(dst, src []byte, out, n, size int) int {
	lits, at := z.literalsOf(src, n)
	if at < 0 || n-at < 1 {
		return -1
	}
	count := int(src[at])
	at++
	switch {
	case count >= 255:
		if n-at < 2 {
			return -1
		}
		count = int(src[at]) + int(src[at+1])<<8 + 0x7f00
		at += 2
	case count >= 128:
		if n-at < 1 {
			return -1
		}
		count = (count-128)<<8 + int(src[at])
		at++
	}
	if count == 0 {
		if at != n || len(lits)-zstdSlack > size-out {
			return -1
		}
		return out + copy(dst[out:], lits[:len(lits)-zstdSlack])
	}
	if n-at < 1 {
		return -1
	}
	modes := src[at]
	at++
	if modes&3 != 0 {
		return -1
	}
	for kind := range 3 {
		if at = z.table(kind, int(modes>>(6-2*kind)&3), src, at, n); at < 0 {
			return -1
		}
	}
	return z.sequences(dst, src[at:], lits, out, n-at, count, size)
}

// sequences unpacks count sequences, whose bits are src[:n].
func (z *unzstd) sequences(dst, src, lits []byte, out, n, count, size int) int {
	if n < 1 || src[n-1] == 0 {
		return -1
	}
	// Bits are read from the end; below bp are those that are left.
	bp := n*8 - 9 + bits.Len8(src[n-1])
	tl, to, tm := &z.tables[0], &z.tables[1], &z.tables[2]
	if bp < int(tl.log+to.log+tm.log) {
		return -1
	}
	read := func(n uint) uint {
		bp -= int(n)
		return uint(binary.LittleEndian.Uint64(src[bp>>3:])>>(bp&7)) & (1<<n - 1)
	}
	sl, so := read(tl.log), read(to.log)
	sm := read(tm.log)
	rep0, rep1, rep2 := z.rep[0], z.rep[1], z.rep[2]
	lit, end := 0, len(lits)-zstdSlack
	for {
		l, o, m := &tl.entries[sl&511], &to.entries[so&511], &tm.entries[sm&511]
		ll, of, ml := int(l.base), int(o.base), int(m.base)
		el, em, eo := uint(l.extra), uint(m.extra), uint(o.extra)
		if all := el + em + eo; all <= 56 {
			if bp -= int(all); bp < 0 {
				return -1
			}
			x := binary.LittleEndian.Uint64(src[bp>>3:]) >> (bp & 7)
			ll += int(x & (1<<(el&63) - 1))
			x >>= el & 63
			ml += int(x & (1<<(em&63) - 1))
			x >>= em & 63
			of += int(x & (1<<(eo&63) - 1))
		} else {
			if bp < int(all) {
				return -1
			}
			of += int(read(eo))
			ml += int(read(em))
			ll += int(read(el))
		}
		var back int
		if of > 3 {
			back = of - 3
			rep2, rep1, rep0 = rep1, rep0, back
		} else {
			if ll == 0 {
				of++
			}
			switch of {
			case 1:
				back = rep0
			case 2:
				back = rep1
				rep1, rep0 = rep0, back
			case 3:
				back = rep2
				rep2, rep1, rep0 = rep1, rep0, back
			default:
				back = rep0 - 1
				rep2, rep1, rep0 = rep1, rep0, back
			}
		}
		if ll > end-lit || ll+ml > size-out || back <= 0 || back > out+ll {
			return -1
		}
		if ll <= zstdSlack {
			d, s := dst[out:out+16], lits[lit:lit+16]
			binary.LittleEndian.PutUint64(d, binary.LittleEndian.Uint64(s))
			binary.LittleEndian.PutUint64(d[8:], binary.LittleEndian.Uint64(s[8:]))
		} else {
			copy(dst[out:out+ll], lits[lit:lit+ll])
		}
		lit += ll
		out += ll
		switch d, s := dst[out:out+ml+8], dst[out-back:out+ml+8]; {
		case back >= 8 && ml <= 64:
			for i := 0; i < ml; i += 8 {
				binary.LittleEndian.PutUint64(d[i:], binary.LittleEndian.Uint64(s[i:]))
			}
		case back >= ml:
			copy(d[:ml], s)
		case back == 1:
			fill(d[:ml], s[0])
		default:
			// What is there is doubled until it is long enough.
			k := copy(d[:ml], s[:back])
			for k < ml {
				k += copy(d[k:ml], d[:k])
			}
		}
		out += ml
		if count--; count == 0 {
			break
		}
		bl, bm, bo := uint(l.bits), uint(m.bits), uint(o.bits)
		if bp -= int(bl + bm + bo); bp < 0 {
			return -1
		}
		x := uint(binary.LittleEndian.Uint64(src[bp>>3:]) >> (bp & 7))
		so = uint(o.next) + x&(1<<(bo&63)-1)
		x >>= bo & 63
		sm = uint(m.next) + x&(1<<(bm&63)-1)
		x >>= bm & 63
		sl = uint(l.next) + x&(1<<(bl&63)-1)
	}
	if bp != 0 || end-lit > size-out {
		return -1
	}
	z.rep = [3]int{rep0, rep1, rep2}
	return out + copy(dst[out:], lits[lit:end])
}

// literalsOf unpacks the literals at the beginning of a block of n bytes, with zstdSlack bytes behind them, and returns
// where they end in src, -1 after an error.
func (z *unzstd) literalsOf(src []byte, n int) (lits []byte, at int) {
	if n < 1 {
		return nil, -1
	}
	if z.literals == nil {
		z.literals = make([]byte, zstdBlock+2*zstdSlack)
	}
	kind, form := src[0]&3, src[0]>>2&3
	h := int(binary.LittleEndian.Uint64(src) & (1<<40 - 1))
	if kind < 2 {
		var size int
		switch form {
		case 0, 2:
			size, at = h>>3&31, 1
		case 1:
			size, at = h>>4&0xfff, 2
		default:
			size, at = h>>4&0xfffff, 3
		}
		if size > zstdBlock || at > n {
			return nil, -1
		}
		if kind == 0 {
			if size > n-at {
				return nil, -1
			}
			return src[at : at+size+zstdSlack], at + size
		}
		if n-at < 1 {
			return nil, -1
		}
		fill(z.literals[:size], src[at])
		return z.literals[:size+zstdSlack], at + 1
	}
	var size, packed int
	switch form {
	case 0, 1:
		size, packed, at = h>>4&0x3ff, h>>14&0x3ff, 3
	case 2:
		size, packed, at = h>>4&0x3fff, h>>18&0x3fff, 4
	default:
		size, packed, at = h>>4&0x3ffff, h>>22&0x3ffff, 5
	}
	if size > zstdBlock || at > n || packed > n-at {
		return nil, -1
	}
	end := at + packed
	if kind == 2 {
		if at = z.tree(src, at, end); at < 0 {
			return nil, -1
		}
		z.hasHuff = true
	} else if !z.hasHuff {
		return nil, -1
	}
	dst := z.literals[:size+zstdSlack]
	if form == 0 {
		if !z.stream(dst[:size], src[at:], end-at) {
			return nil, -1
		}
		return dst, end
	}
	if end-at < 6 {
		return nil, -1
	}
	var part [4]int
	part[3] = end - at - 6
	for i := range 3 {
		part[i] = int(binary.LittleEndian.Uint16(src[at+2*i:]))
		part[3] -= part[i]
	}
	at += 6
	each := (size + 3) / 4
	if part[3] < 1 || 3*each > size {
		return nil, -1
	}
	for i := range 4 {
		to := dst[i*each : min((i+1)*each, size)]
		if !z.stream(to, src[at:], part[i]) {
			return nil, -1
		}
		at += part[i]
	}
	return dst, end
}

// stream unpacks the literals of a stream of n bytes.
func (z *unzstd) stream(dst, src []byte, n int) bool {
	if n < 1 || src[n-1] == 0 {
		return false
	}
	bp := n*8 - 9 + bits.Len8(src[n-1])
	huff := &z.huff
	const low = 56 - huffBits
	for len(dst) >= 5 && bp >= 56 {
		off := bp - 56
		x := binary.LittleEndian.Uint64(src[off>>3:]) >> (off & 7)
		a := huff[x>>low&(1<<huffBits-1)]
		x <<= a & 15
		b := huff[x>>low&(1<<huffBits-1)]
		x <<= b & 15
		c := huff[x>>low&(1<<huffBits-1)]
		x <<= c & 15
		d := huff[x>>low&(1<<huffBits-1)]
		x <<= d & 15
		e := huff[x>>low&(1<<huffBits-1)]
		dst[4] = byte(e >> 8)
		dst[0], dst[1], dst[2], dst[3] = byte(a>>8), byte(b>>8), byte(c>>8), byte(d>>8)
		dst = dst[5:]
		bp -= int(a&15 + b&15 + c&15 + d&15 + e&15)
	}
	for i := range dst {
		var x uint64
		if bp >= huffBits {
			off := bp - huffBits
			x = binary.LittleEndian.Uint64(src[off>>3:]) >> (off & 7)
		} else {
			x = binary.LittleEndian.Uint64(src) << (huffBits - bp)
		}
		e := huff[x&(1<<huffBits-1)]
		dst[i] = byte(e >> 8)
		if bp -= int(e & 15); bp < 0 {
			return false
		}
	}
	return bp == 0
}

// tree reads the code of literals, and returns where it ends.
func (z *unzstd) tree(src []byte, at, end int) int {
	if end-at < 1 {
		return -1
	}
	var weights [256]uint8
	count := 0
	h := int(src[at])
	at++
	if h >= 128 {
		count = h - 127
		if (count+1)/2 > end-at {
			return -1
		}
		for i := range count {
			weights[i] = src[at+i/2] >> (4 * (1 - i&1)) & 15
		}
		at += (count + 1) / 2
	} else {
		if h > end-at {
			return -1
		}
		if count = z.weights(&weights, src[at:at+h]); count < 0 {
			return -1
		}
		at += h
	}
	sum := 0
	for _, w := range weights[:count] {
		if w > huffBits {
			return -1
		}
		if w > 0 {
			sum += 1 << (w - 1)
		}
	}
	if sum == 0 {
		return -1
	}
	// The last weight makes the sum a power of two.
	log := bits.Len(uint(sum))
	rest := 1<<log - sum
	if log > huffBits || rest&(rest-1) != 0 {
		return -1
	}
	weights[count] = uint8(bits.Len(uint(rest)))
	count++
	pos := 0
	for w := 1; w <= log; w++ {
		for s, x := range weights[:count] {
			if int(x) != w {
				continue
			}
			k := 1 << (w - 1 + huffBits - log)
			if pos+k > len(z.huff) {
				return -1
			}
			for i := pos; i < pos+k; i++ {
				z.huff[i] = uint16(s)<<8 | uint16(log+1-w)
			}
			pos += k
		}
	}
	if pos != len(z.huff) {
		return -1
	}
	return at
}

// weights reads the weights of symbols, and returns how many there are.
func (z *unzstd) weights(weights *[256]uint8, src []byte) int {
	norms := [256]int16{}
	log, symbols, at := fseNorms(norms[:], src, 6)
	if at < 0 || at >= len(src) || symbols > 16 {
		return -1
	}
	var t fseTable
	if !t.make(norms[:symbols], log, -1) {
		return -1
	}
	src = src[at:]
	last := src[len(src)-1]
	if last == 0 {
		return -1
	}
	bp := len(src)*8 - 9 + bits.Len8(last)
	// Bits before the first one are zeros.
	read := func(n uint) (x uint16) {
		for range n {
			bp--
			x <<= 1
			if bp >= 0 {
				x |= uint16(src[bp>>3] >> (bp & 7) & 1)
			}
		}
		return x
	}
	state := [2]uint16{read(log), read(log)}
	if bp < 0 {
		return -1
	}
	count := 0
	for turn := 0; ; turn ^= 1 {
		if count >= 254 {
			return -1
		}
		e := &t.entries[state[turn]&511]
		weights[count] = uint8(e.base)
		count++
		state[turn] = e.next + read(uint(e.bits))
		if bp < 0 {
			weights[count] = uint8(t.entries[state[turn^1]&511].base)
			return count + 1
		}
	}
}

// table makes the table of a kind as a block says, and returns where that ends.
func (z *unzstd) table(kind, mode int, src []byte, at, n int) int {
	t := &z.tables[kind]
	switch mode {
	case 0:
		p := &predefined[kind]
		if !t.make(p.norms, p.log, kind) {
			return -1
		}
	case 1:
		if n-at < 1 || int(src[at]) >= maxSymbols[kind] {
			return -1
		}
		t.log, t.entries[0] = 0, fseEntry{}
		t.entries[0].symbol(kind, int(src[at]))
		at++
	case 2:
		var norms [256]int16
		log, symbols, used := fseNorms(norms[:], src[at:n], maxLogs[kind])
		if used < 0 || symbols > maxSymbols[kind] || !t.make(norms[:symbols], log, kind) {
			return -1
		}
		at += used
	default:
		if !z.has[kind] {
			return -1
		}
	}
	z.has[kind] = true
	return at
}

// fseNorms reads the shares of symbols of a table of 1<<log entries, and how many bytes they take, -1 after an error.
func fseNorms(norms []int16, src []byte, maxLog uint) (log uint, symbols, used int) {
	bit := 0
	peek := func() (x uint32) {
		for i := range 4 {
			if k := bit>>3 + i; k < len(src) {
				x |= uint32(src[k]) << (8 * i)
			}
		}
		return x >> (bit & 7)
	}
	log = uint(peek()&15) + 5
	if log > maxLog {
		return 0, 0, -1
	}
	bit += 4
	remaining, threshold, width := 1<<log+1, 1<<log, int(log)+1
	for remaining > 1 {
		if symbols >= len(norms) || bit > 8*len(src) {
			return 0, 0, -1
		}
		x := int(peek())
		most := 2*threshold - 1 - remaining
		var count int
		if x&(threshold-1) < most {
			count = x & (threshold - 1)
			bit += width - 1
		} else {
			if count = x & (2*threshold - 1); count >= threshold {
				count -= most
			}
			bit += width
		}
		count--
		norms[symbols] = int16(count)
		symbols++
		remaining -= max(count, -count)
		if remaining < 1 {
			return 0, 0, -1
		}
		for remaining < threshold {
			threshold >>= 1
			width--
		}
		for more := count == 0; more; {
			k := int(peek() & 3)
			bit += 2
			if symbols += k; symbols >= len(norms) || bit > 8*len(src) {
				return 0, 0, -1
			}
			more = k == 3
		}
	}
	if used = (bit + 7) / 8; used > len(src) {
		return 0, 0, -1
	}
	return log, symbols, used
}

// make builds the table; kind -1: a symbol stands for itself.
func (t *fseTable) make(norms []int16, log uint, kind int) bool {
	size := 1 << log
	t.log = log
	var symbols [512]uint8
	var next [256]uint16
	high := size - 1
	for s, n := range norms {
		next[s] = uint16(n)
		if n == -1 {
			if high < 0 {
				return false
			}
			symbols[high] = uint8(s)
			high--
			next[s] = 1
		}
	}
	pos, step := 0, size>>1+size>>3+3
	for s, n := range norms {
		for range n {
			symbols[pos] = uint8(s)
			for {
				if pos = (pos + step) & (size - 1); pos <= high {
					break
				}
			}
		}
	}
	if pos != 0 {
		return false
	}
	for i := range size {
		s := symbols[i]
		x := next[s]
		next[s]++
		if x == 0 {
			return false
		}
		e := &t.entries[i]
		e.bits = uint8(log) - uint8(bits.Len16(x)-1)
		e.next = x<<e.bits - uint16(size)
		if kind < 0 {
			e.base = uint32(s)
		} else {
			e.symbol(kind, int(s))
		}
	}
	return true
}
