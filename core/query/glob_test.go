package query

import (
	"strings"
	"testing"
)

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		glob, text string
		want       bool
	}{
		{"*", "", true}, {"*", "a/b\nc", true}, {"a?c", "abc", true}, {"a?c", "ac", false}, {"a?c", "a/c", true}, {"**/x", "a/b/x", true},
		{"[ab]x", "bx", true}, {"[ab]x", "cx", false}, {"[a-c]x", "bx", true}, {"[!ab]x", "cx", true}, {"[^ab]x", "ax", false}, {"a^b", "a^b", true}, {"a!b", "a!b", true},
		{"{a,b}x", "bx", true}, {"{a,b}x", "abx", false}, {"{a,{b,c}d}x", "cdx", true}, {"a,b", "a,b", true}, {"{a}", "a", true}, {"{,a}x", "x", true},
		{"a.b", "axb", false}, {"a.b", "a.b", true}, {"a(b)|c+$", "a(b)|c+$", true}, {`a\*b`, "a*b", true}, {`a\*b`, "axb", false}, {`\{a`, "{a", true},
		{"}", "}", true}, {"]", "]", true}, {"[.]x", "ax", false}, {"[*]x", "*x", true}, {"日*", "日本", true}, {"year=20?6", "year=2026", true},
	} {
		g, err := compileGlob(c.glob)
		if err != nil {
			t.Errorf("%q: %v", c.glob, err)
			continue
		}
		if got := g.match(c.text); got != c.want {
			t.Errorf("%q against %q: %v", c.glob, c.text, got)
		}
	}
	for _, bad := range []string{"[a", "{a", "{a,{b}", `a\`, "[a[b]", "[z-a]"} {
		if _, err := compileGlob(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	p, err := pathGlob("/2026/*/{a,b}*")
	if err != nil || !p.match("/data/table/2026/01/b-1.parquet") || p.match("/data/table/2025/01/b-1.parquet") {
		t.Errorf("%v, %v", p, err)
	}
}

func TestReadPaths(t *testing.T) {
	for _, c := range []struct {
		paths, file string
		want        bool
	}{
		{"/data/t", "a/x.parquet", true}, {"/data/t/", "x.parquet", true}, {"/data/t/a", "a/x.parquet", true}, {"/data/t/a", "ab/x.parquet", false},
		{"/data/t/a/x.parquet", "a/x.parquet", true}, {"a", "a/x.parquet", true}, {"a/*", "a/b/x.parquet", true}, {"/data/t/*", "a/x.parquet", true},
		{"a*c", "a/c/x.parquet", false}, {"{a,b}", "b/x.parquet", true}, {"{a/c,b}", "a/c/x.parquet", true}, {"{a/c,b}/*.orc", "a/c/x.parquet", false},
		{"a,b", "b/x.parquet", true}, {"file:///data/t/b", "b/x.parquet", true}, {"file:/data/t/*", "b/x.parquet", true}, {"*", "b/x.parquet", true}, {"t/b", "b/x.parquet", false}, {"b/?.parquet", "b/x.parquet", true}, {"*/*/*", "b/x.parquet", false}, {"/other/t/b", "b/x.parquet", false},
	} {
		list, err := parsePaths(c.paths)
		if err != nil {
			t.Errorf("%q: %v", c.paths, err)
			continue
		}
		got := false
		for _, p := range list {
			got = p.under("/data/t", "", c.file) || got
		}
		if got != c.want {
			t.Errorf("%q with %q: %v", c.paths, c.file, got)
		}
	}
	if list, err := parsePaths("a, {b,c/d}/*,,e"); err != nil || len(list) != 3 || len(list[1].names) != 2 {
		t.Errorf("%v, %v", list, err)
	}
	for _, bad := range []string{"", " , ", "[a", strings.Repeat("{/a,/b}", 13)} {
		if _, err := parsePaths(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
