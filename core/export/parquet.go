package export

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"hudiscope/core/column"
	"hudiscope/core/schema"
)

const (
	// pageBytes is when a page is closed, groupBytes when a row group is: what is kept in memory.
	pageBytes  = 1 << 20
	groupBytes = 16 << 20
	// maxPage bounds a page, which a single value can make large: its size is a 32-bit number.
	maxPage = math.MaxInt32 / 2
	// maxLevel bounds the nesting: levels are written as bytes.
	maxLevel = 255
)

const magic = "PAR1"

// parquetWriter writes a Parquet file with the library's own structures and codecs, straight from
// columns: data pages of version 1 with plain values, compressed with Snappy.
type parquetWriter struct {
	w       io.Writer
	columns []Column
	nodes   []*node
	leaves  []*leaf
	meta    format.FileMetaData
	// pageBytes and groupBytes are the limits in force.
	pageBytes, groupBytes int
	// at is the number of bytes written, rows that of the rows in the open row group.
	at   int64
	rows int64
}

// node is an element of the file's schema.
type node struct {
	name string
	typ  *schema.Type
	// optional nodes and repeated ones raise the definition level by one.
	optional bool
	// rep is the repetition level of the elements of a list or map.
	rep  uint8
	kids []*node
	leaf *leaf
	// first and end are the range of the leaves below.
	first, end int
}

// leaf is a column chunk that is being written.
type leaf struct {
	path     []string
	physical format.Type
	// size is that of fixed-length values.
	size           int
	maxRep, maxDef uint8
	reps, defs     []byte
	values         []byte
	// bools are the values of a boolean column, one a byte.
	bools []byte
	nulls int64

	// Of the open row group: its compressed pages, and what they hold.
	pages           bytes.Buffer
	numValues       int64
	numNulls        int64
	uncompressed    int64
	scratch, packed []byte
}

func newParquet(w io.Writer, columns []Column) (*parquetWriter, error) {
	p := &parquetWriter{w: w, columns: columns, pageBytes: pageBytes, groupBytes: groupBytes}
	p.meta.Version = 2
	p.meta.CreatedBy = "hudiscope"
	p.meta.Schema = append(p.meta.Schema, format.SchemaElement{Name: "hudi", NumChildren: thrift.New(int32(len(columns)))})
	if len(columns) == 0 {
		return nil, &Unsupported{"", "a Parquet file has at least one column"}
	}
	for _, c := range columns {
		n, err := p.node(c.Name, c.Type, nil, 0, 0)
		if err != nil {
			return nil, &Unsupported{c.Name, err.Error()}
		}
		p.nodes = append(p.nodes, n)
	}
	return p, p.write([]byte(magic))
}

// node adds a type to the schema: def and rep are the levels of what is around it.
func (p *parquetWriter) node(name string, t *schema.Type, path []string, def, rep int) (*node, error) {
	if def >= maxLevel-2 {
		return nil, fmt.Errorf("it is nested deeper than %d levels", maxLevel-2)
	}
	n := &node{name: name, typ: t, first: len(p.leaves), optional: t.Nullable || t.Kind == schema.Null || t.Kind == schema.Union}
	path = append(path[:len(path):len(path)], name)
	e := format.SchemaElement{Name: name, RepetitionType: thrift.New(format.Required)}
	if n.optional {
		e.RepetitionType = thrift.New(format.Optional)
		def++
	}
	at := len(p.meta.Schema)
	p.meta.Schema = append(p.meta.Schema, e)
	kid := func(name string, t *schema.Type, path []string, def, rep int) error {
		k, err := p.node(name, t, path, def, rep)
		n.kids = append(n.kids, k)
		return err
	}
	group := func(children int) { p.meta.Schema[at].NumChildren = thrift.New(int32(children)) }
	repeated := func(name string, children int) {
		p.meta.Schema = append(p.meta.Schema, format.SchemaElement{Name: name, RepetitionType: thrift.New(format.Repeated), NumChildren: thrift.New(int32(children))})
	}
	switch t.Kind {
	case schema.Record:
		if len(t.Fields) == 0 {
			return nil, fmt.Errorf("a struct without fields has no form in Parquet")
		}
		group(len(t.Fields))
		for i := range t.Fields {
			if err := kid(t.Fields[i].Name, t.Fields[i].Type, path, def, rep); err != nil {
				return nil, err
			}
		}
	case schema.Union:
		// As Hudi's own writers do: a group with a member for every type, of which one is set.
		members := 0
		for _, b := range t.Branches {
			if b.Kind != schema.Null {
				members++
			}
		}
		if members == 0 {
			return nil, fmt.Errorf("a union of nothing has no form in Parquet")
		}
		group(members)
		members = 0
		for _, b := range t.Branches {
			if b.Kind == schema.Null {
				n.kids = append(n.kids, nil)
				continue
			}
			o := *b
			o.Nullable = true
			if err := kid(fmt.Sprintf("member%d", members), &o, path, def, rep); err != nil {
				return nil, err
			}
			members++
		}
	case schema.Array:
		group(1)
		p.meta.Schema[at].LogicalType.Value = &format.ListType{}
		p.meta.Schema[at].ConvertedType = thrift.New(deprecated.List)
		repeated("list", 1)
		n.rep = uint8(rep + 1)
		if err := kid("element", t.Elem, append(path, "list"), def+1, rep+1); err != nil {
			return nil, err
		}
	case schema.Map:
		group(1)
		p.meta.Schema[at].LogicalType.Value = &format.MapType{}
		p.meta.Schema[at].ConvertedType = thrift.New(deprecated.Map)
		repeated("key_value", 2)
		n.rep = uint8(rep + 1)
		if err := kid("key", column.MapKeyType(), append(path, "key_value"), def+1, rep+1); err != nil {
			return nil, err
		}
		if err := kid("value", t.Elem, append(path, "key_value"), def+1, rep+1); err != nil {
			return nil, err
		}
	default:
		l := &leaf{path: path, maxRep: uint8(rep), maxDef: uint8(def)}
		if err := describe(&p.meta.Schema[at], l, t); err != nil {
			return nil, err
		}
		n.leaf = l
		p.leaves = append(p.leaves, l)
	}
	n.end = len(p.leaves)
	return n, nil
}

// describe gives a leaf its physical and logical type.
func describe(e *format.SchemaElement, l *leaf, t *schema.Type) error {
	logical := func(v format.LogicalTypeValue) { e.LogicalType.Value = v }
	switch t.Kind {
	case schema.Boolean:
		l.physical = format.Boolean
	case schema.Int:
		l.physical = format.Int32
	case schema.Long:
		l.physical = format.Int64
	case schema.Float:
		l.physical = format.Float
	case schema.Double:
		l.physical = format.Double
	case schema.Bytes:
		l.physical = format.ByteArray
	case schema.String:
		l.physical = format.ByteArray
		logical(&format.StringType{})
		e.ConvertedType = thrift.New(deprecated.UTF8)
	case schema.Enum:
		l.physical = format.ByteArray
		logical(&format.EnumType{})
		e.ConvertedType = thrift.New(deprecated.Enum)
	case schema.Fixed:
		if t.Size <= 0 {
			return fmt.Errorf("fixed values of %d bytes have no form in Parquet", t.Size)
		}
		l.physical, l.size = format.FixedLenByteArray, t.Size
		e.TypeLength = thrift.New(int32(t.Size))
	case schema.Null:
		l.physical = format.Int32
		logical(&format.NullType{})
	default:
		return fmt.Errorf("a %s has no form in Parquet", t.Kind)
	}
	e.Type = thrift.New(l.physical)
	switch t.Logical {
	case schema.Decimal:
		if t.Kind == schema.String || t.Kind == schema.Enum {
			break
		}
		d := &format.DecimalType{Scale: int32(t.Scale), Precision: int32(t.Precision)}
		logical(d)
		e.ConvertedType, e.Scale, e.Precision = thrift.New(deprecated.Decimal), thrift.New(d.Scale), thrift.New(d.Precision)
	case schema.Date:
		if t.Kind == schema.Int {
			logical(&format.DateType{})
			e.ConvertedType = thrift.New(deprecated.Date)
		}
	case schema.TimeMillis:
		if t.Kind == schema.Int {
			logical(&format.TimeType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: &format.MilliSeconds{}}})
			e.ConvertedType = thrift.New(deprecated.TimeMillis)
		}
	case schema.TimeMicros:
		if t.Kind == schema.Long {
			logical(&format.TimeType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: &format.MicroSeconds{}}})
			e.ConvertedType = thrift.New(deprecated.TimeMicros)
		}
	case schema.TimestampMillis, schema.TimestampMicros, schema.TimestampNanos, schema.LocalTimestampMillis, schema.LocalTimestampMicros, schema.LocalTimestampNanos:
		if t.Kind != schema.Long {
			break
		}
		ts := &format.TimestampType{IsAdjustedToUTC: t.Logical == schema.TimestampMillis || t.Logical == schema.TimestampMicros || t.Logical == schema.TimestampNanos}
		switch t.Logical {
		case schema.TimestampMillis, schema.LocalTimestampMillis:
			ts.Unit.Value = &format.MilliSeconds{}
		case schema.TimestampMicros, schema.LocalTimestampMicros:
			ts.Unit.Value = &format.MicroSeconds{}
		default:
			ts.Unit.Value = &format.NanoSeconds{}
		}
		logical(ts)
		switch t.Logical {
		case schema.TimestampMillis:
			e.ConvertedType = thrift.New(deprecated.TimestampMillis)
		case schema.TimestampMicros:
			e.ConvertedType = thrift.New(deprecated.TimestampMicros)
		}
	case schema.UUID:
		if t.Kind == schema.Fixed && t.Size == 16 {
			logical(&format.UUIDType{})
		}
	}
	return nil
}

// Write adds a row.
func (p *parquetWriter) Write(b *column.Batch, i int) error {
	for k, c := range p.columns {
		if err := p.slot(p.nodes[k], b.Columns[c.Index], i, 0, 0); err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
	}
	p.rows++
	kept := 0
	for _, l := range p.leaves {
		n := len(l.values) + len(l.bools) + len(l.reps) + len(l.defs)
		if n >= p.pageBytes {
			if err := l.page(); err != nil {
				return fmt.Errorf("column %q: %w", l.path[0], err)
			}
			n = 0
		}
		kept += n + l.pages.Len()
	}
	if kept >= p.groupBytes {
		return p.group()
	}
	return nil
}

// slot adds slot i of a vector: rep is the repetition level of its first value, def the definition
// level reached around it.
func (p *parquetWriter) slot(n *node, v *column.Vector, i int, rep, def uint8) error {
	if v.IsNull(i) || v.Type.Kind == schema.Null || v.Type.Kind == schema.Union && v.Type.Branches[v.Tags[i]].Kind == schema.Null {
		if !n.optional {
			return fmt.Errorf("a null where %s must not be null", n.name)
		}
		p.null(n, rep, def)
		return nil
	}
	if v.Type.Kind != n.typ.Kind || v.Type.Logical != n.typ.Logical || v.Type.Scale != n.typ.Scale || v.Type.Size != n.typ.Size {
		// A batch of another type than was planned.
		one := column.New(v.Type, 1)
		one.AppendFrom(v, i)
		c, err := column.Convert(one, n.typ)
		if err != nil {
			return err
		}
		v, i = c, 0
	}
	if n.optional {
		def++
	}
	switch n.typ.Kind {
	case schema.Record:
		if len(v.Children) != len(n.kids) {
			return fmt.Errorf("a struct of %d fields where %d were planned", len(v.Children), len(n.kids))
		}
		for k, kid := range n.kids {
			if err := p.slot(kid, v.Children[k], i, rep, def); err != nil {
				return err
			}
		}
	case schema.Union:
		for k, kid := range n.kids {
			switch {
			case kid == nil:
			case k == int(v.Tags[i]):
				if err := p.slot(kid, v.Children[k], i, rep, def); err != nil {
					return err
				}
			default:
				p.null(kid, rep, def)
			}
		}
	case schema.Array, schema.Map:
		lo, hi := int(v.Offsets[i]), int(v.Offsets[i+1])
		if lo == hi {
			p.null(n, rep, def)
			return nil
		}
		for j := lo; j < hi; j++ {
			for k, kid := range n.kids {
				if err := p.slot(kid, v.Children[k], j, rep, def+1); err != nil {
					return err
				}
			}
			rep = n.rep
		}
	default:
		return n.leaf.value(v, i, rep, def)
	}
	return nil
}

// null adds what is not there to every leaf below.
func (p *parquetWriter) null(n *node, rep, def uint8) {
	for _, l := range p.leaves[n.first:n.end] {
		l.level(rep, def)
		l.nulls++
	}
}

func (l *leaf) level(rep, def uint8) {
	l.numValues++
	// Both are kept, also where all are 0: their number is that of the page's values.
	l.reps = append(l.reps, rep)
	l.defs = append(l.defs, def)
}

func (l *leaf) value(v *column.Vector, i int, rep, def uint8) error {
	l.level(rep, def)
	switch l.physical {
	case format.Boolean:
		var x byte
		if v.Bools[i] {
			x = 1
		}
		l.bools = append(l.bools, x)
	case format.Int32:
		x := v.Ints[i]
		if x != int64(int32(x)) {
			return fmt.Errorf("the number %d does not fit an int", x)
		}
		l.values = binary.LittleEndian.AppendUint32(l.values, uint32(x))
	case format.Int64:
		l.values = binary.LittleEndian.AppendUint64(l.values, uint64(v.Ints[i]))
	case format.Float:
		l.values = binary.LittleEndian.AppendUint32(l.values, math.Float32bits(float32(v.Floats[i])))
	case format.Double:
		l.values = binary.LittleEndian.AppendUint64(l.values, math.Float64bits(v.Floats[i]))
	case format.ByteArray:
		var b []byte
		if v.Type.Kind == schema.Enum {
			s := v.Ints[i]
			if s < 0 || s >= int64(len(v.Type.Symbols)) {
				return fmt.Errorf("symbol %d of an enum of %d", s, len(v.Type.Symbols))
			}
			b = []byte(v.Type.Symbols[s])
		} else {
			b = v.BytesAt(i)
		}
		if len(b) > maxPage {
			return fmt.Errorf("a value of %d bytes is too large for a page", len(b))
		}
		l.values = append(binary.LittleEndian.AppendUint32(l.values, uint32(len(b))), b...)
	case format.FixedLenByteArray:
		b := v.BytesAt(i)
		if len(b) != l.size {
			return fmt.Errorf("a value of %d bytes where %d are fixed", len(b), l.size)
		}
		l.values = append(l.values, b...)
	}
	return nil
}

// page closes the open page.
func (l *leaf) page() error {
	n := len(l.reps)
	if n == 0 {
		return nil
	}
	b := l.scratch[:0]
	var err error
	if b, err = l.levels(b, l.reps, l.maxRep); err != nil {
		return err
	}
	if b, err = l.levels(b, l.defs, l.maxDef); err != nil {
		return err
	}
	b = append(b, l.values...)
	for i := 0; i < len(l.bools); i += 8 {
		var x byte
		for k, v := range l.bools[i:min(i+8, len(l.bools))] {
			x |= v << k
		}
		b = append(b, x)
	}
	l.scratch = b
	if len(b) > maxPage {
		return fmt.Errorf("a page of %d bytes is too large", len(b))
	}
	if l.packed, err = new(snappy.Codec).Encode(l.packed[:cap(l.packed)], b); err != nil {
		return err
	}
	h, err := thrift.Marshal(new(thrift.CompactProtocol), &format.PageHeader{
		Type: format.DataPage, UncompressedPageSize: int32(len(b)), CompressedPageSize: int32(len(l.packed)),
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: int32(n), Encoding: format.Plain, DefinitionLevelEncoding: format.RLE,
			RepetitionLevelEncoding: format.RLE, Statistics: format.Statistics{NullCount: l.nulls}}),
	})
	if err != nil {
		return err
	}
	l.pages.Write(h)
	l.pages.Write(l.packed)
	l.uncompressed += int64(len(h) + len(b))
	l.numNulls += l.nulls
	l.reps, l.defs, l.values, l.bools, l.nulls = l.reps[:0], l.defs[:0], l.values[:0], l.bools[:0], 0
	// A single large value must not be kept for good.
	for _, buf := range []*[]byte{&l.values, &l.scratch, &l.packed} {
		if cap(*buf) > 4*pageBytes {
			*buf = nil
		}
	}
	return nil
}

// levels appends levels with their length in front; levels that are all 0 by the schema are left out.
func (l *leaf) levels(dst, levels []byte, most uint8) ([]byte, error) {
	if most == 0 {
		return dst, nil
	}
	e := rle.Encoding{BitWidth: bits.Len8(most)}
	b, err := e.EncodeLevels(nil, levels)
	if err != nil {
		return nil, err
	}
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(b))), b...), nil
}

// group closes the open row group.
func (p *parquetWriter) group() error {
	if p.rows == 0 {
		return nil
	}
	g := format.RowGroup{NumRows: p.rows, FileOffset: p.at, Ordinal: int16(min(len(p.meta.RowGroups), math.MaxInt16))}
	for _, l := range p.leaves {
		if err := l.page(); err != nil {
			return fmt.Errorf("column %q: %w", l.path[0], err)
		}
		size := int64(l.pages.Len())
		g.Columns = append(g.Columns, format.ColumnChunk{MetaData: format.ColumnMetaData{
			Type: l.physical, Encoding: []format.Encoding{format.Plain, format.RLE}, PathInSchema: l.path, Codec: format.Snappy,
			NumValues: l.numValues, TotalUncompressedSize: l.uncompressed, TotalCompressedSize: size, DataPageOffset: p.at,
			Statistics: format.Statistics{NullCount: l.numNulls},
		}})
		g.TotalByteSize += l.uncompressed
		g.TotalCompressedSize += size
		if err := p.write(l.pages.Bytes()); err != nil {
			return err
		}
		l.pages.Reset()
		l.numValues, l.numNulls, l.uncompressed = 0, 0, 0
	}
	p.meta.RowGroups = append(p.meta.RowGroups, g)
	p.meta.NumRows += p.rows
	p.rows = 0
	return nil
}

// Close writes the footer.
func (p *parquetWriter) Close() error {
	if err := p.group(); err != nil {
		return err
	}
	b, err := thrift.Marshal(new(thrift.CompactProtocol), &p.meta)
	if err != nil {
		return err
	}
	if len(b) > math.MaxInt32 {
		return fmt.Errorf("a footer of %d bytes is too large", len(b))
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(b)))
	return p.write(append(b, magic...))
}

func (p *parquetWriter) write(b []byte) error {
	n, err := p.w.Write(b)
	p.at += int64(n)
	return err
}
