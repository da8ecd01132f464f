// Command dist puts together the page: the folder that any static web server can
// serve. It is run by make after the .wasm files are built.
//
//	go run ./tools/dist [-out dist] [-wasm .cache/wasm] [-embed web/httpapi/site/dist]
//
// The page's own files come from index.html and web/static, wasm_exec.js from the Go
// toolchain that built the programs, the sample tables named in testdata/samples.json
// from testdata/tables, the lessons from testdata/lessons.json, texts from web/text. sw.js gets the list
// of all files with their hashes before it. FILE.gz and FILE.br stand beside every text and .wasm file. With -embed
// the same is written once more for go:embed, where the compressed files replace the
// file itself.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
)

func main() {
	out := flag.String("out", "dist", "folder of the page")
	wasm := flag.String("wasm", filepath.Join(".cache", "wasm"), "folder of the built .wasm files")
	embed := flag.String("embed", "", "folder for the copy that goes into the command")
	quality := flag.Int("brotli", 9, "`quality` of brotli, to 11: a tenth smaller again, and minutes instead of seconds")
	flag.Parse()
	if err := run(*out, *wasm, *embed, filepath.Join(".cache", "brotli"), *quality); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// programs are the .wasm files of the page.
var programs = []string{"app.wasm", "engine.wasm", "engine-orc.wasm"}

// run puts the page into out and embed. What brotli made of a file is kept in the folder cache, by content.
func run(out, wasm, embed, cache string, quality int) error {
	if quality < 0 || quality > brotli.BestCompression {
		return fmt.Errorf("-brotli %d: it is 0 to %d", quality, brotli.BestCompression)
	}
	files := map[string][]byte{}
	add := func(name, from string) error {
		b, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if len(b) == 0 {
			return fmt.Errorf("%s is empty", from)
		}
		files[name] = b
		return nil
	}
	if err := add("index.html", "index.html"); err != nil {
		return err
	}
	static := filepath.Join("web", "static")
	err := filepath.WalkDir(static, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(static, p)
		if err != nil {
			return err
		}
		return add(filepath.ToSlash(rel), p)
	})
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	if err := add("wasm_exec.js", filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js")); err != nil {
		return err
	}
	for _, p := range programs {
		if err := add(p, filepath.Join(wasm, p)); err != nil {
			return err
		}
	}
	if err := add("samples/samples.json", filepath.Join("testdata", "samples.json")); err != nil {
		return err
	}
	// The page asks for the tables of its server; a host of static files has none.
	files["tables.json"] = []byte("[]\n")
	if err := addJSON(files, "lessons.json", filepath.Join("testdata", "lessons.json")); err != nil {
		return err
	}
	if err := addJSON(files, "lang/zh.json", filepath.Join("web", "text", "zh.json")); err != nil {
		return err
	}
	names, err := samples(files["samples/samples.json"])
	if err != nil {
		return fmt.Errorf("testdata/samples.json: %w", err)
	}
	for _, n := range names {
		if err := add("samples/"+n+".zip", filepath.Join("testdata", "tables", n+".zip")); err != nil {
			return err
		}
	}

	if files["sw.js"], err = serviceWorker(files); err != nil {
		return err
	}
	page, inside, kept := map[string][]byte{}, map[string][]byte{}, map[string][]byte{}
	for name, b := range files {
		page[name] = b
		if !compresses(name, b) {
			inside[name] = b
			continue
		}
		gz, err := zip(filepath.Join(out, filepath.FromSlash(name)+".gz"), b)
		if err != nil {
			return err
		}
		key := fmt.Sprintf("%x-%d", sha256.Sum256(b), quality)
		br, err := squeeze(filepath.Join(cache, key), b, quality)
		if err != nil {
			return err
		}
		kept[key] = br
		page[name+".gz"], inside[name+".gz"] = gz, gz
		page[name+".br"], inside[name+".br"] = br, br
	}
	if err := sync(kept, cache); err != nil {
		return err
	}
	if err := sync(page, out); err != nil {
		return err
	}
	if embed != "" {
		return sync(inside, embed)
	}
	return nil
}

// addJSON adds a JSON file without the white space that it has for its readers.
func addJSON(files map[string][]byte, name, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Compact(&out, b); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	files[name] = out.Bytes()
	return nil
}

// serviceWorker is sw.js with the list of this release: every file of the page with its SHA-256, and a
// version that changes when one of them does. tables.json is not among them: a server answers it anew.
func serviceWorker(files map[string][]byte) ([]byte, error) {
	source, ok := files["sw.js"]
	if !ok {
		return nil, errors.New("web/static/sw.js is missing")
	}
	var release struct {
		Version string            `json:"version"`
		Files   map[string]string `json:"files"`
	}
	release.Files = map[string]string{}
	for name, b := range files {
		if name != "sw.js" && name != "tables.json" {
			release.Files[name] = fmt.Sprintf("%x", sha256.Sum256(b))
		}
	}
	list, err := json.Marshal(release.Files) // sorted by name
	if err != nil {
		return nil, err
	}
	release.Version = fmt.Sprintf("%x", sha256.Sum256(append(list, source...)))[:16]
	head, err := json.Marshal(release)
	if err != nil {
		return nil, err
	}
	return append([]byte("const release = "+string(head)+";\n"), source...), nil
}

// samples are the names of the sample tables, which must be plain.
func samples(b []byte) ([]string, error) {
	var list []struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("it names no samples")
	}
	var names []string
	for _, s := range list {
		if !fs.ValidPath(s.Name) || s.Name == "." || strings.Contains(s.Name, "/") {
			return nil, fmt.Errorf("the name %q is not one path element", s.Name)
		}
		names = append(names, s.Name)
	}
	return names, nil
}

// compresses tells whether a file is of a kind that gets smaller.
func compresses(name string, b []byte) bool {
	return len(b) >= 1024 && slices.Contains([]string{".wasm", ".js", ".css", ".html", ".json", ".svg", ".webmanifest"}, path.Ext(name))
}

// zip returns b with gzip -9. What an earlier run wrote to old is taken when it still holds b.
func zip(old string, b []byte) ([]byte, error) {
	if gz, err := os.ReadFile(old); err == nil {
		if r, err := gzip.NewReader(bytes.NewReader(gz)); err == nil {
			if have, err := io.ReadAll(r); err == nil && bytes.Equal(have, b) {
				return gz, nil
			}
		}
	}
	var buf bytes.Buffer
	w, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// squeeze returns b with brotli, with the largest window that browsers take. What an earlier run kept in old is taken when
// it still holds b.
func squeeze(old string, b []byte, quality int) ([]byte, error) {
	if br, err := os.ReadFile(old); err == nil {
		if have, err := io.ReadAll(brotli.NewReader(bytes.NewReader(br))); err == nil && bytes.Equal(have, b) {
			return br, nil
		}
	}
	var buf bytes.Buffer
	w := brotli.NewWriterOptions(&buf, brotli.WriterOptions{Quality: quality, LGWin: 24})
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// sync makes dir hold exactly want and leaves files alone that are right.
func sync(want map[string][]byte, dir string) error {
	for rel, b := range want {
		name := filepath.Join(dir, filepath.FromSlash(rel))
		if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, b) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, b, 0o644); err != nil {
			return err
		}
	}
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		if _, ok := want[filepath.ToSlash(rel)]; ok {
			return nil
		}
		return os.Remove(p)
	})
}
