package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"hudiscope/core/api"
)

// runExport writes the rows of a query to a file (writeFile), or to standard output.
func runExport(ctx context.Context, e *environment, args []string) error {
	t, err := e.table(args, 1)
	if err != nil {
		return err
	}
	limit := e.flags.limit
	if limit > int64(maxInt) {
		return usageError(fmt.Sprintf("--limit %d: too many", limit))
	}
	req := api.ExportRequest{Format: e.flags.format, RowsRequest: api.RowsRequest{Table: t, Options: e.flags.options, Partitions: e.flags.partitions, FileID: e.flags.fileID, Condition: e.flags.condition.condition(), Order: e.flags.order.keys, Limit: int(limit)}}
	if req.Flink, req.Batch, req.Seen = e.flags.flink, e.flags.batch, e.flags.seen; !req.Flink && (e.flags.batch || e.flags.seen != "") {
		return usageError("--batch and --seen are for --flink")
	}
	switch req.Format {
	case "jsonl", "csv", "parquet":
	case "":
		return usageError("which --format? jsonl, csv or parquet")
	default:
		return usageError(fmt.Sprintf("--format %q: want jsonl, csv or parquet", req.Format))
	}
	out := e.flags.out
	if out == "" || out == "-" {
		if _, ok := e.stdout.(*terminal); ok && req.Format == "parquet" {
			return usageError("Parquet is not for a terminal: give --out FILE")
		}
		return e.exportTo(ctx, req, e.stdout, "standard output")
	}
	return writeFile(out, func(w io.Writer) error { return e.exportTo(ctx, req, w, out) })
}

const maxInt = int(^uint(0) >> 1)

func (e *environment) exportTo(ctx context.Context, req api.ExportRequest, w io.Writer, name string) error {
	done, err := e.svc.ExportTo(ctx, req, func(string, string) io.Writer { return w })
	if err != nil {
		var f *api.Fault
		if errors.As(err, &f) || w != e.stdout {
			return err
		}
		return fmt.Errorf("what was written is not whole: %w", err)
	}
	for _, f := range done.Findings {
		fmt.Fprintf(e.stderr, "hudiscope: %s: %s: %s\n", f.Level, f.Title, f.Detail)
	}
	fmt.Fprintf(e.stderr, "%s: %d rows\n", name, done.Rows)
	return nil
}
