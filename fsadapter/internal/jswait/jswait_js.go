package jswait

import (
	"context"
	"syscall/js"
)

// Thrown is the error of a rejected promise.
type Thrown struct {
	// Value is what the promise was rejected with, mostly an Error object.
	Value js.Value
}

// Name is the name of the error, such as "NotReadableError"; "" if there is none.
func (t *Thrown) Name() string { return text(t.Value, "name") }

// Error is the message of the error.
func (t *Thrown) Error() string {
	if m := text(t.Value, "message"); m != "" {
		return m
	}
	return "the promise was rejected"
}

func text(v js.Value, field string) string {
	if v.Type() != js.TypeObject {
		return ""
	}
	if f := v.Get(field); f.Type() == js.TypeString {
		return f.String()
	}
	return ""
}

// Await waits for a promise, or until ctx ends. The callbacks are released when the
// promise settles, whether anybody still waits or not.
func Await(ctx context.Context, promise js.Value) (js.Value, error) {
	type result struct {
		v  js.Value
		ok bool
	}
	got := make(chan result, 1)
	var ok, bad js.Func
	settle := func(good bool) func(js.Value, []js.Value) any {
		return func(_ js.Value, args []js.Value) any {
			v := js.Undefined()
			if len(args) > 0 {
				v = args[0]
			}
			got <- result{v, good}
			ok.Release()
			bad.Release()
			return nil
		}
	}
	ok, bad = js.FuncOf(settle(true)), js.FuncOf(settle(false))
	promise.Call("then", ok, bad)
	select {
	case r := <-got:
		if !r.ok {
			return js.Value{}, &Thrown{r.v}
		}
		return r.v, nil
	case <-ctx.Done():
		return js.Value{}, ctx.Err()
	}
}
