// Package export writes rows to files of other formats, as a stream: JSON Lines, CSV and Parquet.
//
// What a file holds is what the rows hold, nothing is made nicer: values are written as rows are
// printed, or with the types that they have. Memory is bounded by one row group of Parquet; the text
// formats keep one row.
package export

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"hudiscope/core/column"
	"hudiscope/core/schema"
)

// The formats.
const (
	JSONLines = "jsonl"
	CSV       = "csv"
	Parquet   = "parquet"
)

// Column is a column of the file.
type Column struct {
	Name string
	// Index is its place in the batches of the rows.
	Index int
	Type  *schema.Type
}

// Writer writes rows to a file.
type Writer interface {
	// Write adds row i of a batch.
	Write(b *column.Batch, i int) error
	// Close ends the file. It does not close what the file is written to. Without it the file is not whole.
	Close() error
}

// UnknownFormat says that there is no such format.
type UnknownFormat string

// Error names the formats there are.
func (f UnknownFormat) Error() string {
	return fmt.Sprintf("rows can't be exported as %q: want jsonl, csv or parquet", string(f))
}

// Unsupported says that a column has no form in a format.
type Unsupported struct{ Column, What string }

// Error renders the finding.
func (u *Unsupported) Error() string { return fmt.Sprintf("column %q: %s", u.Column, u.What) }

// New begins a file of a format. The text formats write to w row by row: give a buffered one.
func New(format string, w io.Writer, columns []Column) (Writer, error) {
	switch format {
	case JSONLines:
		return newJSONLines(w, columns), nil
	case CSV:
		return newCSV(w, columns)
	case Parquet:
		return newParquet(w, columns)
	}
	return nil, UnknownFormat(format)
}

// MediaType is the media type of a format's files.
func MediaType(format string) string {
	switch format {
	case JSONLines:
		return "application/x-ndjson"
	case CSV:
		return "text/csv; charset=utf-8; header=present"
	case Parquet:
		return "application/vnd.apache.parquet"
	}
	return "application/octet-stream"
}

// maxFileName bounds the stem of a file's name, in bytes.
const maxFileName = 80

// FileName makes the name of a file from the name of a table, which may hold anything: letters and
// digits of any script, - and _ stay, everything else becomes _.
func FileName(table, format string) string {
	var b strings.Builder
	for _, r := range table {
		if b.Len()+utf8.RuneLen(r) > maxFileName {
			break
		}
		switch {
		case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z', r >= 0x80 && unicode.IsLetter(r):
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	stem := strings.Trim(b.String(), "_-")
	// Names of devices on Windows, with any extension.
	switch strings.ToUpper(stem) {
	case "", "CON", "PRN", "AUX", "NUL":
		stem = "table_" + stem
	}
	if len(stem) == 4 && (strings.EqualFold(stem[:3], "com") || strings.EqualFold(stem[:3], "lpt")) {
		stem = "table_" + stem
	}
	return strings.TrimRight(stem, "_") + "." + format
}
