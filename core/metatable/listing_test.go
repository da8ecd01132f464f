package metatable_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"hudiscope/core/filegroup"
	"hudiscope/core/metatable"
	"hudiscope/core/tabletest"
)

// TestListing holds the metadata tables' listings against the storage, and the file slices built from
// either against each other.
func TestListing(t *testing.T) {
	ctx := context.Background()
	compared, files := 0, 0
	for _, name := range tabletest.Names(t, "") {
		src := tabletest.Open(t, name)
		m := open(t, src)
		if m == nil {
			continue
		}
		if ok, _ := m.Trusted(); !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			view, err := filegroup.Load(ctx, src, m.Data, m.DataTimeline, nil, filegroup.Options{})
			if err != nil {
				t.Fatal(err)
			}
			l, err := m.Listing(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range metatable.Compare(view, l) {
				t.Errorf("%s: %s: %s %s", f.Level, f.Title, f.File, f.Detail)
			}
			compared++
			for _, list := range l.Files {
				files += len(list)
			}
			built, err := filegroup.Build(ctx, m.Data, m.DataTimeline, l, filegroup.Options{})
			if err != nil {
				t.Fatal(err)
			}
			a, _ := json.Marshal(view.JSON())
			b, _ := json.Marshal(built.JSON())
			if string(a) != string(b) {
				t.Errorf("slices differ:\nstorage  %s\nmetadata %s", a, b)
			}
		})
	}
	t.Logf("%d metadata tables with %d files", compared, files)
	if compared < 6 || files < 40 {
		t.Errorf("only %d metadata tables with %d files", compared, files)
	}
}

// TestCompareFinds changes a table behind its metadata table's back.
func TestCompareFinds(t *testing.T) {
	const name, part = "mdt_full_h120", "chennai"
	ctx := context.Background()
	src := tabletest.Open(t, name)
	l, err := open(t, src).Listing(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	var base, log string
	for _, e := range l.Files[part] {
		if strings.HasSuffix(e.Name, ".parquet") {
			base = e.Name
		} else {
			log = e.Name
		}
	}
	copied := strings.Replace(base, "-0_", "-7_", 1)
	for _, c := range []struct {
		what   string
		change func(*tabletest.Files)
		title  string
		file   string
	}{
		{"a file is gone", func(f *tabletest.Files) { f.Remove(part + "/" + base) }, "A file that the metadata table lists is not there", part + "/" + base},
		{"a log is shorter", func(f *tabletest.Files) { f.Put(part+"/"+log, f.Bytes(part + "/" + log)[:10]) }, "The metadata table tells another size", part + "/" + log},
		{"a file is new", func(f *tabletest.Files) { f.Put(part+"/"+copied, f.Bytes(part+"/"+base)) }, "The metadata table does not list a file", part + "/" + copied},
		{"a partition is new", func(f *tabletest.Files) {
			f.Put("delhi/.hoodie_partition_metadata", nil)
			f.Put("delhi/"+base, f.Bytes(part+"/"+base))
		}, "The metadata table does not list a partition", "delhi"},
		{"a partition is gone", func(f *tabletest.Files) {
			for _, p := range f.Paths() {
				if strings.HasPrefix(p, part+"/") {
					f.Remove(p)
				}
			}
		}, "The metadata table lists a partition that is not there", part},
	} {
		src := tabletest.Open(t, name)
		c.change(src)
		m := open(t, src)
		view, err := filegroup.Load(ctx, src, m.Data, m.DataTimeline, nil, filegroup.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := metatable.Compare(view, l)
		if len(found) != 1 || found[0].Title != c.title || found[0].File != c.file {
			t.Errorf("%s: %+v", c.what, found)
		}
	}
}
