package httpapi

import (
	"errors"
	"strings"
	"testing"

	"hudiscope/core/api"
)

func TestPrefixes(t *testing.T) {
	p, err := ParsePrefixes("https://data.example.org/lake, http://127.0.0.1:9000/a%20b/\nHTTPS://Whole.example.org")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{
		"https://data.example.org/lake", "https://data.example.org/lake/", "https://data.example.org/lake/t/.hoodie/",
		"https://DATA.example.org:443/lake/t", "http://127.0.0.1:9000/a%20b/t", "https://whole.example.org", "https://whole.example.org/any/where",
		"https://data.example.org/lake/city%3Dsf/.f.log.1_0-1-0", "https://data.example.org/lake/x..y/",
	} {
		if !p.Contains(in) {
			t.Errorf("%s is refused", in)
		}
		if got, err := p.Allow(t.Context(), in); err != nil || got != in {
			t.Errorf("%s: %q %v", in, got, err)
		}
	}
	for _, out := range []string{
		"", "/lake", "https:///lake/", "//data.example.org/lake/", "data.example.org/lake", "https:data.example.org/lake",
		"http://data.example.org/lake/", "https://data.example.org/", "https://data.example.org/lakes/", "https://data.example.org/Lake/",
		"https://data.example.org:8443/lake/", "https://data.example.org.evil.example/lake/", "https://evil.example/data.example.org/lake/",
		"https://u@data.example.org/lake/", "https://u:p@data.example.org/lake/", "https://data.example.org@evil.example/lake/",
		"https://data.example.org/lake/../x", "https://data.example.org/lake/%2e%2e/x", "https://data.example.org/lake/.%2E/x", "https://data.example.org/lake/..",
		"https://data.example.org/lake/..%2fx", "https://data.example.org/lake/..\\x", "https://data.example.org/lake/..%5Cx", "https://data.example.org/lake/./x",
		"https://data.example.org//lake/", "https://data.example.org/lake//x", "https://data.example.org/x/../lake/", "https://data.example.org/lake/%00",
		"https://data.example.org/lake/?x=1", "https://data.example.org/lake/?", "https://data.example.org/lake/#x", "https://data.example.org/lake/ x",
		"ftp://data.example.org/lake/", "file:///lake/", "https://data.example.org/lake/\r\nx", "https://data.example.org:x/lake/",
	} {
		if p.Contains(out) {
			t.Errorf("%q is allowed", out)
		}
		_, err := p.Allow(t.Context(), out)
		var f *api.Fault
		if !errors.As(err, &f) || f.Kind != "forbidden" {
			t.Errorf("%q: %v", out, err)
		} else if strings.Contains(f.Error(), "u:p") {
			t.Errorf("the fault repeats credentials: %v", f)
		}
	}
	if (Prefixes{}).Contains("https://data.example.org/") {
		t.Error("no prefixes allow something")
	}
	for _, bad := range []string{"data.example.org", "https://u:p@x/", "https://x/?q", "https://x/a/../b", "*", "https://"} {
		if _, err := ParsePrefixes(bad); err == nil {
			t.Errorf("the setting %q is accepted", bad)
		}
	}
}

// FuzzPrefixes: what is allowed lies below the prefix after any usual reading of the URL.
func FuzzPrefixes(f *testing.F) {
	p, err := ParsePrefixes("https://data.example.org/lake/")
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"https://data.example.org/lake/t", "https://data.example.org/lake/../x", "https://a@data.example.org/lake/%2e%2E/", "HTTPS://DATA.EXAMPLE.ORG:443/lake/%41"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !p.Contains(s) {
			return
		}
		low := strings.ToLower(s)
		rest, ok := strings.CutPrefix(low, "https://data.example.org")
		if !ok {
			t.Fatalf("%q is allowed", s)
		}
		rest = strings.TrimPrefix(rest, ":443")
		if rest = strings.TrimPrefix(rest, ":"); rest != "/lake" && !strings.HasPrefix(rest, "/lake/") && !strings.Contains(rest, "%") {
			t.Fatalf("%q is allowed", s)
		}
		if strings.ContainsAny(s, "\\#?\x00 \n") || strings.Contains(rest, "/../") || strings.HasSuffix(rest, "/..") || strings.Contains(rest, "%2e") || strings.Contains(rest, "%2f") {
			t.Fatalf("%q is allowed", s)
		}
	})
}
