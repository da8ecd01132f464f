package predicate

import "hudiscope/core/column"

// choice binds a CASE: its values take the type that holds all of them, as with coalesce.
func (b *binder) choice(e *Case) (Expr, error) {
	out := &Case{At: e.At}
	for i := range e.When {
		w, err := b.truth(e.When[i], "WHEN")
		if err != nil {
			return nil, err
		}
		x, err := b.bind(e.Then[i])
		if err != nil {
			return nil, err
		}
		out.When = append(out.When, w)
		out.Then = append(out.Then, x)
	}
	otherwise := e.Else
	if otherwise == nil {
		otherwise = &Literal{At: e.At, Kind: "null", Text: "NULL"}
	}
	x, err := b.bind(otherwise)
	if err != nil {
		return nil, err
	}
	out.Else = x
	t, err := b.commonOf(e.At, append(append([]Expr{}, out.Then...), x))
	if err != nil {
		return nil, err
	}
	for i := range out.Then {
		out.Then[i] = b.cast(out.Then[i], t)
	}
	out.Else = b.cast(out.Else, t)
	return b.typed(out, t), nil
}

// cases takes the value of the first condition that is true.
type cases struct {
	when, then []kernel // then has one more, the value where none is
	kind       TypeKind
	out        vec
	own, done  []bool
}

func (b *Bound) newCase(e *Case) kernel {
	k := &cases{kind: b.types[e].Kind}
	for i := range e.When {
		k.when = append(k.when, b.compile(e.When[i]))
		k.then = append(k.then, b.compile(e.Then[i]))
	}
	k.then = append(k.then, b.compile(e.Else))
	return k
}

func (k *cases) run(b *column.Batch, from, n int) *vec {
	k.out.ready(k.kind, n)
	k.own, k.done = room(k.own, n), room(k.done, n)
	clear(k.done)
	k.out.nulls = k.own
	for c, then := range k.then {
		var when *vec
		if c < len(k.when) {
			when = k.when[c].run(b, from, n)
		}
		x := then.run(b, from, n)
		for i := range n {
			if k.done[i] || when != nil && (!when.bools[i] || when.nulls != nil && when.nulls[i]) {
				continue
			}
			k.done[i] = true
			if k.own[i] = x.nulls != nil && x.nulls[i]; k.own[i] {
				k.out.zero(k.kind, i)
				continue
			}
			k.out.set(k.kind, i, x, i)
		}
	}
	return &k.out
}
