//go:build !embedsite

// Package site holds the built page inside the binary; this build has none (see the
// tag embedsite).
package site

import "io/fs"

// FS returns the built page, or nil when this binary has none.
func FS() fs.FS { return nil }
