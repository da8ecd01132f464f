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

// RangePrefetcher is implemented by objects of a Prefetcher: Prefetch is that of the source, for the file
// that is open.
type RangePrefetcher interface {
	Prefetch(ctx context.Context, ranges []Range) error
}

// Hinter is implemented by sources that want to know the sizes of files before they read them. Hint
// tells those of a directory's files, from elsewhere than a listing of the storage. What turns out
// otherwise is a Fault of kind Changed, once.
type Hinter interface {
	Hint(dir string, files []Entry)
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

// Neighbour is implemented by sources that can reach what lies beside the base path: the source
// tree of a bootstrapped table, which is no part of the table.
type Neighbour interface {
	// Sibling opens the folder of a name in the folder that holds the base path. A source from which
	// nothing beside the base can be reached, or that has no such folder, gives a Fault of kind
	// NotFound; one whose folder can't be seen without reading a file in it may open it unseen. The
	// name is one plain element of a path. What is opened is closed, where it has a Close, by the caller.
	Sibling(ctx context.Context, name string) (Source, error)
}

// CheckName returns a Fault of kind Refused for a name that is not one plain element of a path.
func CheckName(name, location string) error {
	if name == "" || strings.Contains(name, "/") || strings.Contains(name, "\\") {
		return &Fault{Op: "open", Path: name, Location: location, Kind: Refused, Err: fmt.Errorf("%q is not the name of a folder", name)}
	}
	return CheckPath("open", name, location)
}

// NoSibling is the Fault of a source that has no folder of this name beside its base path.
func NoSibling(name, location string) error {
	return &Fault{Op: "open", Path: name, Location: location, Kind: NotFound, Err: fmt.Errorf("there is no folder %q beside the table", name)}
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
