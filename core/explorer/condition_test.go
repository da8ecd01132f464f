package explorer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/storage"
	"hudiscope/core/storage/storagetest"
	"hudiscope/core/tabletest"
)

// sample is a random condition: its text, and what a naive reading of a row says of it (1 true, 0 false, -1 null).
type sample struct {
	text string
	of   func(row []json.RawMessage) int
}

// sampler makes conditions on rows out of the values that the rows have.
type sampler struct {
	r       *rand.Rand
	columns []api.Column
	rows    [][]json.RawMessage
	// usable are the columns of types that the naive reading knows.
	usable []int
}

func plainType(c api.Column) string {
	t, _, _ := strings.Cut(c.Type, " ")
	t = strings.TrimSuffix(t, "?")
	if i := strings.IndexByte(t, '('); i > 0 {
		t = t[:i]
	}
	return t
}

// typed are the kinds of comparison by the column types' names.
var typed = map[string]string{"int": "number", "long": "number", "float": "number", "double": "number", "decimal": "number", "string": "text", "boolean": "boolean", "date": "date",
	"timestamp": "time"}

func newSampler(seed int64, columns []api.Column, rows [][]json.RawMessage) *sampler {
	s := &sampler{r: rand.New(rand.NewSource(seed)), columns: columns, rows: rows}
	for i, c := range columns {
		if typed[plainType(c)] != "" {
			s.usable = append(s.usable, i)
		}
	}
	return s
}

// order compares two values of a kind, given as JSON; NaN is above all and equals itself.
func order(kind string, a, b json.RawMessage) int {
	if kind == "number" {
		x, xs := rat(a)
		y, ys := rat(b)
		if xs != 0 || ys != 0 {
			return xs - ys
		}
		return x.Cmp(y)
	}
	return strings.Compare(plain(a), plain(b))
}

// rat reads a number; special is 2 for NaN, 1 and -1 for the infinities.
func rat(v json.RawMessage) (r *big.Rat, special int) {
	switch s := plain(v); s {
	case "NaN":
		return nil, 2
	case "Infinity":
		return nil, 1
	case "-Infinity":
		return nil, -1
	default:
		r, ok := new(big.Rat).SetString(s)
		if !ok {
			panic(s)
		}
		return r, 0
	}
}

func plain(v json.RawMessage) string {
	var s string
	if len(v) > 0 && v[0] == '"' {
		if json.Unmarshal(v, &s) != nil {
			panic(string(v))
		}
		return s
	}
	return string(v)
}

func isNull(v json.RawMessage) bool { return string(v) == "null" }

// constant writes a value of a column as a constant, and returns the value that it has; ok is false for values
// that have no constant.
func (s *sampler) constant(col int, v json.RawMessage) (text string, value json.RawMessage, ok bool) {
	p := plain(v)
	switch t := plainType(s.columns[col]); typed[t] {
	case "number":
		if p == "NaN" || strings.HasSuffix(p, "Infinity") {
			return fmt.Sprintf("CAST('%s' AS double)", p), v, t == "float" || t == "double"
		}
		if t == "float" || t == "double" {
			f, err := strconv.ParseFloat(p, 64)
			if err != nil {
				panic(err)
			}
			if s.r.Intn(4) == 0 {
				f = f*0.99 + 0.5
			}
			p = strconv.FormatFloat(f, 'e', -1, 64)
			return p, json.RawMessage(p), true
		}
		if t != "decimal" && s.r.Intn(4) == 0 {
			p += ".5"
		}
		return p, json.RawMessage(p), true
	case "text":
		if s.r.Intn(4) == 0 && p != "" {
			p = string([]rune(p)[:len([]rune(p))/2])
		}
		quoted := strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(p)
		if strings.ContainsAny(p, "%_\\\x00") && strings.Contains(quoted, `\`) {
			return "", nil, false
		}
		j, _ := json.Marshal(p)
		return "'" + quoted + "'", j, true
	case "boolean":
		return p, v, true
	case "date":
		return "DATE '" + p + "'", v, len(p) == 10
	}
	return "TIMESTAMP '" + p + "'", v, len(p) == len("2020-01-01T00:00:00.000000Z")
}

func name(c api.Column) string { return "`" + strings.ReplaceAll(c.Name, "`", "``") + "`" }

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// leaf makes a condition on one column.
func (s *sampler) leaf() sample {
	for {
		col := s.usable[s.r.Intn(len(s.usable))]
		kind, n := typed[plainType(s.columns[col])], name(s.columns[col])
		if s.r.Intn(8) == 0 {
			not := s.r.Intn(2) == 0
			return sample{n + map[bool]string{false: " IS NULL", true: " IS NOT NULL"}[not], func(row []json.RawMessage) int { return truth(isNull(row[col]) != not) }}
		}
		v := s.rows[s.r.Intn(len(s.rows))][col]
		if isNull(v) {
			if s.r.Intn(10) == 0 {
				return sample{n + " = NULL", func([]json.RawMessage) int { return -1 }}
			}
			continue
		}
		c, value, ok := s.constant(col, v)
		if !ok {
			continue
		}
		if kind == "text" && s.r.Intn(3) == 0 {
			p := plain(value)
			if strings.ContainsAny(p, "%_\\'\n") || p == "" {
				continue
			}
			return sample{n + " LIKE '" + p + "%'", func(row []json.RawMessage) int {
				if isNull(row[col]) {
					return -1
				}
				return truth(strings.HasPrefix(plain(row[col]), p))
			}}
		}
		if s.r.Intn(4) == 0 {
			other := s.rows[s.r.Intn(len(s.rows))][col]
			if isNull(other) {
				continue
			}
			c2, v2, ok := s.constant(col, other)
			if !ok {
				continue
			}
			if s.r.Intn(2) == 0 {
				return sample{fmt.Sprintf("%s IN (%s, %s)", n, c, c2), func(row []json.RawMessage) int {
					if isNull(row[col]) {
						return -1
					}
					return truth(order(kind, row[col], value) == 0 || order(kind, row[col], v2) == 0)
				}}
			}
			return sample{fmt.Sprintf("%s BETWEEN %s AND %s", n, c, c2), func(row []json.RawMessage) int {
				if isNull(row[col]) {
					return -1
				}
				return truth(order(kind, row[col], value) >= 0 && order(kind, row[col], v2) <= 0)
			}}
		}
		op := []string{"=", "<>", "<", "<=", ">", ">=", "<=>"}[s.r.Intn(7)]
		return sample{n + " " + op + " " + c, func(row []json.RawMessage) int {
			if isNull(row[col]) {
				if op == "<=>" {
					return 0
				}
				return -1
			}
			d := order(kind, row[col], value)
			return truth(map[string]bool{"=": d == 0, "<=>": d == 0, "<>": d != 0, "<": d < 0, "<=": d <= 0, ">": d > 0, ">=": d >= 0}[op])
		}}
	}
}

// condition makes one of some depth.
func (s *sampler) condition(depth int) sample {
	if depth == 0 || s.r.Intn(3) == 0 {
		return s.leaf()
	}
	x := s.condition(depth - 1)
	switch s.r.Intn(3) {
	case 0:
		return sample{"NOT (" + x.text + ")", func(row []json.RawMessage) int {
			if v := x.of(row); v >= 0 {
				return 1 - v
			}
			return -1
		}}
	case 1:
		y := s.condition(depth - 1)
		return sample{"(" + x.text + ") AND (" + y.text + ")", func(row []json.RawMessage) int {
			a, b := x.of(row), y.of(row)
			if a == 0 || b == 0 {
				return 0
			}
			return min(a, b)
		}}
	}
	y := s.condition(depth - 1)
	return sample{"(" + x.text + ") OR (" + y.text + ")", func(row []json.RawMessage) int {
		a, b := x.of(row), y.of(row)
		if a == 1 || b == 1 {
			return 1
		}
		return min(a, b)
	}}
}

// lines are rows as text, in order of the text: what fits memory differently may come in another order.
func lines(rows [][]json.RawMessage) []string {
	var out []string
	for _, r := range rows {
		b, _ := json.Marshal(r)
		out = append(out, string(b))
	}
	slices.Sort(out)
	return out
}

// reads are the query types that a table is read with.
func reads(t *testing.T, s *Service, name string) []map[string]string {
	t.Helper()
	a := ask[api.Timeline](t, s, api.OpTimeline, `{"table":"`+name+`"}`)
	out := []map[string]string{{}, {"hoodie.datasource.query.type": "read_optimized"},
		{"hoodie.datasource.query.type": "incremental", "hoodie.datasource.read.begin.instanttime": "000"},
		{"hoodie.datasource.query.type": "incremental", "hoodie.datasource.read.begin.instanttime": "000", "hoodie.datasource.query.incremental.format": "cdc"}}
	var done []string
	for _, i := range a.Active {
		if i.State == "COMPLETED" && (i.Action == "commit" || i.Action == "deltacommit") {
			done = append(done, i.Requested)
		}
	}
	if len(done) > 1 {
		out = append(out, map[string]string{"as.of.instant": done[len(done)/2]})
	}
	return out
}

// TestConditions: the rows of a read with a condition are those of the read without it that a naive reading of
// the condition passes, and with some columns only those; on every table, by every query type.
func TestConditions(t *testing.T) {
	s := testService(t)
	ctx := context.Background()
	zips, err := filepath.Glob(filepath.Join(tabletest.Dir(), "tables", "*.zip"))
	if err != nil || len(zips) == 0 {
		t.Fatal(err, zips)
	}
	conditions, passed, total, queries := 0, 0, 0, 0
	for n, zip := range tabletest.Some(zips) {
		tab := strings.TrimSuffix(filepath.Base(zip), ".zip")
		for m, options := range reads(t, s, tab) {
			req := api.RowsRequest{Table: api.Table{Location: tab}, Options: options, Limit: maxRows}
			all, err := s.Rows(ctx, req)
			if err != nil || len(all.Rows) == 0 || !all.TotalKnown {
				continue // what can't be read so, the tests of reads tell
			}
			queries++
			sam := newSampler(int64(n*100+m), all.Columns, all.Rows)
			if len(sam.usable) == 0 {
				t.Errorf("%s %v: no column can be compared: %v", tab, options, all.Columns)
				continue
			}
			for range 12 {
				c := sam.condition(2)
				var want [][]json.RawMessage
				for _, row := range all.Rows {
					if c.of(row) == 1 {
						want = append(want, row)
					}
				}
				// A projection in an order of its own.
				var columns []string
				if sam.r.Intn(2) == 0 {
					perm := sam.r.Perm(len(all.Columns))[:1+sam.r.Intn(len(all.Columns))]
					for i, row := range want {
						cut := make([]json.RawMessage, len(perm))
						for k, p := range perm {
							cut[k] = row[p]
						}
						want[i] = cut
					}
					for _, p := range perm {
						columns = append(columns, all.Columns[p].Name)
					}
				}
				req.Condition = api.Condition{Where: c.text, Columns: columns}
				got, err := s.Rows(ctx, req)
				if err != nil {
					t.Errorf("%s %v: %s: %v", tab, options, c.text, err)
					continue
				}
				conditions++
				passed += len(want)
				total += len(all.Rows)
				if g, w := lines(got.Rows), lines(want); !slices.Equal(g, w) {
					t.Errorf("%s %v: WHERE %s, columns %q: %d rows, want %d", tab, options, c.text, columns, len(g), len(w))
				}
				if len(columns) > 0 {
					for i, c := range got.Columns {
						if c.Name != columns[i] {
							t.Errorf("%s: column %d is %s, want %s", tab, i, c.Name, columns[i])
						}
					}
				}
			}
		}
	}
	t.Logf("%d conditions on %d reads of %d tables; %d of %d rows pass", conditions, queries, len(zips), passed, total)
	if conditions < 2000/tabletest.Every || passed == 0 || passed == total {
		t.Errorf("%d conditions, %d of %d rows pass", conditions, passed, total)
	}
}

// TestProjections: for every table the rows of some columns are those of all columns, cut.
func TestProjections(t *testing.T) {
	s := testService(t)
	ctx := context.Background()
	zips, _ := filepath.Glob(filepath.Join(tabletest.Dir(), "tables", "*.zip"))
	compared := 0
	for n, zip := range tabletest.Some(zips) {
		tab := strings.TrimSuffix(filepath.Base(zip), ".zip")
		for m, options := range reads(t, s, tab) {
			req := api.RowsRequest{Table: api.Table{Location: tab}, Options: options, Limit: maxRows}
			all, err := s.Rows(ctx, req)
			if err != nil || len(all.Rows) == 0 || !all.TotalKnown {
				continue
			}
			r := rand.New(rand.NewSource(int64(n*10 + m)))
			for k := range 3 {
				// One column, some, and all of them in another order.
				perm := r.Perm(len(all.Columns))[:[]int{1, 1 + r.Intn(len(all.Columns)), len(all.Columns)}[k]]
				req.Columns = nil
				for _, p := range perm {
					req.Columns = append(req.Columns, strings.ToUpper(all.Columns[p].Name))
				}
				got, err := s.Rows(ctx, req)
				var f *api.Fault
				if errors.As(ToFault(err), &f); err != nil && f != nil && strings.Contains(f.Message, "ambiguous") {
					continue
				}
				if err != nil {
					t.Errorf("%s %v %q: %v", tab, options, req.Columns, err)
					continue
				}
				var want [][]json.RawMessage
				for _, row := range all.Rows {
					cut := make([]json.RawMessage, len(perm))
					for k, p := range perm {
						cut[k] = row[p]
					}
					want = append(want, cut)
				}
				compared++
				if !slices.Equal(lines(got.Rows), lines(want)) {
					t.Errorf("%s %v: columns %q: other rows than those of the full read", tab, options, req.Columns)
				}
			}
		}
	}
	t.Logf("%d projections", compared)
	if compared < 100 {
		t.Errorf("only %d projections", compared)
	}
}

// TestConditionFaults: a bad condition says where it is bad and what to write.
func TestConditionFaults(t *testing.T) {
	s := testService(t)
	ctx := context.Background()
	fault := func(c api.Condition) *api.Fault {
		t.Helper()
		_, err := s.Rows(ctx, api.RowsRequest{Table: api.Table{Location: "mor_trips_h120"}, Condition: c})
		if err == nil {
			t.Fatalf("%+v was taken", c)
		}
		return ToFault(err)
	}
	f := fault(api.Condition{Where: "rider = 'a' AND far > 1"})
	if f.Kind != "invalid request" || f.Part != "where" || f.Offset != 16 || f.Try != "Did you mean fare?" {
		t.Errorf("%+v", f)
	}
	f = fault(api.Condition{Columns: []string{"fare", "ridr"}})
	if f.Kind != "invalid request" || f.Part != "columns" || f.Offset != -1 || !strings.Contains(f.Try, "rider") {
		t.Errorf("%+v", f)
	}
	f = fault(api.Condition{Columns: []string{"fare", "FARE"}})
	if f.Part != "columns" || !strings.Contains(f.Message, "twice") {
		t.Errorf("%+v", f)
	}
	// The columns of changes are those of the query, not of the table.
	_, err := s.Rows(ctx, api.RowsRequest{Table: api.Table{Location: "cdc_data_before_cow_h0150"}, Condition: api.Condition{Where: "fare > 1"},
		Options: map[string]string{"hoodie.datasource.query.type": "incremental", "hoodie.datasource.read.begin.instanttime": "000", "hoodie.datasource.query.incremental.format": "cdc"}})
	if err == nil || !strings.Contains(ToFault(err).Error(), "op, ts_ms, before, after") {
		t.Errorf("a condition on a column of the table: %v", err)
	}
}

// TestConditionReadsLess: a projection reads less of base files, and a limit ends the read early.
func TestConditionReadsLess(t *testing.T) {
	read := func(c api.Condition, limit int) int64 {
		t.Helper()
		p := &storagetest.Probe{Src: tabletest.Open(t, "cow_trips_h102")}
		s := New(func(context.Context, string) (storage.Source, error) { return p, nil }, Options{})
		if _, err := s.Rows(context.Background(), api.RowsRequest{Table: api.Table{Location: "x"}, Condition: c, Limit: limit}); err != nil {
			t.Fatal(err)
		}
		var n int64
		for _, r := range p.Reads() {
			n += r.Len
		}
		return n
	}
	all := read(api.Condition{}, maxRows)
	one := read(api.Condition{Columns: []string{"fare"}}, maxRows)
	few := read(api.Condition{Where: "fare > 0"}, 1)
	t.Logf("all %d bytes, one column %d, one row %d", all, one, few)
	if one >= all || few >= all {
		t.Errorf("all %d bytes, one column %d, one row %d", all, one, few)
	}
}
