package skipping

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/groupreader"
	"hudiscope/core/metatable"
	"hudiscope/core/predicate"
	"hudiscope/core/schema"
)

// sources finds the statistics of columns and expressions.
type sources struct {
	r *run
	// columns tells which columns column_stats has, nil when it does not say; stats whether it is there.
	columns map[string]bool
	stats   bool
	exprs   []expression
}

// expression is an expression index.
type expression struct {
	index string
	def   *metatable.IndexDefinition
}

func (r *run) sources(ctx context.Context) (*sources, error) {
	rules := &r.in.Table.Rules.Skipping
	s := &sources{r: r}
	name := string(metatable.ColumnStatKind)
	if s.stats = rules.ColumnStats && r.ready(name) && !r.in.ByNumber; s.stats {
		d, err := r.m.Definition(ctx, name)
		if err != nil {
			return nil, &Failure{Index: name, Err: err}
		}
		if d != nil && len(d.Fields) > 0 {
			s.columns = map[string]bool{}
			for _, f := range d.Fields {
				s.columns[f] = true
			}
		}
	}
	if rules.Expression && !r.in.ByNumber {
		for _, n := range r.in.Table.Config.MetadataPartitions() {
			if metatable.KindOf(n) != metatable.ExpressionIdx || !r.ready(n) {
				continue
			}
			d, err := r.m.Definition(ctx, n)
			if err != nil {
				return nil, &Failure{Index: n, Err: err}
			}
			if d != nil && len(d.Fields) == 1 {
				s.exprs = append(s.exprs, expression{n, d})
			}
		}
	}
	return s, nil
}

// find returns the source of a column or an expression, nil where there is none.
func (s *sources) find(e predicate.Expr) *source {
	switch e := e.(type) {
	case *predicate.Column:
		if len(e.Path) != 1 || !s.stats || s.columns != nil && !s.columns[e.Path[0]] {
			return nil
		}
		switch e.Path[0] {
		case "_hoodie_file_name", "_hoodie_commit_seqno", "_hoodie_operation":
			// Readers fill these in; they are not what was written.
			return nil
		}
		rows := s.r.in.Rows
		if t := rows.Fields[rows.FieldIndex(e.Path[0])].Type; simple(t) {
			return &source{index: string(metatable.ColumnStatKind), column: e.Path[0], typ: t}
		}
	case *predicate.Call:
		for _, x := range s.exprs {
			if src := s.expression(x, e); src != nil {
				return src
			}
		}
	}
	return nil
}

func simple(t *schema.Type) bool {
	switch t.Kind {
	case schema.Boolean, schema.Int, schema.Long, schema.Float, schema.Double:
		return true
	case schema.String:
		return t.Logical == schema.None
	case schema.Bytes, schema.Fixed:
		return true
	}
	return false
}

// expression matches a call with the expression of an index.
func (s *sources) expression(x expression, e *predicate.Call) *source {
	name := strings.ToLower(x.def.Options["expr"])
	if name == "" {
		name = strings.ToLower(x.def.Function)
	}
	same := map[string]string{"lcase": "lower", "ucase": "upper", "dayofmonth": "day", "substr": "substring"}
	call := e.Name
	if c := same[call]; c != "" {
		call = c
	}
	if c := same[name]; c != "" {
		name = c
	}
	if call != name || len(e.Args) == 0 {
		return nil
	}
	column, ok := e.Args[0].(*predicate.Column)
	if c, cast := e.Args[0].(*predicate.Cast); cast && c.Implied {
		// A whole number beside a wider parameter.
		if column, ok = c.X.(*predicate.Column); ok && !keepsOrder(s.r.in.Where.Type(c.X), s.r.in.Where.Type(c)) {
			return nil
		}
	}
	if !ok || len(column.Path) != 1 || column.Path[0] != x.def.Fields[0] {
		return nil
	}
	var rest []string
	for _, a := range e.Args[1:] {
		text, ok := literalText(a)
		if !ok {
			return nil
		}
		rest = append(rest, text)
	}
	options := func(names ...string) bool {
		var want []string
		for _, n := range names {
			if v, ok := x.def.Options[n]; ok {
				want = append(want, v)
			}
		}
		return slices.Equal(rest, want)
	}
	src := &source{index: x.index, column: column.Path[0], expr: predicate.Format(e), typ: &schema.Type{Kind: schema.String, Nullable: true}, bloom: x.def.Type == string(metatable.BloomFilters)}
	switch name {
	case "lower", "upper", "trim":
		if _, trims := x.def.Options["trimString"]; trims || !options() {
			return nil
		}
	case "substring":
		if !options("pos", "len") {
			return nil
		}
	case "year", "month", "day":
		// Of a timestamp they depend on the zone of the session that built the index.
		if s.r.in.Where.Type(e.Args[0]).Kind != predicate.Date || !isBare(e.Args[0]) || len(rest) > 0 || src.bloom {
			return nil
		}
		src.typ = &schema.Type{Kind: schema.Int, Nullable: true}
	case "from_unixtime", "date_format":
		// The day depends on the zone of the session that built the index, which the table does not tell; the
		// zones of two sessions are less than two days apart.
		if !options("format") || len(rest) != 1 || rest[0] != "yyyy-MM-dd" || src.bloom {
			return nil
		}
		src.days = 2
	default:
		return nil
	}
	return src
}

func isBare(e predicate.Expr) bool { _, ok := e.(*predicate.Column); return ok }

// partitionStats prunes partitions by their bounds, as Hudi does when the condition has no part over partition
// columns.
func (r *run) partitionStats(ctx context.Context, nodes []node) error {
	const name = string(metatable.PartitionStats)
	in, p := r.in, r.res.Pruning
	if !r.ready(name) {
		return nil
	}
	switch {
	case !in.Table.Rules.Skipping.PartitionStats:
		r.choice(name, false, "%s does not read it", in.Table.Rules.Name())
		return nil
	case len(in.Table.Config.PartitionFields()) == 0:
		r.choice(name, false, "The table has no partitions")
		return nil
	case p.PartitionPart != "":
		r.choice(name, false, "Partitions are pruned by their values already")
		return nil
	case !in.Snapshot || !in.Latest:
		r.choice(name, false, "It tells the bounds at the newest commit, and this read is of another state")
		return nil
	}
	var leaves []*leaf
	columns := []string{}
	for _, n := range nodes {
		for _, l := range leavesOf(n) {
			if l.source.index == string(metatable.ColumnStatKind) && l.nulls != isNull {
				leaves = append(leaves, l)
				if !slices.Contains(columns, l.source.column) {
					columns = append(columns, l.source.column)
				}
			}
		}
	}
	if len(leaves) == 0 {
		r.choice(name, false, "It has no column of the condition that bounds can decide")
		return nil
	}
	var paths []string
	files := []metatable.DataFile{}
	for _, v := range p.Partitions {
		if v.Kept {
			paths = append(paths, v.Partition)
			files = append(files, metatable.DataFile{Partition: v.Partition})
		}
	}
	got, err := r.m.PartitionStatistics(ctx, name, append([]string{keyMeta}, columns...), paths, nil)
	if err != nil {
		return &Failure{Index: name, Err: err}
	}
	judgedOf := map[*leaf][]judged{}
	for _, l := range leaves {
		stats := map[metatable.DataFile]*metatable.ColumnStats{}
		for _, f := range files {
			c, key := got[l.source.column][f.Partition], got[keyMeta][f.Partition]
			// Bounds of some files only would say nothing of the others; the key's are of all.
			if c != nil && key != nil && c.ValueCount != nil && key.ValueCount != nil && *c.ValueCount == *key.ValueCount {
				stats[f] = c
			}
		}
		judgedOf[l] = judge(l, stats, nil, files, &in.Table.Rules.Skipping, nil, nil)
	}
	boot := map[string]bool{}
	for i := range in.Slices {
		boot[in.Slices[i].Partition] = boot[in.Slices[i].Partition] || in.Slices[i].Source != ""
	}
	out := map[string]string{}
	for at, f := range files {
		if boot[f.Partition] {
			continue
		}
		for k, n := range nodes {
			if holds(n, func(l *leaf) bool { j := judgedOf[l]; return j == nil || j[at].may }) {
				continue
			}
			var told []string
			for _, l := range leavesOf(n) {
				if j := judgedOf[l]; j != nil {
					told = append(told, j[at].known.sentence(l.name()))
				}
			}
			if len(told) == 0 {
				continue // the condition itself is never true
			}
			out[f.Partition] = fmt.Sprintf("Left out: the partition can't meet %s: %s.", r.data[k], shortSentences(slices.Compact(told)))
			break
		}
	}
	for i := range p.Partitions {
		v := &p.Partitions[i]
		if why, ok := out[v.Partition]; ok {
			v.Kept, v.By, v.Why = false, name, why
		} else if v.Kept {
			v.Why = "Kept: its statistics do not rule it out."
		}
	}
	todo := r.todo[:0]
	for _, i := range r.todo {
		if why, ok := out[in.Slices[i].Partition]; ok {
			r.slices[i] = verdict{by: name, why: why}
		} else {
			todo = append(todo, i)
		}
	}
	r.todo = todo
	r.choice(name, true, "It rules out %d of %d partitions", len(out), len(files))
	return nil
}

// pins are what a condition binds: record keys, found out by an index or given.
type pins struct {
	// index names the index that was looked up, "" when none was.
	index string
	// what was looked up, for a sentence.
	what string
	// groups are the file groups that the record index names.
	groups map[string]bool
	// keys are nil where only a secondary value is bound.
	keys *keys
}

// locate looks keys and secondary values up. first names the index that Hudi would take.
func (r *run) locate(ctx context.Context, record, secondary bool) (p *pins, first string, err error) {
	in := r.in
	const name = string(metatable.RecordIndex)
	k := r.keys
	if k != nil {
		p = &pins{keys: k}
	}
	ready := r.ready(name)
	usable := ready && record && in.Snapshot && in.Latest
	switch {
	case !ready:
		r.choice(name, false, "The table has none that readers may use")
	case !record:
		r.choice(name, false, "%s does not read it", in.Table.Rules.Name())
	case !in.Snapshot || !in.Latest:
		r.choice(name, false, "It tells where keys are at the newest commit, and this read is of another state")
	case k == nil:
		r.choice(name, false, "The condition does not bind the record key (%s) to constants", strings.Join(append(in.Table.Config.RecordKeyFields(), keyMeta), ", "))
	default:
		groups, found, why, err := r.places(ctx, k.texts)
		if err != nil {
			return nil, "", err
		}
		if why != "" {
			r.choice(name, false, "%s", why)
			break
		}
		p.index, p.what, p.groups = name, k.text, groups
		first = name
		r.choice(name, true, "It has %s, in %s. %s", count(found, "key"), count(len(groups), "file group"), r.trust())
	}
	r.tellBucket()
	if p != nil && p.index != "" {
		return p, first, nil
	}
	for _, n := range in.Table.Config.MetadataPartitions() {
		if metatable.KindOf(n) != metatable.SecondaryIndex || !r.ready(n) {
			continue
		}
		d, err := r.m.Definition(ctx, n)
		if err != nil {
			return nil, "", &Failure{Index: n, Err: err}
		}
		var values []string
		text := ""
		if d != nil && len(d.Fields) == 1 {
			for _, b := range r.conjuncts {
				if v, ok := pinned(in.Rows, b, d.Fields[0]); ok && len(v) <= maxKeys {
					values, text = v, b.String()
					break
				}
			}
		}
		switch {
		case !secondary:
			r.choice(n, false, "%s does not read it", in.Table.Rules.Name())
			continue
		case d == nil:
			r.choice(n, false, "There is no definition of it")
			continue
		case values == nil:
			r.choice(n, false, "The condition does not bind %s to constants", strings.Join(d.Fields, ", "))
			continue
		case !usable:
			r.choice(n, false, "The places of its keys are looked up in the record index, which can't be used here")
			continue
		}
		byValue, err := r.m.RecordKeys(ctx, n, values, nil)
		if err != nil {
			return nil, "", &Failure{Index: n, Err: err}
		}
		var texts []string
		for _, list := range byValue {
			texts = append(texts, list...)
		}
		if len(texts) > 100*maxKeys {
			r.choice(n, false, "It has %d keys of these values, which are too many to look up", len(texts))
			continue
		}
		groups, found, why, err := r.places(ctx, texts)
		if err != nil {
			return nil, "", err
		}
		if why != "" {
			r.choice(n, false, "%s", why)
			continue
		}
		r.choice(n, true, "It has %s of such values; the record index has %d of them, in %s. %s", count(len(texts), "key"), found, count(len(groups), "file group"), r.trust())
		return &pins{index: n, what: text, groups: groups, keys: k}, string(metatable.SecondaryIndex), nil
	}
	return p, first, nil
}

// trust says what it means that a key may stand twice.
func (r *run) trust() string {
	if r.in.Options.UniqueKeys {
		return UniqueKeysOption + " says that a key stands in one file group only"
	}
	return "A key that was inserted twice stands in two file groups, and the index names one: others are left out only where another statistic agrees, or with " + UniqueKeysOption + "=true"
}

// count says how many there are of something.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// places looks record keys up: the file groups that have them, and how many were found.
func (r *run) places(ctx context.Context, texts []string) (groups map[string]bool, found int, why string, err error) {
	const name = string(metatable.RecordIndex)
	partitioned, err := r.m.PartitionedRecordIndex(ctx)
	if err != nil {
		return nil, 0, "", &Failure{Index: name, Err: err}
	}
	var paths []string
	for _, i := range r.todo {
		if p := r.in.Slices[i].Partition; !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	if partitioned && len(paths) > maxIndexedPartitions {
		return nil, 0, fmt.Sprintf("It has its own file groups for every partition, and %d are left; as in Hudi it is asked for at most %d", len(paths), maxIndexedPartitions), nil
	}
	got, err := r.m.Locations(ctx, texts, paths, nil)
	if err != nil {
		return nil, 0, "", &Failure{Index: name, Err: err}
	}
	groups = map[string]bool{}
	for _, list := range got {
		for _, l := range list {
			groups[l.FileID()] = true
		}
	}
	return groups, len(got), "", nil
}

// buckets prunes by the buckets of keys.
func (r *run) buckets() {
	in := r.in
	if len(r.todo) == 0 {
		return
	}
	choose := func(used bool, why string, args ...any) {
		r.bucket = &api.IndexChoice{Name: bucketIndex, Used: used, Why: sentence(fmt.Sprintf(why, args...))}
	}
	most := -1
	for _, i := range r.todo {
		b, ok := bucketOf(in.Slices[i].FileID)
		if !ok {
			return // the table has no simple bucket index
		}
		most = max(most, b)
	}
	n := in.Options.Buckets
	if n == 0 {
		fmt.Sscan(in.Table.Config.Props.Get(optBuckets), &n)
	}
	if !in.Table.Rules.Skipping.Buckets {
		choose(false, "%s does not use it for reading", in.Table.Rules.Name())
		return
	}
	if n <= 0 {
		choose(false, "File ids tell buckets up to %d, but the table does not say how many there are: give %s to use them", most, optBuckets)
		return
	}
	if most >= n {
		choose(false, "%s=%d can't be: there is a bucket %d", optBuckets, n, most)
		return
	}
	fields := in.Options.HashFields
	if fields == nil {
		fields = in.Table.Config.RecordKeyFields()
	}
	combos := [][]string{nil}
	var texts []string
	for _, f := range fields {
		var values []string
		for _, b := range r.conjuncts {
			if v, ok := pinned(in.Rows, b, f); ok {
				values = v
				texts = append(texts, b.String())
				break
			}
		}
		if values == nil || len(combos)*len(values) > maxKeys {
			choose(false, "The condition does not bind %s to constants", strings.Join(fields, ", "))
			return
		}
		var next [][]string
		for _, c := range combos {
			for _, v := range values {
				next = append(next, append(slices.Clone(c), v))
			}
		}
		combos = next
	}
	if len(fields) == 0 {
		choose(false, "The columns that are hashed are not known: give %s", optHashKeys)
		return
	}
	want := map[int]bool{}
	for _, c := range combos {
		want[bucket(c, n)] = true
		if kind := in.Table.Config.KeyGeneratorType(); len(in.Table.Config.RecordKeyFields()) == 1 && kind != "SIMPLE" && kind != "TIMESTAMP" {
			// What is hashed is the text of the key, which these generators write as f:v or as v.
			want[bucket([]string{fields[0] + ":" + c[0]}, n)] = true
		}
	}
	list := []string{}
	for b := range want {
		list = append(list, fmt.Sprint(b))
	}
	slices.Sort(list)
	out := 0
	todo := []int{}
	for _, i := range r.todo {
		b, _ := bucketOf(in.Slices[i].FileID)
		if want[b] {
			todo = append(todo, i)
			continue
		}
		out++
		r.slices[i] = verdict{by: bucketIndex, why: fmt.Sprintf("Left out: it is bucket %d, and rows that meet %s are in bucket %s of %d.", b, strings.Join(texts, " AND "), shortList(list), n)}
	}
	r.todo = todo
	choose(true, "Rows that meet %s are in bucket %s of %d, which rules out %d slices", strings.Join(texts, " AND "), shortList(list), n, out)
}

// statsChoices says whether expression indexes and column_stats are of use.
func (r *run) statsChoices(s *sources, leaves []*leaf) {
	by := map[string][]string{}
	for _, l := range leaves {
		if !slices.Contains(by[l.source.index], l.name()) {
			by[l.source.index] = append(by[l.source.index], l.name())
		}
	}
	rules := r.in.Table.Rules
	for _, n := range r.in.Table.Config.MetadataPartitions() {
		if metatable.KindOf(n) != metatable.ExpressionIdx || !r.ready(n) {
			continue
		}
		switch {
		case !rules.Skipping.Expression:
			r.choice(n, false, "%s does not read it", rules.Name())
		case r.in.ByNumber:
			r.choice(n, false, "Columns are matched with those of files by number, and the index has them by name")
		case by[n] == nil:
			r.choice(n, false, "The condition compares no %s with a constant in a way that it can decide", s.describe(n))
		default:
			r.choice(n, true, "It has statistics of %s", shortList(by[n]))
		}
	}
	const name = string(metatable.ColumnStatKind)
	switch {
	case !r.ready(name):
		r.choice(name, false, "The table has none that readers may use")
	case !rules.Skipping.ColumnStats:
		r.choice(name, false, "%s does not read it", rules.Name())
	case r.in.ByNumber:
		r.choice(name, false, "Columns are matched with those of files by number, and the index has them by name")
	case by[name] == nil:
		r.choice(name, false, "The condition has no part over an indexed column that bounds can decide")
	default:
		r.choice(name, true, "It has statistics of %s", shortList(by[name]))
	}
}

// describe is the expression of an index, for a sentence.
func (s *sources) describe(index string) string {
	for _, x := range s.exprs {
		if x.index == index {
			f := x.def.Options["expr"]
			if f == "" {
				f = x.def.Function
			}
			args := append([]string{}, x.def.Fields...)
			for _, o := range []string{"format", "days", "pos", "len", "pattern", "replacement"} {
				if v, ok := x.def.Options[o]; ok {
					args = append(args, "'"+v+"'")
				}
			}
			return f + "(" + strings.Join(args, ", ") + ")"
		}
	}
	return "indexed expression"
}

// byKeys decides the slices that statistics have left by the places of keys and by bloom filters.
func (r *run) byKeys(ctx context.Context, p *pins, asked bool, first string, nodes []node, known map[*leaf][]judged, files []metatable.DataFile, of map[int][]int) error {
	in := r.in
	var filters map[metatable.DataFile]bool
	const bloom = string(metatable.BloomFilters)
	if p.keys != nil && r.ready(bloom) {
		var ask []metatable.DataFile
		for _, i := range r.todo {
			if v := &r.slices[i]; v.kept && in.Slices[i].Base != "" && !(p.groups[in.Slices[i].FileID] || in.Options.UniqueKeys && p.index != "") {
				ask = append(ask, metatable.DataFile{Partition: in.Slices[i].Partition, Name: bare(in.Slices[i].Base)})
			}
		}
		switch {
		case asked:
			r.choice(bloom, false, "%s reads it when it writes, not in queries", in.Table.Rules.Name())
		case len(ask) == 0:
			r.choice(bloom, false, "No base file is left to ask about")
		case len(ask) > maxFilters:
			r.choice(bloom, false, "%d base files are left, and their filters would take more reading than is worth it (at most %d are read)", len(ask), maxFilters)
		default:
			var err error
			if filters, err = r.m.MayContain(ctx, bloom, ask, p.keys.texts, nil); err != nil {
				return &Failure{Index: bloom, Err: err}
			}
			no := 0
			for _, may := range filters {
				if !may {
					no++
				}
			}
			r.choice(bloom, true, "Of %d base files that were left, %d have filters, and %d surely have none of the keys", len(ask), len(filters), no)
		}
	}
	for _, i := range r.todo {
		s, v := &in.Slices[i], &r.slices[i]
		there := p.index == "" || p.groups[s.FileID]
		if p.index != "" && asked && first != "" {
			v.release = there
			v.releaseBy = first
		}
		if p.index != "" && there {
			if v.kept {
				v.by, v.why = p.index, fmt.Sprintf("Kept: %s names this file group for %s.", p.index, p.what)
			}
			continue
		}
		elsewhere := fmt.Sprintf("%s names other file groups for %s", p.index, p.what)
		if p.index != "" && len(p.groups) == 0 {
			elsewhere = fmt.Sprintf("%s has no place for %s", p.index, p.what)
		}
		switch {
		case !v.kept && p.index != "":
			v.by, v.why = p.index, "Left out: "+elsewhere+", and "+v.by+" agrees: "+strings.TrimPrefix(v.why, "Left out: ")
		case !v.kept:
		case p.index != "" && in.Options.UniqueKeys:
			v.kept, v.by, v.why = false, p.index, "Left out: "+elsewhere+"."
		case p.keys != nil && r.hasNoKey(s, p.keys, nodes, known, of[i], filters):
			v.kept, v.by = false, bloom
			v.why = fmt.Sprintf("Left out: the bloom filter of its base file has no key of %s.", p.keys.text)
			if p.index != "" {
				v.by, v.why = p.index, "Left out: "+elsewhere+", and the bloom filter of its base file agrees."
			}
		case p.index != "":
			v.why = "Kept: " + elsewhere + ", but no other statistic rules out that a key stands here, too."
		}
	}
	return nil
}

// hasNoKey reports whether no file of a slice has a version of the keys: its base file by the bloom filter or
// by bounds, its log files by bounds.
func (r *run) hasNoKey(s *groupreader.Slice, k *keys, nodes []node, known map[*leaf][]judged, own []int, filters map[metatable.DataFile]bool) bool {
	if r.whole(s) != "" {
		return false
	}
	for at, f := range own {
		base := at == 0 && s.Base != ""
		if base {
			may, ok := filters[metatable.DataFile{Partition: s.Partition, Name: bare(s.Base)}]
			if ok && !may {
				continue
			}
		}
		out := false
		for n, b := range r.data {
			if slices.Contains(k.conjuncts, b) && !holds(nodes[n], func(l *leaf) bool { return known[l][f].may }) {
				out = true
			}
		}
		if !out {
			return false
		}
	}
	return true
}
