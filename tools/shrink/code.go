package main

import (
	"errors"
	"fmt"
)

// Opcodes that code of Go is made of and that mean something here.
const (
	opUnreachable = 0x00
	opBlock       = 0x02
	opLoop        = 0x03
	opIf          = 0x04
	opElse        = 0x05
	opEnd         = 0x0b
	opBr          = 0x0c
	opBrIf        = 0x0d
	opBrTable     = 0x0e
	opReturn      = 0x0f
	opCall        = 0x10
	opCallInd     = 0x11
	opLocalGet    = 0x20
	opLocalSet    = 0x21
	opLocalTee    = 0x22
	opGlobalSet   = 0x24
	opI64Store    = 0x37
	opMemorySize  = 0x3f
	opMemoryGrow  = 0x40
	opI32Const    = 0x41
	opI64Const    = 0x42
	opI32Sub      = 0x6b
	opPrefixed    = 0xfc

	typeVoid = 0x40
)

// instruction is one instruction; raw are its bytes, imm its (last) number.
type instruction struct {
	op    byte
	imm   int64
	raw   []byte
	table []int // of br_table; the default is the last one
	// of block, loop, if: the index of its end
	end int
}

var errCode = errors.New("a function is not as the compiler that tools/shrink knows makes them: compare cmd/internal/obj/wasm")

// decode cuts a function's body into its declaration of locals and instructions.
func decode(body []byte) (locals []byte, code []instruction, err error) {
	r := reader{b: body}
	for n := r.uint(); n > 0 && !r.bad; n-- {
		r.uint()
		r.byte()
	}
	locals = body[:r.at]
	var open []int
	for r.at < len(body) && !r.bad {
		from := r.at
		in := instruction{op: r.byte()}
		switch op := in.op; {
		case op == opBlock || op == opLoop || op == opIf:
			in.imm = int64(r.byte())
			open = append(open, len(code))
		case op == opEnd:
			if len(open) > 0 {
				code[open[len(open)-1]].end = len(code)
				open = open[:len(open)-1]
			} else if r.at != len(body) {
				return nil, nil, errCode
			}
		case op == opBr || op == opBrIf || op == opCall || op >= opLocalGet && op <= opGlobalSet:
			in.imm = int64(r.uint())
		case op == opBrTable:
			for n := r.uint() + 1; n > 0 && !r.bad; n-- {
				in.table = append(in.table, int(r.uint()))
			}
		case op == opCallInd:
			r.uint()
			r.uint()
		case op >= 0x28 && op <= 0x3e: // loads and stores: alignment, offset
			r.uint()
			in.imm = int64(r.uint())
		case op == opMemorySize || op == opMemoryGrow:
			r.byte()
		case op == opI32Const || op == opI64Const:
			in.imm = r.int()
		case op == 0x43: // f32.const
			r.bytes(4)
		case op == 0x44: // f64.const
			r.bytes(8)
		case op == opPrefixed:
			switch k := r.uint(); {
			case k <= 7: // conversions
			case k == 10: // memory.copy
				r.bytes(2)
			case k == 11: // memory.fill
				r.byte()
			default:
				return nil, nil, fmt.Errorf("%w: instruction fc %x", errCode, k)
			}
		case op == opUnreachable, op == 0x01, op == opElse, op == opReturn, op == 0x1a, op == 0x1b, op >= 0x45 && op <= 0xc4:
		default:
			return nil, nil, fmt.Errorf("%w: instruction %x", errCode, op)
		}
		if r.bad {
			return nil, nil, errCode
		}
		in.raw = body[from:r.at]
		code = append(code, in)
	}
	if r.bad || len(open) > 0 || len(code) == 0 || code[len(code)-1].op != opEnd {
		return nil, nil, errCode
	}
	return locals, code, nil
}

// A function of Go is
//
//	block                                  ; left to unwind the stack, returns 1
//	  loop                                 ; to go to any place
//	    block … block                      ; one for each place
//	      local.get 0  br_table …          ; local 0 says where to go on
//	    end  the code up to the next place
//	    …
//
// where each part may be missing. frame tells where they are in the code, -1 for a part that is missing.
type frame struct {
	unwind, loop, dispatch int
	places                 []int // index in the code of the block of each place
}

func frameOf(code []instruction) frame {
	f := frame{-1, -1, -1, nil}
	at := 0
	for at < len(code) && code[at].op != opBlock && code[at].op != opLoop && code[at].op != opIf {
		at++
	}
	if at == len(code) || code[at].op == opIf {
		return f
	}
	n := len(code)
	if e := code[at].end; code[at].op == opBlock && code[at].imm == typeVoid && e == n-3 && code[n-2].op == opI32Const && code[n-2].imm == 1 {
		f.unwind = at
		at++
	}
	loop := -1
	if at < n && code[at].op == opLoop && code[at].imm == typeVoid {
		loop = at
		at++
	}
	var blocks []int
	for at < n && code[at].op == opBlock && code[at].imm == typeVoid {
		blocks = append(blocks, at)
		at++
	}
	if len(blocks) == 0 || at+1 >= n || code[at].op != opLocalGet || code[at].imm != 0 || code[at+1].op != opBrTable {
		return f
	}
	for _, k := range code[at+1].table {
		if k >= len(blocks) {
			return f
		}
	}
	f.loop, f.dispatch = loop, at+1
	for i := range blocks {
		f.places = append(f.places, blocks[len(blocks)-1-i])
	}
	return f
}

// firstFunction is the number of the code section's first function in a PC (funcValueOffset of cmd/link).
const firstFunction = 0x1000

// coder rewrites functions.
type coder struct {
	fs   *functions
	seen map[uint32]bool // trees of inlined calls
}

// direct makes branches of what the compiler does with numbers that differ at every place, and so don't compress:
//
//   - Going forward is a branch out of the blocks that are open there; only going back needs local 0 and the loop.
//   - Unwinding returns on the spot instead of branching out of all blocks.
//
// And it gives the function new numbers of PCs; see numbering.
//
// What is not as the compiler makes it is errCode, and the function's tables are then as they were.
func (c *coder) direct(index int, body []byte) (result []byte, err error) {
	locals, code, err := decode(body)
	if err != nil {
		return nil, err
	}
	f := frameOf(code)
	if f.unwind < 0 && f.loop < 0 {
		return body, nil
	}
	var num *numbering
	if fn := c.fs.byIndex[index]; fn != nil && f.dispatch >= 0 {
		undo := fn.unchanged()
		defer func() {
			if err != nil {
				undo()
			}
		}()
		if num, err = c.fs.number(fn, code[f.dispatch].table, len(f.places), c.seen); err != nil {
			return nil, err
		}
	}
	out := append(make([]byte, 0, len(body)+len(body)/8), locals...)
	var open []int // the blocks open at this instruction, by index
	isUnwind := func(i int) bool {
		if i >= len(code) || code[i].op != opBrIf || f.unwind < 0 {
			return false
		}
		d := int(code[i].imm)
		return d < len(open) && open[len(open)-1-d] == f.unwind
	}
	// jump is the target of a jump at i.
	jump := func(i int) (int, bool) {
		if f.loop < 0 || i+2 >= len(code) || code[i].op != opI32Const || code[i+1].op != opLocalSet || code[i+1].imm != 0 || code[i+2].op != opBr {
			return 0, false
		}
		d := int(code[i+2].imm)
		return int(code[i].imm), code[i].imm >= 0 && d < len(open) && open[len(open)-1-d] == f.loop
	}
	// forward is how far out the branch of a jump at i goes, or -1.
	forward := func(i int) int {
		pc, ok := jump(i)
		if !ok {
			return -1
		}
		t := code[f.dispatch].table
		block := f.places[t[min(pc, len(t)-1)]]
		for d := range open {
			if open[len(open)-1-d] == block {
				return d
			}
		}
		return -1
	}
	for i := 0; i < len(code); i++ {
		in := code[i]
		switch in.op {
		case opIf:
			// if JUMP end
			open = append(open, i)
			if d := forward(i + 1); d > 0 && in.end == i+4 {
				out = appendUint(append(out, opBrIf), uint64(d-1))
				open = open[:len(open)-1]
				i += 4
				continue
			}
		case opBlock, opLoop:
			open = append(open, i)
		case opEnd:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		case opI32Const:
			if d := forward(i); d >= 0 {
				out = appendUint(append(out, opBr), uint64(d))
				i += 2
				continue
			}
			if pc, ok := jump(i); ok && num != nil {
				out = appendInt(append(out, opI32Const), int64(num.jump(pc)))
				continue
			}
		case opLocalSet:
			// Local 0 is set to go back, and to hold the function of an indirect call for a moment.
			if num != nil && in.imm == 0 {
				_, ok := jump(i - 1)
				if !ok && !(i+3 < len(code) && code[i+1].op == opI32Const && code[i+1].imm == 0 && code[i+2].op == opLocalGet && code[i+2].imm == 0 && code[i+3].op == opCallInd) {
					return nil, errCode
				}
			}
		case opBrTable:
			if num != nil && i == f.dispatch {
				out = appendUint(append(out, opBrTable), uint64(len(num.newTable)-1))
				for _, k := range num.newTable {
					out = appendUint(out, uint64(k))
				}
				continue
			}
		case opI64Const:
			if pc := int(in.imm & 0xffff); num != nil && pc != 0 && in.imm>>16 == int64(firstFunction+index) {
				if !isReturnAddress(code, i) {
					return nil, errCode
				}
				after := num.after(pc, isUnwind(i+6))
				out = appendInt(append(out, opI64Const), in.imm&^0xffff|int64(after))
				continue
			}
		case opBrIf:
			if isUnwind(i) {
				out = append(out, opIf, typeVoid, opI32Const, 1, opReturn, opEnd)
				continue
			}
		}
		out = append(out, in.raw...)
	}
	if num != nil {
		if err := num.finish(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// isReturnAddress tells whether the number at i is put on the stack for a call:
//
//	local.get 1  i32.const 8  i32.sub  local.tee 1  global.set 0  local.get 1  i64.const N  i64.store
func isReturnAddress(code []instruction, i int) bool {
	type want struct {
		op  byte
		imm int64
	}
	for k, w := range []want{{opLocalGet, 1}, {opI32Const, 8}, {opI32Sub, 0}, {opLocalTee, 1}, {opGlobalSet, 0}, {opLocalGet, 1}, {opI64Const, -1}, {opI64Store, 0}} {
		j := i - 6 + k
		if j < 0 || j >= len(code) || code[j].op != w.op || w.imm >= 0 && code[j].imm != w.imm {
			return false
		}
	}
	return true
}

// codeSection rewrites the code section.
func codeSection(body []byte, fs *functions) ([]byte, error) {
	c := coder{fs, map[uint32]bool{}}
	r := reader{b: body}
	n := r.uint()
	out := appendUint(nil, n)
	var kept []error
	for i := range int(n) {
		was := r.bytes(int(r.uint()))
		if r.bad {
			return nil, errCode
		}
		b, err := c.direct(i, was)
		if errors.Is(err, errCode) {
			// It stays as it is, with its numbers. That is seldom; many would mean another compiler.
			b = was
			if kept = append(kept, fmt.Errorf("function %d: %w", i, err)); len(kept) > 8 && len(kept) > int(n)/200 {
				return nil, errors.Join(kept[:8]...)
			}
		} else if err != nil {
			return nil, fmt.Errorf("function %d: %w", i, err)
		}
		out = appendUint(out, uint64(len(b)))
		out = append(out, b...)
	}
	return out, nil
}
