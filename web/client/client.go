// Package client calls the explorer service from a user interface. Call is typed and
// knows no transport; a Transport carries one request as JSON. Mux is the part of a
// message-passing transport that has nothing to do with browsers; Worker (js only)
// joins it to the engine's Web Worker.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"hudiscope/core/api"
)

// Transport carries one request to the service and its answer back, both as JSON.
type Transport interface {
	// Do sends the request and waits for the answer. It returns an *api.Fault when the
	// service tells an error, and ctx's error soon after ctx is done. progress may be nil;
	// it is called from other goroutines, never after Do has returned.
	Do(ctx context.Context, op api.Op, args json.RawMessage, progress func(api.Progress)) (json.RawMessage, error)
}

// Call asks the service and decodes the answer. Every error is an *api.Fault, or ctx's
// own error when ctx ended the call.
func Call[A any](ctx context.Context, t Transport, op api.Op, req any, progress func(api.Progress)) (A, error) {
	var answer A
	args, err := json.Marshal(req)
	if err != nil {
		return answer, internal("the request %q can't be encoded: %v", op, err)
	}
	body, err := t.Do(ctx, op, args, progress)
	if err != nil {
		var f *api.Fault
		if errors.As(err, &f) || ctx.Err() != nil {
			return answer, err
		}
		return answer, internal("%v", err)
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return answer, internal("the answer to %q can't be decoded: %v", op, err)
	}
	return answer, nil
}

func internal(format string, args ...any) *api.Fault {
	return &api.Fault{Message: fmt.Sprintf(format, args...), Kind: "internal", Offset: -1}
}

// FaultOf turns any error of Call into a Fault to show.
func FaultOf(err error) *api.Fault {
	var f *api.Fault
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.Canceled):
		return &api.Fault{Message: "The request was cancelled.", Kind: "cancelled", Offset: -1}
	case errors.Is(err, context.DeadlineExceeded):
		return &api.Fault{Message: "The request took too long.", Kind: "cancelled", Offset: -1}
	}
	return internal("%v", err)
}
