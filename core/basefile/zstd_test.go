package basefile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// zstdSamples are texts of several kinds, each packed at several levels.
func zstdSamples(t testing.TB, visit func(name string, plain, packed []byte)) {
	gzipped(t, func(name string, plain, _ []byte) {
		var level int
		var kind string
		if _, err := fmt.Sscan(name, &kind, &level); err != nil || level != 1 {
			return
		}
		for _, l := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBetterCompression, zstd.SpeedBestCompression} {
			for _, single := range []bool{false, true} {
				w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(l), zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true), zstd.WithSingleSegment(single), zstd.WithEncoderConcurrency(1))
				if err != nil {
					t.Fatal(err)
				}
				visit(fmt.Sprint(kind, l, single), plain, w.EncodeAll(plain, nil))
			}
		}
	})
}

// TestZstd unpacks what another program has packed, and nothing else instead of what was changed.
func TestZstd(t *testing.T) {
	z := new(unzstd)
	rnd := rand.New(rand.NewPCG(5, 6))
	lib, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer lib.Close()
	n := 0
	zstdSamples(t, func(name string, plain, packed []byte) {
		n++
		src := append(bytes.Clone(packed), make([]byte, zstdSlack)...)
		dst := make([]byte, len(plain)+zstdSlack)
		if err := z.frame(dst, src, len(packed), len(plain)); err != nil || !bytes.Equal(dst[:len(plain)], plain) {
			t.Errorf("%s: %d bytes: %v", name, len(plain), err)
		}
		if most, ok := zstdMost(packed); !ok || most < int64(len(plain)) {
			t.Errorf("%s: at most %d bytes where there are %d", name, most, len(plain))
		}
		for range 20 {
			if z.frame(dst, src, rnd.IntN(len(packed)), len(plain)) == nil {
				t.Errorf("%s: nothing is said of the end that is missing", name)
			}
			bad := bytes.Clone(src)
			bad[rnd.IntN(len(packed))] ^= 1 << rnd.IntN(8)
			if z.frame(dst, bad, len(packed), len(plain)) == nil {
				if want, err := lib.DecodeAll(bad[:len(packed)], nil); err == nil && !bytes.Equal(want, dst[:len(plain)]) {
					t.Errorf("%s: a changed byte unpacks to something else than elsewhere", name)
				}
			}
		}
	})
	if n < 8 {
		t.Fatal("no samples")
	}
}

// FuzzZstd: what is unpacked is what the library unpacks.
func FuzzZstd(f *testing.F) {
	zstdSamples(f, func(_ string, plain, packed []byte) {
		if len(packed) < 3000 {
			f.Add(packed, len(plain))
		}
	})
	f.Fuzz(func(t *testing.T, packed []byte, size int) {
		if size < 0 || size > 1<<20 {
			return
		}
		dst := make([]byte, size+zstdSlack)
		if new(unzstd).frame(dst, append(bytes.Clone(packed), make([]byte, zstdSlack)...), len(packed), size) != nil {
			return
		}
		lib, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		defer lib.Close()
		if want, err := lib.DecodeAll(packed, nil); err == nil && !bytes.Equal(want, dst[:size]) {
			t.Fatal("another content")
		}
	})
}
