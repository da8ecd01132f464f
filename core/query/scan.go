package query

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ScanSettings are Spark's settings for packing files into tasks (spec queries.md section 9), in bytes.
type ScanSettings struct {
	MaxPartitionBytes, OpenCost int64
	// Parallelism divides the bytes; it is spark.sql.files.minPartitionNum where that is set.
	Parallelism int64
	// ScaleUp is spark.sql.limit.scaleUpFactor, Initial spark.sql.limit.initialNumPartitions.
	ScaleUp, Initial int
}

// DefaultScan are Spark's defaults, with the parallelism of a machine of eight cores.
var DefaultScan = ScanSettings{MaxPartitionBytes: 134217728, OpenCost: 4194304, Parallelism: 8, ScaleUp: 4, Initial: 1}

// ParseScan reads Spark's settings by their names.
func ParseScan(options map[string]string) (ScanSettings, error) {
	s := DefaultScan
	minimum := int64(0)
	for k, v := range options {
		n, err := parseNumber(v, strings.HasPrefix(k, "spark.sql.files.") && strings.HasSuffix(strings.ToLower(k), "bytes"))
		if err != nil {
			return s, fmt.Errorf("%s=%s: %w", k, v, err)
		}
		switch k {
		case "spark.sql.files.maxPartitionBytes":
			s.MaxPartitionBytes = n
		case "spark.sql.files.openCostInBytes":
			s.OpenCost = n
		case "spark.default.parallelism", "spark.sql.leafNodeDefaultParallelism":
			s.Parallelism = n
		case "spark.sql.files.minPartitionNum":
			minimum = n
		case "spark.sql.limit.scaleUpFactor":
			s.ScaleUp = int(min(n, 1<<20))
		case "spark.sql.limit.initialNumPartitions":
			s.Initial = int(min(n, 1<<20))
		default:
			return s, fmt.Errorf("%s is no setting of the scan", k)
		}
	}
	if minimum > 0 {
		s.Parallelism = minimum
	}
	return s, nil
}

// MaxPieces bounds the pieces that files are cut into.
const MaxPieces = 100_000

// sizeUnits are Spark's suffixes of sizes, each a power of 1024, and the IEC names of the same.
var sizeUnits = map[string]uint{"": 0, "b": 0, "k": 10, "kb": 10, "kib": 10, "m": 20, "mb": 20, "mib": 20, "g": 30, "gb": 30, "gib": 30, "t": 40, "tb": 40, "tib": 40, "p": 50, "pb": 50, "pib": 50}

// parseNumber reads a number above zero; a size may have a unit.
func parseNumber(v string, size bool) (int64, error) {
	text := strings.ToLower(strings.TrimSpace(v))
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	unit := text[len(digits):]
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	shift, known := sizeUnits[unit]
	switch {
	case size && (err != nil || !known || n <= 0):
		return 0, errors.New("want a size above zero, in bytes or with a unit of Spark's such as 64k, 128m, 1g (1m is 1024·1024 bytes)")
	case !size && (err != nil || unit != "" || n <= 0):
		return 0, errors.New("want a number above zero")
	case n > 1<<50>>shift:
		return 0, errors.New("want at most 2^50")
	}
	return n << shift, nil
}

// Pieces is how many pieces Pack cuts files into.
func (s ScanSettings) Pieces(files []ScanFile) int64 {
	size := s.MaxSplitBytes(files)
	n := int64(0)
	for _, f := range files {
		if f.Splittable && f.Length > size {
			n += (f.Length-1)/size + 1
		} else {
			n++
		}
	}
	return n
}

// ScanFile is a file to read. A file that is not Splittable is read by one task.
type ScanFile struct {
	Path       string
	Length     int64
	Splittable bool
	// Part is the caller's number for it.
	Part int
}

// Piece is a part of a file.
type Piece struct {
	ScanFile
	Start, Bytes int64
}

// Task is what one Spark task reads.
type Task []Piece

// MaxSplitBytes is the size of a split.
func (s ScanSettings) MaxSplitBytes(files []ScanFile) int64 {
	var total int64
	for _, f := range files {
		total += f.Length + s.OpenCost
	}
	return min(s.MaxPartitionBytes, max(s.OpenCost, total/s.Parallelism))
}

// Pack splits files and packs the pieces, the largest first, into tasks: a task is closed when the
// next piece does not fit (next fit decreasing).
func (s ScanSettings) Pack(files []ScanFile) []Task {
	size := s.MaxSplitBytes(files)
	var pieces []Piece
	for _, f := range files {
		if !f.Splittable || f.Length <= size {
			pieces = append(pieces, Piece{f, 0, f.Length})
			continue
		}
		for at := int64(0); at < f.Length; at += size {
			pieces = append(pieces, Piece{f, at, min(size, f.Length-at)})
		}
	}
	slices.SortStableFunc(pieces, func(a, b Piece) int {
		switch {
		case a.Bytes > b.Bytes:
			return -1
		case a.Bytes < b.Bytes:
			return 1
		}
		return 0
	})
	var out []Task
	var open Task
	var used int64
	for _, p := range pieces {
		if used+p.Bytes > size {
			if len(open) > 0 {
				out = append(out, open)
			}
			open, used = nil, 0
		}
		used += p.Bytes + s.OpenCost
		open = append(open, p)
	}
	if len(open) > 0 {
		out = append(out, open)
	}
	return out
}

// TakeRound is one run of tasks of a limit, from First on.
type TakeRound struct{ First, Tasks int }

// Take runs a limit of n rows over tasks as executeTake does; rows tells how many rows a task has, at
// most n of which are fetched.
func (s ScanSettings) Take(n, tasks int, rows func(task int) int) []TakeRound {
	var out []TakeRound
	scanned, got := 0, 0
	factor := max(s.ScaleUp, 2)
	for got < n && scanned < tasks {
		try := max(s.Initial, 1)
		if scanned > 0 {
			if got == 0 {
				try = mul(scanned, factor)
			} else {
				left := n - got
				// ceil(1.5 · left · scanned / got)
				try = int((3*int64(left)*int64(scanned) + 2*int64(got) - 1) / (2 * int64(got)))
				try = min(try, mul(scanned, factor))
			}
		}
		end := min(scanned+try, tasks)
		out = append(out, TakeRound{scanned, end - scanned})
		for i := scanned; i < end; i++ {
			got += min(rows(i), n)
		}
		scanned = end
	}
	return out
}

func mul(a, b int) int { return int(min(int64(a)*int64(b), 1<<31-1)) }
