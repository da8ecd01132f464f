package skipping

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hudiscope/core/schema"
)

// Folders says that the folders of partitions do not stand for values of the partition columns, where partitions were left
// out by them; "" when nothing is found against it. keep are the slices that are read: one of them is looked at, whose
// footer is read anyway, or one of the others where none is left.
func Folders(ctx context.Context, in Input, keep []bool) string {
	fields := in.Table.Config.PartitionFields()
	if in.Where == nil || in.Table.Config.DropPartitionColumns() || !slices.ContainsFunc(in.Where.Columns(), func(c string) bool { return slices.Contains(fields, c) }) {
		return ""
	}
	at := -1
	left := map[string]bool{}
	for i := range in.Slices {
		if keep[i] {
			left[in.Slices[i].Partition] = true
		}
	}
	out := false
	for i := range in.Slices {
		s := &in.Slices[i]
		out = out || !left[s.Partition]
		if strings.HasSuffix(s.Base, ".parquet") && s.Source == "" && (at < 0 || keep[i] && !keep[at]) {
			at = i
		}
	}
	if at < 0 || !out {
		return ""
	}
	p := newPartitions(in.Table, in.Rows)
	s := &in.Slices[at]
	for _, f := range in.Where.Columns() {
		k := in.Rows.FieldIndex(f)
		if !slices.Contains(fields, f) || k < 0 || in.Rows.Fields[k].Type.Kind != schema.String || p.whole {
			continue
		}
		values, why := p.values(s.Partition, f)
		if why != "" || len(values) == 0 || slices.Contains(values, nil) {
			continue
		}
		low, high, ok := in.Table.TextBounds(ctx, s.Base, f)
		if !ok || slices.ContainsFunc(values, func(v *string) bool { return *v >= low && *v <= high }) {
			continue
		}
		return fmt.Sprintf("Partitions were left out by the names of their folders, but the values of %s in %s are from %q to %q, and its folder %q stands for none of them. hoodie.table.partition.fields is %s in %s, and may be wrong.", f, s.Base, low, high, s.Partition, strings.Join(fields, ", "), in.Table.Config.File)
	}
	return ""
}
