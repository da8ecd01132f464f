package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// fuzzTime is how long each target runs; FUZZTIME replaces it.
var fuzzTime = func() string {
	if v := os.Getenv("FUZZTIME"); v != "" {
		return v
	}
	return "3s"
}()

// fuzzTarget is a fuzz function of a package.
type fuzzTarget struct{ pkg, name string }

var declaredTarget = regexp.MustCompile(`(?m)^func (Fuzz[A-Z0-9_]\w*)\(\w+ \*testing\.F\)`)

// fuzzTargets lists the targets of all packages, as their test files have them: to ask the test programs, each would have
// to be built before the first one is fuzzed.
func fuzzTargets(ctx context.Context) ([]fuzzTarget, error) {
	out, err := command(ctx, "go", "list", "-f", "{{.ImportPath}}\t{{.Dir}}{{range .TestGoFiles}}\t{{.}}{{end}}{{range .XTestGoFiles}}\t{{.}}{{end}}", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, stderrOf(err))
	}
	var targets []fuzzTarget
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		for _, name := range f[min(2, len(f)):] {
			text, err := os.ReadFile(filepath.Join(f[1], name))
			if err != nil {
				return nil, err
			}
			for _, m := range declaredTarget.FindAllSubmatch(text, -1) {
				targets = append(targets, fuzzTarget{f[0], string(m[1])})
			}
		}
	}
	return targets, nil
}

// fuzz runs every target, from the inputs that are kept in the tree on. With FUZZKEEP=1 what was found
// is kept there, too. FUZZONLY is a pattern for "package target".
func fuzz(ctx context.Context, r *results) {
	targets, err := fuzzTargets(ctx)
	if err != nil {
		r.fail("fuzz: go list", err.Error())
	}
	only, err := regexp.Compile(os.Getenv("FUZZONLY"))
	if err != nil {
		r.fail("fuzz: FUZZONLY", err.Error())
		return
	}
	targets = slices.DeleteFunc(targets, func(t fuzzTarget) bool { return !only.MatchString(t.pkg + " " + t.name) })
	var keeping *keeper
	if os.Getenv("FUZZKEEP") == "1" {
		dir, err := os.MkdirTemp("", "fuzz")
		if err != nil {
			r.fail("fuzz", err.Error())
			return
		}
		defer os.RemoveAll(dir)
		keeping = &keeper{dir: dir, tests: map[string]func() (string, error){}}
	}
	// Each with one worker, so that one is built while others run.
	next := make(chan fuzzTarget)
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for t := range next {
				if err := fuzzOne(ctx, t); err != nil {
					r.fail("fuzz "+t.pkg+" "+t.name, err.Error())
					continue
				}
				r.pass(1)
				told := fmt.Sprintf("   %s %s: %s", t.pkg, t.name, fuzzTime)
				if keeping != nil {
					k, err := keeping.found(ctx, t)
					if err != nil {
						r.fail("fuzz: keeping inputs of "+t.pkg+" "+t.name, err.Error())
						continue
					}
					told += "; " + k.String()
				}
				fmt.Println(told)
			}
		})
	}
	for _, t := range targets {
		if ctx.Err() != nil {
			break
		}
		next <- t
	}
	close(next)
	wg.Wait()
	if len(targets) == 0 {
		r.fail("fuzz", "there are no fuzz targets: the formats must have some")
	}
}

// fuzzOne runs one target. An interesting input is made smaller by few tries only: where coverage
// varies between runs, as with goroutines, that would else take all the time. When the time is up while an input is being tried, the go
// command may call that a failure of its own ("context deadline exceeded", without an
// input): then the run says nothing, and is made again.
func fuzzOne(ctx context.Context, t fuzzTarget) error {
	for attempt := 1; ; attempt++ {
		out, err := command(ctx, "go", "test", "-run", "^$", "-parallel", "1", "-fuzz", "^"+t.name+"$", "-fuzztime", fuzzTime, "-fuzzminimizetime", "10x", t.pkg).CombinedOutput()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if text := string(out); attempt == 3 || !strings.Contains(text, "context deadline exceeded") || strings.Contains(text, "Failing input") {
			return fmt.Errorf("%s\n%w: go test -fuzz %s %s", text, err, t.name, t.pkg)
		}
	}
}

// What is kept in the tree for one target. The inputs are run by every "go test" of the package, so they have to be quick.
const (
	keptInputs  = 60
	keptBytes   = 6 << 10                // of one input; an HFile has 4 KiB at least
	keptFile    = 20 << 10               // of its file, where most bytes are escapes
	keptFolder  = 96 << 10               // of all files
	keptTime    = 200 * time.Millisecond // of one input
	keptTimeAll = time.Second
	// keptEffort is how long is looked for such inputs, after the target was run.
	keptEffort = 90 * time.Second
)

// kept says what keep did.
type kept struct {
	added, now   int // inputs
	found, tried int
	bytes        int64 // of those in the tree
}

func (k kept) String() string {
	return fmt.Sprintf("of %d inputs in the cache %d were tried and %d are kept; now %d in the tree, %d bytes", k.found, k.tried, k.added, k.now, k.bytes)
}

// keeper keeps inputs. Its folder dir is for programs; tests are those of packages, made when they are first asked for.
type keeper struct {
	dir   string
	mu    sync.Mutex
	tests map[string]func() (string, error)
}

// found keeps what the go command's cache has of a target.
func (x *keeper) found(ctx context.Context, t fuzzTarget) (kept, error) {
	where, err := command(ctx, "go", "list", "-f", "{{.Dir}}", t.pkg).Output()
	if err != nil {
		return kept{}, fmt.Errorf("%w%s", err, stderrOf(err))
	}
	cache, err := command(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return kept{}, fmt.Errorf("%w%s", err, stderrOf(err))
	}
	return x.keep(ctx, t, strings.TrimSpace(string(where)), filepath.Join(strings.TrimSpace(string(cache)), "fuzz", filepath.FromSlash(t.pkg), t.name))
}

// keep takes inputs from a folder of the go command's cache into testdata/fuzz of the target's package, whose folder is dir:
// the smallest first, and those alone that reach code that no input there and no seed does, in both of two runs, and within
// the bounds above. Inputs that fail are there already: the go command writes them, and nothing here takes them away.
func (x *keeper) keep(ctx context.Context, t fuzzTarget, dir, cache string) (kept, error) {
	var k kept
	folder := filepath.Join(dir, "testdata", "fuzz", t.name)
	there, err := inputsIn(folder)
	if err != nil {
		return k, err
	}
	k.now = len(there)
	for _, in := range there {
		k.bytes += int64(len(in.text))
	}
	found, err := inputsIn(cache)
	if err != nil {
		return k, err
	}
	k.found = len(found)
	found = slices.DeleteFunc(found, func(in input) bool {
		n, err := contentSize(in.text)
		return err != nil || n > keptBytes || len(in.text) > keptFile || slices.ContainsFunc(there, func(o input) bool { return o.name == in.name })
	})
	if len(found) == 0 || k.now >= keptInputs {
		return k, nil
	}
	slices.SortFunc(found, func(a, b input) int {
		if d := len(a.text) - len(b.text); d != 0 {
			return d
		}
		return strings.Compare(a.name, b.name)
	})
	bin, err := x.coverBinary(ctx, t.pkg)
	if err != nil {
		return k, err
	}
	reached, took, err := covered(ctx, bin, dir, "^"+t.name+"$")
	if err != nil {
		return k, fmt.Errorf("the inputs that are kept: %w", err)
	}
	var all time.Duration
	for name, d := range took {
		if strings.Contains(name, "/") && !strings.Contains(name, "/seed#") {
			all += d
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return k, err
	}
	began := time.Now()
	for _, in := range found {
		if k.now >= keptInputs || k.bytes+int64(len(in.text)) > keptFolder || time.Since(began) > keptEffort {
			break
		}
		k.tried++
		if err := ctx.Err(); err != nil {
			return k, err
		}
		file := filepath.Join(folder, in.name)
		if err := os.WriteFile(file, in.text, 0o644); err != nil {
			return k, err
		}
		fresh, d, err := adds(ctx, bin, dir, t.name, in.name, reached)
		if err != nil || len(fresh) == 0 || d > keptTime || all+d > keptTimeAll {
			if err := os.Remove(file); err != nil {
				return k, err
			}
			continue
		}
		for b := range fresh {
			reached[b] = true
		}
		all += d
		k.added++
		k.now++
		k.bytes += int64(len(in.text))
	}
	return k, nil
}

// adds runs one input of a target twice and returns the code that both runs reached and that is not in reached, with
// the longer time.
func adds(ctx context.Context, bin, dir, target, name string, reached map[string]bool) (map[string]bool, time.Duration, error) {
	var fresh map[string]bool
	var longest time.Duration
	for range 2 {
		got, took, err := covered(ctx, bin, dir, "^"+target+"$/^"+name+"$")
		if err != nil {
			return nil, 0, err
		}
		d, ok := took[target+"/"+name]
		if !ok {
			return nil, 0, errors.New("the input was not run")
		}
		longest = max(longest, d)
		for b := range got {
			if reached[b] || fresh != nil && !fresh[b] {
				delete(got, b)
			}
		}
		if fresh = got; len(fresh) == 0 {
			break
		}
	}
	return fresh, longest, nil
}

// input is a file of a corpus.
type input struct {
	name string
	text []byte
}

// inputsIn reads a folder of a corpus; one that is not there is empty.
func inputsIn(folder string) ([]input, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []input
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		out = append(out, input{e.Name(), text})
	}
	return out, nil
}

// contentSize is the size of the texts and bytes in an input of the format "go test fuzz v1".
func contentSize(text []byte) (n int, err error) {
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if lines[0] != "go test fuzz v1" {
		return 0, fmt.Errorf("not an input: %q", lines[0])
	}
	for _, l := range lines[1:] {
		kind, value, ok := strings.Cut(strings.TrimSuffix(l, ")"), "(")
		if !ok {
			return 0, fmt.Errorf("not a value: %q", l)
		}
		if kind != "[]byte" && kind != "string" {
			n += 8
			continue
		}
		s, err := strconv.Unquote(value)
		if err != nil {
			return 0, fmt.Errorf("%w: %q", err, l)
		}
		n += len(s)
	}
	return n, nil
}

// coverBinary returns the tests of a package as a program that tells what it reaches in any package of the module.
func (x *keeper) coverBinary(ctx context.Context, pkg string) (string, error) {
	x.mu.Lock()
	made := x.tests[pkg]
	if made == nil {
		bin := filepath.Join(x.dir, fmt.Sprint(len(x.tests)))
		made = sync.OnceValues(func() (string, error) { return bin, buildCovered(ctx, pkg, bin) })
		x.tests[pkg] = made
	}
	x.mu.Unlock()
	return made()
}

func buildCovered(ctx context.Context, pkg, bin string) error {
	module, err := command(ctx, "go", "list", "-m").Output()
	if err != nil {
		return fmt.Errorf("%w%s", err, stderrOf(err))
	}
	deps, err := command(ctx, "go", "list", "-deps", "-test", "-f", "{{if not .ForTest}}{{.ImportPath}}{{end}}", pkg).Output()
	if err != nil {
		return fmt.Errorf("%w%s", err, stderrOf(err))
	}
	own := slices.DeleteFunc(strings.Fields(string(deps)), func(p string) bool {
		return !strings.HasPrefix(p+"/", strings.TrimSpace(string(module))+"/") || strings.HasSuffix(p, ".test")
	})
	if out, err := command(ctx, "go", "test", "-c", "-cover", "-coverpkg", strings.Join(own, ","), "-o", bin, pkg).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

var passed = regexp.MustCompile(`(?m)^\s*--- PASS: (\S+) \(([0-9.]+s)\)$`)

// covered runs tests of a binary in a folder, and returns the pieces of code that they reach and how long each took.
func covered(ctx context.Context, bin, dir, run string) (map[string]bool, map[string]time.Duration, error) {
	file, err := os.CreateTemp(filepath.Dir(bin), "profile")
	if err != nil {
		return nil, nil, err
	}
	profile := file.Name()
	defer os.Remove(profile)
	if err := file.Close(); err != nil {
		return nil, nil, err
	}
	cmd := command(ctx, bin, "-test.run", run, "-test.v", "-test.timeout", "60s", "-test.coverprofile", profile)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, nil, fmt.Errorf("%w\n%s", err, out)
	}
	took := map[string]time.Duration{}
	for _, m := range passed.FindAllStringSubmatch(string(out), -1) {
		if took[m[1]], err = time.ParseDuration(m[2]); err != nil {
			return nil, nil, err
		}
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, nil, err
	}
	reached := map[string]bool{}
	for line := range strings.SplitSeq(string(text), "\n") {
		// file:from,to statements count
		if block, count, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !strings.HasSuffix(count, " 0") && strings.Contains(block, ".go:") {
			reached[block] = true
		}
	}
	return reached, took, nil
}
