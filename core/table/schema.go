package table

import (
	"context"
	"path"
	"strings"

	"hudiscope/core/basefile"
	"hudiscope/core/commitmeta"
	"hudiscope/core/corrupt"
	"hudiscope/core/groupreader"
	"hudiscope/core/logfile"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
	"hudiscope/core/timeline"
)

// Schema resolves the table schema (spec queries.md section 3): the newest completed commit that
// carries one, else the schema the table was created with, else that of a data file.
func (t *Table) Schema(ctx context.Context) (*Schema, error) { return t.SchemaAt(ctx, "") }

// SchemaAt resolves the table schema as of an instant (requested time), "" for the latest: the last
// commit at or before it counts.
func (t *Table) SchemaAt(ctx context.Context, instant string) (*Schema, error) {
	t.schemaMu.Lock()
	defer t.schemaMu.Unlock()
	if s := t.schemas[instant]; s != nil {
		return s, nil
	}
	tl, err := t.Timeline(ctx)
	if err != nil {
		return nil, err
	}
	commits := tl.Commits().Completed().Instants
	if instant != "" {
		// When all commits up to the instant are archived, the oldest one that is left tells the schema.
		for len(commits) > 1 && commits[len(commits)-1].Requested > instant {
			commits = commits[:len(commits)-1]
		}
	}
	t.readCommits(ctx, commits)
	var dataFile, dataCommit string
	out := &Schema{}
	var found *schema.Type
	var last *commitmeta.CommitMetadata
	fromCommit := SchemaSource{Place: "the commit metadata"}
	for i := len(commits) - 1; i >= 0 && (found == nil || dataFile == "" || last == nil); i-- {
		m, err := tl.CommitMetadata(ctx, &commits[i])
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if storage.IsFailure(err) {
				return nil, err // an older commit may have an older schema
			}
			// A commit that can't be decoded is shown on the timeline; an older one has the schema too.
			continue
		}
		if dataFile == "" {
			dataFile, dataCommit = writtenFile(m), commits[i].Requested
		}
		changes := changesSchema(m.Operation)
		if last == nil && changes {
			last = m
			if out.Internal, err = internalOf(m, commits[i].File.Path); err != nil {
				return nil, err
			}
			if out.Internal != nil {
				out.InternalFrom = commits[i].File.Name
			}
		}
		text := m.Extra["schema"]
		if found != nil || text == "" || t.Rules.SchemaOfWrites && !changes {
			continue
		}
		if found, err = schema.Parse(text); err != nil {
			return nil, &corrupt.Error{File: commits[i].File.Path, Offset: corrupt.Unknown, Part: "extraMetadata.schema", Err: err}
		}
		out.From = "the commit metadata of " + commits[i].File.Name
		fromCommit.Place = out.From
		if i < len(commits)-1 {
			fromCommit.Note = "The newest completed commit that carries a schema, by requested time."
		}
	}
	fromCommit.Found, fromCommit.Used = found != nil, found != nil
	created := SchemaSource{Place: "hoodie.table.create.schema in hoodie.properties", Found: t.Config.CreateSchema() != ""}
	if found == nil && created.Found {
		if found, err = schema.Parse(t.Config.CreateSchema()); err != nil {
			return nil, &corrupt.Error{File: t.Config.File, Offset: corrupt.Unknown, Part: "hoodie.table.create.schema", Err: err}
		}
		out.From, created.Used = "hoodie.table.create.schema", true
	}
	fromFile := SchemaSource{Place: "a data file", Found: dataFile != ""}
	var inFile *schema.Type
	if dataFile != "" {
		fromFile.Place, fromFile.Note = "the data file "+dataFile, "Written by "+dataCommit+", the newest commit that wrote records; not read for its schema."
	}
	if dataFile != "" && (found == nil || t.mayHaveOperation()) {
		inFile, err = t.fileSchema(ctx, dataFile)
		if err != nil && (found == nil || storage.IsFailure(err)) {
			return nil, err
		}
		fromFile.Note = "Written by " + dataCommit + ", the newest commit that wrote records."
		if err != nil {
			fromFile.Note += " It can't be read: " + err.Error() + "."
		}
	}
	if found == nil && inFile != nil {
		found, out.From, fromFile.Used = inFile, "the data file "+dataFile, true
	}
	if found == nil {
		return nil, &corrupt.Error{File: t.Config.File, Offset: corrupt.Unknown, Part: "table schema", Want: "one in a commit, in hoodie.table.create.schema or in a data file", Got: "none",
			Try: "The table has no completed write yet, or its commits can't be read; see the timeline."}
	}
	if out.Type, err = t.withPartitionColumns(found); err != nil {
		return nil, err
	}
	if t.Config.PopulateMetaFields() {
		operation := inFile != nil && inFile.FieldIndex(schema.OperationField) >= 0
		out.Type = out.Type.WithMetaFields(operation)
	}
	out.Sources = []SchemaSource{fromCommit, created, fromFile}
	if out.Internal != nil {
		out.Sources = append(out.Sources, SchemaSource{Place: "the schema history (" + latestSchema + " of " + out.InternalFrom + ")", Found: true,
			Note: "Its numbers say which column of a file is which: rows are read by them, unless the option " + SchemaOnReadOption + " is false."})
	}
	t.schemas[instant] = out
	return out, nil
}

// written returns the schema that the metadata of a completed commit of a timeline has, nil where there is none.
func (t *Table) written(tl *timeline.Timeline) func(ctx context.Context, instant string) (*schema.Type, error) {
	return func(ctx context.Context, instant string) (*schema.Type, error) {
		for _, i := range tl.Find(instant) {
			if !i.IsCompleted() {
				continue
			}
			m, err := tl.CommitMetadata(ctx, &i)
			if err == nil && m.Extra["schema"] != "" {
				return schema.Parse(m.Extra["schema"])
			}
		}
		return nil, nil
	}
}

// mayHaveOperation tells for which tables the question whether data files carry _hoodie_operation
// is worth a read: only writers of row kinds (Flink's change log mode) on meta-field tables do so.
func (t *Table) mayHaveOperation() bool {
	return t.Config.PopulateMetaFields() && t.Config.MergeOnRead()
}

// withPartitionColumns appends partition columns that data files do not store, as nullable text. As
// in Hudi the schema must have all of them or none.
func (t *Table) withPartitionColumns(typ *schema.Type) (*schema.Type, error) {
	if !t.Config.DropPartitionColumns() {
		return typ, nil
	}
	out := *typ
	out.Fields = append([]schema.Field(nil), typ.Fields...)
	var missing []string
	for _, f := range t.Config.PartitionFields() {
		if typ.FieldIndex(f) < 0 {
			missing = append(missing, f)
			out.Fields = append(out.Fields, schema.Field{Name: f, HasDoc: true, HasDefault: true, Default: "null",
				Type: &schema.Type{Kind: schema.String, Nullable: true, NullFirst: true}})
		}
	}
	if len(missing) > 0 && len(missing) < len(t.Config.PartitionFields()) {
		return nil, &corrupt.Error{File: t.Config.File, Offset: corrupt.Unknown, Part: "table schema", Want: "all or none of the partition columns " + strings.Join(t.Config.PartitionFields(), ", ") + ", for the table drops them from its files",
			Got: "all but " + strings.Join(missing, ", "), Try: "Hudi fails on this table too. The timeline, the files and the log blocks can be read."}
	}
	return &out, nil
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
		if err := t.checkBase(&groupreader.Slice{Base: file}); err != nil {
			return nil, err
		}
		f, err := t.openRows(ctx, keepOpen{obj}, file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return f.Type(), nil
	}
	f, err := basefile.Open(ctx, obj, file)
	if err != nil {
		return nil, err
	}
	if text, ok := f.Lookup("parquet.avro.schema"); ok {
		// The text lies in the file's footer, and the schema's names in the text: without a copy a Bloom filter of
		// the footer would be kept as long as the schema is.
		return schema.Parse(strings.Clone(text))
	}
	return f.Type(), nil
}

// keepOpen is an object that someone else closes.
type keepOpen struct{ storage.Object }

func (keepOpen) Close() error { return nil }

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
		return nil, &corrupt.Error{File: file, Offset: corrupt.Unknown, Part: "log file", Want: "a schema in some data block", Got: "none"}
	}
	return schema.Parse(text)
}
