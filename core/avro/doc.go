// Package avro decodes Avro binary records into columns.
//
// A schema is compiled once into a tree of small instructions; a record is then
// decoded straight into the vectors of a [column.Batch], without maps, interfaces
// or reflection, and fields that nobody asked for are skipped. The bytes carry no
// names and no types (Avro 1.11 specification, "Binary Encoding"; spec
// log-format.md section 6.1):
//
//	null             nothing
//	boolean          1 byte, 0 or 1
//	int, long        zig-zag, then 7 bits per byte, least significant first
//	float, double    4, 8 bytes little-endian
//	bytes, string    long length, bytes
//	fixed            its bytes
//	enum             int symbol index
//	union            long branch index, value of the branch
//	array, map       blocks: long count, items; count 0 ends; a negative count is
//	                 followed by a long byte size of the block
//	record           its fields in order
//
// A record of a log block, schema {commit time, fare}, both ["null", …]:
//
//	02 | 22 | "20251220210123755" | 02 | 9a 99 … 40
//	│    │    │                     │    └ double
//	│    │    └ 17 bytes            └ branch 1 of the union
//	│    └ length 17
//	└ branch 1 of the union
//
// The bytes are not trusted: lengths are compared with the bytes left, the slots that
// a record may unfold to are bounded, and nesting is bounded by the schema.
package avro
