package zipfs

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"hudiscope/core/corrupt"
	"hudiscope/core/storage"
	"hudiscope/core/storage/storagetest"
)

type item struct {
	name   string
	method uint16
	data   []byte
}

func build(t testing.TB, items ...item) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, it := range items {
		f, err := w.CreateHeader(&zip.FileHeader{Name: it.name, Method: it.method, Modified: time.Unix(1772900000, 0)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(it.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func pack(t testing.TB, prefix string, method uint16, files map[string][]byte) []byte {
	var items []item
	for p, b := range files {
		items = append(items, item{prefix + p, method, b})
	}
	return build(t, items...)
}

func open(t *testing.T, b []byte, o Options) *Source {
	t.Helper()
	s, err := FromBytes(b, "x.zip", o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func refused(t *testing.T, err error) *storage.Fault {
	t.Helper()
	var f *storage.Fault
	if !errors.As(err, &f) || f.Kind != storage.Refused {
		t.Fatalf("got %v, want Refused", err)
	}
	return f
}

func TestConformance(t *testing.T) {
	files := storagetest.Files()
	for _, prefix := range []string{"", "table/", "some/where/deep/", "./"} {
		for name, method := range map[string]uint16{"stored": zip.Store, "deflated": zip.Deflate} {
			t.Run(prefix+name, func(t *testing.T) {
				b := pack(t, prefix, method, files)
				storagetest.Run(t, open(t, b, Options{}), files)
				storagetest.Run(t, open(t, b, Options{MaxEntry: 300_000, Budget: 1}), files)
			})
		}
	}
}

// Every real table opens and holds what another reader finds in it.
func TestRealTables(t *testing.T) {
	names, _ := filepath.Glob("../../testdata/tables/*.zip")
	if len(names) < 10 {
		t.Fatalf("%d tables", len(names))
	}
	files := 0
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := FromBytes(b, name, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := s.List(t.Context(), ".hoodie"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			if strings.HasSuffix(f.Name, "/") {
				continue
			}
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			want, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			var in storage.Source = s
			p, ok := strings.CutPrefix(f.Name, s.Base()+"/")
			if !ok { // a folder beside the table
				var folder string
				folder, p, _ = strings.Cut(f.Name, "/")
				if in, err = s.Sibling(t.Context(), folder); err != nil {
					t.Fatal(err)
				}
			}
			got, err := storage.ReadAll(t.Context(), in, p, 0)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %s: %d bytes, want %d, %v", name, f.Name, len(got), len(want), err)
			}
			files++
		}
	}
	t.Logf("%d tables, %d files", len(names), files)
}

func TestBase(t *testing.T) {
	hoodie := item{".hoodie/hoodie.properties", zip.Deflate, []byte("x")}
	at := func(dir string) item { return item{dir + "/" + hoodie.name, zip.Deflate, hoodie.data} }
	for _, c := range []struct {
		items []item
		base  string
	}{
		{[]item{hoodie, {"p/x", 0, nil}}, ""},
		{[]item{at("t"), at("t/.hoodie/metadata"), {"README", 0, nil}}, "t"},
		{[]item{at("a/b/c"), {"__MACOSX/a/b/c/.hoodie/hoodie.properties", 0, nil}}, "a/b/c"},
		{[]item{{"t/", 0, nil}, {"t/.hoodie/", 0, nil}}, "t"},
		{[]item{{"a.log", 0, nil}}, ""},
	} {
		s := open(t, build(t, c.items...), Options{})
		if s.Base() != c.base {
			t.Errorf("base %q, want %q", s.Base(), c.base)
		}
	}
	two := build(t, at("a"), at("b"))
	_, err := FromBytes(two, "x.zip", Options{})
	if f := refused(t, err); !strings.Contains(f.Err.Error(), "a, b") {
		t.Error(f)
	}
	if s := open(t, two, Options{Base: "b"}); s.Base() != "b" || s.Location() != "x.zip!b" {
		t.Error(s.Location())
	}
}

func TestHostileNames(t *testing.T) {
	for _, n := range []string{"../x", "a/../../x", "/etc/passwd", "a//b", "..", "a/..", "a\x00b"} {
		_, err := FromBytes(build(t, item{"ok", 0, nil}, item{n, 0, []byte("x")}), "x.zip", Options{})
		refused(t, err)
	}
	_, err := FromBytes(build(t, item{"a", 0, nil}, item{"a/b", 0, nil}), "x.zip", Options{})
	refused(t, err)
	_, err = FromBytes(build(t, item{strings.Repeat("a/", 200) + "b", 0, nil}), "x.zip", Options{})
	refused(t, err)
}

func TestBombs(t *testing.T) {
	big := build(t, item{"bomb", zip.Deflate, make([]byte, 10<<20)})
	s := open(t, big, Options{MaxEntry: 1 << 20})
	_, err := s.Open(t.Context(), "bomb")
	if f := refused(t, err); f.Try == "" {
		t.Error("no advice")
	}
	// A false size, in both headers: more than deflate can give, less than there is.
	cd := bytes.LastIndex(big, []byte("PK\x01\x02"))
	for _, claim := range []uint32{0x0fffffff, 100, 10<<20 - 1, 10<<20 + 1} {
		b := bytes.Clone(big)
		binary.LittleEndian.PutUint32(b[cd+24:], claim)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := storage.ReadAll(t.Context(), open(t, b, Options{}), "bomb", 0)
		runtime.ReadMemStats(&after)
		if !corrupt.Is(err) {
			t.Errorf("claim %d: %v, want corrupt", claim, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; claim == 0x0fffffff && used > 1<<20 {
			t.Errorf("a false claim made it allocate %d bytes", used)
		}
	}
	_, err = FromBytes(big, "x.zip", Options{MaxDirectory: 10})
	refused(t, err)
	// Inflated entries stay within the budget.
	s = open(t, build(t, item{"a", zip.Deflate, make([]byte, 600)}, item{"b", zip.Deflate, make([]byte, 600)}), Options{MaxEntry: 1000, Budget: 1000})
	for range 3 {
		for _, n := range []string{"a", "b"} {
			if b, err := storage.ReadAll(t.Context(), s, n, 0); err != nil || len(b) != 600 {
				t.Fatal(err)
			}
			if s.mem.Used() > 1000 {
				t.Errorf("%d bytes held", s.mem.Used())
			}
		}
	}
}

func TestUnreadableEntries(t *testing.T) {
	b := build(t, item{"a", zip.Deflate, []byte("hello hello hello")})
	cd := bytes.LastIndex(b, []byte("PK\x01\x02"))
	enc := bytes.Clone(b)
	enc[cd+8] |= 1
	_, err := open(t, enc, Options{}).Open(t.Context(), "a")
	refused(t, err)
	other := bytes.Clone(b)
	other[cd+10] = 93
	_, err = open(t, other, Options{}).Open(t.Context(), "a")
	if f := refused(t, err); !strings.Contains(f.Err.Error(), "93") {
		t.Error(f)
	}
	for _, at := range []int{cd + 16, 43} { // the checksum, the data
		bad := bytes.Clone(b)
		bad[at] ^= 0xff
		_, err = storage.ReadAll(t.Context(), open(t, bad, Options{}), "a", 0)
		var c *corrupt.Error
		if !errors.As(err, &c) || c.File != "x.zip" || c.Offset < 0 {
			t.Errorf("flipped byte %d: %v", at, err)
		}
	}
}

// Cut or flipped anywhere, an archive gives an error or the right bytes.
func TestDamage(t *testing.T) {
	want := map[string][]byte{"t/.hoodie/hoodie.properties": []byte("a=b\nc=d\n"), "t/x": bytes.Repeat([]byte("xyz"), 50), "t/y": []byte("stored")}
	b := build(t, item{"t/.hoodie/hoodie.properties", zip.Deflate, want["t/.hoodie/hoodie.properties"]},
		item{"t/x", zip.Deflate, want["t/x"]}, item{"t/y", zip.Store, want["t/y"]})
	for n := range b {
		if s, err := FromBytes(b[:n], "x.zip", Options{}); err == nil {
			t.Errorf("cut at %d of %d: %d files", n, len(b), len(s.files))
		} else if !corrupt.Is(err) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	for n := range b {
		for _, x := range []byte{1, 0x80, 0xff} {
			bad := bytes.Clone(b)
			bad[n] ^= x
			s, err := FromBytes(bad, "x.zip", Options{})
			if err != nil {
				continue
			}
			for p, e := range s.files {
				got, err := storage.ReadAll(t.Context(), s, p, 0)
				if w, ok := want["t/"+p]; ok && err == nil && e.method == deflated && !bytes.Equal(got, w) && s.base == "t" {
					t.Errorf("byte %d ^ %x: %s has wrong bytes", n, x, p)
				}
			}
		}
	}
}

func TestPrefixCommentAndZip64(t *testing.T) {
	files := map[string][]byte{".hoodie/hoodie.properties": []byte("x=y"), "p/a": bytes.Repeat([]byte("a"), 1000)}
	b := pack(t, "", zip.Deflate, files)
	check := func(what string, b []byte) {
		t.Helper()
		s, err := FromBytes(b, "x.zip", Options{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		for p, w := range files {
			if got, err := storage.ReadAll(t.Context(), s, p, 0); err != nil || !bytes.Equal(got, w) {
				t.Errorf("%s: %s: %v", what, p, err)
			}
		}
	}
	check("prefix", append([]byte("#!/bin/sh\nexit\n"), b...))
	comment := bytes.Clone(b)
	comment = append(comment, "a comment with PK\x05\x06 in it, which is no record at all"...)
	binary.LittleEndian.PutUint16(comment[len(b)-2:], uint16(len(comment)-len(b)))
	check("comment", comment)

	// The same archive with zip64 records at its end.
	eocd := b[len(b)-22:]
	le := binary.LittleEndian
	z := append([]byte(nil), b[:len(b)-22]...)
	at := uint64(len(z))
	rec := make([]byte, 56)
	copy(rec, "PK\x06\x06")
	le.PutUint64(rec[4:], 44)
	le.PutUint64(rec[24:], uint64(le.Uint16(eocd[8:])))
	le.PutUint64(rec[32:], uint64(le.Uint16(eocd[10:])))
	le.PutUint64(rec[40:], uint64(le.Uint32(eocd[12:])))
	le.PutUint64(rec[48:], uint64(le.Uint32(eocd[16:])))
	loc := make([]byte, 20)
	copy(loc, "PK\x06\x07")
	le.PutUint64(loc[8:], at)
	le.PutUint32(loc[16:], 1)
	end := bytes.Clone(eocd)
	for i := 4; i < 20; i++ {
		end[i] = 0xff
	}
	z = append(append(append(z, rec...), loc...), end...)
	check("zip64", z)
	check("zip64 with prefix", append([]byte("junk"), z...))
}

// A large archive read over a slow transport is not read whole.
func TestReadsLittle(t *testing.T) {
	b := build(t, item{"t/.hoodie/hoodie.properties", zip.Deflate, []byte("x")}, item{"t/big", zip.Store, make([]byte, 5<<20)})
	p := &storagetest.Probe{Src: storagetest.Mem{"z": b}}
	o, _ := p.Open(t.Context(), "z")
	s, err := New(t.Context(), o, "z", Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, _ := s.Open(t.Context(), "big")
	if err := storage.ReadFull(t.Context(), f, make([]byte, 1000), 3<<20); err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, r := range p.Reads() {
		sum += r.Len
	}
	if sum > 70_000 {
		t.Errorf("%d bytes read for 1000", sum)
	}
}

func TestCancelledInflateDoesNotSpoil(t *testing.T) {
	b := build(t, item{"a", zip.Deflate, bytes.Repeat([]byte("hello"), 10_000)})
	block := make(chan struct{})
	p := &storagetest.Probe{Src: storagetest.Mem{"z": b}}
	o, _ := p.Open(t.Context(), "z")
	s, err := New(t.Context(), o, "z", Options{})
	if err != nil {
		t.Fatal(err)
	}
	p.OnRead = func(ctx context.Context, _ string, _ []byte, _ int64) error {
		select {
		case <-block:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	before := runtime.NumGoroutine()
	f, _ := s.Open(t.Context(), "a")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := f.ReadAt(ctx, make([]byte, 5), 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	storagetest.Settled(t, before)
	close(block)
	if got, err := storage.ReadAll(t.Context(), s, "a", 0); err != nil || len(got) != 50_000 {
		t.Errorf("after a cancelled read: %d, %v", len(got), err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(build(f, item{"t/.hoodie/x", zip.Deflate, []byte("hello")}, item{"t/y", zip.Store, []byte("world")}))
	f.Fuzz(func(t *testing.T, b []byte) {
		refused := func(err error) {
			var fault *storage.Fault
			var ce *corrupt.Error
			if !(errors.As(err, &fault) && fault.Location != "") && !(errors.As(err, &ce) && ce.File != "" && ce.Part != "") {
				t.Fatalf("%#v: %v", err, err)
			}
		}
		s, err := FromBytes(b, "x.zip", Options{MaxEntry: 1 << 20})
		if err != nil {
			refused(err)
			return
		}
		if len(s.files) > len(b) {
			t.Fatalf("%d files in %d bytes", len(s.files), len(b))
		}
		for p := range s.files {
			if storage.CheckPath("open", p, "x.zip") != nil {
				t.Fatalf("%q leaves the archive", p)
			}
			text, err := storage.ReadAll(context.Background(), s, p, 0)
			if err != nil {
				refused(err)
			}
			if len(text) > 1<<20 && len(text) > len(b) {
				t.Fatalf("%d bytes of %d", len(text), len(b))
			}
		}
	})
}

// Two files of one name: the same bytes are one file, different ones are refused, for nothing tells which is meant.
func TestOneNameTwice(t *testing.T) {
	props := item{".hoodie/hoodie.properties", zip.Store, []byte("hoodie.table.name=a\n")}
	other := props
	other.data = []byte("hoodie.table.name=b\n")
	if _, err := FromBytes(build(t, props, props), "x.zip", Options{}); err != nil {
		t.Errorf("the same twice: %v", err)
	}
	_, err := FromBytes(build(t, props, other), "x.zip", Options{})
	var f *storage.Fault
	if !errors.As(err, &f) || f.Kind != storage.Refused || !strings.Contains(f.Error(), "hoodie.properties") || f.Try == "" {
		t.Errorf("two of one name: %v", err)
	}
}

// A stored entry that is read as a whole is held against its checksum.
func TestStoredChecksum(t *testing.T) {
	ctx := context.Background()
	data := []byte("hoodie.table.name=a\n")
	b := build(t, item{".hoodie/hoodie.properties", zip.Store, data})
	b[bytes.Index(b, data)+18] = 'b'
	o, err := open(t, b, Options{}).Open(ctx, ".hoodie/hoodie.properties")
	if err != nil {
		t.Fatal(err)
	}
	_, err = o.ReadAt(ctx, make([]byte, 100), 0)
	var c *corrupt.Error
	if !errors.As(err, &c) || c.File == "" || c.Offset <= 0 || !strings.Contains(c.Part, "hoodie.properties") {
		t.Errorf("a changed byte: %v", err)
	}
	// A part of it can't be checked.
	if _, err := o.ReadAt(ctx, make([]byte, 5), 0); err != nil {
		t.Error(err)
	}
}
