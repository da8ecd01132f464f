package basefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"hudiscope/core/column"
)

// packLZ4 compresses p as Hadoop does: blocks of at most block bytes, each in chunks of at most chunk.
func packLZ4(p []byte, block, chunk int) []byte {
	var out []byte
	for len(p) > 0 {
		b := p[:min(block, len(p))]
		p = p[len(b):]
		out = binary.BigEndian.AppendUint32(out, uint32(len(b)))
		for len(b) > 0 {
			c := b[:min(chunk, len(b))]
			b = b[len(c):]
			dst := make([]byte, lz4.CompressBlockBound(len(c)))
			n, err := lz4.CompressBlock(c, dst, nil)
			if err != nil {
				panic(err)
			}
			if n == 0 { // what does not get smaller is written as one literal run
				n = literal(dst, c)
			}
			out = binary.BigEndian.AppendUint32(out, uint32(n))
			out = append(out, dst[:n]...)
		}
	}
	return out
}

// literal writes c as an LZ4 block without matches.
func literal(dst, c []byte) int {
	out := dst[:0]
	if len(c) < 15 {
		out = append(out, byte(len(c)<<4))
	} else {
		out = append(out, 0xf0)
		n := len(c) - 15
		for ; n >= 255; n -= 255 {
			out = append(out, 255)
		}
		out = append(out, byte(n))
	}
	return len(append(out, c...))
}

func TestUnpackLZ4(t *testing.T) {
	text := []byte(strings.Repeat("hadoop frames lz4 ", 500))
	for _, c := range []struct{ block, chunk int }{{1 << 20, 1 << 20}, {1000, 1000}, {4096, 100}, {7, 3}} {
		got := make([]byte, len(text))
		if err := unpackLZ4(got, packLZ4(text, c.block, c.chunk)); err != nil || !bytes.Equal(got, text) {
			t.Errorf("blocks of %d, chunks of %d: %v", c.block, c.chunk, err)
		}
	}
	// One bare block, as early writers outside of Hadoop wrote it.
	bare := make([]byte, lz4.CompressBlockBound(len(text)))
	n, _ := lz4.CompressBlock(text, bare, nil)
	got := make([]byte, len(text))
	if err := unpackLZ4(got, bare[:n]); err != nil || !bytes.Equal(got, text) {
		t.Errorf("a bare block: %v", err)
	}
	packed := packLZ4(text, 4096, 1024)
	for _, bad := range [][]byte{packed[:len(packed)-1], packed[:3], packed[4:], append(bytes.Clone(packed), 0, 0, 0, 1), nil, {0xff, 0xff, 0xff, 0xff}} {
		if err := unpackLZ4(make([]byte, len(text)), bad); err == nil {
			t.Errorf("%d bytes of damaged data are taken", len(bad))
		}
	}
	if err := unpackLZ4(make([]byte, len(text)+1), packed); err == nil {
		t.Error("too little data is taken")
	}
	if err := unpackLZ4(make([]byte, len(text)-1), packed); err == nil {
		t.Error("too much data is taken")
	}
	for i := range packed { // damage never panics
		d := bytes.Clone(packed)
		d[i] ^= 0x80
		_ = unpackLZ4(make([]byte, len(text)), d)
	}
}

type lz4Row struct {
	ID   int64            `parquet:"id"`
	Word string           `parquet:"word,dict"`
	Text *string          `parquet:"text,optional"`
	Tags []string         `parquet:"tags,list"`
	Attr map[string]int32 `parquet:"attr"`
}

// lz4File writes rows with pages of a version, and compresses the pages afterwards.
func lz4File(t testing.TB, version, rows int) (plain, packed []byte) {
	t.Helper()
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[lz4Row](&buf, parquet.DataPageVersion(version), parquet.PageBufferSize(2000), parquet.MaxRowsPerRowGroup(int64(rows/2)), parquet.Compression(&parquet.Uncompressed))
	for i := range rows {
		r := lz4Row{ID: int64(i), Word: []string{"alpha", "beta", "gamma"}[i%3], Attr: map[string]int32{fmt.Sprint("k", i%5): int32(i)}}
		if i%4 != 1 {
			s := fmt.Sprintf("text %d text %d", i, i)
			r.Text = &s
		}
		for j := range i % 3 {
			r.Tags = append(r.Tags, fmt.Sprint("tag", j))
		}
		if _, err := w.Write([]lz4Row{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	plain = buf.Bytes()
	return plain, repack(t, plain)
}

// repack compresses the pages of an uncompressed file.
func repack(t testing.TB, plain []byte) []byte {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(plain), int64(len(plain)))
	if err != nil {
		t.Fatal(err)
	}
	m := *f.Metadata()
	out := []byte("PAR1")
	proto := &thrift.CompactProtocol{}
	for i := range m.RowGroups {
		for j := range m.RowGroups[i].Columns {
			c := &m.RowGroups[i].Columns[j]
			md := &c.MetaData
			start := md.DataPageOffset
			if md.DictionaryPageOffset != 0 {
				start = md.DictionaryPageOffset
			}
			r := bytes.NewReader(plain[start : start+md.TotalCompressedSize])
			at := int64(len(out))
			dict := md.DictionaryPageOffset != 0
			md.DictionaryPageOffset, md.DataPageOffset = 0, 0
			for r.Len() > 0 {
				var h format.PageHeader
				if err := thrift.NewDecoder(proto.NewReader(r)).Decode(&h); err != nil {
					t.Fatal(err)
				}
				body := make([]byte, h.CompressedPageSize)
				if _, err := r.Read(body); err != nil && len(body) > 0 {
					t.Fatal(err)
				}
				levels := 0
				if h.DataPageHeaderV2.Valid {
					levels = int(h.DataPageHeaderV2.V.RepetitionLevelsByteLength + h.DataPageHeaderV2.V.DefinitionLevelsByteLength)
					h.DataPageHeaderV2.V.IsCompressed = thrift.New(true)
				}
				h.UncompressedPageSize = int32(len(body))
				body = append(body[:levels:levels], packLZ4(body[levels:], 700, 300)...)
				h.CompressedPageSize, h.CRC = int32(len(body)), 0
				head, err := thrift.Marshal(proto, &h)
				if err != nil {
					t.Fatal(err)
				}
				switch {
				case h.Type == format.DictionaryPage:
					md.DictionaryPageOffset = int64(len(out))
				case md.DataPageOffset == 0:
					md.DataPageOffset = int64(len(out))
				}
				out = append(append(out, head...), body...)
			}
			if dict != (md.DictionaryPageOffset != 0) {
				t.Fatal("the dictionary was lost")
			}
			md.Codec, md.TotalCompressedSize = codecLZ4, int64(len(out))-at
			c.ColumnIndexOffset, c.OffsetIndexOffset, c.ColumnIndexLength, c.OffsetIndexLength = 0, 0, 0, 0
		}
	}
	foot, err := thrift.Marshal(proto, &m)
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, foot...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(foot)))
	return append(out, "PAR1"...)
}

func lz4Rows(b []byte) (lines []string, err error) {
	ctx := context.Background()
	f, err := Open(ctx, lz4Mem{bytes.NewReader(b)}, "f.parquet")
	if err != nil {
		return nil, err
	}
	for batch, err := range f.Batches(ctx, nil) {
		if err != nil {
			return lines, err
		}
		for i := range batch.Len {
			var line []byte
			for _, v := range batch.Columns {
				line = append((*column.Vector).AppendJSON(v, line, i), ' ')
			}
			lines = append(lines, string(line))
		}
	}
	return lines, nil
}

type lz4Mem struct{ *bytes.Reader }

func (m lz4Mem) Size(context.Context) (int64, error) { return m.Reader.Size(), nil }
func (m lz4Mem) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	return m.Reader.ReadAt(p, off)
}
func (m lz4Mem) Close() error { return nil }

// TestLZ4Pages reads files of both page versions, with dictionaries, levels, several pages and row
// groups, and compares them with the same files uncompressed.
func TestLZ4Pages(t *testing.T) {
	for _, version := range []int{1, 2} {
		plain, packed := lz4File(t, version, 9000)
		want, err := lz4Rows(plain)
		if err != nil || len(want) != 9000 {
			t.Fatalf("version %d, plain: %d rows, %v", version, len(want), err)
		}
		got, err := lz4Rows(packed)
		if err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		if len(got) != len(want) {
			t.Fatalf("version %d: %d rows, want %d", version, len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("version %d, row %d: got %s want %s", version, i, got[i], want[i])
			}
		}
	}
}

// TestLZ4Damage flips bytes of pages: an error or other values, never a panic or other row counts.
func TestLZ4Damage(t *testing.T) {
	_, packed := lz4File(t, 1, 300)
	for i := 4; i < len(packed)-8; i += 29 {
		d := bytes.Clone(packed)
		d[i] ^= 0x41
		if got, err := lz4Rows(d); err == nil && len(got) != 300 {
			t.Fatalf("byte %d: %d rows without an error", i, len(got))
		}
	}
}
