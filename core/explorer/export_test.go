package explorer

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/basefile"
	"hudiscope/core/tabletest"
)

// exported is an export as one stream.
func exported(t *testing.T, s *Service, req api.ExportRequest) ([]byte, *api.ExportChunk) {
	t.Helper()
	var b bytes.Buffer
	begun := 0
	done, err := s.ExportTo(context.Background(), req, func(name, media string) io.Writer {
		begun++
		if !strings.HasSuffix(name, "."+req.Format) || media == "" {
			t.Errorf("%s, %s", name, media)
		}
		return &b
	})
	if err != nil || begun != 1 || !done.Done {
		t.Fatalf("%s as %s: begun %d times, %v", req.Location, req.Format, begun, err)
	}
	return b.Bytes(), done
}

// inParts is an export asked for part by part.
func inParts(t *testing.T, s *Service, req api.ExportRequest) ([]byte, int) {
	t.Helper()
	var b []byte
	for req.ID = "x"; ; req.Part++ {
		c, err := s.Export(context.Background(), req)
		if err != nil {
			t.Fatalf("%s as %s, part %d: %v", req.Location, req.Format, req.Part, err)
		}
		if len(c.Data) > exportPart || len(c.Data) < exportPart && !c.Done {
			t.Errorf("part %d has %d bytes", req.Part, len(c.Data))
		}
		b = append(b, c.Data...)
		if c.Done {
			return b, req.Part + 1
		}
	}
}

// TestExportsOfTables exports every test table in every format, and compares what is in the files with
// the rows.
func TestExportsOfTables(t *testing.T) {
	s := testService(t)
	tables := 0
	for _, name := range tabletest.Some(tabletest.Names(t, "")) {
		var rows *api.Rows
		var all [][]json.RawMessage
		var err error
		for {
			rows, err = s.Rows(context.Background(), api.RowsRequest{Table: api.Table{Location: name}, Offset: int64(len(all)), Limit: maxRows})
			if err != nil {
				break
			}
			all = append(all, rows.Rows...)
			if rows.TotalKnown && int64(len(all)) >= rows.Total || len(rows.Rows) == 0 {
				break
			}
		}
		req := api.ExportRequest{Format: "jsonl", RowsRequest: api.RowsRequest{Table: api.Table{Location: name}}}
		if err != nil {
			if _, xerr := s.ExportTo(context.Background(), req, func(string, string) io.Writer { return io.Discard }); xerr == nil {
				t.Errorf("%s: rows fail (%v), the export does not", name, err)
			}
			continue
		}
		tables++
		var want bytes.Buffer
		for _, r := range all {
			want.WriteByte('{')
			for i, v := range r {
				if i > 0 {
					want.WriteByte(',')
				}
				n, _ := json.Marshal(rows.Columns[i].Name)
				fmt.Fprintf(&want, "%s:%s", n, v)
			}
			want.WriteString("}\n")
		}
		got, done := exported(t, s, req)
		if !bytes.Equal(got, want.Bytes()) || done.Rows != int64(len(all)) {
			t.Errorf("%s: JSON Lines differ from the rows", name)
		}
		req.Format = "csv"
		got, _ = exported(t, s, req)
		records, err := csv.NewReader(bytes.NewReader(got)).ReadAll()
		if err != nil || len(records) != len(all)+1 || len(records[0]) != len(rows.Columns) {
			t.Fatalf("%s: %d records, %v", name, len(records), err)
		}
		for i, r := range all {
			for k, v := range r {
				cell := string(v)
				if cell == "null" {
					cell = ""
				} else if cell[0] == '"' {
					if err := json.Unmarshal(v, &cell); err != nil {
						t.Fatal(err)
					}
				}
				if records[i+1][k] != strings.ReplaceAll(cell, "\r\n", "\n") {
					t.Errorf("%s, row %d: %q, want %q", name, i, records[i+1][k], cell)
				}
			}
		}
		req.Format = "parquet"
		got, _ = exported(t, s, req)
		f := tabletest.New("export")
		f.Put("x.parquet", got)
		o, err := f.Open(context.Background(), "x.parquet")
		if err != nil {
			t.Fatal(err)
		}
		file, err := basefile.Open(context.Background(), o, "x.parquet")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		n := 0
		for b, err := range file.Batches(context.Background(), nil) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i := range b.Len {
				for k, v := range b.Columns {
					if g := string(v.AppendJSON(nil, i)); g != string(all[n][k]) {
						t.Errorf("%s, row %d, %s: %s, want %s", name, n, rows.Columns[k].Name, g, all[n][k])
					}
				}
				n++
			}
		}
		if n != len(all) || file.NumRows() != int64(n) {
			t.Errorf("%s: %d rows of %d", name, n, len(all))
		}
		parts, _ := inParts(t, s, req)
		if !bytes.Equal(parts, got) {
			t.Errorf("%s: parts differ from the stream", name)
		}
	}
	if tables < 40/tabletest.Every {
		t.Errorf("only %d tables were exported", tables)
	}
}

func TestExportOfQueries(t *testing.T) {
	s := testService(t)
	req := api.ExportRequest{Format: "jsonl", RowsRequest: api.RowsRequest{Table: api.Table{Location: "mor_trips_h120"}}}
	whole, done := exported(t, s, req)
	lines := strings.SplitAfter(string(whole), "\n")
	req.Offset, req.Limit = 3, 5
	some, d := exported(t, s, req)
	if string(some) != strings.Join(lines[3:8], "") || d.Rows != 5 {
		t.Errorf("%d rows from 3 on:\n%s", d.Rows, some)
	}
	req.Offset, req.Limit = done.Rows, 5
	if none, d := exported(t, s, req); len(none) != 0 || d.Rows != 0 {
		t.Errorf("behind the end: %s", none)
	}
	req = api.ExportRequest{Format: "jsonl", RowsRequest: api.RowsRequest{Table: api.Table{Location: "mor_trips_h120"}, Options: map[string]string{"hoodie.datasource.query.type": "read_optimized"}}}
	if ro, _ := exported(t, s, req); bytes.Equal(ro, whole) {
		t.Error("read-optimized rows are those of the snapshot")
	}
	req.Columns = []string{"rider", "uuid"}
	if b, _ := exported(t, s, req); !strings.HasPrefix(string(b), `{"rider":"`) || strings.Count(strings.SplitN(string(b), "\n", 2)[0], ":") != 2 {
		t.Errorf("columns: %s", b)
	}
	for want, bad := range map[string]api.ExportRequest{
		"exported as": {Format: "xlsx", RowsRequest: api.RowsRequest{Table: api.Table{Location: "mor_trips_h120"}}},
		"column":      {Format: "csv", RowsRequest: api.RowsRequest{Table: api.Table{Location: "mor_trips_h120"}, Condition: api.Condition{Columns: []string{"nope"}}}},
		"negative":    {Format: "csv", RowsRequest: api.RowsRequest{Table: api.Table{Location: "mor_trips_h120"}, Offset: -1}},
	} {
		_, err := s.ExportTo(context.Background(), bad, func(string, string) io.Writer { t.Error("begun"); return io.Discard })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestExportOfFlink: what is exported of a read of Flink's is what Stream pages through, kinds of rows included.
func TestExportOfFlink(t *testing.T) {
	s := testService(t)
	n := 0
	for _, name := range []string{"mor_trips_h120", "flink_mor_changelog_1.2.0", "flink_mor_archived_0.14.1"} {
		for _, batch := range []bool{false, true} {
			options := map[string]string{"changelog.enabled": "true"}
			if !batch {
				options["read.start-commit"] = "earliest"
			}
			req := api.ExportRequest{Format: "jsonl", Flink: true, Batch: batch, RowsRequest: api.RowsRequest{Table: api.Table{Location: name}, Options: options}}
			file, done := exported(t, s, req)
			var want []string
			var columns []string
			for offset := int64(0); ; {
				page, err := s.Stream(t.Context(), api.StreamRequest{Table: req.Table, Options: options, Batch: batch, Offset: offset, Limit: 7})
				if err != nil {
					t.Fatal(name, err)
				}
				columns = nil
				for _, c := range page.Columns {
					columns = append(columns, c.Name)
				}
				for _, r := range page.Rows {
					want = append(want, string(r[0])+string(r[len(r)-1]))
				}
				if offset += int64(len(page.Rows)); len(page.Rows) == 0 {
					break
				}
			}
			var got []string
			for line := range strings.Lines(string(file)) {
				var row map[string]json.RawMessage
				if err := json.Unmarshal([]byte(line), &row); err != nil {
					t.Fatal(err)
				}
				got = append(got, string(row[columns[0]])+string(row[columns[len(columns)-1]]))
			}
			if n += len(got); !slices.Equal(got, want) || done.Rows != int64(len(want)) || columns[0] != "kind" {
				t.Errorf("%s, batch %v: %d rows exported, %d rows streamed, or others; columns %q", name, batch, len(got), len(want), columns)
			}
			req.Where = "true"
			if _, err := s.ExportTo(t.Context(), req, func(string, string) io.Writer { return io.Discard }); err == nil || !strings.Contains(err.Error(), "without a condition") {
				t.Errorf("a condition: %v", err)
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d rows", n)
	}
}

// TestExportParts holds the state of exports in parts: their order, their bound and their end.
func TestExportParts(t *testing.T) {
	s := testService(t)
	ctx := context.Background()
	req := func(id string, part int) api.ExportRequest {
		return api.ExportRequest{Format: "parquet", ID: id, Part: part, RowsRequest: api.RowsRequest{Table: api.Table{Location: "mor_trips_h120"}}}
	}
	for _, bad := range []api.ExportRequest{req("", 0), req(strings.Repeat("x", 999), 0), req("new", 1)} {
		if _, err := s.Export(ctx, bad); err == nil {
			t.Errorf("%q part %d was taken", bad.ID, bad.Part)
		}
	}
	// The whole export fits into a part: it is over then.
	c, err := s.Export(ctx, req("a", 0))
	if err != nil || !c.Done || c.Rows == 0 {
		t.Fatal(c, err)
	}
	if _, err := s.Export(ctx, req("a", 1)); err == nil {
		t.Error("there is a part behind the last one")
	}
	h, err := s.ready(ctx, api.Table{Location: "mor_trips_h120"})
	if err != nil {
		t.Fatal(err)
	}
	if len(h.exports) != 0 {
		t.Errorf("%d exports are kept", len(h.exports))
	}
	// Exports that were begun and not ended are bounded, and end with the table.
	var open []*exporter
	for _, id := range []string{"a", "b", "c", "c"} {
		r := req(id, 0)
		e, err := s.beginExport(ctx, h, &r)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, e)
	}
	if len(h.exports) != maxExports || h.export("a") != nil || h.export("b") == nil || h.export("c") != open[3] {
		t.Errorf("%d exports are open", len(h.exports))
	}
	if _, err := s.Export(ctx, req("b", 5)); err == nil {
		t.Error("part 5 was given in place of part 0")
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	var f *api.Fault
	if _, err := s.Export(cancelled, req("b", 0)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := s.Close(ctx, api.CloseRequest{Table: api.Table{Location: "mor_trips_h120"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Export(ctx, req("c", 1)); !errors.As(err, &f) || f.Kind != "not found" {
		t.Errorf("after closing: %v", err)
	}
	for _, e := range open {
		e.stop() // waits until it is over
		if !e.ended || e.file != nil {
			t.Error("an export goes on")
		}
	}
}
