package metatable

import (
	"encoding/binary"
	"fmt"
	"sort"

	"hudiscope/core/bloom"
	"hudiscope/core/column"
	"hudiscope/core/schema"
)

// RecordType is the type field of a record.
type RecordType int32

// The record types (spec metadata-table.md section 1).
const (
	PartitionList  RecordType = 1
	FileList       RecordType = 2
	ColumnStat     RecordType = 3
	BloomFilterRow RecordType = 4
	RecordIndexRow RecordType = 5
	PartitionStat  RecordType = 6
	SecondaryRow   RecordType = 7
)

var typeNames = map[RecordType]string{PartitionList: "partition list", FileList: "file list", ColumnStat: "column statistics", BloomFilterRow: "bloom filter",
	RecordIndexRow: "record location", PartitionStat: "partition statistics", SecondaryRow: "secondary index entry"}

// String names the type for people.
func (t RecordType) String() string {
	if s, ok := typeNames[t]; ok {
		return s
	}
	return fmt.Sprintf("type %d", int32(t))
}

// Record is a record of the metadata table. Exactly the part that Type tells is set.
type Record struct {
	// FileID is the file group of the metadata table that holds the record.
	FileID string
	Key    string
	Type   RecordType
	// Files are the names of a partition list or file list, sorted. It is not nil for those types.
	Files     []FileEntry
	Bloom     *BloomFilter
	Stats     *ColumnStats
	Location  *Location
	Secondary *Secondary
	// gone marks a delete: a delete block's entry, or an empty value.
	gone bool
	// size is an estimate of the memory held, in bytes.
	size int64
}

// FileEntry is one name of a list.
type FileEntry struct {
	Name    string
	Size    int64
	Deleted bool
}

// BloomFilter is HoodieMetadataBloomFilter.
type BloomFilter struct {
	// TypeCode is "SIMPLE" or "DYNAMIC_V0"; Text is the filter, Base64.
	TypeCode  string
	Timestamp string
	Text      []byte
	Deleted   bool
}

// Filter decodes the filter.
func (b *BloomFilter) Filter() (*bloom.Filter, error) { return bloom.Decode(b.TypeCode, b.Text) }

// ColumnStats is HoodieMetadataColumnStats: of a file, or of a partition. Pointers are nil for null.
type ColumnStats struct {
	// FileName is the partition path in partition statistics.
	FileName, Column                                    *string
	Min, Max                                            Bound
	ValueCount, NullCount, TotalSize, TotalUncompressed *int64
	Deleted                                             bool
	// TightBound is nil where the schema has no such field (before 1.0).
	TightBound *bool
	// ValueType is nil in the first encoding of bounds (before 1.1).
	ValueType *ValueType
}

// Location is HoodieRecordIndexInfo: where a record of the data table is. Pointers are nil for null.
type Location struct {
	Partition         *string
	HighBits, LowBits *int64
	FileIndex         *int64
	FileIDText        *string
	// InstantTime is in milliseconds of the epoch, made of the instant's digits in the writer's zone.
	InstantTime *int64
	// Encoding is 0 for a UUID in two numbers, 1 for text.
	Encoding int64
	Position *int64
}

// FileID is the file group of the data table, "" when the location does not tell it.
func (l *Location) FileID() string {
	if l.Encoding != 0 || l.HighBits == nil || l.LowBits == nil {
		if l.FileIDText != nil {
			return *l.FileIDText
		}
		return ""
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(*l.HighBits))
	binary.BigEndian.PutUint64(b[8:], uint64(*l.LowBits))
	id := fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	if l.FileIndex != nil && *l.FileIndex >= 0 {
		id += fmt.Sprintf("-%d", *l.FileIndex)
	}
	return id
}

// Secondary is HoodieSecondaryIndexInfo; what it joins stands in the key.
type Secondary struct{ Deleted bool }

// live returns the record without what is deleted, nil when nothing is left.
func (r *Record) live() *Record {
	switch {
	case r == nil || r.gone, r.Bloom != nil && r.Bloom.Deleted, r.Stats != nil && r.Stats.Deleted, r.Secondary != nil && r.Secondary.Deleted:
		return nil
	}
	for _, e := range r.Files {
		if e.Deleted {
			out := *r
			out.Files = []FileEntry{}
			for _, e := range r.Files {
				if !e.Deleted {
					out.Files = append(out.Files, e)
				}
			}
			return &out
		}
	}
	return r
}

// merge returns what an older and a newer record of the same key give (spec metadata-table.md
// section 3.3). Either may be nil.
func merge(o, n *Record) *Record {
	if o == nil || n.gone || o.gone {
		return n
	}
	out := *n
	out.size = o.size + n.size
	switch n.Type {
	case PartitionList, FileList:
		out.Files = mergeFiles(o.Files, n.Files)
	case ColumnStat, PartitionStat:
		if o.Stats == nil || n.Stats == nil {
			return n
		}
		out.Stats = mergeStats(o.Stats, n.Stats)
	default:
		return n
	}
	return &out
}

func mergeFiles(o, n []FileEntry) []FileEntry {
	out := make([]FileEntry, 0, len(o)+len(n))
	for i, j := 0, 0; i < len(o) || j < len(n); {
		switch {
		case j == len(n) || i < len(o) && o[i].Name < n[j].Name:
			out = append(out, o[i])
			i++
		case i == len(o) || n[j].Name < o[i].Name:
			out = append(out, n[j])
			j++
		default:
			switch old, e := o[i], n[j]; {
			case e.Deleted && old.Deleted:
				out = append(out, e)
			case e.Deleted:
			default:
				out = append(out, FileEntry{Name: e.Name, Size: max(old.Size, e.Size)})
			}
			i, j = i+1, j+1
		}
	}
	return out
}

func mergeStats(o, n *ColumnStats) *ColumnStats {
	if o.Deleted || n.Deleted || n.TightBound != nil && *n.TightBound {
		return n
	}
	out := *n
	out.Min, out.Max = least(o, n, o.Min, n.Min, -1), least(o, n, o.Max, n.Max, 1)
	sum := func(a, b *int64) *int64 {
		if a == nil || b == nil {
			if a == nil {
				return b
			}
			return a
		}
		s := *a + *b
		return &s
	}
	out.ValueCount, out.NullCount = sum(o.ValueCount, n.ValueCount), sum(o.NullCount, n.NullCount)
	out.TotalSize, out.TotalUncompressed = sum(o.TotalSize, n.TotalSize), sum(o.TotalUncompressed, n.TotalUncompressed)
	return &out
}

// least returns the bound that is less (sign -1) or greater (1); nulls give way.
func least(os, ns *ColumnStats, o, n Bound, sign int) Bound {
	if o.Wrapper == NullBound {
		return n
	}
	if n.Wrapper == NullBound {
		return o
	}
	if compareBounds(os, ns, o, n)*sign > 0 {
		return o
	}
	return n
}

// fields are the vectors of a batch that records are made of; nil where the schema lacks them.
type fields struct {
	b                                          *column.Batch
	key, typ, files, bloom, stats, loc, second *column.Vector
}

// wanted chooses the columns that records are made of.
func wanted(field string) bool { return !schema.IsMetaField(field) }

// check returns an error when a schema is not that of the metadata table.
func check(t *schema.Type) error {
	want := map[string]schema.Kind{"key": schema.String, "type": schema.Int}
	for name, kind := range want {
		if i := t.FieldIndex(name); i < 0 || t.Fields[i].Type.Kind != kind {
			return fmt.Errorf("the schema %s is not that of a metadata table: it has no field %s of type %s", t.FullName(), name, kind)
		}
	}
	return nil
}

func view(b *column.Batch) fields {
	col := func(name string, kind schema.Kind) *column.Vector {
		if v := b.Column(name); v != nil && v.Type.Kind == kind {
			return v
		}
		return nil
	}
	return fields{b: b, key: col("key", schema.String), typ: col("type", schema.Int), files: col("filesystemMetadata", schema.Map), bloom: col("BloomFilterMetadata", schema.Record),
		stats: col("ColumnStatsMetadata", schema.Record), loc: col("recordIndexMetadata", schema.Record), second: col("SecondaryIndexMetadata", schema.Record)}
}

// child returns a field of a record vector by name and kind, nil when it has none.
func child(v *column.Vector, name string, kind schema.Kind) *column.Vector {
	if i := v.Type.FieldIndex(name); i >= 0 && v.Children[i].Type.Kind == kind {
		return v.Children[i]
	}
	return nil
}

func text(v *column.Vector, i int) *string {
	if v == nil || v.IsNull(i) {
		return nil
	}
	s := string(v.BytesAt(i))
	return &s
}

func number(v *column.Vector, i int) *int64 {
	if v == nil || v.IsNull(i) {
		return nil
	}
	x := v.Ints[i]
	return &x
}

func flag(v *column.Vector, i int) bool { return v != nil && !v.IsNull(i) && v.Bools[i] }

func plain(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// record makes a record of row i. key replaces the key field, which HFiles blank; nil keeps it.
func (f *fields) record(i int, key []byte) *Record {
	r := &Record{size: 160}
	if key != nil {
		r.Key = string(key)
	} else if f.key != nil {
		r.Key = plain(text(f.key, i))
	}
	r.size += int64(2 * len(r.Key))
	if f.typ != nil {
		r.Type = RecordType(f.typ.Ints[i])
	}
	set := func(v *column.Vector) bool { return v != nil && !v.IsNull(i) }
	if set(f.files) {
		r.Files = fileEntries(f.files, i)
		for _, e := range r.Files {
			r.size += int64(48 + len(e.Name))
		}
	}
	if set(f.bloom) {
		v := f.bloom
		b := &BloomFilter{TypeCode: plain(text(child(v, "type", schema.String), i)), Timestamp: plain(text(child(v, "timestamp", schema.String), i)), Deleted: flag(child(v, "isDeleted", schema.Boolean), i)}
		if t := text(child(v, "bloomFilter", schema.Bytes), i); t != nil {
			b.Text = []byte(*t)
		}
		r.Bloom = b
		r.size += int64(64 + len(b.Text))
	}
	if set(f.stats) {
		r.Stats = columnStats(f.stats, i)
		r.size += 400
	}
	if set(f.loc) {
		v := f.loc
		l := &Location{Partition: text(child(v, "partitionName", schema.String), i), HighBits: number(child(v, "fileIdHighBits", schema.Long), i), LowBits: number(child(v, "fileIdLowBits", schema.Long), i),
			FileIndex: number(child(v, "fileIndex", schema.Int), i), FileIDText: text(child(v, "fileId", schema.String), i), InstantTime: number(child(v, "instantTime", schema.Long), i),
			Position: number(child(v, "position", schema.Long), i)}
		if n := number(child(v, "fileIdEncoding", schema.Int), i); n != nil {
			l.Encoding = *n
		}
		r.Location = l
		r.size += 160
	}
	if set(f.second) {
		r.Secondary = &Secondary{Deleted: flag(child(f.second, "isDeleted", schema.Boolean), i)}
	}
	return r
}

func fileEntries(v *column.Vector, i int) []FileEntry {
	out := make([]FileEntry, 0, v.Offsets[i+1]-v.Offsets[i])
	names, info := v.Children[0], v.Children[1]
	var size, deleted *column.Vector
	if info.Type.Kind == schema.Record {
		size, deleted = child(info, "size", schema.Long), child(info, "isDeleted", schema.Boolean)
	}
	for j := int(v.Offsets[i]); j < int(v.Offsets[i+1]); j++ {
		e := FileEntry{Name: string(names.BytesAt(j)), Deleted: flag(deleted, j)}
		if n := number(size, j); n != nil {
			e.Size = *n
		}
		out = append(out, e)
	}
	sort.SliceStable(out, func(a, b int) bool { return out[a].Name < out[b].Name })
	// A name that stands twice in a map counts once, as the last.
	keep := out[:0]
	for k, e := range out {
		if k+1 < len(out) && out[k+1].Name == e.Name {
			continue
		}
		keep = append(keep, e)
	}
	return keep
}

func columnStats(v *column.Vector, i int) *ColumnStats {
	s := &ColumnStats{FileName: text(child(v, "fileName", schema.String), i), Column: text(child(v, "columnName", schema.String), i), Deleted: flag(child(v, "isDeleted", schema.Boolean), i),
		ValueCount: number(child(v, "valueCount", schema.Long), i), NullCount: number(child(v, "nullCount", schema.Long), i),
		TotalSize: number(child(v, "totalSize", schema.Long), i), TotalUncompressed: number(child(v, "totalUncompressedSize", schema.Long), i)}
	if b := child(v, "minValue", schema.Union); b != nil {
		s.Min = bound(b, i)
	}
	if b := child(v, "maxValue", schema.Union); b != nil {
		s.Max = bound(b, i)
	}
	if t := child(v, "isTightBound", schema.Boolean); t != nil {
		x := flag(t, i)
		s.TightBound = &x
	}
	if t := child(v, "valueType", schema.Record); t != nil && !t.IsNull(i) {
		s.ValueType = &ValueType{Info: plain(text(child(t, "additionalInfo", schema.String), i))}
		if n := number(child(t, "typeOrdinal", schema.Int), i); n != nil {
			s.ValueType.Ordinal = int(*n)
		}
	}
	return s
}
