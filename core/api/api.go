// Package api holds the requests and answers of the explorer service: plain,
// JSON-serialisable values that every transport (command line, browser engine,
// HTTP server, edge worker) carries unchanged. It imports nothing but the
// standard library, so that a user interface can use it without the core.
//
// Instants are Hudi's own digits as text and are never converted; byte counts
// and offsets are in bytes; paths are relative to the table's base path.
package api

import "encoding/json"

// Op names a request.
type Op string

// The requests. Each has a request type and an answer type of the same stem.
const (
	OpOverview   Op = "overview"   // OverviewRequest → Overview
	OpTimeline   Op = "timeline"   // TimelineRequest → Timeline
	OpInstant    Op = "instant"    // InstantRequest → InstantDetail
	OpCommits    Op = "commits"    // CommitsRequest → Commits
	OpPartitions Op = "partitions" // PartitionsRequest → Partitions
	OpFiles      Op = "files"      // FilesRequest → Files (file groups and slices of partitions)
	OpSlices     Op = "slices"     // SlicesRequest → Slices (the file-system view, as Hudi's own view answers)
	OpBlocks     Op = "blocks"     // BlocksRequest → Blocks (the log files of one slice, or one file)
	OpBlock      Op = "block"      // BlockRequest → BlockDetail
	OpBytes      Op = "bytes"      // BytesRequest → Bytes
	OpRows       Op = "rows"       // RowsRequest → Rows
	OpSchema     Op = "schema"     // SchemaRequest → SchemaAnswer
	OpConfig     Op = "config"     // ConfigRequest → ConfigAnswer
	OpClose      Op = "close"      // CloseRequest → CloseAnswer
)

// Table is the part of every request that says which table is meant and how to read it.
type Table struct {
	// Location is a URL, "sample:NAME" for an embedded table, "drop:N" for what a
	// user handed to the browser, or a path for the command line.
	Location string `json:"table"`
	// Hudi is the release whose read rules apply ("0.15.0", "1.2.0"); "" is the right answer.
	Hudi string `json:"hudi,omitempty"`
}

// Progress is sent while a request runs, at most every 100 ms.
type Progress struct {
	// Phase in a few words: "Reading hoodie.properties", "Merging slices".
	Phase string `json:"phase"`
	// Done of Total units (0 when not known yet); Unit is "files", "slices", "blocks", "records".
	Done  int64  `json:"done"`
	Total int64  `json:"total,omitempty"`
	Unit  string `json:"unit,omitempty"`
	// Requests and Bytes asked of the storage so far, for this table since it was opened.
	Requests int64 `json:"requests"`
	Bytes    int64 `json:"bytes"`
}

// Fault is how every transport tells an error.
type Fault struct {
	// Message says what is wrong, in one sentence.
	Message string `json:"message"`
	// Kind is "not a table", "not found", "empty", "corrupt", "unreachable", "forbidden",
	// "unsupported", "needs part" (Part names a part of the program that is loaded on demand: "orc"),
	// "invalid request", "cancelled", "limit", "internal" or another short name.
	Kind string `json:"kind"`
	// File and Offset say where (Offset -1: the whole file); Part names the field.
	File   string `json:"file,omitempty"`
	Offset int64  `json:"offset"`
	Part   string `json:"part,omitempty"`
	// Try says what the user can do.
	Try string `json:"try,omitempty"`
}

// Error makes a Fault usable as an error.
func (f *Fault) Error() string {
	s := f.Message
	if f.Try != "" {
		s += " " + f.Try
	}
	return s
}

// OverviewRequest asks what a table is. Only hoodie.properties is read.
type OverviewRequest struct{ Table }

// Overview says what lies at a location and whether all of it can be read.
type Overview struct {
	// Kind is "table" or "log file" (a single file without its table).
	Kind     string `json:"kind"`
	Location string `json:"location"`
	Name     string `json:"name"`
	Database string `json:"database,omitempty"`
	// Version is the table version 0..9; VersionFrom says how it was found when not stored.
	Version     int    `json:"version"`
	VersionFrom string `json:"version_from,omitempty"`
	// Type is COPY_ON_WRITE or MERGE_ON_READ.
	Type           string   `json:"type"`
	BaseFormat     string   `json:"base_format"`
	LogFormat      string   `json:"log_format,omitempty"`
	TimelineLayout int      `json:"timeline_layout"`
	Merge          Merge    `json:"merge"`
	RecordKeys     []string `json:"record_keys"`
	Partitions     []string `json:"partition_fields"`
	KeyGenerator   string   `json:"key_generator,omitempty"`
	MetaFields     bool     `json:"meta_fields"`
	MetadataTable  []string `json:"metadata_table,omitempty"`
	Bootstrap      string   `json:"bootstrap,omitempty"`
	CDC            string   `json:"cdc,omitempty"`
	// Support lists what of this table can't be read, or only with a remark. Empty = all of it can be read.
	Support []Support `json:"support"`
	// Readable is false when nothing beyond the properties can be read.
	Readable bool `json:"readable"`
	// ListingNote is set when the storage hides names.
	ListingNote string `json:"listing_note,omitempty"`
}

// Merge says by which rule versions of a record are merged, and how that was inferred.
type Merge struct {
	// Mode is COMMIT_TIME_ORDERING, EVENT_TIME_ORDERING or CUSTOM.
	Mode string `json:"mode"`
	// From names the property that decided (or "default"); Why is a sentence.
	From string `json:"from"`
	Why  string `json:"why"`
	// OrderingFields in order; Payload class and StrategyID as stored.
	OrderingFields []string `json:"ordering_fields"`
	Payload        string   `json:"payload,omitempty"`
	StrategyID     string   `json:"strategy_id,omitempty"`
}

// Support is one remark about what can be read.
type Support struct {
	// Level is "no" (can't be read), "part" (some of it) or "note".
	Level string `json:"level"`
	What  string `json:"what"`
	Note  string `json:"note"`
}

// TimelineRequest asks for the instants of the active timeline.
type TimelineRequest struct {
	Table
	// Archived asks for the archived instants too.
	Archived bool `json:"archived,omitempty"`
	TimelinePage
}

// Timeline is the answer: instants in Hudi's order (requested time, action).
type Timeline struct {
	Layout   int       `json:"layout"`
	Active   []Instant `json:"active"`
	Archived []Instant `json:"archived,omitempty"`
	// ArchivedNote says why archived instants are not there, when they were asked for.
	ArchivedNote string `json:"archived_note,omitempty"`
	// Ignored counts names in the timeline folder that are no instants.
	Ignored []string  `json:"ignored,omitempty"`
	Finding []Finding `json:"findings,omitempty"`
	TimelineExtent
}

// Instant is one action on the timeline, in its latest state.
type Instant struct {
	// Requested and Completed are instant times; Completed is "" while pending.
	Requested string `json:"requested"`
	Completed string `json:"completed,omitempty"`
	// CompletedFrom is "name" (layout 2) or "mtime" (file modification time: lost by copying).
	CompletedFrom string `json:"completed_from,omitempty"`
	// Action as in the latest state's file name; Table service actions keep their pending
	// name while pending (compaction, clustering, logcompaction).
	Action string `json:"action"`
	// State is REQUESTED, INFLIGHT or COMPLETED.
	State string `json:"state"`
	// Operation from commit metadata where it was read ("UPSERT", "COMPACT", …), else "".
	Operation string `json:"operation,omitempty"`
	// File is the name of the latest state's file; Files are all the files of this instant.
	File  string        `json:"file"`
	Files []InstantFile `json:"files"`
}

// InstantFile is one file of an instant.
type InstantFile struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Size  int64  `json:"size"`
}

// Finding is something a user should know about: damage, a gap, a disagreement.
type Finding struct {
	// Level is "error", "warning" or "note".
	Level  string `json:"level"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	File   string `json:"file,omitempty"`
	Offset int64  `json:"offset,omitempty"`
}

// InstantRequest asks for the metadata of one instant.
type InstantRequest struct {
	Table
	Requested string `json:"requested"`
	Action    string `json:"action,omitempty"`
}

// InstantDetail is the decoded metadata of an instant, file by file.
type InstantDetail struct {
	Instant Instant         `json:"instant"`
	Parts   []InstantDecode `json:"parts"`
	// Summary of a commit's write stats, when the completed file holds commit metadata.
	Summary *CommitSummary `json:"summary,omitempty"`
	// Work is what the instant did or is going to do.
	Work *InstantWork `json:"work,omitempty"`
}

// InstantDecode is one file of the instant, decoded and raw.
type InstantDecode struct {
	File  string `json:"file"`
	State string `json:"state"`
	Size  int64  `json:"size"`
	// Encoding is "empty", "json", "avro" or "unknown"; Schema is the record's name.
	Encoding string `json:"encoding"`
	Schema   string `json:"schema,omitempty"`
	// Decoded is the metadata as JSON; Fault says why it could not be decoded.
	Decoded json.RawMessage `json:"decoded,omitempty"`
	Fault   *Fault          `json:"fault,omitempty"`
	// Raw is the text of a JSON file as stored; for other files use a BytesRequest on Path.
	Raw  string `json:"raw,omitempty"`
	Path string `json:"path"`
}

// CommitSummary adds up the write stats of a commit.
type CommitSummary struct {
	Operation  string             `json:"operation"`
	Inserts    int64              `json:"inserts"`
	Updates    int64              `json:"updates"`
	Deletes    int64              `json:"deletes"`
	Writes     int64              `json:"writes"`
	Bytes      int64              `json:"bytes"`
	Errors     int64              `json:"errors"`
	Partitions []PartitionSummary `json:"partitions"`
	Replaced   int                `json:"replaced_file_groups,omitempty"`
}

// PartitionSummary is the share of one partition in a commit.
type PartitionSummary struct {
	Partition string      `json:"partition"`
	Inserts   int64       `json:"inserts"`
	Updates   int64       `json:"updates"`
	Deletes   int64       `json:"deletes"`
	Writes    int64       `json:"writes"`
	Bytes     int64       `json:"bytes"`
	Errors    int64       `json:"errors,omitempty"`
	Files     []WriteStat `json:"files"`
}

// WriteStat is one file that a commit wrote.
type WriteStat struct {
	FileID     string `json:"file_id"`
	Path       string `json:"path"`
	PrevCommit string `json:"prev_commit"`
	Inserts    int64  `json:"inserts"`
	Updates    int64  `json:"updates"`
	Deletes    int64  `json:"deletes"`
	Writes     int64  `json:"writes"`
	Bytes      int64  `json:"bytes"`
	// Errors counts records that could not be written.
	Errors int64 `json:"errors,omitempty"`
}

// CommitsRequest asks for the commit metadata of all completed commits, delta commits and replace
// commits of the active timeline.
type CommitsRequest struct{ Table }

// Commits maps the file name of a completed instant to its commit metadata, as Hudi's own JSON.
type Commits map[string]json.RawMessage

// SlicesRequest asks for the file-system view of the whole table, over a listing of the storage and
// the completed commits.
type SlicesRequest struct{ Table }

// Slices is the file-system view as JSON: latest_completed_write, pending_compaction_operations, and by
// partition latest_file_slices, latest_merged_file_slices_before_or_on, latest_base_files,
// all_file_groups and replaced_file_groups, as Hudi's own view answers.
type Slices json.RawMessage

// MarshalJSON returns the JSON itself.
func (s Slices) MarshalJSON() ([]byte, error) { return json.RawMessage(s).MarshalJSON() }

// PartitionsRequest asks for the partition paths.
type PartitionsRequest struct {
	Table
	// AsOf leaves out partitions without a file at or before an instant (requested time); "" is the latest.
	AsOf string `json:"as_of,omitempty"`
	// Sizes asks for Partitions.Sizes.
	Sizes bool `json:"sizes,omitempty"`
}

// Partitions lists partition paths, sorted; "" is the table itself.
type Partitions struct {
	Paths []string `json:"paths"`
	// From says how they were found: "listing", "metadata table", "commit metadata".
	From string `json:"from"`
	Note string `json:"note,omitempty"`
	// Sizes has an entry for each of Paths, when that was asked for.
	Sizes []PartitionSize `json:"sizes,omitempty"`
}

// PartitionSize adds up the files of a partition, in bytes, and counts them.
type PartitionSize struct {
	// Base and Log are those of file slices that a snapshot reads, Old those of all other slices, Other those of
	// files in no slice.
	Base   int64 `json:"base"`
	Log    int64 `json:"log"`
	Old    int64 `json:"old"`
	Other  int64 `json:"other"`
	Groups int   `json:"groups"`
	Files  int   `json:"files"`
	// Unsized counts files whose size the listing does not tell.
	Unsized int `json:"unsized,omitempty"`
}

// FilesRequest asks for the file groups of some partitions (empty = all).
type FilesRequest struct {
	Table
	Partitions []string `json:"partitions,omitempty"`
	// AsOf limits to slices and files at or before an instant (requested time); "" is the latest. A log file of a
	// table below version 8 tells the instant of its slice only: its later blocks are found among its blocks.
	AsOf string `json:"as_of,omitempty"`
	// Storage lists the storage also where the metadata table would be used; see Files.From.
	Storage bool `json:"storage,omitempty"`
}

// Files holds partitions → file groups → slices.
type Files struct {
	// LatestInstant is the latest completed write the view was built for.
	LatestInstant string `json:"latest_instant"`
	// From says how the files were found: "listing", or "metadata table" for a remote table with many
	// directories.
	From       string           `json:"from"`
	Partitions []PartitionFiles `json:"partitions"`
	Findings   []Finding        `json:"findings,omitempty"`
}

// PartitionFiles are the file groups of one partition, by file id.
type PartitionFiles struct {
	Partition string      `json:"partition"`
	Groups    []FileGroup `json:"groups"`
	// Bytes of all files; Other are files that belong to no slice.
	Bytes int64  `json:"bytes"`
	Other []File `json:"other,omitempty"`
}

// FileGroup is a file group with its slices, newest first.
type FileGroup struct {
	FileID string  `json:"file_id"`
	Slices []Slice `json:"slices"`
	// ReplacedBy is the instant of the replacecommit that replaced the group, "" while live.
	ReplacedBy string `json:"replaced_by,omitempty"`
	// PendingCompaction is the instant of a pending compaction of this group.
	PendingCompaction string `json:"pending_compaction,omitempty"`
	PendingClustering string `json:"pending_clustering,omitempty"`
}

// Slice is a file slice.
type Slice struct {
	BaseInstant string `json:"base_instant"`
	Base        *File  `json:"base,omitempty"`
	// Logs oldest first, in merge order.
	Logs []File `json:"logs"`
	// Committed is false for a slice of an instant that is not completed; Latest marks the
	// slice that a snapshot reads (merged with the previous one under pending compaction).
	Committed bool `json:"committed"`
	Latest    bool `json:"latest"`
}

// File is one data file.
type File struct {
	Name string `json:"name"`
	// Path is relative to the table.
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	Instant string `json:"instant"`
	// State is "committed", "uncommitted" (of a pending instant), "orphan" (no instant names it) or "cdc", and
	// "other" for a file of no slice; Why explains those that are not committed. Of log files below table version 8, whose
	// name does not tell the writer, the state goes by what the instants name, and of those that none names by the
	// instants of their blocks.
	State string `json:"state"`
	Why   string `json:"why,omitempty"`
}

// BlocksRequest asks for the blocks of log files: of one file (File), or of the slice
// (Partition, FileID, BaseInstant). Only headers and footers are read.
type BlocksRequest struct {
	Table
	File        string `json:"file,omitempty"`
	Partition   string `json:"partition,omitempty"`
	FileID      string `json:"file_id,omitempty"`
	BaseInstant string `json:"base_instant,omitempty"`
	// All asks for every log file of the table, each by itself and without fates.
	All bool `json:"all,omitempty"`
	// AsOf is the query instant (requested time): later blocks are not read by it. "" is the latest.
	AsOf string `json:"as_of,omitempty"`
	// Offset and Limit choose a page of blocks, counted over all files in their order; Limit 0 means all of them.
	Offset int `json:"offset,omitempty"`
	Limit  int `json:"limit,omitempty"`
	// Find chooses the page of Limit blocks, counted from the first one, that holds a block; the first page where there
	// is no such block. Offset is not looked at then.
	Find *BlockPlace `json:"find,omitempty"`
}

// BlockPlace names a block of an answer of Blocks: by its index, or by a byte that lies in it.
type BlockPlace struct {
	// File is the path of the log file, or its name.
	File string `json:"file"`
	// Index in the file; looked at where Byte is 0.
	Index int `json:"index,omitempty"`
	// Byte is the offset of a byte plus 1.
	Byte int64 `json:"byte,omitempty"`
}

// Blocks is the answer: log files in merge order, and what a snapshot scan does with each block. Of a page, Files are
// those that have a block on it; a file without blocks is on the page of the block before it.
type Blocks struct {
	Files []LogFile `json:"files"`
	// Offset is the place of the first block, Total how many there are on all pages, in TotalFiles files.
	Offset     int `json:"offset"`
	Total      int `json:"total"`
	TotalFiles int `json:"total_files"`
	// Counters of the snapshot scan, by Hudi's names.
	Counters Counters `json:"counters"`
	// MaxInstant is the upper bound of the scan.
	MaxInstant string `json:"max_instant,omitempty"`
	// Rules names the release whose scanner was followed.
	Rules string `json:"rules"`
}

// Counters are the scan counters.
type Counters struct {
	LogFiles      int   `json:"log_files"`
	Blocks        int   `json:"blocks"`
	Records       int64 `json:"records"`
	Rollbacks     int   `json:"rollbacks"`
	CorruptBlocks int   `json:"corrupt_blocks"`
}

// LogFile is one log file with its blocks in file order.
type LogFile struct {
	File   File    `json:"file"`
	Blocks []Block `json:"blocks"`
	// Total is how many blocks the file has; Blocks may be some of them.
	Total int `json:"total"`
	// Fault ends the list when the file could not be read on.
	Fault *Fault `json:"fault,omitempty"`
}

// Block is one log block.
type Block struct {
	// Index in the file; Start (magic) to End are absolute byte offsets.
	Index         int   `json:"index"`
	Start         int64 `json:"start"`
	End           int64 `json:"end"`
	ContentOffset int64 `json:"content_offset"`
	ContentSize   int64 `json:"content_size"`
	// Type is Hudi's name: AVRO_DATA_BLOCK, DELETE_BLOCK, COMMAND_BLOCK, CORRUPT_BLOCK, …
	Type    string `json:"type"`
	Instant string `json:"instant,omitempty"`
	// Target is the instant that a rollback command rolls back; Command its name (ROLLBACK_BLOCK).
	Target  string `json:"target,omitempty"`
	Command string `json:"command,omitempty"`
	// Records is the count of data or delete records, -1 when not read.
	Records int64 `json:"records"`
	// Header and Footer entries in the order they are stored.
	Header []HeaderEntry `json:"header"`
	Footer []HeaderEntry `json:"footer,omitempty"`
	// Fate is what a snapshot scan does with the block: "merged", "command",
	// "rolled back", "corrupt", "not committed", "after the query instant", "compacted", "not reached".
	Fate string `json:"fate"`
	// FateWhy is the sentence; FateBy the instant or block that decided, and
	// FateFile/FateBlock the command block of a rollback.
	FateWhy   string `json:"fate_why,omitempty"`
	FateBy    string `json:"fate_by,omitempty"`
	FateFile  string `json:"fate_file,omitempty"`
	FateBlock int    `json:"fate_block,omitempty"`
	// Corrupt tells why a corrupt block is one.
	Corrupt string `json:"corrupt,omitempty"`
	// Layout names the byte ranges of the block's parts.
	Layout []Span `json:"layout"`
}

// HeaderEntry is one entry of a block's metadata map.
type HeaderEntry struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Span is a named byte range of a file.
type Span struct {
	Name  string `json:"name"`
	Start int64  `json:"start"`
	End   int64  `json:"end"`
	// Value is the decoded value in a few words.
	Value string `json:"value,omitempty"`
}

// BlockRequest asks for the content of one block.
type BlockRequest struct {
	Table
	File  string `json:"file"`
	Index int    `json:"index"`
	// Offset and Limit choose records; Limit 0 means 100.
	Offset int64 `json:"offset,omitempty"`
	Limit  int   `json:"limit,omitempty"`
}

// BlockDetail is a block with decoded content.
type BlockDetail struct {
	Block Block `json:"block"`
	// Columns and Records of a data block (values as in Rows).
	Columns []Column            `json:"columns,omitempty"`
	Records [][]json.RawMessage `json:"records,omitempty"`
	// Spans[i] is the byte range of Records[i] (or of Deletes[i]) in the file, where known.
	Spans   []Span         `json:"spans,omitempty"`
	Deletes []DeleteRecord `json:"deletes,omitempty"`
	Total   int64          `json:"total"`
	// Keys of the records, null where a record has none.
	Keys []*string `json:"keys,omitempty"`
	// DeleteFlags tells which of Records flag themselves as deleted; absent when none of them does.
	DeleteFlags []bool `json:"delete_flags,omitempty"`
	// Positions of the records in the base file (RECORD_POSITIONS), if the header has them.
	Positions []uint64 `json:"positions,omitempty"`
	// Fault says why the content could not be decoded.
	Fault *Fault `json:"fault,omitempty"`
}

// DeleteRecord is one entry of a delete block.
type DeleteRecord struct {
	Key       string          `json:"key"`
	Partition *string         `json:"partition"`
	Ordering  json.RawMessage `json:"ordering"`
	// OrderingType is the wrapper's name ("int", "long", "string", …), "null" for none.
	OrderingType string `json:"ordering_type"`
}

// BytesRequest asks for raw bytes of any file of the table; Length is at most 64 KiB.
type BytesRequest struct {
	Table
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	Length int    `json:"length"`
}

// Bytes is the answer. Data is base64 in JSON.
type Bytes struct {
	Offset int64  `json:"offset"`
	Size   int64  `json:"size"`
	Data   []byte `json:"data"`
}

// RowsRequest asks for merged rows.
type RowsRequest struct {
	Table
	// Options are the engines' own: hoodie.datasource.query.type, as.of.instant, …
	Options map[string]string `json:"options,omitempty"`
	// Partitions limits to some partitions; FileID to one file group.
	Partitions []string `json:"partitions,omitempty"`
	FileID     string   `json:"file_id,omitempty"`
	Condition
	// Order are the columns that the rows are ordered by, the first one first; none: as they are read.
	Order []SortKey `json:"order,omitempty"`
	// Offset and Limit choose a page; Limit 0 means 200.
	Offset int64 `json:"offset,omitempty"`
	Limit  int   `json:"limit,omitempty"`
	// Text asks for cells as Spark's show() writes them, in texts, instead of typed values.
	Text bool `json:"text,omitempty"`
}

// Condition limits the rows and columns of a query.
type Condition struct {
	// Where is an SQL condition over columns, "" for none. One that can't be understood is answered
	// with a fault of Part "where", whose Offset is the byte in Where at which it goes wrong.
	Where string `json:"where,omitempty"`
	// Columns are the columns to read, in the order wanted; none means all.
	Columns []string `json:"columns,omitempty"`
}

// Rows is one page of rows. Values are JSON: decimals and timestamps as text, binary as
// base64, longs as numbers, structs as objects, NaN and infinities as text.
type Rows struct {
	Columns []Column            `json:"columns"`
	Rows    [][]json.RawMessage `json:"rows"`
	Offset  int64               `json:"offset"`
	// Total is exact when TotalKnown; otherwise the rows read so far.
	Total      int64 `json:"total"`
	TotalKnown bool  `json:"total_known"`
	// Slices tells from which slices the rows come, in row order: FirstRow is the index of the slice's first row.
	// Ordered rows have none.
	Slices []RowSlice `json:"slices,omitempty"`
	// AsOf is the instant the snapshot is of; Rules the release followed.
	AsOf     string    `json:"as_of"`
	Rules    string    `json:"rules"`
	Findings []Finding `json:"findings,omitempty"`
}

// RowSlice is a file slice that gave rows.
type RowSlice struct {
	Partition   string `json:"partition"`
	FileID      string `json:"file_id"`
	BaseInstant string `json:"base_instant"`
	FirstRow    int64  `json:"first_row"`
}

// Column describes a column of rows.
type Column struct {
	Name string `json:"name"`
	// Type for people: "long", "decimal(10,2)", "array<string>".
	Type string `json:"type"`
	// Meta is true for _hoodie_ columns.
	Meta bool `json:"meta,omitempty"`
}

// SchemaRequest asks for the table schema.
type SchemaRequest struct{ Table }

// SchemaAnswer is the table schema (Avro JSON, with meta columns) and where it came from.
type SchemaAnswer struct {
	Avro    json.RawMessage `json:"avro"`
	From    string          `json:"from"`
	Columns []Column        `json:"columns"`
	// Sources are the places where a schema was looked for, the strongest first.
	Sources []SchemaSource `json:"sources"`
	// History is the schema history of a table whose columns were renamed, dropped, moved or changed,
	// oldest first; HistoryFile is where it was read.
	History     []SchemaVersion `json:"history,omitempty"`
	HistoryFile string          `json:"history_file,omitempty"`
}

// SchemaSource is a place where a table schema may be.
type SchemaSource struct {
	Place string `json:"place"`
	// Found tells whether there is one, Used whether it won.
	Found bool   `json:"found"`
	Used  bool   `json:"used"`
	Note  string `json:"note,omitempty"`
}

// SchemaVersion is one schema of a history.
type SchemaVersion struct {
	// Instant made it; "0" for the schema before the first change.
	Instant string         `json:"instant"`
	Columns []NumberedName `json:"columns"`
}

// NumberedName is a column of a history with its number, which stays with it; nested ones have dotted names.
type NumberedName struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"`
}

// ConfigRequest asks for hoodie.properties.
type ConfigRequest struct{ Table }

// ConfigAnswer holds the properties as stored.
type ConfigAnswer struct {
	Properties map[string]string `json:"properties"`
	// File is hoodie.properties or its backup; Checksum is "ok", "wrong: …" or "none".
	File     string `json:"file"`
	Checksum string `json:"checksum"`
}

// CloseRequest drops what is held for a table.
type CloseRequest struct{ Table }

// CloseAnswer is empty.
type CloseAnswer struct{}
