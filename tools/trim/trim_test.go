package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// root is the module's root, where trim runs.
var root = filepath.Join("..", "..")

// TestSameValues reads all base files of the test tables, and files of every codec
// and page version written here, with the published reader, the trimmed one, and
// the trimmed one as WebAssembly under Node.
func TestSameValues(t *testing.T) {
	if testing.Short() {
		t.Skip("builds three programs")
	}
	if _, err := os.Stat(filepath.Join(root, ".cache", "trim", "go.mod")); err != nil {
		t.Skip("no trimmed modules here: make trim-test makes them")
	}
	files, err := filepath.Glob(filepath.Join(root, "testdata", "tables", "*.zip"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d tables in testdata/tables (%v), want at least 10", len(files), err)
	}
	tmp := t.TempDir()
	files = append(files, written(t, tmp)...)
	for i := range files {
		if files[i], err = filepath.Abs(files[i]); err != nil {
			t.Fatal(err)
		}
	}

	build := func(name string, env []string, flags ...string) string {
		t.Helper()
		bin := filepath.Join(tmp, name)
		cmd := exec.Command("go", append(append([]string{"build", "-o", bin}, flags...), "./tools/trim/checksum")...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("building %s: %v\n%s", name, err, out)
		}
		return bin
	}
	run := func(name string, arg ...string) []string {
		t.Helper()
		var stderr bytes.Buffer
		cmd := exec.Command(name, append(arg, files...)...)
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, stderr.Bytes())
		}
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}

	want := run(build("published", nil))
	var values int64
	for _, line := range want {
		f := strings.Fields(line)
		if strings.HasSuffix(line, "unsupported compression codec: LZ4") {
			continue // the library has no such codec; core/basefile unpacks these pages for it
		}
		// A file's name may have spaces: the count stands before the sum, at the end.
		if len(f) < 3 {
			t.Fatalf("the published reader's line %q", line)
		}
		n, err := strconv.ParseInt(f[len(f)-2], 10, 64)
		if err != nil {
			t.Errorf("the published reader can't read a file: %s", line)
		}
		values += n
	}
	t.Logf("%d Parquet files, %d values", len(want), values)
	if len(want) < 50 || values < 20000 {
		t.Errorf("%d files and %d values compared: the tables are not all there", len(want), values)
	}
	same := func(t *testing.T, got []string) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%d files read, want %d", len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("trimmed:   %s\npublished: %s", got[i], want[i])
			}
		}
	}
	mod := "-modfile=" + filepath.Join(".cache", "trim", "go.mod")
	t.Run("native", func(t *testing.T) { same(t, run(build("trimmed", nil, mod))) })
	t.Run("wasm", func(t *testing.T) {
		if _, err := exec.LookPath("node"); err != nil {
			t.Skip("node is not installed")
		}
		wasm := build("trimmed.wasm", []string{"GOOS=js", "GOARCH=wasm"}, mod)
		goroot, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			t.Fatal(err)
		}
		same(t, run(filepath.Join(strings.TrimSpace(string(goroot)), "lib", "wasm", "go_js_wasm_exec"), wasm))
	})
}

type inner struct {
	A int32    `parquet:"a,optional"`
	B []string `parquet:"b,list"`
}

type row struct {
	ID     string           `parquet:"id,dict"`
	N      int64            `parquet:"n,delta"`
	F      float64          `parquet:"f,split"`
	G      float32          `parquet:"g"`
	Ok     bool             `parquet:"ok"`
	Bin    []byte           `parquet:"bin,optional"`
	Fixed  [7]byte          `parquet:"fixed"`
	Text   string           `parquet:"text,delta"`
	Nested *inner           `parquet:"nested,optional"`
	Map    map[string]int64 `parquet:"map"`
	List   []inner          `parquet:"list,list"`
}

// written makes a file per codec and data page version.
func written(t *testing.T, dir string) []string {
	t.Helper()
	rows := make([]row, 700)
	for i := range rows {
		r := &rows[i]
		r.ID, r.N, r.F, r.G, r.Ok = fmt.Sprint("key", i%17), int64(i)*1_000_003-5, float64(i)/7, float32(i)/3, i%3 == 0
		r.Text = strings.Repeat("é", i%5) + fmt.Sprint(i)
		copy(r.Fixed[:], fmt.Sprintf("%07d", i))
		r.Map = map[string]int64{"a": int64(i), fmt.Sprint("k", i%4): -1}
		if i%4 != 0 {
			r.Bin = []byte{byte(i), 0, 255}
			r.Nested = &inner{A: int32(i), B: []string{"x", fmt.Sprint(i)}}
		}
		for j := range i % 4 {
			r.List = append(r.List, inner{A: int32(j), B: make([]string, j)})
		}
	}
	codecs := map[string]parquet.WriterOption{
		"none": parquet.Compression(&parquet.Uncompressed), "snappy": parquet.Compression(&parquet.Snappy),
		"gzip": parquet.Compression(&parquet.Gzip), "zstd": parquet.Compression(&parquet.Zstd),
		"lz4": parquet.Compression(&parquet.Lz4Raw), "brotli": parquet.Compression(&parquet.Brotli),
	}
	var files []string
	for codec, opt := range codecs {
		for version := 1; version <= 2; version++ {
			name := filepath.Join(dir, fmt.Sprintf("%s_v%d.parquet", codec, version))
			f, err := os.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			w := parquet.NewGenericWriter[row](f, opt, parquet.DataPageVersion(version), parquet.PageBufferSize(2000), parquet.MaxRowsPerRowGroup(300))
			if _, err := w.Write(rows); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			files = append(files, name)
		}
	}
	return files
}

// TestLoudOnOtherSource gives editFile sources that are not what the edits are for.
func TestLoudOnOtherSource(t *testing.T) {
	const src = `package p

import (
	"fmt"

	"example.org/pb"
)

func f(v any) {
	switch v := v.(type) {
	case *pb.A:
		fmt.Println(v)
	case string:
	}
}
`
	deny := []string{"example.org/pb"}
	if _, err := editFile("x.go", []byte(src), edit{clauses: 1}, deny); err != nil {
		t.Errorf("the expected source is refused: %v", err)
	}
	for name, c := range map[string]struct {
		src string
		e   edit
	}{
		"other count":       {src, edit{clauses: 2}},
		"absent function":   {src, edit{clauses: 1, drop: []string{"g"}}},
		"nothing to do":     {strings.ReplaceAll(src, "example.org/pb", "example.org/other"), edit{clauses: 1}},
		"mixed case":        {strings.Replace(src, "case *pb.A:", "case *pb.A, int:", 1), edit{clauses: 1}},
		"used elsewhere":    {src + "\nvar x pb.A\n", edit{clauses: 1}},
		"not Go":            {"package", edit{clauses: 1}},
		"import undeclared": {strings.Replace(src, `"example.org/pb"`, `"example.org/pbx"`, 1), edit{clauses: 1}},
	} {
		if _, err := editFile("x.go", []byte(c.src), c.e, deny); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
