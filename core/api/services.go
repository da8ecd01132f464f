package api

import "encoding/json"

// The requests about what instants did, about a table's health, and about two states of it.
const (
	OpRelations    Op = "relations"    // RelationsRequest → Relations
	OpHealth       Op = "health"       // HealthRequest → Health
	OpCompare      Op = "compare"      // CompareRequest → Compare
	OpHousekeeping Op = "housekeeping" // HousekeepingRequest → Housekeeping
)

// TimelinePage narrows a TimelineRequest; the zero value asks for everything.
type TimelinePage struct {
	// Offset and Limit choose instants of the active timeline, oldest first; Limit 0 is all of them.
	// A negative Offset counts from the newest: -100 is the last hundred.
	Offset int `json:"offset,omitempty"`
	Limit  int `json:"limit,omitempty"`
	// Compact asks for the instants in the columns of Timeline.Compact instead of Timeline.Active: what
	// drawing a timeline needs, in a tenth of the bytes.
	Compact bool `json:"compact,omitempty"`
	// Bare leaves out what is about the timeline as a whole and not about the page: counts, findings
	// and the names that are no instants.
	Bare bool `json:"bare,omitempty"`
	// ArchivedFrom and ArchivedTo (requested times, inclusive) and ArchivedLimit (the newest of
	// the range) bound what is read of the archived timeline; "" and 0 do not bound it.
	ArchivedFrom  string `json:"archived_from,omitempty"`
	ArchivedTo    string `json:"archived_to,omitempty"`
	ArchivedLimit int    `json:"archived_limit,omitempty"`
}

// TimelineExtent says how much there is beside what a Timeline holds.
type TimelineExtent struct {
	// Offset is the index of the first instant returned; Total counts those of the active timeline.
	Offset int `json:"offset"`
	Total  int `json:"total"`
	// Compact holds the instants in columns, when that was asked for; Active is empty then.
	Compact *CompactTimeline `json:"compact,omitempty"`
	// ArchivedMore tells that the archive has, or may have, instants older than those returned.
	ArchivedMore bool `json:"archived_more,omitempty"`
	// Counts of the active timeline by action and state: "commit COMPLETED" → 12.
	Counts map[string]int `json:"counts"`
}

// CompactTimeline holds one entry per instant in each column, in Hudi's order.
type CompactTimeline struct {
	// Requested and Completed are instant times with a space after each. A completion time that is
	// not known, as that of a pending instant, has no digits.
	Requested string `json:"requested"`
	Completed string `json:"completed"`
	// Action indexes Actions.
	Action  []uint8  `json:"action"`
	Actions []string `json:"actions"`
	// Flags are sums of the Compact constants.
	Flags []uint8 `json:"flags"`
}

// The flags of an instant in a CompactTimeline.
const (
	// CompactInflight and CompactCompleted tell the state; without either it is REQUESTED.
	CompactInflight, CompactCompleted = 1, 2
	// CompactFileTime tells that the completion time is the modification time of the file.
	CompactFileTime = 4
	// CompactCompaction tells that it is a compaction: its operation is COMPACT.
	CompactCompaction = 8
	// Gaps in the states of an instant of the active timeline, at most one of them: its .requested file is absent, it is
	// completed without an .inflight file, it was requested and never begun, or begun and never completed, though
	// later writes are completed.
	CompactNoRequested, CompactNoInflight, CompactNotBegun, CompactNotCompleted = 16, 32, 64, 128
)

// Relation is a link between two instants, for arcs on a timeline.
type Relation struct {
	// Kind is one of the RelationKinds.
	Kind string `json:"kind"`
	// From is the requested time of the instant that acts, FromAction its action.
	From       string `json:"from"`
	FromAction string `json:"from_action"`
	// To is the requested time of the instant acted on.
	To string `json:"to"`
	// Note says more in a few words: "3 file slices".
	Note string `json:"note,omitempty"`
	// Plan is true when only a plan says so: the instant is pending.
	Plan bool `json:"plan,omitempty"`
}

// The kinds of relations, as "From … To".
const (
	RelRollsBack  = "rolls back"     // rollback → what it undid
	RelRestores   = "restores past"  // restore → every instant it undid
	RelRestoresTo = "restores to"    // restore → the savepoint's instant
	RelRetains    = "retains from"   // clean → the earliest instant whose files it keeps
	RelSaves      = "protects"       // savepoint → the commit of the same time
	RelCompacts   = "compacts"       // compaction → instants whose files its plan reads
	RelClusters   = "clusters"       // clustering → instants whose files its plan reads
	RelReplaces   = "replaces"       // replacecommit → instants that wrote the replaced file groups
	RelWritesOver = "writes over"    // commit → instants of the slices it updated
	RelIndexes    = "indexes up to"  // indexing → the last instant it covers
	RelCompleted  = "was planned as" // completed commit of a table service → itself, by its pending action
)

// RelationsRequest asks for the links between instants. Only the files of table services are read
// (rollback, restore, clean, savepoint, compaction, clustering, indexing), newest first.
type RelationsRequest struct {
	Table
	// From and To bound the instants that act, by requested time; "" does not bound.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Limit is the number of instants whose files are read; 0 means 1000.
	Limit int `json:"limit,omitempty"`
	// Archived asks for those of the archived timeline in the range too.
	Archived bool `json:"archived,omitempty"`
}

// Relations is the answer, by From.
type Relations struct {
	Relations []Relation `json:"relations"`
	// Read counts the instants whose files were read; Before is the requested time below which
	// nothing was read since the limit was reached, "" when all were.
	Read     int       `json:"read"`
	Before   string    `json:"before,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
}

// InstantWork is what an instant did or is going to do, from its own metadata. Only the fields of
// its action are set.
type InstantWork struct {
	// Sentence says it in one line.
	Sentence string `json:"sentence"`
	// Archived tells that the instant is on the archived timeline; Stored names the file it is in.
	Archived bool   `json:"archived,omitempty"`
	Stored   string `json:"stored,omitempty"`
	// Relations are all links from and, as far as known, to this instant.
	Relations []Relation `json:"relations"`
	Pending   *Pending   `json:"pending,omitempty"`
	// Service is the table service that a completed commit finished: "compaction",
	// "logcompaction", "clustering"; "" for a write.
	Service   string          `json:"service,omitempty"`
	Rollback  *RollbackWork   `json:"rollback,omitempty"`
	Restore   *RestoreWork    `json:"restore,omitempty"`
	Clean     *CleanWork      `json:"clean,omitempty"`
	Savepoint *SavepointWork  `json:"savepoint,omitempty"`
	Plan      *PlanWork       `json:"plan,omitempty"`
	Replaced  []ReplacedGroup `json:"replaced,omitempty"`
	Indexing  []IndexingWork  `json:"indexing,omitempty"`
	Workload  *Workload       `json:"workload,omitempty"`
	// Schema is the Avro schema a commit carries, SchemaChange how it differs from the one before.
	Schema       json.RawMessage `json:"schema,omitempty"`
	SchemaChange []SchemaChange  `json:"schema_change,omitempty"`
	// Extra is extraMetadata without the schema, sorted by key.
	Extra    []ExtraEntry `json:"extra,omitempty"`
	Findings []Finding    `json:"findings,omitempty"`
}

// ExtraEntry is one entry of a commit's extra metadata.
type ExtraEntry struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	// What says what a known key means: "checkpoint of Hudi Streamer".
	What string `json:"what,omitempty"`
}

// Pending says what an instant that is not completed waits for.
type Pending struct {
	// Since is its requested time. Age is the time from then to the newest instant time of the
	// timeline, in seconds; -1 when the times can't be compared.
	Since      string `json:"since"`
	AgeSeconds int64  `json:"age_seconds"`
	// Later counts completed instants that were requested after it.
	Later int `json:"later"`
	// What is pending, in one sentence; Blocks is what it holds up.
	What   string `json:"what"`
	Blocks string `json:"blocks,omitempty"`
	// Heartbeat is the time of its writer's last heartbeat as an instant (UTC), "" when there is none.
	Heartbeat string `json:"heartbeat,omitempty"`
	// Markers counts the marker files of its write.
	Markers int `json:"markers,omitempty"`
}

// RollbackWork is what a rollback undid.
type RollbackWork struct {
	// Targets are the instants that were rolled back, with their actions where stored.
	Targets []InstantName `json:"targets"`
	// FilesDeleted as stored; Milliseconds is the time it took, 0 while pending.
	FilesDeleted int64               `json:"files_deleted"`
	Milliseconds int64               `json:"milliseconds,omitempty"`
	Partitions   []RollbackPartition `json:"partitions"`
}

// InstantName names an instant.
type InstantName struct {
	Requested string `json:"requested"`
	Action    string `json:"action,omitempty"`
}

// RollbackPartition is the share of one partition in a rollback or its plan.
type RollbackPartition struct {
	Partition string `json:"partition"`
	// Deleted and Failed are files; for a plan, Deleted are the files to delete.
	Deleted []string `json:"deleted"`
	Failed  []string `json:"failed,omitempty"`
	// CommandLogs are the log files that got a rollback command block; WriteLogs those of the
	// failed write whose blocks the command cancels.
	CommandLogs []FileSize `json:"command_logs,omitempty"`
	WriteLogs   []FileSize `json:"write_logs,omitempty"`
	// UnnamedLogs counts what the metadata has in place of log files whose blocks the command cancels: releases
	// before 1.0 write the path of the table there. They are log files of the slice that got the command block.
	UnnamedLogs int `json:"unnamed_logs,omitempty"`
	// FileID and BaseInstant say of a plan's request which slice it is about.
	FileID      string `json:"file_id,omitempty"`
	BaseInstant string `json:"base_instant,omitempty"`
}

// FileSize is a file with a size in bytes, or for log blocks the offset that metadata gives.
type FileSize struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
}

// RestoreWork is what a restore undid.
type RestoreWork struct {
	// Savepoint is the instant restored to, "" when metadata does not tell it.
	Savepoint    string         `json:"savepoint,omitempty"`
	Targets      []InstantName  `json:"targets"`
	Milliseconds int64          `json:"milliseconds,omitempty"`
	Rollbacks    []RollbackWork `json:"rollbacks,omitempty"`
}

// CleanWork is what a clean removed or is going to remove.
type CleanWork struct {
	// EarliestRetained is the oldest instant whose files are kept; LastCompleted the newest
	// completed one when the clean was planned.
	EarliestRetained string           `json:"earliest_retained,omitempty"`
	LastCompleted    string           `json:"last_completed,omitempty"`
	Policy           string           `json:"policy,omitempty"`
	FilesDeleted     int64            `json:"files_deleted"`
	Milliseconds     int64            `json:"milliseconds,omitempty"`
	Partitions       []CleanPartition `json:"partitions"`
}

// CleanPartition is the share of one partition in a clean.
type CleanPartition struct {
	Partition string `json:"partition"`
	// Deleted are names of files; of a plan, those to delete.
	Deleted []string `json:"deleted"`
	Failed  []string `json:"failed,omitempty"`
	// Gone tells that the whole partition is deleted.
	Gone bool `json:"gone,omitempty"`
}

// SavepointWork is what a savepoint protects.
type SavepointWork struct {
	By       string `json:"by,omitempty"`
	AtMs     int64  `json:"at_ms,omitempty"`
	Comments string `json:"comments,omitempty"`
	// Files are counted over all partitions.
	Files      int                  `json:"files"`
	Partitions []SavepointPartition `json:"partitions"`
	// Note says what a savepoint does not keep.
	Note string `json:"note,omitempty"`
}

// SavepointPartition lists the files of one partition that a savepoint keeps.
type SavepointPartition struct {
	Partition string   `json:"partition"`
	Files     []string `json:"files"`
}

// PlanWork is the plan of a compaction, log compaction or clustering.
type PlanWork struct {
	// Kind is "compaction", "logcompaction" or "clustering".
	Kind     string      `json:"kind"`
	Strategy string      `json:"strategy,omitempty"`
	Slices   []PlanSlice `json:"slices"`
	// Groups counts the clustering groups, OutputGroups the file groups they become.
	Groups       int `json:"groups,omitempty"`
	OutputGroups int `json:"output_groups,omitempty"`
	// Output is the completed instant that carried the plan out, "" while pending. It has the
	// plan's own requested time; OutputFile is its file.
	Output           string       `json:"output,omitempty"`
	OutputFile       string       `json:"output_file,omitempty"`
	MissingPartition []string     `json:"missing_partitions,omitempty"`
	Params           []ExtraEntry `json:"params,omitempty"`
}

// PlanSlice is a file slice that a plan reads.
type PlanSlice struct {
	Partition   string `json:"partition"`
	FileID      string `json:"file_id"`
	BaseInstant string `json:"base_instant"`
	// Base is the name of the base file, "" when there is none; Logs are names, in the plan's order.
	Base string   `json:"base,omitempty"`
	Logs []string `json:"logs"`
	// Group is the index of the clustering group.
	Group   int                `json:"group,omitempty"`
	Metrics map[string]float64 `json:"metrics,omitempty"`
}

// ReplacedGroup is a file group that a replacecommit replaced.
type ReplacedGroup struct {
	Partition string `json:"partition"`
	FileID    string `json:"file_id"`
}

// IndexingWork is a partition of the metadata table that an indexing instant builds.
type IndexingWork struct {
	Partition string `json:"partition"`
	UpTo      string `json:"up_to"`
}

// Workload is the profile that a writer saves in its inflight file before it writes: what it is
// going to do where. A rollback of the write takes from it which file groups may be touched.
type Workload struct {
	// Operation as stored ("UPSERT"); File is the inflight file it is from.
	Operation string `json:"operation"`
	File      string `json:"file"`
	State     string `json:"state"`
	// Inserts are records without a known place, Updates those of existing file groups.
	Inserts    int64               `json:"inserts"`
	Updates    int64               `json:"updates"`
	Groups     int                 `json:"groups"`
	Partitions []WorkloadPartition `json:"partitions"`
	// Use says what a rollback would use it for.
	Use string `json:"use"`
}

// WorkloadPartition is the profile of one output partition.
type WorkloadPartition struct {
	Partition string          `json:"partition"`
	Inserts   int64           `json:"inserts"`
	Updates   int64           `json:"updates"`
	Entries   []WorkloadEntry `json:"entries"`
}

// WorkloadEntry is one entry of a profile, as stored.
type WorkloadEntry struct {
	// FileID is "" for the entry that counts the inserts without a file group.
	FileID string `json:"file_id"`
	// PrevCommit is the base instant of the file group's slice, the text "null" for none.
	PrevCommit string `json:"prev_commit"`
	Inserts    int64  `json:"inserts"`
	Updates    int64  `json:"updates"`
}

// SchemaChange is one difference between two schemas.
type SchemaChange struct {
	// Kind is "added", "removed", "type" or "order".
	Kind   string `json:"kind"`
	Column string `json:"column"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// HealthRequest asks whether a table is well.
type HealthRequest struct {
	Table
	// Thresholds override those of Health.Thresholds, by name.
	Thresholds map[string]float64 `json:"thresholds,omitempty"`
	// Checks limits to some checks, by id; empty = all but the deep ones.
	Checks []string `json:"checks,omitempty"`
	// Deep adds the checks that read data files: duplicate keys (the key columns of the latest slices).
	Deep bool `json:"deep,omitempty"`
	// Now is the time as an instant (17 digits, UTC) that ages are measured to, "" for the clock.
	Now string `json:"now,omitempty"`
	// AsOf looks at the instants and files at or before an instant (requested time), "" at all. Checks that what is
	// there now can't answer for then are skipped and say so.
	AsOf string `json:"as_of,omitempty"`
}

// Health is the answer: findings, worst first, and every check with its outcome.
type Health struct {
	// Level is "ok", "note", "warning" or "error": the worst finding.
	Level    string          `json:"level"`
	Findings []HealthFinding `json:"findings"`
	Checks   []HealthCheck   `json:"checks"`
	// Thresholds that were used, by name; see HealthThreshold for their meaning.
	Thresholds []HealthThreshold `json:"thresholds"`
	// Looked counts what was looked at.
	Looked HealthScope `json:"looked"`
	// AsOf is the instant of the request; Notes say what is different from the table as it was then.
	AsOf  string   `json:"as_of,omitempty"`
	Notes []string `json:"notes,omitempty"`
}

// HealthScope counts what the checks looked at.
type HealthScope struct {
	Instants   int   `json:"instants"`
	Commits    int   `json:"commits"`
	Partitions int   `json:"partitions"`
	Groups     int   `json:"groups"`
	Slices     int   `json:"slices"`
	Files      int   `json:"files"`
	Bytes      int64 `json:"bytes"`
	Keys       int64 `json:"keys,omitempty"`
}

// HealthCheck is one check with its outcome.
type HealthCheck struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Status is "ok", "found", "skipped" (Note says why).
	Status string `json:"status"`
	Note   string `json:"note,omitempty"`
	Deep   bool   `json:"deep,omitempty"`
}

// HealthThreshold is a number that decides when a finding is made.
type HealthThreshold struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	// Default is the value when not overridden; Unit and What say what it is.
	Default float64 `json:"default"`
	Unit    string  `json:"unit"`
	What    string  `json:"what"`
}

// HealthFinding is something a user should know, with its evidence.
type HealthFinding struct {
	// Check is the id of the check that found it.
	Check string `json:"check"`
	// Level is "error", "warning" or "note".
	Level  string `json:"level"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	// Count of things found; Evidence lists the first of them.
	Count    int              `json:"count"`
	Evidence []HealthEvidence `json:"evidence"`
	// Link says which view shows it.
	Link HealthLink `json:"link"`
	// Hudi says what Hudi would do about it.
	Hudi string `json:"hudi,omitempty"`
}

// HealthEvidence is one fact: a number, a file, an instant. Fields that do not apply are "" or 0.
type HealthEvidence struct {
	Text      string  `json:"text"`
	Instant   string  `json:"instant,omitempty"`
	Partition string  `json:"partition,omitempty"`
	FileID    string  `json:"file_id,omitempty"`
	File      string  `json:"file,omitempty"`
	Value     float64 `json:"value,omitempty"`
	Unit      string  `json:"unit,omitempty"`
}

// HealthLink is a place in the explorer.
type HealthLink struct {
	// View is "timeline", "files", "blocks", "config", "housekeeping" or "metadata".
	View        string `json:"view"`
	Instant     string `json:"instant,omitempty"`
	Action      string `json:"action,omitempty"`
	Partition   string `json:"partition,omitempty"`
	FileID      string `json:"file_id,omitempty"`
	BaseInstant string `json:"base_instant,omitempty"`
	File        string `json:"file,omitempty"`
}

// CompareRequest asks how a table changed from one instant to another.
type CompareRequest struct {
	Table
	// From and To are requested times; From may be later than To. An empty From is the table
	// before its first instant, an empty To the latest.
	From string `json:"from"`
	To   string `json:"to"`
	// Partitions limits to some partitions; empty = all.
	Partitions []string `json:"partitions,omitempty"`
	// NoRows leaves rows alone: only schema and files are compared.
	NoRows bool `json:"no_rows,omitempty"`
	// Offset and Limit choose changed rows; Limit 0 means 100, at most 1000.
	Offset int64 `json:"offset,omitempty"`
	Limit  int   `json:"limit,omitempty"`
	// MaxKeys bounds the keys held in memory, per partition; 0 means 2,000,000.
	MaxKeys int `json:"max_keys,omitempty"`
}

// Compare is the answer.
type Compare struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Instants are the completed writes after the earlier and up to the later of the two.
	Instants []Instant      `json:"instants"`
	Schema   []SchemaChange `json:"schema"`
	Files    CompareFiles   `json:"files"`
	// Rows is absent when they were not asked for.
	Rows     *CompareRows `json:"rows,omitempty"`
	Findings []Finding    `json:"findings,omitempty"`
}

// CompareFiles counts and lists what happened to file groups and files.
type CompareFiles struct {
	Added     int            `json:"added"`
	Removed   int            `json:"removed"`
	Same      int            `json:"same"`
	AddedSize int64          `json:"added_bytes"`
	LostSize  int64          `json:"removed_bytes"`
	Groups    []CompareGroup `json:"groups"`
	// SameGroups counts the file groups whose slice is the same in both.
	SameGroups int `json:"same_groups"`
}

// CompareGroup is a file group whose slice differs.
type CompareGroup struct {
	Partition string `json:"partition"`
	FileID    string `json:"file_id"`
	// Kind is "added", "removed", "replaced" (gone, by a replacecommit) or "changed".
	Kind string `json:"kind"`
	// By is the instant of the replacecommit.
	By string `json:"by,omitempty"`
	// Before and After are the base instants of the slices.
	Before string        `json:"before,omitempty"`
	After  string        `json:"after,omitempty"`
	Files  []CompareFile `json:"files"`
}

// CompareFile is a file of a slice that differs.
type CompareFile struct {
	// Kind is "added", "removed" or "same".
	Kind string `json:"kind"`
	File File   `json:"file"`
}

// CompareRows counts changed rows and holds a page of them. Rows are the same record when
// partition and record key are equal; without a key, when all values are. Both states are read by
// the schema of the later instant: a column that was added, dropped or widened alone is no update.
type CompareRows struct {
	Inserted int64 `json:"inserted"`
	Updated  int64 `json:"updated"`
	Deleted  int64 `json:"deleted"`
	// Same counts rows of the compared slices whose values are equal; Rewritten those among them
	// that carry another commit time. Rows of file groups that are the same are not counted.
	Same      int64 `json:"same"`
	Rewritten int64 `json:"rewritten"`
	// Duplicates counts rows whose key occurred before in the same partition and state.
	Duplicates int64 `json:"duplicates,omitempty"`
	// By says what identifies a record: "record key" or "all values".
	By         string             `json:"by"`
	Columns    []Column           `json:"columns"`
	Offset     int64              `json:"offset"`
	Total      int64              `json:"total"`
	Rows       []CompareRow       `json:"rows"`
	Partitions []ComparePartition `json:"partitions"`
}

// ComparePartition is the share of one partition.
type ComparePartition struct {
	Partition string `json:"partition"`
	Inserted  int64  `json:"inserted"`
	Updated   int64  `json:"updated"`
	Deleted   int64  `json:"deleted"`
	Same      int64  `json:"same"`
	// Fault says why the partition's rows were not compared.
	Fault *Fault `json:"fault,omitempty"`
}

// CompareRow is one changed row. Before and After are by Columns.
type CompareRow struct {
	// Kind is "inserted", "updated" or "deleted".
	Kind      string `json:"kind"`
	Partition string `json:"partition"`
	Key       string `json:"key"`
	// Before and After hold the values, nil for an inserted or deleted row.
	Before []json.RawMessage `json:"before,omitempty"`
	After  []json.RawMessage `json:"after,omitempty"`
	// Changed are the indexes of columns that differ, meta columns left out.
	Changed []int `json:"changed,omitempty"`
	// BeforeGroup and AfterGroup are the file ids.
	BeforeGroup string `json:"before_group,omitempty"`
	AfterGroup  string `json:"after_group,omitempty"`
}

// HousekeepingRequest asks what lies beside timeline and data: markers, heartbeats, locks, backups.
type HousekeepingRequest struct{ Table }

// Housekeeping is the answer, by kind and path.
type Housekeeping struct {
	Items []HousekeepingItem `json:"items"`
	// Config compares hoodie.properties with its backup, when there is one.
	Config []ConfigChange `json:"config,omitempty"`
	// SchemaHistory are the schema commits of .hoodie/.schema.
	SchemaHistory []Instant `json:"schema_history,omitempty"`
	Findings      []Finding `json:"findings,omitempty"`
}

// HousekeepingItem is one thing that lies below .hoodie.
type HousekeepingItem struct {
	// Kind is "markers", "heartbeat", "lock", "aux", "bootstrap index", "compaction plan copy",
	// "checkpoint", "index definitions", "bucket metadata", "properties", "properties backup",
	// "schema history", "metadata table", "archive", "timeline", "checksum" or "unknown".
	Kind string `json:"kind"`
	Path string `json:"path"`
	Dir  bool   `json:"dir,omitempty"`
	// Size in bytes, -1 for directories; Modified is the modification time as an instant (UTC).
	Size     int64  `json:"size"`
	Modified string `json:"modified,omitempty"`
	// Instant and InstantState say to which instant it belongs, and in which state that is
	// ("" when the timeline does not have it).
	Instant      string `json:"instant,omitempty"`
	InstantState string `json:"instant_state,omitempty"`
	// Meaning says what it is and what it tells.
	Meaning string `json:"meaning"`
	// Files counts what is inside, Names lists the first of them.
	Files int      `json:"files,omitempty"`
	Names []string `json:"names,omitempty"`
}

// ConfigChange is a property that hoodie.properties and its backup do not agree on.
type ConfigChange struct {
	Key    string `json:"key"`
	Backup string `json:"backup"`
	Now    string `json:"now"`
	// Kind is "added" (only in hoodie.properties), "removed" or "changed".
	Kind string `json:"kind"`
}
