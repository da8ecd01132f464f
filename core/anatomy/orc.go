package anatomy

import (
	"fmt"

	"hudiscope/core/api"
	"hudiscope/core/corrupt"
)

func (a *reader) orc() error {
	a.out.Format = "orc"
	if a.base != 0 || a.o.Length != 0 {
		return &api.Fault{Kind: "unsupported", File: a.o.Path, Offset: -1, Message: "ORC within another file can't be looked into."}
	}
	f, err := a.o.ORC(a.ctx, a.obj)
	if err != nil {
		return err
	}
	defer f.Close()
	a.out.Facts = append(a.out.Facts, number("rows", f.NumRows()), number("stripes", int64(f.NumStripes())), fact("codec", f.Compression()))
	a.out.Parts = append(a.out.Parts, api.AnatomyPart{Kind: "magic", Name: `Magic "ORC"`, Start: 0, End: 3})
	for i := range f.NumStripes() {
		if a.room--; a.room < 0 {
			a.finding("note", "Not all stripes are listed", fmt.Sprintf("The file has more than %d.", maxParts), 0)
			break
		}
		offset, index, data, foot, rows := f.Stripe(i)
		// A sum that wraps around is negative.
		if end := offset + index + data + foot; offset < 3 || index < 0 || data < 0 || foot < 0 || end < offset || end > a.size {
			if err := a.damage(&corrupt.Error{File: a.o.Path, Offset: corrupt.Unknown, Part: fmt.Sprintf("ORC footer: stripe %d", i), Want: fmt.Sprintf("a range within %d bytes", a.size),
				Got: fmt.Sprintf("%d+%d+%d bytes at %d", index, data, foot, offset)}); err != nil {
				return err
			}
			continue
		}
		p := api.AnatomyPart{Kind: "stripe", Name: fmt.Sprintf("Stripe %d", i), Start: offset, End: offset + index + data + foot, Facts: []api.Fact{number("rows", rows)}}
		at := offset
		for _, x := range [...]struct {
			kind, name string
			n          int64
		}{{"stripe index", "Index of the stripe", index}, {"stripe data", "Data of the columns", data}, {"stripe footer", "Footer of the stripe", foot}} {
			if x.n > 0 {
				p.Parts = append(p.Parts, api.AnatomyPart{Kind: x.kind, Name: x.name, Start: at, End: at + x.n})
			}
			at += x.n
		}
		a.out.Parts = append(a.out.Parts, p)
	}
	metadata, footer, postscript := f.Tail()
	for _, x := range [...]struct {
		kind, name string
		from, to   int64
	}{{"metadata", "Statistics of the stripes", metadata, footer}, {"footer", "Footer", footer, postscript}, {"postscript", "Postscript", postscript, a.size - 1}, {"footer length", "Length of the postscript", a.size - 1, a.size}} {
		if x.to > x.from {
			a.out.Parts = append(a.out.Parts, api.AnatomyPart{Kind: x.kind, Name: x.name, Start: x.from, End: x.to})
		}
	}
	a.finding("note", "Streams are not drawn", "Of ORC files the stripes and the footer are told, and not the streams of each column.", 0)
	return nil
}
