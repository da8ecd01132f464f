package groupreader_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"hudiscope/core/groupreader"
	"hudiscope/core/logfile"
	"hudiscope/core/logfile/logfiletest"
	"hudiscope/core/logscan"
	"hudiscope/core/merge"
	"hudiscope/core/release"
	"hudiscope/core/schema"
	"hudiscope/core/spill"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
)

const (
	metaFields = `{"name":"_hoodie_commit_time","type":["null","string"],"default":null},{"name":"_hoodie_record_key","type":["null","string"],"default":null}`
	dataFields = `{"name":"ts","type":["null","long"],"default":null},{"name":"name","type":["null","string"],"default":null},{"name":"price","type":["null","double"],"default":null},{"name":"_hoodie_is_deleted","type":["null","boolean"],"default":null}`
	baseFile   = "f_0-0-0_001.parquet"
)

func record(fields ...string) string {
	return `{"type":"record","name":"r","fields":[` + strings.Join(fields, ",") + `]}`
}

var fullSchema = record(metaFields, dataFields)

// baseRow is a row of the base file; nil is null.
type baseRow struct {
	Commit  *string  `parquet:"_hoodie_commit_time,optional"`
	Key     *string  `parquet:"_hoodie_record_key,optional"`
	TS      *int64   `parquet:"ts,optional"`
	Name    *string  `parquet:"name,optional"`
	Price   *float64 `parquet:"price,optional"`
	Deleted *bool    `parquet:"_hoodie_is_deleted,optional"`
}

func base(key string, ts int64, name string, price float64) baseRow {
	c := "001"
	return baseRow{Commit: &c, Key: &key, TS: &ts, Name: &name, Price: &price}
}

// slice is a file slice in memory.
type slice struct {
	files *tabletest.Files
	s     groupreader.Slice
	o     groupreader.Options
	// inMemory is set when the rows are others by key than by position.
	inMemory bool
}

// newSlice makes a slice in event time ordering by ts; without rows it has no base file.
func newSlice(t testing.TB, rows ...baseRow) *slice {
	t.Helper()
	typ, err := schema.Parse([]byte(fullSchema))
	if err != nil {
		t.Fatal(err)
	}
	s := &slice{files: tabletest.New("mem"), s: groupreader.Slice{FileID: "f", BaseInstant: "001"}}
	s.o = groupreader.Options{Reader: typ, Ordering: []string{"ts"}, Rules: merge.Rules{Mode: merge.EventTime, HasOrdering: true},
		Open: func(ctx context.Context, path string) (storage.Object, error) { return s.files.Open(ctx, path) }}
	if len(rows) > 0 {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[baseRow](&b)
		if _, err := w.Write(rows); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		s.files.Put(baseFile, b.Bytes())
		s.s.Base = baseFile
	}
	return s
}

// log adds log file number n.
func (s *slice) log(n int, f *logfiletest.File) *slice {
	name := fmt.Sprintf(".f_001.log.%d_0-0-0", n)
	s.files.Put(name, f.Bytes())
	s.s.Logs = append(s.s.Logs, name)
	return s
}

func (s *slice) mode(m merge.Mode) *slice { s.o.Rules.Mode = m; return s }

func file() *logfiletest.File { return &logfiletest.File{} }

// full is the bytes of a row with all fields; a nil field is null.
func full(commit, key string, ts, name, price any, deleted ...any) []byte {
	d := any(nil)
	if len(deleted) > 0 {
		d = deleted[0]
	}
	return logfiletest.Record(nil, commit, key, ts, name, price, d)
}

// data makes a block of rows (key, ts, name, price) of an instant.
func data(f *logfiletest.File, instant string, rows ...[]byte) *logfiletest.File {
	return f.Data(instant, fullSchema, rows)
}

// partial makes a block of partial updates of ts and price.
func partial(f *logfiletest.File, instant, key string, ts, price any) *logfiletest.File {
	text := record(metaFields, `{"name":"ts","type":["null","long"],"default":null}`, `{"name":"price","type":["null","double"],"default":null}`)
	return f.Data(instant, text, [][]byte{logfiletest.Record(nil, instant, key, ts, price)}, logfiletest.Entry{Key: logfile.IsPartial, Value: "true"})
}

func deletes(f *logfiletest.File, instant string, ordering any, keys ...string) *logfiletest.File {
	var list []logfiletest.Del
	for _, k := range keys {
		list = append(list, logfiletest.Del{Key: k, Ordering: ordering})
	}
	return f.Deletes(instant, fullSchema, list)
}

// read returns the rows as "key:commit/ts/name/price", space separated, in the order they come.
func (s *slice) read(t testing.TB) (string, *groupreader.Stats) {
	t.Helper()
	rows, stats, err := s.rows()
	if err != nil {
		t.Fatal(err)
	}
	return rows, stats
}

func (s *slice) rows() (string, *groupreader.Stats, error) {
	var out []string
	stats := new(groupreader.Stats)
	for row, err := range groupreader.Rows(context.Background(), s.s, &s.o, stats) {
		if err != nil {
			return strings.Join(out, " "), stats, err
		}
		cells := map[string]string{}
		for i, f := range row.Batch.Type.Fields {
			if c := row.Batch.Columns[i]; c != nil {
				var x any
				if err := json.Unmarshal(c.AppendJSON(nil, row.Index), &x); err != nil {
					return "", stats, err
				}
				if x != nil {
					cells[f.Name] = fmt.Sprint(x)
				}
			}
		}
		out = append(out, fmt.Sprintf("%s:%s/%s/%s/%s", cells["_hoodie_record_key"], cells["_hoodie_commit_time"], cells["ts"], cells["name"], cells["price"]))
	}
	return strings.Join(out, " "), stats, nil
}

func expect(t *testing.T, name, want string, s *slice) *groupreader.Stats {
	t.Helper()
	got, stats := s.read(t)
	if got != want {
		t.Errorf("%s:\nwant %s\ngot  %s", name, want, got)
	}
	if s.inMemory {
		return stats
	}
	// The same rows when nothing fits into memory.
	o := s.o
	defer func() { s.o = o }()
	s.o.MergeBytes, s.o.Spill = 1, func(context.Context) (spill.Store, error) { return spill.Memory(0), nil }
	got, small := s.read(t)
	if inOrder(got) != inOrder(want) {
		t.Errorf("%s, spilled:\nwant %s\ngot  %s", name, want, got)
	}
	if small.SpilledBytes > 0 && stats.Positions == 0 {
		a, b := *stats, *small
		a.Scan, b.Scan, b.SpilledBytes = nil, nil, 0
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s, spilled: statistics\nwant %+v\ngot  %+v", name, a, b)
		}
	}
	return stats
}

// inOrder sorts rows that are separated by spaces.
func inOrder(rows string) string {
	f := strings.Split(rows, " ")
	slices.Sort(f)
	return strings.Join(f, " ")
}

// TestVectors is spec record-merging.md section 14.
func TestVectors(t *testing.T) {
	five := base("k", 5, "base", 1)
	expect(t, "1: late", "k:001/5/base/1", newSlice(t, five).log(1, data(file(), "002", full("002", "k", 3, "log", 2.0))))
	expect(t, "1: tie", "k:002/5/log/2", newSlice(t, five).log(1, data(file(), "002", full("002", "k", 5, "log", 2.0))))
	expect(t, "1: default delete", "", newSlice(t, five).log(1, deletes(file(), "002", 0, "k")))
	expect(t, "1: late delete", "k:001/5/base/1", newSlice(t, five).log(1, deletes(file(), "002", int64(4), "k")))
	expect(t, "1: delete, tie", "", newSlice(t, five).log(1, deletes(file(), "002", int64(5), "k")))
	expect(t, "1: the base row comes back", "k:001/5/base/1",
		newSlice(t, five).log(1, data(deletes(file(), "002", 0, "k"), "003", full("003", "k", 1, "log", 2.0))))
	expect(t, "2: commit time", "k:003/1/third/3",
		newSlice(t, five).mode(merge.CommitTime).log(1, data(data(file(), "002", full("002", "k", 9, "second", 2.0)), "003", full("003", "k", 1, "third", 3.0))))
	expect(t, "2: delete, then insert", "k:003/1/third/3",
		newSlice(t, five).mode(merge.CommitTime).log(1, data(deletes(file(), "002", int64(9), "k"), "003", full("003", "k", 1, "third", 3.0))))
	expect(t, "3: late flag", "k:001/5/base/1", newSlice(t, five).log(1, data(file(), "002", full("002", "k", 4, "x", 1.0, true))))
	two := newSlice(t, base("k", 1, "base", 9)).log(1, data(file(), "002", full("002", "k", 2, "log", 0.0)))
	two.o.Ordering = []string{"ts", "price"}
	expect(t, "4: two ordering fields", "k:002/2/log/0", two)
	two = newSlice(t, base("k", 2, "base", 1)).log(1, data(file(), "002", full("002", "k", 2, "log", 0.5)))
	two.o.Ordering = []string{"ts", "price"}
	expect(t, "4: the second field decides", "k:001/2/base/1", two)
	fill := newSlice(t, base("k", 5, "kept", 1)).log(1, data(file(), "002", full("002", "k", 6, "N/A", 2.0)))
	fill.o.Rules.Partial, fill.o.Rules.Unavailable = merge.FillUnavailable, "N/A"
	expect(t, "5: unavailable value", "k:002/6/kept/2", fill)
	ignore := newSlice(t, base("k", 5, "kept", 1)).log(1, data(file(), "002", full("002", "k", 6, nil, 2.0)))
	ignore.o.Rules.Partial = merge.IgnoreDefaults
	expect(t, "6: null keeps the older value", "k:002/6/kept/2", ignore)

	rolled := newSlice(t, five).log(1, data(data(file(), "002", full("002", "k", 9, "x", 2.0)).Rollback("003", "002"), "005", full("005", "k", 9, "future", 2.0)))
	rolled.o.Scan = logscan.Options{LatestInstant: "004"}
	expect(t, "7: rolled back and future", "k:001/5/base/1", rolled)
	skip := func() *slice {
		s := newSlice(t, five, base("z", 1, "other", 1)).log(1, data(deletes(data(file(), "002", full("002", "k", 9, "a", 2.0), full("002", "n", 1, "b", 2.0)), "003", 0, "z"), "004", full("004", "k", 3, "c", 2.0, true)))
		s.o.SkipMerge = true
		return s
	}
	expect(t, "7: skip_merge", "k:001/5/base/1 z:001/1/other/1 k:002/9/a/2 n:002/1/b/2 k:004/3/c/2", skip())
	old := skip()
	old.o.Release.SkipMergesLogs = true
	expect(t, "7: skip_merge of 0.x", "k:001/5/base/1 z:001/1/other/1 k:002/9/a/2 n:002/1/b/2", old)
}

// TestBugs holds cases that other readers of Hudi tables got wrong.
func TestBugs(t *testing.T) {
	hundred := base("k", 100, "base", 1)
	b08 := func() *slice { return newSlice(t, hundred).log(1, deletes(file(), "002", int64(90), "k")) }
	expect(t, "B08: late delete, event time", "k:001/100/base/1", b08())
	expect(t, "B08: late delete, commit time", "", b08().mode(merge.CommitTime))
	expect(t, "B09: delete with int 0 against a long", "", newSlice(t, hundred).log(1, deletes(file(), "002", 0, "k")))
	expect(t, "B09: delete with null", "", newSlice(t, hundred).log(1, deletes(file(), "002", nil, "k")))
	for _, m := range []merge.Mode{merge.EventTime, merge.CommitTime} {
		expect(t, "B10: ties in two files", "k:003/7/second/2", newSlice(t).mode(m).
			log(1, data(file(), "002", full("002", "k", 7, "first", 1.0))).log(2, data(file(), "003", full("003", "k", 7, "second", 2.0))))
		expect(t, "B10: a null ordering value", "", newSlice(t).mode(m).
			log(1, data(file(), "002", full("002", "k", nil, "first", 1.0))).log(2, deletes(file(), "003", nil, "k")))
	}
	eleven := newSlice(t).mode(merge.CommitTime)
	for _, n := range []int{11, 2, 10, 1, 3, 9, 4, 8, 5, 7, 6} {
		eleven.log(n, data(file(), "002", full("002", "k", 7, fmt.Sprint(n), 1.0)))
	}
	expect(t, "B11: log.11 after log.9", "k:002/7/11/1", eleven)

	cdc := newSlice(t).log(1, data(file(), "002", full("002", "k", 7, "data", 1.0)))
	cdc.files.Put(".f_001.log.1_0-0-0.cdc", data(file(), "002", full("002", "k", 9, "cdc", 1.0)).Bytes())
	cdc.s.Logs = append(cdc.s.Logs, ".f_001.log.1_0-0-0.cdc")
	if st := expect(t, "B12: .cdc beside the log", "k:002/7/data/1", cdc); st.Scan.Counters.LogFiles != 1 {
		t.Errorf("B12: %d log files were merged", st.Scan.Counters.LogFiles)
	}

	b13 := func() *slice {
		return newSlice(t, base("k", 5, "kept", 1), base("z", 5, "other", 1)).log(1, partial(file(), "002", "k", 7, 9.5))
	}
	expect(t, "B13: partial update", "k:002/7/kept/9.5 z:001/5/other/1", b13())
	some := b13()
	some.o.Want = func(f string) bool { return f == "name" }
	expect(t, "B13: only columns that the update does not have", "://kept/ ://other/", some)

	expect(t, "B15: flag in the data", "z:001/5/other/1",
		newSlice(t, base("k", 5, "base", 1), base("z", 5, "other", 1)).log(1, data(file(), "002", full("002", "k", 6, "x", 1.0, true), full("002", "n", 6, "x", 1.0, true))))
	marker := newSlice(t, base("k", 5, "base", 1)).log(1, data(file(), "002", full("002", "k", 6, "gone", 1.0)))
	marker.o.DeleteField, marker.o.DeleteMarker = "name", "gone"
	expect(t, "B15: marker in a column", "", marker)
	marker.o.Want = func(f string) bool { return f == "price" }
	expect(t, "B15: marker in a column that is not asked for", "", marker)

	expect(t, "B16: the last state", "k:003/8/second/2", newSlice(t).log(1, data(data(file(), "002", full("002", "k", 7, "first", 1.0)), "003", full("003", "k", 8, "second", 2.0))))
	// A read of the window (001, 002] keeps rows whose own commit time lies in it.
	expect(t, "B17: a partial update is a full row of its commit", "k:002/101/base/9.5", newSlice(t, hundred).log(1, partial(file(), "002", "k", 101, 9.5)))
	expect(t, "B17: a late update leaves the row of the base", "k:001/100/base/1", newSlice(t, hundred).log(1, data(file(), "002", full("002", "k", 90, "late", 2.0))))
}

func TestPartialUpdates(t *testing.T) {
	st := expect(t, "no base row", "n:002/7//9.5", newSlice(t).log(1, partial(file(), "002", "n", 7, 9.5)))
	// The log has one name for the blocks of all instants here, which is another note.
	if n := len(slices.DeleteFunc(slices.Clone(st.Notes), func(n string) bool { return !strings.Contains(n, "not known") })); n != 1 {
		t.Errorf("notes: %q", st.Notes)
	}
	expect(t, "two of them, then the base", "k:003/8/base/", newSlice(t, base("k", 5, "base", 1)).
		log(1, partial(partial(file(), "002", "k", 7, 9.5), "003", "k", 8, nil)))
	expect(t, "without an ordering value: it is the default, below the base", "k:001/5/base/1", newSlice(t, base("k", 5, "base", 1)).log(1, partial(file(), "002", "k", nil, 9.5)))
	custom := newSlice(t, base("k", 5, "base", 1)).log(1, partial(file(), "002", "k", 7, 9.5))
	custom.o.Rules = merge.Rules{Mode: merge.Custom, Payload: "AWSDmsAvroPayload"}
	_, _, err := custom.rows()
	var u *groupreader.Unsupported
	if !errors.As(err, &u) || !strings.Contains(err.Error(), "AWSDmsAvroPayload") || !strings.Contains(u.Try, groupreader.FallbackOption) {
		t.Errorf("partial updates with a payload class: %v", err)
	}
	skip := newSlice(t, base("k", 5, "base", 1)).log(1, partial(file(), "002", "k", 7, 9.5))
	skip.o.SkipMerge = true
	expect(t, "not merged", "k:001/5/base/1 k:002/7//9.5", skip)
}

// TestPositions merges by row position as far as the blocks allow, with the rows that merging by key gives.
func TestPositions(t *testing.T) {
	at := func(instant string, p ...uint16) []logfiletest.Entry {
		return []logfiletest.Entry{{Key: logfile.BaseFileInstant, Value: instant}, logfiletest.Positions(p...)}
	}
	rows := []baseRow{base("a", 5, "a0", 1), base("b", 5, "b0", 1), base("c", 5, "c0", 1), base("d", 5, "d0", 1)}
	dels := func(keys ...string) (out []logfiletest.Del) {
		for _, k := range keys {
			out = append(out, logfiletest.Del{Key: k, Ordering: int64(6)})
		}
		return out
	}
	for _, c := range []struct {
		name   string
		f      *logfiletest.File
		blocks int
		off    string
		want   string
	}{
		{"all blocks", file().Data("002", fullSchema, [][]byte{full("002", "a", 6, "a1", 2.0), full("002", "c", 3, "late", 2.0)}, at("001", 0, 2)...).
			Deletes("003", fullSchema, dels("b", "a"), at("001", 1, 3)...), 2, "", "a:002/6/a1/2 c:001/5/c0/1"},
		{"an insert ends it", data(file().Data("002", fullSchema, [][]byte{full("002", "b", 6, "b1", 2.0)}, at("001", 1)...),
			"003", full("003", "n", 1, "new", 3.0), full("003", "b", 7, "b2", 3.0)), 1, "no record positions", "a:001/5/a0/1 b:003/7/b2/3 c:001/5/c0/1 d:001/5/d0/1 n:003/1/new/3"},
		{"positions in another base file", file().Data("002", fullSchema, [][]byte{full("002", "d", 6, "d1", 2.0)}, at("000", 0)...), 0, "this one is of 001", "a:001/5/a0/1 b:001/5/b0/1 c:001/5/c0/1 d:002/6/d1/2"},
	} {
		s := newSlice(t, rows...).log(1, c.f)
		s.o.ByPosition = true
		if c.name == "all blocks" {
			// Position 3 is row d; the key says a: Hudi goes by the position.
			c.want, s.inMemory = "a:002/6/a1/2 c:001/5/c0/1", true
		}
		st := expect(t, c.name, c.want, s)
		if st.Positions != c.blocks || c.off == "" && st.PositionsOff != "" || !strings.Contains(st.PositionsOff, c.off) {
			t.Errorf("%s: %d blocks by position, %q", c.name, st.Positions, st.PositionsOff)
		}
		if c.name != "all blocks" {
			s.o.ByPosition = false
			expect(t, c.name+", by key", c.want, s)
		}
	}
	s := newSlice(t, rows...).log(1, file().Data("002", fullSchema, [][]byte{full("002", "a", 6, "a1", 2.0)}, at("001", 0, 2)...))
	s.o.ByPosition = true
	if _, _, err := s.rows(); err == nil || !strings.Contains(err.Error(), "RECORD_POSITIONS") {
		t.Errorf("two positions for one record: %v", err)
	}
}

// TestDeleteClasses: a delete's ordering value is a plain number also where the field is a date or time.
func TestDeleteClasses(t *testing.T) {
	for _, c := range []struct {
		typ      string
		row, del any
		gone     bool
	}{
		{`{"type":"long","logicalType":"timestamp-micros"}`, 2000, int64(1000), false},
		{`{"type":"long","logicalType":"timestamp-micros"}`, 2000, int64(2000), true},
		{`{"type":"long","logicalType":"timestamp-millis"}`, 2000, int64(1999), false},
		{`{"type":"int","logicalType":"date"}`, 20, 10, false},
		{`"long"`, 20, int64(10), false},
		{`"long"`, 20, 10, true}, // an int against a long: the classes do not compare, the delete wins
		{`"string"`, "b", "a", false},
	} {
		text := record(metaFields, `{"name":"ts","type":["null",`+c.typ+`],"default":null}`)
		s := newSlice(t)
		s.o.Reader, _ = schema.Parse([]byte(text))
		s.log(1, file().Data("002", text, [][]byte{logfiletest.Record(nil, "002", "k", c.row)}).Deletes("003", text, []logfiletest.Del{{Key: "k", Ordering: c.del}}))
		got, _ := s.read(t)
		if (got == "") != c.gone {
			t.Errorf("%s: row %v, delete %v: got %q", c.typ, c.row, c.del, got)
		}
	}
}

// TestObserve follows a key through every merge step; rows tell where they are from.
func TestObserve(t *testing.T) {
	s := newSlice(t, base("z", 1, "z", 1), base("k", 5, "base", 1)).
		log(1, data(data(file(), "002", full("002", "n", 1, "new", 1.0), full("002", "k", 6, "first", 2.0)), "003", full("003", "k", 4, "late", 3.0))).
		log(2, partial(file(), "004", "k", 8, 9.5))
	var steps []string
	s.o.Observe = func(st groupreader.Step) {
		where := func(r *merge.Record) string {
			if r == nil {
				return "-"
			}
			return fmt.Sprintf("%d.%d", r.Block, r.Index)
		}
		d := &st.Decision
		steps = append(steps, fmt.Sprintf("%s final=%v %s %s outcome=%d: %s", st.Key, st.Final, where(d.Older), where(d.Newer), d.Outcome, d.Why()))
	}
	var rows []string
	for row, err := range groupreader.Rows(context.Background(), s.s, &s.o, nil) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, fmt.Sprintf("%d %d.%d", row.Origin, row.Block, row.Record))
	}
	want := []string{
		"n final=false - 0.0 outcome=1: the first version in the logs",
		"k final=false - 0.1 outcome=1: the first version in the logs",
		"k final=false 0.1 1.0 outcome=0: late record: ordering 4 is below 6",
		"k final=false 0.1 2.0 outcome=2: ordering 8 is above 6; the row is made of both: 4 of 6 columns are the later version's",
		"k final=true -1.1 2.0 outcome=1: ordering 8 is above 5",
		"n final=true - 0.0 outcome=1: the base file has no row of this key",
	}
	if got := strings.Join(steps, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("steps:\n%s", got)
	}
	if got := strings.Join(rows, ", "); got != "0 -1.0, 1 2.0, 2 0.0" {
		t.Errorf("rows: %s", got)
	}
}

// TestManyKeys merges more keys than the map begins with, in order of first appearance.
func TestManyKeys(t *testing.T) {
	const n = 5000
	var rows, want []string
	f := file()
	for round := range 3 {
		var recs [][]byte
		for i := range n {
			recs = append(recs, full("002", fmt.Sprintf("key-%d", i*7919%n), int64(round), "r", float64(round)))
		}
		data(f, "002", recs...)
	}
	for i := range n {
		want = append(want, fmt.Sprintf("key-%d:002/2/r/2", i*7919%n))
	}
	got, _ := newSlice(t).log(1, f).read(t)
	rows = strings.Fields(got)
	if strings.Join(rows, " ") != strings.Join(want, " ") {
		t.Errorf("%d rows, first %v", len(rows), rows[:min(3, len(rows))])
	}
	s := newSlice(t).log(1, f)
	s.o.LogBytes = 1 << 16
	if _, _, err := s.rows(); !errors.Is(err, groupreader.ErrLogBytes) {
		t.Errorf("a map above its bound: %v", err)
	}
}

// TestShown: a column is shown as text, but versions are ordered by what is stored.
func TestShown(t *testing.T) {
	s := newSlice(t, base("k", 10, "kept", 1), base("z", 10, "other", 1)).
		log(1, data(file(), "002", full("002", "k", 9, "late", 2.0), full("002", "z", 100, nil, 2.0), full("002", "n", 1, "new", 2.0)))
	s.o.Rules.Partial = merge.IgnoreDefaults
	shown := *s.o.Reader
	shown.Fields = append([]schema.Field(nil), shown.Fields...)
	shown.Fields[2].Type = &schema.Type{Kind: schema.String, Nullable: true, NullFirst: true}
	s.o.Shown = &shown
	expect(t, "as text", "k:001/10/kept/1 z:002/100/other/2 n:002/1/new/2", s)
	for row, err := range groupreader.Rows(context.Background(), s.s, &s.o, nil) {
		if err != nil || row.Batch.Columns[2].Type.Kind != schema.String {
			t.Errorf("%v, type %s", err, row.Batch.Columns[2].Type.Display())
		}
	}
	s.o.ShownValues = map[string]string{"ts": "2023/11"}
	expect(t, "as the partition path", "k:001/2023/11/kept/1 z:002/2023/11/other/2 n:002/2023/11/new/2", s)
}

// TestReleaseNotes: a table that a release fails on is read, and the reason is told.
func TestReleaseNotes(t *testing.T) {
	r, err := release.For("1.0.2")
	if err != nil {
		t.Fatal(err)
	}
	s := newSlice(t).log(1, data(deletes(file(), "002", 0, "k"), "003", full("003", "k", 4, "after", 3.0)))
	s.o.Release = r
	st := expect(t, "Integer 0 against a long", "k:003/4/after/3", s)
	if len(st.Failures) != 1 || !r.Fails(st.Failures[0]) || st.MixedOrdering != 0 {
		t.Errorf("failures: %q, %d mixed", st.Failures, st.MixedOrdering)
	}
}
