package server

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
)

const trips = "mor_trips_h120"

func zipped(t *testing.T, s string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func start(t *testing.T, c Config) *httptest.Server {
	t.Helper()
	if c.Tables == nil {
		c.Tables = &Tables{}
		if err := c.Tables.Add("trips", tabletest.Open(t, trips)); err != nil {
			t.Fatal(err)
		}
	}
	s := httptest.NewServer(New(c))
	t.Cleanup(s.Close)
	return s
}

// get returns the answer as it is on the wire: nothing decoded, no redirect followed.
func get(t *testing.T, url string, header ...string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	tr := &http.Transport{DisableCompression: true}
	defer tr.CloseIdleConnections()
	res, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, b
}

// TestWholeTable walks the served listings, JSON and HTML, and compares every file
// and a range of it with the table itself.
func TestWholeTable(t *testing.T) {
	s := start(t, Config{})
	src := tabletest.Open(t, trips)
	href := regexp.MustCompile(`<a href="\./([^"]+)"`)
	files := 0
	var walk func(dir string)
	walk = func(dir string) {
		want, err := src.List(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		at := s.URL + "/tables/trips/"
		if dir != "" {
			at += (&url.URL{Path: dir}).EscapedPath() + "/"
		}
		res, body := get(t, at, "Accept", "application/json, text/html;q=0.9")
		var got []entry
		if err := json.Unmarshal(body, &got); err != nil || res.StatusCode != 200 {
			t.Fatalf("%s: %d %v", at, res.StatusCode, err)
		}
		_, page := get(t, at)
		links := href.FindAllStringSubmatch(string(page), -1)
		if len(got) != len(want.Entries) || len(links) != len(want.Entries) {
			t.Fatalf("%s: %d names as JSON, %d as HTML, want %d", dir, len(got), len(links), len(want.Entries))
		}
		for i, e := range want.Entries {
			link, err := url.PathUnescape(strings.TrimSuffix(links[i][1], "/"))
			if err != nil || link != e.Name || got[i].Name != e.Name || (got[i].Type == "directory") != e.Dir {
				t.Errorf("%s: entry %d is %+v and link %q, want %q", dir, i, got[i], link, e.Name)
			}
			if e.Dir {
				walk(path.Join(dir, e.Name))
				continue
			}
			if got[i].Size == nil || *got[i].Size != e.Size {
				t.Errorf("%s: size of %s", dir, e.Name)
			}
			data, err := storage.ReadAll(t.Context(), src, path.Join(dir, e.Name), 0)
			if err != nil {
				t.Fatal(err)
			}
			files++
			res, body := get(t, at+url.PathEscape(e.Name), "Accept-Encoding", "gzip")
			if res.StatusCode != 200 || !bytes.Equal(body, data) || res.Header.Get("Content-Encoding") != "" {
				t.Errorf("%s: %d, %d bytes, want %d", e.Name, res.StatusCode, len(body), len(data))
			}
			if n := len(data); n > 10 {
				res, body = get(t, at+url.PathEscape(e.Name), "Range", fmt.Sprintf("bytes=%d-%d", n/2, n-2))
				if cr := fmt.Sprintf("bytes %d-%d/%d", n/2, n-2, n); res.StatusCode != 206 || res.Header.Get("Content-Range") != cr || !bytes.Equal(body, data[n/2:n-1]) {
					t.Errorf("%s: range: %d %q", e.Name, res.StatusCode, res.Header.Get("Content-Range"))
				}
			}
		}
	}
	walk("")
	if files < 20 {
		t.Errorf("only %d files compared", files)
	}
}

// raw sends a request line as it is; a client library would clean the path.
func raw(t *testing.T, s *httptest.Server, target string) int {
	t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", target)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode
}

func TestTraversal(t *testing.T) {
	s := start(t, Config{Page: fstest.MapFS{"index.html": {Data: []byte("page")}}})
	for _, target := range []string{
		"/tables/trips/../trips/.hoodie/hoodie.properties", "/tables/trips/.hoodie/../../../etc/passwd",
		"/tables/trips/%2e%2e/x", "/tables/trips/..%2f..%2fetc%2fpasswd", "/tables/trips//etc/passwd", "/tables/trips/.hoodie//",
		"/tables/trips/./.hoodie/", "/tables/trips/..%5c..%5cetc", "/tables/trips/a%00b",
	} {
		if got := raw(t, s, target); got != http.StatusBadRequest {
			t.Errorf("%s: %d", target, got)
		}
	}
	for _, target := range []string{"/tables/../index.html", "/../index.html", "/tables/nosuch/", "/tables/nosuch", "/tables/trips/nosuch", "/tables/trips/nosuch/", "/index.html/"} {
		if got := raw(t, s, target); got != http.StatusNotFound {
			t.Errorf("%s: %d", target, got)
		}
	}
}

func TestRedirectsToDirectories(t *testing.T) {
	s := start(t, Config{})
	for from, to := range map[string]string{"/tables": "./tables/", "/tables/trips": "./trips/", "/tables/trips/.hoodie": "./.hoodie/"} {
		res, _ := get(t, s.URL+from)
		if res.StatusCode != 301 || res.Header.Get("Location") != to {
			t.Errorf("%s: %d to %q", from, res.StatusCode, res.Header.Get("Location"))
		}
	}
	res, body := get(t, s.URL+"/tables/", "Accept", "application/json")
	if res.StatusCode != 200 || strings.TrimSpace(string(body)) != `[{"name":"trips","type":"directory"}]` {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}

func TestPage(t *testing.T) {
	const wasm = "\x00asm and so on"
	s := start(t, Config{Page: fstest.MapFS{
		"index.html":       {Data: []byte("<!doctype html>")},
		"app.wasm":         {Data: []byte(wasm)},
		"app.wasm.gz":      {Data: zipped(t, wasm)},
		"app.wasm.br":      {Data: []byte("as brotli")},
		"boot.js":          {Data: []byte("new text")},
		"boot.js.gz":       {Data: zipped(t, "text of an earlier build")},
		"engine.wasm.gz":   {Data: zipped(t, wasm)},
		"samples/trip.zip": {Data: []byte("PK0123456789")},
		"broken.js.gz":     {Data: []byte("not gzip")},
	}})
	for _, c := range []struct {
		path, accept string
		status       int
		typ, enc     string
		body         string
	}{
		{"/", "gzip", 200, "text/html; charset=utf-8", "", "<!doctype html>"},
		{"/app.wasm", "", 200, "application/wasm", "", wasm},
		{"/app.wasm", "gzip, br", 200, "application/wasm", "br", "as brotli"},
		{"/app.wasm", "gzip;q=0.5, br;q=0", 200, "application/wasm", "gzip", string(zipped(t, wasm))},
		{"/engine.wasm", "", 200, "application/wasm", "", wasm},
		{"/engine.wasm", "gzip", 200, "application/wasm", "gzip", string(zipped(t, wasm))},
		{"/boot.js", "gzip", 200, "text/javascript; charset=utf-8", "", "new text"},
		{"/samples/trip.zip", "gzip", 200, "application/zip", "", "PK0123456789"},
		{"/nosuch.js", "gzip", 404, "text/plain; charset=utf-8", "", "404 page not found\n"},
		{"/samples", "", 404, "text/plain; charset=utf-8", "", "404 page not found\n"},
		{"/broken.js", "", 500, "text/plain; charset=utf-8", "", "The file can't be read.\n"},
	} {
		res, body := get(t, s.URL+c.path, "Accept-Encoding", c.accept)
		if res.StatusCode != c.status || res.Header.Get("Content-Type") != c.typ || res.Header.Get("Content-Encoding") != c.enc || string(body) != c.body {
			t.Errorf("%s (%s): %d %q %q %q", c.path, c.accept, res.StatusCode, res.Header.Get("Content-Type"), res.Header.Get("Content-Encoding"), body)
		}
		if res.Header.Get("X-Content-Type-Options") != "nosniff" || res.Header.Get("Cross-Origin-Resource-Policy") != "same-origin" || res.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: headers %v", c.path, res.Header)
		}
		if c.status != 200 {
			continue
		}
		if csp := res.Header.Get("Content-Security-Policy"); strings.HasPrefix(c.typ, "text/") != strings.Contains(csp, "script-src 'self' 'wasm-unsafe-eval'") {
			t.Errorf("%s: policy %q", c.path, csp)
		}
		if res, _ = get(t, s.URL+c.path, "Accept-Encoding", c.accept, "If-None-Match", res.Header.Get("ETag")); res.StatusCode != 304 {
			t.Errorf("%s again: %d", c.path, res.StatusCode)
		}
	}
	if res, body := get(t, s.URL+"/samples/trip.zip", "Range", "bytes=2-4"); res.StatusCode != 206 || string(body) != "012" {
		t.Errorf("range: %d %q", res.StatusCode, body)
	}
}

// TestPageChanges builds again while the server runs.
func TestPageChanges(t *testing.T) {
	page := fstest.MapFS{"index.html": {Data: []byte("one")}}
	s := start(t, Config{Page: page})
	if _, body := get(t, s.URL+"/"); string(body) != "one" {
		t.Fatalf("%q", body)
	}
	page["index.html"] = &fstest.MapFile{Data: []byte("another")}
	if _, body := get(t, s.URL+"/"); string(body) != "another" {
		t.Errorf("%q", body)
	}
}

func TestHosts(t *testing.T) {
	s := start(t, Config{Hosts: LoopbackHosts})
	for host, want := range map[string]int{"localhost:8080": 200, "127.0.0.1": 200, "[::1]:80": 200, "LOCALHOST": 200, "evil.example": 421, "127.0.0.1.evil.example:8080": 421} {
		if res, _ := get(t, s.URL+"/tables/", "Host", host); res.StatusCode != want {
			t.Errorf("%s: %d, want %d", host, res.StatusCode, want)
		}
	}
}

func TestOrigins(t *testing.T) {
	s := start(t, Config{Origins: []string{"https://good.example"}})
	const file = "/tables/trips/.hoodie/hoodie.properties"
	for origin, want := range map[string]string{"https://good.example": "https://good.example", "https://bad.example": "", "null": ""} {
		res, _ := get(t, s.URL+file, "Origin", origin)
		if got := res.Header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%s: %q", origin, got)
		}
	}
	req, err := http.NewRequest("OPTIONS", s.URL+file, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", "https://good.example")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 204 || !strings.Contains(res.Header.Get("Access-Control-Allow-Headers"), "Range") {
		t.Errorf("preflight: %d %v", res.StatusCode, res.Header)
	}
}

func TestTableNames(t *testing.T) {
	var tables Tables
	src := tabletest.Open(t, trips)
	for _, bad := range []string{"", ".", "..", "a/b", "/a"} {
		if err := tables.Add(bad, src); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if err := tables.Add("trips", src); err != nil {
		t.Fatal(err)
	}
	if err := tables.Add("trips", src); err == nil {
		t.Error("the same name twice")
	}
	for loc, want := range map[string]string{"trips": "trips", "/tables/trips/": "trips", "tables/trips": "trips"} {
		if got, err := tables.Allow(t.Context(), loc); err != nil || got != want {
			t.Errorf("%s: %q %v", loc, got, err)
		}
	}
	for _, loc := range []string{"", "nosuch", "/etc", "http://127.0.0.1/tables/trips/", "../trips", "trips/../x"} {
		if got, err := tables.Allow(t.Context(), loc); err == nil {
			t.Errorf("%s is allowed as %q", loc, got)
		}
	}
	if _, err := tables.Resolve(t.Context(), "nosuch"); !storage.IsNotExist(err) {
		t.Errorf("resolving an absent table: %v", err)
	}
}

// TestTablesList: the page finds the server's tables in tables.json, in place of the empty one among its files.
func TestTablesList(t *testing.T) {
	s := start(t, Config{Page: fstest.MapFS{"index.html": {Data: []byte("x")}, "tables.json": {Data: []byte("[]")}}})
	res, body := get(t, s.URL+"/tables.json")
	var list []struct{ Name, Type string }
	if err := json.Unmarshal(body, &list); err != nil || res.StatusCode != http.StatusOK || len(list) != 1 || list[0].Name != "trips" || list[0].Type != "directory" {
		t.Errorf("%d %s %v", res.StatusCode, body, err)
	}
}
