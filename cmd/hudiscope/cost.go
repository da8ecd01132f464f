package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"hudiscope/core/api"
)

// cost is what a command took, for --cost.
type cost struct {
	Command string `json:"command"`
	// Requests were sent to the table's storage, where it is not this machine's; one round of them does not wait for another.
	Requests int64 `json:"requests"`
	Failed   int64 `json:"failed"`
	Rounds   int   `json:"rounds"`
	Bytes    int64 `json:"bytes"`
	// Storage is what was read of files and listings and what was found in memory, absent for a table on this machine: its
	// files are read without a cache of our own.
	Storage *api.NetworkMemory `json:"storage,omitempty"`
	Seconds float64            `json:"seconds"`
	// CPUSeconds and PeakBytes are those of this program, absent where the system does not tell.
	CPUSeconds float64 `json:"cpu_seconds,omitempty"`
	PeakBytes  int64   `json:"peak_bytes,omitempty"`
}

// costOf asks what was read for a command that began at.
func (e *environment) costOf(ctx context.Context, name, location string, at time.Time) (*cost, error) {
	n, err := e.svc.Network(ctx, api.NetworkRequest{Table: api.Table{Location: location, Hudi: e.flags.hudi}})
	if err != nil {
		return nil, err
	}
	c := &cost{Command: name, Requests: n.Total.Requests, Failed: n.Total.Failed, Bytes: n.Total.Bytes, Seconds: time.Since(at).Seconds()}
	for _, w := range n.Work {
		c.Rounds += w.Rounds
	}
	if n.Memory != (api.NetworkMemory{}) {
		c.Storage = &n.Memory
	}
	c.CPUSeconds, c.PeakBytes = processUsage()
	return c, nil
}

// told writes the cost where answers do not go, so that pipes stay as they are.
func (e *environment) told(c *cost) {
	if e.flags.json {
		if b, err := json.Marshal(c); err == nil {
			fmt.Fprintf(e.stderr, "%s\n", b)
		}
		return
	}
	var lines []string
	if c.Requests > 0 {
		lines = append(lines, fmt.Sprintf("requests   %d in %d rounds, %s; %d failed", c.Requests, c.Rounds, bytesText(c.Bytes), c.Failed))
	}
	if s := c.Storage; s != nil {
		lines = append(lines,
			fmt.Sprintf("reads      %d of files and %d of listings, %s", s.Reads-s.Lists, s.Lists, bytesText(s.Bytes)),
			fmt.Sprintf("in memory  %d found, %d came with another read, %s held", s.Hits, s.Joined, bytesText(s.Held)))
	}
	took := fmt.Sprintf("time       %.3f s", c.Seconds)
	if c.CPUSeconds > 0 {
		took += fmt.Sprintf(", %.3f s of processors", c.CPUSeconds)
	}
	lines = append(lines, took)
	if c.PeakBytes > 0 {
		lines = append(lines, "memory     "+bytesText(c.PeakBytes)+" at most")
	}
	fmt.Fprintln(e.stderr, strings.Join(lines, "\n"))
}

// bytesText writes a number of bytes with three digits.
func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
