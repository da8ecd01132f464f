package query

import "fmt"

// RelationInputs are what the choice of a relation depends on (spec queries.md section 2).
type RelationInputs struct {
	TableType    string // COPY_ON_WRITE or MERGE_ON_READ
	QueryType    string // as given: snapshot, read_optimized, incremental
	Bootstrapped bool
	// Commits is true when the table has a completed commit.
	Commits bool
	// CDC is true for a query of format cdc, CDCEnabled for a table that logs changes.
	CDC, CDCEnabled bool
	// Version is the table version, or the one that the query forces.
	Version int
	// Old is the decision of releases up to 0.12; ByRequestedTime that there is no V2.
	Old, ByRequestedTime bool
}

// RelationRule is one row of the decision table.
type RelationRule struct {
	When, Relation, Reads string
	// Holds is true when the condition is met; the first row that holds is taken.
	Holds bool
}

// Relation is the decision: the inputs, the table and the row taken.
type Relation struct {
	Inputs RelationInputs
	Rules  []RelationRule
	// Taken is the index of the row taken.
	Taken int
	// Refused says why the combination is no valid query, "" when it is.
	Refused string
}

// Name is the relation taken.
func (r *Relation) Name() string { return r.Rules[r.Taken].Relation }

// Decide chooses the relation of a Spark read.
func Decide(in RelationInputs) Relation {
	cow, mor := in.TableType == "COPY_ON_WRITE", in.TableType == "MERGE_ON_READ"
	snapshot, optimized, incremental := in.QueryType == "snapshot", in.QueryType == "read_optimized", in.QueryType == "incremental"
	known := snapshot || optimized || incremental
	boot := in.Bootstrapped
	v2 := in.Version >= 8 && !in.ByRequestedTime
	name, range2 := "IncrementalRelation", "the files that the commits of the range wrote"
	if !in.Old {
		name = "IncrementalRelationV1"
		if v2 {
			name = "IncrementalRelationV2"
		}
	}
	r := Relation{Inputs: in}
	add := func(holds bool, when, relation, reads string) {
		r.Rules = append(r.Rules, RelationRule{when, relation, reads, holds})
	}
	add(!in.Commits, "the table has no completed commit", "EmptyRelation", "nothing; the schema is the resolver's")
	if in.Old {
		add(cow && (snapshot || optimized) && !boot, "copy on write, snapshot or read optimized, not bootstrapped", "BaseFileOnlyRelation", "the newest base file of every group")
		add(mor && optimized && !boot, "merge on read, read optimized, not bootstrapped", "BaseFileOnlyRelation", "the newest base file of every group")
		add(cow && incremental, "copy on write, incremental", name, range2)
		add(mor && snapshot && !boot, "merge on read, snapshot, not bootstrapped", "MergeOnReadSnapshotRelation", "slices: base files and logs")
		add(mor && incremental, "merge on read, incremental", "MergeOnRead"+name, range2)
		add(boot && (snapshot || optimized), "bootstrapped, snapshot or read optimized", "HoodieBootstrapRelation", "skeleton files and their source files")
	} else {
		add(incremental && in.CDC, "incremental, format cdc", "CDCRelation", "change data logs, and the files they refer to")
		add((cow && (snapshot || optimized) || mor && optimized) && !boot, "copy on write snapshot or read optimized, or merge on read read optimized; not bootstrapped", "BaseFileOnlyRelation", "the newest base file of every group")
		add(cow && incremental, "copy on write, incremental", name, range2)
		add(mor && snapshot && !boot, "merge on read, snapshot, not bootstrapped", "MergeOnReadSnapshotRelation", "slices: base files and logs")
		add(mor && snapshot && boot, "merge on read, snapshot, bootstrapped", "MergeOnReadSnapshotRelation with bootstrap", "slices: skeleton files, their source files and logs")
		add(mor && incremental, "merge on read, incremental", "MergeOnRead"+name, range2)
		add(boot && (snapshot || optimized), "bootstrapped, what is left of snapshot and read optimized", "HoodieBootstrapRelation", "skeleton files and their source files")
	}
	add(true, "anything else", "", "nothing: the query is refused")
	for i := range r.Rules {
		if r.Rules[i].Holds {
			r.Taken = i
			break
		}
	}
	switch {
	case r.Rules[r.Taken].Relation == "" || !known && in.Commits:
		r.Taken = len(r.Rules) - 1
		r.Refused = fmt.Sprintf("Invalid query type : %s for tableType: %s,isBootstrappedTable: %v ", in.QueryType, in.TableType, in.Bootstrapped)
	case r.Name() == "CDCRelation" && !in.CDCEnabled:
		r.Refused = "It isn't a CDC hudi table: hoodie.table.cdc.enabled is not true, so that no changes were logged."
	}
	return r
}
