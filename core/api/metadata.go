package api

import "encoding/json"

// OpMetadata asks for the records of the metadata table: MetadataRequest → Metadata.
const OpMetadata Op = "metadata"

// MetadataRequest asks for a page of records of the metadata table. Without Partition the answer
// tells the partitions, and the records of all of them that readers may use.
type MetadataRequest struct {
	Table
	// Partition of the metadata table: "files", "column_stats", "record_index", "secondary_index_X", …
	Partition string `json:"partition,omitempty"`
	// Keys are looked up, and Prefix finds all keys that begin with it; both need Partition. They read
	// only the file groups and blocks that may hold them.
	Keys   []string `json:"keys,omitempty"`
	Prefix string   `json:"prefix,omitempty"`
	// Limit bounds the records of the page; 0 means 200. Cursor is Next of the page before.
	Limit  int    `json:"limit,omitempty"`
	Cursor string `json:"cursor,omitempty"`
	// Raw asks for MetadataRecord.Raw.
	Raw bool `json:"raw,omitempty"`
}

// Metadata is one page of the metadata table.
type Metadata struct {
	// Trusted tells whether readers list the table by its metadata table; Why says why not.
	Trusted bool   `json:"trusted"`
	Why     string `json:"why,omitempty"`
	// Version is the metadata table's own table version; LatestInstant its last completed write.
	Version       int    `json:"version"`
	LatestInstant string `json:"latest_instant"`
	// Partitions are all partitions; not told on pages behind the first.
	Partitions []MetadataPartition `json:"partitions,omitempty"`
	Records    []MetadataRecord    `json:"records"`
	// Next is the Cursor of the page behind, "" at the end.
	Next     string    `json:"next,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
}

// MetadataPartition is a partition of the metadata table.
type MetadataPartition struct {
	Name string `json:"name"`
	// Kind is "files", "column_stats", "bloom_filters", "record_index", "partition_stats",
	// "secondary_index", "expr_index" or "" for a folder that is none.
	Kind string `json:"kind"`
	// State is "ready", "inflight" (being built) or "unlisted" (readers do not use it).
	State string `json:"state"`
	// Groups are its file groups, by file id; told only for the partition that was asked for.
	Groups []MetadataGroup `json:"groups,omitempty"`
	// Definition of the index, when there is one.
	Definition *IndexDefinition `json:"definition,omitempty"`
}

// MetadataGroup is a file group of the metadata table: its latest slice.
type MetadataGroup struct {
	FileID      string   `json:"file_id"`
	BaseInstant string   `json:"base_instant"`
	BaseFile    string   `json:"base_file,omitempty"`
	LogFiles    []string `json:"log_files,omitempty"`
	Bytes       int64    `json:"bytes"`
}

// IndexDefinition is an entry of .hoodie/.index_defs/index.json.
type IndexDefinition struct {
	Name     string            `json:"name"`
	Type     string            `json:"type"`
	Function string            `json:"function,omitempty"`
	Fields   []string          `json:"fields"`
	Options  map[string]string `json:"options,omitempty"`
	Version  string            `json:"version,omitempty"`
}

// MetadataRecord is one record. The part that its type tells is set.
type MetadataRecord struct {
	Partition string `json:"partition"`
	FileID    string `json:"file_id"`
	Key       string `json:"key"`
	// Type is Hudi's number; TypeName says it: "file list", "column statistics", ….
	Type     int32  `json:"type"`
	TypeName string `json:"type_name"`

	Files     []MetadataFile     `json:"files,omitempty"`
	Stats     *MetadataStats     `json:"stats,omitempty"`
	Bloom     *MetadataBloom     `json:"bloom,omitempty"`
	Location  *MetadataLocation  `json:"location,omitempty"`
	Secondary *MetadataSecondary `json:"secondary,omitempty"`
	// Raw is the record as Hudi's Spark reader shows it, null columns left out.
	Raw json.RawMessage `json:"raw,omitempty"`
	// Fault is set when a part of the record can't be decoded.
	Fault *Fault `json:"fault,omitempty"`
}

// MetadataFile is a file of a partition, or a partition of the table ("." for the table itself).
type MetadataFile struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// MetadataStats are the statistics of a column in a file, or in a partition. Numbers are null where
// they are not told.
type MetadataStats struct {
	// File is a file name, or the partition path in partition statistics.
	File   string `json:"file"`
	Column string `json:"column"`
	// Min and Max are values as rows have them; null when all values are null or the type has none.
	Min json.RawMessage `json:"min"`
	Max json.RawMessage `json:"max"`
	// ValueType is the type they were stored as ("V1" before 1.1: by the column's type), Wrapper the
	// record that wraps them.
	ValueType         string `json:"value_type"`
	Wrapper           string `json:"wrapper"`
	Values            *int64 `json:"values"`
	Nulls             *int64 `json:"nulls"`
	Bytes             *int64 `json:"bytes"`
	UncompressedBytes *int64 `json:"uncompressed_bytes"`
	// TightBound tells that the bounds are those of the rows that are left.
	TightBound *bool `json:"tight_bound"`
}

// MetadataBloom is the bloom filter of a base file's record keys.
type MetadataBloom struct {
	TypeCode string `json:"type_code"`
	Instant  string `json:"instant"`
	Hash     string `json:"hash"`
	Hashes   int    `json:"hashes"`
	Bits     int    `json:"bits"`
	Rows     int    `json:"rows"`
	Bytes    int    `json:"bytes"`
}

// MetadataLocation is where a record of the data table is.
type MetadataLocation struct {
	Partition string `json:"partition"`
	FileID    string `json:"file_id"`
	// InstantMillis is the writing instant in milliseconds of the epoch, in the writer's zone.
	InstantMillis *int64 `json:"instant_millis"`
	Position      *int64 `json:"position,omitempty"`
}

// MetadataSecondary is an entry of a secondary index. Value is null for a null.
type MetadataSecondary struct {
	Value     *string `json:"value"`
	RecordKey string  `json:"record_key"`
}
