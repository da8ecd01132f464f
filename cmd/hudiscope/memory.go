package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"hudiscope/core/explorer"
	"hudiscope/core/groupreader"
	"hudiscope/core/orcfile"
	"hudiscope/core/spill"
	"hudiscope/core/storage"
)

// budgets are the service's options that the flags decide.
func (f *flags) budgets() explorer.Options {
	return explorer.Options{MergeBytes: int64(f.memory), Spill: spill.TempFile(""), ORC: openORC, Ahead: true}
}

// openORC is the part that reads ORC base files, which the command always has.
func openORC(ctx context.Context, obj storage.Object, path string) (groupreader.BaseFile, error) {
	return orcfile.Open(ctx, obj, path)
}

// byteSize is a number of bytes as a flag: "1048576", "64MiB", "500MB", "2g".
type byteSize int64

var byteUnits = []struct {
	suffix string
	bytes  float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9},
	{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30},
	{"b", 1}, {"", 1},
}

// String renders the size in the largest binary unit that divides it.
func (b byteSize) String() string {
	for _, u := range []string{"GiB", "MiB", "KiB"} {
		for _, x := range byteUnits {
			if x.suffix == strings.ToLower(u) && b > 0 && int64(b)%int64(x.bytes) == 0 {
				return strconv.FormatInt(int64(b)/int64(x.bytes), 10) + u
			}
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// Set parses a size.
func (b *byteSize) Set(s string) error {
	text := strings.ToLower(strings.TrimSpace(s))
	for _, u := range byteUnits {
		num, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(num), 64)
		if err != nil || !(x*u.bytes >= 1) || x*u.bytes > math.MaxInt64/2 {
			break
		}
		*b = byteSize(x * u.bytes)
		return nil
	}
	return fmt.Errorf("want a size such as 64MiB, got %q", s)
}
