//go:build js && wasm

// Command engineorc is the explorer service in a Web Worker, with the part "orc": the reader of ORC
// base files. The page starts it for tables that have such files.
package main

import (
	"context"

	"hudiscope/core/explorer"
	"hudiscope/core/groupreader"
	"hudiscope/core/orcfile"
	"hudiscope/core/storage"
	"hudiscope/wasm/worker"
)

func main() {
	worker.Run(explorer.Options{ORC: func(ctx context.Context, obj storage.Object, path string) (groupreader.BaseFile, error) {
		return orcfile.Open(ctx, obj, path)
	}})
}
