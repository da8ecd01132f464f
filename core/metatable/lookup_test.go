package metatable_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/hfile"
	"hudiscope/core/hfile/hfiletest"
	"hudiscope/core/metatable"
	"hudiscope/core/tabletest"
)

// scanAll returns all records of a partition.
func scanAll(t *testing.T, m *metatable.Table, partition string) []*metatable.Record {
	t.Helper()
	var out []*metatable.Record
	for r, err := range m.Scan(context.Background(), partition, nil) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// TestIndexLookups holds every look-up against a scan of the whole index.
func TestIndexLookups(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"mdt_full_h0150", "mdt_full_h102", "mdt_full_h120", "mdt_types_h120", "mor_compacted_h120"} {
		m := open(t, tabletest.Open(t, name))
		parts, err := m.DataPartitions(ctx)
		if err != nil {
			t.Fatal(err)
		}
		listing, err := m.Listing(ctx, parts)
		if err != nil {
			t.Fatal(err)
		}
		var files []metatable.DataFile
		for p, entries := range listing.Files {
			for _, e := range entries {
				files = append(files, metatable.DataFile{Partition: p, Name: e.Name})
			}
		}
		all, err := m.Partitions(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			records := scanAll(t, m, p.Name)
			switch p.Kind {
			case metatable.ColumnStatKind, metatable.ExpressionIdx, metatable.PartitionStats:
				want, wantPart := map[string]map[string]*metatable.ColumnStats{}, map[string]map[string]*metatable.ColumnStats{}
				var columns []string
				for _, r := range records {
					if !slices.Contains(columns, *r.Stats.Column) {
						columns = append(columns, *r.Stats.Column)
					}
					to := want
					if r.Type == metatable.PartitionStat {
						to = wantPart
					}
					if to[*r.Stats.Column] == nil {
						to[*r.Stats.Column] = map[string]*metatable.ColumnStats{}
					}
					to[*r.Stats.Column][*r.Stats.FileName] = r.Stats
				}
				if p.Kind != metatable.PartitionStats {
					got, err := m.FileStats(ctx, p.Name, append(columns, "no such column"), append(files, metatable.DataFile{Name: "x"}), nil)
					if err != nil {
						t.Fatal(err)
					}
					plain := map[string]map[string]*metatable.ColumnStats{}
					for c, of := range got {
						plain[c] = map[string]*metatable.ColumnStats{}
						for f, s := range of {
							plain[c][f.Name] = s
						}
					}
					if !reflect.DeepEqual(plain, want) {
						t.Errorf("%s %s: %d columns by look-ups, %d by a scan, or other values", name, p.Name, len(plain), len(want))
					}
				}
				if p.Kind != metatable.ColumnStatKind {
					got, err := m.PartitionStatistics(ctx, p.Name, columns, append(parts, "no such partition"), nil)
					if err != nil {
						t.Fatal(err)
					}
					if !reflect.DeepEqual(got, wantPart) {
						t.Errorf("%s %s: %d columns of partitions by look-ups, %d by a scan, or other values", name, p.Name, len(got), len(wantPart))
					}
				}
			case metatable.RecordIndex:
				var keys []string
				want := map[string][]string{}
				for _, r := range records {
					keys = append(keys, r.Key)
					want[r.Key] = []string{r.Location.FileID()}
				}
				got, err := m.Locations(ctx, append(keys, "no such key"), nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				plain := map[string][]string{}
				for k, list := range got {
					for _, l := range list {
						plain[k] = append(plain[k], l.FileID())
					}
				}
				if len(keys) < 10 || !reflect.DeepEqual(plain, want) {
					t.Errorf("%s: %d keys, places %v, want %v", name, len(keys), plain, want)
				}
			case metatable.SecondaryIndex:
				want := map[string][]string{}
				var values []string
				for _, r := range records {
					v, k, _ := metatable.SplitSecondaryKey(r.Key)
					values = append(values, *v)
					want[*v] = append(want[*v], k)
				}
				got, err := m.RecordKeys(ctx, p.Name, append(values, "no such value"), nil)
				if err != nil {
					t.Fatal(err)
				}
				if len(values) < 10 || !reflect.DeepEqual(got, want) {
					t.Errorf("%s %s: %v, want %v", name, p.Name, got, want)
				}
			case metatable.BloomFilters:
				index := scanAll(t, m, "record_index")
				got, err := m.MayContain(ctx, p.Name, files, []string{index[0].Key, "surely not a key"}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if len(got) != len(records) {
					t.Errorf("%s: %d files have filters, want %d", name, len(got), len(records))
				}
				may := 0
				for f, yes := range got {
					if yes {
						may++
					} else if strings.HasPrefix(f.Name, index[0].Location.FileID()) {
						t.Errorf("%s: the filter of %s does not have the key %s", name, f.Name, index[0].Key)
					}
				}
				if may == 0 || may == len(got) {
					t.Errorf("%s: %d of %d filters may have the key", name, may, len(got))
				}
			}
		}
	}
}

// TestPartitionedRecordIndex makes a record index with file groups of its own for every partition: only those of
// the partitions that are asked for are read.
func TestPartitionedRecordIndex(t *testing.T) {
	ctx := context.Background()
	src := tabletest.Open(t, "mdt_full_h120")
	m := open(t, src)
	if p, err := m.PartitionedRecordIndex(ctx); p || err != nil {
		t.Fatal(p, err)
	}
	by := map[string][]string{}
	for _, r := range scanAll(t, m, "record_index") {
		by[*r.Location.Partition] = append(by[*r.Location.Partition], r.Key)
	}
	// The values and the schema of its own records.
	const dir = ".hoodie/metadata/record_index/"
	values, text := map[string][]byte{}, ""
	for _, p := range src.Paths() {
		if !strings.HasPrefix(p, dir) || strings.HasSuffix(p, ".hoodie_partition_metadata") {
			continue
		}
		b := src.Bytes(p)
		for i := 0; i+8 < len(b); i++ {
			// HFiles in the log blocks begin with a data block and end with a trailer.
			if string(b[i:i+8]) != "DATABLK*" {
				continue
			}
			for j := len(b); j > i && text == ""; j-- {
				one := tabletest.New("x")
				one.Put("f", b[i:j])
				o, _ := one.Open(ctx, "f")
				if f, err := hfile.Open(ctx, o, "f", 0); err == nil {
					text = f.SchemaText()
					for c := range f.Scan(ctx) {
						values[string(c.Key)] = c.Value
					}
				}
			}
			break
		}
		src.Remove(p)
	}
	if text == "" {
		t.Fatal("no HFile in the log files")
	}
	names := map[string]string{"chennai": "chennai", "san_francisco": "san%5Ffrancisco", "sao_paulo": "sao%5Fpaulo"}
	for partition, keys := range by {
		for shard := range 2 {
			var cells []hfiletest.Cell
			for _, k := range keys {
				if metatable.Shard(k, 2) == shard && values[k] != nil {
					cells = append(cells, hfiletest.Cell{Key: []byte(k), Value: values[k]})
				}
			}
			src.Put(fmt.Sprintf("%srecord-index-%s-%04d-0_0-1-1_00000000000000003.hfile", dir, names[partition], shard), hfiletest.Write(cells, hfiletest.Options{Info: map[string]string{"schema": text}}))
		}
	}
	defs := ".hoodie/.index_defs/index.json"
	changed := strings.Replace(string(src.Bytes(defs)), `"isPartitioned" : "false"`, `"isPartitioned" : "true"`, 1)
	if changed == string(src.Bytes(defs)) {
		t.Fatal("no record index in the definitions")
	}
	src.Put(defs, []byte(changed))
	c := &counting{Source: src, bytes: map[string]int64{}}
	m = open(t, c)
	keys := append(slices.Clone(by["san_francisco"]), by["chennai"]...)
	got, err := m.Locations(ctx, keys, []string{"san_francisco"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, k := range keys {
		if values[k] == nil {
			continue // of another log file
		}
		want := slices.Contains(by["san_francisco"], k)
		if len(got[k]) != 0 != want {
			t.Errorf("%s: %d places, want some: %v", k, len(got[k]), want)
		}
		if want {
			found++
		}
	}
	if found < 2 {
		t.Errorf("only %d keys were found", found)
	}
	for p, n := range c.bytes {
		if strings.HasPrefix(p, dir) && n > 0 && !strings.Contains(p, "san%5Ffrancisco") {
			t.Errorf("%d bytes of %s were read", n, p)
		}
	}
}
