package logfile_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/corrupt"
	"hudiscope/core/logfile"
	"hudiscope/core/logfile/logfiletest"
)

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// content puts version and length before the data of a delete block.
func content(version uint32, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, version)
	b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
	return append(b, data...)
}

// mark is ASCII text as Kryo writes it: the last byte has its high bit set.
func mark(s string) []byte {
	b := []byte(s)
	b[len(b)-1] |= 0x80
	return b
}

// kryoV2 is the data of a block in Hudi's own compatibility test: two deletes.
func kryoV2(t testing.TB) []byte {
	return cat(unhex(t, "01 00"), mark("[Lorg.apache.hudi.common.model.DeleteRecord;"), unhex(t, "01 03 01 01"), mark("org.apache.hudi.common.model.DeleteRecord"),
		unhex(t, "01 01 02"), mark("org.apache.hudi.common.model.HoodieKey"), unhex(t, "01 01"), mark("2023-01-01"), unhex(t, "01"), mark("key1"),
		unhex(t, "02 e2 5b 01 01 01 01 02 01 05 01"), mark("key2"), unhex(t, "02 c4 b7 01"))
}

// kryoV1 is what Hudi's serializer makes of the keys (key1,p/a) (k,p/a) (日本é,"") (70×x,null).
func kryoV1(t testing.TB) []byte {
	return cat(unhex(t, "01 00"), mark("[Lorg.apache.hudi.common.model.HoodieKey;"), unhex(t, "01 05 01 01"), mark("org.apache.hudi.common.model.HoodieKey"),
		unhex(t, "01 01 70 2f e1 01 6b 65 79 b1 01 01 01 04 01 82 6b 01 01 01 01 81 01 84 e6 97 a5 e6 9c ac c3 a9 01 01 01 00 01 c7 01"), bytes.Repeat([]byte{'x'}, 70))
}

// show writes deletes as key|partition|kind value.
func show(dels []logfile.Delete) string {
	var out []string
	for _, d := range dels {
		p := "<null>"
		if d.Partition != nil {
			p = *d.Partition
		}
		k := d.Key
		if d.KeyNull {
			k = "<null>"
		}
		out = append(out, fmt.Sprintf("%s|%s|%s %s", k, p, d.Ordering.Kind, d.Ordering))
	}
	return strings.Join(out, ", ")
}

func TestDecodeDeletes(t *testing.T) {
	// one makes a version 3 block of one delete with the given ordering bytes.
	one := func(ordering string) []byte {
		return content(3, cat(unhex(t, "02 02 02 6b 02 02 70"), unhex(t, ordering), []byte{0}))
	}
	// kryo makes a version 2 block of one delete of (key1, 2023-01-01) with the given ordering bytes.
	kryo := func(ordering ...[]byte) []byte {
		p := kryoV2(t)
		i := bytes.Index(p, mark("key1")) + 4
		head := bytes.Clone(p[:i])
		at := bytes.Index(head, []byte{0x01, 0x03, 0x01, 0x01})
		head[at+1] = 2
		return content(2, append(head, cat(ordering...)...))
	}
	class := func(name string) []byte { return cat([]byte{1, 3}, mark(name)) }
	for _, c := range []struct {
		name string
		in   []byte
		want string
	}{
		{"real version 3", cat(unhex(t, "00000003 00000038 02 02 48"), []byte("c8abbe79-8d87-47ea-b4ce-4d224bae5bfa"), unhex(t, "02 18"), []byte("city=chennai"), unhex(t, "04 00 00")),
			"c8abbe79-8d87-47ea-b4ce-4d224bae5bfa|city=chennai|int 0"},
		{"empty", unhex(t, "00000003 00000001 00"), ""},
		{"three with positions", unhex(t, "00000003 00000017 06 02 02 61 02 00 04 00 02 02 62 02 00 04 00 02 02 64 02 00 04 00 00"), "a||int 0, b||int 0, d||int 0"},
		{"negative block count", unhex(t, "00000003 0000000a 01 0e 02 02 6b 02 02 70 00 00"), "k|p|null null"},
		{"null key and partition", unhex(t, "00000003 00000005 02 00 00 00 00"), "<null>|<null>|null null"},
		{"null", one("00"), "k|p|null null"},
		{"boolean", one("02 01"), "k|p|boolean true"},
		{"int", one("04 0d"), "k|p|int -7"},
		{"long", one("06 0a"), "k|p|long 5"},
		{"float", one("08 00 00 60 40"), "k|p|float 3.5"},
		{"double", one("0a 00 00 00 00 00 00 02 40"), "k|p|double 2.25"},
		{"bytes", one("0c 04 01 02"), "k|p|bytes AQI="},
		{"string", one("0e 06 61 62 63"), "k|p|string abc"},
		{"date", one("10 bc ae 02"), "k|p|date 2023-01-01"},
		{"decimal", one("12 0e 2b d7 2a 24 87 40 00"), "k|p|decimal 12.340000000000000"},
		{"time", one("14 80 9b ee 02"), "k|p|time-micros 00:00:03.000000"},
		{"timestamp", one("16 f0 d4 b1 cb cb ef 80 06"), "k|p|timestamp-micros 2023-07-31T01:29:31.123000Z"},
		{"tuple", one("18 02 04 0e 04 66 31 06 14 00"), "k|p|tuple [f1, 10]"},
		{"local date in a tuple", one("18 02 02 18 bc ae 02 00"), "k|p|tuple [2023-01-01]"},
		{"version 2", content(2, kryoV2(t)), "key1|2023-01-01|int 5873, key2|2023-01-01|int 11746"},
		{"version 1", content(1, kryoV1(t)), "key1|p/a|int 0, k|p/a|int 0, 日本é||int 0, " + strings.Repeat("x", 70) + "|<null>|int 0"},
		{"kryo null", kryo([]byte{0}), "key1|2023-01-01|null null"},
		{"kryo string", kryo([]byte{3, 1}, mark("abc")), "key1|2023-01-01|string abc"},
		{"kryo string seen before", kryo([]byte{3, 5}), "key1|2023-01-01|string 2023-01-01"},
		{"kryo float", kryo(unhex(t, "04 40 60 00 00")), "key1|2023-01-01|float 3.5"},
		{"kryo boolean", kryo(unhex(t, "05 01")), "key1|2023-01-01|boolean true"},
		{"kryo byte", kryo(unhex(t, "06 ff")), "key1|2023-01-01|int -1"},
		{"kryo short", kryo(unhex(t, "08 ff fe")), "key1|2023-01-01|int -2"},
		{"kryo long", kryo(unhex(t, "09 ff ff ff ff ff ff ff ff ff")), "key1|2023-01-01|long -9223372036854775808"},
		{"kryo double", kryo(unhex(t, "0a 40 02 00 00 00 00 00 00")), "key1|2023-01-01|double 2.25"},
		{"kryo utf8 of 0.15", kryo(unhex(t, "1e 01 04 61 62 63")), "key1|2023-01-01|string abc"},
		{"kryo decimal", kryo(class("java.math.BigDecimal"), unhex(t, "01 03 04 d2 04")), "key1|2023-01-01|decimal 12.34"},
		{"kryo timestamp", kryo(class("java.sql.Timestamp"), unhex(t, "01 e8 07")), "key1|2023-01-01|timestamp-micros 1970-01-01T00:00:01.000000Z"},
		{"kryo local date", kryo(class("java.time.LocalDate"), unhex(t, "01 e7 0f 01 02")), "key1|2023-01-01|local-date 2023-01-02"},
	} {
		version, dels, err := logfile.DecodeDeletes(c.in, 500)
		if err != nil || show(dels) != c.want {
			t.Errorf("%s: %s %v, want %s", c.name, show(dels), err, c.want)
			continue
		}
		if want := int(c.in[3]); version != want {
			t.Errorf("%s: version %d", c.name, version)
		}
		for i, d := range dels {
			if d.Start < 508 || d.End > 500+int64(len(c.in)) || d.End <= d.Start || i > 0 && d.Start < dels[i-1].End {
				t.Errorf("%s: spans %+v", c.name, dels)
			}
		}
		if j, err := json.Marshal(dels); err != nil || !json.Valid(j) {
			t.Errorf("%s: %s %v", c.name, j, err)
		}
		f := &logfiletest.File{}
		f.Block(logfile.DeleteBlock, nil, c.in)
		r := logfiletest.Open(f.Bytes(), "")
		for b, err := range r.Blocks(ctx) {
			if n, cerr := r.RecordCount(ctx, b); err != nil || cerr != nil || n != int64(len(dels)) {
				t.Errorf("%s: count %d %v %v", c.name, n, err, cerr)
			}
		}
		// No cut of it is taken for a whole block.
		for n := range c.in {
			cut := bytes.Clone(c.in[:n])
			if n >= 8 {
				binary.BigEndian.PutUint32(cut[4:], uint32(n-8))
			}
			if _, got, err := logfile.DecodeDeletes(cut, 0); err == nil {
				t.Errorf("%s: %d of %d bytes decode to %s", c.name, n, len(c.in), show(got))
			}
		}
	}
}

func TestDecodeDeletesRefuses(t *testing.T) {
	good := content(2, kryoV2(t))
	for _, c := range []struct {
		name string
		in   []byte
		want string
	}{
		{"version 0", content(0, []byte{0}), "version"},
		{"version 4", content(4, []byte{0}), "version"},
		{"length", set(content(3, []byte{0}), 7, 2), "data length"},
		{"bytes behind", content(3, []byte{0, 0}), "its end"},
		{"count", content(3, unhex(t, "fe ff ff ff 0f 00")), "count of deletes"},
		{"ordering branch", content(3, unhex(t, "02 02 02 6b 02 02 70 1a 00")), "type of ordering value"},
		{"key branch", content(3, unhex(t, "02 04 00 00 00")), "record key"},
		{"key length", content(3, unhex(t, "02 02 7e 00 00 00")), "length of record key"},
		{"int of 64 bits", content(3, unhex(t, "02 00 00 04 ff ff ff ff ff 01 00")), "32 bits"},
		{"tuple bomb", content(3, unhex(t, "02 00 00 18 02 fe ff ff ff 0f 00 00")), "count of ordering values"},
		{"class of another array", content(2, cat(unhex(t, "01 00"), mark("[Ljava.lang.Object;"), unhex(t, "01 01"))), "array of"},
		{"keys in version 2", content(2, kryoV1(t)), "version 2"},
		{"kryo count", content(2, cat(unhex(t, "01 00"), mark("[Lorg.apache.hudi.common.model.DeleteRecord;"), unhex(t, "01 ff ff ff 03"))), "count of deletes"},
		{"kryo class id", set(good, bytes.LastIndex(good, []byte{1, 1, 1, 1, 2, 1}), 1, 9), "name id"},
		{"kryo reference", set(good, bytes.LastIndex(good, []byte{5, 1}), 0x7f), "reference"},
		{"kryo unknown class", content(2, cat(kryoV2(t)[:bytes.LastIndex(kryoV2(t), []byte{2, 0xc4})], unhex(t, "01 03"), mark("java.util.HashMap"), unhex(t, "01 00"))), "class of ordering value"},
	} {
		_, dels, err := logfile.DecodeDeletes(c.in, 0)
		var e *corrupt.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || dels != nil {
			t.Errorf("%s: %v %v, want an error with %q", c.name, show(dels), err, c.want)
		}
	}
}

func TestOrderingDefault(t *testing.T) {
	for _, c := range []struct {
		o    logfile.Ordering
		want bool
	}{
		{logfile.Ordering{}, true},
		{logfile.Ordering{Kind: logfile.OrderInt}, true},
		{logfile.Ordering{Kind: logfile.OrderInt, Int: 1}, false},
		{logfile.Ordering{Kind: logfile.OrderLong}, false},
	} {
		if c.o.IsDefault() != c.want {
			t.Errorf("%+v", c.o)
		}
	}
}

func FuzzDecodeDeletes(f *testing.F) {
	f.Add(content(1, kryoV1(f)))
	f.Add(content(2, kryoV2(f)))
	f.Add(unhex(f, "00000003 00000017 06 02 02 61 02 00 04 00 02 02 62 02 00 04 00 02 02 64 02 00 04 00 00"))
	f.Add(content(3, unhex(f, "02 02 02 6b 02 02 70 18 02 04 0e 04 66 31 06 14 00 00")))
	f.Fuzz(func(t *testing.T, p []byte) {
		for _, q := range [][]byte{p, content(1, p), content(2, p), content(3, p)} {
			_, dels, err := logfile.DecodeDeletes(q, 0)
			if err != nil && !corrupt.Is(err) {
				t.Fatal(err)
			}
			if len(dels) > len(q) {
				t.Fatalf("%d deletes from %d bytes", len(dels), len(q))
			}
			if _, err := json.Marshal(dels); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func BenchmarkDecodeDeletes(b *testing.B) {
	dels := make([]logfiletest.Del, 1000)
	for i := range dels {
		dels[i] = logfiletest.Del{Key: fmt.Sprintf("c8abbe79-8d77-47ea-b4ce-%012d", i), Partition: "city=chennai", Ordering: int64(i)}
	}
	p := logfiletest.DeleteContent(dels...)
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	for b.Loop() {
		if _, got, err := logfile.DecodeDeletes(p, 0); err != nil || len(got) != len(dels) {
			b.Fatal(err)
		}
	}
}

func TestDecodePositions(t *testing.T) {
	var run []uint64
	for x := uint64(10); x < 5000; x++ {
		run = append(run, x)
	}
	// A bitmap container of the even numbers, written by hand.
	big := binary.LittleEndian.AppendUint64(nil, 1)
	for _, x := range []uint32{7, 12346, 1, 0x7fff<<16 | 3, 16} {
		big = binary.LittleEndian.AppendUint32(big, x)
	}
	var even []uint64
	for x := uint64(0); x < 1<<16; x += 2 {
		even = append(even, 7<<32|3<<16|x)
	}
	big = append(big, bytes.Repeat([]byte{0x55}, 8192)...)
	for _, c := range []struct {
		in   string
		want []uint64
	}{
		{"AgAAAAAAAAAAAAAAOjAAAAEAAAAAAAIAEAAAAAAAAQAFAAEAAAA6MAAAAQAAAAAAAAAQAAAAAQA=", []uint64{0, 1, 5, 1<<32 + 1}},
		{"AQAAAAAAAAAAAAAAOzABAAEAAH0TAQAAAAEACgB9E3AR", append(slices.Clone(run), 70000)},
		{"AQAAAAAAAAAAAAAAOjAAAAEAAAAAAAIAEAAAAAAAAQACAA==", []uint64{0, 1, 2}},
		{"AQAAAAAAAAAAAAAAOjAAAAEAAAAAAAIAEAAAAAAAAQADAA==", []uint64{0, 1, 3}},
		{"AAAAAAAAAAA=", nil},
		{base64.StdEncoding.EncodeToString(big), even},
		{logfiletest.Positions(4, 9, 65535).Value, []uint64{4, 9, 65535}},
	} {
		got, err := logfile.DecodePositions(c.in)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %d positions, %v", c.in, len(got), err)
		}
		raw, _ := base64.StdEncoding.DecodeString(c.in)
		for n := range raw {
			if _, err := logfile.DecodePositions(base64.StdEncoding.EncodeToString(raw[:n])); err == nil {
				t.Fatalf("%s: %d of %d bytes decode", c.in, n, len(raw))
			}
		}
	}
	// Many full runs in few bytes are refused before they fill the memory.
	bomb := binary.LittleEndian.AppendUint64(nil, 1)
	bomb = binary.LittleEndian.AppendUint32(bomb, 0)
	bomb = binary.LittleEndian.AppendUint32(bomb, 12347|0xffff<<16)
	bomb = append(bomb, bytes.Repeat([]byte{0xff}, 8192)...)
	for i := range 1 << 16 {
		bomb = binary.LittleEndian.AppendUint16(bomb, uint16(i))
		bomb = binary.LittleEndian.AppendUint16(bomb, 0xffff)
	}
	bomb = append(bomb, make([]byte, 4<<16)...)
	for range 1 << 16 {
		bomb = append(bomb, 1, 0, 0, 0, 0xff, 0xff)
	}
	if got, err := logfile.DecodePositions(base64.StdEncoding.EncodeToString(bomb)); err == nil || got != nil || !strings.Contains(err.Error(), "at most 16777216 positions") {
		t.Errorf("%d positions, %v", len(got), err)
	}
	if _, err := logfile.DecodePositions("not base64!"); !corrupt.Is(err) {
		t.Error(err)
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		q := bytes.Clone(big[:40+rnd.IntN(len(big)-40)])
		for range 3 {
			q[rnd.IntN(40)] = byte(rnd.Uint32())
		}
		if _, err := logfile.DecodePositions(base64.StdEncoding.EncodeToString(q)); err != nil && !corrupt.Is(err) {
			t.Fatal(err)
		}
	}
}

func FuzzDecodePositions(f *testing.F) {
	for _, s := range []string{"AgAAAAAAAAAAAAAAOjAAAAEAAAAAAAIAEAAAAAAAAQAFAAEAAAA6MAAAAQAAAAAAAAAQAAAAAQA=", "AQAAAAAAAAAAAAAAOzABAAEAAH0TAQAAAAEACgB9E3AR"} {
		b, _ := base64.StdEncoding.DecodeString(s)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		got, err := logfile.DecodePositions(base64.StdEncoding.EncodeToString(p))
		if err != nil {
			if !corrupt.Is(err) {
				t.Fatal(err)
			}
			return
		}
		if !slices.IsSorted(got) || len(got) > logfile.MaxPositions {
			t.Fatal("positions out of order or too many")
		}
	})
}

func BenchmarkDecodePositions(b *testing.B) {
	s := "AQAAAAAAAAAAAAAAOzABAAEAAH0TAQAAAAEACgB9E3AR"
	b.ReportAllocs()
	for b.Loop() {
		if p, err := logfile.DecodePositions(s); err != nil || len(p) != 4991 {
			b.Fatal(err)
		}
	}
}
