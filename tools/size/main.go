// Command size holds what a browser or the worker loads against the budgets in
// tools/size/budgets.txt, and fails above them.
//
//	go run ./tools/size [-brotli]
//
// It prints every file raw, with gzip -9 and with brotli (quality 11, a window of 16 MiB, only
// with -brotli: it is slow), the budget, and the change since the sizes were last written
// down in that file.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/andybalholm/brotli"
)

const budgets = "tools/size/budgets.txt"

// line is one line of the budget file: gzip bytes of all the files it names.
type line struct {
	name          string
	files         []string
	budget, known int
}

func main() {
	withBrotli := flag.Bool("brotli", false, "also print brotli sizes")
	flag.Parse()
	b, err := os.ReadFile(budgets)
	if err == nil {
		var lines []line
		if lines, err = parse(string(b)); err == nil {
			err = report(os.Stdout, lines, *withBrotli)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

// parse reads "NAME  BUDGET  KNOWN  FILE…" lines; # begins a comment.
func parse(text string) ([]line, error) {
	var out []line
	for i, l := range strings.Split(text, "\n") {
		l, _, _ = strings.Cut(l, "#")
		f := strings.Fields(l)
		if len(f) == 0 {
			continue
		}
		if len(f) < 4 {
			return nil, fmt.Errorf("%s:%d: want NAME BUDGET KNOWN FILE…", budgets, i+1)
		}
		budget, err1 := strconv.Atoi(f[1])
		known, err2 := strconv.Atoi(f[2])
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", budgets, i+1, err)
		}
		out = append(out, line{f[0], f[3:], budget, known})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: there are no budgets", budgets)
	}
	return out, nil
}

func report(w io.Writer, lines []line, withBrotli bool) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "what\traw\tgzip -9\tbrotli\tbudget (gzip)\tleft\tchange\t\n")
	var over []string
	for _, l := range lines {
		raw, gz, br := 0, 0, 0
		for _, pattern := range l.files {
			names, err := filepath.Glob(filepath.FromSlash(pattern))
			if err != nil {
				return err
			}
			if len(names) == 0 {
				return fmt.Errorf("%s is not built: run make build edge first", pattern)
			}
			for _, n := range names {
				b, err := os.ReadFile(n)
				if err != nil {
					return err
				}
				raw += len(b)
				g, err := length(b, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, gzip.BestCompression) })
				if err != nil {
					return err
				}
				gz += g
				if withBrotli {
					n, err := length(b, func(w io.Writer) (io.WriteCloser, error) {
						return brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: 24}), nil
					})
					if err != nil {
						return err
					}
					br += n
				}
			}
		}
		brText := "-"
		if withBrotli {
			brText = strconv.Itoa(br)
		}
		fmt.Fprintf(tw, "%s\t%d\t%d\t%s\t%d\t%d\t%+d\t\n", l.name, raw, gz, brText, l.budget, l.budget-gz, gz-l.known)
		if gz > l.budget {
			over = append(over, fmt.Sprintf("%s: %d bytes gzip -9, %d above the budget of %d", l.name, gz, gz-l.budget, l.budget))
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if len(over) > 0 {
		return errors.New(strings.Join(over, "\n"))
	}
	return nil
}

// length is how many bytes a compressor makes of b.
func length(b []byte, compressor func(io.Writer) (io.WriteCloser, error)) (int, error) {
	var n counter
	w, err := compressor(&n)
	if err != nil {
		return 0, err
	}
	if _, err := io.Copy(w, bytes.NewReader(b)); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return int(n), nil
}

type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
