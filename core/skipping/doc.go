// Package skipping decides, before anything of the data is read, which partitions and file slices a
// condition leaves out, and says why of every one (spec queries.md section 8, metadata-table.md sections 7
// to 9, file-view.md section 9.3).
//
// A slice is left out only by a proof that no row of it can meet the condition. The proofs are
//
//	partition values   the conjuncts over partition columns, on the values in the path
//	partition_stats    bounds of the whole partition
//	bucket index       the bucket of a key, where the number of buckets is known
//	record_index       the place of a key, and of the keys of a secondary index
//	expression index   bounds or a bloom filter of the expression that the condition has
//	bloom_filters      the keys of a base file
//	column_stats       bounds and nulls of columns of a file
//
// Hudi tries them in this order and takes the first that the condition suits. Statistics are held
// against the condition by its own evaluator: a part of the condition over one column is decided at the
// column's least and greatest value, so that casts, NaN and decimals are what they are for rows.
//
// A row of a slice with log files is merged from several versions, and a partial update takes each of its
// fields from another: a part of the condition may hold in a slice when it may in any of its files.
//
// What a Hudi release would leave out beyond that is found as well and said; it is read nevertheless.
package skipping
