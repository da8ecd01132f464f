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
	// UnavailableStays is true where PostgresDebeziumAvroPayload does not replace the marker of a value
	// that the source did not send by the earlier value.
	UnavailableStays bool
	// SchemaOfWrites is true where the table schema is never taken from compactions, log compactions,
	// clusterings and index builds.
	SchemaOfWrites bool
	// HistoryByOption is true where the schema history of tables below version 8 counts only with the
	// option hoodie.schema.on.read.enable: without it columns are matched by name, and old values of
	// renamed ones are null.
	HistoryByOption bool
	Queries
	Skipping Skipping
	// Note tells where this release is known to be wrong.
	Note string
}

// Queries are the differences in which instants and files a query chooses.
type Queries struct {
	// ByRequestedTime is true where incremental reads and the start and end of Flink's reads are
	// requested times for every table. Later releases take completion times, Spark's from table
	// version 8 on.
	ByRequestedTime bool
	// StartIncluded is true where an incremental read by completion time includes its start.
	StartIncluded bool
	// HollowCommits is true where a pending commit with later completed ones is refused by an
	// incremental read by requested time.
	HollowCommits bool
	// TimeTravelChecks is true where travelling to a cleaned or not yet settled time is refused.
	TimeTravelChecks bool
	// FullScan is the default of hoodie.datasource.read.incr.fallback.fulltablescan.enable for reads by
	// completion time.
	FullScan bool
	// FullScanSkipsLogs is true where such a full scan leaves log files out (seen in 1.0.2).
	FullScanSkipsLogs bool
	// StoredPartitions is true where an incremental read of a copy-on-write table takes partition
	// columns from the files as they are: dropped ones are null.
	StoredPartitions bool
	// EncodedPartitions is true where an incremental read shows URL-encoded partition values as they
	// are in the path.
	EncodedPartitions bool
	// FlinkSkips is the default of Flink's read.streaming.skip_compaction and skip_clustering.
	FlinkSkips bool
	// FlinkFromChangelog is the default of Flink's read.cdc.from.changelog: reads of a merge-on-read table that
	// logs changes then leave its deltacommits out.
	FlinkFromChangelog bool
	// FlinkEndOnce is true where read.end-commit bounds only the first round of Flink's streaming read.
	FlinkEndOnce bool
	// FlinkLosesRows is true where Flink's reads pass rows over in silence: an archived range in
	// streaming, and slices that begin at a skipped compaction in a read from the earliest instant.
	FlinkLosesRows bool
}

// Skipping are the differences in what a read leaves out by the indexes of the metadata table (spec
// queries.md section 8).
type Skipping struct {
	// Metadata and Default are the defaults of hoodie.metadata.enable and hoodie.enable.data.skipping.
	Metadata, Default bool
	// ColumnStats, RecordIndex, PartitionStats, Secondary and Expression tell which indexes a release
	// reads, Buckets whether it finds the buckets of keys.
	ColumnStats, RecordIndex, PartitionStats, Secondary, Expression, Buckets bool
	// NotNullLoses is true where IS NOT NULL passes over every file that has a null.
	NotNullLoses bool
	// PrefixLoses is true where LIKE 'p%' passes over files all of whose values are longer than p, and
	// c <=> NULL passes over every indexed file.
	PrefixLoses bool
	// KeysAreUnique is true where a key's place in the record index is taken for its only one.
	KeysAreUnique bool
	// AbsentIsNull is true where a column that the index has no row of, of a file that it knows, counts
	// as null.
	AbsentIsNull bool
	// ByFile is true where a slice is left out when none of its files alone meets the condition; a row
	// may be merged from several.
	ByFile bool
}

// skipping is the table of differences in data skipping, like table.
var skipping = []struct {
	from  [3]int
	rules Skipping
}{
	{[3]int{0, 0, 0}, Skipping{}},
	{[3]int{0, 11, 0}, Skipping{Metadata: true, ColumnStats: true, NotNullLoses: true, PrefixLoses: true, AbsentIsNull: true, ByFile: true}},
	{[3]int{0, 12, 0}, Skipping{Metadata: true, ColumnStats: true, PrefixLoses: true, AbsentIsNull: true, ByFile: true}},
	{[3]int{0, 14, 0}, Skipping{Metadata: true, ColumnStats: true, RecordIndex: true, PrefixLoses: true, KeysAreUnique: true, AbsentIsNull: true, ByFile: true}},
	{[3]int{1, 0, 0}, Skipping{Metadata: true, Default: true, ColumnStats: true, RecordIndex: true, PartitionStats: true, Secondary: true, Expression: true, Buckets: true,
		PrefixLoses: true, KeysAreUnique: true, AbsentIsNull: true, ByFile: true}},
}

// Default is the release whose rules are the right answer.
const Default = "1.2.0"

const stops = "0.13 to 0.15 stop reading a slice at the first block that is later than the query instant, a rollback block included: newer committed rows behind it are not seen."

const copied = "1.x finds the slice of a log file of a table below version 8 by file modification times: after such a table was copied, logs that a compaction has dealt with are merged again."

// table is the table of differences: the rules of a release are those of the last row at or before it.
var table = []struct {
	from  [3]int
	rules Rules
}{
	{[3]int{0, 0, 0}, Rules{Scanner: ScanTop, Payloads: true, SkipMergesLogs: true, PathIsPartitionValue: true,
		Queries: Queries{ByRequestedTime: true, StoredPartitions: true, FlinkEndOnce: true, FlinkLosesRows: true},
		Note:    "Up to 0.12 a rollback block only reaches the blocks directly before it."}},
	{[3]int{0, 13, 0}, Rules{Scanner: ScanV1, SchemaOfWrites: true, Payloads: true, SkipMergesLogs: true, PathIsPartitionValue: true,
		Queries: Queries{ByRequestedTime: true, StoredPartitions: true, FlinkEndOnce: true, FlinkLosesRows: true}, Note: stops}},
	{[3]int{0, 14, 0}, Rules{Scanner: ScanV1, SchemaOfWrites: true, Payloads: true, SkipMergesLogs: true, PathIsPartitionValue: true,
		Queries: Queries{ByRequestedTime: true, StoredPartitions: true, HollowCommits: true, TimeTravelChecks: true, FlinkEndOnce: true, FlinkLosesRows: true}, Note: stops}},
	{[3]int{1, 0, 0}, Rules{Scanner: Scan1x, LogsByModTime: true, HistoryByOption: true, UnavailableStays: true,
		Queries: Queries{StartIncluded: true, FullScanSkipsLogs: true, EncodedPartitions: true, HollowCommits: true, TimeTravelChecks: true, FullScan: true, FlinkSkips: true, FlinkLosesRows: true, FlinkFromChangelog: true}, Note: copied}},
	{[3]int{1, 1, 0}, Rules{Scanner: Scan1x, LogsByModTime: true, HistoryByOption: true, UnavailableStays: true,
		Queries: Queries{EncodedPartitions: true, HollowCommits: true, TimeTravelChecks: true, FullScan: true, FlinkSkips: true, FlinkLosesRows: true, FlinkFromChangelog: true}, Note: copied}},
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
	for _, row := range skipping {
		if !less(v, row.from) {
			r.Skipping = row.rules
		}
	}
	if right {
		// Nothing may be left out that may have a matching row.
		k := &r.Skipping
		k.PrefixLoses, k.KeysAreUnique, k.AbsentIsNull, k.ByFile = false, false, false, false
		// The right answer is that of the newest release without what is known to be wrong in it.
		r.LogsByModTime, r.UnavailableStays, r.HistoryByOption, r.Note = false, false, false, ""
		r.FlinkLosesRows, r.EncodedPartitions, r.FlinkFromChangelog = false, false, false
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
