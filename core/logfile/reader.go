package logfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math"

	"hudiscope/core/corrupt"
	"hudiscope/core/storage"
)

const (
	// window is how much is read at once while looking at frames: enough for most headers.
	window = 4 << 10
	// scanWindow is how much is read first to find the next magic, and scanMost the most that is read at once for that:
	// each further read of an iteration is four times as long.
	scanWindow = 4 << 10
	scanMost   = 1 << 20
	// maxEntry is the longest header text in bytes, and the longest header or footer beside its longest text.
	maxEntry = 64 << 20
	// maxEntries is how many entries a header or footer has at most: writers have one for each of the 9 keys.
	maxEntries = 1 << 12
	// narrowAfter is after how many corrupt blocks in a row the ends that they claim are read without their surroundings.
	narrowAfter = 8
	// DefaultContentLimit bounds the content that Content reads into memory.
	DefaultContentLimit = 512 << 20
)

// What bounds the blocks of a file; tests have less.
var (
	// severalFrom is the index from which corrupt blocks that follow one another are one block, see [Block.Regions].
	// It depends on nothing but the index, so that an iteration may begin at any block.
	severalFrom = 1 << 16
	// maxBlocks is how many blocks a file may have: each takes some hundred bytes of memory where they are listed, and
	// writers go on to another file long before.
	maxBlocks = 1 << 20
)

// Reader reads one log file. Its methods may be called from several goroutines if the
// object allows it.
type Reader struct {
	obj   storage.Object
	path  string
	limit int64
}

// Open returns a reader of a log file; it reads nothing yet. path is for error messages.
// Closing obj is the caller's business.
func Open(obj storage.Object, path string) *Reader {
	return &Reader{obj: obj, path: path, limit: DefaultContentLimit}
}

// Path is the path given to Open.
func (r *Reader) Path() string { return r.path }

// LimitContent sets the largest content that Content reads, in bytes, and returns r.
func (r *Reader) LimitContent(n int64) *Reader { r.limit = n; return r }

// Blocks iterates over the blocks in file order, reading their frames only. An error ends
// the iteration: the storage failed, the context ended, or the file does not begin with a
// magic. Corrupt and damaged blocks are blocks, not errors. Up to 5 bytes behind the last
// block are too few for a magic and are passed over, as Hudi does; see [Reader.Tail]. Of corrupt
// blocks that follow one another those from the 65537th block of the file on are one, see
// [Block.Regions]; a file of more than 1048576 blocks is refused there with a *storage.Fault.
func (r *Reader) Blocks(ctx context.Context) iter.Seq2[*Block, error] {
	return r.BlocksFrom(ctx, 0, 0)
}

// BlocksFrom is Blocks from the block on that begins at start, and has the index given. A start where no
// magic stands ends the iteration with an error.
func (r *Reader) BlocksFrom(ctx context.Context, start int64, index int) iter.Seq2[*Block, error] {
	return func(yield func(*Block, error) bool) {
		f, err := r.frames(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		for pos, i := start, index; pos+6 <= f.size; i++ {
			if i >= maxBlocks {
				yield(nil, &storage.Fault{Op: "read", Path: r.path, Kind: storage.Refused,
					Err: fmt.Errorf("more than %d blocks stand before byte %d: no writer makes such a log file", maxBlocks, pos)})
				return
			}
			b, err := f.next(pos)
			if err == nil && i >= severalFrom {
				err = f.several(b)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			b.Index = i
			pos = b.End
			if !yield(b, nil) {
				return
			}
		}
	}
}

// Tail returns the bytes behind the last block b, at most 5, that are too few to begin
// another one. It is 0 for a whole file.
func (r *Reader) Tail(ctx context.Context, b *Block) (int64, error) {
	size, err := r.obj.Size(ctx)
	if err != nil || b == nil {
		return size, err
	}
	return size - b.End, nil
}

// BlocksReverse iterates over the blocks from the last one to the first. It needs every
// block whole: at the first place where the reverse length does not lead to a block that
// ends there it stops with a *corrupt.Error, and the file must be read forwards.
func (r *Reader) BlocksReverse(ctx context.Context) iter.Seq2[*Block, error] {
	return func(yield func(*Block, error) bool) {
		f, err := r.frames(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		for end := f.size; end > 0; {
			b, err := f.before(end)
			if err != nil {
				yield(nil, err)
				return
			}
			b.Index = -1
			end = b.Start
			if !yield(b, nil) {
				return
			}
		}
	}
}

// Content reads the content of a block.
func (r *Reader) Content(ctx context.Context, b *Block) ([]byte, error) {
	return r.ContentIn(ctx, b, nil)
}

// ContentIn is Content in the memory of buf, where that is large enough.
func (r *Reader) ContentIn(ctx context.Context, b *Block, buf []byte) ([]byte, error) {
	if b.Damage != nil {
		return nil, b.Damage
	}
	size, err := r.obj.Size(ctx)
	if err != nil {
		return nil, err
	}
	if b.ContentSize < 0 || b.ContentOffset < 0 || b.ContentSize > size-b.ContentOffset {
		return nil, &corrupt.Error{File: r.path, Offset: b.ContentOffset, Part: "block content", Want: fmt.Sprintf("%d bytes", b.ContentSize), Got: fmt.Sprintf("%d bytes to the end of the file", max(0, size-b.ContentOffset)),
			Try: "The file has changed since its blocks were listed; open it again."}
	}
	if r.limit > 0 && b.ContentSize > r.limit {
		return nil, &storage.Fault{Op: "read", Path: r.path, Kind: storage.Refused,
			Err: fmt.Errorf("the content of the block at byte %d has %d bytes, more than the limit of %d", b.Start, b.ContentSize, r.limit)}
	}
	p := buf[:0]
	if int64(cap(p)) < b.ContentSize {
		p = make([]byte, b.ContentSize)
	}
	p = p[:b.ContentSize]
	if err := storage.ReadFull(ctx, r.obj, p, b.ContentOffset); err != nil {
		return nil, fmt.Errorf("%s: content of the block at byte %d: %w", r.path, b.Start, err)
	}
	return p, nil
}

// Section returns a reader of the content of a block, for contents that are files of
// their own (Parquet, HFile); it reads from the log file in place.
func (r *Reader) Section(b *Block) storage.Object {
	return &section{r.obj, b.ContentOffset, b.ContentSize}
}

type section struct {
	obj      storage.Object
	off, len int64
}

func (s *section) Size(context.Context) (int64, error) { return s.len, nil }
func (s *section) Close() error                        { return nil }

func (s *section) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("read at offset %d", off)
	}
	cut := off >= s.len || int64(len(p)) > s.len-off
	if cut {
		p = p[:max(0, s.len-off)]
	}
	n := 0
	if len(p) > 0 {
		var err error
		if n, err = s.obj.ReadAt(ctx, p, s.off+off); err != nil && n < len(p) {
			return n, err
		}
	}
	if cut {
		return n, io.EOF
	}
	return n, nil
}

// frames reads frames through a few windows of the file: the head of a block, the bytes
// around its end (with the head of the next), and long header entries. One more, larger, is what was
// read last to find the magic behind a corrupt block: many of them may lie in it.
type frames struct {
	ctx  context.Context
	r    *Reader
	size int64
	win  [3]frameWindow
	// scan is that larger window; it is not filled by at.
	scan frameWindow
	// reach is how much was read for it last.
	reach int64
	// keep is the beginning of the block that is being read.
	keep  int64
	clock int
	// streak counts the corrupt blocks since the last whole one.
	streak int
	// narrow is set while at reads no more than is asked of it, and a little.
	narrow bool
	// schema is that of the block before: blocks with the same share its text.
	schema string
}

type frameWindow struct {
	off  int64
	p    []byte
	used int // clock of the last use
}

func (r *Reader) frames(ctx context.Context) (*frames, error) {
	size, err := r.obj.Size(ctx)
	if err != nil {
		return nil, err
	}
	if size < 0 {
		return nil, &storage.Fault{Op: "read", Path: r.path, Kind: storage.Failed, Err: fmt.Errorf("the size of the file is not known")}
	}
	return &frames{ctx: ctx, r: r, size: size}, nil
}

// at returns n bytes at off, which must lie in the file. The slice is valid until the next call.
func (f *frames) at(off int64, n int) ([]byte, error) {
	if err := f.ctx.Err(); err != nil {
		return nil, err
	}
	f.clock++
	if p := f.scan.holds(off, int64(n)); p != nil {
		return p, nil
	}
	for i := range f.win {
		w := &f.win[i]
		if p := w.holds(off, int64(n)); p != nil {
			w.used = f.clock
			return p, nil
		}
	}
	if int64(n) > f.size-off {
		return nil, fmt.Errorf("%s: %d bytes at %d lie beyond the end of the file", f.r.path, n, off)
	}
	if end := f.keep + window; f.keep <= off && off+int64(n) <= end {
		// A small block: its window moves on to where it begins, so that no byte is read twice.
		for i := range f.win {
			w := &f.win[i]
			if held := w.off + int64(len(w.p)); w.off <= f.keep && f.keep < held {
				return f.slide(w, off, n, min(end, f.size))
			}
		}
	}
	// Behind a long entry a short one, or the content length, is likely.
	want := int64(max(n+64, window))
	if f.narrow {
		want = int64(n + 64)
	}
	return f.load(f.oldest(), off, n, want)
}

// oldest is the window that was not used for longest.
func (f *frames) oldest() *frameWindow {
	w := &f.win[0]
	for i := range f.win {
		if f.win[i].used < w.used {
			w = &f.win[i]
		}
	}
	return w
}

// load fills a window from off on with want bytes, or what there is of them, and returns the first n.
func (f *frames) load(w *frameWindow, off int64, n int, most int64) ([]byte, error) {
	want := int(min(most, f.size-off))
	if cap(w.p) < want || cap(w.p) > 16*window {
		w.p = make([]byte, want)
	}
	w.off, w.p, w.used = off, w.p[:want], f.clock
	if err := storage.ReadFull(f.ctx, f.r.obj, w.p, off); err != nil {
		w.p = w.p[:0]
		return nil, fmt.Errorf("%s at byte %d: %w", f.r.path, off, err)
	}
	return w.p[:n], nil
}

// slide moves a window to keep, which it holds, and fills it up to end; then it has the n bytes at off.
func (f *frames) slide(w *frameWindow, off int64, n int, end int64) ([]byte, error) {
	have := w.p[f.keep-w.off:]
	p := w.p[:0]
	if int64(cap(p)) < end-f.keep {
		p = make([]byte, 0, window)
	}
	p = append(p, have...)
	rest := p[len(p) : end-f.keep]
	w.off, w.p, w.used = f.keep, p[:end-f.keep], f.clock
	if err := storage.ReadFull(f.ctx, f.r.obj, rest, f.keep+int64(len(p))); err != nil {
		w.p = w.p[:0]
		return nil, fmt.Errorf("%s at byte %d: %w", f.r.path, off, err)
	}
	return w.p[off-w.off:][:n], nil
}

// held returns n bytes at off when a window holds them, nil otherwise.
func (f *frames) held(off, n int64) []byte {
	for i := range f.win {
		if p := f.win[i].holds(off, n); p != nil {
			return p
		}
	}
	return f.scan.holds(off, n)
}

// holds returns n bytes at off when the window has them, nil otherwise.
func (w *frameWindow) holds(off, n int64) []byte {
	if off < w.off || off+n > w.off+int64(len(w.p)) {
		return nil
	}
	return w.p[off-w.off:][:n]
}

func (f *frames) int64(off int64) (int64, error) {
	p, err := f.at(off, 8)
	if err != nil {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(p)), nil
}

// next reads the block whose magic is at pos; at least 6 bytes are there.
func (f *frames) next(pos int64) (*Block, error) {
	f.keep = pos
	p, err := f.at(pos, 6)
	if err != nil {
		return nil, err
	}
	if string(p) != Magic {
		return nil, &corrupt.Error{File: f.r.path, Offset: pos, Part: "magic of a log block", Want: fmt.Sprintf("%q", Magic), Got: fmt.Sprintf("%q", p),
			Try: "The file does not begin like a Hudi log file: it is another kind of file, or its first bytes are lost. Hudi refuses the whole file."}
	}
	b := &Block{Start: pos, Type: UnknownBlock}
	why, err := f.check(b)
	if err != nil {
		return nil, err
	}
	if why.Cause != 0 {
		f.streak++
		return b, f.corrupt(b, why)
	}
	f.streak = 0
	return b, f.inside(b)
}

// several takes the corrupt blocks that follow a corrupt block into it.
func (f *frames) several(b *Block) error {
	for b.Type == CorruptBlock && b.End+6 <= f.size {
		next := Block{Start: b.End}
		f.keep = b.End
		why, err := f.check(&next)
		if err != nil {
			return err
		}
		if why.Cause == 0 {
			break
		}
		f.streak++
		end, err := f.magicFrom(b.End + 6)
		if err != nil {
			return err
		}
		b.End, b.ContentSize = end, end-b.ContentOffset
		b.Regions++
	}
	if b.Regions > 1 {
		b.Corruption.Reason += fmt.Sprintf(" %d more corrupt blocks follow up to byte %d; from the block %d of a file on they are listed as one.", b.Regions-1, b.End, severalFrom)
	}
	return nil
}

// misfit is what is wrong with a block that is corrupt; Cause 0 is nothing.
type misfit struct {
	Corruption
	// follow is how many bytes there are behind the place that Cause is about.
	follow int64
	// behind is what stands behind the block (NoMagicBehind).
	behind [6]byte
}

// corruption puts it in words.
func (m *misfit) corruption() *Corruption {
	c := m.Corruption
	switch size := int64(int32(c.BlockSize)); c.Cause {
	case SizeCut:
		c.Reason = fmt.Sprintf("The file ends %d bytes after the magic, inside the block size: the write was not finished.", m.follow)
	case SizeNegative:
		c.Reason = fmt.Sprintf("The block size is %d, below zero.", size)
	case SizeBeyondEnd:
		c.Reason = fmt.Sprintf("The block says it is %d bytes long, but only %d follow in the file: the write was not finished, or the file was cut.", size, m.follow)
	case SizeMismatch:
		c.Reason = fmt.Sprintf("The block says it is %d bytes long, but the length at its end is %d where %d belongs: bytes are missing, or were written over.", size, c.ReverseLength, size+6)
	case NoMagicBehind:
		c.Reason = fmt.Sprintf("The block's own length is right, but the bytes behind it (%q) are not the magic of another block: Hudi then gives up the block too.", m.behind[:])
	}
	return &c
}

// check reads the block size and decides whether the block is corrupt, setting
// BlockSize and, if it is not, End.
func (f *frames) check(b *Block) (c misfit, err error) {
	at := b.Start + 6
	if c.follow = f.size - at; c.follow < 8 {
		c.Cause, c.Offset = SizeCut, at
		return c, nil
	}
	raw, err := f.int64(at)
	if err != nil {
		return c, err
	}
	b.BlockSize = raw
	pos := at + 8
	// Hudi keeps the low 32 bits of the size only.
	size := int64(int32(raw))
	end := pos + size
	c.Offset, c.BlockSize, c.follow = at, raw, f.size-pos
	switch {
	case size < 0:
		c.Cause = SizeNegative
		return c, nil
	case end > f.size:
		c.Cause = SizeBeyondEnd
		return c, nil
	}
	// Where one corrupt block follows another, what they claim their ends to be has nothing near it that is needed.
	f.narrow = f.streak >= narrowAfter
	c.ReverseLength, err = f.tail(end)
	f.narrow = false
	if err != nil {
		return c, err
	}
	if size != c.ReverseLength-6 {
		c.Cause, c.Offset = SizeMismatch, end-8
		return c, nil
	}
	if f.size-end >= 6 {
		p, err := f.at(end, 6)
		if err != nil {
			return c, err
		}
		if string(p) != Magic {
			c.Cause, c.Offset = NoMagicBehind, end
			copy(c.behind[:], p)
			return c, nil
		}
	}
	b.End = end
	return c, nil
}

// tail reads the reverse length before end, in a window that also holds an empty footer
// before it and the head of the next block.
func (f *frames) tail(end int64) (int64, error) {
	n := int(min(12, end))
	p, err := f.at(end-int64(n), n)
	if err != nil {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(p[n-8:])), nil
}

// corrupt makes b a corrupt block that runs to the next magic or the end of the file.
func (f *frames) corrupt(b *Block, why misfit) (err error) {
	b.Type, b.Corruption, b.ContentOffset, b.Regions = CorruptBlock, why.corruption(), b.Start+6, 1
	b.End, err = f.magicFrom(b.ContentOffset)
	b.ContentSize = b.End - b.ContentOffset
	return err
}

// magicFrom returns where the first magic at pos or behind it stands, the size of the file when there is none. What is read
// for that stays in the scan window: a byte is read once, however many magics there are.
func (f *frames) magicFrom(pos int64) (int64, error) {
	w := &f.scan
	for f.size-pos >= 6 {
		if err := f.ctx.Err(); err != nil {
			return pos, err
		}
		p := w.p[:0]
		if pos >= w.off && pos < w.off+int64(len(w.p)) {
			p = w.p[pos-w.off:]
		}
		if i := bytes.Index(p, []byte(Magic)); i >= 0 {
			return pos + int64(i), nil
		}
		// Its last bytes may be the beginning of a magic.
		if len(p) >= 6 {
			pos += int64(len(p) - 5)
			p = p[len(p)-5:]
		}
		if f.size-pos < 6 {
			break
		}
		f.reach = min(max(f.reach*4, scanWindow), scanMost)
		n := int(min(f.reach, f.size-pos))
		buf := w.p[:0]
		if cap(buf) < n {
			buf = make([]byte, 0, n)
		}
		buf = append(buf, p...)
		have := len(buf)
		w.off, w.p = pos, buf[:n]
		if err := storage.ReadFull(f.ctx, f.r.obj, w.p[have:], pos+int64(have)); err != nil {
			w.p = w.p[:0]
			return pos, fmt.Errorf("%s at byte %d: %w", f.r.path, pos, err)
		}
	}
	return f.size, nil
}

// inside reads what lies in a frame that passed the check. What is wrong there becomes
// the block's Damage; only storage errors are returned.
func (f *frames) inside(b *Block) error {
	pos := b.Start + 14
	damage := func(at int64, part, want, got string) {
		b.Damage = &corrupt.Error{File: f.r.path, Offset: at, Part: part, Want: want, Got: got,
			Try: "The block has the right size but its inside is broken. Hudi fails on this file; the blocks around it can still be shown."}
	}
	// room fails the block when n bytes do not lie before limit.
	room := func(part string, n, limit int64) bool {
		if n < 0 || n > limit-pos {
			damage(pos, part, fmt.Sprintf("at most %d bytes, up to the end of the block", max(0, limit-pos)), fmt.Sprintf("%d bytes", n))
			return false
		}
		return true
	}
	b.ContentOffset = pos
	if !room("frame", 8, b.End) {
		return nil
	}
	p, err := f.at(pos, 8)
	if err != nil {
		return err
	}
	b.FormatVersion, b.Type = int32(binary.BigEndian.Uint32(p)), BlockType(binary.BigEndian.Uint32(p[4:]))
	pos += 8
	b.headerAt, b.ContentOffset = pos, pos
	if b.FormatVersion != FormatVersion {
		if b.FormatVersion == 0 || b.Type == CorruptBlock {
			b.Type = UnknownBlock // version 0 has no type field; 2 is never stored
		}
		damage(pos-8, "format version", "1", fmt.Sprint(b.FormatVersion))
		if b.FormatVersion == 0 {
			b.Damage.Part = "format version of an unsupported legacy block"
		}
		return nil
	}
	if b.Type < CommandBlock || b.Type > CDCDataBlock || b.Type == CorruptBlock {
		damage(pos-4, "block type", "0, 1 or 3 to 6", fmt.Sprint(int32(b.Type)))
		if b.Type == CorruptBlock {
			b.Type = UnknownBlock // never stored
		}
		return nil
	}
	entries := func(kind string, limit int64) (Entries, bool, error) {
		if !room(kind+" count", 4, limit) {
			return nil, false, nil
		}
		p, err := f.at(pos, 4)
		if err != nil {
			return nil, false, err
		}
		count := int64(int32(binary.BigEndian.Uint32(p)))
		if count < 0 || count > (limit-pos-4)/8 {
			damage(pos, kind+" count", fmt.Sprintf("0 to %d", max(0, (limit-pos-4)/8)), fmt.Sprint(count))
			return nil, false, nil
		}
		if count > maxEntries {
			damage(pos, kind+" count", fmt.Sprintf("at most %d", maxEntries), fmt.Sprint(count))
			return nil, false, nil
		}
		pos += 4
		longest, total := int64(0), int64(0)
		var out Entries
		for range count {
			if !room(kind+" entry", 8, limit) {
				return nil, false, nil
			}
			if p, err = f.at(pos, 8); err != nil {
				return nil, false, err
			}
			key, n := Key(binary.BigEndian.Uint32(p)), int64(int32(binary.BigEndian.Uint32(p[4:])))
			at := pos
			pos += 8
			if !room(kind+" "+key.String(), n, limit) {
				return nil, false, nil
			}
			if total += n; total-max(longest, n) > maxEntry {
				damage(at+4, kind, fmt.Sprintf("at most %d bytes", maxEntry), fmt.Sprintf("%d bytes", total))
				return nil, false, nil
			}
			longest = max(longest, n)
			if n > maxEntry {
				damage(at+4, kind+" "+key.String(), fmt.Sprintf("at most %d bytes", maxEntry), fmt.Sprintf("%d bytes", n))
				return nil, false, nil
			}
			if p, err = f.at(pos, int(n)); err != nil {
				return nil, false, err
			}
			e := Entry{Key: key, Offset: at}
			if key == Schema {
				if string(p) != f.schema {
					f.schema = string(p)
				}
				e.Value = f.schema
			} else {
				e.Value = string(p)
			}
			out = append(out, e)
			pos += n
		}
		return out, true, nil
	}
	var ok bool
	if b.Header, ok, err = entries("header", b.End-8); !ok {
		return err
	}
	if !room("content length", 8, b.End-8) {
		return nil
	}
	length, err := f.int64(pos)
	if err != nil {
		return err
	}
	b.lengthAt = pos
	pos += 8
	b.ContentOffset = pos
	// A footer of at least 4 bytes and the reverse length follow the content.
	if length < 0 || length > b.End-12-pos {
		damage(pos-8, "content length", fmt.Sprintf("0 to %d, up to the end of the block", max(0, b.End-12-pos)), fmt.Sprint(length))
		return nil
	}
	b.ContentSize = length
	switch b.Type {
	case AvroDataBlock, CDCDataBlock:
		b.records, b.counted = b.count(f.held(pos, min(8, length)))
	case DeleteBlock:
		b.records, b.counted = b.count(f.held(pos, min(countBytes, length)))
	}
	pos += length
	b.footerAt = pos
	if b.Footer, ok, err = entries("footer", b.End-8); !ok {
		return err
	}
	if pos != b.End-8 {
		damage(pos, "reverse length", fmt.Sprintf("here, %d bytes before the end of the block", b.End-pos), "8 bytes before its end: the content length or the footer is wrong")
		return nil
	}
	if b.ReverseLength, err = f.int64(pos); err != nil {
		return err
	}
	b.reverseAt = pos
	return nil
}

// before reads the block that ends at end, going by its reverse length.
func (f *frames) before(end int64) (*Block, error) {
	fail := func(at int64, part, want, got string) error {
		return &corrupt.Error{File: f.r.path, Offset: at, Part: part, Want: want, Got: got,
			Try: "The file can't be read backwards from here; read it forwards to see its corrupt blocks."}
	}
	if end < 8 {
		return nil, fail(0, "reverse length", "8 bytes", fmt.Sprintf("%d bytes", end))
	}
	if f.held(end-8, 8) == nil {
		// What lies before is asked for next.
		f.clock++
		from := max(0, end-window)
		if _, err := f.load(f.oldest(), from, 0, min(end+14, f.size)-from); err != nil {
			return nil, err
		}
	}
	n, err := f.int64(end - 8)
	if err != nil {
		return nil, err
	}
	start := end - 8 - n
	if n < 14 || n > math.MaxInt32 || start < 0 {
		return nil, fail(end-8, "reverse length", fmt.Sprintf("14 to %d", end-8), fmt.Sprint(n))
	}
	p, err := f.at(start, 6)
	if err != nil {
		return nil, err
	}
	if string(p) != Magic {
		return nil, fail(start, "magic of a log block", fmt.Sprintf("%q", Magic), fmt.Sprintf("%q", p))
	}
	b := &Block{Start: start, Type: UnknownBlock}
	why, err := f.check(b)
	if err != nil {
		return nil, err
	}
	if why.Cause != 0 {
		return nil, fail(why.Offset, "block", "a whole block", why.corruption().Reason)
	}
	if b.End != end {
		return nil, fail(start+6, "block size", fmt.Sprintf("%d", end-start-14), fmt.Sprint(b.BlockSize))
	}
	return b, f.inside(b)
}
