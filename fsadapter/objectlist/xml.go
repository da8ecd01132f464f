package objectlist

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Element is one element of an XML answer. Names have no namespace prefix.
type Element struct {
	Name     string
	Attrs    string // raw
	Text     string // all text directly in it
	Children []*Element
}

// maxDepth of elements; the answers of stores have 5.
const maxDepth = 32

// ParseXML reads a whole XML document, as far as the answers of stores need it: elements, text,
// references, CDATA; no DTD. A document that is cut is an error. It is much smaller in a browser's
// program than encoding/xml.
func ParseXML(b []byte) (*Element, error) {
	s := string(b)
	root := &Element{}
	stack := []*Element{root}
	top := func() *Element { return stack[len(stack)-1] }
	fail := func(rest, why string) (*Element, error) {
		return nil, fmt.Errorf("the XML is wrong at byte %d: %s", len(s)-len(rest), why)
	}
	for rest := strings.TrimPrefix(s, "\ufeff"); rest != ""; {
		if rest[0] != '<' {
			i := strings.IndexByte(rest, '<')
			if i < 0 {
				i = len(rest)
			}
			text, err := unescape(rest[:i])
			if err != nil {
				return fail(rest, err.Error())
			}
			if len(stack) == 1 && strings.TrimSpace(text) != "" {
				return fail(rest, "text outside the root")
			}
			top().Text += text
			rest = rest[i:]
			continue
		}
		if after, ok := strings.CutPrefix(rest, "<![CDATA["); ok {
			text, after, ok := strings.Cut(after, "]]>")
			if !ok {
				return fail(rest, "a CDATA section does not end")
			}
			top().Text += text
			rest = after
			continue
		}
		end := ">"
		switch {
		case strings.HasPrefix(rest, "<!--"):
			end = "-->"
		case strings.HasPrefix(rest, "<?"):
			end = "?>"
		case strings.HasPrefix(rest, "<!"):
			return fail(rest, "a document type is not taken")
		}
		i := strings.Index(rest, end)
		if i < 0 {
			return fail(rest, "a tag does not end")
		}
		tag := rest[1:i]
		if end != ">" {
			rest = rest[i+len(end):]
			continue
		}
		if name, ok := strings.CutPrefix(tag, "/"); ok {
			if len(stack) == 1 || local(strings.TrimSpace(name)) != top().Name {
				return fail(rest, "an end tag without its start")
			}
			stack = stack[:len(stack)-1]
			rest = rest[i+1:]
			continue
		}
		if len(stack) == 1 && len(root.Children) > 0 {
			return fail(rest, "a second root")
		}
		tag, empty := strings.CutSuffix(tag, "/")
		name, attrs := tag, ""
		if j := strings.IndexAny(tag, " \t\r\n"); j >= 0 {
			name, attrs = tag[:j], tag[j+1:]
		}
		if name == "" {
			return fail(rest, "a tag without a name")
		}
		e := &Element{Name: local(name), Attrs: attrs}
		top().Children = append(top().Children, e)
		if !empty {
			if len(stack) > maxDepth {
				return fail(rest, "the elements are nested too deeply")
			}
			stack = append(stack, e)
		}
		rest = rest[i+1:]
	}
	if len(stack) != 1 {
		return nil, fmt.Errorf("the XML ends before </%.40s>", top().Name)
	}
	if len(root.Children) == 0 {
		return nil, errors.New("there is no XML")
	}
	return root.Children[0], nil
}

// local takes a namespace prefix off.
func local(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

// Child is the first child of a name, or nil.
func (e *Element) Child(name string) *Element {
	if e != nil {
		for _, c := range e.Children {
			if c.Name == name {
				return c
			}
		}
	}
	return nil
}

// Value is the text of the first child of a name, "" if there is none.
func (e *Element) Value(name string) string {
	if c := e.Child(name); c != nil {
		return c.Text
	}
	return ""
}

func unescape(s string) (string, error) {
	if strings.IndexByte(s, '&') < 0 {
		return s, nil
	}
	var b strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		ref, rest, ok := strings.Cut(s[i+1:], ";")
		if !ok {
			return "", errors.New("a reference does not end")
		}
		s = rest
		switch ref {
		case "amp":
			b.WriteByte('&')
		case "lt":
			b.WriteByte('<')
		case "gt":
			b.WriteByte('>')
		case "quot":
			b.WriteByte('"')
		case "apos":
			b.WriteByte('\'')
		default:
			num, isNum := strings.CutPrefix(ref, "#")
			base := 10
			if h, ok := strings.CutPrefix(num, "x"); ok {
				num, base = h, 16
			}
			n, err := strconv.ParseUint(num, base, 32)
			if !isNum || err != nil || n > utf8.MaxRune {
				return "", fmt.Errorf("the reference &%.10s; is unknown", ref)
			}
			b.WriteRune(rune(n))
		}
	}
	return b.String(), nil
}
