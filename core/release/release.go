// Package release is the table of what Hudi releases do differently when they read: one row
// per difference, chosen by release, instead of conditions spread over the readers.
//
// Source: spec log-format.md sections 11 and 12, record-merging.md sections 2 and 6, and the
// gold answers of 0.15.0 tables read by 1.2.0.
package release

import (
	"fmt"
	"strconv"
	"strings"
)

// Scanner is the way a release walks the log blocks of a slice.
type Scanner uint8

// The scanners.
const (
	// ScanTop: a rollback reaches only the blocks on top of the queue (0.12 and earlier).
	ScanTop Scanner = iota
	// ScanV1: one pass; a rollback reaches every earlier block; the scan stops at the first block
	// later than the query instant, command blocks included (0.13 to 0.15).
	ScanV1
	// Scan1x: two passes, log compaction in place, later blocks skipped, commands always apply.
	Scan1x
)

// Rules are the read rules of one release.
type Rules struct {
	// Version as asked for; "" is the right answer, which follows the newest release.
	Version string
	Scanner Scanner
	// Payloads is true where versions are merged by payload classes (preCombine among log records)
	// and not by record mergers.
	Payloads bool
	// LogsByModTime is true where log files of tables below version 8 are attached to slices by the
	// modification times of instant files, which copying a table loses, and not by their names.
	LogsByModTime bool
	// SkipMergesLogs is true where a read with hoodie.datasource.merge.type=skip_merge still merges
	// log records among themselves; otherwise every log row is shown, and delete blocks are ignored.
	SkipMergesLogs bool
	// PathIsPartitionValue is true where the column behind a timestamp-based key generator shows the
	// partition path, and not the stored value as text.
	PathIsPartitionValue bool
	// DefaultDeleteFails is true where a delete without an ordering value (Integer 0) and a later
	// record whose ordering value is no int can't be read together.
	DefaultDeleteFails bool
	// HFileBlocksFail is true where data blocks in HFile format can't be read in a data table.
	HFileBlocksFail bool
	// UnavailableStays is true where PostgresDebeziumAvroPayload does not replace the marker of a value
	// that the source did not send by the earlier value.
	UnavailableStays bool
	// Note tells where this release is known to be wrong.
	Note string
}

// Default is the release whose rules are the right answer.
const Default = "1.2.0"

const copied = "1.x finds the slice of a log file of a table below version 8 by file modification times: after such a table was copied, logs that a compaction has dealt with are merged again."

// table is the table of differences: the rules of a release are those of the last row at or before it.
var table = []struct {
	from  [3]int
	rules Rules
}{
	{[3]int{0, 0, 0}, Rules{Scanner: ScanTop, Payloads: true, SkipMergesLogs: true, PathIsPartitionValue: true,
		Note: "Up to 0.12 a rollback block only reaches the blocks directly before it."}},
	{[3]int{0, 13, 0}, Rules{Scanner: ScanV1, Payloads: true, SkipMergesLogs: true, PathIsPartitionValue: true,
		Note: "0.13 to 0.15 stop reading a slice at the first block that is later than the query instant, a rollback block included: newer committed rows behind it are not seen."}},
	{[3]int{1, 0, 0}, Rules{Scanner: Scan1x, LogsByModTime: true, DefaultDeleteFails: true, HFileBlocksFail: true, UnavailableStays: true, Note: copied}},
	{[3]int{1, 1, 0}, Rules{Scanner: Scan1x, LogsByModTime: true, HFileBlocksFail: true, UnavailableStays: true, Note: copied}},
}

// For returns the rules of a release: "" or "default" (the right answer), "fixed" (the same:
// right also where the newest release is known to be wrong), or a version such as "0.15.0".
func For(version string) (Rules, error) {
	want, right := version, false
	switch strings.ToLower(version) {
	case "", "default", "fixed":
		want, right = Default, true
	}
	v, err := parse(want)
	if err != nil {
		return Rules{}, &UnknownError{version, err.Error()}
	}
	r := table[0].rules
	for _, row := range table {
		if !less(v, row.from) {
			r = row.rules
		}
	}
	if right {
		// The right answer is that of the newest release without what is known to be wrong in it.
		r.LogsByModTime, r.UnavailableStays, r.Note = false, false, ""
		r.HFileBlocksFail = r.HFileBlocksFail && version != "fixed"
	}
	r.Version = version
	return r, nil
}

// Name is the release for people.
func (r Rules) Name() string {
	if r.Version == "" || r.Version == "default" {
		return "Hudi " + Default
	}
	if r.Version == "fixed" {
		return "the right answer"
	}
	return "Hudi " + r.Version
}

// UnknownError says that a release is not one whose rules are known.
type UnknownError struct{ Version, Why string }

// Error renders the finding.
func (e *UnknownError) Error() string { return e.Why }

func parse(s string) (v [3]int, err error) {
	parts := strings.SplitN(strings.TrimPrefix(s, "v"), ".", 3)
	for i, p := range parts {
		p, _, _ = strings.Cut(p, "-")
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 {
			return v, fmt.Errorf("%q is no Hudi release; give one such as 0.15.0 or 1.2.0", s)
		}
		v[i] = n
	}
	if v[0] > 1 || v[0] == 1 && v[1] > 2 {
		return v, fmt.Errorf("release %s is newer than what is known here (%s)", s, Default)
	}
	return v, nil
}

func less(a, b [3]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}
