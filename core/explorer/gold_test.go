package explorer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/groupreader"
	"hudiscope/core/orcfile"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
)

// testService serves the tables of testdata by name.
func testService(t testing.TB) *Service {
	return New(func(_ context.Context, location string) (storage.Source, error) {
		return tabletest.Open(t, location), nil
	}, Options{ORC: func(ctx context.Context, obj storage.Object, path string) (groupreader.BaseFile, error) {
		return orcfile.Open(ctx, obj, path)
	}})
}

type goldQuery struct {
	File    string            `json:"file"`
	Options map[string]string `json:"options"`
}

// unsupportedGold are the gold answers that can't be given yet; each must fail with a fault of
// kind "unsupported", not with other rows.
var unsupportedGold = map[string]string{}

// TestGoldRows holds every row against Hudi's own answers, read by the rules of the release that made them.
func TestGoldRows(t *testing.T) {
	s := testService(t)
	total := 0
	for _, name := range tabletest.Names(t, "about.json") {
		var about struct {
			Hudi    string          `json:"hudi_version"`
			Queries json.RawMessage `json:"queries"`
		}
		tabletest.Gold(t, name, "about.json", &about)
		var queries []goldQuery
		if json.Unmarshal(about.Queries, &queries) != nil {
			continue // a Flink table, whose queries have another shape
		}
		for _, q := range queries {
			for _, c := range []struct{ file, hudi string }{{q.File, about.Hudi}, {filepath.Join("by_1.2.0", q.File), "1.2.0"}} {
				path := filepath.Join(tabletest.Dir(), "gold", name, c.file)
				text, err := os.ReadFile(path)
				if errors.Is(err, os.ErrNotExist) {
					continue
				}
				t.Run(name+"/"+filepath.ToSlash(c.file), func(t *testing.T) {
					got, err := readAll(s, api.RowsRequest{Table: api.Table{Location: name, Hudi: c.hudi}, Options: q.Options})
					why, known := unsupportedGold[name+"/"+c.file]
					if known {
						if f := ToFault(err); f == nil || f.Kind != "unsupported" || !strings.Contains(f.Message, why) {
							t.Fatalf("want a fault about %s, got %v", why, err)
						}
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					if strings.HasPrefix(filepath.Base(c.file), "cdc_") {
						text, got = changeRows(text), textLines(changeRows([]byte(strings.Join(got, "\n"))))
					}
					compareRows(t, text, got)
					total++
				})
			}
		}
	}
	if total < 60 {
		t.Errorf("only %d gold answers compared", total)
	}
}

// readAll reads all rows in small pages, as JSON objects.
func readAll(s *Service, req api.RowsRequest) ([]string, error) {
	return pages(func(offset int64, limit int) (*api.Rows, error) {
		req.Offset, req.Limit = offset, limit
		return s.Rows(context.Background(), req)
	})
}

func pages(fetch func(offset int64, limit int) (*api.Rows, error)) ([]string, error) {
	var out []string
	for offset := int64(0); ; {
		r, err := fetch(offset, 7)
		if err != nil {
			return nil, err
		}
		for _, row := range r.Rows {
			m := map[string]json.RawMessage{}
			for i, c := range r.Columns {
				m[c.Name] = row[i]
			}
			out = append(out, canonical(m))
		}
		offset += int64(len(r.Rows))
		if r.TotalKnown && offset >= r.Total {
			return out, nil
		}
		if len(r.Rows) == 0 {
			return nil, fmt.Errorf("an empty page before the end")
		}
	}
}

func canonical(v any) string {
	b, _ := json.Marshal(v)
	var x any
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(&x); err != nil {
		return err.Error()
	}
	b, _ = json.Marshal(x)
	return string(b)
}

// changeRows opens the images of change data, which are JSON in text, and drops what is null in them.
func changeRows(b []byte) []byte {
	var out []string
	for line := range strings.Lines(string(b)) {
		var m map[string]any
		if json.Unmarshal([]byte(line), &m) != nil {
			continue
		}
		for _, k := range []string{"before", "after"} {
			if text, ok := m[k].(string); ok {
				var image any
				if json.Unmarshal([]byte(text), &image) == nil {
					m[k] = image
				}
			}
			if image, ok := m[k].(map[string]any); ok {
				for c, v := range image {
					if v == nil {
						delete(image, c)
					}
				}
			}
		}
		out = append(out, canonical(m))
	}
	return []byte(strings.Join(out, "\n"))
}

func compareRows(t *testing.T, gold []byte, got []string) {
	t.Helper()
	var want []string
	for line := range strings.Lines(string(gold)) {
		if strings.TrimSpace(line) != "" {
			want = append(want, canonical(json.RawMessage(line)))
		}
	}
	sort.Strings(want)
	sort.Strings(got)
	if len(want) != len(got) {
		t.Errorf("want %d rows, got %d", len(want), len(got))
	}
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			t.Fatalf("row %d:\nwant %s\ngot  %s", i, want[i], got[i])
		}
	}
}
