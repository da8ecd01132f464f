// Package table opens a Hudi table and plans its queries: which schema, which file slices,
// which log blocks. A plan is a value that can be shown before anything of it is read.
//
// Source of the rules: spec queries.md sections 2 to 4, timeline.md, file-view.md section 11.
package table

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"hudiscope/core/config"
	"hudiscope/core/corrupt"
	"hudiscope/core/evolve"
	"hudiscope/core/filegroup"
	"hudiscope/core/groupreader"
	"hudiscope/core/merge"
	"hudiscope/core/release"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
	"hudiscope/core/storage/ahead"
	"hudiscope/core/timeline"
)

// Table is an opened table. What is read is kept until the table is dropped: it shows the table
// as it was at the first look. It is safe for concurrent use.
type Table struct {
	Src    storage.Source
	Config *config.Config
	Rules  release.Rules
	Merge  config.MergeDecision
	// Parts is what the program links for some tables only.
	Parts Parts
	// Ahead asks for what will be needed soon; nil asks for nothing before it is needed.
	Ahead *ahead.Reader
	// MetadataFrom is the number of directories above which View lists by the metadata table, where there
	// is one that is up to date; 0 means never.
	MetadataFrom int

	boot    bootstrapped
	evolved evolved

	mu       sync.Mutex
	timeline *timeline.Timeline
	archived *timeline.Archived

	// Views and schemas are read side by side; each lock is held while reading, mu within it.
	viewMu sync.Mutex
	view   *filegroup.View
	stored *filegroup.View // over a listing of the storage

	schemaMu sync.Mutex
	schemas  map[string]*Schema // by the instant they are as of
}

// Open reads hoodie.properties and nothing else. A table version that is not known is an error;
// a VersionError comes together with the Table, so that it can be described.
func Open(ctx context.Context, src storage.Source, hudi string) (*Table, error) {
	rules, err := release.For(hudi)
	if err != nil {
		return nil, err
	}
	cfg, err := config.Load(ctx, src, "")
	if cfg == nil {
		return nil, err
	}
	var ve *config.VersionError
	if err != nil && !errors.As(err, &ve) {
		return nil, err
	}
	rel := hudi
	if hudi == "fixed" {
		rel = ""
	}
	return &Table{Src: src, Config: cfg, Rules: rules, Merge: config.Merge(cfg, rel), schemas: map[string]*Schema{}}, err
}

// Timeline loads the active timeline, once.
func (t *Table) Timeline(ctx context.Context) (*timeline.Timeline, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timeline == nil {
		tl, err := timeline.Load(ctx, t.Src, t.Config)
		if err != nil {
			return nil, err
		}
		t.timeline = tl
	}
	return t.timeline, nil
}

// checkFormat refuses a base file format that is none: which files are base files is not known then.
func (t *Table) checkFormat() error {
	c := t.Config
	if slices.Contains([]string{"PARQUET", "ORC", "HFILE", "LANCE"}, c.BaseFormat()) {
		return nil
	}
	key := "hoodie.table.base.file.format"
	e, ok := c.Props.Entry(key)
	if !ok {
		key = "hoodie.table.ro.file.format"
		e, _ = c.Props.Entry(key)
	}
	return &corrupt.Error{File: c.File, Offset: corrupt.Unknown, Part: fmt.Sprintf("%s (line %d)", key, e.Line), Want: "PARQUET, ORC, HFILE or LANCE", Got: fmt.Sprintf("%q", e.Value),
		Try: "Correct the property: the names of the files in the partitions tell the format."}
}

// mergeRules turns the table's merge decision into the rules of record merging. What is not
// part of Hudi is a MergeUnsupported error.
func (t *Table) mergeRules() (merge.Rules, error) {
	r := merge.Rules{Mode: merge.Mode(t.Merge.Mode), HasOrdering: len(t.Merge.OrderingFields) > 0, Payload: t.Merge.PayloadName(),
		Partial: merge.PartialMode(t.Merge.PartialMode), Unavailable: t.Merge.UnavailableValue, UnavailableStays: t.Rules.UnavailableStays}
	if t.mergesPayloads() {
		r.Style = merge.Payloads
	}
	r.OlderOnTie = strings.EqualFold(t.Config.Props.Get("hoodie.payload.update.on.same.ordering.field"), "false")
	if (t.Merge.DeleteField == "") != (t.Merge.DeleteMarker == "") {
		return r, &MergeUnsupported{Why: "of hoodie.payload.delete.field and hoodie.payload.delete.marker one is set and the other is not, which Hudi refuses"}
	}
	if r.Mode == merge.Custom && t.Merge.StrategyID != "" && t.Merge.StrategyID != config.PayloadBasedStrategy && t.Config.Version >= 8 {
		return r, &MergeUnsupported{Why: "records of this table are merged by the user's own code, merge strategy " + t.Merge.StrategyID + ", which is not part of the table"}
	}
	if err := r.Check(); err != nil {
		why := "versions of this table's records can't be merged: " + err.Error()
		if where := t.Config.UnknownMode(t.Merge); where != "" {
			why = "versions of this table's records can't be merged: " + where
		}
		if r.Mode == merge.Custom && t.Merge.Payload != "" {
			why = "records of this table are merged by the payload class " + t.Merge.Payload + ", which is not known here"
		}
		return r, &MergeUnsupported{Why: why}
	}
	return r, nil
}

// mergesPayloads reports whether versions are merged by the payload steps of 0.x. No such release
// reads tables of version 8 and later, so these are always merged by record mergers.
func (t *Table) mergesPayloads() bool { return t.Rules.Payloads && t.Config.Version < 8 }

// rulesFor are the rules of a query, which may choose a fallback where the table's own rule can't be
// followed. instead says, in a sentence, that the fallback is in force.
func (t *Table) rulesFor(q Query) (r merge.Rules, instead string, err error) {
	r, err = t.mergeRules()
	if err == nil || q.Fallback == "" {
		return r, "", err
	}
	r = merge.Rules{Mode: q.Fallback, HasOrdering: len(t.Merge.OrderingFields) > 0}
	how := "the later commit wins"
	if r.Mode == merge.EventTime {
		how = "the higher ordering value wins"
		if !r.HasOrdering {
			how = "the later commit wins, for the table has no ordering field"
		}
	}
	return r, fmt.Sprintf("These rows are not merged by the table's own rule, but as was asked for, by %s: %s. The reason: %s.", q.Fallback, how, err), nil
}

// MergeUnsupported says that versions of records can't be merged by the table's own rule.
type MergeUnsupported struct{ Why string }

// Error renders the finding.
func (m *MergeUnsupported) Error() string { return m.Why }

// Try says what to do.
func (m *MergeUnsupported) Try() string {
	return "Read with the option " + groupreader.FallbackOption + "=commit_time (or event_time) to merge by Hudi's usual rule instead, or read the base files only (hoodie.datasource.query.type=read_optimized)."
}

// Schema is the table schema and where it was found.
type Schema struct {
	// Type is a record with the meta fields in front, when the table has them.
	Type *schema.Type
	From string
	// Internal is the schema with the numbers of the columns, nil for a table without a schema history.
	// InternalFrom is the commit that has it.
	Internal     *evolve.Schema
	InternalFrom string
	// Sources are the places where a schema was looked for, in order.
	Sources []SchemaSource
}

// SchemaSource is a place where a schema may be.
type SchemaSource struct {
	// Place names it; Found tells whether there is one, Used whether it won.
	Place       string
	Found, Used bool
	// Note says more, "" for nothing.
	Note string
}

// MergeSupport returns nil when log records of this table can be merged, else why not.
func (t *Table) MergeSupport() error {
	_, err := t.mergeRules()
	return err
}
