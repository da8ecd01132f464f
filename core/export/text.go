package export

import (
	"encoding/json"
	"io"
	"strings"

	"hudiscope/core/column"
)

// jsonLines writes one JSON object a line.
type jsonLines struct {
	w       io.Writer
	columns []Column
	// names are the columns' names as JSON, each with a colon and, but for the first, a comma before.
	names [][]byte
	buf   []byte
}

func newJSONLines(w io.Writer, columns []Column) *jsonLines {
	p := &jsonLines{w: w, columns: columns}
	for i, c := range columns {
		var name []byte
		if i > 0 {
			name = append(name, ',')
		}
		// As encoding/json writes names, so that a file equals what rows print.
		b, _ := json.Marshal(c.Name) // of a string: never fails
		p.names = append(p.names, append(append(name, b...), ':'))
	}
	return p
}

func (p *jsonLines) Write(b *column.Batch, i int) error {
	p.buf, _ = p.line(p.buf[:0], b, i) // never fails
	_, err := p.w.Write(p.buf)
	return err
}

func (p *jsonLines) line(dst []byte, b *column.Batch, i int) ([]byte, error) {
	dst = append(dst, '{')
	for k, c := range p.columns {
		dst = append(dst, p.names[k]...)
		dst = b.Columns[c.Index].AppendJSON(dst, i)
	}
	return append(dst, '}', '\n'), nil
}

func (p *jsonLines) Close() error { return nil }

// csvWriter writes RFC 4180: lines end with CR LF, the first one is the header. Null is an empty field,
// an empty text is "". Nested values are JSON, binary is base64, all else is as in JSON without quotes.
type csvWriter struct {
	w         io.Writer
	columns   []Column
	buf, cell []byte
}

func newCSV(w io.Writer, columns []Column) (*csvWriter, error) {
	p := &csvWriter{w: w, columns: columns}
	for i, c := range columns {
		if i > 0 {
			p.buf = append(p.buf, ',')
		}
		p.buf = appendField(p.buf, strings.ToValidUTF8(c.Name, "\uFFFD"))
	}
	p.buf = append(p.buf, '\r', '\n')
	_, err := w.Write(p.buf)
	return p, err
}

func (p *csvWriter) Write(b *column.Batch, i int) (err error) {
	if p.buf, err = p.line(p.buf[:0], b, i); err == nil {
		_, err = p.w.Write(p.buf)
	}
	return err
}

func (p *csvWriter) line(dst []byte, b *column.Batch, i int) ([]byte, error) {
	for k, c := range p.columns {
		if k > 0 {
			dst = append(dst, ',')
		}
		v := b.Columns[c.Index]
		if v.IsNull(i) {
			continue
		}
		p.cell = v.AppendJSON(p.cell[:0], i)
		switch {
		case string(p.cell) == "null": // the null branch of a union
		case p.cell[0] == '"':
			var s string
			if err := json.Unmarshal(p.cell, &s); err != nil {
				return dst, err
			}
			dst = appendField(dst, s)
		default:
			dst = appendField(dst, string(p.cell))
		}
	}
	return append(dst, '\r', '\n'), nil
}

func (p *csvWriter) Close() error { return nil }

// appendField appends a field, in quotes where it must be or where it would be taken for null.
func appendField(dst []byte, s string) []byte {
	if s != "" && !strings.ContainsAny(s, "\",\r\n") && s[0] != ' ' && s[len(s)-1] != ' ' {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for {
		before, after, found := strings.Cut(s, `"`)
		dst = append(dst, before...)
		if !found {
			return append(dst, '"')
		}
		dst = append(dst, '"', '"')
		s = after
	}
}

// Lines makes the lines of a text format. They may be made by several of them, side by side.
type Lines struct {
	line func(dst []byte, b *column.Batch, i int) ([]byte, error)
}

// HasLines reports whether a format's file is a head and a line for each row.
func HasLines(format string) bool { return format == JSONLines || format == CSV }

// NewLines makes the lines of a format that HasLines.
func NewLines(format string, columns []Column) (*Lines, error) {
	switch format {
	case JSONLines:
		return &Lines{newJSONLines(nil, columns).line}, nil
	case CSV:
		p, err := newCSV(io.Discard, columns)
		if err != nil {
			return nil, err
		}
		return &Lines{p.line}, nil
	}
	return nil, UnknownFormat(format)
}

// Append appends the line of row i of a batch, with its end.
func (l *Lines) Append(dst []byte, b *column.Batch, i int) ([]byte, error) { return l.line(dst, b, i) }
