package logfile

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"

	"hudiscope/core/corrupt"
	"hudiscope/core/storage"
)

// The block versions: the first number of a data or delete content. They say which
// releases wrote it and, for deletes, how.
const (
	BlockVersion1 = 1 // up to 0.10
	BlockVersion2 = 2 // 0.11 to 0.13
	BlockVersion3 = 3 // 0.14 and later
)

// Record is one record of an Avro data block.
type Record struct {
	// Index in the block, from 0.
	Index int
	// Offset of the record's bytes: in the file, when the content's offset was given.
	Offset int64
	// Data is the Avro binary; it aliases the content.
	Data []byte
}

// dataHead is the version and the record count of a data block's content.
func dataHead(content []byte, base, size int64) (version int, count int64, err error) {
	if len(content) < 8 {
		return 0, 0, corrupt.At(base, "data block", "8 bytes for version and record count", fmt.Sprintf("%d bytes", len(content)))
	}
	version = int(int32(binary.BigEndian.Uint32(content)))
	if version < BlockVersion1 || version > BlockVersion3 {
		return 0, 0, corrupt.At(base, "version of a data block", "1, 2 or 3", fmt.Sprint(version))
	}
	count = int64(int32(binary.BigEndian.Uint32(content[4:])))
	if count < 0 || count > (size-8)/4 {
		return 0, 0, corrupt.At(base+4, "record count", fmt.Sprintf("0 to %d", (size-8)/4), fmt.Sprint(count))
	}
	return version, count, nil
}

// DataRecords iterates over the records of the content of an Avro or CDC data block.
// base is the block's ContentOffset, for absolute offsets. The first error ends the
// iteration; bytes left over behind the last record are one.
func DataRecords(content []byte, base int64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		_, count, err := dataHead(content, base, int64(len(content)))
		if err != nil {
			yield(Record{}, err)
			return
		}
		pos := 8
		for i := range int(count) {
			part := fmt.Sprintf
			if len(content)-pos < 4 {
				yield(Record{}, corrupt.At(base+int64(pos), part("length of record %d of %d", i, count), "4 bytes", part("%d bytes", len(content)-pos)))
				return
			}
			n := int64(int32(binary.BigEndian.Uint32(content[pos:])))
			if left := int64(len(content) - pos - 4); n < 0 || n > left {
				yield(Record{}, corrupt.At(base+int64(pos), part("length of record %d of %d", i, count), part("0 to %d, the bytes left in the block", left), part("%d", n)))
				return
			}
			pos += 4
			if !yield(Record{Index: i, Offset: base + int64(pos), Data: content[pos : pos+int(n) : pos+int(n)]}, nil) {
				return
			}
			pos += int(n)
		}
		if pos != len(content) {
			yield(Record{}, corrupt.At(base+int64(pos), "data block", fmt.Sprintf("its end after %d records", count), fmt.Sprintf("%d bytes more", len(content)-pos)))
		}
	}
}

// countBytes is how much of a content is read to count its records.
const countBytes = 512

// count is RecordCount for a block the beginning of whose content is p. ok is false when more is needed,
// or what is there is wrong.
func (b *Block) count(p []byte) (n int64, ok bool) {
	var err error
	if b.Type != DeleteBlock {
		_, n, err = dataHead(p, b.ContentOffset, b.ContentSize)
		return n, err == nil
	}
	n, whole, err := deleteCount(p, b.ContentOffset, b.ContentSize)
	if err == nil && !whole && int64(len(p)) == b.ContentSize {
		var list []Delete
		_, list, err = DecodeDeletes(p, b.ContentOffset)
		return int64(len(list)), err == nil
	}
	return n, err == nil && whole
}

// RecordCount returns the number of records of an Avro, CDC or delete block, reading only
// the first bytes of its content, and 0 for blocks that hold none. For Parquet and HFile
// blocks it is -1: their own readers know. It is what the block claims; only reading the
// whole content proves it.
func (r *Reader) RecordCount(ctx context.Context, b *Block) (int64, error) {
	if b.Damage != nil {
		return -1, b.Damage
	}
	switch b.Type {
	case AvroDataBlock, CDCDataBlock, DeleteBlock:
	case CommandBlock, CorruptBlock:
		return 0, nil
	default:
		return -1, nil
	}
	if b.counted {
		return b.records, nil
	}
	p := make([]byte, min(b.ContentSize, countBytes))
	if err := storage.ReadFull(ctx, r.obj, p, b.ContentOffset); err != nil {
		return -1, fmt.Errorf("%s: content of the block at byte %d: %w", r.path, b.Start, err)
	}
	if b.Type != DeleteBlock {
		_, n, err := dataHead(p, b.ContentOffset, b.ContentSize)
		if err != nil {
			return -1, corrupt.InFile(err, r.path)
		}
		return n, nil
	}
	n, whole, err := deleteCount(p, b.ContentOffset, b.ContentSize)
	if err != nil {
		return -1, corrupt.InFile(err, r.path)
	}
	if !whole {
		content, err := r.Content(ctx, b)
		if err != nil {
			return -1, err
		}
		_, list, err := DecodeDeletes(content, b.ContentOffset)
		if err != nil {
			return -1, corrupt.InFile(err, r.path)
		}
		n = int64(len(list))
	}
	return n, nil
}
