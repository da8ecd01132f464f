package httprange

import (
	"context"
	"errors"
	"fmt"

	"hudiscope/core/storage"
)

// maxErrorPage is how much of an error's body is read, in bytes.
const maxErrorPage = 16 << 10

// Target says how something is asked for when that takes more than a fixed URL: a signature
// made for each request, a token, an address that ends.
type Target struct {
	// Request makes the next request, for GET, HEAD or another method of the caller; its Method and
	// Range are set afterwards. An error ends the read, and should be a storage.Fault.
	Request func(ctx context.Context, method string) (*Request, error)
	// Explain completes the Fault of an answer that is no success, by the body (its first bytes) and
	// the headers of the answer. It may be nil. If it returns true, a request made anew may be
	// granted; that is tried once.
	Explain func(f *storage.Fault, body []byte, resp *Response) (again bool)
}

// Asked is the URL of the request that a Response answers. It may hold credentials.
func (r *Response) Asked() string { return r.asked }

func fixed(rawURL string) *Target {
	return &Target{Request: func(context.Context, string) (*Request, error) { return &Request{URL: rawURL}, nil }}
}

// ObjectAt returns the file of a Target; otherwise it is as Object.
func (c *Client) ObjectAt(t *Target, path, location string, id *Identity) storage.Object {
	return &object{c: c, t: t, path: path, location: location, id: id}
}

// Fetch sends a request for a small document, such as a page of a listing, and returns the body
// of an answer of status 200. It is repeated as reads are. op, path and location name it in errors.
func (c *Client) Fetch(ctx context.Context, t *Target, method, op, path, location string) ([]byte, error) {
	for n, renewed, stalled := 1, false, false; ; n++ {
		b, err := c.fetchOnce(ctx, t, method, op, path, location)
		var a *again
		if !errors.As(err, &a) {
			return b, err
		}
		if a.refused {
			if renewed {
				return nil, a.fault
			}
			renewed = true
			continue
		}
		if n >= c.o.Attempts || a.stalled && stalled {
			return nil, a.fault
		}
		stalled = stalled || a.stalled
		if err := c.pause(ctx, n, a); err != nil {
			return nil, err
		}
	}
}

func (c *Client) fetchOnce(ctx context.Context, t *Target, method, op, path, location string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	req, err := t.Request(ctx, method)
	if err != nil {
		return nil, err
	}
	req.Method = method
	resp, err := c.send(ctx, req)
	if err != nil {
		return nil, c.unreachable(ctx, err, req.URL, op, path, location)
	}
	defer resp.Body.Close()
	if resp.Status != 200 {
		return nil, c.status(resp, t, op, path, location)
	}
	f := &storage.Fault{Op: op, Path: path, Location: location, Kind: storage.Truncated}
	l, hasLength := contentLength(resp)
	hasLength = hasLength && resp.Header("Content-Encoding") == "" && !resp.Decoded
	b, err := readBody(resp.Body, c.o.MaxListing)
	c.bytes.Add(int64(len(b)))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case int64(len(b)) > c.o.MaxListing:
		f.Kind, f.Err = storage.Refused, fmt.Errorf("the answer has more than %d bytes", c.o.MaxListing)
		return nil, f
	case err != nil:
		f.Err, f.Try = redacted(fmt.Errorf("the answer broke off: %w", err), req.URL), "The connection or the server cuts answers short; try again."
		return nil, &again{fault: f, stalled: isStall(err)}
	case hasLength && int64(len(b)) < l:
		f.Err, f.Try = fmt.Errorf("%d of %d bytes arrived", len(b), l), "The connection or the server cuts answers short; try again."
		return nil, &again{fault: f}
	}
	return b, nil
}

// Escape percent-encodes all but the unreserved characters of RFC 3986, as signatures want it and
// every server decodes it; a slash too, unless keepSlash.
func Escape(s string, keepSlash bool) string {
	out := make([]byte, 0, len(s)+8)
	const hex = "0123456789ABCDEF"
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.', c == '~', c == '/' && keepSlash:
			out = append(out, c)
		default:
			out = append(out, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(out)
}
