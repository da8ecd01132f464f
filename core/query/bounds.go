package query

import (
	"fmt"
	"strings"

	"hudiscope/core/table"
)

// Hint is something about a request that is worth knowing and changes no row.
type Hint struct{ Title, Detail string }

// boundForms are the forms of an instant that bounds a range.
const boundForms = "want an instant as the timeline has it: yyyyMMddHHmmss or yyyyMMddHHmmssSSS, such as 20260131235959 or 20260131235959123"

// CheckBound checks an instant that bounds a range: 14 or 17 digits, or zeros for the beginning. Texts are compared
// with those of the timeline as they stand, so that a date in another form would give other rows in silence. words
// are what may stand in its place. The error is a *table.OptionError.
func CheckBound(key, v string, words ...string) error {
	for _, w := range words {
		if strings.EqualFold(v, w) {
			return nil
		}
	}
	digits := strings.Trim(v, "0123456789") == ""
	switch {
	case v == "":
		return nil
	case digits && (len(v) == 14 || len(v) == 17), digits && len(v) <= 3 && strings.Trim(v, "0") == "":
		return nil
	}
	why := boundForms
	if len(words) > 0 {
		why += ", or " + strings.Join(words, ", ")
	}
	if same := sameMoment(v); same != "" {
		why += fmt.Sprintf("; that moment is %s (in the zone of the table's timeline)", same)
	}
	return &table.OptionError{Key: key, Value: v, Why: why}
}

// sameMoment writes a date, with or without a time, in digits; "" for what is none. A zone is left aside.
func sameMoment(v string) string {
	v = strings.TrimSpace(v)
	if len(v) > 40 {
		return ""
	}
	date, clock := v, ""
	if i := strings.IndexAny(v, " T"); i >= 0 {
		date, clock = v[:i], v[i+1:]
	}
	if i := strings.IndexAny(clock, "Z+-"); i >= 0 {
		clock = clock[:i]
	}
	only := func(s, between string) string {
		if strings.Trim(s, "0123456789"+between) != "" {
			return "x"
		}
		return strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, s)
	}
	d, c := only(date, "-/"), only(clock, ":.,")
	if len(d) != 8 || strings.Contains(c, "x") || len(c) != 0 && len(c) != 4 && len(c) < 6 {
		return ""
	}
	c += "000000000"[min(len(c), 9):]
	return d + c[:9]
}

// checkRange checks the bounds of a range. A range that ends before it begins has no commit, which is told.
func checkRange(beginKey, begin, endKey, end string) []Hint {
	zero := strings.Trim(begin, "0") == "" || strings.EqualFold(begin, earliest)
	if begin == "" || end == "" || zero || begin <= end {
		return nil
	}
	return []Hint{{"The range ends before it begins", fmt.Sprintf("%s=%s is after %s=%s: no commit is in such a range.", beginKey, begin, endKey, end)}}
}
