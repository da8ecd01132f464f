package predicate

import (
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"
)

// Limits of a condition: of nesting, so that no text exhausts the stack, and of its nodes.
const (
	maxDepth = 200
	maxNodes = 50000
)

// Parse reads a condition of Spark SQL (the text behind WHERE). Every error is an *Error.
func Parse(s string) (Expr, error) {
	tokens, err := lex(s)
	if err != nil {
		return nil, err
	}
	p := &parser{s: s, tokens: tokens}
	if p.peek().kind == end {
		return nil, &Error{0, "The condition is empty.", "Write one such as  price > 10 AND name LIKE 'a%'."}
	}
	e, err := p.or()
	if err != nil {
		return nil, err
	}
	t := p.peek()
	switch {
	case t.kind == end:
		return e, nil
	case t.is(")"):
		return nil, &Error{t.at, "A parenthesis is closed that was not opened.", ""}
	case t.is(";"):
		return nil, &Error{t.at, "A condition is no statement: it has no end mark.", "Leave out the semicolon."}
	}
	for _, clause := range []string{"order", "group", "limit", "having", "select", "from", "where", "union"} {
		if t.is(clause) {
			return nil, &Error{t.at, fmt.Sprintf("%s is no part of a condition.", strings.ToUpper(t.text)), "Write only what stands behind WHERE."}
		}
	}
	return nil, &Error{t.at, fmt.Sprintf("%s is not expected here.", p.show(t)), "Conditions are joined by AND and OR; texts stand in quotes, and names with blanks or dots in backquotes."}
}

type parser struct {
	s      string
	tokens []token
	at     int
	depth  int
	nodes  int
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}

func (p *parser) take(s string) bool {
	if p.peek().is(s) {
		p.at++
		return true
	}
	return false
}

func (p *parser) want(s, why string) error {
	if p.take(s) {
		return nil
	}
	return &Error{p.peek().at, fmt.Sprintf("%s is expected here%s, not %s.", s, why, p.show(p.peek())), ""}
}

func (p *parser) show(t token) string {
	if t.kind == end {
		return "the end"
	}
	s := p.s[t.at:t.end]
	if len(s) > 40 {
		n := 37
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n] + "…"
	}
	return s
}

// down enters a level of nesting.
func (p *parser) down() error {
	if p.depth++; p.depth > maxDepth {
		return &Error{p.peek().at, fmt.Sprintf("The condition is nested more than %d levels deep.", maxDepth), "Lists of values can be written as IN (…)."}
	}
	return nil
}

func (p *parser) up() { p.depth-- }

// node counts a node.
func (p *parser) node() error {
	if p.nodes++; p.nodes > maxNodes {
		return &Error{p.peek().at, fmt.Sprintf("The condition has more than %d parts.", maxNodes), ""}
	}
	return nil
}

func (p *parser) or() (Expr, error) {
	if err := p.down(); err != nil {
		return nil, err
	}
	defer p.up()
	return p.chain("OR", p.and, func(at int, l, r Expr) Expr { return &Or{at, l, r} })
}

func (p *parser) and() (Expr, error) {
	return p.chain("AND", p.not, func(at int, l, r Expr) Expr { return &And{at, l, r} })
}

// chain reads operands joined by a key word. The tree is balanced, so that a long chain is not deep.
func (p *parser) chain(op string, operand func() (Expr, error), join func(at int, l, r Expr) Expr) (Expr, error) {
	var list []Expr
	var ats []int
	for {
		x, err := operand()
		if err != nil {
			return nil, err
		}
		list = append(list, x)
		if err := p.node(); err != nil {
			return nil, err
		}
		if !p.peek().is(op) {
			break
		}
		ats = append(ats, p.next().at)
	}
	var build func(lo, hi int) Expr
	build = func(lo, hi int) Expr {
		if hi-lo == 1 {
			return list[lo]
		}
		mid := (lo + hi + 1) / 2
		return join(ats[mid-1], build(lo, mid), build(mid, hi))
	}
	return build(0, len(list)), nil
}

func (p *parser) not() (Expr, error) {
	if t := p.peek(); t.is("not") || t.is("!") {
		if err := p.down(); err != nil {
			return nil, err
		}
		defer p.up()
		p.next()
		if p.peek().is("exists") {
			return nil, p.unsupported(p.peek(), "EXISTS")
		}
		x, err := p.not()
		if err != nil {
			return nil, err
		}
		return &Not{t.at, x}, p.node()
	}
	return p.predicate()
}

func (p *parser) unsupported(t token, what string) error {
	return &Error{t.at, what + " can't be used in a condition here.", "Comparisons, IN, BETWEEN, LIKE, IS NULL, AND, OR, NOT, CAST, arithmetic and the functions " + strings.Join(functionNames(), ", ") + " can."}
}

// predicate reads a value and what is said of it.
func (p *parser) predicate() (Expr, error) {
	x, err := p.comparison()
	if err != nil {
		return nil, err
	}
	// Spark takes one of these behind a value.
	t := p.peek()
	negated := t.is("not")
	if negated {
		p.next()
	}
	wrap := func(e Expr, err error) (Expr, error) {
		if err != nil {
			return nil, err
		}
		if negated {
			e = &Not{t.at, e}
		}
		return e, p.node()
	}
	switch k := p.peek(); {
	case k.is("between"):
		p.next()
		low, err := p.sum()
		if err != nil {
			return nil, err
		}
		if err := p.want("AND", " between the bounds"); err != nil {
			return nil, err
		}
		high, err := p.sum()
		if err != nil {
			return nil, err
		}
		return wrap(&And{k.at, &Binary{k.at, Ge, x, low}, &Binary{k.at, Le, x, high}}, nil)
	case k.is("in"):
		p.next()
		return wrap(p.in(k, x))
	case k.is("like"):
		p.next()
		if a := p.peek(); a.is("any") || a.is("all") || a.is("some") {
			return nil, p.unsupported(a, "LIKE "+strings.ToUpper(a.text))
		}
		return wrap(p.like(k, x))
	case k.is("ilike"):
		// Spark makes both sides small.
		p.next()
		if a := p.peek(); a.is("any") || a.is("all") || a.is("some") {
			return nil, p.unsupported(a, "ILIKE "+strings.ToUpper(a.text))
		}
		e, err := p.like(k, &Call{k.at, "lower", []Expr{x}})
		if err != nil {
			return nil, err
		}
		if l, ok := e.(*Like).Pattern.(*Literal); ok && l.Kind == "string" {
			s := string(lowerText(nil, []byte(l.Value.(string))))
			e.(*Like).Pattern = &Literal{l.At, l.Kind, s, s}
		}
		return wrap(e, nil)
	case k.is("rlike"), k.is("regexp"):
		p.next()
		pattern, err := p.sum()
		return wrap(&Call{k.at, "rlike", []Expr{x, pattern}}, err)
	case negated:
		return nil, &Error{k.at, fmt.Sprintf("Behind NOT stands BETWEEN, IN, LIKE, ILIKE or RLIKE, not %s.", p.show(k)), "To negate a condition, write NOT in front of it."}
	case k.is("is"):
		p.next()
		return p.is(k, x)
	}
	return x, nil
}

func (p *parser) in(k token, x Expr) (Expr, error) {
	if err := p.want("(", " behind IN"); err != nil {
		return nil, err
	}
	if p.peek().is("select") || p.peek().is("with") {
		return nil, p.unsupported(p.peek(), "A query inside of IN")
	}
	in := &In{At: k.at, X: x}
	for {
		y, err := p.sum()
		if err != nil {
			return nil, err
		}
		in.List = append(in.List, y)
		if err := p.node(); err != nil {
			return nil, err
		}
		if !p.take(",") {
			return in, p.want(")", " to end the list")
		}
	}
}

func (p *parser) like(k token, x Expr) (Expr, error) {
	pattern, err := p.sum()
	if err != nil {
		return nil, err
	}
	l := &Like{At: k.at, X: x, Pattern: pattern}
	if p.take("escape") {
		t := p.next()
		r, n := utf8.DecodeRuneInString(t.text)
		if t.kind != text || n != len(t.text) || n == 0 || r == utf8.RuneError {
			return nil, &Error{t.at, "ESCAPE is followed by one character in quotes.", `The backslash itself is '\\'.`}
		}
		if r != '\\' {
			l.Escape = r
		}
	}
	return l, nil
}

func (p *parser) is(k token, x Expr) (Expr, error) {
	negated := p.take("not")
	t := p.next()
	wrap := func(e Expr) (Expr, error) {
		if negated {
			e = &Not{k.at, e}
		}
		return e, p.node()
	}
	switch {
	case t.is("null"):
		return &IsNull{k.at, x, negated}, p.node()
	case t.is("unknown"):
		return &IsNull{k.at, x, negated}, p.node()
	case t.is("true"), t.is("false"):
		return wrap(&Binary{k.at, NullSafe, x, &Literal{t.at, "boolean", strings.ToUpper(t.text), t.is("true")}})
	case t.is("distinct"):
		if err := p.want("FROM", " behind IS DISTINCT"); err != nil {
			return nil, err
		}
		y, err := p.sum()
		if err != nil {
			return nil, err
		}
		negated = !negated
		return wrap(&Binary{k.at, NullSafe, x, y})
	}
	return nil, &Error{t.at, fmt.Sprintf("Behind IS stands NULL, NOT NULL, TRUE, FALSE or DISTINCT FROM, not %s.", p.show(t)), ""}
}

// comparison reads values joined by comparison operators, which Spark takes from left to right.
func (p *parser) comparison() (Expr, error) {
	x, err := p.sum()
	for n := 0; err == nil; n++ {
		t := p.peek()
		op, ok := map[string]Op{"=": Eq, "==": Eq, "<>": Ne, "!=": Ne, "<": Lt, "<=": Le, ">": Gt, ">=": Ge, "<=>": NullSafe}[t.text]
		if t.kind != symbol || !ok {
			return x, nil
		}
		if n > maxDepth {
			break
		}
		p.next()
		var y Expr
		if y, err = p.sum(); err == nil {
			x, err = &Binary{t.at, op, x, y}, p.node()
		}
	}
	if err == nil {
		err = &Error{p.peek().at, "Too many comparisons follow each other.", "Join them by AND."}
	}
	return nil, err
}

func (p *parser) sum() (Expr, error) {
	return p.left(map[string]Op{"+": Add, "-": Sub}, func() (Expr, error) {
		return p.left(map[string]Op{"*": Mul, "/": Div, "%": Mod}, p.unary)
	})
}

// left reads operands joined by operators of one rank.
func (p *parser) left(ops map[string]Op, operand func() (Expr, error)) (Expr, error) {
	x, err := operand()
	for n := 0; err == nil; n++ {
		t := p.peek()
		op, ok := ops[t.text]
		if t.kind != symbol || !ok {
			switch {
			case t.is("||"), t.is("&"), t.is("|"), t.is("^"), t.is("["), t.is("div"):
				return nil, p.unsupported(t, "The operator "+p.show(t))
			}
			return x, nil
		}
		if n >= maxDepth {
			return nil, &Error{t.at, "Too many operators follow each other.", ""}
		}
		p.next()
		var y Expr
		if y, err = operand(); err == nil {
			x, err = &Binary{t.at, op, x, y}, p.node()
		}
	}
	return nil, err
}

func (p *parser) unary() (Expr, error) {
	t := p.peek()
	if t.is("~") {
		return nil, p.unsupported(t, "The operator ~")
	}
	if !t.is("-") && !t.is("+") {
		return p.primary()
	}
	if err := p.down(); err != nil {
		return nil, err
	}
	defer p.up()
	p.next()
	// The smallest number of a type has no positive counterpart, so the sign is part of it.
	if n := p.peek(); n.kind == number && t.is("-") {
		p.next()
		return p.number(n, t.at)
	}
	x, err := p.unary()
	if err != nil {
		return nil, err
	}
	if t.is("-") {
		x = &Call{t.at, "negative", []Expr{x}}
	}
	return x, p.node()
}

func (p *parser) number(t token, at int) (Expr, error) {
	s := strings.TrimRight(t.text, "LSYDFBlsydfb")
	r, ok := new(big.Rat), false
	if len(s) < 400 && exponent(s) <= 400 {
		r, ok = r.SetString(s)
	}
	if !ok {
		return nil, &Error{t.at, fmt.Sprintf("The number %s is out of range.", p.show(t)), ""}
	}
	textOf := t.text
	if at < t.at {
		r.Neg(r)
		textOf = "-" + textOf
	}
	l := &Literal{at, "number", textOf, r}
	_, _, err := numberType(l)
	if err != nil {
		return nil, err
	}
	return l, p.node()
}

// exponent is the size of a number's exponent.
func exponent(s string) int {
	i := strings.IndexAny(s, "eE")
	if i < 0 {
		return 0
	}
	n := 0
	for _, c := range strings.TrimLeft(s[i+1:], "+-") {
		if n = n*10 + int(c-'0'); n > 1000 {
			return 1000
		}
	}
	return n
}

func (p *parser) primary() (Expr, error) {
	t := p.next()
	switch t.kind {
	case number:
		return p.number(t, t.at)
	case text:
		s := t.text
		// Texts that follow each other are one.
		for p.peek().kind == text {
			s += p.next().text
		}
		return &Literal{t.at, "string", s, s}, p.node()
	case bytesOf:
		return &Literal{t.at, "binary", p.s[t.at:t.end], []byte(t.text)}, p.node()
	case quoted:
		return p.column(t)
	case end:
		return nil, &Error{t.at, "The condition ends where a value is expected.", ""}
	case symbol:
		switch t.text {
		case "(":
			if p.peek().is("select") || p.peek().is("with") {
				return nil, p.unsupported(p.peek(), "A query")
			}
			x, err := p.or()
			if err != nil {
				return nil, err
			}
			if p.peek().is(",") {
				return nil, p.unsupported(p.peek(), "A list of values beside IN")
			}
			return x, p.want(")", " to close the parenthesis at byte "+fmt.Sprint(t.at))
		case "*":
			return nil, &Error{t.at, "A value is expected here, not *.", ""}
		}
		return nil, &Error{t.at, fmt.Sprintf("A value is expected here, not %s.", t.text), "A value is a column, a constant, a function or something computed from them."}
	}
	// A word.
	lower := strings.ToLower(t.text)
	n := p.peek()
	switch lower {
	case "null":
		return &Literal{t.at, "null", "NULL", nil}, p.node()
	case "true", "false":
		return &Literal{t.at, "boolean", strings.ToUpper(lower), lower == "true"}, p.node()
	case "date", "timestamp", "timestamp_ltz", "timestamp_ntz":
		if n.kind == text {
			p.next()
			l := &Literal{t.at, lower, n.text, n.text}
			if lower == "timestamp_ltz" {
				l.Kind = "timestamp"
			}
			if _, _, err := timeLiteral(l); err != nil {
				return nil, err
			}
			return l, p.node()
		}
	case "interval":
		if n.kind == text || n.kind == number || n.is("-") {
			return nil, p.unsupported(t, "INTERVAL")
		}
	case "case":
		return p.choice(t)
	case "exists":
		if n.is("(") {
			return nil, p.unsupported(t, "EXISTS")
		}
	case "cast", "try_cast":
		if n.is("(") {
			if lower == "try_cast" {
				return nil, p.unsupported(t, "TRY_CAST")
			}
			return p.cast(t)
		}
	case "and", "or", "in", "between", "like", "is", "not", "escape", "then", "when", "else":
		return nil, &Error{t.at, fmt.Sprintf("A value is expected here, not %s.", strings.ToUpper(t.text)), "Put a column of such a name into backquotes."}
	}
	if n.is("(") {
		return p.call(t)
	}
	if n.kind == text {
		return nil, &Error{t.at, fmt.Sprintf("%s is no kind of constant.", t.text), "Those written with a word are DATE '…', TIMESTAMP '…', X'…' and R'…'."}
	}
	return p.column(t)
}

func (p *parser) column(t token) (Expr, error) {
	c := &Column{At: t.at, Path: []string{t.text}}
	for p.peek().is(".") {
		p.next()
		f := p.next()
		if f.kind != word && f.kind != quoted && !(f.kind == number && strings.Trim(f.text, "0123456789") == "") {
			return nil, &Error{f.at, fmt.Sprintf("The name of a field is expected behind the dot, not %s.", p.show(f)), ""}
		}
		c.Path = append(c.Path, f.text)
		if len(c.Path) > maxDepth {
			return nil, &Error{f.at, "The name has too many parts.", ""}
		}
	}
	if !p.peek().is("[") {
		return c, p.node()
	}
	e := &Element{At: c.At, X: c}
	for n := p.peek(); n.is("[") || n.is("."); n = p.peek() {
		p.next()
		if len(e.Steps) >= maxDepth {
			return nil, &Error{n.at, "The name has too many parts.", ""}
		}
		if err := p.node(); err != nil {
			return nil, err
		}
		if n.is("[") {
			key, err := p.or()
			if err != nil {
				return nil, err
			}
			if err := p.want("]", " behind the place of the element"); err != nil {
				return nil, err
			}
			e.Steps = append(e.Steps, Step{Key: key})
			continue
		}
		f := p.next()
		if f.kind != word && f.kind != quoted {
			return nil, &Error{f.at, fmt.Sprintf("The name of a field is expected behind the dot, not %s.", p.show(f)), ""}
		}
		e.Steps = append(e.Steps, Step{Field: f.text})
	}
	return e, p.node()
}

// choice reads a CASE. With a value behind CASE it is compared with each value behind WHEN.
func (p *parser) choice(t token) (Expr, error) {
	var subject Expr
	if !p.peek().is("when") {
		x, err := p.or()
		if err != nil {
			return nil, err
		}
		subject = x
	}
	c := &Case{At: t.at}
	for p.peek().is("when") {
		w := p.next()
		x, err := p.or()
		if err != nil {
			return nil, err
		}
		if l, ok := x.(*Literal); ok && l.Value == nil && subject == nil {
			return nil, &Error{l.At, "The condition of WHEN is NULL.", "Write a condition there; what else there is stands behind ELSE."}
		}
		if subject != nil {
			x = &Binary{w.at, Eq, subject, x}
		}
		if err := p.want("THEN", " behind the condition of WHEN"); err != nil {
			return nil, err
		}
		y, err := p.or()
		if err != nil {
			return nil, err
		}
		c.When, c.Then = append(c.When, x), append(c.Then, y)
		if err := p.node(); err != nil {
			return nil, err
		}
	}
	if len(c.When) == 0 {
		return nil, &Error{p.peek().at, fmt.Sprintf("WHEN is expected in CASE, not %s.", p.show(p.peek())), "CASE WHEN condition THEN value ELSE value END."}
	}
	if p.take("else") {
		x, err := p.or()
		if err != nil {
			return nil, err
		}
		c.Else = x
	}
	return c, p.want("END", " to end CASE")
}

func (p *parser) cast(t token) (Expr, error) {
	p.next()
	x, err := p.or()
	if err != nil {
		return nil, err
	}
	if err := p.want("AS", " in CAST(value AS type)"); err != nil {
		return nil, err
	}
	n := p.next()
	name := strings.ToLower(n.text)
	if n.kind != word {
		return nil, &Error{n.at, fmt.Sprintf("A type is expected here, not %s.", p.show(n)), ""}
	}
	if p.take("(") {
		var args []string
		for {
			a := p.next()
			if a.kind != number || strings.Trim(a.text, "0123456789") != "" {
				return nil, &Error{a.at, fmt.Sprintf("A number of digits is expected here, not %s.", p.show(a)), "Write DECIMAL(10,2)."}
			}
			args = append(args, a.text)
			if !p.take(",") {
				break
			}
		}
		if err := p.want(")", " behind the type"); err != nil {
			return nil, err
		}
		name += "(" + strings.Join(args, ",") + ")"
	}
	if p.peek().is("<") {
		return nil, p.unsupported(n, "A cast to "+p.show(n))
	}
	typ, err := parseType(name, n.at)
	if err != nil {
		return nil, err
	}
	if err := p.want(")", " to end CAST"); err != nil {
		return nil, err
	}
	return &Cast{At: t.at, X: x, Type: typ.String()}, p.node()
}

func (p *parser) call(t token) (Expr, error) {
	name := strings.ToLower(t.text)
	p.next()
	c := &Call{At: t.at, Name: name}
	if f := functions[name]; f == nil && name != "if" {
		return nil, &Error{t.at, fmt.Sprintf("The function %s can't be used in a condition here.", t.text), "Those that can are " + strings.Join(functionNames(), ", ") + "."}
	}
	if p.take(")") {
		return c, p.node()
	}
	for {
		x, err := p.or()
		if err != nil {
			return nil, err
		}
		c.Args = append(c.Args, x)
		if !p.take(",") {
			break
		}
	}
	if err := p.want(")", " to end the arguments of "+t.text); err != nil {
		return nil, err
	}
	if name == "if" {
		if len(c.Args) != 3 {
			return nil, &Error{t.at, fmt.Sprintf("if takes 3 arguments, and there are %d.", len(c.Args)), ""}
		}
		if l, ok := c.Args[0].(*Literal); ok && l.Value == nil {
			c.Args[0] = &Literal{l.At, "boolean", "FALSE", false} // NULL is not true, and CASE does not take it
		}
		return &Case{At: t.at, When: c.Args[:1], Then: c.Args[1:2], Else: c.Args[2]}, p.node()
	}
	return c, p.node()
}

// parseType reads the name of a type; at is for the error.
func parseType(name string, at int) (Type, error) {
	base, args, _ := strings.Cut(strings.TrimSuffix(name, ")"), "(")
	kinds := map[string]TypeKind{"boolean": Boolean, "tinyint": Byte, "byte": Byte, "smallint": Short, "short": Short, "int": Int, "integer": Int, "bigint": Long, "long": Long,
		"float": Float, "real": Float, "double": Double, "decimal": Decimal, "dec": Decimal, "numeric": Decimal, "string": String, "binary": Bytes, "date": Date,
		"timestamp": Timestamp, "timestamp_ltz": Timestamp, "timestamp_ntz": TimestampNTZ}
	k, ok := kinds[base]
	if !ok {
		return Type{}, &Error{at, fmt.Sprintf("%s is no type that values can be cast to here.", base), "The types are boolean, tinyint, smallint, int, bigint, float, double, decimal(p,s), string, binary, date, timestamp and timestamp_ntz."}
	}
	t := Type{Kind: k}
	if k != Decimal {
		if args != "" {
			return t, &Error{at, fmt.Sprintf("The type %s takes no length.", base), ""}
		}
		return t, nil
	}
	t.Precision = 10
	if args != "" {
		n, err := fmt.Sscanf(args+",", "%d,%d,", &t.Precision, &t.Scale)
		if n == 0 || n == 1 && strings.Contains(args, ",") || strings.Count(args, ",") > 1 {
			return t, &Error{at, fmt.Sprintf("decimal(%s) is no type: %v.", args, err), "Write DECIMAL(10,2)."}
		}
	}
	if t.Precision < 1 || t.Precision > maxDecimal || t.Scale > t.Precision {
		return t, &Error{at, fmt.Sprintf("decimal(%s) is no type: it has 1 to %d digits, and no more of them in the fraction.", args, maxDecimal), ""}
	}
	return t, nil
}
