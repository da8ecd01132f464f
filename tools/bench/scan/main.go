//go:build !js

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"hudiscope/core/api"
	"hudiscope/core/avro"
	"hudiscope/core/column"
	"hudiscope/core/explorer"
	"hudiscope/core/logfile"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
	"hudiscope/fsadapter/dir"
)

func main() {
	what := flag.String("what", "rows", "rows, slices, frames or records")
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
	case "records":
		return records(ctx, s, src, t)
	}
	return 0, errors.New("-what: rows, slices, frames or records")
}

// records decodes every record of every Avro data block of the table's logs into columns, and every deleted key, and
// gives the bytes of the log files.
func records(ctx context.Context, s *explorer.Service, src storage.Source, t api.Table) (int64, error) {
	f, err := s.Files(ctx, api.FilesRequest{Table: t})
	if err != nil {
		return 0, err
	}
	decoders := map[string]*avro.Decoder{}
	batches := map[string]*column.Batch{}
	var n int64
	for _, p := range f.Partitions {
		for _, g := range p.Groups {
			for _, sl := range g.Slices {
				for _, l := range sl.Logs {
					obj, err := src.Open(ctx, l.Path)
					if err != nil {
						return 0, err
					}
					err = decodeLog(ctx, logfile.Open(obj, l.Path), decoders, batches)
					obj.Close()
					if err != nil {
						return 0, err
					}
					n += l.Size
				}
			}
		}
	}
	return n, nil
}

func decodeLog(ctx context.Context, r *logfile.Reader, decoders map[string]*avro.Decoder, batches map[string]*column.Batch) error {
	for b, err := range r.Blocks(ctx) {
		if err != nil {
			return err
		}
		content, err := r.Content(ctx, b)
		if err != nil {
			return err
		}
		switch b.Type {
		case logfile.AvroDataBlock:
			text := b.SchemaText()
			d := decoders[text]
			if d == nil {
				typ, err := schema.Parse(text)
				if err != nil {
					return err
				}
				if d, err = avro.Compile(typ, nil); err != nil {
					return err
				}
				decoders[text], batches[text] = d, d.NewBatch(4096)
			}
			batch := batches[text]
			d.Reset(batch)
			for rec, err := range logfile.DataRecords(content, b.ContentOffset) {
				if err != nil {
					return err
				}
				if err := d.Append(batch, rec.Data); err != nil {
					return err
				}
			}
		case logfile.DeleteBlock:
			if _, _, err := logfile.DecodeDeletes(content, b.ContentOffset); err != nil {
				return err
			}
		case logfile.CommandBlock:
		default:
			// Its time would be missing from what is measured.
			return fmt.Errorf("%s: a %s at byte %d: only Avro blocks are measured", r.Path(), b.Type, b.Start)
		}
	}
	return nil
}
