package filegroup

import (
	"context"
	"fmt"
	"strings"

	"hudiscope/core/logfile"
	"hudiscope/core/storage"
	"hudiscope/core/timeline"
)

// maxConfirm bounds the commits that are read to tell whether directories without a marker are partitions.
const maxConfirm = 1000

// dataFiles reports whether entries have names of base files or log files.
func dataFiles(entries []storage.Entry, extensions []string) bool {
	for _, e := range entries {
		if e.Dir {
			continue
		}
		if _, ok := logfile.ParseName(e.Name); ok {
			return true
		}
		if n, ok := ParseBaseName(e.Name); ok && !strings.HasPrefix(e.Name, ".") {
			for _, x := range extensions {
				if n.Ext == x {
					return true
				}
			}
		}
	}
	return false
}

// confirm takes those directories without a marker into the listing that a completed commit names as
// partitions: their rows are in the table, whatever became of the marker. Other directories with such
// files may be copies.
func confirm(ctx context.Context, tl *timeline.Timeline, l *Listing) error {
	done := tl.Commits().Completed()
	for i, left := len(done.Instants)-1, maxConfirm; i >= 0 && left > 0 && len(l.Unmarked) > 0; i, left = i-1, left-1 {
		m, err := done.CommitMetadata(ctx, &done.Instants[i])
		if err != nil {
			if !tolerable(err) {
				return err
			}
			continue
		}
		for _, p := range m.Partitions {
			files, ok := l.Unmarked[p.Partition]
			if !ok || len(p.Stats) == 0 {
				continue
			}
			l.Files[p.Partition] = files
			delete(l.Unmarked, p.Partition)
			if l.NoMarker == nil {
				l.NoMarker = map[string]string{}
			}
			l.NoMarker[p.Partition] = done.Instants[i].Requested
		}
	}
	return nil
}

// noMarkers tells of the partitions without a marker.
func (v *View) noMarkers(l *Listing) {
	v.NoMarker = l.NoMarker
	for _, p := range l.Partitions() {
		if commit, ok := l.NoMarker[p]; ok {
			v.finding("error", NoMarkerTitle, fmt.Sprintf("The directory %s has no %s file, but commit %s wrote to it: it is read as a partition here. Hudi does so only with the metadata table.", name(p), PartitionMarker, commit), join(p, PartitionMarker))
		}
	}
}

// NoMarkerTitle is the title of the finding of a partition without a marker.
const NoMarkerTitle = "Partition without a marker"
