// Package fsadapter opens the places a table can lie in. The adapters are the packages
// below; this one chooses among them.
package fsadapter

import (
	"context"
	"errors"
	"io"
	"path"
	"strings"

	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/fsadapter/httprange"
	"hudiscope/fsadapter/presigned"
	"hudiscope/fsadapter/single"
	"hudiscope/fsadapter/zipfs"
)

// maxBundle is the largest URL bundle that is read, in bytes.
const maxBundle = 64 << 20

// OpenURL opens the table at an http or https URL: a directory that the server lists, a
// .zip, a URL bundle (.json), or one file of a table. A URL that ends in "/" is a
// directory; one without counts as a file if its name is that of an archive, a bundle or
// a file of a table (see [IsFileName]). It also opens public object stores: s3://, gs://,
// abfss://, wasbs://, the addresses of Azure's blob service, and signer+https:// (package
// signer). The source caches what it reads.
//
// Opening a directory or a single file sends nothing yet.
func OpenURL(ctx context.Context, location string) (storage.Source, error) {
	return OpenURLWith(ctx, location, Options{})
}

// OpenURLWith is OpenURL with Options.
func OpenURLWith(ctx context.Context, location string, o Options) (storage.Source, error) {
	if src, err, ok := store(ctx, location, o); ok {
		return src, err
	}
	a, err := httprange.ParseAddress(location)
	if err != nil {
		return nil, err
	}
	if a.IsFolder() || !IsFileName(a.Name()) {
		src, err := httprange.New(location, o.HTTP)
		if err != nil {
			return nil, err
		}
		return cache.New(o.kept(src, a.Location()), o.Cache), nil
	}
	obj, name, shown, err := httprange.File(location, o.HTTP)
	if err != nil {
		return nil, err
	}
	return openFile(ctx, cache.New(single.New(obj, name, shown), o.Cache), name, o)
}

// File opens the file name of src for what it is: a .zip as the table in it, a URL bundle
// as the table it names, and any other file as src itself, which should hold that file
// only. src should cache if it is remote.
func File(ctx context.Context, src storage.Source, name string) (storage.Source, error) {
	return openFile(ctx, src, name, Options{})
}

func openFile(ctx context.Context, src storage.Source, name string, o Options) (storage.Source, error) {
	zip, json := strings.EqualFold(path.Ext(name), ".zip"), strings.EqualFold(path.Ext(name), ".json")
	if !zip && !json && IsFileName(name) {
		return src, nil // a file of a table
	}
	obj, err := src.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	if json {
		defer obj.Close()
		size, err := obj.Size(ctx)
		if err != nil || size > maxBundle {
			return src, err
		}
		b := make([]byte, size)
		if err := storage.ReadFull(ctx, obj, b, 0); err != nil {
			return nil, err
		}
		if !presigned.IsBundle(b) {
			return src, nil
		}
		bundle, err := presigned.Parse(b, src.Location())
		if err != nil {
			return nil, err
		}
		if bundle.Base == "" {
			bundle.Base = name
		}
		return cache.New(presigned.New(bundle, o.HTTP), o.Cache), nil
	}
	magic := make([]byte, 4)
	if _, err := obj.ReadAt(ctx, magic, 0); err != nil && !errors.Is(err, io.EOF) {
		obj.Close()
		return nil, err
	}
	if !zip && !zipfs.IsZip(magic) {
		obj.Close()
		return src, nil
	}
	z, err := zipfs.New(ctx, obj, src.Location(), zipfs.Options{})
	if err != nil {
		obj.Close()
		return nil, err
	}
	return z, nil
}

// IsFileName reports whether a name is that of an archive, a URL bundle, or a file that
// Hudi writes: a base, log, timeline or properties file.
func IsFileName(name string) bool {
	if strings.Contains(name, ".log.") {
		return true
	}
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".zip", ".json", ".parquet", ".orc", ".hfile", ".avro", ".lance", ".properties",
		".requested", ".inflight", ".commit", ".deltacommit", ".replacecommit", ".compaction", ".logcompaction",
		".clustering", ".clean", ".rollback", ".restore", ".savepoint", ".indexing", ".schemacommit":
		return true
	}
	return strings.HasPrefix(name, ".hoodie_partition_metadata")
}

// scheme returns the scheme of a location that has one, in lower case.
func scheme(location string) string {
	s, _, ok := strings.Cut(location, "://")
	if !ok || strings.ContainsAny(s, "/\\ ") {
		return ""
	}
	return strings.ToLower(s)
}
