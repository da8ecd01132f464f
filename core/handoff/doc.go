// Package handoff writes code that reads the rows of a query with other engines: Spark (SQL and
// PySpark), Flink SQL, Trino and hudi-rs. The code gives the same rows at the same instants, or the
// engine is refused with the reason.
//
// Everything that comes from a table or a request (names, paths, values, conditions) is data that may
// hold anything. It gets into code only through the functions of quote.go and sql.go, and never into
// comments.
//
// Options are those of spec queries.md sections 1 and 10.1.
package handoff
