package fsadapter

import (
	"context"
	"strings"
	"time"

	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/fsadapter/azure"
	"hudiscope/fsadapter/gcs"
	"hudiscope/fsadapter/httprange"
	"hudiscope/fsadapter/presigned"
	"hudiscope/fsadapter/s3"
	"hudiscope/fsadapter/signer"
	"hudiscope/fsadapter/single"
)

// Options are the ways to places that an address does not tell: endpoints, and what private places
// are opened with. The zero value opens public places. Keys, signatures and tokens stay in memory:
// they are a part of no Location and no error.
type Options struct {
	// HTTP is of all requests, Cache of all remote sources.
	HTTP  httprange.Options
	Cache cache.Options
	// S3 is for s3://; settings behind "?" of an address take precedence.
	S3     s3.Settings
	Azure  AzureOptions
	GCS    GCSOptions
	Signer SignerOptions
	// Keep keeps what is read of remote tables for later starts of the program (package kept); nil for
	// nothing. place names the place, endpoints included, and holds no credentials.
	Keep func(src storage.Source, place string) storage.Source `json:"-"`
}

func (o Options) kept(src storage.Source, place ...string) storage.Source {
	if o.Keep == nil {
		return src
	}
	return o.Keep(src, strings.Join(place, "\x00"))
}

// AzureOptions are for abfss:// and wasbs:// and for the addresses of Azure's blob service.
type AzureOptions struct {
	// Endpoint takes the place of the account's own, such as http://localhost:10000/devstoreaccount1.
	Endpoint string
	// SAS is the shared access signature for addresses that have none.
	SAS string `json:"-"`
}

// String does not tell the signature.
func (o AzureOptions) String() string { return "Azure " + o.Endpoint }

// GoString does not tell the signature.
func (o AzureOptions) GoString() string { return o.String() }

// GCSOptions are for gs://.
type GCSOptions struct {
	// Endpoint takes the place of Google's, UserProject is billed where requesters pay.
	Endpoint, UserProject string
	// Token is an OAuth access token.
	Token string `json:"-"`
}

// String does not tell the token.
func (o GCSOptions) String() string { return "GCS " + o.Endpoint }

// GoString does not tell the token.
func (o GCSOptions) GoString() string { return o.String() }

// SignerOptions are for signer+https://.
type SignerOptions struct {
	// Authorization is the value of that header for the signer.
	Authorization string `json:"-"`
	// Get asks with GET in place of POST.
	Get bool
}

// String does not tell the authorization.
func (SignerOptions) String() string { return "signer" }

// GoString does not tell the authorization.
func (o SignerOptions) GoString() string { return o.String() }

// FromEnv are the Options that the usual variables give: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
// AWS_SESSION_TOKEN, AWS_REGION or AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL,
// AZURE_STORAGE_SAS_TOKEN, CLOUDSDK_AUTH_ACCESS_TOKEN, STORAGE_EMULATOR_HOST (a URL) and
// HUDISCOPE_SIGNER_AUTHORIZATION. getenv is os.Getenv.
func FromEnv(getenv func(string) string) Options {
	first := func(names ...string) string {
		for _, n := range names {
			if v := strings.TrimSpace(getenv(n)); v != "" {
				return v
			}
		}
		return ""
	}
	var o Options
	o.S3.Region = first("AWS_REGION", "AWS_DEFAULT_REGION")
	o.S3.Endpoint = first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
	if id, secret := first("AWS_ACCESS_KEY_ID"), first("AWS_SECRET_ACCESS_KEY"); id != "" || secret != "" {
		o.S3.Keys = &s3.Keys{AccessKey: id, Secret: secret, Token: first("AWS_SESSION_TOKEN")}
	}
	o.Azure.SAS = first("AZURE_STORAGE_SAS_TOKEN")
	o.GCS.Token = first("CLOUDSDK_AUTH_ACCESS_TOKEN")
	if h := first("STORAGE_EMULATOR_HOST"); h != "" {
		if !strings.Contains(h, "://") {
			h = "http://" + h // an emulator has no certificate
		}
		o.GCS.Endpoint = h
	}
	o.Signer.Authorization = first("HUDISCOPE_SIGNER_AUTHORIZATION")
	return o
}

// Expires is when the addresses end by which a source is read (a bundle's, a signer's), the zero
// time if they do not or it is not known; renews says that new ones are got then.
func Expires(src storage.Source) (at time.Time, renews bool) {
	for src != nil {
		switch s := src.(type) {
		case *presigned.Source:
			return s.Expires(), s.Renews()
		case *signer.Source:
			return s.Expires(), true
		case interface{ Unwrap() storage.Source }:
			src = s.Unwrap()
		default:
			return time.Time{}, false
		}
	}
	return time.Time{}, false
}

// store opens an address of an object store; ok is false for any other address.
func store(ctx context.Context, location string, o Options) (src storage.Source, err error, ok bool) {
	switch s := scheme(location); s {
	case "s3", "s3a", "s3n":
		c, err := s3.ParseLocation(location, o.S3)
		if err != nil {
			return nil, err, true
		}
		c.HTTP = o.HTTP
		src, err := prefixed(ctx, &c.Prefix, o, []string{"s3", c.Endpoint, c.Style, c.Bucket}, func() (storage.Source, error) { return s3.New(c) })
		return src, err, true
	case "gs", "gcs":
		c, err := gcs.ParseLocation(location)
		if err != nil {
			return nil, err, true
		}
		c.Endpoint, c.Token, c.UserProject, c.HTTP = o.GCS.Endpoint, o.GCS.Token, o.GCS.UserProject, o.HTTP
		src, err := prefixed(ctx, &c.Prefix, o, []string{"gs", c.Endpoint, c.Bucket}, func() (storage.Source, error) { return gcs.New(c) })
		return src, err, true
	case "signer+http", "signer+https":
		c, err := signer.ParseLocation(location)
		if err != nil {
			return nil, err, true
		}
		c.Authorization, c.Get, c.HTTP = o.Signer.Authorization, o.Signer.Get, o.HTTP
		endpoint := httprange.Shown(c.Endpoint)
		src, err := prefixed(ctx, &c.Prefix, o, []string{"signer", endpoint}, func() (storage.Source, error) { return signer.New(c) })
		return src, err, true
	case "abfs", "abfss", "wasb", "wasbs":
	default:
		if !azure.IsURL(location) {
			return nil, nil, false
		}
	}
	c, err := azure.ParseLocation(location, o.Azure.Endpoint, o.Azure.SAS)
	if err != nil {
		return nil, err, true
	}
	c.HTTP = o.HTTP
	src, err = prefixed(ctx, &c.Prefix, o, []string{"azure", c.Endpoint, c.Container}, func() (storage.Source, error) { return azure.New(c) })
	return src, err, true
}

// prefixed opens what a prefix names: a table, or by its name a file as [File] does.
// place names the store.
func prefixed(ctx context.Context, prefix *string, o Options, place []string, open func() (storage.Source, error)) (storage.Source, error) {
	i := strings.LastIndexByte(*prefix, '/')
	name := (*prefix)[i+1:]
	if !IsFileName(name) {
		src, err := open()
		if err != nil {
			return nil, err
		}
		return cache.New(o.kept(src, append(place, *prefix)...), o.Cache), nil
	}
	*prefix = (*prefix)[:max(i, 0)]
	folder, err := open()
	if err != nil {
		return nil, err
	}
	obj, err := folder.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return openFile(ctx, cache.New(single.New(obj, name, folder.Location()+"/"+name), o.Cache), name, o)
}
