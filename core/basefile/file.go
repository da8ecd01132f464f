package basefile

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"hudiscope/core/column"
	"hudiscope/core/corrupt"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
)

// File is an open Parquet base file. Opening reads the footer only and proves nothing about
// the pages.
type File struct {
	path string
	obj  storage.Object
	size int64
	foot int64 // where the footer begins
	pf   *parquet.File
	root *node
	// lz4 are the column chunks that the file shows unpacked to pf (openLZ4); nil when there are none.
	lz4 map[lz4Key]lz4Chunk
}

// Open reads the footer. The object stays the caller's to close, after the last read.
// path is for errors.
func Open(ctx context.Context, obj storage.Object, path string) (f *File, err error) {
	size, err := obj.Size(ctx)
	if err != nil {
		return nil, err
	}
	if size < 12 {
		return nil, &corrupt.Error{File: path, Offset: 0, Part: "Parquet file", Want: "at least 12 bytes", Got: fmt.Sprintf("%d bytes", size),
			Try: "The file was not written to its end; look in the timeline whether its instant is completed."}
	}
	f = &File{path: path, obj: obj, size: size}
	f.foot = size - 8 // until its length is known
	defer f.guard("footer", &f.foot, &err)
	var tail [8]byte
	if err := storage.ReadFull(ctx, obj, tail[:], size-8); err != nil {
		return nil, err
	}
	if string(tail[4:]) != "PAR1" {
		want := `"PAR1"`
		if string(tail[4:]) == "PARE" {
			return nil, &corrupt.Error{File: path, Offset: size - 4, Part: "Parquet magic", Want: want, Got: "an encrypted footer (PARE)", Try: "Encrypted base files can't be read."}
		}
		return nil, &corrupt.Error{File: path, Offset: size - 4, Part: "Parquet magic", Want: want, Got: fmt.Sprintf("%q", tail[4:]), Try: "The file is cut or is no Parquet file."}
	}
	foot := int64(tail[0]) | int64(tail[1])<<8 | int64(tail[2])<<16 | int64(tail[3])<<24
	if foot > size-12 {
		return nil, &corrupt.Error{File: path, Offset: size - 8, Part: "Parquet footer length", Want: fmt.Sprintf("at most %d", size-12), Got: fmt.Sprint(foot)}
	}
	f.foot -= foot
	// The library makes room for what the footer claims.
	if foot > maxFooter {
		return nil, &Unsupported{path, fmt.Sprintf("a footer of %d bytes is more than the limit of %d", foot, maxFooter)}
	}
	b := make([]byte, foot)
	if err := storage.ReadFull(ctx, obj, b, size-8-foot); err != nil {
		return nil, err
	}
	if _, err := CheckMessage(b); err != nil {
		return nil, f.moved(err, size-8-foot)
	}
	f.pf, err = parquet.OpenFile(storage.ReaderAt(ctx, obj), size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.SkipMagicBytes(true))
	if err != nil {
		return nil, f.damaged("footer", placeAt(f.foot, err))
	}
	if hasLZ4(f.pf.Metadata()) {
		var un *Unsupported
		if err := f.openLZ4(ctx); errors.As(err, &un) {
			return nil, err
		} else if err != nil {
			return nil, f.damaged("footer", placeAt(f.foot, err))
		}
	}
	f.root, err = buildSchema(f.pf.Metadata().Schema)
	if err != nil {
		return nil, f.damaged("footer schema", placeAt(f.foot, err))
	}
	return f, nil
}

// maxFooter bounds the footer, in bytes.
const maxFooter = 256 << 20

// moved is an error of CheckMessage about bytes at an offset of the file.
func (f *File) moved(err error, by int64) error {
	var ce *corrupt.Error
	if !errors.As(err, &ce) {
		return err
	}
	c := *ce
	c.File, c.Offset, c.Part = f.path, ce.Offset+by, "Parquet footer: "+ce.Part
	return &c
}

// Unsupported says that a file is whole but written in a way that can't be read.
type Unsupported struct{ File, What string }

// Error renders the finding.
func (u *Unsupported) Error() string { return u.File + ": " + u.What }

// codecs checks that the pages of the wanted columns are compressed with a codec that can be read.
func (f *File) codecs(want func(string) bool) error {
	for _, rg := range f.pf.Metadata().RowGroups {
		for i := range rg.Columns {
			m := &rg.Columns[i].MetaData
			if len(m.PathInSchema) == 0 || want != nil && !want(m.PathInSchema[0]) {
				continue
			}
			switch m.Codec {
			case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd, format.Lz4Raw:
			default:
				return &Unsupported{f.path, fmt.Sprintf("pages compressed with codec %s can't be read", m.Codec)}
			}
		}
	}
	return nil
}

// Type is the record type of the file.
func (f *File) Type() *schema.Type { return f.root.typ }

// NumRows is the row count that the footer tells.
func (f *File) NumRows() int64 { return f.pf.NumRows() }

// Lookup returns a key of the footer's key-value metadata ("parquet.avro.schema", Hudi's bloom filter, …).
func (f *File) Lookup(key string) (string, bool) { return f.pf.Lookup(key) }

// BatchRows is how many rows a batch has at most.
const BatchRows = 4096

// Batches reads the rows in file order, in batches of at most BatchRows. want chooses top-level
// columns (nil = all); the others are nil in the batches and not read. The sequence is
// single-use and stops after the first error.
func (f *File) Batches(ctx context.Context, want func(field string) bool) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		if err := f.codecs(want); err != nil {
			yield(nil, err)
			return
		}
		var rows int64
		for g, rg := range f.pf.RowGroups() {
			more, n, err := f.rowGroup(ctx, g, rg, want, yield)
			rows += n
			if err != nil {
				yield(nil, err)
				return
			}
			if !more {
				return
			}
		}
		if rows != f.pf.NumRows() {
			yield(nil, f.damaged("row groups", placeAt(f.foot, fmt.Errorf("%d rows promised, %d found", f.pf.NumRows(), rows))))
		}
	}
}

// rowGroup reads one row group; more is false when the consumer has stopped.
func (f *File) rowGroup(ctx context.Context, g int, rg parquet.RowGroup, want func(string) bool, yield func(*column.Batch, error) bool) (more bool, rows int64, err error) {
	streams, err := f.openStreams(ctx, g, rg, want)
	defer func() {
		for _, s := range streams {
			s.close()
		}
	}()
	if err != nil {
		return false, 0, f.damaged(fmt.Sprintf("row group %d", g), placeAt(f.foot, err))
	}
	f.prefetch(ctx, streams)
	for left := rg.NumRows(); left > 0; {
		if err := ctx.Err(); err != nil {
			return false, rows, err
		}
		n := int(min(left, BatchRows))
		b, err := f.batch(ctx, streams, n, want)
		if err != nil {
			if ctx.Err() != nil {
				return false, rows, ctx.Err()
			}
			return false, rows, f.damaged(fmt.Sprintf("row group %d, rows from %d", g, rows), err)
		}
		if !yield(b, nil) {
			return false, rows, nil
		}
		rows += int64(n)
		left -= int64(n)
	}
	return true, rows, nil
}

// groupAhead bounds what is asked for together at the beginning of a row group, in bytes: shares of the
// beginnings of its column chunks.
const groupAhead = 1 << 20

// prefetch asks for the beginnings of the chunks of a row group together: one after the other they would
// take a round trip each. An error shows again where the chunk is read.
func (f *File) prefetch(ctx context.Context, streams []*leafStream) {
	p, ok := f.obj.(storage.RangePrefetcher)
	if !ok || len(streams) == 0 {
		return
	}
	var ranges []storage.Range
	for _, s := range streams {
		ranges = append(ranges, storage.Range{Off: s.from, Len: min(s.size, groupAhead/int64(len(streams)))})
	}
	p.Prefetch(ctx, ranges)
}

func (f *File) openStreams(ctx context.Context, g int, rg parquet.RowGroup, want func(string) bool) (streams []*leafStream, err error) {
	defer f.guard("column chunks", &f.foot, &err)
	chunks := rg.ColumnChunks()
	for i, n := range f.root.kids {
		if want != nil && !want(f.root.typ.Fields[i].Name) {
			continue
		}
		for _, l := range leaves(n, nil) {
			if l.leaf >= len(chunks) {
				return streams, fmt.Errorf("the schema has more columns than the row group")
			}
			fc, ok := chunks[l.leaf].(*parquet.FileColumnChunk)
			if !ok {
				return streams, fmt.Errorf("column %q is not of the file", f.columnPath(l))
			}
			s := &leafStream{n: l, typ: valueType(l)}
			// The file was opened with the context of Open; a read uses that of its own call.
			r, err := f.checked(f.chunkReader(ctx, g, l.leaf), g, l.leaf)
			if err != nil {
				return streams, fmt.Errorf("column %q: %w", f.columnPath(l), err)
			}
			if c, ok := r.(*checkedPages); ok {
				s.from, s.size = c.at, c.end-c.at
			} else if c, ok := f.lz4[lz4Key{g, l.leaf}]; ok {
				s.from, s.size = c.offset, c.size
			}
			s.library = func() (parquet.Pages, error) {
				r, err := f.checked(f.chunkReader(ctx, g, l.leaf), g, l.leaf)
				if err != nil {
					return nil, err
				}
				return fc.PagesFrom(r), nil
			}
			if s.own = f.chunkPages(r, l, &f.pf.Metadata().RowGroups[g].Columns[l.leaf].MetaData); s.own == nil {
				s.pages = fc.PagesFrom(r)
			}
			streams = append(streams, s)
		}
	}
	return streams, nil
}

func leaves(n *node, out []*node) []*node {
	if n.leaf >= 0 {
		return append(out, n)
	}
	for _, k := range n.kids {
		out = leaves(k, out)
	}
	return out
}

func (f *File) batch(ctx context.Context, streams []*leafStream, n int, want func(string) bool) (b *column.Batch, err error) {
	place := f.foot
	defer f.guard("pages", &place, &err)
	spans := make(map[int]span, len(streams))
	for _, s := range streams {
		place = s.from
		if err := s.fill(n); err != nil {
			return nil, placeAt(place, fmt.Errorf("column %q: %w", f.columnPath(s.n), err))
		}
		sp, err := s.take(n)
		if err != nil {
			return nil, placeAt(place, fmt.Errorf("column %q: %w", f.columnPath(s.n), err))
		}
		spans[s.n.leaf] = sp
	}
	b = &column.Batch{Type: f.root.typ, Len: n, Columns: make([]*column.Vector, len(f.root.kids))}
	for i, k := range f.root.kids {
		name := f.root.typ.Fields[i].Name
		if want != nil && !want(name) {
			continue
		}
		v, err := assemble(k, spans, n)
		if err != nil {
			return nil, placeAt(place, fmt.Errorf("column %q: %w", name, err))
		}
		b.Columns[i] = v
	}
	return b, nil
}

func (f *File) columnPath(n *node) string {
	paths := f.pf.Schema().Columns()
	if n.leaf < len(paths) {
		out := ""
		for i, p := range paths[n.leaf] {
			if i > 0 {
				out += "."
			}
			out += p
		}
		return out
	}
	return fmt.Sprint(n.leaf)
}

// damaged wraps a decoding error; errors of the storage and of cancellation pass unchanged.
func (f *File) damaged(part string, err error) error {
	var fault *storage.Fault
	var ce *corrupt.Error
	if errors.As(err, &fault) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.As(err, &ce) {
		return corrupt.InFile(err, f.path)
	}
	offset := corrupt.Unknown
	var p *placed
	if errors.As(err, &p) {
		offset = p.offset
	}
	return &corrupt.Error{File: f.path, Offset: offset, Part: "Parquet " + part, Err: err}
}

// guard turns a panic of the Parquet library, which some damaged files cause, into an error at a place.
func (f *File) guard(part string, place *int64, err *error) {
	if r := recover(); r != nil {
		*err = &corrupt.Error{File: f.path, Offset: *place, Part: "Parquet " + part, Err: fmt.Errorf("%v", r),
			Try: "The file is damaged; the other files of the table can still be read."}
	}
}
