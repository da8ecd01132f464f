// Package gcs reads a table in a bucket of Google Cloud Storage through its JSON interface: a public
// bucket, or a private one with the user's OAuth token.
package gcs

import (
	"context"
	"encoding/json"
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

// Config names a place in a bucket and the way to it.
type Config struct {
	Bucket string
	// Prefix is the base of the table, plain; slashes at its ends do not count.
	Prefix string
	// Endpoint is the URL of the service; default https://storage.googleapis.com.
	Endpoint string
	// Token is an OAuth access token (gcloud auth print-access-token); "" for a public bucket. It
	// stays in memory. It is sent in a header, for which a browser asks for permission.
	Token string
	// UserProject is billed for the requests where requesters pay; it needs a token.
	UserProject string

	HTTP httprange.Options
	List objectlist.Options
}

// ParseLocation reads "gs://bucket/prefix", whose prefix is plain.
func ParseLocation(location string) (Config, error) {
	shown, query, _ := strings.Cut(location, "?")
	scheme, rest, _ := strings.Cut(shown, "://")
	bucket, prefix, _ := strings.Cut(rest, "/")
	if httprange.HoldsUser(location) {
		return Config{}, &storage.Fault{Op: "open", Location: httprange.Shown(location), Kind: storage.Refused,
			Err: errors.New("the address holds a user, a password or keys; they are never a part of it"), Try: "Give gs://bucket/prefix."}
	}
	if s := strings.ToLower(scheme); s != "gs" && s != "gcs" || query != "" {
		return Config{}, &storage.Fault{Op: "open", Location: shown, Kind: storage.Refused, Err: errors.New("the address is not gs://bucket/prefix"), Try: "Give gs://bucket/prefix."}
	}
	return Config{Bucket: bucket, Prefix: strings.Trim(prefix, "/")}, nil
}

// Source is a prefix of a bucket as a storage.Source.
type Source struct {
	*objectlist.Source
	st *store
}

// New returns the Source of a Config. It sends nothing.
func New(c Config) (*Source, error) {
	st := &store{bucket: c.Bucket, project: c.UserProject}
	prefix := strings.Trim(c.Prefix, "/")
	refuse := func(why, try string) (*Source, error) {
		return nil, &storage.Fault{Op: "open", Location: httprange.Shown(st.Location(prefix)), Kind: storage.Refused, Err: errors.New(why), Try: try}
	}
	if c.Bucket == "" || strings.ContainsAny(c.Bucket, "/?#@:\\% ") {
		return refuse("no bucket is named", "Give gs://bucket/prefix.")
	}
	if c.Endpoint == "" {
		c.Endpoint = "https://storage.googleapis.com"
	}
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return refuse("the endpoint is no plain http or https URL", "Leave the endpoint out, or give one such as http://localhost:4443.")
	}
	st.base = u.Scheme + "://" + u.Host + strings.TrimSuffix(u.EscapedPath(), "/") + "/storage/v1/b/" + httprange.Escape(c.Bucket, false) + "/o"
	st.client = httprange.NewClient(c.HTTP)
	s := &Source{st: st}
	s.SetToken(c.Token)
	c.List.LooseETags = true // a read's ETag need not be that of the listing
	s.Source, err = objectlist.New(st, st.client, prefix, c.List)
	return s, err
}

// SetToken replaces the OAuth token, such as one that has expired; "" for none.
func (s *Source) SetToken(token string) {
	s.st.mu.Lock()
	defer s.st.mu.Unlock()
	s.st.token = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(token), "Bearer "))
}

type store struct {
	base, bucket, project string
	client                *httprange.Client

	mu    sync.Mutex
	token string
}

// Location is "gs://bucket/prefix".
func (s *store) Location(prefix string) string {
	return strings.TrimSuffix("gs://"+s.bucket+"/"+prefix, "/")
}

func (s *store) target(u string) *httprange.Target {
	if s.project != "" {
		u += "&userProject=" + httprange.Escape(s.project, false)
	}
	return &httprange.Target{
		Request: func(context.Context, string) (*httprange.Request, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			r := &httprange.Request{URL: u}
			if s.token != "" {
				r.Authorization = "Bearer " + s.token
			}
			return r, nil
		},
		Explain: s.explain,
	}
}

// Target tells how an object is read.
func (s *store) Target(key string) *httprange.Target {
	return s.target(s.base + "/" + httprange.Escape(key, false) + "?alt=media")
}

// Page asks for one page of objects, with the fields that are needed.
func (s *store) Page(ctx context.Context, q objectlist.Query) (objectlist.Page, error) {
	u := s.base + "?maxResults=1000&fields=" + httprange.Escape("nextPageToken,prefixes,items(name,size,updated,etag)", false)
	for _, p := range [][2]string{{"prefix", q.Prefix}, {"delimiter", q.Delimiter}, {"pageToken", q.Next}} {
		if p[1] != "" {
			u += "&" + p[0] + "=" + httprange.Escape(p[1], false)
		}
	}
	b, err := s.client.Fetch(ctx, s.target(u), "GET", "list", q.Dir, q.Location)
	if err != nil {
		return objectlist.Page{}, err
	}
	p, err := ParsePage(b)
	if err != nil {
		return p, &storage.Fault{Op: "list", Path: q.Dir, Location: q.Location, Status: 200, Kind: storage.NoListing, Err: err,
			Try: "Check the endpoint: the answer is not that of Google Cloud Storage."}
	}
	return p, nil
}

// ParsePage reads an answer of Objects: list.
func ParsePage(b []byte) (objectlist.Page, error) {
	var doc struct {
		Items []struct {
			Name, Size, ETag string
			Updated          string
		}
		Prefixes      []string
		NextPageToken string
	}
	var p objectlist.Page
	if err := json.Unmarshal(b, &doc); err != nil {
		return p, errors.New("it is no list in JSON")
	}
	for _, it := range doc.Items {
		if it.Name == "" {
			return p, errors.New("an entry has no name")
		}
		k := objectlist.Key{Name: it.Name, Size: storage.SizeUnknown, ETag: listing.CleanETag(it.ETag)}
		if n, err := strconv.ParseInt(it.Size, 10, 64); err == nil && n >= 0 {
			k.Size = n
		}
		k.ModTime, _ = time.Parse(time.RFC3339, it.Updated)
		p.Keys = append(p.Keys, k)
	}
	p.Prefixes, p.Next = doc.Prefixes, doc.NextPageToken
	return p, nil
}

// explain makes a Fault of the JSON error, or of the plain text of media reads.
func (s *store) explain(f *storage.Fault, body []byte, resp *httprange.Response) bool {
	s.mu.Lock()
	token := s.token
	s.mu.Unlock()
	var doc struct {
		Error struct {
			Message string
			Errors  []struct{ Reason string }
		}
	}
	_ = json.Unmarshal(body, &doc) // media reads answer with text
	if m := doc.Error.Message; m != "" {
		if token != "" {
			m = strings.ReplaceAll(m, token, "…")
		}
		m = strings.Join(strings.Fields(m), " ")
		f.Err = fmt.Errorf("%.300s", m)
	}
	switch f.Status {
	case 401:
		if token != "" {
			f.Kind, f.Try = storage.Expired, "The OAuth token is not valid or has expired (they live an hour): give a new one, as from gcloud auth print-access-token."
			break
		}
		f.Kind, f.Try = storage.Forbidden, "The bucket is not public: give an OAuth token, or grant roles/storage.objectViewer on it to allUsers."
	case 403:
		f.Kind, f.Try = storage.Forbidden, "The account of the token needs storage.objects.list and storage.objects.get on the bucket (roles/storage.objectViewer)."
		if token == "" {
			f.Try = "The bucket is not public: give an OAuth token, or grant roles/storage.objectViewer on it to allUsers."
		}
	case 400:
		if strings.Contains(doc.Error.Message, "requester pays") {
			f.Kind, f.Try = storage.Forbidden, "Requesters pay for this bucket: give a project to bill, and a token."
		}
	case 404:
		f.Kind = storage.NotFound
		if f.Op == "list" || strings.Contains(doc.Error.Message, "bucket does not exist") {
			// Not NotFound: a file that is absent is passed over by many readers, and this is true of all files.
			f.Kind, f.Try = storage.Failed, "There is no such bucket there: check its name and the endpoint."
		}
	}
	return false
}
