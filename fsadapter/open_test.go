//go:build !js

package fsadapter

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/core/storage/storagetest"
	"hudiscope/fsadapter/dir"
	"hudiscope/fsadapter/httprange"
	"hudiscope/fsadapter/presigned"
	"hudiscope/fsadapter/single"
	"hudiscope/fsadapter/zipfs"
)

// place puts the files of a table into a folder, a .zip, and beside that one log file.
func place(t *testing.T) (root string, files map[string][]byte) {
	root, files = t.TempDir(), storagetest.Files()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	write := func(p string, b []byte) {
		full := filepath.Join(root, filepath.FromSlash(p))
		os.MkdirAll(filepath.Dir(full), 0o755)
		if err := os.WriteFile(full, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for p, b := range files {
		write("table/"+p, b)
		w, err := z.Create("inner/" + p)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(b)
	}
	z.Close()
	write("table.zip", buf.Bytes())
	write(logName, []byte("#HUDI#log"))
	write("package.json", []byte(`{"name":"x"}`))
	write("renamed", buf.Bytes())
	return root, files
}

const logName = ".f1-0_20260307162611195.log.1_0-157-346"

func bundleOf(base string, files map[string][]byte) []byte {
	b := presigned.Bundle{V: 1, Base: "t", Files: map[string]presigned.File{}}
	for p, data := range files {
		n := int64(len(data))
		b.Files[p] = presigned.File{URL: base + (&url.URL{Path: "/table/" + p}).EscapedPath(), Size: &n}
	}
	raw, _ := json.Marshal(b)
	return raw
}

func kindOf(src storage.Source) string {
	switch src.(type) {
	case *dir.Source:
		return "dir"
	case *zipfs.Source:
		return "zip"
	case *single.Source:
		return "single"
	case *cache.Source:
		return "cache"
	}
	return "?"
}

func TestOpen(t *testing.T) {
	root, files := place(t)
	srv := httptest.NewServer(http.FileServer(http.Dir(root)))
	srv.Config.SetKeepAlivesEnabled(false)
	defer srv.Close()
	os.WriteFile(filepath.Join(root, "bundle.json"), bundleOf(srv.URL, files), 0o644)
	log := map[string][]byte{logName: []byte("#HUDI#log")}
	pkg := map[string][]byte{"package.json": []byte(`{"name":"x"}`)}
	p := func(n string) string { return filepath.Join(root, n) }
	for _, c := range []struct {
		location, kind string
		want           map[string][]byte
	}{
		{p("table"), "dir", files},
		{"file://" + p("table"), "dir", files},
		{p("table.zip"), "zip", files},
		{p("renamed"), "zip", files},
		{p("bundle.json"), "cache", files},
		{p("package.json"), "single", pkg},
		{p(logName), "single", log},
		{srv.URL + "/table", "cache", files},
		{srv.URL + "/table/", "cache", files},
		{srv.URL + "/table.zip?sig=SECRET", "zip", files},
		{srv.URL + "/bundle.json", "cache", files},
		{srv.URL + "/package.json", "cache", pkg},
		{srv.URL + "/" + logName + "?sig=SECRET", "cache", log},
	} {
		t.Run(strings.TrimPrefix(strings.TrimPrefix(c.location, root), srv.URL), func(t *testing.T) {
			src, err := Open(t.Context(), c.location)
			if err != nil {
				t.Fatal(err)
			}
			if k := kindOf(src); k != c.kind {
				t.Errorf("opened as %s, want %s", k, c.kind)
			}
			if strings.Contains(src.Location(), "SECRET") {
				t.Errorf("a secret in %q", src.Location())
			}
			storagetest.Run(t, src, c.want)
			if cl, ok := src.(interface{ Close() error }); ok {
				if err := cl.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestOpenErrors(t *testing.T) {
	root, _ := place(t)
	os.WriteFile(filepath.Join(root, "bad.zip"), []byte("this is no archive"), 0o644)
	os.WriteFile(filepath.Join(root, "bad.json"), []byte(`{"v":3,"files":{}}`), 0o644)
	srv := httptest.NewServer(http.FileServer(http.Dir(root)))
	defer srv.Close()
	for loc, kind := range map[string]storage.FaultKind{
		"":                                    storage.Refused,
		"s3://bucket/table?SECRET":            storage.Refused,
		"http://":                             storage.Refused,
		filepath.Join(root, "absent"):         storage.NotFound,
		filepath.Join(root, "absent.zip"):     storage.NotFound,
		filepath.Join(root, "bad.json"):       storage.Refused,
		srv.URL + "/absent.zip?sig=SECRET":    storage.NotFound,
		srv.URL + "/absent.json?sig=SECRET":   storage.NotFound,
		"http://127.0.0.1:1/x.zip?sig=SECRET": storage.Unreachable,
	} {
		_, err := Open(t.Context(), loc)
		var f *storage.Fault
		if !errors.As(err, &f) || f.Kind != kind || f.Try == "" {
			t.Errorf("%q: %v, want %s with advice", loc, err, kind)
		} else if strings.Contains(err.Error(), "SECRET") || strings.Contains(f.Location, "SECRET") {
			t.Errorf("%q: a secret in %v", loc, err)
		}
	}
	for _, loc := range []string{filepath.Join(root, "bad.zip"), srv.URL + "/bad.zip"} {
		if _, err := Open(t.Context(), loc); err == nil || !strings.Contains(err.Error(), "bad.zip") {
			t.Errorf("%s: %v", loc, err)
		}
	}
}

// Users, passwords and keys in an address are shown by nothing, whether it opens or not.
func TestNoUserIsShown(t *testing.T) {
	o := Options{HTTP: httprange.Options{Fetcher: deaf{}}}
	stores := []string{"s3", "s3a", "s3n", "gs", "gcs", "abfs", "abfss", "wasb", "wasbs", "http", "https", "signer+http", "signer+https", "ftp", "hdfs", "S3", "HTTPS", "r2"}
	rests := []string{"://u:SENTINEL@b/x", "://AKIA:SEC%2FSENTINEL@pub/x", "://AKIA:SEC/SENTINEL@pub/x", "://AKIA:SENTINEL/x", "://SENTINEL@b/x", "://u:SENTINEL@", "://u:SENTINEL%zz@b/x",
		"://u:SENTINEL@c@acc.dfs.core.windows.net/x", "://u:SENTINEL@acc.blob.core.windows.net/c/x", "://u:SENTINEL%40b/x", "://u:SENTINEL@b/x.parquet", "://u:SENTINEL@b/x.zip?q=SENTINEL", ":/u:SENTINEL@b/x", "://u:SENTINEL#@b/x"}
	n := 0
	for _, s := range stores {
		for _, r := range rests {
			if r == "://SENTINEL@b/x" && (strings.HasPrefix(s, "abfs") || strings.HasPrefix(s, "wasb")) {
				continue // a container
			}
			location := s + r
			src, err := OpenWith(t.Context(), location, o)
			if err == nil {
				if strings.Contains(src.Location(), "SENTINEL") {
					t.Errorf("%s: the location %s", location, src.Location())
				}
				_, lerr := src.List(t.Context(), "")
				_, rerr := storage.ReadAll(t.Context(), src, "f", 0)
				err = errors.Join(lerr, rerr)
			}
			n++
			var f *storage.Fault
			if err == nil {
				t.Errorf("%s: no error", location)
			} else if strings.Contains(fmt.Sprintf("%v", err), "SENTINEL") || errors.As(err, &f) && strings.Contains(fmt.Sprintf("%+v", *f), "SENTINEL") {
				t.Errorf("%s: %v (%+v)", location, err, f)
			}
		}
	}
	if n < 200 {
		t.Errorf("%d addresses", n)
	}
	// What is no secret stays.
	for in, want := range map[string]string{
		"s3://b/a@b/c?region=x": "s3://b/a@b/c", "http://h:8080/a@b": "http://h:8080/a@b", "http://[::1]:80/x": "http://[::1]:80/x", "/data/a:b@c": "/data/a:b@c",
		"abfss://c@acc.dfs.core.windows.net/x": "abfss://c@acc.dfs.core.windows.net/x", `C:\t@x`: `C:\t@x`, "a:b@c": "a:b@c",
		"s3://u:p@b/x": "s3://b/x", "gs://u:p@b/x@y": "gs://b/x@y", "s3://A:S/T@b/x": "s3://b/x", "signer+https://u@h/p#x": "signer+https://h/p#x", "file:///a:b@c": "file:///a:b@c",
	} {
		if got := httprange.Shown(in); got != want {
			t.Errorf("%s is shown as %s, want %s", in, got, want)
		}
	}
}

// deaf answers nothing.
type deaf struct{}

func (deaf) Fetch(_ context.Context, r *httprange.Request) (*httprange.Response, error) {
	return nil, &httprange.NoAnswer{Err: errors.New("no answer from the network")}
}

// A .zip behind HTTP is opened with few requests.
func TestZipRequests(t *testing.T) {
	root, files := place(t)
	var n atomic.Int32
	h := http.FileServer(http.Dir(root))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		h.ServeHTTP(w, r)
	}))
	defer srv.Close()
	src, err := Open(t.Context(), srv.URL+"/table.zip")
	if err != nil {
		t.Fatal(err)
	}
	for p := range files {
		if _, err := storage.ReadAll(t.Context(), src, p, 0); err != nil {
			t.Error(err)
		}
	}
	if n.Load() != 1 {
		t.Errorf("%d requests for a small archive, want 1", n.Load())
	}
}

func TestIsFileName(t *testing.T) {
	for n, want := range map[string]bool{
		logName: true, "x.zip": true, "X.ZIP": true, "b.parquet": true, "20260307.deltacommit.requested": true,
		"20260307162557587_20260307162601961.commit": true, "hoodie.properties": true, ".f_1.log.2_0-1-1.cdc": true,
		"table": false, "trips.v2": false, "": false, "region=eu": false,
	} {
		if IsFileName(n) != want {
			t.Errorf("IsFileName(%q) = %v", n, !want)
		}
	}
}
