package metatable

import (
	"context"
	"fmt"
	"math"
	"path"

	"hudiscope/core/commitmeta"
	"hudiscope/core/corrupt"
	"hudiscope/core/filegroup"
	"hudiscope/core/logfile"
	"hudiscope/core/timeline"
)

// maxMissingCommits is how many commits of the metadata table are read to find files that are gone: the newest
// ones. Older ones are compacted as a rule.
const maxMissingCommits = 12

// Missing is a file of the metadata table that a commit of it names and that is not there, or not as long as it was
// written, although it belongs to the slice that is read.
type Missing struct {
	// Path is relative to the data table.
	Path, Commit string
	// Size is how long the file is, -1 where it is not there, Want how long it was written.
	Size, Want int64
	// Why is set for a file that is there and is not read.
	Why string
}

// Sentence says what is missing.
func (m *Missing) Sentence() string {
	if m.Why != "" {
		return fmt.Sprintf("The file %s of the metadata table is not read: %s", m.Path, m.Why)
	}
	if m.Size >= 0 {
		return fmt.Sprintf("The file %s has %d bytes, fewer than the %d that commit %s of the metadata table wrote: it was cut, or is another file, and older records may be shown in place of those that it held.", m.Path, m.Size, m.Want, m.Commit)
	}
	return fmt.Sprintf("The file %s, which commit %s of the metadata table names, is not there: its records are missing, and older ones may be shown in their place.", m.Path, m.Commit)
}

// Missing finds files of a partition that the listing of the storage should have and does not. Commits that can't be
// read tell nothing.
func (t *Table) Missing(ctx context.Context, partition string) ([]Missing, error) {
	v, err := t.View(ctx, partition)
	if err != nil || !v.Complete {
		return nil, err
	}
	metas, done, err := t.commits(ctx)
	if err != nil {
		return nil, err
	}
	base := map[string]string{}
	present := map[string]int64{}
	var out []Missing
	if p := v.Partition(partition); p != nil {
		for _, g := range p.Groups {
			for _, s := range g.Slices {
				if s.Base != nil {
					present[s.Base.Name] = s.Base.Size
				}
				for i := range s.Logs {
					l := &s.Logs[i]
					present[l.File] = l.Size
					if state, why := v.LogState(g, s, l); state == filegroup.FileUncommitted || state == filegroup.FileOrphan {
						out = append(out, Missing{Path: l.Path, Size: l.Size, Why: why})
					}
				}
			}
		}
		for _, o := range p.Other {
			present[o.Name] = o.Size
		}
	}
	for _, s := range v.LatestMergedSlicesBeforeOrOn(partition, v.Latest) {
		if s.Base != nil {
			base[s.FileID] = s.BaseInstant
		}
	}
	for i, m := range metas {
		if m == nil {
			continue
		}
		for _, p := range m.Partitions {
			if p.Partition != partition {
				continue
			}
			for k := range p.Stats {
				st := &p.Stats[k]
				name := path.Base(st.Path)
				size, there := present[name]
				if st.Path == "" || there && size >= st.FileSizeInBytes {
					continue
				}
				if !there {
					size = -1
				}
				present[name] = math.MaxInt64 // told once
				need := false
				if l, ok := logfile.ParseName(name); ok {
					at := l.Instant
					if t.Config.Version >= 8 {
						at = done[i].Completed
					}
					need = at >= base[st.FileID]
				} else if b, ok := filegroup.ParseBaseName(name); ok {
					need = b.Instant >= base[st.FileID]
				}
				if need {
					out = append(out, Missing{Path: path.Join(t.Config.Root, partition, name), Commit: done[i].Requested, Size: size, Want: st.FileSizeInBytes})
				}
			}
		}
	}
	return out, nil
}

// commits returns the metadata of the newest completed commits, nil for what can't be read, which is read once.
func (t *Table) commits(ctx context.Context) ([]*commitmeta.CommitMetadata, []timeline.Instant, error) {
	t.commitsMu.Lock()
	defer t.commitsMu.Unlock()
	done := t.Timeline.Commits().Completed().Instants
	done = done[max(0, len(done)-maxMissingCommits):]
	if t.newest != nil {
		return t.newest, done, nil
	}
	metas := make([]*commitmeta.CommitMetadata, len(done))
	for i := range done {
		m, err := t.Timeline.CommitMetadata(ctx, &done[i])
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err == nil {
			metas[i] = m
		}
	}
	t.newest = metas
	return metas, done, nil
}

// holds are the types of the records of each kind of partition.
var holds = map[Kind][]RecordType{
	Files: {PartitionList, FileList}, ColumnStatKind: {ColumnStat}, BloomFilters: {BloomFilterRow}, RecordIndex: {RecordIndexRow}, PartitionStats: {PartitionStat},
	SecondaryIndex: {SecondaryRow}, ExpressionIdx: {ColumnStat, BloomFilterRow, PartitionStat},
}

// belongs refuses a record that is not one of the partition's kind: its file has the content of another one.
func (r *reader) belongs(rec *Record, file string, at int64) error {
	want := holds[r.part.kind]
	if rec.gone || rec.Type == 0 || len(want) == 0 {
		return nil
	}
	for _, t := range want {
		if rec.Type == t {
			return nil
		}
	}
	return &corrupt.Error{File: file, Offset: at, Part: fmt.Sprintf("record %q", rec.Key), Want: fmt.Sprintf("%s, as all of its partition", want[0]), Got: rec.Type.String(),
		Try: "The file has the content of another partition's, or was restored from another place. The data table can be read without its metadata table."}
}
