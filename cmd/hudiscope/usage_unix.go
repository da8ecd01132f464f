//go:build unix

package main

import (
	"runtime"
	"syscall"
)

// processUsage is the processor time that this program has taken, in seconds, and the most memory that was resident, in bytes.
func processUsage() (cpu float64, peak int64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	peak = int64(u.Maxrss)
	switch runtime.GOOS {
	case "darwin", "ios":
	default:
		peak <<= 10 // told in KiB
	}
	return seconds(u.Utime) + seconds(u.Stime), peak
}
