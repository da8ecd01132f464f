//go:build js && wasm

// Command engine is the explorer service in a Web Worker, without the parts that only some tables need.
package main

import (
	"hudiscope/core/explorer"
	"hudiscope/wasm/worker"
)

func main() { worker.Run(explorer.Options{}) }
