package hfile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"sort"
	"strings"
	"testing"

	"hudiscope/core/bloom"
	"hudiscope/core/corrupt"
	"hudiscope/core/hfile"
	"hudiscope/core/hfile/hfiletest"
	"hudiscope/core/logfile"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
)

// object is bytes in memory that count what is read of them.
type object struct {
	p     []byte
	reads []storage.Range
}

func (o *object) Size(context.Context) (int64, error) { return int64(len(o.p)), nil }

func (o *object) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	o.reads = append(o.reads, storage.Range{Off: off, Len: int64(len(p))})
	return bytes.NewReader(o.p).ReadAt(p, off)
}

func (o *object) Close() error { return nil }

func (o *object) bytes() (n int64) {
	for _, r := range o.reads {
		n += r.Len
	}
	return n
}

// realFiles returns the HFiles of the tables under testdata: base files, bootstrap indexes, and
// the contents of log blocks.
func realFiles(t testing.TB) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	ctx := context.Background()
	for _, name := range tabletest.Names(t, "") {
		f := tabletest.Open(t, name)
		for _, p := range f.Paths() {
			b := f.Bytes(p)
			if strings.HasSuffix(p, ".hfile") && len(b) > 0 {
				out[name+"/"+p] = b
			}
			if _, ok := logfile.ParseName(path.Base(p)); !ok {
				continue
			}
			obj, err := f.Open(ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			for b, err := range logfile.Open(obj, p).Blocks(ctx) {
				if err != nil {
					break // a log file without a magic, kept for other tests
				}
				if b.Type == logfile.HFileDataBlock && b.Damage == nil {
					out[fmt.Sprintf("%s/%s#%d", name, p, b.Index)] = f.Bytes(p)[b.ContentOffset : b.ContentOffset+b.ContentSize]
				}
			}
		}
	}
	return out
}

func scan(ctx context.Context, f *hfile.File) ([]hfile.Cell, error) {
	var out []hfile.Cell
	for c, err := range f.Scan(ctx) {
		if err != nil {
			return out, err
		}
		out = append(out, c)
	}
	return out, nil
}

// TestRealFiles reads every HFile of the tables in every way and holds the ways against each other.
func TestRealFiles(t *testing.T) {
	ctx := context.Background()
	files := realFiles(t)
	if len(files) < 60 {
		t.Errorf("only %d HFiles", len(files))
	}
	cells, checked, filters := 0, 0, 0
	for name, p := range files {
		f, err := hfile.Open(ctx, &object{p: p}, name, 0)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		all, err := scan(ctx, f)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		cells += len(all)
		keys := [][]byte{}
		for _, c := range all {
			keys = append(keys, c.Key)
			got, ok, err := f.Get(ctx, c.Key)
			if err != nil || !ok || !bytes.Equal(got.Value, c.Value) {
				t.Errorf("%s: Get %q: %v %v", name, c.Key, ok, err)
			}
			if _, ok, err := f.Get(ctx, append(bytes.Clone(c.Key), 0)); ok || err != nil {
				t.Errorf("%s: Get of an absent key: %v %v", name, ok, err)
			}
		}
		n := 0
		for c, err := range f.GetMany(ctx, keys) {
			if err != nil || !bytes.Equal(c.Value, all[n].Value) {
				t.Fatalf("%s: GetMany: %v", name, err)
			}
			n++
		}
		if n != len(all) {
			t.Errorf("%s: GetMany gives %d of %d", name, n, len(all))
		}
		end := int64(0)
		for b, err := range f.Blocks(ctx) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if b.Start != end {
				t.Errorf("%s: block at %d, the one before ends at %d", name, b.Start, end)
			}
			end = b.End
			if b.Checksum != hfile.NoChecksum {
				checked++
			}
		}
		if end != int64(len(p))-hfile.TrailerSize {
			t.Errorf("%s: blocks end at %d of %d", name, end, len(p))
		}
		filter, ok, err := f.Meta(ctx, hfile.MetaBloomFilter)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !ok {
			continue
		}
		code, _ := f.Info(hfile.InfoBloomType)
		b, err := bloom.Decode(string(code), filter)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		filters++
		for _, c := range all {
			if !b.MayContain(c.Key) {
				t.Errorf("%s: the bloom filter says no to %q", name, c.Key)
			}
		}
		for i := range 50 {
			if k := fmt.Sprintf("no such key %d", i); b.MayContain([]byte(k)) {
				t.Errorf("%s: the bloom filter says maybe to %q", name, k)
			}
		}
	}
	t.Logf("%d HFiles, %d cells, %d blocks with checksums, %d bloom filters", len(files), cells, checked, filters)
	if checked == 0 || filters == 0 {
		t.Error("no block with checksums, or no bloom filter")
	}
}

// many returns n sorted cells.
func many(n int) []hfiletest.Cell {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	var out []hfiletest.Cell
	for len(out) < n {
		k := fmt.Sprintf("key-%x", r.Uint32N(uint32(20*n)))
		if !seen[k] {
			seen[k] = true
			out = append(out, hfiletest.Cell{Key: []byte(k), Value: bytes.Repeat([]byte(k), int(r.UintN(6)))})
		}
	}
	sort.Slice(out, func(i, j int) bool { return bytes.Compare(out[i].Key, out[j].Key) < 0 })
	return out
}

// TestWritten reads files of every shape that the reader knows against what was written.
func TestWritten(t *testing.T) {
	ctx := context.Background()
	cells := many(500)
	for _, o := range []hfiletest.Options{
		{}, {BlockCells: 7}, {BlockCells: 7, Levels: 2}, {BlockCells: 3, Levels: 3, Fan: 5, Checksum: hfile.CRC32C}, {BlockCells: 1, Levels: 4, Fan: 6},
		{Codec: hfile.GZ, BlockCells: 20, Checksum: hfile.CRC32}, {Codec: hfile.Zstd, BlockCells: 20, Levels: 2}, {Codec: hfile.Snappy, BlockCells: 20, NoLastKey: true},
	} {
		name := fmt.Sprintf("%s, %s, %d levels", o.Codec, o.Checksum, o.Levels)
		f, err := hfile.Open(ctx, &object{p: hfiletest.Write(cells, o)}, name, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		all, err := scan(ctx, f)
		if err != nil || len(all) != len(cells) {
			t.Fatalf("%s: %d cells: %v", name, len(all), err)
		}
		for i, c := range cells {
			if !bytes.Equal(all[i].Key, c.Key) || !bytes.Equal(all[i].Value, c.Value) {
				t.Fatalf("%s: cell %d is %q", name, i, all[i].Key)
			}
			if got, ok, err := f.Get(ctx, c.Key); !ok || err != nil || !bytes.Equal(got.Value, c.Value) {
				t.Fatalf("%s: Get %q: %v %v", name, c.Key, ok, err)
			}
			for _, absent := range [][]byte{append(bytes.Clone(c.Key), 0), c.Key[:len(c.Key)-1]} {
				want := sort.Search(len(cells), func(i int) bool { return bytes.Compare(cells[i].Key, absent) >= 0 })
				_, ok, err := f.Get(ctx, absent)
				if err != nil || ok != (want < len(cells) && bytes.Equal(cells[want].Key, absent)) {
					t.Fatalf("%s: Get %q: %v %v", name, absent, ok, err)
				}
			}
		}
		for _, prefix := range []string{"", "key-", "key-1", "key-12", "key-fff", "key-2a", "a", "zzz", "key-g"} {
			var want, got []string
			for _, c := range cells {
				if strings.HasPrefix(string(c.Key), prefix) {
					want = append(want, string(c.Key))
				}
			}
			for c, err := range f.Prefix(ctx, []byte(prefix)) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(c.Key))
			}
			if fmt.Sprint(want) != fmt.Sprint(got) {
				t.Errorf("%s: prefix %q: want %d keys, got %d", name, prefix, len(want), len(got))
			}
			want, got = nil, nil
			for _, c := range cells {
				if string(c.Key) >= prefix {
					want = append(want, string(c.Key))
				}
			}
			for c, err := range f.ScanFrom(ctx, []byte(prefix)) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(c.Key))
			}
			if fmt.Sprint(want) != fmt.Sprint(got) {
				t.Errorf("%s: from %q: want %d keys, got %d", name, prefix, len(want), len(got))
			}
		}
	}
}

// TestLookupReads counts the bytes that opening and a look-up ask for.
func TestLookupReads(t *testing.T) {
	ctx := context.Background()
	cells := many(20000)
	for _, levels := range []int{1, 2, 3} {
		o := &object{p: hfiletest.Write(cells, hfiletest.Options{Codec: hfile.GZ, BlockCells: 100, Levels: levels, Fan: 15})}
		f, err := hfile.Open(ctx, o, "f", 0)
		if err != nil {
			t.Fatal(err)
		}
		open := int64(len(o.p)) - f.Trailer().LoadOnOpen
		if len(o.reads) != 2 || o.bytes() != open {
			t.Errorf("opening made %d reads of %d bytes, want 2 of %d", len(o.reads), o.bytes(), open)
		}
		o.reads = nil
		if _, ok, err := f.Get(ctx, cells[7777].Key); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if len(o.reads) != levels {
			t.Errorf("%d levels: a look-up made %d reads: %v", levels, len(o.reads), o.reads)
		}
		if most := int64(levels * 3000); o.bytes() > most || o.bytes() > int64(len(o.p))/20 {
			t.Errorf("%d levels: a look-up asked for %d of %d bytes", levels, o.bytes(), len(o.p))
		}
		// Keys of one block read it once.
		o.reads = nil
		var keys [][]byte
		for _, c := range cells[7700:7800] {
			keys = append(keys, c.Key)
		}
		n := 0
		for _, err := range f.GetMany(ctx, keys) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != 100 || len(o.reads) > 2*levels {
			t.Errorf("%d levels: 100 keys, %d found, made %d reads", levels, n, len(o.reads))
		}
		// A key behind the last reads nothing.
		o.reads = nil
		if _, ok, err := f.Get(ctx, []byte("zzz")); ok || err != nil || len(o.reads) != 0 {
			t.Errorf("a key behind the last: %v %v, %d reads", ok, err, len(o.reads))
		}
	}
}

// small returns real HFiles of few bytes, one of each kind of writer and place.
func small(t testing.TB) map[string][]byte {
	out := map[string][]byte{}
	names := map[string]string{}
	for name, p := range realFiles(t) {
		f, err := hfile.Open(context.Background(), &object{p: p}, name, 0)
		if err != nil || f.Trailer().Codec != hfile.GZ || f.Len() == 0 {
			continue
		}
		kind := fmt.Sprint(f.Trailer().Minor, strings.Contains(name, ".log."), len(f.MetaNames()))
		if old := names[kind]; old == "" || len(p) < len(out[old]) || len(p) == len(out[old]) && name < old {
			delete(out, old)
			names[kind], out[name] = name, p
		}
	}
	return out
}

func read(ctx context.Context, p []byte) ([]hfile.Cell, error) {
	f, err := hfile.Open(ctx, &object{p: p}, "f.hfile", 100)
	if err != nil {
		return nil, err
	}
	for range f.Blocks(ctx) {
	}
	for _, n := range f.MetaNames() {
		f.Meta(ctx, n)
	}
	return scan(ctx, f)
}

// known reports whether an error is one that says where the damage is, or that reading ended early.
func known(err error) bool {
	var ce *corrupt.Error
	var u *hfile.Unsupported
	if errors.As(err, &ce) {
		return ce.File != "" && ce.Offset >= 0 && ce.Part != ""
	}
	return errors.As(err, &u) || errors.Is(err, io.ErrUnexpectedEOF)
}

// TestCut cuts real HFiles at every byte.
func TestCut(t *testing.T) {
	files := small(t)
	if len(files) < 3 {
		t.Errorf("only %d files", len(files))
	}
	for name, p := range files {
		for n := range len(p) {
			if _, err := read(context.Background(), p[:n:n]); err == nil || !known(err) {
				t.Fatalf("%s cut at %d of %d: %v", name, n, len(p), err)
			}
		}
	}
}

// TestFlips changes every byte of real HFiles: the cells are then the same, or there is an error.
func TestFlips(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(3, 4))
	for name, p := range small(t) {
		want, err := read(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		tries := 0
		for i := range p {
			// Most of the trailer is padding.
			n := 1
			if pad := len(p) - hfile.TrailerSize + 150; i > pad && i < len(p)-4 && i%29 != 0 {
				n = 0
			}
			for range n {
				tries++
				q := bytes.Clone(p)
				q[i] ^= byte(1 + r.UintN(255))
				got, err := read(ctx, q)
				if err != nil {
					if !known(err) {
						t.Fatalf("%s, byte %d: %v", name, i, err)
					}
					wrong++
					continue
				}
				if fmt.Sprint(want) != fmt.Sprint(got) {
					t.Fatalf("%s, byte %d: other cells without an error", name, i)
				}
				// Look-ups must not miss what a scan sees.
				g, err := hfile.Open(ctx, &object{p: q}, name, 0)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range want {
					if _, ok, err := g.Get(ctx, c.Key); !ok && err == nil {
						t.Fatalf("%s, byte %d: key %q is silently absent", name, i, c.Key)
					}
				}
			}
		}
		t.Logf("%s: %d bytes, %d of %d changes are errors", name, len(p), wrong, tries)
	}
}

// TestClaims holds sizes that a file only claims against memory: none is allocated for them.
func TestClaims(t *testing.T) {
	ctx := context.Background()
	p := hfiletest.Write(many(10), hfiletest.Options{Codec: hfile.GZ})
	copy(p[12:], "\x0f\xff\xff\xff") // the unpacked size of the data block
	res := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := read(ctx, p); !corrupt.Is(err) {
				b.Fatalf("want an error, got %v", err)
			}
		}
	})
	if res.AllocedBytesPerOp() > 1<<20 {
		t.Errorf("%d bytes allocated for a file of %d", res.AllocedBytesPerOp(), len(p))
	}
}

// TestRefused names what is whole but can't be read.
func TestRefused(t *testing.T) {
	ctx := context.Background()
	p := hfiletest.Write(many(10), hfiletest.Options{})
	// The codec is the last field of the trailer's message.
	i := bytes.LastIndex(p, []byte{12 << 3, byte(hfile.None)})
	for codec, want := range map[hfile.Codec]string{hfile.LZ4: "LZ4", hfile.LZO: "LZO", hfile.BZip2: "BZIP2", 77: "codec 77"} {
		q := bytes.Clone(p)
		q[i+1] = byte(codec)
		_, err := read(ctx, q)
		var u *hfile.Unsupported
		if !errors.As(err, &u) || !strings.Contains(u.What, want) || u.Offset < 100 {
			t.Errorf("codec %s: %v", codec, err)
		}
	}
	q := bytes.Clone(p)
	copy(q, "DATABLKE")
	var u *hfile.Unsupported
	if _, err := read(ctx, q); !errors.As(err, &u) || !strings.Contains(u.What, "DATABLKE") {
		t.Errorf("an encoded data block: %v", err)
	}
	if _, err := read(ctx, nil); !corrupt.Is(err) {
		t.Errorf("an empty file: %v", err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	f, err := hfile.Open(ctx, &object{p: p}, "f", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := scan(done, f); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled scan: %v", err)
	}
}

// TestEmpty reads a file without cells.
func TestEmpty(t *testing.T) {
	if got, err := read(context.Background(), hfiletest.Write(nil, hfiletest.Options{})); err != nil || len(got) != 0 {
		t.Errorf("%d cells, %v", len(got), err)
	}
}

func FuzzFile(f *testing.F) {
	for _, p := range small(f) {
		f.Add(p)
	}
	for _, o := range []hfiletest.Options{{BlockCells: 3, Levels: 3, Fan: 2}, {Codec: hfile.Snappy}, {Codec: hfile.Zstd}, {Checksum: hfile.CRC32C, Meta: map[string][]byte{"m": {1}}}} {
		f.Add(hfiletest.Write(many(20), o))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		ctx := context.Background()
		cells, err := read(ctx, p)
		if err != nil {
			if !known(err) {
				t.Fatal(err)
			}
			return
		}
		h, err := hfile.Open(ctx, &object{p: p}, "f", 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cells {
			if _, _, err := h.Get(ctx, c.Key); err != nil && !known(err) {
				t.Fatal(err)
			}
		}
	})
}

func BenchmarkScan(b *testing.B) {
	p := hfiletest.Write(many(20000), hfiletest.Options{Codec: hfile.GZ, BlockCells: 500})
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		if _, err := read(context.Background(), p); err != nil {
			b.Fatal(err)
		}
	}
}
