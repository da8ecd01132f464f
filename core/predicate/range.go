package predicate

import (
	"bytes"
	"strings"

	"hudiscope/core/column"
)

// Range is what is known of the values of a column in a part of a file.
type Range struct {
	// Low and High are vectors of one slot, of the column's type (a whole number may be of either size), which
	// no value is below or above, NaN aside; nil is no bound.
	Low, High *column.Vector
	// Null is set when all values are null.
	Null bool
}

// MayMatch reports whether rows whose columns lie in ranges may meet the condition. It is false only if none
// can; conditions that ranges say nothing about may always be met.
func (b *Bound) MayMatch(ranges func(column string) Range) bool {
	return b.may(b.Root, false, ranges)
}

// may reports whether a node, or with negated its negation, may be true.
func (b *Bound) may(e Expr, negated bool, ranges func(string) Range) bool {
	switch e := e.(type) {
	case *And:
		if negated {
			return b.may(e.Left, true, ranges) || b.may(e.Right, true, ranges)
		}
		return b.may(e.Left, false, ranges) && b.may(e.Right, false, ranges)
	case *Or:
		if negated {
			return b.may(e.Left, true, ranges) && b.may(e.Right, true, ranges)
		}
		return b.may(e.Left, false, ranges) || b.may(e.Right, false, ranges)
	case *Not:
		return b.may(e.X, !negated, ranges)
	case *IsNull:
		if c, ok := e.X.(*Column); ok && len(c.Path) == 1 && e.Negated != negated {
			return !ranges(c.Path[0]).Null
		}
	case *Binary:
		x, y, op := e.Left, e.Right, e.Op
		if Constant(x) {
			x, y, op = y, x, map[Op]Op{Eq: Eq, Ne: Ne, NullSafe: NullSafe, Lt: Gt, Le: Ge, Gt: Lt, Ge: Le}[op]
		}
		if negated {
			op = map[Op]Op{Eq: Ne, Ne: Eq, Lt: Ge, Le: Gt, Gt: Le, Ge: Lt}[op]
		}
		return b.mayCompare(op, x, y, ranges)
	case *In:
		if negated {
			return true
		}
		for _, y := range e.List {
			if b.mayCompare(Eq, e.X, y, ranges) {
				return true
			}
		}
		return false
	case *Like:
		return negated || b.mayLike(e, ranges)
	case *Literal:
		v, ok := e.Value.(bool)
		return ok && v != negated
	}
	return true
}

// bounded returns the column of an operand whose order is that of the column's values.
func (b *Bound) bounded(e Expr) *Column {
	if c, ok := e.(*Cast); ok {
		from, to := b.types[c.X], b.types[c]
		switch {
		case from.integral() && to.numeric() && to.Kind >= from.Kind:
		case from.is(Float) && to.is(Double), from.is(Decimal) && (to.is(Decimal) || to.is(Double)), from.datetime() && to.datetime() && !to.is(Date):
		default:
			return nil
		}
		e = c.X
	}
	if c, ok := e.(*Column); ok && len(c.Path) == 1 {
		return c
	}
	return nil
}

// mayCompare decides a comparison of a column with a constant.
func (b *Bound) mayCompare(op Op, x, y Expr, ranges func(string) Range) bool {
	c := b.bounded(x)
	if c == nil || !Constant(y) || op == "" {
		return true
	}
	k, ok := b.compile(y).(*constant)
	if !ok {
		return true
	}
	if k.null() {
		return op == NullSafe
	}
	r := ranges(c.Path[0])
	if r.Null {
		return false
	}
	// at compares a bound with the constant; known is false where there is no bound.
	at := func(v *column.Vector) (cmp int, known bool) {
		if v == nil {
			return 0, false
		}
		batch := &column.Batch{Type: b.rows, Len: 1, Columns: make([]*column.Vector, len(b.rows.Fields))}
		batch.Columns[b.rows.FieldIndex(c.Path[0])] = v
		got := b.compile(x).run(batch, 0, 1)
		if got.nulls != nil && got.nulls[0] {
			return 0, false
		}
		return compareValues(b.types[x].Kind, got, &k.one), true
	}
	low, hasLow := at(r.Low)
	high, hasHigh := at(r.High)
	if b.types[c].fractional() {
		// NaN is above every number and not in the bounds: what is below the constant may have one beside it.
		nan := k.one.floats
		hasHigh = hasHigh && op != Gt && op != Ge && len(nan) > 0 && nan[0] == nan[0]
	}
	switch op {
	case Eq, NullSafe:
		return !(hasLow && low > 0) && !(hasHigh && high < 0)
	case Lt:
		return !hasLow || low < 0
	case Le:
		return !hasLow || low <= 0
	case Gt:
		return !hasHigh || high > 0
	case Ge:
		return !hasHigh || high >= 0
	}
	return true
}

// mayLike decides a pattern with a beginning.
func (b *Bound) mayLike(e *Like, ranges func(string) Range) bool {
	c, ok := e.X.(*Column)
	s, isText := e.Pattern.(*Literal).Value.(string)
	if !isText {
		return false
	}
	if !ok || len(c.Path) != 1 {
		return true
	}
	prefix, _ := LikePrefix(s, e.Escape)
	r := ranges(c.Path[0])
	switch {
	case r.Null:
		return false
	case prefix == "":
		return true
	case r.High != nil && string(r.High.BytesAt(0)) < prefix:
		return false
	case r.Low != nil:
		low := string(r.Low.BytesAt(0))
		return low <= prefix || strings.HasPrefix(low, prefix)
	}
	return true
}

// compareValues compares the first values of two vectors of a type.
func compareValues(k TypeKind, x, y *vec) int {
	switch k {
	case Boolean, NullType:
		switch {
		case x.bools[0] == y.bools[0]:
			return 0
		case y.bools[0]:
			return -1
		}
		return 1
	case Float, Double:
		return compareFloats(x.floats[0], y.floats[0])
	case Decimal:
		return x.decs[0].cmp(y.decs[0])
	case String, Bytes:
		return bytes.Compare(x.texts[0], y.texts[0])
	}
	switch {
	case x.ints[0] < y.ints[0]:
		return -1
	case x.ints[0] > y.ints[0]:
		return 1
	}
	return 0
}
