package upload

import (
	"errors"
	"maps"
	"testing"

	"hudiscope/core/storage"
)

func TestMake(t *testing.T) {
	for _, c := range []struct {
		paths []string
		want  Plan
	}{
		{[]string{"trips/.hoodie/hoodie.properties", "trips/p=1/.f.log.1_0-1-1", "trips/.DS_Store"}, // <input webkitdirectory>
			Plan{Single: -1, Name: "trips", Files: map[string]int{".hoodie/hoodie.properties": 0, "p=1/.f.log.1_0-1-1": 1}}},
		{[]string{"/up/per/trips/.hoodie/hoodie.properties", "/up/per/trips/.hoodie/metadata/.hoodie/hoodie.properties", "/up/note"}, // a drop
			Plan{Single: -1, Name: "up/per/trips", Outside: 1, Files: map[string]int{".hoodie/hoodie.properties": 0, ".hoodie/metadata/.hoodie/hoodie.properties": 1}}},
		{[]string{"/.hoodie/hoodie.properties", "/a"}, Plan{Single: -1, Name: "dropped files", Files: map[string]int{".hoodie/hoodie.properties": 0, "a": 1}}},
		{[]string{"trips.zip"}, Plan{Single: 0, Name: "trips.zip"}},
		{[]string{"/Thumbs.db", "/d/.f.log.1_0-1-1"}, Plan{Single: 1, Name: ".f.log.1_0-1-1"}},
		{[]string{"d/a", "d/e/b"}, Plan{Single: -1, Name: "d", Files: map[string]int{"a": 0, "e/b": 1}}},
		{[]string{"a", "d/b"}, Plan{Single: -1, Name: "dropped files", Files: map[string]int{"a": 0, "d/b": 1}}},
		{[]string{"t/.hoodie/hoodie.properties"}, Plan{Single: -1, Name: "t", Files: map[string]int{".hoodie/hoodie.properties": 0}}},
	} {
		p, err := Make(c.paths)
		if err != nil {
			t.Errorf("%q: %v", c.paths, err)
			continue
		}
		if p.Single != c.want.Single || p.Name != c.want.Name || p.Outside != c.want.Outside || !maps.Equal(p.Files, c.want.Files) {
			t.Errorf("%q:\n got %+v\nwant %+v", c.paths, *p, c.want)
		}
	}
	p, err := Make([]string{"/up/t/.hoodie/hoodie.properties", "/up/t_source/x", "/other/y"})
	if err != nil || !maps.Equal(p.Beside, map[string]int{"t_source/x": 1}) {
		t.Errorf("%+v, %v", p, err)
	}
	for _, paths := range [][]string{nil, {".DS_Store"}, {"a/.hoodie/hoodie.properties", "b/.hoodie/hoodie.properties"}, {"a", "a"}, {"/"}, {"a/../b"}} {
		_, err := Make(paths)
		var f *storage.Fault
		if !errors.As(err, &f) || f.Kind != storage.Refused {
			t.Errorf("%q: %v, want Refused", paths, err)
		}
	}
}
