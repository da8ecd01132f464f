package table

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"hudiscope/core/basefile"
	"hudiscope/core/config"
	"hudiscope/core/merge"
	"hudiscope/core/schema"
	"hudiscope/core/timeline"
)

// Properties that name columns are followed as they stand; what the schema, the folders and the files say against them is
// told with the rows.

// minRecordKey is a key of base file footers: writers that fill the meta fields store the smallest record key, others
// have none to store.
const minRecordKey = "hoodie_min_record_key"

// contradictions says what of hoodie.properties is at odds with the schema and with the files that the plan reads.
func (p *Plan) contradictions(ctx context.Context) []string {
	t := p.t
	var out []string
	if note := p.orderingGone(); note != "" {
		out = append(out, note)
	}
	out = append(out, p.partitionFields()...)
	if !t.Config.PopulateMetaFields() {
		if file := p.keyedBase(ctx); file != "" {
			out = append(out, fmt.Sprintf("hoodie.populate.meta.fields is false in %s, but the footer of %s has the least record key of the file, which only writers that fill the meta fields store. The meta fields are not shown, and versions are matched by %s in place of _hoodie_record_key.", t.Config.File, file, keyText(t.Config)))
		}
	}
	return out
}

func keyText(c *config.Config) string {
	if f := c.RecordKeyFields(); len(f) > 0 {
		return strings.Join(f, ", ")
	}
	return "no other field"
}

// lacks reports whether the schema has no column of a name; of a nested field it is the outermost one that counts.
func (p *Plan) lacks(field string) bool {
	top, _, _ := strings.Cut(field, ".")
	for i := range p.Schema.Type.Fields {
		if strings.EqualFold(p.Schema.Type.Fields[i].Name, top) {
			return false
		}
	}
	return true
}

// orderingGone tells of ordering fields that no version has, where logs are merged by them.
func (p *Plan) orderingGone() string {
	t := p.t
	rules, err := t.mergeRules()
	if err != nil || rules.Mode == merge.CommitTime || !slices.ContainsFunc(t.Merge.OrderingFields, func(f string) bool { return f != "no_precombine" && p.lacks(f) }) {
		return ""
	}
	logs := false
	for i := range p.Slices {
		logs = logs || len(p.Slices[i].Logs) > 0
	}
	if !logs {
		return ""
	}
	key := "hoodie.table.ordering.fields"
	if t.Config.Props.Get(key) == "" {
		key = "hoodie.table.precombine.field"
	}
	return fmt.Sprintf("%s is %s in %s, but the table has no such column: versions of a record have no ordering value, and the later commit wins.", key, strings.Join(t.Merge.OrderingFields, ", "), t.Config.File)
}

// partitionFields tells of partition columns that the table does not have, and of folders that are named after others.
func (p *Plan) partitionFields() []string {
	c := p.t.Config
	fields := c.PartitionFields()
	var out []string
	for _, f := range fields {
		if p.lacks(f) {
			out = append(out, fmt.Sprintf("hoodie.table.partition.fields names %s in %s, and hoodie.datasource.write.drop.partition.columns is %t, but the schema has no such column: values of partition columns that only the folders tell are not shown.", f, c.File, c.DropPartitionColumns()))
			break
		}
	}
	if !c.HiveStyle() {
		return out
	}
	for i := range p.Slices {
		parts := strings.Split(p.Slices[i].Partition, "/")
		first, _, named := strings.Cut(parts[0], "=")
		if len(fields) > 0 && named && !strings.EqualFold(first, fields[0]) || len(parts) < len(fields) {
			return append(out, fmt.Sprintf("hoodie.table.partition.fields is %s in %s, but the folder %q is not named after them, as hoodie.datasource.write.hive_style_partitioning says: values that are taken from the folders may be those of other columns.", strings.Join(fields, ", "), c.File, p.Slices[i].Partition))
		}
	}
	return out
}

// keyedBase finds a base file of the plan with the footer of a writer that fills the meta fields. It looks at the first one only;
// what can't be read is told when rows are read.
func (p *Plan) keyedBase(ctx context.Context) string {
	for i := range p.Slices {
		s := &p.Slices[i]
		if s.Source != "" || !strings.HasSuffix(s.Base, ".parquet") {
			continue
		}
		obj, err := p.t.Src.Open(ctx, s.Base)
		if err != nil {
			return ""
		}
		defer obj.Close()
		f, err := basefile.Open(ctx, obj, s.Base)
		if err != nil {
			return ""
		}
		if _, ok := f.Lookup(minRecordKey); ok {
			return s.Base
		}
		return ""
	}
	return ""
}

// archiveElsewhere tells of an archive that is not where hoodie.properties says, but where writers put it by default.
func (t *Table) archiveElsewhere(ctx context.Context, a *timeline.Archived) {
	if len(a.Instants) > 0 || len(a.Findings) > 0 {
		return
	}
	c := t.Config
	key, is, usual := "hoodie.archivelog.folder", c.ArchiveFolder(), path.Join(c.MetaPath(), "archived")
	if c.TimelineLayout >= 2 {
		key, is, usual = "hoodie.timeline.history.path", c.HistoryPath(), path.Join(c.TimelinePath(), "history")
	}
	if is == usual {
		return
	}
	if l, err := t.Src.List(ctx, usual); err == nil && len(l.Entries) > 0 {
		a.Findings = append(a.Findings, timeline.Finding{Level: "warning", Title: "The archived timeline is elsewhere", Detail: fmt.Sprintf("%s says in %s that archived instants are in %s, where there are none, but %s has files. What they hold is not read.", key, c.File, is, usual), File: usual})
	}
}

// TextBounds are the bounds of a text column of a Parquet base file, as the footer tells them of all row groups: no value is
// below low or above high. ok is false where it does not, or can't be read, which who reads the rows is told.
func (t *Table) TextBounds(ctx context.Context, file, field string) (low, high string, ok bool) {
	obj, err := t.Src.Open(ctx, file)
	if err != nil {
		return "", "", false
	}
	defer obj.Close()
	f, err := basefile.Open(ctx, obj, file)
	if err != nil {
		return "", "", false
	}
	for g := range f.RowGroups() {
		b := f.Bounds(g, field)
		if b.Type == nil || b.Type.Kind != schema.String || b.Low == nil || b.High == nil {
			return "", "", false
		}
		l, okLow := b.Low.Text(0)
		h, okHigh := b.High.Text(0)
		if !okLow || !okHigh {
			return "", "", false
		}
		if g == 0 {
			low, high, ok = l, h, true
		}
		low, high = min(low, l), max(high, h)
	}
	return low, high, ok
}
