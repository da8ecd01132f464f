//go:build js

// Command edge is the explorer service as an edge worker: it answers GET /api/OP?table=URL
// (package httpapi) for tables behind HTTP, with the same core as the command and the page.
//
// ALLOWED_ORIGINS names the places it may read; without it, it reads nothing. Every
// request is answered by a fresh program, so nothing is kept from one to the next.
package main

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/syumai/workers"
	"github.com/syumai/workers/cloudflare"

	"hudiscope/core/api"
	"hudiscope/core/explorer"
	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/fsadapter/httprange"
	"hudiscope/wasm/edge/guard"
	"hudiscope/web/httpapi"
)

// Budgets for an isolate of 128 MiB, which concurrent requests share.
const (
	cacheBytes = 24 << 20
	logBytes   = 32 << 20
	pageBytes  = 1 << 20
)

// subrequests is the limit where SUBREQUESTS says nothing: what a free plan allows.
const subrequests = 50

func main() { workers.Serve(handler()) }

func handler() http.Handler {
	places, err := httpapi.ParsePrefixes(cloudflare.Getenv("ALLOWED_ORIGINS"))
	if err != nil {
		return broken("ALLOWED_ORIGINS", err)
	}
	limit := subrequests
	if v := cloudflare.Getenv("SUBREQUESTS"); v != "" {
		if limit, err = strconv.Atoi(v); err != nil || limit < 1 {
			return broken("SUBREQUESTS", err)
		}
	}
	g := &guard.Guard{Next: httprange.NewFetcher(), Allow: places.Contains, Limit: limit}
	service := explorer.New(func(_ context.Context, location string) (storage.Source, error) {
		src, err := httprange.New(location, httprange.Options{Fetcher: g, Attempts: 2})
		if err != nil {
			return nil, err
		}
		return cache.New(src, cache.Options{Budget: cacheBytes}), nil
	}, explorer.Options{Tables: 1, LogBytes: logBytes, PageBytes: pageBytes})
	return httpapi.New(g.Around(service), httpapi.Options{
		Allow:   places.Allow,
		Fault:   explorer.ToFault,
		Origins: strings.Fields(strings.ReplaceAll(cloudflare.Getenv("CORS_ORIGINS"), ",", " ")),
	})
}

// broken answers everything with the fault of a wrong setting.
func broken(name string, err error) http.Handler {
	message := "The setting " + name + " of this worker is wrong"
	if err != nil {
		message += ": " + err.Error()
	}
	return httpapi.Failing(http.StatusInternalServerError, &api.Fault{Kind: "internal", Offset: -1, Message: message + "."})
}
