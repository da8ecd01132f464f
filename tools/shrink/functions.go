package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// The runtime's table of functions, as runtime/symtab.go of the pinned version of Go reads it:
//
//	header | names | cutab | filetab | pctab | functab, records | funcdata
//
// functab has an entry (function, offset of its record) for each function. A record is 44 bytes with the offsets of
// three tables of values by PC in pctab, then such offsets by index (pcdata), then offsets of other data
// (funcdata). An offset of 0 in pctab and one of ^0 of funcdata mean that there is none.
const (
	tableMagic  = 0xfffffff1
	headerBytes = 72
	recordBytes = 44

	recordDeferReturn = 12
	recordPCSP        = 16
	recordPCFile      = 20
	recordPCLine      = 24
	recordNPCData     = 28
	recordUnit        = 32
	recordStartLine   = 36
	recordID          = 40
	recordFlag        = 41
	recordNFuncData   = 43

	pcdataUnsafePoint = 0
	pcdataStackMap    = 1
	pcdataInlTree     = 2
	pcdataArgLive     = 3
	pcdataKinds       = 5

	funcdataInlTree     = 3
	funcdataArgInfo     = 5
	funcdataArgLiveInfo = 6
	funcdataKinds       = 8
	noFuncData          = ^uint32(0)

	idNormal  = 0
	idWrapper = 23
	flagAsm   = 4

	// Of runtime.moduledata.
	moduleGoFunc = 320

	// Of an entry of a function's tree of inlined calls.
	inlinedBytes  = 16
	inlinedParent = 8
	inlinedLine   = 12
)

var errTable = errors.New("its table of functions is not the one that tools/shrink knows: compare it with the runtime's")

var le = binary.LittleEndian

// functions is the table of functions of an image.
type functions struct {
	t                      []byte // the table
	gofunc                 []byte // where funcdata begins
	units, pctab, functab  int    // offsets in t
	firstRecord, endRecord int
	list                   []*function
	byIndex                map[int]*function // by place in the code section
}

// function is one function's record.
type function struct {
	index            int
	record           []byte // the first 44 bytes
	pcdata, funcdata []uint32
	// With new numbers of PCs: the tables to write instead of those that the record names.
	sp, stackMap, inl steps
	renumbered        bool
}

// functions reads the image's table of functions.
func (im *image) functions() (*functions, error) {
	start, module, err := im.table()
	if err != nil {
		return nil, err
	}
	fs := &functions{t: im.mem[start:], byIndex: map[int]*function{}}
	t := fs.t
	word := func(i int) int { return int(le.Uint64(t[i:])) }
	n := word(8)
	fs.units, fs.pctab, fs.functab = word(40), word(56), word(64)
	if n < 1 || fs.units < headerBytes || fs.pctab < fs.units || fs.functab < fs.pctab || fs.functab > len(t)-8*n-recordBytes {
		return nil, errTable
	}
	if module > len(im.mem)-moduleGoFunc-8 {
		return nil, errTable
	}
	g := int(le.Uint64(im.mem[module+moduleGoFunc:])) - im.base
	if g < start || g >= len(im.mem) {
		return nil, errTable
	}
	fs.gofunc = im.mem[g:]
	records := fs.functab + 8*n + 4
	for i := range n {
		entry := t[fs.functab+8*i:]
		at := fs.functab + int(le.Uint32(entry[4:]))
		if at < records || at < fs.endRecord || at > len(t)-recordBytes {
			return nil, errTable
		}
		if i == 0 {
			fs.firstRecord = at
		}
		npc, nfn := int(le.Uint32(t[at+recordNPCData:])), int(t[at+recordNFuncData])
		fs.endRecord = at + recordBytes + 4*npc + 4*nfn
		if npc > pcdataKinds || nfn > funcdataKinds || fs.endRecord > len(t) {
			return nil, errTable
		}
		f := &function{index: int(le.Uint32(entry)) - firstFunction, record: bytes.Clone(t[at : at+recordBytes])}
		for k := range npc {
			f.pcdata = append(f.pcdata, le.Uint32(t[at+recordBytes+4*k:]))
		}
		for k := range nfn {
			f.funcdata = append(f.funcdata, le.Uint32(t[at+recordBytes+4*npc+4*k:]))
		}
		fs.list = append(fs.list, f)
		fs.byIndex[f.index] = f
	}
	return fs, nil
}

// write takes out what only tracebacks read, and packs the tables.
func (fs *functions) write() error {
	var packed []byte
	values := []byte{0} // 0 is no offset
	known := map[string]uint32{}
	store := func(table []byte) uint32 {
		off, ok := known[string(table)]
		if !ok {
			off = uint32(len(values))
			values = append(values, table...)
			known[string(table)] = off
		}
		return off
	}
	moved := map[uint32]uint32{0: 0}
	move := func(old uint32) (uint32, error) {
		if to, ok := moved[old]; ok {
			return to, nil
		}
		v, err := fs.table(old)
		if err == nil {
			moved[old] = store(v)
		}
		return moved[old], err
	}
	for i, f := range fs.list {
		for _, field := range []int{recordPCFile, recordPCLine, recordUnit, recordStartLine} {
			le.PutUint32(f.record[field:], 0)
		}
		pcdata, funcdata := f.pcdata, f.funcdata
		for _, k := range []int{pcdataUnsafePoint, pcdataArgLive} {
			if k < len(pcdata) {
				pcdata[k] = 0
			}
		}
		for _, k := range []int{funcdataArgInfo, funcdataArgLiveInfo} {
			if k < len(funcdata) {
				funcdata[k] = noFuncData
			}
		}
		sp, err := move(le.Uint32(f.record[recordPCSP:]))
		if err != nil {
			return err
		}
		if f.renumbered {
			sp = store(f.sp.encode())
		}
		le.PutUint32(f.record[recordPCSP:], sp)
		for k, off := range pcdata {
			switch {
			case f.renumbered && off != 0 && k == pcdataStackMap:
				pcdata[k] = store(f.stackMap.encode())
			case f.renumbered && off != 0 && k == pcdataInlTree:
				pcdata[k] = store(f.inl.encode())
			case f.renumbered && off != 0:
				return fmt.Errorf("%w: a table of kind %d", errTable, k)
			default:
				if pcdata[k], err = move(off); err != nil {
					return err
				}
			}
		}
		for len(pcdata) > 0 && pcdata[len(pcdata)-1] == 0 {
			pcdata = pcdata[:len(pcdata)-1]
		}
		for len(funcdata) > 0 && funcdata[len(funcdata)-1] == noFuncData {
			funcdata = funcdata[:len(funcdata)-1]
		}
		le.PutUint32(f.record[recordNPCData:], uint32(len(pcdata)))
		f.record[recordNFuncData] = byte(len(funcdata))
		le.PutUint32(fs.t[fs.functab+8*i+4:], uint32(fs.firstRecord-fs.functab+len(packed)))
		packed = append(packed, f.record...)
		for _, v := range append(pcdata[:len(pcdata):len(pcdata)], funcdata...) {
			packed = le.AppendUint32(packed, v)
		}
	}
	if len(values) > fs.functab-fs.pctab || len(packed) > fs.endRecord-fs.firstRecord {
		return errTable
	}
	replace(fs.t[fs.firstRecord:fs.endRecord], packed)
	replace(fs.t[fs.pctab:fs.functab], values)
	clear(fs.t[fs.units:fs.pctab])
	return nil
}

// replace puts b in the place of what was there, and zeros behind it.
func replace(dst, b []byte) { clear(dst[copy(dst, b):]) }

// table finds the table of functions (the only header that the runtime's description of the module points at) and
// that description.
func (im *image) table() (start, module int, err error) {
	head := le.AppendUint32(nil, tableMagic)
	head = append(head, 0, 0, 1, 8) // padding, quantum of PCs, bytes of a pointer
	start = -1
	for from := 0; ; {
		i := bytes.Index(im.mem[from:], head)
		if i < 0 {
			break
		}
		i += from
		from = i + 1
		if i > len(im.mem)-headerBytes {
			break
		}
		// The description begins with the header's address and the slice of names.
		var first []byte
		first = le.AppendUint64(first, uint64(im.base+i))
		first = le.AppendUint64(first, uint64(im.base+i)+le.Uint64(im.mem[i+32:]))
		at := bytes.Index(im.mem, first)
		if at < 0 {
			continue
		}
		if start >= 0 {
			return 0, 0, fmt.Errorf("%w: there are two", errTable)
		}
		start, module = i, at
	}
	if start < 0 {
		return 0, 0, fmt.Errorf("%w: there is none", errTable)
	}
	return start, module, nil
}

// table is the table at an offset of pctab: pairs of a value's and a PC's difference, up to a value's that is 0
// and not the first.
func (fs *functions) table(off uint32) ([]byte, error) {
	pctab := fs.t[fs.pctab:fs.functab]
	if uint64(off) >= uint64(len(pctab)) {
		return nil, errTable
	}
	r := reader{b: pctab, at: int(off)}
	for first := true; ; first = false {
		if v := r.uint(); v == 0 && !first {
			break
		}
		r.uint()
		if r.bad {
			return nil, errTable
		}
	}
	return pctab[off:r.at], nil
}

// steps are values by PC.
type steps []int32

// steps is the table at an offset of pctab; without one, there are no values.
func (fs *functions) steps(off uint32) (steps, error) {
	if off == 0 {
		return nil, nil
	}
	b, err := fs.table(off)
	if err != nil {
		return nil, err
	}
	var s steps
	v := int32(-1)
	for r := (reader{b: b}); r.at < len(b)-1; {
		d := uint32(r.uint())
		if d&1 != 0 {
			v += int32(^(d >> 1))
		} else {
			v += int32(d >> 1)
		}
		n := r.uint()
		if n > 1<<16 || len(s)+int(n) > 1<<16 {
			return nil, errTable
		}
		for range n {
			s = append(s, v)
		}
	}
	return s, nil
}

// at is the value at a PC, -1 where there is none.
func (s steps) at(pc int) int32 {
	if pc < 0 || pc >= len(s) {
		return -1
	}
	return s[pc]
}

func (s steps) encode() []byte {
	var out []byte
	last := int32(-1)
	for pc := 0; pc < len(s); {
		n := 1
		for pc+n < len(s) && s[pc+n] == s[pc] {
			n++
		}
		d := s[pc] - last
		out = appendUint(out, uint64(uint32(d<<1)^uint32(d>>31)))
		out = appendUint(out, uint64(n))
		last = s[pc]
		pc += n
	}
	return append(out, 0)
}
