// Package s3 reads a table in a bucket of S3 or of a store that speaks its language: without keys
// if the bucket is public, or with keys that sign the query of each request. Nothing is sent in
// headers that makes a browser ask for permission.
package s3

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"hudiscope/core/storage"
	"hudiscope/fsadapter/httprange"
	"hudiscope/fsadapter/httprange/listing"
	"hudiscope/fsadapter/objectlist"
)

// The styles of addresses.
const (
	PathStyle    = "path"    // https://endpoint/bucket/key
	VirtualStyle = "virtual" // https://bucket.endpoint/key
)

// Config names a place in a bucket and the way to it.
type Config struct {
	Bucket string
	// Prefix is the base of the table, plain; slashes at its ends do not count.
	Prefix string
	// Endpoint is the http or https URL of the store, without the bucket; a bare host means https.
	// Default: Amazon's of the region.
	Endpoint string
	// Region is that of the bucket. Default us-east-1, and if the store then names another, that.
	Region string
	// Style is PathStyle or VirtualStyle. Default: virtual at Amazon for buckets without a dot in
	// their name (its certificates do not fit those with one), else path.
	Style string
	// RequesterPays lets the owner of the keys pay for the requests, which such buckets demand.
	RequesterPays bool
	// Keys sign the requests; nil for a public bucket.
	Keys *Keys
	// Valid is how long a signature is valid. Default 15 minutes. Every request has a new one.
	Valid time.Duration

	HTTP httprange.Options
	List objectlist.Options
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Settings are the parts of a Config that are not the place.
type Settings struct {
	Endpoint, Region, Style string
	RequesterPays           bool
	Keys                    *Keys
}

// ParseLocation reads "s3://bucket/prefix", also with the schemes s3a and s3n of Hadoop. The prefix
// is plain, not URL-encoded. After "?" the settings endpoint, region, style and requester_pays may
// follow, URL-encoded, and take precedence over those given; keys may not.
func ParseLocation(location string, set Settings) (Config, error) {
	shown, query, _ := strings.Cut(location, "?")
	refuse := func(why string) (Config, error) {
		return Config{}, &storage.Fault{Op: "open", Location: httprange.Shown(location), Kind: storage.Refused, Err: errors.New(why),
			Try: "Give s3://bucket/prefix, with settings behind it such as ?endpoint=https://host&region=eu-west-1&style=path&requester_pays=true."}
	}
	scheme, rest, ok := strings.Cut(shown, "://")
	switch strings.ToLower(scheme) {
	case "s3", "s3a", "s3n":
	default:
		ok = false
	}
	if !ok {
		return refuse("the address does not begin with s3://")
	}
	if httprange.HoldsUser(location) {
		return refuse("the address holds a user, a password or keys; they are never a part of it")
	}
	bucket, prefix, _ := strings.Cut(rest, "/")
	if query != "" {
		v, err := url.ParseQuery(query)
		if err != nil {
			return refuse("the settings behind ? are not URL-encoded")
		}
		for name, values := range v {
			val := values[len(values)-1]
			switch name {
			case "endpoint":
				set.Endpoint = val
			case "region":
				set.Region = val
			case "style":
				set.Style = val
			case "requester_pays":
				if set.RequesterPays, err = strconv.ParseBool(val); err != nil {
					return refuse("requester_pays is neither true nor false")
				}
			default: // whose name may be a part of a secret
				return refuse("there is a setting behind ? that does not exist; keys are never a part of the address")
			}
		}
	}
	return Config{Bucket: bucket, Prefix: strings.Trim(prefix, "/"), Endpoint: set.Endpoint, Region: set.Region, Style: set.Style,
		RequesterPays: set.RequesterPays, Keys: set.Keys}, nil
}

// Source is a prefix of a bucket as a storage.Source.
type Source struct {
	*objectlist.Source
	st *store
}

// New returns the Source of a Config. It sends nothing.
func New(c Config) (*Source, error) {
	st := &store{bucket: c.Bucket, region: c.Region, pays: c.RequesterPays, valid: c.Valid, now: c.Now, given: c.Region != ""}
	prefix := strings.Trim(c.Prefix, "/")
	refuse := func(try, format string, args ...any) (*Source, error) {
		return nil, &storage.Fault{Op: "open", Location: httprange.Shown(st.Location(prefix)), Kind: storage.Refused, Try: try, Err: fmt.Errorf(format, args...)}
	}
	if c.Bucket == "" || strings.ContainsAny(c.Bucket, "/?#@:\\% ") {
		return refuse("Give s3://bucket/prefix.", "the name of the bucket is none")
	}
	if st.region == "" {
		st.region = "us-east-1"
	}
	if strings.ContainsAny(st.region, "/?#@:\\%. ") {
		return refuse("Give a region such as eu-west-1.", "%q is not the name of a region", st.region)
	}
	if st.valid <= 0 {
		st.valid = 15 * time.Minute
	}
	if st.now == nil {
		st.now = time.Now
	}
	if c.Endpoint != "" {
		e := c.Endpoint
		if !strings.Contains(e, "://") {
			e = "https://" + e
		}
		u, err := url.Parse(e)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return refuse("Give an endpoint such as https://s3.example.com.", "the endpoint is no plain http or https URL")
		}
		st.scheme, st.host = u.Scheme, strings.ToLower(u.Host)
		// What a client sends as Host has no default port.
		if p := u.Port(); p == "443" && u.Scheme == "https" || p == "80" && u.Scheme == "http" {
			st.host = st.host[:strings.LastIndexByte(st.host, ':')]
		}
		st.under = strings.TrimSuffix(u.EscapedPath(), "/")
	}
	switch c.Style {
	case "":
		st.virtual = st.host == "" && !strings.Contains(c.Bucket, ".")
	case PathStyle, VirtualStyle:
		st.virtual = c.Style == VirtualStyle
	default:
		return refuse("Give path or virtual.", "%q is not a style of addresses", c.Style)
	}
	s := &Source{st: st}
	if err := s.SetKeys(c.Keys); err != nil {
		return nil, err
	}
	st.client = httprange.NewClient(c.HTTP)
	var err error
	s.Source, err = objectlist.New(st, st.client, prefix, c.List)
	return s, err
}

// SetKeys replaces the keys, such as temporary ones that have expired; nil for none. Requests from
// then on are signed with them.
func (s *Source) SetKeys(k *Keys) error {
	if k != nil && (k.AccessKey == "" || k.Secret == "") {
		return &storage.Fault{Op: "open", Location: s.st.Location(""), Kind: storage.Refused, Err: errors.New("an access key needs its secret, and a secret its access key"),
			Try: "Give both (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), or none for a public bucket."}
	}
	if k != nil {
		c := Keys{AccessKey: strings.TrimSpace(k.AccessKey), Secret: strings.TrimSpace(k.Secret), Token: strings.TrimSpace(k.Token)}
		k = &c
	}
	s.st.mu.Lock()
	defer s.st.mu.Unlock()
	s.st.keys = k
	return nil
}

// Presign returns a URL by which whoever has it can read a file, for as long as valid (at most 7
// days, and at most as long as temporary keys live). Without keys it is the plain URL.
func (s *Source) Presign(key string, valid time.Duration) string {
	return s.st.request("GET", s.st.path(key), nil, valid)
}

type store struct {
	bucket, scheme, host, under string // host is "" at Amazon
	virtual, pays               bool
	given                       bool // the region was
	valid                       time.Duration
	now                         func() time.Time
	client                      *httprange.Client

	mu     sync.Mutex
	keys   *Keys
	region string
	skew   time.Duration // the store's clock less this one
}

// Location is "s3://bucket/prefix".
func (s *store) Location(prefix string) string {
	return strings.TrimSuffix("s3://"+s.bucket+"/"+prefix, "/")
}

// path is the escaped path of a key; each element is escaped by itself.
func (s *store) path(key string) string {
	p := s.under
	if !s.virtual {
		p += "/" + httprange.Escape(s.bucket, false)
	}
	if key != "" {
		return p + "/" + httprange.Escape(key, true)
	}
	if p == "" {
		return "/"
	}
	return p
}

// request is the URL of a request, signed if there are keys.
func (s *store) request(method, path string, ps []param, valid time.Duration) string {
	s.mu.Lock()
	keys, region, now := s.keys, s.region, s.now().Add(s.skew)
	s.mu.Unlock()
	scheme, host := s.scheme, s.host
	if host == "" {
		scheme, host = "https", "s3."+region+".amazonaws.com"
		if strings.HasPrefix(region, "cn-") {
			host += ".cn"
		}
	}
	if s.virtual {
		host = s.bucket + "." + host
	}
	if s.pays {
		ps = append(ps, param{"x-amz-request-payer", "requester"})
	}
	query := ""
	if keys != nil {
		query = keys.sign(method, host, path, ps, region, now, valid)
	} else {
		query = encode(ps)
	}
	if query != "" {
		query = "?" + query
	}
	return scheme + "://" + host + path + query
}

func (s *store) target(path string, ps []param) *httprange.Target {
	return &httprange.Target{
		Request: func(_ context.Context, method string) (*httprange.Request, error) {
			return &httprange.Request{URL: s.request(method, path, ps, s.valid)}, nil
		},
		Explain: s.explain,
	}
}

// Target tells how a key is read.
func (s *store) Target(key string) *httprange.Target { return s.target(s.path(key), nil) }

// Page asks for one page of keys (ListObjectsV2).
func (s *store) Page(ctx context.Context, q objectlist.Query) (objectlist.Page, error) {
	// Keys may hold characters that XML can't; stores that know encoding-type escape them.
	ps := []param{{"list-type", "2"}, {"encoding-type", "url"}}
	for _, p := range []param{{"prefix", q.Prefix}, {"delimiter", q.Delimiter}, {"continuation-token", q.Next}} {
		if p.value != "" {
			ps = append(ps, p)
		}
	}
	b, err := s.client.Fetch(ctx, s.target(s.path(""), ps), "GET", "list", q.Dir, q.Location)
	if err != nil {
		return objectlist.Page{}, err
	}
	p, err := ParsePage(b)
	if err != nil {
		return p, &storage.Fault{Op: "list", Path: q.Dir, Location: q.Location, Status: 200, Kind: storage.NoListing, Err: err,
			Try: "Check the endpoint and the style of addresses: the answer is not that of an S3 store."}
	}
	return p, nil
}

// ParsePage reads an answer of ListObjectsV2. Keys are URL-decoded only if the answer says that
// they are encoded.
func ParsePage(b []byte) (objectlist.Page, error) {
	var p objectlist.Page
	root, err := objectlist.ParseXML(b)
	if err != nil {
		return p, err
	}
	if root.Name != "ListBucketResult" {
		return p, fmt.Errorf("it has the root <%.40s>, not <ListBucketResult>", root.Name)
	}
	encoded := root.Value("EncodingType") == "url"
	plain := func(s string) (string, error) {
		if !encoded {
			return s, nil
		}
		out, err := url.QueryUnescape(s) // a space is "+" here, a plus "%2B"
		if err != nil {
			return "", errors.New("a key is not URL-encoded although the answer says so")
		}
		return out, nil
	}
	for _, e := range root.Children {
		switch e.Name {
		case "Contents":
			k := objectlist.Key{Size: storage.SizeUnknown, ETag: listing.CleanETag(e.Value("ETag"))}
			if k.Name, err = plain(e.Value("Key")); err != nil {
				return p, err
			}
			if k.Name == "" {
				return p, errors.New("an entry has no key")
			}
			if n, err := strconv.ParseInt(strings.TrimSpace(e.Value("Size")), 10, 64); err == nil && n >= 0 {
				k.Size = n
			}
			k.ModTime, _ = time.Parse(time.RFC3339, strings.TrimSpace(e.Value("LastModified")))
			p.Keys = append(p.Keys, k)
		case "CommonPrefixes":
			for _, c := range e.Children {
				if c.Name == "Prefix" {
					pre, err := plain(c.Text)
					if err != nil {
						return p, err
					}
					p.Prefixes = append(p.Prefixes, pre)
				}
			}
		}
	}
	if strings.TrimSpace(root.Value("IsTruncated")) == "true" {
		if p.Next = root.Value("NextContinuationToken"); p.Next == "" {
			return p, errors.New("the list goes on but names no continuation token")
		}
	}
	return p, nil
}
