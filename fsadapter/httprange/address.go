package httprange

import (
	"errors"
	"net/url"
	"strings"

	"hudiscope/core/storage"
)

// Address is a URL split into what may be shown and what may not.
type Address struct {
	// Full is the URL for requests, with its query but no fragment.
	full *url.URL
}

// ParseAddress takes an absolute http or https URL apart.
func ParseAddress(raw string) (Address, error) {
	refuse := func(why string) (Address, error) {
		return Address{}, &storage.Fault{Op: "open", Location: Shown(raw), Kind: storage.Refused,
			Try: "Give an address that begins with http:// or https://.", Err: errors.New(why)}
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return refuse("the address is not a URL")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return refuse("the address is not an http or https URL")
	}
	if u.Host == "" {
		return refuse("the address names no host")
	}
	u.Fragment, u.RawFragment = "", ""
	return Address{u}, nil
}

// Location is the address without user, password, query and fragment.
func (a Address) Location() string {
	return a.full.Scheme + "://" + a.full.Host + a.full.EscapedPath()
}

// Shown is what may be shown of a location of any scheme as somebody typed it, before or after it was
// refused: without the query, and without a user, password or keys before an "@", also where these
// make it no URL, such as a key with a slash. The container that Hadoop's Azure addresses have there
// stays. Paths stay as they are.
func Shown(location string) string {
	shown, _, _ := strings.Cut(strings.TrimSpace(location), "?")
	scheme, rest, ok := strings.Cut(shown, ":")
	if !ok || len(scheme) < 2 || strings.ContainsAny(scheme, "/\\@ ") {
		return shown
	}
	after := strings.TrimLeft(rest, "/")
	head := scheme + ":" + rest[:len(rest)-len(after)]
	web, hadoop := false, false
	switch strings.ToLower(scheme) {
	case "http", "https", "signer+http", "signer+https":
		web = true
	case "abfs", "abfss", "wasb", "wasbs":
		hadoop = true
	case "s3", "s3a", "s3n", "gs", "gcs":
	case "file":
		return shown
	default:
		if !strings.HasPrefix(rest, "/") { // a name with a colon
			return shown
		}
	}
	end := strings.IndexAny(after, "/#")
	if end < 0 {
		end = len(after)
	}
	host, path := after[:end], after[end:]
	if hadoop {
		if container, account, ok := strings.Cut(host, "@"); ok && !strings.ContainsAny(container, ":%") && !strings.ContainsAny(account, "@%") {
			return shown
		}
	}
	i := strings.LastIndexByte(host, '@')
	host = host[i+1:]
	if odd(host, web || hadoop) {
		// A secret with a slash: what is before a later "@" belongs to it.
		host = "…"
		if j := strings.LastIndexByte(path, '@'); j >= 0 {
			return head + path[j+1:]
		}
	}
	return head + host + path
}

// odd reports whether what stands for a host or a bucket is neither: a bucket has no colon, and that
// of a host comes before a port.
func odd(host string, ports bool) bool {
	if strings.Contains(host, "%") {
		return true
	}
	if !ports {
		return strings.Contains(host, ":")
	}
	if strings.HasPrefix(host, "[") {
		return false
	}
	_, port, _ := strings.Cut(host, ":")
	return strings.Trim(port, "0123456789") != ""
}

// HoldsUser reports whether a location names a user, a password or keys, which [Shown] takes off.
func HoldsUser(location string) bool {
	plain, _, _ := strings.Cut(strings.TrimSpace(location), "?")
	return Shown(location) != plain
}

// Request is the address for requests.
func (a Address) Request() string { return a.full.String() }

// Name is the plain last element of the path, "" if there is none.
func (a Address) Name() string {
	p := a.full.Path
	return p[strings.LastIndexByte(p, '/')+1:]
}

// IsFolder reports whether the path is empty or ends in a slash.
func (a Address) IsFolder() bool { return a.Name() == "" }

// Parent is the address of the folder that holds this one; ok is false for the root of a host.
func (a Address) Parent() (up Address, ok bool) {
	p := strings.TrimSuffix(a.full.EscapedPath(), "/")
	i := strings.LastIndexByte(p, '/')
	if i < 0 {
		return Address{}, false
	}
	u := *a.full
	var err error
	if u.Path, err = url.PathUnescape(p[:i+1]); err != nil {
		return Address{}, false
	}
	u.RawPath = p[:i+1]
	return Address{&u}, true
}

// Child is the address of a path below, with the same query. A folder's address ends
// in a slash.
func (a Address) Child(path string, folder bool) string {
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(a.full.EscapedPath(), "/"))
	if path != "" {
		for _, seg := range strings.Split(path, "/") {
			b.WriteByte('/')
			escape(&b, seg)
		}
	}
	if folder {
		b.WriteByte('/')
	}
	u := *a.full
	u.Path, u.RawPath = "", ""
	u.RawQuery, u.ForceQuery = "", false
	s := u.String() + b.String()
	if a.full.RawQuery != "" {
		s += "?" + a.full.RawQuery
	}
	return s
}

// escape percent-encodes all but the unreserved characters of RFC 3986, which every
// server decodes alike.
func escape(b *strings.Builder, s string) {
	const hex = "0123456789ABCDEF"
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.', c == '~':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
}

// redacted is err without the secrets of a URL in its text; the chain stays.
func redacted(err error, rawURL string) error {
	u, perr := url.Parse(rawURL)
	if err == nil || perr != nil {
		return err
	}
	s := err.Error()
	out := s
	for _, secret := range []string{rawURL, u.RawQuery, u.Query().Encode()} {
		if len(secret) > 3 {
			out = strings.ReplaceAll(out, secret, "…")
		}
	}
	if u.User != nil {
		if p, ok := u.User.Password(); ok && p != "" {
			out = strings.ReplaceAll(out, p, "…")
		}
	}
	if out == s {
		return err
	}
	return errors.New(out)
}
