// Package anatomy tells what the bytes of a base file are: row groups, column chunks and pages of Parquet, blocks of
// HFile, stripes of ORC, each with its offsets, sizes and statistics. It reads footers and the headers of pages and
// blocks, no values, and of a damaged file tells as much as can be told.
//
// Source of the rules: spec parquet.md, hfile.md.
package anatomy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"unicode/utf8"

	"hudiscope/core/api"
	"hudiscope/core/basefile"
	"hudiscope/core/corrupt"
	"hudiscope/core/hfile"
	"hudiscope/core/storage"
)

// Options say what to look at.
type Options struct {
	// Path of the file, for errors.
	Path string
	// Offset and Length choose a part of the file that is a file itself, Length 0 the whole file.
	Offset, Length int64
	// Chunk is a column chunk of a Parquet file whose pages are read, its number plus one; 0 reads those of as many
	// chunks as an answer has room for.
	Chunk int
	// ORC opens an object as ORC.
	ORC func(ctx context.Context, obj storage.Object) (Stripes, error)
}

// Stripes are what an open ORC file tells of its layout. Offsets and lengths are in bytes.
type Stripes interface {
	NumStripes() int
	// Stripe tells where a stripe begins, the lengths of its index, data and footer, which follow each other, and how
	// many rows it has.
	Stripe(i int) (offset, index, data, footer, rows int64)
	// Tail tells where the metadata, the footer and the postscript begin; each ends where the next begins, the
	// postscript a byte before the end of the file.
	Tail() (metadata, footer, postscript int64)
	// Compression is the name of the codec.
	Compression() string
	NumRows() int64
	Close() error
}

// maxParts bounds the pages and blocks of one answer.
const maxParts = 20_000

// Read tells the anatomy of a file. Damage is among the findings; errors are those of the place the file lies in,
// of cancellation, and of requests that can't be met.
func Read(ctx context.Context, obj storage.Object, o Options) (*api.Anatomy, error) {
	size, err := obj.Size(ctx)
	if err != nil {
		return nil, err
	}
	if o.Offset < 0 || o.Length < 0 || o.Offset > size || o.Length > size-o.Offset {
		return nil, &api.Fault{Kind: "invalid request", File: o.Path, Offset: -1, Message: fmt.Sprintf("The file has %d bytes; %d at %d are not in it.", size, o.Length, o.Offset)}
	}
	n := o.Length
	if n == 0 {
		n = size - o.Offset
	}
	a := &reader{ctx: ctx, obj: &counted{obj: obj, from: o.Offset, size: n}, o: o, base: o.Offset, size: n, room: maxParts}
	a.out = &api.Anatomy{File: o.Path, Start: o.Offset, Size: n, Facts: []api.Fact{}, Parts: []api.AnatomyPart{}, Entries: []api.AnatomyEntry{}}
	err = a.read()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		if err := a.damage(err); err != nil {
			return nil, err
		}
	}
	a.out.Parts = cover(a.out.Parts, a.base, a.base+a.size)
	a.out.BytesRead, a.out.Reads = a.obj.bytes, a.obj.reads
	return a.out, nil
}

// reader makes one answer.
type reader struct {
	ctx  context.Context
	obj  *counted
	o    Options
	out  *api.Anatomy
	base int64 // offset of the file that is looked at in the file that it lies in
	size int64
	room int // parts that still have room
}

func (a *reader) read() error {
	if a.size == 0 {
		a.finding("error", "The file is empty", "It has no bytes. A write that crashed leaves such files; look in the timeline whether its instant is completed.", a.base)
		return nil
	}
	var head, tail [4]byte
	n := min(a.size, 4)
	if err := storage.ReadFull(a.ctx, a.obj, head[:n], 0); err != nil {
		return err
	}
	if err := storage.ReadFull(a.ctx, a.obj, tail[:n], a.size-n); err != nil {
		return err
	}
	switch ext := extension(a.o.Path); {
	case string(tail[:]) == "PAR1", string(tail[:]) == "PARE":
		return a.parquet()
	case string(head[:3]) == "ORC":
		return a.orc()
	case ext == "hfile" || hfileHead(a.ctx, a.obj, a.size):
		return a.hfile()
	case ext == "parquet", string(head[:]) == "PAR1":
		return a.parquet()
	case ext == "orc":
		return a.orc()
	}
	a.finding("note", "Not a base file", "The bytes are neither Parquet, HFile nor ORC: they have none of their marks at the beginning or the end.", a.base)
	return nil
}

func extension(path string) string {
	for i := len(path) - 1; i >= 0 && path[i] != '/'; i-- {
		if path[i] == '.' {
			return path[i+1:]
		}
	}
	return ""
}

// hfileHead reports whether a file ends in an HFile's trailer.
func hfileHead(ctx context.Context, obj storage.Object, size int64) bool {
	var mark [8]byte
	return size >= hfile.TrailerSize && storage.ReadFull(ctx, obj, mark[:], size-hfile.TrailerSize) == nil && string(mark[:]) == `TRABLK"$`
}

// finding adds a finding at a byte of the file.
func (a *reader) finding(level, title, detail string, at int64) {
	a.out.Findings = append(a.out.Findings, api.Finding{Level: level, Title: title, Detail: detail, File: a.o.Path, Offset: max(at, 0)})
}

// damage makes a finding of an error about the file's bytes and returns other errors.
func (a *reader) damage(err error) error {
	var sf *storage.Fault
	var fault *api.Fault
	var ce *corrupt.Error
	var hu *hfile.Unsupported
	var bu *basefile.Unsupported
	switch {
	case errors.As(err, &fault), errors.As(err, &sf) && storage.IsFailure(err):
		return err
	case errors.As(err, &ce):
		detail := ce.Part
		if ce.Want != "" {
			detail += ": " + ce.Want + " is wanted"
			if ce.Got != "" {
				detail += ", " + ce.Got + " is there"
			}
		}
		if ce.Err != nil {
			detail += ": " + ce.Err.Error()
		}
		detail += "."
		if ce.Try != "" {
			detail += " " + ce.Try
		}
		a.finding("error", "Damaged", detail, ce.Offset)
		return nil
	case errors.As(err, &hu):
		a.finding("warning", "Can't be looked into", hu.What+".", hu.Offset)
		return nil
	case errors.As(err, &bu):
		a.finding("warning", "Can't be looked into", bu.What+".", a.base)
		return nil
	}
	return err
}

// cover sorts parts by offset, clips none, and fills ranges that belong to no part with gaps.
func cover(parts []api.AnatomyPart, start, end int64) []api.AnatomyPart {
	sort.SliceStable(parts, func(i, j int) bool { return parts[i].Start < parts[j].Start })
	out := make([]api.AnatomyPart, 0, len(parts))
	at := start
	for _, p := range parts {
		if p.Start > at {
			out = append(out, gap(at, p.Start))
		}
		out = append(out, p)
		at = max(at, p.End)
	}
	if at < end {
		out = append(out, gap(at, end))
	}
	return out
}

func gap(start, end int64) api.AnatomyPart {
	return api.AnatomyPart{Kind: "gap", Name: "bytes of no known part", Start: start, End: end}
}

// counted is a part of an object that counts what is read of it.
type counted struct {
	obj        storage.Object
	from, size int64
	bytes      int64
	reads      int
}

func (c *counted) Size(context.Context) (int64, error) { return c.size, nil }

func (c *counted) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if off < 0 || off > c.size {
		return 0, io.ErrUnexpectedEOF
	}
	short := int64(len(p)) > c.size-off
	if short {
		p = p[:c.size-off]
	}
	if len(p) == 0 {
		return 0, io.EOF
	}
	n, err := c.obj.ReadAt(ctx, p, c.from+off)
	c.bytes += int64(n)
	c.reads++
	if err == nil && short {
		err = io.EOF
	}
	return n, err
}

func (c *counted) Close() error { return nil }

// text is a value's bytes as text for people: as they are when they are UTF-8, else in hexadecimal; long ones are cut.
func text(b []byte) string {
	const most = 120
	if utf8.Valid(b) && printable(b) {
		s := string(b)
		if utf8.RuneCountInString(s) > most {
			s = string([]rune(s)[:most]) + "…"
		}
		return s
	}
	if len(b) > most/2 {
		return fmt.Sprintf("0x%x…", b[:most/2])
	}
	return fmt.Sprintf("0x%x", b)
}

func printable(b []byte) bool {
	for _, r := range string(b) {
		if r < ' ' {
			return false
		}
	}
	return true
}

func fact(name, value string) api.Fact { return api.Fact{Name: name, Value: value} }

func number(name string, n int64) api.Fact { return fact(name, strconv.FormatInt(n, 10)) }
