package api

// The requests that take a view elsewhere: to another engine, or to a file.
const (
	OpHandoff Op = "handoff" // HandoffRequest → Handoff
	OpExport  Op = "export"  // ExportRequest → ExportChunk
)

// HandoffRequest asks how other engines read the rows of a query.
type HandoffRequest struct {
	Table
	// Options, Partitions and FileID as in RowsRequest; with Flink set Options are Flink's own.
	Options    map[string]string `json:"options,omitempty"`
	Partitions []string          `json:"partitions,omitempty"`
	FileID     string            `json:"file_id,omitempty"`
	Flink      bool              `json:"flink,omitempty"`
	// Batch and Seen as in StreamRequest, with Flink.
	Batch bool   `json:"batch,omitempty"`
	Seen  string `json:"seen,omitempty"`
	Condition
	Limit int `json:"limit,omitempty"`
}

// Handoff holds a snippet for each engine.
type Handoff struct {
	// Address is the table's location as an engine would be given it; Note says what a user has to put
	// in its place when the location is known to the browser only.
	Address  string    `json:"address"`
	Note     string    `json:"note,omitempty"`
	Snippets []Snippet `json:"snippets"`
}

// Snippet reads the rows with one engine.
type Snippet struct {
	// Engine is "Spark SQL", "PySpark", "Flink SQL", "Trino" or "hudi-rs"; Language is "sql" or "python".
	Engine   string `json:"engine"`
	Language string `json:"language"`
	Code     string `json:"code"`
	// Versions are those of Hudi and the engine that the code is right for.
	Versions string `json:"versions"`
	// Options are the read options that the code sets, by name.
	Options map[string]string `json:"options,omitempty"`
	// Refused says why this engine can't give the rows; Code is then "".
	Refused string `json:"refused,omitempty"`
	// Remarks say where its rows differ.
	Remarks []string `json:"remarks,omitempty"`
}

// ExportRequest asks for the next part of a file with the rows of a query.
type ExportRequest struct {
	RowsRequest
	// Format is "jsonl", "csv" or "parquet". Offset and Limit of the rows are those of the whole
	// export; a Limit of 0 means all rows.
	Format string `json:"format"`
	// Part counts the parts from 0; parts must be asked for in order. ID tells exports apart.
	Part int    `json:"part,omitempty"`
	ID   string `json:"id"`
	// Flink asks for the rows of a read of Flink's: Options are then Flink's, Batch and Seen those of StreamRequest, and
	// there is no condition and no order.
	Flink bool   `json:"flink,omitempty"`
	Batch bool   `json:"batch,omitempty"`
	Seen  string `json:"seen,omitempty"`
}

// ExportChunk is a part of an exported file.
type ExportChunk struct {
	// Data is at most about 1 MiB; base64 in JSON.
	Data []byte `json:"data"`
	// Rows written so far; Done is true with the last part.
	Rows int64 `json:"rows"`
	Done bool  `json:"done"`
	// Findings of the rows, with the last part.
	Findings []Finding `json:"findings,omitempty"`
}
