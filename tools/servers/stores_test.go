//go:build servers

package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hudiscope/core/config"
	"hudiscope/core/storage"
	"hudiscope/fsadapter"
	"hudiscope/fsadapter/presigned"
	"hudiscope/fsadapter/s3"
	"hudiscope/tools/servers/answers"
	"hudiscope/tools/servers/faulttest"
)

// upload puts every file of the lake.
func upload(t *testing.T, put func(key string, data []byte) error) {
	t.Helper()
	root, _ := folder(t)
	n := 0
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(root, p))
		if err != nil {
			return err
		}
		n++
		return put(p, b)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d objects", n)
}

const readPolicy = `{"Version":"2012-10-17","Statement":[
 {"Effect":"Allow","Principal":"*","Action":"s3:ListBucket","Resource":"arn:aws:s3:::%[1]s"},
 {"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::%[1]s/%[2]s*"}]}`

const corsRule = `<CORSConfiguration><CORSRule><AllowedOrigin>%s</AllowedOrigin><AllowedMethod>GET</AllowedMethod><AllowedMethod>HEAD</AllowedMethod><AllowedHeader>*</AllowedHeader>` +
	`<ExposeHeader>Content-Range</ExposeHeader><ExposeHeader>ETag</ExposeHeader><ExposeHeader>Content-Length</ExposeHeader><ExposeHeader>Accept-Ranges</ExposeHeader><ExposeHeader>Last-Modified</ExposeHeader><MaxAgeSeconds>3600</MaxAgeSeconds></CORSRule></CORSConfiguration>`

// bucket makes a bucket with the whole lake in it.
func bucket(t *testing.T, s *S3, name string) {
	t.Helper()
	if _, err := s.Do(t.Context(), "PUT", "/"+name, nil, nil); err != nil {
		t.Fatal(err)
	}
	upload(t, func(key string, data []byte) error {
		_, err := s.Do(t.Context(), "PUT", "/"+name+"/lake/"+key, nil, data)
		return err
	})
}

func faultOf(t *testing.T, err error, kind storage.FaultKind, words ...string) {
	t.Helper()
	var f *storage.Fault
	if !errors.As(err, &f) || f.Kind != kind {
		t.Fatalf("%v, want a fault of kind %q", err, kind)
	}
	for _, w := range words {
		if !strings.Contains(err.Error()+" "+f.Try, w) {
			t.Errorf("%v (%s) does not say %q", err, f.Try, w)
		}
	}
}

func TestS3(t *testing.T) {
	_, want := folder(t)
	s, err := RunS3(t.Context(), cache, workDir(t))
	skip(t, err)
	defer s.Stop()
	bucket(t, s, "public")
	bucket(t, s, "private")
	if _, err := s.Do(t.Context(), "PUT", "/public", url.Values{"policy": {""}}, fmt.Appendf(nil, readPolicy, "public", "")); err != nil {
		t.Fatal(err)
	}
	owner := &s3.Keys{AccessKey: s.AccessKey, Secret: s.Secret}
	open := func(location string, keys *s3.Keys) answers.Open {
		return opener(location, fsadapter.Options{S3: s3.Settings{Endpoint: s.URL, Region: Region, Keys: keys}})
	}
	failing := func(t *testing.T, location string, keys *s3.Keys, kind storage.FaultKind, words ...string) {
		t.Helper()
		a, err := answers.Of(t.Context(), open(location, keys))
		if err == nil {
			t.Fatalf("it opened, with %d rows", len(a.Rows.Rows))
		}
		faultOf(t, err, kind, words...)
		if strings.Contains(err.Error(), s.Secret) || strings.Contains(err.Error(), "X-Amz-Signature=") {
			t.Errorf("a secret in %v", err)
		}
	}
	for _, name := range tables {
		t.Run("anonymous/"+name, func(t *testing.T) {
			same(t, open("s3://public/lake/"+name, nil), want[name], answers.Tells{NoTimes: true})
		})
		t.Run("keys/"+name, func(t *testing.T) {
			same(t, open("s3://private/lake/"+name+"/", owner), want[name], answers.Tells{NoTimes: true})
		})
		t.Run("requester pays/"+name, func(t *testing.T) {
			// This store takes no notice of who pays: the parameter must do no harm, signed or not.
			same(t, open("s3://private/lake/"+name+"?requester_pays=true", owner), want[name], answers.Tells{NoTimes: true})
			same(t, open("s3://public/lake/"+name+"?requester_pays=true", nil), want[name], answers.Tells{NoTimes: true})
		})
		t.Run("bundle/"+name, func(t *testing.T) {
			src, err := s3.New(s3.Config{Bucket: "private", Prefix: "lake/" + name, Endpoint: s.URL, Region: Region, Keys: owner})
			if err != nil {
				t.Fatal(err)
			}
			bundle := presigned.Bundle{V: 1, Base: name, Files: map[string]presigned.File{}}
			walk(t, src, "", func(p string, size int64) {
				bundle.Files[p] = presigned.File{URL: src.Presign("lake/"+name+"/"+p, time.Hour), Size: &size}
			})
			b, err := json.Marshal(bundle)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "bundle.json")
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			same(t, func(ctx context.Context) (storage.Source, error) { return fsadapter.Open(ctx, file) }, want[name], answers.Tells{NoTimes: true})
		})
		t.Run("pages/"+name, func(t *testing.T) {
			same(t, opener("s3://public/lake/"+name, fsadapter.Options{S3: s3.Settings{Endpoint: pages(t, s.URL, "max-keys", "7"), Region: Region}}), want[name], answers.Tells{NoTimes: true})
		})
	}
	t.Run("more than two pages", func(t *testing.T) {
		// What sorts before the timeline fills the pages of all keys, so that folders must be asked for.
		dir := filepath.Join(s.Root, "public", "lake", "mor_trips_h120", ".hoodie", ".temp", "20260101000000000")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range 2300 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("marker %04d+%%.parquet.marker.CREATE", i)), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		defer os.RemoveAll(dir)
		same(t, open("s3://public/lake/mor_trips_h120", nil), want["mor_trips_h120"], answers.Tells{NoTimes: true})
		src, err := s3.New(s3.Config{Bucket: "public", Prefix: "lake/mor_trips_h120", Endpoint: s.URL})
		if err != nil {
			t.Fatal(err)
		}
		l, err := src.List(t.Context(), ".hoodie/.temp/20260101000000000")
		if err != nil || len(l.Entries) != 2300 || l.Entries[2299].Name != "marker 2299+%.parquet.marker.CREATE" {
			t.Errorf("%d entries, %v", len(l.Entries), err)
		}
	})
	for where, src := range map[string]answers.Open{"anonymous": open("s3://public/lake/odd", nil), "keys": open("s3://private/lake/odd", owner)} {
		t.Run("odd names/"+where, func(t *testing.T) {
			o, err := src(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			checkOdd(t, o)
		})
	}
	const trips = "/lake/mor_trips_h120"
	t.Run("refused", func(t *testing.T) {
		failing(t, "s3://private"+trips, nil, storage.Forbidden, "AccessDenied")
		failing(t, "s3://private"+trips, &s3.Keys{AccessKey: s.AccessKey, Secret: "wrong"}, storage.Forbidden, "SignatureDoesNotMatch")
		failing(t, "s3://private"+trips, &s3.Keys{AccessKey: "nobody", Secret: "x"}, storage.Forbidden, "InvalidAccessKeyId")
		failing(t, "s3://absent"+trips, owner, storage.Failed, "NoSuchBucket", "no such bucket")
	})
	t.Run("policy", func(t *testing.T) {
		// Listing is allowed, reading of one folder only: the fault names a file of the other.
		if _, err := s.Do(t.Context(), "PUT", "/private", url.Values{"policy": {""}}, fmt.Appendf(nil, readPolicy, "private", "lake/cow_trips_h102/")); err != nil {
			t.Fatal(err)
		}
		same(t, open("s3://private/lake/cow_trips_h102", nil), want["cow_trips_h102"], answers.Tells{NoTimes: true})
		failing(t, "s3://private"+trips, nil, storage.Forbidden, ".hoodie/hoodie.properties", "AccessDenied")
	})
	t.Run("another region", func(t *testing.T) {
		// The store tells its own; the keys are then used for that one.
		o := fsadapter.Options{S3: s3.Settings{Endpoint: s.URL, Region: "eu-west-1", Keys: owner}}
		got, err := answers.Of(t.Context(), opener("s3://private"+trips, o))
		if err == nil {
			err = answers.Differ(got, want["mor_trips_h120"], answers.Tells{NoTimes: true})
		} else {
			faultOf(t, err, storage.Refused, Region)
			err = nil
		}
		if err != nil {
			t.Error(err)
		}
	})
	t.Run("expired", func(t *testing.T) {
		src, err := s3.New(s3.Config{Bucket: "private", Prefix: "lake/mor_trips_h120", Endpoint: s.URL, Region: Region, Keys: owner,
			Now: func() time.Time { return time.Now().Add(-2 * time.Hour) }, Valid: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		u := src.Presign("lake/mor_trips_h120/.hoodie/hoodie.properties", time.Minute)
		b := presigned.Bundle{V: 1, Base: "t", Files: map[string]presigned.File{".hoodie/hoodie.properties": {URL: u}}}
		_, err = storage.ReadAll(t.Context(), presigned.New(&b, fsadapter.Options{}.HTTP), ".hoodie/hoodie.properties", 0)
		faultOf(t, err, storage.Expired)
	})
	t.Run("faults", func(t *testing.T) {
		some := map[string]*answers.Answers{}
		for _, name := range []string{"mor_trips_h120", "mor_compacted_h0150", "part_url_encoded_h120"} {
			some[name] = want[name]
		}
		faulttest.Run(t, faulttest.Server{URL: s.URL, Tables: some, Tells: answers.Tells{NoTimes: true}, Store: true,
			Open: func(ctx context.Context, proxy, table string, o fsadapter.Options) (storage.Source, error) {
				o.S3 = s3.Settings{Endpoint: proxy, Region: Region}
				return fsadapter.OpenURLWith(ctx, "s3://public/lake/"+table, o)
			}})
	})
	browser(t, s)
}

// walk visits every file of a source.
func walk(t *testing.T, src storage.Source, dir string, file func(path string, size int64)) {
	t.Helper()
	l, err := src.List(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range l.Entries {
		p := path.Join(dir, e.Name)
		if e.Dir {
			walk(t, src, p, file)
		} else {
			file(p, e.Size)
		}
	}
}

// pages is a proxy that makes a store's pages small.
func pages(t *testing.T, target, name, value string) string {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	p := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(u)
		r.Out.Host = ""
		q := r.In.URL.Query()
		if q.Get("list-type") != "" || q.Get("comp") == "list" || strings.HasSuffix(r.In.URL.Path, "/o") {
			r.Out.URL.RawQuery += "&" + name + "=" + value
		}
	}}
	srv := httptest.NewServer(p)
	t.Cleanup(srv.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return srv.URL
}

func TestAzure(t *testing.T) {
	_, want := folder(t)
	a, err := RunAzure(t.Context(), cache, workDir(t))
	skip(t, err)
	defer a.Stop()
	if _, err := a.Do(t.Context(), "PUT", "lake", "restype=container", nil); err != nil {
		t.Fatal(err, a.Output())
	}
	upload(t, func(key string, data []byte) error {
		_, err := a.Do(t.Context(), "PUT", "lake/tables/"+key, "", data)
		return err
	})
	sas := SAS("lake", "rl", time.Now().Add(time.Hour))
	open := func(table, endpoint, sas string) answers.Open {
		return opener("abfss://lake@"+AzureAccount+".dfs.core.windows.net/tables/"+table, fsadapter.Options{Azure: fsadapter.AzureOptions{Endpoint: endpoint, SAS: sas}})
	}
	for _, name := range tables {
		t.Run("SAS/"+name, func(t *testing.T) {
			same(t, open(name, a.URL, sas), want[name], answers.Tells{NoTimes: true})
		})
		t.Run("pages/"+name, func(t *testing.T) {
			same(t, open(name, pages(t, strings.TrimSuffix(a.URL, "/"+AzureAccount), "maxresults", "9")+"/"+AzureAccount, sas), want[name], answers.Tells{NoTimes: true})
		})
	}
	t.Run("odd names", func(t *testing.T) {
		o, err := open("odd", a.URL, sas)(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		checkOdd(t, o)
	})
	t.Run("refused", func(t *testing.T) {
		for what, c := range map[string]struct {
			sas  string
			kind storage.FaultKind
		}{
			"none":         {"", storage.Forbidden},
			"tampered":     {strings.Replace(sas, "sp=rl", "sp=rwl", 1), storage.Forbidden},
			"no listing":   {SAS("lake", "r", time.Now().Add(time.Hour)), storage.Forbidden},
			"other":        {SAS("elsewhere", "rl", time.Now().Add(time.Hour)), storage.Forbidden},
			"past its end": {SAS("lake", "rl", time.Now().Add(-time.Minute)), storage.Expired},
		} {
			got, err := answers.Of(t.Context(), open("mor_trips_h120", a.URL, c.sas))
			var f *storage.Fault
			if !errors.As(err, &f) || f.Kind != c.kind && !(c.sas == "" && f.Kind == storage.Failed && f.Status == 404) {
				t.Errorf("%s: %v %v, want %q", what, got, err, c.kind)
			}
			if err != nil && strings.Contains(err.Error(), "sig=") {
				t.Errorf("%s: a signature in %v", what, err)
			}
		}
	})
	if _, err := a.Do(t.Context(), "PUT", "", "restype=service&comp=properties", []byte(azureCORS)); err != nil {
		t.Fatal(err)
	}
	inChromium(t, "forms.test.mjs", map[string]any{"kind": "azure", "endpoint": a.URL, "container": "https://" + AzureAccount + ".blob.core.windows.net/lake/tables/", "sas": sas, "tables": shown})
}

// azureCORS lets pages of every origin read, and see what they need of the answers.
const azureCORS = `<?xml version="1.0" encoding="utf-8"?><StorageServiceProperties><Cors><CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET,HEAD,OPTIONS</AllowedMethods>` +
	`<AllowedHeaders>*</AllowedHeaders><ExposedHeaders>*</ExposedHeaders><MaxAgeInSeconds>60</MaxAgeInSeconds></CorsRule></Cors></StorageServiceProperties>`

func TestGCS(t *testing.T) {
	root, want := folder(t)
	dir := workDir(t)
	data := filepath.Join(dir, "data")
	if err := os.CopyFS(filepath.Join(data, "lake", "tables"), os.DirFS(root)); err != nil {
		t.Fatal(err)
	}
	g, err := RunGCS(t.Context(), cache, dir, data)
	skip(t, err)
	defer g.Stop()
	for _, name := range tables {
		t.Run(name, func(t *testing.T) {
			same(t, opener("gs://lake/tables/"+name, fsadapter.Options{GCS: fsadapter.GCSOptions{Endpoint: g.URL}}), want[name], answers.Tells{NoTimes: true})
		})
		t.Run("pages/"+name, func(t *testing.T) {
			same(t, opener("gs://lake/tables/"+name, fsadapter.Options{GCS: fsadapter.GCSOptions{Endpoint: pages(t, g.URL, "maxResults", "9")}}), want[name], answers.Tells{NoTimes: true})
		})
	}
	t.Run("odd names", func(t *testing.T) {
		o, err := opener("gs://lake/tables/odd", fsadapter.Options{GCS: fsadapter.GCSOptions{Endpoint: g.URL}})(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		checkOdd(t, o)
	})
	t.Run("absent", func(t *testing.T) {
		_, err := answers.Of(t.Context(), opener("gs://absent/x", fsadapter.Options{GCS: fsadapter.GCSOptions{Endpoint: g.URL}}))
		var n *config.NotATable
		if !errors.As(err, &n) || !strings.Contains(n.Try, "no such bucket") {
			t.Errorf("%v, want what is said of an absent bucket", err)
		}
	})
	inChromium(t, "forms.test.mjs", map[string]any{"kind": "gcs", "endpoint": g.URL, "bucket": "lake", "prefix": "tables/", "tables": shown})
}
