//go:build !js

package basefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/format"

	"hudiscope/core/corrupt"
	"hudiscope/core/logfile/logfiletest"
)

// TestPagesThatUnpackToMore: a page unpacks to no more than its header says, whatever the codec.
func TestPagesThatUnpackToMore(t *testing.T) {
	type row struct {
		A string `parquet:"a,plain"`
	}
	for name, codec := range map[string]compress.Codec{"gzip": &parquet.Gzip, "zstd": &parquet.Zstd, "brotli": &parquet.Brotli, "lz4 raw": &parquet.Lz4Raw, "snappy": &parquet.Snappy} {
		const size = 40_000 * 1028 // values of 1 KiB with their lengths
		var out bytes.Buffer
		w := parquet.NewGenericWriter[row](&out, parquet.Compression(codec), parquet.DataPageStatistics(false), parquet.PageBufferSize(size*2))
		if _, err := w.Write(slices.Repeat([]row{{string(make([]byte, 1024))}}, 40_000)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		b := out.Bytes()
		// The header says 1000 bytes, in a number of as many bytes.
		done := false
		for claim := int64(size); claim < size+1000 && !done; claim++ {
			real := binary.AppendUvarint(nil, uint64(claim)<<1)
			if i := bytes.Index(b[:min(len(b), 200)], real); i >= 0 {
				low := uint64(1000) << 1
				for k := range real {
					b[i+k] = byte(low) | 0x80
					low >>= 7
				}
				b[i+len(real)-1] &= 0x7f
				done = true
			}
		}
		if !done {
			t.Fatalf("%s: the size is not in the header", name)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := Open(context.Background(), logfiletest.NewObject(b), "f.parquet")
		if err == nil {
			for _, err = range f.Batches(context.Background(), nil) {
				if err != nil {
					break
				}
			}
		}
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: it is read", name)
		} else if ce := new(corrupt.Error); !errors.As(err, &ce) || ce.File != "f.parquet" || ce.Offset < 0 || !strings.Contains(err.Error(), "more than the 1000 bytes") {
			t.Errorf("%s: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 32<<20 {
			t.Errorf("%s: %d MiB were allocated: %v", name, n>>20, err)
		}
	}
}

// TestZstdLength: what frames state is added up, and only where they all do.
func TestZstdLength(t *testing.T) {
	plain := bytes.Repeat([]byte("some text, again and again; "), 40_000)
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	one := w.EncodeAll(plain, nil)
	if n, ok := zstdLength(one); !ok || n != int64(len(plain)) {
		t.Errorf("one frame: %d, %v", n, ok)
	}
	if n, ok := zstdLength(append(bytes.Clone(one), one...)); !ok || n != int64(2*len(plain)) {
		t.Errorf("two frames: %d, %v", n, ok)
	}
	var stream bytes.Buffer
	z, err := zstd.NewWriter(&stream)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		z.Write(plain)
	}
	z.Close()
	if n, ok := zstdLength(stream.Bytes()); ok {
		t.Errorf("a stream without a size: %d", n)
	}
	if !exceeds(format.Zstd, stream.Bytes(), int64(3*len(plain))-1) || exceeds(format.Zstd, stream.Bytes(), int64(3*len(plain))) {
		t.Error("a stream is not counted")
	}
	for n := range one {
		zstdLength(one[:n]) // no panic
	}
}
