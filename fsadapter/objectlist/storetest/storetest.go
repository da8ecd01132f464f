//go:build !js

// Package storetest holds object stores in memory for tests of adapters. They answer as the real
// ones do whose answers are in testdata/listings/objectstores.zip, and they are strict: signatures
// are computed anew from the request as it arrived, and compared.
package storetest

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Common is what the stores share. Set fields before the first request, or with Set.
type Common struct {
	Bucket string
	// Files are the objects by key.
	Files map[string][]byte
	// PageSize is the number of names in a page; 0 means 1000.
	PageSize int
	// Hook may answer a request in the store's place; it then returns true.
	Hook func(w http.ResponseWriter, r *http.Request) bool

	mu       sync.Mutex
	requests []string
}

// Set changes the store while it serves.
func (c *Common) Set(fn func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fn()
}

// Requests returns what was asked, as "METHOD path?query", and forgets it.
func (c *Common) Requests() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.requests
	c.requests = nil
	return out
}

func (c *Common) enter(w http.ResponseWriter, r *http.Request) (done bool) {
	c.mu.Lock()
	c.requests = append(c.requests, r.Method+" "+r.URL.RequestURI())
	hook := c.Hook
	c.mu.Unlock()
	return hook != nil && hook(w, r)
}

// item is a key or a common prefix of a page.
type item struct {
	name   string
	prefix bool
}

// page lists like a store does: names in byte order, after is the last name of the page before.
func (c *Common) page(prefix, delimiter, after string) (items []item, next string) {
	seen := map[string]bool{}
	var all []item
	for k := range c.Files {
		rest, ok := strings.CutPrefix(k, prefix)
		if !ok {
			continue
		}
		it := item{name: k}
		if delimiter != "" {
			if i := strings.Index(rest, delimiter); i >= 0 {
				it = item{prefix + rest[:i+len(delimiter)], true}
			}
		}
		if !seen[it.name] {
			seen[it.name] = true
			all = append(all, it)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].name < all[j].name })
	size := c.PageSize
	if size == 0 {
		size = 1000
	}
	for _, it := range all {
		if it.name <= after {
			continue
		}
		if len(items) == size {
			return items, items[size-1].name
		}
		items = append(items, it)
	}
	return items, ""
}

// ETag is that of a content.
func ETag(b []byte) string {
	sum := md5.Sum(b)
	return hex.EncodeToString(sum[:])
}

func (c *Common) object(key string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, ok := c.Files[key]
	return b, ok
}

// content answers a GET as S3, Azure and GCS do: 416 for any range of an empty object.
func content(w http.ResponseWriter, r *http.Request, b []byte) {
	w.Header().Set("Content-Type", "application/octet-stream")
	if len(b) == 0 && r.Header.Get("Range") != "" {
		w.Header().Set("Content-Range", "bytes */0")
		w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		return
	}
	w.Header().Set("ETag", `"`+ETag(b)+`"`)
	http.ServeContent(w, r, "", Time, bytes.NewReader(b))
}

// Time is the modification time of all objects.
var Time = time.Date(2026, 3, 7, 16, 26, 11, 0, time.UTC)

// Serve starts a server and returns its URL.
func Serve(t testing.TB, h http.Handler) string {
	srv := httptest.NewServer(h)
	srv.Config.SetKeepAlivesEnabled(false)
	t.Cleanup(srv.Close)
	return srv.URL
}

// S3 is a bucket. Its address is in path style, or virtual if Host is set.
type S3 struct {
	Common
	// Host is the endpoint's name in virtual style: requests come to Bucket.Host.
	Host string
	// AccessKey, Secret and Token are demanded if AccessKey is set; else the bucket is public.
	AccessKey, Secret, Token string
	Region                   string
	// TokenExpired answers with ExpiredToken.
	TokenExpired bool
	RequestPayer bool
	// EncodeKeys honours encoding-type=url as Amazon does; else it is ignored.
	EncodeKeys bool
	// Now is the store's clock; default time.Now.
	Now func() time.Time
}

func (s *S3) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// Fail answers with an XML error as S3 does. fields are further elements.
func Fail(w http.ResponseWriter, status int, code, message string, fields ...string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>%s</Code><Message>%s</Message>%s<RequestId>4442587FB7D0A2F9</RequestId></Error>", code, message, strings.Join(fields, ""))
}

// ServeHTTP answers ListObjectsV2, GET and HEAD.
func (s *S3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.enter(w, r) {
		return
	}
	path := r.URL.EscapedPath()
	if s.Host == "" {
		rest, ok := strings.CutPrefix(path, "/"+s.Bucket)
		if !ok || rest != "" && rest[0] != '/' {
			Fail(w, 404, "NoSuchBucket", "The specified bucket does not exist")
			return
		}
		path = rest
	} else if r.Host != s.Bucket+"."+s.Host {
		Fail(w, 404, "NoSuchBucket", "The specified bucket does not exist")
		return
	}
	if s.AccessKey != "" && !s.verify(w, r) {
		return
	}
	q := r.URL.Query()
	if s.RequestPayer && q.Get("x-amz-request-payer") != "requester" {
		Fail(w, 403, "AccessDenied", "Access Denied")
		return
	}
	key, err := url.PathUnescape(strings.TrimPrefix(path, "/"))
	if err != nil {
		Fail(w, 400, "InvalidURI", "Couldn't parse the specified URI.")
		return
	}
	if key == "" {
		s.list(w, q)
		return
	}
	b, ok := s.object(key)
	if !ok {
		Fail(w, 404, "NoSuchKey", "The specified key does not exist.", "<Key>"+xmlText(key)+"</Key>")
		return
	}
	content(w, r, b)
}

func xmlText(s string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(s))
	return b.String()
}

func (s *S3) list(w http.ResponseWriter, q url.Values) {
	if q.Get("list-type") != "2" {
		Fail(w, 400, "InvalidArgument", "list-type must be 2")
		return
	}
	after := ""
	if t := q.Get("continuation-token"); t != "" {
		b, err := hex.DecodeString(strings.TrimSuffix(t, "+/=&"))
		if err != nil || !strings.HasSuffix(t, "+/=&") {
			Fail(w, 400, "InvalidArgument", "The continuation token provided is incorrect")
			return
		}
		after = string(b)
	}
	s.mu.Lock()
	items, next := s.page(q.Get("prefix"), q.Get("delimiter"), after)
	s.mu.Unlock()
	enc := xmlText
	if s.EncodeKeys && q.Get("encoding-type") == "url" {
		enc = func(k string) string { return xmlText(strings.ReplaceAll(url.QueryEscape(k), "%2F", "/")) }
	}
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>` + s.Bucket + `</Name>`)
	fmt.Fprintf(&b, "<Prefix>%s</Prefix><KeyCount>%d</KeyCount><IsTruncated>%v</IsTruncated>", enc(q.Get("prefix")), len(items), next != "")
	if next != "" {
		// Opaque, and with characters that a query must escape.
		b.WriteString("<NextContinuationToken>" + xmlText(hex.EncodeToString([]byte(next))+"+/=&") + "</NextContinuationToken>")
	}
	if s.EncodeKeys && q.Get("encoding-type") == "url" {
		b.WriteString("<EncodingType>url</EncodingType>")
	} else {
		b.WriteString("<EncodingType></EncodingType>")
	}
	for _, it := range items {
		if it.prefix {
			b.WriteString("<CommonPrefixes><Prefix>" + enc(it.name) + "</Prefix></CommonPrefixes>")
			continue
		}
		data, _ := s.object(it.name)
		fmt.Fprintf(&b, "<Contents><Key>%s</Key><LastModified>%s</LastModified><ETag>&quot;%s&quot;</ETag><Size>%d</Size><StorageClass>STANDARD</StorageClass></Contents>",
			enc(it.name), Time.Format("2006-01-02T15:04:05.000Z"), ETag(data), len(data))
	}
	b.WriteString("</ListBucketResult>")
	w.Header().Set("Content-Type", "application/xml")
	w.Write([]byte(b.String()))
}

// verify checks the signature in the query as the store's side does: from the raw request.
func (s *S3) verify(w http.ResponseWriter, r *http.Request) bool {
	deny := func(code, msg string, fields ...string) bool {
		status := 403
		if code == "ExpiredToken" || code == "AuthorizationQueryParametersError" || code == "InvalidToken" {
			status = 400
		}
		Fail(w, status, code, msg, fields...)
		return false
	}
	if r.Header.Get("Authorization") != "" {
		return deny("AccessDenied", "this store takes signatures in the query only")
	}
	q := r.URL.Query()
	if q.Get("X-Amz-Signature") == "" {
		return deny("AccessDenied", "Access Denied")
	}
	cred := strings.Split(q.Get("X-Amz-Credential"), "/")
	if len(cred) != 5 || q.Get("X-Amz-Algorithm") != "AWS4-HMAC-SHA256" || q.Get("X-Amz-SignedHeaders") != "host" {
		return deny("AuthorizationQueryParametersError", "Error parsing the X-Amz-Credential parameter")
	}
	if cred[0] != s.AccessKey {
		return deny("InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.", "<AWSAccessKeyId>"+xmlText(cred[0])+"</AWSAccessKeyId>")
	}
	if cred[2] != s.Region {
		return deny("AuthorizationQueryParametersError", fmt.Sprintf("Error parsing the X-Amz-Credential parameter; the region '%s' is wrong; expecting '%s'", xmlText(cred[2]), s.Region), "<Region>"+s.Region+"</Region>")
	}
	if q.Get("X-Amz-Security-Token") != s.Token {
		return deny("InvalidToken", "The provided token is malformed or otherwise invalid.", "<Token-0>"+xmlText(q.Get("X-Amz-Security-Token"))+"</Token-0>")
	}
	// The canonical query is built from the raw one, so a wrong escaping by the client shows.
	var pairs []string
	for _, p := range strings.Split(r.URL.RawQuery, "&") {
		if !strings.HasPrefix(p, "X-Amz-Signature=") {
			pairs = append(pairs, p)
		}
	}
	slices.SortFunc(pairs, func(a, b string) int {
		an, _, _ := strings.Cut(a, "=")
		bn, _, _ := strings.Cut(b, "=")
		return strings.Compare(an, bn)
	})
	canonical := r.Method + "\n" + r.URL.EscapedPath() + "\n" + strings.Join(pairs, "&") + "\nhost:" + r.Host + "\n\nhost\nUNSIGNED-PAYLOAD"
	hash := sha256.Sum256([]byte(canonical))
	stringToSign := "AWS4-HMAC-SHA256\n" + q.Get("X-Amz-Date") + "\n" + strings.Join(cred[1:], "/") + "\n" + hex.EncodeToString(hash[:])
	k := []byte("AWS4" + s.Secret)
	for _, part := range cred[1:] {
		h := hmac.New(sha256.New, k)
		h.Write([]byte(part))
		k = h.Sum(nil)
	}
	h := hmac.New(sha256.New, k)
	h.Write([]byte(stringToSign))
	if want := hex.EncodeToString(h.Sum(nil)); want != q.Get("X-Amz-Signature") {
		return deny("SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided. Check your key and signing method.",
			"<SignatureProvided>"+q.Get("X-Amz-Signature")+"</SignatureProvided>", "<StringToSign>"+xmlText(stringToSign)+"</StringToSign>", "<CanonicalRequest>"+xmlText(canonical)+"</CanonicalRequest>")
	}
	at, err := time.Parse("20060102T150405Z", q.Get("X-Amz-Date"))
	valid, err2 := strconv.Atoi(q.Get("X-Amz-Expires"))
	if err != nil || err2 != nil || valid < 1 || valid > 604800 || !strings.HasPrefix(q.Get("X-Amz-Date"), cred[1]) {
		return deny("AuthorizationQueryParametersError", "X-Amz-Expires must be less than a week (in seconds)")
	}
	server := "<ServerTime>" + s.now().UTC().Format("2006-01-02T15:04:05Z") + "</ServerTime>"
	switch {
	case at.After(s.now().Add(15 * time.Minute)):
		return deny("RequestTimeTooSkewed", "The difference between the request time and the current time is too large.", server, "<MaxAllowedSkewMilliseconds>900000</MaxAllowedSkewMilliseconds>")
	case s.now().After(at.Add(time.Duration(valid) * time.Second)):
		return deny("AccessDenied", "Request has expired", server)
	case s.TokenExpired:
		return deny("ExpiredToken", "The provided token has expired.", "<Token-0>"+xmlText(q.Get("X-Amz-Security-Token"))+"</Token-0>")
	}
	return true
}

// Azure is a container at /account/Bucket, read with a shared access signature.
type Azure struct {
	Common
	// SAS is the query that every request must carry, "" if the container is public.
	SAS string
	// Expired answers as after the signature's time.
	Expired bool
}

// ServeHTTP answers List Blobs and Get Blob.
func (s *Azure) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.enter(w, r) {
		return
	}
	q := r.URL.Query()
	want, _ := url.ParseQuery(s.SAS)
	for name := range want {
		if q.Get(name) != want.Get(name) {
			Fail(w, 403, "AuthenticationFailed", "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature.",
				"<AuthenticationErrorDetail>Signature did not match. String to sign used was "+xmlText(q.Encode())+"</AuthenticationErrorDetail>")
			return
		}
	}
	if s.Expired {
		Fail(w, 403, "AuthenticationFailed", "Server failed to authenticate the request.", "<AuthenticationErrorDetail>Signature not valid in the specified time frame: Start [Sat, 28 Nov 2026 00:00:00 GMT] - Expiry [Sun, 29 Nov 2026 00:00:00 GMT] - Current [Mon, 30 Nov 2026 00:00:00 GMT]</AuthenticationErrorDetail>")
		return
	}
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/account/")
	container, key, _ := strings.Cut(path, "/")
	if container != s.Bucket {
		Fail(w, 404, "ContainerNotFound", "The specified container does not exist.")
		return
	}
	if q.Get("comp") == "list" && q.Get("restype") == "container" {
		s.list(w, q)
		return
	}
	key, err := url.PathUnescape(key)
	b, ok := s.object(key)
	if err != nil || !ok {
		Fail(w, 404, "BlobNotFound", "The specified blob does not exist.")
		return
	}
	content(w, r, b)
}

func (s *Azure) list(w http.ResponseWriter, q url.Values) {
	after := ""
	if m := q.Get("marker"); m != "" {
		b, err := hex.DecodeString(strings.TrimPrefix(m, "2!+"))
		if err != nil {
			Fail(w, 400, "OutOfRangeQueryParameterValue", "marker")
			return
		}
		after = string(b)
	}
	s.mu.Lock()
	items, next := s.page(q.Get("prefix"), q.Get("delimiter"), after)
	s.mu.Unlock()
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?><EnumerationResults ServiceEndpoint="http://127.0.0.1:10000/account" ContainerName="` + s.Bucket + `"><Prefix>` + xmlText(q.Get("prefix")) + `</Prefix><Marker/><MaxResults>5000</MaxResults><Delimiter>/</Delimiter><Blobs>`)
	for _, it := range items {
		if it.prefix {
			b.WriteString("<BlobPrefix><Name>" + xmlText(it.name) + "</Name></BlobPrefix>")
			continue
		}
		data, _ := s.object(it.name)
		fmt.Fprintf(&b, "<Blob><Name>%s</Name><Properties><Last-Modified>%s</Last-Modified><Etag>%s</Etag><Content-Length>%d</Content-Length><BlobType>BlockBlob</BlobType></Properties></Blob>",
			xmlText(it.name), Time.Format(http.TimeFormat), ETag(data), len(data))
	}
	b.WriteString("</Blobs>")
	if next == "" {
		b.WriteString("<NextMarker/>")
	} else {
		b.WriteString("<NextMarker>2!+" + hex.EncodeToString([]byte(next)) + "</NextMarker>")
	}
	b.WriteString("</EnumerationResults>")
	w.Header().Set("Content-Type", "application/xml")
	w.Write([]byte(b.String()))
}

// GCS is a bucket of Google's JSON interface.
type GCS struct {
	Common
	// Token is the OAuth token demanded, "" if the bucket is public.
	Token string
}

func failJSON(w http.ResponseWriter, status int, reason, message string) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": status, "message": message, "errors": []any{map[string]any{"message": message, "domain": "global", "reason": reason}}}})
}

// ServeHTTP answers the listing and media reads.
func (s *GCS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.enter(w, r) {
		return
	}
	if s.Token != "" {
		switch auth := r.Header.Get("Authorization"); auth {
		case "Bearer " + s.Token:
		case "":
			failJSON(w, 401, "required", "Anonymous caller does not have storage.objects.get access to the Google Cloud Storage object.")
			return
		default:
			failJSON(w, 401, "authError", "Invalid Credentials "+auth)
			return
		}
	}
	path, ok := strings.CutPrefix(r.URL.EscapedPath(), "/storage/v1/b/"+s.Bucket+"/o")
	if !ok {
		failJSON(w, 404, "notFound", "The specified bucket does not exist.")
		return
	}
	q := r.URL.Query()
	if path == "" {
		after := ""
		if t := q.Get("pageToken"); t != "" {
			b, err := hex.DecodeString(t)
			if err != nil {
				failJSON(w, 400, "invalid", "Invalid pageToken")
				return
			}
			after = string(b)
		}
		s.mu.Lock()
		items, next := s.page(q.Get("prefix"), q.Get("delimiter"), after)
		s.mu.Unlock()
		out := map[string]any{"kind": "storage#objects"}
		var prefixes []string
		var objs []any
		for _, it := range items {
			if it.prefix {
				prefixes = append(prefixes, it.name)
				continue
			}
			data, _ := s.object(it.name)
			objs = append(objs, map[string]any{"name": it.name, "size": strconv.Itoa(len(data)), "etag": "C" + ETag(data), "updated": Time.Format(time.RFC3339Nano), "generation": "1"})
		}
		if prefixes != nil {
			out["prefixes"] = prefixes
		}
		if objs != nil {
			out["items"] = objs
		}
		if next != "" {
			out["nextPageToken"] = hex.EncodeToString([]byte(next))
		}
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		json.NewEncoder(w).Encode(out)
		return
	}
	key, err := url.PathUnescape(strings.TrimPrefix(path, "/"))
	b, ok := s.object(key)
	if err != nil || !ok || strings.Contains(path[1:], "/") {
		failJSON(w, 404, "notFound", "No such object: "+s.Bucket+"/"+key)
		return
	}
	if q.Get("alt") != "media" {
		failJSON(w, 400, "invalid", "media only")
		return
	}
	content(w, r, b)
}
