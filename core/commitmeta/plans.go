package commitmeta

import "strings"

// CompactionPlan is HoodieCompactionPlan, of compaction and log compaction.
type CompactionPlan struct {
	Operations []CompactionOperation `json:"operations"`
	Extra      map[string]*string    `json:"extraMetadata"`
	// Version 1 holds absolute paths in operations, 2 file names; the accessors of
	// CompactionOperation give names for both.
	Version          *int      `json:"version"`
	Strategy         *Strategy `json:"strategy"`
	PreserveMetadata *bool     `json:"preserveHoodieMetadata"`
	MissingPartition []string  `json:"missingSchedulePartitions"`
}

// Strategy names the class that made a plan.
type Strategy struct {
	Compactor  string             `json:"compactorClassName"`
	Clustering string             `json:"strategyClassName"`
	Params     map[string]*string `json:"strategyParams"`
}

// CompactionOperation is HoodieCompactionOperation: one file slice to compact.
type CompactionOperation struct {
	BaseInstant   string             `json:"baseInstantTime"`
	DeltaPaths    []string           `json:"deltaFilePaths"`
	DataPath      *string            `json:"dataFilePath"`
	FileID        string             `json:"fileId"`
	Partition     string             `json:"partitionPath"`
	Metrics       map[string]float64 `json:"metrics"`
	BootstrapPath *string            `json:"bootstrapFilePath"`
}

// DataFile is the name of the base file, "" when the slice has none.
func (o *CompactionOperation) DataFile() string {
	if o.DataPath == nil {
		return ""
	}
	return lastElement(*o.DataPath)
}

// DeltaFiles are the names of the log files.
func (o *CompactionOperation) DeltaFiles() []string {
	out := make([]string, len(o.DeltaPaths))
	for i, p := range o.DeltaPaths {
		out[i] = lastElement(p)
	}
	return out
}

func lastElement(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// ParseCompactionPlan decodes a .compaction.requested or .logcompaction.requested file.
// A file without content gives ErrEmpty.
func ParseCompactionPlan(data []byte) (*CompactionPlan, error) {
	return parse[CompactionPlan](data, "HoodieCompactionPlan")
}

// RequestedReplace is HoodieRequestedReplaceMetadata, of replacecommit and clustering.
type RequestedReplace struct {
	// Operation is CLUSTER for clustering, "" for an overwrite.
	Operation  string             `json:"operationType"`
	Clustering *ClusteringPlan    `json:"clusteringPlan"`
	Extra      map[string]*string `json:"extraMetadata"`
	Version    *int               `json:"version"`
}

// IsClustering reports whether the request is a clustering.
func (r *RequestedReplace) IsClustering() bool { return r.Operation == OpCluster }

// ClusteringPlan is HoodieClusteringPlan.
type ClusteringPlan struct {
	Groups           []ClusteringGroup  `json:"inputGroups"`
	Strategy         *Strategy          `json:"strategy"`
	Extra            map[string]*string `json:"extraMetadata"`
	PreserveMetadata *bool              `json:"preserveHoodieMetadata"`
	MissingPartition []string           `json:"missingSchedulePartitions"`
}

// ClusteringGroup is HoodieClusteringGroup: slices that are rewritten together.
type ClusteringGroup struct {
	Slices       []ClusteringSlice  `json:"slices"`
	Metrics      map[string]float64 `json:"metrics"`
	OutputGroups *int               `json:"numOutputFileGroups"`
	Extra        map[string]*string `json:"extraMetadata"`
}

// ClusteringSlice is HoodieSliceInfo.
type ClusteringSlice struct {
	DataPath      *string  `json:"dataFilePath"`
	DeltaPaths    []string `json:"deltaFilePaths"`
	FileID        string   `json:"fileId"`
	Partition     string   `json:"partitionPath"`
	BootstrapPath *string  `json:"bootstrapFilePath"`
}

// ParseRequestedReplace decodes a .replacecommit.requested or .clustering.requested file.
// A file without content gives ErrEmpty: it is not a clustering.
func ParseRequestedReplace(data []byte) (*RequestedReplace, error) {
	return parse[RequestedReplace](data, "HoodieRequestedReplaceMetadata")
}

// CleanMetadata is HoodieCleanMetadata, of a completed clean.
type CleanMetadata struct {
	StartTime        string                    `json:"startCleanTime"`
	TimeTakenMs      int64                     `json:"timeTakenInMillis"`
	FilesDeleted     int64                     `json:"totalFilesDeleted"`
	EarliestRetained string                    `json:"earliestCommitToRetain"`
	LastCompleted    string                    `json:"lastCompletedCommitTimestamp"`
	Partitions       map[string]CleanPartition `json:"partitionMetadata"`
	Bootstrap        map[string]CleanPartition `json:"bootstrapPartitionMetadata"`
	Version          *int                      `json:"version"`
	Extra            map[string]*string        `json:"extraMetadata"`
}

// CleanPartition is HoodieCleanPartitionMetadata.
type CleanPartition struct {
	Partition string   `json:"partitionPath"`
	Policy    string   `json:"policy"`
	Patterns  []string `json:"deletePathPatterns"`
	Deleted   []string `json:"successDeleteFiles"`
	Failed    []string `json:"failedDeleteFiles"`
	// Gone tells that the whole partition was deleted.
	Gone bool `json:"isPartitionDeleted"`
}

// ParseClean decodes a completed .clean file.
func ParseClean(data []byte) (*CleanMetadata, error) {
	return parse[CleanMetadata](data, "HoodieCleanMetadata")
}

// CleanerPlan is HoodieCleanerPlan.
type CleanerPlan struct {
	Earliest      *InstantRef            `json:"earliestInstantToRetain"`
	LastCompleted string                 `json:"lastCompletedCommitTimestamp"`
	Policy        string                 `json:"policy"`
	Files         map[string][]string    `json:"filesToBeDeletedPerPartition"`
	FilePaths     map[string][]CleanFile `json:"filePathsToBeDeletedPerPartition"`
	Partitions    []string               `json:"partitionsToBeDeleted"`
	Version       *int                   `json:"version"`
	Extra         map[string]*string     `json:"extraMetadata"`
}

// CleanFile is HoodieCleanFileInfo.
type CleanFile struct {
	Path          *string `json:"filePath"`
	BootstrapBase *bool   `json:"isBootstrapBaseFile"`
}

// InstantRef names an instant in a plan. Cleans say timestamp, rollbacks commitTime.
type InstantRef struct {
	Timestamp  string `json:"timestamp"`
	CommitTime string `json:"commitTime"`
	Action     string `json:"action"`
	State      string `json:"state"`
}

// Time is the requested time, whichever field holds it.
func (r InstantRef) Time() string {
	if r.CommitTime != "" {
		return r.CommitTime
	}
	return r.Timestamp
}

// ParseCleanerPlan decodes a .clean.requested or .clean.inflight file.
func ParseCleanerPlan(data []byte) (*CleanerPlan, error) {
	return parse[CleanerPlan](data, "HoodieCleanerPlan")
}

// RollbackPlan is HoodieRollbackPlan.
type RollbackPlan struct {
	Target   *InstantRef       `json:"instantToRollback"`
	Requests []RollbackRequest `json:"RollbackRequests"`
	Version  *int              `json:"version"`
}

// RollbackRequest is HoodieRollbackRequest.
type RollbackRequest struct {
	Partition   string           `json:"partitionPath"`
	FileID      string           `json:"fileId"`
	BaseInstant string           `json:"latestBaseInstant"`
	Delete      []string         `json:"filesToBeDeleted"`
	LogBlocks   map[string]int64 `json:"logBlocksToBeDeleted"`
}

// ParseRollbackPlan decodes a .rollback.requested file.
func ParseRollbackPlan(data []byte) (*RollbackPlan, error) {
	return parse[RollbackPlan](data, "HoodieRollbackPlan")
}

// RollbackMetadata is HoodieRollbackMetadata, of a completed rollback.
type RollbackMetadata struct {
	StartTime    string                       `json:"startRollbackTime"`
	TimeTakenMs  int64                        `json:"timeTakenInMillis"`
	FilesDeleted int64                        `json:"totalFilesDeleted"`
	Commits      []string                     `json:"commitsRollback"`
	Partitions   map[string]RollbackPartition `json:"partitionMetadata"`
	Instants     []InstantRef                 `json:"instantsRollback"`
	Version      *int                         `json:"version"`
}

// RollbackPartition is HoodieRollbackPartitionMetadata. The maps are path → size.
type RollbackPartition struct {
	Partition     string           `json:"partitionPath"`
	Deleted       []string         `json:"successDeleteFiles"`
	Failed        []string         `json:"failedDeleteFiles"`
	RollbackLogs  map[string]int64 `json:"rollbackLogFiles"`
	LogsFromWrite map[string]int64 `json:"logFilesFromFailedCommit"`
}

// Targets are the requested times of the instants that were rolled back.
func (m *RollbackMetadata) Targets() []string {
	if len(m.Instants) > 0 {
		var out []string
		for _, i := range m.Instants {
			out = append(out, i.Time())
		}
		return out
	}
	return m.Commits
}

// ParseRollback decodes a completed .rollback file. A file without content gives ErrEmpty:
// the plan of the .rollback.requested file then tells the target.
func ParseRollback(data []byte) (*RollbackMetadata, error) {
	return parse[RollbackMetadata](data, "HoodieRollbackMetadata")
}

// RestorePlan is HoodieRestorePlan.
type RestorePlan struct {
	Instants  []InstantRef `json:"instantsToRollback"`
	Savepoint *string      `json:"savepointToRestoreTimestamp"`
	Version   *int         `json:"version"`
}

// ParseRestorePlan decodes a .restore.requested file.
func ParseRestorePlan(data []byte) (*RestorePlan, error) {
	return parse[RestorePlan](data, "HoodieRestorePlan")
}

// RestoreMetadata is HoodieRestoreMetadata, of a completed restore.
type RestoreMetadata struct {
	StartTime   string                        `json:"startRestoreTime"`
	TimeTakenMs int64                         `json:"timeTakenInMillis"`
	Instants    []string                      `json:"instantsToRollback"`
	Rollbacks   map[string][]RollbackMetadata `json:"hoodieRestoreMetadata"`
	Infos       []InstantRef                  `json:"restoreInstantInfo"`
	Version     *int                          `json:"version"`
}

// ParseRestore decodes a completed .restore file.
func ParseRestore(data []byte) (*RestoreMetadata, error) {
	return parse[RestoreMetadata](data, "HoodieRestoreMetadata")
}

// SavepointMetadata is HoodieSavepointMetadata.
type SavepointMetadata struct {
	By         string                        `json:"savepointedBy"`
	AtMs       int64                         `json:"savepointedAt"`
	Comments   string                        `json:"comments"`
	Partitions map[string]SavepointPartition `json:"partitionMetadata"`
	Version    *int                          `json:"version"`
}

// SavepointPartition is HoodieSavepointPartitionMetadata.
type SavepointPartition struct {
	Partition string   `json:"partitionPath"`
	Files     []string `json:"savepointDataFile"`
}

// ParseSavepoint decodes a completed .savepoint file.
func ParseSavepoint(data []byte) (*SavepointMetadata, error) {
	return parse[SavepointMetadata](data, "HoodieSavepointMetadata")
}

// IndexMetadata is HoodieIndexPlan and HoodieIndexCommitMetadata.
type IndexMetadata struct {
	Operation  string           `json:"operationType"`
	Partitions []IndexPartition `json:"indexPartitionInfos"`
	Version    *int             `json:"version"`
}

// IndexPartition is HoodieIndexPartitionInfo: a partition of the metadata table that is
// being built up to an instant.
type IndexPartition struct {
	Partition string             `json:"metadataPartitionPath"`
	UpTo      string             `json:"indexUptoInstant"`
	Extra     map[string]*string `json:"extraMetadata"`
	Version   *int               `json:"version"`
}

// ParseIndex decodes an .indexing.requested or completed .indexing file.
func ParseIndex(data []byte) (*IndexMetadata, error) {
	return parse[IndexMetadata](data, "HoodieIndexPlan", "HoodieIndexCommitMetadata")
}
