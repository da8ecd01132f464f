//go:build servers

package servers

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hudiscope/core/storage"
	"hudiscope/fsadapter"
	"hudiscope/fsadapter/dir"
	"hudiscope/fsadapter/httprange"
	"hudiscope/tools/servers/answers"
	"hudiscope/tools/servers/faulttest"
)

// The tables: copy on write, merge on read with log files and compactions, table versions 6, 8 and
// 9, a metadata table, and partitions whose names have everything that must be escaped.
var tables = []string{"cow_trips_h102", "mor_trips_h120", "mor_compacted_h0150", "part_url_encoded_h120", "mdt_full_h120"}

const cache = "../../.cache"

// stamp is the time of modification of all files. Servers tell whole seconds.
var stamp = time.Date(2026, 3, 7, 16, 13, 20, 0, time.UTC)

var lake struct {
	sync.Once
	dir  string
	want map[string]*answers.Answers
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if lake.dir != "" {
		os.RemoveAll(lake.dir)
	}
	os.Exit(code)
}

// folder unpacks the tables, once, and asks for them by the directory adapter.
func folder(t *testing.T) (string, map[string]*answers.Answers) {
	lake.Do(func() {
		// Not below t.TempDir: workers of servers that give up root must be able to enter.
		if lake.dir, lake.err = os.MkdirTemp("", "hudiscope-lake"); lake.err != nil {
			return
		}
		if lake.err = os.Chmod(lake.dir, 0o755); lake.err != nil {
			return
		}
		for name, text := range oddFiles() {
			p := filepath.Join(lake.dir, "odd", name)
			if lake.err = os.MkdirAll(filepath.Dir(p), 0o755); lake.err != nil {
				return
			}
			if lake.err = os.WriteFile(p, []byte(text), 0o644); lake.err != nil {
				return
			}
		}
		lake.want = map[string]*answers.Answers{}
		for _, name := range tables {
			if lake.err = unzip(filepath.Join("../../testdata/tables", name+".zip"), lake.dir); lake.err != nil {
				return
			}
			base := filepath.Join(lake.dir, name)
			if lake.want[name], lake.err = answers.Of(context.Background(), func(context.Context) (storage.Source, error) { return dir.New(base) }); lake.err != nil {
				return
			}
		}
	})
	if lake.err != nil {
		t.Fatal(lake.err)
	}
	for name, a := range lake.want {
		if len(a.Rows.Rows) < 3 || len(a.Timeline.Active) < 2 || len(a.Files.Partitions) == 0 {
			t.Fatalf("%s: %d rows, %d instants: the comparison would show little", name, len(a.Rows.Rows), len(a.Timeline.Active))
		}
	}
	return lake.dir, lake.want
}

func unzip(file, to string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, f := range z.File {
		p := filepath.Join(to, filepath.FromSlash(f.Name))
		if !filepath.IsLocal(f.Name) {
			return errors.New(f.Name + " leads out of the folder")
		}
		if strings.HasSuffix(f.Name, "/") {
			err = os.MkdirAll(p, 0o755)
		} else {
			err = unpack(f, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func unpack(f *zip.File, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, b, 0o644); err != nil {
		return err
	}
	return os.Chtimes(to, stamp, stamp)
}

// skip skips a test whose server is not there; any other error fails it.
func skip(t *testing.T, err error) {
	t.Helper()
	var m *Missing
	if errors.As(err, &m) {
		t.Skip(m)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// workDir is a folder that every user may enter.
func workDir(t *testing.T) string {
	t.Helper()
	d, err := os.MkdirTemp("", "hudiscope-server")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(d) })
	if err := os.Chmod(d, 0o755); err != nil {
		t.Fatal(err)
	}
	return d
}

// same compares the answers for a table with those of the directory adapter.
func same(t *testing.T, open answers.Open, want *answers.Answers, tells answers.Tells) *answers.Answers {
	t.Helper()
	got, err := answers.Of(t.Context(), open)
	if err != nil {
		t.Fatal(err)
	}
	if err := answers.Differ(got, want, tells); err != nil {
		t.Error(err)
		for _, r := range got.Remarks() {
			t.Log(r)
		}
	}
	return got
}

func opener(location string, o fsadapter.Options) answers.Open {
	return func(ctx context.Context) (storage.Source, error) { return fsadapter.OpenURLWith(ctx, location, o) }
}

// Every table by every web server: the instants, slices, files and rows of the directory.
func TestWebServers(t *testing.T) {
	root, want := folder(t)
	for _, s := range Web {
		t.Run(s.Name, func(t *testing.T) {
			p, base, err := s.Run(t.Context(), cache, workDir(t), root)
			skip(t, err)
			defer p.Stop()
			for _, name := range tables {
				t.Run(name, func(t *testing.T) {
					tells := answers.Tells{NoSizes: s.NoSizes || s.HidesDots, NoTimes: s.NoTimes, NoStrays: s.HidesDots}
					got := same(t, opener(base+"/"+name+"/", fsadapter.Options{}), want[name], tells)
					said := slices.ContainsFunc(got.Remarks(), func(r string) bool { return strings.Contains(r, "names that begin with a dot") })
					if said != s.HidesDots {
						t.Errorf("it hides dot names: %v, and that is said: %v\n%s", s.HidesDots, said, strings.Join(got.Remarks(), "\n"))
					}
					if t.Failed() {
						t.Log(p.Output())
					}
				})
			}
			t.Run("odd names", func(t *testing.T) { oddNames(t, base) })
		})
	}
}

// Every fault before web servers that list all names.
func TestFaults(t *testing.T) {
	root, want := folder(t)
	for _, s := range Web {
		if s.Name != "caddy" && s.Name != "apache-plain" {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			p, base, err := s.Run(t.Context(), cache, workDir(t), root)
			skip(t, err)
			t.Cleanup(p.Stop)
			paths := map[string]*answers.Answers{}
			for _, name := range tables[:4] {
				paths["/"+name+"/"] = want[name]
			}
			faulttest.Run(t, faulttest.Server{URL: base, Tables: paths, Tells: answers.Tells{NoSizes: s.NoSizes, NoTimes: true}, Store: s.NoSizes})
		})
	}
}

// odd are names that one or another server escapes wrongly in a listing.
var odd = []string{"a b", "a+b", "50%", "%2F", "%25", "ü日本語", "a=b,c", "q?x", "#1", "a&b", "a;b", "it's", `q"t`, "<b>", "~x", "[1]", "{k}", "a:b", "@x", "$x", "!x", "(x)", "a%20b"}

// oddFiles are the files of folder odd by path.
func oddFiles() map[string]string {
	out := map[string]string{}
	for _, n := range odd {
		out[n+"/x "+n] = "in " + n
	}
	return out
}

// oddNames asks a web server for the folder odd.
func oddNames(t *testing.T, base string) {
	src, err := httprange.New(base+"/odd/", httprange.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkOdd(t, src)
}

// checkOdd lists and reads the folders of odd names.
func checkOdd(t *testing.T, src storage.Source) {
	t.Helper()
	l, err := src.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range l.Entries {
		if !e.Dir {
			t.Errorf("%q is listed as a file", e.Name)
		}
		got = append(got, e.Name)
	}
	want := slices.Sorted(slices.Values(odd))
	if !slices.Equal(got, want) {
		t.Errorf("listed %q\n  want %q", got, want)
	}
	for _, n := range odd {
		l, err := src.List(t.Context(), n)
		if err != nil || len(l.Entries) != 1 || l.Entries[0].Name != "x "+n {
			t.Errorf("%q: %+v, %v", n, l.Entries, err)
		}
		b, err := storage.ReadAll(t.Context(), src, n+"/x "+n, 0)
		if err != nil || string(b) != "in "+n {
			t.Errorf("%q: read %q, %v", n, b, err)
		}
	}
}
