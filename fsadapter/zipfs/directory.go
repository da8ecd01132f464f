package zipfs

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"hudiscope/core/corrupt"
	"hudiscope/core/storage"
)

// The archive ends with its directory (APPNOTE.TXT 4.3):
//
//	entries  (30-byte local header, name, extra, data) …
//	central directory  (46-byte header, name, extra, comment) …
//	[zip64 end of central directory, 56 bytes or more]
//	[zip64 locator, 20 bytes]
//	end of central directory, 22 bytes, and a comment of at most 65535

// The compression methods that are read.
const (
	stored   = 0
	deflated = 8
)

// entry is one line of the central directory.
type entry struct {
	name         string // plain, "/" between elements, a trailing "/" for a folder
	flags        uint16
	method       uint16
	crc          uint32
	packed, size int64
	header       int64 // absolute offset of the local header
	at           int64 // absolute offset of this line
	modified     time.Time
	start        atomic.Int64 // absolute offset of the data, 0 until known
}

func u16(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }
func u32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func u64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// end is what the records at the end of the archive say.
type end struct {
	at           int64 // of the first of these records: where the directory must end
	entries      uint64
	exact        bool // entries is not cut to 16 bits
	size, offset uint64
}

// directory reads the central directory.
func (s *Source) directory(ctx context.Context) ([]*entry, error) {
	e, err := s.findEnd(ctx)
	if err != nil {
		return nil, err
	}
	if e.size > uint64(e.at) || e.offset > uint64(e.at)-e.size {
		return nil, corrupt.At(e.at, "central directory", fmt.Sprintf("size and offset within the %d bytes before its end", e.at), fmt.Sprintf("%d bytes at %d", e.size, e.offset))
	}
	if int64(e.size) > s.o.MaxDirectory {
		return nil, s.refuse("open", "", "Unpack the archive and open the folder.", "the archive's directory has %d bytes, more than the limit of %d", e.size, s.o.MaxDirectory)
	}
	// Bytes before the archive (a self-extractor) shift every offset.
	from := e.at - int64(e.size)
	shift := from - int64(e.offset)
	dir := make([]byte, e.size)
	if err := s.readFull(ctx, dir, from); err != nil {
		return nil, s.damaged(err, from, "central directory")
	}
	// A line takes 46 bytes at least, whatever number of them is claimed.
	room := min(e.entries, e.size/46)
	if !e.exact {
		room = e.size / 100
	}
	all, slab := make([]*entry, 0, room), []entry(nil)
	for rest := dir; len(rest) > 0; {
		at := from + int64(len(dir)-len(rest))
		if len(rest) < 46 || string(rest[:4]) != "PK\x01\x02" {
			return nil, corrupt.At(at, "central directory header", "PK\\x01\\x02", fmt.Sprintf("%q", rest[:min(len(rest), 4)]))
		}
		n, x, c := int(u16(rest[28:])), int(u16(rest[30:])), int(u16(rest[32:]))
		if 46+n+x+c > len(rest) {
			return nil, corrupt.At(at+28, "central directory header lengths", fmt.Sprintf("at most %d bytes", len(rest)-46), fmt.Sprint(n+x+c))
		}
		if len(slab) == 0 {
			slab = make([]entry, min(max(room/16, 16), 4096))
		}
		ent := &slab[0]
		ok, err := s.line(ent, rest[:46], rest[46:46+n], rest[46+n:46+n+x], at, shift)
		if err != nil {
			return nil, err
		}
		if ok {
			all, slab = append(all, ent), slab[1:]
		} else {
			e.entries-- // "./" and the like
		}
		rest = rest[46+n+x+c:]
	}
	if got := uint64(len(all)); e.exact && got != e.entries || !e.exact && uint16(got) != uint16(e.entries) {
		return nil, corrupt.At(e.at, "number of entries", fmt.Sprint(e.entries), fmt.Sprint(got))
	}
	return all, nil
}

// findEnd finds the end of central directory record.
func (s *Source) findEnd(ctx context.Context) (*end, error) {
	tail := make([]byte, min(s.size, 22+65535))
	from := s.size - int64(len(tail))
	if err := s.readFull(ctx, tail, from); err != nil {
		return nil, s.damaged(err, from, "end of central directory")
	}
	i := len(tail)
	for {
		i = bytes.LastIndex(tail[:i], []byte("PK\x05\x06"))
		if i < 0 {
			return nil, &corrupt.Error{Offset: s.size, Part: "end of central directory", Want: "PK\\x05\\x06 in the last 65557 bytes", Got: "none",
				Try: "Check that the file is a .zip and was copied or downloaded to its end."}
		}
		if len(tail)-i >= 22 && i+22+int(u16(tail[i+20:])) <= len(tail) {
			break
		}
	}
	r := tail[i:]
	e := &end{at: from + int64(i), entries: uint64(u16(r[10:])), size: uint64(u32(r[12:])), offset: uint64(u32(r[16:]))}
	disk, dirDisk := u16(r[4:]), u16(r[6:])
	if i >= 20 && string(tail[i-20:i-16]) == "PK\x06\x07" {
		at := u64(tail[i-12:])
		lim := uint64(e.at - 20)
		if lim < 56 {
			return nil, corrupt.At(e.at-20, "zip64 locator", "a record before it", "no room for one")
		}
		var z [56]byte
		ok := false
		// Where it should be, or right before the locator if bytes were put before the archive.
		for _, off := range []uint64{at, lim - 56} {
			if off > lim-56 {
				continue
			}
			if err := s.readFull(ctx, z[:], int64(off)); err != nil {
				return nil, s.damaged(err, int64(off), "zip64 end of central directory")
			}
			if ok = string(z[:4]) == "PK\x06\x06"; ok {
				e.at = int64(off)
				break
			}
		}
		if !ok {
			return nil, corrupt.At(e.at-12, "zip64 end of central directory", "PK\\x06\\x06", "another signature")
		}
		e.entries, e.exact = u64(z[32:]), true
		e.size, e.offset = u64(z[40:]), u64(z[48:])
		disk, dirDisk = 0, 0
	}
	if disk != 0 && disk != 0xffff || dirDisk != 0 && dirDisk != 0xffff {
		return nil, s.refuse("open", "", "Join the parts into one archive.", "the archive is split into several files")
	}
	return e, nil
}

// line reads one central directory header into e; false for a folder that is the root itself.
func (s *Source) line(e *entry, h, rawName, extra []byte, at, shift int64) (bool, error) {
	e.flags, e.method, e.crc, e.at = u16(h[8:]), u16(h[10:]), u32(h[16:]), at
	e.packed, e.size, e.header, e.modified = int64(u32(h[20:])), int64(u32(h[24:])), int64(u32(h[42:])), time.Time{}
	name, err := s.plainName(rawName, h[5], at)
	if err != nil || name == "" {
		return false, err
	}
	e.name = name
	for len(extra) >= 4 {
		id, n := u16(extra), int(u16(extra[2:]))
		if n > len(extra)-4 {
			break // some writers pad with less than a header
		}
		v := extra[4 : 4+n]
		extra = extra[4+n:]
		switch id {
		case 1: // zip64: the values that do not fit, in this order
			for _, f := range []*int64{&e.size, &e.packed, &e.header} {
				if *f != 0xffffffff {
					continue
				}
				if len(v) < 8 || u64(v) > 1<<62 {
					return false, corrupt.At(at, "zip64 sizes of "+name, "8 bytes each", fmt.Sprintf("%x", v))
				}
				*f, v = int64(u64(v)), v[8:]
			}
		case 0x5455: // seconds since 1970; the date in the header has no time zone
			if len(v) >= 5 && v[0]&1 != 0 {
				e.modified = time.Unix(int64(int32(u32(v[1:]))), 0).UTC()
			}
		}
	}
	e.header += shift
	if e.header < 0 || e.header > s.size-30 || e.packed < 0 || e.packed > s.size-30-e.header {
		return false, corrupt.At(at, "place of "+name, fmt.Sprintf("within the %d bytes of the archive", s.size), fmt.Sprintf("%d bytes at %d", e.packed, e.header))
	}
	return true, nil
}

// plainName checks and cleans the name of an entry: "" for the root.
func (s *Source) plainName(raw []byte, system byte, at int64) (string, error) {
	name := string(raw)
	if !utf8.Valid(raw) {
		name = fromCP437(raw)
	}
	if (system == 0 || system == 10) && !strings.Contains(name, "/") {
		name = strings.ReplaceAll(name, `\`, "/") // old Windows writers
	}
	body, folder := strings.CutSuffix(name, "/")
	for strings.HasPrefix(body, "./") {
		body = body[2:]
	}
	if body == "." || body == "" && folder {
		return "", nil
	}
	if strings.Count(body, "/") > 100 {
		return "", s.refuse("open", "", "", "the entry %.100q… has more than 100 folders above it", name)
	}
	err := storage.CheckPath("open", body, s.location)
	if err == nil && body == "" {
		return "", corrupt.At(at, "name", "at least one character", "none")
	}
	if err != nil {
		return "", s.refuse("open", "", "Do not trust this archive; make a new one from the table's folder.", "the entry %q leads out of the archive or is no path", name)
	}
	if folder {
		body += "/"
	}
	return body, nil
}

// fromCP437 decodes a name from before UTF-8 was common (APPNOTE.TXT appendix D).
func fromCP437(b []byte) string {
	const high = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0"
	table := []rune(high)
	var out strings.Builder
	for _, c := range b {
		if c < 0x80 {
			out.WriteByte(c)
		} else {
			out.WriteRune(table[c-0x80])
		}
	}
	return out.String()
}
