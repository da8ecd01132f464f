//go:build servers

package servers

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
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
	"hudiscope/fsadapter/signer"
)

var tapResult = regexp.MustCompile(`(?m)^(not ok|ok) \d+ - (.*?)( # SKIP.*)?$`)

// shown are the tables that are read in the browser.
var shown = []string{"cow_trips_h102", "mor_trips_h120", "part_url_encoded_h120"}

// dist is the built page, and why there is none.
func dist() (string, error) {
	d := os.Getenv("HUDISCOPE_DIST")
	if d == "" {
		d = "../../dist"
	}
	d, err := filepath.Abs(d)
	if err == nil {
		if _, missing := os.Stat(filepath.Join(d, "app.wasm")); missing != nil {
			err = fmt.Errorf("%s is missing: make dist", d)
		}
	}
	return d, err
}

// inChromium runs a file of web/e2e/servers, which finds at in the environment, and takes over its results.
func inChromium(t *testing.T, file string, at map[string]any) {
	t.Helper()
	const e2e = "../../web/e2e"
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	page, err := dist()
	if err != nil {
		t.Skip(err)
	}
	if _, err := os.Stat(filepath.Join(e2e, "node_modules", "playwright-core")); err != nil {
		t.Skip("playwright-core is missing: npm ci in web/e2e")
	}
	chromium := os.Getenv("CHROMIUM")
	if chromium == "" {
		if chromium, err = exec.LookPath("chromium"); err != nil {
			t.Skip("Chromium is not installed: apt-get install chromium")
		}
	}
	where, err := json.Marshal(at)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, "--test", "--test-reporter=tap", "servers/"+file)
	cmd.Dir = e2e
	cmd.Env = append(os.Environ(), "SERVERS="+string(where), "CHROMIUM="+chromium, "HUDISCOPE_DIST="+page)
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
		t.Run("Chromium/"+string(out[r[4]:r[5]]), func(t *testing.T) {
			if strings.HasPrefix(text, "not ok") {
				failed = true
				t.Error(text)
			}
		})
	}
	if err != nil && !failed {
		t.Errorf("%v\n%s", err, out)
	}
}

// browser reads the store, and nginx, from a page of another origin: web/e2e/servers. The bucket
// public may be listed by everyone, private not.
func browser(t *testing.T, s *S3) {
	ctx := t.Context()
	if _, err := dist(); err != nil {
		t.Run("Chromium", func(t *testing.T) { t.Skip(err) })
		return
	}
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
	inChromium(t, "servers.test.mjs", map[string]any{"s3": s.URL, "tables": shown, "bundles": bundles, "nginx": web["nginx"], "nginxClosed": web["nginxClosed"]})

	const authorization = "Bearer of-the-test"
	sign := httptest.NewServer(signing(t, s, authorization))
	defer sign.Close()
	inChromium(t, "forms.test.mjs", map[string]any{"kind": "signer", "endpoint": sign.URL + "/sign", "prefix": "lake/", "auth": authorization, "tables": shown})
}

// signing is an endpoint of the contract of package signer, before the bucket private: it knows the keys,
// and tells only who brings the authorization.
func signing(t *testing.T, s *S3, authorization string) http.Handler {
	src, err := s3.New(s3.Config{Bucket: "private", Endpoint: s.URL, Region: Region, Keys: &s3.Keys{AccessKey: s.AccessKey, Secret: s.Secret}})
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Allow-Headers", "content-type, authorization")
		if r.Method == http.MethodOptions {
			return
		}
		var ask signer.Request
		var answer signer.Answer
		status := http.StatusOK
		fail := func(code int, why string) { status, answer = code, signer.Answer{Error: why} }
		switch err := json.NewDecoder(r.Body).Decode(&ask); {
		case r.Header.Get("Authorization") != authorization:
			fail(http.StatusUnauthorized, "who are you?")
		case err != nil || ask.V != signer.Version:
			fail(http.StatusBadRequest, "not a question of the contract")
		case ask.Op == "get":
			answer.URLs = map[string]signer.URL{}
			for _, k := range ask.Keys {
				answer.URLs[k] = signer.URL{URL: src.Presign(k, time.Hour), Expires: time.Now().Add(time.Hour)}
			}
		case ask.Op == "list":
			// The store's own pages and signature.
			query := url.Values{"list-type": {"2"}, "prefix": {ask.Prefix}, "max-keys": {"50"}}
			if ask.Delimiter != "" {
				query.Set("delimiter", ask.Delimiter)
			}
			if ask.Next != "" {
				query.Set("continuation-token", ask.Next)
			}
			page, err := s.Do(r.Context(), "GET", "/private", query, nil)
			if err != nil {
				fail(http.StatusBadGateway, err.Error())
				break
			}
			var list struct {
				Contents []struct {
					Key, ETag    string
					Size         int64
					LastModified time.Time
				}
				CommonPrefixes        []struct{ Prefix string }
				NextContinuationToken string
			}
			if err := xml.Unmarshal(page, &list); err != nil {
				fail(http.StatusBadGateway, err.Error())
				break
			}
			for _, k := range list.Contents {
				answer.Keys = append(answer.Keys, signer.Key{Key: k.Key, ETag: k.ETag, Size: &k.Size, Modified: k.LastModified})
			}
			for _, p := range list.CommonPrefixes {
				answer.Prefixes = append(answer.Prefixes, p.Prefix)
			}
			answer.Next = list.NextContinuationToken
		default:
			fail(http.StatusBadRequest, "no such op")
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(answer)
	})
}
