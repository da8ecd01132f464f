package hfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"sort"

	"hudiscope/core/corrupt"
	"hudiscope/core/storage"
)

// The keys of the file info that Hudi writes (spec hfile.md section 8).
const (
	InfoSchema       = "schema"        // the Avro schema of the values, JSON
	InfoLastKey      = "hfile.LASTKEY" // i16 length, row
	InfoMinKey       = "minRecordKey"
	InfoMaxKey       = "maxRecordKey"
	InfoBloomType    = "bloomFilterTypeCode" // "SIMPLE" or "DYNAMIC_V0"
	InfoIndex        = "INDEX_INFO"          // of a bootstrap index: an Avro container
	infoValueVersion = "KEY_VALUE_VERSION"
)

// MetaBloomFilter is the name of the meta block that holds the bloom filter, as Base64 text.
const MetaBloomFilter = "bloomFilter"

// File is an open HFile. It is immutable and safe for concurrent use if its object is.
type File struct {
	path string
	obj  storage.Object
	base int64
	size int64
	// end is where blocks end: the offset of the trailer.
	end     int64
	trailer Trailer
	root    []entry
	meta    []entry
	info    map[string][]byte
	last    []byte // the last key; nil when not told
	mvcc    bool   // cells have an mvcc number
	open    []Block
}

// Unsupported says that an HFile is whole but written in a way that can't be read.
type Unsupported struct {
	File string
	// Offset in the file, in bytes.
	Offset int64
	What   string
}

// Error renders the finding.
func (u *Unsupported) Error() string {
	return fmt.Sprintf("%s at byte %d: %s", u.File, u.Offset, u.What)
}

// Open reads the trailer and the load-on-open section: the root indexes and the file info. path is
// for errors. An HFile that is the content of a log block is given as a section, with base the
// content's offset in the log file; base is added to all offsets that are told. The object stays
// the caller's to close, after the last read.
func Open(ctx context.Context, obj storage.Object, path string, base int64) (*File, error) {
	size, err := obj.Size(ctx)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, obj: obj, base: base, size: size, end: size - TrailerSize}
	if size < TrailerSize {
		return nil, f.bad(0, "HFile", fmt.Sprintf("at least %d bytes", TrailerSize), fmt.Sprintf("%d bytes", size),
			"The file was not written to its end: a failed write leaves such files. Look in the timeline whether its instant is completed.")
	}
	p := make([]byte, TrailerSize)
	if err := storage.ReadFull(ctx, obj, p, f.end); err != nil {
		return nil, fmt.Errorf("%s at byte %d: %w", path, base+f.end, err)
	}
	if err := f.parseTrailer(p, f.end); err != nil {
		return nil, err
	}
	return f, f.loadOnOpen(ctx)
}

func (f *File) bad(off int64, part, want, got, try string) *corrupt.Error {
	return &corrupt.Error{File: f.path, Offset: f.base + off, Part: part, Want: want, Got: got, Try: try}
}

func (f *File) loadOnOpen(ctx context.Context) error {
	t := &f.trailer
	n := f.end - t.LoadOnOpen
	if n > MaxBlock {
		return &Unsupported{f.path, f.base + t.LoadOnOpen, fmt.Sprintf("the load-on-open section has %d bytes, more than the limit of %d", n, MaxBlock)}
	}
	p := make([]byte, n)
	if err := storage.ReadFull(ctx, f.obj, p, t.LoadOnOpen); err != nil {
		return fmt.Errorf("%s at byte %d: %w", f.path, f.base+t.LoadOnOpen, err)
	}
	pos := int64(0)
	section := func(want BlockType) (payload []byte, at int64, err error) {
		at = t.LoadOnOpen + pos
		if n-pos < headerSize {
			return nil, at, f.bad(at, "load-on-open section", "the "+want.String(), "the trailer", "")
		}
		h, err := f.parseHeader(p[pos:], at, f.end)
		if err != nil {
			return nil, at, err
		}
		payload, err = f.unpack(h, p[pos:pos+h.stored], at, want)
		f.open = append(f.open, f.describe(h, at))
		pos += h.stored
		return payload, at, err
	}
	data, at, err := section(RootIndex)
	if err != nil {
		return err
	}
	if f.root, err = f.rootEntries(data, t.DataIndexCount, at, false); err != nil {
		return err
	}
	if len(f.root) == 0 && t.Entries > 0 {
		return f.bad(at, "root index", fmt.Sprintf("a block for the %d cells that the trailer tells", t.Entries), "none", "")
	}
	meta, at, err := section(RootIndex)
	if err != nil {
		return err
	}
	if f.meta, err = f.rootEntries(meta, t.MetaIndexCount, at, true); err != nil {
		return err
	}
	info, at, err := section(FileInfo)
	if err != nil {
		return err
	}
	if err := f.parseInfo(info, at); err != nil {
		return err
	}
	// What follows can only be HBase's bloom metas; they are listed, not read.
	for n-pos >= headerSize {
		h, err := f.parseHeader(p[pos:], t.LoadOnOpen+pos, f.end)
		if err != nil {
			return err
		}
		f.open = append(f.open, f.describe(h, t.LoadOnOpen+pos))
		pos += h.stored
	}
	return nil
}

// parseInfo decodes the file info: "PBUF", then a delimited protobuf map.
func (f *File) parseInfo(p []byte, at int64) error {
	if len(p) < 4 || string(p[:4]) != "PBUF" {
		return f.bad(at, "file info", `"PBUF"`, fmt.Sprintf("%q", p[:min(4, len(p))]), "")
	}
	// Offsets within the unpacked payload mean nothing in the file: errors tell the block's.
	d := protoReader{f: f, p: p, pos: 4, off: at, part: "file info"}
	n, err := d.varint()
	if err != nil {
		return err
	}
	if n > uint64(len(p)-d.pos) {
		return f.bad(at, "length of the file info", fmt.Sprintf("at most %d", len(p)-d.pos), fmt.Sprint(n), "")
	}
	d.p = p[:d.pos+int(n)]
	f.info = map[string][]byte{}
	for d.pos < len(d.p) {
		num, _, pair, err := d.field()
		if err != nil {
			return err
		}
		if num != 1 {
			continue
		}
		e := protoReader{f: f, p: pair, off: at, part: "file info entry"}
		var key string
		var value []byte
		for e.pos < len(pair) {
			num, _, b, err := e.field()
			if err != nil {
				return err
			}
			switch num {
			case 1:
				key = string(b)
			case 2:
				value = b
			}
		}
		if value == nil {
			value = []byte{}
		}
		f.info[key] = value
	}
	if v := f.info[infoValueVersion]; len(v) == 4 {
		f.mvcc = binary.BigEndian.Uint32(v) == 1
	}
	if v := f.info[InfoLastKey]; len(v) > 0 {
		last, ok := row(v)
		if !ok {
			return f.bad(at, "file info "+InfoLastKey, "a row length and a row", fmt.Sprintf("% x", v[:min(len(v), 20)]), "")
		}
		if len(f.root) > 0 && bytes.Compare(f.root[len(f.root)-1].key, last) > 0 {
			return f.bad(at, "file info "+InfoLastKey, fmt.Sprintf("%q or greater, the last key of the index", f.root[len(f.root)-1].key), fmt.Sprintf("%q", last), "")
		}
		f.last = last
	}
	return nil
}

// Path is the path given to Open.
func (f *File) Path() string { return f.path }

// Trailer returns the decoded trailer.
func (f *File) Trailer() Trailer { return f.trailer }

// Len is the number of cells, as the trailer tells; a scan checks it.
func (f *File) Len() int64 { return f.trailer.Entries }

// Info returns an entry of the file info and whether it is there. The bytes must not be changed.
func (f *File) Info(key string) ([]byte, bool) {
	v, ok := f.info[key]
	return v, ok
}

// InfoKeys lists the keys of the file info, sorted.
func (f *File) InfoKeys() []string {
	out := make([]string, 0, len(f.info))
	for k := range f.info {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// SchemaText is the Avro schema of the values, "" when the file has none (a bootstrap index).
func (f *File) SchemaText() string { return string(f.info[InfoSchema]) }

// LastKey is the greatest key, nil when the file info does not tell it.
func (f *File) LastKey() []byte { return f.last }

// MetaNames lists the meta blocks.
func (f *File) MetaNames() []string {
	out := make([]string, len(f.meta))
	for i := range f.meta {
		out[i] = string(f.meta[i].key)
	}
	return out
}

// Meta reads a meta block; ok is false when there is none of that name.
func (f *File) Meta(ctx context.Context, name string) (payload []byte, ok bool, err error) {
	for _, e := range f.meta {
		if string(e.key) == name {
			_, p, err := f.block(ctx, e.off, e.size, MetaBlock)
			return p, true, err
		}
	}
	return nil, false, nil
}
