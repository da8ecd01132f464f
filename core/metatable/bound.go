package metatable

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"math/big"
	"strconv"
	"strings"

	"hudiscope/core/column"
	"hudiscope/core/schema"
)

// Wrapper is the record that wraps a bound in the union of minValue and maxValue: its branch (spec
// metadata-table.md section 5.1).
type Wrapper uint8

// The wrappers, in the order of the union.
const (
	NullBound Wrapper = iota
	BooleanWrapper
	IntWrapper
	LongWrapper
	FloatWrapper
	DoubleWrapper
	BytesWrapper
	StringWrapper
	DateWrapper
	DecimalWrapper // at scale 15
	TimeMicrosWrapper
	TimestampMicrosWrapper
	LocalDateWrapper // since 1.0
	ArrayWrapper     // since 1.1
)

var wrapperNames = [...]string{"null", "BooleanWrapper", "IntWrapper", "LongWrapper", "FloatWrapper", "DoubleWrapper", "BytesWrapper", "StringWrapper", "DateWrapper",
	"DecimalWrapper", "TimeMicrosWrapper", "TimestampMicrosWrapper", "LocalDateWrapper", "ArrayWrapper"}

// String returns Hudi's name of the wrapper.
func (w Wrapper) String() string {
	if int(w) < len(wrapperNames) {
		return wrapperNames[w]
	}
	return "wrapper " + strconv.Itoa(int(w))
}

// DecimalScale is the scale of DecimalWrapper.
const DecimalScale = 15

// Bound is a minimum or maximum as it is stored; what it means depends on the ValueType beside it,
// or on the column's type where there is none.
type Bound struct {
	Wrapper Wrapper
	// Int holds booleans (0, 1), ints, longs, days and microseconds.
	Int   int64
	Float float64
	// Bytes holds text, binary and unscaled decimals.
	Bytes []byte
	List  []Bound
}

// ValueType is HoodieValueTypeInfo, of the second encoding of bounds.
type ValueType struct {
	Ordinal int
	// Info is "precision,scale" of a decimal.
	Info string
}

var valueTypes = [...]string{"V1", "NULL", "BOOLEAN", "INT", "LONG", "FLOAT", "DOUBLE", "STRING", "BYTES", "FIXED", "DECIMAL", "UUID", "DATE", "TIME_MILLIS", "TIME_MICROS",
	"TIMESTAMP_MILLIS", "TIMESTAMP_MICROS", "TIMESTAMP_NANOS", "LOCAL_TIMESTAMP_MILLIS", "LOCAL_TIMESTAMP_MICROS", "LOCAL_TIMESTAMP_NANOS"}

// String returns Hudi's name of the type.
func (v *ValueType) String() string {
	if v == nil {
		return "V1"
	}
	if v.Ordinal >= 0 && v.Ordinal < len(valueTypes) {
		if v.Info != "" {
			return valueTypes[v.Ordinal] + "(" + v.Info + ")"
		}
		return valueTypes[v.Ordinal]
	}
	return "type " + strconv.Itoa(v.Ordinal)
}

// DecimalScale is the scale of a decimal of the second encoding; ok is false for other types.
func (v *ValueType) DecimalScale() (scale int, ok bool) {
	if t := v.logical(BytesWrapper); t != nil && t.Logical == schema.Decimal {
		return t.Scale, true
	}
	return 0, false
}

// logical is the schema type that a bound's number or bytes have, nil when it is what it looks like.
func (v *ValueType) logical(w Wrapper) *schema.Type {
	if v == nil {
		switch w {
		case DateWrapper, LocalDateWrapper:
			return &schema.Type{Kind: schema.Int, Logical: schema.Date}
		case TimeMicrosWrapper:
			return &schema.Type{Kind: schema.Long, Logical: schema.TimeMicros}
		case TimestampMicrosWrapper:
			return &schema.Type{Kind: schema.Long, Logical: schema.TimestampMicros}
		case DecimalWrapper:
			return &schema.Type{Kind: schema.Bytes, Logical: schema.Decimal, Precision: 30, Scale: DecimalScale}
		}
		return nil
	}
	long := func(l schema.Logical) *schema.Type { return &schema.Type{Kind: schema.Long, Logical: l} }
	switch {
	case v.Ordinal == 10 && w == BytesWrapper:
		p, s, _ := strings.Cut(v.Info, ",")
		precision, err1 := strconv.Atoi(strings.TrimSpace(p))
		scale, err2 := strconv.Atoi(strings.TrimSpace(s))
		if err1 == nil && err2 == nil {
			return &schema.Type{Kind: schema.Bytes, Logical: schema.Decimal, Precision: precision, Scale: scale}
		}
	case w != IntWrapper && w != LongWrapper:
	case v.Ordinal == 12:
		return &schema.Type{Kind: schema.Int, Logical: schema.Date}
	case v.Ordinal == 13:
		return &schema.Type{Kind: schema.Int, Logical: schema.TimeMillis}
	case v.Ordinal >= 14 && v.Ordinal <= 20:
		return long([]schema.Logical{schema.TimeMicros, schema.TimestampMillis, schema.TimestampMicros, schema.TimestampNanos,
			schema.LocalTimestampMillis, schema.LocalTimestampMicros, schema.LocalTimestampNanos}[v.Ordinal-14])
	}
	return nil
}

// AppendValue appends a bound as JSON in the form that rows have: dates and times in ISO form,
// decimals as text, binary as base64. t is the ValueType of the statistics.
func (b Bound) AppendValue(dst []byte, t *ValueType) []byte {
	if b.Wrapper == ArrayWrapper {
		dst = append(dst, '[')
		for i, x := range b.List {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = x.AppendValue(dst, nil)
		}
		return append(dst, ']')
	}
	typ := t.logical(b.Wrapper)
	if typ == nil {
		return b.appendRaw(dst)
	}
	v := column.New(typ, 1)
	if typ.Kind == schema.Bytes {
		v.AppendBytes(b.Bytes)
	} else {
		v.AppendInt(b.Int)
	}
	return v.AppendJSON(dst, 0)
}

// appendRaw appends a bound as it is stored: the value field of its wrapper, as Spark shows it.
func (b Bound) appendRaw(dst []byte) []byte {
	switch b.Wrapper {
	case NullBound:
		return append(dst, "null"...)
	case BooleanWrapper:
		return strconv.AppendBool(dst, b.Int != 0)
	case FloatWrapper, DoubleWrapper:
		return column.AppendFloat(dst, b.Float)
	case StringWrapper:
		return column.AppendText(dst, b.Bytes)
	case BytesWrapper:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, b.Bytes)
		return append(dst, '"')
	case DecimalWrapper:
		dst = append(dst, '"')
		dst = append(dst, column.DecimalText(b.Bytes, DecimalScale)...)
		return append(dst, '"')
	}
	return strconv.AppendInt(dst, b.Int, 10)
}

// bound reads slot i of a minValue or maxValue.
func bound(v *column.Vector, i int) Bound {
	if v.IsNull(i) {
		return Bound{}
	}
	branch := v.Children[v.Tags[i]]
	if branch.Type.Kind != schema.Record || branch.IsNull(i) {
		return Bound{}
	}
	w := NullBound
	for k, name := range wrapperNames {
		if name == branch.Type.Name {
			w = Wrapper(k)
		}
	}
	out := Bound{Wrapper: w}
	if w == ArrayWrapper {
		list := child(branch, "wrappedValues", schema.Array)
		if list == nil || list.IsNull(i) {
			return out
		}
		for j := int(list.Offsets[i]); j < int(list.Offsets[i+1]); j++ {
			if list.Children[0].Type.Kind == schema.Union {
				out.List = append(out.List, bound(list.Children[0], j))
			}
		}
		return out
	}
	at := branch.Type.FieldIndex("value")
	if at < 0 {
		return Bound{}
	}
	x := branch.Children[at]
	if x.IsNull(i) {
		return Bound{}
	}
	switch x.Type.Kind {
	case schema.Boolean:
		if x.Bools[i] {
			out.Int = 1
		}
	case schema.Int, schema.Long:
		out.Int = x.Ints[i]
	case schema.Float, schema.Double:
		out.Float = x.Floats[i]
	case schema.Bytes, schema.String, schema.Fixed:
		out.Bytes = bytes.Clone(x.BytesAt(i))
	}
	return out
}

// compareBounds orders two bounds of the same column: numbers by value, text and binary by bytes,
// decimals by their number. Bounds of different wrappers, after a change of the column's type, are
// ordered by number where both have one.
func compareBounds(os, ns *ColumnStats, o, n Bound) int {
	ot, nt := os.ValueType.logical(o.Wrapper), ns.ValueType.logical(n.Wrapper)
	if ot != nil && nt != nil && ot.Logical == schema.Decimal && nt.Logical == schema.Decimal {
		a, b := column.BigInt(o.Bytes), column.BigInt(n.Bytes)
		ten := big.NewInt(10)
		if d := ot.Scale - nt.Scale; d > 0 {
			b.Mul(b, ten.Exp(ten, big.NewInt(int64(d)), nil))
		} else if d < 0 {
			a.Mul(a, ten.Exp(ten, big.NewInt(int64(-d)), nil))
		}
		return a.Cmp(b)
	}
	isFloat := func(w Wrapper) bool { return w == FloatWrapper || w == DoubleWrapper }
	isText := func(w Wrapper) bool { return w == StringWrapper || w == BytesWrapper || w == DecimalWrapper }
	switch {
	case o.Wrapper == ArrayWrapper && n.Wrapper == ArrayWrapper:
		for i := range min(len(o.List), len(n.List)) {
			if c := compareBounds(&ColumnStats{}, &ColumnStats{}, o.List[i], n.List[i]); c != 0 {
				return c
			}
		}
		return cmp.Compare(len(o.List), len(n.List))
	case isText(o.Wrapper) && isText(n.Wrapper):
		return bytes.Compare(o.Bytes, n.Bytes)
	case isFloat(o.Wrapper) || isFloat(n.Wrapper):
		value := func(b Bound) float64 {
			if isFloat(b.Wrapper) {
				return b.Float
			}
			return float64(b.Int)
		}
		return cmp.Compare(value(o), value(n))
	}
	return cmp.Compare(o.Int, n.Int)
}
