package skipping

import (
	"context"
	"path"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/column"
	"hudiscope/core/metatable"
	"hudiscope/core/predicate"
	"hudiscope/core/release"
)

// judged is what the statistics of one file say of one leaf.
type judged struct {
	known known
	// may is false only when no value of the file can meet the leaf; release is the same as the release that
	// was asked for decides it.
	may, release bool
}

// judge decides leaves for files, in the order of files, by statistics that have been looked up. without are files
// that have no rows: log files of deletes.
func judge(l *leaf, stats map[metatable.DataFile]*metatable.ColumnStats, blooms map[metatable.DataFile]bool, files []metatable.DataFile, rules *release.Skipping, indexed, without map[metatable.DataFile]bool) []judged {
	out := make([]judged, len(files))
	if l.source.bloom {
		for i, f := range files {
			may, ok := blooms[f]
			out[i].may = (may || !ok) && !without[f]
			out[i].release = out[i].may
		}
		return out
	}
	row := rowType(l.source.typ)
	v := column.New(row.Fields[0].Type, 2*len(files))
	for i, f := range files {
		out[i].known = l.source.append(v, stats[f], strings.HasPrefix(f.Name, "."))
		out[i].may = true
	}
	batch := &column.Batch{Type: row, Len: v.Len, Columns: []*column.Vector{v}}
	run := func(b *predicate.Bound) []predicate.Truth {
		if b == nil {
			return nil
		}
		return append([]predicate.Truth(nil), b.Evaluator().Eval(batch, 0, batch.Len)...)
	}
	type truths struct{ low, high []predicate.Truth }
	var pairs []truths
	for _, p := range l.pairs {
		pairs = append(pairs, truths{run(p.low), run(p.high)})
	}
	var only [][]predicate.Truth
	for _, b := range l.only {
		only = append(only, run(b))
	}
	for i := range out {
		o := &out[i]
		k := &o.known
		switch {
		case k.stats == nil:
			o.may = !without[files[i]]
		case l.nulls == isNull:
			o.may = k.nulls != 0
		case k.empty():
			o.may = false
		case l.nulls == notNull, !k.bounds:
		case l.within > 0 && !between(v.Ints[2*i], l.within) || l.within > 0 && !between(v.Ints[2*i+1], l.within):
		case l.prefix != "":
			o.may = l.prefixMay(v.BytesAt(2*i), v.BytesAt(2*i+1))
		default:
			if len(pairs) > 0 {
				o.may = false
			}
			for _, p := range pairs {
				o.may = o.may || (p.low == nil || p.low[2*i] != predicate.False) && (p.high == nil || p.high[2*i+1] != predicate.False)
			}
			for _, t := range only {
				if t != nil && t[2*i] == predicate.True && t[2*i+1] == predicate.True {
					o.may = false
				}
			}
		}
		o.release = l.asReleased(o, rules, indexed[files[i]], v, i)
		o.may = o.may || k.doubtful != "" && l.nulls == noTest && !k.empty()
	}
	return out
}

func between(x, limit int64) bool { return x > -limit && x < limit }

// prefixMay holds LIKE 'prefix%', or its negation, against bounds.
func (l *leaf) prefixMay(low, high []byte) bool {
	if l.negated {
		return !strings.HasPrefix(string(low), l.prefix) || !strings.HasPrefix(string(high), l.prefix)
	}
	return string(high) >= l.prefix && string(low) < follower(l.prefix)
}

// asReleased is what a release decides where it is known to decide otherwise.
func (l *leaf) asReleased(o *judged, rules *release.Skipping, indexed bool, v *column.Vector, i int) bool {
	k := &o.known
	switch {
	case k.stats == nil:
		// Of a file that it knows, the column counts as null.
		if rules.AbsentIsNull && indexed {
			return l.nulls == isNull
		}
	case l.nulls != isNull && rules.AbsentIsNull && k.allNull():
		return false
	case l.nulls == notNull && rules.NotNullLoses && k.nulls > 0:
		return false
	case l.nullSafe && rules.PrefixLoses:
		return false
	case l.prefix != "" && !l.negated && rules.PrefixLoses && k.bounds:
		return string(v.BytesAt(2*i)) <= l.prefix && string(v.BytesAt(2*i+1)) >= l.prefix
	}
	return o.may
}

// holds evaluates a translated condition; may says of each leaf whether it may hold.
func holds(n node, may func(*leaf) bool) bool {
	switch n := n.(type) {
	case both:
		return holds(n.left, may) && holds(n.right, may)
	case either:
		return holds(n.left, may) || holds(n.right, may)
	case never:
		return false
	case *leaf:
		return may(n)
	}
	return true
}

// leavesOf lists the leaves of a translated condition.
func leavesOf(n node) []*leaf {
	switch n := n.(type) {
	case both:
		return append(leavesOf(n.left), leavesOf(n.right)...)
	case either:
		return append(leavesOf(n.left), leavesOf(n.right)...)
	case *leaf:
		return []*leaf{n}
	}
	return nil
}

// statistics looks up what leaves need. counted tells that column_stats can be asked how many rows a file has.
func statistics(ctx context.Context, m *metatable.Table, leaves []*leaf, files []metatable.DataFile, rules *release.Skipping, counted bool) (map[*leaf][]judged, error) {
	columns := map[string][]string{}
	for _, l := range leaves {
		s := l.source
		if !s.bloom && !contains(columns[s.index], s.column) {
			columns[s.index] = append(columns[s.index], s.column)
		}
	}
	key, extra := string(metatable.ColumnStatKind), false
	if extra = len(leaves) > 0 && counted && !contains(columns[key], keyMeta); extra {
		columns[key] = append(columns[key], keyMeta)
	}
	found := map[string]map[string]map[metatable.DataFile]*metatable.ColumnStats{}
	indexed := map[string]map[metatable.DataFile]bool{}
	for index, names := range columns {
		got, err := m.FileStats(ctx, index, names, files, nil)
		if err != nil {
			return nil, &Failure{Index: index, Err: err}
		}
		found[index], indexed[index] = got, map[metatable.DataFile]bool{}
		for name, of := range got {
			if extra && name == keyMeta {
				continue // the condition does not ask for it
			}
			for f := range of {
				indexed[index][f] = true
			}
		}
	}
	without := map[metatable.DataFile]bool{}
	for f, c := range found[key][keyMeta] {
		without[f] = c.ValueCount != nil && *c.ValueCount == 0 && strings.HasPrefix(f.Name, ".")
	}
	out := map[*leaf][]judged{}
	for _, l := range leaves {
		var blooms map[metatable.DataFile]bool
		if l.source.bloom {
			var err error
			if blooms, err = m.MayContain(ctx, l.source.index, files, l.texts, nil); err != nil {
				return nil, &Failure{Index: l.source.index, Err: err}
			}
		}
		out[l] = judge(l, found[l.source.index][l.source.column], blooms, files, rules, indexed[l.source.index], without)
	}
	return out, nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// columnStat describes one judgement.
func columnStat(l *leaf, f metatable.DataFile, j *judged) api.ColumnStat {
	name := l.source.column
	if l.source.expr != "" {
		name = l.source.expr
	}
	out := api.ColumnStat{File: f.Name, Column: name, Nulls: max(j.known.nulls, 0), Values: max(j.known.values, 0), Test: l.text, Holds: j.may}
	if s := j.known.stats; s != nil {
		out.Min, out.Max = plain(s.Min, s.ValueType), plain(s.Max, s.ValueType)
	}
	return out
}

// bare is the name of a file as indexes have it.
func bare(p string) string { return path.Base(p) }
