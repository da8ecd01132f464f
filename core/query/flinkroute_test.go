package query

import "testing"

// TestMurmur holds Flink's hash against the published vectors of the function it is (murmur3 of four
// bytes, seed 0), made positive.
func TestMurmur(t *testing.T) {
	for in, want := range map[uint32]int32{0: 0x2362F9DE, 0x87654321: -(-0x0AA4AE95), 0xffffffff: 0x76293B50} {
		if got := murmur(in); got != want {
			t.Errorf("%#x: %#x, want %#x", in, got, want)
		}
	}
	for tasks := 1; tasks < 300; tasks++ {
		for _, k := range []string{"", "00000000-1", "file-1", "日本"} {
			if r := keyedReader(k, tasks); r < 0 || r >= tasks {
				t.Fatalf("%q goes to reader %d of %d", k, r, tasks)
			}
		}
	}
}
