//go:build !js

package fsadapter_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"hudiscope/core/storage"
	"hudiscope/core/storage/storagetest"
	"hudiscope/fsadapter"
	"hudiscope/fsadapter/zipfs"
)

// TestSibling opens the folder beside a table from every place that has one.
func TestSibling(t *testing.T) {
	files := map[string]string{
		"up/t/.hoodie/hoodie.properties": "hoodie.table.name=t",
		"up/t/a.parquet":                 "table",
		"up/t_source/p=1/x.parquet":      "source",
		"up/t_source/_SUCCESS":           "",
		"up/plain":                       "a file",
	}
	want := map[string][]byte{"p=1/x.parquet": []byte("source"), "_SUCCESS": {}}
	root := t.TempDir()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for name, text := range files {
		full := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(root, "up", "link")); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.FileServer(http.Dir(root)))
	defer web.Close()

	local, err := fsadapter.Open(t.Context(), filepath.Join(root, "up", "t"))
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zipfs.FromBytes(buf.Bytes(), "x.zip", zipfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	remote, err := fsadapter.OpenURL(t.Context(), web.URL+"/up/t/?sig=secret")
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string]storage.Source{"dir": local, "zip": archive, "http": remote} {
		t.Run(name, func(t *testing.T) {
			n, ok := src.(storage.Neighbour)
			if !ok {
				t.Fatal("it has no Sibling")
			}
			s, err := n.Sibling(t.Context(), "t_source")
			if err != nil {
				t.Fatal(err)
			}
			storagetest.Run(t, s, want)
			var f *storage.Fault
			for _, bad := range []string{"", "..", ".", "a/b", `a\b`, "up/t_source", "\x00"} {
				if _, err := n.Sibling(t.Context(), bad); !errors.As(err, &f) || f.Kind != storage.Refused {
					t.Errorf("%q: %v", bad, err)
				}
			}
			if name == "http" {
				return // whether it exists shows when it is read
			}
			for _, none := range []string{"absent", "plain", "link"} {
				if _, err := n.Sibling(t.Context(), none); !errors.As(err, &f) || f.Kind != storage.NotFound {
					t.Errorf("%q: %v", none, err)
				}
			}
		})
	}
	top, err := zipfs.FromBytes(zipOf(t, ".hoodie/hoodie.properties"), "y.zip", zipfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := top.Sibling(t.Context(), ".hoodie"); !storage.IsNotExist(err) {
		t.Errorf("a table at the root of an archive has a sibling: %v", err)
	}
}

func zipOf(t *testing.T, name string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	if _, err := w.Create(name); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
