package handoff

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"hudiscope/core/predicate"
	"hudiscope/core/schema"
)

// dialect is the SQL of an engine.
type dialect struct {
	engine string
	name   func(string) string
	text   func(string) string
	// spark is true for the dialect that conditions are given in.
	spark bool
	// types are the names of the types that casts name; calls the names of functions.
	types, calls map[string]string
	// value writes the value of a map at a key, null where there is none, as in Spark. Spark itself has none.
	value func(of, key string) string
	// record has the columns that a condition names, where it is known.
	record *schema.Type
}

var sparkSQL = &dialect{engine: "Spark", name: backquoted, text: sparkString, spark: true}

var flinkSQL = &dialect{engine: "Flink", name: backquoted, text: standardString,
	types: map[string]string{"boolean": "BOOLEAN", "tinyint": "TINYINT", "byte": "TINYINT", "smallint": "SMALLINT", "short": "SMALLINT", "int": "INT", "integer": "INT",
		"bigint": "BIGINT", "long": "BIGINT", "float": "FLOAT", "real": "FLOAT", "double": "DOUBLE", "string": "STRING", "date": "DATE"},
	calls: map[string]string{"lower": "LOWER", "upper": "UPPER", "abs": "ABS", "trim": "TRIM", "length": "CHAR_LENGTH", "coalesce": "COALESCE", "concat": "CONCAT"},
	value: func(of, key string) string { return of + "[" + key + "]" }}

var trinoSQL = &dialect{engine: "Trino", name: doublequoted, text: standardString,
	types: map[string]string{"boolean": "boolean", "tinyint": "tinyint", "byte": "tinyint", "smallint": "smallint", "short": "smallint", "int": "integer", "integer": "integer",
		"bigint": "bigint", "long": "bigint", "float": "real", "real": "real", "double": "double", "string": "varchar", "date": "date"},
	calls: map[string]string{"lower": "lower", "upper": "upper", "abs": "abs", "trim": "trim", "length": "length", "coalesce": "coalesce", "concat": "concat", "year": "year", "month": "month"},
	value: func(of, key string) string { return "element_at(" + of + ", " + key + ")" }}

// plainNumber is a number that every engine writes alike.
var plainNumber = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

// inexpressible says that a condition has no form in an engine.
type inexpressible struct{ engine, what string }

func (e *inexpressible) Error() string {
	return fmt.Sprintf("The condition can't be handed to %s: %s.", e.engine, e.what)
}

func (d *dialect) cannot(format string, args ...any) error {
	return &inexpressible{d.engine, fmt.Sprintf(format, args...)}
}

// column is a column, a field of a struct, or a value of a map, which Spark takes behind a dot, too.
func (d *dialect) column(path []string) string {
	s, _ := d.path(path)
	return s
}

// path writes a path of names and gives its type, nil where it is not known.
func (d *dialect) path(path []string) (string, *schema.Type) {
	s, t := "", d.record
	for i, p := range path {
		if t != nil && t.Kind == schema.Map && d.value != nil {
			s, t = d.value(s, d.text(p)), t.Elem
			continue
		}
		if i > 0 {
			s += "."
		}
		name, typ := member(t, p)
		s, t = s+d.name(name), typ
	}
	return s, t
}

// member is a field of a record, by its own name: Flink tells letters apart, Spark's conditions don't. Of what is not known
// the name stays.
func member(t *schema.Type, name string) (string, *schema.Type) {
	if t == nil || t.Kind != schema.Record {
		return name, nil
	}
	if i := field(t, name); i >= 0 {
		return t.Fields[i].Name, t.Fields[i].Type
	}
	return name, nil
}

// condition writes a condition, every operation in parentheses.
func (d *dialect) condition(e predicate.Expr) (string, error) {
	switch x := e.(type) {
	case *predicate.Column:
		return d.column(x.Path), nil
	case *predicate.Literal:
		return d.literal(x)
	case *predicate.Binary:
		op := string(x.Op)
		if x.Op == predicate.NullSafe && !d.spark {
			op = "IS NOT DISTINCT FROM"
		}
		return d.pair(x.Left, op, x.Right)
	case *predicate.And:
		return d.pair(x.Left, "AND", x.Right)
	case *predicate.Or:
		return d.pair(x.Left, "OR", x.Right)
	case *predicate.Not:
		s, err := d.condition(x.X)
		return "(NOT " + s + ")", err
	case *predicate.IsNull:
		s, err := d.condition(x.X)
		if x.Negated {
			return "(" + s + " IS NOT NULL)", err
		}
		return "(" + s + " IS NULL)", err
	case *predicate.In:
		s, err := d.condition(x.X)
		if err != nil {
			return "", err
		}
		list, err := d.list(x.List)
		return "(" + s + " IN (" + list + "))", err
	case *predicate.Like:
		s, err := d.pair(x.X, "LIKE", x.Pattern)
		if err != nil {
			return "", err
		}
		escape := x.Escape
		if escape == 0 && d.spark {
			return s, nil
		}
		if escape == 0 {
			escape = '\\'
		}
		return strings.TrimSuffix(s, ")") + " ESCAPE " + d.text(string(escape)) + ")", nil
	case *predicate.Cast:
		s, err := d.condition(x.X)
		if err != nil {
			return "", err
		}
		name, err := d.typeName(x.Type)
		return "CAST(" + s + " AS " + name + ")", err
	case *predicate.Call:
		return d.call(x)
	case *predicate.Case:
		return d.choice(x)
	case *predicate.Element:
		return d.element(x)
	}
	return "", d.cannot("a part of it is not known")
}

func (d *dialect) choice(x *predicate.Case) (string, error) {
	var w strings.Builder
	w.WriteString("CASE")
	for i := range x.When {
		when, err := d.condition(x.When[i])
		if err != nil {
			return "", err
		}
		then, err := d.condition(x.Then[i])
		if err != nil {
			return "", err
		}
		w.WriteString(" WHEN " + when + " THEN " + then)
	}
	if x.Else != nil {
		otherwise, err := d.condition(x.Else)
		if err != nil {
			return "", err
		}
		w.WriteString(" ELSE " + otherwise)
	}
	return w.String() + " END", nil
}

// element looks into arrays for Spark alone: Flink and Trino count from 1, and fail where there is no such element. Values of
// maps have a form in each.
func (d *dialect) element(x *predicate.Element) (string, error) {
	s, t := d.path(x.X.Path)
	for _, step := range x.Steps {
		if step.Key == nil {
			name, typ := member(t, step.Field)
			s, t = s+"."+d.name(name), typ
			continue
		}
		if !d.spark && (t == nil || t.Kind != schema.Map) {
			return "", d.cannot("an element of an array")
		}
		key, err := d.condition(step.Key)
		if err != nil {
			return "", err
		}
		if d.value != nil {
			s, t = d.value(s, key), t.Elem
			continue
		}
		s += "[" + key + "]"
		if t != nil {
			t = t.Elem
		}
	}
	return s, nil
}

func (d *dialect) pair(left predicate.Expr, op string, right predicate.Expr) (string, error) {
	l, err := d.condition(left)
	if err != nil {
		return "", err
	}
	r, err := d.condition(right)
	return "(" + l + " " + op + " " + r + ")", err
}

func (d *dialect) list(exprs []predicate.Expr) (string, error) {
	parts := make([]string, len(exprs))
	for i, e := range exprs {
		s, err := d.condition(e)
		if err != nil {
			return "", err
		}
		parts[i] = s
	}
	return strings.Join(parts, ", "), nil
}

func (d *dialect) call(x *predicate.Call) (string, error) {
	args, err := d.list(x.Args)
	if err != nil {
		return "", err
	}
	if x.Name == "negative" && len(x.Args) == 1 {
		return "(- " + args + ")", nil
	}
	name := x.Name
	if !d.spark {
		if name = d.calls[x.Name]; name == "" {
			return "", d.cannot("the function %s", visible(x.Name))
		}
	}
	return name + "(" + args + ")", nil
}

// castType is the form of a type in a cast: a word, perhaps with numbers.
var castType = regexp.MustCompile(`^[a-z]+(\([0-9]+(, ?[0-9]+)?\))?$`)

func (d *dialect) typeName(t string) (string, error) {
	t = strings.ToLower(t)
	if !castType.MatchString(t) {
		return "", d.cannot("a cast to this type")
	}
	if d.spark || strings.HasPrefix(t, "decimal(") {
		return t, nil
	}
	if name := d.types[t]; name != "" {
		return name, nil
	}
	return "", d.cannot("a cast to %s", t)
}

func (d *dialect) literal(x *predicate.Literal) (string, error) {
	switch x.Kind {
	case "null":
		return "NULL", nil
	case "boolean":
		if x.Value == true {
			return "TRUE", nil
		}
		return "FALSE", nil
	case "string":
		if s, ok := x.Value.(string); ok {
			return d.text(s), nil
		}
	case "number":
		if plainNumber.MatchString(x.Text) {
			return x.Text, nil
		}
		if r, ok := x.Value.(*big.Rat); ok && r.IsInt() && len(x.Text) > 0 && !strings.ContainsAny(x.Text, "eEdDfF") {
			return r.Num().String(), nil
		}
		if d.spark && sparkNumber.MatchString(x.Text) {
			return x.Text, nil
		}
		return "", d.cannot("a number of this form")
	case "date", "timestamp":
		return strings.ToUpper(x.Kind) + " " + d.text(x.Text), nil
	case "binary":
		if b, ok := x.Value.([]byte); ok {
			return "X'" + strings.ToUpper(hex.EncodeToString(b)) + "'", nil
		}
	}
	return "", d.cannot("a literal of this kind")
}

// sparkNumber is a number with Spark's exponents and suffixes.
var sparkNumber = regexp.MustCompile(`^[0-9]*\.?[0-9]*([eE][+-]?[0-9]+)?([lLsSyYfFdD]|[bB][dD])?$`)

// arrow writes a condition as a pyarrow expression: comparisons of columns with values of their own
// kind, joined by three-valued logic.
func arrow(e predicate.Expr, t *schema.Type) (string, error) {
	cannot := func(format string, args ...any) (string, error) {
		return "", &inexpressible{"pyarrow", fmt.Sprintf(format, args...)}
	}
	two := func(l predicate.Expr, op string, r predicate.Expr) (string, error) {
		a, err := arrow(l, t)
		if err != nil {
			return "", err
		}
		b, err := arrow(r, t)
		return "(" + a + " " + op + " " + b + ")", err
	}
	switch x := e.(type) {
	case *predicate.And:
		return two(x.Left, "&", x.Right)
	case *predicate.Or:
		return two(x.Left, "|", x.Right)
	case *predicate.Not:
		s, err := arrow(x.X, t)
		return "(~" + s + ")", err
	case *predicate.IsNull:
		c, _, err := arrowColumn(x.X, t)
		if x.Negated {
			return c + ".is_valid()", err
		}
		return c + ".is_null()", err
	case *predicate.Binary:
		ops := map[predicate.Op]string{predicate.Eq: "==", predicate.Ne: "!=", predicate.Lt: "<", predicate.Le: "<=", predicate.Gt: ">", predicate.Ge: ">="}
		turned := map[predicate.Op]predicate.Op{predicate.Lt: predicate.Gt, predicate.Le: predicate.Ge, predicate.Gt: predicate.Lt, predicate.Ge: predicate.Le}
		left, op, right := x.Left, x.Op, x.Right
		if _, ok := left.(*predicate.Literal); ok {
			left, right = right, left
			if o, ok := turned[op]; ok {
				op = o
			}
		}
		if ops[op] == "" {
			return cannot("the operator %s", op)
		}
		c, typ, err := arrowColumn(left, t)
		if err != nil {
			return "", err
		}
		v, err := arrowValue(right, typ)
		return "(" + c + " " + ops[op] + " " + v + ")", err
	case *predicate.In:
		c, typ, err := arrowColumn(x.X, t)
		if err != nil {
			return "", err
		}
		parts := make([]string, len(x.List))
		for i, l := range x.List {
			v, err := arrowValue(l, typ)
			if err != nil {
				return "", err
			}
			parts[i] = "(" + c + " == " + v + ")"
		}
		return "(" + strings.Join(parts, " | ") + ")", nil
	}
	return cannot("only comparisons of columns with values, IN, IS NULL, AND, OR and NOT can")
}

func arrowColumn(e predicate.Expr, t *schema.Type) (string, *schema.Type, error) {
	c, ok := e.(*predicate.Column)
	if !ok || t == nil {
		return "", nil, &inexpressible{"pyarrow", "only comparisons of columns with values, IN, IS NULL, AND, OR and NOT can"}
	}
	path := make([]string, len(c.Path))
	for i, p := range c.Path {
		k := -1
		if t.Kind == schema.Record {
			k = field(t, p)
		}
		if k < 0 {
			return "", nil, &inexpressible{"pyarrow", "a column is not there"}
		}
		path[i] = python(t.Fields[k].Name)
		t = t.Fields[k].Type
	}
	return "pc.field(" + strings.Join(path, ", ") + ")", t, nil
}

// field finds a field as Spark does, without regard to case.
func field(t *schema.Type, name string) int {
	if k := t.FieldIndex(name); k >= 0 {
		return k
	}
	for k := range t.Fields {
		if strings.EqualFold(t.Fields[k].Name, name) {
			return k
		}
	}
	return -1
}

func arrowValue(e predicate.Expr, t *schema.Type) (string, error) {
	x, ok := e.(*predicate.Literal)
	if !ok {
		return "", &inexpressible{"pyarrow", "a column is compared with something that is no value"}
	}
	switch {
	case x.Kind == "string" && t.Kind == schema.String:
		if s, ok := x.Value.(string); ok {
			return python(s), nil
		}
	case x.Kind == "boolean" && t.Kind == schema.Boolean:
		if x.Value == true {
			return "True", nil
		}
		return "False", nil
	case x.Kind == "number" && plainNumber.MatchString(x.Text) && t.Logical == schema.None:
		whole := !strings.Contains(x.Text, ".")
		if whole && (t.Kind == schema.Int || t.Kind == schema.Long) || t.Kind == schema.Float || t.Kind == schema.Double {
			return x.Text, nil
		}
	}
	return "", &inexpressible{"pyarrow", "a column is compared with a value of another kind"}
}
