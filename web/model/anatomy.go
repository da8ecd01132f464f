package model

import (
	"strconv"
	"strings"

	"hudiscope/core/api"
)

// AnatomyCell is a part of a file in a drawing of it.
type AnatomyCell struct {
	Part *api.AnatomyPart
	// Path names the part: the indexes from the top, "3.0.2".
	Path string
	// Level is the row it is drawn in, 0 for the parts of the file.
	Level int
	X, W  float64
}

// LayAnatomy draws the bytes from start to end over a width in pixels, a row for each level of parts. Parts narrower
// than half a pixel are drawn as one with those around them: of each half pixel and level the first is kept.
func LayAnatomy(parts []api.AnatomyPart, start, end int64, width float64) (cells []AnatomyCell, levels int) {
	if end <= start || width <= 0 {
		return nil, 0
	}
	scale := width / float64(end-start)
	var walk func(list []api.AnatomyPart, prefix string, level int)
	walk = func(list []api.AnatomyPart, prefix string, level int) {
		seen := -1.0
		for i := range list {
			p := &list[i]
			if p.End <= start || p.Start >= end {
				continue
			}
			x0 := float64(max(p.Start, start)-start) * scale
			x1 := float64(min(p.End, end)-start) * scale
			if x1 <= seen+0.5 {
				continue
			}
			seen = x1
			path := prefix + strconv.Itoa(i)
			levels = max(levels, level+1)
			cells = append(cells, AnatomyCell{Part: p, Path: path, Level: level, X: x0, W: max(x1-x0, 0.5)})
			walk(p.Parts, path+".", level+1)
		}
	}
	walk(parts, "", 0)
	return cells, levels
}

// AnatomyPart finds a part by its path, and the parts around it, from the top; nil when there is none.
func AnatomyPart(parts []api.AnatomyPart, path string) (p *api.AnatomyPart, around []*api.AnatomyPart) {
	if path == "" {
		return nil, nil
	}
	for _, step := range strings.Split(path, ".") {
		i, ok := atoi(step)
		if !ok || i >= int64(len(parts)) {
			return nil, nil
		}
		if p != nil {
			around = append(around, p)
		}
		p = &parts[i]
		parts = p.Parts
	}
	return p, around
}

// NextAnatomy is the path of the part after another (by 1) or before it (by -1), in the order in which a tree of all
// parts lists them; with "" the first or the last.
func NextAnatomy(parts []api.AnatomyPart, path string, by int) string {
	var all []string
	at := -1
	var walk func(list []api.AnatomyPart, prefix string)
	walk = func(list []api.AnatomyPart, prefix string) {
		for i := range list {
			p := prefix + strconv.Itoa(i)
			if p == path {
				at = len(all)
			}
			all = append(all, p)
			walk(list[i].Parts, p+".")
		}
	}
	walk(parts, "")
	switch {
	case len(all) == 0:
		return ""
	case at < 0 && by < 0:
		at = len(all) - 1
	case at < 0:
		at = 0
	default:
		at = min(max(at+by, 0), len(all)-1)
	}
	return all[at]
}
