package config

import (
	"fmt"
	"unicode/utf16"

	"hudiscope/core/corrupt"
)

// Property is one entry of a .properties file.
type Property struct {
	Key, Value string
	// Line counts from 1; Offset is the byte offset of the key. A value that goes on over
	// several lines belongs to the line it begins on.
	Line   int
	Offset int64
}

// Properties is a parsed Java .properties file: the entries in the order they are
// stored. When a key occurs twice the last one counts, as in Java.
type Properties struct {
	Entries []Property
	last    map[string]int
}

// Lookup returns the value of a key and whether it is there.
func (p *Properties) Lookup(key string) (string, bool) {
	i, ok := p.last[key]
	if !ok {
		return "", false
	}
	return p.Entries[i].Value, true
}

// Get returns the value of a key, "" when it is absent.
func (p *Properties) Get(key string) string { v, _ := p.Lookup(key); return v }

// Entry returns the entry that counts for a key, to name its line.
func (p *Properties) Entry(key string) (Property, bool) {
	i, ok := p.last[key]
	if !ok {
		return Property{}, false
	}
	return p.Entries[i], true
}

// Map returns all properties, as Hudi's getProps() does.
func (p *Properties) Map() map[string]string {
	m := make(map[string]string, len(p.last))
	for k, i := range p.last {
		m[k] = p.Entries[i].Value
	}
	return m
}

// ParseProperties parses the format of java.util.Properties.load: ISO-8859-1 bytes,
// comments, continuation lines, escapes (spec timeline.md section 2.1). The only thing
// that can be wrong is an escape \u without four hex digits, and a NUL byte, which no
// writer produces and which marks a damaged or binary file: both give a corrupt.Error.
func ParseProperties(data []byte) (*Properties, error) {
	p := &Properties{last: map[string]int{}}
	r := propReader{data: data, line: 1}
	for {
		e, ok, err := r.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			return p, nil
		}
		p.last[e.Key] = len(p.Entries)
		p.Entries = append(p.Entries, e)
	}
}

type propReader struct {
	data []byte
	pos  int
	line int
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\f' }

// newline steps over one line terminator (\n, \r or \r\n), if there is one.
func (r *propReader) newline() bool {
	if r.pos >= len(r.data) {
		return false
	}
	switch r.data[r.pos] {
	case '\r':
		r.pos++
		if r.pos < len(r.data) && r.data[r.pos] == '\n' {
			r.pos++
		}
	case '\n':
		r.pos++
	default:
		return false
	}
	r.line++
	return true
}

// next reads one entry; ok is false at the end of the file.
func (r *propReader) next() (e Property, ok bool, err error) {
	for {
		for r.pos < len(r.data) && blank(r.data[r.pos]) {
			r.pos++
		}
		if r.pos >= len(r.data) {
			return e, false, nil
		}
		if r.newline() {
			continue
		}
		if c := r.data[r.pos]; c == '#' || c == '!' {
			for r.pos < len(r.data) && r.data[r.pos] != '\n' && r.data[r.pos] != '\r' {
				r.pos++
			}
			continue
		}
		break
	}
	e.Line, e.Offset = r.line, int64(r.pos)
	if e.Key, err = r.text(true); err != nil {
		return e, false, err
	}
	r.separator()
	if e.Value, err = r.text(false); err != nil {
		return e, false, err
	}
	return e, true, nil
}

// separator steps over blanks with at most one '=' or ':' in them.
func (r *propReader) separator() {
	seen := false
	for r.pos < len(r.data) {
		c := r.data[r.pos]
		switch {
		case blank(c):
			r.pos++
		case (c == '=' || c == ':') && !seen:
			seen = true
			r.pos++
		case c == '\\' && r.continuation():
		default:
			return
		}
	}
}

// continuation steps over a backslash at the end of a line, the line end and the
// blanks that begin the next line.
func (r *propReader) continuation() bool {
	at := r.pos
	r.pos++
	if r.pos < len(r.data) && !r.newline() {
		r.pos = at
		return false
	}
	for r.pos < len(r.data) && blank(r.data[r.pos]) {
		r.pos++
	}
	return true
}

// text reads a key (which ends at a separator) or a value (which ends at the line end)
// and decodes the escapes.
func (r *propReader) text(key bool) (string, error) {
	var units []uint16
	for r.pos < len(r.data) {
		c := r.data[r.pos]
		if c == '\n' || c == '\r' {
			break
		}
		if key && (blank(c) || c == '=' || c == ':') {
			break
		}
		if c == 0 {
			err := corrupt.At(int64(r.pos), fmt.Sprintf("properties, line %d", r.line), "text", "a NUL byte")
			err.Try = "The file is damaged or is no properties file: get a fresh copy."
			return "", err
		}
		if c != '\\' {
			units = append(units, uint16(c))
			r.pos++
			continue
		}
		if r.continuation() {
			continue
		}
		at := r.pos
		r.pos++ // the backslash; continuation has made sure that a byte follows
		c = r.data[r.pos]
		r.pos++
		switch c {
		case 't':
			units = append(units, '\t')
		case 'n':
			units = append(units, '\n')
		case 'r':
			units = append(units, '\r')
		case 'f':
			units = append(units, '\f')
		case 'u':
			u, n := uint16(0), 0
			for n < 4 && r.pos < len(r.data) {
				d := hexDigit(r.data[r.pos])
				if d < 0 {
					break
				}
				u, n = u<<4|uint16(d), n+1
				r.pos++
			}
			if n < 4 {
				end := min(at+6, len(r.data))
				err := corrupt.At(int64(at), fmt.Sprintf("escape in properties, line %d", r.line), `\u and four hex digits`, fmt.Sprintf("%q", r.data[at:end]))
				err.Try = "Correct the line in the file; Java refuses it too."
				return "", err
			}
			units = append(units, u)
		default:
			units = append(units, uint16(c))
		}
	}
	return string(utf16.Decode(units)), nil
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
