// Package spill is where merging puts what does not fit its memory budget: an append-only store
// of chunks in numbered segments, which lives as long as one read and leaves nothing behind.
//
// Memory keeps the chunks in memory, TempFile (not in the browser) in a temporary file. The
// browser's store is hudiscope/fsadapter/idbspill.
package spill

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// Store holds chunks. It is not safe for concurrent use.
type Store interface {
	// Append adds a chunk to the end of a segment, which begins to exist by it. The chunk is the
	// caller's again when Append returns. An error may be that of an earlier chunk; after one,
	// the store is good for Close only.
	Append(ctx context.Context, segment uint32, chunk []byte) error
	// Chunks reads the chunks of a segment in the order they were appended. A chunk is valid
	// until the next one is asked for. The sequence stops after the first error.
	Chunks(ctx context.Context, segment uint32) iter.Seq2[[]byte, error]
	// Drop forgets the chunks of a segment. Whether their room is used again is up to the store.
	Drop(ctx context.Context, segment uint32) error
	// Bytes is the sum of the sizes of all chunks appended so far, dropped ones included.
	Bytes() int64
	// Close removes everything, whatever became of the contexts of earlier calls.
	Close() error
}

// Open makes a new, empty store.
type Open func(ctx context.Context) (Store, error)

// Fault is an error of the place that a store lies in.
type Fault struct {
	// Op is "open", "write", "read" or "remove".
	Op string
	// Place names the store for people, such as "a temporary file in /tmp".
	Place string
	// Full is set when the place has no more room: a disk that is full, a quota.
	Full bool
	// Bytes is how much had been written before.
	Bytes int64
	// Try is a sentence for the user: what to do now.
	Try string
	Err error
}

// Error renders the fault.
func (f *Fault) Error() string {
	var s string
	switch {
	case f.Full:
		s = fmt.Sprintf("the merged log records do not fit into memory, and %s has no room for more than the %d bytes of them written so far", f.Place, f.Bytes)
	case f.Op == "open":
		s = fmt.Sprintf("the merged log records do not fit into memory, and %s can't be opened for them", f.Place)
	default:
		s = fmt.Sprintf("the merged log records do not fit into memory, and to %s %s failed", f.Op, f.Place)
	}
	if f.Err != nil {
		s += ": " + f.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// errLost says that a place gave back something else than was put there.
var errLost = errors.New("a part of what was written is gone")

// Lost is the Fault of a store that did not give back what was put into it.
func Lost(place string) *Fault {
	return &Fault{Op: "read", Place: place, Err: errLost, Try: "Read again; no rows are shown rather than a part of them."}
}

// Memory returns a store in memory, for tests. It takes limit bytes (0 = no limit), and is full then.
func Memory(limit int64) Store { return &memory{limit: limit, segments: map[uint32][][]byte{}} }

type memory struct {
	limit, bytes int64
	segments     map[uint32][][]byte
}

func (m *memory) Append(ctx context.Context, segment uint32, chunk []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.segments == nil {
		return &Fault{Op: "write", Place: "a closed store"}
	}
	if m.limit > 0 && m.bytes+int64(len(chunk)) > m.limit {
		return &Fault{Op: "write", Place: fmt.Sprintf("a store of %d bytes", m.limit), Full: true, Bytes: m.bytes, Try: "Take a larger one."}
	}
	m.segments[segment] = append(m.segments[segment], append([]byte(nil), chunk...))
	m.bytes += int64(len(chunk))
	return nil
}

func (m *memory) Chunks(ctx context.Context, segment uint32) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, c := range m.segments[segment] {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (m *memory) Drop(ctx context.Context, segment uint32) error {
	delete(m.segments, segment)
	return ctx.Err()
}

func (m *memory) Bytes() int64 { return m.bytes }

func (m *memory) Close() error {
	m.segments = nil
	return nil
}
