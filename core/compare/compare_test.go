package compare_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/compare"
	"hudiscope/core/schema"
	"hudiscope/core/table"
	"hudiscope/core/tabletest"
)

func open(t testing.TB, name string) *table.Table {
	t.Helper()
	tab, err := table.Open(t.Context(), tabletest.Open(t, name), "")
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// state reads all rows as of an instant: partition and key → values of user columns, and how
// often a key came. ok is false when the table's rows can't be read.
func state(t *testing.T, tab *table.Table, asOf, schemaOf string) (rows map[string][]string, ok bool) {
	t.Helper()
	rows = map[string][]string{}
	if asOf == "" {
		return rows, true
	}
	plan, err := tab.Plan(t.Context(), table.Query{Type: table.Snapshot, AsOf: asOf}, nil)
	if err != nil {
		return nil, false
	}
	later, err := tab.Plan(t.Context(), table.Query{Type: table.Snapshot, AsOf: schemaOf}, nil)
	if err != nil {
		return nil, false
	}
	plan.ReadAs(later)
	keys := compare.KeysOf(tab)
	for _, s := range plan.Slices {
		for row, err := range plan.Rows(t.Context(), s, table.ReadOptions{}, nil) {
			if err != nil {
				return nil, false
			}
			values := map[string]string{}
			for i, v := range row.Batch.Columns {
				if n := row.Batch.Type.Fields[i].Name; v != nil && !v.IsNull(row.Index) && !schema.IsMetaField(n) {
					values[n] = string(v.AppendJSON(nil, row.Index))
				}
			}
			text, _ := json.Marshal(values)
			k := s.Partition + "\x00"
			if keys != nil {
				k += string(keys.Append(nil, row.Batch, row.Index))
			} else {
				k += string(text)
			}
			rows[k] = append(rows[k], string(text))
		}
	}
	return rows, true
}

// TestCompareRows compares every pair of neighbouring commits, and the first with the last, of every
// table, and holds the counts and the rows against two whole reads of the table.
func TestCompareRows(t *testing.T) {
	pairs, changes := 0, int64(0)
	for _, name := range tabletest.Names(t, "") {
		if strings.HasPrefix(name, "perf") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			tab := open(t, name)
			tl, err := tab.Timeline(t.Context())
			if err != nil {
				t.Skip(err)
			}
			commits := tl.Commits().Completed().Instants
			states := map[string]map[string][]string{}
			at := func(asOf, schemaOf string) map[string][]string {
				if s, ok := states[asOf+" "+schemaOf]; ok {
					return s
				}
				s, ok := state(t, tab, asOf, schemaOf)
				if !ok {
					t.Skip("the rows of this table can't be read yet")
				}
				states[asOf+" "+schemaOf] = s
				return s
			}
			var list [][2]string
			prev := ""
			for _, c := range commits {
				list = append(list, [2]string{prev, c.Requested})
				prev = c.Requested
			}
			if len(commits) > 1 {
				first := commits[0].Requested
				list = append(list, [2]string{first, prev}, [2]string{prev, first}, [2]string{first, first})
			}
			for _, p := range list {
				later := max(p[0], p[1])
				before, after := at(p[0], later), at(p[1], later)
				r, err := compare.Run(t.Context(), tab, compare.Request{From: p[0], To: p[1], Limit: 1000, MaxKeys: 1 << 20})
				if err != nil {
					t.Fatalf("%q to %q: %v", p[0], p[1], err)
				}
				check(t, p, before, after, r.Rows)
				pairs++
				changes += r.Rows.Total
				if p[0] == p[1] && (r.Rows.Total != 0 || len(r.Files.Groups) != 0) {
					t.Errorf("an instant differs from itself: %+v", r.Rows)
				}
			}
		})
	}
	t.Logf("%d pairs of instants, %d changed rows", pairs, changes)
	if pairs < 50 || changes < 200 {
		t.Errorf("only %d pairs with %d changed rows were compared", pairs, changes)
	}
}

func check(t *testing.T, p [2]string, before, after map[string][]string, got *api.CompareRows) {
	t.Helper()
	want := map[string]string{} // kind, key → values before and after
	var ins, upd, del int64
	for k, list := range after {
		for n, v := range list {
			switch old := before[k]; {
			case n >= len(old):
				ins++
				want[fmt.Sprint("inserted", k, n)] = v
			case old[n] != v:
				upd++
				want[fmt.Sprint("updated", k, n)] = old[n] + " " + v
			}
		}
	}
	for k, list := range before {
		for n := len(after[k]); n < len(list); n++ {
			del++
			want[fmt.Sprint("deleted", k, n)] = list[n]
		}
	}
	if got.Inserted != ins || got.Updated != upd || got.Deleted != del || got.Total != ins+upd+del {
		t.Errorf("%q to %q: %d inserted, %d updated, %d deleted; want %d, %d, %d", p[0], p[1], got.Inserted, got.Updated, got.Deleted, ins, upd, del)
		return
	}
	if int64(len(got.Rows)) != min(got.Total, 1000) {
		t.Errorf("%q to %q: %d rows of %d", p[0], p[1], len(got.Rows), got.Total)
	}
	var a, b []string
	for _, v := range want {
		a = append(a, v)
	}
	for _, x := range got.Rows {
		text := func(cells []json.RawMessage) string {
			m := map[string]string{}
			for i, c := range cells {
				if !got.Columns[i].Meta && string(c) != "null" {
					m[got.Columns[i].Name] = string(c)
				}
			}
			s, _ := json.Marshal(m)
			return string(s)
		}
		switch x.Kind {
		case "inserted":
			b = append(b, text(x.After))
		case "deleted":
			b = append(b, text(x.Before))
		default:
			b = append(b, text(x.Before)+" "+text(x.After))
			if len(x.Changed) == 0 {
				t.Errorf("%s is updated and no column changed", x.Key)
			}
		}
	}
	if len(a) > 1000 {
		return
	}
	sort.Strings(a)
	sort.Strings(b)
	for i := range a {
		if a[i] != b[i] {
			t.Errorf("%q to %q: row\n%s\nwant\n%s", p[0], p[1], b[i], a[i])
			return
		}
	}
}

// TestComparePages: pages put together are the whole.
func TestComparePages(t *testing.T) {
	tab := open(t, "mor_trips_h120")
	tl, err := tab.Timeline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	commits := tl.Commits().Completed().Instants
	from, to := commits[0].Requested, commits[len(commits)-1].Requested
	whole, err := compare.Run(t.Context(), tab, compare.Request{From: from, To: to, Limit: 1000, MaxKeys: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if whole.Rows.Inserted == 0 || whole.Rows.Updated == 0 || whole.Rows.Deleted == 0 {
		t.Fatalf("want all kinds of changes: %+v", whole.Rows)
	}
	var rows []api.CompareRow
	for off := int64(0); off < whole.Rows.Total; off += 3 {
		p, err := compare.Run(t.Context(), tab, compare.Request{From: from, To: to, Offset: off, Limit: 3, MaxKeys: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if p.Rows.Total != whole.Rows.Total {
			t.Errorf("page at %d: total %d", off, p.Rows.Total)
		}
		rows = append(rows, p.Rows.Rows...)
	}
	a, _ := json.Marshal(whole.Rows.Rows)
	b, _ := json.Marshal(rows)
	if string(a) != string(b) {
		t.Errorf("pages\n%s\nwhole\n%s", b, a)
	}
}

// TestCompareBound: a partition with more keys than are held says so, and the others are compared.
func TestCompareBound(t *testing.T) {
	tab := open(t, "mor_trips_h120")
	tl, _ := tab.Timeline(t.Context())
	commits := tl.Commits().Completed().Instants
	req := compare.Request{From: commits[0].Requested, To: commits[len(commits)-1].Requested, Limit: 10, MaxKeys: 2}
	if _, err := compare.Run(t.Context(), tab, req); !compare.IsTooMany(err) {
		t.Errorf("without Fault the error is %v", err)
	}
	req.Fault = func(err error) *api.Fault { return &api.Fault{Message: err.Error(), Kind: "limit"} }
	r, err := compare.Run(t.Context(), tab, req)
	if err != nil {
		t.Fatal(err)
	}
	faults := 0
	for _, p := range r.Rows.Partitions {
		if p.Fault != nil {
			faults++
		}
	}
	if faults == 0 {
		t.Errorf("no partition says that it was not compared: %+v", r.Rows.Partitions)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := compare.Run(ctx, open(t, "mor_trips_h120"), req); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestCompareFiles: a clustering replaces file groups and changes no row.
func TestCompareFiles(t *testing.T) {
	tab := open(t, "replace_clustering_mor_h120")
	tl, _ := tab.Timeline(t.Context())
	commits := tl.Commits().Completed().Instants
	for i, c := range commits {
		if c.Action != "replacecommit" || i == 0 {
			continue
		}
		r, err := compare.Run(t.Context(), tab, compare.Request{From: commits[i-1].Requested, To: c.Requested, Limit: 10, MaxKeys: 1000})
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]int{}
		for _, g := range r.Files.Groups {
			kinds[g.Kind]++
			if g.Kind == "replaced" && g.By != c.Requested {
				t.Errorf("replaced by %q", g.By)
			}
		}
		if kinds["replaced"] == 0 || kinds["added"] == 0 || r.Files.Added == 0 || r.Files.Removed == 0 || r.Rows.Total != 0 || r.Rows.Same == 0 {
			t.Errorf("clustering %s: %v %+v %+v", c.Requested, kinds, r.Files, r.Rows)
		}
		return
	}
	t.Fatal("no clustering after a commit")
}
