package predicate

import (
	"bytes"
	"math"
	"math/big"
	"math/bits"

	"hudiscope/core/column"
	"hudiscope/core/schema"
)

// vec holds the values of a node for some rows. Which slice has them is decided by the node's type: Boolean bools;
// Byte to Long, Date (days) and timestamps (microseconds) ints; Float and Double floats; Decimal decs; String and
// Binary texts. nulls is nil where nothing is null; a null slot has any value.
type vec struct {
	nulls  []bool
	bools  []bool
	ints   []int64
	floats []float64
	decs   []dec
	texts  [][]byte
}

// kernel computes a node. What run returns is valid until the next run and must not be changed.
type kernel interface {
	run(b *column.Batch, from, n int) *vec
}

// Evaluator compiles the condition.
func (b *Bound) Evaluator() *Evaluator { return &Evaluator{root: b.compile(b.Root)} }

// compile makes the kernel of a node.
func (b *Bound) compile(e Expr) kernel {
	k := b.compileNode(e)
	if _, ok := k.(*constant); !ok && Constant(e) {
		return &constant{one: copyOne(k.run(nil, 0, 1), b.types[e].Kind), kind: b.types[e].Kind}
	}
	return k
}

func (b *Bound) compileNode(e Expr) kernel {
	switch e := e.(type) {
	case *Column:
		return newColumn(b.rows, e.Path, b.types[e])
	case *Literal:
		return newLiteral(e, b.types[e])
	case *And:
		return &logic{x: b.compile(e.Left), y: b.compile(e.Right), decides: false}
	case *Or:
		return &logic{x: b.compile(e.Left), y: b.compile(e.Right), decides: true}
	case *Not:
		return &not{x: b.compile(e.X)}
	case *IsNull:
		return &isNull{x: b.compile(e.X), negated: e.Negated}
	case *Binary:
		x, y := b.compile(e.Left), b.compile(e.Right)
		switch e.Op {
		case Add, Sub, Mul, Div, Mod:
			return newArithmetic(e.Op, x, y, b.types[e.Left], b.types[e.Right], b.types[e])
		}
		return newCompare(e.Op, x, y, b.types[e.Left].Kind)
	case *In:
		return b.newIn(e)
	case *Like:
		return newLike(b.compile(e.X), e)
	case *Cast:
		return newCast(b.compile(e.X), b.types[e.X], b.types[e])
	case *Call:
		return functions[e.Name].compile(b, e)
	case *Element:
		return b.newElement(e)
	case *Case:
		return b.newCase(e)
	}
	return nil // Bind refuses other nodes
}

// room returns a slice of n slots, of the old memory where it is enough.
func room[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, max(n, 64))
	}
	return s[:n]
}

// ready makes room for n values of a type.
func (v *vec) ready(k TypeKind, n int) {
	switch k {
	case Boolean, NullType:
		v.bools = room(v.bools, n)
	case Float, Double:
		v.floats = room(v.floats, n)
	case Decimal:
		v.decs = room(v.decs, n)
	case String, Bytes:
		v.texts = room(v.texts, n)
	case Other:
	default:
		v.ints = room(v.ints, n)
	}
}

// copyOne is slot 0 of a vector, on its own.
func copyOne(in *vec, k TypeKind) vec {
	var out vec
	if in.nulls != nil && in.nulls[0] {
		out.nulls = []bool{true}
	}
	out.ready(k, 1)
	out.set(k, 0, in, 0)
	return out
}

// set copies a value.
func (v *vec) set(k TypeKind, i int, in *vec, j int) {
	switch k {
	case Boolean, NullType:
		v.bools[i] = in.bools[j]
	case Float, Double:
		v.floats[i] = in.floats[j]
	case Decimal:
		v.decs[i] = in.decs[j]
	case String, Bytes:
		v.texts[i] = in.texts[j]
	case Other:
	default:
		v.ints[i] = in.ints[j]
	}
}

// constant repeats one value.
type constant struct {
	one  vec
	kind TypeKind
	n    int
	out  vec
}

func (c *constant) null() bool { return c.one.nulls != nil }

func (c *constant) run(_ *column.Batch, _, n int) *vec {
	for ; c.n < n; c.n = max(2*c.n, n, 64) {
		size := max(2*c.n, n, 64)
		c.out.ready(c.kind, size)
		if c.null() {
			c.out.nulls = room(c.out.nulls, size)
		}
		for i := range size {
			c.out.set(c.kind, i, &c.one, 0)
			if c.null() {
				c.out.nulls[i] = true
			}
		}
	}
	return &c.out
}

func newLiteral(l *Literal, t Type) kernel {
	c := &constant{kind: t.Kind}
	c.one.ready(t.Kind, 1)
	switch v := l.Value.(type) {
	case nil:
		c.one.nulls = []bool{true}
	case bool:
		c.one.bools[0] = v
	case []byte:
		c.one.texts[0] = v
	case *big.Rat:
		switch {
		case t.is(Decimal):
			var s scratch
			s.a.Mul(v.Num(), power(t.Scale))
			s.divide(new(big.Int).Set(&s.a), v.Denom())
			c.one.decs[0], _ = decFrom(&s.a)
		case t.fractional():
			_, c.one.floats[0], _ = numberType(l)
		default:
			c.one.ints[0] = v.Num().Int64()
		}
	case string:
		if t.is(String) {
			c.one.texts[0] = []byte(v)
			break
		}
		_, c.one.ints[0], _ = timeLiteral(l)
	}
	return c
}

// columnOf reads a column, or a field of a struct.
type columnOf struct {
	path  []int
	field *schema.Type
	typ   Type
	out   vec
	own   []bool // memory of out.nulls
	sums  []int64
	names [][]byte // of an enum
}

func newColumn(rows *schema.Type, path []string, t Type) *columnOf {
	c := &columnOf{typ: t}
	for _, p := range path {
		i := rows.FieldIndex(p)
		c.path = append(c.path, i)
		rows = rows.Fields[i].Type
	}
	c.field = rows
	if rows.Kind == schema.Enum {
		for _, s := range rows.Symbols {
			c.names = append(c.names, []byte(s))
		}
	}
	return c
}

func (c *columnOf) run(b *column.Batch, from, n int) *vec {
	v := b.Columns[c.path[0]]
	nulls := c.own[:0]
	// The nulls of structs on the way count.
	for depth := 1; ; depth++ {
		if v == nil {
			c.own = room(nulls[:0], n)
			for i := range c.own {
				c.own[i] = true
			}
			c.out.ready(c.typ.Kind, n)
			c.out.nulls = c.own
			return &c.out
		}
		if v.Nulls != nil {
			if len(nulls) == 0 {
				nulls = append(nulls, v.Nulls[from:from+n]...)
			} else {
				for i, null := range v.Nulls[from : from+n] {
					nulls[i] = nulls[i] || null
				}
			}
		}
		if depth == len(c.path) {
			break
		}
		v = v.Children[c.path[depth]]
	}
	c.own, c.out.nulls = nulls, nil
	if len(nulls) > 0 {
		c.out.nulls = nulls
	}
	switch c.typ.Kind {
	case Boolean:
		c.out.bools = v.Bools[from : from+n]
	case Float, Double:
		c.out.floats = v.Floats[from : from+n]
	case Timestamp, TimestampNTZ:
		if l := c.field.Logical; l == schema.TimestampMicros || l == schema.LocalTimestampMicros {
			c.out.ints = v.Ints[from : from+n]
			break
		}
		c.sums = room(c.sums, n)
		for i, x := range v.Ints[from : from+n] {
			c.sums[i] = column.Micros(c.field.Logical, x)
		}
		c.out.ints = c.sums
	case Decimal:
		c.out.decs = room(c.out.decs, n)
		if c.field.Kind == schema.Int || c.field.Kind == schema.Long {
			for i, x := range v.Ints[from : from+n] {
				c.out.decs[i] = decOf(x)
			}
			break
		}
		for i := range n {
			d, ok := decBytes(v.BytesAt(from + i))
			if c.out.decs[i] = d; !ok {
				c.null(i, n)
			}
		}
	case String, Bytes:
		c.out.texts = room(c.out.texts, n)
		if c.field.Kind == schema.Enum {
			for i, x := range v.Ints[from : from+n] {
				if c.out.texts[i] = nil; x >= 0 && int(x) < len(c.names) {
					c.out.texts[i] = c.names[x]
				}
			}
			break
		}
		offsets := v.Offsets[from : from+n+1]
		for i := range n {
			c.out.texts[i] = v.Data[offsets[i]:offsets[i+1]]
		}
	case Other:
	default:
		c.out.ints = v.Ints[from : from+n]
	}
	return &c.out
}

// null marks a slot whose value is longer than its type allows.
func (c *columnOf) null(i, n int) {
	if c.out.nulls == nil {
		c.own = room(c.own, n)
		clear(c.own)
		c.out.nulls = c.own
	}
	c.out.nulls[i] = true
}

// logic is AND (decided by false) and OR (decided by true).
type logic struct {
	x, y    kernel
	decides bool
	out     vec
	own     []bool
}

func (l *logic) run(b *column.Batch, from, n int) *vec {
	x := l.x.run(b, from, n)
	y := l.y.run(b, from, n)
	l.out.bools = room(l.out.bools, n)
	l.out.nulls = nil
	if x.nulls == nil && y.nulls == nil {
		if l.decides {
			for i := range n {
				l.out.bools[i] = x.bools[i] || y.bools[i]
			}
		} else {
			for i := range n {
				l.out.bools[i] = x.bools[i] && y.bools[i]
			}
		}
		return &l.out
	}
	l.own = room(l.own, n)
	l.out.nulls = l.own
	for i := range n {
		xn, yn := x.nulls != nil && x.nulls[i], y.nulls != nil && y.nulls[i]
		decided := !xn && x.bools[i] == l.decides || !yn && y.bools[i] == l.decides
		l.own[i] = !decided && (xn || yn)
		l.out.bools[i] = decided == l.decides
	}
	return &l.out
}

type not struct {
	x   kernel
	out vec
}

func (k *not) run(b *column.Batch, from, n int) *vec {
	x := k.x.run(b, from, n)
	k.out.bools = room(k.out.bools, n)
	for i := range n {
		k.out.bools[i] = !x.bools[i]
	}
	k.out.nulls = x.nulls
	return &k.out
}

type isNull struct {
	x       kernel
	negated bool
	out     vec
}

func (k *isNull) run(b *column.Batch, from, n int) *vec {
	x := k.x.run(b, from, n)
	k.out.bools = room(k.out.bools, n)
	for i := range n {
		k.out.bools[i] = (x.nulls != nil && x.nulls[i]) != k.negated
	}
	return &k.out
}

// compareFloats is the order of Spark: -0.0 is 0.0, NaN equals NaN and is above everything.
func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	case a == a:
		return -1
	case b == b:
		return 1
	}
	return 0
}

// compare compares two values of one type.
type compare struct {
	x, y kernel
	kind TypeKind
	// pass says which results of the comparison (-1, 0, 1, at index 0, 1, 2) hold.
	pass     [3]bool
	nullSafe bool
	out      vec
	own      []bool
}

func newCompare(op Op, x, y kernel, kind TypeKind) kernel {
	c := &compare{x: x, y: y, kind: kind, nullSafe: op == NullSafe}
	c.pass = map[Op][3]bool{Eq: {false, true, false}, NullSafe: {false, true, false}, Ne: {true, false, true},
		Lt: {true, false, false}, Le: {true, true, false}, Gt: {false, false, true}, Ge: {false, true, true}}[op]
	return c
}

func (c *compare) run(b *column.Batch, from, n int) *vec {
	x := c.x.run(b, from, n)
	y := c.y.run(b, from, n)
	out := room(c.out.bools, n)
	c.out.bools = out
	switch c.kind {
	case Boolean, NullType:
		for i := range n {
			d := 0
			if x.bools[i] != y.bools[i] {
				if d = -1; x.bools[i] {
					d = 1
				}
			}
			out[i] = c.pass[d+1]
		}
	case Float, Double:
		lt, eq, gt := c.pass[0], c.pass[1], c.pass[2]
		xs, ys := x.floats[:n], y.floats[:n]
		for i := range out {
			a, b := xs[i], ys[i]
			if a != a || b != b {
				out[i] = c.pass[compareFloats(a, b)+1]
				continue
			}
			out[i] = a < b && lt || a == b && eq || a > b && gt
		}
	case Decimal:
		for i := range n {
			out[i] = c.pass[x.decs[i].cmp(y.decs[i])+1]
		}
	case String, Bytes:
		if c.pass[0] == c.pass[2] {
			for i := range n {
				out[i] = bytes.Equal(x.texts[i], y.texts[i]) == c.pass[1]
			}
			break
		}
		for i := range n {
			out[i] = c.pass[bytes.Compare(x.texts[i], y.texts[i])+1]
		}
	default:
		lt, eq, gt := c.pass[0], c.pass[1], c.pass[2]
		xs, ys := x.ints[:n], y.ints[:n]
		for i := range out {
			a, b := xs[i], ys[i]
			out[i] = a < b && lt || a == b && eq || a > b && gt
		}
	}
	c.nulls(x, y, n)
	return &c.out
}

func (c *compare) nulls(x, y *vec, n int) {
	c.out.nulls = nil
	if x.nulls == nil && y.nulls == nil {
		return
	}
	if c.nullSafe {
		for i := range n {
			xn, yn := x.nulls != nil && x.nulls[i], y.nulls != nil && y.nulls[i]
			if xn || yn {
				c.out.bools[i] = xn == yn
			}
		}
		return
	}
	c.own = eitherNull(c.own, x, y, n)
	c.out.nulls = c.own
}

// eitherNull marks the slots that are null in one of two vectors, one of which has nulls.
func eitherNull(own []bool, x, y *vec, n int) []bool {
	own = room(own, n)
	switch {
	case x.nulls == nil:
		copy(own, y.nulls[:n])
	case y.nulls == nil:
		copy(own, x.nulls[:n])
	default:
		for i := range n {
			own[i] = x.nulls[i] || y.nulls[i]
		}
	}
	return own
}

// in looks a value up in a list of constants.
type in struct {
	x     kernel
	kind  TypeKind
	texts map[string]struct{}
	ints  map[int64]struct{}
	decs  map[dec]struct{}
	bools [2]bool
	// null is set when the list has a null: what is not found is unknown then.
	null bool
	out  vec
	own  []bool
}

func (b *Bound) newIn(e *In) kernel {
	kind := b.types[e.X].Kind
	k := &in{x: b.compile(e.X), kind: kind, texts: map[string]struct{}{}, ints: map[int64]struct{}{}, decs: map[dec]struct{}{}}
	var rest kernel
	for _, y := range e.List {
		c, ok := b.compile(y).(*constant)
		if !ok {
			eq := newCompare(Eq, b.compile(e.X), b.compile(y), kind)
			if rest == nil {
				rest = eq
			} else {
				rest = &logic{x: rest, y: eq, decides: true}
			}
			continue
		}
		if c.null() {
			k.null = true
			continue
		}
		switch kind {
		case Boolean, NullType:
			k.bools[map[bool]int{true: 1}[c.one.bools[0]]] = true
		case Float, Double:
			k.ints[floatKey(c.one.floats[0])] = struct{}{}
		case Decimal:
			k.decs[c.one.decs[0]] = struct{}{}
		case String, Bytes:
			k.texts[string(c.one.texts[0])] = struct{}{}
		default:
			k.ints[c.one.ints[0]] = struct{}{}
		}
	}
	if rest != nil {
		return &logic{x: k, y: rest, decides: true}
	}
	return k
}

// floatKey is the same for numbers that are equal.
func floatKey(f float64) int64 {
	switch {
	case f == 0:
		f = 0
	case f != f:
		f = math.NaN()
	}
	return int64(math.Float64bits(f))
}

func (k *in) run(b *column.Batch, from, n int) *vec {
	x := k.x.run(b, from, n)
	out := room(k.out.bools, n)
	k.out.bools = out
	switch k.kind {
	case Boolean, NullType:
		for i := range n {
			out[i] = k.bools[0] && !x.bools[i] || k.bools[1] && x.bools[i]
		}
	case Float, Double:
		for i := range n {
			_, out[i] = k.ints[floatKey(x.floats[i])]
		}
	case Decimal:
		for i := range n {
			_, out[i] = k.decs[x.decs[i]]
		}
	case String, Bytes:
		for i := range n {
			_, out[i] = k.texts[string(x.texts[i])]
		}
	default:
		for i := range n {
			_, out[i] = k.ints[x.ints[i]]
		}
	}
	k.out.nulls = x.nulls
	if k.null {
		k.own = room(k.own, n)
		for i := range n {
			k.own[i] = !out[i] || x.nulls != nil && x.nulls[i]
		}
		k.out.nulls = k.own
	}
	return &k.out
}

// each computes a value from another, one by one; f reports false for null.
type each struct {
	x    kernel
	kind TypeKind
	f    func(in *vec, i int, out *vec) bool
	out  vec
	own  []bool
	// arena holds the texts that f makes.
	arena []byte
}

func (k *each) run(b *column.Batch, from, n int) *vec {
	x := k.x.run(b, from, n)
	k.arena = k.arena[:0]
	k.out.ready(k.kind, n)
	k.out.nulls = nil
	for i := range n {
		null := x.nulls != nil && x.nulls[i]
		if !null && !k.f(x, i, &k.out) {
			null = true
		}
		if null && k.out.nulls == nil {
			k.own = room(k.own, n)
			clear(k.own)
			k.out.nulls = k.own
		}
		if k.out.nulls != nil {
			k.out.nulls[i] = null
		}
		if null {
			k.out.zero(k.kind, i)
		}
	}
	return &k.out
}

// zero gives a null slot a harmless value.
func (v *vec) zero(k TypeKind, i int) {
	switch k {
	case Boolean, NullType:
		v.bools[i] = false
	case Float, Double:
		v.floats[i] = 0
	case Decimal:
		v.decs[i] = dec{}
	case String, Bytes:
		v.texts[i] = nil
	case Other:
	default:
		v.ints[i] = 0
	}
}

// arithmetic computes with two numbers of one type (decimals: of their own types).
type arithmetic struct {
	x, y kernel
	kind TypeKind
	f    func(x, y *vec, i int, out *vec) bool
	out  vec
	own  []bool
}

func (k *arithmetic) run(b *column.Batch, from, n int) *vec {
	x := k.x.run(b, from, n)
	y := k.y.run(b, from, n)
	k.out.ready(k.kind, n)
	k.out.nulls = nil
	if x.nulls != nil || y.nulls != nil {
		k.own = eitherNull(k.own, x, y, n)
		k.out.nulls = k.own
	}
	for i := range n {
		if k.out.nulls != nil && k.out.nulls[i] {
			k.out.zero(k.kind, i)
			continue
		}
		if !k.f(x, y, i, &k.out) {
			if k.out.nulls == nil {
				k.own = room(k.own, n)
				clear(k.own)
				k.out.nulls = k.own
			}
			k.out.nulls[i] = true
			k.out.zero(k.kind, i)
		}
	}
	return &k.out
}

func newArithmetic(op Op, x, y kernel, l, r, t Type) kernel {
	k := &arithmetic{x: x, y: y, kind: t.Kind}
	switch {
	case t.is(Decimal):
		k.f = decimalOp(op, l, r, t)
	case t.fractional():
		single := t.is(Float)
		k.f = func(x, y *vec, i int, out *vec) bool {
			a, b := x.floats[i], y.floats[i]
			var c float64
			switch op {
			case Add:
				c = a + b
			case Sub:
				c = a - b
			case Mul:
				c = a * b
			case Div:
				if b == 0 {
					return false
				}
				c = a / b
			case Mod:
				if b == 0 {
					return false
				}
				c = math.Mod(a, b)
			}
			if single {
				c = float64(float32(c))
			}
			out.floats[i] = c
			return true
		}
	default:
		k.f = func(x, y *vec, i int, out *vec) bool {
			a, b := x.ints[i], y.ints[i]
			switch op {
			case Add:
				a += b
			case Sub:
				a -= b
			case Mul:
				a *= b
			case Mod:
				if b == 0 {
					return false
				}
				if b == -1 {
					a = 0
				} else {
					a %= b
				}
			}
			out.ints[i] = wrap(a, t.Kind)
			return true
		}
	}
	return k
}

// wrap cuts a number to the bits of a type, as Java does.
func wrap(x int64, k TypeKind) int64 {
	switch k {
	case Byte:
		return int64(int8(x))
	case Short:
		return int64(int16(x))
	case Int:
		return int64(int32(x))
	}
	return x
}

func decimalOp(op Op, l, r, t Type) func(x, y *vec, i int, out *vec) bool {
	var s scratch
	var a, b big.Int
	return func(x, y *vec, i int, out *vec) bool {
		p, q := x.decs[i], y.decs[i]
		if (op == Add || op == Sub) && l.Scale == r.Scale && l.Scale == t.Scale {
			if u, ok := p.small(); ok {
				if v, ok := q.small(); ok {
					if op == Sub {
						v = -v
					}
					if c := u + v; (c > u) == (v > 0) && v != math.MinInt64 && fits(c, t.Precision) {
						out.decs[i] = decOf(c)
						return true
					}
				}
			}
		}
		if op == Mul && l.Scale+r.Scale == t.Scale {
			if u, ok := p.small(); ok {
				if v, ok := q.small(); ok {
					if hi, lo := bits.Mul64(magnitude(u), magnitude(v)); hi == 0 && lo < 1<<63 && fits(u*v, t.Precision) {
						out.decs[i] = decOf(u * v)
						return true
					}
				}
			}
		}
		p.into(&a)
		q.into(&b)
		scale := max(l.Scale, r.Scale)
		var ok bool
		switch op {
		case Mul:
			s.c.Mul(&a, &b)
			out.decs[i], ok = s.fit(&s.c, l.Scale+r.Scale, t)
			return ok
		case Div:
			if b.Sign() == 0 {
				return false
			}
			// p·10^-l / (q·10^-r), to the scale of the result.
			if up := t.Scale - l.Scale + r.Scale; up >= 0 {
				a.Mul(&a, power(up))
			} else {
				b.Mul(&b, power(-up))
			}
			s.divide(&a, &b)
			if s.a.CmpAbs(power(t.Precision)) >= 0 {
				return false
			}
			out.decs[i], ok = decFrom(&s.a)
			return ok
		}
		a.Mul(&a, power(scale-l.Scale))
		b.Mul(&b, power(scale-r.Scale))
		switch op {
		case Add:
			s.c.Add(&a, &b)
		case Sub:
			s.c.Sub(&a, &b)
		case Mod:
			if b.Sign() == 0 {
				return false
			}
			s.b.QuoRem(&a, &b, &s.c)
		}
		out.decs[i], ok = s.fit(&s.c, scale, t)
		return ok
	}
}
