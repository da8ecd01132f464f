// Package corrupt holds the one error type for bytes that are not what a format
// says they must be. Every decoder of the core reports damage with it, so that
// a user always learns which file, which byte and which part is wrong, and the
// user interface can jump there.
package corrupt

import (
	"errors"
	"fmt"
	"strings"
)

// Unknown is the Offset of an Error that concerns a whole file.
const Unknown int64 = -1

// Error says that the bytes of a file are not what its format demands.
type Error struct {
	// File is the path relative to the table ("" when the reader was given bytes only;
	// the caller that knows the path sets it with [InFile]).
	File string
	// Offset is the absolute byte offset in File, or Unknown.
	Offset int64
	// Part names the field or structure, in the words of the format ("block size", "magic").
	Part string
	// Want and Got describe the expected and the found value; both may be empty.
	Want, Got string
	// Try is a sentence for the user: what to do now. It may be empty.
	Try string
	// Err is the cause, if another error lies beneath.
	Err error
}

// Error renders the whole finding in one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
	}
	if e.Offset >= 0 {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "at byte %d", e.Offset)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(e.Part)
	if e.Want != "" {
		fmt.Fprintf(&b, ": want %s", e.Want)
		if e.Got != "" {
			fmt.Fprintf(&b, ", got %s", e.Got)
		}
	} else if e.Got != "" {
		fmt.Fprintf(&b, ": got %s", e.Got)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// At makes an Error for a part at an absolute offset.
func At(offset int64, part, want, got string) *Error {
	return &Error{Offset: offset, Part: part, Want: want, Got: got}
}

// InFile returns err with the file name set on the first Error in its chain
// that has none; other errors are wrapped in one. A nil err stays nil.
func InFile(err error, file string) error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		if e.File != "" {
			return err
		}
		c := *e
		c.File = file
		if err == error(e) {
			return &c
		}
		return &c
	}
	return fmt.Errorf("%s: %w", file, err)
}

// Is reports whether err says that bytes are damaged.
func Is(err error) bool {
	var e *Error
	return errors.As(err, &e)
}
