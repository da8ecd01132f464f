//go:build servers

package servers

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"hudiscope/fsadapter/presigned"
	"hudiscope/fsadapter/s3"
)

var tapResult = regexp.MustCompile(`(?m)^(not ok|ok) \d+ - (.*?)( # SKIP.*)?$`)

// browser reads the store, and nginx, from a page of another origin: web/e2e/servers. The bucket
// public may be listed by everyone, private not.
func browser(t *testing.T, s *S3) {
	t.Run("Chromium", func(t *testing.T) {
		const e2e = "../../web/e2e"
		node, err := exec.LookPath("node")
		if err != nil {
			t.Skip("node is not installed")
		}
		dist := os.Getenv("HUDISCOPE_DIST")
		if dist == "" {
			dist = "../../dist"
		}
		if dist, err = filepath.Abs(dist); err != nil {
			t.Fatal(err)
		}
		for _, need := range []struct{ path, how string }{{filepath.Join(dist, "engine.wasm"), "make dist"}, {filepath.Join(e2e, "node_modules", "playwright-core"), "npm ci in web/e2e"}} {
			if _, err := os.Stat(need.path); err != nil {
				t.Skipf("%s is missing: %s", need.path, need.how)
			}
		}
		chromium := os.Getenv("CHROMIUM")
		if chromium == "" {
			if chromium, err = exec.LookPath("chromium"); err != nil {
				t.Skip("Chromium is not installed: apt-get install chromium")
			}
		}
		ctx := t.Context()
		do := func(method, path string, query url.Values, body string) {
			t.Helper()
			if _, err := s.Do(ctx, method, path, query, []byte(body)); err != nil {
				t.Fatal(err)
			}
		}
		for _, b := range []string{"closed", "elsewhere"} {
			do("PUT", "/"+b, nil, "")
			do("PUT", "/"+b, url.Values{"policy": {""}}, fmt.Sprintf(readPolicy, b, ""))
			do("PUT", "/"+b+"/lake/x", nil, "x")
		}
		do("PUT", "/public", url.Values{"cors": {""}}, fmt.Sprintf(corsRule, "*"))
		do("PUT", "/private", url.Values{"cors": {""}}, fmt.Sprintf(corsRule, "*"))
		do("PUT", "/elsewhere", url.Values{"cors": {""}}, fmt.Sprintf(corsRule, "https://elsewhere.example"))
		do("DELETE", "/private", url.Values{"policy": {""}}, "")

		shown := []string{"cow_trips_h102", "mor_trips_h120", "part_url_encoded_h120"}
		bundles := map[string]string{}
		for _, name := range shown {
			src, err := s3.New(s3.Config{Bucket: "private", Prefix: "lake/" + name, Endpoint: s.URL, Region: Region, Keys: &s3.Keys{AccessKey: s.AccessKey, Secret: s.Secret}})
			if err != nil {
				t.Fatal(err)
			}
			b := presigned.Bundle{V: 1, Base: name, Files: map[string]presigned.File{}}
			walk(t, src, "", func(p string, size int64) {
				b.Files[p] = presigned.File{URL: src.Presign("lake/"+name+"/"+p, time.Hour), Size: &size}
			})
			text, err := json.Marshal(b)
			if err != nil {
				t.Fatal(err)
			}
			do("PUT", "/public/bundles/"+name+".json", nil, string(text))
			bundles[name] = s.URL + "/public/bundles/" + name + ".json"
		}
		root, _ := folder(t)
		web := map[string]string{}
		for name, more := range map[string]string{
			"nginx": `add_header Access-Control-Allow-Origin "*" always; add_header Access-Control-Expose-Headers "Content-Range, ETag, Content-Length, Last-Modified" always;`, "nginxClosed": "",
		} {
			n := Server{Name: name, Program: "nginx", Install: debian + "nginx-light", Config: nginx("autoindex on; autoindex_format json; " + more)}
			p, at, err := n.Run(ctx, cache, workDir(t), root)
			skip(t, err)
			defer p.Stop()
			web[name] = at
		}
		at, err := json.Marshal(map[string]any{"s3": s.URL, "tables": shown, "bundles": bundles, "nginx": web["nginx"], "nginxClosed": web["nginxClosed"]})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(ctx, node, "--test", "--test-reporter=tap", "servers/servers.test.mjs")
		cmd.Dir = e2e
		cmd.Env = append(os.Environ(), "SERVERS="+string(at), "CHROMIUM="+chromium, "HUDISCOPE_DIST="+dist)
		out, err := cmd.CombinedOutput()
		results := tapResult.FindAllStringSubmatchIndex(string(out), -1)
		if len(results) == 0 {
			t.Fatalf("%v\n%s", err, out)
		}
		failed := false
		for i, r := range results {
			end := len(out)
			if i+1 < len(results) {
				end = results[i+1][0]
			}
			text := string(out[r[0]:end])
			t.Run(string(out[r[4]:r[5]]), func(t *testing.T) {
				if strings.HasPrefix(text, "not ok") {
					failed = true
					t.Error(text)
				}
			})
		}
		if err != nil && !failed {
			t.Errorf("%v\n%s", err, out)
		}
	})
}
