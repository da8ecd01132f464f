// Package ahead asks for what will be needed soon, many things at once, of a source that keeps what it
// reads (package cache). Whoever needs it later finds it there, or waits for the request that is on its
// way. What fails here is not told: whoever needs it asks again and is told then.
package ahead

import (
	"context"
	"strings"
	"sync/atomic"

	"hudiscope/core/storage"
)

// Bounds of what is asked for at a time.
const (
	// MaxRequests bounds the directories or files of one call; those behind are left to their readers.
	MaxRequests = 64
	// together is how many requests of one call run at a time, begun in the order of the call.
	together = 6
	// Whole is the size up to which a file is brought whole, in bytes; of a larger one its end.
	Whole = 1 << 20
	// Footer is how much of the end of a larger base file is brought, in bytes: the footer of a Parquet
	// file, the trailer and the index of an HFile.
	Footer = 64 << 10
	// MaxFile bounds what is brought of one file that is wanted whole, in bytes.
	MaxFile = 4<<20 - 64<<10
)

// Reader asks ahead. A nil Reader asks nothing, so that callers need not tell.
type Reader struct {
	src  storage.Source
	kept storage.Prefetcher
}

// Of returns the Reader of a source, nil when the source keeps nothing: then asking ahead would only ask
// twice.
func Of(src storage.Source) *Reader {
	p, ok := src.(storage.Prefetcher)
	if !ok {
		return nil
	}
	return &Reader{src, p}
}

// List asks for the listings of directories and returns at once. The requests end with ctx.
func (r *Reader) List(ctx context.Context, dirs ...string) {
	if r == nil {
		return
	}
	inOrder(dirs, func(d string) { r.src.List(ctx, d) })
}

// inOrder calls f for the first of a list, in order and several at a time, and returns at once.
func inOrder[T any](list []T, f func(T)) {
	list = list[:min(len(list), MaxRequests)]
	var next atomic.Int64
	for range min(len(list), together) {
		go func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(list) {
					return
				}
				f(list[i])
			}
		}()
	}
}

// File is a file that will be needed.
type File struct {
	Path string
	// Size in bytes, storage.SizeUnknown when it is not known.
	Size int64
	// Whole is set when all of it will be needed, up to MaxFile; else a large file's end is.
	Whole bool
}

// ranges are those of the file that are brought.
func (f *File) ranges() []storage.Range {
	switch {
	case f.Size < 0 || f.Size <= Whole:
		return []storage.Range{{Off: 0, Len: Whole}}
	case f.Whole:
		return []storage.Range{{Off: 0, Len: min(f.Size, MaxFile)}}
	case strings.HasSuffix(f.Path, ".parquet"), strings.HasSuffix(f.Path, ".orc"), strings.HasSuffix(f.Path, ".hfile"):
		return []storage.Range{{Off: f.Size - Footer, Len: Footer}}
	}
	return []storage.Range{{Off: 0, Len: Whole}}
}

// Read asks for files and returns at once. The requests end with ctx.
func (r *Reader) Read(ctx context.Context, files ...File) {
	if r == nil {
		return
	}
	inOrder(files, func(f File) {
		if f.Size != 0 {
			r.kept.Prefetch(ctx, f.Path, f.ranges())
		}
	})
}
