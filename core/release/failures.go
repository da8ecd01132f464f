package release

import (
	"fmt"
	"strings"
)

// FailureID names a kind of read that some releases fail on, or refuse, although the files can be read.
type FailureID string

// The kinds.
const (
	// DefaultDelete: a delete block without an ordering value and a later record of the key.
	DefaultDelete FailureID = "default-delete"
	// HFileBlocks: data blocks in HFile format in a table that is no metadata table.
	HFileBlocks FailureID = "hfile-blocks"
	// NotALog: a log file that does not begin with the magic.
	NotALog FailureID = "no-log-magic"
	// FilesGone: an incremental query whose commits name files that are gone.
	FilesGone FailureID = "files-gone"
	// OldLogsGone: an incremental query of a table below version 8 whose log files were cleaned.
	OldLogsGone FailureID = "old-logs-gone"
	// PartialIncremental: an incremental query over blocks of partial updates.
	PartialIncremental FailureID = "partial-incremental"
	// DeletedInsert: an incremental query in which AWSDmsAvroPayload meets a delete.
	DeletedInsert FailureID = "aws-dms-delete"
	// OldDeltaCommits: change data of log files in a table below version 8.
	OldDeltaCommits FailureID = "cdc-old-deltacommit"
	// TravelCleaned: a time travel to before what the cleaner keeps.
	TravelCleaned FailureID = "travel-cleaned"
)

// Failure is a row of the table of what releases fail on.
type Failure struct {
	ID FailureID
	// From is the first release that fails and Until the first that does not any more, "" for none that is
	// known. SeenIn lists those in which it was seen to happen.
	From, Until string
	SeenIn      []string
	// Reads says which reads fail, Why what happens there, and Here what is answered instead: each a
	// sentence.
	Reads, Why, Here string
}

var failures = []Failure{
	{DefaultDelete, "1.0.0", "1.1.0", []string{"1.0.2"}, "Merging a delete without an ordering value with a later record of the key whose ordering value is no int.",
		"The delete counts as Integer 0, and comparing it with the ordering value of the other class ends in a ClassCastException, in queries and in compaction.",
		"The versions are merged as later releases do."},
	{HFileBlocks, "1.0.0", "", []string{"1.2.0"}, "Merging data blocks in HFile format, which these releases write but do not read back in a data table.",
		"The file group reader has no reader for them: \"Exception when reading log file\".",
		"The blocks are read."},
	{NotALog, "0.0.0", "", []string{"0.15.0", "1.2.0"}, "Merging a log file that does not begin with the magic #HUDI#.",
		"Opening the log reader ends in a CorruptedLogFileException, and no row of the table is shown.",
		"The read fails here, too, with the file and the offset: nothing tells what the file held. File groups without it can be read one at a time."},
	{FilesGone, "0.0.0", "", []string{"0.15.0"}, "Incremental queries whose commits name files that are gone (removed by the cleaner, or merged by hand).",
		"The file is opened by the name in the commit metadata: FileNotFoundException, told as \"Exception when reading log file\" or as a path that does not exist, unless hoodie.datasource.read.incr.fallback.fulltablescan.enable is true.",
		"Where a clean removed them, the read is refused with the oldest start that works; else the latest slices of the table are scanned and their rows filtered by commit time."},
	{OldLogsGone, "1.0.0", "", []string{"1.2.0"}, "Incremental queries of merge-on-read tables below version 8 when log files of the range were cleaned after a compaction.",
		"Log files find their slice by the modification times of instant files, which copying a table loses: cleaned ones are looked for, and the query ends with \"Exception when reading log file\".",
		"Log files find their slice by their names; the compacted base files have what the cleaned ones held."},
	{PartialIncremental, "1.0.0", "", []string{"1.2.0"}, "Incremental queries over blocks of partial updates.",
		"Rows that have the updated columns only are taken for whole ones: ArrayIndexOutOfBoundsException, or the end of the JVM.",
		"Columns that a partial update does not have are taken from older versions as far as these are in the range, and are null else."},
	{DeletedInsert, "0.0.0", "1.0.0", []string{"0.15.0"}, "Incremental queries of merge-on-read tables whose payload class is AWSDmsAvroPayload, when the newest change of a record is a delete (Op = D).",
		"The payload is asked for the record's value as an insert and has none: NoSuchElementException, \"No value present in Option\".",
		"The deleted record is left out."},
	{OldDeltaCommits, "1.0.0", "", []string{"1.2.0"}, "Change data of log files in merge-on-read tables below version 8.",
		"The deltacommit is read as Avro to find the slice before the log file, and it is JSON: \"Fail to parse the base file and log files from DeltaCommit\".",
		"The deltacommit is read as it is stored."},
	{TravelCleaned, "0.14.0", "", []string{"0.15.0", "1.0.2", "1.1.1", "1.2.0"}, "Time travel to before the earliest commit that the cleaner retained, or to or behind a pending commit.",
		"It is refused whether or not files are gone: \"Cleaner cleaned up the timestamp of interest\" or \"must be earlier than the first incomplete commit\".",
		"The rows are shown as long as no file of that time was removed."},
}

// Failures are the rows of the table.
func Failures() []Failure { return append([]Failure(nil), failures...) }

// FailureOf is one row; ok is false when there is none of that name.
func FailureOf(id FailureID) (f Failure, ok bool) {
	for _, f := range failures {
		if f.ID == id {
			return f, true
		}
	}
	return Failure{}, false
}

// Releases says which releases fail, for people: "Hudi 1.0", "Hudi 0.14 and later", "Every release of Hudi".
func (f Failure) Releases() string {
	short := func(v string) string { return strings.TrimSuffix(v, ".0") }
	switch {
	case f.From == "0.0.0" && f.Until == "":
		return "Every release of Hudi"
	case f.From == "0.0.0":
		return "Hudi before " + short(f.Until)
	case f.Until == "":
		return fmt.Sprintf("Hudi %s and later", short(f.From))
	}
	return fmt.Sprintf("Hudi %s up to, not including, %s", short(f.From), short(f.Until))
}

// Fails reports whether the release that was asked for fails on a kind of read; false where none was.
func (r Rules) Fails(id FailureID) bool {
	f, ok := FailureOf(id)
	if !ok || !r.Asked() {
		return false
	}
	v, err := parse(r.Version)
	if err != nil {
		return false
	}
	from, _ := parse(f.From)
	if less(v, from) {
		return false
	}
	if f.Until == "" {
		return true
	}
	until, _ := parse(f.Until)
	return less(v, until)
}

// Asked reports whether a release was asked for, and not the right answer.
func (r Rules) Asked() bool {
	switch strings.ToLower(r.Version) {
	case "", "default", "fixed":
		return false
	}
	return true
}
