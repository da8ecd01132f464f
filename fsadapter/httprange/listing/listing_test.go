package listing

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"hudiscope/core/storage"
)

// captures are the answers of real servers for the same folders; testdata/listings/README.md
// says which.
type captures struct {
	files    map[string][]byte
	requests map[string]struct {
		Request     string
		ContentType string `json:"content_type"`
	}
	expected struct {
		Paths   map[string]string
		MTime   int64 `json:"mtime_unix"`
		Entries map[string][]struct {
			Name string
			Dir  bool
			Size *int64
		}
	}
}

func load(t testing.TB) *captures {
	z, err := zip.OpenReader("../../../testdata/listings/captures.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	c := &captures{files: map[string][]byte{}}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		switch f.Name {
		case "requests.json":
			err = json.Unmarshal(b, &c.requests)
		case "expected.json":
			err = json.Unmarshal(b, &c.expected)
		default:
			c.files[f.Name] = b
		}
		if err != nil {
			t.Fatal(f.Name, err)
		}
	}
	return c
}

// What the servers do, as the captures show it.
var (
	hidesDots  = []string{"nginx-html", "nginx-html-human", "nginx-json", "nginx-xml", "nginx-dav", "apache-debian-default", "lighttpd"}
	exactSizes = []string{"nginx-html", "nginx-json", "nginx-xml", "caddy-json", "caddy-html", "rclone-http", "apache-dav", "lighttpd-dav", "rclone-dav", "nginx-dav"}
	exactTimes = []string{"nginx-json", "nginx-xml", "caddy-json", "caddy-html", "apache-dav", "lighttpd-dav", "rclone-dav", "nginx-dav"}
	hasETags   = []string{"apache-dav", "lighttpd-dav", "rclone-dav"}
)

func TestCaptures(t *testing.T) {
	c := load(t)
	if len(c.files) != 168 {
		t.Fatalf("%d captures, want 168", len(c.files))
	}
	entries := 0
	for file, body := range c.files {
		server, label, _ := strings.Cut(strings.TrimSuffix(file, file[strings.LastIndexByte(file, '.'):]), "__")
		t.Run(server+"/"+label, func(t *testing.T) {
			req := c.requests[server+"__"+label]
			_, path, _ := strings.Cut(req.Request, " ")
			l, err := Parse(req.ContentType, body, "http://127.0.0.1:8080"+path+"?sig=x")
			if err != nil {
				t.Fatal(err)
			}
			if !l.Complete && !(server == "serve" && label == "odd") {
				t.Errorf("not complete: %s", l.Note)
			}
			got := map[string]storage.Entry{}
			for _, e := range l.Entries {
				got[e.Name] = e
			}
			var missing []string
			for _, w := range c.expected.Entries[label] {
				if slices.Contains(hidesDots, server) && strings.HasPrefix(w.Name, ".") {
					if _, ok := got[w.Name]; ok {
						t.Errorf("%q is listed by a server that hides it", w.Name)
					}
					continue
				}
				e, ok := got[w.Name]
				if !ok {
					missing = append(missing, w.Name)
					continue
				}
				entries++
				delete(got, w.Name)
				if e.Dir != w.Dir {
					t.Errorf("%q: Dir = %v", w.Name, e.Dir)
				}
				switch {
				case w.Dir:
				case e.Size == storage.SizeUnknown:
					if slices.Contains(exactSizes, server) {
						t.Errorf("%q: no size, want %d", w.Name, *w.Size)
					}
				case e.Size != *w.Size:
					t.Errorf("%q: size %d, want %d", w.Name, e.Size, *w.Size)
				}
				if slices.Contains(exactTimes, server) && e.ModTime.Unix() != c.expected.MTime {
					t.Errorf("%q: modified %v", w.Name, e.ModTime)
				} else if !e.ModTime.IsZero() && e.ModTime.Unix() != c.expected.MTime {
					t.Errorf("%q: modified %v, which is wrong", w.Name, e.ModTime)
				}
				if slices.Contains(hasETags, server) && !w.Dir && (e.ETag == "" || strings.Contains(e.ETag, `"`)) {
					t.Errorf("%q: ETag %q", w.Name, e.ETag)
				}
			}
			var extra []string
			for n := range got {
				extra = append(extra, n)
			}
			slices.Sort(missing)
			slices.Sort(extra)
			wantMissing, wantExtra := exceptions(server, label)
			if !slices.Equal(missing, wantMissing) || !slices.Equal(extra, wantExtra) {
				t.Errorf("missing %q, want %q\nextra %q, want %q", missing, wantMissing, extra, wantExtra)
			}
			if !slices.IsSortedFunc(l.Entries, func(a, b storage.Entry) int { return strings.Compare(a.Name, b.Name) }) {
				t.Error("not sorted")
			}
		})
	}
	t.Logf("%d captures, %d entries compared", len(c.files), entries)
}

// exceptions are the names that a server's own page makes impossible to read.
func exceptions(server, label string) (missing, extra []string) {
	if label != "odd" {
		return nil, nil
	}
	switch server {
	case "rclone-http", "rclone-dav": // TAB is shown as another character
		return []string{"ctl=a\tb"}, []string{"ctl=a␉b"}
	case "serve": // "#", "?", "%" and "&" are not escaped
		return []string{"amp=x&amp;y", "dt=2024-01-01 10%3A00%3A00", "hash=#1", "pct=%2F", "qm=who?"}, []string{"amp=x&y", "hash=", "qm=who"}
	}
	return nil, nil
}

func TestNotListings(t *testing.T) {
	for name, c := range map[string]struct{ ct, body string }{
		"page":      {"text/html", `<!doctype html><html><head><title>My app</title><link href="app.css"><script>var x='<a href="a.txt">'</script></head><body><div id=app></div></body></html>`},
		"style":     {"text/html", `<title>x</title><style>a:after{content:'<a href="b">'}</style><!-- <a href="c">c</a> -->`},
		"object":    {"application/json", `{"error":"nope"}`},
		"list":      {"application/json", `[{"id":1}]`},
		"numbers":   {"application/json", `[1,2]`},
		"s3":        {"application/xml", `<?xml version="1.0"?><ListBucketResult xmlns="x"><Name>b</Name></ListBucketResult>`},
		"s3 error":  {"application/xml", `<Error><Code>AccessDenied</Code></Error>`},
		"parquet":   {"application/octet-stream", "PAR1\x15\x04"},
		"text":      {"text/plain", "hello"},
		"other":     {"text/html", `<html><title>t</title><a href="https://elsewhere/x">x</a><a href="/a/b/c/d">d</a><a href="mailto:x@y">m</a>`},
		"json text": {"application/json", `"x"`},
		"empty":     {"application/xml", ""},
	} {
		l, err := Parse(c.ct, []byte(c.body), "http://h/t/")
		if !errors.Is(err, ErrNotListing) {
			t.Errorf("%s: %v, %v; want ErrNotListing", name, l, err)
		}
	}
}

// A page that was cut anywhere is never a shorter listing: the transport can't always tell.
func TestCutListings(t *testing.T) {
	c := load(t)
	cuts, truncated := 0, 0
	for file, body := range c.files {
		server := strings.TrimSuffix(file, file[strings.LastIndexByte(file, '.'):])
		whole := len(strings.TrimRight(string(body), " \r\n\t"))
		at := []int{1, 20, whole - 1, whole - 2, whole - 8}
		for i := range 40 {
			at = append(at, whole*i/40)
		}
		for _, n := range at {
			if n <= 0 || n >= whole {
				continue
			}
			cuts++
			l, err := Parse(c.requests[server].ContentType, body[:n], "http://127.0.0.1:8080/t/")
			if errors.Is(err, ErrTruncated) {
				truncated++
			} else if !errors.Is(err, ErrNotListing) {
				t.Errorf("%s cut to %d of %d bytes: %d entries, %v", file, n, len(body), len(l.Entries), err)
			}
		}
	}
	if cuts < 5000 || truncated < cuts*3/4 {
		t.Errorf("%d of %d cuts are called so", truncated, cuts)
	}
	for name, c := range map[string]struct{ ct, body string }{
		"json":   {"application/json", `[{"name":"a","type":"file"},`},
		"caddy":  {"application/json", `{"files":[{"name":"a","is_dir":false}`},
		"xml":    {"text/xml", `<list><file size="1">a</file>`},
		"pre":    {"text/html", `<!doctype html><title>Index of /t</title><pre><a href="a">a</a>`},
		"ul":     {"text/html", `<title>Directory listing for /t</title><ul><li><a href="a">a</a></li>`},
		"table":  {"text/html", `<h1>Index of /t</h1><TABLE><tr><td><a href="a">a</a></td></tr>`},
		"html":   {"text/html", `<html><title>Index of /t</title><pre><a href="a">a</a></pre>`},
		"tag":    {"text/html", `<title>Index of /t</title><a href="a">a</a><a hre`},
		"script": {"text/html", `<html><title>Index of /t</title><a href="a">a</a><script>"</html>"`},
	} {
		if l, err := Parse(c.ct, []byte(c.body), "http://h/t/"); !errors.Is(err, ErrTruncated) {
			t.Errorf("%s: %v, %v; want ErrTruncated", name, l, err)
		}
	}
}

func TestHostileAndUnusual(t *testing.T) {
	l, err := Parse("application/json", []byte(`[{"name":"../../etc","type":"directory"},{"name":"ok","type":"file","size":3},{"name":"..","type":"directory"}]`), "http://h/t/")
	if err != nil || l.Complete || len(l.Entries) != 1 || l.Entries[0].Name != "ok" || l.Note == "" {
		t.Errorf("hostile names: %+v, %v", l, err)
	}
	l, err = Parse("text/html", []byte(`<title>Index of</title><a href="a%2Fb">x</a><a href="c">c</a><a href="c">c</a>`), "http://h/t/")
	if err != nil || l.Complete || len(l.Entries) != 1 {
		t.Errorf("a name with a slash: %+v, %v", l, err)
	}
	l, err = Parse("text/html; charset=utf-8", []byte("<pre>\n</pre>\n"), "http://h/t/")
	if err != nil || !l.Complete || len(l.Entries) != 0 {
		t.Errorf("an empty folder of Go's server: %+v, %v", l, err)
	}
	l, err = Parse("text/html", []byte(`<title>Files</title><a href='b.txt'>b</a> <A HREF=/t/c/>c</A><a href="http://H/t/d?x=1#y">d</a>`), "http://h/t/")
	if err != nil || l.Complete || len(l.Entries) != 3 || !l.Entries[1].Dir || l.Note == "" {
		t.Errorf("an unknown page with links: %+v, %v", l, err)
	}
	l, err = Parse("text/html", []byte(`<title>Index of /</title><a href="../">..</a><a href="a">a</a>  07-Mar-2026 16:13   12`), "http://h/")
	if err != nil || len(l.Entries) != 1 || l.Entries[0].Size != 12 || !l.Entries[0].ModTime.Equal(time.Time{}) {
		t.Errorf("the root: %+v, %v", l, err)
	}
	// The rounded size of Apache is no size, nor is a description made of digits.
	l, err = Parse("text/html", []byte(`<h1>Index of /t</h1><table><tr><td><a href="a">a</a></td><td>2026-03-07 16:13  </td><td>428K</td><td>77</td></tr></table>`), "http://h/t/")
	if err != nil || len(l.Entries) != 1 || l.Entries[0].Size != storage.SizeUnknown {
		t.Errorf("rounded: %+v, %v", l, err)
	}
}

func FuzzParse(f *testing.F) {
	c := load(f)
	n := 0
	for file, body := range c.files {
		if len(body) < 6000 && n < 40 {
			n++
			server, _, _ := strings.Cut(file, ".")
			f.Add(c.requests[server].ContentType, body, "http://h/t/x")
		}
	}
	f.Fuzz(func(t *testing.T, ct string, body []byte, url string) {
		l, err := Parse(ct, body, url)
		if err != nil && !errors.Is(err, ErrNotListing) && !errors.Is(err, ErrTruncated) {
			t.Errorf("error of another kind: %v", err)
		}
		for _, e := range l.Entries {
			if e.Name == "" || e.Name == "." || e.Name == ".." || strings.ContainsAny(e.Name, "/\x00") || e.Size < storage.SizeUnknown {
				t.Errorf("bad entry %+v", e)
			}
		}
	})
}
