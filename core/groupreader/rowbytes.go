package groupreader

import (
	"hudiscope/core/column"
	"hudiscope/core/merge"
	"hudiscope/core/schema"
)

// RowCodec writes columns of rows of one type as bytes, for a store of package spill or another program, and reads them
// back. What one codec writes another one of the same columns reads. It is not safe for concurrent use.
type RowCodec struct{ c codec }

// NewRowCodec makes a codec for columns of a record type, by their positions, which are in ascending order. One that a
// batch lacks is null when it is read; others are absent.
func NewRowCodec(t *schema.Type, columns []int) *RowCodec {
	return &RowCodec{codec{typ: t, fixed: true, layouts: []layout{{columns}}}}
}

// Append writes a row.
func (c *RowCodec) Append(dst []byte, row column.Row) []byte {
	return c.c.append(dst, &spilled{rec: merge.Record{Row: row}})
}

// RowReader reads rows that a codec has written. The rows of one reader share batches.
type RowReader struct{ d decoder }

// Reader makes a reader, whose batches have at most the given number of rows.
func (c *RowCodec) Reader(rows int) *RowReader {
	return &RowReader{decoder{c: &c.c, batchRows: rows, batchBytes: 1 << 20}}
}

// Read takes one row off the front of p.
func (r *RowReader) Read(p []byte) (row column.Row, rest []byte, err error) {
	var s spilled
	rest, err = r.d.read(p, &s)
	if err == nil && s.rec.Row.Batch == nil {
		err = errSpilled
	}
	return s.rec.Row, rest, err
}
