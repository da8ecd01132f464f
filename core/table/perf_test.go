package table_test

import (
	"context"
	"hash/crc32"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"hudiscope/core/column"
	"hudiscope/core/groupreader"
	"hudiscope/core/schema"
	"hudiscope/core/table"
	"hudiscope/core/tabletest"
)

// perfTable opens a table that is too large for the repository; it is in the collection that
// HUDISCOPE_TESTDATA names.
func perfTable(t testing.TB, name string) *table.Table {
	t.Helper()
	if _, err := os.Stat(filepath.Join(tabletest.Dir(), "tables", name+".zip")); err != nil {
		t.Skipf("%s is not among the test tables", name)
	}
	tab, err := table.Open(context.Background(), tabletest.Open(t, name), "")
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// perfRows hands every row of a query to each, and returns how many there are.
func perfRows(t testing.TB, tab *table.Table, q table.Query, want func(string) bool, each func(groupreader.Row)) int {
	t.Helper()
	ctx := context.Background()
	plan, err := tab.Plan(ctx, q, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan.Want = want
	n := 0
	for _, s := range plan.Slices {
		for row, err := range plan.Rows(ctx, s, table.ReadOptions{}, nil) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			if each != nil {
				each(row)
			}
		}
	}
	return n
}

// BenchmarkRows reads and merges 400,000 base rows with 480,000 log records.
func BenchmarkRows(b *testing.B) {
	for _, name := range []string{"perf_mor", "perf_cow"} {
		b.Run(name, func(b *testing.B) {
			tab := perfTable(b, name)
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				n += perfRows(b, tab, table.Query{Type: table.Snapshot}, nil, nil)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// TestPerfChecksums holds the large tables against Hudi's own sums over every column.
func TestPerfChecksums(t *testing.T) {
	for _, c := range []struct {
		name, gold string
		query      table.QueryType
	}{
		{"perf_mor", "checksums.json", table.Snapshot},
		{"perf_mor", "checksums_read_optimized.json", table.ReadOptimized},
		{"perf_cow", "checksums.json", table.Snapshot},
	} {
		t.Run(c.name+"/"+c.gold, func(t *testing.T) {
			tab := perfTable(t, c.name)
			var gold struct {
				Rows    int
				Columns map[string]struct {
					Kind, Checksum string
					Nulls          int
				}
			}
			tabletest.Gold(t, c.name, c.gold, &gold)
			sums, nulls := map[string]*big.Rat{}, map[string]int{}
			n := perfRows(t, tab, table.Query{Type: c.query}, nil, func(r groupreader.Row) {
				for i, f := range r.Batch.Type.Fields {
					g, ok := gold.Columns[f.Name]
					if !ok {
						continue
					}
					if sums[f.Name] == nil {
						sums[f.Name] = new(big.Rat)
					}
					v := r.Batch.Columns[i]
					if v.IsNull(r.Index) {
						nulls[f.Name]++
						continue
					}
					sums[f.Name].Add(sums[f.Name], checksum(g.Kind, v, r.Index))
				}
			})
			if n != gold.Rows {
				t.Errorf("want %d rows, got %d", gold.Rows, n)
			}
			for name, g := range gold.Columns {
				want, _ := new(big.Rat).SetString(g.Checksum)
				if sums[name] == nil || sums[name].Cmp(want) != 0 || nulls[name] != g.Nulls {
					t.Errorf("%s: want sum %s and %d nulls, got %v and %d", name, g.Checksum, g.Nulls, sums[name], nulls[name])
				}
			}
		})
	}
}

// checksum is what one value adds to a column's sum; the rule is in the gold file's "how".
func checksum(kind string, v *column.Vector, i int) *big.Rat {
	switch kind {
	case "str":
		return new(big.Rat).SetInt64(int64(crc32.ChecksumIEEE(v.BytesAt(i))))
	case "bool":
		if v.Bools[i] {
			return big.NewRat(1, 1)
		}
		return new(big.Rat)
	case "double":
		return new(big.Rat).SetFloat64(v.Floats[i])
	case "ts":
		return new(big.Rat).SetInt64(column.Micros(v.Type.Logical, v.Ints[i]))
	case "dec":
		x, _ := new(big.Rat).SetString(column.DecimalText(v.BytesAt(i), v.Type.Scale))
		return x
	}
	if v.Type.Kind == schema.Int || v.Type.Kind == schema.Long {
		return new(big.Rat).SetInt64(v.Ints[i])
	}
	return new(big.Rat)
}
