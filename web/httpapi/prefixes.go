package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"strings"

	"hudiscope/core/api"
)

// Prefixes are the places on the web that a service may read: whole origins, or
// folders of them. The zero value is none.
type Prefixes struct {
	list []place
}

// place is a normalised URL: lower-case scheme and host with its port, and a path
// that begins and ends with a slash.
type place struct{ scheme, host, path string }

// ParsePrefixes reads http(s) URLs separated by spaces or commas, such as
// "https://data.example.org/lake/ https://other.example.org". A path counts as a folder.
func ParsePrefixes(text string) (Prefixes, error) {
	var out Prefixes
	for _, s := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' }) {
		p, err := parsePlace(s)
		if err != nil {
			return Prefixes{}, fmt.Errorf("allowed origin %q: %w", s, err)
		}
		out.list = append(out.list, p)
	}
	return out, nil
}

// Contains reports whether a URL lies in one of the places. URLs that different
// programs may read differently lie in none: with credentials, with "." or ".."
// steps, empty steps, encoded slashes or dots, or backslashes.
func (p Prefixes) Contains(location string) bool {
	u, err := parsePlace(location)
	if err != nil {
		return false
	}
	for _, a := range p.list {
		if a.scheme == u.scheme && a.host == u.host && strings.HasPrefix(u.path, a.path) {
			return true
		}
	}
	return false
}

// Allow accepts the locations that Contains does. It is an Options.Allow.
func (p Prefixes) Allow(_ context.Context, location string) (string, error) {
	if p.Contains(location) {
		return location, nil
	}
	// The location is not repeated: it may hold a password.
	f := &api.Fault{Kind: "forbidden", Offset: -1, Part: "table", Message: "The table is not at a place that this server may read."}
	if len(p.list) == 0 {
		f.Try = "Whoever runs the server has to name the places; it names none."
	} else {
		f.Try = "Give a plain http(s) URL without credentials or query, below one of the places that whoever runs the server has named."
	}
	return "", f
}

func parsePlace(s string) (place, error) {
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return place{}, errors.New("it has a space, a control character or a backslash")
	}
	u, err := url.Parse(s)
	if err != nil {
		return place{}, errors.New("it is not a URL") // err repeats the text
	}
	if u.User != nil {
		return place{}, errors.New("it has credentials")
	}
	if u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(s, "#") {
		return place{}, errors.New("it has a query or a fragment")
	}
	port := map[string]string{"http": "80", "https": "443"}[u.Scheme] // url.Parse makes it lower case
	if port == "" || u.Opaque != "" || u.Hostname() == "" {
		return place{}, errors.New("it is not an http or https URL with a host")
	}
	if p := u.Port(); p != "" {
		port = p
	}
	for _, bad := range []string{"%2f", "%5c", "%2e", "%00"} {
		if strings.Contains(strings.ToLower(u.EscapedPath()), bad) {
			return place{}, errors.New("its path has an encoded slash or dot")
		}
	}
	dir := u.Path
	if dir == "" {
		dir = "/"
	}
	if clean := path.Clean(dir); dir != clean && dir != clean+"/" {
		return place{}, errors.New("its path has empty or dot steps")
	}
	if !strings.HasSuffix(dir, "/") {
		dir += "/"
	}
	return place{u.Scheme, net.JoinHostPort(strings.ToLower(u.Hostname()), port), dir}, nil
}
