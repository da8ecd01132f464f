package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// program is a program that does what the tables and the code that are rewritten are for: it goes forward and back,
// panics in and out of inlined calls, recovers in wrapped and open-coded defers, lets the collector
// and growing stacks walk over all of that, switches goroutines, and asks who called.
const program = `package main

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

type table struct {
	a    [3]int
	p    *int
	next *table
}

func (t *table) get(i int) int { return t.a[i] + *t.p }

func (t *table) far() int { return t.next.get(1) }

type getter interface{ get(int) int }

type wrapped struct{ *table }

func (w wrapped) Recover() { recover() }

type recoverer interface{ Recover() }

//go:noinline
func deep(n int, g getter) (s string) {
	defer func() {
		if r := recover(); r != nil {
			runtime.GC()
			s = fmt.Sprint(n, ": ", r)
			var re runtime.Error
			if e, ok := r.(error); ok && errors.As(e, &re) {
				s += " of the runtime"
			}
		}
	}()
	if n == 0 {
		return fmt.Sprint(g.get(5))
	}
	x := make([]byte, n*100)
	x[0] = byte(n)
	r := deep(n-1, g)
	if n%7 == 3 {
		for i := range x {
			if x[i] == 9 {
				continue
			}
			if i > n {
				panic(fmt.Errorf("at %d", i))
			}
		}
	}
	return r + fmt.Sprint(x[0])
}

//go:noinline
func wrappers(r recoverer) (s string) {
	defer func() { s = fmt.Sprint(s, recover()) }()
	func() {
		defer r.Recover()
		panic("taken by a method of an interface")
	}()
	func() {
		defer func() { func() { recover() }() }()
		panic("not taken")
	}()
	return "wrong"
}

//go:noinline
func loops(n int) (sum int) {
	for i := 0; i < n; i++ {
		defer func() { sum += i }()
		switch {
		case i%3 == 0:
			continue
		case i%5 == 0:
			for j := i; j > 0; j /= 2 {
				if j == 5 {
					break
				}
				sum += j
			}
		case i > 90:
			return sum
		}
		sum ^= i
	}
	return sum
}

func grow(n int) int {
	var big [64]int
	big[n%64] = n
	if n == 0 {
		return 0
	}
	return big[n%64] + grow(n-1)
}

func main() {
	v := 3
	fmt.Println(deep(10, wrapped{&table{p: &v}}))
	fmt.Println(deep(5, wrapped{nil}))
	fmt.Println(deep(5, nil))
	fmt.Println(wrappers(wrapped{}))
	fmt.Println(loops(50), loops(200), grow(20000))
	var wg sync.WaitGroup
	c := make(chan string)
	for i := range 9 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range 7 {
				runtime.Gosched()
				c <- deep(i+j, wrapped{&table{}}) + fmt.Sprint(grow(i*j))
			}
		}()
	}
	go func() { wg.Wait(); close(c) }()
	n := 0
	for s := range c {
		n += len(s)
	}
	fmt.Println(n)
	func() {
		defer func() {
			recover()
			for _, l := range strings.Split(string(debug.Stack()), "\n") {
				if !strings.HasPrefix(l, "\t") {
					fmt.Println(l)
				}
			}
		}()
		(&table{}).far()
	}()
	func() {
		defer func() {
			recover()
			pc := make([]uintptr, 20)
			frames := runtime.CallersFrames(pc[:runtime.Callers(0, pc)])
			for {
				f, ok := frames.Next()
				fmt.Println(f.Function)
				if !ok {
					break
				}
			}
		}()
		var m map[string]int
		m["a"] = 1
	}()
	(&table{next: &table{}}).far()
}
`

// built builds the program as WebAssembly, with DWARF and names when they are not stripped.
func built(t *testing.T, ldflags string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module program\n\ngo 1.26\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-ldflags="+ldflags, "-o", "program.wasm")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "program.wasm")
}

// run runs a program under Node: its output, and what it says when it dies of its last panic.
func run(t *testing.T, wasm string) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "go_js_wasm_exec"), wasm)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Fatalf("the program must die of its panic with status 2: %v\n%s", err, out)
	}
	return string(out)
}

// What a traceback no longer tells: places in files, arguments.
var (
	places    = regexp.MustCompile(`(?m)^\t.*\n`)
	arguments = regexp.MustCompile(`\((\{?0x[^)]*|\.\.\.|\{[^)]*)\)`)
)

func TestSameBehaviour(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	for _, ldflags := range []string{"-s -w", ""} {
		name := built(t, ldflags)
		want := run(t, name)
		before, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := file(name, name); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got := run(t, name)
		if strings.Contains(got, "main.go:") {
			t.Error("lines are still in the traceback: nothing was taken out")
		}
		plain := func(s string) string { return arguments.ReplaceAllString(places.ReplaceAllString(s, ""), "()") }
		if plain(got) != plain(want) {
			t.Errorf("shrunk, the program says\n%s\nas built\n%s", plain(got), plain(want))
		}
		for _, s := range []string{"main.(*table).get", "main.(*table).far", "nil pointer dereference", "not taken"} {
			if !strings.Contains(got, s) {
				t.Errorf("%q is not in the output:\n%s", s, got)
			}
		}
		if _, err := shrink(after); !errors.Is(err, errDone) {
			t.Errorf("shrinking twice: %v", err)
		}
		again, err := shrink(before)
		if err != nil || !bytes.Equal(again, after) {
			t.Errorf("the same module gave another result (%v)", err)
		}
	}
}

// TestRefused gives modules that are not what Go makes, or are cut: an error, never a panic, and no output.
func TestRefused(t *testing.T) {
	b, err := os.ReadFile(built(t, "-s -w"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := shrink(b); err != nil {
		t.Fatal(err)
	}
	change := func(old, new string) []byte {
		if !bytes.Contains(b, []byte(old)) {
			t.Fatalf("%q is not in the module", old)
		}
		return bytes.ReplaceAll(b, []byte(old), []byte(new))
	}
	for name, m := range map[string][]byte{
		"empty":            nil,
		"not a module":     []byte("<!doctype html>"),
		"another version":  change("go1.26", "go1.99"),
		"another table":    change("\xf1\xff\xff\xff\x00\x00\x01\x08", "\xf2\xff\xff\xff\x00\x00\x01\x08"),
		"other inside":     change("\x41\x08\x6b\x22\x01\x24\x00", "\x41\x09\x6b\x22\x01\x24\x00"),
		"unknown commands": change("\x41\x08\x6b\x22\x01\x24\x00", "\x41\x08\xff\x22\x01\x24\x00"),
	} {
		if out, err := shrink(m); err == nil || errors.Is(err, errDone) || out != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for n := 0; n < len(b); n += len(b)/23 + 1 {
		if _, err := shrink(b[:n]); err == nil {
			t.Errorf("cut to %d bytes: no error", n)
		}
	}
	for at := 8; at < len(b); at += len(b)/23 + 1 {
		m := slices.Clone(b)
		m[at] ^= 0x55
		shrink(m) // what it says depends on what the byte is; it must not panic
	}
}

func TestNumbers(t *testing.T) {
	for _, v := range []int64{0, 1, -1, 63, 64, -64, -65, 1 << 20, -1 << 40, 1<<63 - 1, -1 << 63} {
		r := reader{b: appendInt(nil, v)}
		if got := r.int(); got != v || r.bad || r.at != len(r.b) {
			t.Errorf("%d: %d", v, got)
		}
	}
	for _, v := range []uint64{0, 127, 128, 1 << 31} {
		r := reader{b: appendUint(nil, v)}
		if got := r.uint(); got != v || r.bad || r.at != len(r.b) {
			t.Errorf("%d: %d", v, got)
		}
	}
	s := steps{0, 0, 0, 48, 48, -1, 7}
	fs := &functions{t: append([]byte{0}, s.encode()...)}
	fs.functab = len(fs.t)
	if got, err := fs.steps(1); err != nil || !slices.Equal(got, s) {
		t.Errorf("%v, %v, want %v", got, err, s)
	}
}
