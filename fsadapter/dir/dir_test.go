//go:build unix

package dir

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"hudiscope/core/storage"
	"hudiscope/core/storage/storagetest"
)

func write(t *testing.T, root string, files map[string][]byte) {
	t.Helper()
	for p, b := range files {
		full := filepath.Join(root, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T, root string) *Source {
	t.Helper()
	s, err := New(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestConformance(t *testing.T) {
	root := t.TempDir()
	write(t, root, storagetest.Files())
	storagetest.Run(t, open(t, root), storagetest.Files())
}

func TestLinks(t *testing.T) {
	top := t.TempDir()
	root := filepath.Join(top, "table")
	write(t, top, map[string][]byte{"secret": []byte("s"), "out/x": []byte("x")})
	write(t, root, map[string][]byte{"a": []byte("in"), "d/b": []byte("b")})
	for name, to := range map[string]string{"in": "a", "indir": "d", "out1": "../secret", "outdir": "../out", "abs": filepath.Join(top, "secret"), "dangling": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, root)
	l, err := s.List(t.Context(), "")
	if err != nil || l.Complete || l.Note == "" {
		t.Errorf("%+v, %v: links that can't be followed must make it incomplete", l, err)
	}
	var names []string
	for _, e := range l.Entries {
		names = append(names, e.Name)
	}
	if !slices.Equal(names, []string{"a", "d", "in", "indir"}) {
		t.Errorf("listed %q", names)
	}
	for _, p := range []string{"in", "indir/b"} {
		if _, err := storage.ReadAll(t.Context(), s, p, 0); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
	for _, p := range []string{"out1", "outdir/x", "abs"} {
		_, err := storage.ReadAll(t.Context(), s, p, 0)
		var f *storage.Fault
		if !errors.As(err, &f) || f.Kind != storage.Refused {
			t.Errorf("%s: %v, want Refused", p, err)
		}
	}
	if _, err := s.List(t.Context(), "outdir"); err == nil {
		t.Error("listed a directory outside")
	}
}

func TestPipeDoesNotHang(t *testing.T) {
	root := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Skip(err)
	}
	s := open(t, root)
	if _, err := s.Open(t.Context(), "pipe"); err == nil {
		t.Error("a pipe was opened")
	}
	if _, err := s.List(t.Context(), "pipe"); err == nil {
		t.Error("a pipe was listed")
	}
	if l, err := s.List(t.Context(), ""); err != nil || len(l.Entries) != 0 {
		t.Error(l, err)
	}
}

func TestSizeIsThatOfOpening(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string][]byte{"f": []byte("0123456789")})
	s := open(t, root)
	o, err := s.Open(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	full := filepath.Join(root, "f")
	os.WriteFile(full, []byte("0123456789more"), 0o644)
	b := make([]byte, 20)
	if n, _ := o.ReadAt(t.Context(), b, 0); n != 10 {
		t.Errorf("%d bytes of a file that grew, want 10", n)
	}
	os.Truncate(full, 5)
	var f *storage.Fault
	if _, err := o.ReadAt(t.Context(), b, 0); !errors.As(err, &f) || f.Kind != storage.Changed {
		t.Errorf("a file that shrank: %v", err)
	}
}

func TestNewErrors(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string][]byte{"f": nil})
	for _, p := range []string{"absent", "f"} {
		if _, err := New(filepath.Join(root, p)); !storage.IsNotExist(err) {
			t.Errorf("%s: %v", p, err)
		}
	}
}
