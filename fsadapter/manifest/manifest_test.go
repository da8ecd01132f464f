package manifest

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"hudiscope/core/storage"
	"hudiscope/core/storage/storagetest"
)

func TestRoundTrip(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	files := storagetest.Files()
	m, err := Make(t.Context(), storagetest.Mem(files), 3, now)
	if err != nil || len(m.Files) != len(files) {
		t.Fatalf("%d files, %v", len(m.Files), err)
	}
	e := m.Files["top"]
	e.ModTime, e.ETag = time.UnixMilli(1772900000123).UTC(), `odd"tag`
	m.Files["top"] = e
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(b, "x")
	if err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("%v\n got %+v\nwant %+v", err, got, m)
	}
	if n := strings.Count(string(b), "\n"); n != len(files)+2 {
		t.Errorf("%d lines", n)
	}
}

func TestIncomplete(t *testing.T) {
	p := &incomplete{storagetest.Mem{"a/b": nil}}
	_, err := Make(t.Context(), p, 3, time.Now())
	var f *storage.Fault
	if !errors.As(err, &f) || f.Kind != storage.NoListing || f.Try == "" {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	for _, s := range []string{"", "[]", `{"v":2,"files":[]}`, `{"v":1,"files":[["a",1,0]]}`, `{"v":1,"files":[["a",1]]}`, `{"v":1,"files":[[1,1,0,""]]}`, `{"v":1,"files":[["../a",1,0,""]]}`,
		`{"v":1,"files":[["a",-2,0,""]]}`, `{"v":1,"files":[["a",1,0,""],["a",1,0,""]]}`, `{"v":1,"files":[["a",1,0,""],["a/b",1,0,""]]}`, `{"v":1,"files":[["",1,0,""]]}`} {
		_, err := Parse([]byte(s), "x")
		var f *storage.Fault
		if !errors.As(err, &f) || f.Kind != storage.Refused || f.Try == "" {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"v":1,"base":"t","files":[["a/b",1,0,"e"]]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b, "x")
		if err != nil {
			return
		}
		out, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse(out, "x"); err != nil || len(again.Files) != len(m.Files) {
			t.Errorf("%q was read, %q not: %v", b, out, err)
		}
	})
}

// incomplete lists as a server does that hides names.
type incomplete struct{ storagetest.Mem }

func (i *incomplete) List(ctx context.Context, dir string) (storage.Listing, error) {
	l, err := i.Mem.List(ctx, dir)
	l.Complete, l.Note = dir == "", "hidden"
	return l, err
}
