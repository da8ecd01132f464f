//go:build !js

package presigned

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/core/storage/storagetest"
	"hudiscope/fsadapter/httprange"
)

// serve answers GET of an object only with its own signature, as a private bucket does.
func serve(t *testing.T, files map[string][]byte, sizes bool) (*Bundle, func(code int, body string)) {
	t.Helper()
	code, body := 0, ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := strings.TrimPrefix(r.URL.Path, "/bucket/")
		switch {
		case r.URL.Query().Get("sig") != fmt.Sprint(len(p)), r.Method != "GET":
			http.Error(w, "<Code>SignatureDoesNotMatch</Code>", http.StatusForbidden)
		case code != 0:
			http.Error(w, body, code)
		default:
			w.Header().Set("ETag", fmt.Sprintf(`"%d-%s"`, len(files[p]), "v"))
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(files[p]))
		}
	}))
	srv.Config.SetKeepAlivesEnabled(false)
	t.Cleanup(srv.Close)
	b := Bundle{V: 1, Base: "trips", Taken: time.Now(), Expires: time.Now().Add(time.Hour), Files: map[string]File{}}
	for p, data := range files {
		f := File{URL: srv.URL + (&url.URL{Path: "/bucket/" + p}).EscapedPath() + fmt.Sprintf("?sig=%d", len(p))}
		if sizes {
			n := int64(len(data))
			f.Size, f.ETag = &n, fmt.Sprintf(`"%d-v"`, n)
		}
		b.Files[p] = f
	}
	raw, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	if !IsBundle(raw) {
		t.Error("IsBundle is false")
	}
	parsed, err := Parse(raw, "b.json")
	if err != nil {
		t.Fatal(err)
	}
	return parsed, func(c int, s string) { code, body = c, s }
}

func TestConformance(t *testing.T) {
	files := storagetest.Files()
	for _, sizes := range []bool{true, false} {
		b, _ := serve(t, files, sizes)
		storagetest.Run(t, New(b, httprange.Options{}), files)
		storagetest.Run(t, cache.New(New(b, httprange.Options{}), cache.Options{}), files)
	}
}

func TestExpiry(t *testing.T) {
	b, set := serve(t, map[string][]byte{"f": []byte("x"), "g": []byte("y")}, true)
	s := New(b, httprange.Options{})
	expired := func(err error) {
		t.Helper()
		var f *storage.Fault
		if !errors.As(err, &f) || f.Kind != storage.Expired || !strings.Contains(f.Try, "bundle") || strings.Contains(err.Error(), "sig=") {
			t.Errorf("got %v (%+v), want Expired", err, f)
		}
	}
	o, err := s.Open(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	set(403, "<Message>Request has expired</Message>")
	_, err = o.ReadAt(t.Context(), make([]byte, 1), 0)
	expired(err)
	set(403, "AccessDenied")
	_, err = o.ReadAt(t.Context(), make([]byte, 1), 0)
	var f *storage.Fault
	if !errors.As(err, &f) || f.Kind != storage.Forbidden {
		t.Errorf("got %v, want Forbidden", err)
	}
	s.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	_, err = o.ReadAt(t.Context(), make([]byte, 1), 0)
	expired(err)
	_, err = s.Open(t.Context(), "g")
	expired(err)
}

func TestOtherFileThanInBundle(t *testing.T) {
	files := map[string][]byte{"f": []byte("hello")}
	b, _ := serve(t, files, true)
	files["f"] = []byte("hello world")
	_, err := storage.ReadAll(t.Context(), New(b, httprange.Options{}), "f", 0)
	var f *storage.Fault
	if !errors.As(err, &f) || f.Kind != storage.Changed || !strings.Contains(f.Try, "bundle") {
		t.Errorf("got %v", err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, s := range []string{
		``, `{`, `[]`, `{"v":2,"files":{"a":{"url":"http://h/a"}}}`, `{"v":1,"files":{}}`, `{"v":1}`,
		`{"v":1,"files":{"../a":{"url":"http://h/a?sig=SECRET"}}}`,
		`{"v":1,"files":{"/a":{"url":"http://h/a?sig=SECRET"}}}`,
		`{"v":1,"files":{"":{"url":"http://h/a?sig=SECRET"}}}`,
		`{"v":1,"files":{"a":{"url":"file:///etc/passwd?SECRET"}}}`,
		`{"v":1,"files":{"a":{"url":"a?SECRET"}}}`,
		`{"v":1,"files":{"a":{"url":"http://h/a?SECRET","size":-1}}}`,
		`{"v":1,"files":{"a":{"url":"http://h/a?SECRET","size":"x"}}}`,
		`{"v":1,"expires":"tomorrow","files":{"a":{"url":"http://h/a?SECRET"}}}`,
		`{"v":1,"files":{"a":{"url":"http://h/a"},"a/b":{"url":"http://h/a"}}}`,
	} {
		_, err := Parse([]byte(s), "b.json")
		var f *storage.Fault
		if !errors.As(err, &f) || f.Kind != storage.Refused || f.Try == "" {
			t.Errorf("%s: %v", s, err)
		} else if strings.Contains(err.Error(), "SECRET") {
			t.Errorf("a secret in %v", err)
		}
	}
	if IsBundle([]byte(`{"operationType":"UPSERT"}`)) || IsBundle([]byte(`x`)) {
		t.Error("IsBundle takes anything")
	}
}

// A bundle that names its next one lives on: at its time, and at a refusal before it.
func TestRenewal(t *testing.T) {
	files := map[string][]byte{"a/f": []byte("hello"), "g": []byte("y")}
	b, set := serve(t, files, true)
	var mu sync.Mutex
	renewals, broken := 0, false
	refused := false
	fresh := *b
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Query().Get("key") != "RENEWSECRET" || broken {
			http.Error(w, "no "+r.URL.RawQuery, http.StatusForbidden)
			return
		}
		renewals++
		if refused {
			set(0, "")
		}
		json.NewEncoder(w).Encode(fresh)
	}))
	defer srv.Close()
	old := *b
	old.Renew, old.Expires = srv.URL+"/next?key=RENEWSECRET", time.Now().Add(-time.Minute)
	s := New(&old, httprange.Options{})
	if !s.Renews() {
		t.Error("Renews is false")
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got, err := storage.ReadAll(t.Context(), s, "a/f", 0); err != nil || string(got) != "hello" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	wg.Wait()
	if renewals != 1 || !s.Expires().Equal(fresh.Expires) {
		t.Errorf("%d renewals, expires %v, want 1 and %v", renewals, s.Expires(), fresh.Expires)
	}
	o, err := s.Open(t.Context(), "g")
	if err != nil {
		t.Fatal(err)
	}
	set(403, "<Code>ExpiredToken</Code>")
	refused = true
	p := make([]byte, 1)
	if err := storage.ReadFull(t.Context(), o, p, 0); err != nil || p[0] != 'y' || renewals != 2 {
		t.Errorf("%q, %v after %d renewals", p, err, renewals)
	}
	// A renewal that fails says so, once per read.
	set(403, "<Code>ExpiredToken</Code>")
	mu.Lock()
	broken = true
	mu.Unlock()
	err = storage.ReadFull(t.Context(), o, p, 0)
	var f *storage.Fault
	if !errors.As(err, &f) || f.Kind != storage.Expired || !strings.Contains(err.Error(), "renewed") || strings.Contains(fmt.Sprintf("%v %+v", err, f), "SECRET") {
		t.Errorf("%v (%+v)", err, f)
	}
	// A bundle that has ended does not renew one, and a changed file is not mixed in.
	s = NewRenewed(&old, httprange.Options{}, func(context.Context) (*Bundle, error) { return &old, nil })
	if _, err := s.Open(t.Context(), "g"); !errors.As(err, &f) || f.Kind != storage.Expired {
		t.Error(err)
	}
	s = NewRenewed(b, httprange.Options{}, nil)
	if s.Renews() {
		t.Error("Renews is true")
	}
}
