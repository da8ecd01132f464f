//go:build !js

package objectlist_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/core/storage/storagetest"
	"hudiscope/fsadapter/azure"
	"hudiscope/fsadapter/gcs"
	"hudiscope/fsadapter/httprange"
	"hudiscope/fsadapter/objectlist"
	"hudiscope/fsadapter/objectlist/storetest"
	"hudiscope/fsadapter/s3"
)

func under(prefix string, files map[string][]byte) map[string][]byte {
	out := map[string][]byte{}
	for p, b := range files {
		out[prefix+p] = b
	}
	out["other/x"] = []byte("another table")
	out[strings.TrimSuffix(prefix, "/")+"-2/x"] = []byte("a table whose name begins alike")
	return out
}

const prefix = "lake/odd +%41#é/trips/"

// TestConformance runs the suite against every store, with small pages, with and without pages of
// all keys, and through a cache.
func TestConformance(t *testing.T) {
	files := storagetest.Files()
	keys := under(prefix, files)
	base := strings.Trim(prefix, "/")
	for _, flat := range []int{-1, 2} {
		for _, size := range []int{3, 1000} {
			o := objectlist.Options{FlatPages: flat}
			for _, kind := range []string{"s3", "s3 encoded", "azure", "gcs"} {
				t.Run(fmt.Sprintf("%s flat=%d page=%d", kind, flat, size), func(t *testing.T) {
					common := func() storetest.Common { return storetest.Common{Bucket: "bkt", Files: keys, PageSize: size} }
					var src storage.Source
					var err error
					switch kind {
					case "azure":
						url := storetest.Serve(t, &storetest.Azure{Common: common(), SAS: sas})
						src, err = azure.New(azure.Config{Endpoint: url + "/account", Container: "bkt", Prefix: base, SAS: sas, List: o})
					case "gcs":
						url := storetest.Serve(t, &storetest.GCS{Common: common(), Token: "OAUTHTOKEN"})
						src, err = gcs.New(gcs.Config{Endpoint: url, Bucket: "bkt", Prefix: base, Token: "OAUTHTOKEN", List: o})
					default:
						url := storetest.Serve(t, &storetest.S3{Common: common(), AccessKey: "AKIDTEST", Secret: "se/cr+et", Token: "tok/en+=", Region: "eu-north-1", EncodeKeys: kind != "s3"})
						src, err = s3.New(s3.Config{Endpoint: url, Bucket: "bkt", Prefix: base, Region: "eu-north-1",
							Keys: &s3.Keys{AccessKey: "AKIDTEST", Secret: "se/cr+et", Token: "tok/en+="}, List: o})
					}
					if err != nil {
						t.Fatal(err)
					}
					storagetest.Run(t, src, files)
					if size == 3 {
						storagetest.Run(t, cache.New(src, cache.Options{}), files)
					}
				})
			}
		}
	}
}

const sas = "sp=rl&sv=2021-12-02&sr=c&sig=SECRET%2Bsig%2F%3D"

// Small tables are known from one request; of large ones the timeline is, and other directories
// take one each.
func TestRequests(t *testing.T) {
	files := map[string][]byte{"t/.hoodie/hoodie.properties": []byte("x")}
	for i := range 50 {
		files[fmt.Sprintf("t/.hoodie/timeline/%04d.commit", i)] = []byte("c")
	}
	for p := range 20 {
		for i := range 100 {
			files[fmt.Sprintf("t/p=%02d/f%03d.parquet", p, i)] = []byte("data")
		}
	}
	for _, c := range []struct {
		size, flat int
		timeline   int // requests for the timeline
		all        int // for all directories then
	}{{5000, 2, 1, 1}, {1500, 2, 1, 2 + 1 + 10}, {600, -1, 1, 23}, {600, 2, 1, 0}} {
		srv := &storetest.S3{Common: storetest.Common{Bucket: "b", Files: files, PageSize: c.size}}
		src, err := s3.New(s3.Config{Endpoint: storetest.Serve(t, srv), Bucket: "b", Prefix: "t", List: objectlist.Options{FlatPages: c.flat}})
		if err != nil {
			t.Fatal(err)
		}
		l, err := src.List(t.Context(), ".hoodie/timeline")
		if err != nil || len(l.Entries) != 50 || !l.Complete {
			t.Fatalf("%d entries, %v", len(l.Entries), err)
		}
		n := len(srv.Requests())
		if n != c.timeline {
			t.Errorf("pages of %d, flat %d: %d requests for the timeline, want %d", c.size, c.flat, n, c.timeline)
		}
		for _, dir := range append([]string{"", ".hoodie"}, func() (out []string) {
			for p := range 20 {
				out = append(out, fmt.Sprintf("p=%02d", p))
			}
			return
		}()...) {
			l, err := src.List(t.Context(), dir)
			if err != nil || !l.Complete || strings.HasPrefix(dir, "p=") && len(l.Entries) != 100 || dir == "" && len(l.Entries) != 21 {
				t.Errorf("%q: %d entries, %v", dir, len(l.Entries), err)
			}
		}
		n += len(srv.Requests())
		t.Logf("pages of %d, flat pages %d: %d requests for %d directories", c.size, c.flat, n, 23)
		if n > 24 || c.flat > 0 && n > 20 || c.size == 5000 && n != 1 {
			t.Errorf("pages of %d, flat %d: %d requests in all", c.size, c.flat, n)
		}
		// A file whose size is known costs one request, an empty one none.
		b, err := storage.ReadAll(t.Context(), src, "p=00/f000.parquet", 0)
		if got := srv.Requests(); err != nil || string(b) != "data" || len(got) != 1 {
			t.Errorf("%q, %v after %q", b, err, got)
		}
		src.Forget()
		if _, err := src.List(t.Context(), ".hoodie"); err != nil || len(srv.Requests()) == 0 {
			t.Errorf("after Forget: %v, or no request", err)
		}
	}
}

// memory is a store without a network.
type memory struct {
	page func(ctx context.Context, q objectlist.Query) (objectlist.Page, error)
}

func (m memory) Page(ctx context.Context, q objectlist.Query) (objectlist.Page, error) {
	return m.page(ctx, q)
}
func (memory) Target(string) *httprange.Target { return nil }
func (memory) Location(prefix string) string   { return "mem://" + prefix }

func names(l storage.Listing) string {
	var out []string
	for _, e := range l.Entries {
		n := e.Name
		if e.Dir {
			n += "/"
		}
		out = append(out, n)
	}
	return strings.Join(out, " ")
}

func TestMarkersAndOddKeys(t *testing.T) {
	for _, flat := range []int{-1, 2} {
		src, _ := objectlist.New(memory{func(_ context.Context, q objectlist.Query) (objectlist.Page, error) {
			all := []objectlist.Key{
				{Name: "t/"}, {Name: "t//x", Size: 1}, {Name: "t/.hoodie/"}, {Name: "t/.hoodie/hoodie.properties", Size: 3},
				{Name: "t/a"}, {Name: "t/a/b", Size: 1}, {Name: "t/both", Size: 9}, {Name: "t/both/c", Size: 1}, {Name: "t/d_$folder$"},
				{Name: "t/e/../f", Size: 1}, {Name: "t/empty/"}, {Name: "t/hns", Folder: true}}
			p := objectlist.Page{}
			seen := map[string]bool{}
			for _, k := range all {
				rest, ok := strings.CutPrefix(k.Name, q.Prefix)
				if !ok {
					continue
				}
				if i := strings.Index(rest, "/"); i >= 0 && q.Delimiter != "" {
					if pre := q.Prefix + rest[:i+1]; !seen[pre] {
						seen[pre] = true
						p.Prefixes = append(p.Prefixes, pre)
					}
					continue
				}
				p.Keys = append(p.Keys, k)
			}
			return p, nil
		}}, nil, "t", objectlist.Options{FlatPages: flat})
		l, err := src.List(t.Context(), "")
		if err != nil || names(l) != ".hoodie/ a/ both/ both d/ e/ empty/ hns/" || l.Complete || !strings.Contains(l.Note, "1 keys") {
			t.Errorf("flat %d: %s, %v, %+v", flat, names(l), err, l)
		}
		l, err = src.List(t.Context(), "empty")
		if err != nil || len(l.Entries) != 0 || !l.Complete {
			t.Errorf("flat %d: empty: %+v, %v", flat, l, err)
		}
		l, err = src.List(t.Context(), "e")
		if err != nil || l.Complete {
			t.Errorf("flat %d: e: %+v, %v", flat, l, err)
		}
		if _, err = src.List(t.Context(), "gone"); !storage.IsNotExist(err) {
			t.Errorf("flat %d: gone: %v", flat, err)
		}
	}
}

func TestBadStores(t *testing.T) {
	for name, page := range map[string]func(q objectlist.Query) objectlist.Page{
		"foreign keys":     func(objectlist.Query) objectlist.Page { return objectlist.Page{Keys: []objectlist.Key{{Name: "u/x"}}} },
		"foreign prefixes": func(objectlist.Query) objectlist.Page { return objectlist.Page{Prefixes: []string{"u/"}} },
		"the same page":    func(objectlist.Query) objectlist.Page { return objectlist.Page{Next: "again"} },
		"no end": func(q objectlist.Query) objectlist.Page {
			return objectlist.Page{Keys: []objectlist.Key{{Name: q.Prefix + "x" + q.Next}}, Next: q.Next + "1"}
		},
		"no end and no entries": func(q objectlist.Query) objectlist.Page {
			n, _ := strconv.Atoi(q.Next)
			return objectlist.Page{Next: strconv.Itoa(n + 1)}
		},
	} {
		src, _ := objectlist.New(memory{func(_ context.Context, q objectlist.Query) (objectlist.Page, error) { return page(q), nil }}, nil, "t",
			objectlist.Options{MaxEntries: 100, FlatPages: -1})
		_, err := src.List(t.Context(), "")
		var f *storage.Fault
		if !errors.As(err, &f) || f.Kind != storage.Failed && f.Kind != storage.Refused || f.Try == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Unordered keys (a directory bucket lists so) prove nothing about what was not seen.
func TestUnordered(t *testing.T) {
	src, _ := objectlist.New(memory{func(_ context.Context, q objectlist.Query) (objectlist.Page, error) {
		switch {
		case q.Delimiter == "" && q.Next == "":
			return objectlist.Page{Keys: []objectlist.Key{{Name: "t/z"}, {Name: "t/a/1"}, {Name: "t/y"}}, Next: "n"}, nil
		case q.Delimiter == "":
			return objectlist.Page{}, errors.New("not to be asked")
		}
		return objectlist.Page{Keys: []objectlist.Key{{Name: "t/a/1"}, {Name: "t/a/2"}}}, nil
	}}, nil, "t", objectlist.Options{FlatPages: 2})
	if l, err := src.List(t.Context(), "a"); err != nil || names(l) != "1 2" {
		t.Errorf("%s, %v", names(l), err)
	}
}

// Pages are asked for within the bound, and not after the caller is gone.
func TestBoundAndCancel(t *testing.T) {
	running := make(chan struct{}, 100)
	src, _ := objectlist.New(memory{func(ctx context.Context, q objectlist.Query) (objectlist.Page, error) {
		running <- struct{}{}
		<-ctx.Done()
		return objectlist.Page{}, ctx.Err()
	}}, nil, "", objectlist.Options{FlatPages: -1, InFlight: 3})
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error)
	for i := range 10 {
		go func() { _, err := src.List(ctx, fmt.Sprint(i)); errs <- err }()
	}
	time.Sleep(50 * time.Millisecond)
	if n := len(running); n != 3 {
		t.Errorf("%d pages asked for at a time, want 3", n)
	}
	cancel()
	for range 10 {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// A changed object is noticed by its ETag, and read anew after Forget.
func TestChanged(t *testing.T) {
	srv := &storetest.S3{Common: storetest.Common{Bucket: "b", Files: map[string][]byte{"f": []byte("one")}}}
	src, err := s3.New(s3.Config{Endpoint: storetest.Serve(t, srv), Bucket: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := src.List(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	srv.Set(func() { srv.Files["f"] = []byte("two") })
	_, err = storage.ReadAll(t.Context(), src, "f", 0)
	var f *storage.Fault
	if !errors.As(err, &f) || f.Kind != storage.Changed {
		t.Errorf("%v, want Changed", err)
	}
	if b, err := storage.ReadAll(t.Context(), src, "f", 0); err != nil || string(b) != "two" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestSibling(t *testing.T) {
	srv := &storetest.S3{Common: storetest.Common{Bucket: "b", Files: map[string][]byte{"x/t/f": {}, "x/u/g": []byte("1")}}}
	src, err := s3.New(s3.Config{Endpoint: storetest.Serve(t, srv), Bucket: "b", Prefix: "x/t"})
	if err != nil {
		t.Fatal(err)
	}
	u, err := src.Sibling(t.Context(), "u")
	if err != nil {
		t.Fatal(err)
	}
	if l, err := u.List(t.Context(), ""); err != nil || names(l) != "g" || u.Location() != "s3://b/x/u" {
		t.Errorf("%s, %v, %s", names(l), err, u.Location())
	}
}

func TestXML(t *testing.T) {
	e, err := objectlist.ParseXML([]byte("\ufeff<?xml version=\"1.0\"?><!-- c --><a:r xmlns:a='x'><k A=\"1\">a&amp;amp;&#x6771;&#34;<![CDATA[<&]]></k><z/></a:r>\n"))
	if err != nil || e.Name != "r" || e.Value("k") != `a&amp;東"<&` || e.Child("k").Attrs != `A="1"` || e.Child("z") == nil || e.Child("y").Value("x") != "" {
		t.Errorf("%+v, %v", e, err)
	}
	for _, s := range []string{"", "x", "<a>", "<a></b>", "<a/><b/>", "<a>&nope;</a>", "<a>&#xZ;</a>", "<a>&#1114112;</a>", "<a", "<!DOCTYPE x><a/>", "<a><![CDATA[</a>", "<a/>x", "< />", strings.Repeat("<a>", 100)} {
		if e, err := objectlist.ParseXML([]byte(s)); err == nil {
			t.Errorf("%q was read as %+v", s, e)
		}
	}
}

// Every error of the private stores, and none holds what is secret.
func TestAzureAndGCSErrors(t *testing.T) {
	files := map[string][]byte{"t/f": []byte("x")}
	az := &storetest.Azure{Common: storetest.Common{Bucket: "c", Files: files}, SAS: sas}
	azURL := storetest.Serve(t, az) + "/account"
	g := &storetest.GCS{Common: storetest.Common{Bucket: "c", Files: files}, Token: "TOKENSECRET"}
	gURL := storetest.Serve(t, g)
	secrets := []string{"SECRET", "sig="}
	azSource := func(container, s string) storage.Source {
		src, err := azure.New(azure.Config{Endpoint: azURL, Container: container, Prefix: "t", SAS: s})
		if err != nil {
			t.Fatal(err)
		}
		return src
	}
	gSource := func(bucket, token string) storage.Source {
		src, err := gcs.New(gcs.Config{Endpoint: gURL, Bucket: bucket, Prefix: "t", Token: token})
		if err != nil {
			t.Fatal(err)
		}
		return src
	}
	check := func(name string, src storage.Source, kind storage.FaultKind, try string) {
		t.Helper()
		_, lerr := src.List(t.Context(), "")
		_, rerr := storage.ReadAll(t.Context(), src, "f", 0)
		for _, err := range []error{lerr, rerr} {
			var f *storage.Fault
			if !errors.As(err, &f) || f.Kind != kind || !strings.Contains(f.Try, try) {
				t.Errorf("%s: %v (%+v), want %s with %q", name, err, f, kind, try)
				continue
			}
			for _, s := range secrets {
				if strings.Contains(err.Error()+f.Try+f.Location, s) {
					t.Errorf("%s: a secret in %v, %s", name, err, f.Location)
				}
			}
		}
	}
	check("no such container", azSource("d", sas), storage.Failed, "container")
	check("wrong signature", azSource("c", "sp=rl&sv=2021-12-02&sr=c&sig=SECRETWRONG"), storage.Forbidden, "Copy")
	check("no signature", azSource("c", ""), storage.Forbidden, "Copy")
	az.Set(func() { az.Expired = true })
	check("expired", azSource("c", sas), storage.Expired, "new one")
	check("wrong token", gSource("c", "OTHERSECRET"), storage.Expired, "gcloud")
	check("no token", gSource("c", ""), storage.Forbidden, "OAuth")
	check("no bucket", gSource("d", "TOKENSECRET"), storage.Failed, "bucket")
	for _, c := range []azure.Config{{}, {Endpoint: "x"}, {Endpoint: "https://h"}, {Endpoint: "https://h?sig=SECRET", Container: "c"}, {Endpoint: "https://h", Container: "c", SAS: "sv=SECRET"}} {
		if _, err := azure.New(c); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%+v: %v", c.Endpoint, err)
		}
	}
}

func TestAzureLocations(t *testing.T) {
	for loc, want := range map[string]azure.Config{
		"https://acc.blob.core.windows.net/cont/a%20b/t?sv=1&sig=x": {Endpoint: "https://acc.blob.core.windows.net", Container: "cont", Prefix: "a b/t", SAS: "sv=1&sig=x"},
		"abfss://cont@acc.dfs.core.windows.net/a b/t/":              {Endpoint: "https://acc.blob.core.windows.net", Container: "cont", Prefix: "a b/t", SAS: "given"},
		"wasbs://cont@acc.blob.core.windows.net":                    {Endpoint: "https://acc.blob.core.windows.net", Container: "cont", SAS: "given"},
	} {
		got, err := azure.ParseLocation(loc, "", "given")
		if err != nil || got.Endpoint != want.Endpoint || got.Container != want.Container || got.Prefix != want.Prefix || got.SAS != want.SAS {
			t.Errorf("%s: %+v, %v", loc, got, err)
		}
	}
	if !azure.IsURL("https://acc.blob.core.windows.net/c/t?sig=x") || azure.IsURL("https://example.com/c/t") || azure.IsURL("https://evil.example/blob.core.windows.net") {
		t.Error("IsURL")
	}
}

// Pages are asked for again after passing failures, and a cut one never counts.
func TestListingFaults(t *testing.T) {
	files := map[string][]byte{}
	for i := range 30 {
		files[fmt.Sprintf("t/f%02d", i)] = []byte("x")
	}
	for name, bad := range map[string]func(w http.ResponseWriter, n int32) bool{
		"busy": func(w http.ResponseWriter, n int32) bool {
			if n%2 == 0 {
				return false
			}
			storetest.Fail(w, 503, "SlowDown", "Please reduce your request rate.")
			return true
		},
		"cut": func(w http.ResponseWriter, n int32) bool {
			if n%2 == 0 {
				return false
			}
			w.Header().Set("Content-Length", "4000")
			fmt.Fprint(w, `<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>t/f00</Key><Size>1</Size></Contents></ListBucketResult>`)
			return true
		},
		"always busy": func(w http.ResponseWriter, n int32) bool {
			storetest.Fail(w, 503, "SlowDown", "Please reduce your request rate.")
			return true
		},
		"no XML": func(w http.ResponseWriter, n int32) bool {
			fmt.Fprint(w, "<html><body>Welcome</body></html>")
			return true
		},
	} {
		var n atomic.Int32
		srv := &storetest.S3{Common: storetest.Common{Bucket: "b", Files: files, PageSize: 7}}
		srv.Hook = func(w http.ResponseWriter, r *http.Request) bool { return bad(w, n.Add(1)) }
		src, err := s3.New(s3.Config{Endpoint: storetest.Serve(t, srv), Bucket: "b", Prefix: "t", HTTP: httprange.Options{Backoff: time.Millisecond, Attempts: 3}, List: objectlist.Options{FlatPages: -1}})
		if err != nil {
			t.Fatal(err)
		}
		l, err := src.List(t.Context(), "")
		var f *storage.Fault
		switch name {
		case "busy", "cut":
			if err != nil || len(l.Entries) != 30 || !l.Complete {
				t.Errorf("%s: %d entries, %v", name, len(l.Entries), err)
			}
		case "always busy":
			if !errors.As(err, &f) || f.Status != 503 || !strings.Contains(err.Error(), "SlowDown") || n.Load() != 3 {
				t.Errorf("%s: %v after %d requests", name, err, n.Load())
			}
		default:
			if !errors.As(err, &f) || f.Kind != storage.NoListing || f.Try == "" {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
