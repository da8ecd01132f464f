package storage

import (
	"context"
	"fmt"
	"strings"
)

// Range is a run of bytes of a file.
type Range struct {
	// Off is the first byte, Len the number of bytes.
	Off, Len int64
}

// Prefetcher is implemented by sources that keep what they read. Prefetch brings the
// ranges of a file into memory with as few requests as possible. It is a hint: a source
// may fetch a part only, and ranges beyond the end of the file are ignored.
type Prefetcher interface {
	Prefetch(ctx context.Context, path string, ranges []Range) error
}

// Forgetter is implemented by sources that remember listings and file identities for
// the life of an opened table; Forget drops them, so that the next use asks again.
type Forgetter interface {
	Forget()
}

// KnownSizer is implemented by objects that can tell their size without I/O. It
// reports false while the size is not known.
type KnownSizer interface {
	KnownSize() (int64, bool)
}

// CheckPath returns a Fault of kind Refused for a path that this package does not allow:
// one that begins or ends with "/", has an empty, "." or ".." element, or holds a NUL.
// "" (the base path) is allowed. op and location go into the Fault.
func CheckPath(op, path, location string) error {
	if why := badPath(path); why != "" {
		return &Fault{Op: op, Path: path, Location: location, Kind: Refused,
			Try: "Use a path relative to the table, without \"..\".",
			Err: fmt.Errorf("the path %q %s", path, why)}
	}
	return nil
}

func badPath(path string) string {
	if path == "" {
		return ""
	}
	if strings.IndexByte(path, 0) >= 0 {
		return "holds a NUL byte"
	}
	for rest, more := path, true; more; {
		var e string
		e, rest, more = strings.Cut(rest, "/")
		switch e {
		case "":
			return "has an empty element"
		case ".", "..":
			return fmt.Sprintf("has the element %q", e)
		}
	}
	return ""
}
