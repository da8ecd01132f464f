// Command testall runs every kind of test of the repository and counts them: Go
// tests, the same tests as WebAssembly under Node, fuzz smoke runs, linters, the size
// budget, the gold comparison, the edge worker on workerd, the page in Chromium, and
// real servers.
//
//	go run ./tools/testall              all steps
//	go run ./tools/testall -only lint   some of them (comma separated)
//	go run ./tools/testall -list        their names
//
// Progress is short; what fails is printed in full. The last line adds everything up:
//
//	N passed, M failed, K skipped
//
// What was skipped is named above it, with the reason. The exit status is 1 when
// anything failed, or when nothing ran.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// step is one kind of test.
type step struct {
	name  string
	about string
	limit time.Duration
	run   func(context.Context, *results)
}

var steps = []step{
	{"lint", "gofmt, go vet and staticcheck, native and js/wasm", 15 * time.Minute, lint},
	{"build", "make build edge: the page, the command with it inside, the worker", 10 * time.Minute, build},
	{"size", "sizes of what the browser and the worker load, against tools/size/budgets.txt", 5 * time.Minute, size},
	{"go", "go test -race ./...", 20 * time.Minute, goTests},
	{"wasm", "the tests of core as WebAssembly under Node", 10 * time.Minute, wasmTests},
	{"gold", "answers of the command against Apache Hudi's own, a subset", 10 * time.Minute, gold},
	{"edge", "the worker on workerd", 5 * time.Minute, edge},
	{"e2e", "the page in Chromium", 40 * time.Minute, e2e},
	{"measured", "tasks and memory of the page in Chromium, one test at a time", 30 * time.Minute, e2eMeasuring},
	{"servers", "tables on real web servers, object stores and a bound bucket, and through a fault proxy", 25 * time.Minute, servers},
	{"fuzz", "every fuzz target for a few seconds", 15 * time.Minute, fuzz},
}

func main() {
	only := flag.String("only", "", "steps to run, separated by commas; empty: all")
	limit := flag.Duration("limit", 0, "time for each step; 0: the step's own")
	list := flag.Bool("list", false, "list the steps")
	flag.Parse()
	if *list {
		for _, s := range steps {
			fmt.Printf("%-8s %s\n", s.name, s.about)
		}
		return
	}
	chosen := steps
	if *only != "" {
		chosen = nil
		for name := range strings.SplitSeq(*only, ",") {
			i := slices.IndexFunc(steps, func(s step) bool { return s.name == name })
			if i < 0 {
				fmt.Fprintf(os.Stderr, "testall: there is no step %q (see -list)\n", name)
				os.Exit(2)
			}
			chosen = append(chosen, steps[i])
		}
	}
	if *limit > 0 {
		chosen = slices.Clone(chosen)
		for i := range chosen {
			chosen[i].limit = *limit
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(runAll(ctx, chosen))
}

func runAll(ctx context.Context, chosen []step) int {
	var all results
	began := time.Now()
	for _, s := range chosen {
		if ctx.Err() != nil {
			all.fail(s.name, "interrupted")
			break
		}
		fmt.Printf("── %s: %s\n", s.name, s.about)
		at, before := time.Now(), all.counts()
		c, cancel := context.WithTimeout(ctx, s.limit)
		s.run(c, &all)
		if c.Err() != nil {
			all.fail(s.name, fmt.Sprintf("the step was ended after %s", time.Since(at).Round(time.Second)))
		}
		cancel()
		n := all.counts()
		fmt.Printf("   %s: %d passed, %d failed, %d skipped (%s)\n", s.name,
			n.passed-before.passed, n.failed-before.failed, n.skipped-before.skipped, time.Since(at).Round(100*time.Millisecond))
	}
	if len(all.skips) > 0 {
		fmt.Println("\nskipped:")
		for _, s := range grouped(all.skips) {
			fmt.Println("  " + s)
		}
	}
	if len(all.unstable) > 0 {
		fmt.Println("\nfailed once and passed when run again:")
		for _, s := range all.unstable {
			fmt.Println("  " + s)
		}
	}
	if len(all.fails) > 0 {
		fmt.Println("\nfailed:")
		for _, s := range all.fails {
			fmt.Println("  " + s)
		}
	}
	n := all.counts()
	fmt.Printf("\nall tests took %s\n", time.Since(began).Round(time.Second))
	fmt.Printf("%d passed, %d failed, %d skipped\n", n.passed, n.failed, n.skipped)
	if n.failed > 0 || n.passed == 0 {
		return 1
	}
	return 0
}

// grouped says at once how many parts of one test were skipped for the same reason.
func grouped(skips []string) []string {
	var out []string
	count := map[string]int{}
	for _, s := range skips {
		name, why, _ := strings.Cut(s, ": ")
		if i := strings.LastIndex(name, " "); i >= 0 {
			if test, _, sub := strings.Cut(name[i:], "/"); sub {
				name = name[:i] + test + "/…"
			}
		}
		s = strings.TrimSuffix(name+": "+why, ": ")
		if count[s]++; count[s] == 1 {
			out = append(out, s)
		}
	}
	for i, s := range out {
		if n := count[s]; n > 1 {
			out[i] = fmt.Sprintf("%s (%d of these)", s, n)
		}
	}
	return out
}

// results adds up. Its methods may be called from several goroutines.
type results struct {
	mu     sync.Mutex
	passed int
	fails  []string
	skips  []string
	failed int
	// unstable are tests that failed once and passed when they were run again.
	unstable []string
}

type counts struct{ passed, failed, skipped int }

func (r *results) counts() counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return counts{r.passed, r.failed, len(r.skips)}
}

func (r *results) pass(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.passed += n
}

// fail counts a failed test and prints what it said.
func (r *results) fail(name, output string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed++
	r.fails = append(r.fails, name)
	fmt.Printf("   FAIL %s\n", name)
	if output = strings.TrimRight(output, "\n"); output != "" {
		fmt.Println("      " + strings.ReplaceAll(output, "\n", "\n      "))
	}
}

// unsteady notes a test that failed once and passed when it was run again.
func (r *results) unsteady(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unstable = append(r.unstable, name)
	fmt.Printf("   AGAIN %s: failed once and passed when run again\n", name)
}

// skip counts a test that could not run, with the reason.
func (r *results) skip(name, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if why = strings.Join(strings.Fields(why), " "); why != "" {
		name += ": " + why
	}
	r.skips = append(r.skips, name)
}

// check counts one command as one test: it passes when the command succeeds.
func (r *results) check(ctx context.Context, name string, cmd *exec.Cmd) bool {
	out, err := cmd.CombinedOutput()
	if err == nil {
		r.pass(1)
		return true
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	r.fail(name, fmt.Sprintf("%s\n%v: %s", out, err, strings.Join(cmd.Args, " ")))
	return false
}

// command is exec.CommandContext for the repository's root, which ends the whole
// process group when the context does: go test and npm have children.
func command(ctx context.Context, name string, arg ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, arg...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// js is the environment of commands for js/wasm.
func js(cmd *exec.Cmd) *exec.Cmd {
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	return cmd
}
