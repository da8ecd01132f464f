// Command growth measures how the command grows with its input: it generates tables with more and
// more instants, files and bytes of logs, runs the real command on each in a process of its own, and
// takes processor time and peak memory from the system's accounting. It writes a table and drawings into
// the documentation and ends with status 1 when something grows worse than its input.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"hudiscope/tools/marks"
)

// series is one kind of input in several sizes, and what is done with each.
type series struct {
	name, title, unit string
	sizes             []int64
	make              func(dir string, n int64) error
	commands          []command
	// http is set when the command reads the table over HTTP, from this process.
	http bool
	// browser is set when the commands are steps of browser.mjs, in the page's engine.
	browser bool
}

// command is a run of the program; TABLE in its arguments stands for the table's folder or URL.
type command struct {
	name string
	args []string
	// bound is the peak memory it may take, in MiB, 0 for none.
	bound float64
	// worst is the exponent of a step that is known to be steeper, 0 for none.
	worst float64
	// fails are the exit statuses that are answers, beside 0.
	fails []int
}

// point is one measurement.
type point struct {
	N    int64   `json:"n"`
	CPU  float64 `json:"cpu_s"`
	Wall float64 `json:"wall_s"`
	Peak float64 `json:"peak_mib"`
	Out  int64   `json:"out_bytes"`
}

const (
	// worst is the exponent that counts as growing with the input; the rest is noise of a busy machine.
	worst = 1.1
	// small is the processor time in seconds below which a run says more about starting a program than
	// about its input.
	small = 0.05
	// smallPeak is the same of memory, in MiB.
	smallPeak = 24
)

const (
	mib = 1 << 20
	// browserMemory is the budget for merging of the browser's engine, its default.
	browserMemory = 64 * mib
)

func all() []series {
	health := command{name: "health", args: []string{"health", "TABLE", "--json"}, fails: []int{3, 4}}
	simple := func(name string) command { return command{name: name, args: []string{name, "TABLE", "--json"}} }
	// From one block's time, which is near that of starting, to 100 MB of answer.
	blocks := simple("blocks")
	blocks.worst = 1.15
	scan := command{name: "scan", args: []string{"scan", "TABLE", "", logFile, "--json"}}
	rows := command{name: "rows", args: []string{"rows", "TABLE", "--json"}}
	sizes := []int64{10, 1000, 100_000}
	return []series{
		{"instants", "Instants", "instants", sizes, func(dir string, n int64) error { return instants(dir, int(n)) },
			[]command{simple("timeline"), simple("slices"), blocks, scan, rows, simple("plan"), health}, false, false},
		{"files", "Files, listed from the storage", "files", sizes, func(dir string, n int64) error { return files(dir, int(n), perPartition, false) },
			[]command{simple("timeline"), simple("slices"), rows, simple("plan"), health}, false, false},
		{"files-metadata", "Files over HTTP, listed by a metadata table where there are more than 32 partitions", "files", sizes, func(dir string, n int64) error { return files(dir, int(n), perPartition, true) },
			[]command{simple("slices"), simple("plan"), health}, true, false},
		{"logs", "Bytes of a log", "MiB", []int64{1, 16, 128, 512, 2048}, func(dir string, n int64) error { return logs(dir, n*mib) },
			[]command{
				{name: "blocks (headers)", args: []string{"blocks", "TABLE"}, bound: 256},
				{name: "blocks --json (decodes every block)", args: []string{"blocks", "TABLE", "--json"}, bound: 256},
				{name: "scan (steps)", args: []string{"scan", "TABLE", "", logFile, "--json"}, bound: 256},
				{name: "rows, first 100, --memory 64MiB", args: []string{"rows", "TABLE", "--json", "--limit", "100", "--memory", "64MiB"}, bound: 256},
				// Between 16 and 128 MiB the spilling begins.
				{name: "rows, all, --memory 64MiB", args: []string{"rows", "TABLE", "--json", "--memory", "64MiB"}, bound: 256, worst: 1.2},
				health,
			}, false, false},
		// The tables are those of logs.
		{"browser", "Bytes of a log, in the browser's engine over HTTP", "MiB", []int64{1, 16, 128, 512, 2048}, nil,
			[]command{
				// Measured as 1.14 from 512 MiB to 2 GiB, all processes of the browser together; why is not known.
				{name: "list of blocks", bound: 256, worst: 1.2}, {name: "100 records of each of three blocks", bound: 256},
				// Of 2 GiB, more than half of the processor time is the browser's own process, which writes and compacts IndexedDB.
				{name: "first 100 merged rows", bound: 256, worst: 1.5}}, false, true},
	}
}

func main() {
	out := flag.String("out", "docs/benchmarks.md", "the `file` to write into, between the marks of growth")
	img := flag.String("img", "docs/img", "the `directory` for drawings")
	work := flag.String("work", ".cache/growth", "the `directory` for generated tables (5 GB) and results")
	only := flag.String("only", "", "measure only these series, separated by commas; the others' results are kept")
	most := flag.Int64("most", math.MaxInt64, "leave out larger `sizes` of each series")
	generate := flag.String("generate", "", "only generate the table of this `series`, of the size -most, in the directory -work")
	draw := flag.Bool("draw", false, "only write the results of the last run again")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *generate != "" {
		for _, s := range all() {
			if s.name == *generate {
				if err := s.make(*work, *most); err != nil {
					fmt.Fprintln(os.Stderr, "growth:", err)
					os.Exit(1)
				}
			}
		}
		return
	}
	if err := growth(ctx, *out, *img, *work, *only, *most, *draw); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

// results are the points of every command of every series.
type results map[string]map[string][]point

func growth(ctx context.Context, out, img, work, only string, most int64, draw bool) error {
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	saved := filepath.Join(work, "results.json")
	res := results{}
	if b, err := os.ReadFile(saved); err == nil {
		if err := json.Unmarshal(b, &res); err != nil {
			return fmt.Errorf("%s: %w", saved, err)
		}
	}
	list := all()
	if !draw {
		bin, err := filepath.Abs(filepath.Join(work, "hudiscope"))
		if err != nil {
			return err
		}
		build := exec.CommandContext(ctx, "go", "build", "-o", bin, "./cmd/hudiscope")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return err
		}
		for _, s := range list {
			if only != "" && !slices.Contains(strings.Split(only, ","), s.name) {
				continue
			}
			if s.browser {
				err = s.browse(ctx, work, most, res)
			} else {
				err = s.run(ctx, bin, work, most, res)
			}
			if err != nil {
				return err
			}
			b, err := json.MarshalIndent(res, "", " ")
			if err != nil {
				return err
			}
			if err := os.WriteFile(saved, b, 0o644); err != nil {
				return err
			}
		}
	}
	text, bad := report(list, res)
	if err := os.MkdirAll(img, 0o755); err != nil {
		return err
	}
	for _, s := range list {
		if len(res[s.name]) == 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(img, "growth-"+s.name+".svg"), plot(s, res[s.name]), 0o644); err != nil {
			return err
		}
	}
	if err := marks.Replace(out, "growth", text); err != nil {
		return err
	}
	if len(bad) > 0 {
		return fmt.Errorf("%s", strings.Join(bad, "; "))
	}
	return nil
}

// run generates the tables of a series and runs its commands.
func (s *series) run(ctx context.Context, bin, work string, most int64, res results) error {
	res[s.name] = map[string][]point{}
	for _, n := range s.sizes {
		if n > most {
			continue
		}
		dir, err := filepath.Abs(filepath.Join(work, fmt.Sprintf("%s-%d", s.name, n)))
		if err != nil {
			return err
		}
		// A folder without its mark was left by a run that was stopped.
		mark := dir + ".done"
		if _, err := os.Stat(mark); err != nil {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			// In a process of its own: the system counts the memory of whoever starts a process among what it
			// took at most, so that this one has to stay small.
			self, err := os.Executable()
			if err != nil {
				return err
			}
			c := exec.CommandContext(ctx, self, "-generate", s.name, "-most", fmt.Sprint(n), "-work", dir)
			c.Stderr = os.Stderr
			if err := c.Run(); err != nil {
				return fmt.Errorf("%s of %d %s: %w", s.name, n, s.unit, err)
			}
			if err := os.WriteFile(mark, nil, 0o644); err != nil {
				return err
			}
		}
		table := dir
		if s.http {
			site := httptest.NewServer(http.FileServer(http.Dir(dir)))
			defer site.Close()
			table = site.URL + "/"
		}
		for _, c := range s.commands {
			p, err := c.measure(ctx, bin, table)
			if err != nil {
				return err
			}
			// A short run is taken three times, the least counts: what comes on top is other work of the machine.
			for i := 0; i < 2 && p.CPU < 8; i++ {
				q, err := c.measure(ctx, bin, table)
				if err != nil {
					return err
				}
				p.CPU, p.Wall, p.Peak = min(p.CPU, q.CPU), min(p.Wall, q.Wall), min(p.Peak, q.Peak)
			}
			p.N = n
			fmt.Printf("%-16s %8d %-8s %-40s %8.2f s CPU %8.2f s %8.1f MiB %12d bytes out\n", s.name, n, s.unit, c.name, p.CPU, p.Wall, p.Peak, p.Out)
			res[s.name][c.name] = append(res[s.name][c.name], p)
		}
	}
	return nil
}

// browse lets Chromium do the work. The tables of logs must be there.
func (s *series) browse(ctx context.Context, work string, most int64, res results) error {
	args := []string{"tools/growth/browser.mjs", work, fmt.Sprint(browserMemory)}
	for _, n := range s.sizes {
		if n <= most {
			args = append(args, fmt.Sprint(n))
		}
	}
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("browser.mjs (it needs npm ci in web/e2e, make dist and the tables of logs): %w", err)
	}
	res[s.name] = map[string][]point{}
	for line := range strings.Lines(string(out)) {
		var p struct {
			point
			Name string `json:"name"`
		}
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			return fmt.Errorf("browser.mjs: %w in %q", err, line)
		}
		fmt.Printf("%-16s %8d %-8s %-40s %8.2f s CPU %8.2f s %8.1f MiB\n", s.name, p.N, s.unit, p.Name, p.CPU, p.Wall, p.Peak)
		res[s.name][p.Name] = append(res[s.name][p.Name], p.point)
	}
	return nil
}

// measure runs the command once.
func (c *command) measure(ctx context.Context, bin, table string) (point, error) {
	args := slices.Clone(c.args)
	for i, a := range args {
		if a == "TABLE" {
			args[i] = table
		}
	}
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, "GOMEMLIMIT=") || strings.HasPrefix(e, "GOGC=") || strings.HasPrefix(e, "GODEBUG=")
	})
	var written size
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &written, &errs
	start := time.Now()
	err := cmd.Run()
	if err != nil && (cmd.ProcessState == nil || !slices.Contains(c.fails, cmd.ProcessState.ExitCode())) {
		return point{}, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	p := point{Wall: time.Since(start).Seconds(), CPU: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), Out: int64(written)}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		p.Peak = float64(u.Maxrss) / 1024
	}
	return p, nil
}

// size counts the bytes written to it.
type size int64

func (s *size) Write(p []byte) (int, error) { *s += size(len(p)); return len(p), nil }

var _ io.Writer = (*size)(nil)

// exponents are those of the steps from one size to the next, of CPU and of memory: x where the cost is
// multiplied by 2 to the x when the input is doubled. Costs below the floor count as the
// floor.
func exponents(points []point, cost func(point) float64, floor float64) []float64 {
	var out []float64
	for i := 1; i < len(points); i++ {
		a, b := max(cost(points[i-1]), floor), max(cost(points[i]), floor)
		out = append(out, math.Log(b/a)/math.Log(float64(points[i].N)/float64(points[i-1].N)))
	}
	return out
}

func cpu(p point) float64  { return p.CPU }
func peak(p point) float64 { return p.Peak }

// report renders the results, and says what grows too fast or takes too much.
func report(list []series, res results) (text string, bad []string) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d cores, %s; `make growth`. Each cell: CPU seconds / seconds by the clock / peak MiB of the process (`getrusage`), output to nowhere; "+
		"in the browser: of all its processes, by the clock, and of the engine's WebAssembly memory. "+
		"The exponent is that of the steepest step between two sizes (CPU / memory): 1 grows as the input does, 0 not at all; costs below %.2f s and %d MiB are those of starting.\n",
		time.Now().UTC().Format("2006-01-02"), runtime.NumCPU(), runtime.Version(), small, smallPeak)
	for _, s := range list {
		if len(res[s.name]) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n![%s: processor time and memory](img/growth-%s.svg)\n\n| command |", s.title, s.title, s.name)
		var sizes []int64
		for _, c := range s.commands {
			for _, p := range res[s.name][c.name] {
				if !slices.Contains(sizes, p.N) {
					sizes = append(sizes, p.N)
				}
			}
		}
		slices.Sort(sizes)
		for _, n := range sizes {
			fmt.Fprintf(&b, " %s %s |", thousands(n), s.unit)
		}
		b.WriteString(" exponent |\n| --- |" + strings.Repeat(" --- |", len(sizes)+1) + "\n")
		for _, c := range s.commands {
			points := res[s.name][c.name]
			if len(points) == 0 {
				continue
			}
			fmt.Fprintf(&b, "| %s |", c.name)
			for _, n := range sizes {
				i := slices.IndexFunc(points, func(p point) bool { return p.N == n })
				if i < 0 {
					b.WriteString(" – |")
					continue
				}
				fmt.Fprintf(&b, " %.2f / %.2f / %.0f |", points[i].CPU, points[i].Wall, points[i].Peak)
				if c.bound > 0 && points[i].Peak > c.bound {
					bad = append(bad, fmt.Sprintf("%s of %d %s takes %.0f MiB, more than %.0f", c.name, n, s.unit, points[i].Peak, c.bound))
				}
			}
			if len(points) < 2 {
				b.WriteString(" – |\n")
				continue
			}
			x, y := slices.Max(exponents(points, cpu, small)), slices.Max(exponents(points, peak, smallPeak))
			fmt.Fprintf(&b, " %.2f / %.2f |\n", x, y)
			if x > max(worst, c.worst) || y > worst {
				bad = append(bad, fmt.Sprintf("%s grows with the power %.2f (time), %.2f (memory) of the %s", c.name, x, y, s.unit))
			}
		}
	}
	return b.String(), bad
}

func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
