package api

// The requests about the inside of a base file, and about one file group through time.
const (
	OpAnatomy Op = "anatomy" // AnatomyRequest → Anatomy
	OpGroup   Op = "group"   // GroupRequest → Group
)

// AnatomyRequest asks for the parts of a base file: Parquet, HFile or ORC. Footers and the headers of
// pages and blocks are read, no values.
type AnatomyRequest struct {
	Table
	File string `json:"file"`
	// Offset and Length choose a part of the file that is such a file itself: the content of a Parquet or
	// HFile log block. Length 0 is the whole file.
	Offset int64 `json:"offset,omitempty"`
	Length int64 `json:"length,omitempty"`
	// Chunk asks for the pages of one column chunk of a Parquet file: its number in the order of the file's row
	// groups and their columns, plus one. 0 is the pages of as many chunks as an answer has room for.
	Chunk int `json:"chunk,omitempty"`
}

// Anatomy is a file as a tree of byte ranges.
type Anatomy struct {
	File string `json:"file"`
	// Format is "parquet", "hfile", "orc", or "" when the bytes tell none.
	Format string `json:"format"`
	// Start and Size are the range of the file that was looked at, in bytes: 0 and the file's size unless a part
	// was asked for.
	Start int64 `json:"start"`
	Size  int64 `json:"size"`
	// Facts about the file as a whole.
	Facts []Fact `json:"facts"`
	// Parts cover the range from start to end, in the order of their offsets. A range that nothing in the file
	// accounts for is a part of kind "gap".
	Parts []AnatomyPart `json:"parts"`
	// Entries are the key-value metadata of the footer, or the file info, as far as they are text.
	Entries []AnatomyEntry `json:"entries"`
	// BytesRead and Reads are what was read of the file for this answer.
	BytesRead int64 `json:"bytes_read"`
	Reads     int   `json:"reads"`
	// Findings tell what is damaged, with offsets.
	Findings []Finding `json:"findings,omitempty"`
}

// AnatomyPart is a range of bytes of a file and what it holds.
type AnatomyPart struct {
	// Kind is "magic", "row group", "column chunk", "dictionary page", "data page", "index page", "column index",
	// "offset index", "bloom filter", "footer", "footer length", "stripe", "stripe index", "stripe data", "stripe footer",
	// "metadata", "postscript", "data block", "index block", "meta block", "file info", "trailer", "block" or "gap".
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Start and End are byte offsets in the file, End after the last byte.
	Start int64         `json:"start"`
	End   int64         `json:"end"`
	Facts []Fact        `json:"facts,omitempty"`
	Parts []AnatomyPart `json:"parts,omitempty"`
	// Chunk is the number of a column chunk, for AnatomyRequest.Chunk; Unread is set while its pages, or some of
	// them, were not read.
	Chunk  int  `json:"chunk,omitempty"`
	Unread bool `json:"unread,omitempty"`
}

// AnatomyEntry is one entry of a file's own metadata.
type AnatomyEntry struct {
	Key string `json:"key"`
	// Value is the text, at most the first 64 KiB of it; Size its whole length in bytes.
	Value string `json:"value"`
	Size  int64  `json:"size"`
	// What says what Hudi keeps there, and for a bloom filter how large it is.
	What string `json:"what,omitempty"`
	// Start is the byte offset of the value in the file, -1 when that is not known (it is compressed there).
	Start int64 `json:"start"`
}

// GroupRequest asks for one file group through time.
type GroupRequest struct {
	Table
	Partition string `json:"partition"`
	FileID    string `json:"file_id"`
	// AsOf leaves out what came after an instant (requested time), "" nothing.
	AsOf string `json:"as_of,omitempty"`
}

// Group is a file group with everything that instants did to it.
type Group struct {
	Partition string    `json:"partition"`
	Group     FileGroup `json:"group"`
	// Events are in the order of their instants' requested times, oldest first.
	Events []GroupEvent `json:"events"`
	// Read counts the instants whose metadata was read; Before is the requested time below which none was, since
	// there is a limit: "" when all of the active timeline were.
	Read     int       `json:"read"`
	Before   string    `json:"before,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
}

// GroupEvent is what one instant did, or is going to do, to a file group.
type GroupEvent struct {
	Instant   string `json:"instant"`
	Action    string `json:"action"`
	State     string `json:"state"`
	Completed string `json:"completed,omitempty"`
	Operation string `json:"operation,omitempty"`
	// What is "base file", "log file", "replaced", "compaction planned", "log compaction planned",
	// "clustering planned", "cleaned" or "rolled back".
	What string `json:"what"`
	// Slice is the base instant of the slice that the file belongs to, or that is acted on; "" when the slice is gone.
	Slice string `json:"slice,omitempty"`
	// File is the name of the file written or removed, Path its place in the table, and Gone tells that it is not
	// there now.
	File string `json:"file,omitempty"`
	Path string `json:"path,omitempty"`
	Gone bool   `json:"gone,omitempty"`
	// Stats are the commit's own numbers about this file, nil where it tells none.
	Stats *WriteStat `json:"stats,omitempty"`
}

// OpActivity asks how much commits wrote, for drawing beside a timeline.
const OpActivity Op = "activity" // ActivityRequest → Activity

// ActivityRequest asks for the numbers of the completed commits of a range of requested times, both inclusive; "" does
// not bound. Commit metadata is read, newest first.
type ActivityRequest struct {
	Table
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Limit is the number of commits that are read; 0 means 200, at most 2000.
	Limit int `json:"limit,omitempty"`
	// Metadata asks for the instants of the metadata table in the range, too.
	Metadata bool `json:"metadata,omitempty"`
}

// Activity is the answer, oldest first.
type Activity struct {
	Commits []CommitActivity `json:"commits"`
	// Before is the requested time below which nothing was read since the limit was reached, "" when all were.
	Before string `json:"before,omitempty"`
	// Unread counts commits whose metadata can't be decoded.
	Unread int `json:"unread,omitempty"`
	// Metadata are the instants of the metadata table; MetadataNote says why there are none.
	Metadata     []Instant `json:"metadata,omitempty"`
	MetadataNote string    `json:"metadata_note,omitempty"`
}

// CommitActivity is how much one commit wrote, by its own metadata.
type CommitActivity struct {
	Requested string `json:"requested"`
	Action    string `json:"action"`
	Operation string `json:"operation,omitempty"`
	// Inserts, Updates and Deletes are records.
	Inserts int64 `json:"inserts"`
	Updates int64 `json:"updates"`
	Deletes int64 `json:"deletes"`
	// Base and Log are bytes written into base files and log files, Files how many files that were.
	Base  int64 `json:"base"`
	Log   int64 `json:"log"`
	Files int   `json:"files"`
	// New is the part of Base and Log that is new data: of a base file the share of its records that the commit inserted
	// or updated (the rest was copied from the file before), of a log file all, and nothing of what a compaction, log compaction
	// or clustering wrote. (Base+Log)/New is the commit's write amplification; Written and NewSoFar are the
	// sums over the commits of the answer up to this one, for the amplification so far.
	New      int64 `json:"new"`
	Written  int64 `json:"written"`
	NewSoFar int64 `json:"new_so_far"`
	// LogsLeft are the bytes of log files that no base file has taken up after this commit and whose file group is not
	// replaced, as far as the commits of the answer wrote them.
	LogsLeft int64 `json:"logs_left"`
}
