package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestKeepsInputs: of the inputs in a cache those are kept that reach new code each time, the smallest first, and none
// that fails, is slow, is large or is none.
func TestKeepsInputs(t *testing.T) {
	dir := t.TempDir()
	once := filepath.Join(dir, "once")
	write := func(name, text string) {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module m\n\ngo 1.26\n")
	write("inner/inner.go", `package inner
func Big(s string) bool {
	if len(s) > 100 {
		return s[100] == 'x'
	}
	return false
}
`)
	write("p/p.go", `package p
import ("os"; "time"; "m/inner")
func Parse(s string, n int) int {
	switch s {
	case "seed": return 1
	case "committed": return 2
	case "new", "other new": return 3
	case "slow": time.Sleep(300*time.Millisecond); return 4
	case "fails": panic(s)
	}
	// Reached by the first run alone.
	if _, err := os.Stat("`+filepath.ToSlash(once)+`"); err != nil && s == "once" {
		os.WriteFile("`+filepath.ToSlash(once)+`", nil, 0o644)
		return 5
	}
	if n == 7 { return 7 }
	if inner.Big(s) { return 8 }
	return 0
}
`)
	write("p/p_test.go", `package p
import "testing"
`+"func FuzzParse"+`(f *testing.F) {
	f.Add("seed", 1)
	f.Add("", 0)
	f.Fuzz(func(t *testing.T, s string, n int) { Parse(s, n) })
}
`)
	text := func(s string, n int) string { return fmt.Sprintf("go test fuzz v1\nstring(%q)\nint(%d)\n", s, n) }
	write("p/testdata/fuzz/FuzzParse/0", text("committed", 0))
	for name, in := range map[string]string{
		"a": text("new", 0), "b": text("other new", 0), "c": text("slow", 0), "d": text("fails", 0), "e": text("once", 0), "f": text("", 7),
		"g": text(strings.Repeat("-", 100)+"x", 0), "h": text(strings.Repeat("x", keptBytes+1), 0), "i": "no input", "j": text("committed", 1), "k": text("seed", 2),
	} {
		write("cache/"+name, in)
	}
	t.Chdir(dir)
	keeping := &keeper{dir: t.TempDir(), tests: map[string]func() (string, error){}}
	target := fuzzTarget{"m/p", "FuzzParse"}
	k, err := keeping.keep(t.Context(), target, filepath.Join(dir, "p"), filepath.Join(dir, "cache"))
	if err != nil {
		t.Fatal(err)
	}
	there := func() []string {
		in, err := inputsIn("p/testdata/fuzz/FuzzParse")
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, i := range in {
			out = append(out, i.name)
		}
		return out
	}
	if got, want := there(), []string{"0", "a", "f", "g"}; !slices.Equal(got, want) {
		t.Errorf("%v are in the tree, want %v", got, want)
	}
	if k.added != 3 || k.now != 4 || k.found != 11 || k.tried != 9 || k.bytes != int64(len(text("committed", 0))+len(text("new", 0))+len(text("", 7))+len(text(strings.Repeat("-", 100)+"x", 0))) {
		t.Errorf("%+v", k)
	}
	// Once more there is nothing new.
	if k, err = keeping.keep(t.Context(), target, filepath.Join(dir, "p"), filepath.Join(dir, "cache")); err != nil || k.added != 0 || k.now != 4 {
		t.Errorf("%+v, %v", k, err)
	}
	// An input of the tree that fails is left there, and said.
	write("p/testdata/fuzz/FuzzParse/bad", text("fails", 1))
	if _, err := keeping.keep(t.Context(), target, filepath.Join(dir, "p"), filepath.Join(dir, "cache")); err == nil || !strings.Contains(err.Error(), "FuzzParse/bad") {
		t.Errorf("%v", err)
	}
	if !slices.Contains(there(), "bad") {
		t.Error("it is gone")
	}
}

// TestTargetsAreListed: docs/robustness.md lists every fuzz target of the tree, and none that is not there; inputs in the tree
// belong to a target and are within the bounds of what is kept.
func TestTargetsAreListed(t *testing.T) {
	const root = "../.."
	doc, err := os.ReadFile(filepath.Join(root, "docs", "robustness.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(doc), "\n## Fuzzing\n")
	if !ok {
		t.Fatal("there is no section Fuzzing")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string]bool{}
	for line := range strings.SplitSeq(section, "\n") {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		// `package` FuzzA, FuzzB, `package` FuzzC
		pkg := ""
		for _, m := range regexp.MustCompile("`([a-z0-9/]+)`|\\b(Fuzz[A-Z]\\w*)").FindAllStringSubmatch(line, -1) {
			if m[1] != "" {
				pkg = m[1]
			} else {
				listed[pkg+" "+m[2]] = true
			}
		}
	}
	targets := map[string]bool{}
	t.Chdir(root)
	list, err := fuzzTargets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range list {
		targets[strings.TrimPrefix(x.pkg, "hudiscope/")+" "+x.name] = true
	}
	if len(targets) < 40 {
		t.Fatalf("only %d targets were found", len(targets))
	}
	for target := range targets {
		if !listed[target] {
			t.Errorf("%s is not listed", target)
		}
	}
	for target := range listed {
		if !targets[target] {
			t.Errorf("%s is listed and is not there", target)
		}
	}
	folders, err := filepath.Glob(filepath.Join("*", "*", "testdata", "fuzz", "*"))
	if err != nil {
		t.Fatal(err)
	}
	deeper, err := filepath.Glob(filepath.Join("*", "*", "*", "testdata", "fuzz", "*"))
	if err != nil {
		t.Fatal(err)
	}
	top, err := filepath.Glob(filepath.Join("*", "testdata", "fuzz", "*"))
	if err != nil {
		t.Fatal(err)
	}
	inputs, bytes := 0, 0
	for _, folder := range slices.Concat(folders, deeper, top) {
		pkg := filepath.Join(folder, "..", "..", "..")
		if target := filepath.ToSlash(pkg) + " " + filepath.Base(folder); !targets[target] {
			t.Errorf("%s: there is no such target", target)
		}
		list, err := inputsIn(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range list {
			inputs++
			bytes += len(in.text)
			if _, err := contentSize(in.text); err != nil {
				t.Errorf("%s/%s: %v", folder, in.name, err)
			}
		}
	}
	t.Logf("%d targets, %d inputs in the tree, %d bytes", len(targets), inputs, bytes)
	if bytes > 3<<20 {
		t.Errorf("the inputs in the tree are %d bytes", bytes)
	}
}
