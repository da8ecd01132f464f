package s3

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"hudiscope/fsadapter/httprange"
)

// Keys are what requests are signed with. They stay in memory: no Location, error or text of a
// value holds them.
type Keys struct {
	// AccessKey and Secret are the key pair, Token the session token of temporary keys or "".
	AccessKey, Secret, Token string
}

// String does not tell the keys.
func (Keys) String() string { return "S3 keys" }

// GoString does not tell the keys.
func (Keys) GoString() string { return "s3.Keys{…}" }

// MarshalJSON does not tell the keys.
func (Keys) MarshalJSON() ([]byte, error) { return []byte(`"S3 keys"`), nil }

const (
	algorithm  = "AWS4-HMAC-SHA256"
	amzDate    = "20060102T150405Z"
	signedHead = "host"
)

// param is one parameter of a query, plain.
type param struct{ name, value string }

// encode sorts parameters as signatures want them.
func encode(ps []param) string {
	out := make([]string, len(ps))
	for i, p := range ps {
		out[i] = httprange.Escape(p.name, false) + "=" + httprange.Escape(p.value, false)
	}
	slices.Sort(out)
	return strings.Join(out, "&")
}

// sign returns the query of a request with its signature (Signature Version 4 in the query string,
// unsigned payload). path is the escaped path, host is as in the Host header.
func (k Keys) sign(method, host, path string, ps []param, region string, now time.Time, valid time.Duration) string {
	now = now.UTC()
	date := now.Format(amzDate)
	scope := date[:8] + "/" + region + "/s3/aws4_request"
	ps = append(slices.Clone(ps),
		param{"X-Amz-Algorithm", algorithm},
		param{"X-Amz-Credential", k.AccessKey + "/" + scope},
		param{"X-Amz-Date", date},
		param{"X-Amz-Expires", strconv.Itoa(int(valid.Seconds()))},
		param{"X-Amz-SignedHeaders", signedHead})
	if k.Token != "" {
		ps = append(ps, param{"X-Amz-Security-Token", k.Token})
	}
	query := encode(ps)
	canonical := strings.Join([]string{method, path, query, "host:" + host, "", signedHead, "UNSIGNED-PAYLOAD"}, "\n")
	sum := sha256.Sum256([]byte(canonical))
	toSign := algorithm + "\n" + date + "\n" + scope + "\n" + hex.EncodeToString(sum[:])
	key := []byte("AWS4" + k.Secret)
	for _, part := range []string{date[:8], region, "s3", "aws4_request"} {
		key = mac(key, part)
	}
	return query + "&X-Amz-Signature=" + hex.EncodeToString(mac(key, toSign))
}

func mac(key []byte, s string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(s))
	return h.Sum(nil)
}
