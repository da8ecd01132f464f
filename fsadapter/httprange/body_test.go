package httprange

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/iotest"
)

// A body comes whole, up to a byte above the limit, by whatever pieces it is sent, with the error of its end; and a server that
// sends without end costs little more than the limit.
func TestReadBody(t *testing.T) {
	all := bytes.Repeat([]byte("0123456789"), 3000)
	cut := errors.New("cut")
	for _, n := range []int{0, 1, 4095, 4096, 4097, 12288, len(all)} {
		for _, c := range []struct {
			r    io.Reader
			fail error
		}{
			{bytes.NewReader(all[:n]), nil},
			{iotest.OneByteReader(bytes.NewReader(all[:n])), nil},
			{iotest.DataErrReader(bytes.NewReader(all[:n])), nil},
			{io.MultiReader(bytes.NewReader(all[:n]), iotest.ErrReader(cut)), cut},
			{io.MultiReader(bytes.NewReader(all[:n]), iotest.ErrReader(io.ErrUnexpectedEOF)), io.ErrUnexpectedEOF},
		} {
			b, err := readBody(c.r, 1<<20)
			if !bytes.Equal(b, all[:n]) || !errors.Is(err, c.fail) {
				t.Errorf("%d bytes: %d came, %v; want %v", n, len(b), err, c.fail)
			}
		}
	}
	if b, err := readBody(bytes.NewReader(all), 100); len(b) != 101 || err != nil {
		t.Errorf("%d bytes, %v; want one above the limit", len(b), err)
	}
	const limit = 16 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b, err := readBody(endless{}, limit)
	runtime.ReadMemStats(&after)
	if len(b) != limit+1 || err != nil {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 2.5*limit {
		t.Errorf("%d bytes were allocated for %d", got, limit)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
