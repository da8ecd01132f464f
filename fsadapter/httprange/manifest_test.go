//go:build !js

package httprange

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hudiscope/core/storage"
	"hudiscope/core/storage/storagetest"
	"hudiscope/fsadapter/manifest"
)

// A server without listings, and one that hides dot names, are read whole by the manifest, which is
// asked for once.
func TestManifest(t *testing.T) {
	files := storagetest.Files()
	m, err := manifest.Make(t.Context(), storagetest.Mem(files), 4, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		doc     []byte
		listing bool // of names without dots
	}{{"no listing", doc, false}, {"dots hidden", doc, true}, {"none", nil, false}, {"bad", []byte(`{"v":2,"files":[]}`), false}} {
		var asked, manifests atomic.Int32
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p := strings.TrimPrefix(r.URL.Path, "/t/")
			b, ok := files[p]
			if p == manifest.Name {
				manifests.Add(1)
				b, ok = c.doc, c.doc != nil
			}
			switch {
			case ok:
				w.Header().Set("ETag", `"1"`)
				http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
			case strings.HasSuffix(r.URL.Path, "/") && c.listing && r.Method == "GET":
				asked.Add(1)
				w.Header().Set("Content-Type", "application/json")
				w.Write([]byte(`[{"name":"top","type":"file","mtime":"Sat, 07 Mar 2026 16:26:11 GMT","size":16}]`))
			case strings.HasSuffix(r.URL.Path, "/"):
				asked.Add(1)
				http.Error(w, "no", http.StatusForbidden)
			default:
				http.NotFound(w, r)
			}
		}))
		srv.Config.SetKeepAlivesEnabled(false)
		s, err := New(srv.URL+"/t/", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c.doc != nil && c.name != "bad" {
			storagetest.Run(t, s, files)
			if n, d := manifests.Load(), asked.Load(); n > 2 || d > 2 {
				t.Errorf("%s: %d requests for the manifest, %d for directories", c.name, n, d)
			}
		} else {
			_, err := s.List(t.Context(), "")
			_, again := s.List(t.Context(), "")
			var f *storage.Fault
			want := storage.NoListing
			if c.name == "bad" {
				want = storage.Refused
			}
			if !errors.As(err, &f) || f.Kind != want || !strings.Contains(f.Try, "manifest") || again == nil {
				t.Errorf("%s: %v (%+v), %v", c.name, err, f, again)
			}
			if n := manifests.Load(); c.name == "none" && n != 1 {
				t.Errorf("%d requests for the manifest", n)
			}
		}
		srv.Close()
	}
}
