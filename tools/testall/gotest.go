package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"sort"
	"strings"
)

// event is a line of go test -json.
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
	Elapsed                                                float64
}

// tally follows one go test -json run.
type tally struct {
	r      *results
	prefix string // before the name of a failed or skipped test
	status map[string]map[string]string
	output map[string]*strings.Builder // by package, test; or by import path of a build
}

func newTally(r *results, prefix string) *tally {
	return &tally{r: r, prefix: prefix, status: map[string]map[string]string{}, output: map[string]*strings.Builder{}}
}

func (t *tally) out(key string) *strings.Builder {
	b := t.output[key]
	if b == nil {
		b = &strings.Builder{}
		t.output[key] = b
	}
	return b
}

// add takes one event. A package is counted when it ends.
func (t *tally) add(e event) {
	switch e.Action {
	case "build-output":
		t.out("build " + e.ImportPath).WriteString(e.Output)
	case "output":
		t.out(e.Package + " " + e.Test).WriteString(e.Output)
	case "pass", "fail", "skip":
		if e.Test != "" {
			if t.status[e.Package] == nil {
				t.status[e.Package] = map[string]string{}
			}
			t.status[e.Package][e.Test] = e.Action
			return
		}
		t.finish(e)
	}
}

// finish counts the tests of a package. Only the innermost tests count; an outer one
// does when it failed by itself.
func (t *tally) finish(e event) {
	tests := t.status[e.Package]
	names := make([]string, 0, len(tests))
	outer := map[string]bool{}
	failedBelow := map[string]bool{}
	for n, s := range tests {
		names = append(names, n)
		for i := range n {
			if n[i] == '/' {
				outer[n[:i]] = true
				failedBelow[n[:i]] = failedBelow[n[:i]] || s == "fail"
			}
		}
	}
	sort.Strings(names)
	passed, failed := 0, 0
	for _, n := range names {
		name := t.prefix + e.Package + " " + n
		switch s := tests[n]; {
		case s == "fail" && failedBelow[n]:
		case s == "fail":
			failed++
			t.r.fail(name, t.out(e.Package+" "+n).String())
		case outer[n]:
		case s == "skip":
			t.r.skip(name, reason(t.out(e.Package+" "+n).String()))
		default:
			passed++
		}
	}
	t.r.pass(passed)
	if e.Action == "fail" && failed == 0 {
		// It did not build, panicked outside a test, or ran into its limit.
		text := t.out(e.Package + " ").String()
		if e.FailedBuild != "" {
			text = t.out("build "+e.FailedBuild).String() + text
		}
		for n, b := range t.output { // a test that never ended
			if name, ok := strings.CutPrefix(n, e.Package+" "); ok && name != "" && tests[name] == "" {
				text += b.String()
			}
		}
		t.r.fail(t.prefix+e.Package, text)
	}
	if e.Action != "skip" {
		fmt.Printf("   %s%s: %d tests (%.1f s)\n", t.prefix, e.Package, len(names)-len(outer), e.Elapsed)
	}
}

// reason finds what a skipped test said.
func reason(out string) string {
	for line := range strings.SplitSeq(out, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "===") || strings.HasPrefix(line, "---") {
			continue
		}
		if _, text, ok := strings.Cut(line, ".go:"); ok {
			if _, text, ok = strings.Cut(text, ": "); ok {
				return text
			}
		}
		return line
	}
	return ""
}

// goTest runs "go test -json" and counts.
func goTest(ctx context.Context, r *results, prefix string, cmd *exec.Cmd) {
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		r.fail(prefix+"go test", err.Error())
		return
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		r.fail(prefix+"go test", err.Error())
		return
	}
	before := r.counts().failed
	stray := consume(pipe, newTally(r, prefix))
	if err := cmd.Wait(); err != nil && r.counts().failed == before && ctx.Err() == nil {
		r.fail(prefix+"go test", stray+stderr.String()+err.Error())
	}
}

// consume reads events to the end and returns lines that are none.
func consume(p io.Reader, t *tally) string {
	var stray strings.Builder
	rd := bufio.NewReader(p)
	for {
		line, err := rd.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil {
				t.add(e)
			} else {
				stray.Write(line)
			}
		}
		if err != nil {
			return stray.String()
		}
	}
}
