package commitmeta

import (
	"encoding/json"
	"errors"
	"sort"
)

// The operation types of commit metadata that readers look at.
const (
	OpUnknown    = "UNKNOWN"
	OpCluster    = "CLUSTER"
	OpCompact    = "COMPACT"
	OpLogCompact = "LOG_COMPACT"
	OpIndex      = "INDEX"
)

// CommitMetadata is HoodieCommitMetadata and HoodieReplaceCommitMetadata.
type CommitMetadata struct {
	// Partitions are the write stats by partition path, sorted by path.
	Partitions []PartitionStats
	// Compacted is set by old compactions.
	Compacted bool
	// Extra is extraMetadata: "schema", checkpoints, user keys. Null values are left out.
	Extra map[string]string
	// Operation is the operation type, UNKNOWN when it is missing.
	Operation string
	// Replaced are the replaced file ids by partition path (replacecommit only), sorted by path.
	Replaced []PartitionFileIDs
	// IsReplace tells that the metadata has a partitionToReplaceFileIds, even an empty one.
	IsReplace bool
}

// PartitionStats are the write stats of one partition.
type PartitionStats struct {
	Partition string
	Stats     []WriteStat
}

// PartitionFileIDs are file ids of one partition.
type PartitionFileIDs struct {
	Partition string
	FileIDs   []string
}

// CanChangeSchema reports whether the operation may bring a new schema: table services do not.
func (m *CommitMetadata) CanChangeSchema() bool {
	switch m.Operation {
	case OpCluster, OpCompact, OpIndex, OpLogCompact:
		return false
	}
	return true
}

// Held is about how many bytes of memory the metadata takes.
func (m *CommitMetadata) Held() int64 {
	const stat, text = 600, 16 // a WriteStat; a string besides its bytes
	n := int64(200)
	for i := range m.Partitions {
		p := &m.Partitions[i]
		n += int64(len(p.Partition)) + 2*text
		for k := range p.Stats {
			s := &p.Stats[k]
			n += stat + int64(len(s.FileID)+len(s.Path)+len(s.PrevCommit)+len(s.PartitionPath))
			for _, x := range []*string{s.TempPath, s.PrevBaseFile, s.BaseFile} {
				if x != nil {
					n += int64(len(*x)) + text
				}
			}
			for f := range s.CDCStats {
				n += int64(len(f)) + 3*text
			}
			for _, f := range s.LogFiles {
				n += int64(len(f)) + text
			}
		}
	}
	for _, p := range m.Replaced {
		n += int64(len(p.Partition)) + 2*text
		for _, id := range p.FileIDs {
			n += int64(len(id)) + text
		}
	}
	for k, v := range m.Extra {
		n += int64(len(k)+len(v)) + 4*text
	}
	return n
}

// WriteStat is HoodieWriteStat: one file that an instant wrote, or in an inflight file one
// file group it is going to write. Counts are of records, sizes in bytes, times in ms.
type WriteStat struct {
	FileID string `json:"fileId"`
	// Path is relative to the table.
	Path string `json:"path"`
	// PrevCommit is the base instant of the slice that was written over, the text "null" when there is none.
	PrevCommit                   string       `json:"prevCommit"`
	NumWrites                    int64        `json:"numWrites"`
	NumDeletes                   int64        `json:"numDeletes"`
	NumUpdateWrites              int64        `json:"numUpdateWrites"`
	NumInserts                   int64        `json:"numInserts"`
	NumUpdates                   int64        `json:"numUpdates"`
	TotalWriteBytes              int64        `json:"totalWriteBytes"`
	TotalWriteErrors             int64        `json:"totalWriteErrors"`
	TempPath                     *string      `json:"tempPath"`
	PartitionPath                string       `json:"partitionPath"`
	TotalLogRecords              int64        `json:"totalLogRecords"`
	TotalLogFiles                int64        `json:"totalLogFiles"`
	TotalLogFilesCompacted       int64        `json:"totalLogFilesCompacted"`
	TotalLogSizeCompacted        int64        `json:"totalLogSizeCompacted"`
	TotalLogReadTimeMs           int64        `json:"totalLogReadTimeMs"`
	TotalUpdatedRecordsCompacted int64        `json:"totalUpdatedRecordsCompacted"`
	TotalLogBlocks               int64        `json:"totalLogBlocks"`
	TotalValidLogBlocks          int64        `json:"totalValidLogBlocks"`
	TotalLogBlocksSize           int64        `json:"totalLogBlocksSize"`
	TotalLogBlocksScanTimeMs     int64        `json:"totalLogBlocksScanTimeMs"`
	TotalCorruptLogBlock         int64        `json:"totalCorruptLogBlock"`
	TotalRollbackBlocks          int64        `json:"totalRollbackBlocks"`
	FileSizeInBytes              int64        `json:"fileSizeInBytes"`
	MinEventTime                 *int64       `json:"minEventTime"`
	MaxEventTime                 *int64       `json:"maxEventTime"`
	PrevBaseFile                 *string      `json:"prevBaseFile"`
	RuntimeStats                 RuntimeStats `json:"runtimeStats"`
	// CDCStats maps the paths of change data log files to their sizes; nil when there are none.
	CDCStats CDCStats `json:"cdcStats"`

	// The rest is set for log files only.
	LogVersion int32    `json:"logVersion,omitempty"`
	LogOffset  int64    `json:"logOffset,omitempty"`
	BaseFile   *string  `json:"baseFile,omitempty"`
	LogFiles   []string `json:"logFiles,omitempty"`
}

// RuntimeStats are times of a write in milliseconds.
type RuntimeStats struct {
	TotalScanTime   int64 `json:"totalScanTime"`
	TotalUpsertTime int64 `json:"totalUpsertTime"`
	TotalCreateTime int64 `json:"totalCreateTime"`
}

// CDCStats maps paths to sizes. Hudi 0.12 wrote one path as a string; its size is then 0.
type CDCStats map[string]int64

// UnmarshalJSON accepts an object, a string and null.
func (c *CDCStats) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var path string
		if err := json.Unmarshal(data, &path); err != nil {
			return err
		}
		*c = nil
		if path != "" {
			*c = CDCStats{path: 0}
		}
		return nil
	}
	var m map[string]int64
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	*c = m
	return nil
}

// rawCommit has the fields as stored.
type rawCommit struct {
	Stats     map[string][]WriteStat `json:"partitionToWriteStats"`
	Compacted bool                   `json:"compacted"`
	Extra     map[string]*string     `json:"extraMetadata"`
	Operation string                 `json:"operationType"`
	Replaced  map[string][]string    `json:"partitionToReplaceFileIds"`
}

// ParseCommit decodes the metadata of a commit, deltacommit or replacecommit in any state,
// from JSON or Avro. An empty file gives default metadata without stats, as in Hudi.
func ParseCommit(data []byte) (*CommitMetadata, error) {
	raw, err := parse[rawCommit](data, "HoodieCommitMetadata", "HoodieReplaceCommitMetadata")
	if errors.Is(err, ErrEmpty) {
		return &CommitMetadata{Operation: OpUnknown}, nil
	}
	if err != nil {
		return nil, err
	}
	return raw.typed(), nil
}

// CommitFromJSON decodes commit metadata that is nested in another record, such as an
// archived instant, and has been decoded to JSON.
func CommitFromJSON(text []byte) (*CommitMetadata, error) {
	raw, err := fromJSON[rawCommit](text)
	if err != nil {
		return nil, err
	}
	return raw.typed(), nil
}

func (raw *rawCommit) typed() *CommitMetadata {
	m := &CommitMetadata{Compacted: raw.Compacted, Operation: raw.Operation, IsReplace: raw.Replaced != nil}
	if m.Operation == "" {
		m.Operation = OpUnknown
	}
	for p, stats := range raw.Stats {
		m.Partitions = append(m.Partitions, PartitionStats{p, stats})
	}
	sort.Slice(m.Partitions, func(i, j int) bool { return m.Partitions[i].Partition < m.Partitions[j].Partition })
	for p, ids := range raw.Replaced {
		m.Replaced = append(m.Replaced, PartitionFileIDs{p, ids})
	}
	sort.Slice(m.Replaced, func(i, j int) bool { return m.Replaced[i].Partition < m.Replaced[j].Partition })
	for k, v := range raw.Extra {
		if v != nil {
			if m.Extra == nil {
				m.Extra = map[string]string{}
			}
			m.Extra[k] = *v
		}
	}
	return m
}

// ToHudiJSON renders commit metadata as Hudi's own toJsonString() does, with all the
// fields that any release writes.
func ToHudiJSON(m *CommitMetadata) json.RawMessage {
	out := struct {
		Stats     map[string][]WriteStat `json:"partitionToWriteStats"`
		Compacted bool                   `json:"compacted"`
		Extra     map[string]string      `json:"extraMetadata"`
		Operation string                 `json:"operationType"`
		Replaced  map[string][]string    `json:"partitionToReplaceFileIds,omitempty"`
	}{Stats: map[string][]WriteStat{}, Compacted: m.Compacted, Extra: m.Extra, Operation: m.Operation}
	for _, p := range m.Partitions {
		out.Stats[p.Partition] = p.Stats
	}
	if out.Extra == nil {
		out.Extra = map[string]string{}
	}
	if len(m.Replaced) > 0 {
		out.Replaced = map[string][]string{}
		for _, p := range m.Replaced {
			out.Replaced[p.Partition] = p.FileIDs
		}
	}
	b, _ := json.Marshal(out) // strings, numbers and maps of them always marshal
	return b
}
