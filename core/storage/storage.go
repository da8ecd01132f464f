// Package storage is what the core asks of the place a table lies in: list a
// directory, open a file, read ranges of it. Adapters (package fsadapter and
// below) implement it; nothing here knows a transport.
//
// Paths are relative to the table's base path, use "/" and never begin or end
// with one; "" is the base path itself. Names are plain (not URL-encoded).
package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// SizeUnknown is the size of an entry whose listing does not tell it.
const SizeUnknown int64 = -1

// Entry is one name in a directory listing.
type Entry struct {
	// Name is the last path element.
	Name string
	// Dir is true for a directory.
	Dir bool
	// Size in bytes, or SizeUnknown (directories, rounded listings).
	Size int64
	// ModTime is zero when the listing does not tell it.
	ModTime time.Time
	// ETag without quotes and W/ prefix; "" when not told.
	ETag string
}

// Listing is the content of one directory, sorted by name.
type Listing struct {
	Entries []Entry
	// Complete is false when names may be missing: a server that hides dot files,
	// a page that was cut. An incomplete listing never proves that a file is absent.
	Complete bool
	// DotsHidden is true when it is not complete for one reason alone: the place lists no names that
	// begin with a dot, although it serves them.
	DotsHidden bool
	// Note says in one sentence why the listing is not complete.
	Note string
}

// Lister lists directories, not recursively. A directory that does not exist is an
// error for which errors.Is(err, fs.ErrNotExist) holds; adapters over object stores,
// which have no directories, return that for an empty prefix.
type Lister interface {
	List(ctx context.Context, dir string) (Listing, error)
}

// Opener opens files for reading. Opening may or may not touch the network; a file
// that is absent gives an error for which errors.Is(err, fs.ErrNotExist) holds, at
// Open or at the first read.
type Opener interface {
	Open(ctx context.Context, path string) (Object, error)
}

// Object is an open file.
type Object interface {
	// Size in bytes. An adapter that does not know the size before the first read
	// finds it out here.
	Size(ctx context.Context) (int64, error)
	// ReadAt fills p from byte offset off, with the rules of io.ReaderAt: n < len(p)
	// only with an error, io.EOF at the end of the file. A transport that delivers
	// fewer bytes than it promised is an error, never a short success.
	ReadAt(ctx context.Context, p []byte, off int64) (n int, err error)
	// Close releases the object. It must be called once; reads after it fail.
	Close() error
}

// Source is a place a table lies in.
type Source interface {
	Lister
	Opener
	// Location names the place for people and errors. It holds no credentials.
	Location() string
}

// Fault is an error of the place a file lies in, not of its bytes: not found,
// refused, unreachable, changed while reading.
type Fault struct {
	// Op is "list", "open", "read".
	Op string
	// Path is relative to the table; Location is the source's.
	Path, Location string
	// Status is the HTTP status, 0 when there is none.
	Status int
	// Kind classifies the fault.
	Kind FaultKind
	// Try is a sentence for the user: what to do now.
	Try string
	Err error
}

// FaultKind classifies a Fault.
type FaultKind string

// The kinds of faults.
const (
	NotFound    FaultKind = "not found"
	Forbidden   FaultKind = "forbidden"
	Expired     FaultKind = "expired"     // a presigned URL past its time
	Unreachable FaultKind = "unreachable" // network or CORS: a browser cannot tell which
	NoRange     FaultKind = "no range"    // the server ignores Range and the file is too large to take whole
	Changed     FaultKind = "changed"     // size or ETag differ from an earlier read
	Truncated   FaultKind = "truncated"   // fewer bytes arrived than promised
	NoListing   FaultKind = "no listing"  // the place can't be listed
	Refused     FaultKind = "refused"     // the adapter will not do this (traversal, limits)
	Failed      FaultKind = "failed"      // anything else
)

// Error renders the fault in one line.
func (f *Fault) Error() string {
	s := f.Op + " " + f.Path
	if f.Path == "" {
		s = f.Op + " " + f.Location
	}
	s += ": " + string(f.Kind)
	if f.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", f.Status)
	}
	if f.Err != nil {
		s += ": " + f.Err.Error()
	}
	return s
}

// Unwrap returns the cause, and fs.ErrNotExist for NotFound. A cause that is io.EOF, as of a
// connection that the other side has closed, is left out: it would look like the end of the file.
func (f *Fault) Unwrap() []error {
	var out []error
	if f.Err != nil && !errors.Is(f.Err, io.EOF) {
		out = append(out, f.Err)
	}
	if f.Kind == NotFound {
		out = append(out, fs.ErrNotExist)
	}
	return out
}

// IsFailure reports whether err says that a place did not give what may well be there: it was not
// reached, refused, broke off, or changed. Nothing follows from such an error for the table.
func IsFailure(err error) bool {
	var f *Fault
	return errors.As(err, &f) && f.Kind != NotFound
}

// IsNotExist reports whether err says that a file or directory is absent.
func IsNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// ReadAll reads a whole file. limit bounds the memory in bytes: a larger file is a
// Fault of kind Refused; limit <= 0 means no bound.
func ReadAll(ctx context.Context, src Opener, path string, limit int64) ([]byte, error) {
	o, err := src.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	size, err := o.Size(ctx)
	if err != nil {
		return nil, err
	}
	if limit > 0 && size > limit {
		return nil, &Fault{Op: "read", Path: path, Kind: Refused, Err: fmt.Errorf("the file has %d bytes, more than the limit of %d", size, limit)}
	}
	p := make([]byte, size)
	if err := ReadFull(ctx, o, p, 0); err != nil {
		return nil, err
	}
	return p, nil
}

// ReadFull fills p from off or fails; the end of the file before p is full is io.ErrUnexpectedEOF.
func ReadFull(ctx context.Context, o Object, p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	n, err := o.ReadAt(ctx, p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// ReaderAt adapts an Object to io.ReaderAt for libraries that take one; every read uses ctx.
func ReaderAt(ctx context.Context, o Object) io.ReaderAt { return readerAt{ctx, o} }

type readerAt struct {
	ctx context.Context
	o   Object
}

func (r readerAt) ReadAt(p []byte, off int64) (int, error) { return r.o.ReadAt(r.ctx, p, off) }
