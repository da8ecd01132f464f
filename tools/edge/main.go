// Command edge writes the JavaScript of the edge worker: what the pinned
// github.com/syumai/workers generates, with one change.
//
// The generated wasm_exec.js hands Go a proxy of the global object, which then is
// "this" when Go calls fetch, and the runtime refuses that ("Illegal invocation"). The
// first statement of worker.mjs makes fetch a plain function. It also keeps fetch from
// following redirects: package guard does that, where it may go.
//
//	go run ./tools/edge -out bin/edge
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const generator = "github.com/syumai/workers/cmd/workers-assets-gen"

// first is how the generated worker.mjs begins; patch goes behind it.
const (
	first = "import \"./wasm_exec.js\";\nimport { createRuntimeContext, loadModule } from \"./runtime.mjs\";\n"
	patch = `
// fetch must not be called with the proxy of globalThis that Go is given.
const plainFetch = globalThis.fetch;
// Redirects are followed by the program, which checks where they lead.
globalThis.fetch = (input, init) => plainFetch(input, { ...init, redirect: "manual" });
`
)

func main() {
	out := flag.String("out", filepath.Join("bin", "edge"), "folder to write to")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "edge:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	tmp, err := os.MkdirTemp("", "edge")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	cmd := exec.Command("go", "run", generator, "-mode=go", "-runtime=cloudflare", "-o", tmp)
	if b, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", generator, err, b)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"worker.mjs", "runtime.mjs", "wasm_exec.js"} {
		b, err := os.ReadFile(filepath.Join(tmp, name))
		if err != nil {
			return err
		}
		if name == "worker.mjs" {
			if !bytes.HasPrefix(b, []byte(first)) || bytes.Contains(b, []byte("globalThis.fetch")) {
				return fmt.Errorf("the generated worker.mjs is not the one that this program changes: look at %s again", generator)
			}
			b = append([]byte(first+patch), b[len(first):]...)
		}
		dst := filepath.Join(out, name)
		if old, err := os.ReadFile(dst); err == nil && bytes.Equal(old, b) {
			continue
		}
		if err := os.WriteFile(dst, b, 0o644); err != nil {
			return err
		}
	}
	return nil
}
