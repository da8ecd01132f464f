package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

const modfile = "-modfile=.cache/trim/go.mod"

// staticcheck's version is pinned here; go install checks it against the checksum database.
const staticcheckVersion = "v0.8.2"

// jsPackages are what is built for js/wasm.
var jsPackages = []string{"./core/...", "./fsadapter/...", "./web/...", "./wasm/..."}

func lint(ctx context.Context, r *results) {
	fmtCmd := command(ctx, "gofmt", "-l", "cmd", "core", "fsadapter", "tools", "wasm", "web")
	out, err := fmtCmd.CombinedOutput()
	if err != nil || len(out) > 0 {
		r.fail("gofmt", fmt.Sprintf("not formatted:\n%s", out))
	} else {
		r.pass(1)
	}
	if !trimmed(ctx, r) {
		return
	}
	r.check(ctx, "go vet", command(ctx, "go", "vet", "./..."))
	r.check(ctx, "go vet js/wasm", js(command(ctx, "go", append([]string{"vet", modfile}, jsPackages...)...)))
	bin, err := staticcheck(ctx)
	if err != nil {
		r.fail("staticcheck", err.Error())
		return
	}
	r.check(ctx, "staticcheck", command(ctx, bin, "./..."))
	r.check(ctx, "staticcheck js/wasm", js(command(ctx, bin, jsPackages...)))
}

// staticcheck returns the linter's path, and installs it into .cache/bin when it is not there.
func staticcheck(ctx context.Context) (string, error) {
	dir, err := filepath.Abs(filepath.Join(".cache", "bin"))
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "staticcheck")
	out, err := command(ctx, "go", "version", "-m", bin).Output()
	if err == nil && strings.Contains(string(out), "honnef.co/go/tools\t"+staticcheckVersion) {
		return bin, nil
	}
	fmt.Printf("   installing staticcheck %s into .cache/bin\n", staticcheckVersion)
	cmd := command(ctx, "go", "install", "honnef.co/go/tools/cmd/staticcheck@"+staticcheckVersion)
	cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=", "GOOS=", "GOARCH=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go install honnef.co/go/tools/cmd/staticcheck@%s: %w\n%s", staticcheckVersion, err, out)
	}
	return bin, nil
}

// trimmed makes the module copies that js/wasm builds use.
func trimmed(ctx context.Context, r *results) bool {
	out, err := command(ctx, "go", "run", "./tools/trim", "-q").CombinedOutput()
	if err != nil {
		r.fail("tools/trim", string(out))
	}
	return err == nil
}

func build(ctx context.Context, r *results) {
	r.check(ctx, "make build edge", command(ctx, "make", "--no-print-directory", "build", "edge"))
}

func size(ctx context.Context, r *results) {
	cmd := command(ctx, "go", "run", "./tools/size")
	out, err := cmd.CombinedOutput()
	fmt.Print(indent(string(out)))
	if err != nil {
		r.fail("size", "above the budget, or not built: see the table above")
		return
	}
	r.pass(1)
}

func goTests(ctx context.Context, r *results) {
	if trimmed(ctx, r) {
		goTest(ctx, r, "", command(ctx, "go", "test", "-json", "-race", "-timeout", "12m", "./..."))
		// With all tables what takes a part of them above (tabletest.Some).
		goTest(ctx, r, "without -race ", command(ctx, "go", "test", "-json", "-timeout", "8m", "-run", "^Test(DividedReads|ShareOfMemory|SkippedSlicesHaveNoMatchingRow|Conditions|Projections|ExportsOfTables|AnatomyOfAllTables)$", "./core/explorer"))
	}
}

func wasmTests(ctx context.Context, r *results) {
	if _, err := exec.LookPath("node"); err != nil {
		r.fail("wasm", "Node is not installed: install Node 20 or newer")
		return
	}
	if !trimmed(ctx, r) {
		return
	}
	root, err := command(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		r.fail("wasm", err.Error())
		return
	}
	// As in the page, the programs are shrunk before they run.
	shrink, err := filepath.Abs(filepath.Join(".cache", "bin", "shrink"))
	if err != nil {
		r.fail("wasm", err.Error())
		return
	}
	if out, err := command(ctx, "go", "build", "-o", shrink, "./tools/shrink").CombinedOutput(); err != nil {
		r.fail("wasm", fmt.Sprintf("go build ./tools/shrink: %v\n%s", err, out))
		return
	}
	exe := shrink + "-exec"
	run := fmt.Sprintf("#!/bin/sh\nset -e\nprogram=$1\nshift\n%q -o \"$program.small\" \"$program\"\nexec %q \"$program.small\" \"$@\"\n",
		shrink, filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "go_js_wasm_exec"))
	if err := os.WriteFile(exe, []byte(run), 0o755); err != nil {
		r.fail("wasm", err.Error())
		return
	}
	cmd := command(ctx, "go", "test", "-json", modfile, "-exec", exe, "-timeout", "8m", "./core/...")
	// The program's environment and arguments must fit into a few kilobytes, so
	// only what the go command needs is passed on.
	cmd.Env = []string{"GOOS=js", "GOARCH=wasm"}
	for _, k := range []string{"PATH", "HOME", "TMPDIR", "GOPATH", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS", "GOSUMDB", "GONOSUMDB", "GOTOOLCHAIN", "HTTPS_PROXY", "SSL_CERT_FILE"} {
		if v, ok := os.LookupEnv(k); ok {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
	}
	goTest(ctx, r, "js/wasm ", cmd)
}

// goldSubset is what the command is held to; GOLD_ARGS replaces it.
var goldSubset = []string{
	"--kinds", "config,timeline,slices,blocks,rows",
	"--only", "^(cow_trips|mor_trips|mor_compacted|mor_rollback)_",
	"--files", "^(config|timeline|slices|blocks|snapshot|read_optimized)",
}

func gold(ctx context.Context, r *results) {
	shared := os.Getenv("SHARED")
	if shared == "" {
		shared = filepath.Join("..", "shared")
	}
	script := filepath.Join(shared, "tools", "check_gold.py")
	if _, err := os.Stat(script); err != nil {
		r.skip("gold", "the reference tables are not here; set SHARED to their folder (the smaller set in testdata is compared by the Go tests)")
		return
	}
	if _, err := exec.LookPath("python3"); err != nil {
		r.skip("gold", "python3 is not installed")
		return
	}
	args := append([]string{script, "--bin", "./bin/hudiscope", "--jobs", strconv.Itoa(runtime.NumCPU())}, goldSubset...)
	out, err := command(ctx, "python3", args...).CombinedOutput()
	r.script("gold", string(out), err)
}

func edge(ctx context.Context, r *results) {
	const dir = "wasm/edge/test"
	if !r.npm(ctx, dir) {
		return
	}
	cmd := command(ctx, "node", "edge.test.mjs")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	r.script("edge", string(out), err)
}

// measuring are the browser tests that hold the time of tasks, or memory, against bounds: each of them has the machine for
// itself.
var measuring = []string{"grid.test.mjs", "longtimeline.test.mjs", "pool.test.mjs", "soak.test.mjs", "spill.test.mjs"}

// e2e runs the other browser tests, two files at a time: a browser waits often.
func e2e(ctx context.Context, r *results) {
	browserTests(ctx, r, "e2e", 2, func(file string) bool { return !slices.Contains(measuring, file) })
}

func e2eMeasuring(ctx context.Context, r *results) {
	browserTests(ctx, r, "measured", 1, func(file string) bool { return slices.Contains(measuring, file) })
}

// browserTests runs the files that are wanted, so many at a time.
func browserTests(ctx context.Context, r *results, name string, atOnce int, want func(file string) bool) {
	const dir = "web/e2e"
	if !r.npm(ctx, dir) {
		return
	}
	chromium, err := chromium(ctx)
	if err != nil {
		r.fail(name, err.Error())
		return
	}
	run := func(args ...string) (string, error) {
		cmd := command(ctx, "node", append([]string{"--test"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CHROMIUM="+chromium)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	all, err := filepath.Glob(filepath.Join(dir, "*.test.mjs"))
	if err != nil {
		r.fail(name, err.Error())
		return
	}
	var files []string
	for _, f := range all {
		if f = filepath.Base(f); want(f) {
			files = append(files, f)
		}
	}
	out, err := run(append([]string{fmt.Sprintf("--test-concurrency=%d", atOnce)}, files...)...)
	failed := tapFailed(out)
	if c, ok := tell(out); !ok || ctx.Err() != nil || len(failed) == 0 || len(failed) != c.failed || len(failed) > maxAgain {
		r.script(name, out, err)
		return
	}
	// A page on a busy machine can outlast the time that a test gives it: a few tests have one more try, and both outcomes are told.
	again := []string{"--test-concurrency=1"}
	for _, test := range failed {
		again = append(again, "--test-name-pattern=^"+regexp.QuoteMeta(test)+"$")
	}
	second, secondErr := run(append(again, files...)...)
	r.repeated(name, out, failed, second, secondErr)
}

// maxAgain is how many failed browser tests are run once more. More than that is no accident.
const maxAgain = 4

var tapNotOK = regexp.MustCompile(`(?m)^not ok \d+ - (.*)$`)

// tapFailed lists the tests that failed in an output of Node's test runner.
func tapFailed(out string) []string {
	var names []string
	for _, m := range tapNotOK.FindAllStringSubmatch(out, -1) {
		names = append(names, strings.TrimSpace(strings.NewReplacer(`\#`, "#", `\\`, `\`).Replace(m[1])))
	}
	return names
}

// repeated counts an output whose failed tests have been run again.
func (r *results) repeated(name, first string, failed []string, second string, err error) {
	c, _ := tell(first)
	r.pass(c.passed)
	for i := range c.skipped {
		r.skip(fmt.Sprintf("%s %d of %d skipped by the test program", name, i+1, c.skipped), "")
	}
	fmt.Print(indent(first))
	still := tapFailed(second)
	c, _ = tell(second)
	if c.failed == 0 && err == nil && c.passed == len(failed) {
		r.pass(c.passed)
		for _, f := range failed {
			r.unsteady(name + " " + f)
		}
		return
	}
	fmt.Print(indent(second))
	for _, f := range failed {
		if slices.Contains(still, f) || len(still) == 0 {
			r.fail(name+" "+f+" (twice)", "")
			continue
		}
		r.pass(1)
		r.unsteady(name + " " + f)
	}
}

// npm installs what a folder's package-lock.json pins, once per state of that file.
func (r *results) npm(ctx context.Context, dir string) bool {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			r.fail(dir, tool+" is not installed: install Node 20 or newer with npm")
			return false
		}
	}
	lock, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		r.fail(dir, err.Error())
		return false
	}
	stamp := filepath.Join(dir, "node_modules", ".installed-from")
	if have, err := os.ReadFile(stamp); err == nil && string(have) == string(lock) {
		return true
	}
	fmt.Printf("   npm ci in %s\n", dir)
	cmd := command(ctx, "npm", "ci", "--no-audit", "--no-fund")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		r.fail(dir, fmt.Sprintf("npm ci: %v\n%s", err, out))
		return false
	}
	if err := os.WriteFile(stamp, lock, 0o644); err != nil {
		r.fail(dir, err.Error())
		return false
	}
	return true
}

// chromium finds the browser, and installs Debian's where that can be done.
func chromium(ctx context.Context) (string, error) {
	find := func() string {
		names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}
		if v := os.Getenv("CHROMIUM"); v != "" {
			names = []string{v}
		}
		for _, n := range names {
			if p, err := exec.LookPath(n); err == nil {
				return p
			}
		}
		return ""
	}
	if p := find(); p != "" {
		return p, nil
	}
	const need = "the browser tests need Chromium: install it (Debian, Ubuntu: apt-get install chromium), or set CHROMIUM to the path of a Chromium or Chrome"
	if _, err := exec.LookPath("apt-get"); err != nil || os.Getuid() != 0 || os.Getenv("CHROMIUM") != "" {
		return "", fmt.Errorf("%s", need)
	}
	fmt.Println("   installing chromium with apt-get")
	for _, args := range [][]string{{"update", "-q"}, {"install", "-q", "-y", "--no-install-recommends", "chromium"}} {
		cmd := command(ctx, "apt-get", args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s\napt-get %s: %w\n%s", need, strings.Join(args, " "), err, out)
		}
	}
	if p := find(); p != "" {
		return p, nil
	}
	return "", fmt.Errorf("%s", need)
}

var (
	closing = regexp.MustCompile(`(?m)^\s*(?:\w+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$`)
	tapLine = regexp.MustCompile(`(?m)^(?:# |ℹ )(pass|fail|skipped) (\d+)$`)
	notOK   = regexp.MustCompile(`(?m)^\s*(?:not ok|FAIL|✖)\b.*$`)
)

// script counts the output of a test program: its closing line "N passed, N failed",
// or the summary of Node's test runner.
func (r *results) script(name, out string, err error) {
	c, ok := tell(out)
	if !ok {
		r.fail(name, fmt.Sprintf("%s\nthere is no closing line that counts tests (%v)", out, err))
		return
	}
	r.pass(c.passed)
	for i := range c.skipped {
		r.skip(fmt.Sprintf("%s %d of %d skipped by the test program", name, i+1, c.skipped), "")
	}
	if c.failed == 0 && err == nil && c.passed > 0 {
		return
	}
	fmt.Print(indent(out))
	names := notOK.FindAllString(out, -1)
	for i := range max(c.failed, 1) {
		n := "(see above)"
		if i < len(names) {
			n = strings.TrimSpace(names[i])
		}
		r.fail(name+" "+n, "")
	}
}

// tell finds the counts in an output; the last closing line is the one.
func tell(out string) (counts, bool) {
	if all := closing.FindAllStringSubmatch(out, -1); len(all) > 0 {
		m := all[len(all)-1]
		return counts{atoi(m[1]), atoi(m[2]), atoi(m[3])}, true
	}
	var c counts
	found := false
	for _, m := range tapLine.FindAllStringSubmatch(out, -1) {
		found = true
		switch m[1] {
		case "pass":
			c.passed = atoi(m[2])
		case "fail":
			c.failed = atoi(m[2])
		case "skipped":
			c.skipped = atoi(m[2])
		}
	}
	return c, found
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s) // digits by the pattern; "" is 0
	return n
}

func indent(s string) string {
	s = strings.TrimRight(s, "\n")
	return "      " + strings.ReplaceAll(s, "\n", "\n      ") + "\n"
}

func stderrOf(err error) string {
	if e, ok := err.(*exec.ExitError); ok {
		return "\n" + string(e.Stderr)
	}
	return ""
}
