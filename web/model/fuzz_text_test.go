package model

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

// FuzzTexts: texts of links and of fields of the page: what is understood is written so that it is understood again, and
// what isn't is left out.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{"0.25-0.5", "1e-9-1", "NaN-NaN", "p:a,h:b,o:c,w120:a", "w99999999999999999999:a", "small_file=1e6,archive=2", "64 MB", "1,000", "1e400 tb", "2026-05-01 12:30 rollback", "z-:t/.",
		"as.of.instant=2026,x=%2C", "12.5%", "-1", "a=b=c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e := ParseExtent(s)
		if !(e.A >= 0 && e.B <= 1 && e.A < e.B) {
			t.Fatalf("%q is the part %+v", s, e)
		}
		if again := ParseExtent(e.String()); math.Abs(again.A-e.A) > (e.B-e.A)/10 || math.Abs(again.B-e.B) > (e.B-e.A)/10 {
			if e.Zoomed() {
				t.Fatalf("%q is %+v, and %q is %+v", s, e, e.String(), again)
			}
		}
		g := ParseGridColumns(s)
		if len(g.Pinned) > MaxPinned {
			t.Fatalf("%q pins %d", s, len(g.Pinned))
		}
		for n, w := range g.Widths {
			if w < MinColumn || w > MaxColumn {
				t.Fatalf("%q: %q is %d wide", s, n, w)
			}
		}
		if again := ParseGridColumns(g.String()); again.String() != g.String() {
			t.Fatalf("%q is %q, and that %q", s, g.String(), again.String())
		}
		l := ParseLimits(s)
		for n, x := range l {
			if !(x >= 0) || math.IsInf(x, 0) {
				t.Fatalf("%q: %s is %v", s, n, x)
			}
		}
		if again := ParseLimits(JoinLimits(l)); !reflect.DeepEqual(again, l) && len(l)+len(again) > 0 {
			t.Fatalf("%q is %v, and that %v", s, l, again)
		}
		for _, unit := range []string{"", "bytes", "days"} {
			if x, ok := ParseAmount(s, unit); ok && (!(x >= 0) || math.IsInf(x, 0)) {
				t.Fatalf("%q is %v %s", s, x, unit)
			}
		}
		if q := ParseSearch(s); strings.Trim(q.Time, "0123456789") != "" {
			t.Fatalf("%q looks for the time %q", s, q.Time)
		}
		o := SplitOptions(s)
		if again := SplitOptions(JoinOptions(o)); !reflect.DeepEqual(again, o) && len(o)+len(again) > 0 {
			t.Fatalf("%q is %q, and that %q", s, o, again)
		}
		list := SplitList(s)
		if again := SplitList(JoinList(list)); !reflect.DeepEqual(again, list) && len(list)+len(again) > 0 {
			t.Fatalf("%q is %q, and that %q", s, list, again)
		}
	})
}

// FuzzTree: JSON of an answer is shown as a tree of the same values, and what is none is refused; a row that is written anew
// with Hudi's columns behind the others has the same fields.
func FuzzTree(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.0,1e999,null,true,"x\u0000"],"_hoodie_commit_time":"1","b":{"":[]}}`, `{"a":"{\"x\":1}"}`, strings.Repeat("[", 300), `{"a":1,"a":2}`, `[1,]`, `"\ud800"`, `{} {}`, `tru`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		n, err := ParseTree(doc)
		if err != nil {
			return
		}
		if !json.Valid(doc) {
			t.Fatalf("%q is shown", doc)
		}
		if count(n) > 2*len(doc) {
			t.Fatalf("%d nodes of %d bytes", count(n), len(doc))
		}
		row := MetaLast(string(doc))
		if !json.Valid([]byte(row)) {
			t.Fatalf("%q became %q", doc, row)
		}
		var a, b map[string]json.RawMessage
		if json.Unmarshal(doc, &a) == nil {
			if err := json.Unmarshal([]byte(row), &b); err != nil || len(a) != len(b) {
				t.Fatalf("%q became %q: %v", doc, row, err)
			}
		}
	})
}

func count(n *Node) int {
	all := 1
	for _, c := range n.Children {
		all += count(c)
	}
	return all
}
