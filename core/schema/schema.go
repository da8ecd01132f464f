// Package schema holds Avro schemas as a typed tree: the types of log block
// records, of base files and of the table. Unions of null and one other type,
// by far the commonest in Hudi, are folded into a Nullable flag.
//
// Source of the rules: Avro 1.11 specification; Hudi's use of it in spec
// log-format.md section 6 and record-merging.md section 10.
package schema

// Kind is the physical type.
type Kind uint8

// The kinds. Union is only for unions other than null and one type.
const (
	Invalid Kind = iota
	Null
	Boolean
	Int
	Long
	Float
	Double
	Bytes
	String
	Fixed
	Enum
	Record
	Array
	Map
	Union
)

// String returns Avro's name of the kind.
func (k Kind) String() string {
	names := [...]string{"invalid", "null", "boolean", "int", "long", "float", "double", "bytes", "string", "fixed", "enum", "record", "array", "map", "union"}
	if int(k) < len(names) {
		return names[k]
	}
	return "kind?"
}

// Logical is the logical type laid over a kind.
type Logical uint8

// The logical types that Hudi writes. Unknown ones are kept by name in Type.LogicalName only.
const (
	None Logical = iota
	Decimal
	Date
	TimeMillis
	TimeMicros
	TimestampMillis
	TimestampMicros
	TimestampNanos
	LocalTimestampMillis
	LocalTimestampMicros
	LocalTimestampNanos
	UUID
)

// Type is one node of a schema. It is immutable once parsed. Recursive named types are
// refused by Parse: no Hudi table has them and columns cannot hold them.
type Type struct {
	Kind    Kind
	Logical Logical
	// LogicalName is the logicalType text as written, known or not.
	LogicalName string
	// Precision and Scale of a Decimal; Size in bytes of a Fixed.
	Precision, Scale, Size int
	// Nullable is set for a union of null and this type; NullFirst tells whether null is
	// branch 0 (which decides the branch index in the bytes and the default null).
	Nullable, NullFirst bool
	// Name and Namespace of records, enums and fixed.
	Name, Namespace string
	Doc             string
	// Fields of a Record.
	Fields []Field
	// Elem of an Array, value type of a Map.
	Elem *Type
	// Symbols of an Enum.
	Symbols []string
	// Branches of a Union, null included where it is one.
	Branches []*Type
}

// Field is one field of a record.
type Field struct {
	Name string
	Type *Type
	// HasDoc tells an empty doc, which Hudi gives its meta fields, from none.
	HasDoc bool
	Doc    string
	// HasDefault tells that the field has a default; Default is its JSON text.
	HasDefault bool
	Default    string
}

// FieldIndex returns the position of a field by name, or -1.
func (t *Type) FieldIndex(name string) int {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return i
		}
	}
	return -1
}
