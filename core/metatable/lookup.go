package metatable

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hudiscope/core/filegroup"
)

// DataFile is a file of the data table as the indexes name it: its partition and its bare name.
type DataFile struct{ Partition, Name string }

// exprPartition stands before the partition in the keys of an expression index's partition statistics.
const exprPartition = "__partition_stat__"

// FileStats looks up the statistics of columns of files in column_stats, or in an expression index of
// that kind. The answer has them by column and file; what the index has no row of is left out. Only the
// file groups and blocks that may hold the keys are read; stats may be nil.
func (t *Table) FileStats(ctx context.Context, partition string, columns []string, files []DataFile, stats *Stats) (map[string]map[DataFile]*ColumnStats, error) {
	type at struct {
		column string
		file   DataFile
	}
	keys := make([]string, 0, len(columns)*len(files))
	places := make(map[string]at, cap(keys))
	for _, c := range columns {
		for _, f := range files {
			k := ColumnStatsKey(c, f.Partition, f.Name)
			if _, ok := places[k]; !ok {
				places[k] = at{c, f}
				keys = append(keys, k)
			}
		}
	}
	out := map[string]map[DataFile]*ColumnStats{}
	for r, err := range t.Get(ctx, partition, keys, stats) {
		if err != nil {
			return nil, err
		}
		if r.Stats == nil || r.Type != ColumnStat {
			continue
		}
		p := places[r.Key]
		if out[p.column] == nil {
			out[p.column] = map[DataFile]*ColumnStats{}
		}
		out[p.column][p.file] = r.Stats
	}
	return out, nil
}

// PartitionStatistics looks up the statistics of columns of partitions in partition_stats, or in an
// expression index: by column and partition.
func (t *Table) PartitionStatistics(ctx context.Context, partition string, columns, dataPartitions []string, stats *Stats) (map[string]map[string]*ColumnStats, error) {
	expr := KindOf(partition) == ExpressionIdx
	var keys []string
	places := map[string][2]string{}
	for _, c := range columns {
		for _, p := range dataPartitions {
			k := PartitionStatsKey(c, p)
			if expr {
				k = H64(c) + H64(exprPartition) + H64(PartitionKey(p))
			}
			places[k] = [2]string{c, p}
			keys = append(keys, k)
		}
	}
	out := map[string]map[string]*ColumnStats{}
	for r, err := range t.Get(ctx, partition, keys, stats) {
		if err != nil {
			return nil, err
		}
		if r.Stats == nil || r.Type != PartitionStat {
			continue
		}
		p := places[r.Key]
		if out[p[0]] == nil {
			out[p[0]] = map[string]*ColumnStats{}
		}
		out[p[0]][p[1]] = r.Stats
	}
	return out, nil
}

// MayContain asks the bloom filters of files, of bloom_filters or of an expression index of that kind,
// for texts. The answer tells for each file that has a filter whether any of the texts may be in it; one
// filter is held at a time.
func (t *Table) MayContain(ctx context.Context, partition string, files []DataFile, texts []string, stats *Stats) (map[DataFile]bool, error) {
	keys := make([]string, len(files))
	places := make(map[string]DataFile, len(files))
	for i, f := range files {
		keys[i] = BloomFilterKey(f.Partition, f.Name)
		places[keys[i]] = f
	}
	out := map[DataFile]bool{}
	for r, err := range t.Get(ctx, partition, keys, stats) {
		if err != nil {
			return nil, err
		}
		if r.Bloom == nil {
			continue
		}
		f, err := r.Bloom.Filter()
		if err != nil {
			return nil, fmt.Errorf("%s, file group %s: bloom filter of %s: %w", join(t.Config.Root, partition), r.FileID, places[r.Key].Name, err)
		}
		out[places[r.Key]] = slices.ContainsFunc(texts, func(s string) bool { return f.MayContain([]byte(s)) })
	}
	return out, nil
}

// PartitionedRecordIndex reports whether the record index has its own file groups for every partition of
// the data table.
func (t *Table) PartitionedRecordIndex(ctx context.Context) (bool, error) {
	d, err := t.Definition(ctx, string(RecordIndex))
	if err != nil {
		return false, err
	}
	if d != nil && d.Options["isPartitioned"] != "" {
		return strings.EqualFold(d.Options["isPartitioned"], "true"), nil
	}
	groups, err := t.Slices(ctx, string(RecordIndex))
	if err != nil {
		return false, err
	}
	// Ids of the other kind have three dashes, record-index-0000-0; an escaped partition has none.
	return slices.ContainsFunc(groups, func(g *filegroup.Slice) bool { return strings.Count(g.FileID, "-") > 3 }), nil
}

// Locations looks record keys up in the record index: the places by key. In a partitioned index the file
// groups of dataPartitions are asked, in the other kind they play no part. A key without a place is left out.
func (t *Table) Locations(ctx context.Context, keys, dataPartitions []string, stats *Stats) (map[string][]*Location, error) {
	partitioned, err := t.PartitionedRecordIndex(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string][]*Location{}
	for r, err := range t.read(ctx, string(RecordIndex), stats, func(groups []*filegroup.Slice) ([]part, error) {
		per := map[int][][]byte{}
		for _, family := range families(groups) {
			if partitioned && !slices.ContainsFunc(dataPartitions, func(p string) bool { return family.prefix == recordIndexPrefix(p) }) {
				continue
			}
			for _, k := range keys {
				for _, i := range family.of(k) {
					per[i] = append(per[i], []byte(k))
				}
			}
		}
		return parts(groups, per), nil
	}) {
		if err != nil {
			return nil, err
		}
		if r.Location != nil {
			out[r.Key] = append(out[r.Key], r.Location)
		}
	}
	return out, nil
}

// recordIndexPrefix is what stands before the number in the ids of the file groups of a data partition in
// a partitioned record index.
func recordIndexPrefix(dataPartition string) string {
	var b strings.Builder
	b.WriteString("record-index-")
	for i := 0; i < len(dataPartition); i++ {
		switch c := dataPartition[i]; {
		case c < 0x20 || c == 0x7F || strings.IndexByte("\"#%'*/:=?\\{[]^_-", c) >= 0:
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('-')
	return b.String()
}

// RecordKeys looks values up in a secondary index: the record keys by value.
func (t *Table) RecordKeys(ctx context.Context, partition string, values []string, stats *Stats) (map[string][]string, error) {
	out := map[string][]string{}
	for _, v := range values {
		for r, err := range t.Prefix(ctx, partition, SecondaryPrefix(&v), stats) {
			if err != nil {
				return nil, err
			}
			if _, key, ok := SplitSecondaryKey(r.Key); ok {
				out[v] = append(out[v], key)
			}
		}
	}
	return out, nil
}
