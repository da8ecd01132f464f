package table

import (
	"context"
	"path"

	"hudiscope/core/filegroup"
	"hudiscope/core/metatable"
	"hudiscope/core/storage"
	"hudiscope/core/timeline"
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

// currentListing lists the whole table by its metadata table, nil when that is not up to date.
func (t *Table) currentListing(ctx context.Context, tl *timeline.Timeline) (*filegroup.Listing, error) {
	m, err := metatable.Open(ctx, t.Src, t.Config, tl, metatable.Options{LogBytes: listingLogBytes, ReadRows: historyRows, Ahead: t.Ahead})
	if err != nil {
		return nil, err
	}
	if ok, _ := m.Trusted(); !ok || !m.Current() {
		return nil, nil
	}
	l, err := m.Listing(ctx, nil)
	if err != nil {
		return nil, err
	}
	if h, ok := t.Src.(storage.Hinter); ok {
		for p, entries := range l.Files {
			h.Hint(path.Join(t.Config.Root, p), entries)
		}
	}
	return l, nil
}

// listingLogBytes bounds the decoded log records of the metadata table while it stands in for a listing.
const listingLogBytes = 64 << 20

// metadataListing lists partitions by the metadata table, nil if the table has none that readers trust.
func (t *Table) metadataListing(ctx context.Context, tl *timeline.Timeline, partitions []string) (*filegroup.Listing, error) {
	m, err := metatable.Open(ctx, t.Src, t.Config, tl, metatable.Options{LogBytes: listingLogBytes, ReadRows: historyRows})
	if err != nil {
		return nil, err
	}
	if ok, _ := m.Trusted(); !ok {
		return nil, nil
	}
	return m.Listing(ctx, partitions)
}
