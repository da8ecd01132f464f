// Package query plans reads as Spark and Flink plan them. Every plan is a value that can be shown
// before anything of it is read, and its execution reads what the plan says:
//
//	Decide   which relation a Spark read becomes
//	Prepare  a Spark read: snapshot, read optimized, as of an instant, incremental, change data
//	Flink    a Flink read: rounds of splits, and the iterator each split is read with
//	Tasks    how Spark packs the files of a plan into tasks, Take which of them a limit runs
//
// Source of the rules: spec queries.md, record-merging.md sections 7 and 11.
package query
