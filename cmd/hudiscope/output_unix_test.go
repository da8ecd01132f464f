//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// pipe makes a named pipe; got gives what came through it.
func pipe(t *testing.T, name string, use func(got func() string)) {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string, 1)
	go func() {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		}
		read <- string(b)
	}()
	use(func() string { return <-read })
	if info, err := os.Lstat(name); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("the pipe was replaced: %v, %v", info, err)
	}
}
