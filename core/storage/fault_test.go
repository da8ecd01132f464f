package storage

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

// A lost connection must not look like the end of a file.
func TestFaultIsNoEndOfFile(t *testing.T) {
	for _, err := range []error{io.EOF, fmt.Errorf("get: %w", io.EOF)} {
		f := &Fault{Op: "read", Path: "p", Kind: Unreachable, Err: err}
		if errors.Is(f, io.EOF) || errors.Is(fmt.Errorf("rows: %w", f), io.EOF) {
			t.Errorf("%v is io.EOF", f)
		}
	}
	cause := errors.New("cause")
	f := &Fault{Kind: NotFound, Err: cause}
	if !errors.Is(f, cause) || !IsNotExist(f) || IsFailure(f) || !IsFailure(&Fault{Kind: Truncated}) || IsFailure(cause) {
		t.Error("the chain of a fault")
	}
}
