package table_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/groupreader"
	"hudiscope/core/orcfile"
	"hudiscope/core/storage"
	"hudiscope/core/table"
	"hudiscope/core/tabletest"
)

// openFormats opens a table of testdata with all parts linked.
func openFormats(t testing.TB, name, hudi string) (*table.Table, *tabletest.Files) {
	t.Helper()
	files := tabletest.Open(t, name)
	tab, err := table.Open(context.Background(), files, hudi)
	if err != nil {
		t.Fatal(err)
	}
	tab.Parts.ORC = func(ctx context.Context, obj storage.Object, path string) (groupreader.BaseFile, error) {
		return orcfile.Open(ctx, obj, path)
	}
	return tab, files
}

// rowsOf returns the rows of a query as JSON objects with sorted keys, sorted.
func rowsOf(tab *table.Table, options map[string]string) ([]string, error) {
	ctx := context.Background()
	q, err := table.ParseQuery(options)
	if err != nil {
		return nil, err
	}
	plan, err := tab.Plan(ctx, q, nil)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range plan.Slices {
		for row, err := range plan.Rows(ctx, s, table.ReadOptions{}, nil) {
			if err != nil {
				return nil, err
			}
			m := map[string]any{}
			for i, v := range row.Batch.Columns {
				if v != nil {
					var x any
					if err := json.Unmarshal(v.AppendJSON(nil, row.Index), &x); err != nil {
						return nil, err
					}
					m[row.Batch.Type.Fields[i].Name] = x
				}
			}
			b, _ := json.Marshal(m)
			out = append(out, string(b))
		}
	}
	slices.Sort(out)
	return out, nil
}

// goldRows returns Hudi's own rows in the same form.
func goldRows(t testing.TB, name, file string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(tabletest.Dir(), "gold", name, file))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		var x any
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		b, _ := json.Marshal(x)
		out = append(out, string(b))
	}
	slices.Sort(out)
	return out
}

// TestFormatsGold holds the rows of tables with bootstrap sources, schema histories, ORC files and
// LZ4 pages against Hudi's own answers.
func TestFormatsGold(t *testing.T) {
	n := 0
	for _, name := range tabletest.Names(t, "about.json") {
		if !strings.HasPrefix(name, "bootstrap_") && !strings.HasPrefix(name, "schema_") && !strings.HasPrefix(name, "orc_") && !strings.HasPrefix(name, "codec_") && !strings.HasPrefix(name, "part_dropped") {
			continue
		}
		var about struct {
			Hudi    string `json:"hudi_version"`
			Queries []struct {
				File    string            `json:"file"`
				Options map[string]string `json:"options"`
			} `json:"queries"`
		}
		tabletest.Gold(t, name, "about.json", &about)
		for _, q := range about.Queries {
			if q.Options["hoodie.datasource.query.type"] == "incremental" {
				continue
			}
			t.Run(name+"/"+q.File, func(t *testing.T) {
				n++
				tab, _ := openFormats(t, name, about.Hudi)
				got, err := rowsOf(tab, q.Options)
				if err != nil {
					t.Fatal(err)
				}
				want := goldRows(t, name, q.File)
				for i := range min(len(got), len(want)) {
					if got[i] != want[i] {
						t.Fatalf("row %d:\nwant %s\ngot  %s", i, want[i], got[i])
					}
				}
				if len(got) != len(want) {
					t.Errorf("want %d rows, got %d", len(want), len(got))
				}
			})
		}
	}
	if n < 10 {
		t.Errorf("only %d answers", n)
	}
}

// TestSourceMissing: a bootstrap source that can't be reached is told with its path and what to do.
func TestSourceMissing(t *testing.T) {
	const name = "bootstrap_metadata_only_mor_h120"
	tab, files := openFormats(t, name, "")
	source := files.Beside(name + "_source")
	files.RemoveBeside(name + "_source")
	_, err := rowsOf(tab, nil)
	var m *table.SourceMissing
	if !errors.As(err, &m) || !strings.Contains(m.URI, name+"_source/city=chennai/part-") || !strings.Contains(m.Try(), table.BootstrapBaseOption) {
		t.Fatalf("got %v", err)
	}
	// Given by the option: the folder itself, or what holds it.
	holds := tabletest.New("elsewhere")
	for _, p := range source.Paths() {
		holds.Put(name+"_source/"+p, source.Bytes(p))
	}
	tab.Parts.Resolve = func(_ context.Context, location string) (storage.Source, error) {
		return map[string]storage.Source{"folder": source, "holder": holds}[location], nil
	}
	want := goldRows(t, name, "snapshot.jsonl")
	for _, location := range []string{"folder", "holder"} {
		got, err := rowsOf(tab, map[string]string{table.BootstrapBaseOption: location})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, %v", location, len(got), err)
		}
	}
	// A source file with other rows than at the bootstrap: rows can't be told apart.
	for _, p := range source.Paths() {
		if strings.HasPrefix(p, "city=chennai/") {
			lz4 := tabletest.Open(t, "codec_lz4_h120") // 30 rows
			source.Put(p, lz4.Bytes("5af4292d-c91a-417d-9b63-8cb4c2409d14-0_0-233-324_20261129225006493.parquet"))
		}
	}
	if _, err := rowsOf(tab, map[string]string{table.BootstrapBaseOption: "folder"}); err == nil || !strings.Contains(err.Error(), "rows of a bootstrapped file") {
		t.Errorf("a source file with another row count: %v", err)
	}
}

// TestBootstrapIndexMissing: without the index the file slices are still told, the rows are refused.
func TestBootstrapIndexMissing(t *testing.T) {
	tab, files := openFormats(t, "bootstrap_metadata_only_mor_h120", "")
	for _, p := range files.Paths() {
		if strings.HasSuffix(p, ".hfile") {
			files.Remove(p)
		}
	}
	v, err := tab.View(context.Background(), nil)
	if err != nil || len(v.Partitions) != 3 {
		t.Fatalf("view: %v", err)
	}
	if _, err := rowsOf(tab, nil); err == nil || !strings.Contains(err.Error(), "no bootstrap index") {
		t.Errorf("got %v", err)
	}
}

// TestNeedsPart: without the part for ORC the rows of such files are refused by the part's name.
func TestNeedsPart(t *testing.T) {
	tab, _ := openFormats(t, "orc_base_h120", "")
	tab.Parts.ORC = nil
	_, err := rowsOf(tab, nil)
	var np *groupreader.NeedsPart
	if !errors.As(err, &np) || np.Part != "orc" {
		t.Errorf("got %v", err)
	}
}

// TestHistoryIgnored: by name, values of renamed columns are lost and those of a dropped column come
// back under a later column of its name; by number neither happens.
func TestHistoryIgnored(t *testing.T) {
	tab, _ := openFormats(t, "schema_on_read_mor_h120", "")
	byNumber, err := rowsOf(tab, nil)
	if err != nil {
		t.Fatal(err)
	}
	byName, err := rowsOf(tab, map[string]string{table.SchemaOnReadOption: "false"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(byNumber, func(r string) bool {
		return strings.Contains(r, `"title":"n1"`) && strings.Contains(r, `"amount":null`)
	}) {
		t.Errorf("by number: %s", byNumber)
	}
	if !slices.ContainsFunc(byName, func(r string) bool {
		return strings.Contains(r, `"id":1,`) && strings.Contains(r, `"title":null`) && strings.Contains(r, `"amount":"1.5"`)
	}) {
		t.Errorf("by name: %s", byName)
	}
}
