//go:build !js

// Package core_test holds the import graph of the repository.
package core_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "hudiscope"

// graph is every package with what it may import besides the standard library. "X/"
// stands for X and all packages below it. The order is from the bottom up: a package
// imports only packages above it in this list.
//
// Packages of core know no browser and no transport. Whoever needs a new edge adds it
// here, where a reader sees that the graph has changed.
var graph = []struct{ pkg, imports string }{
	// What everything stands on.
	{"core/corrupt", ""},
	{"core/storage", ""},
	{"core/release", ""},
	{"core/api", ""},
	{"core/spill", ""},
	{"core/lanes", ""},

	// Storage helpers.
	{"core/storage/flight", ""},
	{"core/storage/lru", ""},
	{"core/storage/coalesce", "core/storage"},
	{"core/storage/count", "core/storage"},
	{"core/storage/cache", "core/storage core/storage/flight core/storage/lru"},
	{"core/storage/ahead", "core/storage"},
	{"core/storage/trace", ""},
	{"core/storage/kept", "core/storage core/storage/trace"},

	// Types, values and the formats of files.
	{"core/schema", "core/corrupt"},
	{"core/column", "core/schema"},
	{"core/avro", "core/column core/corrupt core/schema github.com/linkedin/goavro/v2"},
	{"core/basefile", "core/column core/corrupt core/schema core/storage github.com/andybalholm/brotli github.com/klauspost/compress/ github.com/parquet-go/parquet-go/ github.com/pierrec/lz4/v4"},
	{"core/config", "core/corrupt core/storage"},
	{"core/bloom", "core/corrupt"},
	{"core/hfile", "core/corrupt core/storage github.com/klauspost/compress/"},
	{"core/logfile", "core/avro core/column core/corrupt core/schema core/storage"},
	{"core/commitmeta", "core/avro core/column core/corrupt core/schema github.com/linkedin/goavro/v2 github.com/klauspost/compress/"},

	{"core/predicate", "core/column core/schema"},
	{"core/evolve", "core/column core/schema"},
	{"core/bootstrap", "core/column core/commitmeta core/corrupt core/hfile core/schema core/storage"},
	{"core/orcfile", "core/column core/corrupt core/schema core/storage github.com/klauspost/compress/ github.com/scritchley/orc"},

	// What Hudi makes of the files.
	{"core/timeline", "core/avro core/commitmeta core/config core/corrupt core/logfile core/schema core/storage"},
	{"core/filegroup", "core/commitmeta core/config core/corrupt core/logfile core/storage core/timeline"},
	{"core/logscan", "core/column core/corrupt core/logfile core/release core/schema core/storage core/timeline"},
	{"core/merge", "core/column core/config core/corrupt core/release core/schema"},
	{"core/groupreader", "core/avro core/basefile core/column core/config core/corrupt core/evolve core/filegroup core/hfile core/logfile core/logscan core/merge core/predicate core/release core/schema core/spill core/storage core/timeline"},
	{"core/metatable", "core/avro core/bloom core/column core/commitmeta core/config core/corrupt core/filegroup core/hfile core/logfile core/logscan core/schema core/storage core/storage/ahead core/timeline"},
	{"core/table", "core/avro core/basefile core/bootstrap core/column core/commitmeta core/config core/corrupt core/evolve core/filegroup core/groupreader core/hfile core/logfile core/logscan core/merge core/metatable core/predicate core/release core/schema core/spill core/storage/ core/timeline"},
	{"core/query", "core/column core/commitmeta core/corrupt core/filegroup core/groupreader core/logfile core/logscan core/merge core/predicate core/release core/schema core/spill core/storage core/table core/timeline"},
	{"core/skipping", "core/api core/column core/config core/filegroup core/groupreader core/metatable core/predicate core/release core/schema core/table"},
	{"core/show", ""},
	{"core/export", "core/column core/schema github.com/parquet-go/parquet-go/"},
	{"core/handoff", "core/api core/predicate core/schema"},
	{"core/instants", "core/api core/commitmeta core/corrupt core/logfile core/timeline"},
	{"core/health", "core/api core/commitmeta core/config core/filegroup core/instants core/logfile core/storage core/timeline"},
	{"core/compare", "core/api core/column core/commitmeta core/corrupt core/filegroup core/groupreader core/schema core/storage core/table core/timeline"},
	{"core/history", "core/api core/bloom core/column core/corrupt core/filegroup core/groupreader core/logfile core/logscan core/merge core/metatable core/schema core/storage core/table"},
	{"core/anatomy", "core/api core/basefile core/bloom core/corrupt core/hfile core/storage github.com/parquet-go/parquet-go/"},
	{"core/explorer", "core/"},

	// For tests only.
	{"core/tabletest", "core/storage"},
	{"core/tabletest/bigtable", "github.com/parquet-go/parquet-go/"},
	{"core/storage/storagetest", "core/storage"},
	{"core/logfile/logfiletest", "core/"},
	{"core/hfile/hfiletest", "core/hfile github.com/klauspost/compress/"},

	// Places a table may lie in. They know only core/storage.
	{"fsadapter/internal/jswait", ""},
	{"fsadapter/internal/idb", ""},
	{"fsadapter/basepath", "core/storage/"},
	{"fsadapter/single", "core/storage/"},
	{"fsadapter/dir", "core/storage/ fsadapter/basepath"},
	{"fsadapter/zipfs", "core/corrupt core/storage/ fsadapter/basepath github.com/klauspost/compress/"},
	{"fsadapter/httprange/listing", "core/storage"},
	{"fsadapter/manifest", "core/storage fsadapter/basepath"},
	{"fsadapter/httprange", "core/storage/ fsadapter/basepath fsadapter/httprange/listing fsadapter/internal/jswait fsadapter/manifest"},
	{"fsadapter/objectlist", "core/storage/ fsadapter/httprange"},
	{"fsadapter/objectlist/storetest", ""},
	{"fsadapter/s3", "core/storage/ fsadapter/httprange fsadapter/httprange/listing fsadapter/objectlist"},
	{"fsadapter/azure", "core/storage/ fsadapter/httprange fsadapter/httprange/listing fsadapter/objectlist"},
	{"fsadapter/gcs", "core/storage/ fsadapter/httprange fsadapter/httprange/listing fsadapter/objectlist"},
	{"fsadapter/signer", "core/storage/ fsadapter/httprange fsadapter/httprange/listing fsadapter/objectlist"},
	{"fsadapter/r2", "core/storage/ fsadapter/httprange fsadapter/httprange/listing fsadapter/internal/jswait fsadapter/objectlist"},
	{"fsadapter/presigned", "core/storage/ fsadapter/basepath fsadapter/httprange fsadapter/httprange/listing"},
	{"fsadapter", "core/storage/ fsadapter/"},
	{"fsadapter/idbspill", "core/spill fsadapter/internal/idb fsadapter/internal/jswait"},
	{"fsadapter/idbkept", "fsadapter/internal/idb"},
	{"fsadapter/upload", "core/corrupt core/storage/ fsadapter fsadapter/basepath fsadapter/internal/jswait fsadapter/single github.com/klauspost/compress/"},

	// The page: the service's requests and answers, and nothing of core behind them.
	{"web/text", ""},
	{"web/model", "core/api web/text"},
	{"web/lesson", "core/api"},
	{"web/client", "core/api"},
	{"web/view", "core/api web/client web/model web/text github.com/maxence-charriere/go-app/v9/"},
	{"web/app", "core/api web/client web/lesson web/model web/text web/view github.com/maxence-charriere/go-app/v9/"},

	// The service over HTTP.
	{"web/httpapi", "core/api"},
	{"web/httpapi/server", "core/api core/storage web/httpapi"},
	{"web/httpapi/site", ""},

	// Programs.
	{"wasm/app", "core/api web/app web/client web/lesson web/model web/text web/view github.com/maxence-charriere/go-app/v9/"},
	{"wasm/worker", "core/api core/explorer core/spill core/storage/ fsadapter/"},
	{"wasm/engine", "core/explorer wasm/worker"},
	{"wasm/engineorc", "core/explorer core/groupreader core/orcfile core/storage wasm/worker"},
	{"wasm/edge/guard", "core/api fsadapter/httprange"},
	{"wasm/edge", "core/api core/explorer core/storage/ fsadapter/ wasm/edge/guard web/httpapi github.com/syumai/workers/"},
	{"cmd/hudiscope", "core/api core/config core/handoff core/release core/show core/explorer core/groupreader core/orcfile core/spill core/storage/ fsadapter/ web/httpapi/"},
	{"web/e2e/hostile", "core/logfile core/logfile/logfiletest github.com/parquet-go/parquet-go"},
	{"tools/bench/scan", "core/api core/avro core/column core/explorer core/groupreader core/logfile core/predicate core/query core/schema core/storage core/storage/cache core/table fsadapter/dir fsadapter/httprange"},
	{"tools/marks", ""},
	{"tools/bench", "tools/marks"},
	{"tools/growth", "core/hfile/hfiletest core/logfile core/logfile/logfiletest github.com/parquet-go/parquet-go tools/marks"},
	{"tools/shrink", ""},
	{"tools/trim", ""},
	{"tools/bigtable", "core/tabletest/bigtable"},
	{"tools/trim/checksum", "github.com/parquet-go/parquet-go/"},
	{"tools/dist", "github.com/andybalholm/brotli"},
	{"tools/reproducible", ""},
	{"tools/edge", ""},
	{"tools/size", "github.com/andybalholm/brotli"},
	{"tools/testall", ""},
	{"tools/servers", "fsadapter/httprange"},
	{"tools/servers/answers", "core/api core/explorer core/storage"},
	{"tools/servers/faultproxy", ""},
	{"tools/servers/faulttest", "core/storage/ fsadapter/ tools/servers/answers tools/servers/faultproxy"},
}

// testOnly says that a package may be imported by tests alone, and by tools, which are no part of what is shipped.
func testOnly(pkg string) bool {
	last := pkg[strings.LastIndex(pkg, "/")+1:]
	return strings.HasSuffix(last, "test")
}

type listed struct {
	ImportPath string
	Imports    []string
	Standard   bool
	GoFiles    []string
}

// list asks the go command for the packages of one platform; a file with a _js.go
// name is only seen with GOOS=js.
func list(t *testing.T, env ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,Standard,GoFiles", "./...")
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	d := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles) > 0 {
			all = append(all, p)
		}
	}
}

func allowed(list []string, imp string) bool {
	return slices.ContainsFunc(list, func(a string) bool {
		dir, below := strings.CutSuffix(a, "/")
		return imp == dir || below && strings.HasPrefix(imp, a)
	})
}

func TestImportGraph(t *testing.T) {
	rank := map[string]int{}
	rules := map[string][]string{}
	for i, g := range graph {
		if _, ok := rank[g.pkg]; ok {
			t.Errorf("%s is twice in the graph", g.pkg)
		}
		rank[g.pkg] = i
		rules[g.pkg] = strings.Fields(g.imports)
	}
	for _, platform := range [][]string{{"GOOS=linux", "GOARCH=amd64"}, {"GOOS=js", "GOARCH=wasm"}} {
		pkgs := list(t, platform...)
		if len(pkgs) < 10 {
			t.Errorf("%s: go list gives only %d packages", platform[0], len(pkgs))
		}
		for _, p := range pkgs {
			pkg := strings.TrimPrefix(p.ImportPath, module+"/")
			rule, ok := rules[pkg]
			if !ok {
				t.Errorf("%s: %s is not in the graph: add it with what it may import", platform[0], pkg)
				continue
			}
			for _, imp := range p.Imports {
				own, isOwn := strings.CutPrefix(imp, module+"/")
				switch {
				case imp == "syscall/js":
					if strings.HasPrefix(pkg, "core/") {
						t.Errorf("%s: %s imports syscall/js; core knows no browser", platform[0], pkg)
					}
				case isOwn && strings.HasPrefix(pkg, "core/") && !strings.HasPrefix(own, "core/"):
					t.Errorf("%s: %s imports %s; core imports only core", platform[0], pkg, own)
				case isOwn && testOnly(own) && !testOnly(pkg) && !strings.HasPrefix(pkg, "tools/") && !strings.HasPrefix(pkg, "web/e2e/"):
					t.Errorf("%s: %s imports %s, which is for tests", platform[0], pkg, own)
				case isOwn && !allowed(rule, own):
					t.Errorf("%s: %s imports %s; the graph has no such edge", platform[0], pkg, own)
				case isOwn && rank[own] >= rank[pkg]:
					t.Errorf("%s: %s imports %s, which comes after it in the graph", platform[0], pkg, own)
				case !isOwn && strings.Contains(strings.Split(imp, "/")[0], ".") && !allowed(rule, imp):
					t.Errorf("%s: %s imports %s; the graph has no such edge", platform[0], pkg, imp)
				}
			}
		}
	}
}

// TestGraphOfTheEngine holds what the engine and the page link, through all their
// imports: the page must not grow by the core, nor core by a user interface.
func TestGraphOfTheEngine(t *testing.T) {
	for pkg, never := range map[string][]string{
		"./wasm/app":    {module + "/core/explorer", "github.com/parquet-go/parquet-go", "github.com/linkedin/goavro/v2"},
		"./wasm/engine": {module + "/core/orcfile", "github.com/scritchley/orc", module + "/web/app", module + "/web/view", "github.com/maxence-charriere/go-app/v9/pkg/app", "github.com/syumai/workers"},
	} {
		if _, err := os.Stat("../" + pkg); err != nil {
			t.Errorf("%s is not there", pkg)
			continue
		}
		cmd := exec.Command("go", "list", "-deps", pkg)
		cmd.Dir = ".."
		cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("go list -deps %s: %v", pkg, err)
			continue
		}
		deps := strings.Fields(string(out))
		for _, n := range never {
			if slices.Contains(deps, n) {
				t.Errorf("%s links %s", pkg, n)
			}
		}
	}
}
