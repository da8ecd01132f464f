// Package basepath finds the table among the paths of an archive or an uploaded folder.
package basepath

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"hudiscope/core/storage"
)

// Find returns the folders that are the base of a Hudi table, sorted: those that hold
// .hoodie/hoodie.properties, or if there is none those that hold a folder .hoodie. Tables
// within a .hoodie folder (the metadata table) do not count. "" is the root. A path that
// ends in "/" is a folder.
func Find(paths []string) []string {
	sure, maybe := map[string]bool{}, map[string]bool{}
	last, seen := "", false // most paths are in the same folder as the one before
	for _, p := range paths {
		before, after, ok := cutHoodie(p)
		if !ok {
			continue
		}
		if !seen || before != last {
			maybe[before] = true
			last, seen = before, true
		}
		if after == "hoodie.properties" {
			sure[before] = true
		}
	}
	from := sure
	if len(sure) == 0 {
		from = maybe
	}
	out := []string{}
	for b := range from {
		out = append(out, b)
	}
	slices.Sort(out)
	return out
}

// cutHoodie splits a path around its first element .hoodie that is a folder.
func cutHoodie(p string) (before, after string, ok bool) {
	at := 0
	for rest := p; ; {
		elem, tail, more := strings.Cut(rest, "/")
		if elem == ".hoodie" && more {
			return strings.TrimSuffix(p[:at], "/"), tail, true
		}
		if !more {
			return "", "", false
		}
		at += len(elem) + 1
		rest = tail
	}
}

// Cut takes base off a path, and reports false for a path outside it.
func Cut(path, base string) (string, bool) {
	if base == "" {
		return path, true
	}
	return strings.CutPrefix(path, base+"/")
}

// Junk reports whether a path is what operating systems add to folders and archives, not
// a part of a table: __MACOSX, .DS_Store, Thumbs.db, desktop.ini.
func Junk(path string) bool {
	if path == "__MACOSX" || strings.HasPrefix(path, "__MACOSX/") {
		return true
	}
	switch path[strings.LastIndexByte(path, '/')+1:] {
	case ".DS_Store", "Thumbs.db", "desktop.ini":
		return true
	}
	return false
}

// Folders returns the sorted content of every folder of a set of files, "" included, and
// of the folders named besides. files gives each path once; the Name of an entry is set
// here. clash is a path that is both a file and a folder, "" if there is none.
func Folders(files iter.Seq2[string, storage.Entry], folders []string) (dirs map[string][]storage.Entry, clash string) {
	content := map[string]*[]storage.Entry{"": {}}
	add := func(dir string) {
		for dir != "" {
			if content[dir] != nil {
				return
			}
			content[dir] = &[]storage.Entry{}
			dir, _ = Split(dir)
		}
	}
	for _, d := range folders {
		add(d)
	}
	last, in := "", content[""] // most files are in the same folder as the one before
	for p, e := range files {
		dir, name := Split(p)
		if dir != last {
			add(dir)
			last, in = dir, content[dir]
		}
		e.Name = name
		*in = append(*in, e)
	}
	for d := range content {
		if d != "" {
			up, name := Split(d)
			*content[up] = append(*content[up], storage.Entry{Name: name, Dir: true, Size: storage.SizeUnknown})
		}
	}
	byName := func(a, b storage.Entry) int { return cmp.Compare(a.Name, b.Name) }
	dirs = make(map[string][]storage.Entry, len(content))
	for d, list := range content {
		es := *list
		if !slices.IsSortedFunc(es, byName) {
			slices.SortFunc(es, byName)
		}
		for i := 1; i < len(es); i++ {
			if es[i].Name != es[i-1].Name {
				continue
			}
			p := es[i].Name
			if d != "" {
				p = d + "/" + p
			}
			if clash == "" || p < clash {
				clash = p
			}
		}
		if len(es) == 0 {
			es = nil
		}
		dirs[d] = es
	}
	return dirs, clash
}

// Split cuts a path into its folder and its last element.
func Split(p string) (dir, name string) {
	i := strings.LastIndexByte(p, '/')
	return p[:max(i, 0)], p[i+1:]
}
