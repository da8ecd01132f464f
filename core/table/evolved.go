package table

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"hudiscope/core/commitmeta"
	"hudiscope/core/corrupt"
	"hudiscope/core/evolve"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
	"hudiscope/core/timeline"
)

// SchemaOnReadOption is Hudi's option to match columns by their numbers in the schema history. Here
// a table that has one is read so unless the option is false: read by name, old values of renamed
// columns are lost, and old values of dropped columns come back under a new column of the name.
const SchemaOnReadOption = "hoodie.schema.on.read.enable"

// latestSchema is the key of a commit's extra metadata that holds the internal schema.
const latestSchema = "latest_schema"

// maxHistory bounds the size of a file of the schema history, in bytes.
const maxHistory = 256 << 20

// evolved is what is kept of the schema history.
type evolved struct {
	mu      sync.Mutex
	loaded  bool
	history *evolve.History
	// files are the schemas of files, by the instant that wrote them; nil where there is none.
	files map[string]*evolve.Schema
}

// changesSchema reports whether commits of an operation can change the schema (spec queries.md
// section 3.1): table services write rows as they find them.
func changesSchema(operation string) bool {
	switch strings.ToUpper(operation) {
	case "CLUSTER", "COMPACT", "INDEX", "LOG_COMPACT":
		return false
	}
	return true
}

// internalOf reads the internal schema of a commit, nil when it has none.
func internalOf(m *commitmeta.CommitMetadata, file string) (*evolve.Schema, error) {
	text := m.Extra[latestSchema]
	if text == "" {
		return nil, nil
	}
	s, err := evolve.Parse([]byte(text))
	if err != nil {
		return nil, &corrupt.Error{File: file, Offset: corrupt.Unknown, Part: "extraMetadata." + latestSchema, Err: err,
			Try: "Read with " + SchemaOnReadOption + "=false: columns are then matched by name."}
	}
	return s, nil
}

// SchemaHistory reads the newest file of the schema history, once; nil when the table has none.
func (t *Table) SchemaHistory(ctx context.Context) (*evolve.History, error) {
	tl, err := t.Timeline(ctx)
	if err != nil {
		return nil, err
	}
	t.evolved.mu.Lock()
	defer t.evolved.mu.Unlock()
	return t.schemaHistory(ctx, tl)
}

// schemaHistory is SchemaHistory; the lock of t.evolved is held.
func (t *Table) schemaHistory(ctx context.Context, tl *timeline.Timeline) (*evolve.History, error) {
	e := &t.evolved
	if e.loaded {
		return e.history, nil
	}
	dir := t.Config.MetaPath() + "/.schema"
	l, err := t.Src.List(ctx, dir)
	if err != nil && !storage.IsNotExist(err) {
		return nil, err
	}
	commits := tl.Commits().Completed()
	best, at := "", ""
	for _, f := range l.Entries {
		i := evolve.FileInstant(f.Name)
		if f.Dir || i == "" || f.Size == 0 || i < at {
			continue
		}
		if commits.Contains(i) || commits.BeforeTimelineStarts(i) {
			best, at = f.Name, i
		}
	}
	if best != "" {
		file := dir + "/" + best
		data, err := storage.ReadAll(ctx, t.Src, file, maxHistory)
		if err != nil {
			return nil, err
		}
		if e.history, err = evolve.ParseHistory(data); err != nil {
			return nil, &corrupt.Error{File: file, Offset: corrupt.Unknown, Part: "schema history", Err: err,
				Try: "Read with " + SchemaOnReadOption + "=false: columns are then matched by name."}
		}
		e.history.File = file
	}
	e.loaded = true
	return e.history, nil
}

// internalAt returns the internal schema that files of an instant have: that of the commit, else
// that of the history; nil when neither has one, and columns are matched by name.
func (t *Table) internalAt(ctx context.Context, tl *timeline.Timeline, instant string) (*evolve.Schema, error) {
	e := &t.evolved
	e.mu.Lock()
	defer e.mu.Unlock()
	if s, ok := e.files[instant]; ok {
		return s, nil
	}
	var s *evolve.Schema
	for _, i := range tl.Commits().Completed().Find(instant) {
		m, err := tl.CommitMetadata(ctx, &i)
		if err != nil {
			if storageError(err) {
				return nil, err
			}
			continue // the history is asked instead
		}
		if s, err = internalOf(m, i.File.Path); err != nil {
			return nil, err
		}
	}
	if s == nil {
		h, err := t.schemaHistory(ctx, tl)
		if err != nil {
			return nil, err
		}
		s = h.At(instant)
	}
	if e.files == nil {
		e.files = map[string]*evolve.Schema{}
	}
	e.files[instant] = s
	return s, nil
}

// storageError reports whether an error is of the storage or of the context, and not of bytes.
func storageError(err error) bool {
	var f *storage.Fault
	return errors.As(err, &f) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// mappings returns a function for groupreader.Options.Evolve: it brings files to a query's schema.
func (t *Table) mappings(tl *timeline.Timeline, query *evolve.Schema) func(ctx context.Context, instant string) (*evolve.Mapping, error) {
	known := map[string]*evolve.Mapping{}
	return func(ctx context.Context, instant string) (*evolve.Mapping, error) {
		if m, ok := known[instant]; ok {
			return m, nil
		}
		file, err := t.internalAt(ctx, tl, instant)
		if err != nil {
			return nil, fmt.Errorf("the schema of files of %s: %w", instant, err)
		}
		m := evolve.Map(file, query)
		known[instant] = m
		return m, nil
	}
}

// rowType is the type of the rows of a query that matches columns by number: the internal schema,
// with the types of the Avro schema where both agree, and the columns that only the latter has.
func rowType(avro *schema.Type, internal *evolve.Schema) *schema.Type {
	out := *avro
	out.Fields = nil
	typ := internal.Type()
	for _, f := range typ.Fields {
		if i := avro.FieldIndex(f.Name); i >= 0 && alike(avro.Fields[i].Type, f.Type) {
			f = avro.Fields[i]
		}
		out.Fields = append(out.Fields, f)
	}
	for i, f := range avro.Fields {
		if typ.FieldIndex(f.Name) < 0 && (schema.IsMetaField(f.Name) || len(out.Fields) > i) {
			out.Fields = append(out.Fields, f)
		}
	}
	return &out
}

// alike reports whether two types hold the same values, whatever they are called.
func alike(a, b *schema.Type) bool {
	decimal := a.Logical == schema.Decimal && b.Logical == schema.Decimal && a.Precision == b.Precision && a.Scale == b.Scale
	if !decimal && (a.Kind != b.Kind || a.Logical != b.Logical) {
		return false
	}
	switch a.Kind {
	case schema.Array, schema.Map:
		return alike(a.Elem, b.Elem)
	case schema.Record:
		if len(a.Fields) != len(b.Fields) {
			return false
		}
		for i := range a.Fields {
			if a.Fields[i].Name != b.Fields[i].Name || !alike(a.Fields[i].Type, b.Fields[i].Type) {
				return false
			}
		}
	}
	return true
}
