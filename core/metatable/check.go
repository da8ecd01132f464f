package metatable

import (
	"context"
	"fmt"

	"hudiscope/core/hfile"
	"hudiscope/core/logfile"
	"hudiscope/core/logscan"
)

// Check looks whether the files of a partition that are read can be: the block headers of the log files, and the
// trailers and indexes of the HFiles. With deep all records are read too; without, at most limit groups are looked at (0: all). Every group of files that can't be read
// gives one error, which names the file and the offset; reading goes on with the next one until yield returns false.
// The returned error is of the partition as a whole; left is how many groups were not looked at.
func (t *Table) Check(ctx context.Context, partition string, deep bool, limit int, yield func(fileID string, err error) bool) (left int, err error) {
	groups, err := t.Slices(ctx, partition)
	if err != nil {
		return 0, err
	}
	if !deep && limit > 0 && len(groups) > limit {
		left, groups = len(groups)-limit, groups[:limit]
	}
	for _, g := range groups {
		r := reader{ctx: ctx, t: t, part: part{slice: g, kind: KindOf(partition)}, stats: new(Stats)}
		if deep {
			_, err = r.run(func(*Record) bool { return ctx.Err() == nil })
		} else {
			err = r.headers()
		}
		r.close()
		if ctx.Err() != nil {
			return left, ctx.Err()
		}
		if err != nil && !yield(g.FileID, err) {
			return left, nil
		}
		for _, n := range r.broken {
			if !yield(g.FileID, n) {
				return left, nil
			}
		}
	}
	return left, nil
}

// headers reads what tells whether the group's files can be read, and no records.
func (r *reader) headers() error {
	files, res, err := r.scanLogs()
	if err != nil {
		return err
	}
	if res != nil {
		for _, ref := range res.Blocks {
			if ref.Block.Type != logfile.HFileDataBlock {
				continue
			}
			f := files[ref.File].Reader
			if _, err := hfile.Open(r.ctx, f.Section(ref.Block), f.Path(), ref.Block.ContentOffset); err != nil {
				return err
			}
		}
	}
	base := r.part.slice.Base
	if base == nil {
		return nil
	}
	obj, err := r.open(base.Path)
	if err != nil {
		return err
	}
	_, err = hfile.Open(r.ctx, obj, base.Path, 0)
	return err
}

// note keeps the blocks that are no blocks: Hudi passes them over, and what they held is missing.
func (r *reader) note(files []logscan.File, f *logscan.Fate) {
	path := files[f.File].Reader.Path()
	if f.Outcome == logscan.Corrupt && len(r.broken) < maxBroken {
		r.broken = append(r.broken, &hfile.Unsupported{File: path, Offset: f.Block.Start, What: "bytes of a log file that are no block, which are passed over: " + f.Why})
	}
	r.stats.note(fmt.Sprintf("%s, block %d: %s", path, f.Block.Index, f.Why))
}

// maxBroken bounds the broken blocks that are kept of a file group.
const maxBroken = 100
