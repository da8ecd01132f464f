package servers

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"hudiscope/fsadapter/httprange"
)

// The versions of the object stores that "make test-servers" installs.
const (
	VersityVersion = "v1.8.0"
	FakeGCSVersion = "v1.56.1"
)

// S3 is a running versitygw, with the keys of its owner.
type S3 struct {
	*Process
	URL, AccessKey, Secret string
	// Root is the folder whose folders are the buckets.
	Root string
}

// Region is that of the stores.
const Region = "us-east-1"

// RunS3 starts versitygw with an empty store in dir.
func RunS3(ctx context.Context, cache, dir string) (*S3, error) {
	program, err := Find(cache, "versitygw", "go install github.com/versity/versitygw/cmd/versitygw@"+VersityVersion)
	if err != nil {
		return nil, err
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	s := &S3{URL: fmt.Sprintf("http://127.0.0.1:%d", port), AccessKey: "owner", Secret: "owner-secret-0123456789", Root: filepath.Join(dir, "buckets")}
	for _, d := range []string{"buckets", "meta", "users"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return nil, err
		}
	}
	s.Process, err = Start(dir, program, []string{"ROOT_ACCESS_KEY=" + s.AccessKey, "ROOT_SECRET_KEY=" + s.Secret},
		"--port", fmt.Sprintf("127.0.0.1:%d", port), "--region", Region, "--keep-alive", "--quiet", "--iam-dir", filepath.Join(dir, "users"),
		"posix", "--sidecar", filepath.Join(dir, "meta"), s.Root)
	if err != nil {
		return nil, err
	}
	if err := s.Ready(ctx, s.URL+"/"); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// Do sends a request signed in headers by the owner, as administrators' tools do. query is plain.
// An answer that is no success is an error.
func (s *S3) Do(ctx context.Context, method, path string, query url.Values, body []byte) ([]byte, error) {
	canonical := httprange.Escape(path, true)
	var pairs []string
	for k, v := range query {
		pairs = append(pairs, httprange.Escape(k, false)+"="+httprange.Escape(v[0], false))
	}
	sort.Strings(pairs)
	q := strings.Join(pairs, "&")
	req, err := http.NewRequestWithContext(ctx, method, s.URL+canonical+"?"+q, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC().Format("20060102T150405Z")
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	req.Header.Set("X-Amz-Date", now)
	req.Header.Set("X-Amz-Content-Sha256", hash)
	digest := md5.Sum(body)
	req.Header.Set("Content-MD5", base64.StdEncoding.EncodeToString(digest[:])) // demanded with CORS rules
	const signed = "host;x-amz-content-sha256;x-amz-date"
	text := strings.Join([]string{method, canonical, q, "host:" + req.Host, "x-amz-content-sha256:" + hash, "x-amz-date:" + now, "", signed, hash}, "\n")
	sum = sha256.Sum256([]byte(text))
	scope := now[:8] + "/" + Region + "/s3/aws4_request"
	key := []byte("AWS4" + s.Secret)
	for _, part := range strings.Split(scope, "/") {
		key = mac(key, part)
	}
	sig := hex.EncodeToString(mac(key, "AWS4-HMAC-SHA256\n"+now+"\n"+scope+"\n"+hex.EncodeToString(sum[:])))
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+s.AccessKey+"/"+scope+", SignedHeaders="+signed+", Signature="+sig)
	return send(req)
}

func mac(key []byte, s string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(s))
	return h.Sum(nil)
}

func send(req *http.Request) ([]byte, error) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: HTTP %d: %s", req.Method, req.URL.Path, resp.StatusCode, b)
	}
	return b, err
}

// Azure is a running Azurite.
type Azure struct {
	*Process
	// URL is that of the account.
	URL string
}

// The account that Azurite has by itself, with its well-known key.
const (
	AzureAccount = "devstoreaccount1"
	azureKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
	azureVersion = "2021-12-02"
)

// RunAzure starts Azurite's blob service with an empty store in dir.
func RunAzure(ctx context.Context, cache, dir string) (*Azure, error) {
	program, err := Find(cache, "azurite-blob", "npm install azurite")
	if err != nil {
		return nil, err
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	a := &Azure{URL: fmt.Sprintf("http://127.0.0.1:%d/%s", port, AzureAccount)}
	a.Process, err = Start(dir, program, nil, "--blobHost", "127.0.0.1", "--blobPort", fmt.Sprint(port), "--location", dir, "--silent", "--skipApiVersionCheck", "--disableTelemetry")
	if err != nil {
		return nil, err
	}
	if err := a.Ready(ctx, a.URL+"?comp=list"); err != nil {
		a.Stop()
		return nil, err
	}
	return a, nil
}

func azureMAC(text string) string {
	key, _ := base64.StdEncoding.DecodeString(azureKey) // a constant
	return base64.StdEncoding.EncodeToString(mac(key, text))
}

// ownerSAS is a signature of the account that may do everything for an hour.
func ownerSAS() string {
	expiry := time.Now().UTC().Add(time.Hour).Format("2006-01-02T15:04:05Z")
	v := url.Values{"sv": {azureVersion}, "ss": {"b"}, "srt": {"sco"}, "sp": {"rwdlac"}, "se": {expiry}}
	v.Set("sig", azureMAC(strings.Join([]string{AzureAccount, "rwdlac", "b", "sco", "", expiry, "", "", azureVersion, "", ""}, "\n")))
	return v.Encode()
}

// SAS is a signature of a container with permissions such as "rl", until expiry.
func SAS(container, permissions string, expiry time.Time) string {
	se := expiry.UTC().Format("2006-01-02T15:04:05Z")
	text := strings.Join([]string{permissions, "", se, "/blob/" + AzureAccount + "/" + container, "", "", "", azureVersion, "c", "", "", "", "", "", "", ""}, "\n")
	return url.Values{"sv": {azureVersion}, "sr": {"c"}, "sp": {permissions}, "se": {se}, "sig": {azureMAC(text)}}.Encode()
}

// Do sends a request of the account's owner. path begins with the container.
func (a *Azure) Do(ctx context.Context, method, path, query string, body []byte) ([]byte, error) {
	if query != "" {
		query += "&"
	}
	req, err := http.NewRequestWithContext(ctx, method, a.URL+"/"+httprange.Escape(path, true)+"?"+query+ownerSAS(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("x-ms-version", azureVersion)
	if method == "PUT" && query == "" {
		req.Header.Set("x-ms-blob-type", "BlockBlob")
	}
	return send(req)
}

// GCS is a running fake-gcs-server.
type GCS struct {
	*Process
	URL string
}

// RunGCS starts fake-gcs-server with the folders of root as its buckets.
func RunGCS(ctx context.Context, cache, dir, root string) (*GCS, error) {
	program, err := Find(cache, "fake-gcs-server", "go install github.com/fsouza/fake-gcs-server@"+FakeGCSVersion)
	if err != nil {
		return nil, err
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	g := &GCS{URL: fmt.Sprintf("http://127.0.0.1:%d", port)}
	g.Process, err = Start(dir, program, nil, "-backend", "memory", "-data", root, "-scheme", "http", "-host", "127.0.0.1", "-port", fmt.Sprint(port), "-public-host", fmt.Sprintf("127.0.0.1:%d", port), "-log-level", "warn")
	if err != nil {
		return nil, err
	}
	if err := g.Ready(ctx, g.URL+"/storage/v1/b"); err != nil {
		g.Stop()
		return nil, err
	}
	return g, nil
}
