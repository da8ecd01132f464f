package table

import (
	"context"

	"hudiscope/core/metatable"
)

// OpenMetadata opens the table's metadata table. A table without one gives a *metatable.Absent.
// logBytes bounds the decoded log records of one of its file groups, in bytes; 0 means no bound.
func (t *Table) OpenMetadata(ctx context.Context, logBytes int64) (*metatable.Table, error) {
	tl, err := t.Timeline(ctx)
	if err != nil {
		return nil, err
	}
	return metatable.Open(ctx, t.Src, t.Config, tl, metatable.Options{LogBytes: logBytes, ReadRows: historyRows})
}
