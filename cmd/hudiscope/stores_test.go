package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hudiscope/core/storage"
	"hudiscope/fsadapter"
	"hudiscope/fsadapter/manifest"
	"hudiscope/fsadapter/objectlist/storetest"
)

// tableFiles are the files of a table, by path.
func tableFiles(t *testing.T, location string) map[string][]byte {
	t.Helper()
	src, err := fsadapter.Open(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	m, err := manifest.Make(t.Context(), src, 4, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for p := range m.Files {
		if files[p], err = storage.ReadAll(t.Context(), src, p, 0); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// Real tables read from every store are what they are when read directly, and a bundle and a
// manifest made of them open the same.
func TestStores(t *testing.T) {
	for _, name := range []string{"mor_trips_h120", "mor_compacted_h0150"} {
		t.Run(name, func(t *testing.T) {
			zip := tables + name + ".zip"
			files := tableFiles(t, zip)
			keys := map[string][]byte{}
			for p, b := range files {
				keys["lake/trips x+/"+p] = b
			}
			common := func() storetest.Common { return storetest.Common{Bucket: "bkt", Files: keys} }
			s := &storetest.S3{Common: common(), AccessKey: "AKIDSECRET", Secret: "KEYSECRET", Token: "TOKENSECRET", Region: "eu-west-1", EncodeKeys: true}
			az := &storetest.Azure{Common: common(), SAS: "sp=rl&sig=SIGSECRET%3D"}
			g := &storetest.GCS{Common: common(), Token: "OAUTHSECRET"}
			t.Setenv("AWS_ACCESS_KEY_ID", s.AccessKey)
			t.Setenv("AWS_SECRET_ACCESS_KEY", s.Secret)
			t.Setenv("AWS_SESSION_TOKEN", s.Token)
			t.Setenv("AWS_REGION", s.Region)
			t.Setenv("AZURE_STORAGE_SAS_TOKEN", az.SAS)
			t.Setenv("CLOUDSDK_AUTH_ACCESS_TOKEN", g.Token)
			s3URL, azURL, gURL := storetest.Serve(t, s), storetest.Serve(t, az)+"/account", storetest.Serve(t, g)

			dir := t.TempDir()
			web := filepath.Join(dir, "web")
			for p, b := range files {
				full := filepath.Join(web, filepath.FromSlash(p))
				os.MkdirAll(filepath.Dir(full), 0o755)
				if err := os.WriteFile(full, b, 0o644); err != nil {
					t.Fatal(err)
				}
				// As in the archive: instants of old tables complete when their files were changed.
				if err := os.Chtimes(full, storetest.Time.AddDate(-3, 0, 0), storetest.Time.AddDate(-3, 0, 0)); err != nil {
					t.Fatal(err)
				}
			}
			if status, _, errs := runCommand("manifest", web); status != 0 || !strings.Contains(errs, manifest.Name) {
				t.Fatalf("manifest: status %d, %s", status, errs)
			}
			plain := http.FileServer(http.Dir(web))
			blind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/") || r.Method != "GET" {
					http.Error(w, "no listing", http.StatusForbidden)
					return
				}
				plain.ServeHTTP(w, r)
			}))
			defer blind.Close()
			bundle := filepath.Join(dir, "bundle.json")
			if status, _, errs := runCommand("bundle", "s3://bkt/lake/trips x+", "--endpoint", s3URL, "--out", bundle, "--valid", "1h"); status != 0 {
				t.Fatalf("bundle: status %d, %s", status, errs)
			}
			raw, err := os.ReadFile(bundle)
			if err != nil || strings.Contains(string(raw), s.Secret) {
				t.Errorf("the bundle holds the secret key, or %v", err)
			}

			for _, command := range []string{"rows", "timeline", "slices"} {
				status, want, errs := runCommand(command, zip, "--json")
				if status != 0 || len(want) < 100 {
					t.Fatalf("%s: status %d, %s", command, status, errs)
				}
				for label, args := range map[string][]string{
					"s3":       {"s3://bkt/lake/trips x+/", "--endpoint", s3URL},
					"azure":    {"abfss://bkt@acc.dfs.core.windows.net/lake/trips x+", "--endpoint", azURL},
					"gcs":      {"gs://bkt/lake/trips x+", "--endpoint", gURL},
					"bundle":   {bundle},
					"manifest": {blind.URL + "/"},
				} {
					s.Requests() // the bundle's go to the same store
					status, got, errs := runCommand(append([]string{command}, append(args, "--json")...)...)
					if status != 0 || !sameJSON(got, want) {
						t.Errorf("%s from %s: status %d, %d bytes, want %d: %s", command, label, status, len(got), len(want), errs)
					}
					if strings.Contains(got+errs, "SECRET") {
						t.Errorf("%s from %s: a secret in the output", command, label)
					}
					if label == "s3" {
						n := len(s.Requests())
						t.Logf("%s from S3: %d requests for a table of %d files", command, n, len(files))
						if n > len(files)+5 {
							t.Errorf("%s from S3: %d requests", command, n)
						}
					}
				}
			}
			for _, args := range [][]string{
				{"rows", "s3://bkt/absent", "--endpoint", s3URL}, {"rows", "s3://other/x", "--endpoint", s3URL}, {"rows", "s3://bkt/lake/trips x+", "--endpoint", s3URL, "--region", "us-west-2"},
				{"rows", "s3://bkt/lake/trips x+", "--endpoint", s3URL, "--public"}, {"rows", "s3://bkt/x?secret=SECRET"}, {"bundle", "s3://bkt/lake/trips x+", "--endpoint", s3URL, "--public"},
				{"rows", "abfss://other@acc.dfs.core.windows.net/x", "--endpoint", azURL}, {"rows", "gs://other/x", "--endpoint", gURL}} {
				status, out, errs := runCommand(args...)
				if status != exitFailed || errs == "" || strings.Contains(strings.ReplaceAll(out+errs, "AWS_SECRET_ACCESS_KEY", ""), "SECRET") {
					t.Errorf("%q: status %d, %s", args, status, errs)
				}
			}
		})
	}
}

// sameJSON compares documents of lines, without what names the place.
func sameJSON(a, b string) bool {
	if a == b {
		return true
	}
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	xs, _ := json.Marshal(x)
	ys, _ := json.Marshal(y)
	return string(xs) == string(ys)
}
