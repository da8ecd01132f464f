// Package azure reads a table in a container of Azure Blob Storage: a public one, or a private one
// with a shared access signature (SAS), one string that serves listings and reads alike.
package azure

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"hudiscope/core/storage"
	"hudiscope/fsadapter/httprange"
	"hudiscope/fsadapter/httprange/listing"
	"hudiscope/fsadapter/objectlist"
)

// Config names a place in a container and the way to it.
type Config struct {
	// Endpoint is the http or https URL of the account's blob service, such as
	// https://ACCOUNT.blob.core.windows.net.
	Endpoint  string
	Container string
	// Prefix is the base of the table, plain; slashes at its ends do not count.
	Prefix string
	// SAS is the shared access signature, with or without "?"; "" for a public container. It needs
	// the permissions to read and to list (sp=rl), and stays in memory.
	SAS string

	HTTP httprange.Options
	List objectlist.Options
}

// hosts are the ends of the blob services' names.
var hosts = []string{".blob.core.windows.net", ".blob.core.chinacloudapi.cn", ".blob.core.usgovcloudapi.net", ".blob.storage.azure.net"}

// IsURL reports whether a URL is that of a container, or of something in it, at Azure.
func IsURL(location string) bool {
	u, err := url.Parse(location)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return false
	}
	return isHost(u.Hostname()) && strings.Trim(u.Path, "/") != ""
}

func isHost(host string) bool {
	for _, h := range hosts {
		if strings.HasSuffix(strings.ToLower(host), h) {
			return true
		}
	}
	return false
}

// ParseLocation reads "https://ACCOUNT.blob.core.windows.net/container/prefix?SAS", and Hadoop's
// "abfss://container@ACCOUNT.dfs.core.windows.net/prefix" and "wasbs://…", whose prefix is plain.
// A SAS in the location takes precedence over the one given. endpoint, if not "", replaces the account's host.
func ParseLocation(location, endpoint, sas string) (Config, error) {
	shown, query, _ := strings.Cut(location, "?")
	refuse := func(why string) (Config, error) {
		return Config{}, &storage.Fault{Op: "open", Location: httprange.Shown(location), Kind: storage.Refused, Err: errors.New(why),
			Try: "Give https://ACCOUNT.blob.core.windows.net/container/prefix or abfss://container@ACCOUNT.dfs.core.windows.net/prefix."}
	}
	if httprange.HoldsUser(location) {
		return refuse("the address holds a user, a password or keys; only a shared access signature may follow it")
	}
	c := Config{Endpoint: endpoint, SAS: sas}
	if query != "" {
		query, _, _ = strings.Cut(query, "#")
		c.SAS = query
	}
	scheme, rest, _ := strings.Cut(shown, "://")
	host, path, _ := strings.Cut(rest, "/")
	switch scheme = strings.ToLower(scheme); scheme {
	case "http", "https":
		plain, err := url.PathUnescape(path)
		if err != nil {
			return refuse("the address is not URL-encoded")
		}
		c.Container, c.Prefix, _ = strings.Cut(plain, "/")
	case "abfs", "abfss", "wasb", "wasbs":
		container, account, ok := strings.Cut(host, "@")
		if !ok {
			return refuse("the address names no account")
		}
		c.Container, c.Prefix = container, path
		host = strings.Replace(account, ".dfs.", ".blob.", 1)
		scheme = "https"
	default:
		return refuse("the address is none of Azure")
	}
	if c.Endpoint == "" {
		if host == "" {
			return refuse("the address names no host")
		}
		c.Endpoint = scheme + "://" + host
	}
	c.Prefix = strings.Trim(c.Prefix, "/")
	return c, nil
}

// Source is a prefix of a container as a storage.Source.
type Source struct{ *objectlist.Source }

// New returns the Source of a Config. It sends nothing.
func New(c Config) (*Source, error) {
	st := &store{container: c.Container}
	refuse := func(why, try string) (*Source, error) {
		return nil, &storage.Fault{Op: "open", Location: httprange.Shown(c.Endpoint), Kind: storage.Refused, Err: errors.New(why), Try: try}
	}
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return refuse("the endpoint is no plain http or https URL", "Give an endpoint such as https://ACCOUNT.blob.core.windows.net.")
	}
	if c.Container == "" || strings.ContainsAny(c.Container, "/?#@:\\% ") {
		return refuse("no container is named", "Give https://ACCOUNT.blob.core.windows.net/container/prefix.")
	}
	st.base = u.Scheme + "://" + u.Host + strings.TrimSuffix(u.EscapedPath(), "/") + "/" + httprange.Escape(c.Container, false)
	st.sas = strings.TrimPrefix(strings.TrimSpace(c.SAS), "?")
	if st.sas != "" {
		var keep []string
		for _, p := range strings.Split(st.sas, "&") {
			switch name, value, _ := strings.Cut(p, "="); name {
			case "comp", "restype", "prefix", "delimiter", "marker", "":
				// what the adapter sets itself is none of the signature
			case "sig":
				p = "sig=" + strings.ReplaceAll(value, "+", "%2B") // base64, which people copy undone
				st.sig, _ = url.QueryUnescape(p[len("sig="):])
				fallthrough
			default:
				keep = append(keep, p)
			}
		}
		if st.sig == "" {
			return refuse("the shared access signature has no sig", "Copy the whole SAS token: it begins with sv= or sp= and has sig=.")
		}
		st.sas = strings.Join(keep, "&")
	}
	st.client = httprange.NewClient(c.HTTP)
	src, err := objectlist.New(st, st.client, strings.Trim(c.Prefix, "/"), c.List)
	if err != nil {
		return nil, err
	}
	return &Source{src}, nil
}

type store struct {
	base, container, sas, sig string
	client                    *httprange.Client
}

// Location is the URL of the prefix without the signature.
func (s *store) Location(prefix string) string {
	return strings.TrimSuffix(s.base+"/"+httprange.Escape(prefix, true), "/")
}

func (s *store) target(u string, params ...string) *httprange.Target {
	sep := "?"
	for _, p := range append(params, s.sas) {
		if p != "" {
			u += sep + p
			sep = "&"
		}
	}
	return &httprange.Target{
		Request: func(context.Context, string) (*httprange.Request, error) { return &httprange.Request{URL: u}, nil },
		Explain: s.explain,
	}
}

// Target tells how a blob is read.
func (s *store) Target(key string) *httprange.Target {
	return s.target(s.base + "/" + httprange.Escape(key, true))
}

// Page asks for one page of blobs (List Blobs).
func (s *store) Page(ctx context.Context, q objectlist.Query) (objectlist.Page, error) {
	params := []string{"restype=container", "comp=list"}
	for _, p := range [][2]string{{"prefix", q.Prefix}, {"delimiter", q.Delimiter}, {"marker", q.Next}} {
		if p[1] != "" {
			params = append(params, p[0]+"="+httprange.Escape(p[1], false))
		}
	}
	b, err := s.client.Fetch(ctx, s.target(s.base, params...), "GET", "list", q.Dir, q.Location)
	if err != nil {
		return objectlist.Page{}, err
	}
	p, err := ParsePage(b)
	if err != nil {
		return p, &storage.Fault{Op: "list", Path: q.Dir, Location: q.Location, Status: 200, Kind: storage.NoListing, Err: err,
			Try: "Check the address: the answer is not that of Azure's blob service."}
	}
	return p, nil
}

// ParsePage reads an answer of List Blobs.
func ParsePage(b []byte) (objectlist.Page, error) {
	var p objectlist.Page
	root, err := objectlist.ParseXML(b)
	if err != nil {
		return p, err
	}
	if root.Name != "EnumerationResults" {
		return p, fmt.Errorf("it has the root <%.40s>, not <EnumerationResults>", root.Name)
	}
	blobs := root.Child("Blobs")
	if blobs == nil {
		return p, errors.New("it has no <Blobs>")
	}
	for _, e := range blobs.Children {
		name, err := nameOf(e)
		if err != nil {
			return p, err
		}
		switch e.Name {
		case "BlobPrefix":
			p.Prefixes = append(p.Prefixes, name)
		case "Blob":
			props := e.Child("Properties")
			k := objectlist.Key{Name: name, Size: storage.SizeUnknown, ETag: listing.CleanETag(props.Value("Etag")),
				Folder: props.Value("ResourceType") == "directory"} // of a hierarchical namespace
			if n, err := strconv.ParseInt(strings.TrimSpace(props.Value("Content-Length")), 10, 64); err == nil && n >= 0 {
				k.Size = n
			}
			k.ModTime, _ = time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", strings.TrimSpace(props.Value("Last-Modified")))
			p.Keys = append(p.Keys, k)
		}
	}
	p.Next = root.Value("NextMarker")
	return p, nil
}

// nameOf is the name of a blob or prefix; one with characters that XML can't hold is encoded.
func nameOf(e *objectlist.Element) (string, error) {
	n := e.Child("Name")
	if n == nil || n.Text == "" {
		return "", errors.New("an entry has no name")
	}
	if strings.Contains(strings.ReplaceAll(n.Attrs, "'", `"`), `Encoded="true"`) {
		plain, err := url.PathUnescape(n.Text)
		if err != nil {
			return "", errors.New("a name is not URL-encoded although the answer says so")
		}
		return plain, nil
	}
	return n.Text, nil
}

// explain makes a Fault of Azure's XML error.
func (s *store) explain(f *storage.Fault, body []byte, resp *httprange.Response) bool {
	root, err := objectlist.ParseXML(body)
	if err != nil || root.Name != "Error" {
		root = &objectlist.Element{}
	}
	code := root.Value("Code")
	if code == "" {
		code = resp.Header("x-ms-error-code")
	}
	if code != "" {
		// Only the code: messages and details may repeat what was signed.
		f.Err = errors.New(s.clean(code))
	}
	switch code {
	case "ContainerNotFound", "ResourceNotFound":
		// Not NotFound: a file that is absent is passed over by many readers, and this is true of all files.
		f.Kind, f.Try = storage.Failed, "Check the account and the container. A container that is not public looks absent without a shared access signature."
	case "BlobNotFound":
		f.Kind = storage.NotFound
	case "PublicAccessNotPermitted", "NoAuthenticationInformation":
		f.Kind, f.Try = storage.Forbidden, "The account allows no public access: give a shared access signature with the permissions to read and list (sp=rl)."
	case "AuthenticationFailed":
		f.Kind, f.Try = storage.Forbidden, "Copy the whole shared access signature anew: it does not fit this container, or a character is missing."
		if d := root.Value("AuthenticationErrorDetail"); strings.Contains(d, "time frame") || strings.Contains(d, "xpired") {
			f.Kind, f.Try = storage.Expired, "The shared access signature has expired or is not valid yet: make a new one."
		}
	case "AuthorizationFailure", "AuthorizationSourceIPMismatch", "AuthorizationProtocolMismatch":
		f.Kind, f.Try = storage.Forbidden, "The account's network rules or the signature's limits (address, protocol) refuse this client."
	case "AuthorizationPermissionMismatch", "AuthorizationResourceTypeMismatch", "AuthorizationServiceMismatch":
		f.Kind, f.Try = storage.Forbidden, "The shared access signature must allow to read and to list (sp=rl) the container (sr=c)."
	}
	if f.Kind == storage.Forbidden && s.ended() {
		// The store does not always say so.
		f.Kind, f.Try = storage.Expired, "The shared access signature has expired: make a new one."
	}
	return false
}

// ended reports whether the signature tells an end that has passed.
func (s *store) ended() bool {
	q, err := url.ParseQuery(s.sas)
	if err != nil {
		return false
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z", time.DateOnly} {
		if end, err := time.Parse(layout, q.Get("se")); err == nil {
			return time.Now().After(end)
		}
	}
	return false
}

// clean is a code of the store, short and without the signature.
func (s *store) clean(text string) string {
	if s.sig != "" {
		text = strings.ReplaceAll(text, s.sig, "…")
		text = strings.ReplaceAll(text, httprange.Escape(s.sig, false), "…")
	}
	return text[:min(len(text), 100)]
}
