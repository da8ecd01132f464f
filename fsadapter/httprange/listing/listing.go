// Package listing reads the directory pages that web servers make: JSON (nginx, Caddy,
// serve), XML (nginx), WebDAV multistatus, and HTML (nginx, Apache, lighttpd, Caddy,
// Python, http-server, rclone, Go and others). It does no I/O.
//
// From HTML only the link targets count: the link text is cut, rounded or rewritten by
// one server or another. Sizes are taken only where they are exact.
package listing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hudiscope/core/storage"
)

// ErrNotListing says that a page is not a directory listing of any known kind.
var ErrNotListing = errors.New("the answer is not a directory listing")

// ErrTruncated says that a page is a directory listing whose end is missing. The same request may
// be answered whole.
var ErrTruncated = errors.New("the listing broke off")

// Parse reads a directory page. pageURL is the URL it came from, after redirects. Names
// come out sorted, plain (not URL-encoded), without duplicates. The listing is not
// complete when an entry had to be left out, or when the page has links but nothing else
// that marks a listing. A page that is no listing gives an error that wraps ErrNotListing, one that was
// cut short an error that wraps ErrTruncated: a connection that ends without a length before the page
// does looks to the transport like the end of the page.
//
// Parse can't know whether the server hides names; see package httprange.
func Parse(contentType string, body []byte, pageURL string) (storage.Listing, error) {
	base := splitURL(pageURL)
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	start := bytes.TrimLeft(body, " \t\r\n")
	ct, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	ct = strings.TrimSpace(ct)
	c := &collector{at: map[string]int{}}
	var err error
	switch {
	case len(start) > 0 && (start[0] == '[' || start[0] == '{') && (strings.HasSuffix(ct, "json") || ct == "" || !bytes.Contains(start[:min(len(start), 4096)], []byte("<"))):
		err = c.json(start)
	case strings.HasSuffix(ct, "json"):
		err = fmt.Errorf("%w: JSON that is neither a list nor an object", ErrNotListing)
	case isXML(ct, start):
		err = c.xml(body, base)
	case strings.Contains(ct, "html") || ct == "" || bytes.HasPrefix(start, []byte("<")):
		err = c.html(body, base)
	default:
		err = fmt.Errorf("%w: it has the type %q", ErrNotListing, ct)
	}
	if err != nil {
		return storage.Listing{}, err
	}
	slices.SortFunc(c.entries, func(a, b storage.Entry) int { return strings.Compare(a.Name, b.Name) })
	l := storage.Listing{Entries: c.entries, Complete: true}
	switch {
	case c.dropped > 0:
		l.Complete = false
		l.Note = fmt.Sprintf("The server lists %d names that can't be file names; they were left out.", c.dropped)
	case c.unsure:
		l.Complete = false
		l.Note = "The page does not look like a directory listing; its links were taken as names."
	}
	return l, nil
}

// collector gathers entries by name.
type collector struct {
	entries []storage.Entry
	at      map[string]int
	dropped int
	unsure  bool
}

// add takes an entry in; of two with one name the better known values stay.
func (c *collector) add(e storage.Entry) {
	if e.Name == "" || e.Name == "." || e.Name == ".." || strings.ContainsAny(e.Name, "/\x00") {
		c.dropped++
		return
	}
	if e.Dir {
		e.Size = storage.SizeUnknown
	}
	i, seen := c.at[e.Name]
	if !seen {
		c.at[e.Name] = len(c.entries)
		c.entries = append(c.entries, e)
		return
	}
	old := &c.entries[i]
	old.Dir = old.Dir || e.Dir
	if old.Dir {
		old.Size = storage.SizeUnknown
	} else if old.Size < 0 {
		old.Size = e.Size
	}
	if old.ModTime.IsZero() {
		old.ModTime = e.ModTime
	}
}

// json reads the lists of nginx, Caddy and serve, told apart by their fields.
func (c *collector) json(body []byte) error {
	type item struct {
		Name    *string         `json:"name"`
		Base    *string         `json:"base"` // serve
		Type    string          `json:"type"` // nginx, serve
		IsDir   *bool           `json:"is_dir"`
		Size    json.RawMessage `json:"size"` // a number, or rounded text (serve)
		MTime   string          `json:"mtime"`
		ModTime string          `json:"mod_time"`
	}
	var items []item
	if body[0] == '{' {
		var page struct {
			Files *[]item `json:"files"`
		}
		if err := json.Unmarshal(body, &page); isCut(err) {
			return fmt.Errorf("%w: the JSON ends before its last bracket", ErrTruncated)
		} else if err != nil || page.Files == nil {
			return fmt.Errorf("%w: a JSON object without a list of files", ErrNotListing)
		}
		items = *page.Files
	} else if err := json.Unmarshal(body, &items); isCut(err) {
		return fmt.Errorf("%w: the JSON ends before its last bracket", ErrTruncated)
	} else if err != nil {
		return fmt.Errorf("%w: %v", ErrNotListing, err)
	}
	for _, it := range items {
		e := storage.Entry{Size: storage.SizeUnknown}
		switch {
		case it.Base != nil: // serve
			e.Name = *it.Base
			if e.Name == ".." {
				continue
			}
			e.Dir = it.Type != "file"
		case it.Name != nil && it.IsDir != nil: // Caddy
			e.Name, e.Dir = *it.Name, *it.IsDir
		case it.Name != nil && (it.Type == "directory" || it.Type == "file" || it.Type == "other"): // nginx
			e.Name, e.Dir = *it.Name, it.Type == "directory"
			if it.Type == "other" {
				continue // a device or socket
			}
		default:
			return fmt.Errorf("%w: JSON with other fields than a listing has", ErrNotListing)
		}
		if e.Dir {
			e.Name = strings.TrimSuffix(e.Name, "/")
		}
		if n, err := strconv.ParseInt(string(it.Size), 10, 64); err == nil && n >= 0 {
			e.Size = n
		}
		for _, s := range []string{it.MTime, it.ModTime} {
			if t := parseTime(s); !t.IsZero() {
				e.ModTime = t
			}
		}
		c.add(e)
	}
	return nil
}

// isCut reports whether an error of package json is that the document ends too early.
func isCut(err error) bool {
	var s *json.SyntaxError
	return errors.As(err, &s) && s.Error() == "unexpected end of JSON input"
}

func parseTime(s string) time.Time {
	for _, layout := range []string{time.RFC3339, "Mon, 02 Jan 2006 15:04:05 GMT"} {
		if t, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// CleanETag takes the quotes and the weakness mark off an entity tag.
func CleanETag(s string) string {
	s = strings.TrimPrefix(strings.TrimSpace(s), "W/")
	return strings.Trim(s, `"`)
}
