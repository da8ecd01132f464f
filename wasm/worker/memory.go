//go:build js && wasm

package worker

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"hudiscope/fsadapter/idbspill"
)

const (
	// defaultMergeBytes is the memory for merging one file slice; what does not fit goes to IndexedDB.
	defaultMergeBytes = 64 << 20
	// gcHeadroom is how much garbage may lie about beside a large heap; gcPercent is how much, of
	// what is in use, beside a small one: memory is plentiful compared with the time that a
	// collection takes here.
	gcHeadroom = 128 << 20
	gcPercent  = 300
	// engineBytes is what the engine keeps to beside the memory for merging, as long as what is in use
	// leaves room for collecting: files and rows kept, a part of a block, and garbage.
	engineBytes = 152 << 20
	// addressBytes is the hard end, that of a 32-bit address space: near it collections become frequent.
	addressBytes = 3 << 30
	// opMemory is a request to the engine itself, not to its service, for tests: how much memory the
	// program has.
	opMemory = "engine.memory"
)

// mergeBytes is the parameter "memory" of the worker's address, in bytes.
func mergeBytes() int64 {
	if n := parameter("memory"); n > 0 {
		return n
	}
	return defaultMergeBytes
}

// sweep removes what an engine that ended early has left in the browser's storage.
func sweep() {
	if _, err := idbspill.Sweep(context.Background()); err != nil {
		fmt.Printf("the browser's storage can't be cleaned up: %v\n", err)
	}
}

// gcNow is the percentage in force.
var gcNow int

// gcMark is an object that a collection finds dead.
type gcMark struct{ _ [16]byte }

// tuneGC adjusts, after every collection, how much the heap may grow before the next one, and all memory before
// collections follow one another.
func tuneGC() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	// Of a collection that has just ended, HeapAlloc is close to what is in use.
	percent := gcPercent
	headroom := uint64(gcHeadroom / beside())
	if live := m.HeapAlloc; live > headroom*100/gcPercent {
		percent = max(40, int(headroom*100/live))
	}
	if percent != gcNow {
		gcNow = percent
		debug.SetGCPercent(percent)
	}
	limit := max(min(mergeBytes(), addressBytes)+engineBytes/beside(), int64(m.HeapAlloc)*3/2)
	debug.SetMemoryLimit(min(limit, addressBytes))
	runtime.SetFinalizer(&gcMark{}, func(*gcMark) { tuneGC() })
}

// memory is the answer to opMemory, in bytes.
type memory struct {
	// System is what the program has taken from the browser: it never gives any back, so it is the
	// most that was ever needed. Live is what is in use.
	System, Live, Merge int64
}

func memoryNow() memory {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return memory{int64(m.Sys), int64(m.HeapAlloc), mergeBytes()}
}
