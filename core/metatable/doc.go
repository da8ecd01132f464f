// Package metatable reads the metadata table of a Hudi table: the merge-on-read table in
// .hoodie/metadata that holds the listing of the data table and its indexes.
//
//	partition            record type   key
//	files                1, 2          "__all_partitions__"; a partition path, "." for the table itself
//	column_stats         3             H64(column) H64(partition) H128(file name)
//	bloom_filters        4             H64(partition) H128(file name)
//	record_index         5             the record key
//	partition_stats      6             H64(column) H64(partition)
//	secondary_index_X    7             escaped value, "$", escaped record key
//	expr_index_X         3, 4, 6       as the partition of that type
//
// H64 is XXH64 with a seed of Hudi's, H128 is MD5; both in Base64. A partition has a fixed number
// of file groups; a hash of the key says which of them holds it. A file group is an HFile and log
// files whose blocks are HFiles and deletes, merged by the rules of each record type. So a
// look-up lists one partition and reads the few blocks of one file group that may hold the key.
//
// Which log blocks count is decided by the data table's timeline too: the metadata table commits
// before the data table does (spec metadata-table.md section 3.2).
//
// Source of the rules: spec metadata-table.md.
package metatable
