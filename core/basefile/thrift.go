package basefile

import (
	"encoding/binary"
	"strconv"

	"hudiscope/core/corrupt"
)

// The types of Thrift's compact protocol, in which Parquet stores its footer and its page headers.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// maxThriftDepth bounds the nesting of a message; Parquet's own have fewer than ten levels.
const maxThriftDepth = 32

// CheckMessage walks over a Thrift message in compact protocol at the beginning of b without decoding it and
// returns its length in bytes. Decoders make room for as many elements as a list claims: of a message that passes,
// no list claims more elements, and no text more bytes, than there are bytes. An error is a corrupt.Error with the
// offset in b; its Part is the kind of thing that is damaged.
func CheckMessage(b []byte) (n int, err error) {
	w := thriftWalk{b: b}
	if err := w.structure(0); err != nil {
		return 0, err
	}
	return w.at, nil
}

type thriftWalk struct {
	b  []byte
	at int
}

func (w *thriftWalk) bad(at int, part, want, got string) error {
	return corrupt.At(int64(at), part, want, got)
}

func (w *thriftWalk) cut(part string) error {
	return w.bad(len(w.b), part, "more bytes", "the end")
}

func (w *thriftWalk) varint(part string) (uint64, error) {
	x, n := binary.Uvarint(w.b[w.at:])
	switch {
	case n == 0:
		return 0, w.cut(part)
	case n < 0:
		return 0, w.bad(w.at, part, "a number of at most 64 bits", "a longer one")
	}
	w.at += n
	return x, nil
}

func (w *thriftWalk) skip(n int, part string) error {
	if n > len(w.b)-w.at {
		return w.cut(part)
	}
	w.at += n
	return nil
}

// structure walks over the fields of a struct and its end.
func (w *thriftWalk) structure(depth int) error {
	if depth > maxThriftDepth {
		return w.bad(w.at, "Thrift message", "less nesting", "more than 32 levels")
	}
	for {
		if w.at >= len(w.b) {
			return w.cut("Thrift field")
		}
		head := w.b[w.at]
		w.at++
		if head == 0 {
			return nil
		}
		if head>>4 == 0 {
			if _, err := w.varint("Thrift field number"); err != nil {
				return err
			}
		}
		if t := head & 15; t != thriftTrue && t != thriftFalse {
			if err := w.value(t, depth); err != nil {
				return err
			}
		}
	}
}

// value walks over a value of a type. A truth value in a list or map is a byte.
func (w *thriftWalk) value(t byte, depth int) error {
	at := w.at
	switch t {
	case thriftTrue, thriftFalse, thriftByte:
		return w.skip(1, "Thrift value")
	case thriftI16, 5, thriftI64:
		_, err := w.varint("Thrift number")
		return err
	case thriftDouble:
		return w.skip(8, "Thrift number")
	case thriftBinary:
		n, err := w.varint("length of a text")
		if err != nil {
			return err
		}
		if n > uint64(len(w.b)-w.at) {
			return w.bad(at, "length of a text", "at most "+utoa(uint64(len(w.b)-w.at)), utoa(n))
		}
		return w.skip(int(n), "text")
	case thriftList, thriftSet:
		if w.at >= len(w.b) {
			return w.cut("Thrift list")
		}
		head := w.b[w.at]
		w.at++
		n := uint64(head >> 4)
		if n == 15 {
			var err error
			if n, err = w.varint("length of a list"); err != nil {
				return err
			}
		}
		return w.elements(at, n, depth, head&15)
	case thriftMap:
		n, err := w.varint("length of a map")
		if err != nil || n == 0 {
			return err
		}
		if w.at >= len(w.b) {
			return w.cut("Thrift map")
		}
		types := w.b[w.at]
		w.at++
		return w.elements(at, n, depth, types>>4, types&15)
	case thriftStruct:
		return w.structure(depth + 1)
	}
	return w.bad(at, "type of a Thrift value", "1 to 12", utoa(uint64(t)))
}

// elements walks over n elements of the given types. Each takes a byte at least.
func (w *thriftWalk) elements(at int, n uint64, depth int, types ...byte) error {
	if depth++; depth > maxThriftDepth {
		return w.bad(at, "Thrift message", "less nesting", "more than 32 levels")
	}
	if n > uint64(len(w.b)-w.at) {
		return w.bad(at, "length of a list", "at most "+utoa(uint64(len(w.b)-w.at)), utoa(n))
	}
	for range n {
		for _, t := range types {
			if err := w.value(t, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func utoa(n uint64) string { return strconv.FormatUint(n, 10) }
