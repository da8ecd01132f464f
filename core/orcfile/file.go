// Package orcfile reads ORC base files into column batches: every type that Hudi writes, compressed
// with zlib, with Snappy, or not.
//
// Run lengths are decoded by github.com/scritchley/orc. What is around them is here: that module's
// readers of values take short reads for damage, lose entries of maps, cut long decimals and pass
// errors over, so values are put together without them, column by column, and every byte that a
// stream lacks is an error.
//
// It is a part of its own: the programs that need no ORC do not link it.
//
// Source of the rules: the ORC specification, version 1; Hudi's mapping of Avro types to ORC types.
package orcfile

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"hudiscope/core/column"
	"hudiscope/core/corrupt"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
)

// avroSchemaKey is the key of the user metadata that holds the writer's Avro schema.
const avroSchemaKey = "orc.avro.schema"

const (
	// maxFooter bounds the footer and the footer of a stripe, in bytes, packed and unpacked.
	maxFooter = 64 << 20
	// maxChunk bounds a compressed chunk, in bytes: its length has 23 bits.
	maxChunk = 1 << 23
	// BatchRows is how many rows a batch has at most.
	BatchRows = 4096
	maxDepth  = 64
)

// File is an open ORC file. Opening reads the footer only and proves nothing about the stripes.
type File struct {
	path   string
	obj    storage.Object
	size   int64
	codec  codec
	footer footer
	root   *node
	// tail are the offsets of the stripe statistics, the footer and the postscript.
	tail        [3]int64
	compression compressionKind
}

// Unsupported says that a file is whole but written in a way that can't be read.
type Unsupported struct{ File, What string }

// Error renders the finding.
func (u *Unsupported) Error() string { return u.File + ": " + u.What }

// Open reads the footer. Closing the file closes the object. path is for errors.
func Open(ctx context.Context, obj storage.Object, path string) (f *File, err error) {
	f = &File{path: path, obj: obj}
	defer f.guard("footer", &err)
	if f.size, err = obj.Size(ctx); err != nil {
		return nil, err
	}
	if f.size < 4 {
		return nil, &corrupt.Error{File: path, Offset: 0, Part: "ORC file", Want: "at least 4 bytes", Got: fmt.Sprintf("%d bytes", f.size),
			Try: "The file was not written to its end; look in the timeline whether its instant is completed."}
	}
	tail := make([]byte, min(f.size, 256))
	if err := storage.ReadFull(ctx, obj, tail, f.size-int64(len(tail))); err != nil {
		return nil, err
	}
	n := int64(tail[len(tail)-1])
	if n+1 > int64(len(tail)) {
		return nil, f.bad(f.size-1, "ORC postscript length", fmt.Sprintf("at most %d", len(tail)-1), fmt.Sprint(n))
	}
	at := f.size - 1 - n // offset of the postscript
	var ps postScript
	if err := ps.decode(tail[int64(len(tail))-1-n : len(tail)-1]); err != nil {
		return nil, &corrupt.Error{File: path, Offset: at, Part: "ORC postscript", Err: err, Try: "The file is cut or is no ORC file."}
	}
	if ps.magic != "ORC" {
		return nil, &corrupt.Error{File: path, Offset: at, Part: "ORC magic", Want: `"ORC"`, Got: fmt.Sprintf("%q", ps.magic), Try: "The file is cut or is no ORC file."}
	}
	if f.codec, err = codecOf(&ps, path); err != nil {
		return nil, err
	}
	length := ps.footerLength
	if length > uint64(at) || length > maxFooter {
		return nil, f.bad(at, "ORC footer length", fmt.Sprintf("at most %d", min(at, maxFooter)), fmt.Sprint(length))
	}
	f.compression = ps.compression
	f.tail = [3]int64{at - int64(length) - int64(min(ps.metadataLength, uint64(at)-length)), at - int64(length), at}
	if err := f.message(ctx, at-int64(length), int64(length), f.footer.decode); err != nil {
		return nil, f.damaged(at-int64(length), "footer", err)
	}
	var avro *schema.Type
	if text := f.footer.meta[avroSchemaKey]; text != "" {
		// It tells what ORC's own types do not: the sizes of fixed, the units of times.
		if avro, err = schema.Parse(text); err != nil {
			avro = nil
		}
	}
	if f.root, err = buildNode(f.footer.types, 0, avro, false, 0); err != nil {
		return nil, f.damaged(at-int64(length), "footer: types", err)
	}
	if f.root.kind != kindStruct {
		return nil, f.bad(at-int64(length), "ORC footer: types", "a struct at the root", f.root.kind.String())
	}
	return f, nil
}

// message reads a message that is compressed as the file is.
func (f *File) message(ctx context.Context, off, length int64, decode func([]byte) error) error {
	s := f.codec.stream(ctx, f.obj, off, length)
	b, err := s.all(maxFooter)
	if err != nil {
		return err
	}
	return decode(b)
}

func (f *File) bad(off int64, part, want, got string) error {
	return &corrupt.Error{File: f.path, Offset: off, Part: part, Want: want, Got: got}
}

// damaged wraps a decoding error; errors of the storage and of cancellation pass unchanged.
func (f *File) damaged(off int64, part string, err error) error {
	var fault *storage.Fault
	var un *Unsupported
	if errors.As(err, &un) && un.File == "" { // found by what knows no file
		return &Unsupported{f.path, un.What}
	}
	if errors.As(err, &fault) || errors.As(err, &un) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &corrupt.Error{File: f.path, Offset: off, Part: "ORC " + part, Err: err}
}

// guard turns a panic of the library, which some damaged files cause, into an error.
func (f *File) guard(part string, err *error) {
	if r := recover(); r != nil {
		*err = &corrupt.Error{File: f.path, Offset: corrupt.Unknown, Part: "ORC " + part, Err: fmt.Errorf("%v", r),
			Try: "The file is damaged; the other files of the table can still be read."}
	}
}

// Type is the record type of the file.
func (f *File) Type() *schema.Type { return f.root.typ }

// NumRows is the row count that the footer tells.
func (f *File) NumRows() int64 { return int64(f.footer.rows) }

// Lookup returns a value of the user metadata ("orc.avro.schema", Hudi's bloom filter, …).
func (f *File) Lookup(key string) (string, bool) {
	v, ok := f.footer.meta[key]
	return v, ok
}

// Close closes the object.
func (f *File) Close() error { return f.obj.Close() }

// Batches reads the rows in file order, in batches of at most BatchRows. want chooses top-level
// columns (nil = all); the others are nil in the batches and not read. The sequence is single-use
// and stops after the first error.
func (f *File) Batches(ctx context.Context, want func(field string) bool) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		var rows uint64
		for n := range f.footer.stripes {
			s := &f.footer.stripes[n]
			more, err := f.stripe(ctx, n, s, want, yield)
			if err != nil {
				yield(nil, err)
				return
			}
			if !more {
				return
			}
			rows += s.rows
		}
		if rows != f.footer.rows {
			yield(nil, f.bad(corrupt.Unknown, "ORC footer: number of rows", fmt.Sprintf("%d, as the stripes have", rows), fmt.Sprint(f.footer.rows)))
		}
	}
}

// stripe reads one stripe; more is false when the consumer has stopped.
func (f *File) stripe(ctx context.Context, n int, info *stripeInfo, want func(string) bool, yield func(*column.Batch, error) bool) (more bool, err error) {
	start, index, data, foot := info.offset, info.index, info.data, info.footer
	size := uint64(f.size)
	if start > size || index > size-start || data > size-start-index || foot > size-start-index-data || foot > maxFooter || info.rows > math.MaxInt64/2 {
		return false, f.bad(corrupt.Unknown, fmt.Sprintf("ORC footer: stripe %d", n), fmt.Sprintf("a range within %d bytes", f.size), fmt.Sprintf("%d+%d+%d bytes at %d", index, data, foot, start))
	}
	part := fmt.Sprintf("stripe %d", n)
	columns, err := f.openStripe(ctx, int64(start), int64(index+data), int64(foot), want)
	if err != nil {
		return false, f.damaged(int64(start), part, err)
	}
	rows := info.rows
	for done := uint64(0); done < rows; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		k := int(min(rows-done, BatchRows))
		b, err := f.batch(columns, k)
		if err != nil {
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			return false, f.damaged(int64(start), fmt.Sprintf("stripe %d, rows from %d", n, done), err)
		}
		if !yield(b, nil) {
			return false, nil
		}
		done += uint64(k)
	}
	return true, nil
}

func (f *File) openStripe(ctx context.Context, start, body, foot int64, want func(string) bool) (columns []*reader, err error) {
	defer f.guard("stripe footer", &err)
	var sf stripeFooter
	if err := f.message(ctx, start+body, foot, sf.decode); err != nil {
		return nil, fmt.Errorf("footer: %w", err)
	}
	o := &opener{f: f, ctx: ctx, encodings: sf.encodings, zone: sf.zone, streams: map[streamKey]place{}}
	at, end := start, start+body
	for _, s := range sf.streams {
		length := s.length
		if length > uint64(end-at) {
			return nil, fmt.Errorf("a stream of %d bytes where %d are left", length, end-at)
		}
		o.streams[streamKey{s.column, s.kind}] = place{at, int64(length)}
		at += int64(length)
	}
	columns = make([]*reader, len(f.root.kids))
	for i, k := range f.root.kids {
		if want != nil && !want(f.root.typ.Fields[i].Name) {
			continue
		}
		if columns[i], err = o.open(k); err != nil {
			return nil, fmt.Errorf("column %q: %w", f.root.typ.Fields[i].Name, err)
		}
	}
	return columns, nil
}

func (f *File) batch(columns []*reader, n int) (b *column.Batch, err error) {
	defer f.guard("streams", &err)
	b = &column.Batch{Type: f.root.typ, Len: n, Columns: make([]*column.Vector, len(columns))}
	for i, c := range columns {
		if c == nil {
			continue
		}
		if b.Columns[i], err = c.read(n); err != nil {
			return nil, fmt.Errorf("column %q: %w", f.root.typ.Fields[i].Name, err)
		}
	}
	return b, nil
}
