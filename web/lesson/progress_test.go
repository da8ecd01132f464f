package lesson

import (
	"strings"
	"testing"
)

func TestProgress(t *testing.T) {
	all := []Lesson{{ID: "a", Steps: make([]Step, 2)}, {ID: "b", Steps: make([]Step, 3)}, {ID: "c", Steps: make([]Step, 1)}}
	p := ParseProgress("")
	if l, step := p.Next(all); l != &all[0] || step != 0 || p.FinishedOf(all) != 0 || p.String() != "" {
		t.Error("nothing was shown yet", l, step, p)
	}
	for _, n := range []int{2, 0, 2} {
		p.See("b", n)
	}
	if !p.See("a", 1) || p.See("a", 1) || p.Seen(&all[0]) != 1 || p.Finished(&all[0]) {
		t.Error("a step is new once", p)
	}
	if l, step := p.Next(all); l != &all[0] || step != 0 {
		t.Error(l, step)
	}
	p.See("a", 0)
	if l, step := p.Next(all); !p.Finished(&all[0]) || l != &all[1] || step != 1 {
		t.Error(l, step)
	}
	if got := p.String(); got != "a:0,1;b:0,2" {
		t.Error(got)
	}
	q := ParseProgress(p.String())
	if q.String() != p.String() || q.FinishedOf(all) != 1 {
		t.Error(q)
	}
	q.See("b", 1)
	q.See("c", 0)
	if l, _ := q.Next(all); l != nil || q.FinishedOf(all) != 3 {
		t.Error("all is finished", l, q)
	}
	// A lesson that lost a step, one that got one, and texts of others.
	if short := all[1]; !p.Finished(&Lesson{ID: "b", Steps: short.Steps[:1]}) || q.Finished(&Lesson{ID: "b", Steps: make([]Step, 4)}) {
		t.Error("steps that are no more, or are new")
	}
	for in, want := range map[string]string{"x": "", ":1": "", "a:": "", "a:-1,b,0": "a:0", "a:1,0,1;;b": "a:0,1", "a:99999999999999999999,3": "a:3", `{"a":[1]}`: ""} {
		if got := ParseProgress(in).String(); got != want {
			t.Errorf("%q: %q, not %q", in, got, want)
		}
	}
	if n := len(ParseProgress(strings.Repeat("q", 10) + ":0" + manyLessons(500))); n > mostRemembered {
		t.Error(n)
	}
}

func manyLessons(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(";" + strings.Repeat("x", i+1) + ":0")
	}
	return b.String()
}
