package app

import (
	"sort"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// mapCells is how many partitions the map draws; the smaller ones are drawn as one.
const mapCells = 160

// mapRows is how many partitions the table beside the map lists.
const mapRows = 1000

// mapSwitch turns the map of partitions on and off, nil where there is one partition.
func (v *filesView) mapSwitch() goapp.UI {
	s := v.Root.s
	if len(s.partitions.val.Paths) < 2 && !s.state.Map {
		return nil
	}
	seg := func(on bool, label string) goapp.UI {
		st := s.state
		st.Map = on
		link := goapp.A().Class("seg").Href("#" + st.Fragment()).Text(label)
		if s.state.Map == on {
			link = link.Class("current").Aria("current", true)
		}
		return link
	}
	return goapp.Div().Class("segmented").Role("group").Aria("label", text.T("How partitions are shown")).Body(seg(false, text.T("List")), seg(true, text.T("Map")))
}

// mapPart is a partition of the map.
type mapPart struct {
	path string
	size api.PartitionSize
}

func (p *mapPart) total() int64 { return p.size.Base + p.size.Log + p.size.Old + p.size.Other }

// treemap draws the partitions as areas as large as their files.
func (v *filesView) treemap(a *api.Partitions) goapp.UI {
	if len(a.Sizes) != len(a.Paths) {
		return nil
	}
	list := make([]mapPart, len(a.Paths))
	unsized, total := 0, int64(0)
	for i, p := range a.Paths {
		list[i] = mapPart{p, a.Sizes[i]}
		unsized += a.Sizes[i].Unsized
		total += list[i].total()
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].total() > list[j].total() })
	if total == 0 {
		return view.Empty(view.IconFiles, text.T("No sizes to draw"), text.T("The listing tells the size of no file, so that partitions can't be drawn as large as they are."))
	}
	drawn := list[:min(len(list), mapCells)]
	values := make([]float64, len(drawn), len(drawn)+1)
	for i := range drawn {
		values[i] = float64(drawn[i].total())
	}
	var rest int64
	for _, p := range list[len(drawn):] {
		rest += p.total()
	}
	if rest > 0 {
		values = append(values, float64(rest))
	}
	const w, h = 1000.0, 320.0
	rects := model.Treemap(values, w, h)
	place := func(r model.Rect) []string {
		return []string{view.Px(r.X/w*100) + "%", view.Px(r.Y/h*100) + "%", view.Px(r.W/w*100) + "%", view.Px(r.H/h*100) + "%"}
	}
	var cells []goapp.UI
	for i := range drawn {
		p := &drawn[i]
		at := place(rects[i])
		st := v.Root.s.state
		st.Partition, st.OnlyPartition, st.FileID, st.Slice = p.path, true, "", ""
		share := func(n int64) string { return view.Px(float64(n)/float64(max(p.total(), 1))*100) + "%" }
		label := text.F("%s: %s", text.F("%s, %s", partitionName(p.path), model.Bytes(p.total())), p.words())
		class := "tm-cell"
		if v.Root.s.state.OnlyPartition && v.Root.s.state.Partition == p.path {
			class += " chosen"
		}
		inner := []goapp.UI{view.Div("tm-bar",
			goapp.Span().Class("tm-base").Style("width", share(p.size.Base)), goapp.Span().Class("tm-log").Style("width", share(p.size.Log)), goapp.Span().Class("tm-old").Style("width", share(p.size.Old+p.size.Other)))}
		if rects[i].W > 70 && rects[i].H > 34 {
			inner = append(inner, goapp.Span().Class("tm-name mono").Text(partitionName(p.path)), goapp.Span().Class("tm-size num").Text(model.Bytes(p.total())), view.Span("visually-hidden", p.words()))
		} else {
			inner = append(inner, view.Span("visually-hidden", label))
		}
		cells = append(cells, goapp.A().Class(class).Href("#"+st.Fragment()).Title(label).
			Style("left", at[0]).Style("top", at[1]).Style("width", at[2]).Style("height", at[3]).Body(inner...))
	}
	if rest > 0 {
		at := place(rects[len(drawn)])
		cells = append(cells, goapp.Div().Class("tm-cell rest").Style("left", at[0]).Style("top", at[1]).Style("width", at[2]).Style("height", at[3]).Body(
			goapp.Span().Class("tm-name").Text(text.F("%s more", model.Count(int64(len(list)-len(drawn))))), goapp.Span().Class("tm-size num").Text(model.Bytes(rest))))
	}
	legend := func(class, name string) goapp.UI {
		return goapp.Span().Class("legend-item").Body(goapp.Span().Class("tm-key "+class), goapp.Text(name))
	}
	note := text.F("%s in all; areas are to scale.", model.KnownBytes(total, unsized))
	var rows []goapp.UI
	for i := range list {
		if i == mapRows {
			break
		}
		p := &list[i]
		st := v.Root.s.state
		st.Partition, st.OnlyPartition, st.FileID, st.Slice = p.path, true, "", ""
		rows = append(rows, goapp.Tr().Body(goapp.Th().Scope("row").Body(view.Link("link mono", st, goapp.Text(partitionName(p.path)))),
			bytesCell(p.total()), bytesCell(p.size.Base), bytesCell(p.size.Log), bytesCell(p.size.Old), bytesCell(p.size.Other), num(int64(p.size.Groups)), num(int64(p.size.Files))))
	}
	more := ""
	if len(list) > mapRows {
		more = " " + text.F("(the largest %s)", model.Count(mapRows))
	}
	return goapp.Section().Class("treemap").Aria("label", text.T("Partitions by size")).Body(
		view.Div("toolbar", goapp.H2().Text(text.T("Partitions by size")), view.Span("dim", note),
			view.Div("legend", legend("tm-base", text.T("base files read")), legend("tm-log", text.T("log files read")), legend("tm-old", text.T("older slices and other files")))),
		goapp.Div().Class("tm-field").Body(cells...),
		goapp.Details().Class("how").Body(goapp.Summary().Text(text.T("The same as a table")+more),
			table([]string{text.T("Partition"), "#" + text.T("Bytes"), "#" + text.T("Base"), "#" + text.T("Log"), "#" + text.T("Older"), "#" + text.T("Other"), "#" + text.T("File groups"), "#" + text.T("Files")}, rows)),
	)
}

func (p *mapPart) words() string {
	return text.F("%s of base files, %s of log files, %s of older slices and other files, %s", model.Bytes(p.size.Base), model.Bytes(p.size.Log), model.Bytes(p.size.Old+p.size.Other), model.Plural(int64(p.size.Groups), "file group"))
}

func bytesCell(n int64) goapp.UI {
	class := "num"
	if n == 0 {
		class += " zero"
	}
	return goapp.Td().Class(class).Title(text.F("%s bytes", model.Count(n))).Text(model.Bytes(n))
}
