package predicate

import (
	"fmt"

	"hudiscope/core/column"
)

// Vain says which constants of a condition are null because they are no value of the type that they are compared
// as, each in a sentence: such a comparison is never true, which Spark says nothing about.
func (b *Bound) Vain() []string {
	var out []string
	Walk(b.Root, func(e Expr) {
		c, ok := e.(*Cast)
		if !ok || len(out) == maxVain {
			return
		}
		l, ok := c.X.(*Literal)
		if !ok || l.Value == nil || b.types[l].is(NullType) {
			return
		}
		// The cast itself is asked whether it is null.
		test := &IsNull{At: c.At, X: c}
		types := map[Expr]Type{test: {Kind: Boolean}, c: b.types[c], l: b.types[l]}
		asked := &Bound{Root: test, rows: b.rows, types: types}
		row := &column.Batch{Type: b.rows, Len: 1, Columns: make([]*column.Vector, len(b.rows.Fields))}
		if t := asked.Evaluator().Eval(row, 0, 1); len(t) == 1 && t[0] == True {
			out = append(out, fmt.Sprintf("%s is no %s and becomes null: a comparison with it is never true.", Format(l), b.types[c]))
		}
	})
	return out
}

// maxVain bounds the constants that are told.
const maxVain = 5
