package model

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"hudiscope/core/api"
	"hudiscope/web/text"
)

// StoreKind is a kind of object store.
type StoreKind string

// The kinds. NoStore is a web server, or anything else that is none.
const (
	NoStore StoreKind = ""
	S3      StoreKind = "s3"
	Azure   StoreKind = "azure"
	GCS     StoreKind = "gcs"
	Signer  StoreKind = "signer"
)

// Title names the kind.
func (k StoreKind) Title() string {
	switch k {
	case S3:
		return "S3"
	case Azure:
		return "Azure"
	case GCS:
		return "Google Cloud"
	case Signer:
		return text.Key("Signer")
	}
	return text.Key("Address")
}

// Store is the place of a table in an object store. It holds no credentials.
type Store struct {
	Kind StoreKind
	// Bucket is that of S3 and Google, the container of Azure; Account is Azure's, with or without its
	// domain.
	Bucket, Account string
	// Prefix is the base of the table among the keys.
	Prefix string
	// Endpoint is the URL of the store where it is not the cloud's own, and that of a signer.
	Endpoint string
	// Region and Style ("", "path", "virtual") are S3's, RequesterPays too.
	Region, Style string
	RequesterPays bool
	// Project pays at Google where requesters do.
	Project string
}

// azureHost is the end of the names of blob services.
const azureHost = ".blob.core.windows.net"

// KindOfStore is the kind of store that an address is of.
func KindOfStore(location string) StoreKind {
	scheme, rest, ok := strings.Cut(location, "://")
	if !ok {
		return NoStore
	}
	switch strings.ToLower(scheme) {
	case "s3", "s3a", "s3n":
		return S3
	case "gs", "gcs":
		return GCS
	case "abfs", "abfss", "wasb", "wasbs":
		return Azure
	case "signer+http", "signer+https":
		return Signer
	case "http", "https":
		host := rest
		if i := strings.IndexAny(host, "/?#"); i >= 0 {
			host = host[:i]
		}
		if strings.HasSuffix(strings.ToLower(host), azureHost) {
			return Azure
		}
	}
	return NoStore
}

// ParseStore takes the address of a store apart; the zero Store for others.
func ParseStore(location string) Store {
	s := Store{Kind: KindOfStore(location)}
	if s.Kind == NoStore {
		return Store{}
	}
	scheme, rest, _ := strings.Cut(location, "://")
	if s.Kind == Signer {
		place, prefix, _ := strings.Cut(rest, "#")
		place, _, _ = strings.Cut(place, "?")
		s.Endpoint, s.Prefix = strings.ToLower(scheme[len("signer+"):])+"://"+place, strings.Trim(prefix, "/")
		return s
	}
	rest, query, _ := strings.Cut(rest, "?")
	head, prefix, _ := strings.Cut(rest, "/")
	s.Bucket, s.Prefix = head, strings.Trim(prefix, "/")
	if strings.HasPrefix(strings.ToLower(scheme), "http") {
		if p, err := url.PathUnescape(s.Prefix); err == nil {
			s.Prefix = p
		}
		s.Account = head
		s.Bucket, s.Prefix, _ = strings.Cut(s.Prefix, "/")
		return s
	}
	if s.Kind == Azure {
		s.Bucket, s.Account, _ = strings.Cut(head, "@")
	}
	if v, err := url.ParseQuery(query); err == nil {
		s.Endpoint, s.Region, s.Style, s.Project = v.Get("endpoint"), v.Get("region"), v.Get("style"), v.Get("project")
		s.RequesterPays = v.Get("requester_pays") == "true" || v.Get("requester_pays") == "1"
	}
	return s
}

// Location is the address of the store, without credentials; "" when a part that it needs is missing.
func (s Store) Location() string {
	prefix := strings.Trim(s.Prefix, "/")
	if prefix != "" {
		prefix = "/" + prefix
	}
	var set []string
	add := func(name, value string) {
		if value != "" {
			set = append(set, name+"="+strings.NewReplacer("%2F", "/", "%3A", ":").Replace(url.QueryEscape(value)))
		}
	}
	query := func() string {
		if len(set) == 0 {
			return ""
		}
		return "?" + strings.Join(set, "&")
	}
	switch s.Kind {
	case S3:
		if s.Bucket == "" {
			return ""
		}
		add("endpoint", s.Endpoint)
		add("region", s.Region)
		add("style", s.Style)
		if s.RequesterPays {
			add("requester_pays", "true")
		}
		return "s3://" + s.Bucket + prefix + query()
	case GCS:
		if s.Bucket == "" {
			return ""
		}
		add("endpoint", s.Endpoint)
		add("project", s.Project)
		return "gs://" + s.Bucket + prefix + query()
	case Azure:
		if s.Bucket == "" || s.Account == "" {
			return ""
		}
		account := s.Account
		if !strings.Contains(account, ".") {
			account += azureHost
		}
		add("endpoint", s.Endpoint)
		return "abfss://" + s.Bucket + "@" + strings.Replace(account, ".blob.", ".dfs.", 1) + prefix + query()
	case Signer:
		scheme, rest, ok := strings.Cut(s.Endpoint, "://")
		if !ok || rest == "" || scheme != "http" && scheme != "https" {
			return ""
		}
		return "signer+" + s.Endpoint + "#" + strings.Trim(s.Prefix, "/")
	}
	return ""
}

// settingNames are what may stand behind "?" in the addresses of stores.
var settingNames = map[StoreKind][]string{
	S3:  {"endpoint", "region", "style", "requester_pays"},
	GCS: {"endpoint", "project"}, Azure: {"endpoint"},
}

// cleanStore takes out of a store's address what is no setting, and returns the names of what it took.
func cleanStore(location string) (clean string, removed []string) {
	kind := KindOfStore(location)
	scheme, rest, _ := strings.Cut(location, "://")
	after := ""
	if kind == Signer {
		rest, after, _ = strings.Cut(rest, "#")
		after = "#" + after
	}
	rest, query, _ := strings.Cut(rest, "?")
	head, path, slash := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 && strings.Contains(head, ":") && kind != Azure && kind != Signer {
		// A bucket has no colon: these are keys, which may hold slashes.
		removed = append(removed, "user and password")
		head, path, slash = strings.Cut(rest[i+1:], "/")
	}
	if i := strings.LastIndexByte(head, '@'); i >= 0 {
		// Of Azure's addresses the container stands before the "@", of all others a user.
		if kind != Azure || strings.HasPrefix(strings.ToLower(scheme), "http") || strings.Contains(head[:i], ":") {
			head, removed = head[i+1:], append(removed, "user and password")
		}
	}
	clean = scheme + "://" + head
	if slash {
		clean += "/" + path
	}
	http := strings.HasPrefix(strings.ToLower(scheme), "http")
	var keep []string
	for _, part := range strings.Split(query, "&") {
		name, value, named := strings.Cut(part, "=")
		if p, err := url.QueryUnescape(name); err == nil {
			name = p
		}
		if v, err := url.QueryUnescape(value); err == nil {
			value = v
		}
		switch {
		case part == "":
		case !http && slices.Contains(settingNames[kind], name) && !strings.ContainsAny(value, "@?#"):
			keep = append(keep, part)
		case !named || name == "":
			removed = append(removed, "the query")
		default:
			removed = append(removed, name)
		}
	}
	if len(keep) > 0 {
		clean += "?" + strings.Join(keep, "&")
	}
	slices.Sort(removed)
	return clean + after, slices.Compact(removed)
}

// WithoutUser is an http address without the user and password in it; had tells whether there was one.
// Browsers refuse to fetch addresses that have one.
func WithoutUser(location string) (without string, had bool) {
	scheme, rest, ok := strings.Cut(location, "://")
	if s := strings.ToLower(scheme); !ok || s != "http" && s != "https" {
		return location, false
	}
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	i := strings.LastIndexByte(rest[:end], '@')
	if i < 0 {
		return location, false
	}
	return scheme + "://" + rest[i+1:], true
}

// SentRange writes the bytes of a file that a request brought, first and last, and those that it asked
// for: a request for the end of a file may ask for more than is there. Both are "" without a range.
func SentRange(q api.NetworkRequestSent) (got, asked string) {
	if q.To < 0 {
		return "", ""
	}
	write := func(to int64) string { return Count(q.From) + "–" + Count(to) }
	asked = write(q.To)
	if !q.Running && q.Failed == "" && q.Status == 206 && q.Bytes > 0 && q.Bytes <= q.To-q.From {
		return write(q.From + q.Bytes - 1), asked
	}
	return asked, asked
}

// Probe is the http address by which to find out whether a location's server can be reached; "" when
// there is none.
func Probe(location string) string {
	s := ParseStore(location)
	endpoint := strings.TrimSuffix(s.Endpoint, "/")
	if endpoint != "" && !strings.Contains(endpoint, "://") {
		endpoint = "https://" + endpoint
	}
	switch s.Kind {
	case S3:
		switch {
		case endpoint != "" && s.Style == "virtual":
			scheme, host, _ := strings.Cut(endpoint, "://")
			return scheme + "://" + s.Bucket + "." + host + "/"
		case endpoint != "":
			return endpoint + "/" + s.Bucket
		}
		host := "s3.amazonaws.com"
		if s.Region != "" {
			host = "s3." + s.Region + ".amazonaws.com"
		}
		if strings.Contains(s.Bucket, ".") || s.Style == "path" {
			return "https://" + host + "/" + s.Bucket
		}
		return "https://" + s.Bucket + "." + host + "/"
	case GCS:
		if endpoint == "" {
			endpoint = "https://storage.googleapis.com"
		}
		return endpoint + "/storage/v1/b/" + url.PathEscape(s.Bucket) + "/o?maxResults=1"
	case Azure:
		if endpoint == "" {
			endpoint = "https://" + strings.Replace(s.Account, ".dfs.", ".blob.", 1)
		}
		return endpoint + "/" + s.Bucket + "?restype=container&comp=list&maxresults=1"
	case Signer:
		return endpoint
	}
	if strings.HasPrefix(location, "http://") || strings.HasPrefix(location, "https://") {
		clean, _, _ := strings.Cut(location, "?")
		return clean
	}
	return ""
}

// Rule is what a kind of server must be told to let a page read it.
type Rule struct {
	// Name is that of the server or tool; How says in a sentence what to do with Text.
	Name, How, Text string
}

const exposed = "Content-Range, ETag, Content-Length, Accept-Ranges, Last-Modified"

// Rules are the ways to let a page of an origin read a location, the likeliest first.
func Rules(location, origin string) []Rule {
	s := ParseStore(location)
	quotedNames := `"` + strings.ReplaceAll(exposed, ", ", `", "`) + `"`
	names := strings.ReplaceAll(exposed, " ", "")
	bucket := s.Bucket
	if bucket == "" {
		bucket = "BUCKET"
	}
	switch s.Kind {
	case S3:
		json := `{"CORSRules": [{
  "AllowedOrigins": ["` + origin + `"],
  "AllowedMethods": ["GET", "HEAD"],
  "AllowedHeaders": ["*"],
  "ExposeHeaders": [` + quotedNames + `],
  "MaxAgeSeconds": 3600
}]}`
		var xml strings.Builder
		xml.WriteString("<CORSConfiguration>\n  <CORSRule>\n    <AllowedOrigin>" + origin + "</AllowedOrigin>\n    <AllowedMethod>GET</AllowedMethod>\n    <AllowedMethod>HEAD</AllowedMethod>\n    <AllowedHeader>*</AllowedHeader>\n")
		for _, n := range strings.Split(exposed, ", ") {
			xml.WriteString("    <ExposeHeader>" + n + "</ExposeHeader>\n")
		}
		xml.WriteString("    <MaxAgeSeconds>3600</MaxAgeSeconds>\n  </CORSRule>\n</CORSConfiguration>")
		cli := "aws s3api put-bucket-cors --bucket " + bucket
		if s.Endpoint != "" {
			cli += " --endpoint-url " + s.Endpoint
		}
		return []Rule{
			{"AWS CLI", text.F("Save this as cors.json, then: %s", cli+" --cors-configuration file://cors.json"), json},
			{text.T("Console"), text.T("Bucket, Permissions, Cross-origin resource sharing (CORS), Edit:"), "[" + json[len(`{"CORSRules": [`):len(json)-2] + "]"},
			{"XML", text.T("The body of PUT /?cors, for Ceph, R2, Wasabi and others that take the same call:"), xml.String()},
			{"MinIO", text.T("MinIO answers every origin unless it was told otherwise; name this page's in its settings and restart it:"), "mc admin config set ALIAS api cors_allow_origin=" + origin},
		}
	case GCS:
		return []Rule{{"gcloud", text.F("Save this as cors.json, then: %s", "gcloud storage buckets update gs://"+bucket+" --cors-file=cors.json"), `[{
  "origin": ["` + origin + `"],
  "method": ["GET", "HEAD"],
  "maxAgeSeconds": 3600,
  "responseHeader": [` + quotedNames + `, "Authorization", "Range"]
}]`}}
	case Azure:
		account, _, _ := strings.Cut(s.Account, ".")
		if account == "" {
			account = "ACCOUNT"
		}
		return []Rule{
			{"Azure CLI", text.T("For the account's blob service:"), "az storage cors add --services b --methods GET HEAD \\\n  --origins '" + origin + "' --allowed-headers '*' \\\n  --exposed-headers '" + names + "' \\\n  --max-age 3600 --account-name " + account},
			{text.T("Portal"), text.T("Storage account, Resource sharing (CORS), Blob service:"), "Allowed origins: " + origin + "\nAllowed methods: GET, HEAD\nAllowed headers: *\nExposed headers: " + names + "\nMax age: 3600"},
		}
	case Signer:
		return []Rule{{text.T("Signer"), text.T("The endpoint answers OPTIONS and its own answers with these; the store behind it needs its own rule, too:"), "Access-Control-Allow-Origin: " + origin + "\nAccess-Control-Allow-Methods: GET, POST\nAccess-Control-Allow-Headers: content-type, authorization\nAccess-Control-Max-Age: 3600"}}
	}
	return []Rule{
		{"nginx", text.T("In the location that serves the table:"), "add_header Access-Control-Allow-Origin \"" + origin + "\" always;\nadd_header Access-Control-Expose-Headers \"" + exposed + "\" always;"},
		{"Apache", text.T("In the directory's section, with mod_headers (a2enmod headers):"), "Header always set Access-Control-Allow-Origin \"" + origin + "\"\nHeader always set Access-Control-Expose-Headers \"" + exposed + "\""},
		{"Caddy", text.T("In the site's block:"), "header Access-Control-Allow-Origin \"" + origin + "\"\nheader Access-Control-Expose-Headers \"" + exposed + "\""},
		{"lighttpd", text.T("With mod_setenv:"), "server.modules += ( \"mod_setenv\" )\nsetenv.set-response-header = (\n  \"Access-Control-Allow-Origin\" => \"" + origin + "\",\n  \"Access-Control-Expose-Headers\" => \"" + exposed + "\" )"},
		{text.T("This machine"), text.T("A server for the table and this page at one address, which needs no rule:"), "hudiscope serve FOLDER"},
	}
}

// Left is a time that is left, in its two largest units.
func Left(d time.Duration) string {
	if d < time.Minute {
		return text.T("less than a minute")
	}
	m := int64(d / time.Minute)
	switch days, hours := m/(24*60), m/60%24; {
	case days > 0:
		return text.F("%s %s h", Plural(days, "day"), itoa(hours))
	case hours > 0:
		return text.F("%s h %s min", itoa(hours), itoa(m%60))
	}
	return text.F("%s min", itoa(m))
}

// PlainName is a name of a URL as people write it.
func PlainName(name string) string { return unescape(name) }
