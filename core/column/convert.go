package column

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"hudiscope/core/schema"
)

// Convert returns the vector as a reader's type, by Hudi's rewrite rules (spec
// record-merging.md section 10.3): fields are matched by name, missing ones take their
// default or null, numbers are widened, text is made of numbers. The vector itself is
// returned when nothing has to change. An error names the field path and both types.
func Convert(v *Vector, to *schema.Type) (*Vector, error) {
	if same(v.Type, to) {
		return v, nil
	}
	return convert(v, to, "")
}

// same reports whether values of a are values of b without any change to the slices.
func same(a, b *schema.Type) bool {
	if a == b {
		return true
	}
	if a.Kind != b.Kind || a.Logical != b.Logical || a.Scale != b.Scale || (a.Nullable && !b.Nullable) {
		return false
	}
	switch a.Kind {
	case schema.Array, schema.Map:
		return same(a.Elem, b.Elem)
	case schema.Fixed:
		return a.Size == b.Size
	case schema.Enum:
		if len(a.Symbols) != len(b.Symbols) {
			return false
		}
		for i := range a.Symbols {
			if a.Symbols[i] != b.Symbols[i] {
				return false
			}
		}
	case schema.Record:
		if len(a.Fields) != len(b.Fields) {
			return false
		}
		for i := range a.Fields {
			if a.Fields[i].Name != b.Fields[i].Name || !same(a.Fields[i].Type, b.Fields[i].Type) {
				return false
			}
		}
	case schema.Union:
		if len(a.Branches) != len(b.Branches) {
			return false
		}
		for i := range a.Branches {
			if !same(a.Branches[i], b.Branches[i]) {
				return false
			}
		}
	}
	return true
}

func cannot(path string, from, to *schema.Type) error {
	if path == "" {
		path = "value"
	}
	return fmt.Errorf("%s: a %s can't be read as a %s", path, describe(from), describe(to))
}

func describe(t *schema.Type) string {
	if t.LogicalName != "" {
		return t.Kind.String() + " (" + t.LogicalName + ")"
	}
	return t.Kind.String()
}

func convert(v *Vector, to *schema.Type, path string) (*Vector, error) {
	if same(v.Type, to) {
		return v, nil
	}
	from := v.Type
	// A union of one type and null may have other branches in the reader; resolve the value's own branch.
	if from.Kind == schema.Null {
		return Nulls(to, v.Len), nil
	}
	if from.Kind == schema.Union || to.Kind == schema.Union {
		return convertUnion(v, to, path)
	}
	if from.Kind == to.Kind && relabel(from, to) {
		out := *v
		out.Type = to
		return &out, nil
	}
	switch to.Kind {
	case schema.Record:
		return convertRecord(v, to, path)
	case schema.Array:
		if from.Kind == schema.Array {
			elem, err := convert(v.Children[0], to.Elem, path+".element")
			if err != nil {
				return nil, err
			}
			return &Vector{Type: to, Len: v.Len, Nulls: v.Nulls, Offsets: v.Offsets, Children: []*Vector{elem}}, nil
		}
	case schema.Map:
		if from.Kind == schema.Map {
			val, err := convert(v.Children[1], to.Elem, path+".value")
			if err != nil {
				return nil, err
			}
			return &Vector{Type: to, Len: v.Len, Nulls: v.Nulls, Offsets: v.Offsets, Children: []*Vector{v.Children[0], val}}, nil
		}
	case schema.Int, schema.Long, schema.Float, schema.Double, schema.Bytes, schema.String, schema.Fixed, schema.Enum, schema.Boolean:
		return convertScalar(v, to, path)
	}
	return nil, cannot(path, from, to)
}

// relabel reports whether two types of one kind differ only in what does not touch the stored
// value: names, nullability, an added or removed label that means the same number.
func relabel(from, to *schema.Type) bool {
	switch from.Kind {
	case schema.Int, schema.Long:
		if from.Logical == to.Logical {
			return from.Logical != schema.Decimal || from.Scale == to.Scale
		}
		// One side without a logical type: the number is kept.
		return from.Logical == schema.None || to.Logical == schema.None
	case schema.Boolean, schema.Float, schema.Double:
		return true
	case schema.String:
		return true
	case schema.Bytes:
		return from.Logical == to.Logical && from.Scale == to.Scale
	case schema.Fixed:
		return from.Size == to.Size && from.Logical == to.Logical && from.Scale == to.Scale
	}
	return false
}

func convertRecord(v *Vector, to *schema.Type, path string) (*Vector, error) {
	from := v.Type
	if from.Kind != schema.Record {
		return nil, cannot(path, from, to)
	}
	out := &Vector{Type: to, Len: v.Len, Nulls: v.Nulls, Children: make([]*Vector, len(to.Fields))}
	for i := range to.Fields {
		f := &to.Fields[i]
		sub := f.Name
		if path != "" {
			sub = path + "." + f.Name
		}
		if j := from.FieldIndex(f.Name); j >= 0 {
			c, err := convert(v.Children[j], f.Type, sub)
			if err != nil {
				return nil, err
			}
			out.Children[i] = c
			continue
		}
		c, err := Default(f, v.Len)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", sub, err)
		}
		out.Children[i] = c
	}
	return out, nil
}

// Default returns n slots of a field that the data does not have: its default, or null.
func Default(f *schema.Field, n int) (*Vector, error) {
	if f.Type.Nullable && (!f.HasDefault || f.Default == "null") || f.Type.Kind == schema.Null {
		return Nulls(f.Type, n), nil
	}
	if !f.HasDefault {
		return nil, fmt.Errorf("the field is required, has no default and is missing in the data")
	}
	v := New(f.Type, n)
	for range n {
		switch f.Type.Kind {
		case schema.Boolean:
			v.AppendBool(f.Default == "true")
		case schema.Int, schema.Long:
			x, err := strconv.ParseInt(f.Default, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("default %s is not a number", f.Default)
			}
			v.AppendInt(x)
		case schema.Float, schema.Double:
			x, err := strconv.ParseFloat(f.Default, 64)
			if err != nil {
				return nil, fmt.Errorf("default %s is not a number", f.Default)
			}
			v.AppendFloat(x)
		case schema.String, schema.Bytes:
			s, err := strconv.Unquote(f.Default)
			if err != nil {
				return nil, fmt.Errorf("default %s is not text", f.Default)
			}
			v.AppendString(s)
		case schema.Array, schema.Map:
			if f.Default != "[]" && f.Default != "{}" {
				return nil, fmt.Errorf("default %s of a %s is not supported", f.Default, f.Type.Kind)
			}
			v.CloseSlot()
		default:
			return nil, fmt.Errorf("default %s of a %s is not supported", f.Default, f.Type.Kind)
		}
	}
	return v, nil
}

func convertUnion(v *Vector, to *schema.Type, path string) (*Vector, error) {
	// Slot by slot: unions of several types are rare, correctness matters more than speed.
	out := New(to, v.Len)
	for i := range v.Len {
		src, at := v, i
		for src.Type.Kind == schema.Union && !src.IsNull(at) {
			src = src.Children[src.Tags[at]]
		}
		if src.IsNull(at) || src.Type.Kind == schema.Null {
			if to.Kind == schema.Union {
				for b, br := range to.Branches {
					if br.Kind == schema.Null {
						out.appendBranch(uint8(b), nil, 0)
						break
					}
				}
				if out.Len == i {
					return nil, fmt.Errorf("%s: null is not allowed", path)
				}
				continue
			}
			out.AppendNull()
			continue
		}
		one := New(src.Type, 1)
		one.AppendFrom(src, at)
		if to.Kind != schema.Union {
			c, err := convert(one, to, path)
			if err != nil {
				return nil, err
			}
			out.AppendFrom(c, 0)
			continue
		}
		done := false
		for pass := 0; pass < 2 && !done; pass++ {
			for b, br := range to.Branches {
				if br.Kind == schema.Null || pass == 0 && br.Kind != src.Type.Kind {
					continue
				}
				if c, err := convert(one, br, path); err == nil {
					out.appendBranch(uint8(b), c, 0)
					done = true
					break
				}
			}
		}
		if !done {
			return nil, cannot(path, src.Type, to)
		}
	}
	return out, nil
}

// appendBranch adds a slot of a Union: slot i of c in branch b, or null.
func (v *Vector) appendBranch(b uint8, c *Vector, i int) {
	v.Tags = append(v.Tags, b)
	for k, child := range v.Children {
		if k == int(b) && c != nil {
			child.AppendFrom(c, i)
		} else {
			child.AppendNull()
		}
	}
	if c == nil && v.Nulls == nil {
		v.Nulls = make([]bool, v.Len, v.Len+1)
	}
	if v.Nulls != nil {
		v.Nulls = append(v.Nulls, c == nil)
	}
	v.Len++
}

// AppendBranch adds a slot of a Union vector holding slot i of c in branch b; nil c is the null branch.
func (v *Vector) AppendBranch(b uint8, c *Vector, i int) { v.appendBranch(b, c, i) }

func convertScalar(v *Vector, to *schema.Type, path string) (*Vector, error) {
	from := v.Type
	one, err := scalarRule(from, to)
	if err != nil {
		return nil, cannot(path, from, to)
	}
	out := New(to, v.Len)
	for i := range v.Len {
		if v.IsNull(i) {
			out.AppendNull()
			continue
		}
		if err := one(out, v, i); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return out, nil
}

type rule func(out, v *Vector, i int) error

// scalarRule picks the conversion between two scalar types, or fails when Hudi has none.
func scalarRule(from, to *schema.Type) (rule, error) {
	isInt := from.Kind == schema.Int || from.Kind == schema.Long
	isFloat := from.Kind == schema.Float || from.Kind == schema.Double
	isBin := from.Kind == schema.Bytes || from.Kind == schema.Fixed
	switch to.Kind {
	case schema.Boolean:
		if from.Kind == schema.Boolean {
			return func(out, v *Vector, i int) error { out.AppendBool(v.Bools[i]); return nil }, nil
		}
	case schema.Int:
		if from.Kind == schema.Int {
			return func(out, v *Vector, i int) error { out.AppendInt(v.Ints[i]); return nil }, nil
		}
	case schema.Long:
		if isInt {
			return timeRule(from.Logical, to.Logical)
		}
	case schema.Float:
		if isInt || from.Kind == schema.Float {
			return floatRule(from, true), nil
		}
	case schema.Double:
		if isInt {
			return floatRule(from, false), nil
		}
		if from.Kind == schema.Double {
			return func(out, v *Vector, i int) error { out.AppendFloat(v.Floats[i]); return nil }, nil
		}
		if from.Kind == schema.Float {
			// Through the decimal text: 3.1f becomes 3.1, not 3.0999999046325684.
			return func(out, v *Vector, i int) error {
				x, err := strconv.ParseFloat(strconv.FormatFloat(v.Floats[i], 'g', -1, 32), 64)
				if err != nil {
					return err
				}
				out.AppendFloat(x)
				return nil
			}, nil
		}
	case schema.String, schema.Enum:
		return textRule(from, to, isInt, isFloat, isBin)
	case schema.Bytes, schema.Fixed:
		if to.Logical == schema.Decimal {
			return decimalRule(from, to, isInt, isFloat, isBin)
		}
		if to.Kind == schema.Bytes && (from.Kind == schema.String || isBin) || to.Kind == schema.Fixed && from.Kind == schema.Fixed && from.Size == to.Size {
			return func(out, v *Vector, i int) error { out.AppendBytes(v.BytesAt(i)); return nil }, nil
		}
	}
	return nil, fmt.Errorf("no rule")
}

func floatRule(from *schema.Type, single bool) rule {
	return func(out, v *Vector, i int) error {
		x := 0.0
		if from.Kind == schema.Float || from.Kind == schema.Double {
			x = v.Floats[i]
		} else {
			x = float64(v.Ints[i])
		}
		if single {
			x = float64(float32(x))
		}
		out.AppendFloat(x)
		return nil
	}
}

// timeRule converts between long types: milliseconds and microseconds of the same family are
// converted, one side without a label keeps the number, other label changes have no rule.
func timeRule(from, to schema.Logical) (rule, error) {
	family := func(l schema.Logical) (fam, perSecond int64) {
		switch l {
		case schema.TimestampMillis:
			return 1, 1e3
		case schema.TimestampMicros:
			return 1, 1e6
		case schema.TimestampNanos:
			return 1, 1e9
		case schema.LocalTimestampMillis:
			return 2, 1e3
		case schema.LocalTimestampMicros:
			return 2, 1e6
		case schema.LocalTimestampNanos:
			return 2, 1e9
		}
		return 0, 1
	}
	ff, fp := family(from)
	tf, tp := family(to)
	switch {
	case from == to || ff == 0 || tf == 0:
		return func(out, v *Vector, i int) error { out.AppendInt(v.Ints[i]); return nil }, nil
	case ff == tf && tp >= fp:
		return func(out, v *Vector, i int) error { out.AppendInt(v.Ints[i] * (tp / fp)); return nil }, nil
	case ff == tf:
		return func(out, v *Vector, i int) error { out.AppendInt(floorDiv(v.Ints[i], fp/tp)); return nil }, nil
	}
	return nil, fmt.Errorf("no rule")
}

func textRule(from, to *schema.Type, isInt, isFloat, isBin bool) (rule, error) {
	text := func(v *Vector, i int) string { return "" }
	switch {
	case from.Kind == schema.String:
		text = func(v *Vector, i int) string { return string(v.BytesAt(i)) }
	case from.Kind == schema.Enum:
		text = func(v *Vector, i int) string {
			if s := v.Ints[i]; s >= 0 && int(s) < len(from.Symbols) {
				return from.Symbols[s]
			}
			return ""
		}
	case isBin && from.Logical == schema.Decimal:
		text = func(v *Vector, i int) string { return DecimalText(v.BytesAt(i), from.Scale) }
	case from.Kind == schema.Bytes:
		text = func(v *Vector, i int) string { return string(v.BytesAt(i)) }
	case isInt && from.Logical == schema.Date:
		text = func(v *Vector, i int) string { return string(AppendDate(nil, v.Ints[i])) }
	case isInt:
		text = func(v *Vector, i int) string { return strconv.FormatInt(v.Ints[i], 10) }
	case isFloat:
		bits := 64
		if from.Kind == schema.Float {
			bits = 32
		}
		text = func(v *Vector, i int) string { return JavaFloat(v.Floats[i], bits) }
	default:
		return nil, fmt.Errorf("no rule")
	}
	if to.Kind == schema.String {
		return func(out, v *Vector, i int) error { out.AppendString(text(v, i)); return nil }, nil
	}
	if from.Kind != schema.String && from.Kind != schema.Enum {
		return nil, fmt.Errorf("no rule")
	}
	return func(out, v *Vector, i int) error {
		s := text(v, i)
		for k, sym := range to.Symbols {
			if sym == s {
				out.AppendInt(int64(k))
				return nil
			}
		}
		return fmt.Errorf("%q is not a symbol of enum %s", s, to.Name)
	}, nil
}

func decimalRule(from, to *schema.Type, isInt, isFloat, isBin bool) (rule, error) {
	var value func(v *Vector, i int) (*big.Int, error)
	switch {
	case isBin && from.Logical == schema.Decimal:
		value = func(v *Vector, i int) (*big.Int, error) {
			return rescale(BigInt(v.BytesAt(i)), from.Scale, to.Scale), nil
		}
	case isInt:
		value = func(v *Vector, i int) (*big.Int, error) { return rescale(big.NewInt(v.Ints[i]), 0, to.Scale), nil }
	case isFloat, from.Kind == schema.String:
		value = func(v *Vector, i int) (*big.Int, error) {
			s := ""
			if isFloat {
				bits := 64
				if from.Kind == schema.Float {
					bits = 32
				}
				s = strconv.FormatFloat(v.Floats[i], 'f', -1, bits)
			} else {
				s = string(v.BytesAt(i))
			}
			r, ok := new(big.Rat).SetString(s)
			if !ok {
				return nil, fmt.Errorf("%q is not a decimal number", s)
			}
			r.Mul(r, new(big.Rat).SetInt(pow10(to.Scale)))
			return roundHalfUp(r.Num(), r.Denom()), nil
		}
	default:
		return nil, fmt.Errorf("no rule")
	}
	return func(out, v *Vector, i int) error {
		x, err := value(v, i)
		if err != nil {
			return err
		}
		b, ok := twos(x, to)
		if !ok {
			return fmt.Errorf("%s does not fit decimal(%d,%d)", scaled(x, to.Scale), to.Precision, to.Scale)
		}
		out.AppendBytes(b)
		return nil
	}, nil
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func rescale(x *big.Int, from, to int) *big.Int {
	switch {
	case to == from:
		return x
	case to > from:
		return new(big.Int).Mul(x, pow10(to-from))
	}
	return roundHalfUp(x, pow10(from-to))
}

// roundHalfUp divides with Java's RoundingMode.HALF_UP (away from zero on ties).
func roundHalfUp(num, den *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(num, den, new(big.Int))
	r.Abs(r).Lsh(r, 1)
	if r.Cmp(den) >= 0 {
		if num.Sign() < 0 {
			q.Sub(q, big.NewInt(1))
		} else {
			q.Add(q, big.NewInt(1))
		}
	}
	return q
}

// twos renders a number as two's complement big-endian bytes of the type's width.
func twos(x *big.Int, t *schema.Type) ([]byte, bool) {
	n := t.Size
	if t.Kind == schema.Bytes {
		n = x.BitLen()/8 + 1
	}
	if x.BitLen() > 8*n-1 && !(x.Sign() < 0 && x.BitLen() == 8*n && new(big.Int).Neg(x).TrailingZeroBits() == uint(8*n-1)) {
		return nil, false
	}
	y := x
	if x.Sign() < 0 {
		y = new(big.Int).Add(x, new(big.Int).Lsh(big.NewInt(1), uint(8*n)))
	}
	return y.FillBytes(make([]byte, n)), true
}

// JavaFloat renders a number as Java's Float.toString or Double.toString does (shortest digits,
// at least one fraction digit, E notation below 1e-3 and from 1e7).
func JavaFloat(x float64, bits int) string {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "Infinity"
	case math.IsInf(x, -1):
		return "-Infinity"
	}
	a := x
	if a < 0 {
		a = -a
	}
	if a == 0 || a >= 1e-3 && a < 1e7 {
		s := strconv.FormatFloat(x, 'f', -1, bits)
		for _, c := range s {
			if c == '.' {
				return s
			}
		}
		return s + ".0"
	}
	s := strconv.FormatFloat(x, 'e', -1, bits)
	mant, exp := s, ""
	for i, c := range s {
		if c == 'e' {
			mant, exp = s[:i], s[i+1:]
		}
	}
	dot := false
	for _, c := range mant {
		dot = dot || c == '.'
	}
	if !dot {
		mant += ".0"
	}
	e, _ := strconv.Atoi(exp)
	return mant + "E" + strconv.Itoa(e)
}

// ConvertBatch returns the batch with the columns of a reader's record type: matched by
// name, converted, missing ones filled with their default or null. Columns of the reader that
// want (nil = all) refuses stay nil.
func ConvertBatch(b *Batch, to *schema.Type, want func(field string) bool) (*Batch, error) {
	out := &Batch{Type: to, Len: b.Len, Columns: make([]*Vector, len(to.Fields))}
	for i := range to.Fields {
		f := &to.Fields[i]
		if want != nil && !want(f.Name) {
			continue
		}
		if j := b.Type.FieldIndex(f.Name); j >= 0 && b.Columns[j] != nil {
			c, err := convert(b.Columns[j], f.Type, f.Name)
			if err != nil {
				return nil, err
			}
			out.Columns[i] = c
			continue
		}
		c, err := Default(f, b.Len)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		out.Columns[i] = c
	}
	return out, nil
}
