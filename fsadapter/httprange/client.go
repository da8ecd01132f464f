package httprange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hudiscope/core/storage"
	"hudiscope/core/storage/flight"
	"hudiscope/core/storage/lru"
	"hudiscope/fsadapter/httprange/listing"
)

// Options adjusts a Client. A zero field takes its default.
type Options struct {
	// Fetcher sends the requests; default NewFetcher().
	Fetcher Fetcher
	// Attempts is how often a request is sent before its failure is reported: after 408,
	// 429 and 5xx, a cut answer, or a lost connection to a server that has answered
	// before. Default 4.
	Attempts int
	// Backoff is the wait before the second attempt, doubled for each further one.
	// Default 250 ms. A Retry-After header takes its place.
	Backoff time.Duration
	// MaxWait is the longest Retry-After that is waited for. Default 20 s.
	MaxWait time.Duration
	// WholeLimit is the size in bytes up to which a file is taken whole from a server
	// that ignores Range. Default 64 MiB.
	WholeLimit int64
	// Idle is how long a server may send nothing at all: from the request to the first byte of the
	// answer, and from one byte of the body to the next. Such a request is given up and sent once
	// more. Default 60 s; negative for no limit.
	Idle time.Duration
	// MaxListing is the largest directory page read, in bytes. Default 64 MiB.
	MaxListing int64
}

// Client reads files at URLs. It is safe for concurrent use.
type Client struct {
	o       Options
	reached atomic.Bool // some request was answered

	requests, bytes, retries atomic.Int64

	mu    sync.Mutex
	whole *lru.Cache[*Identity, []byte] // files of servers without Range
	fills flight.Group[*Identity, []byte]
}

// Stats counts what a Client did.
type Stats struct {
	// Requests were sent, Retries of them again after a failure; Bytes of bodies arrived.
	Requests, Retries, Bytes int64
}

// NewClient returns a Client.
func NewClient(o Options) *Client {
	if o.Fetcher == nil {
		o.Fetcher = NewFetcher()
	}
	if o.Attempts <= 0 {
		o.Attempts = 4
	}
	if o.Backoff <= 0 {
		o.Backoff = 250 * time.Millisecond
	}
	if o.MaxWait <= 0 {
		o.MaxWait = 20 * time.Second
	}
	if o.WholeLimit <= 0 {
		o.WholeLimit = 64 << 20
	}
	if o.Idle == 0 {
		o.Idle = 60 * time.Second
	}
	if o.MaxListing <= 0 {
		o.MaxListing = 64 << 20
	}
	return &Client{o: o, whole: lru.New[*Identity, []byte](2*o.WholeLimit, nil)}
}

// Stats returns the counts so far.
func (c *Client) Stats() Stats {
	return Stats{Requests: c.requests.Load(), Retries: c.retries.Load(), Bytes: c.bytes.Load()}
}

// Identity is the size and version of a file, fixed by the first answer for it. Objects
// that share an Identity never mix versions.
type Identity struct {
	mu       sync.Mutex
	size     int64
	etag     string
	modified string
	noRange  bool // the server sent the whole file for a range
}

// NewIdentity returns an Identity with what is known beforehand: a size or
// storage.SizeUnknown, an entity tag or "".
func NewIdentity(size int64, etag string) *Identity {
	return &Identity{size: max(size, storage.SizeUnknown), etag: listing.CleanETag(etag)}
}

func (id *Identity) ignoresRange() bool {
	id.mu.Lock()
	defer id.mu.Unlock()
	return id.noRange
}

func (id *Identity) known() int64 {
	id.mu.Lock()
	defer id.mu.Unlock()
	return id.size
}

// check compares an answer with the identity, or takes over what was not known. size may
// be storage.SizeUnknown.
func (id *Identity) check(size int64, resp *Response) error {
	etag := listing.CleanETag(resp.Header("ETag"))
	modified := resp.Header("Last-Modified")
	id.mu.Lock()
	defer id.mu.Unlock()
	switch {
	case size >= 0 && id.size >= 0 && size != id.size:
		return fmt.Errorf("the file had %d bytes and has %d now", id.size, size)
	case etag != "" && id.etag != "" && etag != id.etag:
		return errors.New("the file has another ETag than before")
	case (etag == "" || id.etag == "") && modified != "" && id.modified != "" && modified != id.modified:
		return fmt.Errorf("the file was modified at %s, before that at %s", modified, id.modified)
	}
	if id.size < 0 {
		id.size = size
	}
	if id.etag == "" {
		id.etag = etag
	}
	if id.modified == "" {
		id.modified = modified
	}
	return nil
}

// Object returns the file at a URL. path and location name it in errors. Opening sends
// nothing.
func (c *Client) Object(rawURL, path, location string, id *Identity) storage.Object {
	return &object{c: c, t: fixed(rawURL), url: rawURL, path: path, location: location, id: id}
}

type object struct {
	c                   *Client
	t                   *Target
	url, path, location string // url is "" when every request has its own
	id                  *Identity
	closed              atomic.Bool
}

var _ storage.KnownSizer = (*object)(nil)

func (o *object) fault(kind storage.FaultKind, status int, err error, try string) *storage.Fault {
	return &storage.Fault{Op: "read", Path: o.path, Location: o.location, Status: status, Kind: kind, Try: try, Err: redacted(err, o.url)}
}

// KnownSize is the size if an answer or a bundle has told it.
func (o *object) KnownSize() (int64, bool) {
	n := o.id.known()
	return n, n >= 0
}

// Size asks for the first byte if no answer has told the size yet, and sends HEAD if
// that answer did not either.
func (o *object) Size(ctx context.Context) (int64, error) {
	if n := o.id.known(); n >= 0 {
		return n, ctx.Err()
	}
	var p [1]byte
	if _, err := o.ReadAt(ctx, p[:], 0); err != nil && err != io.EOF {
		return 0, err
	}
	if n := o.id.known(); n >= 0 {
		return n, nil
	}
	return o.head(ctx)
}

func (o *object) head(ctx context.Context) (int64, error) {
	const try = "Let the server expose Content-Range (Access-Control-Expose-Headers: Content-Range, ETag, Content-Length), or give the sizes in a URL bundle."
	req, err := o.t.Request(ctx, "HEAD")
	if err != nil {
		return 0, err
	}
	req.Method = "HEAD"
	resp, err := o.c.send(ctx, req)
	if err != nil {
		return 0, final(o.c.unreachable(ctx, err, req.URL, "read", o.path, o.location))
	}
	defer resp.Body.Close()
	n, ok := contentLength(resp)
	if resp.Status != 200 || !ok || resp.Header("Content-Encoding") != "" {
		return 0, o.fault(storage.Failed, resp.Status, errors.New("the server does not tell the size of the file"), try)
	}
	if err := o.id.check(n, resp); err != nil {
		return 0, o.changed(err)
	}
	return n, nil
}

func (o *object) changed(err error) error {
	o.c.drop(o.id)
	return o.fault(storage.Changed, 0, err, "The file was replaced while it was read; reload the table.")
}

func (o *object) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if o.closed.Load() {
		return 0, o.fault(storage.Failed, 0, fs.ErrClosed, "")
	}
	if off < 0 {
		return 0, o.fault(storage.Refused, 0, fmt.Errorf("the offset %d is negative", off), "")
	}
	if err := ctx.Err(); err != nil || len(p) == 0 {
		return 0, err
	}
	want := p
	if size := o.id.known(); size >= 0 {
		if off >= size {
			return 0, io.EOF
		}
		want = p[:min(int64(len(p)), size-off)]
	}
	n, err := o.read(ctx, want, off)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

func (o *object) Close() error { o.closed.Store(true); return nil }

// again marks an error after which the same request may succeed.
type again struct {
	fault *storage.Fault
	wait  time.Duration // from Retry-After; 0 for the usual, negative for none
	// refused means that the Target can make another request than the one that was refused.
	refused bool
	// stalled means that the server sent nothing for Options.Idle. Each such failure has taken so long
	// that only one is followed by another attempt.
	stalled bool
}

func (a *again) Error() string { return a.fault.Error() }

// final is err for a caller that does not try again.
func final(err error) error {
	var a *again
	if errors.As(err, &a) {
		return a.fault
	}
	return err
}

// read fills p from off, going on where an answer broke off. It returns fewer bytes
// only at the end of the file.
func (o *object) read(ctx context.Context, p []byte, off int64) (int, error) {
	b := o.c.wholeOf(o.id)
	if b == nil && o.id.ignoresRange() {
		var err error
		b, err = o.c.fills.Do(ctx, o.id, func(ctx context.Context) ([]byte, error) {
			_, err := o.attempts(ctx, make([]byte, 1), 0)
			return o.c.wholeOf(o.id), err
		})
		if err != nil {
			return 0, err
		}
	}
	if b != nil {
		if off >= int64(len(b)) {
			return 0, nil
		}
		return copy(p, b[off:]), nil
	}
	return o.attempts(ctx, p, off)
}

func (o *object) attempts(ctx context.Context, p []byte, off int64) (int, error) {
	got, failures, renewed, stalled := 0, 0, false, false
	for {
		n, err := o.once(ctx, p[got:], off+int64(got))
		got += n
		var a *again
		if !errors.As(err, &a) {
			return got, err
		}
		if a.refused {
			if renewed {
				return got, a.fault
			}
			renewed = true
			continue
		}
		if n >= 64<<10 {
			failures, stalled = 0, false // it does get on
		}
		failures++
		if failures >= o.c.o.Attempts || a.stalled && stalled {
			return got, a.fault
		}
		stalled = stalled || a.stalled
		if err := o.c.pause(ctx, failures, a); err != nil {
			return got, err
		}
	}
}

// once sends one request for all of p. Fewer bytes without an error mean the end of the
// file.
func (o *object) once(ctx context.Context, p []byte, off int64) (int, error) {
	end := off + int64(len(p)) - 1
	req, err := o.t.Request(ctx, "GET")
	if err != nil {
		return 0, err
	}
	req.Method, req.Range = "GET", fmt.Sprintf("bytes=%d-%d", off, end)
	resp, err := o.c.send(ctx, req)
	if err != nil {
		return 0, o.c.unreachable(ctx, err, req.URL, "read", o.path, o.location)
	}
	defer resp.Body.Close()
	switch resp.Status {
	case 206:
		return o.part(ctx, resp, p, off)
	case 200:
		return o.all(ctx, resp, p, off)
	case 416:
		return 0, o.beyond(ctx, resp, off)
	}
	return 0, o.c.status(resp, o.t, "read", o.path, o.location)
}

const badRanges = "The server does not answer ranges correctly; use another way to the table, such as a .zip."

// part reads an answer of status 206.
func (o *object) part(ctx context.Context, resp *Response, p []byte, off int64) (int, error) {
	if o.isFolder(resp) {
		return 0, o.fault(storage.NotFound, 0, errors.New("it is a directory"), "")
	}
	if enc := resp.Header("Content-Encoding"); enc != "" && enc != "identity" {
		return 0, o.encoded(resp, enc)
	}
	n, total := int64(-1), storage.SizeUnknown
	if cr := resp.Header("Content-Range"); cr != "" {
		a, b, t, ok := contentRange(cr)
		if ok && t == 0 {
			return 0, o.identity(0, resp) // an empty file is answered with a range of nothing by some
		}
		if !ok || a != off || b < a || b-a >= int64(len(p)) || t >= 0 && b >= t {
			return 0, o.fault(storage.Failed, 206, fmt.Errorf("the answer to bytes %d-%d has the Content-Range %.60q", off, off+int64(len(p))-1, cr), badRanges)
		}
		n, total = b-a+1, t
	} else if l, ok := contentLength(resp); ok {
		if l > int64(len(p)) {
			return 0, o.fault(storage.Failed, 206, fmt.Errorf("%d bytes came for a range of %d", l, len(p)), badRanges)
		}
		n = l
		if l < int64(len(p)) {
			total = off + l
		}
	} else {
		return 0, o.fault(storage.Failed, 206, errors.New("the answer to a range has neither Content-Range nor Content-Length that could be read"),
			"Let the server send Access-Control-Expose-Headers: Content-Range, ETag, Content-Length.")
	}
	if err := o.identity(total, resp); err != nil {
		return 0, err
	}
	got, err := io.ReadFull(resp.Body, p[:n])
	o.c.bytes.Add(int64(got))
	if int64(got) < n {
		if ctx.Err() != nil {
			return got, ctx.Err()
		}
		return got, &again{fault: o.cut(off, n, int64(got), err), stalled: isStall(err)}
	}
	if off == 0 && o.isPage(resp, p[:got]) {
		return 0, o.page(resp)
	}
	if n < int64(len(p)) && (total < 0 || off+n < total) {
		// Less than asked for, and not the end: a server may do so; ask for the rest.
		return got, &again{fault: o.cut(off, int64(len(p)), n, nil), wait: -1}
	}
	return got, nil
}

// all reads an answer of status 200: the server ignores Range.
func (o *object) all(ctx context.Context, resp *Response, p []byte, off int64) (int, error) {
	if o.isFolder(resp) {
		return 0, o.fault(storage.NotFound, 0, errors.New("it is a directory"), "")
	}
	if enc := resp.Header("Content-Encoding"); enc != "" && enc != "identity" && !resp.Decoded {
		return 0, o.encoded(resp, enc)
	}
	limit := o.c.o.WholeLimit
	noRange := func(size string) error {
		return o.fault(storage.NoRange, 200, fmt.Errorf("the server ignores Range and the file has %s, more than the %d that are taken whole", size, limit),
			"Serve the table with a server that answers Range requests (nginx, Apache, Caddy, hudiscope serve), or open it as a directory or .zip.")
	}
	l, hasLength := contentLength(resp)
	hasLength = hasLength && resp.Header("Content-Encoding") == ""
	if hasLength && l > limit {
		return 0, noRange(fmt.Sprintf("%d bytes", l))
	}
	b, err := readBody(resp.Body, limit)
	o.c.bytes.Add(int64(len(b)))
	if int64(len(b)) > limit {
		return 0, noRange("still more bytes")
	}
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err != nil || hasLength && int64(len(b)) < l {
		return 0, &again{fault: o.cut(0, l, int64(len(b)), err), stalled: isStall(err)}
	}
	if o.isPage(resp, b) {
		return 0, o.page(resp)
	}
	if err := o.identity(int64(len(b)), resp); err != nil {
		return 0, err
	}
	o.id.mu.Lock()
	o.id.noRange = true
	o.id.mu.Unlock()
	o.c.keepWhole(o.id, b)
	if off >= int64(len(b)) {
		return 0, nil
	}
	return copy(p, b[off:]), nil
}

// beyond judges an answer of status 416.
func (o *object) beyond(ctx context.Context, resp *Response, off int64) error {
	_, _, total, ok := contentRange(resp.Header("Content-Range"))
	if !ok {
		total = storage.SizeUnknown
	}
	if off == 0 {
		if total > 0 {
			if err := o.identity(total, bare); err != nil {
				return err
			}
			return o.fault(storage.Failed, 416, fmt.Errorf("the server refuses the first bytes of a file of %d", total), badRanges)
		}
		return o.identity(0, bare)
	}
	if total < 0 {
		if o.id.known() < 0 {
			_, err := o.head(ctx)
			return err
		}
		// Only bytes within the known size are ever asked for.
		return o.changed(errors.New("the file has become shorter"))
	}
	if total > off {
		return o.fault(storage.Failed, 416, fmt.Errorf("the server refuses bytes from %d of a file of %d", off, total), badRanges)
	}
	return o.identity(total, bare)
}

// bare has no headers: the entity tag of an error answer may be that of the error page.
var bare = &Response{Header: func(string) string { return "" }}

func (o *object) identity(size int64, resp *Response) error {
	if err := o.id.check(size, resp); err != nil {
		return o.changed(err)
	}
	return nil
}

func (o *object) cut(off, want, got int64, err error) *storage.Fault {
	why := fmt.Errorf("%d of %d bytes from %d arrived", got, want, off)
	if want < 0 {
		why = fmt.Errorf("the answer broke off after %d bytes", got)
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		why = fmt.Errorf("%w: %w", why, err)
	}
	return o.fault(storage.Truncated, 0, why, "The connection or the server cuts answers short; try again.")
}

func (o *object) encoded(resp *Response, enc string) error {
	return o.fault(storage.Failed, resp.Status, fmt.Errorf("the server compresses the file (%.20s)", enc), "Switch compression off for the table's files on the server.")
}

// isFolder reports whether the server led from the file's URL to that of a folder.
func (o *object) isFolder(resp *Response) bool {
	from, _, _ := strings.Cut(resp.asked, "?")
	to, _, _ := strings.Cut(resp.URL, "?")
	return strings.HasSuffix(to, "/") && !strings.HasSuffix(from, "/")
}

// isPage reports whether a file's content is a web page in its place, as servers of
// single-page applications answer for anything they don't have, and some for folders.
func (o *object) isPage(resp *Response, b []byte) bool {
	if !strings.Contains(strings.ToLower(resp.Header("Content-Type")), "text/html") || strings.HasSuffix(strings.ToLower(o.path), "html") {
		return false
	}
	return strings.HasPrefix(strings.TrimLeft(string(b[:min(len(b), 64)]), " \t\r\n\ufeff"), "<")
}

func (o *object) page(resp *Response) error {
	o.c.drop(o.id)
	return o.fault(storage.NotFound, 0, errors.New("the server answers with a web page in place of the file"), "Check that the address is that of the table's base directory.")
}

// wholeOf returns the content of a file that was taken whole.
func (c *Client) wholeOf(id *Identity) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, _ := c.whole.Get(id)
	return b
}

func (c *Client) keepWhole(id *Identity, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(b) > 0 {
		c.whole.Add(id, b, int64(len(b)))
	}
}

func (c *Client) drop(id *Identity) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.whole.Remove(id)
}

// send is one counted request.
func (c *Client) send(ctx context.Context, r *Request) (*Response, error) {
	c.requests.Add(1)
	resp, err := traced{patient{c.o.Fetcher, c.o.Idle}}.Fetch(ctx, r)
	if err == nil {
		c.reached.Store(true)
		resp.asked = r.URL
	}
	return resp, err
}

// unreachable makes an error of a request without an answer; it may be tried again if
// the server has answered before.
func (c *Client) unreachable(ctx context.Context, err error, rawURL, op, path, location string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	try := "Check the address, the network, and that the server runs."
	var na *NoAnswer
	stalled := isStall(err)
	if stalled {
		try = "The server takes the request and does not answer it: try again later, or check that the address and its port are those of a web server."
	} else if errors.As(err, &na) && na.Opaque {
		try = "A browser does not say why. Either the address or the network is wrong: open the address in a tab of its own to see. " +
			"Or the server does not let this page read it (CORS): it must send Access-Control-Allow-Origin with this page's origin or *, " +
			"and Access-Control-Expose-Headers: Content-Range, ETag, Content-Length, with errors too."
		if strings.HasPrefix(rawURL, "http:") {
			try += " A page loaded over https can't read http addresses at all."
		}
	}
	f := &storage.Fault{Op: op, Path: path, Location: location, Kind: storage.Unreachable, Try: try, Err: redacted(err, rawURL)}
	if stalled || c.reached.Load() {
		return &again{fault: f, stalled: stalled}
	}
	return f
}

// status makes an error of a status that is no success.
func (c *Client) status(resp *Response, t *Target, op, path, location string) error {
	f := &storage.Fault{Op: op, Path: path, Location: location, Status: resp.Status, Kind: storage.Failed}
	page, _ := readBody(io.LimitReader(resp.Body, maxErrorPage), maxErrorPage)
	err := c.judge(f, resp, page)
	if t.Explain != nil && t.Explain(f, page, resp) {
		return &again{fault: f, refused: true}
	}
	return err
}

// judge fills in a Fault by the status of the answer. It returns the Fault, or an *again of it.
func (c *Client) judge(f *storage.Fault, resp *Response, page []byte) error {
	switch s := resp.Status; {
	case s == 404 || s == 410:
		f.Kind = storage.NotFound
		f.Try = "Check the address; if the table is being written to, reload it."
	case s == 401 || s == 403:
		f.Kind = storage.Forbidden
		f.Try = "The server refuses access: check the permissions, or use presigned URLs."
		if says(page, "expired", "not valid in the specified time frame") {
			f.Kind = storage.Expired
			f.Try = "The signature of the address has expired: get a new one and open the table again."
		}
	case s == 408 || s == 429 || s >= 500 && s != 501 && s != 505:
		f.Try = "The server is busy or broken; try again later."
		wait := retryAfter(resp.Header("Retry-After"), time.Now())
		if wait > c.o.MaxWait {
			f.Try = fmt.Sprintf("The server asks to wait %d seconds.", int(wait.Seconds()))
			return f
		}
		return &again{fault: f, wait: wait}
	default:
		f.Try = "The server does not answer this request; check the address."
	}
	return f
}

// says looks for words in the first bytes of an error page.
func says(page []byte, words ...string) bool {
	s := strings.ToLower(string(page[:min(len(page), 4096)]))
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// pause waits before attempt n+1.
func (c *Client) pause(ctx context.Context, n int, a *again) error {
	d := c.o.Backoff << min(n-1, 6)
	c.retries.Add(1)
	d = d/2 + rand.N(d/2+1) // so that readers of one server do not come back all at once
	switch {
	case a.wait > 0:
		d = a.wait
	case a.wait < 0:
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// retryAfter reads a number of seconds or a date.
func retryAfter(s string, now time.Time) time.Duration {
	s = strings.TrimSpace(s)
	if n, err := strconv.Atoi(s); err == nil {
		return time.Duration(min(max(n, 0), 1<<20)) * time.Second
	}
	if t, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", s); err == nil {
		return max(t.Sub(now), 0)
	}
	return 0
}

// contentRange reads "bytes a-b/total" and "bytes */total"; total is SizeUnknown for "*".
func contentRange(s string) (a, b, total int64, ok bool) {
	s, ok = strings.CutPrefix(strings.TrimSpace(s), "bytes")
	if !ok {
		return 0, 0, 0, false
	}
	span, t, ok := strings.Cut(strings.TrimSpace(s), "/")
	if !ok {
		return 0, 0, 0, false
	}
	total = storage.SizeUnknown
	if t = strings.TrimSpace(t); t != "*" {
		n, err := strconv.ParseInt(t, 10, 64)
		if err != nil || n < 0 {
			return 0, 0, 0, false
		}
		total = n
	}
	if span = strings.TrimSpace(span); span == "*" {
		return 0, -1, total, true
	}
	from, to, _ := strings.Cut(span, "-")
	a, err1 := strconv.ParseInt(strings.TrimSpace(from), 10, 64)
	b, err2 := strconv.ParseInt(strings.TrimSpace(to), 10, 64) // -1 for an empty file
	return a, b, total, err1 == nil && err2 == nil && a >= 0 && b >= -1
}

func contentLength(resp *Response) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(resp.Header("Content-Length")), 10, 64)
	return n, err == nil && n >= 0
}

// readBody reads a body, but no more than one byte above limit.
// It is put together once: growing one buffer would leave several times its size to be collected.
func readBody(r io.Reader, limit int64) ([]byte, error) {
	r = io.LimitReader(r, limit+1)
	var parts [][]byte
	total := 0
	part := make([]byte, 0, 4<<10)
	for {
		if len(part) == cap(part) {
			parts = append(parts, part)
			total += len(part)
			part = make([]byte, 0, min(2*cap(part), 4<<20))
		}
		n, err := r.Read(part[len(part):cap(part)])
		part = part[:len(part)+n]
		switch {
		case err == nil:
			continue
		case err == io.EOF:
			err = nil
		}
		if len(parts) == 0 {
			return part, err
		}
		all := make([]byte, 0, total+len(part))
		for _, p := range append(parts, part) {
			all = append(all, p...)
		}
		return all, err
	}
}
