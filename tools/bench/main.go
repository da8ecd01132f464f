// Command bench times the core against other readers of the same tables: hudi-rs and pyarrow natively,
// hyparquet and parquet-wasm in Chromium. Each comparison runs both programs in turn, so that the ratio
// holds when the machine's speed drifts, and gives the median. It writes the tables of docs/benchmarks.md
// between its marks.
package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"hudiscope/tools/marks"
)

// comparison is two programs that do the same work.
type comparison struct {
	name, peer string
	ours       []string
	theirs     []string
	// goal is what the ratio of CPU is to be at most, 0 for none.
	goal float64
	// differ allows the programs to print different numbers, as some readers count otherwise.
	differ bool
}

// run is one timed run of a program.
type run struct {
	cpu, wall time.Duration
	peak      int64 // bytes
	out       string
}

func main() {
	shared := flag.String("shared", "../shared", "the `directory` with tables/perf_cow.zip and tables/perf_mor.zip")
	n := flag.Int("n", 7, "runs of each program")
	out := flag.String("out", "docs/benchmarks.md", "the `file` to write the tables into")
	only := flag.String("only", "", "native or browser")
	flag.Parse()
	if err := bench(context.Background(), *shared, *n, *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, shared string, n int, out, only string) error {
	work, err := filepath.Abs(".cache/bench")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	for _, t := range []string{"perf_cow", "perf_mor"} {
		if err := unzip(filepath.Join(shared, "tables", t+".zip"), work); err != nil {
			return err
		}
	}
	if only != "browser" {
		doc, err := native(ctx, work, n)
		if err != nil {
			return err
		}
		if err := marks.Replace(out, "native", doc); err != nil {
			return err
		}
	}
	if only != "native" {
		doc, err := browser(ctx, work, n)
		if err != nil {
			return err
		}
		if err := marks.Replace(out, "browser", doc); err != nil {
			return err
		}
	}
	return nil
}

// native compares with readers for Python.
func native(ctx context.Context, work string, n int) (string, error) {
	python := filepath.Join(work, "venv/bin/python")
	if _, err := os.Stat(python); err != nil {
		if err := do(ctx, "python3", "-m", "venv", filepath.Join(work, "venv")); err != nil {
			return "", err
		}
	}
	if err := do(ctx, python, "-m", "pip", "install", "-q", "hudi==0.5.0", "pyarrow==26.0.1"); err != nil {
		return "", err
	}
	scan := filepath.Join(work, "scan")
	if err := do(ctx, "go", "build", "-o", scan, "./tools/bench/scan"); err != nil {
		return "", err
	}
	cow, mor := filepath.Join(work, "perf_cow"), filepath.Join(work, "perf_mor")
	peer := func(reader, what, table string, more ...string) []string {
		return append([]string{python, "tools/bench/peers.py", reader, what, table}, more...)
	}
	all := []comparison{
		{"MOR snapshot, all columns (399,000 rows)", "hudi-rs", []string{scan, mor}, peer("hudi-rs", "rows", mor), 0.25, false},
		{"COW scan, all columns (1,000,000 rows)", "hudi-rs", []string{scan, cow}, peer("hudi-rs", "rows", cow), 1, false},
		{"COW scan, all columns", "pyarrow", []string{scan, cow}, peer("pyarrow", "rows", cow), 0, false},
		{"COW scan, 2 columns", "hudi-rs", []string{scan, "-columns", "id,amount", cow}, peer("hudi-rs", "rows", cow, "id,amount"), 0, false},
		{"COW scan, 2 columns", "pyarrow", []string{scan, "-columns", "id,amount", cow}, peer("pyarrow", "rows", cow, "id,amount"), 0, false},
		{"COW scan, qty = 7 (1,004 rows)", "hudi-rs", []string{scan, "-where", "qty = 7", cow}, peer("hudi-rs", "rows", cow, "", "qty = 7"), 0, false},
		{"COW scan, qty = 7", "pyarrow", []string{scan, "-where", "qty = 7", cow}, peer("pyarrow", "rows", cow, "", "qty = 7"), 0, false},
		{"open, timeline and slices of perf_mor", "hudi-rs", []string{scan, "-what", "slices", mor}, peer("hudi-rs", "slices", mor), 0, true},
		{"frames of all log blocks of perf_mor (89.4 MB)", "reading the bytes", []string{scan, "-what", "frames", mor}, peer("bytes", "", mor), 0, false},
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d cores, %s; hudi-rs 0.5.0, pyarrow 26.0.1 (one thread), %d runs in turn after one that is not counted.\n\n", time.Now().UTC().Format("2006-01-02"), runtime.NumCPU(), runtime.Version(), n)
	b.WriteString("| work | ours: CPU s, wall s, peak MiB | against | its CPU s, wall s, peak MiB | CPU ratio | wall ratio | memory ratio | to reach (CPU) |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, c := range all {
		row, err := compare(ctx, c, n)
		if err != nil {
			return "", fmt.Errorf("%s against %s: %w", c.name, c.peer, err)
		}
		fmt.Print(row)
		b.WriteString(row)
	}
	return b.String(), nil
}

// compare runs both programs in turn and describes them in a row of a table.
func compare(ctx context.Context, c comparison, n int) (string, error) {
	var ours, theirs []run
	for i := range n + 1 {
		a, err := timed(ctx, c.ours)
		if err != nil {
			return "", err
		}
		b, err := timed(ctx, c.theirs)
		if err != nil {
			return "", err
		}
		if a.out != b.out && !c.differ {
			return "", fmt.Errorf("they don't do the same: %s and %s", a.out, b.out)
		}
		if i > 0 {
			ours, theirs = append(ours, a), append(theirs, b)
		}
	}
	cpu := func(r run) float64 { return r.cpu.Seconds() }
	wall := func(r run) float64 { return r.wall.Seconds() }
	peak := func(r run) float64 { return float64(r.peak) / (1 << 20) }
	of := func(runs []run, f func(run) float64) float64 {
		var v []float64
		for _, r := range runs {
			v = append(v, f(r))
		}
		return median(v)
	}
	// The ratio of the medians, so that it follows from the figures beside it.
	ratio := func(f func(run) float64) float64 { return of(ours, f) / of(theirs, f) }
	goal := "–"
	if c.goal > 0 {
		goal = fmt.Sprintf("≤ %.2f", c.goal)
	}
	return fmt.Sprintf("| %s | %.3f, %.3f, %.0f | %s | %.3f, %.3f, %.0f | **%.2f** | %.2f | %.2f | %s |\n", c.name,
		of(ours, cpu), of(ours, wall), of(ours, peak), c.peer, of(theirs, cpu), of(theirs, wall), of(theirs, peak),
		ratio(cpu), ratio(wall), ratio(peak), goal), nil
}

// timed runs a program and takes its time and memory from the system's own accounting.
func timed(ctx context.Context, args []string) (run, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return run{}, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	r := run{wall: time.Since(start), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), out: strings.TrimSpace(out.String())}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.peak = u.Maxrss << 10
	}
	return r, nil
}

func median(v []float64) float64 {
	slices.Sort(v)
	if len(v)%2 == 1 {
		return v[len(v)/2]
	}
	return (v[len(v)/2-1] + v[len(v)/2]) / 2
}

// browser compares in a worker of Chromium; the script does the timing.
func browser(ctx context.Context, work string, n int) (string, error) {
	cmd := exec.CommandContext(ctx, "npm", "ci", "--no-audit", "--no-fund", "--silent")
	cmd.Dir = "tools/bench/browser"
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", err
	}
	cmd = exec.CommandContext(ctx, "go", "build", "-modfile=.cache/trim/go.mod", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", filepath.Join(work, "scan.wasm"), "./tools/bench/scan")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", err
	}
	// As the programs of the page are.
	cmd = exec.CommandContext(ctx, "go", "run", "./tools/shrink", filepath.Join(work, "scan.wasm"))
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", err
	}
	cmd = exec.CommandContext(ctx, "node", "bench.mjs", work, fmt.Sprint(n))
	cmd.Dir = "tools/bench/browser"
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", err
	}
	var doc struct{ Markdown string }
	if err := json.Unmarshal(out, &doc); err != nil {
		return "", fmt.Errorf("the browser's results: %w", err)
	}
	return doc.Markdown, nil
}

// unzip unpacks a table, once.
func unzip(file, to string) error {
	if _, err := os.Stat(filepath.Join(to, strings.TrimSuffix(filepath.Base(file), ".zip"))); err == nil {
		return nil
	}
	z, err := zip.OpenReader(file)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if !filepath.IsLocal(f.Name) {
			return fmt.Errorf("%s: %q leads outside", file, f.Name)
		}
		name := filepath.Join(to, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		r, err := f.Open()
		if err != nil {
			return err
		}
		w, err := os.Create(name)
		if err != nil {
			r.Close()
			return err
		}
		_, err = io.Copy(w, r)
		r.Close()
		if cerr := w.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func do(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}
