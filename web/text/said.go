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
	once  sync.Once
	whole map[string]string
	// counts are the nouns that stand with their number.
	counts map[string]string
	shapes []shape
}

// shape is a sentence with holes: the texts around them, one more than there are holes.
type shape struct {
	around []string
	size   int
	to     string
}

func (d *said) read(list Catalogue) {
	d.whole, d.counts = map[string]string{}, map[string]string{}
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
		if noun, ok := strings.CutPrefix(en, "%s "); ok && len(around) == 2 && strings.Count(noun, " ") < 3 && strings.HasPrefix(to, "%s ") && !strings.ContainsAny(noun, ".,:;") {
			d.counts[noun] = to
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

// holes are what stands in the holes of a sentence of this shape. Only the last one may be empty, and a sentence ends in
// none but that.
func (p *shape) holes(s string) ([]string, bool) {
	last := len(p.around) - 1
	s, ok := strings.CutPrefix(s, p.around[0])
	if !ok {
		return nil, false
	}
	out := make([]string, 0, last)
	for i := 1; i < last; i++ {
		at := strings.Index(s, p.around[i])
		// What leads to a reason is not its subject.
		if at < 1 || ends(s[:at]) || i == 1 && p.around[0] == "" && strings.Contains(s[:at], ": ") {
			return nil, false
		}
		out = append(out, s[:at])
		s = s[at+len(p.around[i]):]
	}
	s, ok = strings.CutSuffix(s, p.around[last])
	if !ok || p.around[last] != "" && (s == "" || ends(s)) {
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
	if depth > 0 && !strings.Contains(en, " ") {
		return en, false // a name: a column may be called as a word of the core
	}
	if to, ok := d.whole[en]; ok {
		return to, true
	}
	if n, noun, ok := strings.Cut(en, " "); ok && strings.Trim(n, "0123456789.,") == "" {
		// A count: the core's plurals end in s.
		for _, k := range []string{noun, strings.TrimSuffix(noun, "s")} {
			if to, ok := d.counts[k]; ok {
				return fmt.Sprintf(to, n), true
			}
		}
	}
	if depth > 3 {
		return en, false
	}
	if to, ok := d.list(en, depth); ok {
		return to, true
	}
	forms := plain(en)
	for _, s := range forms[1:] {
		if to, ok := d.whole[s]; ok {
			return to + "。", true
		}
	}
	for i := range d.shapes {
		p := &d.shapes[i]
		var holes []string
		ok, stop := false, ""
		for _, s := range p.order(forms) {
			if holes, ok = p.holes(s); ok {
				if s != en {
					stop = "。"
				}
				break
			}
		}
		if !ok {
			continue
		}
		values := make([]any, len(holes))
		for j, h := range holes {
			values[j] = h
			h = strings.TrimSpace(h)
			to, ok := d.one(h, depth+1)
			if !ok && j == len(holes)-1 && h != "" {
				// It may be a sentence whose full stop ends this one, too.
				to, ok = d.one(h+".", depth+1)
				to = strings.TrimSuffix(to, "。")
			}
			if ok {
				values[j] = to
			}
		}
		return strings.TrimSuffix(fmt.Sprintf(p.to, values...), stop) + stop, true
	}
	return en, false
}

// order puts the form without a full stop first where the stop would be taken for a part of the last hole.
func (p *shape) order(forms []string) []string {
	if len(forms) == 1 || p.around[len(p.around)-1] != "" {
		return forms
	}
	return append(slices.Clone(forms[1:]), forms[0])
}

// list translates what semicolons join, when all of its parts are known.
func (d *said) list(en string, depth int) (string, bool) {
	parts := strings.Split(strings.TrimSuffix(en, "."), "; ")
	if len(parts) == 1 {
		return en, false
	}
	for i, part := range parts {
		to, ok := d.one(part, depth+1)
		if !ok && i == 0 && part != "" {
			to, ok = d.one(strings.ToLower(part[:1])+part[1:], depth+1)
		}
		if !ok {
			return en, false
		}
		parts[i] = strings.TrimSuffix(to, "。")
	}
	if strings.HasSuffix(en, ".") {
		parts[len(parts)-1] += "。"
	}
	return strings.Join(parts, "；"), true
}

// plain gives a text and, where the core may have made a sentence of a reason, with a capital letter and a full stop,
// the reason.
func plain(en string) []string {
	s, ok := strings.CutSuffix(en, ".")
	if !ok || s == "" || strings.HasSuffix(s, ".") {
		return []string{en}
	}
	return []string{en, s, strings.ToLower(s[:1]) + s[1:]}
}

// ends reports whether a sentence ends within a text.
func ends(s string) bool { return len(sentences(s)) > 1 }

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
