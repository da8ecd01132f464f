package predicate

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"hudiscope/core/schema"
)

// Bind finds the columns of a condition in a record type and makes the casts that Spark 3 makes with ANSI mode
// off and UTC as the session's zone. Names are found without regard to case. Every error is an *Error.
//
// The rules are those of Spark's analyzer. Beside a text, the other operand of a comparison decides: the text is
// cast to its type, and is null where it can't be (a decimal and a text both become double). In an IN list it is
// the other way round: numbers and dates become texts. Whole numbers and fractions take the wider of their types
// (float above bigint), decimals grow to hold both, and become double beside float and double.
func Bind(e Expr, t *schema.Type) (*Bound, error) {
	b := &binder{rows: t, types: map[Expr]Type{}}
	root, err := b.bind(e)
	if err != nil {
		return nil, err
	}
	switch got := b.types[root]; got.Kind {
	case Boolean:
	case NullType:
		root = b.cast(root, Type{Kind: Boolean})
	default:
		return nil, &Error{e.Pos(), fmt.Sprintf("A condition is true or false, and this is of type %s.", got), "Compare it with something."}
	}
	return &Bound{Root: root, rows: t, types: b.types}, nil
}

// New parses a condition and binds it.
func New(text string, t *schema.Type) (*Bound, error) {
	e, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return Bind(e, t)
}

type binder struct {
	rows  *schema.Type
	types map[Expr]Type
}

func (b *binder) typed(e Expr, t Type) Expr {
	b.types[e] = t
	return e
}

// cast gives a node a type.
func (b *binder) cast(e Expr, t Type) Expr {
	if b.types[e] == t {
		return e
	}
	if l, ok := e.(*Literal); ok && l.Value == nil {
		// NULL has any type.
		c := *l
		return b.typed(&c, t)
	}
	return b.typed(&Cast{At: e.Pos(), X: e, Type: t.String(), Implied: true}, t)
}

func (b *binder) bind(e Expr) (Expr, error) {
	switch e := e.(type) {
	case *Column:
		return b.column(e)
	case *Literal:
		t, err := literalType(e)
		if err != nil {
			return nil, err
		}
		c := *e
		return b.typed(&c, t), nil
	case *And:
		l, r, err := b.logic(e.Left, e.Right, "AND")
		return b.typed(&And{e.At, l, r}, Type{Kind: Boolean}), err
	case *Or:
		l, r, err := b.logic(e.Left, e.Right, "OR")
		return b.typed(&Or{e.At, l, r}, Type{Kind: Boolean}), err
	case *Not:
		x, err := b.truth(e.X, "NOT")
		return b.typed(&Not{e.At, x}, Type{Kind: Boolean}), err
	case *IsNull:
		x, err := b.bind(e.X)
		return b.typed(&IsNull{e.At, x, e.Negated}, Type{Kind: Boolean}), err
	case *Binary:
		l, err := b.bind(e.Left)
		if err != nil {
			return nil, err
		}
		r, err := b.bind(e.Right)
		if err != nil {
			return nil, err
		}
		switch e.Op {
		case Add, Sub, Mul, Div, Mod:
			return b.compute(e, l, r)
		}
		return b.compare(e, l, r)
	case *In:
		return b.in(e)
	case *Like:
		return b.like(e)
	case *Cast:
		x, err := b.bind(e.X)
		if err != nil {
			return nil, err
		}
		t, err := parseType(e.Type, e.At)
		if err != nil {
			return nil, err
		}
		if from := b.types[x]; !castable(from, t) {
			try := ""
			if from.is(Date) && t.numeric() {
				try = "Parts of a date are given by year, month and day."
			}
			return nil, &Error{e.At, fmt.Sprintf("A %s can't be cast to %s.", from, t), try}
		}
		return b.typed(&Cast{At: e.At, X: x, Type: t.String()}, t), nil
	case *Element:
		return b.element(e)
	case *Case:
		return b.choice(e)
	case *Call:
		c := &Call{At: e.At, Name: e.Name}
		for _, a := range e.Args {
			x, err := b.bind(a)
			if err != nil {
				return nil, err
			}
			c.Args = append(c.Args, x)
		}
		return b.call(c)
	}
	return nil, &Error{e.Pos(), fmt.Sprintf("%T is no part of a condition.", e), ""}
}

func (b *binder) logic(l, r Expr, op string) (Expr, Expr, error) {
	x, err := b.truth(l, op)
	if err != nil {
		return nil, nil, err
	}
	y, err := b.truth(r, op)
	return x, y, err
}

// truth binds an operand of AND, OR or NOT.
func (b *binder) truth(e Expr, op string) (Expr, error) {
	x, err := b.bind(e)
	if err != nil {
		return nil, err
	}
	switch t := b.types[x]; t.Kind {
	case Boolean:
		return x, nil
	case NullType:
		return b.cast(x, Type{Kind: Boolean}), nil
	default:
		return nil, &Error{e.Pos(), fmt.Sprintf("%s takes conditions, and this is of type %s.", op, t), "Compare it with something."}
	}
}

// column finds a column, without regard to case.
func (b *binder) column(c *Column) (Expr, error) {
	t := b.rows
	out := &Column{At: c.At}
	for n, name := range c.Path {
		where := strings.Join(c.Path[:n], ".")
		switch {
		case n > 0 && t.Kind == schema.Array:
			return nil, &Error{c.At, fmt.Sprintf("%s is an array: its elements have fields.", where), fmt.Sprintf("Name one of them, such as %s[0].%s.", where, name)}
		case n > 0 && t.Kind == schema.Map:
			// m.key is m['key'].
			e := &Element{At: c.At, X: &Column{At: c.At, Path: c.Path[:n]}}
			for _, p := range c.Path[n:] {
				e.Steps = append(e.Steps, Step{Field: p})
			}
			return b.element(e)
		case n > 0 && t.Kind != schema.Record:
			return nil, &Error{c.At, fmt.Sprintf("%s is of type %s, which has no field %s.", where, TypeOf(t), name), ""}
		}
		at, err := fieldOf(t, name, c.At)
		if err != nil {
			return nil, err
		}
		if at < 0 {
			return nil, b.unknown(c, t, n)
		}
		out.Path = append(out.Path, t.Fields[at].Name)
		t = t.Fields[at].Type
	}
	return b.typed(out, TypeOf(t)), nil
}

// QuoteHint ends what is said where a name is like no column: it may be a text that lacks its quotes.
const QuoteHint = " Texts are written in single quotes."

// unknown says that a name is not there, and which are like it.
func (b *binder) unknown(c *Column, t *schema.Type, n int) error {
	name := c.Path[n]
	e := &Error{Pos: c.At, Message: fmt.Sprintf("There is no column %s.", name)}
	if n > 0 {
		e.Message = fmt.Sprintf("%s has no field %s.", strings.Join(c.Path[:n], "."), name)
	}
	if whole := strings.Join(c.Path, "."); n == 0 && len(c.Path) > 1 && t.FieldIndex(whole) >= 0 {
		e.Try = fmt.Sprintf("A column with dots in its name is written in backquotes: `%s`.", whole)
		return e
	}
	type near struct {
		name string
		far  int
	}
	var list []near
	for _, f := range t.Fields {
		a, b := strings.ToLower(name), strings.ToLower(f.Name)
		far := distance(a, b)
		if far > max(2, len(a)/3) && (len(a) < 3 || !strings.Contains(b, a)) && (len(b) < 3 || !strings.Contains(a, b)) {
			continue
		}
		list = append(list, near{f.Name, far})
	}
	slices.SortStableFunc(list, func(a, b near) int { return a.far - b.far })
	var names []string
	for i := 0; i < len(list) && i < 3; i++ {
		names = append(names, quoteName(list[i].name))
	}
	if len(names) > 0 {
		e.Try = "Did you mean " + strings.Join(names, " or ") + "?"
		return e
	}
	for i := 0; i < len(t.Fields) && i < 12; i++ {
		names = append(names, quoteName(t.Fields[i].Name))
	}
	e.Try = "There are " + strings.Join(names, ", ")
	if more := len(t.Fields) - len(names); more > 0 {
		e.Try += fmt.Sprintf(" and %d more", more)
	}
	e.Try += "." + QuoteHint
	return e
}

// distance counts the edits from one name to the other; names over 64 bytes are far apart.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := before
			if a[i-1] != b[j-1] {
				cost++
			}
			before = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}

// literalType returns the type of a constant.
func literalType(l *Literal) (Type, error) {
	switch l.Kind {
	case "null":
		return Type{}, nil
	case "boolean":
		return Type{Kind: Boolean}, nil
	case "string":
		return Type{Kind: String}, nil
	case "binary":
		return Type{Kind: Bytes}, nil
	case "number":
		t, _, err := numberType(l)
		return t, err
	}
	t, _, err := timeLiteral(l)
	return t, err
}

// numberType returns the type of a number as it is written, and its value where it is a float or double.
func numberType(l *Literal) (t Type, f float64, err error) {
	r := l.Value.(*big.Rat)
	upper := strings.ToUpper(l.Text)
	body := strings.TrimRight(upper, "LSYDFB")
	outOf := func(t Type) error {
		return &Error{l.At, fmt.Sprintf("The number %s is out of the range of %s.", l.Text, t), ""}
	}
	suffix := upper[len(body):]
	switch suffix {
	case "L", "S", "Y":
		t.Kind = map[string]TypeKind{"L": Long, "S": Short, "Y": Byte}[suffix]
		if !r.IsInt() || strings.ContainsAny(body, ".E") {
			return t, 0, &Error{l.At, fmt.Sprintf("The number %s has a fraction or an exponent, and its suffix says %s.", l.Text, t), ""}
		}
		low, high := rangeOf(t.Kind)
		if !r.Num().IsInt64() || r.Num().Int64() < low || r.Num().Int64() > high {
			return t, 0, outOf(t)
		}
		return t, 0, nil
	case "F":
		t.Kind = Float
		x, _ := r.Float32()
		if math.IsInf(float64(x), 0) {
			return t, 0, outOf(t)
		}
		return t, float64(x), nil
	case "D", "":
		if suffix == "D" || strings.Contains(body, "E") {
			t.Kind = Double
			f, _ = r.Float64()
			if math.IsInf(f, 0) {
				return t, 0, outOf(t)
			}
			return t, f, nil
		}
	}
	if suffix == "" && !strings.Contains(body, ".") {
		if n := r.Num(); n.IsInt64() {
			t.Kind = Long
			if x := n.Int64(); x >= math.MinInt32 && x <= math.MaxInt32 {
				t.Kind = Int
			}
			return t, 0, nil
		}
	}
	// A decimal has as many digits as are written.
	mantissa, exp, _ := strings.Cut(strings.TrimLeft(body, "-"), "E")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	shift, _ := strconv.Atoi(exp)
	scale := len(fraction) - shift
	digits := len(strings.TrimLeft(whole+fraction, "0"))
	if scale < 0 {
		digits, scale = digits-scale, 0
	}
	t = Type{Kind: Decimal, Precision: max(digits, scale, 1), Scale: scale}
	if t.Precision > maxDecimal {
		return t, 0, &Error{l.At, fmt.Sprintf("The number %s has more than %d digits.", l.Text, maxDecimal), "Write it with an exponent, as a double."}
	}
	return t, 0, nil
}

func rangeOf(k TypeKind) (low, high int64) {
	switch k {
	case Byte:
		return math.MinInt8, math.MaxInt8
	case Short:
		return math.MinInt16, math.MaxInt16
	case Int:
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

// timeLiteral returns the value of DATE '…' in days and of TIMESTAMP '…' in microseconds.
func timeLiteral(l *Literal) (Type, int64, error) {
	s := []byte(l.Value.(string))
	if l.Kind == "date" {
		if days, ok := parseDate(s); ok {
			return Type{Kind: Date}, days, nil
		}
		return Type{}, 0, &Error{l.At, fmt.Sprintf("'%s' is no date.", l.Text), "Write DATE '2024-01-31'."}
	}
	micros, zoned, ok := parseTimestamp(s)
	if !ok {
		return Type{}, 0, &Error{l.At, fmt.Sprintf("'%s' is no timestamp.", l.Text), "Write TIMESTAMP '2024-01-31 12:30:00.5'; a zone can follow as Z or +01:00, and without one it is UTC."}
	}
	if l.Kind == "timestamp_ntz" {
		if zoned {
			return Type{}, 0, &Error{l.At, "A timestamp_ntz has no zone.", ""}
		}
		return Type{Kind: TimestampNTZ}, micros, nil
	}
	return Type{Kind: Timestamp}, micros, nil
}

// minimal is the type of a node in decimal arithmetic and comparisons: whole constants are as long as they are
// written.
func (b *binder) minimal(e Expr) Type {
	t := b.types[e]
	if l, ok := e.(*Literal); ok && t.integral() && l.Value != nil {
		return Type{Kind: Decimal, Precision: digitsOf(l.Value.(*big.Rat).Num())}
	}
	return t.asDecimal()
}

// common is the type to which the operands of a comparison are cast.
func (b *binder) common(op Op, x, y Expr) (Type, bool) {
	l, r := b.types[x], b.types[y]
	switch {
	case l.is(Other) || r.is(Other):
		return Type{}, false
	case l == r:
		return l, true
	case l.is(NullType):
		return r, true
	case r.is(NullType):
		return l, true
	case l.is(String):
		if r.is(Decimal) {
			return Type{Kind: Double}, true
		}
		return r, true
	case r.is(String):
		if l.is(Decimal) {
			return Type{Kind: Double}, true
		}
		return l, true
	case l.is(Boolean) && r.numeric() && (op == Eq || op == Ne || op == NullSafe):
		return r, true
	case r.is(Boolean) && l.numeric() && (op == Eq || op == Ne || op == NullSafe):
		return l, true
	case l.is(Decimal) && r.fractional(), r.is(Decimal) && l.fractional():
		return Type{Kind: Double}, true
	case l.numeric() && r.numeric() && (l.is(Decimal) || r.is(Decimal)):
		return wider(b.minimal(x), b.minimal(y)), true
	}
	return tightest(l, r)
}

func (b *binder) compare(e *Binary, x, y Expr) (Expr, error) {
	t, ok := b.common(e.Op, x, y)
	if !ok {
		return nil, b.mismatch(e.At, x, y)
	}
	return b.typed(&Binary{e.At, e.Op, b.cast(x, t), b.cast(y, t)}, Type{Kind: Boolean}), nil
}

func (b *binder) mismatch(at int, x, y Expr) error {
	l, r := b.types[x], b.types[y]
	for _, t := range []Type{l, r} {
		if t.is(Other) {
			return &Error{at, fmt.Sprintf("Values of type %s can't be compared.", t), "They can be tested by IS NULL and IS NOT NULL; a field of a struct is written a.b, an element a[0], a value of a map a['key']."}
		}
	}
	return &Error{at, fmt.Sprintf("A %s and a %s can't be compared.", l, r), "Write a CAST where one makes sense."}
}

func (b *binder) in(e *In) (Expr, error) {
	x, err := b.bind(e.X)
	if err != nil {
		return nil, err
	}
	out := &In{At: e.At}
	all := []Expr{x}
	for _, y := range e.List {
		y, err := b.bind(y)
		if err != nil {
			return nil, err
		}
		all = append(all, y)
	}
	t, err := b.commonOf(e.At, all)
	if err != nil {
		return nil, err
	}
	out.X = b.cast(x, t)
	for _, y := range all[1:] {
		out.List = append(out.List, b.cast(y, t))
	}
	return b.typed(out, Type{Kind: Boolean}), nil
}

// commonOf is Spark's findWiderCommonType: texts come first.
func (b *binder) commonOf(at int, list []Expr) (Type, error) {
	order := slices.Clone(list)
	slices.SortStableFunc(order, func(x, y Expr) int {
		switch {
		case b.types[x].is(String) == b.types[y].is(String):
			return 0
		case b.types[x].is(String):
			return -1
		}
		return 1
	})
	t, from := b.types[order[0]], order[0]
	for _, y := range order {
		u := b.types[y]
		next, ok := widest(t, u)
		if !ok || u.is(Other) {
			return t, b.mismatch(at, from, y)
		}
		t = next
	}
	return t, nil
}

func (b *binder) like(e *Like) (Expr, error) {
	x, err := b.bind(e.X)
	if err != nil {
		return nil, err
	}
	if x, err = b.implied(e.At, "LIKE", x, Type{Kind: String}); err != nil {
		return nil, err
	}
	p, err := b.bind(e.Pattern)
	if err != nil {
		return nil, err
	}
	l, ok := p.(*Literal)
	if !ok || l.Kind != "string" && l.Kind != "null" {
		return nil, &Error{e.Pattern.Pos(), "The pattern of LIKE is a constant text here.", "Write it in quotes; % stands for any characters, _ for one."}
	}
	p = b.cast(p, Type{Kind: String})
	if s, ok := l.Value.(string); ok {
		if _, why := likePattern(s, e.Escape); why != "" {
			return nil, &Error{l.At, why, `An escape character stands in front of %, _ or itself; write '\\\\' for a backslash.`}
		}
	}
	return b.typed(&Like{e.At, x, p, e.Escape}, Type{Kind: Boolean}), nil
}

// implied casts an argument to a type, as Spark does where a function wants one.
func (b *binder) implied(at int, who string, x Expr, want Type) (Expr, error) {
	t := b.types[x]
	ok := t == want || t.is(NullType) || !t.is(Other) && want.is(String) && castable(t, want) || t.is(String) && castable(t, want) && !want.is(Boolean) ||
		t.numeric() && want.numeric() || t.datetime() && want.datetime()
	if !ok {
		return nil, &Error{at, fmt.Sprintf("%s takes a %s, and this is of type %s.", who, want, t), ""}
	}
	return b.cast(x, want), nil
}

func (b *binder) compute(e *Binary, x, y Expr) (Expr, error) {
	double := Type{Kind: Double}
	for _, p := range []*Expr{&x, &y} {
		switch t := b.types[*p]; {
		case t.is(String):
			*p = b.cast(*p, double)
		case t.numeric() || t.is(NullType):
		case t.datetime():
			return nil, &Error{e.At, fmt.Sprintf("%s on a %s can't be computed here.", e.Op, t), "Compare it with DATE '…' or TIMESTAMP '…', or use year, month, day, unix_timestamp."}
		default:
			return nil, &Error{e.At, fmt.Sprintf("%s takes numbers, and this is of type %s.", e.Op, t), ""}
		}
	}
	l, r := b.types[x], b.types[y]
	if l.is(NullType) && r.is(NullType) {
		x, y = b.cast(x, double), b.cast(y, double)
	} else if l.is(NullType) {
		x = b.cast(x, r)
	} else if r.is(NullType) {
		y = b.cast(y, l)
	}
	l, r = b.types[x], b.types[y]
	out := l
	switch {
	case l.is(Decimal) && r.fractional() || r.is(Decimal) && l.fractional():
		x, y, out = b.cast(x, double), b.cast(y, double), double
	case l.is(Decimal) || r.is(Decimal):
		l, r = b.minimal(x), b.minimal(y)
		x, y = b.cast(x, l), b.cast(y, r)
		whole, scale := max(l.Precision-l.Scale, r.Precision-r.Scale), max(l.Scale, r.Scale)
		switch e.Op {
		case Add, Sub:
			out = adjusted(whole+scale+1, scale)
		case Mul:
			out = adjusted(l.Precision+r.Precision+1, l.Scale+r.Scale)
		case Div:
			scale = max(6, l.Scale+r.Precision+1)
			out = adjusted(l.Precision-l.Scale+r.Scale+scale, scale)
		case Mod:
			out = adjusted(min(l.Precision-l.Scale, r.Precision-r.Scale)+scale, scale)
		}
	default:
		out, _ = tightest(l, r)
		if e.Op == Div {
			out = double
		}
		x, y = b.cast(x, out), b.cast(y, out)
	}
	return b.typed(&Binary{e.At, e.Op, x, y}, out), nil
}

// castable reports whether Spark casts values of one type to another, some of which may become null.
func castable(from, to Type) bool {
	switch {
	case from == to || from.is(NullType):
		return true
	case from.is(Other) || to.is(Other) || to.is(NullType):
		return false
	case from.is(String) || to.is(String):
		return true
	case from.numeric() || from.is(Boolean):
		return to.numeric() || to.is(Boolean) || to.is(Timestamp)
	case from.is(Date):
		return to.datetime()
	case from.is(Timestamp):
		return to.datetime() || to.numeric() || to.is(Boolean)
	case from.is(TimestampNTZ):
		return to.datetime()
	}
	return false
}

// quoteName writes a name so that it can be read again.
func quoteName(s string) string {
	plain := s != "" && letter(s[0])
	for i := range len(s) {
		plain = plain && (letter(s[i]) || digit(s[i]))
	}
	switch strings.ToLower(s) {
	case "and", "or", "not", "in", "is", "like", "between", "null", "true", "false", "case", "cast", "escape", "then", "when", "else", "end",
		"date", "timestamp", "timestamp_ltz", "timestamp_ntz", "interval", "exists", "x", "r", "div", "ilike", "rlike", "regexp":
		plain = false
	}
	if plain {
		return s
	}
	return "`" + strings.ReplaceAll(s, "`", "``") + "`"
}

// Constant reports whether a node reads no column.
func Constant(e Expr) bool {
	constant := true
	Walk(e, func(x Expr) {
		if _, ok := x.(*Column); ok {
			constant = false
		}
	})
	return constant
}

// String writes the condition with all casts, as it can be parsed again.
func (b *Bound) String() string { return Format(b.Root) }

// Format writes a condition as it can be parsed again.
func Format(e Expr) string {
	var w strings.Builder
	format(&w, e, 0)
	return w.String()
}

// Ranks of operators: what binds weaker than its surroundings stands in parentheses.
const (
	rankOr = iota + 1
	rankAnd
	rankNot
	rankIs
	rankCompare
	rankSum
	rankProduct
	rankUnary
)

func format(w *strings.Builder, e Expr, rank int) {
	open := func(own int) func() {
		if own >= rank {
			return func() {}
		}
		w.WriteByte('(')
		return func() { w.WriteByte(')') }
	}
	switch e := e.(type) {
	case *Column:
		for i, p := range e.Path {
			if i > 0 {
				w.WriteByte('.')
			}
			w.WriteString(quoteName(p))
		}
	case *Literal:
		switch e.Kind {
		case "string":
			w.WriteString(quoteText(e.Value, e.Text))
		case "date", "timestamp", "timestamp_ntz":
			w.WriteString(strings.ToUpper(e.Kind) + " " + quoteText(e.Value, e.Text))
		case "number":
			if strings.HasPrefix(e.Text, "-") {
				defer open(rankUnary)()
			}
			w.WriteString(e.Text)
		default:
			w.WriteString(e.Text)
		}
	case *Or:
		defer open(rankOr)()
		format(w, e.Left, rankOr)
		w.WriteString(" OR ")
		format(w, e.Right, rankOr)
	case *And:
		defer open(rankAnd)()
		format(w, e.Left, rankAnd)
		w.WriteString(" AND ")
		format(w, e.Right, rankAnd)
	case *Not:
		defer open(rankNot)()
		w.WriteString("NOT ")
		format(w, e.X, rankNot)
	case *IsNull:
		defer open(rankIs)()
		format(w, e.X, rankCompare)
		w.WriteString(map[bool]string{false: " IS NULL", true: " IS NOT NULL"}[e.Negated])
	case *In:
		defer open(rankIs)()
		format(w, e.X, rankCompare)
		w.WriteString(" IN (")
		for i, x := range e.List {
			if i > 0 {
				w.WriteString(", ")
			}
			format(w, x, rankSum)
		}
		w.WriteByte(')')
	case *Like:
		defer open(rankIs)()
		format(w, e.X, rankCompare)
		w.WriteString(" LIKE ")
		format(w, e.Pattern, rankSum)
		if e.Escape != 0 {
			w.WriteString(" ESCAPE " + quoteText(string(e.Escape), ""))
		}
	case *Element:
		format(w, e.X, rankUnary)
		for _, s := range e.Steps {
			if s.Key == nil {
				w.WriteString("." + quoteName(s.Field))
				continue
			}
			w.WriteByte('[')
			format(w, s.Key, 0)
			w.WriteByte(']')
		}
	case *Case:
		w.WriteString("CASE")
		for i := range e.When {
			w.WriteString(" WHEN ")
			format(w, e.When[i], 0)
			w.WriteString(" THEN ")
			format(w, e.Then[i], 0)
		}
		if e.Else != nil {
			w.WriteString(" ELSE ")
			format(w, e.Else, 0)
		}
		w.WriteString(" END")
	case *Cast:
		w.WriteString("CAST(")
		format(w, e.X, 0)
		w.WriteString(" AS " + e.Type + ")")
	case *Call:
		if e.Name == "negative" && len(e.Args) == 1 {
			defer open(rankUnary)()
			w.WriteString("- ")
			if l, ok := e.Args[0].(*Literal); ok && l.Kind == "number" {
				// "- 5" would be one number.
				w.WriteString("(" + l.Text + ")")
				return
			}
			format(w, e.Args[0], rankUnary)
			return
		}
		w.WriteString(e.Name + "(")
		for i, x := range e.Args {
			if i > 0 {
				w.WriteString(", ")
			}
			format(w, x, 0)
		}
		w.WriteByte(')')
	case *Binary:
		own := rankCompare
		switch e.Op {
		case Add, Sub:
			own = rankSum
		case Mul, Div, Mod:
			own = rankProduct
		}
		defer open(own)()
		format(w, e.Left, own)
		w.WriteString(" " + string(e.Op) + " ")
		format(w, e.Right, own+1)
	}
}

// quoteText writes a text constant.
func quoteText(value any, text string) string {
	s, ok := value.(string)
	if !ok {
		s = text
	}
	return quote(s)
}

// quote writes a text in quotes.
func quote(s string) string {
	var w strings.Builder
	w.WriteByte('\'')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\'':
			w.WriteString(`\'`)
		case r == '\\' && i+1 < len(s) && (s[i+1] == '%' || s[i+1] == '_'):
			// A backslash in front of these is kept by the parser.
			w.WriteByte('\\')
		case r == '\\':
			w.WriteString(`\\`)
		case r == '\n':
			w.WriteString(`\n`)
		case r == '\r':
			w.WriteString(`\r`)
		case r == '\t':
			w.WriteString(`\t`)
		case r < 0x20 || r == 0x7F:
			fmt.Fprintf(&w, `\u%04x`, r)
		default:
			w.WriteString(s[i : i+n])
		}
		i += n
	}
	w.WriteByte('\'')
	return w.String()
}
