package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"hudiscope/core/api"
)

// pageRecords is how many records one request asks for.
const pageRecords = 5000

// runMetadata prints the records of the metadata table: as JSON by record type, in the shape that
// Hudi's own reader of it gives, or as a list.
func runMetadata(ctx context.Context, e *environment, args []string) error {
	t, err := e.table(args, max(len(args), 1))
	if err != nil {
		return err
	}
	req := api.MetadataRequest{Table: t, Raw: e.flags.json, Prefix: e.flags.prefix}
	if len(args) > 1 {
		req.Partition = args[1]
	}
	if len(args) > 2 {
		req.Keys = args[2:]
	}
	if e.flags.prefix != "" && req.Partition == "" {
		return usageError("--prefix needs a PARTITION")
	}
	var records []api.MetadataRecord
	var printed int64
	w := columns(e.stdout)
	for {
		req.Limit = pageRecords
		if left := e.flags.limit - printed; e.flags.limit > 0 && left < pageRecords {
			req.Limit = int(left)
		}
		a, err := e.svc.Metadata(ctx, req)
		if err != nil {
			return err
		}
		if req.Cursor == "" {
			if !a.Trusted {
				fmt.Fprintf(e.stderr, "hudiscope: %s\n", a.Why)
			}
			if !e.flags.json {
				fmt.Fprintln(w, "PARTITION\tTYPE\tKEY\tVALUE")
			}
		}
		for _, f := range a.Findings {
			fmt.Fprintf(e.stderr, "hudiscope: %s: %s: %s\n", f.Level, f.Title, f.Detail)
		}
		printed += int64(len(a.Records))
		if e.flags.json {
			records = append(records, a.Records...)
		} else {
			for _, r := range a.Records {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Partition, r.TypeName, strings.ReplaceAll(r.Key, "\x00", `\0`), metadataValue(&r))
			}
			if err := w.Flush(); err != nil {
				return err
			}
		}
		if a.Next == "" || e.flags.limit > 0 && printed >= e.flags.limit {
			break
		}
		req.Cursor = a.Next
	}
	if !e.flags.json {
		return nil
	}
	// By key; where a column index and an expression index have the same key, the expression's comes first.
	sort.SliceStable(records, func(i, j int) bool {
		if records[i].Key != records[j].Key {
			return records[i].Key < records[j].Key
		}
		return records[i].Partition > records[j].Partition
	})
	byType := map[string][]json.RawMessage{}
	for _, r := range records {
		k := fmt.Sprintf("type_%d", r.Type)
		byType[k] = append(byType[k], r.Raw)
	}
	return e.printJSON(byType)
}

// metadataValue says in one line what a record holds.
func metadataValue(r *api.MetadataRecord) string {
	switch {
	case r.Stats != nil:
		s := r.Stats
		return fmt.Sprintf("%s of %s: %s to %s, %s values, %s nulls (%s)", s.Column, s.File, s.Min, s.Max, count(s.Values), count(s.Nulls), s.ValueType)
	case r.Bloom != nil:
		b := r.Bloom
		return fmt.Sprintf("%s of %s: %d rows of %d bits, %d %s hashes, %d bytes", b.TypeCode, b.Instant, b.Rows, b.Bits, b.Hashes, b.Hash, b.Bytes)
	case r.Location != nil:
		return fmt.Sprintf("%s in %q", r.Location.FileID, r.Location.Partition)
	case r.Secondary != nil:
		if r.Secondary.Value == nil {
			return "null → " + r.Secondary.RecordKey
		}
		return *r.Secondary.Value + " → " + r.Secondary.RecordKey
	}
	names := make([]string, len(r.Files))
	for i, f := range r.Files {
		names[i] = f.Name
		if f.Size > 0 {
			names[i] += fmt.Sprintf(" (%d)", f.Size)
		}
	}
	return strings.Join(names, ", ")
}

func count(n *int64) string {
	if n == nil {
		return "?"
	}
	return fmt.Sprint(*n)
}
