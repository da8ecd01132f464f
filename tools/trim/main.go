// Command trim makes smaller copies of pinned modules for the WebAssembly builds,
// and a go.mod that uses them.
//
// The published parquet-go links protocol buffers and a geometry library for
// writing; brotli links net/http for a helper, go-app for a server of the page.
// None of it is used in the browser, and the first are two thirds of a .wasm file:
// protocol buffers look methods up by name, which keeps the linker from dropping
// methods nobody calls.
//
// trim copies the modules out of the module cache (whose content go.sum holds),
// deletes those parts, and writes OUT/go.mod and OUT/go.sum for
//
//	go build -modfile=.cache/trim/go.mod …
//
// Every edit is counted against what the pinned version is known to hold: a
// source that differs ends the program, it never guesses. Nothing of the copies
// is committed.
//
// Usage, from the root of the module:
//
//	go run ./tools/trim [-out .cache/trim]
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// module says what to take out of one module.
type module struct {
	path, version string
	// dir is the folder below the output folder.
	dir string
	// files are deleted.
	files []string
	// deny are import paths (and all below them) that must be gone afterwards.
	deny []string
	// edits by file.
	edits map[string]edit
	// skipDirs are folders that are not copied.
	skipDirs []string
}

// edit says what one file is known to hold.
type edit struct {
	// clauses is the number of case clauses that name only denied packages.
	clauses int
	// switches is the number of switch statements left empty by that.
	switches int
	// drop are functions (NAME or TYPE.NAME) to delete, body those whose body to replace.
	drop []string
	body map[string]string
	// keep, when not empty, are the only declarations to leave besides the imports.
	keep []string
}

var modules = []module{
	{
		path: "github.com/parquet-go/parquet-go", version: "v0.32.0", dir: "parquet-go",
		files: []string{
			"column_buffer_geometry.go", "column_buffer_proto.go",
			"column_buffer_proto_any.go", "column_buffer_proto_purego.go",
		},
		deny: []string{"google.golang.org/protobuf", "github.com/twpayne/go-geom", "net/http"},
		edits: map[string]edit{
			"column_buffer_reflect.go": {
				clauses: 23, switches: 1,
				drop: []string{"structpbValueToReflectValue"},
			},
			"column_buffer_write.go": {clauses: 1},
			"type_geometry.go":       {clauses: 2},
			"type_geography.go":      {clauses: 2},
			// Statistics of geometries are a writer's. A value that can't be parsed
			// suppresses them, and now none can.
			"geospatial_statistics.go": {
				drop: []string{"geospatialBBoxAccumulator.updateFromGeom", "wkbGeomTypeCode"},
				body: map[string]string{"geospatialBBoxAccumulator.accumulatePage": "a.parseError = true"},
			},
		},
		skipDirs: []string{"docs", "testdata"},
	},
	{
		// The page is served as files; go-app's own server of it only pulls net/http in.
		path: "github.com/maxence-charriere/go-app/v9", version: "v9.8.0", dir: "go-app",
		files: []string{"pkg/app/resource.go", "pkg/app/static.go", "pkg/app/wasmexec.go"},
		deny:  []string{"net/http", "text/template", "crypto/sha1"},
		edits: map[string]edit{
			"pkg/app/http.go": {keep: []string{"isRemoteLocation", "isStaticResourcePath", "parseSrc"}},
			"pkg/app/wasm.go": {drop: []string{"GenerateStaticWebsite"}},
		},
		skipDirs: []string{"docs", "pkg/app/gen", "pkg/ui", "pkg/cli", "pkg/analytics"},
	},
	{
		// Of the ORC library only the readers of run lengths are used. Its messages are protocol
		// buffers, which keep the linker from dropping methods, as above.
		path: "github.com/scritchley/orc", version: "v0.0.0-20210513144143-06dddf1ad665", dir: "orc",
		files: []string{
			"booleanwriter.go", "buffererwriter.go", "columnstatistics.go", "compressioncodec.go", "cursor.go", "decimal.go",
			"dictionary.go", "dictionary_v2.go", "float.go", "orc.go", "reader.go", "streamname.go", "treereader.go",
			"treereaderfactory.go", "treewriter.go", "treewriterfactory.go", "typedescription.go", "writer.go",
			"runlengthintegerwriter.go", "runlengthintegerwriterv2.go",
		},
		deny:     []string{"github.com/golang/protobuf", "github.com/golang/snappy", "github.com/scritchley/orc/proto"},
		skipDirs: []string{"examples", "proto", "tools"},
	},
	{
		path: "github.com/andybalholm/brotli", version: "v1.1.1", dir: "brotli",
		files:    []string{"http.go"},
		deny:     []string{"net/http"},
		skipDirs: []string{"testdata"},
	},
}

func main() {
	out := flag.String("out", filepath.Join(".cache", "trim"), "folder for the copies and go.mod, below the module's root")
	quiet := flag.Bool("q", false, "say nothing when all is well")
	flag.Parse()
	if err := run(*out, *quiet); err != nil {
		fmt.Fprintln(os.Stderr, "trim:", err)
		os.Exit(1)
	}
}

func run(out string, quiet bool) error {
	if filepath.IsAbs(out) || strings.HasPrefix(filepath.Clean(out), "..") {
		return fmt.Errorf("-out %s: give a folder below the module's root", out)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return fmt.Errorf("run it from the root of the module: %w", err)
	}
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		return err
	}
	mod = append(bytes.TrimRight(mod, "\n"), "\n\n// Trimmed copies: see tools/trim.\n"...)
	for _, m := range modules {
		src, err := locate(m)
		if err != nil {
			return err
		}
		dst := filepath.Join(out, m.dir)
		changed, err := trim(m, src, dst)
		if err != nil {
			return fmt.Errorf("%s %s: %w", m.path, m.version, err)
		}
		if !quiet && changed > 0 {
			fmt.Printf("trim: %s %s → %s (%d files written)\n", m.path, m.version, dst, changed)
		}
		mod = append(mod, fmt.Sprintf("replace %s => ./%s\n", m.path, filepath.ToSlash(dst))...)
	}
	if _, err := write(filepath.Join(out, "go.mod"), mod); err != nil {
		return err
	}
	_, err = write(filepath.Join(out, "go.sum"), sum)
	return err
}

// locate downloads the module if need be and returns its folder in the module
// cache. The version that go.mod selects must be the one the edits are for.
func locate(m module) (string, error) {
	o, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", m.path).Output()
	if err != nil {
		return "", fmt.Errorf("go list -m %s: %w%s", m.path, err, stderrOf(err))
	}
	if v := strings.TrimSpace(string(o)); v != m.version {
		return "", fmt.Errorf("go.mod selects %s %s, but the edits in tools/trim are for %s: check them against the new version", m.path, v, m.version)
	}
	o, err = exec.Command("go", "mod", "download", "-json", m.path+"@"+m.version).Output()
	if err != nil {
		return "", fmt.Errorf("go mod download %s: %w%s", m.path, err, stderrOf(err))
	}
	var d struct{ Dir, Error string }
	if err := json.Unmarshal(o, &d); err != nil {
		return "", err
	}
	if d.Error != "" || d.Dir == "" {
		return "", fmt.Errorf("go mod download %s: %s", m.path, d.Error)
	}
	return d.Dir, nil
}

func stderrOf(err error) string {
	var e *exec.ExitError
	if errors.As(err, &e) && len(e.Stderr) > 0 {
		return "\n" + strings.TrimSpace(string(e.Stderr))
	}
	return ""
}

// trim writes the trimmed module to dst and returns how many files changed there.
func trim(m module, src, dst string) (int, error) {
	want := map[string][]byte{}
	deleted := map[string]bool{}
	edited := map[string]bool{}
	err := filepath.WalkDir(src, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(src, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if slices.Contains(m.skipDirs, rel) || d.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if slices.Contains(m.files, rel) {
			deleted[rel] = true
			return nil
		}
		switch {
		case strings.HasSuffix(rel, "_test.go"):
			return nil
		case strings.HasSuffix(rel, ".go"), strings.HasSuffix(rel, ".s"), strings.HasSuffix(rel, ".h"):
		case path.Base(rel) == "LICENSE", rel == "go.mod", rel == "AUTHORS.txt":
		default:
			return nil
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		switch {
		case rel == "go.mod":
			b = trimMod(b, m.deny)
		case strings.HasSuffix(rel, ".go"):
			e, ok := m.edits[rel]
			if ok {
				edited[rel] = true
				if b, err = editFile(rel, b, e, m.deny); err != nil {
					return err
				}
			}
			if err := checkImports(rel, b, m.deny); err != nil {
				return err
			}
		}
		want[rel] = b
		return nil
	})
	if err != nil {
		return 0, err
	}
	if want["go.mod"] == nil {
		// A module from before modules; one that is used in place of it must have the file.
		want["go.mod"] = []byte("module " + m.path + "\n")
	}
	for _, f := range m.files {
		if !deleted[f] {
			return 0, fmt.Errorf("%s is not in the module: the edits are for another source", f)
		}
	}
	for f := range m.edits {
		if !edited[f] {
			return 0, fmt.Errorf("%s is not in the module: the edits are for another source", f)
		}
	}
	return sync(want, dst)
}

// sync makes dst hold exactly want, touching only files that differ, so that a
// build going on beside it sees no half-written source.
func sync(want map[string][]byte, dst string) (int, error) {
	changed := 0
	for rel, b := range want {
		w, err := write(filepath.Join(dst, filepath.FromSlash(rel)), b)
		if err != nil {
			return changed, err
		}
		if w {
			changed++
		}
	}
	err := filepath.WalkDir(dst, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dst, p)
		if err != nil {
			return err
		}
		if _, ok := want[filepath.ToSlash(rel)]; !ok {
			changed++
			return os.Remove(p)
		}
		return nil
	})
	return changed, err
}

// write stores b unless the file already holds it.
func write(name string, b []byte) (bool, error) {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, b) {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return false, err
	}
	tmp := fmt.Sprintf("%s.tmp%d", name, os.Getpid())
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		return false, err
	}
	return true, os.Rename(tmp, name)
}

// trimMod drops the requirements of denied modules from a go.mod.
func trimMod(b []byte, deny []string) []byte {
	var out []string
	for line := range strings.SplitSeq(string(b), "\n") {
		f := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(f) >= 2 && denied(f[0], deny) {
			continue
		}
		out = append(out, line)
	}
	return []byte(strings.Join(out, "\n"))
}

func denied(imp string, deny []string) bool {
	return slices.ContainsFunc(deny, func(d string) bool { return imp == d || strings.HasPrefix(imp, d+"/") })
}

func checkImports(name string, b []byte, deny []string) error {
	f, err := parser.ParseFile(token.NewFileSet(), name, b, parser.ImportsOnly)
	if err != nil {
		return err
	}
	for _, s := range f.Imports {
		if p, _ := strconv.Unquote(s.Path.Value); denied(p, deny) {
			return fmt.Errorf("%s imports %s: the edits are for another source", name, p)
		}
	}
	return nil
}

// span is a byte range to replace.
type span struct {
	from, to int
	text     string
}

// editFile applies e to a file. It works on byte ranges found in the syntax tree,
// so that everything else stays as it is, build tags and comments included.
func editFile(name string, src []byte, e edit, deny []string) ([]byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	off := func(p token.Pos) int { return fset.Position(p).Offset }

	bad := map[string]bool{} // local names of denied packages
	for _, s := range f.Imports {
		if p, _ := strconv.Unquote(s.Path.Value); denied(p, deny) {
			bad[importName(s)] = true
		}
	}
	if len(bad) == 0 && len(e.drop) == 0 && len(e.body) == 0 {
		return nil, fmt.Errorf("%s imports nothing to take out: the edits are for another source", name)
	}

	var spans []span
	drops, bodies, kept := 0, 0, 0
	for _, d := range f.Decls {
		if len(e.keep) > 0 {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				continue
			}
			fn, ok := d.(*ast.FuncDecl)
			if ok && slices.Contains(e.keep, funcName(fn)) {
				kept++
				continue
			}
			from := d.Pos()
			if doc := docOf(d); doc != nil {
				from = doc.Pos()
			}
			spans = append(spans, span{off(from), off(d.End()), ""})
			continue
		}
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		n := funcName(fn)
		if slices.Contains(e.drop, n) {
			from := fn.Pos()
			if fn.Doc != nil {
				from = fn.Doc.Pos()
			}
			spans = append(spans, span{off(from), off(fn.End()), ""})
			drops++
			continue
		}
		if text, ok := e.body[n]; ok {
			spans = append(spans, span{off(fn.Body.Lbrace) + 1, off(fn.Body.Rbrace), "\n\t" + text + "\n"})
			bodies++
			continue
		}
	}
	if drops != len(e.drop) || bodies != len(e.body) || kept != len(e.keep) {
		return nil, fmt.Errorf("%s: found %d of %d functions to delete, %d of %d to change and %d of %d to keep: the edits are for another source",
			name, drops, len(e.drop), bodies, len(e.body), kept, len(e.keep))
	}
	inside := func(p token.Pos) bool {
		return slices.ContainsFunc(spans, func(s span) bool { return off(p) >= s.from && off(p) < s.to })
	}

	clauses, switches := 0, 0
	var failed error
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil || failed != nil || inside(n.Pos()) {
			return false
		}
		var body *ast.BlockStmt
		switch s := n.(type) {
		case *ast.TypeSwitchStmt:
			body = s.Body
		case *ast.SwitchStmt:
			body = s.Body
		default:
			return true
		}
		var mine []span
		for i, st := range body.List {
			c := st.(*ast.CaseClause)
			named := 0
			for _, x := range c.List {
				if names(x, bad) {
					named++
				}
			}
			if named == 0 {
				continue
			}
			if named != len(c.List) {
				failed = fmt.Errorf("%s: a case names kept and denied packages together: the edits are for another source", fset.Position(c.Pos()))
				return false
			}
			end := body.Rbrace
			if i+1 < len(body.List) {
				end = body.List[i+1].Pos()
			}
			mine = append(mine, span{off(c.Pos()), off(end), ""})
		}
		clauses += len(mine)
		if len(mine) > 0 && len(mine) == len(body.List) {
			switches++
			spans = append(spans, span{off(n.Pos()), off(n.End()), ""})
			return false
		}
		spans = append(spans, mine...)
		return true
	})
	if failed != nil {
		return nil, failed
	}
	if clauses != e.clauses || switches != e.switches {
		return nil, fmt.Errorf("%s: found %d cases and %d whole switches to delete, expected %d and %d: the edits are for another source",
			name, clauses, switches, e.clauses, e.switches)
	}

	b := apply(src, spans)
	if b, err = dropImports(name, b, deny); err != nil {
		return nil, err
	}
	return format.Source(b)
}

// apply replaces the byte ranges, which don't overlap.
func apply(src []byte, spans []span) []byte {
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, s := range spans {
		out = append(out, src[at:s.from]...)
		out = append(out, s.text...)
		at = s.to
	}
	return append(out, src[at:]...)
}

// dropImports removes denied imports, which nothing may name any more, and
// imports that have become unused.
func dropImports(name string, src []byte, deny []string) ([]byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("after the edits: %w", err)
	}
	used := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok {
				used[id.Name] = true
			}
		}
		return true
	})
	var spans []span
	for _, s := range f.Imports {
		p, _ := strconv.Unquote(s.Path.Value)
		n := importName(s)
		if denied(p, deny) && used[n] {
			return nil, fmt.Errorf("%s still uses %s: the edits are for another source", name, p)
		}
		if !used[n] && n != "_" && n != "." {
			spans = append(spans, span{fset.Position(s.Pos()).Offset, fset.Position(s.End()).Offset, ""})
		}
	}
	return apply(src, spans), nil
}

// importName is the name a file uses an import by. The last path element, before a
// major version, is the package name for all imports of the edited files, except for
// go-geom.
func importName(s *ast.ImportSpec) string {
	if s.Name != nil {
		return s.Name.Name
	}
	p, _ := strconv.Unquote(s.Path.Value)
	if major := path.Base(p); strings.Trim(major, "v0123456789") == "" {
		p = path.Dir(p)
	}
	return strings.TrimPrefix(path.Base(p), "go-")
}

func names(n ast.Node, bad map[string]bool) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok && bad[id.Name] {
				found = true
			}
		}
		return !found
	})
	return found
}

func docOf(d ast.Decl) *ast.CommentGroup {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Doc
	case *ast.GenDecl:
		return d.Doc
	}
	return nil
}

func funcName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	if s, ok := t.(*ast.StarExpr); ok {
		t = s.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}
