package skipping

import (
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"hudiscope/core/column"
	"hudiscope/core/predicate"
	"hudiscope/core/schema"
)

// node is a translated condition over the statistics of a file: a tree of leaves (spec queries.md section 8).
type node interface{}

type (
	both   struct{ left, right node }
	either struct{ left, right node }
	// always is what statistics can't tell, or a constant that is true; never is a condition that no row meets.
	always struct{}
	never  struct{}
)

// leaf is a part of the condition over one column or expression.
type leaf struct {
	source *source
	// text is the part of the condition.
	text string
	// pairs: the file may match when for one of them low may hold at the least value and high at the
	// greatest; a nil one holds.
	pairs []pair
	// only: the file can't match when one of these holds at the least and at the greatest value: all its
	// values are then the same one.
	only []*predicate.Bound
	// prefix is of LIKE 'prefix%': negated is NOT LIKE, which a file can't match whose bounds both begin so.
	prefix  string
	negated bool
	nulls   nullTest
	// nullSafe tells that the test for nulls is c <=> NULL.
	nullSafe bool
	// texts are asked of bloom filters.
	texts []string
	// within bounds the magnitude of whole numbers to which the leaf may be applied, 0 for all: what is
	// added to them does not overflow then.
	within int64
}

type pair struct{ low, high *predicate.Bound }

// nullTest is a test for nulls.
type nullTest uint8

const (
	noTest nullTest = iota
	isNull
	notNull
)

// translator makes nodes of the parts of a condition.
type translator struct {
	where *predicate.Bound
	// find returns the source of the statistics of a column or an expression, nil where there is none.
	find func(e predicate.Expr) *source
	// leaves are all that were made.
	leaves []*leaf
}

func (t *translator) leaf(l *leaf) node {
	t.leaves = append(t.leaves, l)
	return l
}

// node translates a condition, or its negation.
func (t *translator) node(e predicate.Expr, not bool) node {
	switch e := e.(type) {
	case *predicate.Not:
		return t.node(e.X, !not)
	case *predicate.And:
		if not {
			return either{t.node(e.Left, true), t.node(e.Right, true)}
		}
		return both{t.node(e.Left, false), t.node(e.Right, false)}
	case *predicate.Or:
		if not {
			return both{t.node(e.Left, true), t.node(e.Right, true)}
		}
		return either{t.node(e.Left, false), t.node(e.Right, false)}
	}
	if predicate.Constant(e) {
		if not {
			e = &predicate.Not{At: e.Pos(), X: e}
		}
		if truth, ok := decide(e); ok && truth != predicate.True {
			return never{}
		}
		return always{}
	}
	text := predicate.Format(e)
	if not {
		text = predicate.Format(&predicate.Not{At: e.Pos(), X: e})
	}
	switch e := e.(type) {
	case *predicate.Column:
		return t.truth(e, text, not)
	case *predicate.IsNull:
		if s := t.find(e.X); s != nil && !s.bloom {
			test := isNull
			if e.Negated != not {
				test = notNull
			}
			return t.leaf(&leaf{source: s, text: text, nulls: test})
		}
	case *predicate.Binary:
		return t.comparison(e, text, not)
	case *predicate.In:
		return t.in(e, text, not)
	case *predicate.Like:
		return t.like(e, text, not)
	}
	return always{}
}

// truth is a boolean column alone.
func (t *translator) truth(e *predicate.Column, text string, not bool) node {
	s := t.find(e)
	if s == nil || s.bloom || s.typ.Kind != schema.Boolean {
		return always{}
	}
	if not {
		low := t.bind(s, &predicate.Not{X: e}, e)
		return t.test(s, text, low, nil)
	}
	return t.test(s, text, nil, t.bind(s, e, e))
}

func (t *translator) test(s *source, text string, low, high *predicate.Bound) node {
	if low == nil && high == nil {
		return always{}
	}
	return t.leaf(&leaf{source: s, text: text, pairs: []pair{{low, high}}})
}

var flipped = map[predicate.Op]predicate.Op{predicate.Eq: predicate.Eq, predicate.Ne: predicate.Ne, predicate.NullSafe: predicate.NullSafe,
	predicate.Lt: predicate.Gt, predicate.Le: predicate.Ge, predicate.Gt: predicate.Lt, predicate.Ge: predicate.Le}

var negation = map[predicate.Op]predicate.Op{predicate.Eq: predicate.Ne, predicate.Ne: predicate.Eq,
	predicate.Lt: predicate.Ge, predicate.Le: predicate.Gt, predicate.Gt: predicate.Le, predicate.Ge: predicate.Lt}

func (t *translator) comparison(e *predicate.Binary, text string, not bool) node {
	x, value, op := e.Left, e.Right, e.Op
	if predicate.Constant(x) {
		x, value, op = value, x, flipped[op]
	}
	if flipped[op] == "" || !predicate.Constant(value) {
		return always{}
	}
	s, inner, within := t.monotone(x)
	if s == nil {
		return always{}
	}
	null := isNullConstant(value)
	switch {
	case op == predicate.NullSafe && (null || not):
		if s.bloom || x != inner {
			return always{}
		}
		switch {
		case null && not:
			return t.leaf(&leaf{source: s, text: text, nulls: notNull})
		case null:
			return t.leaf(&leaf{source: s, text: text, nulls: isNull, nullSafe: true})
		}
		// NOT (c <=> v) holds for nulls, and for other values.
		return either{t.leaf(&leaf{source: s, text: text, nulls: isNull}), t.compare(s, inner, x, value, predicate.Ne, text, within)}
	case null:
		// A comparison with null is null.
		return never{}
	case op == predicate.NullSafe:
		op = predicate.Eq
	case not:
		op = negation[op]
	}
	return t.compare(s, inner, x, value, op, text, within)
}

// compare is the leaf of a comparison that is not with null.
func (t *translator) compare(s *source, inner, x, value predicate.Expr, op predicate.Op, text string, within int64) node {
	l := &leaf{source: s, text: text, within: within}
	if s.bloom {
		v, ok := textValue(value)
		if op != predicate.Eq || !ok || x != inner {
			return always{}
		}
		l.texts = []string{v}
		return t.leaf(l)
	}
	if !ordered(value) {
		return always{}
	}
	at := func(op predicate.Op) *predicate.Bound {
		return t.bind(s, &predicate.Binary{Op: op, Left: x, Right: value}, inner)
	}
	switch op {
	case predicate.Eq:
		l.pairs = []pair{{at(predicate.Le), at(predicate.Ge)}}
	case predicate.Ne:
		l.only = []*predicate.Bound{at(predicate.Eq)}
		if s.days > 0 {
			return always{}
		}
	case predicate.Lt, predicate.Le:
		l.pairs = []pair{{at(op), nil}}
	case predicate.Gt, predicate.Ge:
		l.pairs = []pair{{nil, at(op)}}
	}
	return t.leaf(l)
}

func (t *translator) in(e *predicate.In, text string, not bool) node {
	s, inner, within := t.monotone(e.X)
	if s == nil {
		return always{}
	}
	l := &leaf{source: s, text: text, within: within}
	for _, v := range e.List {
		switch {
		case !predicate.Constant(v):
			return always{}
		case isNullConstant(v):
			if not {
				// NOT IN with a null in the list is never true.
				return never{}
			}
			continue
		case s.bloom:
			x, ok := textValue(v)
			if !ok || not || e.X != inner {
				return always{}
			}
			l.texts = append(l.texts, x)
			continue
		case !ordered(v) || not && s.days > 0:
			return always{}
		}
		at := func(op predicate.Op) *predicate.Bound {
			return t.bind(s, &predicate.Binary{Op: op, Left: e.X, Right: v}, inner)
		}
		if not {
			l.only = append(l.only, at(predicate.Eq))
		} else {
			l.pairs = append(l.pairs, pair{at(predicate.Le), at(predicate.Ge)})
		}
	}
	if l.pairs == nil && l.only == nil && l.texts == nil {
		return never{}
	}
	return t.leaf(l)
}

func (t *translator) like(e *predicate.Like, text string, not bool) node {
	pattern, ok := textValue(e.Pattern)
	if !ok {
		if isNullConstant(e.Pattern) {
			return never{}
		}
		return always{}
	}
	s := t.find(e.X)
	if s == nil || s.bloom || s.days > 0 || s.typ.Kind != schema.String {
		return always{}
	}
	prefix, rest := likePrefix(pattern, e.Escape)
	switch {
	case rest == "":
		op := predicate.Eq
		if not {
			op = predicate.Ne
		}
		return t.compare(s, e.X, e.X, &predicate.Literal{At: e.Pattern.Pos(), Kind: "string", Text: prefix, Value: prefix}, op, text, 0)
	case prefix == "" || !plainText(prefix):
		return always{}
	case not && rest != "%":
		return always{}
	}
	return t.leaf(&leaf{source: s, text: text, prefix: prefix, negated: not})
}

// likePrefix splits a pattern of LIKE at its first wildcard; the escapes of the first part are undone.
func likePrefix(pattern string, escape rune) (prefix, rest string) {
	if escape == 0 {
		escape = '\\'
	}
	var b strings.Builder
	for i, r := range pattern {
		switch {
		case r == '%' || r == '_':
			return b.String(), pattern[i:]
		case r == escape:
			// What follows stands for itself.
			for _, next := range pattern[i+utf8.RuneLen(r):] {
				b.WriteRune(next)
				p, rest := likePrefix(pattern[i+utf8.RuneLen(r)+utf8.RuneLen(next):], escape)
				return b.String() + p, rest
			}
			return b.String(), ""
		}
		b.WriteRune(r)
	}
	return b.String(), ""
}

// follower is the least text that is greater than all that begin with a plain text.
func follower(prefix string) string {
	r := []rune(prefix)
	r[len(r)-1]++
	return string(r)
}

// plainText reports whether all orders of texts that writers use agree about a text: that of its bytes and that
// of UTF-16 units, in which Java orders, differ above the surrogates.
func plainText(s string) bool {
	for _, r := range s {
		if r >= 0xD7FF {
			return false
		}
	}
	return true
}

// ordered reports whether bounds may be compared with a constant.
func ordered(value predicate.Expr) bool {
	v, ok := textValue(value)
	return !ok || plainText(v)
}

// textValue is the value of a text constant.
func textValue(e predicate.Expr) (string, bool) {
	l, ok := e.(*predicate.Literal)
	if !ok || l.Kind != "string" {
		return "", false
	}
	s, ok := l.Value.(string)
	return s, ok
}

// monotone takes an operand apart into casts and additions that keep the order of values, and what is below
// them: a source of statistics. within is the leaf's.
func (t *translator) monotone(x predicate.Expr) (s *source, inner predicate.Expr, within int64) {
	if s = t.find(x); s != nil {
		return s, x, 0
	}
	switch e := x.(type) {
	case *predicate.Cast:
		if !keepsOrder(t.where.Type(e.X), t.where.Type(e)) {
			return nil, nil, 0
		}
		return t.monotone(e.X)
	case *predicate.Binary:
		if e.Op != predicate.Add && e.Op != predicate.Sub {
			return nil, nil, 0
		}
		under, constant := e.Left, e.Right
		if predicate.Constant(under) && e.Op == predicate.Add {
			under, constant = constant, under
		}
		typ := t.where.Type(e)
		if !predicate.Constant(constant) || typ.Kind != predicate.Int && typ.Kind != predicate.Long {
			return nil, nil, 0
		}
		s, inner, within = t.monotone(under)
		limit := int64(1) << 30
		if typ.Kind == predicate.Long {
			limit = 1 << 62
		}
		// Nothing overflows when both sides are this small.
		if s == nil || within != 0 || s.typ.Kind != schema.Int && s.typ.Kind != schema.Long || !small(constant, limit) {
			return nil, nil, 0
		}
		return s, inner, limit
	}
	return nil, nil, 0
}

// small reports whether a constant is a number below a limit in magnitude.
func small(e predicate.Expr, limit int64) bool {
	at := func(op predicate.Op, n int64) bool {
		truth, ok := decide(&predicate.Binary{Op: op, Left: e, Right: number(n)})
		return ok && truth == predicate.True
	}
	return at(predicate.Gt, -limit) && at(predicate.Lt, limit)
}

func number(n int64) predicate.Expr {
	return &predicate.Literal{Kind: "number", Text: strconv.FormatInt(n, 10) + "L", Value: new(big.Rat).SetInt64(n)}
}

// keepsOrder reports whether a cast never turns the order of two values around.
func keepsOrder(from, to predicate.Type) bool {
	integral := func(t predicate.Type) bool { return t.Kind >= predicate.Byte && t.Kind <= predicate.Long }
	switch {
	case from == to:
		return true
	case integral(from) && integral(to):
		return from.Kind <= to.Kind
	case integral(from):
		return to.Kind == predicate.Float || to.Kind == predicate.Double || to.Kind == predicate.Decimal
	case from.Kind == predicate.Float:
		return to.Kind == predicate.Double
	case from.Kind == predicate.Decimal:
		return to.Kind == predicate.Decimal || to.Kind == predicate.Double
	case from.Kind == predicate.Date:
		return to.Kind == predicate.Timestamp || to.Kind == predicate.TimestampNTZ
	case from.Kind == predicate.Timestamp || from.Kind == predicate.TimestampNTZ:
		return to.Kind == predicate.Date
	}
	return false
}

// value is the name of the one column that leaves are bound to.
const value = "value"

// bind binds a part of the condition to a record of one column, which stands in the place of inner.
func (t *translator) bind(s *source, e, inner predicate.Expr) *predicate.Bound {
	b, err := predicate.Bind(replace(e, inner), rowType(s.typ))
	if err != nil {
		return nil // the caller then can't decide
	}
	return b
}

func rowType(t *schema.Type) *schema.Type {
	nullable := *t
	nullable.Nullable = true
	return &schema.Type{Kind: schema.Record, Name: "bounds", Fields: []schema.Field{{Name: value, Type: &nullable}}}
}

// replace puts the column of bounds in the place of a node.
func replace(e, inner predicate.Expr) predicate.Expr {
	if e == inner {
		return &predicate.Column{At: e.Pos(), Path: []string{value}}
	}
	switch e := e.(type) {
	case *predicate.Not:
		return &predicate.Not{At: e.At, X: replace(e.X, inner)}
	case *predicate.Binary:
		return &predicate.Binary{At: e.At, Op: e.Op, Left: replace(e.Left, inner), Right: replace(e.Right, inner)}
	case *predicate.Cast:
		return &predicate.Cast{At: e.At, X: replace(e.X, inner), Type: e.Type}
	}
	return e
}

// decide evaluates a constant condition.
func decide(e predicate.Expr) (predicate.Truth, bool) {
	t := rowType(&schema.Type{Kind: schema.Int})
	b, err := predicate.Bind(e, t)
	if err != nil {
		return predicate.Unknown, false
	}
	v := column.New(t.Fields[0].Type, 1)
	v.AppendNull()
	return b.Evaluator().Eval(&column.Batch{Type: t, Len: 1, Columns: []*column.Vector{v}}, 0, 1)[0], true
}

func isNullConstant(e predicate.Expr) bool {
	truth, ok := decide(&predicate.IsNull{X: e})
	return ok && truth == predicate.True
}
