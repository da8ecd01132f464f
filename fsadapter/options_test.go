//go:build !js

package fsadapter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hudiscope/core/storage"
	"hudiscope/core/storage/storagetest"
	"hudiscope/fsadapter/objectlist/storetest"
	"hudiscope/fsadapter/presigned"
	"hudiscope/fsadapter/signer"
)

// Every kind of address of an object store opens: a table, a .zip of one, one file.
func TestOpenStores(t *testing.T) {
	root, files := place(t)
	keys := map[string][]byte{}
	for p, b := range files {
		keys["lake/table/"+p] = b
	}
	for _, name := range []string{"table.zip", logName} {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		keys["lake/"+name] = b
	}
	env := map[string]string{"AWS_ACCESS_KEY_ID": "AKSECRET", "AWS_SECRET_ACCESS_KEY": "SKSECRET", "AWS_SESSION_TOKEN": "STSECRET", "AWS_DEFAULT_REGION": "r-1",
		"AZURE_STORAGE_SAS_TOKEN": "?sp=rl&sig=SASSECRET", "CLOUDSDK_AUTH_ACCESS_TOKEN": "OAUTHSECRET", "HUDISCOPE_SIGNER_AUTHORIZATION": "Bearer AUTHSECRET"}
	o := FromEnv(func(name string) string { return env[name] })
	common := func() storetest.Common { return storetest.Common{Bucket: "bkt", Files: keys, PageSize: 5} }
	o.S3.Endpoint = storetest.Serve(t, &storetest.S3{Common: common(), AccessKey: "AKSECRET", Secret: "SKSECRET", Token: "STSECRET", Region: "r-1"})
	o.Azure.Endpoint = storetest.Serve(t, &storetest.Azure{Common: common(), SAS: "sp=rl&sig=SASSECRET"}) + "/account"
	o.GCS.Endpoint = storetest.Serve(t, &storetest.GCS{Common: common(), Token: "OAUTHSECRET"})
	for _, v := range []any{o, &o, o.S3, o.Azure, o.GCS, o.Signer} {
		j, _ := json.Marshal(v)
		for _, text := range []string{fmt.Sprint(v), fmt.Sprintf("%+v", v), fmt.Sprintf("%#v", v), string(j)} {
			if strings.Contains(text, "SECRET") {
				t.Errorf("a secret in %s", text)
			}
		}
	}
	log := map[string][]byte{logName: []byte("#HUDI#log")}
	for _, base := range []string{"s3://bkt/lake", "s3a://bkt/lake", "gs://bkt/lake", "abfss://bkt@acc.dfs.core.windows.net/lake", "wasbs://bkt@acc.blob.core.windows.net/lake", "https://acc.blob.core.windows.net/bkt/lake"} {
		for _, c := range []struct {
			name, kind string
			want       map[string][]byte
		}{{"table", "cache", files}, {"table/", "cache", files}, {"table.zip", "zip", files}, {logName, "cache", log}} {
			location := base + "/" + c.name
			t.Run(location, func(t *testing.T) {
				src, err := OpenWith(t.Context(), location, o)
				if err != nil {
					t.Fatal(err)
				}
				if k := kindOf(src); k != c.kind || strings.Contains(src.Location(), "SECRET") {
					t.Errorf("opened as %s, want %s; %s", k, c.kind, src.Location())
				}
				for p, b := range c.want {
					if got, err := storage.ReadAll(t.Context(), src, p, 0); err != nil || !bytes.Equal(got, b) {
						t.Errorf("%s: %v", p, err)
					}
				}
				if c.name == "table" {
					storagetest.Run(t, src, c.want)
				}
			})
		}
		if _, err := OpenWith(t.Context(), base+"/absent.zip", o); !storage.IsNotExist(err) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", base, err)
		}
	}
	for _, location := range []string{"s3://", "s3://b/../c", "gs://", "gs://b?SECRET", "abfss://nothing/x", "signer+ftp://x?SECRET", "signer+https://?SECRET", "s3://b/p?SECRET=1"} {
		if src, err := OpenWith(t.Context(), location, o); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v, %v", location, src, err)
		}
	}
}

// The time at which addresses end shows through the cache.
func TestExpires(t *testing.T) {
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	var self string
	self = storetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/bundle.json":
			json.NewEncoder(w).Encode(presigned.Bundle{V: 1, Expires: at, Renew: self + "/bundle.json?SECRET", Files: map[string]presigned.File{"f": {URL: self + "/f"}}})
		case r.URL.Path == "/sign":
			json.NewEncoder(w).Encode(signer.Answer{URLs: map[string]signer.URL{"t/f": {URL: self + "/f", Expires: at}}})
		case r.URL.Path == "/f":
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader("x"))
		default:
			http.NotFound(w, r)
		}
	}))
	for _, location := range []string{self + "/bundle.json", "signer+" + self + "/sign?SECRET#t"} {
		src, err := Open(t.Context(), location)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := storage.ReadAll(t.Context(), src, "f", 0); err != nil || string(b) != "x" {
			t.Errorf("%s: %q, %v", location, b, err)
		}
		if got, renews := Expires(src); !got.Equal(at) || !renews {
			t.Errorf("%s: %v, %v", location, got, renews)
		}
	}
	if got, renews := Expires(storagetest.Mem{}); !got.IsZero() || renews {
		t.Error(got, renews)
	}
}

// TestEmulatorHost: the address of an emulator is taken with and without a scheme.
func TestEmulatorHost(t *testing.T) {
	for host, want := range map[string]string{"": "", "localhost:4443": "http://localhost:4443", "https://gcs.test": "https://gcs.test"} {
		o := FromEnv(func(name string) string {
			if name == "STORAGE_EMULATOR_HOST" {
				return host
			}
			return ""
		})
		if o.GCS.Endpoint != want {
			t.Errorf("%q gives %q, want %q", host, o.GCS.Endpoint, want)
		}
	}
}
