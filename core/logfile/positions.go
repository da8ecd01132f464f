package logfile

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"hudiscope/core/corrupt"
)

// MaxPositions is the largest number of positions DecodePositions returns.
const MaxPositions = 1 << 24

const (
	cookieNoRuns = 12346
	cookieRuns   = 12347
	maxArray     = 4096 // the most values of a container kept as an array
)

// DecodePositions decodes the value of a RECORD_POSITIONS header: base64 of a 64-bit
// Roaring bitmap in portable form (spec log-format.md section 8). The positions are
// ascending. Offsets in errors count in the decoded bytes.
//
//	u64 LE number of buckets, then per bucket: u32 LE high half, 32-bit bitmap:
//	  cookie 12346: u32 containers; or 12347 | containers-1 << 16, run flags (1 bit each)
//	  containers × (u16 key, u16 cardinality-1); containers × u32 offset (not in small run bitmaps)
//	  run: u16 runs × (u16 start, u16 length-1); array: u16 each; bitmap: 8192 bytes
func DecodePositions(text string) ([]uint64, error) {
	p, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, &corrupt.Error{Offset: corrupt.Unknown, Part: "RECORD_POSITIONS", Want: "base64", Err: err}
	}
	r := roaring{p: p}
	if err := r.bitmap64(); err != nil {
		return nil, err
	}
	return r.out, nil
}

type roaring struct {
	p   []byte
	pos int
	out []uint64
}

func (r *roaring) fail(at int, part, want, got string) error {
	return corrupt.At(int64(at), "RECORD_POSITIONS: "+part, want, got)
}

func (r *roaring) take(n int, part string) ([]byte, error) {
	if n > len(r.p)-r.pos {
		return nil, r.fail(r.pos, part, fmt.Sprintf("%d bytes", n), fmt.Sprintf("%d bytes to the end", len(r.p)-r.pos))
	}
	r.pos += n
	return r.p[r.pos-n : r.pos], nil
}

func (r *roaring) room(at, n int) error {
	if n > MaxPositions-len(r.out) {
		return r.fail(at, "bitmap", fmt.Sprintf("at most %d positions", MaxPositions), "more")
	}
	return nil
}

func (r *roaring) bitmap64() error {
	h, err := r.take(8, "number of buckets")
	if err != nil {
		return err
	}
	n := binary.LittleEndian.Uint64(h)
	if n > uint64(len(r.p)/8) {
		return r.fail(0, "number of buckets", fmt.Sprintf("at most %d in %d bytes", len(r.p)/8, len(r.p)), fmt.Sprint(n))
	}
	last := int64(-1)
	for range n {
		at := r.pos
		h, err := r.take(4, "high half")
		if err != nil {
			return err
		}
		high := binary.LittleEndian.Uint32(h)
		if int64(high) <= last {
			return r.fail(at, "high half", fmt.Sprintf("more than %d", last), fmt.Sprint(high))
		}
		last = int64(high)
		if err := r.bitmap32(uint64(high) << 32); err != nil {
			return err
		}
	}
	if r.pos != len(r.p) {
		return r.fail(r.pos, "bitmap", "its end", fmt.Sprintf("%d bytes more", len(r.p)-r.pos))
	}
	return nil
}

func (r *roaring) bitmap32(high uint64) error {
	start := r.pos
	h, err := r.take(4, "cookie")
	if err != nil {
		return err
	}
	cookie := binary.LittleEndian.Uint32(h)
	var n int
	var runs []byte
	hasRuns := cookie&0xffff == cookieRuns
	switch {
	case hasRuns:
		n = int(cookie>>16) + 1
		if runs, err = r.take((n+7)/8, "run flags"); err != nil {
			return err
		}
	case cookie == cookieNoRuns:
		if h, err = r.take(4, "number of containers"); err != nil {
			return err
		}
		k := binary.LittleEndian.Uint32(h)
		if k > 1<<16 {
			return r.fail(r.pos-4, "number of containers", "at most 65536", fmt.Sprint(k))
		}
		n = int(k)
	default:
		return r.fail(start, "cookie", "12346 or 12347", fmt.Sprint(cookie))
	}
	heads, err := r.take(4*n, "container keys")
	if err != nil {
		return err
	}
	if !hasRuns || n >= 4 {
		// Offsets serve random access only; containers follow in order without gaps.
		if _, err := r.take(4*n, "container offsets"); err != nil {
			return err
		}
	}
	lastKey := -1
	for i := range n {
		key, card := int(binary.LittleEndian.Uint16(heads[4*i:])), int(binary.LittleEndian.Uint16(heads[4*i+2:]))+1
		if key <= lastKey {
			return r.fail(start, "container keys", "ascending keys", fmt.Sprintf("%d after %d", key, lastKey))
		}
		lastKey = key
		run := hasRuns && runs[i/8]>>(i%8)&1 == 1
		if err := r.container(high|uint64(key)<<16, card, run); err != nil {
			return err
		}
	}
	return nil
}

// container appends the values of one container, which must be ascending and card many.
func (r *roaring) container(high uint64, card int, run bool) error {
	at := r.pos
	if err := r.room(at, card); err != nil {
		return err
	}
	before := len(r.out)
	switch {
	case run:
		h, err := r.take(2, "number of runs")
		if err != nil {
			return err
		}
		p, err := r.take(4*int(binary.LittleEndian.Uint16(h)), "runs")
		if err != nil {
			return err
		}
		last := -1
		for ; len(p) > 0; p = p[4:] {
			first, more := int(binary.LittleEndian.Uint16(p)), int(binary.LittleEndian.Uint16(p[2:]))
			if first <= last || first+more > 0xffff {
				return r.fail(at, "runs", "ascending runs below 65536", fmt.Sprintf("%d to %d after %d", first, first+more, last))
			}
			last = first + more
			if len(r.out)-before+more+1 > card {
				return r.fail(at, "runs", fmt.Sprintf("%d positions", card), "more")
			}
			for x := first; x <= last; x++ {
				r.out = append(r.out, high|uint64(x))
			}
		}
	case card <= maxArray:
		p, err := r.take(2*card, "array")
		if err != nil {
			return err
		}
		last := -1
		for ; len(p) > 0; p = p[2:] {
			x := int(binary.LittleEndian.Uint16(p))
			if x <= last {
				return r.fail(at, "array", "ascending positions", fmt.Sprintf("%d after %d", x, last))
			}
			last = x
			r.out = append(r.out, high|uint64(x))
		}
	default:
		p, err := r.take(8192, "bitmap")
		if err != nil {
			return err
		}
		for i, b := range p {
			for j := 0; b != 0; j, b = j+1, b>>1 {
				if b&1 != 0 {
					if len(r.out)-before == card {
						return r.fail(at, "bitmap", fmt.Sprintf("%d positions", card), "more")
					}
					r.out = append(r.out, high|uint64(8*i+j))
				}
			}
		}
	}
	if got := len(r.out) - before; got != card {
		return r.fail(at, "container", fmt.Sprintf("%d positions", card), fmt.Sprint(got))
	}
	return nil
}
