package groupreader

import (
	"context"
	"errors"
	"fmt"

	"hudiscope/core/avro"
	"hudiscope/core/column"
	"hudiscope/core/corrupt"
	"hudiscope/core/hfile"
	"hudiscope/core/logfile"
	"hudiscope/core/schema"
)

// keyField is the field that HFile writers store as empty text, because the cell's key says it
// (spec hfile.md section 7).
const keyField = "key"

// hfileBlock decodes a data block whose content is an HFile: the cells' values by the block's schema,
// in key order.
func hfileBlock(ctx context.Context, r *logfile.Reader, b *logfile.Block, want func(string) bool) (*column.Batch, error) {
	f, err := hfile.Open(ctx, r.Section(b), r.Path(), b.ContentOffset)
	if err != nil {
		return nil, err
	}
	// The HFile's own schema equals the header's, and has a checksum.
	text := f.SchemaText()
	if text == "" {
		text = b.SchemaText()
	}
	damaged := func(err error) error {
		return &corrupt.Error{File: r.Path(), Offset: b.Start, Part: "block header SCHEMA", Err: err}
	}
	if text == "" {
		return nil, damaged(errors.New("the block has no schema"))
	}
	writer, err := schema.Parse(text)
	if err != nil {
		return nil, damaged(err)
	}
	dec, err := avro.Compile(writer, want)
	if err != nil {
		return nil, damaged(err)
	}
	batch := dec.NewBatch(0)
	var keys [][]byte
	for c, err := range f.Scan(ctx) {
		if err != nil {
			return nil, err
		}
		if len(c.Value) == 0 {
			return nil, &Unsupported{File: r.Path(), Offset: b.Start, What: fmt.Sprintf("the record %q of the HFile data block has no value: it is a delete", c.Key),
				Try: "Only the metadata table has such records; they are read there."}
		}
		if err := dec.Append(batch, c.Value); err != nil {
			var ce *corrupt.Error
			if errors.As(err, &ce) {
				e := *ce
				e.File, e.Offset = r.Path(), c.Block
				e.Part = fmt.Sprintf("HFile data block: value of cell %d (key %q), %s", c.Index, c.Key, ce.Part)
				return nil, &e
			}
			return nil, err
		}
		keys = append(keys, c.Key)
	}
	restoreKey(batch, keyField, keys)
	restoreKey(batch, schema.RecordKeyField, keys)
	return batch, nil
}

// restoreKey puts the cells' keys into a column of text where it holds empty text.
func restoreKey(b *column.Batch, field string, keys [][]byte) {
	i := b.Type.FieldIndex(field)
	if i < 0 || b.Columns[i] == nil || b.Columns[i].Type.Kind != schema.String {
		return
	}
	v := b.Columns[i]
	blank := func(n int) bool { return !v.IsNull(n) && v.Offsets[n] == v.Offsets[n+1] }
	for n := range v.Len {
		if blank(n) {
			out := column.New(v.Type, v.Len)
			for n := range v.Len {
				if blank(n) {
					out.AppendBytes(keys[n])
				} else {
					out.AppendFrom(v, n)
				}
			}
			b.Columns[i] = out
			return
		}
	}
}
