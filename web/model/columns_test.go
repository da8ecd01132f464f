package model

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"hudiscope/core/api"
)

var gridOf = []api.Column{{Name: "_hoodie_key", Meta: true}, {Name: "a"}, {Name: "b"}, {Name: "c, d"}, {Name: "e:f"}}

func shownNames(g GridColumns, hideMeta bool) string {
	shown, pinned := g.Layout(gridOf, hideMeta)
	var out []string
	for i, c := range shown {
		if i == pinned {
			out = append(out, "|")
		}
		out = append(out, gridOf[c].Name)
	}
	if pinned == len(shown) {
		out = append(out, "|")
	}
	return strings.Join(out, " ")
}

func TestGridColumns(t *testing.T) {
	var g GridColumns
	check := func(want string) {
		t.Helper()
		if got := shownNames(g, true); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if back := ParseGridColumns(g.String()); shownNames(back, false) != shownNames(g, false) || back.String() != g.String() {
			t.Errorf("%s comes back as %s", g, back)
		}
	}
	check("| a b c, d e:f")
	if g.String() != "" {
		t.Errorf("%q", g.String())
	}
	g.Pin("c, d", true)
	check("c, d | a b e:f")
	g.Hide("a", true)
	check("c, d | b e:f")
	g.Pin("_hoodie_key", true)
	check("c, d _hoodie_key | b e:f")
	if !g.Move(gridOf, true, "_hoodie_key", -1) || g.Move(gridOf, true, "_hoodie_key", -1) {
		t.Error("moves among the pinned")
	}
	check("_hoodie_key c, d | b e:f")
	if !g.Move(gridOf, true, "e:f", -5) {
		t.Error("does not move")
	}
	check("_hoodie_key c, d | e:f b")
	if len(g.Order) != 1 {
		t.Errorf("%q are named", g.Order)
	}
	g.Move(gridOf, true, "e:f", 1)
	check("_hoodie_key c, d | b e:f")
	if len(g.Order) != 0 {
		t.Errorf("%q are named", g.Order)
	}
	g.Hide("a", false)
	g.Pin("c, d", false)
	check("_hoodie_key | a b c, d e:f")
	g.Resize("a", 120)
	g.Resize("e:f", 1e9)
	g.Resize("b", 1)
	if back := ParseGridColumns(g.String()); !reflect.DeepEqual(back.Widths, map[string]int{"a": 120, "e:f": MaxColumn, "b": MinColumn}) {
		t.Errorf("%v", back.Widths)
	}
	g.Resize("a", 0)
	if _, ok := g.Widths["a"]; ok {
		t.Error("a width stays")
	}
	g = GridColumns{}
	for i := range MaxPinned + 1 {
		if got := g.Pin(fmt.Sprint(i), true); got != (i < MaxPinned) {
			t.Errorf("pin %d: %v", i, got)
		}
	}
	// Links may hold anything.
	for _, s := range []string{"x", "p:", "w:a", "w-5:a", "w99999999999999999999:a", ":,:,p:a,p:a,h:a,o:b,o:b", "\\"} {
		ParseGridColumns(s).Layout(gridOf, false)
	}
}

func TestOrderText(t *testing.T) {
	keys := []api.SortKey{{Column: "a, b"}, {Column: "c:d", Desc: true, Nulls: "first"}, {Column: "e", Nulls: "last"}}
	if got := SplitOrder(JoinOrder(keys)); !reflect.DeepEqual(got, keys) {
		t.Errorf("%+v", got)
	}
	if got := SplitOrder("x:a,a:,:b,dz:c,d:ok"); !reflect.DeepEqual(got, []api.SortKey{{Column: "ok", Desc: true}}) {
		t.Errorf("%+v", got)
	}
	o := NextOrder(nil, "a", false)
	o = NextOrder(o, "b", true)
	if place, desc := OrderOf(o, "b"); place != 2 || desc {
		t.Errorf("%+v", o)
	}
	o = NextOrder(o, "b", true)
	if place, desc := OrderOf(o, "b"); place != 2 || !desc {
		t.Errorf("%+v", o)
	}
	if o = NextOrder(o, "b", true); len(o) != 1 {
		t.Errorf("%+v", o)
	}
	if o = NextOrder(o, "c", false); len(o) != 1 || o[0].Column != "c" {
		t.Errorf("%+v", o)
	}
}

func TestConditions(t *testing.T) {
	for _, c := range []struct{ column, typ, value, want string }{
		{"city", "string", `"O'Brien\\ \n"`, `city = 'O\'Brien\\ \n'`},
		{"a b", "long", `9223372036854775807`, "`a b` = 9223372036854775807"},
		{"date", "date", `"2026-01-02"`, "`date` = DATE '2026-01-02'"},
		{"t", "timestamp(micros)", `"2026-01-02T03:04:05.000006Z"`, `t = TIMESTAMP '2026-01-02T03:04:05.000006Z'`},
		{"t", "local-timestamp(micros)", `"2026-01-02T03:04:05.000006"`, `t = TIMESTAMP_NTZ '2026-01-02T03:04:05.000006'`},
		{"d", "decimal(10,2)", `"-12.30"`, `d = -12.30`},
		{"f", "double", `"NaN"`, `f = CAST('NaN' AS DOUBLE)`},
		{"f", "float", `1.5`, `f = CAST('1.5' AS FLOAT)`},
		{"b", "boolean", `true`, `b = true`},
		{"n", "array<string>", `null`, `n IS NULL`},
		{"n`", "array<string>", `["x"]`, ""},
		{"x", "bytes", `"AAE="`, ""},
	} {
		got, ok := Equals(c.column, c.typ, json.RawMessage(c.value))
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s %s %s: %q %v", c.column, c.typ, c.value, got, ok)
		}
	}
	if got, ok := Between("ts", "long", api.Interval{From: json.RawMessage("-4"), To: json.RawMessage("8")}); !ok || got != "ts >= -4 AND ts < 8" {
		t.Error(got)
	}
	if got := AndWhere(AndWhere("a = 1 OR b = 2", "c = 3"), "c = 3"); got != "(a = 1 OR b = 2) AND c = 3" {
		t.Error(got)
	}
	if got := AndWhere("", "c = 3"); got != "c = 3" {
		t.Error(got)
	}
}
