// Command scan is the core without a face, for comparisons with other readers: it reads all rows of a
// table's snapshot into columns in memory and prints how many there are. With -what it does less:
// "slices" opens the table and prints how many file slices it has, "frames" reads the frames of all
// log blocks, "records" decodes every record in them, and both print how many bytes the log files have.
package main

import (
	"context"
	"strings"

	"hudiscope/core/groupreader"
	"hudiscope/core/predicate"
	"hudiscope/core/query"
	"hudiscope/core/storage"
	"hudiscope/core/table"
)

// rows reads the snapshot as the service does, without rendering the rows.
func rows(ctx context.Context, src storage.Source, columns, where string) (int64, error) {
	t, err := table.Open(ctx, src, "")
	if err != nil {
		return 0, err
	}
	q, err := query.Parse(nil)
	if err != nil {
		return 0, err
	}
	plan, err := query.Prepare(ctx, t, q, nil)
	if err != nil {
		return 0, err
	}
	if where != "" {
		w, err := predicate.New(where, plan.Type)
		if err != nil {
			return 0, err
		}
		plan.Restrict(w)
	}
	if columns != "" {
		if err := plan.Select(strings.Split(columns, ",")); err != nil {
			return 0, err
		}
	}
	var n int64
	for i := range plan.Parts {
		var stats groupreader.Stats
		for _, err := range plan.Parts[i].Rows(ctx, table.ReadOptions{}, &stats) {
			if err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
