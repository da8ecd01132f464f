package table_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/storage"

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
	if by < 2 {
		t.Errorf("%d tables were listed by their metadata table", by)
	}
	t.Logf("%d tables by their metadata table", by)
}

// unlistable is a source that lists no directory of data.
type unlistable struct{ storage.Source }

func (u unlistable) List(ctx context.Context, dir string) (storage.Listing, error) {
	if !strings.HasPrefix(dir, ".hoodie") {
		return storage.Listing{}, &storage.Fault{Op: "list", Path: dir, Kind: storage.NoListing, Err: fs.ErrPermission}
	}
	return u.Source.List(ctx, dir)
}

// TestMetadataListing tells when the metadata table stands for a listing: not when it is behind the
// table, damaged, not ready, or when a listing costs nothing.
func TestMetadataListing(t *testing.T) {
	const meta = ".hoodie/metadata/"
	change := func(f func(src *tabletest.Files, path string)) func(*tabletest.Files) {
		return func(src *tabletest.Files) {
			for _, p := range src.Paths() {
				f(src, p)
			}
		}
	}
	for _, x := range []struct {
		name   string
		change func(*tabletest.Files)
		from   int
		want   bool
	}{
		{"as it is", func(*tabletest.Files) {}, 1, true},
		{"few directories", func(*tabletest.Files) {}, 4, false},
		{"never", func(*tabletest.Files) {}, 0, false},
		{"behind", change(func(src *tabletest.Files, p string) {
			if strings.HasPrefix(p, meta+".hoodie/timeline/20261129233734950_") {
				src.Remove(p)
			}
		}), 1, false},
		{"damaged", change(func(src *tabletest.Files, p string) {
			if strings.HasPrefix(p, meta+"files/") && strings.HasSuffix(p, ".hfile") {
				b := slices.Clone(src.Bytes(p))
				b[len(b)-1] ^= 0xff
				src.Put(p, b)
			}
		}), 1, false},
		{"absent", change(func(src *tabletest.Files, p string) {
			if strings.HasPrefix(p, meta) {
				src.Remove(p)
			}
		}), 1, false},
		{"being built", func(src *tabletest.Files) {
			const p = ".hoodie/hoodie.properties"
			src.Put(p, []byte(strings.Replace(string(src.Bytes(p)), "hoodie.table.metadata.partitions=", "hoodie.table.metadata.partitions.inflight=", 1)))
		}, 1, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			files := tabletest.Open(t, "mdt_full_h120")
			x.change(files)
			view := func(src storage.Source) bool {
				tab, err := table.Open(t.Context(), src, "")
				if err != nil {
					t.Fatal(err)
				}
				tab.MetadataFrom = x.from
				v, err := tab.View(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				if len(v.Partitions) != 3 {
					t.Errorf("%d partitions", len(v.Partitions))
				}
				return v.ByMetadata
			}
			if got := view(cache.New(files, cache.Options{})); got != x.want {
				t.Errorf("by the metadata table: %v", got)
			}
			if view(files) {
				t.Error("a listing that costs nothing was not made")
			}
		})
	}
	t.Run("no listing", func(t *testing.T) {
		src := cache.New(unlistable{tabletest.Open(t, "mdt_full_h120")}, cache.Options{})
		tab, err := table.Open(t.Context(), src, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tab.StorageView(t.Context(), nil); err == nil {
			t.Error("a view over a listing that can't be made")
		}
		tab.MetadataFrom = 100
		v, err := tab.View(t.Context(), nil)
		if err != nil || !v.ByMetadata || len(v.Partitions) != 3 {
			t.Errorf("%v %v", v, err)
		}
	})
}
