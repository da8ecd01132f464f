package upload

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"hudiscope/core/corrupt"
	"hudiscope/core/storage"
)

// stream is an archive in memory.
type stream struct{ r *bytes.Reader }

func (s *stream) Fill(_ context.Context, p []byte) error {
	_, err := io.ReadFull(s.r, p)
	return err
}

func (s *stream) Skip(_ context.Context, n int64) error {
	_, err := s.r.Seek(n, io.SeekCurrent)
	return err
}

func archive(t testing.TB, format tar.Format, files map[string]string, change func(*tar.Header)) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for p, c := range files {
		h := &tar.Header{Name: p, Mode: 0o644, Size: int64(len(c)), Typeflag: tar.TypeReg, ModTime: time.Unix(1772900000, 0), Format: format}
		if strings.HasSuffix(p, "/") {
			h.Typeflag = tar.TypeDir
		}
		if change != nil {
			change(h)
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, c)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// read returns the files of an archive.
func read(b []byte) (map[string]string, []tarEntry, error) {
	in := &stream{bytes.NewReader(b)}
	out, all := map[string]string{}, []tarEntry(nil)
	err := readTar(context.Background(), in, "x.tar", func(e tarEntry) error {
		if e.size > int64(len(b)) {
			return io.ErrUnexpectedEOF
		}
		p := make([]byte, e.size)
		if err := in.Fill(context.Background(), p); err != nil {
			return err
		}
		if string(b[e.at:e.at+e.size]) != string(p) {
			return errors.New("at is not where the bytes are")
		}
		out[e.path] = string(p)
		all = append(all, e)
		return nil
	})
	return out, all, err
}

func TestTarFormats(t *testing.T) {
	long := strings.Repeat("deep/", 40) + "f-0_20260307162611195.parquet"
	files := map[string]string{"t/": "", "./t/.hoodie/hoodie.properties": "a=b\n", "t/empty": "", "t/" + strings.Repeat("x", 512): strings.Repeat("y", 512), "t/ü #%.parquet": strings.Repeat("z", 1500), "t/" + long: "deep"}
	for _, f := range []tar.Format{tar.FormatPAX, tar.FormatGNU} {
		got, all, err := read(archive(t, f, files, nil))
		if err != nil {
			t.Fatal(f, err)
		}
		if len(got) != len(files)-1 {
			t.Errorf("%v: %d files", f, len(got))
		}
		for p, c := range files {
			if p = strings.TrimPrefix(p, "./"); !strings.HasSuffix(p, "/") && got[p] != c {
				t.Errorf("%v: %q has %d bytes", f, p, len(got[p]))
			}
		}
		if !all[0].modified.Equal(time.Unix(1772900000, 0)) {
			t.Errorf("modified %v", all[0].modified)
		}
	}
	short := map[string]string{"t/a": "1", strings.Repeat("p/", 60) + "b": "2"}
	got, _, err := read(archive(t, tar.FormatUSTAR, short, nil))
	if err != nil || len(got) != 2 || got[strings.Repeat("p/", 60)+"b"] != "2" {
		t.Errorf("ustar: %v, %v", got, err)
	}
}

func TestTarRefusals(t *testing.T) {
	one := map[string]string{"t/a": ""}
	for _, kind := range []byte{tar.TypeSymlink, tar.TypeLink} {
		_, _, err := read(archive(t, tar.FormatPAX, one, func(h *tar.Header) { h.Typeflag, h.Linkname = kind, "b" }))
		var f *storage.Fault
		if !errors.As(err, &f) || f.Kind != storage.Refused || f.Try == "" {
			t.Errorf("kind %q: %v", kind, err)
		}
	}
	_, _, err := read(archive(t, tar.FormatPAX, one, func(h *tar.Header) { h.PAXRecords = map[string]string{"VENDOR.x": "y"} }))
	if err != nil {
		t.Error("an unknown record:", err)
	}
	whole := archive(t, tar.FormatPAX, map[string]string{"t/a": strings.Repeat("x", 700), "t/b": "y"}, nil)
	for _, n := range []int{0, 100, 512, 600, 1024, 1536, len(whole) - 1024, len(whole) - 512} {
		if _, _, err := read(whole[:n]); !corrupt.Is(err) && err != io.EOF && err != io.ErrUnexpectedEOF {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	for _, at := range []int{5, 130, 150, 156} {
		b := bytes.Clone(whole)
		b[at] ^= 0x15
		if _, _, err := read(b); !corrupt.Is(err) {
			t.Errorf("damaged at %d: %v", at, err)
		}
	}
}

func FuzzTar(f *testing.F) {
	f.Add(archive(f, tar.FormatPAX, map[string]string{"t/" + strings.Repeat("ü", 90): strings.Repeat("x", 700)}, nil))
	f.Add(archive(f, tar.FormatGNU, map[string]string{strings.Repeat("n", 300): "y", "d/": ""}, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, _, err := read(b)
		if err != nil {
			return
		}
		// What is accepted, the standard library reads alike, if it accepts it.
		r := tar.NewReader(bytes.NewReader(b))
		for {
			h, err := r.Next()
			if err != nil {
				return
			}
			if h.Typeflag != tar.TypeReg {
				continue
			}
			c, err := io.ReadAll(r)
			if err != nil {
				return
			}
			name := h.Name
			for strings.HasPrefix(name, "./") {
				name = name[2:]
			}
			if want, ok := got[strings.TrimSuffix(name, "/")]; ok && len(got) == 1 && want != string(c) {
				t.Errorf("%q: %d bytes, %d by the library", name, len(want), len(c))
			}
		}
	})
}
