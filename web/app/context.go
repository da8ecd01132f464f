package app

import (
	"context"
	"time"
)

// newContext is for small requests nobody waits for.
func newContext() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	_ = cancel // ends with the timeout
	return ctx
}
