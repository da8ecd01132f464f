package explorer

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/core/tabletest"
)

// TestAheadAnswers asks every table by a service that asks its storage ahead, and lists by the metadata
// table where there is one: the answers are those of a service that does neither.
func TestAheadAnswers(t *testing.T) {
	plain := New(func(_ context.Context, name string) (storage.Source, error) { return tabletest.Open(t, name), nil }, Options{})
	o := Options{Ahead: true, Next: true, MetadataFrom: 1}
	early := New(func(_ context.Context, name string) (storage.Source, error) {
		return cache.New(tabletest.Open(t, name), cache.Options{}), nil
	}, o)
	by := 0
	for _, name := range tabletest.Names(t, "") {
		args := []byte(`{"table":"` + name + `", "limit":10000}`)
		answer := func(s *Service, op api.Op) string {
			v, err := s.Do(t.Context(), op, args, nil)
			if err != nil {
				v = ToFault(err)
			}
			if f, ok := v.(*api.Files); ok && f.From == "metadata table" {
				by++
				// What only the storage knows is not asked for here.
				if f.Findings[0].Title != "Listed by the metadata table" {
					t.Errorf("%s: %v", name, f.Findings[0])
				}
				f.From, f.Findings = "listing", f.Findings[1:]
			}
			if f, ok := v.(*api.Files); ok {
				for i := range f.Partitions {
					f.Partitions[i].Bytes, f.Partitions[i].Other = 0, nil // markers and strangers are not in the metadata table
				}
				if len(f.Findings) == 0 {
					f.Findings = nil
				}
			}
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		for _, op := range []api.Op{api.OpTimeline, api.OpFiles, api.OpSlices, api.OpRows, api.OpSchema} {
			if got, want := answer(early, op), answer(plain, op); got != want {
				t.Errorf("%s %s:\n%.2000s\nwant\n%.2000s", name, op, got, want)
			}
		}
	}
	if by < 2 {
		t.Errorf("%d tables were listed by their metadata table", by)
	}
}

// TestStorageListing takes files away behind the metadata table's back: an answer from the metadata table
// says where it is from, one from the storage can be asked for, and the health check finds the difference.
func TestStorageListing(t *testing.T) {
	src := tabletest.Open(t, "mdt_full_h120")
	gone := ""
	for _, p := range src.Paths() {
		if strings.HasPrefix(p, "chennai/") && strings.HasSuffix(p, ".parquet") {
			gone = p
		}
	}
	src.Remove(gone)
	s := New(func(context.Context, string) (storage.Source, error) { return cache.New(src, cache.Options{}), nil }, Options{MetadataFrom: 1})
	has := func(args, from string) bool {
		a := ask[api.Files](t, s, api.OpFiles, args)
		if a.From != from {
			t.Errorf("%s: from %q", args, a.From)
		}
		b, _ := json.Marshal(a)
		return strings.Contains(string(b), gone)
	}
	if !has(`{"table":"x"}`, "metadata table") {
		t.Error("the metadata table does not list the file")
	}
	if has(`{"table":"x","storage":true}`, "listing") {
		t.Error("the storage lists the file")
	}
	if a := ask[api.Partitions](t, s, api.OpPartitions, `{"table":"x"}`); a.From != "metadata table" || len(a.Paths) != 3 {
		t.Errorf("%+v", a)
	}
	h := ask[api.Health](t, s, api.OpHealth, `{"table":"x"}`)
	if !slices.ContainsFunc(h.Findings, func(f api.HealthFinding) bool { return strings.Contains(f.Title, "that the metadata table lists") }) {
		t.Errorf("%+v", h.Findings)
	}
	_, err := s.Rows(t.Context(), api.RowsRequest{Table: api.Table{Location: "x"}})
	var f *storage.Fault
	if !errors.As(err, &f) || f.Kind != storage.NotFound || f.Path != gone {
		t.Errorf("rows of a file that is gone: %v", err)
	}
}

// TestAheadFails opens places without a table, and one whose requests all fail: the errors are those of the
// requests that were needed.
func TestAheadFails(t *testing.T) {
	for name, src := range map[string]storage.Source{"empty": tabletest.New("nowhere"), "failing": failing{tabletest.New("nowhere")}} {
		ask := func(o Options) string {
			s := New(func(context.Context, string) (storage.Source, error) { return cache.New(src, cache.Options{}), nil }, o)
			_, err := s.Timeline(t.Context(), api.TimelineRequest{Table: api.Table{Location: "x"}})
			b, _ := json.Marshal(ToFault(err))
			return string(b)
		}
		if got, want := ask(Options{Ahead: true, Next: true}), ask(Options{}); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

type failing struct{ storage.Source }

func (f failing) List(_ context.Context, dir string) (storage.Listing, error) {
	return storage.Listing{}, &storage.Fault{Op: "list", Path: dir, Kind: storage.Forbidden, Status: 403}
}

func (f failing) Open(_ context.Context, path string) (storage.Object, error) {
	return nil, &storage.Fault{Op: "open", Path: path, Kind: storage.Forbidden, Status: 403}
}
