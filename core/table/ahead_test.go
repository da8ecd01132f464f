package table_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"hudiscope/core/storage/ahead"
	"hudiscope/core/storage/cache"
	"hudiscope/core/table"
	"hudiscope/core/tabletest"
)

// TestMetadataListingAgrees lists every table that has a metadata table by it: what readers see is the
// same as over a listing of the storage.
func TestMetadataListingAgrees(t *testing.T) {
	by := 0
	for _, name := range tabletest.Names(t, "timeline.json") {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			src := cache.New(tabletest.Open(t, name), cache.Options{})
			tab, err := table.Open(ctx, src, "")
			if err != nil {
				t.Skip(err)
			}
			tab.MetadataFrom, tab.Ahead = 1, ahead.Of(src)
			v, err := tab.View(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !v.ByMetadata {
				if slices.Contains(tab.Config.MetadataPartitions(), "files") {
					t.Logf("not listed by its metadata table; newest %s", v.Latest)
				}
				return
			}
			by++
			stored, err := tab.StorageView(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			if stored.ByMetadata {
				t.Fatal("a listing of the storage by the metadata table")
			}
			got, want := v.JSON(), stored.JSON()
			if !reflect.DeepEqual(got, want) {
				a, _ := json.Marshal(got)
				b, _ := json.Marshal(want)
				t.Errorf("by the metadata table\n%s\nby the storage\n%s", a, b)
			}
			for _, q := range []table.Query{{Type: table.Snapshot}, {Type: table.ReadOptimized}} {
				p, err := tab.Plan(ctx, q, nil)
				if err != nil {
					t.Logf("plan: %v", err)
					continue
				}
				plain, err := table.Open(ctx, tabletest.Open(t, name), "")
				if err != nil {
					t.Fatal(err)
				}
				r, err := plain.Plan(ctx, q, nil)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(p.Slices, r.Slices) || !reflect.DeepEqual(p.Notes, r.Notes) {
					t.Errorf("%s\n%v %v\nwant\n%v %v", q.Type, p.Slices, p.Notes, r.Slices, r.Notes)
				}
			}
		})
	}
	if by < 5 {
		t.Errorf("%d tables were listed by their metadata table", by)
	}
	t.Logf("%d tables by their metadata table", by)
}
