// Package table opens a Hudi table and plans its queries: which schema, which file slices,
// which log blocks. A plan is a value that can be shown before anything of it is read.
//
// Source of the rules: spec queries.md sections 2 to 4, timeline.md, file-view.md section 11.
package table

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"hudiscope/core/config"
	"hudiscope/core/filegroup"
	"hudiscope/core/merge"
	"hudiscope/core/release"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
	"hudiscope/core/timeline"
)

// Table is an opened table. What is read is kept until the table is dropped: it shows the table
// as it was at the first look. It is safe for concurrent use.
type Table struct {
	Src    storage.Source
	Config *config.Config
	Rules  release.Rules
	Merge  config.MergeDecision

	mu       sync.Mutex
	timeline *timeline.Timeline
	archived *timeline.Archived
	view     *filegroup.View
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
	return t.loadTimeline(ctx)
}

func (t *Table) loadTimeline(ctx context.Context) (*timeline.Timeline, error) {
	if t.timeline == nil {
		tl, err := timeline.Load(ctx, t.Src, t.Config)
		if err != nil {
			return nil, err
		}
		t.timeline = tl
	}
	return t.timeline, nil
}

// mergeRules turns the table's merge decision into the rules of record merging. Modes and
// payloads that are not built yet are a MergeUnsupported error.
func (t *Table) mergeRules() (merge.Rules, error) {
	r := merge.Rules{Mode: merge.Mode(t.Merge.Mode), HasOrdering: len(t.Merge.OrderingFields) > 0}
	if t.Rules.Payloads {
		r.Style = merge.Payloads
	}
	if r.Mode == merge.Custom {
		what := "the merge strategy " + t.Merge.StrategyID
		if t.Merge.Payload != "" {
			what = "the payload class " + t.Merge.Payload
		}
		return r, &MergeUnsupported{What: what}
	}
	if t.Merge.PartialMode != "" {
		return r, &MergeUnsupported{What: "the partial update mode " + t.Merge.PartialMode}
	}
	return r, nil
}

// MergeUnsupported says that versions of records can't be merged by the table's own rule.
type MergeUnsupported struct{ What string }

// Error renders the finding.
func (m *MergeUnsupported) Error() string {
	return fmt.Sprintf("records of this table are merged by %s, which is not built yet", m.What)
}

// Schema is the table schema and where it was found.
type Schema struct {
	// Type is a record with the meta fields in front, when the table has them.
	Type *schema.Type
	From string
}

// MergeSupport returns nil when log records of this table can be merged, else why not.
func (t *Table) MergeSupport() error {
	_, err := t.mergeRules()
	return err
}
