package table_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/groupreader"
	"hudiscope/core/spill"
	"hudiscope/core/table"
	"hudiscope/core/tabletest"
)

// TestSpill reads every table with a memory for merging that holds next to nothing: the rows are
// the same, in all kinds of queries and by the rules of every release that differs.
func TestSpill(t *testing.T) {
	ctx := context.Background()
	spilled := 0
	for _, name := range tabletest.Names(t, "") {
		for _, hudi := range []string{"", "0.15.0", "1.0.2", "1.2.0"} {
			tab, err := table.Open(ctx, tabletest.Open(t, name), hudi)
			if err != nil {
				continue // TestOpen and the gold tests know which
			}
			for _, options := range []map[string]string{nil, {"hoodie.datasource.merge.type": "skip_merge"}, {"hoodie.merge.use.record.positions": "true"}} {
				q, err := table.ParseQuery(options)
				if err != nil {
					t.Fatal(err)
				}
				plan, err := tab.Plan(ctx, q, nil)
				if err != nil {
					continue
				}
				for _, s := range plan.Slices {
					if len(s.Logs) == 0 {
						continue
					}
					lines := func(ro table.ReadOptions) ([]string, groupreader.Stats, error) {
						var out []string
						var st groupreader.Stats
						for row, err := range plan.Rows(ctx, s, ro, &st) {
							if err != nil {
								return out, st, err
							}
							var b strings.Builder
							for _, cell := range row.Batch.RowJSON(row.Index) {
								b.Write(cell)
								b.WriteByte(' ')
							}
							out = append(out, b.String())
						}
						slices.Sort(out)
						return out, st, nil
					}
					want, st, err := lines(table.ReadOptions{})
					for _, budget := range []int64{1, 4 << 10} {
						got, small, smallErr := lines(table.ReadOptions{MergeBytes: budget, Spill: func(context.Context) (spill.Store, error) { return spill.Memory(0), nil }})
						if (err == nil) != (smallErr == nil) || err != nil && err.Error() != smallErr.Error() {
							t.Errorf("%s, %s, %v, %s: with %d bytes: %v, in memory: %v", name, hudi, options, s.FileID, budget, smallErr, err)
							continue
						}
						if err == nil && !slices.Equal(got, want) {
							t.Errorf("%s, %s, %v, %s: with %d bytes %d rows, in memory %d, or others", name, hudi, options, s.FileID, budget, len(got), len(want))
						}
						if small.LogRecords != st.LogRecords || small.Updated != st.Updated || small.Deleted != st.Deleted || small.MixedOrdering != st.MixedOrdering {
							t.Errorf("%s, %s, %v, %s: with %d bytes: %+v, in memory %+v", name, hudi, options, s.FileID, budget, small, st)
						}
						if small.SpilledBytes > 0 {
							spilled++
						}
					}
				}
			}
		}
	}
	if spilled < 100 {
		t.Errorf("only %d reads were spilled", spilled)
	}
	t.Logf("%d reads were spilled", spilled)
}
