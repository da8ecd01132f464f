// Command reproducible builds the page and the edge worker twice, in two folders of different names and each
// with an empty build cache, and compares every file of them byte for byte.
//
//	go run ./tools/reproducible
//
// It copies the files that git tracks or would track, so that what is not part of the source takes no
// part in it. The exit status is 1 when a file differs.
package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// built are the folders whose files are compared.
var built = []string{"dist", "bin/edge"}

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
	dirs := []string{filepath.Join(root, "a"), filepath.Join(root, "another", "folder-of-a-longer-name")}
	// Both copies are made before anything is built, of one and the same state.
	for _, f := range list {
		for _, dir := range dirs {
			if err := copyFile(f, filepath.Join(dir, f)); err != nil {
				return err
			}
		}
	}
	var sums []map[string]string
	for i, dir := range dirs {
		fmt.Printf("building in %s\n", dir)
		cmd := exec.Command("make", "--no-print-directory", "dist", "edge")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOCACHE="+filepath.Join(root, fmt.Sprint("cache", i)))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("make dist edge: %w\n%s", err, out)
		}
		s, err := digests(dir, root)
		if err != nil {
			return err
		}
		sums = append(sums, s)
	}
	differ := 0
	for _, p := range slices.Sorted(maps.Keys(sums[0])) {
		if sums[0][p] != sums[1][p] {
			differ++
			fmt.Printf("%s differs: %s and %s\n", p, sums[0][p], cmp.Or(sums[1][p], "not there"))
		} else if strings.HasSuffix(p, ".wasm") {
			fmt.Printf("%s  %s\n", sums[0][p], p)
		}
		delete(sums[1], p)
	}
	for p := range sums[1] {
		differ++
		fmt.Printf("%s was built the second time alone\n", p)
	}
	if differ > 0 {
		return fmt.Errorf("%d of %d files differ", differ, len(sums[0]))
	}
	fmt.Printf("all %d files are the same\n", len(sums[0]))
	return nil
}

// digests gives the SHA-256 of every built file by its path in dir. None may hold the path of root.
func digests(dir, root string) (map[string]string, error) {
	sums := map[string]string{}
	for _, folder := range built {
		err := filepath.WalkDir(filepath.Join(dir, folder), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			if bytes.Contains(b, []byte(root)) {
				return fmt.Errorf("%s holds the path it was built in", p)
			}
			rel, err := filepath.Rel(dir, p)
			sums[filepath.ToSlash(rel)] = fmt.Sprintf("%x", sha256.Sum256(b))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(sums) == 0 {
		return nil, errors.New("nothing was built")
	}
	return sums, nil
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
