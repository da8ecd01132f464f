package explorer

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hudiscope/core/api"
)

// allMetadata reads the metadata table in pages of a size.
func allMetadata(t *testing.T, s *Service, req api.MetadataRequest) (records []api.MetadataRecord, first *api.Metadata) {
	t.Helper()
	for {
		a, err := s.Metadata(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = a
		} else if a.Partitions != nil {
			t.Error("a later page tells the partitions")
		}
		if len(a.Records) > req.Limit {
			t.Fatalf("a page of %d has %d records", req.Limit, len(a.Records))
		}
		records = append(records, a.Records...)
		if a.Next == "" {
			return records, first
		}
		if len(a.Records) == 0 {
			t.Fatal("an empty page before the end")
		}
		req.Cursor = a.Next
	}
}

func TestMetadataPages(t *testing.T) {
	s := testService(t)
	for _, name := range []string{"mdt_full_h120", "mdt_full_h0150"} {
		table := api.Table{Location: name}
		whole, first := allMetadata(t, s, api.MetadataRequest{Table: table, Limit: 10000, Raw: true})
		if len(first.Partitions) < 4 || !first.Trusted || len(whole) < 100 {
			t.Fatalf("%s: %d partitions, %d records", name, len(first.Partitions), len(whole))
		}
		small, _ := allMetadata(t, s, api.MetadataRequest{Table: table, Limit: 7, Raw: true})
		if a, b := fmt.Sprint(whole), fmt.Sprint(small); len(whole) != len(small) || mustJSON(t, whole) != mustJSON(t, small) {
			t.Errorf("%s: pages of 7 differ from one page: %d and %d bytes", name, len(b), len(a))
		}
		// By partition, and the keys of one.
		n := 0
		for _, p := range first.Partitions {
			part, a := allMetadata(t, s, api.MetadataRequest{Table: table, Partition: p.Name, Limit: 9})
			n += len(part)
			for _, x := range a.Partitions {
				if (x.Name == p.Name) != (len(x.Groups) > 0) {
					t.Errorf("%s: %s asked, %s has %d file groups", name, p.Name, x.Name, len(x.Groups))
				}
			}
			if len(part) == 0 {
				continue
			}
			k := part[len(part)/2]
			got, _ := allMetadata(t, s, api.MetadataRequest{Table: table, Partition: p.Name, Keys: []string{k.Key, "no such key"}, Limit: 1})
			if mustJSON(t, got) != mustJSON(t, []api.MetadataRecord{k}) {
				t.Errorf("%s/%s: key %q gives %s", name, p.Name, k.Key, mustJSON(t, got))
			}
			if k.Raw != nil {
				t.Error("raw was not asked for")
			}
			prefixed, _ := allMetadata(t, s, api.MetadataRequest{Table: table, Partition: p.Name, Prefix: k.Key[:1], Limit: 2})
			want := 0
			for _, r := range part {
				if strings.HasPrefix(r.Key, k.Key[:1]) {
					want++
				}
			}
			if len(prefixed) != want {
				t.Errorf("%s/%s: prefix %q gives %d records, want %d", name, p.Name, k.Key[:1], len(prefixed), want)
			}
		}
		if n != len(whole) {
			t.Errorf("%s: %d records by partition, %d in all", name, n, len(whole))
		}
	}
}

func mustJSON(t *testing.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestMetadataTyped(t *testing.T) {
	s := testService(t)
	table := api.Table{Location: "mdt_full_h120"}
	seen := map[string]bool{}
	all, first := allMetadata(t, s, api.MetadataRequest{Table: table, Limit: 1000})
	for _, r := range all {
		seen[r.TypeName] = true
		switch {
		case r.Fault != nil:
			t.Errorf("%s: %v", r.Key, r.Fault)
		case r.Bloom != nil && (r.Bloom.Hash != "murmur" || r.Bloom.Rows < 1 || r.Bloom.Bits < 1000):
			t.Errorf("%s: %+v", r.Key, r.Bloom)
		case r.Location != nil && (r.Location.Partition == "" || len(r.Location.FileID) != 38):
			t.Errorf("%s: %+v", r.Key, r.Location)
		case r.Secondary != nil && (r.Secondary.Value == nil || !strings.HasPrefix(*r.Secondary.Value, "rider-") || !strings.HasPrefix(r.Secondary.RecordKey, "trip-")):
			t.Errorf("%s: %+v", r.Key, r.Secondary)
		case r.Stats != nil && (r.Stats.Column == "" || r.Stats.Values == nil):
			t.Errorf("%s: %+v", r.Key, r.Stats)
		}
	}
	if len(seen) != 7 {
		t.Errorf("types seen: %v", seen)
	}
	for _, p := range first.Partitions {
		if p.Name == "secondary_index_idx_rider" && (p.Definition == nil || p.Definition.Version != "V2" || p.Definition.Fields[0] != "rider" || p.Kind != "secondary_index") {
			t.Errorf("%+v", p)
		}
	}
}

func TestMetadataFaults(t *testing.T) {
	s := testService(t)
	table := api.Table{Location: "mdt_full_h120"}
	for _, c := range []struct {
		req  api.MetadataRequest
		kind string
	}{
		{api.MetadataRequest{Table: api.Table{Location: "v0_mor_h0150"}}, "not found"},
		{api.MetadataRequest{Table: table, Partition: "nowhere"}, "not found"},
		{api.MetadataRequest{Table: table, Partition: "../.."}, "not found"},
		{api.MetadataRequest{Table: table, Keys: []string{"k"}}, "invalid request"},
		{api.MetadataRequest{Table: table, Partition: "files", Keys: []string{"k"}, Prefix: "k"}, "invalid request"},
		{api.MetadataRequest{Table: table, Cursor: "nonsense"}, "invalid request"},
		{api.MetadataRequest{Table: table, Partition: "files", Cursor: "column_stats/a/b"}, "invalid request"},
		{api.MetadataRequest{Table: table, Limit: -1}, "invalid request"},
	} {
		_, err := s.Metadata(context.Background(), c.req)
		if f := ToFault(err); f == nil || f.Kind != c.kind || f.Message == "" {
			t.Errorf("%+v: %v", c.req, f)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if f := ToFault(func() error { _, err := s.Metadata(ctx, api.MetadataRequest{Table: table}); return err }()); f == nil || f.Kind != "cancelled" {
		t.Errorf("a cancelled request: %v", f)
	}
}
