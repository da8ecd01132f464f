package groupreader

import (
	"fmt"
	"path"
	"strings"

	"hudiscope/core/column"
	"hudiscope/core/logfile"
	"hudiscope/core/logscan"
	"hudiscope/core/schema"
)

// belongs looks at the meta columns of the first row of a batch: every writer puts the partition and the
// base file's name, or in a log the file group's, into each row. Where they name another place the file's
// content is another file's, and nothing else would tell: the formats have no checksum of the whole. offset is where
// the block of a log file begins, and below 0 for base files; of a file that was told of, nothing more is said.
func (r *reader) belongs(b *column.Batch, file string, offset int64) {
	if b.Len == 0 || r.foreign[file] {
		return
	}
	text := func(name string) (string, bool) {
		c := b.Column(name)
		if c == nil || c.Type == nil || c.Type.Kind != schema.String || c.IsNull(0) {
			return "", false
		}
		s := string(c.BytesAt(0))
		return s, s != ""
	}
	where := file
	if offset >= 0 {
		where = fmt.Sprintf("the block at byte %d of %s", offset, file)
	}
	r.keyed(b, file, where)
	if p, ok := text(schema.PartitionPathField); ok && p != r.s.Partition {
		r.tell(file, "%s lies in the partition %q, and its first row says that it was written into the partition %q: the file has the content of another one.", where, r.s.Partition, p)
	}
	own := path.Base(file)
	if name, ok := text(schema.FileNameField); ok {
		if _, isLog := logfile.ParseName(own); isLog && !strings.HasPrefix(name, r.s.FileID) || !isLog && name != own && strings.Contains(name, ".") {
			r.tell(file, "the first row of %s says that it was written into %s: the file has the content of another one.", where, name)
		}
	}
}

// inOrder looks at the instants of the blocks that count. From table version 8 on a log file has the blocks of one
// instant, which its name tells; before, later files of a slice have later blocks. Where it is otherwise a file has the
// content of another one, and older rows may win over newer ones.
func (r *reader) inOrder(res *logscan.Result) {
	last := [2]string{} // instant and file
	for _, ref := range res.Blocks {
		at, f := ref.Block.Instant(), &r.files[ref.File]
		if at == "" || ref.Block.Type != logfile.AvroDataBlock && ref.Block.Type != logfile.ParquetDataBlock && ref.Block.Type != logfile.HFileDataBlock && ref.Block.Type != logfile.DeleteBlock {
			continue
		}
		if _, compacted := ref.Block.Header.Get(logfile.CompactedBlockTimes); compacted {
			continue
		}
		if !r.o.Scan.CheckCommitted {
			if at != f.Name.Instant && f.Name.Instant != "" {
				r.stats.note("%s has a block of the instant %s at byte %d, and its name says that %s wrote it: the file has the content of another one.", f.Reader.Path(), at, ref.Block.Start, f.Name.Instant)
			}
			continue
		}
		if at < last[0] && f.Reader.Path() != last[1] {
			r.stats.note("%s has a block of the instant %s at byte %d, and %s, which comes before it, one of %s: one of the files has the content of another one, or two writers wrote at the same time; the later block in this order wins.", f.Reader.Path(), at, ref.Block.Start, last[1], last[0])
		}
		if at > last[0] {
			last = [2]string{at, f.Reader.Path()}
		}
	}
}
