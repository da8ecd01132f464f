// Command checksum reads every value of every column of Parquet files and prints
// one line per file: a SHA-256 over schema, levels and values, and how many there
// are. Arguments are Parquet files, or zip files whose .parquet members are read.
// The test of package trim runs it with the published and with the trimmed reader.
package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"strings"

	"github.com/parquet-go/parquet-go"
)

func main() {
	for _, name := range os.Args[1:] {
		if err := file(name); err != nil {
			fmt.Fprintln(os.Stderr, "checksum:", err)
			os.Exit(1)
		}
	}
}

func file(name string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(name, ".zip") {
		return sum(path.Base(name), b)
	}
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, m := range z.File {
		if !strings.HasSuffix(m.Name, ".parquet") || m.UncompressedSize64 == 0 {
			continue
		}
		r, err := m.Open()
		if err != nil {
			return err
		}
		b, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			return fmt.Errorf("%s in %s: %w", m.Name, name, err)
		}
		if err := sum(path.Base(name)+":"+m.Name, b); err != nil {
			return err
		}
	}
	return nil
}

// sum prints the line of one file. A file that can't be read gives its error as
// the line: both readers must refuse the same files.
func sum(name string, b []byte) error {
	h := sha256.New()
	n, err := values(h, b)
	if err != nil {
		fmt.Printf("%s error after %d values: %v\n", name, n, err)
		return nil
	}
	fmt.Printf("%s %d %x\n", name, n, h.Sum(nil))
	return nil
}

func values(h hash.Hash, b []byte) (int64, error) {
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(h, "%s\n%d\n", f.Schema(), f.NumRows())
	var n int64
	buf := make([]parquet.Value, 512)
	for g, rg := range f.RowGroups() {
		for c, cc := range rg.ColumnChunks() {
			pages := cc.Pages()
			for {
				p, err := pages.ReadPage()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					pages.Close()
					return n, fmt.Errorf("row group %d, column %d: %w", g, c, err)
				}
				r := p.Values()
				for {
					k, err := r.ReadValues(buf)
					for _, v := range buf[:k] {
						value(h, v)
					}
					n += int64(k)
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						return n, fmt.Errorf("row group %d, column %d: %w", g, c, err)
					}
				}
				parquet.Release(p)
			}
			if err := pages.Close(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func value(h hash.Hash, v parquet.Value) {
	var head [12]byte
	head[0] = byte(v.Kind()) // ^Null for a null
	binary.LittleEndian.PutUint16(head[2:], uint16(v.RepetitionLevel()))
	binary.LittleEndian.PutUint16(head[4:], uint16(v.DefinitionLevel()))
	binary.LittleEndian.PutUint16(head[6:], uint16(v.Column()))
	b := v.Bytes()
	binary.LittleEndian.PutUint32(head[8:], uint32(len(b)))
	h.Write(head[:])
	h.Write(b)
}
