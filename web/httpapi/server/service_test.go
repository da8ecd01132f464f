package server_test

import (
	"archive/zip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/explorer"
	"hudiscope/core/tabletest"
	"hudiscope/fsadapter/dir"
	"hudiscope/web/httpapi/server"
)

// unzip unpacks a test table into a folder of this machine.
func unzip(t *testing.T, name string) string {
	t.Helper()
	z, err := zip.OpenReader(filepath.Join(tabletest.Dir(), "tables", name+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	to := t.TempDir()
	if err := os.CopyFS(to, z); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(to, name)
}

// serve runs the real service over a real folder, as hudiscope serve does.
func serve(t *testing.T, folder string) *httptest.Server {
	t.Helper()
	src, err := dir.New(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	var tables server.Tables
	if err := tables.Add("trips", src); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(server.New(server.Config{Tables: &tables, Service: explorer.New(tables.Resolve, explorer.Options{}), Fault: explorer.ToFault}))
	t.Cleanup(s.Close)
	return s
}

// get decodes an answer into v and returns its status.
func get(t *testing.T, url string, v any) int {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if v == nil {
		_, err = io.Copy(io.Discard, res.Body)
	} else {
		err = json.NewDecoder(res.Body).Decode(v)
	}
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return res.StatusCode
}

type fault struct{ Fault *api.Fault }

func TestServiceOverHTTP(t *testing.T) {
	const name = "mor_trips_h120"
	s := serve(t, unzip(t, name))

	var got api.Timeline
	if status := get(t, s.URL+"/api/timeline?table=trips", &got); status != 200 {
		t.Fatalf("status %d", status)
	}
	var want struct {
		Active []struct {
			Timestamp, Action, State, File string
			CompletionTime                 string `json:"completion_time"`
		}
	}
	tabletest.Gold(t, name, "timeline.json", &want)
	if len(got.Active) != len(want.Active) {
		t.Fatalf("%d instants, want %d", len(got.Active), len(want.Active))
	}
	for i, w := range want.Active {
		g := got.Active[i]
		if g.Requested != w.Timestamp || g.Action != w.Action || g.State != w.State || g.Completed != w.CompletionTime || g.File != w.File {
			t.Errorf("instant %d: %+v, want %+v", i, g, w)
		}
	}

	var config api.ConfigAnswer
	if status := get(t, s.URL+"/api/config?table=/tables/trips/", &config); status != 200 || config.Properties["hoodie.table.type"] != "MERGE_ON_READ" {
		t.Errorf("config: %d %v", status, config)
	}
	var rows api.Rows
	if status := get(t, s.URL+"/api/rows?table=trips&limit=3&opt.hoodie.datasource.query.type=snapshot", &rows); status != 200 || len(rows.Rows) != 3 {
		t.Errorf("rows: %d, %d rows", status, len(rows.Rows))
	}
	for query, kind := range map[string]string{
		"instant?table=trips&requested=19990101000000000": "",
		"bytes?table=trips&file=nosuch&length=1":          "not found",
		"bytes?table=trips&file=../x&length=1":            "",
		"timeline?table=other":                            "forbidden",
		"rows?table=trips&hudi=newest":                    "",
	} {
		var f fault
		status := get(t, s.URL+"/api/"+query, &f)
		if status < 400 || f.Fault == nil || f.Fault.Message == "" || kind != "" && f.Fault.Kind != kind {
			t.Errorf("%s: %d %+v", query, status, f.Fault)
		}
		if f.Fault != nil && f.Fault.Kind == "internal" {
			t.Errorf("%s: %+v is called internal", query, f.Fault)
		}
	}
}

// TestLinksOutOfTheTable: what a link in the table's folder leads to outside is neither
// listed nor served nor read by the service.
func TestLinksOutOfTheTable(t *testing.T) {
	folder := unzip(t, "mor_trips_h120")
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.txt"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{
		"file.txt": filepath.Join(outside, "secret.txt"), "folder": outside, ".hoodie/up": "../..", "relative": "../../../../../../etc/passwd",
		"inside": ".hoodie/hoodie.properties",
	} {
		if err := os.Symlink(to, filepath.Join(folder, filepath.FromSlash(link))); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
	}
	s := serve(t, folder)
	for _, p := range []string{"file.txt", "folder/", "folder/secret.txt", ".hoodie/up/", ".hoodie/up/mor_trips_h120/.hoodie/hoodie.properties", "relative"} {
		if status := get(t, s.URL+"/tables/trips/"+p, nil); status != 403 && status != 404 {
			t.Errorf("%s: %d", p, status)
		}
		var f fault
		if status := get(t, s.URL+"/api/bytes?table=trips&length=1&file="+url.QueryEscape(strings.TrimSuffix(p, "/")), &f); status < 400 || f.Fault == nil {
			t.Errorf("the service reads %s: %d", p, status)
		}
	}
	if status := get(t, s.URL+"/tables/trips/inside", nil); status != 200 {
		t.Errorf("a link inside the table: %d", status)
	}
	req, err := http.NewRequest("GET", s.URL+"/tables/trips/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), `"file.txt"`) || strings.Contains(string(b), `"folder"`) || !strings.Contains(string(b), `".hoodie"`) {
		t.Errorf("listing %s", b)
	}
}

// TestChangedFileHasAnotherETag: a reader that compares ETags notices a file that was written over.
func TestChangedFileHasAnotherETag(t *testing.T) {
	folder := unzip(t, "mor_trips_h120")
	s := serve(t, folder)
	tag := func() string {
		res, err := http.Get(s.URL + "/tables/trips/.hoodie/hoodie.properties")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.Header.Get("ETag")
	}
	before := tag()
	file := filepath.Join(folder, ".hoodie", "hoodie.properties")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text[0] ^= 1
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if after := tag(); before == "" || after == before {
		t.Errorf("before %q, after %q", before, after)
	}
}

// TestExportOverHTTP: the file is the rows, in each format.
func TestExportOverHTTP(t *testing.T) {
	s := serve(t, unzip(t, "mor_trips_h120"))
	var rows api.Rows
	get(t, s.URL+"/api/rows?table=trips&limit=1000", &rows)
	for format, count := range map[string]func([]byte) int{
		"jsonl": func(b []byte) int { return strings.Count(string(b), "\n") },
		"csv":   func(b []byte) int { return strings.Count(string(b), "\r\n") - 1 },
		"parquet": func(b []byte) int {
			if len(b) < 8 || string(b[:4]) != "PAR1" || string(b[len(b)-4:]) != "PAR1" {
				return -1
			}
			return len(rows.Rows)
		},
	} {
		res, err := http.Get(s.URL + "/api/export?table=trips&format=" + format)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != 200 || len(rows.Rows) == 0 || count(b) != len(rows.Rows) || res.Header.Get("Content-Disposition") != "attachment; filename=mor_trips_h120."+format {
			t.Errorf("%s: %d, %v, %d of %d rows, %v", format, res.StatusCode, err, count(b), len(rows.Rows), res.Header)
		}
	}
}

// slow is a service whose answers wait for let.
type slow struct{ began, let chan struct{} }

func (s slow) Do(ctx context.Context, _ api.Op, _ []byte, _ func(api.Progress)) (any, error) {
	s.began <- struct{}{}
	select {
	case <-s.let:
		return &api.CloseAnswer{}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestAskedAtOnce: so many requests are answered at a time, the next one is refused at once, and one that
// ends makes room. The page and the tables are served all the while.
func TestAskedAtOnce(t *testing.T) {
	src, err := dir.New(unzip(t, "mor_trips_h120"))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var tables server.Tables
	if err := tables.Add("trips", src); err != nil {
		t.Fatal(err)
	}
	work := slow{make(chan struct{}), make(chan struct{})}
	s := httptest.NewServer(server.New(server.Config{Tables: &tables, Service: work, Asked: 3}))
	defer s.Close()
	const ask = "/api/overview?table=trips"
	status := make(chan int, 3)
	for range 3 {
		go func() {
			res, err := http.Get(s.URL + ask)
			if err != nil {
				status <- 0
				return
			}
			res.Body.Close()
			status <- res.StatusCode
		}()
		<-work.began
	}
	var f fault
	if got := get(t, s.URL+ask, &f); got != http.StatusServiceUnavailable || f.Fault == nil || f.Fault.Kind != "limit" || f.Fault.Try == "" {
		t.Errorf("the fourth: %d, %+v", got, f.Fault)
	}
	if got := get(t, s.URL+"/tables/trips/.hoodie/hoodie.properties", nil); got != http.StatusOK {
		t.Errorf("a file of the table: %d", got)
	}
	work.let <- struct{}{}
	if got := <-status; got != http.StatusOK {
		t.Errorf("the first: %d", got)
	}
	go func() { <-work.began; close(work.let) }()
	if got := get(t, s.URL+ask, nil); got != http.StatusOK {
		t.Errorf("after it: %d", got)
	}
	<-status
	<-status
}
