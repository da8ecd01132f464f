//go:build !js

package core_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// dependency is a row of docs/dependencies.md.
type dependency struct {
	version, licence, linked, reason string
}

// listedDependencies reads the tables of docs/dependencies.md.
func listedDependencies(t *testing.T) map[string]dependency {
	t.Helper()
	text, err := os.ReadFile("../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]dependency{}
	for line := range strings.SplitSeq(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 7 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		name := strings.Trim(cells[1], "`")
		if name == cells[1] {
			continue // the head of a table
		}
		if _, twice := out[name]; twice {
			t.Errorf("%s stands there twice", name)
		}
		d := dependency{cells[2], cells[3], cells[4], cells[5]}
		if d.version == "" || d.licence == "" || d.linked == "" || d.reason == "" {
			t.Errorf("%s: a cell is empty", name)
		}
		out[name] = d
	}
	return out
}

// TestDependenciesAreListed holds docs/dependencies.md against go.mod, every package.json, and what the
// programs link.
func TestDependenciesAreListed(t *testing.T) {
	listed := listedDependencies(t)
	known := map[string]bool{}
	check := func(where, name, version string) {
		known[name] = true
		if d, ok := listed[name]; !ok {
			t.Errorf("%s names %s %s, which is not in docs/dependencies.md: add it with licence and reason", where, name, version)
		} else if d.version != version {
			t.Errorf("%s names %s %s, docs/dependencies.md %s", where, name, version, d.version)
		}
	}
	mod, err := exec.Command("go", "mod", "edit", "-json", "../go.mod").Output()
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(mod, &m); err != nil {
		t.Fatal(err)
	}
	for _, r := range m.Require {
		check("go.mod", r.Path, r.Version)
	}
	packages := 0
	for _, dir := range []string{"web/e2e", "wasm/edge/test", "tools/servers", "wasm/edge", "tools/bench/browser"} {
		file := filepath.Join("..", dir, "package.json")
		text, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			continue
		}
		var p struct{ Dependencies, DevDependencies map[string]string }
		if err == nil {
			err = json.Unmarshal(text, &p)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		packages++
		for _, list := range []map[string]string{p.Dependencies, p.DevDependencies} {
			for name, version := range list {
				check(dir, name, version)
			}
		}
	}
	if len(m.Require) == 0 || packages < 2 {
		t.Errorf("%d modules, %d package.json", len(m.Require), packages)
	}
	for name := range listed {
		if !known[name] {
			t.Errorf("docs/dependencies.md has %s, which nothing names", name)
		}
	}

	// What is linked: into the command as it is, into the others with the trimmed copies, whose modfile a
	// build makes.
	trimmed := filepath.Join(".cache", "trim", "go.mod")
	linked := map[string]map[string]bool{}
	for _, p := range []struct{ program, pkg, goos string }{{"page", "./wasm/app", "js"}, {"engine", "./wasm/engineorc", "js"}, {"edge", "./wasm/edge", "js"}, {"command", "./cmd/hudiscope", ""}} {
		args := []string{"list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", p.pkg}
		if p.goos == "js" {
			if _, err := os.Stat(filepath.Join("..", trimmed)); err != nil {
				continue
			}
			args = append([]string{"list", "-modfile=" + trimmed}, args[1:]...)
		}
		cmd := exec.Command("go", args...)
		cmd.Dir = ".."
		cmd.Env = os.Environ()
		if p.goos == "js" {
			cmd.Env = append(cmd.Env, "GOOS=js", "GOARCH=wasm")
		}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list %s: %v", p.pkg, err)
		}
		linked[p.program] = map[string]bool{}
		for _, name := range strings.Fields(string(out)) {
			linked[p.program][name] = true
			if d := listed[name]; name != module && !strings.Contains(d.linked, p.program) {
				t.Errorf("the %s links %s; docs/dependencies.md says: %s", p.program, name, d.linked)
			}
		}
	}
	for name, d := range listed {
		for program, list := range linked {
			if strings.Contains(d.linked, program) && strings.Contains(name, ".") && !list[name] {
				t.Errorf("docs/dependencies.md says that the %s links %s, and it does not", program, name)
			}
		}
	}
}
