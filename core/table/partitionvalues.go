package table

// PartitionValues returns the partition columns' values as text, from a partition path (spec file-view.md
// section 9.2); a column that is null has nil. ok is false when the path can't be taken apart.
func (t *Table) PartitionValues(path string) (values map[string]*string, ok bool) {
	known, ok := t.partitionValues(path)
	values = map[string]*string{}
	for _, f := range t.Config.PartitionFields() {
		if v, there := known[f]; there {
			values[f] = &v
		} else {
			values[f] = nil
		}
	}
	return values, ok
}
