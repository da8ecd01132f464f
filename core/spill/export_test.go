//go:build !js

package spill

import "os"

// OnFile is a store on a file that is open already.
func OnFile(f *os.File) Store {
	return &tempFile{f: f, unnamed: true, place: f.Name(), segments: map[uint32][]extent{}}
}
