package metatable_test

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"testing"

	"hudiscope/core/config"
	"hudiscope/core/corrupt"
	"hudiscope/core/hfile"
	"hudiscope/core/hfile/hfiletest"
	"hudiscope/core/metatable"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
	"hudiscope/core/timeline"
)

var tables = []string{"mdt_full_h120", "mdt_full_h102", "mdt_full_h0150", "mdt_types_h120"}

func scan(t testing.TB, m *metatable.Table, partition string) []*metatable.Record {
	t.Helper()
	var out []*metatable.Record
	for r, err := range m.Scan(context.Background(), partition, nil) {
		if err != nil {
			t.Fatalf("%s: %v", partition, err)
		}
		out = append(out, r)
	}
	return out
}

func texts(list []*metatable.Record) string {
	var out []string
	for _, r := range list {
		out = append(out, r.FileID+" "+string(r.AppendJSON(nil)))
	}
	return strings.Join(out, "\n")
}

// TestLookups holds look-ups by key and by prefix, and scans that begin in the middle, against whole scans.
func TestLookups(t *testing.T) {
	ctx := context.Background()
	looked := 0
	for _, name := range tables {
		m := open(t, tabletest.Open(t, name))
		parts, err := m.Partitions(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			all := scan(t, m, p.Name)
			collect := func(seq func(func(*metatable.Record, error) bool)) []*metatable.Record {
				var out []*metatable.Record
				for r, err := range seq {
					if err != nil {
						t.Fatalf("%s/%s: %v", name, p.Name, err)
					}
					out = append(out, r)
				}
				return out
			}
			var keys []string
			for i, r := range all {
				keys = append(keys, r.Key, r.Key+"~")
				var stats metatable.Stats
				got := collect(m.Get(ctx, p.Name, []string{r.Key}, &stats))
				if texts(got) != texts(all[i:i+1]) || stats.Groups != 1 {
					t.Errorf("%s/%s: Get %q: %d file groups read, got %s", name, p.Name, r.Key, stats.Groups, texts(got))
				}
				looked++
				if i%7 == 0 {
					after := collect(m.ScanAfter(ctx, p.Name, r.FileID, r.Key, nil))
					if texts(after) != texts(all[i+1:]) {
						t.Errorf("%s/%s: %d records after %d of %d", name, p.Name, len(after), i, len(all))
					}
				}
				prefix := r.Key[:min(12, len(r.Key))]
				var want []*metatable.Record
				for _, x := range all {
					if strings.HasPrefix(x.Key, prefix) {
						want = append(want, x)
					}
				}
				if got := collect(m.Prefix(ctx, p.Name, prefix, nil)); texts(got) != texts(want) {
					t.Errorf("%s/%s: prefix %q: %d records, want %d", name, p.Name, prefix, len(got), len(want))
				}
			}
			if got := collect(m.Get(ctx, p.Name, keys, nil)); texts(got) != texts(all) {
				t.Errorf("%s/%s: Get of all keys gives %d of %d", name, p.Name, len(got), len(all))
			}
		}
	}
	t.Logf("%d look-ups", looked)
	if looked < 500 {
		t.Errorf("only %d look-ups", looked)
	}
}

// TestIndexesAgree holds the indexes of a table against each other: a record's location names a file
// group whose bloom filter and key bounds admit the record, and a secondary entry leads to a record.
func TestIndexesAgree(t *testing.T) {
	ctx := context.Background()
	m := open(t, tabletest.Open(t, "mdt_full_h120"))
	l, err := m.Listing(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	asked := 0
	for _, r := range scan(t, m, "record_index") {
		keys[r.Key] = true
		found := false
		for _, e := range l.Files[*r.Location.Partition] {
			if !strings.HasPrefix(e.Name, r.Location.FileID()+"_") || !strings.HasSuffix(e.Name, ".parquet") {
				continue
			}
			for b, err := range m.Get(ctx, "bloom_filters", []string{metatable.BloomFilterKey(*r.Location.Partition, e.Name)}, nil) {
				if err != nil {
					t.Fatal(err)
				}
				f, err := b.Bloom.Filter()
				if err != nil {
					t.Fatal(err)
				}
				found = found || f.MayContain([]byte(r.Key))
				asked++
			}
			for s, err := range m.Get(ctx, "column_stats", []string{metatable.ColumnStatsKey("_hoodie_record_key", *r.Location.Partition, e.Name)}, nil) {
				if err != nil {
					t.Fatal(err)
				}
				if *s.Stats.FileName != e.Name || *s.Stats.Column != "_hoodie_record_key" {
					t.Errorf("%s: statistics of %s of %s", e.Name, *s.Stats.Column, *s.Stats.FileName)
				}
				asked++
			}
		}
		if !found {
			t.Logf("%s is in no base file of %s: in its logs", r.Key, r.Location.FileID())
		}
	}
	if asked < 20 {
		t.Errorf("only %d index records looked up", asked)
	}
	n := 0
	for _, r := range scan(t, m, "secondary_index_idx_rider") {
		v, k, ok := metatable.SplitSecondaryKey(r.Key)
		if !ok || v == nil || !keys[k] {
			t.Errorf("secondary key %q", r.Key)
			continue
		}
		found := false
		for s, err := range m.Prefix(ctx, "secondary_index_idx_rider", metatable.SecondaryPrefix(v), nil) {
			if err != nil {
				t.Fatal(err)
			}
			found = found || s.Key == r.Key
		}
		if !found {
			t.Errorf("the prefix of %q does not find it", r.Key)
		}
		n++
	}
	if n != 15 {
		t.Errorf("%d secondary entries", n)
	}
}

// counting counts the bytes read and the directories listed.
type counting struct {
	storage.Source
	mu    sync.Mutex
	bytes map[string]int64
	lists []string
}

func (c *counting) List(ctx context.Context, dir string) (storage.Listing, error) {
	c.mu.Lock()
	c.lists = append(c.lists, dir)
	c.mu.Unlock()
	return c.Source.List(ctx, dir)
}

func (c *counting) Open(ctx context.Context, path string) (storage.Object, error) {
	o, err := c.Source.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return &countingObject{o, c, path}, nil
}

type countingObject struct {
	storage.Object
	c    *counting
	path string
}

func (o *countingObject) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	o.c.mu.Lock()
	o.c.bytes[o.path] += int64(len(p))
	o.c.mu.Unlock()
	return o.Object.ReadAt(ctx, p, off)
}

// TestLookupReads counts what a look-up asks for: one folder, the files of one file group, and of a
// large base file one block.
func TestLookupReads(t *testing.T) {
	ctx := context.Background()
	src := tabletest.Open(t, "mdt_full_h120")
	// A base file of 50,000 records, in the place of the first file group's: its schema, and the
	// values of one of its records under many keys.
	const dir = ".hoodie/metadata/expr_index_idx_day/"
	var base, other string
	for _, p := range src.Paths() {
		if strings.HasPrefix(p, dir) && strings.HasSuffix(p, ".hfile") {
			if strings.Contains(p, "-0000-0_") {
				base = p
			} else {
				other = p
			}
		}
	}
	o, err := src.Open(ctx, base)
	if err != nil {
		t.Fatal(err)
	}
	f, err := hfile.Open(ctx, o, base, 0)
	if err != nil {
		t.Fatal(err)
	}
	var value []byte
	for c := range f.Scan(ctx) {
		value = c.Value
	}
	var cells []hfiletest.Cell
	for i := range 100000 {
		if k := fmt.Sprintf("%08d", i); metatable.Shard(k, 2) == 0 {
			cells = append(cells, hfiletest.Cell{Key: []byte(k), Value: value})
		}
	}
	big := hfiletest.Write(cells, hfiletest.Options{Codec: hfile.GZ, BlockCells: 200, Info: map[string]string{"schema": f.SchemaText()}})
	src.Put(base, big)
	c := &counting{Source: src, bytes: map[string]int64{}}
	m := open(t, c)
	c.lists, c.bytes = nil, map[string]int64{}
	var stats metatable.Stats
	n := 0
	for r, err := range m.Get(ctx, "expr_index_idx_day", []string{string(cells[12345].Key)}, &stats) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Key != string(cells[12345].Key) || r.Stats == nil {
			t.Errorf("%s", r.AppendJSON(nil))
		}
		n++
	}
	if n != 1 {
		t.Fatalf("%d records", n)
	}
	if len(c.lists) != 1 || c.lists[0] != strings.TrimSuffix(dir, "/") {
		t.Errorf("listed %v", c.lists)
	}
	if stats.Groups != 1 || c.bytes[other] != 0 {
		t.Errorf("%d file groups read, %d bytes of the other one", stats.Groups, c.bytes[other])
	}
	open := int64(len(big)) - trailerOf(t, big).LoadOnOpen
	if got := c.bytes[base]; got > open+4000 || got < open {
		t.Errorf("a look-up asked for %d bytes of a base file of %d; opening it needs %d", got, len(big), open)
	}
	for p, n := range c.bytes {
		if p != base && !strings.Contains(p, "/expr-index-idx-day-0000-0") && !strings.Contains(p, ".expr-index-idx-day-0000-0") && !strings.Contains(p, "/timeline/") && !strings.Contains(p, ".index_defs/") {
			t.Errorf("%d bytes of %s were read", n, p)
		}
	}
}

func trailerOf(t *testing.T, p []byte) hfile.Trailer {
	src := tabletest.New("x")
	src.Put("f", p)
	o, _ := src.Open(context.Background(), "f")
	f, err := hfile.Open(context.Background(), o, "f", 0)
	if err != nil {
		t.Fatal(err)
	}
	return f.Trailer()
}

// TestValidInstants makes a commit of the data table unfinished: what the metadata table already says of
// it must not be seen.
func TestValidInstants(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"mdt_full_h120", "mdt_full_h0150"} {
		src := tabletest.Open(t, name)
		m := open(t, src)
		last := m.DataTimeline.Commits().Completed().Last()
		before := fileNames(t, m)
		src.Remove(last.File.Path)
		m = open(t, src)
		var stats metatable.Stats
		for _, err := range m.Scan(ctx, "files", &stats) {
			if err != nil {
				t.Fatal(err)
			}
		}
		after := fileNames(t, m)
		if len(stats.Notes) == 0 || !strings.Contains(strings.Join(stats.Notes, "\n"), ".files-0000-0") {
			t.Errorf("%s: no note about the blocks of %s: %v", name, last.Requested, stats.Notes)
		}
		gone := 0
		for n := range before {
			if !after[n] {
				gone++
			}
		}
		for n := range after {
			if !before[n] {
				t.Errorf("%s: %s came with an unfinished commit", name, n)
			}
		}
		if gone == 0 {
			t.Errorf("%s: the files of the unfinished commit %s are listed", name, last.Requested)
		}
	}
}

func fileNames(t testing.TB, m *metatable.Table) map[string]bool {
	t.Helper()
	l, err := m.Listing(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for p, list := range l.Files {
		for _, e := range list {
			out[p+"/"+e.Name] = true
		}
	}
	return out
}

func TestStates(t *testing.T) {
	ctx := context.Background()
	src := tabletest.Open(t, "mdt_full_h120")
	const file = ".hoodie/hoodie.properties"
	text := string(src.Bytes(file))
	text = strings.Replace(text, "partitions=bloom_filters,column_stats,", "partitions=column_stats,nowhere,", 1)
	text = strings.Replace(text, "partitions.inflight=", "partitions.inflight=bloom_filters", 1)
	src.Put(file, []byte(text))
	m := open(t, src)
	parts, err := m.Partitions(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]metatable.State{}
	for _, p := range parts {
		got[p.Name] = p.State
	}
	if got["bloom_filters"] != metatable.Inflight || got["files"] != metatable.Ready || got["nowhere"] != metatable.Ready || len(got) != 8 {
		t.Errorf("%v", got)
	}
	if ok, _ := m.Trusted(); !ok {
		t.Error("the files partition is ready")
	}
	for _, bad := range []string{"nowhere", "", "..", "a/b", ".hoodie"} {
		var a *metatable.Absent
		for _, err := range m.Scan(ctx, bad, nil) {
			if !errors.As(err, &a) {
				t.Errorf("%q: %v", bad, err)
			}
		}
		if a == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	src.Put(file, []byte(strings.Replace(text, ",files,", ",", 1)))
	m = open(t, src)
	if ok, why := m.Trusted(); ok || why == "" {
		t.Errorf("files is not named: %v %q", ok, why)
	}
	if p := m.Partition("files"); p.State != metatable.Unlisted {
		t.Errorf("%+v", p)
	}
}

// TestDamage flips bytes in the files of a metadata table: an error with the file, or the same records.
func TestDamage(t *testing.T) {
	ctx := context.Background()
	src := tabletest.Open(t, "mdt_types_h120")
	want := texts(scan(t, open(t, src), "column_stats"))
	errs := 0
	for _, p := range src.Paths() {
		if !strings.HasPrefix(p, ".hoodie/metadata/column_stats/") || strings.HasSuffix(p, "_metadata") {
			continue
		}
		whole := src.Bytes(p)
		for i := 0; i < len(whole); i += 97 {
			b := append([]byte{}, whole...)
			b[i] ^= 0x41
			src.Put(p, b)
			var got []*metatable.Record
			var err error
			for r, e := range open(t, src).Scan(ctx, "column_stats", nil) {
				if err = e; e == nil {
					got = append(got, r)
				}
			}
			if err != nil {
				errs++
				var u *hfile.Unsupported
				if !corrupt.Is(err) && !errors.As(err, &u) || !strings.Contains(err.Error(), ".hoodie/metadata/") {
					t.Fatalf("%s byte %d: %v", p, i, err)
				}
				continue
			}
			// A damaged frame makes a corrupt block, which is passed over as Hudi does.
			if g := texts(got); g != want && len(got) >= strings.Count(want, "\n")+1 {
				t.Fatalf("%s byte %d: other records without an error", p, i)
			}
		}
		src.Put(p, whole)
	}
	if errs == 0 {
		t.Error("no change was noticed")
	}
}

func TestMemoryBound(t *testing.T) {
	ctx := context.Background()
	src := tabletest.Open(t, "mdt_full_h120")
	cfg, err := config.Load(ctx, src, "")
	if err != nil {
		t.Fatal(err)
	}
	tl, err := timeline.Load(ctx, src, cfg)
	if err != nil {
		t.Fatal(err)
	}
	m, err := metatable.Open(ctx, src, cfg, tl, metatable.Options{LogBytes: 10000})
	if err != nil {
		t.Fatal(err)
	}
	last := error(nil)
	for _, err := range m.Scan(ctx, "column_stats", nil) {
		last = err
	}
	if !errors.Is(last, metatable.ErrLogBytes) {
		t.Errorf("a scan in 10,000 bytes: %v", last)
	}
	// One key fits.
	keys := []string{}
	for _, r := range scan(t, open(t, src), "column_stats") {
		keys = append(keys, r.Key)
	}
	sort.Strings(keys)
	n := 0
	for _, err := range m.Get(ctx, "column_stats", keys[:1], nil) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 1 {
		t.Errorf("%d records", n)
	}
}
