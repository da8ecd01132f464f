package listing

import (
	"bytes"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"hudiscope/core/storage"
)

// scanner cuts markup into tags and text. It accepts anything: what can't be a tag is text.
type scanner struct {
	b    []byte
	html bool // script and style hold raw text
	cut  bool // the markup ended within a tag
}

type token struct {
	text  string // of a text token, unescaped
	name  string // of a tag: lower case, without a namespace prefix
	attrs string // of a start tag, raw
	end   bool   // an end tag
	empty bool   // a start tag that ends itself
}

func (s *scanner) next() (token, bool) {
	for len(s.b) > 0 {
		if s.b[0] != '<' {
			i := bytes.IndexByte(s.b, '<')
			if i < 0 {
				i = len(s.b)
			}
			t := html.UnescapeString(string(s.b[:i]))
			s.b = s.b[i:]
			return token{text: t}, true
		}
		switch {
		case bytes.HasPrefix(s.b, []byte("<!--")):
			s.skipPast("-->")
			continue
		case bytes.HasPrefix(s.b, []byte("<![CDATA[")):
			raw := s.b[len("<![CDATA["):]
			i := bytes.Index(raw, []byte("]]>"))
			if i < 0 {
				i = len(raw)
			}
			s.b = raw[min(len(raw), i+3):]
			return token{text: string(raw[:i])}, true
		case bytes.HasPrefix(s.b, []byte("<!")), bytes.HasPrefix(s.b, []byte("<?")):
			s.skipPast(">")
			continue
		}
		t, n := tag(s.b)
		switch n {
		case 0:
			s.b = s.b[1:]
			return token{text: "<"}, true
		case -1:
			s.b, s.cut = nil, true
			return token{}, false
		}
		s.b = s.b[n:]
		if s.html && !t.end && (t.name == "script" || t.name == "style") {
			s.skipPast("</" + t.name)
			s.skipPast(">")
		}
		return t, true
	}
	return token{}, false
}

// skipPast moves behind the next mark, or to the end. ASCII letters match in any case.
func (s *scanner) skipPast(mark string) {
	for {
		i := bytes.IndexByte(s.b, mark[0])
		if i < 0 || len(s.b)-i < len(mark) {
			s.b = nil
			return
		}
		found := bytes.EqualFold(s.b[i:i+len(mark)], []byte(mark))
		s.b = s.b[i+1:]
		if found {
			s.b = s.b[len(mark)-1:]
			return
		}
	}
}

// tag reads the tag that b begins with and returns its length, 0 if it is none, -1 if it
// does not end.
func tag(b []byte) (token, int) {
	var t token
	i := 1
	if i < len(b) && b[i] == '/' {
		t.end = true
		i++
	}
	start := i
	for i < len(b) && !bytes.ContainsRune([]byte(" \t\r\n/><"), rune(b[i])) {
		i++
	}
	if i == start || !isLetter(b[start]) {
		return t, 0
	}
	name := strings.ToLower(string(b[start:i]))
	if j := strings.IndexByte(name, ':'); j >= 0 {
		name = name[j+1:]
	}
	t.name = name
	start = i
	var quote byte
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && endsWithEquals(b[start:i]):
			quote = c
		case c == '>':
			t.attrs = string(b[start:i])
			t.empty = strings.HasSuffix(t.attrs, "/")
			return t, i + 1
		}
	}
	return t, -1
}

// endsWithEquals tells a quote that opens a value from a stray one.
func endsWithEquals(b []byte) bool {
	b = bytes.TrimRight(b, " \t\r\n")
	return len(b) > 0 && b[len(b)-1] == '='
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// attr returns the unescaped value of an attribute.
func (t token) attr(name string) (string, bool) {
	rest := t.attrs
	for {
		rest = strings.TrimLeft(rest, " \t\r\n/")
		if rest == "" {
			return "", false
		}
		i := strings.IndexAny(rest, "= \t\r\n")
		if i < 0 {
			return "", strings.EqualFold(rest, name)
		}
		key := rest[:i]
		rest = strings.TrimLeft(rest[i:], " \t\r\n")
		val := ""
		if strings.HasPrefix(rest, "=") {
			rest = strings.TrimLeft(rest[1:], " \t\r\n")
			if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
				j := strings.IndexByte(rest[1:], rest[0])
				if j < 0 {
					return "", false
				}
				val, rest = rest[1:1+j], rest[j+2:]
			} else {
				j := strings.IndexAny(rest, " \t\r\n")
				if j < 0 {
					j = len(rest)
				}
				val, rest = rest[:j], rest[j:]
			}
		}
		if strings.EqualFold(key, name) {
			return html.UnescapeString(val), true
		}
	}
}

// isXML tells XML listings from HTML by their root element.
func isXML(ct string, start []byte) bool {
	if strings.Contains(ct, "html") {
		return false
	}
	s := scanner{b: start[:min(len(start), 4096)]}
	for {
		t, ok := s.next()
		if !ok {
			return strings.HasSuffix(ct, "xml")
		}
		if t.name != "" {
			return t.name != "html" && (strings.HasSuffix(ct, "xml") || t.name == "multistatus" || t.name == "list")
		}
	}
}

// xml reads nginx's own list and WebDAV multistatus answers.
func (c *collector) xml(body []byte, base location) error {
	s := scanner{b: body}
	root := ""
	var (
		open     string // the innermost open element that matters
		text     strings.Builder
		e        storage.Entry
		href     string
		closed   bool // the root element has ended
		finished bool
	)
	for {
		t, ok := s.next()
		if !ok {
			break
		}
		if t.name == "" {
			if open != "" {
				text.WriteString(t.text)
			}
			continue
		}
		if root == "" {
			root = t.name
			if root != "list" && root != "multistatus" {
				what := fmt.Sprintf("XML with the root <%s>", root)
				switch root {
				case "listbucketresult", "enumerationresults":
					what = "the list of an object store, which this adapter does not read; use a URL bundle"
				case "error":
					what = "an XML error"
				}
				return fmt.Errorf("%w: %s", ErrNotListing, what)
			}
			continue
		}
		if t.end && t.name == root {
			closed = true
			break
		}
		switch root {
		case "list":
			switch {
			case !t.end && (t.name == "directory" || t.name == "file"):
				e = storage.Entry{Dir: t.name == "directory", Size: storage.SizeUnknown}
				if v, ok := t.attr("size"); ok {
					e.Size = parseSize(v)
				}
				v, _ := t.attr("mtime")
				e.ModTime = parseTime(v)
				open = t.name
				text.Reset()
			case t.end && t.name == open:
				e.Name = text.String()
				c.add(e)
				open = ""
			}
		case "multistatus":
			switch {
			case !t.end && t.name == "response":
				e, href, finished = storage.Entry{Size: storage.SizeUnknown}, "", false
			case !t.end && t.name == "collection":
				e.Dir = true
			case !t.end && !t.empty && (t.name == "href" || t.name == "getcontentlength" || t.name == "getlastmodified" || t.name == "getetag"):
				open = t.name
				text.Reset()
			case t.end && t.name == open:
				v := strings.TrimSpace(text.String())
				switch open {
				case "href":
					if href == "" {
						href = v
					}
				case "getcontentlength":
					e.Size = parseSize(v)
				case "getlastmodified":
					e.ModTime = parseTime(v)
				case "getetag":
					e.ETag = CleanETag(v)
				}
				open = ""
			case t.end && t.name == "response" && !finished:
				finished = true
				switch name, dir, rel := base.child(href); rel {
				case isChild:
					e.Name, e.Dir = name, e.Dir || dir
					c.add(e)
				case isBad:
					c.dropped++
				}
			}
		}
	}
	if root == "" {
		return fmt.Errorf("%w: there is no XML", ErrNotListing)
	}
	if !closed {
		return fmt.Errorf("%w: the XML ends before </%s>", ErrTruncated, root)
	}
	return nil
}

func parseSize(s string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || n < 0 {
		return storage.SizeUnknown
	}
	return n
}

// closing are the elements that every server which opens them in a listing closes, outermost first.
var closing = [...]string{"html", "table", "ul", "pre"}

// html reads any page of links to the children of its own folder.
func (c *collector) html(body []byte, base location) error {
	s := scanner{b: body, html: true}
	var (
		cur    *storage.Entry // the child whose row is being read
		row    strings.Builder
		inLink bool
		head   strings.Builder // text of title and headings
		inHead bool
		marks  bool // something that only listings have
		titled bool
		pre    bool
		open   [len(closing)]int // how many of each are open
	)
	flush := func() {
		if cur == nil {
			return
		}
		if cur.Size < 0 {
			cur.Size = rowSize(row.String())
		}
		c.add(*cur)
		cur = nil
	}
	for {
		t, ok := s.next()
		if !ok {
			break
		}
		if i := slices.Index(closing[:], t.name); i >= 0 {
			if !t.end {
				open[i]++
			} else if open[i] > 0 {
				open[i]--
			}
		}
		switch t.name {
		case "":
			if inHead {
				head.WriteString(t.text)
			}
			if cur != nil && !inLink {
				row.WriteString(t.text)
			}
			continue
		case "title", "h1", "h2":
			inHead = !t.end
			titled = true
			head.WriteByte(' ')
		case "pre":
			pre = true
		case "a":
			inLink = !t.end
			if t.end {
				break
			}
			flush()
			href, ok := t.attr("href")
			if !ok {
				break
			}
			if strings.HasPrefix(href, "?C=") || strings.HasPrefix(href, "?sort=") {
				marks = true
			}
			switch name, dir, rel := base.child(href); rel {
			case isChild:
				cur = &storage.Entry{Name: name, Dir: dir, Size: storage.SizeUnknown}
				row.Reset()
			case isParent:
				marks = true
			case isBad:
				c.dropped++
			}
		case "tr", "li":
			flush()
		case "td":
			if cur != nil && !t.end && !cur.Dir && cur.Size < 0 {
				if v, ok := t.attr("data-order"); ok {
					cur.Size = parseSize(v)
				}
			}
		case "time":
			if v, ok := t.attr("datetime"); ok && cur != nil {
				cur.ModTime = parseTime(v)
			}
		}
		if cur != nil && !inLink {
			row.WriteByte(' ')
		}
	}
	flush()
	h := strings.ToLower(head.String())
	for _, m := range []string{"index of", "directory listing", "listing of"} {
		marks = marks || strings.Contains(h, m)
	}
	marks = marks || pre && !titled // Go's file server: a bare list
	if !marks {
		if len(c.entries) == 0 {
			return fmt.Errorf("%w: an HTML page without links to files in its folder", ErrNotListing)
		}
		c.unsure = true
	}
	for i, n := range open {
		if n > 0 {
			return fmt.Errorf("%w: the page ends before </%s>", ErrTruncated, closing[i])
		}
	}
	if s.cut {
		return fmt.Errorf("%w: the page ends within a tag", ErrTruncated)
	}
	return nil
}

// rowSize finds an exact size in the text behind a link: date, time, digits. Rounded
// sizes ("428K") are not sizes.
func rowSize(s string) int64 {
	f := strings.Fields(strings.ReplaceAll(s, "\u00a0", " "))
	if len(f) < 3 || strings.Count(f[0], "-") != 2 || !strings.Contains(f[1], ":") {
		return storage.SizeUnknown
	}
	for _, r := range f[2] {
		if r < '0' || r > '9' {
			return storage.SizeUnknown
		}
	}
	return parseSize(f[2])
}
