//go:build !js

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"hudiscope/core/api"
	"hudiscope/core/explorer"
	"hudiscope/core/storage"
	"hudiscope/fsadapter/dir"
)

func main() {
	what := flag.String("what", "rows", "rows, slices or frames")
	columns := flag.String("columns", "", "comma list of the `columns` to read, all without it")
	where := flag.String("where", "", "a `condition` on the rows")
	flag.Parse()
	n, err := run(context.Background(), *what, flag.Arg(0), *columns, *where)
	if err != nil {
		fmt.Fprintln(os.Stderr, "scan:", err)
		os.Exit(1)
	}
	fmt.Println(n)
}

func run(ctx context.Context, what, path, columns, where string) (int64, error) {
	src, err := dir.New(path)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	s := explorer.New(func(context.Context, string) (storage.Source, error) { return src, nil }, explorer.Options{})
	t := api.Table{Location: path}
	switch what {
	case "rows":
		return rows(ctx, src, columns, where)
	case "slices":
		if _, err := s.Timeline(ctx, api.TimelineRequest{Table: t}); err != nil {
			return 0, err
		}
		f, err := s.Files(ctx, api.FilesRequest{Table: t})
		if err != nil {
			return 0, err
		}
		var n int64
		for _, p := range f.Partitions {
			for _, g := range p.Groups {
				n += int64(len(g.Slices))
			}
		}
		return n, nil
	case "frames":
		b, err := s.Blocks(ctx, api.BlocksRequest{Table: t, All: true})
		if err != nil {
			return 0, err
		}
		var n int64
		for _, f := range b.Files {
			if f.Fault != nil {
				return 0, f.Fault
			}
			n += f.File.Size
		}
		return n, nil
	}
	return 0, errors.New("-what: rows, slices or frames")
}
