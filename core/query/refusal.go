package query

import (
	"context"

	"hudiscope/core/table"
)

// TravelRefusal is what Hudi 0.14 and later say against a read as of an instant, "" for nothing
// (spec queries.md section 4).
func TravelRefusal(ctx context.Context, t *table.Table, asOf string) (string, error) {
	tl, err := t.Timeline(ctx)
	if err != nil {
		return "", err
	}
	return travelRefusal(ctx, t, tl, asOf)
}
