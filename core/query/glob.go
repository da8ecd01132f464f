package query

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"hudiscope/core/groupreader"
	"hudiscope/core/table"
)

// glob is a compiled pattern of Hadoop's GlobPattern: * matches any characters, slashes included, ? one
// character, [ab], [a-z], [!ab] and [^ab] one of a set, {a,b} one of some texts, and a backslash takes the
// meaning off the character behind it.
type glob struct {
	text string
	re   *regexp.Regexp
	// used is set once the pattern has matched.
	used bool
}

// compileGlob compiles a pattern that must match a whole text.
func compileGlob(text string) (*glob, error) {
	var b strings.Builder
	b.WriteString(`(?s)^(?:`)
	groups, set := 0, false
	list := []rune(text)
	for i := 0; i < len(list); i++ {
		c := list[i]
		switch {
		case c == '\\':
			if i++; i == len(list) {
				return nil, fmt.Errorf("a character is missing behind the last backslash")
			}
			b.WriteString(regexp.QuoteMeta(string(list[i])))
		case set:
			switch {
			case c == ']':
				set = false
				b.WriteRune(c)
			case c == '[':
				return nil, fmt.Errorf("a character class is not closed: [ without ]")
			case (c == '!' || c == '^') && list[i-1] == '[':
				b.WriteByte('^')
			case c == '-':
				b.WriteRune(c)
			default:
				b.WriteString(regexp.QuoteMeta(string(c)))
			}
		case c == '[':
			set = true
			b.WriteRune(c)
		case c == '*':
			b.WriteString(`.*`)
		case c == '?':
			b.WriteByte('.')
		case c == '{':
			groups++
			b.WriteString(`(?:`)
		case c == ',' && groups > 0:
			b.WriteByte('|')
		case c == '}' && groups > 0:
			groups--
			b.WriteByte(')')
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	switch {
	case set:
		return nil, fmt.Errorf("a character class is not closed: [ without ]")
	case groups > 0:
		return nil, fmt.Errorf("a group is not closed: { without }")
	}
	b.WriteString(`)$`)
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, fmt.Errorf("%v", err)
	}
	return &glob{text: text, re: re}, nil
}

func (g *glob) match(text string) bool {
	ok := g.re.MatchString(text)
	g.used = g.used || ok
	return ok
}

// pathGlob is the pattern of hoodie.datasource.read.incr.path.glob: Hudi puts a star before it, so that it
// fits the end of a file's full path.
func pathGlob(text string) (*glob, error) {
	g, err := compileGlob("*" + text)
	if err == nil {
		g.text = text
	}
	return g, err
}

// readPath is one of hoodie.datasource.read.paths: a path below the table, or a pattern for paths. A star
// does not match slashes here.
type readPath struct {
	text string
	// names are the patterns of the path's parts, one list for each reading of a group with slashes.
	names [][]*glob
	// absolute is set for a path that does not begin at the table.
	absolute, used bool
}

// localPath takes file: off a path.
func localPath(p string) string {
	if rest, ok := strings.CutPrefix(p, "file:"); ok {
		return "/" + strings.TrimLeft(rest, "/")
	}
	return p
}

// maxReadPaths bounds how many paths the groups of the option's patterns may stand for.
const maxReadPaths = 4096

// parsePaths reads a comma list of paths; commas within {} do not separate.
func parsePaths(text string) ([]*readPath, error) {
	var out []*readPath
	total := 0
	for _, p := range splitOutside(text) {
		p = strings.TrimSpace(p)
		if p == "" {
			continue
		}
		r := &readPath{text: p}
		local := localPath(p)
		r.absolute = strings.HasPrefix(local, "/") || strings.Contains(local, "://")
		all, err := expandGroups(local, maxReadPaths)
		if err != nil {
			return nil, err
		}
		if total += len(all); total > maxReadPaths {
			return nil, fmt.Errorf("the groups stand for more than %d paths", maxReadPaths)
		}
		for _, one := range all {
			var names []*glob
			for _, name := range strings.Split(one, "/") {
				g, err := compileGlob(name)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", p, err)
				}
				names = append(names, g)
			}
			r.names = append(r.names, names)
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("it names no path")
	}
	return out, nil
}

// splitOutside splits at the commas that are in no group.
func splitOutside(text string) []string {
	var out []string
	depth, start := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			depth = max(depth-1, 0)
		case ',':
			if depth == 0 {
				out = append(out, text[start:i])
				start = i + 1
			}
		}
	}
	return append(out, text[start:])
}

// expandGroups turns every group that has a slash in it into its readings, as Hadoop does before it matches
// a path part by part.
func expandGroups(text string, most int) ([]string, error) {
	open := -1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '{':
			open = i
		case '}':
			if open < 0 || !strings.Contains(text[open:i], "/") {
				open = -1
				continue
			}
			var out []string
			for _, choice := range splitOutside(text[open+1 : i]) {
				more, err := expandGroups(text[:open]+choice+text[i+1:], most-len(out))
				if err != nil {
					return nil, err
				}
				if out = append(out, more...); len(out) > most {
					return nil, fmt.Errorf("the groups stand for more than %d paths", maxReadPaths)
				}
			}
			return out, nil
		}
	}
	return []string{text}, nil
}

// under reports whether a file is one that the path names, or is in a folder that it names. location is
// where the table is, root its folder below that.
func (p *readPath) under(location, root, file string) bool {
	fulls := []string{file, strings.TrimPrefix(file, root+"/")}
	if p.absolute {
		fulls = []string{localPath(strings.TrimSuffix(location, "/") + "/" + file)}
	}
	for _, names := range p.names {
		for _, full := range fulls {
			parts := strings.Split(full, "/")
			want := names
			if len(want) > 0 && want[len(want)-1].text == "" {
				want = want[:len(want)-1] // a slash at the end
			}
			if len(want) > len(parts) {
				continue
			}
			ok := true
			for i := range want {
				if ok = want[i].match(parts[i]); !ok {
					break
				}
			}
			if ok {
				p.used = true
				return true
			}
		}
	}
	return false
}

// narrow leaves those files of a plan's slices alone that hoodie.datasource.read.paths names, and says which
// paths named nothing.
func (p *Plan) narrow(t *table.Table, paths []*readPath, in []groupreader.Slice) []groupreader.Slice {
	if len(paths) == 0 {
		return in
	}
	location := t.Src.Location()
	named := func(file string) bool {
		ok := false
		for _, x := range paths {
			ok = x.under(location, t.Config.Root, file) || ok
		}
		return ok
	}
	var out []groupreader.Slice
	part := 0
	for _, s := range in {
		files := len(s.Logs)
		if s.Base != "" {
			if files++; !named(s.Base) {
				s.Base, s.Source = "", ""
			}
		}
		s.Logs = slices.DeleteFunc(slices.Clone(s.Logs), func(f string) bool { return !named(f) })
		left := len(s.Logs)
		if s.Base != "" {
			left++
		}
		if left == 0 {
			continue
		}
		if left < files {
			part += files - left
		}
		out = append(out, s)
	}
	for _, x := range paths {
		if !x.used {
			p.Notes = append(p.Notes, fmt.Sprintf("%s: %q matches none of the files that would be read. Paths are full ones (%s/…) or below the table.", optPaths, x.text, strings.TrimSuffix(location, "/")))
		}
	}
	if part > 0 {
		p.Remarks = append(p.Remarks, fmt.Sprintf("%s names some files of a slice and not others: %d files of the slices that are read are left out, so that rows may be older, or deleted ones shown.", optPaths, part))
	}
	return out
}
