package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCountsRealRuns runs go test -json on a module with every kind of outcome.
func TestCountsRealRuns(t *testing.T) {
	dir := t.TempDir()
	for name, src := range map[string]string{
		"go.mod": "module m\n\ngo 1.26\n",
		"a/a_test.go": `package a
import "testing"
func TestPass(t *testing.T) {}
func TestOuter(t *testing.T) {
	t.Run("good", func(t *testing.T) {})
	t.Run("bad", func(t *testing.T) { t.Error("the inner one says why") })
	t.Run("later", func(t *testing.T) { t.Skip("not today") })
}
func TestOuterItself(t *testing.T) {
	t.Run("good", func(t *testing.T) {})
	t.Error("the outer one says why")
}
`,
		"b/b_test.go": `package b
import "testing"
func TestPanics(t *testing.T) { panic("it went over") }
`,
		"c/c_test.go": `package c
import "testing"
func TestX(t *testing.T) { undefined() }
`,
		"d/d.go": "package d\n",
		"e/e_test.go": `package e
import ("os"; "testing")
func TestMain(m *testing.M) { println("before the tests"); os.Exit(3) }
`,
	} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var r results
	cmd := exec.Command("go", "test", "-json", "./...")
	cmd.Dir = dir
	goTest(t.Context(), &r, "", cmd)
	if got, want := r.counts(), (counts{passed: 3, failed: 5, skipped: 1}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
	want := []string{"m/a TestOuter/bad", "m/a TestOuterItself", "m/b TestPanics", "m/c", "m/e"}
	slices.Sort(r.fails)
	if !slices.Equal(r.fails, want) {
		t.Errorf("failed %q, want %q", r.fails, want)
	}
	if len(r.skips) != 1 || r.skips[0] != "m/a TestOuter/later: not today" {
		t.Errorf("skipped %q", r.skips)
	}
}

func TestClosingLines(t *testing.T) {
	for out, want := range map[string]counts{
		"x\n12 passed, 0 failed\n":                                    {12, 0, 0},
		"1 passed, 2 failed\nedge: 3 passed, 4 failed, 5 skipped\n\n": {3, 4, 5},
		"# tests 9\n# pass 7\n# fail 1\n# skipped 1\n":                {7, 1, 1},
		"ℹ tests 2\nℹ pass 2\nℹ fail 0\n":                             {2, 0, 0},
	} {
		if got, ok := tell(out); !ok || got != want {
			t.Errorf("%q: %+v %v, want %+v", out, got, ok, want)
		}
	}
	for _, out := range []string{"", "all good\n", "I saw 3 passed, 4 failed once\n"} {
		if got, ok := tell(out); ok {
			t.Errorf("%q: %+v", out, got)
		}
	}
}

// TestScriptsFail: a program that says all is well but exits with an error has failed,
// and so has one that ran nothing or counted nothing.
func TestScriptsFail(t *testing.T) {
	exit := exec.Command("false").Run()
	for _, c := range []struct {
		out string
		err error
		ok  bool
	}{
		{"3 passed, 0 failed", nil, true},
		{"3 passed, 0 failed", exit, false},
		{"3 passed, 1 failed", nil, false},
		{"0 passed, 0 failed", nil, false},
		{"fine", nil, false},
	} {
		var r results
		r.script("x", c.out, c.err)
		if got := r.counts().failed == 0; got != c.ok {
			t.Errorf("%q %v: ok %v, want %v (%s)", c.out, c.err, got, c.ok, strings.Join(r.fails, "; "))
		}
	}
}

func TestGrouped(t *testing.T) {
	got := grouped([]string{"m/a TestX/one: no", "m/a TestX/two: no", "m/a TestX/three: other", "m/b TestY: no", "gold: not here"})
	want := []string{"m/a TestX/…: no (2 of these)", "m/a TestX/…: other", "m/b TestY: no", "gold: not here"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestRepeated: only what passes when it is run again counts as passed, and it is told.
func TestRepeated(t *testing.T) {
	exit := exec.Command("false").Run()
	const first = "ok 1 - a\nnot ok 2 - b \\# c\n    not ok 1 - inner\nnot ok 3 - d\n# pass 5\n# fail 2\n# skipped 0\n"
	failed := tapFailed(first)
	if want := []string{"b # c", "d"}; !slices.Equal(failed, want) {
		t.Fatalf("failed %q, want %q", failed, want)
	}
	for _, c := range []struct {
		second string
		err    error
		want   counts
		told   int
	}{
		{"# pass 2\n# fail 0\n# skipped 9\n", nil, counts{7, 0, 0}, 2},
		{"not ok 4 - d\n# pass 1\n# fail 1\n# skipped 9\n", exit, counts{6, 1, 0}, 1},
		{"not ok 1 - b \\# c\nnot ok 4 - d\n# pass 0\n# fail 2\n", exit, counts{5, 2, 0}, 0},
		{"# pass 1\n# fail 0\n", nil, counts{5, 2, 0}, 0}, // one of them was not run
		{"# pass 2\n# fail 0\n", exit, counts{5, 2, 0}, 0},
		{"it did not start", exit, counts{5, 2, 0}, 0},
	} {
		var r results
		r.repeated("x", first, failed, c.second, c.err)
		if got := r.counts(); got != c.want || len(r.unstable) != c.told {
			t.Errorf("%q %v: %+v and %d told, want %+v and %d", c.second, c.err, got, len(r.unstable), c.want, c.told)
		}
	}
}
