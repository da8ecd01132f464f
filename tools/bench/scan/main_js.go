package main

import (
	"context"
	"syscall/js"

	"hudiscope/core/storage/cache"
	"hudiscope/fsadapter/httprange"
)

// main gives the worker it runs in a function scan(url, columns) that promises how many rows a table has.
func main() {
	js.Global().Set("scan", js.FuncOf(func(_ js.Value, args []js.Value) any {
		url, columns := args[0].String(), args[1].String()
		return js.Global().Get("Promise").New(js.FuncOf(func(_ js.Value, done []js.Value) any {
			go func() {
				n, err := remote(context.Background(), url, columns)
				if err != nil {
					done[1].Invoke(err.Error())
					return
				}
				done[0].Invoke(float64(n))
			}()
			return nil
		}))
	}))
	js.Global().Call("ready")
	select {}
}

func remote(ctx context.Context, url, columns string) (int64, error) {
	src, err := httprange.New(url, httprange.Options{})
	if err != nil {
		return 0, err
	}
	// As the page's engine reads: in larger pieces, kept for a while. Each reading begins with nothing.
	return rows(ctx, cache.New(src, cache.Options{}), columns, "")
}
