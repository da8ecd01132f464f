//go:build !js

package s3

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"hudiscope/core/storage"
	"hudiscope/core/storage/storagetest"
	"hudiscope/fsadapter/httprange"
	"hudiscope/fsadapter/objectlist"
	"hudiscope/fsadapter/objectlist/storetest"
)

// The example of Amazon's description of query signatures.
func TestSignatureExample(t *testing.T) {
	k := Keys{AccessKey: "AKIAIOSFODNN7EXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
	at := time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC)
	got := k.sign("GET", "examplebucket.s3.amazonaws.com", "/test.txt", nil, "us-east-1", at, 24*time.Hour)
	want := "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host" +
		"&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		Config
		want string
	}{
		{Config{Bucket: "b"}, "https://b.s3.us-east-1.amazonaws.com/k/a%20%2B%23%E6%9D%B1"},
		{Config{Bucket: "b.c", Region: "eu-west-1"}, "https://s3.eu-west-1.amazonaws.com/b.c/k/a%20%2B%23%E6%9D%B1"},
		{Config{Bucket: "b", Region: "cn-north-1"}, "https://b.s3.cn-north-1.amazonaws.com.cn/k/a%20%2B%23%E6%9D%B1"},
		{Config{Bucket: "b", Endpoint: "minio.example:9000"}, "https://minio.example:9000/b/k/a%20%2B%23%E6%9D%B1"},
		{Config{Bucket: "b", Endpoint: "https://Minio.example:443/under/"}, "https://minio.example/under/b/k/a%20%2B%23%E6%9D%B1"},
		{Config{Bucket: "b", Endpoint: "http://h:80", Style: VirtualStyle, RequesterPays: true}, "http://b.h/k/a%20%2B%23%E6%9D%B1?x-amz-request-payer=requester"},
	} {
		s, err := New(c.Config)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Presign("k/a +#東", time.Hour); got != c.want {
			t.Errorf("%+v: %s, want %s", c.Config, got, c.want)
		}
	}
}

func TestParseLocation(t *testing.T) {
	c, err := ParseLocation("s3a://bkt/a b/%41/?endpoint=http%3A%2F%2Fh%3A9&region=r&style=path&requester_pays=true", Settings{Region: "x"})
	if err != nil || c.Bucket != "bkt" || c.Prefix != "a b/%41" || c.Endpoint != "http://h:9" || c.Region != "r" || c.Style != "path" || !c.RequesterPays {
		t.Errorf("%+v, %v", c, err)
	}
	for _, loc := range []string{"", "s3:/b", "http://b/p", "s3://b/p?SECRET", "s3://b/p?secret=SECRET", "s3://b/p?requester_pays=SECRET", "s3://b/p?%zzSECRET"} {
		_, err := ParseLocation(loc, Settings{})
		var f *storage.Fault
		if !errors.As(err, &f) || f.Kind != storage.Refused || strings.Contains(fmt.Sprintf("%v %+v", err, f), "SECRET") {
			t.Errorf("%q: %v", loc, err)
		}
	}
	for _, c := range []Config{{}, {Bucket: "a/b"}, {Bucket: "b", Endpoint: "ftp://x"}, {Bucket: "b", Endpoint: "https://u:SECRET@h"}, {Bucket: "b", Endpoint: "https://h?SECRET"},
		{Bucket: "b", Style: "SECRETIVE"[:2]}, {Bucket: "b", Region: "h/"}, {Bucket: "b", Keys: &Keys{AccessKey: "x"}}, {Bucket: "b", Keys: &Keys{Secret: "SECRET"}}, {Bucket: "b", Prefix: "a/../b"}} {
		_, err := New(c)
		var f *storage.Fault
		if !errors.As(err, &f) || f.Kind != storage.Refused || strings.Contains(fmt.Sprintf("%v %+v", err, f), "SECRET") {
			t.Errorf("%+v: %v", c.Bucket, err)
		}
	}
}

var secrets = []string{"AKIDSECRET", "SECRETKEY", "TOKENSECRET", "X-Amz-Signature="}

func keys() *Keys {
	return &Keys{AccessKey: "AKIDSECRET", Secret: "SECRETKEY/+x", Token: "TOKENSECRET+/=="}
}

func server(files map[string][]byte) *storetest.S3 {
	k := keys()
	return &storetest.S3{Common: storetest.Common{Bucket: "b", Files: files}, AccessKey: k.AccessKey, Secret: k.Secret, Token: k.Token, Region: "eu-west-1"}
}

func noSecrets(t *testing.T, what string, vs ...any) {
	t.Helper()
	for _, v := range vs {
		j, _ := json.Marshal(v)
		for _, text := range []string{fmt.Sprint(v), fmt.Sprintf("%+v", v), fmt.Sprintf("%#v", v), string(j)} {
			for _, s := range secrets {
				if strings.Contains(text, s) {
					t.Errorf("%s: %q in %s", what, s, text)
				}
			}
		}
	}
}

func TestKeysAreNotPrinted(t *testing.T) {
	c := Config{Bucket: "b", Keys: keys()}
	noSecrets(t, "keys", *c.Keys, c.Keys, Settings{Keys: c.Keys}, c.Bucket)
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	noSecrets(t, "location", s.Location())
}

// In virtual style the signature covers the bucket's own host.
func TestVirtualStyle(t *testing.T) {
	files := storagetest.Files()
	srv := server(files)
	srv.Host = "s3.test"
	url := storetest.Serve(t, srv)
	s, err := New(Config{Bucket: "b", Region: "eu-west-1", Endpoint: "http://s3.test", Style: VirtualStyle, Keys: keys(), HTTP: httprange.Options{Fetcher: via(url)}})
	if err != nil {
		t.Fatal(err)
	}
	storagetest.Run(t, s, files)
}

func TestRequesterPays(t *testing.T) {
	srv := server(map[string][]byte{"f": []byte("x")})
	srv.RequestPayer = true
	url := storetest.Serve(t, srv)
	for _, pays := range []bool{true, false} {
		s, err := New(Config{Bucket: "b", Region: "eu-west-1", Endpoint: url, Keys: keys(), RequesterPays: pays})
		if err != nil {
			t.Fatal(err)
		}
		_, lerr := s.List(t.Context(), "")
		_, rerr := storage.ReadAll(t.Context(), s, "f", 0)
		for _, err := range []error{lerr, rerr} {
			var f *storage.Fault
			if pays && err != nil || !pays && (!errors.As(err, &f) || f.Kind != storage.Forbidden || !strings.Contains(f.Try, "requester_pays")) {
				t.Errorf("pays %v: %v", pays, err)
			}
		}
	}
}

// answers lets a store answer everything with one error.
func answers(status int, code, message string) func(*storetest.S3) {
	return func(s *storetest.S3) {
		s.Hook = func(w http.ResponseWriter, r *http.Request) bool {
			storetest.Fail(w, status, code, message)
			return true
		}
	}
}

// Stores that name the right region in the message only, versitygw among them.
func TestRegionOfMessage(t *testing.T) {
	for _, c := range []struct{ code, message string }{
		{"AuthorizationQueryParametersError", "Error parsing the X-Amz-Credential parameter; the region &#34;us-east-1&#34; is wrong; expecting &#34;eu-west-1&#34;"},
		{"AuthorizationHeaderMalformed", "The authorization header is malformed; the region 'us-east-1' is wrong; expecting 'eu-west-1'"},
	} {
		for _, given := range []string{"", "us-east-1"} {
			srv := server(map[string][]byte{"f": []byte("x")})
			srv.Hook = func(w http.ResponseWriter, r *http.Request) bool {
				if strings.Contains(r.URL.Query().Get("X-Amz-Credential"), "/eu-west-1/") {
					return false
				}
				w.Header().Set("Content-Type", "application/xml")
				w.WriteHeader(400)
				fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", c.code, c.message)
				return true
			}
			s, err := New(Config{Bucket: "b", Region: given, Endpoint: storetest.Serve(t, srv), Keys: keys()})
			if err != nil {
				t.Fatal(err)
			}
			// Reads that begin together are all signed for the guess.
			errs := make(chan error, 8)
			for range cap(errs) {
				go func() {
					o, err := s.Open(t.Context(), "f")
					if err == nil {
						err = storage.ReadFull(t.Context(), o, make([]byte, 1), 0)
					}
					errs <- err
				}()
			}
			for range cap(errs) {
				err := <-errs
				var f *storage.Fault
				if given == "" && err != nil || given != "" && (!errors.As(err, &f) || f.Kind != storage.Refused || !strings.Contains(f.Try, "region eu-west-1")) {
					t.Errorf("%s, given %q: %v", c.code, given, err)
				}
			}
			if n := len(srv.Requests()); n > 2*cap(errs) {
				t.Errorf("%d requests", n)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		config func(*Config)
		server func(*storetest.S3)
		kind   storage.FaultKind
		text   string // in Try
	}{
		{"no keys", func(c *Config) { c.Keys = nil }, nil, storage.Forbidden, "s3:ListBucket"},
		{"no bucket", func(c *Config) { c.Bucket = "absent" }, nil, storage.Failed, "no such bucket"},
		{"unknown account", nil, answers(404, "XAdminUserNotFound", "The user AKIDSECRET does not exist."), storage.Forbidden, "does not know these keys"},
		{"unknown key with 404", nil, answers(404, "InvalidAccessKeyId", "The key does not exist."), storage.Forbidden, "does not know these keys"},
		{"another code with 404", nil, answers(404, "NoSuchTenant", "No tenant."), storage.Failed, "NoSuchTenant: check the bucket"},
		{"no such key", nil, answers(404, "NoSuchKey", "The specified key does not exist."), storage.NotFound, ""},
		{"no code", nil, func(s *storetest.S3) {
			s.Hook = func(w http.ResponseWriter, r *http.Request) bool { http.NotFound(w, r); return true }
		}, storage.NotFound, ""},
		{"no region in the message", nil, answers(400, "AuthorizationQueryParametersError", `Error parsing the X-Amz-Credential parameter; incorrect date; the region is right, expecting "20260307T00Z"`), storage.Refused, "Check the endpoint and the region."},
		{"wrong region", func(c *Config) { c.Region = "us-west-2" }, nil, storage.Refused, "region eu-west-1"},
		{"wrong secret", func(c *Config) { c.Keys.Secret = "SECRETKEYWRONG" }, nil, storage.Forbidden, "secret does not belong"},
		{"unknown key", func(c *Config) { c.Keys.AccessKey = "AKIDSECRET2" }, nil, storage.Forbidden, "does not know these keys"},
		{"wrong token", func(c *Config) { c.Keys.Token = "TOKENSECRET2" }, nil, storage.Forbidden, "session token"},
		{"expired token", nil, func(s *storetest.S3) { s.TokenExpired = true }, storage.Expired, "new temporary keys"},
		{"clock", nil, func(s *storetest.S3) {
			s.Hook = func(w http.ResponseWriter, r *http.Request) bool {
				storetest.Fail(w, 403, "RequestTimeTooSkewed", "The difference between the request time and the current time is too large.")
				return true
			}
		}, storage.Forbidden, "clock"},
		{"redirect", nil, func(s *storetest.S3) {
			s.Hook = func(w http.ResponseWriter, r *http.Request) bool {
				storetest.Fail(w, 301, "PermanentRedirect", "The bucket you are attempting to access must be addressed using the specified endpoint.", "<Endpoint>b.s3-ap-south-1.amazonaws.com</Endpoint>")
				return true
			}
		}, storage.Refused, "region ap-south-1"},
		{"denied", nil, func(s *storetest.S3) {
			s.Hook = func(w http.ResponseWriter, r *http.Request) bool {
				storetest.Fail(w, 403, "AccessDenied", "User AKIDSECRET may not "+r.URL.Query().Get("X-Amz-Security-Token")+" "+strings.Replace(r.URL.RawQuery, "X-Amz-Signature=", "", 1)+strings.Repeat("y", 1000))
				return true
			}
		}, storage.Forbidden, "s3:ListBucket"},
		{"no XML", nil, func(s *storetest.S3) {
			s.Hook = func(w http.ResponseWriter, r *http.Request) bool {
				http.Error(w, "AKIDSECRET", http.StatusForbidden)
				return true
			}
		}, storage.Forbidden, "s3:ListBucket"},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := server(map[string][]byte{"f": []byte("x")})
			if c.server != nil {
				c.server(srv)
			}
			cfg := Config{Bucket: "b", Region: "eu-west-1", Endpoint: storetest.Serve(t, srv), Keys: keys(), List: objectlist.Options{FlatPages: -1}}
			if c.config != nil {
				c.config(&cfg)
			}
			s, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			_, lerr := s.List(t.Context(), "")
			_, rerr := storage.ReadAll(t.Context(), s, "f", 0)
			for i, err := range []error{lerr, rerr} {
				var f *storage.Fault
				if !errors.As(err, &f) || f.Kind != c.kind || !strings.Contains(f.Try, c.text) || f.Op != []string{"list", "read"}[i] {
					t.Errorf("%v (%+v), want %s with %q", err, f, c.kind, c.text)
				}
				noSecrets(t, c.name, err, f)
				if len(err.Error()) > 500 {
					t.Errorf("%v", err)
				}
			}
			if n := len(srv.Requests()); n != 2 {
				t.Errorf("%d requests, want 2", n)
			}
		})
	}
	// A store that does not answer.
	s, _ := New(Config{Bucket: "b", Endpoint: "http://127.0.0.1:1", Keys: keys()})
	_, err := s.List(t.Context(), "")
	var f *storage.Fault
	if !errors.As(err, &f) || f.Kind != storage.Unreachable {
		t.Error(err)
	}
	noSecrets(t, "unreachable", err, f)
}

// A clock that is wrong on either side is made up for, by one more request.
func TestClock(t *testing.T) {
	for _, off := range []time.Duration{-2 * time.Hour, 2 * time.Hour} {
		srv := server(map[string][]byte{"f": []byte("x")})
		srv.Now = func() time.Time { return time.Now().Add(off) }
		s, err := New(Config{Bucket: "b", Region: "eu-west-1", Endpoint: storetest.Serve(t, srv), Keys: keys()})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if b, err := storage.ReadAll(t.Context(), s, "f", 0); err != nil || string(b) != "x" {
				t.Errorf("off by %v: %q, %v", off, b, err)
			}
		}
		if n := len(srv.Requests()); n != 4 { // refused, size, bytes, bytes
			t.Errorf("off by %v: %d requests, want 4", off, n)
		}
	}
}

// Keys that are replaced sign what comes next, also of open objects.
func TestSetKeys(t *testing.T) {
	srv := server(map[string][]byte{"f": []byte("x")})
	old := keys()
	old.Token = "TOKENSECRETOLD"
	s, err := New(Config{Bucket: "b", Region: "eu-west-1", Endpoint: storetest.Serve(t, srv), Keys: old})
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.Open(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 1)
	if err := storage.ReadFull(t.Context(), o, p, 0); err == nil {
		t.Error("read with an old token")
	}
	if err := s.SetKeys(keys()); err != nil {
		t.Fatal(err)
	}
	if err := storage.ReadFull(t.Context(), o, p, 0); err != nil || p[0] != 'x' {
		t.Error(err)
	}
}

// The same at a store of one's own, where the region is only a part of signatures.
func TestRegionOfEndpoint(t *testing.T) {
	srv := server(map[string][]byte{"f": []byte("x")})
	s, err := New(Config{Bucket: "b", Endpoint: storetest.Serve(t, srv), Keys: keys()})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := storage.ReadAll(t.Context(), s, "f", 0); err != nil || string(b) != "x" || len(srv.Requests()) != 3 {
		t.Errorf("%q, %v", b, err)
	}
}

// A region that was not given is taken over from the store's answer.
func TestRegionIsFound(t *testing.T) {
	srv := server(map[string][]byte{"f": []byte("x")})
	url := storetest.Serve(t, srv)
	srv.Host = "s3.eu-west-1.amazonaws.com"
	srv.Hook = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Host == "b.s3.us-east-1.amazonaws.com" {
			w.Header().Set("x-amz-bucket-region", "eu-west-1")
			storetest.Fail(w, 301, "PermanentRedirect", "The bucket must be addressed using the specified endpoint.", "<Endpoint>b.s3.amazonaws.com</Endpoint>")
			return true
		}
		return false
	}
	for _, given := range []string{"", "us-east-1"} {
		s, err := New(Config{Bucket: "b", Region: given, Keys: keys(), HTTP: httprange.Options{Fetcher: via(url)}})
		if err != nil {
			t.Fatal(err)
		}
		b, err := storage.ReadAll(t.Context(), s, "f", 0)
		var f *storage.Fault
		if given == "" && (err != nil || string(b) != "x") || given != "" && (!errors.As(err, &f) || !strings.Contains(f.Try, "region eu-west-1")) {
			t.Errorf("given %q: %q, %v", given, b, err)
		}
	}
}

// Signatures that Amazon's own library for Python (botocore 1.44.8, S3SigV4QueryAuth) made of
// random keys, parameters and session tokens.
func TestSignaturesOfBotocore(t *testing.T) {
	b, err := os.ReadFile("testdata/signatures.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Access, Secret, Token, Region, Host, Path, At, Sig string
		Params                                             [][2]string
		Expires                                            int
	}
	if err := json.Unmarshal(b, &cases); err != nil || len(cases) != 40 {
		t.Fatal(len(cases), err)
	}
	st := &store{bucket: "bkt"}
	for _, c := range cases {
		at, err := time.Parse(amzDate, c.At)
		if err != nil {
			t.Fatal(err)
		}
		var ps []param
		for _, p := range c.Params {
			ps = append(ps, param{p[0], p[1]})
		}
		query := Keys{AccessKey: c.Access, Secret: c.Secret, Token: c.Token}.sign("GET", c.Host, st.path(c.Path), ps, c.Region, at, time.Duration(c.Expires)*time.Second)
		if !strings.HasSuffix(query, "&X-Amz-Signature="+c.Sig) {
			t.Errorf("%q %q: %s, want %s", c.Path, c.Params, query, c.Sig)
		}
	}
}
