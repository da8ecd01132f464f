package table

import (
	"context"
	"slices"

	"hudiscope/core/basefile"
	"hudiscope/core/storage"
	"hudiscope/core/timeline"
)

// Archived loads the instants of the archived timeline.
func (t *Table) Archived(ctx context.Context) (*timeline.Archived, error) {
	tl, err := t.Timeline(ctx)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.loadArchived(ctx, tl)
}

// loadArchived reads the archive once; the lock is held.
func (t *Table) loadArchived(ctx context.Context, tl *timeline.Timeline) (*timeline.Archived, error) {
	if t.archived == nil {
		a, err := tl.LoadArchived(ctx, t.Config, historyRows)
		if err != nil {
			return nil, err
		}
		t.archiveElsewhere(ctx, a)
		t.archived = a
	}
	return t.archived, nil
}

// historyRows reads a Parquet file of the archived timeline of layout 2; it is a timeline.ReadRows.
func historyRows(ctx context.Context, src storage.Source, path string, columns []string, yield func(timeline.HistoryRow) error) error {
	obj, err := src.Open(ctx, path)
	if err != nil {
		return err
	}
	defer obj.Close()
	f, err := basefile.Open(ctx, obj, path)
	if err != nil {
		return err
	}
	for b, err := range f.Batches(ctx, func(field string) bool { return slices.Contains(columns, field) }) {
		if err != nil {
			return err
		}
		text := func(name string, i int) string { s, _ := b.Column(name).Text(i); return s }
		bytes := func(name string, i int) []byte {
			c := b.Column(name)
			if c == nil || c.IsNull(i) || c.Offsets == nil {
				return nil
			}
			return append([]byte{}, c.BytesAt(i)...)
		}
		for i := range b.Len {
			row := timeline.HistoryRow{Instant: text("instantTime", i), Completion: text("completionTime", i), Action: text("action", i),
				Metadata: bytes("metadata", i), Plan: bytes("plan", i)}
			if err := yield(row); err != nil {
				return err
			}
		}
	}
	return nil
}

var _ timeline.ReadRows = historyRows
