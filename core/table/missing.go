package table

import (
	"context"
	"fmt"
	"path"

	"hudiscope/core/filegroup"
)

// missingNote says which files of the newest completed commit are not in the listing, "" when all are.
// A listing does not tell what is absent; the newest commit does, and its metadata has been read
// for the schema already. Older commits name files that cleaning may have removed since.
func (t *Table) missingNote(ctx context.Context, view *filegroup.View) (string, error) {
	last := view.Timeline.Commits().Completed().Last()
	if last == nil || !view.Complete {
		return "", nil
	}
	m, err := view.Timeline.CommitMetadata(ctx, last)
	if err != nil {
		// A commit that can't be decoded is a finding of the timeline.
		return "", ctx.Err()
	}
	missing, example := 0, ""
	for _, p := range m.Partitions {
		present := map[string]bool{}
		if part := view.Partition(p.Partition); part != nil {
			for _, g := range part.Groups {
				for _, s := range g.Slices {
					if s.Base != nil {
						present[s.Base.Name] = true
					}
					for i := range s.Logs {
						present[s.Logs[i].File] = true
					}
				}
			}
			for _, o := range part.Other {
				present[o.Name] = true
			}
		}
		for i := range p.Stats {
			if name := path.Base(p.Stats[i].Path); p.Stats[i].Path != "" && !present[name] {
				missing++
				example = p.Stats[i].Path
			}
		}
	}
	switch missing {
	case 0:
		return "", nil
	case 1:
		return fmt.Sprintf("A file that the newest commit %s wrote is not there: %s. What it holds is missing from these rows.", last.Requested, example), nil
	}
	return fmt.Sprintf("%d files that the newest commit %s wrote are not there, among them %s. What they hold is missing from these rows.", missing, last.Requested, example), nil
}
