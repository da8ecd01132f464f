package basefile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
)

// gzipped are texts of several kinds, each packed at several levels.
func gzipped(t testing.TB, visit func(name string, plain, packed []byte)) {
	rnd := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 200_000)
	for i := range random {
		random[i] = byte(rnd.Uint32())
	}
	var lines, skewed, far []byte
	for i := range 9000 {
		lines = fmt.Appendf(lines, "20261129225124804_%d_%d,id-%08d;", i%3, i, i*7)
	}
	for range 150_000 {
		// Frequencies that halve make the longest codes.
		b := byte(0)
		for b < 40 && rnd.IntN(2) == 0 {
			b++
		}
		skewed = append(skewed, b)
	}
	far = append(append(append(far, random[:1000]...), make([]byte, 31_000)...), random[:1000]...)
	for name, plain := range map[string][]byte{"empty": {}, "one": []byte("a"), "random": random, "lines": lines, "skewed": skewed, "zeros": make([]byte, 300_000), "far": far, "short": []byte("abcabcabcabcabcdabcd")} {
		for _, level := range []int{gzip.NoCompression, gzip.BestSpeed, gzip.DefaultCompression, gzip.BestCompression, gzip.HuffmanOnly} {
			var b bytes.Buffer
			w, err := gzip.NewWriterLevel(&b, level)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(plain); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			visit(fmt.Sprint(name, " ", level), plain, b.Bytes())
		}
	}
}

// TestGunzip unpacks what another program has packed, and refuses what was changed.
func TestGunzip(t *testing.T) {
	z := new(inflater)
	rnd := rand.New(rand.NewPCG(3, 4))
	gzipped(t, func(name string, plain, packed []byte) {
		dst := bytes.Repeat([]byte{0xaa}, len(plain)+inflateSlack)
		if err := z.gunzip(dst, packed, len(plain)); err != nil || !bytes.Equal(dst[:len(plain)], plain) {
			t.Errorf("%s: %v", name, err)
		}
		for _, size := range []int{len(plain) - 1, len(plain) + 1} {
			if size >= 0 && z.gunzip(make([]byte, len(plain)+2*inflateSlack), packed, size) == nil {
				t.Errorf("%s: %d bytes unpacked where there are %d", name, size, len(plain))
			}
		}
		for range 40 {
			if z.gunzip(dst, packed[:rnd.IntN(len(packed))], len(plain)) == nil {
				t.Errorf("%s: nothing is said of the end that is missing", name)
			}
			// The rest of the header says nothing of the content.
			bad, at := bytes.Clone(packed), 10+rnd.IntN(len(packed)-10)
			bad[at] ^= 1 << rnd.IntN(8)
			if z.gunzip(dst, bad, len(plain)) == nil && !bytes.Equal(dst[:len(plain)], plain) {
				t.Errorf("%s: byte %d was changed and unpacks to something else", name, at)
			}
		}
	})
}

// FuzzGunzip: what is unpacked is what the standard library unpacks.
func FuzzGunzip(f *testing.F) {
	gzipped(f, func(_ string, plain, packed []byte) {
		if len(packed) < 3000 {
			f.Add(packed, len(plain))
		}
	})
	f.Fuzz(func(t *testing.T, packed []byte, size int) {
		if size < 0 || size > 1<<20 {
			return
		}
		dst := make([]byte, size+inflateSlack)
		// Without the checksum, which hardly any change gets past.
		if len(packed) < 18 || packed[3] != 0 {
			return
		}
		n, _, err := new(inflater).inflate(dst, packed[10:len(packed)-8], size)
		if err != nil {
			return
		}
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return
		}
		want, err := io.ReadAll(io.LimitReader(r, int64(n)))
		if len(want) != n || !bytes.Equal(want, dst[:n]) {
			t.Fatalf("%d bytes, want %d: %v", n, len(want), err)
		}
	})
}
