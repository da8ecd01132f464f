// Command bigtable writes a table of many rows as a .zip, for tests that need one: go run ./tools/bigtable OUT.zip ROWS
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"

	"hudiscope/core/tabletest/bigtable"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bigtable:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: bigtable OUT.zip ROWS")
	}
	rows, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil || rows < 1 || rows > 1<<31 {
		return fmt.Errorf("%q: want a number of rows", args[1])
	}
	f, err := os.Create(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := bigtable.WriteZip(w, rows); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
