// Package r2 reads a table in a bucket that is bound to an edge worker (R2). Its requests have
// addresses of the form r2://BINDING/key, which only Fetcher can send: nothing goes over a network
// that a user could name.
package r2

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"hudiscope/core/storage"
	"hudiscope/fsadapter/httprange"
	"hudiscope/fsadapter/httprange/listing"
	"hudiscope/fsadapter/objectlist"
)

const scheme = "r2://"

// Places are the buckets, or prefixes of them, that may be read. The zero value is none.
type Places []place

type place struct{ binding, prefix string }

// ParsePlaces reads names of bindings separated by spaces or commas, such as "LAKE OTHER/tables".
// What follows a slash is a prefix, and counts as a folder.
func ParsePlaces(text string) (Places, error) {
	var out Places
	for _, s := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' }) {
		name, prefix, _ := strings.Cut(s, "/")
		if !isBinding(name) {
			return nil, fmt.Errorf("%q is not the name of a binding", name)
		}
		out = append(out, place{name, strings.Trim(prefix, "/")})
	}
	return out, nil
}

func isBinding(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_'
	}) < 0
}

// Contains reports whether a location lies in one of the places.
func (p Places) Contains(location string) bool {
	name, prefix, err := ParseLocation(location)
	return err == nil && p.has(name, prefix)
}

// Sends reports whether the address of a request asks for something in one of the places.
func (p Places) Sends(address string) bool {
	name, key, list, err := split(address)
	if err != nil {
		return false
	}
	if list != nil {
		key = strings.TrimSuffix(list.Get("prefix"), "/")
	}
	return p.has(name, key)
}

func (p Places) has(name, path string) bool {
	return slices.ContainsFunc(p, func(a place) bool {
		return a.binding == name && (a.prefix == "" || path == a.prefix || strings.HasPrefix(path, a.prefix+"/"))
	})
}

// IsLocation reports whether a location is one of this package.
func IsLocation(location string) bool { return strings.HasPrefix(location, scheme) }

// ParseLocation reads "r2://BINDING/prefix". The prefix is plain, not URL-encoded.
func ParseLocation(location string) (binding, prefix string, err error) {
	rest, ok := strings.CutPrefix(location, scheme)
	binding, prefix, _ = strings.Cut(rest, "/")
	if !ok || !isBinding(binding) {
		return "", "", &storage.Fault{Op: "open", Location: scheme, Kind: storage.Refused, Err: errors.New("no bucket is named"), Try: "Give r2://BINDING/prefix."}
	}
	return binding, strings.Trim(prefix, "/"), nil
}

// New returns the Source of a prefix of a bucket. o.Fetcher must lead to a Fetcher of this package.
func New(binding, prefix string, o httprange.Options, list objectlist.Options) (storage.Source, error) {
	st := &store{binding: binding, client: httprange.NewClient(o)}
	return objectlist.New(st, st.client, prefix, list)
}

type store struct {
	binding string
	client  *httprange.Client
}

func (s *store) Location(prefix string) string {
	return strings.TrimSuffix(scheme+s.binding+"/"+prefix, "/")
}

func (s *store) Target(key string) *httprange.Target {
	return &httprange.Target{Request: func(context.Context, string) (*httprange.Request, error) {
		return &httprange.Request{URL: scheme + s.binding + "/" + httprange.Escape(key, true)}, nil
	}}
}

// split takes the address of a request apart: that of a key, or of a listing.
func split(address string) (binding, key string, list url.Values, err error) {
	rest, ok := strings.CutPrefix(address, scheme)
	binding, rest, slash := strings.Cut(rest, "/")
	if ok && !slash {
		var query string
		if binding, query, ok = strings.Cut(binding, "?"); ok {
			list, err = url.ParseQuery(query)
		}
	} else if ok {
		key, err = url.PathUnescape(rest)
	}
	if !ok || !isBinding(binding) || err != nil {
		return "", "", nil, errors.New("it is not the address of an object in a bound bucket")
	}
	return binding, key, list, nil
}

// page is a page of a listing as Fetcher answers it.
type page struct {
	Objects  []object `json:"objects"`
	Prefixes []string `json:"prefixes"`
	Cursor   string   `json:"cursor"`
}

type object struct {
	Key  string `json:"key"`
	Size int64  `json:"size"`
	ETag string `json:"etag"`
	// Uploaded is in milliseconds since 1970.
	Uploaded int64 `json:"uploaded"`
}

func (s *store) Page(ctx context.Context, q objectlist.Query) (objectlist.Page, error) {
	v := url.Values{"prefix": {q.Prefix}}
	if q.Delimiter != "" {
		v.Set("delimiter", q.Delimiter)
	}
	if q.Next != "" {
		v.Set("cursor", q.Next)
	}
	address := scheme + s.binding + "?" + v.Encode()
	t := &httprange.Target{Request: func(context.Context, string) (*httprange.Request, error) {
		return &httprange.Request{URL: address}, nil
	}}
	b, err := s.client.Fetch(ctx, t, "GET", "list", q.Dir, q.Location)
	if err != nil {
		return objectlist.Page{}, err
	}
	var p page
	if err := json.Unmarshal(b, &p); err != nil {
		return objectlist.Page{}, &storage.Fault{Op: "list", Path: q.Dir, Location: q.Location, Kind: storage.Failed, Err: err}
	}
	out := objectlist.Page{Prefixes: p.Prefixes, Next: p.Cursor}
	for _, o := range p.Objects {
		out.Keys = append(out.Keys, objectlist.Key{Name: o.Key, Size: o.Size, ETag: listing.CleanETag(o.ETag), ModTime: time.UnixMilli(o.Uploaded).UTC()})
	}
	return out, nil
}
