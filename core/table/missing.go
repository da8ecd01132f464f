package table

import (
	"context"
	"fmt"
	"path"
	"slices"

	"hudiscope/core/filegroup"
)

// missingNotes says what of a table is gone or damaged so that rows may be missing or may be too many,
// in sentences: files of the newest completed commit, and files that plans of pending compactions name,
// that are not in the listing; metadata of completed writes that can't be read. A listing does not tell
// what is absent; the newest commit does, and its metadata has been read for the schema already. Older
// commits name files that cleaning may have removed since. asOf is the instant of a time travel, "" for none.
func (t *Table) missingNotes(ctx context.Context, view *filegroup.View, asOf string) ([]string, error) {
	var out []string
	for _, f := range slices.Concat(view.Timeline.Findings, view.Findings) {
		if f.Level == "error" {
			out = append(out, f.Title+". "+f.Detail)
		}
	}
	last := view.Timeline.Commits().Completed().Last()
	if last == nil || asOf != "" {
		return out, nil
	}
	if last.File.Size == 0 {
		out = append(out, fmt.Sprintf("The file of the newest completed instant, %s, is empty: a crash may have left it, and which files it wrote is not known. Rows of files that are there are shown, whether or not they are whole.", last.File.Path))
	}
	m, err := view.Timeline.CommitMetadata(ctx, last)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return append(out, fmt.Sprintf("The newest completed instant can't be read, so that nothing tells whether its files are all there: %v.", err)), nil
	}
	if !view.Complete {
		return out, nil
	}
	present := map[string]map[string]bool{}
	missing := func(partition, name string) bool {
		if present[partition] == nil {
			present[partition] = namesOf(view.Partition(partition))
		}
		return name != "" && !present[partition][name]
	}
	gone, example := 0, ""
	for _, p := range m.Partitions {
		for i := range p.Stats {
			if p.Stats[i].Path != "" && missing(p.Partition, path.Base(p.Stats[i].Path)) {
				gone++
				example = p.Stats[i].Path
			}
		}
	}
	switch {
	case gone == 1:
		out = append(out, fmt.Sprintf("A file that the newest commit %s wrote is not there: %s. What it holds is missing from these rows.", last.Requested, example))
	case gone > 1:
		out = append(out, fmt.Sprintf("%d files that the newest commit %s wrote are not there, among them %s. What they hold is missing from these rows.", gone, last.Requested, example))
	}
	gone, example = 0, ""
	instant := ""
	for i := range view.Compaction {
		o := &view.Compaction[i]
		if view.Timeline.IsCompleted(o.Instant) {
			continue
		}
		for _, n := range append(o.DeltaFiles(), o.DataFile()) {
			if missing(o.Partition, n) {
				gone++
				example, instant = n, o.Instant
			}
		}
	}
	if gone > 0 {
		out = append(out, fmt.Sprintf("%d files that the plan of a pending compaction names are not there, among them %s of the plan %s. What they hold is missing from these rows.", gone, example, instant))
	}
	return out, nil
}

// namesOf are the names of a partition's files.
func namesOf(part *filegroup.Partition) map[string]bool {
	present := map[string]bool{}
	if part == nil {
		return present
	}
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
	return present
}
