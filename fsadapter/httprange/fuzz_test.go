package httprange

import (
	"strings"
	"testing"
	"time"
)

// FuzzHeaders: what a server says about ranges and about waiting is numbers that are at least zero, or is not believed.
func FuzzHeaders(f *testing.F) {
	for _, s := range []string{"bytes 0-9/100", "bytes */100", "bytes 0--1/0", "bytes 5-4/*", "bytes=0-1/2", "120", "-3", "99999999999999999999", "Sat, 07 Mar 2026 16:26:11 GMT"} {
		f.Add(s)
	}
	now := time.Date(2026, 3, 7, 16, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		if a, b, total, ok := contentRange(s); ok && (a < 0 || b < -1 || total < -1) {
			t.Fatalf("%q: %d, %d, %d", s, a, b, total)
		}
		if d := retryAfter(s, now); d < 0 {
			t.Fatalf("%q: %v", s, d)
		}
		if n, ok := contentLength(&Response{Header: func(string) string { return s }}); ok && n < 0 {
			t.Fatalf("%q: %d", s, n)
		}
	})
}

// FuzzAddress: an address that is taken is one of http or https with a host, is shown without its query and its user, and
// leads to files below it.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{"https://h/t/", "HTTP://H:80/a b/%2e%2e/x?k=SECRET#f", "https://user:SECRET@h/x", "https://[::1]/t.zip", "h/x", "https:///x", "https://h/a%2Fb/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAddress(s)
		if err != nil {
			return
		}
		shown := a.Location()
		scheme, rest, ok := strings.Cut(shown, "://")
		host, _, _ := strings.Cut(rest, "/")
		if !ok || scheme != "http" && scheme != "https" || host == "" || strings.Contains(host, "@") || strings.ContainsAny(rest, "?#") {
			t.Fatalf("%q is shown as %q", s, shown)
		}
		again, err := ParseAddress(shown)
		if err != nil || again.Location() != shown || again.IsFolder() != a.IsFolder() || again.Name() != a.Name() {
			t.Fatalf("%q is shown as %q, and that as %q: %v", s, shown, again.Location(), err)
		}
	})
}
