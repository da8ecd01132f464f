// Package httprange reads a table from any web server that answers GET with a Range.
//
// Every read is one GET with "Range: bytes=a-b": no suffix ranges, no several ranges, no
// conditional headers, because one server or another gets each of those wrong or a
// browser asks for permission first. The size and the version of a file come from the
// first answer and are compared with every later one, so bytes of two versions are never
// mixed. Directories come from the server's listing pages (package listing).
package httprange

import (
	"context"
	"io"
)

// Request is what a Fetcher sends.
type Request struct {
	// Method is GET, HEAD, POST or PROPFIND.
	Method string
	// URL is absolute; its query may hold credentials.
	URL string
	// Range is the value of the Range header, "" for none. With a range the answer must
	// not be compressed.
	Range string
	// Accept and Depth are the values of these headers, "" for none.
	Accept, Depth string
	// Authorization is the value of that header, "" for none. It is a secret, and in a browser it
	// makes another origin be asked for permission first.
	Authorization string
	// Body is sent with POST, as ContentType.
	Body        []byte
	ContentType string
}

// Response is an answer. Its Body must be closed.
type Response struct {
	Status int
	// URL is where the answer came from, after redirects.
	URL string
	// Header returns a header's value, "" when there is none or a browser hides it.
	Header func(name string) string
	// Body yields the bytes as sent, or as decoded when Decoded is true. A body that the
	// transport knows to be cut ends with an error other than io.EOF.
	Body io.ReadCloser
	// Decoded is true when the transport undoes a Content-Encoding by itself.
	Decoded bool

	asked string // the URL of the request
}

// Fetcher sends one request. It follows redirects, keeps no cookies and no cache, and
// stops when ctx ends, also while the body is read. Answers of any status are no error; an
// error means that there is no answer, and its text must not hold the URL's query.
type Fetcher interface {
	Fetch(ctx context.Context, req *Request) (*Response, error)
}

// NoAnswer is the error of a Fetcher that got no answer.
type NoAnswer struct {
	// Opaque is true in a browser, which tells a page neither the reason nor whether it
	// was the network or a refusal by cross-origin rules.
	Opaque bool
	Err    error
}

func (e *NoAnswer) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *NoAnswer) Unwrap() error { return e.Err }
