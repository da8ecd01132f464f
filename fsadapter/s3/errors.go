package s3

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"hudiscope/core/storage"
	"hudiscope/fsadapter/httprange"
	"hudiscope/fsadapter/objectlist"
)

// explain makes a Fault of a store's XML error. It reports whether the same request may be granted
// when it is signed anew: for another region or by another clock.
func (s *store) explain(f *storage.Fault, body []byte, resp *httprange.Response) (again bool) {
	root, err := objectlist.ParseXML(body)
	if err != nil || root.Name != "Error" {
		root = &objectlist.Element{}
	}
	code := root.Value("Code")
	region := regionOf(root)
	if region == "" && (code == "AuthorizationHeaderMalformed" || code == "AuthorizationQueryParametersError") {
		if m := expecting.FindStringSubmatch(root.Value("Message")); m != nil && m[1] != "" {
			region = m[1]
		} else if m != nil {
			region = m[2]
		}
	}
	if region == "" {
		region = resp.Header("x-amz-bucket-region")
	}
	s.mu.Lock()
	signed, was, given := s.keys != nil, s.region, s.given
	s.mu.Unlock()
	if code != "" {
		f.Err = errors.New(s.clean(code, resp))
		if m := root.Value("Message"); m != "" {
			f.Err = fmt.Errorf("%v: %s", f.Err, s.clean(m, resp))
		}
	}
	if f.Kind == storage.NotFound && code != "" && code != "NoSuchKey" {
		// A file that is absent is passed over by many readers; what else a store says with this status is
		// true of all files.
		f.Kind, f.Try = storage.Failed, "The store refuses with "+s.clean(code, resp)+": check the bucket, the endpoint and the keys."
	}
	switch code {
	case "NoSuchBucket":
		f.Kind, f.Try = storage.Failed, "There is no such bucket there: check its name and the endpoint."
	case "NoSuchKey":
		f.Kind = storage.NotFound
	case "AllAccessDisabled", "AccountProblem", "InvalidObjectState":
		f.Kind, f.Try = storage.Forbidden, "The store does not give this object to anyone now; see its message."
	case "ExpiredToken", "TokenRefreshRequired":
		f.Kind, f.Try = storage.Expired, "The session token has expired: get new temporary keys and give them."
	case "InvalidAccessKeyId", "InvalidToken", "InvalidClientTokenId", "XAdminUserNotFound":
		f.Kind, f.Try = storage.Forbidden, "The store does not know these keys: check them, that a session token is given with temporary keys, and the endpoint."
	case "SignatureDoesNotMatch":
		f.Kind, f.Try = storage.Forbidden, "The secret does not belong to the access key, or something between changes the host name of requests: check both, the endpoint and the style of addresses."
	case "RequestTimeTooSkewed":
		f.Kind, f.Try = storage.Forbidden, "The clock of this machine is wrong: set it."
		return s.setClock(root)
	case "AccessDenied", "":
		if f.Status != 403 && f.Status != 401 {
			break
		}
		if f.Kind == storage.Expired || strings.Contains(strings.ToLower(root.Value("Message")), "expired") {
			f.Kind, f.Try = storage.Expired, "The signature was too old when it arrived: check the clock of this machine, and get new keys if they are temporary."
			return s.setClock(root)
		}
		if strings.Contains(strings.ToLower(root.Value("Message")), "not yet valid") {
			f.Kind, f.Try = storage.Forbidden, "The clock of this machine is wrong: set it."
			return s.setClock(root)
		}
		f.Kind = storage.Forbidden
		switch {
		case !signed:
			f.Try = "The bucket is not public: give keys, or let its policy grant s3:ListBucket on the bucket and s3:GetObject on its objects to everyone."
		case s.pays:
			f.Try = "The keys need s3:ListBucket on the bucket and s3:GetObject on its objects."
		default:
			f.Try = "The keys need s3:ListBucket on the bucket and s3:GetObject on its objects; if requesters pay there, say so (requester_pays)."
		}
		if f.Op == "read" {
			f.Try += " Who may not list a bucket gets this answer for absent objects too."
		}
	case "PermanentRedirect", "TemporaryRedirect", "Redirect", "AuthorizationHeaderMalformed", "AuthorizationQueryParametersError", "IllegalLocationConstraintException", "InvalidRegion":
		f.Kind, f.Try = storage.Refused, "Check the endpoint and the region."
	}
	if region != "" && region != was && (f.Status == 301 || f.Status == 307 || f.Status == 400 || code == "PermanentRedirect") {
		f.Kind = storage.Refused
		f.Try = fmt.Sprintf("The bucket is in the region %s: give that region in place of %s.", region, was)
		if f.Err == nil {
			f.Err = fmt.Errorf("the bucket is not in the region %s", was)
		}
		if !given { // the region was only a guess
			s.mu.Lock()
			s.region = region
			s.mu.Unlock()
			return true
		}
	}
	// Of several requests signed for the guess, the first answer has corrected it.
	return region != "" && region == was && !given && f.Status == 400 && signedFor(resp) != "" && signedFor(resp) != region
}

// expecting is where a message names the right region, for stores that do so nowhere else: "… the
// region 'us-east-1' is wrong; expecting 'eu-west-3'". Of what is expected besides, such as a date or
// a service, it is no match.
var expecting = regexp.MustCompile(`(?i)\bregion\b.*\bexpecting (?:'([a-z][a-z0-9-]{1,39})'|"([a-z][a-z0-9-]{1,39})")`)

// signedFor is the region that a request was signed for, "" if it was not signed.
func signedFor(resp *httprange.Response) string {
	u, err := url.Parse(resp.Asked())
	if err != nil {
		return ""
	}
	if scope := strings.Split(u.Query().Get("X-Amz-Credential"), "/"); len(scope) >= 5 {
		return scope[len(scope)-3]
	}
	return ""
}

// regionOf finds the right region in an error.
func regionOf(e *objectlist.Element) string {
	r := e.Value("Region")
	if r == "" {
		// "bucket.s3.eu-west-1.amazonaws.com", "bucket.s3-eu-west-1.amazonaws.com"
		host, ok := strings.CutSuffix(strings.TrimSuffix(e.Value("Endpoint"), ".cn"), ".amazonaws.com")
		if !ok {
			return ""
		}
		last := host[strings.LastIndexByte(host, '.')+1:]
		r = strings.TrimPrefix(last, "s3-")
		if r == "s3" {
			return ""
		}
	}
	for _, c := range r {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return ""
		}
	}
	if len(r) > 40 {
		return ""
	}
	return r
}

// setClock takes over the store's time, and reports whether it differs enough to matter.
func (s *store) setClock(e *objectlist.Element) bool {
	t, err := time.Parse(time.RFC3339, e.Value("ServerTime"))
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	skew := t.Sub(s.now())
	if d := skew - s.skew; d > -time.Minute && d < time.Minute {
		return false
	}
	s.skew = skew
	return true
}

// clean is a text of the store, cut, and without what must not be shown should it repeat that.
func (s *store) clean(text string, resp *httprange.Response) string {
	s.mu.Lock()
	k := s.keys
	s.mu.Unlock()
	secrets := []string{}
	if k != nil {
		secrets = append(secrets, k.Secret, k.Token, k.AccessKey)
	}
	if u, err := url.Parse(resp.Asked()); err == nil {
		secrets = append(secrets, u.Query().Get("X-Amz-Signature"))
	}
	for _, x := range secrets {
		if x != "" {
			text = strings.ReplaceAll(text, x, "…")
			text = strings.ReplaceAll(text, httprange.Escape(x, false), "…")
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return text
}
