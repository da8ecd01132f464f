package explorer

import (
	"encoding/json"
	"errors"
	"testing"

	"hudiscope/core/api"
)

// TestBlockPages puts the pages of every table's blocks together again, and finds the page of every block.
func TestBlockPages(t *testing.T) {
	s := testService(t)
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	pages := 0
	for _, name := range []string{"mor_trips_h120", "mor_rollback_multi_h0150", "mor_corrupt_middle_h0150", "mor_corrupt_truncated_h0150", "cdc_op_key_only_mor_h120", "log_compaction_h120", "cow_trips_h102"} {
		tab := api.Table{Location: name}
		all, err := s.Blocks(t.Context(), api.BlocksRequest{Table: tab, All: true})
		if err != nil {
			t.Fatal(name, err)
		}
		if all.TotalFiles != len(all.Files) || all.Offset != 0 {
			t.Fatalf("%s: %d of %d files from %d on", name, len(all.Files), all.TotalFiles, all.Offset)
		}
		for _, limit := range []int{1, 3, 7, all.Total + 1} {
			joined := api.Blocks{Files: []api.LogFile{}}
			for at := 0; at == 0 || at < all.Total; at += limit {
				a, err := s.Blocks(t.Context(), api.BlocksRequest{Table: tab, All: true, Offset: at, Limit: limit})
				if err != nil {
					t.Fatal(name, err)
				}
				n := 0
				for _, f := range a.Files {
					n += len(f.Blocks)
					if last := len(joined.Files) - 1; last >= 0 && joined.Files[last].File.Path == f.File.Path {
						joined.Files[last].Blocks = append(joined.Files[last].Blocks, f.Blocks...)
						continue
					}
					joined.Files = append(joined.Files, f)
				}
				if n != min(limit, all.Total-at) || a.Total != all.Total || a.Offset != at || a.TotalFiles != all.TotalFiles || a.Counters != all.Counters || a.MaxInstant != all.MaxInstant || a.Rules != all.Rules {
					t.Fatalf("%s: page at %d of %d: %d blocks of %d; %+v", name, at, limit, n, a.Total, a.Counters)
				}
				pages++
			}
			if got, want := text(joined.Files), text(all.Files); got != want {
				t.Fatalf("%s: pages of %d are\n%s\nnot\n%s", name, limit, got, want)
			}
		}
		place := 0
		for _, f := range all.Files {
			if f.Total != len(f.Blocks) {
				t.Errorf("%s: %d blocks of %d", f.File.Path, len(f.Blocks), f.Total)
			}
			for _, b := range f.Blocks {
				for _, find := range []api.BlockPlace{{File: f.File.Path, Index: b.Index}, {File: f.File.Path, Byte: b.Start + 1}, {File: f.File.Path, Byte: b.End}} {
					a, err := s.Blocks(t.Context(), api.BlocksRequest{Table: tab, All: true, Limit: 2, Find: &find})
					if err != nil || a.Offset != place-place%2 {
						t.Fatalf("%s: %+v is on the page at %d: %v", name, find, place-place%2, err)
					}
				}
				place++
			}
		}
		if place != all.Total {
			t.Errorf("%s: %d blocks, %d told", name, place, all.Total)
		}
		a, err := s.Blocks(t.Context(), api.BlocksRequest{Table: tab, All: true, Limit: 2, Offset: 4, Find: &api.BlockPlace{File: "none", Index: 1}})
		if err != nil || a.Offset != 0 {
			t.Errorf("%s: a block that is not there: %v", name, err)
		}
	}
	if pages < 100 {
		t.Errorf("only %d pages", pages)
	}
	for _, bad := range []api.BlocksRequest{{Offset: -1}, {Limit: -1}, {Limit: 100_001}} {
		bad.Table, bad.All = api.Table{Location: "mor_trips_h120"}, true
		_, err := s.Blocks(t.Context(), bad)
		var f *api.Fault
		if !errors.As(err, &f) || f.Kind != "invalid request" {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestEachBlockStops ends a visit with the visitor's error.
func TestEachBlockStops(t *testing.T) {
	s := testService(t)
	stop, n := errors.New("stop"), 0
	_, err := s.EachBlock(t.Context(), api.BlocksRequest{Table: api.Table{Location: "mor_trips_h120"}, All: true}, BlockVisitor{Block: func(*api.LogFile, *api.Block) error {
		if n++; n == 3 {
			return stop
		}
		return nil
	}})
	if !errors.Is(err, stop) || n != 3 {
		t.Errorf("%d blocks, %v", n, err)
	}
}

// TestScanKeepsWhatStepsName has the blocks of a cut scan up to the last one that a step names.
func TestScanKeepsWhatStepsName(t *testing.T) {
	s := testService(t)
	cut := 0
	for _, name := range []string{"mor_rollback_multi_h0150", "mor_corrupt_middle_h0150", "mor_trips_h102", "log_block_hfile_h0150"} {
		tab := api.Table{Location: name}
		all, err := s.Blocks(t.Context(), api.BlocksRequest{Table: tab, All: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all.Files {
			req := api.ScanRequest{Table: tab, File: f.File.Path}
			whole, err := s.Scan(t.Context(), req)
			if err != nil || whole.Truncated || len(whole.Blocks.Files[0].Blocks) != f.Total {
				t.Fatalf("%s: %v", f.File.Path, err)
			}
			for n := 1; n < len(whole.Steps); n++ {
				req.Limit = n
				a, err := s.Scan(t.Context(), req)
				if err != nil || !a.Truncated || len(a.Steps) != n {
					t.Fatalf("%s, %d steps: %v", f.File.Path, n, err)
				}
				got := a.Blocks.Files[0]
				last := -1
				for _, st := range a.Steps {
					last = max(last, st.Block.Block)
					for _, r := range st.Removed {
						last = max(last, r.Block)
					}
				}
				if len(got.Blocks) != last+1 || got.Total != f.Total {
					t.Errorf("%s, %d steps: %d blocks, the last named is %d of %d", f.File.Path, n, len(got.Blocks), last, got.Total)
				}
				if len(got.Blocks) < f.Total {
					cut++
				}
			}
		}
	}
	if cut == 0 {
		t.Error("no list of blocks was cut")
	}
}
