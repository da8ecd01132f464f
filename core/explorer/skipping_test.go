package explorer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/query"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
)

// conditions makes conditions over the values that rows have.
type conditions struct {
	r       *rand.Rand
	columns []api.Column
	rows    [][]json.RawMessage
}

func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// literal is a constant near a value of a column, "" for columns whose values are not compared.
func (c *conditions) literal(i int) string {
	v := c.rows[c.r.Intn(len(c.rows))][i]
	t := c.columns[i].Type
	if c.r.Intn(25) == 0 {
		return "null"
	}
	var text string
	switch {
	case string(v) == "null":
		return []string{"null", "0", "'a'"}[c.r.Intn(3)]
	case v[0] == '"':
		if json.Unmarshal(v, &text) != nil {
			return ""
		}
		switch {
		case strings.HasPrefix(t, "decimal"):
			return text
		case strings.HasPrefix(t, "date") && c.r.Intn(2) == 0:
			return "DATE " + quoted(text)
		case strings.HasPrefix(t, "timestamp") && c.r.Intn(2) == 0:
			return "TIMESTAMP " + quoted(text)
		}
		switch c.r.Intn(6) {
		case 0:
			text += "a"
		case 1:
			if len(text) > 1 {
				text = text[:len(text)-1]
			}
		}
		return quoted(strings.ToValidUTF8(text, "?"))
	case v[0] == '{' || v[0] == '[':
		return ""
	case string(v) == "true" || string(v) == "false":
		return string(v)
	}
	text = string(v)
	switch c.r.Intn(8) {
	case 0:
		return text + " + 1"
	case 1:
		return "(" + text + " - 2)"
	case 2:
		return text + "D"
	case 3:
		return quoted(text)
	}
	return text
}

func (c *conditions) leaf() string {
	i := c.r.Intn(len(c.columns))
	name := "`" + strings.ReplaceAll(c.columns[i].Name, "`", "``") + "`"
	l := c.literal(i)
	if l == "" || c.r.Intn(12) == 0 {
		return name + []string{" IS NULL", " IS NOT NULL"}[c.r.Intn(2)]
	}
	switch c.r.Intn(10) {
	case 0:
		return fmt.Sprintf("%s IN (%s, %s, %s)", name, l, c.literal(i), c.literal(i))
	case 1:
		return fmt.Sprintf("%s NOT IN (%s, %s)", name, l, c.literal(i))
	case 2:
		return fmt.Sprintf("%s BETWEEN %s AND %s", name, l, c.literal(i))
	case 3:
		if c.columns[i].Type == "string" && l[0] == '\'' && !strings.ContainsAny(l[1:len(l)-1], `%_\'`) {
			n := 1 + c.r.Intn(len(l)-1)
			return fmt.Sprintf("%s %sLIKE '%s%%'", name, []string{"", "NOT "}[c.r.Intn(2)], l[1:n])
		}
	case 4:
		return fmt.Sprintf("%s %s %s", l, []string{"<", ">=", "=", "<=>"}[c.r.Intn(4)], name)
	case 5:
		return fmt.Sprintf("%s + 1 %s %s", name, []string{"<", ">=", "="}[c.r.Intn(3)], l)
	case 6:
		return fmt.Sprintf("from_unixtime(%s, 'yyyy-MM-dd') = '1970-01-0%d'", name, 1+c.r.Intn(9))
	}
	return fmt.Sprintf("%s %s %s", name, []string{"=", "=", "=", "<>", "<", "<=", ">", ">=", "<=>"}[c.r.Intn(9)], l)
}

func (c *conditions) condition(depth int) string {
	if depth > 0 {
		switch c.r.Intn(4) {
		case 0, 1:
			return c.condition(depth-1) + " AND " + c.condition(depth-1)
		case 2:
			return "(" + c.condition(depth-1) + " OR " + c.condition(depth-1) + ")"
		case 3:
			return "NOT (" + c.condition(depth-1) + ")"
		}
	}
	return c.leaf()
}

// allRows are the rows of a request.
func allRows(t *testing.T, s *Service, req api.RowsRequest) *api.Rows {
	t.Helper()
	req.Limit = maxRows
	a, err := s.Rows(context.Background(), req)
	if err != nil {
		t.Fatalf("%+v: %v", req, err)
	}
	return a
}

// TestSkippedSlicesHaveNoMatchingRow holds what conditions leave out against the rows that are there: for every
// table, many conditions over its values, and several kinds of reads, no slice that is left out has a row that
// passes.
func TestSkippedSlicesHaveNoMatchingRow(t *testing.T) {
	ctx := context.Background()
	total, skipped := 0, map[string]int{}
	for _, name := range tabletest.Some(tabletest.Names(t, "")) {
		src := tabletest.Open(t, name)
		s := New(func(context.Context, string) (storage.Source, error) { return src, nil }, Options{})
		all, err := s.Rows(ctx, api.RowsRequest{Table: api.Table{Location: name}, Limit: maxRows})
		if err != nil || len(all.Rows) == 0 {
			continue // tables that can't be read without an option, or have no rows
		}
		h, err := s.ready(ctx, api.Table{Location: name})
		if err != nil {
			t.Fatal(err)
		}
		indexed := slices.Contains(h.table.Config.MetadataPartitions(), "column_stats")
		c := &conditions{rand.New(rand.NewSource(int64(len(name)))), all.Columns, all.Rows}
		n := 40
		if indexed {
			n = 400
		}
		if testing.Short() {
			n /= 8
		}
		if !all.TotalKnown {
			n = 20 // a table of more rows than a page has
		}
		options := []map[string]string{nil, nil, {"hudiscope.unique.keys": "true"}, {"hoodie.datasource.query.type": "read_optimized"}, {"hoodie.datasource.merge.type": "skip_merge", "hudiscope.unique.keys": "true"}}
		for k := range n {
			where := c.condition(k % 4)
			req := readRequest{options: options[k%len(options)], condition: api.Condition{Where: where}}
			p, err := s.prepare(ctx, h, req, false, nil)
			if err != nil {
				if f := ToFault(err); f.Part == "where" {
					continue // values that do not compare
				}
				t.Fatalf("%s: %s: %v", name, where, err)
			}
			for _, f := range p.findings {
				t.Errorf("%s: %s: %+v", name, where, f)
			}
			q, err := query.Parse(req.options)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := query.Prepare(ctx, h.table, q, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := restrict(whole, req.condition); err != nil {
				t.Fatal(err)
			}
			if len(whole.Parts) != len(p.pruning.Files) {
				t.Fatalf("%s: %s: %d slices, %d verdicts", name, where, len(whole.Parts), len(p.pruning.Files))
			}
			kept := 0
			for i, f := range p.pruning.Files {
				total++
				if f.Why == "" || (f.Why[:4] == "Kept") != f.Kept {
					t.Errorf("%s: %s: %+v", name, where, f)
				}
				if f.Kept {
					kept++
					continue
				}
				skipped[f.By]++
				for row, err := range whole.Parts[i].Rows(ctx, s.opts.read(), nil) {
					if err != nil {
						t.Fatalf("%s: %s: %v", name, where, err)
					}
					t.Errorf("%s: %v: %s leaves out %s (%s: %s), which has a row that passes: %s", name, req.options, where, f.FileID, f.By, f.Why, row.Batch.RowJSON(row.Index))
					break
				}
			}
			if kept != len(p.Parts) {
				t.Errorf("%s: %s: %d slices are kept and %d read", name, where, kept, len(p.Parts))
			}
			if k%40 == 0 {
				got := allRows(t, s, api.RowsRequest{Table: api.Table{Location: name}, Options: req.options, Condition: req.condition})
				var want int
				for i := range whole.Parts {
					for _, err := range whole.Parts[i].Rows(ctx, s.opts.read(), nil) {
						if err != nil {
							t.Fatal(err)
						}
						want++
					}
				}
				if len(got.Rows) != min(want, maxRows) {
					t.Errorf("%s: %s: %d rows, want %d", name, where, len(got.Rows), want)
				}
			}
		}
	}
	t.Logf("%d verdicts; left out by %v", total, skipped)
	for _, by := range []string{"partition values", "column_stats", "record_index", "partition_stats", "secondary_index_idx_rider", "bloom_filters", "expr_index_idx_day"} {
		if skipped[by] == 0 {
			t.Errorf("nothing was left out by %s", by)
		}
	}
}

// planOf plans a read with a condition.
func planOf(t *testing.T, s *Service, name, hudi, where string, options map[string]string) *api.Plan {
	t.Helper()
	p, err := s.Plan(context.Background(), api.PlanRequest{Table: api.Table{Location: name, Hudi: hudi}, Options: options, Condition: api.Condition{Where: where}})
	if err != nil {
		t.Fatalf("%s %s %s %v: %v", name, hudi, where, options, err)
	}
	return p
}

// used are the indexes that took part, in their order.
func used(p *api.Pruning) string {
	var out []string
	for _, x := range p.Indexes {
		if x.Used {
			out = append(out, x.Name)
		}
	}
	return strings.Join(out, " ")
}

// kept counts the slices that are read.
func kept(p *api.Pruning) int {
	n := 0
	for _, f := range p.Files {
		if f.Kept {
			n++
		}
	}
	return n
}

// TestIndexChoice says which indexes decide conditions, by release and options, and how many slices are left.
func TestIndexChoice(t *testing.T) {
	s := testService(t)
	on := map[string]string{"hoodie.enable.data.skipping": "true"}
	for _, c := range []struct {
		table, hudi, where string
		options            map[string]string
		used               string
		kept               int
		finding            string
	}{
		{"mdt_full_h120", "", "uuid = 'trip-003'", nil, "partition_stats record_index column_stats bloom_filters", 1, ""},
		{"mdt_full_h120", "", "_hoodie_record_key IN ('trip-003', 'trip-016')", nil, "partition_stats record_index column_stats bloom_filters", 2, ""},
		{"mdt_full_h120", "", "uuid = 'trip-005'", map[string]string{"hudiscope.unique.keys": "true"}, "partition_stats record_index column_stats", 0, ""},
		{"mdt_full_h120", "", "rider = 'rider-GAE'", nil, "partition_stats secondary_index_idx_rider column_stats", 1, ""},
		{"mdt_full_h120", "", "fare > 70", nil, "partition_stats column_stats", 3, ""},
		{"mdt_full_h120", "", "driver = 'driver-AAA'", nil, "partition_stats column_stats", 0, ""},
		{"mdt_full_h120", "", "from_unixtime(ts, 'yyyy-MM-dd') = '2024-05-05'", nil, "expr_index_idx_day", 0, ""},
		{"mdt_full_h120", "", "from_unixtime(ts, 'yyyy-MM-dd') = '1970-01-02'", nil, "expr_index_idx_day", 4, ""},
		{"mdt_full_h120", "", "from_unixtime(ts, 'yyyy') = '2024'", nil, "", 4, ""},
		{"mdt_full_h120", "", "city = 'chennai' AND fare > 70", nil, "column_stats", 1, ""},
		{"mdt_full_h120", "", "city = 'chennai'", nil, "", 2, ""},
		{"mdt_full_h120", "", "fare > 70", map[string]string{"hoodie.enable.data.skipping": "false"}, "", 4, ""},
		{"mdt_full_h120", "", "fare > 70", map[string]string{"hoodie.metadata.enable": "false"}, "", 4, ""},
		{"mdt_full_h120", "", "uuid = 'trip-003'", map[string]string{"hoodie.datasource.query.type": "read_optimized"}, "column_stats bloom_filters", 1, ""},
		{"mdt_full_h120", "", "uuid = 'trip-003'", map[string]string{"as.of.instant": "20261129233401001"}, "column_stats bloom_filters", 1, ""},
		{"mdt_full_h120", "1.2.0", "uuid = 'trip-003'", nil, "partition_stats record_index column_stats", 1, "may pass over rows here"},
		{"mdt_full_h120", "1.2.0", "rider LIKE 'rider-G%'", nil, "partition_stats column_stats", 0, "may pass over rows here"},
		{"mdt_full_h120", "1.2.0", "fare > 70", nil, "partition_stats column_stats", 3, ""},
		{"mdt_full_h102", "", "uuid = 'trip-003'", nil, "partition_stats record_index column_stats bloom_filters", 1, ""},
		// Off by default before 1.0, and log files of a table of version 6 have no whole statistics.
		{"mdt_full_h0150", "0.15.0", "fare > 1000", nil, "", 4, ""},
		{"mdt_full_h0150", "0.15.0", "fare > 1000", on, "column_stats", 0, "may pass over rows here"},
		{"mdt_full_h0150", "0.15.0", "uuid = 'trip-003'", on, "record_index column_stats", 1, "may pass over rows here"},
		{"mdt_full_h0150", "0.12.0", "uuid = 'trip-003'", on, "column_stats", 3, ""},
		{"mdt_full_h0150", "0.10.0", "fare > 1000", on, "", 4, ""},
		{"mdt_full_h0150", "", "fare > 1000", nil, "column_stats", 3, ""},
		{"mor_trips_h120", "", "fare > 1000", nil, "", 6, ""},
	} {
		p := planOf(t, s, c.table, c.hudi, c.where, c.options)
		if p.Pruning == nil {
			t.Errorf("%s: no pruning", c.where)
			continue
		}
		if got := used(p.Pruning); got != c.used {
			t.Errorf("%s %s %s %v: used %q, want %q: %+v", c.table, c.hudi, c.where, c.options, got, c.used, p.Pruning.Indexes)
		}
		if n := kept(p.Pruning); n != c.kept || n != len(p.Parts) {
			t.Errorf("%s %s %s %v: %d kept, %d parts, want %d: %+v", c.table, c.hudi, c.where, c.options, n, len(p.Parts), c.kept, p.Pruning.Files)
		}
		found := c.finding == ""
		for _, f := range p.Findings {
			if strings.Contains(f.Title, "may pass over") {
				found = c.finding != ""
			}
		}
		if !found {
			t.Errorf("%s %s %s: findings %+v, want %q", c.table, c.hudi, c.where, p.Findings, c.finding)
		}
		pieces := 0
		for _, x := range p.Tasks.Tasks {
			for _, y := range x.Pieces {
				pieces++
				if y.Part >= len(p.Parts) {
					t.Errorf("%s: a task reads part %d of %d", c.where, y.Part, len(p.Parts))
				}
			}
		}
		if pieces != len(p.Parts) {
			t.Errorf("%s: %d pieces of %d parts", c.where, pieces, len(p.Parts))
		}
		if f := p.Pruning; len(f.Files) > 0 && math.Abs(f.SkippedFiles-1+float64(c.kept)/float64(len(f.Files))) > 1e-9 {
			t.Errorf("%s: share %v", c.where, f.SkippedFiles)
		}
	}
	if p := planOf(t, s, "mdt_full_h120", "", "", nil); p.Pruning != nil {
		t.Errorf("a read without a condition has pruning: %+v", p.Pruning)
	}
}

// TestSkippedFilesAreNotOpened counts what a read with a condition opens: no file of a slice that is left out, and
// planning it no file of the data at all.
func TestSkippedFilesAreNotOpened(t *testing.T) {
	for _, where := range []string{"uuid = 'trip-003'", "fare > 70", "city <> 'chennai' AND rider LIKE 'rider-G%'"} {
		src := tabletest.Open(t, "mdt_full_h120")
		s := New(func(context.Context, string) (storage.Source, error) { return src, nil }, Options{})
		before := map[string]int{}
		planOf(t, s, "x", "", "", nil)
		for _, f := range src.Paths() {
			before[f] = src.Opens(f) // for the schema's source
		}
		p := planOf(t, s, "x", "", where, nil)
		files := func(v *api.FileVerdict) (out []string) {
			for _, f := range src.Paths() {
				if strings.HasPrefix(f, v.Partition+"/") && strings.Contains(f, v.FileID) {
					out = append(out, f)
				}
			}
			return out
		}
		for i := range p.Pruning.Files {
			for _, f := range files(&p.Pruning.Files[i]) {
				if n := src.Opens(f); n != before[f] {
					t.Errorf("%s: planning opens %s", where, f)
				}
			}
		}
		allRows(t, s, api.RowsRequest{Table: api.Table{Location: "x"}, Condition: api.Condition{Where: where}})
		read, out := 0, 0
		for i := range p.Pruning.Files {
			v := &p.Pruning.Files[i]
			for _, f := range files(v) {
				switch n := src.Opens(f) - before[f]; {
				case v.Kept:
					read += n
				case n != 0:
					t.Errorf("%s: %s is opened %d times, and was left out", where, f, n)
				default:
					out++
				}
			}
		}
		if read == 0 || out == 0 {
			t.Errorf("%s: %d files read, %d left out", where, read, out)
		}
	}
}

// TestDamagedIndex reads with an index that is damaged: by default nothing is left out and a finding says so; a
// strict read fails and names the index and the file.
func TestDamagedIndex(t *testing.T) {
	ctx := context.Background()
	for _, index := range []string{"column_stats", "record_index", "secondary_index_idx_rider", "partition_stats", "bloom_filters", "expr_index_idx_day"} {
		src := tabletest.Open(t, "mdt_full_h120")
		damaged := 0
		for _, p := range src.Paths() {
			if strings.HasPrefix(p, ".hoodie/metadata/"+index+"/") && (strings.HasSuffix(p, ".hfile") || strings.Contains(p, ".log.1_")) && len(src.Bytes(p)) > 1000 {
				b := slices.Clone(src.Bytes(p))
				at := bytes.Index(b, []byte("DATABLK*")) // the first block of the records
				if at < 0 {
					continue
				}
				for i := at + 33; i < at+60; i++ {
					b[i] ^= 0x5A
				}
				src.Put(p, b)
				damaged++
			}
		}
		if damaged == 0 {
			t.Fatalf("%s has no files", index)
		}
		where := map[string]string{"column_stats": "fare > 70", "record_index": "uuid = 'trip-003'", "secondary_index_idx_rider": "rider = 'rider-GAE'", "partition_stats": "fare > 70",
			"bloom_filters": "uuid = 'trip-003'", "expr_index_idx_day": "from_unixtime(ts, 'yyyy-MM-dd') = '2024-05-05'"}[index]
		s := New(func(context.Context, string) (storage.Source, error) { return src, nil }, Options{})
		p := planOf(t, s, "x", "", where, nil)
		found := false
		for _, f := range p.Findings {
			found = found || strings.Contains(f.Title, "index can't be read") && strings.Contains(f.Detail, index) && strings.Contains(f.Detail, ".hoodie/metadata/"+index)
		}
		for _, x := range p.Pruning.Indexes {
			if x.Used || strings.Contains(x.Why, "rules out") {
				t.Errorf("%s: nothing is left out, and %+v", index, x)
			}
		}
		if !found || kept(p.Pruning) != 4 || len(p.Parts) != 4 || p.Pruning.SkippedBytes != 0 {
			t.Errorf("%s: %d kept, findings %+v, %+v", index, kept(p.Pruning), p.Findings, p.Pruning.Indexes)
		}
		good := testService(t)
		want := allRows(t, good, api.RowsRequest{Table: api.Table{Location: "mdt_full_h120"}, Condition: api.Condition{Where: where}})
		got := allRows(t, s, api.RowsRequest{Table: api.Table{Location: "x"}, Condition: api.Condition{Where: where}})
		if len(got.Rows) != len(want.Rows) || len(got.Findings) != len(want.Findings)+1 {
			t.Errorf("%s: %d rows, want %d; findings %+v", index, len(got.Rows), len(want.Rows), got.Findings)
		}
		// An export says the same of its rows as the rows do, and what the plan said of the index, unchanged.
		last, err := s.Export(ctx, api.ExportRequest{RowsRequest: api.RowsRequest{Table: api.Table{Location: "x"}, Condition: api.Condition{Where: where}}, Format: "jsonl", ID: index})
		if err != nil || !last.Done || !slices.Equal(last.Findings, got.Findings) || !slices.Contains(got.Findings, p.Findings[len(p.Findings)-1]) {
			t.Errorf("%s: the export %+v, %v; the rows %+v; the plan %+v", index, last, err, got.Findings, p.Findings)
		}
		_, err = s.Plan(ctx, api.PlanRequest{Table: api.Table{Location: "x"}, Options: map[string]string{"hoodie.fileIndex.dataSkippingFailureMode": "strict"}, Condition: api.Condition{Where: where}})
		f := ToFault(err)
		if err == nil || !strings.Contains(f.Message, "index "+index) || !strings.HasPrefix(f.File, ".hoodie/metadata/"+index+"/") || !strings.Contains(f.Try, "fallback") {
			t.Errorf("%s: a strict read gives %+v", index, f)
		}
		if _, err := s.Rows(ctx, api.RowsRequest{Table: api.Table{Location: "x"}, Options: map[string]string{"hoodie.fileIndex.dataSkippingFailureMode": "strict"}, Condition: api.Condition{Where: where}}); err == nil {
			t.Errorf("%s: strict rows are read", index)
		}
	}
}

// TestPartitionPruning holds partition conditions against the paths of all key generators.
func TestPartitionPruning(t *testing.T) {
	s := testService(t)
	for _, c := range []struct {
		table, hudi, where, part, prefix string
		kept, of                         int
		by, why                          string
	}{
		{"part_hive_two_level_h120", "", "seats = 0 AND 'chennai' = city AND fare > 1", "seats = 0 AND 'chennai' = city", "city=chennai/seats=0", 1, 0, "partition values", "its rows have seats = "},
		{"part_hive_two_level_h120", "", "seats = 0", "seats = 0", "", -2, 0, "partition values", ""},
		{"part_hive_two_level_h120", "", "seats < 0 OR city = 'x'", "seats < 0 OR city = 'x'", "", 0, 0, "partition values", ""},
		{"part_hive_two_level_h120", "", "NOT (seats <=> 0) AND city = 'chennai'", "NOT seats <=> 0 AND city = 'chennai'", "city=chennai", -2, 0, "partition values", ""},
		{"part_dropped_columns_h120", "", "city = 'chennai'", "city = 'chennai'", "city=chennai", 1, 0, "partition values", ""},
		{"part_timestamp_keygen_h0150", "", "ts = '2024'", "ts = '2024'", "", -1, 0, "", "formatted times"},
		{"part_timestamp_keygen_h0150", "0.15.0", "ts = '2024'", "ts = '2024'", "", 0, 0, "partition values", ""},
		{"part_none_h120", "", "fare > 3", "", "", -1, 0, "", "no part over partition columns"},
		{"mor_trips_h120", "", "city IN ('chennai', 'x') AND fare > 1", "city IN ('chennai', 'x')", "", -2, 0, "partition values", ""},
		{"mor_trips_h120", "", "city = 'chennai' OR fare > 1", "", "", -1, 0, "", ""},
		{"mor_trips_h120", "", "city LIKE 's%'", "city LIKE 's%'", "", -2, 0, "partition values", ""},
	} {
		p := planOf(t, s, c.table, c.hudi, c.where, nil).Pruning
		n := 0
		for _, v := range p.Partitions {
			if v.Kept {
				n++
			}
			if c.by != v.By || !strings.Contains(v.Why, c.why) {
				t.Errorf("%s %s: %+v", c.table, c.where, v)
			}
		}
		switch {
		case len(p.Partitions) == 0, c.kept == -1 && n != len(p.Partitions), c.kept == -2 && (n == 0 || n == len(p.Partitions)), c.kept >= 0 && n != c.kept:
			t.Errorf("%s %s: %d of %d partitions kept: %+v", c.table, c.where, n, len(p.Partitions), p.Partitions)
		}
		if p.PartitionPart != c.part || p.PartitionPrefix != c.prefix {
			t.Errorf("%s %s: part %q, prefix %q", c.table, c.where, p.PartitionPart, p.PartitionPrefix)
		}
	}
}

// TestConditionOnChanges keeps all changes: their columns are not the table's.
func TestConditionOnChanges(t *testing.T) {
	s := testService(t)
	options := map[string]string{"hoodie.datasource.query.type": "incremental", "hoodie.datasource.query.incremental.format": "cdc", "hoodie.datasource.read.begin.instanttime": "000"}
	p := planOf(t, s, "cdc_data_before_cow_h0150", "", "op = 'd'", options)
	if len(p.Parts) == 0 || kept(p.Pruning) != len(p.Pruning.Files) || p.Pruning.Skipping {
		t.Errorf("%+v", p.Pruning)
	}
	options = map[string]string{"hoodie.datasource.query.type": "incremental", "hoodie.datasource.read.begin.instanttime": "000"}
	p = planOf(t, s, "mdt_full_h120", "", "city = 'chennai' AND fare > 1000", options)
	if n := kept(p.Pruning); n == 0 || n == len(p.Pruning.Files) || used(p.Pruning) != "" {
		t.Errorf("%+v", p.Pruning)
	}
}
