package metatable

import (
	"encoding/base64"
	"strconv"

	"hudiscope/core/column"
)

// AppendJSON appends the record as Hudi's own Spark reader shows a row of the metadata table, columns
// that are null left out. The branches of a bound's union are named member0, member1 and so on, as
// Spark names them.
func (r *Record) AppendJSON(dst []byte) []byte {
	o := object{dst: append(dst, '{')}
	o.text("key", r.Key)
	o.int("type", int64(r.Type))
	if r.Files != nil {
		o.begin("filesystemMetadata")
		for _, e := range r.Files {
			o.begin(e.Name)
			o.int("size", e.Size)
			o.bool("isDeleted", e.Deleted)
			o.end()
		}
		o.end()
	}
	if b := r.Bloom; b != nil {
		o.begin("BloomFilterMetadata")
		o.text("type", b.TypeCode)
		o.text("timestamp", b.Timestamp)
		o.name("bloomFilter")
		o.dst = append(o.dst, '"')
		o.dst = base64.StdEncoding.AppendEncode(o.dst, b.Text)
		o.dst = append(o.dst, '"')
		o.bool("isDeleted", b.Deleted)
		o.end()
	}
	if s := r.Stats; s != nil {
		o.begin("ColumnStatsMetadata")
		o.optional("fileName", s.FileName)
		o.optional("columnName", s.Column)
		o.bound("minValue", s.Min)
		o.bound("maxValue", s.Max)
		o.number("valueCount", s.ValueCount)
		o.number("nullCount", s.NullCount)
		o.number("totalSize", s.TotalSize)
		o.number("totalUncompressedSize", s.TotalUncompressed)
		o.bool("isDeleted", s.Deleted)
		if s.TightBound != nil {
			o.bool("isTightBound", *s.TightBound)
		}
		if s.ValueType != nil {
			o.begin("valueType")
			o.int("typeOrdinal", int64(s.ValueType.Ordinal))
			if s.ValueType.Info != "" {
				o.text("additionalInfo", s.ValueType.Info)
			}
			o.end()
		}
		o.end()
	}
	if l := r.Location; l != nil {
		o.begin("recordIndexMetadata")
		o.optional("partitionName", l.Partition)
		o.number("fileIdHighBits", l.HighBits)
		o.number("fileIdLowBits", l.LowBits)
		o.number("fileIndex", l.FileIndex)
		o.optional("fileId", l.FileIDText)
		o.number("instantTime", l.InstantTime)
		o.int("fileIdEncoding", l.Encoding)
		if l.Position != nil {
			o.number("position", l.Position)
		}
		o.end()
	}
	if r.Secondary != nil {
		o.begin("SecondaryIndexMetadata")
		o.bool("isDeleted", r.Secondary.Deleted)
		o.end()
	}
	return append(o.dst, '}')
}

// object writes the members of JSON objects.
type object struct{ dst []byte }

func (o *object) name(k string) {
	if o.dst[len(o.dst)-1] != '{' {
		o.dst = append(o.dst, ',')
	}
	o.dst = append(column.AppendText(o.dst, []byte(k)), ':')
}

func (o *object) begin(k string) { o.name(k); o.dst = append(o.dst, '{') }

func (o *object) end() { o.dst = append(o.dst, '}') }

func (o *object) text(k, v string) { o.name(k); o.dst = column.AppendText(o.dst, []byte(v)) }

func (o *object) int(k string, v int64) { o.name(k); o.dst = strconv.AppendInt(o.dst, v, 10) }

func (o *object) bool(k string, v bool) { o.name(k); o.dst = strconv.AppendBool(o.dst, v) }

func (o *object) null(k string) { o.name(k); o.dst = append(o.dst, "null"...) }

func (o *object) optional(k string, v *string) {
	if v == nil {
		o.null(k)
		return
	}
	o.text(k, *v)
}

func (o *object) number(k string, v *int64) {
	if v == nil {
		o.null(k)
		return
	}
	o.int(k, *v)
}

// bound writes a bound with the one member of the union that it has.
func (o *object) bound(k string, b Bound) {
	if b.Wrapper == NullBound {
		o.null(k)
		return
	}
	o.begin(k)
	o.member(b)
	o.end()
}

func (o *object) member(b Bound) {
	o.begin("member" + strconv.Itoa(int(b.Wrapper)-1))
	if b.Wrapper == ArrayWrapper {
		o.name("wrappedValues")
		o.dst = append(o.dst, '[')
		for i, x := range b.List {
			if i > 0 {
				o.dst = append(o.dst, ',')
			}
			if x.Wrapper == NullBound {
				o.dst = append(o.dst, "null"...)
				continue
			}
			o.dst = append(o.dst, '{')
			o.member(x)
			o.end()
		}
		o.dst = append(o.dst, ']')
	} else {
		o.name("value")
		o.dst = b.appendRaw(o.dst)
	}
	o.end()
}
