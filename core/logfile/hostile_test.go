package logfile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"hudiscope/core/logfile"
	"hudiscope/core/logfile/logfiletest"
	"hudiscope/core/storage"
	"hudiscope/core/storage/storagetest"
)

type kind struct {
	name string
	make func(n int) []byte
}

// hostile are contents of log files of about n times 20 bytes that were made to cost much.
func hostile() []kind {
	magic := []byte(logfile.Magic)
	sized := func(n int, size func(at, total int) int64) []byte {
		var p []byte
		for len(p) < 20*n {
			p = append(p, magic...)
			p = binary.BigEndian.AppendUint64(p, uint64(size(len(p)+8, 20*n)))
		}
		return p
	}
	return []kind{
		{"magics", func(n int) []byte { return bytes.Repeat(magic, n*20/6) }},
		{"magics far apart", func(n int) []byte {
			return bytes.Repeat(cat(magic, bytes.Repeat([]byte{'x'}, 5000)), max(1, n*20/5006))
		}},
		{"half magics", func(n int) []byte { return cat(magic, bytes.Repeat([]byte("#HUDI"), n*4)) }},
		{"sizes to the end", func(n int) []byte { return sized(n, func(at, total int) int64 { return int64(total - at) }) }},
		{"sizes near the end", func(n int) []byte {
			return sized(n, func(at, total int) int64 { return int64(max(0, total-at-at%977)) })
		}},
		{"sizes to anywhere", func(n int) []byte {
			r := rand.New(rand.NewSource(1))
			return sized(n, func(at, total int) int64 { return r.Int63n(int64(max(1, total-at))) })
		}},
		{"sizes to the next magic", func(n int) []byte { return sized(n, func(_, _ int) int64 { return 14 }) }},
		{"tiny blocks", func(n int) []byte {
			return bytes.Repeat(logfiletest.Block(logfile.CommandBlock, nil, nil), max(1, n*20/46))
		}},
		{"tiny blocks between magics", func(n int) []byte {
			return bytes.Repeat(cat(logfiletest.Block(logfile.CommandBlock, nil, nil), magic, magic), max(1, n*20/58))
		}},
		{"header entries", func(n int) []byte {
			return logfiletest.Block(logfile.CommandBlock, make([]logfiletest.Entry, n*2), nil)
		}},
	}
}

// blocksOf lists the blocks of a file and says what that took.
func blocksOf(t *testing.T, p []byte, back bool) (bs []*logfile.Block, reads, read, allocated int64) {
	t.Helper()
	probe := &storagetest.Probe{Src: storagetest.Mem{"f": p}}
	o, err := probe.Open(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	r := logfile.Open(o, "f")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	seq := r.Blocks(t.Context())
	if back {
		seq = r.BlocksReverse(t.Context())
	}
	for b, err := range seq {
		if err != nil {
			if !back {
				t.Fatal(err)
			}
			break
		}
		bs = append(bs, b)
	}
	runtime.ReadMemStats(&after)
	for _, x := range probe.Reads() {
		reads++
		read += x.Len
	}
	return bs, reads, read, int64(after.TotalAlloc - before.TotalAlloc)
}

// TestHostileLinear reads such files, and ones ten times as large: what it takes grows with them, no more.
func TestHostileLinear(t *testing.T) {
	const n, times = 20_000, 10
	for _, k := range hostile() {
		for _, back := range []bool{false, true} {
			small, large := k.make(n), k.make(n*times)
			bs, _, ra, aa := blocksOf(t, small, back)
			bl, reads, rb, ab := blocksOf(t, large, back)
			t.Logf("%-28s backwards %-5v %7d blocks: %7d reads, %10d bytes of %9d, %11d allocated", k.name, back, len(bl), reads, rb, len(large), ab)
			if !back {
				tile(t, bs, int64(len(small)))
				tile(t, bl, int64(len(large)))
			}
			if rb > 11*max(ra, int64(6*len(small))) || ab > 11*max(aa, 3<<20) {
				t.Errorf("%s, backwards %v: %d bytes read of %d, %d of %d; %d and %d allocated", k.name, back, ra, len(small), rb, len(large), aa, ab)
			}
			// A magic in every 14 bytes that says where its block ends takes a look there.
			if most := int64(len(large))*8 + 2<<20; rb > most {
				t.Errorf("%s, backwards %v: %d bytes read of a file of %d", k.name, back, rb, len(large))
			}
			// A corrupt block takes some hundred bytes, and from the 65537th on they are one.
			if most := int64(len(large))*40 + 48<<20; ab > most {
				t.Errorf("%s, backwards %v: %d bytes allocated for a file of %d", k.name, back, ab, len(large))
			}
		}
	}
}

// TestManyCorrupt has more corrupt blocks than are listed: they are one, and no whole block is lost.
func TestManyCorrupt(t *testing.T) {
	defer logfile.Bounds(10, 100)()
	cmd := rollback(t)
	magics := func(n int) []byte { return bytes.Repeat([]byte(logfile.Magic), n) }
	in := cat(cmd, magics(4), cmd, magics(50), cmd, magics(1), cmd, magics(30))
	r := logfiletest.Open(in, "f")
	bs, err := list(t, r)
	if err != nil {
		t.Fatal(err)
	}
	tile(t, bs, int64(len(in)))
	whole, regions, last := 0, 0, bs[len(bs)-1]
	for i, b := range bs {
		if b.IsRollback() && b.Damage == nil {
			whole++
		}
		if regions += b.Regions; (b.Type == logfile.CorruptBlock) != (b.Regions > 0) || b.Regions > 1 && i < 10 {
			t.Errorf("block %d: %s of %d regions", i, b.Type, b.Regions)
		}
		// From any block on there are the same.
		var rest []*logfile.Block
		for b, err := range r.BlocksFrom(t.Context(), b.Start, i) {
			if err != nil {
				t.Fatal(err)
			}
			if rest = append(rest, b); len(rest) <= len(bs)-i {
				logfile.SameCount(b, bs[i+len(rest)-1])
			}
		}
		if !reflect.DeepEqual(rest, bs[i:]) {
			t.Errorf("from block %d on there are %d blocks, not %d", i, len(rest), len(bs)-i)
		}
	}
	if whole != 4 || regions != 85 || last.Regions != 30 || !strings.Contains(last.Corruption.Reason, " 29 more corrupt blocks follow") {
		t.Errorf("%d whole blocks, %d corrupt regions, the last: %+v", whole, regions, last)
	}

	bs = nil
	var f *storage.Fault
	for b, err := range logfiletest.Open(bytes.Repeat(cmd, 101), "f").Blocks(t.Context()) {
		if err != nil {
			if !errors.As(err, &f) || f.Kind != storage.Refused || !strings.Contains(err.Error(), fmt.Sprintf("more than 100 blocks stand before byte %d", 100*len(cmd))) {
				t.Error(err)
			}
			break
		}
		bs = append(bs, b)
	}
	if len(bs) != 100 || f == nil {
		t.Errorf("%d blocks and %v", len(bs), f)
	}
}

// TestManyEntries has a header of more entries than any writer makes, and one of more text.
func TestManyEntries(t *testing.T) {
	bs, err := list(t, logfiletest.Open(logfiletest.Block(logfile.CommandBlock, make([]logfiletest.Entry, 5000), nil), "f"))
	if err != nil || len(bs) != 1 || bs[0].Damage == nil || bs[0].Damage.Part != "header count" || bs[0].Damage.Want != "at most 4096" {
		t.Errorf("%v: %+v", err, bs)
	}
	half := strings.Repeat("x", 24<<20)
	bs, err = list(t, logfiletest.Open(logfiletest.Block(logfile.CommandBlock, []logfiletest.Entry{{Key: 0, Value: half}, {Key: 1, Value: half}, {Key: 2, Value: half}, {Key: 3, Value: half}}, nil), "f"))
	if err != nil || len(bs) != 1 || bs[0].Damage == nil || bs[0].Damage.Part != "header" {
		t.Errorf("%v: %v", err, bs[0].Damage)
	}
}
