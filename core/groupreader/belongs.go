package groupreader

import (
	"path"
	"strings"

	"hudiscope/core/column"
	"hudiscope/core/logfile"
	"hudiscope/core/schema"
)

// belongs looks at the meta columns of the first row of a batch: every writer puts the partition and the
// base file's name, or in a log the file group's, into each row. Where they name another place the file's
// content is another file's, and nothing else would tell: the formats have no checksum of the whole.
func (r *reader) belongs(b *column.Batch, file string) {
	if b.Len == 0 {
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
	if p, ok := text(schema.PartitionPathField); ok && p != r.s.Partition {
		r.stats.note("%s lies in the partition %q, and its first row says that it was written into the partition %q: the file has the content of another one.", file, r.s.Partition, p)
	}
	own := path.Base(file)
	if name, ok := text(schema.FileNameField); ok {
		if _, isLog := logfile.ParseName(own); isLog && !strings.HasPrefix(name, r.s.FileID) || !isLog && name != own && strings.Contains(name, ".") {
			r.stats.note("the first row of %s says that it was written into %s: the file has the content of another one.", file, name)
		}
	}
}
