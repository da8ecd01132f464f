package logfile

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"hudiscope/core/column"
)

// OrderingKind is the type of an ordering value.
type OrderingKind uint8

// The kinds. Which field of Ordering holds the value stands beside each.
const (
	OrderNone            OrderingKind = iota // no value: treated as the default, 0
	OrderBool                                // Int, 0 or 1
	OrderInt                                 // Int; also Java's byte and short
	OrderLong                                // Int
	OrderFloat                               // Float
	OrderDouble                              // Float
	OrderBytes                               // Bytes
	OrderString                              // Bytes, UTF-8
	OrderDate                                // Int, days since 1970
	OrderDecimal                             // Bytes, two's complement big-endian, and Scale
	OrderTimeMicros                          // Int, microseconds of the day
	OrderTimestampMicros                     // Int, microseconds since 1970
	OrderLocalDate                           // Int, days since 1970
	OrderTuple                               // Tuple; several ordering fields, since 1.1
)

var orderingNames = [...]string{"null", "boolean", "int", "long", "float", "double", "bytes", "string", "date", "decimal", "time-micros", "timestamp-micros", "local-date", "tuple"}

// String returns a short name: "int", "timestamp-micros", "null" for none.
func (k OrderingKind) String() string {
	if int(k) < len(orderingNames) {
		return orderingNames[k]
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// Ordering is the ordering value of a delete.
type Ordering struct {
	Kind  OrderingKind
	Int   int64
	Float float64
	Bytes []byte
	Scale int
	Tuple []Ordering
	// Class is the Java class in Kryo blocks, "" in Avro ones.
	Class string
}

// IsDefault reports whether the delete has no ordering value of its own: it then wins
// whatever the row's value is (spec record-merging.md section 4).
func (o Ordering) IsDefault() bool {
	return o.Kind == OrderNone || o.Kind == OrderInt && o.Int == 0
}

// String is the value as Java's toString writes it, with dates and times in ISO form
// (UTC) and bytes in base64.
func (o Ordering) String() string {
	switch o.Kind {
	case OrderBool:
		return strconv.FormatBool(o.Int != 0)
	case OrderInt, OrderLong:
		return strconv.FormatInt(o.Int, 10)
	case OrderFloat:
		return column.JavaFloat(o.Float, 32)
	case OrderDouble:
		return column.JavaFloat(o.Float, 64)
	case OrderBytes:
		return base64.StdEncoding.EncodeToString(o.Bytes)
	case OrderString:
		return string(o.Bytes)
	case OrderDate, OrderLocalDate:
		return string(column.AppendDate(nil, o.Int))
	case OrderDecimal:
		return column.DecimalText(o.Bytes, o.Scale)
	case OrderTimeMicros:
		return time.UnixMicro(o.Int).UTC().Format("15:04:05.000000")
	case OrderTimestampMicros:
		return time.UnixMicro(o.Int).UTC().Format("2006-01-02T15:04:05.000000Z")
	case OrderTuple:
		parts := make([]string, len(o.Tuple))
		for i, x := range o.Tuple {
			parts[i] = x.String()
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "null"
}

// MarshalJSON writes String as JSON text, and null for no value.
func (o Ordering) MarshalJSON() ([]byte, error) {
	if o.Kind == OrderNone {
		return []byte("null"), nil
	}
	return json.Marshal(o.String())
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func daysOf(year int64, month, day int) int64 {
	return floorDiv(time.Date(int(year), time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix(), 86400)
}
