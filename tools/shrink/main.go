// Command shrink rewrites the .wasm files that Go's linker made so that fewer bytes are loaded. What
// they do stays the same; only tracebacks tell less.
//
//	go run ./tools/shrink FILE.wasm…
//
// Four things are done to each file, in place, or to a copy (-o):
//
//   - The linker cuts the data section at every run of eight zeros, into up to 100,000 segments. Their heads
//     cost more after compression than the zeros do: the section is cut at long runs only.
//   - The table of functions loses what only tracebacks read: files, lines, and where arguments are; and the
//     safe points for preemption by signals, which WebAssembly doesn't have. Names of functions and inlined
//     calls stay. The records are packed again.
//   - Jumps forward, which the linker makes through a loop and a table, become plain branches, and the
//     points where a function is resumed are numbered so that equal code has equal bytes.
//   - Custom sections (who produced the file) go.
//
// A file that another version of Go made is left as the linker made it, with a warning: it works, and is a
// third larger. One that was shrunk already is left, too.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
)

// toolchain is the version of Go whose tables are known here. To take another one, compare
// runtime/symtab.go, the constants of internal/abi/symtab.go and what reads them with this file.
const toolchain = "go1.26"

// Sections of a WebAssembly module.
const (
	sectionCustom = 0
	sectionCode   = 10
	sectionData   = 11
)

// minZeros is how long a run of zeros must be for a new segment to begin behind it.
const minZeros = 64

// What shrink leaves as it is.
var (
	errDone    = errors.New("it is shrunk already")
	errVersion = errors.New("it was not made by " + toolchain + ", whose tables are known here: it is left as it is, a third larger")
)

func main() {
	to := flag.String("o", "", "the `file` to write, for a copy of one")
	flag.Parse()
	if flag.NArg() == 0 || *to != "" && flag.NArg() > 1 {
		fmt.Fprintln(os.Stderr, "usage: shrink [-o COPY.wasm] FILE.wasm…")
		os.Exit(2)
	}
	for _, name := range flag.Args() {
		if err := file(name, cmp.Or(*to, name)); err != nil {
			fmt.Fprintf(os.Stderr, "shrink: %s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

// file shrinks the file name into to, which may be the same.
func file(name, to string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	out, err := shrink(b)
	switch {
	case errors.Is(err, errDone) || errors.Is(err, errVersion):
		if errors.Is(err, errVersion) {
			fmt.Fprintf(os.Stderr, "shrink: %s: %v\n", name, err)
		}
		if name == to {
			return nil
		}
		out = b
	case err != nil:
		return err
	}
	tmp := to + ".tmp"
	if err := os.WriteFile(tmp, out, 0o755); err != nil {
		return err
	}
	return os.Rename(tmp, to)
}

// section is one section of a module.
type section struct {
	id   byte
	body []byte
}

// shrink returns the smaller module, or errDone.
func shrink(module []byte) ([]byte, error) {
	if !bytes.HasPrefix(module, []byte("\x00asm\x01\x00\x00\x00")) {
		return nil, errors.New("not a WebAssembly module of version 1")
	}
	in := reader{b: module, at: 8}
	var sections []section
	var data *image
	producers := ""
	for in.at < len(in.b) {
		s := section{id: in.byte()}
		s.body = in.bytes(int(in.uint()))
		if in.bad {
			return nil, fmt.Errorf("the module ends inside a section, at byte %d", in.at)
		}
		if s.id == sectionCustom {
			r := reader{b: s.body}
			if string(r.bytes(int(r.uint()))) == "producers" {
				producers = string(s.body)
			}
			continue
		}
		if s.id == sectionData {
			var err error
			if data, err = readImage(s.body); err != nil {
				return nil, err
			}
		}
		sections = append(sections, s)
	}
	switch {
	case producers == "":
		return nil, errDone
	case !strings.Contains(producers, toolchain):
		return nil, errVersion
	case data == nil:
		return nil, errors.New("the module has no data section")
	}
	fs, err := data.functions()
	if err != nil {
		return nil, err
	}
	out := bytes.Clone(module[:8])
	for _, s := range sections {
		body := s.body
		switch s.id {
		case sectionCode:
			if body, err = codeSection(body, fs); err != nil {
				return nil, err
			}
		case sectionData: // which follows the code
			if err := fs.write(); err != nil {
				return nil, err
			}
			body = data.section()
		}
		out = append(out, s.id)
		out = appendUint(out, uint64(len(body)))
		out = append(out, body...)
	}
	return out, nil
}

// image is the memory that the data section fills.
type image struct {
	base int // address of mem[0]
	mem  []byte
}

func readImage(body []byte) (*image, error) {
	type segment struct {
		at   int
		data []byte
	}
	r := reader{b: body}
	var segments []segment
	base, end := 1<<30, 0
	for n := r.uint(); n > 0 && !r.bad; n-- {
		head := r.byte() // the segment's memory
		if op := r.byte(); head != 0 || op != 0x41 {
			return nil, fmt.Errorf("a data segment does not begin at a constant, at byte %d of the section", r.at)
		}
		at := int(r.int())
		if r.byte() != 0x0b {
			return nil, fmt.Errorf("a data segment's address is not one constant, at byte %d of the section", r.at)
		}
		data := r.bytes(int(r.uint()))
		if r.bad || at < 0 {
			return nil, fmt.Errorf("a data segment can't be read, at byte %d of the section", r.at)
		}
		base, end = min(base, at), max(end, at+len(data))
		segments = append(segments, segment{at, data})
	}
	if r.bad || len(segments) == 0 || end > 1<<30 {
		return nil, errors.New("the data section can't be read")
	}
	im := &image{base: base, mem: make([]byte, end-base)}
	for _, s := range segments {
		copy(im.mem[s.at-im.base:], s.data)
	}
	return im, nil
}

// section is the data section of the image.
func (im *image) section() []byte {
	var out []byte
	n := 0
	for at := 0; at < len(im.mem); {
		if im.mem[at] == 0 {
			at++
			continue
		}
		end := at + 1 // behind the last byte that is not zero
		for i := end; i < len(im.mem) && i-end < minZeros; i++ {
			if im.mem[i] != 0 {
				end = i + 1
			}
		}
		out = append(out, 0, 0x41)
		out = appendInt(out, int64(im.base+at))
		out = append(out, 0x0b)
		out = appendUint(out, uint64(end-at))
		out = append(out, im.mem[at:end]...)
		at = end
		n++
	}
	return append(appendUint(nil, uint64(n)), out...)
}

// reader reads WebAssembly's numbers; past the end it gives zeros and is bad.
type reader struct {
	b   []byte
	at  int
	bad bool
}

func (r *reader) byte() byte {
	if r.at >= len(r.b) {
		r.bad = true
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.b)-r.at {
		r.bad = true
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

func (r *reader) uint() uint64 {
	var v uint64
	for shift := 0; shift < 63; shift += 7 {
		c := r.byte()
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.bad = true
	return 0
}

func (r *reader) int() int64 {
	var v int64
	for shift := 0; shift < 70; {
		c := r.byte()
		v |= int64(c&0x7f) << shift
		shift += 7
		if c < 0x80 {
			if c&0x40 != 0 {
				v |= -1 << shift // nothing when all 64 bits are there
			}
			return v
		}
	}
	r.bad = true
	return 0
}

func appendUint(b []byte, v uint64) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func appendInt(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
