// Package logfiletest builds Hudi log files from blocks, for tests, and opens the real
// ones in testdata. It writes what Hudi's writers write (spec log-format.md sections 3,
// 6 and 7) and, on purpose, also what they don't: raw bytes, wrong lengths.
package logfiletest

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"sync/atomic"
	"testing"

	"hudiscope/core/logfile"
)

// Entry is one header entry of a block to write.
type Entry struct {
	Key   logfile.Key
	Value string
}

// File is a log file in the making.
type File struct{ buf []byte }

// Bytes returns the file so far.
func (f *File) Bytes() []byte { return f.buf }

// Raw appends bytes as they are.
func (f *File) Raw(p ...byte) *File { f.buf = append(f.buf, p...); return f }

// Block appends a block of format version 1.
func (f *File) Block(typ logfile.BlockType, header []Entry, content []byte) *File {
	f.buf = append(f.buf, Block(typ, header, content)...)
	return f
}

// Block returns the bytes of a block of format version 1.
func Block(typ logfile.BlockType, header []Entry, content []byte) []byte {
	body := u32(nil, 1)
	body = u32(body, uint32(typ))
	body = u32(body, uint32(len(header)))
	for _, e := range header {
		body = u32(body, uint32(e.Key))
		body = u32(body, uint32(len(e.Value)))
		body = append(body, e.Value...)
	}
	body = u64(body, uint64(len(content)))
	body = append(body, content...)
	body = u32(body, 0)
	size := uint64(len(body) + 8)
	out := u64([]byte(logfile.Magic), size)
	out = append(out, body...)
	return u64(out, size+6)
}

func u32(b []byte, x uint32) []byte { return binary.BigEndian.AppendUint32(b, x) }
func u64(b []byte, x uint64) []byte { return binary.BigEndian.AppendUint64(b, x) }

// Data appends an Avro data block of version 3; more entries follow INSTANT_TIME and
// SCHEMA. An empty instant or schema is left out.
func (f *File) Data(instant, schema string, records [][]byte, more ...Entry) *File {
	return f.Block(logfile.AvroDataBlock, header(instant, schema, more), DataContent(records...))
}

func header(instant, schema string, more []Entry) []Entry {
	var h []Entry
	if instant != "" {
		h = append(h, Entry{logfile.InstantTime, instant})
	}
	if schema != "" {
		h = append(h, Entry{logfile.Schema, schema})
	}
	return append(h, more...)
}

// DataContent is the content of an Avro data block of version 3.
func DataContent(records ...[]byte) []byte {
	c := u32(u32(nil, 3), uint32(len(records)))
	for _, r := range records {
		c = append(u32(c, uint32(len(r))), r...)
	}
	return c
}

// Rollback appends a command block, written by instant, that rolls target back.
func (f *File) Rollback(instant, target string) *File {
	return f.Block(logfile.CommandBlock, []Entry{{logfile.InstantTime, instant}, {logfile.CommandBlockType, "0"}, {logfile.TargetInstantTime, target}}, nil)
}

// Del is one delete of a delete block: Ordering nil, bool, int (Java int), int64, float32,
// float64, string or []byte.
type Del struct {
	Key, Partition string
	Ordering       any
}

// Deletes appends a delete block of version 3.
func (f *File) Deletes(instant, schema string, dels []Del, more ...Entry) *File {
	return f.Block(logfile.DeleteBlock, header(instant, schema, more), DeleteContent(dels...))
}

// DeleteContent is the content of a delete block of version 3.
func DeleteContent(dels ...Del) []byte {
	var d []byte
	if len(dels) > 0 {
		d = Long(d, int64(len(dels)))
	}
	for _, x := range dels {
		d = Record(d, x.Key, x.Partition)
		switch o := x.Ordering.(type) {
		case nil:
			d = append(d, 0)
		case bool:
			d = append(d, 2, 0)
			if o {
				d[len(d)-1] = 1
			}
		case int:
			d = Long(append(d, 4), int64(o))
		case int64:
			d = Long(append(d, 6), o)
		case float32:
			d = binary.LittleEndian.AppendUint32(append(d, 8), math.Float32bits(o))
		case float64:
			d = binary.LittleEndian.AppendUint64(append(d, 10), math.Float64bits(o))
		case []byte:
			d = append(Long(append(d, 12), int64(len(o))), o...)
		case string:
			d = append(Long(append(d, 14), int64(len(o))), o...)
		default:
			panic(fmt.Sprintf("ordering value of type %T", o))
		}
	}
	d = append(d, 0)
	return append(u32(u32(nil, 3), uint32(len(d))), d...)
}

// Long appends an Avro int or long.
func Long(dst []byte, x int64) []byte { return binary.AppendUvarint(dst, uint64(x<<1)^uint64(x>>63)) }

// Record appends the Avro bytes of a record whose fields are all ["null", T]: nil, bool,
// int and int64 (int or long), float32, float64, string and []byte.
func Record(dst []byte, fields ...any) []byte {
	for _, f := range fields {
		if f == nil {
			dst = append(dst, 0)
			continue
		}
		dst = append(dst, 2)
		switch x := f.(type) {
		case bool:
			if x {
				dst = append(dst, 1)
			} else {
				dst = append(dst, 0)
			}
		case int:
			dst = Long(dst, int64(x))
		case int64:
			dst = Long(dst, x)
		case float32:
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
		case float64:
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
		case string:
			dst = append(Long(dst, int64(len(x))), x...)
		case []byte:
			dst = append(Long(dst, int64(len(x))), x...)
		default:
			panic(fmt.Sprintf("field of type %T", f))
		}
	}
	return dst
}

// Positions is the RECORD_POSITIONS header for positions below 65536, at most 4096 and ascending.
func Positions(positions ...uint16) Entry {
	b := binary.LittleEndian.AppendUint64(nil, 1)
	for _, x := range []uint32{0, 12346, 1} {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	b = binary.LittleEndian.AppendUint16(b, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(positions)-1))
	b = binary.LittleEndian.AppendUint32(b, 16)
	for _, p := range positions {
		b = binary.LittleEndian.AppendUint16(b, p)
	}
	return Entry{logfile.RecordPositions, base64.StdEncoding.EncodeToString(b)}
}

// Object is a file in memory that counts what is asked of it. It implements storage.Object.
type Object struct {
	Data         []byte
	Reads, Asked atomic.Int64
}

// NewObject returns an object over p.
func NewObject(p []byte) *Object { return &Object{Data: p} }

// Open returns a reader over p.
func Open(p []byte, name string) *logfile.Reader { return logfile.Open(NewObject(p), name) }

// Size returns the length of the data.
func (o *Object) Size(context.Context) (int64, error) { return int64(len(o.Data)), nil }

// Close does nothing.
func (o *Object) Close() error { return nil }

// ReadAt reads as io.ReaderAt does.
func (o *Object) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	o.Reads.Add(1)
	o.Asked.Add(int64(len(p)))
	if off < 0 {
		return 0, fmt.Errorf("read at offset %d", off)
	}
	if off >= int64(len(o.Data)) {
		return 0, io.EOF
	}
	n := copy(p, o.Data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Testdata returns the path of the module's testdata directory.
func Testdata(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "testdata")
		}
		up := filepath.Dir(dir)
		if up == dir {
			tb.Fatal("no go.mod above the test")
		}
		dir = up
	}
}

// LogFile is one log file of a real table.
type LogFile struct {
	Path string // relative to the table
	Data []byte
}

// LogFiles returns the log files of a table of testdata/tables in path order; those
// below .hoodie only where metadata is set.
func LogFiles(tb testing.TB, table string, metadata bool) []LogFile {
	tb.Helper()
	return ZipLogFiles(tb, filepath.Join(Testdata(tb), "tables", table+".zip"), metadata)
}

// ZipLogFiles returns the log files of a zipped table, whose entries begin with the table's name.
func ZipLogFiles(tb testing.TB, file string, metadata bool) []LogFile {
	tb.Helper()
	z, err := zip.OpenReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	defer z.Close()
	root := strings.TrimSuffix(filepath.Base(file), ".zip") + "/"
	var out []LogFile
	for _, f := range z.File {
		name := strings.TrimPrefix(f.Name, root)
		if _, ok := logfile.ParseName(path.Base(name)); !ok || strings.HasPrefix(name, ".hoodie/") && !metadata {
			continue
		}
		r, err := f.Open()
		if err != nil {
			tb.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := io.Copy(&b, r); err != nil {
			tb.Fatal(err)
		}
		r.Close()
		out = append(out, LogFile{name, b.Bytes()})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out
}
