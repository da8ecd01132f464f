package instants_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/commitmeta"
	"hudiscope/core/instants"
	"hudiscope/core/timeline"
)

func part(s timeline.State, record, text string) instants.Part {
	return instants.Part{State: s, File: "f." + s.String(), Record: record, JSON: json.RawMessage(text)}
}

// links writes relations as "kind to".
func links(w *api.InstantWork) []string {
	out := []string{}
	for _, r := range w.Relations {
		s := r.Kind + " " + r.To
		if r.Plan {
			s += " (plan)"
		}
		out = append(out, s)
	}
	return out
}

func TestDescribe(t *testing.T) {
	const t1, t2, t3 = "20240101000000001", "20240101000000002", "20240101000000003"
	for _, c := range []struct {
		name  string
		in    instants.Input
		links []string
		say   string
		check func(*api.InstantWork) bool
	}{
		{"rollback, JSON schema name unknown", instants.Input{Requested: t3, Action: timeline.Rollback, State: timeline.Completed, Parts: []instants.Part{
			part(timeline.Completed, "", `{"commitsRollback":["`+t1+`"],"instantsRollback":[{"commitTime":"`+t1+`","action":"deltacommit"}],"totalFilesDeleted":2,"partitionMetadata":{"p":{"successDeleteFiles":["/a/p/x.parquet"],"failedDeleteFiles":[],"rollbackLogFiles":{"/a/p/.f_1.log.2_1":7},"logFilesFromFailedCommit":null}}}`)}},
			[]string{"rolls back " + t1}, "Rolled back deltacommit " + t1 + ": 2 files deleted, blocks cancelled in 1 log file.",
			func(w *api.InstantWork) bool {
				p := w.Rollback.Partitions[0]
				return p.Deleted[0] == "x.parquet" && p.CommandLogs[0] == api.FileSize{Path: ".f_1.log.2_1", Size: 7}
			}},
		{"old rollback names commits only", instants.Input{Requested: t3, Action: timeline.Rollback, State: timeline.Completed, Parts: []instants.Part{
			part(timeline.Completed, "", `{"commitsRollback":["`+t1+`","`+t2+`"],"partitionMetadata":{}}`)}},
			[]string{"rolls back " + t1, "rolls back " + t2}, "", nil},
		{"empty rollback, by its plan", instants.Input{Requested: t3, Action: timeline.Rollback, State: timeline.Completed, Parts: []instants.Part{
			part(timeline.Requested, "", `{"instantToRollback":{"commitTime":"`+t1+`","action":"commit"},"RollbackRequests":[{"partitionPath":"p","fileId":"f","latestBaseInstant":"`+t1+`","filesToBeDeleted":["/x/a.parquet"],"logBlocksToBeDeleted":{"/x/.l.log.1":9}}]}`)}},
			[]string{"rolls back " + t1}, "Rolled back commit " + t1, nil},
		{"pending rollback", instants.Input{Requested: t3, Action: timeline.Rollback, State: timeline.Requested, Parts: []instants.Part{
			part(timeline.Requested, "", `{"instantToRollback":{"commitTime":"`+t1+`","action":"commit"}}`)}},
			[]string{"rolls back " + t1 + " (plan)"}, "Rolls back", func(w *api.InstantWork) bool { return w.Pending != nil && w.Pending.Since == t3 }},
		{"rollback that tells nothing", instants.Input{Requested: t3, Action: timeline.Rollback, State: timeline.Inflight}, []string{}, "Neither", nil},
		{"restore", instants.Input{Requested: t3, Action: timeline.Restore, State: timeline.Completed, Parts: []instants.Part{
			part(timeline.Requested, "", `{"instantsToRollback":[{"commitTime":"`+t2+`","action":"commit"}],"savepointToRestoreTimestamp":"`+t1+`"}`),
			part(timeline.Completed, "", `{"instantsToRollback":["`+t2+`"],"hoodieRestoreMetadata":{"`+t2+`":[{"commitsRollback":["`+t2+`"],"partitionMetadata":{}}]},"restoreInstantInfo":[{"commitTime":"`+t2+`","action":"commit"}]}`)}},
			[]string{"restores past " + t2, "restores to " + t1}, "Restored the table to " + t1 + " by undoing 1 instant.", func(w *api.InstantWork) bool { return len(w.Restore.Rollbacks) == 1 }},
		{"clean", instants.Input{Requested: t3, Action: timeline.Clean, State: timeline.Completed, Parts: []instants.Part{
			part(timeline.Completed, "", `{"totalFilesDeleted":1,"earliestCommitToRetain":"`+t2+`","partitionMetadata":{"p":{"policy":"KEEP_LATEST_COMMITS","successDeleteFiles":["a.parquet"],"failedDeleteFiles":["b.parquet"],"isPartitionDeleted":true}}}`)}},
			[]string{"retains from " + t2}, "Removed 1 file in 1 partition; keeps what is needed from " + t2, func(w *api.InstantWork) bool {
				p := w.Clean.Partitions[0]
				return p.Gone && p.Failed[0] == "b.parquet" && w.Clean.Policy == "KEEP_LATEST_COMMITS"
			}},
		{"clean with nothing to keep from", instants.Input{Requested: t3, Action: timeline.Clean, State: timeline.Completed, Parts: []instants.Part{
			part(timeline.Completed, "", `{"totalFilesDeleted":0,"earliestCommitToRetain":"","partitionMetadata":{}}`)}}, []string{}, "Removed 0 files", nil},
		{"pending clean of both plan versions", instants.Input{Requested: t3, Action: timeline.Clean, State: timeline.Requested, Parts: []instants.Part{
			part(timeline.Requested, "", `{"earliestInstantToRetain":{"timestamp":"`+t2+`","action":"commit"},"filesToBeDeletedPerPartition":{"p":["/q/a"]},"filePathsToBeDeletedPerPartition":{"p":[{"filePath":"/q/b"}]},"partitionsToBeDeleted":["z"]}`)}},
			[]string{"retains from " + t2 + " (plan)"}, "Removes 2 files in 2 partitions", func(w *api.InstantWork) bool { return w.Clean.Partitions[1].Gone }},
		{"savepoint", instants.Input{Requested: t1, Action: timeline.Savepoint, State: timeline.Completed, Parts: []instants.Part{
			part(timeline.Completed, "", `{"savepointedBy":"me","savepointedAt":5,"comments":"c","partitionMetadata":{"p":{"savepointDataFile":["/x/a.parquet","b.parquet"]}}}`)}},
			[]string{"protects " + t1}, "Keeps 2 files", func(w *api.InstantWork) bool { return w.Savepoint.Partitions[0].Files[0] == "a.parquet" }},
		{"pending compaction", instants.Input{Requested: t3, Action: timeline.Compaction, State: timeline.Inflight, Parts: []instants.Part{
			part(timeline.Requested, "", `{"operations":[{"baseInstantTime":"`+t1+`","deltaFilePaths":["/x/.f_`+t2+`.log.1_0-0-0"],"dataFilePath":"/x/f_0-0-0_`+t1+`.parquet","fileId":"f","partitionPath":"p"}],"version":1}`)}},
			[]string{"compacts " + t1 + " (plan)", "compacts " + t2 + " (plan)"}, "Is going to merge the log files of 1 file slice.", func(w *api.InstantWork) bool {
				s := w.Plan.Slices[0]
				return w.Plan.Kind == "compaction" && w.Plan.Output == "" && s.Base == "f_0-0-0_"+t1+".parquet" && s.Logs[0] == ".f_"+t2+".log.1_0-0-0"
			}},
		{"completed compaction", instants.Input{Requested: t3, Action: timeline.Commit, Planned: timeline.Compaction, State: timeline.Completed, CompletedFile: t3 + ".commit", Parts: []instants.Part{
			part(timeline.Requested, "", `{"operations":[]}`), part(timeline.Completed, "", `{"operationType":"COMPACT","partitionToWriteStats":{"p":[{"fileId":"f","path":"p/f","prevCommit":"`+t1+`","numUpdateWrites":2}]}}`)}},
			[]string{"was planned as " + t3, "writes over " + t1}, "COMPACT (compaction)", func(w *api.InstantWork) bool { return w.Service == "compaction" && w.Plan.OutputFile == t3+".commit" }},
		{"clustering of layout 1", instants.Input{Requested: t3, Action: timeline.ReplaceCommit, State: timeline.Requested, Parts: []instants.Part{
			part(timeline.Requested, "", `{"operationType":"CLUSTER","clusteringPlan":{"inputGroups":[{"slices":[{"dataFilePath":"/x/f_0_`+t1+`.parquet","deltaFilePaths":null,"fileId":"f","partitionPath":"p"}],"numOutputFileGroups":3}],"strategy":{"strategyClassName":"S"}}}`)}},
			[]string{"clusters " + t1 + " (plan)"}, "Is going to rewrite 1 file slice in 1 group.", func(w *api.InstantWork) bool { return w.Plan.OutputGroups == 3 && w.Plan.Strategy == "S" }},
		{"insert overwrite of layout 1", instants.Input{Requested: t3, Action: timeline.ReplaceCommit, State: timeline.Completed, Parts: []instants.Part{
			part(timeline.Requested, "HoodieRequestedReplaceMetadata", `{"operationType":null,"clusteringPlan":null}`),
			part(timeline.Completed, "", `{"operationType":"INSERT_OVERWRITE","partitionToReplaceFileIds":{"p":["a","b"]},"partitionToWriteStats":{}}`)}},
			[]string{}, "replaced 2 file groups", func(w *api.InstantWork) bool { return w.Service == "" && w.Plan == nil && len(w.Replaced) == 2 }},
		{"indexing", instants.Input{Requested: t3, Action: timeline.Indexing, State: timeline.Completed, Parts: []instants.Part{
			part(timeline.Completed, "", `{"indexPartitionInfos":[{"metadataPartitionPath":"column_stats","indexUptoInstant":"`+t2+`"}]}`)}},
			[]string{"indexes up to " + t2}, "Built the index partitions column_stats", nil},
		{"commit with errors and a checkpoint", instants.Input{Requested: t3, Action: timeline.Commit, State: timeline.Completed, Parts: []instants.Part{
			part(timeline.Completed, "", `{"operationType":"UPSERT","extraMetadata":{"schema":"{\"type\":\"record\",\"name\":\"r\",\"fields\":[]}","deltastreamer.checkpoint.key":"k,1:2"},"partitionToWriteStats":{"p":[{"fileId":"f","prevCommit":"null","totalWriteErrors":4}]}}`)}},
			[]string{}, "UPSERT: wrote 1 file", func(w *api.InstantWork) bool {
				return len(w.Extra) == 1 && strings.Contains(w.Extra[0].What, "checkpoint") && len(w.Schema) > 0 && strings.Contains(w.Findings[0].Detail, "4 records")
			}},
		{"metadata of another shape", instants.Input{Requested: t3, Action: timeline.Clean, State: timeline.Completed, Parts: []instants.Part{part(timeline.Completed, "", `{"partitionMetadata":7}`)}},
			[]string{}, "Removed 0 files", func(w *api.InstantWork) bool { return len(w.Findings) > 0 && w.Findings[0].File != "" }},
		{"action of another release", instants.Input{Requested: t3, Action: "vacuum", State: timeline.Completed}, []string{}, "Completed", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := instants.Describe(&c.in)
			if got := links(w); !reflect.DeepEqual(got, c.links) {
				t.Errorf("links %q, want %q", got, c.links)
			}
			if !strings.Contains(w.Sentence, c.say) || w.Sentence == "" {
				t.Errorf("sentence %q, want %q", w.Sentence, c.say)
			}
			if c.check != nil && !c.check(w) {
				b, _ := json.MarshalIndent(w, "", " ")
				t.Errorf("%s", b)
			}
			if (w.Pending != nil) != (c.in.State != timeline.Completed) {
				t.Errorf("pending %+v", w.Pending)
			}
		})
	}
}

// TestWorkload: entries of one file id add up, and the instant of the last counts; inserts have the
// empty file id and the previous commit "null".
func TestWorkload(t *testing.T) {
	m, err := commitmeta.ParseCommit([]byte(`{"operationType":"UPSERT","partitionToWriteStats":{
		"a":[{"fileId":"","prevCommit":"null","numInserts":4},{"fileId":"f","prevCommit":"1","numUpdateWrites":2,"numInserts":1},{"fileId":"f","prevCommit":"2","numUpdateWrites":3}],
		"b":[{"fileId":"","prevCommit":"null","numInserts":5}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	w := instants.WorkloadOf(m, "x.inflight", "INFLIGHT")
	want := []api.WorkloadPartition{
		{Partition: "a", Inserts: 5, Updates: 5, Entries: []api.WorkloadEntry{{FileID: "", PrevCommit: "null", Inserts: 4}, {FileID: "f", PrevCommit: "2", Inserts: 1, Updates: 5}}},
		{Partition: "b", Inserts: 5, Entries: []api.WorkloadEntry{{FileID: "", PrevCommit: "null", Inserts: 5}}},
	}
	if !reflect.DeepEqual(w.Partitions, want) || w.Inserts != 10 || w.Updates != 5 || w.Groups != 1 || w.Operation != "UPSERT" {
		t.Errorf("%+v", w)
	}
	if !strings.Contains(w.Use, "rollback") || strings.Contains(instants.WorkloadOf(m, "", "COMPLETED").Use, "may have been written") {
		t.Errorf("use: %q", w.Use)
	}
}

func TestTime(t *testing.T) {
	for in, want := range map[string]string{
		"20240203040506":       "2024-02-03T04:05:06Z",
		"20240203040506078":    "2024-02-03T04:05:06.078Z",
		"20240203040506078001": "2024-02-03T04:05:06.078Z",
		"00000000000001":       "",
		"2024":                 "",
		"":                     "",
	} {
		got, ok := instants.Time(in)
		if ok != (want != "") || ok && got.Format("2006-01-02T15:04:05.999Z07:00") != want {
			t.Errorf("%s: %v %v, want %q", in, got, ok, want)
		}
	}
}
