package merge

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"hudiscope/core/column"
	"hudiscope/core/schema"
)

// rowType is the type of the rows of the tests: text and numbers, with defaults null, 0 and "x", a
// meta field, and the columns of change data capture tools.
var rowType = mustParse(`{"type":"record","name":"r","fields":[
	{"name":"_hoodie_commit_time","type":["null","string"],"default":null},
	{"name":"a","type":["null","string"],"default":null},
	{"name":"n","type":"int","default":0},
	{"name":"s","type":"string","default":"x"},
	{"name":"ts","type":["null","long"],"default":null},
	{"name":"Op","type":["null","string"],"default":null},
	{"name":"_change_operation_type","type":["null","string"],"default":null},
	{"name":"_event_seq","type":["null","string"],"default":null},
	{"name":"_event_lsn","type":["null","long"],"default":null},
	{"name":"b","type":["null","bytes"],"default":null}]}`)

func mustParse(s string) *schema.Type {
	t, err := schema.Parse([]byte(s))
	if err != nil {
		panic(err)
	}
	return t
}

// rec makes a record of a row given as JSON; fields left out are null, zero or empty.
func rec(row string) *Record {
	var m map[string]any
	if err := json.Unmarshal([]byte(row), &m); err != nil {
		panic(row + ": " + err.Error())
	}
	b := &column.Batch{Type: rowType, Len: 1}
	for _, f := range rowType.Fields {
		v := column.New(f.Type, 1)
		switch x := m[f.Name].(type) {
		case string:
			v.AppendString(x)
		case float64:
			v.AppendInt(int64(x))
		default:
			switch {
			case f.Type.Nullable:
				v.AppendNull()
			case f.Type.Kind == schema.String:
				v.AppendString("")
			default:
				v.AppendInt(0)
			}
		}
		b.Columns = append(b.Columns, v)
	}
	r := &Record{Row: column.Row{Batch: b}}
	r.Ord = ordOf(r.Row)
	return r
}

func ordOf(row column.Row) (o Ordering) {
	FromColumn(row.Batch.Column("ts"), row.Index, &o)
	return o
}

// flagged makes a delete with a row.
func flagged(r *Record) *Record { r.Delete = true; return r }

// only makes a partial update that has the named fields.
func only(r *Record, fields ...string) *Record {
	r.Partial = &Presence{Has: make([]bool, len(rowType.Fields))}
	for _, f := range fields {
		r.Partial.Has[rowType.FieldIndex(f)] = true
	}
	return r
}

// show renders a record: the values that are not null, zero or empty.
func show(r *Record) string {
	if r.Delete {
		return "deleted"
	}
	var out []string
	for i, f := range rowType.Fields {
		c := r.Row.Batch.Columns[i]
		s := string(c.AppendJSON(nil, r.Row.Index))
		if r.Partial != nil && !r.Partial.Has[i] || s == "null" || s == "0" || s == `""` {
			continue
		}
		out = append(out, strings.TrimPrefix(f.Name, "_hoodie_")+"="+strings.Trim(s, `"`))
	}
	return strings.Join(out, " ")
}

// row makes a record that is told apart by its ordering value only.
func row(ord Ordering) *Record { r := rec(`{}`); r.Ord = ord; return r }
func del(ord Ordering) *Record { return &Record{Ord: ord, Delete: true} }
func long(x int64) Ordering    { return Ordering{Class: Long, Int: x} }
func merger(r Rules) *Merger   { return NewMerger(r, rowType, ordOf) }

func TestDelta(t *testing.T) {
	event, commit := Rules{Mode: EventTime, HasOrdering: true}, Rules{Mode: CommitTime, HasOrdering: true}
	old := Rules{Mode: EventTime, Style: Payloads, HasOrdering: true}
	oldCommit := Rules{Mode: CommitTime, Style: Payloads, HasOrdering: true}
	none := Rules{Mode: EventTime}
	def := Ordering{}
	for _, c := range []struct {
		name     string
		r        Rules
		old, new *Record
		want     Outcome
	}{
		{"event: higher wins", event, row(long(5)), row(long(6)), New},
		{"event: tie, newer wins", event, row(long(5)), row(long(5)), New},
		{"event: late record loses", event, row(long(5)), row(long(4)), Old},
		{"commit: lower ordering wins by commit", commit, row(long(5)), row(long(4)), New},
		{"0.x commit: among log records the ordering decides", oldCommit, row(long(5)), row(long(4)), Old},
		{"0.x: anything replaces a delete", old, del(long(9)), row(long(1)), New},
		{"0.x: a flagged row is a version like others", old, flagged(row(long(9))), row(long(1)), Old},
		{"event: default delete wins", event, row(long(5)), del(def), New},
		{"event: late delete loses", event, row(long(5)), del(long(4)), Old},
		{"event: delete wins ties", event, row(long(5)), del(long(5)), New},
		{"event: class mismatch, delete wins", event, row(long(5)), del(Ordering{Class: Integer, Int: 4}), New},
		{"event: record after a default delete", event, del(def), row(long(1)), New},
		{"event: late record after a real delete", event, del(long(5)), row(long(1)), Old},
		{"event: delete of what is deleted", event, del(def), del(long(3)), Old},
		{"event: late flagged delete loses", event, row(long(5)), flagged(row(long(4))), Old},
		{"event: flagged delete without ordering", event, row(long(5)), flagged(row(def)), New},
		{"commit: delete wins", commit, row(long(5)), del(long(1)), New},
		{"no ordering field: later wins", none, row(long(5)), row(long(4)), New},
	} {
		d := merger(c.r).Delta(c.old, c.new)
		if d.Outcome != c.want {
			t.Errorf("%s: outcome %v (%s)", c.name, d.Outcome, d.Why())
		}
		if w := d.Why(); w == "" || w == "no rule" {
			t.Errorf("%s: no reason", c.name)
		}
	}
}

// TestFinal holds the vectors of spec record-merging.md section 14, checked with Hudi 1.2.0: base rows have ordering 5.
func TestFinal(t *testing.T) {
	event, commit := Rules{Mode: EventTime, HasOrdering: true}, Rules{Mode: CommitTime, HasOrdering: true}
	old := Rules{Mode: EventTime, Style: Payloads, HasOrdering: true}
	tie := Rules{Mode: EventTime, Style: Payloads, HasOrdering: true, OlderOnTie: true}
	for _, c := range []struct {
		name string
		r    Rules
		log  *Record
		want Outcome
	}{
		{"late log record", event, row(long(3)), Old},
		{"tie", event, row(long(5)), New},
		{"later", event, row(long(9)), New},
		{"default delete", event, del(Ordering{}), New},
		{"late delete", event, del(long(4)), Old},
		{"delete tie", event, del(long(5)), New},
		{"late flagged delete", event, flagged(row(long(4))), Old},
		{"commit time", commit, row(long(3)), New},
		{"0.x: any delete removes the row", old, del(long(1)), New},
		{"0.x: late record", old, row(long(3)), Old},
		{"0.x: tie", old, row(long(5)), New},
		{"0.x: tie, the option keeps the older", tie, row(long(5)), Old},
	} {
		if d := merger(c.r).Final(row(long(5)), c.log); d.Outcome != c.want {
			t.Errorf("%s: outcome %v (%s)", c.name, d.Outcome, d.Why())
		}
	}
}

// TestPayloads runs every payload class through both generations. Where delta is "" the log
// records are merged as with the base row.
func TestPayloads(t *testing.T) {
	const u = "__debezium_unavailable_value"
	type want struct{ final, delta string }
	seen := map[string]bool{}
	for _, c := range []struct {
		payload    string
		old, new   *Record
		v1, v0     want
		insertNone bool // of new
	}{
		{payload: "OverwriteWithLatestAvroPayload", old: rec(`{"a":"o","ts":5}`), new: rec(`{"a":"n","ts":3}`), v1: want{final: "a=n ts=3"}, v0: want{"a=n ts=3", "a=o ts=5"}},
		{payload: "OverwriteWithLatestAvroPayload", old: rec(`{"a":"o","ts":5}`), new: del(long(3)), v1: want{final: "deleted"}, v0: want{"deleted", "a=o ts=5"}, insertNone: true},
		{payload: "DefaultHoodieRecordPayload", old: rec(`{"a":"o","ts":5}`), new: rec(`{"a":"n","ts":3}`), v1: want{final: "a=o ts=5"}, v0: want{final: "a=o ts=5"}},
		{payload: "DefaultHoodieRecordPayload", old: rec(`{"a":"o","ts":5}`), new: flagged(rec(`{"ts":4}`)), v1: want{final: "a=o ts=5"}, v0: want{final: "a=o ts=5"}, insertNone: true},
		{payload: "DefaultHoodieRecordPayload", old: rec(`{"a":"o"}`), new: rec(`{"a":"n","ts":-3}`), v1: want{final: "a=n ts=-3"}, v0: want{"a=n ts=-3", "a=o"}},
		{payload: "EventTimeAvroPayload", old: rec(`{"a":"o","ts":5}`), new: rec(`{"a":"n","ts":5}`), v1: want{final: "a=n ts=5"}, v0: want{final: "a=n ts=5"}},
		{payload: "OverwriteNonDefaultsWithLatestAvroPayload", old: rec(`{"a":"o","n":1,"s":"old","ts":5}`), new: rec(`{"n":0,"s":"x","ts":3}`),
			v1: want{final: "a=o n=1 s=old ts=3"}, v0: want{"a=o n=1 s=old ts=3", "a=o n=1 s=old ts=5"}},
		{payload: "OverwriteNonDefaultsWithLatestAvroPayload", old: rec(`{"a":"o","n":1,"s":"old","ts":5}`), new: rec(`{"a":"n","n":2,"s":"","ts":6}`),
			v1: want{final: "a=n n=2 ts=6"}, v0: want{final: "a=n n=2 ts=6"}},
		{payload: "PartialUpdateAvroPayload", old: rec(`{"_hoodie_commit_time":"1","a":"o","n":1,"s":"s","ts":5}`), new: rec(`{"_hoodie_commit_time":"2","n":2,"s":"t","ts":6}`),
			v1: want{final: "commit_time=2 a=o n=2 s=t ts=6"}, v0: want{final: "commit_time=2 a=o n=2 s=t ts=6"}},
		{payload: "PartialUpdateAvroPayload", old: rec(`{"_hoodie_commit_time":"1","n":1,"s":"s","ts":5}`), new: rec(`{"_hoodie_commit_time":"2","a":"n","n":2,"s":"t","ts":4}`),
			v1: want{final: "commit_time=2 a=n n=1 s=s ts=5"}, v0: want{final: "commit_time=2 a=n n=1 s=s ts=5"}},
		{payload: "PartialUpdateAvroPayload", old: rec(`{"a":"o","ts":5}`), new: flagged(rec(`{"ts":6}`)), v1: want{final: "deleted"}, v0: want{"deleted", "a=o ts=6"}, insertNone: true},
		{payload: "AWSDmsAvroPayload", old: rec(`{"Op":"I","a":"o","ts":5}`), new: rec(`{"Op":"U","a":"n","ts":3}`), v1: want{final: "a=n ts=3 Op=U"}, v0: want{"a=n ts=3 Op=U", "a=o ts=5 Op=I"}},
		{payload: "AWSDmsAvroPayload", old: rec(`{"Op":"I","a":"o","ts":5}`), new: rec(`{"Op":"d","ts":6}`), v1: want{final: "deleted"}, v0: want{"deleted", "ts=6 Op=d"}, insertNone: true},
		{payload: "MySqlDebeziumAvroPayload", old: rec(`{"_event_seq":"9.999","a":"o","ts":5}`), new: rec(`{"_event_seq":"10.1","a":"n","ts":5}`), v1: want{final: "a=n ts=5 _event_seq=10.1"}, v0: want{final: "a=n ts=5 _event_seq=10.1"}},
		{payload: "MySqlDebeziumAvroPayload", old: rec(`{"_event_seq":"10.2","a":"o","ts":5}`), new: rec(`{"_event_seq":"10.1","a":"n","ts":6}`), v1: want{final: "a=o ts=5 _event_seq=10.2"}, v0: want{"a=o ts=5 _event_seq=10.2", "a=n ts=6 _event_seq=10.1"}},
		{payload: "MySqlDebeziumAvroPayload", old: rec(`{"a":"o","ts":5}`), new: rec(`{"_event_seq":"1.1","_change_operation_type":"d","ts":6}`), v1: want{final: "deleted"}, v0: want{"deleted", "ts=6 _change_operation_type=d _event_seq=1.1"}, insertNone: true},
		{payload: "PostgresDebeziumAvroPayload", old: rec(`{"_event_lsn":7,"a":"o","s":"o","ts":7}`), new: rec(`{"_event_lsn":8,"a":"` + u + `","s":"n","ts":8}`),
			v1: want{final: "a=o s=n ts=8 _event_lsn=8"}, v0: want{"a=o s=n ts=8 _event_lsn=8", "a=" + u + " s=n ts=8 _event_lsn=8"}},
		{payload: "PostgresDebeziumAvroPayload", old: rec(`{"_event_lsn":7,"a":"o","ts":7}`), new: rec(`{"_event_lsn":6,"a":"n","ts":6}`), v1: want{final: "a=o ts=7 _event_lsn=7"}, v0: want{final: "a=o ts=7 _event_lsn=7"}},
		{payload: "ExpressionPayload", old: rec(`{"a":"o","ts":5}`), new: rec(`{"a":"n","ts":3}`), v1: want{final: "a=o ts=5"}, v0: want{final: "a=o ts=5"}},
		{payload: "BootstrapRecordPayload", old: rec(`{"a":"o","ts":5}`), new: rec(`{"a":"n","ts":3}`), v1: want{final: "a=n ts=3"}, v0: want{final: "a=n ts=3"}},
		{payload: "RewriteAvroPayload", old: rec(`{"a":"o","ts":5}`), new: rec(`{"a":"n","ts":3}`), v1: want{final: "a=n ts=3"}, v0: want{final: "a=n ts=3"}},
		{payload: "HoodieAvroPayload", old: rec(`{"a":"o","ts":5}`), new: rec(`{"a":"n","ts":3}`), v1: want{final: "a=n ts=3"}, v0: want{final: "a=n ts=3"}},
		{payload: "EmptyHoodieRecordPayload", old: rec(`{"a":"o","ts":5}`), new: rec(`{"a":"n","ts":6}`), v1: want{final: "deleted"}, v0: want{"deleted", "a=o ts=5"}, insertNone: true},
		{payload: "ReverseOrderHoodieRecordPayload", old: rec(`{"a":"o","ts":5}`), new: rec(`{"a":"n","ts":3}`), v1: want{final: "a=n ts=3"}, v0: want{final: "a=n ts=3"}},
		{payload: "ReverseOrderHoodieRecordPayload", old: rec(`{"a":"o","ts":5}`), new: rec(`{"a":"n","ts":6}`), v1: want{final: "a=o ts=5"}, v0: want{final: "a=o ts=5"}},
	} {
		seen[c.payload] = true
		for style, w := range []want{c.v1, c.v0} {
			r := Rules{Mode: Custom, Style: Style(style), HasOrdering: true, Payload: c.payload}
			if err := r.Check(); err != nil {
				t.Fatal(err)
			}
			if w.delta == "" {
				w.delta = w.final
			}
			m := merger(r)
			d := m.Final(c.old, c.new)
			if got := show(d.Winner()); got != w.final {
				t.Errorf("%s, style %d, final: want %s, got %s (%s)", c.payload, style, w.final, got, d.Why())
			}
			d = m.Delta(c.old, c.new)
			if got := show(d.Winner()); got != w.delta {
				t.Errorf("%s, style %d, delta: want %s, got %s (%s)", c.payload, style, w.delta, got, d.Why())
			}
			if d.Outcome == Combined && d.Merged.Ord.String() != ordString(d.Merged.Row) {
				t.Errorf("%s: the combined row has ordering %s", c.payload, &d.Merged.Ord)
			}
			d = m.Insert(c.new)
			if got := d.Winner().Delete; got != c.insertNone {
				t.Errorf("%s, insert: no row is %v (%s)", c.payload, got, d.Why())
			}
		}
	}
	for name := range payloads {
		if !seen[name] {
			t.Errorf("%s has no test", name)
		}
	}
}

func ordString(r column.Row) string { o := ordOf(r); return o.String() }

// TestPayloadDeletes is CUSTOM of 1.x around deletes (spec section 6).
func TestPayloadDeletes(t *testing.T) {
	m := merger(Rules{Mode: Custom, HasOrdering: true, Payload: "PostgresDebeziumAvroPayload"})
	for _, c := range []struct {
		name     string
		old, new *Record
		want     string
	}{
		{"default delete", rec(`{"_event_lsn":7,"ts":7}`), del(Ordering{}), "deleted"},
		{"late delete without a row", rec(`{"_event_lsn":7,"ts":7}`), del(long(6)), "deleted"},
		{"record after a delete without a row", del(long(9)), rec(`{"_event_lsn":7,"ts":7}`), "ts=7 _event_lsn=7"},
		{"late record after a delete with a row", flagged(rec(`{"_event_lsn":9,"ts":9}`)), rec(`{"_event_lsn":7,"ts":7}`), "deleted"},
		{"late delete with a row", rec(`{"_event_lsn":9,"ts":9}`), flagged(rec(`{"_event_lsn":7,"ts":7}`)), "ts=9 _event_lsn=9"},
	} {
		d := m.Delta(c.old, c.new)
		if got := show(d.Winner()); got != c.want {
			t.Errorf("%s: want %s, got %s (%s)", c.name, c.want, got, d.Why())
		}
	}
	m = merger(Rules{Mode: Custom, HasOrdering: true, Payload: "PostgresDebeziumAvroPayload", UnavailableStays: true})
	d := m.Final(rec(`{"_event_lsn":7,"a":"o","ts":7}`), rec(`{"_event_lsn":8,"a":"__debezium_unavailable_value","ts":8}`))
	if got := show(d.Winner()); got != "a=__debezium_unavailable_value ts=8 _event_lsn=8" {
		t.Errorf("a release that loses filled values: got %s", got)
	}
}

// TestPartialModes is section 3 of the spec, and vectors 5 and 6 of its section 14.
func TestPartialModes(t *testing.T) {
	const u = "__debezium_unavailable_value"
	ignoreC, ignoreE := Rules{Mode: CommitTime, HasOrdering: true, Partial: IgnoreDefaults}, Rules{Mode: EventTime, HasOrdering: true, Partial: IgnoreDefaults}
	fill := Rules{Mode: EventTime, HasOrdering: true, Partial: FillUnavailable, Unavailable: u}
	for _, c := range []struct {
		name     string
		r        Rules
		old, new *Record
		want     string
		fromNew  string // of a combined row
	}{
		{"null keeps the older value", ignoreC, rec(`{"a":"o","n":1,"s":"p","ts":5}`), rec(`{"n":2,"s":"q","ts":3}`), "a=o n=2 s=q ts=3", "n s ts"},
		{"0 is the default of n, x that of s", ignoreC, rec(`{"a":"o","n":1,"s":"p","ts":5}`), rec(`{"a":"n","n":0,"s":"x","ts":3}`), "a=n n=1 s=p ts=3", ""},
		{"event time: the late record fills", ignoreE, rec(`{"n":1,"s":"p","ts":5}`), rec(`{"a":"n","n":2,"s":"q","ts":3}`), "a=n n=1 s=p ts=5", ""},
		{"event time: tie", ignoreE, rec(`{"a":"o","n":1,"s":"p","ts":5}`), rec(`{"n":2,"s":"q","ts":5}`), "a=o n=2 s=q ts=5", ""},
		{"a delete stays a delete", ignoreE, rec(`{"a":"o","ts":5}`), flagged(rec(`{"ts":6}`)), "deleted", ""},
		{"nothing of a deleted row", ignoreC, flagged(rec(`{"a":"o","ts":5}`)), rec(`{"s":"q","ts":6}`), "s=q ts=6", ""},
		{"late delete", ignoreE, rec(`{"a":"o","ts":5}`), flagged(rec(`{"ts":4}`)), "a=o ts=5", ""},
		{"unavailable text", fill, rec(`{"a":"o","s":"o","ts":5}`), rec(`{"a":"` + u + `","s":"n","ts":6}`), "a=o s=n ts=6", ""},
		{"a null is a value", fill, rec(`{"a":"o","s":"o","ts":5}`), rec(`{"s":"n","ts":6}`), "s=n ts=6", ""},
		{"unavailable bytes", fill, rec(`{"b":"o","s":"o","ts":5}`), rec(`{"b":"` + u + `","s":"n","ts":6}`), "s=n ts=6 b=bw==", ""},
		{"late record fills what is unavailable", fill, rec(`{"a":"` + u + `","s":"o","ts":5}`), rec(`{"a":"n","s":"n","ts":4}`), "a=n s=o ts=5", ""},
	} {
		for _, step := range []string{"delta", "final"} {
			m := merger(c.r)
			d := m.Final(c.old, c.new)
			if step == "delta" {
				d = m.Delta(c.old, c.new)
			}
			if got := show(d.Winner()); got != c.want {
				t.Errorf("%s, %s: want %s, got %s (%s)", c.name, step, c.want, got, d.Why())
			}
			if c.fromNew != "" {
				var from []string
				for i, x := range d.Merged.FromNew {
					if x {
						from = append(from, rowType.Fields[i].Name)
					}
				}
				if got := strings.Join(from, " "); got != c.fromNew {
					t.Errorf("%s, %s: from the newer: want %s, got %s", c.name, step, c.fromNew, got)
				}
				if !strings.Contains(d.Why(), "3 of 10 columns") {
					t.Errorf("%s: %s", c.name, d.Why())
				}
			}
		}
	}
}

// TestPartialUpdates is section 10.4 of the spec: blocks with IS_PARTIAL.
func TestPartialUpdates(t *testing.T) {
	commit, event := Rules{Mode: CommitTime, HasOrdering: true}, Rules{Mode: EventTime, HasOrdering: true}
	ignore := Rules{Mode: CommitTime, HasOrdering: true, Partial: IgnoreDefaults}
	base := func() *Record { return rec(`{"a":"o","n":1,"s":"p","ts":5}`) }
	for _, c := range []struct {
		name     string
		r        Rules
		old, new *Record
		want     string
		complete bool
	}{
		{"over a complete row", event, base(), only(rec(`{"n":9,"ts":7}`), "n", "ts"), "a=o n=9 s=p ts=7", true},
		{"a null overwrites", event, base(), only(rec(`{"ts":7}`), "a", "ts"), "n=1 s=p ts=7", true},
		{"late", event, base(), only(rec(`{"n":9,"ts":3}`), "n", "ts"), "a=o n=1 s=p ts=5", true},
		{"late, commit time", commit, base(), only(rec(`{"n":9,"ts":3}`), "n", "ts"), "a=o n=9 s=p ts=3", true},
		{"two partial ones", event, only(rec(`{"a":"p","ts":5}`), "a", "ts"), only(rec(`{"n":9,"ts":7}`), "n", "ts"), "a=p n=9 ts=7", false},
		{"two partial ones, the second is late", event, only(rec(`{"a":"p","ts":7}`), "a", "ts"), only(rec(`{"a":"q","n":9,"ts":5}`), "a", "n", "ts"), "a=p n=9 ts=7", false},
		{"the second covers the first", event, only(rec(`{"ts":5}`), "ts"), only(rec(`{"n":9,"ts":7}`), "n", "ts"), "n=9 ts=7", false},
		{"a complete row over a partial one", event, only(rec(`{"a":"p","ts":5}`), "a", "ts"), rec(`{"s":"z","ts":7}`), "s=z ts=7", true},
		{"a late complete row under a partial one", event, only(rec(`{"a":"p","ts":7}`), "a", "ts"), rec(`{"a":"x","s":"z","ts":5}`), "a=p s=z ts=7", true},
		{"after a delete", event, del(Ordering{}), only(rec(`{"n":9,"ts":7}`), "n", "ts"), "n=9 ts=7", false},
		{"the table's partial mode no longer counts", ignore, base(), rec(`{"ts":7}`), "ts=7", true},
	} {
		m := merger(c.r)
		if err := m.SawPartials(); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the union of fields is remembered
			d := m.Delta(c.old, c.new)
			w := d.Winner()
			if got := show(w); got != c.want || (w.Partial == nil) != c.complete {
				t.Errorf("%s: want %s, complete %v, got %s, %v (%s)", c.name, c.want, c.complete, got, w.Partial == nil, d.Why())
			}
		}
	}
	m := merger(Rules{Mode: Custom, Payload: "AWSDmsAvroPayload"})
	if err := m.SawPartials(); err == nil {
		t.Error("a payload class merged partial updates")
	}
}

// TestCombinedRows makes more rows than one batch holds; all must stay as they were.
func TestCombinedRows(t *testing.T) {
	m := merger(Rules{Mode: CommitTime, Partial: IgnoreDefaults})
	var rows []*Record
	for i := range 3*batchRows + 5 {
		d := m.Delta(rec(`{"a":"o","n":1}`), rec(fmt.Sprintf(`{"n":%d,"s":"q"}`, i+1)))
		w := *d.Winner()
		rows = append(rows, &w)
	}
	for i, r := range rows {
		if got, want := show(r), fmt.Sprintf("a=o n=%d s=q", i+1); got != want {
			t.Fatalf("row %d: want %s, got %s", i, want, got)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		r    Rules
		want string
	}{
		{Rules{Mode: EventTime}, ""},
		{Rules{Mode: Custom, Payload: "MyPayload"}, "MyPayload is not part of Hudi"},
		{Rules{Mode: Custom}, "no payload class"},
		{Rules{Mode: CommitTime, Payload: "MyPayload"}, ""},
		{Rules{Mode: "LATEST"}, "LATEST is not known"},
		{Rules{Mode: EventTime, Partial: "SOMETIMES"}, "SOMETIMES is not known"},
		{Rules{Mode: EventTime, Partial: FillUnavailable}, "names none"},
	} {
		err := c.r.Check()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c.r, err)
		}
	}
}

func TestCompare(t *testing.T) {
	f := func(x float64) Ordering { return Ordering{Class: Double, Float: x} }
	s := func(x string) Ordering { return Ordering{Class: Text, Bytes: []byte(x)} }
	d := func(scale int64, b ...byte) Ordering { return Ordering{Class: DecimalNumber, Int: scale, Bytes: b} }
	tup := func(o ...Ordering) Ordering { return Ordering{Class: Tuple, Tuple: o} }
	for i, c := range []struct {
		a, b Ordering
		want int
		same bool
	}{
		{long(1), long(2), -1, true},
		{f(math.NaN()), f(math.Inf(1)), 1, true},
		{f(math.NaN()), f(-math.NaN()), 0, true},
		{f(math.Copysign(0, -1)), f(0), -1, true},
		{s("a"), s("b"), -1, true},
		{s("a"), s("ab"), -1, true},
		// U+10000 is D800 DC00 in UTF-16, below U+FFFF, though its UTF-8 bytes are above.
		{s("\U00010000"), s("\uffff"), -1, true},
		{s("x\U00010000"), s("x\U00010001"), -1, true},
		{s("é"), s("è"), 1, true},
		{Ordering{Class: Bytes, Bytes: []byte{0x80}}, Ordering{Class: Bytes, Bytes: []byte{0x01}}, -1, true},
		{d(1, 25), d(2, 0x00, 0xfa), 0, true}, // 2.5 = 2.50
		{d(1, 0xff), d(1, 1), -1, true},
		{tup(long(1), long(9)), tup(long(2), long(0)), -1, true},
		{tup(long(2), long(0)), tup(long(2), long(0)), 0, true},
		{Ordering{}, long(0), 0, false},
		{Ordering{}, s("a"), -1, false},
	} {
		got, same := Compare(&c.a, &c.b)
		if got != c.want || same != c.same {
			t.Errorf("%d: %s and %s: got %d, %v", i, &c.a, &c.b, got, same)
		}
		if back, _ := Compare(&c.b, &c.a); back != -got {
			t.Errorf("%d: not antisymmetric", i)
		}
	}
	def, zero := Ordering{}, long(0)
	if !def.IsDefault() || zero.IsDefault() {
		t.Error("Integer 0 alone is the default")
	}
}

// BenchmarkDelta is one merge step of the commonest mode; it must not allocate.
func BenchmarkDelta(b *testing.B) {
	m := merger(Rules{Mode: EventTime, HasOrdering: true})
	old, new := row(long(5)), row(long(6))
	b.ReportAllocs()
	for b.Loop() {
		if d := m.Delta(old, new); d.Outcome != New {
			b.Fatal(d.Why())
		}
	}
}
