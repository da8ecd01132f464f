package api

import "encoding/json"

// The requests about how rows came to be.
const (
	OpHistory Op = "history" // HistoryRequest → History
	OpScan    Op = "scan"    // ScanRequest → Scan
)

// HistoryRequest asks for every version of the records with a key.
type HistoryRequest struct {
	Table
	// Key is the record key, or with Prefix the beginning of one.
	Key    string `json:"key"`
	Prefix bool   `json:"prefix,omitempty"`
	// Partitions and FileID narrow the search; empty = the whole table.
	Partitions []string `json:"partitions,omitempty"`
	FileID     string   `json:"file_id,omitempty"`
	// AsOf ends the history at an instant (requested time); "" is the latest.
	AsOf string `json:"as_of,omitempty"`
	// Limit bounds the number of keys of a prefix; 0 means 20.
	Limit int `json:"limit,omitempty"`
	// Everywhere looks into every file group, also where the metadata table's record index names one.
	Everywhere bool `json:"everywhere,omitempty"`
	// Options are the engines' own, as in RowsRequest: a merge fallback, as.of.instant.
	Options map[string]string `json:"options,omitempty"`
}

// History is the answer: keys in order, each with the places it was found.
type History struct {
	Columns []Column     `json:"columns"`
	Keys    []KeyHistory `json:"keys"`
	// More is set when a prefix matched more keys than the limit.
	More     bool      `json:"more,omitempty"`
	AsOf     string    `json:"as_of"`
	Rules    string    `json:"rules"`
	Merge    Merge     `json:"merge"`
	Findings []Finding `json:"findings,omitempty"`
	// Searched says what the answer rests on.
	Searched Searched `json:"searched"`
}

// Searched counts what was looked into for a history.
type Searched struct {
	// FileGroups were searched, of AllFileGroups that the request allows.
	FileGroups    int `json:"file_groups"`
	AllFileGroups int `json:"all_file_groups"`
	// Files are base and log files. BaseSkipped base files were passed over by their footer (key range
	// and bloom filter), of BaseScanned the key column was read.
	Files       int `json:"files"`
	BaseSkipped int `json:"base_skipped"`
	BaseScanned int `json:"base_scanned"`
	// RecordIndex is set when the metadata table's record index named the file group.
	RecordIndex bool `json:"record_index,omitempty"`
}

// KeyHistory is one record key. More than one copy means that the key lives in several file groups.
type KeyHistory struct {
	Key    string       `json:"key"`
	Copies []KeyInGroup `json:"copies"`
}

// KeyInGroup is the history of a key in one file group: slices oldest first.
type KeyInGroup struct {
	Partition string `json:"partition"`
	FileID    string `json:"file_id"`
	// ReplacedBy is set when a replacecommit replaced the group.
	ReplacedBy string         `json:"replaced_by,omitempty"`
	Slices     []SliceHistory `json:"slices"`
	// Visible tells whether a snapshot shows a row of this group for the key, and Row is that row
	// (values as in Rows).
	Visible bool              `json:"visible"`
	Row     []json.RawMessage `json:"row,omitempty"`
}

// SliceHistory is what one file slice holds of a key: the merge ladder, in merge order.
type SliceHistory struct {
	BaseInstant string `json:"base_instant"`
	// Latest marks the slice that a snapshot reads; older ones show what was before a compaction.
	Latest   bool      `json:"latest"`
	Versions []Version `json:"versions"`
	// Result is what reading this slice gives: "row", "deleted" or "absent".
	Result string            `json:"result"`
	Row    []json.RawMessage `json:"row,omitempty"`
}

// Version is one version of a record.
type Version struct {
	// Kind is "base" (a row of the base file), "data" (a record of a data block), "delete" (an
	// entry of a delete block) or "delete flag" (a row that flags itself as deleted).
	Kind string `json:"kind"`
	// File is the path; Block the block's index in it (-1 for base files), Record the position
	// in the block or the row number in the base file.
	File   string `json:"file"`
	Block  int    `json:"block"`
	Record int64  `json:"record"`
	// Start and End are the bytes of the record in the file, where its format tells (else both 0).
	Start int64 `json:"start,omitempty"`
	End   int64 `json:"end,omitempty"`
	// Instant is the commit that wrote the version (requested time), Completed its completion time.
	Instant   string `json:"instant"`
	Completed string `json:"completed,omitempty"`
	// Ordering is the ordering value for people, OrderingType its type; "" when there is none.
	Ordering     string `json:"ordering,omitempty"`
	OrderingType string `json:"ordering_type,omitempty"`
	// Row holds the values (as in Rows), null for delete entries. Fields of a partial update that
	// it does not carry are listed in Missing.
	Row     []json.RawMessage `json:"row,omitempty"`
	Missing []string          `json:"missing,omitempty"`
	// Changed names the columns whose value differs from the version before (meta columns left out).
	Changed []string `json:"changed,omitempty"`
	// Outcome is "won", "lost", "merged" (values of both were combined), "superseded" (it had won,
	// until a later version came) or "not read" (its block does not count).
	Outcome string `json:"outcome"`
	// Why is the rule in words.
	Why string `json:"why"`
}

// ScanRequest asks for the scan of one file slice's logs, step by step.
type ScanRequest struct {
	Table
	Partition   string `json:"partition"`
	FileID      string `json:"file_id"`
	BaseInstant string `json:"base_instant,omitempty"`
	// File scans one log file by itself.
	File string `json:"file,omitempty"`
	AsOf string `json:"as_of,omitempty"`
	// Records asks for the merge steps of records too; Limit bounds the steps (0 means 2000).
	Records bool `json:"records,omitempty"`
	Limit   int  `json:"limit,omitempty"`
}

// Scan is a recorded scan: what to draw (Blocks) and what happened (Steps). Where Steps are not all, Blocks are those
// of each file up to the last one that a step names.
type Scan struct {
	Blocks Blocks     `json:"blocks"`
	Steps  []ScanStep `json:"steps"`
	// Truncated is set when there were more steps than the limit.
	Truncated bool `json:"truncated,omitempty"`
	// RecordsFault says why the steps of records are not there, or end early.
	RecordsFault *Fault `json:"records_fault,omitempty"`
}

// BlockRef names a block of Scan.Blocks: index of the file and of the block in it.
type BlockRef struct {
	File  int `json:"file"`
	Block int `json:"block"`
}

// ScanStep is one step of a scan.
type ScanStep struct {
	// Kind is "read", "instant switch", "push", "skip", "rollback", "stop", "pop" or "record".
	Kind  string   `json:"kind"`
	Block BlockRef `json:"block"`
	// Instant is the scanner's current instant after the step.
	Instant string `json:"instant,omitempty"`
	// Queue is the block queue after the step, the oldest first.
	Queue []BlockRef `json:"queue"`
	// Removed are the blocks that a rollback dropped.
	Removed []BlockRef `json:"removed,omitempty"`
	// Counters after the step.
	Counters Counters `json:"counters"`
	Why      string   `json:"why"`
	// Record is set for "record" steps.
	Record *RecordStep `json:"record,omitempty"`
}

// RecordStep is one merge of a record into the map of merged records.
type RecordStep struct {
	Key string `json:"key"`
	// Stage is "log" (a log record meets the map) or "base" (the map's record meets the base row).
	Stage string `json:"stage"`
	// Old and New are the versions, Winner is "new", "old", "combined" or "removed".
	Old    *Version `json:"old,omitempty"`
	New    *Version `json:"new,omitempty"`
	Winner string   `json:"winner"`
	// Keys is the number of keys in the map after the step.
	Keys int64 `json:"keys"`
}
