package anatomy

import (
	"fmt"

	"hudiscope/core/api"
	"hudiscope/core/bloom"
	"hudiscope/core/hfile"
)

var hfileKinds = map[hfile.BlockType]string{
	hfile.DataBlock: "data block", hfile.EncodedDataBlock: "data block", hfile.LeafIndex: "index block", hfile.IntermediateIndex: "index block",
	hfile.RootIndex: "index block", hfile.MetaBlock: "meta block", hfile.FileInfo: "file info",
}

func (a *reader) hfile() error {
	a.out.Format = "hfile"
	f, err := hfile.Open(a.ctx, a.obj, a.o.Path, a.base)
	if err != nil {
		return err
	}
	t := f.Trailer()
	trailer := api.AnatomyPart{Kind: "trailer", Name: "Trailer", Start: a.base + a.size - hfile.TrailerSize, End: a.base + a.size, Facts: []api.Fact{
		fact("version", fmt.Sprintf("%d.%d", t.Major, t.Minor)), number("cells", t.Entries), fact("codec", t.Codec.String()), number("levels of the data index", int64(t.IndexLevels)),
		number("entries of the root data index", t.DataIndexCount), number("entries of the meta index", t.MetaIndexCount), fact("comparator", t.Comparator),
		number("load-on-open section at", a.base+t.LoadOnOpen)}}
	a.out.Facts = append(a.out.Facts, number("cells", t.Entries), fact("codec", t.Codec.String()), number("levels of the data index", int64(t.IndexLevels)))
	if last := f.LastKey(); last != nil {
		a.out.Facts = append(a.out.Facts, fact("last key", text(last)))
	}
	roots, data := 0, int64(0)
	for b, err := range f.Blocks(a.ctx) {
		if err != nil {
			if a.ctx.Err() != nil {
				return a.ctx.Err()
			}
			if err := a.damage(err); err != nil {
				return err
			}
			// What Open has read is known nevertheless.
			for _, b := range f.LoadOnOpen() {
				a.out.Parts = append(a.out.Parts, hfileBlock(b, &roots))
			}
			break
		}
		if a.room--; a.room < 0 {
			a.finding("note", "Not all blocks are listed", fmt.Sprintf("The file has more than %d blocks; those after byte %d are left out, but for the last ones.", maxParts, b.Start), b.Start)
			for _, b := range f.LoadOnOpen() {
				a.out.Parts = append(a.out.Parts, hfileBlock(b, &roots))
			}
			break
		}
		if b.Type == hfile.DataBlock {
			data++
		}
		a.out.Parts = append(a.out.Parts, hfileBlock(b, &roots))
	}
	a.out.Facts = append(a.out.Facts, number("data blocks", data))
	a.out.Parts = append(a.out.Parts, trailer)
	for _, key := range f.InfoKeys() {
		v, _ := f.Info(key)
		a.out.Entries = append(a.out.Entries, entry(key, v, -1, ""))
	}
	return a.hfileBloom(f)
}

// hfileBlock describes a block; roots counts the root indexes so far: the first is that of the data, the second that
// of the meta blocks.
func hfileBlock(b hfile.Block, roots *int) api.AnatomyPart {
	p := api.AnatomyPart{Kind: hfileKinds[b.Type], Name: capital(b.Type.String()), Start: b.Start, End: b.End}
	if p.Kind == "" {
		p.Kind = "block"
	}
	if b.Type == hfile.RootIndex {
		p.Name = "Root index of the data blocks"
		if *roots++; *roots == 2 {
			p.Name = "Root index of the meta blocks"
		}
	}
	if b.Name != "" {
		p.Name += " " + b.Name
	}
	p.Facts = []api.Fact{number("bytes of the content", b.Packed), number("unpacked", b.Unpacked), fact("checksums", b.Checksum.String())}
	if b.FirstKey != nil {
		p.Facts = append(p.Facts, fact("first key by the index", text(b.FirstKey)))
	}
	return p
}

// hfileBloom tells about the bloom filter, which is a meta block.
func (a *reader) hfileBloom(f *hfile.File) error {
	code, ok := f.Info(hfile.InfoBloomType)
	if !ok {
		return nil
	}
	b, ok, err := f.Meta(a.ctx, hfile.MetaBloomFilter)
	if err != nil || !ok {
		return err
	}
	filter, err := bloom.Decode(string(code), b)
	if err != nil {
		return err
	}
	a.out.Facts = append(a.out.Facts, fact("bloom filter", bloomText(filter)))
	return nil
}

// bloomText says how large a filter is.
func bloomText(f *bloom.Filter) string {
	s := fmt.Sprintf("%s, %d hashes (%s), %d bits", f.TypeCode, f.Hashes, f.Hash, f.Bits)
	if f.Rows() > 1 || f.TypeCode == bloom.DynamicV0 {
		s = fmt.Sprintf("%s, %d hashes (%s), %d rows of %d bits for %d keys each, %d in the last", f.TypeCode, f.Hashes, f.Hash, f.Rows(), f.Bits, f.KeysPerRow, f.LastRowKeys)
	}
	return s
}

func capital(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-32) + s[1:]
	}
	return s
}

// maxEntry bounds the text of an entry in an answer, in bytes.
const maxEntry = 64 << 10

// entry is an entry of a file's metadata.
func entry(key string, value []byte, at int64, what string) api.AnatomyEntry {
	e := api.AnatomyEntry{Key: key, Size: int64(len(value)), Start: at, What: what}
	if len(value) > maxEntry {
		value = value[:maxEntry]
	}
	e.Value = entryText(value)
	return e
}
