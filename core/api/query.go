package api

import "encoding/json"

// The requests about how a read is planned.
const (
	OpPlan     Op = "plan"     // PlanRequest → Plan
	OpStream   Op = "stream"   // StreamRequest → Rows
	OpSplits   Op = "splits"   // SplitsRequest → Splits
	OpOperator Op = "operator" // OperatorRequest → OperatorAnswer
	OpRanges   Op = "ranges"   // RangesRequest → Ranges
)

// PlanRequest asks what a Spark read will do; nothing of the data is read.
type PlanRequest struct {
	Table
	// Options, Partitions and FileID as in RowsRequest.
	Options    map[string]string `json:"options,omitempty"`
	Partitions []string          `json:"partitions,omitempty"`
	FileID     string            `json:"file_id,omitempty"`
	Condition
	// Limit is the number of rows of a show() or take(), for the tasks that it runs; 0 means none.
	Limit int `json:"limit,omitempty"`
	// Spark are spark.sql.files.maxPartitionBytes, spark.sql.files.openCostInBytes,
	// spark.default.parallelism and their kin, by name; the defaults where they are absent.
	Spark map[string]string `json:"spark,omitempty"`
}

// Plan is a planned Spark read.
type Plan struct {
	Relation QueryRelation `json:"relation"`
	// Columns of the rows; SchemaFrom says where the schema was found.
	Columns    []Column `json:"columns"`
	SchemaFrom string   `json:"schema_from"`
	// SchemaSources are the places where a schema was looked for, the strongest first; SchemaChanges what the
	// schema history made of columns of older files (renamed, dropped, moved, promoted, added).
	SchemaSources []SchemaSource `json:"schema_sources,omitempty"`
	SchemaChanges []SchemaRename `json:"schema_changes,omitempty"`
	AsOf          string         `json:"as_of"`
	Rules         string         `json:"rules"`
	// Range, Filter and Instants are set for incremental queries and queries for change data.
	Range    string          `json:"range,omitempty"`
	Filter   string          `json:"filter,omitempty"`
	Instants []ChosenInstant `json:"instants,omitempty"`
	// Parts are what is read as one: slices, or the changes of a file group.
	Parts []PlanPart `json:"parts"`
	Tasks Tasks      `json:"tasks"`
	// Pruning says which partitions and files the condition leaves out, and why; absent without one.
	Pruning *Pruning `json:"pruning,omitempty"`
	// Findings say what differs from Hudi or may be missing.
	Findings []Finding `json:"findings,omitempty"`
}

// SchemaRename is what happened to one column between two schemas of the table.
type SchemaRename struct {
	// Kind is "added", "renamed", "dropped", "moved" or "promoted".
	Kind string `json:"kind"`
	// Instant made the change.
	Instant string `json:"instant"`
	// Column is its name now, "" for a dropped one; Before and After are names, types or places.
	Column string `json:"column,omitempty"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Effect says what rows of older files show.
	Effect string `json:"effect"`
}

// QueryRelation is the decision which relation a Spark read becomes.
type QueryRelation struct {
	Inputs []Fact `json:"inputs"`
	// Rules are the rows of the decision table, in order; Taken is the index of the one taken.
	Rules []RelationRule `json:"rules"`
	Taken int            `json:"taken"`
	Name  string         `json:"name"`
}

// Fact is a name and a value for people.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// RelationRule is one row of the decision table.
type RelationRule struct {
	When     string `json:"when"`
	Relation string `json:"relation"`
	Reads    string `json:"reads"`
	Holds    bool   `json:"holds"`
}

// ChosenInstant is an instant that a plan reads, and why.
type ChosenInstant struct {
	Requested string `json:"requested"`
	Completed string `json:"completed,omitempty"`
	Action    string `json:"action"`
	Operation string `json:"operation,omitempty"`
	Archived  bool   `json:"archived,omitempty"`
	Why       string `json:"why"`
}

// PlanPart is one part of a plan.
type PlanPart struct {
	Partition   string   `json:"partition"`
	FileID      string   `json:"file_id"`
	BaseInstant string   `json:"base_instant,omitempty"`
	Base        string   `json:"base,omitempty"`
	Logs        []string `json:"logs,omitempty"`
	// Bytes of the files, as far as they are known.
	Bytes int64 `json:"bytes"`
	// How names the reader.
	How string `json:"how"`
	// Changes of a query for change data, oldest first.
	Changes []PlanChange `json:"changes,omitempty"`
}

// PlanChange is one source of changes of a file group.
type PlanChange struct {
	Instant string   `json:"instant"`
	Case    string   `json:"case"`
	Files   []string `json:"files,omitempty"`
	// Before and After are the files in which images are looked up.
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
	Why    string   `json:"why"`
}

// Tasks says how Spark packs the plan's files.
type Tasks struct {
	// MaxSplitBytes is the size of a split; Sum how it was computed, in words.
	MaxSplitBytes int64  `json:"max_split_bytes"`
	Sum           string `json:"sum"`
	// Tasks in order of their index.
	Tasks []Task `json:"tasks"`
	// Rounds are the runs of tasks of a limit when no task but the last gives enough rows: the worst case.
	Rounds []TaskRound `json:"rounds,omitempty"`
}

// Task is one Spark task.
type Task struct {
	Pieces []Piece `json:"pieces"`
	Bytes  int64   `json:"bytes"`
}

// Piece is a part of a file that a task reads. Part is the index of the plan's part.
type Piece struct {
	Part   int    `json:"part"`
	File   string `json:"file"`
	Start  int64  `json:"start"`
	Length int64  `json:"length"`
}

// TaskRound is one run of tasks, from First on.
type TaskRound struct {
	First int `json:"first"`
	Tasks int `json:"tasks"`
}

// StreamRequest asks for the rows that Flink reads, with their kinds. They are answered as Rows, with a
// column "kind" in front.
type StreamRequest struct {
	Table
	// Options are Flink's own: read.start-commit, changelog.enabled, …
	Options map[string]string `json:"options,omitempty"`
	// Batch reads once, and not as a stream until nothing is new.
	Batch bool `json:"batch,omitempty"`
	// Seen is the completion time up to which the table is looked at, "" for all of it.
	Seen       string   `json:"seen,omitempty"`
	Partitions []string `json:"partitions,omitempty"`
	Offset     int64    `json:"offset,omitempty"`
	Limit      int      `json:"limit,omitempty"`
	// Text as in RowsRequest.
	Text bool `json:"text,omitempty"`
}

// SplitsRequest asks for the splits of a Flink read.
type SplitsRequest struct {
	Table
	Options    map[string]string `json:"options,omitempty"`
	Batch      bool              `json:"batch,omitempty"`
	Seen       string            `json:"seen,omitempty"`
	Partitions []string          `json:"partitions,omitempty"`
	// Poll asks for one round only, from State on.
	Poll  bool         `json:"poll,omitempty"`
	State *StreamState `json:"state,omitempty"`
}

// StreamState is the state of Flink's monitor between two looks, as a checkpoint saves it.
type StreamState struct {
	// Table is the identity of the table that the state is of; no other table takes it.
	Table         string  `json:"table"`
	IssuedInstant string  `json:"issued_instant"`
	IssuedOffset  string  `json:"issued_offset"`
	Remaining     []Split `json:"remaining,omitempty"`
	Total         int     `json:"total"`
}

// Splits are the rounds of a Flink read.
type Splits struct {
	Rounds []SplitRound `json:"rounds"`
	// State after the rounds.
	State StreamState `json:"state"`
	Rules string      `json:"rules"`
	// Routing says how splits find their readers.
	Routing string `json:"routing"`
	// ByRequestedTime tells that ranges are of requested times.
	ByRequestedTime bool `json:"by_requested_time"`
}

// SplitRound is one look at the table.
type SplitRound struct {
	IssuedOffset string          `json:"issued_offset,omitempty"`
	EndInstant   string          `json:"end_instant,omitempty"`
	Offset       string          `json:"offset,omitempty"`
	InputFormat  string          `json:"input_format,omitempty"`
	Range        string          `json:"range,omitempty"`
	Instants     []ChosenInstant `json:"instants,omitempty"`
	Splits       []Split         `json:"splits"`
	Findings     []Finding       `json:"findings,omitempty"`
}

// Split is an input split.
type Split struct {
	Num          int         `json:"num"`
	Class        string      `json:"class"`
	Partition    string      `json:"partition"`
	FileID       string      `json:"file_id,omitempty"`
	Base         string      `json:"base,omitempty"`
	Logs         []string    `json:"logs"`
	Length       int64       `json:"length,omitempty"`
	LatestCommit string      `json:"latest_commit,omitempty"`
	MergeType    string      `json:"merge_type,omitempty"`
	Range        *SplitRange `json:"range,omitempty"`
	Iterator     string      `json:"iterator"`
	Why          string      `json:"why"`
	// Changes are the sources of a CdcInputSplit, oldest first.
	Changes []PlanChange `json:"changes,omitempty"`
	// Task is the reader that the split goes to, -1 when read.tasks is not given or Flink hands splits out
	// on demand.
	Task int `json:"task"`
}

// OperatorRequest runs Flink's StreamReadOperator over splits, step by step. The service keeps nothing
// between two requests: State goes out with the answer and comes back with the next request, as a
// checkpoint does.
type OperatorRequest struct {
	Table
	// Options, Seen and Partitions as in SplitsRequest; read.tasks is the number of readers (1 when absent).
	Options    map[string]string `json:"options,omitempty"`
	Seen       string            `json:"seen,omitempty"`
	Partitions []string          `json:"partitions,omitempty"`
	// State is what the readers were restored with; absent: every reader begins with an empty queue.
	State *OperatorState `json:"state,omitempty"`
	// Add are splits of a round (SplitRound.Splits), which go to their readers before the first step.
	Add []Split `json:"add,omitempty"`
	// Steps is how many tasks of its mailbox every reader runs, 0 to 1000: each reads one mini batch of
	// the split at the head of the queue.
	Steps int `json:"steps"`
	// Reader is the only reader that runs, by its number; absent: all of them, in turns.
	Reader *int `json:"reader,omitempty"`
	// MiniBatch is the most records of one mini batch; 0 means Hudi's own 2048, which is the most.
	MiniBatch int `json:"mini_batch,omitempty"`
	// Rows bounds the rows that are answered; 0 means 200, at most 1000. More are counted and read, but not
	// answered.
	Rows int `json:"rows,omitempty"`
	// Text as in RowsRequest.
	Text bool `json:"text,omitempty"`
}

// OperatorState is the state of all readers, as a checkpoint saves it.
type OperatorState struct {
	// Table is as in StreamState.
	Table   string        `json:"table"`
	Readers []ReaderState `json:"readers"`
}

// ReaderState is one reader (a subtask of split_reader).
type ReaderState struct {
	// Status is "IDLE", or "RUNNING" while a task is in the mailbox.
	Status string `json:"status"`
	// Queue are the splits that wait; the first is the one that is being read.
	Queue []QueuedSplit `json:"queue"`
	// Emitted counts the records handed on and Finished the splits read so far. Flink does not save them.
	Emitted  int64 `json:"emitted"`
	Finished int64 `json:"finished"`
}

// QueuedSplit is a split in a queue. Consumed counts its records that were handed on: after a restore that
// many are read again and skipped.
type QueuedSplit struct {
	Split    Split `json:"split"`
	Consumed int64 `json:"consumed"`
}

// OperatorAnswer is what the readers did.
type OperatorAnswer struct {
	State  OperatorState   `json:"state"`
	Events []OperatorEvent `json:"events"`
	// Columns of the rows: "kind" (+I, -U, +U, -D), then the table's.
	Columns []Column      `json:"columns"`
	Rows    []OperatorRow `json:"rows"`
	// Emitted counts all rows of this request, those that are not answered included.
	Emitted int64 `json:"emitted"`
	// MiniBatch is the number that was used, Readers how many readers there are.
	MiniBatch int    `json:"mini_batch"`
	Readers   int    `json:"readers"`
	Rules     string `json:"rules"`
	// Routing says how splits find their readers.
	Routing  string    `json:"routing"`
	Findings []Finding `json:"findings,omitempty"`
}

// OperatorRow is a row and the reader, step and split (Split.Num) it came from.
type OperatorRow struct {
	Reader int               `json:"reader"`
	Step   int               `json:"step"`
	Split  int               `json:"split"`
	Cells  []json.RawMessage `json:"cells"`
}

// OperatorEvent is one thing that happened.
type OperatorEvent struct {
	// Step counts from 1; 0 is before the first step.
	Step   int `json:"step"`
	Reader int `json:"reader"`
	// Kind is "restored", "added", "scheduled" (IDLE to RUNNING), "taken" (the head of the queue is opened),
	// "skipped" (records that were consumed before), "emitted", "finished" (the split is read), "idle", or
	// "checkpoint" (the state that is answered).
	Kind string `json:"kind"`
	// Split is Split.Num, -1 where no split is meant; Records counts.
	Split   int    `json:"split"`
	Records int64  `json:"records,omitempty"`
	Detail  string `json:"detail"`
}

// SplitRange limits the rows of a split. Class is Hudi's name of its kind.
type SplitRange struct {
	Class    string   `json:"class"`
	Start    string   `json:"start,omitempty"`
	End      string   `json:"end,omitempty"`
	Instants []string `json:"instants,omitempty"`
}

// Pruning explains what a condition leaves out before anything of the data is read.
type Pruning struct {
	// Condition as it was understood, with the casts that Spark makes; PartitionPart and DataPart are
	// its conjuncts over partition columns only, and the others.
	Condition     string `json:"condition"`
	PartitionPart string `json:"partition_part,omitempty"`
	DataPart      string `json:"data_part,omitempty"`
	// PartitionPrefix is the folder below which Hudi lists, where the leading partition columns are bound to
	// constants; "" for none.
	PartitionPrefix string `json:"partition_prefix,omitempty"`
	// Skipping tells whether data skipping is on for this read (hoodie.enable.data.skipping), and Mode
	// is "fallback" or "strict".
	Skipping bool   `json:"skipping"`
	Mode     string `json:"mode"`
	// Indexes are the ways that were considered, in the order in which they are tried.
	Indexes []IndexChoice `json:"indexes"`
	// Partitions and Files are the candidates, kept and left out.
	Partitions []PartitionVerdict `json:"partitions"`
	Files      []FileVerdict      `json:"files"`
	// Share of the candidate files' bytes that is left out, 0 to 1, and the same of files.
	SkippedBytes float64 `json:"skipped_bytes"`
	SkippedFiles float64 `json:"skipped_files"`
}

// IndexChoice is one index of the metadata table, considered for a condition.
type IndexChoice struct {
	// Name of the metadata partition ("record_index", "column_stats", …).
	Name string `json:"name"`
	// Used is true for the one that decided; Why says why it was taken or passed over.
	Used bool   `json:"used"`
	Why  string `json:"why"`
}

// PartitionVerdict says whether a partition is read.
type PartitionVerdict struct {
	Partition string `json:"partition"`
	Kept      bool   `json:"kept"`
	// By is what decided: "partition values", "partition_stats", or "" when nothing did.
	By  string `json:"by,omitempty"`
	Why string `json:"why"`
}

// FileVerdict says whether a file slice is read.
type FileVerdict struct {
	Partition string `json:"partition"`
	FileID    string `json:"file_id"`
	Base      string `json:"base,omitempty"`
	Bytes     int64  `json:"bytes"`
	Kept      bool   `json:"kept"`
	// By names the index that decided, "" when nothing did.
	By string `json:"by,omitempty"`
	// Stats are the statistics that were looked at; Why is the sentence.
	Stats []ColumnStat `json:"stats,omitempty"`
	Why   string       `json:"why"`
}

// ColumnStat is what an index says of one column of one file, as text.
type ColumnStat struct {
	File   string `json:"file"`
	Column string `json:"column"`
	Min    string `json:"min"`
	Max    string `json:"max"`
	Nulls  int64  `json:"nulls"`
	Values int64  `json:"values"`
	// Test is the part of the condition that was held against it, Holds whether it may match.
	Test  string `json:"test"`
	Holds bool   `json:"holds"`
}

// RangesRequest asks which times the ends of ranges are; nothing beyond hoodie.properties is read.
type RangesRequest struct {
	Table
	// Options of a query of a range of Spark's, as in RowsRequest; its ends play no part.
	Options map[string]string `json:"options,omitempty"`
	// Releases are those to tell about, "" for the right answer.
	Releases []string `json:"releases,omitempty"`
}

// Ranges says which times the ends of ranges are: requested times, or completion times.
type Ranges struct {
	// ByRequestedTime is about the query of Spark's with these options, by the rules of any release.
	ByRequestedTime bool `json:"by_requested_time"`
	// Releases in the order asked for.
	Releases []ReleaseRanges `json:"releases,omitempty"`
}

// ReleaseRanges is where releases differ.
type ReleaseRanges struct {
	Hudi string `json:"hudi"`
	// StartIncluded tells that a range of Spark's by completion time includes its start.
	StartIncluded bool `json:"start_included,omitempty"`
	// FlinkByRequestedTime is about read.start-commit and read.end-commit of Flink's reads.
	FlinkByRequestedTime bool `json:"flink_by_requested_time,omitempty"`
}
