package signer_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"hudiscope/core/storage"
	"hudiscope/fsadapter/httprange"
	"hudiscope/fsadapter/signer"
)

// said answers every request of the endpoint with one body, and those of other addresses with bytes.
type said struct {
	status int
	body   []byte
	asked  []string
}

func (s *said) Fetch(ctx context.Context, req *httprange.Request) (*httprange.Response, error) {
	s.asked = append(s.asked, req.URL)
	status, body := s.status, s.body
	if !strings.HasPrefix(req.URL, "https://sign.example/") {
		status, body = 200, []byte("the file")
	}
	return &httprange.Response{Status: status, URL: req.URL, Header: func(string) string { return "" }, Body: io.NopCloser(bytes.NewReader(body))}, nil
}

// FuzzAnswer: whatever an endpoint answers, a listing has plain names and a read ends, or there is a fault with the place and
// without the secrets; requests go to the endpoint and to http and https addresses that it gave, a few at most.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		`{"keys":[{"key":"t/a","size":8,"etag":"e","modified":"2026-03-07T16:26:11Z"},{"key":"t/.hoodie/x","size":-4}],"prefixes":["t/d/"],"next":"n"}`,
		`{"urls":{"t/a":{"url":"https://h/a?sig=x","expires":"2026-03-07T17:26:11Z"}}}`, `{"urls":{"t/a":{"url":"file:///etc/passwd"}}}`,
		`{"error":"no Bearer TOKENSECRET for key=KEYSECRET"}`, `{"keys":[{"key":"../a"}],"prefixes":["other/"]}`,
	} {
		f.Add(true, []byte(s))
		f.Add(false, []byte(s))
	}
	f.Fuzz(func(t *testing.T, ok bool, body []byte) {
		server := &said{status: 200, body: body}
		if !ok {
			server.status = 403
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		s, err := signer.New(signer.Config{Endpoint: "https://sign.example/s?key=KEYSECRET", Prefix: "t", Authorization: "Bearer TOKENSECRET",
			HTTP: httprange.Options{Fetcher: server, Attempts: 1, Backoff: time.Microsecond}})
		if err != nil {
			t.Fatal(err)
		}
		list, lerr := s.List(ctx, "")
		for _, e := range list.Entries {
			if e.Name == "" || e.Name == "." || e.Name == ".." || strings.ContainsAny(e.Name, "/\x00") || e.Size < storage.SizeUnknown {
				t.Errorf("%+v", e)
			}
		}
		_, rerr := storage.ReadAll(ctx, s, "a", 1<<20)
		for _, err := range []error{lerr, rerr} {
			if err == nil {
				continue
			}
			var fault *storage.Fault
			if !errors.As(err, &fault) || fault.Location == "" {
				t.Errorf("%#v", err)
			}
			if bytes.Contains(body, []byte("SECRET")) { // it may be a piece of the body by chance alone
				continue
			}
			if strings.Contains(err.Error(), "SECRET") {
				t.Errorf("a secret: %v", err)
			}
		}
		if ctx.Err() != nil {
			t.Error("it took more than 10 seconds")
		}
		if len(server.asked) > 2000 {
			t.Errorf("%d requests", len(server.asked))
		}
		for _, u := range server.asked {
			if !strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "https://") && !strings.HasPrefix(strings.ToLower(u), "http") {
				t.Errorf("%q was asked for", u)
			}
		}
	})
}
