//go:build js && wasm

package worker

import (
	"context"
	"maps"
	"strings"
	"sync"
	"syscall/js"

	"hudiscope/core/api"
	"hudiscope/core/storage"
	"hudiscope/fsadapter"
	"hudiscope/fsadapter/httprange"
	"hudiscope/fsadapter/upload"
	"hudiscope/fsadapter/zipfs"
)

// resolve opens the place that a location names.
func (e *engine) resolve(ctx context.Context, location string) (storage.Source, error) {
	switch {
	case strings.HasPrefix(location, "sample:"):
		return sample(ctx, strings.TrimPrefix(location, "sample:"))
	case strings.HasPrefix(location, "drop:"):
		return e.drops.open(ctx, location)
	case strings.HasPrefix(location, "/") && !strings.HasPrefix(location, "//"):
		// A table of the server that the page came from, as "hudiscope serve" prints it.
		location = js.Global().Get("location").Get("origin").String() + location
	}
	location, o := e.options(location)
	return fsadapter.OpenURLWith(ctx, location, o)
}

// maxSample bounds the size of an embedded table.
const maxSample = 64 << 20

// sample opens a table that lies beside the page. It is small, and read whole.
func sample(ctx context.Context, name string) (storage.Source, error) {
	if name == "" || strings.ContainsAny(name, "/\\?#%") || strings.HasPrefix(name, ".") {
		return nil, &api.Fault{Kind: "invalid request", Offset: -1, Message: "There is no embedded table of that name.", Try: "Choose one of the gallery on the home page."}
	}
	page := js.Global().Get("location").Get("href").String()
	url := page[:strings.LastIndexByte(page, '/')+1] + "samples/" + name + ".zip"
	obj, _, _, err := httprange.File(url, httprange.Options{})
	if err != nil {
		return nil, err
	}
	defer obj.Close()
	size, err := obj.Size(ctx)
	if err != nil {
		if storage.IsNotExist(err) {
			return nil, &api.Fault{Kind: "not found", Offset: -1, Message: "There is no embedded table “" + name + "”.", Try: "Choose one of the gallery on the home page."}
		}
		return nil, err
	}
	if size > maxSample {
		return nil, &api.Fault{Kind: "limit", Offset: -1, Message: "The embedded table is larger than 64 MiB."}
	}
	b := make([]byte, size)
	if err := storage.ReadFull(ctx, obj, b, 0); err != nil {
		return nil, err
	}
	return zipfs.FromBytes(b, "sample:"+name, zipfs.Options{})
}

// drops are what the user handed to the page, by name: arrays of {path, file}.
type drops struct {
	mu sync.Mutex
	m  map[string]js.Value
}

func newDrops() *drops { return &drops{m: map[string]js.Value{}} }

func (d *drops) add(name string, files js.Value) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.m[name] = files
}

// all is everything that was handed over.
func (d *drops) all() map[string]js.Value {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.m)
}

func (d *drops) open(ctx context.Context, name string) (storage.Source, error) {
	d.mu.Lock()
	files, ok := d.m[name]
	d.mu.Unlock()
	if !ok {
		return nil, &api.Fault{Kind: "not found", Offset: -1, Message: "What was dropped is not here any more: a page can't keep files over a reload.", Try: "Drop the folder or the file again."}
	}
	return upload.New(ctx, files, cacheOptions())
}
