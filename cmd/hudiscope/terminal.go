package main

import (
	"fmt"
	"io"
	"os"
)

// terminal writes to a terminal. Names and values of a table may hold sequences that a terminal obeys: they set its
// title, write to the clipboard or hide lines. Such characters are written as escapes there. What goes into a file or a
// pipe stays as it is.
type terminal struct {
	to io.Writer
	// c2 is set when the first byte of a character that may be a control of U+0080 to U+009F is held back.
	c2 bool
}

// visible returns to, which writes to f, or where f is a terminal, a writer that shows controls instead of sending them.
func visible(f *os.File, to io.Writer) io.Writer {
	if fi, err := f.Stat(); err != nil || fi.Mode()&os.ModeCharDevice == 0 {
		return to
	}
	return &terminal{to: to}
}

// Write implements io.Writer.
func (t *terminal) Write(p []byte) (int, error) {
	out := make([]byte, 0, len(p)+16)
	for _, b := range p {
		if t.c2 {
			t.c2 = false
			if b >= 0x80 && b < 0xa0 {
				out = fmt.Appendf(out, `\u%04x`, b)
				continue
			}
			out = append(out, 0xc2)
		}
		switch {
		case b == 0xc2:
			t.c2 = true
		case b < ' ' && b != '\n' && b != '\t' && b != '\r', b == 0x7f:
			out = fmt.Appendf(out, `\u%04x`, b)
		default:
			out = append(out, b)
		}
	}
	if _, err := t.to.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
