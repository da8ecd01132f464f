// The text form of a schema is Avro's JSON (spec log-format.md section 3.2, header
// key SCHEMA; Avro 1.11 specification):
//
//	"long"                                              a primitive, or a named type defined before
//	["null", T]  [T, "null"]                            Nullable, NullFirst true or false
//	[T, U, …]                                           Union
//	{"type":"record","name":…,"fields":[{"name":…,"type":…,"default":…}, …]}
//	{"type":"enum","name":…,"symbols":[…]}              {"type":"fixed","name":…,"size":n}
//	{"type":"array","items":T}                          {"type":"map","values":T}
//	{"type":"bytes","logicalType":"decimal","precision":10,"scale":2}
//
// Attributes that do not change how bytes are read (avro.java.string, aliases, order,
// unknown ones) are accepted and dropped.
package schema
