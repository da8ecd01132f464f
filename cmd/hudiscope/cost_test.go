package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"hudiscope/core/tabletest"
)

// TestCost: what --cost says was sent is what the server saw; answers stay as they are, and a command that fails says it, too.
func TestCost(t *testing.T) {
	var seen atomic.Int64
	dir := t.TempDir()
	unzip(t, filepath.Join(tabletest.Dir(), "tables", "mor_trips_h120.zip"), dir)
	found, err := filepath.Glob(filepath.Join(dir, "*", ".hoodie"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	files := http.FileServer(http.Dir(dir))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		files.ServeHTTP(w, r)
	}))
	defer srv.Close()
	ask := func(args ...string) (code int, out, errs string) {
		t.Helper()
		var o, e bytes.Buffer
		code = run(context.Background(), args, &o, &e)
		return code, o.String(), e.String()
	}
	remote := srv.URL + "/" + filepath.Base(filepath.Dir(found[0])) + "/"
	_, plain, notes := ask("rows", remote, "--json")
	seen.Store(0)
	code, out, errs := ask("rows", remote, "--json", "--cost")
	if code != exitOK || out != plain || !strings.HasPrefix(errs, notes) {
		t.Fatalf("status %d, the same answer %v, %q", code, out == plain, errs)
	}
	var c cost
	if err := json.Unmarshal([]byte(errs[len(notes):]), &c); err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	if c.Command != "rows" || c.Requests != seen.Load() || c.Requests == 0 || c.Rounds < 1 || int64(c.Rounds) > c.Requests || c.Bytes < 10_000 || c.Storage == nil || c.Storage.Bytes == 0 || c.Seconds <= 0 {
		t.Errorf("the server saw %d requests: %+v", seen.Load(), c)
	}
	if runtime.GOOS == "linux" && (c.CPUSeconds <= 0 || c.PeakBytes < 1<<20 || c.PeakBytes > 1<<40) {
		t.Errorf("%+v", c)
	}
	if _, _, errs := ask("timeline", remote, "--cost"); !regexp.MustCompile(`(?m)^requests   \d+ in \d+ rounds, [\d.]+ (KiB|bytes); \d+ failed\nreads      \d+ of files and \d+ of listings, .*\nin memory  .*\ntime       [\d.]+ s`).MatchString(errs) {
		t.Errorf("%q", errs)
	}
	// A table on this machine has no requests.
	if _, _, errs := ask("timeline", filepath.Join(tabletest.Dir(), "tables", "mor_trips_h120.zip"), "--cost"); strings.Contains(errs, "requests") || !strings.HasPrefix(errs, "time       ") {
		t.Errorf("%q", errs)
	}
	code, _, errs = ask("rows", srv.URL+"/absent.zip", "--cost")
	if code != exitFailed || !strings.HasPrefix(errs, "requests   ") || !strings.Contains(errs, "\nhudiscope: ") {
		t.Errorf("status %d: %q", code, errs)
	}
}
