//go:build !js

package fsadapter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hudiscope/core/storage"
	"hudiscope/fsadapter/dir"
	"hudiscope/fsadapter/httprange"
	"hudiscope/fsadapter/single"
)

// Open opens the table at a location: an http or https URL (see [OpenURL]), or a local
// path of a directory, a .zip, a URL bundle (.json) or one file of a table.
func Open(ctx context.Context, location string) (storage.Source, error) {
	return OpenWith(ctx, location, Options{})
}

// OpenWith is Open with Options.
func OpenWith(ctx context.Context, location string, o Options) (storage.Source, error) {
	if src, err, ok := store(ctx, location, o); ok {
		return src, err
	}
	scheme := scheme(location)
	switch scheme {
	case "":
	case "http", "https":
		return OpenURLWith(ctx, location, o)
	case "file":
		location = location[len("file://"):]
	default:
		return nil, unsupported(location, scheme)
	}
	fi, err := os.Stat(location)
	switch {
	case location == "":
		return nil, &storage.Fault{Op: "open", Kind: storage.Refused, Try: "Give a path or an address.", Err: errors.New("the location is empty")}
	case errors.Is(err, os.ErrNotExist):
		f := &storage.Fault{Op: "open", Location: location, Kind: storage.NotFound, Try: "Check the path."}
		if scheme == "" && httprange.HoldsUser(location) { // an address with a slash too few
			f.Location = httprange.Shown(location)
		}
		if strings.HasPrefix(location, "www.") {
			f.Try = "Begin the address with https://."
		}
		return nil, f
	case err != nil || fi.IsDir():
		return dir.New(location) // which explains the error
	}
	abs, err := filepath.Abs(location)
	if err != nil {
		return nil, &storage.Fault{Op: "open", Location: location, Kind: storage.Failed, Err: err}
	}
	folder, err := dir.New(filepath.Dir(abs))
	if err != nil {
		return nil, err
	}
	defer folder.Close() // the file stays open
	name := filepath.Base(abs)
	obj, err := folder.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	src := single.New(obj, name, abs)
	out, err := openFile(ctx, src, name, o)
	if err != nil {
		obj.Close()
		return nil, err
	}
	return out, nil
}

func unsupported(location, scheme string) error {
	return &storage.Fault{Op: "open", Location: httprange.Shown(location), Kind: storage.Refused,
		Try: "Give an http, https, s3, gs or abfss address of the table, a URL bundle, a .zip, or a local directory.",
		Err: fmt.Errorf("%s:// addresses can't be opened", scheme)}
}
