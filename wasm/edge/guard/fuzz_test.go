package guard

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/fsadapter/httprange"
)

// redirecting answers every request with a redirect.
type redirecting struct {
	to    string
	asked []string
}

func (r *redirecting) Fetch(_ context.Context, req *httprange.Request) (*httprange.Response, error) {
	r.asked = append(r.asked, req.URL)
	return &httprange.Response{Status: 302, URL: req.URL, Header: func(string) string { return r.to }, Body: io.NopCloser(strings.NewReader(""))}, nil
}

// FuzzRedirect: wherever a server redirects to, nothing is sent to another host or above the allowed folder, a few requests are
// sent at most, and the answer ends with a fault.
func FuzzRedirect(f *testing.F) {
	for _, s := range []string{"x", "../private/x", "//other/tables/", "https://h.example/tables/../x", "https://h.example@other/tables/", "\\\\other/tables", "?x", "#", "%2e%2e/x", "https:tables/x", "http://h.example/tables/", "", "\x00", "/tables/%zz"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, to string) {
		next := &redirecting{to: to}
		g := &Guard{Next: next, Limit: 10, Allow: func(u string) bool {
			return strings.HasPrefix(u, "https://h.example/tables/") && !strings.Contains(u, "..")
		}}
		res, err := g.Fetch(t.Context(), &httprange.Request{URL: "https://h.example/tables/a"})
		if len(next.asked) > redirects+1 || g.Sent() != len(next.asked) {
			t.Fatalf("%q: %q", to, next.asked)
		}
		for _, a := range next.asked {
			if u, err := url.Parse(a); err != nil || u.Scheme != "https" || u.Host != "h.example" || u.User != nil || !strings.HasPrefix(u.Path, "/tables/") {
				t.Fatalf("%q leads to %q: %v", to, a, err)
			}
		}
		var fault *api.Fault
		if (to == "") != (res != nil) || err != nil && (!errors.As(err, &fault) || fault.Message == "") {
			t.Fatalf("%q: %v, %#v", to, res, err)
		}
	})
}
