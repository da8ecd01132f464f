package groupreader

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"hudiscope/core/avro"
	"hudiscope/core/basefile"
	"hudiscope/core/column"
	"hudiscope/core/corrupt"
	"hudiscope/core/logfile"
	"hudiscope/core/merge"
	"hudiscope/core/schema"
)

// Unsupported says that bytes are whole, but of a kind that can't be read.
type Unsupported struct {
	File   string
	Offset int64
	What   string
	Try    string
}

// Error renders the finding.
func (u *Unsupported) Error() string {
	if u.File == "" {
		return u.What
	}
	if u.Offset < 0 {
		return u.File + ": " + u.What
	}
	return fmt.Sprintf("%s at byte %d: %s", u.File, u.Offset, u.What)
}

// Span is the byte range of one record in its file; zero when the block's format does not
// give records a place of their own.
type Span struct{ Start, End int64 }

// DataBlock decodes the records of a data block with the block's own schema. spans is nil for
// block types whose records have no byte range of their own.
func DataBlock(ctx context.Context, r *logfile.Reader, b *logfile.Block, want func(field string) bool) (batch *column.Batch, spans []Span, err error) {
	return dataBlock(ctx, r, b, want, nil)
}

// dataBlock is DataBlock. content, if not nil, is memory for the content of one block after another: spans are then
// left out.
func dataBlock(ctx context.Context, r *logfile.Reader, b *logfile.Block, want func(field string) bool, content *[]byte) (batch *column.Batch, spans []Span, err error) {
	if b.Damage != nil {
		return nil, nil, b.Damage
	}
	switch b.Type {
	case logfile.AvroDataBlock, logfile.CDCDataBlock:
		return avroBlock(ctx, r, b, want, content)
	case logfile.ParquetDataBlock:
		batch, err = parquetBlock(ctx, r, b, want)
		return batch, nil, err
	case logfile.HFileDataBlock:
		batch, err = hfileBlock(ctx, r, b, want)
		return batch, nil, err
	}
	return nil, nil, &Unsupported{File: r.Path(), Offset: b.Start, What: "a block of type " + b.Type.String() + " holds no records"}
}

func avroBlock(ctx context.Context, r *logfile.Reader, b *logfile.Block, want func(string) bool, kept *[]byte) (*column.Batch, []Span, error) {
	text := b.SchemaText()
	if text == "" {
		return nil, nil, &corrupt.Error{File: r.Path(), Offset: b.Start, Part: "block header SCHEMA", Want: "the writer's schema", Got: "none"}
	}
	writer, err := schema.Parse([]byte(text))
	if err != nil {
		return nil, nil, &corrupt.Error{File: r.Path(), Offset: b.Start, Part: "block header SCHEMA", Err: err}
	}
	dec, err := avro.Compile(writer, want)
	if err != nil {
		return nil, nil, &corrupt.Error{File: r.Path(), Offset: b.Start, Part: "block header SCHEMA", Err: err}
	}
	var buf []byte
	if kept != nil {
		buf = *kept
	}
	content, err := r.ContentIn(ctx, b, buf)
	if err != nil {
		return nil, nil, err
	}
	if kept != nil && len(content) <= maxKept {
		*kept = content
	}
	// Each record has 4 bytes of length and at least one per field: the count it claims is bounded by that.
	count := 0
	if len(content) >= 8 {
		count = min(int(binary.BigEndian.Uint32(content[4:])), len(content)/(4+len(writer.Fields)))
	}
	batch := dec.NewBatch(count)
	var spans []Span
	if kept == nil {
		spans = make([]Span, 0, count)
	}
	for rec, err := range logfile.DataRecords(content, b.ContentOffset) {
		if err != nil {
			return nil, nil, corrupt.InFile(err, r.Path())
		}
		if err := dec.Append(batch, rec.Data); err != nil {
			var ce *corrupt.Error
			if errors.As(err, &ce) {
				c := *ce
				c.File, c.Part = r.Path(), fmt.Sprintf("record %d, %s", batch.Len, ce.Part)
				if c.Offset >= 0 {
					c.Offset += rec.Offset
				}
				return nil, nil, &c
			}
			return nil, nil, err
		}
		if kept == nil {
			spans = append(spans, Span{rec.Offset, rec.Offset + int64(len(rec.Data))})
		}
		if batch.Len == sampleRecords {
			reserve(batch, count, len(content))
		}
	}
	return batch, spans, nil
}

// maxKept bounds the memory that is kept for the content of the next block, in bytes.
const maxKept = 32 << 20

// sampleRecords is after how many records the room that texts will need is foreseen.
const sampleRecords = 128

// reserve makes room for the texts of count records, judged by those of the first ones. Not more
// than the bytes of the whole block is asked for.
func reserve(b *column.Batch, count, limit int) {
	for _, c := range b.Columns {
		if c == nil || len(c.Data) == 0 {
			continue
		}
		more := int(float64(len(c.Data))/float64(b.Len)*float64(count-b.Len)*1.02) + 64
		if more <= 0 || more > limit {
			return
		}
		limit -= more
		c.Data = slices.Grow(c.Data, more)
	}
}

func parquetBlock(ctx context.Context, r *logfile.Reader, b *logfile.Block, want func(string) bool) (*column.Batch, error) {
	f, err := basefile.Open(ctx, r.Section(b), r.Path())
	if err != nil {
		return nil, err
	}
	out := &column.Batch{Type: f.Type(), Columns: make([]*column.Vector, len(f.Type().Fields))}
	for part, err := range f.Batches(ctx, want) {
		if err != nil {
			return nil, err
		}
		for i, c := range part.Columns {
			if c == nil {
				continue
			}
			if out.Len == 0 {
				out.Columns[i] = c
				continue
			}
			for j := range c.Len {
				out.Columns[i].AppendFrom(c, j)
			}
		}
		out.Len += part.Len
	}
	return out, nil
}

// Deletes decodes a delete block.
func Deletes(ctx context.Context, r *logfile.Reader, b *logfile.Block) (version int, deletes []logfile.Delete, err error) {
	if b.Damage != nil {
		return 0, nil, b.Damage
	}
	content, err := r.Content(ctx, b)
	if err != nil {
		return 0, nil, err
	}
	version, deletes, err = logfile.DecodeDeletes(content, b.ContentOffset)
	return version, deletes, corrupt.InFile(err, r.Path())
}

// ordering turns the ordering value of a delete record into that of the merge rules.
func ordering(v logfile.Ordering) merge.Ordering {
	switch v.Kind {
	case logfile.OrderBool:
		return merge.Ordering{Class: merge.Boolean, Int: v.Int}
	case logfile.OrderInt:
		return merge.Ordering{Class: merge.Integer, Int: v.Int}
	case logfile.OrderLong:
		return merge.Ordering{Class: merge.Long, Int: v.Int}
	case logfile.OrderFloat:
		return merge.Ordering{Class: merge.Float, Float: v.Float}
	case logfile.OrderDouble:
		return merge.Ordering{Class: merge.Double, Float: v.Float}
	case logfile.OrderBytes:
		return merge.Ordering{Class: merge.Bytes, Bytes: v.Bytes}
	case logfile.OrderString:
		return merge.Ordering{Class: merge.Text, Bytes: v.Bytes}
	case logfile.OrderDate, logfile.OrderLocalDate:
		return merge.Ordering{Class: merge.Date, Int: v.Int}
	case logfile.OrderDecimal:
		return merge.Ordering{Class: merge.DecimalNumber, Bytes: v.Bytes, Int: int64(v.Scale)}
	case logfile.OrderTimeMicros:
		return merge.Ordering{Class: merge.Time, Int: v.Int}
	case logfile.OrderTimestampMicros:
		return merge.Ordering{Class: merge.Timestamp, Int: v.Int}
	case logfile.OrderTuple:
		o := merge.Ordering{Class: merge.Tuple}
		for _, t := range v.Tuple {
			o.Tuple = append(o.Tuple, ordering(t))
		}
		return o
	}
	return merge.Ordering{}
}
