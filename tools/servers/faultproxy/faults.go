package faultproxy

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Outcome is what a reader may make of a fault.
type Outcome int

// The outcomes.
const (
	// Same: the answers of the directory.
	Same Outcome = iota
	// Fails: an error that names a file or directory, never other answers.
	Fails
	// Either of both.
	Either
)

// Case is a Fault with what must come of it.
type Case struct {
	Fault
	Want Outcome
	// NoSizes, HidesDots: listings are without sizes, without names that begin with a dot.
	NoSizes, HidesDots bool
}

// few is less than the attempts that a reader makes.
const few = 2

// Cases are the faults.
var Cases = []Case{
	{Fault: Fault{Name: "none"}},
	{Fault: Fault{Name: "delays", Answer: func(x *Exchange) { x.Wait = time.Duration(len(x.Path)%5) * 5 * time.Millisecond }}},

	{Fault: Fault{Name: "cuts twice", Answer: func(x *Exchange) {
		if x.N < few {
			x.Keep = len(x.Body) / 3
		}
	}}},
	{Fault: Fault{Name: "cuts twice without a length", Answer: func(x *Exchange) {
		x.Chunked = true
		if x.N < few {
			x.Keep = len(x.Body) / 3
		}
	}}},
	{Fault: Fault{Name: "cuts one byte off data files, always", Answer: func(x *Exchange) {
		if x.File() {
			x.Keep = max(len(x.Body)-1, 0)
		}
	}}, Want: Fails},
	{Fault: Fault{Name: "cuts listings, always", Answer: func(x *Exchange) {
		if x.Listing {
			x.Keep = len(x.Body) / 2
		}
	}}, Want: Fails},
	{Fault: Fault{Name: "cuts timeline files, always", Answer: func(x *Exchange) {
		if strings.HasSuffix(x.Path, "commit") {
			x.Keep = len(x.Body) / 2
		}
	}}, Want: Fails},
	{Fault: Fault{Name: "drops two connections", Answer: func(x *Exchange) {
		if x.N < few && !strings.HasSuffix(x.Path, "hoodie.properties") {
			x.Status = 0
		}
	}}},
	{Fault: Fault{Name: "drops connections for log files", Answer: func(x *Exchange) {
		if x.File() {
			x.Status = 0
		}
	}}, Want: Fails},

	{Fault: Fault{Name: "500 twice", Ask: func(x *Exchange, _ *http.Request) {
		if x.N < few {
			x.Empty(500)
		}
	}}},
	{Fault: Fault{Name: "429 with Retry-After", Ask: func(x *Exchange, _ *http.Request) {
		if x.N < 1 && strings.HasSuffix(x.Path, "/hoodie.properties") {
			x.Empty(429)
			x.Header.Set("Retry-After", "1")
		}
	}}},
	{Fault: Fault{Name: "503 with a date", Ask: func(x *Exchange, _ *http.Request) {
		if x.N < few {
			x.Empty(503)
			x.Header.Set("Retry-After", time.Now().UTC().Format(http.TimeFormat))
		}
	}}},
	{Fault: Fault{Name: "429 for an hour", Ask: func(x *Exchange, _ *http.Request) {
		if x.File() {
			x.Empty(429)
			x.Header.Set("Retry-After", "3600")
		}
	}}, Want: Fails},
	{Fault: Fault{Name: "500 for data files", Ask: func(x *Exchange, _ *http.Request) {
		if x.File() {
			x.Empty(500)
		}
	}}, Want: Fails},
	{Fault: Fault{Name: "403 for data files", Ask: func(x *Exchange, _ *http.Request) {
		if x.File() {
			x.Empty(403)
		}
	}}, Want: Fails},
	{Fault: Fault{Name: "404 for data files", Ask: func(x *Exchange, _ *http.Request) {
		if x.File() {
			x.Empty(404)
		}
	}}, Want: Fails},
	{Fault: Fault{Name: "204 for data files", Ask: func(x *Exchange, _ *http.Request) {
		if x.File() {
			x.Empty(204)
		}
	}}, Want: Fails},
	{Fault: Fault{Name: "403 for instants", Ask: func(x *Exchange, _ *http.Request) {
		if strings.HasSuffix(x.Path, "commit") {
			x.Empty(403)
		}
	}}, Want: Fails},
	{Fault: Fault{Name: "403 for HEAD", Ask: func(x *Exchange, _ *http.Request) {
		if x.Method == http.MethodHead {
			x.Empty(403)
		}
	}}},
	{Fault: Fault{Name: "web page for every file", Answer: func(x *Exchange) {
		if x.File() {
			x.Status = 200
			x.Header = http.Header{"Content-Type": {"text/html; charset=utf-8"}}
			x.Body = []byte("<!doctype html><title>Sign in</title>")
		}
	}}, Want: Fails},

	{Fault: Fault{Name: "200 for Range", Ask: func(_ *Exchange, r *http.Request) { r.Header.Del("Range") }}},
	{Fault: Fault{Name: "200 for Range without a length", Ask: func(x *Exchange, r *http.Request) { r.Header.Del("Range"); x.Chunked = true }}},
	{Fault: Fault{Name: "200 for every other Range", Ask: func(x *Exchange, r *http.Request) {
		if x.N%2 == 1 {
			r.Header.Del("Range")
		}
	}}},
	{Fault: Fault{Name: "200 for Range, compressed", Ask: func(_ *Exchange, r *http.Request) { r.Header.Del("Range") }, Answer: func(x *Exchange) {
		if x.Status == 200 && len(x.Body) > 0 {
			x.Gzip()
		}
	}}, Want: Fails},
	{Fault: Fault{Name: "listings compressed", Answer: func(x *Exchange) {
		if x.Listing {
			x.Gzip()
		}
	}}},
	{Fault: Fault{Name: "ranges compressed", Answer: func(x *Exchange) {
		if x.Status == 206 {
			x.Gzip()
		}
	}}, Want: Fails},
	{Fault: Fault{Name: "less than asked for", Answer: func(x *Exchange) {
		var a, b, n int
		if k, _ := fmt.Sscanf(x.Header.Get("Content-Range"), "bytes %d-%d/%d", &a, &b, &n); x.Status == 206 && k == 3 && b-a > 2000 {
			x.Body = x.Body[:2001]
			x.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", a, a+2000, n))
		}
	}}},
	{Fault: Fault{Name: "other bytes than asked for", Answer: func(x *Exchange) {
		var a, b, n int
		if k, _ := fmt.Sscanf(x.Header.Get("Content-Range"), "bytes %d-%d/%d", &a, &b, &n); x.Status == 206 && k == 3 && x.File() {
			x.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", a+1, b+1, n+1))
		}
	}}, Want: Fails},
	{Fault: Fault{Name: "206 without Content-Range", Answer: func(x *Exchange) { x.Header.Del("Content-Range") }}, Want: Either},
	{Fault: Fault{Name: "206 without any length", Answer: func(x *Exchange) {
		if x.Status == 206 {
			x.Header.Del("Content-Range")
			x.Chunked = true
		}
	}}, Want: Fails},
	{Fault: Fault{Name: "total of * in Content-Range", Answer: func(x *Exchange) {
		if cr, _, ok := strings.Cut(x.Header.Get("Content-Range"), "/"); ok && x.Status == 206 {
			x.Header.Set("Content-Range", cr+"/*")
		}
	}}},
	{Fault: Fault{Name: "416 for empty files", Answer: func(x *Exchange) {
		if !x.Listing && x.Method == http.MethodGet && x.Status == 200 && len(x.Body) == 0 {
			x.Empty(416)
		}
	}}},
	{Fault: Fault{Name: "416 with a page for empty files", Answer: func(x *Exchange) {
		if !x.Listing && x.Method == http.MethodGet && x.Status == 200 && len(x.Body) == 0 {
			x.Status, x.Body = 416, []byte("<h1>416</h1>")
			x.Header = http.Header{"Content-Range": {"bytes */0"}, "Content-Type": {"text/html"}}
		}
	}}},

	{Fault: Fault{Name: "file replaced, another ETag", Answer: func(x *Exchange) {
		x.Header.Set("ETag", `"one"`)
		if x.File() && x.N > 0 {
			x.replace(0)
			x.Header.Set("ETag", `"another"`)
		}
	}}, Want: Either},
	{Fault: Fault{Name: "file replaced, another size, no ETag", Answer: func(x *Exchange) {
		x.Header.Del("Etag")
		x.Header.Del("Last-Modified")
		if x.File() && x.N > 0 {
			x.replace(100)
		}
	}}, Want: Either},
	{Fault: Fault{Name: "file replaced, another time, no ETag", Answer: func(x *Exchange) {
		x.Header.Del("Etag")
		x.Header.Set("Last-Modified", "Sat, 07 Mar 2026 16:13:20 GMT")
		if x.File() && x.N > 0 {
			x.replace(0)
			x.Header.Set("Last-Modified", "Sat, 07 Mar 2026 17:00:00 GMT")
		}
	}}, Want: Either},
	{Fault: Fault{Name: "file shortened", Answer: func(x *Exchange) {
		x.Header.Del("Etag")
		if x.File() && x.N > 0 && x.Status == 206 {
			x.Empty(416)
			x.Header.Set("Content-Range", "bytes */10")
		}
	}}, Want: Either},
	{Fault: Fault{Name: "an ETag per answer", Answer: func(x *Exchange) {
		if x.File() {
			x.Header.Set("ETag", fmt.Sprintf(`"%d"`, x.N))
		}
	}}, Want: Either},
	{Fault: Fault{Name: "weak and strong ETags of one file", Answer: func(x *Exchange) {
		if e := x.Header.Get("ETag"); e != "" && x.N%2 == 1 {
			x.Header.Set("ETag", "W/"+strings.TrimPrefix(e, "W/"))
		}
	}}},

	{Fault: Fault{Name: "redirects everything", Ask: redirect("/moved")}},
	{Fault: Fault{Name: "redirects in a circle", Ask: func(x *Exchange, _ *http.Request) {
		if x.File() {
			x.Empty(302)
			x.Header.Set("Location", x.Path)
		}
	}}, Want: Fails},
	{Fault: Fault{Name: "hides dot names", Answer: func(x *Exchange) {
		if x.Method != http.MethodGet {
			x.Empty(405)
		} else if err := x.HideDots(); err != nil {
			x.Status, x.Body = 500, []byte(err.Error())
		}
	}}, HidesDots: true},
	{Fault: Fault{Name: "lists nothing", Answer: func(x *Exchange) {
		if x.Listing {
			x.Empty(403)
		}
	}}, Want: Fails},
	{Fault: Fault{Name: "lists an empty folder as a page", Answer: func(x *Exchange) {
		if x.Listing {
			x.Status, x.Body = 200, []byte("<html><title>Welcome</title><body>Nothing here.</body></html>")
			x.Header = http.Header{"Content-Type": {"text/html"}}
		}
	}}, Want: Fails},
}

// replace makes the body that of another version of the file, longer by some bytes.
func (x *Exchange) replace(more int) {
	x.Body = bytes.Repeat([]byte{0x5a}, len(x.Body))
	var a, b, n int
	if k, _ := fmt.Sscanf(x.Header.Get("Content-Range"), "bytes %d-%d/%d", &a, &b, &n); k == 3 && more > 0 {
		x.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", a, b, n+more))
	}
}

// redirect sends every path below another, where the server answers.
func redirect(under string) func(*Exchange, *http.Request) {
	return func(x *Exchange, r *http.Request) {
		if rest, ok := strings.CutPrefix(x.Path, under+"/"); ok {
			x.Path = "/" + rest
			return
		}
		x.Empty(307)
		to := under + x.Path
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		x.Header.Set("Location", to)
	}
}
