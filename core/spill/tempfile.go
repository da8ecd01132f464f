//go:build !js

package spill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"syscall"
)

// TempFile returns an Open of stores in one temporary file each, in dir ("" = the system's
// directory for temporary files). Where the system allows it the file loses its name at once, so
// that not even a crash leaves it behind; elsewhere Close removes it.
func TempFile(dir string) Open {
	return func(ctx context.Context) (Store, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		place := dir
		if place == "" {
			place = os.TempDir()
		}
		t := &tempFile{place: "a temporary file in " + place, segments: map[uint32][]extent{}}
		f, err := os.CreateTemp(dir, "hudiscope-merge-*")
		if err != nil {
			return nil, t.fault("open", err)
		}
		t.f = f
		if runtime.GOOS != "windows" {
			t.unnamed = os.Remove(f.Name()) == nil
		}
		return t, nil
	}
}

// extent is where a chunk lies: n bytes, in room of size bytes.
type extent struct{ off, n, size int64 }

// roomUnit is the unit of room in the file, so that dropped room fits later chunks.
const roomUnit = 4 << 10

type tempFile struct {
	f       *os.File
	place   string
	unnamed bool
	end     int64
	// free is the room of dropped segments, by its size.
	free     map[int64][]int64
	segments map[uint32][]extent
	bytes    int64
}

func (t *tempFile) fault(op string, err error) error {
	f := &Fault{Op: op, Place: t.place, Bytes: t.bytes, Err: err, Try: "Set TMPDIR to a directory that can be written, or allow more memory (--memory)."}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		f.Full, f.Try = true, "Make room there or set TMPDIR to another directory, allow more memory (--memory), or read one file group at a time."
	}
	return f
}

func (t *tempFile) Append(ctx context.Context, segment uint32, chunk []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n := int64(len(chunk))
	x := extent{t.end, n, (n + roomUnit - 1) / roomUnit * roomUnit}
	if l := t.free[x.size]; len(l) > 0 {
		x.off, t.free[x.size] = l[len(l)-1], l[:len(l)-1]
	}
	if _, err := t.f.WriteAt(chunk, x.off); err != nil {
		return t.fault("write", err)
	}
	t.end = max(t.end, x.off+x.size)
	t.bytes += x.n
	t.segments[segment] = append(t.segments[segment], x)
	return nil
}

func (t *tempFile) Chunks(ctx context.Context, segment uint32) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var buf []byte
		for _, x := range t.segments[segment] {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if int64(cap(buf)) < x.n {
				buf = make([]byte, x.n)
			}
			p := buf[:x.n]
			if n, err := t.f.ReadAt(p, x.off); n < len(p) {
				if err == nil || errors.Is(err, io.EOF) {
					err = fmt.Errorf("%d bytes at offset %d: %w", x.n, x.off, errLost)
				}
				yield(nil, t.fault("read", err))
				return
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

func (t *tempFile) Drop(ctx context.Context, segment uint32) error {
	if t.free == nil {
		t.free = map[int64][]int64{}
	}
	for _, x := range t.segments[segment] {
		t.free[x.size] = append(t.free[x.size], x.off)
	}
	delete(t.segments, segment)
	return ctx.Err()
}

func (t *tempFile) Bytes() int64 { return t.bytes }

func (t *tempFile) Close() error {
	t.segments, t.free = nil, nil
	err := t.f.Close()
	if !t.unnamed {
		err = errors.Join(err, os.Remove(t.f.Name()))
	}
	if err != nil {
		return t.fault("remove", err)
	}
	return nil
}
