package filegroup_test

import (
	"sort"
	"testing"

	"hudiscope/core/config"
	"hudiscope/core/filegroup"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
	"hudiscope/core/timeline"
)

func open(t testing.TB, src storage.Source, opt filegroup.Options) *filegroup.View {
	t.Helper()
	c, err := config.Load(t.Context(), src, "")
	if err != nil {
		t.Fatal(err)
	}
	tl, err := timeline.Load(t.Context(), src, c)
	if err != nil {
		t.Fatal(err)
	}
	v, err := filegroup.Load(t.Context(), src, c, tl, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestGold holds the view of every table against Hudi's own file-system view.
func TestGold(t *testing.T) {
	slices := 0
	names := tabletest.Names(t, "slices.json")
	for _, name := range names {
		v := open(t, tabletest.Open(t, name), filegroup.Options{})
		var want map[string]any
		tabletest.Gold(t, name, "slices.json", &want)
		got := tabletest.Roundtrip(t, v.JSON()).(map[string]any)
		canon(want)
		canon(got)
		if d := tabletest.Subset(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if d := tabletest.Subset(got, want); d != "" {
			t.Errorf("%s, reversed: %s", name, d)
		}
		for _, f := range v.Findings {
			t.Errorf("%s: %+v", name, f)
		}
		for _, p := range v.Partitions {
			slices += len(v.LatestFileSlices(p.Path))
			for _, o := range p.Other {
				t.Logf("%s: %s/%s: %s", name, p.Path, o.Name, o.Why)
			}
		}
	}
	t.Logf("%d tables, %d latest slices", len(names), slices)
	if slices < 90 {
		t.Errorf("only %d slices", slices)
	}
}

// canon puts lists without order of their own into one order, and leaves out the source
// files of bootstrapped tables: they are in the bootstrap index, which is not read here.
func canon(v map[string]any) {
	dropBootstrap(v)
	ops := v["pending_compaction_operations"].([]any)
	key := func(x any) string {
		o := x.(map[string]any)
		s := ""
		for _, k := range []string{"instant", "partition", "file_id"} {
			if t, ok := o[k].(string); ok {
				s += t + "|"
			}
		}
		return s
	}
	sort.Slice(ops, func(i, j int) bool { return key(ops[i]) < key(ops[j]) })
	for _, p := range v["partitions"].(map[string]any) {
		for _, k := range []string{"all_file_groups", "replaced_file_groups"} {
			l := p.(map[string]any)[k].([]any)
			sort.Slice(l, func(i, j int) bool { return key(l[i]) < key(l[j]) })
		}
	}
}

func dropBootstrap(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "bootstrap_base_file")
		for _, x := range v {
			dropBootstrap(x)
		}
	case []any:
		for _, x := range v {
			dropBootstrap(x)
		}
	}
}
