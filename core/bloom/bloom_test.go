package bloom

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"testing"

	"hudiscope/core/corrupt"
)

// build makes a filter of one row as Hudi's writer does.
func build(typeCode string, hash HashType, keys ...string) []byte {
	const hashes, bits = 5, 1999
	row := make([]byte, (bits+7)/8)
	fn := murmur
	if hash == Jenkins {
		fn = jenkins
	}
	for _, k := range keys {
		h := int32(0)
		for range hashes {
			h = fn([]byte(k), h)
			b := h % bits
			if b < 0 {
				b = -b
			}
			row[b/8] |= 1 << (b % 8)
		}
	}
	head := binary.BigEndian.AppendUint32(nil, 0xffffffff)
	head = append(binary.BigEndian.AppendUint32(head, hashes), byte(hash))
	head = binary.BigEndian.AppendUint32(head, bits)
	p := append(append([]byte{}, head...), row...)
	if typeCode == DynamicV0 {
		d := append([]byte{}, head...)
		for _, n := range []uint32{100, uint32(len(keys)), 1} {
			d = binary.BigEndian.AppendUint32(d, n)
		}
		p = append(d, p...)
	}
	return base64.StdEncoding.AppendEncode(nil, p)
}

func TestMembership(t *testing.T) {
	for _, code := range []string{Simple, DynamicV0} {
		for _, hash := range []HashType{Murmur, Jenkins} {
			f, err := Decode(code, build(code, hash, "a", "trip-001", "ключ"))
			if err != nil {
				t.Fatal(err)
			}
			if f.Hash != hash || f.Rows() != 1 || f.Bits != 1999 || f.Hashes != 5 {
				t.Errorf("%s: %+v", code, f)
			}
			for _, k := range []string{"a", "trip-001", "ключ", ""} {
				if !f.MayContain([]byte(k)) {
					t.Errorf("%s, %s: no to %q", code, hash, k)
				}
			}
			no := 0
			for i := range 200 {
				if !f.MayContain(fmt.Appendf(nil, "other-%d", i)) {
					no++
				}
			}
			if no < 195 {
				t.Errorf("%s, %s: no to only %d of 200", code, hash, no)
			}
		}
	}
}

// TestJenkins holds the hash against values that the author of lookup3 published.
func TestJenkins(t *testing.T) {
	for _, c := range []struct {
		text string
		seed int32
		want uint32
	}{{"", 0, 0xdeadbeef}, {"Four score and seven years ago", 0, 0x17770551}, {"Four score and seven years ago", 1, 0xcd628161}} {
		if got := uint32(jenkins([]byte(c.text), c.seed)); got != c.want {
			t.Errorf("%q, %d: %08x, want %08x", c.text, c.seed, got, c.want)
		}
	}
}

func TestDamaged(t *testing.T) {
	for _, code := range []string{Simple, DynamicV0} {
		whole, _ := base64.StdEncoding.DecodeString(string(build(code, Murmur, "a")))
		for n := range len(whole) {
			if _, err := Decode(code, base64.StdEncoding.AppendEncode(nil, whole[:n])); !corrupt.Is(err) {
				t.Fatalf("%s cut at %d: %v", code, n, err)
			}
		}
		if _, err := Decode(code, base64.StdEncoding.AppendEncode(nil, append(whole, 0))); !corrupt.Is(err) {
			t.Errorf("a byte more: %v", err)
		}
	}
	for _, c := range [][2]string{{"OTHER", ""}, {Simple, "!!"}} {
		if _, err := Decode(c[0], []byte(c[1])); !corrupt.Is(err) {
			t.Errorf("%q: %v", c, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(true, build(Simple, Murmur, "a"))
	f.Add(false, build(DynamicV0, Jenkins, "b"))
	f.Fuzz(func(t *testing.T, simple bool, text []byte) {
		code := DynamicV0
		if simple {
			code = Simple
		}
		b, err := Decode(code, text)
		if err != nil {
			if !corrupt.Is(err) {
				t.Fatal(err)
			}
			return
		}
		b.MayContain([]byte("key"))
	})
}
