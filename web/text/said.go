package text

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// corePrefix marks the keys of sentences that the core says. Their holes are %s, whatever verb the core writes them
// with.
const corePrefix = "core|"

// said are the translations of what the core says: its answers hold whole sentences, which are told by their English.
type said struct {
	once   sync.Once
	whole  map[string]string
	shapes []shape
}

// shape is a sentence with holes: the texts around them, one more than there are holes.
type shape struct {
	around []string
	size   int
	to     string
}

func (d *said) read(list Catalogue) {
	d.whole = map[string]string{}
	for key, to := range list {
		en, ok := strings.CutPrefix(key, corePrefix)
		if !ok {
			continue
		}
		around := strings.Split(en, "%s")
		if len(around) == 1 {
			d.whole[en] = to
			continue
		}
		d.shapes = append(d.shapes, shape{around, len(en) - 2*(len(around)-1), to})
	}
	// The one that says most of a sentence itself knows it best.
	slices.SortFunc(d.shapes, func(a, b shape) int {
		if a.size != b.size {
			return b.size - a.size
		}
		return slices.Compare(a.around, b.around)
	})
}

// holes are what stands in the holes of a sentence of this shape. Only the last one may be empty.
func (p *shape) holes(s string) ([]string, bool) {
	last := len(p.around) - 1
	s, ok := strings.CutPrefix(s, p.around[0])
	if !ok {
		return nil, false
	}
	out := make([]string, 0, last)
	for i := 1; i < last; i++ {
		at := strings.Index(s, p.around[i])
		if at < 1 {
			return nil, false
		}
		out = append(out, s[:at])
		s = s[at+len(p.around[i]):]
	}
	s, ok = strings.CutSuffix(s, p.around[last])
	if !ok || s == "" && p.around[last] != "" {
		return nil, false
	}
	return append(out, s), true
}

// Said is a sentence of the core in the present language, with its values filled in; a sentence that has no
// translation stays English, among others that have one, too.
func Said(en string) string {
	w := present.Load()
	if w == nil || w.lang == English || en == "" {
		return en
	}
	w.said.once.Do(func() { w.said.read(w.list) })
	if to, ok := w.said.one(en, 0); ok {
		return to
	}
	parts := sentences(en)
	if len(parts) == 1 {
		return en
	}
	var b strings.Builder
	known, plain := false, false
	for _, part := range parts {
		to, ok := w.said.one(part, 0)
		if !ok {
			to = part
		}
		if b.Len() > 0 && (!ok || plain) {
			b.WriteByte(' ')
		}
		b.WriteString(to)
		known, plain = known || ok, !ok
	}
	if !known {
		return en
	}
	return b.String()
}

// one translates a sentence, or a part of one.
func (d *said) one(en string, depth int) (string, bool) {
	if to, ok := d.whole[en]; ok {
		return to, true
	}
	if n, noun, ok := strings.Cut(en, " "); ok && strings.Trim(n, "0123456789.,") == "" {
		// A count: the core's plurals end in s.
		for _, k := range []string{noun, strings.TrimSuffix(noun, "s")} {
			if to, ok := d.counted(k); ok {
				return fmt.Sprintf(to, n), true
			}
		}
	}
	if depth > 2 {
		return en, false
	}
	for i := range d.shapes {
		p := &d.shapes[i]
		holes, ok := p.holes(en)
		if !ok {
			continue
		}
		values := make([]any, len(holes))
		for j, h := range holes {
			values[j] = h
			if to, ok := d.one(strings.TrimSpace(h), depth+1); ok {
				values[j] = to
			}
		}
		return fmt.Sprintf(p.to, values...), true
	}
	return en, false
}

// counted is the translation of a noun with its count before it.
func (d *said) counted(noun string) (string, bool) {
	for i := range d.shapes {
		if p := &d.shapes[i]; len(p.around) == 2 && p.around[0] == "" && p.around[1] == " "+noun {
			return p.to, true
		}
	}
	return "", false
}

// sentences cuts a text behind each full stop that a capital letter follows.
func sentences(s string) []string {
	var out []string
	from := 0
	for i := 0; i+2 < len(s); i++ {
		if s[i] == '.' && s[i+1] == ' ' && s[i+2] >= 'A' && s[i+2] <= 'Z' {
			out = append(out, s[from:i+1])
			from = i + 2
		}
	}
	return append(out, s[from:])
}
