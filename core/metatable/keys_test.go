package metatable

import (
	"encoding/hex"
	"fmt"
	"testing"

	"hudiscope/core/filegroup"
)

// TestHashes holds the hashes against those of real keys (spec metadata-table.md section 4), and XXH64
// against its published values.
func TestHashes(t *testing.T) {
	for in, want := range map[string]string{"currency": "/m6lxu4Dh5w=", "merchant_name": "0FD2vn2+Kvk=", "_hoodie_commit_time": "JBBzUToHtLc=", "region=eu": "bOOVnCDQlm8=", ".": "FXThHwelITM="} {
		if got := H64(in); got != want {
			t.Errorf("H64(%q) = %s, want %s", in, got, want)
		}
	}
	if got := H128("c7bbe63e-fa43-40ba-94a9-03158165edc6-0_1-27-53_20260307162434124.parquet"); got != "W7RhzS2IFnrW7FlqIkFJUw==" {
		t.Errorf("H128 = %s", got)
	}
	if got := ColumnStatsKey("currency", "region=us", "c7bbe63e-fa43-40ba-94a9-03158165edc6-0_1-27-53_20260307162434124.parquet"); got != "/m6lxu4Dh5w=431THTTwO5Q=W7RhzS2IFnrW7FlqIkFJUw==" {
		t.Errorf("ColumnStatsKey = %s", got)
	}
	for in, want := range map[string]uint64{"": 0xef46db3751d8e999, "a": 0xd24ec4f1a98c6e5b, "abc": 0x44bc2cf5ad770999,
		"Nobody inspects the spammish repetition": 0xfbcea83c8a378bf1} {
		if got := xxh64(in, 0); got != want {
			t.Errorf("xxh64(%q) = %x, want %x", in, got, want)
		}
	}
}

func TestShard(t *testing.T) {
	for _, c := range []struct {
		key  string
		n    int
		want int
	}{{"TXN-009", 10, 0}, {"TXN-001", 10, 8}, {"Spotify$", 10, 0}, {"19743$", 10, 0}, {"anything", 1, 0}, {"", 7, 0},
		// "polygenelubricants" hashes to the least int, whose absolute value is itself.
		{"polygenelubricants", 10, 8}, {"polygenelubricants", 8, 0}} {
		if got := Shard(c.key, c.n); got != c.want {
			t.Errorf("Shard(%q, %d) = %d, want %d", c.key, c.n, got, c.want)
		}
	}
}

func TestSecondaryKeys(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		value *string
		key   string
		want  string
	}{{text("rider-A"), "trip-1", "rider-A$trip-1"}, {text(""), "k", "$k"}, {nil, "k", "\x00$k"}, {text("a$b\\c"), "x$y", "a\\$b\\\\c$x\\$y"}, {text("\x00"), "k", "\\\x00$k"}} {
		got := SecondaryKey(c.value, c.key)
		if got != c.want {
			t.Errorf("SecondaryKey(%v, %q) = %q, want %q", c.value, c.key, got, c.want)
		}
		v, k, ok := SplitSecondaryKey(got)
		if !ok || k != c.key || (v == nil) != (c.value == nil) || v != nil && *v != *c.value {
			t.Errorf("SplitSecondaryKey(%q) = %v, %q, %v", got, v, k, ok)
		}
	}
	if _, _, ok := SplitSecondaryKey(`no\$separator`); ok {
		t.Error("a key without a separator was split")
	}
}

func FuzzSecondaryKey(f *testing.F) {
	f.Add("a$b", `c\`)
	f.Fuzz(func(t *testing.T, value, key string) {
		v, k, ok := SplitSecondaryKey(SecondaryKey(&value, key))
		if !ok || v == nil || *v != value || k != key {
			t.Errorf("%q %q: %v %q %v", value, key, v, k, ok)
		}
	})
}

func TestFamilies(t *testing.T) {
	group := func(ids ...string) (out []*filegroup.Slice) {
		for _, id := range ids {
			out = append(out, &filegroup.Slice{FileID: id})
		}
		return out
	}
	for _, c := range []struct {
		ids  []string
		want string
	}{
		{[]string{"files-0000-0"}, "[[0]]"},
		{[]string{"files-0000"}, "[[0]]"}, // up to 0.13
		{[]string{"col-stats-0000-0", "col-stats-0001-0"}, "[[0 1]]"},
		{[]string{"record-index-eu-0000-0", "record-index-eu-0001-0", "record-index-us-0000-0"}, "[[0 1] [2]]"},
		{[]string{"col-stats-0000-0", "col-stats-0002-0"}, "[[]]"}, // one is missing
		{[]string{"odd"}, "[[]]"},
	} {
		got := [][]int{}
		for _, f := range families(group(c.ids...)) {
			got = append(got, append([]int{}, f.byShard...))
			if len(f.byShard) == 0 && len(f.of("x")) != len(c.ids) {
				t.Errorf("%v: a look-up asks %v", c.ids, f.of("x"))
			}
		}
		if s := fmt.Sprint(got); s != c.want {
			t.Errorf("%v: %s, want %s", c.ids, s, c.want)
		}
	}
}

// TestMerge holds the rules of every record type (spec metadata-table.md section 3.3).
func TestMerge(t *testing.T) {
	num := func(x int64) *int64 { return &x }
	yes, no := true, false
	file := func(name string, size int64, deleted bool) FileEntry { return FileEntry{name, size, deleted} }
	files := func(e ...FileEntry) *Record { return &Record{Key: "p", Type: FileList, Files: e} }
	stats := func(lo, hi int64, tight *bool) *Record {
		return &Record{Key: "c", Type: PartitionStat, Stats: &ColumnStats{Min: Bound{Wrapper: LongWrapper, Int: lo}, Max: Bound{Wrapper: LongWrapper, Int: hi}, ValueCount: num(10), NullCount: num(1), TightBound: tight}}
	}
	show := func(r *Record) string {
		if r = r.live(); r == nil {
			return "nothing"
		}
		return string(r.AppendJSON(nil))
	}
	for _, c := range []struct {
		name string
		o, n *Record
		want *Record
	}{
		{"a file list grows", files(file("a", 1, false)), files(file("b", 2, false)), files(file("a", 1, false), file("b", 2, false))},
		{"a file grows", files(file("a", 1, false)), files(file("a", 5, false)), files(file("a", 5, false))},
		{"a file keeps its greater size", files(file("a", 5, false)), files(file("a", 1, false)), files(file("a", 5, false))},
		{"a file is deleted", files(file("a", 1, false), file("b", 1, false)), files(file("a", 0, true)), files(file("b", 1, false))},
		{"a deleted file comes again", files(file("a", 0, true)), files(file("a", 7, false)), files(file("a", 7, false))},
		{"a spurious delete", files(file("b", 1, false)), files(file("a", 0, true)), files(file("b", 1, false))},
		{"a delete block", files(file("b", 1, false)), &Record{Key: "p", gone: true}, nil},
		{"a row after a delete", &Record{Key: "p", gone: true}, files(file("b", 1, false)), files(file("b", 1, false))},
		{"bounds widen", stats(1, 5, &no), stats(3, 9, &no), &Record{Key: "c", Type: PartitionStat, Stats: &ColumnStats{Min: Bound{Wrapper: LongWrapper, Int: 1}, Max: Bound{Wrapper: LongWrapper, Int: 9}, ValueCount: num(20), NullCount: num(2), TightBound: &no}}},
		{"a tight bound wins", stats(1, 5, &no), stats(3, 4, &yes), stats(3, 4, &yes)},
		{"deleted statistics", stats(1, 5, &no), &Record{Key: "c", Type: PartitionStat, Stats: &ColumnStats{Deleted: true}}, nil},
		{"the newest location", &Record{Key: "k", Type: RecordIndexRow, Location: &Location{HighBits: num(1)}}, &Record{Key: "k", Type: RecordIndexRow, Location: &Location{HighBits: num(2)}}, &Record{Key: "k", Type: RecordIndexRow, Location: &Location{HighBits: num(2)}}},
		{"a secondary tombstone", &Record{Key: "k", Type: SecondaryRow, Secondary: &Secondary{}}, &Record{Key: "k", Type: SecondaryRow, Secondary: &Secondary{Deleted: true}}, nil},
		{"a deleted bloom filter", &Record{Key: "k", Type: BloomFilterRow, Bloom: &BloomFilter{}}, &Record{Key: "k", Type: BloomFilterRow, Bloom: &BloomFilter{Deleted: true}}, nil},
	} {
		want := "nothing"
		if c.want != nil {
			want = show(c.want)
		}
		if got := show(merge(c.o, c.n)); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, want)
		}
	}
}

func TestCompareBounds(t *testing.T) {
	dec := func(info string) *ColumnStats { return &ColumnStats{ValueType: &ValueType{Ordinal: 10, Info: info}} }
	raw := func(h string) []byte { b, _ := hex.DecodeString(h); return b }
	for _, c := range []struct {
		os, ns *ColumnStats
		o, n   Bound
		want   int
	}{
		// 89.99 and 5000.00 at scale 2; -1 and 0; 1.5 at scale 1 and 1.49 at scale 2.
		{dec("15,2"), dec("15,2"), Bound{Wrapper: BytesWrapper, Bytes: raw("2327")}, Bound{Wrapper: BytesWrapper, Bytes: raw("07a120")}, -1},
		{dec("15,2"), dec("15,2"), Bound{Wrapper: BytesWrapper, Bytes: raw("ff")}, Bound{Wrapper: BytesWrapper, Bytes: raw("00")}, -1},
		{dec("5,1"), dec("5,2"), Bound{Wrapper: BytesWrapper, Bytes: raw("0f")}, Bound{Wrapper: BytesWrapper, Bytes: raw("0095")}, 1},
		{&ColumnStats{}, &ColumnStats{}, Bound{Wrapper: BytesWrapper, Bytes: raw("ff")}, Bound{Wrapper: BytesWrapper, Bytes: raw("00")}, 1},
		{&ColumnStats{}, &ColumnStats{}, Bound{Wrapper: DecimalWrapper, Bytes: raw("ff")}, Bound{Wrapper: DecimalWrapper, Bytes: raw("00")}, -1},
		{&ColumnStats{}, &ColumnStats{}, Bound{Wrapper: IntWrapper, Int: 3}, Bound{Wrapper: DoubleWrapper, Float: 2.5}, 1},
		{&ColumnStats{}, &ColumnStats{}, Bound{Wrapper: StringWrapper, Bytes: []byte("a")}, Bound{Wrapper: StringWrapper, Bytes: []byte("é")}, -1},
	} {
		if got := compareBounds(c.os, c.ns, c.o, c.n); got != c.want {
			t.Errorf("%+v, %+v: %d, want %d", c.o, c.n, got, c.want)
		}
	}
}

// TestBoundValues holds decoded bounds against the examples of spec metadata-table.md section 5.1.
func TestBoundValues(t *testing.T) {
	for _, c := range []struct {
		t    *ValueType
		b    Bound
		want string
	}{
		{&ValueType{Ordinal: 10, Info: "15,2"}, Bound{Wrapper: BytesWrapper, Bytes: []byte{0x23, 0x27}}, `"89.99"`},
		{&ValueType{Ordinal: 10, Info: "15,2"}, Bound{Wrapper: BytesWrapper, Bytes: []byte{0x07, 0xa1, 0x20}}, `"5000.00"`},
		{&ValueType{Ordinal: 12}, Bound{Wrapper: IntWrapper, Int: 19738}, `"2024-01-16"`},
		{&ValueType{Ordinal: 16}, Bound{Wrapper: LongWrapper, Int: 1705392900000000}, `"2024-01-16T08:15:00.000000Z"`},
		{&ValueType{Ordinal: 4}, Bound{Wrapper: LongWrapper, Int: 7}, `7`},
		{&ValueType{Ordinal: 2}, Bound{Wrapper: BooleanWrapper, Int: 1}, `true`},
		{nil, Bound{Wrapper: DateWrapper, Int: 19738}, `"2024-01-16"`},
		{nil, Bound{Wrapper: DecimalWrapper, Bytes: []byte{0x03, 0x8d, 0x7e, 0xa4, 0xc6, 0x80, 0x00}}, `"1.000000000000000"`},
		{nil, Bound{Wrapper: LongWrapper, Int: 1705392900000}, `1705392900000`}, // may be a timestamp: shown as stored
		{nil, Bound{}, `null`},
		{nil, Bound{Wrapper: ArrayWrapper, List: []Bound{{Wrapper: IntWrapper, Int: 1}, {Wrapper: StringWrapper, Bytes: []byte("x")}}}, `[1,"x"]`},
	} {
		if got := string(c.b.AppendValue(nil, c.t)); got != c.want {
			t.Errorf("%s %+v: %s, want %s", c.t, c.b, got, c.want)
		}
	}
}

// TestFileID is the example of spec metadata-table.md section 5.4.
func TestFileID(t *testing.T) {
	hi, lo, i := int64(7542102574834208528), int64(-6655049365384527767), int64(0)
	if got := (&Location{HighBits: &hi, LowBits: &lo, FileIndex: &i}).FileID(); got != "68aaee55-008d-4f10-a3a4-83dcb5910069-0" {
		t.Errorf("%s", got)
	}
	i = -1
	if got := (&Location{HighBits: &hi, LowBits: &lo, FileIndex: &i}).FileID(); got != "68aaee55-008d-4f10-a3a4-83dcb5910069" {
		t.Errorf("%s", got)
	}
	text := "some-id"
	if got := (&Location{Encoding: 1, FileIDText: &text}).FileID(); got != text {
		t.Errorf("%s", got)
	}
}
