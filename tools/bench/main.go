// Command bench times the core against other readers of the same tables: hudi-rs and pyarrow natively,
// goavro as WebAssembly, hyparquet and parquet-wasm in Chromium; the engine's pool of Workers against one; and what
// a visitor waits for. Each comparison runs both programs in turn, so that the ratio
// holds when the machine's speed drifts, and gives medians. It writes the tables of docs/benchmarks.md
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
	"strconv"
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
	only := flag.String("only", "", "only these `parts`, separated by commas: native, wasm, browser, pool, visit")
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
	for _, part := range []struct {
		name    string
		measure func() (string, error)
	}{
		{"native", func() (string, error) { return native(ctx, work, n) }},
		{"wasm", func() (string, error) { return wasm(ctx, work, n) }},
		{"browser", func() (string, error) { return browser(ctx, work, n) }},
		{"pool", func() (string, error) { return script(ctx, "pool.mjs", filepath.Join(shared, "tables"), fmt.Sprint(n)) }},
		{"visit", func() (string, error) { return visit(ctx, work, n) }},
	} {
		if only != "" && !slices.Contains(strings.Split(only, ","), part.name) {
			continue
		}
		doc, err := part.measure()
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		if err := marks.Replace(out, part.name, doc); err != nil {
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
		{records, "reading the bytes", []string{scan, "-what", "records", mor}, peer("bytes", "", mor), 0, false},
	}
	version, err := exec.CommandContext(ctx, python, "--version").Output()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d cores (%s), %s, %s; hudi-rs 0.5.0, pyarrow 26.0.1 (one thread); medians of %d runs in turn after one that is not counted, each a process of its own (`getrusage`). "+
		"The programs: `tools/bench/scan [-columns C | -where W | -what W] TABLE` and `tools/bench/peers.py READER WHAT TABLE [COLUMNS] [WHERE]`.\n\n",
		time.Now().UTC().Format("2006-01-02"), runtime.NumCPU(), cpuModel(), runtime.Version(), strings.TrimSpace(string(version)), n)
	b.WriteString("| work | ours: CPU s, wall s, peak MiB | against | its CPU s, wall s, peak MiB | CPU ratio | wall ratio | memory ratio | to reach (CPU) |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	var speed string
	for _, c := range all {
		row, ours, theirs, err := compare(ctx, c, n)
		if err != nil {
			return "", fmt.Errorf("%s against %s: %w", c.name, c.peer, err)
		}
		fmt.Print(row)
		b.WriteString(row)
		if c.name == records {
			speed = fmt.Sprintf("\nDecoding is %.0f MB of log a second of processor time; Python reads the same bytes at %.0f.\n", 89.4/ours, 89.4/theirs)
		}
	}
	return b.String() + speed, nil
}

// records is the name of the comparison whose speed is told in megabytes a second.
const records = "records of all log blocks of perf_mor, decoded into columns (89.4 MB)"

// cpuModel is the processor's own name, where the system tells it.
func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return runtime.GOARCH
}

// compare runs both programs in turn and describes them in a row of a table. It gives the seconds of processor time, too.
func compare(ctx context.Context, c comparison, n int) (row string, oursCPU, theirsCPU float64, err error) {
	var ours, theirs []run
	for i := range n + 1 {
		a, err := timed(ctx, c.ours)
		if err != nil {
			return "", 0, 0, err
		}
		b, err := timed(ctx, c.theirs)
		if err != nil {
			return "", 0, 0, err
		}
		if a.out != b.out && !c.differ {
			return "", 0, 0, fmt.Errorf("they don't do the same: %s and %s", a.out, b.out)
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
		ratio(cpu), ratio(wall), ratio(peak), goal), of(ours, cpu), of(theirs, cpu), nil
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
	if err := program(ctx, filepath.Join(work, "scan.wasm"), "build", "./tools/bench/scan"); err != nil {
		return "", err
	}
	return script(ctx, "bench.mjs", work, fmt.Sprint(n))
}

// visit times the built command's page.
func visit(ctx context.Context, work string, n int) (string, error) {
	bin, err := filepath.Abs("bin/hudiscope")
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(bin); err != nil {
		return "", fmt.Errorf("%w: make build makes it", err)
	}
	return script(ctx, "visit.mjs", work, bin, fmt.Sprint(n))
}

// script runs one of the scripts for Chromium and gives the table that it prints.
func script(ctx context.Context, name string, args ...string) (string, error) {
	const dir = "tools/bench/browser"
	for i, a := range args {
		if _, err := os.Stat(a); err == nil {
			if args[i], err = filepath.Abs(a); err != nil {
				return "", err
			}
		}
	}
	cmd := exec.CommandContext(ctx, "npm", "ci", "--no-audit", "--no-fund", "--silent")
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", err
	}
	cmd = exec.CommandContext(ctx, "node", append([]string{name}, args...)...)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", err
	}
	var doc struct{ Markdown string }
	if err := json.Unmarshal(out, &doc); err != nil {
		return "", fmt.Errorf("%s: what it printed: %w", name, err)
	}
	return doc.Markdown, nil
}

// program builds a package ("build"), or its tests ("test", "-c"), as the programs of the page are.
func program(ctx context.Context, to string, args ...string) error {
	args = slices.Insert(args, len(args)-1, "-modfile=.cache/trim/go.mod", "-trimpath", "-ldflags=-s -w", "-o", to)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	return do(ctx, "go", "run", "./tools/shrink", to)
}

// wasm compares what decodes Avro records with goavro, both as WebAssembly under Node.
func wasm(ctx context.Context, work string, n int) (string, error) {
	to := filepath.Join(work, "avro.wasm")
	if err := program(ctx, to, "test", "-c", "./core/avro"); err != nil {
		return "", err
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	runner := filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "go_js_wasm_exec")
	node, err := exec.CommandContext(ctx, "node", "--version").Output()
	if err != nil {
		return "", err
	}
	// Each run's number of rounds is given, so that the processor time of the process can be divided by it; an empty run
	// tells what starting takes.
	cases := []struct {
		name, bench string
		rounds      int
	}{
		{"", "^$", 0},
		{"ours, all columns", "^BenchmarkDecodeColumnar$/^all$", 100},
		{"ours, 2 columns", "^BenchmarkDecodeColumnar$/^two$", 100},
		{"goavro", "^BenchmarkDecodeGoavro$", 10},
	}
	clock, cpu := make([][]float64, len(cases)), make([][]float64, len(cases))
	for i := range n + 1 {
		for k, c := range cases {
			cmd := exec.CommandContext(ctx, runner, to, "-test.run=^$", "-test.bench="+c.bench, fmt.Sprintf("-test.benchtime=%dx", max(c.rounds, 1)))
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
			cmd.Dir = "core/avro"
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.Output()
			if err != nil {
				return "", fmt.Errorf("%s: %w\n%s", c.bench, err, errs.String())
			}
			if i == 0 {
				continue
			}
			cpu[k] = append(cpu[k], (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
			if c.rounds > 0 {
				ns, err := perRecord(string(out))
				if err != nil {
					return "", err
				}
				clock[k] = append(clock[k], ns)
			}
		}
	}
	const batch = 10_000
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d cores (%s), %s, Node %s; goavro 2.15.0; medians of %d runs in turn after one that is not counted: `BenchmarkDecodeColumnar` and `BenchmarkDecodeGoavro` of core/avro, records of 15 fields, the program shrunk as the page's are. "+
		"Processor time is that of the process without what an empty one takes.\n\n", time.Now().UTC().Format("2006-01-02"), runtime.NumCPU(), cpuModel(), runtime.Version(), strings.TrimSpace(string(node)), n)
	b.WriteString("| decoder | ns a record, by the clock | processor time | times as fast as goavro | by processor time | to reach |\n| --- | --- | --- | --- | --- | --- |\n")
	start := median(cpu[0])
	ns := func(k int) float64 { return (median(cpu[k]) - start) * 1e9 / float64(batch*cases[k].rounds) }
	last := len(cases) - 1
	for k := 1; k < last; k++ {
		goal := "–"
		if k == 1 {
			goal = "≥ 8"
		}
		fmt.Fprintf(&b, "| %s | %.0f | %.0f | **%.1f** | %.1f | %s |\n", cases[k].name, median(clock[k]), ns(k), median(clock[last])/median(clock[k]), ns(last)/ns(k), goal)
	}
	fmt.Fprintf(&b, "| %s | %.0f | %.0f | 1 | 1 | |\n", cases[last].name, median(clock[last]), ns(last))
	fmt.Print(b.String())
	return b.String(), nil
}

// perRecord finds the benchmark's own figure in its output.
func perRecord(out string) (float64, error) {
	f := strings.Fields(out)
	i := slices.Index(f, "ns/record")
	if i < 1 {
		return 0, fmt.Errorf("no ns/record in %q", out)
	}
	return strconv.ParseFloat(f[i-1], 64)
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
