package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeFile lets write fill the file out. A regular file appears under its name only when it is whole, and a link stays a
// link: what it leads to is written. What is no file, as a device or a pipe, is written to as it stands.
func writeFile(out string, write func(io.Writer) error) error {
	target, err := filepath.EvalSymlinks(out)
	switch {
	case err == nil:
		out = target
	case !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		// A link that leads nowhere yet: replacing it would not be what was asked for.
		if info, err := os.Lstat(out); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return &fs.PathError{Op: "write", Path: out, Err: errors.New("it is a link to what is not there")}
		}
	}
	if info, err := os.Stat(out); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(out, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		err = write(f)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(out), ".hudiscope-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	err = write(tmp)
	if err == nil {
		err = tmp.Chmod(0o644)
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), out)
}
