package metatable

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"hudiscope/core/corrupt"
	"hudiscope/core/hfile"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
)

// FuzzRecord: the value of a record of the metadata table, in the schemas of the releases, is a record of one kind, or an
// error about the bytes. A record that is taken has a rendering in JSON, merges with itself and with others, and holds no
// more than its bytes can tell.
func FuzzRecord(f *testing.F) {
	ctx := context.Background()
	var texts []string
	kept := map[string]int{}
	for _, name := range []string{"mdt_full_h102", "mdt_full_h0150", "mdt_full_h120", "mdt_types_h120"} {
		files := tabletest.Open(f, name)
		for _, p := range files.Paths() {
			if !strings.HasPrefix(p, ".hoodie/metadata/") || !strings.HasSuffix(p, ".hfile") {
				continue
			}
			obj, err := files.Open(ctx, p)
			if err != nil {
				f.Fatal(err)
			}
			h, err := hfile.Open(ctx, obj, p, 0)
			if err != nil {
				f.Fatal(err)
			}
			at := len(texts)
			for i, s := range texts {
				if s == h.SchemaText() {
					at = i
				}
			}
			if at == len(texts) {
				texts = append(texts, h.SchemaText())
			}
			kind, _, _ := strings.Cut(strings.TrimPrefix(p, ".hoodie/metadata/"), "/")
			for c, err := range h.Scan(ctx) {
				if err != nil {
					f.Fatal(err)
				}
				if key := name + kind; kept[key] < 3 && len(c.Value) < 2000 {
					kept[key]++
					f.Add(uint8(at), string(c.Key), c.Value, c.Value)
				}
			}
		}
	}
	if len(texts) < 2 {
		f.Fatalf("only %d schemas", len(texts))
	}
	f.Fuzz(func(t *testing.T, which uint8, key string, a, b []byte) {
		d, err := newDecoder(texts[int(which)%len(texts)], "f.hfile", 0)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var list []*Record
		for _, value := range [][]byte{a, b} {
			r, err := d.record(value, []byte(key))
			if err != nil {
				if !corrupt.Is(err) {
					t.Fatalf("%#v", err)
				}
				continue
			}
			look(t, r)
			list = append(list, r)
		}
		if len(list) == 2 {
			if m := merge(list[0], list[1]); m != nil {
				look(t, m)
			}
			if m := merge(list[1], list[1]); m != nil {
				look(t, m)
			}
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20+200*uint64(len(a)+len(b)+len(key)) {
			t.Fatalf("%d bytes were allocated for %d", n, len(a)+len(b))
		}
	})
}

// look uses everything that a record tells.
func look(t *testing.T, r *Record) {
	t.Helper()
	text := r.AppendJSON(nil)
	if !json.Valid(text) {
		t.Fatalf("not JSON: %s", text)
	}
	if r.Bloom != nil {
		if filter, err := r.Bloom.Filter(); err == nil {
			filter.MayContain([]byte("key"))
		} else if !corrupt.Is(err) {
			t.Fatalf("a filter: %#v", err)
		}
	}
	if r.Location != nil {
		r.Location.FileID()
	}
	_ = r.Type.String()
	if live := r.live(); live != nil {
		for _, e := range live.Files {
			if e.Deleted {
				t.Fatalf("%q is deleted and live", e.Name)
			}
		}
		for _, e := range entriesOf(live) {
			if e.Size < storage.SizeUnknown {
				t.Fatalf("%+v", e)
			}
		}
	}
}
