package metatable_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"testing"

	"hudiscope/core/config"
	"hudiscope/core/metatable"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
	"hudiscope/core/timeline"
)

// open opens the metadata table of a table; nil when it has none.
func open(t testing.TB, src storage.Source) *metatable.Table {
	t.Helper()
	ctx := context.Background()
	cfg, err := config.Load(ctx, src, "")
	if err != nil {
		t.Fatal(err)
	}
	tl, err := timeline.Load(ctx, src, cfg)
	if err != nil {
		t.Fatal(err)
	}
	m, err := metatable.Open(ctx, src, cfg, tl, metatable.Options{})
	if err != nil {
		if _, ok := err.(*metatable.Absent); ok {
			return nil
		}
		t.Fatal(err)
	}
	return m
}

// TestGoldRecords holds every record of the metadata tables against Hudi's own answers.
func TestGoldRecords(t *testing.T) {
	names := tabletest.Names(t, "stats.json")
	if len(names) < 2 {
		t.Errorf("only %d tables with gold records", len(names))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			m := open(t, tabletest.Open(t, name))
			parts, err := m.Partitions(ctx)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string][]any{}
			// Where two indexes have the same key, the gold has the expression index first.
			slices.Reverse(parts)
			for _, p := range parts {
				var stats metatable.Stats
				for r, err := range m.Scan(ctx, p.Name, &stats) {
					if err != nil {
						t.Fatalf("%s: %v", p.Name, err)
					}
					var x any
					d := json.NewDecoder(bytes.NewReader(r.AppendJSON(nil)))
					d.UseNumber()
					if err := d.Decode(&x); err != nil {
						t.Fatal(err)
					}
					k := fmt.Sprintf("type_%d", r.Type)
					got[k] = append(got[k], x)
				}
				for _, n := range stats.Notes {
					t.Log(n)
				}
			}
			for _, list := range got {
				sort.SliceStable(list, func(i, j int) bool {
					return list[i].(map[string]any)["key"].(string) < list[j].(map[string]any)["key"].(string)
				})
			}
			var want map[string]any
			tabletest.Gold(t, name, "stats.json", &want)
			all := map[string]any{}
			for k, v := range got {
				all[k] = v
				if want[k] == nil {
					t.Errorf("%s: %d records that the gold does not have", k, len(v))
				}
			}
			if d := tabletest.Subset(want, all); d != "" {
				t.Error(d)
			}
		})
	}
}
