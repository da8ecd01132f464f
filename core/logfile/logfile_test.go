package logfile_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"hudiscope/core/avro"
	"hudiscope/core/corrupt"
	"hudiscope/core/logfile"
	"hudiscope/core/logfile/logfiletest"
	"hudiscope/core/schema"
)

var ctx = context.Background()

// goldBlock is one entry of a blocks.json.
type goldBlock struct {
	Type            string            `json:"type"`
	ContentPosition int64             `json:"content_position"`
	ContentSize     int64             `json:"content_size"`
	BlockEnd        int64             `json:"block_end"`
	Header          map[string]string `json:"header"`
	RecordCount     *int64            `json:"record_count"`
	Keys            []*string         `json:"keys"`
	Positions       []uint64          `json:"record_positions"`
	Command         string            `json:"command"`
	Error           string            `json:"error"`
	Deletes         []struct {
		Key       string  `json:"key"`
		Partition *string `json:"partition"`
		Ordering  string  `json:"ordering"`
	} `json:"deletes"`
}

type corpus struct {
	name string
	gold map[string][]goldBlock
	logs []logfiletest.LogFile
}

// tables returns the tables of testdata that have gold blocks; HUDISCOPE_CORPUS may name
// another directory that holds tables/ and gold/.
func tables(t testing.TB) []corpus {
	roots := []string{logfiletest.Testdata(t)}
	if dir := os.Getenv("HUDISCOPE_CORPUS"); dir != "" {
		roots = append(roots, dir)
	}
	var out []corpus
	for _, root := range roots {
		golds, _ := filepath.Glob(filepath.Join(root, "gold", "*", "blocks*.json"))
		for _, g := range golds {
			name := filepath.Base(filepath.Dir(g))
			zip := filepath.Join(root, "tables", name+".zip")
			if _, err := os.Stat(zip); err != nil {
				continue
			}
			b, err := os.ReadFile(g)
			if err != nil {
				t.Fatal(err)
			}
			c := corpus{name: name + "/" + filepath.Base(g)}
			if err := json.Unmarshal(b, &c.gold); err != nil {
				t.Fatalf("%s: %v", g, err)
			}
			c.logs = logfiletest.ZipLogFiles(t, zip, filepath.Base(g) == "blocks_metadata.json")
			out = append(out, c)
		}
	}
	if len(out) < 15 {
		t.Fatalf("only %d tables with gold blocks found", len(out))
	}
	return out
}

func list(t testing.TB, r *logfile.Reader) ([]*logfile.Block, error) {
	t.Helper()
	var out []*logfile.Block
	for b, err := range r.Blocks(ctx) {
		if err != nil {
			return out, err
		}
		out = append(out, b)
	}
	return out, nil
}

// keysOf decodes the record keys of a data block with the columnar decoder.
func keysOf(b *logfile.Block, content []byte) ([]*string, error) {
	typ, err := schema.Parse(b.SchemaText())
	if err != nil {
		return nil, err
	}
	d, err := avro.Compile(typ, func(f string) bool { return f == schema.RecordKeyField })
	if err != nil {
		return nil, err
	}
	batch := d.NewBatch(8)
	for r, err := range logfile.DataRecords(content, b.ContentOffset) {
		if err != nil {
			return nil, err
		}
		if err := d.Append(batch, r.Data); err != nil {
			return nil, err
		}
	}
	out := make([]*string, batch.Len)
	if i := typ.FieldIndex(schema.RecordKeyField); i >= 0 {
		for k := range out {
			if v := batch.Columns[i]; !v.IsNull(k) {
				s := string(v.BytesAt(k))
				out[k] = &s
			}
		}
	}
	return out, nil
}

func TestGold(t *testing.T) {
	total := map[string]int{}
	for _, c := range tables(t) {
		byPath := map[string][]byte{}
		for _, l := range c.logs {
			byPath[l.Path] = l.Data
		}
		for path, want := range c.gold {
			data, ok := byPath[path]
			if !ok {
				data, ok = byPath[".hoodie/metadata/"+path]
			}
			if !ok {
				t.Errorf("%s: %s is not in the zip", c.name, path)
				continue
			}
			r := logfiletest.Open(data, path)
			got, err := list(t, r)
			wantErr := len(want) > 0 && want[len(want)-1].Error != ""
			if wantErr {
				want = want[:len(want)-1]
			}
			if (err != nil) != wantErr || len(got) != len(want) {
				t.Errorf("%s: %s: %d blocks and error %v, want %d blocks and error %v", c.name, path, len(got), err, len(want), wantErr)
				continue
			}
			for i, w := range want {
				b := got[i]
				where := fmt.Sprintf("%s: %s block %d", c.name, path, i)
				header := map[string]string{}
				for _, e := range b.Header {
					header[e.Key.String()] = e.Value
				}
				if w.Header == nil {
					w.Header = map[string]string{}
				}
				if _, ok := w.Header["RECORD_POSITIONS"]; !ok && w.Positions == nil && strings.HasPrefix(c.name, "perf_") {
					delete(header, "RECORD_POSITIONS") // this gold leaves the long ones out
				}
				if b.Type.String() != w.Type || b.ContentOffset != w.ContentPosition || b.ContentSize != w.ContentSize || b.End != w.BlockEnd || b.Damage != nil {
					t.Errorf("%s: %s content %d+%d end %d damage %v, want %s %d+%d end %d", where, b.Type, b.ContentOffset, b.ContentSize, b.End, b.Damage, w.Type, w.ContentPosition, w.ContentSize, w.BlockEnd)
				}
				if !reflect.DeepEqual(header, w.Header) {
					t.Errorf("%s: header %v, want %v", where, header, w.Header)
				}
				checkContent(t, where, r, b, w)
				total[w.Type]++
			}
			if err == nil {
				checkReverse(t, path, r, got)
			}
		}
	}
	t.Log("blocks compared:", total)
	for _, typ := range []string{"AVRO_DATA_BLOCK", "DELETE_BLOCK", "COMMAND_BLOCK", "CORRUPT_BLOCK"} {
		if total[typ] < 2 {
			t.Errorf("only %d blocks of type %s in testdata", total[typ], typ)
		}
	}
}

func checkContent(t *testing.T, where string, r *logfile.Reader, b *logfile.Block, w goldBlock) {
	t.Helper()
	n, err := r.RecordCount(ctx, b)
	if err != nil {
		t.Errorf("%s: record count: %v", where, err)
	}
	if w.RecordCount != nil && n >= 0 && n != *w.RecordCount {
		t.Errorf("%s: %d records, want %d", where, n, *w.RecordCount)
	}
	if text, ok := b.Header.Get(logfile.RecordPositions); ok {
		p, err := logfile.DecodePositions(text)
		if err != nil || int64(len(p)) != n && n >= 0 || w.Positions != nil && !slices.Equal(p, w.Positions) {
			t.Errorf("%s: %d positions %v, want %d", where, len(p), err, len(w.Positions))
		}
	} else if len(w.Positions) > 0 {
		t.Errorf("%s: no positions, want %v", where, w.Positions)
	}
	content, err := r.Content(ctx, b)
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	switch b.Type {
	case logfile.AvroDataBlock, logfile.CDCDataBlock:
		keys, err := keysOf(b, content)
		if err != nil {
			t.Errorf("%s: %v", where, err)
			return
		}
		if int64(len(keys)) != n {
			t.Errorf("%s: %d records decoded, %d counted", where, len(keys), n)
		}
		if b.Type == logfile.AvroDataBlock && w.Keys != nil {
			keys = keys[:min(len(keys), len(w.Keys))]
			if !reflect.DeepEqual(keys, w.Keys) {
				t.Errorf("%s: keys differ", where)
			}
		}
	case logfile.DeleteBlock:
		version, dels, err := logfile.DecodeDeletes(content, b.ContentOffset)
		if err != nil || version != 3 || int64(len(dels)) != n {
			t.Errorf("%s: version %d, %d deletes, error %v", where, version, len(dels), err)
			return
		}
		for i, d := range dels {
			if i >= len(w.Deletes) {
				break
			}
			g := w.Deletes[i]
			if d.Key != g.Key || !reflect.DeepEqual(d.Partition, g.Partition) || d.Ordering.String() != g.Ordering {
				t.Errorf("%s: delete %d is %+v, want %+v", where, i, d, g)
			}
			if d.Start < b.ContentOffset+8 || d.End <= d.Start || d.End > b.ContentOffset+b.ContentSize {
				t.Errorf("%s: delete %d spans %d to %d", where, i, d.Start, d.End)
			}
		}
	case logfile.CommandBlock:
		if b.IsRollback() != (w.Command == "ROLLBACK_BLOCK") || b.Target() != w.Header["TARGET_INSTANT_TIME"] {
			t.Errorf("%s: rollback %v of %s, want %s", where, b.IsRollback(), b.Target(), w.Command)
		}
	case logfile.CorruptBlock:
		if b.Corruption == nil || b.Corruption.Reason == "" || b.Corruption.Offset < b.Start {
			t.Errorf("%s: corruption %+v", where, b.Corruption)
		}
	}
	checkLayout(t, where, b)
}

func checkLayout(t *testing.T, where string, b *logfile.Block) {
	t.Helper()
	at := b.Start
	for _, s := range b.Layout() {
		if s.Start != at || s.End <= s.Start || s.Name == "" {
			t.Errorf("%s: span %+v, want it to start at %d", where, s, at)
		}
		at = s.End
	}
	if at != b.End {
		t.Errorf("%s: the layout ends at %d, the block at %d", where, at, b.End)
	}
}

// checkReverse reads backwards and compares, or expects a refusal where a block is corrupt.
func checkReverse(t *testing.T, path string, r *logfile.Reader, want []*logfile.Block) {
	t.Helper()
	i := len(want)
	for b, err := range r.BlocksReverse(ctx) {
		if err != nil {
			if i == 0 || want[i-1].Type != logfile.CorruptBlock || !corrupt.Is(err) {
				t.Errorf("%s: backwards, before block %d: %v", path, i, err)
			}
			return
		}
		i--
		b.Index = i
		if i >= 0 {
			logfile.SameCount(b, want[i])
		}
		if i < 0 || !reflect.DeepEqual(b, want[i]) {
			t.Errorf("%s: backwards, block %d is %+v", path, i, b)
			return
		}
	}
	if i != 0 {
		t.Errorf("%s: backwards ended %d blocks early", path, i)
	}
}

// rollback is the worked example of a whole file, a rollback command of table version 6.
func rollback(t testing.TB) []byte {
	b, err := hex.DecodeString(strings.Join(strings.Fields(`
		23 48 55 44 49 23   00 00 00 00 00 00 00 5b   00 00 00 01   00 00 00 00   00 00 00 03
		00 00 00 00 00 00 00 11 32 30 32 35 30 31 32 36 30 34 30 39 33 36 35 37 38
		00 00 00 03 00 00 00 01 30
		00 00 00 01 00 00 00 11 32 30 32 35 30 31 32 36 30 34 30 38 32 36 38 37 38
		00 00 00 00 00 00 00 00   00 00 00 00   00 00 00 00 00 00 00 61`), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// deletes is a real log file of one delete block.
func deletes(t testing.TB) []byte {
	for _, l := range logfiletest.LogFiles(t, "mor_trips_h0150", false) {
		bs, err := list(t, logfiletest.Open(l.Data, l.Path))
		if err == nil && len(bs) == 1 && bs[0].Type == logfile.DeleteBlock {
			return l.Data
		}
	}
	t.Fatal("no log file with one delete block")
	return nil
}

func TestRollbackExample(t *testing.T) {
	bs, err := list(t, logfiletest.Open(rollback(t), "x"))
	if err != nil || len(bs) != 1 {
		t.Fatal(bs, err)
	}
	b := bs[0]
	if !b.IsRollback() || b.Instant() != "20250126040936578" || b.Target() != "20250126040826878" || b.ContentOffset != 93 || b.ContentSize != 0 || b.End != 105 || b.ReverseLength != 97 || b.BlockSize != 91 || b.SchemaText() != "" {
		t.Errorf("%+v", b)
	}
	var names []string
	for _, s := range b.Layout() {
		names = append(names, s.Name)
	}
	want := []string{"magic", "block size", "format version", "block type", "header count", "header INSTANT_TIME", "header COMMAND_BLOCK_TYPE", "header TARGET_INSTANT_TIME", "content length", "footer count", "reverse length"}
	if !slices.Equal(names, want) {
		t.Errorf("layout %q", names)
	}
}

func cat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// set returns p with other bytes at off.
func set(p []byte, off int, b ...byte) []byte {
	p = bytes.Clone(p)
	copy(p[off:], b)
	return p
}

// TestDoctored is the table of what Hudi 1.2.0 answered on doctored files (spec
// log-format.md section 5), with another real delete block.
func TestDoctored(t *testing.T) {
	cmd, del := rollback(t), deletes(t)
	n := int64(len(del))
	var junk [10]byte
	for i := range junk {
		junk[i] = byte(0x80 + i)
	}
	const C, D, X = "COMMAND_BLOCK", "DELETE_BLOCK", "CORRUPT_BLOCK"
	type row struct {
		typ      string
		from, to int64 // content of a corrupt block, start and end of another
	}
	for _, c := range []struct {
		name string
		in   []byte
		want []row
		tail int64
	}{
		{"nothing", nil, nil, 0},
		{"cmd + del", cat(cmd, del), []row{{C, 0, 105}, {D, 105, 105 + n}}, 0},
		{"500 bytes of del + cmd", cat(del[:500], cmd), []row{{X, 6, 500}, {C, 500, 605}}, 0},
		{"cmd + 500 bytes of del", cat(cmd, del[:500]), []row{{C, 0, 105}, {X, 111, 605}}, 0},
		{"cmd + a magic", cat(cmd, del[:6]), []row{{C, 0, 105}, {X, 111, 111}}, 0},
		{"cmd + a magic + 4 bytes", cat(cmd, del[:10]), []row{{C, 0, 105}, {X, 111, 115}}, 0},
		{"cmd + 3 magic bytes", cat(cmd, del[:3]), []row{{C, 0, 105}}, 3},
		{"cmd + 9 junk bytes", cat(cmd, junk[:9]), []row{{X, 6, 114}}, 0},
		{"cmd + 10 junk bytes + cmd", cat(cmd, junk[:], cmd), []row{{X, 6, 115}, {C, 115, 220}}, 0},
		{"wrong reverse length + cmd", cat(set(del, len(del)-1, del[len(del)-1]^1), cmd), []row{{X, 6, n}, {C, n, n + 105}}, 0},
		{"wrong block size + cmd", cat(set(del, 13, del[13]^1), cmd), []row{{X, 6, n}, {C, n, n + 105}}, 0},
		{"high byte of the size", cat(set(del, 6, 0xff), cmd), []row{{D, 0, n}, {C, n, n + 105}}, 0},
		{"del cut + 3000 zeros + cmd", cat(del[:500], make([]byte, 3000), cmd), []row{{X, 6, 3500}, {C, 3500, 3605}}, 0},
		{"negative 32-bit size + cmd", cat(set(del, 10, 0xff), cmd), []row{{X, 6, n}, {C, n, n + 105}}, 0},
		{"size 0", cat([]byte("#HUDI#"), make([]byte, 40)), []row{{X, 6, 46}}, 0},
	} {
		r := logfiletest.Open(c.in, "doctored.log")
		bs, err := list(t, r)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []row
		for _, b := range bs {
			if b.Damage != nil {
				t.Errorf("%s: %v", c.name, b.Damage)
			}
			if b.Type == logfile.CorruptBlock {
				got = append(got, row{X, b.ContentOffset, b.ContentOffset + b.ContentSize})
			} else {
				got = append(got, row{b.Type.String(), b.Start, b.End})
			}
			checkLayout(t, c.name, b)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: blocks %v, want %v", c.name, got, c.want)
		}
		if len(bs) > 0 {
			if tail, err := r.Tail(ctx, bs[len(bs)-1]); err != nil || tail != c.tail {
				t.Errorf("%s: tail %d %v, want %d", c.name, tail, err, c.tail)
			}
		}
	}
}

// TestDamaged holds blocks whose sizes are right and whose insides are not: Hudi fails on
// them, we show them and go on.
func TestDamaged(t *testing.T) {
	cmd, del := rollback(t), deletes(t)
	for _, c := range []struct {
		name string
		in   []byte
		off  int64
		part string
	}{
		{"format version 0", set(del, 17, 0), 14, "legacy"},
		{"format version 2", set(del, 17, 2), 14, "format version"},
		{"block type 7", set(del, 21, 7), 18, "block type"},
		{"block type 2", set(del, 21, 2), 18, "block type"},
		{"header count", set(del, 22, 0x7f), 22, "header count"},
		{"negative header count", set(del, 22, 0xff), 22, "header count"},
		{"one header entry more", set(del, 25, del[25]+1), -1, ""},
		{"one header entry less", set(del, 25, del[25]-1), -1, ""},
		{"header entry length", set(del, 30, 0x7f), 34, "INSTANT_TIME"},
		{"negative header entry length", set(del, 30, 0xff), 34, "INSTANT_TIME"},
	} {
		for _, in := range [][]byte{c.in, cat(c.in, cmd)} {
			bs, err := list(t, logfiletest.Open(in, "damaged.log"))
			if err != nil || len(bs) != 1+(len(in)-len(c.in))/105 {
				t.Errorf("%s: %d blocks, %v", c.name, len(bs), err)
				continue
			}
			b := bs[0]
			if b.Damage == nil || b.End != int64(len(del)) || b.Type == logfile.CorruptBlock {
				t.Errorf("%s: %+v", c.name, b)
				continue
			}
			if c.off >= 0 && (b.Damage.Offset != c.off || !strings.Contains(b.Damage.Part, c.part)) {
				t.Errorf("%s: %v", c.name, b.Damage)
			}
			checkLayout(t, c.name, b)
			if _, err := logfiletest.Open(in, "").Content(ctx, b); err == nil {
				t.Errorf("%s: the content of a damaged block was read", c.name)
			}
			if len(bs) == 2 && !bs[1].IsRollback() {
				t.Errorf("%s: the block behind was lost", c.name)
			}
		}
	}
	// The content length of a block and what follows it.
	bs, _ := list(t, logfiletest.Open(del, ""))
	at := int(bs[0].ContentOffset) - 8
	for _, x := range [][]byte{{0xff}, {0, 0, 0, 0, 0x7f}, {0, 0, 0, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 0, 0, 0}} {
		bs, err := list(t, logfiletest.Open(set(del, at, x...), "damaged.log"))
		if err != nil || len(bs) != 1 || bs[0].Damage == nil {
			t.Errorf("content length % x: %v %v", x, bs, err)
		}
	}
}

func TestNoMagic(t *testing.T) {
	for _, in := range []string{"PAR1......", "#HUDI!......", "\x00\x00\x00\x00\x00\x00"} {
		bs, err := list(t, logfiletest.Open([]byte(in), "p/x.log"))
		var e *corrupt.Error
		if !errors.As(err, &e) || e.Offset != 0 || e.File != "p/x.log" || e.Try == "" || len(bs) != 0 {
			t.Errorf("%q: %v %v", in, bs, err)
		}
	}
}

// TestMagicAcrossWindows puts the next magic at every place around the border of the
// windows that are searched for it.
func TestMagicAcrossWindows(t *testing.T) {
	cmd := rollback(t)
	for _, border := range []int{4 << 10, 20<<10 - 5, 84<<10 - 10, 340<<10 - 15, 1 << 20, 1364<<10 - 20} {
		for d := -8; d <= 8; d++ {
			in := cat(cmd[:20], bytes.Repeat([]byte{'#'}, border+d-14), cmd)
			bs, err := list(t, logfiletest.Open(in, ""))
			if err != nil || len(bs) != 2 || bs[0].End != int64(border+d+6) || !bs[1].IsRollback() {
				t.Fatalf("at %d: %v %v", border+d, bs, err)
			}
		}
	}
}

// TestHeadersOnly counts what listing the blocks of a large file asks for.
func TestHeadersOnly(t *testing.T) {
	f := &logfiletest.File{}
	long := strings.Repeat("s", 20_000)
	const blocks = 8
	for i := range blocks {
		f.Data(fmt.Sprintf("2026010100000000%d", i), long, [][]byte{make([]byte, 1<<20)})
	}
	o := logfiletest.NewObject(f.Bytes())
	bs, err := list(t, logfile.Open(o, ""))
	if err != nil || len(bs) != blocks {
		t.Fatal(len(bs), err)
	}
	asked, reads := o.Asked.Load(), o.Reads.Load()
	t.Logf("%d bytes in %d reads for a file of %d bytes", asked, reads, len(o.Data))
	if most := int64(blocks * (len(long) + 3*4096)); asked > most || reads > 3*blocks {
		t.Errorf("listing asked for %d bytes in %d reads, more than %d bytes or %d reads", asked, reads, most, 3*blocks)
	}
	// Short headers: one read per block and one for the first.
	f = &logfiletest.File{}
	for i := range blocks {
		f.Data(fmt.Sprintf("2026010100000000%d", i), "{}", [][]byte{make([]byte, 1<<20)})
	}
	o = logfiletest.NewObject(f.Bytes())
	if bs, err = list(t, logfile.Open(o, "")); err != nil {
		t.Fatal(err)
	}
	if reads := o.Reads.Load(); reads != blocks+1 {
		t.Errorf("%d reads for %d blocks", reads, blocks)
	}
	for _, b := range bs {
		before := o.Asked.Load()
		if n, err := logfile.Open(o, "").RecordCount(ctx, b); err != nil || n != 1 {
			t.Error(n, err)
		}
		if d := o.Asked.Load() - before; d != 0 {
			t.Errorf("the record count took %d bytes more", d)
		}
	}
}

// TestHeaderPass holds a pass over the headers, with the counts of records, against the least that any reader
// needs: where a block begins is known only from the one before, so that it takes a request for the
// first and one at each block's end, which brings the next head, too; of small blocks it needs the bytes once.
func TestHeaderPass(t *testing.T) {
	schema := strings.Repeat("s", 700)
	for _, size := range []int{100, 3000, 5000, 60_000, 1 << 20} {
		f := &logfiletest.File{}
		n := min(2000, 16<<20/size)
		for i := range n {
			switch {
			case i%10 == 9:
				var dels []logfiletest.Del
				for k := range size / 20 {
					dels = append(dels, logfiletest.Del{Key: fmt.Sprintf("key-%012d", k)})
				}
				f.Deletes("20260101000000001", schema, dels)
			case i == n/2:
				f.Rollback("20260101000000002", "20260101000000001")
			default:
				f.Data("20260101000000001", schema, [][]byte{make([]byte, size)})
			}
		}
		o := logfiletest.NewObject(f.Bytes())
		r := logfile.Open(o, "")
		least := int64(0) // bytes of frames
		blocks, counted := int64(0), int64(0)
		for b, err := range r.Blocks(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			count, err := r.RecordCount(ctx, b)
			if err != nil {
				t.Fatal(err)
			}
			blocks++
			counted += count
			least += b.End - b.Start - b.ContentSize
		}
		reads, asked := o.Reads.Load(), o.Asked.Load()
		t.Logf("%d blocks with about %d bytes of content: %d reads (least %d), %d bytes (frames %d, file %d)", blocks, size, reads, blocks+1, asked, least, len(o.Data))
		if counted < blocks/2 || blocks != int64(n) {
			t.Errorf("%d blocks, %d records", blocks, counted)
		}
		if reads > blocks+1 {
			t.Errorf("content of %d bytes: %d reads of %d blocks, least %d", size, reads, blocks, blocks+1)
		}
		if most := min(reads*4096, int64(len(o.Data))); asked > most {
			t.Errorf("content of %d bytes: %d bytes asked for, more than %d; frames have %d, the file %d", size, asked, most, least, len(o.Data))
		}
	}
}

// TestBlocksFrom goes on in the middle of a file.
func TestBlocksFrom(t *testing.T) {
	f := &logfiletest.File{}
	for i := range 5 {
		f.Data(fmt.Sprintf("2026010100000000%d", i), "{}", [][]byte{make([]byte, 100)})
	}
	r := logfiletest.Open(f.Bytes(), "")
	all, err := list(t, r)
	if err != nil {
		t.Fatal(err)
	}
	var got []*logfile.Block
	for b, err := range r.BlocksFrom(ctx, all[2].Start, 2) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, b)
	}
	if !reflect.DeepEqual(got, all[2:]) {
		t.Errorf("from block 2: %v", got)
	}
	for _, err := range r.BlocksFrom(ctx, all[2].Start+1, 2) {
		var ce *corrupt.Error
		if !errors.As(err, &ce) || ce.Offset != all[2].Start+1 {
			t.Errorf("where no block begins: %v", err)
		}
	}
}

// sample is three real blocks in one file.
func sample(t testing.TB) []byte {
	var data []byte
	for _, l := range logfiletest.LogFiles(t, "mor_trips_h120", false) {
		if bs, err := list(t, logfiletest.Open(l.Data, "")); err == nil && len(bs) == 1 && bs[0].Type == logfile.AvroDataBlock {
			data = l.Data
			break
		}
	}
	if data == nil {
		t.Fatal("no data block")
	}
	return cat(data, rollback(t), deletes(t))
}

// tile checks that blocks cover the file without gaps, whatever is in it.
func tile(t *testing.T, bs []*logfile.Block, size int64) {
	t.Helper()
	at := int64(0)
	for i, b := range bs {
		if b.Index != i || b.Start != at || b.End <= b.Start || b.End > size || b.ContentOffset < b.Start || b.ContentSize < 0 || b.Damage == nil && b.ContentOffset+b.ContentSize > b.End {
			t.Fatalf("block %d starts at %d where %d is due: %+v", i, b.Start, at, b)
		}
		if (b.Type == logfile.CorruptBlock) != (b.Corruption != nil) {
			t.Fatalf("block %d: %+v", i, b)
		}
		at = b.End
	}
	if size-at > 5 {
		t.Fatalf("the blocks end at %d of %d", at, size)
	}
}

// walk does everything a viewer does with every block of a file; nothing may panic.
func walk(t *testing.T, p []byte) []*logfile.Block {
	r := logfiletest.Open(p, "walk.log")
	bs, err := list(t, r)
	if err != nil {
		if !corrupt.Is(err) {
			t.Fatal(err)
		}
		return bs
	}
	tile(t, bs, int64(len(p)))
	for _, b := range bs {
		b.Layout()
		b.CompactedTimes()
		if s, ok := b.Header.Get(logfile.RecordPositions); ok {
			logfile.DecodePositions(s)
		}
		if _, err := r.RecordCount(ctx, b); err != nil && !corrupt.Is(err) {
			t.Fatal(err)
		}
		content, err := r.Content(ctx, b)
		if err != nil {
			continue
		}
		switch b.Type {
		case logfile.AvroDataBlock, logfile.CDCDataBlock:
			for _, err := range logfile.DataRecords(content, b.ContentOffset) {
				if err != nil && !corrupt.Is(err) {
					t.Fatal(err)
				}
			}
		case logfile.DeleteBlock:
			if _, _, err := logfile.DecodeDeletes(content, b.ContentOffset); err != nil && !corrupt.Is(err) {
				t.Fatal(err)
			}
		}
	}
	for range r.BlocksReverse(ctx) {
	}
	return bs
}

func TestCutEverywhere(t *testing.T) {
	p := sample(t)
	whole, _ := list(t, logfiletest.Open(p, ""))
	for n := range p {
		bs := walk(t, p[:n])
		for i, b := range bs {
			if whole[i].End <= int64(n) {
				if !reflect.DeepEqual(b, whole[i]) {
					t.Fatalf("cut at %d: block %d is %+v", n, i, b)
				}
			} else if b.Type != logfile.CorruptBlock {
				t.Fatalf("cut at %d: block %d, which was cut, is a %s", n, i, b.Type)
			}
		}
	}
}

// TestFlips changes single bits. In the frame's own fields that must be noticed, or change
// nothing; elsewhere it must not bring anything down.
func TestFlips(t *testing.T) {
	p := sample(t)
	whole, _ := list(t, logfiletest.Open(p, ""))
	guarded := map[string]bool{"magic": true, "block size": true, "format version": true, "header count": true, "content length": true, "footer count": true, "reverse length": true}
	flips := 0
	for _, b := range whole {
		for _, s := range b.Layout() {
			if !guarded[s.Name] {
				continue
			}
			for bit := s.Start * 8; bit < s.End*8; bit++ {
				q := bytes.Clone(p)
				q[bit/8] ^= 1 << (bit % 8)
				flips++
				got, err := list(t, logfiletest.Open(q, ""))
				if err != nil {
					continue
				}
				tile(t, got, int64(len(q)))
				noticed := false
				for _, g := range got {
					noticed = noticed || g.Corruption != nil || g.Damage != nil
				}
				if !noticed {
					for i := range got {
						got[i].BlockSize = whole[i].BlockSize // its high half is not used
					}
					if !reflect.DeepEqual(got, whole) {
						t.Fatalf("bit %d of %s went unnoticed", bit, s.Name)
					}
				}
			}
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		q := bytes.Clone(p)
		for range 1 + rnd.IntN(3) {
			q[rnd.IntN(len(q))] = byte(rnd.Uint32())
		}
		walk(t, q)
	}
	t.Log(flips, "bits flipped")
}

func TestContentLimit(t *testing.T) {
	p := deletes(t)
	r := logfiletest.Open(p, "x.log").LimitContent(4)
	bs, err := list(t, r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Content(ctx, bs[0]); err == nil || !strings.Contains(err.Error(), "limit of 4") {
		t.Error(err)
	}
	// A section reads the same bytes in place.
	s := r.Section(bs[0])
	size, _ := s.Size(ctx)
	got := make([]byte, size+3)
	n, err := s.ReadAt(ctx, got, 0)
	if int64(n) != bs[0].ContentSize || err == nil || !bytes.Equal(got[:n], p[bs[0].ContentOffset:][:n]) {
		t.Errorf("section: %d bytes, %v", n, err)
	}
}

func TestCancel(t *testing.T) {
	c, cancel := context.WithCancel(ctx)
	cancel()
	for b, err := range logfiletest.Open(sample(t), "").Blocks(c) {
		if !errors.Is(err, context.Canceled) {
			t.Error(b, err)
		}
	}
}

func TestParseName(t *testing.T) {
	for _, c := range []struct {
		in   string
		want logfile.Name
	}{
		{".036ded81-9ed4-479f-bcea-7145dfa0079b-0_20250126040823628.log.2_1-0-1", logfile.Name{FileID: "036ded81-9ed4-479f-bcea-7145dfa0079b-0", Instant: "20250126040823628", Ext: "log", Version: 2, Token: "1-0-1", Task: "1", Stage: "0", Attempt: "1"}},
		{"a/b/.files-0000-0_00000000000000010.log.1_0-0-0", logfile.Name{FileID: "files-0000-0", Instant: "00000000000000010", Ext: "log", Version: 1, Token: "0-0-0", Task: "0", Stage: "0", Attempt: "0"}},
		{".f_t.log.1_0-28-20.cdc", logfile.Name{FileID: "f", Instant: "t", Ext: "log", Version: 1, Token: "0-28-20", Task: "0", Stage: "28", Attempt: "20", CDC: true}},
		{".f_t.log.12", logfile.Name{FileID: "f", Instant: "t", Ext: "log", Version: 12}},
		{".commits_.archive.1_1-0-1", logfile.Name{FileID: "commits", Ext: "archive", Version: 1, Token: "1-0-1", Task: "1", Stage: "0", Attempt: "1"}},
		{".my_file.x_t.log.1_0-0-0", logfile.Name{FileID: "my_file.x", Instant: "t", Ext: "log", Version: 1, Token: "0-0-0", Task: "0", Stage: "0", Attempt: "0"}},
		{".my_file_t.log.1_0-0-0", logfile.Name{FileID: "my", Instant: "file_t", Ext: "log", Version: 1, Token: "0-0-0", Task: "0", Stage: "0", Attempt: "0"}},
	} {
		got, ok := logfile.ParseName(c.in)
		if !ok || got != c.want {
			t.Errorf("%s: %+v %v", c.in, got, ok)
		}
		if s := got.String(); !strings.HasSuffix(c.in, s) {
			t.Errorf("%s: written back as %s", c.in, s)
		}
	}
	for _, in := range []string{"", ".", "f_t.log.1_0-0-0", ".f_t.log.1_0-0-0.crc", "._f_t.log.1_0-0-0", ".f_t.log.1_0-0", ".f_t.log.", ".f_t.log", ".f.log.1", "._.log.1",
		".f_t.log.99999999999_0-0-0", ".f_t.log.1_0-0-0.cdc.crc", ".f_t.log.1.cdc", ".f_t.parquet", ".hoodie_partition_metadata", ".f_t.log.1_0-0-0 ", ".f_t.log.-1"} {
		if n, ok := logfile.ParseName(in); ok {
			t.Errorf("%q is taken for a log file: %+v", in, n)
		}
	}
}

func TestCompare(t *testing.T) {
	want := []string{".f_1.log.1", ".f_1.log.1_1-1-1", ".f_1.log.1_1-1-1.cdc", ".f_1.log.1_10-1-1", ".f_1.log.1_2-1-1", ".f_1.log.2_1-0-1", ".f_1.log.10_1-0-1", ".f_10.log.1_0-0-0", ".f_2.log.1_0-0-0"}
	names := make([]logfile.Name, len(want))
	for i, w := range want {
		var ok bool
		if names[i], ok = logfile.ParseName(w); !ok {
			t.Fatal(w)
		}
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		rnd.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		sort.Slice(names, func(i, j int) bool { return logfile.Compare(names[i], names[j]) < 0 })
		for i, w := range want {
			if names[i].String() != w {
				t.Fatalf("place %d: %s, want %s", i, names[i], w)
			}
		}
	}
}

func TestDataRecordsRefuses(t *testing.T) {
	good := logfiletest.DataContent([]byte("abc"), nil, []byte("de"))
	var got []string
	for r, err := range logfile.DataRecords(good, 1000) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d@%d %s", r.Index, r.Offset, r.Data))
	}
	if !slices.Equal(got, []string{"0@1012 abc", "1@1019 ", "2@1023 de"}) {
		t.Error(got)
	}
	for _, c := range []struct {
		name string
		in   []byte
		off  int64
	}{
		{"empty", nil, 1000},
		{"version 0", set(good, 3, 0), 1000},
		{"version 4", set(good, 3, 4), 1000},
		{"negative count", set(good, 4, 0xff), 1004},
		{"huge count", set(good, 4, 0x7f), 1004},
		{"one record more", set(good, 7, 4), 1025},
		{"one record less", set(good, 7, 2), 1019},
		{"record too long", set(good, 22, 3), 1019},
		{"negative length", set(good, 8, 0x80), 1008},
		{"cut", good[:len(good)-1], 1019},
	} {
		var err error
		for _, err = range logfile.DataRecords(c.in, 1000) {
		}
		var e *corrupt.Error
		if !errors.As(err, &e) || e.Offset != c.off {
			t.Errorf("%s: %v, want an error at %d", c.name, err, c.off)
		}
	}
}

func benchFile(b *testing.B) []byte {
	f := &logfiletest.File{}
	for i := range 200 {
		f.Data(fmt.Sprintf("20260101%09d", i), strings.Repeat("x", 900), [][]byte{make([]byte, 20_000)})
	}
	return f.Bytes()
}

func BenchmarkBlocks(b *testing.B) {
	p := benchFile(b)
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	for b.Loop() {
		if bs, err := list(b, logfiletest.Open(p, "")); err != nil || len(bs) != 200 {
			b.Fatal(err)
		}
	}
}

func FuzzBlocks(f *testing.F) {
	f.Add(rollback(f))
	f.Add(deletes(f))
	f.Add(sample(f))
	f.Add(cat(rollback(f), []byte("#HUDI#"), rollback(f)))
	f.Add(set(deletes(f), 21, 7))
	for _, k := range hostile() {
		f.Add(cat(rollback(f), k.make(40), rollback(f)))
	}
	f.Fuzz(func(t *testing.T, p []byte) { walk(t, p) })
}

func FuzzParseName(f *testing.F) {
	for _, s := range []string{".f_t.log.1_0-28-20.cdc", ".my_file.x_t.log.1_0-0-0", ".commits_.archive.1_1-0-1", "._x_1.log.1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := logfile.ParseName(s)
		if !ok {
			return
		}
		m, ok := logfile.ParseName(n.String())
		if !ok || m != n || logfile.Compare(m, n) != 0 {
			t.Fatalf("%q: %+v is written %q and read %+v", s, n, n.String(), m)
		}
	})
}
