// Package commitmeta decodes what the files of the timeline hold: commit metadata, the
// plans of compaction, clustering, clean, rollback and restore, and their results.
//
// The decoder is chosen by the first byte of a file, not by the table's version, because
// an upgraded table mixes both (spec timeline.md section 4.2):
//
//	nothing    empty: a state without content, or the remnant of a crash
//	'{'        JSON, as layouts 0 and 1 write commit metadata
//	"Obj" 1    Avro object container with exactly one record
//
// Every record can be shown as JSON ([Decode]); those that reading a table depends on
// have Go types besides ([ParseCommit] and its kin). The types are those of spec
// timeline.md section 6; their field names in JSON are Hudi's own.
package commitmeta

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hudiscope/core/column"
	"hudiscope/core/corrupt"
)

// Encoding is how a metadata file is stored.
type Encoding string

// The encodings.
const (
	Empty   Encoding = "empty"
	JSON    Encoding = "json"
	Avro    Encoding = "avro"
	Unknown Encoding = "unknown"
)

// MaxFile bounds the size of a metadata file that is decoded, in bytes.
const MaxFile = 256 << 20

// Bounds on what a metadata file, or a record of an archive, decodes to. A file of MaxFile bytes with the stats of
// real files is within them: a write stat is about 1,000 bytes of JSON, two objects and 45 values. They keep small
// texts from becoming large ones: an empty object is two bytes, and more than 500 in memory.
const (
	// MaxSlots bounds the values of an Avro record.
	MaxSlots = 24 << 20
	// MaxObjects and MaxValues bound the objects and the members and elements of JSON.
	MaxObjects = 1 << 19
	MaxValues  = 12 << 20
)

// maxJSONDepth bounds the nesting of JSON metadata; real files nest about six levels.
const maxJSONDepth = 200

// ErrEmpty says that a file has no content where a record was needed.
var ErrEmpty = errors.New("the file is empty")

// EncodingOf tells the encoding by the first bytes.
func EncodingOf(data []byte) Encoding {
	switch {
	case len(data) == 0:
		return Empty
	case bytes.HasPrefix(data, []byte(containerMagic)):
		return Avro
	}
	for _, c := range data {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '{':
			return JSON
		}
		break
	}
	return Unknown
}

// Decoded is a metadata file as JSON.
type Decoded struct {
	Encoding Encoding
	// SchemaName is the name of the Avro record ("HoodieCompactionPlan"), "" for other encodings.
	SchemaName string
	// JSON is the record; nil when the file is empty. Avro records have their fields in the
	// schema's order, maps with sorted keys, bytes in base64; JSON files are compacted.
	JSON json.RawMessage
}

// Decode decodes any metadata file. The error is a *corrupt.Error with the byte offset.
func Decode(data []byte) (Decoded, error) {
	d := Decoded{Encoding: EncodingOf(data)}
	if len(data) > MaxFile {
		return d, corrupt.At(corrupt.Unknown, "metadata file", fmt.Sprintf("at most %d bytes", MaxFile), fmt.Sprint(len(data)))
	}
	switch d.Encoding {
	case Empty:
		return d, nil
	case Avro:
		c, err := openContainer(data)
		if err != nil {
			return d, err
		}
		d.SchemaName, d.JSON, err = c.json()
		return d, err
	case JSON:
		var err error
		d.JSON, err = compact(data)
		return d, err
	}
	err := corrupt.At(0, "metadata file", "nothing, JSON or an Avro container", fmt.Sprintf("%q", data[:min(len(data), 8)]))
	err.Try = "The file is damaged or was not written by Hudi: get a fresh copy."
	return d, err
}

// measure checks the nesting and the number of things of a JSON text.
func measure(data []byte) error {
	depth, objects, values, quoted, escaped := 0, 0, 0, false, false
	for i, c := range data {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped = c == '\\'
			quoted = c != '"'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			if depth++; depth > maxJSONDepth {
				return corrupt.At(int64(i), "JSON", fmt.Sprintf("at most %d levels", maxJSONDepth), "more")
			}
			if c == '{' {
				if objects++; objects > MaxObjects {
					return corrupt.At(int64(i), "JSON", fmt.Sprintf("at most %d objects", MaxObjects), "more")
				}
			}
		case c == '}' || c == ']':
			depth--
		case c == ',':
			if values++; values > MaxValues {
				return corrupt.At(int64(i), "JSON", fmt.Sprintf("at most %d values", MaxValues), "more")
			}
		}
	}
	return nil
}

// compact checks that data is one JSON object and removes the blanks between its tokens.
func compact(data []byte) (json.RawMessage, error) {
	if err := measure(data); err != nil {
		return nil, err
	}
	if !json.Valid(data) {
		var text json.RawMessage
		return nil, jsonError(json.Unmarshal(data, &text), data) // it checks before it copies
	}
	var out bytes.Buffer
	out.Grow(len(data))
	if err := json.Compact(&out, data); err != nil {
		return nil, jsonError(err, data)
	}
	return out.Bytes(), nil
}

func jsonError(err error, data []byte) error {
	e := &corrupt.Error{Offset: corrupt.Unknown, Part: "JSON metadata", Err: err}
	var s *json.SyntaxError
	if errors.As(err, &s) {
		// Offset counts the bytes read before the error, the offending one included;
		// at the end of the text there is none.
		e.Offset = max(s.Offset-1, 0)
		if s.Offset >= int64(len(data)) && strings.HasPrefix(s.Error(), "unexpected end") {
			e.Offset, e.Try = int64(len(data)), "The file was cut: get a fresh copy."
		}
	}
	return e
}

// shift moves the offset of an error inside a part of a file to the file.
func shift(err error, at int64) error {
	var e *corrupt.Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	switch {
	case at < 0:
		c.Offset = corrupt.Unknown
	case c.Offset >= 0:
		c.Offset += at
	}
	return &c
}

// Text is RowJSON of a record whose text may have at most MaxFile bytes; the memory for it is taken once.
func Text(b *column.Batch, i int) ([]byte, error) {
	n := int64(2)
	for k, v := range b.Columns {
		if v != nil {
			n += int64(len(b.Type.Fields[k].Name)) + 4 + textSize(v)
		}
	}
	if n > MaxFile {
		return nil, corrupt.At(corrupt.Unknown, "metadata record", fmt.Sprintf("at most %d bytes as JSON", MaxFile), fmt.Sprint(n))
	}
	if b.Len == 1 {
		return rowJSON(make([]byte, 0, n), b, i), nil
	}
	return RowJSON(b, i), nil
}

// textSize is about the length of the JSON of all values of v, escapes left out.
func textSize(v *column.Vector) int64 {
	n := 4*int64(v.Len) + int64(len(v.Data))
	for k, c := range v.Children {
		n += textSize(c)
		if k < len(v.Type.Fields) {
			n += int64(c.Len) * int64(len(v.Type.Fields[k].Name)+4)
		}
	}
	return n
}

// RowJSON renders record i of a batch as a JSON object with the columns that were decoded,
// in the schema's order.
func RowJSON(b *column.Batch, i int) []byte { return rowJSON(nil, b, i) }

func rowJSON(dst []byte, b *column.Batch, i int) []byte {
	dst = append(dst, '{')
	for k, v := range b.Columns {
		if v == nil {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = column.AppendText(dst, []byte(b.Type.Fields[k].Name))
		dst = append(dst, ':')
		dst = v.AppendJSON(dst, i)
	}
	return append(dst, '}')
}

// parse decodes a file into T. The record of an Avro container must have one of the
// names; a file without content gives ErrEmpty.
func parse[T any](data []byte, names ...string) (*T, error) {
	if len(data) <= MaxFile && EncodingOf(data) == JSON {
		return fromJSON[T](data)
	}
	d, err := Decode(data)
	if err != nil {
		return nil, err
	}
	if d.Encoding == Empty {
		return nil, ErrEmpty
	}
	if d.Encoding == Avro {
		ok := false
		for _, n := range names {
			ok = ok || n == d.SchemaName
		}
		if !ok {
			return nil, corrupt.At(int64(len(containerMagic)), "Avro container: record name", names[0], fmt.Sprintf("%.80s", d.SchemaName))
		}
	}
	return fromJSON[T](d.JSON)
}

func fromJSON[T any](text []byte) (*T, error) {
	if err := measure(text); err != nil {
		return nil, err
	}
	// The typed record takes about as much as its text, and up to three times of that while it grows.
	release, err := decoding.Take(context.Background(), 3*int64(len(text)))
	if err != nil {
		return nil, err
	}
	defer release()
	v := new(T)
	if err := json.Unmarshal(text, v); err != nil {
		var s *json.SyntaxError
		if errors.As(err, &s) {
			return nil, jsonError(err, text)
		}
		e := &corrupt.Error{Offset: corrupt.Unknown, Part: "metadata", Err: err}
		var u *json.UnmarshalTypeError
		if errors.As(err, &u) {
			e.Part, e.Want, e.Got, e.Err = "field "+u.Field, u.Type.String(), fmt.Sprintf("a JSON %.60s", u.Value), nil
		}
		return nil, e
	}
	return v, nil
}
