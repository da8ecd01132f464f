package filegroup

import (
	"context"
	"fmt"
	"slices"

	"hudiscope/core/timeline"
)

// maxUndoing bounds the rollbacks and restores that are read to tell what became of an instant.
const maxUndoing = 64

// Unknown says which data files up to an instant are passed over because the timeline does not have the instant that wrote them; "" when
// there are none. It tells of instants only that are not the newest ones, which may just have begun, that are younger than
// the active timeline's beginning, and that no rollback or restore of the active timeline undid. wanted limits it to some
// file groups.
func (v *View) Unknown(ctx context.Context, asOf string, wanted func(partition, fileID string) bool) (string, error) {
	last := v.Timeline.Last()
	if v.ByMetadata || last == nil {
		return "", nil
	}
	files, example := map[string]int{}, map[string]string{}
	add := func(instant, path string) {
		if instant <= asOf && instant < last.Requested {
			files[instant]++
			if e := example[instant]; e == "" || path < e {
				example[instant] = path
			}
		}
	}
	for _, p := range v.Partitions {
		for _, g := range p.Groups {
			if g.ReplacedBy != "" || !wanted(p.Path, g.FileID) {
				continue
			}
			for _, s := range g.Slices {
				if b := s.Base; b != nil {
					if state, _ := v.BaseState(g, b); state == FileOrphan {
						add(b.Instant, b.Path)
					}
				}
				for i := range s.Logs {
					if l := &s.Logs[i]; v.Version >= 8 && !l.CDC {
						if state, _ := v.LogState(g, s, l); state == FileOrphan {
							add(l.Instant, l.Path)
						}
					}
				}
			}
		}
	}
	if len(files) == 0 {
		return "", nil
	}
	done := v.Timeline.Completed()
	left := maxUndoing
	for i := len(done.Instants) - 1; i >= 0 && left > 0 && len(files) > 0; i-- {
		x := &done.Instants[i]
		if x.Action != timeline.Rollback && x.Action != timeline.Restore {
			continue
		}
		left--
		err := filesNamed(ctx, done, x, func(string, string) {}, func(target string) { delete(files, target) })
		if err != nil && !tolerable(err) {
			return "", err
		}
	}
	if len(files) == 0 {
		return "", nil
	}
	n, instants := 0, make([]string, 0, len(files))
	for t, count := range files {
		instants = append(instants, t)
		n += count
	}
	slices.Sort(instants)
	return fmt.Sprintf("%d files of %d instants that the timeline does not have are passed over, among them %s of %s. A write that failed may have left them; or the files of these instants are gone from %s, and the rows that they wrote are missing.", n, len(instants), example[instants[0]], instants[0], v.Timeline.Dir), nil
}
