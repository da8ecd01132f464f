//go:build !js

package spill_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"hudiscope/core/spill"
)

func stores(dir string) map[string]spill.Open {
	return map[string]spill.Open{
		"memory":   func(context.Context) (spill.Store, error) { return spill.Memory(0), nil },
		"tempfile": spill.TempFile(dir),
	}
}

// TestStores holds every store against a map: appends over many segments in any order, drops, reads in between.
func TestStores(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	for name, open := range stores(dir) {
		t.Run(name, func(t *testing.T) {
			s, err := open(ctx)
			if err != nil {
				t.Fatal(err)
			}
			rnd := rand.New(rand.NewPCG(1, 2))
			want := map[uint32][][]byte{}
			var total int64
			for range 2000 {
				seg := rnd.Uint32N(9)
				switch rnd.IntN(20) {
				case 0:
					if err := s.Drop(ctx, seg); err != nil {
						t.Fatal(err)
					}
					delete(want, seg)
				case 1:
					i := 0
					for c, err := range s.Chunks(ctx, seg) {
						if err != nil || i >= len(want[seg]) || !bytes.Equal(c, want[seg][i]) {
							t.Fatalf("segment %d, chunk %d: %v", seg, i, err)
						}
						// A second reader of the same store does not disturb the first.
						for o, err := range s.Chunks(ctx, (seg+1)%9) {
							if err != nil || !bytes.Equal(o, want[(seg+1)%9][0]) {
								t.Fatalf("second reader: %v", err)
							}
							break
						}
						if !bytes.Equal(c, want[seg][i]) {
							t.Fatal("the second reader changed the first one's chunk")
						}
						i++
					}
					if i != len(want[seg]) {
						t.Fatalf("segment %d: %d chunks, want %d", seg, i, len(want[seg]))
					}
				default:
					c := make([]byte, rnd.IntN(9000))
					for i := range c {
						c[i] = byte(rnd.Uint32())
					}
					want[seg] = append(want[seg], bytes.Clone(c))
					total += int64(len(c))
					if err := s.Append(ctx, seg, c); err != nil {
						t.Fatal(err)
					}
					clear(c)
				}
			}
			if s.Bytes() != total {
				t.Errorf("%d bytes, want %d", s.Bytes(), total)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			left, err := os.ReadDir(dir)
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
			if s.Append(ctx, 0, []byte("x")) == nil {
				t.Error("a closed store takes a chunk")
			}
		})
	}
}

// TestUnnamed: the file has no name while it is in use, so that a crash leaves nothing.
func TestUnnamed(t *testing.T) {
	dir := t.TempDir()
	s, err := spill.TempFile(dir)(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Append(context.Background(), 1, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestFaults(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, open := range stores(t.TempDir()) {
		s, err := open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Append(ctx, 1, []byte("x")); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: append after cancellation: %v", name, err)
		}
		if err := s.Append(context.Background(), 1, []byte("x")); err != nil {
			t.Fatal(err)
		}
		for _, err := range s.Chunks(ctx, 1) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: read after cancellation: %v", name, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var f *spill.Fault
	_, err := spill.TempFile("/nonexistent/directory")(context.Background())
	if !errors.As(err, &f) || f.Full || f.Try == "" {
		t.Errorf("no directory: %v", err)
	}
	m := spill.Memory(10)
	if err := m.Append(context.Background(), 1, make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	if err := m.Append(context.Background(), 1, make([]byte, 6)); !errors.As(err, &f) || !f.Full || f.Bytes != 6 {
		t.Errorf("full: %v", err)
	}
	// /dev/full refuses every write as a disk without room does.
	if _, err := os.Stat("/dev/full"); err == nil {
		d, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		s := spill.OnFile(d)
		if err := s.Append(context.Background(), 1, []byte("x")); !errors.As(err, &f) || !f.Full {
			t.Errorf("a full disk: %v", err)
		}
		d.Close()
	}
}
