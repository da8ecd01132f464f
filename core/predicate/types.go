package predicate

import (
	"fmt"

	"hudiscope/core/schema"
)

// TypeKind is a type of Spark SQL, without its parameters.
type TypeKind uint8

// The types that conditions can have operands of. NullType is that of NULL; Other is what can only be
// tested for null (arrays, maps, structs, times of day).
const (
	NullType TypeKind = iota
	Boolean
	Byte
	Short
	Int
	Long
	Float
	Double
	Decimal
	String
	Bytes
	Date
	Timestamp
	TimestampNTZ
	Other
)

// Type is a type of Spark SQL.
type Type struct {
	Kind TypeKind
	// Precision and Scale of a Decimal, in digits.
	Precision, Scale int
	// Name of an Other, for messages.
	Name string
}

// String returns Spark's name of the type.
func (t Type) String() string {
	switch t.Kind {
	case Decimal:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case Other:
		return t.Name
	}
	names := [...]string{"void", "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "string", "binary", "date", "timestamp", "timestamp_ntz"}
	return names[t.Kind]
}

// TypeOf returns the type that a column of a table has in Spark.
func TypeOf(t *schema.Type) Type {
	switch t.Kind {
	case schema.Boolean:
		return Type{Kind: Boolean}
	case schema.Int, schema.Long:
		switch t.Logical {
		case schema.Date:
			return Type{Kind: Date}
		case schema.TimestampMillis, schema.TimestampMicros, schema.TimestampNanos:
			return Type{Kind: Timestamp}
		case schema.LocalTimestampMillis, schema.LocalTimestampMicros, schema.LocalTimestampNanos:
			return Type{Kind: TimestampNTZ}
		case schema.TimeMillis, schema.TimeMicros:
			return Type{Kind: Other, Name: "time of day"}
		case schema.Decimal:
			return Type{Kind: Decimal, Precision: t.Precision, Scale: t.Scale}
		}
		if t.Kind == schema.Int {
			return Type{Kind: Int}
		}
		return Type{Kind: Long}
	case schema.Float:
		return Type{Kind: Float}
	case schema.Double:
		return Type{Kind: Double}
	case schema.String, schema.Enum:
		return Type{Kind: String}
	case schema.Bytes, schema.Fixed:
		if t.Logical == schema.Decimal {
			return Type{Kind: Decimal, Precision: t.Precision, Scale: t.Scale}
		}
		if t.Logical == schema.UUID {
			return Type{Kind: Other, Name: "uuid"}
		}
		return Type{Kind: Bytes}
	case schema.Record:
		return Type{Kind: Other, Name: "struct"}
	}
	return Type{Kind: Other, Name: t.Kind.String()}
}

func (t Type) numeric() bool    { return t.Kind >= Byte && t.Kind <= Decimal }
func (t Type) integral() bool   { return t.Kind >= Byte && t.Kind <= Long }
func (t Type) fractional() bool { return t.Kind == Float || t.Kind == Double }
func (t Type) datetime() bool   { return t.Kind >= Date && t.Kind <= TimestampNTZ }
func (t Type) is(k TypeKind) bool {
	return t.Kind == k
}

// maxDecimal is the most digits that a decimal has.
const maxDecimal = 38

// bounded is a decimal with its digits limited, as Spark does for casts of comparisons.
func bounded(precision, scale int) Type {
	return Type{Kind: Decimal, Precision: min(precision, maxDecimal), Scale: min(scale, maxDecimal)}
}

// adjusted is the type of a decimal result: what does not fit loses digits of its fraction, down to six.
func adjusted(precision, scale int) Type {
	if precision <= maxDecimal {
		return Type{Kind: Decimal, Precision: precision, Scale: scale}
	}
	whole := precision - scale
	return Type{Kind: Decimal, Precision: maxDecimal, Scale: max(maxDecimal-whole, min(scale, 6))}
}

// asDecimal is the decimal that holds all values of an integral type.
func (t Type) asDecimal() Type {
	switch t.Kind {
	case Byte:
		return Type{Kind: Decimal, Precision: 3}
	case Short:
		return Type{Kind: Decimal, Precision: 5}
	case Int:
		return Type{Kind: Decimal, Precision: 10}
	case Long:
		return Type{Kind: Decimal, Precision: 20}
	}
	return t
}

// wider is the decimal that holds the values of both.
func wider(a, b Type) Type {
	scale := max(a.Scale, b.Scale)
	return bounded(max(a.Precision-a.Scale, b.Precision-b.Scale)+scale, scale)
}

// tightest is Spark's findTightestCommonType: the type to which both are cast without loss of range. ok
// is false where there is none.
func tightest(a, b Type) (t Type, ok bool) {
	switch {
	case a == b:
		return a, true
	case a.is(NullType):
		return b, true
	case b.is(NullType):
		return a, true
	case a.numeric() && b.numeric() && !a.is(Decimal) && !b.is(Decimal):
		return Type{Kind: max(a.Kind, b.Kind)}, true
	case a.datetime() && b.datetime():
		if a.is(Timestamp) || b.is(Timestamp) {
			return Type{Kind: Timestamp}, true
		}
		return Type{Kind: TimestampNTZ}, true
	case a.is(Decimal) && b.integral() && holds(a, b):
		return a, true
	case b.is(Decimal) && a.integral() && holds(b, a):
		return b, true
	}
	return Type{}, false
}

// holds reports whether all values of an integral type fit a decimal.
func holds(d, i Type) bool { return d.Precision-d.Scale >= i.asDecimal().Precision }

// widest is Spark's findWiderTypeForTwo, which the operands of IN and coalesce follow: numbers and dates
// beside texts become texts.
func widest(a, b Type) (Type, bool) {
	if t, ok := tightest(a, b); ok {
		return t, true
	}
	switch {
	case a.is(Decimal) && b.is(Decimal):
		return wider(a, b), true
	case a.is(Decimal) && b.integral(), b.is(Decimal) && a.integral():
		return wider(a.asDecimal(), b.asDecimal()), true
	case a.is(Decimal) && b.fractional(), b.is(Decimal) && a.fractional():
		return Type{Kind: Double}, true
	case a.is(String) && promotes(b):
		return a, true
	case b.is(String) && promotes(a):
		return b, true
	}
	return Type{}, false
}

func promotes(t Type) bool { return t.numeric() || t.datetime() }
