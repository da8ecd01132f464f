//go:build embedsite

// Package site holds the built page inside the binary, when it was built with the
// tag embedsite after "make dist" put the page's files into the folder dist beside
// this file (make build does both). Text and .wasm files are stored as .gz and .br only.
package site

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// FS returns the built page, or nil when this binary has none.
func FS() fs.FS {
	sub, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil
	}
	return sub
}
