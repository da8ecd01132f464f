package instants

import (
	"fmt"

	"hudiscope/core/api"
	"hudiscope/core/commitmeta"
	"hudiscope/core/timeline"
)

// hasProfile tells commit metadata that is a workload profile from metadata without content.
func hasProfile(m *commitmeta.CommitMetadata) bool { return len(m.Partitions) > 0 }

func inflightFile(in *Input) string {
	for _, p := range in.Parts {
		if p.State == timeline.Inflight {
			return p.File
		}
	}
	return ""
}

// WorkloadOf reads a workload profile from the metadata of an inflight file (spec timeline.md
// section 7). Several entries of one file id are added up; the instant of the last counts.
// state is the instant's state now: the profile stays in the file when the write completes.
func WorkloadOf(m *commitmeta.CommitMetadata, file, state string) *api.Workload {
	w := &api.Workload{Operation: m.Operation, File: file, State: state, Partitions: []api.WorkloadPartition{}}
	for _, p := range m.Partitions {
		out := api.WorkloadPartition{Partition: p.Partition, Entries: []api.WorkloadEntry{}}
		at := map[string]int{}
		for i := range p.Stats {
			s := &p.Stats[i]
			n, ok := at[s.FileID]
			if !ok {
				n = len(out.Entries)
				at[s.FileID] = n
				out.Entries = append(out.Entries, api.WorkloadEntry{FileID: s.FileID})
				if s.FileID != "" {
					w.Groups++
				}
			}
			e := &out.Entries[n]
			e.PrevCommit = s.PrevCommit
			e.Inserts += s.NumInserts
			e.Updates += s.NumUpdateWrites
			out.Inserts += s.NumInserts
			out.Updates += s.NumUpdateWrites
		}
		w.Inserts += out.Inserts
		w.Updates += out.Updates
		w.Partitions = append(w.Partitions, out)
	}
	w.Use = workloadUse(w)
	return w
}

func workloadUse(w *api.Workload) string {
	if w.State == timeline.Completed.String() {
		return "The write has completed: its commit metadata tells what it wrote, this profile what it had planned."
	}
	return fmt.Sprintf("A rollback of this write takes from it that %s in %s may have been written to, each on the slice of its previous commit, and that inserts may have made new file groups in the same partitions. "+
		"Before version 8 it writes a rollback command to the logs of those slices; base files of this instant are deleted.", count(w.Groups, "file group"), count(len(w.Partitions), "partition"))
}
