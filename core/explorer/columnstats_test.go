package explorer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/column"
	"hudiscope/core/schema"
	"hudiscope/core/spill"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
	"hudiscope/core/tabletest/bigtable"
)

// plainValue compares values as JSON says them: a naive reading, to hold the engine's against.
func plainCompare(typ string, a, b json.RawMessage) int {
	switch typed[plainType(api.Column{Type: typ})] {
	case "number":
		return comparePlainNumbers(text(a), text(b))
	case "boolean":
		return cmp.Compare(string(a), string(b))
	}
	return cmp.Compare(text(a), text(b))
}

func text(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

func comparePlainNumbers(a, b string) int {
	rank := func(s string) int {
		switch s {
		case "-Infinity":
			return -1
		case "Infinity":
			return 1
		case "NaN":
			return 2
		}
		return 0
	}
	if ra, rb := rank(a), rank(b); ra != 0 || rb != 0 {
		return cmp.Compare(ra, rb)
	}
	x, _ := new(big.Rat).SetString(a)
	y, _ := new(big.Rat).SetString(b)
	return x.Cmp(y)
}

// everyRow reads the rows of a request.
func everyRow(t *testing.T, s *Service, req api.RowsRequest) *api.Rows {
	t.Helper()
	var out *api.Rows
	for {
		r, err := s.Rows(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		if out == nil {
			out = r
		} else {
			out.Rows = append(out.Rows, r.Rows...)
		}
		req.Offset += int64(len(r.Rows))
		if r.TotalKnown && req.Offset >= r.Total {
			return out
		}
	}
}

var statTables = []string{"mor_trips_h120", "all_types_mor_h120", "all_types_cow_h0150", "partial_update_h120", "mor_rollback_multi_h0150", "empty_created_h120"}

// TestColumnStats holds the statistics of every column against those computed from the rows.
func TestColumnStats(t *testing.T) {
	for _, name := range statTables {
		s := testService(t)
		rows := everyRow(t, s, api.RowsRequest{Table: api.Table{Location: name}})
		a, err := s.ColumnStats(context.Background(), api.ColumnStatsRequest{Table: api.Table{Location: name}, Top: 100})
		if err != nil {
			t.Fatal(err)
		}
		if a.Rows != int64(len(rows.Rows)) || len(a.Columns) != len(rows.Columns) || a.AsOf != rows.AsOf {
			t.Fatalf("%s: %d rows and %d columns, want %d and %d", name, a.Rows, len(a.Columns), len(rows.Rows), len(rows.Columns))
		}
		for i, f := range a.Columns {
			counts, nulls := map[string]int64{}, int64(0)
			var values []json.RawMessage
			for _, row := range rows.Rows {
				if string(row[i]) == "null" {
					nulls++
					continue
				}
				counts[string(row[i])]++
				values = append(values, row[i])
			}
			if f.Name != rows.Columns[i].Name || f.Nulls != nulls || f.Distinct != int64(len(counts)) || f.Approximate {
				t.Errorf("%s.%s: %d nulls, %d different; want %d, %d", name, f.Name, f.Nulls, f.Distinct, nulls, len(counts))
			}
			for _, v := range f.Top {
				if !v.Cut && counts[string(v.Value)] != v.Count || v.Least != 0 {
					t.Errorf("%s.%s: %s occurs %d times, not %d", name, f.Name, v.Value, counts[string(v.Value)], v.Count)
				}
			}
			if len(f.Top) != min(len(counts), 100) || !slices.IsSortedFunc(f.Top, func(a, b api.ValueCount) int { return cmp.Compare(b.Count, a.Count) }) {
				t.Errorf("%s.%s: %d of the most frequent values", name, f.Name, len(f.Top))
			}
			if typed[plainType(f.Column)] == "" || len(values) == 0 {
				continue
			}
			slices.SortFunc(values, func(a, b json.RawMessage) int { return plainCompare(f.Type, a, b) })
			if !f.Cut && (plainCompare(f.Type, f.Min, values[0]) != 0 || plainCompare(f.Type, f.Max, values[len(values)-1]) != 0) {
				t.Errorf("%s.%s: %s to %s, want %s to %s", name, f.Name, f.Min, f.Max, values[0], values[len(values)-1])
			}
			if typed[plainType(f.Column)] == "number" {
				checkMean(t, name+"."+f.Name, f, values)
			} else if f.Mean != nil {
				t.Errorf("%s.%s has a mean %s", name, f.Name, f.Mean)
			}
			var held int64
			for k, b := range f.Histogram {
				held += b.Count
				if after := strings.HasPrefix(text(b.To), "+"); !after && plainCompare(f.Type, b.From, b.To) >= 0 || k > 0 && string(b.From) != string(f.Histogram[k-1].To) {
					t.Errorf("%s.%s: interval %d from %s to %s", name, f.Name, k, b.From, b.To)
				}
				if typed[plainType(f.Column)] == "number" {
					var n int64
					for _, v := range values {
						if plainCompare(f.Type, v, b.From) >= 0 && plainCompare(f.Type, v, b.To) < 0 {
							n++
						}
					}
					if n != b.Count {
						t.Errorf("%s.%s: %d values from %s to %s, want %d", name, f.Name, b.Count, b.From, b.To, n)
					}
				}
			}
			if f.Histogram != nil {
				for _, v := range values {
					if x := text(v); x == "NaN" || strings.HasSuffix(x, "Infinity") {
						held++
					}
				}
				if held != int64(len(values)) {
					t.Errorf("%s.%s: the histogram holds %d of %d values", name, f.Name, held, len(values))
				}
			}
		}
	}
}

func checkMean(t *testing.T, where string, f api.ColumnFacts, values []json.RawMessage) {
	sum, special := new(big.Rat), false
	for _, v := range values {
		x, ok := new(big.Rat).SetString(text(v))
		if !ok {
			special = true
			break
		}
		sum.Add(sum, x)
	}
	if special {
		return // NaN and infinities: tested by themselves
	}
	want, _ := sum.Quo(sum, big.NewRat(int64(len(values)), 1)).Float64()
	x, ok := new(big.Rat).SetString(text(f.Mean))
	if !ok {
		t.Errorf("%s: mean %s", where, f.Mean)
		return
	}
	got, _ := x.Float64()
	if math.Abs(got-want) > 1e-12*math.Abs(want) && math.Abs(got-want) > 1e-4 {
		t.Errorf("%s: mean %v, want %v", where, got, want)
	}
}

// TestColumnStatsWhere: the statistics are of the rows that meet the condition, and of the columns chosen.
func TestColumnStatsWhere(t *testing.T) {
	s := testService(t)
	c := api.Condition{Where: "fare > 30", Columns: []string{"rider", "fare"}}
	tab := api.Table{Location: "mor_trips_h120"}
	rows := everyRow(t, s, api.RowsRequest{Table: tab, Condition: c})
	a, err := s.ColumnStats(context.Background(), api.ColumnStatsRequest{Table: tab, Condition: c})
	if err != nil {
		t.Fatal(err)
	}
	all, _ := s.ColumnStats(context.Background(), api.ColumnStatsRequest{Table: tab})
	if a.Rows != int64(len(rows.Rows)) || a.Rows == 0 || a.Rows >= all.Rows || len(a.Columns) != 2 || a.Columns[1].Name != "fare" {
		t.Fatalf("%+v", a)
	}
	if plainCompare("double", a.Columns[1].Min, json.RawMessage("30")) <= 0 {
		t.Errorf("the least fare is %s", a.Columns[1].Min)
	}
	if _, err := s.ColumnStats(context.Background(), api.ColumnStatsRequest{Table: tab, Condition: api.Condition{Where: "nope = 1"}}); ToFault(err).Part != "where" {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.ColumnStats(ctx, api.ColumnStatsRequest{Table: tab}); ToFault(err).Kind != "cancelled" {
		t.Errorf("cancelled: %v", err)
	}
}

// TestSketchBeyondMemory: many values are counted within their bounds, and the frequent ones are found.
func TestSketchBeyondMemory(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	for _, n := range []int{30_000, 400_000} {
		s := newColumnSketch(&schema.Type{Kind: schema.Long}, minShare)
		v := column.New(s.typ, 1)
		counts := map[int64]int64{}
		sum := new(big.Int)
		for i := range 2 * n {
			x := r.Int63n(int64(n))
			if i%10 == 0 {
				x = -int64(i / 10 % 3) // three frequent values
			}
			counts[x]++
			*v = *column.New(s.typ, 1)
			v.AppendInt(x)
			s.add(v, 0)
			sum.Add(sum, big.NewInt(x))
		}
		f := s.facts(10)
		want := float64(len(counts))
		if !f.Approximate || math.Abs(float64(f.Distinct)-want) > 0.04*want {
			t.Errorf("%d different values, want about %v", f.Distinct, want)
		}
		if len(f.Top) < 3 {
			t.Fatalf("%d frequent values: %+v", len(f.Top), f.Top)
		}
		for i, x := range f.Top {
			var k int64
			fmt.Sscan(string(x.Value), &k)
			if real := counts[k]; real > x.Count || x.Least > 0 && real < x.Least || i < 3 && k > 0 {
				t.Errorf("%d occurs %d times, not %d to %d", k, real, x.Least, x.Count)
			}
		}
		var held int64
		for _, b := range f.Histogram {
			var lo, hi, n int64
			fmt.Sscan(string(b.From), &lo)
			fmt.Sscan(string(b.To), &hi)
			for k, c := range counts {
				if k >= lo && k < hi {
					n += c
				}
			}
			if n != b.Count {
				t.Errorf("from %d to %d: %d, want %d", lo, hi, b.Count, n)
			}
			held += b.Count
		}
		if held != int64(2*n) || len(f.Histogram) > histogramBins {
			t.Errorf("%d intervals hold %d of %d", len(f.Histogram), held, 2*n)
		}
		mean, _ := new(big.Rat).SetFrac(sum, big.NewInt(int64(2*n))).Float64()
		var got float64
		if fmt.Sscan(string(f.Mean), &got); got != mean {
			t.Errorf("mean %v, want %v", got, mean)
		}
	}
}

// TestSketchExtremes: sums beyond 64 bits, values without a number, and the ends of doubles.
func TestSketchExtremes(t *testing.T) {
	s := newColumnSketch(&schema.Type{Kind: schema.Long}, maxShare)
	v := column.New(s.typ, 0)
	for range 4 {
		v.AppendInt(math.MaxInt64)
	}
	v.AppendInt(math.MinInt64)
	v.AppendNull()
	for i := range v.Len {
		s.add(v, i)
	}
	f := s.facts(10)
	want, _ := new(big.Rat).SetFrac(new(big.Int).Add(new(big.Int).Mul(big.NewInt(4), big.NewInt(math.MaxInt64)), big.NewInt(math.MinInt64)), big.NewInt(5)).Float64()
	var got float64
	if fmt.Sscan(string(f.Mean), &got); got != want || f.Nulls != 1 || f.Distinct != 2 {
		t.Errorf("%+v, want a mean of %v", f, want)
	}
	d := newColumnSketch(&schema.Type{Kind: schema.Double}, maxShare)
	v = column.New(d.typ, 0)
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, math.Float64frombits(0xfff8000000000001)} {
		v.AppendFloat(x)
	}
	for i := range v.Len {
		d.add(v, i)
	}
	f = d.facts(10)
	if f.NaN != 2 || f.Distinct != 7 || string(f.Max) != `"NaN"` || string(f.Min) != `"-Infinity"` || string(f.Mean) != `"NaN"` {
		t.Errorf("%+v", f)
	}
	var held int64
	for _, b := range f.Histogram {
		held += b.Count
	}
	if held != 5 {
		t.Errorf("the histogram holds %d: %+v", held, f.Histogram)
	}
}

// TestOrder holds the order of rows against a naive one, in memory and through a store.
func TestOrder(t *testing.T) {
	for _, name := range statTables {
		for _, bytes := range []int64{0, 1 << 10} {
			src := tabletest.Open(t, name)
			s := New(func(context.Context, string) (storage.Source, error) { return src, nil }, Options{MergeBytes: 512 << 20, Spill: func(context.Context) (spill.Store, error) { return spill.Memory(0), nil }})
			if bytes > 0 {
				s.opts.MergeBytes = bytes
			}
			plain := everyRow(t, s, api.RowsRequest{Table: api.Table{Location: name}})
			seq := map[string]int{}
			for i, row := range plain.Rows {
				seq[joined(row)] = i
			}
			for i, c := range plain.Columns {
				if typed[plainType(c)] == "" {
					continue
				}
				for k, key := range []api.SortKey{{Column: c.Name}, {Column: strings.ToUpper(c.Name), Desc: true}, {Column: c.Name, Nulls: "last"}, {Column: c.Name, Desc: true, Nulls: "first"}} {
					got := everyRow(t, s, api.RowsRequest{Table: api.Table{Location: name}, Order: []api.SortKey{key}, Limit: 37})
					want := slices.Clone(plain.Rows)
					nullsFirst := key.Nulls == "first" || key.Nulls == "" && !key.Desc
					compare := func(a, b []json.RawMessage) int {
						x, y := a[i], b[i]
						switch an, bn := string(x) == "null", string(y) == "null"; {
						case an && bn:
							return 0
						case an || bn:
							if an == nullsFirst {
								return -1
							}
							return 1
						}
						r := plainCompare(c.Type, x, y)
						if key.Desc {
							return -r
						}
						return r
					}
					slices.SortStableFunc(want, compare)
					if len(got.Rows) != len(want) || got.Slices != nil {
						t.Fatalf("%s by %v: %d rows, want %d", name, key, len(got.Rows), len(want))
					}
					for j := range want {
						// Once merging has spilled, rows come in another order: only ties may differ then.
						if bytes == 0 && joined(got.Rows[j]) != joined(want[j]) || compare(got.Rows[j], want[j]) != 0 {
							t.Fatalf("%s by %v (%d): row %d is %s, want %s", name, key, k, j, joined(got.Rows[j]), joined(want[j]))
						}
						if _, ok := seq[joined(got.Rows[j])]; !ok {
							t.Fatalf("%s: a row that is none: %s", name, joined(got.Rows[j]))
						}
					}
				}
			}
		}
	}
}

func joined(row []json.RawMessage) string {
	var b bytes.Buffer
	for _, c := range row {
		b.Write(c)
		b.WriteByte('|')
	}
	return b.String()
}

// TestOrderTwo: two columns, one of them not shown, with a condition on a third, for rows and exports.
func TestOrderTwo(t *testing.T) {
	s := testService(t)
	tab := api.Table{Location: "mor_trips_h120"}
	order := []api.SortKey{{Column: "city", Desc: true}, {Column: "fare"}}
	all := everyRow(t, s, api.RowsRequest{Table: tab, Condition: api.Condition{Where: "rider IS NOT NULL"}, Order: order})
	at := map[string]int{}
	for i, c := range all.Columns {
		at[c.Name] = i
	}
	if !sort.SliceIsSorted(all.Rows, func(i, j int) bool {
		a, b := all.Rows[i], all.Rows[j]
		if c := cmp.Compare(text(b[at["city"]]), text(a[at["city"]])); c != 0 {
			return c < 0
		}
		return plainCompare("double", a[at["fare"]], b[at["fare"]]) < 0
	}) {
		t.Error("not ordered by two columns")
	}
	some := everyRow(t, s, api.RowsRequest{Table: tab, Condition: api.Condition{Where: "rider IS NOT NULL", Columns: []string{"rider", "uuid"}}, Order: order})
	if len(some.Columns) != 2 || len(some.Rows) != len(all.Rows) {
		t.Fatalf("%d columns, %d rows", len(some.Columns), len(some.Rows))
	}
	for i := range some.Rows {
		if len(some.Rows[i]) != 2 || text(some.Rows[i][1]) != text(all.Rows[i][at["uuid"]]) {
			t.Fatalf("row %d: %s", i, joined(some.Rows[i]))
		}
	}
	var file bytes.Buffer
	_, err := s.ExportTo(context.Background(), api.ExportRequest{Format: "csv", RowsRequest: api.RowsRequest{Table: tab, Condition: api.Condition{Where: "rider IS NOT NULL", Columns: []string{"uuid"}}, Order: order, Limit: 5}},
		func(string, string) io.Writer { return &file })
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(file.String())
	if len(lines) != 6 {
		t.Fatalf("%q", lines)
	}
	for i, l := range lines[1:] {
		if l != text(some.Rows[i][1]) {
			t.Errorf("line %d is %s, want %s", i, l, some.Rows[i][1])
		}
	}
}

// TestOrderFaults: what can't be ordered is said, and so is a bound.
func TestOrderFaults(t *testing.T) {
	s := testService(t)
	for _, c := range []struct {
		table string
		key   api.SortKey
		want  string
	}{
		{"mor_trips_h120", api.SortKey{Column: "nope"}, "nope"},
		{"mor_trips_h120", api.SortKey{Column: "fare", Nulls: "middle"}, "first or last"},
		{"all_types_mor_h120", api.SortKey{Column: mapColumn(t, s, "all_types_mor_h120")}, "no order"},
	} {
		_, err := s.Rows(context.Background(), api.RowsRequest{Table: api.Table{Location: c.table}, Order: []api.SortKey{c.key}})
		if f := ToFault(err); f == nil || f.Kind != "invalid request" || f.Part != "order" || !strings.Contains(f.Message, c.want) {
			t.Errorf("%v: %+v", c.key, f)
		}
	}
	s.opts.MergeBytes, s.opts.Spill = 4<<10, nil
	_, err := s.Rows(context.Background(), api.RowsRequest{Table: api.Table{Location: "cow_trips_h102"}, Order: []api.SortKey{{Column: "fare"}}})
	if f := ToFault(err); f == nil || f.Kind != "limit" || !strings.Contains(f.Message, "2048 bytes") || f.Try == "" {
		t.Errorf("%+v", f)
	}
}

func mapColumn(t *testing.T, s *Service, name string) string {
	for _, c := range everyRow(t, s, api.RowsRequest{Table: api.Table{Location: name}, Limit: 1}).Columns {
		if strings.HasPrefix(c.Type, "map<") {
			return c.Name
		}
	}
	t.Fatalf("%s has no map", name)
	return ""
}

// TestOrderPages reads ordered rows here and there, with little kept: every page is that of the whole.
func TestOrderPages(t *testing.T) {
	const rows = 5000
	src := bigTable(t, rows)
	for _, bytes := range []int64{512 << 20, 64 << 10} {
		s := New(func(context.Context, string) (storage.Source, error) { return src, nil }, Options{MergeBytes: bytes, PageBytes: 200_000, Spill: func(context.Context) (spill.Store, error) { return spill.Memory(0), nil }})
		req := api.RowsRequest{Table: api.Table{Location: bigtable.Name}, Order: []api.SortKey{{Column: "mix", Desc: true}}, Limit: 1000}
		all := everyRow(t, s, req).Rows
		if len(all) != rows {
			t.Fatalf("%d rows", len(all))
		}
		for i, row := range all {
			if got := string(row[9]); got != strconv.Itoa(rows-1-i) {
				t.Fatalf("row %d has mix %s", i, got)
			}
		}
		r := rand.New(rand.NewSource(3))
		for range 60 {
			req.Offset, req.Limit = r.Int63n(int64(len(all))+20), 1+r.Intn(300)
			p, err := s.Rows(context.Background(), req)
			if err != nil {
				t.Fatal(err)
			}
			from := min(req.Offset, int64(len(all)))
			want := all[from:min(from+int64(req.Limit), int64(len(all)))]
			if p.Total != int64(len(all)) || !p.TotalKnown || len(p.Rows) != len(want) {
				t.Fatalf("from %d %d rows: %d of %d", req.Offset, req.Limit, len(p.Rows), p.Total)
			}
			for i := range want {
				if joined(p.Rows[i]) != joined(want[i]) {
					t.Fatalf("row %d is %s, want %s", req.Offset+int64(i), joined(p.Rows[i]), joined(want[i]))
				}
			}
		}
	}
}

// bigTable is a generated table in memory.
func bigTable(t *testing.T, rows int64) storage.Source {
	t.Helper()
	name := filepath.Join(t.TempDir(), "big.zip")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := bigtable.WriteZip(f, rows); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	src, err := tabletest.OpenZip(name, bigtable.Name)
	if err != nil {
		t.Fatal(err)
	}
	return src
}
