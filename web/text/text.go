// Package text gives the user interface its words in the user's language. The English text itself is
// the key of its translation, so that a text stands where it is used and one that has no translation
// is shown in English.
//
// What the core answers (reasons, findings, faults) are English sentences; those that have a translation are told by
// [Said]. What stands in a table stays as it is.
package text

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
)

// English is the language of the keys; Chinese the one that has a catalogue.
const (
	English = "en"
	Chinese = "zh"
)

// Catalogue is the translation of each English text.
type Catalogue map[string]string

// words is a language with its catalogue.
type words struct {
	lang string
	list Catalogue
	said said
}

var present atomic.Pointer[words]

// Use makes a language the present one. English needs no catalogue.
func Use(lang string, list Catalogue) { present.Store(&words{lang: lang, list: list}) }

// Lang is the code of the present language.
func Lang() string {
	if w := present.Load(); w != nil {
		return w.lang
	}
	return English
}

// Parse reads a catalogue: one JSON object of texts by their English. A translation must have the
// verbs of its English, in any order.
func Parse(doc []byte) (Catalogue, error) {
	var c Catalogue
	if err := json.Unmarshal(doc, &c); err != nil {
		return nil, fmt.Errorf("the catalogue: %w", err)
	}
	for en, to := range c {
		if strings.Count(en, "%s") != strings.Count(to, "%s")+indexed(to) {
			return nil, fmt.Errorf("the catalogue: %q has not the values of %q", to, en)
		}
	}
	return c, nil
}

// indexed counts the verbs that name their value: %[2]s.
func indexed(s string) int {
	n := 0
	for i := range 9 {
		n += strings.Count(s, fmt.Sprintf("%%[%d]s", i+1))
	}
	return n
}

// T is a text in the present language.
func T(en string) string {
	if w := present.Load(); w != nil {
		if to, ok := w.list[en]; ok {
			return to
		}
	}
	return en
}

// F is a text with values in the present language. Its only verbs are %s, for a string each, and %%;
// a translation may put values in another order by %[1]s.
func F(en string, values ...string) string {
	a := make([]any, len(values))
	for i, v := range values {
		a[i] = v
	}
	return fmt.Sprintf(T(en), a...)
}

// N is a count of things in the present language; ok is false for English, whose nouns have a plural.
// The key of a noun is "%s noun".
func N(count, noun string) (s string, ok bool) {
	w := present.Load()
	if w == nil {
		return "", false
	}
	to, ok := w.list["%s "+noun]
	if !ok {
		return "", false
	}
	return fmt.Sprintf(to, count), true
}

// Key marks a text that is kept untranslated in a table of the program and given to T when it is shown.
func Key(en string) string { return en }
