package predicate

import (
	"hudiscope/core/column"
	"hudiscope/core/schema"
)

// Truth is a value of three-valued logic.
type Truth uint8

// The truth values. Only True passes a row.
const (
	False Truth = iota
	True
	Unknown
)

// String returns true, false or null.
func (t Truth) String() string { return [...]string{"false", "true", "null"}[t] }

// Bound is a condition over the rows of a type: names are found, and the casts that Spark makes are nodes
// of the tree. It is immutable and may be shared.
type Bound struct {
	// Root is the condition: columns by the names of the schema (Path[0] is the top-level field), BETWEEN as
	// two comparisons, implied casts as Cast nodes; see [Constant] for operands that read no column.
	Root Expr
	rows *schema.Type
	// types are the types of the nodes below Root.
	types map[Expr]Type
}

// Type returns the type of a node of the bound tree.
func (b *Bound) Type(e Expr) Type { return b.types[e] }

// Rows is the type of the rows that the condition is over.
func (b *Bound) Rows() *schema.Type { return b.rows }

// Conjuncts splits the condition at its outermost ANDs: a row passes if it passes all of them.
func (b *Bound) Conjuncts() []*Bound {
	if a, ok := b.Root.(*And); ok {
		left := Bound{a.Left, b.rows, b.types}
		right := Bound{a.Right, b.rows, b.types}
		return append(left.Conjuncts(), right.Conjuncts()...)
	}
	return []*Bound{b}
}

// Both is the condition that holds where both do, which must be bound to the same rows; nil stands for
// no condition.
func Both(a, b *Bound) *Bound {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	root := &And{At: a.Root.Pos(), Left: a.Root, Right: b.Root}
	types := make(map[Expr]Type, len(a.types)+len(b.types)+1)
	for _, x := range []*Bound{a, b} {
		for e, t := range x.types {
			types[e] = t
		}
	}
	types[root] = Type{Kind: Boolean}
	return &Bound{root, a.rows, types}
}

// Columns returns the top-level columns that the condition reads, in the order of the rows' type.
func (b *Bound) Columns() []string {
	used := map[string]bool{}
	Walk(b.Root, func(e Expr) {
		if c, ok := e.(*Column); ok {
			used[c.Path[0]] = true
		}
	})
	var out []string
	for _, f := range b.rows.Fields {
		if used[f.Name] {
			out = append(out, f.Name)
		}
	}
	return out
}

// Walk calls f for a node and all below it, a node before its operands.
func Walk(e Expr, f func(Expr)) {
	f(e)
	for _, x := range operands(e) {
		Walk(x, f)
	}
}

// operands are the nodes right below one.
func operands(e Expr) []Expr {
	switch e := e.(type) {
	case *Binary:
		return []Expr{e.Left, e.Right}
	case *And:
		return []Expr{e.Left, e.Right}
	case *Or:
		return []Expr{e.Left, e.Right}
	case *Not:
		return []Expr{e.X}
	case *IsNull:
		return []Expr{e.X}
	case *In:
		return append([]Expr{e.X}, e.List...)
	case *Like:
		return []Expr{e.X, e.Pattern}
	case *Cast:
		return []Expr{e.X}
	case *Call:
		return e.Args
	case *Element:
		out := []Expr{e.X}
		for _, s := range e.Steps {
			if s.Key != nil {
				out = append(out, s.Key)
			}
		}
		return out
	case *Case:
		var out []Expr
		for i := range e.When {
			out = append(out, e.When[i], e.Then[i])
		}
		if e.Else != nil {
			out = append(out, e.Else)
		}
		return out
	}
	return nil
}

// Evaluator decides rows. It keeps memory between calls, so that rows cost no allocation; it is for one
// goroutine.
type Evaluator struct {
	root kernel
	out  []Truth
}

// Eval decides the rows from (included) to (excluded) of a batch of the bound type, whose columns that the
// condition reads are there. The result is valid until the next call.
func (v *Evaluator) Eval(b *column.Batch, from, to int) []Truth {
	n := to - from
	got := v.root.run(b, from, n)
	if cap(v.out) < n {
		v.out = make([]Truth, n)
	}
	v.out = v.out[:n]
	for i := range v.out {
		switch {
		case got.nulls != nil && got.nulls[i]:
			v.out[i] = Unknown
		case got.bools[i]:
			v.out[i] = True
		default:
			v.out[i] = False
		}
	}
	return v.out
}
