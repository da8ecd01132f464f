package groupreader

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"hudiscope/core/avro"
	"hudiscope/core/basefile"
	"hudiscope/core/column"
	"hudiscope/core/corrupt"
	"hudiscope/core/logfile"
	"hudiscope/core/merge"
	"hudiscope/core/release"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
)

// part is a run of records of a data block, of the reader's type.
type part struct {
	batch *column.Batch
	// first is the number of the batch's first record in the block.
	first int
	// bytes is about how much of the block's content the records were.
	bytes int64
	// has is set when the records are partial updates; it is the same for all parts of a block.
	has *merge.Presence
}

// parts decodes a data block. Under a memory budget large blocks come in several parts, and no more
// of one is in memory than one part.
func (r *reader) parts(f *logfile.Reader, b *logfile.Block) iter.Seq2[part, error] {
	return func(yield func(part, error) bool) {
		p := part{}
		m, err := r.mapping(b.Instant())
		if err != nil {
			yield(part{}, err)
			return
		}
		for raw, err := range r.rawParts(f, b, m.Want(r.need)) {
			if err != nil {
				yield(part{}, err)
				return
			}
			batch := m.Batch(raw.batch)
			if b.IsPartial() && p.has == nil {
				p.has = &merge.Presence{Has: make([]bool, len(r.o.Reader.Fields))}
				for i := range r.o.Reader.Fields {
					p.has.Has[i] = batch.Type.FieldIndex(r.o.Reader.Fields[i].Name) >= 0
				}
			}
			p.bytes = raw.bytes
			if p.first == 0 {
				r.fitsBlock(f, b, batch)
			}
			if p.batch, err = r.convert(batch, f.Path(), b.Start, p.has); err != nil {
				yield(part{}, err)
				return
			}
			if !yield(p, nil) {
				return
			}
			p.first += batch.Len
		}
	}
}

// partBytes is how many bytes of a block are decoded at a time.
func (r *reader) partBytes() int64 { return min(max(r.budget()/8, minPart), maxPart) }

// rawParts decodes a data block as it is written: batch and bytes of the parts are set.
func (r *reader) rawParts(f *logfile.Reader, b *logfile.Block, want func(field string) bool) iter.Seq2[part, error] {
	if b.Type == logfile.HFileDataBlock {
		r.stats.met(release.HFileBlocks)
	}
	if b.Damage == nil && r.budget() > 0 && b.ContentSize > r.partBytes() {
		switch b.Type {
		case logfile.AvroDataBlock:
			return r.avroParts(f, b, want)
		case logfile.ParquetDataBlock:
			return func(yield func(part, error) bool) {
				pf, err := basefile.Open(r.ctx, f.Section(b), f.Path())
				if err != nil {
					yield(part{}, err)
					return
				}
				for batch, err := range pf.Batches(r.ctx, want) {
					p := part{batch: batch}
					if err == nil {
						p.bytes = int64(float64(b.ContentSize) / float64(max(1, pf.NumRows())) * float64(batch.Len))
					}
					if !yield(p, err) {
						return
					}
				}
			}
		}
	}
	return func(yield func(part, error) bool) {
		raw, _, err := dataBlock(r.ctx, f, b, want, &r.content)
		yield(part{batch: raw, bytes: b.ContentSize}, err)
	}
}

// avroParts decodes the content of an Avro block (spec log-format.md section 6) window by window.
func (r *reader) avroParts(f *logfile.Reader, b *logfile.Block, want func(field string) bool) iter.Seq2[part, error] {
	return func(yield func(part, error) bool) {
		fail := func(err error) { yield(part{}, corrupt.InFile(err, f.Path())) }
		text := b.SchemaText()
		writer, err := schema.Parse([]byte(text))
		var dec *avro.Decoder
		if err == nil {
			dec, err = avro.Compile(writer, want)
		}
		if err != nil {
			fail(&corrupt.Error{Offset: b.Start, Part: "block header SCHEMA", Err: err})
			return
		}
		count, err := f.RecordCount(r.ctx, b)
		if err != nil {
			yield(part{}, err)
			return
		}
		obj := f.Section(b)
		w := window{buf: make([]byte, 0, r.partBytes())}
		pos, n := int64(8), int64(0) // after version and count
		for n < count {
			if err := r.ctx.Err(); err != nil {
				yield(part{}, err)
				return
			}
			// The rest of a record that did not fit is moved to the front; a large record gets more room.
			if err := w.fill(r, obj, pos, b.ContentSize); err != nil {
				yield(part{}, fmt.Errorf("%s: content of the block at byte %d: %w", f.Path(), b.Start, err))
				return
			}
			batch, from := dec.NewBatch(0), pos
			for n < count {
				rec, whole, err := w.next(pos, b.ContentSize)
				if err != nil {
					fail(corrupt.At(b.ContentOffset+pos, fmt.Sprintf("length of record %d of %d", n, count), fmt.Sprintf("0 to %d, the bytes left in the block", max(0, b.ContentSize-pos-4)), err.Error()))
					return
				}
				if !whole {
					break
				}
				if err := dec.Append(batch, rec); err != nil {
					var ce *corrupt.Error
					if errors.As(err, &ce) {
						c := *ce
						c.File, c.Part = f.Path(), fmt.Sprintf("record %d, %s", n, ce.Part)
						if c.Offset >= 0 {
							c.Offset += b.ContentOffset + pos + 4
						}
						err = &c
					}
					yield(part{}, err)
					return
				}
				pos += 4 + int64(len(rec))
				n++
			}
			if batch.Len > 0 && !yield(part{batch: batch, bytes: pos - from}, nil) {
				return
			}
		}
		if pos != b.ContentSize {
			fail(corrupt.At(b.ContentOffset+pos, "data block", fmt.Sprintf("its end after %d records", count), fmt.Sprintf("%d bytes more", b.ContentSize-pos)))
		}
	}
}

// window is a run of bytes of a block's content: buf[at:] lies at the position of the next record.
type window struct {
	buf []byte
	at  int
	// want is the size of a record that did not fit.
	want int64
}

func (w *window) fill(r *reader, obj storage.Object, pos, end int64) error {
	keep := len(w.buf) - w.at
	size := min(max(r.partBytes(), w.want), end-pos)
	if int64(cap(w.buf)) < size {
		w.buf = append(make([]byte, 0, size), w.buf[w.at:]...)
	} else {
		copy(w.buf[:keep], w.buf[w.at:])
	}
	w.buf, w.at, w.want = w.buf[:size], 0, 0
	return storage.ReadFull(r.ctx, obj, w.buf[keep:], pos+int64(keep))
}

// next returns the record at the position; whole is false when it does not lie in the window.
func (w *window) next(pos, end int64) (rec []byte, whole bool, err error) {
	if end-pos < 4 {
		return nil, false, fmt.Errorf("%d bytes", end-pos)
	}
	if len(w.buf)-w.at < 4 {
		return nil, false, nil
	}
	n := int64(int32(binary.BigEndian.Uint32(w.buf[w.at:])))
	if n < 0 || n > end-pos-4 {
		return nil, false, fmt.Errorf("%d", n)
	}
	if int64(len(w.buf)-w.at-4) < n {
		w.want = n + 4
		return nil, false, nil
	}
	rec = w.buf[w.at+4 : w.at+4+int(n) : w.at+4+int(n)]
	w.at += 4 + int(n)
	return rec, true, nil
}
