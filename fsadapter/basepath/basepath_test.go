package basepath

import (
	"maps"
	"slices"
	"testing"

	"hudiscope/core/storage"
)

func TestFind(t *testing.T) {
	for _, c := range []struct{ paths, want []string }{
		{[]string{".hoodie/hoodie.properties", "p/x.parquet"}, []string{""}},
		{[]string{"t/.hoodie/hoodie.properties", "t/.hoodie/metadata/.hoodie/hoodie.properties"}, []string{"t"}},
		{[]string{"a/b/c/.hoodie/1.commit", "a/x"}, []string{"a/b/c"}},
		{[]string{"a/.hoodie/x", "b/.hoodie/hoodie.properties"}, []string{"b"}},
		{[]string{"b/.hoodie/hoodie.properties", "a/.hoodie/hoodie.properties"}, []string{"a", "b"}},
		{[]string{"t/.hoodie/"}, []string{"t"}},
		{[]string{"t/.hoodie", "t/x.hoodie/y", ".hoodie_partition_metadata"}, []string{}},
		{nil, []string{}},
	} {
		if got := Find(c.paths); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.paths, got, c.want)
		}
	}
}

func TestCutAndJunk(t *testing.T) {
	if p, ok := Cut("a/b/c", "a/b"); p != "c" || !ok {
		t.Error(p, ok)
	}
	if _, ok := Cut("a/bc", "a/b"); ok {
		t.Error("a/bc is not in a/b")
	}
	for p, want := range map[string]bool{"__MACOSX/t/.hoodie/._x": true, "t/.DS_Store": true, "t/.f.log.1_0": false, "x__MACOSX/y": false} {
		if Junk(p) != want {
			t.Errorf("Junk(%q) = %v", p, !want)
		}
	}
}

func TestFolders(t *testing.T) {
	dirs, clash := Folders(maps.All(map[string]storage.Entry{"a/b/c": {Size: 1}, "a/d": {Size: 2}, "e": {Size: 3}}), []string{"x/y"})
	if clash != "" {
		t.Errorf("clash %q", clash)
	}
	want := map[string][]string{"": {"a/", "e", "x/"}, "a": {"b/", "d"}, "a/b": {"c"}, "x": {"y/"}, "x/y": nil}
	if len(dirs) != len(want) {
		t.Errorf("%d folders, want %d", len(dirs), len(want))
	}
	for d, names := range want {
		var got []string
		for _, e := range dirs[d] {
			n := e.Name
			if e.Dir {
				n += "/"
			}
			got = append(got, n)
		}
		if !slices.Equal(got, names) {
			t.Errorf("%q: %q, want %q", d, got, names)
		}
	}
	if _, clash := Folders(maps.All(map[string]storage.Entry{"a": {}, "a/b": {}}), nil); clash != "a" {
		t.Errorf("clash %q, want a", clash)
	}
}
