package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// What is no regular file is written to, never replaced: a device that is gone is gone for the whole machine.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	want := func(name, content string) {
		t.Helper()
		if b, err := os.ReadFile(at(name)); err != nil || string(b) != content {
			t.Errorf("%s: %q (%v), want %q", name, b, err, content)
		}
	}
	if err := writeFile(at("new"), text("one")); err != nil {
		t.Fatal(err)
	}
	want("new", "one")
	// A failure leaves what was there, and nothing beside it.
	failed := errors.New("failed")
	if err := writeFile(at("new"), func(w io.Writer) error { io.WriteString(w, "half"); return failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
	want("new", "one")
	if err := os.Symlink("new", at("link")); err != nil {
		t.Skip("no links here: ", err)
	}
	if err := writeFile(at("link"), text("two")); err != nil {
		t.Fatal(err)
	}
	want("new", "two")
	if info, err := os.Lstat(at("link")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
	if err := os.Symlink("nowhere", at("dangling")); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(at("dangling"), text("three")); err == nil {
		t.Error("a link to nothing was written")
	}
	pipe(t, at("pipe"), func(got func() string) {
		if err := writeFile(at("pipe"), text("four")); err != nil {
			t.Fatal(err)
		}
		if s := got(); s != "four" {
			t.Errorf("through the pipe came %q", s)
		}
	})
	left, err := filepath.Glob(at(".hudiscope-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A disk that is full halfway through an answer shows in sticky, however the answer is printed.
func TestSticky(t *testing.T) {
	full := errors.New("no space left")
	s := &sticky{to: writerFunc(func([]byte) (int, error) { return 0, full })}
	io.WriteString(s, "lost")
	if s.err != full {
		t.Errorf("%v, want %v", s.err, full)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
