package idb

import (
	"context"
	"errors"
	"syscall/js"
)

// Event waits for the first of some events of a target.
func Event(target js.Value, names ...string) <-chan string {
	got := make(chan string, 1)
	var fs []js.Func
	once := false
	for _, name := range names {
		f := js.FuncOf(func(js.Value, []js.Value) any {
			if !once {
				once = true
				got <- name
				for i, n := range names {
					target.Set("on"+n, js.Null())
					fs[i].Release()
				}
			}
			return nil
		})
		fs = append(fs, f)
		target.Set("on"+name, f)
	}
	return got
}

// Error is the error of a request or transaction.
type Error struct{ Name, Message string }

func (e *Error) Error() string {
	if e.Message == "" {
		return e.Name
	}
	return e.Name + ": " + e.Message
}

// Full reports whether err says that the browser gives no more room.
func Full(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Name == "QuotaExceededError"
}

// ErrorOf is the error of a request or transaction that failed.
func ErrorOf(v js.Value) error {
	e := v.Get("error")
	if !e.Truthy() {
		return &Error{Name: "AbortError"}
	}
	return &Error{e.Get("name").String(), e.Get("message").String()}
}

// Request waits for a request.
func Request(ctx context.Context, req js.Value) (js.Value, error) {
	select {
	case name := <-Event(req, "success", "error"):
		if name == "error" {
			return js.Value{}, ErrorOf(req)
		}
		return req.Get("result"), nil
	case <-ctx.Done():
		return js.Value{}, ctx.Err()
	}
}

// Open opens a database of version 1; create makes the stores of a new one. Where ctx ends first, the connection is
// closed as soon as it is there, and only then are the callbacks released.
func Open(ctx context.Context, factory js.Value, name string, create func(db js.Value)) (db js.Value, err error) {
	defer Thrown(&err)
	req := factory.Call("open", name, 1)
	upgrade := js.FuncOf(func(js.Value, []js.Value) any {
		create(req.Get("result"))
		return nil
	})
	req.Set("onupgradeneeded", upgrade)
	ended := Event(req, "success", "error")
	select {
	case name := <-ended:
		upgrade.Release()
		if name == "error" {
			return js.Value{}, ErrorOf(req)
		}
		return req.Get("result"), nil
	case <-ctx.Done():
		go func() {
			if <-ended == "success" {
				req.Get("result").Call("close")
			}
			upgrade.Release()
		}()
		return js.Value{}, ctx.Err()
	}
}

// Thrown turns an exception of a call into an error; it is deferred.
func Thrown(err *error) {
	switch p := recover().(type) {
	case nil:
	case js.Error:
		name, message := "Error", ""
		if p.Value.Type() == js.TypeObject {
			name, message = p.Value.Get("name").String(), p.Value.Get("message").String()
		}
		*err = &Error{name, message}
	default:
		panic(p)
	}
}

// Finished tells how a transaction ended.
func Finished(tx js.Value) <-chan error {
	out := make(chan error, 1)
	ended := Event(tx, "complete", "abort")
	go func() {
		if <-ended == "abort" {
			out <- ErrorOf(tx)
			return
		}
		out <- nil
	}()
	return out
}
