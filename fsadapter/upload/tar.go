package upload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"hudiscope/core/corrupt"
	"hudiscope/core/storage"
)

// The bounds of tar archives.
const (
	// MaxUnpacked is how many bytes of files a compressed archive may unpack to: the browser holds them,
	// in memory or on its disk.
	MaxUnpacked = 2 << 30
	// maxEntries and maxNames bound the entries of an archive and the bytes of their names.
	maxEntries = 200_000
	maxNames   = 64 << 20
	// maxHeader bounds the extended header of an entry.
	maxHeader = 1 << 20
	tarBlock  = 512
)

// tarEntry is a file of a tar archive.
type tarEntry struct {
	// path is plain, without "./" before it.
	path     string
	size     int64
	modified time.Time
	// at is where its bytes begin in the archive.
	at int64
}

// tarStream is an archive that is read from its beginning to its end.
type tarStream interface {
	// Fill reads all of p.
	Fill(ctx context.Context, p []byte) error
	// Skip leaves n bytes out. It may fail later if there are fewer.
	Skip(ctx context.Context, n int64) error
}

// readTar goes through an archive. For each file it calls file, which must take or skip its size bytes;
// the padding behind them is skipped here. Archives with links, sparse files or parts of other
// volumes are refused, as files of the table would be missing without a word.
func readTar(ctx context.Context, in tarStream, archive string, file func(tarEntry) error) error {
	refuse := func(try, format string, args ...any) error {
		return &storage.Fault{Op: "open", Location: archive, Kind: storage.Refused, Try: try, Err: fmt.Errorf(format, args...)}
	}
	damaged := func(at int64, part, want, got string) error {
		return corrupt.InFile(corrupt.At(at, part, want, got), archive)
	}
	var (
		pos, names  int64
		n           int
		longName    string
		pax, global map[string]string
		block       [tarBlock]byte
		zero        [tarBlock]byte
		long        bool
	)
	fill := func(p []byte) error {
		err := in.Fill(ctx, p)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return damaged(pos, "tar archive", "an end mark (two blocks of zeros)", "the end of the file: the archive was cut")
		}
		if err == nil {
			pos += int64(len(p))
		}
		return err
	}
	for {
		at := pos
		if err := fill(block[:]); err != nil {
			return err
		}
		if block == zero {
			if err := fill(block[:]); err != nil {
				return err
			}
			if block != zero {
				return damaged(at, "tar header", "a second block of zeros", "other bytes")
			}
			return nil
		}
		if sum, ok := octal(block[148:156]); !ok || !checksum(&block, sum) {
			return damaged(at, "tar header checksum", "the sum of the header's bytes", fmt.Sprintf("%.8q", block[148:156]))
		}
		size, ok := number(block[124:136])
		if !ok {
			return damaged(at+124, "tar entry size", "an octal number", fmt.Sprintf("%.12q", block[124:136]))
		}
		kind := block[156]
		switch kind {
		case 'x', 'g', 'L', 'K':
			if size > maxHeader {
				return refuse("Open the folder itself.", "an extended header of the archive has %d bytes", size)
			}
			b := make([]byte, size)
			if err := fill(b); err != nil {
				return err
			}
			if err := fill(block[:padding(size)]); err != nil {
				return err
			}
			switch kind {
			case 'L':
				longName, long = cstring(b), true
			case 'x', 'g':
				m, err := records(b)
				if err != nil {
					return damaged(at+tarBlock, "extended tar header", "records “LENGTH NAME=VALUE”", err.Error())
				}
				if kind == 'g' {
					global = m
				} else {
					pax = m
				}
			}
			continue
		}
		e := tarEntry{path: cstring(block[:100]), size: size}
		if string(block[257:263]) == "ustar\x00" {
			if prefix := cstring(block[345:500]); prefix != "" {
				e.path = prefix + "/" + e.path
			}
		}
		if sec, ok := number(block[136:148]); ok {
			e.modified = time.Unix(sec, 0).UTC()
		}
		if long {
			e.path = longName
		}
		for _, m := range []map[string]string{global, pax} {
			for k, v := range m {
				switch {
				case k == "path":
					e.path = v
				case k == "size":
					x, err := strconv.ParseInt(v, 10, 64)
					if err != nil || x < 0 {
						return damaged(at, "tar entry size", "a number", fmt.Sprintf("%.20q", v))
					}
					e.size = x
				case k == "mtime":
					if sec, err := strconv.ParseFloat(v, 64); err == nil && sec > -1e11 && sec < 1e12 {
						e.modified = time.UnixMilli(int64(sec * 1000)).UTC()
					}
				case strings.HasPrefix(k, "GNU.sparse."):
					kind = 'S'
				}
			}
		}
		longName, long, pax = "", false, nil
		folder := strings.HasSuffix(e.path, "/")
		for strings.HasPrefix(e.path, "./") {
			e.path = e.path[2:]
		}
		e.path = strings.TrimSuffix(e.path, "/")
		if n++; n > maxEntries {
			return refuse("Open the folder itself, or serve it (hudiscope serve).", "the archive has more than %d entries", maxEntries)
		}
		if names += int64(len(e.path)); names > maxNames {
			return refuse("Open the folder itself.", "the names in the archive have more than %d bytes", maxNames)
		}
		switch kind {
		case '0', 0, '7':
			if folder && e.size == 0 { // how a folder was written before there was a kind for it
				continue
			}
			if e.path == "" || folder {
				return damaged(at, "tar entry name", "the name of a file", fmt.Sprintf("%.100q", e.path))
			}
			if e.size > 1<<50 {
				return damaged(at, "tar entry size", "a size", strconv.FormatInt(e.size, 10))
			}
			e.at = pos
			if err := file(e); err != nil {
				return err
			}
			pos += e.size
			if err := fill(block[:padding(e.size)]); err != nil {
				return err
			}
		case '5', '3', '4', '6', 'V':
			// Folders come from the files in them; devices and labels are none of a table.
			if err := in.Skip(ctx, e.size+padding(e.size)); err != nil {
				return err
			}
			pos += e.size + padding(e.size)
		case '1', '2':
			return refuse("Make it anew with: tar --dereference --hard-dereference", "%q in the archive is a link", e.path)
		case 'S':
			return refuse("Make it anew without --sparse.", "%q in the archive is stored as a sparse file", e.path)
		default:
			return refuse("Make it anew with: tar --format=ustar, or posix.", "%q in the archive is of the kind %q, which is not known", e.path, kind)
		}
	}
}

func padding(size int64) int64 { return (tarBlock - size%tarBlock) % tarBlock }

func cstring(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// octal reads a number of a header, with blanks or zeros around it.
func octal(b []byte) (int64, bool) {
	s := strings.Trim(string(b), " \x00")
	if s == "" {
		return 0, true
	}
	n, err := strconv.ParseInt(s, 8, 64)
	return n, err == nil && n >= 0
}

// number is octal, or for large ones binary with the first bit set. Negative ones are none.
func number(b []byte) (int64, bool) {
	if b[0]&0x80 == 0 {
		return octal(b)
	}
	n := int64(b[0] & 0x7f)
	for _, c := range b[1:] {
		if n >= 1<<55 {
			return 0, false
		}
		n = n<<8 | int64(c)
	}
	return n, true
}

// checksum compares the sum of a header's bytes, taken for unsigned or, as some did, signed.
func checksum(b *[tarBlock]byte, want int64) bool {
	var u, s int64
	for i, c := range b {
		if i >= 148 && i < 156 {
			c = ' '
		}
		u += int64(c)
		s += int64(int8(c))
	}
	return want == u || want == s
}

// records reads the records of an extended header.
func records(b []byte) (map[string]string, error) {
	m := map[string]string{}
	for len(b) > 0 {
		i := bytes.IndexByte(b, ' ')
		if i < 1 || i > 10 {
			return nil, errors.New("a record without its length")
		}
		n, err := strconv.Atoi(string(b[:i]))
		if err != nil || n <= i+2 || n > len(b) || b[n-1] != '\n' {
			return nil, fmt.Errorf("a record of length %.10q", b[:i])
		}
		k, v, ok := strings.Cut(string(b[i+1:n-1]), "=")
		if !ok {
			return nil, errors.New("a record without a value")
		}
		m[k] = v
		b = b[n:]
	}
	return m, nil
}
