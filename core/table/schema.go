package table

import (
	"context"
	"fmt"
	"path"
	"strings"

	"hudiscope/core/basefile"
	"hudiscope/core/commitmeta"
	"hudiscope/core/corrupt"
	"hudiscope/core/logfile"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
)

// Schema resolves the table schema (spec queries.md section 3): the newest completed commit that
// carries one, else the schema the table was created with, else that of a data file.
func (t *Table) Schema(ctx context.Context) (*Schema, error) { return t.SchemaAt(ctx, "") }

// SchemaAt resolves the table schema as of an instant (requested time), "" for the latest: the last
// commit at or before it counts.
func (t *Table) SchemaAt(ctx context.Context, instant string) (*Schema, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.schemas[instant]; s != nil {
		return s, nil
	}
	tl, err := t.loadTimeline(ctx)
	if err != nil {
		return nil, err
	}
	commits := tl.Commits().Completed().Instants
	if instant != "" {
		for len(commits) > 0 && commits[len(commits)-1].Requested > instant {
			commits = commits[:len(commits)-1]
		}
	}
	var dataFile string
	var found *Schema
	for i := len(commits) - 1; i >= 0 && (found == nil || dataFile == ""); i-- {
		m, err := tl.CommitMetadata(ctx, &commits[i])
		if err != nil {
			// A commit that can't be decoded is shown on the timeline; an older one has the schema too.
			continue
		}
		if dataFile == "" {
			dataFile = writtenFile(m)
		}
		text := m.Extra["schema"]
		if found != nil || text == "" {
			continue
		}
		typ, err := schema.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("the schema in the metadata of %s: %w", commits[i].File.Path, err)
		}
		found = &Schema{Type: typ, From: "the commit metadata of " + commits[i].File.Name}
	}
	if found == nil && t.Config.CreateSchema() != "" {
		typ, err := schema.Parse(t.Config.CreateSchema())
		if err != nil {
			return nil, fmt.Errorf("hoodie.table.create.schema: %w", err)
		}
		found = &Schema{Type: typ, From: "hoodie.table.create.schema"}
	}
	var inFile *schema.Type
	if dataFile != "" && (found == nil || t.mayHaveOperation()) {
		inFile, err = t.fileSchema(ctx, dataFile)
		if err != nil && found == nil {
			return nil, err
		}
	}
	if found == nil && inFile != nil {
		found = &Schema{Type: inFile, From: "the data file " + dataFile}
	}
	if found == nil {
		return nil, &corrupt.Error{File: t.Config.File, Offset: corrupt.Unknown, Part: "table schema", Want: "one in a commit, in hoodie.table.create.schema or in a data file", Got: "none",
			Try: "The table has no completed write yet, or its commits can't be read; see the timeline."}
	}
	found.Type = t.withPartitionColumns(found.Type)
	if t.Config.PopulateMetaFields() {
		operation := inFile != nil && inFile.FieldIndex(schema.OperationField) >= 0
		found.Type = found.Type.WithMetaFields(operation)
	}
	t.schemas[instant] = found
	return found, nil
}

// mayHaveOperation tells for which tables the question whether data files carry _hoodie_operation
// is worth a read: only writers of row kinds (Flink's change log mode) on meta-field tables do so.
func (t *Table) mayHaveOperation() bool {
	return t.Config.PopulateMetaFields() && t.Config.MergeOnRead()
}

// withPartitionColumns appends partition columns that data files do not store, as nullable text.
func (t *Table) withPartitionColumns(typ *schema.Type) *schema.Type {
	if !t.Config.DropPartitionColumns() {
		return typ
	}
	out := *typ
	out.Fields = append([]schema.Field(nil), typ.Fields...)
	for _, f := range t.Config.PartitionFields() {
		if out.FieldIndex(f) < 0 {
			out.Fields = append(out.Fields, schema.Field{Name: f, HasDoc: true, HasDefault: true, Default: "null",
				Type: &schema.Type{Kind: schema.String, Nullable: true, NullFirst: true}})
		}
	}
	return &out
}

// writtenFile returns a data file that a commit wrote records to, "" when there is none.
func writtenFile(m *commitmeta.CommitMetadata) string {
	for _, p := range m.Partitions {
		for _, s := range p.Stats {
			if s.NumInserts+s.NumUpdateWrites > 0 && s.Path != "" {
				return s.Path
			}
		}
	}
	return ""
}

// fileSchema reads the schema of one data file: the footer of a base file, the last data block
// of a log.
func (t *Table) fileSchema(ctx context.Context, file string) (*schema.Type, error) {
	obj, err := t.Src.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	defer obj.Close()
	if _, ok := logfile.ParseName(path.Base(file)); ok {
		return logSchema(ctx, obj, file)
	}
	if !strings.HasSuffix(file, ".parquet") {
		return nil, fmt.Errorf("%s: the schema of such files can't be read", file)
	}
	f, err := basefile.Open(ctx, obj, file)
	if err != nil {
		return nil, err
	}
	if text, ok := f.Lookup("parquet.avro.schema"); ok {
		return schema.Parse(text)
	}
	return f.Type(), nil
}

func logSchema(ctx context.Context, obj storage.Object, file string) (*schema.Type, error) {
	text := ""
	for b, err := range logfile.Open(obj, file).Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		if b.Type.IsData() && b.SchemaText() != "" {
			text = b.SchemaText()
		}
	}
	if text == "" {
		return nil, fmt.Errorf("%s: no data block holds a schema", file)
	}
	return schema.Parse(text)
}
