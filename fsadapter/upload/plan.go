// Package upload reads a table from files that a user gave to a browser: dropped, or
// chosen in a file dialog. Nothing is sent anywhere; ranges are read from the File objects.
package upload

import (
	"fmt"
	"strings"

	"hudiscope/core/storage"
	"hudiscope/fsadapter/basepath"
)

// Plan says what a set of files is.
type Plan struct {
	// Single is the index of the file when there is only one and it is no part of a table's
	// folder, else -1. It may be an archive.
	Single int
	// Name names the table or the file for people.
	Name string
	// Files are the indexes of the table's files by path relative to its base.
	Files map[string]int
	// Beside are the indexes of files in folders beside the base, by path relative to the folder that
	// holds the base.
	Beside map[string]int
	// Outside counts the files given that are not below the base.
	Outside int
}

// Make finds the table among paths as a browser tells them: webkitRelativePath, the
// fullPath of a dropped entry, or a bare name. Files of operating systems do not count.
// An empty set, several tables, or a path that is none is a Fault of kind Refused.
func Make(paths []string) (*Plan, error) {
	refuse := func(try, format string, args ...any) (*Plan, error) {
		return nil, &storage.Fault{Op: "open", Location: "dropped files", Kind: storage.Refused, Try: try, Err: fmt.Errorf(format, args...)}
	}
	clean := make([]string, 0, len(paths))
	index := map[string]int{}
	for i, p := range paths {
		p = strings.TrimPrefix(strings.TrimPrefix(p, "./"), "/")
		if basepath.Junk(p) {
			continue
		}
		if p == "" {
			return refuse("", "a file has no name")
		}
		if err := storage.CheckPath("open", p, "dropped files"); err != nil {
			return nil, err
		}
		if _, twice := index[p]; twice {
			return refuse("Drop one folder at a time.", "two files have the path %q", p)
		}
		index[p] = i
		clean = append(clean, p)
	}
	if len(clean) == 0 {
		return refuse("Drop the table's folder, a .zip of it, or one of its files. A browser does not give empty folders.", "there are no files")
	}
	found := basepath.Find(clean)
	base := ""
	switch {
	case len(found) > 1:
		return refuse("Drop one table.", "there are %d tables: %s", len(found), strings.Join(found[:min(len(found), 5)], ", "))
	case len(found) == 1:
		base = found[0]
	case len(clean) == 1:
		_, name := basepath.Split(clean[0])
		return &Plan{Single: index[clean[0]], Name: name}, nil
	default:
		base = commonTop(clean)
	}
	p := &Plan{Single: -1, Name: base, Files: map[string]int{}, Beside: map[string]int{}}
	if p.Name == "" {
		p.Name = "dropped files"
	}
	for _, c := range clean {
		if rel, ok := basepath.Cut(c, base); ok {
			p.Files[rel] = index[c]
			continue
		}
		p.Outside++
		up, _ := basepath.Split(base)
		if rel, ok := basepath.Cut(c, up); ok && base != "" {
			p.Beside[rel] = index[c]
		}
	}
	return p, nil
}

// commonTop is the first element of all paths if it is a folder they share.
func commonTop(paths []string) string {
	top, _, ok := strings.Cut(paths[0], "/")
	for _, p := range paths {
		if !ok || !strings.HasPrefix(p, top+"/") {
			return ""
		}
	}
	return top
}
