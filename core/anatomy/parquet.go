package anatomy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"hudiscope/core/api"
	"hudiscope/core/basefile"
	"hudiscope/core/bloom"
	"hudiscope/core/corrupt"
	"hudiscope/core/storage"
)

const (
	// maxFooter bounds the footer, in bytes.
	maxFooter = 256 << 20
	// headerWindow is how much is read at the beginning of a page, maxHeader how long a header may be.
	headerWindow = 512
	maxHeader    = 1 << 20
)

// The keys under which Hudi keeps things in a footer (spec parquet.md).
var hudiKeys = map[string]string{
	"org.apache.hudi.bloomfilter":               "Hudi's bloom filter of the record keys",
	"com.uber.hoodie.bloomfilter":               "Hudi's bloom filter of the record keys, by its old name",
	"hoodie_bloom_filter_type_code":             "how the bloom filter is built",
	"hoodie_min_record_key":                     "the smallest record key of the file",
	"hoodie_max_record_key":                     "the largest record key of the file",
	"parquet.avro.schema":                       "the Avro schema of the records",
	"org.apache.spark.sql.parquet.row.metadata": "the schema as Spark's JSON",
	"org.apache.spark.version":                  "the Spark release that wrote the file",
	"writer.model.name":                         "the object model of the writer",
}

func (a *reader) parquet() error {
	a.out.Format = "parquet"
	if a.size < 12 {
		return &corrupt.Error{File: a.o.Path, Offset: a.base, Part: "Parquet file", Want: "at least 12 bytes", Got: strconv.FormatInt(a.size, 10),
			Try: "The file was not written to its end; look in the timeline whether its instant is completed."}
	}
	var head [4]byte
	if err := storage.ReadFull(a.ctx, a.obj, head[:], 0); err != nil {
		return err
	}
	if string(head[:]) == "PAR1" {
		a.add(api.AnatomyPart{Kind: "magic", Name: `Magic "PAR1"`, Start: a.base, End: a.base + 4})
	} else {
		a.finding("warning", "The first four bytes are not Parquet's", fmt.Sprintf("%q is there, \"PAR1\" is wanted. Readers do not look at them.", head[:]), a.base)
	}
	var tail [8]byte
	if err := storage.ReadFull(a.ctx, a.obj, tail[:], a.size-8); err != nil {
		return err
	}
	if string(tail[4:]) != "PAR1" {
		got := fmt.Sprintf("%q", tail[4:])
		if string(tail[4:]) == "PARE" {
			got = "an encrypted footer (PARE)"
		}
		return &corrupt.Error{File: a.o.Path, Offset: a.base + a.size - 4, Part: "Parquet magic", Want: `"PAR1"`, Got: got, Try: "The file is cut, or its end was overwritten."}
	}
	a.add(api.AnatomyPart{Kind: "magic", Name: `Magic "PAR1"`, Start: a.base + a.size - 4, End: a.base + a.size})
	foot := int64(binary.LittleEndian.Uint32(tail[:]))
	a.add(api.AnatomyPart{Kind: "footer length", Name: "Length of the footer", Start: a.base + a.size - 8, End: a.base + a.size - 4, Facts: []api.Fact{number("bytes", foot)}})
	if foot > a.size-12 {
		return &corrupt.Error{File: a.o.Path, Offset: a.base + a.size - 8, Part: "Parquet footer length", Want: fmt.Sprintf("at most %d", a.size-12), Got: strconv.FormatInt(foot, 10)}
	}
	if foot > maxFooter {
		return &basefile.Unsupported{File: a.o.Path, What: fmt.Sprintf("a footer of %d bytes is more than the limit of %d", foot, maxFooter)}
	}
	b := make([]byte, foot)
	at := a.size - 8 - foot
	if err := storage.ReadFull(a.ctx, a.obj, b, at); err != nil {
		return err
	}
	footer := api.AnatomyPart{Kind: "footer", Name: "Footer", Start: a.base + at, End: a.base + at + foot}
	m, err := a.footer(b, at)
	if err != nil {
		a.add(footer)
		return err
	}
	footer.Facts = []api.Fact{number("version", int64(m.Version)), fact("written by", m.CreatedBy), number("rows", m.NumRows), number("row groups", int64(len(m.RowGroups))), number("elements of the schema", int64(len(m.Schema)))}
	a.add(footer)
	a.out.Facts = append(a.out.Facts, number("rows", m.NumRows), number("row groups", int64(len(m.RowGroups))), fact("written by", m.CreatedBy))
	if err := a.keyValues(m, b, at); err != nil {
		return err
	}
	return a.rowGroups(m)
}

func (a *reader) add(p api.AnatomyPart) { a.out.Parts = append(a.out.Parts, p) }

// footer decodes the footer, whose bytes b lie at an offset.
func (a *reader) footer(b []byte, at int64) (m *format.FileMetaData, err error) {
	moved := func(err error) error {
		var ce *corrupt.Error
		if errors.As(err, &ce) {
			c := *ce
			c.File, c.Offset, c.Part = a.o.Path, a.base+at+ce.Offset, "Parquet footer: "+ce.Part
			return &c
		}
		return &corrupt.Error{File: a.o.Path, Offset: a.base + at, Part: "Parquet footer", Err: err}
	}
	n, err := basefile.CheckMessage(b)
	if err != nil {
		return nil, moved(err)
	}
	if n < len(b) {
		a.finding("warning", "The footer is longer than its content", fmt.Sprintf("%d bytes after it mean nothing.", len(b)-n), a.base+at+int64(n))
	}
	defer func() {
		if r := recover(); r != nil {
			m, err = nil, moved(fmt.Errorf("%v", r))
		}
	}()
	m = &format.FileMetaData{}
	if err := thrift.Unmarshal(&thrift.CompactProtocol{}, b, m); err != nil {
		return nil, moved(err)
	}
	return m, nil
}

// keyValues lists the footer's key-value metadata.
func (a *reader) keyValues(m *format.FileMetaData, footer []byte, at int64) error {
	code := ""
	for _, kv := range m.KeyValueMetadata {
		if kv.Key == "hoodie_bloom_filter_type_code" {
			code = kv.Value
		}
	}
	seen := 0
	for _, kv := range m.KeyValueMetadata {
		start := int64(-1)
		// The entries are in the footer in this order, each with its key before its value.
		if i := bytes.Index(footer[seen:], []byte(kv.Key)); i >= 0 {
			i += seen + len(kv.Key)
			if j := bytes.Index(footer[i:], []byte(kv.Value)); j >= 0 && j < 16 {
				start, seen = a.base+at+int64(i+j), i+j+len(kv.Value)
			}
		}
		what := hudiKeys[kv.Key]
		if strings.HasSuffix(kv.Key, ".bloomfilter") {
			f, err := bloom.Decode(code, []byte(kv.Value))
			if err != nil {
				a.finding("warning", "The bloom filter can't be decoded", err.Error()+". Queries that use it read the file instead.", max(start, 0))
			} else {
				what += ": " + bloomText(f)
			}
		}
		a.out.Entries = append(a.out.Entries, entry(kv.Key, []byte(kv.Value), start, what))
	}
	return nil
}

// rowGroups lists the row groups with their column chunks.
func (a *reader) rowGroups(m *format.FileMetaData) error {
	leaves := []*format.SchemaElement{}
	for i := range m.Schema {
		if m.Schema[i].Type.Valid {
			leaves = append(leaves, &m.Schema[i])
		}
	}
	number0 := 0
	rows := int64(0)
	var indexes []api.AnatomyPart
	for g := range m.RowGroups {
		rg := &m.RowGroups[g]
		rows += rg.NumRows
		p := api.AnatomyPart{Kind: "row group", Name: fmt.Sprintf("Row group %d", g), Start: math.MaxInt64,
			Facts: []api.Fact{number("rows", rg.NumRows), number("columns", int64(len(rg.Columns))), number("unpacked", rg.TotalByteSize)}}
		for c := range rg.Columns {
			number0++
			chunk, err := a.chunk(&rg.Columns[c], leafOf(leaves, c), g, number0)
			if err != nil {
				if err := a.damage(err); err != nil {
					return err
				}
			}
			if chunk.End > chunk.Start {
				p.Parts = append(p.Parts, chunk)
				p.Start, p.End = min(p.Start, chunk.Start), max(p.End, chunk.End)
			}
			indexes = append(indexes, a.indexes(&rg.Columns[c], g)...)
		}
		if len(p.Parts) > 0 {
			p.Parts = cover(p.Parts, p.Start, p.End)
			a.add(p)
		}
	}
	if rows != m.NumRows {
		a.finding("error", "Rows do not add up", fmt.Sprintf("The footer tells %d rows, its row groups %d.", m.NumRows, rows), a.base+a.size-8)
	}
	for _, x := range indexes {
		a.add(x)
	}
	return nil
}

func leafOf(leaves []*format.SchemaElement, i int) *format.SchemaElement {
	if i < len(leaves) {
		return leaves[i]
	}
	return nil
}

// indexes are the parts that a column chunk names outside of its pages.
func (a *reader) indexes(c *format.ColumnChunk, group int) []api.AnatomyPart {
	name := strings.Join(c.MetaData.PathInSchema, ".")
	var out []api.AnatomyPart
	for _, x := range [...]struct {
		kind   string
		at, n  int64
		format string
	}{
		{"column index", c.ColumnIndexOffset, int64(c.ColumnIndexLength), "Column index of %s, row group %d"},
		{"offset index", c.OffsetIndexOffset, int64(c.OffsetIndexLength), "Offset index of %s, row group %d"},
		{"bloom filter", c.MetaData.BloomFilterOffset, int64(c.MetaData.BloomFilterLength), "Parquet's bloom filter of %s, row group %d"},
	} {
		switch {
		case x.at <= 0 || x.n <= 0:
		case x.at > a.size || x.n > a.size-x.at:
			a.finding("error", "An index lies outside of the file", fmt.Sprintf("The %s of %s in row group %d is said to have %d bytes at %d; the file has %d.", x.kind, name, group, x.n, x.at, a.size), a.base+a.size-8)
		default:
			out = append(out, api.AnatomyPart{Kind: x.kind, Name: fmt.Sprintf(x.format, name, group), Start: a.base + x.at, End: a.base + x.at + x.n})
		}
	}
	return out
}

// chunk describes a column chunk, with its pages when they are wanted or there is room for them.
func (a *reader) chunk(c *format.ColumnChunk, leaf *format.SchemaElement, group, n int) (api.AnatomyPart, error) {
	m := &c.MetaData
	name := strings.Join(m.PathInSchema, ".")
	start := m.DataPageOffset
	if d := m.DictionaryPageOffset; d > 0 && d < start {
		start = d
	}
	p := api.AnatomyPart{Kind: "column chunk", Name: name, Chunk: n}
	if start < 0 || m.TotalCompressedSize < 0 || start > a.size || m.TotalCompressedSize > a.size-start {
		return p, &corrupt.Error{File: a.o.Path, Offset: a.base + a.size - 8, Part: fmt.Sprintf("Parquet footer: column %s of row group %d", name, group),
			Want: fmt.Sprintf("a range within %d bytes", a.size), Got: fmt.Sprintf("%d bytes at %d", m.TotalCompressedSize, start)}
	}
	p.Start, p.End = a.base+start, a.base+start+m.TotalCompressedSize
	typ := m.Type.String()
	if leaf != nil {
		if l := leaf.LogicalType.String(); l != "" {
			typ += " (" + l + ")"
		} else if leaf.ConvertedType.Valid {
			typ += " (" + convertedName(leaf) + ")"
		}
	}
	p.Facts = []api.Fact{fact("type", typ), fact("codec", m.Codec.String()), fact("encodings", encodings(m.Encoding)), number("values", m.NumValues), number("unpacked", m.TotalUncompressedSize)}
	p.Facts = append(p.Facts, statistics(&m.Statistics, leaf)...)
	if a.o.Chunk != 0 && a.o.Chunk != n || a.room <= 0 {
		p.Unread = true
		return p, nil
	}
	err := a.pages(&p, leaf, start, start+m.TotalCompressedSize)
	return p, err
}

// pages reads the headers of a chunk's pages.
func (a *reader) pages(p *api.AnatomyPart, leaf *format.SchemaElement, at, end int64) error {
	data := 0
	for at < end {
		if a.room--; a.room < 0 {
			p.Unread = true
			break
		}
		h, n, err := a.header(at, end)
		if err != nil {
			p.Unread = true
			return err
		}
		size := int64(h.CompressedPageSize)
		if size < 0 || size > end-at-n {
			p.Unread = true
			return &corrupt.Error{File: a.o.Path, Offset: a.base + at, Part: "Parquet page header: bytes of the page", Want: fmt.Sprintf("at most %d, the rest of the column chunk", end-at-n), Got: strconv.FormatInt(size, 10)}
		}
		page := api.AnatomyPart{Start: a.base + at, End: a.base + at + n + size, Facts: []api.Fact{number("header", n), number("bytes", size), number("unpacked", int64(h.UncompressedPageSize))}}
		switch {
		case h.DictionaryPageHeader.Valid:
			d := &h.DictionaryPageHeader.V
			page.Kind, page.Name = "dictionary page", "Dictionary"
			page.Facts = append(page.Facts, number("values", int64(d.NumValues)), fact("encoding", d.Encoding.String()))
		case h.DataPageHeader.Valid:
			d := &h.DataPageHeader.V
			page.Kind, page.Name = "data page", fmt.Sprintf("Data page %d", data)
			page.Facts = append(page.Facts, number("values", int64(d.NumValues)), fact("encoding", d.Encoding.String()))
			page.Facts = append(page.Facts, statistics(&d.Statistics, leaf)...)
			data++
		case h.DataPageHeaderV2.Valid:
			d := &h.DataPageHeaderV2.V
			page.Kind, page.Name = "data page", fmt.Sprintf("Data page %d (version 2)", data)
			page.Facts = append(page.Facts, number("values", int64(d.NumValues)), number("rows", int64(d.NumRows)), number("nulls", int64(d.NumNulls)), fact("encoding", d.Encoding.String()))
			page.Facts = append(page.Facts, statistics(&d.Statistics, leaf)...)
			data++
		default:
			page.Kind, page.Name = "index page", fmt.Sprintf("Page of type %d", h.Type)
		}
		if h.CRC != 0 {
			page.Facts = append(page.Facts, fact("CRC", fmt.Sprintf("0x%08x", uint32(h.CRC))))
		}
		p.Parts = append(p.Parts, page)
		at += n + size
	}
	if !p.Unread {
		p.Parts = cover(p.Parts, p.Start, p.End)
	}
	return nil
}

// header reads the page header at an offset, and tells its length.
func (a *reader) header(at, end int64) (h *format.PageHeader, n int64, err error) {
	bad := func(err error) error {
		return &corrupt.Error{File: a.o.Path, Offset: a.base + at, Part: "Parquet page header", Err: err}
	}
	defer func() {
		if r := recover(); r != nil {
			h, err = nil, bad(fmt.Errorf("%v", r))
		}
	}()
	for size := int64(headerWindow); ; size *= 8 {
		b := make([]byte, min(size, end-at, maxHeader))
		if err := storage.ReadFull(a.ctx, a.obj, b, at); err != nil {
			return nil, 0, err
		}
		n, err := basefile.CheckMessage(b)
		if err == nil {
			h = &format.PageHeader{}
			if err := thrift.Unmarshal(&thrift.CompactProtocol{}, b[:n], h); err != nil {
				return nil, 0, bad(err)
			}
			return h, int64(n), nil
		}
		if int64(len(b)) == end-at || len(b) == maxHeader {
			var ce *corrupt.Error
			if errors.As(err, &ce) {
				c := *ce
				c.File, c.Offset, c.Part = a.o.Path, a.base+at+ce.Offset, "Parquet page header: "+ce.Part
				return nil, 0, &c
			}
			return nil, 0, bad(io.ErrUnexpectedEOF)
		}
	}
}

func encodings(list []format.Encoding) string {
	var names []string
	for _, e := range list {
		names = append(names, e.String())
	}
	return strings.Join(names, ", ")
}

func convertedName(e *format.SchemaElement) string {
	switch e.ConvertedType.V {
	case deprecated.UTF8:
		return "UTF8"
	case deprecated.Decimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", e.Precision.V, e.Scale.V)
	case deprecated.Date:
		return "DATE"
	case deprecated.TimestampMillis:
		return "TIMESTAMP_MILLIS"
	case deprecated.TimestampMicros:
		return "TIMESTAMP_MICROS"
	}
	return fmt.Sprintf("converted type %d", e.ConvertedType.V)
}

// statistics are the bounds and counts as stored.
func statistics(s *format.Statistics, leaf *format.SchemaElement) []api.Fact {
	var out []api.Fact
	if s.NullCount > 0 || s.MinValue != nil || s.Min != nil {
		out = append(out, number("nulls", s.NullCount))
	}
	if s.DistinctCount > 0 {
		out = append(out, number("distinct values", s.DistinctCount))
	}
	low, high, old := s.MinValue, s.MaxValue, ""
	if low == nil && high == nil {
		low, high, old = s.Min, s.Max, " (by the older order)"
	}
	if low != nil {
		out = append(out, fact("smallest"+old, value(low, leaf)))
	}
	if high != nil {
		out = append(out, fact("largest"+old, value(high, leaf)))
	}
	return out
}

// value is a statistic as text, by the type of its column.
func value(b []byte, e *format.SchemaElement) string {
	if e == nil {
		return text(b)
	}
	var n int64
	switch {
	case e.Type.V == format.Boolean && len(b) == 1:
		return strconv.FormatBool(b[0] != 0)
	case e.Type.V == format.Int32 && len(b) == 4:
		n = int64(int32(binary.LittleEndian.Uint32(b)))
	case e.Type.V == format.Int64 && len(b) == 8:
		n = int64(binary.LittleEndian.Uint64(b))
	case e.Type.V == format.Float && len(b) == 4:
		return strconv.FormatFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 'g', -1, 32)
	case e.Type.V == format.Double && len(b) == 8:
		return strconv.FormatFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)), 'g', -1, 64)
	default:
		if scale, ok := decimal(e); ok {
			x := new(big.Int).SetBytes(b)
			if len(b) > 0 && b[0] >= 0x80 {
				x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
			}
			return scaled(x, scale)
		}
		if e.Type.V == format.ByteArray {
			return text(b)
		}
		return fmt.Sprintf("0x%x", b)
	}
	return integer(n, e)
}

// integer is a number as its logical type means it.
func integer(n int64, e *format.SchemaElement) string {
	if scale, ok := decimal(e); ok {
		return scaled(big.NewInt(n), scale)
	}
	unit := time.Duration(0)
	switch l := e.LogicalType.Value.(type) {
	case *format.DateType:
		return time.Unix(n*86400, 0).UTC().Format("2006-01-02")
	case *format.TimestampType:
		if l.Unit.Value != nil {
			unit = l.Unit.Value.Duration()
		}
	case *format.IntType:
		if !l.IsSigned {
			return unsignedText(n, e)
		}
	case nil:
		if e.ConvertedType.Valid {
			switch c := e.ConvertedType.V; {
			case c == deprecated.Date:
				return time.Unix(n*86400, 0).UTC().Format("2006-01-02")
			case c == deprecated.TimestampMillis:
				unit = time.Millisecond
			case c == deprecated.TimestampMicros:
				unit = time.Microsecond
			case c >= deprecated.Uint8 && c <= deprecated.Uint64:
				return unsignedText(n, e)
			}
		}
	}
	if unit > 0 {
		per := int64(time.Second / unit)
		sec, rest := n/per, n%per
		if rest < 0 {
			sec, rest = sec-1, rest+per
		}
		return time.Unix(sec, rest*int64(unit)).UTC().Format("2006-01-02 15:04:05.999999999") + " (" + strconv.FormatInt(n, 10) + ")"
	}
	return strconv.FormatInt(n, 10)
}

func unsignedText(n int64, e *format.SchemaElement) string {
	if e.Type.V == format.Int32 {
		return strconv.FormatUint(uint64(uint32(n)), 10)
	}
	return strconv.FormatUint(uint64(n), 10)
}

func decimal(e *format.SchemaElement) (scale int32, ok bool) {
	if d, ok := e.LogicalType.Value.(*format.DecimalType); ok {
		return d.Scale, true
	}
	if e.ConvertedType.Valid && e.ConvertedType.V == deprecated.Decimal {
		return e.Scale.V, true
	}
	return 0, false
}

// scaled writes x·10^-scale.
func scaled(x *big.Int, scale int32) string {
	if scale <= 0 || scale > 1000 {
		return x.String()
	}
	s, sign := x.String(), ""
	if x.Sign() < 0 {
		s, sign = s[1:], "-"
	}
	if pad := int(scale) + 1 - len(s); pad > 0 {
		s = strings.Repeat("0", pad) + s
	}
	at := len(s) - int(scale)
	return sign + s[:at] + "." + s[at:]
}

// entryText is the value of an entry as text.
func entryText(b []byte) string {
	if s := string(b); strings.ToValidUTF8(s, "") == s && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' }) {
		return s
	}
	return fmt.Sprintf("0x%x", b)
}
