package listing

import "strings"

// location is the folder a page shows: its scheme and host, and the decoded segments of
// its path.
type location struct {
	origin   string // "http://host", lower case; "" when the page URL is a path only
	segments []string
}

type relation int

const (
	isOther  relation = iota // another place, or the page itself
	isChild                  // directly in the folder
	isParent                 // the folder above
	isBad                    // in the folder, but no possible name
)

// splitURL takes the folder out of a page URL: all up to the last slash of the path.
func splitURL(page string) location {
	page, _, _ = strings.Cut(page, "#")
	page, _, _ = strings.Cut(page, "?")
	var l location
	path := page
	if scheme, rest, ok := strings.Cut(page, "://"); ok {
		host, p, _ := strings.Cut(rest, "/")
		if i := strings.LastIndexByte(host, '@'); i >= 0 {
			host = host[i+1:]
		}
		l.origin = strings.ToLower(scheme + "://" + host)
		path = p
	}
	path = strings.TrimPrefix(path, "/")
	for {
		seg, rest, ok := strings.Cut(path, "/")
		if !ok {
			return l
		}
		l.segments = append(l.segments, unescape(seg))
		path = rest
	}
}

// child resolves a link against the folder. For a child it returns the plain name and
// whether the link ends in a slash.
func (l location) child(href string) (name string, dir bool, rel relation) {
	href = strings.Trim(href, " \t\r\n")
	href, _, _ = strings.Cut(href, "#")
	href, _, _ = strings.Cut(href, "?")
	if href == "" {
		return "", false, isOther
	}
	path := href
	absolute := false
	switch {
	case strings.HasPrefix(href, "//"):
		host, p, _ := strings.Cut(href[2:], "/")
		if _, own, _ := strings.Cut(l.origin, "://"); !strings.EqualFold(host, own) {
			return "", false, isOther
		}
		path, absolute = p, true
	case hasScheme(href):
		scheme, rest, ok := strings.Cut(href, "://")
		host, p, _ := strings.Cut(rest, "/")
		if !ok || !strings.EqualFold(scheme+"://"+host, l.origin) {
			return "", false, isOther
		}
		path, absolute = p, true
	case strings.HasPrefix(href, "/"):
		path, absolute = href[1:], true
	}
	var at []string
	if !absolute {
		at = append(at, l.segments...)
	}
	dir = strings.HasSuffix(path, "/") || path == ""
	for _, seg := range strings.Split(strings.TrimSuffix(path, "/"), "/") {
		switch seg {
		case "", ".":
			dir = true
		case "..":
			dir = true
			if len(at) > 0 {
				at = at[:len(at)-1]
			}
		default:
			dir = strings.HasSuffix(path, "/")
			at = append(at, unescape(seg))
		}
	}
	n := len(l.segments)
	switch {
	case len(at) == n+1 && equal(at[:n], l.segments):
		name = at[n]
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
			return "", false, isBad
		}
		return name, dir, isChild
	case n > 0 && dir && len(at) == n-1 && equal(at, l.segments[:n-1]):
		return "", true, isParent
	case strings.HasPrefix(href, "..") || strings.HasPrefix(href, "./.."):
		return "", true, isParent // "../" on the page of the root
	}
	return "", false, isOther
}

func equal(a, b []string) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// hasScheme tells "https:…" from a relative link whose first segment has a colon.
func hasScheme(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ':':
			return i > 0
		case isLetter(c):
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return false
		}
	}
	return false
}

// unescape decodes %XX once; "+" stays, and so does a "%" that begins no escape.
func unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if h, l := unhex(s[i+1]), unhex(s[i+2]); h >= 0 && l >= 0 {
				out = append(out, byte(h<<4|l))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
