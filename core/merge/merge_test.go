package merge

import (
	"math"
	"testing"

	"hudiscope/core/column"
	"hudiscope/core/schema"
)

// row makes a log record with a row.
func row(ord Ordering) *Record {
	b := &column.Batch{Type: &schema.Type{Kind: schema.Record}, Len: 1}
	return &Record{Row: column.Row{Batch: b}, Ord: ord}
}

func del(ord Ordering) *Record { return &Record{Ord: ord, Delete: true} }

func long(x int64) Ordering { return Ordering{Class: Long, Int: x} }

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
		want     bool
	}{
		{"event: higher wins", event, row(long(5)), row(long(6)), true},
		{"event: tie, newer wins", event, row(long(5)), row(long(5)), true},
		{"event: late record loses", event, row(long(5)), row(long(4)), false},
		{"commit: lower ordering wins by commit", commit, row(long(5)), row(long(4)), true},
		{"0.x commit: among log records the ordering decides", oldCommit, row(long(5)), row(long(4)), false},
		{"0.x: anything replaces a delete", old, del(long(9)), row(long(1)), true},
		{"event: default delete wins", event, row(long(5)), del(def), true},
		{"event: late delete loses", event, row(long(5)), del(long(4)), false},
		{"event: delete wins ties", event, row(long(5)), del(long(5)), true},
		{"event: class mismatch, delete wins", event, row(long(5)), del(Ordering{Class: Integer, Int: 4}), true},
		{"event: record after a default delete", event, del(def), row(long(1)), true},
		{"event: late record after a real delete", event, del(long(5)), row(long(1)), false},
		{"event: delete of what is deleted", event, del(def), del(long(3)), false},
		{"commit: delete wins", commit, row(long(5)), del(long(1)), true},
		{"no ordering field: later wins", none, row(long(5)), row(long(4)), true},
	} {
		d := c.r.Delta(c.old, c.new)
		if d.New != c.want {
			t.Errorf("%s: new wins = %v (%s)", c.name, d.New, d.Why())
		}
		if d.Why() == "" {
			t.Errorf("%s: no reason", c.name)
		}
	}
}

// TestFinal holds the vectors of spec record-merging.md section 14, checked with Hudi 1.2.0: base rows have ordering 5.
func TestFinal(t *testing.T) {
	event, commit := Rules{Mode: EventTime, HasOrdering: true}, Rules{Mode: CommitTime, HasOrdering: true}
	old := Rules{Mode: EventTime, Style: Payloads, HasOrdering: true}
	for _, c := range []struct {
		name string
		r    Rules
		log  *Record
		want bool
	}{
		{"late log record", event, row(long(3)), false},
		{"tie", event, row(long(5)), true},
		{"later", event, row(long(9)), true},
		{"default delete", event, del(Ordering{}), true},
		{"late delete", event, del(long(4)), false},
		{"delete tie", event, del(long(5)), true},
		{"commit time", commit, row(long(3)), true},
		{"0.x: any delete removes the row", old, del(long(1)), true},
		{"0.x: late record", old, row(long(3)), false},
	} {
		if d := c.r.Final(long(5), c.log); d.New != c.want {
			t.Errorf("%s: log wins = %v (%s)", c.name, d.New, d.Why())
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
		{Ordering{}, long(0), 0, false},
		{Ordering{}, s("a"), -1, false},
	} {
		got, same := Compare(c.a, c.b)
		if got != c.want || same != c.same {
			t.Errorf("%d: %s and %s: got %d, %v", i, c.a, c.b, got, same)
		}
		if back, _ := Compare(c.b, c.a); back != -got {
			t.Errorf("%d: not antisymmetric", i)
		}
	}
	if !(Ordering{}).IsDefault() || long(0).IsDefault() {
		t.Error("Integer 0 alone is the default")
	}
}
