// Command reproducible builds the WebAssembly programs twice, in two folders of different names and each
// with an empty build cache, and compares them byte for byte.
//
//	go run ./tools/reproducible
//
// It copies the files that git tracks or would track, so that what is not part of the source takes no
// part in it. The exit status is 1 when a program differs.
package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// programs are what the two builds are compared by.
var programs = []string{".cache/wasm/app.wasm", ".cache/wasm/engine.wasm", ".cache/wasm/engine-orc.wasm", "bin/edge/app.wasm"}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "reproducible:", err)
		os.Exit(1)
	}
}

func run() error {
	root, err := os.MkdirTemp("", "reproducible-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	list, err := sources()
	if err != nil {
		return err
	}
	sums := map[string][]string{}
	for i, name := range []string{"a", filepath.Join("another", "folder-of-a-longer-name")} {
		dir := filepath.Join(root, name)
		for _, f := range list {
			if err := copyFile(f, filepath.Join(dir, f)); err != nil {
				return err
			}
		}
		fmt.Printf("building in %s\n", dir)
		cmd := exec.Command("make", "--no-print-directory", "wasm", "edge")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOCACHE="+filepath.Join(root, fmt.Sprint("cache", i)))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("make wasm edge: %w\n%s", err, out)
		}
		for _, p := range programs {
			b, err := os.ReadFile(filepath.Join(dir, p))
			if err != nil {
				return err
			}
			sums[p] = append(sums[p], fmt.Sprintf("%x", sha256.Sum256(b)))
			if bytes.Contains(b, []byte(root)) {
				return fmt.Errorf("%s holds the path it was built in", p)
			}
		}
	}
	differ := 0
	for _, p := range programs {
		s := sums[p]
		if s[0] != s[1] {
			differ++
			fmt.Printf("%s differs: %s and %s\n", p, s[0], s[1])
			continue
		}
		fmt.Printf("%s  %s\n", s[0], p)
	}
	if differ > 0 {
		return fmt.Errorf("%d of %d programs differ", differ, len(programs))
	}
	return nil
}

// sources lists the files of the repository, without what is built.
func sources() ([]string, error) {
	out, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w (run it from the root of the repository)", err)
	}
	var list []string
	for _, f := range strings.Split(string(out), "\x00") {
		if info, err := os.Lstat(f); err == nil && info.Mode().IsRegular() {
			list = append(list, f)
		}
	}
	return list, nil
}

func copyFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}
