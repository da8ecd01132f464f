// Package hfile reads HFile version 3, the sorted key-value file in which Hudi keeps the base
// files and log blocks of its metadata table, its bootstrap index, and the log blocks of tables
// whose data blocks are of that format.
//
//	data blocks     DATABLK*  (index blocks IDXLEAF2 between them when the index has levels)
//	meta blocks     METABLKc, intermediate index blocks IDXINTE2
//	load-on-open    IDXROOT2 root data index, IDXROOT2 meta index, FILEINF2 file info
//	trailer         the last 4096 bytes: TRABLK"$, a protobuf message, zeros, version
//
// Every block has a header of 33 bytes; all numbers are big-endian:
//
//	0   magic 8
//	8   size on disk without header 4      payload as stored, and checksums
//	12  size of the payload unpacked 4
//	16  offset of the previous block 8     not used: the native writer stores something else
//	24  checksum type 1, bytes per checksum 4
//	29  size on disk with header, without checksums 4
//	33  payload, then 4 bytes of checksum per chunk
//
// and a data block's payload is a run of cells, sorted by the bytes of the row:
//
//	key length 4 | value length 4 | row length 2 | row | family length 1 (0) | timestamp 8 | type 1 (4, Put) | value | mvcc, a vlong
//
// Opening a file reads the trailer and the load-on-open section and proves nothing about the
// data blocks; a look-up then reads the blocks that may hold the key and no others.
//
// Source of the rules: spec hfile.md.
package hfile
