package skipping

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/groupreader"
	"hudiscope/core/metatable"
	"hudiscope/core/predicate"
	"hudiscope/core/schema"
	"hudiscope/core/table"
)

// Input is a read whose slices are to be pruned.
type Input struct {
	Table *table.Table
	// Where is the condition, bound to Rows, the type of the rows.
	Where *predicate.Bound
	Rows  *schema.Type
	// Slices are the candidates; Sizes are their files' sizes in bytes by path, as far as they are known.
	Slices []groupreader.Slice
	Sizes  map[string]int64
	// Refused says in a sentence why the indexes can't serve this kind of read (incremental reads), "" when
	// they can. Changes tells that the rows are changes, whose columns are not the table's.
	Refused string
	Changes bool
	// Snapshot tells that the read is of type snapshot and shows merged rows, Latest that it sees the newest
	// commit.
	Snapshot, Latest bool
	// ByNumber tells that columns are matched with those of files by number, through a schema history.
	ByNumber bool
	// Foreign tells that rows show other values of partition columns than a snapshot does, as a release has it.
	Foreign bool
	Options Options
	// Open opens the metadata table.
	Open func(ctx context.Context) (*metatable.Table, error)
}

// Result is what a condition leaves of a read.
type Result struct {
	// Keep tells for every slice whether it is read.
	Keep []bool
	// Pruning explains it.
	Pruning *api.Pruning
	// Findings are what can't be used, and what a release would pass over.
	Findings []api.Finding
}

// names of the ways that have no metadata partition of their own.
const (
	bucketIndex = "bucket index"
	// maxFilters bounds the bloom filters that are read for one condition; each may take 400 KB.
	maxFilters = 64
	// maxStats bounds the statistics that are told of one slice, maxIndexedPartitions is Hudi's bound for the
	// look-ups in a partitioned record index.
	maxStats             = 40
	maxIndexedPartitions = 10
)

// verdict is what was found out about a slice.
type verdict struct {
	kept    bool
	by, why string
	stats   []api.ColumnStat
	// release tells whether the release reads it; releaseWhy names the index by which it does not.
	release   bool
	releaseBy string
}

// run prunes one read.
type run struct {
	in     *Input
	res    *Result
	m      *metatable.Table
	slices []verdict
	// todo are the slices that are candidates of data skipping.
	todo []int
	// conjuncts are those of the condition; data are the ones that are not over partition columns only.
	conjuncts, data []*predicate.Bound
	keys            *keys
	// bucket is the choice of the bucket index, until it is told.
	bucket *api.IndexChoice
}

// Prune decides the slices of a read. An index that can't be read is an error in strict mode (a *Failure), and
// a finding else: then the indexes leave nothing out.
func Prune(ctx context.Context, in Input) (*Result, error) {
	o := in.Options
	r := &run{in: &in, slices: make([]verdict, len(in.Slices))}
	mode := "fallback"
	if o.Strict {
		mode = "strict"
	}
	p := &api.Pruning{Condition: in.Where.String(), Skipping: o.Skipping && o.Metadata && in.Refused == "" && !in.Changes, Mode: mode, Indexes: []api.IndexChoice{}, Partitions: []api.PartitionVerdict{}, Files: []api.FileVerdict{}}
	r.res = &Result{Pruning: p}
	for i := range r.slices {
		r.slices[i] = verdict{kept: true, release: true}
	}
	var parts []*predicate.Bound
	values := newPartitions(in.Table, in.Rows)
	if in.Foreign {
		values.blind[""] = in.Table.Rules.Name() + " does not show the values of the path in this read."
	}
	r.conjuncts = in.Where.Conjuncts()
	for _, b := range r.conjuncts {
		if !in.Changes && values.over(b) {
			parts = append(parts, b)
		} else {
			r.data = append(r.data, b)
		}
	}
	p.PartitionPart, p.DataPart = join(parts), join(r.data)
	r.partitions(values, parts)
	for i := range r.slices {
		if r.slices[i].kept {
			r.todo = append(r.todo, i)
		}
	}
	why := ""
	switch {
	case in.Changes:
		why = "The condition is on changes, not on rows of files: every file is read."
	case in.Refused != "":
		why = in.Refused
	case len(r.data) == 0:
		why = "The whole condition is decided by partition values."
	case !o.Metadata:
		why = "hoodie.metadata.enable is false: the indexes are part of the metadata table."
		if !in.Table.Rules.Skipping.Metadata {
			why = in.Table.Rules.Name() + " reads no metadata table unless hoodie.metadata.enable is set."
		}
	case !o.Skipping && o.Set:
		why = "hoodie.enable.data.skipping is false."
	case !o.Skipping:
		why = fmt.Sprintf("%s leaves files out only with hoodie.enable.data.skipping=true.", in.Table.Rules.Name())
	}
	if why == "" {
		r.keys = keysOf(in.Table.Config, in.Rows, r.conjuncts)
		r.buckets()
		before := slices.Clone(r.slices)
		partitions := slices.Clone(p.Partitions)
		err := r.indexes(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var absent *metatable.Absent
		switch {
		case errors.As(err, &absent) && absent.Partition == "":
			why = absent.Why
			if !errors.As(err, new(*Failure)) && !slices.Contains(in.Table.Config.MetadataPartitions(), string(metatable.Files)) {
				break
			}
			fallthrough
		case err != nil:
			failure := &Failure{Index: "metadata table", Err: err}
			if !errors.As(err, &failure) {
				err = failure
			}
			if o.Strict {
				return nil, err
			}
			r.slices, p.Partitions = before, partitions
			for i := range p.Indexes {
				if x := &p.Indexes[i]; x.Used && x.Name != bucketIndex {
					x.Used, x.Why = false, "It could be read, but nothing is left out by it, because the index "+failure.Index+" can't be read."
				}
			}
			why = "Nothing is left out by the indexes: " + failure.Error()
			r.res.Findings = append(r.res.Findings, finding(failure))
		}
	}
	r.tellBucket()
	if why != "" {
		p.Indexes = append(p.Indexes, api.IndexChoice{Name: "metadata table", Why: sentence(why)})
		for _, i := range r.todo {
			if r.slices[i].why == "" {
				r.slices[i].why = "Kept: " + sentence(why)
			}
		}
	}
	r.finish()
	return r.res, nil
}

// finding says that an index could not be read.
func finding(f *Failure) api.Finding {
	return api.Finding{Level: "warning", Title: "An index can't be read: no file is left out by it", Detail: sentence(f.Error()), Offset: -1}
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

func join(list []*predicate.Bound) string {
	var b *predicate.Bound
	for _, x := range list {
		b = predicate.Both(b, x)
	}
	if b == nil {
		return ""
	}
	return b.String()
}

// partitions prunes by the values of partition columns.
func (r *run) partitions(values *partitions, parts []*predicate.Bound) {
	// A log record of a partial update may lack a partition column: where no base row fills it in, the row
	// shows null.
	type reading struct {
		path  string
		nulls bool
	}
	verdicts := map[reading]api.PartitionVerdict{}
	told := map[string]int{}
	var part *predicate.Bound
	for _, b := range parts {
		part = predicate.Both(part, b)
	}
	var eval *predicate.Evaluator
	if part != nil {
		eval = part.Evaluator()
		r.res.Pruning.PartitionPrefix = values.prefix(parts)
	}
	for i := range r.in.Slices {
		path := r.in.Slices[i].Partition
		read := reading{path, !values.exact && len(r.in.Slices[i].Logs) > 0}
		v, ok := verdicts[read]
		if !ok {
			v = api.PartitionVerdict{Partition: path, Kept: true, Why: "Kept: the condition has no part over partition columns only."}
			if part != nil {
				v.By = ByValues
				if v.Kept, v.Why = values.verdict(path, read.nulls, part, eval); strings.HasPrefix(v.Why, "Kept: ") && !strings.Contains(v.Why, "its rows have") {
					v.By = ""
				}
			}
			verdicts[read] = v
			if at, again := told[path]; !again {
				told[path] = len(r.res.Pruning.Partitions)
				r.res.Pruning.Partitions = append(r.res.Pruning.Partitions, v)
			} else if v.Kept && !r.res.Pruning.Partitions[at].Kept {
				r.res.Pruning.Partitions[at] = v
			}
		}
		if !v.Kept {
			r.slices[i] = verdict{by: ByValues, why: v.Why}
		}
	}
}

// ready reports whether readers may use a partition of the metadata table.
func (r *run) ready(name string) bool {
	return r.m.Partition(name).State == metatable.Ready
}

// tellBucket lists the choice of the bucket index, once.
func (r *run) tellBucket() {
	if r.bucket != nil {
		r.res.Pruning.Indexes = append(r.res.Pruning.Indexes, *r.bucket)
		r.bucket = nil
	}
}

func (r *run) choice(name string, used bool, why string, args ...any) {
	r.res.Pruning.Indexes = append(r.res.Pruning.Indexes, api.IndexChoice{Name: name, Used: used, Why: sentence(fmt.Sprintf(why, args...))})
}

// indexes prunes by the indexes of the metadata table.
func (r *run) indexes(ctx context.Context) error {
	in := r.in
	rules := &in.Table.Rules.Skipping
	asked := rules.ByFile // a release was asked for
	var err error
	if r.m, err = in.Open(ctx); err != nil {
		return err
	}
	if ok, why := r.m.Trusted(); !ok {
		r.choice("metadata table", false, "%s", why)
		r.keepAll(why)
		return nil
	}
	if len(r.todo) == 0 {
		r.choice("metadata table", false, "No slice is left to ask about.")
		return nil
	}
	sources, err := r.sources(ctx)
	if err != nil {
		return err
	}
	t := &translator{where: in.Where, find: sources.find}
	var nodes []node
	for _, b := range r.data {
		nodes = append(nodes, t.node(b.Root, false))
	}
	if err := r.partitionStats(ctx, nodes); err != nil {
		return err
	}
	pins, first, err := r.locate(ctx, rules.RecordIndex, rules.Secondary)
	if err != nil {
		return err
	}
	files, of := r.files()
	known, err := statistics(ctx, r.m, t.leaves, files, rules, sources.stats)
	if err != nil {
		return err
	}
	r.statsChoices(sources, t.leaves)
	for _, i := range r.todo {
		r.byStats(i, nodes, known, files, of[i], asked && first == "")
	}
	if pins != nil {
		if err := r.byKeys(ctx, pins, asked, first, nodes, known, files, of); err != nil {
			return err
		}
	}
	r.releases(asked)
	return nil
}

// keepAll says why the slices that are candidates are kept.
func (r *run) keepAll(why string) {
	for _, i := range r.todo {
		if r.slices[i].why == "" {
			r.slices[i].why = "Kept: " + sentence(why)
		}
	}
}

// files are the files of the candidates as indexes name them, and for each slice which of them are its own.
func (r *run) files() (files []metatable.DataFile, of map[int][]int) {
	of = map[int][]int{}
	for _, i := range r.todo {
		s := &r.in.Slices[i]
		add := func(p string) {
			of[i] = append(of[i], len(files))
			files = append(files, metatable.DataFile{Partition: s.Partition, Name: bare(p)})
		}
		if s.Base != "" {
			add(s.Base)
		}
		for _, l := range s.Logs {
			add(l)
		}
	}
	return files, of
}

// whole reports whether the statistics of all files of a slice are what its rows are made of, else why not.
func (r *run) whole(s *groupreader.Slice) string {
	switch {
	case s.Source != "":
		return "its columns lie in the file that it was bootstrapped from, of which there are no statistics"
	case len(s.Logs) > 0 && r.in.Table.Config.Version < 8:
		return "it has log files, whose statistics are not complete in tables below version 8"
	}
	return ""
}

// byStats decides a slice by bounds. A part of the condition over one column may hold in the slice when it may
// in one of its files: the fields of a merged row may come from different files.
func (r *run) byStats(i int, nodes []node, known map[*leaf][]judged, files []metatable.DataFile, own []int, asked bool) {
	s, v := &r.in.Slices[i], &r.slices[i]
	if asked {
		v.release = false
		for _, f := range own {
			all := true
			for _, n := range nodes {
				all = all && holds(n, func(l *leaf) bool { return known[l][f].release })
			}
			v.release = v.release || all
		}
		if !v.release {
			v.releaseBy = string(metatable.ColumnStatKind)
		}
	}
	var all []api.ColumnStat
	for _, n := range nodes {
		for _, l := range leavesOf(n) {
			for _, f := range own {
				if len(all) < maxStats {
					all = append(all, columnStat(l, files[f], &known[l][f]))
				}
			}
		}
	}
	if why := r.whole(s); why != "" {
		v.why, v.stats = "Kept: "+why+".", all
		return
	}
	may := func(l *leaf) bool {
		if l.nulls == isNull && len(s.Logs) > 0 {
			// A field that no log file has set is null, too.
			return true
		}
		for _, f := range own {
			if known[l][f].may {
				return true
			}
		}
		return false
	}
	for k, n := range nodes {
		if holds(n, may) {
			continue
		}
		v.kept = false
		var told []string
		by := ""
		for _, l := range leavesOf(n) {
			if by == "" {
				by = l.source.index
			}
			for _, f := range own {
				if len(v.stats) < maxStats {
					v.stats = append(v.stats, columnStat(l, files[f], &known[l][f]))
				}
				told = append(told, known[l][f].known.sentence(l.name()))
			}
		}
		v.by = by
		told = slices.Compact(told)
		switch {
		case by == "":
			v.by, v.why = "the condition", fmt.Sprintf("Left out: no row can meet %s.", r.data[k])
		case len(own) > 1:
			v.why = fmt.Sprintf("Left out: no file of the slice can meet %s: %s.", r.data[k], shortSentences(told))
		default:
			v.why = fmt.Sprintf("Left out: it can't meet %s: %s.", r.data[k], shortSentences(told))
		}
		return
	}
	v.stats = all
	var unknown, doubtful []string
	for _, n := range nodes {
		for _, l := range leavesOf(n) {
			for _, f := range own {
				if d := known[l][f].known.doubtful; d != "" && !known[l][f].release && len(doubtful) == 0 {
					doubtful = []string{l.name(), d}
				}
				if known[l][f].known.stats == nil && known[l][f].may && !l.source.bloom && !slices.Contains(unknown, l.name()) {
					unknown = append(unknown, l.name())
				}
			}
		}
	}
	if len(unknown) > 0 {
		v.why = fmt.Sprintf("Kept: the index has no statistics of %s of a file of it.", shortList(unknown))
		return
	}
	if len(doubtful) > 0 {
		v.why = fmt.Sprintf("Kept: the bounds of %s prove nothing: %s.", doubtful[0], doubtful[1])
		return
	}
	if v.why = "Kept: by its statistics it may have rows that meet the condition."; len(all) == 0 {
		v.why = "Kept: no index has statistics that can decide the condition."
	}
}

func shortSentences(list []string) string {
	if len(list) > 3 {
		list = append(list[:3:3], "…")
	}
	return strings.Join(list, "; ")
}

// name is what the statistics of a leaf are of.
func (l *leaf) name() string {
	if l.source.expr != "" {
		return l.source.expr
	}
	return l.source.column
}

// finish writes the verdicts.
func (r *run) finish() {
	p := r.res.Pruning
	r.res.Keep = make([]bool, len(r.slices))
	var bytes, out int64
	skipped := 0
	for i := range r.slices {
		s, v := &r.in.Slices[i], &r.slices[i]
		r.res.Keep[i] = v.kept
		f := api.FileVerdict{Partition: s.Partition, FileID: s.FileID, Base: s.Base, Kept: v.kept, By: v.by, Stats: v.stats, Why: v.why}
		for _, name := range append([]string{s.Base}, s.Logs...) {
			f.Bytes += max(r.in.Sizes[name], 0)
		}
		bytes += f.Bytes
		if !v.kept {
			out += f.Bytes
			skipped++
		}
		if f.Why == "" {
			f.Why = "Kept: nothing is known that rules it out."
		}
		p.Files = append(p.Files, f)
	}
	if len(r.slices) > 0 {
		p.SkippedFiles = float64(skipped) / float64(len(r.slices))
	}
	if bytes > 0 {
		p.SkippedBytes = float64(out) / float64(bytes)
	}
}

// releases says which slices the release that was asked for would pass over although they may have matching rows.
func (r *run) releases(asked bool) {
	if !asked {
		return
	}
	by := map[string][]string{}
	for _, i := range r.todo {
		if v := &r.slices[i]; v.kept && !v.release {
			by[v.releaseBy] = append(by[v.releaseBy], r.in.Slices[i].FileID)
			v.kept, v.by = false, v.releaseBy
			v.why = fmt.Sprintf("Left out: %s passes over it by %s, although a matching row in it can't be ruled out.", r.in.Table.Rules.Name(), v.releaseBy)
		}
	}
	for _, index := range []string{string(metatable.RecordIndex), string(metatable.SecondaryIndex), string(metatable.ColumnStatKind)} {
		list := by[index]
		if len(list) == 0 {
			continue
		}
		why := "It takes a column without statistics for null and the zeros that stand for bounds with a NaN for values, tests a prefix as an equality, or leaves a slice out when none of its files alone meets the condition."
		if index != string(metatable.ColumnStatKind) {
			why = "It takes the place that the record index has of a key for its only one; a key that was inserted twice stands in two file groups."
		}
		r.res.Findings = append(r.res.Findings, api.Finding{Level: "warning", Title: r.in.Table.Rules.Name() + " may pass over rows here", Offset: -1,
			Detail: fmt.Sprintf("By %s it does not read %d of the slices (%s), and as that release was asked for, they are left out here too, although a matching row in them can't be ruled out. %s Without a release asked for they are read.", index, len(list), shortList(list), why)})
	}
}
