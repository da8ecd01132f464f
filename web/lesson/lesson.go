// Package lesson is the guided tours through the embedded tables: steps with a text and an address
// of the page each, and questions whose answers are read from the table itself.
package lesson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"hudiscope/core/api"
)

// Text is a text by language code ("en", "zh").
type Text map[string]string

// In is the text in a language, or in English where there is none.
func (t Text) In(lang string) string {
	if s := t[lang]; s != "" {
		return s
	}
	return t["en"]
}

// Lesson is one idea, shown on real tables.
type Lesson struct {
	// ID stands in addresses.
	ID    string `json:"id"`
	Title Text   `json:"title"`
	// About says the idea in a sentence.
	About Text   `json:"about"`
	Steps []Step `json:"steps"`
}

// Step is one view of a table.
type Step struct {
	// Go is the address: what stands behind "#/".
	Go   string    `json:"go"`
	Text Text      `json:"text"`
	Ask  *Question `json:"ask,omitempty"`
}

// Question is asked in a step.
type Question struct {
	Question Text `json:"question"`
	// Op and Args are the request that the answer is read from, Pick where it stands there (see [Pick]).
	Op   api.Op          `json:"op"`
	Args json.RawMessage `json:"args"`
	Pick string          `json:"pick"`
	// Choices are offered where the answer is one of a few words; without them it is typed.
	Choices []string `json:"choices,omitempty"`
	// Answer is what the table is known to give; tests hold it against the table.
	Answer string `json:"answer"`
	// Why explains the answer.
	Why Text `json:"why"`
}

// Parse reads the list of lessons.
func Parse(doc []byte) ([]Lesson, error) {
	var all []Lesson
	if err := json.Unmarshal(doc, &all); err != nil {
		return nil, fmt.Errorf("the list of lessons: %w", err)
	}
	return all, nil
}

// Pick finds the answer to a question in the service's answer. The path has steps that are applied to
// all values found so far: a name is a member of objects, a number an element of arrays, "*" all
// elements, "name=text" (or "number=text") the elements whose member is that text or number. The last
// step may be "#", the count of what was found, or "+", the sum. Without them there must be one value.
func Pick(answer []byte, path string) (string, error) {
	found := []json.RawMessage{answer}
	for _, step := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		switch step {
		case "#":
			return strconv.Itoa(len(found)), nil
		case "+":
			sum := new(big.Rat)
			for _, v := range found {
				n, ok := new(big.Rat).SetString(text(v))
				if !ok {
					return "", fmt.Errorf("%s is no number", v)
				}
				sum.Add(sum, n)
			}
			return sum.RatString(), nil
		}
		var next []json.RawMessage
		name, want, filter := strings.Cut(step, "=")
		for _, v := range found {
			switch {
			case filter:
				for _, e := range elements(v) {
					if m, ok := member(e, name); ok && text(m) == want {
						next = append(next, e)
					}
				}
			case step == "*":
				next = append(next, elements(v)...)
			default:
				if m, ok := member(v, name); ok {
					next = append(next, m)
				}
			}
		}
		found = next
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%d values at %s, not one", len(found), path)
	}
	return text(found[0]), nil
}

// Same reports whether what a user typed means the answer: numbers by their value, with or without
// separators of thousands, other texts without regard to case, quotes and full-width forms. Of an instant its last six
// digits are enough, as the lessons themselves write them ("…607402").
func Same(typed, answer string) bool {
	typed, answer = plain(typed), plain(answer)
	if typed == "" {
		return false
	}
	if tail := strings.TrimLeft(typed, "…."); len(answer) == instantDigits && digits(answer) && len(tail) >= 6 && digits(tail) && strings.HasSuffix(answer, tail) {
		return true
	}
	a, isNumber := number(strings.ReplaceAll(typed, ",", ""))
	if b, ok := number(answer); ok && isNumber {
		return a.Cmp(b) == 0
	}
	return strings.EqualFold(typed, answer)
}

// instantDigits is how long an instant with milliseconds is.
const instantDigits = 17

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// number reads a decimal number without an exponent, of a length that people write.
func number(s string) (*big.Rat, bool) {
	if len(s) > 100 || strings.Trim(s, "0123456789.-+") != "" {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= '！' && r <= '～':
			return r - '！' + '!'
		case r == '\u3000':
			return ' '
		}
		return r
	}, s)
	return strings.Trim(strings.TrimSpace(s), "\"'`.")
}

func elements(v json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(v, &list) != nil {
		return nil
	}
	return list
}

func member(v json.RawMessage, name string) (json.RawMessage, bool) {
	if i, err := strconv.Atoi(name); err == nil {
		list := elements(v)
		if i < 0 || i >= len(list) {
			return nil, false
		}
		return list[i], true
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(v, &m) != nil {
		return nil, false
	}
	e, ok := m[name]
	return e, ok
}

// text is a value as it is compared and shown: a text without its quotes.
func text(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil && !bytes.Equal(v, []byte("null")) {
		return s
	}
	return string(v)
}
