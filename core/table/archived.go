package table

import (
	"context"

	"hudiscope/core/timeline"
)

// ArchivedRange reads a part of the archived timeline: only the files that the range needs
// (timeline.LoadArchivedRange). All of it is Archived, which is kept.
func (t *Table) ArchivedRange(ctx context.Context, want timeline.Range) (*timeline.Archived, error) {
	tl, err := t.Timeline(ctx)
	if err != nil {
		return nil, err
	}
	if want == (timeline.Range{}) {
		return t.Archived(ctx)
	}
	return tl.LoadArchivedRange(ctx, t.Config, historyRows, want)
}

// ArchivedParts reads what the archive holds of some archived instants.
func (t *Table) ArchivedParts(ctx context.Context, list []timeline.ArchivedInstant, yield func(*timeline.ArchivedInstant, []timeline.ArchivedPart) error) error {
	tl, err := t.Timeline(ctx)
	if err != nil {
		return err
	}
	return tl.ArchivedParts(ctx, list, historyRows, yield)
}
