//go:build js

// Command edge is the explorer service as an edge worker: it answers GET /api/OP?table=URL
// (package httpapi) for tables behind HTTP and in bound buckets (r2://BINDING/prefix), with the same
// core as the command and the page.
//
// ALLOWED_ORIGINS names the places on the web that it may read, R2_BUCKETS the bindings of buckets, or
// prefixes of them (BINDING/prefix); without them, it reads nothing. Every
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
	"hudiscope/fsadapter/objectlist"
	"hudiscope/fsadapter/r2"
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
	buckets, err := r2.ParsePlaces(cloudflare.Getenv("R2_BUCKETS"))
	if err != nil {
		return broken("R2_BUCKETS", err)
	}
	limit := subrequests
	if v := cloudflare.Getenv("SUBREQUESTS"); v != "" {
		if limit, err = strconv.Atoi(v); err != nil || limit < 1 {
			return broken("SUBREQUESTS", err)
		}
	}
	g := &guard.Guard{
		Next:  r2.Fetcher{Bucket: cloudflare.GetBinding, Next: httprange.NewFetcher()},
		Allow: func(url string) bool { return places.Contains(url) || buckets.Sends(url) },
		Limit: limit,
	}
	service := explorer.New(func(_ context.Context, location string) (storage.Source, error) {
		src, err := open(location, httprange.Options{Fetcher: g, Attempts: 2})
		if err != nil {
			return nil, err
		}
		return cache.New(src, cache.Options{Budget: cacheBytes}), nil
	}, explorer.Options{Tables: 1, LogBytes: logBytes, PageBytes: pageBytes})
	return httpapi.New(g.Around(service), httpapi.Options{
		Allow: func(ctx context.Context, location string) (string, error) {
			if buckets.Contains(location) {
				return location, nil
			}
			return places.Allow(ctx, location)
		},
		Fault:   explorer.ToFault,
		Origins: strings.Fields(strings.ReplaceAll(cloudflare.Getenv("CORS_ORIGINS"), ",", " ")),
	})
}

// open opens a table in a bound bucket or behind HTTP.
func open(location string, o httprange.Options) (storage.Source, error) {
	if !r2.IsLocation(location) {
		return httprange.New(location, o)
	}
	binding, prefix, err := r2.ParseLocation(location)
	if err != nil {
		return nil, err
	}
	return r2.New(binding, prefix, o, objectlist.Options{})
}

// broken answers everything with the fault of a wrong setting.
func broken(name string, err error) http.Handler {
	message := "The setting " + name + " of this worker is wrong"
	if err != nil {
		message += ": " + err.Error()
	}
	return httpapi.Failing(http.StatusInternalServerError, &api.Fault{Kind: "internal", Offset: -1, Message: message + "."})
}
